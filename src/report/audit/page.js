'use strict';
// The page is whole without this: it opens what is folded before printing, narrows what is shown to what is searched for,
// and draws a large matrix as far as it is seen.
const by = id => document.getElementById(id);
const low = text => text.toLowerCase();
addEventListener('beforeprint', () => {
  if (!document.body.classList.contains('many')) document.querySelectorAll('details.filter').forEach(d => d.open = true);
});
const opened = () => {
  const d = location.hash && by(location.hash.slice(1));
  if (d && 'open' in d) { d.open = true; d.scrollIntoView(); }
};
addEventListener('hashchange', opened);
opened();
const find = by('find'), only = by('only');
if (find) {
  const narrow = () => {
    const word = low(find.value);
    document.querySelectorAll('[data-name]').forEach(e =>
      e.hidden = !e.dataset.name.includes(word) || !!only.value && !!e.dataset.verdict && e.dataset.verdict !== only.value);
    const rows = document.querySelectorAll('.filters tbody tr');
    const seen = [...rows].filter(row => !row.hidden).length;
    by('found').textContent = seen < rows.length ? seen + ' of ' + rows.length : '';
  };
  find.addEventListener('input', narrow);
  only.addEventListener('input', narrow);
}
const data = by('grid-data');
if (data) {
  document.documentElement.classList.add('js');
  // Filters [name, class, anchor], workloads [label, text to search], cells [filter, workloads, before, after, class, reason].
  const { classes, reasons, filters, workloads, cells } = JSON.parse(data.textContent);
  const box = by('grid'), view = by('grid-view'), size = by('grid-size'), said = by('grid-said'), shown = by('grid-shown');
  const [top, left, body] = ['gt', 'gl', 'gb'].map(name => view.querySelector('.' + name));
  const escape = text => text.replace(/[&<>"']/g, c => '&#' + c.charCodeAt(0) + ';');
  const at = filters.map(() => new Map());
  cells.forEach(cell => at[cell[0]].set(cell[1], cell));
  const [W, H, TOP] = [48, 30, 240];
  // Filters come in pages: each has the columns that its rows use, in the order in which they come.
  const PAGE = 40;
  let wanted = [], rows = [], columns = [], side = 0, page = 0;
  const choose = () => {
    const [filter, workload, bad] = [low(by('grid-filter').value), low(by('grid-workload').value), by('grid-bad').checked];
    const named = workloads.map(one => low(one[0] + ' ' + one[1]).includes(workload));
    const counts = ([column, cell]) => named[column] && (!bad || cell[4] < classes.length - 1);
    wanted = filters.map((one, row) => [row, low(one[0]).includes(filter) ? [...at[row]].filter(counts).map(one => one[0]) : []])
      .filter(one => one[1].length > 0);
    page = 0;
    turn();
  };
  const turn = () => {
    const shownNow = wanted.slice(page * PAGE, (page + 1) * PAGE);
    rows = shownNow.map(one => one[0]);
    columns = [...new Set(shownNow.flatMap(one => one[1]))];
    const first = page * PAGE + Math.min(1, rows.length);
    shown.textContent = `${first}–${page * PAGE + rows.length} of ${wanted.length} filters (${filters.length} in all), ${columns.length} of ${workloads.length} groups of workloads`;
    by('grid-back').disabled = page === 0;
    by('grid-on').disabled = (page + 1) * PAGE >= wanted.length;
    box.scrollTo(0, 0);
    layout();
  };
  const layout = () => {
    side = Math.min(280, Math.round(box.clientWidth * 0.42));
    size.style.width = side + columns.length * W + 'px';
    size.style.height = TOP + rows.length * H + 'px';
    box.style.height = Math.min(innerHeight * 0.8, TOP + rows.length * H + 20) + 'px';
    draw();
  };
  const draw = () => {
    const [x, y, width, height] = [box.scrollLeft, box.scrollTop, box.clientWidth, box.clientHeight];
    view.style.width = width + 'px';
    view.style.height = height + 'px';
    Object.assign(top.style, { left: side + 'px', height: TOP + 'px' });
    Object.assign(left.style, { top: TOP + 'px', width: side + 'px' });
    Object.assign(body.style, { left: side + 'px', top: TOP + 'px' });
    const span = (offset, room, step, list) => {
      const from = Math.floor(offset / step);
      return list.slice(from, from + Math.ceil(room / step) + 1).map((item, index) => [item, (from + index) * step - offset]);
    };
    const [seenRows, seenColumns] = [span(y, height - TOP, H, rows), span(x, width - side, W, columns)];
    top.innerHTML = seenColumns.map(([column, px]) =>
      `<span style="left:${px}px" title="${escape(workloads[column][1])}">${escape(workloads[column][0])}</span>`).join('');
    left.innerHTML = seenRows.map(([row, px]) => {
      const [name, , anchor] = filters[row];
      const text = escape(name);
      return `<span style="top:${px}px" title="${text}">${anchor ? `<a href="#${anchor}">${text}</a>` : text}</span>`;
    }).join('');
    body.innerHTML = seenRows.map(([row, py]) => seenColumns.map(([column, px]) => {
      const cell = at[row].get(column);
      if (!cell) return '';
      const numbers = cell[2] === cell[3] ? cell[2] : cell[2] + '→' + cell[3];
      const reason = escape(reasons[cell[5]] || classes[cell[4]]);
      return `<span class="${cell[2] + cell[3] || cell[4] < classes.length - 1 ? classes[cell[4]] : 'dim'}" style="left:${px}px;top:${py}px" data-at="${row},${column}" title="${reason}">${numbers}</span>`;
    }).join('')).join('');
  };
  let waiting = false;
  const soon = () => { if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; draw(); }); } };
  box.addEventListener('scroll', soon);
  addEventListener('resize', layout);
  by('grid-back').addEventListener('click', () => { page--; turn(); });
  by('grid-on').addEventListener('click', () => { page++; turn(); });
  ['grid-filter', 'grid-workload', 'grid-bad'].forEach(id => by(id).addEventListener('input', choose));
  body.addEventListener('click', event => {
    const place = event.target.dataset.at;
    if (!place) return;
    const [row, column] = place.split(',').map(Number), cell = at[row].get(column);
    said.textContent = filters[row][0] + ' on ' + workloads[column][0] + ': ' + (reasons[cell[5]] || classes[cell[4]]);
  });
  choose();
}

//! An audit as one page that needs nothing else: no network, light and dark, for the screen and for paper.

use super::{advice, full_name, steps, verdict_sentence, word};
use crate::audit::view::{Audit, Chain, Filter, Finding, Link, RollOut, Verdict};
use crate::lint::upgrade::tell::Class;
use similar::{ChangeTag, TextDiff};
use std::io::{self, Write};

const STYLE: &str = include_str!("page.css");

/// Opens what is folded before printing, and narrows the table to what is searched for. The page is whole without it.
const SCRIPT: &str = "addEventListener('beforeprint',()=>document.querySelectorAll('details.filter').forEach(d=>d.open=true));\
const f=document.getElementById('find');if(f)f.addEventListener('input',()=>{const w=f.value.toLowerCase();\
document.querySelectorAll('[data-name]').forEach(e=>e.hidden=!e.dataset.name.includes(w))});\
const o=()=>{const d=location.hash&&document.getElementById(location.hash.slice(1));if(d&&'open' in d)d.open=true};\
addEventListener('hashchange',o);o()";

/// Most rows and columns of the matrix, and most lines of a filter's text: a page has to stay light. What is left out is said.
const MAX_ROWS: usize = 200;
const MAX_COLUMNS: usize = 40;
const MAX_LINES: usize = 300;

/// Text in HTML.
struct Text<'t>(&'t str);

impl std::fmt::Display for Text<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => out.write_str("&amp;")?,
                '<' => out.write_str("&lt;")?,
                '>' => out.write_str("&gt;")?,
                '"' => out.write_str("&quot;")?,
                '\'' => out.write_str("&#39;")?,
                other => write!(out, "{other}")?,
            }
        }
        Ok(())
    }
}

/// Text in which what stands between backticks is code.
struct Prose<'t>(&'t str);

impl std::fmt::Display for Prose<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts: Vec<&str> = self.0.split('`').collect();
        // An odd backtick is only a character.
        if parts.len().is_multiple_of(2) {
            return Text(self.0).fmt(out);
        }
        for (index, part) in parts.iter().enumerate() {
            if index % 2 == 1 {
                write!(out, "<code>{}</code>", Text(part))?;
            } else {
                Text(part).fmt(out)?;
            }
        }
        Ok(())
    }
}

/// Writes the page.
pub fn html(out: &mut dyn Write, audit: &Audit) -> io::Result<()> {
    writeln!(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">")?;
    writeln!(out, "<title>EnvoyFilters: Istio {} to {}</title>", Text(&audit.from), Text(&audit.to))?;
    writeln!(out, "<style>{STYLE}</style></head><body>")?;
    head(out, audit)?;
    writeln!(out, "<main>")?;
    table(out, audit)?;
    matrix(out, audit)?;
    roll_out(out, &audit.roll_out)?;
    let found: Vec<(usize, &Filter)> =
        audit.filters.iter().enumerate().filter(|(_, one)| one.verdict.is_some()).collect();
    if !found.is_empty() {
        writeln!(out, "<h2>Filter by filter</h2>")?;
    }
    for (index, filter) in found {
        section(out, audit, index, filter)?;
    }
    if !audit.unknown.is_empty() || !audit.problems.is_empty() {
        writeln!(out, "<h2>What was not known</h2><ul>")?;
        for text in audit.unknown.iter().chain(&audit.problems) {
            writeln!(out, "<li>{}</li>", Prose(text))?;
        }
        writeln!(out, "</ul>")?;
    }
    writeln!(out, "<footer>kubectl envoyfilter {} audit</footer></main>", env!("CARGO_PKG_VERSION"))?;
    writeln!(out, "<script>{SCRIPT}</script></body></html>")
}

fn head(out: &mut dyn Write, audit: &Audit) -> io::Result<()> {
    let class = match audit.verdict {
        Verdict::Ready => "ready",
        Verdict::ReadyAfterChanges => "changes",
        Verdict::NotReady => "breaks",
    };
    writeln!(out, "<header><h1>EnvoyFilters: Istio {} → {}</h1>", Text(&audit.from), Text(&audit.to))?;
    if audit.path.len() > 2 {
        writeln!(out, "<p class=dim>Steps looked at: {}</p>", Text(&audit.path.join(" → ")))?;
    }
    writeln!(out, "<p><span class=\"verdict {class}\">{}</span></p>", audit.verdict.words())?;
    let sentence = verdict_sentence(audit);
    writeln!(out, "<p>{}. {}</p>", Text(&capital(&sentence)), Prose(advice(audit.verdict)))?;
    writeln!(out, "<div class=tiles>")?;
    let counts = &audit.counts;
    for (word, number) in [
        ("breaks", counts.breaks),
        ("changes", counts.changes),
        ("deprecated", counts.deprecated),
        ("cleanup", counts.cleanup),
        ("ready", counts.ready),
    ] {
        writeln!(out, "<div class=\"tile {word}\"><b>{number}</b>{word}</div>")?;
    }
    writeln!(out, "</div></header>")
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

fn table(out: &mut dyn Write, audit: &Audit) -> io::Result<()> {
    if audit.filters.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<h2>Filters</h2><input id=find type=search placeholder=\"Find a filter\" aria-label=\"Find a filter\">"
    )?;
    writeln!(
        out,
        "<div class=scroll><table><thead><tr><th>Verdict<th>Filter<th>What happens<th class=wide>Source</tr></thead><tbody>"
    )?;
    for (index, filter) in audit.filters.iter().enumerate() {
        let name = full_name(filter);
        let word = word(filter.verdict);
        write!(out, "<tr data-name=\"{}\"><td><span class=\"tag {word}\">{word}</span>", Text(&name.to_lowercase()))?;
        match filter.verdict {
            Some(_) => write!(out, "<td class=name><a href=\"#f{index}\">{}</a>", Text(&name))?,
            None => write!(out, "<td class=name>{}", Text(&name))?,
        }
        let first = filter.findings.first().map(|one| one.message.as_str()).unwrap_or_default();
        let more = filter.findings.len().saturating_sub(1);
        let more = if more > 0 { format!(" <span class=dim>and {more} more</span>") } else { String::new() };
        writeln!(
            out,
            "<td>{}{more}<td class=\"wide dim src\"><code>{}:{}</code></tr>",
            Prose(first),
            Text(&filter.source.file),
            filter.source.line
        )?;
    }
    writeln!(out, "</tbody></table></div>")
}

fn matrix(out: &mut dyn Write, audit: &Audit) -> io::Result<()> {
    let mut rows: Vec<(usize, &Filter)> =
        audit.filters.iter().enumerate().filter(|(_, one)| !one.cells.is_empty()).collect();
    let all_rows = rows.len();
    rows.truncate(MAX_ROWS);
    // Columns with the worst and the most first; equal workloads are one column already.
    let mut weight = vec![(0_usize, 0_usize); audit.workloads.len()];
    for cell in rows.iter().flat_map(|(_, filter)| &filter.cells) {
        if let Some(weight) = weight.get_mut(cell.workloads) {
            weight.0 += usize::from(cell.verdict.is_some());
            weight.1 += 1;
        }
    }
    let mut columns: Vec<usize> = (0..audit.workloads.len()).filter(|&column| weight[column].1 > 0).collect();
    columns.sort_by_key(|&column| (std::cmp::Reverse(weight[column]), column));
    let all_columns = columns.len();
    columns.truncate(MAX_COLUMNS);
    if rows.is_empty() || columns.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<h2>Filters and workloads</h2><p class=dim>Patches in effect before → after the upgrade. Workloads that every filter treats alike share a column; hold the pointer over a cell for the reason.</p>"
    )?;
    writeln!(out, "<div class=scroll><table class=matrix><thead><tr><th class=row>Filter")?;
    for &column in &columns {
        let group = &audit.workloads[column];
        let more = group.count.saturating_sub(1);
        let more = if more > 0 { format!(" +{more}") } else { String::new() };
        let members = format!("{} ({}): {}", group.kind, group.knowledge, group.members.join(", "));
        write!(out, "<th class=col title=\"{}\"><span>{}{more}</span>", Text(&members), Text(&group.label))?;
    }
    writeln!(out, "</tr></thead><tbody>")?;
    for (index, filter) in &rows {
        let name = full_name(filter);
        write!(out, "<tr data-name=\"{}\"><th class=row>", Text(&name.to_lowercase()))?;
        match filter.verdict {
            Some(_) => write!(out, "<a href=\"#f{index}\">{}</a>", Text(&name))?,
            None => write!(out, "{}", Text(&name))?,
        }
        for column in &columns {
            match filter.cells.iter().find(|cell| cell.workloads == *column) {
                Some(cell) => {
                    let numbers = if cell.before == cell.after {
                        cell.before.to_string()
                    } else {
                        format!("{}→{}", cell.before, cell.after)
                    };
                    let class = if cell.verdict.is_none() && cell.before + cell.after == 0 {
                        "dim"
                    } else {
                        word(cell.verdict)
                    };
                    let title = if cell.reason.is_empty() { word(cell.verdict) } else { &cell.reason };
                    write!(out, "<td><span class={class} title=\"{}\">{numbers}</span>", Text(title))?;
                }
                None => write!(out, "<td>")?,
            }
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div><div class=legend>")?;
    for class in Class::ALL {
        write!(out, "<span><span class=\"tag {0}\">{0}</span></span>", class.word())?;
    }
    writeln!(out, "<span><span class=\"tag ready\">ready</span></span><span>empty: does not attach</span></div>")?;
    if all_rows > rows.len() || all_columns > columns.len() {
        writeln!(
            out,
            "<p class=dim>{} of {all_rows} filters and {} of {all_columns} groups of workloads are shown, the worst first; the rest is in the JSON form and below.</p>",
            rows.len(),
            columns.len()
        )?;
    }
    Ok(())
}

fn roll_out(out: &mut dyn Write, rows: &[RollOut]) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<h2>During the roll-out</h2><p class=dim>What each combination of control plane and proxies gives, compared with the first row.</p>"
    )?;
    writeln!(
        out,
        "<div class=scroll><table><thead><tr><th>istiod<th>Proxies<th>Filters in effect<th>Lost<th>Changed<th>Refused</tr></thead><tbody>"
    )?;
    for row in rows {
        let revision = if row.revision.is_empty() { String::new() } else { format!(" ({})", row.revision) };
        write!(
            out,
            "<tr><td>{}{}<td>{}<td class=num>{}",
            Text(&row.istiod),
            Text(&revision),
            Text(&row.proxies),
            row.effective
        )?;
        for (list, class) in [(&row.lost, "breaks"), (&row.changed, "changes"), (&row.refused, "breaks")] {
            if list.is_empty() {
                write!(out, "<td class=dim>–")?;
                continue;
            }
            let shown: Vec<&str> = list.iter().take(6).map(String::as_str).collect();
            let more = list.len().saturating_sub(shown.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            write!(out, "<td><span class=\"tag {class}\">{}</span> {}{more}", list.len(), Text(&shown.join(", ")))?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div>")
}

fn section(out: &mut dyn Write, audit: &Audit, index: usize, filter: &Filter) -> io::Result<()> {
    let word = word(filter.verdict);
    let name = full_name(filter);
    let open = if filter.verdict == Some(Class::Breaks) && index < 3 { " open" } else { "" };
    writeln!(
        out,
        "<details class=filter id=f{index} data-name=\"{}\"{open}><summary><span class=\"tag {word}\">{word}</span><span class=name>{}</span><span class=\"dim wide\"><code>{}:{}</code></span></summary><div>",
        Text(&name.to_lowercase()),
        Text(&name),
        Text(&filter.source.file),
        filter.source.line
    )?;
    for one in &filter.findings {
        finding(out, audit, one)?;
    }
    if !filter.chains.is_empty() {
        writeln!(out, "<h3>Filter chains, before and after</h3>")?;
        for chain in &filter.chains {
            picture(out, audit, chain, &name)?;
        }
    }
    if let Some(rewritten) = &filter.rewritten {
        writeln!(out, "<h3>Rewritten</h3>")?;
        patch(out, &filter.text, rewritten)?;
    }
    let lines: Vec<&str> = filter.text.lines().collect();
    let shown = lines.get(..lines.len().min(MAX_LINES)).unwrap_or_default().join("\n");
    writeln!(out, "<details><summary>Source</summary><pre>{}</pre>", Text(&shown))?;
    if lines.len() > MAX_LINES {
        writeln!(out, "<p class=dim>{} more lines are in the file.</p>", lines.len() - MAX_LINES)?;
    }
    writeln!(out, "</details></div></details>")
}

fn finding(out: &mut dyn Write, audit: &Audit, finding: &Finding) -> io::Result<()> {
    let class = finding.class.word();
    let steps = steps(audit, finding);
    let steps = if steps.is_empty() { String::new() } else { format!(" <span class=dim>({})</span>", Text(&steps)) };
    writeln!(
        out,
        "<div class=\"finding {class}\"><div><span class=code>{}</span>{}{steps}</div><ul>",
        finding.code,
        Prose(&finding.message)
    )?;
    let patch = finding.patch.map(|patch| format!("patch {patch}, ")).unwrap_or_default();
    writeln!(out, "<li>{patch}line {}, {}</li>", finding.source.line, finding.confidence)?;
    for note in &finding.notes {
        writeln!(out, "<li>{}</li>", Prose(note))?;
    }
    if !finding.workloads.is_empty() {
        let shown: Vec<&str> = finding.workloads.iter().take(12).map(String::as_str).collect();
        let more = finding.workloads.len().saturating_sub(shown.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        writeln!(out, "<li>on {}{more}</li>", Text(&shown.join(", ")))?;
    }
    writeln!(out, "</ul>")?;
    if let Some(help) = &finding.help {
        let manifest = help.starts_with("apiVersion:");
        let (first, rest) =
            if manifest { ("create", help.as_str()) } else { help.split_once('\n').unwrap_or((help, "")) };
        writeln!(out, "<p class=help>→ {}</p>", Prose(first))?;
        if !rest.is_empty() {
            writeln!(out, "<pre>{}</pre>", Text(rest))?;
        }
    }
    writeln!(out, "</div>")
}

fn picture(out: &mut dyn Write, audit: &Audit, chain: &Chain, own: &str) -> io::Result<()> {
    let workloads = audit.workloads.get(chain.workloads).map(|group| group.label.as_str()).unwrap_or_default();
    writeln!(
        out,
        "<p class=dim>{} filters of listener <code>{}</code>, filter chain <code>{}</code>, on {}</p><div class=chain>",
        if chain.level == "http" { "HTTP" } else { "Network" },
        Text(&chain.listener),
        Text(&chain.chain),
        Text(workloads)
    )?;
    for (title, links, others, lone) in
        [("before", &chain.before, &chain.after, "gone"), ("after", &chain.after, &chain.before, "new")]
    {
        write!(out, "<span class=dim>{title}</span><ol>")?;
        for link in links {
            let here = |list: &[Link]| list.iter().filter(|one| one.name == link.name).count();
            let alone = here(links) > here(others);
            let mut class = if link.by.as_deref() == Some(own) { "own" } else { "" }.to_owned();
            if alone {
                class = format!("{class} {lone}");
            }
            let by = link.by.as_ref().map_or("istiod", String::as_str);
            let name = if link.name.is_empty() { "(no name)" } else { &link.name };
            write!(out, "<li class=\"{}\" title=\"{}\">{}</li>", class.trim(), Text(by), Text(short(name)))?;
        }
        writeln!(out, "</ol>")?;
    }
    writeln!(out, "</div>")
}

/// A filter's name without the part that all of Envoy's have.
fn short(name: &str) -> &str {
    ["envoy.filters.http.", "envoy.filters.network."]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name)
}

fn patch(out: &mut dyn Write, before: &str, after: &str) -> io::Result<()> {
    writeln!(out, "<pre class=diff>")?;
    let diff = TextDiff::from_lines(before, after);
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        write!(out, "<span class=h>{}</span>", Text(hunk.header().to_string().trim_end()))?;
        for change in hunk.iter_changes() {
            let (class, sign) = match change.tag() {
                ChangeTag::Insert => ("a", '+'),
                ChangeTag::Delete => ("d", '-'),
                ChangeTag::Equal => ("e", ' '),
            };
            write!(out, "<span class={class}>{sign}{}</span>", Text(change.value().trim_end_matches('\n')))?;
        }
    }
    writeln!(out, "</pre>")
}

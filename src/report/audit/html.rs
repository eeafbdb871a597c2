//! An audit as one self-contained page: no network, light and dark, for the screen and for paper.

use super::{
    advice, all_changes, bases, class_name, combination, full_name, gets, places, steps, verdict_sentence,
    worth_telling,
};
use crate::audit::view::{Audit, Chain, Filter, Finding, RollOut, Verdict, Workloads};
use crate::lint::upgrade::tell::Class;
use crate::mesh::Scope;
use crate::report::html::Text;
use crate::report::scope::sentence;
use crate::source::escape::one_line;
use similar::{ChangeTag, TextDiff};
use std::collections::HashMap;
use std::io::{self, Write};

const STYLE: &str = include_str!("page.css");

const SCRIPT: &str = include_str!("page.js");

/// Maximum number of rows and columns of the matrix, and of lines of a filter's text, to keep the page light. For a larger
/// matrix, the script draws the visible part; paper and browsers without scripts get a part of this size.
const MAX_ROWS: usize = 120;
const MAX_COLUMNS: usize = 30;
const MAX_LINES: usize = 300;

/// Maximum number of filters that are all unfolded for paper.
const MAX_PRINTED: usize = 60;

/// Maximum number of rows of the filter table that are shown without a scrolling frame.
const MAX_UNFRAMED: usize = 40;

/// Maximum number of groups of workloads in the rollout.
const MAX_DURING: usize = 200;

/// Text in which backticks mark code.
struct Prose<'t>(&'t str);

impl std::fmt::Display for Prose<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts: Vec<&str> = self.0.split('`').collect();
        // An unpaired backtick is an ordinary character.
        if parts.len().is_multiple_of(2) {
            return Text(self.0).fmt(out);
        }
        for (index, part) in parts.iter().enumerate() {
            if index % 2 == 1 {
                // A quoted name is one line, whatever it contains.
                write!(out, "<code>{}</code>", Text(&one_line(part)))?;
            } else {
                Text(part).fmt(out)?;
            }
        }
        Ok(())
    }
}

/// Writes the page.
pub(crate) fn html(out: &mut dyn Write, audit: &Audit, scope: &Scope) -> io::Result<()> {
    writeln!(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">")?;
    writeln!(out, "<title>EnvoyFilters: Istio {} to {}</title>", Text(&audit.from), Text(&audit.to))?;
    let found: Vec<Row<'_>> = audit.filters.iter().enumerate().filter(|(_, one)| one.verdict.is_some()).collect();
    let many = if found.len() > MAX_PRINTED { " class=many" } else { "" };
    writeln!(out, "<style>{STYLE}</style></head><body{many}>")?;
    head(out, audit)?;
    writeln!(out, "<main>\n<p class=dim>Scope: {}</p>", Prose(&sentence(scope)))?;
    table(out, audit)?;
    matrix(out, audit)?;
    roll_out(out, &audit.roll_out)?;
    during(out, audit)?;
    if !found.is_empty() {
        writeln!(out, "<h2 id=by-filter>Filter by filter</h2>")?;
    }
    if found.len() > MAX_PRINTED {
        writeln!(
            out,
            "<p class=\"dim printed\">Only the filters that are expanded on the screen are printed here.</p>"
        )?;
    }
    for (index, filter) in found {
        section(out, audit, index, filter)?;
    }
    let (bases, changes) = (bases(audit), all_changes(audit));
    if bases.is_some() || !changes.is_empty() || !audit.unknown.is_empty() || !audit.problems.is_empty() {
        writeln!(out, "<h2>What was not known</h2><ul>")?;
        for text in bases.iter().chain(&audit.unknown).chain(&audit.problems).chain(&changes) {
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
        writeln!(out, "<p class=dim>Steps: {}</p>", Text(&audit.path.join(" → ")))?;
    }
    writeln!(out, "<p><span class=\"verdict {class}\">{}</span></p>", audit.verdict.words())?;
    let sentence = verdict_sentence(audit);
    writeln!(out, "<p>{}. {}</p>", Text(&capital(&sentence)), Prose(advice(audit)))?;
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
    write!(
        out,
        "<h2 id=filters>Filters</h2><div class=\"tools find\"><label>Find a filter<input id=find type=search></label>"
    )?;
    write!(out, "<label>Verdict<select id=only><option value=\"\">all</option>")?;
    for word in Class::ALL.iter().map(|class| class.as_str()).chain(["ready"]) {
        write!(out, "<option>{word}</option>")?;
    }
    writeln!(out, "</select></label><span id=found class=dim></span></div>")?;
    let frame = if audit.filters.len() > MAX_UNFRAMED { "scroll tall" } else { "scroll" };
    writeln!(
        out,
        "<div class=\"{frame}\"><table class=filters><thead><tr><th>Verdict<th>Filter<th>What happens<th class=wide>Source</tr></thead><tbody>"
    )?;
    for (index, filter) in audit.filters.iter().enumerate() {
        let name = full_name(filter);
        let word = class_name(filter.verdict);
        write!(
            out,
            "<tr data-name=\"{}\" data-verdict={word}><td><span class=\"tag {word}\">{word}</span>",
            Text(&name.to_lowercase())
        )?;
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

/// A filter with its number, for the matrix.
type Row<'a> = (usize, &'a Filter);

fn matrix(out: &mut dyn Write, audit: &Audit) -> io::Result<()> {
    let rows: Vec<Row<'_>> = audit.filters.iter().enumerate().filter(|(_, one)| !one.cells.is_empty()).collect();
    // Columns with the worst and the most changes come first; equal workloads already share a column.
    let mut weight = vec![(0_usize, 0_usize); audit.workloads.len()];
    for cell in rows.iter().flat_map(|(_, filter)| &filter.cells) {
        if let Some(weight) = weight.get_mut(cell.workloads) {
            weight.0 += usize::from(cell.verdict.is_some());
            weight.1 += 1;
        }
    }
    let mut columns: Vec<usize> = (0..audit.workloads.len()).filter(|&column| weight[column].1 > 0).collect();
    columns.sort_by_key(|&column| (std::cmp::Reverse(weight[column]), column));
    if rows.is_empty() || columns.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<h2 id=matrix>Filters and workloads</h2><p class=dim>Patches in effect before → after the upgrade. Workloads that every filter treats alike share a column; hold the pointer over a cell, or tap it, for the reason.</p>"
    )?;
    let large = rows.len() > MAX_ROWS || columns.len() > MAX_COLUMNS;
    if large {
        grid(out, audit, &rows, &columns)?;
    }
    let shown = (&rows[..rows.len().min(MAX_ROWS)], &columns[..columns.len().min(MAX_COLUMNS)]);
    writeln!(out, "<div{}>", if large { " class=still" } else { "" })?;
    still(out, audit, shown.0, shown.1)?;
    if large {
        writeln!(
            out,
            "<p class=dim>{} of {} filters and {} of {} groups of workloads are shown here, the worst first; the rest is in the JSON form and below.</p>",
            shown.0.len(),
            rows.len(),
            shown.1.len(),
            columns.len()
        )?;
    }
    writeln!(out, "</div><div class=legend>")?;
    for class in Class::ALL {
        write!(out, "<span><span class=\"tag {0}\">{0}</span></span>", class.as_str())?;
    }
    writeln!(out, "<span><span class=\"tag ready\">ready</span></span><span>empty: does not attach</span></div>")
}

/// The label of a group of workloads: its first member and the number of others.
fn group_label(group: &Workloads) -> String {
    match group.count.saturating_sub(1) {
        0 => group.label.clone(),
        more => format!("{} +{more}", group.label),
    }
}

fn group_members(group: &Workloads) -> String {
    if group.count == 0 {
        return format!("{}, made up to fit filters, with what istiod generates by default", group.label);
    }
    let more = group.count.saturating_sub(group.members.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{} ({}): {}{more}", group.kind, group.knowledge, group.members.join(", "))
}

/// The whole matrix as data, from which the script draws the visible part.
fn grid(out: &mut dyn Write, audit: &Audit, rows: &[Row<'_>], columns: &[usize]) -> io::Result<()> {
    writeln!(
        out,
        "<div class=\"tools for-grid\"><label>Filters<input id=grid-filter type=search></label><label>Workloads<input id=grid-workload type=search></label><label><input id=grid-bad type=checkbox checked>only where something happens</label><span class=pages><button id=grid-back type=button>← back</button><button id=grid-on type=button>on →</button></span><span id=grid-shown class=dim></span></div>"
    )?;
    writeln!(
        out,
        "<div id=grid class=grid tabindex=0><div id=grid-view class=grid-view><div class=gt></div><div class=gl></div><div class=gb></div></div><div id=grid-size></div></div><p id=grid-said class=grid-said aria-live=polite></p>"
    )?;
    let number: HashMap<usize, usize> = columns.iter().enumerate().map(|(at, column)| (*column, at)).collect();
    let mut reasons: Vec<&str> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut cells = Vec::new();
    for (row, (_, filter)) in rows.iter().enumerate() {
        for cell in &filter.cells {
            let Some(column) = number.get(&cell.workloads) else { continue };
            let reason = *known.entry(&cell.reason).or_insert_with(|| {
                reasons.push(&cell.reason);
                reasons.len() - 1
            });
            let class = cell
                .verdict
                .map_or(Class::ALL.len(), |class| Class::ALL.iter().take_while(|one| **one != class).count());
            cells.push([row, *column, cell.before, cell.after, class, reason]);
        }
    }
    let classes: Vec<&str> = Class::ALL.iter().map(|class| class.as_str()).chain(["ready"]).collect();
    let filters: Vec<_> = rows
        .iter()
        .map(|(index, filter)| {
            (full_name(filter), class_name(filter.verdict), filter.verdict.map(|_| format!("f{index}")))
        })
        .collect();
    let workloads: Vec<_> = columns
        .iter()
        .filter_map(|&column| audit.workloads.get(column))
        .map(|group| (group_label(group), group_members(group)))
        .collect();
    let data = serde_json::json!({
        "classes": classes, "reasons": reasons, "filters": filters, "workloads": workloads, "cells": cells,
    });
    // The data must not end its element.
    writeln!(
        out,
        "<script type=\"application/json\" id=grid-data>{}</script>",
        data.to_string().replace('<', "\\u003c")
    )
}

/// The matrix as a table.
fn still(out: &mut dyn Write, audit: &Audit, rows: &[Row<'_>], columns: &[usize]) -> io::Result<()> {
    writeln!(out, "<div class=scroll><table class=matrix><thead><tr><th class=row>Filter")?;
    for group in columns.iter().filter_map(|&column| audit.workloads.get(column)) {
        let (label, members) = (group_label(group), group_members(group));
        write!(out, "<th class=col title=\"{}\"><span>{}</span>", Text(&members), Text(&label))?;
    }
    writeln!(out, "</tr></thead><tbody>")?;
    for (index, filter) in rows {
        let name = full_name(filter);
        write!(out, "<tr data-name=\"{}\"><th class=row>", Text(&name.to_lowercase()))?;
        match filter.verdict {
            Some(_) => write!(out, "<a href=\"#f{index}\">{}</a>", Text(&name))?,
            None => write!(out, "{}", Text(&name))?,
        }
        for column in columns {
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
                        class_name(cell.verdict)
                    };
                    let title = if cell.reason.is_empty() { class_name(cell.verdict) } else { &cell.reason };
                    write!(out, "<td><span class={class} title=\"{}\">{numbers}</span>", Text(title))?;
                }
                None => write!(out, "<td>")?,
            }
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div>")
}

fn roll_out(out: &mut dyn Write, rows: &[RollOut]) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<h2 id=roll-out>During the rollout</h2><p class=dim>What each combination of control plane and proxies gives, compared with the first row.</p>"
    )?;
    writeln!(
        out,
        "<div class=scroll><table class=roll-out><thead><tr><th>istiod<th>Proxies<th class=num>Filters in effect<th>Lost<th>Changed<th>Refused</tr></thead><tbody>"
    )?;
    for row in rows {
        let revision = if row.revision.is_empty() { String::new() } else { format!(" ({})", row.revision) };
        write!(
            out,
            "<tr><td class=whole data-is=istiod>{}{}<td data-is=proxies>{}<td class=num data-is=\"filters in effect\">{}",
            Text(&row.istiod),
            Text(&revision),
            Text(&row.proxies),
            row.effective
        )?;
        let lists =
            [("lost", &row.lost, "breaks"), ("changed", &row.changed, "changes"), ("refused", &row.refused, "breaks")];
        for (what, list, class) in lists {
            if list.is_empty() {
                write!(out, "<td class=dim data-is={what}>–")?;
                continue;
            }
            let shown: Vec<&str> = list.iter().take(6).map(String::as_str).collect();
            let more = list.len().saturating_sub(shown.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let names = shown.join(", ");
            write!(out, "<td data-is={what}><span class=\"tag {class}\">{}</span> {}{more}", list.len(), Text(&names))?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div>")
}

/// The rollout by workload.
fn during(out: &mut dyn Write, audit: &Audit) -> io::Result<()> {
    let groups = worth_telling(audit);
    if groups.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<h3>By workload</h3><p class=dim>Filters in effect in each combination: − lost or refused, ~ another effect than before.</p>"
    )?;
    // Where workloads are now is known for all groups of a running mesh, or for none.
    let known = groups.iter().any(|group| !group.places.is_empty());
    let head = if known { "<th>Now on" } else { "" };
    let frame = if groups.len() > MAX_UNFRAMED { "scroll tall" } else { "scroll" };
    write!(out, "<div class=\"{frame}\"><table class=during><thead><tr><th>Workloads{head}")?;
    for row in &audit.roll_out {
        write!(out, "<th>{}", Text(&combination(row)))?;
    }
    writeln!(out, "</tr></thead><tbody>")?;
    for group in groups.iter().take(MAX_DURING) {
        let Some(workloads) = audit.workloads.get(group.workloads) else { continue };
        let places = places(group);
        let places = if places.is_empty() { "not known" } else { &places };
        let (label, members) = (group_label(workloads), group_members(workloads));
        write!(out, "<tr><td class=name title=\"{}\">{}", Text(&members), Text(&label))?;
        if known {
            write!(out, "<td class=dim>{}", Text(places))?;
        }
        for one in &group.gets {
            let gone: Vec<&str> = one.lost.iter().chain(&one.refused).map(String::as_str).collect();
            let class = match (gone.is_empty(), one.changed.is_empty()) {
                (false, _) => "breaks",
                (true, false) => "changes",
                (true, true) => "ready",
            };
            let mut title = String::new();
            for (sign, names) in [("−", gone.join(", ")), ("~", one.changed.join(", "))] {
                if !names.is_empty() {
                    title = format!("{title}{sign} {names} ");
                }
            }
            write!(out, "<td><span class=\"tag {class}\" title=\"{}\">{}</span>", Text(title.trim()), gets(one))?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div>")?;
    if groups.len() > MAX_DURING {
        writeln!(out, "<p class=dim>{} more groups are in the JSON form.</p>", groups.len() - MAX_DURING)?;
    }
    Ok(())
}

fn section(out: &mut dyn Write, audit: &Audit, index: usize, filter: &Filter) -> io::Result<()> {
    let word = class_name(filter.verdict);
    let name = full_name(filter);
    let open = if filter.verdict == Some(Class::Breaks) && index < 3 { " open" } else { "" };
    writeln!(
        out,
        "<details class=filter id=f{index} data-name=\"{}\" data-verdict={word}{open}><summary><span class=\"tag {word}\">{word}</span><span class=name>{}</span><span class=\"dim wide\"><code>{}:{}</code></span></summary><div>",
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
    if let Some(rewritten) = &filter.shown {
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
    let class = finding.class.as_str();
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
    for (title, links, lone) in [("before", &chain.before, "gone"), ("after", &chain.after, "new")] {
        write!(out, "<span class=dim>{title}</span><ol>")?;
        for link in links {
            if let Some(skipped) = link.skipped {
                write!(out, "<li class=skip>{skipped} more</li>")?;
                continue;
            }
            let mut class = if link.by.as_deref() == Some(own) { "own" } else { "" }.to_owned();
            if link.only {
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

/// A filter's name without the common prefix of Envoy's filters.
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

//! An audit as one self-contained page: no network, light and dark, for the screen and for paper.

use super::marks::{and_more, link, tag};
use super::matrix::{Row, group_label, group_members, matrix};
use super::{
    BROKEN, advice, all_changes, bases, class_name, combination, gets, judged_nothing, places, state_name, steps,
    verdict_sentence, verdict_words, worth_telling,
};
use crate::audit::view::{Audit, Chain, Filter, Finding, Gets, Link, RollOut, Verdict};
use crate::lint::upgrade::tell::Class;
use crate::mesh::Scope;
use crate::report::html::{self, NEWLINE, Prose, Text};
use crate::report::scope::sentence;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use similar::{ChangeTag, TextDiff};
use std::io::{self, Write};

const STYLE: &str = include_str!("page.css");

const SCRIPT: &str = include_str!("page.js");

/// Maximum number of lines of a filter's text, to keep the page light.
const MAX_LINES: usize = 300;

/// Maximum number of filters that are all unfolded for paper.
const MAX_PRINTED: usize = 60;

/// Maximum number of rows of the filter table that are shown without a scrolling frame.
const MAX_UNFRAMED: usize = 40;

/// Maximum number of groups of workloads in the rollout.
const MAX_DURING: usize = 200;

/// Writes the page.
pub(crate) fn html(out: &mut dyn Write, audit: &Audit, scope: &Scope) -> io::Result<()> {
    out.write_all(page(audit, scope).into_string().as_bytes())
}

fn page(audit: &Audit, scope: &Scope) -> Markup {
    let found: Vec<Row<'_>> = audit.filters.iter().enumerate().filter(|(_, one)| one.verdict.is_some()).collect();
    let many = found.len() > MAX_PRINTED;
    html! {
        (DOCTYPE) (NEWLINE)
        html lang="en" {
            (html::head(&format!("EnvoyFilters: Istio {} to {}", audit.from, audit.to), STYLE))
            body class=[many.then_some("many")] {
                (head(audit, scope))
                main {
                    (NEWLINE)
                    p.dim { "Scope: " (Prose(&sentence(scope))) } (NEWLINE)
                    (table(audit))
                    (matrix(audit))
                    @if !judged_nothing(audit) { (roll_out(&audit.roll_out)) }
                    (during(audit))
                    @if !found.is_empty() {
                        h2 id="by-filter" { "Filter by filter" } (NEWLINE)
                    }
                    @if many {
                        p.dim.printed { "Only the filters that are expanded on the screen are printed here." } (NEWLINE)
                    }
                    @for (index, filter) in &found {
                        (section(audit, *index, filter))
                    }
                    (unknown(audit))
                    footer { "kubectl envoyfilter " (env!("CARGO_PKG_VERSION")) " audit" }
                }
                (NEWLINE)
                script { (PreEscaped(SCRIPT)) }
            }
        }
        (NEWLINE)
    }
}

fn unknown(audit: &Audit) -> Markup {
    let (bases, changes) = (bases(audit), all_changes(audit));
    let texts: Vec<&String> = bases.iter().chain(&audit.unknown).chain(&audit.problems).chain(&changes).collect();
    html! {
        @if !texts.is_empty() {
            h2 { "What was not known" }
            ul { @for text in texts { li { (Prose(text)) } (NEWLINE) } }
        }
    }
}

fn head(audit: &Audit, scope: &Scope) -> Markup {
    let class = match audit.verdict {
        Verdict::Ready => "ready",
        Verdict::ReadyAfterChanges => "changes",
        Verdict::NotReady => "breaks",
    };
    let counts = &audit.counts;
    // Every filter is in one of them.
    let mut tiles = vec![
        ("breaks", "breaks", counts.breaks),
        ("changes", "changes", counts.changes),
        ("deprecated", "deprecated", counts.deprecated),
        ("cleanup", "cleanup", counts.cleanup),
        ("ready", "ready", counts.ready),
        (BROKEN, "broken today", counts.broken_today),
    ];
    if counts.lost_to_panics > 0 {
        tiles.insert(1, ("breaks", "lost to a panic", counts.lost_to_panics));
    }
    html! {
        header {
            h1 { "EnvoyFilters: Istio " (Text(&audit.from)) " → " (Text(&audit.to)) } (NEWLINE)
            @if audit.path.len() > 2 {
                p.dim { "Steps: " (Text(&audit.path.join(" → "))) } (NEWLINE)
            }
            p { span class={ "verdict " (class) } { (verdict_words(audit)) } } (NEWLINE)
            p { (Text(&capital(&verdict_sentence(audit, scope)))) ". " (Prose(advice(audit, scope))) } (NEWLINE)
            div.tiles {
                @for (class, label, number) in tiles {
                    div class={ "tile " (class) } { b { (number) } (label) } (NEWLINE)
                }
            }
        }
        (NEWLINE)
    }
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

fn table(audit: &Audit) -> Markup {
    let frame = if audit.filters.len() > MAX_UNFRAMED { "scroll tall" } else { "scroll" };
    html! {
        @if !audit.filters.is_empty() {
            h2 id="filters" { "Filters" }
            div class="tools find" {
                label { "Find a filter" input id="find" type="search"; }
                label {
                    "Verdict"
                    select id="only" {
                        option value="" { "all" }
                        @for class in Class::ALL.iter().map(|class| class.as_str())  .chain(["ready", BROKEN]) {
                            option { (class) }
                        }
                    }
                }
                span.dim id="found" {}
            }
            (NEWLINE)
            div class=(frame) {
                table.filters {
                    thead { tr { th { "Verdict" } th { "Filter" } th { "What happens" } th.wide { "Source" } } }
                    tbody {
                        @for (index, filter) in audit.filters.iter().enumerate() { (row(index, filter)) }
                    }
                }
            }
            (NEWLINE)
        }
    }
}

fn row(index: usize, filter: &Filter) -> Markup {
    let class = state_name(filter);
    let first = filter.findings.first().map(|one| one.message.as_str()).unwrap_or_default();
    let more = and_more(filter.findings.len().saturating_sub(1));
    html! {
        tr data-name=(Text(&filter.full_name().to_lowercase())) data-verdict=(class) {
            td { (tag(class)) }
            td.name { (link(index, filter)) }
            td {
                (Prose(first)) @if !more.is_empty() { span.dim { (more) } }
                @if let Some(today) = filter.today.first() {
                    @if !first.is_empty() { br; }
                    span.dim { "broken today: " (Prose(&today.message)) (and_more(filter.today.len() - 1)) }
                }
            }
            td.wide.dim.src { code { (Text(&filter.source.file)) ":" (filter.source.line) } }
        }
        (NEWLINE)
    }
}

fn roll_out(rows: &[RollOut]) -> Markup {
    html! {
        @if !rows.is_empty() {
            h2 id="roll-out" { "During the rollout" }
            p.dim { "What each combination of control plane and proxies gives, compared with the first row." } (NEWLINE)
            div.scroll {
                table.roll-out {
                    thead {
                        tr {
                            th { "istiod" } th { "Proxies" } th.num { "Filters in effect" }
                            th { "Lost" } th { "Changed" } th { "Refused" }
                        }
                    }
                    tbody { @for row in rows { (combination_row(row)) } }
                }
            }
            (NEWLINE)
        }
    }
}

fn combination_row(row: &RollOut) -> Markup {
    let lists =
        [("lost", &row.lost, "breaks"), ("changed", &row.changed, "changes"), ("refused", &row.refused, "breaks")];
    html! {
        tr {
            td.whole data-is="istiod" {
                (Text(&row.istiod)) @if !row.revision.is_empty() { " (" (Text(&row.revision)) ")" }
            }
            td data-is="proxies" { (Text(&row.proxies)) }
            td.num data-is="filters in effect" { (row.effective) }
            @for (what, list, class) in lists {
                @if list.is_empty() {
                    td.dim data-is=(what) { "–" }
                } @else {
                    td data-is=(what) {
                        span class={ "tag " (class) } { (list.len()) } " "
                        (Text(&list.iter().take(6).map(String::as_str).collect::<Vec<_>>().join(", ")))
                        (and_more(list.len().saturating_sub(6)))
                    }
                }
            }
        }
        (NEWLINE)
    }
}

/// The rollout by workload.
fn during(audit: &Audit) -> Markup {
    let groups = worth_telling(audit);
    // Where workloads are now is known for all groups of a running mesh, or for none.
    let known = groups.iter().any(|group| !group.places.is_empty());
    let frame = if groups.len() > MAX_UNFRAMED { "scroll tall" } else { "scroll" };
    html! {
        @if !groups.is_empty() {
            h3 { "By workload" }
            p.dim { "Filters in effect in each combination: − lost or refused, ~ another effect than before." } (NEWLINE)
            div class=(frame) {
                table.during {
                    thead {
                        tr {
                            th { "Workloads" }
                            @if known { th { "Now on" } }
                            @for row in &audit.roll_out { th { (Text(&combination(row))) } }
                        }
                    }
                    tbody {
                        @for group in groups.iter().take(MAX_DURING) {
                            @if let Some(workloads) = audit.workloads.get(group.workloads) {
                                tr {
                                    td.name title=(Text(&group_members(workloads))) { (Text(&group_label(workloads))) }
                                    @if known {
                                        td.dim { (Text(Some(places(group)).filter(|it| !it.is_empty()).as_deref().unwrap_or("not known"))) }
                                    }
                                    @for one in &group.gets { td { (state(one)) } }
                                }
                                (NEWLINE)
                            }
                        }
                    }
                }
            }
            (NEWLINE)
            @if groups.len() > MAX_DURING {
                p.dim { (groups.len() - MAX_DURING) " more groups are in the JSON form." } (NEWLINE)
            }
        }
    }
}

/// What a workload gets in one combination.
fn state(one: &Gets) -> Markup {
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
    html! { span class={ "tag " (class) } title=(Text(title.trim())) { (gets(one)) } }
}

fn section(audit: &Audit, index: usize, filter: &Filter) -> Markup {
    let class = class_name(filter.verdict);
    let name = filter.full_name();
    let lines: Vec<&str> = filter.text.lines().collect();
    let shown = lines.get(..lines.len().min(MAX_LINES)).unwrap_or_default().join("\n");
    html! {
        details.filter id={ "f" (index) } data-name=(Text(&name.to_lowercase())) data-verdict=(class)
            open[filter.verdict == Some(Class::Breaks) && index < 3]
        {
            summary {
                (tag(class))
                span.name { (Text(&name)) }
                span.dim.wide { code { (Text(&filter.source.file)) ":" (filter.source.line) } }
            }
            div {
                (NEWLINE)
                @for one in &filter.findings { (finding(audit, one)) }
                @if !filter.chains.is_empty() {
                    h3 { "Filter chains, before and after" } (NEWLINE)
                    @for chain in &filter.chains { (picture(audit, chain, &name)) }
                }
                @if let Some(rewritten) = &filter.shown {
                    h3 { "Rewritten" } (NEWLINE)
                    (patch(&filter.text, rewritten))
                }
                details { summary { "Source" } pre { (Text(&shown)) } (NEWLINE)
                    @if lines.len() > MAX_LINES {
                        p.dim { (lines.len() - MAX_LINES) " more lines are in the file." } (NEWLINE)
                    }
                }
            }
        }
        (NEWLINE)
    }
}

fn finding(audit: &Audit, finding: &Finding) -> Markup {
    let steps = steps(audit, finding);
    let help = finding.help.as_deref().map(|help| help.split_once('\n').unwrap_or((help, "")));
    html! {
        div class={ "finding " (finding.class.as_str()) } {
            div {
                span.code { (finding.code) } (Prose(&finding.message))
                @if !steps.is_empty() { " " span.dim { "(" (Text(&steps)) ")" } }
            }
            (NEWLINE)
            ul {
                li {
                    @if let Some(patch) = finding.patch { "patch " (patch) ", " }
                    "line " (finding.source.line) ", " (finding.confidence)
                }
                (NEWLINE)
                @for note in &finding.notes { li { (Prose(note)) } (NEWLINE) }
                @if !finding.workloads.is_empty() {
                    li {
                        "on " (Text(&finding.workloads.iter().take(12).map(String::as_str).collect::<Vec<_>>().join(", ")))
                        (and_more(finding.workloads.len().saturating_sub(12)))
                    }
                    (NEWLINE)
                }
            }
            @if let Some((first, rest)) = help {
                p.help { "→ " (Prose(first)) } (NEWLINE)
                @if !rest.is_empty() { pre { (Text(rest)) } (NEWLINE) }
            }
        }
        (NEWLINE)
    }
}

fn picture(audit: &Audit, chain: &Chain, own: &str) -> Markup {
    let workloads = audit.workloads.get(chain.workloads).map(|group| group.label.as_str()).unwrap_or_default();
    html! {
        p.dim {
            (if chain.level == "http" { "HTTP" } else { "Network" }) " filters of listener "
            code { (Text(&chain.listener)) } ", filter chain " code { (Text(&chain.chain)) } ", on " (Text(workloads))
        }
        div.chain {
            (NEWLINE)
            @for (title, links, lone) in [("before", &chain.before, "gone"), ("after", &chain.after, "new")] {
                span.dim { (title) }
                ol { @for link in links { (chain_link(link, own, lone)) } }
                (NEWLINE)
            }
        }
        (NEWLINE)
    }
}

fn chain_link(link: &Link, own: &str, lone: &str) -> Markup {
    let by = link.by.as_ref().map_or("istiod", String::as_str);
    let name = if link.name.is_empty() { "(no name)" } else { &link.name };
    html! {
        @if let Some(skipped) = link.skipped {
            li.skip { (skipped) " more" }
        } @else {
            li.own[link.by.as_deref() == Some(own)] class=[link.only.then_some(lone)] title=(Text(by)) { (Text(short(name))) }
        }
    }
}

/// A filter's name without the common prefix of Envoy's filters.
fn short(name: &str) -> &str {
    ["envoy.filters.http.", "envoy.filters.network."]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name)
}

fn patch(before: &str, after: &str) -> Markup {
    let diff = TextDiff::from_lines(before, after);
    html! {
        pre.diff {
            @for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
                span.h { (Text(hunk.header().to_string().trim_end())) }
                @for change in hunk.iter_changes() {
                    @let (class, sign) = match change.tag() {
                        ChangeTag::Insert => ("a", "+"),
                        ChangeTag::Delete => ("d", "-"),
                        ChangeTag::Equal => ("e", " "),
                    };
                    span class=(class) { (sign) (Text(change.value().trim_end_matches('\n'))) }
                }
            }
        }
        (NEWLINE)
    }
}

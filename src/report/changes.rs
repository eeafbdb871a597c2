//! Changes on proxies, as JSON and as a comment in Markdown.

use super::style::{Terminal, count};
use super::unified::{self, MAX_LINES};
use crate::engine::Outcome;
use crate::explain::view::API_VERSION;
use crate::mesh::{DiffReport, ProxyDiff, Scope};
use crate::study::Changed;
use crate::words::few;
use serde::Serialize;
use serde_json::Value;
use std::io::{self, Write};

/// Longest comment, in bytes: GitHub accepts 65,536 characters.
const LONGEST: usize = 60_000;

/// The result of `diff` as data.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Diff<'d> {
    api_version: &'static str,
    kind: &'static str,
    /// Whether any proxy was compared, or there was nothing to compare.
    judged: bool,
    proxies: Vec<OnProxy<'d>>,
    /// Hosts whose clusters an annotation adds but no config dump contains.
    unknown_services: &'d [String],
    /// Patches whose outcome differs after a change of any object.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outcomes: Vec<Turned<'d>>,
    /// Proxies that exist only after the change.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    appeared: &'d [String],
    /// Proxies that exist only before it.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    gone: &'d [String],
    problems: Vec<&'d str>,
    scope: &'d Scope,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Turned<'d> {
    filter: &'d str,
    patch: usize,
    apply_to: &'static str,
    /// Absent if the EnvoyFilter is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Outcome>,
    /// Absent if it is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Outcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'d str>,
    proxies: &'d [String],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct OnProxy<'d> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'d str,
    resources: Vec<OfResource<'d>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct OfResource<'d> {
    kind: &'static str,
    name: &'d str,
    /// Absent if it is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Value>,
    /// Absent if it is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Value>,
}

impl OnProxy<'_> {
    fn of(proxy: &ProxyDiff) -> OnProxy<'_> {
        let resources = proxy.resources.iter().map(OfResource::of).collect();
        OnProxy { kind: proxy.kind, name: &proxy.name, resources }
    }
}

impl OfResource<'_> {
    fn of(changed: &Changed) -> OfResource<'_> {
        let value = |text: &str| (!text.is_empty()).then(|| serde_json::from_str(text).unwrap_or(Value::Null));
        OfResource {
            kind: changed.kind.as_str(),
            name: &changed.name,
            before: value(&changed.before),
            after: value(&changed.after),
        }
    }
}

/// Whether proxies were compared, or no comparison was needed.
pub(crate) fn is_judged(report: &DiffReport) -> bool {
    let equal = report.scope.filters == 0 && !report.whole;
    !is_empty(report) && (report.scope.proxies.read > 0 || equal)
}

/// Whether no EnvoyFilter was given, changed or deleted.
fn is_empty(report: &DiffReport) -> bool {
    report.scope.filters == 0 && !report.whole && report.new.inventory.envoy_filters.is_empty()
}

/// Whether proxies appear or disappear, or patches start or stop having an effect.
pub(crate) fn more_than_resources(report: &DiffReport) -> bool {
    !(report.appeared.is_empty() && report.gone.is_empty() && report.outcomes.is_empty())
}

/// Proxies that appear or disappear, and patches that start or stop having an effect, in lines.
pub(crate) fn outcomes(report: &DiffReport, everything: bool) -> Vec<String> {
    const SHOWN: usize = 3;
    let mut lines: Vec<String> = report.appeared.iter().map(|name| format!("new proxy {name}")).collect();
    lines.extend(report.gone.iter().map(|name| format!("removed proxy {name}")));
    if !report.outcomes.is_empty() {
        lines.extend([String::new(), "EnvoyFilters".to_owned()]);
    }
    let word = |outcome: Option<Outcome>, none: &'static str| outcome.map_or(none, Outcome::as_str);
    for change in &report.outcomes {
        let (before, after) = (word(change.before, "new"), word(change.after, "deleted"));
        let shown = if everything { change.proxies.len() } else { SHOWN };
        let proxies = few(&change.proxies, change.proxies.len(), shown);
        let (filter, patch, apply_to) = (&change.filter, change.patch, change.apply_to);
        lines.push(format!("{filter} patch {patch} ({apply_to}): {before} → {after} on {proxies}"));
        if let Some(reason) = &change.reason {
            let when = if change.after == Some(Outcome::Applied) { "before: " } else { "" };
            lines.push(format!("  {when}{reason}"));
        }
    }
    lines
}

/// The result of a comparison without changes, in one sentence.
pub(crate) fn unchanged(report: &DiffReport) -> String {
    let read = report.scope.proxies.read;
    match (report.scope.filters, read, report.scope.unread.is_empty()) {
        _ if is_empty(report) => "nothing compared: no EnvoyFilter to compare".to_owned(),
        (0, 0, _) if !report.whole => "no change: the EnvoyFilters are the same".to_owned(),
        (_, 0, true) if report.whole => "nothing compared: no proxy exists before and after the change".to_owned(),
        (_, 0, true) => "nothing compared: the EnvoyFilters reach no proxy".to_owned(),
        (_, 0, false) => "nothing compared: no proxy could be read".to_owned(),
        _ if !report.unknown_services.is_empty() => {
            format!("no change in what is known of {}{}", count(read, "proxy", "proxies"), unread(report))
        }
        _ => format!("no change on {}{}", count(read, "proxy", "proxies"), unread(report)),
    }
}

/// The end of a result that does not cover everything; empty if it does.
pub(crate) fn unread(report: &DiffReport) -> String {
    let proxies = &report.scope.proxies;
    match proxies.of.saturating_sub(proxies.read) {
        0 if report.scope.unread.is_empty() => String::new(),
        0 => "; not everything could be read".to_owned(),
        more => format!("; {more} more could not be read"),
    }
}

impl Diff<'_> {
    /// The data of a report.
    pub(crate) fn of(report: &DiffReport) -> Diff<'_> {
        let loaded = report.current.problems.iter().chain(&report.new.problems);
        let remarks = report.remarks.iter().map(|remark| &remark.problem);
        let problems = loaded.chain(&report.problems).chain(remarks);
        Diff {
            api_version: API_VERSION,
            kind: "Diff",
            judged: is_judged(report),
            proxies: report.proxies.iter().map(OnProxy::of).collect(),
            unknown_services: &report.unknown_services,
            outcomes: report
                .outcomes
                .iter()
                .map(|one| Turned {
                    filter: &one.filter,
                    patch: one.patch,
                    apply_to: one.apply_to,
                    before: one.before,
                    after: one.after,
                    reason: one.reason.as_deref(),
                    proxies: &one.proxies,
                })
                .collect(),
            appeared: &report.appeared,
            gone: &report.gone,
            problems: problems.map(|problem| problem.message.as_str()).collect(),
            scope: &report.scope,
        }
    }
}

/// Text inside an element, on one line.
fn html(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Text outside of code: without markup of its own, on one line.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '|' | '[' | ']' | '*' | '_' | '\\' | '`' | '#' | '@' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Writes a comment for a change: the changes on each proxy, folded, and the basis of the result.
pub fn markdown(out: &mut dyn Write, report: &DiffReport, everything: bool) -> io::Result<()> {
    let resources: usize = report.proxies.iter().map(|proxy| proxy.resources.len()).sum();
    writeln!(out, "### EnvoyFilters: what changes on proxies\n")?;
    if resources == 0 {
        writeln!(out, "{}", plain(&unchanged(report)))?;
    } else {
        let proxies = count(report.scope.proxies.read, "proxy", "proxies");
        let resources = count(resources, "resource", "resources");
        writeln!(out, "**{} of {proxies} changed: {resources}{}**", report.proxies.len(), unread(report))?;
    }
    for line in outcomes(report, everything) {
        writeln!(out, "\n{}", plain(line.trim()))?;
    }
    let (mut written, mut left) = (0, 0);
    for proxy in &report.proxies {
        let mut text = Vec::new();
        let number = count(proxy.resources.len(), "resource changes", "resources change");
        let title = format!("{} {}: {number}", proxy.kind, proxy.name);
        writeln!(text, "\n<details><summary>{}</summary>\n", html(&title))?;
        for changed in &proxy.resources {
            let mut diff = Vec::new();
            let name = format!("{} {}", changed.kind.as_str(), changed.name);
            let texts = (changed.before.as_str(), changed.after.as_str());
            let limit = if everything { usize::MAX } else { MAX_LINES };
            unified::diff(&mut diff, Terminal::default(), (&name, &name), texts, limit)?;
            let diff = String::from_utf8_lossy(&diff).into_owned();
            let fence = fence(&diff);
            writeln!(text, "{fence}diff\n{}\n{fence}\n", diff.trim_end())?;
        }
        writeln!(text, "</details>")?;
        if !everything && written + text.len() > LONGEST {
            left += 1;
            continue;
        }
        written += text.len();
        out.write_all(&text)?;
    }
    if left > 0 {
        writeln!(out, "\n{} not shown here; `-v` shows all.", count(left, "more proxy is", "more proxies are"))?;
    }
    for host in &report.unknown_services {
        writeln!(out, "\n> {}", plain(&super::missing_service(host, report.scope.lenders)))?;
    }
    let loaded = report.current.problems.iter().chain(&report.new.problems).chain(&report.problems);
    let mut problems = loaded
        .chain(report.remarks.iter().map(|remark| &remark.problem))
        .filter(|problem| problem.severity > crate::source::Severity::Info)
        .peekable();
    if problems.peek().is_some() {
        writeln!(out, "\nNot everything could be read or taken:\n")?;
        for problem in problems {
            writeln!(out, "- {}", plain(&problem.message))?;
        }
    }
    match super::scope::line(&report.scope) {
        Some(line) => writeln!(out, "\n<sub>scope: {}</sub>", html(&line)),
        None => Ok(()),
    }
}

/// A fence that is longer than any in the text.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

//! Findings for CI systems: JUnit XML, GitHub's workflow commands, GitLab's code quality report, a Markdown table.

use super::{Report, whole};
use crate::report::markdown::{cell, code};
use crate::report::style::count;
use crate::report::{junit, scope};
use crate::source::Severity;
use crate::words::fnv;
use quick_junit::{NonSuccessKind, TestSuite};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes findings as JUnit XML: a suite for each file, a failed case for each finding, a passed one for a clean file that
/// was judged.
pub(crate) fn junit(out: &mut dyn Write, report: &Report<'_>) -> io::Result<()> {
    let mut suites: BTreeMap<&str, Vec<&crate::lint::Finding>> = BTreeMap::new();
    let not_judged = report.not_judged();
    for (_, source) in report.sources.iter().filter(|(file, _)| !not_judged.contains(file)) {
        suites.entry(&source.name).or_default();
    }
    for finding in report.findings {
        suites.entry(report.file(finding.primary.span)).or_default().push(finding);
    }
    let mut all = quick_junit::Report::new("kubectl-envoyfilter lint");
    for (file, found) in suites {
        let mut suite = TestSuite::new(junit::name(file));
        if found.is_empty() {
            suite.add_test_case(junit::passed(file, "no findings"));
        }
        for finding in found {
            let place = report.sources.position(finding.primary.span);
            let name = format!("{} {} at {}:{}", finding.rule.code, finding.rule.name, place.line, place.column);
            let mut case = junit::failed(file, &name, NonSuccessKind::Failure, &finding.message);
            let whole = format!("{}: {}", report.sources.place(finding.primary.span), whole(finding));
            case.status.set_type(finding.severity.as_str()).set_description(junit::text(&whole));
            suite.add_test_case(case);
        }
        all.add_test_suite(suite);
    }
    let mut looked_at = TestSuite::new("scope");
    looked_at.add_property(("scope", junit::text(&scope::sentence(report.scope)).as_str()));
    for text in &report.summary.unknown {
        looked_at.add_property(("unknown", junit::text(text).as_str()));
    }
    all.add_test_suite(looked_at);
    if !report.trouble.is_empty() {
        let mut reading = TestSuite::new("reading");
        for text in report.trouble {
            let mut case = junit::failed("reading", text, NonSuccessKind::Error, text);
            case.status.set_type("unread");
            reading.add_test_case(case);
        }
        all.add_test_suite(reading);
    }
    junit::write(out, &all)
}

/// A text in a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The same in a property of one.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// The workflow command for a run without a result.
pub(crate) fn failed(title: &str, text: &str) -> String {
    format!("::error title={}::{}\n", property(title), data(text))
}

/// An issue of GitLab's code quality report about a run without a result.
pub(crate) fn issue(name: &str, severity: &str, text: &str) -> Value {
    of_run(".", (name, severity), &format!("{:016x}", fnv(text)), text)
}

/// An issue about a whole run. It requires a place: a file represents the run.
fn of_run(path: &str, (name, severity): (&str, &str), print: &str, text: &str) -> Value {
    json!({
        "description": text,
        "check_name": name,
        "fingerprint": print,
        "severity": severity,
        "location": {"path": path, "lines": {"begin": 1}},
    })
}

/// Writes findings as workflow commands: GitHub shows them beside the changed lines.
pub(crate) fn github(out: &mut dyn Write, report: &Report<'_>) -> io::Result<()> {
    for finding in report.findings {
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let (start, end) = report.range(finding.primary.span);
        writeln!(
            out,
            "::{command} file={},line={},col={},endLine={},title={}::{}",
            property(report.file(finding.primary.span)),
            start.line,
            start.column,
            end.line,
            property(&format!("{} {}", finding.rule.code, finding.rule.name)),
            data(&whole(finding))
        )?;
    }
    for text in report.trouble {
        writeln!(out, "::error::{}", data(text))?;
    }
    // One annotation, because a job shows only ten of a kind.
    let lines: Vec<String> =
        std::iter::once(scope::sentence(report.scope)).chain(report.summary.unknown.iter().cloned()).collect();
    writeln!(out, "::notice title=Scope::{}", data(&lines.join("\n")))
}

/// Writes findings as GitLab's code quality report.
pub(crate) fn gitlab(out: &mut dyn Write, report: &Report<'_>) -> io::Result<()> {
    let mut issues: Vec<Value> = report
        .numbered()
        .map(|(finding, print)| {
            let severity = match finding.severity {
                Severity::Error => "major",
                Severity::Warning => "minor",
                Severity::Info => "info",
            };
            let path = report.file(finding.primary.span);
            json!({
                "description": format!("{} {}", finding.rule.code, finding.message),
                "check_name": finding.rule.name,
                "fingerprint": print,
                "severity": severity,
                "location": {
                    "path": path.strip_prefix("./").unwrap_or(path),
                    "lines": {"begin": report.sources.position(finding.primary.span).line},
                },
            })
        })
        .collect();
    let first = report.sources.iter().next().map_or(".", |(_, source)| source.name.as_str());
    let first = first.strip_prefix("./").unwrap_or(first);
    for text in report.trouble {
        issues.push(of_run(first, ("unread", "major"), &format!("{:016x}", fnv(text)), text));
    }
    // A constant fingerprint, so that GitLab does not treat it as new when a number changes.
    let sentence = std::iter::once(scope::sentence(report.scope)).chain(report.summary.unknown.iter().cloned());
    let text = format!("Scope: {}", sentence.collect::<Vec<_>>().join(". "));
    issues.push(of_run(first, ("scope", "info"), &format!("{:016x}", fnv("scope")), &text));
    crate::report::json(out, &issues)
}

/// Writes findings as a Markdown table, for a comment or a job's summary.
pub(crate) fn markdown(out: &mut dyn Write, report: &Report<'_>) -> io::Result<()> {
    let sum = report.summary;
    let counts = [
        count(sum.errors, "error", "errors"),
        count(sum.warnings, "warning", "warnings"),
        count(sum.infos, "info", "infos"),
    ];
    let filters = count(sum.filters, "EnvoyFilter", "EnvoyFilters");
    writeln!(out, "**{}** in {filters}, for Istio {}\n", counts.join(", "), report.releases.join(", "))?;
    if !report.findings.is_empty() {
        writeln!(out, "| severity | rule | place | finding |\n| --- | --- | --- | --- |")?;
        for finding in report.findings {
            let help = finding.help.as_deref().and_then(|help| help.lines().next()).unwrap_or_default();
            let help = if help.is_empty() { String::new() } else { format!("<br>{}", cell(help)) };
            writeln!(
                out,
                "| {} | {} {} | `{}` | {}{help} |",
                finding.severity.as_str(),
                finding.rule.code,
                finding.rule.name,
                code(&report.sources.place(finding.primary.span)),
                cell(&finding.message),
            )?;
        }
        writeln!(out)?;
    }
    writeln!(out, "Scope: {}", cell(&scope::sentence(report.scope)))?;
    if !sum.unknown.is_empty() || !report.trouble.is_empty() {
        writeln!(out)?;
    }
    for text in sum.unknown.iter().chain(report.trouble) {
        writeln!(out, "- {}", cell(text))?;
    }
    Ok(())
}

//! Findings for people: grouped by file, each with its source, then a summary.

use super::Report;
use crate::lint::rule::Family;
use crate::lint::summary::by_rule;
use crate::lint::{Confidence, Finding};
use crate::report::problem::{MAX_LINE, emit, line_length, one_line};
use crate::report::scope;
use crate::report::style::{Role, Terminal, columns, count, wrap};
use crate::source::{FileId, Severity, Sources, Span};
use codespan_reporting::diagnostic::{self, Diagnostic, Label};
use std::io::{self, Write};
use std::iter;
use std::ops::RangeInclusive;

/// Maximum number of workloads listed in a note.
const MAX_WORKLOADS: usize = 6;

/// Maximum number of lines of a help that shows an object of another API.
const MAX_SUGGESTION: usize = 3;

/// How much is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Detail {
    /// Every workload, and whole objects.
    pub verbose: bool,
    /// Infos in full, not only their number.
    pub infos: bool,
}

/// Writes findings and the summary: file by file, in each the most severe first.
pub(crate) fn text(out: &mut dyn Write, terminal: Terminal, detail: Detail, report: &Report<'_>) -> io::Result<()> {
    let mut files: Vec<(&str, Vec<&Finding>)> = Vec::new();
    for finding in report.findings {
        let name = report.file(finding.primary.span);
        match files.last_mut() {
            Some((last, findings)) if *last == name => findings.push(finding),
            _ => files.push((name, vec![finding])),
        }
    }
    let secrets = secret_lines(report.sources, report.findings);
    let mut hidden_infos = 0;
    for (name, mut findings) in files {
        let all = findings.len();
        findings.retain(|finding| detail.infos || finding.severity > Severity::Info);
        hidden_infos += all - findings.len();
        if findings.is_empty() {
            continue;
        }
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        writeln!(
            out,
            "{} {}\n",
            terminal.paint(Role::Strong, name),
            terminal.paint(Role::Dim, format!("({})", count(findings.len(), "finding", "findings")))
        )?;
        for finding in findings {
            let hidden = shows_secret(report.sources, &secrets, finding);
            one(out, terminal, detail.verbose, report.sources, finding, hidden)?;
            writeln!(out)?;
        }
    }
    summary(out, terminal, report, hidden_infos)
}

/// Lines of a file.
type Lines = (FileId, RangeInclusive<usize>);

fn lines(sources: &Sources, span: Span) -> Lines {
    let text = sources.get(span.file);
    (span.file, text.position(span.start).line..=text.position(span.end).line)
}

/// The lines that contain a secret according to some finding.
fn secret_lines(sources: &Sources, findings: &[Finding]) -> Vec<Lines> {
    findings.iter().filter(|one| one.secret).map(|one| lines(sources, one.primary.span)).collect()
}

/// Whether the excerpt of a finding would show a line with a secret.
fn shows_secret(sources: &Sources, secrets: &[Lines], finding: &Finding) -> bool {
    let shown = || iter::once(&finding.primary).chain(&finding.related).map(|label| lines(sources, label.span));
    !secrets.is_empty()
        && shown().any(|(of, lines)| {
            let meets =
                |(file, secret): &Lines| of == *file && lines.start() <= secret.end() && secret.start() <= lines.end();
            secrets.iter().any(meets)
        })
}

/// Writes one finding; `hidden`: without the lines that it is about.
pub(crate) fn one(
    out: &mut dyn Write,
    terminal: Terminal,
    verbose: bool,
    sources: &Sources,
    finding: &Finding,
    hidden: bool,
) -> io::Result<()> {
    let notes = notes(terminal, verbose, finding);
    let span = finding.primary.span;
    let code = finding.rule.code;
    if hidden || finding.secret || line_length(sources, span) > MAX_LINE {
        let role = match finding.severity {
            Severity::Error => Role::Bad,
            Severity::Warning => Role::Odd,
            Severity::Info => Role::Dim,
        };
        let head = terminal.paint(role, format!("{}[{code}]", finding.severity.as_str()));
        let label = &finding.primary.message;
        let label = if label.is_empty() { String::new() } else { format!(": {label}") };
        writeln!(out, "{head}: {}: {}{label}", sources.place(span), finding.message)?;
        for note in notes {
            writeln!(out, "  = {}", note.replace('\n', "\n    "))?;
        }
        return Ok(());
    }
    let severity = match finding.severity {
        Severity::Error => diagnostic::Severity::Error,
        Severity::Warning => diagnostic::Severity::Warning,
        Severity::Info => diagnostic::Severity::Note,
    };
    let mut labels = vec![Label::primary(span.file, one_line(sources, span)).with_message(&finding.primary.message)];
    for label in &finding.related {
        if line_length(sources, label.span) <= MAX_LINE {
            let range = one_line(sources, label.span);
            labels.push(Label::secondary(label.span.file, range).with_message(&label.message));
        }
    }
    let diagnostic =
        Diagnostic::new(severity).with_code(code).with_message(&finding.message).with_labels(labels).with_notes(notes);
    emit(out, terminal, sources, &diagnostic)
}

fn notes(terminal: Terminal, verbose: bool, finding: &Finding) -> Vec<String> {
    let mut notes: Vec<String> = finding.notes.iter().map(|note| folded(terminal, &format!("note: {note}"))).collect();
    if !finding.workloads.is_empty() {
        let shown = if verbose { finding.workloads.len() } else { MAX_WORKLOADS };
        let mut names: Vec<String> = finding.workloads.iter().take(shown).cloned().collect();
        let more = finding.workloads.len() - names.len();
        if more > 0 {
            names.push(format!("and {more} more"));
        }
        notes.push(folded(terminal, &format!("on: {}", names.join(", "))));
    }
    if finding.confidence == Confidence::Likely && !finding.judged_on {
        notes.push("note: likely, judged on a reference configuration".to_owned());
    }
    if let Some(help) = &finding.help {
        notes.push(folded(terminal, &format!("help: {}", shortened(finding, help, verbose))));
    }
    if let Some(fix) = &finding.fix {
        let option = if fix.safe { "--fix" } else { "--unsafe-fixes" };
        notes.push(folded(terminal, &format!("fix: {} ({option})", fix.description())));
    }
    notes
}

/// The object of another API can be long: shows its first lines, and where to find the rest.
fn shortened(finding: &Finding, help: &str, verbose: bool) -> String {
    let lines: Vec<&str> = help.lines().collect();
    if verbose || finding.rule.family != Family::Native || lines.len() <= MAX_SUGGESTION + 1 {
        return help.to_owned();
    }
    let more = lines.len() - MAX_SUGGESTION;
    format!("{}\n… {more} more lines: -v shows them", lines[..MAX_SUGGESTION].join("\n"))
}

/// Wraps long lines of a note; lines that start with a space are YAML and stay.
fn folded(terminal: Terminal, text: &str) -> String {
    // codespan writes the note behind the gutter: about six columns.
    let width = terminal.width.saturating_sub(8).max(20);
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let yaml = index > 0 && (line.starts_with([' ', '-']) || line.ends_with(':'));
        if yaml || columns(line) <= width {
            lines.push(line.to_owned());
        } else {
            lines.extend(wrap(line, width));
        }
    }
    lines.join("\n")
}

fn summary(out: &mut dyn Write, terminal: Terminal, report: &Report<'_>, hidden: usize) -> io::Result<()> {
    let sum = report.summary;
    let filters = count(sum.filters, "EnvoyFilter", "EnvoyFilters");
    let place = match scope::where_it_holds(report.scope) {
        of_files if of_files.is_empty() => format!(" in {}", count(sum.files, "file", "files")),
        of_mesh => of_mesh,
    };
    let patches = count(sum.patches, "patch", "patches");
    let looked = format!("{filters} with {patches}{place}, for Istio {}", report.releases.join(", "));
    if sum.findings() == 0 && sum.filters == 0 {
        let of_files = scope::where_it_holds(report.scope).is_empty();
        let unread = if of_files { sum.files == 0 } else { report.scope.is_empty() };
        let judged = if unread { "nothing could be judged" } else { "nothing judged" };
        let none = match (of_files, sum.unread) {
            (true, 0) => format!("no EnvoyFilter{place}"),
            (true, _) => format!("no EnvoyFilter was read{place}"),
            (false, _) => scope::no_filter(report.scope),
        };
        writeln!(out, "{}: {none}", terminal.paint(Role::Odd, judged))?;
    } else if sum.findings() == 0 {
        let none = match sum.least {
            Some(Severity::Error) => "no errors",
            Some(Severity::Warning) => "no errors or warnings",
            Some(Severity::Info) | None => "no findings",
        };
        writeln!(out, "{}: {looked}", terminal.paint(Role::Good, none))?;
    } else {
        let mut parts = Vec::new();
        for (number, role, one, many) in [
            (sum.errors, Role::Bad, "error", "errors"),
            (sum.warnings, Role::Odd, "warning", "warnings"),
            (sum.infos, Role::Dim, "info", "infos"),
        ] {
            if number > 0 {
                parts.push(terminal.paint(role, count(number, one, many)).into_owned());
            }
        }
        writeln!(out, "{}: {looked}", parts.join(", "))?;
    }
    let mut lines = sum.unknown.clone();
    if hidden > 0 {
        let them = if hidden == 1 { "it" } else { "them" };
        lines.push(format!("{} not shown: --pedantic shows {them}", count(hidden, "info is", "infos are")));
    }
    if sum.patched() > 0 {
        let dumps = count(sum.dumps, "config dump", "config dumps");
        lines.push(format!(
            "{} of {dumps} taken with filters in effect, judged without them; proven for {}",
            sum.patched(),
            sum.proven
        ));
    }
    if sum.fixable > 0 && sum.read_only {
        lines.push(format!("--diff shows fixes for {}", count(sum.fixable, "finding", "findings")));
    } else if sum.fixable > 0 {
        lines.push(format!("{} can be fixed with --fix", count(sum.fixable, "finding", "findings")));
    }
    if sum.suppressed > 0 {
        lines.push(format!("{} suppressed", count(sum.suppressed, "finding is", "findings are")));
    }
    if sum.known > 0 {
        lines.push(format!("{} in the baseline", count(sum.known, "finding is", "findings are")));
    }
    if sum.gone > 0 {
        let gone = count(sum.gone, "entry of the baseline was", "entries of the baseline were");
        lines.push(format!("{gone} no longer found; --update-baseline drops what is gone"));
    }
    if sum.unread > 0 {
        lines.push(format!("{} could not be read: the result is incomplete", count(sum.unread, "thing", "things")));
    }
    // The first of the most severe.
    let severe = report.findings.iter().filter(|one| one.severity > Severity::Info);
    if let Some(worst) = severe.rev().max_by_key(|one| one.severity) {
        lines.push(format!(
            "next: `kubectl envoyfilter rules {}` explains a rule and how to suppress it",
            worst.rule.code
        ));
    }
    for line in lines {
        for (index, part) in wrap(&line, terminal.width.saturating_sub(2)).iter().enumerate() {
            writeln!(out, "{}{}", if index == 0 { "- " } else { "  " }, terminal.paint(Role::Dim, part))?;
        }
    }
    Ok(())
}

/// Writes counts by rule.
pub(crate) fn stat(out: &mut dyn Write, terminal: Terminal, report: &Report<'_>) -> io::Result<()> {
    for (rule, number, certain) in by_rule(report.findings) {
        let role = match rule.severity {
            Severity::Error => Role::Bad,
            Severity::Warning => Role::Odd,
            Severity::Info => Role::Dim,
        };
        let likely = if certain < number { format!(" ({} likely)", number - certain) } else { String::new() };
        writeln!(out, "{number:>6}  {}  {}{likely}", terminal.paint(role, rule.code), rule.name)?;
    }
    summary(out, terminal, report, 0)
}

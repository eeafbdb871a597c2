//! Findings for people: grouped by file, each with its source, then a summary.

use super::Report;
use crate::lint::config::word;
use crate::lint::summary::by_rule;
use crate::lint::{Confidence, Finding};
use crate::report::problem::{MAX_LINE, emit, line_length, one_line};
use crate::report::style::{Role, Terminal, count, wrap};
use crate::source::{Severity, Sources, Span};
use codespan_reporting::diagnostic::{self, Diagnostic, Label};
use std::io::{self, Write};
use std::iter;

/// Most workloads that are named in a note.
const MAX_WORKLOADS: usize = 6;

/// How a note begins that says what stood in for a config dump.
const BY_DEFAULT: &str = "judged against what istiod generates by default";

/// Writes findings and the summary.
pub fn text(out: &mut dyn Write, terminal: Terminal, verbose: bool, report: &Report<'_>) -> io::Result<()> {
    let mut file = None;
    for finding in report.findings {
        let name = report.file(finding.primary.span);
        if file != Some(name) {
            let of_file = report.findings.iter().filter(|one| report.file(one.primary.span) == name).count();
            writeln!(
                out,
                "{} {}\n",
                terminal.paint(Role::Strong, name),
                terminal.paint(Role::Dim, format!("({})", count(of_file, "finding", "findings")))
            )?;
            file = Some(name);
        }
        let hidden = shows_secret(report.sources, report.findings, finding);
        one(out, terminal, verbose, report.sources, finding, hidden)?;
        writeln!(out)?;
    }
    summary(out, terminal, report)
}

/// Whether the excerpt of a finding would show a line of which some finding says that it holds a secret.
fn shows_secret(sources: &Sources, findings: &[Finding], finding: &Finding) -> bool {
    let lines = |span: Span| {
        let text = sources.get(span.file);
        (span.file, text.position(span.start).line..=text.position(span.end).line)
    };
    let mut secrets = findings.iter().filter(|one| one.secret).map(|one| lines(one.primary.span)).peekable();
    if secrets.peek().is_none() {
        return false;
    }
    let shown: Vec<_> = iter::once(&finding.primary).chain(&finding.related).map(|label| lines(label.span)).collect();
    secrets.any(|(file, secret)| {
        shown.iter().any(|(of, lines)| *of == file && lines.start() <= secret.end() && secret.start() <= lines.end())
    })
}

/// Writes one finding; `hidden`: without the lines that it is about.
pub fn one(
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
        let head = terminal.paint(role, format!("{}[{code}]", word(finding.severity)));
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
    // What makes it only likely is often said in the finding's own words already.
    let likely = finding.confidence == Confidence::Likely;
    let said = finding.notes.iter().position(|note| note.starts_with(BY_DEFAULT)).filter(|_| likely);
    let word = |index| if said == Some(index) { "note: likely: " } else { "note: " };
    let own = finding.notes.iter().enumerate();
    let mut notes: Vec<String> = own.map(|(index, note)| folded(terminal, &format!("{}{note}", word(index)))).collect();
    if !finding.workloads.is_empty() {
        let shown = if verbose { finding.workloads.len() } else { MAX_WORKLOADS };
        let mut names: Vec<String> = finding.workloads.iter().take(shown).cloned().collect();
        let more = finding.workloads.len() - names.len();
        if more > 0 {
            names.push(format!("and {more} more"));
        }
        notes.push(folded(terminal, &format!("on: {}", names.join(", "))));
    }
    if likely && said.is_none() {
        notes.push(format!("note: likely: {BY_DEFAULT}"));
    }
    if let Some(help) = &finding.help {
        notes.push(folded(terminal, &format!("help: {help}")));
    }
    if let Some(fix) = &finding.fix {
        let option = if fix.safe { "--fix" } else { "--unsafe-fixes" };
        notes.push(folded(terminal, &format!("fix: {} ({option})", fix.title)));
    }
    notes
}

/// Folds the lines of a note that are too long; lines that begin with a space are YAML and stay.
fn folded(terminal: Terminal, text: &str) -> String {
    // codespan writes the note behind the gutter: some six columns.
    let width = terminal.width.saturating_sub(8).max(20);
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let yaml = index > 0 && (line.starts_with([' ', '-']) || line.ends_with(':'));
        if yaml || line.chars().count() <= width {
            lines.push(line.to_owned());
        } else {
            lines.extend(wrap(line, width));
        }
    }
    lines.join("\n")
}

fn summary(out: &mut dyn Write, terminal: Terminal, report: &Report<'_>) -> io::Result<()> {
    let sum = report.summary;
    let filters = count(sum.filters, "EnvoyFilter", "EnvoyFilters");
    let looked = format!(
        "{filters} with {} in {}, for Istio {}",
        count(sum.patches, "patch", "patches"),
        count(sum.files, "file", "files"),
        report.releases.join(", ")
    );
    if sum.findings() == 0 {
        writeln!(out, "{}: {looked}", terminal.paint(Role::Good, "no findings"))?;
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
        lines.push(format!("{gone} found no more; --update-baseline drops what is gone"));
    }
    if sum.unread > 0 {
        lines.push(format!("{} could not be read: the answer is not complete", count(sum.unread, "thing", "things")));
    }
    for line in lines {
        for (index, part) in wrap(&line, terminal.width.saturating_sub(2)).iter().enumerate() {
            writeln!(out, "{}{}", if index == 0 { "- " } else { "  " }, terminal.paint(Role::Dim, part))?;
        }
    }
    Ok(())
}

/// Writes counts by rule.
pub fn stat(out: &mut dyn Write, terminal: Terminal, report: &Report<'_>) -> io::Result<()> {
    for (rule, number, certain) in by_rule(report.findings) {
        let role = match rule.severity {
            Severity::Error => Role::Bad,
            Severity::Warning => Role::Odd,
            Severity::Info => Role::Dim,
        };
        let likely = if certain < number { format!(" ({} likely)", number - certain) } else { String::new() };
        writeln!(out, "{number:>6}  {}  {}{likely}", terminal.paint(role, rule.code), rule.name)?;
    }
    summary(out, terminal, report)
}

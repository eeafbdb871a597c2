//! Problems with inputs, each with the line it is about.

use super::style::{Role, Terminal};
use crate::source::{Code, FileId, Problem, Severity, Sources, Span, escape};
use codespan_reporting::diagnostic::{self, Diagnostic, Label};
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term::termcolor::{Ansi, WriteColor};
use codespan_reporting::term::{self, Config, DisplayStyle, Styles, StylesWriter};
use std::io::{self, Write};
use std::ops::Range;

/// Longest source line that is shown; minified JSON is one line of megabytes.
pub(super) const MAX_LINE: usize = 400;

/// The texts of a run in the renderer's form.
pub(super) struct Texts<'s>(&'s Sources);

impl<'a> Files<'a> for Texts<'_>
where
    Self: 'a,
{
    type FileId = FileId;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: FileId) -> Result<&'a str, Error> {
        Ok(&self.0.get(id).name)
    }

    fn source(&'a self, id: FileId) -> Result<&'a str, Error> {
        Ok(&self.0.get(id).text)
    }

    fn line_index(&'a self, id: FileId, byte: usize) -> Result<usize, Error> {
        Ok(self.0.get(id).position(offset(byte)).line - 1)
    }

    fn line_range(&'a self, id: FileId, line: usize) -> Result<Range<usize>, Error> {
        let text = self.0.get(id);
        let start = text.line_start(line + 1).ok_or(Error::LineTooLarge { given: line, max: text.lines() })? as usize;
        let end = text.line_start(line + 2).map_or(text.text.len(), |end| end as usize);
        Ok(start..end)
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Writes one problem; without a place as one or two lines, with a place with its line and a caret.
pub(crate) fn problem(out: &mut dyn Write, terminal: Terminal, sources: &Sources, problem: &Problem) -> io::Result<()> {
    let message = escape::one_line(&problem.message);
    let word = match problem.severity {
        Severity::Error => terminal.paint(Role::Bad, "error"),
        Severity::Warning => terminal.paint(Role::Odd, "warning"),
        Severity::Info => terminal.paint(Role::Dim, "note"),
    };
    let Some(span) = problem.span.filter(|span| line_length(sources, *span) <= MAX_LINE) else {
        let place = problem.span.map(|span| format!("{}: ", sources.place(span))).unwrap_or_default();
        writeln!(out, "{word}: {place}{message}")?;
        if let Some(help) = &problem.help {
            writeln!(out, "  help: {}", escape::one_line(help))?;
        }
        return Ok(());
    };
    let severity = match problem.severity {
        Severity::Error => diagnostic::Severity::Error,
        Severity::Warning => diagnostic::Severity::Warning,
        Severity::Info => diagnostic::Severity::Note,
    };
    let notes = problem.help.iter().map(|help| format!("help: {}", escape::one_line(help))).collect();
    let diagnostic = Diagnostic::new(severity)
        .with_message(&*message)
        .with_label(Label::primary(span.file, one_line(sources, span)))
        .with_notes(notes);
    emit(out, terminal, sources, &diagnostic)
}

/// Writes the line of a place with a caret and a label under it.
pub(crate) fn excerpt(
    out: &mut dyn Write,
    terminal: Terminal,
    sources: &Sources,
    span: Span,
    message: &str,
    severity: Severity,
) -> io::Result<()> {
    problem(
        out,
        terminal,
        sources,
        &Problem { code: Code::CustomRule, severity, span: Some(span), message: message.to_owned(), help: None },
    )
}

/// The part of a span on its first line: a caret under thirty lines does not help.
pub(super) fn one_line(sources: &Sources, span: Span) -> Range<usize> {
    let (start, end) = (span.start as usize, span.end as usize);
    let text = sources.snippet(span);
    let end = text.find('\n').map_or(end, |newline| start + newline);
    let trimmed = text.get(..end - start).unwrap_or_default().trim_end().len();
    start..start + trimmed.max(usize::from(end > start))
}

pub(super) fn line_length(sources: &Sources, span: Span) -> usize {
    let text = sources.get(span.file);
    let line = text.position(span.start).line;
    let start = text.line_start(line).unwrap_or_default() as usize;
    text.line_start(line + 1).map_or(text.text.len(), |end| end as usize).saturating_sub(start)
}

pub(super) fn emit(
    out: &mut dyn Write,
    terminal: Terminal,
    sources: &Sources,
    diagnostic: &Diagnostic<FileId>,
) -> io::Result<()> {
    let config = Config { display_style: DisplayStyle::Rich, tab_width: 2, ..Config::default() };
    let texts = Texts(sources);
    let text = if terminal.colour {
        let styles = Styles::default();
        let mut buffer = Ansi::new(Vec::new());
        let _ = term::emit_to_write_style(&mut StylesWriter::new(&mut buffer, &styles), &config, &texts, diagnostic);
        let _ = buffer.reset();
        String::from_utf8_lossy(&buffer.into_inner()).into_owned()
    } else {
        term::emit_into_string(&config, &texts, diagnostic).unwrap_or_default()
    };
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

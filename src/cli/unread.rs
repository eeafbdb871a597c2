//! What `lint` could not read of documents that no finding is about.

use super::Session;
use crate::lint::document;
use crate::lint::summary::Summary;
use crate::load::Loaded;
use crate::report;
use crate::source::Span;
use std::io;
use std::path::PathBuf;

/// Says which documents could not be read, where no finding says it. Those of a file that was named count; in a folder there
/// may be templates and other people's files, of which only the number is told.
pub(super) fn tell(
    session: &mut Session<'_>,
    files: &[PathBuf],
    loaded: &Loaded,
    summary: &mut Summary,
    trouble: &mut Vec<String>,
) -> io::Result<()> {
    let sources = &loaded.sources;
    let named = |span: Span| {
        let name = sources.get(span.file).name.as_str();
        name == "<stdin>" || files.iter().any(|file| file.display().to_string() == name)
    };
    let mut aside = Vec::new();
    for problem in &loaded.problems {
        let Some(span) = problem.span else { continue };
        let unread = document::unread_aside(sources, problem);
        if unread && !named(span) {
            aside.push(sources.place(span));
        } else if unread {
            trouble.push(format!("{}: {}", sources.place(span), problem.message));
        }
        // The loader says the latter of named files only.
        if (unread && (named(span) || session.global.verbose)) || problem.code == "not-kubernetes" {
            report::problem::problem(session.err, session.around.err, sources, problem)?;
        }
    }
    if let Some(first) = aside.first() {
        let documents = report::style::count(aside.len(), "document", "documents");
        let more = if session.global.verbose { "" } else { "; -v shows why" };
        summary.unknown.push(format!("{documents} without an EnvoyFilter could not be read, first {first}{more}"));
    }
    Ok(())
}

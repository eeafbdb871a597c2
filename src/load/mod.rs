//! The only place that reads: files, folders, standard input.

pub mod capture;
pub mod config;
pub mod dump;
pub mod dumps;
mod files;
pub mod reference;
mod resources;
mod scalar;
pub mod yaml;
pub mod yaml_text;

use crate::model::inventory::Inventory;
use crate::source::{Node, Problem, Severity, Sources, Span};
use std::path::PathBuf;
use std::sync::Arc;

/// How to read.
#[derive(Clone, Debug)]
pub struct Options {
    /// Namespace of objects that name none.
    pub namespace: String,
    /// The most that is read from one file, in bytes after unpacking; at most 4 GiB, the range of a [`Span`].
    pub max_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { namespace: "default".to_owned(), max_bytes: files::MAX_BYTES }
    }
}

/// What was read.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The texts.
    pub sources: Sources,
    /// The objects in them.
    pub inventory: Inventory,
    /// What could not be read, or only in part.
    pub problems: Vec<Problem>,
}

/// Reads files, folders (recursively: `.yaml`, `.yml`, `.json`, also with `.gz`) and `-`, the standard input.
/// The result does not depend on the order of the arguments.
pub fn read(arguments: &[PathBuf], options: &Options) -> Loaded {
    let mut loaded = Loaded::default();
    for input in files::list(arguments, &mut loaded.problems) {
        match input.read(options.max_bytes) {
            Ok(files::Text { text, replaced }) => loaded.add(&input.name, text, &replaced, input.named, options),
            Err(problem) => loaded.problems.push(problem),
        }
    }
    loaded
}

/// Reads a text that is already there; `name` stands in messages for the file.
pub fn read_text(name: &str, text: impl Into<String>, options: &Options) -> Loaded {
    let mut loaded = Loaded::default();
    loaded.add(name, text.into(), &[], true, options);
    loaded
}

impl Loaded {
    /// Nothing yet, above texts that are known already.
    pub fn above(base: Arc<Sources>) -> Loaded {
        Loaded { sources: Sources::above(base), ..Loaded::default() }
    }

    /// Adds the objects of one more text that is already there; `name` stands in messages for the file.
    pub fn add_text(&mut self, name: &str, text: impl Into<String>, options: &Options) {
        self.add(name, text.into(), &[], false, options);
    }

    fn add(&mut self, name: &str, mut text: String, replaced: &[usize], named: bool, options: &Options) {
        let file = self.sources.next();
        let (documents, mut problems) = yaml::documents(file, &text);
        if documents.is_empty() && problems.is_empty() && named {
            problems.push(files::problem("empty-input", Severity::Warning, format!("{name} holds no document")));
        }
        let mut kept = Vec::new();
        for document in documents {
            if let Some(span) = replaced.iter().find_map(|&at| within(&document, at)) {
                let message = "this is not UTF-8: the document is not read".to_owned();
                let help = Some("save the file as UTF-8".to_owned());
                problems.push(Problem { code: "not-utf8", severity: Severity::Error, span: Some(span), message, help });
                continue;
            }
            kept.extend(resources::unpack(document));
        }
        kept.retain(|document| {
            let secret = resources::is_secret(document);
            if secret {
                blank(&mut text, document.span);
                problems.retain(|problem| problem.span.is_none_or(|span| !inside(document.span, span)));
            }
            !secret
        });
        self.sources.add(name, text);
        self.problems.append(&mut problems);
        for document in kept {
            if let Some(problem) = resources::misspelt_kind(&document) {
                self.problems.push(problem);
            } else if document.get("kind").and_then(Node::as_str).is_some() {
                resources::add(
                    document,
                    &options.namespace,
                    &mut self.sources,
                    &mut self.inventory,
                    &mut self.problems,
                );
            } else if let Some(problem) = resources::filter_without_kind(&document) {
                self.problems.push(problem);
            } else if named {
                self.problems.push(Problem {
                    code: "not-kubernetes",
                    severity: Severity::Warning,
                    span: Some(Span { end: document.span.start, ..document.span }),
                    message: "this is no Kubernetes object: it has no `kind`".to_owned(),
                    help: None,
                });
            }
        }
    }
}

fn within(document: &Node, at: usize) -> Option<Span> {
    let at = u32::try_from(at).ok()?;
    let Span { file, start, end } = document.span;
    (start <= at && at < end).then_some(Span { file, start: at, end: at + 3 })
}

fn inside(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Overwrites a Secret in the text with spaces, so that no excerpt can show it; lines stay where they are.
fn blank(text: &mut String, span: Span) {
    let (start, end) = (span.start as usize, span.end as usize);
    if let Some(part) = text.get(start..end) {
        let spaces: String = part.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
        text.replace_range(start..end, &spaces);
    }
}

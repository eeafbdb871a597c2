//! The only module that reads input: files, folders, standard input.

#![allow(clippy::disallowed_methods, reason = "the loader reads files")]

pub mod capture;
pub mod config;
pub mod dump;
pub(crate) mod dumps;
mod embedded;
mod files;
mod foreign;
pub(crate) mod kept;
mod kustomize;
pub mod limits;
pub(crate) mod migration;
mod nested;
pub mod reference;
mod resources;
mod scalar;
pub mod yaml;
pub(crate) mod yaml_edit;
pub mod yaml_text;

use crate::model::inventory::Inventory;
use crate::model::redact::{Keeper, Secrets};
use crate::source::{Code, FileId, Node, Problem, Severity, Sources, Span};
use limits::Limits;
use std::path::PathBuf;
use std::sync::Arc;

/// How to read.
#[derive(Clone, Debug)]
pub struct Options {
    /// Namespace of objects that do not name one.
    pub namespace: String,
    /// Bounds for each file.
    pub limits: Limits,
    /// Collects the secrets of the input.
    pub secrets: Keeper,
    /// Whether every object is kept as JSON too ([`Loaded::documents`]), for an istiod that reads more than this tool does.
    pub keep_documents: bool,
    /// Whether another file names the files, not the user: then nothing of a file without Kubernetes objects is shown. It may
    /// be any file of this machine.
    pub named_by_file: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            namespace: "default".to_owned(),
            limits: Limits::default(),
            secrets: Keeper::default(),
            keep_documents: false,
            named_by_file: false,
        }
    }
}

/// What was read.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The texts.
    pub sources: Sources,
    /// The objects in them.
    pub inventory: Inventory,
    /// Every object that was read, if [`Options::keep_documents`] is set; for a Secret only name, type and keys.
    pub documents: Vec<serde_json::Value>,
    /// What could not be read completely.
    pub problems: Vec<Problem>,
}

/// A named file, or all files in and below a folder whose names have this ending, sorted.
pub fn files_named(path: &std::path::Path, end: &str) -> std::io::Result<Vec<PathBuf>> {
    if !std::fs::metadata(path)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let (mut found, mut folders) = (Vec::new(), vec![path.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)?.flatten() {
            // Links to folders are not followed: they may form a cycle.
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(_) if entry.file_name().to_string_lossy().ends_with(end) => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The modification time of a file, or of each file in a folder.
pub(crate) fn stamps(path: &std::path::Path) -> Vec<(PathBuf, Option<std::time::SystemTime>)> {
    let changed = |path: &std::path::Path| std::fs::metadata(path).and_then(|it| it.modified()).ok();
    let Ok(files) = files_named(path, "") else { return vec![(path.to_owned(), None)] };
    files
        .into_iter()
        .map(|file| {
            let at = changed(&file);
            (file, at)
        })
        .collect()
}

/// The canonical path of a file, for comparing paths; the path itself when there is none.
pub(crate) fn real_path(path: &std::path::Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The bytes of a file that is not a document, such as a request body. Fails when it cannot be read or is larger than the
/// limit.
pub(crate) fn bytes(path: &std::path::Path, limit: u64) -> std::io::Result<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(std::io::Error::other(format!("it is larger than {} MB", limit >> 20)));
    }
    Ok(bytes)
}

/// Reads files, folders (recursively: `.yaml`, `.yml`, `.json`, also with `.gz`) and `-`, standard input. The result does not
/// depend on the order of the arguments.
pub fn read(arguments: &[PathBuf], options: &Options) -> Loaded {
    read_into(Loaded::default(), arguments, options)
}

/// The same, with places distinct from those of texts that were read before.
pub(crate) fn read_above(base: Sources, arguments: &[PathBuf], options: &Options) -> Loaded {
    read_into(Loaded::above(Arc::new(base)), arguments, options)
}

fn read_into(mut loaded: Loaded, arguments: &[PathBuf], options: &Options) -> Loaded {
    for input in files::list(arguments, &mut loaded.problems) {
        match input.read(options.limits) {
            Ok(files::Text { text, replaced }) => loaded.add(&input.name, text, &replaced, input.named, options),
            Err(problem) => loaded.problems.push(problem),
        }
    }
    let kustomizations = kustomize::all(&loaded.sources, options.limits);
    let (problems, patches) = kustomize::patch_files(&loaded.sources, &loaded.inventory.envoy_filters, &kustomizations);
    if !patches.is_empty() {
        loaded.problems.retain(|problem| problem.span.is_none_or(|span| !patches.contains(&span.file)));
        loaded.inventory.envoy_filters.retain(|filter| !patches.contains(&filter.document.span.file));
    }
    loaded.problems.extend(problems);
    loaded.problems.extend(kustomize::fields(&loaded.sources, &loaded.inventory.envoy_filters, &kustomizations));
    options.secrets.with(|secrets| loaded.secrets(secrets));
    loaded
}

/// Reads a text from memory; messages use `name` in place of a file name.
pub fn read_text(name: &str, text: impl Into<String>, options: &Options) -> Loaded {
    let mut loaded = Loaded::default();
    loaded.add(name, text.into(), &[], true, options);
    loaded
}

impl Loaded {
    /// An empty result above existing texts.
    pub(crate) fn above(base: Arc<Sources>) -> Loaded {
        Loaded { sources: Sources::above(base), ..Loaded::default() }
    }

    /// The same, where the first text replaces an existing one.
    pub(crate) fn over(base: Arc<Sources>, first: FileId) -> Loaded {
        Loaded { sources: Sources::over(base, first), ..Loaded::default() }
    }

    /// Adds the objects of another text from memory; messages use `name` in place of a file name.
    pub fn add_text(&mut self, name: &str, text: impl Into<String>, options: &Options) {
        self.add(name, text.into(), &[], false, options);
    }

    /// Adds the secrets in EnvoyFilters, policies and mesh settings to those that reports must not repeat.
    pub(crate) fn secrets(&self, into: &mut Secrets) {
        for filter in &self.inventory.envoy_filters {
            into.join(filter.secrets().clone());
        }
        let meshes = self.inventory.meshes.iter().map(|mesh| &mesh.settings);
        let policies = self.inventory.policies.iter().map(|policy| &policy.document);
        meshes.chain(policies).for_each(|document| into.add_document(document));
        if !into.is_empty() {
            // A name that is also a secret stays visible: without names a report is unreadable.
            for filter in &self.inventory.envoy_filters {
                into.forget([filter.name.as_str(), filter.namespace.as_str()]);
            }
            into.forget(
                self.inventory
                    .workloads
                    .iter()
                    .flat_map(|one| [one.object.name.as_str(), one.object.namespace.as_str()]),
            );
            into.forget(
                self.inventory
                    .services
                    .iter()
                    .flat_map(|one| [one.object.name.as_str(), one.object.namespace.as_str()]),
            );
        }
    }

    fn add_object(&mut self, document: Node, options: &Options) {
        resources::add(document, &options.namespace, &mut self.sources, &mut self.inventory, &mut self.problems);
    }

    fn add(&mut self, name: &str, mut text: String, replaced: &[usize], named: bool, options: &Options) {
        let file = self.sources.next();
        let values = options.limits.values(text.len());
        let embedded = embedded::find(name, &text, file);
        let yaml = embedded.as_ref().map_or(text.as_str(), |found| &found.text);
        let (documents, mut problems) = yaml::documents_within(file, yaml, values);
        let is_object = |document: &Node| {
            ["apiVersion", "kind"].iter().all(|key| document.get(key).and_then(Node::as_str).is_some())
        };
        if options.named_by_file && !documents.iter().any(is_object) {
            self.sources.add(name, String::new());
            let message =
                format!("{name} contains no Kubernetes object; nothing of it is shown, because a file names it");
            self.problems.push(files::problem(Code::NotKubernetes, Severity::Warning, message));
            return;
        }
        let named = named && embedded.is_none();
        problems.extend(embedded.into_iter().flat_map(|found| found.problems));
        if documents.is_empty() && problems.is_empty() && named {
            problems.push(if mentions_filter(&text) {
                let message = format!("{name} contains an EnvoyFilter only in comments: nothing was checked");
                files::problem(Code::NotRendered, Severity::Error, message)
            } else {
                files::problem(Code::EmptyInput, Severity::Warning, format!("{name} contains no document"))
            });
        }
        let mut kept = Vec::new();
        for document in documents {
            if let Some(span) = replaced.iter().find_map(|&at| within(&document, at)) {
                let message = "this is not UTF-8: the document is not read".to_owned();
                let help = Some("save the file as UTF-8".to_owned());
                problems.push(Problem {
                    code: Code::NotUtf8,
                    severity: Severity::Error,
                    span: Some(span),
                    message,
                    help,
                });
                continue;
            }
            kept.extend(resources::unpack(document));
        }
        if options.keep_documents {
            self.documents.extend(kept.iter().filter(|it| it.get("kind").is_some()).map(resources::without_secrets));
        }
        kept.retain(|document| {
            let secret = resources::is_secret(document);
            if secret {
                problems.retain(|problem| problem.span.is_none_or(|span| !inside(document.span, span)));
                let (start, end) = (document.span.start as usize, document.span.end as usize);
                if text.get(start..end).is_some_and(|part| part.contains("kind: EnvoyFilter")) {
                    problems.push(nested::in_secret(document.span));
                }
                blank(&mut text, document.span);
            }
            !secret
        });
        self.sources.add(name, text);
        let placed = |problem: Problem| match problem.code {
            Code::NotRendered => embedded::placed(problem, &self.sources),
            _ => problem,
        };
        let mut problems: Vec<Problem> = problems.into_iter().map(placed).collect();
        self.problems.append(&mut problems);
        for document in kept {
            let patch = kustomize::kustomization(&document, &self.sources);
            let is_patched = patch.is_some();
            self.problems.extend(patch.map(|problem| embedded::placed(problem, &self.sources)));
            let (inside, unread) = if is_patched { Default::default() } else { nested::find(&document, &self.sources) };
            let holds = !inside.is_empty() || !unread.is_empty();
            self.problems.extend(unread);
            for filter in inside {
                self.add_object(filter, options);
            }
            if let Some(problem) = resources::misspelt_kind(&document) {
                self.problems.push(problem);
            } else if document.get("kind").and_then(Node::as_str).is_some() {
                self.add_object(document, options);
            } else if let Some(problem) = resources::filter_without_kind(&document) {
                self.problems.push(problem);
            } else if named && !holds && mentions_filter(self.sources.snippet(document.span)) {
                self.problems.push(nested::mentioned(&document, &self.sources));
            } else if named && !holds {
                self.problems.push(Problem {
                    code: Code::NotKubernetes,
                    severity: Severity::Warning,
                    span: Some(Span { end: document.span.start, ..document.span }),
                    message: "this is not a Kubernetes object: it has no `kind`".to_owned(),
                    help: None,
                });
            }
        }
    }
}

/// Whether a text mentions EnvoyFilters, also as a key such as `envoyFilters`.
fn mentions_filter(text: &str) -> bool {
    ["EnvoyFilter", "envoyFilter", "envoyfilter", "configPatches"].iter().any(|word| text.contains(word))
}

fn within(document: &Node, at: usize) -> Option<Span> {
    let at = u32::try_from(at).ok()?;
    let Span { file, start, end } = document.span;
    (start <= at && at < end).then_some(Span { file, start: at, end: at + 3 })
}

fn inside(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Overwrites a Secret in the text with spaces, so that no excerpt can show it. Lines keep their places.
fn blank(text: &mut String, span: Span) {
    let (start, end) = (span.start as usize, span.end as usize);
    if let Some(part) = text.get(start..end) {
        let spaces: String = part.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
        text.replace_range(start..end, &spaces);
    }
}

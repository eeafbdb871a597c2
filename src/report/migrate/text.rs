//! A migration as YAML to apply and as diffs.

use super::json::patch;
use crate::load::yaml_text;
use crate::migrate::draft::{Edited, title};
use crate::migrate::roll_out::{When, rewritten};
use crate::migrate::{After, Report};
use crate::model::proxy_config::ANNOTATION;
use crate::report::style::{Role, Terminal};
use crate::report::unified;
use crate::words::count;
use serde_json::{Value as Json, json};
use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};

/// A document of the output.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// A name for a file, without an extension.
    pub file: String,
    /// Comment lines above it.
    pub comments: Vec<String>,
    /// The object; `None` when everything is in the comments.
    pub object: Option<Json>,
    /// Its text, if it keeps the comments of a file.
    pub written: Option<String>,
    /// Whether it has settings to merge by hand, of the mesh or of pods.
    pub settings: bool,
}

/// The file of the settings of the mesh.
const MESH: &str = "mesh-config";

/// The longest part of a file's name that comes from an object: file systems allow 255 bytes for all of it, and Kubernetes 253
/// for the name of an object.
const LONGEST: usize = 200;

fn file(object: &Json) -> String {
    let text = |path: &str| object.pointer(path).and_then(Json::as_str).unwrap_or_default();
    let name = format!("{}-{}-{}", text("/kind").to_lowercase(), text("/metadata/namespace"), text("/metadata/name"));
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '.' { c } else { '_' };
    name.chars().map(safe).take(LONGEST).collect()
}

fn write_yaml(value: &Json) -> io::Result<String> {
    yaml_text::write_report(value).map_err(io::Error::other)
}

fn commented(value: &Json) -> Vec<String> {
    let text = yaml_text::write_report(value).unwrap_or_else(|_| value.to_string());
    text.lines().map(|line| format!("  {line}")).collect()
}

/// The documents, in the order in which to apply them.
pub fn documents(report: &Report) -> Vec<Document> {
    let draft = &report.draft;
    let mut documents = smaller(report, &[When::Ahead]);
    documents.extend(deleted(report, When::Ahead, "Before the objects below are applied:"));
    if let Some((settings, from)) = &draft.mesh {
        let mut comments = vec![format!("Mesh settings for {}: merge into meshConfig.", list(from))];
        comments.extend(commented(settings));
        documents.push(Document::of_settings(MESH.to_owned(), comments));
    }
    for made in &draft.made {
        let comments = vec![format!("Replaces EnvoyFilter {}.", list(&made.from))];
        documents.push(Document::of(file(&made.object), comments, Some(made.object.clone())));
    }
    for edited in &draft.edited {
        let what = title(&edited.after);
        let mut comments =
            vec![format!("{what}, edited: replaces EnvoyFilter {}. As a JSON patch:", list(&edited.from))];
        let operations = patch(&edited.before, &edited.after);
        comments.extend(operations.iter().map(|operation| format!("  {operation}")));
        if edited.commented && edited.text.is_none() {
            comments.push("Comments of the file are not in this object: apply the JSON patch to keep them.".to_owned());
        }
        comments.extend(notes(report, edited));
        documents.push(Document {
            written: edited.text.clone(),
            ..Document::of(file(&edited.after), comments, Some(edited.after.clone()))
        });
    }
    let mut annotated: HashMap<&(String, String, String), String> = HashMap::new();
    for pods in &draft.pods {
        let mut comments = vec![
            format!("Pod annotation {ANNOTATION} for {} (from EnvoyFilter {}).", pods.title(), list(&pods.from)),
            "Merge it into the existing annotation, and restart the workload:".to_owned(),
        ];
        comments.extend(commented(&pods.over("")));
        for (workload @ (kind, namespace, name), annotation) in &pods.workloads {
            // Settings for other labels may be for the same pods.
            let before = annotated.get(workload).unwrap_or(annotation);
            let settings = pods.over(before);
            let text = yaml_text::write(&settings).unwrap_or_else(|_| settings.to_string());
            let annotation = json!({ "spec": { "template": { "metadata": { "annotations": { ANNOTATION: text } } } } });
            annotated.insert(workload, text);
            comments.push(format!(
                "kubectl -n {namespace} patch {} {name} --type merge -p '{annotation}'",
                kind.to_lowercase()
            ));
        }
        let place = if pods.namespace.is_empty() { "mesh" } else { &pods.namespace };
        let name = format!("pods-{place}-{}", pods.from.iter().next().map_or("", |from| from.as_str()));
        documents.push(Document::of_settings(name.replace('/', "-"), comments));
    }
    documents.extend(smaller(report, &[When::AtRestart, When::Last]));
    for one in rewritten(report) {
        let comments = vec![format!("EnvoyFilter {} rewritten to the newest types: {}.", one.filter, one.words())];
        documents.push(Document::of(file(&one.object), comments, Some(one.object.clone())));
    }
    let restart =
        "Right before the pods restart with the settings above, since the filter and the settings exclude each other:";
    documents.extend(deleted(report, When::AtRestart, restart));
    let last = if report.ambient {
        "Then, once no workload has a sidecar:"
    } else if documents.is_empty() {
        "Nothing needs to be applied first:"
    } else {
        "Then, once the objects above are in effect:"
    };
    documents.extend(deleted(report, When::Last, last));
    documents
}

/// The smaller filters that are applied at these times.
fn smaller(report: &Report, at: &[When]) -> Vec<Document> {
    let mut documents = Vec::new();
    for filter in report.filters.iter().filter(|filter| at.contains(&When::of(filter))) {
        let After::Smaller(smaller) = &filter.after else { continue };
        let mut comments = vec![format!("What remains of EnvoyFilter {}/{}.", filter.namespace, filter.name)];
        let mut object = Some(smaller.clone());
        match When::of(filter) {
            When::Ahead => comments.push("Apply it before the objects below.".to_owned()),
            When::AtRestart => {
                comments.push("Apply it right before the pods restart with the settings above.".to_owned());
            }
            When::Last => {}
        }
        // A sidecar that is still there needs the whole filter: its objects on a waypoint are for ambient mode only.
        if report.ambient {
            comments.push("Apply it once no workload has a sidecar:".to_owned());
            comments.extend(commented(smaller));
            object = None;
        }
        documents.push(Document::of(file(smaller), comments, object));
    }
    documents
}

/// The commands that delete the filters that are removed at a time.
fn deleted(report: &Report, at: When, heading: &str) -> Option<Document> {
    let gone = report.filters.iter().filter(|filter| filter.after == After::Delete && When::of(filter) == at);
    let gone: Vec<String> =
        gone.map(|filter| format!("kubectl -n {} delete envoyfilter {}", filter.namespace, filter.name)).collect();
    if gone.is_empty() {
        return None;
    }
    let mut comments = vec![heading.to_owned()];
    comments.extend(gone);
    comments.push(
        "Check the proxies before and after: kubectl envoyfilter capture, then kubectl envoyfilter migrate verify"
            .to_owned(),
    );
    let file = match at {
        When::Ahead => "delete-first",
        When::AtRestart => "delete-at-restart",
        When::Last => "delete",
    };
    Some(Document::of(file.to_owned(), comments, None))
}

/// What the patches behind an edit say about it, such as the definitions that it requires.
fn notes(report: &Report, edited: &Edited) -> BTreeSet<String> {
    let kind = edited.after["kind"].as_str().unwrap_or_default();
    let of = report.filters.iter().filter(|filter| edited.from.contains(&super::full_name(filter)));
    let patches = of.flat_map(|filter| &filter.patches);
    let here = patches.filter(|patch| patch.written && patch.found.homes.iter().any(|home| home.kind == kind));
    here.flat_map(|patch| &patch.found.notes).map(|note| format!("Note: {note}.")).collect()
}

/// A text that ends with one line break.
fn ended(text: &str) -> String {
    format!("{}\n", text.trim_end())
}

fn list(names: &BTreeSet<String>) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

impl Document {
    fn of(file: String, comments: Vec<String>, object: Option<Json>) -> Document {
        Document { file, comments, object, written: None, settings: false }
    }

    fn of_settings(file: String, comments: Vec<String>) -> Document {
        Document { settings: true, ..Document::of(file, comments, None) }
    }

    /// The text, comments first.
    pub fn text(&self) -> io::Result<String> {
        let mut text = String::new();
        for comment in &self.comments {
            text.push_str("# ");
            // A name may contain anything; a comment is one line.
            text.extend(comment.chars().filter(|c| !c.is_control()));
            text.push('\n');
        }
        match (&self.written, &self.object) {
            (Some(written), _) => text.push_str(&ended(written)),
            (None, Some(object)) => text.push_str(&write_yaml(object)?),
            (None, None) => {}
        }
        Ok(text)
    }
}

/// Writes everything as one stream of YAML documents.
pub fn yaml(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let documents = documents(report);
    if report.filters.is_empty() {
        return super::scope(report).iter().try_for_each(|note| writeln!(out, "# {note}"));
    }
    if documents.is_empty() {
        let counted = count(report.filters.len(), "EnvoyFilter", "EnvoyFilters");
        return writeln!(out, "# Nothing to write for {counted}: see -o human for the reasons.");
    }
    for (number, document) in documents.iter().enumerate() {
        if number > 0 {
            writeln!(out, "---")?;
        }
        out.write_all(document.text()?.as_bytes())?;
    }
    Ok(())
}

/// Writes changes as unified diffs: new objects, edits, filters that are removed or shrink. What is no object comes first as
/// comments, which tools that apply diffs skip: settings of pods, and of a mesh whose ConfigMap is not in the input.
pub fn diff(
    out: &mut dyn Write,
    report: &Report,
    filters: &[crate::model::envoy_filter::EnvoyFilter],
) -> io::Result<()> {
    let terminal = Terminal::default();
    let is_setting = |one: &&Document| one.settings && (one.file != MESH || report.mesh_config.is_none());
    for document in documents(report).iter().filter(is_setting) {
        out.write_all(document.text()?.as_bytes())?;
    }
    let mut show = |path: &str, before: &str, after: &str| -> io::Result<()> {
        let name = |text: &str| if text.is_empty() { "/dev/null".to_owned() } else { path.to_owned() };
        let (from, to) = (name(before), name(after));
        unified::diff(out, terminal, (&from, &to), (before, after), usize::MAX).map(drop)
    };
    for made in &report.draft.made {
        show(&format!("{}.yaml", file(&made.object)), "", &write_yaml(&made.object)?)?;
    }
    for edited in &report.draft.edited {
        let path = format!("{}.yaml", file(&edited.after));
        show(&path, &write_yaml(&edited.before)?, &write_yaml(&edited.after)?)?;
    }
    if let Some((before, after)) = &report.mesh_config {
        show(&format!("{MESH}.yaml"), &write_yaml(before)?, &write_yaml(after)?)?;
    }
    for filter in &report.filters {
        let Some(source) = filters.get(filter.index) else { continue };
        let mut before = source.document.to_json();
        crate::migrate::draft::clean(&mut before, &filter.namespace);
        let path = format!("{}.yaml", file(&before));
        match &filter.after {
            After::Unchanged => {
                let name = super::full_name(filter);
                if let Some(one) = report.rewrites.iter().find(|one| one.written && one.filter == name) {
                    show(&path, &write_yaml(&before)?, &write_yaml(&one.object)?)?;
                }
            }
            After::Delete => show(&path, &write_yaml(&before)?, "")?,
            After::Smaller(smaller) => show(&path, &write_yaml(&before)?, &write_yaml(smaller)?)?,
        }
    }
    Ok(())
}

/// A heading in the colors of a terminal.
pub(super) fn heading(terminal: Terminal, text: &str) -> String {
    terminal.paint(Role::Strong, text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_long_names_can_be_written() {
        let object = |name: String| json!({ "kind": "Telemetry", "metadata": { "namespace": "../a", "name": name } });
        assert_eq!(file(&object("b".to_owned())), "telemetry-.._a-b");
        assert_eq!(file(&object("b".repeat(253))).len(), LONGEST);
    }
}

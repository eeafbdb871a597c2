//! Kubernetes manifests to write instead of a filter, as YAML.

use crate::lint::facts::context::PatchView;
use crate::lint::finding::Finding;
use crate::lint::rule::RuleInfo;
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::release::Release;
use serde_json::{Map, Value as Json, json};
use std::fmt::Write as _;

/// What to write instead of a patch.
pub struct Instead {
    /// What the user is told: "this is what a DestinationRule is for".
    pub message: String,
    /// The first release that has all of it; [`Release::OLDEST`] when every supported one does.
    pub since: Release,
    /// The manifests, in the order in which to apply them; each with a comment line above or none.
    pub manifests: Vec<(String, Json)>,
    /// What else to know.
    pub notes: Vec<String>,
}

impl Instead {
    /// The finding at a key below the patch.
    pub fn finding(self, rule: &'static RuleInfo, view: &PatchView<'_>, below: &[&str]) -> Finding {
        let mut finding = Finding::new(rule, view.key_span(below), self.message);
        finding = finding.of(view.filter, Some(view.patch.index));
        if self.since > Release::OLDEST {
            finding = finding.note(format!("needs Istio {}.{} or newer", self.since.major, self.since.minor));
        }
        for note in self.notes {
            finding = finding.note(note);
        }
        let texts: Vec<String> = self
            .manifests
            .iter()
            .map(|(comment, manifest)| {
                let comment = if comment.is_empty() { String::new() } else { format!("# {comment}\n") };
                format!("{comment}{}", yaml(manifest))
            })
            .collect();
        finding.shown = self.manifests.iter().filter_map(|(_, manifest)| full_name(manifest)).collect();
        finding.help(texts.join("---\n").trim_end().to_owned())
    }
}

/// `Kind namespace/name` of a manifest; `None` for what is only a part of an object.
fn full_name(manifest: &Json) -> Option<String> {
    let text = |path: &str| manifest.pointer(path)?.as_str();
    Some(format!("{} {}/{}", text("/kind")?, text("/metadata/namespace")?, text("/metadata/name")?))
}

/// A manifest with the filter's name and namespace, and with its selector or targetRefs under `selector_key`.
pub fn object(api_version: &str, kind: &str, filter: &EnvoyFilter, spec: Map<String, Json>) -> Json {
    let mut all = attachment(filter);
    all.extend(spec);
    json!({
        "apiVersion": api_version,
        "kind": kind,
        "metadata": { "name": filter.name, "namespace": filter.namespace },
        "spec": all,
    })
}

/// `selector` or `targetRefs` as most Istio APIs have them.
pub fn attachment(filter: &EnvoyFilter) -> Map<String, Json> {
    let mut map = Map::new();
    if !filter.target_refs.is_empty() {
        let refs: Vec<Json> = filter
            .target_refs
            .iter()
            .map(|target| json!({ "group": target.group, "kind": target.kind, "name": target.name }))
            .collect();
        map.insert("targetRefs".to_owned(), refs.into());
    } else if let Some(labels) = filter.selector.as_ref().filter(|labels| !labels.is_empty()) {
        map.insert("selector".to_owned(), json!({ "matchLabels": labels }));
    }
    map
}

/// The pod annotation `proxy.istio.io/config` of the workloads that a filter selects.
pub fn annotation(config: &Json) -> Json {
    json!({
        "spec": { "template": { "metadata": { "annotations": { "proxy.istio.io/config": yaml(config) } } } },
    })
}

/// Writes JSON as block YAML. Texts that YAML would read as something else are quoted; texts of several lines are blocks.
pub fn yaml(value: &Json) -> String {
    let mut out = String::new();
    write(&mut out, value, 0, false);
    out
}

fn write(out: &mut String, value: &Json, indent: usize, in_list: bool) {
    let pad = " ".repeat(indent);
    match value {
        Json::Object(map) if !map.is_empty() => {
            for (index, (key, value)) in map.iter().enumerate() {
                let lead = if index == 0 && in_list { "" } else { pad.as_str() };
                let _ = write!(out, "{lead}{}:", plain(key));
                // A list stands at the column of its key, as kubectl prints it.
                write_after_key(out, value, if value.is_array() { indent } else { indent + 2 });
            }
        }
        Json::Array(items) if !items.is_empty() => {
            for item in items {
                let _ = write!(out, "{pad}- ");
                if item.as_object().is_some_and(|map| !map.is_empty()) {
                    write(out, item, indent + 2, true);
                } else if item.is_array() {
                    // Flow style: JSON is YAML.
                    let _ = writeln!(out, "{item}");
                } else {
                    let _ = writeln!(out, "{}", scalar(item, indent + 2));
                }
            }
        }
        other => {
            let _ = writeln!(out, "{pad}{}", scalar(other, indent));
        }
    }
}

fn write_after_key(out: &mut String, value: &Json, indent: usize) {
    let nested =
        value.as_object().is_some_and(|map| !map.is_empty()) || value.as_array().is_some_and(|l| !l.is_empty());
    if nested {
        out.push('\n');
        write(out, value, indent, false);
    } else {
        let _ = writeln!(out, " {}", scalar(value, indent));
    }
}

fn scalar(value: &Json, indent: usize) -> String {
    match value {
        Json::String(text) if text.contains('\n') && text.trim_start() == text.as_str() && !text.contains('\t') => {
            let pad = " ".repeat(indent);
            let chomp = if text.ends_with('\n') { "" } else { "-" };
            let lines: Vec<String> =
                text.lines().map(|line| if line.is_empty() { String::new() } else { format!("{pad}{line}") }).collect();
            format!("|{chomp}\n{}", lines.join("\n"))
        }
        Json::String(text) => plain(text),
        Json::Object(_) => "{}".to_owned(),
        Json::Array(_) => "[]".to_owned(),
        other => other.to_string(),
    }
}

/// A text as it may stand in YAML: bare where no one can misread it.
fn plain(text: &str) -> String {
    let first = text.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '/');
    let rest = text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./%".contains(c));
    let word = matches!(
        text.to_ascii_lowercase().as_str(),
        "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null"
    );
    if first && rest && !word { text.to_owned() } else { Json::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_reads_back_as_it_was() {
        let value = json!({
            "a": { "b": ["x", { "c": 1, "d": [] }], "empty": {} },
            "text": "two\nlines\n",
            "yes": "yes",
            "number": "12",
            "list": [["nested"], { "k": "v:w" }],
        });
        let text = yaml(&value);
        let file = crate::source::Sources::default().add("t", &*text);
        let (documents, problems) = crate::load::yaml::documents(file, &text);
        assert!(problems.is_empty(), "{problems:?}\n{text}");
        assert_eq!(documents[0].to_json(), value, "{text}");
    }
}

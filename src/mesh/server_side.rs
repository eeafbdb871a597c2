//! The API server's response to EnvoyFilters that are not applied yet: its schema, its policies, its webhooks.

use super::Error;
use super::live::Link;
use super::read::{Feed, Mesh};
use crate::cluster::kinds::ENVOY_FILTER;
use crate::cluster::write::Applied;
use crate::cluster::{Cluster, Fault};
use crate::model::envoy_filter::EnvoyFilter;
use crate::source::{Code, Problem, Severity, Span};
use serde_json::Value;

/// Asks the cluster that was read, or the one in the settings.
pub(super) fn verdicts(mesh: &Mesh<'_>, filters: &[EnvoyFilter], deleted: &[String]) -> Result<Vec<Problem>, Error> {
    let question = async |cluster: &Cluster| ask(cluster, filters, deleted).await;
    match &mesh.feed {
        Feed::Live(live, _) => Ok(live.link().ask(question)),
        _ => Ok(Link::connect(&mesh.settings, mesh.progress)?.ask(question)),
    }
}

/// Asks about new filters, and about the deletion of others, `namespace/name`; nothing is stored. Returns what the API server
/// rejects, warns about or would store differently.
async fn ask(cluster: &Cluster, filters: &[EnvoyFilter], deleted: &[String]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for filter in filters {
        let (name, span) = (filter.full_name(), Some(filter.document.span));
        let Value::Object(mut object) = filter.document.to_json() else { continue };
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            metadata.insert("namespace".to_owned(), filter.namespace.clone().into());
            // Metadata of the object that an export came from.
            metadata.retain(|key, _| !matches!(key.as_str(), "resourceVersion" | "uid" | "managedFields"));
        }
        let object = Value::Object(object);
        match cluster.try_put(ENVOY_FILTER, &filter.namespace, &filter.name, object.clone()).await {
            Ok(tried) => {
                warnings(&name, span, &tried, &mut problems);
                let mut other = Vec::new();
                differences("spec", object.get("spec"), tried.object.get("spec"), &mut other);
                if !other.is_empty() {
                    let message = format!("the API server would store EnvoyFilter {name} differently");
                    let shown = other.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("; ");
                    let more = other.len().saturating_sub(SHOWN);
                    let more = if more == 0 { String::new() } else { format!("; and {more} more") };
                    problems.push(problem(Code::ServerChanges, Severity::Warning, span, message, Some(shown + &more)));
                }
            }
            Err(fault) => problems.push(refusal(&format!("EnvoyFilter {name}"), span, &fault)),
        }
    }
    for name in deleted {
        let (namespace, bare) = name.split_once('/').unwrap_or(("default", name));
        match cluster.try_delete(ENVOY_FILTER, namespace, bare).await {
            Ok(tried) => warnings(name, None, &tried, &mut problems),
            // Its absence was already reported.
            Err(Fault::NotFound(_)) => {}
            Err(fault) => problems.push(refusal(&format!("the deletion of EnvoyFilter {name}"), None, &fault)),
        }
    }
    problems
}

/// Maximum number of listed differences.
const SHOWN: usize = 5;

fn problem(code: Code, severity: Severity, span: Option<Span>, message: String, help: Option<String>) -> Problem {
    Problem { code, severity, span, message, help }
}

fn warnings(name: &str, span: Option<Span>, tried: &Applied, problems: &mut Vec<Problem>) {
    for warning in &tried.warnings {
        let message = format!("the API server warns about EnvoyFilter {name}: {warning}");
        problems.push(problem(Code::ServerWarns, Severity::Warning, span, message, None));
    }
}

fn refusal(what: &str, span: Option<Span>, fault: &Fault) -> Problem {
    match fault {
        // 401, 404, 409, 410 and 429 are not verdicts.
        Fault::Denied(words) | Fault::Status(400 | 413 | 422, words) => {
            problem(Code::ServerRefuses, Severity::Error, span, format!("the API server rejects {what}: {words}"), None)
        }
        fault => {
            let help = matches!(fault, Fault::NotAllowed(_))
                .then(|| "`kubectl envoyfilter rbac diff --server-side` prints the required role".to_owned());
            let message = format!("the API server could not be asked about {what}: {fault}");
            problem(Code::ServerNotAsked, Severity::Error, span, message, help)
        }
    }
}

/// Where two values differ, by the paths of their fields.
fn differences(path: &str, sent: Option<&Value>, kept: Option<&Value>, out: &mut Vec<String>) {
    match (sent, kept) {
        (Some(Value::Object(sent)), Some(Value::Object(kept))) => {
            for (key, value) in sent {
                differences(&format!("{path}.{key}"), Some(value), kept.get(key), out);
            }
            let more = kept.iter().filter(|(key, _)| !sent.contains_key(*key));
            more.for_each(|(key, value)| differences(&format!("{path}.{key}"), None, Some(value), out));
        }
        (Some(Value::Array(sent)), Some(Value::Array(kept))) if sent.len() == kept.len() => {
            for (index, (sent, kept)) in sent.iter().zip(kept).enumerate() {
                differences(&format!("{path}[{index}]"), Some(sent), Some(kept), out);
            }
        }
        (sent, kept) if sent == kept => {}
        (Some(_), None) => out.push(format!("{path} is dropped")),
        (None, Some(_)) => out.push(format!("{path} is added")),
        _ => out.push(format!("{path} is changed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_have_paths() {
        let mut out = Vec::new();
        let sent = json!({"a": [{"b": 1, "c": 2}], "d": [1], "e": null});
        let kept = json!({"a": [{"b": 1}], "d": [1, 2], "e": null, "f": 3});
        differences("spec", Some(&sent), Some(&kept), &mut out);
        assert_eq!(out, ["spec.a[0].c is dropped", "spec.d is changed", "spec.f is added"]);
    }
}

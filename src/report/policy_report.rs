//! Findings as objects of a cluster: PolicyReport and ClusterPolicyReport (wgpolicyk8s.io/v1alpha2), or Report and
//! ClusterReport (openreports.io/v1alpha1), their successors.
//!
//! Every EnvoyFilter has its own report, in its namespace and owned by it. The report is deleted with the filter and has only
//! one writer, however the work is shared. Findings about no filter are in one ClusterPolicyReport for each shard.

use crate::lint::Finding;
use crate::mesh::{NotChecked, Scope};
use crate::model::envoy_filter::EnvoyFilter;
use crate::report::scope;
use crate::source::{Severity, escape, field_path};
use crate::words::{count, fnv};
use serde_json::{Map, Value, json};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The API of the objects. Results are the same in both; a Report also names its source at the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Api {
    /// `wgpolicyk8s.io/v1alpha2`.
    PolicyReport,
    /// `openreports.io/v1alpha1`.
    OpenReports,
}

impl Api {
    /// An object: one of a namespace, or of the cluster.
    fn object(self, cluster: bool) -> Value {
        match (self, cluster) {
            (Api::PolicyReport, false) => json!({"apiVersion": "wgpolicyk8s.io/v1alpha2", "kind": "PolicyReport"}),
            (Api::PolicyReport, true) => {
                json!({"apiVersion": "wgpolicyk8s.io/v1alpha2", "kind": "ClusterPolicyReport"})
            }
            (Api::OpenReports, false) => {
                json!({"apiVersion": "openreports.io/v1alpha1", "kind": "Report", "source": SOURCE})
            }
            (Api::OpenReports, true) => {
                json!({"apiVersion": "openreports.io/v1alpha1", "kind": "ClusterReport", "source": SOURCE})
            }
        }
    }
}

/// The source in every result.
const SOURCE: &str = "kubectl-envoyfilter";
/// Maximum size of an object in bytes: etcd accepts 1.5 MiB (`--max-request-bytes`), and the API server adds the owner of each
/// field.
const LARGEST: usize = 512 * 1024;
/// Maximum number of characters of a text in a result.
const LONGEST: usize = 4_096;
/// Maximum number of characters of a name.
const LONGEST_NAME: usize = 253;

/// The common part of the reports of a run.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// The API of the objects.
    pub api: Api,
    /// Labels of every report.
    pub labels: Value,
    /// The time of the run.
    pub now: SystemTime,
}

impl Run {
    fn timestamp(&self) -> Value {
        let since = self.now.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        json!({"seconds": since.as_secs(), "nanos": 0})
    }

    /// The reports of a filter: one, or more if its findings are too many for one object. A filter without findings passes,
    /// unless something that matters to it was not checked.
    pub(crate) fn of_filter(
        &self,
        filter: &EnvoyFilter,
        findings: &[&Finding],
        not_checked: Option<&NotChecked>,
    ) -> Vec<Value> {
        let uid = filter.document.under(&["metadata", "uid"]).and_then(|uid| uid.as_str());
        let mut object = json!({
            "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "name": filter.name, "namespace": filter.namespace,
        });
        if let Some(uid) = uid {
            object["uid"] = uid.into();
        }
        let mut results: Vec<Value> = findings.iter().map(|finding| self.result(filter, finding, &object)).collect();
        let about_all = |result: &str, message: &str| {
            json!({
                "policy": SOURCE, "source": SOURCE, "result": result, "message": cut(&escape::one_line(message)), "resources": [object],
                "timestamp": self.timestamp(),
            })
        };
        if results.is_empty() && not_checked.is_none_or(|it| !it.at_all) {
            results.push(about_all("pass", "no findings"));
        }
        results.extend(not_checked.map(|it| about_all("skip", &it.why)));
        let parts = parts(results);
        let report = |(number, results): (usize, Vec<Value>)| {
            let name = name(&filter.name, number);
            let mut metadata = json!({"name": name, "namespace": filter.namespace, "labels": self.labels});
            if let Some(uid) = uid {
                metadata["ownerReferences"] = json!([{
                    "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter", "name": filter.name, "uid": uid,
                }]);
            }
            let mut report = self.api.object(false);
            report["metadata"] = metadata;
            report["scope"] = object.clone();
            report["summary"] = summary(&results);
            report["results"] = results.into();
            report
        };
        parts.into_iter().enumerate().map(report).collect()
    }

    fn result(&self, filter: &EnvoyFilter, finding: &Finding, object: &Value) -> Value {
        let (result, severity) = match finding.severity {
            Severity::Error => ("fail", "high"),
            Severity::Warning => ("warn", "medium"),
            // The only milder result than `warn` is `pass`, which would be wrong.
            Severity::Info => ("warn", "info"),
        };
        let mut message = finding.message.clone();
        for note in &finding.notes {
            message.push_str("; ");
            message.push_str(note);
        }
        let mut properties = Map::new();
        let mut property = |key: &str, text: String| {
            if !text.is_empty() {
                properties.insert(key.to_owned(), cut(&text).into());
            }
        };
        property("field", field_path(&filter.document.route_to(finding.primary.span)));
        property("patch", finding.patch.map_or_else(String::new, |patch| patch.to_string()));
        property("severity", finding.severity.as_str().to_owned());
        property("confidence", finding.confidence.as_str().to_owned());
        property("help", finding.help.clone().unwrap_or_default());
        property("workloads", finding.workloads.join(", "));
        property("documentation", format!("kubectl envoyfilter rules {}", finding.rule.code));
        json!({
            "policy": finding.rule.code,
            "rule": finding.rule.name,
            "category": finding.rule.theme(),
            "source": SOURCE,
            "result": result,
            "severity": severity,
            "scored": true,
            "message": cut(&message),
            "resources": [object],
            "properties": properties,
            "timestamp": self.timestamp(),
        })
    }

    /// The report about a run itself: how many filters it checked, and what could not be read.
    pub(crate) fn of_run(&self, name: &str, filters: usize, scope: &Scope, trouble: &[String]) -> Value {
        let result = |result: &str, message: &str| {
            json!({
                "policy": SOURCE, "rule": "run", "source": SOURCE, "result": result, "message": cut(&escape::one_line(message)),
                "timestamp": self.timestamp(),
            })
        };
        let of = scope::line(scope).map_or(String::new(), |line| format!("; scope: {line}"));
        let first = if filters == 0 && !trouble.is_empty() {
            result("error", &format!("nothing could be judged{of}"))
        } else {
            result("pass", &format!("{} checked{of}", count(filters, "EnvoyFilter was", "EnvoyFilters were")))
        };
        let mut results = vec![first];
        results.extend(trouble.iter().map(|trouble| result("error", trouble)));
        let mut parts = parts(results).into_iter();
        // Only the first object is written: the log contains all reasons.
        let results = parts.next().unwrap_or_default();
        let mut report = self.api.object(true);
        report["metadata"] = json!({"name": name, "labels": self.labels});
        report["summary"] = summary(&results);
        report["results"] = results.into();
        report
    }
}

/// Name of a filter's report, and of its further parts. A name that would be too long ends with a checksum of the whole.
fn name(filter: &str, part: usize) -> String {
    let suffix = if part == 0 { String::new() } else { format!(".{}", part + 1) };
    let whole = format!("envoyfilter-{filter}{suffix}");
    if whole.len() <= LONGEST_NAME {
        return whole;
    }
    let end = format!("-{:016x}{suffix}", fnv(filter));
    // Names of objects are ASCII.
    let kept: String = whole.chars().take(LONGEST_NAME - end.len()).collect();
    format!("{}{end}", kept.trim_end_matches(['-', '.']))
}

/// A text as it may be stored: without control characters, and not too long.
fn cut(text: &str) -> String {
    let text = escape::lines(text);
    if text.chars().count() <= LONGEST {
        return text.into_owned();
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}

/// Results split so that each part fits into an object.
fn parts(results: Vec<Value>) -> Vec<Vec<Value>> {
    let mut parts: Vec<Vec<Value>> = vec![Vec::new()];
    let mut size = 0;
    for result in results {
        let own = result.to_string().len();
        if size + own > LARGEST && size > 0 {
            parts.push(Vec::new());
            size = 0;
        }
        size += own;
        if let Some(part) = parts.last_mut() {
            part.push(result);
        }
    }
    parts
}

fn summary(results: &[Value]) -> Value {
    let count = |word: &str| results.iter().filter(|result| result["result"] == word).count();
    json!({
        "pass": count("pass"), "fail": count("fail"), "warn": count("warn"), "error": count("error"), "skip": count("skip"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_texts_have_no_control_characters() {
        let report = Run { api: Api::PolicyReport, labels: json!({}), now: SystemTime::UNIX_EPOCH };
        let run = report.of_run("run", 1, &Scope::default(), &["x\u{1b}[31m\n::error::y\u{202e}".to_owned()]);
        assert_eq!(run["results"][1]["message"], "x\\u001b[31m\\n::error::y\\u202e");
        assert_eq!(cut("one\n\ttwo \u{e9}"), "one\n\ttwo \u{e9}");
    }

    #[test]
    fn no_part_is_larger_than_an_object_may_be() {
        let results: Vec<Value> = (0..700).map(|number| json!({"n": number, "message": "x".repeat(3_000)})).collect();
        let parts = parts(results.clone());
        assert!(
            parts.len() > 3 && parts.iter().all(|part| Value::from(part.clone()).to_string().len() < LARGEST + 2_048)
        );
        assert_eq!(parts.concat(), results);
    }

    #[test]
    fn names_are_short_enough_and_differ() {
        assert_eq!(name("stamp", 0), "envoyfilter-stamp");
        assert_eq!(name("stamp", 2), "envoyfilter-stamp.3");
        let (long, other) = (format!("{}a", "x".repeat(252)), format!("{}b", "x".repeat(252)));
        assert!(name(&long, 1).len() <= LONGEST_NAME && name(&long, 0) != name(&other, 0), "{}", name(&long, 0));
        assert_ne!(name(&long, 0), name(&long, 1));
    }
}

//! Findings as SARIF 2.1.0 (OASIS): rules with their help, results with places, fixes and fingerprints.

use super::{Report, published, whole};
use crate::lint::{Finding, RuleInfo};
use crate::report::{Listed, scope};
use crate::source::{Severity, Span};
use serde::Serialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes findings as SARIF.
pub(crate) fn sarif(out: &mut dyn Write, report: &Report<'_>) -> io::Result<()> {
    let used: BTreeMap<&str, &'static RuleInfo> = report.findings.iter().map(|one| (one.rule.code, one.rule)).collect();
    let rules: Vec<Value> = used.values().map(|rule| descriptor(rule)).collect();
    let index = |code: &str| used.keys().position(|known| *known == code);
    let results = || report.numbered().map(|(finding, print)| result(report, finding, print, index(finding.rule.code)));
    let note = |level: &str, text: &String| json!({"level": level, "message": {"text": text}});
    let trouble = report.trouble.iter().map(|text| note("error", text));
    let unknown = report.summary.unknown.iter().map(|text| note("note", text));
    let notifications: Vec<Value> = trouble.chain(unknown).collect();
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [Run {
            tool: json!({"driver": {
                "name": "kubectl-envoyfilter",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }}),
            column_kind: "unicodeCodePoints",
            invocations: json!([
                {"executionSuccessful": report.trouble.is_empty(), "toolExecutionNotifications": notifications},
            ]),
            results: Listed(results),
            properties: json!({"scope": report.scope, "scopeInWords": scope::sentence(report.scope)}),
        }],
    };
    crate::report::json(out, &log)
}

/// The whole, in the order of its fields. What there is once is built as a value.
#[derive(Serialize)]
struct Log<R> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<R>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<R> {
    tool: Value,
    column_kind: &'static str,
    invocations: Value,
    results: R,
    properties: Value,
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn descriptor(rule: &RuleInfo) -> Value {
    let docs = rule.documentation();
    let mut descriptor = json!({
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary.trim()},
        "help": {"text": &docs, "markdown": &docs},
        "defaultConfiguration": {"level": level(rule.severity)},
        "properties": {"tags": [rule.theme()]},
    });
    if let Some(page) = published(rule) {
        descriptor["helpUri"] = page.into();
    }
    descriptor
}

/// A finding, in the order of its fields.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'r> {
    rule_id: &'static str,
    rule_index: Option<usize>,
    level: &'static str,
    message: Text<'r>,
    locations: [Location; 1],
    partial_fingerprints: Fingerprints,
    properties: Properties,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Related<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixes: Option<[Fix<'r>; 1]>,
}

#[derive(Serialize)]
struct Text<'r> {
    text: Cow<'r, str>,
}

#[derive(Serialize)]
struct Fingerprints {
    #[serde(rename = "envoyfilter/v1")]
    first: String,
}

#[derive(Serialize)]
struct Properties {
    confidence: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: Physical,
    #[serde(skip_serializing_if = "Option::is_none")]
    logical_locations: Option<[Logical; 1]>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Logical {
    fully_qualified_name: String,
    kind: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Related<'r> {
    id: usize,
    physical_location: Physical,
    message: Text<'r>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Artifact,
    region: Region,
}

#[derive(Serialize)]
struct Artifact {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
    start_column: usize,
    end_line: usize,
    end_column: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Fix<'r> {
    description: Text<'r>,
    artifact_changes: Vec<Change<'r>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Change<'r> {
    artifact_location: Artifact,
    replacements: Vec<Replacement<'r>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Replacement<'r> {
    deleted_region: Region,
    inserted_content: Text<'r>,
}

fn text(text: &str) -> Text<'_> {
    Text { text: Cow::Borrowed(text) }
}

fn result<'r>(report: &Report<'_>, finding: &'r Finding, print: String, index: Option<usize>) -> Outcome<'r> {
    let name = || finding.patch.map_or(finding.filter.clone(), |patch| format!("{}[{patch}]", finding.filter));
    let logical = || [Logical { fully_qualified_name: name(), kind: "resource" }];
    let related = finding.related.iter().enumerate().map(|(id, label)| Related {
        id: id + 1,
        physical_location: physical(report, label.span),
        message: text(&label.message),
    });
    Outcome {
        rule_id: finding.rule.code,
        rule_index: index,
        level: level(finding.severity),
        message: Text { text: whole(finding).into() },
        locations: [Location {
            physical_location: physical(report, finding.primary.span),
            logical_locations: (!finding.filter.is_empty()).then(logical),
        }],
        partial_fingerprints: Fingerprints { first: print },
        properties: Properties { confidence: finding.confidence.as_str() },
        related_locations: related.collect(),
        fixes: finding.fix.as_ref().map(|fix| [fixed(report, fix)]),
    }
}

fn fixed<'r>(report: &Report<'_>, fix: &'r crate::lint::Fix) -> Fix<'r> {
    let mut files: BTreeMap<&str, Vec<Replacement<'_>>> = BTreeMap::new();
    for edit in &fix.edits {
        let replacement = Replacement { deleted_region: region(report, edit.span), inserted_content: text(&edit.text) };
        files.entry(report.file(edit.span)).or_default().push(replacement);
    }
    let changes =
        files.into_iter().map(|(file, replacements)| Change { artifact_location: artifact(file), replacements });
    Fix { description: Text { text: fix.description() }, artifact_changes: changes.collect() }
}

fn artifact(file: &str) -> Artifact {
    Artifact { uri: uri(file) }
}

fn physical(report: &Report<'_>, span: Span) -> Physical {
    Physical { artifact_location: artifact(report.file(span)), region: region(report, span) }
}

fn region(report: &Report<'_>, span: Span) -> Region {
    let (start, end) = report.range(span);
    Region { start_line: start.line, start_column: start.column, end_line: end.line, end_column: end.column }
}

/// A path as a URI reference: characters that are not allowed in one become `%XX`.
fn uri(name: &str) -> String {
    let name = name.strip_prefix("./").unwrap_or(name);
    let mut uri = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte) {
            uri.push(char::from(byte));
        } else if byte == b'\\' {
            uri.push('/');
        } else {
            uri.extend(["%".to_owned(), format!("{byte:02X}")]);
        }
    }
    if name.starts_with('/') { format!("file://{uri}") } else { uri }
}

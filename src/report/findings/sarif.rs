//! Findings as SARIF 2.1.0 (OASIS): rules with their help, results with places, fixes and fingerprints.

use super::{Report, published, whole};
use crate::lint::{Finding, RuleInfo};
use crate::report::scope;
use crate::source::{Severity, Span};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes findings as SARIF.
pub(crate) fn sarif(out: &mut dyn Write, report: &Report<'_>) -> io::Result<()> {
    let used: BTreeMap<&str, &'static RuleInfo> = report.findings.iter().map(|one| (one.rule.code, one.rule)).collect();
    let rules: Vec<Value> = used.values().map(|rule| descriptor(rule)).collect();
    let index = |code: &str| used.keys().position(|known| *known == code);
    let results: Vec<Value> = report
        .numbered()
        .iter()
        .map(|(finding, print)| result(report, finding, print, index(finding.rule.code)))
        .collect();
    let note = |level: &str, text: &String| json!({"level": level, "message": {"text": text}});
    let trouble = report.trouble.iter().map(|text| note("error", text));
    let unknown = report.summary.unknown.iter().map(|text| note("note", text));
    let notifications: Vec<Value> = trouble.chain(unknown).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "kubectl-envoyfilter",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{"executionSuccessful": report.trouble.is_empty(), "toolExecutionNotifications": notifications}],
            "results": results,
            "properties": {"scope": report.scope, "scopeInWords": scope::sentence(report.scope)},
        }],
    });
    crate::report::json(out, &log)
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

fn result(report: &Report<'_>, finding: &Finding, print: &str, index: Option<usize>) -> Value {
    let mut result = json!({
        "ruleId": finding.rule.code,
        "ruleIndex": index,
        "level": level(finding.severity),
        "message": {"text": whole(finding)},
        "locations": [{"physicalLocation": physical(report, finding.primary.span)}],
        "partialFingerprints": {"envoyfilter/v1": print},
        "properties": {"confidence": finding.confidence.as_str()},
    });
    if !finding.filter.is_empty() {
        let name = finding.patch.map_or(finding.filter.clone(), |patch| format!("{}[{patch}]", finding.filter));
        result["locations"][0]["logicalLocations"] = json!([{"fullyQualifiedName": name, "kind": "resource"}]);
    }
    if !finding.related.is_empty() {
        let related = finding.related.iter().enumerate().map(|(id, label)| {
            let message = json!({"text": label.message});
            json!({"id": id + 1, "physicalLocation": physical(report, label.span), "message": message})
        });
        result["relatedLocations"] = related.collect();
    }
    if let Some(fix) = &finding.fix {
        let mut files: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for edit in &fix.edits {
            files.entry(report.file(edit.span)).or_default().push(json!({
                "deletedRegion": region(report, edit.span),
                "insertedContent": {"text": edit.text},
            }));
        }
        let changes: Vec<Value> = files
            .into_iter()
            .map(|(file, edits)| json!({"artifactLocation": {"uri": uri(file)}, "replacements": edits}))
            .collect();
        result["fixes"] = json!([{"description": {"text": fix.title}, "artifactChanges": changes}]);
    }
    result
}

fn physical(report: &Report<'_>, span: Span) -> Value {
    json!({"artifactLocation": {"uri": uri(report.file(span))}, "region": region(report, span)})
}

fn region(report: &Report<'_>, span: Span) -> Value {
    let (start, end) = report.range(span);
    json!({"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column})
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

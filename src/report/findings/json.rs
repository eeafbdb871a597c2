//! Findings as JSON: schemas/lint.json.

use super::{Report, published};
use crate::lint::Finding;
use crate::lint::istioctl::Verdict;
use crate::mesh::Scope;
use crate::report::Listed;
use crate::source::Span;
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, Write};

/// Version of the JSON.
pub(crate) const API_VERSION: &str = "envoyfilter.dev/v1";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'r, F, V> {
    api_version: &'static str,
    kind: &'static str,
    istio_versions: &'r [String],
    findings: F,
    summary: Counts<'r>,
    problems: &'r [String],
    istioctl: V,
    scope: &'r Scope,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Item<'r> {
    code: &'r str,
    rule: &'r str,
    severity: &'static str,
    confidence: &'static str,
    message: &'r str,
    location: Location<'r>,
    #[serde(skip_serializing_if = "str::is_empty")]
    label: &'r str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<Related<'r>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'r [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'r str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    filter: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<usize>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    workloads: &'r [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    objects: &'r [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<Fix<'r>>,
    fingerprint: String,
    documentation: String,
}

/// A report of `istioctl analyze`, and whether it is right.
#[derive(Serialize)]
struct Istioctl<'r> {
    code: &'r str,
    filter: &'r str,
    patch: usize,
    location: Location<'r>,
    judgement: &'static str,
    why: &'r str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'r> {
    file: &'r str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

#[derive(Serialize)]
struct Related<'r> {
    location: Location<'r>,
    message: &'r str,
}

#[derive(Serialize)]
struct Fix<'r> {
    title: Cow<'r, str>,
    safe: bool,
    edits: Vec<Edit<'r>>,
}

#[derive(Serialize)]
struct Edit<'r> {
    location: Location<'r>,
    text: &'r str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Counts<'r> {
    filters: usize,
    patches: usize,
    files: usize,
    dumps: usize,
    dump_states: &'r std::collections::BTreeMap<&'static str, usize>,
    proven: usize,
    errors: usize,
    warnings: usize,
    infos: usize,
    fixable: usize,
    suppressed: usize,
    in_baseline: usize,
    gone_from_baseline: usize,
    unread: usize,
    unknown: &'r [String],
}

fn location<'r>(report: &'r Report<'_>, span: Span) -> Location<'r> {
    let (start, end) = report.range(span);
    Location {
        file: report.file(span),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
    }
}

/// A finding; its fingerprint is unique in the report.
fn item<'r>(report: &'r Report<'_>, finding: &'r Finding, fingerprint: String) -> Item<'r> {
    Item {
        code: finding.rule.code,
        rule: finding.rule.name,
        severity: finding.severity.as_str(),
        confidence: finding.confidence.as_str(),
        message: &finding.message,
        location: location(report, finding.primary.span),
        label: &finding.primary.message,
        related: finding
            .related
            .iter()
            .map(|label| Related { location: location(report, label.span), message: &label.message })
            .collect(),
        notes: &finding.notes,
        help: finding.help.as_deref(),
        filter: &finding.filter,
        patch: finding.patch,
        workloads: &finding.workloads,
        objects: &finding.objects,
        fix: finding.fix.as_ref().map(|fix| Fix {
            title: fix.description(),
            safe: fix.safe,
            edits: fix
                .edits
                .iter()
                .map(|edit| Edit { location: location(report, edit.span), text: &edit.text })
                .collect(),
        }),
        fingerprint,
        documentation: published(finding.rule)
            .unwrap_or_else(|| format!("kubectl envoyfilter rules {}", finding.rule.code)),
    }
}

fn istioctl<'r>(report: &'r Report<'_>, verdict: &'r Verdict) -> Istioctl<'r> {
    Istioctl {
        code: verdict.code,
        filter: &verdict.filter,
        patch: verdict.patch,
        location: location(report, verdict.span),
        judgement: verdict.right.words(),
        why: &verdict.why,
    }
}

/// Writes findings as JSON.
pub(crate) fn json(out: &mut dyn Write, report: &Report<'_>) -> io::Result<()> {
    let sum = report.summary;
    let envelope = Envelope {
        api_version: API_VERSION,
        kind: "LintReport",
        istio_versions: report.releases,
        findings: Listed(|| report.numbered().map(|(finding, fingerprint)| item(report, finding, fingerprint))),
        summary: Counts {
            filters: sum.filters,
            patches: sum.patches,
            files: sum.files,
            dumps: sum.dumps,
            dump_states: &sum.dump_states,
            proven: sum.proven,
            errors: sum.errors,
            warnings: sum.warnings,
            infos: sum.infos,
            fixable: sum.fixable,
            suppressed: sum.suppressed,
            in_baseline: sum.known,
            gone_from_baseline: sum.gone,
            unread: sum.unread,
            unknown: &sum.unknown,
        },
        problems: report.trouble,
        scope: report.scope,
        istioctl: Listed(|| report.istioctl.iter().map(|verdict| istioctl(report, verdict))),
    };
    crate::report::json(out, &envelope)
}

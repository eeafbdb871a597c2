//! EF009: the EnvoyFilter API of Istio 1.2: `filters`, `workloadLabels`.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::finding::Label;
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::source::Code;

declare_rule! {
    /// The EnvoyFilter API of Istio 1.2: `filters`, `workloadLabels`.
    ///
    /// # What it finds
    /// `spec.filters` and `spec.workloadLabels`, which `configPatches` and `workloadSelector` replaced in Istio 1.3.
    ///
    /// # Why it matters
    /// The API server drops both: no filter is inserted, and without labels what is left applies to the whole namespace.
    ///
    /// # How to fix
    /// Rewrite each filter as an item of `configPatches`, and the labels as `workloadSelector.labels`.
    ///
    /// # References
    /// istio/istio#26818.
    "EF009" "legacy-api" Document Error => check,
    policy: Never("the API server drops unknown fields before a policy sees the object; kubectl warns about them")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let mut found: Vec<Finding> = Vec::new();
    for (problem, finding) in document::in_filters(cx, rule, &[Code::LegacyApi]) {
        // Both keys of one object are the old API.
        if let Some(last) = found.last_mut().filter(|last| last.filter == finding.filter) {
            last.related.push(Label { span: finding.primary.span, message: "nor is this".to_owned() });
            last.help = Some(format!("{LABELS}\n{PATCHES}"));
            last.snippet = true;
            last.notes = vec![
                "workloadSelector and configPatches replaced them in Istio 1.3; nothing below them reaches a proxy"
                    .to_owned(),
            ];
            continue;
        }
        let labels = problem.span.is_some_and(|span| cx.sources.snippet(span) == "workloadLabels");
        let (new, help) = if labels { ("workloadSelector", LABELS) } else { ("configPatches", PATCHES) };
        found
            .push(finding.note(format!("{new} replaced it in Istio 1.3; nothing below it reaches a proxy")).help(help));
    }
    out.extend(found);
}

const LABELS: &str = "workloadSelector:\n  labels: …";

const PATCHES: &str = "configPatches:
- applyTo: HTTP_FILTER
  match:
    context: SIDECAR_INBOUND
    listener:
      filterChain:
        filter:
          name: envoy.filters.network.http_connection_manager
          subFilter:
            name: envoy.filters.http.router
  patch:
    operation: INSERT_BEFORE
    value:
      name: …
      typed_config:
        \"@type\": …";

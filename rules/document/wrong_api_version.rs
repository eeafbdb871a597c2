//! EF010: an EnvoyFilter whose `apiVersion` or `kind` is wrong or missing.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Edit, Findings, RuleInfo};
use crate::model::parse_envoy_filter::API_VERSION;
use crate::source::Code;

declare_rule! {
    /// An EnvoyFilter whose `apiVersion` or `kind` is wrong or missing.
    ///
    /// # What it finds
    /// Any `apiVersion` of an EnvoyFilter other than `networking.istio.io/v1alpha3`, and an EnvoyFilter without `kind`,
    /// or with another spelling of it, such as `Envoyfilter`.
    ///
    /// # Why it matters
    /// The API server rejects the object: no release of Istio has EnvoyFilter in another version.
    ///
    /// # How to fix
    /// Write `apiVersion: networking.istio.io/v1alpha3` (the fix does) and `kind: EnvoyFilter`.
    ///
    /// # References
    /// CustomResourceDefinition of EnvoyFilter (Istio 1.31).
    "EF010" "wrong-api-version" Document Error => check,
    fixes: true, policy: Never("for the API server an object of another apiVersion or kind is not an EnvoyFilter")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (_, finding) in document::in_texts(cx, rule, &[Code::MissingKind]) {
        out.push(finding);
    }
    for (_, finding) in document::in_filters(cx, rule, &[Code::WrongApiVersion]) {
        let span = finding.primary.span;
        let written = cx.sources.snippet(span);
        // An existing version can be replaced; a missing one must be written by hand.
        if written.contains(['\n', '{']) || !written.contains('/') {
            out.push(finding);
            continue;
        }
        let edits = vec![Edit { span, text: API_VERSION.to_owned() }];
        out.push(finding.fix(format!("write {API_VERSION}"), true, edits));
    }
}

//! EF719: a bootstrap patch, although only an override at start-up can change the bootstrap.

use crate::declare_rule;
use crate::engine::program::Status;
use crate::engine::trace::NoOp;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation};

declare_rule! {
    /// A bootstrap patch, which no supported istiod applies and which a bootstrap override replaces.
    ///
    /// # What it finds
    /// A MERGE with `applyTo: BOOTSTRAP`.
    ///
    /// # Why it matters
    /// Since 1.21 istiod ignores such patches. The annotation `sidecar.istio.io/bootstrapOverride` names a ConfigMap
    /// whose key `custom_bootstrap.json` is merged into the bootstrap when the proxy starts.
    ///
    /// # How to fix
    /// Write `patch.value` as JSON to a ConfigMap in the namespace of the workload, and put the annotation on its pods.
    /// Statistics tags and matchers have their own fields: `extraStatTags`, `proxyStatsMatcher` in
    /// `proxy.istio.io/config`.
    ///
    /// # References
    /// Istio: annotation `sidecar.istio.io/bootstrapOverride`; 1.21 release notes.
    "EF719" "bootstrap-beside-override" Native Info => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(body) = view.patch.body.as_ref() else { continue };
        let read = view.built.is_some_and(|built| built.status == Status::NoOp(NoOp::Bootstrap));
        if body.value.is_none()
            || view.patch.apply_to != ApplyTo::Bootstrap
            || !read
            || body.operation != Operation::Merge
        {
            continue;
        }
        let finding = view
            .finding(rule, view.key_span(&["applyTo"]), "a bootstrap override can change the bootstrap")
            .note("the ConfigMap is read in the namespace of each workload, when its pod starts")
            .help(
                "write `patch.value` as JSON to the key `custom_bootstrap.json` of a ConfigMap, and name that in the pod \
                 annotation `sidecar.istio.io/bootstrapOverride`",
            );
        out.push(finding);
    }
}

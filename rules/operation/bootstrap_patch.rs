//! EF304: a patch of the bootstrap configuration, which no supported release applies.

use crate::declare_rule;
use crate::engine::program::Status;
use crate::engine::trace::NoOp;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Severity;

declare_rule! {
    /// A patch of the bootstrap configuration, which no supported release applies.
    ///
    /// # What it finds
    /// A patch with `applyTo: BOOTSTRAP`.
    ///
    /// # Why it matters
    /// Since Istio 1.21 istiod does not send bootstrap patches to proxies: the patch is accepted and ignored.
    ///
    /// # How to fix
    /// Use ProxyConfig or the annotation `proxy.istio.io/config` (stats, concurrency, tracing), the annotation
    /// `sidecar.istio.io/bootstrapOverride` with a ConfigMap for anything else, or a CLUSTER patch for a static
    /// cluster.
    ///
    /// # References
    /// Istio 1.21 change notes; recorded.
    "EF304" "bootstrap-patch" Operation Error => check,
    policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        if view.built.is_none_or(|built| built.status != Status::NoOp(NoOp::Bootstrap)) {
            continue;
        }

        out.push(
            view.finding(rule, view.value_span(&["applyTo"]), "no supported release of Istio applies BOOTSTRAP patches")
                .label("ignored since Istio 1.21")
                .note("the EnvoyFilter is accepted and nothing is logged, but the patch changes no proxy")
                .help("use ProxyConfig, the annotation `proxy.istio.io/config`, or `sidecar.istio.io/bootstrapOverride` with a ConfigMap")
                .ineffective(),
        );
    }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![Cel::patch(
        Severity::Error,
        r#"@judged && @to == "BOOTSTRAP""#,
        "no supported release of Istio applies BOOTSTRAP patches",
    )]
}

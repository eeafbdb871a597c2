//! EF719: a patch of the bootstrap, which only an override at start-up can change.

use crate::declare_rule;
use crate::engine::program::Status;
use crate::engine::trace::NoOp;
use crate::lint::manifest::Instead;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::model::release::Release;
use serde_json::json;

declare_rule! {
    /// A bootstrap patch, which no supported istiod applies and which a bootstrap override replaces.
    ///
    /// # What it finds
    /// A MERGE with `applyTo: BOOTSTRAP`.
    ///
    /// # Why it matters
    /// Since 1.21 istiod reads such patches and ignores them. The annotation `sidecar.istio.io/bootstrapOverride`
    /// names a ConfigMap whose key `custom_bootstrap.json` is merged into the bootstrap when the proxy starts.
    ///
    /// # How to fix
    /// Write the ConfigMap shown into the namespace of the workload and put the annotation on its pods. Values of statistics
    /// tags and matchers have fields of their own: `extraStatTags`, `proxyStatsMatcher` in `proxy.istio.io/config`.
    ///
    /// # References
    /// Istio: annotation `sidecar.istio.io/bootstrapOverride`; 1.21 release notes.
    "EF719" "bootstrap-beside-override" Native Info => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(body) = view.patch.body.as_ref() else { continue };
        let read = view.built.is_some_and(|built| built.status == Status::NoOp(NoOp::Bootstrap));
        let Some(value) = body.value.as_ref() else { continue };
        if view.patch.apply_to != ApplyTo::Bootstrap || !read || body.operation != Operation::Merge {
            continue;
        }
        let Ok(text) = serde_json::to_string_pretty(&value.to_json()) else { continue };
        let name = format!("{}-bootstrap", view.filter.name);
        let map = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": { "name": name, "namespace": view.filter.namespace },
            "data": { "custom_bootstrap.json": format!("{text}\n") },
        });
        let annotation = json!({
            "spec": { "template": { "metadata": { "annotations": { "sidecar.istio.io/bootstrapOverride": name } } } },
        });
        let instead = Instead {
            message: "a bootstrap override can change the bootstrap".to_owned(),
            since: Release::OLDEST,
            manifests: vec![(String::new(), map), ("in the Deployment of the workload".to_owned(), annotation)],
            notes: vec![
                "the ConfigMap is read in the namespace of each workload, when its pod starts: restart it afterwards"
                    .to_owned(),
            ],
        };
        out.push(instead.finding(rule, &view, &["applyTo"]));
    }
}

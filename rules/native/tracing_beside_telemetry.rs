//! EF702: tracing settings that the Telemetry API has.

use crate::declare_rule;
use crate::lint::better::{self, Parts, put};
use crate::lint::manifest::{self, Instead};
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::release::Release;
use serde_json::{Map, Value as Json, json};

declare_rule! {
    /// Trace sampling or custom tags merged into HTTP connection managers, which a Telemetry object would set.
    ///
    /// # What it finds
    /// A MERGE into the HTTP connection manager that holds only `tracing.random_sampling` and custom tags from literals,
    /// environment variables or request headers.
    ///
    /// # Why it matters
    /// MERGE appends the tags to those that istiod writes, and a sampling of 0 cannot be merged at all. Telemetry has a
    /// field for each and inherits from mesh to namespace to workload.
    ///
    /// # How to fix
    /// Write the Telemetry object shown; the tracing provider is the mesh's default one unless it names another.
    ///
    /// # References
    /// Istio: Telemetry API, Tracing (`telemetry.istio.io/v1` since 1.22).
    "EF702" "tracing-beside-telemetry" Native Info => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (candidate, mut config) in better::managers(cx) {
        let Some(mut tracing) = config.sub("tracing") else { continue };
        let filter = candidate.view.filter;
        let Some(mode) = candidate.reach.mode(filter) else { continue };
        if !config.done() || candidate.reach.port.is_some() {
            continue;
        }
        let mut one = Map::new();
        if let Some(mode) = mode {
            put(&mut one, "match/mode", mode);
        }
        if let Some(percent) = tracing.json("random_sampling/value") {
            put(&mut one, "randomSamplingPercentage", percent);
        }
        let tags: Option<Vec<(String, Json)>> = tracing.list("custom_tags").into_iter().map(tag).collect();
        let Some(tags) = tags else { continue };
        if !tags.is_empty() {
            one.insert("customTags".to_owned(), tags.into_iter().collect());
        }
        if !tracing.done() || one.keys().all(|key| key == "match") {
            continue;
        }
        let spec = Map::from_iter([("tracing".to_owned(), json!([one]))]);
        let instead = Instead {
            message: "a Telemetry object can set up tracing like this".to_owned(),
            since: Release::OLDEST,
            manifests: vec![(String::new(), manifest::object("telemetry.istio.io/v1", "Telemetry", filter, spec))],
            notes: vec!["custom tags of a Telemetry object replace those of wider ones".to_owned()],
        };
        out.push(instead.finding(rule, &candidate.view, &["patch", "value"]));
    }
}

fn tag(mut tag: Parts<'_>) -> Option<(String, Json)> {
    let name = tag.text("tag")?;
    let mut map = Map::new();
    for (from, to) in [
        ("literal/value", "literal/value"),
        ("environment/name", "environment/name"),
        ("environment/default_value", "environment/defaultValue"),
        ("request_header/name", "header/name"),
        ("request_header/default_value", "header/defaultValue"),
    ] {
        if let Some(text) = tag.text(from) {
            put(&mut map, to, text);
        }
    }
    (tag.done() && !map.is_empty()).then_some((name, Json::Object(map)))
}

//! `api`: its answers about names, and that it reports unknown facts as unknown.

use crate::cli::run;
use crate::support::JsonSchema;
use kubectl_envoyfilter::envoy::api::{self, view::Entry};
use serde_json::Value;
use std::path::Path;

fn one(name: &str) -> Entry {
    let search = api::find(name);
    assert_eq!(search.found.len(), 1, "{name}: {:?}", search.nearest);
    api::entry(&search.found[0])
}

#[test]
fn fields_are_found_by_every_name_they_have() {
    let full = "envoy.extensions.filters.http.lua.v3.Lua.inline_code";
    for name in [
        full,
        "Lua.inline_code",
        "Lua.inlineCode",
        "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua.inline_code",
    ] {
        let entry = one(name);
        assert_eq!((entry.kind, entry.name.as_str()), ("field", full));
        assert!(entry.life.is_deprecated);
        assert_eq!(entry.life.instead.as_deref(), Some("`default_source_code.inline_string`"));
    }
    let nested = one("envoy.config.cluster.v3.Cluster.outlier_detection.base_ejection_time");
    assert_eq!(nested.name, "envoy.config.cluster.v3.OutlierDetection.base_ejection_time");
    assert_eq!(nested.type_name.as_deref(), Some("duration, such as 1.5s"));
    // Two messages with that name contain the same field.
    let shared = one("CorsPolicy.allow_origin_string_match.safe_regex");
    assert_eq!(shared.name, "envoy.type.matcher.v3.StringMatcher.safe_regex");
}

#[test]
fn lives_are_those_of_the_types() {
    let removed = one("envoy.config.trace.v3.OpenCensusConfig");
    assert_eq!(
        removed.life.removed.as_ref().map(|one| (one.envoy.as_str(), one.istio.as_str())),
        Some(("1.33", "1.25"))
    );
    let timeout = one("envoy.config.cluster.v3.Cluster.connect_timeout");
    assert!(timeout.life.added_before_known && timeout.life.removed.is_none() && !timeout.life.is_deprecated);
    assert!(timeout.constraints.iter().any(|words| words == "more than 0s"), "{:?}", timeout.constraints);
}

#[test]
fn extensions_say_in_which_proxies_they_are_built() {
    let lua = one("envoy.filters.http.lua");
    assert_eq!(lua.kind, "extension");
    assert_eq!((lua.builds[0].first.as_deref(), lua.builds[0].last.as_deref()), (Some("1.18"), Some("1.31")));
    let response = one("envoy.filters.http.custom_response");
    assert_eq!(response.builds[0].first, None);
    let old = api::find("envoy.lua");
    assert!(old.notes[0].contains("old name"), "{:?}", old.notes);
}

#[test]
fn runtime_guards_say_from_when_to_when() {
    let gone = one("envoy.reloadable_features.abort_filter_chain_on_stream_reset");
    assert_eq!(gone.kind, "runtime guard");
    let releases = |one: &Option<api::view::Reference>| one.as_ref().map(|one| (one.envoy.clone(), one.istio.clone()));
    assert_eq!(releases(&gone.life.added), Some(("1.29".to_owned(), "1.21".to_owned())));
    assert_eq!(releases(&gone.life.removed), Some(("1.32".to_owned(), "1.24".to_owned())));
    assert_eq!(gone.notes[0], "default: on since Envoy 1.29");
    let here = one("abort_when_accessing_dead_decoder");
    assert_eq!(here.name, "envoy.reloadable_features.abort_when_accessing_dead_decoder");
    assert!(here.life.removed.is_none() && here.notes[0].contains("off since Envoy 1.36"), "{:?}", here.notes);
    assert!(here.notes[1].contains("1.34 and 1.35 are not known"), "{:?}", here.notes);
}

#[test]
fn missing_names_are_reported_with_similar_ones() {
    let search = api::find("envoy.config.cluster.v3.Cluster.conect_timeout");
    assert!(search.found.is_empty());
    assert_eq!(search.nearest[0], "envoy.config.cluster.v3.Cluster.connect_timeout");
    let output = run(Path::new(env!("CARGO_MANIFEST_DIR")), &["api", "Clustr"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("Cluster"));
}

#[test]
fn json_keeps_its_schema() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let validator = JsonSchema::new("api.json");
    for name in [
        "Lua",
        "Lua.inline_code",
        "envoy.filters.http.lua",
        "Cluster.DiscoveryType",
        "Cluster.DiscoveryType.EDS",
        "nothing",
    ] {
        let output = run(root, &["api", name, "-o", "json"]);
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(validator.errors(&json), "", "{name}");
    }
}

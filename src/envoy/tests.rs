//! The tables are sound and agree with Envoy's changelogs.

use super::*;
use crate::proto::schema::Schema;

#[test]
fn every_table_has_its_source_and_is_sorted() {
    let tables = [&V2_TYPES, &MOVED_TYPES, &REMOVED_FIELDS, &LEGACY_NAMES, &DEPRECATIONS, &RUNTIME_GUARDS];
    for table in tables {
        assert!(
            table.text.starts_with("# ") && table.text.lines().next().unwrap().contains("Envoy"),
            "{}",
            &table.text[..40]
        );
        let rows: Vec<_> = table.rows().map(|row| row.0).collect();
        assert!(rows.is_sorted(), "{}", &table.text[..40]);
        assert!(rows.len() > 40);
    }
}

#[test]
fn successors_exist_in_the_newest_envoy() {
    let envoy = Schema::envoy(40).unwrap();
    let v2 = V2_TYPES.rows().filter(|row| envoy.message(row.cell(1)).is_none()).map(|row| row.0).collect::<Vec<_>>();
    assert!(v2.len() < 12, "{v2:?}");
    assert_eq!(v3_of("envoy.config.filter.http.lua.v2.Lua"), Some("envoy.extensions.filters.http.lua.v3.Lua"));
    assert_eq!(v3_of("envoy.extensions.filters.http.lua.v3.Lua"), None);
    let oauth = moved("envoy.extensions.filters.http.oauth2.v3alpha.OAuth2").unwrap();
    assert_eq!((oauth.successor, oauth.gone), ("envoy.extensions.filters.http.oauth2.v3.OAuth2", 20));
}

#[test]
fn deprecations_say_when_and_what_instead() {
    let lua = deprecation("envoy.extensions.filters.http.lua.v3.Lua.inline_code").unwrap();
    assert_eq!(lua.since(), "since Envoy 1.23");
    assert_eq!(lua.instead, Some(Instead::Use("`default_source_code.inline_string`")));
    let sorted = deprecation("envoy.config.core.v3.JsonFormatOptions.sort_properties").unwrap();
    assert_eq!(sorted.instead, Some(Instead::Nothing("the properties are always sorted")));
    let http2 = deprecation("envoy.config.cluster.v3.Cluster.http2_protocol_options").unwrap();
    assert_eq!(http2.since(), "since Envoy 1.19 or earlier");
    assert!(field_removed("envoy.config.cluster.v3.Cluster", "tls_context"));
}

#[test]
fn extensions_know_their_slots_and_builds() {
    let lua = extension("envoy.filters.http.lua").unwrap();
    assert!(lua.in_istio_proxy(31) && !lua.contrib());
    assert!(lua.categories().any(|category| category == "envoy.filters.http"));
    assert!(!extension("envoy.filters.http.custom_response").unwrap().in_istio_proxy(31));
    assert!(extension("envoy.tracers.opencensus").unwrap().in_istio_proxy(22));
    assert!(!extension("envoy.tracers.opencensus").unwrap().in_istio_proxy(23));
    let names: Vec<_> = extensions_of("envoy.extensions.filters.http.lua.v3.Lua").map(Extension::name).collect();
    assert_eq!(names, ["envoy.filters.http.lua"]);
    let dynamo: Vec<_> = extensions_of("envoy.extensions.filters.http.dynamo.v3.Dynamo").collect();
    assert!(matches!(&dynamo[..], [one] if one.contrib() && !one.in_istio_proxy(31)));
    let stats: Vec<_> = extensions_of("stats.PluginConfig").flat_map(Extension::categories).collect();
    assert_eq!(stats, ["envoy.filters.http", "envoy.filters.network"]);
    assert_eq!(canonical_name("envoy.lua"), Some("envoy.filters.http.lua"));
}

#[test]
fn guards_come_and_go_and_the_gap_is_not_filled_with_guesses() {
    let line = |name: &str| -> String {
        let name = format!("envoy.reloadable_features.{name}");
        let sign = |minor| has_guard(&name, minor).map_or('?', |there| if there { '+' } else { '-' });
        (25..=41).map(sign).collect()
    };
    // Envoy 1.25 to 1.41; for 1.34 and 1.35 the result follows only from the releases on both sides.
    assert_eq!(line("http_allow_partial_urls_in_referer"), "?+++++----------?");
    assert_eq!(line("allow_alt_svc_for_ips"), "?------++??-----?");
    assert_eq!(line("abort_when_accessing_dead_decoder"), "?--------??+++++?");
    assert_eq!(line("always_use_v6"), "?+++++++++++++++?");
    assert_eq!(line("cares_dual_resolution_preserve_failure"), "?--------------+?");
    assert_eq!(line("nobody_knows"), "?--------??-----?");
}

#[test]
fn what_is_written_instead_exists_and_is_recommended_by_the_same_envoy() {
    let mut wrong = Vec::new();
    for minor in 30..=40 {
        let Some(envoy) = Schema::envoy(minor) else { continue };
        for row in DEPRECATIONS.rows() {
            let Some((message, field)) = row.0.rsplit_once('.') else { continue };
            let Some(message) = envoy.message(message) else { continue };
            if !message.field(field).is_some_and(Field::deprecated) {
                continue;
            }
            let unfinished = unfinished_successor(message, &Instead::Use(row.cell(4)));
            // The first code names fields from the same message on.
            let Some(path) = row.cell(4).split('`').nth(1).filter(|path| !path.contains("envoy.")) else { continue };
            let mut at = Some(message);
            for part in path.split('.') {
                let next = at.and_then(|message| message.field(part));
                match next {
                    None => wrong.push(format!("1.{minor} {}: no `{part}` of `{path}`", row.0)),
                    Some(next) if next.deprecated() => {
                        wrong.push(format!("1.{minor} {}: `{path}` is deprecated", row.0));
                    }
                    Some(next) if next.work_in_progress() && unfinished != Some(next.name()) => {
                        wrong.push(format!("1.{minor} {}: `{path}` is work in progress", row.0));
                    }
                    Some(_) => {}
                }
                at = next.and_then(|next| match next.kind() {
                    crate::proto::schema::Kind::Message(message) => Some(message),
                    _ => None,
                });
                if next.is_none() {
                    break;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

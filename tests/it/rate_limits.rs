//! EF337 reads what a config dump says about rate limits, not words that appear in it.

use crate::lint_cli::run;
use crate::support::{testdata, text};
use std::fs;

const VIRTUAL_HOST: &str = r#""name": "shop.example.com:80","#;

/// Whether lint reports EF337 for a filter on this dump.
fn reports(filter: &str, dump: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dump.json");
    fs::write(&file, dump).unwrap();
    let filter = testdata("rules/rate-limit-never-met").join(filter);
    let said = run(&["lint", filter.to_str().unwrap(), "--dump", file.to_str().unwrap(), "--select", "EF337"]);
    assert!(said.code < 2, "{}", said.err);
    said.out.contains("[EF337]")
}

/// The recorded gateway with a further member in one virtual host.
fn gateway_with(member: &str) -> String {
    let dump = text(&testdata("reference/shop/base/ingress.json"));
    assert!(dump.contains(VIRTUAL_HOST));
    dump.replace(VIRTUAL_HOST, &format!("{VIRTUAL_HOST}{member},"))
}

#[test]
fn only_descriptors_of_a_local_rate_limit_count() {
    let limit = |rest: &str| {
        let kind = "type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit";
        format!(r#""typed_per_filter_config": {{"x": {{"@type": "{kind}", "stat_prefix": "x"{rest}}}}}"#)
    };
    let filter = "bad_no_descriptors.yaml";
    assert!(reports(filter, &gateway_with(r#""metadata": {"filter_metadata": {"descriptors": {}}}"#)));
    assert!(reports(filter, &gateway_with(&limit(r#", "descriptors": []"#))));
    let entries = r#", "descriptors": [{"entries": [{"key": "remote_address"}], "token_bucket": {"max_tokens": 1}}]"#;
    assert!(!reports(filter, &gateway_with(&limit(entries))));
}

#[test]
fn only_actions_call_a_global_rate_limit() {
    let filter = "bad_global_alone.yaml";
    assert!(reports(filter, &gateway_with(r#""metadata": {"filter_metadata": {"rate_limits": {}}}"#)));
    assert!(!reports(filter, &gateway_with(r#""rate_limits": [{"actions": [{"remote_address": {}}]}]"#)));
}

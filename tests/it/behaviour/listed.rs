//! The required cases, in both directions: each entry of these lists has a folder in `testdata/behaviour`, and each
//! folder is listed.

use super::case_folders;
use crate::support::Share;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Effects of filters on requests, with the cases that show them.
const ABILITIES: &[(&str, &[&str])] = &[
    ("Lua: headers", &["lua-headers"]),
    ("Lua: body", &["lua-body"]),
    ("Lua: httpCall to a stub", &["lua-http-call"]),
    ("Lua: respond", &["lua-respond"]),
    ("Lua: a script chosen by a route", &["lua-name"]),
    ("local rate limit", &["local-rate-limit"]),
    ("global rate limit", &["global-rate-limit", "global-rate-limit-tcp"]),
    ("ext_authz over HTTP", &["ext-authz-http"]),
    ("ext_authz over gRPC", &["ext-authz-grpc", "ext-authz-tcp"]),
    ("ext_proc", &["ext-proc"]),
    ("JWT with a minted token", &["jwt"]),
    ("RBAC", &["rbac", "rbac-source-ip"]),
    ("CORS", &["cors"]),
    ("fault", &["fault"]),
    ("buffer", &["buffer"]),
    ("compressor", &["compressor"]),
    ("header casing", &["header-casing"]),
    ("direct response", &["direct-response"]),
    ("routes and weights", &["routes-and-weights"]),
    ("retries", &["retries"]),
    ("timeouts", &["timeouts"]),
    ("circuit breaking", &["circuit-breaking"]),
    ("TCP", &["tcp"]),
    ("TLS filter chains by SNI", &["tls-sni"]),
    ("TLS passthrough", &["tls-passthrough"]),
    ("TLS filter chains by ALPN", &["tls-alpn"]),
    ("PROXY protocol", &["proxy-protocol"]),
    ("trusted hops", &["trusted-hops"]),
    ("gRPC-JSON", &["grpc-json"]),
    ("access log text", &["access-log"]),
    ("oauth2 redirect", &["oauth2"]),
    ("Wasm by file", &["wasm"]),
];

/// The directions and kinds of proxies, with their notation in a test file.
const PROXIES: &[(&str, &str)] =
    &[("sidecar in", "inbound: "), ("sidecar out", "outbound: "), ("gateway", "gateway: "), ("waypoint", "waypoint: ")];

/// The failures that users reported, by the numbers of `field_failures.rs`: the case, or why no request can show it.
const FIELD: &[(u32, Result<&str, &str>)] = &[
    (1, Ok("field-old-filter-name")),
    (2, Ok("field-anchor-added-later")),
    (3, Ok("field-anchor-recreated")),
    (4, Ok("field-anchor-and-sni")),
    (5, Ok("field-sni")),
    (6, Ok("field-gateway-on-http")),
    (7, Ok("field-service-port")),
    (8, Ok("field-inbound-virtual-host")),
    (9, Ok("field-port-without-http")),
    (10, Ok("field-merge-false")),
    (11, Err("a transport socket of a cluster: stubs speak plain text")),
    (12, Ok("field-map-entry-replaced")),
    (13, Ok("field-replace-list-on-a-filter")),
    (14, Ok("field-listener-filter-merge")),
    (15, Ok("field-filter-class")),
    (16, Ok("field-cluster-on-a-waypoint")),
    (17, Ok("field-route-on-a-waypoint")),
    (18, Ok("field-context-waypoint")),
    (19, Ok("field-wrong-namespace")),
    (20, Ok("field-labels-of-the-pod")),
    (21, Ok("field-indented-by-mistake")),
    (22, Ok("field-unknown-cluster")),
    (23, Ok("field-rate-limit-on-gateway-route")),
    (24, Ok("field-unknown-anchor")),
    (25, Ok("field-target-a-service")),
    (26, Ok("field-port-name")),
    (27, Ok("field-silent-replace")),
    (28, Err("the order before Istio 1.22: no recorded proxy is that old")),
    (29, Ok("field-added-chain")),
    (30, Ok("field-two-writers-of-a-route")),
    (31, Ok("field-removed-and-added")),
    (32, Ok("field-remove-too-early")),
    (33, Ok("field-anchor-of-another-owner")),
    (34, Ok("field-inserted-twice")),
    (35, Ok("field-two-first")),
    (36, Err("the right way is no EnvoyFilter: the Telemetry API")),
    (37, Err("fixed in Istio; the duplicates depend on earlier pushes")),
    (38, Ok("field-other-hosts")),
    (39, Err("fixed in Istio; a leak from the configuration of one proxy to another")),
    (40, Ok("field-target-refs-ignored")),
    (41, Ok("field-port-of-others")),
    (42, Ok("field-version-pattern")),
    (43, Err("copies in two namespaces: each one works")),
    (44, Ok("field-merge-of-another-type")),
    (45, Ok("field-value-that-does-not-convert")),
    (46, Ok("field-untyped-config")),
    (47, Ok("field-listener-filter-untyped")),
    (48, Ok("field-terminal-filter")),
    (49, Ok("field-second-tcp-proxy")),
    (50, Ok("field-duplicate-listener")),
    (51, Ok("field-value-in-a-typed-config")),
    (52, Ok("field-proxy-protocol-last")),
    (53, Ok("field-type-of-another-release")),
    (54, Ok("field-extension-of-another-kind")),
    (55, Ok("field-rejected-update")),
    (56, Err("how often a filter is written: no configuration shows it")),
    (57, Ok("field-leftover-version")),
    (58, Err("Envoy goes by the type, and the old name works")),
    (59, Err("deprecated, and still works in every Envoy here")),
    (60, Err("the definition of EnvoyFilter refuses it before istiod")),
];

/// Run-time failures that only a request shows, and the reports of users.
const AT_RUN_TIME: &[(&str, &str)] = &[
    ("istio/istio#49432", "local-rate-limit"),
    ("istio/istio#49432", "field-limit-by-path"),
    ("istio/community#1440", "field-limit-by-path"),
    ("#52088", "field-limit-by-path"),
    ("istio/istio#54008", "field-limit-default-bucket"),
    ("istio/istio#52088", "field-limit-on-any-host"),
    ("istio/istio#57350", "field-limit-on-a-waypoint"),
    ("", "field-lua-plain-text"),
    ("", "field-lua-concatenates-nil"),
    ("", "field-lua-unknown-function"),
    ("", "field-response-of-a-refusal"),
];

/// Mistakes that Envoy accepts, with the rule that finds each without a request.
pub(crate) const MISTAKES: &[(&str, &str)] = &[
    ("EF143", "mistake-lua-direction"),
    ("EF143", "mistake-match-of-nothing"),
    ("EF153", "mistake-disabled-filter"),
    ("EF153", "mistake-no-policy"),
    ("EF153", "mistake-outlier-off"),
    ("EF155", "mistake-lua-number"),
    ("EF156", "mistake-lua-hyphen"),
    ("EF157", "mistake-lua-method"),
    ("EF157", "mistake-table-joined"),
    ("EF158", "mistake-server-header"),
    ("EF160", "mistake-retry-condition"),
    ("EF161", "mistake-rewrite-group"),
    ("EF161", "mistake-rewrite-slash"),
    ("EF162", "mistake-address-with-port"),
    ("EF163", "mistake-bearer-prefix"),
    ("EF165", "mistake-query-in-a-path"),
    ("EF165", "mistake-glob"),
    ("EF167", "mistake-header-appended"),
    ("EF171", "mistake-path-with-query"),
    ("EF165", "mistake-fault-nodes"),
    ("EF165", "mistake-list-of-methods"),
    ("EF171", "mistake-regex-of-a-part"),
    ("EF172", "mistake-bandwidth"),
    ("EF172", "mistake-descriptor-above-bucket"),
    ("EF172", "mistake-limit-status"),
    ("EF173", "mistake-log-filter"),
    ("EF174", "mistake-login-callback"),
    ("EF175", "mistake-shell-variable"),
    ("EF176", "mistake-status-of-a-request"),
    ("EF177", "mistake-token-requirement"),
    ("EF178", "mistake-header-refused"),
    ("EF179", "mistake-origin-wildcard"),
    ("EF180", "mistake-cookies-replaced"),
    ("EF180", "mistake-cookies-in-lua"),
    ("EF181", "mistake-authorization-path"),
    ("EF182", "mistake-server-name-with-port"),
    ("EF183", "mistake-tls-versions"),
    ("EF186", "mistake-call-without-limit"),
    ("EF337", "mistake-actions-without-descriptors"),
    ("EF337", "mistake-internal-limit"),
    ("EF339", "mistake-limit-ignored"),
    ("EF343", "mistake-retriable-codes"),
    ("EF343", "mistake-no-retry-condition"),
    ("EF343", "mistake-idle-before-timeout"),
    ("EF343", "mistake-host-of-endpoints"),
    ("EF343", "mistake-redirect-codes"),
    ("EF355", "mistake-subset-of-endpoints"),
    ("EF344", "mistake-route-match"),
    ("EF347", "mistake-redirect-loop"),
    ("EF349", "mistake-key-of-the-claims"),
    ("EF349", "mistake-limit-by-claim"),
    ("EF349", "mistake-metadata-before-token"),
    ("EF350", "mistake-limit-before-token"),
    ("EF351", "mistake-compressed-body"),
    ("EF352", "mistake-preflight"),
    ("EF353", "mistake-host-of-another-name"),
    ("EF353", "mistake-host-with-a-port"),
    ("EF354", "mistake-route-by-claim"),
    ("EF356", "mistake-http1-behind-alpn"),
    ("EF507", "mistake-client-certificate"),
    ("EF521", "mistake-host-of-all"),
    ("EF528", "mistake-token-rules"),
    ("EF529", "mistake-principal"),
    ("EF529", "mistake-principal-regex"),
    ("EF531", "cors"),
    ("EF534", "mistake-headers-at-the-gateway"),
    ("EF535", "mistake-range"),
    ("EF536", "mistake-namespace-prefix"),
    ("EF537", "mistake-and-rules"),
    ("EF537", "mistake-allows-nobody"),
    ("EF538", "mistake-limit-of-one-port"),
    ("EF538", "mistake-one-door"),
    ("EF538", "mistake-one-virtual-host"),
    ("EF538", "mistake-script-at-one-door"),
    ("EF539", "mistake-port-of-the-service"),
    ("EF539", "mistake-port-of-the-workload"),
    ("EF540", "oauth2"),
    ("EF541", "mistake-server-name"),
    ("EF542", "mistake-destination-by-client"),
];

/// Additional cases for directions.
const BESIDE: &[&str] = &["outbound", "waypoint"];

fn first_line_and_text(case: &str) -> (String, String) {
    let path = crate::support::testdata("behaviour").join(case).join("case.test.yaml");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{case}: {error}"));
    (text.lines().next().unwrap().to_owned(), text)
}

#[test]
fn every_ability_and_every_failure_has_a_case_and_every_case_is_listed() {
    let mut listed: BTreeSet<&str> = BESIDE.iter().copied().collect();
    listed.extend(ABILITIES.iter().flat_map(|(_, cases)| cases.iter().copied()));
    listed.extend(FIELD.iter().filter_map(|(_, case)| case.ok()));
    listed.extend(AT_RUN_TIME.iter().chain(MISTAKES).map(|(_, case)| *case));
    let found: BTreeSet<String> =
        case_folders().iter().map(|folder| folder.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
    assert_eq!(listed.difference(&found).collect::<Vec<_>>(), Vec::<&&str>::new(), "listed, and not there");
    assert_eq!(found.difference(&listed).collect::<Vec<_>>(), Vec::<&&str>::new(), "there, and not listed");
}

/// The config dump of the proxy that a case is about.
fn dump_of(case: &str) -> String {
    let (_, text) = first_line_and_text(case);
    let own = text.lines().find_map(|line| line.strip_prefix("proxy: {dump: ")?.strip_suffix('}'));
    let folder = crate::support::testdata("behaviour").join(case);
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/demo/cart.json.zst");
    own.map_or(demo, |path| folder.join(path)).to_str().unwrap().to_owned()
}

/// What a request shows of the wrong filter, `lint` finds without one, and nothing of the kind in the correct filter.
fn lint_finds_the_mistakes_that_requests_show_by(share: Share) {
    for (code, case) in share.of(MISTAKES) {
        let dump = dump_of(case);
        let found = |file: &str| {
            let path = crate::support::testdata("behaviour").join(case).join(file);
            let said = |more: &[&str]| {
                let said = super::said(&[&["lint", path.to_str().unwrap(), "-o", "json"], more].concat());
                said.out.contains(&format!("\"code\": \"{code}\""))
            };
            said(&[]) || said(&["--dump", &dump])
        };
        assert!(found("bad.yaml"), "{case}: {code} does not find the mistake");
        assert!(!found("good.yaml"), "{case}: {code} finds the correct filter");
    }
}

in_part_and_in_full!(
    lint_finds_the_mistakes_that_requests_show,
    lint_finds_the_mistakes_that_requests_show_in_full,
    lint_finds_the_mistakes_that_requests_show_by
);

#[test]
fn every_direction_and_kind_of_proxy_has_a_case() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for folder in case_folders() {
        let (_, text) = first_line_and_text(folder.file_name().unwrap().to_str().unwrap());
        for (name, word) in PROXIES {
            *seen.entry(name).or_default() += usize::from(text.contains(word));
        }
    }
    assert!(PROXIES.iter().all(|(name, _)| seen[name] > 0), "{seen:?}");
}

#[test]
fn every_failure_of_the_survey_is_shown_or_says_why_not() {
    let numbers: Vec<u32> = FIELD.iter().map(|(number, _)| *number).collect();
    let of_lint: Vec<u32> = crate::field_failures::FAILURES.iter().map(|(number, ..)| *number).collect();
    assert_eq!(numbers, of_lint);
    for ((_, case), (number, thread, ..)) in FIELD.iter().zip(crate::field_failures::FAILURES) {
        let Ok(case) = case else { continue };
        let (first, _) = first_line_and_text(case);
        assert!(!thread.contains('#') || first.contains(thread), "{number}: {case} does not name {thread}");
    }
    for (thread, case) in AT_RUN_TIME {
        let (first, _) = first_line_and_text(case);
        assert!(first.contains(thread), "{case} does not name {thread}");
    }
}

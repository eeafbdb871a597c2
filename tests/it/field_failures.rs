//! Sixty failures that users reported, each in a minimal file of testdata/field for which some rule must give a
//! finding.
//!
//! The files are made for this test; the top of each names the recorded proxies (`# with: shop`) and the release to
//! use. The numbers are those of the survey on which the rules are based; the threads are the users' reports.

use crate::linting::{Proxies, directive, line, read, yaml_files};
use crate::support::testdata;
use kubectl_envoyfilter::model::release::Release;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Number, thread, failure, and the rules that find it.
pub(crate) const FAILURES: &[(u32, &str, &str, &[&str])] = &[
    (1, "istio/istio#21982", "a documented sample has no effect", &["EF213"]),
    (2, "istio/istio#37415", "INSERT_BEFORE a filter that a younger EnvoyFilter adds", &["EF405"]),
    (3, "istio/istio#38214", "filters anchored on a recreated EnvoyFilter's filter vanish", &["EF404"]),
    (4, "istio/istio#36172", "INSERT_AFTER with an SNI, dropped after an upgrade", &["EF212"]),
    (5, "istio/istio#32862", "filterChain.sni never matches", &["EF212"]),
    (6, "istio/istio#46459", "portName and gateway never match on HTTP servers", &["EF219"]),
    (7, "istio/istio#30191", "listener.portNumber on inbound is the target port", &["EF211"]),
    (8, "istio/istio#36112", "the inbound virtual host is named after the service port", &["EF220"]),
    (9, "istio/istio#29893", "a port that is not HTTP has no HTTP filters", &["EF217"]),
    (10, "istio/istio#18169", "MERGE cannot set false, 0 or an empty text", &["EF309"]),
    (11, "istio/istio#42257", "MERGE of transport_socket is dropped", &["EF316"]),
    (12, "istio/istio#42424", "MERGE replaces an entry of typed_extension_protocol_options", &["EF311"]),
    (13, "istio/istio#60553", "MERGE_AND_REPLACE_LIST on a network filter changes nothing", &["EF302"]),
    (14, "istio/istio#56486", "LISTENER_FILTER MERGE was ignored before 1.27", &["EF303"]),
    (15, "istio/istio#32638", "filterClass has no effect; ADD lands after the router", &["EF306"]),
    (16, "istio/istio#49863", "CLUSTER ADD without context does nothing on a waypoint", &["EF326"]),
    (17, "istio/istio#57035", "route patches stop working on waypoints", &["EF327"]),
    (18, "istio/api#3577", "context WAYPOINT is accepted and never applied", &["EF208"]),
    (19, "istio/istio#17414", "a filter in the wrong namespace", &["EF202"]),
    (20, "istio/istio#34641", "labels of the pod that the proxy does not have", &["EF201"]),
    (21, "istio/istio#26390", "a mis-indented field is dropped", &["EF008"]),
    (22, "Kuadrant/kuadrant-operator#1932", "a cluster that the proxy does not have", &["EF323"]),
    (23, "envoyproxy/envoy#29461", "typed_per_filter_config key is no filter's name", &["EF322"]),
    (24, "istio/istio#54006", "a filter that does not exist", &["EF215"]),
    (25, "istio.io reference", "targetRefs to a Service never attach", &["EF203"]),
    (26, "istio.io reference", "fields that nobody reads; BOOTSTRAP", &["EF227", "EF304"]),
    (27, "istio/istio#58586", "asks for a word in all silent cases", &["EF301"]),
    (28, "istio/istio#49555", "priority across namespaces before 1.22", &["EF410"]),
    (29, "istio/istio#41536", "an added chain is never patched", &["EF321"]),
    (30, "istio/istio#48238", "two route patches, one visible", &["EF402"]),
    (31, "istio/istio#45089", "a virtual host removed and added again ends removed", &["EF406"]),
    (32, "istio/istio#36398", "REMOVE cannot see a filter that is inserted later", &["EF405"]),
    (33, "opendatahub-io/models-as-a-service#1239", "an anchor that another owner's filter adds", &["EF405"]),
    (34, "istio/istio#39685", "two teams insert the same filter", &["EF403"]),
    (35, "istio/istio#25111", "two INSERT_FIRST: the later one ends first", &["EF404"]),
    (36, "istio/istio#32413", "an access log doubled by MERGE", &["EF310", "EF701"]),
    (37, "istio/istio#58914", "a list merged into a shared virtual host several times", &["EF310"]),
    (38, "istio/istio#44820", "a patch for one host changes others", &["EF503"]),
    (39, "istio/istio#53800", "a Duration merge leaks to all listeners", &["EF515"]),
    (40, "istio/istio#56417", "targetRefs ignored up to 1.26: the whole namespace is hit", &["EF205"]),
    (41, "istio/istio#21271", "a port match reaches other namespaces", &["EF505"]),
    (42, "istio/istio#43602", r"^1\.6 also matches 1.60", &["EF026"]),
    (43, "istio/istio#50619", "drifted copies of one filter", &["EF407"]),
    (44, "istio/istio#51610", "MERGE without filter.name into filters of other types", &["EF312"]),
    (45, "istio/istio#47359", "a value that does not convert", &["EF104"]),
    (46, "istio/istio#26818", "untyped config and the API of Istio 1.1", &["EF009", "EF111"]),
    (47, "istio/istio#49836", "a listener filter without typed_config", &["EF112", "EF712"]),
    (48, "istio/istio#52673", "the router must be last", &["EF306"]),
    (49, "envoyproxy/envoy#20251", "two terminal filters", &["EF307"]),
    (50, "istio/istio#28022", "a duplicate listener", &["EF320"]),
    (51, "istio/istio#50341", "`value` nested in a typed config", &["EF101"]),
    (52, "istio/istio#41445", "proxy_protocol after tls_inspector", &["EF325"]),
    (53, "istio/istio#36867", "a type that this release does not know", &["EF109"]),
    (54, "istio/istio#47141", "an extension in the wrong place or not in the proxy's build", &["EF120"]),
    (55, "istio/istio#37107", "rejected configurations do not show in the dump", &["EF804"]),
    (56, "Kuadrant/kuadrant-operator#2046", "rapid rewrites drain listeners", &["EF807"]),
    (57, "istio/istio#51028", "leftovers of Istio's own telemetry", &["EF704"]),
    (58, "istio/istio#35480", "extension names that a newer Envoy refuses", &["EF123"]),
    (59, "envoyproxy/envoy#22125", "Lua inlineCode is deprecated", &["EF127"]),
    (60, "istio/istio#59832", "the CRD of 1.29.0 to 1.29.2 refuses waypoint ports over 6553", &["EF208"]),
];

#[test]
fn every_failure_from_the_field_is_named() {
    let mut files: BTreeMap<u32, Vec<_>> = BTreeMap::new();
    for path in yaml_files(&testdata("field")) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        files.entry(name.split('-').next().unwrap().parse().unwrap()).or_default().push(path);
    }
    let mut proxies: BTreeMap<(Vec<String>, Vec<String>, Release), Proxies> = BTreeMap::new();
    let mut silent = Vec::new();
    for (number, thread, failure, codes) in FAILURES {
        let cases = files.remove(number).unwrap_or_else(|| panic!("{number} has no file"));
        for path in cases {
            let source = fs::read_to_string(&path).unwrap();
            let release = directive(&source, "istio").first().map_or(Release::NEWEST, |text| text.parse().unwrap());
            let key = (directive(&source, "with"), directive(&source, "dump"), release);
            let proxies = proxies.entry(key.clone()).or_insert_with(|| Proxies::with_live(&key.0, &key.1, release));
            let loaded = read(&path);
            let findings = proxies.lint(&loaded);
            let found: BTreeSet<&str> = findings.iter().map(|one| one.rule.code).collect();
            if std::env::var_os("SHOW").is_some() {
                println!("== {}: wanted {codes:?}", path.file_name().unwrap().display());
                for one in &findings {
                    println!("   {}", line(one, &loaded));
                }
            }
            for code in codes.iter().filter(|code| !found.contains(*code)) {
                silent.push(format!("{number} {thread}: {failure}: {code} is silent, found {found:?}"));
            }
        }
    }
    println!("failures from the field: {} named by rules", FAILURES.len() - silent.len());
    assert!(files.is_empty(), "files of no failure: {files:?}");
    assert!(silent.is_empty(), "{silent:#?}");
}

//! The published samples that the project started from (testdata/seeds): equal to the recordings, with their actual
//! effects.

use crate::support::{bases, dumps, filters, print_difference, recorded, testdata};
use kubectl_envoyfilter::engine::program::Status;
use kubectl_envoyfilter::engine::trace::Effect;
use kubectl_envoyfilter::engine::{self, Judged, MeshSettings, Options, PatchId, Plan, Program};
use kubectl_envoyfilter::model::release::Release;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

const ECDS_NAMES: &[&str] = &["my-wasm-extension", "wasm-auth", "wasm-b"];

#[test]
fn every_sample_equals_istiods_result() {
    let dumps = dumps(&testdata("reference/shop"));
    let bases = bases(&dumps);
    let (mut compared, mut different) = (0, BTreeSet::new());
    for case in recorded(&testdata("seeds/recorded.jsonl")) {
        let id = case["id"].as_str().unwrap();
        let filters = filters(id, case["filters"].as_str().unwrap());
        let program = Program::new(&filters, Release::NEWEST);
        let Some(proxies) = case.get("proxies") else {
            // istiod cannot load it, so none of its patches may run.
            let mut patches = (0..filters.len()).flat_map(|filter| program.patches(filter));
            assert!(patches.all(|patch| matches!(patch.status, Status::Discarded(_))), "{id}");
            continue;
        };
        for (proxy, kinds) in proxies.as_object().unwrap() {
            compared += 1;
            let base = &bases[proxy.as_str()];
            let (want, got) = (base.recorded(kinds), base.computed(id, &program, Some(ECDS_NAMES), &BTreeMap::new()));
            if want != got {
                println!("{id} on {proxy}");
                print_difference(&want, &got);
                different.insert(format!("{id}/{proxy}"));
            }
        }
    }
    println!("samples: {compared} proxies compared, {} different", different.len());
    assert!(different.is_empty(), "{different:#?}");
}

/// The outcome of a patch, on one line.
fn sentence(plan: &Plan<'_>, judged: &Judged<'_>, id: PatchId) -> String {
    let trace = &judged.trace.patches[id.index()];
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (place, effect) in &trace.effects {
        let verb = match effect {
            Effect::Merged(_) => "merged".to_owned(),
            Effect::TransportSocketMerged(..) => "transport socket merged".to_owned(),
            Effect::Inserted { index, length } => format!("inserted {} of {length}", index + 1),
            Effect::Replaced => "replaced".to_owned(),
            Effect::Removed => "removed".to_owned(),
            Effect::Added => "added".to_owned(),
            Effect::NoOp(why) => format!("{why:?}"),
            Effect::Panicked(why) => format!("{why:?}"),
        };
        *counts.entry(format!("{} {verb}", place.resource)).or_default() += 1;
    }
    let mut words: Vec<String> =
        counts.into_iter().map(|(what, count)| if count == 1 { what } else { format!("{what} ×{count}") }).collect();
    if words.is_empty() {
        words.extend(match plan.get(id).status {
            Status::Ready => trace.nearest.map(|condition| format!("{condition:?}")),
            Status::NoOp(why) => Some(format!("{why:?}")),
            Status::Discarded(why) => Some(format!("{why:?}")),
        });
    }
    format!("{}: {}", judged.outcome(plan, id), words.join(", "))
}

const HTTP_OUTBOUND: &str = "0.0.0.0_7070 merged, 0.0.0.0_80 merged, 0.0.0.0_8080 merged, virtualInbound merged ×4";

/// Sample files, their variant (see testdata/seeds/README.md), their actual effect, and the engine's outcome patch by
/// patch. An unnamed proxy has no patch of the sample; `{}` stands for [`HTTP_OUTBOUND`].
type Row = (&'static [&'static str], &'static str, &'static str, &'static [&'static str]);

const EFFECTS: &[Row] = &[
    (
        &["000-custom-protocol.yaml", "001-custom-protocol.yaml"],
        "",
        "attaches to nothing: it lives in the root namespace of another mesh, istio-config",
        &[],
    ),
    (
        &["000-custom-protocol.yaml", "001-custom-protocol.yaml"],
        "moved",
        "no listener has port 9307, so no MongoDB filter; the idle timeout goes to every HTTP connection manager",
        &[
            "cart: no-match: ChainPort",
            "cart: applied: {}",
            "ingress: no-op: ContextOfOtherProxies",
            "ingress: applied: 0.0.0.0_8080 merged, 0.0.0.0_8443 merged ×2",
            "ledger: no-match: ChainPort",
            "ledger: applied: 0.0.0.0_80 merged, 0.0.0.0_8080 merged, virtualInbound merged ×2",
        ],
    ),
    (
        &["000-custom-protocol.yaml", "001-custom-protocol.yaml"],
        "fitted",
        "on a port that exists the MongoDB filter stands before tcp_proxy",
        &[
            "cart: applied: 10.1.0.10_9000 inserted 1 of 2",
            "cart: applied: {}",
            "ingress: no-op: ContextOfOtherProxies",
            "ingress: applied: 0.0.0.0_8080 merged, 0.0.0.0_8443 merged ×2",
            "ledger: applied: 10.1.0.10_9000 inserted 1 of 2",
            "ledger: applied: 0.0.0.0_80 merged, 0.0.0.0_8080 merged, virtualInbound merged ×2",
        ],
    ),
    (
        &["000-hcm-tweaks.yaml", "001-hcm-tweaks.yaml"],
        "",
        "attaches to the gateway, which has no chain with that SNI",
        &["ingress: no-match: Sni"],
    ),
    (
        &["000-hcm-tweaks.yaml", "001-hcm-tweaks.yaml"],
        "fitted",
        "merged into the one chain with that SNI",
        &["ingress: applied: 0.0.0.0_8443 merged"],
    ),
    (&["000-header-envoy-filter.yaml"], "", "attaches to nothing: no workload in namespace test", &[]),
    (
        &["000-header-envoy-filter.yaml"],
        "moved",
        "Lua right before the router of all four inbound HTTP chains, the catch-all ones too",
        &["cart: applied: virtualInbound inserted 5 of 6 ×4"],
    ),
    (&["000-listener-filter-example.yaml"], "", "attaches to nothing: no workload in namespace myns", &[]),
    (
        &["000-listener-filter-example.yaml"],
        "moved",
        "MERGE without `listenerFilter` does nothing; its bootstrap_extensions are unknown in a listener filter anyway",
        &["cart: no-op: NeedsFilterMatch"],
    ),
    (
        &["000-wasm-service.yaml", "001-listener-filter-example.yaml"],
        "",
        "attaches to nothing: no workload in namespace myns",
        &[],
    ),
    (
        &["000-wasm-service.yaml", "001-listener-filter-example.yaml"],
        "moved",
        "proxy_protocol between original_dst and tls_inspector of every inbound connection",
        &["cart: applied: virtualInbound inserted 2 of 4"],
    ),
    (
        &["000-myns-ext-authz.yaml", "001-myns-ext-authz.yaml"],
        "",
        "attaches to nothing: no workload in namespace myns",
        &[],
    ),
    (
        &["000-myns-ext-authz.yaml", "001-myns-ext-authz.yaml"],
        "moved",
        "filterClass is ignored: ADD without a match appends after the router, and Envoy refuses that listener",
        &["cart: applied: virtualInbound inserted 6 of 6 ×4"],
    ),
    (
        &["000-mysvc-ext-authz.yaml", "001-mysvc-ext-authz.yaml"],
        "",
        "attaches to nothing: no workload in namespace myns",
        &[],
    ),
    (
        &["000-mysvc-ext-authz.yaml", "001-mysvc-ext-authz.yaml"],
        "moved",
        "nothing: REPLACE needs a subFilter match",
        &["cart: no-op: NeedsFilterMatch"],
    ),
    (
        &["000-mysvc-ext-authz.yaml", "001-mysvc-ext-authz.yaml"],
        "after-myns-ext-authz",
        "nothing either when the filter to replace is there",
        &["cart: applied: virtualInbound inserted 6 of 6 ×4", "cart: no-op: NeedsFilterMatch"],
    ),
    (
        &["000-mysvc-ext-authz.yaml", "001-mysvc-ext-authz.yaml"],
        "fitted",
        "with the subFilter match it replaces",
        &["cart: applied: virtualInbound inserted 6 of 6 ×4", "cart: applied: virtualInbound replaced ×4"],
    ),
    (
        &["000-reviews-lua.yaml", "001-reviews-lua.yaml"],
        "",
        "attaches to nothing: no workload in namespace bookinfo",
        &[],
    ),
    (
        &["000-reviews-lua.yaml", "001-reviews-lua.yaml"],
        "moved",
        "Lua right before the router of the two chains of target port 8080 (not of service port 80), and its cluster",
        &["cart: applied: virtualInbound inserted 5 of 6 ×2", "cart: applied: lua_cluster added"],
    ),
    (
        &["000-reviews-request-operation.yaml", "001-reviews-request-operation.yaml"],
        "",
        "attaches to nothing: no workload in namespace myns",
        &[],
    ),
    (
        &["000-reviews-request-operation.yaml", "001-reviews-request-operation.yaml"],
        "moved",
        "filterClass is ignored: appended after the router, and Envoy refuses that listener",
        &["cart: applied: virtualInbound inserted 6 of 6 ×4"],
    ),
    (
        &["000-wasm-example.yaml", "001-wasm-example.yaml"],
        "",
        "attaches to nothing: no workload in namespace myns",
        &[],
    ),
    (
        &["000-wasm-example.yaml", "001-wasm-example.yaml"],
        "moved",
        "before the router of inbound chains and, as it has no context, of outbound listeners too; configured by ECDS",
        &[
            "cart: applied: my-wasm-extension added",
            "cart: applied: 0.0.0.0_7070 inserted 6 of 7, 0.0.0.0_80 inserted 6 of 7, 0.0.0.0_8080 inserted 6 of 7, \
             virtualInbound inserted 5 of 6 ×4",
        ],
    ),
    (&["001-domain-match-example.yaml"], "", "attaches to nothing: no workload in namespace myns", &[]),
    (
        &["001-domain-match-example.yaml"],
        "moved",
        "istiod refuses it: rate_limits is a list, the sample gives an object",
        &["cart: discarded: ValueRefused", "ingress: discarded: ValueRefused", "ledger: discarded: ValueRefused"],
    ),
    (
        &["001-domain-match-example.yaml"],
        "fitted",
        "a domain that exists does not help",
        &["cart: discarded: ValueRefused", "ingress: discarded: ValueRefused", "ledger: discarded: ValueRefused"],
    ),
    (
        &["001-domain-match-example.yaml"],
        "fitted-list",
        "with a list it is merged into the virtual hosts of that domain",
        &[
            "cart: no-op: ContextOfOtherProxies",
            "ingress: applied: http.8080 merged, https.443.https-shop.public.edge merged",
            "ledger: no-op: ContextOfOtherProxies",
        ],
    ),
    (
        &["002-simple-envoy-filter.yaml", "002-network-filter.yaml"],
        "",
        "no patch at all: `filters` and `workloadLabels` are the API of Istio 1.1, unknown fields today",
        &[],
    ),
    (&["002-simple-envoy-filter.yaml", "002-network-filter.yaml"], "moved", "the same where its workload is", &[]),
];

#[test]
fn every_sample_has_its_true_effect() {
    let dumps = dumps(&testdata("reference/shop"));
    let bases = bases(&dumps);
    let cases = recorded(&testdata("seeds/recorded.jsonl"));
    let mut open: BTreeSet<&str> = cases.iter().map(|case| case["id"].as_str().unwrap()).collect();
    for (files, version, effect, want) in EFFECTS {
        for file in *files {
            let id = if version.is_empty() { (*file).to_owned() } else { format!("{file}:{version}") };
            assert!(open.remove(id.as_str()), "{id} is no sample, or is here twice");
            let case = cases.iter().find(|case| case["id"] == id).unwrap();
            let filters = filters(&id, case["filters"].as_str().unwrap());
            let program = Program::new(&filters, Release::NEWEST);
            let mut got = Vec::new();
            for (proxy, base) in &bases {
                let plan = program.plan(&base.config.proxy, &MeshSettings::default());
                let options = Options::default();
                let judged = engine::judge(&plan, &base.config, &options);
                got.extend(plan.ids().map(|patch| format!("{proxy}: {}", sentence(&plan, &judged, patch))));
            }
            let want: Vec<String> = want.iter().map(|line| line.replace("{}", HTTP_OUTBOUND)).collect();
            assert_eq!(got, want, "{id}: {effect}");
        }
    }
    assert!(open.is_empty(), "samples without a row: {open:#?}");
}

/// The recordings and the files have the same samples, with the same text.
#[test]
fn every_file_is_recorded() {
    let cases = recorded(&testdata("seeds/recorded.jsonl"));
    let published: BTreeMap<&str, &str> = cases
        .iter()
        .map(|case| (case["id"].as_str().unwrap(), case["filters"].as_str().unwrap()))
        .filter(|(id, _)| !id.contains(':'))
        .collect();
    let mut files = 0;
    for entry in fs::read_dir(testdata("seeds")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            files += 1;
            let name = path.file_name().unwrap().to_str().unwrap();
            assert_eq!(published.get(name), Some(&&*fs::read_to_string(&path).unwrap()), "{name}");
        }
    }
    assert_eq!(files, published.len());
}

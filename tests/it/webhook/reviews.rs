//! Individual reviews: what is denied, what only warns, what is never judged, and what is not a review.

use super::{builder, review, rules};
use kubectl_envoyfilter::admission::judge::Rules;
use kubectl_envoyfilter::admission::review::{Decision, Mode, Policy, Request, Verdict};
use kubectl_envoyfilter::admission::snapshot::Overrides;
use kubectl_envoyfilter::lint::config::Config;
use kubectl_envoyfilter::load::yaml;
use kubectl_envoyfilter::model::proxy::ProxyKind;
use kubectl_envoyfilter::rules::ALL;
use kubectl_envoyfilter::source::{Severity, Sources};
use serde_json::{Value, json};

const ENFORCE: Policy = Policy { mode: Mode::Enforce, deny_at: Severity::Error };

/// A filter with a merge into every cluster.
fn filter(value: &Value) -> Value {
    json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": {"name": "f", "namespace": "shop", "uid": "u"},
        "spec": {"workloadSelector": {"labels": {"app": "cart"}}, "configPatches": [
            {"applyTo": "CLUSTER", "patch": {"operation": "MERGE", "value": value}}
        ]},
    })
}

fn good() -> Value {
    filter(&json!({"connect_timeout": "1s"}))
}

/// Envoy has no such field.
fn bad() -> Value {
    filter(&json!({"connect_timeoutt": "1s"}))
}

fn namespace(labels: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": labels}})
}

fn decide(snapshot: &[Value], policy: Policy, review: &Value) -> (Decision, Value) {
    let request = Request::read(review.to_string().as_bytes()).unwrap();
    let decision = request.decide(&builder(Overrides::default(), snapshot).snapshot(), &rules(), policy);
    let answer = decision.answer(&request);
    assert_eq!(answer["response"]["uid"], "3f0c");
    assert_eq!(answer["response"]["allowed"], !decision.denied());
    (decision, answer)
}

fn create(snapshot: &[Value], policy: Policy, filter: &Value) -> (Decision, Value) {
    decide(snapshot, policy, &review("CREATE", None, Some(filter)))
}

#[test]
fn an_error_denies_with_code_place_and_help() {
    let (decision, answer) = create(&[], ENFORCE, &bad());
    assert_eq!(decision.verdict, Verdict::Denied, "{answer:#}");
    let message = answer["response"]["status"]["message"].as_str().unwrap();
    assert!(message.contains(" error at spec.configPatches[0].patch.value.connect_timeoutt: "), "{message}");
    assert!(message.contains("; help: ") && message.contains("\n  EF"), "{message}");
    assert_eq!(answer["response"]["auditAnnotations"]["verdict"], "denied");
    assert!(!create(&[], ENFORCE, &good()).0.denied());
}

#[test]
fn modes_come_from_the_label_of_the_namespace() {
    for (word, verdict, expected) in [
        ("warn", Verdict::Warned, true),
        ("audit", Verdict::Warned, false),
        ("off", Verdict::Passed, false),
        ("enforce", Verdict::Denied, false),
    ] {
        let snapshot = [namespace(&json!({"envoyfilter.dev/admission": word}))];
        let warn = Policy { mode: if word == "enforce" { Mode::Warn } else { Mode::Enforce }, ..ENFORCE };
        let (decision, answer) = create(&snapshot, warn, &bad());
        assert_eq!(decision.verdict, verdict, "{word}: {answer:#}");
        let shown = decision.warnings.iter().any(|line| line.contains("connect_timeoutt"));
        assert_eq!(shown, expected, "{word}: {answer:#}");
        assert_eq!(decision.codes().is_empty(), word == "off");
    }
    let snapshot = [namespace(&json!({"envoyfilter.dev/admission": "stric"}))];
    let (decision, _) = create(&snapshot, ENFORCE, &bad());
    assert!(decision.denied() && decision.warnings[0].contains("\"stric\""), "{decision:?}");
}

#[test]
fn an_exemption_needs_a_reason_and_is_recorded() {
    let exempt = |reason: &str| {
        let mut filter = bad();
        filter["metadata"]["annotations"] = json!({"envoyfilter.dev/admission-exempt": reason});
        create(&[], ENFORCE, &filter)
    };
    let (decision, answer) = exempt("proxies have a patched Envoy, OPS-12");
    assert_eq!(decision.verdict, Verdict::Exempt);
    assert_eq!(answer["response"]["auditAnnotations"]["exempt"], "proxies have a patched Envoy, OPS-12");
    assert!(decision.warnings.iter().any(|line| line.contains("connect_timeoutt")), "{decision:?}");
    for blank in ["  ", "\u{200b}", " \u{2800}\u{3164} "] {
        let (decision, _) = exempt(blank);
        assert!(decision.denied() && decision.warnings[0].contains("gives no reason"), "{decision:?}");
    }
}

#[test]
fn an_update_is_judged_by_what_it_makes_worse() {
    let update = |old: &Value, new: &Value| decide(&[], ENFORCE, &review("UPDATE", Some(old), Some(new))).0;
    // Labels and finalizers may change, whatever the filter's state.
    let mut labelled = bad();
    labelled["metadata"]["labels"] = json!({"team": "a"});
    let passed = update(&bad(), &labelled);
    assert_eq!((passed.verdict, passed.warnings.len()), (Verdict::Passed, 0));
    // Existing problems stay and are reported.
    let mut more = bad();
    more["spec"]["priority"] = 5.into();
    let warned = update(&bad(), &more);
    assert_eq!(warned.verdict, Verdict::Warned);
    assert!(warned.warnings.iter().any(|line| line.contains("as before this update")), "{warned:?}");
    // New problems are denied.
    more["spec"]["configPatches"][0]["patch"]["value"]["lb_policyy"] = "RANDOM".into();
    let denied = update(&bad(), &more);
    assert!(denied.message.as_ref().is_some_and(|it| it.contains("lb_policyy") && !it.contains("connect_timeoutt")));
    assert!(update(&good(), &bad()).denied());
    assert!(!update(&bad(), &good()).denied());
}

/// Inserts a filter before or after the router.
pub(super) fn insertion(name: &str, own: &str, anchor: &str, operation: &str) -> Value {
    json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"workloadSelector": {"labels": {"app": "cart"}}, "configPatches": [{
            "applyTo": "HTTP_FILTER",
            "match": {"context": "SIDECAR_INBOUND", "listener": {"filterChain": {"filter": {
                "name": "envoy.filters.network.http_connection_manager", "subFilter": {"name": anchor}}}}},
            "patch": {"operation": operation, "value": {"name": own, "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer", "max_request_bytes": 9}}},
        }]},
    })
}

#[test]
fn deleting_an_anchor_is_reported_with_the_filter_that_needs_it() {
    let first = insertion("first", "shop.first", "envoy.filters.http.router", "INSERT_BEFORE");
    let mut second = insertion("second", "shop.second", "shop.first", "INSERT_BEFORE");
    second["spec"]["priority"] = 10.into();
    let snapshot = [first.clone(), second.clone()];
    let warning = Policy { deny_at: Severity::Warning, ..ENFORCE };
    let (decision, answer) = decide(&snapshot, warning, &review("DELETE", Some(&first), None));
    assert!(decision.denied(), "{answer:#}");
    let message = decision.message.unwrap();
    assert!(message.contains("EnvoyFilter shop/second"), "{message}");
    assert!(message.contains("EF215 warning in EnvoyFilter"), "{message}");
    let (decision, _) = decide(&snapshot, ENFORCE, &review("DELETE", Some(&first), None));
    assert_eq!((decision.verdict, decision.warnings.len()), (Verdict::Warned, 1), "{decision:?}");
    // In the other direction nothing is lost.
    let (decision, _) = decide(&snapshot, warning, &review("DELETE", Some(&second), None));
    assert_eq!(decision.verdict, Verdict::Allowed, "{decision:?}");
    // A deletion with its namespace is not denied.
    let mut ending = namespace(&json!({}));
    ending["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    let snapshot = [first.clone(), second, ending];
    let (decision, _) = decide(&snapshot, warning, &review("DELETE", Some(&first), None));
    assert_eq!(decision.verdict, Verdict::Passed);
}

#[test]
fn an_extension_that_no_running_proxy_has_is_an_error() {
    let filter = insertion("a", "shop.a", "envoy.filters.http.router", "INSERT_BEFORE");
    let request = Request::read(review("CREATE", None, Some(&filter)).to_string().as_bytes()).unwrap();
    let mut builder = builder(Overrides::default(), &[]);
    let mut decide = |extensions: &[&str]| {
        let names = extensions.iter().map(|&name| name.to_owned()).collect();
        builder.set_sampled([(ProxyKind::Sidecar, names)].into());
        request.decide(&builder.snapshot(), &rules(), ENFORCE)
    };
    assert!(!decide(&[]).denied());
    assert!(!decide(&["envoy.filters.http.buffer", "envoy.filters.http.router"]).denied());
    let denied = decide(&["envoy.filters.http.router"]);
    assert!(denied.message.is_some_and(|message| message.contains("EF121")));
}

#[test]
fn a_body_that_is_not_a_review_is_rejected_with_the_reason() {
    for (body, words) in [
        ("", "not an AdmissionReview"),
        ("{", "not an AdmissionReview"),
        ("[]", "not a JSON object"),
        (r#"{"kind":"Pod","apiVersion":"v1"}"#, "its kind is \"Pod\""),
        (r#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1"}"#, "admissionReviewVersions"),
        (r#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}"#, "has no `request`"),
        (r#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":[]}"#, "has no `request`"),
        (r#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{}}"#, "no `uid`"),
    ] {
        let said = Request::read(body.as_bytes()).unwrap_err().to_string();
        assert!(said.contains(words), "{body}: {said}");
    }
    let deep = "[".repeat(100_000);
    assert!(Request::read(deep.as_bytes()).is_err());
    let mut wrong = review("CREATE", None, Some(&good()));
    wrong["request"]["object"] = 5.into();
    assert!(Request::read(wrong.to_string().as_bytes()).unwrap_err().to_string().contains("not an object"));
    let mut wrong = review("CONNECT", None, Some(&good()));
    assert!(Request::read(wrong.to_string().as_bytes()).unwrap_err().to_string().contains("CONNECT"));
    wrong["request"]["resource"]["resource"] = "pods".into();
    let (decision, _) = decide(&[], ENFORCE, &wrong);
    assert_eq!(decision.verdict, Verdict::Passed);
    assert!(decision.warnings[0].contains("only EnvoyFilters"));
}

#[test]
fn objects_of_any_shape_are_answered() {
    for spec in [
        json!(null),
        json!(5),
        json!({"configPatches": {}}),
        json!({"configPatches": [null, 5, {"applyTo": 7}]}),
        json!({"workloadSelector": {"labels": {"a": 5}}, "configPatches": [{"applyTo": "NOTHING"}]}),
    ] {
        let mut filter = good();
        filter["spec"] = spec.clone();
        let (decision, answer) = create(&[], ENFORCE, &filter);
        assert!(decision.verdict != Verdict::Passed, "{spec}: {answer:#}");
    }
    let (decision, _) = create(&[], ENFORCE, &json!({}));
    assert!(decision.verdict != Verdict::Passed);
}

fn running(name: &str, app: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "labels": {"app": app}},
        "spec": {"containers": [{"name": "istio-proxy", "image": "istio/proxyv2:1.31.0", "args": ["proxy", "sidecar"]}]}})
}

#[test]
fn findings_that_later_objects_may_resolve_only_warn() {
    let snapshot = [running("till-1", "till")];
    let (decision, _) = create(&snapshot, ENFORCE, &good());
    let [line] = decision.warnings.as_slice() else { panic!("{decision:?}") };
    assert!(line.starts_with("EF201 error at spec.workloadSelector.labels.app: no workload in reach"), "{line}");
    assert!(line.contains("(unless created later)"), "{line}");
    assert_eq!(decision.verdict, Verdict::Warned);
    assert!(create(&[running("cart-1", "cart")], ENFORCE, &good()).0.warnings.is_empty());
    // An explicitly configured severity is used.
    let text = "severity: {EF201: error}";
    let file = Sources::default().add("config", text);
    let (documents, _) = yaml::documents(file, text);
    let strict = Rules::new(ALL.to_vec(), Config::read(&documents[0], ALL).0);
    let request = Request::read(review("CREATE", None, Some(&good())).to_string().as_bytes()).unwrap();
    let mut builder = builder(Overrides::default(), &snapshot);
    assert!(request.decide(&builder.snapshot(), &strict, ENFORCE).denied());
    assert!(!request.decide(&builder.snapshot(), &rules(), ENFORCE).denied());
}

/// Whatever else runs, a filter is judged by what it reaches, and labels that exist only in other namespaces are
/// reported.
#[test]
fn other_namespaces_matter_only_if_the_labels_match_there() {
    let elsewhere = |app: &str| {
        let mut pod = running("other-1", app);
        pod["metadata"]["namespace"] = "other".into();
        pod
    };
    let codes = |snapshot: &[Value]| create(snapshot, ENFORCE, &good()).0.codes();
    assert_eq!(codes(&[running("cart-1", "cart"), elsewhere("cart")]), [""; 0]);
    assert_eq!(codes(&[elsewhere("cart")]), ["EF202"]);
    assert_eq!(codes(&[running("till-1", "till"), elsewhere("cart")]), ["EF202"]);
    assert_eq!(codes(&[running("till-1", "till"), elsewhere("till")]), ["EF201"]);
    // A filter in the root namespace reaches them all.
    let mut root = good();
    root["metadata"]["namespace"] = "istio-system".into();
    assert_eq!(create(&[elsewhere("cart")], ENFORCE, &root).0.codes(), [""; 0]);
}

#[test]
fn at_the_deadline_unjudged_changes_are_not_denied() {
    let late = |objects: &[Value], policy: Policy, review: &Value, allow: bool| {
        let request = Request::read(review.to_string().as_bytes()).unwrap();
        let decision =
            request.late(&builder(Overrides::default(), objects).snapshot(), policy, allow, "too much to do");
        (decision.denied(), decision.verdict, decision.warnings.len())
    };
    let new = review("CREATE", None, Some(&bad()));
    let warn = Policy { mode: Mode::Warn, ..ENFORCE };
    let audit = Policy { mode: Mode::Audit, ..ENFORCE };
    assert_eq!(late(&[], ENFORCE, &new, true), (false, Verdict::Late, 1));
    assert_eq!(late(&[], ENFORCE, &new, false), (true, Verdict::Late, 0));
    assert_eq!(late(&[], warn, &new, false), (false, Verdict::Late, 1));
    assert_eq!(late(&[], audit, &new, false), (false, Verdict::Late, 0));
    let off = [namespace(&json!({"envoyfilter.dev/admission": "off"}))];
    assert_eq!(late(&off, ENFORCE, &new, false), (false, Verdict::Passed, 0));
    let same = review("UPDATE", Some(&bad()), Some(&bad()));
    assert_eq!(late(&[], ENFORCE, &same, false), (false, Verdict::Passed, 0));
    let mut exempt = bad();
    exempt["metadata"]["annotations"] = json!({"envoyfilter.dev/admission-exempt": "OPS-12"});
    let exempt = review("CREATE", None, Some(&exempt));
    assert_eq!(late(&[], ENFORCE, &exempt, false), (false, Verdict::Late, 1));
}

//! Hostile reviews and connections: their cost, and that others are not affected.

use super::{builder, review, rules};
use futures::future::join_all;
use kubectl_envoyfilter::admission::connections::Admit;
use kubectl_envoyfilter::admission::judge::{Asked, Rules, judge};
use kubectl_envoyfilter::admission::review::{Allowance, Decision, Mode, Policy, Request, UNITS, Undecided, Verdict};
use kubectl_envoyfilter::admission::run::beside;
use kubectl_envoyfilter::admission::server::{Limits, Reviewer, webhook};
use kubectl_envoyfilter::admission::snapshot::Overrides;
use kubectl_envoyfilter::budget::{self, Meter};
use kubectl_envoyfilter::lint::config::Config;
use kubectl_envoyfilter::lint::{Check, Context, Findings, Rule, RuleInfo};
use kubectl_envoyfilter::rules::ALL;
use kubectl_envoyfilter::source::Severity;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

const ENFORCE: Policy = Policy { mode: Mode::Enforce, deny_at: Severity::Error };
const WARN: Policy = Policy { mode: Mode::Warn, deny_at: Severity::Error };

fn filter(name: &str, patches: impl Iterator<Item = Value>) -> Value {
    json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"workloadSelector": {"labels": {"app": "cart"}}, "configPatches": patches.collect::<Vec<_>>()},
    })
}

fn merge(value: &Value) -> Value {
    json!({"applyTo": "CLUSTER", "patch": {"operation": "MERGE", "value": value}})
}

fn good() -> Value {
    filter("good", [merge(&json!({"connect_timeout": "1s"}))].into_iter())
}

/// Envoy has no such field.
fn bad() -> Value {
    filter("bad", [merge(&json!({"connect_timeoutt": "1s"}))].into_iter())
}

fn versions(expression: &str, number: usize) -> Value {
    let patch = |at: usize| {
        let mut patch = merge(&json!({"connect_timeout": "1s"}));
        patch["match"] = json!({"proxy": {"proxyVersion": format!("{expression}{at}")}});
        patch
    };
    filter("versions", (0..number).map(patch))
}

fn create(snapshot: &[Value], policy: Policy, filter: &Value) -> Decision {
    let request = Request::read(review("CREATE", None, Some(filter)).to_string().as_bytes()).unwrap();
    request.decide(&builder(Overrides::default(), snapshot).snapshot(), &rules(), policy)
}

/// Half a second and 10 MB for each expression with a compiler other than Go's.
#[test]
fn expressions_cost_what_they_cost_istiod() {
    let began = Instant::now();
    let judged = create(&[], ENFORCE, &versions(r"\w{200}", 20));
    assert!(!judged.codes().contains(&"EF904") && judged.verdict != Verdict::Late, "{judged:?}");
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    let heavy = versions(r"\pL{1000}", 25);
    let denied = create(&[], ENFORCE, &heavy);
    assert_eq!((denied.verdict, denied.codes()), (Verdict::Denied, vec!["EF904"]), "{denied:?}");
    assert!(denied.message.unwrap().contains("at most 20000"));
    let warned = create(&[], WARN, &heavy);
    assert_eq!((warned.verdict, warned.warnings.len()), (Verdict::Warned, 1), "{warned:?}");
}

/// An expression that Go rejects matches every version, here as in istiod.
#[test]
fn an_expression_that_go_rejects_is_reported() {
    let judged = create(&[], ENFORCE, &versions("(a{100}){11}", 1));
    assert!(judged.codes().contains(&"EF025"), "{judged:?}");
    assert!(!create(&[], ENFORCE, &versions("(a{100}){10}", 1)).codes().contains(&"EF025"));
}

/// 1.4 MB of `[1,1,…]` took 884 MB.
#[test]
fn many_small_values_are_refused_before_they_are_built() {
    let list: Vec<u8> = vec![1; 700_000];
    let large = filter("large", [merge(&json!({"metadata": {"filter_metadata": {"a": {"b": list}}}}))].into_iter());
    let review = review("CREATE", None, Some(&large)).to_string();
    let began = Instant::now();
    let request = Request::read(review.as_bytes()).unwrap();
    let decision = request.decide(&builder(Overrides::default(), &[]).snapshot(), &rules(), ENFORCE);
    assert_eq!((decision.verdict, decision.codes()), (Verdict::Denied, vec!["EF904"]));
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    // Nobody knows what a change of a stored one does; it may get a label, or become one that is judged.
    let update = |change: &dyn Fn(&mut Value)| {
        let mut new = large.clone();
        change(&mut new);
        let update = super::review("UPDATE", Some(&large), Some(&new)).to_string();
        let request = Request::read(update.as_bytes()).unwrap();
        request.decide(&builder(Overrides::default(), &[]).snapshot(), &rules(), ENFORCE).verdict
    };
    assert_eq!(update(&|new| new["spec"]["priority"] = 5.into()), Verdict::Denied);
    assert_eq!(update(&|new| new["metadata"]["labels"] = json!({"team": "shop"})), Verdict::Passed);
    assert_eq!(update(&|new| new["spec"] = good()["spec"].clone()), Verdict::Allowed);
}

/// A value with this many nested lists, as JSON: too deep for serde_json to write.
/// The bookkeeping of the API server does not make a filter too large, and no other change of it is a change.
/// Searching a text for secrets and reading a script of Lua is work like any other, proportional to the size.
#[test]
fn long_texts_are_judged_or_over_budget() {
    let snapshot = builder(Overrides::default(), &[]).snapshot();
    let cost = |part: &str, bytes: usize, script: bool| {
        let text = part.repeat(bytes / part.len());
        let value = if script {
            json!({"name": "a", "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua", "inline_code": format!("local t = {{{text}}}"),
            }})
        } else {
            json!({"no_such_field": text})
        };
        let patch = json!({"applyTo": if script { "HTTP_FILTER" } else { "CLUSTER" }, "patch": {
            "operation": if script { "INSERT_FIRST" } else { "MERGE" }, "value": value,
        }});
        let filter = filter("long", std::iter::once(patch));
        let asked = Asked { namespace: "shop", name: "long", old: None, new: Some(&filter) };
        let meter = Meter::new(1 << 40);
        meter.run(|| judge(&snapshot, &rules(), &asked)).unwrap();
        (1 << 40) - meter.left()
    };
    for (part, script) in [("password=hunter2 ", false), ("redis://u:pw12345@h ", false), ("{},", true)] {
        let (small, large) = (cost(part, 10_000, script), cost(part, 40_000, script));
        assert!(large - small >= 30_000 / 8, "{part}: {small}, then {large}");
        assert!(large < small * 6, "{part}: {small}, then {large}");
    }
}

#[test]
fn managed_fields_do_not_count() {
    let entry = |number: usize| {
        let fields: serde_json::Map<String, Value> = (0..300).map(|at| (format!("f:{at}"), json!({}))).collect();
        json!({"manager": format!("m-{number}"), "operation": "Update", "fieldsType": "FieldsV1", "fieldsV1": fields})
    };
    let managed: Vec<Value> = (0..60).map(entry).collect();
    for (mut filter, denied) in [(good(), false), (bad(), true)] {
        let policy = Policy { mode: Mode::Enforce, deny_at: Severity::Error };
        let plain = create(&[], policy, &filter);
        filter["metadata"]["managedFields"] = managed.clone().into();
        let decision = create(&[], policy, &filter);
        assert_eq!((decision.denied(), decision.codes()), (denied, plain.codes()));
    }
    // Beside it, too many values of the filter itself are too many.
    let mut filter = good();
    filter["metadata"]["managedFields"] = managed.into();
    filter["spec"]["more"] = vec![1; 10_000].into();
    let decision = create(&[], Policy { mode: Mode::Enforce, deny_at: Severity::Error }, &filter);
    assert_eq!(decision.codes(), ["EF904"]);
}

fn deep(levels: usize) -> String {
    let filter = filter("deep", [merge(&json!({"metadata": {"filter_metadata": {"a": {"b": "DEEP"}}}}))].into_iter());
    let value = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    review("CREATE", None, Some(&filter)).to_string().replace("\"DEEP\"", &value)
}

/// 118 levels were once answered with status 400, and then admitted.
#[test]
fn any_depth_gets_an_answer() {
    let limits = Limits { deadline: Duration::from_secs(20), ..Limits::default() };
    let (runtime, reviewer) = reviewer(limits, rules());
    for (levels, allowed) in [(10, true), (118, true), (500, true), (950, true), (1_500, false), (9_000, false)] {
        let answer = runtime.block_on(reviewer.review(deep(levels).into(), None)).unwrap();
        assert_eq!(answer["response"]["allowed"], allowed, "{levels}: {answer}");
        assert_eq!(answer.to_string().contains("EF904"), !allowed, "{levels}: {answer}");
    }
    // A stored one does not affect others.
    let stored: Value = json!({"metadata": {"name": "deep", "namespace": "shop"}, "spec": {"configPatches": []}});
    assert!(create(&[stored], ENFORCE, &bad()).denied());
}

/// The size of one filter does not decide whether another one is judged.
#[test]
fn large_neighbors_do_not_change_the_verdict() {
    let many = |name: &str, patches: usize| {
        let mut filter = filter(name, (0..patches).map(|at| merge(&json!({"alt_stat_name": format!("a{at}")}))));
        filter["metadata"]["name"] = name.into();
        filter
    };
    let neighbors = [many("a", 3_000), many("b", 3_000), many("c", 6_000), versions(r"\pL{1000}", 25)];
    let began = Instant::now();
    let decision = create(&neighbors, ENFORCE, &bad());
    assert!(decision.denied() && decision.codes() != ["EF904"], "{decision:?}");
    let decision = create(&neighbors, ENFORCE, &good());
    assert!(!decision.denied(), "{decision:?}");
    assert!(decision.warnings.iter().any(|line| line.contains("judged without ")), "{decision:?}");
    println!("beside 12,025 patches: {:?}", began.elapsed());
}

/// A budget that is too small with the neighbors is enough without them; one that is too small without them is a
/// verdict.
#[test]
fn a_spent_budget_is_a_verdict() {
    let snapshot = builder(Overrides::default(), &[good()]).snapshot();
    let request = Request::read(review("CREATE", None, Some(&bad())).to_string().as_bytes()).unwrap();
    let decide = |units| request.decide_within(&snapshot, &rules(), ENFORCE, &Allowance::new(units)).unwrap();
    let spent = decide(100);
    assert_eq!((spent.verdict, spent.codes()), (Verdict::Denied, vec!["EF904"]), "{spent:?}");
    // Neither does the size of the stored filter say what a change of it does.
    let update = Request::read(review("UPDATE", Some(&good()), Some(&bad())).to_string().as_bytes()).unwrap();
    let spent = update.decide_within(&snapshot, &rules(), ENFORCE, &Allowance::new(100)).unwrap();
    assert_eq!((spent.verdict, spent.codes()), (Verdict::Denied, vec!["EF904"]), "{spent:?}");
    let whole = decide(1 << 40);
    assert!(whole.denied() && !whole.codes().contains(&"EF904"), "{whole:?}");
    let warned = request.decide_within(&snapshot, &rules(), WARN, &Allowance::new(100)).unwrap();
    assert_eq!((warned.verdict, warned.codes()), (Verdict::Warned, vec!["EF904"]), "{warned:?}");
    let allowance = Allowance::new(1 << 40);
    allowance.cancel();
    let ended = request.decide_within(&snapshot, &rules(), ENFORCE, &allowance);
    assert!(matches!(ended, Err(Undecided::Cancelled)), "{ended:?}");
}

/// Real filters are far below the limits: 35 filters in the root namespace and 1,000 of teams.
#[test]
fn a_usual_mesh_is_far_below_the_budget() {
    let buffer = |name: &str, namespace: &str, app: &str| {
        let mut one = super::reviews::insertion(
            name,
            &format!("{namespace}.{name}"),
            "envoy.filters.http.router",
            "INSERT_BEFORE",
        );
        one["metadata"]["namespace"] = namespace.into();
        one["spec"]["workloadSelector"] = if app.is_empty() { Value::Null } else { json!({"labels": {"app": app}}) };
        one
    };
    let app = |number: usize| if number.is_multiple_of(3) { String::new() } else { format!("service-{number}") };
    let mut objects: Vec<Value> =
        (0..35).map(|number| buffer(&format!("mesh-{number}"), "istio-system", &app(number))).collect();
    let team =
        |number: usize| buffer(&format!("f-{number}"), &format!("team-{}", number / 20), &format!("service-{number}"));
    objects.extend((0..1_000).map(team));
    let snapshot = builder(Overrides::default(), &objects).snapshot();
    // A filter that reaches every workload is judged among those of the root namespace.
    let root = builder(Overrides::default(), &objects[..35]).snapshot();
    for (snapshot, asked, share) in
        [(&snapshot, &objects[1], 4), (&root, &objects[0], 2), (&snapshot, &objects[500], 8)]
    {
        let mut changed = asked.clone();
        changed["spec"]["configPatches"][0]["patch"]["value"]["typed_config"]["max_request_bytes"] = 10.into();
        let text = |key: &str| asked["metadata"][key].as_str().unwrap();
        let asked = Asked { namespace: text("namespace"), name: text("name"), old: Some(asked), new: Some(&changed) };
        let meter = Meter::new(1 << 40);
        let judged = meter.run(|| judge(snapshot, &rules(), &asked)).unwrap();
        let units = (1 << 40) - meter.left();
        println!("{}/{}: {units} units, {} remarks", asked.namespace, asked.name, judged.remarks.len());
        assert!(units < UNITS / share, "{}: {units} units", asked.name);
        assert_eq!(judged.left_out, 0);
    }
}

fn reviewer(limits: Limits, rules: Rules) -> (Runtime, Arc<Reviewer>) {
    let snapshot = builder(Overrides::default(), &[]).snapshot();
    (Runtime::new().unwrap(), Arc::new(Reviewer::new(limits, rules, snapshot, Arc::default())))
}

/// A rule that behaves according to the names of filters.
fn with_check(check: fn(&'static RuleInfo, &Context<'_>, &mut Findings)) -> Rules {
    let rule: &'static Rule = Box::leak(Box::new(Rule {
        info: RuleInfo { code: ALL[0].code, name: ALL[0].name, severity: ALL[0].severity, ..RuleInfo::BASE },
        check: Check::Facts(check),
    }));
    Rules::new(vec![rule], Config::default())
}

fn body(namespace: &str, name: &str) -> axum::body::Bytes {
    let mut filter = good();
    filter["metadata"] = json!({"name": name, "namespace": namespace});
    review("CREATE", None, Some(&filter)).to_string().into()
}

#[test]
fn a_panic_is_one_status_500_and_the_next_review() {
    let rules = with_check(|_, context, _| {
        assert!(context.filters.iter().all(|filter| filter.name != "evil"), "this rule has a bug");
    });
    let (runtime, reviewer) = reviewer(Limits::default(), rules);
    for round in 1..=3 {
        let (status, message) = runtime.block_on(reviewer.review(body("shop", "evil"), None)).unwrap_err();
        assert_eq!(status.as_u16(), 500, "{message}");
        assert!(!message.contains("bug"), "{message}");
        let answer = runtime.block_on(reviewer.review(body("shop", "fine"), None)).unwrap();
        assert_eq!(answer["response"]["allowed"], true);
        let metrics = reviewer.metrics.text().unwrap();
        assert!(metrics.contains(&format!("envoyfilter_admission_panics_total {round}")), "{metrics}");
    }
}

/// Namespaces that the cluster does not have are not remembered: anyone who reaches the server could invent them.
#[test]
fn invented_namespaces_are_not_counted_one_by_one() {
    let shop = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    let snapshot = builder(Overrides::default(), &[shop]).snapshot();
    let reviewer = Arc::new(Reviewer::new(Limits::default(), rules(), snapshot, Arc::default()));
    let runtime = Runtime::new().unwrap();
    let bad = |namespace: &str| {
        let mut filter = bad();
        filter["metadata"] = json!({"name": "bad", "namespace": namespace});
        let body: axum::body::Bytes = review("CREATE", None, Some(&filter)).to_string().into();
        let answer = runtime.block_on(reviewer.review(body, None)).unwrap();
        assert_eq!(answer["response"]["allowed"], false);
    };
    bad("shop");
    let text = || reviewer.metrics.text().unwrap();
    bad("nowhere");
    let lines = text().lines().count();
    for number in 0..20 {
        bad(&format!("x\u{202e}{number}{}", "y".repeat(10_000)));
    }
    assert_eq!(text().lines().count(), lines, "{}", text());
    let denied = |namespace: &str| format!("would_deny_total{{namespace=\"{namespace}\",mode=\"enforce\"}}");
    assert!(text().contains(&format!("{} 1\n", denied("shop"))), "{}", text());
    assert!(text().contains(&format!("{} 21\n", denied("OTHER"))), "{}", text());
}

/// Abandoned work ends: its permit is released, and another namespace never waits for all of it.
#[test]
fn late_work_ends_and_namespaces_take_turns() {
    let endless: fn(&'static RuleInfo, &Context<'_>, &mut Findings) = |_, context, _| {
        while context.filters.iter().any(|filter| filter.name == "slow") {
            budget::charge(1);
        }
    };
    let limits = Limits { deadline: Duration::from_millis(700), at_once: 2, units: u64::MAX / 4, ..Limits::default() };
    let (runtime, reviewer) = reviewer(limits, with_check(endless));
    runtime.block_on(async {
        let slow = join_all((0..8).map(|_| reviewer.review(body("busy", "slow"), None)));
        let fast = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let began = Instant::now();
            let answer = reviewer.review(body("calm", "fast"), None).await.unwrap();
            (began.elapsed(), answer)
        };
        let (slow, (took, answer)) = futures::join!(slow, fast);
        assert_eq!(answer["response"]["auditAnnotations"]["verdict"], "allowed", "{answer}");
        assert!(took < Duration::from_millis(500), "{took:?}");
        // Those that waited for reviews of their own namespace are denied: a namespace cannot make its own reviews late.
        let (mut own, mut crowded) = (0, 0);
        for answer in slow {
            let response = &answer.unwrap()["response"];
            match response["auditAnnotations"]["verdict"].as_str() {
                Some("denied") if response.to_string().contains("its namespace sent more reviews at once") => {
                    crowded += 1;
                }
                // Which of the two depends on how much of a core it got.
                Some("late") => own += 1,
                Some("denied") if response.to_string().contains("too large to judge") => own += 1,
                _ => panic!("{response}"),
            }
        }
        assert_eq!((own, crowded), (1, 7));
        // Eight were canceled; the permits are free.
        let began = Instant::now();
        let answers = join_all((0..4).map(|_| reviewer.review(body("busy", "fast"), None))).await;
        assert!(answers.iter().all(|it| it.as_ref().unwrap()["response"]["auditAnnotations"]["verdict"] == "allowed"));
        assert!(began.elapsed() < Duration::from_millis(600), "{:?}", began.elapsed());
    });
}

/// A filter that spends much of its budget and is not judged in time is denied: it is late for its own cost.
#[test]
fn what_is_late_for_its_own_cost_is_denied() {
    let slow: fn(&'static RuleInfo, &Context<'_>, &mut Findings) = |_, _, _| {
        budget::charge(500_000);
        loop {
            std::thread::sleep(Duration::from_millis(1));
            // Canceled work ends at a charge.
            budget::charge(100);
        }
    };
    // Work that no budget counts.
    let busy: fn(&'static RuleInfo, &Context<'_>, &mut Findings) = |_, _, _| {
        loop {
            let mut sum = 0_u64;
            (0..100_000).for_each(|one| sum = std::hint::black_box(sum.wrapping_add(one)));
            budget::charge(1);
        }
    };
    let verdict_of_busy = if cfg!(target_os = "linux") { "denied" } else { "late" };
    for (check, deadline, units, verdict) in [
        (slow, 200, 1_000_000, "denied"),
        (slow, 200, 1_000_000_000, "late"),
        (busy, 1_000, 1_000_000_000, verdict_of_busy),
    ] {
        let limits = Limits { deadline: Duration::from_millis(deadline), units, ..Limits::default() };
        let (runtime, reviewer) = reviewer(limits, with_check(check));
        let judge = || runtime.block_on(reviewer.review(body("shop", "slow"), None)).unwrap();
        let expected = |answer: &Value| answer["response"]["auditAnnotations"]["verdict"] == verdict;
        let mut answer = judge();
        // Beside other tests it may get too little of a core to begin in time, or to have worked for long.
        for _ in 0..4 {
            if expected(&answer) {
                break;
            }
            answer = judge();
        }
        assert!(expected(&answer), "not {verdict}: {answer}");
    }
}

/// A server with few connections and small bodies.
fn served(most: usize) -> (Runtime, SocketAddr, Arc<Reviewer>) {
    let limits = Limits { connections: most, max_bytes: 10_000, ..Limits::default() };
    let (runtime, reviewer) = reviewer(limits, rules());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let (router, connections) = (webhook(Arc::clone(&reviewer)), Arc::clone(&reviewer.connections));
    runtime.spawn(async move {
        let acceptor = Admit::new(connections, axum_server::accept::DefaultAcceptor::new());
        let server = axum_server::from_tcp(listener).unwrap().acceptor(acceptor);
        server.serve(router.into_make_service_with_connect_info::<SocketAddr>()).await.unwrap();
    });
    (runtime, address, reviewer)
}

fn ask(address: SocketAddr) -> (String, TcpStream) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let body = body("shop", "good");
    write!(stream, "POST /validate HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.len()).unwrap();
    stream.write_all(&body).unwrap();
    let mut bytes = [0; 4096];
    let length = stream.read(&mut bytes).unwrap();
    (String::from_utf8_lossy(&bytes[..length]).into_owned(), stream)
}

#[test]
fn idle_connections_make_room() {
    let (_runtime, address, reviewer) = served(16);
    let _idle: Vec<TcpStream> = (0..200).map(|_| TcpStream::connect(address).unwrap()).collect();
    // Several threads accept them, in any order.
    std::thread::sleep(Duration::from_millis(500));
    for _ in 0..20 {
        let (answer, _open) = ask(address);
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("\"allowed\":true"), "{answer}");
    }
    assert!(reviewer.connections.len() <= 16, "{}", reviewer.connections.len());
    // The connection of an active client is kept while new ones arrive.
    let (_, mut kept) = ask(address);
    let _more: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(address).unwrap()).collect();
    std::thread::sleep(Duration::from_millis(200));
    let body = body("shop", "again");
    write!(kept, "POST /validate HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.len()).unwrap();
    kept.write_all(&body).unwrap();
    let mut byte = [0];
    assert_eq!(kept.read(&mut byte).unwrap(), 1);
}

#[test]
#[ignore = "waits for time limits: cargo test --test it in_full -- --ignored"]
fn an_idle_connection_is_closed_in_full() {
    let (_runtime, address, reviewer) = served(16);
    let mut silent = TcpStream::connect(address).unwrap();
    silent.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    silent.write_all(b"POST /validate HTTP/1.1\r\nHost: ").unwrap();
    let began = Instant::now();
    let mut rest = Vec::new();
    let _ = silent.read_to_end(&mut rest);
    let took = began.elapsed();
    assert!(took > Duration::from_secs(8) && took < Duration::from_secs(15), "{took:?}");
    std::thread::sleep(Duration::from_millis(200));
    assert!(reviewer.connections.is_empty());
}

/// Slow bodies take no room from others: eight of the largest fit.
#[test]
fn slow_bodies_make_room() {
    let (_runtime, address, _reviewer) = served(64);
    let slow: Vec<TcpStream> = (0..20)
        .map(|_| {
            let mut stream = TcpStream::connect(address).unwrap();
            write!(stream, "POST /validate HTTP/1.1\r\nHost: x\r\nContent-Length: 10000\r\n\r\n").unwrap();
            stream.write_all(&[b' '; 9_990]).unwrap();
            stream
        })
        .collect();
    std::thread::sleep(Duration::from_millis(300));
    let began = Instant::now();
    let (answer, _) = ask(address);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    // Twelve make room for eight; several threads read them, in any order, and the review may need the room of one more.
    let mut cut = 0;
    let mut waiting: Vec<&TcpStream> = slow.iter().collect();
    while cut < 12 {
        assert!(began.elapsed() < Duration::from_secs(20), "{cut} of {}", slow.len());
        waiting.retain(|&(mut stream)| {
            stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
            let mut bytes = [0; 1024];
            let Ok(length) = stream.read(&mut bytes) else { return true };
            let said = String::from_utf8_lossy(&bytes[..length]);
            assert!(said.starts_with("HTTP/1.1 503 "), "{said}");
            cut += 1;
            false
        });
    }
    assert!(cut <= 13, "{cut}");
}

/// A frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u32, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), content].concat()
}

/// Frames of HTTP/2 that cost their sender little: reviews are answered while several connections send them.
#[test]
fn floods_of_http2_frames_do_not_stop_reviews() {
    const HEADERS: [u8; 2] = [1, 4];
    type Flood<'f> = (&'f str, &'f (dyn Fn(u32) -> Vec<u8> + Sync));
    // `:method: POST`, `:scheme: http`, `:path: /validate`, `:authority: x`
    let request: &[u8] = b"\x83\x86\x04\x09/validate\x01\x01x";
    let open = |stream: u32| frame(HEADERS[0], HEADERS[1], stream, request);
    let floods: [Flood<'_>; 9] = [
        ("streams that are reset at once", &|stream| [open(stream), frame(3, 0, stream, &[0, 0, 0, 8])].concat()),
        ("open streams", &|stream| open(stream)),
        ("bodies that are no reviews", &|stream| [open(stream), frame(0, 1, stream, b"{}")].concat()),
        ("headers without end", &|stream| match stream {
            1 => frame(1, 0, 1, request),
            _ => frame(9, 0, 1, &[b"\x00\x03x-a\x64".as_slice(), &[b'y'; 100]].concat()),
        }),
        ("empty parts of headers", &|stream| if stream == 1 { frame(1, 0, 1, request) } else { frame(9, 0, 1, b"") }),
        ("empty parts of a body", &|stream| if stream == 1 { open(1) } else { frame(0, 0, 1, b"") }),
        ("pings", &|_| frame(6, 0, 0, b"12345678")),
        ("settings", &|_| frame(4, 0, 0, &[0, 4, 0, 0, 255, 255])),
        ("windows", &|_| frame(8, 0, 0, &[0, 0, 0, 1])),
    ];
    let (runtime, reviewer) = reviewer(Limits { max_bytes: 10_000, ..Limits::default() }, rules());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let _context = runtime.enter();
    let handle = beside("reviews", listener, webhook(reviewer)).unwrap();
    for (name, of) in floods {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        let mut stream = TcpStream::connect(address).unwrap();
                        stream.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
                        let begin = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), frame(4, 0, 0, b"")].concat();
                        let mut sent = stream.write_all(&begin);
                        let mut number = 1;
                        while sent.is_ok() && !stop.load(Ordering::Relaxed) {
                            let frames: Vec<u8> = (0..50).flat_map(|at| of(number + 2 * at)).collect();
                            sent = stream.write_all(&frames);
                            number += 100;
                        }
                    }
                });
            }
            for _ in 0..2 {
                let began = Instant::now();
                let answer = std::panic::catch_unwind(|| ask(address).0).unwrap_or_default();
                let took = began.elapsed();
                if !answer.starts_with("HTTP/1.1 200 ") || took > Duration::from_secs(4) {
                    stop.store(true, Ordering::Relaxed);
                    panic!("{name}: {took:?}: {answer}");
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            stop.store(true, Ordering::Relaxed);
        });
    }
    handle.shutdown();
}

/// More simultaneous connections than the standard library's backlog: none of them has to retry after a second.
#[cfg(target_os = "linux")]
#[test]
fn a_burst_of_connections_waits_in_the_kernel() {
    use kubectl_envoyfilter::admission::run::listen;
    let most = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap();
    let most: usize = most.trim().parse().unwrap();
    let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    // Nobody accepts them.
    let began = Instant::now();
    let open: Vec<TcpStream> = (0..most.min(1_000))
        .map(|_| TcpStream::connect_timeout(&address, Duration::from_millis(900)).unwrap())
        .collect();
    assert!(began.elapsed() < Duration::from_secs(10), "{} in {:?}", open.len(), began.elapsed());
}

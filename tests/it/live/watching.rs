//! `watch`: present, new and cleared problems, what is not read, and the reports to other programs.

use super::mock::{Fault, Mock, World};
use super::standing::{REFUSAL, dump_with, mesh};
use super::{live, pod, shop};
use crate::support::{JsonSchema, go};
use kubectl_envoyfilter::load::yaml;
use kubectl_envoyfilter::source::Sources;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A running `watch`.
struct Watching {
    child: Child,
    lines: Receiver<Value>,
    seen: Vec<Value>,
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Short intervals, so that a test takes seconds.
pub(super) const QUICK: &[&str] =
    &["--dump-via", "pod-proxy", "--settle", "200ms", "--interval", "400ms", "--rate", "6000", "--proxy-timeout", "2s"];

impl Watching {
    fn start(mock: &Mock, arguments: &[&str]) -> Watching {
        let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
            .args(["watch", "-o", "json"])
            .args(QUICK)
            .args(arguments)
            .env("KUBECONFIG", mock.kubeconfig("shop"))
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let out = child.stdout.take().unwrap();
        let (sender, lines) = channel();
        thread::spawn(move || {
            let schema = JsonSchema::new("watch.json");
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let line: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                // An invalid line ends the test.
                assert_eq!(schema.errors(&line), "", "{line}");
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Watching { child, lines, seen: Vec::new() }
    }

    /// The next line that satisfies a condition.
    fn until(&mut self, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    self.seen.push(line.clone());
                    if is(&line) {
                        return line;
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let all: Vec<String> = self.seen.iter().map(Value::to_string).collect();
                    panic!("no line with {what}:\n{}", all.join("\n"));
                }
            }
        }
    }

    fn problem(&mut self, event: &str, problem: &str) -> Value {
        self.until(&format!("{event} {problem}"), |line| line["event"] == event && line["problem"] == problem)
    }

    /// Waits until every proxy was read once.
    fn round(&mut self) -> Value {
        self.until("a complete scope", |line| line["event"] == "scope" && line["complete"] == true)
    }

    /// Terminates it, as a cluster does.
    fn end(mut self) -> i32 {
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn get(port: u16, path: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

fn metric(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '{'])))?;
    line.rsplit(' ').next()?.parse().ok()
}

/// The scope counts what is reported, not everything that is watched.
#[test]
fn the_scope_of_one_namespace_counts_its_filters() {
    let mut world = mesh(&[dump_with("2s", None)]);
    for (namespace, app) in [("elsewhere", "cart"), ("istio-system", "cart"), ("istio-system", "nobody")] {
        world.add(json!({
            "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": {"name": format!("for-{app}"), "namespace": namespace},
            "spec": {"workloadSelector": {"labels": {"app": app}}, "configPatches": []},
        }));
    }
    let mock = world.start();
    for (arguments, filters) in [(&["-n", "shop"][..], 2), (&["-n", "elsewhere"], 1), (&["-A"], 4)] {
        let said = live(&mock, &[&["watch", "--once", "-o", "json"], QUICK, arguments].concat());
        let mut lines = said.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let scope = lines.rfind(|line| line["scope"].is_object()).unwrap_or_else(|| panic!("{}", said.err));
        assert_eq!(scope["scope"]["filters"], filters, "{arguments:?}: {scope}");
    }
}

/// With `-n`, problems of other namespaces are neither reported nor counted; those that other EnvoyFilters cause there are.
#[test]
fn a_watch_of_one_namespace_is_about_that_one() {
    let mut world = mesh(&[dump_with("10s", None)]);
    world.add(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "quiet"}}));
    world.add(json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": {"name": "of-root", "namespace": "istio-system", "creationTimestamp": "2026-11-20T08:00:00Z"},
        "spec": {"workloadSelector": {"labels": {"app": "cart"}}, "configPatches": [{
            "applyTo": "CLUSTER", "match": {"cluster": {"name": "nothing"}},
            "patch": {"operation": "MERGE", "value": {"connect_timeout": "7s"}},
        }]},
    }));
    let mock = world.start();
    let ask = |namespace: &str| {
        let said = live(&mock, &[&["watch", "--once", "-o", "json", "-n", namespace], QUICK].concat());
        let lines = said.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let problems = lines.filter(|line| line["problem"].is_string());
        let names: BTreeSet<String> = problems.map(|line| line["name"].as_str().unwrap().to_owned()).collect();
        (said.code, names)
    };
    let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<String>>();
    assert_eq!(ask("quiet"), (0, named(&[])));
    assert_eq!(ask("shop"), (1, named(&["of-root", "timeout"])));
}

#[test]
fn new_and_cleared_problems_are_reported_with_metrics_and_events() {
    let mock = mesh(&[dump_with("2s", None), dump_with("10s", Some(REFUSAL))]).start();
    let port = free_port();
    let address = format!("127.0.0.1:{port}");
    let options = ["--metrics-address", address.as_str(), "--events", "--replica", "first"];
    let mut watching = Watching::start(&mock, &options);
    let scope = watching.round();
    assert_eq!(scope["scope"]["proxies"], json!({"read": 2, "of": 2, "pods": 2}), "{scope}");
    let present: BTreeSet<String> = watching
        .seen
        .iter()
        .filter(|line| line["event"] != "scope")
        .map(|line| format!("{} {} {}", line["event"], line["problem"], line["name"]))
        .collect();
    assert!(present.contains(r#""present" "rejected" "timeout""#), "{present:?}");
    assert!(present.contains(r#""present" "replicas-differ" "timeout""#), "{present:?}");
    assert!(!present.iter().any(|line| line.starts_with("\"added\"")), "{present:?}");
    let rejected = watching.seen.iter().find(|line| line["problem"] == "rejected").unwrap();
    assert_eq!(rejected["workload"], "deployment/cart");
    assert!(rejected["message"].as_str().unwrap().contains("value must be greater than 0s"), "{rejected}");

    // A moment later it is fixed.
    mock.change(|world| world.show("shop/cart-2", dump_with("2s", None)));
    watching.problem("cleared", "rejected");
    watching
        .until("cleared replicas-differ", |line| line["event"] == "cleared" && line["problem"] == "replicas-differ");
    // Both have the same problem.
    mock.change(|world| {
        world.show("shop/cart-1", dump_with("7s", None));
        world.show("shop/cart-2", dump_with("7s", None));
    });
    let line = watching.problem("added", "not-in-effect");
    assert!(line["message"].as_str().unwrap().contains("7s"), "{line}");
    // A filter that selects nothing and has a wrong value.
    mock.change(|world| {
        world.store(json!({
            "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": {"name": "lonely", "namespace": "shop", "creationTimestamp": "2026-11-20T08:00:00Z"},
            "spec": {"workloadSelector": {"labels": {"app": "nobody"}}, "configPatches": [
                {"applyTo": "CLUSTER", "patch": {"operation": "MERGE", "value": {"connect_timeout": "soon"}}},
            ]},
        }));
    });
    assert_eq!(watching.problem("added", "selects-nothing")["name"], "lonely");
    let place = "error at spec.configPatches[0].patch.value.connect_timeout: ";
    watching.until("a wrong value", |line| {
        line["problem"] == "finding" && line["message"].as_str().is_some_and(|text| text.starts_with(place))
    });
    mock.change(|world| world.remove("EnvoyFilter", "lonely"));
    watching.problem("cleared", "selects-nothing");

    thread::sleep(Duration::from_millis(400));
    let text = get(port, "/metrics");
    for (name, want) in [
        ("envoyfilter_watch_filters", 1.0),
        ("envoyfilter_watch_proxies", 2.0),
        ("envoyfilter_watch_proxies_read", 2.0),
        ("envoyfilter_watch_proxies_unread", 0.0),
        ("envoyfilter_watch_shards", 1.0),
        ("envoyfilter_watch_problems{problem=\"not-in-effect\",namespace=\"shop\",name=\"timeout\"}", 1.0),
        ("envoyfilter_watch_problems{problem=\"rejected\",namespace=\"\",name=\"\"}", 0.0),
    ] {
        let found = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse::<f64>().ok());
        assert_eq!(found, Some(want), "{name}: {text}");
    }
    assert!(metric(&text, "envoyfilter_watch_reads_total").is_some_and(|reads| reads >= 1.0), "{text}");
    assert!(get(port, "/readyz").contains("\r\n\r\nok\n"));
    let events = mock.objects("Event");
    let reasons: BTreeSet<&str> = events.iter().filter_map(|event| event["reason"].as_str()).collect();
    for reason in ["UpdateRejected", "ReplicasDiffer", "NotInEffect", "SelectsNothing", "Resolved"] {
        assert!(reasons.contains(reason), "{reason}: {reasons:?}");
    }
    let event = events.iter().find(|event| event["reason"] == "NotInEffect").unwrap();
    assert_eq!(
        event["involvedObject"],
        json!({"apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter", "namespace": "shop",
            "name": "timeout", "uid": "u"})
    );
    assert_eq!((&event["type"], &event["metadata"]["namespace"]), (&json!("Warning"), &json!("shop")));
    let number = events.len();
    assert_eq!(watching.end(), 0);

    // After a restart nothing is new, and Events are reused.
    let mut watching = Watching::start(&mock, &options);
    watching.round();
    let news: Vec<&Value> = watching.seen.iter().filter(|line| line["event"] == "added").collect();
    assert!(news.is_empty(), "{news:?}");
    assert!(watching.seen.iter().any(|line| line["event"] == "present" && line["problem"] == "not-in-effect"));
    thread::sleep(Duration::from_millis(300));
    let events = mock.objects("Event");
    assert_eq!(events.len(), number);
    // A persisting problem is the same Event with a higher count.
    let event = events.iter().find(|event| event["reason"] == "NotInEffect").unwrap();
    assert!(event["count"].as_u64() >= Some(2), "{event}");
}

/// The first round of a watch finds what `status` reports for every replica.
#[test]
fn the_first_round_is_what_status_says() {
    for world in [shop(), mesh(&[dump_with("10s", Some(REFUSAL)), dump_with("10s", None)])] {
        let mock = world.start();
        let said = live(&mock, &["status", "-A", "--all-replicas", "-o", "json", "--dump-via", "pod-proxy"]);
        let status: Value = serde_json::from_str(&said.out).unwrap();
        let mut want = BTreeSet::new();
        for one in status["wrong"].as_array().unwrap() {
            for reason in one["reasons"].as_array().unwrap() {
                let patch = reason.as_str().unwrap().split_once(": ").map(|(patch, _)| patch.to_owned());
                let patch = patch.filter(|patch| patch.starts_with("patch "));
                want.insert((one["filter"].to_string(), one["workload"].to_string(), patch.unwrap_or_default()));
            }
        }
        let said = live(&mock, &[&["watch", "--once", "-o", "json"], QUICK].concat());
        let mut found = BTreeSet::new();
        for line in said.out.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let problem = line["problem"].as_str().unwrap_or_default();
            if ["rejected", "not-in-effect", "partly-in-effect", "no-effect", "selects-nothing"].contains(&problem) {
                let workload = line.get("workload").map_or("\"-\"".to_owned(), Value::to_string);
                let patch = line["patch"].as_u64().map(|patch| format!("patch {patch}")).unwrap_or_default();
                found.insert((line["name"].to_string(), workload, patch));
            }
        }
        assert_eq!(found, want, "{}", said.out);
        assert!(!want.is_empty());
        assert_eq!(said.code, 1, "{}", said.err);
    }
}

#[test]
fn unreadable_proxies_are_reported_and_not_an_all_clear() {
    let hang = "/api/v1/namespaces/shop/pods/cart-2:15000";
    let mock = mesh(&[dump_with("2s", None), dump_with("2s", None)]).fault(hang, Fault::Hang, 99).start();
    let mut watching = Watching::start(&mock, &[]);
    let scope = watching.round();
    assert_eq!(scope["scope"]["proxies"], json!({"read": 1, "of": 2, "pods": 2}), "{scope}");
    assert!(scope["scope"]["unread"][0]["message"].as_str().unwrap().starts_with("no config dump of 1 proxy:"));
    let unread = watching.seen.iter().find(|line| line["problem"] == "unread").unwrap();
    assert!(unread["message"].as_str().unwrap().contains("within 2 s"), "{unread}");
    mock.change(World::heal);
    watching.problem("cleared", "unread");
    drop(watching);
    let mock = mesh(&[dump_with("2s", None)]).fault("/api/v1/pods", Fault::Status(403, "no pods"), 999).start();
    let said = live(&mock, &[&["watch", "--once"], QUICK].concat());
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
    assert!(said.out.contains("cannot watch Pod: no pods"), "{}", said.out);
    assert!(!said.out.contains("selects no proxy"), "{}", said.out);
    let said = live(&mock, &["watch", "--capture", "x"]);
    assert_eq!(said.code, 2, "{}", said.err);
}

/// Two replicas read every proxy once between them, and a single one takes over.
#[test]
#[ignore = "waits for time limits: cargo test --test it in_full -- --ignored"]
fn replicas_share_the_proxies_and_take_over_in_full() {
    let mut world = mesh(&[]);
    for app in ["a", "b", "c", "d", "e", "f"] {
        world.add(pod("shop", app, 1));
        world = world.dump(&format!("shop/{app}-1"), dump_with("2s", None));
    }
    let mock = world.start();
    let options = |replica: &'static str| {
        ["--lease-prefix", "watch", "--shards", "2", "--lease-namespace", "shop", "--replica", replica]
    };
    let mut first = Watching::start(&mock, &options("one"));
    let scope = first.round();
    let mine = scope["scope"]["proxies"]["of"].as_u64().unwrap();
    assert!((1..6).contains(&mine), "{scope}");
    assert_eq!(scope["part"], "1 of 2 shards of the proxies");
    let mut second = Watching::start(&mock, &options("two"));
    let scope = second.round();
    assert_eq!(scope["scope"]["proxies"]["of"].as_u64().unwrap() + mine, 6, "{scope}");
    let holders = |mock: &Mock| -> BTreeSet<String> {
        mock.objects("Lease").iter().map(|lease| lease["spec"]["holderIdentity"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(holders(&mock), BTreeSet::from(["one".to_owned(), "two".to_owned()]));
    // It releases its Lease, so that the other one does not have to wait for its expiry.
    assert_eq!(first.end(), 0);
    let scope = second.until("all proxies", |line| line["scope"]["proxies"]["of"] == 6 && line["complete"] == true);
    assert_eq!(scope["part"], "2 of 2 shards of the proxies");
    assert!(!second.seen.iter().any(|line| line["event"] == "added"), "{:?}", second.seen);
}

/// A shard that another replica looks after for a while solves no problem, and nothing is reported twice when it comes back:
/// only what was solved meanwhile.
#[test]
#[ignore = "waits for time limits: cargo test --test it in_full -- --ignored"]
fn a_shard_that_changes_hands_solves_no_problem_in_full() {
    let mock = mesh(&[dump_with("9s", None)]).start();
    let options = ["--lease-prefix", "watch", "--shards", "1", "--lease-namespace", "shop", "--replica", "one"];
    let mut watching = Watching::start(&mock, &options);
    watching.round();
    let present = watching.seen.iter().filter(|line| line["event"] == "present" && line["name"] == "timeout").count();
    assert!(present > 0, "{:?}", watching.seen);
    let holder = |mock: &Mock| mock.objects("Lease")[0]["spec"]["holderIdentity"].clone();
    let give = |to: &str| {
        mock.change(|world| {
            let mut lease = world.find("Lease", "watch-0");
            lease["spec"]["holderIdentity"] = to.into();
            world.store(lease);
        });
    };
    // Longer than it takes to renew a Lease.
    let for_a_while = || thread::sleep(Duration::from_secs(7));
    for solved in [false, true] {
        let seen = watching.seen.len();
        give("two");
        for_a_while();
        if solved {
            mock.change(|world| world.show("shop/cart-1", dump_with("2s", None)));
        }
        give("");
        let end = Instant::now() + Duration::from_secs(20);
        while holder(&mock) != "one" {
            assert!(Instant::now() < end, "it does not come back");
            thread::sleep(Duration::from_millis(100));
        }
        if solved {
            watching.until("what was solved", |line| line["event"] == "cleared" && line["name"] == "timeout");
            continue;
        }
        for_a_while();
        while let Ok(line) = watching.lines.try_recv() {
            watching.seen.push(line);
        }
        let news: Vec<_> = watching.seen[seen..].iter().filter(|line| line["event"] != "scope").collect();
        assert!(news.is_empty(), "{news:?}");
    }
}

/// A replica that may hold no Lease reads no proxy, and does not call that complete.
#[test]
fn a_replica_without_a_lease_is_not_an_all_clear() {
    let leases = "/apis/coordination.k8s.io/v1/namespaces/shop/leases";
    let mock = mesh(&[dump_with("2s", None)]).fault(leases, Fault::Status(403, "no Leases for you"), 999).start();
    let options = ["--lease-prefix", "watch", "--shards", "1", "--lease-namespace", "shop", "--replica", "one"];
    let mut watching = Watching::start(&mock, &options);
    let scope = watching.until("a scope with the cause", |line| line["scope"]["unread"][0].is_object());
    assert_eq!(scope["complete"], false, "{scope}");
    assert_eq!(scope["part"], "0 of 1 shards of the proxies");
    assert!(scope["scope"]["unread"][0]["message"].as_str().unwrap().contains("no Leases for you"), "{scope}");
    assert!(watching.seen.iter().any(|line| line["problem"] == "unwatched"), "{:?}", watching.seen);
    assert!(watching.seen.iter().all(|line| line["complete"] != true), "{:?}", watching.seen);
    let said = live(&mock, &[&["watch", "--once"], &options[..], QUICK].concat());
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
    // As soon as it may, it reads them.
    mock.change(World::heal);
    let scope = watching.round();
    assert_eq!(scope["scope"]["proxies"]["of"].as_u64(), Some(1), "{scope}");
}

/// Memory of a process in MB, and its CPU time in seconds.
fn used(child: &Child) -> (f64, f64) {
    let read = |file: &str| std::fs::read_to_string(format!("/proc/{}/{file}", child.id())).unwrap();
    let status = read("status");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kib: f64 = peak.trim().trim_end_matches(" kB").trim().parse().unwrap();
    let stat = read("stat");
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    // Ticks of 10 ms, in user and system mode.
    let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
    (kib / 1024.0, ticks / 100.0)
}

/// 10,000 pods fit into 300 MB, and a watch of an unchanged mesh is almost idle.
#[test]
#[ignore = "measures: .ci/run"]
fn ten_thousand_pods_are_little_work() {
    let mut world = mesh(&[]);
    for number in 0..10_000 {
        world.add(pod("shop", &format!("app-{}", number / 10), number % 10));
    }
    world = world.dump("shop/app-0-0", dump_with("2s", None));
    let mock = world.start();
    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
        .args(["watch", "-o", "json", "--dump-via", "pod-proxy", "--rate", "1", "--interval", "1h"])
        .env("KUBECONFIG", mock.kubeconfig("shop"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(first["scope"]["proxies"]["of"], 10_000, "{first}");
    // The first evaluation of the EnvoyFilters.
    thread::sleep(Duration::from_secs(15));
    let (_, before) = used(&child);
    thread::sleep(Duration::from_secs(20));
    let (peak, after) = used(&child);
    child.kill().unwrap();
    child.wait().unwrap();
    let percent = (after - before) / 20.0 * 100.0;
    println!("10,000 pods: {peak:.0} MB, {percent:.1} % of a core while nothing changes");
    assert!(peak < 300.0 && percent < 5.0, "{peak:.0} MB, {percent:.1} %");
}

/// The results of Prometheus's query engine for expressions over recorded `/metrics`.
fn promql(scrapes: &[(u64, &str)], expressions: &[String], at: u64) -> Vec<Value> {
    let scrapes: Vec<Value> = scrapes.iter().map(|(at, text)| json!({"at": at, "text": text})).collect();
    let asked = json!({"scrapes": scrapes, "expressions": expressions, "at": at});
    let answers = go("promql", &[], &asked);
    let answers = answers.as_array().unwrap().clone();
    for (expression, answer) in expressions.iter().zip(&answers) {
        assert_eq!((&answer["error"], &answer["notes"]), (&Value::Null, &Value::Null), "{expression}");
    }
    answers
}

/// The body of `/metrics` of a watch of this mesh after its first round, and after another look.
fn recorded(world: World) -> [String; 2] {
    let mock = world.start();
    let port = free_port();
    let address = format!("127.0.0.1:{port}");
    let mut watching = Watching::start(&mock, &["--metrics-address", &address, "--events", "--replica", "first"]);
    watching.round();
    [(); 2].map(|()| {
        thread::sleep(Duration::from_millis(900));
        get(port, "/metrics").split_once("\r\n\r\n").unwrap().1.to_owned()
    })
}

/// Every expression of the dashboard and of the alerts, evaluated by Prometheus's own engine over metrics that a watch served.
#[test]
#[ignore = "needs Go: .ci/run"]
fn dashboard_and_alerts_read_recorded_metrics() {
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy");
    let board: Value =
        serde_json::from_slice(&fs::read(deploy.join("grafana/envoyfilter-watch.json")).unwrap()).unwrap();
    let panels: Vec<(String, String)> = board["panels"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|panel| panel["targets"].as_array().into_iter().flatten().map(move |target| (panel, target)))
        .map(|(panel, target)| (text_of(&panel["title"]), text_of(&target["expr"]).replace("$__rate_interval", "5m")))
        .collect();
    let alerts = fs::read_to_string(deploy.join("prometheus/envoyfilter-watch.rules.yaml")).unwrap();
    let file = Sources::default().add("rules", alerts.as_str());
    let alerts = yaml::documents(file, &alerts).0[0].to_json();
    let alerts: Vec<(String, String)> = alerts["groups"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|group| group["rules"].as_array().unwrap())
        .map(|rule| (text_of(&rule["alert"]), text_of(&rule["expr"])))
        .collect();
    assert!(panels.len() >= 15 && alerts.len() >= 8, "{} {}", panels.len(), alerts.len());
    let expressions: Vec<String> = panels.iter().chain(&alerts).map(|(_, expression)| expression.clone()).collect();

    let mut troubled = mesh(&[dump_with("10s", Some(REFUSAL)), dump_with("2s", None)]);
    // An unknown field.
    troubled.add(json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": {"name": "wrong", "namespace": "shop", "creationTimestamp": "2026-11-20T08:00:00Z"},
        "spec": {"configPatches": [{
            "applyTo": "CLUSTER", "match": {"context": "SIDECAR_OUTBOUND"},
            "patch": {"operation": "ADD", "value": {"name": "added", "connect_timeoutt": "2s"}},
        }]},
    }));
    let troubled = recorded(troubled);
    let healthy = recorded(mesh(&[dump_with("2s", None), dump_with("2s", None)]));
    // Every used metric is served.
    for expression in &expressions {
        for name in expression.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
            let served = |text: &str| {
                text.lines().any(|line| line.starts_with(&format!("{name}{{")) || line.starts_with(&format!("{name} ")))
            };
            assert!(
                !name.starts_with("envoyfilter_") || served(&troubled[1]),
                "{name} in {expression}: {}",
                troubled[1]
            );
        }
    }
    let answers = |recorded: &[String; 2]| -> BTreeMap<String, usize> {
        let scrapes = [(0, recorded[0].as_str()), (60, &recorded[0]), (120, &recorded[1]), (180, &recorded[1])];
        let answers = promql(&scrapes, &expressions, 180);
        let names = panels.iter().chain(&alerts).map(|(name, expression)| format!("{name}: {expression}"));
        names.zip(answers.iter().map(|answer| answer["series"].as_array().unwrap().len())).collect()
    };
    let fires = |answers: &BTreeMap<String, usize>| -> BTreeSet<String> {
        let firing = alerts.iter().filter(|(name, expression)| answers[&format!("{name}: {expression}")] > 0);
        firing.map(|(name, _)| name.clone()).collect()
    };
    let of_trouble = answers(&troubled);
    for (title, expression) in &panels {
        assert!(of_trouble[&format!("{title}: {expression}")] > 0, "the panel {title} is empty: {expression}");
    }
    let firing = fires(&of_trouble);
    for name in ["EnvoyFilterUpdateRejected", "EnvoyFilterReplicasDiffer", "EnvoyFilterFinding"] {
        assert!(firing.contains(name), "{name}: {firing:?}");
    }
    assert!(!firing.contains("EnvoyFilterWatchAbsent"), "{firing:?}");
    assert_eq!(fires(&answers(&healthy)), BTreeSet::new());
    // If nothing is served, that is reported too.
    let nothing = promql(&[(0, "# EOF\n")], &expressions, 60);
    let absent = alerts.iter().position(|(name, _)| name == "EnvoyFilterWatchAbsent").unwrap();
    assert_eq!(nothing[panels.len() + absent]["values"], json!(["1"]));
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

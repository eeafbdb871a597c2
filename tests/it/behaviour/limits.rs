//! What a sandbox must not do: open network sockets, see secrets of a dump, outlive the run; and its speed.

use super::{envoy, said};
use kubectl_envoyfilter::behaviour::{Coming, Host, Protocol, Request, Sandbox, Settings, Subject, Target, Wanted};
use kubectl_envoyfilter::engine::{self, MeshSettings, Options, Program};
use kubectl_envoyfilter::load::dump::{Dump, Identity};
use kubectl_envoyfilter::model::release::Release;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Runs something with a sandbox of the demo's proxy without filters.
fn with_sandbox(probes: bool, body: impl FnOnce(&mut Sandbox<'_>, Duration)) {
    let began = Instant::now();
    let settings = Settings { envoy: PathBuf::from(envoy()), probes, wasm: BTreeMap::new(), stubs: BTreeMap::new() };
    let coming = Sandbox::start(&settings).unwrap();
    let (dump, _) = kubectl_envoyfilter::demo::dump();
    with_dump(&dump.unwrap(), &[Request::get(Target::Inbound(8080), "/")], &settings, coming, |sandbox| {
        body(sandbox, began.elapsed());
    });
}

/// Runs something with a sandbox of a proxy without filters.
fn with_dump(
    dump: &Dump,
    requests: &[Request],
    settings: &Settings,
    coming: Coming,
    body: impl FnOnce(&mut Sandbox<'_>),
) {
    let host = Host::new().unwrap();
    let config = dump.config(&Identity::default()).unwrap();
    let program = Program::new(&[], Release::NEWEST);
    let plan = program.plan(&config.proxy, &MeshSettings::default());
    let options = Options::default();
    let patched = engine::run(&plan, &config, &options, &mut ());
    let subject = Subject { plan: &plan, config: &config, patched: &patched };
    let wanted = Wanted::of(requests, "cart");
    let mut sandbox = Sandbox::open(&host, coming, &subject, settings, &wanted, true).unwrap();
    body(&mut sandbox);
}

/// The inodes of the sockets that a process has.
#[cfg(target_os = "linux")]
fn sockets(process: u32) -> Vec<String> {
    let entries = fs::read_dir(format!("/proc/{process}/fd")).unwrap().flatten();
    let links = entries.filter_map(|entry| fs::read_link(entry.path()).ok()?.to_str().map(str::to_owned));
    links.filter_map(|link| Some(link.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())).collect()
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn no_socket_is_outside_of_the_folder() {
    with_sandbox(true, |sandbox, _| {
        sandbox.send(&Request::get(Target::Inbound(8080), "/")).unwrap();
        let process = sandbox.process().unwrap();
        let own = sockets(process);
        assert!(!own.is_empty());
        for table in ["tcp", "tcp6", "udp", "udp6"] {
            let text = fs::read_to_string(format!("/proc/{process}/net/{table}")).unwrap_or_default();
            for line in text.lines().skip(1) {
                let inode = line.split_whitespace().nth(9).unwrap_or_default();
                assert!(!own.iter().any(|one| one == inode), "{table}: {line}");
            }
        }
    });
}

/// If no folder can hold sockets, ports of 127.0.0.1 are used with the same results: a sidecar, a gateway with two
/// ports and TLS, a waypoint.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn without_sockets_loopback_ports_are_used() {
    let settings =
        Settings { envoy: PathBuf::from(envoy()), probes: true, wasm: BTreeMap::new(), stubs: BTreeMap::new() };
    let host = |target, host: &str| Request { host: Some(host.to_owned()), ..Request::get(target, "/") };
    let tcp = Request { protocol: Protocol::Tcp, body: b"hello".to_vec(), ..Request::get(Target::Inbound(9000), "") };
    let outbound = Target::Outbound("catalog.shop.svc.cluster.local".to_owned(), 7070);
    let waypoint = Target::Waypoint("cart.shop.svc.cluster.local".to_owned(), 80);
    for (proxy, requests) in [
        ("shop/base/cart", vec![Request::get(Target::Inbound(8080), "/"), tcp, Request::get(outbound, "/")]),
        (
            "shop/base/ingress",
            vec![
                host(Target::Gateway(8080), "shop.example.com"),
                Request { sni: Some("shop.example.com".to_owned()), ..host(Target::Gateway(8443), "shop.example.com") },
            ],
        ),
        ("ambient/base/waypoint", vec![Request::get(waypoint, "/")]),
    ] {
        let path = crate::support::testdata("reference").join(format!("{proxy}.json"));
        let (dump, _) = Dump::from_text(proxy, crate::support::text(&path));
        let dump = dump.unwrap();
        let mut answers = Vec::new();
        for loopback in [false, true] {
            let start = if loopback { Sandbox::start_on_loopback } else { Sandbox::start };
            with_dump(&dump, &requests, &settings, start(&settings).unwrap(), |sandbox| {
                let seen = requests.iter().map(|request| {
                    let exchange = sandbox.send(request).unwrap();
                    let path = exchange.path().unwrap().clone();
                    (exchange.client.status, exchange.client.body.text(), path.cluster, exchange.steps.len())
                });
                answers.push(seen.collect::<Vec<_>>());
                let process = sandbox.process().unwrap();
                let own = sockets(process);
                let table = fs::read_to_string(format!("/proc/{process}/net/tcp")).unwrap();
                let open: Vec<&str> = table
                    .lines()
                    .skip(1)
                    .filter_map(|line| {
                        let words: Vec<&str> = line.split_whitespace().collect();
                        own.iter().any(|inode| inode == words[9]).then_some(words[1])
                    })
                    .collect();
                assert_eq!(!open.is_empty(), loopback, "{proxy}: {open:?}");
                assert!(open.iter().all(|address| address.starts_with("0100007F:")), "{proxy}: {open:?}");
            });
        }
        assert_eq!(answers[0], answers[1], "{proxy}");
        assert!(answers[0].iter().all(|(.., cluster, _)| !cluster.is_empty()), "{proxy}: {answers:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn nothing_is_left_behind() {
    let (mut process, mut folder) = (0, PathBuf::new());
    with_sandbox(true, |sandbox, _| {
        process = sandbox.process().unwrap();
        folder = fs::read_link(format!("/proc/{process}/cwd")).unwrap();
    });
    assert!(!Path::new(&format!("/proc/{process}/exe")).exists());
    let name = folder.file_name().unwrap().to_string_lossy().into_owned();
    assert!(name.starts_with("envoyfilter-") && !folder.exists(), "{}", folder.display());
}

/// A dump with secrets in every place where istiod and users put them.
#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn secrets_of_a_dump_reach_neither_the_sandbox_nor_the_output() {
    const SECRET: &str = "LS0tLS1CRUdJTi1TRUNSRVQtS0VZLS0tLS0";
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = crate::support::text(&root.join("testdata/reference/shop/base/ingress.json"));
    let mut dump: serde_json::Value = serde_json::from_str(&text).unwrap();
    let inline =
        serde_json::json!([{"certificate_chain": {"inline_string": SECRET}, "private_key": {"inline_string": SECRET}}]);
    let mut inserted = 0;
    for section in dump["configs"].as_array_mut().unwrap() {
        for listener in section["dynamic_listeners"].as_array_mut().into_iter().flatten() {
            for chain in listener["active_state"]["listener"]["filter_chains"].as_array_mut().into_iter().flatten() {
                if let Some(common) = chain["transport_socket"]["typed_config"]["common_tls_context"].as_object_mut() {
                    common.remove("tls_certificate_sds_secret_configs");
                    common.insert("tls_certificates".to_owned(), inline.clone());
                    inserted += 1;
                }
            }
        }
    }
    assert!(inserted > 0);
    let secrets = serde_json::json!({"@type": "type.googleapis.com/envoy.admin.v3.SecretsConfigDump", "dynamic_active_secrets": [{
        "name": "default", "secret": {"@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret", "name": "default",
        "tls_certificate": {"private_key": {"inline_bytes": SECRET}}}}]});
    dump["configs"].as_array_mut().unwrap().push(secrets);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dump.json");
    fs::write(&file, dump.to_string()).unwrap();
    let answer = said(&[
        "try",
        "--dump",
        file.to_str().unwrap(),
        "-f",
        "testdata/behaviour/tls-sni/good.yaml",
        "--envoy",
        &envoy(),
        "https://shop.example.com/",
        "-o",
        "json",
        "--times",
    ]);
    assert_eq!(answer.code, 0, "{}", answer.err);
    assert!(answer.out.contains("\"status\": 200"), "{}", answer.out);
    assert!(!answer.out.contains(SECRET) && !answer.err.contains(SECRET));
    assert!(answer.out.contains("certificate or key, replaced"), "{}", answer.out);
}

/// Limits for a busy machine; an idle one needs a fraction.
#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn answers_come_soon() {
    with_sandbox(true, |sandbox, up| {
        let request = Request::get(Target::Inbound(8080), "/");
        sandbox.send(&request).unwrap();
        let mut times: Vec<Duration> = (0..200)
            .map(|_| {
                let began = Instant::now();
                sandbox.send(&request).unwrap();
                began.elapsed()
            })
            .collect();
        times.sort();
        let (fast, each) = (times[20], times[100]);
        eprintln!("up in {up:?}, {each:?} a request, {fast:?} at best, {:?} bytes", sandbox.peak_memory());
        assert!(up < Duration::from_secs(15) && each < Duration::from_millis(100), "{up:?} {each:?}");
        // Waiting for a timer of Envoy would show in each of them.
        assert!(fast < Duration::from_millis(3), "{fast:?}");
    });
}

/// A temporary folder whose path is too long for sockets is not used.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn a_deep_folder_for_temporary_files_does_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("x".repeat(120));
    fs::create_dir(&deep).unwrap();
    let ended = std::process::Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
        .args(["try", "--demo", "--envoy", &envoy(), "/"])
        .env("TMPDIR", &deep)
        .output()
        .unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

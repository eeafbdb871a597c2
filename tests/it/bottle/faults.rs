//! Failures of an istiod, which leave nothing behind.

use super::{istiod, open, topology};
use crate::support::until;
use kubectl_envoyfilter::model::release::Release;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Runs `dump` with a program in place of istiod.
fn dump(istiod: &Path, more: &[&str]) -> (i32, String) {
    let Output { status, stderr, .. } = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
        .args(["dump", "cart-1", "-n", "shop", "-f", "testdata/reference/shop/k8s.yaml", "--istiod"])
        .arg(istiod)
        .args(more)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    (status.code().unwrap(), String::from_utf8(stderr).unwrap())
}

fn script(folder: &Path, name: &str, text: &str) -> std::path::PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// A script that answers `version` like istiod and then does something else.
fn like_istiod(version: &str, then: &str) -> String {
    let said = format!(r#"{{"clientVersion": {{"version": "{version}"}}}}"#);
    format!("#!/bin/sh\nif [ \"$1\" = version ]; then echo '{said}'; exit 0; fi\n{then}\n")
}

/// Folders left by this program in the temporary folder.
fn left(base: &Path) -> Vec<String> {
    let names = fs::read_dir(base).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("envoyfilter-")).collect()
}

#[test]
fn a_program_that_is_not_istiod_is_reported_and_nothing_is_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let no_file = at.join("none");
    let plain = at.join("plain");
    fs::write(&plain, "text").unwrap();
    let mut elf = vec![0u8; 64];
    elf[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1]);
    elf[18] = if cfg!(target_arch = "aarch64") { 62 } else { 183 };
    let other = at.join("other");
    fs::write(&other, elf).unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).unwrap();
    let cases = [
        (no_file, "no such file", 2),
        (plain, "is not executable", 2),
        (at.to_owned(), "is not a file", 2),
        (
            other,
            if cfg!(target_arch = "aarch64") { "a program for Linux amd64" } else { "a program for Linux arm64" },
            2,
        ),
        (script(at, "no", "#!/bin/sh\necho hello\n"), "is not an istiod", 2),
        (script(at, "old", &like_istiod("1.21.6", "exit 0")), "the oldest supported release is 1.22", 2),
        (
            script(at, "exits", &like_istiod("1.31.0", "echo 'cannot go on' >&2; exit 7")),
            "istiod ended with exit code 7; its last words: cannot go on",
            3,
        ),
    ];
    for (path, words, code) in cases {
        let (got, said) = dump(&path, &[]);
        assert!(said.contains(words), "{}: {said}", path.display());
        assert_eq!(got, code, "{said}");
    }
    let mark = format!("sleep 61{}", std::process::id());
    let hangs = script(at, "hangs", &like_istiod("1.31.0", &format!("{mark} & wait")));
    let began = Instant::now();
    let (code, said) = dump(&hangs, &["--istiod-timeout", "1"]);
    assert!(said.contains("istiod was not ready within 1 s"), "{said}");
    assert!(said.contains("--istiod-timeout") && code == 3, "{said}");
    assert!(began.elapsed() < Duration::from_secs(20));
    let (code, said) = dump(&hangs, &["--istiod-sha256", "00"]);
    assert!(said.contains(", not the one of --istiod-sha256") && code == 2, "{said}");
    // One that ignores signals is killed, with its child.
    assert!(!running(&mark), "a child of the istiod that hangs is still there");
}

/// Whether a process has this command line.
fn running(command: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ").trim() == command
    })
}

/// Killed with SIGKILL: istiod, its child and the folder are removed.
#[test]
fn nothing_outlives_a_killed_run() {
    let folder = tempfile::tempdir().unwrap();
    let temporary = folder.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let mark = format!("sleep 60{}", std::process::id());
    let hangs = script(folder.path(), "hangs", &like_istiod("1.31.0", &format!("{mark} & wait")));
    let mut run = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
        .args(["dump", "cart-1", "-n", "shop", "-f", "testdata/reference/shop/k8s.yaml", "--istiod"])
        .arg(&hangs)
        .env("TMPDIR", &temporary)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let state = || format!("running: {}, left: {:?}", running(&mark), left(&temporary));
    until(|| running(&mark), state);
    assert!(!left(&temporary).is_empty());
    run.kill().unwrap();
    run.wait().unwrap();
    until(|| !running(&mark), state);
    until(|| left(&temporary).is_empty(), state);
}

/// The memory limit ends it, with a message.
#[test]
fn an_istiod_that_takes_too_much_memory_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let greedy = like_istiod("1.31.0", r#"exec awk 'BEGIN { while (1) held[i++] = i "................" }'"#);
    let greedy = script(folder.path(), "greedy", &greedy);
    let (code, said) = dump(&greedy, &["--istiod-memory", "50"]);
    assert!(said.contains("istiod ended with the memory limit of 50 MB"), "{said}");
    assert!(said.contains("--istiod-memory") && code == 3, "{said}");
}

/// Inodes of the sockets that processes hold.
fn sockets(processes: &[u32]) -> BTreeSet<String> {
    let links = processes.iter().flat_map(|process| {
        let descriptors = fs::read_dir(format!("/proc/{process}/fd"));
        descriptors.into_iter().flatten().flatten().filter_map(|entry| fs::read_link(entry.path()).ok())
    });
    let names = links.filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()));
    names.collect()
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn no_socket_is_outside_loopback_and_the_process_goes() {
    let istiod = istiod("1.31");
    let opened = open(&istiod, topology("shop"), Release::NEWEST);
    let process = opened.bottle.process_id().unwrap();
    let folder = opened.bottle.folder().to_owned();
    let own = sockets(&[process, std::process::id()]);
    let mut seen = 0;
    for (table, loopback) in [
        ("tcp", "0100007F:"),
        ("tcp6", "00000000000000000000000001000000:"),
        ("udp", "0100007F:"),
        ("udp6", "00000000000000000000000001000000:"),
    ] {
        let text = fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            if !own.contains(fields[9]) {
                continue;
            }
            seen += 1;
            let mapped = "0000000000000000FFFF00000100007F:";
            assert!(fields[1].starts_with(loopback) || fields[1].starts_with(mapped), "{table}: {line}");
        }
    }
    assert!(seen >= 4, "istiod listens on three ports and reads from one: {seen}");
    assert!(folder.exists());
    drop(opened);
    assert!(!folder.exists());
    assert!(!Path::new(&format!("/proc/{process}")).exists());
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn an_istiod_killed_midway_is_reported() {
    let istiod = istiod("1.31");
    let mut opened = open(&istiod, topology("shop"), Release::NEWEST);
    let process = opened.bottle.process_id().unwrap();
    assert!(Command::new("kill").args(["-KILL", &process.to_string()]).status().unwrap().success());
    let found = kubectl_envoyfilter::bottle::proxies::all(&opened.objects, &opened.common);
    let fault = opened.bottle.ask(&found[0].node, &Default::default()).unwrap_err();
    assert!(fault.to_string().starts_with("istiod ended with signal 9"), "{fault}");
}

/// A file of the shop with one additional object.
fn with(folder: &Path, more: &str) -> Vec<String> {
    let file = folder.join("more.yaml");
    fs::write(&file, more).unwrap();
    ["-f", "testdata/reference/shop/istio.yaml", "-f", file.to_str().unwrap()].map(str::to_owned).to_vec()
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn an_object_that_istiod_cannot_read_is_named() {
    let (istiod, folder) = (istiod("1.31"), tempfile::tempdir().unwrap());
    for (more, words) in [
        (
            "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: broken, namespace: shop}\n\
             spec: {hosts: [5]}\n",
            &["istiod cannot read VirtualService shop/broken: json: cannot unmarshal number"][..],
        ),
        (
            "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: one, namespace: shop}\n\
             spec: {host: a, trafficPolicy: {tls: {mode: NONE_SUCH}}}\n---\n\
             apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: two, namespace: pay}\n\
             spec: {host: b, trafficPolicy: {tls: {mode: 7.5}}}\n",
            &["DestinationRule shop/one: unknown value", "DestinationRule pay/two: "],
        ),
        (
            "apiVersion: v1\nkind: Service\nmetadata: {name: broken, namespace: shop}\n\
             spec: {selector: {app: x}, ports: [{name: http, port: eighty}]}\n",
            &["istiod cannot read Service shop/broken: json: cannot unmarshal string"],
        ),
    ] {
        let more = with(folder.path(), more);
        let more: Vec<&str> = more.iter().map(String::as_str).collect();
        let (code, said) = dump(&istiod, &more);
        assert_eq!(code, 3, "{said}");
        for words in words {
            assert!(said.contains(words), "{words}: {said}");
        }
        assert!(said.contains("help: fix it") && !said.contains("--istiod-timeout"), "{said}");
    }
}

/// As EF017 says: istiod does not recover from this panic.
#[test]
#[ignore = "needs Go: .ci/run"]
fn an_added_cluster_without_a_value_ends_istiod() {
    let (istiod, folder) = (istiod("1.31"), tempfile::tempdir().unwrap());
    let filter = "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {name: empty, namespace: shop}\n\
                  spec: {configPatches: [{applyTo: CLUSTER, match: {context: SIDECAR_OUTBOUND}, patch: {operation: INSERT_FIRST}}]}\n";
    let more = with(folder.path(), filter);
    let (code, said) = dump(&istiod, &more.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(
        code == 3 && said.contains("istiod ended") && said.contains("panic: interface conversion"),
        "{code} {said}"
    );
}

/// istiod's API of 1.30 has no such operation.
#[test]
#[ignore = "needs Go: .ci/run"]
fn a_filter_that_an_older_istiod_cannot_read_is_named() {
    let (istiod, folder) = (istiod("1.30"), tempfile::tempdir().unwrap());
    let filter = "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {name: newer, namespace: shop}\n\
                  spec:\n  configPatches:\n  - applyTo: CLUSTER\n    \
                  patch: {operation: MERGE_AND_REPLACE_LIST, value: {connect_timeout: 3s}}\n";
    let more = with(folder.path(), filter);
    let more: Vec<&str> = more.iter().map(String::as_str).collect();
    let (code, said) = dump(&istiod, &more);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("istiod cannot read EnvoyFilter shop/newer: unknown value"), "{said}");
}

/// A program in place of istiod that reports its ports, and waits for a signal before it becomes istiod.
fn waiting(folder: &Path, istiod: &Path, times: usize) -> std::path::PathBuf {
    let text = format!(
        "#!/bin/sh\nif [ \"$1\" = version ]; then exec {istiod} \"$@\"; fi\n\
         n=$(ls {at} | grep -c '^run')\n\
         if [ $n -lt {times} ]; then\n\
         echo \"$@\" > {at}/new; mv {at}/new {at}/run$n\n\
         while [ ! -e {at}/go$n ]; do sleep 0.05; done\nfi\nexec {istiod} \"$@\"\n",
        istiod = istiod.display(),
        at = folder.display(),
    );
    script(folder, "waiting", &text)
}

/// Another program takes a port between the moment it was free and the moment istiod listens.
#[test]
#[ignore = "needs Go: .ci/run"]
fn a_port_taken_meanwhile_is_replaced_by_another() {
    let istiod = istiod("1.31");
    for (times, code) in [(1, 0), (3, 3)] {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().to_owned();
        let waiting = waiting(&at, &istiod, times);
        let taker = std::thread::spawn(move || {
            let mut taken = Vec::new();
            for number in 0..times {
                let recorded = at.join(format!("run{number}"));
                until(|| recorded.exists(), || "istiod is not started".to_owned());
                let arguments = fs::read_to_string(&recorded).unwrap();
                let address = arguments.split("--grpcAddr ").nth(1).unwrap().split_whitespace().next().unwrap();
                taken.push(std::net::TcpListener::bind(address).unwrap());
                fs::write(at.join(format!("go{number}")), "").unwrap();
            }
            taken
        });
        let (got, said) = dump(&waiting, &[]);
        assert_eq!(got, code, "{said}");
        assert_eq!(said.contains("address already in use"), code == 3, "{said}");
        taker.join().unwrap();
    }
}

/// A full disk, as far as a test can simulate it: no file may contain a byte.
#[test]
#[ignore = "needs Go: .ci/run"]
fn a_full_disk_is_reported_and_nothing_is_left_behind() {
    let (istiod, folder) = (istiod("1.31"), tempfile::tempdir().unwrap());
    let run = |before: &str, temporary: &str, out: Stdio| {
        let done = Command::new("sh")
            .arg("-c")
            .arg(format!("{before} exec \"$0\" \"$@\""))
            .arg(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
            .args(["dump", "cart-1", "-n", "shop", "-f", "testdata/reference/shop/k8s.yaml", "--istiod"])
            .arg(&istiod)
            .env("TMPDIR", temporary)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stdout(out)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        (done.status.code(), String::from_utf8(done.stderr).unwrap())
    };
    let here = folder.path().to_str().unwrap();
    let (code, said) = run("trap '' XFSZ; ulimit -f 0;", here, Stdio::null());
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains(&format!("cannot write {here}/envoyfilter-")) && said.contains("TMPDIR"), "{said}");
    assert_eq!(left(folder.path()), Vec::<String>::new());
    let (code, said) = run("", "/proc", Stdio::null());
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("cannot make a folder in /proc") && said.contains("TMPDIR"), "{said}");
    // A full disk for the answer itself.
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let (code, said) = run("", here, full.into());
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("No space left on device"), "{said}");
    assert_eq!(left(folder.path()), Vec::<String>::new());
}

//! Speed and size on a real API server, printed with their budgets.
//!
//! `FIGURES_OF=PATH` measures the released build, as `.ci/run` does (tests/cluster/README.md); then the budgets hold. The API server,
//! etcd and the kubelet share the machine with the program. Rates and comparisons have a wider bound than their budget, since other
//! programs may run on it.

use super::{Cluster, large_dump};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The measurements of one run.
struct Took {
    seconds: f64,
    mebibytes: u64,
    code: i32,
    out: String,
}

/// The measured program, and whether it is the released build, which `FIGURES_OF` names.
fn program() -> (String, bool) {
    match std::env::var("FIGURES_OF") {
        Ok(path) => (path, true),
        Err(_) => (env!("CARGO_BIN_EXE_kubectl-envoyfilter").to_owned(), false),
    }
}

fn start(program: impl AsRef<OsStr>, kubeconfig: &Path, arguments: &[&str]) -> Child {
    let mut command = Command::new(program);
    command.args(arguments).env("KUBECONFIG", kubeconfig).stdin(Stdio::null()).stderr(Stdio::null());
    command.stdout(Stdio::piped()).spawn().unwrap()
}

fn measure(program: &str, kubeconfig: &Path, arguments: &[&str]) -> Took {
    let began = Instant::now();
    let mut child = start(program, kubeconfig, arguments);
    let mut stdout = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || std::io::read_to_string(&mut stdout).unwrap());
    let mut peak = 0;
    let code = loop {
        peak = peak.max(resident(child.id()));
        if let Some(status) = child.try_wait().unwrap() {
            break status.code().unwrap_or(-1);
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    Took { seconds: began.elapsed().as_secs_f64(), mebibytes: peak >> 10, code, out: reader.join().unwrap() }
}

fn mebibytes(took: &Took) -> f64 {
    f64::from(u32::try_from(took.mebibytes).unwrap())
}

/// The fastest of several runs.
fn best(program: &str, kubeconfig: &Path, arguments: &[&str]) -> Took {
    let runs = (0..5).map(|_| measure(program, kubeconfig, arguments));
    runs.min_by(|one, other| one.seconds.total_cmp(&other.seconds)).unwrap()
}

/// The peak memory of a process, in KiB.
fn resident(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// The CPU time of a process, in seconds.
fn processor(process: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    // After the name: its state is field 3, and the ticks are fields 14 and 15.
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: u32 = fields[11..13].iter().map(|field| field.parse::<u32>().unwrap()).sum();
    f64::from(ticks) / 100.0
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn speed_and_size_on_a_real_api_server() {
    const PODS: usize = 1_000;
    let cluster = Cluster::start();
    // 1.1 MB.
    let dump = large_dump(1_000_000);
    let path = cluster.folder.path().join("large.json");
    fs::write(&path, &dump).unwrap();
    let pod = |namespace: &str, workload: &str, number: usize| -> Value {
        let mut pod = cluster.pod(namespace, workload, number, "");
        pod["metadata"]["annotations"]["test/dump"] = path.to_str().unwrap().into();
        pod["metadata"]["labels"]["app"] = "cart".into();
        pod
    };
    cluster.shop("eleven", 0);
    cluster.shop("crowd", 0);
    cluster.create(&(0..11).map(|number| pod("eleven", &format!("w{number}"), number)).collect::<Vec<_>>());
    cluster.create(&(0..PODS - 11).map(|n| pod("crowd", &format!("w{}", n % 11), n)).collect::<Vec<_>>());
    let (program, released) = &program();
    let kubeconfig = cluster.kubeconfig("admin", "eleven");
    let build = if *released { "" } else { " (the build of the tests, no budget holds)" };
    println!("figures of {program}{build}; dumps of {} KiB", dump.len() >> 10);
    let within = |what: &str, figure: f64, bound: f64| {
        assert!(!released || figure <= bound, "{what}: {figure:.2} is more than {bound}");
    };

    let get = best(program, &kubeconfig, &["get", "-n", "eleven"]);
    assert!(get.code < 2 && get.out.contains("stamp-requests"), "{}", get.out);
    let kubectl = Command::new("kubectl").args(["version", "--client"]).output().is_ok();
    if kubectl {
        let theirs = best("kubectl", &kubeconfig, &["get", "envoyfilters", "-n", "eleven"]);
        assert_eq!(theirs.code, 0, "{}", theirs.out);
        println!(
            "get -n on 11 proxies: {:.2} s, kubectl get {:.2} s: {:.1} times (budget 1.2)",
            get.seconds,
            theirs.seconds,
            get.seconds / theirs.seconds
        );
    } else {
        println!("get -n on 11 proxies: {:.2} s (budget 1.2 times kubectl get, which is not here)", get.seconds);
    }
    let status = best(program, &kubeconfig, &["status", "-A", "-o", "json"]);
    assert!(status.code < 2, "{}", status.out);
    let scope: Value = serde_json::from_str(&status.out).unwrap();
    println!(
        "status -A on {PODS} pods of 22 workloads: {:.2} s (budget 1 s), {} MiB (budget 90), {}",
        status.seconds, status.mebibytes, scope["scope"]["proxies"]
    );
    within("seconds of status -A", status.seconds, 1.0);
    within("MiB of status -A", mebibytes(&status), 90.0);
    let all = measure(program, &kubeconfig, &["status", "-A", "--all-replicas", "-o", "json"]);
    assert!(all.code < 2, "{}", all.out);
    let scope: Value = serde_json::from_str(&all.out).unwrap();
    assert_eq!(scope["scope"]["proxies"]["read"], json!(PODS), "{}", scope["scope"]);
    let rate = |took: &Took| f64::from(u32::try_from(PODS).unwrap()) / took.seconds;
    println!(
        "status -A --all-replicas on {PODS} dumps: {:.0} a second (budget 120), {} MiB",
        rate(&all),
        all.mebibytes
    );
    within("seconds of status --all-replicas for 1,000 dumps", all.seconds, 20.0);
    within("MiB of status --all-replicas", mebibytes(&all), 128.0);
    let file = cluster.folder.path().join("mesh.tar.gz");
    // An unoptimized build takes a minute for all of them.
    let (dumps, of): (u32, &[&str]) = if *released { (1_000, &["-A"]) } else { (11, &["-n", "eleven"]) };
    let captured =
        measure(program, &kubeconfig, &[&["capture", "--all-replicas", file.to_str().unwrap()], of].concat());
    assert!(captured.code < 2, "{}", captured.out);
    assert!(captured.out.contains(&format!(" {dumps} config dumps")), "{}", captured.out);
    println!(
        "capture --all-replicas of {dumps} dumps: {:.1} s, {:.0} a second (budget 120), {} MiB, a file of {} KiB",
        captured.seconds,
        f64::from(dumps) / captured.seconds,
        captured.mebibytes,
        fs::metadata(&file).unwrap().len() >> 10
    );
    within("seconds of capture --all-replicas for 1,000 dumps", captured.seconds, 20.0);
    within("MiB of capture --all-replicas", mebibytes(&captured), 128.0);

    // The cost of a watch while nothing changes.
    let mut watch = start(program, &kubeconfig, &["get", "--watch", "-n", "eleven"]);
    // Changes before the start may be newer than what was shown, and are checked once more when proxies have them.
    std::thread::sleep(Duration::from_secs(16));
    let (began, before) = (Instant::now(), processor(watch.id()));
    std::thread::sleep(Duration::from_secs(20));
    let share = (processor(watch.id()) - before) / began.elapsed().as_secs_f64();
    assert!(watch.try_wait().unwrap().is_none(), "the watch has ended");
    watch.kill().unwrap();
    let said = watch.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&said.stdout).contains("stamp-requests"));
    println!("get --watch while nothing changes: {:.1} % of a core (budget 1)", share * 100.0);
    within("% of a core of get --watch", share * 100.0, 1.0);
}

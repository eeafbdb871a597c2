//! Probes change nothing: the same requests give the same answers and upstream requests with and without them.

use super::envoy;
use kubectl_envoyfilter::behaviour::{Error, Exchange, Host, Request, Sandbox, Settings, Subject, Target, Wanted};
use kubectl_envoyfilter::engine::{self, MeshSettings, Options, Program};
use kubectl_envoyfilter::load;
use kubectl_envoyfilter::load::dump::Identity;
use kubectl_envoyfilter::model::release::Release;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Minimum total number of requests.
const REQUESTS: usize = 1_000;

/// Published filters with Lua.
fn published() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["testdata/corpus", "testdata/seeds", "testdata/behaviour"] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        found.extend(load::files_named(&root, ".yaml").unwrap());
    }
    found.retain(|path| {
        let text = fs::read_to_string(path).unwrap_or_default();
        ["inlineCode", "inline_code", "source_code", "sourceCode"].iter().any(|word| text.contains(word))
    });
    found
}

/// The nth request: various methods, paths, header fields and bodies, deterministic.
fn request(number: usize) -> Request {
    let pick = |of: usize, from: &[&str]| from[(number / of) % from.len()].to_owned();
    let mut request =
        Request::get(Target::Inbound(8080), pick(1, &["/", "/a?b=c", "/admin", "/api/v1/x", "/%20", "/health"]));
    request.method = pick(2, &["GET", "POST", "GET", "PUT", "HEAD", "OPTIONS"]);
    let names = ["x-user", "authorization", "cookie", "user-agent", "x-forwarded-for", "origin", "content-type", "x-b"];
    for (index, name) in names.iter().enumerate() {
        if (number >> index) & 1 == 1 {
            let value =
                pick(3 + index, &["1", "Bearer abc", "a=b; c=d", "https://a.example", "application/json", "x, y"]);
            request.headers.push(((*name).to_owned(), value));
        }
    }
    if matches!(request.method.as_str(), "POST" | "PUT") {
        request.body = pick(5, &["", "{\"a\":1}", "plain", "a=b&c=d"]).into_bytes();
    }
    request
}

/// The comparable part of an exchange, without what differs from run to run.
fn comparable(exchange: &Exchange) -> String {
    // An answer that Envoy sends before it has read the whole body closes the connection; the order varies.
    let varying = ["date", "x-request-id", "x-envoy-upstream-service-time", "x-seen-at", "connection"];
    let fields = |fields: &[(String, String)]| {
        let kept = fields.iter().filter(|(name, _)| !varying.contains(&name.as_str()));
        kept.map(|(name, value)| format!("{name}: {value}\n")).collect::<String>()
    };
    let client = &exchange.client;
    let mut text =
        format!("{:?} {:?}\n{}{}\n", client.status, client.failure, fields(&client.headers), client.body.text());
    for call in exchange.upstream() {
        text.push_str(&format!("{} {}\n{}{}\n", call.method, call.path, fields(&call.headers), call.body.text()));
    }
    text
}

#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn requests_with_and_without_probes_are_the_same() {
    let envoy = PathBuf::from(envoy());
    let host = Host::new().unwrap();
    let (dump, _) = kubectl_envoyfilter::demo::dump();
    let dump = dump.unwrap();
    let config = dump.config(&Identity::default()).unwrap();
    let files = published();
    assert!(files.len() > 10, "{}", files.len());
    // Every file gets its share, and then some.
    let share = REQUESTS / files.len() * 3 + 10;
    let (mut sent, mut loaded, mut different) = (0, 0, Vec::new());
    for path in files {
        let mut read = load::read(std::slice::from_ref(&path), &load::Options::default());
        for filter in &mut read.inventory.envoy_filters {
            "istio-system".clone_into(&mut filter.namespace);
            filter.selector = None;
            filter.target_refs.clear();
        }
        let program = Program::new(&read.inventory.envoy_filters, Release::NEWEST);
        let plan = program.plan(&config.proxy, &MeshSettings::default());
        let options = Options::default();
        let patched = engine::run(&plan, &config, &options, &mut ());
        if patched.resources.is_empty() {
            continue;
        }
        let subject = Subject { plan: &plan, config: &config, patched: &patched };
        let requests: Vec<Request> = (0..share).map(request).collect();
        let wanted = Wanted::of(&requests, "cart");
        let run = |probes: bool| -> Result<Vec<String>, Error> {
            let settings = Settings { envoy: envoy.clone(), probes, wasm: BTreeMap::new(), stubs: BTreeMap::new() };
            let mut sandbox = Sandbox::open(&host, Sandbox::start(&settings)?, &subject, &settings, &wanted, true)?;
            requests.iter().map(|request| sandbox.send(request).map(|exchange| comparable(&exchange))).collect()
        };
        match (run(true), run(false)) {
            (Ok(with), Ok(without)) => {
                loaded += 1;
                sent += with.len();
                for (number, (one, other)) in with.iter().zip(&without).enumerate() {
                    if one != other {
                        different.push(format!("{} request {number}\n{one}\n{other}", path.display()));
                    }
                }
            }
            (Err(one), Err(other)) => assert_eq!(one.to_string(), other.to_string(), "{}", path.display()),
            (one, other) => panic!("{}: {:?} {:?}", path.display(), one.err(), other.err()),
        }
    }
    eprintln!("{sent} requests over {loaded} files");
    assert!(sent >= REQUESTS, "{sent}");
    assert!(different.is_empty(), "{} differ\n{}", different.len(), different[0]);
}

/// Log messages of scripts are shown at every level.
#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn script_logs_are_shown_at_every_level() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.test.yaml");
    let levels = ["Trace", "Debug", "Info", "Warn", "Err", "Critical"];
    let script: String = levels.iter().map(|level| format!("handle:log{level}('said {level}') ")).collect();
    let good = fs::read_to_string(crate::support::testdata("behaviour/lua-headers/good.yaml")).unwrap();
    let head = good.split_once("inline_string:").unwrap().0;
    fs::write(
        folder.path().join("filter.yaml"),
        format!("{head}inline_string: \"function envoy_on_request(handle) {script} end\"\n"),
    )
    .unwrap();
    let logs: String = levels.iter().map(|level| format!("said {level}, ")).collect();
    let text = format!(
        "kind: EnvoyFilterTest\nproxy: {{demo: true}}\nfilters: [filter.yaml]\ntests:\n- name: heard\n  \
         request: {{inbound: 8080, path: /}}\n  expect: {{log: [{logs}]}}\n"
    );
    fs::write(&file, text).unwrap();
    let answer = super::said(&["test", file.to_str().unwrap(), "--envoy", &envoy()]);
    assert_eq!(answer.code, 0, "{}{}", answer.out, answer.err);
}

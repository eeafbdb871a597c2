//! Standard requests (`lint --run`): a real Envoy shows what each case of their rules records, and the command of a
//! finding reproduces it. `UPDATE=1` writes the records.

use super::{envoy, said};
use crate::linting::{directive, input};
use crate::support::{dumps, testdata};
use kubectl_envoyfilter::behaviour::{self, Host, Settings};
use kubectl_envoyfilter::engine::MeshSettings;
use kubectl_envoyfilter::lint::rule::Need;
use kubectl_envoyfilter::lint::{self, Input, Observer, ProxyRun, RealEnvoy, Recorded};
use kubectl_envoyfilter::load::dump::Identity;
use kubectl_envoyfilter::load::{self, reference};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::rules;
use kubectl_envoyfilter::source::ErrorMessage;
use kubectl_envoyfilter::trial::Observed;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Sends the requests, and records the results in the format of a case.
struct Noting {
    host: Host,
    settings: Settings,
    records: RefCell<BTreeSet<String>>,
    requests: RefCell<usize>,
}

impl Observer for Noting {
    fn observe(&self, run: &ProxyRun<'_>) -> Result<Observed, ErrorMessage> {
        let subject = behaviour::Subject { plan: run.plan, config: run.config, patched: &run.judged.patched };
        let observed =
            behaviour::observe(&self.host, &self.settings, &subject).map_err(|error| error.to_string()).unwrap();
        for sight in &observed.sights {
            let planned = run.plan.get(sight.patch);
            let name = &run.plan.filter(sight.patch).name;
            self.records.borrow_mut().insert(Recorded::write(name, planned.built.patch.index, sight));
        }
        *self.requests.borrow_mut() += observed.requests;
        Ok(observed)
    }

    fn arguments(&self, _: &ProxyRun<'_>) -> String {
        String::new()
    }
}

fn cases(name: &str) -> Vec<PathBuf> {
    load::files_named(&testdata("rules").join(name), ".yaml").unwrap()
}

/// The results of a real Envoy for a case, and the number of requests.
fn records(case: &Path) -> (BTreeSet<String>, usize) {
    let source = fs::read_to_string(case).unwrap();
    let loaded = load::read(&[case.to_owned()], &load::Options::default());
    let given: Vec<_> =
        directive(&source, "with").iter().map(|name| dumps(&testdata("reference").join(name))).collect();
    let configs: Vec<_> = given.iter().flatten().map(|(_, dump)| dump.config(&Identity::default()).unwrap()).collect();
    let (mesh, references) = (MeshSettings::of(&loaded.inventory), reference::configs(Release::NEWEST));
    let input = Input { dumps: &configs, references, ..input(&loaded, Release::NEWEST, &mesh) };
    let settings =
        Settings { envoy: PathBuf::from(envoy()), probes: true, wasm: BTreeMap::new(), stubs: BTreeMap::new() };
    let noting =
        Noting { host: Host::new().unwrap(), settings, records: RefCell::default(), requests: RefCell::new(0) };
    let rule = rules::ALL.iter().find(|rule| rule.needs.contains(&Need::Requests)).unwrap();
    lint::only_with(&input, RealEnvoy { trial: None, observer: Some(&noting) }, rules::ALL, rule);
    (noting.records.into_inner(), noting.requests.into_inner())
}

#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn a_real_envoy_shows_what_the_cases_record() {
    let mut wrong = Vec::new();
    for rule in rules::ALL.iter().filter(|rule| rule.needs.contains(&Need::Requests)) {
        for case in cases(rule.name) {
            let source = fs::read_to_string(&case).unwrap();
            let recorded: BTreeSet<String> = directive(&source, "seen").into_iter().collect();
            let (seen, requests) = records(&case);
            assert!(requests > 0, "{}: no request was sent", case.display());
            if env::var_os("UPDATE").is_some() {
                let rest = source.lines().filter(|line| !line.starts_with("# seen: "));
                let (head, body): (Vec<&str>, Vec<&str>) = rest.partition(|line| line.starts_with("# with: "));
                let seen = seen.iter().map(|record| format!("# seen: {record}"));
                let lines: Vec<String> = head
                    .into_iter()
                    .map(str::to_owned)
                    .chain(seen)
                    .chain(body.into_iter().map(str::to_owned))
                    .collect();
                fs::write(&case, lines.join("\n") + "\n").unwrap();
            } else if seen != recorded {
                wrong.push(format!("{}\n  recorded {recorded:#?}\n  seen {seen:#?}", case.display()));
            }
            let good = case.file_name().unwrap().to_str().unwrap().starts_with("good");
            if good && !seen.is_empty() {
                wrong.push(format!("{}: a good case shows {seen:#?}", case.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// From the command line: the finding, its request as a command, and that the command reproduces it.
#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn lint_run_reports_the_request_that_shows_it() {
    let envoy = envoy();
    let (bad, good) = ("testdata/rules/script-fails/bad.yaml", "testdata/rules/script-fails/good.yaml");
    let dump = "testdata/reference/shop/base/cart.json.zst";
    let lint = |file: &str, more: &[&str]| {
        said(&[&["lint", file, "--dump", dump, "--run", "--envoy", &envoy, "--select", "EF13"], more].concat())
    };
    let found = lint(bad, &["-o", "json"]);
    assert_eq!(found.code, 1, "{}{}", found.out, found.err);
    let json: serde_json::Value = serde_json::from_str(&found.out).unwrap();
    let finding = &json["findings"][0];
    assert_eq!(finding["code"], "EF136", "{json:#}");
    let notes = finding["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap());
    let mut commands = notes.filter_map(|note| note.strip_prefix("shown by: kubectl envoyfilter "));
    let command = commands.next().unwrap();
    let mut words: Vec<&str> = command.split(' ').collect();
    words.extend(["--envoy", &envoy]);
    let answer = said(&words);
    assert_eq!(answer.code, 0, "{command}\n{}", answer.err);
    assert!(answer.out.contains("attempt to index a nil value"), "{command}\n{}", answer.out);
    let silent = lint(good, &["-v"]);
    assert_eq!(silent.code, 0, "{}{}", silent.out, silent.err);
    assert!(silent.err.contains("requests sent through Envoy"), "{}", silent.err);
    // Without a dump: reference configurations.
    let reference = said(&["lint", bad, "--run", "--envoy", &envoy, "--select", "EF136"]);
    assert!(reference.code == 1 && reference.out.contains("[EF136]"), "{}{}", reference.out, reference.err);
    let none = said(&["lint", bad, "--run", "--envoy", "/nonexistent"]);
    assert!(none.code == 2 && none.err.contains("no such file"), "{}", none.err);
}

/// One cause is one finding, at the line that fails; a fault in another line keeps its own.
#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn a_line_that_fails_is_one_finding() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script.yaml");
    let bad = fs::read_to_string(testdata("rules/script-fails/bad.yaml")).unwrap();
    let begin = bad.find("function envoy_on_request").unwrap();
    let script = "function envoy_on_request(h)
                local token = h:headers():get(\"authorization\"):sub(8)
                if token == \"never\" then
                  h:respond({[\"x-reason\"] = \"no\"}, \"denied\")
                end
              end
";
    fs::write(&file, format!("{}{script}", &bad[..begin])).unwrap();
    let said = said(&["lint", file.to_str().unwrap(), "--run", "--envoy", &envoy(), "-o", "json"]);
    let json: serde_json::Value =
        serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {}", said.err));
    let findings = json["findings"].as_array().unwrap().iter().filter(|one| one["severity"] != "info");
    let places: Vec<(&str, u64)> = findings
        .clone()
        .map(|one| (one["code"].as_str().unwrap(), one["location"]["line"].as_u64().unwrap()))
        .collect();
    assert_eq!(places, [("EF136", 28), ("EF151", 30)], "{json:#}");
    let help = findings.clone().next().unwrap()["help"].as_str().unwrap();
    assert_eq!(help, "(h:headers():get(\"authorization\") or \"\")");
}

/// What cannot be checked is reported: a patch that no request reaches, a bucket that is too large to empty.
#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn what_no_request_can_check_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("limit.yaml");
    let text = fs::read_to_string(testdata("rules").join("limit-never-limits/good.yaml")).unwrap();
    fs::write(&file, text.replace("max_tokens: 3", "max_tokens: 5000")).unwrap();
    let dump = "testdata/reference/shop/base/cart.json.zst";
    let envoy = envoy();
    let lint = said(&["lint", file.to_str().unwrap(), "--dump", dump, "--run", "--envoy", &envoy, "--select", "EF137"]);
    assert_eq!(lint.code, 0, "{}{}", lint.out, lint.err);
    let out = lint.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(out.contains("its bucket holds 5000 tokens, more than 100"), "{}{}", lint.out, lint.err);
}

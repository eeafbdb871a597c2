//! Every case of `testdata/behaviour` passes with the correct filter and fails with the wrong one.

use super::{case_folders, envoy, said};
use crate::linting::directive;
use crate::support::JsonSchema;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The result of a case's tests: whether they passed, and the whole output. `# istio: 1.26` selects the release for a
/// case.
fn run(envoy: &str, file: &Path) -> (i32, String) {
    let release = directive(&fs::read_to_string(file).unwrap(), "istio");
    let release = release.first().map_or_else(Vec::new, |release| vec!["--istio-version", release]);
    let said = said(&[&["test", file.to_str().unwrap(), "--envoy", envoy], &release[..]].concat());
    (said.code, format!("{}{}", said.out, said.err))
}

/// The test file with the wrong filter instead of the correct one.
fn with_the_wrong_filter(folder: &Path, beside: &Path) -> PathBuf {
    let text = fs::read_to_string(folder.join("case.test.yaml")).unwrap();
    let bad = folder.join("bad.yaml");
    let text = text.replace("filters: [good.yaml]", &format!("filters: [{}]", bad.display()));
    let text = text.replace("dump: ../../", &format!("dump: {}/../../", folder.display()));
    let file = beside.join(format!("{}.test.yaml", folder.file_name().unwrap().to_str().unwrap()));
    fs::write(&file, text).unwrap();
    file
}

/// The problems of a case on an Envoy.
fn wrong_with(folder: &Path, version: &str, beside: &Path) -> Vec<String> {
    let envoy = crate::envoy::binary(version);
    let envoy = envoy.to_str().unwrap();
    let name = folder.file_name().unwrap().to_str().unwrap();
    let mut wrong = Vec::new();
    let (code, words) = run(envoy, &folder.join("case.test.yaml"));
    if code != 0 {
        wrong.push(format!("{name}: the right filter fails on Envoy {version} (exit code {code})\n{words}"));
    }
    let (code, words) = run(envoy, &with_the_wrong_filter(folder, beside));
    if code != 1 {
        wrong.push(format!("{name}: the wrong filter passes on Envoy {version} (exit code {code})\n{words}"));
    }
    wrong
}

/// Runs cases on an Envoy, a few at a time, since most of a run is waiting.
fn all_on(version: &str, folders: &[PathBuf]) {
    let beside = tempfile::tempdir().unwrap();
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(folder) = folders.get(next.fetch_add(1, Ordering::Relaxed)) {
                    wrong.lock().unwrap().extend(wrong_with(folder, version, beside.path()));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn each_case_distinguishes_the_correct_filter_from_the_wrong_one() {
    all_on("1.39.3", &case_folders());
}

/// The text of Envoy's log and the names of its counters differ between releases, but not what a test file sees.
/// istiod's result for a filter does not depend on Envoy, so one Envoy is enough for the failures from the field.
#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn every_other_envoy_agrees() {
    let mut folders = case_folders();
    folders.retain(|folder| !folder.file_name().unwrap().to_str().unwrap().starts_with("field-"));
    for (version, _) in crate::envoy::ENVOYS.iter().filter(|(version, _)| *version != "1.39.3") {
        all_on(version, &folders);
    }
}

#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn identical_runs_are_identical_bytes() {
    let envoy = envoy();
    let once = |form: &str| {
        let filter = "testdata/behaviour/ext-authz-http/good.yaml";
        said(&["try", "--demo", "-f", filter, "--envoy", &envoy, "--inbound", "8080", "/", "-o", form]).out
    };
    for form in ["human", "json", "html"] {
        assert_eq!(once(form), once(form));
    }
}

/// Every folder is a complete case.
#[test]
fn every_case_is_complete_and_readable() {
    for folder in case_folders() {
        for file in ["good.yaml", "bad.yaml", "case.test.yaml"] {
            assert!(folder.join(file).is_file(), "{} is missing in {}", file, folder.display());
        }
        let text = fs::read_to_string(folder.join("case.test.yaml")).unwrap();
        assert!(text.starts_with("# "), "{}: the first line says what the case is about", folder.display());
        let (documents, problems) =
            kubectl_envoyfilter::load::yaml::documents(kubectl_envoyfilter::source::FileId(0), &text);
        assert!(problems.is_empty(), "{}: {problems:?}", folder.display());
        let suite = kubectl_envoyfilter::behaviour::suite::read(&documents[0]);
        assert!(suite.is_ok(), "{}: {:?}", folder.display(), suite.err());
    }
}

/// The schema of test files accepts every case, and rejects what the reader rejects.
#[test]
fn the_schema_accepts_every_case() {
    let schema = JsonSchema::new("envoyfilter-test.json");
    for folder in case_folders() {
        let text = fs::read_to_string(folder.join("case.test.yaml")).unwrap();
        let (documents, _) = kubectl_envoyfilter::load::yaml::documents(kubectl_envoyfilter::source::FileId(0), &text);
        let errors = schema.errors(&documents[0].to_json());
        assert!(errors.is_empty(), "{}: {errors}", folder.display());
    }
}

#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn json_is_what_the_schemas_say() {
    let envoy = envoy();
    let schema = JsonSchema::new("try.json");
    let filter = "testdata/behaviour/ext-authz-http/good.yaml";
    for more in [&[][..], &["--times"], &["--stub", "authz=401"], &["--outbound", "catalog.shop:7070"]] {
        let answer = said(&[&["try", "--demo", "-f", filter, "--envoy", &envoy, "-o", "json", "/"], more].concat());
        let json: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
        assert_eq!(schema.errors(&json), "", "{more:?}");
        assert_eq!(json["scope"]["origin"]["type"], "demo", "{more:?}");
        assert!(json["loaded"]["clusters"][0].as_u64() <= json["loaded"]["clusters"][1].as_u64(), "{json}");
    }
    let answer = said(&["test", "testdata/behaviour/ext-authz-http", "--envoy", &envoy, "-o", "json"]);
    assert_eq!(JsonSchema::new("test.json").errors(&serde_json::from_str(&answer.out).unwrap()), "");
}

/// A pod of a capture: its filters are in effect, and those of the test file replace those with the same name.
#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn a_test_file_accepts_a_pod_of_a_capture() {
    let envoy = envoy();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/behaviour/lua-headers");
    let [good, bad] = ["good.yaml", "bad.yaml"].map(|name| fs::read_to_string(root.join(name)).unwrap());
    let folder = tempfile::tempdir().unwrap();
    crate::attack::capture(&folder.path().join("mesh"), &[("stamp", &bad)]);
    fs::write(folder.path().join("good.yaml"), good).unwrap();
    let test = |name: &str, filters: &str| {
        let file = folder.path().join(name);
        let text = format!(
            "kind: EnvoyFilterTest\nproxy: {{capture: mesh, pod: shop/cart-1}}\n{filters}tests:\n- name: stamped\n  \
             request: {{inbound: 8080, path: /}}\n  expect: {{headers: {{x-stamped: 'yes'}}, log: {{not: attempt to index}}}}\n"
        );
        fs::write(&file, text).unwrap();
        let (code, words) = run(&envoy, &file);
        assert!(code != 2 && code != 3, "{words}");
        (code, words)
    };
    let (code, words) = test("bad.test.yaml", "");
    assert!(code == 1 && words.contains("attempt to index a nil value"), "{words}");
    let (code, words) = test("good.test.yaml", "filters: [good.yaml]\n");
    assert_eq!(code, 0, "{words}");
    let (code, words) = {
        let file = folder.path().join("nobody.test.yaml");
        let text = fs::read_to_string(folder.path().join("bad.test.yaml")).unwrap();
        fs::write(&file, text.replace("cart-1", "cart-2")).unwrap();
        run(&envoy, &file)
    };
    assert!(code == 2 && words.contains("no pod shop/cart-2 has a proxy"), "{code} {words}");
}

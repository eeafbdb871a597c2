//! Bad input: each kind has its own message, place and exit code, and none hides another.

use super::cli::run;
use flate2::Compression;
use flate2::write::GzEncoder;
use kubectl_envoyfilter::demo;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use tempfile::TempDir;

/// The bytes of the demo's dump.
fn dump() -> Vec<u8> {
    let packed = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/demo/cart.json.zst")).unwrap();
    let mut bytes = Vec::new();
    zstd::stream::read::Decoder::new(packed.as_slice()).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

struct Run {
    out: String,
    err: String,
    code: i32,
}

fn explain(folder: &TempDir, arguments: &[&str]) -> Run {
    let arguments = [&["explain", "pod", "cart"], arguments].concat();
    let output = run(folder.path(), &arguments);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let run = Run { out: text(output.stdout), err: text(output.stderr), code: output.status.code().unwrap() };
    assert!(!run.err.contains("panicked"), "{}", run.err);
    run
}

/// Passes one file of filters next to a good one, and checks for words on standard error.
fn filters(name: &str, bytes: &[u8], code: i32, expected: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), bytes).unwrap();
    check(&folder, name, code, expected);
}

fn check(folder: &TempDir, name: &str, code: i32, expected: &[&str]) {
    let alone = explain(folder, &["--demo", "-f", name]);
    assert_eq!(alone.code, code, "{name}: {}", alone.err);
    for words in expected {
        assert!(
            alone.err.contains(words) || alone.out.contains(words),
            "{name}: no `{words}` in\n{}{}",
            alone.err,
            alone.out
        );
    }
    // One bad input does not hide another.
    fs::write(folder.path().join("good.yaml"), demo::FILTERS).unwrap();
    let beside = explain(folder, &["--demo", "-f", name, "-f", "good.yaml"]);
    assert!(beside.out.contains("shop.stamp-requests"), "{name}: the good file is hidden");
}

#[test]
fn texts_that_are_no_yaml() {
    filters("empty.yaml", b"", 3, &["warning: empty.yaml contains no document"]);
    filters("bad.yaml", b"a: 1\nb: c: d\n", 3, &["bad.yaml:2:5", "quote a string"]);
    filters("tabs.yaml", b"kind: x\nspec:\n\tfoo: 1\n", 3, &["tabs.yaml:3:1", "indent with spaces"]);
    filters("cut.yaml", b"kind: x\nname: \"abc", 3, &["cut.yaml:2:7", "unclosed quote"]);
    filters("cut.json", b"{\"kind\": \"EnvoyFilter\", \"metadata\": {", 3, &["cut.json:1:37", "not JSON: EOF"]);
    filters("cut.yaml.gz", &gzip(&dump())[..300], 3, &["error: cannot read cut.yaml.gz"]);
    filters("binary.yaml", &[0, 1, 2, 3, 0xff], 3, &["error: binary.yaml is a binary file"]);
    filters("template.yaml", b"kind: x\nname: {{ .Values.name }}\n", 3, &["template.yaml:2:7", "render it first"]);
}

#[test]
fn texts_that_are_too_much() {
    let mut bomb = b"a: &a [x, x, x, x, x, x, x, x, x]\n".to_vec();
    for (key, before) in ('b'..='k').zip('a'..='j') {
        writeln!(bomb, "{key}: &{key} [*{before}, *{before}, *{before}, *{before}, *{before}, *{before}, *{before}]")
            .unwrap();
    }
    filters("bomb.yaml", &bomb, 3, &["the aliases in this document expand beyond", "bomb.yaml:"]);
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    filters("deep.yaml", deep.as_bytes(), 3, &["deep.yaml:1:1001: lists and mappings nested more than 1000 deep"]);
    let folder = tempfile::tempdir().unwrap();
    // A sparse file, which takes no space on disk.
    let mut big = fs::File::create(folder.path().join("big.yaml")).unwrap();
    big.write_all(&b"# large\n".repeat(2048)).unwrap();
    big.set_len((1 << 30) + 1).unwrap();
    check(
        &folder,
        "big.yaml",
        3,
        &["cannot read big.yaml: it is larger than 1 GiB\n  help: split it, or raise the limit with --max-input-size"],
    );
    // Only the beginning of binary data is read; the rest would be far too much.
    let folder = tempfile::tempdir().unwrap();
    fs::File::create(folder.path().join("image.yaml")).unwrap().set_len(1 << 40).unwrap();
    check(&folder, "image.yaml", 3, &["image.yaml is a binary file"]);
}

#[test]
fn values_that_do_not_fit() {
    let utf8 = [demo::FILTERS.as_bytes(), b"---\nkind: EnvoyFilter\nmetadata: {name: a\xffb}\n"].concat();
    let line = demo::FILTERS.lines().count() + 3;
    filters("latin.yaml", &utf8, 3, &[&format!("latin.yaml:{line}:19"), "save the file as UTF-8"]);
    let value = |text: &str| demo::FILTERS.replace("connect_timeout: 2s", text);
    let nan = value("circuit_breakers: {thresholds: [{max_connections: .nan}]}");
    filters("nan.yaml", nan.as_bytes(), 3, &["nan.yaml:80:59", "JSON has no such number"]);
    let huge = value("circuit_breakers: {thresholds: [{max_connections: 1180591620717411303424}]}");
    filters("huge.yaml", huge.as_bytes(), 0, &["discarded", "huge.yaml:80:59"]);
    let unknown = demo::FILTERS.replace("http.lua.v3.Lua", "http.lua.v9.Lua");
    filters(
        "type.yaml",
        unknown.as_bytes(),
        0,
        &[
            "discarded",
            "this istiod does not know the type envoy.extensions.filters.http.lua.v9.Lua",
            "type.yaml:29:20",
        ],
    );
}

#[test]
fn objects_that_are_no_filters() {
    let kind = b"apiVersion: v1\nkind: Gadget\nmetadata: {name: x}\n";
    filters("kind.yaml", kind, 3, &["the files contain no EnvoyFilter (ignored: 1 Gadget)"]);
    let nameless = b"apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata:\n  namespace: shop\n";
    filters("nameless.yaml", nameless, 3, &["metadata.name is missing", "nameless.yaml:3:1"]);
    let version = b"apiVersion: networking.istio.io/v1\nkind: EnvoyFilter\nmetadata: {name: x}\n";
    filters("version.yaml", version, 3, &["version.yaml:1:13", "write apiVersion: networking.istio.io/v1alpha3"]);
}

#[test]
fn files_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("nothing")).unwrap();
    check(&folder, "nothing", 3, &["nothing contains no .yaml, .yml or .json file"]);
    check(&folder, "absent.yaml", 3, &["error: cannot read absent.yaml: No such file"]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", folder.path().join("dangling.yaml")).unwrap();
        check(&folder, "dangling.yaml", 3, &["error: cannot read dangling.yaml"]);
    }
}

/// Passes one dump alone, and after a good one.
fn dumps(name: &str, bytes: &[u8], code: i32, expected: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), bytes).unwrap();
    fs::write(folder.path().join("a-good.json"), dump()).unwrap();
    fs::write(folder.path().join("filters.yaml"), demo::FILTERS).unwrap();
    let alone = explain(&folder, &["--dump", name, "-f", "filters.yaml"]);
    assert_eq!(alone.code, code, "{name}: {}", alone.err);
    for words in expected {
        assert!(alone.err.contains(words), "{name}: no `{words}` in\n{}", alone.err);
    }
    let beside = explain(&folder, &["--dump", name, "--dump", "a-good.json", "-f", "filters.yaml"]);
    assert!(beside.out.contains("shop.stamp-requests"), "{name}: the good dump is hidden");
}

#[test]
fn files_that_are_not_dumps() {
    dumps("empty.json", b"", 3, &["empty.json is not an Envoy config dump: it is empty"]);
    dumps("pod.json", br#"{"kind":"Pod","metadata":{}}"#, 3, &["a Kubernetes object of kind Pod"]);
    dumps("ztunnel.json", br#"{"workloads":[],"services":[]}"#, 3, &["a dump of ztunnel, which is not an Envoy"]);
    dumps("binary.json", &[0; 100], 3, &["the file is binary"]);
    let latin = [&dump()[..5000], b"\xff", &dump()[5000..]].concat();
    dumps("latin.json", &latin, 3, &["latin.json:1:5001: not UTF-8"]);
    let deep = [b"{\"configs\":".as_slice(), "[".repeat(100_000).as_bytes()].concat();
    dumps("deep.json", &deep, 3, &["deep.json:1:"]);
}

#[test]
fn truncated_dumps() {
    let whole = dump();
    dumps("half.json", &whole[..60_000], 3, &["half.json:1:", "the dump ends inside the value that starts here"]);
    dumps("half.json.gz", &gzip(&whole)[..4000], 3, &["a compressed file that ends too early"]);
    let text = String::from_utf8(whole).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    json["configs"].as_array_mut().unwrap().retain(|config| config.get("bootstrap").is_none());
    dumps("headless.json", json.to_string().as_bytes(), 3, &["headless.json: the dump does not identify its proxy"]);

    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("headless.json"), json.to_string()).unwrap();
    let named = [
        "--dump",
        "headless.json",
        "-f",
        "filters.yaml",
        "--proxy-namespace",
        "shop",
        "--proxy-labels",
        "app=cart",
        "--proxy-workload",
        "cart",
    ];
    fs::write(folder.path().join("filters.yaml"), demo::FILTERS).unwrap();
    let explained = explain(&folder, &named);
    assert_eq!(explained.code, 0, "{}", explained.err);
    assert!(explained.out.contains("shop.stamp-requests"));
}

#[test]
fn dumps_of_one_pod_and_of_others() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.json"), dump()).unwrap();
    fs::write(folder.path().join("b.json"), dump()).unwrap();
    fs::write(folder.path().join("filters.yaml"), demo::FILTERS).unwrap();
    let twice = explain(&folder, &["--dump", "a.json", "--dump", "b.json", "-f", "filters.yaml"]);
    assert_eq!(twice.code, 3);
    assert!(twice.err.contains("a.json and b.json are both config dumps of shop/cart-1"), "{}", twice.err);
    assert_eq!(twice.out.matches("HTTP filters").count(), 1);
    let folder_given = explain(&folder, &["--dump", ".", "-f", "filters.yaml"]);
    assert_eq!(folder_given.err, twice.err.replace("a.json", "./a.json").replace("b.json", "./b.json"));

    let output = run(folder.path(), &["explain", "gateway", "cart", "--dump", "a.json", "-f", "filters.yaml"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("no config dump is from gateway cart") && text.contains("sidecar shop/cart-1"), "{text}");
}

#[test]
fn invalid_command_lines() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, words) in [
        (&["explain", "pod", "cart"][..], "no cluster to read"),
        (&["explain", "pod", "cart", "-f", "x.yaml"], "no proxy to look at"),
        (&["explain", "field", "virtualInbound", "--demo"], "a field starts with listener/"),
        (&["explain", "pod", "cart", "--demo", "--istio-version", "new"], "not an Istio release"),
        (&["explain", "pod", "cart", "--demo", "--proxy-type", "envoy"], "one of sidecar, gateway, waypoint"),
        (&["render", "--dump", "x.json"], "no EnvoyFilters given"),
        (&["diff", "--current", "x.yaml"], "no proxy to look at"),
        (&["diff"], "nothing to compare"),
        (&["fly"], "unrecognized subcommand"),
        (&["explain", "cart"], "name the kind: explain pod cart"),
        (&["explain", "--dump", "x.json"], "name what to explain: explain pod NAME --dump"),
        (&["diff", "x.yaml"], "give files with -f: -f x.yaml"),
        (&["audit", "--to", "1.31", "./manifests"], "give files with -f: -f ./manifests"),
    ] {
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(words), "{arguments:?}: {text}");
    }
}

/// For diff, any error is exit code 2, as for diff itself.
#[test]
fn diff_reports_errors_as_two() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bad.yaml"), "a: b: c").unwrap();
    fs::write(folder.path().join("good.yaml"), demo::FILTERS).unwrap();
    let code = |arguments: &[&str]| run(folder.path(), arguments).status.code();
    assert_eq!(code(&["diff", "--demo", "-f", "good.yaml"]), Some(1));
    assert_eq!(code(&["diff", "--demo", "-f", "good.yaml", "--current", "good.yaml"]), Some(0));
    assert_eq!(code(&["diff", "--demo", "-f", "good.yaml", "-f", "bad.yaml"]), Some(2));
    // A proxy was read, but nothing was compared on it.
    fs::write(folder.path().join("other.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n").unwrap();
    let output = run(folder.path(), &["diff", "--demo", "-f", "other.yaml"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!((output.status.code(), text.as_str()), (Some(2), "nothing compared: no EnvoyFilter to compare\n"));
    let output = run(folder.path(), &["audit", "--from", "1.30", "--to", "1.31", "-f", "other.yaml"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("nothing could be judged: no EnvoyFilter was read"), "{text}");
    assert!(!text.contains("not ready") && !text.contains("During the rollout"), "{text}");
}

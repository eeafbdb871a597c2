//! Reading files and texts: places, YAML 1.1, broken documents, EnvoyFilters, other objects.

use kubectl_envoyfilter::load::limits::Limits;
use kubectl_envoyfilter::load::{self, Loaded, Options, yaml};
use kubectl_envoyfilter::model::envoy_filter::{ApplyTo, EnvoyFilter, ObjectMatch, Operation, PatchContext};
use kubectl_envoyfilter::model::inventory::TargetPort;
use kubectl_envoyfilter::source::{FileId, Node, NodeValue, Severity, Span};
use proptest::prelude::*;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/input").join(name)
}

fn text(text: &str) -> Loaded {
    load::read_text("test.yaml", text, &Options::default())
}

/// The only document of a text, as JSON.
fn json(text: &str) -> String {
    let (documents, problems) = yaml::documents(FileId(0), text);
    let errors: Vec<_> = problems.iter().filter(|problem| problem.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(documents.len(), 1, "{text}");
    documents[0].to_json().to_string()
}

/// Code and place of each problem.
fn codes(loaded: &Loaded) -> Vec<String> {
    let place = |span: Option<Span>| span.map(|span| loaded.sources.place(span)).unwrap_or_default();
    loaded.problems.iter().map(|problem| format!("{} {}", problem.code.as_str(), place(problem.span))).collect()
}

fn filter(spec: &str) -> String {
    format!("apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {{name: f}}\nspec:\n{spec}")
}

#[test]
fn words_merges_and_keys_as_kubectl_reads_them() {
    for (text, expected) in [
        ("a: y\nb: 'y'\nc: 0o7\nd: 0777\ne: 1_000\nf: 1e3\n", r#"{"a":true,"b":"y","c":7,"d":511,"e":1000,"f":1000}"#),
        ("1.5: a\ntrue: b\n0x10: c\n1000000.0: d\n", r#"{"1.5":"a","true":"b","16":"c","1e+06":"d"}"#),
        ("x: &x {a: 1, b: 2}\nz: {a: 5, <<: *x, b: 7}\n", r#"{"x":{"a":1,"b":2},"z":{"a":1,"b":7}}"#),
        (
            "v: &v {a: 1}\nw: &w {a: 2, c: 3}\nz:\n  <<: [*v, *w]\n",
            r#"{"v":{"a":1},"w":{"a":2,"c":3},"z":{"a":1,"c":3}}"#,
        ),
        ("a: !!str 5\nb: !!binary aGk=\nc: !foo 5\nd: !!int \"5\"\n", r#"{"a":"5","b":"hi","c":"5","d":5}"#),
        ("a: 1\nb: 2\na: 3\n", r#"{"a":3,"b":2}"#),
        ("a: |\n  x\n   y\n\nb: >-\n  x\n  y\n", r#"{"a":"x\n y\n","b":"x y"}"#),
        ("\u{feff}a: 1\r\nb:\r\n- c\r\n", r#"{"a":1,"b":["c"]}"#),
        (r#"{"a": "b\/c \ud83d\ude00", "n": 1.0}"#, r#"{"a":"b/c 😀","n":1}"#),
    ] {
        assert_eq!(json(text), expected, "{text}");
    }
}

#[test]
fn every_value_has_its_place() {
    let source = "a:\n  k€y: [1, {b: \"c d\"}]\n  empty:\nlast: |\n  text\n";
    let (documents, _) = yaml::documents(FileId(0), source);
    let at = |span: Span| &source[span.start as usize..span.end as usize];
    let root = &documents[0];
    let entry = root.get("a").and_then(|a| a.entry("k€y")).expect("k€y");
    assert_eq!(at(entry.key_span), "k€y");
    assert_eq!(at(entry.value.span), "[1, {b: \"c d\"}]");
    assert_eq!(at(entry.value.items()[0].span), "1");
    assert_eq!(at(entry.value.items()[1].get("b").expect("b").span), "\"c d\"");
    let empty = root.get("a").and_then(|a| a.get("empty")).expect("empty");
    assert_eq!((empty.is_null(), at(empty.span)), (true, ""));
    assert_eq!(at(root.get("a").expect("a").span).lines().next(), Some("k€y: [1, {b: \"c d\"}]"));
    assert_eq!(at(root.get("last").expect("last").span), "|\n  text\n");
}

#[test]
fn a_broken_document_does_not_hide_others() {
    let loaded = load::read(&[testdata("broken-between.yaml")], &Options::default());
    let names: Vec<_> = loaded.inventory.envoy_filters.iter().map(EnvoyFilter::full_name).collect();
    assert_eq!(names, ["shop/first", "default/last"]);
    let found: Vec<_> = loaded.problems.iter().map(|problem| problem.code.as_str()).collect();
    assert_eq!(found, ["yaml-template", "yaml-syntax"]);
    assert_eq!(loaded.sources.snippet(loaded.problems[0].span.expect("span")), "{{ .Values.name }}");
    assert_eq!(loaded.sources.position(loaded.problems[1].span.expect("span")).line, 17);
}

#[test]
fn errors_have_a_code_and_never_stop_the_run() {
    let bomb = {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let inner = vec![format!("*a{}", level - 1); 10].join(", ");
            writeln!(text, "a{level}: &a{level} [{inner}]").expect("write");
        }
        text
    };
    let deep_alias = {
        let mut text = "a0: &a0 [x]\n".to_owned();
        for level in 1..1500 {
            writeln!(text, "a{level}: &a{level} [*a{}]", level - 1).expect("write");
        }
        text
    };
    for (source, code) in [
        ("[".repeat(100_000), "yaml-too-deep"),
        (format!("a: {}", "- ".repeat(100_000)), "yaml-syntax"),
        ("- ".repeat(100_000), "yaml-too-deep"),
        (bomb, "yaml-alias-bomb"),
        (deep_alias, "yaml-alias-bomb"),
        ("a: \"x".to_owned(), "yaml-syntax"),
        ("a: *b".to_owned(), "yaml-syntax"),
        ("&a [*a]".to_owned(), "yaml-syntax"),
        ("? [a]\n: b".to_owned(), "yaml-syntax"),
        ("a: .nan".to_owned(), "yaml-syntax"),
        ("a: !!int x".to_owned(), "yaml-syntax"),
        ("a: b\u{1}".to_owned(), "yaml-syntax"),
        ("{\"a\": 1,, }".to_owned(), "json-syntax"),
        ("{{- range .Values.x }}\na: 1\n".to_owned(), "yaml-template"),
        ("{% if x %}\na: 1\n".to_owned(), "yaml-template"),
        ("a: 1\na: 2\n".to_owned(), "yaml-duplicate-key"),
        ("a: on\n".to_owned(), "yaml-1.1-surprise"),
        (String::new(), "empty-input"),
        ("# nothing\n".to_owned(), "empty-input"),
        ("just words\n".to_owned(), "not-kubernetes"),
    ] {
        let loaded = text(&source);
        let found: Vec<_> = loaded.problems.iter().map(|problem| problem.code.as_str()).collect();
        assert!(found.contains(&code), "{code} not in {found:?} for {}", &source[..source.len().min(60)]);
    }
}

#[test]
fn json_values_one_after_the_other() {
    let one = r#"{"apiVersion":"networking.istio.io/v1alpha3","kind":"EnvoyFilter","metadata":{"name":"a"}}"#;
    let loaded = text(&format!("{one}\n{}\n", one.replace("\"a\"", "\"b\"")));
    assert_eq!(loaded.problems, []);
    assert_eq!(loaded.inventory.envoy_filters.len(), 2);
}

#[test]
fn an_envoy_filter_as_istiod_reads_it() {
    let loaded = text(&filter(
        "  priority: -5\n  workloadSelector: {labels: {app: cart}}\n  targetRefs: [{kind: Gateway, name: g, group: gateway.networking.k8s.io}]\n  \
         configPatches:\n  - applyTo: HTTP_ROUTE\n    match:\n      context: GATEWAY\n      proxy: {proxyVersion: '^1\\.2', metadata: {a: b}}\n      \
         routeConfiguration: {portNumber: 4294967295, vhost: {route: {action: REDIRECT}}}\n    patch: {operation: MERGE, filterClass: AUTHZ, value: {name: y}}\n  \
         - applyTo: LISTENER\n    match: {listener: {filterChain: {filter: {subFilter: {}}}}}\n  - {}\n",
    ));
    let surprises = ["yaml-1.1-surprise test.yaml:14:65"];
    assert_eq!(codes(&loaded), surprises);
    let filter = &loaded.inventory.envoy_filters[0];
    assert_eq!((filter.priority, filter.namespace.as_str()), (-5, "default"));
    assert_eq!(filter.selector.as_ref().and_then(|labels| labels.get("app")).map(String::as_str), Some("cart"));
    assert_eq!(filter.target_refs[0].name, "g");
    let [route, listener, empty] = filter.patches.as_slice() else { panic!("three patches") };
    assert_eq!((route.apply_to, route.context), (ApplyTo::HttpRoute, PatchContext::Gateway));
    let ObjectMatch::RouteConfiguration(found) = &route.object else { panic!("route configuration") };
    assert_eq!(found.port_number, u32::MAX);
    let body = route.body.as_ref().expect("patch");
    assert_eq!((body.operation, body.filter_class.as_deref()), (Operation::Merge, Some("AUTHZ")));
    assert_eq!(body.value.as_ref().map(|value| value.to_json().to_string()).as_deref(), Some(r#"{"name":true}"#));
    let ObjectMatch::Listener(found) = &listener.object else { panic!("listener") };
    let chain = found.filter_chain.as_ref().and_then(|chain| chain.filter.as_ref()).expect("filter");
    assert_eq!(chain.sub_filter.as_deref(), Some(""));
    assert!(listener.body.is_none() && listener.has_match);
    assert_eq!((empty.apply_to, empty.context, empty.has_match), (ApplyTo::Invalid, PatchContext::Any, false));
    assert!(filter.patch_node(1).is_some());
}

#[test]
fn what_the_api_server_refuses_is_not_read() {
    for (spec, code, word) in [
        ("  priority: 1.5\n", "wrong-type", "1.5"),
        ("  priority: 2147483648\n", "wrong-type", "2147483648"),
        ("  priority: \"1\"\n", "wrong-type", "\"1\""),
        ("  configPatches: {}\n", "wrong-type", "{}"),
        ("  configPatches: [null]\n", "wrong-type", "null"),
        ("  configPatches: [{applyTo: HTTP_FILTERS}]\n", "unknown-enum-value", "HTTP_FILTERS"),
        ("  configPatches: [{applyTo: listener}]\n", "unknown-enum-value", "listener"),
        ("  configPatches: [{match: {listener: {portNumber: -1}}}]\n", "wrong-type", "-1"),
        ("  configPatches: [{match: {listener: {}, cluster: {}}}]\n", "several-match-objects", "cluster"),
        ("  configPatches: [{match: {proxy: {metadata: {a: 1}}}}]\n", "wrong-type", "1"),
        ("  configPatches: [{patch: {value: text}}]\n", "wrong-type", "text"),
        ("  workloadSelector: {labels: {version: 1.10}}\n", "wrong-type", "1.10"),
    ] {
        let loaded = text(&filter(spec));
        assert!(loaded.inventory.envoy_filters.is_empty(), "{spec}");
        let [problem] = loaded.problems.as_slice() else { panic!("{spec}: {:?}", loaded.problems) };
        assert_eq!((problem.code.as_str(), problem.severity), (code, Severity::Error), "{spec}");
        assert_eq!(loaded.sources.snippet(problem.span.expect("span")), word, "{spec}");
    }
}

#[test]
fn odd_envoy_filters_are_read_as_far_as_they_go() {
    for (source, code) in [
        (filter("  configPatches: null\n"), "null-value test.yaml:5:3"),
        (filter("  filters: []\n"), "legacy-api test.yaml:5:3"),
        (filter("  priority: 1\n").replace("v1alpha3", "v1beta1"), "wrong-api-version test.yaml:1:13"),
        (filter("  priority: 1\n").replace("{name: f}", "{}"), "missing-name test.yaml:3:1"),
        (filter("  prioritty: 1\n"), "unknown-field test.yaml:5:3"),
    ] {
        let loaded = text(&source);
        assert_eq!(codes(&loaded), [code]);
        assert_eq!(loaded.inventory.envoy_filters.len(), 1);
    }
}

#[test]
fn unknown_fields_are_found_at_every_level_but_the_value() {
    let loaded = load::read(&[testdata("mistakes.yaml")], &Options::default());
    let source = std::fs::read_to_string(testdata("mistakes.yaml")).expect("file");
    let marked: Vec<(usize, &str)> = source
        .lines()
        .enumerate()
        .filter_map(|(line, text)| Some((line + 1, text.split_once("# unknown-field ")?.1)))
        .collect();
    let mut found: Vec<_> = loaded.problems.iter().collect();
    found.sort_by_key(|problem| problem.span);
    assert_eq!(found.len(), marked.len(), "{found:?}");
    for ((line, word), problem) in marked.iter().zip(found) {
        assert!(
            ["unknown-field", "misspelt-field", "misplaced-field"].contains(&problem.code.as_str()),
            "{}",
            problem.code
        );
        assert_eq!(loaded.sources.position(problem.span.expect("span")).line, *line);
        assert!(problem.help.as_deref().is_some_and(|help| help.contains(word)), "{word}: {problem:?}");
    }
    assert_eq!(loaded.inventory.envoy_filters.len(), 1);
}

#[test]
fn objects_of_a_cluster() {
    let loaded = load::read(&[testdata("cluster.yaml")], &Options::default());
    assert_eq!(loaded.problems, []);
    let Loaded { inventory, sources, .. } = &loaded;
    assert_eq!(inventory.root_namespace(), "mesh-root");
    assert_eq!(inventory.meshes[0].outbound_traffic_mode, "REGISTRY_ONLY");
    assert_eq!(
        sources.place(inventory.meshes[0].settings.span).split(": ").nth(1),
        Some("data.mesh of ConfigMap mesh/istio:1:1")
    );
    assert_eq!(inventory.namespaces[0].labels.get("istio-injection").map(String::as_str), Some("enabled"));
    let cart = &inventory.workloads[0];
    assert_eq!(cart.labels.get("app").map(String::as_str), Some("cart"));
    assert_eq!(cart.ports.len(), 1);
    assert_eq!(cart.injection.proxy_image.as_deref(), Some("docker.io/istio/proxyv2:1.30.1"));
    assert_eq!(cart.injection.asked.as_deref(), Some("true"));
    let ports = &inventory.services[0].ports;
    assert_eq!(
        (&ports[0].target, ports[0].app_protocol.as_deref()),
        (&TargetPort::Name("http".to_owned()), Some("http2"))
    );
    assert_eq!(ports[1].target, TargetPort::Number(81));
    assert_eq!(inventory.gateways[0].servers[0].tls_mode.as_deref(), Some("SIMPLE"));
    assert_eq!(inventory.kube_gateways[0].listeners[0].port, 80);
    assert_eq!(inventory.envoy_filters[0].created, Some((1_768_435_230, 0)));
    assert_eq!(
        inventory.other.iter().map(|(kind, count)| (kind.as_str(), *count)).collect::<Vec<_>>(),
        [("Widget", 1)]
    );
    // The Secret is removed, also from the text for excerpts, and no line has moved.
    let kept = &sources.get(FileId(0)).text;
    assert!(!kept.contains("dG9wLXNlY3JldA"));
    assert_eq!(kept.lines().count(), std::fs::read_to_string(testdata("cluster.yaml")).expect("file").lines().count());
}

#[test]
fn a_broken_secret_is_not_quoted() {
    let loaded = text("apiVersion: v1\nkind: Secret\nstringData:\n  a: \"open\n  b: top\n");
    assert_eq!(loaded.sources.snippet(loaded.problems[0].span.expect("span")), "");
    assert!(!loaded.problems[0].message.contains("top"));
}

#[test]
fn files_folders_and_packed_files() {
    let root = tempfile::tempdir().expect("folder");
    let write = |name: &str, bytes: &[u8]| {
        let path = root.path().join(name);
        std::fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        std::fs::write(&path, bytes).expect("file");
        path
    };
    let filter_of = |name: &str| filter("  priority: 1\n").replace("name: f", &format!("name: {name}"));
    write("b/x.yml", filter_of("x").as_bytes());
    let plain = write("a.yaml", filter_of("a").as_bytes());
    write(".hidden/h.yaml", filter_of("h").as_bytes());
    write("notes.txt", b"not read");
    let utf16: Vec<u8> =
        [0xfeff_u16].into_iter().chain(filter_of("wide").encode_utf16()).flat_map(u16::to_le_bytes).collect();
    write("c.json", &utf16);
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(filter_of("packed").as_bytes()).expect("pack");
    write("d.yaml.gz", &packer.finish().expect("pack"));
    let binary = write("e.bin", b"\x00\x01");
    let latin = write("f.yaml", &[filter_of("latin").as_bytes(), b"# caf\xe9\n---\na: \xe9\n"].concat());
    let empty = root.path().join("empty");
    std::fs::create_dir(&empty).expect("folder");
    let missing = root.path().join("missing.yaml");

    let mut arguments = vec![root.path().to_owned(), plain, binary, empty, missing, latin];
    let loaded = load::read(&arguments, &Options { namespace: "here".to_owned(), ..Options::default() });
    let names: Vec<_> = loaded.inventory.envoy_filters.iter().map(EnvoyFilter::full_name).collect();
    assert_eq!(names, ["here/a", "here/x", "here/wide", "here/packed", "here/latin"]);
    let found: Vec<_> = loaded.problems.iter().map(|problem| problem.code.as_str()).collect();
    assert_eq!(found, ["empty-directory", "binary-file", "not-utf8", "cannot-read"]);

    arguments.reverse();
    let second = load::read(&arguments, &Options { namespace: "here".to_owned(), ..Options::default() });
    assert_eq!(second.problems, loaded.problems);
    assert_eq!(second.inventory.envoy_filters.len(), 5);

    let small =
        load::read(&[root.path().join("a.yaml")], &Options { limits: Limits::of_bytes(10), ..Options::default() });
    assert_eq!(small.problems[0].code.as_str(), "too-large");
}

/// Checks every place of a tree: inside the text, on character boundaries, and equal to the text for unquoted words.
fn check_places(node: &Node, text: &str) {
    let at = |span: Span| {
        let found = text.get(span.start as usize..span.end as usize);
        assert!(found.is_some(), "{span:?} is no place in the text");
        found.unwrap_or_default()
    };
    let own = at(node.span);
    if let NodeValue::String(value) = &node.value {
        let plain = !own.starts_with(['"', '\'', '|', '>', '*', '!'])
            && !own.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']);
        assert!(!plain || own == value, "{own:?} is not {value:?}");
    }
    for entry in node.entries() {
        at(entry.key_span);
        check_places(&entry.value, text);
    }
    for item in node.items() {
        check_places(item, text);
    }
}

fn check_text(source: &str) {
    let (documents, problems) = yaml::documents(FileId(0), source);
    for document in &documents {
        check_places(document, source);
    }
    for span in problems.iter().filter_map(|problem| problem.span) {
        assert!(source.get(span.start as usize..span.end as usize).is_some(), "{span:?}");
    }
    text(source);
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(source in "\\PC{0,200}") {
        check_text(&source);
    }

    #[test]
    fn any_yaml_like_text_is_read_without_panic(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "a", "é", ": ", "- ", "\n", "  ", "\t", "{", "}", "[", "]", "\"", "'", "|", ">", "&x ", "*x", "!!int ", "<<", "---\n", "...\n",
                "#", "1", "yes", ",", "? ", "%", "\r\n", "\u{feff}", "kind: EnvoyFilter\n", "spec: ", "{{", "\\", "😀",
            ]),
            0..60,
        ),
    ) {
        check_text(&parts.concat());
    }

    #[test]
    fn a_mutated_filter_is_read_without_panic(cut in 0_usize..900, length in 0_usize..40, inserted in "[ -~\n]{0,6}") {
        let whole = std::fs::read_to_string(testdata("mistakes.yaml")).expect("file");
        let (start, end) = (cut.min(whole.len()), (cut + length).min(whole.len()));
        check_text(&format!("{}{inserted}{}", &whole[..start], &whole[end..]));
    }
}

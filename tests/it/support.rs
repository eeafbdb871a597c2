//! Recordings of istiod and the engine's results for the same filters, in a comparable form.

use kubectl_envoyfilter::engine::{self, MeshSettings, Options, Program};
use kubectl_envoyfilter::load::dump::{Dump, Identity, Layout};
use kubectl_envoyfilter::load::yaml;
use kubectl_envoyfilter::model::envoy_filter::EnvoyFilter;
use kubectl_envoyfilter::model::parse_envoy_filter;
use kubectl_envoyfilter::model::resource::{ProxyConfig, ResourceKind};
use kubectl_envoyfilter::proto::{json, tree::Tree};
use kubectl_envoyfilter::source::{Problem, Severity, Sources};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Resources by kind and name, with the texts of each name sorted: the suffixes of repeated names (`name#2`) and the
/// order of a dump come from the recorder, not from istiod.
pub(crate) type Resources = BTreeMap<(ResourceKind, String), Vec<String>>;

/// How much of a long test runs: `cargo test` runs a part, `.ci/run` everything, with an optimized library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// Every sixteenth item.
    Part,
    /// Every item.
    Whole,
}

impl Share {
    /// Whether the item with this number runs.
    pub(crate) fn includes(self, number: usize) -> bool {
        self == Share::Whole || number.is_multiple_of(16)
    }

    /// Everything where results are written anew (`UPDATE=1`).
    pub(crate) fn or_whole_to_update(self) -> Share {
        if std::env::var_os("UPDATE").is_some() { Share::Whole } else { self }
    }

    /// The items that run.
    pub(crate) fn of<T>(self, all: impl IntoIterator<Item = T>) -> Vec<T> {
        all.into_iter().enumerate().filter(|(number, _)| self.includes(*number)).map(|(_, one)| one).collect()
    }

    /// A number that only everything reaches, to be compared with the found one; 0 for a part.
    pub(crate) fn least(self, number: usize) -> usize {
        if self == Share::Whole { number } else { 0 }
    }
}

/// Two tests of one function: of a part, and of everything.
macro_rules! in_part_and_in_full {
    ($part:ident, $full:ident, $by:ident) => {
        #[test]
        fn $part() {
            $by($crate::support::Share::Part);
        }

        #[test]
        #[ignore = "up to a minute: cargo test --test it in_full -- --ignored"]
        fn $full() {
            $by($crate::support::Share::Whole);
        }
    };
}

/// A text of each item of a list where another text has this value.
pub(crate) fn texts_where<'j>(list: &'j Json, (key, value): (&str, &str), text: &str) -> Vec<&'j str> {
    let items = list.as_array().unwrap().iter().filter(|one| one[key] == value);
    items.map(|one| one[text].as_str().unwrap()).collect()
}

/// A path in `testdata`.
pub(crate) fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(path)
}

/// Runs a program with a text as its standard input, and returns its output.
pub(crate) fn piped(command: &mut Command, text: &str) -> Output {
    let name = command.get_program().to_string_lossy().into_owned();
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap_or_else(|error| panic!("{name}: {error}"));
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// The answer of a Go program of `tests/` to a JSON text.
pub(crate) fn go(folder: &str, arguments: &[&str], asked: &Json) -> Json {
    let mut command = Command::new("go");
    command.args(["run", "."]).args(arguments);
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder));
    let output = piped(&mut command, &asked.to_string());
    assert!(output.status.success(), "{asked}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Waits until a condition holds, for at most 30 seconds.
pub(crate) fn until(so: impl Fn() -> bool, state: impl Fn() -> String) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < Duration::from_secs(30), "{}", state());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A schema of `schemas/`.
pub(crate) struct JsonSchema {
    schemas: boon::Schemas,
    index: boon::SchemaIndex,
}

impl JsonSchema {
    pub(crate) fn new(name: &str) -> JsonSchema {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas").join(name)).unwrap();
        let mut compiler = boon::Compiler::new();
        compiler.add_resource(name, serde_json::from_str(&text).unwrap()).unwrap();
        let mut schemas = boon::Schemas::new();
        let index = compiler.compile(name, &mut schemas).unwrap();
        JsonSchema { schemas, index }
    }

    /// The validation errors, place by place; empty if valid.
    pub(crate) fn errors(&self, json: &Json) -> String {
        self.schemas.validate(json, self.index).err().map(|error| format!("{error:#}")).unwrap_or_default()
    }
}

/// Asserts that a page states these figures.
pub(crate) fn states(page: &str, figures: &[usize]) {
    let text = text(&Path::new(env!("CARGO_MANIFEST_DIR")).join(page));
    let numbers: BTreeSet<String> =
        text.split(|c: char| !c.is_ascii_digit() && c != ',').map(|number| number.replace(',', "")).collect();
    for figure in figures {
        assert!(numbers.contains(&figure.to_string()), "{page} does not state {figure}");
    }
}

/// The text of a file, or of its zstd-compressed form.
pub(crate) fn text(path: &Path) -> String {
    if path.exists() {
        return fs::read_to_string(path).unwrap();
    }
    let packed =
        fs::File::open(format!("{}.zst", path.display())).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut decoder = zstd::stream::read::Decoder::new(packed).unwrap();
    decoder.window_log_max(31).unwrap();
    std::io::read_to_string(decoder).unwrap()
}

/// The recorded lines of a file, each parsed.
pub(crate) fn recorded(path: &Path) -> Vec<Json> {
    text(path).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The base dumps of a folder, by proxy.
pub(crate) fn dumps(folder: &Path) -> BTreeMap<String, Dump> {
    fs::read_dir(folder.join("base"))
        .unwrap()
        .map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let name = name.trim_end_matches(".zst").trim_end_matches(".json").to_owned();
            let (dump, problems) = Dump::from_text(&*name, text(&folder.join(format!("base/{name}.json"))));
            assert!(problems.is_empty(), "{problems:?}");
            (name, dump.unwrap())
        })
        .collect()
}

/// A dump of `testdata/live`.
pub(crate) fn live_dump(name: &str) -> Dump {
    let (dump, problems) = Dump::read(&testdata(&format!("live/{name}.json.zst")), Layout::Dropped);
    assert!(problems.is_empty(), "{problems:?}");
    dump.unwrap()
}

/// A proxy and its resources without any EnvoyFilter.
pub(crate) struct Base<'d> {
    pub(crate) config: ProxyConfig<'d>,
    pub(crate) resources: Resources,
    /// Whether routes were requested as Envoy does, not as the recorder does.
    pub(crate) asked_as_envoy: bool,
}

/// The proxies of the dumps.
pub(crate) fn bases(dumps: &BTreeMap<String, Dump>) -> BTreeMap<&str, Base<'_>> {
    dumps
        .iter()
        .map(|(name, dump)| {
            let config = dump.config(&Identity::default()).unwrap();
            let resources = config
                .resources
                .iter()
                .map(|one| ((one.kind, one.name.to_string()), vec![canonical(json::parse(one.json.read()).unwrap())]))
                .collect();
            (name.as_str(), Base { config, resources, asked_as_envoy: false })
        })
        .collect()
}

/// The EnvoyFilters of a YAML text that has no errors.
pub(crate) fn filters(name: &str, source: &str) -> Vec<EnvoyFilter> {
    let (filters, problems) = read_filters(name, source);
    let refused = problems.iter().any(|problem| problem.severity == Severity::Error);
    assert!(!refused && filters.iter().all(Option::is_some), "{name}: {problems:?}");
    filters.into_iter().flatten().collect()
}

/// The EnvoyFilters of a YAML text, document by document, as far as they can be read.
pub(crate) fn read_filters(name: &str, source: &str) -> (Vec<Option<EnvoyFilter>>, Vec<Problem>) {
    let file = Sources::default().add(name, source);
    let (documents, mut problems) = yaml::documents(file, source);
    let mut filters = Vec::new();
    for document in documents {
        let (filter, more) = parse_envoy_filter::parse(document, "default");
        filters.push(filter);
        problems.extend(more);
    }
    (filters, problems)
}

/// The extension configurations that most recordings requested.
pub(crate) const ECDS_NAMES: &[&str] = &["wasm-auth", "wasm-b"];

impl Base<'_> {
    /// What a program changes on this proxy, computed with and without a trace, which must agree. `service_clusters`:
    /// what istiod generates for services that an annotation refers to.
    pub(crate) fn computed(
        &self,
        id: &str,
        program: &Program<'_>,
        ecds_names: Option<&[&str]>,
        service_clusters: &BTreeMap<String, String>,
    ) -> Resources {
        let plan = program.plan(&self.config.proxy, &MeshSettings::default());
        let names = ecds_names.map(|names| names.iter().map(|&name| name.to_owned()).collect());
        let service_clusters = service_clusters.clone();
        let options = Options { extension_names: names, service_clusters, ..Options::default() };
        let packed = Options { packed: true, ..options.clone() };
        let mut trace = engine::Trace::new(plan.patches.len());
        let traced = self.after(&engine::run(&plan, &self.config, &options, &mut trace));
        let untraced = self.after(&engine::run(&plan, &self.config, &packed, &mut ()));
        assert_eq!(traced, untraced, "{id}: tracing or packing changes the result");
        traced
    }

    /// The changes of a recording: kind → name → resource, `null` for removed ones.
    pub(crate) fn recorded(&self, kinds: &Json) -> Resources {
        let mut want = self.resources.clone();
        for (word, resources) in kinds.as_object().unwrap() {
            for (name, resource) in resources.as_object().unwrap() {
                let (name, copy) = name.split_once('#').map_or((name.as_str(), false), |(name, _)| (name, true));
                let texts = want.entry((kind(word), name.to_owned())).or_default();
                if !copy {
                    texts.clear();
                }
                if !resource.is_null() {
                    texts.push(canonical(json::from_json(resource)));
                }
            }
        }
        self.changes(want)
    }

    pub(crate) fn after(&self, patched: &engine::Patched<'_>) -> Resources {
        let touched: BTreeSet<usize> = patched.resources.iter().filter_map(|one| one.source).collect();
        // Each is requested by its name before a patch renames it.
        let untouched = self.config.resources.iter().enumerate().filter(|(index, _)| !touched.contains(index)).map(
            |(_, resource)| {
                let key = (resource.kind, resource.name.to_string());
                (resource.name.to_string(), key.clone(), self.resources[&key][0].clone())
            },
        );
        let changed = patched.resources.iter().filter_map(|one| {
            let asked = one.source.map_or(one.name.clone(), |source| self.config.resources[source].name.to_string());
            Some((asked, (one.kind, one.name.clone()), canonical(one.tree.clone()?.into_tree())))
        });
        let mut all: Vec<_> = untouched.chain(changed).collect();
        if !self.asked_as_envoy {
            self.drop_routes_not_asked_for(&mut all);
        }
        let mut now = Resources::new();
        for (_, key, text) in all {
            now.entry(key).or_default().push(text);
        }
        self.changes(now)
    }

    /// The recorder requests only the routes of network filters *named* as HTTP connection manager (Istio's
    /// `xdstest.ExtractRoutesFromListeners`); Envoy, and the engine, request them whatever the filter's name.
    fn drop_routes_not_asked_for(&self, now: &mut Vec<(String, (ResourceKind, String), String)>) {
        let is_listener = |kind: ResourceKind| kind == ResourceKind::Listener;
        let before: Vec<&String> =
            self.resources.iter().filter(|((kind, _), _)| is_listener(*kind)).flat_map(|(_, texts)| texts).collect();
        let mut after: Vec<_> = now.iter().filter(|(_, (kind, _), _)| is_listener(*kind)).collect();
        after.sort_by(|left, right| left.1.cmp(&right.1));
        if after.iter().map(|(_, _, text)| text).eq(before) {
            return;
        }
        let mut asked = BTreeSet::new();
        for (_, _, text) in after {
            let listener: Json = serde_json::from_str(text).unwrap();
            let chains = listener["filter_chains"].as_array().into_iter().flatten();
            for chain in chains.chain(listener.get("default_filter_chain")) {
                for filter in chain["filters"].as_array().into_iter().flatten() {
                    if filter["name"] == engine::matching::HTTP_CONNECTION_MANAGER {
                        asked.extend(filter["typed_config"]["rds"]["route_config_name"].as_str().map(str::to_owned));
                    }
                }
            }
        }
        now.retain(|(name, (kind, _), _)| *kind != ResourceKind::Route || asked.contains(name));
    }

    /// The differences from the base; no text for removed resources.
    fn changes(&self, mut now: Resources) -> Resources {
        for key in self.resources.keys() {
            now.entry(key.clone()).or_default();
        }
        for ((kind, _), texts) in &mut now {
            texts.sort();
            // The recorder requests a route once for each listener that names it.
            if *kind == ResourceKind::Route {
                texts.dedup();
            }
        }
        now.retain(|key, texts| self.resources.get(key) != Some(texts));
        now
    }
}

/// Prints where two results differ, for debugging.
pub(crate) fn print_difference(want: &Resources, got: &Resources) {
    for key in got.keys().chain(want.keys()).collect::<BTreeSet<_>>() {
        if got.get(key) == want.get(key) {
            continue;
        }
        let text = |side: Option<&Vec<String>>| side.map_or("unchanged".to_owned(), |texts| texts.join("\n"));
        let (want, got) = (text(want.get(key)), text(got.get(key)));
        let at = want.bytes().zip(got.bytes()).take_while(|(x, y)| x == y).count().saturating_sub(150);
        let cut = |text: &str| {
            let bytes = &text.as_bytes()[at.min(text.len())..(at + 400).min(text.len())];
            String::from_utf8_lossy(bytes).into_owned()
        };
        println!("{key:?}\n  want {}\n  got  {}", cut(&want), cut(&got));
    }
}

/// Canonical text of a resource, without the `@type` that only dumps have.
pub(crate) fn canonical(mut tree: Tree<'_>) -> String {
    tree.remove("@type");
    json::canonical(&tree)
}

fn kind(word: &str) -> ResourceKind {
    match word {
        "listener" => ResourceKind::Listener,
        "cluster" => ResourceKind::Cluster,
        "route" => ResourceKind::Route,
        "ecds" => ResourceKind::ExtensionConfig,
        other => panic!("kind {other}"),
    }
}

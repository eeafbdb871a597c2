//! The targets: each reads arbitrary bytes and checks what must hold for every input.

use kubectl_envoyfilter::admission::judge::Rules;
use kubectl_envoyfilter::admission::review::{Allowance, Mode, Policy, Request, Undecided};
use kubectl_envoyfilter::admission::snapshot::{Change, Overrides, Snapshot, SnapshotBuilder};
use kubectl_envoyfilter::cluster::kinds;
use kubectl_envoyfilter::demo;
use kubectl_envoyfilter::engine::{self, MeshSettings, Options, Program, unapply};
use kubectl_envoyfilter::lint::config::Config;
use kubectl_envoyfilter::lint::{self, Input, custom};
use kubectl_envoyfilter::load::capture::Capture;
use kubectl_envoyfilter::load::dump::{Dump, Identity};
use kubectl_envoyfilter::load::limits::Limits;
use kubectl_envoyfilter::load::{self, yaml};
use kubectl_envoyfilter::lua;
use kubectl_envoyfilter::model::envoy_filter::EnvoyFilter;
use kubectl_envoyfilter::model::redact::{Keeper, Redactor, Secrets};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::proto::json;
use kubectl_envoyfilter::rules;
use kubectl_envoyfilter::source::{FileId, Node, Severity, Sources, escape};
use std::sync::LazyLock;

/// The targets by name.
pub(super) const ALL: &[(&str, fn(&[u8]))] = &[
    ("yaml", yaml),
    ("json", json),
    ("engine", engine),
    ("dump", dump),
    ("capture", capture),
    ("review", review),
    ("rules", rules),
    ("config", config),
    ("lua", lua),
    ("redact", redact),
];

fn text(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok()
}

/// Every place is in the text, on character boundaries.
fn places(node: &Node, text: &str) {
    assert!(text.get(node.span.start as usize..node.span.end as usize).is_some(), "{:?}", node.span);
    for entry in node.entries() {
        assert!(text.get(entry.key_span.start as usize..entry.key_span.end as usize).is_some());
        places(&entry.value, text);
    }
    node.items().iter().for_each(|item| places(item, text));
}

fn nodes(node: &Node) -> usize {
    1 + node.entries().iter().map(|entry| nodes(&entry.value)).sum::<usize>()
        + node.items().iter().map(nodes).sum::<usize>()
}

/// YAML: places are in the text, the limit on values holds, results are deterministic.
fn yaml(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let (documents, problems) = yaml::documents(FileId(0), text);
    documents.iter().for_each(|document| places(document, text));
    for span in problems.iter().filter_map(|problem| problem.span) {
        assert!(text.get(span.start as usize..span.end as usize).is_some(), "{span:?}");
    }
    let again = yaml::documents(FileId(0), text);
    assert_eq!((&documents, &problems), (&again.0, &again.1));
    if !text.contains(['*', '&']) {
        let (few, _) = yaml::documents_within(FileId(0), text, 10);
        assert!(few.iter().map(nodes).sum::<usize>() <= 10);
    }
    let mut sources = Sources::default();
    let file = sources.add("x", text);
    let source = sources.get(file);
    for byte in 0..u32::try_from(text.len().min(64)).unwrap_or(0) {
        assert!(source.position(byte).line >= 1);
    }
}

/// JSON: writing and rereading gives the same value.
fn json(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let Ok(tree) = json::parse(text) else { return };
    let written = json::canonical(&tree);
    let again = json::parse(&written).expect("what was written");
    assert_eq!(json::canonical(&again), written);
}

static DUMP: LazyLock<Dump> = LazyLock::new(|| demo::dump().0.expect("the demo's dump"));

/// The demo's dump, patched with these filters, as text.
fn patched(filters: &[EnvoyFilter], release: Release) -> String {
    let config = DUMP.config(&Identity::default()).expect("the demo's proxy");
    let program = Program::new(filters, release);
    let plan = program.plan(&config.proxy, &MeshSettings::default());
    let options = Options::default();
    let judged = engine::judge(&plan, &config, &options);
    let mut out = String::new();
    for one in &judged.patched.resources {
        out.push_str(&format!("{:?} {} {:?}\n", one.kind, one.name, one.tree.as_deref().map(json::canonical)));
    }
    for id in plan.ids() {
        out.push_str(&format!("{:?}\n", judged.outcome(&plan, id)));
    }
    out
}

/// Filters: the engine is total and deterministic, and does not depend on the order of files.
fn engine(data: &[u8]) {
    let Some((&first, rest)) = data.split_first() else { return };
    let Some(text) = text(rest) else { return };
    let minor = Release::OLDEST.minor + u16::from(first) % (Release::NEWEST.minor - Release::OLDEST.minor + 1);
    let release = Release { minor, ..Release::NEWEST };
    let loaded = load::read_text("f.yaml", text, &load::Options::default());
    let filters: &[EnvoyFilter] = &loaded.inventory.envoy_filters;
    if filters.is_empty() || filters.iter().map(|filter| filter.patches.len()).sum::<usize>() > 100 {
        return;
    }
    let once = patched(filters, release);
    assert_eq!(once, patched(filters, release));
    let mut names: Vec<String> = filters.iter().map(EnvoyFilter::full_name).collect();
    names.sort();
    names.dedup();
    // Of two objects with the same name, the later one counts.
    if names.len() == filters.len() {
        let mut reversed = filters.to_vec();
        reversed.reverse();
        assert_eq!(once, patched(&reversed, release));
    }
    // Undoing filters that were never applied must not fail either.
    let config = DUMP.config(&Identity::default()).expect("the demo's proxy");
    let program = Program::new(filters, release);
    let plan = program.plan(&config.proxy, &MeshSettings::default());
    let options = Options::default();
    let found = unapply::unapply(&plan, &config, &options);
    let texts = found.kept_texts();
    assert!(unapply::without(&config, &texts).resources.len() <= config.resources.len());
}

/// Dumps: reading is total, and rendering is idempotent, also of what is no JSON.
fn dump(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let (Some(dump), _) = Dump::from_text("d.json", text) else { return };
    let _ = dump.config(&Identity::default()).map(|config| config.resources.len());
    let mut once = Vec::new();
    dump.rewrite(&[]).write_to(&mut once).expect("a vector");
    let Ok(rendered) = String::from_utf8(once.clone()) else { panic!("not UTF-8") };
    if let (Some(again), _) = Dump::from_text("d.json", rendered) {
        let mut twice = Vec::new();
        again.rewrite(&[]).write_to(&mut twice).expect("a vector");
        assert_eq!(once, twice);
    }
}

/// Archives: within the limits, whatever they claim.
fn capture(data: &[u8]) {
    static PATH: LazyLock<std::path::PathBuf> = LazyLock::new(|| {
        let folder = std::path::Path::new("/dev/shm");
        let folder = if folder.is_dir() { folder.to_owned() } else { std::env::temp_dir() };
        folder.join(format!("envoyfilter-fuzz-{}.tar", std::process::id()))
    });
    std::fs::write(&*PATH, data).expect("a file");
    let (capture, loaded) = Capture::open(&PATH, Limits::of_bytes(1 << 20), &Keeper::default(), true);
    assert!(loaded.sources.iter().map(|(_, source)| source.text.len()).sum::<usize>() <= 2 << 20);
    if let Some(capture) = capture {
        let _ = capture.each(&capture.dumps, &mut |_, _, _| Ok(()));
    }
}

/// A small mesh, and all rules.
static MESH: LazyLock<(Snapshot, Rules)> = LazyLock::new(|| {
    let objects: Vec<serde_json::Value> =
        serde_json::from_str(include_str!("../seeds/mesh.json")).expect("the objects of a mesh");
    let mut builder = SnapshotBuilder::new(Overrides::default(), &[]);
    for object in objects {
        let kind = kinds::WEBHOOK.kinds.iter().copied().find(|kind| object["kind"] == kind.kind);
        builder.apply(kind.expect("a kind that reviews need"), Change::Put(object));
    }
    (builder.snapshot(), Rules::without_memory(rules::ALL.to_vec(), Config::default()))
});

/// Reviews: any body is a review or an error, and its decision is the same each time, as a line that is safe to print.
fn review(data: &[u8]) {
    let request = match Request::read(data) {
        Ok(request) => request,
        Err(message) => return assert!(!message.to_string().is_empty()),
    };
    let (snapshot, all) = &*MESH;
    let policy = Policy { mode: Mode::Enforce, deny_at: Severity::Error };
    let decide = || match request.decide_within(snapshot, all, policy, &Allowance::new(4_000_000)) {
        Ok(decision) => Some(decision),
        Err(Undecided::Panicked(panic)) => std::panic::resume_unwind(panic),
        Err(Undecided::Cancelled | Undecided::NotJson(_)) => None,
    };
    let Some(decision) = decide() else { return };
    let answer = decision.answer(&request);
    assert_eq!(answer["response"]["allowed"], !decision.denied());
    assert!(decision.warnings.iter().all(|line| !line.chars().any(escape::is_unsafe)), "{:?}", decision.warnings);
    assert_eq!(decide().map(|again| again.answer(&request)), Some(answer));
}

/// Rules in CEL: an accepted rule can be evaluated.
fn rules(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let (documents, _) = yaml::documents(FileId(0), text);
    let Some(document) = documents.first() else { return };
    let Ok(rule) = custom::read(document, rules::ALL) else { return };
    let loaded = load::read_text(demo::FILTERS_NAME, demo::FILTERS, &load::Options::default());
    let mesh = MeshSettings::default();
    let input = Input {
        sources: &loaded.sources,
        inventory: &loaded.inventory,
        problems: &[],
        dumps: &[],
        references: &[],
        release: Release::NEWEST,
        mesh: &mesh,
    };
    lint::lint(&input, &[rule]);
}

/// Configurations: problems have places in the text.
fn config(data: &[u8]) {
    let Some(text) = text(data) else { return };
    for document in yaml::documents(FileId(0), text).0 {
        let (config, problems) = Config::read(&document, rules::ALL);
        for span in problems.iter().filter_map(|problem| problem.span) {
            assert!(text.get(span.start as usize..span.end as usize).is_some(), "{span:?}");
        }
        assert!(rules::ALL.iter().filter(|rule| config.runs(rule)).count() <= rules::ALL.len());
    }
}

/// Lua: the parser is total.
fn lua(data: &[u8]) {
    let Some(text) = text(data) else { return };
    if let Err(error) = lua::parse(text) {
        assert!(!format!("{error:?}").is_empty());
    }
}

/// Redaction and escaping: both are idempotent, and no control sequence remains.
fn redact(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let line = escape::one_line(text);
    assert!(!line.chars().any(escape::is_unsafe));
    let redactor = Redactor::plain();
    let mut once = text.to_owned();
    redactor.text(&mut once);
    let mut secrets = Secrets::default();
    if let Ok(mut value) = serde_json::from_str::<serde_json::Value>(text) {
        redactor.collect(&mut value, &mut secrets);
        let mut again = value.clone();
        redactor.redact(&mut again);
        assert_eq!(value, again);
    }
    let _ = secrets.scrub(text);
}

//! The engine against recordings of the real istiod: every case of every topology and release must give the same
//! result.

use crate::linting::input;
use crate::support::{ECDS_NAMES, bases, dumps, filters, print_difference, recorded, states, testdata, text};
use kubectl_envoyfilter::engine::program::Status;
use kubectl_envoyfilter::engine::{MeshSettings, Program};
use kubectl_envoyfilter::lint::{self, Input};
use kubectl_envoyfilter::load::{self, dump::Identity};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::rules;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// A topology as one release of istiod generated it.
pub(crate) struct Set {
    pub(crate) name: String,
    pub(crate) release: Release,
    pub(crate) folder: PathBuf,
}

/// The recorded patch of each older release.
const RELEASES: &[(u16, u16)] = &[(22, 8), (23, 6), (24, 6), (25, 5), (26, 8), (27, 9), (28, 10), (29, 6), (30, 3)];

pub(crate) fn sets() -> Vec<Set> {
    let mut sets = Vec::new();
    for topology in ["shop", "ambient", "gwapi", "straits", "delta", "harbor", "reef"] {
        let folder = testdata("reference").join(topology);
        for &(minor, patch) in RELEASES {
            let folder = folder.join(format!("releases/1.{minor}"));
            if folder.exists() {
                sets.push(Set { name: format!("{topology}/1.{minor}"), release: Release::patch(minor, patch), folder });
            }
        }
        sets.push(Set { name: format!("{topology}/1.31"), release: Release::NEWEST, folder });
    }
    sets
}

/// The recordings that a test replays.
#[derive(Clone, Copy)]
pub(crate) enum Extent<'a> {
    /// Every 384th case, and every 48th of the smallest examples (`edge-…`).
    Part,
    /// Every case.
    All,
    /// The cases whose label contains this; details are printed.
    Only(&'a str),
}

impl<'a> Extent<'a> {
    /// The part, unless the value of an environment variable names other cases.
    pub(crate) fn requested(value: Option<&'a str>) -> Extent<'a> {
        match value {
            None => Extent::Part,
            Some("all") => Extent::All,
            Some(part) => Extent::Only(part),
        }
    }

    /// Whether the case with this number and label is replayed.
    pub(crate) fn includes(self, number: usize, label: &str) -> bool {
        match self {
            Extent::Part => number.is_multiple_of(if label.contains("/edge-") { 48 } else { 384 }),
            Extent::All => true,
            Extent::Only(part) => label.contains(part),
        }
    }

    /// Whether details are printed.
    pub(crate) fn details(self) -> bool {
        matches!(self, Extent::Only(_))
    }
}

/// The two halves of `items`, each on a thread of its own, in one list.
pub(crate) fn in_halves<T: Sync, R: Send>(items: &[T], one: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let half = |odd: usize| items.iter().skip(odd).step_by(2).map(&one).collect::<Vec<_>>();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| half(1));
        half(0).into_iter().chain(other.join().unwrap()).collect()
    })
}

impl Set {
    /// The recorded cases by id, each as the line it is: most tests read few of them.
    pub(crate) fn lines(&self) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        for name in ["cases", "edge", "values", "real"] {
            let path = self.folder.join(format!("{name}.jsonl"));
            if name == "cases" || path.with_extension("jsonl.zst").exists() {
                lines.extend(text(&path).lines().map(|line| (id(line).to_owned(), line.to_owned())));
            }
        }
        lines
    }

    /// The cases that are replayed, each with its label.
    pub(crate) fn cases(&self, extent: Extent<'_>) -> Vec<(String, Json)> {
        let labelled = self.lines().into_iter().map(|(id, line)| (format!("{}/{id}", self.name), line)).enumerate();
        let replayed = labelled.filter(|(number, (label, _))| extent.includes(*number, label));
        replayed.map(|(_, (label, line))| (label, case(&line))).collect()
    }

    /// Whether the recording asked for routes as Envoy does.
    fn asked_as_envoy(&self) -> bool {
        self.name.starts_with("reef")
    }

    /// The extension configurations that the recorder requested; `None`: those that listeners refer to.
    pub(crate) fn ecds_names(&self) -> Option<&'static [&'static str]> {
        let by_reference = ["straits", "delta", "reef"].iter().any(|topology| self.name.starts_with(topology));
        (!by_reference).then_some(ECDS_NAMES)
    }
}

/// The id of a recorded case: the first key of this name, as quotes in the keys before it are escaped.
fn id(line: &str) -> &str {
    let (_, value) = line.split_once("\"id\":").expect("an id");
    value.split('"').nth(1).expect("a string")
}

/// A recorded case.
pub(crate) fn case(line: &str) -> Json {
    let case: Json = serde_json::from_str(line).unwrap();
    assert_eq!(case["id"], id(line));
    case
}

/// The clusters that only an annotation adds, as recorded: the engine cannot know them from the base dump.
fn service_clusters(set: &Set) -> BTreeMap<String, String> {
    let alone = set.cases(Extent::Only("/edge-waypoint-referenced-services"));
    let alone = alone.iter().find(|(label, _)| label.ends_with("/edge-waypoint-referenced-services"));
    let clusters = alone.and_then(|(_, case)| case["proxies"]["waypoint"]["cluster"].as_object());
    clusters.into_iter().flatten().map(|(name, cluster)| (name.clone(), cluster.to_string())).collect()
}

/// The result of one set.
#[derive(Default)]
struct Figures {
    cases: usize,
    leaked: usize,
    refused: usize,
    /// The configurations compared, as `<case>/<proxy>`.
    labels: BTreeSet<String>,
    different: BTreeSet<String>,
}

fn replay(set: &Set, extent: Extent<'_>) -> Figures {
    let mut figures = Figures::default();
    let dumps = dumps(&set.folder);
    let mut bases = bases(&dumps);
    bases.values_mut().for_each(|base| base.asked_as_envoy = set.asked_as_envoy());
    let clusters = service_clusters(set);
    for (label, case) in set.cases(extent) {
        figures.cases += 1;
        // Leaks reach proxies that are generated later; the first proxy shows what it shares within itself.
        let first = label.contains("/edge-shared-").then_some("cart");
        if case.get("leaked").is_some() {
            figures.leaked += 1;
            if first.is_none() {
                continue;
            }
        }
        let source = case["filters"].as_str().unwrap();
        let filters = filters(&label, source);
        let program = Program::new(&filters, set.release);
        let Some(proxies) = case.get("proxies") else {
            let lost = program.patches(0).iter().any(|patch| patch.value.is_none() || patch.status != Status::Ready);
            assert!(lost, "{label}: istiod refuses this: {}", case["errors"]);
            figures.refused += 1;
            continue;
        };
        for (proxy, kinds) in proxies.as_object().unwrap() {
            if case.get("leaked").is_some() && first != Some(proxy) {
                continue;
            }
            let base = &bases[proxy.as_str()];
            let (want, got) = (base.recorded(kinds), base.computed(&label, &program, set.ecds_names(), &clusters));
            figures.labels.insert(format!("{label}/{proxy}"));
            if got != want {
                if extent.details() {
                    println!("{label} {proxy}\n{source}");
                    print_difference(&want, &got);
                }
                figures.different.insert(format!("{label}/{proxy}"));
            }
        }
    }
    figures
}

/// The recordings that the engine does not reproduce.
pub(crate) fn known_differences() -> BTreeSet<String> {
    known("reference/known_differences.txt")
}

/// The cases in a list of lines `<case>: <reason>`.
pub(crate) fn known(path: &str) -> BTreeSet<String> {
    let list = text(&testdata(path));
    let lines = list.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines.map(|line| line.split_once(": ").expect("a reason").0.to_owned()).collect()
}

/// Replays recordings, prints figures, and asserts that only known configurations differ, and that all of them do.
fn prove(extent: Extent<'_>) {
    let sets = sets();
    assert_eq!(sets.len(), 33, "recordings are missing");
    let total = in_halves(&sets, |set| replay(set, extent));
    let sum = |part: fn(&Figures) -> usize| total.iter().map(part).sum::<usize>();
    let all = |part: fn(&Figures) -> &BTreeSet<String>| total.iter().flat_map(part).collect::<BTreeSet<_>>();
    let (labels, different) = (all(|figures| &figures.labels), all(|figures| &figures.different));
    let known = known_differences();
    let known: BTreeSet<&String> = match extent {
        Extent::All => known.iter().collect(),
        Extent::Part | Extent::Only(_) => known.iter().filter(|label| labels.contains(label)).collect(),
    };
    if matches!(extent, Extent::All) {
        let compared = [sum(|figures| figures.cases), labels.len()];
        states("README.md", &compared);
        states("docs/src/trust.md", &compared);
        states("docs/src/trust.md", &[sum(|figures| figures.leaked), sum(|figures| figures.refused)]);
    }
    println!(
        "reference: {} cases ({} left out: leaked; {} refused by both), {} proxy configurations compared, {} different, {} of them known",
        sum(|figures| figures.cases),
        sum(|figures| figures.leaked),
        sum(|figures| figures.refused),
        labels.len(),
        different.len(),
        different.intersection(&known).count(),
    );
    let new: Vec<_> = different.difference(&known).collect();
    assert!(new.is_empty(), "{} cases differ from istiod: {new:#?}", new.len());
    let gone: Vec<_> = known.difference(&different).collect();
    assert!(gone.is_empty(), "listed in known_differences.txt, and equal now: {gone:#?}");
    assert!(extent.details() || labels.len() > 100, "recordings are missing");
}

/// `CASE=all` replays every case, `CASE=shop/1.31/edge-…` those whose label contains that, with their differences.
#[test]
fn recorded_cases_equal_istiods_result() {
    prove(Extent::requested(std::env::var("CASE").ok().as_deref()));
}

#[test]
#[ignore = "a minute: cargo test --test it everything_recorded -- --ignored"]
fn everything_recorded_equals_istiods_result() {
    prove(Extent::All);
}

/// Results that vary from run to run in istiod: the engine gives one of them, and the rule about it reports them where
/// it matters.
#[test]
fn unstable_results_are_recorded_and_reported() {
    let folder = testdata("reference/harbor");
    let dumps = dumps(&folder);
    let bases = bases(&dumps);
    let rule = rules::ALL.iter().copied().find(|rule| rule.name == "sniffed-route-patched-twice").unwrap();
    for case in recorded(&folder.join("unstable.jsonl")) {
        let (id, source) = (case["id"].as_str().unwrap(), case["filters"].as_str().unwrap());
        let filters = filters(id, source);
        let program = Program::new(&filters, Release::NEWEST);
        let base = &bases["tug"];
        let got = base.computed(id, &program, Some(ECDS_NAMES), &BTreeMap::new());
        let results: Vec<_> =
            case["results"].as_array().unwrap().iter().map(|one| base.recorded(&one["tug"])).collect();
        assert!(results.len() > 1 && results.contains(&got), "{id}: none of {} results", results.len());
        let loaded = load::read_text(id, source, &load::Options::default());
        let mesh = MeshSettings::default();
        let configs: Vec<_> = dumps.values().map(|dump| dump.config(&Identity::default()).unwrap()).collect();
        let input = Input { dumps: &configs, ..input(&loaded, Release::NEWEST, &mesh) };
        assert_eq!(lint::lint(&input, &[rule]).len(), 1, "{id}");
    }
}

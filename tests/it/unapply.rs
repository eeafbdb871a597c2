//! Un-applying against recordings of istiod, in which both sides are known: the configuration before and after the
//! filters.

use crate::reference::{Extent, Set, in_halves, sets};
use crate::support::{Base, bases, canonical, dumps, filters, live_dump, testdata, text};
use kubectl_envoyfilter::engine::unapply::{self, State, Unapplied, doubt};
use kubectl_envoyfilter::engine::{self, MeshSettings, Options, Outcome, Plan, Program};
use kubectl_envoyfilter::load::dump::Identity;
use kubectl_envoyfilter::model::envoy_filter::{EnvoyFilter, Operation};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::model::resource::{ProxyConfig, Resource, ResourceKind, ResourceState};
use kubectl_envoyfilter::proto::json;
use kubectl_envoyfilter::proto::packed::Kept;
use kubectl_envoyfilter::proto::tree::{TYPE_KEY, Tree, Value};
use kubectl_envoyfilter::proto::unmerge::unknown;
use kubectl_envoyfilter::study::InEffect;
use serde_json::Value as Json;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// The texts of a proxy's resources after the filters, as recorded; unchanged ones by their index in the base.
enum Text {
    Same(usize),
    Other(ResourceKind, String, String),
}

fn recorded(base: &Base<'_>, kinds: &Json) -> Vec<Text> {
    let word = |kind| match kind {
        ResourceKind::Listener => "listener",
        ResourceKind::Cluster => "cluster",
        ResourceKind::Route => "route",
        ResourceKind::ExtensionConfig => "ecds",
    };
    let changed = |kind, name: &str| kinds.get(word(kind)).and_then(|of| of.get(name)).is_some();
    let mut texts: Vec<Text> = Vec::new();
    for (index, resource) in base.config.resources.iter().enumerate() {
        if !changed(resource.kind, &resource.name) {
            texts.push(Text::Same(index));
        }
    }
    for kind in ResourceKind::ALL {
        for (name, resource) in kinds.get(word(kind)).and_then(Json::as_object).into_iter().flatten() {
            let (name, copy) = name.split_once('#').map_or((name.as_str(), false), |(name, _)| (name, true));
            // The recorder requests a route once for each listener that names it.
            let asked_again = copy && kind == ResourceKind::Route;
            if !resource.is_null() && !asked_again {
                texts.push(Text::Other(kind, name.to_owned(), resource.to_string()));
            }
        }
    }
    texts
}

fn live<'t>(base: &Base<'t>, texts: &'t [Text]) -> ProxyConfig<'t> {
    let resources = texts.iter().map(|text| match text {
        Text::Same(index) => base.config.resources[*index].clone(),
        Text::Other(kind, name, json) => Resource {
            kind: *kind,
            name: name.as_str().into(),
            state: ResourceState::Active,
            json: json.into(),
            last_updated: None,
            error: None,
            opened: None,
        },
    });
    ProxyConfig { resources: resources.collect(), ..base.config.clone() }
}

/// Whether the known part of a reconstruction is true. Unknown nodes match anything; a member of a oneof next to them
/// may have been cleared.
fn agrees(found: &Tree<'_>, truth: &Tree<'_>, cleared: &BTreeSet<String>) -> bool {
    if unknown(found) {
        return true;
    }
    match (&found.value, &truth.value) {
        (Value::Map(left), Value::Map(right)) => {
            let loose = left.iter().any(|(_, value)| unknown(value));
            let empty = |value: &Tree<'_>| matches!(&value.value, Value::List(items) if items.is_empty());
            right.iter().all(|(key, value)| match found.get(key) {
                Some(found) => agrees(found, value, cleared),
                None => empty(value) || (loose && cleared.contains(key.as_ref())),
            }) && left.iter().all(|(key, value)| unknown(value) || empty(value) || truth.get(key).is_some())
        }
        (Value::List(left), Value::List(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(found, truth)| agrees(found, truth, cleared))
        }
        _ => json::canonical(found) == json::canonical(truth),
    }
}

fn opened<'a>(tree: &Tree<'a>) -> Tree<'a> {
    let mut tree = tree.clone();
    tree.remove(TYPE_KEY);
    tree.open_all();
    tree
}

/// How close a reconstruction comes to the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Truth {
    /// It equals the original.
    Exact,
    /// Its known part equals the original.
    Known,
    /// The same, except for objects that REMOVE patches removed.
    Removed,
    /// It differs.
    Wrong,
}

fn truth(
    base: &Base<'_>,
    plan: &Plan<'_>,
    options: &Options,
    (live, texts): (&ProxyConfig<'_>, &[Text]),
    found: &Unapplied<'_>,
) -> (Truth, String) {
    // The base as it would be if only the REMOVE patches had run.
    let keeps: Vec<_> = plan.ids().filter(|&id| plan.get(id).built.operation != Operation::Remove).collect();
    let removing = plan.without(&keeps);
    let removed = OnceCell::new();
    let gone = || -> &BTreeMap<usize, Option<Tree<'_>>> {
        removed.get_or_init(|| {
            let after = engine::run(&removing, &base.config, options, &mut ());
            after.resources.into_iter().filter_map(|one| Some((one.source?, one.tree.map(Kept::into_tree)))).collect()
        })
    };
    let mut level = Truth::Exact;
    let mut seen = BTreeSet::new();
    for (index, (resource, text)) in live.resources.iter().zip(texts).enumerate() {
        let other = found.texts.get(&index);
        if let (Text::Same(at), None) = (text, other) {
            seen.insert(*at);
            continue;
        }
        if other == Some(&None) {
            continue;
        }
        let tree = found.trees.get(&index).cloned().unwrap_or_else(|| json::parse(resource.json.read()).unwrap());
        let tree = opened(&tree);
        // The original name of an object that a merge renamed is unknown.
        let nameless = tree.get("name").is_some_and(unknown);
        let same = base.config.resources.iter().enumerate().find(|(at, one)| {
            one.kind == resource.kind
                && !seen.contains(at)
                && if nameless {
                    agrees(&tree, &opened(&json::parse(one.json.read()).unwrap()), &found.cleared)
                } else {
                    one.name == tree.name() || one.name == resource.name
                }
        });
        let Some((at, was)) = same else {
            return (Truth::Wrong, format!("{:?} {} was not there", resource.kind, resource.name));
        };
        seen.insert(at);
        let now = other.and_then(Option::as_deref).unwrap_or(resource.json.read());
        if [canonical(json::parse(now).unwrap())] == *base.resources[&(was.kind, was.name.to_string())] {
            continue;
        }
        level = level.max(Truth::Known);
        if agrees(&tree, &opened(&json::parse(was.json.read()).unwrap()), &found.cleared) {
            continue;
        }
        let rest = gone().get(&at).and_then(Option::as_ref).map(opened);
        if rest.as_ref().is_some_and(|rest| agrees(&tree, rest, &found.cleared)) {
            level = Truth::Removed;
            continue;
        }
        return (Truth::Wrong, format!("{:?} {}", resource.kind, resource.name));
    }
    for (at, resource) in base.config.resources.iter().enumerate().filter(|(at, _)| !seen.contains(at)) {
        // Route configurations are removed together with the listeners that refer to them.
        let route = resource.kind == ResourceKind::Route;
        let goes = || {
            let after = engine::run(plan, &base.config, options, &mut ());
            after.resources.iter().any(|one| one.source == Some(at) && one.tree.is_none())
        };
        if !route && !goes() {
            return (Truth::Wrong, format!("{:?} {} is missing", resource.kind, resource.name));
        }
        level = Truth::Removed;
    }
    (level, String::new())
}

/// The one case that is proven although the reconstruction differs from the original; its outcomes are nevertheless
/// correct.
const UNEXPLAINED: &str = "straits-771-0201/wharf";

#[derive(Default)]
struct Figures {
    pairs: usize,
    changed: usize,
    proven: usize,
    by: BTreeMap<(bool, Truth), usize>,
    states: BTreeMap<State, usize>,
    patches: usize,
    doubtful: usize,
    wrong: Vec<String>,
    verdicts: Vec<String>,
    open: Vec<String>,
}

/// The claim of an outcome about the proxy. Whether a merge changed anything depends on the original, which is lost:
/// the claim is that it met its object and holds there.
fn met(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Applied | Outcome::NoOp => "met",
        other => other.as_str(),
    }
}

fn measure(set: &Set, extent: Extent<'_>) -> Figures {
    let mut figures = Figures::default();
    let dumps = dumps(&set.folder);
    let bases = bases(&dumps);
    let mesh = MeshSettings::default();
    let options = Options {
        extension_names: set.ecds_names().map(|names| names.iter().map(|&name| name.to_owned()).collect()),
        ..Options::default()
    };
    let known = crate::reference::known_differences();
    for (label, case) in set.cases(extent) {
        if case.get("leaked").is_some() {
            continue;
        }
        let Some(proxies) = case.get("proxies").and_then(Json::as_object) else { continue };
        let source = case["filters"].as_str().unwrap();
        let filters = filters(&label, source);
        let program = Program::new(&filters, set.release);
        for (proxy, kinds) in proxies {
            let base = &bases[proxy.as_str()];
            let label = format!("{label}/{proxy}");
            let plan = program.plan(&base.config.proxy, &mesh);
            // The annotation adds clusters that are not in the base and not made by a patch.
            let brings = filters.iter().any(|filter| filter.annotations.contains_key(engine::REFERENCED_SERVICES));
            if plan.patches.is_empty() || known.contains(&label) || brings {
                continue;
            }
            figures.pairs += 1;
            let texts = recorded(base, kinds);
            let live = live(base, &texts);
            let mut found = engine::unapply(&plan, &live, &options);
            found.live = true;
            if kinds.as_object().unwrap().is_empty() {
                continue;
            }
            figures.changed += 1;
            *figures.states.entry(found.state()).or_default() += 1;
            let proven = found.proven() && found.absent.is_empty();
            figures.proven += usize::from(proven);
            let (truth, place) = truth(base, &plan, &options, (&live, &texts), &found);
            *figures.by.entry((proven, truth)).or_default() += 1;
            if proven && truth == Truth::Wrong {
                figures.wrong.push(format!("{label}: {place}"));
            }
            if !proven {
                let at =
                    found.differences.first().map(|it| format!("{} {} {}", it.kind.as_str(), it.resource, it.path));
                figures.open.push(format!("{label}: {} absent, {at:?}", found.absent.len()));
            }
            if extent.details() {
                println!(
                    "{label}: {:?} {truth:?} {place} absent {:?} {:#?}",
                    found.state(),
                    found.absent,
                    found.differences
                );
                for shown in &found.shown {
                    println!("  {:?} {} {:?}", shown.patch, shown.place, shown.seen);
                }
                println!("{source}");
            }
            if proven {
                let before = unapply::without(&live, &found.texts);
                let judged = engine::judge(&plan, &before, &options);
                let real = engine::judge(&plan, &base.config, &options);
                let doubtful = doubt::doubtful(&plan, &judged);
                for id in plan.ids() {
                    figures.patches += 1;
                    if doubtful.contains(&id) {
                        figures.doubtful += 1;
                        continue;
                    }
                    let (said, is) = (judged.outcome(&plan, id), real.outcome(&plan, id));
                    if met(said) != met(is) {
                        figures.verdicts.push(format!("{label} {id:?}: says {said}, is {is}"));
                    }
                }
            }
        }
    }
    figures
}

/// The meaning of proven: the known part of the reconstruction is what istiod generated, except for objects that REMOVE
/// patches removed; and every patch that is not doubtful meets objects of the true configuration if and only if it does
/// so in the reconstruction.
fn prove(extent: Extent<'_>) {
    let all = in_halves(&sets(), |set| measure(set, extent));
    let sum = |part: fn(&Figures) -> usize| all.iter().map(part).sum::<usize>();
    let (pairs, changed, proven) = (sum(|one| one.pairs), sum(|one| one.changed), sum(|one| one.proven));
    let mut by: BTreeMap<(bool, Truth), usize> = BTreeMap::new();
    let mut states: BTreeMap<State, usize> = BTreeMap::new();
    for one in &all {
        one.by.iter().for_each(|(key, number)| *by.entry(*key).or_default() += number);
        one.states.iter().for_each(|(key, number)| *states.entry(*key).or_default() += number);
    }
    let of = |truth: Truth| by.iter().filter(|((_, it), _)| *it == truth).map(|(_, number)| number).sum::<usize>();
    let (exact, known, removed) = (of(Truth::Exact), of(Truth::Known), of(Truth::Removed));
    println!(
        "un-applying: of {pairs} configurations with filters {changed} are changed by them; reconstructed exactly {exact}, \
         but for overwritten values {known}, but for removed objects {removed}; replay proven {proven}"
    );
    println!("{by:?}\n{states:?}");
    println!("patches of proven ones: {}, doubtful {}", sum(|one| one.patches), sum(|one| one.doubtful));
    let list = |name: &str, part: fn(&Figures) -> &Vec<String>| {
        let lines: Vec<&String> = all.iter().flat_map(part).collect();
        println!("{name}: {}", lines.len());
        lines.iter().take(60).for_each(|line| println!("  {line}"));
    };
    list("proven and wrong", |one| &one.wrong);
    list("verdicts", |one| &one.verdicts);
    list("open", |one| &one.open);
    if !extent.details() {
        assert!(changed > 25, "recordings are missing");
        // The shares are those of everything.
        if matches!(extent, Extent::All) {
            assert!(exact * 100 >= changed * 55, "fewer exact reconstructions than there were");
            assert!((exact + known + removed) * 100 >= changed * 94, "fewer true reconstructions than there were");
            assert!(proven * 100 >= changed * 91, "fewer proofs than there were");
        }
        let none = |part: fn(&Figures) -> &Vec<String>| all.iter().flat_map(part).count();
        let listed = |line: &&String| line.contains(UNEXPLAINED);
        let wrong = all.iter().flat_map(|one| &one.wrong);
        assert_eq!(wrong.filter(|line| !listed(line)).count(), 0, "proven, and not what was there");
        assert_eq!(none(|one| &one.verdicts), 0, "an outcome on a proven reconstruction is not the true one");
    }
}

/// `CASE=all` takes every case, `CASE=shop/1.31/edge-…` those whose label contains that, with the details.
#[test]
fn recordings_are_reconstructed_and_what_is_proven_is_true() {
    prove(Extent::requested(std::env::var("CASE").ok().as_deref()));
}

#[test]
#[ignore = "a minute: cargo test --test it everything_recorded -- --ignored"]
fn everything_recorded_is_reconstructed() {
    prove(Extent::All);
}

/// A running Envoy with a patched configuration: the generated configuration is reconstructed, except for what the
/// merge overwrote.
#[test]
fn the_dump_of_a_running_envoy_is_proven() {
    let (generated, patched) = (live_dump("generated"), live_dump("patched"));
    let (generated, live) =
        (generated.config(&Identity::default()).unwrap(), patched.config(&Identity::default()).unwrap());
    let source = text(&testdata("live/stamp.yaml"));
    let filters = filters("stamp.yaml", &source);
    let program = Program::new(&filters, Release::NEWEST);
    let (mesh, options) = (MeshSettings::default(), Options::default());
    let plan = program.plan(&live.proxy, &mesh);
    let found = engine::unapply(&plan, &live, &options);
    assert_eq!((found.state(), found.proven()), (State::Patched, true), "{:?}", found.differences);
    assert!(plan.ids().all(|id| found.in_effect(id) == Some(InEffect::Yes)));
    let before = unapply::without(&live, &found.texts);
    let texts = |config: &ProxyConfig<'_>, name: &str| {
        let one = config.resources.iter().find(|it| it.name == name).unwrap();
        canonical(json::parse(one.json.read()).unwrap())
    };
    assert_eq!(texts(&before, "virtualInbound"), texts(&generated, "virtualInbound"));
    let cluster = texts(&generated, "inbound|8080||").replace(r#""connect_timeout":"10s","#, "");
    assert_eq!(texts(&before, "inbound|8080||"), cluster);
}

/// Without the filter, with another one that Envoy rejected, or on a proxy that never had it: the result says so.
#[test]
fn dumps_of_a_running_envoy_show_what_is_in_effect() {
    let read = |name: &str| filters(name, &text(&testdata(&format!("live/{name}.yaml"))));
    let (stamp, limit) = (read("stamp"), read("limit"));
    let both: Vec<EnvoyFilter> = stamp.iter().chain(&limit).cloned().collect();
    let look = |dump: &str, filters: &[EnvoyFilter]| {
        let dump = live_dump(dump);
        let config = dump.config(&Identity::default()).unwrap();
        let program = Program::new(filters, Release::NEWEST);
        let plan = program.plan(&config.proxy, &MeshSettings::default());
        let options = Options::default();
        let found = engine::unapply(&plan, &config, &options);
        (found.state(), found.proven(), plan.ids().map(|id| found.in_effect(id)).collect::<Vec<_>>())
    };
    let (yes, no) = (Some(InEffect::Yes), Some(InEffect::No));
    assert_eq!(look("patched", &both), (State::Partly, true, vec![yes, yes, no]));
    assert_eq!(look("rejected", &both), (State::Partly, true, vec![yes, yes, no]));
    assert_eq!(look("unpatched", &stamp), (State::Generated, true, vec![no, no]));
    assert_eq!(look("generated", &stamp), (State::Generated, true, vec![no, no]));
}

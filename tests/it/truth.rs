//! What the linter says has no effect has none, and what has none is said: on the recorded cases, patch by patch.
//!
//! A patch has no effect when the engine, which these cases prove equal to istiod, gives every proxy the same
//! configuration without it. `TRUTH=all` takes every recorded case instead of a part, `TRUTH=shop/1.31/edge` those
//! whose label contains that, and prints what is said and not true, or true and not said.

use crate::reference::{Set, known_differences, sets};
use crate::support::dumps;
use kubectl_envoyfilter::engine::{self, MeshSettings, Options, Program};
use kubectl_envoyfilter::lint::{self, Input};
use kubectl_envoyfilter::load::{self, dump::Identity};
use kubectl_envoyfilter::model::envoy_filter::EnvoyFilter;
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::model::resource::ProxyConfig;
use kubectl_envoyfilter::proto::json;
use kubectl_envoyfilter::rules;
use std::collections::{BTreeMap, BTreeSet};

/// Of the recorded cases every so many-th is taken; the smallest examples (`edge-…`) always are.
const PART: usize = 12;

/// Every object that is another one, as canonical text; what is as it was before is left out.
fn result(filters: &[EnvoyFilter], release: Release, config: &ProxyConfig<'_>) -> BTreeSet<String> {
    let program = Program::new(filters, release);
    let plan = program.plan(&config.proxy, &MeshSettings::default());
    let options = Options::default();
    let patched = engine::run(&plan, config, &options, &mut ());
    let mut changed = BTreeSet::new();
    for one in &patched.resources {
        let text = |tree: &kubectl_envoyfilter::proto::tree::Tree<'_>| {
            let mut tree = tree.clone();
            tree.remove("@type");
            json::canonical(&tree)
        };
        let after = one.tree.as_ref().map(text);
        let before = one.source.and_then(|index| engine::open(config, index, &plan)).as_ref().map(text);
        if after == before {
            continue;
        }
        let mut line = format!("{:?} {:?} {} {after:?}", one.kind, one.source, one.name);
        while !changed.insert(line.clone()) {
            line.push_str(" again");
        }
    }
    changed
}

#[derive(Default)]
struct Figures {
    patches: usize,
    ineffective: usize,
    said: usize,
    untrue: Vec<String>,
    unsaid: Vec<String>,
    rules: BTreeMap<&'static str, (usize, usize)>,
}

fn measure(set: &Set, wanted: &str, figures: &mut Figures) {
    let given = dumps(&set.folder);
    let configs: Vec<ProxyConfig<'_>> = given.values().map(|dump| dump.config(&Identity::default()).unwrap()).collect();
    let mesh = MeshSettings::default();
    let known = known_differences();
    for (number, case) in set.cases().iter().enumerate() {
        let label = format!("{}/{}", set.name, case["id"].as_str().unwrap());
        let taken = match wanted {
            "all" => true,
            "" => label.contains("/edge-") || number % PART == 0,
            part => label.contains(part),
        };
        let differs = known.iter().any(|line| line.starts_with(&format!("{label}/")));
        if !taken || differs || case.get("leaked").is_some() {
            continue;
        }
        let loaded = load::read_text(&label, case["filters"].as_str().unwrap(), &load::Options::default());
        let input = Input {
            sources: &loaded.sources,
            inventory: &loaded.inventory,
            problems: &loaded.problems,
            dumps: &configs,
            references: &[],
            release: set.release,
            mesh: &mesh,
        };
        let found = lint::lint(&input, rules::ALL);
        let filters = &loaded.inventory.envoy_filters;
        let full: Vec<_> = configs.iter().map(|config| result(filters, set.release, config)).collect();
        for (index, filter) in filters.iter().enumerate() {
            for patch in 0..filter.patches.len() {
                let mut without = filters.clone();
                without[index].patches.remove(patch);
                let inert =
                    configs.iter().zip(&full).all(|(config, full)| result(&without, set.release, config) == *full);
                let about = found.iter().filter(|one| {
                    one.ineffective && one.filter == filter.full_name() && one.patch.is_none_or(|it| it == patch)
                });
                let said: BTreeSet<&'static str> = about.map(|one| one.rule.code).collect();
                figures.patches += 1;
                figures.ineffective += usize::from(inert);
                figures.said += usize::from(!said.is_empty());
                for code in &said {
                    let count = figures.rules.entry(code).or_default();
                    count.0 += usize::from(inert);
                    count.1 += usize::from(!inert);
                }
                let line = || {
                    let body = filter.patches[patch].body.as_ref().map(|body| body.operation);
                    let (apply_to, context) = (filter.patches[patch].apply_to, filter.patches[patch].context);
                    format!("{label} {} [{patch}] {apply_to} {body:?} {context}: {said:?}", filter.full_name())
                };
                if inert && said.is_empty() {
                    figures.unsaid.push(line());
                } else if !inert && !said.is_empty() {
                    figures.untrue.push(line());
                }
            }
        }
    }
}

#[test]
fn what_is_said_to_have_no_effect_has_none() {
    let wanted = std::env::var("TRUTH").unwrap_or_default();
    let mut figures = Figures::default();
    for set in sets() {
        measure(&set, &wanted, &mut figures);
    }
    let true_ones = figures.said - figures.untrue.len();
    println!(
        "truth: {} patches, {} without effect; said of {}: precision {true_ones}/{}, recall {}/{}",
        figures.patches,
        figures.ineffective,
        figures.said,
        figures.said,
        figures.ineffective - figures.unsaid.len(),
        figures.ineffective,
    );
    for (code, (right, wrong)) in &figures.rules {
        println!("  {code}: {right} true, {wrong} untrue");
    }
    for (what, lines) in [("said, and not true", &figures.untrue), ("true, and not said", &figures.unsaid)] {
        for line in lines.iter().take(40) {
            println!("  {what}: {line}");
        }
    }
    assert!(figures.untrue.is_empty(), "{} findings are not true", figures.untrue.len());
}

//! Filters for the benchmarks, and their effect.

use kubectl_envoyfilter::engine::{self, MeshSettings, Options, Outcome, Program};
use kubectl_envoyfilter::load::dump::{Dump, Identity};
use kubectl_envoyfilter::load::yaml;
use kubectl_envoyfilter::model::envoy_filter::EnvoyFilter;
use kubectl_envoyfilter::model::parse_envoy_filter;
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::source::Sources;

/// Five filters that match individual objects of the big dump.
pub(crate) const FIVE: &str = include_str!("five.yaml");
/// One filter that matches every HTTP connection manager.
pub(crate) const EVERYWHERE: &str = include_str!("everywhere.yaml");

/// The filters of a text.
pub(crate) fn filters(text: &str) -> Vec<EnvoyFilter> {
    let file = Sources::default().add("bench", text);
    let (documents, _) = yaml::documents(file, text);
    documents.into_iter().filter_map(|document| parse_envoy_filter::parse(document, "default").0).collect()
}

/// The whole computation behind `explain`: the number of applied patches, and of changed resources.
pub(crate) fn explain(dump: &Dump, filters: &[EnvoyFilter]) -> (usize, usize) {
    let config = dump.config(&Identity::default()).expect("a dump with a node");
    let program = Program::new(filters, Release::NEWEST);
    let plan = program.plan(&config.proxy, &MeshSettings::default());
    let options = Options::default();
    let judged = engine::judge(&plan, &config, &options);
    let applied = plan.ids().filter(|&id| judged.outcome(&plan, id) == Outcome::Applied).count();
    (applied, judged.patched.resources.len())
}

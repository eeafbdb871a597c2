//! What the configuration of a proxy contains, wherever it comes from.

use super::context::ProxyRun;
use crate::budget;
use crate::engine;
use crate::proto::tree::{TYPE_KEY, Tree, is_typed_struct, type_name};
use std::collections::BTreeSet;

/// The type of local rate limits, which routes may have, too.
pub(crate) const LOCAL: &str = "envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit";

/// Whether a listener or route of a proxy, as istiod generates or sends it, or an earlier version of a filter's own
/// configuration contains rate limit actions.
pub(crate) fn asks_for_limits(run: &ProxyRun<'_>) -> bool {
    let asks = |message: &Tree<'_>| has_items(message, "rate_limits", "rateLimits");
    let mut patched = run.judged.patched.resources.iter().filter_map(|one| one.tree.as_deref());
    generated_has(run, &["rate_limits", "rateLimits"], asks)
        || patched.any(|tree| {
            let mut tree = tree.clone();
            tree.open_all();
            each_message(&tree, asks)
        })
}

/// Whether a local rate limit in a proxy's configuration has descriptors, for the filter or for a route.
pub(crate) fn has_local_descriptors(run: &ProxyRun<'_>) -> bool {
    generated_has(run, &["descriptors"], |message| {
        let mut kind = type_name(message.str_at(TYPE_KEY));
        let mut content = message;
        if let Some(inner) = message.get("value").filter(|_| is_typed_struct(kind)) {
            kind = type_name(message.get_either("type_url", "typeUrl").and_then(Tree::as_str).unwrap_or_default());
            content = inner;
        }
        kind == LOCAL && has_items(content, "descriptors", "descriptors")
    })
}

/// The names of HTTP filters for which routes have settings, as istiod generates them.
pub(crate) fn route_settings(run: &ProxyRun<'_>) -> BTreeSet<String> {
    const KEYS: [&str; 2] = ["typed_per_filter_config", "typedPerFilterConfig"];
    let mut names = BTreeSet::new();
    generated_has(run, &KEYS, |message| {
        let settings = message.get_either(KEYS[0], KEYS[1]).map(Tree::entries).unwrap_or_default();
        names.extend(settings.iter().map(|(name, _)| name.to_string()));
        false
    });
    names
}

/// Whether a message in a resource passes a test; only resources whose text contains one of these words are parsed.
fn generated_has(run: &ProxyRun<'_>, words: &[&str], mut test: impl FnMut(&Tree<'_>) -> bool) -> bool {
    let has_word = |text: &str| words.iter().any(|word| text.contains(word));
    let mut resources = run.config.resources.iter().enumerate().filter(|(_, one)| has_word(one.json.search()));
    resources.any(|(index, _)| {
        engine::open(run.config, index, run.plan).is_some_and(|mut tree| {
            tree.open_all();
            each_message(&tree, &mut test)
        })
    })
}

/// Whether a message has a list of that name, in either spelling, with something in it.
fn has_items(message: &Tree<'_>, name: &str, json_name: &str) -> bool {
    message.get_either(name, json_name).is_some_and(|list| !list.items().is_empty())
}

/// Asks about the messages of a tree, until one passes.
fn each_message(tree: &Tree<'_>, mut test: impl FnMut(&Tree<'_>) -> bool) -> bool {
    let mut rest = vec![tree];
    while let Some(next) = rest.pop() {
        budget::charge(1);
        if test(next) {
            return true;
        }
        rest.extend(next.items());
        rest.extend(next.entries().iter().map(|(_, value)| value));
    }
    false
}

//! Which clusters the values of patches and the actions of routes refer to.

use super::context::{Context, PatchView};
use crate::lint::value::Object;
use crate::proto::tree::Tree;
use crate::source::Span;
use std::collections::HashMap;

/// The clusters that these fields of messages name in the values of patches, each with the first patch that does and the place.
/// Sources of configuration do not count: they use only clusters of the bootstrap.
pub(crate) fn called<'a>(cx: &Context<'a>, fields: &[(&str, &str)]) -> HashMap<&'a str, (PatchView<'a>, Span)> {
    let mut found = HashMap::new();
    for value in cx.values() {
        let is_source = |object: &Object<'_>| object.full_name() == "envoy.config.core.v3.ApiConfigSource";
        for object in &value.objects {
            if object.and_above(&value.objects).any(is_source) {
                continue;
            }
            let Some((_, field)) = fields.iter().find(|(message, _)| *message == object.full_name()) else { continue };
            let named = object.member(field);
            if let Some((name, span)) = named.and_then(|it| Some((it.entry.value.as_str()?, it.entry.value.span))) {
                found.entry(name).or_insert((value.view, span));
            }
        }
    }
    found
}

/// The clusters to which the action of a route, or a TCP proxy, sends traffic.
pub(crate) fn clusters_of<'t>(action: &'t Tree<'_>) -> impl Iterator<Item = &'t str> {
    let weighted = action.path(&["weighted_clusters", "clusters"]).map(Tree::items).unwrap_or_default();
    let own = [action.str_at("cluster")];
    own.into_iter().chain(weighted.iter().map(Tree::name)).filter(|name| !name.is_empty())
}

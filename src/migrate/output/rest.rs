//! What stays of a filter after some of its patches have moved.

use crate::migrate::After;
use crate::migrate::PatchReport;
use crate::migrate::base::catalog;
use crate::migrate::base::names::native_name;
use crate::migrate::base::step::Cx;
use crate::migrate::base::verdict::Class;
use crate::model::envoy_filter::ApplyTo;
use crate::proto::tree::{Tree, Value};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Keys under which filters name clusters.
const CLUSTER_KEYS: &[&str] = &["cluster", "cluster_name", "token_cluster", "httpCall"];

/// Calls `found` for every cluster that a value names.
pub(in crate::migrate) fn clusters_of(tree: &Tree<'_>, found: &mut dyn FnMut(&str)) {
    match &tree.value {
        Value::Map(entries) => {
            for (key, value) in entries {
                if CLUSTER_KEYS.contains(&key.as_ref())
                    && let Some(name) = value.as_str()
                {
                    found(name);
                }
                clusters_of(value, found);
            }
        }
        Value::List(items) => items.iter().for_each(|item| clusters_of(item, found)),
        _ => {}
    }
}

/// Keys under which filters contain Lua code.
const CODE_KEYS: &[&str] = &["inline_code", "inline_string"];

/// Calls `found` for every quoted text in the Lua code of a value, since calls name clusters that way.
pub(in crate::migrate) fn literals_of(tree: &Tree<'_>, found: &mut dyn FnMut(&str)) {
    codes_of(tree, &mut |code| quoted(code, found));
}

/// Calls `found` for the Lua code of a value.
pub(in crate::migrate) fn codes_of(tree: &Tree<'_>, found: &mut dyn FnMut(&str)) {
    match &tree.value {
        Value::Map(entries) => {
            for (key, value) in entries {
                match value.as_str().filter(|_| CODE_KEYS.contains(&key.as_ref())) {
                    Some(code) => found(code),
                    None => codes_of(value, found),
                }
            }
        }
        Value::List(items) => items.iter().for_each(|item| codes_of(item, found)),
        _ => {}
    }
}

/// Calls `found` for every text of a script, also of one that does not parse.
pub(in crate::migrate) fn quoted(code: &str, found: &mut dyn FnMut(&str)) {
    for (_, token) in crate::lua::tokens(code) {
        if let crate::lua::Token::Text(text) = token {
            found(text);
        }
    }
    for line in code.lines() {
        for quote in ['"', '\''] {
            // Everything between two quotes, so that a quote inside other quotes hides nothing.
            line.split(quote).skip(1).for_each(&mut *found);
        }
    }
}

/// What happens to a filter.
pub(in crate::migrate) fn after(cx: &Cx<'_>, patches: &[PatchReport]) -> After {
    if patches.is_empty() || !patches.iter().any(|patch| patch.written) {
        return After::Unchanged;
    }
    let mut document = cx.filter.document.to_json();
    super::draft::clean(&mut document, &cx.filter.namespace);
    let renamed: BTreeMap<&str, String> = patches
        .iter()
        .filter(|patch| {
            patch.written && patch.apply_to == ApplyTo::Cluster && patch.found.pattern == &catalog::CLUSTER_ADD
        })
        .filter_map(|patch| {
            let name = added_name(cx, patch.index)?;
            let (host, port) = cx.names.clusters.get(name)?.get(&cx.index)?;
            Some((name, native_name(host, *port)))
        })
        .collect();
    let Some(list) = document["spec"]["configPatches"].as_array().cloned() else { return After::Unchanged };
    let mut kept = Vec::new();
    for (index, mut one) in list.into_iter().enumerate() {
        let patch = patches.iter().find(|patch| patch.index == index);
        match patch {
            Some(patch) if patch.written => match &patch.found.rest {
                Some(rest) if patch.class == Class::Partly => {
                    one["patch"]["value"] = rest.clone();
                    kept.push(one);
                }
                _ => {}
            },
            _ => {
                rename(&mut one, &renamed);
                kept.push(one);
            }
        }
    }
    if kept.is_empty() {
        return After::Delete;
    }
    document["spec"]["configPatches"] = kept.into();
    After::Smaller(document)
}

fn added_name<'a>(cx: &Cx<'a>, index: usize) -> Option<&'a str> {
    cx.filter.patch_node(index)?.under(&["patch", "value", "name"])?.as_str()
}

/// Replaces the names of moved clusters by those that istiod gives them.
fn rename(value: &mut Json, renamed: &BTreeMap<&str, String>) {
    match value {
        Json::String(text) => {
            if let Some(name) = renamed.get(text.as_str()) {
                text.clone_from(name);
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| rename(item, renamed)),
        Json::Object(map) => map.iter_mut().for_each(|(_, value)| rename(value, renamed)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lua_code_names_clusters_in_quotes() {
        let mut all = Vec::new();
        quoted("h:httpCall(\n  \"one\", x)\nh:httpCall('two', \"it's\")", &mut |text| all.push(text.to_owned()));
        assert!(all.iter().any(|text| text == "one") && all.iter().any(|text| text == "two"), "{all:?}");
        let mut long = Vec::new();
        quoted("h:httpCall([[three]], x)", &mut |text| long.push(text.to_owned()));
        assert!(long.contains(&"three".to_owned()), "{long:?}");
    }
}

//! EF322: a key of `typed_per_filter_config` that is not the name of an HTTP filter.

use crate::declare_rule;
use crate::envoy;
use crate::lint::built_in;
use crate::lint::filter_keys::{self, elsewhere, package};
use crate::lint::{Context, Findings, PatchView, RuleInfo};
use crate::model::envoy_filter::ApplyTo;
use crate::proto::tree::{Tree, Value};
use crate::rules::value::per_route_config_not_taken::{key_at, refused_keys};
use crate::source::Step;
use std::cell::LazyCell;
use std::collections::HashSet;

declare_rule! {
    /// A key of `typed_per_filter_config` that is not the name of an HTTP filter.
    ///
    /// # What it finds
    /// A key of `typed_per_filter_config` in a VIRTUAL_HOST, HTTP_ROUTE or ROUTE_CONFIGURATION patch that is not the
    /// name of an HTTP filter, after all patches, of a listener that uses these routes. Without config dumps: if another filter
    /// of the input inserts a filter of that extension under another name, or only for the other direction.
    ///
    /// # Why it matters
    /// Since Envoy 1.29 the key must equal the name of the filter; the name of the extension no longer works, and the
    /// configuration is ignored.
    ///
    /// # How to fix
    /// Use the name that the HTTP filter has, and the context of the patch that inserts it.
    ///
    /// # References
    /// envoyproxy/envoy issue 29461; Envoy 1.29 release notes.
    "EF322" "unknown-filter-config-key" Operation Warning => check,
    explains: &["EF510", "EF521"], by_release: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let missing = LazyCell::new(|| missing_keys(cx));
    for view in cx.patches() {
        let Some(value) = view.built.and_then(|built| built.value.as_ref()) else { continue };
        let mut keys: Vec<Key> = Vec::new();
        match view.patch.apply_to {
            ApplyTo::HttpRoute | ApplyTo::VirtualHost | ApplyTo::RouteConfiguration => {
                keys_of(value, &mut Vec::new(), &mut keys);
            }
            _ => continue,
        }
        let refused = LazyCell::new(|| refused_keys(cx, &view));
        for Key { route, key, extension, is_off } in keys {
            let Some(unknown) = filter_keys::unknown(cx, &view, &key, &extension) else { continue };
            // Other rules report settings that no route takes, with the key to write, and those of a missing extension.
            if refused.contains(&key) || missing.contains(&(id(&view), key.clone())) {
                continue;
            }
            let message = if unknown.is_elsewhere {
                format!("no HTTP filter `{key}` reads the settings of these routes")
            } else {
                format!("no HTTP filter is named `{key}`")
            };
            let mut finding = view.finding(rule, view.value_place(&route), message);
            if unknown.is_elsewhere {
                finding = finding.label("never read").note("a filter reads only the routes that its own listener uses");
                finding = elsewhere(finding, &view, unknown.by.as_ref());
            } else if let Some(other) = &unknown.other {
                finding = finding
                    .label("must be the name of an HTTP filter")
                    .help(format!("write `{other}`, the name that the filter of this extension has"));
            } else if is_off {
                finding = finding
                    .label("must be the name of an HTTP filter")
                    .note("it switches off nothing")
                    .help("write the name of the filter that these routes should not use, or delete the settings");
            } else {
                finding = finding
                    .label("must be the name of an HTTP filter")
                    .note("the proxy ignores the settings")
                    .help("insert the filter under this name with an HTTP_FILTER patch, or delete the settings");
            }
            out.push(unknown.seen.tell(finding));
        }
    }
}

/// A filter and one of its patches.
type Id = (usize, usize);

fn id(view: &PatchView<'_>) -> Id {
    (view.filter_index, view.patch.index)
}

/// The keys whose settings are those of an extension that the proxy does not have: no filter can have their names there.
fn missing_keys(cx: &Context<'_>) -> HashSet<(Id, String)> {
    let mut keys = HashSet::new();
    for value in cx.proxy_values() {
        let missing = built_in::missing(cx, value);
        let missing = missing.iter().filter_map(|one| key_at(&one.slot.route));
        keys.extend(missing.map(|key| (id(&value.view), key.to_owned())));
    }
    keys
}

/// A key of a `typed_per_filter_config`.
struct Key {
    /// Its place.
    route: Vec<Step>,
    /// The key.
    key: String,
    /// The package of its extension.
    extension: String,
    /// Whether it only switches the filter off.
    is_off: bool,
}

impl Key {
    fn new(route: Vec<Step>, key: &str, config: &Tree<'_>) -> Key {
        let config = config.readable();
        let mut kind = config.type_name().unwrap_or_default().into_owned();
        let mut is_off = false;
        if kind == "envoy.config.route.v3.FilterConfig" {
            let (_, wrapper) = config.message();
            is_off = matches!(wrapper.get("disabled").map(|flag| &flag.value), Some(Value::Bool(true)));
            // A wrapper without a configuration has no type, but may be under the name of an extension.
            let inner = wrapper.get("config").and_then(|inner| Some(inner.readable().type_name()?.into_owned()));
            let named = || envoy::extension(key)?.messages().next();
            kind = inner.or_else(|| named().map(str::to_owned)).unwrap_or_default();
        }
        Key { route, key: key.to_owned(), extension: package(&kind).to_owned(), is_off }
    }
}

/// Keys of every `typed_per_filter_config`.
fn keys_of(tree: &Tree<'_>, route: &mut Vec<Step>, keys: &mut Vec<Key>) {
    for (key, value) in tree.entries() {
        route.push(Step::from(&**key));
        if key == "typed_per_filter_config" {
            for (name, config) in value.entries() {
                let mut route = route.clone();
                route.push(Step::from(&**name));
                keys.push(Key::new(route, name, config));
            }
        } else if !key.ends_with("metadata") {
            keys_of(value, route, keys);
        }
        route.pop();
    }
    for (number, item) in tree.items().iter().enumerate() {
        route.push(Step::from(number));
        keys_of(item, route, keys);
        route.pop();
    }
}

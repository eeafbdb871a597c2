//! EF121: an extension that the proxy is not built with.

use crate::declare_rule;
use crate::envoy::api::istio_of;
use crate::envoy::{self, Extension};
use crate::lint::context::PatchRun;
use crate::lint::value::{Object, PatchValue, Slot, TypeUrl, short};
use crate::lint::{Context, Finding, Findings, Knowledge, PatchView, RuleInfo};
use crate::rules::value::per_route_config_not_taken::key_at;
use crate::source::escape::one_line;
use crate::source::{NodeValue, Severity, Step};
use std::collections::BTreeSet;

declare_rule! {
    /// An extension that Istio's proxy is not built with.
    ///
    /// # What it finds
    /// A type whose extension is not built into the proxy of this release: extensions of Envoy's contrib image, and
    /// some of its core. With config dumps, the proxies' own lists decide. The old gzip filter, whose type is still in the
    /// API. Wasm runtimes other than V8, and names that are no runtime. With `is_optional: true` it is a warning: the proxy
    /// ignores the configuration.
    ///
    /// # Why it matters
    /// istiod knows the type and sends it; the proxy finds no implementation and rejects the listener or cluster.
    ///
    /// # How to fix
    /// Use an extension that exists, or a proxy image with it.
    ///
    /// # References
    /// Build files of istio/proxy 1.18 to 1.31; `node.extensions` in a proxy's bootstrap dump; for `Gzip`, Envoy 1.39.3 ("Didn't
    /// find a registered implementation"); `.bazelrc` of istio/proxy (`wasm=v8`), and each runtime tried with Envoy 1.39.3.
    "EF121" "extension-not-built-in" Value Warning => check,
    by_release: true, explains: &["EF140"]
}

/// Categories in which a missing build key means a missing extension; others are linked by other libraries.
const TELLING: [&str; 9] = [
    "envoy.filters.http",
    "envoy.filters.network",
    "envoy.filters.listener",
    "envoy.http.custom_response",
    "envoy.http.cache_v2",
    "envoy.geoip_providers",
    "envoy.generic_proxy.filters",
    "envoy.generic_proxy.codecs",
    "envoy.access_loggers",
];

/// What a proxy without the extension does.
const REJECTED: &str = "istiod knows the type and sends it; the proxy rejects the resource that contains it";

/// The same for some proxies.
const REFUSED: &str = "istiod knows the type and sends it; these proxies reject the resource that contains it";

/// The same for an optional configuration.
const IGNORED: &str = "`is_optional` is true: a proxy without the extension ignores this configuration";

/// A filter that Envoy no longer has; its API still has the type, which istiod therefore knows.
const OLD_GZIP: &str = "envoy.extensions.filters.http.gzip.v3.Gzip";

fn removed(rule: &'static RuleInfo, value: &PatchValue<'_>, url: &TypeUrl<'_>) -> Finding {
    value
        .finding(rule, url.span, "Envoy no longer has the HTTP filter `envoy.filters.http.gzip`")
        .severity(Severity::Error)
        .label("no extension reads this type")
        .rejected(REJECTED)
        .help("use `envoy.filters.http.compressor` with the library `envoy.compression.gzip.compressor`")
}

/// The category of Wasm runtimes.
const RUNTIMES: &str = "envoy.wasm.runtime";

/// A Wasm runtime that the proxy does not have.
fn runtime(rule: &'static RuleInfo, cx: &Context<'_>, value: &PatchValue<'_>, object: &Object<'_>) -> Option<Finding> {
    if object.full_name() != "envoy.extensions.wasm.v3.VmConfig" {
        return None;
    }
    let span = object.member("runtime")?.entry.value.span;
    let name = object.text("runtime").filter(|name| !BUILT_IN.contains(name))?;
    let finding = value
        .finding(rule, span, format!("the proxy has no Wasm runtime `{}`", one_line(name)))
        .rejected("Envoy cannot create the plugin: it rejects the resource that contains it, or fails every request once it has fetched the code")
        .help("use `runtime: envoy.wasm.runtime.v8`");
    let known = envoy::extension(name).is_some_and(|one| one.categories().any(|category| category == RUNTIMES));
    if !known {
        return Some(finding.severity(Severity::Error).label("not a runtime of Envoy"));
    }
    let has = |names: &[String]| names.iter().any(|have| have == name);
    let mut lists = cx
        .on_proxies(value.view.filter_index, value.view.patch.index)
        .map(|on| &on.run.config.proxy.extensions)
        .filter(|names| !names.is_empty());
    if lists.any(|names| has(names)) {
        return None;
    }
    Some(finding.label("another runtime of Envoy").likely("Istio's proxies are built with V8 only"))
}

/// The runtimes of Istio's proxies.
const BUILT_IN: [&str; 2] = ["envoy.wasm.runtime.null", "envoy.wasm.runtime.v8"];

/// Which proxies an extension is missing from.
struct Absence<'c, 'a> {
    /// The proxies with lists of their extensions.
    dumps: Vec<PatchRun<'c, 'a>>,
    /// Those whose list does not contain it.
    without: Vec<PatchRun<'c, 'a>>,
    /// No list is known, and the proxy of this release is built without it.
    likely: bool,
}

impl<'c, 'a> Absence<'c, 'a> {
    /// For a type with these extensions; `None` if no proxy is known to lack them.
    fn of(cx: &'c Context<'a>, value: &PatchValue<'a>, all: &[Extension]) -> Option<Absence<'c, 'a>> {
        let minor = value.envoy_minor.map_or(cx.release.minor, istio_of);
        let runs = cx.on_proxies(value.view.filter_index, value.view.patch.index);
        let dumps: Vec<_> = runs.filter(|on| !on.run.config.proxy.extensions.is_empty()).collect();
        let lists = |names: &[String]| all.iter().any(|one| names.iter().any(|have| have == one.name()));
        let without: Vec<_> = dumps.iter().filter(|on| !lists(&on.run.config.proxy.extensions)).copied().collect();
        let telling = all.iter().all(|one| one.categories().any(|category| TELLING.contains(&category)));
        let likely = dumps.is_empty() && telling && !all.iter().any(|one| one.in_istio_proxy(minor));
        (likely || !without.is_empty()).then_some(Absence { dumps, without, likely })
    }
}

/// The keys of `typed_per_filter_config` in a patch whose type this rule reports: the proxy rejects them.
pub(crate) fn missing_keys(cx: &Context<'_>, view: &PatchView<'_>) -> BTreeSet<String> {
    let id = |view: &PatchView<'_>| (view.filter_index, view.patch.index);
    let mut keys = BTreeSet::new();
    for value in cx.proxy_values().filter(|value| id(&value.view) == id(view)) {
        for slot in &value.slots {
            let Some(key) = key_at(&slot.route) else { continue };
            let Some(url) = slot.content().filter(|url| !url.unknown()) else { continue };
            let all: Vec<_> = envoy::extensions_of(url.name()).collect();
            if !all.is_empty() && !is_optional(value, slot) && Absence::of(cx, value, &all).is_some() {
                keys.insert(key.to_owned());
            }
        }
    }
    keys
}

/// Whether a proxy without the extension of a configuration ignores it.
fn is_optional(value: &PatchValue<'_>, slot: &Slot<'_>) -> bool {
    let flag = value.objects.get(slot.owner).and_then(|owner| owner.member("is_optional"));
    flag.is_some_and(|flag| matches!(flag.entry.value.value, NodeValue::Bool(true)))
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        let minor = value.envoy_minor.map_or(cx.release.minor, istio_of);
        out.extend(value.objects.iter().filter_map(|object| runtime(rule, cx, value, object)));
        // What is inside of an extension that is missing is not reported as well.
        let mut missing: Vec<&[Step]> = Vec::new();
        for slot in &value.slots {
            if missing.iter().any(|outer| slot.route.starts_with(outer)) {
                continue;
            }
            // Another rule reports a type that the proxy does not know.
            let reported = |url: &TypeUrl<'_>| url.envoy.is_none() && url.name().starts_with("envoy.");
            let Some(url) = slot.content().filter(|url| !url.unknown() && !reported(url)) else { continue };
            let all: Vec<_> = envoy::extensions_of(url.name()).collect();
            let Some(extension) = all.first() else {
                if slot.field.name() == "typed_config" && url.name() == OLD_GZIP {
                    missing.push(&slot.route);
                    out.push(removed(rule, value, &url));
                }
                continue;
            };
            let name = extension.name();
            let Some(Absence { dumps, without, likely }) = Absence::of(cx, value, &all) else { continue };
            missing.push(&slot.route);
            let optional = is_optional(value, slot);
            let finding = value
                .finding(rule, url.span, format!("the proxy has no `{name}`"))
                .label(format!("`{}` is its configuration", short(url.name())));
            let finding = if likely {
                let why = if extension.contrib() {
                    "it is part of Envoy's contrib image"
                } else {
                    "istio/proxy's build omits it"
                };
                let finding = finding.likely(&format!("the proxy of Istio 1.{minor} is built without it: {why}"));
                let finding = if optional { finding.note(IGNORED) } else { finding.rejected(REJECTED) };
                finding.help("look for it in `node.extensions` of the proxy's bootstrap dump")
            } else {
                // A reference configuration has a list if running proxies of its kind were asked for theirs.
                let sampled = without.iter().all(|on| on.run.knowledge == Knowledge::Reference);
                let finding = if optional { finding } else { finding.severity(Severity::Error) };
                if sampled {
                    out.push(finding.note("none of the running proxies that were asked lists it in `node.extensions`"));
                    continue;
                }
                let count = format!("{} of {} proxies do not list it in `node.extensions`", without.len(), dumps.len());
                let finding =
                    if optional { finding.note(count).note(IGNORED) } else { finding.note(count).note(REFUSED) };
                finding.workloads(without.iter().map(|on| on.run.label().to_owned()))
            };
            out.push(finding);
        }
    }
}

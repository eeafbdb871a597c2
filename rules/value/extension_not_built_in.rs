//! EF121: an extension that the proxy is not built with.

use crate::declare_rule;
use crate::envoy;
use crate::envoy::api::istio_of;
use crate::lint::value::{Object, PatchValue, TypeUrl, short};
use crate::lint::{Context, Finding, Findings, Knowledge, RuleInfo};
use crate::source::escape::one_line;
use crate::source::{Severity, Step};

declare_rule! {
    /// An extension that Istio's proxy is not built with.
    ///
    /// # What it finds
    /// A type whose extension is not built into the proxy of this release: extensions of Envoy's contrib image, and
    /// some of its core. With config dumps, the proxies' own lists decide. The old gzip filter, whose type is still in the
    /// API. Wasm runtimes other than V8, and names that are no runtime.
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

/// A filter that Envoy no longer has; its API still has the type, which istiod therefore knows.
const OLD_GZIP: &str = "envoy.extensions.filters.http.gzip.v3.Gzip";

fn removed(rule: &'static RuleInfo, value: &PatchValue<'_>, url: &TypeUrl<'_>) -> Finding {
    value
        .finding(rule, url.span, "Envoy no longer has the HTTP filter `envoy.filters.http.gzip`")
        .severity(Severity::Error)
        .label("no extension reads this type")
        .rejected("istiod knows the type and sends it; the proxy rejects the resource that contains it")
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
            let dumps: Vec<_> = cx
                .on_proxies(value.view.filter_index, value.view.patch.index)
                .filter(|on| !on.run.config.proxy.extensions.is_empty())
                .collect();
            let lists = |names: &[String]| all.iter().any(|one| names.iter().any(|have| have == one.name()));
            let without: Vec<_> = dumps.iter().filter(|on| !lists(&on.run.config.proxy.extensions)).collect();
            let telling = all.iter().all(|one| one.categories().any(|category| TELLING.contains(&category)));
            let likely = dumps.is_empty() && telling && !all.iter().any(|one| one.in_istio_proxy(minor));
            if without.is_empty() && !likely {
                continue;
            }
            missing.push(&slot.route);
            let finding = value
                .finding(rule, url.span, format!("the proxy has no `{name}`"))
                .label(format!("`{}` is its configuration", short(url.name())));
            let finding = if likely {
                let why = if extension.contrib() {
                    "it is part of Envoy's contrib image"
                } else {
                    "istio/proxy's build omits it"
                };
                finding
                    .likely(&format!("the proxy of Istio 1.{minor} is built without it: {why}"))
                    .rejected("istiod knows the type and sends it; the proxy rejects the resource that contains it")
                    .help("look for it in `node.extensions` of the proxy's bootstrap dump")
            } else {
                // A reference configuration has a list if running proxies of its kind were asked for theirs.
                let sampled = without.iter().all(|on| on.run.knowledge == Knowledge::Reference);
                let finding = finding.severity(Severity::Error);
                if sampled {
                    out.push(finding.note("none of the running proxies that were asked lists it in `node.extensions`"));
                    continue;
                }
                finding
                    .note(format!("{} of {} proxies do not list it in `node.extensions`", without.len(), dumps.len()))
                    .note("istiod knows the type and sends it; these proxies reject the resource that contains it")
                    .workloads(without.iter().map(|on| on.run.label().to_owned()))
            };
            out.push(finding);
        }
    }
}

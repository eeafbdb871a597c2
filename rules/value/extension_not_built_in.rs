//! EF121: an extension that the proxy is not built with.

use crate::declare_rule;
use crate::envoy;
use crate::envoy::api::istio_of;
use crate::lint::built_in::{self, Absence, Missing};
use crate::lint::value::{Object, PatchValue, TypeUrl, short};
use crate::lint::{Context, Finding, Findings, Knowledge, RuleInfo};
use crate::rules::value::missing_required_field;
use crate::source::Severity;
use crate::source::escape::one_line;

declare_rule! {
    /// An extension that Istio's proxy is not built with.
    ///
    /// # What it finds
    /// A type whose extension is not built into the proxy of this release: extensions of Envoy's contrib image, and
    /// some of its core. With config dumps, the proxies' own lists decide. The old gzip filter, whose type is still in the
    /// API. Wasm runtimes other than V8, and names that are no runtime. With `is_optional: true` it is a warning: the proxy
    /// ignores the configuration. What a route switches off with `disabled: true` is not read and not reported.
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

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        out.extend(value.objects.iter().filter_map(|object| runtime(rule, cx, value, object)));
        let missing = built_in::missing(cx, value);
        for slot in value.slots.iter().filter(|slot| slot.field.name() == "typed_config") {
            let url = built_in::configured(slot).filter(|url| url.name() == OLD_GZIP && url.envoy.is_some());
            let url = url.filter(|_| built_in::around(&missing, slot.owner).is_none());
            out.extend(url.map(|url| removed(rule, value, &url)));
        }
        for one in &missing {
            out.extend(found(rule, cx, value, one));
        }
    }
}

/// The finding for an extension that is missing.
fn found(
    rule: &'static RuleInfo,
    cx: &Context<'_>,
    value: &PatchValue<'_>,
    Missing { slot, extension, absence }: &Missing<'_, '_, '_>,
) -> Option<Finding> {
    // Another rule reports a type that the proxy does not know.
    let url = slot.content().filter(|url| url.envoy.is_some() || !url.name().starts_with("envoy."))?;
    let minor = value.envoy_minor.map_or(cx.release.minor, istio_of);
    let optional = built_in::is_optional(value, slot);
    let mut finding = value
        .finding(rule, url.span, format!("the proxy has no `{}`", extension.name()))
        .label(format!("`{}` is its configuration", short(url.name())));
    // A proxy that ignores the configuration does not miss its fields.
    let Absence { dumps, without, likely } = absence;
    let some_have_it = absence.some_have_it();
    let needs = if *likely || some_have_it { missing_required_field::needed_in(value, slot) } else { None };
    if needs.is_some() && (some_have_it || !optional) {
        finding = finding.severity(Severity::Error);
    }
    let needs = needs.map(|needs| format!("a proxy that has it rejects the resource, too: {needs}"));
    if *likely {
        let why =
            if extension.contrib() { "it is part of Envoy's contrib image" } else { "istio/proxy's build omits it" };
        let finding = finding.likely(&format!("the proxy of Istio 1.{minor} is built without it: {why}"));
        let finding = if optional { finding.note(IGNORED) } else { finding.rejected(REJECTED) };
        return Some(finding.notes(needs).help("look for it in `node.extensions` of the proxy's bootstrap dump"));
    }
    // A reference configuration has a list if running proxies of its kind were asked for theirs.
    let sampled = without.iter().all(|on| on.run.knowledge == Knowledge::Reference);
    let finding = if optional { finding } else { finding.severity(Severity::Error) };
    if sampled {
        let finding = finding.note("none of the running proxies that were asked lists it in `node.extensions`");
        return Some(finding.notes(needs));
    }
    let count = format!("{} of {} proxies do not list it in `node.extensions`", without.len(), dumps.len());
    let finding = if optional { finding.note(count).note(IGNORED) } else { finding.note(count).note(REFUSED) };
    Some(finding.notes(needs).workloads(without.iter().map(|on| on.run.label().to_owned())))
}

//! EF130: a built-in Wasm plugin that the proxy no longer has.

use crate::declare_rule;
use crate::envoy::api::istio_of;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Severity;

declare_rule! {
    /// A built-in Wasm plugin that the proxy no longer has.
    ///
    /// # What it finds
    /// A Wasm filter with the runtime `envoy.wasm.runtime.null` and one of Istio's own plugins (`envoy.wasm.stats`,
    /// `envoy.wasm.metadata_exchange` and others) that is not built into the proxy of this release; a warning for any
    /// other name, which only a custom proxy can have.
    ///
    /// # Why it matters
    /// istiod accepts it; the proxy cannot load the plugin and rejects the listener.
    ///
    /// # How to fix
    /// Remove the filter; its functionality is native now and configured with the Telemetry API.
    ///
    /// # References
    /// istio/proxy 1.17 to 1.23, plugins and build files.
    "EF130" "wasm-plugin-gone" Value Error => check,
    by_release: true
}

/// Plugins, and the last minor of Istio whose proxy has them.
const PLUGINS: [(&str, u16); 5] = [
    ("envoy.wasm.stats", 17),
    ("envoy.wasm.attributegen", 17),
    ("envoy.wasm.metadata_exchange", 19),
    ("envoy.wasm.null.stackdriver", 22),
    ("envoy.wasm.access_log_policy", 22),
];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        for object in value.objects.iter().filter(|object| object.full_name() == "envoy.extensions.wasm.v3.VmConfig") {
            let source = value.objects.iter().find(|source| {
                source.full_name() == "envoy.config.core.v3.DataSource" && source.route.starts_with(&object.route)
            });
            let Some(member) = source.and_then(|source| source.member("inline_string")) else { continue };
            let Some(name) = member.entry.value.as_str() else { continue };
            let native = object.text("runtime") == Some("envoy.wasm.runtime.null");
            if native && !name.is_empty() && PLUGINS.iter().all(|(plugin, _)| *plugin != name) {
                out.push(
                    value
                        .finding(rule, member.entry.value.span, format!("the proxy has no plugin `{name}`"))
                        .severity(Severity::Warning)
                        .likely("a custom proxy may have it")
                        .label("not built into Istio's proxy")
                        .note("`envoy.wasm.runtime.null` runs plugins that are compiled into the proxy")
                        .help("for a module: runtime: envoy.wasm.runtime.v8"),
                );
                continue;
            }
            let Some((_, last)) = PLUGINS.iter().find(|(plugin, last)| {
                *plugin == name && value.envoy_minor.is_some_and(|envoy| istio_of(envoy) > *last)
            }) else {
                continue;
            };
            if object.text("runtime").is_some_and(|runtime| runtime != "envoy.wasm.runtime.null") {
                continue;
            }
            out.push(
                value
                    .finding(rule, member.entry.value.span, format!("the proxy has no plugin `{name}`"))
                    .label(format!("removed after Istio 1.{last}"))
                    .note("istiod accepts it; the proxy cannot load the plugin and rejects the listener")
                    .help("remove this filter: metrics, access logs and metadata exchange are native, see the Telemetry API"),
            );
        }
    }
}

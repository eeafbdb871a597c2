//! EF318: a filter with `config_discovery` without an extension configuration.

use crate::declare_rule;
use crate::lint::context::PatchRun;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::ApplyTo;
use crate::model::resource::ResourceKind;
use crate::source::Severity;

declare_rule! {
    /// A filter with `config_discovery` but without an extension configuration.
    ///
    /// # What it finds
    /// A patch that inserts a filter with `config_discovery` over ADS, if neither an EXTENSION_CONFIG patch nor istiod
    /// provides a configuration of that name on the same proxy.
    ///
    /// # Why it matters
    /// Envoy waits for the configuration: the listener warms until its timeout, and then the filter answers
    /// requests with 500 or closes connections.
    ///
    /// # How to fix
    /// Add an EXTENSION_CONFIG patch of that name to the same workloads.
    ///
    /// # References
    /// Envoy, extension configuration discovery; istiod `extension_configuration_builder.go`.
    "EF318" "extension-config-missing" Operation Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(value) = view.built.and_then(|built| built.value.as_ref()) else { continue };
        let by_ads =
            value.path(&["config_discovery", "config_source"]).is_some_and(|source| source.get("ads").is_some());
        if !by_ads {
            continue;
        }
        let name = value.name();
        let Some(seen) = cx.seen_if(&view, |run| run.changes() && !given(run, name)) else { continue };
        let elsewhere = |other: &crate::lint::context::PatchView<'_>| {
            other.patch.apply_to == ApplyTo::ExtensionConfig
                && other.built.and_then(|built| built.value.as_ref()).is_some_and(|value| value.name() == name)
        };
        if !seen.certain() && cx.patches().any(|other| elsewhere(&other)) {
            continue;
        }
        let mut finding = view
            .finding(
                rule,
                view.value_path_span("config_discovery"),
                format!("the filter `{name}` gets no configuration"),
            )
            .label("requests an extension configuration of that name from istiod")
            .help(format!("add a patch `applyTo: EXTENSION_CONFIG`, operation ADD, with `name: {name}`"));
        for other in cx.patches().filter(|other| elsewhere(other)) {
            finding = finding.related(other.value_path_span("name"), "does not attach to these proxies");
        }
        // Offline, an EnvoyFilter outside the input may contain it.
        let finding = if seen.certain() { finding } else { finding.severity(Severity::Warning) };
        out.push(seen.tell(finding));
    }
}

fn given(run: &PatchRun<'_, '_>, name: &str) -> bool {
    run.run.after(ResourceKind::ExtensionConfig, name).is_some()
}

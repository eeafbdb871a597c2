//! EF318: a filter with `config_discovery` without an extension configuration.

use crate::declare_rule;
use crate::lint::context::{PatchRun, PatchView};
use crate::lint::finding::Idle;
use crate::lint::no_match;
use crate::lint::seen::discovered;
use crate::lint::value::short;
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::model::envoy_filter::ApplyTo;
use crate::model::resource::ResourceKind;
use crate::proto::tree::{Tree, is_typed_struct, type_name};
use crate::source::Severity;
use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

declare_rule! {
    /// A filter with `config_discovery` but without an extension configuration.
    ///
    /// # What it finds
    /// A patch that inserts a filter with `config_discovery` over ADS, if neither an EXTENSION_CONFIG patch nor istiod
    /// provides a configuration of that name on the same proxy, or only one of a type that is not among its `type_urls`.
    ///
    /// # Why it matters
    /// Envoy waits for the configuration: the listener warms until its timeout, and then the filter answers
    /// requests with 500 or closes connections.
    ///
    /// # How to fix
    /// Add an EXTENSION_CONFIG patch of that name to the same workloads.
    ///
    /// # References
    /// Envoy, extension configuration discovery; istiod `extension_configuration_builder.go`; Envoy 1.39.3, run.
    "EF318" "extension-config-missing" Operation Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let configs = LazyCell::new(|| configs(cx));
    let misnamed = LazyCell::new(|| misnamed(cx));
    for view in cx.patches() {
        let Some(name) = requested(&view) else { continue };
        out.extend(of_another_type(rule, cx, &view, name));
        let Some(seen) = cx.seen_if(&view, |run| run.changes() && !given(run, name)) else { continue };
        let elsewhere = configs.get(name).map(Vec::as_slice).unwrap_or_default();
        if !seen.certain() && !elsewhere.is_empty() {
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
        for other in elsewhere {
            finding = finding.related(other.value_path_span("name"), "does not attach to these proxies");
        }
        let other = misnamed.get(&view.filter_index).filter(|pair| pair.request == view.patch.index);
        if let Some(config) = other.and_then(|pair| cx.patch(view.filter_index, pair.config)) {
            finding = finding
                .related(config.value_path_span("name"), "nothing requests this configuration")
                .help("give both patches the same `name`");
            finding.idle.push(Idle {
                filter: finding.filter.clone(),
                patch: Some(config.patch.index),
                span: config.value_path_span("name"),
            });
        }
        // Offline, an EnvoyFilter outside the input may contain it.
        let finding = if seen.certain() { finding } else { finding.severity(Severity::Warning) };
        out.push(seen.tell(finding));
    }
}

/// The patches that bring an extension configuration, by its name.
fn configs<'a>(cx: &Context<'a>) -> HashMap<&'a str, Vec<PatchView<'a>>> {
    let mut by_name: HashMap<&str, Vec<PatchView<'_>>> = HashMap::new();
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::ExtensionConfig) {
        if let Some(value) = view.built.and_then(|built| built.value.as_ref()) {
            by_name.entry(value.name()).or_default().push(view);
        }
    }
    by_name
}

/// The configuration is of a type that the filter does not accept.
fn of_another_type<'a>(rule: &'static RuleInfo, cx: &Context<'a>, view: &PatchView<'a>, name: &str) -> Option<Finding> {
    let value = view.built.and_then(|built| built.value.as_ref())?;
    let urls = value.path(&["config_discovery", "type_urls"])?.items();
    let accepted: Vec<&str> = urls.iter().filter_map(Tree::as_str).map(type_name).collect();
    let other = |run: &PatchRun<'_, '_>| {
        let given = run.run.after(ResourceKind::ExtensionConfig, name).filter(|_| run.changes())?;
        let found = given.get("typed_config")?.type_name()?.into_owned();
        // What a TypedStruct contains decides, not the TypedStruct.
        let fits = is_typed_struct(&found) || accepted.contains(&found.as_str());
        (!fits).then_some(found)
    };
    let seen = cx.seen_if(view, |run| other(run).is_some())?;
    let found = seen.runs.first().and_then(other)?;
    let url = format!("type.googleapis.com/{found}");
    let finding = view
        .finding(
            rule,
            view.value_path_span("config_discovery.type_urls"),
            format!("the filter `{name}` accepts no `{}`", short(&found)),
        )
        .label("the extension configuration of that name has another type")
        .note("the proxy rejects the configuration: the filter answers requests with 500 or closes connections")
        .help(format!("type_urls: [\"{url}\"]"));
    Some(seen.tell(finding))
}

/// A patch that requests a configuration and the only one of its EnvoyFilter that could be meant, under another name.
pub(super) struct Misnamed {
    /// Index of the patch that requests a configuration.
    pub request: usize,
    /// Index of the patch with the configuration that nothing requests.
    pub config: usize,
}

/// The name that a patch's filter requests from istiod.
fn requested<'a>(view: &PatchView<'a>) -> Option<&'a str> {
    let value = view.built.and_then(|built| built.value.as_ref())?;
    value.path(&["config_discovery", "config_source"])?.get("ads")?;
    Some(value.name())
}

/// Pairs of patches that were meant to have one name, by EnvoyFilter.
pub(super) fn misnamed(cx: &Context<'_>) -> HashMap<usize, Misnamed> {
    let (asked, added): (HashSet<String>, _) =
        (discovered(cx).collect(), no_match::added(cx, ApplyTo::ExtensionConfig));
    let mut of_filter: HashMap<usize, (Vec<usize>, Vec<usize>)> = HashMap::new();
    for view in cx.patches() {
        let (requests, configs) = of_filter.entry(view.filter_index).or_default();
        if requested(&view).is_some_and(|name| !added.contains(name)) {
            requests.push(view.patch.index);
        }
        let name = view.built.and_then(|built| built.value.as_ref()).map_or("", Tree::name);
        if view.patch.apply_to == ApplyTo::ExtensionConfig && !asked.contains(name) {
            configs.push(view.patch.index);
        }
    }
    let only = |(filter, (requests, configs)): (usize, (Vec<usize>, Vec<usize>))| match (&*requests, &*configs) {
        (&[request], &[config]) => Some((filter, Misnamed { request, config })),
        _ => None,
    };
    of_filter.into_iter().filter_map(only).collect()
}

fn given(run: &PatchRun<'_, '_>, name: &str) -> bool {
    run.run.after(ResourceKind::ExtensionConfig, name).is_some()
}

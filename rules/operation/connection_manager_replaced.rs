//! EF331: a REPLACE of a whole HTTP connection manager, and what it drops.

use crate::declare_rule;
use crate::engine;
use crate::engine::trace::{Effect, Place};
use crate::lint::context::PatchRun;
use crate::lint::{Context, Findings, RuleInfo, names, walk};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::model::resource::ResourceKind;
use crate::proto::tree::{Tree, type_name};
use crate::rules::scope::removes_protection::PROTECT;
use std::collections::BTreeSet;

declare_rule! {
    /// A REPLACE of the whole HTTP connection manager, which drops what istiod generated in it.
    ///
    /// # What it finds
    /// A NETWORK_FILTER REPLACE of `envoy.filters.network.http_connection_manager` whose value omits HTTP filters or
    /// settings of the generated one; the finding names them.
    ///
    /// # Why it matters
    /// The generated connection manager contains istiod's authentication, authorization, metrics, access logs, tracing
    /// and routes. Whatever the value does not repeat is gone, including what later Istio releases add.
    ///
    /// # How to fix
    /// MERGE the settings to change; insert and remove HTTP filters with HTTP_FILTER patches.
    ///
    /// # References
    /// istiod `listener_patch.go`, releases 1.22 to 1.31; recorded.
    "EF331" "connection-manager-replaced" Operation Warning => check
}

const MANAGER: &str = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::NetworkFilter) {
        let Some(built) = view.built.filter(|built| built.operation == Operation::Replace) else { continue };
        let Some(config) = built.value.as_ref().and_then(|value| value.get("typed_config")) else { continue };
        // The proxy reads a TypedStruct, in which fields may have their JSON names.
        let (_, given) = config.message();
        let Some(seen) = cx.seen_if(&view, |run| run.has(|effect| matches!(effect, Effect::Replaced))) else {
            continue;
        };
        let (mut filters, mut settings) = (BTreeSet::new(), BTreeSet::new());
        let own = member(&given, "rds").and_then(|rds| member(rds, "route_config_name"));
        let own = own.and_then(Tree::as_str).unwrap_or_default();
        let mut routes: BTreeSet<String> = BTreeSet::new();
        for run in &seen.runs {
            for (place, _) in run.trace.effects.iter().filter(|(_, effect)| matches!(effect, Effect::Replaced)) {
                if let Some(before) = generated(run, place) {
                    compare(&before, &given, &mut filters, &mut settings);
                    let name = before.path(&["rds", "route_config_name"]).and_then(Tree::as_str);
                    routes.extend(name.filter(|name| *name != own && !settings.contains("rds")).map(str::to_owned));
                }
            }
        }
        if filters.is_empty() && settings.is_empty() {
            continue;
        }
        let mut finding = view
            .finding(
                rule,
                view.value_span(&["patch", "operation"]),
                format!(
                    "REPLACE drops {} and {} of the generated HTTP connection manager",
                    names::count(filters.len(), "HTTP filter", "HTTP filters"),
                    names::count(settings.len(), "setting", "settings"),
                ),
            )
            .label("the whole connection manager is replaced")
            .help("use MERGE for settings, and HTTP_FILTER patches for HTTP filters");
        if !filters.is_empty() {
            finding = finding
                .note(format!("HTTP filters dropped: {}", names::listed(filters.iter().map(String::as_str), 12)));
            let policies: BTreeSet<&str> =
                PROTECT.iter().filter(|(name, _)| filters.contains(*name)).map(|(_, policy)| *policy).collect();
            if !policies.is_empty() {
                let policies: Vec<&str> = policies.into_iter().collect();
                finding = finding.note(format!("no longer enforced: {}", policies.join(", ")));
            }
        }
        if !settings.is_empty() {
            finding =
                finding.note(format!("settings dropped: {}", names::listed(settings.iter().map(String::as_str), 16)));
        }
        if seen.certain() && !routes.is_empty() {
            let listed = names::listed(routes.iter().map(String::as_str), 6);
            let instead = if own.is_empty() { "those of the value".to_owned() } else { format!("`{own}`") };
            finding = finding.note(format!("the listeners lose their routes {listed} and use {instead}"));
        }
        out.push(seen.tell(finding));
    }
}

/// The connection manager that istiod generated at a place.
fn generated<'r>(run: &PatchRun<'r, '_>, place: &Place) -> Option<Tree<'r>> {
    let config = run.run.config;
    let (index, _) = config.generated(ResourceKind::Listener).find(|(_, one)| *one.name == *place.resource)?;
    let listener = engine::look(config, index, run.run.plan)?;
    let (number, name) = place.chain.as_ref()?;
    let chains = listener.get("filter_chains").map(Tree::items).unwrap_or_default();
    let named = chains.iter().find(|chain| !name.is_empty() && chain.name() == &**name);
    let chain = match number {
        None => listener.get("default_filter_chain"),
        Some(number) => named.or_else(|| chains.get(*number)),
    }?;
    chain.get("filters")?.items().iter().find_map(|filter| {
        let mut config = filter.get("typed_config")?.clone();
        config.open();
        (type_name(config.str_at("@type")) == MANAGER).then_some(config)
    })
}

/// The member with this name, which may be written as in JSON.
fn member<'t, 'a>(tree: &'t Tree<'a>, name: &str) -> Option<&'t Tree<'a>> {
    tree.entries().iter().find(|(key, _)| walk::same(key, name)).map(|(_, value)| value)
}

fn compare(before: &Tree<'_>, given: &Tree<'_>, filters: &mut BTreeSet<String>, settings: &mut BTreeSet<String>) {
    let list = |tree: &Tree<'_>| -> BTreeSet<String> {
        let filters = member(tree, "http_filters").map(Tree::items).unwrap_or_default();
        filters.iter().map(|filter| filter.name().to_owned()).collect()
    };
    filters.extend(list(before).difference(&list(given)).cloned());
    // The source of the routes is one setting, whichever field holds it.
    let routes = ["rds", "route_config", "scoped_routes"];
    let has_routes = routes.iter().any(|key| member(given, key).is_some());
    for (key, _) in before.entries() {
        let known = member(given, key).is_some() || matches!(&**key, "@type" | "stat_prefix" | "http_filters");
        let other_routes = has_routes && routes.contains(&&**key);
        if !(known || other_routes) {
            settings.insert(key.to_string());
        }
    }
}

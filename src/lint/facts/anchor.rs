//! Findings for filters that a match names and no proxy has.

use crate::engine::{PatchId, matching};
use crate::envoy::{self, Extension};
use crate::lint::facts::context::{Context, Knowledge};
use crate::lint::facts::names::{self, Known};
use crate::lint::facts::no_match::NoMatch;
use crate::lint::facts::view::PatchView;
use crate::lint::finding::{Confidence, Finding};
use crate::lint::rule::RuleInfo;
use crate::lint::upgrade::forecast::TRANSLATED;
use crate::model::envoy_filter::{ApplyTo, EnvoyFilter, ObjectMatch, Operation};
use crate::proto::tree::Tree;
use crate::source::escape::one_line;
use crate::source::{Severity, alike};

/// A patch of the input that adds a filter of this name.
struct Adder {
    filter: usize,
    patch: usize,
}

/// The finding for an absent filter of a kind (`http`, `network`, `listener`); `None` if nothing is certain.
pub(crate) fn absent(
    rule: &'static RuleInfo,
    cx: &Context<'_>,
    one: &NoMatch<'_, '_>,
    kind: &str,
    name: &str,
) -> Option<Finding> {
    // The rule about old names explains it better.
    if envoy::canonical_filter_name(kind, name).is_some() {
        return None;
    }
    let word = match kind {
        "http" => "HTTP filter",
        "network" => "network filter",
        _ => "listener filter",
    };
    let field = if kind == "listener" { "listenerFilter" } else { "name" };
    let known = names::known(kind, name, cx.release);
    let adders = adders(cx, kind, name);
    let like = match one.confidence {
        Confidence::Certain => one.like(name),
        Confidence::Likely => {
            let there = one
                .candidates
                .iter()
                .map(String::as_str)
                .chain(names::generated(kind, cx.release).map(|name| -> &str { name }));
            names::nearest(name, there).filter(|like| {
                let tail = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
                alike::likeness(&tail(like), &tail(name)) > 0.75
            })
        }
    };
    let finding = one.finding(cx, rule, word, format!("no {word} `{name}` exists when this patch runs")).missing(name);
    if finding.cause.is_some() {
        return Some(finding);
    }
    if let Some(help) = one.help_about_port() {
        return Some(finding.help(help));
    }
    if one.confidence == Confidence::Likely && (known == Known::Now || name.is_empty()) {
        return extension_of_other_kind(cx, name)
            .map(|(note, right)| finding.note(note).help(format!("{field}: {right}")));
    }
    let (elsewhere, others): (Vec<&Adder>, Vec<&Adder>) = adders
        .iter()
        .filter(|it| (it.filter, it.patch) != (one.view.filter_index, one.view.patch.index))
        .partition(|it| apart(cx, one.view.filter, &cx.filters[it.filter]));
    if let Some(adder) = others.first() {
        return later(cx, one, adder, finding);
    }
    if let Some((note, right)) = extension_by_object(cx, name) {
        return Some(finding.note(note).help(format!("{field}: {right}")));
    }
    if let Some((note, help)) = of_another_kind(kind, name, one.view.patch.apply_to).filter(|_| elsewhere.is_empty()) {
        return Some(finding.note(note).snippet(help));
    }
    Some(match (known, like) {
        (Known::Other(since, until), _) => {
            let when = match until {
                Some(until) => {
                    format!("Istio before {}.{} generates it; Istio {} does not", until.major, until.minor, cx.release)
                }
                None => {
                    format!("Istio generates it since {}.{}; Istio {} does not", since.major, since.minor, cx.release)
                }
            };
            let finding = finding.note(when);
            match renamed(name, cx) {
                Some(renamed) => finding.help(format!("{field}: {renamed}")),
                None => finding,
            }
        }
        (_, Some(like)) => finding.help(format!("{field}: {like}")),
        (Known::Now, None) => {
            let finding = finding.note("istiod generates it only for configurations that these proxies do not have: a policy, a protocol or a provider");
            match generated_for(name) {
                Some(what) => {
                    finding.help(format!("it exists where {what}; `name: envoy.filters.http.router` always does"))
                }
                None => finding,
            }
        }
        (Known::Never, None) => {
            // An operator or an EnvoyFilter outside the input may add it.
            finding
                .severity(Severity::Warning)
                .note(if elsewhere.is_empty() {
                    "istiod generates no filter of this name, and no given EnvoyFilter adds one"
                } else {
                    "istiod generates no filter of this name, and only EnvoyFilters of other namespaces add one, to their proxies"
                })
                .snippet(format!(
                    "if something else adds it at run time, say so in .envoyfilter.yaml:\nadded-elsewhere:\n- {}",
                    one_line(name)
                ))
        }
    })
}

/// Why a filter with Envoy's name for one of another kind is never there, and what to write.
fn of_another_kind(kind: &str, name: &str, apply_to: ApplyTo) -> Option<(&'static str, String)> {
    let categories = envoy::extension(name).into_iter().flat_map(Extension::categories);
    let kinds: Vec<&str> = categories.filter_map(|category| category.strip_prefix("envoy.filters.")).collect();
    if kinds.contains(&kind) {
        return None;
    }
    let of = |other: &str| kinds.contains(&other);
    Some(match kind {
        "http" if of("network") => (
            "this is a network filter; `subFilter` names an HTTP filter inside the connection manager",
            "name: envoy.filters.http.router".to_owned(),
        ),
        "http" if of("listener") => (
            "this is a listener filter; `subFilter` names an HTTP filter inside the connection manager",
            "applyTo: LISTENER_FILTER # with match.listener.listenerFilter".to_owned(),
        ),
        "network" if of("http") && apply_to != ApplyTo::HttpFilter => (
            "this is an HTTP filter, inside the connection manager",
            "name: envoy.filters.network.http_connection_manager\nor, to patch HTTP filters: applyTo: HTTP_FILTER"
                .to_owned(),
        ),
        "network" if of("http") => (
            "this is an HTTP filter, inside the connection manager",
            format!("name: envoy.filters.network.http_connection_manager\nsubFilter:\n  name: {}", one_line(name)),
        ),
        "network" if of("listener") => (
            "this is a listener filter, which runs before filter chains are chosen",
            "applyTo: LISTENER_FILTER # with match.listener.listenerFilter".to_owned(),
        ),
        "listener" if of("http") => ("this is not a listener filter", "applyTo: HTTP_FILTER".to_owned()),
        "listener" if of("network") => ("this is not a listener filter", "applyTo: NETWORK_FILTER".to_owned()),
        _ => return None,
    })
}

/// What causes istiod to generate an HTTP filter.
fn generated_for(name: &str) -> Option<&'static str> {
    Some(match name {
        "envoy.filters.http.jwt_authn" => "a RequestAuthentication selects the workload",
        "envoy.filters.http.rbac" => "an AuthorizationPolicy with HTTP rules selects the workload",
        "envoy.filters.http.ext_authz" => "an AuthorizationPolicy with action CUSTOM selects the workload",
        "envoy.filters.http.grpc_web" => "the port of the service is named `grpc-web…`",
        "envoy.filters.http.stateful_session" => "a service has the label `istio.io/persistent-session`",
        name if name.starts_with("extensions.istio.io/") => "the WasmPlugin or TrafficExtension selects the workload",
        _ => return None,
    })
}

/// An EnvoyFilter adds the filter, but only after this patch looks for it.
fn later(cx: &Context<'_>, one: &NoMatch<'_, '_>, adder: &Adder, finding: Finding) -> Option<Finding> {
    let other = &cx.filters[adder.filter];
    let own = one.view.filter;
    let place = cx.patch(adder.filter, adder.patch)?.value_path_span("name");
    let finding = finding.related(place, format!("{} adds it here", other.full_name()));
    let merge = cx.patch(adder.filter, adder.patch)?;
    if merge.built.is_some_and(|built| built.operation.is_merge()) {
        let finding = finding.note(format!(
            "{} names it in a MERGE, which runs after every insert, replacement and removal",
            if other.full_name() == own.full_name() {
                format!("configPatches[{}] of this EnvoyFilter", adder.patch)
            } else {
                other.full_name()
            }
        ));
        return Some(match before_merge(&merge.patch.object).filter(|before| *before != name_of(&merge)) {
            Some(before) => finding.help(format!("write the name that it has before: {before}")),
            None => finding,
        });
    }
    if adds_nothing(one, adder) {
        // Without a config dump it may match on the user's proxies, and if not, its own finding is the cause.
        let certain = one.confidence == Confidence::Certain;
        return certain.then(|| finding.note("that patch has no effect either: correct it first"));
    }
    let together = one.runs.iter().find_map(|run| {
        let first: PatchId = run.plan.ids().find(|&id| run.plan.get(id).filter == adder.filter)?;
        let own: PatchId = run.plan.ids().find(|&id| run.plan.get(id).filter == one.view.filter_index)?;
        Some(first > own)
    });
    match together {
        Some(true) => Some(
            finding
                .note(format!(
                    "{} runs after this EnvoyFilter: priority decides, then the root namespace, then creation time",
                    other.full_name()
                ))
                .snippet(format!(
                    "run this EnvoyFilter later, with a higher priority:\nspec:\n  priority: {}",
                    i64::from(other.priority) + 10
                )),
        ),
        Some(false) if other.full_name() == own.full_name() && adder.patch > one.view.patch.index => Some(
            finding.note("the patch that adds it comes later in this EnvoyFilter").help("move this patch below it"),
        ),
        Some(false) if !merge.patch.context.meets(one.view.patch.context) => Some(
            finding
                .note(format!(
                    "that patch adds it in context {}, and this one runs in {}",
                    merge.patch.context.name(),
                    one.view.patch.context.name()
                ))
                .help("give both patches the same context"),
        ),
        Some(false) => Some(finding.note("that patch adds it elsewhere: to other listeners, filter chains or proxies")),
        None if one.runs.iter().any(|run| run.knowledge == Knowledge::Reference) => None,
        None => Some(finding.note(format!("{} does not reach these proxies", other.full_name()))),
    }
}

/// Whether the patch that adds the filter reaches these proxies and changes nothing on any of them.
fn adds_nothing(one: &NoMatch<'_, '_>, adder: &Adder) -> bool {
    let traces = one.runs.iter().filter_map(|run| {
        let id = run.plan.find(adder.filter, adder.patch)?;
        Some(&run.judged.trace.patches[id.index()])
    });
    let mut traces = traces.peekable();
    traces.peek().is_some() && traces.all(|trace| trace.effects.is_empty())
}

/// Whether no proxy has both EnvoyFilters: those of a namespace are for its own proxies, unless it is the root namespace.
fn apart(cx: &Context<'_>, one: &EnvoyFilter, other: &EnvoyFilter) -> bool {
    let root = cx.mesh.root_namespace.as_str();
    one.namespace != other.namespace && one.namespace != root && other.namespace != root
}

/// The name of the filter that a MERGE matches.
fn before_merge(object: &ObjectMatch) -> Option<&str> {
    matching::sub_filter_name(object).or_else(|| matching::network_filter_name(object))
}

fn name_of<'v>(view: &'v PatchView<'_>) -> &'v str {
    view.built.and_then(|built| built.value.as_ref()).map(Tree::name).unwrap_or_default()
}

fn adders(cx: &Context<'_>, kind: &str, name: &str) -> Vec<Adder> {
    let apply_to = match kind {
        "http" => ApplyTo::HttpFilter,
        "network" => ApplyTo::NetworkFilter,
        _ => ApplyTo::ListenerFilter,
    };
    let adds = |operation| {
        matches!(
            operation,
            Operation::Add
                | Operation::InsertBefore
                | Operation::InsertAfter
                | Operation::InsertFirst
                | Operation::Replace
                | Operation::Merge
        )
    };
    cx.patches()
        .filter(|view| view.patch.apply_to == apply_to)
        .filter(|view| {
            view.built.is_some_and(|built| adds(built.operation) && built.value.as_ref().map(Tree::name) == Some(name))
        })
        .map(|view| Adder { filter: view.filter_index, patch: view.patch.index })
        .collect()
}

/// Prefix of the filter names of a TrafficExtension, and of a WasmPlugin since Istio 1.30.
const EXTENSIONS: &str = "extensions.istio.io/trafficextension/";
/// Prefixes of the filter names of a WasmPlugin in earlier releases.
const PLUGINS: &[&str] = &["extenstions.istio.io/wasmplugin/", "extensions.istio.io/wasmplugin/"];

/// For a TrafficExtension name that belongs to a WasmPlugin, or the reverse: why it is wrong, and the right name.
fn extension_of_other_kind(cx: &Context<'_>, name: &str) -> Option<(String, String)> {
    let full = name.strip_prefix(EXTENSIONS)?;
    let (plain, translated) = (full.strip_suffix(TRANSLATED).unwrap_or(full), full.ends_with(TRANSLATED));
    let given = |kind: &str| {
        cx.inventory.policies.iter().any(|one| one.kind == kind && format!("{}.{}", one.namespace, one.name) == plain)
    };
    match (given("WasmPlugin"), given("TrafficExtension"), translated) {
        (true, false, false) => Some((
            format!("`{plain}` is a WasmPlugin, whose filter has a different name than that of a TrafficExtension"),
            format!("{EXTENSIONS}{plain}{TRANSLATED}"),
        )),
        (false, true, true) => {
            Some((format!("`{plain}` is a TrafficExtension, not a WasmPlugin"), format!("{EXTENSIONS}{plain}")))
        }
        _ => None,
    }
}

/// For the name of a given WasmPlugin or TrafficExtension, with or without its namespace: the name of its filter.
fn extension_by_object(cx: &Context<'_>, name: &str) -> Option<(String, String)> {
    let extensions =
        cx.inventory.policies.iter().filter(|one| matches!(one.kind.as_str(), "WasmPlugin" | "TrafficExtension"));
    extensions.into_iter().find_map(|one| {
        let full = format!("{}.{}", one.namespace, one.name);
        if name != full && name != one.name {
            return None;
        }
        let right = if one.kind == "WasmPlugin" {
            renamed(&format!("{}{full}", PLUGINS[1]), cx)?
        } else {
            format!("{EXTENSIONS}{full}")
        };
        Some((format!("`{name}` is the {}, not the name of its filter", one.kind), right))
    })
}

/// Plugin names in matches that are limited to proxies of another release: istiod uses the name of its own release for
/// all proxies.
pub(crate) fn pinned_plugins<'a>(cx: &Context<'a>) -> impl Iterator<Item = (PatchView<'a>, &'a str, String)> {
    cx.patches().filter_map(|view| {
        let pinned = view.patch.proxy.as_ref().map(|proxy| proxy.version.as_str()).filter(|it| !it.is_empty())?;
        let name = matching::sub_filter_name(&view.patch.object)?;
        let own = cx.newest_fitting(pinned, cx.release.minor) == Some(cx.release.minor);
        let known = names::known("http", name, cx.release);
        let plugin = name.starts_with(EXTENSIONS) || PLUGINS.iter().any(|prefix| name.starts_with(prefix));
        let foreign = plugin && !own && matches!(known, Known::Other(..)) && !cx.attaches_to_dump(view.filter_index);
        foreign.then(|| Some((view, name, renamed(name, cx)?)))?
    })
}

/// The name that this release gives the filter of a WasmPlugin.
fn renamed(name: &str, cx: &Context<'_>) -> Option<String> {
    let plugin = PLUGINS.iter().find_map(|prefix| name.strip_prefix(prefix));
    let translated = || name.strip_prefix(EXTENSIONS)?.strip_suffix(TRANSLATED);
    let plugin = plugin.or_else(translated)?;
    let candidates = PLUGINS.iter().map(|prefix| format!("{prefix}{plugin}"));
    candidates
        .chain([format!("{EXTENSIONS}{plugin}{TRANSLATED}")])
        .find(|candidate| names::known("http", candidate, cx.release) == Known::Now)
}

//! EF337: rate limit actions and descriptors that never meet.

use crate::declare_rule;
use crate::engine::PatchId;
use crate::lint::contents::{self, LOCAL};
use crate::lint::context::PatchRun;
use crate::lint::filter_keys::elsewhere;
use crate::lint::managers::{self, Manager};
use crate::lint::per_run::PerRun;
use crate::lint::seen::config_type;
use crate::lint::value::{Object, PatchValue};
use crate::lint::walk::{get, number};
use crate::lint::{Context, Finding, Findings, Knowledge, PatchView, RuleInfo, no_match};
use crate::model::envoy_filter::ApplyTo;
use crate::proto::tree::Tree;
use crate::source::Node;
use crate::source::escape::one_line;
use std::collections::BTreeSet;

declare_rule! {
    /// Rate limit actions and descriptors that never meet.
    ///
    /// # What it finds
    /// Descriptors of a local rate limit with keys that no rate limit action produces in this order, or with `*` in a value; actions on
    /// routes whose local rate limit has no descriptors; actions of a stage
    /// that no rate limit filter has, or on routes of other listeners than those with the filter (a filter with context
    /// SIDECAR_INBOUND reads no outbound routes); with config dumps, actions on a proxy without any rate limit filter,
    /// and a global rate limit on a proxy without any actions, or for internal requests only, from Envoy 1.33 on, if the connection manager has
    /// no `internal_address_config`.
    ///
    /// # Why it matters
    /// An action produces a descriptor, and a limit applies to the descriptor with the same keys in the same order. A
    /// descriptor that nothing produces limits nothing, and an action of another stage is ignored.
    ///
    /// # How to fix
    /// Use the same keys, in the same order, and the same stage. `request_headers` produces the `descriptor_key` that
    /// it names; `remote_address` produces `remote_address`; `generic_key` and `header_value_match` produce
    /// `generic_key` and `header_match` unless a `descriptor_key` is given.
    ///
    /// # References
    /// Envoy `config.route.v3.RateLimit`, "Rate limit descriptors"; `extensions.filters.http.local_ratelimit.v3`; without
    /// descriptors, all requests take from one bucket: seen in Envoy 1.36.4 to 1.40.0.
    "EF337" "rate-limit-never-met" Operation Warning => check,
    explains: &["EF538"]
}

const GLOBAL: &str = "envoy.extensions.filters.http.ratelimit.v3.RateLimit";

/// The keys that an action produces, each with its value if it is fixed.
type Keys = Vec<Key>;

/// A key, and its value if it is fixed.
type Key = (String, Option<String>);

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let values = cx.values();
    let mentioned = values.iter().any(|value| {
        value
            .objects
            .iter()
            .any(|object| object.member("rate_limits").is_some() || object.member("descriptors").is_some())
    });
    never_asked(rule, cx, out);
    never_internal(rule, cx, out);
    if !mentioned {
        return;
    }
    descriptors(rule, cx, out);
    stages(rule, cx, out);
    without_descriptors(rule, cx, out);
}

fn descriptors(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let of_routes = |value: &PatchValue<'_>| {
        value.objects.iter().filter(|object| object.full_name() != LOCAL).flat_map(actions).collect::<Vec<_>>()
    };
    let everywhere: Vec<Option<Keys>> = cx.values().iter().flat_map(of_routes).collect();
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.full_name() == LOCAL) {
            let Some(given) = object.member("descriptors") else { continue };
            let own: Vec<Option<Keys>> = actions(object);
            let made = if own.is_empty() { &everywhere } else { &own };
            // An action that produces its own keys, or actions in files outside the input.
            let unknown =
                made.iter().any(Option::is_none) || (made.is_empty() && !cx.attaches_to_dump(value.view.filter_index));
            if unknown {
                continue;
            }
            for descriptor in given.entry.value.items() {
                let wanted = entries(descriptor);
                if wanted.is_empty() {
                    continue;
                }
                if made.iter().flatten().any(|keys| fits(keys, &wanted)) {
                    let from = || made.iter().flatten().filter(|keys| fits(keys, &wanted));
                    out.extend(wildcard(rule, value, descriptor, from));
                    continue;
                }
                let words = |keys: &[Key]| {
                    let one = |(key, value): &Key| {
                        value.as_ref().map_or_else(|| key.clone(), |value| format!("{key}={value}"))
                    };
                    keys.iter().map(one).collect::<Vec<_>>().join(", ")
                };
                let makes: BTreeSet<String> = made.iter().flatten().map(|keys| format!("`{}`", words(keys))).collect();
                let note = if makes.is_empty() {
                    "no given patch has `rate_limits`".to_owned()
                } else {
                    format!("the given actions produce {}", makes.into_iter().take(6).collect::<Vec<_>>().join("; "))
                };
                let finding = value
                    .finding(
                        rule,
                        descriptor.span,
                        format!("no rate limit action produces the descriptor `{}`", words(&wanted)),
                    )
                    .label("never met")
                    .note(note);
                let nearly = made.iter().flatten().find(|keys| differs_in_case(keys, &wanted));
                out.push(match nearly {
                    Some(keys) => finding.help(format!("upper and lower case differ: write `{}`", words(keys))),
                    None => finding.snippet("rate_limits:\n- actions:\n  # one action for each key, in this order"),
                });
            }
        }
    }
}

/// A value with a wildcard, which Envoy compares as it is, if no action produces just this text.
fn wildcard<'k, I: Iterator<Item = &'k Keys>>(
    rule: &'static RuleInfo,
    value: &PatchValue<'_>,
    descriptor: &Node,
    made: impl Fn() -> I,
) -> Option<Finding> {
    let list = get(descriptor, "entries").map(Node::items).unwrap_or_default();
    list.iter().enumerate().find_map(|(at, entry)| {
        let node = get(entry, "value")?;
        let written = node.as_str().filter(|text| text.contains('*'))?;
        let fixed = |keys: &Keys| keys.get(at).is_some_and(|(_, value)| value.is_some());
        if made().any(fixed) {
            return None;
        }
        let help = match written.trim_matches('*') {
            "" => "an empty `value`, which newer releases of Envoy read as any value".to_owned(),
            part => format!("produce it with an action that compares:\nheader_value_match:\n  descriptor_key: <key>\n  descriptor_value: matched\n  headers: [{{name: <header>, string_match: {{prefix: \"{}\"}}}}]", one_line(part)),
        };
        Some(
            value
                .finding(rule, node.span, format!("`*` in `{written}` is not a wildcard: Envoy compares the whole value"))
                .label("never met")
                .snippet(help),
        )
    })
}

/// What the `rate_limits` of an object produce; `None` for an action whose keys are unknown.
fn actions(object: &Object<'_>) -> Vec<Option<Keys>> {
    let limits = object.member("rate_limits").map(|member| member.entry.value.items()).unwrap_or_default();
    limits
        .iter()
        .filter_map(|limit| get(limit, "actions"))
        .map(|actions| actions.items().iter().map(key).collect())
        .collect()
}

fn key(action: &Node) -> Option<Key> {
    let entry = action.entries().first()?;
    let name = entry.key.replace('_', "").to_lowercase();
    let text = |field: &str| get(&entry.value, field).and_then(Node::as_str).map(str::to_owned);
    let named = |default: &str| text("descriptor_key").unwrap_or_else(|| default.to_owned());
    Some(match name.as_str() {
        "sourcecluster" => ("source_cluster".to_owned(), None),
        "destinationcluster" => ("destination_cluster".to_owned(), None),
        "remoteaddress" => ("remote_address".to_owned(), None),
        "maskedremoteaddress" => ("masked_remote_address".to_owned(), None),
        "requestheaders" | "dynamicmetadata" | "metadata" | "queryparameters" => (text("descriptor_key")?, None),
        "generickey" => (named("generic_key"), text("descriptor_value").filter(|value| !value.contains('%'))),
        "headervaluematch" => (named("header_match"), text("descriptor_value").filter(|value| !value.contains('%'))),
        "queryparametervaluematch" => {
            (named("query_match"), text("descriptor_value").filter(|value| !value.contains('%')))
        }
        _ => return None,
    })
}

fn entries(descriptor: &Node) -> Keys {
    let list = get(descriptor, "entries").map(Node::items).unwrap_or_default();
    let text = |node: &Node, field: &str| get(node, field).and_then(Node::as_str).map(str::to_owned);
    list.iter()
        .map(|entry| (text(entry, "key").unwrap_or_default(), text(entry, "value").filter(|it| !it.is_empty())))
        .collect()
}

fn fits(made: &Keys, wanted: &Keys) -> bool {
    let same = |(one, other): (&Key, &Key)| {
        one.0 == other.0 && !matches!((&one.1, &other.1), (Some(one), Some(other)) if one != other)
    };
    made.len() == wanted.len() && made.iter().zip(wanted).all(same)
}

/// Whether a descriptor has keys that differ from those of an action only in upper and lower case.
fn differs_in_case(made: &Keys, wanted: &Keys) -> bool {
    let same = |(one, other): (&Key, &Key)| one.0.eq_ignore_ascii_case(&other.0);
    made.len() == wanted.len()
        && made.iter().zip(wanted).all(same)
        && made.iter().zip(wanted).any(|(one, other)| one.0 != other.0)
}

/// Global rate limits without any route that has actions: only with config dumps, since istiod generates no actions and
/// the filter that adds them may be outside the input.
fn never_asked(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let has_actions = |view: &PatchView<'_>| {
        let values = cx.value_of(view).into_iter();
        values.flat_map(|value| &value.objects).any(|object| object.member("rate_limits").is_some())
    };
    let mut lost: Option<bool> = None;
    let known: PerRun<bool> = PerRun::new();
    for value in cx.values() {
        let view = &value.view;
        if view.patch.apply_to != ApplyTo::HttpFilter {
            continue;
        }
        for object in value.objects.iter().filter(|object| object.full_name() == GLOBAL) {
            if object.member("rate_limits").is_some() {
                continue;
            }
            let silent = |run: &PatchRun<'_, '_>| {
                run.run.knowledge == Knowledge::Dump && run.changes() && !*known.of(run.run, contents::asks_for_limits)
            };
            let Some(seen) = cx.seen(view, silent) else { continue };
            // The actions are there, in a patch that matches nothing: that is the mistake.
            if *lost.get_or_insert_with(|| no_match::all(cx).iter().any(|one| has_actions(&one.view))) {
                return;
            }
            let finding = value
                .finding(rule, object.span, "no route has `rate_limits`: this filter never calls its service")
                .label("never calls its service")
                .note("a global rate limit applies only to requests whose route or virtual host has rate limit actions")
                .snippet("applyTo: VIRTUAL_HOST\npatch:\n  operation: MERGE\n  value:\n    rate_limits:\n    - actions:\n      - remote_address: {}");
            out.push(seen.tell(finding));
        }
    }
}

/// Global rate limits for internal requests where no address is internal.
fn never_internal(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.full_name() == GLOBAL) {
            let kind = object.member("request_type").filter(|kind| kind.entry.value.as_str() == Some("internal"));
            let Some(kind) = kind.filter(|_| cx.envoy_minor_of(&value.view).is_some_and(|minor| minor >= 33)) else {
                continue;
            };
            let never = |run: &PatchRun<'_, '_>| {
                let managers = managers::changed(run.run);
                let mut own = managers
                    .iter()
                    .filter(|manager| manager.filters.iter().any(|filter| filter.origin == run.id.origin()));
                let internal = |manager: &Manager<'_>| manager.config.get("internal_address_config").is_some();
                run.run.knowledge == Knowledge::Dump && run.changes() && !own.any(internal)
            };
            let Some(seen) = cx.seen(&value.view, never) else { continue };
            let finding = value
                .finding(rule, kind.entry.value.span, "no request is internal: this filter never calls its service")
                .label("never calls its service")
                .note("from Envoy 1.33 on, an address is internal only if `internal_address_config` of the connection manager says so")
                .help("request_type: both");
            out.push(seen.tell(finding));
        }
    }
}

fn stages(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        let view = &value.view;
        if !matches!(view.patch.apply_to, ApplyTo::HttpRoute | ApplyTo::VirtualHost | ApplyTo::RouteConfiguration) {
            continue;
        }
        for object in value.objects.iter().filter(|object| object.full_name() == "envoy.config.route.v3.RateLimit") {
            let in_filter = object.parent.is_some_and(|(parent, _)| value.objects[parent].full_name() == LOCAL);
            if in_filter {
                continue;
            }
            let stage = object.member("stage").and_then(|member| number(&member.entry.value)).unwrap_or(0);
            let lacking = |run: &PatchRun<'_, '_>| run.changes() && lacks(cx, run, view.filter_index, stage);
            let Some(seen) = cx.seen_if(view, lacking) else { continue };
            let span = object.member("stage").map_or(object.span, |member| member.entry.key_span);
            let all = limits(&seen.runs[0]);
            let here: BTreeSet<u64> = all.iter().filter(|limit| limit.here).map(|limit| limit.stage).collect();
            let finding = if !here.is_empty() {
                let stages = here.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
                let message = format!("no rate limit filter has stage {stage}: this action is ignored");
                value.finding(rule, span, message).snippet(format!("stage: {stages}"))
            } else if let Some(other) = all.first() {
                let finding = value
                    .finding(rule, span, "no rate limit filter of these routes reads this action")
                    .note("a rate limit filter reads only actions of the routes that its own listener uses");
                let by = other.by.and_then(|id| cx.view(seen.runs[0].run, id));
                elsewhere(finding, view, by.as_ref())
            } else {
                value.finding(rule, span, "no rate limit filter of the proxy reads this action").snippet(
                    "insert envoy.filters.http.ratelimit or envoy.filters.http.local_ratelimit with an HTTP_FILTER patch",
                )
            };
            out.push(seen.tell(finding.label("never read")));
        }
    }
}

/// Whether no rate limit filter of a stage reads the routes that a patch changes. With only reference configurations,
/// the filter may be outside the input, unless another one exists.
fn lacks(cx: &Context<'_>, run: &PatchRun<'_, '_>, filter: usize, stage: u64) -> bool {
    let all = limits(run);
    !all.iter().any(|limit| limit.here && limit.stage == stage) && (!all.is_empty() || cx.attaches_to_dump(filter))
}

/// Actions of routes whose only rate limit filters are local ones without descriptors: every request takes from one bucket.
fn without_descriptors(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    // Those of a route replace those of the filter.
    let given = |object: &Object<'_>| object.full_name() == LOCAL && object.member("descriptors").is_some();
    if cx.values().iter().any(|value| value.objects.iter().any(given)) {
        return;
    }
    // A dump is searched once: it may be large, and many patches may ask.
    let known: PerRun<bool> = PerRun::new();
    for value in cx.values() {
        let view = &value.view;
        if !matches!(view.patch.apply_to, ApplyTo::HttpRoute | ApplyTo::VirtualHost | ApplyTo::RouteConfiguration) {
            continue;
        }
        let of_route = |object: &&Object<'_>| {
            object.full_name() == "envoy.config.route.v3.RateLimit"
                && object.parent.is_some_and(|(parent, _)| value.objects[parent].full_name() != LOCAL)
        };
        let Some(first) = value.objects.iter().find(of_route) else { continue };
        let shared = |run: &PatchRun<'_, '_>| {
            let mut here = limits(run).into_iter().filter(|limit| limit.here).peekable();
            let elsewhere = || *known.of(run.run, contents::has_local_descriptors);
            run.changes() && here.peek().is_some() && here.all(|limit| !limit.reads_descriptors) && !elsewhere()
        };
        let Some(seen) = cx.seen_if(view, shared) else { continue };
        let by = limits(&seen.runs[0]).into_iter().find(|limit| limit.here).and_then(|limit| limit.by);
        let by = by.and_then(|id| cx.view(seen.runs[0].run, id));
        let mut finding = value
            .finding(rule, first.span, "the local rate limit has no `descriptors`: this action is ignored")
            .label("never read")
            .note("all requests take from the same `token_bucket`, whatever the action says")
            .snippet("give the filter a bucket for each descriptor:\ndescriptors:\n- entries: # the keys of the action, in its order\n  token_bucket:");
        if let Some(by) = by {
            finding = finding.related(by.value_span(&["patch", "operation"]), "the filter is inserted here");
        }
        out.push(seen.tell(finding));
    }
}

/// A rate limit filter.
struct Limit {
    stage: u64,
    /// Whether what actions produce decides about anything.
    reads_descriptors: bool,
    /// The patch that inserted it.
    by: Option<PatchId>,
    /// Whether it reads the routes that a patch changed.
    here: bool,
}

/// The rate limit filters that patches inserted: istiod generates none.
fn limits(run: &PatchRun<'_, '_>) -> Vec<Limit> {
    let mut found = Vec::new();
    let changed = managers::Changed::by(run);
    for manager in managers::changed(run.run) {
        let here = changed.may_have_routes_of(run.run.knowledge, manager.listener, manager.routes.as_deref());
        for filter in manager.filters.iter().filter(|filter| matches!(&*config_type(filter), LOCAL | GLOBAL)) {
            let config = filter.get("typed_config").map(|config| config.message().1);
            let stage = config.as_ref().map_or(0, stage);
            let has = |key: &str| config.as_ref().is_some_and(|config| config.get(key).is_some());
            let reads_descriptors = config_type(filter) == GLOBAL || has("descriptors") || has("rate_limits");
            found.push(Limit { stage, reads_descriptors, by: PatchId::of(filter.origin), here });
        }
    }
    found
}

fn stage(config: &Tree<'_>) -> u64 {
    config
        .get("stage")
        .and_then(|stage| crate::proto::json::canonical(stage).trim_matches('"').parse().ok())
        .unwrap_or(0)
}

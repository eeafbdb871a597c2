//! EF349: a filter that reads metadata which no filter before it writes.

use crate::declare_rule;
use crate::lint::context::PatchRun;
use crate::lint::lua_use::Named;
use crate::lint::metadata::{Lists, WRITERS, Written, is_known};
use crate::lint::per_run::PerRun;
use crate::lint::seen::{Seen, config_type};
use crate::lint::value::{Object, PatchValue};
use crate::lint::walk::get;
use crate::lint::{Context, Finding, Findings, Knowledge, PatchView, RuleInfo};
use crate::model::envoy_filter::ApplyTo;
use crate::proto::tree::Tree;
use crate::source::escape::one_line;
use crate::source::{Node, Severity, Step};
use std::collections::{BTreeSet, HashMap};

declare_rule! {
    /// A filter or rate limit action that reads dynamic metadata of a filter that does not run before it.
    ///
    /// # What it finds
    /// With config dumps: an inserted filter whose value names the metadata of `envoy.filters.http.jwt_authn` or
    /// `envoy.filters.http.ext_authz`, in RBAC rules, `filter_enabled_metadata`, `metadata_context_namespaces`,
    /// `%DYNAMIC_METADATA(…)%` or a Lua script for requests, and rate limit actions of routes, if no filter of that type is before the
    /// filter that reads it, in any list; or if the JWT filter before it writes no metadata, or another key. The same for other
    /// namespaces in RBAC rules and `filter_enabled_metadata` if no filter before can write them; and `istio_authn`, a
    /// filter that Istio has until 1.23.
    ///
    /// # Why it matters
    /// The metadata is empty: an ALLOW denies every request, a DENY none, an authorization service is never asked, a header is not set,
    /// nothing is limited.
    ///
    /// # How to fix
    /// Insert the filter after the one that writes: INSERT_AFTER with its name, or a later patch with INSERT_BEFORE the router. A JWT
    /// provider writes metadata only with `payload_in_metadata`, and under this key.
    ///
    /// # References
    /// Envoy, "Well known dynamic metadata"; the answers of Envoy 1.38.2 in both orders.
    "EF349" "metadata-not-written" Operation Error => check,
    needs: &[Dump], explains: &["EF520"]
}

/// Maximum number of other namespaces that are looked for.
const MOST: usize = 8;

/// A place where a value reads metadata.
struct Read {
    namespace: String,
    /// The first key below the namespace, if it is known.
    key: Option<String>,
    path: Vec<Step>,
    /// Whether it is a condition: any namespace counts.
    condition: bool,
}

/// What is common to all patches.
struct Known {
    namespaces: Vec<String>,
    lists: PerRun<Lists>,
}

impl Known {
    fn index(&self, namespace: &str) -> Option<usize> {
        self.namespaces.iter().position(|known| known == namespace)
    }

    /// Where a namespace is written, for the filters of a patch, or for the rate limits that read it.
    fn places(&self, run: &PatchRun<'_, '_>, namespace: usize, limits: bool) -> Vec<Written> {
        if run.run.knowledge != Knowledge::Dump {
            return Vec::new();
        }
        let lists = self.lists.of(run.run, |run| Lists::of(run, &self.namespaces));
        if limits { lists.of_limits(run, namespace) } else { lists.of_filter(run, namespace) }
    }
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let mut reads: Vec<(PatchView<'_>, Vec<Read>)> = Vec::new();
    let mut namespaces: Vec<String> = WRITERS.iter().map(|(namespace, _)| (*namespace).to_owned()).collect();
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::HttpFilter) {
        let Some(value) = view.built.and_then(|built| built.value.as_ref()) else { continue };
        let mut found = Vec::new();
        read(value, &mut Vec::new(), &mut found);
        for other in found.iter().filter(|one| one.condition) {
            if namespaces.len() < WRITERS.len() + MOST && !namespaces.contains(&other.namespace) {
                namespaces.push(other.namespace.clone());
            }
        }
        reads.push((view, found));
    }
    for (_, namespace, _) in actions(cx) {
        let name = namespace.as_str().unwrap_or_default().to_owned();
        if namespaces.len() < WRITERS.len() + MOST && !namespaces.contains(&name) {
            namespaces.push(name);
        }
    }
    let known = Known { namespaces, lists: PerRun::new() };
    for (view, found) in reads {
        of_value(rule, cx, &known, &view, found, out);
    }
    of_scripts(rule, cx, &known, out);
    of_limits(rule, cx, &known, out);
}

/// What an inserted filter reads.
fn of_value<'a>(
    rule: &'static RuleInfo,
    cx: &Context<'a>,
    known: &Known,
    view: &PatchView<'a>,
    reads: Vec<Read>,
    out: &mut Findings,
) {
    let mut reported = BTreeSet::new();
    for read in reads {
        let Some(index) = known.index(&read.namespace) else { continue };
        let writer = WRITERS.get(index).map_or("", |(_, writer)| writer);
        let own = view.built.and_then(|built| built.value.as_ref()).map(config_type).unwrap_or_default();
        if !writer.is_empty() && own.ends_with(writer) {
            continue;
        }
        let fits = |keys: &BTreeSet<String>| read.key.as_ref().map_or(!keys.is_empty(), |key| keys.contains(key));
        let Some((seen, why)) = unwritten(cx, known, view, index, false, &fits) else { continue };
        if reported.insert(read.namespace.clone()) {
            let (message, help) = words(&why, &read.namespace, read.key.as_deref(), OWN);
            let finding = view.finding(rule, view.value_place(&read.path), message);
            out.push(seen.tell(finding.label("empty when it is read").snippet(help)));
        }
    }
}

/// What scripts read while a request passes.
fn of_scripts(rule: &'static RuleInfo, cx: &Context<'_>, known: &Known, out: &mut Findings) {
    for script in cx.loadable_scripts() {
        let view = &script.value.view;
        if view.patch.apply_to != ApplyTo::HttpFilter {
            continue;
        }
        let first: HashMap<&str, &Named<'_>> = script.uses.metadata.iter().rev().map(|one| (one.name, one)).collect();
        // A script that goes through all keys reads each.
        let all = ["pairs", "next"].iter().any(|name| script.chunk.names.contains(name));
        let fits = |keys: &BTreeSet<String>| {
            !keys.is_empty() && (all || keys.iter().any(|key| script.script.text.contains(key.as_str())))
        };
        for (index, (namespace, _)) in WRITERS.iter().enumerate() {
            let Some(one) = first.get(namespace) else { continue };
            let Some((seen, why)) = unwritten(cx, known, view, index, false, &fits) else { continue };
            // A script for many workloads may find the metadata on others.
            if matches!(why, Why::Nowhere) && seen.runs.len() < seen.attached {
                continue;
            }
            let (message, help) = words(&why, namespace, None, OWN);
            out.push(seen.tell(warn(script.finding(rule, one, message), help)));
        }
    }
}

/// What rate limit actions of routes read.
fn of_limits(rule: &'static RuleInfo, cx: &Context<'_>, known: &Known, out: &mut Findings) {
    for (value, namespace, key) in actions(cx) {
        let Some(index) = namespace.as_str().and_then(|namespace| known.index(namespace)) else { continue };
        let fits = |keys: &BTreeSet<String>| key.map_or(!keys.is_empty(), |key| keys.contains(key));
        let Some((seen, why)) = unwritten(cx, known, &value.view, index, true, &fits) else { continue };
        let (message, help) = words(&why, &known.namespaces[index], key, LIMITER);
        out.push(seen.tell(warn(value.finding(rule, namespace.span, message), help)));
    }
}

/// The rate limit actions of routes that read metadata: the namespace, and the first key if it is known.
fn actions<'c, 'a>(cx: &'c Context<'a>) -> impl Iterator<Item = (&'c PatchValue<'a>, &'a Node, Option<&'a str>)> {
    let values = cx.values().iter().filter(|value| {
        let kind = value.view.patch.apply_to;
        matches!(kind, ApplyTo::VirtualHost | ApplyTo::HttpRoute | ApplyTo::RouteConfiguration)
    });
    let objects = values.flat_map(|value| value.objects.iter().map(move |object| (value, object)));
    objects.filter(|(_, object)| is_action(object)).filter_map(|(value, object)| {
        let metadata = &object.member("metadata_key")?.entry.value;
        let steps = get(metadata, "path").map(Node::items).unwrap_or_default();
        let key = steps.first().and_then(|step| get(step, "key")).and_then(Node::as_str);
        Some((value, get(metadata, "key")?, key))
    })
}

fn warn(finding: Finding, help: String) -> Finding {
    finding.severity(Severity::Warning).label("empty when it is read").snippet(help)
}

fn is_action(object: &Object<'_>) -> bool {
    let actions =
        ["envoy.config.route.v3.RateLimit.Action.MetaData", "envoy.config.route.v3.RateLimit.Action.DynamicMetaData"];
    actions.contains(&object.full_name()) && object.text("source") != Some("ROUTE_ENTRY")
}

/// Why metadata is empty.
enum Why {
    /// The filter that writes it comes later.
    After,
    /// The filter that writes it before writes other keys: these.
    Keys(BTreeSet<String>),
    /// No filter writes it.
    Nowhere,
}

/// The proxies on which a namespace is empty wherever it is read, and why.
fn unwritten<'c, 'a>(
    cx: &'c Context<'a>,
    known: &Known,
    view: &PatchView<'a>,
    namespace: usize,
    limits: bool,
    fits: &dyn Fn(&BTreeSet<String>) -> bool,
) -> Option<(Seen<'c, 'a>, Why)> {
    let empty = |run: &PatchRun<'_, '_>| {
        let places = known.places(run, namespace, limits);
        !places.is_empty() && places.iter().all(|written| written.is_empty(fits))
    };
    let seen = cx.seen_if(view, empty).filter(Seen::certain)?;
    let places: Vec<Written> = seen.runs.iter().flat_map(|run| known.places(run, namespace, limits)).collect();
    let keys = places.iter().find_map(|written| match written {
        Written::Before(Some(keys)) => Some(BTreeSet::clone(keys)),
        _ => None,
    });
    let after = places.iter().any(|written| matches!(written, Written::After));
    let why = if after { Why::After } else { keys.map_or(Why::Nowhere, Why::Keys) };
    Some((seen, why))
}

/// The filter that reads, at first and as `one` after another filter: that of the patch, or the one that reads its actions.
type Reader = [&'static str; 2];
const OWN: Reader = ["this filter", "this one"];
const LIMITER: Reader = ["the rate limit filter", "the rate limit filter"];

/// What is wrong, and what to write.
fn words(why: &Why, namespace: &str, key: Option<&str>, [reader, one]: Reader) -> (String, String) {
    match why {
        _ if namespace == "istio_authn" => (
            "no filter writes the metadata `istio_authn`: Istio has no such filter any more".to_owned(),
            "the metadata of envoy.filters.http.jwt_authn, or an AuthorizationPolicy with requestPrincipals".to_owned(),
        ),
        Why::After if !is_known(namespace) => (
            format!("the filter that writes the metadata `{namespace}` runs after {reader}"),
            "insert the filter that writes it before the one that reads it".to_owned(),
        ),
        Why::After => (
            format!("{reader} runs before `{namespace}`, whose metadata it reads"),
            format!(
                "insert it after that filter:\noperation: INSERT_AFTER, with subFilter: {{name: {}}}",
                one_line(namespace)
            ),
        ),
        Why::Keys(keys) if keys.is_empty() => (
            format!("`{namespace}` before {one} writes no metadata"),
            format!("for the provider of the JWT filter: payload_in_metadata: {}", one_line(key.unwrap_or("payload"))),
        ),
        Why::Keys(keys) => {
            let all = keys.iter().map(|key| format!("`{}`", one_line(key))).collect::<Vec<_>>().join(", ");
            let wanted = key.map_or("none of its keys is read here".to_owned(), |key| format!("not `{key}`"));
            (
                format!("`{namespace}` writes its metadata as {all}; {wanted}"),
                format!("the same name in payload_in_metadata and here: {all}"),
            )
        }
        Why::Nowhere if is_known(namespace) => (
            format!("no filter here writes the metadata of `{namespace}`"),
            "insert that filter before this one, or use a RequestAuthentication and an AuthorizationPolicy".to_owned(),
        ),
        Why::Nowhere => (
            format!("no filter here writes the metadata `{namespace}`"),
            "insert the filter that writes it before this one".to_owned(),
        ),
    }
}

/// What a value reads, with the paths of the fields in which it does.
fn read(tree: &Tree<'_>, path: &mut Vec<Step>, found: &mut Vec<Read>) {
    let tree = tree.readable();
    if tree.str_at("metadata_source") == "ROUTE" || tree.str_at("source") == "ROUTE_ENTRY" {
        return;
    }
    let steps = tree.get("path").map(Tree::readable);
    let steps = steps.as_deref().map(Tree::items).unwrap_or_default();
    for (key, value) in tree.entries() {
        // When the response passes, every filter has written.
        if key.starts_with("response_") {
            continue;
        }
        path.push(Step::from(&**key));
        let text = value.as_str().unwrap_or_default();
        let mut add = |namespace: &str, key: Option<&str>, condition: bool| {
            let (namespace, key) = (namespace.to_owned(), key.map(str::to_owned));
            found.push(Read { namespace, key, path: path.clone(), condition });
        };
        if matches!(&**key, "filter" | "key") && !text.is_empty() && !steps.is_empty() {
            let first = steps.first().map(|step| step.str_at("key")).filter(|key| !key.is_empty());
            add(text, first, &**key == "filter" && tree.get("invert").is_none());
        }
        if text.contains('%')
            && let Some((_, rest)) = text.split_once("%DYNAMIC_METADATA(")
        {
            let inner = rest.split(')').next().unwrap_or_default();
            let mut parts = inner.split(':');
            add(parts.next().unwrap_or_default(), parts.next(), false);
        }
        if &**key == "metadata_context_namespaces" {
            value.items().iter().filter_map(Tree::as_str).for_each(|namespace| add(namespace, None, false));
        }
        read(value, path, found);
        path.pop();
    }
    for (number, item) in tree.items().iter().enumerate() {
        path.push(Step::from(number));
        read(item, path, found);
        path.pop();
    }
}

//! EF334: an inserted route after one that matches every request.

use crate::declare_rule;
use crate::engine::PatchId;
use crate::engine::trace::{Effect, Place};
use crate::lint::context::PatchRun;
use crate::lint::names::{count, listed};
use crate::lint::per_run::PerRun;
use crate::lint::route_match::{
    beginnings, beginnings_of_segments, node_takes_everything, only_prefix, only_segments, takes_everything,
};
use crate::lint::walk::get;
use crate::lint::{Context, Findings, Knowledge, PatchView, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation, PatchContext};
use crate::proto::json;
use crate::proto::tree::Tree;
use crate::source::{Node, Severity, Span};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;

declare_rule! {
    /// An inserted route that no request reaches, because an earlier route matches all of them.
    ///
    /// # What it finds
    /// A route that a patch inserts, or that the MERGE of a virtual host appends, after a route whose match is `prefix: /`
    /// without other conditions, equals its own, or is a prefix (of whole segments, too)
    /// of its path without other conditions; a route of a value after such a route of the same virtual host; a route that is inserted first, matches
    /// everything and leaves nothing to the routes after it (an info if it redirects or responds for one virtual host). Without config
    /// dumps: ADD, INSERT_AFTER without an anchor, and MERGE, on the inbound side, where istiod generates one route that
    /// matches everything; ADD and MERGE on the outbound side of sidecars as a warning.
    ///
    /// # Why it matters
    /// Envoy uses the first route that matches. Redirects, limits and denials of the later route never happen.
    ///
    /// # How to fix
    /// Write INSERT_FIRST, or INSERT_BEFORE with the name of the route that matches everything.
    ///
    /// # References
    /// Envoy, "Route matching": routes are matched in order.
    "EF334" "route-never-reached" Operation Error => check,
    explains: &["EF308", "EF310"]
}

/// The route before an inserted one.
#[derive(Clone)]
struct Behind {
    first: String,
    takes: Takes,
    by: Option<PatchId>,
    vhost: String,
}

impl Behind {
    fn name(&self) -> String {
        if self.first.is_empty() { "an unnamed route".to_owned() } else { format!("the route `{}`", self.first) }
    }
}

/// What a route takes from the one after it.
#[derive(Clone)]
enum Takes {
    Everything,
    /// The same match.
    Same,
    /// A prefix of its path.
    Prefix(String),
    /// The first segments of its path.
    Segments(String),
}

impl fmt::Display for Takes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Takes::Everything => f.write_str("matches every request"),
            Takes::Same => f.write_str("has the same match"),
            Takes::Prefix(prefix) => write!(f, "matches every path that begins with `{prefix}`"),
            Takes::Segments(prefix) => write!(f, "matches `{prefix}` and every path below it"),
        }
    }
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    written(rule, cx, out);
    hiding(rule, cx, out);
    let order = Order(PerRun::new());
    for view in cx.patches() {
        let appended = Appended::of(&view);
        if view.patch.apply_to != ApplyTo::HttpRoute && appended.is_none() {
            continue;
        }
        let inbound = view.patch.context == PatchContext::SidecarInbound;
        // The routes of a Service end with one that matches everything; those of a VirtualService may not.
        let outbound = view.patch.context == PatchContext::SidecarOutbound
            && view.built.is_some_and(|built| built.operation == Operation::Add || appended.is_some());
        let known = |run: &PatchRun<'_, '_>| inbound || outbound || run.run.knowledge == Knowledge::Dump;
        let Some(seen) = cx.seen_if(&view, |run| known(run) && order.all_behind(run).is_some()) else { continue };
        let Some(behind) = order.all_behind(&seen.runs[0]) else { continue };
        let by = behind.by.and_then(|id| cx.view(seen.runs[0].run, id));
        if by.is_some_and(|other| !seen.certain() || cx.same_object(other.filter_index, view.filter_index)) {
            continue;
        }
        let span = appended.as_ref().map_or_else(|| view.value_span(&["patch", "operation"]), |routes| routes.span);
        let these = match &appended {
            Some(routes) if routes.count > 1 && matches!(behind.takes, Takes::Everything) => "these routes",
            _ => "this route",
        };
        let mut finding = view
            .finding(rule, span, format!("no request reaches {these}: {} before it {}", behind.name(), behind.takes))
            .label("after it");
        finding = if seen.certain() {
            let place = format!("in virtual host `{}`; Envoy uses the first route that matches", behind.vhost);
            finding.note(place)
        } else {
            finding.note("Envoy uses the first route that matches")
        };
        finding = match view.built.map(|built| built.operation) {
            Some(Operation::InsertFirst | Operation::InsertBefore) => {
                finding.help("give the route before it a narrower match, or let this patch run after it")
            }
            _ if appended.is_some() => finding.note("MERGE appends to the list `routes`").snippet(
                "insert the route before the others:\napplyTo: HTTP_ROUTE\npatch:\n  operation: INSERT_FIRST\n  value: # the route",
            ),
            _ => finding.help("write INSERT_FIRST, or INSERT_BEFORE with the name of that route"),
        };
        if let Some(other) = by {
            let words = format!("the route before it is inserted by {}", other.filter.full_name());
            finding = finding.related(other.value_span(&["patch", "operation"]), words);
        }
        if outbound && !seen.certain() {
            let note = "a VirtualService whose last route does not match everything leaves the rest to this one";
            out.push(seen.tell(finding.severity(Severity::Warning).note(note)));
            continue;
        }
        out.push(seen.tell(finding.ineffective_if(appended.is_none_or(|routes| routes.alone))));
    }
}

/// Routes that the MERGE of a virtual host appends to those of istiod.
struct Appended {
    span: Span,
    count: usize,
    /// The patch does nothing else.
    alone: bool,
}

impl Appended {
    fn of(view: &PatchView<'_>) -> Option<Appended> {
        let built = view.built.filter(|built| built.operation == Operation::Merge)?;
        let value = built.value.as_ref().filter(|_| view.patch.apply_to == ApplyTo::VirtualHost)?;
        let count = value.get("routes").map_or(0, |list| list.items().len());
        let alone = view.node(&["patch", "value"]).is_some_and(|value| value.entries().len() == 1);
        (count > 0).then(|| Appended { span: view.value_path_span("routes"), count, alone })
    }
}

/// The routes of a virtual host that are behind others.
type Hidden = HashMap<PatchId, Behind>;

/// Which routes of each virtual host are behind which others. A virtual host is read once, whoever inserted how many routes.
struct Order(PerRun<RefCell<HashMap<Place, Hidden>>>);

impl Order {
    /// The route before the one that a patch inserted, if the inserted route is reachable nowhere.
    fn all_behind(&self, run: &PatchRun<'_, '_>) -> Option<Behind> {
        let adds = |effect: &Effect| matches!(effect, Effect::Inserted { .. } | Effect::Merged(_));
        let mut places = run.trace.effects.iter().filter(|(_, effect)| adds(effect)).map(|(place, _)| place);
        let first = self.behind(run, places.next()?)?;
        places.all(|place| self.behind(run, place).is_some()).then_some(first)
    }

    fn behind(&self, run: &PatchRun<'_, '_>, place: &Place) -> Option<Behind> {
        let vhost = place.with(|names| names.route = None);
        let known = self.0.of(run.run, |_| RefCell::default());
        let mut known = known.borrow_mut();
        let routes = known.entry(vhost).or_insert_with_key(|vhost| {
            run.run.with_object(vhost, |vhost| Some(all_hidden(vhost))).unwrap_or_default()
        });
        routes.get(&run.id).cloned()
    }
}

/// The first route of each patch in a virtual host that is behind another, with that other.
fn all_hidden(vhost: &Tree<'_>) -> Hidden {
    let mut hidden = HashMap::new();
    let mut seen: HashSet<PatchId> = HashSet::new();
    let mut everything: Option<usize> = None;
    let mut matches: HashMap<String, usize> = HashMap::new();
    let mut prefixes: HashMap<&str, usize> = HashMap::new();
    let mut lengths: BTreeSet<usize> = BTreeSet::new();
    // With the slash behind them.
    let mut segments: HashMap<String, usize> = HashMap::new();
    let mut segment_lengths: BTreeSet<usize> = BTreeSet::new();
    let routes = vhost.get("routes").map(Tree::items).unwrap_or_default();
    for (at, route) in routes.iter().enumerate() {
        let by = PatchId::of(route.origin).filter(|id| seen.insert(*id));
        let Some(mine) = route.get("match") else { continue };
        let own = json::canonical(mine);
        if let Some(id) = by {
            let prefix = beginnings(mine).flat_map(|path| lengths.iter().filter_map(move |&length| path.get(..length)));
            let prefix = prefix.filter_map(|prefix| Some((*prefixes.get(prefix)?, prefix)));
            let below = beginnings_of_segments(mine).flat_map(|path| {
                let found = segment_lengths.iter().filter_map(|&length| path.get(..length));
                found.filter_map(|path| segments.get_key_value(path)).collect::<Vec<_>>()
            });
            // The first route that takes something decides; of what it takes, the first kind.
            let first = [
                everything.map(|first| (first, 0, Takes::Everything)),
                matches.get(&own).map(|first| (*first, 1, Takes::Same)),
                prefix.min().map(|(first, prefix)| (first, 2, Takes::Prefix(prefix.to_owned()))),
                below
                    .min_by_key(|(_, first)| **first)
                    .map(|(path, first)| (*first, 3, Takes::Segments(path.trim_end_matches('/').to_owned()))),
            ];
            if let Some((first, _, takes)) = first.into_iter().flatten().min_by_key(|(first, kind, _)| (*first, *kind))
            {
                let route = &routes[first];
                let (first, by) = (route.name().to_owned(), PatchId::of(route.origin));
                hidden.insert(id, Behind { first, takes, by, vhost: vhost.name().to_owned() });
            }
        }
        if everything.is_none() && takes_everything(mine) {
            everything = Some(at);
        }
        if let Some(prefix) = only_prefix(mine) {
            prefixes.entry(prefix).or_insert(at);
            lengths.insert(prefix.len());
        }
        if let Some(prefix) = only_segments(mine) {
            segment_lengths.insert(prefix.len() + 1);
            segments.entry(format!("{prefix}/")).or_insert(at);
        }
        matches.entry(own).or_insert(at);
    }
    hidden
}

/// Routes of a virtual host in a value, after one of them that matches everything.
fn written(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for vhost in value.objects.iter().filter(|object| object.full_name() == "envoy.config.route.v3.VirtualHost") {
            let Some(routes) = vhost.member("routes").map(|member| member.entry.value.items()) else { continue };
            let all = |route: &Node| get(route, "match").is_some_and(node_takes_everything);
            let Some(first) = routes.iter().position(all) else { continue };
            let Some(dead) = routes.get(first + 1) else { continue };
            let name = |route: &Node| get(route, "name").and_then(Node::as_str).unwrap_or_default().to_owned();
            let named = |name: String| {
                if name.is_empty() { "an unnamed route".to_owned() } else { format!("the route `{name}`") }
            };
            let more = routes.len() - first - 2;
            let mut finding = value
                .finding(
                    rule,
                    dead.span,
                    format!(
                        "no request reaches this route: {} before it matches every request",
                        named(name(&routes[first]))
                    ),
                )
                .label("after it")
                .related(routes[first].span, "matches every request")
                .note("Envoy uses the first route that matches")
                .help("move the route that matches everything to the end of the list");
            if more > 0 {
                finding = finding.note(format!("nor {}", count(more, "route after it", "routes after it")));
            }
            out.push(finding);
        }
    }
}

/// Routes of istiod that become unreachable after an inserted route.
fn hiding(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::HttpRoute) {
        let Some(built) = view.built.filter(|built| {
            matches!(built.operation, Operation::InsertFirst | Operation::InsertBefore)
                && built.value.as_ref().and_then(|value| value.get("match")).is_some_and(takes_everything)
        }) else {
            continue;
        };
        let known = |run: &PatchRun<'_, '_>| run.run.knowledge == Knowledge::Dump && !hidden(run).is_empty();
        let Some(seen) = cx.seen(&view, known) else { continue };
        let names: BTreeSet<String> = seen.runs.iter().flat_map(hidden).collect();
        let answers = built.value.as_ref().is_some_and(|value| value.get("route").is_none());
        let vhosts: BTreeSet<&str> = names.iter().filter_map(|name| Some(name.split_once(SEPARATOR)?.0)).collect();
        let what = count(names.len(), "route", "routes");
        let finding = view
            .finding(
                rule,
                view.value_span(&["patch", "operation"]),
                format!("this route matches every request: no request reaches {what} of istiod after it"),
            )
            .severity(if answers && vhosts.len() < 2 { Severity::Info } else { Severity::Warning })
            .label("before them")
            .note(format!("after it: {}", listed(names.iter().map(String::as_str), 8)))
            .help("give the route a narrower match, or name the intended virtual host (vhost.name)");
        out.push(seen.tell(finding));
    }
}

/// Between the names of a virtual host and its route.
const SEPARATOR: &str = " › ";

/// The routes of istiod after a route that the patch inserted, as `virtual host › route`.
fn hidden(run: &PatchRun<'_, '_>) -> BTreeSet<String> {
    let inserted = |effect: &Effect| matches!(effect, Effect::Inserted { .. });
    let places = run.trace.effects.iter().filter(|(_, effect)| inserted(effect)).map(|(place, _)| place);
    let mut names = BTreeSet::new();
    for place in places {
        let Some(vhost) = run.run.object(&place.with(|names| names.route = None)) else { continue };
        let routes = vhost.get("routes").map(Tree::items).unwrap_or_default();
        let Some(at) = routes.iter().position(|route| route.origin == run.id.origin()) else { continue };
        if routes[..at].iter().any(|route| route.get("match").is_some_and(takes_everything)) {
            continue;
        }
        let behind = routes[at + 1..].iter().filter(|route| PatchId::of(route.origin).is_none());
        names.extend(behind.map(|route| {
            let name = if route.name().is_empty() { "(no name)" } else { route.name() };
            format!("{}{SEPARATOR}{name}", vhost.name())
        }));
    }
    names
}

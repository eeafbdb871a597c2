//! From the engine's trace to an answer: which filters attach, what each patch did and why not, who wrote what.
//!
//! Nothing is computed here that the engine did not compute; this module only finds words, places and neighbors.

mod chains;
mod changes;
pub(crate) mod field;
mod hint;
mod live;
mod order;
pub(crate) mod path;
pub(crate) mod view;
pub(crate) mod why;
mod words;

pub(crate) use hint::canonical_name;

use crate::engine::Outcome;
use crate::engine::program::{BuiltPatch, Status};
use crate::engine::trace::{self, Effect, NoOp, PatchId};
use crate::explain::view::EffectKind;
use crate::model::envoy_filter::{ApplyTo, EnvoyFilter, ObjectMatch, Operation, Patch};
use crate::model::inventory::Inventory;
use crate::proto::decode;
use crate::proto::merge::ChangeKind;
use crate::proto::schema::{Enum, Message};
use crate::source::{Problem, Severity, Sources, Span, Step, alike};
use crate::study::Study;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Prefix of the names of texts that were read from a cluster.
const OF_CLUSTER: &str = "cluster://";

/// How much to report.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Only this filter (`namespace/name`).
    pub only: Option<String>,
    /// Also the HTTP filters of listeners that no patch touched.
    pub all_chains: bool,
}

/// The input of an explanation.
pub(crate) struct Explainer<'e, 'a> {
    /// Texts of the filters.
    pub sources: &'e Sources,
    /// What else is known about the cluster.
    pub inventory: &'e Inventory,
    /// What the filters do to the proxy.
    pub study: &'e Study<'a>,
    /// The dump's name.
    pub dump: &'e str,
    /// Whether the dump is of a running proxy in the filters' mesh.
    pub running: bool,
    /// Which other proxies may have what the dump lacks.
    pub lenders: Lenders,
}

/// Proxies that were not looked at and may have the clusters that a waypoint's dump lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lenders {
    /// Those whose dumps the user can add.
    #[default]
    Given,
    /// Those of other namespaces.
    OtherNamespaces,
    /// None that the user can choose.
    None,
}

impl Lenders {
    /// What to do to get the clusters.
    pub(crate) fn advice(self) -> Option<&'static str> {
        match self {
            Lenders::Given => Some("add the config dump of a proxy that has them"),
            Lenders::OtherNamespaces => Some("use -A: proxies of other namespaces may have them"),
            Lenders::None => None,
        }
    }
}

impl Explainer<'_, '_> {
    /// The answer for this proxy.
    pub(crate) fn proxy(&self, settings: &Settings) -> view::Proxy {
        let proxy = &self.study.config.proxy;
        view::Proxy {
            namespace: proxy.namespace.clone(),
            name: proxy.name.clone(),
            workload: proxy.workload.clone(),
            kind: proxy.kind.as_str(),
            istio_version: proxy.istio_version.clone(),
            control_plane: self.study.plan.compat.release.to_string(),
            dump: self.dump.to_owned(),
            reconstruction: self.reconstruction(),
            filters: self.filters(settings, &self.study.doubtful),
            http_chains: self.chains(settings),
            aborts: self.study.judged.trace.aborts.iter().map(|abort| self.abort(abort)).collect(),
            unknown_routes: self.study.judged.patched.unknown_routes.clone(),
            unknown_services: self.study.judged.patched.unknown_services.clone(),
            refused: self.refused(),
            running: self.running,
        }
    }

    fn filters(&self, settings: &Settings, doubtful: &BTreeSet<PatchId>) -> Vec<view::Filter> {
        let mut others: Vec<usize> =
            (0..self.study.plan.filters.len()).filter(|index| !self.study.plan.order.contains(index)).collect();
        others.sort_by_cached_key(|&index| self.study.plan.filters[index].full_name());
        let attached = self.study.plan.order.iter().enumerate().map(|(position, &index)| (index, Some(position)));
        attached
            .chain(others.into_iter().map(|index| (index, None)))
            .filter(|(index, _)| {
                settings.only.as_ref().is_none_or(|only| self.study.plan.filters[*index].full_name() == *only)
            })
            .map(|(index, position)| self.filter(index, position, doubtful))
            .collect()
    }

    fn filter(&self, index: usize, position: Option<usize>, doubtful: &BTreeSet<PatchId>) -> view::Filter {
        let filter = &self.study.plan.filters[index];
        let reason = words::selection(
            &self.study.plan.selections[index],
            filter,
            &self.study.config.proxy,
            &self.study.mesh.root_namespace,
        );
        let patches = match position {
            Some(_) => {
                let ids = self.study.plan.ids().filter(|&id| self.study.plan.get(id).filter == index);
                ids.map(|id| self.patch(id, doubtful)).collect()
            }
            None => self.unselected(index),
        };
        let spot = reason.as_ref().map(|(code, ..)| filter.document.key_span(&reason_route(code)));
        view::Filter {
            namespace: filter.namespace.clone(),
            name: filter.name.clone(),
            source: self.location(name_span(filter)),
            selected: position.is_some(),
            reason: reason.map(|words| self.reason(words, spot)),
            position: position.map(|position| position + 1),
            priority: filter.priority,
            root_namespace: filter.namespace == self.study.mesh.root_namespace,
            created: filter.created.map(crate::proto::time::write),
            ordered_by: position.and_then(|position| position.checked_sub(1)).map(|before| {
                order::reason(
                    &self.study.plan.filters[self.study.plan.order[before]],
                    filter,
                    self.study.mesh,
                    self.study.plan.compat,
                )
            }),
            patches,
        }
    }

    /// The patches of a filter that does not attach.
    fn unselected(&self, index: usize) -> Vec<view::Patch> {
        let filter = &self.study.plan.filters[index];
        let built = self.study.program.patches(index);
        filter
            .patches
            .iter()
            .enumerate()
            .map(|(at, patch)| view::Patch {
                notices: built.get(at).map(|built| self.notices(filter, patch, &built.notices)).unwrap_or_default(),
                ..self.bare(patch, Outcome::NotSelected)
            })
            .collect()
    }

    fn bare(&self, patch: &Patch, outcome: Outcome) -> view::Patch {
        let body = patch.body.as_ref();
        let value_name = body.and_then(|body| body.value.as_ref()).and_then(|value| value.get("name"));
        view::Patch {
            index: patch.index,
            apply_to: patch.apply_to.name(),
            operation: body.map_or("INVALID", |body| body.operation.name()),
            context: patch.context.name(),
            value_name: value_name.and_then(|node| node.as_str()).unwrap_or_default().to_owned(),
            source: self.location(patch.span),
            outcome,
            in_effect: None,
            live: None,
            instead: Vec::new(),
            uncertain: false,
            reason: None,
            effects: Vec::new(),
            notices: Vec::new(),
            later: Vec::new(),
            lost: Vec::new(),
        }
    }

    fn patch(&self, id: PatchId, doubtful: &BTreeSet<PatchId>) -> view::Patch {
        let planned = self.study.plan.get(id);
        let (filter, patch) = (self.study.plan.filter(id), planned.built.patch);
        let outcome = self.study.outcome(id);
        let trace = &self.study.judged.trace.patches[id.index()];
        let doubt = self.doubt(id, outcome, doubtful);
        let mut later: Vec<view::Later> = Vec::new();
        for one in &trace.later {
            later.push(view::Later {
                by: self.patch_ref(one.by),
                place: place(&one.place),
                path: one.path.clone(),
                what: if one.removed { "removed" } else { "overwritten" },
            });
        }
        view::Patch {
            in_effect: self.study.in_effect(id),
            live: self.live(id),
            instead: self.instead(id),
            uncertain: doubt.is_some(),
            reason: doubt.or_else(|| self.why(id, outcome)),
            effects: self.effects(id),
            notices: self.notices(filter, patch, &planned.built.notices),
            later,
            lost: self
                .study
                .judged
                .lost
                .get(&id)
                .map_or_else(Vec::new, |lost| lost.places.iter().map(ToString::to_string).collect()),
            ..self.bare(patch, outcome)
        }
    }

    fn why(&self, id: PatchId, outcome: Outcome) -> Option<view::Reason> {
        let planned = self.study.plan.get(id);
        let (filter, patch) = (self.study.plan.filter(id), planned.built.patch);
        let proxy = &self.study.config.proxy;
        let at = |keys: &[&str]| {
            let mut route = filter.patch_route(patch.index);
            route.extend(keys.iter().map(|key| Step::from(*key)));
            Some(filter.document.key_span(&route))
        };
        Some(match outcome {
            Outcome::Applied => return None,
            Outcome::NotSelected => {
                self.reason(words::proxy_miss(planned.proxy_miss.as_ref()?, patch), at(&["match", "proxy"]))
            }
            Outcome::NoMatch => self.no_match(id),
            Outcome::NoOp => {
                let reason = match planned.status {
                    Status::NoOp(reason) => reason,
                    _ => self.effect_reason(id),
                };
                if reason == NoOp::NothingChanged {
                    self.reason(self.nothing_changed(id), at(&["patch", "value"]))
                } else {
                    self.reason(words::no_op(reason, patch, proxy), at(no_op_keys(reason)))
                }
            }
            Outcome::Discarded => match planned.status {
                Status::Discarded(reason) => self.reason(words::discard(reason, patch), at(&["patch", "value"])),
                _ => return None,
            },
            Outcome::Aborted => return self.aborted(id),
        })
    }

    fn effect_reason(&self, id: PatchId) -> NoOp {
        let effects = &self.study.judged.trace.patches[id.index()].effects;
        let reason = effects.iter().find_map(|(_, effect)| match effect {
            Effect::NoOp(reason) => Some(*reason),
            _ => None,
        });
        reason.unwrap_or(NoOp::NothingChanged)
    }

    /// Why a merge changed nothing: either the values exist already, or a merge cannot set them.
    fn nothing_changed(&self, id: PatchId) -> words::Words {
        let effects = &self.study.judged.trace.patches[id.index()].effects;
        let changes = || {
            effects.iter().flat_map(|(_, effect)| match effect {
                Effect::Merged(changes) | Effect::TransportSocketMerged(changes, _) => changes.as_slice(),
                _ => &[],
            })
        };
        if let Some(change) = changes().find(|change| change.kind == ChangeKind::CannotReset) {
            let message = format!(
                "a merge cannot reset {} to {}: protobuf treats that as absent",
                change.path,
                change.after_text().as_deref().unwrap_or("its default")
            );
            let help = "use REPLACE with the whole object, or the Istio setting behind this field".to_owned();
            return ("cannot-reset", message, Some(help));
        }
        if changes().next().is_some() {
            return ("nothing-changed", "everything it sets already has that value".to_owned(), None);
        }
        let dropped = self
            .study
            .plan
            .get(id)
            .built
            .notices
            .iter()
            .any(|notice| matches!(notice.what, decode::What::UnknownField | decode::What::DefaultDropped));
        let message = if dropped {
            "its value is empty: fields that are unknown or at their default are ignored"
        } else {
            "its value sets nothing"
        };
        ("empty-value", message.to_owned(), None)
    }

    fn aborted(&self, id: PatchId) -> Option<view::Reason> {
        let judged = &self.study.judged;
        let words = if let Some(panic) = why::panic(&judged.trace, id) {
            (
                "panics",
                format!("istiod panics here and skips the rest: {panic}"),
                Some("match the filter by its name, or give the value the type of the target".to_owned()),
            )
        } else {
            let lost = judged.lost.get(&id)?;
            let cause = self.patch_ref(lost.cause);
            let panic = why::panic(&judged.trace, lost.cause).unwrap_or_default();
            let itself = lost.panics.as_ref().map(|panic| format!("; then this one makes it panic: {panic}"));
            (
                "aborted-by-another",
                format!("patch {} of {} makes istiod panic before this patch runs: {panic}", cause.index, cause.filter),
                Some(format!("fix that patch first{}", itself.unwrap_or_default())),
            )
        };
        Some(self.reason(words, Some(self.study.plan.get(id).built.patch.span)))
    }

    fn effects(&self, id: PatchId) -> Vec<view::Effect> {
        let mut grouped: Vec<view::Effect> = Vec::new();
        // A merge into thousands of clusters has only a handful of different effects.
        let mut known = HashMap::new();
        for (where_, effect) in &self.study.judged.trace.patches[id.index()].effects {
            let mut one = self.effect(id, effect);
            if self.study.judged.trace.patches[id.index()].spread.contains(where_) {
                one.note = Some("not matched here: istiod uses one object in all these places".to_owned());
            }
            let key = (one.effect, one.changes.clone(), one.note.clone());
            let at = *known.entry(key).or_insert(grouped.len());
            if at == grouped.len() {
                grouped.push(one);
            }
            grouped[at].places.push(place(where_));
        }
        self.say_unknown(&mut grouped);
        grouped
    }

    fn effect(&self, id: PatchId, effect: &Effect) -> view::Effect {
        let planned = self.study.plan.get(id);
        let (kind, list, note) = match effect {
            Effect::Merged(list) => (EffectKind::Merged, changes::leaves(list), None),
            Effect::TransportSocketMerged(list, dropped) => {
                let note = (!dropped.is_empty())
                    .then(|| format!("only the transport socket is merged; dropped: {}", dropped.join(", ")));
                (EffectKind::TransportSocketMerged, changes::leaves(list), note)
            }
            Effect::Inserted { .. } => (EffectKind::Inserted, Vec::new(), Some(anchor(planned.built))),
            Effect::Replaced => (EffectKind::Replaced, Vec::new(), None),
            Effect::Removed => (EffectKind::Removed, Vec::new(), None),
            Effect::Added => (EffectKind::Added, Vec::new(), None),
            Effect::NoOp(reason) => (
                EffectKind::NoOp,
                Vec::new(),
                Some(words::no_op(*reason, planned.built.patch, &self.study.config.proxy).1),
            ),
            Effect::Panicked(panic) => (EffectKind::Panicked, Vec::new(), Some(panic.to_string())),
        };
        view::Effect { effect: kind, places: Vec::new(), changes: list, note }
    }

    fn notices(&self, filter: &EnvoyFilter, patch: &Patch, notices: &[decode::Notice]) -> Vec<view::Notice> {
        let mut base = filter.patch_route(patch.index);
        base.extend([Step::from("patch"), Step::from("value")]);
        // A value at its default matters only where a merge should set it: items of lists are new, so they have nothing to reset.
        let resets = |route: &[Step]| merges(patch) && route.iter().all(|step| matches!(step, Step::Key(_)));
        let relevant = |notice: &&decode::Notice| notice.what != decode::What::DefaultDropped || resets(&notice.route);
        let notices = notices.iter().filter(relevant).map(|notice| {
            let mut route = base.clone();
            route.extend(notice.route.iter().cloned());
            let key = match notice.route.last() {
                Some(Step::Key(key)) => key.clone(),
                Some(step @ Step::Item(_)) => step.to_string(),
                None => "value".to_owned(),
            };
            // For an unknown field, point at its name; otherwise at the value.
            let span = match notice.what {
                decode::What::UnknownField => filter.document.key_span(&route),
                _ => filter.document.at(&route).map_or_else(|| filter.document.key_span(&route), |node| node.span),
            };
            view::Notice {
                fatal: notice.what.fatal(),
                message: words::notice(&notice.what, notice.message, &key)
                    + &self.suggestion(filter, notice, &route, &key),
                source: self.location(span),
            }
        });
        notices.collect()
    }

    /// The name that was likely meant.
    fn suggestion(&self, filter: &EnvoyFilter, notice: &decode::Notice, route: &[Step], key: &str) -> String {
        let schema = self.study.plan.schema;
        let (asked, names): (&str, Vec<String>) = match &notice.what {
            decode::What::UnknownField => {
                let fields = schema.message(notice.message).map(Message::fields).into_iter().flatten();
                (key, fields.map(|field| field.name().to_owned()).collect())
            }
            decode::What::UnknownEnumValue { enumeration } => {
                let values = schema.enumeration(enumeration).map(Enum::values).into_iter().flatten();
                let asked = filter.document.at(route).and_then(|node| node.as_str()).unwrap_or_default();
                (asked, values.map(|value| value.name().to_owned()).collect())
            }
            _ => return String::new(),
        };
        let near = nearest(asked, &names);
        let best = near.iter().find(|name| alike::misspelled(asked, name));
        best.map(|name| format!("; did you mean {name}?")).unwrap_or_default()
    }

    fn abort(&self, abort: &trace::Abort) -> view::Abort {
        view::Abort {
            cause: self.patch_ref(abort.cause),
            message: abort.panic.to_string(),
            place: place(&abort.place),
            unprocessed: abort.unprocessed.clone(),
        }
    }

    fn refused(&self) -> Vec<view::Refused> {
        let never = self.study.dump.refused.iter().map(|it| (it.kind, &it.name, &it.error.details));
        let updates =
            self.study.dump.resources.iter().filter_map(|it| Some((it.kind, &it.name, &it.error.as_ref()?.details)));
        never
            .chain(updates)
            .map(|(kind, name, details)| view::Refused {
                kind: kind.as_str(),
                name: name.to_string(),
                details: details.to_string(),
            })
            .collect()
    }

    fn patch_ref(&self, id: PatchId) -> view::PatchRef {
        view::PatchRef {
            filter: self.study.plan.filter(id).full_name(),
            index: self.study.plan.get(id).built.patch.index,
        }
    }

    fn reason(&self, (code, message, help): words::Words, span: Option<Span>) -> view::Reason {
        let source = span.map(|span| self.location(span));
        view::Reason { code, message, help, source, candidates: Vec::new() }
    }

    fn location(&self, span: Span) -> view::Location {
        let here = location(self.sources, span);
        let of_cluster = here.file.starts_with(OF_CLUSTER);
        let document = self.study.plan.filters.iter().map(|filter| &filter.document);
        let document = document.filter(|_| of_cluster).find(|document| document.span.file == span.file);
        let field = document.map(|document| {
            let route: String = document.route_to(span).iter().map(ToString::to_string).collect();
            route.trim_start_matches('.').to_owned()
        });
        view::Location { field: field.filter(|field| !field.is_empty()), ..here }
    }
}

/// The names nearest to another one.
pub(crate) fn nearest(asked: &str, names: &[String]) -> Vec<String> {
    alike::ranked(asked, &names.iter().cloned().collect(), hint::NEAREST)
}

/// A place in a text as data.
pub(crate) fn location(sources: &Sources, span: Span) -> view::Location {
    let position = sources.position(span);
    let file = sources.get(span.file).name.clone();
    view::Location { file, line: position.line, column: position.column, field: None, span: Some(span) }
}

/// A problem as data.
pub(crate) fn trouble(sources: &Sources, problem: &Problem) -> view::Trouble {
    view::Trouble {
        code: problem.code.as_str(),
        severity: match problem.severity {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        },
        message: problem.message.clone(),
        help: problem.help.clone(),
        source: problem.span.map(|span| location(sources, span)),
    }
}

/// The place of a filter's name.
fn name_span(filter: &EnvoyFilter) -> Span {
    let route = ["metadata", "name"].map(Step::from);
    filter.document.at(&route).map_or(filter.document.span, |node| node.span)
}

fn reason_route(code: &str) -> Vec<Step> {
    match code {
        "other-namespace" => vec!["metadata".into(), "namespace".into()],
        "label" => vec!["spec".into(), "workloadSelector".into(), "labels".into()],
        "target-refs" => vec!["spec".into(), "targetRefs".into()],
        _ => vec!["spec".into()],
    }
}

fn no_op_keys(reason: NoOp) -> &'static [&'static str] {
    match reason {
        NoOp::OperationIgnored | NoOp::ReplaceListOnFilters | NoOp::ListenerFilterMergeBefore127 => {
            &["patch", "operation"]
        }
        NoOp::NeedsFilterMatch => &["match"],
        NoOp::WaypointContext | NoOp::ContextOfOtherProxies | NoOp::AddNotForContext => &["match", "context"],
        NoOp::Bootstrap => &["applyTo"],
        NoOp::NoApplyTo => &[],
        _ => &["patch", "value"],
    }
}

fn merges(patch: &Patch) -> bool {
    patch.body.as_ref().is_some_and(|body| body.operation.is_merge())
}

/// Where in its list a value is inserted: without the name of an item of that list, first or last.
fn anchor(built: &BuiltPatch<'_>) -> String {
    let named = match (&built.object, built.patch.apply_to) {
        (ObjectMatch::Listener(listener), ApplyTo::ListenerFilter) => Some(listener.listener_filter.clone()),
        (ObjectMatch::Listener(listener), kind) => {
            let filter = listener.filter_chain.as_ref().and_then(|chain| chain.filter.as_ref());
            match kind {
                ApplyTo::HttpFilter => filter.and_then(|filter| filter.sub_filter.clone()),
                _ => filter.map(|filter| filter.name.clone()),
            }
        }
        (ObjectMatch::RouteConfiguration(routes), _) => {
            let route = routes.vhost.as_ref().and_then(|vhost| vhost.route.as_ref());
            route.map(|route| if route.name.is_empty() { "the matched route".to_owned() } else { route.name.clone() })
        }
        _ => None,
    };
    match (built.operation, named.filter(|name| !name.is_empty())) {
        (Operation::InsertBefore, Some(name)) => format!("before {name}"),
        (Operation::InsertAfter, Some(name)) => format!("after {name}"),
        (Operation::InsertFirst | Operation::InsertBefore, _) => "first".to_owned(),
        _ => "last".to_owned(),
    }
}

/// A place as data.
fn place(place: &trace::Place) -> view::Place {
    let text = |name: &Option<Arc<str>>| name.as_deref().map(str::to_owned);
    let chain = place.chain.as_ref();
    view::Place {
        kind: place.kind.as_str(),
        resource: place.resource.to_string(),
        chain: chain.map(|(index, _)| index.map_or("default".to_owned(), |index| index.to_string())),
        chain_name: chain.map(|(_, name)| name.to_string()).filter(|name| !name.is_empty()),
        listener_filter: text(&place.listener_filter),
        filter: text(&place.filter),
        http_filter: text(&place.sub_filter),
        inline_route: text(&place.inline_route),
        virtual_host: text(&place.vhost),
        route: place.route.as_ref().map(|(index, name)| match &**name {
            "" => index.to_string(),
            name => format!("{index} {name}"),
        }),
    }
}

//! What dumps of running proxies show about filters: whether they are in effect, since when, and on which replicas.

use crate::engine::trace::{Effect, Place};
use crate::engine::unapply::Seen;
use crate::engine::{Outcome, PatchId};
use crate::lint::facts::context::{Context, Knowledge, PatchView, ProxyRun};
use crate::lint::facts::names::{count, listed};
use crate::lint::finding::{Confidence, Finding};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::proxy::REVISION_LABEL;
use crate::model::resource::{ResourceError, ResourceKind};
use crate::model::timestamp;
use crate::proto::tree::{TYPE_KEY, Tree, Value, type_name};
use crate::proto::unmerge::What;
use crate::source::NodeValue;
use crate::study::InEffect;
use std::collections::{BTreeMap, BTreeSet};

/// The number of dumps by [`crate::engine::unapply::State::as_str`], and the number of patched ones whose reconstruction
/// is proven.
pub(crate) fn states(cx: &Context<'_>) -> (BTreeMap<&'static str, usize>, usize) {
    let (mut states, mut proven) = (BTreeMap::new(), 0);
    for live in cx.runs.iter().filter_map(|run| run.live.as_ref()) {
        *states.entry(live.unapplied.state().as_str()).or_default() += 1;
        proven += usize::from(live.unapplied.patched() && live.unapplied.proven());
    }
    (states, proven)
}

/// Services whose clusters an annotation adds to a waypoint, and that no config dump contains: nothing is found about patches of
/// these clusters.
pub(crate) fn unknown_services(cx: &Context<'_>) -> BTreeSet<String> {
    let dumped = cx.runs.iter().filter(|run| run.knowledge == Knowledge::Dump);
    dumped.flat_map(|run| run.judged.patched.unknown_services.iter().cloned()).collect()
}

/// A patch on a running proxy on which it should be in effect.
pub(crate) struct Standing<'c, 'a> {
    /// The proxy.
    pub run: &'c ProxyRun<'a>,
    /// The patch's number there.
    pub id: PatchId,
    /// Whether the proxy holds what the patch writes.
    pub in_effect: InEffect,
}

/// What dumps of running proxies show about the patches of filters that are in the cluster, patch by patch. A filter
/// that exists only in a file need not be in effect anywhere.
pub(crate) fn standings<'c, 'a>(
    cx: &'c Context<'a>,
) -> impl Iterator<Item = (PatchView<'a>, Vec<Standing<'c, 'a>>)> + 'c {
    cx.patches().filter(|view| in_cluster(view.filter)).filter_map(move |view| {
        let attached = cx.attached.get(view.filter_index).into_iter().flatten();
        let runs = attached.filter_map(|&run| cx.runs.get(run)).filter(|run| run.knowledge == Knowledge::Dump);
        let standing = runs.filter_map(|run| {
            let live = run.live.as_ref().filter(|live| live.unapplied.live)?;
            let id = run.plan.find(view.filter_index, view.patch.index)?;
            let in_effect = live.unapplied.in_effect(id)?;
            Some(Standing { run, id, in_effect })
        });
        let standing: Vec<_> = standing.collect();
        (!standing.is_empty()).then_some((view, standing))
    })
}

/// Whether the filter comes from the API server, which writes its metadata.
pub(crate) fn in_cluster(filter: &EnvoyFilter) -> bool {
    ["uid", "resourceVersion", "creationTimestamp"].iter().any(|key| {
        let node = filter.document.under(&["metadata", key]);
        node.is_some_and(|node| !matches!(node.value, NodeValue::Null))
    })
}

/// The last change of a filter's spec.
pub(crate) struct Edit {
    /// When: seconds since 1970 and nanoseconds.
    pub time: (i64, u32),
    /// The time as written.
    pub text: String,
    /// The field manager; `None` means the filter was created then.
    pub manager: Option<String>,
}

impl Edit {
    /// `edited by kubectl at 2026-01-01T00:00:00Z`.
    pub(crate) fn words(&self) -> String {
        match &self.manager {
            Some(manager) => format!("last written by `{manager}` at {}", self.text),
            None => format!("created at {}", self.text),
        }
    }
}

/// The last writer of a filter's spec, from `managedFields`; otherwise its creation time.
pub(crate) fn last_edit(filter: &EnvoyFilter) -> Option<Edit> {
    let metadata = filter.document.get("metadata")?;
    let managers = metadata.get("managedFields").map(crate::source::Node::items).unwrap_or_default();
    let written = managers.iter().filter_map(|one| {
        let text = one.get("time")?.as_str()?;
        let status = one.get("subresource").and_then(|it| it.as_str()).is_some_and(|it| !it.is_empty());
        one.get("fieldsV1")?.get("f:spec").filter(|_| !status)?;
        let manager = one.get("manager").and_then(|it| it.as_str()).map(str::to_owned);
        Some(Edit { time: timestamp(text)?, text: text.to_owned(), manager })
    });
    written.max_by_key(|edit| edit.time).or_else(|| {
        let text = metadata.get("creationTimestamp")?.as_str()?;
        Some(Edit { time: filter.created?, text: text.to_owned(), manager: None })
    })
}

impl Standing<'_, '_> {
    /// The resources that the patch changes, or should change.
    pub(crate) fn resources(&self) -> BTreeSet<(ResourceKind, String)> {
        let effects = self.run.judged.trace.patches.get(self.id.index()).map(|it| it.effects.as_slice());
        let changed = effects.unwrap_or_default().iter().filter(|(_, effect)| effect.changes());
        let shown = self.run.live.as_ref().map(|live| live.unapplied.of(self.id)).into_iter().flatten();
        let places = changed.map(|(place, _)| place).chain(shown.map(|shown| &shown.place));
        places.map(|place| (place.kind, place.resource.to_string())).collect()
    }

    /// When the proxy last received an update of a resource that the patch changes, or of any resource if it has none
    /// of those.
    pub(crate) fn updated(&self) -> Option<((i64, u32), String)> {
        let wanted = self.resources();
        let resources = || self.run.live.iter().flat_map(|live| live.dump.resources.iter());
        let time = |text: &str| Some((timestamp(text)?, text.to_owned()));
        let of = resources().filter(|it| wanted.contains(&(it.kind, it.name.to_string())));
        let own = of.filter_map(|it| time(it.last_updated?)).max();
        own.or_else(|| resources().filter_map(|it| time(it.last_updated?)).max())
    }

    /// Whether Envoy rejected an update of something that the patch changes.
    pub(crate) fn refused(&self) -> bool {
        let wanted = self.resources();
        refusals(self.run).any(|(kind, name, _)| wanted.contains(&(kind, name.to_owned())))
    }

    /// The revisions of the filter and of the proxy, if they differ.
    pub(crate) fn other_revision<'f>(&self, filter: &'f EnvoyFilter) -> Option<(&'f str, &str)> {
        let (wanted, have) = (filter.labels.get(REVISION_LABEL)?, self.run.config.proxy.labels.get(REVISION_LABEL)?);
        (wanted != have).then_some((wanted, have))
    }

    /// What the proxy holds instead of what the patch writes: `connect_timeout is "5s", not "3s"`, the first few.
    pub(crate) fn instead(&self) -> Vec<String> {
        let shown = self.run.live.as_ref().map(|live| live.unapplied.of(self.id)).into_iter().flatten();
        let mut differing = Vec::new();
        for shown in shown {
            if let Seen::Differs(notes) = &shown.seen {
                for note in notes {
                    if let What::Differs { wanted, found } = &note.what {
                        let found = found.as_deref().map_or("absent".to_owned(), cut);
                        // MERGE appends to a list, so the expected list is only its end.
                        let not = if wanted.starts_with('[') { "without" } else { "not" };
                        differing.push(format!("{} of {} is {found}, {not} {}", note.path, shown.place, cut(wanted)));
                    }
                }
            }
        }
        differing.dedup();
        differing
    }

    /// Whether another version of the patch was pushed: the proxy holds other values than the patch writes, and another
    /// patch of its filter is in effect, or this one is in effect elsewhere.
    pub(crate) fn older_version(&self) -> bool {
        let Some(live) = &self.run.live else { return false };
        let own = self.run.plan.get(self.id).filter;
        let mut positive = live.unapplied.shown.iter().filter(|shown| shown.seen.positive());
        self.in_effect == InEffect::Partly
            || (!self.instead().is_empty() && positive.any(|shown| self.run.plan.get(shown.patch).filter == own))
    }

    /// Whether the replay of everything else reproduces the dump.
    pub(crate) fn confidence(&self) -> Confidence {
        let proven = self.run.live.as_ref().is_some_and(|live| live.unapplied.proven());
        if proven { Confidence::Certain } else { Confidence::Likely }
    }
}

fn cut(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    text.chars().take(MOST).chain(std::iter::once('…')).collect()
}

/// The name of the owner of a proxy's pod, with what distinguishes its pods from those of another template.
pub(crate) fn owner(run: &ProxyRun<'_>) -> Option<String> {
    let proxy = &run.config.proxy;
    let version = proxy.labels.get("version").map(|it| format!(" version {it}")).unwrap_or_default();
    (!proxy.workload.is_empty()).then(|| format!("{}/{}{version}", proxy.namespace, proxy.workload))
}

/// Replicas that differ in a patch, by owner: those without it and those with it.
pub(crate) type Split<'s, 'c, 'a> = BTreeMap<String, (Vec<&'s Standing<'c, 'a>>, Vec<&'s Standing<'c, 'a>>)>;

/// The owners whose replicas only partly have a patch.
pub(crate) fn split<'s, 'c, 'a>(standing: &'s [Standing<'c, 'a>]) -> Split<'s, 'c, 'a> {
    let mut owners = Split::new();
    for one in standing {
        if let Some(owner) = owner(one.run) {
            let (without, with) = owners.entry(owner).or_default();
            if one.in_effect == InEffect::Yes { with.push(one) } else { without.push(one) }
        }
    }
    owners.retain(|_, (without, with)| !without.is_empty() && !with.is_empty());
    owners
}

/// Whether other rules already report the patch on a proxy: rejected updates, and replicas that differ.
pub(crate) fn reported_elsewhere(one: &Standing<'_, '_>, split: &Split<'_, '_, '_>) -> bool {
    one.refused() || owner(one.run).is_some_and(|owner| split.contains_key(&owner))
}

/// Updates that Envoy rejected: of resources that it still has in an older version, and of others.
pub(crate) fn refusals<'c>(
    run: &'c ProxyRun<'_>,
) -> impl Iterator<Item = (ResourceKind, &'c str, &'c ResourceError<'c>)> + 'c {
    let dump = run.live.as_ref().map(|live| live.dump);
    let updates = dump.into_iter().flat_map(|dump| dump.resources.iter());
    let updates = updates.filter_map(|one| Some((one.kind, one.name.as_ref(), &**one.error.as_ref()?)));
    let never = dump.map(|dump| &dump.refused).into_iter().flatten();
    updates.chain(never.map(|one| (one.kind, one.name.as_ref(), &one.error)))
}

/// Patches that change a resource on a proxy, or would.
pub(crate) fn writers(run: &ProxyRun<'_>, kind: ResourceKind, name: &str) -> Vec<PatchId> {
    let here = |place: &Place| place.kind == kind && *place.resource == *name;
    let ids = run.plan.ids().filter(|id| {
        let trace = &run.judged.trace.patches[id.index()];
        let lost = run.judged.outcome(run.plan, *id) == Outcome::Aborted;
        !lost && trace.effects.iter().any(|(place, effect): &(Place, Effect)| effect.changes() && here(place))
    });
    ids.collect()
}

/// Words of a patch's value that Envoy can use to name it in a message: names, and types as it writes them.
pub(crate) fn words_of(value: &Tree<'_>) -> BTreeSet<String> {
    fn walk(tree: &Tree<'_>, key: &str, into: &mut BTreeSet<String>) {
        match &tree.value {
            Value::Raw(_) => {
                let mut tree = tree.clone();
                tree.open();
                walk(&tree, key, into);
            }
            Value::Map(entries) => entries.iter().for_each(|(key, value)| walk(value, key, into)),
            Value::List(items) => items.iter().for_each(|item| walk(item, key, into)),
            Value::String(text) if matches!(key, TYPE_KEY | "type_url") => {
                let name = type_name(text);
                into.insert(name.to_owned());
                // Constraint violations name the class that checks them.
                if let Some(short) = name.rsplit('.').next() {
                    into.insert(format!("{short}ValidationError"));
                }
            }
            Value::String(text) if text.len() >= 4 => {
                into.insert(text.to_string());
            }
            _ => {}
        }
    }
    let mut words = BTreeSet::new();
    walk(value, "", &mut words);
    words
}

/// Whether an object of this name inside a tree passes a test.
pub(crate) fn any_named(mut tree: Tree<'_>, name: &str, test: &impl Fn(&Tree<'_>) -> bool) -> bool {
    tree.open();
    if tree.name() == name && test(&tree) {
        return true;
    }
    match tree.value {
        Value::List(items) => items.into_iter().any(|item| any_named(item, name, test)),
        Value::Map(entries) => entries.into_iter().any(|(_, value)| any_named(value, name, test)),
        _ => false,
    }
}

/// Adds to a finding how many proxies it concerns, and names them.
pub(crate) fn on(finding: Finding, standing: &[&Standing<'_, '_>], all: usize, what: &str) -> Finding {
    let sure = standing.iter().all(|one| one.confidence() == Confidence::Certain);
    let names = standing.iter().map(|one| one.run.label());
    finding
        .note(format!("{what} {} of {}: {}", standing.len(), count(all, "proxy", "proxies"), listed(names, 4)))
        .confidence(if sure { Confidence::Certain } else { Confidence::Likely })
        .workloads(standing.iter().map(|one| one.run.label().to_owned()))
}

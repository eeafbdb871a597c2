//! What rules look at: the documents, the filters, and a run of the engine for each proxy.

use super::inert::Memo;
use super::rule::Rule;
use super::run::made_up_label;
use super::tried::Trials;
use super::upgrade::Upgrade;
use super::value::{self, PatchValue};
use super::versions;
use crate::engine::program::{BuiltPatch, Planned};
use crate::engine::trace::PatchTrace;
use crate::engine::{Judged, MeshSettings, Outcome, PatchId, Plan, Program, Unapplied};
use crate::envoy::api::envoy_of;
use crate::model::envoy_filter::{EnvoyFilter, Patch};
use crate::model::inventory::Inventory;
use crate::model::release::Release;
use crate::model::resource::ProxyConfig;
use crate::proto::schema::Schema;
use crate::source::{Node, Problem, Sources, Span, Step};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

/// How much is known of a proxy's configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Knowledge {
    /// A built-in reference configuration, of a workload made up to fit the filter: only names that istiod generates
    /// everywhere (filters, sub-filters, virtual listeners) mean anything; matches on names and ports of the user's own
    /// services were left out before the run.
    Reference,
    /// A config dump of a real proxy.
    Dump,
}

/// What the dump of a real proxy shows of the filters.
pub struct Live<'a> {
    /// The proxy and its configuration as dumped. The run starts from what istiod generates without the filters, as far as
    /// that can be told.
    pub dump: &'a ProxyConfig<'a>,
    /// What was undone, and whether doing it again gives the dump.
    pub unapplied: &'a Unapplied<'a>,
    /// Patches whose outcome in the run is a guess: what they could match may be in no dump.
    pub doubtful: BTreeSet<PatchId>,
}

/// A run of the engine on one proxy.
pub struct ProxyRun<'a> {
    /// See [`ProxyRun::label`].
    pub(super) label: OnceLock<String>,
    /// How much is known.
    pub knowledge: Knowledge,
    /// The configuration.
    pub config: &'a ProxyConfig<'a>,
    /// The plan: which filters attach, in which order.
    pub plan: &'a Plan<'a>,
    /// What the engine did.
    pub judged: Arc<Judged<'a>>,
    /// What was found out by running it again without a patch.
    pub memo: Memo,
    /// Of a real proxy: what its dump shows of the filters.
    pub live: Option<Live<'a>>,
}

/// Everything a rule may look at.
pub struct Context<'a> {
    /// The texts.
    pub sources: &'a Sources,
    /// What the loader noticed, document by document.
    pub problems: &'a [Problem],
    /// Workloads, services and the rest.
    pub inventory: &'a Inventory,
    /// The filters, as `inventory.envoy_filters`.
    pub filters: &'a [EnvoyFilter],
    /// The filters as the control plane's release reads them.
    pub program: &'a Program<'a>,
    /// The release of the control plane.
    pub release: Release,
    /// The release of the proxies: the control plane's own, but in the middle of an upgrade.
    pub proxies: Release,
    /// Settings of the mesh.
    pub mesh: &'a MeshSettings,
    /// One run a proxy, reference configurations included.
    pub runs: Vec<ProxyRun<'a>>,
    /// For each filter the runs (by index) that it attaches in.
    pub attached: Vec<Vec<usize>>,
    /// The rules of the user's own that run.
    pub custom: Vec<&'static Rule>,
    /// The values of the patches, walked when a rule first asks.
    pub walked: OnceCell<Vec<PatchValue<'a>>>,
    /// What a real Envoy says of the runs; `None` when none was given.
    pub trials: Option<Trials>,
    /// What an upgrade to this release changes; `None` outside of an audit, where the rules of upgrades are silent.
    pub upgrade: Option<Box<Upgrade>>,
}

/// A patch with everything that is known without a proxy.
#[derive(Clone, Copy)]
pub struct PatchView<'a> {
    /// Index of the filter.
    pub filter_index: usize,
    /// The filter.
    pub filter: &'a EnvoyFilter,
    /// The patch.
    pub patch: &'a Patch,
    /// The patch as the release reads it; `None` when the release cannot read the filter.
    pub built: Option<&'a BuiltPatch<'a>>,
}

/// A patch on one proxy.
#[derive(Clone, Copy)]
pub struct PatchRun<'c, 'a> {
    /// The proxy.
    pub run: &'c ProxyRun<'a>,
    /// Its number in the order of application.
    pub id: PatchId,
    /// The patch in the plan.
    pub planned: &'c Planned<'a>,
    /// What the engine noted.
    pub trace: &'c PatchTrace,
    /// What became of it.
    pub outcome: Outcome,
}

impl<'a> Context<'a> {
    /// Every patch of every filter.
    pub fn patches(&self) -> impl Iterator<Item = PatchView<'a>> + '_ {
        self.filters.iter().enumerate().flat_map(move |(filter_index, filter)| {
            let built = self.program.patches(filter_index);
            filter.patches.iter().enumerate().map(move |(index, patch)| PatchView {
                filter_index,
                filter,
                patch,
                built: built.get(index),
            })
        })
    }

    /// The value of every patch that has one, walked with its types.
    pub fn values(&self) -> &[PatchValue<'a>] {
        self.walked.get_or_init(|| {
            let istiod = self.program.schema;
            self.patches().filter_map(|view| value::walk(view, istiod, self.envoy_minor_of(&view))).collect()
        })
    }

    /// The values that proxies of a known Envoy receive: what rules on the proxy's side look at. A patch whose
    /// `proxyVersion` asks for proxies older than all known ones is none of them.
    pub fn proxy_values(&self) -> impl Iterator<Item = &PatchValue<'a>> {
        self.values().iter().filter(|value| value.envoy_minor.is_some())
    }

    /// Minor number of the Envoy in the proxies that a patch is for: the control plane's own, or what `proxyVersion` asks
    /// for; `None` when that is older than all that is known.
    pub fn envoy_minor_of(&self, view: &PatchView<'_>) -> Option<u16> {
        let version = view.patch.proxy.as_ref().map_or("", |proxy| proxy.version.as_str());
        if version.is_empty() {
            return Some(self.envoy_minor());
        }
        // Istio 1.N comes with Envoy 1.(N+8).
        versions::newest_fitting(version, self.release.minor).map(envoy_of)
    }

    /// Minor number of the proxies' Envoy: Istio 1.N comes with Envoy 1.(N+8), since Istio 1.16 (docs, supported
    /// releases).
    pub fn envoy_minor(&self) -> u16 {
        envoy_of(self.proxies.minor)
    }

    /// The types of the proxies' Envoy; `None` for a release whose Envoy is not known.
    pub fn envoy(&self) -> Option<Schema> {
        Schema::envoy(self.envoy_minor())
    }

    /// A patch on every proxy that its filter attaches to.
    pub fn on_proxies<'c>(&'c self, filter: usize, patch: usize) -> impl Iterator<Item = PatchRun<'c, 'a>> + 'c {
        let attached = self.attached.get(filter).into_iter().flatten();
        attached.filter_map(move |&run| self.runs.get(run)?.patch(filter, patch))
    }

    /// Whether two filters are one object of the cluster, given twice: only one of them can be there.
    pub fn same_object(&self, one: usize, other: usize) -> bool {
        let name = |index: usize| self.filters.get(index).map(EnvoyFilter::full_name);
        one != other && name(one) == name(other)
    }

    /// Whether real config dumps were given.
    pub fn has_dumps(&self) -> bool {
        self.runs.iter().any(|run| run.knowledge == Knowledge::Dump)
    }

    /// Whether a filter attaches to a proxy of which a config dump was given.
    pub fn attaches_to_dump(&self, filter: usize) -> bool {
        let attached = self.attached.get(filter).into_iter().flatten();
        attached.filter_map(|&run| self.runs.get(run)).any(|run| run.knowledge == Knowledge::Dump)
    }
}

impl<'a> PatchView<'a> {
    /// The route of keys from the document's root to something in the patch.
    pub fn route(&self, below: &[&str]) -> Vec<Step> {
        let mut route = self.filter.patch_route(self.patch.index);
        route.extend(below.iter().map(|&key| Step::from(key)));
        route
    }

    /// The value at a route below the patch.
    pub fn node(&self, below: &[&str]) -> Option<&'a Node> {
        self.filter.patch_node(self.patch.index)?.under(below)
    }

    /// The place of the last key on a route below the patch that is there.
    pub fn key_span(&self, below: &[&str]) -> Span {
        self.filter.document.key_span(&self.route(below))
    }

    /// The place of the value at a route below the patch; of the last key that is there when it is not.
    pub fn value_span(&self, below: &[&str]) -> Span {
        self.node(below).map_or_else(|| self.key_span(below), |node| node.span)
    }

    /// The place of a key inside the patch's value (`patch.value`), by the route that the decoder gives.
    pub fn value_route_span(&self, route: &[Step]) -> Span {
        let mut full = self.route(&["patch", "value"]);
        full.extend(route.iter().cloned());
        self.filter.document.key_span(&full)
    }
}

impl<'a> ProxyRun<'a> {
    /// What to call the proxy: `namespace/name`, or `a sidecar with app=cart in shop` for a made-up one.
    pub fn label(&self) -> &str {
        self.label.get_or_init(|| {
            let proxy = &self.config.proxy;
            let made_up = self.knowledge == Knowledge::Reference && proxy.name.is_empty();
            if made_up { made_up_label(proxy) } else { proxy.full_name() }
        })
    }

    /// A patch on this proxy; `None` when its filter does not attach, or when nobody can tell what it does.
    pub fn patch<'c>(&'c self, filter: usize, patch: usize) -> Option<PatchRun<'c, 'a>> {
        let id = self.plan.find(filter, patch)?;
        (!self.doubtful(id)).then(|| self.by_id(id))
    }

    /// Whether the outcome of a patch is a guess, of which nothing may be said.
    pub fn doubtful(&self, id: PatchId) -> bool {
        self.live.as_ref().is_some_and(|live| live.doubtful.contains(&id))
    }

    /// A patch by its number.
    pub fn by_id<'c>(&'c self, id: PatchId) -> PatchRun<'c, 'a> {
        PatchRun {
            run: self,
            id,
            planned: self.plan.get(id),
            trace: &self.judged.trace.patches[id.index()],
            outcome: self.judged.outcome(self.plan, id),
        }
    }
}

//! The input of rules: the documents, the filters, and a run of the engine for each proxy.

use crate::budget;
use crate::engine::program::{BuiltPatch, Planned, Status};
use crate::engine::trace::{Condition, NoOp, PatchTrace};
use crate::engine::{Judged, MeshSettings, Outcome, PatchId, Plan, Program, Unapplied};
use crate::envoy::api::{envoy_of, known_envoy_of};
use crate::lint::facts::behind::Behind;
use crate::lint::facts::http_filters::HttpFilters;
use crate::lint::facts::made_up;
use crate::lint::facts::versions;
use crate::lint::finding::Cause;
use crate::lint::upgrade::snapshot::Upgrade;
use crate::lint::value::lua_script::Script;
use crate::lint::value::{self, Noticed, Object, PatchValue};
use crate::migrate::draft::Draft;
use crate::migrate::{self, FilterReport};
use crate::model::envoy_filter::{EnvoyFilter, Patch};
use crate::model::inventory::Inventory;
use crate::model::release::Release;
use crate::model::resource::ProxyConfig;
use crate::proto::schema::Schema;
use crate::proto::tree::Origin;
use crate::source::{Problem, Sources};
use crate::study::culprit::Scene;
use crate::trial::{Observed, Tried, Trouble};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, OnceLock};

pub(crate) use super::view::{Knowledge, PatchView};

/// What the dump of a real proxy shows about the filters.
pub struct Live<'a> {
    /// The proxy and its configuration as dumped. The run starts from what istiod generates without the filters, as far
    /// as that is known.
    pub dump: &'a ProxyConfig<'a>,
    /// What was undone, and whether applying it again reproduces the dump.
    pub unapplied: &'a Unapplied<'a>,
    /// Patches whose outcome in the run is a guess: the dump may not contain what they could match.
    pub doubtful: BTreeSet<PatchId>,
}

/// A run of the engine on one proxy.
pub struct ProxyRun<'a> {
    /// See [`ProxyRun::label`].
    pub(in crate::lint) label: OnceLock<String>,
    /// How much is known.
    pub knowledge: Knowledge,
    /// The configuration.
    pub config: &'a ProxyConfig<'a>,
    /// The plan: which filters attach, in which order.
    pub plan: &'a Plan<'a>,
    /// What the engine did.
    pub judged: Arc<Judged<'a>>,
    /// Results of runs without a patch.
    pub memo: Memo,
    /// For a real proxy: what its dump shows about the filters.
    pub live: Option<Live<'a>>,
}

impl<'a> ProxyRun<'a> {
    /// A run of its own, beside those of a context.
    pub(super) fn of(
        knowledge: Knowledge,
        config: &'a ProxyConfig<'a>,
        plan: &'a Plan<'a>,
        judged: Arc<Judged<'a>>,
    ) -> ProxyRun<'a> {
        ProxyRun { label: OnceLock::new(), knowledge, config, plan, judged, memo: Memo::default(), live: None }
    }

    /// The run, for the search for the patches to blame for others.
    pub(super) fn scene(&self) -> Scene<'_, 'a> {
        Scene { config: self.config, plan: self.plan, judged: &self.judged, searches: &self.memo.searches }
    }
}

/// What a real Envoy answers for every run.
pub struct Trials {
    /// Its name with the version.
    pub envoy: String,
    /// One per run, until it stopped answering.
    pub runs: Vec<Arc<Tried>>,
    /// Why it stopped answering.
    pub trouble: Option<Trouble>,
    /// How it ended and was started again, each time.
    pub ends: Vec<String>,
}

/// What requests through a real Envoy showed for every run.
#[derive(Debug, Default)]
pub struct Requests {
    /// One per run; `None` where none were sent.
    pub runs: Vec<Option<Arc<Observed>>>,
    /// For each run, the `try` arguments that select its proxy and filters.
    pub arguments: Vec<String>,
    /// Proxies that were skipped because there are too many.
    pub passed_over: BTreeSet<String>,
    /// Why no requests could be sent through other proxies, as sentences.
    pub failed: BTreeSet<String>,
}

/// What rules found out about one proxy: by further runs of the engine, or by reading all of its patched configuration.
#[derive(Debug, Default)]
pub struct Memo {
    /// Patches without which the proxy gets the same configuration.
    pub(super) inert: Mutex<BTreeMap<PatchId, bool>>,
    /// How many searches for the culprit of a patch have run.
    pub(super) searches: AtomicUsize,
    /// What wrote the leaves of the patched configuration.
    pub(super) origins: OnceLock<BTreeSet<Origin>>,
    /// The HTTP filters after all patches.
    pub(super) http_filters: OnceLock<HttpFilters>,
}

/// A patch that matched nothing on the proxies where it was tried.
#[derive(Debug)]
pub struct Missed {
    /// Index of its filter.
    pub(super) filter: usize,
    /// Its index in the filter.
    pub(super) patch: usize,
    /// The runs, with the number of the patch in each.
    pub(super) looked: Vec<(usize, PatchId)>,
    /// The condition of the match that came closest.
    pub(super) nearest: Option<Condition>,
    /// Whether it was tried on config dumps.
    pub(super) certain: bool,
    /// Without config dumps: the patch that takes whatever this one matches.
    pub(super) taken: Option<Taken>,
}

/// What takes everything that a patch matches.
#[derive(Debug)]
pub(crate) struct Taken {
    /// The patch that does.
    pub cause: Cause,
    /// The condition that then fails.
    pub nearest: Condition,
    /// Whether the match alone says so, without the names that istiod usually gives.
    pub certain: bool,
}

/// Everything a rule may look at.
pub struct Context<'a> {
    /// The texts.
    pub sources: &'a Sources,
    /// Problems noted by the loader, document by document.
    pub problems: &'a [Problem],
    /// Workloads, services and other resources.
    pub inventory: &'a Inventory,
    /// The filters, as `inventory.envoy_filters`.
    pub filters: &'a [EnvoyFilter],
    /// The filters as the control plane's release reads them.
    pub program: &'a Program<'a>,
    /// The release of the control plane.
    pub release: Release,
    /// The release of the proxies: the control plane's own, except during an upgrade.
    pub proxies: Release,
    /// Settings of the mesh.
    pub mesh: &'a MeshSettings,
    /// One run per proxy, including reference configurations.
    pub runs: Vec<ProxyRun<'a>>,
    /// Recorded configurations that istiod generates without filters.
    pub references: &'a [ProxyConfig<'a>],
    /// For each filter, the runs (by index) that it attaches in.
    pub attached: Vec<Vec<usize>>,
    /// For each filter and patch, whether sample proxies get its match without the parts that refer to the user's own names; empty
    /// if no filter has such parts.
    pub(in crate::lint) relaxed: Vec<Vec<bool>>,
    /// Each patch on the proxies that it attaches to, found on first use: most rules ask for it.
    pub(in crate::lint) met: OnceLock<Met>,
    /// The values of the patches, walked on first use.
    pub walked: OnceLock<Walked<'a>>,
    /// See [`Context::patches`].
    pub views: OnceLock<Vec<PatchView<'a>>>,
    /// For each run, the filters after a terminal one, found on first use.
    pub(in crate::lint) behind: OnceLock<Vec<Arc<[Behind]>>>,
    /// The patches that match nothing, computed on first use.
    pub missed: OnceLock<Vec<Missed>>,
    /// How the patches move to native objects, computed on first use.
    pub moved: OnceLock<(Vec<FilterReport>, Draft)>,
    /// The Lua scripts, each with the index of its value, read on first use.
    pub(crate) scripts: OnceLock<Vec<(usize, Script<'a>)>>,
    /// What a real Envoy answers for the runs; `None` without an Envoy.
    pub trials: Option<Trials>,
    /// What requests showed; `None` if none were requested.
    pub requests: Option<Requests>,
    /// The releases that `proxyVersion`s match, computed on first use.
    pub(in crate::lint) fitting: versions::Fitting,
    /// What an upgrade to this release changes; `None` outside an audit, where the upgrade rules are silent.
    pub upgrade: Option<Box<Upgrade>>,
}

/// The values of all patches, walked.
#[derive(Default)]
pub struct Walked<'a> {
    /// Each as read by the Envoy of the control plane's release, or the one that `proxyVersion` requires.
    supposed: Vec<PatchValue<'a>>,
    /// The values that real proxies read with other Envoys.
    elsewhere: BTreeSet<usize>,
    /// Those values as read by these Envoys.
    by_proxy: Vec<PatchValue<'a>>,
}

/// By filter and patch: the runs (by index) with its number and its outcome in each.
pub(in crate::lint) type Met = Vec<Vec<Vec<(usize, PatchId, Outcome)>>>;

/// A patch on one proxy.
#[derive(Clone, Copy)]
pub struct PatchRun<'c, 'a> {
    /// The proxy.
    pub run: &'c ProxyRun<'a>,
    /// Its number in the order of application.
    pub id: PatchId,
    /// The patch in the plan.
    pub planned: &'c Planned<'a>,
    /// The engine's trace.
    pub trace: &'c PatchTrace<'c>,
    /// The outcome.
    pub outcome: Outcome,
}

impl<'a> Context<'a> {
    /// How the patches move to native objects, and the objects that would be written for all of them.
    pub(crate) fn moves(&self) -> &(Vec<FilterReport>, Draft) {
        self.moved.get_or_init(|| {
            migrate::reports(self.inventory, self.filters, self.program, &self.mesh.root_namespace, self.release)
        })
    }

    /// Every patch of every filter.
    pub fn patches(&self) -> impl Iterator<Item = PatchView<'a>> + '_ {
        self.views().iter().copied().inspect(|_| budget::charge(1))
    }

    /// The views of [`Context::patches`], for which nearly every rule asks.
    fn views(&self) -> &[PatchView<'a>] {
        self.views.get_or_init(|| {
            let of_filter = |(filter_index, filter): (usize, &'a EnvoyFilter)| {
                let built = self.program.patches(filter_index);
                let views = filter.patches.iter().enumerate();
                views.map(move |(index, patch)| self.view_of(filter_index, filter, patch, built.get(index)))
            };
            self.filters.iter().enumerate().flat_map(of_filter).collect()
        })
    }

    /// A patch with what is known without a proxy.
    pub(in crate::lint) fn view_of(
        &self,
        filter_index: usize,
        filter: &'a EnvoyFilter,
        patch: &'a Patch,
        built: Option<&'a BuiltPatch<'a>>,
    ) -> PatchView<'a> {
        let relaxed = self.relaxed.get(filter_index).and_then(|of_filter| of_filter.get(patch.index));
        let as_written = patch.proxy.is_none() && built.is_some() && !relaxed.copied().unwrap_or(false);
        PatchView { filter_index, filter, patch, built, as_written }
    }

    fn walked(&self) -> &Walked<'a> {
        self.walked.get_or_init(|| {
            let istiod = self.program.schema;
            let mut walked = Walked::default();
            for view in self.patches() {
                let supposed = self.envoy_minor_of(&view);
                let Some(value) = value::walk(view, istiod, supposed) else { continue };
                let reached = self.envoys_reached(&view);
                // If all proxies run the assumed Envoy, one pass is enough.
                let known: Vec<u16> = reached.keys().copied().collect();
                if !known.is_empty() && known.as_slice() != supposed.as_slice() {
                    walked.elsewhere.insert(walked.supposed.len());
                    for (minor, proxies) in reached {
                        let value = value::walk(view, istiod, Some(minor));
                        let reach = value::Reach { all: known.clone(), proxies };
                        walked.by_proxy.extend(value.map(|value| PatchValue { reach: Some(reach), ..value }));
                    }
                }
                walked.supposed.push(value);
            }
            walked
        })
    }

    /// The value of every patch that has one, walked with its types.
    pub(crate) fn values(&self) -> &[PatchValue<'a>] {
        &self.walked().supposed
    }

    /// The same for one patch.
    pub(crate) fn value_of(&self, view: &PatchView<'_>) -> Option<&PatchValue<'a>> {
        let (values, id) = (self.values(), |view: &PatchView<'_>| (view.filter_index, view.patch.index));
        let at = values.binary_search_by_key(&id(view), |value| id(&value.view)).ok()?;
        values.get(at)
    }

    /// The values as read by the Envoys of the proxies that receive them, for rules about the proxy's side. A patch
    /// that reaches proxies with several Envoys appears once for each; findings for some of them say so. Without
    /// proxies, [`Context::envoy_minor_of`] applies. A patch whose `proxyVersion` requires proxies older than all known
    /// releases is left out.
    pub(crate) fn proxy_values(&self) -> impl Iterator<Item = &PatchValue<'a>> {
        let walked = self.walked();
        let supposed = walked.supposed.iter().enumerate().filter(|(at, _)| !walked.elsewhere.contains(at));
        supposed.map(|(_, value)| value).filter(|value| value.envoy_minor.is_some()).chain(&walked.by_proxy)
    }

    /// What the readers of JSON noted, as each reads it: istiod the value, and the Envoys of the proxies that the patch
    /// reaches the content of its TypedStructs.
    pub(crate) fn noticed(&self) -> impl Iterator<Item = (&PatchValue<'a>, &Noticed<'a>)> {
        let by_istiod = self.values().iter().flat_map(|value| value.notices.iter().map(move |one| (value, one)));
        let by_proxies = self.proxy_values().flat_map(|value| value.notices.iter().map(move |one| (value, one)));
        by_istiod.filter(|(_, one)| !one.in_typed_struct).chain(by_proxies.filter(|(_, one)| one.in_typed_struct))
    }

    /// The messages in values, as their readers know them; see [`Context::noticed`].
    pub(crate) fn objects(&self) -> impl Iterator<Item = (&PatchValue<'a>, &Object<'a>)> {
        let by_istiod = self.values().iter().flat_map(|value| value.objects.iter().map(move |one| (value, one)));
        let by_proxies = self.proxy_values().flat_map(|value| value.objects.iter().map(move |one| (value, one)));
        by_istiod.filter(|(_, one)| !one.in_typed_struct).chain(by_proxies.filter(|(_, one)| one.in_typed_struct))
    }

    /// The Envoys of the proxies that a patch reaches and that have a config dump, with the names of these proxies: those on
    /// which it changes something, if there are any.
    fn envoys_reached(&self, view: &PatchView<'_>) -> BTreeMap<u16, Vec<String>> {
        let changes = |run: &ProxyRun<'a>| {
            let run = run.patch(view.filter_index, view.patch.index);
            run.is_some_and(|run| run.trace.effects.iter().any(|(_, effect)| effect.changes()))
        };
        let attached = || self.attached.get(view.filter_index).into_iter().flatten();
        let dumps = || attached().filter_map(|&run| self.runs.get(run)).filter(|run| run.knowledge == Knowledge::Dump);
        let somewhere = dumps().any(changes);
        let mut reached: BTreeMap<u16, Vec<String>> = BTreeMap::new();
        for run in dumps().filter(|run| !somewhere || changes(run)) {
            let Some(id) = run.plan.find(view.filter_index, view.patch.index) else { continue };
            let planned = run.plan.get(id);
            let foreign = planned.status == Status::NoOp(NoOp::ContextOfOtherProxies);
            if planned.proxy_miss.is_none() && !foreign {
                let release = run.config.proxy.istio_version.parse::<Release>();
                let minor = release.map_or(self.envoy_minor(), |release| envoy_of(release.minor));
                reached.entry(minor).or_default().push(run.label().to_owned());
            }
        }
        // An unknown Envoy judges nothing.
        reached.retain(|minor, _| Schema::envoy(*minor).is_some());
        reached
    }

    /// Minor version of the Envoy in the proxies that a patch is for: the control plane's own, or the one that
    /// `proxyVersion` requires; `None` if that is older than all known releases.
    pub(crate) fn envoy_minor_of(&self, view: &PatchView<'_>) -> Option<u16> {
        let version = view.patch.proxy.as_ref().map_or("", |proxy| proxy.version.as_str());
        if version.is_empty() {
            return Some(self.envoy_minor());
        }
        self.newest_fitting(version, self.release.minor).map(known_envoy_of)
    }

    /// The newest minor from the oldest supported (or `newest`, if that is older) to `newest` with a patch release that matches a
    /// `proxyVersion`. An empty or broken expression matches all. One with letters may mean a vendor's releases and gives `newest`.
    pub(crate) fn newest_fitting(&self, expression: &str, newest: u16) -> Option<u16> {
        self.fitting.newest(expression, newest)
    }

    /// Minor version of the proxies' Envoy, or of the nearest one whose types are known.
    pub(crate) fn envoy_minor(&self) -> u16 {
        known_envoy_of(self.proxies.minor)
    }

    /// The releases of the proxies: those in config dumps, otherwise the one that is assumed.
    pub(crate) fn proxy_releases(&self) -> BTreeSet<Release> {
        let dumps = self.runs.iter().filter(|run| run.knowledge == Knowledge::Dump);
        let mut releases: BTreeSet<Release> =
            dumps.filter_map(|run| run.config.proxy.istio_version.parse().ok()).collect();
        if releases.is_empty() {
            releases.insert(self.proxies);
        }
        releases
    }

    /// The types of that Envoy.
    pub(crate) fn envoy(&self) -> Option<Schema> {
        Schema::envoy(self.envoy_minor())
    }

    /// A patch on every proxy that its filter attaches to.
    pub fn on_proxies<'c>(&'c self, filter: usize, patch: usize) -> impl Iterator<Item = PatchRun<'c, 'a>> + 'c {
        let met = self.met.get_or_init(|| self.meet()).get(filter).and_then(|of_filter| of_filter.get(patch));
        met.into_iter().flatten().filter_map(|&(run, id, outcome)| {
            budget::charge(1);
            Some(self.runs.get(run)?.with_outcome(id, outcome))
        })
    }

    fn meet(&self) -> Met {
        let mut met: Met = self.filters.iter().map(|filter| vec![Vec::new(); filter.patches.len()]).collect();
        for (number, run) in self.runs.iter().enumerate() {
            budget::charge_for(run.plan.patches.len());
            for id in run.plan.ids().filter(|&id| !run.doubtful(id)) {
                let planned = run.plan.get(id);
                let of_patch = met.get_mut(planned.filter).and_then(|one| one.get_mut(planned.built.patch.index));
                if let Some(of_patch) = of_patch {
                    of_patch.push((number, id, run.judged.outcome(run.plan, id)));
                }
            }
        }
        met
    }

    /// Whether two filters are the same object of the cluster, given twice: only one of them can exist.
    pub(crate) fn same_object(&self, one: usize, other: usize) -> bool {
        let name = |index: usize| self.filters.get(index).map(|filter| (&filter.namespace, &filter.name));
        one != other && name(one) == name(other)
    }

    /// Whether real config dumps were given.
    pub(crate) fn has_dumps(&self) -> bool {
        self.runs.iter().any(|run| run.knowledge == Knowledge::Dump)
    }

    /// Whether a filter attaches to a proxy with a config dump.
    pub(crate) fn attaches_to_dump(&self, filter: usize) -> bool {
        let attached = self.attached.get(filter).into_iter().flatten();
        attached.filter_map(|&run| self.runs.get(run)).any(|run| run.knowledge == Knowledge::Dump)
    }
}

impl<'a> ProxyRun<'a> {
    /// The display name of the proxy: `namespace/name`, or `a sidecar with app=cart in shop` for a sample proxy.
    pub(crate) fn label(&self) -> &str {
        self.label.get_or_init(|| {
            let proxy = &self.config.proxy;
            if self.is_made_up() { made_up::label(proxy) } else { proxy.full_name() }
        })
    }

    /// Whether it is a sample proxy, which stands for those that a filter may reach.
    pub(crate) fn is_made_up(&self) -> bool {
        self.knowledge == Knowledge::Reference && self.config.proxy.name.is_empty()
    }

    /// A patch on this proxy; `None` if its filter does not attach or its effect is unknown.
    pub(crate) fn patch<'c>(&'c self, filter: usize, patch: usize) -> Option<PatchRun<'c, 'a>> {
        budget::charge(1);
        let id = self.plan.find(filter, patch)?;
        (!self.doubtful(id)).then(|| self.by_id(id))
    }

    /// Whether the outcome of a patch is a guess, so that no finding may depend on it.
    pub(crate) fn doubtful(&self, id: PatchId) -> bool {
        self.live.as_ref().is_some_and(|live| live.doubtful.contains(&id))
    }

    /// A patch by its number.
    pub(crate) fn by_id<'c>(&'c self, id: PatchId) -> PatchRun<'c, 'a> {
        self.with_outcome(id, self.judged.outcome(self.plan, id))
    }

    fn with_outcome<'c>(&'c self, id: PatchId, outcome: Outcome) -> PatchRun<'c, 'a> {
        PatchRun { run: self, id, planned: self.plan.get(id), trace: &self.judged.trace.patches[id.index()], outcome }
    }
}

//! What rules look at: the documents, the filters, and a run of the engine for each proxy.

use crate::budget;
use crate::engine::program::Planned;
use crate::engine::trace::{Condition, PatchTrace};
use crate::engine::{Judged, MeshSettings, Outcome, PatchId, Plan, Program, Unapplied};
use crate::envoy::api::envoy_of;
use crate::lint::facts::made_up;
use crate::lint::facts::versions;
use crate::lint::upgrade::snapshot::Upgrade;
use crate::lint::value::lua_script::Script;
use crate::lint::value::{self, PatchValue};
use crate::migrate::draft::Draft;
use crate::migrate::{self, FilterReport};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::inventory::Inventory;
use crate::model::release::Release;
use crate::model::resource::ProxyConfig;
use crate::proto::schema::Schema;
use crate::proto::tree::Origin;
use crate::source::{Problem, Sources};
use crate::trial::{Observed, Tried, Trouble};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, OnceLock};

pub use super::view::{Knowledge, PatchView};

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
    pub(in crate::lint) label: OnceLock<String>,
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

/// What a real Envoy said of every run.
pub struct Trials {
    /// Its name with the version.
    pub envoy: String,
    /// One per run, until it stopped answering.
    pub runs: Vec<Arc<Tried>>,
    /// Why it stopped answering.
    pub trouble: Option<Trouble>,
}

/// What requests through a real Envoy showed of every run.
#[derive(Debug, Default)]
pub struct Requests {
    /// One per run; `None` where none were sent.
    pub runs: Vec<Option<Arc<Observed>>>,
    /// For each run the arguments of `try` that stand for its proxy and filters.
    pub arguments: Vec<String>,
    /// Proxies that no request was sent through because there are too many.
    pub passed_over: BTreeSet<String>,
    /// Why none could be sent through others, as sentences.
    pub failed: BTreeSet<String>,
}

/// What further runs of the engine showed about the patches of one proxy.
#[derive(Debug, Default)]
pub struct Memo {
    /// Patches without which the proxy gets the same configuration.
    pub(super) inert: Mutex<BTreeMap<PatchId, bool>>,
    /// How often it was asked which patch takes from another what it asks for.
    pub(super) searches: AtomicUsize,
    /// What wrote the leaves of the patched configuration.
    pub(super) origins: OnceLock<BTreeSet<Origin>>,
}

/// A patch that matched nothing where it was looked for.
#[derive(Debug)]
pub struct Missed {
    /// Index of its filter.
    pub(super) filter: usize,
    /// Its index.
    pub(super) patch: usize,
    /// The runs and its number there.
    pub(super) looked: Vec<(usize, PatchId)>,
    /// The condition that was reached furthest.
    pub(super) nearest: Option<Condition>,
    /// Whether it was looked for in config dumps.
    pub(super) certain: bool,
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
    /// What istiod generates by itself, recorded.
    pub references: &'a [ProxyConfig<'a>],
    /// For each filter the runs (by index) that it attaches in.
    pub attached: Vec<Vec<usize>>,
    /// The values of the patches, walked when a rule first asks.
    pub walked: OnceCell<Walked<'a>>,
    /// The patches that match nothing, looked for when a rule first asks.
    pub missed: OnceCell<Vec<Missed>>,
    /// How the patches move to native objects, looked for when a rule first asks.
    pub moved: OnceCell<(Vec<FilterReport>, Draft)>,
    /// The Lua scripts, each with the index of its value, read when a rule first asks.
    pub(crate) scripts: OnceCell<Vec<(usize, Script<'a>)>>,
    /// What a real Envoy says of the runs; `None` when none was given.
    pub trials: Option<Trials>,
    /// What requests through one showed; `None` when none were asked for.
    pub requests: Option<Requests>,
    /// What an upgrade to this release changes; `None` outside of an audit, where the rules of upgrades are silent.
    pub upgrade: Option<Box<Upgrade>>,
}

/// The values of all patches, walked.
#[derive(Default)]
pub struct Walked<'a> {
    /// Each by the Envoy that comes with the control plane's release, or that `proxyVersion` asks for.
    supposed: Vec<PatchValue<'a>>,
    /// Which of them real proxies have other Envoys for.
    elsewhere: BTreeSet<usize>,
    /// Those by these Envoys.
    by_proxy: Vec<PatchValue<'a>>,
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
    /// How the patches move to native objects, and what would be written for all of them.
    pub fn moves(&self) -> &(Vec<FilterReport>, Draft) {
        self.moved.get_or_init(|| {
            migrate::reports(self.inventory, self.filters, self.program, &self.mesh.root_namespace, self.release)
        })
    }

    /// Every patch of every filter.
    pub fn patches(&self) -> impl Iterator<Item = PatchView<'a>> + '_ {
        self.filters.iter().enumerate().flat_map(move |(filter_index, filter)| {
            let built = self.program.patches(filter_index);
            filter.patches.iter().enumerate().map(move |(index, patch)| {
                budget::charge(1);
                PatchView { filter_index, filter, patch, built: built.get(index) }
            })
        })
    }

    fn walked(&self) -> &Walked<'a> {
        self.walked.get_or_init(|| {
            let istiod = self.program.schema;
            let mut walked = Walked::default();
            for view in self.patches() {
                let supposed = self.envoy_minor_of(&view);
                let Some(value) = value::walk(view, istiod, supposed) else { continue };
                let reached = self.envoys_reached(&view);
                // Where all proxies run the Envoy that is supposed without them, one look is enough.
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
    pub fn values(&self) -> &[PatchValue<'a>] {
        &self.walked().supposed
    }

    /// The values as the Envoys of the proxies that get them read them: what rules on the proxy's side look at. A patch that
    /// reaches proxies with several Envoys is given once for each; what is found for some of them says so. Without proxies
    /// it is that of [`Context::envoy_minor_of`]; a patch whose `proxyVersion` asks for proxies older than all known ones
    /// is left out.
    pub fn proxy_values(&self) -> impl Iterator<Item = &PatchValue<'a>> {
        let walked = self.walked();
        let supposed = walked.supposed.iter().enumerate().filter(|(at, _)| !walked.elsewhere.contains(at));
        supposed.map(|(_, value)| value).filter(|value| value.envoy_minor.is_some()).chain(&walked.by_proxy)
    }

    /// The Envoys of the proxies that a patch reaches and that a config dump was given of, with the names of these proxies.
    fn envoys_reached(&self, view: &PatchView<'_>) -> BTreeMap<u16, Vec<String>> {
        let mut reached: BTreeMap<u16, Vec<String>> = BTreeMap::new();
        for &run in self.attached.get(view.filter_index).into_iter().flatten() {
            let Some(run) = self.runs.get(run).filter(|run| run.knowledge == Knowledge::Dump) else { continue };
            let Some(id) = run.plan.find(view.filter_index, view.patch.index) else { continue };
            if run.plan.get(id).proxy_miss.is_none() {
                let release = run.config.proxy.istio_version.parse::<Release>();
                let minor = release.map_or(self.envoy_minor(), |release| envoy_of(release.minor));
                reached.entry(minor).or_default().push(run.label().to_owned());
            }
        }
        // An Envoy that is not known judges nothing.
        reached.retain(|minor, _| Schema::envoy(*minor).is_some());
        reached
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

impl<'a> ProxyRun<'a> {
    /// What to call the proxy: `namespace/name`, or `a sidecar with app=cart in shop` for a made-up one.
    pub fn label(&self) -> &str {
        self.label.get_or_init(|| {
            let proxy = &self.config.proxy;
            let made_up = self.knowledge == Knowledge::Reference && proxy.name.is_empty();
            if made_up { made_up::label(proxy) } else { proxy.full_name() }
        })
    }

    /// A patch on this proxy; `None` when its filter does not attach, or when no one can tell what it does.
    pub fn patch<'c>(&'c self, filter: usize, patch: usize) -> Option<PatchRun<'c, 'a>> {
        budget::charge(1);
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

//! Runs the engine for every proxy, then every rule on the results.

pub(crate) mod fold;
mod parts;
pub(crate) mod pipeline;
pub(crate) mod requests;
pub(crate) mod tried;

use crate::budget;
use crate::engine::program::{Planned, Status};
use crate::engine::trace::NoOp;
use crate::engine::{MeshSettings, Plan, Program, REFERENCED_SERVICES, judge, matching};
use crate::lint::check::Rule;
use crate::lint::facts::context::{Context, Knowledge, Live, Memo, ProxyRun};
use crate::lint::facts::made_up::{ANY_GATEWAY, ANY_NAMESPACE};
use crate::lint::facts::reach;
use crate::lint::facts::versions::Fitting;
use crate::lint::finding::{Finding, Findings};
use crate::lint::output::layout;
use crate::lint::shown;
use crate::model::envoy_filter::{ApplyTo, ClusterMatch, EnvoyFilter, ObjectMatch, Patch, ProxyMatch};
use crate::model::inventory::Inventory;
use crate::model::proxy::{GATEWAY_NAME_LABEL, ProxyKind};
use crate::model::release::Release;
use crate::model::resource::ProxyConfig;
use crate::source::{Problem, Sources};
use crate::study::{self, OPTIONS, Undone};
use requests::RealEnvoy;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

/// The input of a lint run.
pub struct Input<'a> {
    /// The texts.
    pub sources: &'a Sources,
    /// The objects in them.
    pub inventory: &'a Inventory,
    /// Problems noted by the loader.
    pub problems: &'a [Problem],
    /// Config dumps of real proxies.
    pub dumps: &'a [ProxyConfig<'a>],
    /// Reference configurations, for filters that attach to no proxy of the dumps.
    pub references: &'a [ProxyConfig<'a>],
    /// The release of the control plane.
    pub release: Release,
    /// Settings of the mesh.
    pub mesh: &'a MeshSettings,
}

/// Runs rules. Findings are sorted by place; the caller applies suppressions and configured severities.
pub fn lint(input: &Input<'_>, rules: &[&'static Rule]) -> Vec<Finding> {
    inspect(input, rules, |_| ()).0
}

/// Runs rules and gives the caller access to their input.
pub fn inspect<T>(
    input: &Input<'_>,
    rules: &[&'static Rule],
    look: impl FnOnce(&Context<'_>) -> T,
) -> (Vec<Finding>, T) {
    inspect_with(input, RealEnvoy::default(), rules, look)
}

/// The same with an Envoy that is asked about every run.
pub fn inspect_with<'r, T>(
    input: &Input<'_>,
    real: impl Into<RealEnvoy<'r>>,
    rules: &[&'static Rule],
    look: impl FnOnce(&Context<'_>) -> T,
) -> (Vec<Finding>, T) {
    with_context(input, &Setting { real: real.into(), ..Setting::of(input) }, |context| {
        let mut findings = Findings::default();
        let (last, first): (Vec<_>, Vec<_>) = rules.iter().copied().partition(|rule| rule.is_rest());
        let cx: &Context<'_> = context;
        let found = budget::deal(&first, threads(cx), |rule| {
            budget::charge(1);
            let mut found = Findings::default();
            rule.run(cx, &mut found);
            found
        });
        found.into_iter().for_each(|found| findings.append(found));
        context.settle(&mut findings);
        for rule in last {
            rule.run(context, &mut findings);
        }
        fold::fold(&mut findings);
        let mut findings = findings.sorted();
        layout::fit(&mut findings, input.sources);
        shown::make_safe(&mut findings, context.filters);
        (findings, look(context))
    })
}

/// The number of threads for the rules: one review of a filter for the whole mesh keeps its caller waiting.
///
/// Searches for the patch that is to blame are limited for each proxy, and so is what is tried on a dump. Where such a limit could
/// be reached, one thread runs the rules, so that their order decides what is searched.
fn threads(cx: &Context<'_>) -> usize {
    /// Fewest proxies for which a second thread is worth its start.
    const RUNS_A_THREAD: usize = 16;
    /// Patches without effect on a proxy. A few rules search for the cause of each; [`crate::lint::facts::culprit`] allows 64.
    const SEARCHED: usize = 16;
    let bounded = |run: &ProxyRun<'_>| {
        let without_effect = run.plan.ids().filter(|&id| {
            let planned = run.plan.get(id);
            let runs = planned.status == Status::Ready && planned.proxy_miss.is_none();
            runs && !run.judged.trace.patches[id.index()].effects.iter().any(|(_, effect)| effect.changes())
        });
        run.knowledge == Knowledge::Reference && without_effect.take(SEARCHED + 1).count() <= SEARCHED
    };
    let worth = cx.runs.len() / RUNS_A_THREAD;
    if worth < 2 || !cx.runs.iter().all(bounded) { 1 } else { budget::threads(worth) }
}

/// Assumptions of the linter that an upgrade sets differently.
pub(super) struct Setting<'s> {
    /// The release of the proxies, whose Envoy decides what is accepted.
    pub(super) proxies: Release,
    /// Whether sample proxies have that release, so that `proxyVersion` is compared; otherwise it always matches.
    pub(super) versions: bool,
    /// Workloads without a dump, each with the reference configuration of its kind and its index.
    pub(super) stand_ins: &'s [(usize, ProxyConfig<'s>)],
    /// Whether the dumps were generated without the filters, so that nothing must be undone in them.
    pub(super) generated: bool,
    /// Whether filters that reach none of the proxies above get sample workloads.
    pub(super) make_up: bool,
    /// An Envoy to check the results with.
    pub(super) real: RealEnvoy<'s>,
    /// The revision of istiod; empty if unknown: then filters of every revision count.
    pub(super) revision: &'s str,
}

impl<'s> Setting<'s> {
    /// The linter's own: proxies of the control plane's release.
    fn of(input: &Input<'_>) -> Setting<'s> {
        let proxies = input.mesh.proxies.unwrap_or(input.release);
        Setting {
            proxies,
            versions: false,
            stand_ins: &[],
            generated: false,
            make_up: true,
            real: RealEnvoy::default(),
            revision: "",
        }
    }
}

/// Runs the engine for every proxy and passes on the results.
pub(super) fn with_context<T>(input: &Input<'_>, setting: &Setting<'_>, body: impl FnOnce(&mut Context<'_>) -> T) -> T {
    let filters = &input.inventory.envoy_filters;
    let mut program = Program::new(filters, input.release);
    program.pass_over_other_revisions(setting.revision);
    let dump_plans: Vec<Plan<'_>> = input.dumps.iter().map(|dump| program.plan(&dump.proxy, input.mesh)).collect();
    let mut seen = vec![false; filters.len()];
    dump_plans.iter().flat_map(|plan| &plan.order).for_each(|&index| seen[index] = true);
    let relaxed = relax(filters, setting.versions);
    let relaxed_program = relaxed.as_ref().map(|relaxed| {
        let mut program = Program::new(relaxed, input.release);
        program.pass_over_other_revisions(setting.revision);
        program
    });
    let by_reference = relaxed_program.as_ref().unwrap_or(&program);
    let meeting = Meeting::new(filters, input.mesh);
    let mut made_up: Vec<(usize, ProxyConfig<'_>)> = setting.stand_ins.to_vec();
    if setting.make_up {
        // A stand-in meets a filter whatever the release; the remaining filters meet no known workload.
        let met = setting.stand_ins.iter().flat_map(|(_, config)| meeting.candidates(config));
        met.for_each(|index| seen[index] = true);
        made_up.extend(made_up_proxies(input, &seen, setting.versions));
    }
    if setting.versions {
        for (_, config) in &mut made_up {
            config.proxy.istio_version = setting.proxies.to_string();
        }
    }
    let plans: Vec<(usize, &ProxyConfig<'_>, Plan<'_>)> = made_up
        .iter()
        .map(|(reference, config)| (*reference, config, meeting.candidates(config)))
        .filter(|(_, config, candidates)| {
            setting.versions || candidates.iter().any(|&filter| by_reference.concerns(filter, &config.proxy))
        })
        .map(|(reference, config, candidates)| {
            (reference, config, by_reference.plan_among(&config.proxy, input.mesh, &candidates))
        })
        .filter(|(_, _, plan)| setting.versions || plan.patches.iter().any(concerns))
        .collect();
    let dumped: Vec<(&ProxyConfig<'_>, &Plan<'_>)> = input.dumps.iter().zip(&dump_plans).collect();
    let generated = setting.generated;
    let undone = budget::spread(&dumped, |(dump, plan)| {
        if generated { Undone::generated(dump) } else { Undone::of(plan, dump, &OPTIONS).compact() }
    });
    let bases: Vec<Cow<'_, ProxyConfig<'_>>> = undone.iter().map(Undone::base).collect();
    let written = equal_effects(filters, input.sources);
    let mut work: Vec<Work<'_>> = Vec::new();
    for (((_, plan), undone), base) in dumped.iter().zip(&undone).zip(&bases) {
        work.push(Work { like: None, config: base, plan, undone: Some(undone) });
    }
    work.extend(plans.iter().map(|(reference, config, plan)| {
        let patches = plan.order.iter().map(|&filter| written[filter]).collect();
        Work { like: Some((*reference, patches)), config, plan, undone: None }
    }));
    let runs = judge_all(&work);
    let trials = setting.real.trial.map(|trial| tried::all(trial, &runs));
    let requests = setting.real.observer.map(|observer| requests::all(observer, &runs));
    let mut attached = vec![Vec::new(); filters.len()];
    for (number, run) in runs.iter().enumerate() {
        run.plan.order.iter().for_each(|&filter| attached[filter].push(number));
    }
    let mut context = Context {
        sources: input.sources,
        problems: input.problems,
        inventory: input.inventory,
        filters,
        program: &program,
        release: input.release,
        proxies: setting.proxies,
        mesh: input.mesh,
        runs,
        references: input.references,
        attached,
        relaxed: relaxed.as_deref().map(|relaxed| changed_objects(filters, relaxed)).unwrap_or_default(),
        met: OnceLock::new(),
        walked: OnceLock::new(),
        views: OnceLock::new(),
        behind: OnceLock::new(),
        missed: OnceLock::new(),
        moved: OnceLock::new(),
        scripts: OnceLock::new(),
        trials,
        requests,
        fitting: Fitting::default(),
        upgrade: None,
    };
    let answer = body(&mut context);
    budget::discard(context.runs);
    answer
}

/// Whether a patch may do something on the proxy of its plan; an extension configuration may, whatever its context.
fn concerns(planned: &Planned<'_>) -> bool {
    planned.status != Status::NoOp(NoOp::ContextOfOtherProxies)
        || planned.built.patch.apply_to == ApplyTo::ExtensionConfig
}

/// For each filter the first filter (by index) with the same effect on any proxy: the same patches as written, and the same
/// services that it refers to.
fn equal_effects(filters: &[EnvoyFilter], sources: &Sources) -> Vec<usize> {
    let mut first: HashMap<(&str, Option<&str>), usize> = HashMap::new();
    let mut numbers = Vec::with_capacity(filters.len());
    for (index, filter) in filters.iter().enumerate() {
        let node = filter.document.under(&["spec", "configPatches"]);
        let patches = node.map_or("", |node| sources.snippet(node.span));
        let services = filter.annotations.get(REFERENCED_SERVICES).map(String::as_str);
        numbers.push(*first.entry((patches, services)).or_insert(index));
    }
    numbers
}

/// A run to be made.
struct Work<'a> {
    /// For a sample proxy, its reference configuration and what reaches it, by [`equal_effects`]: equal ones share a run, such as the
    /// many copies of a filter in different namespaces. `None` for a proxy of a dump.
    like: Option<(usize, Vec<usize>)>,
    config: &'a ProxyConfig<'a>,
    plan: &'a Plan<'a>,
    /// For a proxy of a dump: the dump, and what was undone in it.
    undone: Option<&'a Undone<'a>>,
}

/// Runs the engine for every proxy, on all cores if there are many; keeps the order.
fn judge_all<'a>(work: &[Work<'a>]) -> Vec<ProxyRun<'a>> {
    let mut first = HashMap::new();
    let mut different = Vec::new();
    // For each run, the number of the run that is computed for it.
    let numbers: Vec<usize> = work
        .iter()
        .enumerate()
        .map(|(index, one)| {
            let number =
                one.like.as_ref().map_or(different.len(), |like| *first.entry(like).or_insert(different.len()));
            if number == different.len() {
                different.push(index);
            }
            number
        })
        .collect();
    let judged = budget::spread(&different, |&index| {
        let one: &Work<'a> = &work[index];
        match one.undone {
            Some(undone) => undone.judged(one.plan, one.config, &OPTIONS),
            None => Arc::new(judge(one.plan, one.config, &OPTIONS)),
        }
    });
    let run = |(one, &number): (&Work<'a>, &usize)| {
        let (config, plan) = (one.config, one.plan);
        let knowledge = if one.like.is_none() { Knowledge::Dump } else { Knowledge::Reference };
        let judged = Arc::clone(&judged[number]);
        let live = one.undone.map(|undone| Live {
            dump: undone.dump,
            unapplied: &undone.unapplied,
            doubtful: study::doubtful(plan, &undone.unapplied, &judged),
        });
        ProxyRun { label: OnceLock::new(), knowledge, config, plan, judged, memo: Memo::default(), live }
    };
    work.iter().zip(&numbers).map(run).collect()
}

/// An index of the filters that can meet a proxy: by namespace and one label of the selector.
struct Meeting<'a> {
    root_namespace: &'a str,
    of: HashMap<&'a str, OfNamespace<'a>>,
}

/// The filters of a namespace.
#[derive(Default)]
struct OfNamespace<'a> {
    /// Those that select no label.
    any: Vec<usize>,
    /// By the first label they select.
    label: HashMap<(&'a str, &'a str), Vec<usize>>,
}

impl<'a> Meeting<'a> {
    fn new(filters: &'a [EnvoyFilter], mesh: &'a MeshSettings) -> Meeting<'a> {
        let mut meeting = Meeting { root_namespace: &mesh.root_namespace, of: HashMap::new() };
        for (index, filter) in filters.iter().enumerate() {
            let namespace = meeting.of.entry(filter.namespace.as_str()).or_default();
            // Releases that read targetRefs ignore the labels of a filter that has them.
            let first = filter.selector.iter().flatten().next().filter(|_| filter.target_refs.is_empty());
            match first {
                None => namespace.any.push(index),
                Some((key, value)) => namespace.label.entry((key, value)).or_default().push(index),
            }
        }
        meeting
    }

    fn candidates(&self, config: &ProxyConfig<'_>) -> Vec<usize> {
        let proxy = &config.proxy;
        let mut found = Vec::new();
        let mut namespaces = vec![proxy.namespace.as_str()];
        if self.root_namespace != proxy.namespace {
            namespaces.push(self.root_namespace);
        }
        for namespace in namespaces.into_iter().filter_map(|name| self.of.get(name)) {
            found.extend(&namespace.any);
            for (key, value) in &proxy.labels {
                found.extend(namespace.label.get(&(key.as_str(), value.as_str())).into_iter().flatten());
            }
        }
        found.sort_unstable();
        found
    }
}

/// A workload for each different set of labels that an unseen filter selects, for each kind of reference configuration
/// (its index), in the filter's namespace; `all_kinds` includes kinds that `targetRefs` do not name.
fn made_up_proxies<'a>(input: &Input<'a>, seen: &[bool], all_kinds: bool) -> Vec<(usize, ProxyConfig<'a>)> {
    let Input { references, mesh, .. } = *input;
    let filters = &input.inventory.envoy_filters;
    let none = BTreeMap::new();
    let mut wanted = BTreeSet::new();
    for (filter, _) in filters.iter().zip(seen).filter(|(_, seen)| !**seen) {
        // A filter in the root namespace meets the workloads of all others, so one sample namespace stands for them.
        let namespace = if filter.namespace == mesh.root_namespace { ANY_NAMESPACE } else { filter.namespace.as_str() };
        let labels = filter.selector.as_ref().unwrap_or(&none);
        let gateways: Vec<&str> = filter
            .target_refs
            .iter()
            .filter(|target| target.kind == "Gateway" && !target.name.is_empty())
            // The API server accepts no more (`maxItems` of the CRD).
            .take(16)
            .map(|target| target.name.as_str())
            .collect();
        // Istio up to 1.26 does not read targetRefs, so comparing two releases needs the proxies that they do not name
        // too.
        if gateways.is_empty() || all_kinds {
            wanted.insert((namespace, labels, None));
        }
        wanted.extend(gateways.into_iter().map(|gateway| (namespace, labels, Some(gateway))));
    }
    let workloads: Vec<String> = references.iter().map(|one| format!("any-{}", one.proxy.kind.as_str())).collect();
    let mut proxies = Vec::with_capacity(wanted.len() * references.len());
    for (namespace, labels, gateway) in wanted {
        // A selector may also name a gateway.
        let gateway = gateway.or_else(|| labels.get(GATEWAY_NAME_LABEL).map(String::as_str));
        let kind = gateway.and_then(|name| reach::gateway_kind(input.inventory, namespace, name)).map(|(kind, _)| kind);
        for (index, (reference, workload)) in references.iter().zip(&workloads).enumerate() {
            if kind.is_some_and(|kind| kind != reference.proxy.kind) {
                continue;
            }
            let of_gateway_api = reference.proxy.gateway_name().is_some();
            if gateway.is_some() && !of_gateway_api {
                continue;
            }
            // Filters for Gateway API gateways see the same configuration as others; one kind of gateway is enough.
            if gateway.is_none() && of_gateway_api && reference.proxy.kind == ProxyKind::Gateway {
                continue;
            }
            // Labels of a workload are not those of a waypoint: an upgrade loses nothing there.
            let of_workload =
                !labels.is_empty() && gateway.is_none() && !labels.keys().any(|key| key.starts_with("gateway."));
            if all_kinds && of_workload && reference.proxy.kind == ProxyKind::Waypoint {
                continue;
            }
            let mut labels = labels.clone();
            if of_gateway_api {
                labels.insert(GATEWAY_NAME_LABEL.to_owned(), gateway.unwrap_or(ANY_GATEWAY).to_owned());
            }
            proxies.push((index, reference.of(namespace.to_owned(), String::new(), workload.clone(), labels)));
        }
    }
    proxies
}

/// The filters without the parts of their matches that refer to the user's own names and ports: the rest can be judged
/// on a configuration that istiod generated for another workload. `None`: no filter has such parts.
fn relax(filters: &[EnvoyFilter], keep_version: bool) -> Option<Vec<EnvoyFilter>> {
    let mut all = None;
    for (index, filter) in filters.iter().enumerate() {
        for (number, patch) in filter.patches.iter().enumerate() {
            let (proxy, object) = relaxed_match(patch, keep_version);
            if (&proxy, &object) != (&patch.proxy, &patch.object) {
                let all: &mut Vec<EnvoyFilter> = all.get_or_insert_with(|| filters.to_vec());
                (all[index].patches[number].proxy, all[index].patches[number].object) = (proxy, object);
            }
        }
    }
    all
}

/// For each filter and patch, whether relaxing changed the object of its match.
fn changed_objects(filters: &[EnvoyFilter], relaxed: &[EnvoyFilter]) -> Vec<Vec<bool>> {
    let of_filter = |(as_written, relaxed): (&EnvoyFilter, &EnvoyFilter)| {
        as_written.patches.iter().zip(&relaxed.patches).map(|(one, other)| one.object != other.object).collect()
    };
    filters.iter().zip(relaxed).map(of_filter).collect()
}

fn relaxed_match(patch: &Patch, keep_version: bool) -> (Option<ProxyMatch>, ObjectMatch) {
    // The running versions are unknown too, unless an upgrade gives them.
    let mut proxy = patch.proxy.clone().filter(|_| keep_version);
    if let Some(proxy) = &mut proxy {
        proxy.metadata.clear();
    }
    let mut object = patch.object.clone();
    match &mut object {
        ObjectMatch::Listener(listener) => {
            if listener.name != matching::VIRTUAL_INBOUND && listener.name != matching::VIRTUAL_OUTBOUND {
                listener.name.clear();
            }
            // These ports are istiod's.
            if matching::own_port(patch.context, &patch.object).is_none() {
                listener.port_number = 0;
            }
            if let Some(chain) = &mut listener.filter_chain {
                chain.name.clear();
                chain.sni.clear();
                chain.transport_protocol.clear();
                chain.application_protocols.clear();
                chain.destination_port = 0;
            }
        }
        ObjectMatch::RouteConfiguration(route) => {
            route.name.clear();
            route.port_name.clear();
            route.gateway.clear();
            route.port_number = 0;
            route.vhost = None;
        }
        ObjectMatch::Cluster(cluster) => *cluster = ClusterMatch::default(),
        ObjectMatch::None | ObjectMatch::Waypoint(_) => {}
    }
    (proxy, object)
}

//! `survey`: every EnvoyFilter on every proxy it reaches, for `get` and `status`: what the engine expects, what the dumps
//! contain, what lint finds.

use super::Error;
use super::proxies::{self, Given, Kept, Taken};
use super::read::{Mesh, proxy_of};
use super::scope::Scope;
use super::settings::{Breadth, Progress, Settings};
use crate::cluster::kinds::{self, Needs};
use crate::cluster::targets::Target;
use crate::engine::{self, Outcome, Program};
use crate::explain::Explainer;
use crate::explain::view::{self, Live, Patch, Refused};
use crate::lint::config::Config;
use crate::lint::{self, Input};
use crate::load::Loaded;
use crate::load::dump::Dump;
use crate::load::reference;
use crate::model::envoy_filter::{Documents, EnvoyFilter};
use crate::model::proxy::Proxy;
use crate::model::resource::ProxyConfig;
use crate::rules::ALL;
use crate::source::Problem;
use crate::study::{self, InEffect, study};
use std::collections::{BTreeMap, BTreeSet};

/// The request of a survey.
#[derive(Clone, Debug)]
pub(crate) struct SurveyRequest {
    /// The mesh.
    pub settings: Settings,
    /// What to read.
    pub needs: &'static Needs,
    /// Whether to count findings of lint: then all dumps are in memory at the same time.
    pub findings: bool,
    /// Only EnvoyFilters with these names, with or without their namespace; empty: all.
    pub names: Vec<String>,
    /// Whether to read what proxies contain; otherwise only what EnvoyFilters select.
    pub proxies: bool,
    /// With a namespace, also the EnvoyFilters of root namespaces that reach its proxies.
    pub roots: bool,
}

impl SurveyRequest {
    /// What `get` asks.
    pub(crate) fn get(settings: Settings) -> SurveyRequest {
        SurveyRequest { settings, needs: &kinds::GET, findings: true, proxies: true, roots: false, names: Vec::new() }
    }

    /// What `status` asks.
    pub(crate) fn status(settings: Settings) -> SurveyRequest {
        SurveyRequest {
            settings,
            needs: &kinds::STATUS,
            findings: false,
            proxies: true,
            roots: true,
            names: Vec::new(),
        }
    }
}

impl SurveyRequest {
    /// The namespaces of the EnvoyFilters given with their namespace.
    fn breadth(&self, home: &str) -> Breadth {
        let namespaces: BTreeSet<&str> =
            self.names.iter().map(|name| name.split_once('/').map_or(home, |(namespace, _)| namespace)).collect();
        match namespaces.iter().collect::<Vec<_>>().as_slice() {
            [] => Breadth::Namespace,
            [one] if **one == home => Breadth::Namespace,
            [one] => Breadth::Of((**one).to_owned()),
            _ => Breadth::Everything,
        }
    }

    /// `namespace/name` of the EnvoyFilters with these names. A bare name means one in the current namespace, or else one in a
    /// root namespace, which applies there.
    fn named(&self, mesh: &Mesh<'_>) -> BTreeSet<String> {
        let filters = &mesh.loaded.inventory.envoy_filters;
        let mut named = BTreeSet::new();
        for name in &self.names {
            let of_name = filters.iter().filter(|filter| filter.name == *name || filter.full_name() == *name);
            let all: Vec<&EnvoyFilter> = of_name.collect();
            let home = |filter: &&&EnvoyFilter| mesh.only.as_ref().is_none_or(|only| filter.namespace == *only);
            let at_home: Vec<&EnvoyFilter> = all.iter().filter(home).copied().collect();
            let meant = if at_home.is_empty() || name.contains('/') { all } else { at_home };
            named.extend(meant.into_iter().map(EnvoyFilter::full_name));
        }
        match &mesh.asked {
            // Selectors still apply.
            Some(asked) if self.settings.selects() => named.intersection(asked).cloned().collect(),
            _ => named,
        }
    }
}

/// What is known about one EnvoyFilter.
#[derive(Debug)]
pub struct Row {
    /// Index of the filter in the inventory.
    pub filter: usize,
    /// Its position in the order of application among all filters, from 1.
    pub order: usize,
    /// Number of pods it attaches to.
    pub selects: usize,
    /// Their workloads.
    pub workloads: BTreeSet<Place>,
    /// How many of its proxies were read.
    pub read: usize,
    /// What running proxies contain of its patches.
    pub held: Held,
    /// Findings of lint.
    pub findings: usize,
    /// The workloads with a proxy that was read.
    pub seen: BTreeSet<Place>,
    /// What is wrong on which workload.
    pub wrong: BTreeMap<Place, BTreeSet<Wrong>>,
}

/// What running proxies contain of the patches of one EnvoyFilter. Every patch counts once for each proxy that was read and
/// that it applies to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Running proxies that were read.
    pub proxies: usize,
    /// All of them.
    pub judged: usize,
    /// Patches in effect.
    pub effective: usize,
    /// Patches not in effect, or not everywhere.
    pub ineffective: usize,
    /// Patches whose content the proxy rejected.
    pub rejected: usize,
}

/// A workload: its namespace, and `kind/name`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Its namespace.
    pub namespace: String,
    /// `deployment/cart`; the pod if the workload is unknown.
    pub workload: String,
}

impl Place {
    /// The workload of a pod.
    pub(crate) fn of(target: &Target) -> Place {
        Place { namespace: target.namespace.clone(), workload: target.owner() }
    }

    /// `namespace/kind/name`.
    pub(crate) fn full_name(&self) -> String {
        format!("{}/{}", self.namespace, self.workload)
    }
}

/// What is wrong with a patch on a workload.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wrong {
    /// Index of the patch.
    pub patch: usize,
    /// What.
    pub what: What,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// Envoy rejected an update of a resource that the patch changes.
    Rejected {
        /// Kind of the resource.
        kind: &'static str,
        /// Its name.
        resource: String,
        /// Envoy's message.
        details: String,
    },
    /// The proxy does not contain what the patch writes.
    NotInEffect,
    /// The proxy contains it in some places.
    PartlyInEffect,
    /// The patch has no effect there.
    Idle {
        /// The verdict.
        outcome: Outcome,
        /// Why, as in `explain`.
        reason: Option<String>,
    },
    /// Whether the patch has an effect there is unknown.
    Unknown {
        /// Why, as in `explain`.
        reason: Option<String>,
    },
}

/// The result of a survey.
#[derive(Debug)]
pub struct SurveyReport {
    /// Texts, objects and the loader's problems.
    pub loaded: Loaded,
    /// One row for each requested EnvoyFilter, by namespace and name.
    pub rows: Vec<Row>,
    /// Rejected updates that no patch is blamed for: kind and name of the resource, and Envoy's message.
    pub rejected: BTreeMap<Place, BTreeSet<(&'static str, String, String)>>,
    /// What else could not be read.
    pub problems: Vec<Problem>,
    /// Whether pods could be listed; otherwise "selects no pod" is not known.
    pub pods_known: bool,
    /// Whether the EnvoyFilters were listed.
    pub filters_known: bool,
    /// Whether the user stopped it.
    pub interrupted: bool,
    /// Root namespaces of the control planes.
    pub root_namespaces: Vec<String>,
    /// The number of requests, and the cluster.
    pub requests: Option<(usize, String)>,
    /// What was read.
    pub scope: Scope,
}

/// Judges every requested EnvoyFilter.
pub(crate) fn survey(request: &SurveyRequest, progress: &dyn Progress) -> Result<SurveyReport, Error> {
    let mut mesh = Mesh::open(&request.settings, request.needs, progress, |home| request.breadth(home))?;
    if !request.names.is_empty() {
        mesh.asked = Some(request.named(&mesh));
    } else if request.roots && !request.settings.selects() {
        let of_roots = of_roots(&mesh);
        if let Some(asked) = &mut mesh.asked {
            asked.extend(of_roots);
        }
    }
    let mesh = mesh;
    let filters = &mesh.loaded.inventory.envoy_filters;
    let mut taken = Taken::default();
    let mut rows = rows(&mesh, filters);
    let programs: Vec<Program<'_>> = mesh.planes.iter().map(|plane| Program::new(filters, plane.release)).collect();
    let mut rejected: BTreeMap<Place, BTreeSet<_>> = BTreeMap::new();
    let mut look = |dump: &Dump, config: &ProxyConfig<'_>, plane: usize, running: bool| {
        if let Some(explained) = explained(&mesh, &programs, (dump, config, plane, running)) {
            let place = place_of(&mesh, &explained);
            take_in(&mesh, &mut rows, &place, &explained);
            for one in unblamed(&explained) {
                let update = (one.kind, one.name.clone(), one.details.clone());
                rejected.entry(place.clone()).or_default().insert(update);
            }
        }
    };
    // Proxies that only other filters reach are irrelevant.
    let of_rows = |filter: &&EnvoyFilter| mesh.asked.as_ref().is_none_or(|asked| asked.contains(&filter.full_name()));
    let asked: Vec<EnvoyFilter> = filters.iter().filter(of_rows).cloned().collect();
    let reached = mesh.reached_by(&asked);
    let given = Given::default();
    if request.proxies && request.findings {
        let dumps = mesh.all(&given, &reached, &mut taken)?;
        for kept in &dumps {
            if let Some(config) = proxies::config(kept, &mut taken.problems) {
                look(&kept.dump, &config, kept.plane, kept.running);
            }
        }
        let found = findings(&mesh, &dumps);
        for row in &mut rows {
            row.findings = found.get(&row.filter).copied().unwrap_or_default();
        }
    } else if request.proxies {
        mesh.visit(&given, &reached, &mut taken, &mut |offer| {
            look(offer.dump, &offer.config, offer.plane, offer.running);
        })?;
    }
    drop(reached);
    drop(programs);
    let scope = mesh.scope(&given, &taken, rows.len());
    Ok(SurveyReport {
        rows,
        rejected,
        pods_known: mesh.lists(kinds::POD),
        filters_known: mesh.lists(kinds::ENVOY_FILTER),
        interrupted: mesh.interrupted(),
        root_namespaces: mesh.planes.iter().map(|plane| plane.mesh.root_namespace.clone()).collect(),
        requests: mesh.requests(),
        scope,
        problems: taken.problems,
        loaded: mesh.loaded,
    })
}

/// The EnvoyFilters of root namespaces that reach a proxy of the namespace that was read.
pub(super) fn of_roots(mesh: &Mesh<'_>) -> Vec<String> {
    let Some(only) = &mesh.only else { return Vec::new() };
    let proxies: Vec<(&Target, Proxy)> =
        mesh.targets().iter().filter(|it| it.namespace == *only).map(|it| (it, proxy_of(it))).collect();
    let is_root = |filter: &&EnvoyFilter| mesh.planes.iter().any(|it| it.mesh.root_namespace == filter.namespace);
    let reaches = |filter: &&EnvoyFilter| proxies.iter().any(|(target, proxy)| mesh.reaches(filter, target, proxy));
    mesh.loaded.inventory.envoy_filters.iter().filter(is_root).filter(reaches).map(EnvoyFilter::full_name).collect()
}

/// The workload of a proxy.
fn place_of(mesh: &Mesh<'_>, explained: &view::Proxy) -> Place {
    let is = |target: &&Target| target.namespace == explained.namespace && target.pod == explained.name;
    let named = || Place { namespace: explained.namespace.clone(), workload: explained.name.clone() };
    mesh.targets().iter().find(is).map_or_else(named, Place::of)
}

/// Adds the effects of filters on a proxy to their rows.
fn take_in(mesh: &Mesh<'_>, rows: &mut [Row], key: &Place, explained: &view::Proxy) {
    for row in rows {
        let Some(filter) = mesh.loaded.inventory.envoy_filters.get(row.filter) else { continue };
        let is = |one: &&view::Filter| one.selected && one.namespace == filter.namespace && one.name == filter.name;
        let Some(seen) = explained.filters.iter().find(is) else { continue };
        row.read += 1;
        row.seen.insert(key.clone());
        row.held.proxies += usize::from(explained.running);
        for patch in &seen.patches {
            if let Some(what) = judge(&mut row.held, patch, explained) {
                row.wrong.entry(key.clone()).or_default().insert(Wrong { patch: patch.index, what });
            }
        }
    }
}

/// One row for each requested filter, by namespace and name.
fn rows(mesh: &Mesh<'_>, filters: &[EnvoyFilter]) -> Vec<Row> {
    let mut order: Vec<usize> = (0..filters.len()).collect();
    if let Some(plane) = mesh.planes.first() {
        let compat = engine::compat::Compat { release: plane.release };
        engine::select::sort(filters, &mut order, &plane.mesh, compat);
    }
    // A mesh may have thousands of pods for each of its filters.
    let proxies: Vec<(&Target, Proxy)> = mesh.targets().iter().map(|target| (target, proxy_of(target))).collect();
    let mut rows = Vec::new();
    for (place, &filter) in order.iter().enumerate() {
        let Some(one) = filters.get(filter) else { continue };
        if mesh.asked.as_ref().is_some_and(|asked| !asked.contains(&one.full_name())) {
            continue;
        }
        let mut selects = 0;
        let mut workloads = BTreeSet::new();
        for (target, _) in proxies.iter().filter(|(target, proxy)| mesh.reaches(one, target, proxy)) {
            selects += 1;
            workloads.insert(Place::of(target));
        }
        rows.push(Row {
            filter,
            order: place + 1,
            selects,
            workloads,
            read: 0,
            held: Held::default(),
            findings: 0,
            seen: BTreeSet::new(),
            wrong: BTreeMap::new(),
        });
    }
    rows.sort_by_key(|row| filters.get(row.filter).map(EnvoyFilter::full_name));
    rows
}

/// Counts a patch on a proxy and returns what is wrong with it there.
pub(crate) fn judge(held: &mut Held, patch: &Patch, proxy: &view::Proxy) -> Option<What> {
    let mut unseen = Held::default();
    // What istiod would send does not show what a proxy contains.
    let held = if proxy.running { held } else { &mut unseen };
    // The filter attaches, but the patch is for other proxies.
    if patch.outcome == Outcome::NotSelected {
        return None;
    }
    held.judged += 1;
    let reason = || patch.reason.as_ref().map(|reason| reason.message.clone());
    if patch.live.is_none() && patch.uncertain && patch.in_effect != Some(InEffect::Yes) {
        return Some(What::Unknown { reason: reason() });
    }
    match (patch.live, patch.outcome, patch.in_effect) {
        (Some(Live::InEffect), ..) => {
            held.effective += 1;
            None
        }
        (Some(Live::Refused), ..) => {
            held.rejected += 1;
            let places = || patch.effects.iter().flat_map(|effect| &effect.places);
            let here = |one: &&Refused| places().any(|place| place.kind == one.kind && place.resource == one.name);
            let refused = proxy.refused.iter().find(here)?;
            let (kind, resource, details) = (refused.kind, refused.name.clone(), refused.details.clone());
            Some(What::Rejected { kind, resource, details })
        }
        (Some(Live::PartlyInEffect), ..) | (None, Outcome::Applied | Outcome::NoOp, Some(InEffect::Partly)) => {
            held.ineffective += 1;
            Some(What::PartlyInEffect)
        }
        (Some(Live::NotInEffect), ..) | (None, Outcome::Applied | Outcome::NoOp, Some(InEffect::No)) => {
            held.ineffective += 1;
            Some(What::NotInEffect)
        }
        (Some(Live::Unknown), ..) | (None, Outcome::Applied, _) | (None, Outcome::NoOp, Some(InEffect::Yes)) => None,
        (None, Outcome::NoOp, None) if patch.effects.is_empty() => {
            held.ineffective += 1;
            None
        }
        (None, outcome, _) => {
            held.ineffective += 1;
            Some(What::Idle { outcome, reason: reason() })
        }
    }
}

/// The rejected updates of a proxy that no patch is blamed for.
pub(crate) fn unblamed(proxy: &view::Proxy) -> Vec<&Refused> {
    let patches = proxy.filters.iter().filter(|filter| filter.selected).flat_map(|filter| &filter.patches);
    let refused = patches.filter(|patch| patch.live == Some(Live::Refused));
    let places = refused.flat_map(|patch| &patch.effects).flat_map(|effect| &effect.places);
    let blamed: BTreeSet<(&str, &str)> = places.map(|place| (place.kind, place.resource.as_str())).collect();
    proxy.refused.iter().filter(|one| !blamed.contains(&(one.kind, one.name.as_str()))).collect()
}

/// The number of findings about each EnvoyFilter, by its index.
fn findings(mesh: &Mesh<'_>, dumps: &[Kept]) -> BTreeMap<usize, usize> {
    let mut found = BTreeSet::new();
    for (number, plane) in mesh.planes.iter().enumerate() {
        let configs: Vec<ProxyConfig<'_>> = dumps
            .iter()
            .filter(|kept| kept.plane == number)
            .filter_map(|kept| kept.dump.config(&kept.identity).ok())
            .collect();
        let input = Input {
            sources: &mesh.loaded.sources,
            inventory: &mesh.judged_by(number),
            problems: &mesh.loaded.problems,
            dumps: &configs,
            references: reference::configs(plane.release),
            release: plane.release,
            mesh: &plane.mesh,
        };
        let checked = lint::check(&input, ALL, &Config::default(), str::to_owned);
        for finding in checked.findings {
            found.insert((finding.primary.span, finding.rule.code, finding.message));
        }
    }
    // A bug report has all EnvoyFilters in one text.
    let documents = Documents::of(&mesh.loaded.inventory.envoy_filters);
    let mut number = BTreeMap::new();
    for index in found.iter().filter_map(|(span, ..)| documents.at(*span)) {
        *number.entry(index).or_insert(0) += 1;
    }
    number
}

/// What the filters do to one proxy.
fn explained(
    mesh: &Mesh<'_>,
    programs: &[Program<'_>],
    (dump, config, plane, running): (&Dump, &ProxyConfig<'_>, usize, bool),
) -> Option<view::Proxy> {
    let (program, plane) = (programs.get(plane)?, mesh.planes.get(plane)?);
    let settings = study::Settings::packed(&plane.mesh);
    Some(study(program, config, &settings, |study| {
        let (sources, inventory) = (&mesh.loaded.sources, &mesh.loaded.inventory);
        let (dump, lenders) = (dump.name(), mesh.lenders());
        Explainer { sources, inventory, study, dump, running, lenders }.proxy(&crate::explain::Settings::default())
    }))
}

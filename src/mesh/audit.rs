//! `audit`: what an Istio upgrade does to a set of EnvoyFilters, before it happens.

use super::audit_request::AuditRequest;
use super::proxies::Taken;
use super::read::{Mesh, objects};
use super::scope::Scope;
use super::settings::{Breadth, IstiodSettings, Progress, Settings};
use super::{Error, audit_planes, manifests, next, standing};
use crate::audit::view::{MeshChange, Verdict};
use crate::audit::{self, Audit, Given, Request};
use crate::cluster::facts::{Facts, REVISION};
use crate::cluster::kinds;
use crate::engine::{MeshSettings, Plan, Program};
use crate::envoy::api::envoy_of;
use crate::lint::tried;
use crate::lint::upgrade::forecast::Forecast;
use crate::lint::upgrade::tell::short;
use crate::load::dump::Dump;
use crate::load::{Loaded, reference};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::proxy::Proxy;
use crate::model::release::Release;
use crate::model::resource::ProxyConfig;
use crate::proto::schema::Schema;
use crate::rules::ALL;
use crate::source::{Problem, Severity};
use crate::study::{self, Undone};
use crate::trial::Trial;
use crate::words::count;
use std::borrow::Cow;

/// The report of an audit.
pub(crate) struct AuditReport {
    /// The result.
    pub audit: Audit,
    /// The releases of the path, including both ends.
    pub path: Vec<Release>,
    /// Texts, objects and the loader's problems.
    pub loaded: Loaded,
    /// What else could not be read.
    pub problems: Vec<Problem>,
    /// Whether something could not be read, so that the verdict cannot be ready.
    pub partial: bool,
    /// What the Envoy did; shown only with --verbose.
    pub notes: Vec<String>,
    /// What was read.
    pub scope: Scope,
}

/// A stage before its configurations are computed: releases of istiod and of the proxies, and whether proxies stay unchanged.
#[derive(Clone, Copy)]
struct Shape {
    istiod: Release,
    proxies: Release,
    upgraded: bool,
}

/// Audits an upgrade of the whole mesh, unless a namespace is given.
pub(crate) fn audit(request: &AuditRequest, progress: &dyn Progress) -> Result<AuditReport, Error> {
    let AuditRequest { settings, given, .. } = request;
    given.one_standard_input(&[&request.files])?;
    let named = next::named(request)?;
    let to = request.to.or(named.last().map(|(release, _)| *release)).ok_or_else(no_release)?;
    let base = next::base(request, &named, to)?;
    let mesh = open(request, base.as_ref().map(|(istiod, _)| istiod), progress)?;
    let loaded = &mesh.loaded;
    let filters = &loaded.inventory.envoy_filters;
    let mut taken = Taken::default();
    // Proxies that no filter reaches are irrelevant.
    let reached = mesh.reached_by(filters);
    let dumps = mesh.all(given, &reached, &mut taken)?;
    let (own, configs) = audit_planes::configs(request, &mesh, &dumps, &mut taken);
    let mut unknown = Vec::new();
    let plane = mesh.planes.get(own).filter(|_| mesh.is_mesh());
    let computed_base = base.map(|(_, release)| release).filter(|_| mesh.asks_istiod());
    let running = computed_base.or(plane.map(|plane| plane.release));
    let from = request.current(to, running, &configs, &mut unknown)?;
    let path = request.path(from, to)?;
    unknown.extend(beyond(&path));
    unknown.extend(audit_planes::uncovered(&mesh, own, from, &configs));
    let settings_of_mesh = plane.map_or_else(|| settings.mesh(&loaded.inventory), |plane| plane.mesh.clone());
    let facts = if mesh.is_mesh() { mesh.facts.clone() } else { Facts::of(&loaded.inventory, String::new()) };
    let revisions = request.revisions_among(&facts);
    unknown.extend(labelled(filters).filter(|_| revisions.1.is_empty()));
    let programs: Vec<Program<'_>> = mesh
        .planes
        .iter()
        .map(|plane| Program::new(filters, if mesh.is_mesh() { plane.release } else { from }))
        .collect();
    let plans = plans(&mesh, &programs, &configs, &settings_of_mesh);
    // The filters' effects are undone in the dumps once, for the control plane that runs now, so that all releases start from
    // what istiod generates.
    let undone: Vec<Undone<'_>> = plans
        .iter()
        .zip(&configs)
        .map(|(plan, (_, config))| Undone::of(plan, config, &study::OPTIONS).compact())
        .collect();
    let bases: Vec<_> = undone.iter().map(Undone::base).collect();
    let shapes = Shape::of(&path, from, to);
    let forecasts: Vec<Forecasts> = shapes.iter().map(|shape| Forecasts::of(shape, from, &bases)).collect();
    let istiods = next::Istiods::open(settings, &request.istiods, &mesh)?;
    let of_proxies: Vec<&Proxy> = bases.iter().map(|config| &config.proxy).collect();
    let mut ask = |shape: &Shape| {
        // The configurations of the current stage already exist.
        let known = shape.istiod == from && !shape.upgraded;
        let asked =
            (!known).then(|| istiods.dumps(shape.istiod, Some(shape.proxies), &of_proxies, &mut taken.problems));
        asked.unwrap_or_default()
    };
    let asked: Vec<Vec<Option<Dump>>> = shapes.iter().map(&mut ask).collect();
    let stages: Vec<Given<'_>> = shapes
        .iter()
        .zip(&forecasts)
        .zip(&asked)
        .map(|((shape, forecasts), asked)| forecasts.stage(shape, &bases, asked))
        .collect();
    let target = path.len() - 1;
    let computed = asked.get(target).map_or(&[][..], Vec::as_slice);
    let all_changes = request.all_changes.then(|| changes_of_all(&stages, target, computed, (from, to)));
    unknown.extend((request.all_changes && computed.iter().all(Option::is_none)).then(|| all_changes_unknown(to)));
    let (stages, mixed) = stages.split_at(path.len());
    let trial = request.envoy.as_deref().map(Trial::start).transpose()?;
    let standings = standing::standings(&loaded.inventory, &facts);
    let mut answer = audit::run_with(
        &Request {
            sources: &loaded.sources,
            inventory: &loaded.inventory,
            problems: &loaded.problems,
            mesh: &settings_of_mesh,
            rules: ALL,
            stages,
            mixed: if path.len() > 1 { mixed } else { &[] },
            revisions,
            asked: mesh.asked.as_ref(),
            standings: &standings,
            unsafe_fixes: request.unsafe_fixes,
        },
        trial.as_ref(),
    );
    let notes: Vec<String> = trial.iter().map(tried::story).collect();
    if !filters.is_empty() && configs.is_empty() {
        unknown.extend(without_dumps(loaded));
    }
    answer.view.counts.suppressed = answer.suppressed;
    answer.view.unknown.append(&mut unknown);
    answer.view.all_changes = all_changes;
    if !request.istiods.is_empty() {
        answer.view.bases = istiods.bases(&path, from, computed_base.is_some());
    }
    let partial = add_problems(&mut answer, loaded, &taken);
    let scope = mesh.scope(given, &taken, answer.view.counts.filters);
    drop(reached);
    drop(forecasts);
    drop(asked);
    drop(istiods);
    drop(of_proxies);
    drop(bases);
    drop(undone);
    drop(plans);
    drop(programs);
    drop(configs);
    Ok(AuditReport { audit: answer, path, problems: taken.problems, partial, notes, scope, loaded: mesh.loaded })
}

fn no_release() -> Error {
    let help = "name it with --to RELEASE, or give its istiod with --istiod RELEASE=PATH";
    Error::Text { message: "no release to upgrade to".to_owned(), help: Some(help.to_owned()) }
}

fn all_changes_unknown(to: Release) -> String {
    let to = short(to);
    format!("what changes without any EnvoyFilter is not known: name an istiod of the target with --istiod-to ({to})")
}

/// The plan of each proxy, for its own control plane.
fn plans<'p>(
    mesh: &'p Mesh<'_>,
    programs: &'p [Program<'p>],
    configs: &'p [(usize, ProxyConfig<'p>)],
    settings_of_mesh: &'p MeshSettings,
) -> Vec<Plan<'p>> {
    let plan = |(number, config): &'p (usize, ProxyConfig<'p>)| {
        let own = mesh.planes.get(*number).filter(|_| mesh.is_mesh()).map_or(settings_of_mesh, |plane| &plane.mesh);
        Some(programs.get(*number)?.plan(&config.proxy, own))
    };
    configs.iter().filter_map(plan).collect()
}

/// What is not known about EnvoyFilters of a revision, if there are any.
fn labelled(filters: &[EnvoyFilter]) -> Option<String> {
    let labelled = filters.iter().filter(|one| one.labels.contains_key(REVISION)).count();
    (labelled > 0).then(|| {
        format!(
            "{} the label `{REVISION}`: whether the new istiod reads them depends on its revision; set it with --revision-to",
            count(labelled, "EnvoyFilter has", "EnvoyFilters have")
        )
    })
}

/// What is not known without config dumps.
fn without_dumps(loaded: &Loaded) -> Vec<String> {
    let mut unknown = vec!["not checked: no config dump; judged on what istiod generates by default".to_owned()];
    if loaded.inventory.workloads.is_empty() {
        unknown.push("no workloads given: each EnvoyFilter is tried on a workload made up to fit it".to_owned());
    }
    unknown
}

/// The mesh of the request: files, the demo, what istiod generates from them, a capture or a cluster.
fn open<'p>(
    request: &AuditRequest,
    istiod: Option<&IstiodSettings>,
    progress: &'p dyn Progress,
) -> Result<Mesh<'p>, Error> {
    let AuditRequest { settings, given, .. } = request;
    if !request.files.is_empty() || given.demo {
        // If an istiod is run, it determines the current release.
        let istio_version = settings.istio_version.filter(|_| istiod.is_none());
        let settings = Settings { istio_version, istiod: istiod.cloned(), ..settings.clone() };
        let loaded = objects(&settings.load_options(), &request.files, given.demo);
        manifests::mesh(&settings, loaded, given, progress)
    } else if request.istiods.is_empty() {
        Mesh::open(settings, &kinds::AUDIT, progress, |_| Breadth::Mesh)
    } else {
        // Proxies' current dumps show what they run with.
        next::mesh(settings, progress)
    }
}

impl Shape {
    /// The stages of a path, then the two in which only istiod or only the proxies are upgraded.
    fn of(path: &[Release], from: Release, to: Release) -> Vec<Shape> {
        let mixed =
            [Shape { istiod: to, proxies: from, upgraded: false }, Shape { istiod: from, proxies: to, upgraded: true }];
        path.iter().map(|&one| Shape { istiod: one, proxies: one, upgraded: one != from }).chain(mixed).collect()
    }
}

/// The existing configurations, forecast for a stage.
struct Forecasts {
    of_dumps: Vec<Forecast>,
    of_references: Vec<Forecast>,
}

impl Forecasts {
    fn of(shape: &Shape, from: Release, bases: &[Cow<'_, ProxyConfig<'_>>]) -> Forecasts {
        let proxies = shape.upgraded.then_some(shape.proxies);
        let of_dumps = bases.iter().map(|config| Forecast::new(config, from, shape.istiod, proxies)).collect();
        let nearest = reference::recorded(shape.istiod);
        let of_reference = |config| Forecast::new(config, nearest, shape.istiod, None);
        let of_references = reference::configs(shape.istiod).iter().map(of_reference).collect();
        Forecasts { of_dumps, of_references }
    }

    /// The configurations of a stage: what an istiod of that release generated, and forecasts for the rest.
    fn stage<'a, 'c: 'a>(
        &'a self,
        shape: &Shape,
        bases: &'a [Cow<'c, ProxyConfig<'c>>],
        computed: &'a [Option<Dump>],
    ) -> Given<'a> {
        let references = self.of_references.iter().zip(reference::configs(shape.istiod));
        let dumps = self.of_dumps.iter().zip(bases).enumerate().map(|(at, (one, config))| {
            let forecast = one.apply(config);
            let computed = computed.get(at).and_then(Option::as_ref).and_then(|dump| next::config(dump, &forecast));
            computed.unwrap_or(forecast)
        });
        Given {
            release: shape.istiod,
            proxies: shape.proxies,
            dumps: dumps.collect(),
            references: references.map(|(one, config)| one.apply(config)).collect(),
        }
    }
}

/// Changes on proxies whose next configuration was computed, whether or not they depend on a filter.
fn changes_of_all(
    stages: &[Given<'_>],
    target: usize,
    computed: &[Option<Dump>],
    (from, to): (Release, Release),
) -> Vec<MeshChange> {
    let (Some(old), Some(new)) = (stages.first(), stages.get(target)) else { return Vec::new() };
    let pairs = old.dumps.iter().zip(&new.dumps).zip(computed).filter(|(_, computed)| computed.is_some());
    pairs.flat_map(|((old, new), _)| next::changes(old, new, (from, to))).collect()
}

/// Adds what could not be read to an answer, and returns whether that leaves the verdict open.
fn add_problems(answer: &mut Audit, loaded: &Loaded, taken: &Taken) -> bool {
    let problems = || loaded.problems.iter().chain(&taken.problems);
    let errors = problems().filter(|one| one.severity == Severity::Error);
    answer.view.problems.extend(errors.map(|problem| match problem.span {
        Some(span) => format!("{}: {}", loaded.sources.place(span), problem.message),
        None => problem.message.clone(),
    }));
    let partial = problems().any(super::is_serious);
    if partial {
        // Unread input may contain anything.
        answer.view.verdict = Verdict::NotReady;
    }
    partial
}

impl AuditRequest {
    /// The revisions of the old and the new istiod. If two run and only the new one is given, the other is the old one.
    fn revisions_among(&self, facts: &Facts) -> (String, String) {
        let mut revisions = self.revisions.clone();
        let others: Vec<_> =
            facts.planes.iter().filter(|plane| plane.pods > 0 && plane.revision != revisions.1).collect();
        if let ([other], true, false) = (others.as_slice(), revisions.0.is_empty(), revisions.1.is_empty()) {
            revisions.0.clone_from(&other.revision);
        }
        revisions
    }

    /// The current release: given by the user, found on the proxies, or guessed with a note.
    fn current(
        &self,
        to: Release,
        running: Option<Release>,
        configs: &[(usize, ProxyConfig<'_>)],
        unknown: &mut Vec<String>,
    ) -> Result<Release, Error> {
        if let Some(from) = self.from.or(self.settings.istio_version).or(self.path.first().copied()).or(running) {
            return Ok(from);
        }
        let versions = configs.iter().filter_map(|(_, config)| config.proxy.istio_version.parse::<Release>().ok());
        if let Some(newest) = versions.max() {
            unknown.push(format!("the current release is taken from the newest proxy of the config dumps: {newest}"));
            return Ok(newest);
        }
        let Some(before) = to.minor.checked_sub(1) else {
            let message = "the current release is unknown".to_owned();
            return Err(Error::Text { message, help: Some("set it with --from RELEASE".to_owned()) });
        };
        unknown.push(format!("the current release is not known: 1.{before} is assumed; set it with --from"));
        Ok(Release::newest_of(before))
    }

    /// Every release of the path, including both ends.
    fn path(&self, from: Release, to: Release) -> Result<Vec<Release>, Error> {
        let wrong = |message: &str| Err(Error::Text { message: message.to_owned(), help: None });
        if from.major != 1 || to.major != 1 {
            return wrong("only releases of Istio 1 are known");
        }
        let mut path = vec![from];
        if self.path.is_empty() {
            let (low, high) = (from.minor.min(to.minor), from.minor.max(to.minor));
            let between = (low..=high).filter(|minor| *minor != from.minor && *minor != to.minor);
            path.extend(between.map(Release::newest_of));
            if to < from {
                path[1..].reverse();
            }
        } else {
            path.extend(self.path.iter().filter(|one| **one != from && **one != to));
            let rising = path.windows(2).all(|pair| pair[0] < pair[1]);
            if !rising || path.last().is_some_and(|last| *last > to) {
                return wrong("--path must rise from the current release to --to");
            }
        }
        if to != from {
            path.push(to);
        }
        Ok(path)
    }
}

/// The part of a path for which the patch engine is not proven, in words.
fn beyond(path: &[Release]) -> impl Iterator<Item = String> {
    let unchecked = |what: &str, end: Release, of: Vec<&Release>| {
        let names: Vec<String> = of.into_iter().copied().map(short).collect();
        let last = names.last().cloned().unwrap_or_default();
        (!names.is_empty()).then(|| {
            format!(
                "{what} Istio {0} the patch engine acts as {0}; no recordings prove it beyond that, so what matches and what \
                 changes is a guess for {1}; {2}",
                short(end),
                if names.len() > 2 { format!("{} to {last}", names[0]) } else { names.join(" and ") },
                accepted(path),
            )
        })
    };
    let older =
        unchecked("before", Release::OLDEST, path.iter().filter(|one| one.minor < Release::OLDEST.minor).collect());
    let newer =
        unchecked("after", Release::NEWEST, path.iter().filter(|one| one.minor > Release::NEWEST.minor).collect());
    older.into_iter().chain(newer)
}

/// The releases of a path for which it is known what istiod and the proxies accept, in words.
fn accepted(path: &[Release]) -> String {
    let istiods: Vec<u32> = Schema::all().filter(|one| one.is_istiod()).map(|one| one.release().0).collect();
    let istiod = |one: &&Release| !istiods.contains(&u32::from(one.minor));
    // Istio 1.N ships Envoy 1.(N+8).
    let envoy = |one: &&Release| Schema::envoy(envoy_of(one.minor)).is_none();
    let names = |of: Vec<&Release>| of.into_iter().map(|one| short(*one)).collect::<Vec<_>>().join(", ");
    let istiod = names(path.iter().filter(istiod).collect());
    let envoy = names(path.iter().filter(envoy).collect());
    match (istiod.as_str(), envoy.as_str()) {
        ("", "") => "what Envoy and istiod accept is not".to_owned(),
        (istiod, "") => format!("what istiod accepts is not known for {istiod}; that of the nearest release is used"),
        (istiod, envoy) => format!(
            "what istiod accepts is not known for {istiod}, nor what proxies of {envoy} accept; that of the nearest \
             release is used"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_of_a_path_is_said() {
        let path = |minors: &[u16]| minors.iter().map(|minor| Release::minor(*minor)).collect::<Vec<_>>();
        assert_eq!(beyond(&path(&[24, 28, 31])).count(), 0);
        let older: Vec<String> = beyond(&path(&[18, 31])).collect();
        assert!(
            matches!(&*older, [one] if one.ends_with("a guess for 1.18; what Envoy and istiod accept is not")),
            "{older:?}"
        );
        let newer: Vec<String> = beyond(&path(&[31, 32])).collect();
        assert!(
            matches!(&*newer, [one] if one.contains("not known for 1.32") && !one.contains("proxies")),
            "{newer:?}"
        );
        let far: Vec<String> = beyond(&path(&[31, 32, 33])).collect();
        let wanted = "nor what proxies of 1.33 accept; that of the nearest release is used";
        assert!(matches!(&*far, [one] if one.contains("not known for 1.32, 1.33") && one.ends_with(wanted)), "{far:?}");
    }
}

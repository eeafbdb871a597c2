//! `diff --istiod`: what a change of any object does to every proxy, and to every EnvoyFilter on it.

use super::bottled::{self, Bottled};
use super::diff::{self, DiffReport, DiffRequest, OutcomeChange, ProxyDiff, not_there, take_out};
use super::envoy::{self, Asked, Remark};
use super::planes::Plane;
use super::proxies::{Given, Taken};
use super::read::{Mesh, objects, replaced};
use super::scope::PlaneScope;
use super::settings::{Breadth, IstiodSettings, Progress};
use super::{Error, Refusal, manifests};
use crate::bottle::Deleted;
use crate::cluster::kinds;
use crate::cluster::targets::{self, Target};
use crate::engine::{Outcome, Program};
use crate::explain::view::{Patch, Proxy as Explained};
use crate::explain::{self, Explainer, Lenders};
use crate::load::dump::{Dump, Identity};
use crate::load::{self, Loaded};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::resource::ProxyConfig;
use crate::source::Problem;
use crate::study::{self, Study, study};
use crate::trial::Trial;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// One side of the comparison.
struct Side {
    bottled: Bottled,
    plane: Plane,
    loaded: Loaded,
}

/// Compares EnvoyFilters before and after a change, on every proxy that differing ones reach; with an istiod, the whole mesh
/// before and after.
pub fn diff(request: &DiffRequest, progress: &dyn Progress) -> Result<DiffReport, Error> {
    match (&request.settings.istiod, request.given.any(), request.current.is_empty()) {
        (Some(istiod), false, false) => of_mesh(request, istiod, progress),
        (Some(istiod), false, true) if istiod.named => of_mesh(request, istiod, progress),
        (Some(istiod), _, _) if istiod.named => Err(Refusal::IstiodNeedsManifests.into()),
        _ => diff::diff(request, progress),
    }
}

/// Compares a mesh from files, a capture or a cluster with the same mesh after a change, both as seen by the istiod of the
/// settings.
fn of_mesh(request: &DiffRequest, istiod: &IstiodSettings, progress: &dyn Progress) -> Result<DiffReport, Error> {
    let DiffRequest { settings, given, .. } = request;
    if request.files.is_empty() && request.delete.is_empty() {
        return Err(Refusal::NothingToCompare.into());
    }
    given.one_standard_input(&[&request.files, &request.current])?;
    one_of_both(request)?;
    let options = settings.load_options();
    let trial = request.envoy.as_deref().map(Trial::start).transpose()?;
    let mut problems = Vec::new();
    let mut mesh = if request.current.is_empty() {
        manifests::open(settings, &kinds::DIFF, progress, |_| Breadth::Everything)?
    } else {
        manifests::only_files(settings)?;
        let current = objects(&options, &request.current, false);
        manifests::fill(Mesh::of_files(settings, current, progress), istiod)?
    };
    let options = load::Options { namespace: mesh.namespace.clone(), ..options };
    let new = load::read_above(mesh.loaded.sources.clone(), &request.files, &options);
    let origin = mesh.origin.clone();
    let (Some(plane), Some(bottled)) = (mesh.planes.first().cloned(), manifests::taken(&mut mesh)) else {
        return Err(Refusal::NothingToCompare.into());
    };
    let mut filters = mesh.loaded.inventory.envoy_filters.clone();
    let deleted = deleted(&request.delete, &options.namespace, &bottled, &mut filters, &mut problems);
    let filters = replaced(&filters, &new.inventory.envoy_filters);
    let documents: Vec<Value> = new.documents.iter().filter(|one| !bottled::is_filter(one)).cloned().collect();
    let filters_only = documents.is_empty() && deleted.is_empty();
    let after = if filters_only { None } else { Some(bottled.changed(documents, &deleted)?) };
    let meshes = if new.inventory.meshes.is_empty() { &mesh.loaded.inventory } else { &new.inventory };
    let plane_after = Plane {
        mesh: crate::engine::MeshSettings { revision: plane.mesh.revision.clone(), ..settings.mesh(meshes) },
        ..plane.clone()
    };
    let before = Side { bottled, plane, loaded: mesh.loaded };
    let programs = (
        Program::new(&before.loaded.inventory.envoy_filters, before.plane.release),
        Program::new(&filters, plane_after.release),
    );

    let mut taken = Taken { problems, ..Taken::default() };
    let mut found = Found::default();
    let later = after.as_ref().unwrap_or(&before.bottled);
    let pairs = pairs(&before.bottled, later, request.settings.cluster.all_replicas);
    taken.proxies.pods = pairs.pods;
    taken.proxies.of = pairs.both.len();
    progress.begin(pairs.both.len());
    let written = [
        (before.loaded.inventory.envoy_filters.as_slice(), &before.loaded.sources),
        (new.inventory.envoy_filters.as_slice(), &new.sources),
    ];
    for target in &pairs.both {
        progress.advance();
        let mut dumps: Vec<Dump> = Vec::new();
        for side in [&before.bottled, later] {
            side.each(std::slice::from_ref(target), &super::Quiet, &mut taken.problems, &mut |_, dump, _| {
                dumps.push(dump);
                Ok(())
            })?;
        }
        let [first, second] = dumps.as_slice() else { continue };
        let (Some(first), Some(second)) = (config(first, &mut taken.problems), config(second, &mut taken.problems))
        else {
            continue;
        };
        taken.proxies.read += 1;
        let (settings, settings_after) = (before.plane.mesh.clone().into(), plane_after.mesh.clone().into());
        study(&programs.0, &first, &settings, |old| {
            study(&programs.1, &second, &settings_after, |now| {
                if let Some(trial) = &trial {
                    let (came, said) = envoy::ask(trial, now.plan, now.config, &settings_after.options, &written);
                    found.asked = found.asked.max(came);
                    found.remarks.extend(said);
                }
                found.compare((old, &before.loaded), (now, &new));
            });
        });
    }
    progress.end();
    let judged = filters.len();
    drop(programs);
    let Side { loaded, plane, .. } = before;
    let mut scope = Mesh::of_files(settings, Loaded::default(), progress).scope(&Given::default(), &taken, judged);
    scope.origin = origin;
    scope.control_planes = planes(&plane, !loaded.inventory.meshes.is_empty());
    scope.unread = super::Scope::unread(loaded.problems.iter().chain(&new.problems).chain(&taken.problems), None);
    let outcomes = found.outcomes.into_iter();
    Ok(DiffReport {
        proxies: found.proxies,
        unknown_services: found.unknown_services.into_iter().collect(),
        current: loaded,
        new,
        problems: taken.problems,
        remarks: found.remarks,
        asked: found.asked,
        scope,
        outcomes: outcomes.map(|(change, proxies)| OutcomeChange { proxies, ..change }).collect(),
        appeared: pairs.appeared,
        gone: pairs.gone,
        whole: true,
    })
}

/// Fails if the request asks a cluster and an istiod.
fn one_of_both(request: &DiffRequest) -> Result<(), Error> {
    if !request.server_side {
        return Ok(());
    }
    let message = "--server-side asks a cluster, --istiod asks istiod; use one of them".to_owned();
    Err(Error::Text { message, help: None })
}

/// The control plane that the istiod acts as, for the scope; `read` says whether its mesh config is known.
fn planes(plane: &Plane, read: bool) -> Vec<PlaneScope> {
    let mut planes = super::Scope::planes(std::slice::from_ref(plane), &crate::cluster::facts::Facts::default());
    planes.iter_mut().for_each(|one| one.mesh_config = read);
    planes
}

/// What the proxies of both sides show.
#[derive(Default)]
struct Found {
    proxies: Vec<ProxyDiff>,
    outcomes: BTreeMap<OutcomeChange, Vec<String>>,
    unknown_services: BTreeSet<String>,
    remarks: Vec<Remark>,
    asked: Asked,
}

impl Found {
    /// Compares a proxy before and after the change; `loaded` is what the filters of each side were read from.
    fn compare(&mut self, (old, loaded): (&Study<'_>, &Loaded), (now, loaded_after): (&Study<'_>, &Loaded)) {
        self.unknown_services.extend(now.judged.patched.unknown_services.iter().cloned());
        let resources = study::between(old, now);
        let name = now.config.proxy.full_name();
        for change in turned(&explain(old, loaded), &explain(now, loaded_after)) {
            self.outcomes.entry(change).or_default().push(name.clone());
        }
        if !resources.is_empty() {
            self.proxies.push(ProxyDiff { kind: now.config.proxy.kind.as_str(), name, resources });
        }
    }
}

/// The proxies of both sides.
struct Pairs {
    both: Vec<Target>,
    pods: usize,
    appeared: Vec<String>,
    gone: Vec<String>,
}

fn pairs(before: &Bottled, after: &Bottled, all_replicas: bool) -> Pairs {
    let names = |side: &Bottled| side.targets().iter().map(Target::full_name).collect::<BTreeSet<_>>();
    let (first, second) = (names(before), names(after));
    let both: Vec<Target> =
        after.targets().iter().filter(|target| first.contains(&target.full_name())).cloned().collect();
    let pods = both.len();
    let groups = targets::groups(both, all_replicas);
    Pairs {
        both: groups.into_iter().filter_map(|group| group.into_iter().next()).collect(),
        pods,
        appeared: second.difference(&first).cloned().collect(),
        gone: first.difference(&second).cloned().collect(),
    }
}

/// Takes the named EnvoyFilters out of `filters`; other objects are for istiod. Names that nothing has are problems.
fn deleted(
    words: &[String],
    namespace: &str,
    bottled: &Bottled,
    filters: &mut Vec<EnvoyFilter>,
    problems: &mut Vec<Problem>,
) -> Vec<Deleted> {
    let mut deleted = Vec::new();
    for word in words {
        match named(word, namespace) {
            Some((kind, namespace, name)) if !kind.eq_ignore_ascii_case("envoyfilter") => {
                match bottled.find(kind, namespace, name) {
                    Some(found) => deleted.push(found),
                    None => problems.push(not_there(word, filters)),
                }
            }
            of_kind => {
                let full = of_kind.map_or_else(
                    || if word.contains('/') { word.clone() } else { format!("{namespace}/{word}") },
                    |(_, namespace, name)| format!("{namespace}/{name}"),
                );
                take_out(filters, &full, problems);
            }
        }
    }
    deleted
}

fn config<'d>(dump: &'d Dump, problems: &mut Vec<Problem>) -> Option<ProxyConfig<'d>> {
    dump.config(&Identity::default()).map_err(|problem| problems.push(super::proxies::named(dump, problem))).ok()
}

/// Kind, namespace and name of an object to delete: `KIND/NAMESPACE/NAME`.
fn named<'w>(word: &'w str, namespace: &'w str) -> Option<(&'w str, &'w str, &'w str)> {
    let parts: Vec<&str> = word.split('/').collect();
    match *parts.as_slice() {
        [kind, "", name] => Some((kind, namespace, name)),
        [kind, namespace, name] => Some((kind, namespace, name)),
        _ => None,
    }
}

fn explain(study: &Study<'_>, loaded: &Loaded) -> Explained {
    let (sources, inventory, lenders) = (&loaded.sources, &loaded.inventory, Lenders::None);
    let explainer = Explainer { sources, inventory, study, dump: "", running: false, lenders };
    explainer.proxy(&explain::Settings::default())
}

/// The patches that have an effect on one side only, or different effects.
fn turned(before: &Explained, after: &Explained) -> Vec<OutcomeChange> {
    let all = |side: &Explained| -> BTreeMap<(String, usize), Patch> {
        let filters = side.filters.iter();
        filters
            .flat_map(|filter| {
                let name = format!("{}/{}", filter.namespace, filter.name);
                filter.patches.iter().map(move |patch| ((name.clone(), patch.index), patch.clone()))
            })
            .collect()
    };
    let (first, second) = (all(before), all(after));
    let keys: BTreeSet<&(String, usize)> = first.keys().chain(second.keys()).collect();
    let changes = keys.into_iter().filter_map(|key| {
        let (old, new) = (first.get(key), second.get(key));
        let outcome = |patch: Option<&Patch>| patch.map(|patch| patch.outcome);
        let idle = |outcome: Option<Outcome>| outcome.is_none_or(|outcome| outcome == Outcome::NotSelected);
        if outcome(old) == outcome(new) || (idle(outcome(old)) && idle(outcome(new))) {
            return None;
        }
        let reason = |patch: Option<&Patch>| patch?.reason.as_ref().map(|reason| reason.message.clone());
        Some(OutcomeChange {
            filter: key.0.clone(),
            patch: key.1,
            apply_to: new.or(old).map_or("", |patch| patch.apply_to),
            before: outcome(old),
            after: outcome(new),
            reason: if outcome(new) == Some(Outcome::Applied) { reason(old) } else { reason(new) },
            proxies: Vec::new(),
        })
    });
    changes.collect()
}

impl Bottled {
    /// The same binary with a changed mesh.
    fn changed(&self, new: Vec<Value>, deleted: &[Deleted]) -> Result<Bottled, Error> {
        let opened = self.opened.borrow();
        Ok(Bottled::of(opened.changed(new, deleted)?, opened.revision(), self.read().cloned()))
    }

    /// The object with this name.
    fn find(&self, kind: &str, namespace: &str, name: &str) -> Option<Deleted> {
        self.opened.borrow().find(kind, namespace, name)
    }
}

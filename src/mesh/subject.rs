//! One proxy with and without its filters, for a real Envoy to run.

use super::proxies::{Given, Taken};
use super::read::{objects, replaced};
use super::settings::{Progress, Settings};
use super::{Error, ProxyName, Refusal, Scope, Unanswered, manifests, named, similar};
use crate::behaviour::Subject;
use crate::cluster::targets::Target;
use crate::engine::{self, PatchId, Program};
use crate::load::Loaded;
use crate::model::envoy_filter::EnvoyFilter;
use crate::source::Problem;
use crate::study;
use std::path::PathBuf;

/// Selects the proxy.
#[derive(Clone, Debug, Default)]
pub(crate) struct SubjectRequest {
    /// The mesh.
    pub settings: Settings,
    /// The config dump.
    pub given: Given,
    /// A pod of the cluster instead, with or without `namespace/`; a workload means its first pod.
    pub pod: Option<ProxyName>,
    /// EnvoyFilters: files, folders, `-`. On a pod of a cluster they replace the applied ones.
    pub files: Vec<PathBuf>,
    /// EnvoyFilters that the comparison leaves out; all when empty.
    pub without: Vec<String>,
}

/// One proxy with and without its filters.
pub(crate) struct Pair<'g, 'a> {
    /// With the filters.
    pub with: Subject<'g, 'a>,
    /// Without them, or without the given ones.
    pub without: Subject<'g, 'a>,
    /// Names of the patches by index.
    pub patches: Vec<String>,
}

/// What was read in addition to the proxy.
#[derive(Debug)]
pub(crate) struct SubjectReport<T> {
    /// The result for the proxy; `None` if none was read.
    pub made: Option<T>,
    /// Objects and the loader's problems.
    pub loaded: Loaded,
    /// EnvoyFilters of files that replace those of the cluster.
    pub new: Option<Loaded>,
    /// What else could not be read.
    pub problems: Vec<Problem>,
    /// What was read.
    pub scope: Scope,
    /// Whether more than one dump was given; only the first was used.
    pub several: bool,
}

/// Passes the selected proxy to `make`.
pub(crate) fn subject<T>(
    request: &SubjectRequest,
    progress: &dyn Progress,
    make: &mut dyn FnMut(&Pair<'_, '_>) -> T,
) -> Result<SubjectReport<T>, Error> {
    let SubjectRequest { settings, given, .. } = request;
    given.one_standard_input(&[&request.files])?;
    let mesh = if given.any() {
        manifests::mesh(settings, objects(&settings.load_options(), &request.files, given.demo), given, progress)?
    } else if let Some(pod) = &request.pod {
        named::mesh_with(settings, pod, &request.files, given, progress)?
    } else {
        return Err(Refusal::NoSubject.into());
    };
    let now = &mesh.loaded.inventory.envoy_filters;
    let new = (mesh.is_read() && !request.files.is_empty()).then(|| {
        let options = crate::load::Options { namespace: mesh.namespace.clone(), ..settings.load_options() };
        objects(&options, &request.files, false)
    });
    let filters: Vec<EnvoyFilter> =
        new.as_ref().map_or_else(|| now.clone(), |new| replaced(now, &new.inventory.envoy_filters));
    let known: Vec<String> = filters.iter().map(EnvoyFilter::full_name).collect();
    let short = |name: &str| {
        known.iter().position(|full| full == name || full.split_once('/').is_some_and(|(_, it)| it == name))
    };
    if let Some(name) = request.without.iter().find(|name| short(name).is_none()) {
        let message = format!("no EnvoyFilter {name} exists");
        return Err(Error::NotFound(Unanswered::new(message, similar(name, &known), &mesh.loaded)));
    }
    let off: Vec<usize> = request.without.iter().filter_map(|name| short(name)).collect();
    let programs: Vec<(Program<'_>, Program<'_>)> = mesh
        .planes
        .iter()
        .map(|plane| (Program::new(now, plane.release), Program::new(&filters, plane.release)))
        .collect();
    let mut taken = Taken::default();
    let (mut seen, mut made) = (0, None);
    let wanted = |target: &Target| named::is(settings, request.pod.as_ref(), target);
    mesh.visit(given, &wanted, &mut taken, &mut |offer| {
        seen += 1;
        let (Some((old, program)), Some(plane)) = (programs.get(offer.plane), mesh.planes.get(offer.plane)) else {
            return;
        };
        if seen > 1 {
            return;
        }
        let how = plane.mesh.clone().into();
        let old = mesh.is_mesh().then_some(old);
        study::render(old, program, &offer.config, &how, |plan, base, _, patched| {
            let ids: Vec<PatchId> =
                plan.ids().filter(|&id| off.is_empty() || off.contains(&plan.get(id).filter)).collect();
            let without = plan.without(&ids);
            let unpatched = engine::run(&without, base, &how.options, &mut ());
            let patches = plan.ids().map(|id| {
                let planned = plan.get(id);
                let number =
                    program.patches(planned.filter).iter().position(|it| std::ptr::eq(it, planned.built)).unwrap_or(0);
                format!("{} patch {number}", plan.filter(id).full_name())
            });
            made = Some(make(&Pair {
                with: Subject { plan, config: base, patched },
                without: Subject { plan: &without, config: base, patched: &unpatched },
                patches: patches.collect(),
            }));
        });
    })?;
    let several = seen > 1 && !mesh.is_read();
    let scope = mesh.scope(given, &taken, filters.len());
    drop(programs);
    Ok(SubjectReport { made, scope, problems: taken.problems, several, loaded: mesh.loaded, new })
}

//! `render`: a config dump as istiod would send it with a set of EnvoyFilters.

use super::envoy::{self, Asked, Remark};
use super::proxies::{self, Given, Kept, Taken};
use super::read::{objects, replaced};
use super::scope::Scope;
use super::settings::{Progress, Settings};
use super::{Error, ProxyName, Refusal, manifests, named, unread};
use crate::cluster::targets::Target;
use crate::engine::Program;
use crate::lint::tried;
use crate::load::Loaded;
use crate::load::dump::{Dump, Edit, Layout, Searched, Wanted};
use crate::model::resource::ResourceKind;
use crate::source::Problem;
use crate::study::{self, dump};
use crate::trial::Trial;
use std::path::PathBuf;
use std::sync::Arc;

/// The request of `render`.
#[derive(Clone, Debug, Default)]
pub struct RenderRequest {
    /// The mesh.
    pub settings: Settings,
    /// The config dump.
    pub given: Given,
    /// A pod of the cluster instead, with or without `namespace/`; a workload means its first pod.
    pub pod: Option<ProxyName>,
    /// EnvoyFilters: files, folders, `-`. On a pod of a cluster they replace the applied ones.
    pub files: Vec<PathBuf>,
    /// Whether to write only the resources that the filters change, rather than the whole dump.
    pub only_changed: bool,
    /// An Envoy binary to ask.
    pub envoy: Option<PathBuf>,
}

/// A config dump with filters.
pub struct RenderReport {
    /// The dump, to be written with `edits`; `None` if no proxy was read.
    pub dump: Option<Dump>,
    /// The changes to it.
    pub edits: Vec<Edit<'static>>,
    /// A dump of only the changes, if requested.
    pub changed: Option<Vec<u8>>,
    /// Resources that the filters remove.
    pub removed: Vec<(ResourceKind, String)>,
    /// Route configurations that listeners now request but the dump does not contain.
    pub unknown_routes: Vec<String>,
    /// Services whose clusters a filter's annotation adds but the dump does not contain.
    pub unknown_services: Vec<String>,
    /// Whether more than one dump was given; only the first was rendered.
    pub several: bool,
    /// Objects and the loader's problems.
    pub loaded: Loaded,
    /// EnvoyFilters of files that replace those of the cluster.
    pub new: Option<Loaded>,
    /// What else could not be read.
    pub problems: Vec<Problem>,
    /// Envoy's remarks: places are in `loaded` (0) or `new` (1).
    pub remarks: Vec<Remark>,
    /// The result of asking it.
    pub asked: Asked,
    /// What the Envoy did; shown only with --verbose.
    pub notes: Vec<String>,
    /// What was read.
    pub scope: Scope,
}

/// Renders a config dump.
pub fn render(request: &RenderRequest, progress: &dyn Progress) -> Result<RenderReport, Error> {
    let RenderRequest { settings, given, .. } = request;
    given.one_standard_input(&[&request.files])?;
    let mesh = if given.any() {
        if request.files.is_empty() && !given.demo {
            return Err(Refusal::NoFilters.into());
        }
        manifests::mesh(settings, objects(&settings.load_options(), &request.files, given.demo), given, progress)?
    } else if let Some(pod) = &request.pod {
        named::mesh_with(settings, pod, &request.files, given, progress)?
    } else {
        return Err(Refusal::NoDump.into());
    };
    let trial = request.envoy.as_deref().map(Trial::start).transpose()?;
    // A cluster's dump already contains the effects of the applied filters; those of the files replace them.
    let now = &mesh.loaded.inventory.envoy_filters;
    let new = (mesh.is_read() && !request.files.is_empty()).then(|| {
        let options = crate::load::Options { namespace: mesh.namespace.clone(), ..settings.load_options() };
        objects(&options, &request.files, false)
    });
    let filters = new.as_ref().map_or_else(|| now.clone(), |new| replaced(now, &new.inventory.envoy_filters));
    let mut written: Vec<(&[_], &_)> = vec![(now.as_slice(), &mesh.loaded.sources)];
    written.extend(new.as_ref().map(|new| (new.inventory.envoy_filters.as_slice(), &new.sources)));
    let mut taken = Taken::default();
    let mut first: Option<Kept> = None;
    let mut rendered = 0;
    let wanted = |target: &Target| named::is(settings, request.pod.as_ref(), target);
    let lent = mesh.lent(&mesh.loaded.inventory.envoy_filters, given, &wanted)?;
    mesh.each(given, Layout::Kept, &wanted, &mut taken, &mut |problems, mut kept| {
        kept.dump.lend(Arc::clone(&lent));
        if let Err(problem) = kept.dump.config(&kept.identity) {
            problems.push(proxies::named(&kept.dump, problem));
            return Ok(());
        }
        rendered += 1;
        if first.is_none() {
            settings.secrets.with(|secrets| kept.dump.secrets(Wanted::All, secrets, &mut Searched::default()));
            first = Some(kept);
        }
        Ok(())
    })?;
    taken.problems.extend(unread::stop_the_others(&filters, &mesh.planes));
    let mut parts = Parts::default();
    let mut written_all = Ok(());
    let (mut remarks, mut asked, mut notes) = (Vec::new(), Asked::default(), Vec::new());
    if let Some(kept) = &first
        && let Some(config) = proxies::config(kept, &mut taken.problems)
        && let Some(plane) = mesh.planes.get(kept.plane)
    {
        let (old, program) = (Program::new(now, plane.release), Program::new(&filters, plane.release));
        let old = mesh.is_mesh().then_some(&old);
        let how = plane.mesh.clone().into();
        study::render(old, &program, &config, &how, |plan, base, undone, patched| {
            if request.only_changed {
                let mut text = Vec::new();
                written_all = dump::changed(&mut text, plan.schema, base, patched);
                parts.changed = Some(text);
            } else {
                parts.edits.extend(undone.iter().map(|(&resource, text)| match text {
                    Some(json) => Edit::Replace { resource, json: json.clone().into() },
                    None => Edit::Remove { resource },
                }));
                parts.edits.extend(dump::edits(plan.schema, config.field_names, patched));
            }
            let removed = patched.resources.iter().filter(|one| one.tree.is_none());
            parts.removed = removed.map(|one| (one.kind, one.name.clone())).collect();
            parts.unknown_routes.clone_from(&patched.unknown_routes);
            parts.unknown_services.clone_from(&patched.unknown_services);
            if let Some(trial) = &trial {
                (asked, remarks) = envoy::ask(trial, plan, base, &how.options, &written);
                notes.push(tried::story(trial));
            }
        });
    }
    written_all?;
    let scope = mesh.scope(given, &taken, filters.len());
    let Parts { edits, changed, removed, unknown_routes, unknown_services } = parts;
    Ok(RenderReport {
        dump: first.map(|kept| kept.dump),
        edits,
        changed,
        removed,
        unknown_routes,
        unknown_services,
        several: rendered > 1 && !mesh.is_read(),
        problems: taken.problems,
        remarks,
        asked,
        notes,
        scope,
        loaded: mesh.loaded,
        new,
    })
}

/// The engine's results.
#[derive(Default)]
struct Parts {
    edits: Vec<Edit<'static>>,
    changed: Option<Vec<u8>>,
    removed: Vec<(ResourceKind, String)>,
    unknown_routes: Vec<String>,
    unknown_services: Vec<String>,
}

//! Which control plane an audit of a mesh with several is about, and whose proxies it leaves out.

use super::audit_request::AuditRequest;
use super::planes::Plane;
use super::proxies::{self, Kept, Taken};
use super::read::Mesh;
use super::survey;
use crate::model::release::Release;
use crate::model::resource::ProxyConfig;
use crate::source::{Code, Problem, Severity};
use crate::words::{count, few};
use std::collections::{BTreeMap, BTreeSet};

/// The control plane of the audit, by its index, and the proxies that it judges, each with its own.
pub(super) fn configs<'d>(
    request: &AuditRequest,
    mesh: &Mesh<'_>,
    dumps: &'d [Kept],
    taken: &mut Taken,
) -> (usize, Vec<(usize, ProxyConfig<'d>)>) {
    let mut configs: Vec<(usize, ProxyConfig<'_>)> =
        dumps.iter().filter_map(|kept| Some((kept.plane, proxies::config(kept, &mut taken.problems)?))).collect();
    let own = own(request, mesh, &configs);
    if mesh.is_mesh() {
        leave_out_others(mesh, own, &mut configs, taken);
    }
    (own, configs)
}

/// The control plane of the audit: the revision that runs now, if it is named; otherwise the oldest with proxies
/// that were read, since every release after it is on the path of the upgrade.
fn own(request: &AuditRequest, mesh: &Mesh<'_>, configs: &[(usize, ProxyConfig<'_>)]) -> usize {
    if !request.revisions.0.is_empty() {
        return mesh.plane_of(&request.revisions.0);
    }
    let used: BTreeSet<usize> = configs.iter().map(|(number, _)| *number).collect();
    let release = |number: &usize| mesh.planes.get(*number).map(|plane| plane.release);
    used.into_iter().min_by_key(release).unwrap_or(0)
}

/// Drops the proxies of control planes with another root namespace, since one audit has one, and reports them.
fn leave_out_others(mesh: &Mesh<'_>, own: usize, configs: &mut Vec<(usize, ProxyConfig<'_>)>, taken: &mut Taken) {
    let Some(root) = mesh.planes.get(own).map(|plane| &plane.mesh.root_namespace) else { return };
    let mut others: BTreeMap<usize, usize> = BTreeMap::new();
    let is_other = |number: usize| mesh.planes.get(number).is_some_and(|plane| plane.mesh.root_namespace != *root);
    configs.retain(|(number, _)| {
        let other = is_other(*number);
        if other {
            *others.entry(*number).or_default() += 1;
        }
        !other
    });
    for (number, proxies) in others {
        let Some(plane) = mesh.planes.get(number) else { continue };
        let (of, root) = (named(plane), &plane.mesh.root_namespace);
        let revision = plane.revision.as_deref().unwrap_or_default();
        taken.problems.push(Problem {
            code: Code::OtherRevision,
            severity: Severity::Error,
            span: None,
            message: format!(
                "not audited: {} of control plane {of}, which has another root namespace, {root}",
                count(proxies, "proxy", "proxies")
            ),
            help: Some(format!("audit them by themselves with --revision-from {revision}")),
        });
    }
}

/// What the audit of a mesh does not cover although it reads as if it did: proxies with an older istiod than the first one of
/// the path, and EnvoyFilters of root namespaces beside those of a single namespace.
pub(super) fn uncovered(
    mesh: &Mesh<'_>,
    own: usize,
    from: Release,
    configs: &[(usize, ProxyConfig<'_>)],
) -> Vec<String> {
    let mut said = Vec::new();
    if !mesh.is_mesh() {
        return said;
    }
    let used: BTreeSet<usize> = configs.iter().map(|(number, _)| *number).filter(|number| *number != own).collect();
    let releases: BTreeSet<Release> =
        used.iter().chain([&own]).filter_map(|number| mesh.planes.get(*number)).map(|plane| plane.release).collect();
    let older = |number: &&usize| mesh.planes.get(**number).is_some_and(|plane| plane.release.minor < from.minor);
    for number in used.iter().filter(older) {
        let Some(plane) = mesh.planes.get(*number) else { continue };
        let proxies = configs.iter().filter(|(of, _)| of == number).count();
        said.push(format!(
            "{} of control plane {} upgrade from an older release than this audit starts with; audit them with \
             --revision-from {}",
            count(proxies, "proxy", "proxies"),
            named(plane),
            plane.revision.as_deref().unwrap_or_default(),
        ));
    }
    if releases.len() > 1 && said.is_empty() && releases.first().is_some_and(|first| first.minor == from.minor) {
        let all: Vec<String> = releases.iter().map(ToString::to_string).collect();
        said.push(format!(
            "the control planes of these proxies run Istio {}: the audit starts with {from}; --from or --revision-from starts \
             with another",
            all.join(" and ")
        ));
    }
    let asked = |name: &String| mesh.asked.as_ref().is_none_or(|asked| asked.contains(name));
    let roots: Vec<String> = survey::of_roots(mesh).into_iter().filter(|name| !asked(name)).collect();
    if let (Some(only), false) = (&mesh.only, roots.is_empty()) {
        const NAMED: usize = 4;
        said.push(format!(
            "not judged with -n {only}: {} of root namespaces that {} these proxies as well: {}",
            count(roots.len(), "EnvoyFilter", "EnvoyFilters"),
            if roots.len() == 1 { "reaches" } else { "reach" },
            few(&roots, roots.len(), NAMED)
        ));
    }
    said
}

/// A control plane with its release.
fn named(plane: &Plane) -> String {
    format!("{} (Istio {})", plane.revision.as_deref().unwrap_or_default(), plane.release)
}

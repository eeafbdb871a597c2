//! Patches that set the same in each direction.

use crate::migrate::base::catalog;
use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::objects::mesh::{Mesh, Proxies};
use crate::model::envoy_filter::PatchContext;

/// Maximum number of patches that are compared with each other; more are judged one by one.
const MAX_COMPARED: usize = 64;

/// Patches that set the same in each direction are as one patch for both: the indexes of the first one and of the others,
/// which get the answer of the first. `merges`: whether a patch may be one of them.
pub(in crate::migrate) fn both(
    cx: &Cx<'_>,
    parts: &mut [Part<'_>],
    merges: &dyn Fn(&Part<'_>) -> bool,
) -> Vec<(usize, usize)> {
    if !cx.filter.target_refs.is_empty() {
        return Vec::new();
    }
    let merges = |at: &usize| {
        let part = &parts[*at];
        part.found.is_none() && part.reach.is_whole() && merges(part)
    };
    let candidates: Vec<usize> = (0..parts.len()).filter(merges).collect();
    if candidates.len() > MAX_COMPARED {
        return Vec::new();
    }
    let mut pairs = Vec::new();
    for (number, &first) in candidates.iter().enumerate() {
        if pairs.iter().any(|(_, other)| *other == first) {
            continue;
        }
        let same = |other: &usize| {
            let (one, other) = (&parts[first], &parts[*other]);
            one.reach.context != other.reach.context
                && (&one.value.0, &one.defaults, &one.built.object, &one.built.patch.proxy)
                    == (&other.value.0, &other.defaults, &other.built.object, &other.built.patch.proxy)
        };
        let others: Vec<usize> = candidates[number + 1..].iter().copied().filter(same).collect();
        let has = |context: PatchContext| {
            parts[first].reach.context == context || others.iter().any(|at| parts[*at].reach.context == context)
        };
        if !has(PatchContext::SidecarInbound) || !has(PatchContext::SidecarOutbound) || has(PatchContext::Any) {
            continue;
        }
        let everything = has(PatchContext::Gateway) && cx.mesh.is_mesh_wide(cx.filter);
        let of_sidecars = |at: &usize| everything || parts[*at].reach.context != PatchContext::Gateway;
        // The settings of all selected pods, or of the namespace's, would also reach gateways among them.
        let mut workloads = cx.mesh.workloads(cx.filter).peekable();
        let known = cx.filter.namespace != cx.mesh.root && workloads.peek().is_some();
        let selected = (Mesh::is_narrow(cx.filter) || known) && !workloads.any(|one| cx.mesh.is_gateway(one));
        if !of_sidecars(&first) || !(everything || selected) {
            continue;
        }
        pairs.extend(others.iter().filter(|at| of_sidecars(at)).map(|other| (first, *other)));
        parts[first].reach.context = PatchContext::Any;
        if everything {
            parts[first].reach.proxies = Proxies::Both;
        } else if cx.mesh.workloads(cx.filter).next().is_none() {
            parts[first].reach.proxies = Proxies::Unknown;
        }
    }
    // Until the first one has its answer, the others must not be judged alone.
    for (_, other) in &pairs {
        parts[*other].answer(Move::none(&catalog::OTHER, ""));
    }
    pairs
}

/// Gives the others of [`both`] the answer of the first.
pub(in crate::migrate) fn share(parts: &mut [Part<'_>], pairs: &[(usize, usize)]) {
    for &(leader, other) in pairs {
        let index = parts[leader].built.patch.index;
        if let Some(found) = &parts[leader].found {
            let found = found.shared(index);
            parts[other].answer(found);
        }
    }
}

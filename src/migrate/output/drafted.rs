//! Everything that the patches that move become, in the order in which istiod applies their EnvoyFilters: where two set the same,
//! the later one wins.

use super::draft::Draft;
use crate::migrate::objects::mesh::Mesh;
use crate::migrate::{FilterReport, PatchReport};
use crate::model::envoy_filter::EnvoyFilter;

/// What is written for the filters. `order` has the positions of the reports.
pub(in crate::migrate) fn draft(
    mesh: &Mesh<'_>,
    filters: &[EnvoyFilter],
    order: &[usize],
    reports: &[FilterReport],
) -> Draft {
    let written = || {
        let all = order.iter().map(|at| &reports[*at]);
        all.flat_map(|report| report.patches.iter().map(|patch| (&filters[report.index], patch)))
            .filter(|(_, patch): &(&EnvoyFilter, &PatchReport)| patch.written)
    };
    let mut draft = Draft::default();
    for (filter, patch) in written() {
        draft.add_mesh(filter, &patch.found.actions);
    }
    // istiod inserts routes once the others are changed.
    for inserts in [false, true] {
        for (filter, patch) in written() {
            let actions = patch.found.actions.iter().filter(|action| action.adds_rule() == inserts);
            draft.add(mesh, filter, &patch.found.fills, actions);
        }
    }
    draft
}

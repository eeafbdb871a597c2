//! Filters after a terminal one.

use crate::engine::PatchId;

/// A filter after the first terminal filter of its list, caused by a patch.
#[derive(Debug)]
pub(crate) struct Behind {
    /// The patch.
    pub id: PatchId,
    /// The filter that this patch added.
    pub filter: String,
    /// The other filter: the terminal filter before it or, if the patch added that one, the filter after it.
    pub other: String,
    /// Whether both are terminal.
    pub both: bool,
}

//! What reports of findings share: fixes, counts, the comparison with istioctl.

pub mod fix;
pub mod istioctl;
pub(crate) mod summary;

//! Shared by reports of findings: fixes, counts, the comparison with istioctl.

pub mod fix;
pub mod istioctl;
pub(in crate::lint) mod layout;
pub(crate) mod summary;

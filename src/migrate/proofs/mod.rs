//! Two configurations of a proxy side by side: what differs, and what it means.

pub mod compare;
pub(crate) mod forms;
mod found;
pub(in crate::migrate) mod mutations;
pub(in crate::migrate) mod ports;
pub(crate) mod proof;
pub(in crate::migrate) mod rbac;
pub(crate) mod verify;

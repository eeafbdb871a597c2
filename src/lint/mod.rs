//! The linter: rules over what the engine computed, and the findings they give.

pub mod context;
pub mod document;
pub mod finding;
pub mod rule;
pub mod run;

pub use context::{Context, Knowledge, ProxyRun};
pub use finding::{Confidence, Edit, Finding, Findings, Fix, Label};
pub use rule::Rule;
pub use run::{Input, lint};

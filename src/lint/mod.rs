//! The linter: rules over what the engine computed, and the findings they give.

pub mod anchor;
pub mod baseline;
pub mod better;
pub mod config;
pub mod constraint;
pub mod context;
pub mod crd;
pub mod custom;
pub mod document;
pub mod extension;
pub mod extension_code;
pub mod finding;
pub mod fix;
pub mod glob;
pub mod guards;
pub mod istioctl;
pub mod live;
pub mod lua;
pub mod manifest;
pub mod names;
pub mod no_match;
pub mod pipeline;
pub mod ports;
pub mod reach;
pub mod rule;
pub mod run;
pub mod selection;
pub mod summary;
pub mod suppress;
pub mod traffic_policy;
pub mod tried;
pub mod upgrade;
pub mod value;
pub mod versions;

pub mod inert;
pub mod order;
pub mod seen;
pub mod walk;

pub use context::{Context, Knowledge, Live, ProxyRun};
pub use finding::{Confidence, Edit, Finding, Findings, Fix, Label};
pub use pipeline::{Checked, check, check_with, merged, only, only_with};
pub use rule::Rule;
pub use run::{Input, inspect, inspect_with, lint};

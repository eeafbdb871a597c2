//! What istiod does with `EnvoyFilter` objects, computed and explained: the library behind `kubectl envoyfilter`.
//!
//! The crate owns an exact model of istiod's patch code. [`study()`] turns *(configuration of a proxy, filters, release)* into a
//! [`Study`]: what istiod sends, what each patch did and why not. [`lint`], [`explain`], [`audit`] and their siblings answer
//! questions about files, captures and running meshes with it; they take a request and return a report.
//!
//! ```text
//! source ─ proto ─ model ─ load ─ engine ─▶ study ─▶ explain, lint + rules, audit ─▶ mesh ─▶ cli, admission ─▶ report
//! ```
//!
//! # Examples
//!
//! `examples/lint_text.rs` lints a string, `examples/explain_dump.rs` explains a config dump, and
//! `examples/own_rule.rs` writes a rule. They run in the tests.
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `cluster` | reading running meshes through the Kubernetes API |
//! | `admission` | the admission server |
//! | `custom-rules` | rules that users write in CEL |
//! | `bottle` | the real istiod on this machine |
//! | `sandbox` | requests through a real Envoy on this machine |
//! | `cli` | the command line, with the commands of the other features; alone it reads files, archives, captures and the demo |
//!
//! All are on by default. Without them the library needs neither tokio nor kube.

// Functions that only the command line calls are unused in smaller builds; the full build still reports unused code.
#![cfg_attr(
    not(all(
        feature = "cli",
        feature = "admission",
        feature = "bottle",
        feature = "custom-rules",
        feature = "sandbox"
    )),
    allow(dead_code, unused_imports, unreachable_pub)
)]

#[cfg(feature = "admission")]
pub mod admission;
pub mod audit;
#[cfg(feature = "sandbox")]
pub mod behaviour;
#[cfg(feature = "bottle")]
pub mod bottle;
pub mod budget;
#[cfg(feature = "cli")]
pub mod cli;
pub mod cluster;
pub mod demo;
#[cfg(feature = "admission")]
pub mod deploy;
pub mod engine;
pub mod envoy;
pub mod explain;
pub mod lint;
pub mod load;
pub mod lua;
pub mod mesh;
pub mod migrate;
pub mod model;
pub mod process;
pub mod proto;
pub mod report;
#[path = "../rules/mod.rs"]
pub mod rules;
pub mod source;
pub mod study;
pub mod trial;
#[cfg(feature = "admission")]
pub mod watch;
mod words;

pub use engine::{Outcome, Program};
pub use lint::Finding;
pub use mesh::{Error, LintReport, LintRequest, Scope, Settings};
pub use model::envoy_filter::EnvoyFilter;
pub use model::release::Release;
pub use model::resource::ProxyConfig;
pub use study::{Study, study};

//! From names to answers: where a run gets its EnvoyFilters and proxies, and one function for each question.
//!
//! Requests and reports are plain data; neither knows about a command line or a terminal. The namespaces, control planes and
//! proxies of an answer are decided here and are part of every report ([`Scope`]).

mod audit;
mod audit_planes;
mod audit_request;
mod between;
#[cfg(feature = "bottle")]
pub(crate) mod bottled;
#[cfg(feature = "cluster")]
mod capture;
mod chosen;
mod diff;
mod envoy;
mod error;
mod explain;
mod gateways;
mod lint;
#[cfg(feature = "cluster")]
pub(crate) mod live;
mod machines;
#[cfg(feature = "bottle")]
mod makers;
mod manifests;
mod migrate;
mod named;
mod newest;
#[cfg_attr(not(feature = "bottle"), path = "no_next.rs")]
mod next;
pub(crate) mod planes;
#[cfg(feature = "bottle")]
mod preview;
#[cfg(feature = "bottle")]
mod prove;
#[cfg(all(feature = "bottle", feature = "sandbox"))]
mod prove_traffic;
mod proxies;
mod read;
mod render;
#[cfg(feature = "sandbox")]
mod requests;
pub(crate) mod rules;
mod scope;
#[cfg(feature = "cluster")]
mod server_side;
mod settings;
#[cfg(feature = "cluster")]
pub(crate) mod single;
mod standing;
#[cfg(feature = "sandbox")]
mod subject;
pub(crate) mod survey;
mod unread;
mod versions;

pub(crate) use audit::{AuditReport, audit};
pub(crate) use audit_request::AuditRequest;
pub use between::{BetweenReport, BetweenRequest, EffectDifference, FilterDifference, State, between};
#[cfg(feature = "cluster")]
pub(crate) use capture::{CaptureRequest, capture};
#[cfg(not(feature = "bottle"))]
pub use diff::diff;
pub use diff::{DiffReport, DiffRequest, OutcomeChange, ProxyDiff};
pub(crate) use envoy::{Asked, Remark};
pub use error::{Error, Refusal, Unfixable};
pub use explain::{Answer, ExplainReport, ExplainRequest, Subject, WhyHere, explain};
pub use lint::{LintReport, LintRequest, NotChecked, Shard, UnreadProxies, lint};
#[cfg(feature = "bottle")]
pub(crate) use manifests::{only_files, read_for_istiod};
pub(crate) use migrate::{MigrateRequest, Prove, migrate};
pub(crate) use named::ProxyName;
#[cfg(feature = "bottle")]
pub use preview::diff;
pub(crate) use proxies::Given;
pub use render::{RenderReport, RenderRequest, render};
pub use scope::{Origin, PlaneScope, ProxyScope, Scope, Unread};
pub use settings::{Breadth, ClusterSettings, DEFAULT_ISTIO_NAMESPACE, IstiodSettings, Progress, Quiet, Settings};
#[cfg(feature = "sandbox")]
pub(crate) use subject::{Pair, SubjectRequest, subject};
pub(crate) use survey::{SurveyReport, SurveyRequest, survey};
pub(crate) use versions::{PlaneVersions, Versions, VersionsRequest, versions};

use crate::source::{Problem, Severity, Sources, alike};

/// A question without an answer, and what was read before that was known.
#[derive(Clone, Debug)]
pub struct Unanswered {
    /// Why.
    pub message: String,
    /// What to ask instead.
    pub help: Option<String>,
    /// The texts that the places of problems refer to.
    pub sources: Sources,
    /// What could not be read, which may be the reason.
    pub problems: Vec<Problem>,
}

/// Whether a problem means that part of the input is missing from the answer: users name an input because they need it.
pub(crate) fn is_serious(problem: &Problem) -> bool {
    problem.severity == Severity::Error || problem.code.is_empty_input()
}

/// Names similar to one that does not exist; `None` if there are none. A name without a namespace is compared with names only.
pub(crate) fn similar(asked: &str, names: &[String]) -> Option<String> {
    let bare = |name: &String| name.rsplit_once('/').map_or(name.clone(), |(_, name)| name.to_owned());
    let near: Vec<String> = if asked.contains('/') {
        let mut near = crate::explain::nearest(asked, names);
        near.retain(|one| alike::similar(asked, one));
        near
    } else {
        let near = crate::explain::nearest(asked, &names.iter().map(bare).collect::<Vec<_>>());
        let near: Vec<&String> = near.iter().filter(|one| alike::similar(asked, one)).collect();
        near.iter().flat_map(|one| names.iter().filter(move |name| bare(name) == **one)).cloned().collect()
    };
    (!near.is_empty()).then(|| format!("similar names: {}", near.join(", ")))
}

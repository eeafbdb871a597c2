//! What reports show of an audit: plain data, and the JSON of `schemas/audit.json`.

use crate::lint::upgrade::tell::Class;
use serde::{Serialize, Serializer};

/// Version of the JSON.
pub(crate) const API_VERSION: &str = "envoyfilter.dev/v1";

/// Whether to go ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing that works now stops or changes.
    Ready,
    /// Something does, and the report says what to write for all that breaks.
    ReadyAfterChanges,
    /// Something breaks for which the report has no rewritten filter, or could not be read.
    NotReady,
}

impl Verdict {
    /// What people read.
    pub const fn words(self) -> &'static str {
        match self {
            Verdict::Ready => "ready",
            Verdict::ReadyAfterChanges => "ready after these changes",
            Verdict::NotReady => "not ready",
        }
    }
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn class<S: Serializer>(class: &Option<Class>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(class.map_or("ready", Class::as_str))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn one_class<S: Serializer>(class: &Class, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(class.as_str())
}

/// What a release on the way was judged on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Basis {
    /// The release, such as `1.31`.
    pub release: String,
    /// `dumps`: what proxies have now; `computed`: an istiod of that release generated it; `forecast`: the dumps with the
    /// names and domains of that release.
    pub source: &'static str,
    /// Version of the istiod that computed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub istiod: Option<String>,
}

/// A resource that an upgrade changes although no EnvoyFilter is concerned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MeshChange {
    /// The proxy, `namespace/name`.
    pub proxy: String,
    /// `listener`, `cluster`, `route` or `extension config`.
    pub kind: &'static str,
    /// Name of the resource.
    pub name: String,
    /// `added`, `removed` or `changed`.
    pub change: &'static str,
}

/// An audit.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Audit {
    /// [`API_VERSION`].
    pub api_version: &'static str,
    /// `AuditReport`.
    pub kind: &'static str,
    /// The current release.
    pub from: String,
    /// The target.
    pub to: String,
    /// Every release on the way, both included.
    pub path: Vec<String>,
    /// Whether to go ahead.
    pub verdict: Verdict,
    /// Numbers.
    pub counts: Counts,
    /// The filters, the worst first.
    pub filters: Vec<Filter>,
    /// Patches at which istiod panics, with the filters that lose their effect by it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// Proxies that every filter treats alike.
    pub workloads: Vec<Workloads>,
    /// Who gets what while old and new run side by side.
    pub roll_out: Vec<RollOut>,
    /// The same for each group of workloads that is known.
    pub during: Vec<During>,
    /// What was not known, each as a sentence.
    pub unknown: Vec<String>,
    /// What could not be read.
    pub problems: Vec<String>,
    /// What each release was judged on; empty unless istiods were asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bases: Vec<Basis>,
    /// What changes from the first to the last release without any EnvoyFilter; absent unless it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all_changes: Option<Vec<MeshChange>>,
}

/// Numbers of an audit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// EnvoyFilters.
    pub filters: usize,
    /// Patches in them.
    pub patches: usize,
    /// Proxies looked at; made-up ones are not counted.
    pub workloads: usize,
    /// Config dumps among them.
    pub dumps: usize,
    /// Filters whose worst finding is of this class, without those that only lose their effect to the panic of another.
    pub breaks: usize,
    /// Filters that only lose their effect to the panic of another, see `causes`.
    pub lost_to_panics: usize,
    /// Filters that do not work before the upgrade either, see `today` of each.
    pub broken_today: usize,
    /// See `breaks`.
    pub changes: usize,
    /// See `breaks`.
    pub deprecated: usize,
    /// See `breaks`.
    pub cleanup: usize,
    /// Filters without a finding that work today.
    pub ready: usize,
    /// Findings.
    pub findings: usize,
    /// Findings that are suppressed.
    pub suppressed: usize,
}

/// A place in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

/// A filter.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Filter {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub source: Source,
    /// The class of its worst finding, or `ready`.
    #[serde(serialize_with = "class")]
    pub verdict: Option<Class>,
    /// How many patches it has.
    pub patches: usize,
    /// What is found, the worst first.
    pub findings: Vec<Finding>,
    /// What is wrong before the upgrade already.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub today: Vec<Today>,
    /// What it does on each group of workloads that it reaches.
    pub cells: Vec<Cell>,
    /// Filter chains that it changes, before and after the upgrade.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chains: Vec<Chain>,
    /// Its text as reports show it: without secrets.
    #[serde(skip_serializing)]
    pub text: String,
    /// `rewritten` in the same way.
    #[serde(skip_serializing)]
    pub shown: Option<String>,
    /// Its text with the fixes that are safe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rewritten: Option<String>,
}

/// An error that is there before the upgrade.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Today {
    /// `EF211`.
    pub code: &'static str,
    /// The rule's name.
    pub rule: &'static str,
    /// `certain` or `likely`.
    pub confidence: &'static str,
    /// What is wrong.
    pub message: String,
    /// Where.
    pub source: Source,
    /// Index of the patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<usize>,
}

/// A patch at which istiod panics after the upgrade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cause {
    /// `namespace/name` of its filter.
    pub filter: String,
    /// Index of the patch.
    pub patch: usize,
    /// `namespace/name` of the filters that lose their effect by it.
    pub loses: Vec<String>,
}

/// A finding.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// `EF601`.
    pub code: &'static str,
    /// The rule's name.
    pub rule: &'static str,
    /// What it means for the upgrade.
    #[serde(serialize_with = "one_class")]
    pub class: Class,
    /// `certain` or `likely`.
    pub confidence: &'static str,
    /// What happens.
    pub message: String,
    /// Why, and with what numbers.
    pub notes: Vec<String>,
    /// What to write instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Where.
    pub source: Source,
    /// Index of the patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<usize>,
    /// The steps at which it comes up.
    pub steps: Vec<Step>,
    /// The workloads it concerns.
    pub workloads: Vec<String>,
    /// What the fix does, and whether it is safe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

/// A step of an upgrade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The release before.
    pub from: String,
    /// The release after.
    pub to: String,
}

/// A change that removes a finding.
#[derive(Clone, Debug, Serialize)]
pub struct Fix {
    /// What it does.
    pub title: String,
    /// Whether the filter keeps its meaning.
    pub safe: bool,
}

/// Workloads that every filter treats alike.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Workloads {
    /// What to call the group: its first member.
    pub label: String,
    /// Sidecar, gateway or waypoint.
    pub kind: &'static str,
    /// How many they are; 0 for a made-up one.
    pub count: usize,
    /// Their names, the first of them.
    pub members: Vec<String>,
    /// `dump` or `reference`: what their configuration was known from.
    pub knowledge: &'static str,
}

/// A filter on a group of workloads.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cell {
    /// Index into the groups.
    pub workloads: usize,
    /// Patches with effect before the upgrade.
    pub before: usize,
    /// Patches with effect after it.
    pub after: usize,
    /// The class of the worst that happens there, or `ready`.
    #[serde(serialize_with = "class")]
    pub verdict: Option<Class>,
    /// Why, in a few words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// A filter chain before and after the upgrade, both with the filters applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Chain {
    /// Index into the groups of workloads.
    pub workloads: usize,
    /// The listener.
    pub listener: String,
    /// The filter chain.
    pub chain: String,
    /// `http` or `network`.
    pub level: &'static str,
    /// Before.
    pub before: Vec<Link>,
    /// After.
    pub after: Vec<Link>,
}

/// A filter in a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    /// Its name.
    pub name: String,
    /// `namespace/name` of the EnvoyFilter that wrote it; absent for istiod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Whether it is in the chain at this stage only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub only: bool,
    /// Not a filter: so many are left out here, of a long chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<usize>,
}

/// What a combination of control plane and proxies gives.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RollOut {
    /// Release of istiod.
    pub istiod: String,
    /// Its revision, where it has a name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub revision: String,
    /// Release of the proxies.
    pub proxies: String,
    /// Filters that have an effect on some proxy.
    pub effective: usize,
    /// Filters that lose their effect on some proxy, compared with the stage before the upgrade.
    pub lost: Vec<String>,
    /// Filters whose effect is new or another one on some proxy.
    pub changed: Vec<String>,
    /// What is refused there, and was not before.
    pub refused: Vec<String>,
}

/// A group of workloads during the roll-out.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct During {
    /// Index into the groups.
    pub workloads: usize,
    /// Where its proxies are now, as far as that is known, the most frequent place first.
    pub places: Vec<Place>,
    /// What it gets in each combination, in the order of `rollOut`.
    pub gets: Vec<Gets>,
}

/// Where proxies are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The revision.
    pub revision: String,
    /// The release of its istiod; empty when it is not known.
    pub istiod: String,
    /// The version of the proxies; empty when it is not known.
    pub proxies: String,
    /// How many.
    pub count: usize,
}

/// What a group of workloads gets from one combination of control plane and proxies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gets {
    /// Filters that have an effect.
    pub effective: usize,
    /// Filters that lose theirs, compared with the stage before the upgrade.
    pub lost: Vec<String>,
    /// Filters whose effect is new or another one.
    pub changed: Vec<String>,
    /// Filters of which something is refused there, and was not before.
    pub refused: Vec<String>,
}

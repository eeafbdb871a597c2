//! The output of `watch`: one line for each change, for people or as JSON.

use super::style::quoted;
use crate::explain::view::API_VERSION;
use crate::mesh::Scope;
use serde::Serialize;
use std::io::{self, Write};

/// Maximum number of characters of a message on a line for people.
const MOST: usize = 400;

/// What happened to a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Became {
    /// It existed at the first check.
    Present,
    /// It is new.
    Added,
    /// It changed.
    Changed,
    /// It is gone.
    Cleared,
}

impl Became {
    /// The keyword in JSON and in metrics.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Became::Present => "present",
            Became::Added => "added",
            Became::Changed => "changed",
            Became::Cleared => "cleared",
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Became::Present => "PRESENT",
            Became::Added => "ADDED",
            Became::Changed => "CHANGED",
            Became::Cleared => "CLEARED",
        }
    }
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trouble {
    /// Envoy rejected an update.
    Rejected,
    /// A proxy does not contain what a patch writes.
    NotInEffect,
    /// A proxy contains it in some places.
    PartlyInEffect,
    /// A patch has no effect on a proxy.
    NoEffect,
    /// Whether a patch has an effect on a proxy is unknown.
    UnknownEffect,
    /// Replicas of one workload differ.
    ReplicasDiffer,
    /// A proxy contains something that no EnvoyFilter explains.
    Leftover,
    /// A rule of lint found something.
    Finding,
    /// An EnvoyFilter selects no proxy.
    SelectsNothing,
    /// An EnvoyFilter cannot be judged.
    NotJudged,
    /// A proxy cannot be read.
    Unread,
    /// Objects of a kind cannot be watched.
    Unwatched,
}

impl Trouble {
    /// All of them.
    pub const ALL: [Trouble; 12] = [
        Trouble::Rejected,
        Trouble::NotInEffect,
        Trouble::PartlyInEffect,
        Trouble::NoEffect,
        Trouble::UnknownEffect,
        Trouble::ReplicasDiffer,
        Trouble::Leftover,
        Trouble::Finding,
        Trouble::SelectsNothing,
        Trouble::NotJudged,
        Trouble::Unread,
        Trouble::Unwatched,
    ];

    /// The keyword in JSON and in metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Trouble::Rejected => "rejected",
            Trouble::NotInEffect => "not-in-effect",
            Trouble::PartlyInEffect => "partly-in-effect",
            Trouble::NoEffect => "no-effect",
            Trouble::UnknownEffect => "unknown-effect",
            Trouble::ReplicasDiffer => "replicas-differ",
            Trouble::Leftover => "leftover",
            Trouble::Finding => "finding",
            Trouble::SelectsNothing => "selects-nothing",
            Trouble::NotJudged => "not-judged",
            Trouble::Unread => "unread",
            Trouble::Unwatched => "unwatched",
        }
    }

    /// The reason of a Kubernetes Event.
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            Trouble::Rejected => "UpdateRejected",
            Trouble::NotInEffect => "NotInEffect",
            Trouble::PartlyInEffect => "PartlyInEffect",
            Trouble::NoEffect => "NoEffect",
            Trouble::UnknownEffect => "UnknownEffect",
            Trouble::ReplicasDiffer => "ReplicasDiffer",
            Trouble::Leftover => "Leftover",
            Trouble::Finding => "Finding",
            Trouble::SelectsNothing => "SelectsNothing",
            Trouble::NotJudged => "NotJudged",
            Trouble::Unread => "Unread",
            Trouble::Unwatched => "Unwatched",
        }
    }
}

/// A problem as reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Notice {
    /// What is wrong.
    pub problem: Trouble,
    /// Namespace of the EnvoyFilter; absent if it is about none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Name of the EnvoyFilter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Index of the patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<usize>,
    /// Namespace of the workload; absent if it is about none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload_namespace: Option<String>,
    /// The workload, such as `deployment/cart`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// Code of the rule of a finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'static str>,
    /// Severity of a finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<&'static str>,
    /// In words.
    pub message: String,
    /// The same without Envoy's message, if it contains one.
    #[serde(skip)]
    pub short: Option<String>,
}

/// A line.
#[derive(Clone, Debug)]
pub(crate) enum Line {
    /// Something changed.
    Change {
        /// When, in RFC 3339.
        time: String,
        /// What happened to it.
        became: Became,
        /// What.
        notice: Notice,
    },
    /// The scope.
    Scope {
        /// When.
        time: String,
        /// What was read, of how much, and what was not.
        scope: Box<Scope>,
        /// Which part of the proxies this process reads, in words.
        part: String,
        /// Whether every proxy was asked once.
        complete: bool,
    },
}

/// The same as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Json<'l> {
    api_version: &'static str,
    kind: &'static str,
    time: &'l str,
    event: &'static str,
    #[serde(flatten)]
    notice: Option<&'l Notice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<&'l Scope>,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<&'l str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
}

impl Line {
    /// Writes it for people.
    pub(crate) fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Line::Change { time, became, notice } => {
                writeln!(out, "{time}  {:<8} {}", became.as_str(), quoted(&sentence(notice), MOST))
            }
            Line::Scope { time, scope, part, complete } => {
                let so_far = if *complete { "" } else { " so far" };
                let part = if part.is_empty() { String::new() } else { format!("; {part}") };
                let sentence = super::scope::sentence(scope);
                writeln!(out, "{time}  {:<8} {}", "SCOPE", quoted(&format!("{sentence}{so_far}{part}"), MOST * 4))?;
                let unread = scope.unread.iter();
                unread.take(MANY).try_for_each(|one| {
                    writeln!(out, "{time}  {:<8} not read: {}", "SCOPE", quoted(&one.message, MOST))
                })
            }
        }
    }

    /// Writes it as one line of JSON.
    pub(crate) fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let (api_version, kind) = (API_VERSION, "WatchEvent");
        let json = match self {
            Line::Change { time, became, notice } => {
                let event = became.key();
                let (scope, part, complete) = (None, None, None);
                Json { api_version, kind, time, event, notice: Some(notice), scope, part, complete }
            }
            Line::Scope { time, scope, part, complete } => {
                let part = Some(part.as_str()).filter(|part| !part.is_empty());
                let (scope, complete) = (Some(scope.as_ref()), Some(*complete));
                Json { api_version, kind, time, event: "scope", notice: None, scope, part, complete }
            }
        };
        serde_json::to_writer(&mut *out, &json)?;
        writeln!(out)
    }
}

/// Maximum number of reasons on lines of their own.
const MANY: usize = 5;

/// `shop/timeout patch 0 on deployment/cart: not in effect: …`.
fn sentence(notice: &Notice) -> String {
    let mut about = Vec::new();
    if let (Some(namespace), Some(name)) = (&notice.namespace, &notice.name) {
        about.push(format!("{namespace}/{name}"));
    }
    about.extend(notice.patch.map(|patch| format!("patch {patch}")));
    if let (Some(namespace), Some(workload)) = (&notice.workload_namespace, &notice.workload) {
        let on = if about.is_empty() { "" } else { "on " };
        about.push(format!("{on}{namespace}/{workload}"));
    }
    about.extend(notice.rule.map(str::to_owned));
    if about.is_empty() { notice.message.clone() } else { format!("{}: {}", about.join(" "), notice.message) }
}

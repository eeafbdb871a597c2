//! What could not be read: documents that no finding covers, and config dumps.

use crate::cluster::kinds::{self, Kind};
use crate::cluster::targets::Target;
use crate::engine::compat::Compat;
use crate::engine::program;
use crate::lint::document;
use crate::lint::summary::Summary;
use crate::load::Loaded;
use crate::load::capture::Capture;
use crate::mesh::planes::Plane;
use crate::model::envoy_filter::EnvoyFilter;
use crate::source::escape::one_line;
use crate::source::{Code, FileId, Problem, Severity, Span};
use crate::words::{self, count};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The texts that a question is about.
#[derive(Clone, Copy)]
pub(super) enum Named<'f> {
    /// Everything in a capture or a cluster.
    All,
    /// Files; of folders, not what is in them.
    Files(&'f [PathBuf]),
}

/// EnvoyFilters that stop istiod from reading the others, which a result shows as if it had read them.
pub(super) fn stop_the_others(filters: &[EnvoyFilter], planes: &[Plane]) -> Vec<Problem> {
    let releases: BTreeSet<_> = planes.iter().map(|plane| plane.release).collect();
    let of_release = |release| {
        let compat = Compat { release };
        let unreadable = |filter: &EnvoyFilter| program::unreadable(filter, compat);
        let (first, why) = filters.iter().find_map(|filter| Some((filter, unreadable(filter)?)))?;
        filters.iter().find(|filter| unreadable(filter).is_none())?;
        Some(Problem {
            code: Code::UnknownEnumValue,
            severity: Severity::Warning,
            span: None,
            message: format!(
                "istiod {release} cannot read EnvoyFilter {}/{}: {why}. While it exists, istiod reads no EnvoyFilter: the \
                 others are in effect only as istiod read them before, and changes to them do not reach proxies",
                one_line(&first.namespace),
                one_line(&first.name),
            ),
            help: Some("delete it, or rewrite it for this release".to_owned()),
        })
    };
    releases.into_iter().filter_map(of_release).collect()
}

/// Problems with unreadable documents that no finding covers. Those of a named file count; a folder may contain templates and
/// unrelated files, of which only the number is reported.
pub(super) fn beside(
    texts: Named<'_>,
    everything: bool,
    loaded: &Loaded,
    summary: &mut Summary,
    trouble: &mut Vec<String>,
) -> Vec<Problem> {
    let sources = &loaded.sources;
    let named = |span: Span| {
        let name = sources.get(span.file).name.as_str();
        match texts {
            Named::All => true,
            Named::Files(files) => name == "<stdin>" || files.iter().any(|file| file.display().to_string() == name),
        }
    };
    // A finding says so for the file.
    let templates: BTreeSet<FileId> = loaded
        .problems
        .iter()
        .filter(|problem| problem.code == Code::YamlTemplate && !document::unread_aside(sources, problem))
        .filter_map(|problem| Some(problem.span?.file))
        .collect();
    let (mut skipped, mut problems) = (Vec::new(), Vec::new());
    for problem in &loaded.problems {
        let Some(span) = problem.span else { continue };
        let unread = document::unread_aside(sources, problem);
        if unread && !named(span) {
            skipped.push(sources.place(span));
        } else if unread {
            trouble.push(format!("{}: {}", sources.place(span), problem.message));
        }
        // The loader reports the latter for named files only.
        let reported = problem.code == Code::YamlTemplate && templates.contains(&span.file);
        if (unread && !reported && (named(span) || everything)) || problem.code == Code::NotKubernetes {
            problems.push(problem.clone());
        }
    }
    if let Some(first) = skipped.first() {
        let documents = count(skipped.len(), "document", "documents");
        let more = if everything { "" } else { "; -v shows why" };
        summary.unknown.push(format!("cannot read {documents} without an EnvoyFilter, first {first}{more}"));
    }
    problems
}

/// Whether a capture contains all objects of a kind from its cluster. Older captures do not state what they contain.
pub(super) fn holds(capture: &Capture, kind: &Kind) -> bool {
    match capture.description.get("kinds").and_then(serde_json::Value::as_array) {
        Some(held) => held.iter().any(|one| one.as_str() == Some(&kind.resource())),
        // A bug report contains everything.
        None => capture.description.is_null() || kinds::CAPTURED_AT_FIRST.contains(&kind),
    }
}

/// Reports the parts of a mesh that istiod does not get because a capture does not contain them.
pub(super) fn lacking(capture: &Capture) -> Vec<Problem> {
    let problem = |message: String, help: &str| Problem {
        code: Code::CannotList,
        severity: Severity::Error,
        span: None,
        message,
        help: Some(help.to_owned()),
    };
    let missing: Vec<String> =
        kinds::CAPTURE.kinds.iter().filter(|kind| !holds(capture, kind)).map(|kind| kind.resource()).collect();
    let mut problems = Vec::new();
    if !missing.is_empty() {
        let message = format!("the capture does not hold all {}: {}", missing.join(", "), kinds::UNSEEN);
        problems
            .push(problem(message, "capture the mesh again with this version, and with the role of `rbac capture`"));
    }
    if let Some(only) = capture.namespace() {
        let message = format!("the capture is of namespace {only}: {} of other namespaces", kinds::UNSEEN_OBJECTS);
        problems.push(problem(message, "capture all namespaces: leave -n out"));
    }
    problems
}

/// Reports that a question is about a namespace outside a capture.
pub(super) fn outside(captured: &str, asked: &str) -> Problem {
    Problem {
        code: Code::CannotList,
        severity: Severity::Error,
        span: None,
        message: format!(
            "the capture covers only namespace {captured}: the objects and proxies of namespace {asked} are unknown"
        ),
        help: Some(format!("capture namespace {asked}, or all namespaces: leave -n out")),
    }
}

/// Reports that a question is about all namespaces, and a capture only of one.
pub(super) fn beyond(captured: &str) -> Problem {
    Problem {
        code: Code::CannotList,
        severity: Severity::Error,
        span: None,
        message: format!(
            "the capture covers only namespace {captured}: the objects and proxies of other namespaces are unknown"
        ),
        help: Some("capture all namespaces: leave -n out".to_owned()),
    }
}

/// Whether the dump of a proxy of the mesh ends early: what is missing from it would count as absent.
pub(super) fn is_cut(found: &[Problem]) -> bool {
    found.iter().any(|one| matches!(one.code, Code::DumpTruncated | Code::DumpNotJson))
}

/// Why a dump that ends early is not used.
pub(super) const CUT: &str = "it ends early, so what is missing from it is unknown";

/// Reports that dumps are not what the proxies run with.
pub(super) fn sent_by_istiod(proxies: usize) -> Option<Problem> {
    (proxies > 0).then(|| Problem {
        code: Code::DumpOfIstiod,
        severity: Severity::Warning,
        span: None,
        message: format!(
            "the configuration of {} is what istiod would send now, not what the proxies run with",
            count(proxies, "proxy", "proxies")
        ),
        help: Some("allow pods/portforward or pods/exec to read the proxies themselves".to_owned()),
    })
}

/// Stands for the name of a pod in the reasons that several pods share; no message contains it.
const NAME: &str = "\0";

/// Pods whose dumps could not be read, by reason.
#[derive(Default)]
pub(super) struct Missing {
    /// With what may help.
    reasons: BTreeMap<(String, &'static str), Vec<String>>,
    not_ready: BTreeSet<String>,
    /// Proxies that were not read because the user stopped it.
    pub(super) interrupted: usize,
}

impl Missing {
    /// Adds a pod with the reasons and the advice for it.
    pub(super) fn add(&mut self, target: &Target, reasons: &[String], help: &'static str) {
        if target.ready {
            // With the pod's name in it, every message would be different.
            let reason = reasons.join("; ").replace(&target.pod, NAME);
            self.reasons.entry((reason, help)).or_default().push(target.full_name());
        } else {
            self.not_ready.insert(target.full_name());
        }
    }

    /// Reports them.
    pub(super) fn note(self, problems: &mut Vec<Problem>) {
        let mut add = |code, severity, message: String, help: Option<&str>| {
            problems.push(Problem { code, severity, span: None, message, help: help.map(str::to_owned) });
        };
        for ((reason, help), pods) in self.reasons {
            let proxies = few(&pods);
            let only = pods.first().filter(|_| pods.len() == 1).and_then(|pod| pod.split_once('/'));
            let reason = reason.replace(NAME, only.map_or("POD", |(_, name)| name));
            add(Code::NoDump, Severity::Error, format!("no config dump of {proxies}: {reason}"), Some(help));
        }
        if !self.not_ready.is_empty() {
            let pods: Vec<String> = self.not_ready.into_iter().collect();
            add(Code::NotReady, Severity::Warning, format!("no config dump of {}: not ready", few(&pods)), None);
        }
        if self.interrupted > 0 {
            let proxies = count(self.interrupted, "proxy was", "proxies were");
            add(Code::Interrupted, Severity::Error, format!("interrupted: {proxies} not read"), None);
        }
    }
}

/// The first of some pods, and the number of others.
fn few(pods: &[String]) -> String {
    const SHOWN: usize = 3;
    words::few(pods, pods.len(), SHOWN)
}

//! The texts of upgrade findings: what happens, which proxies are affected, and what to write for both releases.

use super::snapshot::{PatchChange, Upgrade};
use crate::lint::facts::context::{Context, PatchView};
use crate::lint::facts::names::listed;
use crate::lint::finding::{Edit, Finding};
use crate::lint::rule::{Meaning, RuleInfo};
use crate::model::release::Release;
use crate::source::{Severity, Span};

/// What a finding means for the upgrade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Something is no longer needed.
    Cleanup,
    /// It works, but a later release rejects it.
    Deprecated,
    /// It behaves differently; check whether that is wanted.
    Changes,
    /// It no longer works.
    Breaks,
}

impl Class {
    /// Every class, the worst first.
    pub(crate) const ALL: [Class; 4] = [Class::Breaks, Class::Changes, Class::Deprecated, Class::Cleanup];

    /// The word in reports and options.
    pub const fn as_str(self) -> &'static str {
        match self {
            Class::Breaks => "breaks",
            Class::Changes => "changes",
            Class::Deprecated => "deprecated",
            Class::Cleanup => "cleanup",
        }
    }

    /// The class of a finding: that of its rule, unless its severity makes this case milder or worse.
    pub fn of(finding: &Finding) -> Class {
        match (finding.rule.meaning, finding.severity) {
            (Meaning::Deprecated, _) => Class::Deprecated,
            (_, Severity::Error) => Class::Breaks,
            (_, Severity::Warning) => Class::Changes,
            (_, Severity::Info) => Class::Cleanup,
        }
    }
}

/// `1.27`.
pub(crate) fn short(release: Release) -> String {
    format!("{}.{}", release.major, release.minor)
}

/// `since Istio 1.27`, for the release of istiod after the upgrade.
pub(crate) fn from_on(upgrade: &Upgrade) -> String {
    if upgrade.before.release == upgrade.after.release {
        return format!("with proxies of Istio {}", short(upgrade.after.proxies));
    }
    format!("since Istio {}", short(upgrade.after.release))
}

/// A finding about a change, with the affected proxies.
pub(crate) fn finding(
    rule: &'static RuleInfo,
    cx: &Context<'_>,
    upgrade: &Upgrade,
    change: &PatchChange,
    span: Span,
    message: String,
) -> Finding {
    let filter = &cx.filters[change.filter];
    let mut labels: Vec<String> = Vec::new();
    let mut kinds: Vec<&str> = Vec::new();
    for run in change.runs.iter().filter_map(|&run| upgrade.after.runs.get(run)) {
        kinds.push(run.kind.as_str());
        if !run.made_up {
            labels.push(run.label.clone());
        }
    }
    kinds.sort_unstable();
    kinds.dedup();
    let finding = Finding::new(rule, span, message).of(filter, change.patch);
    let finding = if change.likely {
        finding.judged_on(&kinds)
    } else {
        let attached = upgrade.before.runs.iter().filter(|run| run.filters.contains_key(&change.filter)).count();
        let hit = change.runs.len();
        if attached > 1 && hit <= attached {
            finding.note(format!("on {hit} of the {attached} proxies it attaches to"))
        } else {
            finding
        }
    };
    finding.workloads(labels)
}

/// The names of the first few places.
pub(crate) fn places(places: &[String], all: usize) -> String {
    let text = listed(places.iter().take(2).map(String::as_str), 2);
    let more = all.saturating_sub(places.len().min(2));
    if more > 0 { format!("{text} and {more} more") } else { text }
}

/// The patch behind a change.
pub(crate) fn view<'a>(cx: &Context<'a>, change: &PatchChange) -> Option<PatchView<'a>> {
    let patch = change.patch?;
    cx.patches().find(|view| view.filter_index == change.filter && view.patch.index == patch)
}

/// The edit that copies a patch below itself, once for each list of replacements, so that exactly one of them matches
/// at each stage of the upgrade. `None` if the document is not block YAML.
pub(crate) fn twins(cx: &Context<'_>, view: &PatchView<'_>, replaced: &[Vec<(Span, String)>]) -> Option<Edit> {
    let item = view.patch.span;
    let text = &cx.sources.get(item.file).text;
    let (start, end) = (item.start as usize, item.end as usize);
    let line = text.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
    let lead = text.get(line..start)?;
    if !lead.trim_start().starts_with('-') || lead.trim_start().trim_start_matches('-').contains(|c: char| c != ' ') {
        return None;
    }
    let body = text.get(start..end)?.trim_end();
    let mut all = String::new();
    for replaced in replaced {
        let mut twin = body.to_owned();
        let mut edits: Vec<&(Span, String)> = replaced.iter().collect();
        edits.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
        for (span, new) in edits {
            let from = (span.start as usize).checked_sub(start)?;
            let to = (span.end as usize).checked_sub(start)?;
            twin.get(from..to)?;
            twin.replace_range(from..to, new);
        }
        all = format!("{all}\n{lead}{twin}");
    }
    let at = u32::try_from(start + body.len()).ok()?;
    Some(Edit { span: Span { start: at, end: at, ..item }, text: all })
}

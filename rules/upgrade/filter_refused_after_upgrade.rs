//! EF607: a filter that the API of one of the two releases rejects.

use crate::declare_rule;
use crate::lint::crd::{self, Objection, Verdict};
use crate::lint::upgrade::{Upgrade, tell};
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::model::envoy_filter::{EnvoyFilter, Patch};
use crate::model::proxy::REVISION_LABEL;
use crate::model::release::Release;
use crate::source::{Severity, Step};

declare_rule! {
    /// An EnvoyFilter that the API of one of the two releases rejects.
    ///
    /// # What it finds
    /// A filter with a value that the EnvoyFilter API of a release along the way does not have: context WAYPOINT before
    /// 1.29, operation MERGE_AND_REPLACE_LIST before 1.31. This affects downgrades, and upgrades in which two control
    /// planes share the API server. Also values that only one of the two CustomResourceDefinitions rejects (EF030:
    /// kinds and names of `targetRefs`, both selections, long labels, ports of `match.waypoint`) or drops when the
    /// filter is applied: `targetRefs` before 1.22, `domainName` before 1.25, `match.waypoint` before 1.29. With
    /// `--revision-from` and `--revision-to`, also a filter whose label `istio.io/rev` names one of the two: the other
    /// istiod ignores it. Only `audit` reports it, since it compares two releases.
    ///
    /// # Why it matters
    /// All revisions share the CustomResourceDefinition: an istiod that does not know a value cannot read the list of
    /// EnvoyFilters in which this one is. It goes on with those that it read before; changes to *any* EnvoyFilter do
    /// not reach its proxies, and after a restart it does not become ready. A stored filter that a new definition
    /// rejects stays, but can no longer be applied or changed; what an old definition dropped stays missing until the
    /// filter is applied again.
    ///
    /// # How to fix
    /// Write only what both releases know until the older one is gone.
    ///
    /// # References
    /// Recordings of istiod 1.28 and 1.31; istiod 1.30 with version 1.30.3 of the module istio.io/api and a real API server,
    /// whose reader (`jsonpb` of github.com/golang/protobuf 1.5.4) fails with `unknown value`; `pkg/config/model.go`,
    /// `LabelsInRevision`; `customresourcedefinitions.gen.yaml` of the module istio.io/api, 1.19 to 1.31.
    "EF607" "filter-refused-after-upgrade" Upgrade Error => check,
    needs: &[Upgrade], changes: &[Change::Refused], meaning: Rejected
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let Some(upgrade) = cx.upgrade.as_deref() else { return };
    for (index, filter) in cx.filters.iter().enumerate() {
        definitions(rule, filter, upgrade, out);
        let before = upgrade.before.refused.get(index).copied().flatten();
        let after = upgrade.after.refused.get(index).copied().flatten();
        let (Some(why), release) = (match (before, after) {
            (None, Some(why)) => (Some(why), upgrade.after.release),
            // After a rollback, or with both control planes running, the old one cannot read what the new one accepts.
            (Some(why), None) => (Some(why), upgrade.before.release),
            _ => (None, upgrade.after.release),
        }) else {
            continue;
        };
        let release = tell::short(release);
        let Some((value, keys)) = why.value() else {
            out.push(other_revision(rule, cx, index, &release, after.is_some()));
            continue;
        };
        let written = |patch: &Patch| {
            let mut route = filter.patch_route(patch.index);
            route.extend(keys.iter().map(|key| Step::from(*key)));
            let node = filter.document.at(&route)?;
            (node.as_str() == Some(value)).then_some(node.span)
        };
        let span = filter.patches.iter().find_map(written).unwrap_or_else(|| cx.filters[index].name_span());
        let mut finding = Finding::new(rule, span, format!("Istio {release} cannot read this filter: {why}"))
            .label("unknown to it")
            .note(crd::reads_none("an istiod of that release"))
            .of(filter, None);
        if after.is_none() {
            finding = finding
                .severity(Severity::Warning)
                .help("apply the filter after the last control plane of that release is gone");
        } else {
            finding =
                finding.help("delete the filter, or rewrite the patch, before a control plane of that release starts");
        }
        out.push(finding);
    }
}

/// What only one of the two definitions rejects or drops; if istiod cannot read it either, that is reported instead.
fn definitions(rule: &'static RuleInfo, filter: &EnvoyFilter, upgrade: &Upgrade, out: &mut Findings) {
    let (before, after) = (upgrade.before.release, upgrade.after.release);
    let now = crd::objections(filter, before);
    let then = crd::objections(filter, after);
    let readable = |one: &&Objection| !one.unread;
    for one in then.iter().filter(readable).filter(|one| !now.contains(one)) {
        let finding = objected(rule, filter, one, after);
        out.push(match one.verdict {
            Verdict::Refused => finding
                .note("a filter that is stored stays, and stays in effect; applying or changing it is rejected")
                .help("correct it before the upgrade"),
            Verdict::Dropped => finding.note("a filter that is stored keeps it until it is applied again"),
        });
    }
    // A place that is rejected afterwards does not have to be applied again.
    let still = |one: &&Objection| then.iter().all(|other| other.span != one.span);
    for one in now.iter().filter(readable).filter(still) {
        out.push(objected(rule, filter, one, before).note(match one.verdict {
            Verdict::Refused => {
                "the filter can be applied once the CustomResourceDefinition of the new release is installed"
            }
            Verdict::Dropped => {
                "filters applied before are stored without it: apply the filter again after the upgrade"
            }
        }));
    }
}

fn objected(rule: &'static RuleInfo, filter: &EnvoyFilter, one: &Objection, release: Release) -> Finding {
    let release = tell::short(release);
    let does = match one.verdict {
        Verdict::Refused => "refuses",
        Verdict::Dropped => "drops",
    };
    Finding::new(rule, one.span, format!("the API server {does} this with Istio {release}: {}", one.why))
        .severity(Severity::Warning)
        .label(format!("so {}", one.releases.words()))
        .of(filter, one.patch)
}

/// A filter that only one of the two revisions reads.
fn other_revision(rule: &'static RuleInfo, cx: &Context<'_>, index: usize, release: &str, lost: bool) -> Finding {
    let filter = &cx.filters[index];
    let route = ["metadata", "labels", REVISION_LABEL].map(Step::from);
    let revision = filter.labels.get(REVISION_LABEL).map_or("", String::as_str);
    let finding = Finding::new(
        rule,
        filter.document.key_span(&route),
        format!("the istiod of Istio {release} ignores this filter: it is labeled for revision {revision}"),
    )
    .of(filter, None);
    if lost {
        finding
            .label("for the old revision only")
            .note("every proxy that moves to the new revision runs without it")
            .help(format!("apply a copy with the label of the new revision, or remove the label `{REVISION_LABEL}`"))
    } else {
        finding
            .severity(Severity::Warning)
            .label("for the new revision only")
            .note("it begins to apply with each proxy that moves to the new revision")
    }
}

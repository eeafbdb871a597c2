//! EF802: a running proxy that holds different values than a patch writes.

use crate::declare_rule;
use crate::lint::live::{self, Standing};
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Severity;
use crate::study::InEffect;

declare_rule! {
    /// A running proxy that holds different values than a patch in the cluster writes.
    ///
    /// # What it finds
    /// Patches of filters from the API server that match an object of a config dump with different values than the
    /// patch writes, although other patches of the filter are in effect there; or that are in effect on only some of
    /// the objects they match. Later patches are taken into account.
    ///
    /// # Why it matters
    /// The proxy runs with an older version of the filter, or something else writes the same field. If the document has
    /// `managedFields`, the finding says who wrote the filter last, and when.
    ///
    /// # How to fix
    /// Take a new dump if the filter was edited after the proxy's last update. Otherwise find out what else writes the
    /// value.
    ///
    /// # References
    /// Envoy admin API `config_dump`; Kubernetes `metadata.managedFields`.
    "EF802" "patch-contradicted" Live Warning => check,
    needs: &[Live]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (view, standing) in live::standings(cx) {
        let edit = live::last_edit(view.filter);
        let split = live::split(&standing);
        let other: Vec<&Standing<'_, '_>> = standing
            .iter()
            .filter(|one| {
                one.in_effect != InEffect::Yes && one.older_version() && !live::reported_elsewhere(one, &split)
            })
            .collect();
        let Some(first) = other.first() else { continue };
        let partly = other.iter().filter(|one| one.in_effect == InEffect::Partly).count();
        let message = if partly == other.len() {
            "in effect on some objects only"
        } else {
            "a running proxy holds different values"
        };
        let mut finding =
            view.finding(rule, view.key_span(&["patch"]), message).label("the dump contains something else");
        finding = live::on(finding, &other, standing.len(), "so on");
        let instead = first.instead();
        for line in instead.iter().take(3) {
            finding = finding.note(line.clone());
        }
        if instead.len() > 3 {
            finding = finding.note(format!("and {} more", instead.len() - 3));
        }
        let newer = edit.as_ref().zip(first.updated()).filter(|(edit, (updated, _))| edit.time > *updated);
        if let Some((edit, (_, updated))) = newer {
            finding = finding
                .severity(Severity::Info)
                .note(format!("the EnvoyFilter was {}; the proxy's last update is of {updated}", edit.words()))
                .help("take a new dump: the push may have arrived since");
        } else if let Some(edit) = &edit {
            finding = finding.note(format!("the EnvoyFilter was {}, before the proxy's last update", edit.words()));
        }
        out.push(finding);
    }
}

//! EF801: a patch that is not in effect on a running proxy.

use crate::declare_rule;
use crate::lint::live::{self, Standing};
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Severity;
use crate::study::InEffect;

declare_rule! {
    /// A patch that should be in effect on a running proxy but is not.
    ///
    /// # What it finds
    /// Patches of filters from the API server (the document has a `uid`, `resourceVersion` or `creationTimestamp`)
    /// whose effect is missing in the config dump of a proxy that the filter attaches to. The filters are undone in the
    /// dump and replayed: with the patch the result differs from the dump; if it is equal without the patch, the
    /// finding is certain.
    ///
    /// # Why it matters
    /// The filter looks applied, but traffic is not affected. A dump that is older than the filter explains it, and
    /// then this is only an info; so does a control plane of another revision. Otherwise istiod has not pushed the
    /// filter, or the proxy has not accepted the push.
    ///
    /// # How to fix
    /// Take a new dump if the dump is old. Otherwise compare `istioctl proxy-status`, the revision labels, and istiod's
    /// log.
    ///
    /// # References
    /// Envoy admin API `config_dump`, `last_updated`; istiod `pilot/pkg/model/push_context.go`.
    "EF801" "patch-not-in-effect" Live Warning => check,
    needs: &[Live]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (view, standing) in live::standings(cx) {
        let edit = live::last_edit(view.filter);
        let split = live::split(&standing);
        // Another rule reports older versions of the filter.
        let missing: Vec<&Standing<'_, '_>> = standing
            .iter()
            .filter(|one| {
                one.in_effect == InEffect::No && !one.older_version() && !live::reported_elsewhere(one, &split)
            })
            .collect();
        let Some(first) = missing.first() else { continue };
        let older = |one: &&Standing<'_, '_>| {
            edit.as_ref().zip(one.updated()).is_some_and(|(edit, (updated, _))| edit.time > updated)
        };
        let revision = missing.iter().find_map(|one| one.other_revision(view.filter));
        let mut finding = view
            .finding(rule, view.key_span(&["patch"]), "not in effect on a running proxy")
            .label("the dump shows none of this");
        finding = live::on(finding, &missing, standing.len(), "missing on");
        for line in first.instead().into_iter().take(2) {
            finding = finding.note(line);
        }
        if missing.iter().all(older) {
            let (edit, updated) = (edit.map(|edit| edit.words()), first.updated().map(|(_, text)| text));
            finding = finding
                .severity(Severity::Info)
                .note(format!(
                    "the EnvoyFilter was {}, and the proxy last accepted an update of what it changes at {}",
                    edit.unwrap_or_default(),
                    updated.unwrap_or_default()
                ))
                .help("take a new dump: the push may have arrived since");
        } else if let Some((wanted, have)) = revision {
            finding = finding
                .note(format!("the filter is for revision `{wanted}`, the proxy belongs to `{have}`"))
                .help("set the filter's label to the proxies' revision, or remove it");
        } else {
            finding = finding
                .note("istiod has not pushed it, or the proxy has not accepted the push")
                .help("compare `istioctl proxy-status` and istiod's log");
        }
        out.push(finding);
    }
}

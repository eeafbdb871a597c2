//! EF721: a DestinationRule that hides another one's outlier detection, TLS settings or subsets.

use crate::declare_rule;
use crate::lint::facts::destination::hidden_rules;
use crate::lint::{Context, Finding, Findings, RuleInfo};

declare_rule! {
    /// A DestinationRule that hides outlier detection, TLS settings or subsets of another one for the same host.
    ///
    /// # What it finds
    /// A DestinationRule in a client's namespace, or with a `workloadSelector`, for a host that another DestinationRule
    /// configures with `outlierDetection`, `tls` or subsets that this one does not have.
    ///
    /// # Why it matters
    /// istiod does not merge the two: clients get the settings of one. Without outlier detection, failing endpoints stay in
    /// use; without the subset, its cluster does not exist and routes to it answer 503. It often happens when a setting
    /// moves from an EnvoyFilter to a new DestinationRule.
    ///
    /// # How to fix
    /// Copy the missing settings. `kubectl envoyfilter migrate` does so for the objects that it writes.
    ///
    /// # References
    /// istiod `destinationRule` in `pilot/pkg/model/push_context.go`, releases 1.22 to 1.31.
    "EF721" "destination-rule-hides-another" Native Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for one in hidden_rules(cx) {
        let document = &one.rule.object.document;
        let span = document.key_span(&["spec".into(), "host".into()]);
        let lost = one.lost.join(", ");
        let message = format!("{} hides {}: {} lose {lost}", one.ours(), one.theirs(), one.clients());
        let finding = Finding::new(rule, span, message)
            .label("the same host")
            .note(one.why(&cx.mesh.root_namespace))
            .help(format!("copy {lost} to {}", one.ours()));
        out.push(finding);
    }
}

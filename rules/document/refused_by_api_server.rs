//! EF030: what the CustomResourceDefinition of this release rejects.

use crate::declare_rule;
use crate::lint::crd::{self, Verdict};
use crate::lint::{Context, Finding, Findings, RuleInfo};

declare_rule! {
    /// A value that the CustomResourceDefinition of this Istio release rejects.
    ///
    /// # What it finds
    /// Values that the CustomResourceDefinition of the release rejects or does not know: `targetRefs` without kind or
    /// name, with a name that is too long or another namespace, more than 16 of them, kinds that 1.23 and 1.24 do not
    /// list; `context: WAYPOINT` without `match.waypoint`, or `match.waypoint` with another context; its ports over
    /// 6553 before 1.29.3; `operation: MERGE_AND_REPLACE_LIST` before 1.31.
    ///
    /// # Why it matters
    /// The API server answers `kubectl apply` with an error, and the filter never reaches istiod. A filter that was
    /// stored before the definition was updated stays, but changing it is rejected. Revisions share the definition:
    /// where a newer one accepts a value that an older istiod does not know, that istiod reads no EnvoyFilter at all.
    ///
    /// # How to fix
    /// Follow the message.
    ///
    /// # References
    /// `kubernetes/customresourcedefinitions.gen.yaml` of the module istio.io/api, 1.19 to 1.31, compared line by line.
    "EF030" "refused-by-api-server" Document Error => check,
    policy: Never("the CustomResourceDefinition rejects it already")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for filter in cx.filters {
        for found in crd::objections(filter, cx.release) {
            if found.verdict == Verdict::Refused && found.reported_as.is_none() {
                let message = format!("the API server rejects the EnvoyFilter: {}", found.why);
                let mut finding = Finding::new(rule, found.span, message)
                    .label(format!("rejected {}", found.releases.words()))
                    .at_line(Some(found.span))
                    .of(filter, found.patch);
                if found.unread {
                    finding = finding
                        .note(
                            "if the CustomResourceDefinitions of a newer release are installed, it accepts the filter",
                        )
                        .note(crd::reads_none("an istiod of this release"));
                }
                out.push(finding);
            }
        }
    }
}

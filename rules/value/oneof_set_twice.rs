//! EF106: two fields are set, but a message can have only one of them.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};
use crate::proto::decode::What;

declare_rule! {
    /// Two fields are set, but only one of them is allowed.
    ///
    /// # What it finds
    /// Two members of one oneof in one message, such as `prefix` and `path` of a route's `match`.
    ///
    /// # Why it matters
    /// istiod keeps the one declared last in the proto file, whatever the order in the YAML, and silently drops the other.
    /// In a TypedStruct the proxy rejects the message.
    ///
    /// # How to fix
    /// Remove one of them.
    ///
    /// # References
    /// protobuf, "Oneof"; istiod's jsonpb sets fields in the order of declaration, releases 1.22 to 1.31.
    "EF106" "oneof-set-twice" Value Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for noticed in &value.notices {
            let What::OneofTwice { lost, kept } = noticed.notice.what else { continue };
            let parent = noticed.notice.route.split_last().and_then(|(_, parent)| value.object_at(parent));
            let place = |name: &str| Some(parent?.member(name)?.entry.key_span);
            let span = place(lost).unwrap_or_else(|| value.notice_span(&noticed.notice));
            let message = format!(
                "`{lost}` and `{kept}` are both set, but a `{}` can hold only one of them",
                crate::lint::value::short(noticed.notice.message)
            );
            let mut finding = value.finding(rule, span, message);
            finding = if noticed.in_typed_struct {
                finding.label("the other is set too").rejected("the proxy rejects a message with both")
            } else {
                finding
                    .label("dropped by istiod")
                    .note(format!("istiod keeps `{kept}`, which the proto file declares later"))
            };
            if let Some(span) = place(kept) {
                finding = finding.related(span, "the other one");
            }
            out.push(finding);
        }
    }
}

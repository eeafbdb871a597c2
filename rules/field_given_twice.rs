//! EF132: one field under two spellings.

use crate::declare_rule;
use crate::lint::{Context, Findings, Rule};
use crate::proto::decode::What;

declare_rule! {
    /// One field given under two spellings.
    ///
    /// # What it finds
    /// A message with a field in snake_case and in camelCase: `stat_prefix` and `statPrefix`.
    ///
    /// # Why it matters
    /// Both mean the same field; istiod keeps the camelCase one and drops the other without a word.
    ///
    /// # How to fix
    /// Remove one.
    ///
    /// # References
    /// protobuf's JSON mapping; istiod reads values with golang/protobuf `jsonpb`, releases 1.22 to 1.31.
    "EF132" "field-given-twice" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for noticed in value.notices.iter().filter(|noticed| noticed.notice.what == What::NameTwice) {
            let span = value.notice_span(&noticed.notice);
            out.push(
                value
                    .finding(rule, span, "this field is given twice, in snake_case and in camelCase")
                    .label("the second spelling")
                    .note("istiod keeps the camelCase one"),
            );
        }
    }
}

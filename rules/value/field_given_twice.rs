//! EF132: one field under two spellings.

use crate::declare_rule;
use crate::lint::value::PatchValue;
use crate::lint::{Context, Findings, RuleInfo};
use crate::proto::decode::{Notice, What};
use crate::source::{Span, Step};

declare_rule! {
    /// One field given in two spellings.
    ///
    /// # What it finds
    /// A message with a field in snake_case and in camelCase: `stat_prefix` and `statPrefix`.
    ///
    /// # Why it matters
    /// Both are the same field; istiod keeps the camelCase one and silently drops the other.
    ///
    /// # How to fix
    /// Remove one.
    ///
    /// # References
    /// protobuf's JSON mapping; istiod reads values with golang/protobuf `jsonpb`, releases 1.22 to 1.31.
    "EF132" "field-given-twice" Value Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for noticed in value.notices.iter().filter(|noticed| noticed.notice.what == What::NameTwice) {
            let message = "this field is set twice, in snake_case and in camelCase";
            let Some((dropped, kept)) = spellings(value, &noticed.notice).filter(|_| !noticed.in_typed_struct) else {
                let span = value.notice_span(&noticed.notice);
                out.push(value.finding(rule, span, message).label("the second spelling"));
                continue;
            };
            out.push(
                value
                    .finding(rule, dropped, message)
                    .label("dropped by istiod")
                    .related(kept, "this one stays")
                    .note("istiod keeps the camelCase one"),
            );
        }
    }
}

/// The keys of a field under both names, the JSON name last.
fn spellings(value: &PatchValue<'_>, notice: &Notice) -> Option<(Span, Span)> {
    let (Step::Key(key), parent) = notice.route.split_last()? else { return None };
    let members = &value.object_at(parent)?.members;
    let field = members.iter().find(|member| member.entry.key == *key)?.istiod?;
    let same = |name: &str| {
        let entry = members.iter().map(|member| member.entry).find(|entry| entry.key == name);
        entry.map(|entry| entry.key_span)
    };
    Some((same(field.name())?, same(field.json_name())?))
}

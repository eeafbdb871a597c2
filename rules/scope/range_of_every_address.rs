//! EF535: a range of addresses that contains all of them.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::NodeValue;

declare_rule! {
    /// An address without its prefix length, which stands for every address.
    ///
    /// # What it finds
    /// A `CidrRange` whose `prefix_len` is missing or 0, and whose address is not 0.0.0.0 or `::`.
    ///
    /// # Why it matters
    /// The default of `prefix_len` is 0, and a range of length 0 contains every address: an ALLOW for the office lets
    /// everybody in, a DENY for one client refuses all of them, a trusted proxy trusts every sender of `x-forwarded-for`.
    ///
    /// # How to fix
    /// `prefix_len: 32` for one IPv4 address, 128 for IPv6, or the length of the range.
    ///
    /// # References
    /// Envoy `config.core.v3.CidrRange`; the answers of Envoy 1.38.2.
    "EF535" "range-of-every-address" Scope Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.full_name() == "envoy.config.core.v3.CidrRange") {
            let Some(address) = object.member("address_prefix").map(|member| &member.entry.value) else { continue };
            let written = address.as_str().unwrap_or_default();
            let length = object.member("prefix_len").map(|member| &member.entry.value);
            let zero = |node: &NodeValue| matches!(node, NodeValue::Number(text) if text == "0");
            let whole = written.chars().all(|c| matches!(c, '0' | '.' | ':'));
            if written.is_empty() || whole || length.is_some_and(|length| !zero(&length.value)) {
                continue;
            }
            let one = if written.contains(':') { 128 } else { 32 };
            let missing = if length.is_some() { "`prefix_len` is 0" } else { "`prefix_len` is missing, which means 0" };
            out.push(
                value
                    .finding(
                        rule,
                        length.unwrap_or(address).span,
                        format!("this range contains every address: {missing}"),
                    )
                    .label(format!("not only {written}"))
                    .help(format!("prefix_len: {one}, or the length of the range")),
            );
        }
    }
}

//! EF115: a deprecated value of an enum.

use crate::declare_rule;
use crate::envoy;
use crate::lint::value::Member;
use crate::lint::{Context, Findings, RuleInfo};
use crate::proto::schema::{Enum, EnumValue, Kind};
use crate::source::Node;

declare_rule! {
    /// A deprecated value of an enum.
    ///
    /// # What it finds
    /// A value of an enum field that the proxies' Envoy declares deprecated.
    ///
    /// # Why it matters
    /// Envoy still accepts it and logs a warning; a later release rejects or removes it.
    ///
    /// # How to fix
    /// Write another value of the enum.
    ///
    /// # References
    /// The protos of Envoy 1.15 to 1.40, release by release.
    "EF115" "deprecated-enum-value" Value Warning => check,
    by_release: true
}

/// The enum values of a member, with their places.
pub(super) fn enum_values<'a>(member: &Member<'a>) -> Vec<(&'a Node, Enum, EnumValue)> {
    let Some(field) = member.envoy else { return Vec::new() };
    let kind = field.map_entry().map_or(field.kind(), |(_, kind)| kind);
    let Kind::Enum(of) = kind else { return Vec::new() };
    let named = |node: &Node| match node.as_str() {
        Some(name) => of.by_name(name),
        None => node.to_json().as_i64().and_then(|number| i32::try_from(number).ok()),
    };
    member.values().into_iter().filter_map(|(node, _)| Some((node, of, of.by_number(named(node)?)?))).collect()
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        for member in value.objects.iter().flat_map(|object| &object.members) {
            for (node, of, one) in enum_values(member) {
                if !one.deprecated() || one.disallowed_by_default() {
                    continue;
                }
                let known = envoy::deprecation(&format!("{}.{}", of.full_name(), one.name()));
                let since = known.map(|known| known.since()).unwrap_or_default();
                let others = of.values().filter(|other| !other.deprecated()).map(|other| format!("`{}`", other.name()));
                out.push(
                    value
                        .finding(
                            rule,
                            node.span,
                            format!("`{}` is deprecated {since}", one.name()).trim_end().to_owned(),
                        )
                        .label("deprecated")
                        .note("the proxy accepts it with a warning; a later release rejects or removes it")
                        .help(format!("other values are {}", others.collect::<Vec<_>>().join(", "))),
                );
            }
        }
    }
}

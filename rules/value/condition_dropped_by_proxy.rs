//! EF190: a condition that the proxy does not know and drops.

use crate::declare_rule;
use crate::lint::value::{Member, Object, short, since};
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// A condition that an older proxy drops, so that the rest matches more than intended.
    ///
    /// # What it finds
    /// A field of a matching message (a route, a header, a principal, a filter chain) that istiod knows but the Envoy
    /// of a proxy that receives it does not, such as `cookies` of a route match before Envoy 1.37.
    ///
    /// # Why it matters
    /// istiod sends the field, and the proxy drops it as unknown without an error. The rest of the match matches more
    /// requests: a route matches everything, an authorization rule allows everyone.
    ///
    /// # How to fix
    /// Restrict the patch to proxies that know the field (`match.proxy.proxyVersion`), or match by an older field.
    ///
    /// # References
    /// The types of Envoy 1.26 to 1.40, taken from the modules that istiod links; unknown fields over xDS: Envoy,
    /// `ProtobufMessage::WarningValidationVisitorImpl`.
    "EF190" "condition-dropped-by-proxy" Value Error => check
}

/// Names of messages that match something.
const CONDITIONS: &[&str] = &["Permission", "Principal", "Policy", "AccessLogFilter", "CidrRange"];

/// Whether a message restricts what something applies to, so that dropping a part of it widens the match.
pub(crate) fn is_condition(full_name: &str) -> bool {
    let name = short(full_name);
    CONDITIONS.contains(&name)
        || name.ends_with("Match")
        || name.ends_with("Matcher")
        || name.ends_with("Filter") && full_name.contains(".accesslog.")
}

/// Whether the proxy drops this part of a condition, which a later Envoy knows: in a TypedStruct, only the proxy reads
/// it.
pub(super) fn drops(object: &Object<'_>, member: &Member<'_>) -> bool {
    let Some(message) = object.envoy.filter(|_| member.envoy.is_none()) else { return false };
    let sent = if object.in_typed_struct {
        since::field(message.full_name(), &member.entry.key, false).is_some()
    } else {
        member.istiod.is_some()
    };
    sent && message.full_name().starts_with("envoy.") && is_condition(message.full_name())
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        for object in &value.objects {
            for member in object.members.iter().filter(|member| drops(object, member)) {
                let key = &member.entry.key;
                let minor = value.envoy_minor.unwrap_or_default();
                let first = since::field(object.full_name(), key, false);
                let rest = format!("and the rest of the `{}` matches more", object.short_name());
                // One finding for all Envoys that drop it.
                let text = first.map_or_else(
                    || format!("Envoy 1.{minor} drops `{key}`, {rest}"),
                    |first| format!("an Envoy before 1.{first} drops `{key}`, {rest}"),
                );
                let mut finding = value
                    .finding(rule, member.entry.key_span, text)
                    .label("a condition that the proxy does not know")
                    .note("the proxy drops unknown fields without an error");
                if let Some(first) = first {
                    finding = finding.help(since::restrict_to(first));
                }
                out.push(finding);
            }
        }
    }
}

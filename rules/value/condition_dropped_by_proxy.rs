//! EF190: a condition that the proxy does not know and drops.

use crate::declare_rule;
use crate::lint::value::short;
use crate::lint::{Context, Findings, RuleInfo};
use crate::proto::schema::Schema;

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

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        for object in &value.objects {
            let (Some(_), Some(message)) = (object.istiod, object.envoy) else { continue };
            if !message.full_name().starts_with("envoy.") || !is_condition(message.full_name()) {
                continue;
            }
            for member in object.members.iter().filter(|member| member.istiod.is_some() && member.envoy.is_none()) {
                let key = &member.entry.key;
                let minor = value.envoy_minor.unwrap_or_default();
                let mut envoys = Schema::all().filter(|schema| !schema.is_istiod());
                let since = envoys.find(|schema| {
                    schema.message(object.full_name()).is_some_and(|message| message.field(key).is_some())
                });
                let rest = format!("and the rest of the `{}` matches more", short(message.full_name()));
                // One finding for all Envoys that drop it.
                let text = since.map_or_else(
                    || format!("Envoy 1.{minor} drops `{key}`, {rest}"),
                    |since| format!("an Envoy before 1.{} drops `{key}`, {rest}", since.release().0),
                );
                let mut finding = value
                    .finding(rule, member.entry.key_span, text)
                    .label("a condition that the proxy does not know")
                    .note("the proxy drops unknown fields without an error");
                if let Some(since) = since {
                    let istio = since.release().0.saturating_sub(8);
                    finding = finding.help(format!(
                        "restrict the patch to proxies since Istio 1.{istio} with `match.proxy.proxyVersion`"
                    ));
                }
                out.push(finding);
            }
        }
    }
}

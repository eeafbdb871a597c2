//! EF131: a field that only one of istiod and the proxy knows.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};
use crate::proto::schema::Schema;

declare_rule! {
    /// A field that istiod knows but the proxy does not, or the other way around.
    ///
    /// # What it finds
    /// A field that the types of istiod and of the proxies' Envoy do not both have, although both have the message: some
    /// releases of istiod link newer or older types than their proxy has.
    ///
    /// # Why it matters
    /// What istiod does not know, it drops. What the proxy does not know, it ignores and counts. Either way the field
    /// does nothing.
    ///
    /// # How to fix
    /// Leave it out until both know it; in a TypedStruct only the proxy must.
    ///
    /// # References
    /// The types of Envoy 1.26 to 1.40 and istiod 1.18 to 1.31, taken from the modules they are built with.
    "EF131" "field-of-another-release" Value Warning => check,
    by_release: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        for object in &value.objects {
            let (Some(_), Some(message)) = (object.istiod, object.envoy) else { continue };
            for member in &object.members {
                let key = &member.entry.key;
                let (message, note) = match (member.istiod, member.envoy) {
                    (Some(_), None) => {
                        // Fields of Istio's own types come with its own build of the proxy.
                        let name = message.full_name();
                        if !name.starts_with("envoy.") || super::condition_dropped_by_proxy::is_condition(name) {
                            continue;
                        }
                        (
                            format!("Envoy 1.{} does not know `{key}`", value.envoy_minor.unwrap_or_default()),
                            "istiod sends it, and the proxy ignores it",
                        )
                    }
                    (None, Some(_)) => (
                        format!("istiod {} does not know `{key}`", cx.release),
                        "istiod drops it, and the proxy never sees it",
                    ),
                    _ => continue,
                };
                let mut finding =
                    value.finding(rule, member.entry.key_span, message).label("without effect").note(note);
                let since = Schema::all().filter(|schema| !schema.is_istiod()).find(|schema| {
                    schema.message(object.full_name()).is_some_and(|message| message.field(key).is_some())
                });
                if let Some(since) = since.filter(|_| member.envoy.is_none()) {
                    finding = finding.note(format!("Envoy knows it since 1.{}", since.release().0));
                }
                out.push(finding);
            }
        }
    }
}

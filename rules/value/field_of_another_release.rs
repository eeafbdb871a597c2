//! EF131: a field that only one of istiod and the proxy knows.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};
use crate::proto::schema::Schema;

declare_rule! {
    /// A field that istiod knows but the proxy does not, or the other way around.
    ///
    /// # What it finds
    /// A field that only one of istiod's types and the types of the proxies' Envoy has, although both have the message:
    /// some releases of istiod link newer or older types than their proxy has.
    ///
    /// # Why it matters
    /// istiod drops a field that it does not know. The proxy ignores and counts one that it does not know. Either way
    /// the field does nothing.
    ///
    /// # How to fix
    /// Omit it until both know it; in a TypedStruct, only the proxy must know it.
    ///
    /// # References
    /// The types of Envoy 1.26 to 1.40 and istiod 1.18 to 1.31, from the modules they are built with.
    "EF131" "field-of-another-release" Value Warning => check,
    by_release: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        for object in &value.objects {
            let (Some(_), Some(message)) = (object.istiod, object.envoy) else { continue };
            for member in &object.members {
                let key = &member.entry.key;
                let since = || {
                    Schema::all().filter(|schema| !schema.is_istiod()).find(|schema| {
                        schema.message(object.full_name()).is_some_and(|message| message.field(key).is_some())
                    })
                };
                let (message, note) = match (member.istiod, member.envoy) {
                    (Some(_), None) => {
                        // Fields of Istio's own types come with its own proxy build.
                        let name = message.full_name();
                        if !name.starts_with("envoy.") || super::condition_dropped_by_proxy::is_condition(name) {
                            continue;
                        }
                        let minor = value.envoy_minor.unwrap_or_default();
                        // One finding for all Envoys that do not know it.
                        let text = since().map_or_else(
                            || format!("Envoy 1.{minor} does not know `{key}`"),
                            |since| format!("an Envoy before 1.{} does not know `{key}`", since.release().0),
                        );
                        (text, "istiod sends it, and the proxy ignores it")
                    }
                    (None, Some(_)) => (
                        format!("istiod {} does not know `{key}`", cx.release),
                        "istiod drops it, and the proxy never sees it",
                    ),
                    _ => continue,
                };
                out.push(value.finding(rule, member.entry.key_span, message).label("without effect").note(note));
            }
        }
    }
}

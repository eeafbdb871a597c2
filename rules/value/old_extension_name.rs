//! EF123: an old name of an extension in a value.

use crate::declare_rule;
use crate::envoy;
use crate::lint::{Context, Edit, Findings, RuleInfo};

declare_rule! {
    /// An old extension name in a value.
    ///
    /// # What it finds
    /// `name: envoy.lua` and the other names that Envoy retired in 1.14, in the value of a patch.
    ///
    /// # Why it matters
    /// The proxy uses the type and accepts any name, but other filters' matches, `typed_per_filter_config` and
    /// `metadata` use the canonical name.
    ///
    /// # How to fix
    /// Write the canonical name.
    ///
    /// # References
    /// Envoy 1.14 and 1.22 release notes.
    "EF123" "old-extension-name" Value Info => check,
    fixes: true, renews: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        for object in &value.objects {
            if object.message().is_none_or(|message| message.field("typed_config").is_none()) {
                continue;
            }
            let Some(member) = object.member("name") else { continue };
            let Some(name) = member.entry.value.as_str() else { continue };
            let Some(listed) = envoy::canonical_name(name) else { continue };
            // Some old names were used for both an HTTP and a network filter: the type decides.
            let slot = value.slots.iter().find(|slot| std::ptr::eq(&raw const value.objects[slot.owner], object));
            let typed = slot.and_then(|slot| envoy::extensions_of(slot.content()?.name()).next());
            let canonical = match (typed, object.message().and_then(|message| kind_of(message.full_name()))) {
                (Some(typed), _) => typed.name(),
                // A type of the v2 API is not known here: the place decides, and the name may be one of another kind only.
                (None, Some(kind)) => {
                    let Some(name) = envoy::canonical_filter_name(kind, name) else { continue };
                    name
                }
                (None, None) => listed,
            };
            let span = member.entry.value.span;
            let written = cx.sources.snippet(span);
            out.push(
                value
                    .finding(rule, span, format!("`{name}` is an old name"))
                    .label(format!("now `{canonical}`"))
                    .note("matches, `typed_per_filter_config` and metadata use the canonical name")
                    .help(format!("write `{canonical}`"))
                    .fix("write the canonical name", true, vec![Edit { span, text: written.replace(name, canonical) }]),
            );
        }
    }
}

/// The kind of filters that a message holds.
fn kind_of(message: &str) -> Option<&'static str> {
    match message {
        "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter" => Some("http"),
        "envoy.config.listener.v3.Filter" => Some("network"),
        "envoy.config.listener.v3.ListenerFilter" => Some("listener"),
        _ => None,
    }
}

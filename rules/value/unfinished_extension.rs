//! EF122: an extension, message or field that Envoy marks as work in progress.

use crate::declare_rule;
use crate::envoy;
use crate::lint::value::short;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// An extension, message or field that Envoy marks as work in progress.
    ///
    /// # What it finds
    /// Extensions, messages and fields that Envoy's protos or extension table mark as work in progress.
    ///
    /// # Why it matters
    /// Envoy warns when it loads them, gives no security support, and may change or remove them in any release.
    ///
    /// # How to fix
    /// Use something stable, or check Envoy's release notes with each upgrade of Istio.
    ///
    /// # References
    /// `xds.annotations.v3` in the protos of the proxies' Envoy; `extensions_metadata.yaml`, releases 1.26 to 1.39.
    "EF122" "unfinished-extension" Value Info => check,
    by_release: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        for slot in &value.slots {
            let Some(url) = slot.content() else { continue };
            let mut extensions = envoy::extensions_of(url.name()).peekable();
            let unfinished = extensions.peek().is_some() && extensions.all(|extension| extension.status() == "wip");
            if unfinished || url.envoy.is_some_and(crate::proto::schema::Message::work_in_progress) {
                let message = format!("Envoy marks `{}` as work in progress", short(url.name()));
                out.push(value.finding(rule, url.span, message).label("unfinished").note(NOTE));
            }
        }
        for object in &value.objects {
            for member in &object.members {
                if member.envoy.is_some_and(crate::proto::schema::Field::work_in_progress) {
                    let message = format!("Envoy marks `{}` as work in progress", member.entry.key);
                    out.push(value.finding(rule, member.entry.key_span, message).label("unfinished").note(NOTE));
                }
            }
        }
    }
}

const NOTE: &str = "Envoy warns when it loads it, and may change or remove it in any release";

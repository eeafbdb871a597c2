//! EF134: a configuration that the code of an extension rejects.

use crate::declare_rule;
use crate::lint::extension_code::refusals;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// A configuration that the API allows but the extension's code rejects.
    ///
    /// # What it finds
    /// In what is added, inserted or replaced: fields that exclude or need each other, and what an extension wants although
    /// the API does not require it. Known are the checks of OAuth2, Wasm, external processing, header-to-metadata,
    /// json-to-metadata and composite filters, and names in clusters of type `STATIC`. `--envoy` tells of all others.
    ///
    /// # Why it matters
    /// istiod does not know these rules, and they are not in the API: it sends the value, and the proxy rejects the listener,
    /// route or cluster.
    ///
    /// # How to fix
    /// Write what the extension wants.
    ///
    /// # References
    /// The sources of Envoy 1.26 and 1.32; Envoy 1.36, 1.37, 1.38, 1.39 and 1.40.
    "EF134" "refused-by-extension" Value Error => check,
    by_release: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        for object in value.objects.iter().filter(|object| !object.unchecked) {
            for (check, refusal) in refusals(value, object) {
                out.push(
                    value
                        .finding(rule, refusal.span, refusal.message)
                        .label("rejected by the code of the extension")
                        .note("istiod sends it unchecked, and the proxy rejects the resource that contains it")
                        .note(format!("checked in Envoy's `{}`", check.source))
                        .help(refusal.help),
                );
            }
        }
    }
}

//! EF124: the name of one extension with the type of another.

use crate::declare_rule;
use crate::envoy;
use crate::lint::value::short;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// The name of one extension with the configuration type of another.
    ///
    /// # What it finds
    /// A canonical extension name next to a `typed_config` whose type belongs to another extension.
    ///
    /// # Why it matters
    /// The proxy uses the type and loads that extension under the wrong name; matches, `typed_per_filter_config` and
    /// metadata that use the name refer to the wrong extension.
    ///
    /// # How to fix
    /// Make the name and the type agree.
    ///
    /// # References
    /// Envoy 1.22 release notes: extensions are looked up by type; `extensions_metadata.yaml`, releases 1.26 to 1.39.
    "EF124" "name-of-another-extension" Value Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        for slot in value.slots.iter().filter(|slot| slot.field.name() == "typed_config") {
            let (Some(node), Some(url)) = (slot.extension_name(value), slot.content()) else { continue };
            let Some(name) = node.as_str() else { continue };
            let canonical = envoy::canonical_name(name).unwrap_or(name);
            let Some(named) = envoy::extension(canonical).filter(|named| named.messages().next().is_some()) else {
                continue;
            };
            let typed: Vec<_> = envoy::extensions_of(url.name()).collect();
            let Some(first) = typed.first() else { continue };
            // An old name may refer to filters of two kinds.
            if canonical != name
                || typed.iter().any(|extension| extension.name() == canonical)
                || named.messages().any(|one| one == url.name())
            {
                continue;
            }
            out.push(
                value
                    .finding(rule, node.span, format!("the name is `{name}`, but the type loads `{}`", first.name()))
                    .label("the name of another extension")
                    .related(url.span, format!("`{}` configures `{}`", short(url.name()), first.name()))
                    .note("the proxy uses the type; matches and per-route settings use the name")
                    .help(format!("write `name: {}`, or the type of `{name}`", first.name())),
            );
        }
    }
}

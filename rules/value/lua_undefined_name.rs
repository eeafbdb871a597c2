//! EF142: Lua that uses an undefined name.

use crate::declare_rule;
use crate::envoy::api::istio_of;
use crate::lint::value::PatchValue;
use crate::lint::{Context, Finding, Findings, RuleInfo, names};

declare_rule! {
    /// An undefined name in inline Lua.
    ///
    /// # What it finds
    /// A global that a script indexes or calls but neither the script nor LuaJIT defines (`ngx`, another function's
    /// handle), a method that is called with a dot instead of a colon, and one that Envoy's handle, headers, body, metadata or stream info do not have in the Envoy of
    /// the proxies.
    ///
    /// # Why it matters
    /// The script ends with "attempt to index a nil value": at its top, Envoy rejects the listener; in a function, the
    /// request passes without the rest of the script.
    ///
    /// # How to fix
    /// Use the name of the function's parameter, and the methods that Envoy documents.
    ///
    /// # References
    /// Envoy, "Lua" HTTP filter, stream handle API; the methods of each object, found by a script in Envoy 1.36 to
    /// 1.40.
    "EF142" "lua-undefined-name" Value Error => check,
    policy: Never("CEL cannot parse Lua")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for script in cx.loadable_scripts() {
        for one in &script.uses.undefined {
            let help = match one.name {
                "ngx" => "`ngx` belongs to OpenResty; use the methods of Envoy's handle",
                "cjson" | "json" => "the proxy has no JSON library: write the text yourself, or call a service",
                _ => "use the name of the function's parameter, or define it in the script",
            };
            out.push(
                script
                    .failure(rule, one, format!("nothing defines `{}`", one.name))
                    .label("nil when the script gets here")
                    .help(help),
            );
        }
        for one in &script.uses.dotted {
            let name = one.name;
            out.push(
                script
                    .failure(rule, one, format!("`{name}` is called with a dot, so it does not get its object"))
                    .label(format!("bad argument #1 to '{name}'"))
                    .help(format!("write a colon: `:{name}(…)`")),
            );
        }
        for one in &script.uses.methods {
            let name = one.named.name;
            let message = format!("{} has no method `{name}`", one.owner.as_str());
            let label = "attempt to call a nil value";
            let Some(since) = one.since else {
                let like = names::nearest(name, one.owner.names());
                let help = if let Some(instead) = one.owner.instead_of(name) {
                    instead.to_owned()
                } else if let Some(like) = like {
                    format!("write `{like}`")
                } else {
                    let names = one.owner.methods().iter().filter(|(_, since)| *since == 0).map(|(name, _)| *name);
                    format!("it has {}", names::listed(names, 8))
                };
                out.push(script.failure(rule, &one.named, message).label(label).help(help));
                continue;
            };
            // Methods of newer Envoys are judged by the Envoys of the proxies.
            let id = |value: &PatchValue<'_>| (value.view.filter_index, value.view.patch.index);
            let failure = script.failure(rule, &one.named, message.clone());
            for value in cx.proxy_values().filter(|value| id(value) == id(script.value)) {
                if value.envoy_minor.is_some_and(|minor| minor < since) {
                    let finding = value.finding(rule, failure.primary.span, message.clone()).label(label);
                    let finding = failure.notes.iter().cloned().fold(finding, Finding::note);
                    out.push(
                        finding.help(format!("Envoy has it since 1.{since} (proxies of Istio 1.{})", istio_of(since))),
                    );
                }
            }
        }
    }
}

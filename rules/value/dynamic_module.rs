//! EF140: a dynamic module, which must be in the proxy's image and match its Envoy.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, walk};
use crate::source::{Node, Severity};

declare_rule! {
    /// A dynamic module, which Istio's proxy image does not contain.
    ///
    /// # What it finds
    /// An extension of `envoy.extensions.dynamic_modules` in a value.
    ///
    /// # Why it matters
    /// Envoy loads `lib<name>.so` from `ENVOY_DYNAMIC_MODULES_SEARCH_PATH` or the working directory, and rejects the
    /// listener if the file is missing. A module is native code built for one version of the ABI: an upgrade of the
    /// proxy needs another build. It runs inside the proxy, with all of its permissions.
    ///
    /// # How to fix
    /// Build a proxy image with the module for each Envoy minor, or use Wasm, Lua or external processing.
    ///
    /// # References
    /// Envoy, "Dynamic modules"; tested with Envoy 1.39.3 ("not found in any search path").
    "EF140" "dynamic-module" Value Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        for object in &value.objects {
            let Some(config) = object.member("dynamic_module_config").map(|member| &member.entry) else { continue };
            let name = walk::get(&config.value, "name").and_then(Node::as_str).unwrap_or_default();
            let envoy = value.envoy_minor.map_or(String::new(), |minor| format!(" of Envoy 1.{minor}"));
            let bare = name.strip_suffix(".so");
            if name.contains('/') || bare.is_some() {
                let short = bare.unwrap_or(name);
                let short = short.rsplit('/').next().unwrap_or_default();
                let short = short.strip_prefix("lib").unwrap_or(short);
                out.push(
                    value
                        .finding(rule, config.key_span, format!("`{name}` is a path, but a dynamic module is given by name"))
                        .severity(Severity::Error)
                        .label(format!("Envoy searches for `lib{name}.so`"))
                        .note("the proxy does not find the module and rejects the resource that contains it")
                        .help(format!(
                            "name: {short} # the file lib{short}.so, in the folder that ENVOY_DYNAMIC_MODULES_SEARCH_PATH names"
                        )),
                );
                continue;
            }
            let file = if name.is_empty() { "the module".to_owned() } else { format!("`lib{name}.so`") };
            out.push(
                value
                    .finding(
                        rule,
                        config.key_span,
                        format!("{file} must be in the image of every proxy that this patch reaches"),
                    )
                    .label("loaded from ENVOY_DYNAMIC_MODULES_SEARCH_PATH")
                    .note(format!("it must be built for the ABI{envoy}, and rebuilt for each upgrade of the proxy"))
                    .note("if it is missing, Envoy rejects the listener")
                    .help("build a proxy image with the module, or use Wasm, Lua or ext_proc"),
            );
        }
    }
}

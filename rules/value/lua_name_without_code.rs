//! EF154: a route that chooses a Lua script by a name that the filter does not have.

use crate::declare_rule;
use crate::lint::filter_keys;
use crate::lint::{Context, Findings, RuleInfo, names};
use crate::rules::value::per_route_config_not_taken::key_at;
use crate::source::escape::one_line;

declare_rule! {
    /// A `LuaPerRoute` whose `name` is not in the `source_codes` of the Lua filter.
    ///
    /// # What it finds
    /// A `LuaPerRoute` with a `name` below a key of `typed_per_filter_config`, if the proxy has Lua filters of that name
    /// after all patches and none of them has the script in its `source_codes`.
    ///
    /// # Why it matters
    /// Envoy accepts it and runs no script on these routes, not even `default_source_code`.
    ///
    /// # How to fix
    /// Write a name of `source_codes`, add the script there, or give the route its own with `source_code`. To switch Lua
    /// off for the route, write `disabled: true`, which says so.
    ///
    /// # References
    /// Envoy, "Lua" HTTP filter, `LuaPerRoute.name`; seen in Envoy 1.36.4 and 1.39.3 (`testdata/behaviour/lua-name`).
    "EF154" "lua-name-without-code" Value Warning => check
}

const PER_ROUTE: &str = "envoy.extensions.filters.http.lua.v3.LuaPerRoute";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.full_name() == PER_ROUTE) {
            let (Some(member), Some(name)) = (object.member("name"), object.text("name")) else { continue };
            let Some(key) = key_at(&object.route).filter(|_| !name.is_empty()) else { continue };
            let Some(unknown) = filter_keys::unknown_script(cx, &value.view, key, name) else { continue };
            let finding = value
                .finding(rule, member.entry.value.span, format!("the Lua filter `{key}` has no script named `{name}`"))
                .label("not in its `source_codes`")
                .note("Envoy runs no script on these routes, not even the filter's default one");
            let known: Vec<&str> = unknown.known.iter().map(String::as_str).collect();
            out.push(unknown.seen.tell(match (names::nearest(name, known.iter().copied()), known.as_slice()) {
                (Some(near), _) => finding.help(format!("write `{near}`")),
                (None, []) => {
                    finding.snippet(format!("add the script to the filter\nsource_codes:\n  {}: …", one_line(name)))
                }
                (None, [only]) => finding.help(format!("write `{only}`, its only script")),
                (None, known) => finding.help(format!("use one of its scripts: {}", known.join(", "))),
            }));
        }
    }
}

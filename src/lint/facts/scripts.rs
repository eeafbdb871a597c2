//! The Lua scripts in the values of patches, for rules: those that LuaJIT can load, and findings in them.

use super::context::{Context, PatchView};
use crate::lint::finding::Finding;
use crate::lint::rule::RuleInfo;
use crate::lint::value::PatchValue;
use crate::lint::value::lua_script::{Script, scripts};
use crate::lint::value::lua_use::{Named, Use};
use crate::lua::Chunk;
use crate::source::{SourceText, Span};

/// What Envoy does when a script fails on a request or a response.
const ENDS: &str = "Envoy logs the error and lets the request pass without the rest of the script";
/// What Envoy does when a script fails while it is loading.
const NOT_LOADED: &str = "Envoy rejects the listener or route that contains the script";

/// A script that LuaJIT can load.
pub(crate) struct Loadable<'c, 'a> {
    /// The value that contains it.
    pub value: &'c PatchValue<'a>,
    /// The script.
    pub script: &'c Script<'a>,
    /// Its names.
    pub chunk: &'c Chunk<'a>,
    /// The API that it uses.
    pub uses: &'c Use<'a>,
    source: &'c SourceText,
}

impl<'a> Context<'a> {
    /// The inline scripts of all values, each with the value that contains it.
    pub(crate) fn scripts<'c>(&'c self) -> impl Iterator<Item = (&'c PatchValue<'a>, &'c Script<'a>)> {
        let values = self.values();
        let all = self.scripts.get_or_init(|| {
            let all = values.iter().enumerate();
            all.flat_map(|(index, value)| scripts(value).map(move |script| (index, script))).collect()
        });
        all.iter().filter_map(|(value, script)| Some((values.get(*value)?, script)))
    }

    /// The place of a line, from 1, of the only script in a patch.
    pub(crate) fn script_line(&self, view: &PatchView<'_>, line: usize) -> Option<Span> {
        let own = self.value_of(view)?;
        let mut scripts = self.scripts().filter(|(value, _)| std::ptr::eq(*value, own)).map(|(_, script)| script);
        let (script, None) = (scripts.next()?, scripts.next()) else { return None };
        let mut ends = script.text.match_indices('\n').map(|(at, _)| at).chain([script.text.len()]);
        let end = ends.nth(line.checked_sub(1)?)?;
        Some(script.place(self.sources.get(script.node.span.file), end))
    }

    /// The scripts that LuaJIT can load.
    pub(crate) fn loadable_scripts<'c>(&'c self) -> impl Iterator<Item = Loadable<'c, 'a>> {
        self.scripts().filter_map(|(value, script)| {
            let (chunk, uses) = script.read.as_ref().ok()?;
            Some(Loadable { value, script, chunk, uses, source: self.sources.get(script.node.span.file) })
        })
    }
}

impl Loadable<'_, '_> {
    /// A finding at a name that the script uses.
    pub(crate) fn finding(&self, rule: &'static RuleInfo, one: &Named<'_>, message: impl Into<String>) -> Finding {
        self.value.finding(rule, self.script.place(self.source, one.at), message)
    }

    /// A finding at a name that ends the script when it runs, with what Envoy does then.
    pub(crate) fn failure(&self, rule: &'static RuleInfo, one: &Named<'_>, message: impl Into<String>) -> Finding {
        self.finding(rule, one, message).rejected_if(one.at_load, if one.at_load { NOT_LOADED } else { ENDS })
    }
}

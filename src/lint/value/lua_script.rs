//! The Lua scripts in a value: found by the types that contain them, then parsed.

use super::PatchValue;
use super::lua_use::{self, Use};
use crate::lua::{self, Chunk, SyntaxError};
use crate::source::{Node, SourceText, Span};

/// A Lua script in a value.
pub(crate) struct Script<'a> {
    /// The text of the script in the document.
    pub node: &'a Node,
    /// The script.
    pub text: &'a str,
    /// Whether it is the script of the filter itself rather than one of several that routes choose from.
    pub main: bool,
    /// Its names and the API that it uses, or why LuaJIT cannot load it.
    pub read: Result<(Chunk<'a>, Use<'a>), SyntaxError>,
}

/// The inline scripts of a value, parsed.
pub(crate) fn scripts<'a>(value: &PatchValue<'a>) -> impl Iterator<Item = Script<'a>> {
    const LUA: &str = "envoy.extensions.filters.http.lua.v3.Lua";
    const PER_ROUTE: &str = "envoy.extensions.filters.http.lua.v3.LuaPerRoute";
    let mut found = Vec::new();
    for (index, object) in value.objects.iter().enumerate() {
        if object.full_name() == LUA {
            found.extend(object.member("inline_code").map(|member| (&member.entry.value, true)));
        }
        let Some((parent, field)) = object.parent else { continue };
        let owner = value.objects[parent].full_name();
        if object.full_name() == "envoy.config.core.v3.DataSource" && matches!(owner, LUA | PER_ROUTE) {
            let main = owner == LUA && field.name() == "default_source_code";
            found.extend(value.objects[index].member("inline_string").map(|member| (&member.entry.value, main)));
        }
    }
    found.into_iter().filter_map(|(node, main)| {
        let text = node.as_str()?;
        Some(Script { node, text, main, read: lua::parse(text).map(|chunk| (chunk, lua_use::read(text))) })
    })
}

impl Script<'_> {
    /// The place of a byte of the script in its source.
    pub(crate) fn place(&self, source: &SourceText, at: usize) -> Span {
        place(source, self.node, self.text, at)
    }
}

/// The place of a byte of a script: the word there, or its line in a literal block if it is at the end of a line;
/// otherwise the whole text.
fn place(source: &SourceText, node: &Node, script: &str, at: usize) -> Span {
    let written = source.text.get(node.span.start as usize..node.span.end as usize).unwrap_or_default();
    let word = word(script, at);
    let length = u32::try_from(word.len()).unwrap_or(0);
    // Without escapes and folding, the source equals the text.
    if let Some(skip) =
        [0, 1].into_iter().find(|&skip| !word.is_empty() && written.get(skip..written.len() - skip) == Some(script))
    {
        let start = node.span.start + u32::try_from(skip + at).unwrap_or(0);
        return Span { file: node.span.file, start, end: start + length };
    }
    let line_in_script = script.get(..at).unwrap_or(script).matches('\n').count();
    let header = source.position(node.span.start).line;
    if !written.starts_with('|') {
        return node.span;
    }
    let wanted = script.lines().nth(line_in_script).unwrap_or_default().trim();
    let last = source.position(node.span.end).line;
    let line = (header + 1 + line_in_script).min(last);
    let Some(start) = source.line_start(line) else { return node.span };
    let text = source.text[start as usize..].lines().next().unwrap_or_default();
    // If the lines do not agree, point to the whole text.
    let Some(offset) = text.find(wanted).filter(|_| !wanted.is_empty()) else {
        return if wanted.is_empty() && line > header + 1 { last_line(source, node, line - 1) } else { node.span };
    };
    let begin = start + u32::try_from(offset).unwrap_or(0);
    let line_start = script.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
    let in_script = script.get(line_start..).unwrap_or_default();
    let indent = in_script.len() - in_script.trim_start().len();
    match (at - line_start).checked_sub(indent).and_then(|column| u32::try_from(column).ok()) {
        Some(column) if !word.is_empty() => {
            Span { file: node.span.file, start: begin + column, end: begin + column + length }
        }
        _ => Span { file: node.span.file, start: begin, end: begin + u32::try_from(wanted.len()).unwrap_or(0) },
    }
}

/// The name, number or character that begins at a byte of a script, or the whole text after its quote; empty at the end
/// of a line.
fn word(script: &str, at: usize) -> &str {
    let rest = script.get(at..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let quote = script.get(..at).and_then(|before| before.chars().next_back()).filter(|c| matches!(c, '"' | '\''));
    let text = quote.and_then(|quote| rest.split_once(quote)).map(|(text, _)| text);
    if let Some(text) = text.filter(|text| !text.is_empty() && !text.contains('\\')) {
        return text;
    }
    let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let character = rest.chars().next().filter(|c| !c.is_whitespace()).map_or(0, char::len_utf8);
    &rest[..length.max(character)]
}

fn last_line(source: &SourceText, node: &Node, line: usize) -> Span {
    let Some(start) = source.line_start(line) else { return node.span };
    let text = source.text[start as usize..].lines().next().unwrap_or_default();
    let indent = text.len() - text.trim_start().len();
    let begin = start + u32::try_from(indent).unwrap_or(0);
    Span { file: node.span.file, start: begin, end: start + u32::try_from(text.len()).unwrap_or(0) }
}

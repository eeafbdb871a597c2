//! kubectl's JSONPath: templates (`-o jsonpath=`), columns (`-o custom-columns=`), sorting (`--sort-by`).
//!
//! kubectl writes a path as `.items[*].metadata.labels.app\.io/x`, RFC 9535 as `$['items'][*]…`. Paths are translated and
//! passed to a crate; the templates around them are implemented here.

use super::table;
use crate::source::ErrorMessage;
use jsonpath_rust::JsonPath;
use serde_json::Value;
use std::cmp::Ordering;
use std::io::{self, Write};

/// A template with paths in braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Path(Path),
    /// These pieces for each value that a path finds.
    Range(Path, Vec<Piece>),
}

/// A path in the notation of RFC 9535.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    query: String,
    /// Whether it starts at the whole result rather than the current item of a range.
    of_root: bool,
}

/// Columns: a heading and a path each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Columns(Vec<(String, Path)>);

impl Path {
    /// Parses a path in kubectl's notation: `.a.b[0]`, `{.a}`, `a.b`. Fails with a message.
    pub(crate) fn parse(text: &str) -> Result<Path, ErrorMessage> {
        let text = text.trim();
        let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text).trim();
        let (of_root, rest) = match inner.strip_prefix('$') {
            Some(rest) => (true, rest),
            None => (false, inner.strip_prefix('@').unwrap_or(inner)),
        };
        let path = Path { query: format!("${}", segments(rest)?), of_root };
        // The crate reports what it cannot parse.
        Value::Null
            .query(&path.query)
            .map_err(|_| format!("`{text}` is not a JSONPath; write it as {{.items[*].name}}"))?;
        Ok(path)
    }

    /// The values it finds.
    pub(crate) fn find<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        value.query(&self.query).unwrap_or_default()
    }
}

/// The segments of a path in the notation of RFC 9535.
fn segments(text: &str) -> Result<String, ErrorMessage> {
    let wrong = || format!("`{text}` is not a JSONPath: a bracket is not closed");
    let (mut out, mut rest) = (String::new(), text);
    while !rest.is_empty() {
        if rest.starts_with('[') {
            let end = closing(rest, '[', ']').ok_or_else(wrong)?;
            out.push_str(&rest[..=end]);
            rest = &rest[end + 1..];
            continue;
        }
        if let Some(below) = rest.strip_prefix("..") {
            out.push_str("..");
            rest = below;
        } else {
            rest = rest.strip_prefix('.').unwrap_or(rest);
        }
        let (mut name, mut end, mut escaped) = (String::new(), rest.len(), false);
        for (at, c) in rest.char_indices() {
            match c {
                '\\' if !escaped => {
                    escaped = true;
                    continue;
                }
                '.' | '[' if !escaped => {
                    end = at;
                    break;
                }
                c => name.push(c),
            }
            escaped = false;
        }
        rest = &rest[end..];
        match name.as_str() {
            "" => {}
            "*" => out.push_str("[*]"),
            name => out.push_str(&format!("['{}']", name.replace('\\', "\\\\").replace('\'', "\\'"))),
        }
    }
    Ok(out)
}

/// The end of the bracket at the start of a text; brackets in quotes do not count.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (at, c) in text.char_indices() {
        match quote {
            _ if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(mark) if c == mark => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == open => depth += 1,
            None if c == close => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            None => {}
        }
    }
    None
}

impl Template {
    /// Parses a template. Fails with a message.
    pub(crate) fn parse(text: &str) -> Result<Template, ErrorMessage> {
        if !text.contains('{') {
            return Ok(Template(vec![Piece::Path(Path::parse(text)?)]));
        }
        let mut open: Vec<(Option<Path>, Vec<Piece>)> = vec![(None, Vec::new())];
        let mut rest = text;
        while !rest.is_empty() {
            let brace = rest.find('{').unwrap_or(rest.len());
            let mut pieces = Vec::new();
            if brace > 0 {
                pieces.push(Piece::Text(rest[..brace].to_owned()));
            }
            rest = &rest[brace..];
            let mut range = None;
            let mut ends = false;
            if !rest.is_empty() {
                let end = closing(rest, '{', '}').ok_or_else(|| format!("`{text}`: a brace is not closed"))?;
                let inner = rest[1..end].trim();
                rest = &rest[end + 1..];
                match inner {
                    "end" => ends = true,
                    quoted if quoted.starts_with(['"', '\'']) => pieces.push(Piece::Text(unquoted(quoted))),
                    inner => match inner.strip_prefix("range ") {
                        Some(path) => range = Some(Path::parse(path)?),
                        None => pieces.push(Piece::Path(Path::parse(inner)?)),
                    },
                }
            }
            if let Some((_, into)) = open.last_mut() {
                into.extend(pieces);
            }
            if let Some(path) = range {
                open.push((Some(path), Vec::new()));
            }
            if ends {
                let (Some((Some(path), inner)), Some((_, outer))) = (open.pop(), open.last_mut()) else {
                    return Err(format!("`{text}`: {{end}} without {{range}}").into());
                };
                outer.push(Piece::Range(path, inner));
            }
        }
        match (open.pop(), open.is_empty()) {
            (Some((None, pieces)), true) => Ok(Template(pieces)),
            _ => Err(format!("`{text}`: {{range}} without {{end}}").into()),
        }
    }

    /// Writes the template for a value. Missing values are omitted.
    pub(crate) fn write(&self, out: &mut dyn Write, value: &Value) -> io::Result<()> {
        pieces(out, &self.0, value, value)
    }
}

fn pieces(out: &mut dyn Write, all: &[Piece], root: &Value, here: &Value) -> io::Result<()> {
    for piece in all {
        match piece {
            Piece::Text(text) => out.write_all(text.as_bytes())?,
            Piece::Path(path) => {
                let found = path.find(if path.of_root { root } else { here });
                let words: Vec<String> = found.into_iter().map(plain_text).collect();
                out.write_all(words.join(" ").as_bytes())?;
            }
            Piece::Range(path, inner) => {
                for item in path.find(if path.of_root { root } else { here }) {
                    pieces(out, inner, root, item)?;
                }
            }
        }
    }
    Ok(())
}

/// A quoted text, with its escapes resolved.
fn unquoted(text: &str) -> String {
    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
    let (mut out, mut escaped) = (String::new(), false);
    for c in inner.chars() {
        match (escaped, c) {
            (false, '\\') => {
                escaped = true;
                continue;
            }
            (true, 'n') => out.push('\n'),
            (true, 't') => out.push('\t'),
            (true, 'r') => out.push('\r'),
            (_, c) => out.push(c),
        }
        escaped = false;
    }
    out
}

fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

impl Columns {
    /// Parses `NAME:.path,NAME:.path`. Fails with a message.
    pub(crate) fn parse(text: &str) -> Result<Columns, ErrorMessage> {
        let mut columns = Vec::new();
        for part in text.split(',') {
            let (name, path) = part
                .split_once(':')
                .filter(|(name, path)| !name.is_empty() && !path.is_empty())
                .ok_or_else(|| format!("`{part}` is not a column; write it as NAME:.path"))?;
            columns.push((name.to_owned(), Path::parse(path)?));
        }
        Ok(Columns(columns))
    }

    /// Writes a table of items.
    pub(crate) fn write(&self, out: &mut dyn Write, items: &[Value], heading: bool) -> io::Result<()> {
        let names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        let cell = |path: &Path, item: &Value| {
            let found: Vec<String> = path.find(item).into_iter().map(plain_text).collect();
            if found.is_empty() { "<none>".to_owned() } else { found.join(",") }
        };
        let rows: Vec<Vec<String>> =
            items.iter().map(|item| self.0.iter().map(|(_, path)| cell(path, item)).collect()).collect();
        let widths = table::widths(&names, &rows);
        if heading {
            table::line(out, &widths, names)?;
        }
        rows.iter().try_for_each(|row| table::line(out, &widths, row.iter().map(String::as_str)))
    }
}

/// The order of items by the value that a path finds in each; items without a value come first, numbers are compared by value.
/// `None` if no item has a value.
pub(crate) fn order(path: &Path, items: &[Value]) -> Option<Vec<usize>> {
    let keys: Vec<Option<&Value>> = items.iter().map(|item| path.find(item).into_iter().next()).collect();
    if !keys.is_empty() && keys.iter().all(Option::is_none) {
        return None;
    }
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by(|&a, &b| match (keys.get(a).copied().flatten(), keys.get(b).copied().flatten()) {
        (Some(a), Some(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => plain_text(a).cmp(&plain_text(b)),
        },
        (None, Some(_)) => Ordering::Less,
        (Some(_), None) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    });
    Some(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn value() -> Value {
        json!({"items": [
            {"name": "b", "priority": 10, "labels": {"istio.io/rev": "x"}, "ports": [1, 2]},
            {"name": "a", "priority": 9, "labels": {}, "ports": []},
        ], "kind": "List"})
    }

    /// Output of `kubectl get -o jsonpath=…` for the same input, kubectl 1.33.
    #[test]
    fn templates_print_what_kubectl_prints() {
        for (template, want) in [
            ("{.items[*].name}", "b a"),
            ("{.items[0].labels.istio\\.io/rev}", "x"),
            (r#"{range .items[*]}{.name}{"\t"}{.priority}{"\n"}{end}"#, "b\t10\na\t9\n"),
            ("{.items[?(@.name==\"a\")].priority}", "9"),
            ("{.items[?(@.priority>9)].name}", "b"),
            ("{.items[-1:].name}", "a"),
            ("{..name}", "b a"),
            ("n: {.items[1].name}!", "n: a!"),
            ("{.items[0].ports}", "[1,2]"),
            ("{.nothing}", ""),
            ("{range .items[*]}{$.kind}/{.name} {end}", "List/b List/a "),
            (".kind", "List"),
        ] {
            let mut out = Vec::new();
            Template::parse(template).unwrap().write(&mut out, &value()).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), want, "{template}");
        }
        for template in ["{.items[}", "{.a", "{end}", "{range .items[*]}x", "{.items[?(}"] {
            assert!(Template::parse(template).is_err(), "{template}");
        }
    }

    #[test]
    fn columns_and_orders_take_paths_without_braces() {
        let value = value();
        let items = value["items"].as_array().unwrap();
        let mut out = Vec::new();
        let columns = Columns::parse("NAME:.name,REV:.labels.istio\\.io/rev").unwrap();
        columns.write(&mut out, items, true).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "NAME   REV\nb      x\na      <none>\n");
        assert_eq!(order(&Path::parse(".priority").unwrap(), items), Some(vec![1, 0]));
        assert_eq!(order(&Path::parse("{.name}").unwrap(), items), Some(vec![1, 0]));
        assert_eq!(order(&Path::parse("nothing").unwrap(), items), None);
        assert!(Columns::parse("NAME").is_err());
    }
}

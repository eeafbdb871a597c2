//! Follows credentials through a script in Lua: what reaches a header such as `authorization`, or is compared with one, is a
//! secret, whatever variables, tables and functions it passes through.
//!
//! A script becomes a graph. A node is a variable, a field, what a function returns, or a literal; an edge leads from a node to
//! those that are credentials if it is one. Names are not scoped: two variables of one name are one node, which can only hide
//! more. Syntax errors are skipped, because a text may contain only a part of a script.

mod reader;

use super::keys::{self, Hint};
use super::looks::{confirms, is_stand_in};
use memchr::memmem;
use reader::Reader;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// How surely a value is a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// It may be one if it is nothing but random letters and digits: a variable `key`.
    Generated,
    /// It may be one if it looks generated: `x-shop-key`.
    Random,
    /// It is compared with one or passed along with one: a secret if it does not look like a word, a name or a path.
    Doubtful,
    /// It is one.
    Certain,
}

type Node = usize;

/// An expression.
#[derive(Clone, Copy, Default)]
struct Value {
    /// Is a credential if the expression is one.
    up: Option<Node>,
    /// Makes the parts of the expression credentials.
    down: Option<Node>,
    /// Set if the expression is the name of a credential, such as `"x-api-key"`.
    names: Option<Node>,
    /// The table whose item it is.
    table: Option<Node>,
    /// The name under which it is in that table, as in `t["authorization"]`.
    key: Option<Node>,
}

/// What a node stands for, apart from literals and expressions.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Of<'t> {
    Variable(&'t str),
    Field(&'t str),
    Result(&'t str),
    Parameter(&'t str, usize),
}

/// Prefixes of credentials.
const SCHEMES: &[&str] = &["Bearer ", "bearer ", "Basic ", "basic ", "Token ", "token "];

/// Finds the literals of a script that are credentials.
pub(super) fn trace(text: &str, found: &mut Vec<Range<usize>>) {
    let parts = ["local ", "function", "(\"", "('"];
    if !parts.iter().any(|part| memmem::find(text.as_bytes(), part.as_bytes()).is_some()) {
        return;
    }
    let (mut graph, defined) = Reader::read(text);
    // What functions of Envoy and Lua do with a credential in one place says nothing about another.
    let foreign = graph.nodes.iter().filter(|(of, _)| match of {
        Of::Result(name) | Of::Parameter(name, _) => !defined.contains(name),
        Of::Variable(_) | Of::Field(_) => false,
    });
    let foreign: Vec<Node> = foreign.flat_map(|(_, node)| [*node, node + 1]).collect();
    graph.objects.extend(foreign);
    let levels = graph.levels();
    for (node, range) in graph.literals {
        let Some(level) = levels[node] else { continue };
        let literal = &text[range.clone()];
        let credential = SCHEMES.iter().find_map(|scheme| literal.strip_prefix(scheme)).unwrap_or(literal);
        if is_secret(level, credential) {
            found.push(range.end - credential.len()..range.end);
        }
    }
}

/// Whether a literal is a secret if it is used as a credential.
fn is_secret(level: Level, text: &str) -> bool {
    let is_header = text.starts_with([':', ';'])
        || text.ends_with('=')
        || matches!(text, "authorization" | "proxy-authorization" | "cookie" | "set-cookie")
        || (text.starts_with("x-") && !text.bytes().any(|byte| byte.is_ascii_uppercase()));
    if text.len() < 4 || is_stand_in(text) || is_header || text.starts_with('/') {
        return false;
    }
    let plain = without_patterns(text);
    match level {
        Level::Generated => confirms(Hint::Generated, &plain),
        Level::Random => confirms(Hint::Random, &plain),
        Level::Doubtful => {
            let long = plain.len() >= 20 && plain.bytes().all(|byte| byte.is_ascii_alphanumeric());
            let odd = plain.len() >= 6 && plain.contains(['!', '@', '#', '&']) && !plain.contains(char::is_whitespace);
            long || odd || confirms(Hint::Mixed, &plain)
        }
        Level::Certain => plain.chars().filter(char::is_ascii_alphanumeric).count() >= 3,
    }
}

/// A text without the patterns of Lua and the formats in it: `^Bearer (%w+)$`.
fn without_patterns(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '%' => drop(chars.next()),
            '[' => drop(chars.by_ref().find(|&char| char == ']')),
            '^' | '$' | '(' | ')' | '*' | '+' | '?' => {}
            _ => plain.push(char),
        }
    }
    for scheme in SCHEMES {
        if let Some(rest) = plain.strip_prefix(scheme) {
            return rest.to_owned();
        }
    }
    plain
}

#[derive(Default)]
struct Graph<'t> {
    edges: Vec<Vec<(Node, Level)>>,
    nodes: HashMap<Of<'t>, Node>,
    sources: Vec<(Node, Level)>,
    literals: Vec<(Node, Range<usize>)>,
    /// Variables with methods that strings do not have, such as the handle.
    objects: HashSet<Node>,
}

impl<'t> Graph<'t> {
    fn node(&mut self) -> Node {
        self.edges.push(Vec::new());
        self.edges.len() - 1
    }

    /// The node of a name. The next one is set if its value is the name of a credential; for what a function returns, this one
    /// makes it a credential, and the next one is one.
    fn of(&mut self, of: Of<'t>) -> Node {
        if let Some(&node) = self.nodes.get(&of) {
            return node;
        }
        let node = self.node();
        self.node();
        self.nodes.insert(of, node);
        let (Of::Variable(name) | Of::Field(name) | Of::Result(name)) = of else { return node };
        let level = match keys::hint(name) {
            Hint::None if keys::is_of_keys(name) => Level::Generated,
            Hint::None => return node,
            Hint::Secret => Level::Doubtful,
            _ => Level::Random,
        };
        self.sources.push((node, level));
        if let Of::Result(_) = of {
            self.sources.push((node + 1, level));
        }
        node
    }

    fn named(&mut self, of: Of<'t>) -> Value {
        let node = self.of(of);
        Value { up: Some(node), down: Some(node), names: Some(node + 1), ..Value::default() }
    }

    fn literal(&mut self, range: Range<usize>, text: &str) -> Value {
        let node = self.node();
        self.literals.push((node, range));
        let is_name = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let level = match keys::hint(text) {
            Hint::Secret => Some(Level::Certain),
            Hint::None => None,
            _ => Some(Level::Random),
        };
        let names = level.filter(|_| is_name).map(|level| {
            let names = self.node();
            self.sources.push((names, level));
            names
        });
        Value { down: Some(node), names, ..Value::default() }
    }

    fn edge(&mut self, from: Option<Node>, to: Option<Node>, most: Level) {
        if let (Some(from), Some(to)) = (from, to)
            && from != to
        {
            self.edges[from].push((to, most));
        }
    }

    /// One value that may be any of several, or consists of them.
    fn join(&mut self, values: &[Value]) -> Value {
        if let [one] = values {
            return *one;
        }
        let (up, down) = (Some(self.node()), Some(self.node()));
        for value in values {
            self.edge(value.up, up, Level::Certain);
            self.edge(down, value.down, Level::Certain);
        }
        Value { up, down, ..Value::default() }
    }

    /// A value gets into a variable, a field or an item of a table.
    fn assign(&mut self, target: Value, value: Value) {
        self.edge(target.up, value.down, Level::Certain);
        self.edge(value.up, target.up, Level::Certain);
        self.edge(value.names, target.names, Level::Certain);
        self.edge(target.table, value.down, Level::Certain);
        self.edge(target.key, value.down, Level::Certain);
    }

    /// How surely each node is a credential.
    fn levels(&self) -> Vec<Option<Level>> {
        let mut levels: Vec<Option<Level>> = vec![None; self.edges.len()];
        for level in [Level::Certain, Level::Doubtful, Level::Random, Level::Generated] {
            let of_level = self.sources.iter().filter(|(_, of)| *of == level).map(|(node, _)| *node);
            let mut open: Vec<Node> = of_level.filter(|&node| levels[node] < Some(level)).collect();
            // What a surer node only makes likely.
            for (_, edges) in self.edges.iter().enumerate().filter(|(from, _)| levels[*from] > Some(level)) {
                let weaker = edges.iter().filter(|(to, most)| *most == level && levels[*to] < Some(level));
                open.extend(weaker.map(|(to, _)| *to));
            }
            while let Some(node) = open.pop() {
                if levels[node] >= Some(level) || self.objects.contains(&node) {
                    continue;
                }
                levels[node] = Some(level);
                open.extend(self.edges[node].iter().filter(|(_, most)| *most >= level).map(|(to, _)| *to));
            }
        }
        levels
    }
}

#[cfg(test)]
mod tests;

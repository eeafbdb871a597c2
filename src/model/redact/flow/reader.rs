//! Reads a script: which expressions get into which others.

use super::{Graph, Level, Node, Of, Value};
use crate::lua::{self, Token};
use std::collections::HashSet;

/// Methods of strings: their receiver is a value, not an object.
const OF_STRINGS: &[&str] =
    &["byte", "find", "format", "gmatch", "gsub", "len", "lower", "match", "rep", "reverse", "sub", "upper"];
/// Functions whose result is their argument in another form.
const SAME: &[&str] = &["base64Escape", "concat", "format", "ipairs", "lower", "pairs", "tostring", "trim", "upper"];
/// Maximum nesting of expressions and functions.
const MAX_DEPTH: usize = 100;

/// Reads a script.
pub(super) struct Reader<'t> {
    text: &'t str,
    tokens: Vec<(usize, Token<'t>)>,
    at: usize,
    depth: usize,
    graph: Graph<'t>,
    /// The functions of the script.
    defined: HashSet<&'t str>,
}

impl<'t> Reader<'t> {
    /// The graph of a script, and the functions that it defines.
    pub(super) fn read(text: &'t str) -> (Graph<'t>, HashSet<&'t str>) {
        let (graph, defined) = (Graph::default(), HashSet::new());
        let mut reader = Reader { text, tokens: lua::tokens(text), at: 0, depth: 0, graph, defined };
        while reader.at < reader.tokens.len() {
            reader.block(None);
        }
        (reader.graph, reader.defined)
    }

    fn token(&self) -> Token<'t> {
        self.tokens.get(self.at).map_or(Token::End, |(_, token)| *token)
    }

    fn accept(&mut self, token: Token<'_>) -> bool {
        let found = self.token() == token;
        self.at += usize::from(found);
        found
    }

    fn name(&mut self) -> Option<&'t str> {
        let Token::Name(name) = self.token() else { return None };
        self.at += 1;
        Some(name)
    }

    /// The statements of a function, or of the whole text, to its end.
    fn block(&mut self, function: Option<&'t str>) {
        let mut open = 0_usize;
        loop {
            let before = self.at;
            match self.token() {
                Token::End => return,
                Token::Keyword(word) => {
                    self.at += 1;
                    match word {
                        "end" if open == 0 => return,
                        "end" => open -= 1,
                        "do" | "repeat" => open += 1,
                        "until" => {
                            open = open.saturating_sub(1);
                            self.expression();
                        }
                        "if" => {
                            open += 1;
                            self.expression();
                        }
                        "elseif" | "while" => {
                            self.expression();
                        }
                        "for" => self.for_loop(),
                        "function" => self.function(None),
                        "local" if self.accept(Token::Keyword("function")) => self.function(None),
                        "local" => self.local(),
                        "return" => self.returns(function),
                        _ => {}
                    }
                }
                _ => self.call_or_assignment(),
            }
            if self.at == before {
                self.at += 1;
            }
        }
    }

    fn names(&mut self) -> Vec<Value> {
        let mut names = Vec::new();
        while let Some(name) = self.name() {
            // `_` is no variable of anybody.
            let is_used = name != "_";
            names.push(if is_used { self.graph.named(Of::Variable(name)) } else { Value::default() });
            // `local a <const>`
            if self.accept(Token::Sign("<")) {
                self.name();
                self.accept(Token::Sign(">"));
            }
            if !self.accept(Token::Sign(",")) {
                break;
            }
        }
        names
    }

    fn for_loop(&mut self) {
        let names = self.names();
        let is_list = self.accept(Token::Keyword("in"));
        if is_list || self.accept(Token::Sign("=")) {
            let values = self.expressions();
            if let [list, ..] = values[..]
                && is_list
            {
                names.iter().for_each(|name| self.graph.assign(*name, list));
            }
        }
    }

    fn local(&mut self) {
        let names = self.names();
        if self.accept(Token::Sign("=")) {
            self.assigned(&names);
        }
    }

    fn returns(&mut self, function: Option<&'t str>) {
        let values = self.expressions();
        if let Some(function) = function {
            let result = self.graph.of(Of::Result(function));
            for value in values {
                self.graph.edge(Some(result), value.down, Level::Certain);
                self.graph.edge(value.up, Some(result + 1), Level::Certain);
            }
        }
    }

    /// The values of an assignment. What is left over belongs to the last of them, a call.
    fn assigned(&mut self, targets: &[Value]) {
        // `f = function(…)`
        if let (Some((_, Token::Name(name))), Token::Keyword("function")) =
            (self.at.checked_sub(2).and_then(|at| self.tokens.get(at).copied()), self.token())
        {
            self.at += 1;
            self.function(Some(name));
            return;
        }
        let values = self.expressions();
        for (index, target) in targets.iter().enumerate() {
            if let Some(value) = values.get(index).or(values.last()) {
                self.graph.assign(*target, *value);
            }
        }
    }

    fn call_or_assignment(&mut self) {
        let mut targets = vec![self.postfix()];
        while self.accept(Token::Sign(",")) {
            targets.push(self.postfix());
        }
        if self.accept(Token::Sign("=")) {
            self.assigned(&targets);
        }
    }

    /// A function, after the keyword.
    fn function(&mut self, mut name: Option<&'t str>) {
        while let Some(part) = self.name() {
            name = Some(part);
            if !self.accept(Token::Sign(".")) && !self.accept(Token::Sign(":")) {
                break;
            }
        }
        self.defined.extend(name);
        if self.accept(Token::Sign("(")) {
            for (index, parameter) in self.names().into_iter().enumerate() {
                let Some(name) = name else { continue };
                let given = self.graph.of(Of::Parameter(name, index));
                self.graph.edge(parameter.up, Some(given), Level::Certain);
                self.graph.edge(Some(given + 1), parameter.names, Level::Certain);
            }
            self.accept(Token::Sign("..."));
            self.accept(Token::Sign(")"));
        }
        if self.depth < MAX_DEPTH {
            self.depth += 1;
            self.block(name);
            self.depth -= 1;
        }
    }

    fn expressions(&mut self) -> Vec<Value> {
        let mut values = vec![self.expression()];
        while self.accept(Token::Sign(",")) {
            values.push(self.expression());
        }
        values
    }

    fn expression(&mut self) -> Value {
        if self.depth >= MAX_DEPTH {
            return Value::default();
        }
        self.depth += 1;
        let mut values = vec![self.comparison()];
        while self.accept(Token::Keyword("and")) || self.accept(Token::Keyword("or")) {
            values.push(self.comparison());
        }
        self.depth -= 1;
        let names: Vec<Node> = values.iter().filter_map(|value| value.names).collect();
        let mut joined = self.graph.join(&values);
        if let (None, Some(_)) = (joined.names, names.first()) {
            let either = self.graph.node();
            names.into_iter().for_each(|name| self.graph.edge(Some(name), Some(either), Level::Certain));
            joined.names = Some(either);
        }
        joined
    }

    fn comparison(&mut self) -> Value {
        let mut left = self.concatenation();
        while let Token::Sign("==" | "~=" | "<" | ">" | "<=" | ">=") = self.token() {
            self.at += 1;
            let right = self.concatenation();
            self.graph.edge(left.up, right.down, Level::Doubtful);
            self.graph.edge(right.up, left.down, Level::Doubtful);
            left = Value::default();
        }
        left
    }

    fn concatenation(&mut self) -> Value {
        let mut parts = vec![self.unary()];
        while let Token::Sign(".." | "+" | "-" | "*" | "/" | "%" | "^") = self.token() {
            self.at += 1;
            parts.push(self.unary());
        }
        self.graph.join(&parts)
    }

    fn unary(&mut self) -> Value {
        let mut is_value = true;
        while let Token::Keyword("not") | Token::Sign("-" | "#") = self.token() {
            self.at += 1;
            is_value = false;
        }
        let value = self.postfix();
        if is_value { value } else { Value::default() }
    }

    /// A name, literal, table or function with the calls and items after it.
    fn postfix(&mut self) -> Value {
        let mut callee = None;
        let mut value = match self.token() {
            Token::Text(text) => self.text(text),
            Token::Name(name) => {
                self.at += 1;
                callee = Some(name);
                if self.calls() { Value::default() } else { self.graph.named(Of::Variable(name)) }
            }
            Token::Sign("(") => {
                self.at += 1;
                let inner = self.expression();
                self.accept(Token::Sign(")"));
                inner
            }
            Token::Sign("{") => return self.table(),
            Token::Keyword("function") => {
                self.at += 1;
                self.function(None);
                return Value::default();
            }
            Token::Number | Token::Keyword("nil" | "true" | "false") | Token::Sign("...") => {
                self.at += 1;
                return Value::default();
            }
            _ => return Value::default(),
        };
        loop {
            match self.token() {
                Token::Sign(".") => {
                    self.at += 1;
                    let Some(name) = self.name() else { return value };
                    callee = Some(name);
                    if !self.calls() {
                        let field = self.graph.named(Of::Field(name));
                        value = Value { table: value.down, ..field };
                    }
                }
                Token::Sign("[") => {
                    self.at += 1;
                    value = self.item(value);
                    callee = None;
                }
                Token::Sign(":") => {
                    self.at += 1;
                    let Some(method) = self.name() else { return value };
                    if !self.calls() {
                        return value;
                    }
                    let receiver = Some(value).filter(|_| OF_STRINGS.contains(&method));
                    if receiver.is_none() {
                        self.graph.objects.extend(value.up.filter(|_| value.table.is_none()));
                    }
                    value = self.call(Some(method), receiver);
                }
                _ if self.calls() => value = self.call(callee.take(), None),
                _ => return value,
            }
        }
    }

    /// Whether the arguments of a call follow.
    fn calls(&self) -> bool {
        matches!(self.token(), Token::Sign("(" | "{") | Token::Text(_))
    }

    fn text(&mut self, text: &'t str) -> Value {
        let start = self.tokens[self.at].0;
        self.at += 1;
        let rest = &self.text.as_bytes()[start..];
        // `"`, or `[==[`.
        let quote = if rest.first() == Some(&b'[') {
            2 + rest.iter().skip(1).take_while(|&&byte| byte == b'=').count()
        } else {
            1
        };
        self.graph.literal(start + quote..start + quote + text.len(), text)
    }

    /// An item of a table, after the bracket: `t["k"]`, `t[k]`.
    fn item(&mut self, table: Value) -> Value {
        let key = if let [(_, Token::Text(text)), (_, Token::Sign("]"))] =
            self.tokens[self.at..].get(..2).unwrap_or_default()
        {
            Some(*text)
        } else {
            None
        };
        let index = self.expression();
        self.accept(Token::Sign("]"));
        // The keys of a table of credentials are credentials, as in `allowed["…"] = true`.
        self.graph.edge(table.down, index.down, Level::Doubtful);
        self.graph.edge(index.up, table.down, Level::Doubtful);
        match key {
            Some(key) => Value { table: table.down, key: index.names, ..self.graph.named(Of::Field(key)) },
            None => Value { down: table.down, table: table.down, ..Value::default() },
        }
    }

    fn table(&mut self) -> Value {
        let down = Some(self.graph.node());
        let whole = Value { down, ..Value::default() };
        self.at += 1;
        if self.depth >= MAX_DEPTH {
            return whole;
        }
        self.depth += 1;
        loop {
            let before = self.at;
            let target = match (self.token(), self.tokens.get(self.at + 1).map(|(_, token)| *token)) {
                (Token::Sign("}"), _) => {
                    self.at += 1;
                    break;
                }
                (Token::End | Token::Keyword("end" | "then" | "local" | "return"), _) => break,
                (Token::Sign("["), _) => {
                    self.at += 1;
                    let target = self.item(whole);
                    self.accept(Token::Sign("="));
                    target
                }
                (Token::Name(name), Some(Token::Sign("="))) => {
                    self.at += 2;
                    Value { table: down, ..self.graph.named(Of::Field(name)) }
                }
                _ => Value { table: down, ..Value::default() },
            };
            let value = self.expression();
            self.graph.assign(target, value);
            if !self.accept(Token::Sign(",")) {
                self.accept(Token::Sign(";"));
            }
            if self.at == before {
                self.at += 1;
            }
        }
        self.depth -= 1;
        whole
    }

    /// A call, at its arguments.
    fn call(&mut self, name: Option<&'t str>, receiver: Option<Value>) -> Value {
        let values = match self.token() {
            Token::Text(text) => vec![self.text(text)],
            Token::Sign("{") => vec![self.table()],
            _ => {
                self.at += 1;
                let values = if self.token() == Token::Sign(")") { Vec::new() } else { self.expressions() };
                self.accept(Token::Sign(")"));
                values
            }
        };
        let name = name.unwrap_or_default();
        let is_of_strings = OF_STRINGS.contains(&name);
        // The argument of a getter names what is read.
        let reads = name.starts_with("get") || name == "require";
        let through = if SAME.contains(&name) { Level::Certain } else { Level::Doubtful };
        let graph = &mut self.graph;
        let result = graph.of(Of::Result(name));
        let (up, down, together) = (Some(graph.node()), Some(graph.node()), Some(graph.node()));
        graph.edge(Some(result + 1), up, Level::Certain);
        graph.edge(down, Some(result), Level::Certain);
        // `add("authorization", …)`: what follows the name is the credential.
        let mut after = None;
        for (index, value) in values.iter().enumerate() {
            graph.edge(after, value.down, Level::Certain);
            if !is_of_strings && value.names.is_some() {
                let next = Some(graph.node());
                graph.edge(after, next, Level::Certain);
                graph.edge(value.names, next, Level::Certain);
                graph.edge(value.names, up, Level::Doubtful);
                after = next;
            }
            let parameter = graph.of(Of::Parameter(name, index));
            graph.edge(Some(parameter), value.down, Level::Certain);
            graph.edge(value.names, Some(parameter + 1), Level::Certain);
        }
        // `string.find(token, "…")`: what is passed along with a credential may be one.
        let parts = values.len() + usize::from(receiver.is_some());
        for value in values.iter().copied().chain(receiver) {
            graph.edge(value.up, up, Level::Certain);
            if !reads {
                graph.edge(down, value.down, through);
            }
            if parts > 1 {
                graph.edge(value.up, together, Level::Certain);
                graph.edge(together, value.down, Level::Doubtful);
            }
        }
        Value { up, down, ..Value::default() }
    }
}

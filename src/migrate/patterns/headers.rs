//! Constant headers by a filter: Lua or header mutation that does what `headers` of a VirtualService does.

use crate::lua::{self, Token};
use crate::migrate::base::catalog;
use crate::migrate::base::step::{Home, Move, Part};
use crate::migrate::base::value::Fields;
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::model::envoy_filter::{ApplyTo, Operation};
use serde_json::Value as Json;

const MUTATION: &str = "envoy.extensions.filters.http.header_mutation.v3.HeaderMutation";
const JWT: &str = "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication";
const FIELD: &str = "http.headers";
const KUBE_FIELD: &str = "rules.filters";

/// Finds header mutations with constant values, and claims that a MERGE copies to headers.
pub(in crate::migrate) fn find(parts: &mut [Part<'_>]) {
    for part in parts.iter_mut().filter(|part| part.found.is_none() && part.apply_to() == ApplyTo::HttpFilter) {
        let found = match part.config_type() {
            MUTATION if part.inserts() => mutation(&part.value),
            JWT if part.operation() == Operation::Merge => claims(&part.value),
            _ => None,
        };
        if let Some(found) = found {
            part.answer(found);
        }
    }
}

/// A VirtualService has rules for hosts; the filter is for listeners.
fn of_rules(found: &mut Move) {
    let reason = "a VirtualService names hosts, and the filter is for whole listeners: write the headers into the rules of each host; responses that proxies generate themselves do not get them";
    found.difference(Kind::Behavior, reason);
    found.guard(Concern::Existing, State::Broken, reason);
}

fn mutation(value: &Fields) -> Option<Move> {
    let mutations = value.peek("typed_config/mutations")?.as_object()?;
    let mut lists = mutations.iter().flat_map(|(_, list)| list.as_array().into_iter().flatten());
    let known = |one: &Json| {
        let text = one.pointer("/append/header/value").and_then(Json::as_str);
        one.get("remove").is_some_and(Json::is_string) || text.is_some_and(|text| !text.contains('%'))
    };
    if mutations.is_empty() || !lists.all(known) {
        return None;
    }
    let mut found = Move::new(&catalog::ROUTE_HEADERS).home("VirtualService", FIELD, 0);
    of_rules(&mut found);
    Some(found)
}

/// Claims that go to headers: a field of the RequestAuthentication whose provider a MERGE would replace.
fn claims(value: &Fields) -> Option<Move> {
    let providers = value.peek("typed_config/providers")?.as_object()?;
    let copies = |provider: &Json| provider.get("claim_to_headers").is_some();
    if !providers.values().any(copies) {
        return None;
    }
    let mut found = Move::new(&catalog::JWT).home("RequestAuthentication", "jwtRules.outputClaimToHeaders", 0);
    let reason =
        "MERGE replaces the whole provider that istiod generates; write the field into the RequestAuthentication";
    found.difference(Kind::Behavior, reason);
    found.guard(Concern::Existing, State::Broken, reason);
    Some(found)
}

/// Another API for what Lua code does: constant headers, or claims that it copies. `kube` if HTTPRoutes route the requests.
pub(in crate::migrate) fn of_lua(code: &str, kube: bool) -> Option<Home> {
    // What LuaJIT does not load does nothing.
    lua::parse(code).ok()?;
    let tokens: Vec<Token<'_>> = lua::tokens(code).into_iter().map(|(_, token)| token).collect();
    let home = |kind, field: &str| Some(Home { kind, field: field.to_owned(), since: None });
    let changes = |pair: &[Token<'_>]| matches!(pair, [Token::Sign(":"), Token::Name("add" | "replace")]);
    if tokens.contains(&Token::Text("envoy.filters.http.jwt_authn")) && tokens.windows(2).any(changes) {
        return home("RequestAuthentication", "jwtRules.outputClaimToHeaders");
    }
    let (kind, field) = if kube { ("HTTPRoute", KUBE_FIELD) } else { ("VirtualService", FIELD) };
    is_constant(&tokens).then(|| home(kind, field)).flatten()
}

/// Whether every statement of a script adds, replaces or removes a header with constant names and values.
fn is_constant(tokens: &[Token<'_>]) -> bool {
    let mut script = Script { tokens, changes: 0 };
    while !script.tokens.is_empty() {
        if script.function().is_none() {
            return false;
        }
    }
    script.changes > 0
}

/// The rest of a script that only changes headers.
struct Script<'s, 't> {
    tokens: &'s [Token<'t>],
    changes: usize,
}

impl<'t> Script<'_, 't> {
    fn next(&mut self) -> Option<Token<'t>> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(*first)
    }

    fn sign(&mut self, sign: &str) -> Option<()> {
        (self.next()? == Token::Sign(sign)).then_some(())
    }

    fn name(&mut self) -> Option<&'t str> {
        let Token::Name(name) = self.next()? else { return None };
        Some(name)
    }

    fn takes(&mut self, token: Token<'_>) -> bool {
        let found = self.tokens.first() == Some(&token);
        if found {
            self.tokens = &self.tokens[1..];
        }
        found
    }

    /// `function envoy_on_request(handle) … end`.
    fn function(&mut self) -> Option<()> {
        if self.takes(Token::Sign(";")) {
            return Some(());
        }
        (self.next()? == Token::Keyword("function")).then_some(())?;
        matches!(self.name()?, "envoy_on_request" | "envoy_on_response").then_some(())?;
        self.sign("(")?;
        let handle = self.name()?;
        self.sign(")")?;
        let mut held = Vec::new();
        while !self.takes(Token::Keyword("end")) {
            if !self.takes(Token::Sign(";")) {
                self.statement(handle, &mut held)?;
            }
        }
        Some(())
    }

    /// `local all = handle:headers()`, or a change of such headers.
    fn statement(&mut self, handle: &str, held: &mut Vec<&'t str>) -> Option<()> {
        if self.takes(Token::Keyword("local")) {
            let name = self.name()?;
            self.sign("=")?;
            (self.name()? == handle).then_some(())?;
            self.headers()?;
            held.push(name);
            return Some(());
        }
        let of = self.name()?;
        if of == handle && !held.contains(&of) {
            self.headers()?;
        } else {
            held.contains(&of).then_some(())?;
        }
        self.sign(":")?;
        let arguments = match self.name()? {
            "add" | "replace" => 2,
            "remove" => 1,
            _ => return None,
        };
        self.sign("(")?;
        for number in 0..arguments {
            if number > 0 {
                self.sign(",")?;
            }
            matches!(self.next()?, Token::Text(_)).then_some(())?;
        }
        self.sign(")")?;
        self.changes += 1;
        Some(())
    }

    /// `:headers()`.
    fn headers(&mut self) -> Option<()> {
        self.sign(":")?;
        (self.name()? == "headers").then_some(())?;
        self.sign("(")?;
        self.sign(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_constant(code: &str) -> bool {
        of_lua(code, false).is_some_and(|home| home.kind == "VirtualService")
    }

    #[test]
    fn constant_headers_are_told_from_computed_ones() {
        let script = |body: &str| format!("function envoy_on_response(h)\n  {body}\nend\n");
        assert!(is_constant(&script("h:headers():add('a', \"b\") -- why")));
        assert!(is_constant(&script("local all = h:headers()\n  all:remove('server');")));
        // One statement on several lines, several on one line, comments with quotes, texts that look like code.
        assert!(is_constant(&script("h:headers():add(\n'a', --[[ it's ]] 'it -- is'\n) h:headers():remove([[b]])")));
        assert!(is_constant(&script("h:headers():add('a', ' .. os.date()')")));
        assert!(!is_constant(&script("h:headers():add('a', os.date())")));
        assert!(!is_constant(&script("h:headers():add('a', 'b' .. 'c')")));
        assert!(!is_constant(&script("if x then h:headers():add('a', 'b') end")));
        assert!(!is_constant(&script("h:headers():add('a', 'b') x = 'y'")));
        assert!(!is_constant(&script("h:body():add('a', 'b')")));
        assert!(!is_constant(&script("local all = other:headers() all:remove('a')")));
        assert!(!is_constant(&script("h:headers():replace('a')")));
        assert!(!is_constant("function envoy_on_request(h)\nend"));
        assert!(!is_constant("-- h:headers():add('a', 'b')\nfunction envoy_on_request(h)\nend"));
        assert!(!is_constant("function envoy_on_request(h) h:headers():add('a', 'b')"));
    }

    #[test]
    fn copied_claims_are_found_in_code_and_not_in_comments() {
        let code = "function envoy_on_request(h)\n local m = h:streamInfo():dynamicMetadata():get('envoy.filters.http.jwt_authn')\n h:headers():add('x', m.p.sub)\nend";
        assert_eq!(of_lua(code, false).map(|home| home.kind), Some("RequestAuthentication"));
        let code = "-- 'envoy.filters.http.jwt_authn'\nfunction envoy_on_request(h)\n h:headers():add('x', h.y)\nend";
        assert_eq!(of_lua(code, false), None);
    }
}

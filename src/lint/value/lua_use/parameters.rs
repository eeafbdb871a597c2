//! What the functions of a script get as arguments: the handle, or its headers.

use crate::lua::Token;
use std::collections::{BTreeMap, BTreeSet};

/// What every call passes at a place.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Given {
    Handle,
    Headers,
}

/// What functions get, by their name and the place of the parameter: only where all calls agree, and nothing else than a
/// call names the function.
pub(super) fn given<'t>(tokens: &[(usize, Token<'t>)]) -> BTreeMap<(&'t str, usize), Given> {
    let token = |at: usize| tokens.get(at).map_or(Token::End, |(_, token)| *token);
    let sign = |at: usize, sign: &str| token(at) == Token::Sign(sign);
    let entry = |name: Token<'_>| matches!(name, Token::Name("envoy_on_request" | "envoy_on_response"));
    let handles: BTreeSet<&str> = (0..tokens.len())
        .filter(|&at| token(at) == Token::Keyword("function") && entry(token(at + 1)) && sign(at + 2, "("))
        .filter_map(|at| if let Token::Name(handle) = token(at + 3) { Some(handle) } else { None })
        .collect();
    if handles.is_empty() {
        return BTreeMap::new();
    }
    // The token after `handle:headers()`.
    let headers = |at: usize| {
        let called = matches!(token(at), Token::Name(handle) if handles.contains(handle))
            && sign(at + 1, ":")
            && token(at + 2) == Token::Name("headers");
        (called && sign(at + 3, "(") && sign(at + 4, ")")).then_some(at + 5)
    };
    let mut held: BTreeSet<&str> = BTreeSet::new();
    for at in 0..tokens.len() {
        if let (Token::Name(name), Some(end)) = (token(at), headers(at + 2))
            && sign(at + 1, "=")
            && !sign(end, ":")
        {
            held.insert(name);
        }
    }
    let ends = |at: usize| sign(at, ",") || sign(at, ")");
    let argument = |at: usize| match token(at) {
        Token::Name(name) if ends(at + 1) && handles.contains(name) => Some(Given::Handle),
        Token::Name(name) if ends(at + 1) && held.contains(name) => Some(Given::Headers),
        _ => headers(at).filter(|end| ends(*end)).map(|_| Given::Headers),
    };
    let mut found: BTreeMap<(&str, usize), Option<Given>> = BTreeMap::new();
    let mut escaped: BTreeSet<&str> = BTreeSet::new();
    for at in 0..tokens.len() {
        let Token::Name(name) = token(at) else { continue };
        let before = at.checked_sub(1).map_or(Token::End, token);
        if matches!(before, Token::Keyword("function") | Token::Sign("." | ":")) {
            continue;
        }
        if !sign(at + 1, "(") {
            escaped.insert(name);
            continue;
        }
        let (mut next, mut place) = (at + 2, 0);
        loop {
            let what = argument(next);
            found.entry((name, place)).and_modify(|one| *one = one.filter(|one| Some(*one) == what)).or_insert(what);
            match next_argument(tokens, next) {
                Next::At(argument) => (next, place) = (argument, place + 1),
                Next::None => break,
                Next::TooFar => {
                    escaped.insert(name);
                    break;
                }
            }
        }
    }
    let known = found.into_iter().filter(|((name, _), _)| !escaped.contains(name));
    known.filter_map(|(place, what)| Some((place, what?))).collect()
}

/// Maximum number of tokens of an argument that are looked at.
const LOOK: usize = 200;

/// What follows an argument.
enum Next {
    /// Another one, at this token.
    At(usize),
    None,
    TooFar,
}

fn next_argument(tokens: &[(usize, Token<'_>)], from: usize) -> Next {
    let mut depth = 0usize;
    for (at, (_, token)) in tokens.iter().enumerate().skip(from).take(LOOK) {
        match token {
            Token::Sign("(" | "{" | "[") => depth += 1,
            Token::Sign(")" | "}" | "]") if depth == 0 => return Next::None,
            Token::Sign(")" | "}" | "]") => depth -= 1,
            Token::Sign(",") if depth == 0 => return Next::At(at + 1),
            _ => {}
        }
    }
    Next::TooFar
}

/// How many times a script gets each header.
pub(super) fn gets<'t>(tokens: &[(usize, Token<'t>)]) -> BTreeMap<&'t str, usize> {
    let mut found = BTreeMap::new();
    for window in tokens.windows(4) {
        if let [(_, Token::Sign(":")), (_, Token::Name("get")), (_, Token::Sign("(")), (_, Token::Text(header))] =
            window
        {
            *found.entry(*header).or_default() += 1;
        }
    }
    found
}

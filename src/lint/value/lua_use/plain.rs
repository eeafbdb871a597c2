//! Calls of methods in other forms, read as `object:method()`: `object["method"](object)`, `object.method(object)`, and
//! `call(object)` after `local call = object.method`.

use crate::lua::Token;
use std::collections::HashMap;

type Tokens<'t> = Vec<(usize, Token<'t>)>;

/// The tokens with every call of a method in its usual form. What is not certainly such a call stays as it is.
pub(super) fn calls(tokens: Tokens<'_>) -> Tokens<'_> {
    let locals = methods(&tokens);
    let mut plain = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(&(place, token)) = tokens.get(at) {
        let found = if part_of_another(&tokens, at) { None } else { call(&tokens, at, &locals) };
        let Some((object, method, open)) = found else {
            plain.push((place, token));
            at += 1;
            continue;
        };
        let name = tokens.get(open - 1).map_or(place, |(place, _)| *place);
        plain.extend([(place, Token::Name(object)), (place, Token::Sign(":")), (name, Token::Name(method))]);
        plain.push((name, Token::Sign("(")));
        // The object is no argument of the usual form.
        at = open + if sign(&tokens, open + 2, ",") { 3 } else { 2 };
    }
    plain
}

/// The object and the method of a call that begins at a token, and its bracket.
fn call<'t>(
    tokens: &[(usize, Token<'t>)],
    at: usize,
    locals: &HashMap<&'t str, (&'t str, &'t str)>,
) -> Option<(&'t str, &'t str, usize)> {
    let first = name(tokens, at)?;
    let (object, method, open) = match locals.get(first) {
        Some((object, method)) => (*object, *method, at + 1),
        None if sign(tokens, at + 1, ".") => (first, name(tokens, at + 2)?, at + 3),
        None if sign(tokens, at + 1, "[") && sign(tokens, at + 3, "]") => {
            let Token::Text(method) = tokens.get(at + 2)?.1 else { return None };
            (first, method, at + 4)
        }
        None => return None,
    };
    let is_name = method.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let given = sign(tokens, open, "(") && name(tokens, open + 1) == Some(object);
    let ends = sign(tokens, open + 2, ",") || sign(tokens, open + 2, ")");
    (is_name && !method.is_empty() && given && ends).then_some((object, method, open))
}

/// Locals that hold the method of an object, by name: declared once, and only ever called.
fn methods<'t>(tokens: &[(usize, Token<'t>)]) -> HashMap<&'t str, (&'t str, &'t str)> {
    let mut found: HashMap<&str, Option<(&str, &str)>> = HashMap::new();
    for at in 0..tokens.len() {
        let declared = keyword(tokens, at, "local").then(|| method_of(tokens, at)).flatten();
        if let Some((local, object, method)) = declared {
            let known = found.contains_key(local);
            found.insert(local, (!known).then_some((object, method)));
        }
    }
    if found.is_empty() {
        return HashMap::new();
    }
    for at in 1..tokens.len() {
        let Some(used) = name(tokens, at).and_then(|name| found.get_mut(name)) else { continue };
        let field = sign(tokens, at - 1, ".") || sign(tokens, at - 1, ":");
        let called = sign(tokens, at + 1, "(") && !keyword(tokens, at - 1, "function");
        if !field && !called && method_of(tokens, at - 1).is_none() {
            *used = None;
        }
    }
    found.into_iter().filter_map(|(local, of)| Some((local, of?))).collect()
}

/// The names of `local call = object.method`, from its keyword.
fn method_of<'t>(tokens: &[(usize, Token<'t>)], at: usize) -> Option<(&'t str, &'t str, &'t str)> {
    let shape = keyword(tokens, at, "local") && sign(tokens, at + 2, "=") && sign(tokens, at + 4, ".");
    // The next statement begins here.
    let ends = match tokens.get(at + 6).map_or(Token::End, |(_, token)| *token) {
        Token::Keyword(word) => !matches!(word, "and" | "or"),
        Token::Name(_) | Token::Sign(";") | Token::End => true,
        _ => false,
    };
    (shape && ends).then_some(())?;
    Some((name(tokens, at + 1)?, name(tokens, at + 3)?, name(tokens, at + 5)?))
}

/// Whether a name is a field of another value, or the name of a function that is defined.
fn part_of_another(tokens: &[(usize, Token<'_>)], at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return false };
    sign(tokens, before, ".") || sign(tokens, before, ":") || keyword(tokens, before, "function")
}

fn name<'t>(tokens: &[(usize, Token<'t>)], at: usize) -> Option<&'t str> {
    let Token::Name(name) = tokens.get(at)?.1 else { return None };
    Some(name)
}

fn sign(tokens: &[(usize, Token<'_>)], at: usize, sign: &str) -> bool {
    tokens.get(at).is_some_and(|(_, token)| *token == Token::Sign(sign))
}

fn keyword(tokens: &[(usize, Token<'_>)], at: usize, word: &str) -> bool {
    tokens.get(at).is_some_and(|(_, token)| *token == Token::Keyword(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Token<'_>> {
        calls(crate::lua::tokens(text)).into_iter().map(|(_, token)| token).collect()
    }

    fn usual(text: &str) -> Vec<Token<'_>> {
        crate::lua::tokens(text).into_iter().map(|(_, token)| token).collect()
    }

    #[test]
    fn calls_of_methods_have_one_form() {
        assert_eq!(read("h['headers'](h):get('a')"), usual("h:headers():get('a')"));
        assert_eq!(read("h.httpCall(h, 'c', {}, '', 0)"), usual("h:httpCall('c', {}, '', 0)"));
        assert_eq!(read("local get = hs.get return get(hs, 'a')"), usual("local get = hs.get return hs:get('a')"));
    }

    #[test]
    fn other_calls_stay() {
        for text in [
            "h['headers'](g)",
            "a.h.get(h)",
            "h['a b'](h)",
            "h.get(h.b)",
            "function m.get(m) end",
            "local get = hs.get get = other get(hs, 'a')",
            "local get = hs.get local function f(get) get(hs) end",
            "local get = hs.get or other get(hs, 'a')",
            "local get = hs.get() get(hs, 'a')",
            "local insert = table.insert insert(t, 1)",
        ] {
            assert_eq!(read(text), usual(text), "{text}");
        }
    }
}

//! CEL expressions in values: what is certainly missing in one.

/// What is certainly missing in an expression; everything else is left to Envoy.
pub(crate) fn unfinished(text: &str) -> Option<&'static str> {
    let text = text.trim_end();
    if text.is_empty() {
        return Some("is empty");
    }
    if text.contains("//") || text.contains("\"\"\"") || text.contains("'''") {
        // Comments and long strings.
        return None;
    }
    let (mut open, mut quote, mut escaped) = (Vec::new(), None, false);
    for char in text.chars() {
        match (quote, char) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(begin), end) if begin == end => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(char),
            (None, '(' | '[' | '{') => open.push(char),
            (None, ')' | ']' | '}') => {
                let fits = matches!((open.pop(), char), (Some('('), ')') | (Some('['), ']') | (Some('{'), '}'));
                if !fits {
                    return Some("has a closing bracket without an opening one");
                }
            }
            _ => {}
        }
    }
    if quote.is_some() {
        Some("has a string without an end")
    } else if let Some(trouble) = word(text) {
        Some(trouble)
    } else if !open.is_empty() {
        Some("has an opening bracket without a closing one")
    } else if text.ends_with(['.', '=', '<', '>', '&', '|', '+', '-', '*', '/', '%', '!', '?', ':', ',']) {
        Some("ends with an operator")
    } else {
        None
    }
}

/// Operators of other languages, which no expression can contain.
const WORDS: [(&str, &str); 4] = [
    ("AND", "has the word `AND`, which CEL writes `&&`"),
    ("and", "has the word `and`, which CEL writes `&&`"),
    ("OR", "has the word `OR`, which CEL writes `||`"),
    ("or", "has the word `or`, which CEL writes `||`"),
];

/// A word instead of an operator.
fn word(text: &str) -> Option<&'static str> {
    let bare = without_texts(text);
    WORDS.iter().find(|(word, _)| joins(&bare, word)).map(|(_, trouble)| *trouble)
}

/// Whether a word stands between two operands, in an expression without its texts.
fn joins(bare: &str, word: &str) -> bool {
    let operand = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '"' | ')' | ']');
    bare.match_indices(word).any(|(found, _)| {
        let (before, after) = (&bare[..found], &bare[found + word.len()..]);
        let apart = before.ends_with(char::is_whitespace) && after.starts_with(char::is_whitespace);
        let before = before.trim_end();
        let left = before.chars().next_back().is_some_and(operand) && !before.ends_with(" in");
        let right = after.trim_start().chars().next().is_some_and(|c| operand(c) || matches!(c, '(' | '!'));
        apart && left && right
    })
}

/// An expression in which every text is one quotation mark.
pub(crate) fn without_texts(expression: &str) -> String {
    let (mut bare, mut quote, mut escaped) = (String::new(), None, false);
    for char in expression.chars() {
        match (quote, char) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(begin), end) if begin == end => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => {
                quote = Some(char);
                bare.push('"');
            }
            (None, char) => bare.push(char),
        }
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::unfinished;

    #[test]
    fn only_unfinished_expressions_are_rejected() {
        for text in [
            "response.code >= 400",
            "a[\"]\"] == '(\\'' && f({1: 2})",
            "x // (",
            "request.path",
            "a == ' AND '",
            "x.all(or, or > 1)",
            "a.and == 1",
        ] {
            assert_eq!(unfinished(text), None, "{text}");
        }
        for text in [
            "",
            " ",
            "a >=",
            "request.",
            "f(x",
            "f)x(",
            "a == 'b",
            "[1, 2)",
            "a >= 400 AND true",
            "a == 'x' or b == 'y'",
        ] {
            assert!(unfinished(text).is_some(), "{text}");
        }
    }
}

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
    } else if !open.is_empty() {
        Some("has an opening bracket without a closing one")
    } else if text.ends_with(['.', '=', '<', '>', '&', '|', '+', '-', '*', '/', '%', '!', '?', ':', ',']) {
        Some("ends with an operator")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::unfinished;

    #[test]
    fn only_unfinished_expressions_are_rejected() {
        for text in ["response.code >= 400", "a[\"]\"] == '(\\'' && f({1: 2})", "x // (", "request.path"] {
            assert_eq!(unfinished(text), None, "{text}");
        }
        for text in ["", " ", "a >=", "request.", "f(x", "f)x(", "a == 'b", "[1, 2)"] {
            assert!(unfinished(text).is_some(), "{text}");
        }
    }
}

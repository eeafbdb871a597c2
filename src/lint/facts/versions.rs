//! The releases that match a `proxyVersion`.

use crate::engine::go_regexp;
use crate::model::release::Release;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Highest patch version that is tried; no release has reached it.
const MAX_PATCH: u16 = 30;

/// What [`newest_fitting`] found, by expression and newest minor. Many rules ask about each patch, and an answer compares the
/// expression with hundreds of releases.
#[derive(Debug, Default)]
pub(crate) struct Fitting(Mutex<HashMap<(String, u16), Option<u16>>>);

impl Fitting {
    /// As [`newest_fitting`].
    pub(crate) fn newest(&self, expression: &str, newest: u16) -> Option<u16> {
        let key = (expression.to_owned(), newest);
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&found) = known().get(&key) {
            return found;
        }
        // Outside the lock: a budget may end the work here.
        let found = newest_fitting(expression, newest);
        known().insert(key, found);
        found
    }
}

/// The newest minor from the oldest supported (or `newest`, if that is older) to `newest` with a patch release that
/// matches an expression. An empty or broken expression matches all. One with letters may mean a vendor's releases and
/// gives `newest`.
fn newest_fitting(expression: &str, newest: u16) -> Option<u16> {
    // An expression without `^` also matches inside versions that it was not written for (`1\.11` in 1.21.11).
    let compiled = go_regexp::compile(&format!("^(?:{expression})"));
    let Ok(regex) = compiled.as_ref() else { return Some(newest) };
    if bare(expression).is_empty() || of_vendor(expression) {
        return Some(newest);
    }
    let fits =
        |minor: u16| (0..=MAX_PATCH).any(|patch| regex.is_match_at_start(&Release::patch(minor, patch).to_string()));
    (Release::OLDEST.minor.min(newest)..=newest).rev().find(|&minor| fits(minor))
}

/// An expression without escapes that contain letters.
fn bare(expression: &str) -> String {
    let escapes = [r"\d", r"\w", r"\s", r"\b", r"\D", r"\W", r"\S", r"\B", r"\A", r"\z"];
    escapes.iter().fold(expression.to_owned(), |text, escape| text.replace(escape, ""))
}

/// Whether an expression has letters: it may mean a vendor's releases.
pub(crate) fn of_vendor(expression: &str) -> bool {
    bare(before_trailing_x(expression).unwrap_or(expression)).chars().any(char::is_alphabetic)
}

/// What precedes an `x` in place of a number at the end, as in `1.30.x`: in an expression it is a letter, which no release has.
pub(crate) fn before_trailing_x(expression: &str) -> Option<&str> {
    let rest = expression.trim_end_matches('$').strip_suffix(['x', 'X'])?;
    rest.ends_with('.').then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_for_releases() {
        for (expression, want) in [
            ("", Some(31)),
            (r"^1\.2[0-5].*", Some(25)),
            (r"^1\.14.*", None),
            (r"1\.3", Some(31)),
            (r"^1\.27\.4$", Some(27)),
            (r"^1\.26-asm.*", Some(31)),
            ("(", Some(31)),
            (r"^1\.99", None),
            (r"1\.11.*", None),
        ] {
            assert_eq!(newest_fitting(expression, 31), want, "{expression}");
        }
        // Releases before the oldest supported one are also compared if an upgrade starts there.
        assert_eq!(newest_fitting(r"^1\.18.*", 18), Some(18));
        assert_eq!(newest_fitting(r"^1\.10.*", 18), None);
    }
}

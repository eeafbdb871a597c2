//! Which releases a `proxyVersion` is for.

use super::context::Context;
use crate::engine::program::compile_re2;
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::release::Release;

/// Highest patch number that is tried; no release has come so far.
const MAX_PATCH: u16 = 30;

/// The newest minor, from the oldest supported (or `newest`, if that is older) to `newest`, of which some patch release fits
/// an expression. An empty or broken expression fits all, and one with letters may mean the releases of a vendor: `newest` for
/// these.
pub fn newest_fitting(expression: &str, newest: u16) -> Option<u16> {
    let Ok(regex) = compile_re2(expression) else { return Some(newest) };
    let escapes = [r"\d", r"\w", r"\s", r"\b", r"\D", r"\W", r"\S", r"\B", r"\A", r"\z"];
    let bare = escapes.iter().fold(expression.to_owned(), |text, escape| text.replace(escape, ""));
    if bare.is_empty() || bare.chars().any(char::is_alphabetic) {
        return Some(newest);
    }
    let fits = |minor: u16| (0..=MAX_PATCH).any(|patch| regex.is_match(&Release::patch(minor, patch).to_string()));
    (Release::OLDEST.minor.min(newest)..=newest).rev().find(|&minor| fits(minor))
}

/// Whether every patch of a filter is for proxies that are older than all supported ones: what an upgrade left behind.
pub fn left_over(cx: &Context<'_>, filter: &EnvoyFilter) -> bool {
    let newest = cx.release.minor.max(Release::NEWEST.minor);
    let old = |version: &str| !version.is_empty() && newest_fitting(version, newest).is_none();
    !filter.patches.is_empty()
        && filter.patches.iter().all(|patch| patch.proxy.as_ref().is_some_and(|proxy| old(&proxy.version)))
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
        ] {
            assert_eq!(newest_fitting(expression, 31), want, "{expression}");
        }
        // Releases before the oldest supported one are compared too, when an upgrade begins there.
        assert_eq!(newest_fitting(r"^1\.18.*", 18), Some(18));
        assert_eq!(newest_fitting(r"^1\.10.*", 18), None);
    }
}

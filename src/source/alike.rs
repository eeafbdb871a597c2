//! Finds the name that a user most likely meant.

use std::collections::BTreeSet;

/// A name that resembles another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nearest<'n> {
    /// The name.
    pub name: &'n str,
    /// Whether it differs only in case and separators.
    pub same_letters: bool,
}

/// The most likely entry of a fixed vocabulary (keys, fields, enum values, options): the same but for case and separators, else
/// the nearest within a third of the length.
pub(crate) fn keyword<'n>(wanted: &str, words: impl IntoIterator<Item = &'n str>) -> Option<Nearest<'n>> {
    let plain = |name: &str| name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let wanted_plain = plain(wanted);
    let mut best: Option<(usize, &'n str)> = None;
    for name in words {
        let name_plain = plain(name);
        if name_plain == wanted_plain {
            return Some(Nearest { name, same_letters: true });
        }
        let shorter = wanted_plain.len().min(name_plain.len());
        // The distance is at least the difference in length, and computing it costs the product of both.
        if wanted_plain.len().abs_diff(name_plain.len()) * 3 > shorter {
            continue;
        }
        let distance = strsim::osa_distance(&name_plain, &wanted_plain);
        if distance * 3 <= shorter && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, name));
        }
    }
    best.map(|(_, name)| Nearest { name, same_letters: false })
}

/// The most similar of the names that users and istiod choose (filters, hosts, labels, Gateways); `None` when none is similar.
pub(crate) fn name<'n>(wanted: &str, among: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let (whole, tail) = (wanted.to_lowercase(), last(wanted).to_lowercase());
    // The common prefix of filter names does not count: `envoy.filters.http.wasm` is not similar to `envoy.filters.http.cors`.
    let likeness = |one: &str| {
        let whole = || alike(&whole, &one.to_lowercase());
        let one_tail = last(one).to_lowercase();
        if one.starts_with("envoy.filters.") && wanted.starts_with("envoy.filters.") {
            let tails = alike(&tail, &one_tail);
            if tails < SIMILAR { tails } else { tails.min(whole()) }
        } else if !(wanted.contains('.') && one.contains('.')) {
            whole()
        } else if [wanted, one].into_iter().any(is_extension) {
            if tail == one_tail { whole().max(0.9) } else { whole() }
        } else {
            // The common domain of hosts does not count.
            whole().min(alike(&first(wanted).to_lowercase(), &first(one).to_lowercase()))
        }
    };
    let scored = among.into_iter().filter(|one| !one.is_empty()).map(|one| (likeness(one), one));
    let best = scored.max_by(|(left, a), (right, b)| left.total_cmp(right).then_with(|| b.cmp(a)));
    best.filter(|(score, _)| *score >= SIMILAR).map(|(_, one)| one)
}

/// The least likeness of a name that may have been meant.
const SIMILAR: f64 = 0.6;

/// How similar two texts are; 0 if their lengths alone show that it is less than [`SIMILAR`]. Computing it costs the product of
/// both lengths: most of the names that a mesh has need not be compared.
fn alike(one: &str, other: &str) -> f64 {
    let (length, of_other) = (one.chars().count(), other.chars().count());
    if length.abs_diff(of_other) * 5 > length.max(of_other) * 2 { 0.0 } else { likeness(one, other) }
}

/// The last part of a dotted name.
fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// The first part of a dotted name.
fn first(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// Whether a name is that of a filter of Envoy or Istio.
fn is_extension(name: &str) -> bool {
    name.starts_with("envoy.") || name.starts_with("istio.") || name.starts_with("extensions.istio.io/")
}

/// Up to `most` candidates, the most similar first. Dissimilar ones are included: they are what exists.
pub(crate) fn ranked(wanted: &str, candidates: &BTreeSet<String>, most: usize) -> Vec<String> {
    let mut ranked: Vec<(usize, &String)> = candidates
        .iter()
        .filter(|text| !text.is_empty())
        .map(|text| {
            let distance = match (wanted.parse::<i64>(), text.parse::<i64>()) {
                (Ok(_), Ok(_)) => strsim::damerau_levenshtein(wanted, text),
                // A name inside a longer one is nearer than any other of that length.
                _ if text.contains(wanted) || wanted.contains(text.as_str()) => text.len().abs_diff(wanted.len()) / 4,
                _ => strsim::damerau_levenshtein(wanted, text),
            };
            (distance, text)
        })
        .collect();
    ranked.sort();
    ranked.into_iter().take(most).map(|(_, text)| text.clone()).collect()
}

/// Whether a name may have been meant by another: it resembles it, or one contains the other.
pub(crate) fn similar(wanted: &str, other: &str) -> bool {
    const SHORTEST: usize = 3;
    let (one, two) = (wanted.to_lowercase(), other.to_lowercase());
    let (short, long) = if one.len() < two.len() { (&one, &two) } else { (&two, &one) };
    alike(&one, &two) >= SIMILAR || (short.len() >= SHORTEST && long.contains(short.as_str()))
}

/// Whether a name is likely a misspelling of another.
pub(crate) fn misspelled(wanted: &str, other: &str) -> bool {
    wanted.parse::<i64>().is_err() && !wanted.is_empty() && likeness(wanted, other) > 0.7
}

/// How similar two texts are, from 0 to 1.
pub(crate) fn likeness(one: &str, other: &str) -> f64 {
    strsim::normalized_damerau_levenshtein(one, other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_close_or_none() {
        let find = |wanted, words: &[&'static str]| keyword(wanted, words.iter().copied());
        let words = ["stat_prefix", "http_filters", "route_config", "configPatches"];
        assert_eq!(find("statPrefix", &words), Some(Nearest { name: "stat_prefix", same_letters: true }));
        assert_eq!(find("stat-prefix", &words), Some(Nearest { name: "stat_prefix", same_letters: true }));
        assert_eq!(find("http_filter", &words), Some(Nearest { name: "http_filters", same_letters: false }));
        assert_eq!(find("configPatchs", &words), Some(Nearest { name: "configPatches", same_letters: false }));
        assert_eq!(find("timeout", &words), None);
        assert_eq!(find("SIDECAR", &["ANY", "GATEWAY"]), None);
    }

    #[test]
    fn the_nearest_name_is_one_that_is_alike() {
        assert_eq!(
            name("envoy.filters.http.routr", ["istio.alpn", "envoy.filters.http.router"]),
            Some("envoy.filters.http.router")
        );
        assert_eq!(name("cart", ["ledger", ""]), None);
        assert_eq!(name("envoy.filters.http.wasm", ["envoy.filters.http.cors"]), None);
    }
}

//! Places in a configuration as lines of an explanation.

use crate::explain::view::Place;
use std::collections::HashMap;

/// Places as lines, with the filter chains of one listener grouped.
pub(super) fn collapse(places: &[Place]) -> Vec<String> {
    let mut lines: Vec<(Place, Vec<&Place>)> = Vec::new();
    let mut known = HashMap::new();
    for place in places {
        let key = Place { chain: None, chain_name: None, ..place.clone() };
        let at = *known.entry(key.clone()).or_insert(lines.len());
        if at == lines.len() {
            lines.push((key, Vec::new()));
        }
        lines[at].1.push(place);
    }
    lines.iter().map(|(key, chains)| with_chains(key, chains)).collect()
}

fn with_chains(key: &Place, places: &[&Place]) -> String {
    let mut chains: Vec<(&str, Vec<&str>)> = Vec::new();
    for place in places {
        let Some(chain) = place.chain.as_deref() else { continue };
        let name = place.chain_name.as_deref().unwrap_or_default();
        match chains.iter_mut().find(|(old, _)| *old == name) {
            Some((_, numbers)) => numbers.push(chain),
            None => chains.push((name, vec![chain])),
        }
    }
    let words: Vec<String> = chains
        .iter()
        .map(|(name, numbers)| match (*name, numbers.join(", ")) {
            ("", numbers) => numbers,
            (name, numbers) => format!("{name} ({numbers})"),
        })
        .collect();
    let chain = match chains.iter().map(|(_, numbers)| numbers.len()).sum() {
        0 => String::new(),
        1 => format!(" › filter chain {}", words.concat()),
        _ => format!(" › filter chains {}", words.join(", ")),
    };
    let mut text = format!("{} {}{chain}", key.kind, unnamed(&key.resource));
    for (word, part) in [
        ("listener filter", &key.listener_filter),
        ("filter", &key.filter),
        ("HTTP filter", &key.http_filter),
        ("route configuration", &key.inline_route),
        ("virtual host", &key.virtual_host),
        ("route", &key.route),
    ] {
        if let Some(part) = part {
            text = format!("{text} › {word} {}", unnamed(part));
        }
    }
    text
}

pub(super) fn line(place: &Place) -> String {
    with_chains(&Place { chain: None, chain_name: None, ..place.clone() }, &[place])
}

pub(super) fn unnamed(name: &str) -> &str {
    if name.is_empty() { "(no name)" } else { name }
}

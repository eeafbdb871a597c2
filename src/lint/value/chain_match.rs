//! The connections that a filter chain matches, to find two chains that match the same ones.
//!
//! Envoy looks at the conditions in turn, and rejects two chains with the same values (`FilterChainManagerImpl`, 1.36 to 1.40).

use std::collections::BTreeSet;
use std::net::IpAddr;

/// The values of each condition, in the order in which Envoy looks at them; no value matches everything.
pub(crate) type Conditions = Vec<BTreeSet<String>>;

/// Maximum number of combinations of one chain that are compared.
const MOST: usize = 256;

/// The conditions of a `filter_chain_match`, by the value of a field, the items of a list, and the networks of a list.
pub(crate) fn conditions(
    value: &dyn Fn(&str) -> Option<String>,
    items: &dyn Fn(&str) -> BTreeSet<String>,
    networks: &dyn Fn(&str) -> BTreeSet<String>,
) -> Conditions {
    let single = |name: &str, default: &[&str]| -> BTreeSet<String> {
        value(name).into_iter().filter(|text| !text.is_empty() && !default.contains(&text.as_str())).collect()
    };
    vec![
        single("destination_port", &[]),
        networks("prefix_ranges"),
        items("server_names").into_iter().map(|name| name.to_lowercase()).collect(),
        single("transport_protocol", &[]),
        items("application_protocols"),
        networks("direct_source_prefix_ranges"),
        single("source_type", &["ANY", "0"]),
        networks("source_prefix_ranges"),
        items("source_ports"),
    ]
}

/// A network by its first address.
pub(crate) fn network(prefix: &str, length: u64) -> String {
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    match prefix.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => {
            let mask = u32::MAX.checked_shl(32_u32.saturating_sub(length)).unwrap_or(0);
            format!("{}/{length}", u32::from(address) & mask)
        }
        Ok(IpAddr::V6(address)) => {
            let mask = u128::MAX.checked_shl(128_u32.saturating_sub(length)).unwrap_or(0);
            format!("{}/{length}", u128::from(address) & mask)
        }
        Err(_) => format!("{prefix}/{length}"),
    }
}

/// Each combination of the values; of very many, the first ones.
pub(crate) fn combinations(conditions: &Conditions) -> Vec<Vec<String>> {
    let any = BTreeSet::from([String::new()]);
    conditions.iter().fold(vec![Vec::new()], |known, values| {
        let values = if values.is_empty() { &any } else { values };
        let extended = known.iter().flat_map(|one| {
            values.iter().map(move |value| one.iter().cloned().chain([value.clone()]).collect::<Vec<_>>())
        });
        extended.take(MOST).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_their_first_addresses() {
        assert_eq!(network("10.1.2.3", 8), network("10.0.0.0", 8));
        assert_ne!(network("10.0.0.0", 8), network("10.0.0.0", 9));
        assert_eq!(network("::1", 0), network("fe80::", 0));
        assert_eq!(network("1.2.3.4", 64), network("1.2.3.4", 64));
    }
}

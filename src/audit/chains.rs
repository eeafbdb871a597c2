//! The filter chains that each filter writes into, before and after the upgrade, as drawn in the report.

use super::view::{Chain, Link};
use crate::lint::upgrade::{ChainRecord, RunKey, Snapshot};
use crate::model::envoy_filter::EnvoyFilter;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum number of chains drawn per filter.
const MAX_CHAINS: usize = 6;

/// Longest chain that is drawn whole. A longer one shows the filter's own links and those that come or go, each with this many
/// neighbors.
const WHOLE: usize = 24;
const AROUND: usize = 2;

/// Maximum number of a filter's links, and of links that come or go, that are shown in a long chain.
const SHOWN: usize = 8;

/// The chains of each filter: those it writes into before or after.
pub(super) fn chains(
    filters: &[EnvoyFilter],
    columns: &HashMap<RunKey, usize>,
    first: Option<&Snapshot>,
    last: Option<&Snapshot>,
) -> Vec<Vec<Chain>> {
    let mut all: Vec<Vec<Chain>> = vec![Vec::new(); filters.len()];
    let (Some(first), Some(last)) = (first, last) else { return all };
    let (before, after) = (by_run(first), by_run(last));
    let keys: BTreeSet<&RunKey> = before.keys().chain(after.keys()).copied().collect();
    for key in keys {
        let Some(&column) = columns.get(key) else { continue };
        let none: &[ChainRecord] = &[];
        let (old, new) = (before.get(key).copied().unwrap_or(none), after.get(key).copied().unwrap_or(none));
        let places: BTreeSet<(&str, &str, bool)> = old.iter().chain(new).map(place).collect();
        for at in places {
            let find = |list: &'_ [ChainRecord]| list.iter().position(|one| place(one) == at);
            let was = find(old).and_then(|index| old.get(index));
            let is = find(new).and_then(|index| new.get(index));
            let (left, right) = (Side::new(filters, was, is), Side::new(filters, is, was));
            let (left, right) = (left.against(&right), right.against(&left));
            let writers: BTreeSet<usize> = left.own.keys().chain(right.own.keys()).copied().collect();
            for writer in writers {
                let Some(own) = all.get_mut(writer).filter(|own| own.len() < MAX_CHAINS) else { continue };
                let (before, after) = (left.seen_by(writer), right.seen_by(writer));
                if own.iter().any(|known| known.before == before && known.after == after) {
                    continue;
                }
                let level = if at.2 { "http" } else { "network" };
                let (listener, chain) = (at.0.to_owned(), at.1.to_owned());
                own.push(Chain { workloads: column, listener, chain, level, before, after });
            }
        }
    }
    all
}

fn by_run(snapshot: &Snapshot) -> HashMap<&RunKey, &[ChainRecord]> {
    let chains = snapshot.chains.iter();
    chains.filter_map(|(run, chains)| Some((&snapshot.runs.get(*run)?.key, chains.as_slice()))).collect()
}

fn place(chain: &ChainRecord) -> (&str, &str, bool) {
    (chain.listener.as_str(), chain.chain.as_str(), chain.http)
}

/// A chain at one stage.
struct Side {
    links: Vec<Link>,
    /// Where the links of each filter are.
    own: BTreeMap<usize, Vec<usize>>,
}

impl Side {
    /// The chain. If no patch touches it at this stage, it is as istiod generates it.
    fn new(filters: &[EnvoyFilter], here: Option<&ChainRecord>, there: Option<&ChainRecord>) -> Side {
        let mut side = Side { links: Vec::new(), own: BTreeMap::new() };
        let link = |name: &String, by| Link { name: name.clone(), by, only: false, skipped: None };
        for (name, by) in here.iter().flat_map(|chain| &chain.patched) {
            if let Some(by) = by {
                side.own.entry(*by).or_default().push(side.links.len());
            }
            side.links.push(link(name, by.and_then(|by| filters.get(by)).map(EnvoyFilter::full_name)));
        }
        if let (None, Some(there)) = (here, there) {
            side.links = there.generated.iter().map(|name| link(name, None)).collect();
        }
        side
    }

    /// The same, with links that are missing on the other side marked.
    fn against(&self, other: &Side) -> Side {
        let mut there: HashMap<&str, usize> = HashMap::new();
        for link in &other.links {
            *there.entry(&link.name).or_default() += 1;
        }
        let mut links = self.links.clone();
        for link in &mut links {
            match there.get_mut(link.name.as_str()).filter(|left| **left > 0) {
                Some(left) => *left -= 1,
                None => link.only = true,
            }
        }
        Side { links, own: self.own.clone() }
    }

    /// The part of it that is drawn for one filter.
    fn seen_by(&self, writer: usize) -> Vec<Link> {
        if self.links.len() <= WHOLE {
            return self.links.clone();
        }
        let own = self.own.get(&writer).into_iter().flatten().copied().take(SHOWN);
        let lone = self.links.iter().enumerate().filter(|(_, link)| link.only).map(|(at, _)| at).take(SHOWN);
        let last = self.links.len() - 1;
        let near = |at: usize| at.saturating_sub(AROUND)..=(at + AROUND).min(last);
        let mut keep: BTreeSet<usize> = own.chain(lone).flat_map(near).collect();
        keep.extend([0, last]);
        let mut out = Vec::new();
        let mut next = 0;
        for at in keep {
            if at > next {
                out.push(Link { name: String::new(), by: None, only: false, skipped: Some(at - next) });
            }
            out.extend(self.links.get(at).cloned());
            next = at + 1;
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(names: &[&str], by: Option<usize>) -> ChainRecord {
        ChainRecord {
            listener: "virtualInbound".to_owned(),
            chain: "0".to_owned(),
            http: true,
            generated: vec!["router".to_owned()],
            patched: names.iter().map(|name| ((*name).to_owned(), by.filter(|_| *name != "router"))).collect(),
        }
    }

    #[test]
    fn what_comes_and_goes_is_marked() {
        let (old, new) = (record(&["a", "a", "router"], None), record(&["a", "b", "router"], None));
        let (old, new) = (Side::new(&[], Some(&old), Some(&new)), Side::new(&[], Some(&new), Some(&old)));
        let marks = |side: Side| side.links.iter().map(|link| link.only).collect::<Vec<_>>();
        assert_eq!(marks(old.against(&new)), [false, true, false]);
        assert_eq!(marks(new.against(&old)), [false, true, false]);
    }

    #[test]
    fn a_long_chain_is_drawn_around_what_is_told() {
        let names: Vec<String> = (0..100).map(|number| format!("f{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut side = Side::new(&[], Some(&record(&names, None)), None);
        side.own.insert(7, vec![50]);
        let seen = side.seen_by(7);
        let words: Vec<String> =
            seen.iter().map(|link| link.skipped.map_or(link.name.clone(), |number| number.to_string())).collect();
        assert_eq!(words, ["f0", "47", "f48", "f49", "f50", "f51", "f52", "46", "f99"]);
    }
}

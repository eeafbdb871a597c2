//! Where patches insert HTTP filters today, and the phase in which a native filter has the same place.
//!
//! The order of istiod's own filters: `pilot/pkg/networking/core/listener_builder.go` and `listener_waypoint.go`, release
//! 1.31; the same since 1.24.

use crate::engine::program::{BuiltPatch, Status};
use crate::migrate::base::filters::{EXCHANGE, EXT_AUTHZ, JWT, RBAC, REST};
use crate::migrate::base::names::Names;
use crate::migrate::base::reach::anchor;
use crate::model::envoy_filter::{ApplyTo, Operation, PatchContext};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A patch: the index of its EnvoyFilter, and its own there.
pub(in crate::migrate) type At = (usize, usize);

/// The phases of a TrafficExtension or WasmPlugin, in the order of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::migrate) enum Phase {
    /// Before tokens are checked.
    Authn,
    /// Before policies are checked.
    Authz,
    /// After the policies; before grpc_stats, and on waypoints after cors.
    Rest,
}

impl Phase {
    /// The value of `phase`; `None` for the default.
    pub(in crate::migrate) const fn name(self) -> Option<&'static str> {
        match self {
            Phase::Authn => Some("AUTHN"),
            Phase::Authz => Some("AUTHZ"),
            Phase::Rest => None,
        }
    }
}

/// A patch that inserts an HTTP filter.
#[derive(Clone, Copy, Debug)]
pub(in crate::migrate) struct Insert<'a> {
    at: At,
    context: PatchContext,
    operation: Operation,
    anchor: Option<&'a str>,
    name: &'a str,
}

impl<'a> Insert<'a> {
    /// Reads a patch; `None` if it inserts no HTTP filter.
    pub(in crate::migrate) fn of(filter: usize, built: &'a BuiltPatch<'_>) -> Option<Insert<'a>> {
        let inserts = matches!(
            built.operation,
            Operation::Add
                | Operation::InsertBefore
                | Operation::InsertAfter
                | Operation::InsertFirst
                | Operation::Replace
        );
        if built.patch.apply_to != ApplyTo::HttpFilter || built.status != Status::Ready || !inserts {
            return None;
        }
        Some(Insert {
            at: (filter, built.patch.index),
            context: built.patch.context,
            operation: built.operation,
            anchor: anchor(&built.object).filter(|name| !name.is_empty()),
            name: built.value.as_ref()?.name(),
        })
    }

    /// The patch.
    pub(in crate::migrate) const fn at(&self) -> At {
        self.at
    }

    /// The name of the filter.
    pub(in crate::migrate) const fn name(&self) -> &'a str {
        self.name
    }

    /// Whether it may be in front of a policy's filter.
    pub(in crate::migrate) fn is_early(&self) -> bool {
        self.anchor.is_none_or(|name| [EXCHANGE, JWT, RBAC, EXT_AUTHZ].contains(&name))
    }
}

/// The most patches of other EnvoyFilters that are followed to find the place of a filter.
const MOST_FOREIGN: usize = 16;

/// The patches of other EnvoyFilters next to whose filters these are inserted, in the order in which they run.
pub(in crate::migrate) fn foreign<'a>(own: &[Insert<'a>], names: &'a Names) -> Vec<Insert<'a>> {
    let mut all: Vec<Insert<'a>> = Vec::new();
    let mut wanted: BTreeSet<&str> = own.iter().filter_map(|one| one.anchor).collect();
    let mut known: HashSet<&str> = own.iter().map(|one| one.name).collect();
    // One filter for all that select the same proxies.
    let owners: BTreeMap<usize, usize> = own.iter().map(|one| (names.kind(one.at.0), one.at.0)).collect();
    while let Some(name) = wanted.pop_last() {
        if known.contains(name) || all.len() > MOST_FOREIGN {
            continue;
        }
        let Some((name, adders)) = names.adders(name) else { continue };
        let mut near = adders.iter().filter(|adder| owners.values().any(|own| names.meet(*own, adder.filter)));
        let (Some(adder), None) = (near.next(), near.next()) else { continue };
        let anchor = adder.anchor.as_deref();
        wanted.extend(anchor);
        known.insert(name);
        let at = (adder.filter, adder.patch);
        // What it is next to comes first.
        all.insert(0, Insert { at, context: adder.context, operation: adder.operation, anchor, name });
    }
    all
}

/// The place of an inserted filter today.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::migrate) struct Slot {
    /// The phase that is nearest to it.
    pub phase: Phase,
    /// Whether the filter of CUSTOM policies follows it: no phase is before that.
    pub before_custom: bool,
    /// Whether metadata_exchange, which is first, follows it.
    pub before_exchange: bool,
}

#[derive(Clone, Debug)]
struct Link {
    name: String,
    patch: Option<At>,
}

/// The chains of each context after the patches.
#[derive(Clone, Debug, Default)]
pub(in crate::migrate) struct Chains {
    chains: Vec<Vec<Link>>,
    /// The place of each patch in each chain.
    places: Vec<HashMap<At, usize>>,
}

const CONTEXTS: [PatchContext; 3] =
    [PatchContext::SidecarInbound, PatchContext::SidecarOutbound, PatchContext::Gateway];

impl Chains {
    /// Runs the patches in this order. `custom`: whether a CUSTOM policy may apply.
    pub(in crate::migrate) fn of(patches: &[Insert<'_>], custom: bool) -> Chains {
        let chain = |context: &PatchContext| {
            let mut chain = generated(*context, custom);
            let of_context = |one: &&Insert<'_>| one.context == PatchContext::Any || one.context == *context;
            patches.iter().filter(of_context).for_each(|one| run(&mut chain, one));
            chain
        };
        let chains: Vec<Vec<Link>> = CONTEXTS.iter().map(chain).collect();
        let numbered = |chain: &Vec<Link>| {
            let all = chain.iter().enumerate();
            all.filter_map(|(place, link)| Some((link.patch?, place))).collect()
        };
        let places = chains.iter().map(numbered).collect();
        Chains { chains, places }
    }

    /// The place of a filter; `None` if it is inserted nowhere.
    pub(in crate::migrate) fn slot(&self, at: At) -> Option<Slot> {
        let mut all = self.chains.iter().zip(&self.places);
        let (chain, own) = all.find_map(|(chain, places)| Some((chain, *places.get(&at)?)))?;
        let follows = |name: &str| chain[own..].iter().any(|link| link.patch.is_none() && link.name == name);
        let before_exchange = follows(EXCHANGE);
        let phase = match (follows(JWT), follows(RBAC)) {
            (true, _) => Phase::Authn,
            (false, true) => Phase::Authz,
            // The outbound chains of sidecars have no policies.
            (false, false) if before_exchange => Phase::Authn,
            (false, false) => Phase::Rest,
        };
        Some(Slot { phase, before_custom: follows(EXT_AUTHZ), before_exchange })
    }

    /// Whether a patch inserts its filter in front of that of another one in some chain.
    pub(in crate::migrate) fn in_front(&self, one: At, other: At) -> bool {
        self.places.iter().any(|chain| chain.get(&one).zip(chain.get(&other)).is_some_and(|(one, other)| one < other))
    }

    /// These patches in an order that every chain has; `None` if there is none.
    pub(in crate::migrate) fn sorted(&self, patches: &[At]) -> Option<Vec<At>> {
        let number: HashMap<At, usize> = patches.iter().enumerate().map(|(number, at)| (*at, number)).collect();
        let mut after: Vec<Vec<usize>> = vec![Vec::new(); patches.len()];
        let mut waits: Vec<usize> = vec![0; patches.len()];
        for chain in &self.chains {
            let own: Vec<usize> = chain.iter().filter_map(|link| number.get(&link.patch?).copied()).collect();
            for pair in own.windows(2) {
                after[pair[0]].push(pair[1]);
                waits[pair[1]] += 1;
            }
        }
        let mut ready: BTreeSet<usize> = (0..patches.len()).filter(|one| waits[*one] == 0).collect();
        let mut sorted = Vec::new();
        while let Some(one) = ready.pop_first() {
            sorted.push(patches[one]);
            for next in &after[one] {
                waits[*next] -= 1;
                if waits[*next] == 0 {
                    ready.insert(*next);
                }
            }
        }
        (sorted.len() == patches.len()).then_some(sorted)
    }
}

/// What istiod generates, with the filters that policies add.
fn generated(context: PatchContext, custom: bool) -> Vec<Link> {
    let mut names = vec![EXCHANGE];
    if context != PatchContext::SidecarOutbound {
        if custom {
            // An RBAC filter of its own decides which requests the service is asked about.
            names.extend([RBAC, EXT_AUTHZ]);
        }
        names.extend([JWT, RBAC]);
    }
    names.extend(REST);
    names.iter().map(|name| Link { name: (*name).to_owned(), patch: None }).collect()
}

fn run(chain: &mut Vec<Link>, one: &Insert<'_>) {
    let link = Link { name: one.name.to_owned(), patch: Some(one.at) };
    let found = one.anchor.map(|name| chain.iter().position(|link| link.name == name));
    let at = match (one.operation, found) {
        (Operation::InsertFirst, _) | (Operation::InsertBefore, None) => 0,
        (Operation::Add, _) | (Operation::InsertAfter, None) => chain.len(),
        (Operation::InsertBefore, Some(Some(at))) => at,
        (Operation::InsertAfter, Some(Some(at))) => at + 1,
        (Operation::Replace, Some(Some(at))) => {
            chain[at] = link;
            return;
        }
        _ => return,
    };
    chain.insert(at, link);
}

#[cfg(test)]
mod tests {
    use super::Phase::{Authn, Authz, Rest};
    use super::*;

    const fn insert<'a>(patch: usize, operation: Operation, anchor: Option<&'a str>, name: &'a str) -> Insert<'a> {
        Insert { at: (0, patch), context: PatchContext::Any, operation, anchor, name }
    }

    #[test]
    fn a_filter_next_to_another_one_has_its_phase() {
        let patches = [
            insert(0, Operation::InsertBefore, Some("envoy.filters.http.router"), "a"),
            insert(1, Operation::InsertAfter, Some("a"), "b"),
            insert(2, Operation::InsertFirst, None, "c"),
            insert(3, Operation::InsertAfter, Some("c"), "d"),
            insert(4, Operation::InsertBefore, Some(RBAC), "e"),
            insert(5, Operation::InsertBefore, Some("nobody"), "f"),
        ];
        let chains = Chains::of(&patches, false);
        let phases: Vec<Option<Phase>> = patches.iter().map(|one| chains.slot(one.at).map(|slot| slot.phase)).collect();
        assert_eq!(phases, [Some(Rest), Some(Rest), Some(Authn), Some(Authn), Some(Authz), None]);
        let all: Vec<At> = (0..5).map(|patch| (0, patch)).collect();
        assert_eq!(chains.sorted(&all).unwrap(), [2, 3, 4, 0, 1].map(|patch| (0, patch)));
        assert!(chains.in_front((0, 4), (0, 1)) && !chains.in_front((0, 1), (0, 0)));
    }

    #[test]
    fn the_first_rbac_filter_is_that_of_custom_policies() {
        let patches =
            [insert(0, Operation::InsertBefore, Some(RBAC), "a"), insert(1, Operation::InsertAfter, Some(JWT), "b")];
        let chains = Chains::of(&patches, true);
        let slot = |patch| chains.slot((0, patch)).unwrap();
        assert_eq!((slot(0).phase, slot(0).before_custom), (Phase::Authn, true));
        assert_eq!((slot(1).phase, slot(1).before_custom), (Phase::Authz, false));
    }
}

//! When a filter that decides who may call does so, and when its policy does.

use super::chain::{Chains, Insert, Phase, Slot, foreign};
use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::objects::policy;
use crate::model::envoy_filter::{Operation, PatchContext};

const EARLIER: &str = "the decision is made earlier, before grpc_stats, alpn, fault and cors: a CORS preflight, which the CORS filter used to answer, is now decided here first";

/// Where the native filter decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::migrate) enum Decides {
    /// Right after metadata_exchange.
    First,
    /// After the check of tokens.
    WithPolicies,
}

/// The differences in position that all of these have.
pub(in crate::migrate) fn earlier(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move, decides: Decides) {
    super::anchor::check(cx, part, found);
    if part.operation() == Operation::Add {
        found.difference(
            Kind::Behavior,
            "ADD puts the filter after the router, where no request reaches it; the policy works",
        );
        found.guard(Concern::Authorization, State::Broken, "the filter decides nothing today; the policy would");
    }
    moved(cx, part, found, decides);
    if part.reach.narrowed.is_some() {
        narrow(part, found);
    }
}

/// Where a patch inserts its filter.
fn slot(cx: &Cx<'_>, part: &Part<'_>, custom: bool) -> Option<Slot> {
    let own: Vec<Insert<'_>> = Insert::of(cx.index, part.built).into_iter().collect();
    let mut all = foreign(&own, cx.names);
    all.extend(own);
    Chains::of(&all, custom).slot((cx.index, part.built.patch.index))
}

/// A CORS filter in front of those of policies answers preflights that these refuse; istiod's is behind them. Its filter of
/// tokens lets preflights pass.
pub(in crate::migrate) fn later_preflights(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move) {
    let custom = !policy::existing(cx, "CUSTOM").is_empty();
    let is_early = |slot: Slot| slot.phase != Phase::Rest || slot.before_custom;
    if part.reach.context == PatchContext::SidecarOutbound || !slot(cx, part, custom).is_some_and(is_early) {
        return;
    }
    if custom || ["ALLOW", "DENY"].iter().any(|action| !policy::existing(cx, action).is_empty()) {
        found.difference(
            Kind::Behavior,
            "preflights are answered before policies are checked; istiod's CORS filter comes after them: a policy that refuses requests without credentials also refuses preflights",
        );
    } else if !cx.mesh.described() {
        found.guard(
            Concern::Existing,
            State::Undecided,
            "it is unknown whether policies apply here: the filter answers preflights before they are checked, istiod's CORS filter after that",
        );
    }
}

/// How the time of the decision changes.
fn moved(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move, decides: Decides) {
    let slot = slot(cx, part, false);
    let phase = slot.map_or(Phase::Rest, |slot| slot.phase);
    let first = slot.is_some_and(|slot| slot.before_exchange);
    let effect = match (decides, phase) {
        (Decides::First, Phase::Authn) if first => "the decision is made right after metadata_exchange, not before it",
        (Decides::WithPolicies, Phase::Authn) => {
            "the decision is made later, after external authorization and the check of tokens: requests that these refuse get their answer"
        }
        (Decides::First, Phase::Authn) | (Decides::WithPolicies, Phase::Authz) => return,
        (Decides::First, Phase::Authz) => {
            "the decision is made earlier, before tokens are checked: requests that this check refuses also ask for a decision"
        }
        (_, Phase::Rest) => EARLIER,
    };
    found.difference(Kind::Position, effect);
    let checks = !cx.mesh.policies("RequestAuthentication", cx.filter).is_empty()
        || ["ALLOW", "DENY"].iter().any(|action| !policy::existing(cx, action).is_empty());
    if decides == Decides::First && phase == Phase::Rest && checks {
        found.difference(
            Kind::Position,
            "the decision is made before tokens and policies are checked, not after: requests that these refuse also ask for one",
        );
    }
}

/// A policy applies to a whole workload, or to a port.
pub(in crate::migrate) fn narrow(part: &Part<'_>, found: &mut Move) {
    if let Some(narrowed) = &part.reach.narrowed {
        let reason = format!("a policy selects by port, not by {narrowed}");
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Ports, State::Broken, reason);
    }
}

//! Callers that a policy names by something that more callers have: trust domains and issuers.

use crate::migrate::base::step::{Cx, Move};
use crate::migrate::base::value::has_entry;
use crate::migrate::base::verdict::{Concern, Kind, State};
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// istiod reads an identity in a policy as that of every trust domain of the mesh, if it is of one of them or of
/// `cluster.local` (`ReplaceTrustDomainAliases` in its `trustdomain.go`, 1.31).
pub(in crate::migrate) fn trust_domains(cx: &Cx<'_>, rules: &[Json], action: &str, found: &mut Move) {
    const LOCAL: &str = "cluster.local";
    let domains: Option<BTreeSet<&str>> = cx.mesh.mesh_config().map(|mesh| {
        let own = mesh["trustDomain"].as_str().filter(|own| !own.is_empty()).unwrap_or(LOCAL);
        let others = mesh["trustDomainAliases"].as_array().into_iter().flatten().filter_map(Json::as_str);
        others.chain([own]).collect()
    });
    let more = |identity: &Json| {
        let domain = identity.as_str().and_then(|text| text.split('/').next()).unwrap_or_default();
        let one = BTreeSet::from([domain]);
        let widened = |domains: &BTreeSet<&str>| *domains != one && (domain == LOCAL || domains.contains(domain));
        !domain.starts_with('*') && domains.as_ref().is_none_or(widened)
    };
    let has = |key: &str| {
        let named = |one: &str, list: &Json| one == key && list.as_array().is_some_and(|all| all.iter().any(more));
        rules.iter().any(|rule| has_entry(rule, &named))
    };
    let (some, not) = (has("principals"), has("notPrincipals"));
    if !some && !not {
        return;
    }
    if domains.is_none() {
        found.guard(
            Concern::Authorization,
            State::Undecided,
            "the mesh settings are not in the input: if the mesh has another trust domain than cluster.local, or several, the policy names the identities of all of them",
        );
        return;
    }
    let reason = "the policy names the identities of every trust domain of the mesh (`trustDomain`, `trustDomainAliases`), the filter only one";
    found.difference(Kind::Behavior, reason);
    if (action == "ALLOW" && some) || (action == "DENY" && not) {
        found.guard(Concern::Authorization, State::Broken, format!("{reason}: more callers would be allowed"));
    }
}

/// An issuer, and another one whose name begins with it and a slash.
pub(in crate::migrate) fn nested<'a>(
    mut wanted: impl Iterator<Item = &'a str>,
    known: &[&'a str],
) -> Option<(&'a str, &'a str)> {
    let below = |issuer: &str, other: &str| other.strip_prefix(issuer).is_some_and(|rest| rest.starts_with('/'));
    wanted.find_map(|issuer| known.iter().find(|other| below(issuer, other)).map(|other| (issuer, *other)))
}

#[cfg(test)]
mod tests {
    use super::nested;

    #[test]
    fn an_issuer_is_followed_by_a_slash_in_a_principal() {
        let (idp, guests, other) = ("https://idp", "https://idp/guests", "https://idp.example");
        assert_eq!(nested([idp].into_iter(), &[idp, guests, other]), Some((idp, guests)));
        assert_eq!(nested([guests].into_iter(), &[idp, guests, other]), None);
        assert_eq!(nested([idp].into_iter(), &[idp, other]), None);
    }
}

//! Objects that may exist next to a written one but were not read: they do not count as absent.

use crate::migrate::base::step::Move;
use crate::migrate::base::verdict::{Concern, State};
use crate::migrate::output::draft::Action;
use std::collections::{BTreeMap, BTreeSet};

const POLICY: &str = "AuthorizationPolicy";

/// Checks the kinds of what is written, given those whose objects may not all have been read.
pub(in crate::migrate) fn check(unread: &BTreeMap<&'static str, String>, found: &mut Move) {
    let kinds: BTreeSet<String> = found
        .actions
        .iter()
        .filter_map(|action| match action {
            Action::Object(object) | Action::Rule { object, .. } => object["kind"].as_str().map(str::to_owned),
            Action::Edit { object: (kind, ..), .. } => Some((*kind).to_owned()),
            Action::Environment(..) => Some("ProxyConfig".to_owned()),
            _ => None,
        })
        .collect();
    for kind in kinds {
        let Some(what) = unread.get(kind.as_str()).filter(|_| found.moves) else { continue };
        let concern = match kind.as_str() {
            POLICY => Concern::Authorization,
            "RequestAuthentication" => Concern::Authentication,
            _ => Concern::Existing,
        };
        found.guard(concern, State::Undecided, format!("{what}: it is unknown whether another {kind} applies here"));
    }
    if let Some(what) = unread.get(POLICY).filter(|_| found.moves && found.is_of_known_provider()) {
        let reason = format!("{what}: it is unknown for which other workloads a policy has this provider");
        found.guard(Concern::Authorization, State::Broken, reason);
    }
}

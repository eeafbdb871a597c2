//! Patches that belong together: filters that others find by name, and patches that the same objects replace.

use crate::engine::program::Program;
use crate::migrate::PatchReport;
use crate::migrate::base::names::User;
use crate::migrate::base::step::{Cx, Part};
use crate::migrate::base::verdict::{Concern, Guard, Kind, State};
use crate::migrate::base::{catalog, filters};
use crate::model::envoy_filter::ApplyTo;
use crate::words::{MOST_NAMES, few};
use serde_json::Value as Json;

/// The patterns whose native filter has another name.
const RENAMED: &[&catalog::Pattern] = &[
    &catalog::LUA,
    &catalog::WASM,
    &catalog::ECDS,
    &catalog::RBAC,
    &catalog::JWT,
    &catalog::EXT_AUTHZ,
    &catalog::CORS,
];

/// Other patches that refer to a removed filter by name would no longer find it.
pub(in crate::migrate) fn users(cx: &Cx<'_>, parts: &mut [Part<'_>]) {
    for at in 0..parts.len() {
        let Some(found) = &parts[at].found else { continue };
        if !found.moves || !RENAMED.contains(&found.pattern) || parts[at].apply_to() != ApplyTo::HttpFilter {
            continue;
        }
        let Some(name) = parts[at].value.peek("name").and_then(Json::as_str) else { continue };
        // istiod's own filters also have these names, so anchors that use them still match.
        if name.starts_with("envoy.filters.http.") && found.pattern != &catalog::LUA {
            continue;
        }
        let pattern = found.pattern;
        let follows = |user: &User| {
            user.filter == cx.index
                && parts.iter().any(|part| {
                    part.built.patch.index == user.patch
                        && part.found.as_ref().is_some_and(|other| other.moves && other.pattern == pattern)
                })
        };
        let (mut number, mut first, mut followed) = (0, Vec::<&User>::new(), false);
        for user in cx.names.users(name, cx.index, parts[at].built.patch.context).filter(|user| !follows(user)) {
            // Those of other EnvoyFilters that insert a filter next to this one may move with it.
            if user.filter != cx.index && user.inserts {
                followed = true;
            } else {
                number += 1;
                first.extend((number <= MOST_NAMES).then_some(user));
            }
        }
        let followed = followed.then(|| name.to_owned());
        let titles =
            first.iter().map(|user| format!("configPatches[{}] of {}", user.patch, cx.names.title(user.filter)));
        let verb = if number == 1 { "looks" } else { "look" };
        let reason =
            format!("{} {verb} for this filter by the name `{name}`, which changes", few(titles, number, MOST_NAMES));
        if let Some(found) = &mut parts[at].found {
            found.followed = followed;
            if number > 0 {
                found.difference(Kind::Behavior, reason.clone());
                found.guards.push(Guard { concern: Concern::Existing, state: State::Broken, reason });
            }
        }
    }
}

/// A patch that is written although another one stays that the same objects replace, with the index of that one.
fn parted(patches: &[PatchReport]) -> Option<(usize, usize)> {
    patches.iter().enumerate().find_map(|(at, one)| {
        let with = one.found.with?;
        let leader = patches.iter().position(|patch| patch.index == with)?;
        match (one.written, patches[leader].written) {
            (true, false) => Some((at, with)),
            (false, true) => Some((leader, one.index)),
            _ => None,
        }
    })
}

/// A filter stays as long as a patch of the same EnvoyFilter refers to it by name.
pub(in crate::migrate) fn stay_for_others(cx: &Cx<'_>, program: &Program<'_>, patches: &mut [PatchReport]) {
    let built = program.patches(cx.index);
    let name = |patch: &PatchReport| {
        let renamed = RENAMED.contains(&patch.found.pattern) && patch.apply_to == ApplyTo::HttpFilter;
        let tree = built.iter().find(|one| one.patch.index == patch.index)?.value.as_ref()?;
        // istiod's own CORS filter has this name.
        let own = patch.found.pattern == &catalog::CORS && tree.name() == filters::CORS;
        (renamed && !own).then(|| tree.name().to_owned())
    };
    loop {
        if let Some((at, with)) = parted(patches)
            && let firm = patches.iter().any(|patch| patch.index == with && patch.stays())
            && let Some(patch) = patches.get_mut(at)
        {
            patch.keep(format!("configPatches[{with}] stays, and both are replaced together"), firm);
            continue;
        }
        let stays = |at: usize| patches.iter().any(|patch| patch.index == at && !patch.written);
        let held = patches.iter().position(|patch| {
            patch.written && name(patch).is_some_and(|name| cx.names.own_users(cx.index, &name).any(stays))
        });
        let Some(held) = held else { return };
        let lacks = |at: usize| patches.iter().any(|patch| patch.index == at && patch.found.lacks_object());
        let waits = name(&patches[held])
            .is_some_and(|name| cx.names.own_users(cx.index, &name).filter(|at| stays(*at)).all(lacks));
        let Some(patch) = patches.get_mut(held) else { return };
        patch.waits = waits;
        patch.keep("a patch that stays looks for this filter by name: they move together or not at all", false);
    }
}

//! Patches that remove something that the next release does not generate: the result is the same without them.

use super::forecast;
use super::snapshot::{PatchRecord, RunRecord};
use crate::engine::trace::Place;
use crate::lint::facts::context::Knowledge;
use crate::model::release::Release;
use crate::model::resource::{ProxyConfig, ResourceKind};
use memchr::memmem;

/// The filter that a place in a listener names, and its kind.
pub(super) fn filter(place: &Place) -> Option<(&'static str, &str)> {
    if place.kind != ResourceKind::Listener || place.inline_route.is_some() {
        return None;
    }
    let named = [("http", &place.sub_filter), ("network", &place.filter), ("listener", &place.listener_filter)];
    let (kind, name) = named.into_iter().find_map(|(kind, name)| Some((kind, name.as_deref()?)))?;
    (!name.is_empty()).then_some((kind, name))
}

/// Whether the only lost effect of a patch is the removal of something that is no longer generated.
pub(super) fn is(
    run: &RunRecord,
    config: &ProxyConfig<'_>,
    (from, to): (Release, Release),
    old: &PatchRecord,
    new: &PatchRecord,
) -> bool {
    let kept = |effect: &(u64, u64)| new.effects.binary_search(effect).is_ok();
    let mut missing = old.effects.iter().filter(|effect| !kept(effect)).peekable();
    let more = new.effects.iter().any(|effect| old.effects.binary_search(effect).is_err());
    let exact = run.knowledge == Knowledge::Dump;
    !more
        && missing.peek().is_some()
        && missing.all(|effect| {
            let mut places = old.removed.iter().filter(|(key, _)| key == effect).map(|(_, place)| place).peekable();
            places.peek().is_some() && places.all(|place| is_gone(config, place, exact, from, to))
        })
}

/// Whether no listener contains the name of the filter, so that none can have it.
fn is_gone(config: &ProxyConfig<'_>, place: &Place, exact: bool, from: Release, to: Release) -> bool {
    let Some((kind, name)) = filter(place) else { return false };
    if forecast::renamed(kind, name, from, to).is_some() {
        return false;
    }
    let says = memmem::Finder::new(name);
    config
        .resources
        .iter()
        .filter(|one| one.kind == ResourceKind::Listener && (!exact || *one.name == *place.resource))
        .all(|one| says.find(one.json.search().as_bytes()).is_none())
}

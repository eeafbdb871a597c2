//! Extensions that the proxies of a patch are not built with.

use crate::envoy::api::istio_of;
use crate::envoy::{self, Extension};
use crate::lint::facts::context::{Context, PatchRun};
use crate::lint::value::{PatchValue, Slot, TypeUrl};
use crate::source::NodeValue;

/// Categories in which a missing build key means a missing extension; others are linked by other libraries.
const TELLING: [&str; 9] = [
    "envoy.filters.http",
    "envoy.filters.network",
    "envoy.filters.listener",
    "envoy.http.custom_response",
    "envoy.http.cache_v2",
    "envoy.geoip_providers",
    "envoy.generic_proxy.filters",
    "envoy.generic_proxy.codecs",
    "envoy.access_loggers",
];

/// Which proxies an extension is missing from.
pub(crate) struct Absence<'c, 'a> {
    /// The proxies with lists of their extensions.
    pub dumps: Vec<PatchRun<'c, 'a>>,
    /// Those whose list does not contain it.
    pub without: Vec<PatchRun<'c, 'a>>,
    /// No list is known, and the proxy of this release is built without it.
    pub likely: bool,
}

impl<'c, 'a> Absence<'c, 'a> {
    /// For a type with these extensions; `None` if no proxy is known to lack them.
    fn of(cx: &'c Context<'a>, value: &PatchValue<'a>, all: &[Extension]) -> Option<Absence<'c, 'a>> {
        let minor = value.envoy_minor.map_or(cx.release.minor, istio_of);
        let runs = cx.on_proxies(value.view.filter_index, value.view.patch.index);
        let dumps: Vec<_> = runs.filter(|on| !on.run.config.proxy.extensions.is_empty()).collect();
        let lists = |names: &[String]| all.iter().any(|one| names.iter().any(|have| have == one.name()));
        let without: Vec<_> = dumps.iter().filter(|on| !lists(&on.run.config.proxy.extensions)).copied().collect();
        let telling = all.iter().all(|one| one.categories().any(|category| TELLING.contains(&category)));
        let likely = dumps.is_empty() && telling && !all.iter().any(|one| one.in_istio_proxy(minor));
        (likely || !without.is_empty()).then_some(Absence { dumps, without, likely })
    }

    /// Whether some of the proxies are known to have it.
    pub(crate) fn some_have_it(&self) -> bool {
        self.dumps.len() > self.without.len()
    }
}

/// A configuration whose extension is missing.
pub(crate) struct Missing<'v, 'c, 'a> {
    /// The configuration.
    pub slot: &'v Slot<'a>,
    /// The extension that reads it.
    pub extension: Extension,
    /// Where it is missing.
    pub absence: Absence<'c, 'a>,
}

/// The type of a slot that configures an extension.
pub(crate) fn configured<'a>(slot: &Slot<'a>) -> Option<TypeUrl<'a>> {
    slot.content().filter(|url| !slot.is_off && !url.unknown())
}

/// The configurations in a value whose extension is missing, in their order; not those inside of another one.
pub(crate) fn missing<'v, 'c, 'a>(cx: &'c Context<'a>, value: &'v PatchValue<'a>) -> Vec<Missing<'v, 'c, 'a>> {
    let mut missing: Vec<Missing<'v, 'c, 'a>> = Vec::new();
    for slot in &value.slots {
        // A slot comes before those inside it.
        if missing.last().is_some_and(|outer| outer.slot.objects.contains(&slot.owner)) {
            continue;
        }
        let Some(url) = configured(slot) else { continue };
        let all: Vec<_> = envoy::extensions_of(url.name()).collect();
        let Some(&extension) = all.first() else { continue };
        if let Some(absence) = Absence::of(cx, value, &all) {
            missing.push(Missing { slot, extension, absence });
        }
    }
    missing
}

/// The one of these that contains an object of the value.
pub(crate) fn around<'m, 'v, 'c, 'a>(
    missing: &'m [Missing<'v, 'c, 'a>],
    object: usize,
) -> Option<&'m Missing<'v, 'c, 'a>> {
    let begun = missing.partition_point(|one| one.slot.objects.start <= object);
    missing[..begun].last().filter(|one| one.slot.objects.contains(&object))
}

/// Whether a proxy without the extension of a configuration ignores it.
pub(crate) fn is_optional(value: &PatchValue<'_>, slot: &Slot<'_>) -> bool {
    let flag = value.objects.get(slot.owner).and_then(|owner| owner.member("is_optional"));
    flag.is_some_and(|flag| matches!(flag.entry.value.value, NodeValue::Bool(true)))
}

//! EF213: an old filter name in a match.

use crate::declare_rule;
use crate::engine::program::compile_re2;
use crate::envoy;
use crate::lint::{Context, Edit, Finding, Findings, Rule};
use crate::model::envoy_filter::ObjectMatch;

declare_rule! {
    /// An old filter name in a match (`envoy.router`), which matches nothing since 1.19.
    ///
    /// # What it finds
    /// `filter.name`, `subFilter.name` or `listenerFilter` that is a name of Envoy before 1.14 where the canonical one is
    /// generated, and a patch that matches nothing with it.
    ///
    /// # Why it matters
    /// Since 1.19 istiod compares names as plain strings. The patch is accepted and does nothing: the most frequent
    /// mistake in published filters.
    ///
    /// # How to fix
    /// Write the canonical name.
    ///
    /// # References
    /// istio/istio#21982, istio/istio#45675; Envoy 1.14 release notes.
    "EF213" "legacy-name-in-match" Error fixes => check
}

/// Where a match names a filter: keys below `match`, and the kind of filter there.
const PLACES: &[(&[&str], &str)] = &[
    (&["match", "listener", "filterChain", "filter", "name"], "network"),
    (&["match", "listener", "filterChain", "filter", "subFilter", "name"], "http"),
    (&["match", "listener", "listenerFilter"], "listener"),
];

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let ObjectMatch::Listener(listener) = &view.patch.object else { continue };
        let filter = listener.filter_chain.as_ref().and_then(|chain| chain.filter.as_ref());
        let written = [
            filter.map(|filter| filter.name.as_str()),
            filter.and_then(|filter| filter.sub_filter.as_deref()),
            Some(listener.listener_filter.as_str()),
        ];
        let legacy = PLACES
            .iter()
            .zip(written)
            .filter_map(|((route, kind), name)| Some((*route, name?, envoy::canonical_filter_name(kind, name?)?)));
        let legacy: Vec<_> = legacy.collect();
        if legacy.is_empty() || !meant_for(cx, view.patch.proxy.as_ref().map_or("", |proxy| proxy.version.as_str())) {
            continue;
        }
        // Somebody may have added a filter under the old name, and then it is there to be matched.
        let matched = cx.on_proxies(view.filter_index, view.patch.index).any(|met| !met.trace.effects.is_empty());
        if matched {
            continue;
        }
        for (route, name, canonical) in legacy {
            let span = view.value_span(route);
            let field = route.last().copied().unwrap_or_default();
            out.push(
                Finding::new(rule, span, format!("`{name}` is an old name that no filter has"))
                    .of(view.filter, Some(view.patch.index))
                    .label("matches nothing")
                    .ineffective()
                    .note("Istio compares names as they stand since 1.19; before, it took old names for the new ones")
                    .help(format!("{field}: {canonical}"))
                    .fix("write the canonical name", true, vec![Edit { span, text: canonical.to_owned() }]),
            );
        }
    }
}

/// A patch for proxies before 1.19 only is another rule's matter.
fn meant_for(cx: &Context<'_>, version: &str) -> bool {
    if version.is_empty() {
        return true;
    }
    let Ok(regex) = compile_re2(version) else { return true };
    let proxies = cx.runs.iter().map(|run| run.config.proxy.istio_version.clone());
    let releases = (19..=cx.release.minor).map(|minor| format!("1.{minor}.0"));
    proxies.chain(releases).any(|version| regex.is_match(&version))
}

//! EF213: an old filter name in a match.

use crate::declare_rule;
use crate::engine::go_regexp;
use crate::envoy;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Edit, Findings, RuleInfo};
use crate::model::envoy_filter::ObjectMatch;
use crate::source::Severity;

declare_rule! {
    /// An old filter name in a match (`envoy.router`), which matches nothing since 1.19.
    ///
    /// # What it finds
    /// `filter.name`, `subFilter.name` or `listenerFilter` with a name from before Envoy 1.14, although the canonical
    /// one is generated, in a patch that therefore matches nothing.
    ///
    /// # Why it matters
    /// Since 1.19 istiod compares names as plain strings. The patch is accepted but does nothing: the most common
    /// mistake in published filters.
    ///
    /// # How to fix
    /// Write the canonical name.
    ///
    /// # References
    /// istio/istio#21982, istio/istio#45675; Envoy 1.14 release notes.
    "EF213" "legacy-name-in-match" Matching Error => check,
    fixes: true, renews: true, explains: &["EF217"], policy: Cel(policy)
}

/// The places where a match names a filter: keys below `match`, and the kind of filter.
const PLACES: &[(&[&str], &str)] = &[
    (&["match", "listener", "filterChain", "filter", "name"], "network"),
    (&["match", "listener", "filterChain", "filter", "subFilter", "name"], "http"),
    (&["match", "listener", "listenerFilter"], "listener"),
];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
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
        // Another patch may have added a filter under the old name, which can then be matched.
        let matched = cx.on_proxies(view.filter_index, view.patch.index).any(|met| !met.trace.effects.is_empty());
        if matched {
            continue;
        }
        let names: Vec<String> = legacy.iter().map(|(_, name, _)| format!("`{name}`")).collect();
        let message = match names.as_slice() {
            [one] => format!("{one} is an old name that no filter has"),
            _ => format!("{} are old names that no filter has", names.join(" and ")),
        };
        let place = |route: &[&str]| view.value_span(route);
        let edits = legacy.iter().map(|(route, _, to)| Edit { span: place(route), text: (*to).to_owned() });
        let fields = legacy.iter().map(|(route, _, to)| format!("{}: {to}", route.last().copied().unwrap_or_default()));
        let help = match legacy.as_slice() {
            [_, (_, _, sub)] => format!("name: {}\nsubFilter:\n  name: {sub}", legacy[0].2),
            _ => fields.collect::<Vec<_>>().join("\n"),
        };
        let mut finding = view
            .finding(rule, place(legacy[0].0), message)
            .label("matches nothing")
            .ineffective()
            .note("since Istio 1.19 names are compared literally; earlier releases accepted old names for the new ones")
            .snippet(help)
            .fix("write the canonical name", false, edits.collect())
            .reviving();
        for (route, ..) in &legacy[1..] {
            finding = finding.related(place(route), "nor does this");
        }
        out.push(finding);
    }
}

/// Another rule reports a patch that is only for proxies before 1.19.
fn meant_for(cx: &Context<'_>, version: &str) -> bool {
    if version.is_empty() {
        return true;
    }
    let compiled = go_regexp::compile(version);
    let Ok(regex) = compiled.as_ref() else { return true };
    let proxies = cx.runs.iter().map(|run| run.config.proxy.istio_version.clone());
    let releases = (19..=cx.release.minor).map(|minor| format!("1.{minor}.0"));
    proxies.chain(releases).any(|version| regex.is_match(&version))
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![Cel::patch(
        Severity::Warning,
        old_names(),
        "an old filter name in a match, which matches nothing unless another filter was added under it",
    )
        .without("a denial, although lint reports an error: another EnvoyFilter may add a filter of that name; and patches with proxyVersion")]
}

/// An old name in one of the three places of a match, under which no patch of the same EnvoyFilter adds a filter.
fn old_names() -> String {
    let places = [
        ("has(@f.name)", "@f.name", "network", "@filter"),
        ("has(@f.subFilter) && has(@f.subFilter.name)", "@f.subFilter.name", "http", "@filter"),
        ("has(p.match.listener.listenerFilter)", "p.match.listener.listenerFilter", "listener", "@listener"),
    ];
    let each = places.map(|(exists, name, kind, before)| {
        let names = Cel::list(&envoy::legacy_filter_names(kind));
        let added = "variables.patches.exists(q, has(q.patch) && has(q.patch.value) && has(q.patch.value.name) && q.patch.value.name";
        format!("({before} && {exists} && {name} in {names} && !{added} == {name}))")
    });
    format!(r#"@version == "" && ({})"#, each.join(" || "))
}

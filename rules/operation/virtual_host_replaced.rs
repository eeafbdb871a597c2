//! EF338: a REPLACE of a virtual host, and what it drops.

use crate::declare_rule;
use crate::engine::trace::{Effect, Place};
use crate::lint::context::PatchRun;
use crate::lint::{Context, Findings, RuleInfo, names};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use std::collections::BTreeSet;

declare_rule! {
    /// A REPLACE of a virtual host, which drops the routes and domains that istiod generated for it.
    ///
    /// # What it finds
    /// A VIRTUAL_HOST REPLACE whose value omits routes or domains of the generated virtual host; with config dumps the
    /// finding names them.
    ///
    /// # Why it matters
    /// The routes of the VirtualService are gone, and later changes of it have no effect: the host has only what the
    /// EnvoyFilter contains, with clusters that may disappear when services change.
    ///
    /// # How to fix
    /// MERGE settings into the virtual host; add routes with HTTP_ROUTE INSERT_FIRST and remove single ones with REMOVE.
    ///
    /// # References
    /// istiod `rc_patch.go`, releases 1.22 to 1.31; recorded.
    "EF338" "virtual-host-replaced" Operation Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::VirtualHost) {
        let Some(built) = view.built.filter(|built| built.operation == Operation::Replace) else { continue };
        let Some(given) = built.value.as_ref() else { continue };
        let Some(seen) = cx.seen_if(&view, |run| run.has(|effect| matches!(effect, Effect::Replaced))) else {
            continue;
        };
        let (mut routes, mut domains, mut unnamed) = (BTreeSet::new(), BTreeSet::new(), 0);
        for run in &seen.runs {
            for (place, _) in run.trace.effects.iter().filter(|(_, effect)| matches!(effect, Effect::Replaced)) {
                let Some((before, hosts)) = generated(run, place) else { continue };
                let kept = list(given, "routes");
                unnamed += before.iter().filter(|name| name.is_empty()).count();
                routes.extend(before.into_iter().filter(|name| !name.is_empty() && !kept.contains(name)));
                let kept = list(given, "domains");
                domains.extend(hosts.into_iter().filter(|host| !kept.contains(host)));
            }
        }
        if routes.is_empty() && domains.is_empty() && unnamed == 0 {
            continue;
        }
        let mut finding = view
            .finding(
                rule,
                view.value_span(&["patch", "operation"]),
                "REPLACE drops what istiod generated for the virtual host",
            )
            .label("the whole virtual host is replaced")
            .note("later changes of its VirtualService or Service no longer reach it")
            .help("use MERGE for settings, and HTTP_ROUTE patches for routes");
        let is_bare = ["routes", "matcher", "require_tls"].iter().all(|key| given.get(key).is_none());
        if is_bare {
            finding = finding.note("without `routes`, every request for its domains gets 404");
        }
        if seen.certain() && !routes.is_empty() {
            finding = finding.note(format!("routes dropped: {}", names::listed(routes.iter().map(String::as_str), 12)));
        }
        if seen.certain() && !domains.is_empty() {
            finding =
                finding.note(format!("domains dropped: {}", names::listed(domains.iter().map(String::as_str), 12)));
        }
        out.push(seen.tell(finding));
    }
}

/// The names of routes, or the domains, of a virtual host.
fn list(vhost: &Tree<'_>, key: &str) -> BTreeSet<String> {
    let items = vhost.get(key).map(Tree::items).unwrap_or_default();
    let text = |item: &Tree<'_>| {
        if key == "routes" { item.name().to_owned() } else { item.as_str().unwrap_or_default().to_owned() }
    };
    items.iter().map(text).collect()
}

/// The routes and domains of the virtual host that istiod generated at a place.
fn generated(run: &PatchRun<'_, '_>, place: &Place) -> Option<(Vec<String>, BTreeSet<String>)> {
    let wanted = place.vhost.as_deref()?;
    let routes = run.run.before(ResourceKind::Route, &place.resource)?;
    let vhosts = routes.get("virtual_hosts").map(Tree::items)?;
    let vhost = vhosts.iter().find(|vhost| vhost.name() == wanted)?;
    let names = vhost.get("routes").map(Tree::items).unwrap_or_default();
    Some((names.iter().map(|route| route.name().to_owned()).collect(), list(vhost, "domains")))
}

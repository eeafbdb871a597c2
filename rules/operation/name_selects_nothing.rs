//! EF340: a MERGE into all objects of a kind whose value has a name, as if the name selected one.

use crate::declare_rule;
use crate::engine::program::Status;
use crate::engine::trace::Effect;
use crate::lint::context::PatchRun;
use crate::lint::{Context, Findings, RuleInfo, names};
use crate::model::envoy_filter::{ApplyTo, ClusterMatch, ListenerMatch, ObjectMatch};
use crate::source::Severity;
use crate::source::escape::one_line;

declare_rule! {
    /// A MERGE into every cluster, listener, virtual host or route whose value has a `name`, which selects nothing.
    ///
    /// # What it finds
    /// A MERGE of CLUSTER, LISTENER, VIRTUAL_HOST or HTTP_ROUTE without a condition for these objects, with a `name` in
    /// its value, if it changes several of them.
    ///
    /// # Why it matters
    /// Only `match` selects. istiod merges the value, with its name, into all objects of the context: Envoy rejects
    /// clusters, listeners and virtual hosts of the same name. With a transport socket in the value, istiod drops the
    /// name, and all clusters get the transport socket.
    ///
    /// # How to fix
    /// Move the name into the match: `cluster: {name: …}`, `listener: {name: …}`, `vhost: {name: …}`,
    /// `vhost: {route: {name: …}}`.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter`, releases 1.22 to 1.31; recorded.
    "EF340" "name-selects-nothing" Operation Error => check,
    explains: &["EF319"]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(built) = view.built.filter(|built| built.status == Status::Ready && built.operation.is_merge()) else {
            continue;
        };
        let Some((what, condition)) = unconditional(view.patch.apply_to, &built.object) else { continue };
        let name = built.value.as_ref().map(|value| value.name().to_owned()).unwrap_or_default();
        if name.is_empty() {
            continue;
        }
        let Some(seen) = cx.seen(&view, |run| changed(run) > 1) else { continue };
        let count = seen.runs.iter().map(changed).max().unwrap_or_default();
        let socket = seen.runs.iter().any(|run| run.has(|effect| matches!(effect, Effect::TransportSocketMerged(..))));
        let mut finding = view
            .finding(
                rule,
                view.value_path_span("name"),
                format!("this MERGE changes all {what}s: the name in its value selects none"),
            )
            .label("written, not compared")
            .snippet(condition.replace('?', &one_line(&name)));
        if view.patch.apply_to == ApplyTo::HttpRoute {
            finding = finding.severity(Severity::Warning);
        }
        if seen.certain() {
            finding = finding.note(format!("it changes {}", names::count(count, what, &format!("{what}s"))));
        }
        finding = finding.note(match view.patch.apply_to {
            _ if socket => "istiod drops the name and gives the transport socket to all of them",
            ApplyTo::HttpRoute => "they all get this name",
            _ => "they all get this name, and Envoy rejects duplicate names",
        });
        out.push(seen.tell(finding));
    }
}

/// The kind of object and the condition to write, if a match has none for it.
fn unconditional(apply_to: ApplyTo, object: &ObjectMatch) -> Option<(&'static str, &'static str)> {
    let routes = match object {
        ObjectMatch::RouteConfiguration(routes) => Some(routes),
        _ => None,
    };
    let vhost = routes.and_then(|routes| routes.vhost.as_ref());
    match apply_to {
        ApplyTo::Cluster => {
            let any = |cluster: &ClusterMatch| *cluster == ClusterMatch::default();
            (matches!(object, ObjectMatch::None) || matches!(object, ObjectMatch::Cluster(cluster) if any(cluster)))
                .then_some(("cluster", "match:\n  cluster:\n    name: \"?\""))
        }
        ApplyTo::Listener => {
            let any = |listener: &ListenerMatch| listener.name.is_empty() && listener.port_number == 0;
            (matches!(object, ObjectMatch::None) || matches!(object, ObjectMatch::Listener(listener) if any(listener)))
                .then_some(("listener", "match:\n  listener:\n    name: \"?\""))
        }
        ApplyTo::VirtualHost => vhost
            .is_none_or(|vhost| vhost.name.is_empty() && vhost.domain_name.is_empty())
            .then_some(("virtual host", "match:\n  routeConfiguration:\n    vhost:\n      name: \"?\"")),
        ApplyTo::HttpRoute => vhost
            .and_then(|vhost| vhost.route.as_ref())
            .is_none_or(|route| route.name.is_empty())
            .then_some(("route", "match:\n  routeConfiguration:\n    vhost:\n      route:\n        name: \"?\"")),
        _ => None,
    }
}

/// How many objects the patch changes on a proxy; an earlier patch may have given them one name.
fn changed(run: &PatchRun<'_, '_>) -> usize {
    run.trace.effects.iter().filter(|(_, effect)| effect.changes()).count()
}

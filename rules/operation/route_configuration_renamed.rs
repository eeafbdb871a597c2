//! EF358: a route configuration whose new name nobody asks for.

use crate::declare_rule;
use crate::engine::trace::{Effect, Place};
use crate::lint::context::PatchRun;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch};
use crate::model::resource::ResourceKind;
use crate::proto::merge::Change;
use crate::proto::tree::Tree;
use crate::source::escape::one_line;

declare_rule! {
    /// A MERGE that gives a route configuration another name than the one that its listener requests.
    ///
    /// # What it finds
    /// A ROUTE_CONFIGURATION MERGE with a `name` in its value that is not the name of the matched route configuration.
    /// A route configuration inside a listener, as on the inbound side, may have any name.
    ///
    /// # Why it matters
    /// istiod sends the route configuration under the new name, the listener requests the old one, and Envoy uses only
    /// what it requested. A proxy that starts answers every request to the port with 404; a running one keeps the routes
    /// that it has, and gets no update.
    ///
    /// # How to fix
    /// Leave `name` out of the value: the match selects the route configuration.
    ///
    /// # References
    /// istiod `httproute.go`: the resource of a sidecar is named by the patched message, that of a gateway by the request
    /// (1.30, 1.31). Envoy `source/common/rds/rds_route_config_subscription.cc`: `Unexpected RDS configuration
    /// (expecting …)`; tried with Envoy 1.39.3: 404, `route_not_found`.
    "EF358" "route-configuration-renamed" Operation Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::RouteConfiguration) {
        let Some(new) = view.built.and_then(|built| built.value.as_ref()).map(Tree::name) else { continue };
        let wanted = match &view.patch.object {
            ObjectMatch::RouteConfiguration(wanted) => wanted.name.as_str(),
            _ => "",
        };
        if new.is_empty() || new == wanted {
            continue;
        }
        // A reference configuration may have route configurations of other names than the match.
        let renames = |run: &PatchRun<'_, '_>| requested(run).next().is_some();
        let seen = if wanted.is_empty() { cx.seen(&view, renames) } else { cx.seen_if(&view, renames) };
        let Some(seen) = seen else { continue };
        let first = seen.runs.first().and_then(|run| requested(run).next()).unwrap_or_default();
        let name = if wanted.is_empty() { first } else { wanted };
        let message = format!("no listener requests this name: route configuration `{name}` is no longer sent");
        let finding = view
            .finding(rule, view.value_path_span("name"), message)
            .label(format!("renames `{}`", one_line(name)))
            .note(
                "a proxy that starts answers requests to these listeners with 404; a running one keeps the routes that \
                 it has, without updates",
            )
            .help("delete `name`: the match selects the route configuration");
        let names: Vec<String> = seen.runs.iter().flat_map(requested).map(str::to_owned).collect();
        out.push(seen.tell(finding).objects(if seen.certain() { names } else { Vec::new() }));
    }
}

/// The requested names of the route configurations that a patch renames.
fn requested<'c>(run: &PatchRun<'c, '_>) -> impl Iterator<Item = &'c str> {
    let alone = |place: &Place| place.kind == ResourceKind::Route && place.inline_route.is_none();
    let renamed = run.trace.effects.iter().filter(move |(place, effect)| alone(place) && new_name(effect).is_some());
    renamed.map(|(place, _)| &*place.resource)
}

/// The name that a merge gives to the object that it changes.
pub(super) fn new_name<'e, 'a>(effect: &'e Effect<'a>) -> Option<&'e Change<'a>> {
    let Effect::Merged(changes) = effect else { return None };
    changes.iter().find(|change| change.path == "name" && change.differs())
}

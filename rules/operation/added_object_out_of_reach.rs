//! EF321: a patch of an object that another patch adds: additions come last, so it never matches.

use crate::declare_rule;
use crate::engine::program::Status;
use crate::lint::context::PatchView;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::ObjectMatch;
use crate::model::envoy_filter::{ApplyTo, Operation};

declare_rule! {
    /// A patch of an object that another patch adds: additions come last, so the patch never matches.
    ///
    /// # What it finds
    /// A patch that matches nothing, and whose match names a listener, filter chain, virtual host or cluster that
    /// another patch adds.
    ///
    /// # Why it matters
    /// istiod appends what LISTENER, FILTER_CHAIN, VIRTUAL_HOST and CLUSTER ADD bring after everything else, and
    /// never patches it, whatever the priority.
    ///
    /// # How to fix
    /// Write what the patch does into the value of the ADD.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter`, releases 1.22 to 1.31; recorded.
    "EF321" "added-object-out-of-reach" Operation Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let adds: Vec<(ApplyTo, String, PatchView<'_>)> = cx
        .patches()
        .filter_map(|view| {
            let built =
                view.built.filter(|built| built.operation == Operation::Add && built.status == Status::Ready)?;
            let kinds = [ApplyTo::Listener, ApplyTo::FilterChain, ApplyTo::VirtualHost, ApplyTo::Cluster];
            let name = built.value.as_ref()?.name().to_owned();
            (kinds.contains(&view.patch.apply_to) && !name.is_empty()).then_some((view.patch.apply_to, name, view))
        })
        .collect();
    if adds.is_empty() {
        return;
    }
    for view in cx.patches() {
        let Some(built) = view.built.filter(|built| built.status == Status::Ready) else { continue };
        for (kind, wanted, route) in named(&built.object) {
            let Some((.., add)) = adds.iter().find(|(other, name, _)| *other == kind && *name == wanted) else {
                continue;
            };
            let same = add.filter_index == view.filter_index && add.patch.index == view.patch.index;
            // Without dumps a REMOVE may be of what istiod generates, which the ADD is to replace.
            if built.operation == Operation::Remove && !cx.attaches_to_dump(view.filter_index) {
                continue;
            }
            if same || (kind == ApplyTo::Cluster && built.operation == Operation::Add) {
                continue;
            }
            let together = cx.runs.iter().any(|run| {
                run.patch(view.filter_index, view.patch.index).is_some_and(|run| run.runs())
                    && run.patch(add.filter_index, add.patch.index).is_some_and(|run| run.changes())
            });
            let dumps = cx.attaches_to_dump(view.filter_index);
            // Without dumps the names of generated objects are not known: only a name of the user's own is taken.
            let matched = cx
                .on_proxies(view.filter_index, view.patch.index)
                .any(|run| (dumps || crate::lint::seen::exact(&run, &view)) && !run.trace.effects.is_empty());
            if !together || matched {
                continue;
            }
            let finding = view
                .finding(
                    rule,
                    view.value_span(&route),
                    format!("`{wanted}` is added by a patch, and istiod never patches what patches add"),
                )
                .label("matches nothing")
                .related(add.value_path_span("name"), "added here, after all other patches, regardless of priority")
                .help("write it into the value of the ADD");
            let confidence = if dumps { crate::lint::Confidence::Certain } else { crate::lint::Confidence::Likely };
            let finding = finding.confidence(confidence);
            out.push(finding.ineffective());
            break;
        }
    }
}

/// Names in a match, what they name, and their place below the patch.
fn named(object: &ObjectMatch) -> Vec<(ApplyTo, String, Vec<&'static str>)> {
    let mut names = Vec::new();
    match object {
        ObjectMatch::Listener(listener) => {
            names.push((ApplyTo::Listener, listener.name.clone(), vec!["match", "listener", "name"]));
            if let Some(chain) = &listener.filter_chain {
                let route = vec!["match", "listener", "filterChain", "name"];
                names.push((ApplyTo::FilterChain, chain.name.clone(), route));
            }
        }
        ObjectMatch::RouteConfiguration(routes) => {
            if let Some(vhost) = &routes.vhost {
                let route = vec!["match", "routeConfiguration", "vhost", "name"];
                names.push((ApplyTo::VirtualHost, vhost.name.clone(), route));
            }
        }
        ObjectMatch::Cluster(cluster) => {
            names.push((ApplyTo::Cluster, cluster.name.clone(), vec!["match", "cluster", "name"]));
        }
        ObjectMatch::None | ObjectMatch::Waypoint(_) => {}
    }
    names.retain(|(_, name, _)| !name.is_empty());
    names
}

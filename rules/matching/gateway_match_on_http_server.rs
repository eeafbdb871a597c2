//! EF219: portName or gateway in the match of a route configuration without them.

use crate::declare_rule;
use crate::engine::trace::Condition;
use crate::lint::{Confidence, Context, Findings, Knowledge, RuleInfo, names, no_match};
use crate::model::envoy_filter::ObjectMatch;
use crate::model::resource::ResourceKind;
use std::collections::BTreeSet;

declare_rule! {
    /// `routeConfiguration.portName` or `gateway` that no route configuration has.
    ///
    /// # What it finds
    /// `portName` or `gateway` that matches no route configuration of the selected gateways, typically on plain HTTP
    /// servers. Without config dumps: a `gateway` that is not written `namespace/name`, and names with dots.
    ///
    /// # Why it matters
    /// All HTTP servers of a port share the route configuration `http.<port>`, which has neither; only
    /// `https.<port>.<port name>.<gateway>.<namespace>` does, and only if that name has exactly four dots.
    ///
    /// # How to fix
    /// Match HTTP servers by `portNumber` and, for individual hosts, by `vhost`.
    ///
    /// # References
    /// istio/istio#46459, istio/istio#32637; istiod `pilot/pkg/networking/core/envoyfilter/rc_patch.go`.
    "EF219" "gateway-match-on-http-server" Matching Error => check,
    explains: &["EF514"]
}

/// The namespaces of the Gateways with a name: those in the input, and those whose route configurations the dumps
/// contain.
fn namespaces(cx: &Context<'_>, name: &str) -> Vec<String> {
    let given = cx.inventory.gateways.iter().filter(|it| it.object.name == name);
    let mut known: BTreeSet<String> = given.map(|it| it.object.namespace.clone()).collect();
    for run in cx.runs.iter().filter(|run| run.knowledge == Knowledge::Dump) {
        let routes = run.config.of_kind(ResourceKind::Route).map(|route| route.name.split('.').collect::<Vec<_>>());
        // `https.<port>.<port name>.<gateway>.<namespace>`
        known.extend(routes.filter_map(|parts| match parts.as_slice() {
            [_, _, _, gateway, namespace] if *gateway == name => Some((*namespace).to_owned()),
            _ => None,
        }));
    }
    known.into_iter().collect()
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let ObjectMatch::RouteConfiguration(want) = &view.patch.object else { continue };
        // Only a gateway's route configurations have these fields.
        let on_gateway = view.patch.context == crate::model::envoy_filter::PatchContext::Gateway;
        let never = if !on_gateway || want.gateway.is_empty() {
            None
        } else if !want.gateway.contains('/') {
            Some((
                format!("`gateway: {}` is compared with `namespace/name` and matches none", want.gateway),
                match namespaces(cx, &want.gateway).as_slice() {
                    [] => format!("write its namespace too: `gateway: <namespace>/{}`", want.gateway),
                    known => known
                        .iter()
                        .map(|it| format!("gateway: {it}/{}", want.gateway))
                        .collect::<Vec<_>>()
                        .join("\nor "),
                },
            ))
        } else if want.gateway.contains('.') {
            Some((
                format!("a Gateway with a dot in its name, `{}`, never matches", want.gateway),
                "match by `portNumber` and `vhost`".to_owned(),
            ))
        } else {
            None
        };
        if let Some((message, help)) = never {
            let span = view.value_span(&["match", "routeConfiguration", "gateway"]);
            out.push(view.finding(rule, span, message).label("never matches").ineffective().help(help));
        } else if on_gateway && want.port_name.contains('.') {
            let span = view.value_span(&["match", "routeConfiguration", "portName"]);
            let message = format!("a port name with a dot, `{}`, never matches", want.port_name);
            out.push(view.finding(rule, span, message).label("never matches").ineffective());
        }
    }
    for one in no_match::at(cx, &[Condition::PortName, Condition::Gateway]) {
        let (ObjectMatch::RouteConfiguration(want), Confidence::Certain) = (&one.view.patch.object, one.confidence)
        else {
            continue;
        };
        let named = (!want.gateway.is_empty() && !want.gateway.contains('/'))
            || want.gateway.contains('.')
            || want.port_name.contains('.');
        if named && one.view.patch.context == crate::model::envoy_filter::PatchContext::Gateway {
            continue;
        }
        let (field, value) = match one.nearest {
            Some(Condition::Gateway) => ("gateway", &want.gateway),
            _ => ("portName", &want.port_name),
        };
        let finding =
            one.finding(cx, rule, "route configuration", format!("no route configuration has {field} `{value}`"));
        let plain = one.candidates.iter().any(String::is_empty);
        let finding = if plain {
            finding.note(
                "HTTP servers share the route configuration `http.<port>`, which has neither portName nor gateway",
            )
        } else {
            finding
        };
        let named = one.candidates.iter().map(String::as_str).filter(|it| !it.is_empty());
        out.push(match names::nearest(value, named) {
            Some(like) => finding.help(format!("{field}: {like}")),
            None if plain && want.vhost.as_ref().is_some_and(|vhost| !vhost.name.is_empty()) => {
                finding.help(format!("omit `{field}`: `vhost.name` selects the host"))
            }
            None => finding.help("match HTTP servers by `portNumber` and `vhost.name` (`<host>:<port>`)"),
        });
    }
}

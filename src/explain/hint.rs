//! Why a patch matched nothing, the nearest things that exist, and what to write instead.

use super::Explainer;
use super::view::Reason;
use crate::engine::matching::{self, HTTP_CONNECTION_MANAGER, VIRTUAL_INBOUND};
use crate::engine::trace::{Condition, PatchId};
use crate::envoy;
use crate::model::envoy_filter::{ApplyTo, EnvoyFilter, Operation, PatchContext};
use crate::model::inventory::TargetPort;
use crate::model::proxy::ProxyKind;
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use crate::source::{Span, Step, alike};
use crate::study::culprit::Blame;
use crate::words::omit_own_port;
use std::collections::BTreeSet;

/// Maximum number of nearest things.
pub(super) const NEAREST: usize = 5;

/// The canonical name of a filter whose old name a match uses.
pub(crate) fn canonical_name(old: &str, condition: Condition) -> Option<&'static str> {
    let kind = match condition {
        Condition::SubFilter => "http",
        Condition::ListenerFilter => "listener",
        _ => "network",
    };
    envoy::canonical_filter_name(kind, old).or_else(|| envoy::canonical_name(old))
}

impl Explainer<'_, '_> {
    /// The reason of a patch that matched nothing.
    pub(super) fn no_match(&self, id: PatchId) -> Reason {
        let planned = self.study.plan.get(id);
        let filter = self.study.plan.filter(id);
        let trace = &self.study.judged.trace.patches[id.index()];
        let Some(condition) = trace.nearest else {
            return self.nothing_to_look_at(planned.built.patch.apply_to, planned.built.patch.context);
        };
        let (asked, span) = asked(filter, planned.built.patch.index, condition);
        let message = sentence(condition, &asked, planned.built.patch.apply_to);
        let blame = self.study.blame(id);
        let help = |blame: &Blame| match blame.priority {
            Some(priority) => format!("{}: spec.priority {priority}", blame.help),
            None => blame.help.clone(),
        };
        let blame = blame.map(|blame| (blame.what.clone(), help(&blame)));
        let blame = blame.or_else(|| self.added_last(id, condition, &asked));
        if let Some((what, help)) = blame {
            return Reason {
                code: code(condition),
                message: format!("{message}: {what}"),
                help: Some(help),
                source: span.map(|span| self.location(span)),
                candidates: Vec::new(),
            };
        }
        let candidates = alike::ranked(&asked, &trace.candidates, NEAREST);
        let help = self.help(id, condition, &asked, &candidates);
        Reason {
            code: code(condition),
            message: if candidates.is_empty() {
                format!("{message}; nothing of that kind exists where it looks")
            } else {
                message
            },
            help,
            source: span.map(|span| self.location(span)),
            candidates,
        }
    }

    fn nothing_to_look_at(&self, apply_to: ApplyTo, context: PatchContext) -> Reason {
        let what = match apply_to {
            ApplyTo::Cluster => "cluster",
            ApplyTo::RouteConfiguration | ApplyTo::VirtualHost | ApplyTo::HttpRoute => "route configuration",
            ApplyTo::ExtensionConfig => "extension configuration",
            _ => "listener",
        };
        let dump_has = self.study.config.of_kind(match apply_to {
            ApplyTo::Cluster => ResourceKind::Cluster,
            ApplyTo::RouteConfiguration | ApplyTo::VirtualHost | ApplyTo::HttpRoute => ResourceKind::Route,
            ApplyTo::ExtensionConfig => ResourceKind::ExtensionConfig,
            _ => ResourceKind::Listener,
        });
        let (message, help) = if dump_has.count() == 0 {
            (
                format!("the dump has no {what}, so there is nothing to match"),
                Some("dump everything: istioctl proxy-config all POD -o json".to_owned()),
            )
        } else {
            (format!("the proxy has no {what} that {} patches for {}", apply_to.name(), context.name()), None)
        };
        Reason { code: "nothing-there", message, help, source: None, candidates: Vec::new() }
    }

    fn help(&self, id: PatchId, condition: Condition, asked: &str, candidates: &[String]) -> Option<String> {
        let patch = self.study.plan.get(id).built.patch;
        let of_chain = matches!(
            condition,
            Condition::TransportProtocol
                | Condition::ApplicationProtocols
                | Condition::Sni
                | Condition::ChainName
                | Condition::DestinationPort
                | Condition::Filter
                | Condition::HttpConnectionManager
        );
        if of_chain && let Some((listener, port)) = matching::own_port(patch.context, &patch.object) {
            return Some(omit_own_port(listener, port));
        }
        match condition {
            Condition::Filter | Condition::SubFilter | Condition::ListenerFilter => {
                if let Some(name) = canonical_name(asked, condition) {
                    let more = self.second_old_name(id, condition);
                    return Some(format!("write {name}{more}: old filter names have matched nothing since Istio 1.19"));
                }
                if let Some(help) = self.added_by_another(id, asked) {
                    return Some(help);
                }
            }
            Condition::ListenerPort | Condition::ChainPort | Condition::DestinationPort => {
                if let Some(help) = self.target_port(patch.context, asked) {
                    return Some(help);
                }
            }
            Condition::HttpConnectionManager => {
                return self.another_manager(id).or_else(|| {
                    Some(
                        "the port is not HTTP to Istio: name the Service port http-… or set appProtocol: http"
                            .to_owned(),
                    )
                });
            }
            Condition::PortName | Condition::Gateway if self.study.config.proxy.kind == ProxyKind::Gateway => {
                return Some(
                    "only route configurations of HTTPS servers carry a port name and a gateway: match by name or portNumber"
                        .to_owned(),
                );
            }
            _ => {}
        }
        let best = candidates.first()?;
        alike::misspelled(asked, best).then(|| format!("did you mean {best}?"))
    }

    /// The old name of the sub-filter, when the filter around it already failed to match.
    fn second_old_name(&self, id: PatchId, condition: Condition) -> String {
        let sub_filter = matching::sub_filter_name(&self.study.plan.get(id).built.object)
            .filter(|_| condition == Condition::Filter)
            .and_then(|name| canonical_name(name, Condition::SubFilter));
        sub_filter.map(|name| format!(", and {name} for the sub-filter")).unwrap_or_default()
    }

    /// The match names another network filter than the one in which istiod looks for HTTP filters.
    fn another_manager(&self, id: PatchId) -> Option<String> {
        let name = matching::network_filter_name(&self.study.plan.get(id).built.object)?;
        if name == HTTP_CONNECTION_MANAGER {
            return None;
        }
        let renames = |other: &PatchId| {
            let built = self.study.plan.get(*other).built;
            let named = built.value.as_ref().is_some_and(|value| value.name() == name);
            let works =
                self.study.judged.trace.patches[other.index()].effects.iter().any(|(_, effect)| effect.changes());
            named && works && built.operation.is_merge() && built.patch.apply_to == ApplyTo::NetworkFilter
        };
        let Some(other) = self.study.plan.ids().find(renames) else {
            return Some(format!("only {HTTP_CONNECTION_MANAGER} has HTTP filters, not {name}: write that name"));
        };
        let (index, filter) = (self.study.plan.get(other).built.patch.index, self.study.plan.filter(other).full_name());
        Some(format!(
            "istiod looks for HTTP filters only in {HTTP_CONNECTION_MANAGER}: write that name, and do not rename it in \
             configPatches[{index}] of {filter}"
        ))
    }

    /// Another patch adds the object that the match describes, after all other patches.
    fn added_last(&self, id: PatchId, condition: Condition, asked: &str) -> Option<(String, String)> {
        let added = |other: &PatchId| {
            let built = self.study.plan.get(*other).built;
            let Some(value) = built.value.as_ref().filter(|_| built.operation == Operation::Add) else { return false };
            let number = |path: &[&str]| value.path(path).and_then(Tree::as_str).is_some_and(|port| port == asked);
            let listed = |path: &[&str]| {
                let items = value.path(path).map(Tree::items).unwrap_or_default();
                items.iter().any(|item| item.as_str() == Some(asked))
            };
            match (condition, built.patch.apply_to) {
                (Condition::ListenerName, ApplyTo::Listener)
                | (Condition::ChainName, ApplyTo::FilterChain)
                | (Condition::VirtualHostName, ApplyTo::VirtualHost)
                | (Condition::ClusterName, ApplyTo::Cluster) => value.name() == asked,
                (Condition::DomainName, ApplyTo::VirtualHost) => listed(&["domains"]),
                (Condition::Sni, ApplyTo::FilterChain) => listed(&["filter_chain_match", "server_names"]),
                (Condition::ListenerPort, ApplyTo::Listener) => number(&["address", "socket_address", "port_value"]),
                (Condition::ChainPort | Condition::DestinationPort, ApplyTo::FilterChain) => {
                    number(&["filter_chain_match", "destination_port"])
                }
                _ => false,
            }
        };
        let other = self.study.plan.ids().find(|other| *other != id && added(other))?;
        let patch = format!(
            "configPatches[{}] of {}",
            self.study.plan.get(other).built.patch.index,
            self.study.plan.filter(other).full_name()
        );
        Some((
            format!("{patch} adds it, and istiod never patches what patches add"),
            format!("write it into the value of {patch}"),
        ))
    }

    /// Another patch adds the requested filter, but later, or not on this proxy.
    fn added_by_another(&self, id: PatchId, asked: &str) -> Option<String> {
        let adds = |other: PatchId| {
            other != id
                && self.study.plan.get(other).built.value.as_ref().is_some_and(|value| value.name() == asked)
                && !self.study.plan.get(other).built.operation.is_merge()
        };
        let other = self.study.plan.ids().find(|&other| adds(other))?;
        let (mine, theirs) = (self.study.plan.filter(id), self.study.plan.filter(other));
        if other < id {
            return Some(format!("{} adds {asked}, but not where this patch looks", theirs.full_name()));
        }
        if mine.full_name() == theirs.full_name() {
            let index = self.study.plan.get(other).built.patch.index;
            return Some(format!("patch {index} of the same filter adds {asked}, and comes later: put it first"));
        }
        Some(format!(
            "{} adds {asked}, and is applied later: set spec.priority of {} above {}",
            theirs.full_name(),
            mine.full_name(),
            theirs.priority
        ))
    }

    /// The match has a service port, but the inbound side uses target ports.
    fn target_port(&self, context: PatchContext, asked: &str) -> Option<String> {
        if self.study.config.proxy.kind != ProxyKind::Sidecar || context == PatchContext::SidecarOutbound {
            return None;
        }
        let port: u32 = asked.parse().ok()?;
        let targets = self.targets_of(port);
        let target = targets.iter().next().filter(|&&target| target != port)?;
        Some(format!("{port} is the port of the Service; inbound patches match the container's port: write {target}"))
    }

    /// Target ports of a service port of this workload, from the given Services or else from what istiod generated.
    fn targets_of(&self, port: u32) -> BTreeSet<u32> {
        let proxy = &self.study.config.proxy;
        let mut targets = BTreeSet::new();
        for service in self.inventory.services.iter() {
            let selects = !service.selector.is_empty()
                && service.object.namespace == proxy.namespace
                && service.selector.iter().all(|(key, value)| proxy.labels.get(key) == Some(value));
            for it in service.ports.iter().filter(|it| selects && it.number == port) {
                if let TargetPort::Number(number) = it.target {
                    targets.insert(number);
                }
            }
        }
        if !targets.is_empty() {
            return targets;
        }
        // istiod names the only virtual host of an inbound HTTP chain `inbound|http|<service port>`, and its route
        // configuration `inbound|<target port>||`.
        let Some(listener) = self.study.config.of_kind(ResourceKind::Listener).find(|it| it.name == VIRTUAL_INBOUND)
        else {
            return targets;
        };
        let vhost = format!("\"inbound|http|{port}\"");
        for at in memchr::memmem::find_iter(listener.json.search().as_bytes(), vhost.as_bytes()) {
            let before = listener.json.search().get(..at).unwrap_or_default();
            let Some(start) =
                before.rfind("\"inbound|").filter(|start| !before[*start..].starts_with("\"inbound|http"))
            else {
                // The name of the route configuration may also come after its virtual hosts.
                targets.extend(cluster_port(listener.json.search().get(at + vhost.len()..).unwrap_or_default()));
                continue;
            };
            let name = before.get(start + 1..).unwrap_or_default();
            targets.extend(name.split('|').nth(1).and_then(|text| text.parse::<u32>().ok()));
        }
        targets
    }
}

/// The port of the first `inbound|<port>||` in a text.
fn cluster_port(text: &str) -> Option<u32> {
    let at = text.find("\"inbound|")?;
    text.get(at..)?.split('|').nth(1)?.parse().ok()
}

/// What a match requires at a condition, and where.
pub(super) fn asked(filter: &EnvoyFilter, index: usize, condition: Condition) -> (String, Option<Span>) {
    let mut route = filter.patch_route(index);
    route.push(Step::from("match"));
    route.extend(condition.route().iter().map(|key| Step::from(*key)));
    match filter.document.at(&route) {
        Some(node) => {
            let text = match node.to_json() {
                serde_json::Value::String(text) => text,
                serde_json::Value::Object(_) => String::new(),
                other => other.to_string(),
            };
            (text, Some(node.span))
        }
        None => (String::new(), Some(filter.document.key_span(&route))),
    }
}

pub(super) fn sentence(condition: Condition, asked: &str, apply_to: ApplyTo) -> String {
    match condition {
        Condition::ListenerName => format!("no listener is named {asked}"),
        Condition::ListenerPort => format!("no listener is on port {asked}"),
        Condition::ChainPort => format!("no inbound filter chain is for port {asked}"),
        Condition::ChainName => format!("no filter chain is named {asked}"),
        Condition::Sni => format!("no filter chain has {asked} in its server names"),
        Condition::TransportProtocol => format!("no filter chain is for transport protocol {asked}"),
        Condition::ApplicationProtocols => format!("no filter chain has all of the application protocols {asked}"),
        Condition::DestinationPort => format!("no filter chain is for destination port {asked}"),
        Condition::Filter => format!("no network filter is named {asked}"),
        Condition::HttpConnectionManager => "no HTTP connection manager exists where it looks".to_owned(),
        Condition::SubFilter => format!("no HTTP filter is named {asked}"),
        Condition::ListenerFilter => format!("no listener filter is named {asked}"),
        Condition::RouteConfigurationName => format!("no route configuration is named {asked}"),
        Condition::PortName => format!("no route configuration is for a port named {asked}"),
        Condition::Gateway => format!("no route configuration is of gateway {asked}"),
        Condition::RoutePort => format!("no route configuration is for port {asked}"),
        Condition::VirtualHostName => format!("no virtual host is named {asked}"),
        Condition::DomainName => format!("no virtual host has the domain {asked}"),
        Condition::RouteName => format!("no route is named {asked}"),
        Condition::RouteAction => format!("no route has the action {asked}"),
        Condition::ClusterName => format!("no cluster is named {asked}"),
        Condition::Subset => format!("no cluster is of subset {asked}"),
        Condition::Service => format!("no cluster is of service {asked}"),
        Condition::ClusterPort => format!("no {} of that service is for port {asked}", apply_to.name().to_lowercase()),
    }
}

fn code(condition: Condition) -> &'static str {
    match condition {
        Condition::ListenerName => "listener-name",
        Condition::ListenerPort | Condition::ChainPort => "listener-port",
        Condition::ChainName => "chain-name",
        Condition::Sni => "sni",
        Condition::TransportProtocol => "transport-protocol",
        Condition::ApplicationProtocols => "application-protocols",
        Condition::DestinationPort => "destination-port",
        Condition::Filter => "filter-name",
        Condition::HttpConnectionManager => "no-http-connection-manager",
        Condition::SubFilter => "sub-filter-name",
        Condition::ListenerFilter => "listener-filter-name",
        Condition::RouteConfigurationName => "route-configuration-name",
        Condition::PortName => "port-name",
        Condition::Gateway => "gateway",
        Condition::RoutePort => "route-port",
        Condition::VirtualHostName => "virtual-host-name",
        Condition::DomainName => "domain-name",
        Condition::RouteName => "route-name",
        Condition::RouteAction => "route-action",
        Condition::ClusterName => "cluster-name",
        Condition::Subset => "subset",
        Condition::Service => "service",
        Condition::ClusterPort => "cluster-port",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_names_are_told_by_where_they_stand() {
        assert_eq!(canonical_name("envoy.router", Condition::SubFilter), Some("envoy.filters.http.router"));
        assert_eq!(canonical_name("envoy.ext_authz", Condition::SubFilter), Some("envoy.filters.http.ext_authz"));
        assert_eq!(canonical_name("envoy.ext_authz", Condition::Filter), Some("envoy.filters.network.ext_authz"));
        assert_eq!(canonical_name("envoy.filters.http.router", Condition::SubFilter), None);
    }

    #[test]
    fn near_names_come_first() {
        let candidates = ["envoy.filters.http.cors", "envoy.filters.http.router", "istio.stats", ""];
        let candidates = candidates.into_iter().map(str::to_owned).collect();
        let near = alike::ranked("envoy.filters.http.ruoter", &candidates, NEAREST);
        assert_eq!(near[0], "envoy.filters.http.router");
        assert_eq!(near.len(), 3);
        assert!(alike::misspelled("envoy.filters.http.ruoter", &near[0]));
        assert!(!alike::misspelled("80", "8080"));
    }
}

//! Runs the engine for every proxy, then every rule over what came out.

use super::context::{Context, Knowledge, ProxyRun};
use super::finding::{Finding, Findings};
use super::rule::Rule;
use crate::engine::{MeshSettings, Options, Plan, Program, judge, matching};
use crate::model::envoy_filter::{EnvoyFilter, ObjectMatch};
use crate::model::inventory::Inventory;
use crate::model::proxy::{GATEWAY_NAME_LABEL, Proxy, ProxyKind};
use crate::model::release::Release;
use crate::model::resource::ProxyConfig;
use crate::source::{Problem, Sources};
use std::collections::BTreeSet;

/// What is linted.
pub struct Input<'a> {
    /// The texts.
    pub sources: &'a Sources,
    /// The objects in them.
    pub inventory: &'a Inventory,
    /// What the loader noticed.
    pub problems: &'a [Problem],
    /// Config dumps of real proxies.
    pub dumps: &'a [ProxyConfig<'a>],
    /// Reference configurations, used for filters that attach to no proxy of the dumps.
    pub references: &'a [ProxyConfig<'a>],
    /// The release of the control plane.
    pub release: Release,
    /// Settings of the mesh.
    pub mesh: &'a MeshSettings,
}

/// Runs rules. Findings come sorted by place; suppression and severities of a configuration are the caller's.
pub fn lint(input: &Input<'_>, rules: &[&'static Rule]) -> Vec<Finding> {
    let filters = &input.inventory.envoy_filters;
    let program = Program::new(filters, input.release);
    let options = Options::default();
    let dump_plans: Vec<Plan<'_>> = input.dumps.iter().map(|dump| program.plan(&dump.proxy, input.mesh)).collect();
    let mut runs: Vec<ProxyRun<'_>> = Vec::new();
    for (config, plan) in input.dumps.iter().zip(&dump_plans) {
        let judged = judge(plan, config, &options);
        runs.push(ProxyRun { label: config.proxy.full_name(), knowledge: Knowledge::Dump, config, plan, judged });
    }
    let unseen: Vec<bool> =
        (0..filters.len()).map(|index| !dump_plans.iter().any(|plan| plan.order.contains(&index))).collect();
    let relaxed: Vec<EnvoyFilter> = filters.iter().map(relax).collect();
    let relaxed_program = Program::new(&relaxed, input.release);
    let made_up = made_up_proxies(filters, &unseen, input.references, input.mesh);
    let plans: Vec<Plan<'_>> = made_up.iter().map(|config| relaxed_program.plan(&config.proxy, input.mesh)).collect();
    for (config, plan) in made_up.iter().zip(&plans) {
        let judged = judge(plan, config, &options);
        let label = format!("a {} of the reference configuration", config.proxy.kind.word());
        runs.push(ProxyRun { label, knowledge: Knowledge::Reference, config, plan, judged });
    }
    let context = Context {
        sources: input.sources,
        problems: input.problems,
        inventory: input.inventory,
        filters,
        program: &program,
        release: input.release,
        mesh: input.mesh,
        runs,
    };
    let mut findings = Findings::default();
    for rule in rules {
        (rule.check)(rule, &context, &mut findings);
    }
    findings.sorted()
}

/// A workload for each different set of labels that an unseen filter asks for, of each kind of reference
/// configuration, in the filter's namespace.
fn made_up_proxies<'a>(
    filters: &[EnvoyFilter],
    unseen: &[bool],
    references: &[ProxyConfig<'a>],
    mesh: &MeshSettings,
) -> Vec<ProxyConfig<'a>> {
    let mut wanted = BTreeSet::new();
    for (filter, _) in filters.iter().zip(unseen).filter(|(_, unseen)| **unseen) {
        // A filter of the root namespace meets the workloads of all others: one made-up namespace stands for them.
        let namespace =
            if filter.namespace == mesh.root_namespace { "any-namespace" } else { filter.namespace.as_str() };
        let labels = filter.selector.clone().unwrap_or_default();
        let gateways: Vec<&str> = filter
            .target_refs
            .iter()
            .filter(|target| target.kind == "Gateway" && !target.name.is_empty())
            .map(|target| target.name.as_str())
            .collect();
        if gateways.is_empty() {
            wanted.insert((namespace, labels, None));
        } else {
            wanted.extend(gateways.into_iter().map(|gateway| (namespace, labels.clone(), Some(gateway))));
        }
    }
    let mut proxies = Vec::new();
    for (namespace, labels, gateway) in wanted {
        for reference in references {
            let of_gateway_api = reference.proxy.gateway_name().is_some();
            if gateway.is_some() && !of_gateway_api {
                continue;
            }
            // Filters for Gateway API gateways see the same configuration as others; one kind of gateway is enough.
            if gateway.is_none() && of_gateway_api && reference.proxy.kind == ProxyKind::Gateway {
                continue;
            }
            let mut labels = labels.clone();
            if of_gateway_api {
                labels.insert(GATEWAY_NAME_LABEL.to_owned(), gateway.unwrap_or("any-gateway").to_owned());
            }
            let proxy = Proxy {
                namespace: namespace.to_owned(),
                labels,
                name: String::new(),
                workload: format!("any-{}", reference.proxy.kind.word()),
                ..reference.proxy.clone()
            };
            proxies.push(ProxyConfig { proxy, ..reference.clone() });
        }
    }
    proxies
}

/// A filter without the parts of its matches that speak of the user's own names and ports: what is left can be judged
/// on a configuration that istiod generated for somebody else.
fn relax(filter: &EnvoyFilter) -> EnvoyFilter {
    let mut filter = filter.clone();
    for patch in &mut filter.patches {
        // Which versions run is not known either.
        patch.proxy = None;
        match &mut patch.object {
            ObjectMatch::Listener(listener) => {
                if listener.name != matching::VIRTUAL_INBOUND && listener.name != matching::VIRTUAL_OUTBOUND {
                    listener.name.clear();
                }
                listener.port_number = 0;
                if let Some(chain) = &mut listener.filter_chain {
                    chain.name.clear();
                    chain.sni.clear();
                    chain.transport_protocol.clear();
                    chain.application_protocols.clear();
                    chain.destination_port = 0;
                }
            }
            ObjectMatch::RouteConfiguration(route) => {
                route.name.clear();
                route.port_name.clear();
                route.gateway.clear();
                route.port_number = 0;
                route.vhost = None;
            }
            ObjectMatch::Cluster(cluster) => *cluster = crate::model::envoy_filter::ClusterMatch::default(),
            ObjectMatch::None | ObjectMatch::Waypoint(_) => {}
        }
    }
    filter
}

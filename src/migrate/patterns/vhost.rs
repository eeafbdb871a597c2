//! The virtual hosts that patches of routes match.

use crate::migrate::base::step::Part;
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation, RouteConfigurationMatch};
use std::collections::BTreeSet;

/// The virtual host that a patch matches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::migrate) struct Vhost {
    /// The host in its name; `None` for all.
    pub host: Option<String>,
    /// The port in its name.
    pub port: Option<u32>,
}

/// Patches that make the same change to virtual hosts of one host.
pub(in crate::migrate) struct Group {
    /// Their indexes among the parts.
    pub members: Vec<usize>,
    /// The host.
    pub host: Option<String>,
    /// The ports that the patches name.
    pub ports: BTreeSet<u32>,
}

/// All virtual hosts.
const ALL: Vhost = Vhost { host: None, port: None };

impl Vhost {
    /// From a patch of routes; `None` if the match uses anything other than a virtual host's name, or a port that is not
    /// that of the name.
    pub(in crate::migrate) fn of(part: &Part<'_>) -> Option<Vhost> {
        let route = match &part.built.object {
            ObjectMatch::None => return Some(ALL),
            ObjectMatch::RouteConfiguration(route) => route,
            _ => return None,
        };
        if !route.port_name.is_empty() || !route.gateway.is_empty() || !route.name.is_empty() {
            return None;
        }
        let vhost = named(route)?;
        // istiod compares with the port of the server or Service, which the name has too.
        (route.port_number == 0 || vhost.port == Some(route.port_number)).then_some(vhost)
    }
}

/// The virtual host that a match names.
fn named(route: &RouteConfigurationMatch) -> Option<Vhost> {
    let Some(vhost) = &route.vhost else { return Some(ALL) };
    if !vhost.domain_name.is_empty() {
        return None;
    }
    if vhost.name.is_empty() {
        return Some(ALL);
    }
    let (host, port) = vhost.name.rsplit_once(':')?;
    Some(Vhost { host: Some(host.to_owned()), port: Some(port.parse().ok()?) })
}

/// Why the routes of a patch without a virtual host's name are those of no object.
pub(in crate::migrate) fn unnamed(part: &Part<'_>) -> String {
    let ObjectMatch::RouteConfiguration(route) = &part.built.object else {
        return "the match is for something other than routes".to_owned();
    };
    let port = route.port_number;
    if let Some(Vhost { port: Some(of_name), .. }) = named(route)
        && port != 0
        && route.gateway.is_empty()
        && route.name.is_empty()
    {
        return format!(
            "the patch matches no route: it names `portNumber: {port}`, and the routes of `{}` are those of port {}",
            route.vhost.as_ref().map_or("", |vhost| vhost.name.as_str()),
            of_name
        );
    }
    let vhost = route.vhost.as_ref();
    if let Some(name) = vhost.map(|vhost| vhost.name.as_str()).filter(|name| name.contains('.') && !name.contains(':'))
    {
        return format!(
            "the patch matches no route: istiod names virtual hosts `HOST:PORT`, and the match names `{name}` without a port"
        );
    }
    let by = if !route.gateway.is_empty() {
        format!("`gateway: {}`", route.gateway)
    } else if !route.name.is_empty() {
        format!("the route table `{}`", route.name)
    } else if port != 0 {
        format!("`portNumber: {port}`")
    } else if !route.port_name.is_empty() {
        format!("`portName: {}`", route.port_name)
    } else if let Some(vhost) = vhost.filter(|vhost| !vhost.domain_name.is_empty()) {
        format!("`domainName: {}`", vhost.domain_name)
    } else {
        format!("the virtual host `{}`", vhost.map_or("", |vhost| vhost.name.as_str()))
    };
    format!(
        "the patch selects routes by {by}; the object that replaces it belongs to a host: match one virtual host by its name (`vhost.name: HOST:PORT`) to migrate it"
    )
}

/// Why a patch that removes or replaces a route, a virtual host or a route configuration does not move.
pub(in crate::migrate) fn without_operation(part: &Part<'_>) -> String {
    let (operation, apply_to) = (part.operation(), part.apply_to());
    if operation == Operation::Replace && apply_to == ApplyTo::HttpRoute {
        return "istiod does not apply REPLACE to routes, so the patch does nothing: delete it".to_owned();
    }
    format!(
        "no native API has {operation} for {apply_to}: routes follow from VirtualServices, HTTPRoutes and Services. Change the rule that makes this one, if there is one"
    )
}

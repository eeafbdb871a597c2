//! When Envoy chooses the route of a request, seen from filters that write headers which routes match.

use super::context::{Context, PatchRun, ProxyRun};
use super::managers::{Manager, changed};
use super::seen::{config_type, filter_chains};
use super::shared_hosts;
use super::view::PatchView;
use crate::engine::PatchId;
use crate::model::resource::ResourceKind;
use crate::proto::json::{Style, write};
use crate::proto::tree::Tree;
use crate::source::Node;
use crate::source::escape::one_line;
use std::collections::{BTreeSet, HashSet};

/// The type of the JWT filter.
pub(crate) const JWT: &str = "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication";
/// The type of the external authorization filter.
pub(crate) const AUTHZ: &str = "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz";
/// Filters that may choose the route again.
const AGAIN: [&str; 6] = [".dynamic_modules.", ".ext_proc.", ".golang.", ".lua.", ".on_demand.", ".wasm."];

/// The route configurations whose routes are chosen once for each request.
pub(crate) fn once(run: &ProxyRun<'_>) -> HashSet<String> {
    let (mut once, mut again) = (HashSet::new(), HashSet::new());
    for listener in run.listeners_after().values() {
        for chain in filter_chains(listener) {
            let network = chain.get("filters").map(Tree::items).unwrap_or_default();
            for config in network.iter().filter_map(|filter| filter.get("typed_config")).map(Tree::readable) {
                let Some(name) = config.path(&["rds", "route_config_name"]).and_then(Tree::as_str) else { continue };
                let filters = config.get("http_filters").map(Tree::items).unwrap_or_default();
                let found = if filters.iter().any(chooses_again) { &mut again } else { &mut once };
                found.insert(name.to_owned());
            }
        }
    }
    once.retain(|name| !again.contains(name));
    once
}

/// Whether no connection manager with a filter of this patch chooses the route again.
pub(crate) fn never_again(run: &PatchRun<'_, '_>) -> bool {
    let mut own = changed(run.run).into_iter().filter(|manager| has_filter_of(manager, run.id)).peekable();
    own.peek().is_some() && own.all(|manager| !manager.filters.iter().any(chooses_again))
}

/// The routes without a patch that match a header, of the connection managers with a filter of this patch that choose the route
/// once; in words.
pub(crate) fn generated(run: &PatchRun<'_, '_>, header: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for manager in changed(run.run) {
        if !has_filter_of(&manager, run.id) || manager.filters.iter().any(chooses_again) {
            continue;
        }
        match &manager.routes {
            Some(name) => {
                if let Some(routes) = run.run.after(ResourceKind::Route, name) {
                    found.extend(by_header(&routes, header));
                }
            }
            None => found.extend(manager.config.get("route_config").into_iter().flat_map(|it| by_header(it, header))),
        }
    }
    found
}

/// The VirtualServices of the input, in words, whose routes match a header and that apply where the patch does.
pub(crate) fn virtual_services(cx: &Context<'_>, view: &PatchView<'_>, header: &str) -> Vec<String> {
    let services = shared_hosts::virtual_services(cx, view).into_iter();
    let matching = services.filter(|service| {
        let routes = service.object.document.under(&["spec", "http"]).map(Node::items).unwrap_or_default();
        let matches = routes.iter().filter_map(|route| route.under(&["match"])).flat_map(Node::items);
        let mut headers = matches.filter_map(|one| one.under(&["headers"])).flat_map(Node::entries);
        headers.any(|entry| entry.key.eq_ignore_ascii_case(header))
    });
    let words = matching.map(|service| {
        format!("VirtualService {}/{}", one_line(&service.object.namespace), one_line(&service.object.name))
    });
    words.collect()
}

fn has_filter_of(manager: &Manager<'_>, id: PatchId) -> bool {
    manager.filters.iter().any(|filter| PatchId::of(filter.origin) == Some(id))
}

fn by_header<'t>(routes: &'t Tree<'_>, header: &str) -> impl Iterator<Item = String> + use<'t> {
    let header = header.to_owned();
    let hosts = routes.get("virtual_hosts").map(Tree::items).unwrap_or_default();
    hosts.iter().flat_map(move |host| {
        let header = header.clone();
        let routes = host.get("routes").map(Tree::items).unwrap_or_default().iter();
        let matching = routes.filter(move |route| {
            let headers = route.path(&["match", "headers"]).map(Tree::items).unwrap_or_default();
            PatchId::of(route.origin).is_none()
                && headers.iter().any(|one| one.str_at("name").eq_ignore_ascii_case(&header))
        });
        matching.map(|route| match route.str_at("name") {
            "" => format!("a route of `{}`", one_line(host.str_at("name"))),
            name => format!("route `{}` of `{}`", one_line(name), one_line(host.str_at("name"))),
        })
    })
}

fn chooses_again(filter: &Tree<'_>) -> bool {
    let kind = config_type(filter);
    let judges = kind == JWT || kind == AUTHZ;
    kind.is_empty()
        || AGAIN.iter().any(|one| kind.contains(one))
        || judges && write(filter, Style::Compact).contains("\"clear_route_cache\":true")
}

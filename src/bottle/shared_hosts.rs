//! Virtual hosts that istiod patches twice, because two route configurations of a sidecar share them.

use crate::engine::{self, Options, Plan};
use crate::model::proxy::ProxyKind;
use crate::model::resource::{ProxyConfig, Resource, ResourceKind};
use crate::proto::json;
use crate::proto::tree::Tree;
use std::sync::Arc;

/// The route configuration of one host on a port (`tug.quay.svc.cluster.local:8090`) as istiod sends it if the proxy requested
/// that of the port before: its virtual hosts are those of `port`, already patched, and are patched again. Canonical JSON without
/// its `@type`; `None` if `name` is not such a route configuration or shares no virtual host with `port`.
///
/// Source: istiod `pilot/pkg/networking/core/httproute.go` (`vHostCache`), releases 1.22 to 1.31.
pub(super) fn patched_again(
    plan: &Plan<'_>,
    config: &ProxyConfig<'_>,
    options: &Options,
    name: &str,
    port: &str,
) -> Option<String> {
    if config.proxy.kind != ProxyKind::Sidecar {
        return None;
    }
    let at = config.resources.iter().position(|one| one.kind == ResourceKind::Route && one.name == name)?;
    let patched = json::parse(port).ok()?;
    let mut shared = json::parse(config.resources[at].json.read()).ok()?;
    let vhosts = shared.get_mut("virtual_hosts")?.items_mut()?;
    let of_port = patched.get("virtual_hosts").map(Tree::items).unwrap_or_default();
    // A patch may have renamed them, too.
    let before = config.resources.iter().find(|one| {
        one.kind == ResourceKind::Route && name.rsplit_once(':').is_some_and(|(_, number)| one.name == number)
    });
    let before = before.and_then(|one| json::parse(one.json.read()).ok());
    let before = before.as_ref().and_then(|it| it.get("virtual_hosts")).map(Tree::items).unwrap_or_default();
    let renamed = |wanted: &Tree| {
        let at = before.iter().position(|one| one.name() == wanted.name())?;
        of_port.get(at).filter(|_| before.len() == of_port.len())
    };
    let mut again = Vec::new();
    for vhost in vhosts.iter() {
        let found = of_port.iter().find(|one| one.name() == vhost.name()).or_else(|| renamed(vhost));
        let Some(found) = found else { continue };
        let mut found = found.clone();
        // Between the two patches istiod sets the domains that the host has here.
        if let Some(domains) = vhost.get("domains") {
            found.set("domains", domains.clone());
        }
        again.push(found);
    }
    *vhosts = again;
    if vhosts.is_empty() {
        return None;
    }
    let text = json::canonical(&shared);
    let mut resources: Vec<Resource<'_>> = config.resources.to_vec();
    resources[at] = Resource { json: (&text).into(), opened: None, ..resources[at].clone() };
    let config = ProxyConfig { resources: Arc::from(resources), ..config.clone() };
    let now = engine::run(plan, &config, options, &mut ());
    let mut tree = match now.resources.into_iter().find(|one| one.source == Some(at)) {
        Some(patched) => patched.tree?.into_tree(),
        None => shared,
    };
    tree.remove("@type");
    Some(json::canonical(&tree))
}

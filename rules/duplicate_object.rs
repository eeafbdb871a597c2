//! EF320: an added listener, filter chain or virtual host that collides with one that is there.

use crate::declare_rule;
use crate::engine::trace::Effect;
use crate::engine::trace::Place;
use crate::lint::context::PatchRun;
use crate::lint::{Context, Finding, Findings, Rule};
use crate::model::envoy_filter::ApplyTo;
use crate::model::resource::ResourceKind;
use crate::proto::json;
use crate::proto::tree::Tree;

declare_rule! {
    /// An added listener, filter chain or virtual host that collides with one that is there.
    ///
    /// # What it finds
    /// An added listener with the name or the address and port of another one; an added filter chain with the
    /// `filter_chain_match` of another chain; an added virtual host with the name or a domain of another one.
    ///
    /// # Why it matters
    /// Envoy refuses such a listener or route configuration as a whole.
    ///
    /// # How to fix
    /// MERGE into the generated object, or REMOVE it first (virtual hosts: REPLACE, a removal takes the added one
    /// with it).
    ///
    /// # References
    /// Envoy `ListenerManagerImpl`, `FilterChainManagerImpl`, `RouteMatcher`: duplicate addresses, matches, names
    /// and domains are errors.
    "EF320" "duplicate-object" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let collide = match view.patch.apply_to {
            ApplyTo::Listener => listener,
            ApplyTo::FilterChain => chain,
            ApplyTo::VirtualHost => vhost,
            _ => continue,
        };
        let Some(seen) = cx.seen(&view, |run| collide(run).is_some()) else { continue };
        let Some((field, what)) = seen.runs.first().and_then(collide) else { continue };
        let finding = Finding::new(rule, view.value_path_span(field), what)
            .label("taken")
            .note("Envoy refuses the whole object")
            .help("MERGE into the generated object, or choose another name, match or domain")
            .of(view.filter, Some(view.patch.index));
        out.push(seen.tell(finding));
    }
}

type Collision = Option<(&'static str, String)>;

fn added<'t>(run: &'t PatchRun<'_, '_>) -> impl Iterator<Item = &'t Place> {
    let added = |effect: &Effect| matches!(effect, Effect::Added | Effect::Inserted { .. });
    run.trace.effects.iter().filter(move |(_, effect)| added(effect)).map(|(place, _)| place)
}

fn listener(run: &PatchRun<'_, '_>) -> Collision {
    let ours = added(run).next()?;
    let names = run.run.config.generated(ResourceKind::Listener).map(|(_, resource)| resource.name.to_string());
    let mut names: Vec<String> = names.chain(run.run.changed_listeners().map(|(name, _)| name.to_owned())).collect();
    names.sort();
    names.dedup();
    let generated =
        run.run.config.generated(ResourceKind::Listener).any(|(_, resource)| resource.name == ours.resource);
    if generated {
        return Some(("name", format!("there is a listener named `{}` already", ours.resource)));
    }
    let mine = address(&run.run.after(ResourceKind::Listener, &ours.resource)?)?;
    let other = names.into_iter().filter(|name| *name != ours.resource).find(|name| {
        run.run.after(ResourceKind::Listener, name).and_then(|tree| address(&tree)).as_ref() == Some(&mine)
    })?;
    Some(("address", format!("the listener `{other}` has the address {mine} already")))
}

fn address(listener: &Tree<'_>) -> Option<String> {
    let socket = listener.path(&["address", "socket_address"])?;
    let port = socket.get("port_value")?.as_str()?.to_owned();
    Some(format!("{}:{port}", socket.str_at("address")))
}

fn chain(run: &PatchRun<'_, '_>) -> Collision {
    added(run).find_map(|place| {
        let listener = run.run.after(ResourceKind::Listener, &place.resource)?;
        let chains = listener.get("filter_chains")?.items();
        let wanted = |chain: &Tree<'_>| chain.get("filter_chain_match").map_or("{}".to_owned(), json::canonical);
        let mine = chains.iter().position(|chain| chain.origin == run.id.origin())?;
        let other =
            chains.iter().enumerate().find(|(at, chain)| *at != mine && wanted(chain) == wanted(&chains[mine]))?;
        let (at, name) = (other.0, other.1.name());
        let message = format!("filter chain {at} `{name}` of listener {} has the same match", place.resource);
        Some(("filter_chain_match", message))
    })
}

fn vhost(run: &PatchRun<'_, '_>) -> Collision {
    added(run).find_map(|place| {
        let routes = run.run.after(ResourceKind::Route, &place.resource)?;
        let vhosts = routes.get("virtual_hosts")?.items();
        let mine = vhosts.iter().find(|vhost| vhost.origin == run.id.origin())?;
        let domains = |vhost: &Tree<'_>| -> Vec<String> {
            let domains = vhost.get("domains").map(Tree::items).unwrap_or_default();
            domains.iter().filter_map(|domain| Some(domain.as_str()?.to_lowercase())).collect()
        };
        let own = domains(mine);
        vhosts.iter().filter(|other| !std::ptr::eq(*other, mine)).find_map(|other| {
            if other.name() == mine.name() {
                let message =
                    format!("route configuration {} has a virtual host `{}` already", place.resource, other.name());
                return Some(("name", message));
            }
            let domain = domains(other).into_iter().find(|domain| own.contains(domain))?;
            Some(("domains", format!("the virtual host `{}` has the domain `{domain}` already", other.name())))
        })
    })
}

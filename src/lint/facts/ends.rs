//! Lists of filters that a patch leaves without a terminal filter.

use crate::engine::matching::HTTP_CONNECTION_MANAGER;
use crate::engine::trace::{Effect, Place};
use crate::engine::{HCM_TYPE, PatchId};
use crate::lint::facts::context::{PatchRun, ProxyRun};
use crate::lint::facts::seen::{config_type, terminal};
use crate::model::envoy_filter::ApplyTo;
use crate::model::resource::ResourceKind;
use crate::proto::tree::{Tree, Value, is_typed_struct};

/// A list of filters whose last one is not terminal, or is disabled; or no HTTP filters at all.
pub(crate) struct Open {
    /// Whether they are HTTP filters (otherwise network filters).
    pub http: bool,
    /// Name of the last filter; empty without filters.
    pub last: String,
    /// Whether it is terminal, but disabled.
    pub disabled: bool,
}

/// The terminal filters that istiod generates.
pub(crate) const HTTP_END: &str = "envoy.filters.http.router";
const NETWORK_ENDS: [&str; 2] = [HTTP_CONNECTION_MANAGER, "envoy.filters.network.tcp_proxy"];

/// The list that ends without a terminal filter because this patch removed or replaced it, or brought the whole list. A list
/// without network filters is not one: Envoy closes its connections.
pub(crate) fn open_list(run: &PatchRun<'_, '_>) -> Option<Open> {
    let kind = run.planned.built.patch.apply_to;
    let value = run.planned.built.value.as_ref();
    // Only its own list can be open, and few bring one: the object is searched among all of its chain.
    let brought = value.filter(|value| is_manager(value));
    run.trace.effects.iter().filter(|(place, _)| place.kind == ResourceKind::Listener).find_map(|(place, effect)| {
        let gone = matches!(effect, Effect::Removed | Effect::Replaced);
        let new = matches!(effect, Effect::Added | Effect::Inserted { .. } | Effect::Replaced);
        match kind {
            ApplyTo::HttpFilter if gone && place.sub_filter.as_deref() == Some(HTTP_END) => {
                open(run.run, place, place.filter.as_deref())
            }
            ApplyTo::NetworkFilter => {
                let ended = gone && place.filter.as_deref().is_some_and(|name| NETWORK_ENDS.contains(&name));
                let network = if ended { open(run.run, place, None) } else { None };
                network.or_else(|| open(run.run, place, Some(brought.filter(|_| new)?.name())))
            }
            ApplyTo::Listener | ApplyTo::FilterChain if new => run.run.with_object(place, |added| {
                let own = added.get("default_filter_chain").into_iter();
                let chains = own.chain(added.get("filter_chains").map(Tree::items).unwrap_or_default());
                let alone = (kind == ApplyTo::FilterChain).then_some(added);
                chains.chain(alone).find_map(open_chain)
            }),
            _ => None,
        }
    })
}

/// A chain that a patch brings: its network filters, and the HTTP filters in each of them.
fn open_chain(chain: &Tree<'_>) -> Option<Open> {
    let filters = chain.get("filters")?.items();
    let inner = || filters.iter().find_map(judge_manager);
    judge(false, filters).or_else(inner)
}

/// The network filters at a place, or the HTTP filters in one of them, if the last one is certainly not terminal.
fn open(run: &ProxyRun<'_>, place: &Place, connection_manager: Option<&str>) -> Option<Open> {
    let chain = place.with(|names| (names.filter, names.sub_filter) = (None, None));
    run.with_object(&chain, |chain| {
        let filters = chain.get("filters")?.items();
        let Some(name) = connection_manager else { return judge(false, filters) };
        let manager = filters.iter().find(|filter| filter.name() == name && is_manager(filter))?;
        judge_manager(manager)
    })
}

fn is_manager(filter: &Tree<'_>) -> bool {
    config_type(filter) == HCM_TYPE
}

/// The HTTP filters of a connection manager.
fn judge_manager(filter: &Tree<'_>) -> Option<Open> {
    let config = filter.get("typed_config").filter(|_| is_manager(filter))?.readable();
    // The filters in a TypedStruct are read by the proxy alone.
    if config.type_name().is_some_and(|name| is_typed_struct(&name)) {
        return None;
    }
    judge(true, config.get("http_filters").map(Tree::items).unwrap_or_default())
}

fn judge(http: bool, filters: &[Tree<'_>]) -> Option<Open> {
    let passes = |filter: &Tree<'_>| {
        let name = config_type(filter);
        !terminal(http, &name) && (PatchId::of(filter.origin).is_none() || is_known_to_pass(http, &name))
    };
    let Some(last) = filters.last() else {
        return http.then(|| Open { http, last: String::new(), disabled: false });
    };
    let found = |disabled| Some(Open { http, last: last.name().to_owned(), disabled });
    if terminal(http, &config_type(last))
        && last.get("disabled").is_some_and(|it| matches!(it.value, Value::Bool(true)))
    {
        return found(true);
    }
    if filters.iter().all(passes) { found(false) } else { None }
}

/// Extensions that patches usually bring and that are not terminal (`isTerminalFilter` in Envoy's source, 1.36 to 1.39). Of others
/// it is unknown: a dynamic module decides by its configuration.
fn is_known_to_pass(http: bool, type_name: &str) -> bool {
    const HTTP: &[&str] = &[
        "adaptive_concurrency",
        "bandwidth_limit",
        "basic_auth",
        "buffer",
        "compressor",
        "cors",
        "csrf",
        "decompressor",
        "ext_authz",
        "ext_proc",
        "fault",
        "grpc_http1_bridge",
        "grpc_json_transcoder",
        "grpc_stats",
        "grpc_web",
        "header_mutation",
        "header_to_metadata",
        "health_check",
        "ip_tagging",
        "jwt_authn",
        "local_ratelimit",
        "lua",
        "oauth2",
        "ratelimit",
        "rbac",
        "set_filter_state",
        "set_metadata",
        "stateful_session",
        "tap",
        "wasm",
    ];
    const NETWORK: &[&str] = &[
        "connection_limit",
        "ext_authz",
        "local_ratelimit",
        "mongo_proxy",
        "mysql_proxy",
        "postgres_proxy",
        "ratelimit",
        "rbac",
        "set_filter_state",
        "sni_cluster",
        "wasm",
        "zookeeper_proxy",
    ];
    let (prefix, known) =
        if http { ("envoy.extensions.filters.http.", HTTP) } else { ("envoy.extensions.filters.network.", NETWORK) };
    let kind = type_name.strip_prefix(prefix).and_then(|rest| rest.split('.').next());
    kind.is_some_and(|kind| known.contains(&kind))
}

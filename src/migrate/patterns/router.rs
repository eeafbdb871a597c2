//! Settings merged into the router filter: `proxyHeaders` of the proxy.

use super::setting;
use crate::migrate::base::catalog;
use crate::migrate::base::reach::anchor;
use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::base::value::set_at;
use crate::migrate::guards::directions;
use crate::migrate::guards::whole::{Reads, whole_proxy};
use crate::model::envoy_filter::{ApplyTo, Operation};
use serde_json::json;

const ROUTER: &str = "envoy.extensions.filters.http.router.v3.Router";

/// Finds the settings in the patches that merge into the router.
pub(in crate::migrate) fn find(cx: &Cx<'_>, parts: &mut [Part<'_>]) {
    let merges = |part: &Part<'_>| {
        part.apply_to() == ApplyTo::HttpFilter
            && part.operation() == Operation::Merge
            && part.config_type() == ROUTER
            && anchor(&part.built.object) == Some("envoy.filters.http.router")
    };
    let pairs = directions::both(cx, parts, &merges);
    for part in parts.iter_mut().filter(|part| part.found.is_none() && merges(part)) {
        let found = suppressed(cx, part);
        part.answer(found);
    }
    directions::share(parts, &pairs);
}

/// Whether the router leaves out its own `x-envoy-` headers.
fn suppressed(cx: &Cx<'_>, part: &Part<'_>) -> Move {
    let mut value = part.value.clone();
    value.skip("name");
    let config = value.typed("typed_config", ROUTER);
    let Some(mut config) = config.filter(|_| value.is_empty()) else {
        return Move::none(&catalog::OTHER, "the settings of the router cannot be read");
    };
    if config.flag("suppress_envoy_headers") != Some(true) || !config.is_empty() {
        return Move::none(
            &catalog::OTHER,
            "of the router's settings, only `suppress_envoy_headers` has a native field",
        );
    }
    let mut found = Move::new(&catalog::SERVER_HEADER);
    found.add_home("proxy.istio.io/config", "proxyHeaders.envoyDebugHeaders.disabled", 0);
    let mut proxy = json!({});
    set_at(&mut proxy, "proxyHeaders/envoyDebugHeaders/disabled", true);
    whole_proxy(cx, part, &mut found, Reads::All, "the setting of `x-envoy-` headers");
    setting::write(cx, part, &mut found, proxy);
    found
}

//! EF722: settings of servers, which a Gateway or the mesh settings can set.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, moves};
use crate::migrate::catalog::{GRPC_WEB, SERVER_TLS};
use crate::migrate::step::Move;

declare_rule! {
    /// TLS versions, cipher suites or gRPC-Web patched into servers, which a Gateway or the mesh settings can set.
    ///
    /// # What it finds
    /// A MERGE into filter chains of a gateway that contains only TLS settings with a field in `servers.tls` of a Gateway, or
    /// in `meshConfig.tlsDefaults`; a `grpc_web` filter inserted on a gateway; the minimum version of mutual TLS on
    /// sidecars, which `meshConfig.meshMTLS` has, if it is for the whole mesh.
    ///
    /// # Why it matters
    /// A Gateway's fields follow its servers; a patch depends on the names of generated filter chains, and a MERGE that
    /// matches no chain is silent.
    ///
    /// # How to fix
    /// Put the settings that `kubectl envoyfilter migrate` writes into the Gateway or the mesh settings.
    ///
    /// # References
    /// Istio: Gateway ServerTLSSettings, MeshConfig `tlsDefaults` and `meshMTLS`.
    "EF722" "server-settings-beside-gateway" Native Info => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    moves::check(rule, cx, out, &[&SERVER_TLS, &GRPC_WEB], "a Gateway's server can set this", of_gateway);
    moves::check(rule, cx, out, &[&SERVER_TLS], "the mesh settings can set this", |found| !of_gateway(found));
}

fn of_gateway(found: &Move) -> bool {
    found.homes.iter().any(|home| home.kind == "Gateway")
}

//! EF169: a gRPC target written as a URL.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// A `target_uri` of a gRPC service that is written as a URL.
    ///
    /// # What it finds
    /// `google_grpc.target_uri` that begins with `http://`, `https://`, `grpc://` or `grpcs://`.
    ///
    /// # Why it matters
    /// The gRPC library knows no such schemes and resolves the whole text as a host name, which does not exist. Every call
    /// fails: an authorization filter denies every request, a log or trace is lost.
    ///
    /// # How to fix
    /// `host:port`, or `dns:///host:port`. TLS is set by `channel_credentials`. With `envoy_grpc` and a cluster, the call
    /// has the mutual TLS of the mesh.
    ///
    /// # References
    /// gRPC, "Name Resolution": schemes dns, unix, ipv4, ipv6, vsock; a target with another scheme is resolved as a DNS name.
    "EF169" "grpc-target-with-scheme" Value Error => check
}

const SCHEMES: [&str; 4] = ["http://", "https://", "grpc://", "grpcs://"];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|it| it.full_name() == "envoy.config.core.v3.GrpcService.GoogleGrpc")
        {
            let Some(target) = object.member("target_uri").map(|member| &member.entry.value) else { continue };
            let written = target.as_str().unwrap_or_default();
            let Some((scheme, rest)) = SCHEMES.iter().find_map(|it| Some((*it, written.strip_prefix(it)?))) else {
                continue;
            };
            let host = rest.split('/').next().unwrap_or(rest);
            let default = if scheme.ends_with("s://") { 443 } else { 80 };
            let port = if host.contains(':') { String::new() } else { format!(":{default}") };
            out.push(
                value
                    .finding(
                        rule,
                        target.span,
                        format!("gRPC resolves `{written}` as a host name, which does not exist"),
                    )
                    .label("a target, not a URL")
                    .note("every call fails")
                    .help(format!("target_uri: {host}{port}")),
            );
        }
    }
}

//! EF181: a path in the address of an authorization service, which Envoy does not ask for.

use crate::declare_rule;
use crate::lint::walk::get;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// An `ext_authz` filter over HTTP whose `server_uri.uri` has a path.
    ///
    /// # What it finds
    /// A path other than `/` in `http_service.server_uri.uri` that `path_prefix` does not repeat.
    ///
    /// # Why it matters
    /// Envoy asks for `path_prefix` and the path of the request, and ignores that of the URI: the service gets `/cart`, not
    /// `/verify`. A service that looks at paths answers something else.
    ///
    /// # How to fix
    /// `path_prefix: /verify`; the service gets `/verify/cart`.
    ///
    /// # References
    /// Envoy `extensions.filters.http.ext_authz.v3.HttpService.path_prefix`; the path that Envoy 1.38.2 asks for.
    "EF181" "authorization-path-ignored" Value Info => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        let services = value.objects.iter();
        for service in services.filter(|it| it.full_name() == "envoy.extensions.filters.http.ext_authz.v3.HttpService")
        {
            let node = service.member("server_uri").and_then(|member| get(&member.entry.value, "uri"));
            let Some((node, uri)) = node.and_then(|node| Some((node, node.as_str()?))) else { continue };
            let rest = uri.split_once("://").map_or(uri, |(_, rest)| rest);
            let path = rest.find('/').map_or("", |at| rest[at..].trim_end_matches('/'));
            let prefix = service.text("path_prefix").unwrap_or_default().trim_end_matches('/');
            if path.is_empty() || path == prefix {
                continue;
            }
            let asked = if prefix.is_empty() { String::new() } else { format!("`{prefix}` and ") };
            let message = format!("Envoy asks for {asked}the path of the request, not for `{path}`");
            let bare = path.split('?').next().unwrap_or(path);
            out.push(value.finding(rule, node.span, message).label("ignored").help(format!("path_prefix: {bare}")));
        }
    }
}

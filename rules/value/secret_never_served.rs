//! EF149: a secret that is requested from istiod but never served.

use crate::declare_rule;
use crate::lint::{Context, Finding, Findings, RuleInfo, walk};
use crate::source::escape::one_line;

declare_rule! {
    /// A secret fetched over ADS that istiod does not serve.
    ///
    /// # What it finds
    /// An `SdsSecretConfig` with `sds_config: {ads: {}}` whose name is not `kubernetes://…`, `kubernetes-gateway://…`,
    /// `configmap://…`, `builtin://` or `file-…`; and any such configuration for tokens and keys that are not
    /// certificates (`token_secret` and `hmac_secret` of OAuth2, the credential injector).
    ///
    /// # Why it matters
    /// istiod serves only certificates and certificate authorities under these names. The listener or cluster waits for
    /// the secret and never becomes active.
    ///
    /// # How to fix
    /// Use `kubernetes://<secret>` for certificates. Mount other secrets into the proxy and name a file that contains
    /// the Secret resource: `sds_config: {path_config_source: {path: /etc/istio/…/token.yaml}}`.
    ///
    /// # References
    /// istiod `pilot/pkg/xds/sds.go`, `pilot/pkg/model/credentials/resource.go`, releases 1.22 to 1.31.
    "EF149" "secret-never-served" Value Error => check
}

const SERVED: [&str; 5] = ["kubernetes://", "kubernetes-gateway://", "configmap://", "builtin://", "file-"];

/// Secrets of the workload, which the agent beside the proxy serves, and how to ask it.
const OF_THE_AGENT: [&str; 2] = ["default", "ROOTCA"];
const AGENT: &str = "the agent beside the proxy serves it:\nsds_config:\n  api_config_source:\n    api_type: GRPC\n    transport_api_version: V3\n    grpc_services:\n    - envoy_grpc:\n        cluster_name: sds-grpc\n  resource_api_version: V3";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        // Secrets that nothing serves have one cause: one finding for each patch.
        let mut unserved: Option<Finding> = None;
        for object in value.objects.iter().filter(|object| object.short_name() == "SdsSecretConfig") {
            let Some(source) = object.member("sds_config").map(|member| &member.entry.value) else { continue };
            if walk::get(source, "ads").is_none() {
                continue;
            }
            let Some((parent, field)) = object.parent else { continue };
            let owner = value.objects[parent].full_name();
            let name = object.text("name").unwrap_or_default();
            let certificate = owner.starts_with("envoy.extensions.transport_sockets.tls.");
            let served = SERVED.iter().any(|scheme| name.starts_with(scheme));
            if certificate && (served || name.is_empty()) {
                continue;
            }
            let span = object.member("name").map_or(object.span, |member| member.entry.value.span);
            let waits = "the proxy waits for the secret: the listener or cluster never becomes active";
            if certificate {
                let help = if OF_THE_AGENT.contains(&name) {
                    AGENT.to_owned()
                } else {
                    format!("name: kubernetes://{}", one_line(plain(name)))
                };
                out.push(
                    value
                        .finding(rule, span, format!("istiod does not serve a secret named `{name}`"))
                        .label("not a name that istiod knows")
                        .note(waits)
                        .snippet(help),
                );
                continue;
            }
            unserved = Some(match unserved {
                Some(first) => first.related(span, format!("nor does what `{}` needs", field.name())),
                None => value
                    .finding(rule, span, format!("istiod serves certificates only, not what `{}` needs", field.name()))
                    .label("never arrives over ADS")
                    .note(waits)
                    .snippet("mount the secrets into the proxy, and for each\nsds_config:\n  path_config_source:\n    path: <file with the Secret resource of Envoy>"),
            });
        }
        out.extend(unserved);
    }
}

fn plain(name: &str) -> &str {
    let name = name.rsplit('/').next().unwrap_or(name);
    if name.is_empty() { "<secret>" } else { name }
}

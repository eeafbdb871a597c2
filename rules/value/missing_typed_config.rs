//! EF112: an extension named without its configuration.

use crate::declare_rule;
use crate::engine::matching;
use crate::envoy;
use crate::lint::typed_config;
use crate::lint::value::{Member, Object, PatchValue};
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, EnvoyFilter, ObjectMatch};
use crate::rules::scope::plaintext_transport::new_socket;
use crate::source::{Severity, Span, alike};

declare_rule! {
    /// An extension named without its typed configuration.
    ///
    /// # What it finds
    /// A filter, access log, transport socket or other extension with a `name` and no `typed_config`.
    ///
    /// # Why it matters
    /// Since 1.22 Envoy finds an extension by the type of its configuration, never by its name: the proxy rejects the
    /// listener, route or cluster. In a MERGE, the patch does not change the extension.
    ///
    /// # How to fix
    /// Add `typed_config` with an `@type`; an empty message is enough if nothing needs to be set.
    ///
    /// # References
    /// Envoy 1.22 release notes (`no_extension_lookup_by_name`); measured with Envoy 1.36 and 1.40; the webhook of istiod
    /// warns.
    "EF112" "missing-typed-config" Value Error => check,
    explains: &["EF329"],
    by_release: true
}

/// Messages whose extension Envoy looks up by the type of `typed_config`.
const NEED_IT: [&str; 11] = [
    "envoy.config.accesslog.v3.AccessLog",
    "envoy.config.cluster.v3.Filter",
    "envoy.config.core.v3.HealthCheck.CustomHealthCheck",
    "envoy.config.core.v3.TransportSocket",
    "envoy.config.core.v3.TypedExtensionConfig",
    "envoy.config.listener.v3.Filter",
    "envoy.config.listener.v3.ListenerFilter",
    "envoy.config.route.v3.RetryPolicy.RetryHostPredicate",
    "envoy.config.route.v3.RetryPolicy.RetryPriority",
    "envoy.config.trace.v3.Tracing.Http",
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter",
];

/// What follows from a missing configuration.
pub(super) const NOT_FOUND: &str =
    "Envoy finds extensions only by the type of their configuration: the proxy rejects this";

/// Whether this rule reports the missing field.
pub(super) fn speaks_of(message: &str) -> bool {
    NEED_IT.contains(&message)
}

/// The configuration of an extension that is written beside the `value` of its patch: the key is unknown there.
fn beside(filter: &EnvoyFilter, patch: usize) -> Option<Span> {
    let node = filter.document.at(&["spec".into(), "configPatches".into(), patch.into(), "patch".into()])?;
    let entry = node.entries().iter().find(|entry| matches!(entry.key.as_str(), "typed_config" | "typedConfig"))?;
    Some(entry.key_span)
}

/// Whether a key is such a configuration, whose absence in `value` needs no finding of its own.
pub(crate) fn is_beside_value(cx: &Context<'_>, key: Span) -> bool {
    cx.patches().any(|view| beside(view.filter, view.patch.index) == Some(key))
}

/// Whether an unknown key of a message was meant to be the configuration that it needs.
pub(super) fn is_misspelled(object: &Object<'_>, member: &Member<'_>) -> bool {
    let Some(message) = object.message().filter(|message| NEED_IT.contains(&message.full_name())) else { return false };
    let names = message.fields().map(crate::proto::schema::Field::name);
    let near = || alike::keyword(&member.entry.key, names);
    member.field().is_none() && member.entry.key != "config" && near().is_some_and(|near| near.name == "typed_config")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| speaks_of(object.full_name())) {
            let has = |name: &str| object.member(name).is_some_and(|member| !member.entry.value.is_null());
            let untyped = object.members.iter().any(|member| member.entry.key == "config");
            if has("typed_config") || has("config_discovery") || untyped || typed_config::misplaced_type(object) {
                continue;
            }
            let removes = value
                .view
                .patch
                .body
                .as_ref()
                .is_some_and(|body| body.operation == crate::model::envoy_filter::Operation::Remove);
            if removes || object.route.is_empty() && beside(value.view.filter, value.view.patch.index).is_some() {
                continue;
            }
            let name = object.text("name").unwrap_or_default();
            // Another rule reports a key that was meant to be this one.
            if object.members.iter().any(|member| is_misspelled(object, member)) {
                continue;
            }
            // Another rule reports that nothing in it belongs here.
            let foreign = object.members.iter().any(|member| member.field().is_none());
            if name.is_empty() && foreign && !object.whole {
                continue;
            }
            // A MERGE may exist only to set the name.
            let rename = !object.whole && object.route.is_empty() && renames(&value.view.patch.object, name);
            let span = object.member("name").map_or(object.span, |member| member.entry.value.span);
            let inner = wrapped(value, object);
            let mut finding = value
                .finding(
                    rule,
                    span,
                    if name.is_empty() {
                        format!("this `{}` has neither `name` nor `typed_config`", object.short_name())
                    } else {
                        format!("`{name}` has no `typed_config`")
                    },
                )
                .label(if name.is_empty() { "no type to find the extension by" } else { "named only" });
            finding = if value.envoy_minor.is_none() {
                finding
                    .severity(Severity::Warning)
                    .note("Envoy up to 1.21 finds extensions by name, and this patch applies only to such proxies")
            } else if object.whole || inner && new_socket(cx, &value.view) {
                finding.rejected(NOT_FOUND)
            } else if rename {
                finding
                    .severity(Severity::Info)
                    .note("MERGE renames the filter and changes nothing else; istiod's webhook warns nevertheless")
            } else if inner {
                finding.severity(Severity::Warning).note(
                    "where the proxy has no such pair of sockets yet, it rejects this; elsewhere the inner one does not change",
                )
            } else {
                finding
                    .severity(Severity::Warning)
                    .ineffective_if(object.route.is_empty())
                    .note("there is no configuration to merge: the extension does not change")
            };
            let canonical = envoy::canonical_name(name).unwrap_or(name);
            // A cluster is the client, a listener the server.
            let other = match value.view.patch.apply_to {
                ApplyTo::Cluster => "DownstreamTlsContext",
                _ => "UpstreamTlsContext",
            };
            let message = envoy::extension(canonical).and_then(|extension| {
                extension.messages().find(|one| !one.contains("PerRoute") && !one.ends_with(other))
            });
            if let Some(message) = message.filter(|_| !rename) {
                finding = finding.snippet(format!("add\ntyped_config:\n  \"@type\": type.googleapis.com/{message}"));
            }
            out.push(finding);
        }
    }
}

/// Whether it is the transport socket inside of another one.
fn wrapped(value: &PatchValue<'_>, object: &Object<'_>) -> bool {
    let socket = |object: &Object<'_>| object.full_name() == "envoy.config.core.v3.TransportSocket";
    let inside = |outer: &Object<'_>| object.route.len() > outer.route.len() && object.route.starts_with(&outer.route);
    socket(object) && value.objects.iter().any(|outer| socket(outer) && inside(outer))
}

/// Whether a match names a filter with another name.
fn renames(object: &ObjectMatch, name: &str) -> bool {
    let asked = matching::sub_filter_name(object).or_else(|| matching::network_filter_name(object)).unwrap_or_default();
    !name.is_empty() && !asked.is_empty() && asked != name
}

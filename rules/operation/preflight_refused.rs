//! EF352: a filter that requires credentials of CORS preflights, which have none.

use crate::declare_rule;
use crate::lint::context::{PatchRun, ProxyRun};
use crate::lint::managers::{self, Manager};
use crate::lint::per_run::PerRun;
use crate::lint::seen::{Seen, config_type};
use crate::lint::value::{Object, PatchValue};
use crate::lint::walk::{self, get};
use crate::lint::{Context, Findings, Knowledge, RuleInfo};
use crate::model::envoy_filter::ApplyTo;
use crate::model::resource::ResourceKind;
use crate::proto::json::{Style, write};
use crate::proto::tree::{Origin, Tree};
use crate::source::{Node, NodeValue};
use std::collections::HashMap;

declare_rule! {
    /// A filter that requires credentials of every request, before the CORS filter of hosts with a CORS policy.
    ///
    /// # What it finds
    /// With config dumps: an inserted JWT filter whose first rule for `/` requires a token and that has no `bypass_cors_preflight`, or a filter
    /// for basic authentication or API keys, if it comes before `envoy.filters.http.cors` in every list whose routes have a CORS policy.
    ///
    /// # Why it matters
    /// Browsers send preflights (OPTIONS) without credentials. The filter answers 401 before the CORS filter can answer, and the
    /// browser never sends the request.
    ///
    /// # How to fix
    /// `bypass_cors_preflight: true`, or insert the filter after the CORS filter: INSERT_BEFORE `envoy.filters.http.router`.
    ///
    /// # References
    /// Envoy `JwtAuthentication.bypass_cors_preflight`; the answers of Envoy 1.38.2 in both orders.
    "EF352" "preflight-refused" Operation Warning => check,
    needs: &[Dump]
}

const JWT: &str = "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication";
const OTHERS: [&str; 2] = [
    "envoy.extensions.filters.http.api_key_auth.v3.ApiKeyAuth",
    "envoy.extensions.filters.http.basic_auth.v3.BasicAuth",
];

/// For each filter of a patch, in each list whose routes have a CORS policy: whether it is before the CORS filter.
type Before = HashMap<Origin, Vec<bool>>;

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let known: PerRun<Before> = PerRun::new();
    for value in cx.values().iter().filter(|value| value.view.patch.apply_to == ApplyTo::HttpFilter) {
        let Some((object, jwt)) = value.objects.iter().find_map(|object| Some((object, guards(object)?))) else {
            continue;
        };
        let first = |run: &PatchRun<'_, '_>| {
            let places = known.of(run.run, before).get(&run.id.origin()).cloned().unwrap_or_default();
            run.run.knowledge == Knowledge::Dump && !places.is_empty() && !places.contains(&false)
        };
        let Some(seen) = cx.seen_if(&value.view, first).filter(Seen::certain) else { continue };
        let help = if jwt { "bypass_cors_preflight: true" } else { "INSERT_BEFORE envoy.filters.http.router" };
        let finding = value
            .finding(rule, place(value, object), "CORS preflights get 401: this filter runs before the CORS filter")
            .label("preflights have no credentials")
            .snippet(format!("{help}\nor let the rule leave out requests with the method OPTIONS"));
        out.push(seen.tell(finding));
    }
}

/// The operation, which decides about the order.
fn place(value: &PatchValue<'_>, object: &Object<'_>) -> crate::source::Span {
    value.view.node(&["patch", "operation"]).map_or(object.span, |node| node.span)
}

/// Whether a filter requires credentials of every request, and whether it is one for tokens.
fn guards(object: &Object<'_>) -> Option<bool> {
    if OTHERS.contains(&object.full_name()) {
        return Some(false);
    }
    if object.full_name() != JWT || object.member("bypass_cors_preflight").is_some() {
        return None;
    }
    let rules = object.member("rules")?.entry.value.items();
    let first = rules
        .iter()
        .find(|rule| get(rule, "match").and_then(|wanted| get(wanted, "prefix")).and_then(Node::as_str) == Some("/"))?;
    let headers = get(first, "match").is_some_and(|wanted| wanted.entries().len() > 1);
    let required = get(first, "requires")?;
    let mut open = false;
    walk::fields(required, &mut |field| open |= field.is("allow_missing") || field.is("allow_missing_or_failed"));
    rules.iter().for_each(|rule| open |= mentions_options(rule));
    (!headers && !open).then_some(true)
}

fn mentions_options(node: &Node) -> bool {
    match &node.value {
        NodeValue::String(text) => text.contains("OPTIONS") || text.contains(":method"),
        _ => {
            node.items().iter().any(mentions_options)
                || node.entries().iter().any(|entry| mentions_options(&entry.value))
        }
    }
}

fn before(run: &ProxyRun<'_>) -> Before {
    let mut found = Before::new();
    for manager in managers::changed(run) {
        let cors = manager.filters.iter().position(|filter| config_type(filter).ends_with(".cors.v3.Cors"));
        let Some(cors) = cors.filter(|_| has_policy(run, &manager)) else { continue };
        for (at, filter) in manager.filters.iter().enumerate() {
            found.entry(filter.origin).or_default().push(at < cors);
        }
    }
    found
}

/// Whether the routes of a connection manager have a CORS policy, and no settings for the filters that guard them.
fn has_policy(run: &ProxyRun<'_>, manager: &Manager<'_>) -> bool {
    let text = match &manager.routes {
        Some(name) => run.after(ResourceKind::Route, name).map(|routes| write(&routes, Style::Compact)),
        None => manager.config.get("route_config").map(|routes: &Tree<'_>| write(routes, Style::Compact)),
    };
    let settings = ["jwt_authn", "basic_auth", "api_key_auth", "FilterConfig"];
    text.is_some_and(|text| text.contains(".CorsPolicy\"") && !settings.iter().any(|one| text.contains(one)))
}

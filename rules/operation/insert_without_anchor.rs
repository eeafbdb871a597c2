//! EF308: INSERT_BEFORE or INSERT_AFTER without an anchor.

use crate::declare_rule;
use crate::engine::matching::has_route;
use crate::engine::program::Status;
use crate::engine::program::names_filter;
use crate::lint::Edit;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::source::Severity;

declare_rule! {
    /// INSERT_BEFORE or INSERT_AFTER without an anchor.
    ///
    /// # What it finds
    /// INSERT_BEFORE or INSERT_AFTER of HTTP_FILTER without `subFilter`, NETWORK_FILTER without `filter`,
    /// LISTENER_FILTER without `listenerFilter`, HTTP_ROUTE without `route`.
    ///
    /// # Why it matters
    /// istiod then puts the value first (INSERT_BEFORE) or last (INSERT_AFTER) in the list. In a list of HTTP filters,
    /// the last place is after the router, where Envoy rejects it.
    ///
    /// # How to fix
    /// Name the anchor in the match, or write INSERT_FIRST or ADD, which state what happens.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter`, releases 1.22 to 1.31; recorded.
    "EF308" "insert-without-anchor" Operation Warning => check,
    fixes: true, policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(built) = view.built.filter(|built| built.status == Status::Ready) else { continue };
        let (apply_to, operation) = (view.patch.apply_to, built.operation);
        let (place, same) = match operation {
            Operation::InsertBefore => ("first", "INSERT_FIRST"),
            Operation::InsertAfter => ("last", "ADD"),
            _ => continue,
        };
        let anchor = match apply_to {
            ApplyTo::HttpFilter => "filterChain.filter.subFilter",
            ApplyTo::NetworkFilter => "filterChain.filter",
            ApplyTo::ListenerFilter => "listenerFilter",
            ApplyTo::HttpRoute => "vhost.route",
            _ => continue,
        };
        let named = if apply_to == ApplyTo::HttpRoute {
            has_route(&built.object)
        } else {
            names_filter(apply_to, &built.object)
        };
        if named {
            continue;
        }
        // After the router, where ADD also puts it, it is never useful.
        let refused = apply_to == ApplyTo::HttpFilter && operation == Operation::InsertAfter;
        let route = ["patch", "operation"];
        let mut finding = view
            .finding(
                rule,
                view.value_span(&route),
                format!("{operation} without `{anchor}` puts the value {place} in the list"),
            )
            .label(format!("equivalent to {same}"))
            .help(if refused {
                format!("name the anchor in `{anchor}`")
            } else {
                format!("name the anchor in `{anchor}`, or write {same} if that is intended")
            });
        if operation == Operation::InsertBefore {
            finding = finding.severity(Severity::Info);
        }
        if refused {
            finding = finding.rejected("after the router, where Envoy rejects it");
        }
        if let Some(node) = view.node(&route).filter(|_| !refused)
            && cx.sources.snippet(node.span) == operation.name()
        {
            let edit = Edit { span: node.span, text: same.to_owned() };
            finding = finding.fix(format!("write {same}"), true, vec![edit]);
        }
        out.push(finding);
    }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![Cel::patch(
        Severity::Warning,
        r#"@judged && @op == "INSERT_AFTER" && ((@filters && !@named) || (@to == "HTTP_ROUTE" && !(@route && has(p.match.routeConfiguration.vhost) && has(p.match.routeConfiguration.vhost.route))))"#,
        "INSERT_AFTER without an anchor is equivalent to ADD",
    )
    .without("INSERT_BEFORE, which is an info for lint, and a policy can only deny or warn")]
}

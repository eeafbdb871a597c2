//! EF301: an operation that istiod accepts and ignores for this applyTo.

use crate::declare_rule;
use crate::engine::program::Status;
use crate::engine::trace::NoOp;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Findings, RuleInfo, foreign};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::source::Severity;

declare_rule! {
    /// An operation that istiod accepts and ignores for this `applyTo`.
    ///
    /// # What it finds
    /// A patch whose `operation` istiod does not implement for its `applyTo`: REPLACE on LISTENER, FILTER_CHAIN,
    /// CLUSTER, ROUTE_CONFIGURATION or HTTP_ROUTE, ADD and REMOVE on ROUTE_CONFIGURATION, anything but ADD on
    /// EXTENSION_CONFIG.
    ///
    /// # Why it matters
    /// The API server and istiod accept the EnvoyFilter, nothing is logged, and nothing changes.
    ///
    /// # How to fix
    /// Use an operation that exists for the object: REMOVE and ADD, or MERGE.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter`, releases 1.22 to 1.31; recorded.
    "EF301" "operation-without-effect" Operation Error => check,
    explains: &["EF119"], policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(built) = view.built else { continue };
        if built.status != Status::NoOp(NoOp::OperationIgnored) {
            continue;
        }
        let Some(body) = &view.patch.body else { continue };
        if body.operation == Operation::Invalid {
            continue;
        }
        let (operation, apply_to) = (body.operation, view.patch.apply_to);
        let works = match apply_to {
            ApplyTo::RouteConfiguration => "istiod supports only MERGE for route configurations",
            ApplyTo::ExtensionConfig => "istiod supports only ADD for extension configurations",
            ApplyTo::HttpRoute => "write a REMOVE and an ADD or INSERT_* patch: both work for HTTP_ROUTE",
            _ => "write a REMOVE patch and an ADD patch, or MERGE what changes",
        };
        let finding = view
            .finding(
                rule,
                view.value_span(&["patch", "operation"]),
                format!("{operation} has no effect for {apply_to}"),
            )
            .label("istiod accepts this and ignores it")
            .note("the EnvoyFilter is accepted and nothing is logged, but the patch changes no proxy")
            .ineffective();
        // Another kind of object needs another `applyTo`, which has the operation.
        let foreign = cx.value_of(&view).and_then(|value| foreign::of(value.objects.first()?));
        out.push(match foreign {
            Some(foreign) => finding.note(foreign.what(apply_to)).snippet(foreign.instead()),
            None => finding.help(works),
        });
    }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![Cel::patch(
        Severity::Error,
        r#"@judged && ((@to in ["LISTENER", "FILTER_CHAIN", "CLUSTER"] && !(@op in ["ADD", "REMOVE", "MERGE", "MERGE_AND_REPLACE_LIST"])) || (@to == "ROUTE_CONFIGURATION" && !(@op in ["MERGE", "MERGE_AND_REPLACE_LIST"])) || (@to == "HTTP_ROUTE" && @op == "REPLACE") || (@to == "EXTENSION_CONFIG" && @op != "ADD"))"#,
        "istiod ignores this operation for this applyTo",
    )]
}

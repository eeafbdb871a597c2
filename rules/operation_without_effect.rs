//! EF301: an operation that istiod accepts and ignores for this applyTo.

use crate::declare_rule;
use crate::engine::program::Status;
use crate::engine::trace::NoOp;
use crate::lint::{Context, Finding, Findings, Rule};
use crate::model::envoy_filter::{ApplyTo, Operation};

declare_rule! {
    /// An operation that istiod accepts and does nothing with for this `applyTo`.
    ///
    /// # What it finds
    /// A patch whose `operation` no code of istiod acts on for its `applyTo`: REPLACE on LISTENER, FILTER_CHAIN, CLUSTER,
    /// ROUTE_CONFIGURATION or HTTP_ROUTE, ADD and REMOVE on ROUTE_CONFIGURATION, anything but ADD on EXTENSION_CONFIG.
    ///
    /// # Why it matters
    /// The API server and istiod accept the filter, nothing is logged, and nothing changes.
    ///
    /// # How to fix
    /// Use an operation that exists for the object: REMOVE and ADD, or MERGE.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter`, releases 1.22 to 1.31; recorded.
    "EF301" "operation-without-effect" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
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
            ApplyTo::RouteConfiguration => "MERGE is all that istiod does with a route configuration",
            ApplyTo::ExtensionConfig => "ADD is all that istiod does with an extension configuration",
            ApplyTo::HttpRoute => "write a REMOVE and an ADD or INSERT_* patch: both work for HTTP_ROUTE",
            _ => "write a REMOVE patch and an ADD patch, or MERGE what changes",
        };
        out.push(
            Finding::new(
                rule,
                view.value_span(&["patch", "operation"]),
                format!("{operation} does nothing for {apply_to}"),
            )
            .label("istiod accepts this and ignores it")
            .note("the filter is accepted and nothing is logged: the patch changes no proxy")
            .help(works)
            .ineffective()
            .of(view.filter, Some(view.patch.index)),
        );
    }
}

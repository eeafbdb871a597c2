//! EF361: a patch takes the HTTP filter away that acts on what a VirtualService says.

use crate::declare_rule;
use crate::engine::trace::Effect;
use crate::engine::{ROUTE_FILTERS, matching};
use crate::lint::context::PatchRun;
use crate::lint::per_run::PerRun;
use crate::lint::seen::config_type;
use crate::lint::{Context, Findings, RuleInfo, contents};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::source::Severity;

declare_rule! {
    /// A patch that removes or replaces the filter for the CORS policies or faults of VirtualServices.
    ///
    /// # What it finds
    /// An HTTP_FILTER REMOVE or REPLACE after which a list has no `envoy.filters.http.cors` or `envoy.filters.http.fault` of
    /// its type anymore. A REMOVE is an info if no route of the given proxies has settings for the filter.
    ///
    /// # Why it matters
    /// istiod writes `corsPolicy` and `fault` of a VirtualService to its routes, and the filter acts on them. Without it they stay
    /// visible (`kubectl get`, `istioctl proxy-config routes`), and nothing reads them: preflight requests reach the
    /// application, and browsers block the answers.
    ///
    /// # How to fix
    /// Keep the filter, and insert another one beside it with INSERT_BEFORE and a name of its own.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/route/route.go` and `pilot/pkg/xds/filters/filters.go`, releases 1.22 to 1.31; recorded.
    "EF361" "route-filter-removed" Operation Warning => check,
    explains: &["EF124"]
}

/// What VirtualServices call the settings of [`ROUTE_FILTERS`], and what each is for.
const SETTINGS: [(&str, &str); 2] = [("corsPolicy", "CORS policies"), ("fault", "faults")];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let settings = PerRun::new();
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::HttpFilter) {
        let Some(built) = view.built else { continue };
        let named = matching::sub_filter_name(&built.object);
        let mut filters = ROUTE_FILTERS.iter().zip(SETTINGS);
        let Some(((name, kind), (field, what))) = filters.find(|((name, _), _)| named == Some(*name)) else { continue };
        let verb = match built.operation {
            Operation::Remove => "removes",
            Operation::Replace => "replaces",
            _ => continue,
        };
        let gone = |run: &PatchRun<'_, '_>| {
            run.trace.effects.iter().any(|(place, effect)| {
                let taken = matches!(effect, Effect::Removed | Effect::Replaced);
                let still = |run: &PatchRun<'_, '_>| {
                    run.run.with_object(place, |filter| (config_type(filter) == *kind).then_some(())).is_some()
                };
                taken && place.sub_filter.as_deref() == Some(*name) && !still(run)
            })
        };
        let Some(seen) = cx.seen_if(&view, gone) else { continue };
        let used = |run: &PatchRun<'_, '_>| settings.of(run.run, contents::route_settings).contains(*name);
        let is_used = seen.runs.iter().any(used);
        let unused = seen.certain() && !is_used;
        let finding = view
            .finding(
                rule,
                view.value_span(&["patch", "operation"]),
                format!("{what} of VirtualServices no longer act where this patch {verb} `{name}`"),
            )
            .label(format!("{verb} the filter for `{field}`"))
            .note(if unused {
                format!(
                    "no route of the given proxies has such settings now; a `{field}` that is added later has no effect"
                )
            } else {
                format!("istiod writes `{field}` to the routes, and only this filter reads it there")
            })
            .help("keep the filter: insert another one with INSERT_BEFORE and a name of its own");
        let finding = if built.operation == Operation::Remove {
            finding.help(format!("delete the patch, unless no VirtualService may use `{field}`"))
        } else {
            finding
        };
        let is_info = unused && built.operation == Operation::Remove;
        let severity = if is_info { Severity::Info } else { Severity::Warning };
        out.push(seen.tell(finding.severity(severity)));
    }
}

//! EF404: two filters whose order matters but is decided only by creation time or name.

use crate::declare_rule;
use crate::lint::Confidence;
use crate::lint::order::reason;
use crate::lint::{Context, Finding, Findings, RuleInfo};
use std::collections::BTreeMap;

declare_rule! {
    /// Two EnvoyFilters whose order matters but is decided only by creation time or name.
    ///
    /// # What it finds
    /// Two adjacent filters of equal priority on one proxy whose swapped order gives a different result. Computed by
    /// running the engine with the two swapped. If the two write different values to one field, or insert one
    /// extension twice, the finding about that tells the order, too.
    ///
    /// # Why it matters
    /// Re-creating a filter, a restore, or another cluster reverses the order: filters swap places, or another value
    /// wins.
    ///
    /// # How to fix
    /// Give them different priorities.
    ///
    /// # References
    /// istiod `push_context.go`: priority, root namespace first, creation time, `name.namespace`; istio/istio issue
    /// 38214.
    "EF404" "order-by-creation-time" Conflict Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    // Ordered by the later filter.
    let found: BTreeMap<(usize, usize), Vec<String>> =
        cx.where_order_matters().into_iter().map(|((first, second), proxies)| ((second, first), proxies)).collect();
    for ((second, first), proxies) in found {
        let certain = !proxies.is_empty();
        let (Some(filter), Some(other)) = (cx.filters.get(second), cx.filters.get(first)) else { continue };
        let name = |filter: &crate::model::envoy_filter::EnvoyFilter| filter.name_key_span();
        let finding = Finding::new(
            rule,
            name(filter),
            format!("the result depends on whether it comes before or after {}", other.full_name()),
        )
        .label("comes later")
        .related(name(other), "comes first")
        .note(format!("no priority decides the order: {}", reason(cx, first, second)))
        .snippet("spec:\n  priority: 10 # the higher one comes later")
        .confidence(if certain { Confidence::Certain } else { Confidence::Likely })
        .beside(other)
        .of(filter, None);
        out.push(if certain { finding.workloads(proxies) } else { finding });
    }
}

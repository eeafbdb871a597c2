//! Slow start of endpoints: `warmup` of a DestinationRule.

use super::target::{client_namespace, target};
use crate::migrate::base::catalog::{self, Pattern};
use crate::migrate::base::step::{Cx, Move, Part, has};
use crate::migrate::base::value::{Fields, set_at};
use crate::migrate::base::verdict::Kind;
use serde_json::{Value as Json, json};

const LEAST: &str = "least_request_lb_config";

/// Reads the slow start of a cluster (`setWarmup` in istiod's `cluster_traffic_policy.go`).
pub(in crate::migrate) fn slow_start(
    cx: &Cx<'_>,
    part: &Part<'_>,
    value: &mut Fields,
    native: &mut Json,
    found: &mut Move,
) -> Result<(), (&'static Pattern, String)> {
    let refused = |why: &str| (&catalog::CLUSTER_POLICY, why.to_owned());
    if value.peek("round_robin_lb_config/slow_start_config").is_some() {
        return Err(refused(
            "Envoy reads `round_robin_lb_config` only in clusters that balance with ROUND_ROBIN, which istiod's do if a DestinationRule says so: set `loadBalancer.warmup` there",
        ));
    }
    let Some(mut start) = value.sub(&format!("{LEAST}/slow_start_config")) else { return Ok(()) };
    if !has(cx, 24) {
        return Err(refused("`loadBalancer.warmup` is new in Istio 1.24"));
    }
    let balancer = native.pointer("/loadBalancer/simple").and_then(Json::as_str);
    if let Some(rule) = other_balancer(cx, part).filter(|_| balancer.is_none()) {
        return Err(refused(&format!(
            "DestinationRule {rule} balances in another way, for which Envoy does not read `{LEAST}`: the filter does nothing"
        )));
    }
    let window = start.text("slow_start_window").ok_or_else(|| refused("the slow start has no window"))?;
    let mut warmup = json!({ "duration": window });
    if let Some(aggression) = start.take("aggression/default_value") {
        if aggression.as_f64().is_none_or(|number| number < 1.0) {
            return Err(refused("the aggression of a slow start is at least 1 in a DestinationRule"));
        }
        warmup["aggression"] = aggression;
        start.skip("aggression/runtime_key");
        found.difference(Kind::Metadata, "istiod writes another runtime key of the slow start, which nothing sets");
    } else {
        found.difference(Kind::Metadata, "defaults of the slow start are written out");
    }
    match start.take("min_weight_percent/value") {
        Some(percent) => warmup["minimumPercent"] = percent,
        None => found.difference(Kind::Metadata, "defaults of the slow start are written out"),
    }
    if !start.is_empty() {
        return Err(refused("the slow start has settings without a native field"));
    }
    found.add_home("DestinationRule", "trafficPolicy.loadBalancer.warmup", 24);
    set_at(native, "loadBalancer/simple", "LEAST_REQUEST");
    set_at(native, "loadBalancer/warmup", warmup);
    Ok(())
}

/// A rule for the same clusters that chooses another balancer.
fn other_balancer(cx: &Cx<'_>, part: &Part<'_>) -> Option<String> {
    let (host, namespace) = (target(part)?.host, client_namespace(cx).ok()?);
    let rules = cx.mesh.destination_rules(&host, namespace);
    let rule = rules.into_iter().find(|rule| {
        let document = rule.object.document.to_json();
        let other = |balancer: &Json| {
            balancer.get("consistentHash").is_some()
                || balancer["simple"].as_str().is_some_and(|word| !matches!(word, "LEAST_REQUEST" | "UNSPECIFIED"))
        };
        crate::migrate::base::value::has_entry(&document, &|key, value| key == "loadBalancer" && other(value))
    })?;
    Some(format!("{}/{}", rule.object.namespace, rule.object.name))
}

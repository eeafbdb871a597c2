//! Switches of Envoy's filters: fractions and flags that a runtime key can override.

use crate::lint::value::walk::get;
use crate::source::{Node, NodeValue};

/// Whether a `RuntimeFractionalPercent` is 0 and no runtime key can raise it.
pub(crate) fn never(fraction: &Node) -> bool {
    get(fraction, "default_value").is_some_and(none) && fixed(fraction)
}

/// Whether a `RuntimeFeatureFlag` is off and no runtime key can turn it on.
pub(crate) fn off(flag: &Node) -> bool {
    let default = get(flag, "default_value").map(|node| &node.value);
    matches!(default, Some(NodeValue::Bool(false))) && fixed(flag)
}

/// Whether a `FractionalPercent` is 0.
pub(crate) fn none(percent: &Node) -> bool {
    match get(percent, "numerator").map(|node| &node.value) {
        None => percent.entries().iter().all(|entry| entry.key == "denominator"),
        Some(NodeValue::Number(text)) => text.parse() == Ok(0),
        Some(_) => false,
    }
}

fn fixed(switch: &Node) -> bool {
    get(switch, "runtime_key").and_then(Node::as_str).is_none_or(str::is_empty)
}

//! Envoy's constraints on a field, in words.

use crate::proto::rules::{Enumeration, List, Map, Number, Rules, Text};

/// The rules of a field in words; empty when there are none.
pub(crate) fn constraints(rules: &Rules) -> Vec<String> {
    let mut words = Vec::new();
    if rules.required {
        words.push("must be set".to_owned());
    }
    rules.number.iter().for_each(|one| number(one, 1.0, "", &mut words));
    rules.duration.iter().for_each(|one| number(one, 1e9, "s", &mut words));
    rules.text.iter().for_each(|one| text(one, &mut words));
    rules.enumeration.iter().for_each(|one| enumeration(one, &mut words));
    rules.list.iter().for_each(|one| list(one, &mut words));
    rules.map.iter().for_each(|one| map(one, &mut words));
    if !rules.any_in.is_empty() {
        words.push(format!("type is one of {}", rules.any_in.join(", ")));
    }
    words
}

fn number(rules: &Number, unit: f64, suffix: &str, words: &mut Vec<String>) {
    let show = |value: f64| format!("{}{suffix}", value / unit);
    let all = |values: &[f64]| values.iter().map(|one| show(*one)).collect::<Vec<_>>().join(", ");
    words.extend(rules.constant.map(|one| format!("is {}", show(one))));
    words.extend(rules.gt.map(|one| format!("more than {}", show(one))));
    words.extend(rules.gte.map(|one| format!("at least {}", show(one))));
    words.extend(rules.lt.map(|one| format!("less than {}", show(one))));
    words.extend(rules.lte.map(|one| format!("at most {}", show(one))));
    if !rules.within.is_empty() {
        words.push(format!("one of {}", all(&rules.within)));
    }
    if !rules.without.is_empty() {
        words.push(format!("none of {}", all(&rules.without)));
    }
    if rules.ignore_empty {
        words.push("0 is always allowed".to_owned());
    }
}

fn text(rules: &Text, words: &mut Vec<String>) {
    let length = |least: u64, most: Option<u64>, unit: &str| match (least, most) {
        (0, None) => None,
        (1, None) => Some("not empty".to_owned()),
        (least, None) => Some(format!("at least {least} {unit}")),
        (0, Some(most)) => Some(format!("at most {most} {unit}")),
        (least, Some(most)) if least == most => Some(format!("exactly {least} {unit}")),
        (least, Some(most)) => Some(format!("{least} to {most} {unit}")),
    };
    words.extend(rules.constant.as_ref().map(|one| format!("is `{one}`")));
    words.extend(length(rules.min_len, rules.max_len, "characters"));
    words.extend(length(rules.min_bytes, rules.max_bytes, "bytes"));
    words.extend(rules.pattern.as_ref().map(|one| format!("matches `{one}`")));
    words.extend(rules.prefix.as_ref().map(|one| format!("begins with `{one}`")));
    words.extend(rules.suffix.as_ref().map(|one| format!("ends with `{one}`")));
    words.extend(rules.contains.as_ref().map(|one| format!("contains `{one}`")));
    words.extend(rules.not_contains.as_ref().map(|one| format!("does not contain `{one}`")));
    if !rules.within.is_empty() {
        words.push(format!("one of {}", rules.within.join(", ")));
    }
    if !rules.without.is_empty() {
        words.push(format!("none of {}", rules.without.join(", ")));
    }
    if rules.header_name {
        words.push("the name of a header".to_owned());
    }
    if rules.header_value {
        words.push("the value of a header".to_owned());
    }
    if rules.ignore_empty {
        words.push("empty is always allowed".to_owned());
    }
}

fn enumeration(rules: &Enumeration, words: &mut Vec<String>) {
    let all = |values: &[i64]| values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    words.extend(rules.constant.map(|one| format!("is number {one}")));
    if rules.defined_only {
        words.push("one of the values declared".to_owned());
    }
    if !rules.within.is_empty() {
        words.push(format!("one of the numbers {}", all(&rules.within)));
    }
    if !rules.without.is_empty() {
        words.push(format!("none of the numbers {}", all(&rules.without)));
    }
}

fn list(rules: &List, words: &mut Vec<String>) {
    size(rules.min, rules.max, "items", words);
    if rules.unique {
        words.push("no item twice".to_owned());
    }
    words.extend(rules.items.iter().flat_map(|one| constraints(one)).map(|one| format!("each item: {one}")));
}

fn map(rules: &Map, words: &mut Vec<String>) {
    size(rules.min, rules.max, "entries", words);
    words.extend(rules.keys.iter().flat_map(|one| constraints(one)).map(|one| format!("each key: {one}")));
    words.extend(rules.values.iter().flat_map(|one| constraints(one)).map(|one| format!("each value: {one}")));
}

fn size(least: u64, most: Option<u64>, unit: &str, words: &mut Vec<String>) {
    if least > 0 {
        words.push(format!("at least {least} {unit}"));
    }
    words.extend(most.map(|most| format!("at most {most} {unit}")));
}

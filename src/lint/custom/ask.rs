//! The input of a custom rule, and the conversion of its answers to findings.

use super::limit::Clock;
use super::{Custom, Each, Part, Template};
use crate::engine::trace::Effect;
use crate::lint::check::CustomCheck;
use crate::lint::facts::context::{Context, PatchRun};
use crate::lint::facts::view::Knowledge;
use crate::lint::finding::{Finding, Findings};
use crate::lint::rule::RuleInfo;
use crate::model::envoy_filter::EnvoyFilter;
use crate::source::escape::one_line;
use crate::source::{Node, Severity, Span, Step};
use cel::Value;
use cel::objects::Key;
use serde_json::{Value as Json, json};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

impl CustomCheck for Custom {
    fn check(&self, rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
        let istio = value(&json!({"major": cx.release.major, "minor": cx.release.minor}));
        let clock = Clock::start();
        for (index, filter) in cx.filters.iter().enumerate() {
            let view = filter_view(cx, index, filter);
            let filter_value = value(&view);
            let mut variables = cel::Context::default();
            clock.add_to(&mut variables);
            variables.add_variable_from_value("istio", istio.clone());
            variables.add_variable_from_value("filter", filter_value);
            match self.each {
                Each::Filter => {
                    let name = ["metadata".to_owned(), "name".to_owned()];
                    let keys = if self.at.is_empty() { name.as_slice() } else { &self.at };
                    let route: Vec<Step> = keys.iter().map(|key| Step::from(key.as_str())).collect();
                    let span = filter.document.key_span(&route);
                    let found = ask(rule, self, &variables, span);
                    if clock.is_over() {
                        return out.push(failed(rule, span, &Clock::error()).of(filter, None));
                    }
                    out.extend(found.map(|one| one.of(filter, None)));
                }
                Each::Patch => {
                    for (patch, view) in view["patches"].as_array().into_iter().flatten().enumerate() {
                        let mut variables = variables.new_inner_scope();
                        variables.add_variable_from_value("patch", value(view));
                        let mut route = filter.patch_route(patch);
                        route.extend(self.at.iter().map(|key| Step::from(key.as_str())));
                        let span = filter.document.key_span(&route);
                        let found = ask(rule, self, &variables, span);
                        if clock.is_over() {
                            return out.push(failed(rule, span, &Clock::error()).of(filter, Some(patch)));
                        }
                        let found = found.map(|one| one.of(filter, Some(patch)));
                        out.extend(found.map(|one| one.workloads(strings(&view["workloads"]))));
                    }
                }
            }
        }
    }
}

fn strings(list: &Json) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect()
}

/// The finding about an expression that fails: a rule that silently finds nothing is worse than none.
fn failed(rule: &'static RuleInfo, span: Span, error: &dyn fmt::Display) -> Finding {
    let finding = Finding::new(rule, span, format!("{} cannot be evaluated here: {error}", rule.code));
    Finding { severity: Severity::Error, ..finding }
}

/// Evaluates the rule.
fn ask(rule: &'static RuleInfo, custom: &Custom, variables: &cel::Context<'_, '_>, span: Span) -> Option<Finding> {
    let failed = |error: &dyn fmt::Display| {
        Some(failed(rule, span, error).help("guard the field with has(…) in the rule's `when`"))
    };
    match custom.when.execute(variables) {
        Ok(Value::Bool(false)) => return None,
        Ok(Value::Bool(true)) => {}
        Ok(other) => return failed(&format!("`when` evaluates to {}, not to true or false", text(&other))),
        Err(error) => return failed(&error),
    }
    let fill = |template: Option<&Template>| -> Result<String, cel::ExecutionError> {
        let mut filled = String::new();
        for part in template.map(|template| template.0.as_slice()).unwrap_or_default() {
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Program(program) => filled.push_str(&one_line(&text(&program.execute(variables)?))),
            }
        }
        Ok(filled)
    };
    match (fill(Some(&custom.message)), fill(custom.note.as_ref()), fill(custom.help.as_ref())) {
        (Ok(message), Ok(note), Ok(help)) => {
            let mut finding = Finding::new(rule, span, message);
            finding.notes.extend(note.lines().filter(|line| !line.is_empty()).map(str::to_owned));
            Some(if help.is_empty() { finding } else { finding.snippet(help) })
        }
        (Err(error), _, _) | (_, Err(error), _) | (_, _, Err(error)) => failed(&error),
    }
}

/// A value as shown in a message.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Null => "null".to_owned(),
        Value::List(items) => items.iter().map(text).collect::<Vec<_>>().join(", "),
        other => other.json().map_or_else(|_| "a value".to_owned(), |json| json.to_string()),
    }
}

/// Whole numbers become `int`, as CEL writes them.
fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => Value::Int(whole),
            (None, Some(whole)) => Value::UInt(whole),
            (None, None) => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::String(Arc::new(text.clone())),
        Json::Array(items) => Value::List(Arc::new(items.iter().map(value).collect())),
        Json::Object(map) => {
            let entries = map.iter().map(|(key, item)| (Key::from(key.as_str()), value(item)));
            Value::from(entries.collect::<HashMap<Key, Value>>())
        }
    }
}

/// The variable `filter`.
fn filter_view(cx: &Context<'_>, index: usize, filter: &EnvoyFilter) -> Json {
    let patches: Vec<Json> = (0..filter.patches.len()).map(|patch| patch_view(cx, index, filter, patch)).collect();
    let labels = filter.selector.clone().unwrap_or_default();
    let targets: Vec<Json> = filter
        .target_refs
        .iter()
        .map(|target| json!({"kind": target.kind, "group": target.group, "name": target.name}))
        .collect();
    json!({
        "name": filter.name,
        "namespace": filter.namespace,
        "labels": filter.labels,
        "annotations": filter.annotations,
        "priority": filter.priority,
        "selector": labels,
        "targetRefs": targets,
        "inRootNamespace": filter.namespace == cx.mesh.root_namespace,
        "object": filter.document.to_json(),
        "patches": patches,
    })
}

/// The variable `patch`.
fn patch_view(cx: &Context<'_>, index: usize, filter: &EnvoyFilter, patch: usize) -> Json {
    let one = &filter.patches[patch];
    let node = |key: &[&str]| {
        let mut route = filter.patch_route(patch);
        route.extend(key.iter().map(|&key| Step::from(key)));
        filter.document.at(&route).map_or_else(|| json!({}), Node::to_json)
    };
    let runs: Vec<PatchRun<'_, '_>> = cx.on_proxies(index, patch).collect();
    let workloads: BTreeSet<&str> =
        runs.iter().filter(|run| run.run.knowledge == Knowledge::Dump).map(|run| run.run.label()).collect();
    json!({
        "index": patch,
        "applyTo": one.apply_to.name(),
        "context": one.context.name(),
        "operation": one.body.as_ref().map_or("", |body| body.operation.name()),
        "match": node(&["match"]),
        "value": node(&["patch", "value"]),
        "workloads": workloads,
        "runs": runs.iter().map(run_view).collect::<Vec<_>>(),
    })
}

/// An entry of `patch.runs`: the patch on one proxy.
fn run_view(run: &PatchRun<'_, '_>) -> Json {
    let proxy = &run.run.config.proxy;
    let effects: Vec<Json> = run
        .trace
        .effects
        .iter()
        .map(|(place, effect)| {
            let fields: Vec<&str> = match effect {
                Effect::Merged(changes) | Effect::TransportSocketMerged(changes, _) => {
                    changes.iter().map(|change| change.path.as_str()).collect()
                }
                _ => Vec::new(),
            };
            json!({
                "place": place.to_string(),
                "kind": place.kind.as_str(),
                "resource": &*place.resource,
                "effect": effect_name(effect),
                "changes": effect.changes(),
                "fields": fields,
            })
        })
        .collect();
    json!({
        "proxy": run.run.label(),
        "namespace": proxy.namespace,
        "kind": proxy.kind.as_str(),
        "labels": proxy.labels,
        "certain": run.run.knowledge == Knowledge::Dump,
        "outcome": run.outcome.as_str(),
        "effects": effects,
        "overwritten": run.trace.later.len(),
    })
}

fn effect_name(effect: &Effect) -> &'static str {
    match effect {
        Effect::Merged(_) | Effect::TransportSocketMerged(..) => "merged",
        Effect::Inserted { .. } => "inserted",
        Effect::Replaced => "replaced",
        Effect::Removed => "removed",
        Effect::Added => "added",
        Effect::NoOp(_) => "nothing",
        Effect::Panicked(_) => "panic",
    }
}

//! Rules that users write: a YAML document with a CEL expression over a filter, its patches and what the engine did.

use super::config::severity;
use super::context::{Context, Knowledge, PatchRun};
use super::finding::{Finding, Findings};
use super::rule::Rule;
use crate::engine::trace::Effect;
use crate::model::envoy_filter::EnvoyFilter;
use crate::source::{Node, Problem, Severity, Span, Step};
use cel::objects::Key;
use cel::{Program, Value};
use serde_json::{Value as Json, json};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

/// `kind` of a document that holds a rule.
pub const KIND: &str = "LintRule";

/// Longest expression, in bytes.
const LONGEST: usize = 8192;

/// Most brackets and signs that may be open at once: the parser of CEL recurses.
const DEEPEST: usize = 64;

/// What a custom rule is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Each {
    Filter,
    Patch,
}

/// A rule of a user's own.
#[derive(Debug)]
pub struct Custom {
    each: Each,
    when: String,
    message: Template,
    note: Option<Template>,
    help: Option<Template>,
    /// Keys below the document, or below the patch.
    at: Vec<String>,
}

/// A text with expressions between `{{` and `}}`.
#[derive(Debug, PartialEq, Eq)]
struct Template(Vec<Part>);

#[derive(Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Expression(String),
}

/// Keys of a rule, below `spec`.
const KEYS: &[&str] = &["code", "severity", "summary", "documentation", "for", "when", "message", "note", "help", "at"];

/// Reads a rule. It lives as long as the process, as every rule does. What is wrong is noted, with its place; then there
/// is no rule.
pub fn read(document: &Node, others: &[&'static Rule]) -> Result<&'static Rule, Vec<Problem>> {
    let mut reader = Reader::default();
    let root = document.span;
    if document.get("kind").and_then(Node::as_str) != Some(KIND) {
        reader.wrong(root, format!("a custom rule is of kind {KIND}"));
        return Err(reader.problems);
    }
    let empty = Node { span: root, value: crate::source::NodeValue::Null };
    let spec = document.get("spec").unwrap_or(&empty);
    for entry in spec.entries().iter().filter(|entry| !KEYS.contains(&entry.key.as_str())) {
        reader.wrong(entry.key_span, format!("a rule has no key `{}`; the keys are {}", entry.key, KEYS.join(", ")));
    }
    let name = reader.text(document.under(&["metadata", "name"]), root, "metadata.name").unwrap_or_default();
    let code = reader.text(spec.get("code"), spec.span, "spec.code").unwrap_or_default();
    let place = spec.get("code").map_or(spec.span, |node| node.span);
    if !code.is_empty() && !may_be_code(&code) {
        reader
            .wrong(place, "a code is capital letters, digits and `-`, and does not begin with EF: ACME001".to_owned());
    }
    if let Some(other) = others.iter().find(|other| other.code == code || other.name == name) {
        reader.wrong(place, format!("{} {} is taken already", other.code, other.name));
    }
    let level = match spec.get("severity") {
        None => Severity::Warning,
        Some(node) => node.as_str().and_then(severity).unwrap_or_else(|| {
            reader.wrong(node.span, "a severity is one of error, warning, info".to_owned());
            Severity::Warning
        }),
    };
    let each = match spec.get("for").map(|node| (node.as_str(), node.span)) {
        None | Some((Some("patch"), _)) => Each::Patch,
        Some((Some("filter"), _)) => Each::Filter,
        Some((_, span)) => {
            reader.wrong(span, "`for` is patch or filter".to_owned());
            Each::Patch
        }
    };
    let when = reader.text(spec.get("when"), spec.span, "spec.when").unwrap_or_default();
    if let Some(node) = spec.get("when") {
        reader.compile(&when, each, node.span);
    }
    let message = reader.text(spec.get("message"), spec.span, "spec.message").unwrap_or_default();
    let message = reader.template(&message, each, spec.get("message").map_or(spec.span, |node| node.span));
    let note = reader.maybe_template(spec.get("note"), each);
    let help = reader.maybe_template(spec.get("help"), each);
    let at = spec.get("at").and_then(Node::as_str).unwrap_or_default();
    let at = at.split('.').filter(|key| !key.is_empty()).map(str::to_owned).collect();
    if !reader.problems.is_empty() {
        return Err(reader.problems);
    }
    let summary = spec.get("summary").and_then(Node::as_str).unwrap_or(&name).to_owned();
    let docs = spec.get("documentation").and_then(Node::as_str).unwrap_or_default().to_owned();
    let custom: &'static Custom = Box::leak(Box::new(Custom { each, when, message, note, help, at }));
    Ok(Box::leak(Box::new(Rule {
        code: String::leak(code),
        name: String::leak(name),
        severity: level,
        summary: String::leak(summary),
        docs: String::leak(docs),
        fixes: false,
        check,
        example: b"",
        custom: Some(custom),
    })))
}

/// Whether a word may be the code of a user's own rule.
pub fn may_be_code(word: &str) -> bool {
    let plain = word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-');
    plain && word.starts_with(|c: char| c.is_ascii_uppercase()) && !word.starts_with("EF")
}

#[derive(Default)]
struct Reader {
    problems: Vec<Problem>,
}

impl Reader {
    fn wrong(&mut self, span: Span, message: String) {
        let problem = Problem { code: "custom-rule", severity: Severity::Error, span: Some(span), message, help: None };
        self.problems.push(problem);
    }

    fn text(&mut self, node: Option<&Node>, around: Span, what: &str) -> Option<String> {
        let found = node.and_then(Node::as_str).map(str::trim).filter(|text| !text.is_empty());
        if found.is_none() {
            self.wrong(node.map_or(around, |node| node.span), format!("a rule needs a text in {what}"));
        }
        found.map(str::to_owned)
    }

    fn maybe_template(&mut self, node: Option<&Node>, each: Each) -> Option<Template> {
        let node = node?;
        let text = self.text(Some(node), node.span, "this place")?;
        Some(self.template(&text, each, node.span))
    }

    fn template(&mut self, text: &str, each: Each, span: Span) -> Template {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((expression, after)) = after.split_once("}}") else {
                self.wrong(span, "`{{` without `}}`".to_owned());
                break;
            };
            parts.push(Part::Text(before.to_owned()));
            self.compile(expression.trim(), each, span);
            parts.push(Part::Expression(expression.trim().to_owned()));
            rest = after;
        }
        parts.push(Part::Text(rest.to_owned()));
        Template(parts)
    }

    fn compile(&mut self, expression: &str, each: Each, span: Span) {
        let known: &[&str] = if each == Each::Patch { &["filter", "patch", "istio"] } else { &["filter", "istio"] };
        match compile(expression) {
            Err(message) => self.wrong(span, format!("not a CEL expression: {message}")),
            Ok(program) => {
                let references = program.references();
                let bound: BTreeSet<&str> = bound(expression);
                let known_here = |name: &&str| known.contains(name) || bound.contains(name) || !is_word(name);
                let mut unknown: Vec<&str> =
                    references.variables().into_iter().filter(|name| !known_here(name)).collect();
                unknown.sort_unstable();
                if let Some(name) = unknown.first() {
                    self.wrong(span, format!("there is no variable `{name}` here; there are {}", known.join(", ")));
                }
            }
        }
    }
}

/// Variables that the macros of an expression bind: `run` of `patch.runs.exists(run, …)`.
fn bound(expression: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for name in [".all(", ".exists(", ".exists_one(", ".map(", ".filter("] {
        for (at, _) in expression.match_indices(name) {
            let inside = &expression[at + name.len()..];
            found.extend(inside.split(',').next().map(str::trim).filter(|word| is_word(word)));
        }
    }
    found
}

/// Whether a name is one that a user can write; the parser makes others for itself.
fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn compile(expression: &str) -> Result<Program, String> {
    if expression.len() > LONGEST {
        return Err(format!("longer than {LONGEST} bytes"));
    }
    if depth(expression) > DEEPEST {
        return Err(format!("nested deeper than {DEEPEST}"));
    }
    Program::compile(expression).map_err(|errors| {
        let first = errors.errors.first();
        first.map_or_else(String::new, |error| format!("{} (line {}, column {})", error.msg, error.pos.0, error.pos.1))
    })
}

/// How deep an expression nests at most: open brackets, and signs in a row. What stands in texts counts too, which can
/// only make it more.
fn depth(expression: &str) -> usize {
    let (mut open, mut signs, mut deepest) = (0_usize, 0, 0);
    for c in expression.chars().filter(|c| !c.is_whitespace()) {
        signs = if matches!(c, '!' | '-') { signs + 1 } else { 0 };
        match c {
            '(' | '[' | '{' | '?' => open += 1,
            ')' | ']' | '}' => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open + signs);
    }
    deepest
}

/// A rule as it runs.
struct Compiled<'r> {
    when: Program,
    message: Vec<CompiledPart<'r>>,
    note: Vec<CompiledPart<'r>>,
    help: Vec<CompiledPart<'r>>,
}

enum CompiledPart<'r> {
    Text(&'r str),
    Program(Program),
}

impl<'r> Compiled<'r> {
    fn new(custom: &'r Custom) -> Result<Compiled<'r>, String> {
        let parts = |template: Option<&'r Template>| -> Result<Vec<CompiledPart<'r>>, String> {
            let parts = template.map(|template| template.0.as_slice()).unwrap_or_default();
            let compiled = parts.iter().map(|part| match part {
                Part::Text(text) => Ok(CompiledPart::Text(text)),
                Part::Expression(expression) => compile(expression).map(CompiledPart::Program),
            });
            compiled.collect()
        };
        Ok(Compiled {
            when: compile(&custom.when)?,
            message: parts(Some(&custom.message))?,
            note: parts(custom.note.as_ref())?,
            help: parts(custom.help.as_ref())?,
        })
    }
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    let Some(custom) = rule.custom else { return };
    let Ok(compiled) = Compiled::new(custom) else { return };
    let istio = value(&json!({"major": cx.release.major, "minor": cx.release.minor}));
    for (index, filter) in cx.filters.iter().enumerate() {
        let view = filter_view(cx, index, filter);
        let filter_value = value(&view);
        let mut variables = cel::Context::default();
        variables.add_variable_from_value("istio", istio.clone());
        variables.add_variable_from_value("filter", filter_value);
        match custom.each {
            Each::Filter => {
                let name = ["metadata".to_owned(), "name".to_owned()];
                let keys = if custom.at.is_empty() { name.as_slice() } else { &custom.at };
                let route: Vec<Step> = keys.iter().map(|key| Step::from(key.as_str())).collect();
                let span = filter.document.key_span(&route);
                out.extend(ask(rule, &compiled, &variables, span).map(|one| one.of(filter, None)));
            }
            Each::Patch => {
                for (patch, view) in view["patches"].as_array().into_iter().flatten().enumerate() {
                    let mut variables = variables.new_inner_scope();
                    variables.add_variable_from_value("patch", value(view));
                    let mut route = filter.patch_route(patch);
                    route.extend(custom.at.iter().map(|key| Step::from(key.as_str())));
                    let span = filter.document.key_span(&route);
                    let workloads = strings(&view["workloads"]);
                    let found = ask(rule, &compiled, &variables, span).map(|one| one.of(filter, Some(patch)));
                    out.extend(found.map(|one| Finding { workloads, ..one }));
                }
            }
        }
    }
}

fn strings(list: &Json) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect()
}

/// Asks the rule. An expression that fails is a finding too: a rule that silently says nothing is worse than none.
fn ask(rule: &'static Rule, compiled: &Compiled<'_>, variables: &cel::Context<'_, '_>, span: Span) -> Option<Finding> {
    let failed = |error: &dyn fmt::Display| {
        let message = format!("{} cannot be asked here: {error}", rule.code);
        let finding = Finding::new(rule, span, message).help("guard the field with has(…) in the rule's `when`");
        Some(Finding { severity: Severity::Error, ..finding })
    };
    match compiled.when.execute(variables) {
        Ok(Value::Bool(false)) => return None,
        Ok(Value::Bool(true)) => {}
        Ok(other) => return failed(&format!("`when` gives {}, not true or false", text(&other))),
        Err(error) => return failed(&error),
    }
    let fill = |parts: &[CompiledPart<'_>]| -> Result<String, cel::ExecutionError> {
        let mut filled = String::new();
        for part in parts {
            match part {
                CompiledPart::Text(text) => filled.push_str(text),
                CompiledPart::Program(program) => filled.push_str(&text(&program.execute(variables)?)),
            }
        }
        Ok(filled)
    };
    match (fill(&compiled.message), fill(&compiled.note), fill(&compiled.help)) {
        (Ok(message), Ok(note), Ok(help)) => {
            let mut finding = Finding::new(rule, span, message);
            finding.notes.extend(Some(note).filter(|note| !note.is_empty()));
            finding.help = Some(help).filter(|help| !help.is_empty());
            Some(finding)
        }
        (Err(error), _, _) | (_, Err(error), _) | (_, _, Err(error)) => failed(&error),
    }
}

/// A value as a person reads it in a message.
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

/// One of `patch.runs`: the patch on one proxy.
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
                "kind": place.kind.word(),
                "resource": place.resource,
                "effect": word(effect),
                "changes": effect.changes(),
                "fields": fields,
            })
        })
        .collect();
    json!({
        "proxy": run.run.label(),
        "namespace": proxy.namespace,
        "kind": proxy.kind.word(),
        "labels": proxy.labels,
        "certain": run.run.knowledge == Knowledge::Dump,
        "outcome": run.outcome.word(),
        "effects": effects,
        "overwritten": run.trace.later.len(),
    })
}

fn word(effect: &Effect) -> &'static str {
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

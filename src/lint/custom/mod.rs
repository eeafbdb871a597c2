//! Rules that users write: a YAML document with a CEL expression over a filter, its patches and what the engine did.

mod ask;
mod limit;

use crate::lint::check::{Check, Rule};
use crate::lint::rule::{Family, RuleInfo, may_be_code};
use crate::lint::settings::config::severity;
use crate::source::{Code, ErrorMessage, Node, Problem, Severity, Span};
use cel::Program;
use limit::Limited;
use std::collections::BTreeSet;

/// `kind` of a document that holds a rule.
pub const KIND: &str = "LintRule";

/// Maximum length of an expression, in bytes.
const LONGEST: usize = 8192;

/// Maximum nesting of loops (`all`, `exists`, `map` …), and maximum number of uses of `map`.
const MOST_LOOPS: usize = 3;

/// Maximum product of the counts in a regular expression.
const MOST_REPETITIONS: u32 = 1000;

/// Maximum number of open brackets and signs: CEL's parser recurses.
const DEEPEST: usize = 64;

/// What a custom rule is evaluated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Each {
    Filter,
    Patch,
}

/// A rule that a user wrote, with its expressions compiled.
#[derive(Debug)]
struct Custom {
    each: Each,
    when: Limited,
    message: Template,
    note: Option<Template>,
    help: Option<Template>,
    /// Keys below the document or the patch.
    at: Vec<String>,
}

/// Text with expressions between `{{` and `}}`.
#[derive(Debug)]
struct Template(Vec<Part>);

#[derive(Debug)]
enum Part {
    Text(String),
    Program(Limited),
}

/// Keys of a rule, below `spec`.
const KEYS: &[&str] = &["code", "severity", "summary", "documentation", "for", "when", "message", "note", "help", "at"];

/// Reads a rule, which lives as long as the process, like every rule. Errors are returned with their places instead of
/// a rule.
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
        reader.wrong(place, format!("{} {} is already taken", other.code, other.name));
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
    let when = spec.get("when").and_then(|node| reader.compile(&when, each, node.span));
    let message = reader.text(spec.get("message"), spec.span, "spec.message").unwrap_or_default();
    let message = reader.template(&message, each, spec.get("message").map_or(spec.span, |node| node.span));
    let note = reader.maybe_template(spec.get("note"), each);
    let help = reader.maybe_template(spec.get("help"), each);
    let at = spec.get("at").and_then(Node::as_str).unwrap_or_default();
    let at = at.split('.').filter(|key| !key.is_empty()).map(str::to_owned).collect();
    let Some(when) = when.filter(|_| reader.problems.is_empty()) else { return Err(reader.problems) };
    let summary = spec.get("summary").and_then(Node::as_str).unwrap_or(&name).to_owned();
    let docs = spec.get("documentation").and_then(Node::as_str).unwrap_or_default().to_owned();
    let custom: &'static Custom = Box::leak(Box::new(Custom { each, when, message, note, help, at }));
    let info = RuleInfo {
        code: String::leak(code),
        name: String::leak(name),
        family: Family::Custom,
        severity: level,
        summary: String::leak(summary),
        docs: String::leak(docs),
        ..RuleInfo::BASE
    };
    Ok(Box::leak(Box::new(Rule { info, check: Check::Custom(custom) })))
}

#[derive(Default)]
struct Reader {
    problems: Vec<Problem>,
}

impl Reader {
    fn wrong(&mut self, span: Span, message: String) {
        let problem =
            Problem { code: Code::CustomRule, severity: Severity::Error, span: Some(span), message, help: None };
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
            parts.extend(self.compile(expression.trim(), each, span).map(Part::Program));
            rest = after;
        }
        parts.push(Part::Text(rest.to_owned()));
        Template(parts)
    }

    fn compile(&mut self, expression: &str, each: Each, span: Span) -> Option<Limited> {
        let known: &[&str] = if each == Each::Patch { &["filter", "patch", "istio"] } else { &["filter", "istio"] };
        match compile(expression) {
            Err(message) => {
                self.wrong(span, format!("not a CEL expression: {message}"));
                None
            }
            Ok(program) => {
                let references = program.references();
                let bound: BTreeSet<&str> = bound(expression);
                let known_here = |name: &&str| known.contains(name) || bound.contains(name) || !is_word(name);
                let mut unknown: Vec<&str> =
                    references.variables().into_iter().filter(|name| !known_here(name)).collect();
                unknown.sort_unstable();
                if let Some(name) = unknown.first() {
                    self.wrong(span, format!("unknown variable `{name}`; available: {}", known.join(", ")));
                }
                Some(Limited::new(&program))
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

/// Whether a name is one that a user can write; the parser creates other names itself.
fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn compile(expression: &str) -> Result<Program, ErrorMessage> {
    if expression.len() > LONGEST {
        return Err(format!("longer than {LONGEST} bytes").into());
    }
    if depth(expression) > DEEPEST {
        return Err(format!("nested deeper than {DEEPEST}").into());
    }
    growth(expression)?;
    Program::compile(expression).map_err(|errors| {
        let first = errors.errors.first();
        first
            .map_or_else(String::new, |error| format!("{} (line {}, column {})", error.msg, error.pos.0, error.pos.1))
            .into()
    })
}

/// Rejects short expressions that fill memory or whose single steps run long: loops inside loops, lists and texts that grow with
/// each `map`, regular expressions that repeat parts hundreds of times. [`limit`] ends the others in time.
fn growth(expression: &str) -> Result<(), ErrorMessage> {
    const MACROS: [&str; 5] = ["all", "exists", "exists_one", "map", "filter"];
    // The open brackets: whether each belongs to a macro, and whether that is `map`.
    let mut open: Vec<(bool, bool)> = Vec::new();
    let mut maps = 0;
    let mut quote = None;
    let mut text = String::new();
    let (mut word, mut escaped) = (String::new(), false);
    for c in expression.chars() {
        if let Some(end) = quote {
            if c == end && !escaped {
                quote = None;
                repetitions(&text)?;
                text.clear();
            } else {
                text.push(c);
            }
            escaped = c == '\\' && !escaped;
            continue;
        }
        match c {
            '"' | '\'' => quote = Some(c),
            '(' | '[' | '{' => {
                let is_macro = c == '(' && MACROS.contains(&word.as_str());
                maps += usize::from(is_macro && word == "map");
                open.push((is_macro, is_macro && word == "map"));
            }
            ')' | ']' | '}' => drop(open.pop()),
            '+' if open.iter().any(|(_, map)| *map) => return Err("`+` inside map() is not supported".into()),
            _ => {}
        }
        if c.is_ascii_alphanumeric() || c == '_' {
            word.push(c);
        } else if !c.is_whitespace() {
            word.clear();
        }
        if open.iter().filter(|(is_macro, _)| *is_macro).count() > MOST_LOOPS {
            return Err(format!("more than {MOST_LOOPS} nested loops").into());
        }
        if maps > MOST_LOOPS {
            return Err(format!("more than {MOST_LOOPS} uses of map()").into());
        }
    }
    Ok(())
}

/// Rejects a regular expression with large or many counted repetitions: each use compiles it.
fn repetitions(pattern: &str) -> Result<(), ErrorMessage> {
    let counted = pattern.split('{').skip(1).filter_map(|after| after.split_once('}')).map(|(inside, _)| inside);
    let numbers = counted.flat_map(|inside| inside.split(',')).filter_map(|number| number.trim().parse::<u32>().ok());
    let all = numbers.fold(1_u32, |all, number| all.saturating_mul(number.max(1)));
    if all > MOST_REPETITIONS {
        return Err(
            format!("a text with repetitions such as {{100}} that multiply to more than {MOST_REPETITIONS}").into()
        );
    }
    Ok(())
}

/// Maximum nesting of an expression: open brackets, and consecutive signs. String contents count too, which can only
/// overestimate.
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

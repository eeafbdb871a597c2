//! EnvoyFilters inside other objects: tasks of Ansible, wrappers, texts of ConfigMaps and of values.

use super::{embedded, resources};
use crate::source::escape::one_line;
use crate::source::{Code, Node, NodeValue, Problem, Severity, Sources, Span};

/// The EnvoyFilters inside an object that is none, and what is not read: one in a text, or one that a controller makes or
/// changes. What a template engine would make of it is not known here.
pub(super) fn find(document: &Node, sources: &Sources) -> (Vec<Node>, Vec<Problem>) {
    let kind = document.get("kind").and_then(Node::as_str);
    let values = kind.is_some() && resources::misspelt_kind(document).is_none();
    let mut found = Found { objects: Vec::new(), unread: Vec::new(), values };
    // Looking at every value of every object would cost time, and hardly any object contains one.
    if kind != Some("EnvoyFilter")
        && ["EnvoyFilter", PATCHES].iter().any(|word| sources.snippet(document.span).contains(word))
    {
        found.look(document);
    }
    let holder = kind.map(|kind| format!("this {}", one_line(kind)));
    let holder = holder.as_deref();
    let problem = |(span, what): (Span, What)| Problem {
        code: Code::NotRendered,
        severity: Severity::Error,
        span: Some(Span { end: span.start, ..span }),
        message: match (what, holder) {
            (What::Text, Some(holder)) => format!("the EnvoyFilter in a text of {holder} is not read"),
            (What::Text, None) => "the EnvoyFilter in this text is not read".to_owned(),
            (What::Made, _) => {
                format!("the EnvoyFilter that {} generates is not read", holder.unwrap_or("this document"))
            }
            (What::Patched, _) => "this patch of an EnvoyFilter is not applied".to_owned(),
            (What::Part, _) => "this EnvoyFilter is not read: it has no apiVersion or no metadata".to_owned(),
            (What::Values, _) => {
                format!(
                    "the patches in {} are not read: they are not in an EnvoyFilter",
                    holder.unwrap_or("this document")
                )
            }
        },
        help: Some(
            match what {
                What::Text | What::Part => ITSELF,
                What::Made | What::Patched | What::Values => {
                    "check what reaches the cluster: kubectl get envoyfilters -A -o yaml | kubectl envoyfilter lint -"
                }
            }
            .to_owned(),
        ),
    };
    let problems = found.unread.into_iter().map(|it| embedded::placed(problem(it), sources)).collect();
    (found.objects, problems)
}

/// Reports an EnvoyFilter in a text of a Secret, whose content is not kept.
pub(super) fn in_secret(secret: Span) -> Problem {
    Problem {
        code: Code::NotRendered,
        severity: Severity::Error,
        span: Some(Span { end: secret.start, ..secret }),
        message: "the EnvoyFilter in a text of this Secret is not read".to_owned(),
        help: Some(ITSELF.to_owned()),
    }
}

/// The key of patches, which values of a chart also have.
const PATCHES: &str = "configPatches";

/// What to do about an EnvoyFilter in a text.
const ITSELF: &str = "check it in a file of its own, or check the output of the program that reads the text";

/// Reports a document that mentions EnvoyFilters and is no object: values of a chart, a playbook.
pub(super) fn mentioned(document: &Node, sources: &Sources) -> Problem {
    let problem = Problem {
        code: Code::NotRendered,
        severity: Severity::Error,
        span: Some(Span { end: document.span.start, ..document.span }),
        message: "this is not a Kubernetes object: it has no `kind`, and what it says about EnvoyFilters is not read"
            .to_owned(),
        help: Some(
            "check what is rendered from it: lint --helm CHART -f VALUES, or PROGRAM | kubectl envoyfilter lint -"
                .to_owned(),
        ),
    };
    embedded::placed(problem, sources)
}

/// Why an EnvoyFilter is not read.
#[derive(Clone, Copy)]
enum What {
    /// It is in a text.
    Text,
    /// A policy of Kyverno makes it.
    Made,
    /// It is a patch, or a policy changes EnvoyFilters.
    Patched,
    /// Something else completes it.
    Part,
    /// They are values of a chart, which makes an EnvoyFilter of them.
    Values,
}

struct Found {
    objects: Vec<Node>,
    unread: Vec<(Span, What)>,
    /// Whether patches outside an EnvoyFilter are values of a chart.
    values: bool,
}

impl Found {
    fn look(&mut self, node: &Node) {
        match &node.value {
            NodeValue::String(text) if is_filter_text(text) => self.unread.push((node.span, What::Text)),
            NodeValue::List(_) => node.items().iter().for_each(|item| self.look(item)),
            NodeValue::Map(_) if is_filter(node) => self.objects.push(node.clone()),
            NodeValue::Map(_) => match part(node) {
                Some((_, What::Values)) if !self.values => {}
                Some(found) => self.unread.push(found),
                None => node.entries().iter().for_each(|entry| self.look(&entry.value)),
            },
            _ => {}
        }
    }
}

/// What a part of an object does with EnvoyFilters: a policy of Kyverno, a patch as in a kustomization, an overlay of an
/// `IstioOperator`.
fn part(node: &Node) -> Option<(Span, What)> {
    let is_kind = |node: &Node| node.get("kind").and_then(Node::as_str) == Some("EnvoyFilter");
    let has = |keys: &[&str]| keys.iter().any(|key| node.get(key).is_some());
    if let Some(generate) = node.get("generate")
        && (is_kind(generate) || generate.get("foreach").is_some_and(|each| each.items().iter().any(is_kind)))
    {
        return Some((generate.span, What::Made));
    }
    if let Some(mutate) = node.get("mutate") {
        let matched = node.get("match").is_some_and(lists_filters);
        let targets = mutate.get("targets").is_some_and(|targets| targets.items().iter().any(is_kind));
        if matched || targets {
            return Some((mutate.span, What::Patched));
        }
    }
    let edits = node.get("patch").and_then(Node::as_str).is_some_and(|text| text.contains(PATCHES));
    if let Some(target) = node.get("target")
        && (is_kind(target) && has(&["patch", "path"]) || target.get("kind").is_none() && edits)
    {
        return Some((node.span, What::Patched));
    }
    if !is_kind(node) {
        let patches = node.get(PATCHES).map(Node::items).unwrap_or_default();
        let any = patches.iter().any(|patch| patch.get("applyTo").is_some());
        return any.then_some((node.span, What::Values));
    }
    match (has(&["patches"]), has(&["spec", "configPatches"])) {
        (true, _) => Some((node.span, What::Patched)),
        (false, true) => Some((node.span, What::Part)),
        (false, false) => None,
    }
}

/// Whether a condition of a policy lists EnvoyFilters among its kinds.
fn lists_filters(node: &Node) -> bool {
    let is_filter = |kind: &Node| kind.as_str().is_some_and(|kind| kind.rsplit('/').next() == Some("EnvoyFilter"));
    node.items().iter().any(lists_filters)
        || node.entries().iter().any(|entry| {
            entry.key.as_str() == "kinds" && entry.value.items().iter().any(is_filter) || lists_filters(&entry.value)
        })
}

/// Whether this is the whole object; owner references and selectors also have a kind.
fn is_filter(node: &Node) -> bool {
    let text = |key: &str| node.get(key).and_then(Node::as_str).unwrap_or_default();
    text("kind") == "EnvoyFilter"
        && text("apiVersion").starts_with("networking.istio.io/")
        && ["metadata", "spec"].iter().all(|key| node.get(key).is_some())
}

fn is_filter_text(text: &str) -> bool {
    ["kind: EnvoyFilter", "apiVersion: networking.istio.io/"].iter().all(|start| embedded::has_line(text, start))
        || ["\"EnvoyFilter\"", "\"networking.istio.io/"].iter().all(|word| text.contains(word))
        || ["configPatches:", "applyTo:"].iter().all(|start| embedded::has_line(text, start))
}

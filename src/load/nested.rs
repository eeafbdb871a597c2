//! EnvoyFilters inside other objects: tasks of Ansible, wrappers, texts of ConfigMaps and of values.

use super::embedded;
use crate::source::escape::one_line;
use crate::source::{Code, Node, NodeValue, Problem, Severity, Sources, Span};

/// The EnvoyFilters inside an object that is none, and what is not read: one in a text. What a
/// template engine would make of it is not known here.
pub(super) fn find(document: &Node, sources: &Sources) -> (Vec<Node>, Vec<Problem>) {
    let mut found = Found { objects: Vec::new(), texts: Vec::new() };
    // Looking at every value of every object would cost time, and hardly any object contains one.
    if document.get("kind").and_then(Node::as_str) != Some("EnvoyFilter")
        && sources.snippet(document.span).contains("EnvoyFilter")
    {
        found.look(document);
    }
    let holder = document.get("kind").and_then(Node::as_str).map(|kind| format!("a text of this {}", one_line(kind)));
    let problem = |span: Span| Problem {
        code: Code::NotRendered,
        severity: Severity::Error,
        span: Some(Span { end: span.start, ..span }),
        message: format!("the EnvoyFilter in {} is not read", holder.as_deref().unwrap_or("this text")),
        help: Some("check it in a file of its own, or check the output of the program that reads the text".to_owned()),
    };
    let problems = found.texts.into_iter().map(|span| embedded::placed(problem(span), sources)).collect();
    (found.objects, problems)
}

struct Found {
    objects: Vec<Node>,
    texts: Vec<Span>,
}

impl Found {
    fn look(&mut self, node: &Node) {
        match &node.value {
            NodeValue::String(text) if is_filter_text(text) => self.texts.push(node.span),
            NodeValue::List(_) => node.items().iter().for_each(|item| self.look(item)),
            NodeValue::Map(_) if is_filter(node) => self.objects.push(node.clone()),
            NodeValue::Map(_) => node.entries().iter().for_each(|entry| self.look(&entry.value)),
            _ => {}
        }
    }
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
}

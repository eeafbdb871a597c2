//! EF002: a template that was not rendered.

use crate::declare_rule;
use crate::engine::trace::{Effect, Place};
use crate::lint::document;
use crate::lint::finding::{Idle, Label};
use crate::lint::{Context, Finding, Findings, RuleInfo, names};
use crate::source::{Code, FileId, Node, NodeValue};
use crate::words::template_in;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

declare_rule! {
    /// A template that was not rendered.
    ///
    /// # What it finds
    /// `{{ … }}` or `{% … %}` in a document that kubectl will read, or these and `${…}` in a name, namespace, label or
    /// match of an EnvoyFilter, or in place of a number, a duration or the like in `patch.value`, whose other texts may contain
    /// braces, as Lua and format strings do.
    ///
    /// # Why it matters
    /// The cluster would get the template's text: a name that the API server rejects, or a match that matches nothing.
    ///
    /// # How to fix
    /// Render it first and lint the output: `helm template …`, `kustomize build …`, `envsubst`.
    ///
    /// # References
    /// Kubernetes, Object Names and IDs.
    "EF002" "unrendered-template" Document Error => check,
    explains: &[
        "EF201", "EF210", "EF211", "EF212", "EF214", "EF215", "EF216", "EF217", "EF218", "EF219", "EF220", "EF221", "EF222",
        "EF223", "EF229",
    ]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    // A chart has one in every document, so only the first of a file is reported.
    let mut files: BTreeMap<FileId, (Finding, usize)> = BTreeMap::new();
    for (_, finding) in document::in_texts(cx, rule, &[Code::YamlTemplate]) {
        files.entry(finding.primary.span.file).and_modify(|(_, more)| *more += 1).or_insert((finding, 0));
    }
    for (finding, more) in files.into_values() {
        out.push(finding.note(match more {
            0 => "none of this document can be read".to_owned(),
            1 => "none of this document can be read, nor of 1 more document of this file".to_owned(),
            more => format!("none of this document can be read, nor of {more} more documents of this file"),
        }));
    }
    // The same for names and matches: it has one cause.
    let mut first: BTreeMap<FileId, (Finding, usize)> = BTreeMap::new();
    let mut add = |one: Finding| match first.entry(one.primary.span.file) {
        Entry::Vacant(place) => {
            place.insert((one, 0));
        }
        Entry::Occupied(mut known) => {
            let (known, more) = known.get_mut();
            known.idle.extend(one.idle);
            if known.related.len() < MAX_OTHERS {
                known.related.push(Label { span: one.primary.span, message: "nor was this".to_owned() });
            } else {
                *more += 1;
            }
        }
    };
    // ADD reads no match of a cluster, for one: with a template there it works.
    let works = |(filter, patch)| {
        let changes = |(_, effect): &(Place, Effect)| effect.changes();
        cx.on_proxies(filter, patch).any(|run| run.trace.effects.iter().any(changes))
    };
    let mut known: HashMap<(usize, usize), bool> = HashMap::new();
    let mut of_patch = |one: Finding, at| {
        if *known.entry(at).or_insert_with(|| works(at)) { at_its_place(one) } else { idle(one) }
    };
    for (index, filter) in cx.filters.iter().enumerate() {
        let below = |part: &str, keys: &[&str]| -> Vec<&Node> {
            keys.iter().filter_map(|key| document::present(&filter.document, &[part, key])).collect()
        };
        // Annotations and the values of patches may contain any text.
        let named = below("metadata", &["name", "namespace", "labels"]);
        let selected = below("spec", &["workloadSelector", "targetRefs"]);
        for node in named {
            visit(node, &mut |node, found| add(at_its_place(finding(rule, node, found).of(filter, None))));
        }
        for node in selected {
            visit(node, &mut |node, found| add(idle(finding(rule, node, found).of(filter, None))));
        }
        for patch in &filter.patches {
            if let Some(node) = filter.patch_node(patch.index).and_then(|node| node.get("match")) {
                let at = (index, patch.index);
                visit(node, &mut |node, found| add(of_patch(finding(rule, node, found).of(filter, Some(at.1)), at)));
            }
        }
    }
    for value in cx.values() {
        for node in &value.unrendered {
            if let Some(found) = node.as_str().and_then(template_in) {
                let at = (value.view.filter_index, value.view.patch.index);
                add(of_patch(finding(rule, node, found).of(value.view.filter, Some(at.1)), at));
            }
        }
    }
    for (finding, more) in first.into_values() {
        out.push(match more {
            0 => finding,
            more => finding.note(format!("{} in this file", names::count(more, "further place", "further places"))),
        });
    }
}

/// Maximum number of other places that are shown.
const MAX_OTHERS: usize = 3;

fn visit(node: &Node, report: &mut impl FnMut(&Node, &str)) {
    match &node.value {
        NodeValue::String(text) => {
            if let Some(found) = template_in(text) {
                report(node, found);
            }
        }
        NodeValue::List(items) => items.iter().for_each(|item| visit(item, report)),
        NodeValue::Map(entries) => entries.iter().for_each(|entry| visit(&entry.value, report)),
        NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) => {}
    }
}

/// It explains only what is said of the template itself.
fn at_its_place(finding: Finding) -> Finding {
    let place = Some(finding.primary.span);
    finding.at_line(place)
}

/// The patch does nothing with the template in it.
fn idle(mut finding: Finding) -> Finding {
    finding.idle.push(Idle { filter: finding.filter.clone(), patch: finding.patch, span: finding.primary.span });
    finding.ineffective()
}

fn finding(rule: &'static RuleInfo, node: &Node, found: &str) -> Finding {
    Finding::new(rule, node.span, format!("`{found}` is a template that was not rendered"))
        .note("the cluster gets it literally, and no name, label or number looks like this")
        .help("render it first: lint --helm CHART, lint -k FOLDER, or `envsubst < FILE | kubectl envoyfilter lint -`")
}

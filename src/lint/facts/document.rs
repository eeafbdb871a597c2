//! The loader's problems as findings, and helpers of the rules about documents.

use crate::lint::facts::context::{Context, PatchView};
use crate::lint::facts::reach;
use crate::lint::finding::Finding;
use crate::lint::rule::RuleInfo;
use crate::model::envoy_filter::{ApplyTo, EnvoyFilter, FilterMatch, ObjectMatch, Patch, PatchContext};
use crate::source::{Code, Node, Problem, Severity, Sources, Span, Step};

/// The owner of a place in a text.
#[derive(Clone, Copy)]
enum Owner<'a> {
    /// An EnvoyFilter that was read.
    Filter(&'a EnvoyFilter),
    /// One that the API server rejects: namespace and name.
    Refused(&'a str, &'a str),
    /// Not an EnvoyFilter that could be read.
    Nobody,
}

/// The loader's problems of some kinds inside EnvoyFilters, each with a finding that has its place, message, help and
/// owner.
pub(crate) fn in_filters<'c>(
    cx: &'c Context<'_>,
    rule: &'static RuleInfo,
    codes: &'c [Code],
) -> impl Iterator<Item = (&'c Problem, Finding)> + 'c {
    of_kinds(cx, rule, codes)
        .filter(|(.., owner)| !matches!(owner, Owner::Nobody))
        .map(|(problem, finding, _)| (problem, finding))
}

/// The loader's problems of some kinds in an EnvoyFilter, or in an unreadable document that mentions EnvoyFilters: a
/// broken Deployment is out of scope.
pub(crate) fn in_texts<'c>(
    cx: &'c Context<'_>,
    rule: &'static RuleInfo,
    codes: &'c [Code],
) -> impl Iterator<Item = (&'c Problem, Finding)> + 'c {
    let concerned = |(problem, _, owner): &(&Problem, Finding, Owner<'_>)| match (owner, problem.span) {
        // The loader recognized that this was meant to be one.
        (Owner::Nobody, Some(span)) => problem.code == Code::MissingKind || loses_filters(cx.sources, problem, span),
        _ => true,
    };
    of_kinds(cx, rule, codes).filter(move |found| concerned(found)).map(|(problem, finding, _)| (problem, finding))
}

/// Problems that make a whole document unreadable.
const UNREAD: &[Code] = &[
    Code::YamlSyntax,
    Code::YamlTextAfterEnd,
    Code::YamlStops,
    Code::JsonSyntax,
    Code::YamlTooDeep,
    Code::YamlAliasBomb,
    Code::YamlTooManyValues,
    Code::YamlTemplate,
    Code::NotUtf8,
];

/// Whether a problem makes a document unreadable.
pub(crate) fn is_unread(problem: &Problem) -> bool {
    UNREAD.contains(&problem.code) && problem.severity == Severity::Error
}

/// Whether a problem makes a document unreadable that gets no finding because it does not mention EnvoyFilters. Its
/// content may still matter: a workload, a Service, the mesh settings.
pub(crate) fn unread_aside(sources: &Sources, problem: &Problem) -> bool {
    UNREAD.contains(&problem.code) && problem.span.is_some_and(|span| !loses_filters(sources, problem, span))
}

/// Whether the text that a problem makes unreadable mentions EnvoyFilters.
fn loses_filters(sources: &Sources, problem: &Problem, span: Span) -> bool {
    let (text, at) = (&sources.get(span.file).text, span.start as usize);
    let lost = match problem.code {
        Code::YamlStops => text.get(at..).unwrap_or_default(),
        _ => document_text(text, at),
    };
    ["EnvoyFilter", "configPatches"].iter().any(|word| lost.contains(word))
}

fn of_kinds<'c>(
    cx: &'c Context<'_>,
    rule: &'static RuleInfo,
    codes: &'c [Code],
) -> impl Iterator<Item = (&'c Problem, Finding, Owner<'c>)> + 'c {
    cx.problems.iter().filter(|problem| codes.contains(&problem.code)).filter_map(move |problem| {
        let span = problem.span?;
        let owner = owner(cx, span);
        let mut finding = Finding::new(rule, span, &*problem.message);
        finding.help.clone_from(&problem.help);
        let finding = match owner {
            Owner::Filter(filter) => {
                let patch = filter.patches.iter().find(|patch| inside(patch.span, span)).map(|patch| patch.index);
                finding.of(filter, patch)
            }
            Owner::Refused(namespace, name) => Finding { filter: format!("{namespace}/{name}"), ..finding },
            Owner::Nobody => finding,
        };
        Some((problem, finding, owner))
    })
}

/// Filters, read and rejected, are ordered by their texts.
fn owner<'c>(cx: &'c Context<'_>, span: Span) -> Owner<'c> {
    let filters = cx.filters;
    let after = filters.partition_point(|filter| before(filter.document.span, span));
    let nearest = after.checked_sub(1).map(|at| &filters[at]);
    if let Some(filter) = nearest.filter(|filter| inside(filter.document.span, span)) {
        return Owner::Filter(filter);
    }
    let refused = &cx.inventory.refused_filters;
    let after = refused.partition_point(|refused| before(refused.span, span));
    let nearest = after.checked_sub(1).map(|at| &refused[at]);
    match nearest.filter(|refused| inside(refused.span, span)) {
        Some(refused) => Owner::Refused(&refused.namespace, &refused.name),
        None => Owner::Nobody,
    }
}

/// The field whose name a misspelt key should be, if it is not set as well; none if the filter is rejected.
pub(crate) fn field_meant(cx: &Context<'_>, key: Span) -> Option<&'static str> {
    let Owner::Filter(filter) = owner(cx, key) else { return None };
    filter.misspelt.iter().find(|(span, _)| *span == key).map(|(_, name)| *name)
}

/// What the filter does more because the API server drops a key: in words; none if it drops no condition, or if the filter is
/// rejected. `meant` is the field that the key should be.
pub(crate) fn widened(cx: &Context<'_>, key: Span, meant: Option<&str>) -> Option<String> {
    let Owner::Filter(filter) = owner(cx, key) else { return None };
    let route = filter.document.route_to(key);
    let keys: Vec<Option<&str>> = route
        .iter()
        .map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Item(_) => None,
        })
        .collect();
    match keys.as_slice() {
        [Some("spec"), Some("configPatches"), None, Some("match"), _, ..] => {
            Some("without this condition, the patch applies to everything that meets the rest of its match".to_owned())
        }
        [Some("spec"), Some(written)]
            if (*written == "selector" || meant == Some("workloadSelector")) && filter.selector.is_none() =>
        {
            let all = || format!("without a selector, the filter applies to {}", reach::all_workloads(cx, filter));
            (!reach::by_target_refs(cx, filter)).then(all)
        }
        _ => None,
    }
}

/// The text of a value of an EnvoyFilter; none if the filter is rejected.
pub(crate) fn text_at<'c>(cx: &'c Context<'_>, value: Span) -> Option<&'c str> {
    let Owner::Filter(filter) = owner(cx, value) else { return None };
    let mut node = &filter.document;
    while node.span != value {
        let below = node.entries().iter().map(|entry| &entry.value).chain(node.items());
        node = below.into_iter().find(|below| inside(below.span, value))?;
    }
    node.as_str()
}

/// The keys that the API server drops, in their order.
pub(crate) struct Dropped(Vec<Span>);

impl Dropped {
    pub(crate) fn of(cx: &Context<'_>) -> Dropped {
        let dropped = |code| matches!(code, Code::UnknownField | Code::MisspeltField | Code::MisplacedField);
        let keys = cx.problems.iter().filter(|problem| dropped(problem.code)).filter_map(|problem| problem.span);
        let mut keys: Vec<Span> = keys.collect();
        keys.sort_by_key(|key| (key.file, key.start));
        Dropped(keys)
    }

    /// Whether one is in the `match` of a patch, whose condition goes with it.
    pub(crate) fn take_condition(&self, view: &PatchView<'_>) -> bool {
        let Some(matched) = view.node(&["match"]).map(|matched| matched.span) else { return false };
        let first = self.0.partition_point(|key| (key.file, key.start) < (matched.file, matched.start));
        self.0.get(first).is_some_and(|key| inside(matched, *key))
    }
}

/// Whether a key is a label in the selector of an EnvoyFilter.
pub(crate) fn is_label_of_selector(cx: &Context<'_>, key: Span) -> bool {
    let Owner::Filter(filter) = owner(cx, key) else { return false };
    let labels = filter.document.under(&["spec", "workloadSelector", "labels"]);
    labels.is_some_and(|labels| labels.entries().iter().any(|entry| entry.key_span == key))
}

fn before(document: Span, span: Span) -> bool {
    (document.file, document.start) <= (span.file, span.start)
}

fn inside(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

/// The part of a text between the `---` lines around a byte.
fn document_text(text: &str, at: usize) -> &str {
    let at = (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let start = text[..at].rfind("\n---").map_or(0, |start| start + 1);
    let end = text[at..].find("\n---").map_or(text.len(), |end| at + end);
    &text[start..end]
}

/// A Kubernetes object name: an RFC 1123 subdomain of at most 253 bytes.
pub(crate) fn is_object_name(name: &str) -> bool {
    name.len() <= 253 && is_subdomain(name)
}

/// An RFC 1123 subdomain of any length.
pub(crate) fn is_subdomain(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let label = |label: &str| {
        let bytes = label.as_bytes();
        bytes.first().copied().is_some_and(plain)
            && bytes.last().copied().is_some_and(plain)
            && bytes.iter().all(|&byte| plain(byte) || byte == b'-')
    };
    name.split('.').all(label)
}

/// The node below a document, `null` counting as absent, as for the API server.
pub(crate) fn present<'n>(document: &'n Node, keys: &[&str]) -> Option<&'n Node> {
    document.under(keys).filter(|node| !node.is_null())
}

/// Path of [`filter_match`] in a patch.
pub(crate) const FILTER_MATCH: &[&str] = &["match", "listener", "filterChain", "filter"];

/// `proxyVersion` of a patch, if it has one.
pub(crate) fn proxy_version(patch: &Patch) -> Option<&str> {
    patch.proxy.as_ref().map(|proxy| proxy.version.as_str()).filter(|version| !version.is_empty())
}

/// Where to point if a key of a config patch is missing: the key if it exists without a value, otherwise the first key,
/// since underlining the whole patch would show too much.
pub(crate) fn patch_place(view: &PatchView<'_>, key: &str) -> Span {
    let entries = view.node(&[]).map_or(&[][..], Node::entries);
    let entry = entries.iter().find(|entry| entry.key == key).or(entries.first());
    entry.map_or(view.patch.span, |entry| entry.key_span)
}

/// The filter match of a patch for listeners, filter chains, network or HTTP filters, which istiod's webhook checks. It
/// checks none for waypoints.
pub(crate) fn filter_match(patch: &Patch) -> Option<&FilterMatch> {
    use ApplyTo::{FilterChain, HttpFilter, Listener, NetworkFilter};
    let judged = matches!(patch.apply_to, Listener | FilterChain | NetworkFilter | HttpFilter);
    match &patch.object {
        ObjectMatch::Listener(listener) if judged && patch.context != PatchContext::Waypoint => {
            listener.filter_chain.as_ref()?.filter.as_ref()
        }
        _ => None,
    }
}

/// Whether the input contains a kustomization, whose patches look like objects. It may omit its kind and is then recognized
/// by its file name.
pub(crate) fn has_kustomization(cx: &Context<'_>) -> bool {
    ["Kustomization", "Component"].iter().any(|kind| cx.inventory.other.contains_key(*kind))
        || cx.sources.iter().any(|(_, source)| {
            let file = source.name.rsplit('/').next().unwrap_or_default();
            file == "kustomization.yaml" || file == "kustomization.yml"
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_a_text() {
        let text = "a\n---\nb\n---\nc";
        assert_eq!(document_text(text, 0), "a");
        assert_eq!(document_text(text, 6), "---\nb");
        assert_eq!(document_text(text, 99), "---\nc");
        assert_eq!(document_text("é", 1), "é");
    }

    #[test]
    fn names_of_objects() {
        assert!(is_object_name("a") && is_object_name("stats-filter-1.19"));
        for bad in ["", "A", "a_b", "-a", "a-", "a..b", "${a}", "é"] {
            assert!(!is_object_name(bad), "{bad}");
        }
        assert!(!is_object_name(&"a".repeat(254)));
    }
}

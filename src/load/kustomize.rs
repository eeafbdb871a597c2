//! Kustomizations among the files: what only `kustomize build` applies to the EnvoyFilters that they list.

use super::embedded::placed;
use super::files::normal;
use super::limits::Limits;
use super::yaml;
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::proxy::REVISION_LABEL;
use crate::source::{Code, FileId, Node, NodeValue, Problem, Severity, Sources, Span};
use regex::{Regex, RegexBuilder};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Reports that a kustomization patches EnvoyFilters: only `kustomize build` applies those patches. A file with its name
/// needs no kind.
pub(super) fn kustomization(document: &Node, sources: &Sources) -> Option<Problem> {
    let kind = document.get("kind").and_then(Node::as_str);
    let name = &sources.get(document.span.file).name;
    let by_name = kind.is_none() && is_kustomization(name);
    if !(by_name || matches!(kind, Some("Kustomization" | "Component"))) {
        return None;
    }
    let about = |patch: &Node| {
        let inline = patch.as_str().or_else(|| patch.get("patch").and_then(Node::as_str));
        let target = patch.get("target");
        let edits =
            |text: &str| text.contains("EnvoyFilter") || target.is_some_and(any_kind) && text.contains("configPatches");
        target.is_some_and(selects_filters) || inline.is_some_and(edits)
    };
    let replaces = |replacement: &&Node| {
        let targets = replacement.get("targets").map(Node::items).unwrap_or_default();
        targets.iter().filter_map(|target| target.get("select")).any(selects_filters)
    };
    let replacements = document.get("replacements").map(Node::items).unwrap_or_default();
    let patch = patches(document).find(|patch| about(patch)).or_else(|| replacements.iter().find(replaces))?;
    let span = patch.get("patch").map_or(patch.span, |_| Span { end: patch.span.start, ..patch.span });
    Some(unapplied(span))
}

/// Whether a selector of a kustomization, whose parts are regular expressions, names the kind or the group of EnvoyFilters.
fn selects_filters(selector: &Node) -> bool {
    let matches = |key: &str, text: &str| Some(Expression::read(selector.get(key).and_then(Node::as_str)?).fits(text));
    let group = matches("group", "networking.istio.io");
    matches("kind", "EnvoyFilter").or(group) == Some(true) && group != Some(false)
}

/// Whether the target of a patch names no kind and no group.
fn any_kind(target: &Node) -> bool {
    ["kind", "group"].iter().all(|key| target.get(key).is_none())
}

/// The target of a patch that selects by name or labels alone: the EnvoyFilters among what it may select.
struct Target<'t> {
    name: Option<Expression<'t>>,
    namespace: Option<Expression<'t>>,
    labels: Option<&'t str>,
    annotations: Option<&'t str>,
}

impl<'t> Target<'t> {
    fn read(target: &'t Node) -> Option<Target<'t>> {
        let text = |key: &str| target.get(key).and_then(Node::as_str);
        let any = ["name", "labelSelector", "annotationSelector"].iter().any(|key| text(key).is_some());
        (any && any_kind(target)).then(|| Target {
            name: text("name").map(Expression::read),
            namespace: text("namespace").map(Expression::read),
            labels: text("labelSelector"),
            annotations: text("annotationSelector"),
        })
    }

    fn selects(&self, filter: &EnvoyFilter) -> bool {
        let named = |one: &Option<Expression<'_>>, name: &str| one.as_ref().is_none_or(|one| one.fits(name));
        let labeled = |selector: Option<&str>, labels: &BTreeMap<String, String>| {
            selector.is_none_or(|selector| selector.split(',').all(|one| has_label(one.trim(), labels)))
        };
        named(&self.name, &filter.name)
            && named(&self.namespace, &filter.namespace)
            && labeled(self.labels, &filter.labels)
            && labeled(self.annotations, &filter.annotations)
    }
}

/// Maximum size of a compiled expression of a selector, in bytes: names need a few hundred.
const MAX_EXPRESSION: usize = 1 << 16;

/// A regular expression in a selector of a kustomization, for a whole text.
struct Expression<'t> {
    text: &'t str,
    compiled: Option<Regex>,
}

impl<'t> Expression<'t> {
    fn read(text: &'t str) -> Expression<'t> {
        let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_/".contains(&byte));
        let compile = || RegexBuilder::new(&format!("^(?:{text})$")).size_limit(MAX_EXPRESSION).build().ok();
        Expression { text, compiled: if plain { None } else { compile() } }
    }

    /// Whether it matches a text. One that cannot be compiled, or only at great cost, matches nothing else than itself.
    fn fits(&self, text: &str) -> bool {
        self.text == text || self.compiled.as_ref().is_some_and(|compiled| compiled.is_match(text))
    }
}

/// Whether labels satisfy one condition; those with a set of values, which are cut at their commas, count as satisfied.
fn has_label(condition: &str, labels: &BTreeMap<String, String>) -> bool {
    let value = |key: &str| labels.get(key.trim()).map(String::as_str);
    if let Some((key, other)) = condition.split_once("!=") {
        value(key) != Some(other.trim())
    } else if let Some((key, one)) = condition.split_once('=') {
        value(key) == Some(one.trim_start_matches('=').trim())
    } else if let Some(key) = condition.strip_prefix('!') {
        value(key).is_none()
    } else {
        condition.contains(char::is_whitespace) || condition.contains(')') || value(condition).is_some()
    }
}

fn patches(kustomization: &Node) -> impl Iterator<Item = &Node> {
    let lists = ["patches", "patchesStrategicMerge", "patchesJson6902"];
    lists.into_iter().filter_map(|key| kustomization.get(key)).flat_map(Node::items)
}

/// What to do about a kustomization that is not built.
const BUILD: &str = "build the kustomization: kubectl envoyfilter lint -k FOLDER, or kubectl kustomize FOLDER | kubectl envoyfilter lint -";

fn unapplied(span: Span) -> Problem {
    Problem {
        code: Code::NotRendered,
        severity: Severity::Error,
        span: Some(span),
        message: "this patch of an EnvoyFilter is not applied: what is read here is the base".to_owned(),
        help: Some(BUILD.to_owned()),
    }
}

/// Maximum number of targets of kustomizations and filters that are compared, and of files that they list.
const MAX_TRIES: usize = 1_000_000;

/// Whether `kustomize build` reads a file as the kustomization of its folder.
fn is_kustomization(name: &str) -> bool {
    let file = name.rsplit(['/', '\\']).next();
    file.is_some_and(|file| matches!(file, "kustomization.yaml" | "kustomization.yml" | "Kustomization"))
}

/// The documents of the kustomizations among the texts, by file.
pub(super) fn all(sources: &Sources, limits: Limits) -> Vec<(FileId, Vec<Node>)> {
    let files = sources.iter().filter(|(_, source)| is_kustomization(&source.name));
    files
        .map(|(file, source)| (file, yaml::documents_within(file, &source.text, limits.values(source.text.len())).0))
        .collect()
}

/// Reports patches of EnvoyFilters in files of their own, once all files are read: one for each kustomization. Also returns those
/// files: they contain no objects.
pub(super) fn patch_files(
    sources: &Sources,
    filters: &[EnvoyFilter],
    kustomizations: &[(FileId, Vec<Node>)],
) -> (Vec<Problem>, HashSet<FileId>) {
    let mut problems = Vec::new();
    let mut files = HashSet::new();
    // Each text is searched once, however many patches name it.
    let mut texts: Option<HashMap<PathBuf, (FileId, bool)>> = None;
    for (file, documents) in kustomizations {
        let mentions = |text: &str| text.contains("EnvoyFilter");
        let all =
            || sources.iter().map(|(id, one)| (normal(Path::new(&one.name)), (id, mentions(&one.text)))).collect();
        let texts = texts.get_or_insert_with(all);
        let folder = folder(Path::new(&sources.get(*file).name));
        let of_filter = |patch: &Node| {
            let path = patch.as_str().or_else(|| patch.get("path")?.as_str())?;
            let (id, _) = texts.get(&normal(&folder.join(path))).filter(|(_, mentions)| *mentions)?;
            let target = patch.under(&["target", "kind"]).and_then(Node::as_str);
            target.is_none_or(|kind| kind == "EnvoyFilter").then_some((*id, target.is_some(), patch.span))
        };
        let found: Vec<_> = documents.iter().flat_map(patches).filter_map(of_filter).collect();
        files.extend(found.iter().map(|(id, ..)| *id));
        // The first check finds those with a target of this kind.
        if documents.iter().any(|document| kustomization(document, sources).is_some()) {
            continue;
        }
        let unsaid = found.iter().find(|(_, has_target, _)| !has_target).map(|(.., span)| *span);
        // With too many to try, one is taken to select a filter.
        let mut left = MAX_TRIES;
        let selecting = |patch: &&Node| {
            let Some(target) = patch.get("target").and_then(Target::read) else { return false };
            left = left.saturating_sub(filters.len() + 1);
            !filters.is_empty() && left == 0 || filters.iter().any(|filter| target.selects(filter))
        };
        let start = |patch: &Node| Span { end: patch.span.start, ..patch.span };
        let unsaid = unsaid.or_else(|| documents.iter().flat_map(patches).find(selecting).map(start));
        problems.extend(unsaid.map(|span| placed(unapplied(span), sources)));
    }
    (problems, files)
}

/// The fields of a kustomization that change the objects that it lists.
const FIELDS: [&str; 5] = ["namespace", "namePrefix", "nameSuffix", "commonLabels", "labels"];

/// Reports fields of kustomizations that would change the EnvoyFilters that they list, one problem for each kustomization.
pub(super) fn fields(
    sources: &Sources,
    filters: &[EnvoyFilter],
    kustomizations: &[(FileId, Vec<Node>)],
) -> Vec<Problem> {
    if kustomizations.is_empty() || filters.is_empty() {
        return Vec::new();
    }
    let path = |file: FileId| normal(Path::new(&sources.get(file).name));
    let mut listing = Listing { files: HashMap::new(), folders: HashMap::new(), left: MAX_TRIES };
    for filter in filters {
        listing.files.entry(path(filter.document.span.file)).or_default().push(filter);
    }
    for (file, documents) in kustomizations {
        listing.folders.entry(folder(&path(*file))).or_default().extend(documents);
    }
    let mut problems = Vec::new();
    for (file, documents) in kustomizations {
        for document in documents.iter().filter(|document| FIELDS.iter().any(|key| document.get(key).is_some())) {
            let listed = listing.collect(document, folder(&path(*file)));
            problems.extend(unapplied_fields(document, &listed, filters).map(|problem| placed(problem, sources)));
        }
    }
    problems
}

fn folder(file: &Path) -> PathBuf {
    file.parent().unwrap_or(Path::new("")).to_owned()
}

/// The EnvoyFilters of each file, and the kustomizations of each folder.
struct Listing<'l> {
    files: HashMap<PathBuf, Vec<&'l EnvoyFilter>>,
    folders: HashMap<PathBuf, Vec<&'l Node>>,
    left: usize,
}

impl<'l> Listing<'l> {
    /// The filters that a kustomization lists, also through others: however long the chain of those is.
    fn collect(&mut self, kustomization: &'l Node, folder: PathBuf) -> Vec<&'l EnvoyFilter> {
        let mut listed = Vec::new();
        let mut seen = HashSet::new();
        let mut open = vec![(kustomization, folder)];
        while let Some((kustomization, folder)) = open.pop() {
            let lists = ["resources", "bases", "components"].into_iter().filter_map(|key| kustomization.get(key));
            for entry in lists.flat_map(Node::items).filter_map(Node::as_str) {
                let path = normal(&folder.join(entry));
                self.left = self.left.saturating_sub(1);
                if self.left == 0 || !seen.insert(path.clone()) {
                    continue;
                }
                listed.extend(self.files.get(&path).into_iter().flatten());
                open.extend(self.folders.get(&path).into_iter().flatten().map(|one| (*one, path.clone())));
            }
        }
        listed
    }
}

/// The fields of a kustomization that would change one of these filters, or what the filters of the input select.
fn unapplied_fields(kustomization: &Node, listed: &[&EnvoyFilter], filters: &[EnvoyFilter]) -> Option<Problem> {
    let text = |key: &str| kustomization.get(key).and_then(Node::as_str).filter(|text| !text.is_empty());
    let selects = |key: &str| filters.iter().filter_map(|it| it.selector.as_ref()).any(|it| it.contains_key(key));
    let pairs = |labels: &Node, of_pods: bool| {
        labels.entries().iter().any(|entry| {
            let value = entry.value.as_str();
            let revised = |it: &&EnvoyFilter| it.labels.get(REVISION_LABEL).map(String::as_str) != value;
            entry.key == REVISION_LABEL && listed.iter().any(revised) || of_pods && selects(&entry.key)
        })
    };
    let of_pods = |item: &Node| {
        ["includeSelectors", "includeTemplates"]
            .iter()
            .any(|key| matches!(item.get(key).map(|it| &it.value), Some(NodeValue::Bool(true))))
    };
    let labels = |item: &Node| item.get("pairs").is_some_and(|labels| pairs(labels, of_pods(item)));
    let changes = |key: &&str| match *key {
        "namespace" => text(key).is_some_and(|namespace| listed.iter().any(|it| it.namespace != namespace)),
        "commonLabels" => kustomization.get(key).is_some_and(|it| pairs(it, true)),
        "labels" => kustomization.get(key).is_some_and(|it| it.items().iter().any(labels)),
        _ => text(key).is_some(),
    };
    let fields: Vec<&str> = FIELDS.into_iter().filter(|_| !listed.is_empty()).filter(changes).collect();
    let span = kustomization.entry(fields.first()?)?.key_span;
    let (last, rest) = fields.split_last()?;
    let names =
        if rest.is_empty() { format!("`{last}` is") } else { format!("`{}` and `{last}` are", rest.join("`, `")) };
    Some(Problem {
        code: Code::NotRendered,
        severity: Severity::Error,
        span: Some(span),
        message: format!(
            "{names} not applied to the EnvoyFilters that this kustomization lists: they are judged as in their files"
        ),
        help: Some(BUILD.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Loaded, Options};
    use super::*;

    /// Anybody who may write an archive may write it; nothing recurses along it.
    #[test]
    fn a_chain_of_kustomizations_may_be_long() {
        const LENGTH: usize = 10_000;
        let options = Options::default();
        let mut loaded = Loaded::default();
        let mut add = |name: &str, text: String| loaded.add_text(name, text, &options);
        add("0/kustomization.yaml", "namespace: b\nresources: [../1]\n".to_owned());
        for number in 1..LENGTH {
            add(&format!("{number}/kustomization.yaml"), format!("resources: [../{}]\n", number + 1));
        }
        add(&format!("{LENGTH}/kustomization.yaml"), "resources: [f.yaml]\n".to_owned());
        let filter = "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {name: f, namespace: a}\nspec: {configPatches: []}\n";
        add(&format!("{LENGTH}/f.yaml"), filter.to_owned());
        let kustomizations = all(&loaded.sources, options.limits);
        let problems = fields(&loaded.sources, &loaded.inventory.envoy_filters, &kustomizations);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].message.contains("`namespace` is not applied"), "{}", problems[0].message);
    }
}

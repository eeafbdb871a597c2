//! EF336: an added cluster that nothing refers to.

use crate::declare_rule;
use crate::engine::trace::Effect;
use crate::lint::context::{PatchRun, ProxyRun};
use crate::lint::names::is_cluster_of_any_mesh;
use crate::lint::per_run::PerRun;
use crate::lint::{Context, Finding, Findings, Knowledge, PatchView, RuleInfo, walk};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use crate::source::{Node, NodeValue, Severity, alike};
use crate::words::few;
use aho_corasick::AhoCorasick;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ptr;
use std::rc::Rc;

declare_rule! {
    /// An added cluster that nothing refers to.
    ///
    /// # What it finds
    /// A CLUSTER ADD whose name appears in no other given patch or TrafficExtension and in no listener or route of the config dumps.
    /// Without config dumps it is an info, unless a patch names a cluster that differs only in separators.
    ///
    /// # Why it matters
    /// No request reaches it. Often the filter that should use it misspells the name, and fails.
    ///
    /// # How to fix
    /// Use the same name in the filter or route, or remove the patch.
    ///
    /// # References
    /// Envoy, cluster manager: clusters are found by name.
    "EF336" "cluster-not-used" Operation Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let mut used: Option<HashSet<&str>> = None;
    let mut search: Option<Search> = None;
    let mut groups: HashMap<String, Vec<Unused<'_>>> = HashMap::new();
    let mut order = Vec::new();
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::Cluster) {
        let Some(built) = view.built.filter(|built| built.operation == Operation::Add) else { continue };
        let Some(name) = built.value.as_ref().map(|value| value.name().to_owned()).filter(|name| !name.is_empty())
        else {
            continue;
        };
        // Clusters of the bootstrap, and clusters that istiod's own listeners and VirtualServices refer to by generated
        // names.
        if name.contains('|') || is_cluster_of_any_mesh(&name) {
            continue;
        }
        if used.get_or_insert_with(|| mentioned(cx)).contains(name.as_str()) {
            continue;
        }
        let search = search.get_or_insert_with(|| Search::new(cx));
        let Some(finding) = unused(rule, cx, search, &view, &name) else { continue };
        let equal = groups.entry(name.clone()).or_default();
        // Equal clusters of filters that meet are one mistake; two files with the same object are never applied together.
        let first = equal.iter_mut().take(COMPARED).find(|first| {
            !cx.same_object(first.view.filter_index, view.filter_index)
                && meet(cx, &first.view, &view)
                && value_of(&first.view).zip(value_of(&view)).is_some_and(|(one, two)| one.same(two))
        });
        if let Some(first) = first {
            first.join(view, finding);
        } else {
            order.push((name, equal.len()));
            equal.push(Unused { view, finding, others: Vec::new() });
        }
    }
    out.extend(order.iter().filter_map(|(name, index)| Some(groups.get(name)?.get(*index)?.told())));
}

/// How many different clusters of a name are compared with the next one.
const COMPARED: usize = 8;

/// Whether some proxy gets both patches.
fn meet(cx: &Context<'_>, one: &PatchView<'_>, other: &PatchView<'_>) -> bool {
    let runs =
        |view: &PatchView<'_>| cx.on_proxies(view.filter_index, view.patch.index).map(|run| ptr::from_ref(run.run));
    let of_one: HashSet<_> = runs(one).collect();
    runs(other).any(|run| of_one.contains(&run))
}

/// The value of a patch as istiod reads it.
fn value_of<'a>(view: &PatchView<'a>) -> Option<&'a Tree<'a>> {
    view.built?.value.as_ref()
}

/// An added cluster that nothing uses.
struct Unused<'a> {
    /// The patch that adds it.
    view: PatchView<'a>,
    /// What is said about it.
    finding: Finding,
    /// The other filters that add an equal cluster.
    others: Vec<String>,
}

impl<'a> Unused<'a> {
    /// Takes in another filter's patch with an equal cluster: the more severe finding stays.
    fn join(&mut self, view: PatchView<'a>, finding: Finding) {
        let (mut view, mut other) = (view, finding);
        if other.severity > self.finding.severity {
            std::mem::swap(&mut self.view, &mut view);
            std::mem::swap(&mut self.finding, &mut other);
        }
        self.finding.join_workloads(other.workloads.iter().cloned());
        self.others.push(view.filter.full_name());
    }

    /// The finding with the other filters.
    fn told(&self) -> Finding {
        let finding = self.finding.clone();
        if self.others.is_empty() {
            return finding;
        }
        let names: Vec<&str> = self.others.iter().map(String::as_str).collect();
        finding.note(format!("also added by {}", few(&names, names.len(), 3)))
    }
}

/// The finding about an added cluster whose name no value contains, unless a config dump uses it.
fn unused<'a>(
    rule: &'static RuleInfo,
    cx: &Context<'a>,
    search: &Search<'a>,
    view: &PatchView<'a>,
    name: &str,
) -> Option<Finding> {
    let finding = view
        .finding(rule, view.value_path_span("name"), format!("nothing uses the cluster `{name}`"))
        .label("no route, filter or script names it")
        .help("write the same name in the filter or route that should use it, or remove the patch");
    if cx.attaches_to_dump(view.filter_index) {
        let unused = |run: &PatchRun<'_, '_>| {
            run.run.knowledge == Knowledge::Dump
                && run.has(|effect| matches!(effect, Effect::Added))
                && !search.in_dump(run.run).contains(name)
                // A misspelling of it is one mistake, and found where it is.
                && !search.meant(run.run).contains(name)
        };
        return cx.seen(view, unused).map(|seen| seen.tell(finding));
    }
    let finding = finding.likely("no given patch names it, and no config dump was given");
    // A name in a value that is a misspelling of this one.
    let near = |asked: &str| {
        let foreign = !asked.contains('|') && !is_cluster_of_any_mesh(asked) && !search.added.contains(asked);
        alike::keyword(asked, [name]).filter(|_| foreign).map(|near| !near.same_letters)
    };
    Some(match search.asked.iter().filter_map(|asked| Some((near(asked)?, *asked))).min() {
        Some((differs, asked)) => finding
            .severity(if differs { Severity::Info } else { Severity::Warning })
            .help(format!("write `{name}` instead of `{asked}` in the value that should use it")),
        None => finding.severity(Severity::Info),
    })
}

/// What is searched once for all added clusters: the values, and each config dump.
struct Search<'a> {
    /// The names of all added clusters.
    added: HashSet<String>,
    /// Finds them in a text; made for the first config dump.
    finder: OnceCell<Option<(AhoCorasick, Vec<String>)>>,
    /// The clusters that values refer to.
    asked: HashSet<&'a str>,
    /// The added clusters that the config dump of a proxy names outside its clusters.
    in_dumps: PerRun<HashSet<String>>,
    /// The clusters of a proxy that misspelt names of values mean.
    meant: PerRun<HashSet<String>>,
}

impl<'a> Search<'a> {
    fn new(cx: &Context<'a>) -> Search<'a> {
        Search {
            added: added_clusters(cx),
            finder: OnceCell::new(),
            asked: named_clusters(cx),
            in_dumps: PerRun::new(),
            meant: PerRun::new(),
        }
    }

    fn finder(&self) -> Option<&(AhoCorasick, Vec<String>)> {
        let make = || {
            let names: Vec<String> = self.added.iter().filter(|name| !name.is_empty()).cloned().collect();
            AhoCorasick::new(&names).ok().map(|finder| (finder, names))
        };
        self.finder.get_or_init(make).as_ref()
    }

    fn in_dump(&self, run: &ProxyRun<'_>) -> Rc<HashSet<String>> {
        self.in_dumps.of(run, |run| {
            let mut found = HashSet::new();
            let Some((finder, names)) = self.finder() else { return self.added.clone() };
            for one in run.config.resources.iter().filter(|one| one.kind != ResourceKind::Cluster) {
                // A name may be the beginning of another.
                let at = finder.find_overlapping_iter(one.json.search());
                let parts: HashSet<usize> = at.map(|at| at.pattern().as_usize()).collect();
                found.extend(parts.iter().filter_map(|index| names.get(*index).cloned()));
            }
            found
        })
    }

    fn meant(&self, run: &ProxyRun<'_>) -> Rc<HashSet<String>> {
        self.meant.of(run, |run| {
            let like = |asked: &&str| run.cluster_like(asked).filter(|like| like != asked);
            self.asked.iter().filter_map(like).collect()
        })
    }
}

/// The names of all added clusters.
fn added_clusters(cx: &Context<'_>) -> HashSet<String> {
    let adds = cx.patches().filter(|view| view.patch.apply_to == ApplyTo::Cluster);
    adds.filter_map(|view| view.built?.value.as_ref().map(|value| value.name().to_owned())).collect()
}

/// Every text in the values of all patches, and the names in them, such as those in a script, except the names of the
/// added clusters themselves.
fn mentioned<'a>(cx: &Context<'a>) -> HashSet<&'a str> {
    let mut texts = HashSet::new();
    for view in cx.patches() {
        let Some(value) = view.patch.body.as_ref().and_then(|body| body.value.as_ref()) else { continue };
        let adds = view.patch.apply_to == ApplyTo::Cluster;
        let own = adds.then(|| view.built?.value.as_ref().map(Tree::name)).flatten().unwrap_or_default();
        collect(value, own, &mut texts);
    }
    // The script of a TrafficExtension calls clusters as that of a patch does.
    let extensions = cx.inventory.policies.iter().filter(|one| one.kind == "TrafficExtension");
    extensions.for_each(|one| collect(&one.document, "", &mut texts));
    texts
}

/// The clusters that the values of all patches and their scripts refer to.
fn named_clusters<'a>(cx: &Context<'a>) -> HashSet<&'a str> {
    let mut names = HashSet::new();
    for view in cx.patches() {
        let Some(value) = view.patch.body.as_ref().and_then(|body| body.value.as_ref()) else { continue };
        walk::fields(value, &mut |field| {
            // The name in a cluster's own endpoints refers to nothing.
            let weighted = field.is("name") && field.inside("weighted_clusters");
            if weighted || (field.is("cluster") || field.is("cluster_name")) && !field.inside("load_assignment") {
                names.extend(field.node.as_str());
            }
        });
    }
    names.extend(cx.loadable_scripts().flat_map(|script| script.uses.calls.iter().map(|one| one.name)));
    names
}

fn collect<'n>(node: &'n Node, own: &str, texts: &mut HashSet<&'n str>) {
    if let NodeValue::String(text) = &node.value {
        // Every character of every value is asked: a search among bytes takes less than one in a `str`.
        let part = |letter: char| {
            letter.is_whitespace() || u8::try_from(letter).is_ok_and(|byte| b"\"'`(),;={}[]<>%/@".contains(&byte))
        };
        texts.extend(std::iter::once(text.as_str()).chain(text.split(part)).filter(|text| *text != own));
    }
    node.items().iter().for_each(|item| collect(item, own, texts));
    node.entries().iter().for_each(|entry| collect(&entry.value, own, texts));
}

//! The proxies on which a patch had some effect, and how a finding reports them.

use crate::engine::trace::{Effect, Place};
use crate::engine::{self, PatchId};
pub(crate) use crate::lint::facts::behind::Behind;
use crate::lint::facts::context::{Context, Knowledge, PatchRun, PatchView, ProxyRun};
use crate::lint::facts::culprit;
use crate::lint::facts::names::cluster_like;
use crate::lint::finding::{Cause, Finding, Findings};
use crate::lint::rule::RuleInfo;
use crate::lint::value::{Object, walk};
use crate::model::envoy_filter::ApplyTo;
use crate::model::resource::ResourceKind;
use crate::proto::tree::{Tree, is_typed_struct, type_name};
use crate::source::{Span, Step};
use crate::words::few;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// What a patch merged an object of its value into, after all patches.
pub(crate) fn merged<'a>(run: &PatchRun<'_, 'a>, object: &Object<'_>) -> Vec<Tree<'a>> {
    let keys =
        || object.route.iter().filter_map(|step| if let Step::Key(key) = step { Some(key.as_str()) } else { None });
    let merged = |effect: &Effect| matches!(effect, Effect::Merged(_) | Effect::TransportSocketMerged(..));
    let effects = run.trace.effects.iter().filter(|(_, effect)| merged(effect));
    effects.filter_map(|(place, _)| run.run.below(place, keys())).collect()
}

/// The proxies that show an effect: real ones, otherwise reference configurations.
pub(crate) struct Seen<'c, 'a> {
    /// The runs, never empty.
    pub runs: Vec<PatchRun<'c, 'a>>,
    /// How many proxies of that kind the filter attaches to.
    pub attached: usize,
}

impl Seen<'_, '_> {
    /// Whether config dumps show it.
    pub(crate) fn certain(&self) -> bool {
        self.runs.first().is_some_and(|run| run.run.knowledge == Knowledge::Dump)
    }

    /// The other patch without which this one would change something, if it matches but changes nothing.
    pub(crate) fn cause_of_no_op(&self, cx: &Context<'_>, view: &PatchView<'_>) -> Option<Cause> {
        let runs: Vec<&ProxyRun<'_>> = self.runs.iter().map(|run| run.run).collect();
        culprit::cause_of_no_op(cx, view.filter_index, view.patch.index, &runs)
    }

    /// A note with the filters that a merge into all of them reaches.
    pub(crate) fn reached(&self, names: &[&str]) -> String {
        let names = few(names, names.len(), 8);
        if self.runs.iter().any(|run| run.has(|effect| matches!(effect, Effect::Panicked(_)))) {
            return format!("reached: {names}, where istiod panics because the type differs, and stops");
        }
        format!("reached: {names}")
    }

    /// Adds the confidence and the proxies to a finding.
    pub(crate) fn tell(&self, finding: Finding) -> Finding {
        if self.certain() {
            let finding = finding.workloads(self.runs.iter().map(|run| run.run.label().to_owned()));
            return if self.attached > 1 {
                finding.note(format!("on {} of the {} proxies it attaches to", self.runs.len(), self.attached))
            } else {
                finding
            };
        }
        let mut kinds: Vec<&str> = self.runs.iter().map(|run| run.run.config.proxy.kind.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        finding.judged_on(&kinds)
    }
}

impl<'a> Context<'a> {
    /// The proxies on which a patch passes a test. A reference configuration counts only if no part of the patch's
    /// match was left out for it.
    pub(crate) fn seen<'c>(
        &'c self,
        view: &PatchView<'a>,
        test: impl Fn(&PatchRun<'c, 'a>) -> bool,
    ) -> Option<Seen<'c, 'a>> {
        self.seen_if(view, |run| exact(run.run, view) && test(run))
    }

    /// The same, but reference configurations also count if parts of the match were left out: for facts that hold for
    /// every listener, cluster or route that could be meant.
    pub(crate) fn seen_if<'c>(
        &'c self,
        view: &PatchView<'a>,
        test: impl Fn(&PatchRun<'c, 'a>) -> bool,
    ) -> Option<Seen<'c, 'a>> {
        for knowledge in [Knowledge::Dump, Knowledge::Reference] {
            let mut attached = 0;
            let of_kind =
                self.on_proxies(view.filter_index, view.patch.index).filter(|run| run.run.knowledge == knowledge);
            let runs: Vec<_> = of_kind.inspect(|_| attached += 1).filter(|run| test(run)).collect();
            if !runs.is_empty() {
                return Some(Seen { runs, attached });
            }
        }
        None
    }

    /// The patch for a number of a run.
    pub(crate) fn view(&self, run: &ProxyRun<'_>, id: PatchId) -> Option<PatchView<'a>> {
        let planned = run.plan.get(id);
        let filter = self.filters.get(planned.filter)?;
        let patch = filter.patches.get(planned.built.patch.index)?;
        let built = self.program.patches(planned.filter).get(patch.index);
        Some(self.view_of(planned.filter, filter, patch, built))
    }
}

/// The keys of a path of the engine, up to the first list item.
fn keys_of(path: &str) -> Vec<Step> {
    let mut keys = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix("[\"") {
            let Some((key, after)) = quoted.split_once("\"]") else { break };
            keys.push(Step::from(key));
            rest = after;
        } else if rest.starts_with('[') {
            break;
        } else {
            let (key, after) = rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()));
            keys.push(Step::from(key));
            rest = after;
        }
        rest = rest.strip_prefix('.').unwrap_or(rest);
    }
    keys
}

/// Whether a run uses the match as written: a dump, or a reference configuration for which no part of the match was
/// left out.
pub(crate) fn exact(run: &ProxyRun<'_>, view: &PatchView<'_>) -> bool {
    run.knowledge == Knowledge::Dump || view.as_written
}

impl PatchRun<'_, '_> {
    /// Whether it changed anything here, even temporarily.
    pub fn changes(&self) -> bool {
        self.run.judged.changed(self.id)
    }

    /// Whether the patch runs on this proxy: release, node metadata and context match, and the patch is valid.
    pub(crate) fn runs(&self) -> bool {
        self.planned.proxy_miss.is_none() && self.planned.status == crate::engine::program::Status::Ready
    }

    /// Whether an effect of some kind was noted.
    pub(crate) fn has(&self, test: impl Fn(&Effect) -> bool) -> bool {
        self.trace.effects.iter().any(|(_, effect)| test(effect))
    }
}

impl PatchView<'_> {
    /// The place in the patch's value of a path of the engine (`a.b["key"].c`, proto names), or of the deepest existing
    /// key on it. A list item ends the path, since its number is that in the proxy's list, not in the value.
    pub(crate) fn value_path_span(&self, path: &str) -> Span {
        self.value_place(&keys_of(path))
    }

    /// The place in the patch's value at a route of proto names, map keys and items of the value's own lists, or of the
    /// deepest existing part.
    pub(crate) fn value_place(&self, steps: &[Step]) -> Span {
        let mut route: Vec<Step> = Vec::new();
        let mut node = self.node(&["patch", "value"]);
        for step in steps {
            let next = match step {
                Step::Item(item) => node.and_then(|node| Some((step.clone(), node.items().get(*item)?))),
                Step::Key(key) => node.and_then(|node| {
                    let like = || node.entries().iter().find(|entry| walk::same(&entry.key, key));
                    node.entry(key).or_else(like).map(|entry| (Step::from(entry.key.as_str()), &entry.value))
                }),
            };
            let Some((step, below)) = next else { break };
            route.push(step);
            node = Some(below);
        }
        self.value_route_span(&route)
    }
}

impl<'a> ProxyRun<'a> {
    /// A resource as istiod generates it, before patches.
    pub(crate) fn before(&self, kind: ResourceKind, name: &str) -> Option<Tree<'_>> {
        let (index, _) = self.config.generated(kind).find(|(_, resource)| resource.name == name)?;
        engine::open(self.config, index, self.plan)
    }

    /// A resource as istiod sends it after patching; `None` if it was removed.
    pub(crate) fn after(&self, kind: ResourceKind, name: &str) -> Option<Cow<'_, Tree<'a>>> {
        let mut patched = self.judged.patched.resources.iter().filter(|one| one.kind == kind && one.name == name);
        if let Some(first) = patched.next() {
            // One that was removed may have been added again.
            let sent = first.tree.as_deref().or_else(|| patched.find_map(|one| one.tree.as_deref()));
            return sent.map(Cow::Borrowed);
        }
        let (index, _) = self.config.generated(kind).find(|(_, resource)| resource.name == name)?;
        let touched = self.judged.patched.resources.iter().any(|one| one.source == Some(index));
        if touched { None } else { engine::look(self.config, index, self.plan) }
    }

    /// Every listener as istiod sends it after patching, by name.
    pub(crate) fn listeners_after(&self) -> BTreeMap<&str, Cow<'_, Tree<'a>>> {
        let patched = self.judged.patched.resources.iter();
        let touched: HashSet<usize> = patched.clone().filter_map(|one| one.source).collect();
        let mut listeners = BTreeMap::new();
        for (index, resource) in
            self.config.generated(ResourceKind::Listener).filter(|(index, _)| !touched.contains(index))
        {
            if let Some(tree) = engine::look(self.config, index, self.plan) {
                listeners.entry(&*resource.name).or_insert(tree);
            }
        }
        for one in patched.filter(|one| one.kind == ResourceKind::Listener) {
            if let Some(tree) = &one.tree {
                listeners.insert(one.name.as_str(), Cow::Borrowed(tree));
            }
        }
        listeners
    }

    /// Every route configuration and listener of the proxy, as istiod sends it.
    pub(crate) fn traffic_after(&self, mut look: impl FnMut(ResourceKind, &str, &Tree<'_>)) {
        let names: BTreeSet<&str> = self.config.generated(ResourceKind::Route).map(|(_, one)| &*one.name).collect();
        for name in names {
            if let Some(routes) = self.after(ResourceKind::Route, name) {
                look(ResourceKind::Route, name, &routes);
            }
        }
        for (name, listener) in self.listeners_after() {
            look(ResourceKind::Listener, name, &listener);
        }
    }

    /// The cluster of the proxy that a name most likely means.
    pub(crate) fn cluster_like(&self, wanted: &str) -> Option<String> {
        let patched = self.judged.patched.resources.iter().filter(|one| one.kind == ResourceKind::Cluster);
        let added = patched.filter(|one| one.tree.is_some()).map(|one| one.name.as_str());
        let generated = self.config.of_kind(ResourceKind::Cluster).map(|one| &*one.name);
        cluster_like(wanted, generated.chain(added)).map(str::to_owned)
    }

    /// The object at a place as istiod sends it.
    pub(crate) fn object(&self, place: &Place) -> Option<Tree<'a>> {
        self.with_object(place, |object| Some(object.clone()))
    }

    /// What a function finds in the object at a place as istiod sends it.
    pub(crate) fn with_object<T>(&self, place: &Place, look: impl FnOnce(&Tree<'a>) -> Option<T>) -> Option<T> {
        let whole = self.after(place.kind, &place.resource)?;
        let mut at: &Tree<'_> = &whole;
        if let Some(name) = &place.listener_filter {
            return look(named(at, "listener_filters", name)?);
        }
        if let Some((index, name)) = &place.chain {
            at = match index {
                Some(index) => moved(at.get("filter_chains")?.items(), *index, name)?,
                None => at.get("default_filter_chain")?,
            };
        }
        if let Some(name) = &place.filter {
            at = named(at, "filters", name)?;
        }
        if let Some(name) = &place.sub_filter {
            return look(named(&at.get("typed_config")?.readable(), "http_filters", name)?);
        }
        let inline = match place.inline_route {
            Some(_) => Some(
                at.get("filters")?
                    .items()
                    .iter()
                    .find_map(|filter| filter.get("typed_config")?.readable().get("route_config").cloned())?,
            ),
            None => None,
        };
        at = inline.as_ref().unwrap_or(at);
        if let Some(name) = &place.vhost {
            at = named(at, "virtual_hosts", name)?;
        }
        if let Some((index, name)) = &place.route {
            at = moved(at.get("routes")?.items(), *index, name)?;
        }
        look(at)
    }

    /// The value at a route of keys below an object, as istiod sends it; `Any`s are opened on the way.
    pub(crate) fn below<'k>(&self, place: &Place, keys: impl IntoIterator<Item = &'k str>) -> Option<Tree<'a>> {
        let keys: Vec<&str> = keys.into_iter().collect();
        self.with_below(place, &keys, |tree| Some(tree.clone()))
    }

    /// What a function finds in the value at a route of keys below an object, as istiod sends it; `Any`s are opened on the way.
    pub(crate) fn with_below<T>(
        &self,
        place: &Place,
        keys: &[&str],
        look: impl FnOnce(&Tree<'a>) -> Option<T>,
    ) -> Option<T> {
        self.with_object(place, |object| descend(object, keys, look))
    }

    /// Every listener that patches changed, as istiod sends it.
    pub(crate) fn changed_listeners(&self) -> impl Iterator<Item = (&str, &Tree<'_>)> {
        let listeners = self.judged.patched.resources.iter().filter(|one| one.kind == ResourceKind::Listener);
        listeners.filter_map(|one| Some((one.name.as_str(), one.tree.as_deref()?)))
    }

    /// The virtual hosts after all patches of every route configuration that patches changed, each with its name.
    pub(crate) fn changed_virtual_hosts(&self) -> impl Iterator<Item = (&str, &Tree<'_>)> {
        let routes = self.judged.patched.resources.iter().filter(|one| one.kind == ResourceKind::Route);
        let routes = routes.filter_map(|one| Some((one.name.as_str(), one.tree.as_deref()?.get("virtual_hosts")?)));
        routes.flat_map(|(name, hosts)| hosts.items().iter().map(move |host| (name, host)))
    }
}

fn descend<'a, T>(tree: &Tree<'a>, keys: &[&str], look: impl FnOnce(&Tree<'a>) -> Option<T>) -> Option<T> {
    fn plain(key: &str) -> impl Iterator<Item = u8> {
        key.bytes().filter(|byte| *byte != b'_').map(|byte| byte.to_ascii_lowercase())
    }
    let opened = tree.readable();
    let Some((key, rest)) = keys.split_first() else { return look(&opened) };
    let (_, next) = opened.entries().iter().find(|(name, _)| plain(name).eq(plain(key)))?;
    descend(next, rest, look)
}

/// The item that had this index and name when a patch reached it: later insertions before it moved it.
fn moved<'t, 'a>(items: &'t [Tree<'a>], index: usize, name: &str) -> Option<&'t Tree<'a>> {
    let there = items.get(index)?;
    let named = || items.get(index..)?.iter().find(|item| item.name() == name);
    if name.is_empty() || there.name() == name { Some(there) } else { named().or(Some(there)) }
}

fn named<'t, 'a>(tree: &'t Tree<'a>, list: &str, name: &str) -> Option<&'t Tree<'a>> {
    tree.get(list)?.items().iter().find(|item| item.name() == name)
}

/// The filter chains of a listener, the default one last.
pub(crate) fn filter_chains<'l, 't>(listener: &'l Tree<'t>) -> impl Iterator<Item = &'l Tree<'t>> {
    let chains = listener.get("filter_chains").map(Tree::items).unwrap_or_default();
    chains.iter().chain(listener.get("default_filter_chain"))
}

/// A list of filters of a listener.
pub(crate) struct FilterList<'l, 't> {
    /// HTTP filters (otherwise network filters).
    pub http: bool,
    /// The filters.
    pub filters: Cow<'l, [Tree<'t>]>,
}

/// The lists of network and HTTP filters of a listener.
pub(crate) fn filter_lists<'l, 't>(listener: &'l Tree<'t>) -> Vec<FilterList<'l, 't>> {
    let mut lists = Vec::new();
    for chain in filter_chains(listener) {
        let filters = chain.get("filters").map(Tree::items).unwrap_or_default();
        lists.push(FilterList { http: false, filters: Cow::Borrowed(filters) });
        for config in filters.iter().filter_map(|filter| filter.get("typed_config")) {
            let filters = match config.readable() {
                Cow::Borrowed(config) => config.get("http_filters").map(|list| Cow::Borrowed(list.items())),
                Cow::Owned(config) => config.get("http_filters").map(|list| Cow::Owned(list.items().to_vec())),
            };
            lists.extend(filters.map(|filters| FilterList { http: true, filters }));
        }
    }
    lists
}

/// The lists that patches changed; unchanged parts of the dump are not even parsed.
pub(crate) fn changed_filter_lists<'l, 't>(listener: &'l Tree<'t>) -> impl Iterator<Item = (bool, &'l [Tree<'t>])> {
    let filters = filter_chains(listener).map(|chain| chain.get("filters").map(Tree::items).unwrap_or_default());
    let lists = filters.flat_map(|filters| {
        let inner = filters.iter().filter_map(|filter| filter.get("typed_config")?.get("http_filters"));
        std::iter::once((false, filters)).chain(inner.map(|list| (true, list.items())))
    });
    lists.filter(|(_, filters)| filters.iter().any(|filter| PatchId::of(filter.origin).is_some()))
}

/// Whether filters are terminal, by the identity of their configuration: most lists share it.
type Terminal = HashMap<*const (), bool>;

/// Every filter of the proxy that comes after a terminal one because a patch changed its list.
fn behind_terminal(run: &ProxyRun<'_>, known: &mut Terminal) -> Vec<Behind> {
    let mut found = Vec::new();
    let brought = |filter: &Tree<'_>| PatchId::of(filter.origin);
    for (_, listener) in run.changed_listeners() {
        for (http, filters) in changed_filter_lists(listener) {
            let mut ends = |filter: &Tree<'_>| {
                let judge = || terminal(http, &config_type(filter));
                let config = filter.get("typed_config");
                config.map_or_else(judge, |config| *known.entry(config.identity()).or_insert_with(judge))
            };
            let Some(first) = filters.iter().position(&mut ends) else { continue };
            for filter in &filters[first + 1..] {
                let both = ends(filter);
                // Of two terminal filters, the one that a patch added is to blame, wherever it is.
                let (filter, other) = match brought(filter) {
                    None if both => (&filters[first], filter),
                    _ => (filter, &filters[first]),
                };
                if let Some(id) = brought(filter) {
                    found.push(Behind { id, filter: filter.name().to_owned(), other: other.name().to_owned(), both });
                }
            }
        }
    }
    found
}

/// The same for each run.
fn all_behind_terminal(cx: &Context<'_>) -> Vec<Arc<[Behind]>> {
    let (mut judged, mut known) = (HashMap::new(), Terminal::new());
    let mut all = Vec::with_capacity(cx.runs.len());
    for run in &cx.runs {
        // Equal runs share a result, so the numbers of their patches are the same.
        let of = judged.entry(Arc::as_ptr(&run.judged)).or_insert_with(|| behind_terminal(run, &mut known).into());
        all.push(Arc::clone(of));
    }
    all
}

/// How a rule reports filters after terminal ones.
pub(crate) struct Telling {
    /// Whether it reports two terminal filters (otherwise other filters after a terminal one).
    pub both: bool,
    /// What is wrong.
    pub message: fn(&Behind) -> String,
    /// Label at the operation of the patch.
    pub label: &'static str,
    /// What to write instead, from the place of the patch and the names of the other filters.
    pub help: fn(ApplyTo, &BTreeSet<String>) -> String,
}

/// What a patch does on the proxies where it breaks a list.
struct Broken {
    labels: Vec<String>,
    message: String,
    others: BTreeSet<String>,
}

/// Reports every filter that a patch added after a terminal one, or every second terminal filter.
pub(crate) fn tell_behind_terminal(rule: &'static RuleInfo, cx: &Context<'_>, telling: &Telling, out: &mut Findings) {
    let mut found: BTreeMap<(usize, usize), Broken> = BTreeMap::new();
    let all = cx.behind.get_or_init(|| all_behind_terminal(cx));
    for (run, behind) in cx.runs.iter().zip(all) {
        for behind in behind.iter().filter(|behind| behind.both == telling.both) {
            let planned = run.plan.get(behind.id);
            let entry = found.entry((planned.filter, planned.built.patch.index));
            let broken = entry.or_insert_with(|| Broken {
                labels: Vec::new(),
                message: (telling.message)(behind),
                others: BTreeSet::new(),
            });
            broken.labels.push(run.label().to_owned());
            broken.others.insert(behind.other.clone());
        }
    }
    for view in cx.patches() {
        let Some(Broken { labels, message, others }) = found.get(&(view.filter_index, view.patch.index)) else {
            continue;
        };
        let Some(seen) = cx.seen_if(&view, |run| labels.iter().any(|label| label == run.run.label())) else { continue };
        let finding = Finding::new(rule, view.value_span(&["patch", "operation"]), message.clone())
            .label(telling.label)
            .rejected("Envoy rejects the whole listener when a filter follows a terminal one")
            .snippet((telling.help)(view.patch.apply_to, others))
            .of(view.filter, Some(view.patch.index));
        out.push(seen.tell(finding));
    }
}

/// Message name of a filter's configuration, looking inside a TypedStruct; empty if there is none.
pub(crate) fn config_type<'t>(filter: &'t Tree<'_>) -> Cow<'t, str> {
    let Some(config) = filter.get("typed_config") else { return Cow::Borrowed("") };
    let name = config.type_name().unwrap_or_default();
    if !is_typed_struct(&name) {
        return name;
    }
    if let Some(url) = config.get("type_url") {
        return Cow::Borrowed(type_name(url.as_str().unwrap_or_default()));
    }
    let mut config = config.clone();
    config.open_partly(&["type_url"]);
    Cow::Owned(type_name(config.str_at("type_url")).to_owned())
}

/// Network filters and HTTP filters that end their chain: Envoy rejects a listener in which another filter follows
/// (`isTerminalFilter` in Envoy's source, 1.30 to 1.38).
pub(crate) fn terminal(http: bool, type_name: &str) -> bool {
    if http {
        return type_name == "envoy.extensions.filters.http.router.v3.Router";
    }
    let kind = type_name.strip_prefix("envoy.extensions.filters.network.").unwrap_or_default();
    matches!(
        kind,
        "http_connection_manager.v3.HttpConnectionManager"
            | "tcp_proxy.v3.TcpProxy"
            | "redis_proxy.v3.RedisProxy"
            | "thrift_proxy.v3.ThriftProxy"
            | "dubbo_proxy.v3.DubboProxy"
            | "echo.v3.Echo"
            | "direct_response.v3.Config"
    )
}

/// Names of the filters that patches insert with `config_discovery`.
pub(crate) fn discovered<'c>(cx: &'c Context<'_>) -> impl Iterator<Item = String> + 'c {
    cx.patches().filter_map(|view| {
        let value = view.built.and_then(|built| built.value.as_ref())?;
        value.get("config_discovery").map(|_| value.name().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_with_dots_stay_whole() {
        let steps = |keys: &[&str]| keys.iter().map(|key| Step::from(*key)).collect::<Vec<_>>();
        assert_eq!(keys_of("typed_config.@type"), steps(&["typed_config", "@type"]));
        assert_eq!(keys_of("options[\"envoy.http.v3\"].idle.x"), steps(&["options", "envoy.http.v3", "idle", "x"]));
        assert_eq!(keys_of("a.list[3].b"), steps(&["a", "list"]));
        assert_eq!(keys_of("a[\"b"), steps(&["a"]));
    }
}

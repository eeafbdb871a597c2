//! What a command reads from a cluster before it reads proxies: objects, control planes, what was unavailable.

use super::api::{Cluster, Fault};
use super::elsewhere::{self, Elsewhere};
use super::facts::{self, DEFAULT_REVISION, Facts, REVISION, TAG, mesh_config_name};
use super::kinds::{self, Kind, Needs};
use super::list::{Listed, Selection, list, name_kind};
use super::objects;
use crate::load::{Loaded, Options, yaml_text};
use crate::model::inventory::DEFAULT_ROOT_NAMESPACE;
use crate::model::owner::{WorkloadKind, behind};
use crate::source::{Code, Problem, Severity};
use futures::{StreamExt, join, stream, try_join};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The part of the mesh in scope.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// A namespace; `None`: all of them.
    pub namespace: Option<String>,
    /// Read the objects of all namespaces and keep them for an istiod, whatever the namespace in scope.
    pub whole: bool,
    /// Where istiod runs.
    pub istio_namespace: String,
    /// Root namespace; overrides the mesh config.
    pub root_namespace: Option<String>,
    /// `-l`: selects the EnvoyFilters in scope.
    pub labels: Option<String>,
    /// `--field-selector`: the same.
    pub fields: Option<String>,
}

/// What was read.
#[derive(Debug)]
pub struct Reading {
    /// Texts, objects and problems, as if read from files.
    pub loaded: Loaded,
    /// The control planes.
    pub facts: Facts,
    /// The EnvoyFilters in scope, `namespace/name`; the others only take effect. `None`: all.
    pub asked: Option<BTreeSet<String>>,
    /// What could not be listed, each with its namespace; `None`: in all namespaces.
    pub unlisted: Vec<(&'static Kind, Option<String>)>,
}

/// Number of concurrent lists.
const AT_ONCE: usize = 4;

/// Reads what a command needs. Fails only when the cluster cannot be reached at all.
pub async fn read(cluster: &Cluster, needs: &Needs, scope: &Scope) -> Result<Reading, Fault> {
    let mut reader = Reader {
        cluster,
        needs,
        scope,
        objects: BTreeMap::new(),
        tags: Vec::new(),
        problems: Vec::new(),
        unlisted: Vec::new(),
        uncounted: false,
    };
    // Request everything at once, for the root namespace that nearly every mesh has.
    let asked = scope.namespace.as_deref().filter(|_| !scope.whole);
    let likely = scope.root_namespace.clone().unwrap_or_else(|| DEFAULT_ROOT_NAMESPACE.to_owned());
    let mut likely = wanted(needs, asked, &BTreeSet::from([likely]));
    let kept_by = reader.reader();
    let lists = async { Ok(lists(cluster, std::mem::take(&mut likely.places), asked, kept_by).await) };
    let control_plane = async { Ok(reader.control_plane().await) };
    let own = asked.filter(|_| likely.own);
    let own = async {
        Ok(match own {
            Some(namespace) => Some(namespace_object(cluster, namespace).await),
            None => None,
        })
    };
    let ((kubernetes, unknown), roots, answers, own) = try_join!(kubernetes(cluster), control_plane, lists, own)?;
    // The version decides nothing; it is reported if requested.
    if let Some(fault) = unknown.filter(|_| *needs == kinds::VERSION) {
        let message = format!("cannot read the version of Kubernetes: {fault}");
        reader.problem(Code::NotAllowed, Severity::Warning, message, None);
    }
    reader.lists(&roots, answers, own).await;
    let asked = reader.asked().await;
    let mut loaded = Loaded::default();
    let options = Options { keep_documents: scope.whole, ..Options::default() };
    let load = |loaded: &mut Loaded, reader: &mut Reader<'_>| {
        for ((kind, namespace, name), text) in std::mem::take(&mut reader.objects) {
            loaded.add_text(&source_name(&cluster.context, &kind, &namespace, &name), text, &options);
        }
        let mut facts = Facts::of(&loaded.inventory, kubernetes.clone());
        facts.add_tags(reader.tags.iter());
        facts.uncounted = reader.uncounted;
        facts
    };
    let mut facts = load(&mut loaded, &mut reader);
    let others = elsewhere::find(cluster, &scope.istio_namespace, &loaded.inventory, &facts).await;
    if !others.is_empty() {
        reader.elsewhere(others, &roots).await;
        facts = load(&mut loaded, &mut reader);
    }
    let unknown = elsewhere::unknown(&loaded.inventory, &facts);
    reader.problems.extend(elsewhere::problem(&unknown, &facts));
    let Reader { problems, unlisted, .. } = reader;
    loaded.problems.splice(0..0, problems);
    Ok(Reading { loaded, facts, asked, unlisted })
}

/// The version of Kubernetes, or why it is unknown. Fails when the cluster cannot be reached.
async fn kubernetes(cluster: &Cluster) -> Result<(String, Option<Fault>), Fault> {
    match cluster.json("/version", false).await {
        Ok(version) => Ok((version.get("gitVersion").and_then(Value::as_str).unwrap_or_default().to_owned(), None)),
        Err(fault @ (Fault::NotAllowed(_) | Fault::NotFound(_) | Fault::Garbled(_))) => {
            Ok((String::new(), Some(fault)))
        }
        Err(fault) => Err(fault),
    }
}

/// A kind, and the namespace unless it is all of them.
type Place = (&'static Kind, Option<String>);

/// The lists to read.
struct Wanted {
    places: Vec<Place>,
    /// Whether the Namespace in scope is read by itself: rights in one namespace include reading that Namespace, but not listing
    /// them.
    own: bool,
}

fn wanted(needs: &Needs, asked: Option<&str>, roots: &BTreeSet<String>) -> Wanted {
    let places = places(needs, asked, roots).into_iter();
    let mut places: Vec<Place> = places.map(|(kind, namespace)| (kind, namespace.map(str::to_owned))).collect();
    let before = places.len();
    if asked.is_some_and(|asked| !roots.contains(asked)) {
        places.retain(|(kind, _)| *kind != kinds::NAMESPACE);
    }
    Wanted { own: places.len() < before, places }
}

/// The result of a list.
struct Answer {
    place: Place,
    all: Listed<Found>,
    /// The result in one namespace, if not all of them may be listed.
    home: Option<(String, Listed<Found>)>,
}

/// Lists a few places at the same time; the answers keep their order.
async fn lists(cluster: &Cluster, places: Vec<Place>, asked: Option<&str>, reader: objects::Reader) -> Vec<Answer> {
    let fallback = asked.unwrap_or(&cluster.namespace);
    let work = places.into_iter().map(|place| async move {
        let (kind, namespace) = (place.0, place.1.as_deref());
        let labels = (kind == kinds::REVISION_TAG).then_some(TAG);
        let selection = Selection { namespace, labels, fields: None };
        let all = list(cluster, kind, selection, |object| found(object, reader)).await;
        let refused = matches!(all.fault, Some(Fault::NotAllowed(_)));
        if !(refused && namespace.is_none() && kind.namespaced) {
            return Answer { place, all, home: None };
        }
        // Without rights for all namespaces, fall back to one.
        let selection = Selection { namespace: Some(fallback), labels, fields: None };
        let home = list(cluster, kind, selection, |object| found(object, reader)).await;
        Answer { place, all, home: Some((fallback.to_owned(), home)) }
    });
    stream::iter(work).buffered(AT_ONCE).collect().await
}

/// One Namespace.
async fn namespace_object(cluster: &Cluster, name: &str) -> Result<Value, Fault> {
    cluster.json(&kinds::NAMESPACE.path("v1", None, Some(name)), false).await
}

/// The ConfigMap with the mesh configuration of a revision: its name and the API server's answer.
pub(crate) async fn mesh_config(cluster: &Cluster, namespace: &str, revision: &str) -> (String, Result<Value, Fault>) {
    let name = mesh_config_name(revision);
    let path = kinds::CONFIG_MAP.path("v1", Some(namespace), Some(&name));
    let named = |mut object: Value| {
        name_kind(&mut object, kinds::CONFIG_MAP.kind, kinds::CONFIG_MAP.version());
        object
    };
    (name, cluster.json(&path, false).await.map(named))
}

/// The kinds that a command needs, each with the namespace to read, or `None` for all. `roots`: the root namespaces of all
/// control planes.
pub(crate) fn places<'n>(
    needs: &Needs,
    asked: Option<&'n str>,
    roots: &'n BTreeSet<String>,
) -> Vec<(&'static Kind, Option<&'n str>)> {
    let mut places = Vec::new();
    for &kind in needs.kinds {
        match asked {
            // Filters of a root namespace apply everywhere.
            Some(namespace) if kind == kinds::ENVOY_FILTER => {
                places.push((kind, Some(namespace)));
                let others = roots.iter().map(String::as_str).filter(|root| *root != namespace);
                places.extend(others.map(|root| (kind, Some(root))));
            }
            // Filters of a root namespace may select objects anywhere.
            Some(namespace) if kind.namespaced && !roots.contains(namespace) => places.push((kind, Some(namespace))),
            _ => places.push((kind, None)),
        }
    }
    places
}

/// The name of an object in messages.
pub(crate) fn source_name(context: &str, kind: &str, namespace: &str, name: &str) -> String {
    match namespace {
        "" => format!("cluster://{context}/{kind}/{name}"),
        _ => format!("cluster://{context}/{kind}/{namespace}/{name}"),
    }
}

/// Kind, namespace and name of an object.
type Key = (String, String, String);

/// An object of a list.
enum Found {
    /// An object to load, as text: that takes a fifth of the memory of its values, and meshes have many thousands of pods.
    Text(Key, String),
    /// A webhook configuration of a revision tag, of which only labels are read.
    Tag(Value),
}

/// The kept parts of an object.
fn found(mut object: Value, reader: objects::Reader) -> Option<Found> {
    if !objects::keep(&mut object, reader) {
        return None;
    }
    let text = |keys: &[&str]| {
        let value = keys.iter().try_fold(&object, |value, key| value.get(key));
        value.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let kind = text(&["kind"]);
    if kind == kinds::REVISION_TAG.kind {
        return Some(Found::Tag(object));
    }
    // Two kinds are named Gateway.
    let of_gateway_api = text(&["apiVersion"]).starts_with("gateway.networking.k8s.io/");
    let name = if of_gateway_api { format!("{kind}.gateway.networking.k8s.io") } else { kind.clone() };
    let key = (name, text(&["metadata", "namespace"]), text(&["metadata", "name"]));
    // Messages quote lines only from EnvoyFilters.
    let yaml = (kind == kinds::ENVOY_FILTER.kind).then(|| yaml_text::write(&object).ok()).flatten();
    Some(Found::Text(key, yaml.unwrap_or_else(|| object.to_string())))
}

/// The kept parts of an object, for uses beyond its text.
fn kept(mut object: Value, reader: objects::Reader) -> Option<Value> {
    objects::keep(&mut object, reader).then_some(object)
}

struct Reader<'r> {
    cluster: &'r Cluster,
    needs: &'r Needs,
    scope: &'r Scope,
    /// Sorted, regardless of the order of answers, and each object once.
    objects: BTreeMap<Key, String>,
    tags: Vec<Value>,
    problems: Vec<Problem>,
    unlisted: Vec<(&'static Kind, Option<String>)>,
    /// Whether istiod's pods could not be listed.
    uncounted: bool,
}

impl Reader<'_> {
    /// The reader of kept objects.
    fn reader(&self) -> objects::Reader {
        if self.needs.istiod { objects::Reader::Istiod } else { objects::Reader::Questions }
    }

    fn take(&mut self, objects: impl IntoIterator<Item = Found>) {
        for object in objects {
            match object {
                Found::Text(key, text) => drop(self.objects.insert(key, text)),
                Found::Tag(tag) => self.tags.push(tag),
            }
        }
    }

    fn problem(&mut self, code: Code, severity: Severity, message: String, help: Option<String>) {
        self.problems.push(Problem { code, severity, span: None, message, help });
    }

    /// istiod's pods and the mesh configuration of every revision; returns their root namespaces.
    async fn control_plane(&mut self) -> BTreeSet<String> {
        let (namespace, reader) = (self.scope.istio_namespace.clone(), self.reader());
        let selection = Selection { namespace: Some(&namespace), labels: Some(facts::ISTIOD), fields: None };
        let pods = list(self.cluster, kinds::POD, selection, |object| kept(object, reader));
        let (Listed { objects, fault }, default) = join!(pods, mesh_config(self.cluster, &namespace, DEFAULT_REVISION));
        if let Some(fault) = fault {
            self.uncounted = true;
            let message = format!(
                "cannot list istiod's pods in namespace {namespace}: {fault}; releases and revisions of control planes are \
                 unknown, and the release is taken from the proxies"
            );
            let help = matches!(fault, Fault::NotAllowed(_)).then(|| rbac(self.needs));
            self.problem(Code::NoControlPlane, Severity::Error, message, help);
        }
        let known = self.problems.is_empty();
        if objects.is_empty() && known {
            let message = format!("no istiod runs in namespace {namespace}; its release is taken from the proxies");
            let help = "set its namespace with --istio-namespace, or its release with --istio-version";
            self.problem(Code::NoControlPlane, Severity::Warning, message, Some(help.to_owned()));
        }
        let mut revisions: BTreeSet<String> = BTreeSet::new();
        for object in &objects {
            let labels = object.get("metadata").and_then(|metadata| metadata.get("labels"));
            let revision = labels.and_then(|labels| labels.get(REVISION)).and_then(Value::as_str);
            revisions.extend(revision.map(str::to_owned));
        }
        self.take(objects.into_iter().filter_map(|object| found(object, reader)));
        let mut roots = BTreeSet::new();
        revisions.remove(DEFAULT_REVISION);
        let others = revisions.iter().map(|revision| mesh_config(self.cluster, &namespace, revision));
        let others: Vec<_> = stream::iter(others).buffered(AT_ONCE).collect().await;
        for (name, answer) in std::iter::once(default).chain(others) {
            roots.extend(self.settings(&namespace, &name, answer));
        }
        if let Some(given) = &self.scope.root_namespace {
            return BTreeSet::from([given.clone()]);
        }
        if roots.is_empty() {
            roots.insert(DEFAULT_ROOT_NAMESPACE.to_owned());
        }
        roots
    }

    /// Adds the mesh configuration of a control plane, and returns its root namespace.
    fn settings(&mut self, namespace: &str, name: &str, answer: Result<Value, Fault>) -> Option<String> {
        let home = namespace == self.scope.istio_namespace;
        let options = match name.strip_prefix("istio-") {
            None if home => String::new(),
            Some(revision) if home => format!(" --revision {revision}"),
            revision => format!(" --revision {namespace}/{}", revision.unwrap_or(DEFAULT_REVISION)),
        };
        match answer {
            Ok(object) => {
                let root = root_namespace(&object).unwrap_or_else(|| DEFAULT_ROOT_NAMESPACE.to_owned());
                self.take(found(object, self.reader()));
                Some(root)
            }
            Err(Fault::NotFound(_)) => None,
            Err(fault) => {
                let without = kinds::CONFIG_MAP.without;
                let message = format!("cannot read ConfigMap {namespace}/{name}: {fault}; {without}");
                let help = matches!(fault, Fault::NotAllowed(_)).then(|| rbac_with(self.needs, &options));
                self.problem(Code::NoMeshConfig, Severity::Error, message, help);
                None
            }
        }
    }

    /// Adds control planes outside istiod's namespace: pods, settings, and the EnvoyFilters of their root namespaces.
    async fn elsewhere(&mut self, others: Elsewhere, roots: &BTreeSet<String>) {
        let reader = self.reader();
        let kept = others.pods.into_iter().filter_map(|object| kept(object, reader));
        let pods: Vec<Found> = kept.filter_map(|object| found(object, reader)).collect();
        if !pods.is_empty() {
            self.problems.retain(|problem| problem.code != Code::NoControlPlane || problem.severity == Severity::Error);
        }
        self.take(pods);
        let mut more = BTreeSet::new();
        for (namespace, revision) in others.planes {
            let (name, answer) = mesh_config(self.cluster, &namespace, &revision).await;
            more.extend(self.settings(&namespace, &name, answer));
        }
        let asked =
            self.scope.namespace.as_deref().filter(|_| !self.scope.whole && self.scope.root_namespace.is_none());
        let Some(asked) = asked.filter(|asked| !roots.contains(*asked)) else { return };
        for root in more.iter().filter(|root| !roots.contains(*root) && *root != asked) {
            let selection = Selection { namespace: Some(root), labels: None, fields: None };
            let listed = list(self.cluster, kinds::ENVOY_FILTER, selection, |object| found(object, reader)).await;
            self.take(listed.objects);
            self.not_listed(kinds::ENVOY_FILTER, Some(root), listed.fault, None);
        }
    }

    /// Adds the wanted parts of some answers, and requests what they lack. `own`: the Namespace in scope, if it was requested.
    async fn lists(&mut self, roots: &BTreeSet<String>, answers: Vec<Answer>, own: Option<Result<Value, Fault>>) {
        let (cluster, scope) = (self.cluster, self.scope);
        let asked = scope.namespace.as_deref().filter(|_| !scope.whole);
        let wanted = wanted(self.needs, asked, roots);
        if let Some(namespace) = asked.filter(|_| wanted.own) {
            let answer = match own {
                Some(answer) => answer,
                None => namespace_object(cluster, namespace).await,
            };
            self.namespace(namespace, answer);
        }
        let mut known: Vec<Answer> = Vec::new();
        let mut unknown = Vec::new();
        let mut answers: Vec<Option<Answer>> = answers.into_iter().map(Some).collect();
        for place in &wanted.places {
            let is = |one: &&mut Option<Answer>| one.as_ref().is_some_and(|answer| answer.place == *place);
            match answers.iter_mut().find(is).and_then(Option::take) {
                Some(answer) => known.push(answer),
                None => unknown.push(place.clone()),
            }
        }
        if !unknown.is_empty() {
            known.extend(lists(cluster, unknown, asked, self.reader()).await);
            let order = |answer: &Answer| wanted.places.iter().position(|place| *place == answer.place);
            known.sort_by_key(order);
        }
        let mut number = 0;
        for Answer { place: (kind, namespace), all, home } in known {
            let namespace = namespace.as_deref();
            number += if namespace == asked { all.objects.len() } else { 0 };
            let fault = all.fault;
            self.take(all.objects);
            if let Some((fallback, home)) = home {
                let only = home.fault.is_none().then_some(fallback);
                self.take(home.objects);
                self.not_listed(kind, namespace, fault, only.as_deref());
            } else {
                self.not_listed(kind, namespace, fault, None);
            }
        }
        if let (0, Some(namespace)) = (number, asked)
            && let Err(Fault::NotFound(_)) = namespace_object(cluster, namespace).await
        {
            let message = format!("there is no namespace {namespace} in {}", cluster.place());
            self.problem(Code::NoNamespace, Severity::Error, message, None);
        }
    }

    /// Adds one Namespace; without it, its labels are unknown.
    fn namespace(&mut self, name: &str, answer: Result<Value, Fault>) {
        match answer {
            Ok(mut object) => {
                name_kind(&mut object, kinds::NAMESPACE.kind, "v1");
                self.take(found(object, self.reader()));
            }
            Err(Fault::NotAllowed(_)) if *self.needs == kinds::VERSION => {
                let message = format!("not allowed to read Namespace {name}: {}", kinds::NAMESPACE.without);
                self.problem(Code::NotAllowed, Severity::Warning, message, Some(rbac(self.needs)));
            }
            Err(_) => {}
        }
    }

    /// Reports what could not be listed, and what is unknown because of it.
    fn not_listed(&mut self, kind: &'static Kind, namespace: Option<&str>, fault: Option<Fault>, only: Option<&str>) {
        let Some(fault) = fault else { return };
        // A kind that the cluster does not have has no objects.
        if !matches!(fault, Fault::NotFound(_)) || kind == kinds::ENVOY_FILTER {
            self.unlisted.push((kind, namespace.map(str::to_owned)));
        }
        let what = match kind.group {
            "" | "networking.istio.io" => kind.plural.to_owned(),
            group => format!("{}.{group}", kind.plural),
        };
        let place = namespace.map_or(String::new(), |namespace| format!(" in namespace {namespace}"));
        let whole = self.scope.whole;
        let unseen = self.needs.istiod && (whole || !kinds::LINT.kinds.contains(&kind));
        let without = match () {
            () if unseen && kind != kinds::NODE => kinds::UNSEEN,
            // Those of the root namespace, or of the only other one, are still there.
            () if kind == kinds::ENVOY_FILTER && namespace.is_some() => "they are left out",
            () => kind.without,
        };
        let beside = !kind.namespaced && self.scope.namespace.is_some();
        let (code, severity, message, help) = match (&fault, only) {
            (Fault::NotFound(_), _) if kind == kinds::ENVOY_FILTER => (
                Code::NoIstio,
                Severity::Error,
                format!("{} knows no EnvoyFilters: the CRDs of Istio are not installed", self.cluster.context),
                None,
            ),
            (Fault::NotFound(_), _) => (Code::NoKind, Severity::Info, format!("the cluster has no {what}"), None),
            (Fault::NotAllowed(_), Some(only)) => (
                Code::NotAllowed,
                Severity::Error,
                format!(
                    "not allowed to list {what} in all namespaces: read in namespace {only} only; elsewhere {without}"
                ),
                Some(rbac(self.needs)),
            ),
            (Fault::NotAllowed(_), None) => {
                let optional = !whole && (kind == kinds::NAMESPACE || kind == kinds::REVISION_TAG || beside);
                let severity = match optional {
                    // What `version` prints depends on them.
                    true if *self.needs == kinds::VERSION => Severity::Warning,
                    true => Severity::Info,
                    false => Severity::Error,
                };
                (
                    Code::NotAllowed,
                    severity,
                    format!("not allowed to list {what}{place}: {without}"),
                    Some(rbac(self.needs)),
                )
            }
            (Fault::Interrupted, _) => (
                Code::Interrupted,
                Severity::Error,
                format!("interrupted while listing {what}{place}: {without}"),
                None,
            ),
            (fault, _) => {
                (Code::CannotList, Severity::Error, format!("cannot list {what}{place}: {fault}; {without}"), None)
            }
        };
        self.problem(code, severity, message, help);
    }

    /// The filters that options select, as the API server evaluates the selectors.
    async fn asked(&mut self) -> Option<BTreeSet<String>> {
        let scope = self.scope;
        let names = |objects: &mut dyn Iterator<Item = &Key>| -> BTreeSet<String> {
            objects.map(|(_, namespace, name)| format!("{namespace}/{name}")).collect()
        };
        if scope.labels.is_none() && scope.fields.is_none() {
            let asked = scope.namespace.as_deref()?;
            let of = |(kind, namespace, _): &&Key| kind == kinds::ENVOY_FILTER.kind && namespace == asked;
            return Some(names(&mut self.objects.keys().filter(of)));
        }
        let selection = Selection {
            namespace: scope.namespace.as_deref(),
            labels: scope.labels.as_deref(),
            fields: scope.fields.as_deref(),
        };
        let reader = self.reader();
        let listed = list(self.cluster, kinds::ENVOY_FILTER, selection, |object| found(object, reader)).await;
        self.not_listed(kinds::ENVOY_FILTER, selection.namespace, listed.fault, None);
        let key = |one: Found| match one {
            Found::Text(key, _) => Some(key),
            Found::Tag(_) => None,
        };
        let keys: Vec<Key> = listed.objects.into_iter().filter_map(key).collect();
        Some(names(&mut keys.iter()))
    }
}

/// Sorted names of the objects of a kind, as far as available.
pub(crate) async fn names(cluster: &Cluster, kind: &Kind, namespace: &str) -> Vec<String> {
    let selection = Selection { namespace: kind.namespaced.then_some(namespace), labels: None, fields: None };
    let name = |object: Value| Some(object.get("metadata")?.get("name")?.as_str()?.to_owned());
    let mut names = list(cluster, &Kind { metadata_only: true, ..*kind }, selection, name).await.objects;
    names.sort();
    names
}

/// The names of the workloads, of one kind or of any, that the pods of a namespace belong to.
pub(crate) async fn workloads(cluster: &Cluster, kind: Option<WorkloadKind>, namespace: &str) -> Vec<String> {
    let selection = Selection { namespace: Some(namespace), labels: None, fields: None };
    let workload = |pod: Value| {
        let metadata = pod.get("metadata")?;
        let owners = metadata.get("ownerReferences")?.as_array()?;
        let owner = owners.iter().find(|owner| owner["controller"] == true)?;
        let label = |key: &str| metadata.get("labels")?.get(key)?.as_str();
        let (of, name) = behind(owner["kind"].as_str()?, owner["name"].as_str()?, label);
        kind.is_none_or(|kind| kind.as_str() == of).then(|| name.to_owned())
    };
    list(cluster, &Kind { metadata_only: true, ..*kinds::POD }, selection, workload).await.objects
}

fn rbac(needs: &Needs) -> String {
    rbac_with(needs, "")
}

/// The same with more options of `rbac`.
fn rbac_with(needs: &Needs, options: &str) -> String {
    let alone = !needs.istiod || matches!(needs.command, "capture" | "dump" | "doctor");
    let option = if alone { "" } else { " --istiod" };
    format!("`kubectl envoyfilter rbac {}{option}{options}` prints the role that is needed", needs.command)
}

/// `rootNamespace` of a mesh ConfigMap, found by line; it is parsed properly with the other objects.
fn root_namespace(object: &Value) -> Option<String> {
    let mesh = object.get("data")?.get("mesh")?.as_str()?;
    let value = mesh.lines().find_map(|line| line.strip_prefix("rootNamespace:"))?;
    let value = value.split(" #").next().unwrap_or_default().trim().trim_matches(['"', '\'']);
    (!value.is_empty()).then(|| value.to_owned())
}

//! The objects that a migration writes: new ones, edits of existing ones, pod annotations and mesh settings.

use super::change::{Change, apply, merge_kube_rule, merge_rule, settings_of};
use super::pods::{Place, PodSettings, completed, pod_labels};
use super::settings::Settings;
use super::telemetry::add_item;
use crate::load::yaml_text;
use crate::migrate::base::value::merge;
use crate::migrate::objects::mesh::Mesh;
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::inventory::{Labels, Object};
use crate::model::proxy::{GATEWAY_NAME_LABEL, REVISION_LABEL};
use crate::model::proxy_config::ANNOTATION;
use crate::source::{ErrorMessage, Span};
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;

/// The label that names the filter that an object replaces.
pub(crate) const MIGRATED_FROM: &str = "envoyfilter.dev/migrated-from";

/// One thing to write.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Settings of the proxies that the filter selects (`proxy.istio.io/config`).
    Proxy {
        /// The settings.
        config: Json,
        /// Whether they are for gateways only.
        gateways: bool,
    },
    /// An environment variable of the proxies that the filter selects.
    Environment(&'static str, String),
    /// Settings of the mesh.
    Mesh(Json),
    /// A new object.
    Object(Json),
    /// A new DestinationRule.
    Rule {
        /// The rule: a copy of one that it hides, or an empty one.
        object: Json,
        /// What is added to it.
        settings: Settings,
    },
    /// An edit of an existing object.
    Edit {
        /// Kind, namespace and name.
        object: (&'static str, String, String),
        /// The change.
        change: Change,
    },
}

impl Action {
    /// Whether it adds a rule to an existing object.
    pub(crate) fn adds_rule(&self) -> bool {
        matches!(self, Action::Edit { change: Change::FirstRule(_) | Change::LastKubeRule(_), .. })
    }

    /// The new object.
    pub(crate) fn object(&self) -> Option<&Json> {
        match self {
            Action::Object(object) | Action::Rule { object, .. } => Some(object),
            _ => None,
        }
    }
}

/// A new object and the filters that it replaces.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// The object.
    pub object: Json,
    /// `namespace/name` of the filters.
    pub from: BTreeSet<String>,
}

/// An existing object, before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct Edited {
    /// As read, without fields that the API server adds.
    pub before: Json,
    /// As it should become.
    pub after: Json,
    /// `namespace/name` of the filters.
    pub from: BTreeSet<String>,
    /// Its place in the input.
    pub span: Span,
    /// Whether its text in the input has comments, which the objects do not have.
    pub commented: bool,
    /// That text with the edit, if it has comments and the edit can be made in it.
    pub text: Option<String>,
}

/// Namespace and labels of pods, and whether they are for gateways only.
type PodKey = (String, Vec<(String, String)>, bool);

/// Everything that a migration writes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// New objects.
    pub made: Vec<Made>,
    /// Edited objects.
    pub edited: Vec<Edited>,
    /// Pod annotations.
    pub pods: Vec<PodSettings>,
    /// Mesh settings to merge into `meshConfig`, with the filters that they replace.
    pub mesh: Option<(Json, BTreeSet<String>)>,
    /// Indexes of the new objects by kind, namespace and name.
    names: HashMap<Place, usize>,
    /// The last number behind a wanted name, by kind, namespace and name, and by the filter that the object is written for.
    numbers: HashMap<(Place, Option<String>), usize>,
    /// Indexes of the new objects by merge key, see [`key`].
    keys: HashMap<String, usize>,
    /// Indexes of the edited objects by kind (`KubeGateway` for those of the Gateway API), namespace and name.
    edits: HashMap<Place, usize>,
    /// Indexes of the providers in the mesh settings by name.
    providers: HashMap<String, usize>,
    /// Items of lists in Telemetry objects, see [`item`].
    items: HashSet<String>,
    /// Indexes of pod settings by namespace, labels, and whether they are for gateways only.
    settings: HashMap<PodKey, usize>,
}

/// Kind, namespace and name of an object.
fn place(object: &Json) -> Place {
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    (text(&object["kind"]), text(&object["metadata"]["namespace"]), text(&object["metadata"]["name"]))
}

/// The merge key of new objects that cannot coexist: two DestinationRules for a host would hide each other, and istiod
/// uses only one of two Telemetry or ProxyConfig objects for the same workloads, and one of two VirtualServices for a host in
/// the mesh: their rules join if they select the same clients. Objects of two revisions are for different control planes.
pub(in crate::migrate) fn key(object: &Json) -> Option<String> {
    let clients: BTreeSet<String> = rules(object).map(|rule| rule["match"][0]["sourceLabels"].to_string()).collect();
    let fields: &[&str] = match object["kind"].as_str()? {
        "DestinationRule" => &["host", "workloadSelector"],
        "ProxyConfig" => &["selector"],
        "HTTPRoute" => &["parentRefs"],
        "Telemetry" => &["selector", "targetRefs"],
        "VirtualService" => &["hosts", "gateways", "exportTo"],
        _ => return None,
    };
    let values: Vec<&Json> = fields.iter().map(|field| &object["spec"][*field]).collect();
    Some(json!([object["kind"], object["metadata"]["namespace"], revision(object), values, clients]).to_string())
}

/// The rules of a VirtualService.
fn rules(object: &Json) -> impl Iterator<Item = &Json> {
    object["spec"]["http"].as_array().into_iter().flatten()
}

/// Adds the rules of a new VirtualService to another one for the same host and clients: each matches one port.
fn add_rules(made: &mut Json, object: &Json, fills: &[&str]) {
    let Some(all) = made["spec"]["http"].as_array_mut() else { return };
    let known = |rule: &Json| rule["match"].to_string();
    let mut places: HashMap<String, usize> = all.iter().enumerate().map(|(at, rule)| (known(rule), at)).collect();
    for new in rules(object) {
        if let Some(rule) = places.get(&known(new)).and_then(|at| all.get_mut(*at)) {
            merge_rule(rule, new, fills);
        } else {
            places.insert(known(new), all.len());
            all.push(new.clone());
        }
    }
    // The first rule that matches wins: those for some clients come before those for all.
    all.sort_by_key(|rule| (rule["match"][0]["port"].as_u64(), rule["match"][0]["sourceLabels"].is_null()));
}

/// The revision of the control planes that read an object; empty: all of them.
pub(in crate::migrate) fn revision(object: &Json) -> &str {
    object["metadata"]["labels"][REVISION_LABEL].as_str().unwrap_or_default()
}

/// The lists of a Telemetry.
const LISTS: [&str; 3] = ["metrics", "accessLogging", "tracing"];

/// An item of a list of a Telemetry, the new object with this index.
fn item(at: usize, list: &str, one: &Json) -> String {
    format!("{at} {list} {one}")
}

/// Merges the settings of a Telemetry into another, the new object with this index.
fn add_telemetry(made: &mut Json, object: &Json, at: usize, known: &mut HashSet<String>) {
    for list in LISTS {
        let Some(new) = object["spec"][list].as_array() else { continue };
        let spec = &mut made["spec"];
        if spec[list].is_null() {
            spec[list] = json!([]);
        }
        for one in new {
            if known.insert(item(at, list, one))
                && let Some(old) = spec[list].as_array_mut()
            {
                add_item(old, one);
            }
        }
    }
}

impl Draft {
    /// Adds the mesh settings of a filter's patches: those of pods, which hide them, come after those of all filters.
    pub(crate) fn add_mesh(&mut self, filter: &EnvoyFilter, actions: &[Action]) {
        for action in actions {
            let Action::Mesh(settings) = action else { continue };
            let (all, by) = self.mesh.get_or_insert_with(|| (json!({}), BTreeSet::new()));
            by.insert(filter.full_name());
            merge_settings(all, settings, &mut self.providers);
        }
    }

    /// The settings that every proxy has after the migration.
    fn defaults(&self, mesh: &Mesh<'_>) -> Json {
        let before = mesh.mesh_config().and_then(|mesh| mesh.get(DEFAULTS));
        let mut all = before.cloned().unwrap_or_else(|| json!({}));
        if let Some(new) = self.mesh.as_ref().and_then(|(settings, _)| settings.get(DEFAULTS)) {
            merge(&mut all, new);
        }
        all
    }

    /// Adds the other replacements of a filter's patch, which fills these fields of retries.
    pub(crate) fn add<'a>(
        &mut self,
        mesh: &Mesh<'_>,
        filter: &EnvoyFilter,
        fills: &[&str],
        actions: impl IntoIterator<Item = &'a Action>,
    ) {
        for action in actions {
            let from = filter.full_name();
            match action {
                Action::Proxy { config, gateways } => self.proxy(mesh, filter, config, *gateways),
                Action::Environment(name, value) => {
                    let mut spec = Map::new();
                    if let Some(labels) = pod_labels(filter).filter(|labels| !labels.is_empty()) {
                        spec.insert("selector".to_owned(), json!({ "matchLabels": labels }));
                    }
                    spec.insert("environmentVariables".to_owned(), json!({ *name: value }));
                    let object = object("networking.istio.io/v1beta1", "ProxyConfig", filter, spec);
                    self.object(mesh, object, fills, from);
                }
                // They come first, see `add_mesh`.
                Action::Mesh(_) => {}
                Action::Object(one) => self.object(mesh, one.clone(), fills, from),
                Action::Rule { object, settings } => {
                    let at = self.rule(mesh, object, from);
                    if let Some(made) = self.made.get_mut(at) {
                        settings.add_to(&mut made.object["spec"]);
                    }
                }
                Action::Edit { object: (kind, namespace, name), change } => {
                    self.edit(mesh, (*kind, namespace.as_str(), name.as_str()), (change, fills), from);
                }
            }
        }
    }

    /// The index of the new rule, which may be for several filters.
    fn rule(&mut self, mesh: &Mesh<'_>, object: &Json, from: String) -> usize {
        let known = key(object).and_then(|key| self.keys.get(&key).copied());
        if let Some((at, made)) = known.and_then(|at| Some((at, self.made.get_mut(at)?))) {
            made.from.insert(from);
            return at;
        }
        self.insert(mesh, object.clone(), from);
        self.made.len() - 1
    }

    fn object(&mut self, mesh: &Mesh<'_>, object: Json, fills: &[&str], from: String) {
        let place = place(&object);
        let key = key(&object);
        let equal =
            self.names.get(&place).copied().filter(|at| self.made.get(*at).is_some_and(|it| it.object == object));
        let same = equal.or_else(|| self.keys.get(key.as_ref()?).copied());
        if let Some((at, made)) = same.and_then(|at| Some((at, self.made.get_mut(at)?))) {
            made.from.insert(from);
            match place.0.as_str() {
                _ if equal.is_some() => {}
                "Telemetry" => add_telemetry(&mut made.object, &object, at, &mut self.items),
                "HTTPRoute" => {
                    merge_kube_rule(&mut made.object["spec"]["rules"][0], &object["spec"]["rules"][0], fills);
                }
                "VirtualService" => add_rules(&mut made.object, &object, fills),
                _ => merge(&mut made.object["spec"], &object["spec"]),
            }
            return;
        }
        self.insert(mesh, object, from);
    }

    /// Adds a new object under a name that is free.
    fn insert(&mut self, mesh: &Mesh<'_>, mut object: Json, from: String) {
        let key = key(&object);
        // Existing objects are not overwritten, except those that an earlier migration wrote for this filter.
        let (kind, namespace, name) = place(&object);
        let mut place = (kind, namespace, name.clone());
        // What is taken stays taken, also for later objects of the filter.
        let wanted = (place.clone(), migrated_from(&object).map(str::to_owned));
        let mut number = self.numbers.get(&wanted).copied().unwrap_or(1);
        if number > 1 {
            place.2 = format!("{name}-{number}");
        }
        while self.names.contains_key(&place) || is_taken(mesh, &object, &place.2) {
            number += 1;
            place.2 = format!("{name}-{number}");
        }
        self.numbers.insert(wanted, number);
        object["metadata"]["name"] = place.2.as_str().into();
        self.names.insert(place, self.made.len());
        if let Some(key) = key {
            self.keys.entry(key).or_insert(self.made.len());
        }
        if object["kind"] == "Telemetry" {
            for list in LISTS {
                let all = object["spec"][list].as_array().into_iter().flatten();
                self.items.extend(all.map(|one| item(self.made.len(), list, one)));
            }
        }
        self.made.push(Made { object, from: BTreeSet::from([from]) });
    }

    /// Whether this new object is written for the same filters.
    pub(crate) fn holds(&self, made: &Made) -> bool {
        self.names.get(&place(&made.object)).and_then(|at| self.made.get(*at)).is_some_and(|one| one == made)
    }

    fn edit(&mut self, mesh: &Mesh<'_>, object: (&str, &str, &str), (change, fills): (&Change, &[&str]), from: String) {
        let (kind, namespace, name) = object;
        let key = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        if !self.edits.contains_key(&key) {
            let Some(before) = existing(mesh, object) else { return };
            self.edits.insert(key.clone(), self.edited.len());
            let span = mesh.index.objects(kind, namespace, name).first().map(|one| one.document.span);
            let Some(span) = span else { return };
            self.edited.push(Edited {
                after: before.clone(),
                before,
                from: BTreeSet::new(),
                span,
                commented: false,
                text: None,
            });
        }
        if let Some(edited) = self.edits.get(&key).and_then(|at| self.edited.get_mut(*at)) {
            apply(&mut edited.after, change, fills);
            edited.from.insert(from);
        }
    }

    fn proxy(&mut self, mesh: &Mesh<'_>, filter: &EnvoyFilter, config: &Json, gateways: bool) {
        let from = filter.full_name();
        if !filter.target_refs.is_empty() {
            // istiod copies the annotations of `infrastructure` to the pods of a Gateway (Istio 1.22 and later).
            for target in &filter.target_refs {
                let key = ("KubeGateway", filter.namespace.as_str(), target.name.as_str());
                if let Some(gateway) = existing(mesh, key) {
                    let annotation = gateway["spec"]["infrastructure"]["annotations"][ANNOTATION].as_str();
                    let whole = completed(annotation.unwrap_or_default(), config, &self.defaults(mesh));
                    self.edit(mesh, key, (&Change::Infrastructure(whole), &[]), from.clone());
                    continue;
                }
                let labels = Labels::from([(GATEWAY_NAME_LABEL.to_owned(), target.name.clone())]);
                self.pods_of(mesh, filter, (labels, gateways), config, BTreeMap::new());
            }
            return;
        }
        let some = mesh.workloads(filter).any(|workload| mesh.is_gateway(workload));
        let only = gateways && (some || !Mesh::is_narrow(filter));
        let workloads = mesh
            .workloads(filter)
            .filter(|workload| !only || mesh.is_gateway(workload))
            .filter(|workload| matches!(workload.object.kind.as_str(), "Deployment" | "StatefulSet" | "DaemonSet"))
            .map(|workload| {
                let object = &workload.object;
                let annotation = workload.annotations.get(ANNOTATION).cloned().unwrap_or_default();
                ((object.kind.clone(), object.namespace.clone(), object.name.clone()), annotation)
            })
            .collect();
        self.pods_of(mesh, filter, (filter.selector.clone().unwrap_or_default(), gateways), config, workloads);
    }

    fn pods_of(
        &mut self,
        mesh: &Mesh<'_>,
        filter: &EnvoyFilter,
        (labels, gateways): (Labels, bool),
        config: &Json,
        workloads: BTreeMap<Place, String>,
    ) {
        let everywhere = filter.namespace == mesh.root && filter.target_refs.is_empty();
        let namespace = if everywhere { String::new() } else { filter.namespace.clone() };
        let listed = labels.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        let key = (namespace.clone(), listed, gateways);
        if let Some(pods) = self.settings.get(&key).and_then(|at| self.pods.get_mut(*at)) {
            merge(&mut pods.config, config);
            pods.from.insert(filter.full_name());
            return;
        }
        let from = BTreeSet::from([filter.full_name()]);
        let mut defaults = self.defaults(mesh);
        // Settings that every pod already hides are not restored.
        let hides = |key: &String| {
            let mut all = mesh.workloads(filter).filter(|one| !gateways || mesh.is_gateway(one)).peekable();
            all.peek().is_some()
                && all.all(|one| one.annotations.get(ANNOTATION).is_some_and(|it| settings_of(it).get(key).is_some()))
        };
        if let Some(defaults) = defaults.as_object_mut() {
            defaults.retain(|key, _| config.get(key).is_some() && !hides(key));
        }
        self.settings.insert(key, self.pods.len());
        self.pods.push(PodSettings { namespace, labels, gateways, config: config.clone(), defaults, workloads, from });
    }

    /// The mesh settings before and after the merge, if the input has the ConfigMap.
    pub(crate) fn mesh_config(&self, mesh: &Mesh<'_>) -> Option<(Json, Json)> {
        let (settings, _) = self.mesh.as_ref()?;
        let before = mesh.mesh_config()?;
        let mut after = before.clone();
        let known = providers(before).enumerate().filter_map(|(at, one)| Some((one["name"].as_str()?.to_owned(), at)));
        merge_settings(&mut after, settings, &mut known.collect());
        Some((before.clone(), after))
    }
}

const PROVIDERS: &str = "extensionProviders";

/// The providers in mesh settings.
fn providers(settings: &Json) -> impl Iterator<Item = &Json> {
    settings.get(PROVIDERS).and_then(Json::as_array).into_iter().flatten()
}

/// Merges mesh settings; providers are a list identified by name, and `known` has the indexes of those already in it.
fn merge_settings(into: &mut Json, from: &Json, known: &mut HashMap<String, usize>) {
    let mut all = into.as_object_mut().and_then(|map| map.get_mut(PROVIDERS)).map(Json::take).unwrap_or_default();
    merge(into, from);
    if !all.is_array() {
        all = json!([]);
    }
    if let Some(all) = all.as_array_mut() {
        for one in providers(from) {
            let at = *known.entry(one["name"].as_str().unwrap_or_default().to_owned()).or_insert(all.len());
            match all.get_mut(at) {
                Some(old) => merge(old, one),
                None => all.push(one.clone()),
            }
        }
    }
    if all.as_array().is_some_and(|all| !all.is_empty()) {
        into[PROVIDERS] = all;
    }
}

/// Whether an object is of the Gateway API: two APIs have a kind Gateway.
pub(crate) fn is_kube(object: &Json) -> bool {
    object["apiVersion"].as_str().is_some_and(|version| version.starts_with("gateway.networking.k8s.io/"))
}

/// An object of the input as JSON, without fields that the API server adds.
pub(crate) fn existing(mesh: &Mesh<'_>, (kind, namespace, name): (&str, &str, &str)) -> Option<Json> {
    let document = mesh.index.objects(kind, namespace, name).first()?;
    let mut json = document.document.to_json();
    clean(&mut json, namespace);
    if kind == "KubeGateway" {
        json["kind"] = "Gateway".into();
    }
    Some(json)
}

/// The filter that an object was written for.
fn migrated_from(object: &Json) -> Option<&str> {
    object["metadata"]["labels"].get(MIGRATED_FROM)?.as_str()
}

/// Whether an object of the same kind and namespace has a name already, unless an earlier migration wrote it for the same
/// filter.
fn is_taken(mesh: &Mesh<'_>, object: &Json, name: &str) -> bool {
    let kind = object["kind"].as_str().unwrap_or_default();
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
    let from = migrated_from(object);
    let other = |one: &&Object| from.is_none() || one.labels.get(MIGRATED_FROM).map(String::as_str) != from;
    mesh.index.objects(kind, namespace, name).iter().any(other)
}

/// Removes fields that the API server adds to an object.
pub(crate) fn clean(json: &mut Json, namespace: &str) {
    json["metadata"]["namespace"] = namespace.into();
    if let Some(map) = json.as_object_mut() {
        map.shift_remove("status");
    }
    let Some(meta) = json["metadata"].as_object_mut() else { return };
    for key in ["managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "selfLink"] {
        meta.shift_remove(key);
    }
    if let Some(annotations) = meta.get_mut("annotations").and_then(Json::as_object_mut) {
        annotations.shift_remove("kubectl.kubernetes.io/last-applied-configuration");
        if annotations.is_empty() {
            meta.shift_remove("annotations");
        }
    }
}

/// New objects as YAML documents to add next to the filter that they replace, or instead of it if it moves completely.
pub(crate) fn beside(draft: &Draft, filter: &EnvoyFilter, whole: bool) -> Result<String, ErrorMessage> {
    let mut text = String::new();
    for (number, made) in draft.made.iter().enumerate() {
        if number > 0 {
            text.push_str("\n---\n");
        }
        let name: String = filter.full_name().chars().filter(|c| !c.is_control()).collect();
        let _ = writeln!(text, "# Replaces EnvoyFilter {name}.");
        if whole && number == 0 {
            text.push_str("# `kubectl apply` does not delete the EnvoyFilter: delete it once this is applied.\n");
        }
        text.push_str(yaml_text::write_report(&made.object)?.trim_end());
    }
    Ok(text)
}

/// `Kind namespace/name` of an object.
pub(crate) fn title(object: &Json) -> String {
    let text = |path: &str| object.pointer(path).and_then(Json::as_str).unwrap_or_default().to_owned();
    format!("{} {}/{}", text("/kind"), text("/metadata/namespace"), text("/metadata/name"))
}

/// The mesh's settings for every proxy.
const DEFAULTS: &str = "defaultConfig";

/// An object with the filter's name and namespace, attached like the filter.
pub(crate) fn object(api_version: &str, kind: &str, filter: &EnvoyFilter, spec: Map<String, Json>) -> Json {
    json!({
        "apiVersion": api_version,
        "kind": kind,
        "metadata": metadata(filter, &filter.namespace),
        "spec": spec,
    })
}

/// Labels by which Argo CD, Flux and Helm mark what they own: they prune such objects if their source does not have them.
const OWNERS: [&str; 5] = [
    "argocd.argoproj.io/",
    "kustomize.toolkit.fluxcd.io/",
    "helm.toolkit.fluxcd.io/",
    "app.kubernetes.io/managed-by",
    "helm.sh/chart",
];

/// Name, namespace and labels of an object that replaces (a part of) a filter.
pub(crate) fn metadata(filter: &EnvoyFilter, namespace: &str) -> Json {
    let mut metadata = json!({ "name": filter.name, "namespace": namespace });
    // A label's value has at most 63 characters.
    if filter.name.len() <= 63 {
        metadata["labels"] = json!({ MIGRATED_FROM: filter.name });
    }
    for (label, value) in &filter.labels {
        if label != MIGRATED_FROM && !OWNERS.iter().any(|owner| label.starts_with(owner)) {
            metadata["labels"][label] = value.clone().into();
        }
    }
    metadata
}

/// `selector` or `targetRefs` of a filter as most Istio APIs have them.
pub(crate) fn attachment(filter: &EnvoyFilter) -> Map<String, Json> {
    let mut map = Map::new();
    if !filter.target_refs.is_empty() {
        let refs: Vec<Json> = filter
            .target_refs
            .iter()
            .map(|target| json!({ "kind": target.kind, "group": target.group, "name": target.name }))
            .collect();
        map.insert("targetRefs".to_owned(), refs.into());
    } else if let Some(labels) = filter.selector.as_ref().filter(|labels| !labels.is_empty()) {
        map.insert("selector".to_owned(), json!({ "matchLabels": labels }));
    }
    map
}

//! `migrate --prove istiod`: a real istiod generates every proxy's configuration with the filter and with its replacement, on
//! the user's own objects.

use super::Error;
use super::bottled::{self, Bottled, ReadMesh};
#[cfg(feature = "sandbox")]
use super::prove_traffic::{Sender, Sides};
use super::read::proxy_of;
use super::settings::{IstiodSettings, Progress, Settings};
use crate::bottle::{Configuration, Deleted, Fault, Node, Opened, Wanted, dump};
use crate::cluster::targets::{self, Target};
use crate::engine::compat::Compat;
use crate::engine::select::select;
use crate::engine::{MeshSettings, Selection};
use crate::load::Loaded;
use crate::load::dump::Dump;
use crate::migrate::change::settings_of;
use crate::migrate::compare::{Found, Resources, differences, explain, explain_revived};
use crate::migrate::draft::is_kube;
use crate::migrate::forms::write_requirements;
use crate::migrate::proof::{Computed, Proof, Proven, Traffic};
use crate::migrate::value::{merge, open_typed_structs};
use crate::migrate::verdict::{Class, Difference, Kind, State};
use crate::migrate::{self, Accept, After, Report, Request, verify};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::proxy::{GATEWAY_NAME_LABEL, ProxyKind};
use crate::model::proxy_config::{ANNOTATION, apply};
use crate::model::release::Release;
use crate::model::resource::ResourceKind;
use crate::proto::schema::Schema;
use crate::source::ErrorMessage;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// What istiod gets in addition to the objects, and the proxies to ask it about.
pub(super) struct Shown {
    /// The istiod, as the control plane that it acts as.
    pub(super) istiod: IstiodSettings,
    /// The settings of that control plane.
    pub(super) mesh: MeshSettings,
    /// The cluster or the capture that was read; none for files.
    pub(super) read: Option<ReadMesh>,
}

/// Finds the proxies to ask istiod about.
type Of<'o> = dyn Fn(Opened) -> Bottled + 'o;

/// Computes the classes of a migration. A result that differs more than accepted, or reaches further than its filter, is not
/// written.
pub(super) fn prove(
    settings: &Settings,
    shown: &Shown,
    envoy: Option<&Path>,
    loaded: &Loaded,
    request: &Request<'_>,
    progress: &dyn Progress,
) -> Result<(Report, Vec<Proof>, String), Error> {
    let Shown { istiod, mesh, read } = shown;
    let opened = bottled::open(settings, istiod, loaded, loaded.documents.clone(), read.is_some())?;
    let release = opened.bottle.istiod.release.unwrap_or(settings.release());
    let of = |opened: Opened| Bottled::of(opened, &istiod.revision, read.clone());
    let bottled = of(opened);
    let version = bottled.version.clone();
    let firsts: Vec<Target> = targets::groups(bottled.targets().to_vec(), settings.cluster.all_replicas)
        .into_iter()
        .filter_map(|group| group.into_iter().next())
        .collect();
    let before = bottled.ask(&firsts);
    #[cfg(feature = "sandbox")]
    let sender = envoy.map(Sender::new).transpose().map_err(trouble)?;
    #[cfg(not(feature = "sandbox"))]
    let _ = envoy;
    let run = |request: &Request<'_>| {
        migrate::migrate(request).map_err(|error| Error::Text { message: error.to_string(), help: None })
    };
    let first = run(request)?;
    let together = migrate::grouped(request, &first);
    let (mut proofs, mut request) = (Vec::new(), request.clone());
    let moved: Vec<_> = first.filters.iter().filter(|one| one.patches.iter().any(|patch| patch.written)).collect();
    progress.begin(moved.len());
    for one in moved {
        progress.advance();
        let filter = &loaded.inventory.envoy_filters[one.index];
        let name = filter.full_name();
        // Filters that move together, or that set the same field, are compared together.
        let tied = together.with(one.index);
        let group: Vec<&EnvoyFilter> =
            loaded.inventory.envoy_filters.iter().filter(|one| tied.contains(&one.full_name())).collect();
        let with: Vec<String> = tied.iter().filter(|one| **one != name).cloned().collect();
        let alone = run(&Request { asked: Some(tied), ..request.clone() })?;
        let reaches = |target: &Target| {
            let selected =
                |one: &&EnvoyFilter| select(one, &proxy_of(target), mesh, Compat { release }) == Selection::Selected;
            group.iter().any(selected)
        };
        #[cfg_attr(not(feature = "sandbox"), expect(unused_mut, reason = "only the sandbox sends requests"))]
        let mut traffic = None;
        let found = match changes(&alone, loaded) {
            Err(why) => Proven::NotComputed(why.to_owned()),
            Ok((new, gone)) => {
                let after = bottled.opened.borrow().changed(new, &gone);
                match after {
                    Err(fault) => Proven::NotComputed(fault.to_string()),
                    Ok(after) => {
                        let after = of(after);
                        let restarted = Restarted::of(&alone, loaded, &mesh.root_namespace);
                        #[cfg(feature = "sandbox")]
                        if let Some(sender) = &sender {
                            let both = Both { before: &bottled, after: &after, restarted: restarted.as_ref() };
                            traffic = Some(both.send(sender, filter, (release, mesh), &firsts, &reaches, &of));
                        }
                        let judge = Judge { reaches: &reaches, revived: revives(&request, &group) };
                        let found = match &restarted {
                            None => compared(&firsts, &before, &after.ask(&firsts), &judge),
                            Some(restarted) => {
                                let old = bottled.ask_as(&firsts, &|node| restarted.introduce(node, false));
                                let new = after.ask_as(&firsts, &|node| restarted.introduce(node, true));
                                compared(&firsts, &old, &new, &judge)
                            }
                        };
                        match found {
                            // Equal sides prove nothing for a filter that has no effect on its side.
                            Proven::Computed(computed)
                                if computed.differences.is_empty()
                                    && !(replaced_by_nothing(&alone) && firsts.iter().any(reaches))
                                    && idle(&bottled, &group, &firsts, &before, &of) =>
                            {
                                Proven::NotComputed(
                                    "the filter changes no proxy of these objects, so there is nothing to compare"
                                        .to_owned(),
                                )
                            }
                            found => found,
                        }
                    }
                }
            }
        };
        let doubt = doubt(&found, traffic.as_ref(), request.accept, &version);
        if let Some(doubt) = doubt {
            request.doubts.insert(name.clone(), doubt);
        }
        proofs.push(Proof { filter: name, with, found, traffic });
    }
    progress.end();
    let report = if request.doubts.is_empty() { first } else { run(&request)? };
    Ok((report, proofs, version))
}

/// Why a result is kept back, if it is; `version` is that of the istiod that was asked.
fn doubt(
    found: &Proven,
    traffic: Option<&Result<Traffic, ErrorMessage>>,
    accept: Accept,
    version: &str,
) -> Option<(State, String)> {
    let apart = traffic.and_then(|sent| sent.as_ref().ok()?.apart.first());
    match found {
        _ if apart.is_some() && accept < Accept::Differs => apart.map(|one| {
            let difference = format!("{}: {} with the filter, {} without it", one.request, one.filter, one.native);
            (State::Undecided, format!("requests through Envoy tell them apart: {difference}"))
        }),
        Proven::NotComputed(why) => {
            Some((State::Undecided, format!("istiod {version} did not compute the class: {why}")))
        }
        Proven::Computed(computed) if !computed.beyond.is_empty() => Some((
            State::Broken,
            format!("istiod {version} also changes {}, which the filter does not select", computed.beyond.join(", ")),
        )),
        Proven::Computed(computed) if computed.class() > Class::SameBut && accept < Accept::Differs => {
            let worst = computed.differences.first().map_or("", |(one, _)| one.effect.as_str());
            Some((State::Undecided, format!("istiod {version} computes another behavior for these objects: {worst}")))
        }
        Proven::Computed(computed) if computed.class() > Class::Exact && accept == Accept::Exact => {
            let worst = computed.differences.first().map_or("", |(one, _)| one.effect.as_str());
            Some((State::Undecided, format!("istiod {version} does not compute the same: {worst}")))
        }
        Proven::Computed(_) => None,
    }
}

/// Whether nothing is written: then the filter sets what istiod generates anyway, and changing no proxy is what its class says.
fn replaced_by_nothing(report: &Report) -> bool {
    let draft = &report.draft;
    draft.made.is_empty() && draft.edited.is_empty() && draft.pods.is_empty() && draft.mesh.is_none()
}

/// Whether filters change no proxy of these objects: then their effects are unseen.
fn idle(bottled: &Bottled, filters: &[&EnvoyFilter], firsts: &[Target], with: &Answers, of: &Of<'_>) -> bool {
    let gone: Vec<Deleted> = filters.iter().map(|filter| deleted(filter)).collect();
    let Ok(bare) = bottled.opened.borrow().changed(Vec::new(), &gone) else { return false };
    let bare = of(bare).ask(firsts);
    with.iter().zip(&bare).all(|(with, bare)| match (with, bare) {
        (Ok(with), Ok(bare)) => resources(with) == resources(bare),
        _ => false,
    })
}

fn deleted(filter: &EnvoyFilter) -> Deleted {
    Deleted { kind: "EnvoyFilter".to_owned(), namespace: filter.namespace.clone(), name: filter.name.clone() }
}

/// What the migration of one filter, or of several that move together, applies and deletes, or why that cannot be given to an
/// istiod.
fn changes(report: &Report, loaded: &Loaded) -> Result<(Vec<Value>, Vec<Deleted>), &'static str> {
    let draft = &report.draft;
    let is_setting = |object: &Value| object.get("kind").and_then(Value::as_str) == Some("ProxyConfig");
    let mut new: Vec<Value> =
        draft.made.iter().map(|made| made.object.clone()).filter(|object| !is_setting(object)).collect();
    new.extend(draft.edited.iter().map(|edited| edited.after.clone()));
    if let Some((settings, _)) = &draft.mesh {
        let is = |one: &&Value| {
            one.get("kind").and_then(Value::as_str) == Some("ConfigMap") && one.pointer("/data/mesh").is_some()
        };
        let after = report.mesh_config.as_ref().map_or(settings, |(_, after)| after).to_string();
        let mut map = loaded.documents.iter().find(is).cloned().unwrap_or_else(|| {
            json!({"apiVersion": "v1", "kind": "ConfigMap",
                   "metadata": {"name": "istio", "namespace": super::DEFAULT_ISTIO_NAMESPACE}, "data": {"mesh": ""}})
        });
        if let Some(mesh) = map.pointer_mut("/data/mesh") {
            *mesh = after.into();
        }
        new.push(map);
    }
    let mut gone = Vec::new();
    for one in &report.filters {
        match &one.after {
            After::Smaller(smaller) => new.push(smaller.clone()),
            After::Delete => gone.push(deleted(&loaded.inventory.envoy_filters[one.index])),
            After::Unchanged => return Err("nothing of the filter would go"),
        }
    }
    Ok((new, gone))
}

type Answers = Vec<Result<Configuration, Fault>>;

/// What is known about filters whose configurations are compared.
struct Judge<'j> {
    /// Whether one of them attaches to a proxy.
    reaches: &'j dyn Fn(&Target) -> bool,
    /// Whether istiod does not read some of their patches as they were written.
    revived: bool,
}

/// Whether one of these filters has patches that no release reads as they were written.
fn revives(request: &Request<'_>, filters: &[&EnvoyFilter]) -> bool {
    request.revived.keys().any(|(name, _)| filters.iter().any(|filter| filter.full_name() == *name))
}

impl Judge<'_> {
    fn meaning(&self, proxy: &str, found: &Found) -> Difference {
        if self.revived { explain_revived(proxy, found) } else { explain(proxy, found, &[]) }
    }
}

fn compared(targets: &[Target], before: &Answers, after: &Answers, judge: &Judge<'_>) -> Proven {
    let mut computed = Computed::default();
    for ((target, old), new) in targets.iter().zip(before).zip(after) {
        let (old, new) = match (old, new) {
            (Ok(old), Ok(new)) => (resources(old), resources(new)),
            (Err(fault), _) | (_, Err(fault)) => {
                return Proven::NotComputed(format!("{}: {fault}", target.full_name()));
            }
        };
        computed.proxies += 1;
        let found = differences(&old, &new, &BTreeMap::new());
        let differences: Vec<Difference> = found.iter().map(|one| judge.meaning(&target.full_name(), one)).collect();
        if !(judge.reaches)(target) && differences.iter().any(|one| one.kind == Kind::Behavior) {
            computed.beyond.push(target.full_name());
        }
        differences.into_iter().for_each(|one| computed.add(one));
    }
    if computed.proxies == 0 {
        return Proven::NotComputed("no object has a proxy, so there is nothing for istiod to configure".to_owned());
    }
    Proven::Computed(computed)
}

/// The resources of a proxy in comparable form.
fn resources(configuration: &Configuration) -> Resources {
    let mut all = Resources::new();
    for kind in ResourceKind::ALL {
        for (name, text) in configuration.of(kind) {
            if let Some(mut value) = verify::content(text) {
                open_typed_structs(&mut value, Schema::newest());
                write_requirements(&mut value);
                all.entry(verify::key(kind).to_owned()).or_default().insert(name.clone(), value);
            }
        }
    }
    all
}

/// Maximum number of a filter's proxies to send requests through.
#[cfg(feature = "sandbox")]
const PROXIES: usize = 3;

#[cfg(feature = "sandbox")]
fn trouble(error: crate::behaviour::Error) -> Error {
    crate::trial::Trouble { message: error.to_string(), usage: error.is_usage() }.into()
}

/// An istiod with the filter and one with its replacement.
#[cfg(feature = "sandbox")]
struct Both<'b> {
    before: &'b Bottled,
    after: &'b Bottled,
    restarted: Option<&'b Restarted<'b>>,
}

#[cfg(feature = "sandbox")]
impl Both<'_> {
    /// Sends requests through the proxies that a filter selects, on both sides.
    fn send(
        &self,
        sender: &Sender,
        filter: &EnvoyFilter,
        (release, mesh): (Release, &MeshSettings),
        targets: &[Target],
        reaches: &dyn Fn(&Target) -> bool,
        of: &Of<'_>,
    ) -> Result<Traffic, ErrorMessage> {
        let bare =
            self.before.opened.borrow().changed(Vec::new(), &[deleted(filter)]).map_err(|fault| fault.to_string())?;
        let bare = of(bare);
        let mut sent = Traffic::default();
        let mut met = Err("the filter selects no proxy of these objects".into());
        for target in targets.iter().filter(|target| reaches(target)).take(PROXIES) {
            let dump = |side: &Bottled, after: bool| -> Result<Dump, ErrorMessage> {
                let mut node = side.node(target).cloned().ok_or("the proxy is gone")?;
                if let Some(restarted) = self.restarted {
                    restarted.introduce(&mut node, after);
                }
                let answers = side.opened.borrow_mut().bottle.ask_all(std::slice::from_ref(&node), &Wanted::default());
                let answer = answers.into_iter().next().ok_or("istiod did not answer")?;
                let configuration = answer.map_err(|fault| fault.to_string())?;
                let (dump, problems) = Dump::from_text(node.full_name(), dump::text(&node, &configuration));
                let dump = dump.ok_or_else(|| problems.first().map_or(String::new(), |one| one.message.clone()))?;
                Ok(dump.without_filters())
            };
            let sides = Sides {
                proxy: target.full_name(),
                base: &dump(&bare, false)?,
                filter: std::slice::from_ref(filter),
                native: &dump(self.after, true)?,
                release,
                mesh,
            };
            match sender.compare(&sides, &mut sent) {
                Ok(()) => met = Ok(()),
                Err(why) if met.is_err() => met = Err(why),
                Err(_) => {}
            }
        }
        met.map(|()| sent)
    }
}

/// Proxies whose own settings change once their pods restart.
struct Restarted<'a> {
    report: &'a Report,
    defaults: Value,
    root: &'a str,
}

/// The Gateways of the Gateway API whose pods get other settings: namespace, name and annotation.
fn of_gateways(report: &Report) -> impl Iterator<Item = (&str, &str, &str)> {
    fn annotation(object: &Value) -> Option<&str> {
        object["spec"]["infrastructure"]["annotations"][ANNOTATION].as_str()
    }
    report.draft.edited.iter().filter(|edited| is_kube(&edited.after)).filter_map(|edited| {
        let (before, after) = (annotation(&edited.before), annotation(&edited.after)?);
        let meta = &edited.after["metadata"];
        (before != Some(after)).then_some((meta["namespace"].as_str()?, meta["name"].as_str()?, after))
    })
}

impl<'a> Restarted<'a> {
    /// `None` when no pod must restart.
    fn of(report: &'a Report, loaded: &'a Loaded, root: &'a str) -> Option<Restarted<'a>> {
        let draft = &report.draft;
        let variables =
            draft.made.iter().any(|made| made.object.get("kind").and_then(Value::as_str) == Some("ProxyConfig"));
        let of_mesh = draft.mesh.as_ref().is_some_and(|(settings, _)| settings.get("defaultConfig").is_some());
        if draft.pods.is_empty() && !variables && !of_mesh && of_gateways(report).next().is_none() {
            return None;
        }
        let mesh = loaded.inventory.meshes.first().map(|mesh| mesh.settings.to_json());
        let defaults = mesh.and_then(|mesh| mesh.get("defaultConfig").cloned()).unwrap_or_else(|| json!({}));
        Some(Restarted { report, defaults, root })
    }

    /// Gives a proxy's node the settings that its agent sends: those of the mesh and of its annotation, and with `after` the
    /// new ones.
    fn introduce(&self, node: &mut Node, after: bool) {
        let draft = &self.report.draft;
        let mut settings = node.metadata.get("PROXY_CONFIG").unwrap_or(&self.defaults).clone();
        let annotation = node.metadata.get("ANNOTATIONS").and_then(|all| all.get(ANNOTATION)).and_then(Value::as_str);
        if let Some(new) = draft.mesh.as_ref().filter(|_| after).and_then(|(mesh, _)| mesh.get("defaultConfig")) {
            let mut defaults = self.defaults.clone();
            merge(&mut defaults, new);
            if let Some(defaults) = defaults.as_object_mut() {
                defaults.retain(|key, _| new.get(key).is_some());
            }
            apply(&mut settings, &defaults);
            if let Some(annotation) = annotation {
                apply(&mut settings, &settings_of(annotation));
            }
        }
        for pods in draft.pods.iter().filter(|_| after) {
            let meant = !pods.gateways || node.kind == ProxyKind::Gateway;
            if meant && self.selects(node, &pods.namespace, &json!(pods.labels)) {
                apply(&mut settings, &pods.over(annotation.unwrap_or_default()));
            }
        }
        for (namespace, name, annotation) in of_gateways(self.report).filter(|_| after) {
            if node.namespace == namespace && self.selects(node, namespace, &json!({ GATEWAY_NAME_LABEL: name })) {
                apply(&mut settings, &settings_of(annotation));
            }
        }
        node.metadata.insert("PROXY_CONFIG".to_owned(), settings);
        for made in draft.made.iter().filter(|_| after) {
            let object = &made.object;
            let Some(variables) = object.pointer("/spec/environmentVariables").and_then(Value::as_object) else {
                continue;
            };
            let namespace = object.pointer("/metadata/namespace").and_then(Value::as_str).unwrap_or_default();
            let labels = object.pointer("/spec/selector/matchLabels").cloned().unwrap_or_else(|| json!({}));
            // With a selector it is only for workloads of its own namespace (`mergedWorkloadConfig` in istiod).
            let whole = labels.as_object().is_none_or(serde_json::Map::is_empty);
            if self.selects(node, namespace, &labels) && (whole || namespace == node.namespace) {
                for (name, value) in variables {
                    if let Some(key) = name.strip_prefix("ISTIO_META_") {
                        node.metadata.insert(key.to_owned(), value.clone());
                    }
                }
            }
        }
    }

    fn selects(&self, node: &Node, namespace: &str, labels: &Value) -> bool {
        let own = node.metadata.get("LABELS");
        (namespace.is_empty() || namespace == self.root || namespace == node.namespace)
            && labels.as_object().is_none_or(|labels| {
                labels.iter().all(|(key, value)| own.and_then(|own| own.get(key)).is_some_and(|one| one == value))
            })
    }
}

impl Bottled {
    /// The configurations of these proxies, in their order.
    fn ask(&self, targets: &[Target]) -> Answers {
        self.ask_as(targets, &|_| {})
    }

    /// The same with a change to their nodes.
    fn ask_as(&self, targets: &[Target], change: &dyn Fn(&mut Node)) -> Answers {
        let mut nodes: Vec<Node> = targets.iter().filter_map(|target| self.node(target).cloned()).collect();
        nodes.iter_mut().for_each(change);
        self.opened.borrow_mut().bottle.ask_all(&nodes, &Wanted::default())
    }
}

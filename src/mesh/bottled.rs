//! Proxies whose configuration comes from an istiod on this machine instead of a mesh: the effect of manifests alone.

use super::Error;
use super::scope::Origin;
use super::settings::{IstiodSettings, Progress, Settings};
use crate::bottle::{Limits, Node, Open, Opened, Wanted, dump, proxies};
use crate::cluster::facts::{DEFAULT_REVISION, Facts};
use crate::cluster::targets::Target;
use crate::load::Loaded;
use crate::load::dump::Dump;
use crate::model::proxy::Proxy;
use crate::model::release::Release;
use crate::source::{Code, Problem, Severity};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// Number of proxies held at the same time.
const AT_ONCE: usize = 16;

/// An istiod that has read the objects of a mesh without its EnvoyFilters, and the proxies of those objects.
pub(super) struct Bottled {
    pub(super) opened: RefCell<Opened>,
    targets: Vec<Target>,
    nodes: BTreeMap<String, Node>,
    pub(super) version: String,
    /// The mesh that its objects were read from; `None` for files.
    read: Option<ReadMesh>,
}

/// The cluster or the capture that objects were read from.
#[derive(Clone, Debug)]
pub(super) struct ReadMesh {
    /// What it is.
    pub(super) origin: Origin,
    /// Its proxies in scope.
    pub(super) targets: Vec<Target>,
    /// The nodes of proxies from their config dumps, if any.
    pub(super) nodes: BTreeMap<String, Node>,
}

/// What to do with the configuration of a proxy.
type Take<'t> = dyn FnMut(&mut Vec<Problem>, Dump, &Target) -> io::Result<()> + 't;

/// Starts an istiod with documents that were read.
pub(crate) fn open(
    settings: &Settings,
    istiod: &IstiodSettings,
    loaded: &Loaded,
    documents: Vec<Value>,
    real: bool,
) -> Result<Opened, Error> {
    let defaults = Limits::default();
    let revision = if istiod.revision == DEFAULT_REVISION { "" } else { &istiod.revision };
    let meshes = &loaded.inventory.meshes;
    let own = meshes.iter().find(|mesh| mesh.revision == revision).or(meshes.first());
    // Without a mesh config, the namespace that the user gives for istiod.
    let elsewhere = settings.cluster.istio_namespace.as_str();
    let opened = Open {
        istiod: Some(istiod.path.clone()).filter(|path| !path.as_os_str().is_empty()),
        sha256: istiod.sha256.clone(),
        documents,
        namespace: settings.namespace.clone().unwrap_or_else(|| "default".to_owned()),
        release: settings.release(),
        revision: revision.to_owned(),
        // The istiod of its namespace reads a mesh config.
        istiod_namespace: own.map_or(elsewhere, |mesh| mesh.object.namespace.as_str()).to_owned(),
        cluster_id: istiod.cluster_id.clone(),
        real,
        environment: istiod.environment.clone(),
        limits: Limits {
            ready: istiod.ready.unwrap_or(defaults.ready),
            memory: istiod.memory.unwrap_or(defaults.memory),
            ..defaults
        },
    };
    Ok(opened.start()?)
}

/// An istiod as the source of proxies; `of`: the cluster or the capture that has its objects.
pub(crate) fn origin(opened: &Opened, of: Option<Origin>) -> Origin {
    Origin::Istiod {
        version: opened.bottle.istiod.version.clone(),
        objects: opened.objects.len(),
        stand_ins: stand_ins(opened),
        of: of.map(Box::new),
    }
}

/// Total number of objects that were made up.
fn stand_ins(opened: &Opened) -> usize {
    let added = &opened.added;
    added.namespaces + added.pods + added.endpoint_slices + added.services + added.secrets
}

/// Whether a document is an EnvoyFilter.
pub(super) fn is_filter(document: &Value) -> bool {
    document.get("kind").and_then(Value::as_str) == Some("EnvoyFilter")
}

/// Makes istiod act as the selected control plane of a mesh: that of the given revision or tag, else the main one.
pub(super) fn acting(istiod: &IstiodSettings, facts: &Facts) -> IstiodSettings {
    let named = istiod.revision.as_str();
    let plane = if named.is_empty() { facts.main_plane() } else { facts.plane(named) };
    let revision = plane.map_or(named, |plane| plane.revision.as_str()).to_owned();
    IstiodSettings { revision, ..istiod.clone() }
}

impl Bottled {
    /// Finds the proxies of the objects. For proxies of an existing mesh, only those in scope.
    pub(super) fn of(opened: Opened, revision: &str, read: Option<ReadMesh>) -> Bottled {
        let revision = own_revision(revision);
        let (mut targets, mut nodes) = (Vec::new(), BTreeMap::new());
        let known: BTreeMap<String, &Target> =
            read.iter().flat_map(|mesh| &mesh.targets).map(|target| (target.full_name(), target)).collect();
        for found in proxies::all(&opened.objects, &opened.common) {
            let name = found.node.full_name();
            let target = match known.get(&name) {
                Some(target) if found.real => (*target).clone(),
                _ if found.real => continue,
                _ => {
                    let proxy = proxy(&found.node, &found.workload);
                    let owner = found.owner.as_deref().map(|kind| (kind, found.workload.as_str()));
                    Target::of_proxy(&proxy, owner, &revision)
                }
            };
            let dumped = read.as_ref().and_then(|mesh| mesh.nodes.get(&name)).filter(|_| found.real);
            nodes.insert(name, dumped.cloned().unwrap_or(found.node));
            targets.push(target);
        }
        let version = opened.bottle.istiod.version.clone();
        Bottled { opened: RefCell::new(opened), targets, nodes, version, read }
    }

    /// Whether its objects were read from a cluster or a capture.
    pub(super) fn of_mesh(&self) -> bool {
        self.read.is_some()
    }

    /// The mesh that its objects were read from.
    pub(super) fn read(&self) -> Option<&ReadMesh> {
        self.read.as_ref()
    }

    /// The release of the istiod, if its binary states it.
    pub(super) fn release(&self) -> Option<Release> {
        self.opened.borrow().bottle.istiod.release
    }

    pub(super) fn origin(&self) -> Origin {
        origin(&self.opened.borrow(), self.read.as_ref().map(|read| read.origin.clone()))
    }

    /// The proxies of the objects.
    pub(super) fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// The node of a target.
    pub(super) fn node(&self, target: &Target) -> Option<&Node> {
        self.nodes.get(&target.full_name())
    }

    /// The proxy of this name, `namespace/pod`.
    pub(super) fn named(&self, name: &str) -> Option<&Node> {
        self.nodes.get(name)
    }

    /// The configurations of these proxies; `None`, with a problem, for each that istiod does not answer.
    pub(super) fn dumps(&self, nodes: &[Node], problems: &mut Vec<Problem>) -> Vec<Option<Dump>> {
        let answers = self.opened.borrow_mut().bottle.ask_all(nodes, &Wanted::default());
        let dumps = nodes.iter().zip(answers).map(|(node, answer)| match answer {
            Ok(configuration) if !configuration.is_empty() => {
                let name = format!("istiod {} for {}", self.version, node.full_name());
                let (dump, mut trouble) = Dump::from_text(name, dump::text(node, &configuration));
                problems.append(&mut trouble);
                dump.map(Dump::without_filters)
            }
            Ok(_) => None,
            Err(fault) => {
                problems.push(unread(&node.full_name(), &fault.to_string()));
                None
            }
        });
        dumps.collect()
    }

    /// Passes on the configurations of these proxies, a few in memory at a time.
    pub(super) fn each(
        &self,
        wanted: &[Target],
        progress: &dyn Progress,
        problems: &mut Vec<Problem>,
        take: &mut Take<'_>,
    ) -> io::Result<()> {
        progress.begin(wanted.len());
        for part in wanted.chunks(AT_ONCE) {
            let known: Vec<(&Target, &Node)> =
                part.iter().filter_map(|target| Some((target, self.nodes.get(&target.full_name())?))).collect();
            let nodes: Vec<Node> = known.iter().map(|(_, node)| (*node).clone()).collect();
            let answers = self.opened.borrow_mut().bottle.ask_all(&nodes, &Wanted::default());
            for ((target, node), answer) in known.into_iter().zip(answers) {
                progress.advance();
                match answer {
                    Ok(configuration) if configuration.is_empty() => {
                        problems.push(unread(&target.full_name(), "istiod has no configuration for it"));
                    }
                    Ok(configuration) => {
                        let name = format!("istiod {} for {}", self.version, target.full_name());
                        let (dump, mut trouble) = Dump::from_text(name, dump::text(node, &configuration));
                        problems.append(&mut trouble);
                        if let Some(dump) = dump {
                            take(problems, dump.without_filters(), target)?;
                        }
                    }
                    Err(fault) => problems.push(unread(&target.full_name(), &fault.to_string())),
                }
            }
        }
        progress.end();
        Ok(())
    }
}

/// The revision of an istiod itself.
pub(super) fn own_revision(revision: &str) -> String {
    if revision.is_empty() { "default" } else { revision }.to_owned()
}

/// What is known about a proxy before istiod is asked.
fn proxy(node: &Node, workload: &str) -> Proxy {
    let text = |key: &str| node.metadata.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let labels = node.metadata.get("LABELS").and_then(Value::as_object);
    let labels =
        labels.into_iter().flatten().filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
    Proxy {
        kind: node.kind,
        name: node.name.clone(),
        workload: workload.to_owned(),
        namespace: node.namespace.clone(),
        labels: labels.collect(),
        istio_version: text("ISTIO_VERSION"),
        metadata: Arc::new(node.metadata.clone()),
        envoy_version: None,
        extensions: Vec::new(),
    }
}

fn unread(proxy: &str, why: &str) -> Problem {
    Problem {
        code: Code::NoDump,
        severity: Severity::Error,
        span: None,
        message: format!("{proxy}: {why}"),
        help: None,
    }
}

//! Control planes outside the namespace where istiod was looked for, and proxies whose control plane is unknown.

use super::api::Cluster;
use super::facts::{self, DEFAULT_REVISION, Facts, REVISION, Station};
use super::kinds::{self, Kind};
use super::list::{Selection, list};
use crate::model::inventory::{Inventory, Workload};
use crate::source::{Code, Problem, Severity};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Control planes that were found elsewhere.
#[derive(Debug, Default)]
pub(super) struct Elsewhere {
    /// Pods that were not read before.
    pub(super) pods: Vec<Value>,
    /// The namespace and revision of each control plane.
    pub(super) planes: BTreeSet<(String, String)>,
}

impl Elsewhere {
    /// Whether nothing was found.
    pub(super) fn is_empty(&self) -> bool {
        self.planes.is_empty()
    }
}

/// Finds the control planes whose pods were read together with other pods, and those that inject the proxies of unknown
/// revisions. `home`: where istiod was looked for.
pub(super) async fn find(cluster: &Cluster, home: &str, inventory: &Inventory, facts: &Facts) -> Elsewhere {
    let mut found = Elsewhere::default();
    let istiods = || inventory.workloads.iter().filter(|pod| facts::is_istiod(pod));
    let revision_of = |pod: &Workload| pod.labels.get(REVISION).map_or(DEFAULT_REVISION, String::as_str).to_owned();
    let at_home: BTreeSet<String> =
        istiods().filter(|pod| pod.object.namespace == home).map(|pod| revision_of(pod)).collect();
    for pod in istiods().filter(|pod| pod.object.namespace != home) {
        let revision = revision_of(pod);
        // Two control planes of one revision cannot be told apart by the revision of a proxy.
        if !at_home.contains(&revision) {
            found.planes.insert((pod.object.namespace.clone(), revision));
        }
    }
    for revision in unknown(inventory, facts).into_keys() {
        for namespace in injectors(cluster, &revision).await {
            let labels = format!("{},{REVISION}={revision}", facts::ISTIOD);
            let selection = Selection { namespace: Some(&namespace), labels: Some(&labels), fields: None };
            let pods = list(cluster, kinds::POD, selection, Some).await.objects;
            if !pods.is_empty() {
                found.planes.insert((namespace, revision.clone()));
                found.pods.extend(pods);
            }
        }
    }
    found
}

/// The namespaces of the Services that inject proxies of a revision.
async fn injectors(cluster: &Cluster, revision: &str) -> BTreeSet<String> {
    let whole = Kind { metadata_only: false, ..*kinds::REVISION_TAG };
    let labels = format!("{REVISION}={revision}");
    let selection = Selection { namespace: None, labels: Some(&labels), fields: None };
    let namespaces = |object: Value| {
        let webhooks = object.get("webhooks")?.as_array()?;
        let of = webhooks.iter().filter_map(|it| it.pointer("/clientConfig/service/namespace")?.as_str());
        Some(of.map(str::to_owned).collect::<Vec<_>>())
    };
    list(cluster, &whole, selection, namespaces).await.objects.into_iter().flatten().collect()
}

/// The revisions that injected running proxies and that no known control plane has, each with its proxies. Only what the injector
/// wrote counts: labels may name tags.
pub(crate) fn unknown(inventory: &Inventory, facts: &Facts) -> BTreeMap<String, Vec<String>> {
    let mut unknown: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for pod in inventory.workloads.iter().filter(|pod| pod.object.kind == kinds::POD.kind && !pod.state.ending) {
        let Some(revision) = pod.annotations.get(REVISION) else { continue };
        let running = |revision: &str| facts.planes.iter().any(|plane| plane.revision == revision && plane.pods > 0);
        if running(revision) || facts.tags.get(revision).is_some_and(|revision| running(revision)) {
            continue;
        }
        if matches!(facts::station(pod, inventory.namespace(&pod.object.namespace)), Station::Proxy(_)) {
            let name = format!("{}/{}", pod.object.namespace, pod.object.name);
            unknown.entry(revision.clone()).or_default().push(name);
        }
    }
    unknown
}

/// Says which proxies are judged by the settings of a control plane that may not be theirs.
pub(crate) fn problem(unknown: &BTreeMap<String, Vec<String>>, facts: &Facts) -> Option<Problem> {
    // If none was found at all, that is reported instead.
    let main = facts.main_plane().filter(|_| facts.planes.iter().any(|plane| plane.pods > 0))?;
    let first = unknown.values().flatten().next()?;
    let revisions: Vec<&str> = unknown.keys().map(String::as_str).collect();
    let judged = match unknown.values().map(Vec::len).sum() {
        1 => format!("{first} is"),
        pods => format!("{pods} pods such as {first} are"),
    };
    let message = format!(
        "no control plane of revision {} was found: {judged} judged by the settings of revision {}",
        revisions.join(", "),
        main.revision,
    );
    let help = "if it runs in another namespace, name that with --istio-namespace".to_owned();
    Some(Problem { code: Code::NoControlPlane, severity: Severity::Error, span: None, message, help: Some(help) })
}

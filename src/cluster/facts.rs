//! Facts about the mesh: its control planes, their releases and settings, and which pods run a proxy.

use crate::model::injection::{self, Sidecar};
use crate::model::inventory::{DEFAULT_ROOT_NAMESPACE, Inventory, Mesh, Object, Workload};
use crate::model::proxy::ProxyKind;
use crate::model::release::Release;
use std::collections::BTreeMap;
use std::str::FromStr;

pub(crate) use crate::model::proxy::REVISION_LABEL as REVISION;

/// Label that names a revision tag.
pub(crate) const TAG: &str = "istio.io/tag";
/// Selects the pods of istiod.
pub(crate) const ISTIOD: &str = "app=istiod";
/// istiod's name for the default revision.
pub(crate) const DEFAULT_REVISION: &str = "default";

/// The name of the ConfigMap with the mesh settings of a revision.
pub(crate) fn mesh_config_name(revision: &str) -> String {
    if revision == DEFAULT_REVISION { "istio".to_owned() } else { format!("istio-{revision}") }
}

/// A control plane as options name it: `REVISION`, or `NAMESPACE/REVISION` if it runs elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaneName {
    /// Its namespace; `None`: that of the mesh's istiod.
    pub namespace: Option<String>,
    /// Its revision.
    pub revision: String,
}

impl FromStr for PlaneName {
    type Err = &'static str;

    /// Fails if a part is no name of an object.
    fn from_str(text: &str) -> Result<PlaneName, &'static str> {
        let (namespace, revision) = match text.split_once('/') {
            Some((namespace, revision)) => (Some(namespace), revision),
            None => (None, text),
        };
        let is_name = |name: &str| {
            let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            !name.is_empty() && name.bytes().all(allowed)
        };
        if namespace.is_none_or(is_name) && is_name(revision) {
            Ok(PlaneName { namespace: namespace.map(str::to_owned), revision: revision.to_owned() })
        } else {
            Err("write it as REVISION, or as NAMESPACE/REVISION")
        }
    }
}

/// One control plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlPlane {
    /// Its revision; `default` if it has no name.
    pub revision: String,
    /// Namespace of its pods; empty when none was seen.
    pub namespace: String,
    /// The version in its image, as written; empty when unknown.
    pub version: String,
    /// How many of its pods were seen.
    pub pods: usize,
    /// `rootNamespace` of its mesh config.
    pub root_namespace: String,
    /// Whether its mesh config was read.
    pub mesh_config: bool,
}

impl ControlPlane {
    /// Its release, if the version is one.
    pub(crate) fn release(&self) -> Option<Release> {
        self.version.parse().ok()
    }
}

/// What is known about a mesh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Version of the API server; empty if unknown.
    pub kubernetes: String,
    /// Control planes by revision.
    pub planes: Vec<ControlPlane>,
    /// Revision tags and their revisions.
    pub tags: BTreeMap<String, String>,
    /// Whether istiod's pods could not be listed: a control plane without a known pod may have some.
    pub uncounted: bool,
}

impl Facts {
    /// Derives the facts from loaded objects.
    pub(crate) fn of(inventory: &Inventory, kubernetes: String) -> Facts {
        let mut planes: BTreeMap<String, ControlPlane> = BTreeMap::new();
        for pod in inventory.workloads.iter().filter(|pod| is_istiod(pod)) {
            let revision = pod.labels.get(REVISION).map_or(DEFAULT_REVISION, String::as_str).to_owned();
            let plane = planes.entry(revision.clone()).or_insert_with(|| plane(inventory, revision));
            plane.namespace.clone_from(&pod.object.namespace);
            plane.pods += 1;
            let version = image_version(pod.discovery_image.as_deref().unwrap_or_default());
            let label = pod.labels.get("app.kubernetes.io/version").map(String::as_str);
            let version = version.or(label).unwrap_or_default();
            // During a rollout both versions run; the older one is more likely to surprise.
            let older = |a: &str, b: &str| a.parse::<Release>().ok() < b.parse::<Release>().ok();
            if plane.version.is_empty() || older(version, &plane.version) {
                version.clone_into(&mut plane.version);
            }
        }
        // A ConfigMap elsewhere may be left over from a control plane that moved.
        for plane in planes.values_mut() {
            let own = |mesh: &&Mesh| is_of(mesh, &plane.revision) && mesh.object.namespace == plane.namespace;
            if let Some(mesh) = inventory.meshes.iter().find(own) {
                plane.root_namespace.clone_from(&mesh.root_namespace);
            }
        }
        for mesh in inventory.meshes.iter() {
            let revision = if mesh.revision.is_empty() { DEFAULT_REVISION.to_owned() } else { mesh.revision.clone() };
            planes.entry(revision.clone()).or_insert_with(|| plane(inventory, revision));
        }
        Facts {
            kubernetes,
            planes: planes.into_values().collect(),
            tags: inventory.revision_tags.clone(),
            uncounted: false,
        }
    }

    /// The number of a control plane's pods, if it is known.
    pub(crate) fn pods(&self, plane: &ControlPlane) -> Option<usize> {
        Some(plane.pods).filter(|pods| *pods > 0 || !self.uncounted)
    }

    /// Adds the webhooks that define tags.
    pub(crate) fn add_tags<'o>(&mut self, webhooks: impl Iterator<Item = &'o serde_json::Value>) {
        for webhook in webhooks {
            let label = |key: &str| {
                let labels = webhook.get("metadata")?.get("labels")?;
                Some(labels.get(key)?.as_str()?.to_owned())
            };
            if let (Some(tag), Some(revision)) = (label(TAG), label(REVISION)) {
                self.tags.insert(tag, revision);
            }
        }
    }

    /// The control plane of a revision or a tag; if there is only one, that one.
    pub(crate) fn plane(&self, revision: &str) -> Option<&ControlPlane> {
        let named = |name: &str| self.planes.iter().find(|plane| plane.revision == name);
        named(revision)
            .or_else(|| named(self.tags.get(revision)?))
            .or_else(|| Some(self.planes.first()?).filter(|_| self.planes.len() == 1))
    }

    /// The control plane used when no revision is given.
    pub(crate) fn main_plane(&self) -> Option<&ControlPlane> {
        let newest = || self.planes.iter().max_by_key(|plane| plane.release());
        self.plane(DEFAULT_REVISION).or_else(newest)
    }
}

fn plane(inventory: &Inventory, revision: String) -> ControlPlane {
    let mesh = inventory.meshes.iter().find(|mesh| is_of(mesh, &revision));
    ControlPlane {
        namespace: mesh.map(|mesh| mesh.object.namespace.clone()).unwrap_or_default(),
        version: String::new(),
        pods: 0,
        root_namespace: mesh.map_or(DEFAULT_ROOT_NAMESPACE, |mesh| &mesh.root_namespace).to_owned(),
        mesh_config: mesh.is_some(),
        revision,
    }
}

/// Whether these are the settings of a revision.
fn is_of(mesh: &Mesh, revision: &str) -> bool {
    mesh.revision == if revision == DEFAULT_REVISION { "" } else { revision }
}

/// Whether a workload is a pod of istiod.
pub(crate) fn is_istiod(workload: &Workload) -> bool {
    workload.object.kind == "Pod" && workload.labels.get("app").is_some_and(|app| app == "istiod")
}

/// The tag of an image: `docker.io/istio/proxyv2:1.30.3-distroless@sha256:…` → `1.30.3-distroless`. `None` when it is not a
/// version.
pub(crate) fn image_version(image: &str) -> Option<&str> {
    let image = image.split('@').next().unwrap_or_default();
    let (name, tag) = image.rsplit_once(':')?;
    (!tag.contains('/') && !name.is_empty() && tag.starts_with(|c: char| c.is_ascii_digit())).then_some(tag)
}

/// The relation of a workload to EnvoyFilters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Station {
    /// It runs a proxy that accepts them.
    Proxy(ProxyKind),
    /// It runs ztunnel, to which istiod sends no EnvoyFilters.
    Ztunnel,
    /// It has no proxy, for this reason.
    None(&'static str),
}

/// The relation of a pod; `namespace` is its namespace, which may request injection.
pub(crate) fn station(pod: &Workload, namespace: Option<&Object>) -> Station {
    let injection = &pod.injection;
    if injection.proxy_image.is_some() {
        let node_type = injection.proxy_args.iter().find_map(|argument| match argument.as_str() {
            "ztunnel" => Some(None),
            other => ProxyKind::from_node_type(other).map(Some),
        });
        return match node_type {
            Some(None) => Station::Ztunnel,
            Some(Some(kind)) => Station::Proxy(kind),
            None if pod.labels.get("app").is_some_and(|app| app == "ztunnel") => Station::Ztunnel,
            None => Station::Proxy(ProxyKind::Sidecar),
        };
    }
    if is_istiod(pod) {
        return Station::None("it is istiod itself");
    }
    Station::None(match injection::sidecar(pod, namespace) {
        Sidecar::HostNetwork => "it uses the host's network: such pods get no sidecar",
        Sidecar::Declined => "its sidecar.istio.io/inject is false",
        Sidecar::Ambient => "it is in ambient mode: ztunnel ignores EnvoyFilters; only its waypoint uses them",
        Sidecar::Injected => {
            "it requests a sidecar and has none: it was started before injection was enabled, or injection failed"
        }
        Sidecar::NotRequested => "its namespace does not request sidecars",
        Sidecar::Unknown => "it has no sidecar",
    })
}

/// The revision that injected a pod: as recorded by the injector, else as requested by the pod or its namespace.
pub(crate) fn revision<'p>(pod: &'p Workload, namespace: Option<&'p Object>) -> &'p str {
    let written = pod.annotations.get(REVISION).or(pod.labels.get(REVISION));
    written.or_else(|| namespace?.labels.get(REVISION)).map_or(DEFAULT_REVISION, String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Options, read_text};

    fn inventory(text: &str) -> Inventory {
        read_text("x", text, &Options::default()).inventory
    }

    #[test]
    fn tags_of_images_are_versions_when_they_look_like_one() {
        for (image, want) in [
            ("docker.io/istio/proxyv2:1.30.3", Some("1.30.3")),
            ("r:5000/istio/pilot:1.30.3-distroless@sha256:00", Some("1.30.3-distroless")),
            ("r:5000/istio/pilot", None),
            ("istio/pilot:latest", None),
            ("auto", None),
        ] {
            assert_eq!(image_version(image), want, "{image}");
        }
    }

    #[test]
    fn control_planes_have_a_revision_a_version_and_a_root_namespace() {
        let inventory = inventory(
            r#"
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: istio-system, labels: {app: istiod, istio.io/rev: "1-29"}}, spec: {containers: [{name: discovery, image: "istio/pilot:1.29.1"}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: istio-system, labels: {app: istiod, istio.io/rev: "1-29"}}, spec: {containers: [{name: discovery, image: "istio/pilot:1.29.0"}]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: istio, namespace: istio-system}, data: {mesh: "rootNamespace: mesh-root"}}
"#,
        );
        let mut facts = Facts::of(&inventory, "v1.36.3".to_owned());
        let found: Vec<_> = facts
            .planes
            .iter()
            .map(|plane| (plane.revision.as_str(), plane.version.as_str(), plane.pods, plane.root_namespace.as_str()))
            .collect();
        assert_eq!(found, [("1-29", "1.29.0", 2, "istio-system"), ("default", "", 0, "mesh-root")]);
        let webhook = serde_json::json!({"metadata": {"labels": {"istio.io/tag": "prod", "istio.io/rev": "1-29"}}});
        facts.add_tags([&webhook].into_iter());
        assert_eq!(facts.plane("prod").unwrap().revision, "1-29");
        assert_eq!(facts.plane("other"), None);
        assert_eq!(facts.main_plane().unwrap().root_namespace, "mesh-root");
    }

    #[test]
    fn says_why_a_pod_cannot_be_affected() {
        let of = |pod: &str, namespace: &str| {
            let text = format!("apiVersion: v1\nkind: Pod\n{pod}\n---\napiVersion: v1\nkind: Namespace\n{namespace}\n");
            let inventory = inventory(&text);
            station(&inventory.workloads[0], inventory.namespaces.first().map(std::convert::AsRef::as_ref))
        };
        let proxy = |node: &str| {
            format!(
                "metadata: {{name: a}}\nspec: {{containers: [{{name: istio-proxy, image: p, args: [proxy, {node}]}}]}}"
            )
        };
        let plain = "metadata: {name: n}";
        assert_eq!(of(&proxy("sidecar"), plain), Station::Proxy(ProxyKind::Sidecar));
        assert_eq!(of(&proxy("router"), plain), Station::Proxy(ProxyKind::Gateway));
        assert_eq!(of(&proxy("waypoint"), plain), Station::Proxy(ProxyKind::Waypoint));
        assert_eq!(of(&proxy("ztunnel"), plain), Station::Ztunnel);
        for (pod, namespace, words) in [
            ("metadata: {name: a}", plain, "does not request"),
            ("metadata: {name: a}", "metadata: {name: n, labels: {istio-injection: enabled}}", "has none"),
            ("metadata: {name: a}", "metadata: {name: n, labels: {istio.io/dataplane-mode: ambient}}", "ambient"),
            ("metadata: {name: a}\nspec: {hostNetwork: true}", plain, "host's network"),
            ("metadata: {name: a, labels: {sidecar.istio.io/inject: \"false\"}}", plain, "inject is false"),
            ("metadata: {name: a, labels: {app: istiod}}", plain, "istiod itself"),
        ] {
            let Station::None(why) = of(pod, namespace) else { panic!("{pod}") };
            assert!(why.contains(words), "{pod}: {why}");
        }
    }
}

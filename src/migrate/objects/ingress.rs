//! Ingresses: istiod turns them into routes of gateways too, in the virtual hosts of their hosts.

use crate::model::inventory::Object;
use serde_json::Value as Json;
use std::collections::HashMap;

/// The annotation that names the class; it goes before `ingressClassName`.
const CLASS: &str = "kubernetes.io/ingress.class";

/// The controller of the classes that istiod serves.
const CONTROLLER: &str = "istio.io/ingress-controller";

/// The Ingresses that istiod serves, by their hosts, each with the first one; `*` stands for every host.
pub(super) fn by_host<'a>(
    ingresses: &[&'a Object],
    classes: &[&'a Object],
    mesh: Option<&Json>,
) -> HashMap<String, &'a Object> {
    let setting =
        |key: &str, default: &'static str| mesh.and_then(|mesh| mesh[key].as_str()).unwrap_or(default).to_owned();
    let (mode, own) = (setting("ingressControllerMode", "STRICT"), setting("ingressClass", "istio"));
    // istiod starts no controller of Ingresses then (`configcontroller.go`).
    if mode == "OFF" {
        return HashMap::new();
    }
    let served: HashMap<&str, bool> = classes
        .iter()
        .map(|class| (class.name.as_str(), class.document.to_json()["spec"]["controller"] == CONTROLLER))
        .collect();
    let mut hosts = HashMap::new();
    for ingress in ingresses {
        let document = ingress.document.to_json();
        let spec = &document["spec"];
        let class = spec["ingressClassName"].as_str().and_then(|name| served.get(name));
        let serves = match (ingress.annotations.get(CLASS), class) {
            (Some(class), _) => *class == own,
            (None, Some(served)) => *served,
            (None, None) => mode == "DEFAULT",
        };
        for rule in spec["rules"].as_array().into_iter().flatten().filter(|_| serves) {
            let host = rule["host"].as_str().filter(|host| !host.is_empty()).unwrap_or("*");
            hosts.entry(host.to_ascii_lowercase()).or_insert(*ingress);
        }
    }
    hosts
}

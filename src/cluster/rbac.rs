//! The rights each command needs, from the table that its requests are made from.

use super::kinds::{CONFIG_MAP, ENVOY_FILTER, Kind, NAMESPACE, Needs, POD};
use super::portals::Via;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Where a command is to be used.
#[derive(Clone, Debug)]
pub struct Place<'p> {
    /// The namespace; all of them without.
    pub namespace: Option<&'p str>,
    /// Where istiod runs.
    pub istio_namespace: &'p str,
    /// The root namespace.
    pub root_namespace: &'p str,
    /// Revisions of control planes beside the default one: their mesh settings have names of their own.
    pub revisions: &'p [String],
    /// The way to proxies.
    pub via: Via,
}

/// What is granted in one place: API group and resources to verbs, with names where only some objects are needed.
type Grants = BTreeMap<(&'static str, Vec<&'static str>, Vec<String>), Vec<&'static str>>;

/// The roles as Kubernetes objects. Nothing in them can change anything in a cluster: `create` on a subresource of pods
/// opens a connection.
pub fn roles(needs: &Needs, place: &Place<'_>) -> Vec<Value> {
    let mut everywhere: Grants = Grants::new();
    let mut at_home: Grants = Grants::new();
    let mut at_istio: Grants = Grants::new();
    let mut at_root: Grants = Grants::new();
    // Filters of the root namespace may select any pod, so that there a command looks at all namespaces.
    let home = place.namespace.filter(|namespace| *namespace != place.root_namespace);
    for kind in needs.kinds {
        match (home, kind.namespaced) {
            (Some(_), true) => list(&mut at_home, kind),
            (Some(_), false) if *kind == NAMESPACE => {
                at_home.insert((kind.group, vec![kind.plural], Vec::new()), vec!["get"]);
            }
            // Somebody who has one namespace only goes without these.
            (Some(_), false) => {}
            (None, _) if *kind == ENVOY_FILTER && place.namespace.is_some() => list(&mut at_root, kind),
            (None, _) => list(&mut everywhere, kind),
        }
        if *kind == ENVOY_FILTER && home.is_some() {
            list(&mut at_root, kind);
        }
    }
    if needs.dumps {
        let (resource, verbs) = place.via.permission();
        let grants = if home.is_some() { &mut at_home } else { &mut everywhere };
        grants.insert(("", vec![resource], Vec::new()), verbs.to_vec());
    }
    list(&mut at_istio, POD);
    let mut names = vec!["istio".to_owned()];
    names.extend(place.revisions.iter().map(|revision| format!("istio-{revision}")));
    at_istio.insert((CONFIG_MAP.group, vec![CONFIG_MAP.plural], names), vec!["get"]);
    if place.root_namespace == place.istio_namespace {
        at_istio.append(&mut at_root);
    }
    let name = format!("envoyfilter-{}", needs.command);
    let mut roles = Vec::new();
    let mut add = |kind: &str, namespace: Option<&str>, grants: Grants| {
        if grants.is_empty() {
            return;
        }
        let metadata = match namespace {
            Some(namespace) => json!({"name": name, "namespace": namespace}),
            None => json!({"name": name}),
        };
        let api_version = "rbac.authorization.k8s.io/v1";
        roles.push(json!({"apiVersion": api_version, "kind": kind, "metadata": metadata, "rules": rules(grants)}));
    };
    add("ClusterRole", None, everywhere);
    match home {
        Some(home) if home == place.istio_namespace => {
            at_istio.append(&mut at_home);
            add("Role", Some(home), at_istio);
        }
        _ => {
            add("Role", home, at_home);
            add("Role", Some(place.istio_namespace), at_istio);
        }
    }
    add("Role", Some(place.root_namespace), at_root);
    roles
}

fn list(grants: &mut Grants, kind: &'static Kind) {
    grants.insert((kind.group, vec![kind.plural], Vec::new()), vec!["list"]);
}

/// Rules with resources of one group and the same verbs together.
fn rules(grants: Grants) -> Vec<Value> {
    let mut merged: Grants = Grants::new();
    let mut together: BTreeMap<(&str, Vec<&str>), Vec<&'static str>> = BTreeMap::new();
    for ((group, resources, names), verbs) in grants {
        if names.is_empty() {
            together.entry((group, verbs)).or_default().extend(resources);
        } else {
            merged.insert((group, resources, names), verbs);
        }
    }
    let plain = together.into_iter().map(|((group, verbs), mut resources)| {
        resources.sort_unstable();
        json!({"apiGroups": [group], "resources": resources, "verbs": verbs})
    });
    let named = merged.into_iter().map(|((group, resources, names), verbs)| {
        json!({"apiGroups": [group], "resources": resources, "resourceNames": names, "verbs": verbs})
    });
    plain.chain(named).collect()
}

#[cfg(test)]
mod tests {
    use super::super::kinds::COMMANDS;
    use super::*;

    fn place(namespace: Option<&str>) -> Place<'_> {
        let revisions = &[];
        Place {
            namespace,
            istio_namespace: "istio-system",
            root_namespace: "istio-system",
            revisions,
            via: Via::PortForward,
        }
    }

    #[test]
    fn no_role_reads_secrets_or_changes_anything() {
        for needs in COMMANDS {
            for namespace in [None, Some("shop"), Some("istio-system")] {
                for role in roles(needs, &place(namespace)) {
                    for rule in role["rules"].as_array().unwrap() {
                        let (resources, verbs) = (rule["resources"].to_string(), rule["verbs"].to_string());
                        assert!(!resources.contains("secrets") && !resources.contains('*'), "{role}");
                        let harmless = !verbs.contains("create") || resources.contains("pods/");
                        assert!(harmless && !verbs.contains('*') && !verbs.contains("update"), "{role}");
                        if resources.contains("configmaps") {
                            assert_eq!(rule["resourceNames"], json!(["istio"]));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn one_namespace_needs_no_cluster_role() {
        let needs = COMMANDS.iter().find(|needs| needs.command == "lint").unwrap();
        let kinds = |namespace| -> Vec<String> {
            let roles = roles(needs, &place(namespace));
            roles.iter().map(|role| format!("{} {}", role["kind"], role["metadata"]["namespace"])).collect()
        };
        assert_eq!(kinds(Some("shop")), ["\"Role\" \"shop\"", "\"Role\" \"istio-system\""]);
        assert_eq!(kinds(None), ["\"ClusterRole\" null", "\"Role\" \"istio-system\""]);
    }
}

//! The rights that each command requires, from the table behind its requests.

use super::facts::{DEFAULT_REVISION, PlaneName, mesh_config_name};
use super::kinds::{
    CLUSTER_OPEN_REPORT, CLUSTER_POLICY_REPORT, CLUSTER_ROLE, CONFIG_MAP, ENVOY_FILTER, EVENT, Kind, LEASE, NAMESPACE,
    Needs, OPEN_REPORT, POD, POLICY_REPORT, REPORT, ROLE, SECRET, SERVICE_ACCOUNT, VALIDATING_WEBHOOK, WATCH, WEBHOOK,
};
use super::via::Via;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Where a command is used.
#[derive(Clone, Debug)]
pub(crate) struct Place<'p> {
    /// The namespace; `None`: all of them.
    pub namespace: Option<&'p str>,
    /// Where istiod runs.
    pub istio_namespace: &'p str,
    /// The root namespace.
    pub root_namespace: &'p str,
    /// Control planes other than the default: their mesh settings have their own names.
    pub revisions: &'p [PlaneName],
    /// The way to read proxies.
    pub via: Via,
}

/// The rights in one place: API group and resources to verbs, with names if only some objects are needed.
type Grants = BTreeMap<(&'static str, Vec<&'static str>, Vec<String>), Vec<&'static str>>;

/// What a command does with its input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Doing {
    /// It reads.
    #[default]
    Reading,
    /// It keeps watching (`get --watch`).
    Watching,
    /// It asks the API server to check EnvoyFilters (`diff --server-side`).
    Trying,
}

impl Doing {
    const fn verbs(self) -> &'static [&'static str] {
        match self {
            Doing::Reading | Doing::Trying => &["list"],
            Doing::Watching => &["list", "watch"],
        }
    }
}

/// The roles as Kubernetes objects. Without `Trying` they cannot change anything in a cluster: `create` on a subresource of
/// pods opens a connection. Kubernetes has no right for dry runs only: the right to try is the right to change.
pub(crate) fn roles(needs: &Needs, place: &Place<'_>, doing: Doing) -> Vec<Value> {
    let name = format!("envoyfilter-{}", needs.command);
    let istiods: &[&str] = if *needs == WATCH { doing.verbs() } else { &["list"] };
    let mut roles = of_verbs(needs, place, &name, doing.verbs(), istiods);
    if doing == Doing::Trying
        && let Some(rules) = roles.first_mut().and_then(|role| role["rules"].as_array_mut())
    {
        rules.push(json!({
            "apiGroups": [ENVOY_FILTER.group], "resources": [ENVOY_FILTER.plural],
            "verbs": ["create", "delete", "get", "update"],
        }));
    }
    roles
}

/// The roles of the admission server, under this name: to watch everything that reviews depend on.
pub(crate) fn watch_roles(name: &str, place: &Place<'_>) -> Vec<Value> {
    of_verbs(&WEBHOOK, place, name, &["list", "watch"], &["list", "watch"])
}

/// The roles of the scheduled report, under this name: to read the input of `lint`, and to write reports.
pub(crate) fn report_roles(name: &str, place: &Place<'_>) -> Vec<Value> {
    let mut roles = of_verbs(&REPORT, place, name, &["list"], &["list"]);
    let reports = |all: &Kind, one: &Kind| {
        json!({
            "apiGroups": [one.group],
            "resources": [all.plural, one.plural],
            "verbs": ["create", "delete", "get", "list", "patch"],
        })
    };
    let everywhere = roles.iter_mut().find(|role| role["kind"] == CLUSTER_ROLE.kind);
    if let Some(rules) = everywhere.and_then(|role| role["rules"].as_array_mut()) {
        rules.push(reports(CLUSTER_POLICY_REPORT, POLICY_REPORT));
        rules.push(reports(CLUSTER_OPEN_REPORT, OPEN_REPORT));
    }
    roles
}

/// Adds the right to write Events to roles, one of which covers all namespaces. Existing Events are updated, never read.
pub(crate) fn grant_events(roles: &mut [Value]) {
    let everywhere = roles.iter_mut().find(|role| role["kind"] == CLUSTER_ROLE.kind);
    if let Some(rules) = everywhere.and_then(|role| role["rules"].as_array_mut()) {
        rules.push(json!({
            "apiGroups": [EVENT.group], "resources": [EVENT.plural], "verbs": ["create", "patch"],
        }));
    }
}

/// The roles of a standing watch, under this name.
pub(crate) fn standing_watch_roles(name: &str, place: &Place<'_>) -> Vec<Value> {
    of_verbs(&WATCH, place, name, Doing::Watching.verbs(), Doing::Watching.verbs())
}

/// A reader of the mesh that is installed in a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// The admission server.
    Admission,
    /// The scheduled report.
    Report,
    /// The standing watch.
    Watch,
}

/// The role of a reader that reads dumps by istiod, under this name, at a control plane besides the main one: its pods and the
/// ConfigMap with its mesh settings.
pub(crate) fn plane_role(reader: Reader, name: &str, namespace: &str, mesh_config: &str) -> Value {
    let (needs, verbs) = match reader {
        Reader::Admission => (&WEBHOOK, Doing::Watching.verbs()),
        Reader::Report => (&REPORT, Doing::Reading.verbs()),
        Reader::Watch => (&WATCH, Doing::Watching.verbs()),
    };
    let mut grants = Grants::new();
    grant_istiods(&mut grants, needs, Via::Istiod, verbs);
    grant_settings(&mut grants, vec![mesh_config.to_owned()], verbs);
    role(ROLE, name, Some(namespace), &rules(grants))
}

/// The right to hold Leases of these names.
pub(crate) fn lease_role(name: &str, namespace: &str, leases: &[String]) -> Value {
    let rule = json!({
        "apiGroups": [LEASE.group], "resources": [LEASE.plural], "resourceNames": leases, "verbs": ["get", "update"],
    });
    role(ROLE, name, Some(namespace), &[rule])
}

/// The right to read config dumps of all proxies.
pub(crate) fn dump_role(name: &str, via: Via) -> Value {
    let (resource, verbs) = via.permission();
    role(CLUSTER_ROLE, name, None, &[json!({"apiGroups": [""], "resources": [resource], "verbs": verbs})])
}

/// The rights of an admission server with its own certificate: its only Secret and its only Lease, both by name, and the
/// `caBundle` of its only webhook configuration. `create` cannot be limited to a name, so it is not granted: `install` creates
/// the empty objects.
pub(crate) fn certificate_roles(
    name: &str,
    namespace: &str,
    (secret, lease, webhook): (&str, &str, &str),
) -> Vec<Value> {
    let one = |kind: &Kind, name: &str| {
        json!({
            "apiGroups": [kind.group], "resources": [kind.plural], "resourceNames": [name],
            "verbs": ["get", "list", "patch", "update", "watch"],
        })
    };
    vec![
        role(CLUSTER_ROLE, name, None, &[one(VALIDATING_WEBHOOK, webhook)]),
        role(ROLE, name, Some(namespace), &[one(SECRET, secret), one(LEASE, lease)]),
    ]
}

/// The binding of a role to a service account.
pub(crate) fn binding(role: &Value, account: &str, namespace: &str) -> Value {
    binding_of(role, &json!({"kind": SERVICE_ACCOUNT.kind, "name": account, "namespace": namespace}))
}

/// The binding of a role to a subject.
pub(crate) fn binding_of(role: &Value, subject: &Value) -> Value {
    json!({
        "apiVersion": role["apiVersion"],
        "kind": format!("{}Binding", role["kind"].as_str().unwrap_or_default()),
        "metadata": role["metadata"],
        "roleRef": {"apiGroup": CLUSTER_ROLE.group, "kind": role["kind"], "name": role["metadata"]["name"]},
        "subjects": [subject],
    })
}

fn role(kind: &Kind, name: &str, namespace: Option<&str>, rules: &[Value]) -> Value {
    let metadata = match namespace {
        Some(namespace) => json!({"name": name, "namespace": namespace}),
        None => json!({"name": name}),
    };
    json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind.kind, "metadata": metadata, "rules": rules})
}

/// `verbs` on the subject of the command, `istiods` on the pods and settings of the control plane.
fn of_verbs(
    needs: &Needs,
    place: &Place<'_>,
    name: &str,
    verbs: &'static [&'static str],
    istiods: &'static [&'static str],
) -> Vec<Value> {
    let mut everywhere: Grants = Grants::new();
    let mut at_home: Grants = Grants::new();
    let mut at_istio: Grants = Grants::new();
    let mut at_root: Grants = Grants::new();
    let mut elsewhere: BTreeMap<&str, Grants> = BTreeMap::new();
    // Filters of the root namespace may select any pod, so there a command reads all namespaces.
    let home = place.namespace.filter(|namespace| *namespace != place.root_namespace);
    for kind in needs.kinds {
        match (home, kind.namespaced) {
            (Some(_), true) => list(&mut at_home, kind, verbs),
            (Some(_), false) if *kind == NAMESPACE => {
                at_home.insert((kind.group, vec![kind.plural], Vec::new()), vec!["get"]);
            }
            // Users with rights in only one namespace do without these.
            (Some(_), false) => {}
            (None, _) if *kind == ENVOY_FILTER && place.namespace.is_some() => list(&mut at_root, kind, verbs),
            (None, _) => list(&mut everywhere, kind, verbs),
        }
        if *kind == ENVOY_FILTER && home.is_some() {
            list(&mut at_root, kind, verbs);
        }
    }
    if needs.dumps {
        let (resource, verbs) = place.via.permission();
        let grants = match home {
            _ if place.via == Via::Istiod => &mut at_istio,
            Some(_) => &mut at_home,
            None => &mut everywhere,
        };
        grants.insert(("", vec![resource], Vec::new()), verbs.to_vec());
    }
    list(&mut at_istio, POD, istiods);
    let mut settings: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    settings.insert(place.istio_namespace, vec![mesh_config_name(DEFAULT_REVISION)]);
    for plane in place.revisions {
        let namespace = plane.namespace.as_deref().unwrap_or(place.istio_namespace);
        settings.entry(namespace).or_default().push(mesh_config_name(&plane.revision));
    }
    for (namespace, names) in settings {
        let grants = if namespace == place.istio_namespace {
            &mut at_istio
        } else {
            let grants = elsewhere.entry(namespace).or_default();
            grant_istiods(grants, needs, place.via, istiods);
            // A control plane's own namespace is its root namespace, unless its mesh config names another.
            if place.namespace.is_some() && needs.kinds.contains(&ENVOY_FILTER) {
                list(grants, ENVOY_FILTER, verbs);
            }
            grants
        };
        grant_settings(grants, names, istiods);
    }
    if place.root_namespace == place.istio_namespace {
        at_istio.append(&mut at_root);
    }
    for (namespace, grants) in [(home, &mut at_home), (Some(place.root_namespace), &mut at_root)] {
        // The kinds of the subject need at least the verbs of the control plane's pods.
        if let Some(mut own) = namespace.and_then(|namespace| elsewhere.remove(namespace)) {
            own.append(grants);
            *grants = own;
        }
    }
    let mut roles = Vec::new();
    let mut add = |kind: &Kind, namespace: Option<&str>, grants: Grants| {
        if !grants.is_empty() {
            roles.push(role(kind, name, namespace, &rules(grants)));
        }
    };
    add(CLUSTER_ROLE, None, everywhere);
    match home {
        Some(home) if home == place.istio_namespace => {
            at_istio.append(&mut at_home);
            add(ROLE, Some(home), at_istio);
        }
        _ => {
            add(ROLE, home, at_home);
            add(ROLE, Some(place.istio_namespace), at_istio);
        }
    }
    add(ROLE, Some(place.root_namespace), at_root);
    for (namespace, grants) in elsewhere {
        add(ROLE, Some(namespace), grants);
    }
    roles
}

/// Adds the right to read the pods of a control plane and, through them, its proxies.
fn grant_istiods(grants: &mut Grants, needs: &Needs, via: Via, verbs: &[&'static str]) {
    list(grants, POD, verbs);
    if needs.dumps && via == Via::Istiod {
        let (resource, verbs) = via.permission();
        grants.insert(("", vec![resource], Vec::new()), verbs.to_vec());
    }
}

/// Adds the right to read mesh settings with these names.
fn grant_settings(grants: &mut Grants, names: Vec<String>, verbs: &[&'static str]) {
    let mut by_name = vec!["get"];
    // Watching one object requires the right to list and watch it by name.
    by_name.extend(verbs.contains(&"watch").then_some(verbs).into_iter().flatten());
    grants.insert((CONFIG_MAP.group, vec![CONFIG_MAP.plural], names), by_name);
}

fn list(grants: &mut Grants, kind: &'static Kind, verbs: &[&'static str]) {
    grants.insert((kind.group, vec![kind.plural], Vec::new()), verbs.to_vec());
}

/// Rules in which resources of one group with the same verbs are combined.
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
                for role in roles(needs, &place(namespace), Doing::Reading) {
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
    fn control_planes_elsewhere_have_roles_in_their_namespaces() {
        let revisions = ["canary", "east/default", "west/blue"].map(|name| name.parse().unwrap());
        let rights = |needs: &Needs, namespace: Option<&str>, via: Via| -> BTreeMap<String, String> {
            let place = Place { revisions: &revisions, via, ..place(namespace) };
            let roles = roles(needs, &place, Doing::Reading);
            let of = |role: &Value| (role["metadata"]["namespace"].to_string(), role["rules"].to_string());
            let all: BTreeMap<String, String> = roles.iter().map(of).collect();
            // One Role for each namespace: they have the same name.
            assert_eq!(all.len(), roles.len(), "{roles:?}");
            all
        };
        let needs = |command: &str| COMMANDS.iter().find(|needs| needs.command == command).unwrap();
        for namespace in [None, Some("shop"), Some("east"), Some("istio-system")] {
            let all = rights(needs("lint"), namespace, Via::Istiod);
            let own = |namespace: &str| all.get(&format!("\"{namespace}\"")).cloned().unwrap_or_default();
            assert!(own("istio-system").contains("\"istio\",\"istio-canary\"]"), "{all:?}");
            for (place, name) in [("east", "[\"istio\"]"), ("west", "[\"istio-blue\"]")] {
                let own = own(place);
                assert!(own.contains(name) && own.contains("pods") && own.contains("portforward"), "{place}: {all:?}");
                assert_eq!(own.contains("envoyfilters"), namespace.is_some(), "{place}: {all:?}");
            }
        }
        assert!(!rights(needs("lint"), Some("shop"), Via::PortForward)["\"west\""].contains("portforward"));
    }

    #[test]
    fn one_namespace_needs_no_cluster_role() {
        let needs = COMMANDS.iter().find(|needs| needs.command == "lint").unwrap();
        let kinds = |namespace| -> Vec<String> {
            let roles = roles(needs, &place(namespace), Doing::Reading);
            roles.iter().map(|role| format!("{} {}", role["kind"], role["metadata"]["namespace"])).collect()
        };
        assert_eq!(kinds(Some("shop")), ["\"Role\" \"shop\"", "\"Role\" \"istio-system\""]);
        assert_eq!(kinds(None), ["\"ClusterRole\" null", "\"Role\" \"istio-system\""]);
    }
}

//! The objects of the standing watch, its alerts and its dashboard.

use super::admission::{bound, place, plain, planes, reader};
use super::{Part, Piece, Slots, container_security, egress, mesh, metadata, pod_labels, pod_security, selector};
use crate::cluster::Via;
use crate::cluster::rbac::{self, Place, Reader};
use serde_json::{Value, json};

const COMPONENT: &str = "watch";
/// Port for Prometheus and kubelet.
const METRICS: u16 = 8080;

fn name(slots: &Slots) -> String {
    format!("{}-watch", slots.name)
}

pub(super) fn pieces(slots: &Slots) -> Vec<Piece> {
    let name = name(slots);
    let mut pieces = Vec::new();
    let by_istiod = Place { via: Via::Istiod, ..place(slots) };
    let mut roles = rbac::standing_watch_roles(&name, &by_istiod);
    rbac::grant_events(&mut roles);
    let files = ["watch-serviceaccount", "watch-rbac", "watch-rbac-proxies"];
    pieces.extend(reader(slots, COMPONENT, &name, roles, (files, Part::Watch, Part::WatchProxies)));
    let own = ("watch-rbac-controlplanes", Part::WatchControlPlanes);
    pieces.extend(planes(slots, (COMPONENT, Reader::Watch), &name, own));
    let mut add = |file, part, object| pieces.push(Piece { file, part, object });
    // `create` cannot be limited to a name, so the watch has no right to it: its Leases are created here.
    for shard in &slots.watch_shards {
        let lease = format!("{name}-{shard}");
        let object = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata(slots, COMPONENT, &lease),
        });
        add("watch-leases", Part::WatchLeases, object);
        let role = rbac::lease_role(&lease, &slots.namespace, std::slice::from_ref(&lease));
        for object in bound(slots, COMPONENT, vec![role], &name) {
            add("watch-leases", Part::WatchLeases, object);
        }
    }
    add("watch-service", Part::Watch, service(slots));
    add("watch-networkpolicy", Part::WatchNetworkPolicy, network_policy(slots));
    add("watch-deployment", Part::Watch, deployment(slots));
    add("watch-servicemonitor", Part::WatchServiceMonitor, monitor(slots));
    add("watch-prometheusrule", Part::PrometheusRule, rule(slots));
    pieces
}

fn service(slots: &Slots) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": metadata(slots, COMPONENT, &name(slots)),
        "spec": {
            "selector": selector(slots, COMPONENT),
            "ports": [{"name": "metrics", "port": METRICS, "targetPort": "metrics", "protocol": "TCP"}],
        },
    })
}

/// kubelet calls from the node, which a policy never blocks.
fn network_policy(slots: &Slots) -> Value {
    json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
        "metadata": metadata(slots, COMPONENT, &name(slots)),
        "spec": {
            "podSelector": {"matchLabels": selector(slots, COMPONENT)},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": slots.metrics_readers, "ports": [{"port": METRICS, "protocol": "TCP"}]}],
            "egress": egress(),
        },
    })
}

fn deployment(slots: &Slots) -> Value {
    let mut arguments: Vec<String> =
        ["watch", "--output=json", "--all-namespaces", "--events"].map(str::to_owned).into();
    let mut add = |option: &str, value: &str| arguments.push(format!("--{option}={value}"));
    add("metrics-address", &format!("0.0.0.0:{METRICS}"));
    add("rate", &plain(&slots.watch_rate));
    add("shards", &plain(&slots.watch_replicas));
    add("lease-prefix", &name(slots));
    add("dump-via", &slots.watch_dumps);
    add("config", "/config/envoyfilter.yaml");
    arguments.extend(mesh(slots));
    let field = |variable: &str, path: &str| json!({"name": variable, "valueFrom": {"fieldRef": {"fieldPath": path}}});
    let probe = |path: &str, period: u8, failures: u8| json!({"httpGet": {"path": path, "port": "metrics"}, "periodSeconds": period, "failureThreshold": failures});
    let container = json!({
        "name": "watch",
        "image": slots.image,
        "imagePullPolicy": slots.pull_policy,
        "args": arguments,
        "env": [field("POD_NAME", "metadata.name"), field("POD_NAMESPACE", "metadata.namespace")],
        "ports": [{"name": "metrics", "containerPort": METRICS, "protocol": "TCP"}],
        // Two minutes to read a large mesh at startup.
        "startupProbe": probe("/healthz", 2, 60),
        "livenessProbe": probe("/healthz", 10, 3),
        "readinessProbe": probe("/readyz", 5, 2),
        "resources": slots.watch_resources,
        "securityContext": container_security(),
        "volumeMounts": [{"name": "config", "mountPath": "/config", "readOnly": true}],
    });
    let spread = json!({
        "topologyKey": "kubernetes.io/hostname", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": selector(slots, COMPONENT)},
    });
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata(slots, COMPONENT, &name(slots)),
        "spec": {
            "replicas": slots.watch_replicas,
            "selector": {"matchLabels": selector(slots, COMPONENT)},
            // There are as many Leases as replicas: a new pod gets one after an old pod has released it.
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}},
            "template": {
                "metadata": {
                    "labels": pod_labels(slots, COMPONENT),
                    "annotations": {"envoyfilter.dev/config-checksum": slots.config_checksum},
                },
                "spec": {
                    "serviceAccountName": name(slots),
                    "imagePullSecrets": slots.pull_secrets,
                    "nodeSelector": slots.node_selector,
                    "tolerations": slots.tolerations,
                    "securityContext": pod_security(),
                    "terminationGracePeriodSeconds": 30,
                    "topologySpreadConstraints": [spread],
                    "containers": [container],
                    "volumes": [{"name": "config", "configMap": {"name": slots.name}}],
                },
            },
        },
    })
}

fn monitor(slots: &Slots) -> Value {
    json!({
        "apiVersion": "monitoring.coreos.com/v1", "kind": "ServiceMonitor",
        "metadata": metadata(slots, COMPONENT, &name(slots)),
        "spec": {
            "selector": {"matchLabels": selector(slots, COMPONENT)},
            "endpoints": [{"port": "metrics", "path": "/metrics", "interval": slots.scrape_interval}],
        },
    })
}

fn rule(slots: &Slots) -> Value {
    json!({
        "apiVersion": "monitoring.coreos.com/v1", "kind": "PrometheusRule",
        "metadata": metadata(slots, COMPONENT, &name(slots)),
        "spec": alerts(),
    })
}

/// How an alert names an EnvoyFilter.
const FILTER: &str = "EnvoyFilter {{ $labels.namespace }}/{{ $labels.name }}";

/// The alerts, in Prometheus's file format.
pub fn alerts() -> Value {
    let alert = |name: &str, expression: &str, wait: &str, severity: &str, summary: &str, description: &str| {
        json!({
            "alert": name, "expr": expression, "for": wait, "labels": {"severity": severity},
            "annotations": {"summary": summary, "description": description},
        })
    };
    let of_filter =
        |problem: &str| format!("sum by (namespace, name) (envoyfilter_watch_problems{{problem=~\"{problem}\"}}) > 0");
    let look = "kubectl describe envoyfilter -n {{ $labels.namespace }} {{ $labels.name }}";
    let rules = vec![
        alert(
            "EnvoyFilterUpdateRejected",
            &of_filter("rejected"),
            "5m",
            "critical",
            "Envoy refuses an update that an EnvoyFilter changes",
            &format!("{FILTER}: proxies keep their old configuration and accept no change to that resource. {look}"),
        ),
        alert(
            "EnvoyFilterNotInEffect",
            &of_filter("not-in-effect|partly-in-effect"),
            "10m",
            "warning",
            "Proxies do not hold what an EnvoyFilter writes",
            &format!("{FILTER}: {{{{ $value }}}} patches and workloads. {look}"),
        ),
        alert(
            "EnvoyFilterReplicasDiffer",
            &of_filter("replicas-differ"),
            "15m",
            "warning",
            "Only some pods of a workload show a patch",
            &format!("{FILTER}: the same request is handled in two ways. {look}"),
        ),
        alert(
            "EnvoyFilterLeftover",
            "sum by (namespace) (envoyfilter_watch_problems{problem=\"leftover\"}) > 0",
            "30m",
            "warning",
            "Proxies hold what no EnvoyFilter explains",
            "Namespace {{ $labels.namespace }}: an EnvoyFilter was deleted, and proxies still run with what it did.",
        ),
        alert(
            "EnvoyFilterFinding",
            "sum by (rule) (envoyfilter_watch_findings{severity=\"error\"}) > 0",
            "10m",
            "warning",
            "lint finds errors in EnvoyFilters",
            "{{ $value }} findings of {{ $labels.rule }}. kubectl envoyfilter rules {{ $labels.rule }}",
        ),
        alert(
            "EnvoyFilterWatchAbsent",
            "absent(envoyfilter_watch_proxies)",
            "10m",
            "critical",
            "Nobody watches EnvoyFilters",
            "No replica of the watch is scraped: nothing can be said about the mesh.",
        ),
        alert(
            "EnvoyFilterProxiesUnread",
            "sum(envoyfilter_watch_proxies) - sum(envoyfilter_watch_proxies_read) > 0.1 * sum(envoyfilter_watch_proxies)",
            "30m",
            "warning",
            "More than a tenth of the proxies are not read",
            "{{ $value }} proxies are not known. The log of the watch has the reasons.",
        ),
        alert(
            "EnvoyFilterWatchStale",
            "max by (kind) (envoyfilter_watch_sync_age_seconds) > 300",
            "5m",
            "warning",
            "The view of the cluster is old",
            "Objects of kind {{ $labels.kind }} were not read for {{ $value }} s.",
        ),
        alert(
            "EnvoyFilterShardsFree",
            "sum(envoyfilter_watch_shards) < max(envoyfilter_watch_shards_wanted)",
            "10m",
            "warning",
            "No replica reads a part of the proxies",
            "No replica holds a Lease of the watch.",
        ),
    ];
    json!({"groups": [{"name": "envoyfilter-watch", "rules": rules}]})
}

/// The panels of a dashboard, from left to right and row by row.
#[derive(Default)]
struct Panels {
    all: Vec<Value>,
    /// Column and row of the next panel, and the height of this row.
    place: (u32, u32, u32),
}

impl Panels {
    /// Columns of a dashboard (Grafana, "JSON model").
    const COLUMNS: u32 = 24;

    /// Adds a panel of a kind with a title; `targets` are queries, each with its legend.
    fn add(&mut self, (kind, title): (&str, &str), size: (u32, u32), targets: &[(&str, &str)], more: Value) {
        let source = json!({"type": "prometheus", "uid": "${datasource}"});
        if self.place.0 + size.0 > Self::COLUMNS {
            self.place = (0, self.place.1 + self.place.2, 0);
        }
        let targets: Vec<Value> = targets
            .iter()
            .zip('A'..)
            .map(|((expression, legend), letter)| {
                json!({
                    "refId": letter.to_string(), "datasource": source, "expr": expression, "legendFormat": legend,
                    "instant": kind != "timeseries", "format": if kind == "table" { "table" } else { "time_series" },
                })
            })
            .collect();
        let mut panel = json!({
            "id": self.all.len() + 1, "type": kind, "title": title, "datasource": source, "targets": targets,
            "gridPos": {"x": self.place.0, "y": self.place.1, "w": size.0, "h": size.1},
        });
        if let (Some(panel), Value::Object(more)) = (panel.as_object_mut(), more) {
            panel.extend(more);
        }
        self.all.push(panel);
        self.place = (self.place.0 + size.0, self.place.1, self.place.2.max(size.1));
    }
}

/// A Grafana dashboard to import.
pub fn dashboard() -> Value {
    let mut panels = Panels::default();
    let mut panel = |kind, title, size, targets: &[(&str, &str)], more| panels.add((kind, title), size, targets, more);
    let red = |unit: &str| {
        json!({"fieldConfig": {"defaults": {"unit": unit, "thresholds": {"mode": "absolute", "steps": [
            {"color": "green", "value": null}, {"color": "red", "value": 1},
        ]}}, "overrides": []}})
    };
    let plain = |unit: &str| json!({"fieldConfig": {"defaults": {"unit": unit}, "overrides": []}});
    let problems = |problem: &str| format!("sum(envoyfilter_watch_problems{{problem=~\"{problem}\"}})");
    panel("stat", "Refused updates", (4, 4), &[(&problems("rejected"), "")], red("none"));
    panel("stat", "Not in effect", (4, 4), &[(&problems("not-in-effect|partly-in-effect"), "")], red("none"));
    panel("stat", "Replicas differ", (4, 4), &[(&problems("replicas-differ"), "")], red("none"));
    panel("stat", "Leftovers", (4, 4), &[(&problems("leftover"), "")], red("none"));
    panel(
        "stat",
        "Proxies read",
        (4, 4),
        &[("sum(envoyfilter_watch_proxies_read) / sum(envoyfilter_watch_proxies)", "")],
        plain("percentunit"),
    );
    panel("stat", "EnvoyFilters", (4, 4), &[("max(envoyfilter_watch_filters)", "")], plain("none"));
    panel(
        "table",
        "What is wrong",
        (12, 10),
        &[("sum by (namespace, name, problem) (envoyfilter_watch_problems) > 0", "")],
        json!({}),
    );
    panel(
        "timeseries",
        "What is wrong, by kind",
        (12, 10),
        &[("sum by (problem) (envoyfilter_watch_problems)", "{{problem}}")],
        plain("none"),
    );
    panel("table", "Findings", (12, 8), &[("sum by (rule, severity) (envoyfilter_watch_findings) > 0", "")], json!({}));
    panel(
        "timeseries",
        "Changes",
        (12, 8),
        &[(
            "sum by (problem, event) (increase(envoyfilter_watch_changes_total[$__rate_interval]))",
            "{{problem}} {{event}}",
        )],
        plain("none"),
    );
    panel(
        "timeseries",
        "Reads",
        (8, 8),
        &[("sum by (outcome) (rate(envoyfilter_watch_reads_total[$__rate_interval]))", "{{outcome}}")],
        plain("ops"),
    );
    panel(
        "timeseries",
        "Duration of a read",
        (8, 8),
        &[(
            "histogram_quantile(0.99, sum by (le) (rate(envoyfilter_watch_read_seconds_bucket[$__rate_interval])))",
            "p99",
        )],
        plain("s"),
    );
    panel(
        "timeseries",
        "Age of what is known",
        (8, 8),
        &[
            ("max(envoyfilter_watch_oldest_reading_seconds)", "oldest proxy"),
            ("max by (kind) (envoyfilter_watch_sync_age_seconds)", "{{kind}}"),
        ],
        plain("s"),
    );
    panel(
        "timeseries",
        "Proxies not read",
        (12, 8),
        &[("sum(envoyfilter_watch_proxies_unread)", "could not be read")],
        plain("none"),
    );
    panel(
        "timeseries",
        "Shards and Events",
        (12, 8),
        &[
            ("sum(envoyfilter_watch_shards)", "shards held"),
            ("max(envoyfilter_watch_shards_wanted)", "shards"),
            ("sum(rate(envoyfilter_watch_events_failed_total[$__rate_interval]))", "Events not written a second"),
        ],
        plain("none"),
    );
    json!({
        "title": "EnvoyFilters", "uid": "envoyfilter-watch", "schemaVersion": 39, "version": 1, "editable": true,
        "refresh": "1m", "time": {"from": "now-6h", "to": "now"}, "tags": ["istio", "envoyfilter"],
        "templating": {"list": [{
            "name": "datasource", "type": "datasource", "query": "prometheus", "label": "Data source", "current": {},
        }]},
        "panels": panels.all,
    })
}

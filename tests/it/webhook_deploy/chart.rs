//! The Helm chart and the kustomization, generated from the objects that `webhook install` applies.

use kubectl_envoyfilter::deploy::{self, Certificates, Part, Parts, Piece, PlaneSlot, Slots};
use kubectl_envoyfilter::load::yaml_text;
use regex::Regex;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const CHART: &str = "helm/kubectl-envoyfilter";

/// A setting of the chart: its path in values.yaml, its default, its comment, and what its schema allows besides the
/// type of the default.
type Setting = (&'static str, Value, &'static str, Value);

fn settings() -> Vec<Setting> {
    let slots = Slots::default();
    let parts = Parts::default();
    let any = Value::Null;
    let one_of = |words: &[&str]| json!({"enum": words});
    vec![
        (
            "name",
            json!(slots.name),
            "Name of the installation and prefix of its objects",
            json!({"pattern": "^[a-z][-a-z0-9]{0,38}[a-z0-9]$"}),
        ),
        (
            "image",
            json!(slots.image),
            "Image of this program, best by its digest: REGISTRY/kubectl-envoyfilter@sha256:...",
            any.clone(),
        ),
        (
            "imagePullPolicy",
            json!(slots.pull_policy),
            "When to pull the image",
            one_of(&["IfNotPresent", "Always", "Never"]),
        ),
        ("imagePullSecrets", slots.pull_secrets, "Pull secrets of the image: [{name: NAME}]", any.clone()),
        ("replicas", slots.replicas, "Replicas of the server", json!({"minimum": 1})),
        ("resources", slots.resources, "Requests and limits of the server", any.clone()),
        ("nodeSelector", slots.node_selector, "Node selector of all pods", any.clone()),
        ("tolerations", slots.tolerations, "Tolerations of all pods", any.clone()),
        (
            "mode",
            json!(slots.mode),
            "What happens to findings: enforce denies, warn shows warnings, audit logs and counts",
            one_of(&["enforce", "warn", "audit"]),
        ),
        (
            "denyAt",
            json!(slots.deny_at),
            "Minimum severity that denies an EnvoyFilter",
            one_of(&["error", "warning", "info"]),
        ),
        (
            "deadline",
            json!(slots.deadline),
            "Maximum duration of a review; must be shorter than timeoutSeconds",
            any.clone(),
        ),
        (
            "onDeadline",
            json!(slots.on_deadline),
            "Answer to a review that exceeds the deadline because the server is overloaded",
            one_of(&["allow", "deny"]),
        ),
        (
            "failurePolicy",
            json!(slots.failure_policy),
            "What the API server does when no replica answers",
            one_of(&["Ignore", "Fail"]),
        ),
        (
            "timeoutSeconds",
            slots.timeout,
            "Timeout of the API server, in seconds",
            json!({"minimum": 1, "maximum": 30}),
        ),
        (
            "sampleProxies",
            slots.sample_proxies,
            "Number of proxies whose extensions the server reads; requires the right to read config dumps",
            json!({"minimum": 0}),
        ),
        ("config", json!(slots.config), "Text of .envoyfilter.yaml", any.clone()),
        (
            "certificates",
            json!(Certificates::Own.as_str()),
            "Source of the certificate: own (made and renewed by the server) or cert-manager",
            one_of(&Certificates::ALL.map(Certificates::as_str)),
        ),
        ("istioNamespace", json!(slots.istio_namespace), "Namespace of istiod", any.clone()),
        (
            "controlPlanes",
            json!([]),
            "Other control planes whose mesh settings are read: [{namespace: NAMESPACE, revision: REVISION}]; without a namespace, those in istioNamespace",
            json!({"items": {
                "type": "object", "additionalProperties": false, "required": ["revision"],
                "properties": {
                    "namespace": {"type": "string", "pattern": "^[-a-z0-9]+$"},
                    "revision": {"type": "string", "pattern": "^[-a-z0-9]+$"},
                },
            }}),
        ),
        ("networkPolicy.enabled", json!(parts.network_policy), "Restrict the traffic of all pods", any.clone()),
        (
            "networkPolicy.apiServers",
            slots.api_servers,
            "Peers that may call the webhook, such as [{ipBlock: {cidr: 10.0.0.1/32}}] for the API server; empty: every peer",
            any.clone(),
        ),
        ("networkPolicy.metricsReaders", slots.metrics_readers, "Peers that may read metrics", any.clone()),
        (
            "serviceMonitor.enabled",
            json!(parts.service_monitor),
            "Create a ServiceMonitor for the Prometheus operator",
            any.clone(),
        ),
        ("serviceMonitor.interval", json!(slots.scrape_interval), "Scrape interval", any.clone()),
        ("report.enabled", json!(parts.report), "Write PolicyReports on a schedule", any.clone()),
        ("report.schedule", json!(slots.schedule), "Schedule in cron format", any.clone()),
        (
            "report.dumpVia",
            json!(slots.report_dumps),
            "Source of config dumps: istiod, or port-forward to every proxy (requires pods/portforward in all namespaces)",
            one_of(&[deploy::ISTIOD, deploy::PORT_FORWARD]),
        ),
        (
            "report.api",
            json!(slots.report_api),
            "API of the reports: wgpolicyk8s.io, openreports.io, or both with a comma",
            one_of(&["wgpolicyk8s.io", "openreports.io", "wgpolicyk8s.io,openreports.io"]),
        ),
        ("report.shards", slots.shards, "Number of pods that share the work", json!({"minimum": 1})),
        ("report.resources", slots.report_resources, "Requests and limits of each pod", any.clone()),
        (
            "watch.enabled",
            json!(parts.watch),
            "Watch proxies and report changes as log lines, metrics and Events",
            any.clone(),
        ),
        (
            "watch.replicas",
            slots.watch_replicas,
            "Replicas, which share the proxies",
            json!({"minimum": 1, "maximum": 64}),
        ),
        (
            "watch.rate",
            slots.watch_rate,
            "Maximum number of proxies that each replica reads in a minute",
            json!({"minimum": 1, "maximum": 60_000}),
        ),
        (
            "watch.dumpVia",
            json!(slots.watch_dumps),
            "Source of config dumps: istiod, or port-forward to every proxy (requires pods/portforward in all namespaces)",
            one_of(&[deploy::ISTIOD, deploy::PORT_FORWARD]),
        ),
        ("watch.resources", slots.watch_resources, "Requests and limits of each pod", any.clone()),
        ("watch.prometheusRule", json!(parts.prometheus_rule), "Create a PrometheusRule with alerts", any),
    ]
}

/// Template expressions instead of values. Those that begin with a function give more than text.
fn expressions() -> Slots {
    let text = |path: &str| format!("{{{{ .Values.{path} }}}}");
    let number = |path: &str| json!(format!("{{{{ int .Values.{path} }}}}"));
    let tree = |path: &str| json!(format!("{{{{ toJson .Values.{path} }}}}"));
    Slots {
        name: text("name"),
        namespace: "{{ .Release.Namespace }}".to_owned(),
        managed_by: "{{ .Release.Service }}".to_owned(),
        image: text("image"),
        pull_policy: text("imagePullPolicy"),
        pull_secrets: tree("imagePullSecrets"),
        replicas: number("replicas"),
        resources: tree("resources"),
        node_selector: tree("nodeSelector"),
        tolerations: tree("tolerations"),
        mode: text("mode"),
        deny_at: text("denyAt"),
        deadline: text("deadline"),
        on_deadline: text("onDeadline"),
        failure_policy: text("failurePolicy"),
        timeout: number("timeoutSeconds"),
        sample_proxies: number("sampleProxies"),
        config: "{{ toJson .Values.config }}".to_owned(),
        config_checksum: "{{ adler32sum .Values.config }}".to_owned(),
        istio_namespace: text("istioNamespace"),
        // The mesh settings contain it.
        root_namespace: String::new(),
        // The template repeats these objects.
        control_planes: vec![PlaneSlot {
            namespace: "{{ $plane.namespace | default .Values.istioNamespace }}".to_owned(),
            revision: "{{ $plane.revision }}".to_owned(),
            mesh_config: "istio{{ if ne $plane.revision \"default\" }}-{{ $plane.revision }}{{ end }}".to_owned(),
        }],
        schedule: text("report.schedule"),
        shards: number("report.shards"),
        report_resources: tree("report.resources"),
        report_dumps: text("report.dumpVia"),
        report_api: text("report.api"),
        watch_replicas: number("watch.replicas"),
        // The template repeats these objects.
        watch_shards: vec!["{{ $shard }}".to_owned()],
        watch_rate: json!(text("watch.rate")),
        watch_resources: tree("watch.resources"),
        watch_dumps: text("watch.dumpVia"),
        scrape_interval: text("serviceMonitor.interval"),
        api_servers: tree("networkPolicy.apiServers"),
        metrics_readers: tree("networkPolicy.metricsReaders"),
        // A list of arguments cannot have an expression that adds one: use `install --client-ca-configmap` instead.
        client_ca: String::new(),
    }
}

/// The condition for a part to be in the chart.
fn condition(part: Part) -> Option<&'static str> {
    match part {
        Part::Namespace => unreachable!("helm makes namespaces itself"),
        Part::Core => None,
        Part::ControlPlanes => None,
        Part::ReportControlPlanes => Some(".Values.report.enabled"),
        Part::WatchControlPlanes => Some(".Values.watch.enabled"),
        Part::SampleProxies => Some("gt (int .Values.sampleProxies) 0"),
        Part::NetworkPolicy => Some(".Values.networkPolicy.enabled"),
        Part::ServiceMonitor => Some(".Values.serviceMonitor.enabled"),
        Part::Report => Some(".Values.report.enabled"),
        Part::ReportProxies => Some("and .Values.report.enabled (eq .Values.report.dumpVia \"port-forward\")"),
        Part::ReportNetworkPolicy => Some("and .Values.report.enabled .Values.networkPolicy.enabled"),
        Part::Watch => Some(".Values.watch.enabled"),
        Part::WatchLeases => Some(".Values.watch.enabled"),
        Part::WatchProxies => Some("and .Values.watch.enabled (eq .Values.watch.dumpVia \"port-forward\")"),
        Part::WatchNetworkPolicy => Some("and .Values.watch.enabled .Values.networkPolicy.enabled"),
        Part::WatchServiceMonitor => Some("and .Values.watch.enabled .Values.serviceMonitor.enabled"),
        Part::PrometheusRule => Some("and .Values.watch.enabled .Values.watch.prometheusRule"),
    }
}

/// What the objects of a part are repeated for.
fn range(part: Part) -> Option<&'static str> {
    match part {
        Part::WatchLeases => Some("$shard := until (int .Values.watch.replicas)"),
        Part::ControlPlanes | Part::ReportControlPlanes | Part::WatchControlPlanes => {
            Some("$plane := .Values.controlPlanes")
        }
        _ => None,
    }
}

/// Every file below deploy/ with its text.
pub(super) fn files() -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    files.insert(format!("{CHART}/Chart.yaml"), chart());
    files.insert(format!("{CHART}/values.yaml"), values());
    files.insert(format!("{CHART}/values.schema.json"), schema());
    files.insert(format!("{CHART}/templates/NOTES.txt"), NOTES.to_owned());
    let slots = expressions();
    let [own, cert_manager] = Certificates::ALL.map(|certificates| by_file(deploy::pieces(&slots, certificates)));
    for (file, pieces) in &own {
        if pieces[0].part != Part::Namespace {
            let other = cert_manager.get(file).expect("both ways have the same files");
            files.insert(format!("{CHART}/templates/{file}.yaml"), template(pieces, other));
        }
    }
    for (file, pieces) in plain() {
        files.insert(format!("kustomize/base/{file}.yaml"), documents(&pieces));
    }
    let dashboard = serde_json::to_string_pretty(&deploy::dashboard()).unwrap() + "\n";
    files.insert("grafana/envoyfilter-watch.json".to_owned(), dashboard);
    files.insert("prometheus/envoyfilter-watch.rules.yaml".to_owned(), yaml_text::write(&deploy::alerts()).unwrap());
    files.insert("kustomize/base/kustomization.yaml".to_owned(), kustomization());
    files.insert("kustomize/overlays/strict/kustomization.yaml".to_owned(), overlay());
    files
}

/// The content of an installation without options, by file.
fn plain() -> Vec<(&'static str, Vec<Piece>)> {
    let parts = Parts::default();
    let pieces = deploy::pieces(&Slots::default(), Certificates::Own);
    in_order(pieces.into_iter().filter(|piece| parts.has(piece.part)).collect())
}

fn in_order(pieces: Vec<Piece>) -> Vec<(&'static str, Vec<Piece>)> {
    let mut files: Vec<(&'static str, Vec<Piece>)> = Vec::new();
    for piece in pieces {
        match files.iter_mut().find(|(file, _)| *file == piece.file) {
            Some((_, pieces)) => pieces.push(piece),
            None => files.push((piece.file, vec![piece])),
        }
    }
    files
}

fn by_file(pieces: Vec<Piece>) -> BTreeMap<&'static str, Vec<Piece>> {
    in_order(pieces).into_iter().collect()
}

fn documents(pieces: &[Piece]) -> String {
    let texts: Vec<String> = pieces.iter().map(|piece| yaml_text::write(&piece.object).unwrap()).collect();
    texts.join("---\n")
}

fn template(own: &[Piece], cert_manager: &[Piece]) -> String {
    // An expression that gives more than text is not quoted.
    let bare = Regex::new(r#"(?m)(['"])(\{\{ (?:int|toJson) [^'"]*\}\})['"]$"#).unwrap();
    // Helm must not evaluate Prometheus templates.
    let alerts = Regex::new(r"\{\{ (\$(?:labels|value)[^}]*) \}\}").unwrap();
    let text = |pieces: &[Piece]| {
        let text = documents(pieces);
        let text = if pieces[0].part == Part::PrometheusRule {
            alerts.replace_all(&text, "{{ `{{ $1 }}` }}").into_owned()
        } else {
            text
        };
        bare.replace_all(&text, "$2").into_owned()
    };
    let (first, second) = (text(own), text(cert_manager));
    let mut body = if first == second {
        first
    } else {
        let word = Certificates::Own.as_str();
        format!("{{{{- if eq .Values.certificates \"{word}\" }}}}\n{first}{{{{- else }}}}\n{second}{{{{- end }}}}\n")
    };
    if let Some(range) = range(own[0].part) {
        let body_of = body.replace(" .Values", " $.Values").replace(" .Release", " $.Release");
        body = format!("{{{{- range {range} }}}}\n---\n{body_of}{{{{- end }}}}\n");
    }
    if let Some(condition) = condition(own[0].part) {
        body = format!("{{{{- if {condition} }}}}\n{body}{{{{- end }}}}\n");
    }
    body
}

fn chart() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let chart = json!({
        "apiVersion": "v2", "name": "kubectl-envoyfilter", "version": version, "appVersion": version, "type": "application",
        "description": "Reviews Istio EnvoyFilters at admission and reports on stored ones",
        // The objects' APIs are stable since then (PodDisruptionBudget's unhealthyPodEvictionPolicy is the latest).
        "kubeVersion": ">=1.27.0-0",
    });
    yaml_text::write(&chart).unwrap()
}

fn values() -> String {
    let mut text = String::new();
    let mut section = "";
    for (path, value, comment, _) in settings() {
        let (above, key) = path.rsplit_once('.').unwrap_or(("", path));
        if above != section {
            writeln!(text, "{above}:").unwrap();
            section = above;
        }
        let indent = if above.is_empty() { "" } else { "  " };
        writeln!(text, "{indent}# {comment}").unwrap();
        for line in yaml_text::write(&json!({key: value})).unwrap().lines() {
            writeln!(text, "{indent}{line}").unwrap();
        }
    }
    text
}

fn schema() -> String {
    let mut properties = Map::new();
    for (path, value, comment, more) in settings() {
        let kind = match &value {
            Value::Number(_) => "integer",
            Value::Bool(_) => "boolean",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
            _ => "string",
        };
        let mut one = json!({"description": comment, "type": kind});
        one.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        match path.split_once('.') {
            None => {
                properties.insert(path.to_owned(), one);
            }
            Some((above, key)) => {
                let closed = || json!({"type": "object", "additionalProperties": false, "properties": {}});
                let above = properties.entry(above).or_insert_with(closed);
                above["properties"][key] = one;
            }
        }
    }
    // Parent charts pass `global`.
    properties.insert("global".to_owned(), json!({"type": "object"}));
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object", "additionalProperties": false, "properties": properties,
    });
    serde_json::to_string_pretty(&schema).unwrap() + "\n"
}

/// `lookup` finds nothing in `helm template`.
const NOTES: &str = r#"To see whether the webhook works:

  kubectl envoyfilter webhook status -n {{ .Release.Namespace }} --name {{ .Values.name }}
{{- $covered := list (printf "%s/default" .Values.istioNamespace) }}
{{- range .Values.controlPlanes }}
{{- $covered = append $covered (printf "%s/%s" (.namespace | default $.Values.istioNamespace) .revision) }}
{{- end }}
{{- $others := list }}
{{- range (lookup "admissionregistration.k8s.io/v1" "MutatingWebhookConfiguration" "" "").items }}
{{- $revision := index (.metadata.labels | default dict) "istio.io/rev" }}
{{- if and $revision (not (hasKey .metadata.labels "istio.io/tag")) }}
{{- range .webhooks }}
{{- with .clientConfig.service }}
{{- $others = append $others (printf "%s/%s" .namespace $revision) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- range uniq $others }}
{{- if not (has . $covered) }}

The accounts cannot read the mesh settings of control plane {{ . }}: add it to controlPlanes.
{{- end }}
{{- end }}
"#;

fn kustomization() -> String {
    let files: Vec<String> = plain().into_iter().map(|(file, _)| format!("{file}.yaml")).collect();
    let value = json!({"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": files});
    yaml_text::write(&value).unwrap()
}

/// The digest in the example: all zeros, so that it cannot be mistaken for a real one.
pub(super) const DIGEST: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

/// An example: no filter passes without a review, and a custom image.
fn overlay() -> String {
    let slots = Slots::default();
    let (image, _) = slots.image.split_once(':').unwrap();
    let value = json!({
        "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization",
        "resources": ["../../base"],
        "images": [{"name": image, "newName": format!("example/{image}"), "digest": DIGEST}],
        "replicas": [{"name": slots.name, "count": 3}],
        "patches": [{
            "target": {"kind": "ValidatingWebhookConfiguration", "name": slots.name},
            "patch": "- op: replace\n  path: /webhooks/0/failurePolicy\n  value: Fail\n",
        }],
    });
    yaml_text::write(&value).unwrap()
}

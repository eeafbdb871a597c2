//! The objects of the scheduled report.

use super::admission::{place, plain, planes, reader};
use super::{Part, Piece, Slots, container_security, egress, mesh, metadata, pod_labels, pod_security, selector};
use crate::cluster::Via;
use crate::cluster::rbac::{self, Place, Reader};
use serde_json::{Value, json};

const COMPONENT: &str = "report";

fn name(slots: &Slots) -> String {
    format!("{}-report", slots.name)
}

pub(super) fn pieces(slots: &Slots) -> Vec<Piece> {
    let name = name(slots);
    let mut pieces = Vec::new();
    let by_istiod = Place { via: Via::Istiod, ..place(slots) };
    let roles = rbac::report_roles(&name, &by_istiod);
    let files = ["report-serviceaccount", "report-rbac", "report-rbac-proxies"];
    pieces.extend(reader(slots, COMPONENT, &name, roles, (files, Part::Report, Part::ReportProxies)));
    let own = ("report-rbac-controlplanes", Part::ReportControlPlanes);
    pieces.extend(planes(slots, (COMPONENT, Reader::Report), &name, own));
    let mut add = |file, part, object| pieces.push(Piece { file, part, object });
    add("report-networkpolicy", Part::ReportNetworkPolicy, network_policy(slots));
    add("report-cronjob", Part::Report, cron_job(slots));
    pieces
}

/// A report accepts no connections.
fn network_policy(slots: &Slots) -> Value {
    json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
        "metadata": metadata(slots, COMPONENT, &name(slots)),
        "spec": {
            "podSelector": {"matchLabels": selector(slots, COMPONENT)},
            "policyTypes": ["Ingress", "Egress"],
            "egress": egress(),
        },
    })
}

/// An Indexed Job that writes one report now, with one pod per shard.
pub(crate) fn shards(slots: &Slots) -> Value {
    let mut spec = job(slots);
    // Keep it for an hour.
    spec["ttlSecondsAfterFinished"] = json!(3_600);
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata(slots, COMPONENT, &name(slots)), "spec": spec})
}

fn cron_job(slots: &Slots) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "CronJob",
        "metadata": metadata(slots, COMPONENT, &name(slots)),
        "spec": {
            "schedule": slots.schedule,
            // Parallel runs would write the same reports.
            "concurrencyPolicy": "Forbid",
            "startingDeadlineSeconds": 600,
            "successfulJobsHistoryLimit": 1,
            "failedJobsHistoryLimit": 2,
            "jobTemplate": {"metadata": {"labels": pod_labels(slots, COMPONENT)}, "spec": job(slots)},
        },
    })
}

/// Every pod of an Indexed Job has its index in JOB_COMPLETION_INDEX, which selects its shard.
fn job(slots: &Slots) -> Value {
    let mut arguments: Vec<String> = ["webhook", "report", "--all-namespaces"].map(str::to_owned).into();
    arguments.push(format!("--name={}", slots.name));
    arguments.push(format!("--shards={}", plain(&slots.shards)));
    arguments.push(format!("--dump-via={}", slots.report_dumps));
    arguments.push(format!("--api={}", slots.report_api));
    arguments.push("--config=/config/envoyfilter.yaml".to_owned());
    // Another run would read no more, and a failed shard ends the others.
    arguments.push("--allow-partial".to_owned());
    arguments.extend(mesh(slots));
    let container = json!({
        "name": "report",
        "image": slots.image,
        "imagePullPolicy": slots.pull_policy,
        "args": arguments,
        "resources": slots.report_resources,
        "securityContext": container_security(),
        "volumeMounts": [{"name": "config", "mountPath": "/config", "readOnly": true}],
    });
    json!({
        "completionMode": "Indexed",
        "completions": slots.shards,
        "parallelism": slots.shards,
        "backoffLimit": 2,
        "activeDeadlineSeconds": 3_000,
        "template": {
            "metadata": {"labels": pod_labels(slots, COMPONENT)},
            "spec": {
                "serviceAccountName": name(slots),
                "restartPolicy": "Never",
                "imagePullSecrets": slots.pull_secrets,
                "nodeSelector": slots.node_selector,
                "tolerations": slots.tolerations,
                "securityContext": pod_security(),
                "containers": [container],
                "volumes": [{"name": "config", "configMap": {"name": slots.name}}],
            },
        },
    })
}

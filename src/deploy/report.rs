//! The objects of the scheduled report.

use super::admission::{account, bound, place, plain};
use super::{Part, Piece, Slots, container_security, mesh, metadata, pod_labels, pod_security};
use crate::cluster::rbac;
use serde_json::{Value, json};

const COMPONENT: &str = "report";

fn name(slots: &Slots) -> String {
    format!("{}-report", slots.name)
}

pub(super) fn pieces(slots: &Slots) -> Vec<Piece> {
    let name = name(slots);
    let mut pieces = Vec::new();
    let mut add = |file, object| pieces.push(Piece { file, part: Part::Report, object });
    add("report-serviceaccount", account(slots, COMPONENT, &name));
    for object in bound(slots, COMPONENT, rbac::reporting(&name, &place(slots)), &name) {
        add("report-rbac", object);
    }
    add("report-cronjob", cron_job(slots));
    pieces
}

/// An Indexed Job that does one report now, in as many pods as there are shards.
pub fn shards(slots: &Slots) -> Value {
    let mut spec = job(slots);
    // A report is looked at once.
    spec["ttlSecondsAfterFinished"] = json!(3_600);
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata(slots, COMPONENT, &name(slots)), "spec": spec})
}

fn cron_job(slots: &Slots) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "CronJob",
        "metadata": metadata(slots, COMPONENT, &name(slots)),
        "spec": {
            "schedule": slots.schedule,
            // Two runs at a time would write the same reports.
            "concurrencyPolicy": "Forbid",
            "startingDeadlineSeconds": 600,
            "successfulJobsHistoryLimit": 1,
            "failedJobsHistoryLimit": 2,
            "jobTemplate": {"metadata": {"labels": pod_labels(slots, COMPONENT)}, "spec": job(slots)},
        },
    })
}

/// Every pod of an Indexed Job has its number in JOB_COMPLETION_INDEX, which is the shard it does.
fn job(slots: &Slots) -> Value {
    let mut arguments: Vec<String> = ["webhook", "report", "--all-namespaces"].map(str::to_owned).into();
    arguments.push(format!("--name={}", slots.name));
    arguments.push(format!("--shards={}", plain(&slots.shards)));
    arguments.push("--config=/config/envoyfilter.yaml".to_owned());
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

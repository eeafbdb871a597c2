//! Whether an installation works: its observed state, and what that means.

use super::{Certificates, IMAGE, NAME};
use crate::cluster::Fault;
use crate::cluster::write::Applied;
use base64::Engine;
use serde_json::{Value, json};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use x509_parser::certificate::X509Certificate;
use x509_parser::pem::Pem;

/// An object, `None` if it does not exist, or why that is unknown.
pub(crate) type Looked = Result<Option<Value>, Fault>;

/// The observed state of an installation.
#[derive(Debug)]
pub(crate) struct Seen {
    /// Its name and namespace.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// The webhook configuration.
    pub webhook: Looked,
    /// The Deployment.
    pub deployment: Looked,
    /// Its pods.
    pub pods: Result<Vec<Value>, Fault>,
    /// The Secret with the certificate.
    pub secret: Looked,
    /// The metrics of one replica.
    pub metrics: Result<String, Fault>,
    /// Answer of the API server to [`trial`].
    pub trial: Result<Applied, Fault>,
    /// The time.
    pub now: SystemTime,
}

/// State of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It works.
    Good,
    /// It works, with a remark.
    Note,
    /// It does not work.
    Bad,
    /// It could not be read.
    Unknown,
}

/// One part of an installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    /// The part: `webhook`, `certificate`, `server`, `metrics`, `review`.
    pub part: &'static str,
    /// Its state.
    pub verdict: Verdict,
    /// A sentence about it.
    pub words: String,
    /// What to do; empty if nothing.
    pub help: String,
}

fn check(part: &'static str, verdict: Verdict, words: impl Into<String>, help: impl Into<String>) -> Check {
    Check { part, verdict, words: words.into(), help: help.into() }
}

/// A certificate that expires sooner should have been renewed: the server renews long before.
const SOON: Duration = Duration::from_secs(7 * DAY);
const DAY: u64 = 24 * 60 * 60;

/// An EnvoyFilter that istiod accepts and `lint` rejects, for a dry run; it is never stored.
pub(crate) fn trial(namespace: &str) -> Value {
    json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": {"name": "webhook-status-trial", "namespace": namespace},
        "spec": {
            // Matches nothing even if it were stored.
            "workloadSelector": {"labels": {"envoyfilter.dev/trial": "nobody"}},
            "configPatches": [{
                "applyTo": "CLUSTER",
                "match": {"context": "SIDECAR_OUTBOUND"},
                "patch": {"operation": "REPLACE", "value": {"connect_timeout": "1s"}},
            }],
        },
    })
}

/// The code of the rule that finds the fault of [`trial`].
fn trial_code() -> &'static str {
    crate::rules::operation::operation_without_effect::RULE.code
}

/// The command that installs it, as this build accepts it.
fn install(name: &str, namespace: &str) -> String {
    let named = if name == NAME { String::new() } else { format!(" --name {name}") };
    let image = if IMAGE.is_some() { "" } else { " --image REGISTRY/kubectl-envoyfilter@sha256:..." };
    format!("kubectl envoyfilter webhook install -n {namespace}{named}{image}")
}

/// The checks of an installation, part by part.
pub(crate) fn checks(seen: &Seen) -> Vec<Check> {
    let mut all = Vec::new();
    let webhook = match &seen.webhook {
        Err(fault) => {
            all.push(check("webhook", Verdict::Unknown, format!("unknown: {fault}"), ""));
            None
        }
        Ok(None) => {
            let words = format!("no ValidatingWebhookConfiguration {}: EnvoyFilters are not reviewed", seen.name);
            let help = install(&seen.name, &seen.namespace);
            all.push(check("webhook", Verdict::Bad, words, help));
            None
        }
        Ok(Some(webhook)) => {
            all.push(configured(seen, webhook));
            Some(webhook)
        }
    };
    let failure = webhook.and_then(|webhook| webhook["webhooks"][0]["failurePolicy"].as_str()).unwrap_or("Ignore");
    if let Some(webhook) = webhook {
        all.push(certificate(seen, webhook, failure));
    }
    all.push(server(seen, failure));
    // Without a server there are no metrics; its check says so.
    if !matches!(seen.deployment, Ok(None)) {
        all.push(measured(seen));
    }
    if webhook.is_some() {
        all.push(reviewed(seen));
    }
    all
}

fn configured(seen: &Seen, webhook: &Value) -> Check {
    let first = &webhook["webhooks"][0];
    let text = |pointer: &str| first.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let namespace = text("/clientConfig/service/namespace");
    if namespace != seen.namespace {
        let words = format!("{} calls a server in namespace {namespace}", seen.name);
        return check("webhook", Verdict::Bad, words, format!("use -n {namespace}"));
    }
    let (failure, timeout) = (text("/failurePolicy"), first["timeoutSeconds"].as_u64().unwrap_or(10));
    let words = format!(
        "{} is installed; without an answer within {timeout} s, an EnvoyFilter is {}",
        seen.name,
        let_in(failure)
    );
    check("webhook", Verdict::Good, words, "")
}

const fn refuses(failure: &str) -> bool {
    matches!(failure.as_bytes(), b"Fail")
}

fn let_in(failure: &str) -> &'static str {
    if refuses(failure) { "denied (failurePolicy Fail)" } else { "admitted without a review (failurePolicy Ignore)" }
}

/// Every certificate of a PEM text.
fn certificates(text: &[u8]) -> Vec<Pem> {
    Pem::iter_from_buffer(text).filter_map(Result::ok).collect()
}

fn decoded(value: &Value) -> Vec<u8> {
    base64::engine::general_purpose::STANDARD.decode(value.as_str().unwrap_or_default()).unwrap_or_default()
}

/// The source of the certificate, according to the webhook configuration.
pub(crate) fn source(webhook: &Value) -> Certificates {
    let annotations = &webhook["metadata"]["annotations"];
    if annotations["cert-manager.io/inject-ca-from"].is_string() {
        Certificates::CertManager
    } else {
        Certificates::Own
    }
}

fn certificate(seen: &Seen, webhook: &Value, failure: &str) -> Check {
    const PART: &str = "certificate";
    let (maker, maker_help) = match source(webhook) {
        Certificates::Own => ("the server", format!("kubectl logs -n {} deployment/{}", seen.namespace, seen.name)),
        Certificates::CertManager => (
            "cert-manager",
            format!("kubectl describe certificate -n {} {}; is its cainjector running?", seen.namespace, seen.name),
        ),
    };
    let bundle = decoded(&webhook["webhooks"][0]["clientConfig"]["caBundle"]);
    let authorities = certificates(&bundle);
    if authorities.is_empty() {
        let words = format!(
            "the webhook configuration has no caBundle, which {maker} writes; EnvoyFilters are {}",
            let_in(failure)
        );
        return check(PART, Verdict::Bad, words, maker_help);
    }
    let secret = match &seen.secret {
        Err(fault) => {
            let words = format!("cannot read Secret {}-tls: {fault}", seen.name);
            return check(PART, Verdict::Unknown, words, "");
        }
        Ok(None) => return check(PART, Verdict::Bad, format!("no Secret {}-tls", seen.name), maker_help),
        Ok(Some(secret)) => secret,
    };
    let own = certificates(&decoded(&secret["data"]["tls.crt"]));
    let Some(leaf) = own.first().and_then(|pem| pem.parse_x509().ok()) else {
        let words = format!("Secret {}-tls contains no certificate, which {maker} writes", seen.name);
        return check(PART, Verdict::Bad, words, maker_help);
    };
    let signed = |authority: &X509Certificate<'_>| leaf.verify_signature(Some(authority.public_key())).is_ok();
    let trusted = authorities.iter().filter_map(|pem| pem.parse_x509().ok()).any(|authority| signed(&authority));
    if !trusted {
        let words = format!(
            "the caBundle does not contain the authority that signed the server's certificate; EnvoyFilters are {}",
            let_in(failure)
        );
        return check(PART, Verdict::Bad, words, maker_help);
    }
    let ends = UNIX_EPOCH + Duration::from_secs(u64::try_from(leaf.validity().not_after.timestamp()).unwrap_or(0));
    let when = leaf.validity().not_after;
    match ends.duration_since(seen.now) {
        Err(_) => check(
            PART,
            Verdict::Bad,
            format!("the certificate expired {when}; EnvoyFilters are {}", let_in(failure)),
            maker_help,
        ),
        Ok(left) if left < SOON => {
            let words = format!("the certificate expires {when}, in {}, and should have been renewed", days(left));
            check(PART, Verdict::Bad, words, maker_help)
        }
        Ok(left) => {
            let words =
                format!("signed by an authority in the caBundle; renewed by {maker}; expires in {}", days(left));
            check(PART, Verdict::Good, words, "")
        }
    }
}

fn days(time: Duration) -> String {
    match time.as_secs() / DAY {
        0 => format!("{} hours", time.as_secs() / 3_600),
        1 => "1 day".to_owned(),
        days => format!("{days} days"),
    }
}

fn server(seen: &Seen, failure: &str) -> Check {
    const PART: &str = "server";
    let deployment = match &seen.deployment {
        Err(fault) => return check(PART, Verdict::Unknown, format!("unknown: {fault}"), ""),
        Ok(None) => {
            let words = format!("no Deployment {} in namespace {}", seen.name, seen.namespace);
            let help = install(&seen.name, &seen.namespace);
            return check(PART, Verdict::Bad, words, help);
        }
        Ok(Some(deployment)) => deployment,
    };
    let number = |pointer: &str| deployment.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    let (wanted, ready) = (number("/spec/replicas"), number("/status/readyReplicas"));
    let image =
        deployment.pointer("/spec/template/spec/containers/0/image").and_then(Value::as_str).unwrap_or_default();
    let waiting = waiting(seen);
    let why = if waiting.is_empty() { String::new() } else { format!(": {waiting}") };
    if ready == 0 {
        let words = format!("none of {wanted} replicas is ready{why}; EnvoyFilters are {}", let_in(failure));
        let help = format!("kubectl describe pods -n {} -l app.kubernetes.io/instance={}", seen.namespace, seen.name);
        return check(PART, Verdict::Bad, words, help);
    }
    let words = format!("{ready} of {wanted} replicas ready, {image}{why}");
    if ready < wanted || number("/status/observedGeneration") < number("/metadata/generation") {
        let help = format!("kubectl rollout status -n {} deployment/{}", seen.namespace, seen.name);
        return check(PART, Verdict::Note, words, help);
    }
    check(PART, Verdict::Good, words, "")
}

/// Why pods are not ready, in the kubelet's words, each once.
fn waiting(seen: &Seen) -> String {
    let pods = seen.pods.as_deref().unwrap_or_default();
    let mut reasons: Vec<String> = Vec::new();
    for pod in pods {
        let states = pod["status"]["containerStatuses"].as_array().into_iter().flatten();
        let waiting = states.filter_map(|status| status["state"]["waiting"].as_object());
        let scheduling = pod["status"]["conditions"].as_array().into_iter().flatten();
        let scheduling = scheduling.filter(|one| one["type"] == "PodScheduled" && one["status"] == "False");
        let said = |reason: &Value, message: &Value| {
            let message = message.as_str().unwrap_or_default();
            let message: String = message.chars().take(120).collect();
            let gap = if message.is_empty() { "" } else { ": " };
            format!("{}{gap}{message}", reason.as_str().unwrap_or_default())
        };
        let null = Value::Null;
        reasons.extend(
            waiting.map(|state| said(state.get("reason").unwrap_or(&null), state.get("message").unwrap_or(&null))),
        );
        reasons.extend(scheduling.map(|one| said(&one["reason"], &one["message"])));
    }
    reasons.sort();
    reasons.dedup();
    reasons.join("; ")
}

/// Sum of the samples of a counter in the text form of Prometheus.
fn counted(metrics: &str, name: &str) -> Option<f64> {
    let samples = metrics.lines().filter_map(|line| {
        let rest = line.strip_prefix(name)?;
        let rest = if let Some(labelled) = rest.strip_prefix('{') { labelled.rsplit_once('}')?.1 } else { rest };
        rest.strip_prefix(' ')?.split(' ').next()?.parse::<f64>().ok()
    });
    samples.fold(None, |sum, value| Some(sum.unwrap_or(0.0) + value))
}

/// The counter of reviews.
pub(crate) const REVIEWS: &str = "envoyfilter_admission_reviews_total";

fn measured(seen: &Seen) -> Check {
    const PART: &str = "metrics";
    match &seen.metrics {
        Err(fault) => {
            let help = "this requires the right to get services/proxy, and a ready replica";
            check(PART, Verdict::Unknown, format!("cannot read the metrics of a replica: {fault}"), help)
        }
        Ok(metrics) => match counted(metrics, REVIEWS) {
            None => check(PART, Verdict::Note, "the replica has reviewed nothing yet", ""),
            Some(reviews) => check(PART, Verdict::Good, format!("{reviews} reviews by one replica"), ""),
        },
    }
}

fn reviewed(seen: &Seen) -> Check {
    const PART: &str = "review";
    let mode = seen.deployment.as_ref().ok().and_then(Option::as_ref).map_or("", mode);
    match &seen.trial {
        Err(Fault::Denied(words)) if words.contains(trial_code()) => {
            check(PART, Verdict::Good, "a trial EnvoyFilter with an error was denied", "")
        }
        Err(Fault::Status(_, words) | Fault::NotAllowed(words)) if words.contains("failed calling webhook") => {
            let help = format!("kubectl logs -n {} deployment/{}", seen.namespace, seen.name);
            check(PART, Verdict::Bad, format!("the API server cannot reach the webhook: {words}"), help)
        }
        Err(Fault::NotAllowed(words)) => {
            let words = format!("cannot try: {words}");
            check(PART, Verdict::Unknown, words, "this requires the right to create EnvoyFilters; nothing is stored")
        }
        Err(Fault::NotFound(words)) => check(
            PART,
            Verdict::Unknown,
            format!("cannot try: {words}"),
            "check that Istio's CustomResourceDefinitions are installed",
        ),
        Err(fault) => check(PART, Verdict::Unknown, format!("cannot try: {fault}"), ""),
        Ok(applied) if applied.warnings.iter().any(|warning| warning.contains(trial_code())) => {
            check(PART, Verdict::Good, "a trial EnvoyFilter with an error was admitted with a warning", "")
        }
        Ok(_) if mode == "audit" => {
            check(PART, Verdict::Note, "mode audit denies nothing; `webhook ladder` shows what enforce would deny", "")
        }
        Ok(_) => {
            let words = "a trial EnvoyFilter with an error was admitted without a warning";
            let help = "check the label envoyfilter.dev/admission of its namespace; otherwise the server does not answer and failurePolicy is Ignore";
            check(PART, Verdict::Bad, words, help)
        }
    }
}

/// The mode in a Deployment's arguments.
fn mode(deployment: &Value) -> &str {
    let arguments = deployment.pointer("/spec/template/spec/containers/0/args").and_then(Value::as_array);
    let mut arguments = arguments.into_iter().flatten().filter_map(Value::as_str);
    arguments.find_map(|argument| argument.strip_prefix("--mode=")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_to_install_can_be_followed() {
        let image = if IMAGE.is_some() { "" } else { " --image REGISTRY/kubectl-envoyfilter@sha256:..." };
        assert_eq!(install(NAME, "gate"), format!("kubectl envoyfilter webhook install -n gate{image}"));
        assert!(install("door", "gate").contains("install -n gate --name door"));
    }

    #[test]
    fn counters_are_summed_over_their_labels() {
        let text = "# TYPE a_total counter\na_total{x=\"1\"} 2\na_total{x=\"}\"} 3 17\na_totally 9\n";
        assert_eq!(counted(text, "a_total"), Some(5.0));
        assert_eq!(counted(text, "b_total"), None);
    }
}

//! `webhook status`: checks every part of an installation, tries a bad filter, and says what to fix.

use super::{Exit, Installation, Session};
use crate::cli::options::TableOrJson;
use crate::cluster::Cluster;
use crate::cluster::kinds::{DEPLOYMENT, ENVOY_FILTER, POD, SECRET, VALIDATING_WEBHOOK};
use crate::deploy::health::{self, Check, Seen, Verdict};
use crate::explain::view::API_VERSION;
use crate::mesh::Error;
use crate::report::{self, style::Role};
use clap::Args;
use serde::Serialize;
use std::time::SystemTime;

#[derive(Debug, Args)]
pub(super) struct Status {
    #[command(flatten)]
    installation: Installation,
    /// Namespace for a trial EnvoyFilter (a dry run: nothing is stored) [default: the context's]
    #[arg(long, value_name = "NAMESPACE")]
    trial_namespace: Option<String>,
    /// Output format
    #[arg(short, long, default_value = "table")]
    output: TableOrJson,
}

/// The result as data.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    api_version: &'static str,
    kind: &'static str,
    name: &'a str,
    namespace: &'a str,
    checks: Vec<Item<'a>>,
}

#[derive(Debug, Serialize)]
struct Item<'a> {
    part: &'static str,
    verdict: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    help: &'a str,
}

impl<'a> From<&'a Check> for Item<'a> {
    fn from(check: &'a Check) -> Item<'a> {
        let Check { part, verdict, words, help } = check;
        Item { part, verdict: verdict_name(*verdict), message: words, help }
    }
}

impl Status {
    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        let namespace = Installation::namespace(session);
        let (runtime, cluster) = session.connect()?;
        let seen = runtime.block_on(self.look(&cluster, &namespace));
        let checks = health::checks(&seen);
        match self.output {
            TableOrJson::Json => {
                let answer = Answer {
                    api_version: API_VERSION,
                    kind: "WebhookStatus",
                    name: &seen.name,
                    namespace: &seen.namespace,
                    checks: checks.iter().map(Item::from).collect(),
                };
                report::json(session.out, &answer)?;
            }
            TableOrJson::Table => {
                for Check { part, verdict, words, help } in &checks {
                    let (sign, role) = match verdict {
                        Verdict::Good => ("✓", Role::Good),
                        Verdict::Note => ("·", Role::Dim),
                        Verdict::Bad => ("✗", Role::Bad),
                        Verdict::Unknown => ("?", Role::Odd),
                    };
                    writeln!(session.out, "{} {part:<12} {words}", session.around.out.paint(role, sign))?;
                    if !help.is_empty() {
                        writeln!(session.out, "  {:<12} → {help}", "")?;
                    }
                }
            }
        }
        let has = |verdict| checks.iter().any(|check| check.verdict == verdict);
        Ok(if has(Verdict::Bad) {
            Exit::Findings
        } else if has(Verdict::Unknown) {
            Exit::Partial
        } else {
            Exit::Ok
        })
    }

    async fn look(&self, cluster: &Cluster, namespace: &str) -> Seen {
        let name = self.installation.name.clone();
        let own = Some(namespace);
        let labels = format!("{}={name},app.kubernetes.io/component=admission", crate::deploy::INSTANCE);
        // The installation's own namespaces are exempt, so a trial there would show nothing.
        let exempt = |one: &String| one == namespace || one == "kube-system";
        let context = Some(cluster.namespace.clone()).filter(|one| !exempt(one));
        let trial = self.trial_namespace.clone().or(context).unwrap_or_else(|| "default".to_owned());
        let metrics = format!("/api/v1/namespaces/{namespace}/services/http:{name}:metrics/proxy/metrics");
        Seen {
            webhook: cluster.object(VALIDATING_WEBHOOK, None, &name).await,
            deployment: cluster.object(DEPLOYMENT, own, &name).await,
            pods: cluster.labelled(POD, own, &labels).await,
            secret: cluster.object(SECRET, own, &format!("{name}-tls")).await,
            metrics: cluster.text(&metrics).await,
            trial: cluster.try_create(ENVOY_FILTER, &trial, &health::trial(&trial)).await,
            namespace: namespace.to_owned(),
            name,
            now: SystemTime::now(),
        }
    }
}

const fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Good => "good",
        Verdict::Note => "note",
        Verdict::Bad => "bad",
        Verdict::Unknown => "unknown",
    }
}

//! `webhook uninstall`: takes away what has the installation's labels, and nothing else.

use super::{DryRun, Exit, Installation, Session, called, failed, live};
use crate::cluster::Fault;
use crate::cluster::kinds::{CLUSTER_POLICY_REPORT, Kind, MADE, POLICY_REPORT, ROLE, ROLE_BINDING};
use crate::cluster::write::Dry;
use clap::Args;
use std::io;

#[derive(Debug, Args)]
pub(super) struct Uninstall {
    #[command(flatten)]
    installation: Installation,
    /// Leave the reports where they are
    #[arg(long)]
    keep_reports: bool,
    /// Whether anything is done: none (it is), client (it is only said), server (the API server checks it)
    #[arg(long, default_value = "none", hide_possible_values = true, value_name = "HOW")]
    dry_run: DryRun,
}

impl Uninstall {
    pub(super) fn run(&self, session: &mut Session<'_>) -> io::Result<Exit> {
        let namespace = Installation::namespace(session);
        let (runtime, cluster) = match live::connect(session)? {
            Ok(connected) => connected,
            Err(exit) => return Ok(exit),
        };
        let mut found = 0;
        // The webhook configuration goes first, so that the API server does not call a server that is not there any more.
        for kind in MADE.iter().rev() {
            let report = [POLICY_REPORT, CLUSTER_POLICY_REPORT].contains(kind);
            if report && self.keep_reports {
                continue;
            }
            let anywhere = !kind.namespaced || report || [ROLE, ROLE_BINDING].contains(kind);
            let place = (!anywhere).then_some(namespace.as_str());
            let objects = match runtime.block_on(cluster.labelled(kind, place, &self.installation.labels())) {
                Ok(objects) => objects,
                Err(fault) => return self.trouble(session, &format!("cannot list {}", kind.plural), &fault),
            };
            // What is going already needs no second push: a namespace takes its time.
            for object in objects.into_iter().filter(|object| object["metadata"]["deletionTimestamp"].is_null()) {
                found += 1;
                let what = called(&object);
                let done = match self.dry_run {
                    DryRun::None => "removed",
                    DryRun::Client => "would be removed",
                    DryRun::Server => "removed (server dry run)",
                };
                if self.dry_run != DryRun::Client {
                    let dry = if self.dry_run == DryRun::Server { Dry::Server } else { Dry::No };
                    if let Err(fault) = runtime.block_on(remove(&cluster, kind, &object, dry)) {
                        return self.trouble(session, &format!("cannot remove {what}"), &fault);
                    }
                }
                writeln!(session.out, "{what} {done}")?;
            }
        }
        if found == 0 {
            let name = &self.installation.name;
            writeln!(
                session.err,
                "note: nothing of an installation {name} is in namespace {namespace}; -n and --name say which"
            )?;
        }
        Ok(Exit::Ok)
    }

    fn trouble(&self, session: &mut Session<'_>, what: &str, fault: &Fault) -> io::Result<Exit> {
        let labels = self.installation.labels();
        failed(session, what, fault, Some(&format!("what is left has the labels {labels}; run it again")))
    }
}

async fn remove(
    cluster: &crate::cluster::Cluster,
    kind: &Kind,
    object: &serde_json::Value,
    dry: Dry,
) -> Result<bool, Fault> {
    let text = |key: &str| object["metadata"][key].as_str();
    cluster.delete(kind, text("namespace"), text("name").unwrap_or_default(), dry).await
}

//! `webhook uninstall`: removes the objects with the installation's labels, and nothing else.

use super::{DryRun, Exit, Installation, Session, called, failed};
use crate::cluster::Fault;
use crate::cluster::kinds::{Kind, MADE, REPORTS, ROLE, ROLE_BINDING};
use crate::cluster::write::Dry;
use crate::mesh::Error;
use clap::Args;

#[derive(Debug, Args)]
pub(super) struct Uninstall {
    #[command(flatten)]
    installation: Installation,
    /// Keep the reports
    #[arg(long)]
    keep_reports: bool,
    /// Only print (client), or only let the API server check (server)
    #[arg(long, default_value = "none", hide_possible_values = true, value_name = "HOW")]
    dry_run: DryRun,
}

impl Uninstall {
    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        let namespace = Installation::namespace(session);
        let (runtime, cluster) = session.connect()?;
        let mut found = 0;
        // The webhook configuration goes first, so that the API server does not call a server that is already gone.
        for kind in MADE.iter().rev() {
            let report = REPORTS.contains(kind);
            if report && self.keep_reports {
                continue;
            }
            let anywhere = !kind.namespaced || report || [ROLE, ROLE_BINDING].contains(kind);
            let place = (!anywhere).then_some(namespace.as_str());
            let objects = match runtime.block_on(cluster.labelled(kind, place, &self.installation.labels())) {
                Ok(objects) => objects,
                Err(fault) => return self.trouble(session, &format!("cannot list {}", kind.plural), &fault),
            };
            // Objects being deleted need no second request: a namespace takes its time.
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
                "note: no installation {name} found in namespace {namespace}; choose another with -n and --name"
            )?;
        }
        Ok(Exit::Ok)
    }

    fn trouble(&self, session: &mut Session<'_>, what: &str, fault: &Fault) -> Result<Exit, Error> {
        let labels = self.installation.labels();
        failed(
            session,
            what,
            fault,
            Some(&format!("the remaining objects have the labels {labels}; run the command again")),
        )
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

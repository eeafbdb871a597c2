//! `rbac`: the roles that a command needs, to be reviewed and applied.

use super::session::{Exit, Session};
use crate::cluster::Via;
use crate::cluster::kinds::{COMMANDS, Needs};
use crate::cluster::rbac::{Doing, Place, roles};
use crate::load::yaml_text;
use crate::mesh::Error;
use clap::Args;
use std::io;

#[derive(Debug, Args)]
pub(super) struct Rbac {
    /// The command: lint, explain, diff, render, get, status, version, audit or capture
    #[arg(default_value = "lint", value_parser = needs)]
    command: &'static Needs,
    /// Revision of another control plane, whose mesh config is read too
    #[arg(long, value_name = "REVISION")]
    revision: Vec<String>,
    /// Include the rights for `get --watch` or `status --watch`
    #[arg(long)]
    watch: bool,
    /// Include the rights for `diff --server-side`: to change EnvoyFilters, as Kubernetes has none for a dry run alone
    #[arg(long, conflicts_with = "watch")]
    server_side: bool,
}

fn needs(word: &str) -> Result<&'static Needs, String> {
    COMMANDS.iter().find(|needs| needs.command == word).ok_or_else(|| {
        let words: Vec<&str> = COMMANDS.iter().map(|needs| needs.command).collect();
        format!("one of {}", words.join(", "))
    })
}

impl Rbac {
    /// With -n the roles for one namespace, without it those for all.
    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        let options = &session.global.cluster;
        let place = Place {
            namespace: session.global.namespace.as_deref().filter(|_| !options.all_namespaces),
            istio_namespace: options.istio_namespace(),
            root_namespace: session.global.root_namespace.as_deref().unwrap_or(options.istio_namespace()),
            revisions: &self.revision,
            via: options.via().unwrap_or(Via::PortForward),
        };
        let doing = match (self.command.command, self.watch, self.server_side) {
            (_, false, false) => Doing::Reading,
            ("get" | "status", true, false) => Doing::Watching,
            ("diff", false, true) => Doing::Trying,
            (_, true, _) => return session.usage("only `get` and `status` watch: rbac get --watch", None),
            _ => return session.usage("only `diff` asks the API server: rbac diff --server-side", None),
        };
        for role in roles(self.command, &place, doing) {
            let text = yaml_text::write(&role).map_err(io::Error::other)?;
            write!(session.out, "---\n{text}")?;
        }
        Ok(Exit::Ok)
    }
}

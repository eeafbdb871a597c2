//! `rbac`: the roles that a command requires, to be reviewed and applied.

use super::session::{Exit, Session};
use crate::cluster::Via;
use crate::cluster::facts::PlaneName;
use crate::cluster::kinds::{COMMANDS, Needs};
use crate::cluster::rbac::{Doing, Place, binding_of, grant_events, roles};
use crate::load::yaml_text;
use crate::mesh::Error;
use crate::source::ErrorMessage;
use clap::Args;
use serde_json::{Value, json};
use std::io;

#[derive(Debug, Args)]
pub(super) struct Rbac {
    /// The command: lint, explain, diff, render, get, status, version, watch, audit, migrate, capture, dump or doctor
    #[arg(default_value = "lint", value_parser = needs)]
    command: &'static Needs,
    /// Another control plane whose mesh config is read too, with its namespace if it runs elsewhere; may be repeated
    #[arg(long, value_name = "[NAMESPACE/]REVISION")]
    revision: Vec<PlaneName>,
    /// Include the rights for `get --watch` or `status --watch`
    #[arg(long)]
    watch: bool,
    /// Include the rights for `diff --server-side`: to change EnvoyFilters, as Kubernetes has none for a dry run alone
    #[arg(long, conflicts_with = "watch")]
    server_side: bool,
    /// The rights for the command with --istiod: to list everything that istiod reads, but no Secrets
    #[arg(long, conflicts_with_all = ["watch", "server_side", "events"])]
    istiod: bool,
    /// Include the right to write Events, for `watch --events`
    #[arg(long)]
    events: bool,
    /// Also print bindings to a user, to group:NAME or to serviceaccount:NAMESPACE:NAME
    #[arg(long, value_name = "NAME", value_parser = subject)]
    binding: Option<Value>,
}

/// The subject of a binding that gets the rights.
fn subject(text: &str) -> Result<Value, ErrorMessage> {
    let bad = || ErrorMessage::from("a user, group:NAME or serviceaccount:NAMESPACE:NAME");
    let account = text.strip_prefix("serviceaccount:").or_else(|| text.strip_prefix("system:serviceaccount:"));
    let group = text.strip_prefix("group:");
    if [Some(text), account, group].contains(&Some("")) {
        return Err(bad());
    }
    if let Some(account) = account {
        let (namespace, name) =
            account.split_once(':').filter(|(a, b)| !a.is_empty() && !b.is_empty()).ok_or_else(bad)?;
        return Ok(json!({"kind": "ServiceAccount", "name": name, "namespace": namespace}));
    }
    let (kind, name) = group.map_or(("User", text), |name| ("Group", name));
    Ok(json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}))
}

fn needs(word: &str) -> Result<&'static Needs, ErrorMessage> {
    COMMANDS.iter().find(|needs| needs.command == word).ok_or_else(|| {
        let words: Vec<&str> = COMMANDS.iter().map(|needs| needs.command).collect();
        format!("one of {}", words.join(", ")).into()
    })
}

impl Rbac {
    /// With -n the roles for one namespace, otherwise those for all.
    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        let options = &session.global.cluster;
        let watches = self.command.command == "watch";
        let namespace = session.global.namespace.as_deref().filter(|_| !options.all_namespaces);
        if watches && namespace.is_some() {
            session.note("`watch -n` reads the objects of all namespaces and tells about one: the role is for all")?;
        }
        let of_all = self.istiod || matches!(self.command.command, "dump" | "doctor");
        if of_all && namespace.is_some() {
            session.note("istiod reads the objects of all namespaces: the role is for all")?;
        }
        let place = Place {
            namespace: namespace.filter(|_| !watches && !of_all),
            istio_namespace: options.istio_namespace(),
            root_namespace: session.global.root_namespace.as_deref().unwrap_or(options.istio_namespace()),
            revisions: &self.revision,
            via: options.via().unwrap_or(Via::PortForward),
        };
        let doing = match (self.command.command, self.watch, self.server_side) {
            ("watch", _, false) | ("get" | "status", true, false) => Doing::Watching,
            (_, false, false) => Doing::Reading,
            ("diff", false, true) => Doing::Trying,
            (_, true, _) => return session.usage("only `get`, `status` and `watch` watch: rbac get --watch", None),
            _ => return session.usage("only `diff` asks the API server: rbac diff --server-side", None),
        };
        if self.events && !watches {
            return session.usage("only `watch` writes Events: rbac watch --events", None);
        }
        let asks =
            ["lint", "explain", "diff", "render", "audit", "migrate", "dump", "doctor"].contains(&self.command.command);
        if self.istiod && !asks {
            let message = format!("`{}` asks no istiod about a cluster", self.command.command);
            return session.usage(&message, Some("lint, explain, diff, render, audit, migrate, dump and doctor do"));
        }
        // Proxies' current dumps show what they run with.
        let with_istiod = Needs { dumps: self.command.command == "audit", ..self.command.with_istiod() };
        let needs = if self.istiod { &with_istiod } else { self.command };
        let mut roles = roles(needs, &place, doing);
        if self.events {
            grant_events(&mut roles);
        }
        for role in roles {
            let binding = self.binding.as_ref().map(|subject| binding_of(&role, subject));
            for object in std::iter::once(role).chain(binding) {
                let text = yaml_text::write(&object).map_err(io::Error::other)?;
                write!(session.out, "---\n{text}")?;
            }
        }
        Ok(Exit::Ok)
    }
}

//! `webhook`: what reviews EnvoyFilters in the cluster: the server, its installation, reports, and policies of the API server.

mod install;
mod policy;
mod report;
mod serve;
mod status;
mod uninstall;

use super::{Exit, Session, examples, live};
use crate::cluster::Fault;
use crate::{deploy, report as forms};
use clap::{Args, Subcommand, ValueEnum};
use std::io;

pub(super) use report::Shard;

#[derive(Debug, Args)]
pub(super) struct Webhook {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Install the admission webhook and the scheduled report, or print what that takes
    #[command(after_help = examples::INSTALL)]
    Install(Box<install::Install>),
    /// Say whether the webhook is there and does its work, and what to do where it does not
    #[command(after_help = examples::WEBHOOK_STATUS)]
    Status(status::Status),
    /// Lint the running mesh and write what is found into it, as PolicyReports
    #[command(
        after_help = examples::REPORT,
        mut_arg("name", |name| name.help("Name of the installation that the reports belong to"))
    )]
    Report(report::Report),
    /// Print policies with which the API server checks some rules by itself, without a webhook
    #[command(
        after_help = examples::POLICY,
        mut_arg("name", |name| name.help("Name of the installation, which the names of the policies begin with"))
    )]
    Policy(policy::Print),
    /// Remove what `install` made, and what the webhook made for itself
    #[command(after_help = examples::UNINSTALL)]
    Uninstall(uninstall::Uninstall),
    /// Answer the API server: what the deployment of the webhook runs
    #[command(after_help = examples::SERVE)]
    Serve(Box<serve::Serve>),
}

/// What the API server does where admission gives no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailurePolicy {
    #[value(name = "Ignore")]
    Ignore,
    #[value(name = "Fail")]
    Fail,
}

/// The word of a value in options.
fn word(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

impl Webhook {
    pub(super) fn run(&self, session: &mut Session<'_>) -> io::Result<Exit> {
        match &self.command {
            Command::Install(command) => command.run(session),
            Command::Serve(command) => command.run(session),
            Command::Status(command) => command.run(session),
            Command::Policy(command) => command.run(session),
            Command::Report(command) => command.run(session),
            Command::Uninstall(command) => command.run(session),
        }
    }
}

/// Which installation is meant.
#[derive(Debug, Args)]
struct Installation {
    /// Name of the installation; -n is its namespace [default namespace: envoyfilter-system]
    #[arg(long, value_name = "NAME", default_value = deploy::NAME, value_parser = name)]
    name: String,
}

impl Installation {
    /// Its namespace.
    fn namespace(session: &Session<'_>) -> String {
        session.global.namespace.clone().unwrap_or_else(|| deploy::DEFAULT_NAMESPACE.to_owned())
    }

    /// What selects its objects.
    fn labels(&self) -> String {
        format!("{}={},{}={}", deploy::MANAGED_BY, deploy::PROGRAM, deploy::INSTANCE, self.name)
    }
}

/// A name that all objects of an installation can have: a Service's is the shortest (RFC 1035), and some get a suffix.
fn name(text: &str) -> Result<String, String> {
    const LONGEST: usize = 40;
    let letters = text.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '-');
    let ends = text.starts_with(|first: char| first.is_ascii_lowercase()) && !text.ends_with('-');
    if letters && ends && text.len() <= LONGEST {
        return Ok(text.to_owned());
    }
    Err(format!("small letters, digits and -, beginning with a letter, at most {LONGEST}"))
}

/// Whether anything is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DryRun {
    /// It is done
    None,
    /// It is only said
    Client,
    /// The API server checks it and keeps nothing
    Server,
}

/// Forms of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum YamlOrJson {
    /// Documents, as kubectl apply takes them
    Yaml,
    /// One List
    Json,
}

/// Writes objects as kubectl does.
fn write_objects(session: &mut Session<'_>, objects: &[serde_json::Value], form: YamlOrJson) -> io::Result<()> {
    match form {
        YamlOrJson::Yaml => {
            for object in objects {
                let text = crate::load::yaml_text::write(object).map_err(io::Error::other)?;
                write!(session.out, "---\n{text}")?;
            }
            Ok(())
        }
        YamlOrJson::Json => {
            let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": objects});
            forms::json(session.out, &list)
        }
    }
}

/// `deployment.apps/name in namespace`, as kubectl names objects.
fn called(object: &serde_json::Value) -> String {
    let text = |pointer: &str| object.pointer(pointer).and_then(serde_json::Value::as_str).unwrap_or_default();
    let kind = text("/kind").to_lowercase();
    let group = text("/apiVersion").split_once('/').map_or(String::new(), |(group, _)| format!(".{group}"));
    let place = match text("/metadata/namespace") {
        "" => String::new(),
        namespace => format!(" in {namespace}"),
    };
    format!("{kind}{group}/{}{place}", text("/metadata/name"))
}

/// Says what the cluster did not do.
fn failed(session: &mut Session<'_>, what: &str, fault: &Fault, help: Option<&str>) -> io::Result<Exit> {
    let word = session.around.err.paint(forms::style::Role::Bad, "error");
    writeln!(session.err, "{word}: {what}: {fault}")?;
    let rights =
        "installing takes the rights of a cluster administrator: a role can only be granted by who has its rights";
    let help = if matches!(fault, Fault::NotAllowed(_)) { Some(rights) } else { help };
    if let Some(help) = help {
        writeln!(session.err, "  help: {help}")?;
    }
    Ok(Exit::Partial)
}

//! `webhook`: EnvoyFilters reviewed in the cluster: the server, its installation, reports, and policies of the API server.

mod install;
mod ladder;
mod policy;
mod report;
pub(super) mod serve;
mod status;
mod uninstall;

use super::examples;
use super::session::{Exit, Session};
use crate::cluster::Fault;
use crate::lint::config::{self, Config};
use crate::load::config as files;
use crate::mesh::Error;
use crate::rules::ALL;
use crate::source::{ErrorMessage, Sources};
use crate::{deploy, report as forms};
use clap::{Args, Subcommand, ValueEnum};
use std::io;
use std::path::Path;

#[derive(Debug, Args)]
pub(super) struct Webhook {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Install the admission webhook and the scheduled report, or print their manifests
    #[command(after_help = examples::INSTALL)]
    Install(Box<install::Install>),
    /// Check whether the webhook is installed and works, and what to fix
    #[command(after_help = examples::WEBHOOK_STATUS)]
    Status(status::Status),
    /// Lint the running mesh and write the findings into it as PolicyReports
    #[command(
        after_help = examples::REPORT,
        mut_arg("name", |name| name.help("Name of the installation that the reports belong to"))
    )]
    Report(report::Report),
    /// Print policies with which the API server checks some rules without a webhook
    #[command(
        after_help = examples::POLICY,
        mut_arg("name", |name| name.help("Name of the installation; prefix of the names of the policies"))
    )]
    Policy(policy::Print),
    /// Show, by namespace, what happens when the admission mode is raised
    #[command(after_help = examples::LADDER)]
    Ladder(ladder::Ladder),
    /// Remove everything that `install` and the webhook created
    #[command(after_help = examples::UNINSTALL)]
    Uninstall(uninstall::Uninstall),
    /// Run the admission server; this is what the Deployment of the webhook runs
    #[command(after_help = examples::SERVE)]
    Serve(Box<serve::Serve>),
}

/// The API server's action when admission gives no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailurePolicy {
    #[value(name = "Ignore")]
    Ignore,
    #[value(name = "Fail")]
    Fail,
}

/// The name of a value on the command line.
fn value_name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

impl Webhook {
    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        match &self.command {
            Command::Install(command) => command.run(session),
            Command::Serve(command) => command.run(session),
            Command::Status(command) => command.run(session),
            Command::Policy(command) => command.run(session),
            Command::Report(command) => command.run(session),
            Command::Ladder(command) => command.run(session),
            Command::Uninstall(command) => command.run(session),
        }
    }
}

/// Selects an installation.
#[derive(Debug, Args)]
struct Installation {
    /// Name of the installation, in the namespace that -n names or else in envoyfilter-system
    #[arg(long, value_name = "NAME", default_value = deploy::NAME, value_parser = name)]
    name: String,
}

impl Installation {
    /// Its namespace.
    fn namespace(session: &Session<'_>) -> String {
        session.global.namespace.clone().unwrap_or_else(|| deploy::DEFAULT_NAMESPACE.to_owned())
    }

    /// The selector of its objects.
    fn labels(&self) -> String {
        format!("{}={},{}={}", deploy::MANAGED_BY, deploy::PROGRAM, deploy::INSTANCE, self.name)
    }
}

/// A name valid for all objects of an installation: that of a Service must be the shortest (RFC 1035), and some get a suffix.
fn name(text: &str) -> Result<String, ErrorMessage> {
    const LONGEST: usize = 40;
    let letters = text.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '-');
    let ends = text.starts_with(|first: char| first.is_ascii_lowercase()) && !text.ends_with('-');
    if letters && ends && text.len() <= LONGEST {
        return Ok(text.to_owned());
    }
    Err(format!("use lowercase letters, digits and -, starting with a letter, at most {LONGEST} characters").into())
}

/// The text of a configuration that the server can use in a cluster; `None`, with a message, when it cannot.
fn installable(session: &mut Session<'_>, path: &Path) -> Result<Option<String>, Error> {
    let mut sources = Sources::default();
    let (text, read) = match files::text(path).and_then(|text| Ok((text, files::read(path, &mut sources)?))) {
        Ok(read) => read,
        Err(problem) => return session.usage(&problem.message, None).map(|_| None),
    };
    let mut problems = read.problems;
    if let Some(document) = &read.document {
        if !config::rule_paths(document).is_empty() {
            let help = "remove `rules` from the configuration, or run your own Deployment with --rules and a volume";
            let message = format!("{}: custom rules are files that the pods do not have", path.display());
            return session.usage(&message, Some(help)).map(|_| None);
        }
        problems.extend(Config::read(document, ALL).1);
    }
    for problem in &problems {
        forms::problem::problem(session.err, session.around.err, &sources, problem)?;
    }
    if problems.is_empty() {
        return Ok(Some(text));
    }
    session.usage("the admission server would refuse this configuration", None).map(|_| None)
}

/// Whether changes are applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DryRun {
    /// Apply the changes
    None,
    /// Only print
    Client,
    /// Let the API server check without storing anything
    Server,
}

/// Output formats of objects.
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

/// Reports a failed request to the cluster.
fn failed(session: &mut Session<'_>, what: &str, fault: &Fault, help: Option<&str>) -> Result<Exit, Error> {
    let rights =
        "installing requires the rights of a cluster administrator: only who has the rights of a role can grant it";
    print_fault(session, what, fault, if matches!(fault, Fault::NotAllowed(_)) { Some(rights) } else { help })
}

/// The same for what installs nothing.
fn print_fault(session: &mut Session<'_>, what: &str, fault: &Fault, help: Option<&str>) -> Result<Exit, Error> {
    let word = session.around.err.paint(forms::style::Role::Bad, "error");
    writeln!(session.err, "{word}: {what}: {fault}")?;
    if let Some(help) = help {
        writeln!(session.err, "  help: {}", crate::source::escape::one_line(help))?;
    }
    Ok(Exit::Partial)
}

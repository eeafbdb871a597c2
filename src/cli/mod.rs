//! The command line: one file a subcommand.

mod api;
mod audit;
mod capture;
mod case;
mod changes;
mod complete;
mod custom;
mod diff;
mod envoy;
mod example;
mod examples;
mod explain;
mod get;
mod input;
mod lint;
mod live;
mod options;
mod rbac;
mod render;
mod rules;
mod server_side;
mod standing;
mod status;
mod survey;
mod unread;
mod version;
mod webhook;

pub use example::{Example, example};

use crate::engine::MeshSettings;
use crate::model::inventory::Inventory;
use crate::model::release::Release;
use crate::report::style::{Role, Terminal};
use clap::error::{ContextKind, ContextValue};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::io::{self, Write};

/// What a run ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Answered; no difference.
    Ok,
    /// `diff` found changes.
    Changes,
    /// `lint` or `audit` found something at or above `--fail-on`; Envoy refuses what `render` wrote.
    Findings,
    /// The command line does not make sense, or `diff` had trouble.
    Usage,
    /// Something could not be read; what could be read was answered.
    Partial,
}

impl Exit {
    /// The number of it.
    pub const fn code(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::Changes | Exit::Findings => 1,
            Exit::Usage => 2,
            Exit::Partial => 3,
        }
    }
}

const EXIT_CODES: &str = "\
Without files, the cluster of the current context is read, as kubectl would.

Exit codes:
  0  answered; diff: no change; lint, audit: nothing at or above --fail-on; status: nothing wrong
  1  diff: changes; lint, audit: findings; status: something is wrong; render --envoy: Envoy refuses something
  2  the command line does not make sense, or nothing goes by the name given; diff: any trouble, a refusal with --envoy too
  3  something could not be read: what could be read is answered";

/// See what Istio makes of EnvoyFilters: which proxies they meet, what each patch does, and why it does not.
#[derive(Debug, Parser)]
#[command(name = "kubectl-envoyfilter", bin_name = "kubectl envoyfilter", version, after_help = EXIT_CODES)]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Args)]
struct Global {
    /// Namespace: of the cluster's, the one to look at; of documents and names that give none
    /// [default: the context's; for files, default]
    #[arg(short, long, global = true, value_name = "NAMESPACE", help_heading = "Common")]
    namespace: Option<String>,
    /// Release of the control plane to act as, such as 1.26 or 1.26.8 [default: what the cluster runs; for files, the newest known, 1.31]
    #[arg(long, global = true, value_name = "RELEASE", help_heading = "Common")]
    istio_version: Option<Release>,
    /// Root namespace of the mesh [default: what a mesh ConfigMap among the files says, else istio-system]
    #[arg(long, global = true, value_name = "NAMESPACE", help_heading = "Common")]
    root_namespace: Option<String>,
    /// Colours: auto (on a terminal, unless NO_COLOR is set), always or never
    #[arg(
        long,
        global = true,
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true,
        value_name = "WHEN",
        help_heading = "Common"
    )]
    color: ColorChoice,
    /// Leave nothing out
    #[arg(short, long, global = true, help_heading = "Common")]
    verbose: bool,
    #[command(flatten)]
    cluster: options::ClusterOptions,
}

/// Forms of output of commands that explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TextOrJson {
    Text,
    Json,
}

/// Forms of output of commands that list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TableOrJson {
    /// For people
    Table,
    /// For programs
    Json,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Explain what EnvoyFilters do to a proxy, or who wrote a field
    #[command(after_help = examples::EXPLAIN)]
    Explain(explain::Explain),
    /// Write a config dump as istiod would send it with these filters
    #[command(after_help = examples::RENDER)]
    Render(render::Render),
    /// Show what changed filters change on each proxy
    #[command(after_help = examples::DIFF)]
    Diff(diff::Diff),
    /// Say what is wrong, risky or without effect in EnvoyFilters
    #[command(after_help = examples::LINT)]
    Lint(lint::Lint),
    /// List EnvoyFilters with what they select and what of them is in effect
    #[command(after_help = examples::GET)]
    Get(get::Get),
    /// One line for each EnvoyFilter and workload where something is wrong
    #[command(after_help = examples::STATUS)]
    Status(status::Status),
    /// Save what a run reads of a cluster, without secrets, for --capture
    #[command(after_help = examples::CAPTURE)]
    Capture(capture::Capture),
    /// Print the roles that a command needs; with -n those for one namespace
    #[command(after_help = examples::RBAC)]
    Rbac(rbac::Rbac),
    /// Versions of this program, the cluster, control planes and proxies
    #[command(after_help = examples::VERSION)]
    Version(version::Version),
    /// Print a completion script for a shell
    #[command(after_help = examples::COMPLETION)]
    Completion(complete::Completion),
    #[command(name = "__complete", hide = true)]
    Complete(complete::Complete),
    /// Say what an upgrade of Istio breaks or changes, and whether to go ahead
    #[command(after_help = examples::AUDIT)]
    Audit(audit::Audit),
    /// Say what a field, type or extension of the Envoy API is, and which releases have it
    #[command(after_help = examples::API)]
    Api(api::Api),
    /// List the rules of lint, or show one with its documentation
    #[command(after_help = examples::RULES)]
    Rules(rules::Rules),
    /// Review EnvoyFilters in the cluster: install, look after and remove what does it
    Webhook(webhook::Webhook),
}

/// What the process tells the library about its surroundings.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    /// Standard output as a terminal.
    pub out: Terminal,
    /// Standard error as a terminal.
    pub err: Terminal,
    /// Whether somebody watches standard error, so that a progress bar makes sense.
    pub progress: bool,
}

/// Kinds as kubectl writes them, and the word of `explain` for each.
const KINDS: &[(&[&str], &str)] = &[
    (&["pod", "pods", "po"], "pod"),
    (&["deployment", "deployments", "deploy", "deployment.apps", "deployments.apps"], "deployment"),
    (&["service", "services", "svc"], "service"),
    (&["gateway", "gateways", "gw", "gtw"], "gateway"),
    (&["statefulset", "statefulsets", "sts", "statefulset.apps"], "workload"),
    (&["daemonset", "daemonsets", "ds", "daemonset.apps"], "workload"),
    (&["replicaset", "replicasets", "rs", "job", "jobs", "workload"], "workload"),
    (&["filter", "filters", "envoyfilter", "envoyfilters", "ef"], "filter"),
    (&["rule"], "rule"),
];

/// The arguments with `explain pod/x` written as `explain pod x`: kubectl takes both.
pub fn arguments(given: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments = Vec::new();
    let mut explain = false;
    for argument in given {
        let text = argument.to_str().unwrap_or_default();
        let split = text.split_once('/').filter(|(_, name)| explain && !name.is_empty());
        let kind = split.and_then(|(kind, _)| KINDS.iter().find(|(words, _)| words.contains(&kind)));
        if let (Some((_, word)), Some((_, name))) = (kind, split) {
            arguments.extend([OsString::from(word), OsString::from(name)]);
            explain = false;
            continue;
        }
        let word = KINDS.iter().find(|(words, _)| explain && words.contains(&text));
        let known = word.is_some() || text == "field";
        arguments.push(word.map_or_else(|| argument.clone(), |(_, word)| OsString::from(word)));
        explain = (explain && !known) || text == "explain";
    }
    arguments
}

/// What to write instead of a command line that was refused, where its parser cannot know: `explain cart` names a thing
/// without its kind.
pub fn advice(error: &clap::Error, given: &[OsString]) -> Option<String> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let before = given.iter().position(|argument| argument.to_str() == Some(word))?.checked_sub(1)?;
    let explain = given.get(before).is_some_and(|argument| argument == "explain");
    // What looks like a kind got its suggestion.
    let kind = error.get(ContextKind::SuggestedSubcommand).is_some() || word.contains('/');
    (explain && !kind)
        .then(|| format!("say what it is: explain pod {word}, explain deploy/{word}, explain filter {word}"))
}

impl Cli {
    /// When to use colours.
    pub fn color(&self) -> ColorChoice {
        self.global.color
    }

    /// Runs the command, once for each context that is named. Fails when the output cannot be written.
    pub fn run(mut self, around: Surroundings, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
        let contexts = std::mem::take(&mut self.global.cluster.context);
        if contexts.len() < 2 {
            self.global.cluster.context = contexts;
            return self.once(around, out, err);
        }
        if matches!(&self.command, Command::Get(get) if get.watches()) {
            let mut session = Session { global: &self.global, around, out, err, context_namespace: None };
            return session.usage("--watch goes on with one context: several cannot be watched in one run", None);
        }
        let mut worst = Exit::Ok;
        for context in contexts {
            out.flush()?;
            writeln!(err, "{}: context {context}", around.err.paint(Role::Dim, "note"))?;
            self.global.cluster.context = vec![context];
            let exit = self.once(around, out, err)?;
            worst = if exit.code() > worst.code() { exit } else { worst };
        }
        Ok(worst)
    }

    fn once(&mut self, around: Surroundings, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
        let mut session = Session { global: &self.global, around, out, err, context_namespace: None };
        let minor = session.release().minor;
        if !(Release::OLDEST.minor..=Release::NEWEST.minor).contains(&minor) {
            let word = around.err.paint(Role::Odd, "warning");
            writeln!(
                session.err,
                "{word}: what is said about Istio 1.{minor} is a guess: releases 1.{} to 1.{} are known",
                Release::OLDEST.minor,
                Release::NEWEST.minor
            )?;
        }
        match &mut self.command {
            Command::Explain(command) => command.run(&mut session),
            Command::Render(command) => command.run(&mut session),
            Command::Diff(command) => command.run(&mut session),
            Command::Lint(command) => command.run(&mut session),
            Command::Get(command) => command.run(&mut session),
            Command::Status(command) => command.run(&mut session),
            Command::Capture(command) => command.run(&mut session),
            Command::Rbac(command) => command.run(&mut session),
            Command::Version(command) => command.run(&mut session),
            Command::Completion(command) => command.run(&mut session),
            Command::Complete(command) => command.run(&mut session),
            Command::Api(command) => command.run(&mut session),
            Command::Audit(command) => command.run(&mut session),
            Command::Rules(command) => command.run(&mut session),
            Command::Webhook(command) => command.run(&mut session),
        }
    }
}

/// One run: the global options and where output goes.
struct Session<'s> {
    global: &'s Global,
    around: Surroundings,
    out: &'s mut dyn Write,
    err: &'s mut dyn Write,
    /// Namespace of the context of the cluster that is read.
    context_namespace: Option<String>,
}

impl Session<'_> {
    fn release(&self) -> Release {
        self.global.istio_version.unwrap_or(Release::NEWEST)
    }

    /// Namespace of documents and names that give none.
    fn namespace(&self) -> &str {
        self.global.namespace.as_deref().or(self.context_namespace.as_deref()).unwrap_or("default")
    }

    fn mesh(&self, inventory: &Inventory) -> MeshSettings {
        MeshSettings {
            root_namespace: self.global.root_namespace.clone().unwrap_or_else(|| inventory.root_namespace().to_owned()),
            ..MeshSettings::default()
        }
    }

    /// Says why the command line does not make sense.
    fn usage(&mut self, message: &str, help: Option<&str>) -> io::Result<Exit> {
        let word = self.around.err.paint(Role::Bad, "error");
        writeln!(self.err, "{word}: {message}")?;
        if let Some(help) = help {
            writeln!(self.err, "  help: {help}")?;
        }
        Ok(Exit::Usage)
    }
}

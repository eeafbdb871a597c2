//! The command line: one file per subcommand.

mod api;
mod audit;
#[cfg_attr(not(feature = "cluster"), path = "no_candidates.rs")]
mod candidates;
#[cfg(feature = "cluster")]
mod capture;
mod case;
#[cfg_attr(not(feature = "cluster"), path = "no_changes.rs")]
mod changes;
mod complete;
mod contexts;
mod custom;
mod diff;
#[cfg(feature = "bottle")]
mod doctor;
#[cfg(feature = "bottle")]
mod dump;
mod example;
mod examples;
mod explain;
mod get;
mod istiod;
mod lint;
mod listing;
mod migrate;
mod names;
mod options;
mod progress;
mod rbac;
mod render;
mod rendered;
mod rules;
mod session;
#[cfg(feature = "bottle")]
mod started;
mod status;
#[cfg(feature = "sandbox")]
mod subject;
#[cfg(feature = "sandbox")]
mod test;
#[cfg(feature = "sandbox")]
mod trying;
mod version;
#[cfg(feature = "admission")]
mod watch;
#[cfg(feature = "admission")]
mod webhook;

pub use example::{Example, example};
pub use options::ColorChoice;
pub use session::{Exit, Surroundings};

use crate::mesh::{Error, ProxyName};
use crate::model::owner::WorkloadKind;
use crate::report::screen::{Mode, Screen};
use crate::report::style::Role;
use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser, Subcommand};
use options::Global;
use progress::Watched;
use session::Session;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

const EXIT_CODES: &str = "\
Without files, commands read the cluster of the current context, as kubectl does.

Exit codes:
  0  success; diff: no change; lint, audit: no finding at or above --fail-on; status: nothing wrong
  1  diff: changes; lint, audit: findings; status: something is wrong; explain: a running Envoy rejected a patch;
     render --envoy: Envoy rejects something
  2  invalid command line, or nothing has the given name; diff: any error, including no proxy compared or a rejection by Envoy
  3  something could not be read; the answer covers what could be read";

/// Explain, lint and audit Istio EnvoyFilters: which proxies they attach to, what each patch does, and why it does not.
#[derive(Debug, Parser)]
#[command(name = "kubectl-envoyfilter", bin_name = "kubectl envoyfilter", version, after_help = EXIT_CODES)]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
    /// The command line, for runs that repeat it.
    #[arg(skip)]
    given: Vec<OsString>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Explain what EnvoyFilters do to a proxy, or who wrote a field
    #[command(after_help = examples::EXPLAIN)]
    Explain(explain::Explain),
    /// Print a config dump as istiod would send it with these EnvoyFilters
    #[command(after_help = examples::RENDER)]
    Render(render::Render),
    /// Send a request through the patched proxy, in a real Envoy on this machine, and show what each filter did
    #[command(after_help = examples::TRY)]
    #[cfg(feature = "sandbox")]
    Try(trying::TryRequest),
    /// Run test files: requests through the patched proxy, with the results they must have
    #[command(after_help = examples::TEST)]
    #[cfg(feature = "sandbox")]
    Test(test::Test),
    /// Show what changes to EnvoyFilters do to each proxy
    #[command(after_help = examples::DIFF)]
    Diff(diff::Diff),
    /// Report EnvoyFilters that are wrong, risky or have no effect
    #[command(after_help = examples::LINT)]
    Lint(lint::Lint),
    /// List EnvoyFilters, what they select and which patches are in effect
    #[command(after_help = examples::GET)]
    Get(get::Get),
    /// List EnvoyFilters and workloads where something is wrong
    #[command(after_help = examples::STATUS)]
    Status(status::Status),
    /// Watch proxies continuously and report changes: patches not in effect, rejected updates, replicas that differ
    #[command(after_help = examples::WATCH)]
    #[cfg(feature = "admission")]
    Watch(Box<watch::Watch>),
    /// Save what other commands read from a cluster, without secrets, for --capture
    #[command(after_help = examples::CAPTURE)]
    #[cfg(feature = "cluster")]
    Capture(capture::Capture),
    /// Print the roles that a command requires; with -n, for one namespace
    #[command(after_help = examples::RBAC)]
    Rbac(rbac::Rbac),
    /// Show the versions of this program, the cluster, control planes and proxies
    #[command(after_help = examples::VERSION)]
    Version(version::Version),
    /// Print a completion script for a shell
    #[command(after_help = examples::COMPLETION)]
    Completion(complete::Completion),
    #[command(name = "__complete", hide = true)]
    Complete(complete::Complete),
    /// Report what an Istio upgrade breaks or changes, and whether it is safe
    #[command(after_help = examples::AUDIT)]
    Audit(audit::Audit),
    /// Find native Istio objects that replace EnvoyFilters, and what then differs
    #[command(after_help = examples::MIGRATE)]
    Migrate(migrate::Migrate),
    /// Describe a field, type or extension of the Envoy API and the releases that have it
    #[command(after_help = examples::API)]
    Api(api::Api),
    /// Write the configuration that istiod would send to a proxy, from manifests alone
    #[command(after_help = examples::DUMP)]
    #[cfg(feature = "bottle")]
    Dump(dump::Dump),
    /// Check this program's engine against a real istiod on your own objects
    #[command(after_help = examples::DOCTOR)]
    #[cfg(feature = "bottle")]
    Doctor(doctor::Doctor),
    /// List lint rules, or show the documentation of one
    #[command(after_help = examples::RULES)]
    Rules(rules::Rules),
    /// Install, inspect and remove the admission webhook and what comes with it
    #[cfg(feature = "admission")]
    Webhook(webhook::Webhook),
}

/// Kinds as in kubectl, with the word of `explain` for each.
const KINDS: &[(&[&str], &str)] = &[
    (&["pod", "pods", "po"], "pod"),
    (&["service", "services", "svc"], "service"),
    (&["gateway", "gateways", "gw", "gtw"], "gateway"),
    (&["workload"], "workload"),
    (&["filter", "filters", "envoyfilter", "envoyfilters", "ef"], "filter"),
    (&["rule"], "rule"),
];

/// The word of `explain` for a kind as in kubectl.
fn kind_of(text: &str) -> Option<&'static str> {
    let known = KINDS.iter().find(|(words, _)| words.contains(&text)).map(|(_, word)| *word);
    known.or_else(|| {
        let kind = WorkloadKind::of_word(text)?;
        Some(if kind == WorkloadKind::Deployment { "deployment" } else { "workload" })
    })
}

/// The name of a pod or a workload, with the kind that kubectl puts in front of it.
fn proxy_name(text: &str) -> ProxyName {
    let of_pods = |kind: &str| matches!(kind_of(kind), Some("pod" | "deployment" | "gateway" | "workload"));
    let (kind, name) = match text.split_once('/').filter(|(kind, _)| of_pods(kind)) {
        Some((kind, name)) => (WorkloadKind::of_word(kind), name),
        None => (None, text),
    };
    ProxyName { kind, name: name.to_owned() }
}

/// The arguments of `explain` for a kind as in kubectl; none for what is not a kind.
fn explained(kind: &str) -> Vec<OsString> {
    let word = kind_of(kind).map(OsString::from);
    let of = WorkloadKind::of_word(kind).filter(|kind| *kind != WorkloadKind::Deployment);
    word.into_iter().chain(of.map(|kind| format!("--kind={}", kind.as_str()).into())).collect()
}

/// The arguments with `explain pod/x` turned into `explain pod x`: kubectl accepts both.
pub fn arguments(given: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments = Vec::new();
    let (mut explain, mut completes) = (false, false);
    for argument in given {
        let text = argument.to_str().unwrap_or_default();
        // Completion works on the word as typed.
        completes |= text == "__complete";
        if completes {
            arguments.push(argument);
            continue;
        }
        let split = text.split_once('/').filter(|(_, name)| explain && !name.is_empty());
        if let Some((kind, name)) = split
            && kind_of(kind).is_some()
        {
            arguments.extend(explained(kind));
            arguments.push(name.into());
            explain = false;
            continue;
        }
        let word = if explain { explained(text) } else { Vec::new() };
        let known = !word.is_empty() || text == "field";
        explain = (explain && !known) || text == "explain";
        if word.is_empty() {
            arguments.push(argument);
        } else {
            arguments.extend(word);
        }
    }
    arguments
}

/// A suggestion for a rejected command line that the parser cannot make: `explain cart` names an object without its kind, `explain
/// --dump FILE` none at all.
pub fn advice(error: &clap::Error, given: &[OsString]) -> Option<String> {
    if let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) {
        let is_path = [".yaml", ".yml", ".json", "/"].iter().any(|end| option.ends_with(end))
            || ["./", "../", "/"].iter().any(|start| option.starts_with(start))
            || [".", ".."].contains(&option.as_str());
        if is_path {
            return Some(format!("give files with -f: -f {option}"));
        }
        let first = given.iter().position(|argument| argument == "explain").and_then(|at| given.get(at + 1))?;
        let given = ["--demo", "--dump", "--filename", "-f"].contains(&option.as_str());
        let is_first = given && first.to_str().is_some_and(|first| first.split('=').next() == Some(option));
        return is_first
            .then(|| format!("name what to explain: explain pod NAME {option} …, explain filter NAME {option} …"));
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let absent = || Cli::command().find_subcommand(word).is_none();
    if ["capture", "doctor", "dump", "test", "try", "watch", "webhook"].contains(&word.as_str()) && absent() {
        return Some(format!("this build has no `{word}`: build it with the default features"));
    }
    let before = given.iter().position(|argument| argument.to_str() == Some(word))?.checked_sub(1)?;
    let explain = given.get(before).is_some_and(|argument| argument == "explain");
    // Words similar to a kind already got their suggestion.
    let kind = error.get(ContextKind::SuggestedSubcommand).is_some() || word.contains('/');
    (explain && !kind)
        .then(|| format!("name the kind: explain pod {word}, explain deploy/{word}, explain filter {word}"))
}

impl Cli {
    /// Adds the command line that it was parsed from: several contexts run it several times.
    #[must_use]
    pub fn given(mut self, arguments: Vec<OsString>) -> Cli {
        self.given = arguments;
        self
    }

    /// When to use colors.
    pub fn color(&self) -> ColorChoice {
        self.global.color
    }

    /// Runs the command, once for each context. Fails when the output cannot be written.
    pub fn run(self, around: Surroundings, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
        let secrets = (!self.global.show_secrets).then(|| self.global.secrets.clone());
        let colors = |colored| if colored { Mode::Colored } else { Mode::Plain };
        let mode = self.command.mode().unwrap_or(colors(around.out.colour));
        let mut out = Screen::new(out, mode, secrets.clone());
        let mut err = Screen::new(err, colors(around.err.colour), secrets);
        let exit = self.run_on(around, &mut out, &mut err);
        // Output of a failed run is printed too.
        err.flush()?;
        let exit = exit?;
        out.flush()?;
        Ok(exit)
    }

    fn run_on(mut self, around: Surroundings, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
        let progress = Watched::new(around.progress);
        let mut contexts = std::mem::take(&mut self.global.cluster.context);
        if contexts.iter().any(|context| context == "*") {
            contexts = self.global.cluster.contexts();
            if contexts.is_empty() {
                let word = around.err.paint(Role::Bad, "error");
                writeln!(err, "{word}: --context '*': the kubeconfig has no context")?;
                return Ok(Exit::Usage);
            }
        }
        let mut seen = std::collections::BTreeSet::new();
        contexts.retain(|context| seen.insert(context.clone()));
        if contexts.len() < 2 {
            self.global.cluster.context = contexts;
            return self.once(around, out, err, &progress);
        }
        let watches = match &self.command {
            Command::Get(get) => get.watches(),
            Command::Status(status) => status.watches(),
            #[cfg(feature = "admission")]
            Command::Watch(_) => true,
            _ => false,
        };
        if watches {
            let word = around.err.paint(Role::Bad, "error");
            writeln!(err, "{word}: watching takes one context, not several")?;
            return Ok(Exit::Usage);
        }
        contexts::run(&mut self, &contexts, around, (out, err), &progress)
    }

    fn once(
        &mut self,
        around: Surroundings,
        out: &mut dyn Write,
        err: &mut dyn Write,
        progress: &Watched,
    ) -> io::Result<Exit> {
        let mut session = Session { global: &self.global, around, out, err, progress };
        if let Some(caveat) = session.release().caveat() {
            session.warn(&caveat)?;
        }
        match self.command.run(&mut session) {
            Ok(exit) => Ok(exit),
            Err(Error::Output(error)) => Err(error),
            Err(error) => session.fail(&error),
        }
    }
}

impl Command {
    /// Takes the output file: the merged output of all contexts is written there.
    fn take_output_file(&mut self) -> Option<PathBuf> {
        match self {
            Command::Lint(lint) => lint.output_file.take(),
            Command::Audit(audit) => audit.output_file.take(),
            _ => None,
        }
    }

    /// Changes the output path of a command to one for a context.
    fn for_context(&mut self, context: &str) {
        #[cfg(feature = "cluster")]
        if let Command::Capture(capture) = self {
            capture.path = contexts::named(&capture.path, context);
        }
        #[cfg(not(feature = "cluster"))]
        let _ = context;
        drop(self.take_output_file());
    }

    /// Whether it lists items: then the results of several contexts are one table.
    const fn lists(&self) -> bool {
        matches!(self, Command::Get(_) | Command::Status(_))
    }

    /// The output mode, if the command determines it.
    fn mode(&self) -> Option<Mode> {
        match self {
            Command::Completion(_) | Command::Complete(_) => Some(Mode::Exact),
            Command::Lint(lint) => lint.mode(),
            #[cfg(feature = "sandbox")]
            Command::Test(test) => test.mode(),
            _ => None,
        }
    }

    fn run(&mut self, session: &mut Session<'_>) -> Result<Exit, Error> {
        match self {
            Command::Explain(command) => command.run(session),
            Command::Render(command) => command.run(session),
            #[cfg(feature = "sandbox")]
            Command::Try(command) => command.run(session),
            #[cfg(feature = "sandbox")]
            Command::Test(command) => command.run(session),
            Command::Diff(command) => command.run(session),
            #[cfg(feature = "bottle")]
            Command::Dump(command) => command.run(session),
            #[cfg(feature = "bottle")]
            Command::Doctor(command) => command.run(session),
            Command::Lint(command) => command.run(session),
            Command::Get(command) => command.run(session),
            Command::Status(command) => command.run(session),
            #[cfg(feature = "admission")]
            Command::Watch(command) => command.run(session),
            #[cfg(feature = "cluster")]
            Command::Capture(command) => command.run(session),
            Command::Rbac(command) => command.run(session),
            Command::Version(command) => command.run(session),
            Command::Completion(command) => command.run(session),
            Command::Complete(command) => command.run(session),
            Command::Api(command) => command.run(session),
            Command::Audit(command) => command.run(session),
            Command::Migrate(command) => command.run(session),
            Command::Rules(command) => command.run(session),
            #[cfg(feature = "admission")]
            Command::Webhook(command) => command.run(session),
        }
    }
}

//! Completion: scripts for shells, and answers to kubectl's own completion (`kubectl_complete-envoyfilter`, kubectl 1.26).

use super::names::Named;
use super::session::{Exit, Session};
use super::{Cli, candidates};
use crate::cluster::kinds::{self, COMMANDS};
use crate::mesh::Error;
use crate::model::owner::WorkloadKind;
use crate::rules::ALL;
use clap::{Arg, Args, Command, CommandFactory};
use clap_complete::Shell;
use std::ffi::OsString;

#[derive(Debug, Args)]
pub(super) struct Completion {
    /// bash, zsh or fish
    shell: Shell,
}

impl Completion {
    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "kubectl-envoyfilter", &mut script);
        session.out.write_all(&script)?;
        Ok(Exit::Ok)
    }
}

#[derive(Debug, Args)]
pub(super) struct Complete {
    /// The words so far, the last one unfinished
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// The possible values at a position.
enum Place {
    /// One of these, each with its description.
    Words(Vec<(String, String)>),
    /// A name in the cluster, with this prefix.
    Named(Named, String),
    /// A context of the kubeconfig.
    Contexts,
    /// A file, completed by the shell.
    File,
    /// Unknown.
    Nothing,
}

/// Cobra's directives, which kubectl passes on to the shell.
const FILES: u8 = 0;
const NO_FILES: u8 = 4;

impl Complete {
    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        let (last, before) =
            self.words.split_last().map_or((OsString::new(), &[][..]), |(last, rest)| (last.clone(), rest));
        let last = last.to_string_lossy().into_owned();
        let mut root = Cli::command();
        root.build();
        let place = place(&root, before, &last);
        let (given, directive) = match place {
            Place::File => (Vec::new(), FILES),
            Place::Nothing => (Vec::new(), NO_FILES),
            Place::Words(words) => (words, NO_FILES),
            Place::Named(named, prefix) => (candidates::objects(before, named, &prefix), NO_FILES),
            Place::Contexts => (candidates::contexts(), NO_FILES),
        };
        for (word, help) in given.iter().filter(|(word, _)| word.starts_with(&last)) {
            match help.as_str() {
                "" => writeln!(session.out, "{word}")?,
                help => writeln!(session.out, "{word}\t{help}")?,
            }
        }
        writeln!(session.out, ":{directive}")?;
        Ok(Exit::Ok)
    }
}

/// The possible values after the previous words.
fn place(root: &Command, before: &[OsString], last: &str) -> Place {
    let (mut command, mut path, mut value_of, mut positionals) = (root, Vec::new(), None, 0);
    for word in before {
        let word = word.to_string_lossy();
        if value_of.take().is_some() {
            continue;
        }
        if word.starts_with('-') {
            value_of = option(command, &word).filter(|arg| takes_value(arg) && !word.contains('='));
        } else if let Some(next) = command.find_subcommand(word.as_ref()).filter(|_| positionals == 0) {
            (command, positionals) = (next, 0);
            path.push(next.get_name());
        } else {
            positionals += 1;
        }
    }
    if let Some(arg) = value_of {
        return value(arg);
    }
    if last.starts_with('-') {
        let options = command.get_arguments().filter(|arg| !arg.is_hide_set());
        return Place::Words(
            options.filter_map(|arg| Some((format!("--{}", arg.get_long()?), help(arg.get_help())))).collect(),
        );
    }
    // kubectl's `kind/name` form.
    let kind = last.split_once('/').filter(|_| positionals == 0);
    if let Some((kind, named)) = kind.and_then(|(kind, _)| Some((kind, named(kind)?))) {
        let fits = match path.as_slice() {
            ["explain"] => true,
            ["render" | "try"] => named != FILTERS,
            ["get"] => named == FILTERS,
            _ => false,
        };
        if fits {
            return Place::Named(named, format!("{kind}/"));
        }
    }
    if command.has_subcommands() && positionals == 0 {
        let commands = command.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help");
        let mut words: Vec<_> = commands.map(|it| (it.get_name().to_owned(), help(it.get_about()))).collect();
        if matches!(path.as_slice(), ["rules"] | ["explain", "rule"]) {
            words.extend(ALL.iter().map(|rule| (rule.code.to_owned(), rule.name.to_owned())));
        }
        return Place::Words(words);
    }
    match path.as_slice() {
        ["explain", kind @ ("pod" | "deployment" | "gateway" | "workload" | "service" | "filter")]
            if positionals == 0 =>
        {
            named(kind).map_or(Place::Nothing, |named| Place::Named(named, String::new()))
        }
        ["render" | "try"] if positionals == 0 => Place::Named(PODS, String::new()),
        ["get"] => Place::Named(FILTERS, String::new()),
        ["rbac"] if positionals == 0 => {
            Place::Words(COMMANDS.iter().map(|needs| (needs.command.to_owned(), String::new())).collect())
        }
        ["completion"] if positionals == 0 => {
            Place::Words(["bash", "zsh", "fish"].map(|shell| (shell.to_owned(), String::new())).to_vec())
        }
        ["lint" | "capture"] => Place::File,
        _ => Place::Nothing,
    }
}

const PODS: Named = Named::Objects(&[kinds::POD]);
const FILTERS: Named = Named::Objects(&[kinds::ENVOY_FILTER]);
const NAMESPACES: Named = Named::Objects(&[kinds::NAMESPACE]);

/// What a kind as users write it names: `deploy`, `sts`, `gateway`.
fn named(word: &str) -> Option<Named> {
    Some(match super::kind_of(word)? {
        "deployment" => Named::Objects(&[kinds::DEPLOYMENT]),
        "gateway" => Named::Objects(&[kinds::GATEWAY, kinds::KUBE_GATEWAY]),
        "service" => Named::Objects(&[kinds::SERVICE]),
        "filter" => FILTERS,
        "workload" => Named::Workloads(WorkloadKind::of_word(word)),
        "pod" => PODS,
        _ => return None,
    })
}

fn option<'c>(command: &'c Command, word: &str) -> Option<&'c Arg> {
    let name = word.split('=').next().unwrap_or_default();
    command.get_arguments().find(|arg| match name.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short().is_some_and(|short| name.strip_prefix('-') == Some(short.to_string().as_str())),
    })
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

/// The possible values of an option.
fn value(arg: &Arg) -> Place {
    match arg.get_long().unwrap_or_default() {
        "namespace" | "istio-namespace" | "root-namespace" => return Place::Named(NAMESPACES, String::new()),
        "context" => return Place::Contexts,
        _ => {}
    }
    let values = arg.get_possible_values();
    if values.is_empty() {
        return Place::File;
    }
    Place::Words(values.iter().map(|value| (value.get_name().to_owned(), help(value.get_help()))).collect())
}

fn help(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default().lines().next().unwrap_or_default().to_owned()
}

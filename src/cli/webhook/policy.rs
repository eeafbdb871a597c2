//! `webhook policy`: the rules that the API server can check itself, as ValidatingAdmissionPolicies.

use super::{Exit, FailurePolicy, Installation, Session, YamlOrJson, value_name, write_objects};
use crate::deploy::policy::{self, Line, Policy};
use crate::mesh::Error;
use crate::report::table;
use clap::{Args, ValueEnum};
use std::io;

#[derive(Debug, Args)]
pub(super) struct Print {
    #[command(flatten)]
    installation: Installation,
    /// What happens to errors in namespaces without the label envoyfilter.dev/admission: Deny, Warn or Audit
    #[arg(long, default_value = "Deny", hide_possible_values = true, value_name = "ACTION")]
    action: Action,
    /// What the API server does when an expression cannot be evaluated: Ignore or Fail
    #[arg(long, default_value = "Ignore", hide_possible_values = true, value_name = "POLICY")]
    failure_policy: FailurePolicy,
    /// Output format: yaml, json, or table (whether each rule is checked)
    #[arg(short, long, default_value = "yaml", hide_possible_values = true, value_name = "FORM")]
    output: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Action {
    #[value(name = "Deny")]
    Deny,
    #[value(name = "Warn")]
    Warn,
    #[value(name = "Audit")]
    Audit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Yaml,
    Json,
    Table,
}

impl Print {
    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        let root = session.global.root_namespace.as_deref().unwrap_or(session.global.cluster.istio_namespace());
        let root = root.to_owned();
        let policy = Policy {
            name: &self.installation.name,
            release: session.release(),
            root_namespace: &root,
            action: &value_name(&self.action),
            failure_policy: &value_name(&self.failure_policy),
        };
        let lines = policy::table(&policy);
        match self.output {
            Form::Table => {
                let cells: Vec<Vec<String>> = lines
                    .into_iter()
                    .map(|Line { code, name, action, words }| {
                        let action = if action.is_empty() { "-".to_owned() } else { action };
                        vec![code.to_owned(), name.to_owned(), action, words.clone()]
                    })
                    .collect();
                table::write(session.out, &["CODE", "RULE", "ACTION", "NOT CHECKED"], &cells)?;
            }
            Form::Yaml => {
                comments(session, &policy, &lines)?;
                write_objects(session, &policy::objects(&policy), YamlOrJson::Yaml)?;
            }
            Form::Json => write_objects(session, &policy::objects(&policy), YamlOrJson::Json)?,
        }
        Ok(Exit::Ok)
    }
}

/// What the policies can and cannot check, as comments for readers of a repository.
fn comments(session: &mut Session<'_>, policy: &Policy<'_>, lines: &[Line]) -> io::Result<()> {
    let (checked, not): (Vec<&Line>, Vec<&Line>) = lines.iter().partition(|line| !line.action.is_empty());
    let out = &mut session.out;
    writeln!(
        out,
        "# Rules of `kubectl envoyfilter lint` that the API server can check without a webhook, for Istio 1.{}: {} of {}.",
        policy.release.minor,
        checked.len(),
        lines.len()
    )?;
    writeln!(
        out,
        "# It sees one EnvoyFilter, but no workloads, proxies or Envoy types; `webhook install` uses those as well.\n# The namespace label envoyfilter.dev/admission means what it means to the webhook: enforce, warn, audit or off."
    )?;
    writeln!(out, "#\n# Checked:")?;
    for line in checked {
        let without = if line.words.is_empty() { String::new() } else { format!("; without: {}", line.words) };
        writeln!(out, "#   {} {} ({}){without}", line.code, line.name, line.action)?;
    }
    writeln!(out, "#\n# Not checked, and why:")?;
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for line in not {
        match reasons.iter_mut().find(|(reason, _)| *reason == line.words) {
            Some((_, codes)) => codes.push(line.code),
            None => reasons.push((line.words.clone(), vec![line.code])),
        }
    }
    for (reason, codes) in reasons {
        writeln!(out, "#   {reason}:")?;
        for codes in codes.chunks(16) {
            writeln!(out, "#     {}", codes.join(" "))?;
        }
    }
    Ok(())
}

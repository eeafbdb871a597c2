//! `rules`: lists rules, shows the documentation of one, and tests user-defined ones.

use super::example::example;
use super::options::TextOrJson;
use super::session::{Exit, Session};
use super::{custom, examples};
use crate::lint::selection::nearest;
use crate::mesh::{self, Error};
use crate::report;
use crate::source::Sources;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Rules {
    #[command(subcommand)]
    action: Option<Action>,
    /// Code or name of a rule, or a prefix of codes such as EF3 [default: all rules]
    #[arg(value_name = "RULE")]
    rule: Option<String>,
    /// Your own rules: files or folders of kind LintRule
    #[arg(long = "rules", value_name = "PATH")]
    own: Vec<PathBuf>,
    /// Text for people, or JSON
    #[arg(short, long, default_value = "text")]
    output: TextOrJson,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Test your own rules on their cases: RULE/bad*.yaml with `# CODE` at the end of offending lines, RULE/good*.yaml
    #[command(after_help = examples::RULES_TEST)]
    Test {
        /// Files or folders of kind LintRule
        #[arg(value_name = "PATH", required = true)]
        paths: Vec<PathBuf>,
    },
}

impl Rules {
    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        if let Some(Action::Test { paths }) = &self.action {
            return custom::test(session, paths);
        }
        let all = mesh::rules::rules(&self.own, &mut Sources::default())?;
        let terminal = session.around.out;
        let wanted =
            |word: &String| all.iter().copied().find(|rule| rule.code.eq_ignore_ascii_case(word) || rule.name == word);
        // A prefix of codes selects all matching rules, as in `lint --select`.
        let group: Vec<_> = self.rule.as_ref().map_or_else(Vec::new, |word| {
            let word = word.to_ascii_uppercase();
            all.iter().copied().filter(|rule| word.len() > 1 && rule.code.starts_with(&word)).collect()
        });
        match (&self.rule, self.rule.as_ref().and_then(wanted)) {
            (Some(_), None) if !group.is_empty() && self.output == TextOrJson::Text => {
                report::rules::table(session.out, terminal, &group)?;
            }
            (Some(_), None) if !group.is_empty() => report::rules::json(session.out, &group)?,
            (Some(word), None) => {
                let help = nearest(word, &all)
                    .map_or_else(|| "`rules` lists them".to_owned(), |near| format!("did you mean {near}?"));
                return session.usage(&format!("no rule is named `{word}`"), Some(&help));
            }
            (_, Some(rule)) if self.output == TextOrJson::Text => {
                let example = example(rule, terminal)?;
                let parts = example.as_ref().map(|one| (one.yaml.as_str(), one.output.as_str()));
                report::rules::one(session.out, terminal, rule, parts)?;
            }
            (_, Some(rule)) => report::rules::json(session.out, &[rule])?,
            (None, None) if self.output == TextOrJson::Text => report::rules::table(session.out, terminal, &all)?,
            (None, None) => report::rules::json(session.out, &all)?,
        }
        Ok(Exit::Ok)
    }
}

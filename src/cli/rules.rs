//! `rules`: the list of rules, and the documentation of one.

use super::{Exit, Session};
use crate::lint::selection::nearest;
use crate::report;
use crate::rules::ALL;
use clap::{Args, ValueEnum};
use std::io;

#[derive(Debug, Args)]
pub(super) struct Rules {
    /// Code or name of a rule; all rules when absent
    #[arg(value_name = "RULE")]
    rule: Option<String>,
    /// Text for people, or JSON
    #[arg(short, long, default_value = "text")]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    Text,
    Json,
}

impl Rules {
    pub(super) fn run(&self, session: &mut Session<'_>) -> io::Result<Exit> {
        let terminal = session.around.out;
        let wanted =
            |word: &String| ALL.iter().copied().find(|rule| rule.code.eq_ignore_ascii_case(word) || rule.name == word);
        match (&self.rule, self.rule.as_ref().and_then(wanted)) {
            (Some(word), None) => {
                let help = nearest(word, ALL)
                    .map_or_else(|| "`rules` lists them".to_owned(), |near| format!("the nearest is {near}"));
                return session.usage(&format!("no rule is called `{word}`"), Some(&help));
            }
            (_, Some(rule)) if self.output == Output::Text => report::rules::one(session.out, terminal, rule)?,
            (_, Some(rule)) => report::rules::json(session.out, &[rule])?,
            (None, None) if self.output == Output::Text => report::rules::table(session.out, terminal, ALL)?,
            (None, None) => report::rules::json(session.out, ALL)?,
        }
        Ok(Exit::Ok)
    }
}

//! EF903: a suppression or a configuration names a rule that does not exist.

use crate::declare_rule;
use crate::lint::config::UNKNOWN_RULE;
use crate::lint::selection::nearest;
use crate::lint::suppress::{self, Form};
use crate::lint::{Context, Finding, Findings, Rule, custom};

declare_rule! {
    /// A suppression or the configuration names a rule that does not exist.
    ///
    /// # What it finds
    /// A word in `# envoyfilter:ignore …`, in the annotation `envoyfilter.dev/ignore` or in `.envoyfilter.yaml` that is
    /// neither the code nor the name of a rule (in the configuration: nor the beginning of a code).
    ///
    /// # Why it matters
    /// It has no effect: what was to be suppressed or selected is not.
    ///
    /// # How to fix
    /// Write a code or name that `kubectl envoyfilter rules` lists.
    ///
    /// # References
    /// The list of rules, rules/README.md.
    "EF903" "unknown-rule" Warning => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for one in suppress::read(cx.sources, cx.filters).iter().filter(|one| one.form != Form::Istioctl) {
        for named in &one.rules {
            if super::ALL.iter().chain(&cx.custom).any(|rule| named.means(rule)) || custom::may_be_code(&named.word) {
                continue;
            }
            let finding = Finding::new(rule, named.span, format!("no rule is called `{}`", named.word));
            out.push(match nearest(&named.word, super::ALL) {
                Some(near) => finding.help(format!("the nearest is {near}")),
                None => finding.help("`kubectl envoyfilter rules` lists the rules"),
            });
        }
    }
    for problem in cx.problems.iter().filter(|problem| problem.code == UNKNOWN_RULE) {
        let Some(span) = problem.span else { continue };
        out.push(Finding::new(rule, span, problem.message.clone()));
    }
}

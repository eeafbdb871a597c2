//! EF903: a suppression or a configuration names a rule that does not exist.

use crate::declare_rule;
use crate::lint::check::Suppressed;
use crate::lint::config::UNKNOWN_RULE;
use crate::lint::rule::may_be_code;
use crate::lint::selection::nearest;
use crate::lint::suppress::Form;
use crate::lint::{Finding, Findings, RuleInfo};

declare_rule! {
    /// A suppression or the configuration names a rule that does not exist.
    ///
    /// # What it finds
    /// A word in `# envoyfilter:ignore …`, in the annotation `envoyfilter.dev/ignore` or in `.envoyfilter.yaml` that is
    /// neither the code nor the name of a rule (in the configuration: nor a prefix of a code).
    ///
    /// # Why it matters
    /// It has no effect: nothing is suppressed or selected.
    ///
    /// # How to fix
    /// Write a code or a name that `kubectl envoyfilter rules` lists.
    ///
    /// # References
    /// rules/README.md.
    "EF903" "unknown-rule" Linter Warning => Suppressions: check
}

fn check(rule: &'static RuleInfo, seen: &Suppressed<'_>, out: &mut Findings) {
    for one in seen.suppressions.iter().filter(|one| one.form != Form::Istioctl) {
        for named in &one.rules {
            let mut known = crate::rules::ALL.iter().chain(seen.all);
            if known.any(|rule| named.means(rule)) || may_be_code(&named.word) {
                continue;
            }
            let finding = Finding::new(rule, named.span, format!("no rule is named `{}`", named.word));
            out.push(match nearest(&named.word, crate::rules::ALL) {
                Some(near) => finding.help(format!("the nearest is {near}")),
                None => finding.help("`kubectl envoyfilter rules` lists the rules"),
            });
        }
    }
    for problem in seen.problems.iter().filter(|problem| problem.code == UNKNOWN_RULE) {
        let Some(span) = problem.span else { continue };
        out.push(Finding::new(rule, span, problem.message.clone()));
    }
}

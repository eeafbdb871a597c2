//! EF901: a suppression that suppresses nothing.

use crate::declare_rule;
use crate::lint::check::Suppressed;
use crate::lint::rule::Family;
use crate::lint::suppress::{Form, Suppression};
use crate::lint::{Edit, Finding, Findings, RuleInfo};
use crate::source::{Sources, Span};

declare_rule! {
    /// A suppression that suppresses nothing.
    ///
    /// # What it finds
    /// A comment `# envoyfilter:ignore …` or an entry of the annotation `envoyfilter.dev/ignore` for a rule that finds
    /// nothing there. Rules that did not run are not counted, nor are rules that need config dumps if none were given.
    /// The annotation that istioctl reads is never reported.
    ///
    /// # Why it matters
    /// It hides the next mistake at this place, and mentions a problem that no longer exists.
    ///
    /// # How to fix
    /// Remove it.
    ///
    /// # References
    /// ruff and rustc report unused `noqa` and `expect` in the same way.
    "EF901" "unused-suppression" Linter Warning => Suppressions: check,
    fixes: true
}

fn check(rule: &'static RuleInfo, seen: &Suppressed<'_>, out: &mut Findings) {
    for (one, used) in seen.suppressions.iter().zip(seen.used).filter(|(one, _)| one.form != Form::Istioctl) {
        // A rule that needs more input may find something elsewhere.
        let of_proxies = [Family::Matching, Family::Conflict, Family::Upgrade, Family::Live];
        let judged = |rule: &RuleInfo| seen.dumps || (rule.needs.is_empty() && !of_proxies.contains(&rule.family));
        let unused: Vec<_> = one
            .rules
            .iter()
            .zip(used)
            .filter(|(named, used)| **used == 0 && seen.run.iter().any(|rule| named.means(rule) && judged(rule)))
            .map(|(named, _)| named)
            .collect();
        for named in &unused {
            let message = format!("the suppression of {} suppresses nothing", named.word);
            let mut finding =
                Finding::new(rule, named.span, message).label("no finding of this rule here").help("remove it");
            if unused.len() == one.rules.len() && one.form != Form::Annotation {
                let edit = Edit { span: whole(one, seen.sources), text: String::new() };
                finding = finding.fix("remove the comment", true, vec![edit]);
            }
            out.push(finding);
        }
    }
}

/// What is removed with a comment: the white space before it, or its line.
fn whole(one: &Suppression, sources: &Sources) -> Span {
    let text = &sources.get(one.span.file).text;
    let before = text.get(..one.span.start as usize).unwrap_or_default();
    let blank = before.len() - before.trim_end_matches([' ', '\t']).len();
    let start = one.span.start - u32::try_from(blank).unwrap_or_default();
    let after = text.get(one.span.end as usize..).unwrap_or_default();
    let newline = after.find('\n').and_then(|at| u32::try_from(at + 1).ok()).unwrap_or_default();
    let end = if one.form == Form::OwnLine { one.span.end + newline } else { one.span.end };
    Span { start, end, ..one.span }
}

//! Rules that can run: data plus check, and the macro that declares a rule.

use crate::lint::facts::context::Context;
use crate::lint::finding::Findings;
use crate::lint::rule::RuleInfo;
use crate::lint::settings::suppress::Suppression;
use crate::source::{Problem, Sources};
use std::ops::Deref;

/// A rule: one file in `rules/<family>/`, with its documentation, its declaration and its check.
pub struct Rule {
    /// The data about the rule.
    pub info: RuleInfo,
    /// The check.
    pub check: Check,
}

/// When a check runs, and its input.
#[derive(Clone, Copy)]
pub enum Check {
    /// Reads the documents and the engine's results.
    Facts(fn(&'static RuleInfo, &Context<'_>, &mut Findings)),
    /// The same, but runs after all other rules and reads their findings.
    Rest(fn(&'static RuleInfo, &Context<'_>, &mut Findings)),
    /// Reads suppressions after they were applied.
    Suppressions(fn(&'static RuleInfo, &Suppressed<'_>, &mut Findings)),
    /// A rule that a user wrote.
    Custom(&'static dyn CustomCheck),
}

/// The check of a rule that a user wrote.
pub trait CustomCheck: Sync {
    /// Adds the findings.
    fn check(&self, rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings);
}

/// The input of rules about suppressions.
pub struct Suppressed<'a> {
    /// The source texts.
    pub sources: &'a Sources,
    /// Problems noted by the loader and the configuration.
    pub problems: &'a [Problem],
    /// The suppressions.
    pub suppressions: &'a [Suppression],
    /// How often each rule that a suppression names suppressed something: by suppression and position.
    pub used: &'a [Vec<usize>],
    /// The rules that ran.
    pub run: &'a [&'static Rule],
    /// Every rule that exists.
    pub all: &'a [&'static Rule],
    /// Whether config dumps were given.
    pub dumps: bool,
}

impl Rule {
    /// Runs a rule on the engine's results; rules about suppressions find nothing there.
    pub(crate) fn run(&'static self, cx: &Context<'_>, out: &mut Findings) {
        match self.check {
            Check::Facts(check) | Check::Rest(check) => check(&self.info, cx, out),
            Check::Custom(check) => check.check(&self.info, cx, out),
            Check::Suppressions(_) => {}
        }
    }
}

impl Rule {
    /// Whether it reads the findings of other rules.
    pub fn is_rest(&self) -> bool {
        matches!(self.check, Check::Rest(_))
    }

    /// Whether its findings depend on what the other rules found and on what users suppress.
    pub(crate) fn is_about_suppressions(&self) -> bool {
        matches!(self.check, Check::Suppressions(_))
    }
}

impl Deref for Rule {
    type Target = RuleInfo;

    fn deref(&self) -> &RuleInfo {
        &self.info
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        self.info == other.info
    }
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.info.fmt(out)
    }
}

/// Declares a rule. The doc comment is its documentation: a summary line, then the headings `# What it finds`,
/// `# Why it matters`, `# How to fix`, `# References`. Then code, name, family and severity, the check (`=> check`;
/// `=> Rest: check` runs after all others, `=> Suppressions: check` looks at suppressions), and any other field of
/// [`RuleInfo`](crate::lint::rule::RuleInfo) whose value is not that of `RuleInfo::BASE`:
///
/// ```text
/// "EF203" "target-ref-never-attaches" Matching Error => check,
/// fixes: true, releases: since(27), policy: Cel(policy)
/// ```
#[macro_export]
macro_rules! declare_rule {
    ($(#[doc = $doc:literal])* $code:literal $name:literal $family:ident $severity:ident => $check:path
        $(, $field:ident: $value:expr)* $(,)?) => {
        $crate::declare_rule!(@ $($doc)*, $code $name $family $severity Facts $check, $($field: $value,)*);
    };
    ($(#[doc = $doc:literal])* $code:literal $name:literal $family:ident $severity:ident => $when:ident: $check:path
        $(, $field:ident: $value:expr)* $(,)?) => {
        $crate::declare_rule!(@ $($doc)*, $code $name $family $severity $when $check, $($field: $value,)*);
    };
    (@ $summary:literal $($doc:literal)*, $code:literal $name:literal $family:ident $severity:ident $when:ident
        $check:path, $($field:ident: $value:expr,)*) => {
        #[doc = $summary]
        pub(crate) static RULE: $crate::lint::check::Rule = $crate::lint::check::Rule {
            info: {
                #[allow(unused_imports, reason = "what the fields of a declaration name")]
                use $crate::lint::rule::{Change, Meaning::*, Need::*, Objected, Policy::*, before, since};
                $crate::lint::rule::RuleInfo {
                    code: $code,
                    name: $name,
                    family: $crate::lint::rule::Family::$family,
                    severity: $crate::source::Severity::$severity,
                    summary: $summary,
                    docs: concat!($($doc, "\n"),*),
                    example: include_bytes!(concat!(
                        env!("CARGO_MANIFEST_DIR"), "/testdata/rules/", $name, "/bad.yaml"
                    )),
                    $($field: $value,)*
                    ..$crate::lint::rule::RuleInfo::BASE
                }
            },
            check: $crate::lint::check::Check::$when($check),
        };
    };
}

//! What a rule is, and the macro that declares one.

use super::context::Context;
use super::custom::Custom;
use super::finding::Findings;
use crate::source::Severity;

/// A rule: one file in `rules/`, with its documentation, its declaration and its check.
pub struct Rule {
    /// `EF` and three digits; the hundreds are the theme; never reused.
    pub code: &'static str,
    /// The bad pattern, in kebab case; reads well after "allow".
    pub name: &'static str,
    /// How bad its findings are, unless they say otherwise.
    pub severity: Severity,
    /// What the rule finds, in one line: the first line of its documentation.
    pub summary: &'static str,
    /// Documentation in Markdown: What it finds · Why it matters · How to fix · References.
    pub docs: &'static str,
    /// Whether it ever offers a fix.
    pub fixes: bool,
    /// The check.
    pub check: fn(&'static Rule, &Context<'_>, &mut Findings),
    /// A case that the rule finds: YAML, with directives in comments at its head and the code at the end of bad lines.
    pub example: &'static [u8],
    /// What a user's own rule asks; `None` for the rules of this tool.
    pub custom: Option<&'static Custom>,
}

impl Rule {
    /// The documentation as Markdown, without the space that a doc comment has before each line.
    pub fn documentation(&self) -> String {
        let lines: Vec<&str> = self.docs.trim().lines().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        lines.join("\n")
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        self.code == other.code
    }
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} {}", self.code, self.name)
    }
}

/// The themes, by the hundreds of a code.
pub const THEMES: &[(char, &str)] = &[
    ('0', "document"),
    ('1', "value against the Envoy API"),
    ('2', "match"),
    ('3', "operation"),
    ('4', "between filters"),
    ('5', "scope and safety"),
    ('6', "upgrade"),
    ('7', "better ways"),
    ('8', "live state"),
    ('9', "linter"),
];

impl Rule {
    /// The theme of the rule's code.
    pub fn theme(&self) -> &'static str {
        if self.custom.is_some() {
            return "custom";
        }
        let hundreds = self.code.chars().nth(2);
        THEMES.iter().find(|(digit, _)| Some(*digit) == hundreds).map_or("", |(_, theme)| theme)
    }
}

/// Declares a rule. The doc comment is its documentation: a summary line, then the headings `# What it finds`,
/// `# Why it matters`, `# How to fix`, `# References`. Then code, name, severity, `fixes` if it ever offers a fix, check.
#[macro_export]
macro_rules! declare_rule {
    ($(#[doc = $doc:literal])* $code:literal $name:literal $severity:ident => $check:path) => {
        $crate::declare_rule!(@ $($doc)*, $code $name $severity false $check);
    };
    ($(#[doc = $doc:literal])* $code:literal $name:literal $severity:ident fixes => $check:path) => {
        $crate::declare_rule!(@ $($doc)*, $code $name $severity true $check);
    };
    (@ $summary:literal $($doc:literal)*, $code:literal $name:literal $severity:ident $fixes:literal $check:path) => {
        #[doc = $summary]
        pub(crate) static RULE: $crate::lint::Rule = $crate::lint::Rule {
            code: $code,
            name: $name,
            severity: $crate::source::Severity::$severity,
            summary: $summary,
            docs: concat!($($doc, "\n"),*),
            fixes: $fixes,
            check: $check,
            example: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/rules/", $name, "/bad.yaml")),
            custom: None,
        };
    };
}

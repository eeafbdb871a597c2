//! The data about a rule: plain data that findings, settings and reports refer to.

use crate::engine::compat::Compat;
use crate::model::release::Release;
use crate::source::Severity;
use std::borrow::Cow;

/// Everything that is known about a rule without running it. A rule in `rules/` declares it with
/// [`declare_rule!`](crate::declare_rule); nothing else in the crate lists rules by code.
pub struct RuleInfo {
    /// `EF` and three digits; the hundreds are the family; never reused.
    pub code: &'static str,
    /// The pattern found, in kebab case; reads well after "allow".
    pub name: &'static str,
    /// The family, which is also the folder of the rule.
    pub family: Family,
    /// Severity of its findings, unless a finding sets another one.
    pub severity: Severity,
    /// What the rule finds, in one line: the first line of its documentation.
    pub summary: &'static str,
    /// Documentation in Markdown: What it finds · Why it matters · How to fix · References.
    pub docs: &'static str,
    /// Whether it ever offers a fix.
    pub fixes: bool,
    /// Whether its fixes upgrade a filter to the newest types, names and fields without changing its effect.
    pub renews: bool,
    /// What it needs besides EnvoyFilters; without all of these it finds nothing.
    pub needs: &'static [Need],
    /// The control planes for which it can find something.
    pub releases: Releases,
    /// Whether its findings depend on what a release knows, accepts or contains, so that an upgrade compares them.
    pub by_release: bool,
    /// Whether an object applied later may resolve its findings: then admission warns and does not deny.
    pub later: bool,
    /// The changes of an upgrade that it reports.
    pub changes: &'static [Change],
    /// The objections of the API server that it reports.
    pub objections: &'static [Objected],
    /// What its findings mean for an upgrade, besides their severity.
    pub meaning: Meaning,
    /// Rules whose findings about the same patch, or about the order of the same two EnvoyFilters, only follow from this
    /// one.
    pub explains: &'static [&'static str],
    /// Whether the API server can check it.
    pub policy: Policy,
    /// A case that the rule finds: YAML, with directives in comments at the top and the code at the end of bad lines.
    pub example: &'static [u8],
}

impl RuleInfo {
    /// The defaults for a rule that declares only its code, name and severity.
    pub const BASE: RuleInfo = RuleInfo {
        code: "",
        name: "",
        family: Family::Custom,
        severity: Severity::Warning,
        summary: "",
        docs: "",
        fixes: false,
        renews: false,
        needs: &[],
        releases: Releases::ALL,
        by_release: false,
        later: false,
        changes: &[],
        objections: &[],
        meaning: Meaning::Plain,
        explains: &[],
        policy: Policy::AsFamily,
        example: b"",
    };

    /// The documentation as Markdown, without the leading space of doc comment lines.
    pub(crate) fn documentation(&self) -> String {
        let lines: Vec<&str> = self.docs.trim().lines().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        lines.join("\n")
    }

    /// Whether users wrote it.
    pub(crate) fn is_custom(&self) -> bool {
        self.family == Family::Custom
    }

    /// The title of the rule's family.
    pub fn theme(&self) -> &'static str {
        self.family.title()
    }

    /// Whether an upgrade compares its findings before and after.
    pub(crate) fn compared(&self) -> bool {
        self.by_release || self.family == Family::Native
    }

    /// Why the API server cannot check it; `None` if it can.
    pub(crate) fn no_policy(&self) -> Option<&'static str> {
        match self.policy {
            Policy::AsFamily => Some(self.family.no_policy()),
            Policy::Never(why) => Some(why),
            Policy::Cel(_) => None,
        }
    }
}

impl PartialEq for RuleInfo {
    fn eq(&self, other: &RuleInfo) -> bool {
        self.code == other.code
    }
}

impl std::fmt::Debug for RuleInfo {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} {}", self.code, self.name)
    }
}

/// The families of rules: folders of `rules/`, and the hundreds digit of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// The document itself.
    Document,
    /// Values against Envoy's API.
    Value,
    /// Matches and selectors.
    Matching,
    /// Operations.
    Operation,
    /// Several EnvoyFilters together.
    Conflict,
    /// Scope and safety.
    Scope,
    /// Two releases compared.
    Upgrade,
    /// Istio APIs that replace a patch.
    Native,
    /// The state of running proxies.
    Live,
    /// Suppressions and the configuration of the linter.
    Linter,
    /// Rules that users write.
    Custom,
}

impl Family {
    /// Every family of built-in rules, by code.
    pub const ALL: [Family; 10] = [
        Family::Document,
        Family::Value,
        Family::Matching,
        Family::Operation,
        Family::Conflict,
        Family::Scope,
        Family::Upgrade,
        Family::Native,
        Family::Live,
        Family::Linter,
    ];

    /// The third character of the codes; a space for custom rules.
    pub const fn digit(self) -> char {
        match self {
            Family::Document => '0',
            Family::Value => '1',
            Family::Matching => '2',
            Family::Operation => '3',
            Family::Conflict => '4',
            Family::Scope => '5',
            Family::Upgrade => '6',
            Family::Native => '7',
            Family::Live => '8',
            Family::Linter => '9',
            Family::Custom => ' ',
        }
    }

    /// The folder below `rules/`.
    pub const fn folder(self) -> &'static str {
        match self {
            Family::Document => "document",
            Family::Value => "value",
            Family::Matching => "matching",
            Family::Operation => "operation",
            Family::Conflict => "conflict",
            Family::Scope => "scope",
            Family::Upgrade => "upgrade",
            Family::Native => "native",
            Family::Live => "live",
            Family::Linter => "linter",
            Family::Custom => "custom",
        }
    }

    /// The title of the family.
    pub const fn title(self) -> &'static str {
        match self {
            Family::Document => "document",
            Family::Value => "value against the Envoy API",
            Family::Matching => "match",
            Family::Operation => "operation",
            Family::Conflict => "between filters",
            Family::Scope => "scope and safety",
            Family::Upgrade => "upgrade",
            Family::Native => "better ways",
            Family::Live => "live state",
            Family::Linter => "linter",
            Family::Custom => "custom",
        }
    }

    /// Why the API server cannot check the rules of the family, unless a rule says otherwise.
    const fn no_policy(self) -> &'static str {
        match self {
            Family::Document => "it is about the text of a file, which the API server does not have",
            Family::Value => {
                "it needs Envoy's types, release by release, at any depth of the value; CEL has no recursion"
            }
            Family::Matching => "it needs the workloads that a selector matches, or the configuration of their proxies",
            Family::Operation => {
                "it needs the configuration of proxies: what a patch matches there, and what it changes"
            }
            Family::Conflict => "it needs the other EnvoyFilters; a policy sees one object",
            Family::Scope => "it needs every level of the value, or proxies; CEL has no recursion",
            Family::Upgrade => "it compares two releases",
            Family::Native => "its findings are infos, and a policy can only deny or warn",
            Family::Live => "it needs what running proxies hold",
            Family::Linter => "it is about suppressions and the configuration of lint",
            Family::Custom => "custom rules are not part of policies",
        }
    }
}

/// What a rule needs besides EnvoyFilters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Need {
    /// A config dump of a proxy, or a live one.
    Dump,
    /// Workloads, from manifests, a cluster or config dumps.
    Workloads,
    /// Two releases (`audit`).
    Upgrade,
    /// Proxies of a running mesh whose dumps show the filters in effect.
    Live,
    /// An Envoy binary (`--envoy`).
    Envoy,
    /// Requests through an Envoy (`lint --run`).
    Requests,
}

impl Need {
    /// What users provide for it.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Need::Dump => "config dumps",
            Need::Workloads => "workloads",
            Need::Upgrade => "audit",
            Need::Live => "running proxies",
            Need::Envoy => "--envoy",
            Need::Requests => "--run",
        }
    }
}

/// What an upgrade does to a patch on a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// It had an effect, and now matches nothing or changes nothing.
    Stops,
    /// Its filter no longer attaches.
    Detached,
    /// It had no effect, and has one now.
    Begins,
    /// Its effect differs.
    Different,
    /// istiod panics.
    Panics,
    /// It is lost because another patch makes istiod panic.
    LostToPanic,
    /// `proxyVersion` no longer matches.
    VersionPin,
    /// The API of the new release rejects its filter.
    Refused,
    /// istiod discards it.
    Discarded,
    /// What it removes is no longer generated, so the result is the same without it.
    Needless,
}

impl Change {
    /// Whether it is a change on some proxies rather than a property of the filter's text.
    pub(crate) const fn of_proxies(self) -> bool {
        !matches!(self, Change::Refused | Change::Discarded | Change::Needless)
    }
}

/// Objections of the API server that a rule reports in every release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Objected {
    /// `targetRefs` in a release without them.
    TargetRefs,
    /// `targetRefs` together with `workloadSelector`.
    TwoSelections,
    /// Labels of the selector.
    Labels,
    /// `vhost.domainName` in a release without it.
    DomainName,
    /// `context: WAYPOINT` and `match.waypoint`, in a release without them or one without the other.
    Waypoint,
}

/// What findings of a rule mean for an upgrade, besides their severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Meaning {
    /// Nothing more.
    Plain,
    /// istiod or a proxy rejects the filter or its value.
    Rejected,
    /// It works, but a later release rejects it.
    Deprecated,
}

/// Whether a ValidatingAdmissionPolicy can express a rule.
#[derive(Clone, Copy)]
pub enum Policy {
    /// No, for the reason of its family.
    AsFamily,
    /// No, for this reason.
    Never(&'static str),
    /// Yes, with these expressions; none for a release in which the rule finds nothing.
    Cel(fn(&PolicyTarget<'_>) -> Vec<Cel>),
}

/// The control plane that a policy is generated for.
pub struct PolicyTarget<'p> {
    /// The release of the control plane.
    pub compat: Compat,
    /// The root namespace of the mesh.
    pub root_namespace: &'p str,
}

/// What a CEL expression is evaluated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Each {
    /// The EnvoyFilter, called `object`.
    Filter,
    /// Each patch, called `p`.
    Patch,
}

/// A CEL expression that finds what a rule finds. `@word` is a shorthand; `deploy::policy` has the list.
#[derive(Clone, Debug)]
pub struct Cel {
    /// Severity of the finding.
    pub severity: Severity,
    /// What it is evaluated for.
    pub each: Each,
    /// True for what the rule finds.
    pub finds: Cow<'static, str>,
    /// What is wrong.
    pub message: &'static str,
    /// What the rule finds but the expression does not; empty if nothing.
    pub without: &'static str,
}

/// The part that expressions about `typed_config` leave out.
pub(crate) const DEEPER_VALUES: &str = "fields deeper in the value than its own typed_config";

impl Cel {
    /// An expression about each patch.
    pub(crate) fn patch(severity: Severity, finds: impl Into<Cow<'static, str>>, message: &'static str) -> Cel {
        Cel { severity, each: Each::Patch, finds: finds.into(), message, without: "" }
    }

    /// An expression about the EnvoyFilter.
    pub(crate) fn filter(severity: Severity, finds: impl Into<Cow<'static, str>>, message: &'static str) -> Cel {
        Cel { each: Each::Filter, ..Cel::patch(severity, finds, message) }
    }

    /// Sets what the expression leaves out.
    #[must_use]
    pub(crate) fn without(self, without: &'static str) -> Cel {
        Cel { without, ..self }
    }

    /// Texts as a list in CEL.
    pub(crate) fn list(texts: &[&str]) -> String {
        let quoted: Vec<String> = texts.iter().map(|text| format!("{text:?}")).collect();
        format!("[{}]", quoted.join(", "))
    }
}

/// A range of releases: from `since`, up to but not including `until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Releases {
    /// The first; `None` means all known.
    pub since: Option<Release>,
    /// The first release after the range; `None` if the newest is included.
    pub until: Option<Release>,
}

impl Releases {
    /// Every release.
    pub(crate) const ALL: Releases = Releases { since: None, until: None };

    /// From a release on.
    pub(crate) const fn since(since: Release) -> Releases {
        Releases { since: Some(since), until: None }
    }

    /// Before a release.
    pub(crate) const fn before(until: Release) -> Releases {
        Releases { since: None, until: Some(until) }
    }

    /// From a release up to but not including another.
    pub const fn between(since: Release, until: Release) -> Releases {
        Releases { since: Some(since), until: Some(until) }
    }

    /// Whether a release is one of them.
    pub(crate) fn contains(self, release: Release) -> bool {
        self.since.is_none_or(|since| since <= release) && self.until.is_none_or(|until| release < until)
    }

    /// `since Istio 1.23 and before 1.25`.
    pub(crate) fn words(self) -> String {
        let name = |release: Release| {
            if release.patch == 0 { format!("{}.{}", release.major, release.minor) } else { release.to_string() }
        };
        match (self.since, self.until) {
            (Some(since), Some(until)) => format!("since Istio {} and before {}", name(since), name(until)),
            (Some(since), None) => format!("since Istio {}", name(since)),
            (None, Some(until)) => format!("before Istio {}", name(until)),
            (None, None) => "in every release".to_owned(),
        }
    }
}

/// From Istio 1.`minor`, for declarations of rules.
pub(crate) const fn since(minor: u16) -> Releases {
    Releases::since(Release::minor(minor))
}

/// Before Istio 1.`minor`, for declarations of rules.
pub(crate) const fn before(minor: u16) -> Releases {
    Releases::before(Release::minor(minor))
}

/// Whether a word may be the code of a user-written rule.
pub(crate) fn may_be_code(word: &str) -> bool {
    let plain = word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-');
    plain && word.starts_with(|c: char| c.is_ascii_uppercase()) && !word.starts_with("EF")
}

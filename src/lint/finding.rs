//! A finding: what is wrong, where, why it matters, what to write instead.

use crate::budget;
use crate::envoy::api::istio_of;
use crate::lint::rule::RuleInfo;
use crate::model::envoy_filter::EnvoyFilter;
use crate::source::{Severity, Span};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// How certain a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// Judged against the configuration that istiod generates by default, because no configuration was given.
    Likely,
    /// Computed by the engine on a given configuration, by the type system, or from the document alone.
    Certain,
}

impl Confidence {
    /// The word in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Confidence::Likely => "likely",
            Confidence::Certain => "certain",
        }
    }
}

/// A place in a text with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The message; may be empty at the primary place.
    pub message: String,
}

/// A replacement of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; an empty range is an insertion.
    pub span: Span,
    /// The new text.
    pub text: String,
}

/// A change that removes the finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, as an instruction: "write the canonical name".
    pub title: String,
    /// Whether a patch that has no effect has one again with it.
    pub revives: bool,
    /// Whether it keeps the meaning that istiod gives the filter, or makes it what the author clearly meant.
    pub safe: bool,
    /// The edits, which do not overlap.
    pub edits: Vec<Edit>,
    /// How many findings share it. It is applied only if all of them are reported, that is, none is suppressed or
    /// deselected.
    pub together: usize,
}

impl Fix {
    /// Its title with what follows from it.
    pub fn description(&self) -> Cow<'_, str> {
        if self.revives {
            format!("{}: the patch takes effect again", self.title).into()
        } else {
            self.title.as_str().into()
        }
    }
}

/// Another patch that is to blame for a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// What it did: `shop/slimming removed listener 0.0.0.0_7070 earlier`.
    pub what: String,
    /// Where that is in the configuration, if `what` does not say it.
    pub object: Option<String>,
    /// The place in the text.
    pub place: Span,
    /// Label at that place.
    pub label: String,
    /// What to write instead.
    pub help: String,
}

/// A patch that has no effect for the reason of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idle {
    /// `namespace/name` of the filter.
    pub filter: String,
    /// Index of the config patch; none for all of the filter.
    pub patch: Option<usize>,
    /// The place of the reason.
    pub span: Span,
}

/// A finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static RuleInfo,
    /// The severity; the rule's own unless the case is milder or worse.
    pub severity: Severity,
    /// The confidence.
    pub confidence: Confidence,
    /// The place.
    pub primary: Label,
    /// Other related places: the other filter, the selector, the anchor.
    pub related: Vec<Label>,
    /// What is wrong: one sentence, lowercase, without a period.
    pub message: String,
    /// Why it matters, with numbers.
    pub notes: Vec<String>,
    /// What to write instead.
    pub help: Option<String>,
    /// Whether the help has several lines on purpose.
    pub snippet: bool,
    /// `namespace/name` of the filter; empty if no filter could be read.
    pub filter: String,
    /// Index of the config patch.
    pub patch: Option<usize>,
    /// Workloads concerned, as `namespace/name`; shared, because many filters concern all of a namespace.
    pub workloads: Arc<Vec<String>>,
    /// Objects of the proxies' configuration concerned.
    pub objects: Vec<String>,
    /// A change that removes it.
    pub fix: Option<Fix>,
    /// Whether it says that the patch has no effect: without the patch, every given proxy gets the same configuration.
    pub ineffective: bool,
    /// Patches that have no effect for the same reason. If there are any, the rule explains only findings at their places.
    pub idle: Vec<Idle>,
    /// Whether it is known that the proxy's Envoy rejects the resource that contains the value.
    pub rejected: bool,
    /// Whether it is the reason if an Envoy rejects the resource with a message that contains these words.
    pub to_blame: Option<&'static str>,
    /// Whether the line contains a secret and must not be shown.
    pub secret: bool,
    /// Envoy minor versions that it holds for, among those of the proxies that the patch reaches; empty if it is not
    /// about an Envoy, or about the one of the control plane's own release.
    pub envoys: Envoys,
    /// The patch that is to blame, until the finding is pushed and takes over its texts.
    pub cause: Option<Box<Cause>>,
    /// Whether a note names the reference configuration that it was judged on.
    pub judged_on: bool,
    /// Name of a filter that a match refers to and that does not exist: the configuration may declare that something
    /// else adds it.
    pub missing: Option<Box<str>>,
    /// Whether it says that a patch matches nothing: further patches may do so for the same reason.
    pub misses: bool,
    /// Whether it is an info only because another finding reports the same error.
    pub follows: bool,
    /// The line of a script that it is about: a finding about another line has another cause.
    pub line: Option<Span>,
    /// Other EnvoyFilters, `namespace/name`, if it is about their order with this one.
    pub beside: Vec<String>,
}

/// Envoy minor versions that a finding holds for, and all that the patch reaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Envoys {
    hold: BTreeSet<u16>,
    reached: BTreeSet<u16>,
}

impl Envoys {
    /// Which of several Envoys it is about; nothing if it is about all of them, or if no Envoy judged it.
    fn note(&self) -> Option<String> {
        let others: Vec<u16> = self.reached.difference(&self.hold).copied().collect();
        let words = |minors: Vec<u16>| {
            let one = |minor: &u16| format!("Envoy 1.{minor} (proxies of Istio 1.{})", istio_of(*minor));
            minors.iter().map(one).collect::<Vec<_>>().join(" and ")
        };
        let hold = words(self.hold.iter().copied().collect());
        match (self.hold.is_empty(), others.is_empty()) {
            (true, _) => None,
            (false, true) => Some(format!("judged by {hold}, which this patch reaches")),
            (false, false) => Some(format!("this holds for {hold}, not for {}", words(others))),
        }
    }
}

impl Finding {
    /// A finding with the rule's severity, certain, without notes.
    pub(crate) fn new(rule: &'static RuleInfo, span: Span, message: impl Into<String>) -> Finding {
        Finding {
            rule,
            severity: rule.severity,
            confidence: Confidence::Certain,
            primary: Label { span, message: String::new() },
            related: Vec::new(),
            message: message.into(),
            notes: Vec::new(),
            help: None,
            snippet: false,
            filter: String::new(),
            patch: None,
            workloads: Arc::default(),
            objects: Vec::new(),
            fix: None,
            ineffective: false,
            idle: Vec::new(),
            rejected: false,
            to_blame: None,
            secret: false,
            envoys: Envoys::default(),
            cause: None,
            judged_on: false,
            missing: None,
            misses: false,
            follows: false,
            line: None,
            beside: Vec::new(),
        }
    }

    /// Records another EnvoyFilter with which the order matters.
    #[must_use]
    pub(crate) fn beside(mut self, other: &EnvoyFilter) -> Finding {
        let name = other.full_name();
        if !self.beside.contains(&name) {
            self.beside.push(name);
        }
        self
    }

    /// Moves it to a line of a script, if the line is known.
    #[must_use]
    pub(crate) fn at_line(mut self, line: Option<Span>) -> Finding {
        self.primary.span = line.unwrap_or(self.primary.span);
        self.line = line;
        self
    }

    /// Records that it was judged for the Envoy of proxies that the patch reaches.
    #[must_use]
    pub(crate) fn for_envoy(mut self, minor: u16, reached: impl IntoIterator<Item = u16>) -> Finding {
        self.envoys.hold.insert(minor);
        self.envoys.reached.extend(reached);
        self
    }

    /// Marks the line as containing a secret, which no report may repeat.
    #[must_use]
    pub(crate) fn secret(mut self) -> Finding {
        self.secret = true;
        self
    }

    /// Blames another patch: its message comes first, and the rule's hint about similar names is dropped.
    #[must_use]
    pub(crate) fn cause(mut self, cause: Option<Cause>) -> Finding {
        self.cause = cause.map(Box::new);
        self
    }

    /// Adds the texts about the patch that is to blame.
    fn settled(mut self) -> Finding {
        if let Some(cause) = self.cause.take() {
            self.message = format!("{}: {}", self.message, cause.what);
            self.related.insert(0, Label { span: cause.place, message: cause.label });
            self.notes.extend(cause.object.map(|object| format!("the full path is {object}")));
            self.help = Some(cause.help);
            self.snippet = true;
            self.fix = None;
        }
        self
    }

    /// Adds that it was judged on the reference configuration of some kinds of proxies, since no config dump shows it.
    #[must_use]
    pub(crate) fn judged_on(mut self, kinds: &[&str]) -> Finding {
        self.confidence = Confidence::Likely;
        self.judged_on = true;
        let (last, first) = kinds.split_last().unwrap_or((&"proxy", &[]));
        let kinds = if first.is_empty() { (*last).to_owned() } else { format!("{} and a {last}", first.join(", a ")) };
        self.note(format!("likely, judged on the reference configuration of a {kinds}"))
    }

    /// Adds why it is not certain.
    #[must_use]
    pub(crate) fn likely(mut self, why: &str) -> Finding {
        self.confidence = Confidence::Likely;
        self.judged_on = true;
        self.note(format!("likely: {why}"))
    }

    /// Names the filter that a match refers to and that does not exist.
    #[must_use]
    pub(crate) fn missing(mut self, name: &str) -> Finding {
        self.missing = Some(name.into());
        self
    }

    /// Marks that the patch matches nothing.
    #[must_use]
    pub(crate) fn misses(mut self) -> Finding {
        self.misses = true;
        self
    }

    /// Makes it an info, because another finding reports the same error.
    #[must_use]
    pub(crate) fn follows(mut self) -> Finding {
        self.follows |= self.severity == Severity::Error;
        self.severity(Severity::Info)
    }

    /// Sets the filter and patch that it is about.
    #[must_use]
    pub(crate) fn of(mut self, filter: &EnvoyFilter, patch: Option<usize>) -> Finding {
        self.filter = filter.full_name();
        self.patch = patch;
        self
    }

    /// Sets the label at the caret.
    #[must_use]
    pub(crate) fn label(mut self, message: impl Into<String>) -> Finding {
        self.primary.message = message.into();
        self
    }

    /// Marks the patch (without one: the filter) as having no effect. A rule does this if its own result is reason
    /// enough; if config dumps show an effect nevertheless, the finding is dropped ([`super::Context::settle`]).
    #[must_use]
    pub(crate) fn ineffective(mut self) -> Finding {
        self.ineffective = true;
        self
    }

    /// The same if a condition holds.
    #[must_use]
    pub(crate) fn ineffective_if(mut self, condition: bool) -> Finding {
        self.ineffective |= condition;
        self
    }

    /// Adds why it matters.
    #[must_use]
    pub(crate) fn note(mut self, note: impl Into<String>) -> Finding {
        self.notes.push(note.into());
        self
    }

    /// Adds notes, if there are any.
    #[must_use]
    pub(crate) fn notes(mut self, notes: impl IntoIterator<Item = String>) -> Finding {
        self.notes.extend(notes);
        self
    }

    /// Adds why it matters: the proxy's Envoy rejects the resource that contains the value.
    #[must_use]
    pub(crate) fn rejected(mut self, note: impl Into<String>) -> Finding {
        self.rejected = true;
        self.note(note)
    }

    /// The same, but the note claims a rejection only if the condition holds.
    #[must_use]
    pub(crate) fn rejected_if(mut self, condition: bool, note: impl Into<String>) -> Finding {
        self.rejected |= condition;
        self.note(note)
    }

    /// Marks it as the reason if an Envoy rejects the resource with such a message, which is known only from an Envoy.
    #[must_use]
    pub(crate) fn blamed_if(mut self, condition: bool, words: &'static str) -> Finding {
        if condition {
            self.to_blame = Some(words);
        }
        self
    }

    /// Adds what to write instead, in one line: line ends in it, which are those of a name, are shown as `\n`.
    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Finding {
        self.help = Some(help.into());
        self.snippet = false;
        self
    }

    /// Adds what to write instead, as YAML of several lines. Names of the input in it must be on one line
    /// ([`crate::source::escape::one_line`]).
    #[must_use]
    pub(crate) fn snippet(mut self, help: impl Into<String>) -> Finding {
        self.help = Some(help.into());
        self.snippet = true;
        self
    }

    /// Adds another place.
    #[must_use]
    pub(crate) fn related(mut self, span: Span, message: impl Into<String>) -> Finding {
        self.related.push(Label { span, message: message.into() });
        self
    }

    /// Sets another severity than the rule's.
    #[must_use]
    pub(crate) fn severity(mut self, severity: Severity) -> Finding {
        self.severity = severity;
        self
    }

    /// Sets the confidence.
    #[must_use]
    pub(crate) fn confidence(mut self, confidence: Confidence) -> Finding {
        self.confidence = confidence;
        self
    }

    /// Adds another patch of the same EnvoyFilter that has the same text: a YAML alias.
    fn shared_by(&mut self, patch: Option<usize>) {
        let Some(patch) = patch else { return };
        let name = format!("configPatches[{patch}]");
        if !self.notes.iter().any(|note| note.contains(&name)) {
            self.notes.push(format!("also in {name}, which repeats this text by a YAML alias"));
        }
    }

    /// Names the affected workloads, sorted and without duplicates.
    #[must_use]
    pub(crate) fn workloads(mut self, workloads: impl IntoIterator<Item = String>) -> Finding {
        self.join_workloads(workloads);
        self
    }

    /// Adds workloads, sorted and without duplicates.
    pub(crate) fn join_workloads(&mut self, workloads: impl IntoIterator<Item = String>) {
        let all = Arc::make_mut(&mut self.workloads);
        all.extend(workloads);
        all.sort();
        all.dedup();
    }

    /// Names the affected objects.
    #[must_use]
    pub(crate) fn objects(mut self, objects: impl IntoIterator<Item = String>) -> Finding {
        self.objects.extend(objects);
        self
    }

    /// Offers a change.
    #[must_use]
    pub fn fix(mut self, title: impl Into<String>, safe: bool, edits: Vec<Edit>) -> Finding {
        self.fix = Some(Fix { title: title.into(), revives: false, safe, edits, together: 1 });
        self
    }

    /// Says that the patch takes effect again with the fix.
    #[must_use]
    pub(crate) fn reviving(mut self) -> Finding {
        self.fix.iter_mut().for_each(|fix| fix.revives = true);
        self
    }
}

/// What a finding costs of a budget: its texts are built, sorted, compared and written.
const FINDING: u64 = 64;

/// The findings of rules.
#[derive(Debug, Default)]
pub struct Findings {
    found: Vec<Finding>,
}

impl Findings {
    /// Adds a finding.
    pub(crate) fn push(&mut self, finding: Finding) {
        budget::charge(FINDING);
        self.found.push(finding.settled());
    }

    /// Adds what was collected elsewhere.
    pub(super) fn append(&mut self, mut other: Findings) {
        self.found.append(&mut other.found);
    }

    /// Adds findings.
    pub(crate) fn extend(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.found.extend(findings.into_iter().map(Finding::settled));
    }

    /// Every finding so far.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Finding> {
        self.found.iter_mut()
    }

    /// Keeps the findings for which `keep` is true.
    pub(crate) fn retain(&mut self, keep: impl FnMut(&Finding) -> bool) {
        self.found.retain(keep);
    }

    /// The filters (by full name) and patches that have no effect according to the findings so far.
    pub(crate) fn ineffective(&self) -> HashSet<(String, Option<usize>)> {
        let found = self.found.iter().filter(|finding| finding.ineffective);
        let others = self.found.iter().flat_map(|finding| &finding.idle);
        let others = others.map(|idle| (idle.filter.clone(), idle.patch));
        found.map(|finding| (finding.filter.clone(), finding.patch)).chain(others).collect()
    }

    /// All findings, sorted by file and place, then by code, without duplicates.
    pub(crate) fn sorted(mut self) -> Vec<Finding> {
        self.found.sort_by(|left, right| {
            let key = |one: &Finding| (one.primary.span.file, one.primary.span.start, one.rule.code);
            key(left).cmp(&key(right)).then_with(|| left.message.cmp(&right.message))
        });
        self.found.dedup_by(|left, right| {
            let same = left.rule.code == right.rule.code
                && left.primary.span == right.primary.span
                && left.message == right.message;
            if same && left.filter == right.filter && left.patch != right.patch {
                right.shared_by(left.patch);
            }
            if same && !left.envoys.hold.is_empty() {
                right.envoys.hold.append(&mut left.envoys.hold);
                right.join_workloads(left.workloads.iter().cloned());
            }
            same
        });
        for finding in &mut self.found {
            let envoys = std::mem::take(&mut finding.envoys);
            finding.notes.extend(envoys.note());
        }
        self.found
    }
}

//! An AdmissionReview and its answer.
//!
//! Never denied: an update that leaves `spec` as it is (labels, finalizers), a deletion with the namespace, findings that the stored
//! filter already has (an update is judged by what it makes worse, like the API server's ratcheting validation), and findings that
//! an object applied later may resolve ([`super::later`]).

use super::json::JsonError;
use super::judge::{self, Asked, Judged, Rules};
use super::remark::Remark;
use super::request::Which;
pub use super::request::{EXEMPT_ANNOTATION, NoReview, Request};
use super::snapshot::Snapshot;
use super::words;
use crate::budget::{Ended, Meter};
use crate::lint::limits::Excess;
use crate::source::Severity;
use serde_json::{Map, Value, json};
use std::any::Any;
use std::sync::Arc;

/// Label of a namespace with its mode; overrides that of the server.
pub(crate) const MODE_LABEL: &str = "envoyfilter.dev/admission";

/// What happens to findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Findings at or above a severity deny, the others warn.
    Enforce,
    /// Findings warn.
    Warn,
    /// Findings are logged and counted only.
    Audit,
    /// No reviews.
    Off,
}

impl Mode {
    /// Reads `enforce`, `warn`, `audit` or `off`.
    pub(crate) fn from_word(word: &str) -> Option<Mode> {
        [Mode::Enforce, Mode::Warn, Mode::Audit, Mode::Off].into_iter().find(|mode| mode.as_str() == word)
    }

    /// Its name.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Mode::Enforce => "enforce",
            Mode::Warn => "warn",
            Mode::Audit => "audit",
            Mode::Off => "off",
        }
    }
}

/// What happens to findings in namespaces without a label.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// The mode.
    pub mode: Mode,
    /// Minimum severity that denies.
    pub deny_at: Severity,
}

/// How a review ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// No findings.
    Allowed,
    /// Allowed, with findings.
    Warned,
    /// Denied.
    Denied,
    /// Not denied because of an exemption annotation.
    Exempt,
    /// Not judged: `spec` is unchanged, the mode is off, or it is not an EnvoyFilter.
    Passed,
    /// Not judged in time.
    Late,
}

impl Verdict {
    /// Its name in logs and metrics.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Verdict::Allowed => "allowed",
            Verdict::Warned => "warned",
            Verdict::Denied => "denied",
            Verdict::Exempt => "exempt",
            Verdict::Passed => "passed",
            Verdict::Late => "late",
        }
    }
}

/// The answer to a review, before it is written as JSON.
#[derive(Clone, Debug)]
pub struct Decision {
    /// How it ended.
    pub verdict: Verdict,
    /// Findings, the worst first.
    pub remarks: Vec<Remark>,
    /// The mode that applied.
    pub mode: Mode,
    /// Whether mode `enforce` denies it.
    pub would_deny: bool,
    /// Why the filter is exempt.
    pub exempt: Option<String>,
    /// The message of a denial.
    pub message: Option<String>,
    /// What kubectl shows.
    pub warnings: Vec<String>,
}

/// How much work a review may take: once with other filters, and once without them.
#[derive(Debug)]
pub struct Allowance {
    /// Units of each.
    units: u64,
    together: Arc<Meter>,
    alone: Arc<Meter>,
}

impl Allowance {
    /// This many units for each of the two.
    pub fn new(units: u64) -> Allowance {
        Allowance { units, together: Meter::new(units), alone: Meter::new(units) }
    }

    /// Units spent.
    pub(crate) fn spent(&self) -> u64 {
        (self.units - self.together.left()).max(self.units - self.alone.left())
    }

    /// Cancels the work.
    pub fn cancel(&self) {
        self.together.cancel();
        self.alone.cancel();
    }
}

impl Default for Allowance {
    fn default() -> Allowance {
        Allowance::new(UNITS)
    }
}

/// Units of a review, about a second of one core.
pub const UNITS: u64 = 40_000_000;

/// Why a review has no decision.
#[derive(Debug)]
pub enum Undecided {
    /// The work was canceled.
    Cancelled,
    /// The code that judges panicked, with this payload.
    Panicked(Box<dyn Any + Send>),
    /// An object of the request is not JSON.
    NotJson(JsonError),
}

impl Request {
    /// Decides on a snapshot of the cluster with the default allowance. Panics propagate.
    pub fn decide(&self, snapshot: &Snapshot, rules: &Rules, policy: Policy) -> Decision {
        match self.decide_within(snapshot, rules, policy, &Allowance::default()) {
            Ok(decision) => decision,
            Err(Undecided::Panicked(payload)) => std::panic::resume_unwind(payload),
            Err(Undecided::Cancelled | Undecided::NotJson(_)) => {
                self.late(snapshot, policy, true, "the review was canceled")
            }
        }
    }

    /// Decides on a snapshot of the cluster within an allowance.
    pub fn decide_within(
        &self,
        snapshot: &Snapshot,
        rules: &Rules,
        policy: Policy,
        allowance: &Allowance,
    ) -> Result<Decision, Undecided> {
        let (decision, opened) = self.open(snapshot, policy);
        if opened == Opened::Settled {
            return Ok(decision);
        }
        let judged = self.judged(snapshot, rules, allowance)?;
        Ok(self.conclude(snapshot, policy, decision, judged))
    }

    /// Decides without judging a filter that costs too much: it is denied as one over the budget is. A deletion is allowed, with a
    /// warning.
    pub(crate) fn exceeds(&self, snapshot: &Snapshot, rules: &Rules, policy: Policy, excess: Excess) -> Decision {
        let (decision, opened) = self.open(snapshot, policy);
        match opened {
            Opened::Settled => decision,
            _ if self.has(Which::New) => {
                let judged = Judged { remarks: vec![judge::over_budget(rules, excess)], left_out: 0 };
                self.conclude(snapshot, policy, decision, judged)
            }
            Opened::ToJudge => self.late(snapshot, policy, true, &excess.to_string()),
        }
    }

    /// Completes a decision with what was found.
    fn conclude(&self, snapshot: &Snapshot, policy: Policy, mut decision: Decision, judged: Judged) -> Decision {
        let Judged { remarks, left_out } = judged;
        decision.remarks = remarks;
        let missing: Vec<&str> = snapshot.missing().collect();
        let mut said = std::mem::take(&mut decision.warnings);
        if !missing.is_empty() {
            said.push(format!(
                "judged on an incomplete view of the cluster: the admission server has not read {} yet",
                missing.join(", ")
            ));
        }
        if left_out > 0 {
            let filters = if left_out == 1 { "1 EnvoyFilter".to_owned() } else { format!("{left_out} EnvoyFilters") };
            said.push(format!("judged without {filters} that may match the same proxies: too large to judge together"));
        }
        let counts = |remark: &&Remark| remark.severity >= policy.deny_at && !remark.stood && !remark.may_come;
        let denying: Vec<&Remark> = decision.remarks.iter().filter(counts).collect();
        match self.exemption() {
            Some("") => said.push(format!("annotation {EXEMPT_ANNOTATION} gives no reason and is ignored")),
            Some(reason) if !denying.is_empty() => decision.exempt = Some(words::cut(reason, words::LONGEST)),
            _ => {}
        }
        let denied = decision.mode == Mode::Enforce && !denying.is_empty() && decision.exempt.is_none();
        decision.would_deny = !denying.is_empty() && decision.exempt.is_none();
        decision.verdict = match () {
            () if denied => Verdict::Denied,
            () if decision.exempt.is_some() && decision.mode == Mode::Enforce => Verdict::Exempt,
            () if decision.remarks.is_empty() => Verdict::Allowed,
            () => Verdict::Warned,
        };
        decision.message = denied.then(|| words::denial(&denying));
        if decision.mode != Mode::Audit {
            let reported = decision.remarks.iter().filter(|remark| !(denied && counts(remark)));
            decision.warnings = words::warnings(said.into_iter().chain(reported.map(words::line)));
        }
        decision
    }

    /// Judges the change. If other filters make that too much work, it is judged without them: the content of one filter must
    /// not decide whether another one is judged.
    fn judged(&self, snapshot: &Snapshot, rules: &Rules, allowance: &Allowance) -> Result<Judged, Undecided> {
        if let Some(excess) = self.excess(Which::New) {
            return Ok(Judged { remarks: vec![judge::over_budget(rules, excess)], left_out: 0 });
        }
        // A stored filter that is too large to judge is ignored.
        let old = if self.excess(Which::Old).is_some() {
            None
        } else {
            self.build(Which::Old).map_err(Undecided::NotJson)?
        };
        let new = self.build(Which::New).map_err(Undecided::NotJson)?;
        let asked = Asked { namespace: &self.namespace, name: &self.name, old: old.as_ref(), new: new.as_ref() };
        if old.is_none() && new.is_none() {
            return Ok(Judged::default());
        }
        let ended = match allowance.together.run(|| judge::judge(snapshot, rules, &asked)) {
            Ok(judged) => return Ok(judged),
            Err(Ended::Spent) => allowance.alone.run(|| judge::alone(snapshot, rules, &asked)),
            Err(ended) => Err(ended),
        };
        match ended {
            Ok(judged) => Ok(judged),
            Err(Ended::Spent) => Ok(Judged { remarks: vec![judge::over_budget(rules, Excess::Steps)], left_out: 0 }),
            Err(Ended::Cancelled) => Err(Undecided::Cancelled),
            Err(Ended::Panicked(payload)) => Err(Undecided::Panicked(payload)),
        }
    }

    /// Decides without judging the filter, if possible.
    pub(crate) fn settle(&self, snapshot: &Snapshot, policy: Policy) -> Option<Decision> {
        let (decision, opened) = self.open(snapshot, policy);
        (opened == Opened::Settled).then_some(decision)
    }

    /// Decides without judging, for this reason: denies only in mode `enforce` and unless `allow`.
    pub fn late(&self, snapshot: &Snapshot, policy: Policy, allow: bool, why: &str) -> Decision {
        let (mut decision, opened) = self.open(snapshot, policy);
        if opened == Opened::Settled {
            return decision;
        }
        decision.verdict = Verdict::Late;
        let said = format!("not judged: {why}");
        let denied = !allow && decision.mode == Mode::Enforce;
        match self.exemption().filter(|reason| denied && !reason.is_empty()) {
            Some(reason) => decision.exempt = Some(words::cut(reason, words::LONGEST)),
            None if denied => {
                decision.message = Some(format!("{said}; try again, or run the server with --on-deadline=allow"));
                return decision;
            }
            None => {}
        }
        match decision.mode {
            Mode::Audit => decision.warnings.clear(),
            _ => decision.warnings.push(said),
        }
        decision
    }

    /// Starts a decision: the mode, warnings about it, and whether there is anything to judge.
    fn open(&self, snapshot: &Snapshot, policy: Policy) -> (Decision, Opened) {
        let mut decision = Decision {
            verdict: Verdict::Passed,
            remarks: Vec::new(),
            mode: policy.mode,
            would_deny: false,
            exempt: None,
            message: None,
            warnings: Vec::new(),
        };
        if !self.is_filter {
            let said = "this webhook judges only EnvoyFilters: correct the rules of its ValidatingWebhookConfiguration";
            decision.warnings.push(said.to_owned());
            return (decision, Opened::Settled);
        }
        let label = snapshot.namespace(&self.namespace).and_then(|it| it.labels.get(MODE_LABEL));
        let wanted = label.map(|label| (label, Mode::from_word(label)));
        decision.mode = wanted.and_then(|(_, mode)| mode).unwrap_or(policy.mode);
        let goes_along = !self.has(Which::New) && self.goes_along(snapshot);
        if self.same_spec() || decision.mode == Mode::Off || goes_along {
            return (decision, Opened::Settled);
        }
        if let Some((label, None)) = wanted {
            decision.warnings.push(format!(
                "namespace {} has label {MODE_LABEL}={label:?}, which is not enforce, warn, audit or off; using {}",
                self.namespace,
                policy.mode.as_str()
            ));
        }
        (decision, Opened::ToJudge)
    }

    /// Whether a filter is deleted as a consequence of another deletion: then nobody can fix it first.
    fn goes_along(&self, snapshot: &Snapshot) -> bool {
        const CONTROLLERS: [&str; 3] = [
            "system:serviceaccount:kube-system:namespace-controller",
            "system:serviceaccount:kube-system:generic-garbage-collector",
            "system:kube-controller-manager",
        ];
        let ends = |namespace: &crate::model::inventory::Object| {
            namespace.document.get("metadata").is_some_and(|metadata| metadata.get("deletionTimestamp").is_some())
        };
        CONTROLLERS.contains(&self.user.as_str()) || snapshot.namespace(&self.namespace).is_some_and(ends)
    }
}

/// Whether there is anything to judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opened {
    Settled,
    ToJudge,
}

impl Decision {
    /// Whether the change is denied.
    pub fn denied(&self) -> bool {
        self.message.is_some()
    }

    /// Codes of the rules, each once, in their order.
    pub fn codes(&self) -> Vec<&'static str> {
        let codes: std::collections::BTreeSet<&'static str> = self.remarks.iter().map(|remark| remark.code).collect();
        codes.into_iter().collect()
    }

    /// The AdmissionReview that is sent back.
    pub fn answer(&self, request: &Request) -> Value {
        let mut response = Map::new();
        response.insert("uid".to_owned(), request.uid.clone().into());
        response.insert("allowed".to_owned(), (!self.denied()).into());
        if let Some(message) = &self.message {
            response.insert("status".to_owned(), json!({"code": 403, "reason": "Forbidden", "message": message}));
        }
        if !self.warnings.is_empty() {
            response.insert("warnings".to_owned(), self.warnings.clone().into());
        }
        let mut audit = Map::new();
        audit.insert("verdict".to_owned(), self.verdict.as_str().into());
        audit.insert("mode".to_owned(), self.mode.as_str().into());
        let codes = self.codes();
        if !codes.is_empty() {
            audit.insert("codes".to_owned(), codes.join(",").into());
        }
        if let Some(reason) = &self.exempt {
            audit.insert("exempt".to_owned(), reason.clone().into());
        }
        response.insert("auditAnnotations".to_owned(), audit.into());
        json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})
    }
}

//! An AdmissionReview and its answer.
//!
//! What never is denied: an update that leaves `spec` as it is (labels, finalizers, the end of an object), what goes with
//! its namespace, what the stored filter has already (an update is judged by what it makes worse, as the API server itself
//! ratchets its validation), and what an object applied later takes away ([`super::later`]).

use super::judge::{Asked, Remark, Rules, judge};
use super::words;
use super::world::World;
use crate::source::Severity;
use serde_json::{Map, Value, json};

/// Label of a namespace: how its filters are admitted, over what the server is told.
pub const MODE_LABEL: &str = "envoyfilter.dev/admission";
/// Annotation of a filter: why it is admitted whatever is found.
pub const EXEMPT_ANNOTATION: &str = "envoyfilter.dev/admission-exempt";

/// What becomes of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Those at or above a severity deny, the others warn.
    Enforce,
    /// All of them warn.
    Warn,
    /// They are logged and counted, and nobody is told.
    Audit,
    /// Nothing is judged.
    Off,
}

impl Mode {
    /// Reads `enforce`, `warn`, `audit` or `off`.
    pub fn from_word(word: &str) -> Option<Mode> {
        [Mode::Enforce, Mode::Warn, Mode::Audit, Mode::Off].into_iter().find(|mode| mode.word() == word)
    }

    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Mode::Enforce => "enforce",
            Mode::Warn => "warn",
            Mode::Audit => "audit",
            Mode::Off => "off",
        }
    }
}

/// What is done with findings, where a namespace says nothing else.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// What becomes of them.
    pub mode: Mode,
    /// From which severity on they deny.
    pub deny_at: Severity,
}

/// How a review ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Nothing to say.
    Allowed,
    /// Allowed, and something was said or recorded.
    Warned,
    /// Denied.
    Denied,
    /// It would have been denied, and an annotation says why not.
    Exempt,
    /// Nothing was judged: `spec` is as it was, the mode is off, or it is no EnvoyFilter.
    Passed,
    /// The time ran out.
    Late,
}

impl Verdict {
    /// Its word in logs and metrics.
    pub const fn word(self) -> &'static str {
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

/// A change that the API server asks about.
#[derive(Clone, Debug)]
pub struct Request {
    /// To be given back.
    pub uid: String,
    /// `CREATE`, `UPDATE`, `DELETE` or `CONNECT`.
    pub operation: String,
    /// Whether it is only tried.
    pub dry_run: bool,
    /// Namespace of the filter.
    pub namespace: String,
    /// Its name.
    pub name: String,
    user: String,
    is_filter: bool,
    old: Option<Value>,
    new: Option<Value>,
}

/// The answer to a review, before it is written as JSON.
#[derive(Clone, Debug)]
pub struct Decision {
    /// How it ended.
    pub verdict: Verdict,
    /// What was found and counts, the worst first.
    pub remarks: Vec<Remark>,
    /// The mode that held.
    pub mode: Mode,
    /// Why the filter is exempt.
    pub exempt: Option<String>,
    /// The reason for a denial.
    pub message: Option<String>,
    /// What kubectl shows.
    pub warnings: Vec<String>,
}

impl Request {
    /// Reads an AdmissionReview. Fails with what to tell who sent it.
    pub fn read(body: &[u8]) -> Result<Request, String> {
        let mut review: Value =
            serde_json::from_slice(body).map_err(|error| format!("this is no AdmissionReview: {error}"))?;
        let text = |value: &Value, keys: &[&str]| {
            let found = keys.iter().try_fold(value, |value, key| value.get(key));
            found.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let (version, kind) = (text(&review, &["apiVersion"]), text(&review, &["kind"]));
        if kind != "AdmissionReview" {
            return Err(format!("this is no AdmissionReview: its kind is `{kind}`"));
        }
        if version != "admission.k8s.io/v1" {
            return Err(format!(
                "AdmissionReview of `{version}` is not read: list v1 in admissionReviewVersions of the webhook"
            ));
        }
        let Some(request) = review.get_mut("request").filter(|request| request.is_object()) else {
            return Err("the AdmissionReview has no request".to_owned());
        };
        let mut take = |key: &str| request.get_mut(key).map(Value::take).filter(|value| !value.is_null());
        let (old, new) = (take("oldObject"), take("object"));
        let uid = text(request, &["uid"]);
        if uid.is_empty() {
            return Err("the request has no uid".to_owned());
        }
        let operation = text(request, &["operation"]);
        let is_filter = text(request, &["resource", "resource"]) == "envoyfilters"
            && text(request, &["resource", "group"]) == "networking.istio.io"
            && text(request, &["subResource"]).is_empty();
        let want = |object: Option<&Value>, key: &str| match object {
            Some(object) if object.is_object() => Ok(()),
            Some(_) => Err(format!("`{key}` of the request is no object")),
            None => Err(format!("the request has no `{key}`, which {operation} needs")),
        };
        if is_filter {
            match operation.as_str() {
                "CREATE" => want(new.as_ref(), "object")?,
                "UPDATE" => want(new.as_ref(), "object").and_then(|()| want(old.as_ref(), "oldObject"))?,
                "DELETE" => want(old.as_ref(), "oldObject")?,
                other => return Err(format!("operation `{other}` of an EnvoyFilter is not known")),
            }
        }
        let either = |keys: &[&str], fallback: &str| {
            let inside = new.as_ref().or(old.as_ref()).map(|object| text(object, keys)).unwrap_or_default();
            if inside.is_empty() { text(request, &[fallback]) } else { inside }
        };
        Ok(Request {
            namespace: either(&["metadata", "namespace"], "namespace"),
            name: either(&["metadata", "name"], "name"),
            dry_run: request.get("dryRun").and_then(Value::as_bool).unwrap_or(false),
            user: text(request, &["userInfo", "username"]),
            uid,
            operation,
            is_filter,
            old,
            new,
        })
    }

    /// Decides, on one moment of the cluster.
    pub fn decide(&self, world: &World, rules: &Rules, policy: Policy) -> Decision {
        let (mut decision, opened) = self.open(world, policy);
        if opened == Opened::Settled {
            return decision;
        }
        let (old, new) = self.states();
        let asked = Asked { namespace: &self.namespace, name: &self.name, old, new };
        decision.remarks = judge(world, rules, &asked);
        let missing: Vec<&str> = world.missing().collect();
        let mut said = std::mem::take(&mut decision.warnings);
        if !missing.is_empty() {
            said.push(format!(
                "judged by what is known so far: the admission server still reads {}",
                missing.join(", ")
            ));
        }
        let counts = |remark: &&Remark| remark.severity >= policy.deny_at && !remark.stood && !remark.may_come;
        let denying: Vec<&Remark> = decision.remarks.iter().filter(counts).collect();
        match self.exemption() {
            Some("") => said.push(format!("{EXEMPT_ANNOTATION} says no reason: it does not count")),
            Some(reason) if !denying.is_empty() => decision.exempt = Some(words::cut(reason, words::LONGEST)),
            _ => {}
        }
        let denied = decision.mode == Mode::Enforce && !denying.is_empty() && decision.exempt.is_none();
        decision.verdict = match () {
            () if denied => Verdict::Denied,
            () if decision.exempt.is_some() && decision.mode == Mode::Enforce => Verdict::Exempt,
            () if decision.remarks.is_empty() => Verdict::Allowed,
            () => Verdict::Warned,
        };
        decision.message = denied.then(|| words::denial(&denying));
        if decision.mode != Mode::Audit {
            let told = decision.remarks.iter().filter(|remark| !(denied && counts(remark)));
            decision.warnings = words::warnings(said.into_iter().chain(told.map(words::line)));
        }
        decision
    }

    /// Decides without judging the filter, where that is enough; it takes no time.
    pub fn settle(&self, world: &World, policy: Policy) -> Option<Decision> {
        let (decision, opened) = self.open(world, policy);
        (opened == Opened::Settled).then_some(decision)
    }

    /// Decides when the time has run out, for this reason: as `allow` says, where the mode would let anything be denied.
    pub fn late(&self, world: &World, policy: Policy, allow: bool, why: &str) -> Decision {
        let (mut decision, opened) = self.open(world, policy);
        if opened == Opened::Settled {
            return decision;
        }
        decision.verdict = Verdict::Late;
        let said = format!("not judged: {why}");
        let denied = !allow && decision.mode == Mode::Enforce;
        match self.exemption().filter(|reason| denied && !reason.is_empty()) {
            Some(reason) => decision.exempt = Some(words::cut(reason, words::LONGEST)),
            None if denied => {
                decision.message = Some(format!("{said}; try again, or say --on-deadline=allow to the server"));
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

    /// The old and the new state, as far as the operation is about them: an update may say DELETE with an object.
    fn states(&self) -> (Option<&Value>, Option<&Value>) {
        let old = self.old.as_ref().filter(|_| self.operation != "CREATE");
        (old, self.new.as_ref().filter(|_| self.operation != "DELETE"))
    }

    /// The reason that the filter gives for its exemption; empty when it has the annotation without one.
    fn exemption(&self) -> Option<&str> {
        let (old, new) = self.states();
        let annotations = new.or(old)?.get("metadata")?.get("annotations")?;
        annotations.get(EXEMPT_ANNOTATION)?.as_str().map(str::trim)
    }

    /// Where a decision begins: the mode, with what is odd about it, and whether there is anything to judge.
    fn open(&self, world: &World, policy: Policy) -> (Decision, Opened) {
        let mut decision = Decision {
            verdict: Verdict::Passed,
            remarks: Vec::new(),
            mode: policy.mode,
            exempt: None,
            message: None,
            warnings: Vec::new(),
        };
        if !self.is_filter {
            decision.warnings.push("the webhook of envoyfilter judges EnvoyFilters only: correct its rules".to_owned());
            return (decision, Opened::Settled);
        }
        let label = world.namespace(&self.namespace).and_then(|it| it.labels.get(MODE_LABEL));
        let wanted = label.map(|label| (label, Mode::from_word(label)));
        decision.mode = wanted.and_then(|(_, mode)| mode).unwrap_or(policy.mode);
        let (old, new) = self.states();
        let same = old.zip(new).is_some_and(|(old, new)| spec(old) == spec(new));
        if same || decision.mode == Mode::Off || (new.is_none() && self.goes_along(world)) {
            return (decision, Opened::Settled);
        }
        if let Some((label, None)) = wanted {
            decision.warnings.push(format!(
                "namespace {} has the label {MODE_LABEL}: `{label}`, which is none of enforce, warn, audit, off: taken as {}",
                self.namespace,
                policy.mode.word()
            ));
        }
        (decision, Opened::ToJudge)
    }

    /// Whether a filter goes because something else goes: nobody can be asked to put that right first.
    fn goes_along(&self, world: &World) -> bool {
        const CONTROLLERS: [&str; 3] = [
            "system:serviceaccount:kube-system:namespace-controller",
            "system:serviceaccount:kube-system:generic-garbage-collector",
            "system:kube-controller-manager",
        ];
        let ends = |namespace: &crate::model::inventory::Object| {
            namespace.document.get("metadata").is_some_and(|metadata| metadata.get("deletionTimestamp").is_some())
        };
        CONTROLLERS.contains(&self.user.as_str()) || world.namespace(&self.namespace).is_some_and(ends)
    }
}

/// Whether there is anything to judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opened {
    Settled,
    ToJudge,
}

/// What a filter says; none is like an empty one.
fn spec(object: &Value) -> Option<&Value> {
    object.get("spec").filter(|spec| !spec.is_null())
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
        audit.insert("verdict".to_owned(), self.verdict.word().into());
        audit.insert("mode".to_owned(), self.mode.word().into());
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

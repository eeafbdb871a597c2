//! Objects of which istiod uses only one: two new ones for the same host or the same list of a Telemetry hide each other.

use crate::migrate::FilterReport;
use crate::migrate::base::names::Names;
use crate::migrate::output::change::Change;
use crate::migrate::output::draft::{Action, key, revision};
use serde_json::Value as Json;
use std::collections::HashMap;

/// The label that most selectors have.
const APP: &str = "app";

/// What a new or edited object is for.
#[derive(PartialEq)]
pub(in crate::migrate) struct Claim {
    kind: &'static str,
    /// A host, or a list of a Telemetry.
    pub(in crate::migrate) of: String,
    namespace: String,
    /// Whether only clients or workloads of its namespace read it.
    private: bool,
    labels: Json,
    /// The revision of the control planes that read it; empty: all of them.
    revision: String,
    /// Equal for claims that become one object.
    pub(in crate::migrate) object: String,
}

impl Claim {
    fn of_object(object: &Json, root: &str) -> Vec<Claim> {
        let spec = &object["spec"];
        let (kind, of, labels): (_, Vec<&str>, _) = match object["kind"].as_str() {
            Some("VirtualService") if spec.get("gateways").is_none() => (
                "VirtualService",
                spec["hosts"].as_array().into_iter().flatten().filter_map(Json::as_str).collect(),
                None,
            ),
            Some("DestinationRule") => (
                "DestinationRule",
                spec["host"].as_str().into_iter().collect(),
                spec.pointer("/workloadSelector/matchLabels"),
            ),
            Some("Telemetry") => {
                let lists = ["accessLogging", "tracing"].into_iter().filter(|list| spec.get(list).is_some());
                ("Telemetry", lists.collect(), spec.pointer("/selector/matchLabels"))
            }
            _ => return Vec::new(),
        };
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
        let private =
            if kind == "Telemetry" { namespace != root } else { spec["exportTo"] == serde_json::json!(["."]) };
        let claim = |of: &str| Claim {
            kind,
            of: of.to_owned(),
            namespace: namespace.to_owned(),
            private,
            labels: labels.cloned().unwrap_or_default(),
            revision: revision(object).to_owned(),
            object: key(object).unwrap_or_default(),
        };
        of.into_iter().map(claim).collect()
    }

    /// The claims of an action.
    pub(in crate::migrate) fn all(action: &Action, root: &str) -> Vec<Claim> {
        match action {
            Action::Edit { object: (_, namespace, name), change: Change::Policy(settings) } => vec![Claim {
                kind: "DestinationRule",
                of: settings.host.clone(),
                namespace: namespace.clone(),
                private: false,
                labels: Json::Null,
                revision: String::new(),
                object: format!("{namespace}/{name}"),
            }],
            action => action.object().map_or_else(Vec::new, |object| Claim::of_object(object, root)),
        }
    }

    fn app(&self) -> Option<&str> {
        self.labels[APP].as_str()
    }

    /// Whether both may be for the same clients or workloads.
    fn hides(&self, other: &Claim) -> bool {
        let near = self.namespace == other.namespace || !self.private || !other.private;
        let apart = self
            .labels
            .as_object()
            .into_iter()
            .flatten()
            .any(|(key, value)| other.labels.get(key).is_some_and(|other| other != value));
        let read = self.revision == other.revision || self.revision.is_empty() || other.revision.is_empty();
        near && read && self.object != other.object && !apart
    }

    /// What becomes of two of them.
    fn reason(&self, other: &Claim, first: &str) -> String {
        if self.revision != other.revision {
            return format!(
                "{first} becomes a {} for {}, for another revision, and a control plane that reads both uses one of them",
                self.kind, self.of
            );
        }
        match self.kind {
            "VirtualService" => format!(
                "{first} becomes a VirtualService for {}, for other clients, and istiod uses one of two for a host in the mesh",
                self.of
            ),
            "DestinationRule" => {
                format!(
                    "{first} becomes a DestinationRule for {}, for other clients, and one would hide the other",
                    self.of
                )
            }
            _ => format!(
                "{first} becomes a Telemetry with `{}`, for other workloads, and the one for fewer workloads hides the other",
                self.of
            ),
        }
    }
}

/// A claim and the place of its patch: a report, and an index in its patches.
type Placed = (Claim, usize, usize);

/// The claims for one host or list, by the label that most selectors have: those with different values never meet.
#[derive(Default)]
struct Claims {
    of_app: HashMap<String, Vec<Placed>>,
    rest: Vec<Placed>,
}

impl Claims {
    /// The first claim that an object of another one would hide, or that would hide it.
    fn against(&self, claim: &Claim) -> Option<&Placed> {
        let own = match claim.app() {
            Some(app) => self.of_app.get(app).into_iter().flatten().collect::<Vec<_>>(),
            None => self.of_app.values().flatten().collect(),
        };
        own.into_iter()
            .chain(&self.rest)
            .filter(|(other, ..)| claim.hides(other))
            .min_by_key(|(_, at, patch)| (*at, *patch))
    }

    fn add(&mut self, placed: Placed) {
        let list = match placed.0.app() {
            Some(app) => self.of_app.entry(app.to_owned()).or_default(),
            None => &mut self.rest,
        };
        // Claims on one object have the same answers.
        if !list.iter().any(|(other, ..)| *other == placed.0) {
            list.push(placed);
        }
    }
}

/// Keeps back patches whose object would hide that of an earlier one. `order` has the positions of the reports in the
/// order in which istiod applies their filters. Whether something was kept back.
pub(in crate::migrate) fn settle(root: &str, names: &Names, order: &[usize], reports: &mut [FilterReport]) -> bool {
    let mut all: HashMap<(&'static str, String), Claims> = HashMap::new();
    let mut changed = false;
    for &at in order {
        for patch in 0..reports[at].patches.len() {
            let one = &reports[at].patches[patch];
            if !one.written {
                continue;
            }
            let claims: Vec<Claim> = one.found.actions.iter().flat_map(|action| Claim::all(action, root)).collect();
            let against = claims.iter().find_map(|claim| {
                let (earlier, other, index) = all.get(&(claim.kind, claim.of.clone()))?.against(claim)?;
                let (report, index) = (&reports[*other], reports[*other].patches[*index].index);
                let of = if *other == at { String::new() } else { format!(" of {}", names.title(report.index)) };
                Some(claim.reason(earlier, &format!("configPatches[{index}]{of}")))
            });
            if let Some(reason) = against {
                reports[at].patches[patch].keep(reason, true);
                changed = true;
                continue;
            }
            for claim in claims {
                all.entry((claim.kind, claim.of.clone())).or_default().add((claim, at, patch));
            }
        }
    }
    changed
}

//! What the API server does with a filter according to the `CustomResourceDefinition` of an Istio release: what it
//! rejects, and which fields it drops because its schema does not have them. The part that is the same in every release
//! is checked when filters are read.

use crate::lint::facts::document::{is_subdomain, present};
use crate::lint::rule::{Objected, Releases};
use crate::model::envoy_filter::{EnvoyFilter, Operation, Patch, PatchContext};
use crate::model::release::Release;
use crate::source::{Node, NodeValue, Span, Step};

/// What the API server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// It rejects the filter on create and update. Stored filters stay.
    Refused,
    /// It stores the filter without this field.
    Dropped,
}

/// Something that the API server does not store as written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Objection {
    /// The place.
    pub span: Span,
    /// What the API server does.
    pub verdict: Verdict,
    /// Why, as a clause: `a reference to a Service needs a name`.
    pub why: String,
    /// The patch that it concerns, if any.
    pub patch: Option<usize>,
    /// The releases that do this.
    pub releases: Releases,
    /// The rule that reports it in every release, if one does.
    pub reported_as: Option<Objected>,
    /// Whether the istiod of these releases also cannot read the filter.
    pub unread: bool,
}

impl Objection {
    fn new(verdict: Verdict, span: Span, releases: Releases, why: impl Into<String>) -> Objection {
        Objection { span, verdict, why: why.into(), patch: None, releases, reported_as: None, unread: false }
    }

    fn refused(span: Span, releases: Releases, why: impl Into<String>) -> Objection {
        Objection::new(Verdict::Refused, span, releases, why)
    }

    fn dropped(span: Span, releases: Releases, why: impl Into<String>) -> Objection {
        Objection::new(Verdict::Dropped, span, releases, why)
    }

    fn reported_as(self, objected: Objected) -> Objection {
        Objection { reported_as: Some(objected), ..self }
    }

    /// The name of an enum value that an istiod without it cannot read.
    fn unread(self) -> Objection {
        Objection { unread: true, ..self }
    }
}

/// What an istiod does while a filter exists that it cannot read, although a newer definition accepts it. Seen with
/// istiod 1.30.3's API and a real API server.
pub(crate) fn reads_none(istiod: &str) -> String {
    format!(
        "while the filter exists, {istiod} reads no EnvoyFilter: it keeps what it read before, later changes do not \
         reach its proxies, and after a restart it does not become ready"
    )
}

// The releases that changed the schema; `testdata/crds/envoyfilter.tsv` has it line by line.

/// The field `targetRefs`.
const TARGET_REFS: Release = Release::minor(22);
/// Its items are checked.
const CHECKED_REFS: Release = Release::minor(23);
/// `ServiceEntry` can be referenced; the number of references and labels is checked; only one way to select.
const ONE_SELECTION: Release = Release::minor(24);
/// Any kind can be referenced; the field `domainName`.
const ANY_KIND: Release = Release::minor(25);
/// `context: WAYPOINT` and `match.waypoint`.
const WAYPOINT: Release = Release::minor(29);
/// Ports of `match.waypoint` over 6553 are accepted.
const ALL_PORTS: Release = Release::patch(29, 3);
/// `operation: MERGE_AND_REPLACE_LIST`.
const REPLACE_LIST: Release = Release::minor(31);

/// Limits of the schema, in characters and items.
const MAX_REFS: usize = 16;
const MAX_NAME: usize = 253;
const MAX_KIND: usize = 63;
const MAX_LABELS: usize = 256;
const MAX_LABEL: usize = 63;

/// The parts of a filter that the API server does not store as written, by the definition of a release.
pub fn objections(filter: &EnvoyFilter, release: Release) -> Vec<Objection> {
    let mut all = Vec::new();
    references(filter, &mut |one| all.push(one));
    labels(filter, &mut |one| all.push(one));
    for patch in &filter.patches {
        of_patch(filter, patch, &mut |one| all.push(Objection { patch: Some(patch.index), ..one }));
    }
    all.retain(|one| one.releases.contains(release));
    // Dropped parts are not checked further.
    let dropped: Vec<Span> = all.iter().filter(|one| one.verdict == Verdict::Dropped).map(|one| one.span).collect();
    all.retain(|one| one.verdict == Verdict::Dropped || !dropped.contains(&one.span));
    all
}

type Note<'n> = &'n mut dyn FnMut(Objection);

fn references(filter: &EnvoyFilter, note: Note<'_>) {
    let Some(list) = present(&filter.document, &["spec", "targetRefs"]) else { return };
    let key = filter.document.key_span(&["spec".into(), "targetRefs".into()]);
    let dropped = Releases::before(TARGET_REFS);
    note(Objection::dropped(key, dropped, "the field `targetRefs` does not exist").reported_as(Objected::TargetRefs));
    if present(&filter.document, &["spec", "workloadSelector"]).is_some() {
        let why = "only one of `targetRefs` and `workloadSelector` may be given";
        note(Objection::refused(key, Releases::since(ONE_SELECTION), why).reported_as(Objected::TwoSelections));
    }
    if list.items().len() > MAX_REFS {
        let why = format!("at most {MAX_REFS} references are allowed, but there are {}", list.items().len());
        note(Objection::refused(list.span, Releases::since(ONE_SELECTION), why));
    }
    for item in list.items() {
        let text =
            |key: &str| item.get(key).filter(|node| !node.is_null()).map(|node| node.as_str().unwrap_or_default());
        let place = |key: &str| item.entry(key).map_or(item.span, |entry| entry.value.span);
        let mut refuse = |key: &str, releases, why: String| {
            note(Objection::refused(place(key), releases, why));
        };
        let checked = Releases::since(CHECKED_REFS);
        for key in ["kind", "name"] {
            match text(key) {
                None => refuse(key, checked, format!("a reference needs a `{key}`")),
                Some("") => refuse(key, checked, format!("the `{key}` of a reference may not be empty")),
                Some(_) => {}
            }
        }
        let long = |key: &str, most: usize| text(key).is_some_and(|text| text.chars().count() > most);
        for (key, most) in [("kind", MAX_KIND), ("name", MAX_NAME), ("group", MAX_NAME)] {
            if long(key, most) {
                refuse(key, checked, format!("the `{key}` of a reference may have at most {most} characters"));
            }
        }
        let odd = text("kind").filter(|kind| !kind.is_empty() && !is_kind(kind));
        if let Some(kind) = odd {
            refuse("kind", checked, format!("`{kind}` is not a valid kind"));
        }
        if let Some(group) = text("group").filter(|group| !group.is_empty() && !is_subdomain(group)) {
            refuse("group", checked, format!("`{group}` is not a valid group"));
        }
        if text("namespace").is_some_and(|namespace| !namespace.is_empty()) {
            refuse("namespace", checked, "a reference cannot name another `namespace`".to_owned());
        }
        kind_known(text("group"), text("kind"), &mut refuse);
    }
}

/// Checks that a kind can be referenced.
fn kind_known(group: Option<&str>, kind: Option<&str>, refuse: &mut dyn FnMut(&str, Releases, String)) {
    let Some(kind) = kind else { return };
    let listed = Releases::between(CHECKED_REFS, ANY_KIND);
    match (group, kind) {
        // The rule reads the group of every reference and fails if it is missing.
        (None, _) => refuse("kind", listed, "a reference without `group` fails its check".to_owned()),
        (Some("core" | ""), "Service") | (Some("gateway.networking.k8s.io"), "Gateway") => {}
        (Some("networking.istio.io"), "ServiceEntry") => {
            let why = "a ServiceEntry cannot be referenced".to_owned();
            refuse("kind", Releases::between(CHECKED_REFS, ONE_SELECTION), why);
        }
        (Some(group), _) => {
            let name = if group.is_empty() { kind.to_owned() } else { format!("{group}/{kind}") };
            refuse("kind", listed, format!("a `{name}` cannot be referenced"));
        }
    }
}

fn labels(filter: &EnvoyFilter, note: Note<'_>) {
    let Some(labels) = present(&filter.document, &["spec", "workloadSelector", "labels"]) else { return };
    let releases = Releases::since(ONE_SELECTION);
    let mut refuse = |span, why: String| note(Objection::refused(span, releases, why).reported_as(Objected::Labels));
    if labels.entries().len() > MAX_LABELS {
        refuse(labels.span, format!("a selector may have at most {MAX_LABELS} labels"));
    }
    for label in labels.entries() {
        let value = label.value.as_str().unwrap_or_default();
        if value.chars().count() > MAX_LABEL {
            refuse(label.value.span, format!("a label value may have at most {MAX_LABEL} characters"));
        }
        if value.contains('*') {
            refuse(label.value.span, "a label value cannot contain a wildcard".to_owned());
        }
    }
}

fn of_patch(filter: &EnvoyFilter, patch: &Patch, note: Note<'_>) {
    let Some(written) = filter.patch_node(patch.index) else { return };
    let given = |below: &[&str]| present(written, below);
    let key = |below: &[&str]| {
        let below = below.iter().map(|key| Step::from(*key));
        filter.document.key_span(&filter.patch_route(patch.index).into_iter().chain(below).collect::<Vec<_>>())
    };
    if given(&["match", "routeConfiguration", "vhost", "domainName"]).is_some() {
        let place = key(&["match", "routeConfiguration", "vhost", "domainName"]);
        let dropped = Releases::before(ANY_KIND);
        note(
            Objection::dropped(place, dropped, "the field `domainName` does not exist")
                .reported_as(Objected::DomainName),
        );
    }
    let replaces = patch.body.as_ref().is_some_and(|body| body.operation == Operation::MergeAndReplaceList);
    if let Some(place) = given(&["patch", "operation"]).filter(|_| replaces) {
        let why = "operation MERGE_AND_REPLACE_LIST does not exist";
        note(Objection::refused(place.span, Releases::before(REPLACE_LIST), why).unread());
    }
    let by_context = patch.context == PatchContext::Waypoint;
    if let Some(place) = given(&["match", "context"]).filter(|_| by_context) {
        let before = Releases::before(WAYPOINT);
        note(
            Objection::refused(place.span, before, "context WAYPOINT does not exist")
                .reported_as(Objected::Waypoint)
                .unread(),
        );
    }
    let Some(waypoint) = given(&["match", "waypoint"]) else {
        if by_context {
            let why = "context WAYPOINT needs `match.waypoint`";
            let objection = Objection::refused(key(&["match", "context"]), Releases::since(WAYPOINT), why);
            note(objection.reported_as(Objected::Waypoint));
        }
        return;
    };
    let place = key(&["match", "waypoint"]);
    let dropped = Releases::before(WAYPOINT);
    note(
        Objection::dropped(place, dropped, "the field `match.waypoint` does not exist").reported_as(Objected::Waypoint),
    );
    let mut refuse = |span, releases, why: String| note(Objection::refused(span, releases, why));
    if !by_context {
        refuse(place, Releases::since(WAYPOINT), "`match.waypoint` needs context WAYPOINT".to_owned());
    }
    if let Some(port) = waypoint.get("portNumber").and_then(number) {
        let span = waypoint.get("portNumber").map_or(place, |node| node.span);
        if !(1..=65535).contains(&port) {
            refuse(span, Releases::since(WAYPOINT), format!("{port} is not a port"));
        } else if port > 6553 {
            let why = format!("its check for ports up to 65535 is missing a digit and ends at 6553, below {port}");
            refuse(span, Releases::between(WAYPOINT, ALL_PORTS), why);
        }
    }
}

fn number(node: &Node) -> Option<i64> {
    match &node.value {
        NodeValue::Number(text) => text.parse().ok(),
        _ => None,
    }
}

/// `^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$`
fn is_kind(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

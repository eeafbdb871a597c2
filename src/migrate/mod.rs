//! From EnvoyFilters to native objects: which API replaces each patch, and what differs then.
//!
//! Classes are based on recordings of istiod with the filter and with the native objects (`testdata/migrate`), and on
//! guards that check the other objects of the input: a move never reaches more than the filter and never allows more
//! traffic.

mod base;
mod guards;
mod objects;
mod output;
mod patterns;
mod proofs;

use self::base::names::Names;
use self::base::reach::{self, Reach, pinned};
use self::base::step::{BUILT_IN, Cx, Move, NOTHING, Part};
use self::base::value::{Fields, json};
use self::base::verdict::{Class, Concern, Kind, State, class_of, together};
use self::guards::gateways;
use self::guards::inserted::Inserts;
use self::guards::one_rule;
use self::guards::overlap::Overlaps;
use self::guards::panics::Panics;
use self::guards::removed;
use self::guards::selected;
use self::guards::sequence::Sequence;
use self::guards::sidecars;
use self::guards::ties;
use self::guards::together::Together;
use self::guards::twice;
use self::guards::unread;
use self::guards::waypoints;
use self::objects::index::Index;
use self::objects::mesh::Mesh;
use self::output::ambient::Placement;
use self::output::draft::{Action, Draft};
use self::output::drafted;
use self::output::rest;
use self::output::roll_out::IDLE_PATCH;
use self::patterns::{
    authz, cluster, cluster_add, ext_authz, extension, hash, headers, homeless, https, listener, manager,
    provider_body, router, routes, telemetry, tls,
};
use self::proofs::proof::Proof;
use crate::engine::matching::HTTP_CONNECTION_MANAGER;
use crate::engine::program::{BuiltPatch, Program, Status};
use crate::model::envoy_filter::{ApplyTo, EnvoyFilter, Operation, Patch};
use crate::model::inventory::Inventory;
use crate::model::release::Release;
use crate::proto::decode::What;
use crate::source::Step;
pub use base::verdict;
pub(crate) use base::{catalog, step, value};
pub(crate) use objects::{index, mesh};
pub(crate) use output::change::settings_of;
pub(crate) use output::{ambient, change, draft, newest, roll_out};
pub use proofs::compare;
pub(crate) use proofs::{forms, proof, verify};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The weakest class that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Accept {
    /// Only moves with identical configuration.
    Exact,
    /// Also moves that differ in names, order and metadata.
    SameBut,
    /// Also moves that differ in behavior, except authentication, authorization and TLS.
    Differs,
    /// Also moves of authentication, authorization and TLS that the user has reviewed.
    Reviewed,
}

/// What the filter of a patch that no release reads as it is written does today.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Today {
    /// Nothing.
    Nothing,
    /// What istiod reads of it.
    Parts,
}

impl Today {
    fn say(self, found: &mut Move) {
        let (effect, meanwhile) = match self {
            Today::Nothing => (
                "no supported release reads the patch as it is written: today it does nothing, the native object takes effect",
                IDLE_PATCH,
            ),
            Today::Parts => (
                "no supported release reads all of the patch as it is written: today what istiod reads of it does less, or makes Envoy reject the resource; the native object takes full effect",
                "what istiod reads of the patch applies too: where Envoy rejects that today, what replaces it applies once the EnvoyFilter is gone",
            ),
        };
        found.difference(Kind::Behavior, effect);
        found.meanwhile = vec![meanwhile];
    }
}

/// The input of a migration.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The filters and the other objects.
    pub inventory: &'a Inventory,
    /// The root namespace.
    pub root: &'a str,
    /// The release whose APIs may be used.
    pub to: Release,
    /// The weakest class that is written.
    pub accept: Accept,
    /// The requested filters, `namespace/name`; `None` means all.
    pub asked: Option<BTreeSet<String>>,
    /// Kinds whose objects may not all have been read, each with what was not read, as a sentence.
    pub unread: BTreeMap<&'static str, String>,
    /// Whether the workloads move to ambient mode.
    pub ambient: bool,
    /// Further reasons against moving a filter, by `namespace/name`.
    pub doubts: BTreeMap<String, (State, String)>,
    /// Patches that no release reads as they were written, given here in the newest types: `namespace/name` of the filter and the
    /// index.
    pub revived: BTreeMap<(String, usize), Today>,
}

/// Why nothing can be migrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The release is not one that the engine knows.
    UnknownRelease(Release),
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnknownRelease(release) => {
                write!(out, "Istio {release} is unknown: use a release from {} to {}", Release::OLDEST, Release::NEWEST)
            }
        }
    }
}

impl std::error::Error for Error {}

/// The result for a patch.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchReport {
    /// Its index in the filter.
    pub index: usize,
    /// What it is applied to.
    pub apply_to: ApplyTo,
    /// How it moves.
    pub found: Move,
    /// Its class.
    pub class: Class,
    /// Whether its native objects are written.
    pub written: bool,
    /// Why it stays although it could move: another patch stays whatever the user accepts.
    pub kept: Option<String>,
    /// Whether it stays because of another patch although its class is accepted.
    pub beside: bool,
    /// Whether it stays only as long as the object for another patch is not in the input.
    pub waits: bool,
    /// Its place in ambient mode, if requested.
    pub ambient: Option<Placement>,
}

impl PatchReport {
    /// A patch for which nothing is written.
    fn of(patch: &Patch, found: Move) -> PatchReport {
        let (index, apply_to, class) = (patch.index, patch.apply_to, found.class());
        let (written, kept, beside, waits, ambient) = (false, None, false, false, None);
        PatchReport { index, apply_to, found, class, written, kept, beside, waits, ambient }
    }

    /// Keeps it back because of another patch; `firm` if that one stays whatever the user accepts.
    pub(crate) fn keep(&mut self, reason: impl Into<String>, firm: bool) {
        let reason = reason.into();
        self.lower(reason.clone());
        self.written = false;
        self.kept = firm.then_some(reason);
    }

    /// Lowers its class: next to other patches, it is not known whether the native form has the same effect.
    pub(crate) fn lower(&mut self, reason: impl Into<String>) {
        self.found.guard(Concern::Existing, State::Undecided, reason);
        self.class = self.found.class();
    }

    /// Whether it stays in the EnvoyFilter whatever the user accepts.
    pub(crate) fn stays(&self) -> bool {
        !self.found.moves || self.found.is_refused() || self.kept.is_some()
    }
}

/// The class of a filter with these patches.
fn class_together(patches: &[PatchReport]) -> Class {
    // With the object to edit, a patch could move: without another one that does, it does not count as one that stays.
    let lacks = |patch: &PatchReport| patch.found.lacks_object() || patch.waits;
    let some = patches.iter().any(|patch| !patch.stays() && !lacks(patch));
    together(patches.iter().map(|patch| (patch.class, patch.stays() || some && lacks(patch))))
}

/// What happens to a filter.
#[derive(Clone, Debug, PartialEq)]
pub enum After {
    /// Every patch moves: delete it.
    Delete,
    /// It stays, smaller.
    Smaller(Json),
    /// It stays as it is.
    Unchanged,
}

/// The result for a filter.
#[derive(Clone, Debug, PartialEq)]
pub struct FilterReport {
    /// Index in the inventory.
    pub index: usize,
    /// `metadata.namespace`.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
    /// The class of all of its patches.
    pub class: Class,
    /// Its patches.
    pub patches: Vec<PatchReport>,
    /// What happens to it.
    pub after: After,
    /// Whether some release attaches it to a proxy.
    pub attaches: bool,
    /// Whether it must be gone before what replaces the filters is applied.
    pub ahead: bool,
}

/// The result of a migration.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The root namespace, whose objects are for every namespace.
    pub root: String,
    /// The release whose APIs were used.
    pub to: Release,
    /// Whether the workloads move to ambient mode.
    pub ambient: bool,
    /// The requested filters.
    pub filters: Vec<FilterReport>,
    /// What to write.
    pub draft: Draft,
    /// The mesh settings before and after, if the input has them and they change.
    pub mesh_config: Option<(Json, Json)>,
    /// Whether the input has more than filters; without other objects, some guards are undecided.
    pub described: bool,
    /// How many filters were read, requested or not.
    pub read: usize,
    /// Whether all EnvoyFilters in question were listed.
    pub listed: bool,
    /// Filters that stay, upgraded to the newest types, names and fields.
    pub rewrites: Vec<newest::Rewrite>,
    /// Computed proofs, filter by filter; empty if the classes come from recordings.
    pub proofs: Vec<Proof>,
    /// The version of the istiod that computed them.
    pub proven_by: Option<String>,
}

/// How every patch of some filters moves, and what is written for them by default. The filters do not have to be those
/// of the inventory.
pub(crate) fn reports(
    inventory: &Inventory,
    filters: &[EnvoyFilter],
    program: &Program<'_>,
    root: &str,
    to: Release,
) -> (Vec<FilterReport>, Draft) {
    let index = Index::of(inventory);
    let mesh = Mesh { inventory, root, index: &index };
    let names = Names::of(filters, program, root);
    let request = Request {
        inventory,
        root,
        to,
        accept: Accept::SameBut,
        asked: None,
        unread: BTreeMap::new(),
        ambient: false,
        doubts: BTreeMap::new(),
        revived: BTreeMap::new(),
    };
    all(&request, mesh, filters, program, &names)
}

/// Finds the native objects for filters. Fails if the release is unknown.
pub fn migrate(request: &Request<'_>) -> Result<Report, Error> {
    if !(Release::OLDEST.minor..=Release::NEWEST.minor).contains(&request.to.minor) {
        return Err(Error::UnknownRelease(request.to));
    }
    let filters = &request.inventory.envoy_filters;
    let index = Index::of(request.inventory);
    let mesh = Mesh { inventory: request.inventory, root: request.root, index: &index };
    let program = Program::new(filters, request.to);
    let names = Names::of(filters, &program, request.root);
    let mut report = Report {
        root: request.root.to_owned(),
        to: request.to,
        ambient: request.ambient,
        filters: Vec::new(),
        draft: Draft::default(),
        mesh_config: None,
        described: mesh.described(),
        read: filters.len(),
        listed: true,
        rewrites: Vec::new(),
        proofs: Vec::new(),
        proven_by: None,
    };
    (report.filters, report.draft) = all(request, mesh, filters, &program, &names);
    report.mesh_config = report.draft.mesh_config(&mesh);
    Ok(report)
}

/// The filters that move that have to be looked at together with each other.
pub(crate) fn grouped(request: &Request<'_>, report: &Report) -> Together {
    let filters = &request.inventory.envoy_filters;
    let program = Program::new(filters, request.to);
    let names = Names::of(filters, &program, request.root);
    let overlaps = Overlaps::of(filters, &program, &names, request.root);
    Together::of(&report.filters, &program, &names, &overlaps, request.root)
}

/// Every requested filter, and what is written for them.
fn all<'a>(
    request: &Request<'_>,
    mesh: Mesh<'a>,
    filters: &'a [EnvoyFilter],
    program: &Program<'_>,
    names: &'a Names,
) -> (Vec<FilterReport>, Draft) {
    let cx = |index: usize| {
        filters.get(index).map(|filter| Cx { mesh, filter, index, to: request.to, schema: program.schema, names })
    };
    let asked = |filter: &EnvoyFilter| request.asked.as_ref().is_none_or(|asked| asked.contains(&filter.full_name()));
    let wanted = (0..filters.len()).filter_map(cx).filter(|cx| asked(cx.filter));
    let mut reports: Vec<FilterReport> = wanted.map(|cx| of_filter(&cx, program, request)).collect();
    let overlaps = Overlaps::of(filters, program, names, request.root);
    let sequence = Sequence { request, program, names, order: overlaps.order(&reports) };
    let inserts = Inserts::of(program, names);
    let panics = Panics::of(program, names);
    panics.say(request.accept, &mut reports);
    let settle = |reports: &mut [FilterReport]| {
        panics.settle(program, names, request.accept, reports)
            || overlaps.settle(request.accept, reports)
            || inserts.settle(program, names, reports)
            || sequence.settle(reports)
            || one_rule::settle(request.root, names, &sequence.order, reports)
    };
    while settle(&mut reports) {
        for report in &mut reports {
            if let Some(cx) = cx(report.index) {
                ties::stay_for_others(&cx, program, &mut report.patches);
            }
        }
    }
    for patch in reports.iter_mut().flat_map(|report| &mut report.patches) {
        patch.beside = !patch.written && is_written(&patch.found, request.accept);
    }
    let draft = drafted::draft(&mesh, filters, &overlaps.order(&reports), &reports);
    let ahead = inserts.broken_by(program, names, &reports);
    for report in &mut reports {
        let Some(cx) = cx(report.index) else { continue };
        report.after = rest::after(&cx, &report.patches);
        report.class = class_together(&report.patches);
        report.ahead = ahead.contains(&report.index);
    }
    (reports, draft)
}

fn of_filter(cx: &Cx<'_>, program: &Program<'_>, request: &Request<'_>) -> FilterReport {
    let (filter, accept, index) = (cx.filter, request.accept, cx.index);
    let mut parts: Vec<Part<'_>> = program.patches(index).iter().map(|built| part(cx, program, built)).collect();
    search(cx, &mut parts);
    ties::users(cx, &mut parts);
    twice::check(&mut parts);
    let mut patches = Vec::new();
    for mut part in parts {
        let found = part.found.take();
        let mut found = found.unwrap_or_else(|| Move::none(&catalog::OTHER, "it has no known native API"));
        let ambient = request.ambient.then(|| ambient::place(cx, &part, &mut found));
        unread::check(&request.unread, &mut found);
        if let Some((state, reason)) = request.doubts.get(&filter.full_name()).filter(|_| found.moves) {
            found.guard(Concern::Patch, *state, reason.clone());
        }
        if let Some(today) = request.revived.get(&(filter.full_name(), part.built.patch.index)).filter(|_| found.moves)
        {
            today.say(&mut found);
        }
        never_meets(&part, &mut found);
        gateways::others(cx, &mut found);
        if !request.ambient {
            waypoints::others(cx, &part, &mut found);
        }
        sidecars::check(cx, &mut found);
        selected::check(cx, &part, &mut found);
        removed::check(cx, &part, &mut found);
        in_typed_struct(&part, &mut found);
        of_revision(filter, &mut found);
        if let Some(why) = reach::narrower(part.built, cx.to).filter(|_| found.moves) {
            found.guard(Concern::Selector, State::Undecided, why);
        }
        let written = is_written(&found, accept);
        patches.push(PatchReport { written, ambient, ..PatchReport::of(part.built.patch, found) });
    }
    if let Some(reason) = program.refused(index) {
        patches = filter
            .patches
            .iter()
            .map(|patch| {
                let why = format!("Istio {} refuses the filter: {reason}", cx.to);
                PatchReport::of(patch, Move::none(&catalog::OTHER, why))
            })
            .collect();
    }
    ties::stay_for_others(cx, program, &mut patches);
    FilterReport {
        index,
        namespace: filter.namespace.clone(),
        name: filter.name.clone(),
        class: class_together(&patches),
        patches,
        after: After::Unchanged,
        attaches: !Mesh::never_attaches(filter),
        ahead: false,
    }
}

/// Runs the patterns; those that consider several patches come first.
fn search(cx: &Cx<'_>, parts: &mut [Part<'_>]) {
    extension::find(cx, parts);
    telemetry::find(cx, parts);
    ext_authz::find(cx, parts);
    provider_body::find(cx, parts);
    authz::find(cx, parts);
    homeless::find_grpc_web(cx, parts);
    headers::find(parts);
    hash::find(cx, parts);
    https::find(cx, parts);
    routes::find(cx, parts);
    manager::find(cx, parts);
    router::find(cx, parts);
    listener::find(cx, parts);
    tls::find(cx, parts);
    cluster_add::find(cx, parts);
    cluster::find(cx, parts);
    homeless::find(parts);
}

fn part<'a>(cx: &Cx<'_>, program: &Program<'_>, built: &'a BuiltPatch<'a>) -> Part<'a> {
    let value = built.value.as_ref().map_or(Json::Object(serde_json::Map::new()), |tree| json(tree, program.schema));
    let last = |route: &[Step]| match route.last() {
        Some(Step::Key(key)) => key.clone(),
        _ => String::new(),
    };
    let defaults = built
        .notices
        .iter()
        .filter(|notice| notice.what == What::DefaultDropped)
        .map(|notice| last(&notice.route))
        .collect();
    let mut part = Part {
        built,
        value: Fields(value),
        defaults,
        reach: Reach::of_listener(&cx.mesh, cx.filter, built),
        found: None,
    };
    if built.patch.apply_to == ApplyTo::Bootstrap {
        return part;
    }
    if built.status != Status::Ready {
        part.found = Some(Move::none(
            &catalog::OTHER,
            "istiod ignores this patch, so there is nothing to replace: `lint` says why; correct it or delete it",
        ));
    } else if let Some(notice) = built.notices.iter().find(|notice| notice.what != What::DefaultDropped) {
        let field = crate::source::field_path(&notice.route);
        part.found = Some(Move::none(
            &catalog::OTHER,
            format!(
                "the value is not read as written (`{field}`), so its meaning is unknown: `lint --fix` rewrites old types and names; migrate the result"
            ),
        ));
    } else if reach::matches_metadata(built) {
        part.found = Some(Move::none(&catalog::OTHER, "it matches node metadata, which no native API can select by"));
    } else if let Some((why, served)) = pinned(built, cx.to) {
        let mut found = Move::new(&catalog::OTHER).home(BUILT_IN, NOTHING, 0);
        found.set("patch for proxies of another version");
        if served {
            let reason = format!(
                "{why}: a control plane of that release also serves proxies of the named version, and they would lose it"
            );
            found.difference(Kind::Behavior, reason.clone());
            found.guard(Concern::Patch, State::Broken, reason);
        } else {
            found.guard(
                Concern::Patch,
                State::Undecided,
                format!(
                    "{why}: proxies of the target release do not get it; delete it once no proxy of the named version is left"
                ),
            );
        }
        part.found = Some(found);
    }
    part
}

/// An HTTP filter is inside the HTTP connection manager: a match of another network filter (or of its old name) finds
/// none, and the patch does nothing.
fn never_meets(part: &Part<'_>, found: &mut Move) {
    let named = reach::names_filter(&part.built.object);
    let Some(name) = named.filter(|name| *name != HTTP_CONNECTION_MANAGER) else { return };
    let replaced = found.homes.iter().any(|home| home.field != NOTHING);
    if part.apply_to() == ApplyTo::HttpFilter && found.moves && replaced {
        found.difference(
            Kind::Behavior,
            format!(
                "no network filter `{name}` has HTTP filters: the filter does nothing today, the native object works"
            ),
        );
        found.meanwhile = vec![IDLE_PATCH];
    }
}

/// istiod merges messages of one type: it does not look into a TypedStruct.
fn in_typed_struct(part: &Part<'_>, found: &mut Move) {
    if found.actions.is_empty() || !part.built.value.as_ref().is_some_and(value::has_typed_struct) {
        return;
    }
    let to_filters = matches!(part.apply_to(), ApplyTo::NetworkFilter | ApplyTo::HttpFilter | ApplyTo::FilterChain);
    if part.operation() == Operation::Merge && (to_filters || part.apply_to() == ApplyTo::Cluster) {
        found.difference(
            Kind::Behavior,
            "istiod does not merge the fields of a TypedStruct into a configuration of another type, so today the patch does not do what it says; the native object does. Since Istio 1.27 istiod panics there and skips other patches of these proxies, which take effect once this one is gone",
        );
    } else {
        found.difference(
            Kind::Metadata,
            "the configuration is in its own type instead of a TypedStruct; Envoy reads both the same way",
        );
    }
}

/// A filter with a revision is for one control plane; every control plane reads an edited object, annotations and variables.
fn of_revision(filter: &EnvoyFilter, found: &mut Move) {
    let Some(revision) = filter.labels.get(crate::model::proxy::REVISION_LABEL) else { return };
    if found.moves && found.actions.iter().any(|action| action.object().is_none()) {
        found.guard(
            Concern::Selector,
            State::Undecided,
            format!(
                "only the control plane of revision {revision} reads the filter; what replaces it is not limited to its proxies"
            ),
        );
    }
}

/// Whether the objects for a patch are written.
fn is_written(found: &Move, accept: Accept) -> bool {
    if !found.moves || found.is_refused() || found.lacks_object() {
        return false;
    }
    if found.needs_review() && accept < Accept::Reviewed {
        return false;
    }
    // The rest is written separately and does not count here.
    match class_of(&found.differences, &found.guards, false) {
        Class::Exact => true,
        Class::SameBut => accept >= Accept::SameBut,
        _ => accept >= Accept::Differs,
    }
}

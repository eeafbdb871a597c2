//! Prepares filters for one control plane release: decodes values, determines operations, marks what can never work.

use super::compat::{Behaviour, Compat};
use super::go_regexp::{self, Compiled};
use super::matching;
use super::select::{MeshSettings, Selection, Unreadable, in_revision, select, sort};
use super::trace::{NoOp, PatchId};
use crate::budget;
use crate::model::envoy_filter::{
    ApplyTo, EnvoyFilter, ObjectMatch, Operation, Patch, PatchContext, RouteConfigurationMatch,
};
use crate::model::proxy::Proxy;
use crate::model::release::Release;
use crate::proto::decode::{self, Notice};
use crate::proto::json;
use crate::proto::schema::Schema;
use crate::proto::tree::{Origin, Tree};
use std::collections::BTreeMap;
use std::ops::{Index, Range};
use std::sync::OnceLock;

/// Longest `proxyVersion` that releases from 1.31 compile (istiod `maxProxyVersionLen`).
pub(crate) const MAX_PROXY_VERSION: usize = 1024;

/// A set of filters as one istiod release reads them.
pub struct Program<'f> {
    /// Differences by release.
    pub compat: Compat,
    /// The types linked into that istiod.
    pub schema: Schema,
    /// The filters.
    pub filters: &'f [EnvoyFilter],
    /// For each filter: its patches, or why the release cannot read it.
    built: Vec<Result<Vec<BuiltPatch<'f>>, Unreadable>>,
}

/// A patch as one release reads it.
pub struct BuiltPatch<'f> {
    /// The patch.
    pub patch: &'f Patch,
    /// The object part of the match as known to this release.
    pub object: ObjectMatch,
    /// The operation, with INSERT_* turned into ADD where istiod does so.
    pub operation: Operation,
    /// The value as a message; `None` when there is none.
    pub value: Option<Tree<'f>>,
    /// Notices from reading the value.
    pub notices: Vec<Notice>,
    /// Whether it runs at all.
    pub status: Status,
    version: VersionRule<'f>,
}

/// Whether a patch runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It runs.
    Ready,
    /// istiod drops it when it reads the filter.
    Discarded(Discard),
    /// It is kept, but no code ever acts on it.
    NoOp(NoOp),
}

/// Why istiod drops a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Discard {
    /// There is no `patch`.
    NoPatch,
    /// The value does not fit the type of `applyTo`.
    ValueRefused,
    /// `applyTo` is missing, so the value has no type.
    NoApplyTo,
}

/// `proxyVersion` as a release reads it.
enum VersionRule<'f> {
    Any,
    /// Compiled on first use: most proxies never need it.
    Expression(&'f str, OnceLock<Compiled>),
    Never,
}

impl VersionRule<'_> {
    /// Whether a version matches. An expression that does not compile in Go matches every version, because istiod ignores the
    /// error.
    fn fits(&self, version: &str) -> bool {
        match self {
            VersionRule::Any => true,
            VersionRule::Never => false,
            VersionRule::Expression(text, compiled) => match &**compiled.get_or_init(|| go_regexp::compile(text)) {
                Ok(expression) => !version.is_empty() && expression.is_match(version),
                Err(_) => true,
            },
        }
    }
}

/// Why a patch of an attached filter does not apply to this proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProxyMiss {
    /// `proxyVersion` does not match the proxy's version (empty: the proxy has none).
    Version(String),
    /// `proxyVersion` is over 1024 bytes.
    VersionTooLong,
    /// Node metadata of that key differs from the required text.
    Metadata {
        /// The key.
        key: String,
        /// The required text.
        want: String,
        /// The proxy's value, as JSON.
        have: Option<String>,
    },
}

impl<'f> Program<'f> {
    /// Reads filters as a release does.
    pub fn new(filters: &'f [EnvoyFilter], release: Release) -> Program<'f> {
        let compat = Compat { release };
        let schema = Schema::istiod(release.minor, release.patch);
        let built = filters
            .iter()
            .map(|filter| match unreadable(filter, compat) {
                Some(why) => Err(why),
                None => Ok(filter.patches.iter().map(|patch| build(patch, schema, compat)).collect()),
            })
            .collect();
        Program { compat, schema, filters, built }
    }

    /// Removes filters that are for another revision of istiod (`pkg/config/model.go`, `LabelsInRevision`): those whose label
    /// `istio.io/rev` names another one than this. An empty name removes none.
    pub(crate) fn pass_over_other_revisions(&mut self, revision: &str) {
        for (filter, built) in self.filters.iter().zip(&mut self.built) {
            if !revision.is_empty() && built.is_ok() && !in_revision(filter, revision) {
                *built = Err(Unreadable::OtherRevision);
            }
        }
    }

    /// The patches of a filter; none when this release cannot read the filter.
    pub fn patches(&self, filter: usize) -> &[BuiltPatch<'f>] {
        self.built.get(filter).and_then(|built| built.as_ref().ok()).map_or(&[], Vec::as_slice)
    }

    /// Why this release's API rejects a filter; `None` when it accepts it.
    pub(crate) fn refused(&self, filter: usize) -> Option<Unreadable> {
        self.built.get(filter).and_then(|built| built.as_ref().err()).copied()
    }

    /// Whether a filter may do something on a proxy, by the contexts of its patches alone: extension configurations may, whatever
    /// their context.
    pub(crate) fn concerns(&self, filter: usize, proxy: &Proxy) -> bool {
        self.patches(filter).iter().any(|built| {
            let is_foreign = || proxy.kind.ignores(built.patch.context);
            let runs_elsewhere = built.status == Status::Ready && built.patch.proxy.is_none() && is_foreign();
            !runs_elsewhere || built.patch.apply_to == ApplyTo::ExtensionConfig
        })
    }

    /// The parts of these filters that apply to a proxy, in the order of application.
    pub fn plan<'p>(&'p self, proxy: &'p Proxy, mesh: &MeshSettings) -> Plan<'p> {
        self.plan_among(proxy, mesh, &(0..self.filters.len()).collect::<Vec<_>>())
    }

    /// Like [`Program::plan`], when the caller knows that only these filters (by index) can attach to the proxy: the others are
    /// treated as filters of other namespaces.
    pub(crate) fn plan_among<'p>(&'p self, proxy: &'p Proxy, mesh: &MeshSettings, candidates: &[usize]) -> Plan<'p> {
        let mut selections = Selections::default();
        let mut order = Vec::new();
        for &index in candidates {
            let (Some(filter), Some(built)) = (self.filters.get(index), self.built.get(index)) else { continue };
            let selection = match built {
                Err(why) => Selection::Unreadable(*why),
                Ok(_) => select(filter, proxy, mesh, self.compat),
            };
            if selection == Selection::Selected {
                order.push(index);
            }
            if selection != Selection::OtherNamespace {
                selections.known.push((index, selection));
            }
        }
        selections.known.sort_unstable_by_key(|(index, _)| *index);
        sort(self.filters, &mut order, mesh, self.compat);
        let (mut patches, mut places) = (Vec::new(), Vec::with_capacity(order.len()));
        for &filter in &order {
            let first = patches.len();
            for built in self.patches(filter) {
                let miss = proxy_miss(built, proxy);
                let status = match (built.status, &miss) {
                    (Status::Ready, None) if proxy.kind.ignores(built.patch.context) => {
                        Status::NoOp(NoOp::ContextOfOtherProxies)
                    }
                    (status, _) => status,
                };
                patches.push(Planned { filter, built, status, proxy_miss: miss });
            }
            places.push((filter, first..patches.len()));
        }
        places.sort_unstable_by_key(|(filter, _)| *filter);
        Plan {
            compat: self.compat,
            schema: self.schema,
            filters: self.filters,
            proxy,
            selections,
            order,
            patches,
            places,
        }
    }
}

/// Whether each filter attaches to a proxy, by its index. Unchecked filters count as filters of another namespace: a mesh has
/// many filters, but few can attach to a given proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selections {
    known: Vec<(usize, Selection)>,
}

impl Index<usize> for Selections {
    type Output = Selection;

    fn index(&self, filter: usize) -> &Selection {
        let place = self.known.binary_search_by_key(&filter, |(index, _)| *index);
        place
            .ok()
            .and_then(|place| self.known.get(place))
            .map_or(&Selection::OtherNamespace, |(_, selection)| selection)
    }
}

/// The patches for one proxy.
pub struct Plan<'p> {
    /// Differences by release.
    pub compat: Compat,
    /// The types linked into istiod.
    pub schema: Schema,
    /// All filters.
    pub filters: &'p [EnvoyFilter],
    /// The proxy.
    pub proxy: &'p Proxy,
    /// For each filter: whether it attaches.
    pub selections: Selections,
    /// The attached filters in the order of application.
    pub order: Vec<usize>,
    /// Their patches in that order; the index is the [`PatchId`].
    pub patches: Vec<Planned<'p>>,
    /// The attached filters by their index, each with the range of its patches.
    places: Vec<(usize, Range<usize>)>,
}

/// A patch of an attached filter.
#[derive(Clone)]
pub struct Planned<'p> {
    /// Index of the filter.
    pub filter: usize,
    /// The patch.
    pub built: &'p BuiltPatch<'p>,
    /// Whether it runs on this proxy.
    pub status: Status,
    /// Why it does not apply to this proxy.
    pub proxy_miss: Option<ProxyMiss>,
}

impl<'p> Plan<'p> {
    /// The same plan with some patches switched off, to see what happens without them.
    #[must_use]
    pub fn without<'i>(&self, off: impl IntoIterator<Item = &'i PatchId>) -> Plan<'p> {
        let mut patches = self.patches.clone();
        for id in off {
            patches[id.index()].status = Status::Discarded(Discard::ValueRefused);
        }
        let (selections, order, places) = (self.selections.clone(), self.order.clone(), self.places.clone());
        Plan { selections, order, patches, places, ..*self }
    }

    /// The patch of a filter by both indices; `None` if the filter does not attach.
    pub fn find(&self, filter: usize, patch: usize) -> Option<PatchId> {
        let place = self.places.binary_search_by_key(&filter, |(filter, _)| *filter).ok()?;
        let (_, range) = self.places.get(place)?;
        let at = self.patches.get(range.clone())?.binary_search_by_key(&patch, |one| one.built.patch.index).ok()?;
        u32::try_from(range.start + at).ok().map(PatchId)
    }

    /// A patch.
    pub fn get(&self, id: PatchId) -> &Planned<'p> {
        &self.patches[id.index()]
    }

    /// The patches that run for an applyTo in a context, in order.
    pub(crate) fn for_context(&self, apply_to: ApplyTo, context: PatchContext) -> Vec<PatchId> {
        budget::charge_for(self.patches.len());
        let fits =
            |planned: &Planned<'p>| planned.built.patch.apply_to == apply_to && runs_in_context(planned, context);
        self.ids().filter(|&id| fits(self.get(id))).collect()
    }

    /// The patches that run in a context, in order, for each applyTo.
    pub(super) fn in_context(&self, context: PatchContext) -> BTreeMap<ApplyTo, Vec<PatchId>> {
        budget::charge_for(self.patches.len());
        let mut found: BTreeMap<ApplyTo, Vec<PatchId>> = BTreeMap::new();
        for (id, planned) in self.ids().zip(&self.patches).filter(|(_, planned)| runs_in_context(planned, context)) {
            found.entry(planned.built.patch.apply_to).or_default().push(id);
        }
        found
    }

    /// Every patch.
    pub fn ids(&self) -> impl Iterator<Item = PatchId> + use<> {
        (0..u32::try_from(self.patches.len()).unwrap_or(u32::MAX)).map(PatchId)
    }

    /// The filter that a patch belongs to.
    pub fn filter(&self, id: PatchId) -> &'p EnvoyFilter {
        &self.filters[self.get(id).filter]
    }
}

/// Whether a patch runs on the proxy of its plan.
pub(crate) fn proxy_runs(planned: &Planned<'_>) -> bool {
    planned.status == Status::Ready && planned.proxy_miss.is_none()
}

fn runs_in_context(planned: &Planned<'_>, context: PatchContext) -> bool {
    let own = planned.built.patch.context;
    proxy_runs(planned) && (own == context || own == PatchContext::Any)
}

/// Why istiod cannot read a filter, and while it exists no other.
pub(crate) fn unreadable(filter: &EnvoyFilter, compat: Compat) -> Option<Unreadable> {
    filter.patches.iter().find_map(|patch| {
        let operation = patch.body.as_ref().map(|body| body.operation);
        if operation == Some(Operation::MergeAndReplaceList) && !compat.has(Behaviour::MergeAndReplaceList) {
            return Some(Unreadable::MergeAndReplaceList);
        }
        (patch.context == PatchContext::Waypoint && !compat.has(Behaviour::WaypointContext))
            .then_some(Unreadable::WaypointContext)
    })
}

fn build(patch: &Patch, schema: Schema, compat: Compat) -> BuiltPatch<'_> {
    budget::charge(16);
    let body = patch.body.as_ref();
    let operation = settle(patch.apply_to, body.map_or(Operation::Invalid, |body| body.operation));
    let mut object = patch.object.clone();
    if let ObjectMatch::RouteConfiguration(RouteConfigurationMatch { vhost: Some(vhost), .. }) = &mut object
        && !compat.has(Behaviour::DomainName)
    {
        vhost.domain_name.clear();
    }
    if matches!(object, ObjectMatch::Waypoint(_)) && !compat.has(Behaviour::WaypointContext) {
        object = ObjectMatch::None;
    }
    let mut status = Status::Ready;
    let mut notices = Vec::new();
    let mut value = None;
    match body {
        None => status = Status::Discarded(Discard::NoPatch),
        Some(body) => {
            if let Some(node) = &body.value {
                let message = patch.apply_to.message().and_then(|name| schema.message(name));
                match message {
                    None => status = Status::Discarded(Discard::NoApplyTo),
                    Some(message) => {
                        let decoded = decode::decode(schema, message, json::from_node(node, Origin::ISTIOD));
                        if decoded.refused() {
                            status = Status::Discarded(Discard::ValueRefused);
                        }
                        notices = decoded.notices;
                        value = Some(decoded.tree);
                    }
                }
            }
        }
    }
    if status == Status::Ready
        && let Some(reason) = never(patch, &object, operation, compat)
    {
        status = Status::NoOp(reason);
    }
    BuiltPatch { patch, object, operation, value, notices, status, version: version_rule(patch, compat) }
}

/// INSERT_* exists for four kinds of objects; istiod turns it into ADD for the others.
fn settle(apply_to: ApplyTo, operation: Operation) -> Operation {
    let inserts = matches!(operation, Operation::InsertAfter | Operation::InsertBefore | Operation::InsertFirst);
    let listed =
        matches!(apply_to, ApplyTo::HttpFilter | ApplyTo::NetworkFilter | ApplyTo::HttpRoute | ApplyTo::ListenerFilter);
    if inserts && !listed { Operation::Add } else { operation }
}

/// Why a patch can never have an effect on any proxy.
fn never(patch: &Patch, object: &ObjectMatch, operation: Operation, compat: Compat) -> Option<NoOp> {
    use ApplyTo as To;
    use Operation as Op;
    let filters = matches!(patch.apply_to, To::ListenerFilter | To::NetworkFilter | To::HttpFilter);
    if patch.context == PatchContext::Waypoint {
        return Some(NoOp::WaypointContext);
    }
    let ignored = match patch.apply_to {
        To::Invalid => return Some(NoOp::NoApplyTo),
        To::Bootstrap => return Some(NoOp::Bootstrap),
        _ if filters && operation == Op::MergeAndReplaceList => return Some(NoOp::ReplaceListOnFilters),
        To::Listener | To::FilterChain | To::Cluster => {
            !matches!(operation, Op::Add | Op::Remove | Op::Merge | Op::MergeAndReplaceList)
        }
        To::RouteConfiguration => !operation.is_merge(),
        To::HttpRoute => matches!(operation, Op::Invalid | Op::Replace),
        To::ExtensionConfig => operation != Op::Add,
        To::VirtualHost | To::ListenerFilter | To::NetworkFilter | To::HttpFilter => operation == Op::Invalid,
    };
    if ignored {
        return Some(NoOp::OperationIgnored);
    }
    if patch.apply_to == To::ListenerFilter && operation == Op::Merge && !compat.has(Behaviour::ListenerFilterMerge) {
        return Some(NoOp::ListenerFilterMergeBefore127);
    }
    let needs_match = matches!(operation, Op::Remove | Op::Replace)
        || (operation == Op::Merge && patch.apply_to == To::ListenerFilter);
    (filters && needs_match && !names_filter(patch.apply_to, object)).then_some(NoOp::NeedsFilterMatch)
}

/// Whether the match says which filter of its kind is meant.
pub(crate) fn names_filter(apply_to: ApplyTo, object: &ObjectMatch) -> bool {
    named_filter(apply_to, object).is_some()
}

/// The name of the filter of its kind that the match says is meant.
pub(super) fn named_filter(apply_to: ApplyTo, object: &ObjectMatch) -> Option<&str> {
    match apply_to {
        ApplyTo::ListenerFilter => {
            matching::listener_match(object).map(|it| it.listener_filter.as_str()).filter(|name| !name.is_empty())
        }
        ApplyTo::NetworkFilter => matching::network_filter_name(object),
        _ => matching::sub_filter_name(object),
    }
}

fn version_rule(patch: &Patch, compat: Compat) -> VersionRule<'_> {
    let Some(version) = patch.proxy.as_ref().map(|proxy| proxy.version.as_str()).filter(|version| !version.is_empty())
    else {
        return VersionRule::Any;
    };
    if version.len() > MAX_PROXY_VERSION && compat.has(Behaviour::LongProxyVersionMatchesNothing) {
        return VersionRule::Never;
    }
    VersionRule::Expression(version, OnceLock::new())
}

/// Checks the syntax of an RE2 expression. The regex crate has the syntax of RE2 except for `\Q…\E`, `\C`, the spelling of
/// `\z`, and a literal `{` that starts no repetition.
pub(crate) fn check_re2(text: &str) -> Result<(), Box<regex_syntax::Error>> {
    budget::charge_for(text.len());
    let mut rest = text;
    let mut out = String::with_capacity(text.len());
    while let Some(at) = rest.find(['\\', '{']) {
        let (before, special) = rest.split_at(at);
        out.push_str(before);
        if let Some(quoted) = special.strip_prefix(r"\Q") {
            let (inside, after) = quoted.split_once(r"\E").unwrap_or((quoted, ""));
            out.push_str(&regex::escape(inside));
            rest = after;
        } else if let Some(after) = special.strip_prefix('{') {
            out.push_str(if repeats(after) { "{" } else { r"\{" });
            rest = after;
        } else {
            // The escaped character, and the braces of `\p{…}` and `\x{…}`.
            let mut length = special.chars().take(2).map(char::len_utf8).sum();
            if special[1..].starts_with(['p', 'P', 'x']) && special[length..].starts_with('{') {
                length = special.find('}').map_or(special.len(), |end| end + 1);
            }
            out.push_str(&special[..length]);
            rest = &special[length..];
        }
    }
    out.push_str(rest);
    // Never compile an expression here: `\w{1000}` takes the regex crate a second and 10 MB.
    regex_syntax::Parser::new().parse(&out).map(|_| ()).map_err(Box::new)
}

/// Whether the text after a `{` makes it a repetition: `3}`, `3,}`, `3,5}`.
fn repeats(after: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    after.split_once('}').is_some_and(|(inside, _)| match inside.split_once(',') {
        Some((from, to)) => digits(from) && (to.is_empty() || digits(to)),
        None => digits(inside),
    })
}

fn proxy_miss(built: &BuiltPatch<'_>, proxy: &Proxy) -> Option<ProxyMiss> {
    match &built.version {
        VersionRule::Never => return Some(ProxyMiss::VersionTooLong),
        rule if !rule.fits(&proxy.istio_version) => return Some(ProxyMiss::Version(proxy.istio_version.clone())),
        _ => {}
    }
    built.patch.proxy.as_ref()?.metadata.iter().find_map(|(key, want)| {
        let have = proxy.metadata.get(key);
        (have.and_then(serde_json::Value::as_str) != Some(want)).then(|| ProxyMiss::Metadata {
            key: key.clone(),
            want: want.clone(),
            have: have.map(ToString::to_string),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::check_re2;

    #[test]
    fn expressions_of_re2() {
        for good in [r"\Q1.6\E.*", r"^1\.2{1,2}\.", "{{ version }}", "a{,2}", r"\p{Lu}\x{31}\{", r"\w{1000}"] {
            assert!(check_re2(good).is_ok(), "{good}");
        }
        for bad in ["*", "(", "[", r"\", r"\é", "(?=a)", r"(a)\1"] {
            assert!(check_re2(bad).is_err(), "{bad}");
        }
    }
}

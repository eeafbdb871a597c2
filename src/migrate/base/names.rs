//! Names by which patches of all filters refer to one another.

use super::place::Place;
use crate::model::envoy_filter::{ListenerMatch, Operation, PatchContext};
use crate::source::ErrorMessage;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The field by which a filter sends all metadata of another one to its service.
pub(in crate::migrate) const ALL_CLAIMS: &str = "metadata_context_namespaces";

/// Names by which patches of all filters refer to one another.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Host and port behind the clusters that filters add, by the index of the filter.
    pub clusters: BTreeMap<String, BTreeMap<usize, (String, u32)>>,
    /// Clusters that filters add without a host that a native object could name: `namespace/name` of the first filter, and why.
    pub(in crate::migrate) unnamed: BTreeMap<String, (String, ErrorMessage)>,
    /// `namespace/name` of the filters that mention a cluster that a filter adds.
    pub cluster_users: BTreeMap<String, BTreeSet<String>>,
    /// `namespace/name` of the filters whose Lua code contains the name of a cluster that a filter adds.
    pub lua_users: BTreeMap<String, BTreeSet<String>>,
    /// The patches that insert an HTTP filter, by its name.
    pub(in crate::migrate) adders: HashMap<String, Vec<Adder>>,
    /// Patches that use an HTTP filter by its name, in the order of their names.
    pub(in crate::migrate) users: HashMap<String, Vec<User>>,
    /// Patches that change, replace or remove a filter, by its name.
    pub(in crate::migrate) changers: HashMap<String, Vec<Changer>>,
    /// Patches that name the metadata of the JWT filter, with their texts.
    pub(in crate::migrate) token_readers: Vec<(User, Vec<String>)>,
    /// The HTTP filters that the patches of each filter use by name, each with the index of the patch.
    pub(in crate::migrate) uses: Vec<Vec<(String, usize)>>,
    /// The proxies and the order of each filter.
    pub(in crate::migrate) places: Vec<Place>,
    /// A number for each filter, equal for those that select the same proxies.
    pub(in crate::migrate) kinds: Vec<usize>,
    /// `namespace/name` of each filter.
    pub(in crate::migrate) titles: Vec<String>,
}

/// A patch that inserts an HTTP filter.
#[derive(Debug)]
pub(crate) struct Adder {
    /// Index of its EnvoyFilter.
    pub filter: usize,
    /// Its index there.
    pub patch: usize,
    /// Its context.
    pub context: PatchContext,
    /// Its operation.
    pub operation: Operation,
    /// The HTTP filter next to which it inserts.
    pub anchor: Option<String>,
    /// The listeners and filter chains of that context that it is for; `None` if it is for some proxies only.
    pub part: Option<ListenerMatch>,
}

/// A patch that changes, replaces or removes an HTTP or network filter.
#[derive(Debug)]
pub(crate) struct Changer {
    /// The patch.
    pub user: User,
    /// The name of the filter.
    pub name: String,
    /// What it does to the filter.
    pub operation: Operation,
}

/// A patch that uses an HTTP filter by its name, as an anchor or a key of route settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct User {
    /// Index of its EnvoyFilter.
    pub filter: usize,
    /// Its index there.
    pub patch: usize,
    /// Its context.
    pub context: PatchContext,
    /// Whether it inserts another filter next to it.
    pub inserts: bool,
}

/// The name that istiod gives to a host's cluster.
pub(in crate::migrate) fn native_name(host: &str, port: u32) -> String {
    format!("outbound|{port}||{host}")
}

impl Names {
    /// Host and port of a cluster that this filter adds, or of one that only others add if they agree.
    pub(crate) fn cluster(&self, filter: usize, name: &str) -> Option<&(String, u32)> {
        let all = self.clusters.get(name)?;
        let first = all.values().next()?;
        all.get(&filter).or_else(|| all.values().all(|one| one == first).then_some(first))
    }

    /// `namespace/name` of a filter.
    pub(in crate::migrate) fn title(&self, filter: usize) -> &str {
        &self.titles[filter]
    }

    /// `namespace/name` of every filter.
    pub(in crate::migrate) fn titles(&self) -> &[String] {
        &self.titles
    }

    /// The proxies and the order of a filter.
    pub(in crate::migrate) fn place(&self, filter: usize) -> &Place {
        &self.places[filter]
    }

    /// The patches that insert an HTTP filter, with its name as stored.
    pub(in crate::migrate) fn adders(&self, name: &str) -> Option<(&str, &[Adder])> {
        self.adders.get_key_value(name).map(|(name, all)| (name.as_str(), all.as_slice()))
    }

    /// A number for a filter, equal for those that select the same proxies.
    pub(in crate::migrate) fn kind(&self, filter: usize) -> usize {
        self.kinds[filter]
    }

    /// Whether a proxy may have the patches of both filters.
    pub(in crate::migrate) fn meet(&self, one: usize, other: usize) -> bool {
        self.kinds[one] == self.kinds[other] || self.places[one].meets(&self.places[other])
    }

    /// The patches that use an HTTP filter by its name and may find the one that a patch of this filter and context inserts.
    pub(in crate::migrate) fn users(
        &self,
        name: &str,
        filter: usize,
        context: PatchContext,
    ) -> impl Iterator<Item = &User> {
        let all = self.users.get(name).map_or(&[][..], Vec::as_slice);
        all.iter().filter(move |user| self.finds(user, filter, context))
    }

    /// A patch that reads claims which the JWT filter of this filter and context stores under a key.
    pub(in crate::migrate) fn reader_of_claims(
        &self,
        key: &str,
        filter: usize,
        context: PatchContext,
    ) -> Option<&User> {
        let mut readers = self.token_readers.iter().filter(|(user, _)| self.finds(user, filter, context));
        readers.find(|(_, texts)| texts.iter().any(|text| text.contains(key))).map(|(user, _)| user)
    }

    /// Whether a patch of this filter and context inserts an HTTP filter that a user of its name may find.
    pub(in crate::migrate) fn finds(&self, user: &User, filter: usize, context: PatchContext) -> bool {
        // A waypoint has the chains of several contexts.
        let contexts = self.places[filter].is_referred() || user.context.meets(context);
        contexts && self.meet(user.filter, filter)
    }

    /// The patches that change, replace or remove a filter of this name.
    pub(in crate::migrate) fn changers(&self, name: &str) -> &[Changer] {
        self.changers.get(name).map_or(&[], Vec::as_slice)
    }

    /// All patches that use an HTTP filter by its name.
    pub(in crate::migrate) fn all_users(&self, name: &str) -> &[User] {
        self.users.get(name).map_or(&[], Vec::as_slice)
    }

    /// The patches of a filter that use an HTTP filter by its name.
    pub(in crate::migrate) fn own_users(&self, filter: usize, name: &str) -> impl Iterator<Item = usize> {
        self.uses[filter].iter().filter(move |(used, _)| used == name).map(|(_, patch)| *patch)
    }
}

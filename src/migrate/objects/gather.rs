//! Collects the names by which patches of all filters refer to one another.

use crate::engine::program::{Program, Status};
use crate::migrate::base::filters;
use crate::migrate::base::names::{ALL_CLAIMS, Adder, Changer, Names, User};
use crate::migrate::base::place::Place;
use crate::migrate::base::reach;
use crate::migrate::base::value::json;
use crate::migrate::guards::chain::Insert;
use crate::migrate::guards::removed;
use crate::migrate::output::rest;
use crate::migrate::patterns::cluster_add::{self, Upstream};
use crate::model::envoy_filter::{ApplyTo, EnvoyFilter, Operation};
use crate::proto::tree::{Tree, Value};
use crate::source::ErrorMessage;
use std::collections::{BTreeMap, BTreeSet, HashMap};

impl Names {
    /// Those of all filters.
    pub(in crate::migrate) fn of(filters: &[EnvoyFilter], program: &Program<'_>, root: &str) -> Names {
        let mut names = Names {
            uses: vec![Vec::new(); filters.len()],
            places: filters.iter().map(|filter| Place::of(filter, root)).collect(),
            titles: filters.iter().map(EnvoyFilter::full_name).collect(),
            ..Names::default()
        };
        for (index, filter) in filters.iter().enumerate() {
            for built in program.patches(index) {
                let anchor = reach::anchor(&built.object);
                let user = User {
                    filter: index,
                    patch: built.patch.index,
                    context: built.patch.context,
                    inserts: anchor.is_some() && Insert::of(index, built).is_some(),
                };
                if let Some(anchor) = anchor {
                    names.uses(anchor, user);
                }
                if let Some((name, operation)) = removed::changed(built) {
                    let changer = Changer { user, name: name.to_owned(), operation };
                    names.changers.entry(name.to_owned()).or_default().push(changer);
                }
                let Some(tree) = &built.value else { continue };
                if built.patch.apply_to != ApplyTo::HttpFilter || tree.name() != filters::JWT {
                    names.note_readers_of_tokens(tree, user);
                }
                if built.patch.apply_to == ApplyTo::HttpFilter
                    && built.status == Status::Ready
                    && built.operation != Operation::Merge
                {
                    names.adders.entry(tree.name().to_owned()).or_default().push(Adder {
                        filter: index,
                        patch: built.patch.index,
                        context: built.patch.context,
                        operation: built.operation,
                        anchor: anchor.filter(|name| !name.is_empty()).map(str::to_owned),
                        part: built.patch.proxy.is_none().then(|| reach::part_of_listeners(&built.object)),
                    });
                }
                for (key, _) in tree.get("typed_per_filter_config").map_or(&[][..], |map| map.entries()) {
                    names.uses(key, user);
                }
                if built.patch.apply_to == ApplyTo::Cluster && built.operation == Operation::Add {
                    let value = json(tree, program.schema);
                    if let Some(name) = value["name"].as_str() {
                        names.adds_cluster(name, index, cluster_add::upstream(&value, &filter.namespace));
                    }
                }
            }
        }
        names.find_users_of_clusters(program);
        let mut kinds = HashMap::new();
        for place in &names.places {
            let next = kinds.len();
            names.kinds.push(*kinds.entry(place.proxies()).or_insert(next));
        }
        let titles = &names.titles;
        for users in names.users.values_mut() {
            users.sort_by(|one, other| {
                (&titles[one.filter], one.patch, one.filter).cmp(&(&titles[other.filter], other.patch, other.filter))
            });
            users.dedup();
        }
        names
    }

    /// Finds the filters that name the clusters which others add.
    fn find_users_of_clusters(&mut self, program: &Program<'_>) {
        if self.clusters.is_empty() {
            return;
        }
        let Names { clusters, titles, cluster_users, lua_users, .. } = self;
        for (index, title) in titles.iter().enumerate() {
            let note = |users: &mut BTreeMap<String, BTreeSet<String>>, name: &str| {
                if clusters.contains_key(name) {
                    users.entry(name.to_owned()).or_default().insert(title.clone());
                }
            };
            for tree in program.patches(index).iter().filter_map(|built| built.value.as_ref()) {
                rest::clusters_of(tree, &mut |name| note(cluster_users, name));
                rest::literals_of(tree, &mut |text| note(lua_users, text));
            }
        }
    }

    /// Notes a patch with texts that name the metadata of the JWT filter: it may read claims.
    fn note_readers_of_tokens(&mut self, tree: &Tree<'_>, user: User) {
        let mut texts = Vec::new();
        let mut open = vec![tree];
        while let Some(tree) = open.pop() {
            match &tree.value {
                Value::Map(entries) => {
                    texts.extend(entries.iter().map(|(key, _)| key.as_ref()).filter(|key| *key == ALL_CLAIMS));
                    open.extend(entries.iter().map(|(_, value)| value));
                }
                Value::List(items) => open.extend(items),
                _ => texts.extend(tree.as_str()),
            }
        }
        if texts.iter().any(|text| text.contains(filters::JWT)) {
            let texts = texts.into_iter().map(str::to_owned).collect();
            self.token_readers.push((user, texts));
        }
    }

    fn adds_cluster(&mut self, name: &str, filter: usize, to: Result<Upstream, ErrorMessage>) {
        match to {
            Ok(to) => drop(self.clusters.entry(name.to_owned()).or_default().insert(filter, (to.host, to.port))),
            Err(reason) => {
                let title = &self.titles[filter];
                self.unnamed.entry(name.to_owned()).or_insert_with(|| (title.clone(), reason));
            }
        }
    }

    fn uses(&mut self, name: &str, user: User) {
        self.users.entry(name.to_owned()).or_default().push(user);
        self.uses[user.filter].push((name.to_owned(), user.patch));
    }
}

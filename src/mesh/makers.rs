//! `explain field --why-here`: finds the objects that make istiod generate a value by removing objects.
//!
//! An object counts if it belongs to a sufficient set from which none can be removed. Every set is given to a new istiod, so
//! that nothing of another set remains in it; all proxies of the question ask the same one.

use super::Error;
use super::bottled::Bottled;
use crate::bottle::{Deleted, Node, Wanted, dump, sha256};
use crate::engine::{MeshSettings, Program};
use crate::explain::path::Spot;
use crate::explain::view::{Field, MadeBy, Maker};
use crate::explain::{Explainer, Lenders};
use crate::load::dump::{Dump, Identity};
use crate::load::kept::{Cache, Name};
use crate::model::inventory::Inventory;
use crate::model::release::Release;
use crate::source::Sources;
use crate::study::study;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Maximum number of istiods started for one question.
const RUNS: usize = 250;

/// Kinds that are always kept: without them there is no proxy or no namespace to ask about.
const GROUND: [&str; 5] = ["Namespace", "Node", "Secret", "CustomResourceDefinition", "EndpointSlice"];

/// A field in the question.
struct Place {
    /// Its proxy.
    node: Node,
    /// Where it is.
    spot: Spot,
    /// What istiod generates there for the whole mesh.
    value: String,
    /// Its key in the cache.
    key: String,
}

/// The value at each place; `None` for nothing.
type Values = Vec<Option<String>>;

/// The search: sets of objects by index, and what istiod generated without them.
struct Search<'b> {
    bottled: &'b Bottled,
    release: Release,
    mesh: &'b MeshSettings,
    objects: Vec<Deleted>,
    places: Vec<Place>,
    seen: BTreeMap<BTreeSet<usize>, Values>,
    runs: usize,
    cache: Cache,
}

/// Finds the objects behind the values that istiod generated for these fields.
pub(super) fn find(
    bottled: &Bottled,
    release: Release,
    mesh: &MeshSettings,
    cache: Option<&Path>,
    fields: &mut [Field],
) -> Result<(), Error> {
    let mut wanted = Vec::new();
    for (at, field) in fields.iter().enumerate() {
        let node = bottled.named(&format!("{}/{}", field.namespace, field.name));
        if let (Some(node), Some(spot), Some(value)) = (node, &field.spot, &field.generated) {
            // A digest, so that the file does not tell which proxies were asked about.
            let key = sha256(format!("{}\n{}\n{}", bottled.version, node.full_name(), spot.text()).as_bytes());
            wanted.push((at, Place { node: node.clone(), spot: spot.clone(), value: value.clone(), key }));
        }
    }
    let own: BTreeSet<String> = wanted.iter().map(|(_, place)| place.node.full_name()).collect();
    let workloads: BTreeSet<String> = wanted.iter().map(|(_, place)| place.node.cluster()).collect();
    let objects = bottled.opened.borrow().given().into_iter().filter(|one| {
        let name = format!("{}/{}", one.namespace, one.name);
        let workload = format!("{}.{}", one.name, one.namespace);
        let is_own =
            (one.kind == "Pod" && own.contains(&name)) || (one.kind != "Service" && workloads.contains(&workload));
        !is_own && !GROUND.contains(&one.kind.as_str())
    });
    let objects: Vec<Deleted> = objects.collect();
    let (at, places): (Vec<usize>, Vec<Place>) = wanted.into_iter().unzip();
    let cache = Cache::open(cache);
    let mut search = Search { bottled, release, mesh, objects, places, seen: BTreeMap::new(), runs: 0, cache };
    let mut made = Vec::new();
    for number in 0..at.len() {
        made.push(search.makers(number)?);
    }
    search.cache.save();
    for (at, made) in at.into_iter().zip(made) {
        if let Some(field) = fields.get_mut(at) {
            field.made_by = Some(MadeBy { runs: search.runs, ..made });
        }
    }
    Ok(())
}

impl Search<'_> {
    fn makers(&mut self, place: usize) -> Result<MadeBy, Error> {
        let all: Vec<usize> = (0..self.objects.len()).collect();
        let mut gone = BTreeSet::new();
        let mut complete = true;
        // Start with the objects of an earlier answer, or without any object, because much is the same in every mesh. Then
        // try kinds, namespaces, halves.
        if !self.guess(place, &mut gone, &all)? && self.without(place, &mut gone, &all)? != Some(true) {
            let by_kind = self.groups(|one| (self.is_mentioned(place, one), one.kind.clone(), String::new()));
            let by_namespace =
                self.groups(|one| (self.is_mentioned(place, one), one.kind.clone(), one.namespace.clone()));
            for group in by_kind.iter().chain(&by_namespace) {
                complete &= self.without(place, &mut gone, group)?.is_some();
            }
            for group in &by_namespace {
                complete &= self.halves(place, &mut gone, group)?;
            }
        }
        // An object that was needed next to another one, or in another mesh, may no longer be needed.
        for one in all.iter().filter(|one| !gone.contains(*one)).copied().collect::<Vec<_>>() {
            complete &= self.without(place, &mut gone, &[one])?.is_some();
        }
        let mut objects = Vec::new();
        for one in all.into_iter().filter(|one| !gone.contains(one)) {
            let values = self.values(&BTreeSet::from([one]))?;
            let (Some(object), Some(own)) = (self.objects.get(one), self.places.get(place)) else { continue };
            let Some(without) = values.map(|values| values.get(place).cloned().flatten()) else { continue };
            let replaced = without.as_ref() == Some(&own.value);
            objects.push(Maker {
                kind: object.kind.clone(),
                namespace: object.namespace.clone(),
                name: object.name.clone(),
                without: without.filter(|_| !replaced),
                replaced,
            });
        }
        objects.sort_by_key(|one| one.replaced);
        if let Some(place) = self.places.get(place).filter(|_| complete) {
            let names = objects.iter().map(|one| [one.kind.clone(), one.namespace.clone(), one.name.clone()]);
            self.cache.keep(place.key.clone(), names.collect());
        }
        Ok(MadeBy { objects, runs: self.runs, complete })
    }

    /// Removes everything except the objects of an earlier answer; returns whether these are still sufficient.
    fn guess(&mut self, place: usize, gone: &mut BTreeSet<usize>, all: &[usize]) -> Result<bool, Error> {
        let position = |[kind, namespace, name]: &Name| {
            self.objects.iter().position(|one| one.kind == *kind && one.namespace == *namespace && one.name == *name)
        };
        let names = self.places.get(place).and_then(|place| self.cache.hint(&place.key));
        // `None` also if the mesh no longer has one of the objects.
        let hint: Option<BTreeSet<usize>> = names.and_then(|names| names.iter().map(position).collect());
        let Some(hint) = hint else { return Ok(false) };
        let rest: Vec<usize> = all.iter().filter(|one| !hint.contains(*one)).copied().collect();
        Ok(self.without(place, gone, &rest)? == Some(true))
    }

    /// Whether the name of an object occurs in a place. If one of several objects is sufficient, it is the one people expect:
    /// the others are removed first.
    fn is_mentioned(&self, place: usize, object: &Deleted) -> bool {
        self.places.get(place).is_some_and(|place| place.spot.mentions(&object.name))
    }

    /// Indices of the objects with the same key, in the order of the keys.
    fn groups(&self, key: impl Fn(&Deleted) -> (bool, String, String)) -> Vec<Vec<usize>> {
        let mut groups: BTreeMap<(bool, String, String), Vec<usize>> = BTreeMap::new();
        for (number, object) in self.objects.iter().enumerate() {
            groups.entry(key(object)).or_default().push(number);
        }
        groups.into_values().collect()
    }

    /// Removes these too, unless that changes the place; returns whether they were removed, `None` when the search is over.
    fn without(&mut self, place: usize, gone: &mut BTreeSet<usize>, these: &[usize]) -> Result<Option<bool>, Error> {
        let more: BTreeSet<usize> = gone.iter().chain(these).copied().collect();
        if more.len() == gone.len() {
            return Ok(Some(true));
        }
        let Some(values) = self.values(&more)? else { return Ok(None) };
        let own = self.places.get(place).map(|place| &place.value);
        let same = values.get(place).and_then(Option::as_ref) == own;
        if same {
            *gone = more;
        }
        Ok(Some(same))
    }

    /// Removes those of some objects that the place does not need; returns whether the search finished.
    fn halves(&mut self, place: usize, gone: &mut BTreeSet<usize>, these: &[usize]) -> Result<bool, Error> {
        let left: Vec<usize> = these.iter().filter(|one| !gone.contains(*one)).copied().collect();
        if left.len() < 2 {
            return Ok(true);
        }
        let (first, second) = left.split_at(left.len() / 2);
        for half in [first, second] {
            match self.without(place, gone, half)? {
                None => return Ok(false),
                Some(false) if !self.halves(place, gone, half)? => return Ok(false),
                Some(_) => {}
            }
        }
        Ok(true)
    }

    /// The values at all places without some objects; `None` when the maximum number of istiods has been started.
    fn values(&mut self, without: &BTreeSet<usize>) -> Result<Option<Values>, Error> {
        if let Some(values) = self.seen.get(without) {
            return Ok(Some(values.clone()));
        }
        if self.runs >= RUNS {
            return Ok(None);
        }
        self.runs += 1;
        let deleted: Vec<Deleted> = without.iter().filter_map(|one| self.objects.get(*one).cloned()).collect();
        let mut opened = self.bottled.opened.borrow().changed(Vec::new(), &deleted)?;
        let nodes: Vec<Node> = self.places.iter().map(|place| place.node.clone()).collect();
        let answers = opened.bottle.ask_all(&nodes, &Wanted::default());
        let mut values = Vec::new();
        for (place, answer) in self.places.iter().zip(answers) {
            let configuration = answer?;
            let (dump, _) = Dump::from_text(place.node.full_name(), dump::text(&place.node, &configuration));
            values.push(dump.and_then(|dump| self.at(place, &dump)));
        }
        self.seen.insert(without.clone(), values.clone());
        Ok(Some(values))
    }

    fn at(&self, place: &Place, dump: &Dump) -> Option<String> {
        let config = dump.config(&Identity::default()).ok()?;
        let program = Program::new(&[], self.release);
        let (sources, inventory) = (Sources::default(), Inventory::default());
        study(&program, &config, &self.mesh.clone().into(), |study| {
            let (sources, inventory) = (&sources, &inventory);
            Explainer { sources, inventory, study, dump: "", running: false, lenders: Lenders::None }
                .generated_at(&place.spot)
        })
    }
}

//! `diff --between`: compares the EnvoyFilters of two meshes, and their effects.

use super::Error;
use super::settings::{Progress, Settings};
use super::survey::{Place, Row, SurveyReport, SurveyRequest, What, survey};
use crate::cluster::targets::targets;
use crate::engine::REFERENCED_SERVICES;
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::proxy::REVISION_LABEL;
use crate::source::Node;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Two meshes to compare.
#[derive(Clone, Debug)]
pub struct BetweenRequest {
    /// The first mesh.
    pub first: Settings,
    /// The second.
    pub second: Settings,
}

/// How an EnvoyFilter differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilterDifference {
    /// Only the first mesh has it.
    OnlyFirst,
    /// Only the second mesh has it.
    OnlySecond,
    /// Fields that differ, the first few, and how many more there are.
    Fields(Vec<String>, usize),
    /// The same filters are applied in a different order: its position in each, from 1.
    Order(usize, usize),
}

/// The effect of a patch on a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// No such workload has a proxy.
    NoWorkload,
    /// The EnvoyFilter does not select it.
    NotSelected,
    /// None of its proxies was read.
    NotRead,
    /// It has the intended effect, or nothing is wrong.
    Fine,
    /// This is wrong.
    Wrong(What),
}

/// A patch with different effects in the two meshes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectDifference {
    /// `namespace/name` of the EnvoyFilter.
    pub filter: String,
    /// Index of the patch.
    pub patch: usize,
    /// The workload.
    pub place: Place,
    /// Its effect in the first mesh.
    pub first: State,
    /// Its effect in the second.
    pub second: State,
}

/// The result.
#[derive(Debug)]
pub struct BetweenReport {
    /// What was read from the first mesh.
    pub first: SurveyReport,
    /// What was read from the second.
    pub second: SurveyReport,
    /// EnvoyFilters that differ, by namespace and name.
    pub filters: Vec<(String, FilterDifference)>,
    /// Different effects of EnvoyFilters that exist in both.
    pub effects: Vec<EffectDifference>,
}

impl BetweenReport {
    /// Whether everything relevant was read in both.
    pub(crate) fn is_complete(&self) -> bool {
        [&self.first, &self.second].iter().all(|one| one.scope.is_complete() && !one.interrupted)
    }
}

/// Compares two meshes: all namespaces, unless one is named. The namespaces of two contexts may differ.
pub fn between(request: &BetweenRequest, progress: &dyn Progress) -> Result<BetweenReport, Error> {
    let first = survey(&SurveyRequest::status(whole(&request.first)), progress)?;
    let second = survey(&SurveyRequest::status(whole(&request.second)), progress)?;
    let (one, other) = (Side::of(&first), Side::of(&second));
    let mut filters: Vec<(String, FilterDifference)> = Vec::new();
    let mut effects = Vec::new();
    let names: BTreeSet<&String> = one.filters.keys().chain(other.filters.keys()).collect();
    let same_names = one.filters.keys().eq(other.filters.keys());
    for name in names {
        let difference = match (one.filters.get(name), other.filters.get(name)) {
            // What was not listed may exist.
            (Some(_), None) => second.filters_known.then_some(FilterDifference::OnlyFirst),
            (None, Some(_)) => first.filters_known.then_some(FilterDifference::OnlySecond),
            (Some((a, a_row)), Some((b, b_row))) => {
                effects.extend(effect(name, (&one, a, a_row), (&other, b, b_row)));
                let fields = fields(a, b);
                let order = same_names && a_row.order != b_row.order;
                match fields.len() {
                    0 => order.then_some(FilterDifference::Order(a_row.order, b_row.order)),
                    all => {
                        let more = all.saturating_sub(FEW);
                        Some(FilterDifference::Fields(fields.into_iter().take(FEW).collect(), more))
                    }
                }
            }
            (None, None) => None,
        };
        filters.extend(difference.map(|difference| (name.clone(), difference)));
    }
    drop((one, other));
    Ok(BetweenReport { first, second, filters, effects })
}

fn whole(settings: &Settings) -> Settings {
    let all_namespaces = settings.all_namespaces || settings.namespace.is_none();
    Settings { all_namespaces, ..settings.clone() }
}

/// Maximum number of listed fields of an EnvoyFilter.
const FEW: usize = 5;

/// One mesh.
struct Side<'s> {
    filters: BTreeMap<String, (&'s EnvoyFilter, &'s Row)>,
    /// All workloads with proxies.
    places: BTreeSet<Place>,
}

impl<'s> Side<'s> {
    fn of(report: &'s SurveyReport) -> Side<'s> {
        let filters = report.rows.iter().filter_map(|row| {
            let filter = report.loaded.inventory.envoy_filters.get(row.filter)?;
            Some((filter.full_name(), (filter, row)))
        });
        Side { filters: filters.collect(), places: targets(&report.loaded.inventory).iter().map(Place::of).collect() }
    }
}

/// A mesh with one of its filters.
type Of<'o, 's> = (&'o Side<'s>, &'o EnvoyFilter, &'o Row);

/// The effects in both meshes of the patches that exist in both.
fn effect(name: &str, first: Of<'_, '_>, second: Of<'_, '_>) -> Vec<EffectDifference> {
    let places = first.2.workloads.union(&second.2.workloads);
    let patches = first.1.patches.len().min(second.1.patches.len());
    let mut found = Vec::new();
    for place in places {
        for patch in 0..patches {
            let (a, b) = (state(first, patch, place), state(second, patch, place));
            if a != b {
                let filter = name.to_owned();
                found.push(EffectDifference { filter, patch, place: place.clone(), first: a, second: b });
            }
        }
    }
    found
}

fn state((side, _, row): Of<'_, '_>, patch: usize, on: &Place) -> State {
    if !side.places.contains(on) {
        return State::NoWorkload;
    }
    if !row.workloads.contains(on) {
        return State::NotSelected;
    }
    if !row.seen.contains(on) {
        return State::NotRead;
    }
    let wrong = row.wrong.get(on).and_then(|all| all.iter().find(|one| one.patch == patch));
    wrong.map_or(State::Fine, |wrong| State::Wrong(wrong.what.clone()))
}

/// Paths of differences that matter to istiod.
fn fields(a: &EnvoyFilter, b: &EnvoyFilter) -> Vec<String> {
    let spec = |filter: &EnvoyFilter| filter.document.under(&["spec"]).map(Node::to_json).unwrap_or_default();
    let mut paths = Vec::new();
    differ("spec", &spec(a), &spec(b), &mut paths);
    if a.labels.get(REVISION_LABEL) != b.labels.get(REVISION_LABEL) {
        paths.push(format!("metadata.labels[{REVISION_LABEL}]"));
    }
    if a.annotations.get(REFERENCED_SERVICES) != b.annotations.get(REFERENCED_SERVICES) {
        paths.push(format!("metadata.annotations[{REFERENCED_SERVICES}]"));
    }
    paths
}

fn differ(path: &str, a: &Value, b: &Value, paths: &mut Vec<String>) {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys {
                let (one, other) = (a.get(key).unwrap_or(&Value::Null), b.get(key).unwrap_or(&Value::Null));
                differ(&format!("{path}.{key}"), one, other, paths);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                differ(&format!("{path}[{index}]"), a, b, paths);
            }
        }
        _ if a == b => {}
        _ => paths.push(path.to_owned()),
    }
}

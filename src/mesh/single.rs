//! A mesh that is kept up to date, one proxy at a time: results of `survey` and of the rules about running proxies.

use super::planes::{self, Homes, Plane};
use super::proxies::{named, of_pod};
use super::read::proxy_of;
use super::survey::{Held, What, judge, unblamed};
use super::unread;
use crate::cluster::Via;
use crate::cluster::facts::Facts;
use crate::cluster::targets::Target;
use crate::engine::compat::Compat;
use crate::engine::select::select;
use crate::engine::{Program, Selection, services};
use crate::explain::view;
use crate::explain::{self, Explainer, Lenders};
use crate::lint::{self, Input};
use crate::load::dump::{Dump, Identity};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::inventory::Inventory;
use crate::rules::ALL;
use crate::source::{ErrorMessage, Sources};
use crate::study::{self, study};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The last state of a mesh.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now<'m> {
    /// The texts.
    pub sources: &'m Sources,
    /// The objects.
    pub inventory: &'m Inventory,
    /// The control planes, the main one first; at least one.
    pub planes: &'m [Plane],
    /// What is known about the mesh.
    pub facts: &'m Facts,
    /// Where each control plane has proxies.
    pub homes: &'m Homes,
}

/// What a proxy shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// What is wrong with a patch, by `namespace/name` of its EnvoyFilter and its index.
    pub wrong: BTreeMap<(String, usize), What>,
    /// What the proxy contains in place of what such a patch writes, the first differences.
    pub instead: BTreeMap<(String, usize), String>,
    /// Patches that should do something, but whose effect is not visible.
    pub unknown: BTreeSet<(String, usize)>,
    /// Rejected updates that no patch touches: kind and name of the resource, and Envoy's message.
    pub refused: BTreeMap<(String, String), String>,
    /// Leftovers of deleted EnvoyFilters, as reported by the rule.
    pub leftovers: BTreeSet<String>,
    /// Clusters that waypoints may need from this proxy.
    pub lends: BTreeMap<String, String>,
}

/// Name of the rule about leftovers of deleted filters.
const LEFTOVER: &str = "leftover-object";

impl Now<'_> {
    /// Index of a proxy's control plane.
    pub(crate) fn plane_of(&self, target: &Target) -> usize {
        planes::number(self.planes, self.facts, &target.revision)
    }

    /// Whether a filter attaches to a pod, based on the pod's namespace and labels.
    pub(crate) fn reaches(&self, filter: &EnvoyFilter, target: &Target) -> bool {
        let Some(plane) = self.planes.get(self.plane_of(target)) else { return true };
        select(filter, &proxy_of(target), &plane.mesh, Compat { release: plane.release }) == Selection::Selected
    }

    /// The services whose clusters waypoints need, from annotations of the filters.
    pub(crate) fn referenced(&self) -> BTreeSet<&str> {
        self.inventory.envoy_filters.iter().flat_map(services::referenced_by).collect()
    }

    /// Reads the dump of a proxy and finds what is wrong with filters there. `lent`: clusters of other proxies. Fails with a
    /// reason when it is not a dump.
    pub(crate) fn look(
        &self,
        target: &Target,
        text: String,
        via: Via,
        lent: &Arc<BTreeMap<String, String>>,
    ) -> Result<Look, ErrorMessage> {
        let (dump, problems) = Dump::from_answer(target.full_name(), text);
        if unread::is_cut(&problems) {
            return Err(unread::CUT.into());
        }
        let Some(mut dump) = dump else {
            let first = problems.into_iter().next().map(|problem| problem.message);
            return Err(first.unwrap_or_else(|| "the answer is not a config dump".into()).into());
        };
        dump.lend(Arc::clone(lent));
        let identity = of_pod(&Identity::default(), target);
        let config = dump.config(&identity).map_err(|problem| named(&dump, problem).message)?;
        let plane = self.planes.get(self.plane_of(target)).ok_or("no control plane is known")?;
        let running = via != Via::Istiod;
        let filters = &self.inventory.envoy_filters;
        let program = Program::new(filters, plane.release);
        let settings = study::Settings::packed(&plane.mesh);
        let proxy = study(&program, &config, &settings, |study| {
            let (sources, inventory, dump) = (self.sources, self.inventory, dump.name());
            Explainer { sources, inventory, study, dump, running, lenders: Lenders::None }
                .proxy(&explain::Settings::default())
        });
        let mut look = of_proxy(&proxy);
        if running {
            let inventory = self.homes.judged_by(self.planes, self.plane_of(target), self.inventory);
            let input = Input {
                sources: self.sources,
                inventory: &inventory,
                problems: &[],
                dumps: std::slice::from_ref(&config),
                references: &[],
                release: plane.release,
                mesh: &plane.mesh,
            };
            let rules: Vec<_> = ALL.iter().copied().filter(|rule| rule.name == LEFTOVER).collect();
            look.leftovers = lint::lint(&input, &rules).into_iter().map(|finding| finding.message).collect();
        }
        let hosts = self.referenced();
        if !hosts.is_empty() {
            look.lends = services::clusters_of(&config, &hosts);
        }
        Ok(look)
    }
}

/// What is wrong on a proxy, from its explanation.
fn of_proxy(proxy: &view::Proxy) -> Look {
    let mut look = Look::default();
    let mut held = Held::default();
    for filter in proxy.filters.iter().filter(|filter| filter.selected) {
        let name = format!("{}/{}", filter.namespace, filter.name);
        for patch in &filter.patches {
            let key = (name.clone(), patch.index);
            if patch.live == Some(view::Live::Unknown) {
                look.unknown.insert(key.clone());
            }
            let Some(what) = judge(&mut held, patch, proxy) else { continue };
            if let Some(instead) = patch.instead.first() {
                look.instead.insert(key.clone(), instead.clone());
            }
            look.wrong.insert(key, what);
        }
    }
    let others = unblamed(proxy).into_iter();
    look.refused = others.map(|one| ((one.kind.to_owned(), one.name.clone()), one.details.clone())).collect();
    look
}

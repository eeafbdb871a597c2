//! CDS: clusters, added clusters, duplicate names.
//!
//! Follows istiod's `cluster_patch.go` and `buildClusters`.

use super::compat::Behaviour;
use super::matching;
use super::run::{Flow, Run, Slot};
use super::trace::{Effect, NoOp, PatchId, Place, Sink};
use crate::model::envoy_filter::{ApplyTo, Operation, PatchContext};
use crate::model::proxy::ProxyKind;
use crate::model::resource::{ResourceKind, ResourceText};
use crate::proto::tree::Tree;
use std::collections::HashSet;
use std::rc::Rc;

/// The position of a cluster in istiod's list, which decides between clusters of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Outbound,
    Catchall,
    AddedOutbound,
    Inbound,
    /// Generated beside the inbound ones, but never patched.
    InboundUnpatched,
    InboundPassthrough,
    AddedInbound,
    Other,
}

impl<'a, S: Sink<'a>> Run<'_, 'a, S> {
    /// All calls for clusters; added clusters are appended to the slots.
    pub(super) fn clusters(&mut self, slots: &mut Vec<Slot<'a>>, indices: &[usize]) {
        let outbound = match self.plan.proxy.kind {
            ProxyKind::Gateway => PatchContext::Gateway,
            _ => PatchContext::SidecarOutbound,
        };
        let outbound_ids = self.ids(ApplyTo::Cluster, outbound);
        let inbound_ids = match self.plan.proxy.kind {
            ProxyKind::Gateway => Rc::default(),
            _ => self.ids(ApplyTo::Cluster, PatchContext::SidecarInbound),
        };
        // istiod's order matters when several clusters share the value of a patch.
        let mut ranked: Vec<(Rank, usize)> =
            indices.iter().map(|&index| (rank(self.plan.proxy.kind, &slots[index].name), index)).collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        for &(rank, index) in &ranked {
            let ids: &[PatchId] = match (rank, self.plan.proxy.kind) {
                (Rank::Outbound | Rank::Catchall, _) => &outbound_ids,
                (Rank::Inbound | Rank::InboundPassthrough, ProxyKind::Sidecar) => &inbound_ids,
                _ => &[],
            };
            self.touched = false;
            let result = self.cluster(ids, &mut slots[index]);
            slots[index].touched |= self.touched;
            if let Err(stop) = result {
                slots[index].touched = true;
                self.abort(stop, Vec::new);
            }
            self.close(&mut slots[index]);
        }
        self.share_sockets(slots, &ranked);
        self.add_clusters(&outbound_ids, outbound, Rank::AddedOutbound, slots, &mut ranked);
        self.add_clusters(&inbound_ids, PatchContext::SidecarInbound, Rank::AddedInbound, slots, &mut ranked);
        self.drop_duplicates(slots, ranked);
    }

    /// Makes clusters share transport sockets as istiod does. Outbound clusters are serialized one by one, the others after all
    /// patches: if their transport socket is the value of a patch, they have it as the last merge left it. Recorded:
    /// `edge-shared-socket-set-then-merged`.
    fn share_sockets(&mut self, slots: &mut [Slot<'a>], ranked: &[(Rank, usize)]) {
        let sockets = std::mem::take(&mut self.sockets);
        for &(rank, index) in ranked.iter().filter(|_| !sockets.is_empty()) {
            let slot = &mut slots[index];
            if !slot.is_decoded() || rank == Rank::Outbound {
                continue;
            }
            let tree = slot.open(self.config, self.plan.schema);
            let owner = tree.get("transport_socket").and_then(|socket| PatchId::of(socket.origin));
            if let Some(socket) = owner.and_then(|owner| sockets.get(&owner)) {
                tree.set("transport_socket", socket.clone());
            }
            self.close(slot);
        }
    }

    fn cluster(&mut self, ids: &[PatchId], slot: &mut Slot<'a>) -> Flow {
        let in_order = self.plan.compat.has(Behaviour::ClusterRemoveInOrder);
        let early: &[PatchId] = if in_order { &[] } else { ids };
        for &id in early {
            if self.operation(id) == Operation::Remove && self.cluster_fits(id, slot) {
                self.remove_cluster(id, slot);
                return Ok(());
            }
        }
        for &id in ids {
            let operation = self.operation(id);
            if operation == Operation::Remove && in_order && self.cluster_fits(id, slot) {
                self.remove_cluster(id, slot);
                return Ok(());
            }
            if operation.is_merge() && self.cluster_fits(id, slot) {
                self.merge_cluster(id, slot)?;
            }
        }
        Ok(())
    }

    fn cluster_fits(&mut self, id: PatchId, slot: &mut Slot<'a>) -> bool {
        let name = slot.name.clone();
        let (config, schema) = (self.config, self.plan.schema);
        let hosts = || service_hosts(slot.open(config, schema));
        match matching::cluster(self.object(id), &name, hosts) {
            Ok(()) => true,
            Err(miss) => {
                self.miss(id, miss);
                false
            }
        }
    }

    fn remove_cluster(&mut self, id: PatchId, slot: &mut Slot<'a>) {
        let place = self.place(|| Place::resource(ResourceKind::Cluster, slot.name.clone()));
        if let Some(tree) = &slot.tree {
            self.bury(id, tree, place.as_ref());
        }
        self.effect(id, place, Effect::Removed);
        slot.removed = true;
    }

    fn merge_cluster(&mut self, id: PatchId, slot: &mut Slot<'a>) -> Flow {
        // A patch without a value is skipped here: the cast fails before the merge.
        let Some(value) = &self.plan.get(id).built.value else { return Ok(()) };
        let has_socket = value.get("transport_socket").is_some();
        let place = self.place(|| Place::resource(ResourceKind::Cluster, slot.name.clone()));
        let (config, schema) = (self.config, self.plan.schema);
        let tree = slot.open(config, schema);
        let result = if has_socket {
            self.merge_cluster_socket(id, tree, place)
        } else {
            self.merge(id, ApplyTo::Cluster, tree, place)
        };
        slot.name = tree.name().to_owned().into();
        result
    }

    fn merge_cluster_socket(&mut self, id: PatchId, cluster: &mut Tree<'a>, place: Option<Place>) -> Flow {
        let value = self.value(id, place.as_ref())?;
        let Some(wanted) = value.get("transport_socket") else { return Ok(()) };
        let matches = cluster.get_mut("transport_socket_matches").and_then(Tree::items_mut);
        if let Some(matches) = matches.filter(|matches| !matches.is_empty()) {
            let socket = matches
                .iter_mut()
                .filter_map(|one| one.get_mut("transport_socket"))
                .find(|socket| socket.name() == wanted.name());
            let effect = match socket {
                Some(socket) => self.merge_socket(id, socket, wanted, &value, place.as_ref())?,
                None => Effect::NoOp(NoOp::TransportSocketNotFound),
            };
            self.effect(id, place, effect);
            return Ok(());
        }
        let own = cluster.get_mut("transport_socket").filter(|socket| socket.name() == wanted.name());
        if let Some(socket) = own {
            let effect = self.merge_socket(id, socket, wanted, &value, place.as_ref())?;
            // What an earlier patch put there is that patch's own value, not a copy: the next cluster gets it in its current
            // state.
            if let Some(owner) = PatchId::of(socket.origin).filter(|_| effect.changes() || !S::ON) {
                self.sockets.insert(owner, socket.clone());
            }
            self.effect(id, place, effect);
            return Ok(());
        }
        let old = cluster.remove("transport_socket");
        let socket = self.sockets.get(&id).cloned().unwrap_or_else(|| wanted.clone());
        if S::ON {
            use crate::proto::json::{Style, write};
            let change = crate::proto::merge::Change {
                path: "transport_socket".to_owned(),
                kind: crate::proto::merge::ChangeKind::Set,
                before: old.as_ref().map(|tree| write(tree, Style::Compact)),
                after: Some(socket.clone()),
                before_origins: old.as_ref().map(Tree::origins).unwrap_or_default(),
            };
            let dropped = value.entries().iter().map(|(key, _)| key.to_string());
            let dropped = dropped.filter(|key| key != "transport_socket").collect();
            self.effect(id, place, Effect::TransportSocketMerged(vec![change], dropped));
        } else {
            self.touched = true;
        }
        cluster.set("transport_socket", socket);
        Ok(())
    }

    fn add_clusters(
        &mut self,
        ids: &[PatchId],
        context: PatchContext,
        rank: Rank,
        slots: &mut Vec<Slot<'a>>,
        ranked: &mut Vec<(Rank, usize)>,
    ) {
        // A waypoint inserts added clusters only for its inbound side.
        let waypoint_outbound = self.plan.proxy.kind == ProxyKind::Waypoint && context == PatchContext::SidecarOutbound;
        for &id in ids {
            if self.operation(id) != Operation::Add {
                continue;
            }
            let any = self.plan.get(id).built.patch.context == PatchContext::Any;
            if waypoint_outbound || (any && context == PatchContext::SidecarInbound) {
                continue;
            }
            let place = self.place(|| Place::resource(ResourceKind::Cluster, ""));
            let tree = match self.value(id, place.as_ref()) {
                Ok(tree) => tree,
                Err(stop) => {
                    self.abort(stop, Vec::new);
                    return;
                }
            };
            let name = tree.name().to_owned();
            let place = self.place(|| Place::resource(ResourceKind::Cluster, name.clone()));
            self.effect(id, place, Effect::Added);
            ranked.push((rank, slots.len()));
            slots.push(Slot {
                kind: ResourceKind::Cluster,
                source: None,
                name: name.into(),
                text: ResourceText::default(),
                tree: Some(Box::new(tree)),
                packed: None,
                touched: true,
                removed: false,
            });
        }
    }

    /// Of several clusters with one name, keeps the first.
    fn drop_duplicates(&mut self, slots: &mut [Slot<'a>], mut ranked: Vec<(Rank, usize)>) {
        if self.plan.patches.is_empty() {
            return;
        }
        ranked.sort_by_key(|(rank, _)| *rank);
        let outbound_too = !self.plan.compat.has(Behaviour::OutboundClustersKeepDuplicates);
        let mut taken = HashSet::new();
        for (rank, index) in ranked {
            let slot = &mut slots[index];
            if slot.removed || (rank == Rank::Outbound && !outbound_too) || taken.insert(slot.name.to_string()) {
                continue;
            }
            slot.removed = true;
            slot.touched = true;
            let place = self.place(|| Place::resource(ResourceKind::Cluster, slots[index].name.clone()));
            if let (Some(tree), Some(place)) = (slots[index].decoded(), place) {
                for id in tree.origins().into_iter().filter_map(PatchId::of) {
                    self.effect(id, Some(place.clone()), Effect::NoOp(NoOp::DuplicateName));
                }
            }
        }
    }
}

/// The rank of a cluster, by its generated name.
pub(super) fn rank(kind: ProxyKind, name: &str) -> Rank {
    match name {
        "BlackHoleCluster" | "PassthroughCluster" | "AllowAnyDynamicDNSCluster" if kind != ProxyKind::Waypoint => {
            Rank::Catchall
        }
        "InboundPassthroughCluster" | "InboundPassthroughClusterIpv4" | "InboundPassthroughClusterIpv6" => {
            Rank::InboundPassthrough
        }
        // Clusters for AUTO_PASSTHROUGH servers are among the others, not in the outbound list.
        _ if name.starts_with("outbound_.") => Rank::Catchall,
        _ if name.starts_with("outbound|") => Rank::Outbound,
        _ if name.starts_with("inbound|") => Rank::Inbound,
        // All clusters of a waypoint come before added ones (`buildWaypointInboundClusters`), as does a sidecar's cluster for
        // the listener behind HBONE.
        _ if kind == ProxyKind::Waypoint || (kind == ProxyKind::Sidecar && name == "main_internal") => {
            Rank::InboundUnpatched
        }
        _ => Rank::Other,
    }
}

/// Hosts of the services behind an inbound cluster: the `istio` filter metadata that istiod writes.
pub(super) fn service_hosts(cluster: &Tree<'_>) -> Vec<String> {
    let services = cluster.path(&["metadata", "filter_metadata", "istio", "services"]);
    let services = services.map(Tree::items).unwrap_or_default();
    services.iter().map(|service| service.str_at("host").to_owned()).collect()
}

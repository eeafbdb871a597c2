//! Undoes CDS patches: the steps of `engine/cluster.rs` from the last to the first.

use super::Seen;
use super::undo::Undo;
use crate::engine::cluster::{Rank, rank, service_hosts};
use crate::engine::matching;
use crate::engine::run::Slot;
use crate::engine::trace::{PatchId, Place};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, PatchContext};
use crate::model::proxy::ProxyKind;
use crate::model::resource::ResourceKind;
use crate::proto::tree::{Origin, Tree};
use crate::proto::unmerge::holds;

impl<'a> Undo<'_, 'a> {
    /// Every generated cluster; those that patches added have been removed already.
    pub(super) fn clusters(&mut self, slots: &mut [Slot<'a>]) {
        let kind = self.plan.proxy.kind;
        let edits = |context| -> Vec<PatchId> {
            let ids = self.plan.for_context(ApplyTo::Cluster, context);
            ids.into_iter().filter(|&id| self.operation(id) != crate::model::envoy_filter::Operation::Add).collect()
        };
        let outbound = match kind {
            ProxyKind::Gateway => edits(PatchContext::Gateway),
            _ => edits(PatchContext::SidecarOutbound),
        };
        let inbound = if kind == ProxyKind::Sidecar { edits(PatchContext::SidecarInbound) } else { Vec::new() };
        let renames: Vec<&str> = [&outbound, &inbound]
            .into_iter()
            .flatten()
            .filter_map(|&id| self.value(id))
            .map(Tree::name)
            .filter(|name| !name.is_empty())
            .collect();
        for slot in slots.iter_mut().filter(|slot| !slot.removed) {
            let ids = match rank(kind, &slot.name) {
                Rank::Outbound | Rank::Catchall => &outbound,
                Rank::Inbound | Rank::InboundPassthrough => &inbound,
                _ if renames.contains(&&*slot.name) => &outbound,
                _ => continue,
            };
            self.touched = false;
            self.cluster(ids, slot);
            slot.touched |= self.touched;
            slot.close();
        }
    }

    fn cluster(&mut self, ids: &[PatchId], slot: &mut Slot<'a>) {
        for &id in ids.iter().rev() {
            let object = self.object(id);
            let named = matching::cluster_match(object).map(|it| it.name.as_str()).filter(|name| !name.is_empty());
            // Most clusters are done here, without decoding.
            let given = self.value(id).map(Tree::name).unwrap_or_default();
            if named.is_some_and(|named| named != slot.name && given != slot.name) {
                continue;
            }
            let (config, schema) = (self.config, self.plan.schema);
            if matching::cluster(object, &slot.name, || service_hosts(slot.clone().open(config, schema))).is_err()
                && given != slot.name
            {
                continue;
            }
            let tree = slot.open(config, schema);
            let fits = |object: &'a ObjectMatch, tree: &Tree<'a>| {
                matching::cluster(object, tree.name(), || service_hosts(tree)).is_ok()
            };
            let place = |tree: &Tree<'a>| Place::resource(ResourceKind::Cluster, tree.name());
            let socket = self.value(id).and_then(|value| value.get("transport_socket"));
            match socket.filter(|_| self.operation(id).is_merge()) {
                None => self.undo_edit(id, ApplyTo::Cluster, tree, named, fits, place),
                Some(wanted) if fits(object, tree) => {
                    let place = place(tree);
                    self.cluster_socket(id, tree, wanted, &place);
                }
                Some(_) => {}
            }
            slot.name = tree.name().to_owned().into();
        }
    }

    /// A patch with a transport socket merges or sets only that.
    fn cluster_socket(&mut self, id: PatchId, cluster: &mut Tree<'a>, wanted: &Tree<'a>, place: &Place) {
        let matches = cluster.get_mut("transport_socket_matches").and_then(Tree::items_mut);
        if let Some(matches) = matches.filter(|matches| !matches.is_empty()) {
            let mut sockets = matches.iter_mut().filter_map(|one| one.get_mut("transport_socket"));
            if let Some(socket) = sockets.find(|socket| socket.name() == wanted.name()) {
                self.unmerge_socket(id, socket, wanted, place);
            }
            return;
        }
        let Some(socket) = cluster.get_mut("transport_socket").filter(|socket| socket.name() == wanted.name()) else {
            return self.show(id, place.clone(), Seen::Missing);
        };
        if holds(socket, wanted) {
            // There was none, another one, or this one with less content.
            socket.set_origin(Origin::UNKNOWN);
            self.show(id, place.clone(), Seen::Holds);
        } else {
            self.unmerge_socket(id, socket, wanted, place);
        }
    }
}

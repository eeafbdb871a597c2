//! A patch in its document, and the quality of a proxy's configuration.

use crate::engine::program::BuiltPatch;
use crate::lint::finding::Finding;
use crate::lint::rule::RuleInfo;
use crate::model::envoy_filter::{EnvoyFilter, Patch};
use crate::source::{Node, Span, Step};

/// Where a proxy's configuration comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Knowledge {
    /// A built-in reference configuration, of a sample workload that fits the filter. Only names that istiod generates
    /// everywhere (filters, sub-filters, virtual listeners) are meaningful; matches on names and ports of the user's
    /// own services were left out before the run.
    Reference,
    /// A config dump of a real proxy.
    Dump,
}

/// A patch with everything that is known without a proxy.
#[derive(Clone, Copy)]
pub struct PatchView<'a> {
    /// Index of the filter.
    pub filter_index: usize,
    /// The filter.
    pub filter: &'a EnvoyFilter,
    /// The patch.
    pub patch: &'a Patch,
    /// The patch as the release reads it; `None` if the release cannot read the filter.
    pub built: Option<&'a BuiltPatch<'a>>,
    /// Whether sample proxies get the patch with its match as written: release, metadata and the user's own names.
    pub as_written: bool,
}

impl<'a> PatchView<'a> {
    /// The route of keys from the document's root to something in the patch.
    pub(crate) fn route(&self, below: &[&str]) -> Vec<Step> {
        let mut route = self.filter.patch_route(self.patch.index);
        route.extend(below.iter().map(|&key| Step::from(key)));
        route
    }

    /// The value at a route below the patch.
    pub(crate) fn node(&self, below: &[&str]) -> Option<&'a Node> {
        self.filter.patch_node(self.patch.index)?.under(below)
    }

    /// The place of the last key on a route below the patch that exists.
    pub(crate) fn key_span(&self, below: &[&str]) -> Span {
        self.filter.document.key_span(&self.route(below))
    }

    /// The place of the value at a route below the patch, or of the last key that exists.
    pub(crate) fn value_span(&self, below: &[&str]) -> Span {
        self.node(below).map_or_else(|| self.key_span(below), |node| node.span)
    }

    /// The place of a key inside the patch's value (`patch.value`), by the route that the decoder gives.
    pub(crate) fn value_route_span(&self, route: &[Step]) -> Span {
        let mut full = self.route(&["patch", "value"]);
        full.extend(route.iter().cloned());
        self.filter.document.key_span(&full)
    }

    /// A finding about this patch.
    pub(crate) fn finding(&self, rule: &'static RuleInfo, span: Span, message: impl Into<String>) -> Finding {
        Finding::new(rule, span, message).of(self.filter, Some(self.patch.index))
    }
}

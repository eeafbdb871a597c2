//! EF717: an added cluster for a host that is, or could be, a service of the mesh.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, moves};
use crate::migrate::catalog::CLUSTER_ADD;

declare_rule! {
    /// A cluster added for a DNS name for which istiod generates a cluster, or would with a ServiceEntry.
    ///
    /// # What it finds
    /// An added cluster with one DNS endpoint, timeouts, HTTP/2 and TLS from files. For a host under
    /// `svc.cluster.local`, istiod generates `outbound|PORT||HOST` itself; for any other host, it does so with a
    /// ServiceEntry.
    ///
    /// # Why it matters
    /// The added cluster has only DNS endpoints, and no mutual TLS from the mesh, no locality, no DestinationRule and
    /// no Istio metrics.
    ///
    /// # How to fix
    /// Apply the ServiceEntry that `kubectl envoyfilter migrate` writes (and the DestinationRule for TLS), and name the
    /// generated cluster in the filter. A gateway that gets clusters only for hosts it routes to needs the annotation
    /// `envoyfilter.istio.io/referenced-services` (since 1.26).
    ///
    /// # References
    /// Istio: ServiceEntry; annotation `envoyfilter.istio.io/referenced-services`; istio/istio#50398.
    "EF717" "cluster-beside-service-entry" Native Info => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    moves::check(rule, cx, out, &[&CLUSTER_ADD], "a ServiceEntry can define this service", |_| true);
}

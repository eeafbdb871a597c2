//! The ways to read a pod's config dump.

/// A way to a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Via {
    /// Port-forward to Envoy's admin port.
    PortForward,
    /// `pilot-agent request GET config_dump` inside the proxy's container.
    Exec,
    /// The API server's own proxy to the pod; works only if the admin port listens on the pod's address.
    PodProxy,
    /// Port-forward to istiod and its `/debug/config_dump`: what it would send now, without what the proxy rejected. From
    /// 1.28.4 and 1.29 on these endpoints check the rights of remote clients; a port-forward comes from the local host, which
    /// no release checks (`pilot/pkg/xds/debug.go`, `allowAuthenticatedOrLocalhost`).
    Istiod,
}

impl Via {
    /// Every way, in the order they are tried.
    pub(crate) const ALL: [Via; 4] = [Via::PortForward, Via::Exec, Via::PodProxy, Via::Istiod];

    /// The value on the command line.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Via::PortForward => "port-forward",
            Via::Exec => "exec",
            Via::PodProxy => "pod-proxy",
            Via::Istiod => "istiod",
        }
    }

    /// The subresource of pods and the required verbs. Since Kubernetes 1.35, port-forward and exec over WebSocket require
    /// `create`, as over SPDY; before, `get`.
    pub(crate) const fn permission(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Via::PortForward | Via::Istiod => ("pods/portforward", &["get", "create"]),
            Via::Exec => ("pods/exec", &["get", "create"]),
            Via::PodProxy => ("pods/proxy", &["get"]),
        }
    }
}

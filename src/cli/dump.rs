//! `dump`: the configuration that istiod would send to a proxy, without a cluster.

use super::istiod::IstiodOptions;
use super::session::{Exit, Session};
use super::started::{self, Started};
use crate::bottle::proxies::{self, Found};
use crate::bottle::{Node, Opened, Wanted};
use crate::cluster::kinds;
use crate::load::dump::{Dump as ConfigDump, Layout};
use crate::mesh::Error;
use crate::model::proxy::ProxyKind;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct Dump {
    /// Proxy: POD, deploy/NAME, svc/NAME, gateway/NAME or workloadentry/NAME of the objects
    #[arg(value_name = "PROXY")]
    proxy: Option<String>,
    /// Objects of the mesh: files, folders, - for the standard input [default: the cluster, or --capture]
    #[arg(short, long = "filename", value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    istiod: IstiodOptions,
    /// Ask as the proxy of this config dump, with the node metadata it sent
    #[arg(long, value_name = "DUMP", conflicts_with = "proxy")]
    like: Option<PathBuf>,
    /// Ask as a proxy that no object describes: sidecar, gateway or waypoint
    #[arg(long, value_name = "TYPE", value_parser = super::options::kind, conflicts_with_all = ["proxy", "like"])]
    proxy_type: Option<ProxyKind>,
    /// Labels of the described proxy, a=b,c=d
    #[arg(long, value_name = "LABELS", value_parser = super::options::labels, requires = "proxy_type")]
    proxy_labels: Option<BTreeMap<String, String>>,
    /// Istio version of the proxy [default: the release of istiod]
    #[arg(long, value_name = "VERSION")]
    proxy_version: Option<String>,
    /// Leave all EnvoyFilters out
    #[arg(long)]
    without_filters: bool,
    /// Include endpoints
    #[arg(long)]
    endpoints: bool,
    /// Output format
    #[arg(short, long, default_value = "json")]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    Json,
}

impl Dump {
    pub(super) fn run(&mut self, session: &mut Session<'_>) -> Result<Exit, Error> {
        if self.proxy.is_none() && self.like.is_none() && self.proxy_type.is_none() {
            return session.usage(
                "no proxy is named",
                Some("name a pod or deploy/NAME, or describe one with --proxy-type, or give a dump with --like"),
            );
        }
        let like = match self.like(session)? {
            Ok(like) => like,
            Err(exit) => return Ok(exit),
        };
        let Started { mut opened, mut partial, .. } = started::open(&self.istiod, session, &self.files, &kinds::DUMP)?;
        if let Some(version) = &self.proxy_version {
            opened.common.istio_version.clone_from(version);
        }
        let node = match like {
            Some(node) => node,
            None => match self.node(session, &opened)? {
                Ok(node) => node,
                Err(exit) => return Ok(exit),
            },
        };
        if self.without_filters
            && let Err(fault) = opened.bottle.set_filters(Vec::new())
        {
            return started::failed(session, &fault);
        }
        let wanted = Wanted { endpoints: self.endpoints, extensions: Vec::new() };
        match opened.bottle.ask(&node, &wanted) {
            Ok(configuration) => {
                partial |= configuration.is_empty();
                if configuration.is_empty() {
                    session.usage(&format!("istiod has no configuration for {}", node.full_name()), None)?;
                }
                let Output::Json = self.output;
                crate::bottle::dump::write(session.out, &node, &configuration)?;
                Ok(if partial { Exit::Partial } else { Exit::Ok })
            }
            Err(fault) => started::failed(session, &fault),
        }
    }

    /// The proxy of the named dump, if any.
    fn like(&self, session: &mut Session<'_>) -> Result<Result<Option<Node>, Exit>, Error> {
        let Some(path) = &self.like else { return Ok(Ok(None)) };
        let (dump, problems) = ConfigDump::read(path, Layout::Dropped);
        let loaded = crate::load::Loaded { problems, ..Default::default() };
        started::tell(session, &loaded)?;
        let node = dump.as_ref().and_then(ConfigDump::proxy).map(|proxy| Node::of_proxy(proxy, "cluster.local"));
        if let Some(node) = node {
            Ok(Ok(Some(node)))
        } else {
            let message = format!("{} does not say which proxy it is from", path.display());
            Ok(Err(session.usage(&message, Some("use a dump that includes the bootstrap"))?))
        }
    }

    fn node(&self, session: &mut Session<'_>, opened: &Opened) -> Result<Result<Node, Exit>, Error> {
        let namespace = started::namespace(session);
        if let Some(kind) = self.proxy_type {
            return Ok(Ok(self.described(kind, &namespace, opened)));
        }
        let word = self.proxy.as_deref().unwrap_or_default();
        let Some(found) = proxies::named(&opened.objects, &opened.common, word, &namespace) else {
            let help = "name a pod, deploy/NAME, svc/NAME, gateway/NAME or workloadentry/NAME";
            return Ok(Err(session.usage(&format!("there is no {word}"), Some(help))?));
        };
        if let Some(Found { node, .. }) = found.into_iter().next() {
            return Ok(Ok(node));
        }
        let known: Vec<String> = proxies::all(&opened.objects, &opened.common)
            .iter()
            .map(|found| format!("{}/{}", found.node.namespace, found.node.name))
            .collect();
        let help = match known.as_slice() {
            [] => "no object has a proxy: label the namespace istio-injection=enabled".to_owned(),
            known => format!("proxies: {}", known.iter().take(10).cloned().collect::<Vec<_>>().join(", ")),
        };
        Ok(Err(session.usage(&format!("{word} in namespace {namespace} has no proxy"), Some(&help))?))
    }

    fn described(&self, kind: ProxyKind, namespace: &str, opened: &Opened) -> Node {
        let labels: Map<String, Value> =
            self.proxy_labels.iter().flatten().map(|(key, value)| (key.clone(), value.as_str().into())).collect();
        let address = proxies::free_address(&opened.objects);
        let metadata = [
            ("NAME", Value::from("described")),
            ("NAMESPACE", namespace.into()),
            ("INSTANCE_IPS", address.as_str().into()),
            ("LABELS", Value::Object(labels)),
            ("CLUSTER_ID", opened.common.cluster_id.as_str().into()),
            ("ISTIO_VERSION", opened.common.istio_version.as_str().into()),
        ];
        Node {
            kind,
            name: "described".to_owned(),
            namespace: namespace.to_owned(),
            addresses: vec![address],
            domain: opened.common.domain.clone(),
            metadata: metadata.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
        }
    }
}

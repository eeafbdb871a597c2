//! `doctor`: compares this program's engine with a real istiod, on the user's own objects.

use super::istiod::IstiodOptions;
use super::options::TextOrJson;
use super::session::{Exit, Session};
use super::started::{self, Started};
use crate::bottle::doctor::{self, Comparison, Filters, How};
use crate::bottle::{Fault, Node, Wanted, proxies};
use crate::cluster::kinds;
use crate::engine::MeshSettings;
use crate::explain::Lenders;
use crate::mesh::{Error, PlaneScope, ProxyScope, Scope};
use crate::model::resource::ResourceKind;
use crate::report;
use crate::report::style::Role;
use crate::words::count;
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// Objects of the mesh with its EnvoyFilters: files, folders, - for the standard input [default: the cluster, or --capture]
    #[arg(short, long = "filename", value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    istiod: IstiodOptions,
    /// Output format
    #[arg(short, long, default_value = "text")]
    output: TextOrJson,
}

impl Doctor {
    pub(super) fn run(&mut self, session: &mut Session<'_>) -> Result<Exit, Error> {
        let started = started::open(&self.istiod, session, &self.files, &kinds::DOCTOR)?;
        let Started { mut opened, loaded, mut partial, origin } = started;
        let nodes: Vec<Node> =
            proxies::all(&opened.objects, &opened.common).into_iter().map(|found| found.node).collect();
        if nodes.is_empty() {
            let help = "label a namespace istio-injection=enabled, or add a gateway";
            return session.usage("no object has a proxy, so there is nothing to compare", Some(help));
        }
        let documents: Vec<Value> = opened.objects.values("networking.istio.io", "EnvoyFilter").cloned().collect();
        let mesh = MeshSettings::of(&loaded.inventory);
        let release = opened.bottle.istiod.release.unwrap_or(session.release());
        let filters = Filters { parsed: &loaded.inventory.envoy_filters, documents: &documents, release, mesh: &mesh };
        let compared = match doctor::compare(&mut opened.bottle, &nodes, &filters, &Wanted::default()) {
            Ok(compared) => compared,
            Err(fault) => return started::failed(session, &fault),
        };
        let parted = compared.iter().flatten().any(|one| !one.differences.is_empty());
        partial |= compared.iter().any(Result::is_err);
        let version = &opened.bottle.istiod.version;
        let scope = Scope {
            origin,
            namespaces: None,
            control_planes: vec![PlaneScope {
                revision: mesh.revision.clone(),
                release: release.to_string(),
                root_namespace: mesh.root_namespace.clone(),
                mesh_config: !loaded.inventory.meshes.is_empty(),
            }],
            filters: documents.len(),
            proxies: ProxyScope { read: compared.iter().flatten().count(), of: nodes.len(), pods: nodes.len() },
            unread: Scope::unread(loaded.problems.iter(), None),
            lenders: Lenders::None,
        };
        match self.output {
            TextOrJson::Text => {
                session.scope(&scope)?;
                text(session, version, documents.len(), &nodes, &compared)?;
                if partial {
                    writeln!(session.out, "Not everything could be read or compared: this holds for the rest only.")?;
                }
            }
            TextOrJson::Json => {
                let mut answer = data(version, documents.len(), &nodes, &compared);
                answer["complete"] = (!partial).into();
                report::scoped(session.out, &answer, &scope)?;
            }
        }
        Ok(match (parted, partial) {
            (_, true) => Exit::Partial,
            (true, false) => Exit::Findings,
            (false, false) => Exit::Ok,
        })
    }
}

type Compared = [Result<Comparison, Fault>];

fn text(
    session: &mut Session<'_>,
    version: &str,
    filters: usize,
    nodes: &[Node],
    compared: &Compared,
) -> Result<(), Error> {
    for (node, one) in nodes.iter().zip(compared) {
        let (name, kind) = (node.full_name(), node.kind.as_str());
        match one {
            Ok(one) if one.differences.is_empty() => {
                let word = session.around.out.paint(Role::Good, "equal  ");
                let resources = count(one.resources, "resource", "resources");
                writeln!(session.out, "{word}  {name} ({kind}): {resources}, {} changed by filters", one.changed)?;
            }
            Ok(one) => {
                let word = session.around.out.paint(Role::Bad, "differs");
                let places = count(one.differences.len(), "resource", "resources");
                writeln!(session.out, "{word}  {name} ({kind}): {places} of {}", one.resources)?;
                for difference in &one.differences {
                    let how = match &difference.how {
                        How::OnlyIstiod => "only istiod sends it".to_owned(),
                        How::OnlyEngine => "only the engine computes it".to_owned(),
                        How::Fields(places) => places.join(", "),
                    };
                    writeln!(session.out, "           {} {}: {how}", difference.kind.as_str(), difference.name)?;
                }
            }
            Err(fault) => {
                let word = session.around.out.paint(Role::Bad, "error  ");
                writeln!(session.out, "{word}  {name} ({kind}): {fault}")?;
            }
        }
        for route in one.iter().flat_map(|one| &one.patched_again) {
            let port = route.rsplit_once(':').map_or("", |(_, port)| port);
            writeln!(
                session.out,
                "           route {route}: istiod patched the virtual hosts that it shares with route {port} twice; whether it does varies \
                 from push to push"
            )?;
        }
        for one in one.iter().filter(|one| !one.panicked.is_empty()) {
            writeln!(
                session.out,
                "           {}: patched in one of istiod and the engine only; istiod panics at {}, and what it has patched by then varies \
                 from push to push",
                count(one.panicked.len(), "resource", "resources"),
                one.panics.join(", "),
            )?;
        }
    }
    let equal = compared.iter().flatten().filter(|one| one.differences.is_empty()).count();
    let unknown: usize = compared.iter().flatten().map(|one| one.unknown).sum();
    writeln!(
        session.out,
        "\nistiod {version} and this program's engine agree on {equal} of {} with {}",
        count(nodes.len(), "proxy", "proxies"),
        count(filters, "EnvoyFilter", "EnvoyFilters"),
    )?;
    let shared: BTreeSet<&str> = compared.iter().flatten().flat_map(|one| &one.shared).map(String::as_str).collect();
    if equal < nodes.len() && !shared.is_empty() {
        let list = shared.into_iter().collect::<Vec<_>>().join(", ");
        writeln!(
            session.out,
            "Possible cause: {list} merges into an object that istiod shares with other proxies; they differ until istiod restarts \
             (`kubectl envoyfilter rules {}`).",
            crate::rules::scope::shared_state_leak::RULE.code
        )?;
    }
    if unknown > 0 {
        writeln!(
            session.out,
            "{} cannot be computed from a configuration without the filters",
            count(unknown, "resource that filters ask for", "resources that filters ask for"),
        )?;
    }
    if equal < nodes.len() {
        writeln!(session.out, "This output names places and no values: attach it to a report about this program.")?;
    }
    Ok(())
}

fn data(version: &str, filters: usize, nodes: &[Node], compared: &Compared) -> Value {
    let proxies: Vec<Value> = nodes
        .iter()
        .zip(compared)
        .map(|(node, one)| {
            let head = json!({"namespace": node.namespace, "name": node.name, "type": node.kind.as_str()});
            let mut head = head.as_object().cloned().unwrap_or_default();
            match one {
                Ok(one) => {
                    let differences: Vec<Value> = one
                        .differences
                        .iter()
                        .map(|difference| {
                            let how = match &difference.how {
                                How::OnlyIstiod => json!({"only": "istiod"}),
                                How::OnlyEngine => json!({"only": "engine"}),
                                How::Fields(places) => json!({"fields": places}),
                            };
                            json!({"kind": difference.kind.as_str(), "name": difference.name, "difference": how})
                        })
                        .collect();
                    head.insert("resources".to_owned(), one.resources.into());
                    head.insert("changed".to_owned(), one.changed.into());
                    head.insert("patchedAgain".to_owned(), one.patched_again.clone().into());
                    head.insert("panics".to_owned(), one.panics.clone().into());
                    let named = |(kind, name): &(ResourceKind, String)| json!({"kind": kind.as_str(), "name": name});
                    head.insert("panicked".to_owned(), one.panicked.iter().map(named).collect());
                    head.insert("shared".to_owned(), one.shared.iter().cloned().collect());
                    head.insert("unknown".to_owned(), one.unknown.into());
                    head.insert("differences".to_owned(), differences.into());
                }
                Err(fault) => {
                    head.insert("error".to_owned(), fault.to_string().into());
                }
            }
            Value::Object(head)
        })
        .collect();
    json!({
        "apiVersion": crate::explain::view::API_VERSION, "kind": "Doctor", "istiod": version,
        "envoyFilters": filters, "proxies": proxies,
    })
}

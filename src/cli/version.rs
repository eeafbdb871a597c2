//! `version`: this program, the API server, control planes, proxies, and pods that no EnvoyFilter reaches.

use super::input::{self, Work};
use super::{Exit, Session, TableOrJson};
use crate::cluster::facts::{self, Station};
use crate::cluster::kinds;
use crate::explain::view::API_VERSION;
use crate::report::{self, table};
use clap::Args;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

#[derive(Debug, Args)]
pub(super) struct Version {
    /// Only this program's version; no cluster is read
    #[arg(long)]
    client: bool,
    /// Form of the output
    #[arg(short, long, default_value = "table")]
    output: TableOrJson,
}

/// The answer as data.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Versions {
    api_version: &'static str,
    kind: &'static str,
    client: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    kubernetes: String,
    control_planes: Vec<ControlPlane>,
    proxies: Vec<Proxies>,
    not_affected: Vec<NotAffected>,
    problems: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ControlPlane {
    revision: String,
    tags: Vec<String>,
    namespace: String,
    version: String,
    pods: usize,
    root_namespace: String,
    /// The release that is modelled for it.
    modelled: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Proxies {
    #[serde(rename = "type")]
    kind: &'static str,
    version: String,
    revision: String,
    pods: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct NotAffected {
    why: &'static str,
    pods: usize,
    /// One of them.
    example: String,
}

impl Version {
    pub(super) fn run(&self, session: &mut Session<'_>) -> io::Result<Exit> {
        let mut versions = Versions {
            api_version: API_VERSION,
            kind: "Versions",
            client: env!("CARGO_PKG_VERSION"),
            kubernetes: String::new(),
            control_planes: Vec::new(),
            proxies: Vec::new(),
            not_affected: Vec::new(),
            problems: Vec::new(),
        };
        let mut serious = false;
        if !self.client {
            let work = match Work::open(session, &kinds::VERSION, None)? {
                Ok(work) => work,
                Err(exit) => {
                    writeln!(session.out, "client: {}", versions.client)?;
                    return Ok(exit);
                }
            };
            serious = input::tell(session, &work.loaded, &[])?;
            versions.kubernetes.clone_from(&work.facts.kubernetes);
            versions.problems = work.loaded.problems.iter().map(|problem| problem.message.clone()).collect();
            fill(&mut versions, &work);
        }
        match self.output {
            TableOrJson::Json => report::json(session.out, &versions)?,
            TableOrJson::Table => text(session.out, &versions)?,
        }
        Ok(if serious { Exit::Partial } else { Exit::Ok })
    }
}

fn fill(versions: &mut Versions, work: &Work) {
    for plane in &work.facts.planes {
        let tags = work.facts.tags.iter().filter(|(_, revision)| **revision == plane.revision);
        let modelled = work.planes.iter().find(|it| it.revision.as_ref() == Some(&plane.revision));
        versions.control_planes.push(ControlPlane {
            revision: plane.revision.clone(),
            tags: tags.map(|(tag, _)| tag.clone()).collect(),
            namespace: plane.namespace.clone(),
            version: plane.version.clone(),
            pods: plane.pods,
            root_namespace: plane.root_namespace.clone(),
            modelled: modelled.map(|plane| plane.release.to_string()).unwrap_or_default(),
        });
    }
    let mut proxies: BTreeMap<(&'static str, &str, &str), usize> = BTreeMap::new();
    for target in work.targets() {
        *proxies.entry((target.kind.word(), &target.version, &target.revision)).or_default() += 1;
    }
    for ((kind, version, revision), pods) in proxies {
        versions.proxies.push(Proxies { kind, version: version.to_owned(), revision: revision.to_owned(), pods });
    }
    let inventory = &work.loaded.inventory;
    let mut without: BTreeMap<&'static str, BTreeSet<String>> = BTreeMap::new();
    for pod in inventory.workloads.iter().filter(|pod| pod.object.kind == "Pod") {
        let namespace = inventory.namespace(&pod.object.namespace);
        let why = match facts::station(pod, namespace) {
            Station::Proxy(_) => continue,
            Station::Ztunnel => "it is ztunnel, which istiod sends no EnvoyFilters to",
            Station::None(why) => why,
        };
        without.entry(why).or_default().insert(format!("{}/{}", pod.object.namespace, pod.object.name));
    }
    for (why, pods) in without {
        let example = pods.first().cloned().unwrap_or_default();
        versions.not_affected.push(NotAffected { why, pods: pods.len(), example });
    }
}

fn text(out: &mut dyn Write, versions: &Versions) -> io::Result<()> {
    writeln!(out, "client: {}", versions.client)?;
    if !versions.kubernetes.is_empty() {
        writeln!(out, "kubernetes: {}", versions.kubernetes)?;
    }
    let or_dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    if !versions.control_planes.is_empty() {
        let rows: Vec<Vec<String>> = versions
            .control_planes
            .iter()
            .map(|plane| {
                vec![
                    plane.revision.clone(),
                    or_dash(&plane.tags.join(",")),
                    or_dash(&plane.namespace),
                    or_dash(&plane.version),
                    plane.pods.to_string(),
                    plane.root_namespace.clone(),
                    or_dash(&plane.modelled),
                ]
            })
            .collect();
        writeln!(out)?;
        let heading = ["CONTROL PLANE", "TAGS", "NAMESPACE", "VERSION", "PODS", "ROOT NAMESPACE", "MODELLED AS"];
        table::write(out, &heading, &rows)?;
    }
    if !versions.proxies.is_empty() {
        let rows: Vec<Vec<String>> = versions
            .proxies
            .iter()
            .map(|one| vec![one.kind.to_owned(), or_dash(&one.version), one.revision.clone(), one.pods.to_string()])
            .collect();
        writeln!(out)?;
        table::write(out, &["PROXIES", "VERSION", "REVISION", "PODS"], &rows)?;
    }
    if !versions.not_affected.is_empty() {
        let rows: Vec<Vec<String>> = versions
            .not_affected
            .iter()
            .map(|one| vec![one.pods.to_string(), one.why.to_owned(), one.example.clone()])
            .collect();
        writeln!(out)?;
        table::write(out, &["PODS", "NO ENVOYFILTER REACHES THEM", "SUCH AS"], &rows)?;
    }
    Ok(())
}

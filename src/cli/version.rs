//! `version`: this program, the API server, control planes, proxies, and pods that EnvoyFilters cannot reach.

use super::options::TableOrJson;
use super::session::{Exit, Session};
use crate::explain::view::API_VERSION;
use crate::mesh::{self, Error, PlaneVersions, Scope, VersionsRequest};
use crate::report::{self, table};
use clap::Args;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Debug, Args)]
pub(super) struct Version {
    /// Only the version of this program; reads no cluster
    #[arg(long)]
    client: bool,
    /// Output format
    #[arg(short, long, default_value = "table")]
    output: TableOrJson,
}

/// The result as data.
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
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<Scope>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ControlPlane {
    revision: String,
    /// Absent if they could not be listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<Vec<String>>,
    namespace: String,
    version: String,
    /// Absent if they could not be listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pods: Option<usize>,
    root_namespace: String,
    /// The modeled release.
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
    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        let client = env!("CARGO_PKG_VERSION");
        let mut versions = Versions {
            api_version: API_VERSION,
            kind: "Versions",
            client,
            kubernetes: String::new(),
            control_planes: Vec::new(),
            proxies: Vec::new(),
            not_affected: Vec::new(),
            problems: Vec::new(),
            scope: None,
        };
        let mut serious = false;
        if !self.client {
            let request = VersionsRequest { settings: session.settings() };
            match mesh::versions(&request, session.progress) {
                Ok(found) => {
                    serious = session.report_problems(&found.loaded, &[])?;
                    if self.output == TableOrJson::Table {
                        session.scope_without_filters(&found.scope)?;
                    }
                    fill(&mut versions, found);
                }
                Err(error) => {
                    writeln!(session.out, "client: {client}")?;
                    return Err(error);
                }
            }
        }
        match self.output {
            TableOrJson::Json => report::json(session.out, &versions)?,
            TableOrJson::Table => text(session.out, &versions)?,
        }
        Ok(if serious { Exit::Partial } else { Exit::Ok })
    }
}

fn fill(versions: &mut Versions, found: mesh::Versions) {
    versions.kubernetes = found.kubernetes;
    versions.problems = found.loaded.problems.iter().map(|problem| problem.message.clone()).collect();
    let planes = found.control_planes.into_iter().map(|PlaneVersions { plane, pods, tags, modelled }| ControlPlane {
        revision: plane.revision,
        tags,
        namespace: plane.namespace,
        version: plane.version,
        pods,
        root_namespace: plane.root_namespace,
        modelled,
    });
    versions.control_planes = planes.collect();
    let proxies = found.proxies.into_iter().map(|one| Proxies {
        kind: one.kind.as_str(),
        version: one.version,
        revision: one.revision,
        pods: one.pods,
    });
    versions.proxies = proxies.collect();
    let without = found.not_affected.into_iter();
    versions.not_affected =
        without.map(|one| NotAffected { why: one.why, pods: one.pods, example: one.example }).collect();
    versions.scope = Some(found.scope);
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
                    plane.tags.as_ref().map_or_else(|| "unknown".to_owned(), |tags| or_dash(&tags.join(","))),
                    or_dash(&plane.namespace),
                    or_dash(&plane.version),
                    plane.pods.map_or_else(|| "unknown".to_owned(), |pods| pods.to_string()),
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
        table::write(out, &["PODS", "WITHOUT ENVOYFILTERS BECAUSE", "EXAMPLE"], &rows)?;
    }
    Ok(())
}

//! `render`: a proxy's config dump as istiod would send it with these EnvoyFilters.

use super::istiod::IstiodOptions;
use super::options::{Envoy, Proxies};
use super::session::{Exit, Session};
use crate::mesh::{self, Asked, Error, RenderRequest};
use crate::report;
use crate::source::Sources;
use clap::{Args, ValueEnum};
use std::io::{self, Write};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct Render {
    /// Pod of the cluster to render for
    #[arg(value_name = "POD")]
    pod: Option<String>,
    /// EnvoyFilters and other objects: files, folders, - for standard input
    #[arg(short, long = "filename", value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    proxies: Proxies,
    #[command(flatten)]
    istiod: IstiodOptions,
    #[command(flatten)]
    envoy: Envoy,
    /// Omit every resource that the EnvoyFilters do not change
    #[arg(long)]
    only: Option<Only>,
    /// Output format
    #[arg(short, long, default_value = "json")]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Only {
    Changed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    Json,
    Yaml,
}

impl Render {
    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        let request = RenderRequest {
            settings: self.istiod.of(session),
            given: self.proxies.given(),
            pod: self.pod.as_deref().map(super::proxy_name),
            files: self.files.clone(),
            only_changed: self.only == Some(Only::Changed),
            envoy: self.envoy.envoy.clone(),
        };
        let mut found = mesh::render(&request, session.progress)?;
        match self.output {
            Output::Json => write(&mut found, session.out)?,
            Output::Yaml => {
                let mut buffer = Vec::new();
                write(&mut found, &mut buffer)?;
                if !buffer.is_empty() {
                    report::yaml::write(session.out, &buffer)?;
                }
            }
        }
        for (kind, name) in &found.removed {
            session.note(&format!("{} {name} is removed", kind.as_str()))?;
        }
        for route in &found.unknown_routes {
            session.note(&report::missing_routes(route))?;
        }
        report::missing_services(session.err, &found.unknown_services, found.scope.lenders)?;
        let texts: Vec<&Sources> =
            std::iter::once(&found.loaded.sources).chain(found.new.as_ref().map(|new| &new.sources)).collect();
        session.remarks(&found.remarks, &texts)?;
        session.notes(&found.notes)?;
        let mut serious = session.report_problems(&found.loaded, &found.problems)?;
        if let Some(new) = &found.new {
            serious |= session.report_problems(new, &[])?;
        }
        session.scope(&found.scope)?;
        if found.several {
            return Err(mesh::Refusal::SeveralDumps.into());
        }
        Ok(match found.asked {
            _ if serious => Exit::Partial,
            Asked::Taken => Exit::Ok,
            Asked::Refused => Exit::Findings,
            Asked::NoAnswer => Exit::Partial,
        })
    }
}

/// Writes the dump, or its changes; what cannot be added to the dump becomes a problem.
fn write(report: &mut mesh::RenderReport, out: &mut dyn Write) -> io::Result<()> {
    if let Some(text) = &report.changed {
        return out.write_all(text);
    }
    let Some(dump) = &report.dump else { return Ok(()) };
    let rewritten = dump.rewrite(&report.edits);
    let mut out = out;
    rewritten.write_to(&mut out)?;
    report.problems.extend(rewritten.problems);
    Ok(())
}

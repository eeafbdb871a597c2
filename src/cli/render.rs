//! `render`: a config dump as istiod would send it.

use super::envoy::{self, Asked, Envoy, Written};
use super::input::{self, Proxies, Work};
use super::{Exit, Session};
use crate::cluster::kinds;
use crate::cluster::targets::Target;
use crate::engine::unapply::Texts;
use crate::engine::{self, Options, Program};
use crate::lint;
use crate::load::dump::Edit;
use crate::model::resource::{ProxyConfig, Resource, ResourceState};
use crate::report;
use clap::{Args, ValueEnum};
use std::io::{self, Write};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct Render {
    /// Pod of the cluster to render for
    #[arg(value_name = "POD")]
    pod: Option<String>,
    /// EnvoyFilters and other objects: files, folders, - for the standard input
    #[arg(short, long = "filename", value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    proxies: Proxies,
    #[command(flatten)]
    envoy: Envoy,
    /// Leave out every resource that the filters do not touch
    #[arg(long)]
    only: Option<Only>,
    /// Form of the output
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
    pub(super) fn run(&mut self, session: &mut Session<'_>) -> io::Result<Exit> {
        self.proxies.written_again = true;
        if let Err(exit) = self.proxies.one_standard_input(session, &[&self.files])? {
            return Ok(exit);
        }
        let work = if self.proxies.given() {
            if self.files.is_empty() && !self.proxies.demo {
                return session.usage("there are no filters", Some("give the EnvoyFilters with -f FILE"));
            }
            Work::of_files(session, input::objects(session, &self.files, self.proxies.demo))
        } else if let Some(pod) = &self.pod {
            let namespace = pod.split_once('/').map(|(namespace, _)| namespace);
            let opened = match Work::open(session, &kinds::RENDER, namespace)? {
                Ok(work) => work,
                Err(exit) => return Ok(exit),
            };
            if !opened.targets().iter().any(|target| self.wants(target)) {
                input::tell(session, &opened.loaded, &[])?;
                let known: Vec<String> = opened.targets().iter().map(Target::full_name).collect();
                let help = input::there_is(pod, &known);
                return session.usage(&format!("there is no pod {pod} with a proxy"), help.as_deref());
            }
            opened
        } else {
            return session.usage(
                "there is no dump to render",
                Some("give the proxy's config dump with --dump, or name a pod of the cluster"),
            );
        };
        let trial = match self.envoy.start(session)? {
            Ok(trial) => trial,
            Err(exit) => return Ok(exit),
        };
        let mut asked = Asked::Taken;
        let loaded = &work.loaded;
        let plane = &work.planes[0];
        let (mesh, release) = (&plane.mesh, plane.release);
        // Of a cluster, the filters that are applied now are in the dump already; those of the files take their place.
        let now = &loaded.inventory.envoy_filters;
        let new = if work.is_live() && !self.files.is_empty() {
            Some(input::objects(session, &self.files, false))
        } else {
            None
        };
        let filters =
            new.as_ref().map_or_else(|| now.clone(), |new| input::replaced(now, &new.inventory.envoy_filters));
        let (old, program) = (Program::new(now, release), Program::new(&filters, release));
        let mut problems = Vec::new();
        let mut found = Vec::new();
        let mut rendered = 0;
        let wanted = |target: &Target| self.wants(target);
        self.proxies.visit(session, &work, &wanted, &mut problems, &mut |session, offer| {
            rendered += 1;
            if rendered > 1 {
                return Ok(());
            }
            let plan = program.plan(&offer.config.proxy, mesh);
            let options = Options::default();
            let stripped = if work.is_live() {
                engine::unapply(&old.plan(&offer.config.proxy, mesh), &offer.config, &options).kept_texts()
            } else {
                Texts::new()
            };
            let config = generated(&offer.config, &stripped);
            let patched = engine::run(&plan, &config, &options, &mut ());
            let names = offer.config.field_names;
            let mut buffer = Vec::new();
            let mut direct = self.output == Output::Json;
            let out: &mut dyn Write = if direct { session.out } else { &mut buffer };
            if self.only == Some(Only::Changed) {
                report::dump::changed(out, plan.schema, &config, &patched)?;
            } else {
                let mut edits = undone(&stripped);
                edits.extend(report::dump::edits(plan.schema, names, &patched));
                let rewritten = offer.dump.rewrite(&edits);
                let mut out = out;
                rewritten.write_to(&mut out)?;
                found.extend(rewritten.problems);
            }
            if !std::mem::replace(&mut direct, true) {
                report::yaml::write(session.out, &buffer)?;
            }
            for gone in patched.resources.iter().filter(|one| one.tree.is_none()) {
                writeln!(session.err, "note: {} {} is removed", gone.kind.word(), gone.name)?;
            }
            for route in &patched.unknown_routes {
                writeln!(
                    session.err,
                    "note: a listener now asks for route {route}, which istiod would generate and this dump does not hold"
                )?;
            }
            if let Some(trial) = &trial {
                let mut of: Vec<_> = vec![(now.as_slice(), &loaded.sources)];
                of.extend(new.as_ref().map(|new| (new.inventory.envoy_filters.as_slice(), &new.sources)));
                asked = envoy::ask(session, trial, (&plan, &config), &options, &Written { of })?;
                if session.global.verbose {
                    writeln!(session.err, "note: {}", lint::tried::story(trial))?;
                }
            }
            Ok(())
        })?;
        problems.append(&mut found);
        let mut serious = input::tell(session, loaded, &problems)?;
        if let Some(new) = &new {
            serious |= input::tell(session, new, &[])?;
        }
        if rendered > 1 && !work.is_live() {
            return session.usage("render takes one dump; only the first was rendered", None);
        }
        Ok(match asked {
            _ if serious => Exit::Partial,
            Asked::Taken => Exit::Ok,
            Asked::Refused => Exit::Findings,
            Asked::NoAnswer => Exit::Partial,
        })
    }
}

impl Render {
    fn wants(&self, target: &Target) -> bool {
        let Some(pod) = &self.pod else { return false };
        let (namespace, name) =
            pod.split_once('/').map_or((None, pod.as_str()), |(namespace, name)| (Some(namespace), name));
        namespace.is_none_or(|namespace| namespace == target.namespace)
            && (target.pod == name || target.workload == name)
    }
}

/// The configuration as istiod generated it, every resource at its place: one that a filter added is left to itself.
fn generated<'a>(config: &ProxyConfig<'a>, stripped: &'a Texts) -> ProxyConfig<'a> {
    let resources = config.resources.iter().enumerate().map(|(index, resource)| match stripped.get(&index) {
        None => resource.clone(),
        Some(None) => Resource { state: ResourceState::Static, ..resource.clone() },
        Some(Some(json)) => Resource { json, ..resource.clone() },
    });
    ProxyConfig { resources: resources.collect(), ..config.clone() }
}

/// Takes out of the dump what was taken out of the configuration; later edits of the same resource win.
fn undone(stripped: &Texts) -> Vec<Edit<'_>> {
    let edits = stripped.iter().map(|(&resource, text)| match text {
        Some(json) => Edit::Replace { resource, json: json.as_str().into() },
        None => Edit::Remove { resource },
    });
    edits.collect()
}

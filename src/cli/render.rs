//! `render`: a config dump as istiod would send it.

use super::input::{self, Proxies};
use super::{Exit, Session};
use crate::engine::{self, Options, Program};
use crate::report;
use clap::{Args, ValueEnum};
use std::io::{self, Write};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct Render {
    /// EnvoyFilters and other objects: files, folders, - for the standard input
    #[arg(short, long = "filename", value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    proxies: Proxies,
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
    pub(super) fn run(&self, session: &mut Session<'_>) -> io::Result<Exit> {
        if !self.proxies.given() {
            return session.usage("there is no dump to render", Some("give the proxy's config dump with --dump"));
        }
        if self.files.is_empty() && !self.proxies.demo {
            return session.usage("there are no filters", Some("give the EnvoyFilters with -f FILE"));
        }
        let loaded = input::objects(session, &self.files, self.proxies.demo);
        let mesh = session.mesh(&loaded.inventory);
        let program = Program::new(&loaded.inventory.envoy_filters, session.release());
        let mut problems = Vec::new();
        let mut found = Vec::new();
        let mut rendered = 0;
        self.proxies.visit(session, &mut problems, &mut |session, offer| {
            rendered += 1;
            if rendered > 1 {
                return Ok(());
            }
            let plan = program.plan(&offer.config.proxy, &mesh);
            let options = Options::default();
            let patched = engine::run(&plan, &offer.config, &options, &mut ());
            let names = offer.config.field_names;
            let mut buffer = Vec::new();
            let mut direct = self.output == Output::Json;
            let out: &mut dyn Write = if direct { session.out } else { &mut buffer };
            if self.only == Some(Only::Changed) {
                report::dump::changed(out, plan.schema, &offer.config, &patched)?;
            } else {
                let edits = report::dump::edits(plan.schema, names, &patched);
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
            Ok(())
        })?;
        problems.append(&mut found);
        let serious = input::tell(session, &loaded, &problems)?;
        if rendered > 1 {
            return session.usage("render takes one dump; only the first was rendered", None);
        }
        Ok(if serious { Exit::Partial } else { Exit::Ok })
    }
}

//! `api`: `explain` for the Envoy API.

use super::options::TextOrJson;
use super::session::{Exit, Session};
use crate::envoy::api;
use crate::mesh::Error;
use crate::report;
use clap::Args;

#[derive(Debug, Args)]
pub(super) struct Api {
    /// A field, message, enum or extension: its full name, the end of it (Lua.inline_code), or an extension's name
    name: String,
    /// Text for people, or JSON (schemas/api.json)
    #[arg(short, long, default_value = "text")]
    output: TextOrJson,
}

impl Api {
    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        if self.name.trim().is_empty() {
            return session.usage("no name to look up", Some("give one, such as Lua.inline_code"));
        }
        let search = api::find(&self.name);
        let entries: Vec<_> = search.found.iter().map(api::entry).collect();
        if self.output == TextOrJson::Json {
            report::api::json(session.out, &self.name, &search.notes, &search.nearest, &entries)?;
            return Ok(if entries.is_empty() { Exit::Usage } else { Exit::Ok });
        }
        if entries.is_empty() {
            let message = format!("nothing in Envoy 1.{} to 1.{} is named {}", api::KNOWN.0, api::KNOWN.1, self.name);
            let mut help = search.notes.join("; ");
            if !search.nearest.is_empty() {
                let names = format!("similar names: {}", search.nearest.join(", "));
                help = if help.is_empty() { names } else { format!("{help}; {names}") };
            }
            return session.usage(&message, Some(help.as_str()).filter(|help| !help.is_empty()));
        }
        let verbose = session.verbose();
        report::api::text(session.out, session.around.out, verbose, &search.notes, &entries)?;
        Ok(Exit::Ok)
    }
}

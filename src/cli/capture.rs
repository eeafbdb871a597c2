//! `capture`: everything a run reads, in a folder or one archive, without secrets.

use super::input::{self, Feed, Work};
use super::{Exit, Session};
use crate::cluster::kinds;
use crate::cluster::targets::Target;
use crate::explain::view::API_VERSION;
use crate::load::capture::Pack;
use crate::load::{yaml, yaml_text};
use crate::model::redact::Redactor;
use crate::report::style::count;
use crate::source::{FileId, Problem, Severity};
use clap::Args;
use serde_json::{Value, json};
use std::io;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct Capture {
    /// Where to: a new folder, or a file that ends in .tar.zst or .tar.gz
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Redact what this regular expression finds as well; may be given several times
    #[arg(long, value_name = "REGEX")]
    redact: Vec<String>,
}

impl Capture {
    pub(super) fn run(&self, session: &mut Session<'_>) -> io::Result<Exit> {
        let redactor = match Redactor::new(&self.redact) {
            Ok(redactor) => redactor,
            Err(message) => return session.usage(&format!("--redact: {message}"), None),
        };
        let work = match Work::of_cluster(session, &kinds::CAPTURE, None)? {
            Ok(work) => work,
            Err(exit) => return Ok(exit),
        };
        let mut pack = match Pack::create(&self.path) {
            Ok(pack) => pack,
            Err(error) => {
                let help = "name a folder or file that does not exist yet";
                return session.usage(&format!("cannot create {}: {error}", self.path.display()), Some(help));
            }
        };
        let mut problems = Vec::new();
        match fill(&mut pack, &work, &redactor, &mut problems) {
            Ok((objects, dumps, redacted)) => {
                pack.finish()?;
                let serious = input::tell(session, &work.loaded, &problems)?;
                writeln!(
                    session.out,
                    "{}: {}, {}, {} redacted",
                    self.path.display(),
                    count(objects, "object", "objects"),
                    count(dumps, "config dump", "config dumps"),
                    count(redacted, "secret", "secrets"),
                )?;
                Ok(if serious { Exit::Partial } else { Exit::Ok })
            }
            Err(error) => session.usage(&format!("cannot write {}: {error}", self.path.display()), None),
        }
    }
}

/// Writes objects, then dumps as they come, then what they are; how many of each, and of secrets.
fn fill(
    pack: &mut Pack,
    work: &Work,
    redactor: &Redactor,
    problems: &mut Vec<Problem>,
) -> io::Result<(usize, usize, usize)> {
    let Feed::Live(live, targets) = &work.feed else { return Ok((0, 0, 0)) };
    let (mut objects, mut redacted) = (0, 0);
    let prefix = format!("cluster://{}/", live.cluster().context);
    for (_, source) in work.loaded.sources.iter() {
        // Texts inside objects have names with a colon.
        let Some(name) = source.name.strip_prefix(&prefix).filter(|name| !name.contains(": ")) else { continue };
        let (documents, _) = yaml::documents(FileId(0), &source.text);
        for document in documents {
            let mut object = document.to_json();
            redacted += redactor.redact(&mut object);
            let text = yaml_text::write(&object).map_err(io::Error::other)?;
            let mut parts: Vec<&str> = vec!["resources"];
            parts.extend(name.split('/'));
            let file = format!("{}.yaml", parts.pop().unwrap_or_default());
            parts.push(&file);
            pack.add(&parts, text.as_bytes())?;
            objects += 1;
        }
    }
    let mut dumps = 0;
    let wanted: Vec<Target> = targets.clone();
    live.each(wanted, problems, &mut |problems, dump, target, _| {
        let mut text = Vec::new();
        dump.rewrite(&[]).write_to(&mut text)?;
        let mut value: Value = match serde_json::from_slice(&text) {
            Ok(value) => value,
            Err(error) => {
                let message = format!("the dump of {} is not captured: {error}", target.full_name());
                problems.push(Problem { code: "no-dump", severity: Severity::Error, span: None, message, help: None });
                return Ok(());
            }
        };
        redacted += redactor.redact(&mut value);
        dumps += 1;
        pack.add(&["dumps", &target.namespace, &format!("{}.json", target.pod)], value.to_string().as_bytes())
    })?;
    let facts = &work.facts;
    let planes = facts.planes.iter().map(|plane| {
        json!({"revision": plane.revision, "namespace": plane.namespace, "version": plane.version, "rootNamespace": plane.root_namespace})
    });
    let trouble: Vec<&str> =
        work.loaded.problems.iter().chain(problems.iter()).map(|problem| problem.message.as_str()).collect();
    let mut description = json!({
        "apiVersion": API_VERSION,
        "kind": "Capture",
        "tool": env!("CARGO_PKG_VERSION"),
        "context": live.cluster().context,
        "kubernetes": facts.kubernetes,
        "controlPlanes": planes.collect::<Vec<_>>(),
        "tags": facts.tags,
        "objects": objects,
        "dumps": dumps,
        "redacted": redacted,
        "problems": trouble,
    });
    redactor.redact(&mut description);
    pack.add(&["capture.json"], format!("{description:#}\n").as_bytes())?;
    Ok((objects, dumps, redacted))
}

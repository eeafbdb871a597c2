//! `diff`: what changes to EnvoyFilters change on each proxy.

use super::istiod::IstiodOptions;
use super::options::{Envoy, Proxies};
use super::session::{Exit, Session};
use crate::mesh::{self, Asked, BetweenRequest, DiffReport, DiffRequest, Error, ProxyDiff};
use crate::report;
use crate::report::style::{Role, count};
use crate::report::unified::{self, Size};
use clap::{Args, ValueEnum};
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct Diff {
    /// EnvoyFilters after the change: new ones, and changed ones under their names; with --istiod, any object of Istio or
    /// Kubernetes
    #[arg(short, long = "filename", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// EnvoyFilters as they are now, all that are applied [default: the cluster's; with --dump, none]; with --istiod, the
    /// manifests of the mesh
    #[arg(long, value_name = "FILE")]
    current: Vec<PathBuf>,
    /// An EnvoyFilter of --current to delete; with --istiod, also KIND/NAMESPACE/NAME
    #[arg(long, value_name = "NAMESPACE/NAME")]
    delete: Vec<String>,
    /// Compare the EnvoyFilters of two meshes and what they do there: two contexts, captures, or one of each
    #[arg(
        long,
        value_names = ["A", "B"],
        num_args = 2,
        conflicts_with_all = ["files", "current", "delete", "server_side", "dump", "demo"]
    )]
    between: Option<Vec<String>>,
    /// Also ask the cluster's API server, its policies and its webhooks (a dry run: nothing is stored)
    #[arg(long)]
    server_side: bool,
    #[command(flatten)]
    proxies: Proxies,
    #[command(flatten)]
    istiod: IstiodOptions,
    #[command(flatten)]
    envoy: Envoy,
    /// Exit with 0 when something changes: only what could not be judged is a failure
    #[arg(long)]
    accept_changes: bool,
    /// Output format: text, json, or markdown for a comment on a change
    #[arg(short, long, default_value = "text", value_name = "FORM", hide_possible_values = true)]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    Text,
    Json,
    Markdown,
}

/// What differs on all proxies.
#[derive(Default)]
struct Total {
    resources: usize,
    size: Size,
}

impl Diff {
    /// Any trouble exits with 2, as in kubectl: 1 means that something changes.
    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        if let Some([first, second]) = self.between.as_deref() {
            return self.between(session, [first, second]);
        }
        let request = DiffRequest {
            settings: self.istiod.of(session),
            given: self.proxies.given(),
            files: self.files.clone(),
            current: self.current.clone(),
            delete: self.delete.clone(),
            server_side: self.server_side,
            envoy: self.envoy.envoy.clone(),
        };
        let found = match mesh::diff(&request, session.progress) {
            Ok(found) => found,
            Err(Error::Output(error)) => return Err(Error::Output(error)),
            Err(error) => {
                session.fail(&error)?;
                return Ok(Exit::Usage);
            }
        };
        let mut total = Total::default();
        match self.output {
            Output::Text => {
                for proxy in &found.proxies {
                    write(session, proxy, &mut total)?;
                }
                for line in report::changes::outcomes(&found, session.verbose()) {
                    writeln!(session.out, "{line}")?;
                }
                summary(session, &found, &total)?;
            }
            Output::Json => report::json(session.out, &report::changes::Diff::of(&found))?,
            Output::Markdown => report::changes::markdown(session.out, &found, session.global.verbose)?,
        }
        report::missing_services(session.err, &found.unknown_services, found.scope.lenders)?;
        session.remarks(&found.remarks, &[&found.current.sources, &found.new.sources])?;
        let trouble =
            [session.report_problems(&found.current, &[])?, session.report_problems(&found.new, &found.problems)?];
        session.scope(&found.scope)?;
        // Nothing differs if no EnvoyFilter does; otherwise some proxy must have been judged.
        let judged = report::changes::is_judged(&found);
        let complete = (!found.whole || found.scope.is_complete()) && found.unknown_services.is_empty();
        let same = found.proxies.is_empty() && !report::changes::more_than_resources(&found);
        Ok(match (trouble.contains(&true) || !judged || !complete || found.asked != Asked::Taken, same) {
            (true, _) => Exit::Usage,
            (false, true) => Exit::Ok,
            (false, _) if self.accept_changes => Exit::Ok,
            (false, _) => Exit::Changes,
        })
    }
}

impl Diff {
    /// Compares two meshes.
    fn between(&self, session: &mut Session<'_>, names: [&str; 2]) -> Result<Exit, Error> {
        if self.output == Output::Markdown {
            return session.usage("--between writes text or json", None);
        }
        if session.global.cluster.capture.is_some() || !session.global.cluster.context.is_empty() {
            return session.usage("--between names both meshes; omit --context and --capture", None);
        }
        let [first, second] = names.map(|name| {
            let mut settings = session.settings();
            // A path is a capture, anything else a context.
            if Path::new(name).exists() {
                settings.cluster.capture = Some(PathBuf::from(name));
            } else {
                settings.cluster.choose(name);
            }
            settings
        });
        let found = match mesh::between(&BetweenRequest { first, second }, session.progress) {
            Ok(found) => found,
            Err(Error::Output(error)) => return Err(Error::Output(error)),
            Err(error) => {
                session.fail(&error)?;
                return Ok(Exit::Usage);
            }
        };
        match self.output {
            Output::Json => report::between::json(session.out, &found, names)?,
            _ => report::between::text(session.out, &found, names)?,
        }
        let mut trouble = false;
        for (name, survey) in names.iter().zip([&found.first, &found.second]) {
            trouble |= session.report_problems(&survey.loaded, &survey.problems)?;
            let sentence = report::scope::sentence(&survey.scope);
            writeln!(session.err, "{}: {name}: {sentence}", session.around.err.paint(Role::Dim, "scope"))?;
        }
        let same = found.filters.is_empty() && found.effects.is_empty();
        Ok(match (trouble || !found.is_complete(), same) {
            (true, _) => Exit::Usage,
            (false, true) => Exit::Ok,
            (false, false) if self.accept_changes => Exit::Ok,
            (false, false) => Exit::Changes,
        })
    }
}

fn write(session: &mut Session<'_>, proxy: &ProxyDiff, total: &mut Total) -> io::Result<()> {
    let title = format!("{} {}", proxy.kind, proxy.name);
    let number = proxy.resources.len();
    let title = format!("{title}: {}", count(number, "resource changes", "resources change"));
    writeln!(session.out, "{}", session.around.out.paint(Role::Strong, title))?;
    let limit = if session.verbose() { usize::MAX } else { unified::MAX_LINES };
    for changed in &proxy.resources {
        total.resources += 1;
        let path = format!("{}/{} {}", proxy.name, changed.kind.as_str(), changed.name);
        let (from, to) = match (changed.before.is_empty(), changed.after.is_empty()) {
            (true, _) => ("/dev/null".to_owned(), path),
            (_, true) => (path, "/dev/null".to_owned()),
            _ => (path.clone(), path),
        };
        let texts = (changed.before.as_str(), changed.after.as_str());
        let size = unified::diff(session.out, session.around.out, (&from, &to), texts, limit)?;
        total.size.added += size.added;
        total.size.removed += size.removed;
    }
    Ok(())
}

fn summary(session: &mut Session<'_>, found: &DiffReport, total: &Total) -> io::Result<()> {
    if total.resources == 0 {
        return writeln!(session.out, "{}", report::changes::unchanged(found));
    }
    let proxies = count(found.scope.proxies.read, "proxy", "proxies");
    let (terminal, size) = (session.around.out, total.size);
    writeln!(
        session.out,
        "\n{} of {proxies} changed: {}, {} {} lines{}",
        found.proxies.len(),
        count(total.resources, "resource", "resources"),
        terminal.paint(Role::Good, format!("+{}", size.added)),
        terminal.paint(Role::Bad, format!("-{}", size.removed)),
        report::changes::unread(found),
    )
}

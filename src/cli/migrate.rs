//! `migrate`: native objects that replace EnvoyFilters, and what then differs.

use super::istiod::IstiodOptions;
use super::options::{GET_ENVOY, NO_ENVOY};
use super::session::{Exit, Session};
use crate::load::capture::{Capture, is_capture};
use crate::load::dump::{Dump, Identity, Layout};
use crate::load::limits::Limits;
use crate::load::{dumps, migration};
use crate::mesh::{self, Error, MigrateRequest, Prove, Settings};
use crate::migrate::Accept;
use crate::migrate::verdict::Class;
use crate::migrate::verify::{self, Side};
use crate::model::redact::Keeper;
use crate::model::release::Release;
use crate::report::migrate as forms;
use crate::source::{Code, Problem, Severity, Sources};
use crate::source::{ErrorMessage, escape::one_line};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Migrate {
    #[command(subcommand)]
    verify: Option<Step>,
    /// EnvoyFilters and related objects (Services, Gateways, VirtualServices, DestinationRules, policies): files, folders,
    /// - for standard input [default: the cluster's]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Same as FILE
    #[arg(short = 'f', long = "filename", value_name = "FILE")]
    named: Vec<PathBuf>,
    /// Use only APIs of this release, such as 1.28; or `ambient` to show what can move to a waypoint or ztunnel, and what
    /// blocks the move [default: the release of the control plane]
    #[arg(long, value_name = "RELEASE")]
    to: Option<To>,
    /// Weakest class to write
    #[arg(long, value_name = "CLASS", default_value = "same-but")]
    accept: AcceptWord,
    /// How to determine classes: from recordings of istiod, by running an istiod on these files (--istiod), or by also sending
    /// requests through a real Envoy (--envoy)
    #[arg(long, value_name = "HOW", default_value = "recorded")]
    prove: ProveWord,
    /// Envoy binary for --prove traffic [default: `envoy` on the PATH]
    #[arg(long, value_name = "PATH")]
    envoy: Option<PathBuf>,
    #[command(flatten)]
    istiod: IstiodOptions,
    /// Output format
    #[arg(short, long, default_value = "human")]
    output: Output,
    /// Write the objects to files in this folder
    #[arg(long, value_name = "DIRECTORY")]
    output_dir: Option<PathBuf>,
}

/// The target of the migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum To {
    Release(Release),
    Ambient,
}

impl std::str::FromStr for To {
    type Err = ErrorMessage;

    fn from_str(text: &str) -> Result<To, ErrorMessage> {
        if text == "ambient" {
            return Ok(To::Ambient);
        }
        let release = text.parse::<Release>().map_err(|error| format!("{error}; or write `ambient`"))?;
        Ok(To::Release(release))
    }
}

#[derive(Debug, Subcommand)]
enum Step {
    /// Compare the config dumps of proxies before and after a migration
    #[command(after_help = super::examples::MIGRATE_VERIFY)]
    Verify(Verify),
}

#[derive(Debug, Args)]
struct Verify {
    /// Config dumps from before: files, folders of files, or captures
    #[arg(long, value_name = "DUMP", required = true)]
    before: Vec<PathBuf>,
    /// Config dumps from after
    #[arg(long, value_name = "DUMP", required = true)]
    after: Vec<PathBuf>,
    /// Cluster whose name changes, as OLD=NEW
    #[arg(long, value_name = "OLD=NEW", value_parser = pair)]
    renamed: Vec<(String, String)>,
}

fn pair(text: &str) -> Result<(String, String), ErrorMessage> {
    let (old, new) = text.split_once('=').ok_or("write OLD=NEW")?;
    Ok((old.to_owned(), new.to_owned()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AcceptWord {
    /// Only moves with identical configuration
    Exact,
    /// Also moves that differ in names, order and metadata
    SameBut,
    /// Also moves that differ in behavior
    Differs,
    /// Also moves of authentication, authorization and TLS, once you have reviewed them
    Reviewed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ProveWord {
    /// Recordings of istiod for each pattern
    Recorded,
    /// A real istiod on this machine, with your own objects
    Istiod,
    /// As istiod, and requests through a real Envoy with both configurations
    Traffic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people
    Human,
    /// Objects ready for kubectl apply
    Yaml,
    /// Unified diffs
    Diff,
    /// schemas/migrate.json
    Json,
    /// For a pull request
    Markdown,
    /// One page
    Html,
}

impl Migrate {
    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        if let Some(Step::Verify(verify)) = &self.verify {
            return verify.run(session);
        }
        if self.prove == ProveWord::Traffic && self.envoy.is_none() && crate::process::find("envoy").is_none() {
            return session.usage(NO_ENVOY, Some(GET_ENVOY));
        }
        let files: Vec<PathBuf> = self.files.iter().chain(&self.named).cloned().collect();
        let request = MigrateRequest {
            settings: Settings {
                // Without a name, the one on the PATH.
                istiod: (self.prove != ProveWord::Recorded).then(|| self.istiod.required()),
                ..session.settings()
            },
            files,
            to: match self.to {
                Some(To::Release(release)) => Some(release),
                _ => None,
            },
            ambient: self.to == Some(To::Ambient),
            envoy: self.envoy.clone().or_else(|| crate::process::find("envoy")),
            accept: match self.accept {
                AcceptWord::Exact => Accept::Exact,
                AcceptWord::SameBut => Accept::SameBut,
                AcceptWord::Differs => Accept::Differs,
                AcceptWord::Reviewed => Accept::Reviewed,
            },
            prove: match self.prove {
                ProveWord::Recorded => Prove::Recorded,
                ProveWord::Istiod => Prove::Istiod,
                ProveWord::Traffic => Prove::Traffic,
            },
        };
        let found = mesh::migrate(&request, session.progress)?;
        let report = &found.report;
        let trouble = session.report_problems(&found.loaded, &[])?;
        if let Some(folder) = &self.output_dir {
            let mut texts = Vec::new();
            for (number, document) in forms::documents(report).iter().enumerate() {
                texts.push((format!("{:02}-{}.yaml", number + 1, document.file), document.text()?));
            }
            if let Err(error) = migration::write(folder, &texts) {
                return session.usage(&format!("{}: {error}", folder.display()), None);
            }
        }
        let verbose = session.verbose();
        match self.output {
            Output::Human => {
                let folder =
                    self.output_dir.as_deref().map(|folder| one_line(&folder.display().to_string()).into_owned());
                forms::human(session.out, session.around.out, report, verbose, folder.as_deref())?;
            }
            Output::Yaml => {
                let mut text = Vec::new();
                forms::yaml(&mut text, report)?;
                session.warn_of_redacted(&text)?;
                session.out.write_all(&text)?;
            }
            Output::Diff => forms::diff(session.out, report, &found.loaded.inventory.envoy_filters)?,
            Output::Json => forms::json(session.out, report)?,
            Output::Markdown => forms::markdown(session.out, report)?,
            Output::Html => forms::html(session.out, report)?,
        }
        session.scope(&found.scope)?;
        Ok(if trouble { Exit::Partial } else { Exit::Ok })
    }
}

impl Verify {
    fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        let mut problems = Vec::new();
        let limits = session.settings().limits;
        let before = read(&self.before, limits, &session.global.secrets, &mut problems);
        let after = read(&self.after, limits, &session.global.secrets, &mut problems);
        let trouble = session.problems(&Sources::default(), &problems)?;
        let renamed = self.renamed.iter().cloned().collect();
        let found = verify::verify(&before, &after, &renamed);
        forms::verified(session.out, session.around.out, &found)?;
        Ok(match found.class() {
            _ if trouble || !found.unpaired.is_empty() => Exit::Partial,
            None => Exit::Partial,
            Some(Class::Exact | Class::SameBut) => Exit::Ok,
            Some(_) => Exit::Changes,
        })
    }
}

/// The proxies of dumps and captures, by workload.
fn read(paths: &[PathBuf], limits: Limits, secrets: &Keeper, problems: &mut Vec<Problem>) -> Side {
    let mut side = Side::default();
    let mut take = |dump: Option<Dump>, found: Vec<Problem>, problems: &mut Vec<Problem>| {
        problems.extend(found);
        match dump.as_ref().map(|dump| dump.config(&Identity::default())) {
            Some(Ok(config)) => side.add(verify::name(&config), verify::resources(&config)),
            Some(Err(problem)) => problems.push(problem),
            None => {}
        }
    };
    let (captures, dumps): (Vec<PathBuf>, Vec<PathBuf>) = paths.iter().cloned().partition(|path| is_capture(path));
    for path in captures {
        let (capture, loaded) = Capture::open(&path, limits, secrets, false);
        let Some(capture) = capture else {
            problems.extend(loaded.problems);
            continue;
        };
        let mut of_proxies = capture.dumps.clone();
        for pod in capture.of_istiod() {
            of_proxies.remove(pod);
            let message = format!("{pod} is not compared: the capture has what istiod sends, not what the proxy runs");
            problems.push(Problem { code: Code::NoDump, severity: Severity::Error, span: None, message, help: None });
        }
        let read = capture.each(&of_proxies, &mut |_, dump, found| {
            take(dump, found, problems);
            Ok(())
        });
        if let Err(error) = read {
            let message = format!("cannot read {}: {error}", path.display());
            problems.push(Problem {
                code: Code::CannotRead,
                severity: Severity::Error,
                span: None,
                message,
                help: None,
            });
        }
    }
    let (paths, mut unread) = dumps::list(&dumps);
    problems.append(&mut unread);
    for path in paths {
        let (dump, found) = dumps::read(&path, Layout::Dropped, limits);
        take(dump, found, problems);
    }
    side
}

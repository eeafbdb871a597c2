//! `explain`: what EnvoyFilters do to a proxy, patch by patch.

use super::examples;
use super::istiod::IstiodOptions;
use super::options::{Proxies, TextOrJson};
use super::session::{Exit, Session};
use crate::explain::view::Live;
use crate::load::kept;
use crate::mesh::{self, Answer, Error, ExplainRequest, WhyHere};
use crate::model::owner::WorkloadKind;
use crate::report;
use crate::source::ErrorMessage;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct Explain {
    #[command(subcommand)]
    subject: Subject,
}

#[derive(Debug, Subcommand)]
enum Subject {
    /// A pod, by its name or its workload's
    #[command(visible_alias = "po")]
    #[command(after_help = examples::POD)]
    Pod(Named),
    /// The pods of a deployment
    #[command(visible_alias = "deploy")]
    #[command(after_help = examples::DEPLOYMENT)]
    Deployment(Named),
    /// The pods behind a service
    #[command(visible_alias = "svc")]
    #[command(after_help = examples::SERVICE)]
    Service(Named),
    /// A gateway or waypoint
    #[command(visible_alias = "gw")]
    #[command(after_help = examples::GATEWAY)]
    Gateway(Named),
    /// The pods of a workload of any kind
    #[command(after_help = examples::WORKLOAD)]
    Workload(Workload),
    /// One EnvoyFilter, on every proxy given or every proxy that it reaches
    #[command(alias = "envoyfilter")]
    #[command(after_help = examples::FILTER)]
    Filter(Named),
    /// Who wrote a field, such as cluster/NAME/connect_timeout or listener/virtualInbound/filter_chains[0]/filters[0]
    #[command(
        after_help = examples::FIELD,
        mut_arg("name", |name| name.value_name("RESOURCE/NAME[/FIELD]").help(FIELD_HELP)),
        mut_arg("output", |form| form.help("Text for people, or JSON (schemas/field-explanation.json)"))
    )]
    Field(Field),
    /// A lint rule, by its code or name
    #[command(after_help = examples::RULES)]
    Rule(super::rules::Rules),
}

/// What `explain field` is asked.
const FIELD_HELP: &str = "A resource (listener, cluster, route or extension) by its name, and a field in it; with the resource \
                          alone, everything that EnvoyFilters wrote there";

#[derive(Debug, Args)]
struct Named {
    /// Its name, with or without namespace/
    name: String,
    /// EnvoyFilters and other objects: files, folders, - for standard input
    #[arg(short, long = "filename", value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    proxies: Proxies,
    #[command(flatten)]
    istiod: IstiodOptions,
    /// Text for people, or JSON (schemas/explanation.json)
    #[arg(short, long, default_value = "text")]
    output: TextOrJson,
}

#[derive(Debug, Args)]
struct Workload {
    #[command(flatten)]
    named: Named,
    /// Its kind, such as StatefulSet; sts/NAME is short for it [default: any]
    #[arg(long, value_parser = kind)]
    kind: Option<WorkloadKind>,
}

fn kind(word: &str) -> Result<WorkloadKind, ErrorMessage> {
    WorkloadKind::of_word(word).ok_or_else(|| format!("`{word}` is not a kind of workload").into())
}

#[derive(Debug, Args)]
struct Field {
    #[command(flatten)]
    named: Named,
    /// Also find the objects of the mesh that make istiod generate it, by removing objects until it changes (requires --istiod)
    #[arg(long, help_heading = "istiod")]
    why_here: bool,
    /// Find the objects anew, without the names kept from earlier answers in the user's cache folder, and keep none
    #[arg(long, requires = "why_here", help_heading = "istiod")]
    no_cache: bool,
}

impl Field {
    fn why_here(&self) -> Option<WhyHere> {
        let cache = if self.no_cache { None } else { kept::folder() };
        self.why_here.then_some(WhyHere { cache })
    }
}

impl Explain {
    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        let (subject, named) = match &self.subject {
            Subject::Rule(rule) => return rule.run(session),
            Subject::Pod(named) => (mesh::Subject::Pod, named),
            Subject::Deployment(named) => (mesh::Subject::Workload(Some(WorkloadKind::Deployment)), named),
            Subject::Service(named) => (mesh::Subject::Service, named),
            Subject::Gateway(named) => (mesh::Subject::Gateway, named),
            Subject::Workload(workload) => (mesh::Subject::Workload(workload.kind), &workload.named),
            Subject::Filter(named) => (mesh::Subject::Filter, named),
            Subject::Field(field) => (mesh::Subject::Field, &field.named),
        };
        let request = ExplainRequest {
            settings: named.istiod.of(session),
            given: named.proxies.given(),
            files: named.files.clone(),
            subject,
            name: named.name.clone(),
            everything: session.verbose(),
            why_here: match &self.subject {
                Subject::Field(field) => field.why_here(),
                _ => None,
            },
        };
        let report = mesh::explain(&request, session.progress)?;
        let serious = session.report_problems(&report.loaded, &report.problems)?;
        if named.output == TextOrJson::Text {
            session.scope(&report.scope)?;
        }
        let verbose = session.verbose();
        let (out, terminal) = (&mut *session.out, session.around.out);
        let mut exit = Exit::Ok;
        match (&report.answer, named.output) {
            (Answer::Proxies(answer), TextOrJson::Json) => report::scoped(out, answer, &report.scope)?,
            (Answer::Fields(answer), TextOrJson::Json) => report::scoped(out, answer, &report.scope)?,
            (Answer::Proxies(answer), TextOrJson::Text) => {
                let detail = report::explain::Detail { verbose };
                report::explain::text(out, terminal, detail, &report.loaded.sources, answer, report.scope.lenders)?;
            }
            (Answer::Fields(answer), TextOrJson::Text) => report::field::text(out, terminal, verbose, answer)?,
        }
        if let Answer::Fields(answer) = &report.answer
            && answer.fields.iter().all(|field| !field.candidates.is_empty())
        {
            exit = Exit::Usage;
        }
        let refused = match &report.answer {
            Answer::Proxies(answer) => answer.proxies.iter().any(|proxy| {
                let patches = proxy.filters.iter().flat_map(|filter| &filter.patches);
                patches.into_iter().any(|patch| patch.live == Some(Live::Refused))
                    || (request.subject != mesh::Subject::Filter && !proxy.refused.is_empty())
            }),
            Answer::Fields(answer) => {
                answer.fields.iter().filter_map(|field| field.live.as_ref()).any(|live| live.refused.is_some())
            }
        };
        if exit == Exit::Ok && refused {
            exit = Exit::Findings;
        }
        Ok(if serious { Exit::Partial } else { exit })
    }
}

//! `explain`: what EnvoyFilters do to a proxy, patch by patch.

use super::input::{self, Proxies};
use super::{Exit, Session};
use crate::engine::{self, Options, Program};
use crate::explain::field::Asked;
use crate::explain::view::{API_VERSION, Explanation, FieldExplanation};
use crate::explain::{self, Explainer, Settings, live};
use crate::load::Loaded;
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::proxy::{Proxy, ProxyKind};
use crate::report;
use crate::source::Problem;
use clap::{Args, Subcommand, ValueEnum};
use std::io;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct Explain {
    #[command(subcommand)]
    subject: Subject,
}

#[derive(Debug, Subcommand)]
enum Subject {
    /// A pod, by its name or by its workload's
    #[command(visible_alias = "po")]
    Pod(Named),
    /// The pods of a deployment
    #[command(visible_alias = "deploy")]
    Deployment(Named),
    /// A gateway or waypoint
    #[command(visible_alias = "gw")]
    Gateway(Named),
    /// The pods of a workload of any kind
    Workload(Named),
    /// One EnvoyFilter, on every proxy given
    Filter(Named),
    /// Who wrote a field, such as cluster/NAME/connect_timeout or listener/virtualInbound/filter_chains[0]/filters[0]
    Field(Named),
    /// A rule of lint, by its code or name
    Rule(super::rules::Rules),
}

#[derive(Debug, Args)]
struct Named {
    /// Its name, with or without namespace/
    name: String,
    /// EnvoyFilters and other objects: files, folders, - for the standard input
    #[arg(short, long = "filename", value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    proxies: Proxies,
    /// Text for people, or JSON (schemas/explanation.json)
    #[arg(short, long, default_value = "text")]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    Text,
    Json,
}

impl Explain {
    pub(super) fn run(&self, session: &mut Session<'_>) -> io::Result<Exit> {
        if let Subject::Rule(rule) = &self.subject {
            return rule.run(session);
        }
        let (Subject::Pod(named)
        | Subject::Deployment(named)
        | Subject::Gateway(named)
        | Subject::Workload(named)
        | Subject::Filter(named)
        | Subject::Field(named)) = &self.subject
        else {
            return Ok(Exit::Ok);
        };
        if !named.proxies.given() {
            return session.usage(
                "there is no proxy to look at",
                Some("give its config dump with --dump, or try the demo: explain pod cart --demo"),
            );
        }
        let loaded = input::objects(session, &named.files, named.proxies.demo);
        let filters = &loaded.inventory.envoy_filters;
        let mesh = session.mesh(&loaded.inventory);
        let release = session.release();
        let program = Program::new(filters, release);
        let only = match &self.subject {
            Subject::Filter(named) => {
                let wanted = |it: &EnvoyFilter| it.full_name() == named.name || it.name == named.name;
                let found: Vec<String> = filters.iter().filter(|it| wanted(it)).map(EnvoyFilter::full_name).collect();
                match found.as_slice() {
                    [one] => Some(one.clone()),
                    [] => {
                        input::tell(session, &loaded, &[])?;
                        let known: Vec<String> = filters.iter().map(EnvoyFilter::full_name).collect();
                        return session.usage(
                            &format!("no EnvoyFilter is called {}", named.name),
                            Some(&format!("there is: {}", known.join(", "))),
                        );
                    }
                    many => {
                        let message = format!("{} EnvoyFilters are called {}", many.len(), named.name);
                        return session.usage(&message, Some(&format!("write one of {}", many.join(", "))));
                    }
                }
            }
            _ => None,
        };
        let asked = match &self.subject {
            Subject::Field(named) => match Asked::parse(&named.name) {
                Ok(asked) => Some(asked),
                Err(message) => return session.usage(&message, None),
            },
            _ => None,
        };
        let mut fields = FieldExplanation {
            api_version: API_VERSION,
            kind: "FieldExplanation",
            istio_version: release.to_string(),
            fields: Vec::new(),
            problems: Vec::new(),
        };
        let mut resources = Vec::new();
        let settings = Settings { only, all_chains: session.global.verbose };
        let mut problems = Vec::new();
        let mut explanation = Explanation {
            api_version: API_VERSION,
            kind: "Explanation",
            istio_version: release.to_string(),
            proxies: Vec::new(),
            problems: Vec::new(),
        };
        let mut offered = Vec::new();
        named.proxies.visit(session, &mut problems, &mut |_, offer| {
            let proxy = &offer.config.proxy;
            offered.push(format!("{} {}", proxy.kind.word(), proxy.full_name()));
            if !self.wants(proxy) {
                return Ok(());
            }
            let plan = program.plan(proxy, &mesh);
            let options = Options::default();
            let stripped = live::strip(&plan, &offer.config);
            let config = live::without(&offer.config, &stripped);
            let judged = engine::judge(&plan, &config, &options);
            let explainer = Explainer {
                sources: &loaded.sources,
                inventory: &loaded.inventory,
                mesh: &mesh,
                program: &program,
                plan: &plan,
                config: &config,
                live: &offer.config,
                judged: &judged,
                dump: offer.dump.name(),
            };
            match &asked {
                None => explanation.proxies.push(explainer.proxy(&settings)),
                Some(asked) => match explainer.field(asked) {
                    Some(field) => fields.fields.push(field),
                    None => resources.extend(explainer.resource_names(asked)),
                },
            }
            Ok(())
        })?;
        let serious = input::tell(session, &loaded, &problems)?;
        if asked.is_some() {
            return Self::answer_field(session, named, &loaded, (fields, &problems), &resources, serious);
        }
        if explanation.proxies.is_empty() && !offered.is_empty() {
            let message = format!("no dump is of {}", self.words());
            return session.usage(&message, Some(&format!("the dumps are of: {}", offered.join(", "))));
        }
        let trouble = loaded.problems.iter().chain(&problems);
        explanation.problems = trouble.map(|problem| explain::trouble(&loaded.sources, problem)).collect();
        match named.output {
            Output::Json => report::json(session.out, &explanation)?,
            Output::Text => report::explain::text(
                session.out,
                session.around.out,
                report::explain::Detail { verbose: session.global.verbose },
                &loaded.sources,
                &explanation,
            )?,
        }
        Ok(if serious { Exit::Partial } else { Exit::Ok })
    }

    fn answer_field(
        session: &mut Session<'_>,
        named: &Named,
        loaded: &Loaded,
        (mut answer, problems): (FieldExplanation, &[Problem]),
        resources: &[String],
        serious: bool,
    ) -> io::Result<Exit> {
        if answer.fields.is_empty() {
            let near = explain::nearest(named.name.split_once('/').map_or("", |(_, name)| name), resources);
            let help = format!("there is: {}", near.join(", "));
            return session.usage(
                &format!("no proxy has {}", named.name),
                Some(&help).filter(|_| !near.is_empty()).map(String::as_str),
            );
        }
        let trouble = loaded.problems.iter().chain(problems);
        answer.problems = trouble.map(|problem| explain::trouble(&loaded.sources, problem)).collect();
        match named.output {
            Output::Json => report::json(session.out, &answer)?,
            Output::Text => report::field::text(session.out, session.around.out, session.global.verbose, &answer)?,
        }
        let missing = answer.fields.iter().all(|field| !field.candidates.is_empty());
        Ok(match (serious, missing) {
            (true, _) => Exit::Partial,
            (false, true) => Exit::Usage,
            (false, false) => Exit::Ok,
        })
    }

    fn words(&self) -> String {
        match &self.subject {
            Subject::Pod(named) => format!("pod {}", named.name),
            Subject::Deployment(named) => format!("deployment {}", named.name),
            Subject::Gateway(named) => format!("gateway {}", named.name),
            Subject::Workload(named) => format!("workload {}", named.name),
            Subject::Filter(_) | Subject::Field(_) | Subject::Rule(_) => "any proxy".to_owned(),
        }
    }

    /// Whether a proxy is the one that is asked for.
    fn wants(&self, proxy: &Proxy) -> bool {
        let asked = |named: &Named| {
            let (namespace, name) = match named.name.split_once('/') {
                Some((namespace, name)) => (Some(namespace), name),
                None => (None, named.name.as_str()),
            };
            (namespace.is_none_or(|namespace| namespace == proxy.namespace)).then(|| name.to_owned())
        };
        match &self.subject {
            Subject::Pod(named) => asked(named)
                .is_some_and(|name| proxy.name == name || proxy.workload == name || of_workload(&proxy.name, &name)),
            Subject::Deployment(named) | Subject::Workload(named) => {
                asked(named).is_some_and(|name| proxy.workload == name || of_workload(&proxy.name, &name))
            }
            Subject::Gateway(named) => {
                proxy.kind != ProxyKind::Sidecar
                    && asked(named).is_some_and(|name| {
                        proxy.name == name
                            || proxy.workload == name
                            || proxy.gateway_name() == Some(&name)
                            || proxy.labels.get("istio") == Some(&name)
                            || of_workload(&proxy.name, &name)
                    })
            }
            Subject::Filter(_) | Subject::Field(_) | Subject::Rule(_) => true,
        }
    }
}

/// Whether a pod's name is a workload's with the suffixes Kubernetes gives: `cart-7d5c8-x2x9q`, `cart-0`.
fn of_workload(pod: &str, workload: &str) -> bool {
    let Some(suffix) = pod.strip_prefix(workload).and_then(|rest| rest.strip_prefix('-')) else { return false };
    let parts: Vec<&str> = suffix.split('-').collect();
    parts.len() <= 2 && parts.iter().all(|part| !part.is_empty() && part.bytes().any(|byte| byte.is_ascii_digit()))
}

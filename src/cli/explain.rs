//! `explain`: what EnvoyFilters do to a proxy, patch by patch.

use super::input::{self, Proxies, Work};
use super::{Exit, Session, TextOrJson, examples};
use crate::cluster::facts::{self, Station};
use crate::cluster::kinds;
use crate::cluster::targets::Target;
use crate::engine::{self, Options, Program, unapply};
use crate::explain::field::Asked;
use crate::explain::view::{API_VERSION, Explanation, FieldExplanation};
use crate::explain::{self, Explainer, Settings};
use crate::load::Loaded;
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::inventory::{Labels, Object};
use crate::model::proxy::{GATEWAY_NAME_LABEL, Proxy, ProxyKind};
use crate::report;
use crate::source::Problem;
use clap::{Args, Subcommand};
use std::collections::BTreeSet;
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
    #[command(aliases = ["statefulset", "sts", "daemonset", "ds", "replicaset", "rs", "job"])]
    #[command(after_help = examples::WORKLOAD)]
    Workload(Named),
    /// One EnvoyFilter, on every proxy given, or that it reaches
    #[command(alias = "envoyfilter")]
    #[command(after_help = examples::FILTER)]
    Filter(Named),
    /// Who wrote a field, such as cluster/NAME/connect_timeout or listener/virtualInbound/filter_chains[0]/filters[0]
    #[command(
        after_help = examples::FIELD,
        mut_arg("name", |name| name.value_name("RESOURCE/NAME[/FIELD]").help(FIELD_HELP)),
        mut_arg("output", |form| form.help("Text for people, or JSON (schemas/field-explanation.json)"))
    )]
    Field(Named),
    /// A rule of lint, by its code or name
    #[command(after_help = examples::RULES)]
    Rule(super::rules::Rules),
}

/// What `explain field` is asked.
const FIELD_HELP: &str = "A resource (listener, cluster, route or extension) by its name, and a field in it; with the resource \
                          alone, all that filters wrote there";

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
    output: TextOrJson,
}

impl Explain {
    pub(super) fn run(&self, session: &mut Session<'_>) -> io::Result<Exit> {
        if let Subject::Rule(rule) = &self.subject {
            return rule.run(session);
        }
        let (Subject::Pod(named)
        | Subject::Deployment(named)
        | Subject::Service(named)
        | Subject::Gateway(named)
        | Subject::Workload(named)
        | Subject::Filter(named)
        | Subject::Field(named)) = &self.subject
        else {
            return Ok(Exit::Ok);
        };
        if let Err(exit) = named.proxies.one_standard_input(session, &[&named.files])? {
            return Ok(exit);
        }
        let work = if named.proxies.given() {
            Work::of_files(session, input::objects(session, &named.files, named.proxies.demo))
        } else if named.files.is_empty() {
            let namespace = match &self.subject {
                Subject::Field(_) => None,
                _ => named.name.split_once('/').map(|(namespace, _)| namespace),
            };
            match Work::open(session, &kinds::EXPLAIN, namespace)? {
                Ok(work) => work,
                Err(exit) => return Ok(exit),
            }
        } else {
            return session.usage(
                "there is no proxy to look at",
                Some("give its config dump with --dump, or no file at all to look at the cluster"),
            );
        };
        let loaded = &work.loaded;
        let filters = &loaded.inventory.envoy_filters;
        let programs: Vec<Program<'_>> = work.planes.iter().map(|plane| Program::new(filters, plane.release)).collect();
        let release = work.planes.first().map_or(session.release(), |plane| plane.release);
        let only = match &self.subject {
            Subject::Filter(named) => {
                let wanted = |it: &EnvoyFilter| it.full_name() == named.name || it.name == named.name;
                let found: Vec<String> = filters.iter().filter(|it| wanted(it)).map(EnvoyFilter::full_name).collect();
                match found.as_slice() {
                    [one] => Some(one.clone()),
                    [] => {
                        input::tell(session, loaded, &[])?;
                        let known: Vec<String> = filters.iter().map(EnvoyFilter::full_name).collect();
                        let help = input::there_is(&named.name, &known);
                        return session.usage(&format!("no EnvoyFilter is called {}", named.name), help.as_deref());
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
        let settings = Settings { only: only.clone(), all_chains: session.global.verbose };
        let mut problems = Vec::new();
        let mut explanation = Explanation {
            api_version: API_VERSION,
            kind: "Explanation",
            istio_version: release.to_string(),
            proxies: Vec::new(),
            problems: Vec::new(),
        };
        let mut offered = Vec::new();
        let picked = match self.pick(session, named, &work, only.as_deref())? {
            Ok(picked) => picked,
            Err(exit) => return Ok(exit),
        };
        let wanted = |target: &Target| picked.contains(&target.full_name());
        named.proxies.visit(session, &work, &wanted, &mut problems, &mut |_, offer| {
            let proxy = &offer.config.proxy;
            offered.push((proxy.full_name(), proxy.kind.word()));
            if !work.is_live() && !self.wants(&Who::of(proxy)) {
                return Ok(());
            }
            let (Some(program), Some(plane)) = (programs.get(offer.plane), work.planes.get(offer.plane)) else {
                return Ok(());
            };
            let mesh = &plane.mesh;
            let plan = program.plan(proxy, mesh);
            let options = Options::default();
            let unapplied = engine::unapply(&plan, &offer.config, &options);
            let generated = unapplied.patched().then(|| unapply::without(&offer.config, &unapplied.texts));
            let config = generated.as_ref().unwrap_or(&offer.config);
            let judged = engine::judge(&plan, config, &options);
            let explainer = Explainer {
                sources: &loaded.sources,
                inventory: &loaded.inventory,
                mesh,
                program,
                plan: &plan,
                config,
                unapplied: &unapplied,
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
        let serious = input::tell(session, loaded, &problems)?;
        if asked.is_some() {
            return Self::answer_field(session, named, loaded, (fields, &problems), &resources, serious);
        }
        if explanation.proxies.is_empty() && !offered.is_empty() {
            let message = format!("no dump is of {}", self.words());
            return session.usage(&message, Some(&offers(&named.name, &offered)));
        }
        let trouble = loaded.problems.iter().chain(&problems);
        explanation.problems = trouble.map(|problem| explain::trouble(&loaded.sources, problem)).collect();
        match named.output {
            TextOrJson::Json => report::json(session.out, &explanation)?,
            TextOrJson::Text => report::explain::text(
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
            TextOrJson::Json => report::json(session.out, &answer)?,
            TextOrJson::Text => report::field::text(session.out, session.around.out, session.global.verbose, &answer)?,
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
            Subject::Service(named) => format!("service {}", named.name),
            Subject::Gateway(named) => format!("gateway {}", named.name),
            Subject::Workload(named) => format!("workload {}", named.name),
            Subject::Filter(_) | Subject::Field(_) | Subject::Rule(_) => "any proxy".to_owned(),
        }
    }

    /// The pods of a cluster that the question is about. Fails with the way the command ends: there are none, and why.
    fn pick(
        &self,
        session: &mut Session<'_>,
        named: &Named,
        work: &Work,
        only: Option<&str>,
    ) -> io::Result<Result<BTreeSet<String>, Exit>> {
        let pods = |picked: Vec<&Target>| picked.into_iter().map(Target::full_name).collect::<BTreeSet<_>>();
        let targets: Vec<&Target> = work.targets().iter().collect();
        if !work.is_live() {
            return Ok(Ok(BTreeSet::new()));
        }
        if let Some(only) = only {
            let filter: Vec<EnvoyFilter> =
                work.loaded.inventory.envoy_filters.iter().filter(|it| it.full_name() == only).cloned().collect();
            let reached = work.reached_by(&filter);
            let picked: Vec<&Target> = targets.iter().copied().filter(|target| reached(target)).collect();
            // Nobody is reached: those nearby tell why.
            return Ok(Ok(pods(if picked.is_empty() { targets } else { picked })));
        }
        let selector = match &self.subject {
            Subject::Field(_) => return Ok(Ok(pods(targets))),
            Subject::Service(_) => {
                let (namespace, name) = named.parts();
                let services = &work.loaded.inventory.services;
                let is = |object: &Object| object.name == name && namespace.is_none_or(|it| it == object.namespace);
                match services.iter().find(|service| is(&service.object)) {
                    Some(service) if !service.selector.is_empty() => Some(service),
                    Some(_) => return session.usage(&format!("service {name} selects no pods"), None).map(Err),
                    None => {
                        input::tell(session, &work.loaded, &[])?;
                        let known: Vec<String> = services.iter().map(|it| it.object.name.clone()).collect();
                        let help = input::there_is(name, &known);
                        return session.usage(&format!("there is no service {name}"), help.as_deref()).map(Err);
                    }
                }
            }
            _ => None,
        };
        let picked: Vec<&Target> = targets
            .iter()
            .copied()
            .filter(|target| match selector {
                Some(service) => {
                    target.namespace == service.object.namespace
                        && service.selector.iter().all(|(key, want)| target.labels.get(key) == Some(want))
                }
                None => self.wants(&Who::of_target(target)),
            })
            .collect();
        if !picked.is_empty() {
            return Ok(Ok(pods(picked)));
        }
        input::tell(session, &work.loaded, &[])?;
        // Perhaps it is there and runs no proxy.
        for pod in work.loaded.inventory.workloads.iter() {
            let object = &pod.object;
            let who =
                Who { kind: None, namespace: &object.namespace, name: &object.name, workload: "", labels: &pod.labels };
            if object.kind == "Pod" && self.wants(&who) {
                let of = work.loaded.inventory.namespace(&object.namespace);
                let why = match facts::station(pod, of) {
                    Station::None(why) => why,
                    Station::Ztunnel => "it is ztunnel, which istiod sends no EnvoyFilters to",
                    Station::Proxy(_) => "its proxy is of another kind",
                };
                let message = format!("no EnvoyFilter can affect pod {}/{}: {why}", object.namespace, object.name);
                return session.usage(&message, None).map(Err);
            }
        }
        let near: Vec<String> = targets.iter().map(|target| target.full_name()).collect();
        let near = explain::nearest(&named.name, &near);
        let help = format!("pods with a proxy: {}", near.join(", "));
        let help = Some(&help).filter(|_| !near.is_empty()).map(String::as_str);
        session.usage(&format!("there is no {} with a proxy", self.words()), help).map(Err)
    }

    /// Whether a proxy is the one that is asked for.
    fn wants(&self, proxy: &Who<'_>) -> bool {
        let asked = |named: &Named| {
            let (namespace, name) = named.parts();
            (namespace.is_none_or(|namespace| namespace == proxy.namespace)).then(|| name.to_owned())
        };
        match &self.subject {
            Subject::Pod(named) => asked(named)
                .is_some_and(|name| proxy.name == name || proxy.workload == name || of_workload(proxy.name, &name)),
            Subject::Deployment(named) | Subject::Workload(named) => {
                asked(named).is_some_and(|name| proxy.workload == name || of_workload(proxy.name, &name))
            }
            // A dump does not tell which services select it; the name of the canonical service is the best there is.
            Subject::Service(named) => asked(named).is_some_and(|name| {
                ["service.istio.io/canonical-name", "app.kubernetes.io/name", "app"]
                    .iter()
                    .any(|label| proxy.labels.get(*label) == Some(&name))
            }),
            Subject::Gateway(named) => {
                proxy.kind != Some(ProxyKind::Sidecar)
                    && asked(named).is_some_and(|name| {
                        proxy.name == name
                            || proxy.workload == name
                            || proxy.labels.get(GATEWAY_NAME_LABEL) == Some(&name)
                            || proxy.labels.get("istio") == Some(&name)
                            || of_workload(proxy.name, &name)
                    })
            }
            Subject::Filter(_) | Subject::Field(_) | Subject::Rule(_) => true,
        }
    }
}

/// Of whom the dumps are, those first whose names are nearest to what was asked for.
fn offers(asked: &str, offered: &[(String, &str)]) -> String {
    let names: Vec<String> = offered.iter().map(|(name, _)| name.clone()).collect();
    let near = explain::nearest(asked, &names);
    let kind = |name: &String| offered.iter().find(|(of, _)| of == name).map_or("", |(_, kind)| kind);
    let told: Vec<String> = near.iter().map(|name| format!("{} {name}", kind(name))).collect();
    let more = offered.len().saturating_sub(told.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("the dumps are of: {}{more}", told.join(", "))
}

impl Named {
    /// Namespace, where the name has one, and name.
    fn parts(&self) -> (Option<&str>, &str) {
        match self.name.split_once('/') {
            Some((namespace, name)) => (Some(namespace), name),
            None => (None, self.name.as_str()),
        }
    }
}

/// A proxy by what it may be called.
struct Who<'w> {
    /// What it is, where that is known.
    kind: Option<ProxyKind>,
    namespace: &'w str,
    name: &'w str,
    workload: &'w str,
    labels: &'w Labels,
}

impl<'w> Who<'w> {
    fn of(proxy: &'w Proxy) -> Who<'w> {
        let (namespace, name, workload) = (&proxy.namespace, &proxy.name, &proxy.workload);
        Who { kind: Some(proxy.kind), namespace, name, workload, labels: &proxy.labels }
    }

    fn of_target(target: &'w Target) -> Who<'w> {
        let (namespace, name, workload) = (&target.namespace, &target.pod, &target.workload);
        Who { kind: Some(target.kind), namespace, name, workload, labels: &target.labels }
    }
}

/// Whether a pod's name is a workload's with the suffixes Kubernetes gives: `cart-7d5c8-x2x9q`, `cart-0`.
fn of_workload(pod: &str, workload: &str) -> bool {
    let Some(suffix) = pod.strip_prefix(workload).and_then(|rest| rest.strip_prefix('-')) else { return false };
    let parts: Vec<&str> = suffix.split('-').collect();
    parts.len() <= 2 && parts.iter().all(|part| !part.is_empty() && part.bytes().any(|byte| byte.is_ascii_digit()))
}

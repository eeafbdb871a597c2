//! `explain`: what EnvoyFilters do to proxies, or who wrote a field.

use super::gateways;
use super::machines;
#[cfg(feature = "bottle")]
use super::makers;
use super::proxies::{Given, Taken};
#[cfg(feature = "bottle")]
use super::read::Feed;
use super::read::{Mesh, objects};
use super::scope::Scope;
use super::settings::{Breadth, Progress, Settings};
use super::unread;
use super::{Error, Refusal, Unanswered, manifests, named};
use crate::cluster::facts::{self, Station};
use crate::cluster::kinds::{self, Needs};
use crate::cluster::targets::Target;
use crate::engine::Program;
use crate::explain::field::Asked;
use crate::explain::view::{self, Explanation, FieldExplanation};
use crate::explain::{self, Explainer};
use crate::load::Loaded;
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::inventory::{Labels, Object, Service, Workload};
use crate::model::owner::{self, WorkloadKind};
use crate::model::proxy::{GATEWAY_NAME_LABEL, Proxy, ProxyKind};
use crate::model::release::Release;
use crate::source::{Code, Problem, Severity};
use crate::study::{self, study};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The request of `explain`.
#[derive(Clone, Debug)]
pub struct ExplainRequest {
    /// The mesh.
    pub settings: Settings,
    /// Config dumps.
    pub given: Given,
    /// EnvoyFilters and other objects: files, folders, `-`.
    pub files: Vec<PathBuf>,
    /// The kind of subject.
    pub subject: Subject,
    /// Its name, with or without `namespace/`; for a field: `RESOURCE/NAME[/FIELD]`.
    pub name: String,
    /// Also the HTTP filters of listeners that no patch touched.
    pub everything: bool,
    /// For a field: also find the objects that make istiod generate it, with the istiod of the settings.
    pub why_here: Option<WhyHere>,
}

/// How to find the objects behind a field.
#[derive(Clone, Debug)]
pub struct WhyHere {
    /// The folder where earlier answers are kept, from which the search starts; `None` to search anew.
    pub cache: Option<PathBuf>,
}

/// The subject of an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A pod, by its name or its workload's.
    Pod,
    /// The pods behind a service.
    Service,
    /// A gateway or waypoint.
    Gateway,
    /// The pods of a workload, of one kind or of any.
    Workload(Option<WorkloadKind>),
    /// One EnvoyFilter, on every proxy that it reaches.
    Filter,
    /// A field of a resource.
    Field,
}

impl Subject {
    fn as_str(self) -> &'static str {
        match self {
            Subject::Pod => "pod",
            Subject::Service => "service",
            Subject::Gateway => "gateway",
            Subject::Workload(None) => "workload",
            Subject::Workload(Some(kind)) => kind.as_str(),
            Subject::Filter => "EnvoyFilter",
            Subject::Field => "field",
        }
    }
}

/// An explanation.
#[derive(Debug)]
pub struct ExplainReport {
    /// The result.
    pub answer: Answer,
    /// Texts, objects and the loader's problems.
    pub loaded: Loaded,
    /// What else could not be read.
    pub problems: Vec<Problem>,
    /// What was read.
    pub scope: Scope,
}

/// The two kinds of explanations.
#[derive(Debug)]
pub enum Answer {
    /// What EnvoyFilters do.
    Proxies(Explanation),
    /// Who wrote a field.
    Fields(FieldExplanation),
}

/// Explains what EnvoyFilters do to the requested proxies.
pub fn explain(request: &ExplainRequest, progress: &dyn Progress) -> Result<ExplainReport, Error> {
    let ExplainRequest { settings, given, .. } = request;
    given.one_standard_input(&[&request.files])?;
    let mesh = open(request, progress)?;
    if request.why_here.is_some() && !mesh.asks_istiod() {
        let message = "--why-here needs an istiod that generates the configuration".to_owned();
        let help = "name it with --istiod PATH; the objects come from files (-f), --capture or the cluster".to_owned();
        return Err(Error::Text { message, help: Some(help) });
    }
    let filters = &mesh.loaded.inventory.envoy_filters;
    let programs: Vec<Program<'_>> = mesh.planes.iter().map(|plane| Program::new(filters, plane.release)).collect();
    let only = match request.subject {
        Subject::Filter => Some(filter(request, &mesh)?),
        _ => None,
    };
    let mut taken = Taken::default();
    let asked = match request.subject {
        Subject::Field => {
            Some(Asked::parse(&request.name).map_err(|error| Error::Text { message: error.into(), help: None })?)
        }
        _ => None,
    };
    let mut machines = Vec::new();
    if request.subject == Subject::Workload(None) && mesh.has_targets() {
        let (namespace, name) = request.parts();
        machines = machines::named(&mesh, namespace, name);
    }
    let picked = match pick(request, &mesh, only.as_deref(), &mut taken.problems) {
        Err(Error::NotFound(_)) if !machines.is_empty() => BTreeSet::new(),
        picked => picked?,
    };
    let how = explain::Settings { only, all_chains: request.everything };
    let lenders = mesh.lenders();
    let mut found = Found::default();
    let wanted = |target: &Target| picked.contains(&target.full_name());
    mesh.visit(given, &wanted, &mut taken, &mut |offer| {
        let proxy = &offer.config.proxy;
        found.offered.push((proxy.full_name(), proxy.kind.as_str()));
        if !mesh.has_targets() && !request.wants(&Who::of(proxy)) {
            return;
        }
        let (Some(program), Some(plane)) = (programs.get(offer.plane), mesh.planes.get(offer.plane)) else { return };
        found.release.get_or_insert(plane.release);
        study(program, &offer.config, &study::Settings::packed(&plane.mesh), |study| {
            let (sources, inventory) = (&mesh.loaded.sources, &mesh.loaded.inventory);
            study.look_for_blame();
            let (dump, running) = (offer.dump.name(), offer.running);
            let explainer = Explainer { sources, inventory, study, dump, running, lenders };
            match &asked {
                None => found.proxies.push(explainer.proxy(&how)),
                Some(asked) => match explainer.field(asked) {
                    Some(field) => found.fields.push(field),
                    None => found.resources.extend(explainer.resource_names(asked)),
                },
            }
        });
    })?;
    #[cfg(feature = "bottle")]
    if let (Some(how), Feed::Bottled(bottled), Some(plane)) = (&request.why_here, &mesh.feed, mesh.planes.first()) {
        makers::find(bottled, plane.release, &plane.mesh, how.cache.as_deref(), &mut found.fields)?;
    }
    for machine in machines {
        let (Some(program), Some(plane)) = (programs.get(machine.plane), mesh.planes.get(machine.plane)) else {
            continue;
        };
        found.release.get_or_insert(plane.release);
        found.offered.push((machine.config.proxy.full_name(), machine.config.proxy.kind.as_str()));
        taken.problems.push(machine.problem);
        study(program, &machine.config, &study::Settings::packed(&plane.mesh), |study| {
            let (sources, inventory) = (&mesh.loaded.sources, &mesh.loaded.inventory);
            let dump = "reference configuration";
            study.look_for_blame();
            let explainer = Explainer { sources, inventory, study, dump, running: false, lenders };
            found.proxies.push(explainer.proxy(&how));
        });
    }
    if let Some((message, help)) = found.nothing(request, &mesh, picked.len()) {
        let mut unanswered = Unanswered::new(message, help, &mesh.loaded);
        unanswered.problems.extend(taken.problems.iter().cloned());
        return Err(Error::NotFound(unanswered));
    }
    // The control plane of the explained proxies, not the newest of the mesh.
    let release = found.release.or(mesh.planes.first().map(|plane| plane.release)).unwrap_or(settings.release());
    let scope = mesh.scope(given, &taken, filters.len());
    taken.problems.extend(unread::stop_the_others(filters, &mesh.planes));
    let problems = mesh.loaded.problems.iter().chain(&taken.problems);
    let problems = problems.map(|problem| explain::trouble(&mesh.loaded.sources, problem)).collect();
    let answer = found.answer(asked.is_some(), release, problems);
    Ok(ExplainReport { answer, loaded: mesh.loaded, problems: taken.problems, scope })
}

/// The mesh of the request: config dumps with files, what istiod generates from files, a capture or a cluster.
fn open<'p>(request: &ExplainRequest, progress: &'p dyn Progress) -> Result<Mesh<'p>, Error> {
    let ExplainRequest { settings, given, .. } = request;
    let bottled = settings.istiod.is_some() && settings.cluster.capture.is_none() && !request.files.is_empty();
    if given.any() || bottled {
        let loaded = objects(&settings.load_options(), &request.files, given.demo);
        return manifests::mesh(settings, loaded, given, progress);
    }
    if !request.files.is_empty() {
        return Err(Refusal::NoProxy.into());
    }
    let breadth = |_: &str| match (request.subject, request.parts()) {
        (Subject::Field, _) | (_, (None, _)) => Breadth::Namespace,
        (_, (Some(namespace), _)) => Breadth::Of(namespace.to_owned()),
    };
    let mesh = manifests::open(settings, request.needs(), progress, breadth)?;
    // The selector of an Istio Gateway finds pods in all namespaces.
    if mesh.only.is_some()
        && request.subject == Subject::Gateway
        && gateways::istio(request.parts(), &mesh).next().is_some()
    {
        return manifests::open(settings, request.needs(), progress, |_| Breadth::Everything);
    }
    Ok(mesh)
}

/// What was found for a question.
#[derive(Default)]
struct Found {
    proxies: Vec<view::Proxy>,
    fields: Vec<view::Field>,
    /// Names of resources in which a field was looked for in vain.
    resources: Vec<String>,
    /// Every proxy that was offered, with its kind.
    offered: Vec<(String, &'static str)>,
    /// The release of the control plane of the first proxy that was explained.
    release: Option<Release>,
}

impl Found {
    /// Why there is no answer, and what may help; `None` if there is one.
    fn nothing(&self, request: &ExplainRequest, mesh: &Mesh<'_>, picked: usize) -> Option<(String, Option<String>)> {
        if mesh.is_read() && self.offered.is_empty() {
            // No proxy was read, so there is no answer.
            let message = match picked {
                0 if !mesh.lists(kinds::POD) => not_looked_for(&request.words()),
                0 if matches!(request.subject, Subject::Filter | Subject::Field) => "no pod has a proxy".to_owned(),
                0 => format!("no pod with a proxy was found for {}", request.words()),
                number => {
                    let pods = crate::words::count(number, "pod", "pods");
                    format!("no config dump of {} could be read ({pods})", request.words())
                }
            };
            return Some((message, None));
        }
        if request.subject == Subject::Field {
            if !self.fields.is_empty() {
                return None;
            }
            let name = request.name.split_once('/').map_or("", |(_, name)| name);
            let near = explain::nearest(name, &self.resources);
            let help = (!near.is_empty()).then(|| format!("similar names: {}", near.join(", ")));
            return Some((format!("no proxy has {}", request.name), help));
        }
        if self.proxies.is_empty() && !self.offered.is_empty() {
            let message = format!("no config dump is from {}", request.words());
            return Some((message, Some(offers(&request.name, &self.offered))));
        }
        None
    }

    fn answer(self, fields: bool, release: Release, problems: Vec<view::Trouble>) -> Answer {
        let (api_version, istio_version) = (view::API_VERSION, release.to_string());
        if fields {
            let (kind, fields) = ("FieldExplanation", self.fields);
            Answer::Fields(FieldExplanation { api_version, kind, istio_version, fields, problems })
        } else {
            let (kind, proxies) = ("Explanation", self.proxies);
            Answer::Proxies(Explanation { api_version, kind, istio_version, proxies, problems })
        }
    }
}

/// `namespace/name` of the requested EnvoyFilter.
fn filter(request: &ExplainRequest, mesh: &Mesh<'_>) -> Result<String, Error> {
    let filters = &mesh.loaded.inventory.envoy_filters;
    let wanted = |it: &&EnvoyFilter| it.full_name() == request.name || it.name == request.name;
    let found: Vec<String> = filters.iter().filter(wanted).map(EnvoyFilter::full_name).collect();
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => {
            let known: Vec<String> = filters.iter().map(EnvoyFilter::full_name).collect();
            let message = format!("no EnvoyFilter is named {}", request.name);
            Err(Error::NotFound(Unanswered::new(message, super::similar(&request.name, &known), &mesh.loaded)))
        }
        _ => Err(Error::Ambiguous { name: request.name.clone(), found }),
    }
}

/// The requested pods of a cluster; notes why if they are others. Fails with the reason when there are none.
fn pick(
    request: &ExplainRequest,
    mesh: &Mesh<'_>,
    only: Option<&str>,
    notes: &mut Vec<Problem>,
) -> Result<BTreeSet<String>, Error> {
    let pods = |picked: Vec<&Target>| picked.into_iter().map(Target::full_name).collect::<BTreeSet<_>>();
    // Pods of a cluster are already restricted to the namespace; those of manifests are not.
    let looked_at = |target: &&Target| {
        mesh.is_read()
            || matches!(request.subject, Subject::Filter)
            || request.parts().0.is_some()
            || request.settings.namespace.as_ref().is_none_or(|namespace| *namespace == target.namespace)
    };
    let targets: Vec<&Target> = mesh.targets().iter().filter(looked_at).collect();
    if !mesh.has_targets() {
        return Ok(BTreeSet::new());
    }
    let inventory = &mesh.loaded.inventory;
    if let Some(only) = only {
        let filter: Vec<EnvoyFilter> =
            inventory.envoy_filters.iter().filter(|it| it.full_name() == only).cloned().collect();
        let reached = mesh.reached_by(&filter);
        let picked: Vec<&Target> = targets.iter().copied().filter(|target| reached(target)).collect();
        // No pod is reached: nearby ones show why.
        return Ok(pods(if picked.is_empty() { targets } else { picked }));
    }
    let unanswered =
        |message: String, help: Option<String>| Error::NotFound(Unanswered::new(message, help, &mesh.loaded));
    let selector = match request.subject {
        Subject::Field => return Ok(pods(targets)),
        Subject::Service => Some(service(request, mesh)?),
        _ => None,
    };
    let behind = match request.subject {
        Subject::Gateway => gateways::behind(request.parts(), mesh),
        _ => None,
    };
    let picked: Vec<&Target> = targets
        .iter()
        .copied()
        .filter(|target| match selector {
            _ if behind.as_ref().is_some_and(|behind| behind.contains(&target.full_name())) => true,
            // An object determines its pods; without one, use the names and labels of pods.
            _ if behind.is_some() => false,
            Some(service) => {
                target.namespace == service.object.namespace
                    && service.selector.iter().all(|(key, want)| target.labels.get(key) == Some(want))
            }
            None => request.wants(&Who::of_target(target)),
        })
        .collect();
    if !picked.is_empty() {
        return Ok(pods(picked));
    }
    if behind.is_some() && mesh.lists(kinds::POD) {
        return Err(unanswered(format!("{} selects no pod with the proxy of a gateway", request.words()), None));
    }
    if let Some(service) = selector
        && mesh.lists(kinds::POD)
        && let Some(waypoint) = gateways::waypoint_of(&service.object, mesh)
    {
        let name = format!("{}/{}", service.object.namespace, service.object.name);
        let message = format!("no pod behind service {name} has a proxy; its waypoint is {}", waypoint.full_name());
        if waypoint.pods.is_empty() {
            return Err(unanswered(message, Some(waypoint.help(mesh))));
        }
        let (code, severity) = (Code::OtherProxy, Severity::Warning);
        let message = format!("{message}, which is explained instead");
        notes.push(Problem { code, severity, span: None, message, help: None });
        return Ok(waypoint.pods);
    }
    Err(without_proxy(request, mesh, &targets))
}

/// The requested Service. Fails with the reason if there is none, or none that selects pods.
fn service<'m>(request: &ExplainRequest, mesh: &'m Mesh<'_>) -> Result<&'m Service, Error> {
    let (namespace, name) = request.parts();
    let services = &mesh.loaded.inventory.services;
    let is = |object: &Object| object.name == name && namespace.is_none_or(|it| it == object.namespace);
    let (message, help) = match services.iter().find(|service| is(&service.object)) {
        Some(service) if !service.selector.is_empty() => return Ok(service),
        Some(_) => (format!("service {name} selects no pods"), None),
        None if !mesh.lists(kinds::SERVICE) => (format!("cannot tell which pods are behind service {name}"), None),
        None => {
            let known: Vec<String> = services.iter().map(|it| it.object.name.clone()).collect();
            (format!("no service is named {name}"), super::similar(name, &known))
        }
    };
    Err(Error::NotFound(Unanswered::new(message, help, &mesh.loaded)))
}

/// Why no proxy is what the request names; it may exist without one.
fn without_proxy(request: &ExplainRequest, mesh: &Mesh<'_>, targets: &[&Target]) -> Error {
    let unanswered =
        |message: String, help: Option<String>| Error::NotFound(Unanswered::new(message, help, &mesh.loaded));
    let inventory = &mesh.loaded.inventory;
    for pod in inventory.workloads.iter() {
        let object = &pod.object;
        if object.kind == "Pod" && request.wants(&Who::of_pod(pod)) {
            let why = match facts::station(pod, inventory.namespace(&object.namespace)) {
                Station::None(why) => why,
                Station::Ztunnel => "it is ztunnel, which istiod sends no EnvoyFilters to",
                Station::Proxy(_) => "its proxy is of another kind",
            };
            let message = format!("no EnvoyFilter can affect pod {}/{}: {why}", object.namespace, object.name);
            return unanswered(message, None);
        }
    }
    if !mesh.lists(kinds::POD) {
        // Without the right to list pods, it is unknown whether it exists.
        return unanswered(not_looked_for(&request.words()), None);
    }
    let any = ExplainRequest { subject: Subject::Workload(None), ..request.clone() };
    let other = match request.subject {
        Subject::Workload(Some(_)) => {
            let same = |target: &&Target| target.workload == any.parts().1 && any.wants(&Who::of_target(target));
            named::of_another_kind(targets.iter().copied().filter(same))
        }
        _ => None,
    };
    let known: Vec<String> = targets.iter().map(|target| target.full_name()).collect();
    let near = explain::nearest(&request.name, &known);
    let near = || (!near.is_empty()).then(|| format!("pods with a proxy: {}", near.join(", ")));
    let help = other.or_else(near);
    let (message, help) = mesh.without_proxy(&request.words(), help);
    unanswered(message, help)
}

impl ExplainRequest {
    /// What must be read to answer.
    const fn needs(&self) -> &'static Needs {
        match self.subject {
            Subject::Gateway => &kinds::EXPLAIN_GATEWAY,
            Subject::Workload(None) => &kinds::EXPLAIN_WORKLOAD,
            _ => &kinds::EXPLAIN_POD,
        }
    }

    /// Namespace, if the name contains one, and name.
    fn parts(&self) -> (Option<&str>, &str) {
        match self.name.split_once('/') {
            Some((namespace, name)) => (Some(namespace), name),
            None => (None, self.name.as_str()),
        }
    }

    fn words(&self) -> String {
        match self.subject {
            Subject::Filter | Subject::Field => "proxies".to_owned(),
            subject => format!("{} {}", subject.as_str(), self.name),
        }
    }

    /// Whether a proxy is requested.
    fn wants(&self, proxy: &Who<'_>) -> bool {
        let (namespace, name) = self.parts();
        let of = |workload: &str| proxy.workload == workload || of_workload(proxy.name, workload);
        if matches!(self.subject, Subject::Filter | Subject::Field) {
            return true;
        }
        namespace.is_none_or(|namespace| namespace == proxy.namespace)
            && match self.subject {
                Subject::Filter | Subject::Field => true,
                Subject::Pod => proxy.name == name || of(name),
                Subject::Workload(None) => of(name),
                // Without a known owner, the name decides.
                Subject::Workload(Some(kind)) => match &proxy.owners {
                    Some(owners) => owners.contains(&(kind.as_str(), name)),
                    None => of(name),
                },
                // A dump does not show which services select it; the canonical service is the closest.
                Subject::Service => ["service.istio.io/canonical-name", "app.kubernetes.io/name", "app"]
                    .iter()
                    .any(|label| proxy.labels.get(*label).is_some_and(|value| value == name)),
                Subject::Gateway => {
                    let labelled = |label: &str| proxy.labels.get(label).is_some_and(|value| value == name);
                    proxy.kind != Some(ProxyKind::Sidecar)
                        && (proxy.name == name || of(name) || labelled(GATEWAY_NAME_LABEL) || labelled("istio"))
                }
            }
    }
}

/// The message when nobody could look for something.
fn not_looked_for(what: &str) -> String {
    format!("cannot look for {what}: pods could not be listed")
}

/// The proxies of the dumps, most similar names first.
fn offers(asked: &str, offered: &[(String, &str)]) -> String {
    let names: Vec<String> = offered.iter().map(|(name, _)| name.clone()).collect();
    let near = explain::nearest(asked, &names);
    let kind = |name: &String| offered.iter().find(|(of, _)| of == name).map_or("", |(_, kind)| kind);
    let listed: Vec<String> = near.iter().map(|name| format!("{} {name}", kind(name))).collect();
    let more = offered.len().saturating_sub(listed.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("the config dumps are from: {}{more}", listed.join(", "))
}

/// The names of a proxy.
struct Who<'w> {
    /// Its kind, if known.
    kind: Option<ProxyKind>,
    namespace: &'w str,
    name: &'w str,
    workload: &'w str,
    labels: &'w Labels,
    /// Kinds and names of the workloads that own it, if known.
    owners: Option<Vec<(&'w str, &'w str)>>,
}

impl<'w> Who<'w> {
    fn of(proxy: &'w Proxy) -> Who<'w> {
        let (namespace, name, workload) = (&proxy.namespace, &proxy.name, &proxy.workload);
        let owner = proxy.metadata.get("OWNER").and_then(Value::as_str).and_then(owner::in_metadata);
        let owners = owner.map(|owner| vec![owner]);
        Who { kind: Some(proxy.kind), namespace, name, workload, labels: &proxy.labels, owners }
    }

    fn of_target(target: &'w Target) -> Who<'w> {
        let (namespace, name, workload) = (&target.namespace, &target.pod, &target.workload);
        let owners = Some(target.owners().collect());
        Who { kind: Some(target.kind), namespace, name, workload, labels: &target.labels, owners }
    }

    /// A pod that may have no proxy.
    fn of_pod(pod: &'w Workload) -> Who<'w> {
        let direct = pod.owner.as_ref().map(|(kind, name)| (kind.as_str(), name.as_str()));
        let owners = Some(std::iter::once(pod.controller()).chain(direct).collect());
        let (namespace, name) = (&pod.object.namespace, &pod.object.name);
        Who { kind: None, namespace, name, workload: "", labels: &pod.labels, owners }
    }
}

/// Whether a pod's name is a workload's with the suffixes of Kubernetes: `cart-7d5c8-x2x9q`, `cart-0`.
fn of_workload(pod: &str, workload: &str) -> bool {
    let Some(suffix) = pod.strip_prefix(workload).and_then(|rest| rest.strip_prefix('-')) else { return false };
    let parts: Vec<&str> = suffix.split('-').collect();
    parts.len() <= 2 && parts.iter().all(|part| !part.is_empty() && part.bytes().any(|byte| byte.is_ascii_digit()))
}

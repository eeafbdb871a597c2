//! `lint`: EnvoyFilters that are wrong, risky or have no effect.

use super::chosen::{Chosen, Wanted, chosen};
use super::planes::Plane;
use super::proxies::{self, Given, Kept, Taken};
use super::read::{Feed, Mesh, proxy_of};
use super::scope::Scope;
use super::settings::{Breadth, Progress, Settings};
use super::unread::{self, Named};
use super::{Error, Refusal, manifests};
use crate::cluster::kinds;
use crate::cluster::targets::{self, Target};
use crate::demo;
use crate::engine::REFERENCED_SERVICES;
use crate::explain::Lenders;
use crate::lint::baseline::Baseline;
use crate::lint::config::{Config, FailOn};
use crate::lint::document;
use crate::lint::istioctl::{self, Verdict};
use crate::lint::summary::Summary;
use crate::lint::upgrade::tell::short;
use crate::lint::{self, Finding, Input, RealEnvoy};
use crate::load::{self, Loaded, config as files, reference};
use crate::model::envoy_filter::{Documents, EnvoyFilter};
use crate::model::release::Release;
use crate::model::resource::ProxyConfig;
use crate::source::{Code, Problem, Severity, Sources, escape};
use crate::trial::Trial;
use crate::words::{count, fnv};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The request of `lint`.
#[derive(Clone, Debug, Default)]
pub struct LintRequest {
    /// The mesh.
    pub settings: Settings,
    /// Config dumps; with `demo`, the demo's filters if no file is given.
    pub given: Given,
    /// EnvoyFilters and related objects: files, folders, `-`. Without them, the cluster's.
    pub files: Vec<PathBuf>,
    /// Texts that another program rendered, with their names.
    pub rendered: Vec<(String, String)>,
    /// An Envoy binary to check whether it accepts the patched configuration.
    pub envoy: Option<PathBuf>,
    /// Whether to send standard requests through that Envoy.
    #[cfg(feature = "sandbox")]
    pub run: bool,
    /// Only these rules: codes, prefixes, names.
    pub select: Vec<String>,
    /// Not these rules.
    pub ignore: Vec<String>,
    /// The configuration; by default the nearest `.envoyfilter.yaml` upwards.
    pub config: Option<PathBuf>,
    /// Files and folders with user-defined rules.
    pub rules: Vec<PathBuf>,
    /// Minimum severity of what is reported.
    pub min_severity: Option<Severity>,
    /// Minimum severity of a failure; overrides the configuration.
    pub fail_on: Option<FailOn>,
    /// Restricts the run to the EnvoyFilters of this shard.
    pub shard: Option<Shard>,
    /// Whether to explain why documents without an EnvoyFilter cannot be read.
    pub everything: bool,
    /// Whether to include what istioctl would report.
    pub istioctl: bool,
}

/// One of several shards: every EnvoyFilter belongs to exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Its index, from 0.
    pub index: u32,
    /// The number of shards.
    pub number: u32,
}

impl Shard {
    /// The only shard.
    pub(crate) const ALL: Shard = Shard { index: 0, number: 1 };

    /// Whether an EnvoyFilter, `namespace/name`, belongs to it.
    pub(crate) fn owns(self, filter: &str) -> bool {
        fnv(filter) % u64::from(self.number.max(1)) == u64::from(self.index)
    }
}

/// The report of `lint`.
#[derive(Debug)]
pub struct LintReport {
    /// Texts, objects and the loader's problems.
    pub loaded: Loaded,
    /// The findings, by place.
    pub findings: Vec<Finding>,
    /// The requested EnvoyFilters, `namespace/name`; `None`: all.
    pub asked: Option<BTreeSet<String>>,
    /// Counts, and what is unknown.
    pub summary: Summary,
    /// The judged releases, such as `1.31`.
    pub releases: Vec<String>,
    /// What could not be read, as sentences.
    pub trouble: Vec<String>,
    /// What istioctl would report, if requested.
    pub verdicts: Vec<Verdict>,
    /// The minimum severity of a failure.
    pub fail_on: FailOn,
    /// What no finding covers: documents and proxies that could not be read.
    pub problems: Vec<Problem>,
    /// Further details; shown only with --verbose.
    pub notes: Vec<String>,
    /// Whether the cluster's EnvoyFilters were listed completely.
    pub complete: bool,
    /// What was read.
    pub scope: Scope,
    /// The proxies of a mesh that were not read, by EnvoyFilter (`namespace/name`); only where there are any.
    pub unread: BTreeMap<String, UnreadProxies>,
    /// Why objects of a mesh could not be read: every EnvoyFilter was judged without them.
    pub without: Vec<String>,
}

/// How many proxies of an EnvoyFilter were not read, of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnreadProxies {
    /// Those without a config dump.
    pub unread: usize,
    /// All that it attaches to; replicas count once unless all of them are read.
    pub of: usize,
}

/// What was not checked about an EnvoyFilter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotChecked {
    /// A sentence.
    pub why: String,
    /// Whether nothing about it counts as checked.
    pub at_all: bool,
}

impl LintReport {
    /// What was not checked about an EnvoyFilter; `None` if everything that matters was read.
    pub(crate) fn not_checked(&self, filter: &str) -> Option<NotChecked> {
        if let Some(UnreadProxies { unread, of }) = self.unread.get(filter) {
            let why = format!("not checked on {unread} of {}: no config dump", count(*of, "proxy", "proxies"));
            return Some(NotChecked { why, at_all: unread == of });
        }
        let first = self.without.first()?;
        let more = self.without.len() - 1;
        let why = if more > 0 { format!("{first}, and {more} more") } else { first.clone() };
        Some(NotChecked { why, at_all: true })
    }

    /// How many inputs could not be read: those that make the run a failure, and what the scope lists.
    pub(crate) fn unread_inputs(&self) -> usize {
        let scope = self.scope.unread.iter().map(|one| &one.message);
        self.trouble.iter().chain(scope).collect::<BTreeSet<_>>().len()
    }

    /// Whether any finding is severe enough to fail.
    pub(crate) fn fails(&self) -> bool {
        self.findings.iter().any(|finding| self.fail_on.fails(finding.severity))
    }

    /// Removes findings that a baseline lists.
    pub(crate) fn apply(&mut self, baseline: &Baseline) {
        let (sources, filters) = (&self.loaded.sources, &self.loaded.inventory.envoy_filters);
        let outcome = baseline.apply(std::mem::take(&mut self.findings), sources, filters);
        self.findings = outcome.new;
        (self.summary.known, self.summary.gone) = (outcome.known, outcome.gone);
    }

    /// The baseline extended by these findings. Entries that this run did not check stay: files that were not given, as long as
    /// they exist.
    pub(crate) fn baseline(&self, old: &Baseline) -> Baseline {
        let sources = &self.loaded.sources;
        let looked = |name: &str| sources.iter().any(|(_, source)| source.name == name);
        old.updated(&self.findings, sources, &self.loaded.inventory.envoy_filters, |known| {
            !looked(&known.file) && files::exists(Path::new(&known.file))
        })
    }
}

/// Reads everything and runs the rules.
pub fn lint(request: &LintRequest, progress: &dyn Progress) -> Result<LintReport, Error> {
    let LintRequest { settings, given, .. } = request;
    if !request.has_files() && !given.dumps.is_empty() {
        return Err(Refusal::NothingToLint.into());
    }
    given.one_standard_input(&[&request.files])?;
    let trial = request.envoy.as_deref().map(Trial::start).transpose()?;
    let trial = trial.as_ref();
    let mut mesh = open(request, progress)?;
    let mut judged = Judged::default();
    judged.summary.files = mesh.loaded.sources.iter().count();
    let chosen = chosen(&request.wanted(), &mut mesh.loaded)?;
    judged.summary.unknown.extend(chosen.ignored.iter().cloned());
    if let Some(shard) = request.shard {
        ask_only_about(shard, &mut mesh);
    }
    let filters = &mesh.loaded.inventory.envoy_filters;
    let own: Cow<'_, [EnvoyFilter]> = match request.shard {
        Some(_) => filters.iter().filter(|filter| is_asked(&mesh, filter)).cloned().collect(),
        // Filters outside the request still take effect.
        None => Cow::Borrowed(filters),
    };
    let mut taken = Taken::default();
    // Proxies that no filter reaches are irrelevant.
    let reached = mesh.reached_by(&own);
    let dumps = mesh.all(given, &reached, &mut taken)?;
    let configs: Vec<(usize, ProxyConfig<'_>)> =
        dumps.iter().filter_map(|kept| Some((kept.plane, proxies::config(kept, &mut taken.problems)?))).collect();
    #[cfg(feature = "sandbox")]
    let observer = match request.envoy.as_deref().filter(|_| request.run) {
        Some(envoy) => Some(super::requests::Observer::new(envoy, &request.files, given, settings, &dumps)?),
        None => None,
    };
    #[cfg(feature = "sandbox")]
    let observer = observer.as_ref().map(|observer| -> &dyn lint::Observer { observer });
    #[cfg(not(feature = "sandbox"))]
    let observer = None;
    let real = RealEnvoy { trial, observer };
    judged.summary.filters = filters.len();
    if mesh.is_read() {
        // A capture contains more files next to its EnvoyFilters than its cluster would give.
        judged.summary.files = filters.len();
    }
    judged.summary.patches = filters.iter().map(|filter| filter.patches.len()).sum();
    judged.summary.dumps = configs.len();
    let problems = judged.unread(request, &mesh, &taken);
    judged.notes.extend(mesh.requests().map(|(number, of)| format!("{number} requests to {of}")));
    let (passes, files_mesh) = passes(&mesh, settings, given, &chosen.config);
    for pass in &passes {
        let dumps: Vec<ProxyConfig<'_>> = configs
            .iter()
            .filter(|(of, _)| pass.plane.is_none_or(|plane| plane == *of))
            .map(|(_, config)| config.clone())
            .collect();
        let inventory = mesh.judged_by(pass.plane.unwrap_or_default());
        let input = Input {
            sources: &mesh.loaded.sources,
            inventory: &inventory,
            problems: &mesh.loaded.problems,
            dumps: &dumps,
            references: if filters.is_empty() { &[] } else { reference::configs(pass.release) },
            release: pass.release,
            mesh: pass.plane.and_then(|plane| mesh.planes.get(plane)).map_or(&files_mesh, |plane| &plane.mesh),
        };
        judged.pass(&input, real, &chosen, (request.istioctl, mesh.lenders()));
    }
    judged.notes.extend(trial.map(lint::tried::story));
    let releases: Vec<String> = passes.iter().map(|pass| pass.release.label()).collect();
    if configs.is_empty() {
        let lines: Vec<String> = passes.iter().map(|pass| short(pass.release)).collect();
        judged.without_dumps(given, &mesh, &lines);
    }
    let mut findings = judged.reported(request, &mesh);
    of_rendered(request, &mesh.loaded.sources, &mut findings);
    let of_config = chosen.config.fail_on.filter(|_| judged.governs_all);
    let fail_on = request.fail_on.or(of_config).unwrap_or(FailOn::At(Severity::Error));
    let scope = mesh.scope(given, &taken, judged.summary.filters);
    let unread = unread_proxies(&mesh, &own, &dumps);
    let without = without_finding(&mesh);
    let complete = mesh.lists(kinds::ENVOY_FILTER) && !mesh.interrupted();
    drop(configs);
    drop(reached);
    let Judged { summary, trouble, notes, verdicts, .. } = judged;
    let Mesh { loaded, asked, .. } = mesh;
    Ok(LintReport {
        loaded,
        findings,
        asked,
        summary,
        releases,
        trouble,
        verdicts,
        fail_on,
        problems,
        notes,
        complete,
        scope,
        unread,
        without,
    })
}

/// Errors of the reader that no finding is about.
fn without_finding(mesh: &Mesh<'_>) -> Vec<String> {
    let unreadable = |it: &Problem| mesh.is_read() && document::unread_aside(&mesh.loaded.sources, it);
    let is_open = |it: &&Problem| it.severity == Severity::Error && (it.span.is_none() || unreadable(it));
    mesh.loaded.problems.iter().filter(is_open).map(|problem| problem.message.clone()).collect()
}

/// The proxies that each filter attaches to and that were not read.
fn unread_proxies(mesh: &Mesh<'_>, filters: &[EnvoyFilter], dumps: &[Kept]) -> BTreeMap<String, UnreadProxies> {
    let read: BTreeSet<(&str, &str)> = dumps
        .iter()
        .filter_map(|kept| Some((kept.identity.namespace.as_deref()?, kept.identity.name.as_deref()?)))
        .collect();
    let was_read = |target: &Target| read.contains(&(target.namespace.as_str(), target.pod.as_str()));
    let mut found: BTreeMap<String, UnreadProxies> = BTreeMap::new();
    let groups = targets::groups(mesh.targets().to_vec(), mesh.settings.cluster.all_replicas);
    if groups.iter().all(|group| group.iter().any(was_read)) {
        return found;
    }
    for group in groups {
        let Some(target) = group.first() else { continue };
        let unread = !group.iter().any(was_read);
        let proxy = proxy_of(target);
        for filter in filters.iter().filter(|filter| mesh.reaches(filter, target, &proxy)) {
            let of_filter = found.entry(filter.full_name()).or_default();
            of_filter.of += 1;
            of_filter.unread += usize::from(unread);
        }
    }
    found.retain(|_, proxies| proxies.unread > 0);
    found
}

impl LintRequest {
    /// Whether files are linted, rather than the content of a cluster.
    fn has_files(&self) -> bool {
        !self.files.is_empty() || !self.rendered.is_empty()
    }

    /// The rules and the configuration that are asked for.
    fn wanted(&self) -> Wanted<'_> {
        Wanted {
            files: &self.files,
            config: self.config.as_ref(),
            rules: &self.rules,
            select: &self.select,
            ignore: &self.ignore,
        }
    }
}

/// The mesh of the request: files, the demo, a capture or a cluster.
fn open<'p>(request: &LintRequest, progress: &'p dyn Progress) -> Result<Mesh<'p>, Error> {
    let LintRequest { settings, given, .. } = request;
    let options = settings.load_options();
    if request.has_files() {
        let mut loaded = load::read(&request.files, &options);
        for (name, text) in &request.rendered {
            loaded.add_text(name, text.as_str(), &options);
        }
        if !request.rendered.is_empty() {
            options.secrets.with(|secrets| loaded.secrets(secrets));
        }
        manifests::mesh(settings, loaded, given, progress)
    } else if given.demo {
        manifests::mesh(settings, load::read_text(demo::FILTERS_NAME, demo::FILTERS, &options), given, progress)
    } else {
        manifests::open(settings, &kinds::LINT, progress, |_| Breadth::Namespace)
    }
}

/// Names the template of findings in rendered texts. A fix cannot be written into what another program rendered: it
/// becomes a note that says where to write it.
fn of_rendered(request: &LintRequest, sources: &Sources, findings: &mut [Finding]) {
    for finding in findings {
        let source = sources.get(finding.primary.span.file);
        if !request.rendered.iter().any(|(name, _)| *name == source.name) {
            continue;
        }
        // Helm writes the template above each document.
        let above = source.text.get(..finding.primary.span.start as usize).unwrap_or_default();
        let template = above.lines().rev().find_map(|line| line.strip_prefix("# Source: "));
        let whence = template.map(|template| escape::one_line(template).into_owned());
        match (finding.fix.take(), whence) {
            (Some(fix), Some(template)) => {
                finding.notes.push(format!("to fix it, edit {template}: {}", fix.description()));
            }
            (Some(fix), None) => {
                finding.notes.push(format!("to fix it, edit the file it is rendered from: {}", fix.description()));
            }
            (None, Some(template)) => finding.notes.push(format!("rendered from {template}")),
            (None, None) => {}
        }
    }
}

/// Whether findings of a filter are reported.
fn is_asked(mesh: &Mesh<'_>, filter: &EnvoyFilter) -> bool {
    mesh.asked.as_ref().is_none_or(|asked| asked.contains(&filter.full_name()))
}

/// Leaves the filters of one part of the work.
fn ask_only_about(shard: Shard, mesh: &mut Mesh<'_>) {
    let filters = mesh.loaded.inventory.envoy_filters.iter();
    let asked = filters.filter(|filter| shard.owns(&filter.full_name()) && is_asked(mesh, filter));
    mesh.asked = Some(asked.map(EnvoyFilter::full_name).collect());
}

/// What the passes found, added up.
struct Judged {
    summary: Summary,
    trouble: Vec<String>,
    notes: Vec<String>,
    verdicts: Vec<Verdict>,
    /// Findings by release.
    findings: Vec<(Release, Vec<Finding>)>,
    /// Whether the configuration is the one of every file.
    governs_all: bool,
}

impl Default for Judged {
    fn default() -> Judged {
        Judged {
            summary: Summary::default(),
            trouble: Vec::new(),
            notes: Vec::new(),
            verdicts: Vec::new(),
            findings: Vec::new(),
            governs_all: true,
        }
    }
}

impl Judged {
    /// Notes documents and proxies that could not be read, and returns those that no finding reports.
    fn unread(&mut self, request: &LintRequest, mesh: &Mesh<'_>, taken: &Taken) -> Vec<Problem> {
        let mut problems = Vec::new();
        // Problems with a place in a document become findings.
        let nothing = mesh.loaded.sources.iter().next().is_none();
        for problem in mesh.loaded.problems.iter().chain(&taken.problems).filter(|problem| problem.span.is_none()) {
            let mut problem = problem.clone();
            // An empty folder beside others is odd; alone, it is the wrong folder.
            if nothing && problem.code == Code::EmptyDirectory {
                problem.severity = Severity::Error;
            }
            if problem.severity == Severity::Error {
                self.trouble.push(problem.message.clone());
            }
            problems.push(problem);
        }
        let (summary, trouble) = (&mut self.summary, &mut self.trouble);
        let named = if mesh.is_read() { Named::All } else { Named::Files(&request.files) };
        problems.extend(unread::beside(named, request.everything, &mesh.loaded, summary, trouble));
        problems
    }

    /// Runs the rules for one release or control plane.
    fn pass(&mut self, input: &Input<'_>, real: RealEnvoy<'_>, chosen: &Chosen, (istioctl, lenders): (bool, Lenders)) {
        let Chosen { config, folder, rules, .. } = chosen;
        let path = |name: &str| files::relative(name, folder);
        let checked = if input.dumps.is_empty() && real.trial.is_none() {
            let checked = if istioctl {
                lint::check_beside_istioctl(input, rules, config, path)
            } else {
                lint::check(input, rules, config, path).map(|()| Vec::new())
            };
            checked.map(|verdicts| (verdicts, Default::default(), None, None))
        } else {
            lint::check_with(input, real, rules, config, path, |cx| {
                let of_envoy = cx.trials.as_ref().map(|trials| {
                    let asked = real.trial.and_then(|trial| trial.other_release(&cx.proxy_releases()));
                    (asked.into_iter().chain(trials.unknown(cx)).collect::<Vec<_>>(), trials.trouble.clone())
                });
                let of_requests = cx.requests.as_ref().map(|requests| (requests.unknown(&cx.runs), requests.sent()));
                let verdicts = if istioctl { istioctl::verdicts(cx) } else { Vec::new() };
                (verdicts, (lint::live::states(cx), lint::live::unknown_services(cx)), of_envoy, of_requests)
            })
        };
        let summary = &mut self.summary;
        summary.suppressed = summary.suppressed.max(checked.suppressed);
        self.governs_all &= checked.governs_all;
        let (of_envoy, of_requests, hosts);
        (self.verdicts, ((summary.dump_states, summary.proven), hosts), of_envoy, of_requests) = checked.seen;
        let advice = lenders.advice().map(|advice| format!("; {advice}")).unwrap_or_default();
        summary.unknown.extend(hosts.iter().map(|host| {
            format!(
                "not checked: patches of the outbound clusters that {REFERENCED_SERVICES} adds for {host}, which no config \
                 dump here contains{advice}"
            )
        }));
        if let Some((unknown, sent)) = of_requests {
            summary.unknown.extend(unknown);
            self.notes.push(format!("{} sent through Envoy", count(sent, "request", "requests")));
        }
        if let Some((unknown, stopped)) = of_envoy {
            summary.unknown.extend(unknown);
            self.trouble.extend(stopped.map(|stopped| stopped.message));
        }
        self.findings.push((input.release, checked.findings));
    }

    /// Says what findings without config dumps rest on.
    fn without_dumps(&mut self, given: &Given, mesh: &Mesh<'_>, releases: &[String]) {
        let summary = &mut self.summary;
        // Others, such as those of the root namespace, are only judged along with them.
        let filters = mesh.asked.as_ref().map_or(summary.filters, BTreeSet::len);
        if filters == 0 {
            return;
        }
        let why = if given.any() { "no config dump could be used" } else { "not checked: no config dump" };
        summary.unknown.push(format!(
            "{why}; {} judged on the reference configuration of Istio {}",
            count(filters, "EnvoyFilter", "EnvoyFilters"),
            releases.join(", ")
        ));
        if mesh.loaded.inventory.workloads.is_empty() && !mesh.has_targets() {
            summary.unknown.push("not checked: selectors, as no workloads were given".to_owned());
        }
    }

    /// The findings of all passes to report; the counts are adjusted to them.
    fn reported(&mut self, request: &LintRequest, mesh: &Mesh<'_>) -> Vec<Finding> {
        let mut findings = lint::merged(std::mem::take(&mut self.findings));
        if let Some(asked) = &mesh.asked {
            let filters = &mesh.loaded.inventory.envoy_filters;
            let documents = Documents::of(filters);
            findings.retain(|finding| {
                let about = documents.at(finding.primary.span).and_then(|index| filters.get(index));
                about.is_none_or(|filter| is_asked(mesh, filter))
            });
            self.summary.filters = asked.len();
            let asked = filters.iter().filter(|filter| is_asked(mesh, filter));
            self.summary.patches = asked.map(|filter| filter.patches.len()).sum();
        }
        if let Some(least) = request.min_severity {
            let of = |severity| findings.iter().filter(|one| one.severity == severity && severity < least).count();
            let warnings = (of(Severity::Warning), "warning", "warnings");
            let infos = (of(Severity::Info), "info", "infos");
            let hidden = [warnings, infos].into_iter().filter(|(number, ..)| *number > 0);
            let hidden: Vec<String> = hidden.map(|(number, one, many)| count(number, one, many)).collect();
            if !hidden.is_empty() {
                let hidden = hidden.join(" and ");
                self.summary.unknown.push(format!("not shown: {hidden}, because of --min-severity {}", least.as_str()));
            }
            self.summary.least = Some(least);
            findings.retain(|finding| finding.severity >= least);
        }
        findings
    }
}

/// A release to judge.
struct Pass {
    release: Release,
    /// Index of its control plane; `None`: files.
    plane: Option<usize>,
}

/// In a cluster, each proxy is judged with its own control plane's release and settings; for files, the configuration gives the
/// releases.
fn passes(
    mesh: &Mesh<'_>,
    settings: &Settings,
    given: &Given,
    config: &Config,
) -> (Vec<Pass>, crate::engine::MeshSettings) {
    let proxies = given.identity.istio_version.as_deref().and_then(|version| version.parse().ok());
    let files = crate::engine::MeshSettings { proxies, ..settings.mesh(&mesh.loaded.inventory) };
    if !matches!(mesh.feed, Feed::Given) {
        let of = |(number, plane): (usize, &Plane)| Pass { release: plane.release, plane: Some(number) };
        return (mesh.planes.iter().enumerate().map(of).collect(), files);
    }
    let releases = match settings.istio_version {
        Some(release) => vec![release],
        None if config.istio_versions.is_empty() => vec![Release::NEWEST],
        None => config.istio_versions.clone(),
    };
    (releases.into_iter().map(|release| Pass { release, plane: None }).collect(), files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_belongs_to_one_shard() {
        for number in 1..6 {
            let mut sizes = vec![0; number as usize];
            for filter in 0..1_000 {
                let name = format!("shop/filter-{filter}");
                let owners: Vec<u32> = (0..number).filter(|&index| Shard { index, number }.owns(&name)).collect();
                assert_eq!(owners.len(), 1, "{name} of {number}");
                sizes[owners[0] as usize] += 1;
            }
            assert!(sizes.iter().all(|size| size * number > 700), "{sizes:?}");
        }
    }
}

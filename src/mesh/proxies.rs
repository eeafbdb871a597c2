//! Passes proxies to a question, one by one or all at once, from any source.

use super::read::{Feed, Mesh};
use super::scope::{Origin, ProxyScope, Scope};
#[cfg(feature = "cluster")]
use super::settings::Quiet;
use super::unread::{self, Missing, sent_by_istiod};
use super::{Error, Refusal};
#[cfg(feature = "cluster")]
use crate::cluster::Via;
use crate::cluster::targets::{self, Target};
use crate::demo;
use crate::engine::{matching, services};
use crate::load::dump::{Dump, Identity, Layout, Pool, Searched, Wanted};
use crate::load::dumps;
use crate::load::limits::Limits;
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::proxy::Proxy;
#[cfg(feature = "cluster")]
use crate::model::proxy::ProxyKind;
use crate::model::resource::ProxyConfig;
use crate::source::{Code, Problem, Severity};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Maximum number of a cluster's proxies that are asked for clusters missing from another one.
#[cfg(feature = "cluster")]
const LENDERS: usize = 8;

/// Why there is no config dump of a pod in a capture.
const NOT_CAPTURED: &str = "the capture does not contain it";

/// What to do about that.
const ALL_REPLICAS: &str = "`kubectl envoyfilter capture --all-replicas` reads the proxies of all pods";

/// Config dumps named by a caller, and what is known about their proxies.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Files, folders, `-` for standard input.
    pub dumps: Vec<PathBuf>,
    /// The proxy of the demo mesh.
    pub demo: bool,
    /// The identity of the proxies; overrides the dumps.
    pub identity: Identity,
}

impl Given {
    /// Whether there is a source of proxies.
    pub(crate) fn any(&self) -> bool {
        self.demo || !self.dumps.is_empty()
    }

    /// Rejects a request that reads standard input twice: for dumps and for one of these lists of files.
    pub(crate) fn one_standard_input(&self, files: &[&[PathBuf]]) -> Result<(), Error> {
        let lists = files.iter().copied().chain([self.dumps.as_slice()]);
        let wanting = lists.filter(|list| list.iter().any(|path| path.as_os_str() == "-")).count();
        if wanting < 2 { Ok(()) } else { Err(Refusal::StandardInputTwice.into()) }
    }
}

/// One proxy passed to a question.
pub(super) struct Offer<'d> {
    /// Its dump.
    pub(super) dump: &'d Dump,
    /// The proxy and its configuration.
    pub(super) config: ProxyConfig<'d>,
    /// Index of its control plane among the planes of the mesh.
    pub(super) plane: usize,
    /// Whether the dump shows what a proxy of the mesh runs with; see [`Kept::running`].
    pub(super) running: bool,
}

/// A dump with what is known about its proxy.
pub(super) struct Kept {
    /// The dump.
    pub(super) dump: Dump,
    /// The identity of the proxy; overrides the dump.
    pub(super) identity: Identity,
    /// Index of its control plane.
    pub(super) plane: usize,
    /// Whether the dump shows what a proxy of the mesh runs with. Not so for a file that somebody names, whose filters may be
    /// new, nor for what istiod would send.
    pub(super) running: bool,
}

/// What reading proxies gave in addition to the proxies.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// What could not be read.
    pub(super) problems: Vec<Problem>,
    /// How many of how many.
    pub(super) proxies: ProxyScope,
}

/// What to do with a dump.
type Take<'t> = dyn FnMut(&mut Vec<Problem>, Kept) -> io::Result<()> + 't;

impl Mesh<'_> {
    /// Visits the requested proxies, a few dumps in memory at a time. Failures are noted.
    pub(super) fn visit(
        &self,
        given: &Given,
        wanted: &dyn Fn(&Target) -> bool,
        taken: &mut Taken,
        visit: &mut dyn FnMut(&Offer<'_>),
    ) -> Result<(), Error> {
        self.visit_with(&self.loaded.inventory.envoy_filters, given, wanted, taken, visit)
    }

    /// The same for EnvoyFilters other than those of the mesh, which may refer to other services.
    pub(super) fn visit_with(
        &self,
        filters: &[EnvoyFilter],
        given: &Given,
        wanted: &dyn Fn(&Target) -> bool,
        taken: &mut Taken,
        visit: &mut dyn FnMut(&Offer<'_>),
    ) -> Result<(), Error> {
        let lent = self.lent(filters, given, wanted)?;
        let mut searched = Searched::default();
        self.each(given, Layout::Dropped, wanted, taken, &mut |problems, mut kept| {
            kept.dump.lend(Arc::clone(&lent));
            match kept.dump.config(&kept.identity) {
                Ok(config) => visit(&Offer { dump: &kept.dump, config, plane: kept.plane, running: kept.running }),
                Err(problem) => problems.push(named(&kept.dump, problem)),
            }
            self.settings.secrets.with(|secrets| kept.dump.secrets(Wanted::Read, secrets, &mut searched));
            Ok(())
        })
    }

    /// Reads and keeps the requested dumps, sharing equal texts. Failures are noted.
    pub(super) fn all(
        &self,
        given: &Given,
        wanted: &dyn Fn(&Target) -> bool,
        taken: &mut Taken,
    ) -> Result<Vec<Kept>, Error> {
        let mut all: Vec<Kept> = Vec::new();
        let (mut pool, mut searched) = (Pool::default(), Searched::default());
        self.each(given, Layout::Dropped, wanted, taken, &mut |_, mut kept| {
            self.settings.secrets.with(|secrets| kept.dump.secrets(Wanted::All, secrets, &mut searched));
            // A single one has nothing to share.
            if let [first] = all.as_mut_slice() {
                first.dump.share(&mut pool);
            }
            if !all.is_empty() {
                kept.dump.share(&mut pool);
            }
            all.push(kept);
            Ok(())
        })?;
        let hosts = referenced_hosts(&self.loaded.inventory.envoy_filters);
        if !hosts.is_empty() {
            let configs = all.iter().filter_map(|kept| kept.dump.config(&kept.identity).ok());
            let mut lent: BTreeMap<String, String> =
                configs.flat_map(|config| services::clusters_of(&config, &hosts)).collect();
            // Given dumps were all read. Elsewhere, proxies that no filter reaches may have the others.
            let known = |host: &&str| lent.keys().any(|name| matching::parse_subset_key(name).host == *host);
            if !matches!(self.feed, Feed::Given) && !hosts.iter().all(known) {
                let others = self.lent(&self.loaded.inventory.envoy_filters, given, wanted)?;
                lent.extend(others.iter().map(|(name, text)| (name.clone(), text.clone())));
            }
            let lent = Arc::new(lent);
            all.iter_mut().for_each(|kept| kept.dump.lend(Arc::clone(&lent)));
        }
        Ok(all)
    }

    /// Clusters of services that filters' annotations refer to, from all given dumps: a waypoint gets them, but its own dump
    /// may not contain them. In a cluster, a few proxies are read until all are known.
    pub(super) fn lent(
        &self,
        filters: &[EnvoyFilter],
        given: &Given,
        #[cfg_attr(
            not(feature = "cluster"),
            expect(unused_variables, reason = "only a running mesh has many to choose from")
        )]
        wanted: &dyn Fn(&Target) -> bool,
    ) -> Result<Arc<BTreeMap<String, String>>, Error> {
        let mut lent = BTreeMap::new();
        let hosts = referenced_hosts(filters);
        if hosts.is_empty() {
            return Ok(Arc::new(lent));
        }
        let mut searched = Searched::default();
        let mut take = |kept: &Kept| {
            if let Ok(config) = kept.dump.config(&kept.identity) {
                lent.extend(services::clusters_of(&config, &hosts));
            }
            self.settings.secrets.with(|secrets| kept.dump.secrets(Wanted::Read, secrets, &mut searched));
        };
        match &self.feed {
            Feed::Given if given.dumps.iter().any(|path| path.as_os_str() == "-") => {}
            Feed::Given | Feed::Captured(..) => {
                self.each(given, Layout::Dropped, &|_| true, &mut Taken::default(), &mut |_, kept| {
                    take(&kept);
                    Ok(())
                })?;
            }
            #[cfg(feature = "bottle")]
            Feed::Bottled(_) => {
                self.each(given, Layout::Dropped, &|_| true, &mut Taken::default(), &mut |_, kept| {
                    take(&kept);
                    Ok(())
                })?;
            }
            #[cfg(feature = "cluster")]
            Feed::Live(live, targets) => {
                let waypoint = |target: &Target| target.kind == ProxyKind::Waypoint;
                if !targets.iter().any(|target| waypoint(target) && wanted(target)) {
                    return Ok(Arc::new(lent));
                }
                let others = targets.iter().filter(|target| !waypoint(target) && target.ready).cloned().collect();
                let mut groups = targets::groups(others, false);
                // The workloads of a service's own namespace see it, unless a Sidecar hides it.
                let elsewhere =
                    |target: &Target| !hosts.iter().any(|host| namespace_of(host) == Some(&target.namespace));
                groups.sort_by_cached_key(|group| group.first().is_none_or(elsewhere));
                groups.truncate(LENDERS);
                // What cannot be read here is reported later, when its clusters are missing.
                live.each(groups, &Quiet, &mut Vec::new(), &mut |_, dump, target, _| {
                    let identity = of_pod(&given.identity, target);
                    take(&Kept { dump, identity, plane: 0, running: true });
                    Ok(())
                })?;
            }
        }
        Ok(Arc::new(lent))
    }

    /// The basis of the answer.
    pub(super) fn scope(&self, given: &Given, taken: &Taken, filters: usize) -> Scope {
        let origin = if given.demo { Origin::Demo } else { self.origin.clone() };
        let mut control_planes = Scope::planes(&self.planes, &self.facts);
        if !self.is_mesh() && self.has_targets() {
            let read = !self.loaded.inventory.meshes.is_empty();
            control_planes.iter_mut().for_each(|plane| plane.mesh_config = read);
        }
        Scope {
            origin,
            namespaces: self.only.as_deref().or_else(|| self.captured_namespace()).map(|only| vec![only.to_owned()]),
            control_planes,
            filters,
            proxies: taken.proxies,
            unread: Scope::unread(
                self.loaded.problems.iter().chain(&taken.problems),
                // Named files have findings, and a folder may contain unrelated ones.
                self.is_read().then_some(&self.loaded.sources),
            ),
            lenders: self.lenders(),
        }
    }

    /// Rejects the name of one proxy for several of a mesh: their configurations would all be shown as its own.
    fn one_identity(&self, given: &Given, wanted: &dyn Fn(&Target) -> bool) -> Result<(), Error> {
        let Identity { name, workload, .. } = &given.identity;
        let option = if name.is_some() { "--proxy-name" } else { "--proxy-workload" };
        if name.is_none() && workload.is_none() {
            return Ok(());
        }
        let wanted: Vec<Target> = self.targets().iter().filter(|target| wanted(target)).cloned().collect();
        let proxies = targets::groups(wanted, self.settings.cluster.all_replicas).len();
        if proxies < 2 {
            return Ok(());
        }
        let message = format!("{option} renames one proxy, and this question is about {proxies}");
        let help = "it selects none: name a pod, or restrict the question with -n";
        Err(Error::Text { message, help: Some(help.to_owned()) })
    }

    /// Passes on every dump, each proxy once. Its secrets are not known yet.
    pub(super) fn each(
        &self,
        given: &Given,
        layout: Layout,
        wanted: &dyn Fn(&Target) -> bool,
        taken: &mut Taken,
        take: &mut Take<'_>,
    ) -> Result<(), Error> {
        if self.has_targets() {
            self.one_identity(given, wanted)?;
        }
        let Taken { problems, proxies } = taken;
        let mut read = 0;
        let mut take = |problems: &mut Vec<Problem>, kept: Kept| {
            read += 1;
            take(problems, kept)
        };
        match &self.feed {
            Feed::Given => {
                let before = problems.len();
                each_given(given, self.settings.limits, layout, problems, &mut take)?;
                let lost = problems[before..].iter().filter(|problem| problem.severity == Severity::Error).count();
                proxies.of += read + lost;
                proxies.pods += read + lost;
            }
            Feed::Captured(capture, targets) => {
                let wanted: Vec<Target> = targets.iter().filter(|target| wanted(target)).cloned().collect();
                proxies.pods += wanted.len();
                let groups = targets::groups(wanted, self.settings.cluster.all_replicas);
                proxies.of += groups.len();
                let mut firsts: BTreeMap<String, Target> = BTreeMap::new();
                let mut missing = Missing::default();
                for group in groups {
                    // The replica that was read when the capture was made.
                    match group.iter().find(|target| capture.dumps.contains(&target.full_name())) {
                        Some(target) => drop(firsts.insert(target.full_name(), target.clone())),
                        None => group
                            .iter()
                            .take(1)
                            .for_each(|target| missing.add(target, &[NOT_CAPTURED.to_owned()], ALL_REPLICAS)),
                    }
                }
                let mut of_istiod = 0;
                capture.each(&firsts.keys().cloned().collect(), &mut |pod, dump, mut trouble| {
                    if let Some(target) = firsts.get(pod).filter(|_| unread::is_cut(&trouble)) {
                        missing.add(target, &[unread::CUT.to_owned()], "capture the mesh again");
                        return Ok(());
                    }
                    problems.append(&mut trouble);
                    match (dump, firsts.get(pod)) {
                        (Some(dump), Some(target)) => {
                            let plane = self.plane_of(&target.revision);
                            let running = !capture.of_istiod().contains(pod);
                            of_istiod += usize::from(!running);
                            take(problems, Kept { dump, identity: of_pod(&given.identity, target), plane, running })
                        }
                        _ => Ok(()),
                    }
                })?;
                missing.note(problems);
                problems.extend(sent_by_istiod(of_istiod));
            }
            #[cfg(feature = "bottle")]
            Feed::Bottled(bottled) => {
                let wanted: Vec<Target> = bottled.targets().iter().filter(|target| wanted(target)).cloned().collect();
                proxies.pods += wanted.len();
                let groups = targets::groups(wanted, self.settings.cluster.all_replicas);
                proxies.of += groups.len();
                let firsts: Vec<Target> = groups.into_iter().filter_map(|group| group.into_iter().next()).collect();
                bottled.each(&firsts, self.progress, problems, &mut |problems, dump, target| {
                    take(problems, Kept { dump, identity: of_pod(&given.identity, target), plane: 0, running: false })
                })?;
            }
            #[cfg(feature = "cluster")]
            Feed::Live(live, targets) => {
                let wanted: Vec<Target> = targets.iter().filter(|target| wanted(target)).cloned().collect();
                proxies.pods += wanted.len();
                let groups = targets::groups(wanted, self.settings.cluster.all_replicas);
                proxies.of += groups.len();
                live.each(groups, self.progress, problems, &mut |problems, dump, target, via| {
                    let plane = self.plane_of(&target.revision);
                    let running = via != Via::Istiod;
                    take(problems, Kept { dump, identity: of_pod(&given.identity, target), plane, running })
                })?;
            }
        }
        proxies.read += read;
        Ok(())
    }
}

/// The configuration in a dump that was kept.
pub(super) fn config<'d>(kept: &'d Kept, problems: &mut Vec<Problem>) -> Option<ProxyConfig<'d>> {
    match kept.dump.config(&kept.identity) {
        Ok(config) => Some(config),
        Err(problem) => {
            problems.push(named(&kept.dump, problem));
            None
        }
    }
}

/// The API server's state of a pod is newer than what its proxy was started with, and decides: istiod selects by the pod's
/// labels (`pilot/pkg/model/context.go`, `SetWorkloadLabels`).
pub(super) fn of_pod(said: &Identity, target: &Target) -> Identity {
    let said = said.clone();
    Identity {
        name: said.name.or_else(|| Some(target.pod.clone())),
        namespace: said.namespace.or_else(|| Some(target.namespace.clone())),
        workload: said.workload.or_else(|| Some(target.workload.clone())),
        labels: said.labels.or_else(|| Some(target.labels.clone())),
        ..said
    }
}

fn each_given(
    given: &Given,
    limits: Limits,
    layout: Layout,
    problems: &mut Vec<Problem>,
    take: &mut Take<'_>,
) -> io::Result<()> {
    let (paths, mut trouble) = dumps::list(&given.dumps);
    problems.append(&mut trouble);
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    let demo = given.demo.then_some(None);
    for path in demo.into_iter().chain(paths.into_iter().map(Some)) {
        let (dump, mut trouble) = path.as_deref().map_or_else(demo::dump, |path| dumps::read(path, layout, limits));
        problems.append(&mut trouble);
        let Some(dump) = dump else { continue };
        if let Some(first) = dump.node_id().and_then(|id| seen.get(id)) {
            problems.push(twice(&dump, first));
            continue;
        }
        seen.extend(dump.node_id().map(|id| (id.to_owned(), dump.name().to_owned())));
        take(problems, Kept { dump, identity: given.identity.clone(), plane: 0, running: false })?;
    }
    Ok(())
}

pub(super) fn named(dump: &Dump, problem: Problem) -> Problem {
    Problem { message: format!("{}: {}", dump.name(), problem.message), ..problem }
}

fn twice(dump: &Dump, first: &str) -> Problem {
    let who = dump.proxy().map_or_else(|| "one pod".to_owned(), Proxy::full_name);
    Problem {
        code: Code::DumpTwice,
        severity: Severity::Error,
        span: None,
        message: format!("{first} and {} are both config dumps of {who}: the second is ignored", dump.name()),
        help: Some("give one config dump for each pod".to_owned()),
    }
}

/// The namespace in the name of a Kubernetes service: `name.namespace.svc…`.
#[cfg(feature = "cluster")]
fn namespace_of(host: &str) -> Option<&str> {
    let mut parts = host.split('.').skip(1);
    let namespace = parts.next()?;
    (parts.next() == Some("svc")).then_some(namespace)
}

/// The hosts that annotations of EnvoyFilters refer to.
fn referenced_hosts(filters: &[EnvoyFilter]) -> BTreeSet<&str> {
    filters.iter().flat_map(services::referenced_by).collect()
}

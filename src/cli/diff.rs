//! `diff`: what changed filters change on each proxy.

use super::envoy::{self, Asked, Envoy, Written};
use super::input::{self, Offer, Proxies, Work};
use super::{Exit, Session, server_side};
use crate::cluster::kinds;
use crate::engine::{self, MeshSettings, Options, Patched, Program};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::resource::ResourceKind;
use crate::proto::json::{self, Style};
use crate::proto::tree::TYPE_KEY;
use crate::report::style::{Role, count};
use crate::report::unified::{self, Size};
use crate::source::{Problem, Severity};
use crate::trial::Trial;
use clap::Args;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct Diff {
    /// Filters as they shall be: new ones, and changed ones with their names
    #[arg(short, long = "filename", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Filters as they are now: all that are applied [default: the cluster's; with --dump, none]
    #[arg(long, value_name = "FILE")]
    current: Vec<PathBuf>,
    /// A filter of --current to delete
    #[arg(long, value_name = "NAMESPACE/NAME")]
    delete: Vec<String>,
    /// Ask the cluster's API server, its policies and its webhooks too what they say (a dry run: nothing is kept)
    #[arg(long)]
    server_side: bool,
    #[command(flatten)]
    proxies: Proxies,
    #[command(flatten)]
    envoy: Envoy,
}

/// What differs on all proxies.
#[derive(Default)]
struct Total {
    proxies: usize,
    changed: usize,
    resources: usize,
    size: Size,
    /// Whether Envoy refuses something, or gave no answer.
    refused: bool,
}

/// Filters of before and after, and the Envoy that is asked about those of after.
struct Sides<'s, 'p> {
    before: &'s Program<'p>,
    after: &'s Program<'p>,
    trial: Option<&'s Trial>,
    written: &'s Written<'s>,
}

impl Diff {
    pub(super) fn run(&self, session: &mut Session<'_>) -> io::Result<Exit> {
        let live = !self.proxies.given() && self.current.is_empty();
        if !live && !self.proxies.given() {
            return session.usage("there is no proxy to look at", Some("give config dumps with --dump, or --demo"));
        }
        if self.files.is_empty() && self.delete.is_empty() && !self.proxies.demo {
            return session
                .usage("there is nothing to compare", Some("give filters with -f FILE, or --delete NAMESPACE/NAME"));
        }
        if let Err(exit) = self.proxies.one_standard_input(session, &[&self.files, &self.current])? {
            return Ok(exit);
        }
        let mut work = if live {
            // Filters of other namespaces than the one asked about may be among the files.
            match Work::open(session, &kinds::DIFF, None)? {
                Ok(work) => work,
                Err(_) => return Ok(Exit::Usage),
            }
        } else {
            let current = input::objects(session, &self.current, self.proxies.demo && !self.delete.is_empty());
            Work::of_files(session, current)
        };
        let current = std::mem::take(&mut work.loaded);
        let new = input::objects(session, &self.files, self.proxies.demo && self.delete.is_empty());
        let mut problems = Vec::new();
        let mut deleted = Vec::new();
        let before = current.inventory.envoy_filters.clone();
        let mut after: Vec<EnvoyFilter> = before.clone();
        for name in &self.delete {
            let full = if name.contains('/') { name.clone() } else { format!("{}/{name}", session.namespace()) };
            let found = after.iter().position(|filter| filter.full_name() == full);
            match found {
                Some(index) => {
                    after.remove(index);
                    deleted.push(full);
                }
                None => problems.push(not_there(&full, &before)),
            }
        }
        let after = input::replaced(&after, &new.inventory.envoy_filters);
        if !live && current.inventory.meshes.is_empty() {
            work.planes.iter_mut().for_each(|plane| plane.mesh = session.mesh(&new.inventory));
        }
        let programs: Vec<(Program<'_>, Program<'_>)> = work
            .planes
            .iter()
            .map(|plane| (Program::new(&before, plane.release), Program::new(&after, plane.release)))
            .collect();
        let Ok(trial) = self.envoy.start(session)? else { return Ok(Exit::Usage) };
        if self.server_side {
            match work
                .ask(session, async |cluster| server_side::ask(cluster, &new.inventory.envoy_filters, &deleted).await)?
            {
                Ok(said) => problems.extend(said),
                Err(exit) => return Ok(exit),
            }
        }
        let written = Written {
            of: vec![
                (current.inventory.envoy_filters.as_slice(), &current.sources),
                (new.inventory.envoy_filters.as_slice(), &new.sources),
            ],
        };
        let changed: Vec<EnvoyFilter> = changed(&before, &after);
        let reached = work.reached_by(&changed);
        let mut total = Total::default();
        self.proxies.visit(session, &work, &reached, &mut problems, &mut |session, offer| {
            let (Some((before, after)), Some(plane)) = (programs.get(offer.plane), work.planes.get(offer.plane)) else {
                return Ok(());
            };
            let sides = Sides { before, after, trial: trial.as_ref(), written: &written };
            proxy(session, offer, &sides, &plane.mesh, &mut total)
        })?;
        summary(session, &total)?;
        let trouble = [input::tell(session, &current, &[])?, input::tell(session, &new, &problems)?];
        Ok(match (trouble.contains(&true), total.resources) {
            (true, _) => Exit::Usage,
            _ if total.refused => Exit::Usage,
            (false, 0) => Exit::Ok,
            (false, _) => Exit::Changes,
        })
    }
}

/// What is in one of two sets of filters only, or not the same in both.
fn changed(before: &[EnvoyFilter], after: &[EnvoyFilter]) -> Vec<EnvoyFilter> {
    let same = |a: &EnvoyFilter, b: &EnvoyFilter| {
        a.full_name() == b.full_name() && a.document.to_json() == b.document.to_json()
    };
    let only = |these: &[EnvoyFilter], those: &[EnvoyFilter]| -> Vec<EnvoyFilter> {
        these.iter().filter(|one| !those.iter().any(|other| same(one, other))).cloned().collect()
    };
    [only(before, after), only(after, before)].concat()
}

fn not_there(name: &str, filters: &[EnvoyFilter]) -> Problem {
    let names: Vec<String> = filters.iter().map(EnvoyFilter::full_name).collect();
    Problem {
        code: "nothing-to-delete",
        severity: Severity::Error,
        span: None,
        message: format!("there is no EnvoyFilter {name} to delete"),
        help: Some(if names.is_empty() {
            "give the filters that are applied now with --current FILE".to_owned()
        } else {
            input::there_is(name, &names).unwrap_or_default()
        }),
    }
}

fn proxy(
    session: &mut Session<'_>,
    offer: &Offer<'_>,
    sides: &Sides<'_, '_>,
    mesh: &MeshSettings,
    total: &mut Total,
) -> io::Result<()> {
    let proxy = &offer.config.proxy;
    let plans = (sides.before.plan(proxy, mesh), sides.after.plan(proxy, mesh));
    // What the filters of now put there is in a live dump already.
    let stripped = engine::unapply(&plans.0, &offer.config, &Options::default()).kept_texts();
    let config = &engine::unapply::without(&offer.config, &stripped);
    let options = Options::default();
    let before = engine::run(&plans.0, config, &options, &mut ());
    let after = engine::run(&plans.1, config, &options, &mut ());
    total.proxies += 1;
    if let Some(trial) = sides.trial {
        total.refused |= envoy::ask(session, trial, (&plans.1, config), &options, sides.written)? != Asked::Taken;
    }
    let mut keys: BTreeMap<(ResourceKind, String), [Vec<String>; 2]> = BTreeMap::new();
    for one in before.resources.iter().chain(&after.resources) {
        let name = one.source.map_or(one.name.as_str(), |index| &config.resources[index].name);
        keys.entry((one.kind, name.to_owned())).or_default();
    }
    for ((kind, name), [old, new]) in &mut keys {
        *old = texts(config, &before, *kind, name, &plans.0);
        *new = texts(config, &after, *kind, name, &plans.1);
    }
    keys.retain(|_, [old, new]| old != new);
    if keys.is_empty() {
        return Ok(());
    }
    total.changed += 1;
    let title = format!("{} {}", config.proxy.kind.word(), config.proxy.full_name());
    let line = session
        .around
        .out
        .paint(Role::Strong, format!("{title}: {}", count(keys.len(), "resource changes", "resources change")));
    writeln!(session.out, "{line}")?;
    let limit = if session.global.verbose { usize::MAX } else { unified::MAX_LINES };
    for ((kind, name), [old, new]) in keys {
        total.resources += 1;
        let path = format!("{}/{} {name}", config.proxy.full_name(), kind.word());
        let (from, to) = match (old.is_empty(), new.is_empty()) {
            (true, _) => ("/dev/null".to_owned(), path),
            (_, true) => (path, "/dev/null".to_owned()),
            _ => (path.clone(), path),
        };
        let texts = (old.concat(), new.concat());
        let size = unified::diff(session.out, session.around.out, (&from, &to), (&texts.0, &texts.1), limit)?;
        total.size.added += size.added;
        total.size.removed += size.removed;
    }
    Ok(())
}

/// The texts of the resources of one name after a run.
fn texts(
    config: &crate::model::resource::ProxyConfig<'_>,
    patched: &Patched<'_>,
    kind: ResourceKind,
    name: &str,
    plan: &engine::Plan<'_>,
) -> Vec<String> {
    let write = |mut tree: crate::proto::tree::Tree<'_>| {
        tree.remove(TYPE_KEY);
        tree.open_all();
        let mut text = json::write(&tree, Style::Indented(2));
        text.push('\n');
        text
    };
    let mut texts = Vec::new();
    for (index, _) in config.generated(kind).filter(|(_, resource)| resource.name == name) {
        match patched.resources.iter().find(|one| one.source == Some(index)) {
            Some(one) => texts.extend(one.tree.clone().map(write)),
            None => texts.extend(engine::open(config, index, plan).map(write)),
        }
    }
    let added = patched.resources.iter().filter(|one| one.source.is_none() && one.kind == kind && one.name == name);
    texts.extend(added.filter_map(|one| one.tree.clone()).map(write));
    texts
}

fn summary(session: &mut Session<'_>, total: &Total) -> io::Result<()> {
    let proxies = count(total.proxies, "proxy", "proxies");
    if total.resources == 0 {
        return writeln!(session.out, "no change on {proxies}");
    }
    let (terminal, size) = (session.around.out, total.size);
    writeln!(
        session.out,
        "\n{} of {proxies} changed: {}, {} {} lines",
        total.changed,
        count(total.resources, "resource", "resources"),
        terminal.paint(Role::Good, format!("+{}", size.added)),
        terminal.paint(Role::Bad, format!("-{}", size.removed)),
    )
}

//! `audit`: what an upgrade of Istio does to a set of EnvoyFilters, before it is done.

use super::envoy::Envoy;
use super::input::{self, Proxies, Work};
use super::{Exit, Session, standing};
use crate::audit::view::Verdict;
use crate::audit::{self, Audit as Answer, Given, Request};
use crate::cluster::facts::{Facts, REVISION};
use crate::cluster::kinds;
use crate::engine::{Options, Program, unapply};
use crate::envoy::api::envoy_of;
use crate::lint::summary::Summary;
use crate::lint::upgrade::forecast::Forecast;
use crate::lint::upgrade::tell::{Class, short};
use crate::lint::{self, Finding, baseline, fix};
use crate::load::{Loaded, config as files, reference};
use crate::model::release::Release;
use crate::model::resource::ProxyConfig;
use crate::proto::schema::Schema;
use crate::report::style::count;
use crate::report::{self, audit as forms, findings};
use crate::rules::ALL;
use clap::{Args, ValueEnum};
use std::io::{self, Write};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct Audit {
    /// EnvoyFilters and what they are about (workloads, services): files, folders, - for the standard input [default: the
    /// cluster of the current context]
    #[arg(short, long = "filename", value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    proxies: Proxies,
    #[command(flatten)]
    envoy: Envoy,
    /// Release to upgrade to
    #[arg(long, value_name = "RELEASE")]
    to: Release,
    /// Release that runs now [default: what the cluster or the config dumps say]
    #[arg(long, value_name = "RELEASE")]
    from: Option<Release>,
    /// Releases on the way, such as 1.24,1.26,1.28 [default: every minor release]
    #[arg(long, value_name = "RELEASES", value_delimiter = ',')]
    path: Vec<Release>,
    /// Name of the revision that runs now: filters for other revisions do not count before the upgrade
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    revision_from: String,
    /// Name of the revision to upgrade to: filters for other revisions do not count after the upgrade
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    revision_to: String,
    /// Form of the output
    #[arg(short, long, default_value = "human")]
    output: Output,
    /// Write to a file instead of the standard output
    #[arg(long, value_name = "FILE")]
    output_file: Option<PathBuf>,
    /// From which class on to exit with 1
    #[arg(long, value_name = "CLASS", default_value = "breaks")]
    fail_on: FailOn,
    /// Rewrite filters also where that may change what they mean
    #[arg(long)]
    unsafe_fixes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people
    Human,
    /// schemas/audit.json
    Json,
    /// For a change ticket
    Markdown,
    /// One page, complete in itself
    Html,
    /// A patch with the rewritten filters
    Diff,
    /// SARIF 2.1.0
    Sarif,
    /// JUnit XML
    Junit,
    /// Workflow commands of GitHub Actions
    Github,
    /// Code quality report of GitLab
    Gitlab,
}

/// What of a path the patch engine is not proven for, in words.
fn beyond(path: &[Release]) -> impl Iterator<Item = String> {
    let told = |what: &str, end: Release, of: Vec<&Release>| {
        let names: Vec<String> = of.into_iter().copied().map(short).collect();
        let last = names.last().cloned().unwrap_or_default();
        (!names.is_empty()).then(|| {
            format!(
                "{what} Istio {0} the patch engine acts as {0}, beyond which it is not proven by recordings: what matches and what is \
                 changed is a guess for {1}; {2}",
                short(end),
                if names.len() > 2 { format!("{} to {last}", names[0]) } else { names.join(" and ") },
                accepted(path),
            )
        })
    };
    let older = told("before", Release::OLDEST, path.iter().filter(|one| one.minor < Release::OLDEST.minor).collect());
    let newer = told("after", Release::NEWEST, path.iter().filter(|one| one.minor > Release::NEWEST.minor).collect());
    older.into_iter().chain(newer)
}

/// Of which releases on a path it is known what istiod and the proxies accept, in words.
fn accepted(path: &[Release]) -> String {
    let istiods: Vec<u32> = Schema::all().filter(|one| one.is_istiod()).map(|one| one.release().0).collect();
    let istiod = |one: &&Release| !istiods.contains(&u32::from(one.minor));
    // Istio 1.N comes with Envoy 1.(N+8).
    let envoy = |one: &&Release| Schema::envoy(envoy_of(one.minor)).is_none();
    let names = |of: Vec<&Release>| of.into_iter().map(|one| short(*one)).collect::<Vec<_>>().join(", ");
    let istiod = names(path.iter().filter(istiod).collect());
    let envoy = names(path.iter().filter(envoy).collect());
    match (istiod.as_str(), envoy.as_str()) {
        ("", "") => "what Envoy and istiod accept is not".to_owned(),
        (istiod, "") => {
            format!("what istiod accepts is not known for {istiod}, and taken to be that of the nearest release")
        }
        (istiod, envoy) => format!(
            "what istiod accepts is not known for {istiod}, and taken to be that of the nearest release; of what the \
             proxies of {envoy} accept nothing is known"
        ),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// What works now and not after the upgrade
    Breaks,
    /// Also what works in another way
    Changes,
    /// Also what a later release refuses
    Deprecated,
    /// Any finding
    Cleanup,
    /// Never
    Never,
}

impl FailOn {
    fn fails(self, class: Class) -> bool {
        match self {
            FailOn::Breaks => class >= Class::Breaks,
            FailOn::Changes => class >= Class::Changes,
            FailOn::Deprecated => class >= Class::Deprecated,
            FailOn::Cleanup => true,
            FailOn::Never => false,
        }
    }
}

/// A stage before its configurations are made: releases of istiod and of the proxies, and whether proxies stay as they are.
#[derive(Clone, Copy)]
struct Shape {
    istiod: Release,
    proxies: Release,
    upgraded: bool,
}

impl Audit {
    pub(super) fn run(&self, session: &mut Session<'_>) -> io::Result<Exit> {
        if let Err(exit) = self.proxies.one_standard_input(session, &[&self.files])? {
            return Ok(exit);
        }
        let mut work = if !self.files.is_empty() || self.proxies.demo {
            let loaded = input::objects(session, &self.files, self.proxies.demo);
            Work::of_files(session, loaded)
        } else {
            match Work::open(session, &kinds::AUDIT, None)? {
                Ok(work) => work,
                Err(exit) => return Ok(exit),
            }
        };
        let loaded = std::mem::take(&mut work.loaded);
        let mut problems = Vec::new();
        // Proxies that no filter reaches have nothing to say.
        let reached = work.reached_by(&loaded.inventory.envoy_filters);
        let dumps = self.proxies.all(&work, &reached, &mut problems)?;
        let live: Vec<ProxyConfig<'_>> = dumps.iter().filter_map(|kept| Proxies::config(kept, &mut problems)).collect();
        let plane = work.planes.first();
        let mut unknown = Vec::new();
        let running = plane.filter(|_| work.is_live()).map(|plane| plane.release);
        let from = match self.current(session, running, &live, &mut unknown) {
            Ok(from) => from,
            Err(message) => return session.usage(&message, Some("say it with --from RELEASE")),
        };
        let path = match self.path(from) {
            Ok(path) => path,
            Err(message) => return session.usage(&message, None),
        };
        unknown.extend(beyond(&path));
        let mesh = match plane.filter(|_| work.is_live()) {
            Some(plane) => plane.mesh.clone(),
            None => session.mesh(&loaded.inventory),
        };
        // What the dumps hold of the filters already is taken out, so that both releases start from what istiod generates.
        let program = Program::new(&loaded.inventory.envoy_filters, from);
        let attached: Vec<_> = live.iter().map(|config| program.plan(&config.proxy, &mesh)).collect();
        let settings = Options::default();
        let undone: Vec<_> =
            attached.iter().zip(&live).map(|(plan, config)| unapply(plan, config, &settings)).collect();
        let bare: Vec<ProxyConfig<'_>> = live
            .iter()
            .zip(&undone)
            .map(
                |(config, undone)| {
                    if undone.patched() { unapply::without(config, &undone.texts) } else { config.clone() }
                },
            )
            .collect();
        let shapes: Vec<Shape> =
            path.iter().map(|&one| Shape { istiod: one, proxies: one, upgraded: one != from }).collect();
        let mixed = [
            Shape { istiod: self.to, proxies: from, upgraded: false },
            Shape { istiod: from, proxies: self.to, upgraded: true },
        ];
        let all: Vec<Shape> = shapes.iter().chain(&mixed).copied().collect();
        let forecasts: Vec<(Vec<Forecast>, Vec<Forecast>)> = all
            .iter()
            .map(|shape| {
                let proxies = shape.upgraded.then_some(shape.proxies);
                let of_dumps = bare.iter().map(|config| Forecast::new(config, from, shape.istiod, proxies)).collect();
                let nearest = reference::recorded(shape.istiod);
                let of_reference = |config| Forecast::new(config, nearest, shape.istiod, None);
                let of_references = reference::configs(shape.istiod).iter().map(of_reference).collect();
                (of_dumps, of_references)
            })
            .collect();
        let mut stages: Vec<Given<'_>> = Vec::new();
        for (shape, (of_dumps, of_references)) in all.iter().zip(&forecasts) {
            let references = of_references.iter().zip(reference::configs(shape.istiod));
            stages.push(Given {
                release: shape.istiod,
                proxies: shape.proxies,
                dumps: of_dumps.iter().zip(&bare).map(|(one, config)| one.apply(config)).collect(),
                references: references.map(|(one, config)| one.apply(config)).collect(),
            });
        }
        let (stages, mixed) = stages.split_at(shapes.len());
        let trial = match self.envoy.start(session)? {
            Ok(trial) => trial,
            Err(exit) => return Ok(exit),
        };
        let facts = if work.is_live() { work.facts.clone() } else { Facts::of(&loaded.inventory, String::new()) };
        let standings = standing::standings(&loaded.inventory, &facts);
        let mut revisions = (self.revision_from.clone(), self.revision_to.clone());
        // The old revision is the one that is not the new one, where only two run.
        let others: Vec<_> =
            facts.planes.iter().filter(|plane| plane.pods > 0 && plane.revision != revisions.1).collect();
        if let ([other], true, false) = (others.as_slice(), revisions.0.is_empty(), revisions.1.is_empty()) {
            revisions.0.clone_from(&other.revision);
        }
        let labelled = loaded.inventory.envoy_filters.iter().filter(|one| one.labels.contains_key(REVISION)).count();
        if labelled > 0 && revisions.1.is_empty() {
            unknown.push(format!(
                "{} the label `{REVISION}`: whether the new istiod reads them hangs on its revision; say it with --revision-to",
                count(labelled, "filter has", "filters have")
            ));
        }
        let request = Request {
            sources: &loaded.sources,
            inventory: &loaded.inventory,
            problems: &loaded.problems,
            mesh: &mesh,
            rules: ALL,
            stages,
            mixed: if path.len() > 1 { mixed } else { &[] },
            revisions,
            asked: work.asked.as_ref(),
            standings: &standings,
            unsafe_fixes: self.unsafe_fixes,
        };
        let mut answer = audit::run_with(&request, trial.as_ref());
        if let Some(trial) = trial.as_ref().filter(|_| session.global.verbose) {
            writeln!(session.err, "note: {}", lint::tried::story(trial))?;
        }
        if !loaded.inventory.envoy_filters.is_empty() {
            if live.is_empty() {
                unknown.push("no config dump given: judged against what istiod generates by default".to_owned());
            }
            if live.is_empty() && loaded.inventory.workloads.is_empty() {
                unknown.push("no workloads given: each filter is tried on a workload made up to fit it".to_owned());
            }
        }
        answer.view.counts.suppressed = answer.suppressed;
        answer.view.unknown.append(&mut unknown);
        let serious = input::tell(session, &loaded, &problems)?;
        answer.view.problems.extend(
            loaded
                .problems
                .iter()
                .chain(&problems)
                .filter(|problem| problem.severity == crate::source::Severity::Error)
                .map(|problem| match problem.span {
                    Some(span) => format!("{}: {}", loaded.sources.place(span), problem.message),
                    None => problem.message.clone(),
                }),
        );
        if serious {
            // Nobody knows what stands in it.
            answer.view.verdict = Verdict::NotReady;
        }
        self.write(session, &loaded, &path, &answer)?;
        Ok(if serious {
            Exit::Partial
        } else if answer.found.iter().any(|one| self.fail_on.fails(one.class)) {
            Exit::Findings
        } else {
            Exit::Ok
        })
    }

    /// The release that runs now: what is said, what the proxies say, or a guess that is told.
    fn current(
        &self,
        session: &Session<'_>,
        running: Option<Release>,
        live: &[ProxyConfig<'_>],
        unknown: &mut Vec<String>,
    ) -> Result<Release, String> {
        if let Some(from) = self.from.or(session.global.istio_version).or(self.path.first().copied()).or(running) {
            return Ok(from);
        }
        let versions = live.iter().filter_map(|config| config.proxy.istio_version.parse::<Release>().ok());
        if let Some(newest) = versions.max() {
            unknown.push(format!("the current release is taken from the newest proxy of the config dumps: {newest}"));
            return Ok(newest);
        }
        let Some(before) = self.to.minor.checked_sub(1) else {
            return Err("the release that runs now is not known".to_owned());
        };
        unknown.push(format!("the current release is not known: 1.{before} is assumed; say it with --from"));
        Ok(Release::minor(before))
    }

    /// Every release on the way, both ends included.
    fn path(&self, from: Release) -> Result<Vec<Release>, String> {
        if from.major != 1 || self.to.major != 1 {
            return Err("releases of Istio 1 are known, no others".to_owned());
        }
        let mut path = vec![from];
        if self.path.is_empty() {
            let (low, high) = (from.minor.min(self.to.minor), from.minor.max(self.to.minor));
            let between = (low..=high).filter(|minor| *minor != from.minor && *minor != self.to.minor);
            path.extend(between.map(Release::minor));
            if self.to < from {
                path[1..].reverse();
            }
        } else {
            path.extend(self.path.iter().filter(|one| **one != from && **one != self.to));
            let rising = path.windows(2).all(|pair| pair[0] < pair[1]);
            if !rising || path.last().is_some_and(|last| *last > self.to) {
                return Err("--path has to rise from the current release to --to".to_owned());
            }
        }
        if self.to != from {
            path.push(self.to);
        }
        Ok(path)
    }

    fn write(&self, session: &mut Session<'_>, loaded: &Loaded, path: &[Release], answer: &Answer) -> io::Result<()> {
        let verbose = session.global.verbose;
        let mut terminal = session.around.out;
        let mut text = Vec::new();
        let out: &mut dyn Write = if self.output_file.is_some() {
            terminal = report::style::Terminal::default();
            &mut text
        } else {
            session.out
        };
        match self.output {
            Output::Human => forms::text(out, terminal, verbose, &answer.view)?,
            Output::Json => report::json(out, &answer.view)?,
            Output::Markdown => forms::markdown(out, &answer.view)?,
            Output::Html => forms::html(out, &answer.view)?,
            Output::Diff => forms::diff(out, terminal, &self.rewritten(loaded, answer))?,
            Output::Sarif | Output::Junit | Output::Github | Output::Gitlab => {
                self.as_findings(out, loaded, path, answer)?;
            }
        }
        if let Some(file) = &self.output_file {
            files::write(file, &String::from_utf8_lossy(&text)).map_err(|problem| io::Error::other(problem.message))?;
        }
        Ok(())
    }

    /// The forms that lint has too.
    fn as_findings(&self, out: &mut dyn Write, loaded: &Loaded, path: &[Release], answer: &Answer) -> io::Result<()> {
        let found: Vec<Finding> = answer.found.iter().map(|one| one.finding.clone()).collect();
        let filters = &loaded.inventory.envoy_filters;
        let mut summary = Summary {
            filters: filters.len(),
            patches: answer.view.counts.patches,
            files: loaded.sources.iter().count(),
            dumps: answer.view.counts.dumps,
            suppressed: answer.suppressed,
            unread: answer.view.problems.len(),
            unknown: answer.view.unknown.clone(),
            ..Summary::default()
        };
        summary.count(&found);
        let releases: Vec<String> = path.iter().copied().map(short).collect();
        let report = findings::Report {
            istioctl: &[],
            sources: &loaded.sources,
            findings: &found,
            fingerprints: &baseline::fingerprints(&found, &loaded.sources, filters),
            summary: &summary,
            releases: &releases,
            trouble: &answer.view.problems,
        };
        match self.output {
            Output::Sarif => findings::sarif(out, &report),
            Output::Junit => findings::junit(out, &report),
            Output::Github => findings::github(out, &report),
            _ => findings::gitlab(out, &report),
        }
    }

    /// Files before and after the fixes.
    fn rewritten(&self, loaded: &Loaded, answer: &Answer) -> Vec<(String, String, String)> {
        let found: Vec<Finding> = answer.found.iter().map(|one| one.finding.clone()).collect();
        let outcome = fix::apply(&found, &loaded.sources, self.unsafe_fixes);
        let files = outcome.files.iter().filter_map(|one| {
            let source = loaded.sources.get(one.file);
            Some((source.name.clone(), source.text.clone(), one.rewrite(&source.text)?))
        });
        files.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_of_a_path_is_said() {
        let path = |minors: &[u16]| minors.iter().map(|minor| Release::minor(*minor)).collect::<Vec<_>>();
        assert_eq!(beyond(&path(&[24, 28, 31])).count(), 0);
        let older: Vec<String> = beyond(&path(&[18, 31])).collect();
        assert!(
            matches!(&*older, [one] if one.ends_with("a guess for 1.18; what Envoy and istiod accept is not")),
            "{older:?}"
        );
        let newer: Vec<String> = beyond(&path(&[31, 32])).collect();
        assert!(
            matches!(&*newer, [one] if one.contains("not known for 1.32") && !one.contains("proxies")),
            "{newer:?}"
        );
        let far: Vec<String> = beyond(&path(&[31, 32, 33])).collect();
        let wanted = "of what the proxies of 1.33 accept nothing is known";
        assert!(matches!(&*far, [one] if one.contains("not known for 1.32, 1.33") && one.ends_with(wanted)), "{far:?}");
    }
}

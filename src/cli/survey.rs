//! Every filter on every proxy it reaches, for `get` and `status`: what the engine expects, what the dumps hold, what lint
//! says.

use super::input::{Kept, Proxies, Work};
use super::{Exit, Session};
use crate::cluster::kinds::Needs;
use crate::cluster::targets::Target;
use crate::engine::{self, Options, Program};
use crate::explain::view::{self, Patch};
use crate::explain::{Explainer, Settings};
use crate::lint::config::Config;
use crate::lint::{self, Input};
use crate::load::dump::Dump;
use crate::load::reference;
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::resource::ProxyConfig;
use crate::rules::ALL;
use crate::source::Problem;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// What is known of one filter.
pub(super) struct Row {
    /// Index of the filter in the inventory.
    pub(super) filter: usize,
    /// Its place in the order of application among all filters, from 1.
    pub(super) order: usize,
    /// The pods it attaches to.
    pub(super) selects: Vec<Target>,
    /// Patches in effect on a proxy.
    pub(super) effective: BTreeSet<usize>,
    /// Patches in a resource that a proxy refused.
    pub(super) rejected: BTreeSet<usize>,
    /// Whether any of its proxies was read.
    pub(super) read: bool,
    /// Findings of lint.
    pub(super) findings: usize,
    /// What is wrong on which workload: namespace, workload, words.
    pub(super) wrong: BTreeMap<(String, String), BTreeSet<String>>,
}

/// All of it.
pub(super) struct Survey {
    pub(super) work: Work,
    pub(super) rows: Vec<Row>,
    pub(super) problems: Vec<Problem>,
}

/// Reads a cluster and looks at every filter that is asked about. Lint wants all dumps at the same time; without its
/// findings a few are in memory at a time, however many pods there are.
pub(super) fn survey(
    session: &mut Session<'_>,
    proxies: &Proxies,
    needs: &Needs,
    with_findings: bool,
) -> io::Result<Result<Survey, Exit>> {
    let work = match Work::open(session, needs, None)? {
        Ok(work) => work,
        Err(exit) => return Ok(Err(exit)),
    };
    let filters = &work.loaded.inventory.envoy_filters;
    let mut problems = Vec::new();
    let mut rows = rows(&work, filters);
    let programs: Vec<Program<'_>> = work.planes.iter().map(|plane| Program::new(filters, plane.release)).collect();
    let mut look = |dump: &Dump, config: &ProxyConfig<'_>, plane: usize| {
        if let Some(explained) = explained(&work, &programs, (dump, config, plane)) {
            take_in(&work, &mut rows, &explained);
        }
    };
    let reached = work.reached_by(filters);
    if with_findings {
        let dumps = proxies.all(&work, &reached, &mut problems)?;
        for kept in &dumps {
            if let Some(config) = Proxies::config(kept, &mut problems) {
                look(&kept.dump, &config, kept.plane);
            }
        }
        let found = findings(&work, &dumps);
        for row in &mut rows {
            let file = filters.get(row.filter).map(|filter| filter.document.span.file);
            row.findings = found.iter().filter(|of| Some(**of) == file).count();
        }
    } else {
        proxies.visit(session, &work, &reached, &mut problems, &mut |_, offer| {
            look(offer.dump, &offer.config, offer.plane);
            Ok(())
        })?;
    }
    drop(reached);
    drop(programs);
    Ok(Ok(Survey { work, rows, problems }))
}

/// Takes what the filters do to a proxy into their rows.
fn take_in(work: &Work, rows: &mut [Row], explained: &view::Proxy) {
    let is = |target: &&Target| target.namespace == explained.namespace && target.pod == explained.name;
    let workload = work.targets().iter().find(is).map_or_else(
        || explained.name.clone(),
        |target| format!("{}/{}", target.workload_kind.to_lowercase(), target.workload),
    );
    let key = (explained.namespace.clone(), workload);
    for row in rows {
        let Some(filter) = work.loaded.inventory.envoy_filters.get(row.filter) else { continue };
        let is = |one: &&view::Filter| one.selected && one.namespace == filter.namespace && one.name == filter.name;
        let Some(seen) = explained.filters.iter().find(is) else { continue };
        row.read = true;
        for patch in &seen.patches {
            if let Some(words) = judge(row, patch, explained) {
                row.wrong.entry(key.clone()).or_default().insert(format!("patch {}: {words}", patch.index));
            }
        }
    }
}

/// One row a filter that is asked about, by namespace and name.
fn rows(work: &Work, filters: &[EnvoyFilter]) -> Vec<Row> {
    let mut order: Vec<usize> = (0..filters.len()).collect();
    if let Some(plane) = work.planes.first() {
        let compat = engine::compat::Compat { release: plane.release };
        engine::select::sort(filters, &mut order, &plane.mesh, compat);
    }
    let mut rows = Vec::new();
    for (place, &filter) in order.iter().enumerate() {
        let Some(one) = filters.get(filter) else { continue };
        if work.asked.as_ref().is_some_and(|asked| !asked.contains(&one.full_name())) {
            continue;
        }
        let reached = work.reached_by(std::slice::from_ref(one));
        rows.push(Row {
            filter,
            order: place + 1,
            selects: work.targets().iter().filter(|target| reached(target)).cloned().collect(),
            effective: BTreeSet::new(),
            rejected: BTreeSet::new(),
            read: false,
            findings: 0,
            wrong: BTreeMap::new(),
        });
    }
    rows.sort_by_key(|row| filters.get(row.filter).map(EnvoyFilter::full_name));
    rows
}

/// Takes a patch on a proxy into the row; what is wrong with it there.
fn judge(row: &mut Row, patch: &Patch, proxy: &view::Proxy) -> Option<String> {
    let places = || patch.effects.iter().flat_map(|effect| &effect.places);
    let refused =
        proxy.refused.iter().find(|one| places().any(|place| place.kind == one.kind && place.resource == one.name));
    if let Some(refused) = refused {
        row.rejected.insert(patch.index);
        return Some(format!("rejected: {} {}: {}", refused.kind, refused.name, refused.details));
    }
    match (patch.outcome, patch.in_effect) {
        ("applied" | "no-op", Some("no")) => Some("not in effect: the proxy does not hold what it writes".to_owned()),
        ("applied" | "no-op", Some("partly")) => {
            row.effective.insert(patch.index);
            Some("partly in effect".to_owned())
        }
        ("applied", _) | ("no-op", Some("yes")) => {
            row.effective.insert(patch.index);
            None
        }
        // The filter attaches; the patch is for other proxies than this one.
        ("not-selected", _) => None,
        ("no-op", None) if patch.effects.is_empty() => None,
        (outcome, _) => {
            let reason = patch.reason.as_ref().map_or(String::new(), |reason| format!(": {}", reason.message));
            Some(format!("{outcome}{reason}"))
        }
    }
}

/// The file of every finding.
fn findings(work: &Work, dumps: &[Kept]) -> Vec<crate::source::FileId> {
    let mut found = BTreeMap::new();
    for (number, plane) in work.planes.iter().enumerate() {
        let configs: Vec<ProxyConfig<'_>> = dumps
            .iter()
            .filter(|kept| kept.plane == number)
            .filter_map(|kept| kept.dump.config(&kept.identity).ok())
            .collect();
        let input = Input {
            sources: &work.loaded.sources,
            inventory: &work.loaded.inventory,
            problems: &work.loaded.problems,
            dumps: &configs,
            references: reference::configs(plane.release),
            release: plane.release,
            mesh: &plane.mesh,
        };
        let checked = lint::check(&input, ALL, &Config::default(), str::to_owned, |_| ());
        for finding in checked.findings {
            let span = finding.primary.span;
            found.insert((finding.rule.code, span, finding.message), span.file);
        }
    }
    found.into_values().collect()
}

/// What the filters do to one proxy.
fn explained(
    work: &Work,
    programs: &[Program<'_>],
    (dump, config, plane): (&Dump, &ProxyConfig<'_>, usize),
) -> Option<view::Proxy> {
    let (program, plane) = (programs.get(plane)?, work.planes.get(plane)?);
    let plan = program.plan(&config.proxy, &plane.mesh);
    let options = Options::default();
    let unapplied = engine::unapply(&plan, config, &options);
    let nothing = engine::unapply::Texts::new();
    let base = engine::unapply::without(config, if unapplied.patched() { &unapplied.texts } else { &nothing });
    let judged = engine::judge(&plan, &base, &options);
    let explainer = Explainer {
        sources: &work.loaded.sources,
        inventory: &work.loaded.inventory,
        mesh: &plane.mesh,
        program,
        plan: &plan,
        config: &base,
        unapplied: &unapplied,
        judged: &judged,
        dump: dump.name(),
    };
    Some(explainer.proxy(&Settings { only: None, all_chains: false }))
}

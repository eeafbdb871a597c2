//! Puts an audit together for reports: by filter, by group of workloads, by combination of releases.

use super::view::{API_VERSION, Audit, Cell, Chain, Counts, Filter, Finding, Fix, Link, RollOut, Source, Step};
use super::view::{Verdict, Workloads};
use super::workloads::Group;
use super::{Found, Request};
use crate::engine::Outcome;
use crate::lint::fix;
use crate::lint::upgrade::tell::{Class, short};
use crate::lint::upgrade::{ChainRecord, Kind, PatchChange, RunKey, RunRecord, Snapshot, Upgrade};
use crate::lint::{Finding as LintFinding, Knowledge};
use crate::model::envoy_filter::EnvoyFilter;
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Most members of a group that are named.
const MEMBERS: usize = 20;

type StepRun = (Vec<LintFinding>, Upgrade);

/// Everything, for reports.
pub(super) fn view(
    request: &Request<'_>,
    groups: &[Group],
    first: Option<&Snapshot>,
    steps: &[StepRun],
    mixed: &[StepRun],
    found: &[Found],
) -> Audit {
    let path: Vec<String> = request.stages.iter().map(|stage| short(stage.release)).collect();
    let last = steps.last().map(|(_, upgrade)| &upgrade.after).or(first);
    let columns = Columns::new(groups, first, last);
    let cells = cells(request, &columns, first, last, steps, found);
    let chains = chains(request, &columns, first, last);
    let mut filters = filters(request, found, cells, chains);
    let worst = |filter: &Filter| std::cmp::Reverse(filter.verdict);
    filters.sort_by(|left, right| {
        (worst(left), &left.namespace, &left.name).cmp(&(worst(right), &right.namespace, &right.name))
    });
    let of = |class: Option<Class>| filters.iter().filter(|filter| filter.verdict == class).count();
    let dumps = request.stages.first().map_or(0, |stage| stage.dumps.len());
    let counts = Counts {
        filters: filters.len(),
        patches: filters.iter().map(|filter| filter.patches).sum(),
        workloads: columns.list.iter().map(|group| group.count).sum(),
        dumps,
        breaks: of(Some(Class::Breaks)),
        changes: of(Some(Class::Changes)),
        deprecated: of(Some(Class::Deprecated)),
        cleanup: of(Some(Class::Cleanup)),
        ready: of(None),
        findings: found.len(),
        suppressed: 0,
    };
    Audit {
        api_version: API_VERSION,
        kind: "AuditReport",
        from: path.first().cloned().unwrap_or_default(),
        to: path.last().cloned().unwrap_or_default(),
        verdict: verdict(found),
        counts,
        filters,
        workloads: columns.list,
        roll_out: roll_out(request, first, steps, mixed),
        path,
        unknown: Vec::new(),
        problems: Vec::new(),
    }
}

/// Breaks without a rewritten filter make it `not ready`; anything else that stops or changes wants a look first.
fn verdict(found: &[Found]) -> Verdict {
    let of = |class: Class| found.iter().filter(move |one| one.class == class);
    if of(Class::Breaks).any(|one| one.finding.fix.is_none()) {
        Verdict::NotReady
    } else if of(Class::Breaks).chain(of(Class::Changes)).next().is_some() {
        Verdict::ReadyAfterChanges
    } else {
        Verdict::Ready
    }
}

/// The groups of workloads, and which of them a run belongs to.
struct Columns {
    list: Vec<Workloads>,
    of_run: HashMap<RunKey, usize>,
}

/// What filters do to a run before and after: runs with equal signatures are one column.
type Signature = (Knowledge, &'static str, Vec<(usize, Vec<bool>)>, Vec<(usize, Vec<bool>)>);

impl Columns {
    fn new(groups: &[Group], first: Option<&Snapshot>, last: Option<&Snapshot>) -> Columns {
        let members: HashMap<String, &Group> = groups.iter().map(|group| (group.label(), group)).collect();
        let mut columns = Columns { list: Vec::new(), of_run: HashMap::new() };
        let mut known: BTreeMap<Signature, usize> = BTreeMap::new();
        let earlier: HashMap<&RunKey, &RunRecord> =
            first.iter().flat_map(|snapshot| &snapshot.runs).map(|run| (&run.key, run)).collect();
        for run in last.iter().flat_map(|snapshot| &snapshot.runs) {
            let before = earlier.get(&run.key).map(|run| effects(run)).unwrap_or_default();
            let signature = (run.knowledge, run.kind.word(), before, effects(run));
            let made_up = run.is_made_up();
            // A proxy that no filter meets is no column of its own.
            if made_up && signature.2.is_empty() && signature.3.is_empty() {
                continue;
            }
            let at = *known.entry(signature).or_insert(columns.list.len());
            if at == columns.list.len() {
                columns.list.push(Workloads {
                    label: run.label.clone(),
                    kind: run.kind.word(),
                    count: 0,
                    members: Vec::new(),
                    knowledge: match run.knowledge {
                        Knowledge::Dump => "dump",
                        Knowledge::Reference => "reference",
                    },
                });
            }
            columns.of_run.insert(run.key.clone(), at);
            if let Some(column) = columns.list.get_mut(at).filter(|_| !made_up) {
                let names: Vec<String> = match members.get(&run.label) {
                    Some(group) => group.members.iter().map(|name| format!("{}/{name}", group.namespace)).collect(),
                    None => vec![run.label.clone()],
                };
                if column.label.starts_with("a ") {
                    column.label.clone_from(&run.label);
                }
                column.count += names.len();
                let room = MEMBERS.saturating_sub(column.members.len());
                column.members.extend(names.into_iter().take(room));
            }
        }
        columns
    }
}

fn effects(run: &RunRecord) -> Vec<(usize, Vec<bool>)> {
    let filters = run.filters.iter();
    filters
        .map(|(filter, patches)| (*filter, patches.iter().map(|one| one.outcome == Outcome::Applied).collect()))
        .collect()
}

/// The cells of each filter.
fn cells(
    request: &Request<'_>,
    columns: &Columns,
    first: Option<&Snapshot>,
    last: Option<&Snapshot>,
    steps: &[StepRun],
    found: &[Found],
) -> Vec<Vec<Cell>> {
    let number = request.inventory.envoy_filters.len();
    let mut cells: Vec<BTreeMap<usize, Cell>> = vec![BTreeMap::new(); number];
    let blank = |column| Cell { workloads: column, before: 0, after: 0, verdict: None, reason: String::new() };
    for (snapshot, after) in [(first, false), (last, true)] {
        for run in snapshot.iter().flat_map(|snapshot| &snapshot.runs) {
            let Some(&column) = columns.of_run.get(&run.key) else { continue };
            for (&filter, patches) in &run.filters {
                let Some(of_filter) = cells.get_mut(filter) else { continue };
                let applied = patches.iter().filter(|patch| patch.outcome == Outcome::Applied).count();
                let cell = of_filter.entry(column).or_insert_with(|| blank(column));
                if after {
                    cell.after = applied;
                } else {
                    cell.before = applied;
                }
                if applied == 0 && cell.reason.is_empty() {
                    cell.reason = patches.first().map(|patch| patch.reason.clone()).unwrap_or_default();
                }
            }
        }
    }
    let mut worsen = |filter: usize, column: usize, class: Class, reason: &str| {
        let cell = cells.get_mut(filter).and_then(|cells| cells.get_mut(&column));
        if let Some(cell) = cell.filter(|cell| cell.verdict < Some(class)) {
            cell.verdict = Some(class);
            reason.clone_into(&mut cell.reason);
        }
    };
    for (_, upgrade) in steps {
        for change in &upgrade.changes {
            let (class, reason) = said(change, request, found);
            for run in change.runs.iter().filter_map(|&run| upgrade.after.runs.get(run)) {
                if let (Some(&column), Some(class)) = (columns.of_run.get(&run.key), class) {
                    worsen(change.filter, column, class, &reason);
                }
            }
        }
    }
    // What hangs on the filter's text alone is so wherever it attaches.
    let index: HashMap<String, usize> =
        request.inventory.envoy_filters.iter().enumerate().map(|(index, one)| (one.full_name(), index)).collect();
    for one in found.iter().filter(|one| !of_change(one)) {
        if let Some(&filter) = index.get(&one.finding.filter) {
            for column in 0..columns.list.len() {
                worsen(filter, column, one.class, &one.finding.message);
            }
        }
    }
    cells.into_iter().map(|cells| cells.into_values().collect()).collect()
}

/// Whether a finding tells of a change on some proxies, and not of the filter's text.
fn of_change(found: &Found) -> bool {
    matches!(found.finding.rule.code, "EF601" | "EF602" | "EF603" | "EF604" | "EF605" | "EF606" | "EF614")
}

/// The class and the words for a change; no class where nothing is reported of it (a suppressed finding, say).
fn said(change: &PatchChange, request: &Request<'_>, found: &[Found]) -> (Option<Class>, String) {
    let code = match change.kind {
        Kind::Stops => "EF601",
        Kind::Begins => "EF602",
        Kind::Detached => "EF603",
        Kind::Different => "EF604",
        Kind::Panics => "EF605",
        Kind::LostToPanic => "EF606",
        Kind::Refused => "EF607",
        Kind::VersionPin => "EF614",
        Kind::Discarded => "EF609",
    };
    let name = request.inventory.envoy_filters.get(change.filter).map(EnvoyFilter::full_name);
    let told = |one: &&Found| {
        let same = Some(&one.finding.filter) == name.as_ref() && (one.finding.patch == change.patch);
        same && (one.finding.rule.code == code || (code == "EF601" && one.finding.rule.code == "EF608"))
    };
    let one = found.iter().filter(told).max_by_key(|one| one.class);
    (one.map(|one| one.class), one.map(|one| one.finding.message.clone()).unwrap_or_default())
}

/// The chains of each filter: those it writes into before or after.
fn chains(
    request: &Request<'_>,
    columns: &Columns,
    first: Option<&Snapshot>,
    last: Option<&Snapshot>,
) -> Vec<Vec<Chain>> {
    let filters = &request.inventory.envoy_filters;
    let mut all: Vec<Vec<Chain>> = vec![Vec::new(); filters.len()];
    let (Some(first), Some(last)) = (first, last) else { return all };
    let by_key = |snapshot: &Snapshot| -> HashMap<RunKey, Vec<ChainRecord>> {
        let chains = snapshot.chains.iter();
        chains.filter_map(|(run, chains)| Some((snapshot.runs.get(*run)?.key.clone(), chains.clone()))).collect()
    };
    let (before, after) = (by_key(first), by_key(last));
    let keys: BTreeSet<&RunKey> = before.keys().chain(after.keys()).collect();
    let none = Vec::new();
    for key in keys {
        let Some(&column) = columns.of_run.get(key) else { continue };
        let (old, new) = (before.get(key).unwrap_or(&none), after.get(key).unwrap_or(&none));
        let mut places: BTreeSet<(&str, &str, bool)> = BTreeSet::new();
        places.extend(old.iter().chain(new).map(|one| (one.listener.as_str(), one.chain.as_str(), one.http)));
        for (listener, chain, http) in places {
            let at = |list: &[ChainRecord]| {
                list.iter()
                    .find(|one| (one.listener.as_str(), one.chain.as_str(), one.http) == (listener, chain, http))
                    .cloned()
            };
            let (was, is) = (at(old), at(new));
            let links = |own: Option<&ChainRecord>, other: Option<&ChainRecord>| -> Vec<Link> {
                match (own, other) {
                    (Some(own), _) => own
                        .patched
                        .iter()
                        .map(|(name, by)| Link {
                            name: name.clone(),
                            by: by.and_then(|by| filters.get(by)).map(EnvoyFilter::full_name),
                        })
                        .collect(),
                    // No patch touches it there: as istiod generates it.
                    (None, Some(other)) => {
                        other.generated.iter().map(|name| Link { name: name.clone(), by: None }).collect()
                    }
                    (None, None) => Vec::new(),
                }
            };
            let one = Chain {
                workloads: column,
                listener: listener.to_owned(),
                chain: chain.to_owned(),
                level: if http { "http" } else { "network" },
                before: links(was.as_ref(), is.as_ref()),
                after: links(is.as_ref(), was.as_ref()),
            };
            let writers: BTreeSet<usize> =
                was.iter().chain(is.iter()).flat_map(|one| &one.patched).filter_map(|(_, by)| *by).collect();
            for writer in writers {
                let alike = |known: &Chain| known.before == one.before && known.after == one.after;
                if let Some(own) = all.get_mut(writer).filter(|own| own.len() < 6 && !own.iter().any(alike)) {
                    own.push(one.clone());
                }
            }
        }
    }
    all
}

fn source(request: &Request<'_>, span: Span) -> Source {
    let text = request.sources.get(span.file);
    let place = text.position(span.start);
    Source { file: text.name.clone(), line: place.line, column: place.column }
}

fn filters(request: &Request<'_>, found: &[Found], cells: Vec<Vec<Cell>>, chains: Vec<Vec<Chain>>) -> Vec<Filter> {
    let filters = &request.inventory.envoy_filters;
    let mut by_filter: HashMap<&str, Vec<&Found>> = HashMap::new();
    for one in found {
        by_filter.entry(one.finding.filter.as_str()).or_default().push(one);
    }
    let parts = cells.into_iter().zip(chains);
    filters
        .iter()
        .zip(parts)
        .map(|(filter, (cells, chains))| {
            let mut own = by_filter.remove(filter.full_name().as_str()).unwrap_or_default();
            own.sort_by_key(|one| (std::cmp::Reverse(one.class), one.finding.primary.span));
            let name = ["metadata".into(), "name".into()];
            let text = request.sources.snippet(filter.document.span).to_owned();
            Filter {
                namespace: filter.namespace.clone(),
                name: filter.name.clone(),
                source: source(request, filter.document.key_span(&name)),
                verdict: own.iter().map(|one| one.class).max(),
                patches: filter.patches.len(),
                rewritten: rewritten(request, filter.document.span, &text, &own),
                findings: own.iter().map(|one| finding(request, one)).collect(),
                cells,
                chains,
                text,
            }
        })
        .collect()
}

/// The document with its fixes; `None` when there are none.
fn rewritten(request: &Request<'_>, document: Span, text: &str, own: &[&Found]) -> Option<String> {
    let findings: Vec<LintFinding> = own.iter().map(|one| one.finding.clone()).collect();
    let outcome = fix::apply(&findings, request.sources, request.unsafe_fixes);
    let edits = &outcome.files.iter().find(|one| one.file == document.file)?.edits;
    let mut now = text.to_owned();
    for edit in edits.iter().rev() {
        let start = edit.span.start.checked_sub(document.start)? as usize;
        let end = edit.span.end.checked_sub(document.start)? as usize;
        now.get(start..end)?;
        now.replace_range(start..end, &edit.text);
    }
    Some(now)
}

fn finding(request: &Request<'_>, one: &Found) -> Finding {
    let found = &one.finding;
    Finding {
        code: found.rule.code,
        rule: found.rule.name,
        class: one.class,
        confidence: found.confidence.word(),
        message: found.message.clone(),
        notes: found.notes.clone(),
        help: found.help.clone(),
        source: source(request, found.primary.span),
        patch: found.patch,
        steps: one.steps.iter().map(|(from, to)| Step { from: short(*from), to: short(*to) }).collect(),
        workloads: found.workloads.clone(),
        fix: found.fix.as_ref().map(|fix| Fix { title: fix.title.clone(), safe: fix.safe }),
    }
}

/// The combinations of istiod and proxies, each compared with the stage before the upgrade.
fn roll_out(request: &Request<'_>, first: Option<&Snapshot>, steps: &[StepRun], mixed: &[StepRun]) -> Vec<RollOut> {
    let Some(first) = first else { return Vec::new() };
    let name = |filter: usize| request.inventory.envoy_filters.get(filter).map(EnvoyFilter::full_name);
    let effective = |snapshot: &Snapshot| {
        let with = snapshot.runs.iter().flat_map(|run| &run.filters);
        with.filter(|(_, patches)| patches.iter().any(|one| one.outcome == Outcome::Applied))
            .map(|(filter, _)| *filter)
            .collect::<BTreeSet<usize>>()
            .len()
    };
    let (old, new) = &request.revisions;
    let revision = |snapshot: &Snapshot| if snapshot.release == first.release { old.clone() } else { new.clone() };
    let row = |snapshot: &Snapshot, upgrades: &[&StepRun]| {
        let mut row = RollOut {
            istiod: short(snapshot.release),
            revision: revision(snapshot),
            proxies: short(snapshot.proxies),
            effective: effective(snapshot),
            lost: Vec::new(),
            changed: Vec::new(),
            refused: Vec::new(),
        };
        let (mut lost, mut changed, mut refused) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for (findings, upgrade) in upgrades {
            for change in &upgrade.changes {
                let into = match change.kind {
                    Kind::Begins | Kind::Different => &mut changed,
                    _ => &mut lost,
                };
                into.extend(name(change.filter));
            }
            let rejects = |one: &&LintFinding| matches!(one.rule.code, "EF607" | "EF609" | "EF610" | "EF611" | "EF612");
            refused.extend(findings.iter().filter(rejects).map(|one| one.filter.clone()));
        }
        row.lost.extend(lost);
        row.changed.extend(changed);
        row.refused.extend(refused);
        row
    };
    let mut rows = vec![row(first, &[])];
    rows.extend(mixed.iter().map(|step| row(&step.1.after, &[step])));
    if let Some((_, last)) = steps.last() {
        rows.push(row(&last.after, &steps.iter().collect::<Vec<_>>()));
    }
    rows
}

//! Assembles the audit's report: by filter, by group of workloads, by combination of releases.

use super::view::{API_VERSION, Audit, Cause, Cell, Chain, Counts, Filter, Finding, Fix, Source, Step, Today};
use super::view::{Verdict, Workloads};
use super::workloads::Group;
use super::{Found, Request, StepRun, chains::chains, roll_out};
use crate::engine::Outcome;
use crate::lint::fix;
use crate::lint::upgrade::tell::{Class, short};
use crate::lint::upgrade::{Change, PatchChange, RunKey, RunRecord, Snapshot};
use crate::lint::{Edit, Finding as LintFinding, Knowledge, Rule};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::redact::{REDACTED, Redactor};
use crate::source::{Sources, Span};
use crate::words::few;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum number of listed members of a group.
const MEMBERS: usize = 20;

/// The whole report.
pub(super) fn view(
    request: &Request<'_>,
    groups: &[Group],
    first: Option<&Snapshot>,
    steps: &[StepRun],
    mixed: &[StepRun],
    (found, today): (&[Found], &[LintFinding]),
) -> Audit {
    let path: Vec<String> = request.stages.iter().map(|stage| short(stage.release)).collect();
    let last = steps.last().map(|(_, upgrade)| &upgrade.after).or(first);
    let columns = Columns::new(groups, first, last);
    let cells = cells(request, &columns, first, last, steps, found);
    let chains = chains(&request.inventory.envoy_filters, &columns.of_run, first, last);
    let mut filters = filters(request, found, cells, chains);
    for one in today {
        let of = |filter: &&mut Filter| {
            one.filter.split_once('/') == Some((filter.namespace.as_str(), filter.name.as_str()))
        };
        if let Some(filter) = filters.iter_mut().find(of) {
            filter.today.push(Today {
                code: one.rule.code,
                rule: one.rule.name,
                confidence: one.confidence.as_str(),
                message: one.message.clone(),
                source: source(request, one.primary.span),
                patch: one.patch,
            });
        }
    }
    let causes = causes(request, steps, found);
    filters.retain(|filter| request.is_asked(&filter.full_name()));
    let unknown = unmet(&columns, &filters).into_iter().collect();
    let worst = |filter: &Filter| std::cmp::Reverse(filter.verdict);
    filters.sort_by(|left, right| {
        (worst(left), &left.namespace, &left.name).cmp(&(worst(right), &right.namespace, &right.name))
    });
    // A filter that only loses its effect to another's panic is counted with that one.
    let alone = |filter: &&Filter| !follows(filter, request.rules);
    let of = |class: Class| filters.iter().filter(alone).filter(|filter| filter.verdict == Some(class)).count();
    let today_broken =
        |counts: fn(&Filter) -> bool| filters.iter().filter(|one| !one.today.is_empty() && counts(one)).count();
    let dumps = request.stages.first().map_or(0, |stage| stage.dumps.len());
    let counts = Counts {
        filters: filters.len(),
        patches: filters.iter().map(|filter| filter.patches).sum(),
        workloads: columns.list.iter().map(|group| group.count).sum(),
        dumps,
        breaks: of(Class::Breaks),
        lost_to_panics: filters.iter().filter(|filter| follows(filter, request.rules)).count(),
        broken_today: today_broken(|filter| filter.verdict.is_none()),
        also_broken_today: today_broken(|filter| filter.verdict.is_some()),
        changes: of(Class::Changes),
        deprecated: of(Class::Deprecated),
        cleanup: of(Class::Cleanup),
        ready: filters.iter().filter(|filter| filter.verdict.is_none() && filter.today.is_empty()).count(),
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
        causes,
        roll_out: roll_out::rows(request, &columns.of_run, &columns.names, first, steps, mixed),
        during: roll_out::during(request, &columns.of_run, &columns.names, first, steps, mixed),
        workloads: columns.list,
        path,
        unknown,
        problems: Vec::new(),
        bases: Vec::new(),
        all_changes: None,
    }
}

/// The filters that attach to none of the known workloads, in a sentence.
fn unmet(columns: &Columns, filters: &[Filter]) -> Option<String> {
    let real = |cell: &Cell| columns.list.get(cell.workloads).is_some_and(|group| group.count > 0);
    let unmet = |filter: &&Filter| filter.patches > 0 && !filter.cells.iter().any(real);
    let names: Vec<String> = filters.iter().filter(unmet).map(Filter::full_name).collect();
    let workloads: usize = columns.list.iter().map(|group| group.count).sum();
    (workloads > 0 && !names.is_empty()).then(|| {
        let (all, made) = match names.len() {
            1 => ("EnvoyFilter attaches", "it is tried on a workload made up to fit it"),
            _ => ("EnvoyFilters attach", "each is tried on a workload made up to fit it"),
        };
        let few = few(&names, names.len(), MEMBERS);
        format!("{} {all} to none of the workloads that were checked, and {made}: {few}", names.len())
    })
}

/// Whether the only finding about a filter is that another one's panic removes its effect.
fn follows(filter: &Filter, rules: &[&'static Rule]) -> bool {
    let lost = |code: &str| rules.iter().any(|rule| rule.code == code && rule.changes.contains(&Change::LostToPanic));
    !filter.findings.is_empty() && filter.findings.iter().all(|one| lost(one.code))
}

/// Patches whose panic removes the effect of other filters, with the names of those filters.
fn causes(request: &Request<'_>, steps: &[StepRun], found: &[Found]) -> Vec<Cause> {
    let filters = &request.inventory.envoy_filters;
    let name = |filter: usize| filters.get(filter).map(EnvoyFilter::full_name).unwrap_or_default();
    let reported = found.iter().filter(|one| one.finding.rule.changes.contains(&Change::LostToPanic));
    let reported: BTreeSet<&str> = reported.map(|one| one.finding.filter.as_str()).collect();
    let mut taken: BTreeMap<(usize, usize), BTreeSet<String>> = BTreeMap::new();
    for change in steps.iter().flat_map(|(_, upgrade)| upgrade.of(Change::LostToPanic)) {
        let victim = name(change.filter);
        if let Some(cause) = change.cause.filter(|(filter, _)| *filter != change.filter)
            && reported.contains(victim.as_str())
        {
            taken.entry(cause).or_default().insert(victim);
        }
    }
    let cause = |((filter, patch), names): ((usize, usize), BTreeSet<String>)| Cause {
        filter: name(filter),
        patch,
        loses: names.into_iter().collect(),
    };
    taken.into_iter().map(cause).collect()
}

/// A break without a rewritten filter makes it `not ready`; anything else that stops or changes makes it `ready after changes`.
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

/// The groups of workloads, and the group of each run.
struct Columns {
    list: Vec<Workloads>,
    of_run: HashMap<RunKey, usize>,
    /// `namespace/name` of every workload of a group.
    names: Vec<Vec<String>>,
}

/// The effect of filters on a run before and after: runs with equal signatures share a column.
type Signature = (Knowledge, &'static str, Vec<(usize, Vec<bool>)>, Vec<(usize, Vec<bool>)>);

impl Columns {
    fn new(groups: &[Group], first: Option<&Snapshot>, last: Option<&Snapshot>) -> Columns {
        let members: HashMap<String, &Group> = groups.iter().map(|group| (group.label(), group)).collect();
        let mut columns = Columns { list: Vec::new(), of_run: HashMap::new(), names: Vec::new() };
        let mut known: BTreeMap<Signature, usize> = BTreeMap::new();
        let earlier: HashMap<&RunKey, &RunRecord> =
            first.iter().flat_map(|snapshot| &snapshot.runs).map(|run| (&run.key, run)).collect();
        for run in last.iter().flat_map(|snapshot| &snapshot.runs) {
            let before = earlier.get(&run.key).map(|run| effects(run)).unwrap_or_default();
            let signature = (run.knowledge, run.kind.as_str(), before, effects(run));
            let made_up = run.made_up;
            // A made-up proxy that no filter reaches gets no column of its own.
            if made_up && signature.2.is_empty() && signature.3.is_empty() {
                continue;
            }
            let at = *known.entry(signature).or_insert(columns.list.len());
            if at == columns.list.len() {
                columns.names.push(Vec::new());
                columns.list.push(Workloads {
                    label: run.label.clone(),
                    kind: run.kind.as_str(),
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
                    Some(group) => group.members.clone(),
                    None => vec![run.label.clone()],
                };
                // The first workload gives its name to a group that began with sample proxies.
                if column.count == 0 {
                    column.label.clone_from(&run.label);
                }
                column.count += names.len();
                let room = MEMBERS.saturating_sub(column.members.len());
                column.members.extend(names.iter().take(room).cloned());
                columns.names[at].extend(names);
            }
        }
        columns.real_first();
        columns
    }

    /// Moves made-up workloads behind real ones.
    fn real_first(&mut self) {
        let mut order: Vec<usize> = (0..self.list.len()).collect();
        order.sort_by_key(|&at| self.list[at].count == 0);
        let place: HashMap<usize, usize> = order.iter().enumerate().map(|(now, &before)| (before, now)).collect();
        self.list = order.iter().map(|&at| self.list[at].clone()).collect();
        self.names = order.iter().map(|&at| std::mem::take(&mut self.names[at])).collect();
        for at in self.of_run.values_mut() {
            *at = place.get(at).copied().unwrap_or(*at);
        }
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
    // A finding about the filter's text applies wherever the filter attaches.
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

/// Whether a finding reports a change on some proxies, rather than something about the filter's text.
fn of_change(found: &Found) -> bool {
    found.finding.rule.changes.iter().any(|change| change.of_proxies())
}

/// The class and description of a change; no class when no finding reports it (a suppressed finding, for example).
fn said(change: &PatchChange, request: &Request<'_>, found: &[Found]) -> (Option<Class>, String) {
    let name = request.inventory.envoy_filters.get(change.filter).map(EnvoyFilter::full_name);
    let reported = |one: &&Found| {
        let same = Some(&one.finding.filter) == name.as_ref() && (one.finding.patch == change.patch);
        same && one.finding.rule.changes.contains(&change.kind)
    };
    let one = found.iter().filter(reported).max_by_key(|one| one.class);
    (one.map(|one| one.class), one.map(|one| one.finding.message.clone()).unwrap_or_default())
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
    let redactor = Redactor::new(&[]).ok();
    filters
        .iter()
        .zip(parts)
        .map(|(filter, (cells, chains))| {
            let mut own = by_filter.remove(filter.full_name().as_str()).unwrap_or_default();
            own.sort_by_key(|one| (std::cmp::Reverse(one.class), one.finding.primary.span));
            let name = ["metadata".into(), "name".into()];
            let document = filter.document.span;
            let text = request.sources.snippet(document);
            let fixes = fixes(request, document, &own);
            let hidden = redactor.as_ref().map(|it| hidden(it, request.sources, filter)).unwrap_or_default();
            let better = !fixes.is_empty();
            Filter {
                namespace: filter.namespace.clone(),
                name: filter.name.clone(),
                source: source(request, filter.document.key_span(&name)),
                verdict: own.iter().map(|one| one.class).max(),
                patches: filter.patches.len(),
                rewritten: better.then(|| edited(text, document, &fixes)).flatten(),
                shown: redactor.as_ref().filter(|_| better).and_then(|it| shown(text, document, it, &hidden, &fixes)),
                findings: own.iter().map(|one| finding(request, one)).collect(),
                cells,
                chains,
                text: edited(text, document, &hidden).unwrap_or_default(),
                today: Vec::new(),
            }
        })
        .collect()
}

/// The edits of fixes in a document, in order of place.
fn fixes(request: &Request<'_>, document: Span, own: &[&Found]) -> Vec<Edit> {
    let findings: Vec<LintFinding> = own.iter().map(|one| one.finding.clone()).collect();
    let outcome = fix::apply(&findings, request.sources, request.unsafe_fixes);
    outcome.files.into_iter().find(|one| one.file == document.file).map(|one| one.edits).unwrap_or_default()
}

/// The edits that hide a filter's secrets.
fn hidden(redactor: &Redactor, sources: &Sources, filter: &EnvoyFilter) -> Vec<Edit> {
    let edit = |(span, whole)| {
        let mut text = sources.snippet(span).to_owned();
        if whole || redactor.text(&mut text) == 0 {
            REDACTED.clone_into(&mut text);
        }
        Edit { span, text }
    };
    redactor.places(&filter.document).into_iter().map(edit).collect()
}

/// A document with fixes and without secrets. Text rewritten by a fix is searched for secrets only by their form.
fn shown(text: &str, document: Span, redactor: &Redactor, hidden: &[Edit], fixes: &[Edit]) -> Option<String> {
    let meet = |one: &Edit, other: &Edit| one.span.start < other.span.end && other.span.start < one.span.end;
    let apart = hidden.iter().filter(|edit| !fixes.iter().any(|fix| meet(fix, edit)));
    let mut all: Vec<Edit> = apart.chain(fixes).cloned().collect();
    all.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let mut shown = edited(text, document, &all)?;
    redactor.text(&mut shown);
    Some(shown)
}

/// A document with edits; `None` when an edit is outside of it.
fn edited(text: &str, document: Span, edits: &[Edit]) -> Option<String> {
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
        confidence: found.confidence.as_str(),
        message: found.message.clone(),
        notes: found.notes.clone(),
        help: found.help.clone(),
        source: source(request, found.primary.span),
        patch: found.patch,
        steps: one.steps.iter().map(|(from, to)| Step { from: short(*from), to: short(*to) }).collect(),
        workloads: found.workloads.to_vec(),
        fix: found.fix.as_ref().map(|fix| Fix { title: fix.description().into_owned(), safe: fix.safe }),
    }
}

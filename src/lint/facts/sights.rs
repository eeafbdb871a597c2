//! What requests through a real Envoy showed, patch by patch, and how a finding reports it.

use crate::lint::facts::context::{Context, Knowledge, PatchRun, PatchView};
use crate::lint::facts::seen::Seen;
use crate::lint::finding::Finding;
use crate::lint::rule::RuleInfo;
use crate::trial::Shows;
use std::collections::BTreeMap;

/// Something that requests showed about a patch, and the proxies they went through.
pub(crate) struct Shown<'c, 'a> {
    /// The patch.
    pub view: PatchView<'a>,
    /// What they showed.
    pub shows: &'c Shows,
    /// A command that reproduces it.
    pub command: String,
    seen: Seen<'c, 'a>,
}

impl Shown<'_, '_> {
    /// A finding about it, at the value of the patch.
    pub(crate) fn finding(&self, rule: &'static RuleInfo, message: impl Into<String>) -> Finding {
        let span = self.view.key_span(&["patch", "value"]);
        let finding = Finding::new(rule, span, message).of(self.view.filter, Some(self.view.patch.index));
        self.seen.tell(finding.note(format!("shown by: {}", self.command)))
    }
}

impl<'a> Context<'a> {
    /// What requests showed, by patch. Results of real proxies take precedence over those of reference configurations.
    pub(crate) fn shown<'c>(&'c self) -> Vec<Shown<'c, 'a>> {
        type Found<'c, 'a> = Vec<(PatchRun<'c, 'a>, String)>;
        let Some(requests) = &self.requests else { return Vec::new() };
        let mut all: BTreeMap<(usize, usize, &Shows), Found<'c, 'a>> = BTreeMap::new();
        for ((run, observed), arguments) in self.runs.iter().zip(&requests.runs).zip(&requests.arguments) {
            for sight in observed.iter().flat_map(|observed| &observed.sights) {
                if run.doubtful(sight.patch) {
                    continue;
                }
                let found = run.by_id(sight.patch);
                let key = (found.planned.filter, found.planned.built.patch.index, &sight.shows);
                let command = format!("kubectl envoyfilter try {arguments} {}", sight.request);
                all.entry(key).or_default().push((found, command));
            }
        }
        let shown = |((filter, patch, shows), mut found): ((usize, usize, &'c Shows), Found<'c, 'a>)| {
            let view = self.patch(filter, patch)?;
            let real = |run: &PatchRun<'_, '_>| run.run.knowledge == Knowledge::Dump;
            if found.iter().any(|(run, _)| real(run)) {
                found.retain(|(run, _)| real(run));
            }
            let knowledge = found.first()?.0.run.knowledge;
            let attached = self.on_proxies(filter, patch).filter(|run| run.run.knowledge == knowledge).count();
            let command = found.first()?.1.clone();
            let runs = found.into_iter().map(|(run, _)| run).collect();
            Some(Shown { view, shows, command, seen: Seen { runs, attached } })
        };
        all.into_iter().filter_map(shown).collect()
    }
}

//! Cases of rules: a file of filters that starts with comment lines describing how to judge it.

use crate::engine::MeshSettings;
use crate::lint::upgrade::Stage;
use crate::lint::{Input, Recorded};
use crate::load::dump::{Dump, Identity};
use crate::load::{Loaded, reference};
use crate::model::release::Release;
use crate::model::resource::ProxyConfig;
use crate::trial::Trial;

/// The text after `# <word>: ` in the comment lines at the start of a case.
pub(super) fn directive<'t>(text: &'t str, word: &str) -> impl Iterator<Item = &'t str> {
    let start = format!("# {word}: ");
    let head = text.lines().take_while(|line| line.starts_with('#'));
    head.filter_map(move |line| line.strip_prefix(&start)).map(str::trim)
}

/// The Envoy of a case: `# envoy: MARKER => WORDS` rejects, with these words, whatever contains the marker.
pub(super) fn recorded(text: &str) -> Option<Trial> {
    let (marker, words) = directive(text, "envoy").next()?.split_once(" => ")?;
    Trial::recorded(marker, words).ok()
}

/// What a real Envoy showed for a case: `# seen: {…}`.
pub(super) fn seen(text: &str) -> Option<Recorded> {
    let mut records = directive(text, "seen").peekable();
    records.peek()?;
    Recorded::read(records).ok()
}

/// The proxies of a case.
pub(super) enum Given<'g> {
    /// Config dumps; none: reference configurations.
    Dumps(&'g [Dump]),
    /// Reference configurations of these workloads, treated like config dumps.
    References(&'g [&'g str]),
}

/// Judges what was loaded at a release, with these proxies.
pub(super) fn on_stage<T>(
    loaded: &Loaded,
    release: Release,
    given: &Given<'_>,
    look: impl FnOnce(&Stage<'_>) -> T,
) -> T {
    let references = reference::configs(release);
    let dumps: Vec<ProxyConfig<'_>> = match given {
        Given::Dumps(dumps) => dumps.iter().filter_map(|dump| dump.config(&Identity::default()).ok()).collect(),
        Given::References(names) => {
            references.iter().filter(|config| names.contains(&config.proxy.workload.as_str())).cloned().collect()
        }
    };
    look(&Stage {
        input: Input {
            sources: &loaded.sources,
            inventory: &loaded.inventory,
            problems: &loaded.problems,
            dumps: &dumps,
            references,
            release,
            mesh: &MeshSettings::of(&loaded.inventory),
        },
        proxies: release,
        target: release,
        stand_ins: &[],
        generated: false,
        make_up: dumps.is_empty(),
        revision: "",
    })
}

//! EF901: a suppression that suppresses nothing.

use crate::declare_rule;
use crate::lint::{Context, Findings, Rule};

declare_rule! {
    /// A suppression that suppresses nothing.
    ///
    /// # What it finds
    /// A comment `# envoyfilter:ignore …` or an entry of the annotation `envoyfilter.dev/ignore` for a rule that finds
    /// nothing there. Rules that did not run are left out; so are rules about matches, other filters and live state when
    /// no config dump was given. istioctl's annotation is never reported.
    ///
    /// # Why it matters
    /// It hides the next mistake at this place, and tells readers of a trouble that is gone.
    ///
    /// # How to fix
    /// Remove it.
    ///
    /// # References
    /// The same is done for unused `noqa` (ruff) and `expect` (rustc).
    "EF901" "unused-suppression" Warning fixes => check
}

/// Nothing to do here: what is unused is known only after all other rules (`lint::pipeline`).
fn check(_: &'static Rule, _: &Context<'_>, _: &mut Findings) {}

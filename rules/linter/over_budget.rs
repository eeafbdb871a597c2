//! EF904: an EnvoyFilter that takes more work to judge than a review may take.

use crate::declare_rule;
use crate::lint::limits::{self, Excess};
use crate::lint::{Context, Finding, Findings, RuleInfo};

declare_rule! {
    /// An EnvoyFilter that is too expensive to judge in an admission review.
    ///
    /// # What it finds
    /// More than 10,000 values, 1,000 levels of nesting, 2,000 patches, or `proxyVersion` expressions that compile to more than
    /// 20,000 instructions. The admission server also reports it when judging the filter takes too many steps or too long, and
    /// when the namespace sends more changes at once than can be judged before the deadline.
    ///
    /// # Why it matters
    /// The admission server stops judging and denies the filter (in mode `enforce`), so that one filter cannot delay
    /// the reviews of others. istiod compiles and applies the same content for every proxy that it matches.
    ///
    /// # How to fix
    /// Split the filter, generate fewer patches, or write simpler `proxyVersion` expressions such as `^1\.30\.`.
    ///
    /// # References
    /// SECURITY.md, "Admission server".
    "EF904" "over-budget" Linter Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for filter in cx.filters {
        let Some(excess) = limits::excess(filter) else { continue };
        let span = filter.name_key_span();
        let help = match excess {
            Excess::Instructions(_) => {
                r"write the start of the version with its dots escaped: proxyVersion: '^1\.30\.'"
            }
            _ => "split it into several EnvoyFilters",
        };
        out.push(
            Finding::new(rule, span, format!("this EnvoyFilter is too large for the admission server: {excess}"))
                .note("the admission server denies it in mode enforce; `lint` judges it anyway")
                .help(help)
                .of(filter, None),
        );
    }
}

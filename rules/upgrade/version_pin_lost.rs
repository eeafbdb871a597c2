//! EF614: a `proxyVersion` that matches the proxies now but not after the upgrade.

use crate::declare_rule;
use crate::lint::context::PatchView;
use crate::lint::upgrade::{Change, Upgrade, tell};
use crate::lint::{Context, Edit, Findings, RuleInfo};
use crate::source::Severity;

declare_rule! {
    /// A `proxyVersion` that matches the proxies now but not after the upgrade.
    ///
    /// # What it finds
    /// A patch with an effect whose `match.proxy.proxyVersion` excludes the proxies of the new release. If another
    /// patch of the same kind that is pinned to the new version replaces it, the finding names it. Only `audit`
    /// compares two releases: `lint` never reports it.
    ///
    /// # Why it matters
    /// A pin makes a patch end with the release it was written for. If nobody wrote the next one, its effect is gone.
    ///
    /// # How to fix
    /// Add a patch for the new version, or widen the expression if the patch is right for both.
    ///
    /// # References
    /// istio/istio#43602, istio/istio#51028.
    "EF614" "version-pin-lost" Upgrade Error => check,
    fixes: true, needs: &[Upgrade], changes: &[Change::VersionPin]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let Some(upgrade) = cx.upgrade.as_deref() else { return };
    for change in upgrade.of(Change::VersionPin) {
        let Some(view) = tell::view(cx, change) else { continue };
        let span = view.value_span(&["match", "proxy", "proxyVersion"]);
        let version = tell::short(upgrade.after.proxies);
        let message = format!("proxyVersion does not match proxies of Istio {version}");
        let mut finding = tell::finding(rule, cx, upgrade, change, span, message)
            .label("matches the current proxies")
            .note(format!("it changes now: {}", tell::places(&change.places.0, change.counts.0)));
        if let Some(twin) = successor(cx, upgrade, &view) {
            finding = finding
                .severity(Severity::Info)
                .note(format!(
                    "configPatches[{}] of {} takes over: it matches the new version and patches the same objects",
                    twin.patch.index,
                    twin.filter.full_name()
                ))
                .related(twin.value_span(&["match", "proxy", "proxyVersion"]), "takes over")
                .help("delete this patch when no proxy of the old version is left");
        } else {
            finding = finding.note("no other patch takes over");
            if let Some(text) = widened(cx.sources.snippet(span), upgrade) {
                finding = finding.help(format!("if the patch is right for both: {text}")).fix(
                    "make the expression match both versions",
                    false,
                    vec![Edit { span, text }],
                );
            }
        }
        out.push(finding);
    }
}

/// Whether two patches are about the same, their pins aside.
fn same(one: &PatchView<'_>, other: &PatchView<'_>) -> bool {
    (one.filter_index, one.patch.index) != (other.filter_index, other.patch.index)
        && one.patch.apply_to == other.patch.apply_to
        && one.patch.context == other.patch.context
        && one.patch.object == other.patch.object
        && other.patch.proxy.is_some()
        && one.filter.namespace == other.filter.namespace
        && (one.filter.selector == other.filter.selector || one.filter_index == other.filter_index)
}

/// The pinned patch that begins where this one ends.
fn successor<'a>(cx: &Context<'a>, upgrade: &Upgrade, view: &PatchView<'_>) -> Option<PatchView<'a>> {
    let begins = upgrade.of(Change::Begins).filter_map(|change| tell::view(cx, change));
    begins.into_iter().find(|other| same(view, other))
}

/// The pinned patch that ends where this one begins.
pub(super) fn hands_over<'a>(cx: &Context<'a>, upgrade: &Upgrade, view: &PatchView<'_>) -> Option<PatchView<'a>> {
    view.patch.proxy.as_ref()?;
    let ends = upgrade.of(Change::VersionPin).filter_map(|change| tell::view(cx, change));
    ends.into_iter().find(|other| same(other, view))
}

/// `^1\\.26.*` as an expression that fits another minor too; `None` for other forms.
fn widened(written: &str, upgrade: &Upgrade) -> Option<String> {
    let quote = written.chars().next().filter(|c| matches!(c, '"' | '\''));
    let minor = upgrade.before.proxies.minor.to_string();
    let both = format!("({minor}|{})", upgrade.after.proxies.minor);
    let separators = if quote == Some('"') { ["1\\\\.", "1.", "1[.]"] } else { ["1\\.", "1.", "1[.]"] };
    let (separator, at) = separators.iter().find_map(|one| {
        let pattern = format!("{one}{minor}");
        written.find(&pattern).map(|at| (*one, at))
    })?;
    let end = at + separator.len() + minor.len();
    let rest = written.get(end..)?;
    if rest.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    Some(format!("{}{separator}{both}{rest}", written.get(..at)?))
}

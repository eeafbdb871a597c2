//! Retries that a rule repeats from the mesh, where another patch that moves sets them.

use super::Overlaps;

/// What istiod makes of a field of a rule's retries.
fn of_envoy(field: &str) -> Option<&'static str> {
    match field {
        "attempts" => Some("num_retries"),
        "perTryTimeout" => Some("per_try_timeout"),
        "retryOn" => Some("retry_on"),
        "backoff" => Some("retry_back_off/base_interval"),
        _ => None,
    }
}

impl Overlaps<'_> {
    /// Why a patch must not move with an earlier one: its rule repeats from the mesh what that one sets, and would override it.
    pub(super) fn filled(&self, number: usize, stays: &[bool], fills: &[&str]) -> Option<String> {
        let setter = &self.setters[number];
        fills.iter().find_map(|native| {
            let field = of_envoy(native)?;
            let end = format!("/retry_policy/{field}");
            let fields = self.by_field.iter().filter(|(name, _)| name.ends_with(&end));
            let others = fields.flat_map(|(_, field)| field.near(setter)).filter(|at| *at != number && !stays[*at]);
            let other = others.map(|at| &self.setters[at]).find(|one| !self.before(setter, one) && self.meet(setter, one))?;
            let (patch, title) = (other.built.patch.index, self.names.title(other.filter));
            Some(format!(
                "configPatches[{patch}] of {title} sets `{field}` of these routes, and this patch leaves it as it is; its rule would set the mesh's default instead: run `migrate` again once that patch has moved, or set both in one patch"
            ))
        })
    }
}

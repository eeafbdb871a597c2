//! EF163: a JWT provider that reads the Authorization header without its prefix.

use crate::declare_rule;
use crate::lint::walk::get;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Node;

declare_rule! {
    /// A JWT provider that reads tokens from `Authorization` without `value_prefix`.
    ///
    /// # What it finds
    /// `from_headers` of a `jwt_authn` provider with the name `Authorization` and no `value_prefix`.
    ///
    /// # Why it matters
    /// Clients send `Authorization: Bearer <token>`. Without the prefix, Envoy reads all of it as the token and answers
    /// 401: "Jwt header is an invalid JSON".
    ///
    /// # How to fix
    /// `value_prefix: "Bearer "`; or leave `from_headers` out, which reads this header by default.
    ///
    /// # References
    /// Envoy `extensions.filters.http.jwt_authn.v3.JwtProvider.from_headers`; tested with Envoy 1.38.2.
    "EF163" "bearer-prefix-missing" Value Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        let providers = value
            .objects
            .iter()
            .filter(|object| object.full_name() == "envoy.extensions.filters.http.jwt_authn.v3.JwtProvider");
        for list in providers.filter_map(|object| object.member("from_headers")) {
            for header in list.entry.value.items() {
                let text = |key: &str| get(header, key).and_then(Node::as_str).unwrap_or_default();
                if !text("name").eq_ignore_ascii_case("authorization") || !text("value_prefix").is_empty() {
                    continue;
                }
                out.push(
                    value
                        .finding(
                            rule,
                            header.span,
                            "every `Authorization: Bearer …` is rejected: Envoy reads `Bearer` as part of the token",
                        )
                        .label("no `value_prefix`")
                        .help("value_prefix: \"Bearer \""),
                );
            }
        }
    }
}

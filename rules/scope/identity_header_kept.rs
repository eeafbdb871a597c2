//! EF518: an identity header that the proxy adds to the one that the client sent.

use crate::declare_rule;
use crate::lint::route_match::node_takes_everything;
use crate::lint::value::walk::{get, same};
use crate::lint::value::{Object, PatchValue};
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::{Node, NodeValue, Step};

declare_rule! {
    /// An identity header that is appended, so that the client's value stays.
    ///
    /// # What it finds
    /// A request header such as `x-user-id`, `x-forwarded-email` or `x-auth-roles`, or with a value of the client's
    /// certificate (`%DOWNSTREAM_PEER_…%`), that is added with `APPEND_IF_EXISTS_OR_ADD` (the default) or `ADD_IF_ABSENT`
    /// without being removed first; `headers():add` of such a header in Lua, and `headers():replace` in a branch only, if the
    /// script neither removes nor reads the header, nor answers requests; `claim_to_headers` of a JWT filter whose
    /// `rules` do not cover all requests.
    ///
    /// # Why it matters
    /// A client can send the header itself. If the value is appended, both arrive, the client's first; with
    /// `ADD_IF_ABSENT` only the client's does. The service may trust it.
    ///
    /// # How to fix
    /// Use `append_action: OVERWRITE_IF_EXISTS_OR_ADD`, or name the header in `request_headers_to_remove`, which is
    /// applied first.
    ///
    /// # References
    /// Envoy `config.core.v3.HeaderValueOption`.
    "EF518" "identity-header-kept" Scope Warning => check
}

/// Parts of header names, between dashes, by which services identify the caller.
const IDENTITY: &[&str] = &[
    "user",
    "userid",
    "username",
    "uid",
    "email",
    "sub",
    "subject",
    "principal",
    "identity",
    "role",
    "roles",
    "admin",
    "groups",
    "group",
    "tenant",
    "tenantid",
    "account",
    "customer",
    "claims",
    "claim",
    "scope",
    "scopes",
    "permissions",
    "jwt",
    "authenticated",
    "caller",
    "org",
    "spiffe",
    "dn",
];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for script in cx.loadable_scripts() {
        for one in script.uses.added.iter().filter(|one| is_identity(one.name)) {
            out.push(
                script
                    .finding(rule, one, format!("`{}` is appended: the client's own value stays first", one.name))
                    .label("a client can also send this header")
                    .help(format!(
                        "headers():replace(\"{0}\", …), or, on a condition, first headers():remove(\"{0}\") outside of it",
                        one.name
                    )),
            );
        }
    }
    for script in cx.loadable_scripts() {
        for one in script.uses.conditional.iter().filter(|one| is_identity(one.name)) {
            let message =
                format!("`{}` is replaced only on a condition: otherwise the client's own value stays", one.name);
            let finding = script.finding(rule, one, message).label("a client can also send this header");
            out.push(finding.help(format!("first, outside of the condition: headers():remove(\"{}\")", one.name)));
        }
    }
    for value in cx.values() {
        claims(rule, value, out);
        for object in value.objects.iter().filter(|object| object.short_name() == "HeaderValueOption") {
            let Some((parent, field)) = object.parent else { continue };
            let request = match field.name() {
                "request_headers_to_add" => true,
                // The list of a header mutation is one level above its item.
                "append" => {
                    object.route.iter().any(|step| matches!(step, Step::Key(key) if same(key, "request_mutations")))
                }
                _ => false,
            };
            let header = object.member("header").map(|member| &member.entry.value);
            let Some(key) = header.and_then(|header| get(header, "key")) else { continue };
            let name = key.as_str().unwrap_or_default().to_ascii_lowercase();
            let earlier = || removed_before(&value.objects, parent, &name);
            let text = header.and_then(|header| get(header, "value")).and_then(Node::as_str).unwrap_or_default();
            // Whatever its name: it comes from the client's certificate.
            let of_peer = text.contains("%DOWNSTREAM_PEER_");
            if !request || !(of_peer || is_identity(&name)) || removed(value.objects[parent].node, &name) || earlier() {
                continue;
            }
            let absent = object.text("append_action") == Some("ADD_IF_ABSENT");
            let action = object.text("append_action").unwrap_or("APPEND_IF_EXISTS_OR_ADD");
            let overwrites = object
                .member("append")
                .is_some_and(|member| matches!(member.entry.value.value, NodeValue::Bool(false)));
            if overwrites || !matches!(action, "APPEND_IF_EXISTS_OR_ADD" | "ADD_IF_ABSENT") {
                continue;
            }
            let what =
                if absent { "a client that sends it keeps its own" } else { "the client's own value stays first" };
            out.push(
                value
                    .finding(
                        rule,
                        key.span,
                        format!("`{name}` is {}: {what}", if absent { "added if absent" } else { "appended" }),
                    )
                    .label("a client can also send this header")
                    .help("append_action: OVERWRITE_IF_EXISTS_OR_ADD"),
            );
        }
    }
}

/// Headers that a JWT filter writes from claims, and removes only from requests that one of its rules covers.
fn claims(rule: &'static RuleInfo, value: &PatchValue<'_>, out: &mut Findings) {
    let filters = value.objects.iter().filter(|object| object.whole && object.full_name() == JWT);
    for filter in filters {
        let rules = filter.member("rules").map(|member| member.entry.value.items()).unwrap_or_default();
        let verifies = |rule: &&Node| ["requires", "requirement_name"].iter().any(|key| get(rule, key).is_some());
        let everything = |rule: &Node| get(rule, "match").is_some_and(node_takes_everything);
        // Without a rule that requires something, another rule of this linter speaks; routes may name requirements of their own.
        let covered = rules.iter().filter(verifies).any(everything) || !rules.iter().any(|rule| verifies(&rule));
        if covered || get(filter.node, "requirement_map").is_some() || get(filter.node, "filter_state_rules").is_some()
        {
            continue;
        }
        let providers = get(filter.node, "providers").map(Node::entries).unwrap_or_default();
        for item in providers.iter().filter_map(|one| get(&one.value, "claim_to_headers")).flat_map(Node::items) {
            let Some(header) = get(item, "header_name") else { continue };
            let name = header.as_str().unwrap_or_default();
            out.push(
                value
                    .finding(rule, header.span, format!("requests that no rule covers keep the `{name}` of the client"))
                    .label("a client can also send this header")
                    .note("the filter removes it only from requests that one of its `rules` matches")
                    .snippet("cover all requests: as the last rule\n- match: {prefix: /}\n  requires:\n    requires_any:\n      requirements: [{provider_name: …}, {allow_missing: {}}]"),
            );
        }
    }
}

const JWT: &str = "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication";

/// Whether a header identifies the caller, by its name.
pub(super) fn is_identity(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let mut parts = name.split(['-', '_']);
    let own = name.starts_with("x-") || name.starts_with("remote-");
    own && name != "x-user-agent" && parts.any(|part| IDENTITY.contains(&part))
}

fn removed(owner: &Node, name: &str) -> bool {
    let list = get(owner, "request_headers_to_remove").map(Node::items).unwrap_or_default();
    list.iter().any(|item| item.as_str().is_some_and(|one| one.eq_ignore_ascii_case(name)))
}

/// Whether a header mutation removes the header before this item adds it: mutations run in their order.
fn removed_before(objects: &[Object<'_>], item: usize, name: &str) -> bool {
    let of_list = |object: &Object<'_>| {
        object.parent.is_some_and(|(parent, _)| Some(parent) == objects[item].parent.map(|it| it.0))
    };
    objects[..item]
        .iter()
        .filter(|object| of_list(object) && object.full_name() == objects[item].full_name())
        .any(|object| object.text("remove").is_some_and(|one| one.eq_ignore_ascii_case(name)))
}

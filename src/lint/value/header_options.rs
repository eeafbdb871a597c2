//! Headers that routes and header_mutation write, each with its options.

use super::Object;
use super::walk::get;
use crate::source::Node;

/// Lists of changes to headers.
pub(crate) const MUTATIONS: &str = "envoy.extensions.filters.http.header_mutation.v3.Mutations";

/// Those that an object writes to responses.
pub(crate) fn of_responses<'v>(object: &'v Object<'_>) -> Vec<&'v Node> {
    let mut options: Vec<&Node> = items(object, "response_headers_to_add").iter().collect();
    options.extend(mutations(object, "response_mutations"));
    options
}

/// Those that header_mutation writes to requests.
pub(crate) fn of_requests<'v>(object: &'v Object<'_>) -> impl Iterator<Item = &'v Node> {
    mutations(object, "request_mutations")
}

/// The name of the header.
pub(crate) fn key(option: &Node) -> Option<&Node> {
    get(get(option, "header")?, "key")
}

fn mutations<'v>(object: &'v Object<'_>, field: &str) -> impl Iterator<Item = &'v Node> {
    let all = if object.full_name() == MUTATIONS { items(object, field) } else { &[] };
    all.iter().filter_map(|item| get(item, "append"))
}

fn items<'v>(object: &'v Object<'_>, field: &str) -> &'v [Node] {
    object.member(field).map(|member| member.entry.value.items()).unwrap_or_default()
}

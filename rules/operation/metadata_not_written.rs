//! EF349: an HTTP filter that reads metadata which no filter before it writes.

use crate::declare_rule;
use crate::lint::context::{PatchRun, ProxyRun};
use crate::lint::per_run::PerRun;
use crate::lint::seen::{Seen, changed_filter_lists, config_type};
use crate::lint::{Context, Findings, Knowledge, RuleInfo};
use crate::model::envoy_filter::ApplyTo;
use crate::proto::tree::{Origin, Tree};
use crate::source::Step;
use std::collections::{HashMap, HashSet};

declare_rule! {
    /// An HTTP filter that reads dynamic metadata of a filter that does not run before it.
    ///
    /// # What it finds
    /// With config dumps: an inserted filter whose value names the metadata of `envoy.filters.http.jwt_authn` or
    /// `envoy.filters.http.ext_authz`, in RBAC rules, `filter_enabled_metadata`, `metadata_context_namespaces` or
    /// `%DYNAMIC_METADATA(…)%`, if no filter of that type is before it in any list that it is inserted into; and `istio_authn`, a
    /// filter that Istio has until 1.23.
    ///
    /// # Why it matters
    /// The metadata is empty: an ALLOW denies every request, a DENY none, an authorization service is never asked, a header is not set.
    ///
    /// # How to fix
    /// Insert the filter after the one that writes: INSERT_AFTER with its name, or a later patch with INSERT_BEFORE the router. A JWT
    /// provider writes metadata only with `payload_in_metadata`.
    ///
    /// # References
    /// Envoy, "Well known dynamic metadata"; the answers of Envoy 1.38.2 in both orders.
    "EF349" "metadata-not-written" Operation Error => check,
    needs: &[Dump]
}

/// Namespaces of metadata, with the end of the type of the filter that writes them; none for Istio's own, which is gone since 1.24.
const WRITERS: [(&str, &str); 3] = [
    ("envoy.filters.http.ext_authz", ".ext_authz.v3.ExtAuthz"),
    ("envoy.filters.http.jwt_authn", ".jwt_authn.v3.JwtAuthentication"),
    ("istio_authn", ""),
];

/// Where the writer is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    Before,
    After,
    Nowhere,
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let known: PerRun<Writers> = PerRun::new();
    let places = |run: &PatchRun<'_, '_>, index: usize| -> Vec<Writer> {
        let known = (run.run.knowledge == Knowledge::Dump).then(|| known.of(run.run, by_patch));
        let lists = known.and_then(|known| known.get(&run.id.origin()).cloned()).unwrap_or_default();
        lists.into_iter().map(|writers| writers[index]).collect()
    };
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::HttpFilter) {
        let Some(value) = view.built.and_then(|built| built.value.as_ref()).filter(|value| may_read(value)) else {
            continue;
        };
        for (index, (namespace, writer)) in WRITERS.into_iter().enumerate() {
            let mut path = Vec::new();
            if config_type(value).ends_with(writer) && !writer.is_empty() || !reads(value, namespace, &mut path) {
                continue;
            }
            let unwritten = |run: &PatchRun<'_, '_>| {
                let places = places(run, index);
                !places.is_empty() && !places.contains(&Writer::Before)
            };
            let Some(seen) = cx.seen_if(&view, unwritten).filter(Seen::certain) else { continue };
            let after = seen.runs.iter().any(|run| places(run, index).contains(&Writer::After));
            let (message, help) = if writer.is_empty() {
                (
                    format!("no filter writes the metadata `{namespace}`: Istio has no such filter any more"),
                    "the metadata of envoy.filters.http.jwt_authn, or an AuthorizationPolicy with requestPrincipals"
                        .to_owned(),
                )
            } else if after {
                (
                    format!("this filter runs before `{namespace}`, whose metadata it reads"),
                    format!(
                        "insert it after that filter:\noperation: INSERT_AFTER, with subFilter: {{name: {namespace}}}"
                    ),
                )
            } else {
                (
                    format!("no filter here writes the metadata of `{namespace}`"),
                    "insert that filter before this one, or use a RequestAuthentication and an AuthorizationPolicy"
                        .to_owned(),
                )
            };
            let finding = view.finding(rule, view.value_place(&path), message);
            out.push(seen.tell(finding.label("empty when it is read").help(help)));
        }
    }
}

/// Whether any text in a value may name one of the namespaces.
fn may_read(tree: &Tree<'_>) -> bool {
    let tree = tree.readable();
    tree.as_str().is_some_and(|text| text.contains('%') || WRITERS.iter().any(|(namespace, _)| text == *namespace))
        || tree.entries().iter().any(|(_, value)| may_read(value))
        || tree.items().iter().any(may_read)
}

/// Whether a value reads the metadata of a namespace, and the path of the field in which it does.
fn reads(tree: &Tree<'_>, namespace: &str, path: &mut Vec<Step>) -> bool {
    let tree = tree.readable();
    for (key, value) in tree.entries() {
        // When the response passes, every filter has written.
        if key.starts_with("response_") {
            continue;
        }
        let text = value.as_str().unwrap_or_default();
        path.push(Step::from(&**key));
        let names = matches!(&**key, "filter" | "key" | "metadata_context_namespaces") && text == namespace;
        let operator = text
            .split_once("%DYNAMIC_METADATA(")
            .is_some_and(|(_, rest)| rest.strip_prefix(namespace).is_some_and(|rest| rest.starts_with([':', ')'])));
        let listed = &**key == "metadata_context_namespaces"
            && value.items().iter().any(|item| item.as_str() == Some(namespace));
        if names || operator || listed || reads(value, namespace, path) {
            return true;
        }
        path.pop();
    }
    for (number, item) in tree.items().iter().enumerate() {
        path.push(Step::from(number));
        if reads(item, namespace, path) {
            return true;
        }
        path.pop();
    }
    false
}

/// Where each writer is, in each list of HTTP filters that a patch inserted into.
type Writers = HashMap<Origin, Vec<[Writer; WRITERS.len()]>>;

fn by_patch(run: &ProxyRun<'_>) -> Writers {
    let mut found = Writers::new();
    for (_, listener) in run.changed_listeners() {
        for (_, filters) in changed_filter_lists(listener).filter(|(http, _)| *http) {
            let first = WRITERS.map(|(namespace, writer)| {
                filters.iter().position(|filter| match writer {
                    "" => filter.name() == namespace,
                    writer => config_type(filter).ends_with(writer),
                })
            });
            let mut seen = HashSet::new();
            for (own, filter) in filters.iter().enumerate().filter(|(_, filter)| seen.insert(filter.origin)) {
                found.entry(filter.origin).or_default().push(first.map(|at| match at {
                    Some(at) if at < own => Writer::Before,
                    Some(_) => Writer::After,
                    None => Writer::Nowhere,
                }));
            }
        }
    }
    found
}

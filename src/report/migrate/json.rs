//! A migration as JSON (schemas/migrate.json).

use super::{classes, scope, unwritten};
use crate::migrate::newest::Rewrite;
use crate::migrate::proof::{Proof, Proven, Traffic};
use crate::migrate::roll_out::{Step, meanwhile, steps};
use crate::migrate::verdict::State;
use crate::migrate::{After, FilterReport, PatchReport, Report};
use crate::source::ErrorMessage;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json, json};
use std::io::{self, Write};

/// Writes the report.
pub(crate) fn json(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let draft = &report.draft;
    let objects: Vec<Json> =
        draft.made.iter().map(|made| json!({ "from": made.from, "object": made.object })).collect();
    let edits: Vec<Json> = draft
        .edited
        .iter()
        .map(|one| json!({ "from": one.from, "object": one.after, "patch": patch(&one.before, &one.after) }))
        .collect();
    let pods: Vec<Json> = draft
        .pods
        .iter()
        .map(|one| {
            let workloads: Vec<String> =
                one.workloads.keys().map(|(kind, namespace, name)| format!("{kind} {namespace}/{name}")).collect();
            json!({
                "from": one.from,
                "namespace": one.namespace,
                "labels": one.labels,
                "config": one.over(""),
                "workloads": workloads,
            })
        })
        .collect();
    let counts: Map<String, Json> =
        classes(report).into_iter().map(|(class, number)| (class.name().to_owned(), number.into())).collect();
    let filters = Each(|| report.filters.iter().map(|one| filter(report, one)));
    let rewrites = Each(|| report.rewrites.iter().map(rewrite));
    let scope = json!({
        "filtersRead": report.read,
        "filtersJudged": report.filters.len(),
        "meshDescribed": report.described,
        "proof": if report.proven_by.is_some() { "istiod" } else { "recorded" },
        "istiod": report.proven_by,
        "notes": scope(report),
    });
    let whole = Whole {
        version: 1,
        to: report.to.to_string(),
        ambient: report.ambient,
        scope,
        classes: counts,
        filters,
        rewrites,
        objects,
        edits,
        pods,
        mesh_config: draft.mesh.as_ref().map(|(settings, _)| settings),
        roll_out: steps(report).iter().map(step).collect(),
    };
    crate::report::json(out, &whole)
}

/// The report; large lists are made item by item while they are written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Whole<'a, F: Serialize, R: Serialize> {
    version: u8,
    to: String,
    ambient: bool,
    scope: Json,
    classes: Map<String, Json>,
    filters: F,
    rewrites: R,
    objects: Vec<Json>,
    edits: Vec<Json>,
    pods: Vec<Json>,
    mesh_config: Option<&'a Json>,
    roll_out: Vec<Json>,
}

/// A list whose items are made when it is written.
struct Each<F>(F);

impl<F: Fn() -> I, I: Iterator<Item = Json>> Serialize for Each<F> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq((self.0)())
    }
}

fn rewrite(one: &Rewrite) -> Json {
    json!({
        "filter": one.filter,
        "changes": one.changes,
        "effect": one.effect.name(),
        "meaning": one.words(),
        "written": one.written,
        "object": one.object,
    })
}

fn proof(one: &Proof) -> Json {
    let computed = match &one.found {
        Proven::NotComputed(why) => return json!({ "notComputed": why }),
        Proven::Computed(computed) => computed,
    };
    let mut value = json!({
        "class": computed.class().name(),
        "proxies": computed.proxies,
        "beyond": computed.beyond,
        "differences": computed.differences.iter()
            .map(|(one, places)| json!({ "kind": one.kind.name(), "effect": one.effect, "places": places }))
            .collect::<Vec<_>>(),
    });
    if !one.with.is_empty() {
        value["with"] = json!(one.with);
    }
    value
}

fn traffic(sent: &Result<Traffic, ErrorMessage>) -> Json {
    match sent {
        Err(why) => json!({ "notSent": why }),
        Ok(sent) => json!({
            "envoy": sent.envoy,
            "proxies": sent.proxies,
            "requests": sent.requests,
            "sent": sent.sent,
            "apart": sent.apart.iter().map(|one| json!({
                "proxy": one.proxy, "request": one.request, "filter": one.filter, "native": one.native,
            })).collect::<Vec<_>>(),
            "unsent": sent.unsent,
        }),
    }
}

fn filter(report: &Report, filter: &FilterReport) -> Json {
    let mut value = json!({
        "namespace": filter.namespace,
        "name": filter.name,
        "class": filter.class.name(),
        "after": match filter.after {
            After::Delete => "delete",
            After::Smaller(_) => "smaller",
            After::Unchanged => "unchanged",
        },
        "patches": filter.patches.iter().map(one_patch).collect::<Vec<_>>(),
        "meanwhile": meanwhile(filter),
    });
    if let After::Smaller(smaller) = &filter.after {
        value["smaller"] = smaller.clone();
    }
    let name = super::full_name(filter);
    if let Some(one) = report.proofs.iter().find(|proof| proof.filter == name) {
        value["proof"] = proof(one);
        if let Some(sent) = &one.traffic {
            value["traffic"] = traffic(sent);
        }
    }
    value
}

fn one_patch(patch: &PatchReport) -> Json {
    let found = &patch.found;
    let homes: Vec<Json> = found
        .homes
        .iter()
        .map(|home| {
            let mut one = json!({ "kind": home.kind, "field": home.field });
            if let Some(since) = home.since {
                one["since"] = format!("{}.{}", since.major, since.minor).into();
            }
            one
        })
        .collect();
    let mut value = json!({
        "index": patch.index,
        "applyTo": patch.apply_to.name(),
        "pattern": found.pattern.id,
        "class": patch.class.name(),
        "written": patch.written,
        "homes": homes,
        "differences": found.differences.iter()
            .map(|one| json!({ "kind": one.kind.name(), "effect": one.effect })).collect::<Vec<_>>(),
        "guards": found.guards.iter()
            .map(|one| json!({ "concern": one.concern.name(), "state": one.state.name(), "reason": one.reason }))
            .collect::<Vec<_>>(),
        "notes": found.notes,
    });
    if found.guards.iter().any(|guard| guard.state == State::Broken)
        && let Some(why) = unwritten(patch)
    {
        value["refused"] = why.into();
    }
    if let Some(one) = &patch.ambient {
        value["ambient"] = json!({ "place": one.place.name(), "reason": one.reason });
    }
    if let Some(since) = found.since() {
        value["since"] = format!("{}.{}", since.major, since.minor).into();
    }
    if let Some(rest) = &found.rest {
        value["rest"] = rest.clone();
    }
    if !found.moves && !found.pattern.follow.is_empty() {
        value["follow"] = found.pattern.follow.into();
    }
    value
}

fn step(step: &Step) -> Json {
    let (word, what) = match step {
        Step::Save => ("save", Vec::new()),
        Step::Mesh(what) => ("mesh-config", what.clone()),
        Step::Apply(what) => ("apply", what.clone()),
        Step::Pods(what) => ("annotate", what.clone()),
        Step::Restart(what) => ("restart", what.clone()),
        Step::Enroll => ("enroll", Vec::new()),
        Step::Rewrite(what) => ("rewrite", what.clone()),
        Step::Try => ("try", Vec::new()),
        Step::Verify | Step::VerifyAgain | Step::VerifyOnce => ("verify", Vec::new()),
        Step::Shrink(what) => ("shrink", what.clone()),
        Step::Delete(what) => ("delete", what.clone()),
    };
    json!({ "do": word, "what": what })
}

/// The change of an object as a JSON patch (RFC 6902).
pub(super) fn patch(before: &Json, after: &Json) -> Vec<Json> {
    let mut operations = Vec::new();
    compare("", before, after, &mut operations);
    operations
}

fn compare(path: &str, before: &Json, after: &Json, out: &mut Vec<Json>) {
    if before == after {
        return;
    }
    match (before, after) {
        (Json::Object(old), Json::Object(new)) => {
            for key in old.keys().filter(|key| !new.contains_key(*key)) {
                out.push(json!({ "op": "remove", "path": format!("{path}/{}", escaped(key)) }));
            }
            for (key, value) in new {
                let below = format!("{path}/{}", escaped(key));
                match old.get(key) {
                    Some(had) => compare(&below, had, value, out),
                    None => out.push(json!({ "op": "add", "path": below, "value": value })),
                }
            }
        }
        (Json::Array(old), Json::Array(new)) if old.len() == new.len() => {
            for (index, (had, value)) in old.iter().zip(new).enumerate() {
                compare(&format!("{path}/{index}"), had, value, out);
            }
        }
        // A new first item, such as a rule in front of the others.
        (Json::Array(old), Json::Array(new)) if new.len() == old.len() + 1 && new[1..] == old[..] => {
            out.push(json!({ "op": "add", "path": format!("{path}/0"), "value": new[0] }));
        }
        _ => out.push(json!({ "op": "replace", "path": path, "value": after })),
    }
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_reported_as_a_patch() {
        let before = json!({ "spec": { "http": [{ "name": "a" }], "x/y": 1 } });
        let after = json!({ "spec": { "http": [{ "name": "new" }, { "name": "a" }], "x/y": 2, "z": true } });
        assert_eq!(
            patch(&before, &after),
            [
                json!({ "op": "add", "path": "/spec/http/0", "value": { "name": "new" } }),
                json!({ "op": "replace", "path": "/spec/x~1y", "value": 2 }),
                json!({ "op": "add", "path": "/spec/z", "value": true }),
            ]
        );
    }
}

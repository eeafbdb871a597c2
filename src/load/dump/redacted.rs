//! Dumps without secrets. A resource that many dumps contain is checked once.

use super::{Dump, Edit};
use crate::model::redact::{Redactor, Secrets, may_hold_apart};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The key that marks where a resource goes while the rest of its dump is checked.
const PLACE: &str = "kubectl-envoyfilter/resource";
/// Maximum size of remembered resources, in bytes.
const MOST: usize = 32 << 20;

/// Resources without their secrets, and how many they had: the dumps of a mesh are mostly equal.
#[derive(Debug, Default)]
pub struct Redactions {
    known: HashMap<Box<str>, (Arc<str>, usize)>,
    bytes: usize,
}

impl Redactions {
    /// A resource without its secrets. `None` when the result depends on the text around it.
    fn of(&mut self, text: &str, redactor: &Redactor) -> Result<Option<(Arc<str>, usize)>, serde_json::Error> {
        if let Some(known) = self.known.get(text) {
            return Ok(Some(known.clone()));
        }
        let mut value: Value = serde_json::from_str(text)?;
        if value.get("@type").is_none() {
            return Ok(None);
        }
        let found = redactor.redact(&mut value);
        let redacted: (Arc<str>, usize) = (value.to_string().into(), found);
        let bytes = text.len() + redacted.0.len();
        if self.bytes + bytes <= MOST {
            self.bytes += bytes;
            self.known.insert(text.into(), redacted.clone());
        }
        Ok(Some(redacted))
    }
}

/// Resources whose secrets are known, by their names: those of a mesh are in many dumps.
#[derive(Debug, Default)]
pub struct Searched {
    known: HashMap<Box<str>, Box<str>>,
    bytes: usize,
}

impl Searched {
    /// Maximum size of remembered resources, in bytes.
    const MOST: usize = 4 << 20;

    fn is_known(&self, name: &str, json: &str) -> bool {
        self.known.get(name).is_some_and(|known| **known == *json)
    }

    fn add(&mut self, name: &str, json: &str) {
        let old = self.known.remove(name).map_or(0, |known| known.len());
        self.bytes = self.bytes - old + json.len();
        if self.bytes > Self::MOST {
            self.bytes -= json.len();
        } else {
            self.known.insert(name.into(), json.into());
        }
    }
}

/// The resources whose secrets are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All.
    All,
    /// Those that were read so far: nothing else of them can be in a report.
    Read,
}

impl Dump {
    /// Adds the secrets that no single line of the dump shows to those that no output repeats. Names of resources are none.
    /// `searched`: what was added before.
    pub(crate) fn secrets(&self, wanted: Wanted, into: &mut Secrets, searched: &mut Searched) {
        let text = self.text.whole();
        let redactor = Redactor::plain();
        let mut found = Secrets::default();
        let mut collect = |json: &str| {
            if may_hold_apart(json)
                && let Ok(mut value) = serde_json::from_str::<Value>(json)
            {
                redactor.collect(&mut value, &mut found);
            }
        };
        let mut fresh = Vec::new();
        let (mut end, mut apart) = (0, false);
        for (entry, read) in self.index.entries.iter().zip(&self.reads) {
            if wanted == Wanted::All || read.load(Ordering::Relaxed) {
                let part = |range| text.get(range).unwrap_or_default();
                let (name, json) = (part(entry.name.range()), part(entry.json.range()));
                if !searched.is_known(name, json) {
                    collect(json);
                    fresh.push((name, json));
                }
            }
            // Most of what is between resources is their time and version.
            apart |= text.get(end..entry.json.range().start).is_none_or(may_hold_apart);
            end = entry.json.range().end;
        }
        if apart || text.get(end..).is_none_or(may_hold_apart) {
            let nothing = |(resource, _)| Edit::Replace { resource, json: Cow::Borrowed("{}") };
            let edits: Vec<Edit<'_>> = self.index.entries.iter().enumerate().map(nothing).collect();
            collect(&self.written(&edits));
        }
        let names = self.index.entries.iter().filter_map(|entry| text.get(entry.name.range()));
        // A text that is a name here may be none in another dump, so these resources are searched there again.
        if !found.forget(names.map(|name| name.trim_matches('"'))) {
            fresh.into_iter().for_each(|(name, json)| searched.add(name, json));
        }
        into.join(found);
    }

    /// The dump without secrets, on one line, and how many secrets it had. Fails when it is not JSON, or too deep.
    pub(crate) fn redacted(
        &self,
        redactor: &Redactor,
        known: &mut Redactions,
    ) -> Result<(String, usize), serde_json::Error> {
        if let Some(parts) = self.in_parts(redactor, known)? {
            return Ok(parts);
        }
        let mut value: Value = serde_json::from_str(&self.written(&[]))?;
        let found = redactor.redact(&mut value);
        Ok((value.to_string(), found))
    }

    /// The same, resource by resource.
    fn in_parts(
        &self,
        redactor: &Redactor,
        known: &mut Redactions,
    ) -> Result<Option<(String, usize)>, serde_json::Error> {
        let text = self.text.whole();
        if text.contains(PLACE) {
            return Ok(None);
        }
        let mut parts = Vec::with_capacity(self.index.entries.len());
        let mut edits = Vec::with_capacity(self.index.entries.len());
        for (number, entry) in self.index.entries.iter().enumerate() {
            let Some(part) = known.of(text.get(entry.json.range()).unwrap_or_default(), redactor)? else {
                return Ok(None);
            };
            parts.push(part);
            edits.push(Edit::Replace { resource: number, json: Cow::Owned(format!("{{\"{PLACE}\":{number}}}")) });
        }
        let mut rest: Value = serde_json::from_str(&self.written(&edits))?;
        let mut found = redactor.redact(&mut rest);
        let rest = rest.to_string();
        let opening = format!("{{\"{PLACE}\":");
        let mut whole = String::with_capacity(text.len());
        let mut pieces = rest.split(&opening);
        whole.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            let (number, after) = piece.split_once('}').unwrap_or((piece, ""));
            // Every mark was written above.
            if let Some((part, secrets)) = number.parse().ok().and_then(|number: usize| parts.get(number)) {
                whole.push_str(part);
                found += secrets;
            }
            whole.push_str(after);
        }
        Ok(Some((whole, found)))
    }

    fn written(&self, edits: &[Edit<'_>]) -> String {
        let mut text = Vec::new();
        // Writing to memory does not fail, and valid texts combine to a valid text.
        let _ = self.rewrite(edits).write_to(&mut text);
        String::from_utf8(text).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_equal_resources_are_collected_once() {
        let dump = |name: &str, token: &str| {
            let text = format!(
                r#"{{"configs": [{{"@type": "type.googleapis.com/envoy.admin.v3.ClustersConfigDump", "dynamic_active_clusters": [{{"cluster": {{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "{name}"}}}}, {{"cluster": {{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "b", "metadata": {{"filter_metadata": {{"x": {{"name": "api-token", "value": "{token}"}}}}}}}}}}]}}]}}"#
            );
            Dump::from_text("dump", text).0.unwrap()
        };
        let mut searched = Searched::default();
        let mut ask = |dump: &Dump| {
            let mut secrets = Secrets::default();
            dump.secrets(Wanted::All, &mut secrets, &mut searched);
            secrets
        };
        assert!(ask(&dump("a", "abcdef-1")).finds("abcdef-1"));
        // Known, so nothing is added.
        assert!(ask(&dump("c", "abcdef-1")).is_empty());
        assert!(ask(&dump("a", "abcdef-2")).finds("abcdef-2"));
        // The name of a resource is no secret, where it is one.
        assert!(ask(&dump("abcdef-3", "abcdef-3")).is_empty());
        assert!(ask(&dump("a", "abcdef-3")).finds("abcdef-3"));
    }

    #[test]
    fn only_resources_that_were_read_are_searched() {
        let secret = |name: &str| format!(r#"{{"name": "api-token", "value": "secret-of-{name}"}}"#);
        let cluster = |name: &str| {
            format!(
                r#"{{"cluster": {{"name": "{name}", "metadata": {{"filter_metadata": {{"x": {}}}}}}}, "error_state": {{"failed_configuration": {{"metadata": {}}}}}}}"#,
                secret(name),
                secret("error")
            )
        };
        let text = format!(
            r#"{{"configs": [{{"@type": "type.googleapis.com/envoy.admin.v3.ClustersConfigDump", "dynamic_active_clusters": [{}, {}]}}]}}"#,
            cluster("a"),
            cluster("b")
        );
        let dump = Dump::from_text("dump", text).0.unwrap();
        let identity = crate::load::dump::Identity { namespace: Some("shop".to_owned()), ..Default::default() };
        let config = dump.config(&identity).unwrap();
        let copy = config.resources[1].clone();
        assert!(config.resources[0].json.search().contains("secret-of-a"));
        assert!(copy.json.read().contains("secret-of-b"));
        let mut secrets = Secrets::default();
        dump.secrets(Wanted::Read, &mut secrets, &mut Searched::default());
        let found = ["secret-of-a", "secret-of-b", "secret-of-error"].map(|secret| secrets.finds(secret));
        assert_eq!(found, [false, true, true]);
        dump.secrets(Wanted::All, &mut secrets, &mut Searched::default());
        assert!(secrets.finds("secret-of-a"));
    }

    #[test]
    fn resource_by_resource_is_the_same_as_at_once() {
        let cluster = |name: &str, token: &str| {
            format!(
                r#"{{"version_info": "v", "cluster": {{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "{name}", "metadata": {{"filter_metadata": {{"x": {{"apiToken": "{token}"}}}}}}}}, "last_updated": "2026-11-20T08:00:00Z"}}"#
            )
        };
        let dump = |clusters: &[String]| {
            let text = format!(
                r#"{{"configs": [{{"@type": "type.googleapis.com/envoy.admin.v3.BootstrapConfigDump", "bootstrap": {{"node": {{"id": "sidecar~10.0.0.1~cart-1.shop~shop.svc.cluster.local", "metadata": {{"ISTIO_VERSION": "1.31.0", "DB_PASSWORD": "hunter-two"}}}}}}}}, {{"@type": "type.googleapis.com/envoy.admin.v3.ClustersConfigDump", "dynamic_active_clusters": [{}]}}, {{"@type": "type.googleapis.com/envoy.admin.v3.SecretsConfigDump", "dynamic_active_secrets": [{{"name": "default"}}]}}]}}"#,
                clusters.join(", ")
            );
            Dump::from_text("dump", text).0.unwrap()
        };
        let redactor = Redactor::new(&["cart-[0-9]".to_owned()]).unwrap();
        let mut known = Redactions::default();
        let dumps = [
            dump(&[cluster("a", "abcdef-1"), cluster("b", "plain text")]),
            dump(&[cluster("b", "plain text"), cluster("a", "abcdef-1"), cluster("b", "plain text")]),
            dump(&[cluster("cart-7", "ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")]),
            dump(&[]),
            // The mark of a resource already exists in the input.
            dump(&[cluster(PLACE, "abcdef-1")]),
        ];
        for dump in &dumps {
            let mut value: Value = serde_json::from_str(&dump.written(&[])).unwrap();
            let found = redactor.redact(&mut value);
            let (text, number) = dump.redacted(&redactor, &mut known).unwrap();
            assert_eq!((text.as_str(), number), (value.to_string().as_str(), found));
            for secret in ["abcdef-1", "hunter-two", "ghp_", "cart-7", "SecretsConfigDump"] {
                assert!(!text.contains(secret), "{secret}: {text}");
            }
        }
        assert_eq!(known.known.len(), 3);
    }
}

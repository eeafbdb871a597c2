//! Finds objects that istiod cannot read. One of them prevents it from reading all others of its kind, and thus from
//! becoming ready. A real API server would have rejected the object; istiod names the kind, but not the object.

use super::fault::{Fault, Unreadable};
use super::kinds::KINDS;
use super::objects::{Objects, Place};

/// Maximum number of objects that are named.
const NAMED: usize = 5;

/// Maximum number of istiods that are started to find them.
const STARTS: usize = 48;

/// Words in reasons that are not caused by an object.
const OTHER: [&str; 7] = ["dial ", "connect", "EOF", "timeout", "context ", "Unauthorized", "could not find"];

/// Kind and reason from the line that istiod logs when it cannot read a list.
pub(super) fn parse(line: &str) -> Option<(String, String)> {
    let (_, rest) = line.split_once("failed to list ")?;
    let (type_name, why) = rest.split_once(": ")?;
    let kind = type_name.rsplit('.').next()?.split(',').next()?.trim();
    (!OTHER.iter().any(|words| why.contains(words))).then(|| (kind.to_owned(), why.to_owned()))
}

/// Finds the objects of a kind that istiod cannot read, by bisecting them; `start` starts an istiod that reads some of them.
pub(super) fn blame(objects: &Objects, kind: &str, why: &str, start: &Start<'_>) -> Fault {
    let mut search = Search { objects, start, kind, starts: 0, found: Vec::new() };
    let places: Vec<Place> = KINDS
        .iter()
        .filter(|one| one.kind == kind)
        .flat_map(|kind| objects.of(kind).map(|object| object.place()))
        .collect();
    search.among(&places, why);
    Fault::Unreadable(kind.to_owned(), why.to_owned(), search.found)
}

/// Starts an istiod with these objects, and returns why it did not start.
type Start<'s> = dyn Fn(Objects) -> Option<Fault> + 's;

struct Search<'r> {
    objects: &'r Objects,
    start: &'r Start<'r>,
    kind: &'r str,
    starts: usize,
    found: Vec<Unreadable>,
}

impl Search<'_> {
    /// At least one of these is unreadable; `why` is istiod's reason for all of them.
    fn among(&mut self, places: &[Place], why: &str) {
        if let [(_, _, namespace, name)] = places {
            let name = if namespace.is_empty() { name.clone() } else { format!("{namespace}/{name}") };
            self.found.push(Unreadable { object: format!("{} {name}", self.kind), why: why.to_owned() });
            return;
        }
        let (first, second) = places.split_at(places.len() / 2);
        let in_second = match self.reads(first) {
            // If one half is fine, the problem is in the other.
            Reads::Yes => Reads::No(why.to_owned()),
            Reads::No(why) => {
                self.among(first, &why);
                self.reads(second)
            }
            Reads::Unknown => self.reads(second),
        };
        if let Reads::No(why) = in_second {
            self.among(second, &why);
        }
    }

    /// Whether istiod can read these.
    fn reads(&mut self, places: &[Place]) -> Reads {
        if self.starts >= STARTS || self.found.len() >= NAMED {
            return Reads::Unknown;
        }
        self.starts += 1;
        match (self.start)(self.objects.alone(places)) {
            None => Reads::Yes,
            Some(Fault::Unreadable(kind, why, _)) if kind == self.kind => Reads::No(why),
            // It was too slow, say: that says nothing about the objects, so none is named because of it.
            Some(_) => Reads::Unknown,
        }
    }
}

/// Whether istiod can read some objects.
enum Reads {
    Yes,
    /// It cannot, for this reason.
    No(String),
    /// It did not become ready, for another reason.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::cell::Cell;
    use std::time::Duration;

    #[test]
    fn lines_tell_kind_and_reason() {
        let of = |line: &str| parse(line).map(|(kind, why)| format!("{kind}|{why}"));
        let line = "2026-11-23T02:38:40Z error watch error in cluster Kubernetes: failed to list *v1.VirtualService: \
                    json: cannot unmarshal number into Go struct field VirtualService.items.spec of type string";
        let expected = "VirtualService|json: cannot unmarshal number into Go struct field VirtualService.items.spec of type string";
        assert_eq!(of(line).as_deref(), Some(expected));
        assert_eq!(
            of("failed to list *v1.Pod: Get \"http://x\": dial tcp 127.0.0.1:1: connect: connection refused"),
            None
        );
        assert_eq!(of("discovery is not ready"), None);
    }

    #[test]
    fn an_object_is_named_only_if_istiod_says_so() {
        let service =
            |name| json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": "n"}});
        let objects = Objects::new(["a", "b", "c", "d"].map(service), "n");
        let kind = KINDS.iter().find(|kind| kind.kind == "Service").unwrap();
        let holds = |objects: &Objects, name: &str| objects.of(kind).any(|object| object.name == name);
        let unreadable = || Fault::Unreadable("Service".to_owned(), "why".to_owned(), Vec::new());
        let named = |slow: usize| {
            let starts = Cell::new(0);
            let start = |objects: Objects| {
                starts.set(starts.get() + 1);
                if starts.get() == slow {
                    return Some(Fault::NotReady(Duration::from_secs(1), Vec::new()));
                }
                (holds(&objects, "a") || holds(&objects, "d")).then(unreadable)
            };
            let Fault::Unreadable(_, _, found) = blame(&objects, "Service", "why", &start) else { panic!() };
            let names: Vec<String> = found.into_iter().map(|one| one.object).collect();
            names.join(", ")
        };
        assert_eq!(named(0), "Service n/a, Service n/d");
        // One start that says nothing: fewer objects are named, never another one.
        assert_eq!(named(1), "Service n/d");
        assert_eq!(named(2), "Service n/d");
        assert_eq!(named(3), "Service n/a, Service n/d");
        assert_eq!(named(4), "Service n/a");
    }
}

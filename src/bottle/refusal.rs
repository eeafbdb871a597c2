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
        let in_first = self.refused(first);
        if let Some(why) = &in_first {
            self.among(first, why);
        }
        // If one half is fine, the problem is in the other.
        let why = if in_first.is_some() { self.refused(second) } else { Some(why.to_owned()) };
        if let Some(why) = why {
            self.among(second, &why);
        }
    }

    /// Why istiod cannot read these, if it cannot.
    fn refused(&mut self, places: &[Place]) -> Option<String> {
        if places.is_empty() || self.starts >= STARTS || self.found.len() >= NAMED {
            return None;
        }
        self.starts += 1;
        match (self.start)(self.objects.alone(places)) {
            Some(Fault::Unreadable(kind, why, _)) if kind == self.kind => Some(why),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}

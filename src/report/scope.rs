//! The basis of an answer, in one line.

use super::style::count;
use crate::mesh::{Origin, Scope};

/// One line for people; `None` for files only, which the user named.
pub(crate) fn line(scope: &Scope) -> Option<String> {
    (!matches!(scope.origin, Origin::Files | Origin::Demo)).then(|| sentence(scope))
}

/// The same for an answer that reads no EnvoyFilters.
pub(crate) fn without_filters(scope: &Scope) -> Option<String> {
    (!matches!(scope.origin, Origin::Files | Origin::Demo)).then(|| parts(scope, None))
}

/// The same for readers of a report who did not see the command: files are included.
pub(crate) fn sentence(scope: &Scope) -> String {
    parts(scope, Some(scope.filters))
}

/// Where a verdict holds: ` in namespace shop`; nothing for files, which the user named.
pub(crate) fn where_it_holds(scope: &Scope) -> String {
    let of_mesh = !matches!(scope.origin, Origin::Files | Origin::Demo);
    if of_mesh { format!(" in {}", namespaces(scope)) } else { String::new() }
}

/// That there is no EnvoyFilter, or none was read: `no EnvoyFilter in namespace shop`.
pub(crate) fn no_filter(scope: &Scope) -> String {
    let read = if scope.is_empty() { " was read" } else { "" };
    let place = match (where_it_holds(scope), &scope.namespaces) {
        (place, None) if !place.is_empty() => " in any namespace".to_owned(),
        (place, _) => place,
    };
    format!("no EnvoyFilter{read}{place}")
}

fn namespaces(scope: &Scope) -> String {
    match scope.namespaces.as_deref() {
        None => "all namespaces".to_owned(),
        Some([one]) => format!("namespace {one}"),
        Some(several) => format!("namespaces {}", several.join(", ")),
    }
}

fn parts(scope: &Scope, filters: Option<usize>) -> String {
    let mut parts = Vec::new();
    let of_mesh = match &scope.origin {
        Origin::Files => {
            parts.push("files".to_owned());
            false
        }
        Origin::Demo => {
            parts.push("the demo mesh".to_owned());
            false
        }
        Origin::Istiod { version, objects, stand_ins, of } => {
            let objects = count(*objects, "object", "objects");
            let of = match of.as_deref() {
                Some(Origin::Cluster { context }) => format!(" of context {context}"),
                Some(Origin::Capture { path }) => format!(" of capture {}", path.display()),
                _ => String::new(),
            };
            parts.push(format!("istiod {version} on this machine with {objects}{of}, {stand_ins} of them stand-ins"));
            true
        }
        Origin::Cluster { context } => {
            parts.push(format!("context {context}"));
            true
        }
        Origin::Capture { path } => {
            parts.push(format!("capture {}", path.display()));
            true
        }
    };
    if of_mesh {
        parts.push(namespaces(scope));
        let planes = scope.control_planes.iter().map(|plane| match &plane.revision {
            Some(revision) => format!("{revision} (Istio {})", plane.release),
            None => format!("unknown, taken as Istio {}", plane.release),
        });
        let word = if scope.control_planes.len() == 1 { "control plane" } else { "control planes" };
        parts.push(format!("{word} {}", planes.collect::<Vec<_>>().join(", ")));
    }
    parts.extend(filters.map(|filters| count(filters, "EnvoyFilter", "EnvoyFilters")));
    let proxies = scope.proxies;
    if proxies.of > 0 {
        let pods = if proxies.pods > proxies.of {
            format!(" for {}", count(proxies.pods, "pod", "pods"))
        } else {
            String::new()
        };
        parts.push(format!("{} of {} read{pods}", proxies.read, count(proxies.of, "config dump", "config dumps")));
    } else if !of_mesh {
        parts.push("no config dump".to_owned());
    }
    if !scope.unread.is_empty() {
        parts.push(format!("{} not read", count(scope.unread.len(), "thing", "things")));
    }
    parts.join("; ")
}

//! Which HTTP filters of a proxy write dynamic metadata, and what of it exists when a filter runs.

use super::context::{PatchRun, ProxyRun};
use super::managers::{self, Changed, Manager};
use super::seen::config_type;
use crate::engine::PatchId;
use crate::proto::json::{Style, write};
use crate::proto::tree::{Origin, Tree};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// Namespaces of metadata, with the end of the type of the filter that writes them; none for Istio's own, which is gone since 1.24.
pub(crate) const WRITERS: [(&str, &str); 3] = [
    ("envoy.filters.http.ext_authz", ".ext_authz.v3.ExtAuthz"),
    ("envoy.filters.http.jwt_authn", ".jwt_authn.v3.JwtAuthentication"),
    ("istio_authn", ""),
];

/// Filters whose configuration names the namespaces that they write.
const NAMING: [&str; 6] =
    [".ext_proc.", ".header_to_metadata.", ".json_to_metadata.", ".lua.", ".payload_to_metadata.", ".set_metadata."];
/// Filters that may write any.
const ANY: [&str; 3] = [".dynamic_modules.", ".golang.", ".wasm."];
/// Filters that write no namespace but their own.
const HARMLESS: [&str; 22] = [
    ".alpn.",
    ".api_key_auth.",
    ".bandwidth_limit.",
    ".basic_auth.",
    ".buffer.",
    ".compressor.",
    ".cors.",
    ".csrf.",
    ".decompressor.",
    ".ext_authz.",
    ".fault.",
    ".grpc_stats.",
    ".grpc_web.",
    ".header_mutation.",
    ".jwt_authn.",
    ".local_ratelimit.",
    ".oauth2.",
    ".peer_metadata.",
    ".ratelimit.",
    ".rbac.",
    ".router.",
    "stats.PluginConfig",
];
/// The keys in a namespace; `None` if it may have any.
type Keys = Option<Rc<BTreeSet<String>>>;

/// Where a namespace is written, seen from a filter.
#[derive(Clone)]
pub(crate) enum Written {
    /// By a filter before it.
    Before(Keys),
    /// Only by a filter after it.
    After,
    /// By none.
    Nowhere,
}

impl Written {
    /// Whether nothing is there when the filter reads it. `fits`: whether these keys are what it reads.
    pub(crate) fn is_empty(&self, fits: &dyn Fn(&BTreeSet<String>) -> bool) -> bool {
        match self {
            Written::Before(keys) => keys.as_ref().is_some_and(|keys| !fits(keys)),
            Written::After | Written::Nowhere => true,
        }
    }
}

/// For each of the namespaces that were asked about.
type Each = Rc<[Written]>;

/// The rate limit filters of a connection manager.
struct Limits {
    listener: String,
    routes: Option<String>,
    filters: Vec<Each>,
}

/// What exists for the filters of patches on a proxy.
#[derive(Default)]
pub(crate) struct Lists {
    filters: HashMap<Origin, Vec<Each>>,
    limits: Vec<Limits>,
}

impl Lists {
    /// Looks at the lists of a proxy once for all namespaces.
    pub(crate) fn of(run: &ProxyRun<'_>, namespaces: &[String]) -> Lists {
        let mut lists = Lists::default();
        for manager in managers::changed(run) {
            lists.add(&manager, namespaces);
        }
        lists
    }

    fn add(&mut self, manager: &Manager<'_>, namespaces: &[String]) {
        let outside = writes_outside(manager);
        let writes: Vec<Vec<Option<Keys>>> = manager.filters.iter().map(|filter| writes(filter, namespaces)).collect();
        let anywhere: Vec<bool> =
            (0..namespaces.len()).map(|index| writes.iter().any(|one| one[index].is_some())).collect();
        let mut before: Vec<Option<Keys>> =
            namespaces.iter().map(|namespace| (outside && !is_known(namespace)).then_some(None)).collect();
        let mut seen = HashSet::new();
        let mut limits = Vec::new();
        for (filter, own) in manager.filters.iter().zip(writes) {
            let limit = managers::is_rate_limit(filter);
            if limit || PatchId::of(filter.origin).is_some() && seen.insert(filter.origin) {
                let state = before.iter().zip(&anywhere).map(|(before, anywhere)| match before {
                    Some(keys) => Written::Before(keys.clone()),
                    None if *anywhere => Written::After,
                    None => Written::Nowhere,
                });
                let state: Each = state.collect();
                self.filters.entry(filter.origin).or_default().push(Rc::clone(&state));
                if limit {
                    limits.push(state);
                }
            }
            for (before, own) in before.iter_mut().zip(own) {
                *before = match (before.take(), own) {
                    (Some(None), _) | (_, Some(None)) => Some(None),
                    (Some(Some(one)), Some(Some(other))) => Some(Some(Rc::new(&*one | &*other))),
                    (one, other) => one.or(other),
                };
            }
        }
        if !limits.is_empty() {
            let (listener, routes) = (manager.listener.to_owned(), manager.routes.clone());
            self.limits.push(Limits { listener, routes, filters: limits });
        }
    }

    /// Where a namespace is written, for each place of a patch's filter.
    pub(crate) fn of_filter(&self, run: &PatchRun<'_, '_>, namespace: usize) -> Vec<Written> {
        let all = self.filters.get(&run.id.origin()).into_iter().flatten();
        all.map(|each| each[namespace].clone()).collect()
    }

    /// The same for the rate limit filters that read the actions of a patch of routes.
    pub(crate) fn of_limits(&self, run: &PatchRun<'_, '_>, namespace: usize) -> Vec<Written> {
        let changed = Changed::by(run);
        let read = self.limits.iter().filter(|one| changed.has_routes_of(&one.listener, one.routes.as_deref()));
        let all = read.flat_map(|one| &one.filters);
        all.map(|each| each[namespace].clone()).collect()
    }
}

/// Whether a namespace belongs to a filter that is known.
pub(crate) fn is_known(namespace: &str) -> bool {
    WRITERS.iter().any(|(known, _)| *known == namespace)
}

/// Whether something before the HTTP filters may write metadata.
fn writes_outside(manager: &Manager<'_>) -> bool {
    let listening = manager.whole.get("listener_filters").map(Tree::items).unwrap_or_default();
    let inspects = |name: &str| name.ends_with("_inspector") || name.ends_with(".original_dst");
    listening.iter().any(|filter| !inspects(filter.name()))
        || manager.before.iter().any(|filter| filter.name() != "istio.metadata_exchange")
}

/// What a filter writes of each namespace.
fn writes(filter: &Tree<'_>, namespaces: &[String]) -> Vec<Option<Keys>> {
    let kind = config_type(filter);
    let is = |kinds: &[&str]| kinds.iter().any(|one| kind.contains(one));
    if kind.is_empty() || is(&ANY) {
        return namespaces.iter().map(|_| Some(None)).collect();
    }
    let text = if is(&NAMING) { write(filter, Style::Compact) } else { String::new() };
    let names = |namespace: &str| text.contains(namespace) && (!kind.contains(".lua.") || text.contains(":set("));
    // A script that is not here, or loads others, may write any.
    let elsewhere = kind.contains(".lua.") && (!text.contains("inline") || text.contains("require"));
    let one = |namespace: &String| -> Option<Keys> {
        let known = WRITERS.iter().find(|(known, _)| known == namespace);
        match known {
            Some((_, "")) if filter.name() == namespace => return Some(None),
            Some((_, writer)) if !writer.is_empty() && kind.ends_with(writer) => return Some(keys(filter, &kind)),
            _ => {}
        }
        let own = namespace.strip_prefix("envoy.filters.http.").is_some_and(|own| kind.contains(&format!(".{own}.")));
        let unknown = known.is_none() && !is(&HARMLESS) && !is(&NAMING);
        (own && !kind.contains(".lua.") || unknown || elsewhere || names(namespace)).then_some(None)
    };
    namespaces.iter().map(one).collect()
}

/// The keys that a JWT filter writes for its providers.
fn keys(filter: &Tree<'_>, kind: &str) -> Keys {
    if !kind.contains(".jwt_authn.") {
        return None;
    }
    let config = filter.get("typed_config")?.readable();
    let inner = config.get("value").map(Tree::readable);
    let providers = inner.as_deref().unwrap_or(&config).get("providers")?.readable();
    let mut keys = BTreeSet::new();
    for (_, provider) in providers.entries() {
        let provider = provider.readable();
        for field in provider.entries() {
            let name = field.0.replace('_', "").to_lowercase();
            if ["payloadinmetadata", "headerinmetadata", "failedstatusinmetadata"].contains(&name.as_str()) {
                keys.extend(field.1.as_str().map(str::to_owned));
            }
        }
    }
    Some(Rc::new(keys))
}

//! What an explanation says, as plain data: the one source of the text for people and of the JSON for programs.
//!
//! These structs are the contract of `-o json` (schemas/explanation.json). They hold words and numbers, none of the model's
//! types, so that the model may change. Absent things are left out of the JSON.

use crate::engine::Outcome;
use crate::study::InEffect;
use serde::Serialize;

/// Version of the JSON that this program writes.
pub(crate) const API_VERSION: &str = "envoyfilter.dev/v1";

/// An answer of `explain`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// [`API_VERSION`].
    pub api_version: &'static str,
    /// `Explanation`.
    pub kind: &'static str,
    /// Release of the control plane that is modelled.
    pub istio_version: String,
    /// The proxies asked for.
    pub proxies: Vec<Proxy>,
    /// What could not be read, or only in part.
    pub problems: Vec<Trouble>,
}

/// What EnvoyFilters do to one proxy.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Proxy {
    /// Its namespace.
    pub namespace: String,
    /// Name of its pod; empty when the dump does not tell.
    pub name: String,
    /// Name of its workload; empty when unknown.
    pub workload: String,
    /// `sidecar`, `gateway` or `waypoint`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Istio version of the proxy itself; empty when unknown.
    pub istio_version: String,
    /// Release of its control plane that is modelled.
    pub control_plane: String,
    /// The dump it was read from.
    pub dump: String,
    /// How the configuration before the filters was found; absent when none attaches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reconstruction: Option<Reconstruction>,
    /// Every EnvoyFilter: those that attach in the order of application, then the others by namespace and name.
    pub filters: Vec<Filter>,
    /// HTTP filters of the listeners after patching, listeners with equal chains together.
    pub http_chains: Vec<HttpChain>,
    /// Panics of istiod, with what they prevented.
    pub aborts: Vec<Abort>,
    /// Route configurations that listeners ask for after patching and that the dump does not hold.
    pub unknown_routes: Vec<String>,
    /// Services whose clusters a filter's annotation adds and that the dump does not hold.
    pub unknown_services: Vec<String>,
    /// Updates that Envoy refused.
    pub refused: Vec<Refused>,
    /// Whether this is the proxy as it runs in the mesh that the EnvoyFilters are in; then `live` of its patches tells
    /// what is so there, and everything else what the engine computes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub running: bool,
}

/// How the configuration before the filters was found.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reconstruction {
    /// Whether the dump was taken with the filters in effect: `patched`, `partly`; `generated`: nothing of what they do is
    /// in it; `untouched`: they change nothing.
    pub state: &'static str,
    /// Of a patched dump: whether the filters, replayed over what is left without them, give the dump again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proven: Option<bool>,
    /// Where the replay is not what the dump holds.
    pub differences: Vec<Difference>,
    /// Patches that may have changed what they match so that nobody can tell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<PatchRef>,
}

/// A place where the replay is not what the dump holds.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// Kind of the resource.
    pub kind: &'static str,
    /// Name of the resource.
    pub resource: String,
    /// Path inside it; empty when the whole resource is on one side only.
    pub path: String,
}

/// One EnvoyFilter on one proxy.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Filter {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub source: Location,
    /// Whether it attaches to the proxy.
    pub selected: bool,
    /// The first reason why it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Its place in the order of application, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
    /// `spec.priority`.
    pub priority: i32,
    /// Whether it is in the root namespace.
    pub root_namespace: bool,
    /// `metadata.creationTimestamp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// What put it behind the filter before it in the order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordered_by: Option<&'static str>,
    /// Its patches.
    pub patches: Vec<Patch>,
}

/// One patch on one proxy.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Patch {
    /// Its index in `spec.configPatches`, from 0.
    pub index: usize,
    /// `applyTo`.
    pub apply_to: &'static str,
    /// The operation as written.
    pub operation: &'static str,
    /// `match.context`.
    pub context: &'static str,
    /// Name in the value, empty when it has none.
    pub value_name: String,
    /// Where it stands.
    pub source: Location,
    /// `applied`, `no-match`, `no-op`, `discarded`, `aborted` or `not-selected`.
    pub outcome: Outcome,
    /// Whether the dump holds what it writes already: `yes`, `no`, `partly`; absent when that cannot be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_effect: Option<InEffect>,
    /// On a running proxy: what is so; absent where the patch is to do nothing there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<Live>,
    /// What the running proxy holds instead of what the patch writes, the first few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instead: Vec<String>,
    /// Whether its outcome is a guess: what it could match may have been removed by a filter, and is in no dump.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub uncertain: bool,
    /// Why it has this outcome, unless it was applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// What it met, equal effects together, in the order of application.
    pub effects: Vec<Effect>,
    /// What was noticed when its value was read.
    pub notices: Vec<Notice>,
    /// What later patches did to what it wrote.
    pub later: Vec<Later>,
    /// Places it would have changed if no panic had come before.
    pub lost: Vec<String>,
}

/// What is so on a running proxy of a patch that is to do something there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Live {
    /// The proxy holds what it writes.
    InEffect,
    /// The proxy holds it at some places.
    PartlyInEffect,
    /// The proxy does not hold it.
    NotInEffect,
    /// The proxy does not hold it, and refused an update of what it changes.
    Refused,
    /// Nobody can see it in the proxy's configuration.
    Unknown,
}

/// The same effect on one or more objects.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Effect {
    /// `merged`, `transport-socket-merged`, `inserted`, `replaced`, `removed`, `added`, `no-op` or `panicked`.
    pub effect: &'static str,
    /// The objects.
    pub places: Vec<Place>,
    /// What changed in each of them.
    pub changes: Vec<Change>,
    /// More to say, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// An object of the proxy's configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// `listener`, `cluster`, `route` or `extension config`.
    pub kind: &'static str,
    /// Name of the resource.
    pub resource: String,
    /// Index of the filter chain, or `default`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain: Option<String>,
    /// Name of the filter chain, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain_name: Option<String>,
    /// Name of the listener filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listener_filter: Option<String>,
    /// Name of the network filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Name of the HTTP filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_filter: Option<String>,
    /// Name of the route configuration inside a listener.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inline_route: Option<String>,
    /// Name of the virtual host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtual_host: Option<String>,
    /// Index and name of the route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
}

/// A field that changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Its path inside the object.
    pub path: String,
    /// `set`, `appended`, `list-replaced`, `entry-replaced`, `cleared`, `same` or `cannot-reset`.
    pub kind: &'static str,
    /// JSON text of the value before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// JSON text of the value after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// Why something is so, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reason {
    /// What kind of reason, for programs: kebab-case, stable.
    pub code: &'static str,
    /// One sentence without a final stop.
    pub message: String,
    /// What to write instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The words in the filter that are meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Location>,
    /// What exists instead, nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
}

/// Something noticed in a patch's value.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// Whether the patch is lost because of it.
    pub fatal: bool,
    /// One sentence without a final stop.
    pub message: String,
    /// Where.
    pub source: Location,
}

/// What a later patch did.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Later {
    /// The later patch.
    pub by: PatchRef,
    /// Where.
    pub place: Place,
    /// Field inside the place; empty for the place itself.
    pub path: String,
    /// `overwritten` or `removed`.
    pub what: &'static str,
}

/// A patch by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PatchRef {
    /// `namespace/name` of its filter.
    pub filter: String,
    /// Its index in `spec.configPatches`, from 0.
    pub index: usize,
}

/// HTTP filters in one order, and the chains that have them.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpChain {
    /// Where: listener and filter chain.
    pub places: Vec<Place>,
    /// The HTTP filters.
    pub filters: Vec<HttpFilter>,
}

/// An HTTP filter of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpFilter {
    /// Its name.
    pub name: String,
    /// The patch that put it there; absent for istiod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<PatchRef>,
    /// Patches that changed something inside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed_by: Vec<PatchRef>,
}

/// A call of istiod's patch code that a panic ended.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Abort {
    /// The patch that panicked.
    pub cause: PatchRef,
    /// Why.
    pub message: String,
    /// Where.
    pub place: Place,
    /// Resources that no patch of this call reached any more.
    pub unprocessed: Vec<String>,
}

/// An update that Envoy refused (`error_state` of the dump).
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Refused {
    /// `listener`, `cluster`, `route` or `extension config`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// Envoy's message.
    pub details: String,
}

/// An answer of `explain field`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldExplanation {
    /// [`API_VERSION`].
    pub api_version: &'static str,
    /// `FieldExplanation`.
    pub kind: &'static str,
    /// Release of the control plane that is modelled.
    pub istio_version: String,
    /// The field on each proxy that has the resource.
    pub fields: Vec<Field>,
    /// What could not be read, or only in part.
    pub problems: Vec<Trouble>,
}

/// Who wrote a field of a proxy's configuration.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Field {
    /// Namespace of the proxy.
    pub namespace: String,
    /// Name of its pod.
    pub name: String,
    /// Release of its control plane that is modelled.
    pub control_plane: String,
    /// `listener`, `cluster`, `route` or `extension config`.
    pub kind: &'static str,
    /// Name of the resource.
    pub resource: String,
    /// Path of the field inside the resource, list items by name where they have one.
    pub path: String,
    /// What a running proxy holds; absent where the dump is not of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<Held>,
    /// JSON text of the value that the engine computes; absent when the field is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The patch that wrote it; absent for istiod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writer: Option<PatchRef>,
    /// JSON text of the value that istiod had generated; absent when it had set none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generated: Option<String>,
    /// The objects that make istiod generate it, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<MadeBy>,
    /// Where it is, to be found in other configurations of the proxy.
    #[serde(skip)]
    pub spot: Option<super::field::Spot>,
    /// Every patch that changed the field, in the order of application.
    pub history: Vec<Step>,
    /// What patches wrote inside the field, where istiod or another patch wrote the field itself.
    pub inside: Vec<Written>,
    /// The names that exist where the path leads nowhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
}

/// The objects of a mesh that make istiod generate a field as it is.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MadeBy {
    /// They suffice together, and without any one of them the field is another; none: istiod generates it for any mesh.
    pub objects: Vec<Maker>,
    /// How many times istiod ran.
    pub runs: usize,
    /// Whether the search came to its end; some of the objects may not matter otherwise.
    pub complete: bool,
}

/// One of the objects that make a field.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Maker {
    /// Its kind.
    pub kind: String,
    /// Its namespace; absent where it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// JSON text of the value in the mesh without this object alone; absent when the field is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without: Option<String>,
    /// Whether another object makes the same then.
    pub replaced: bool,
}

/// What a running proxy holds of a field.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Held {
    /// JSON text of the value; absent when the field is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Whether it is what the engine computes: then what the EnvoyFilters write is in effect.
    pub as_computed: bool,
    /// Envoy's words, where it refused the last update of the resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// One change of a field.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// The patch.
    pub by: PatchRef,
    /// What it did: `merged`, `inserted`, `replaced`, `removed` or `added`.
    pub effect: &'static str,
    /// JSON text of the value before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// JSON text of the value after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// A part that a patch wrote.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Written {
    /// Its path inside the field.
    pub path: String,
    /// The patch.
    pub by: PatchRef,
    /// JSON text of the value.
    pub value: String,
}

/// A place in a text of the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Location {
    /// The file as the user named it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The field that is meant, of a document whose lines no person has written; absent for files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The bytes, for excerpts.
    #[serde(skip)]
    pub span: Option<crate::source::Span>,
}

/// Something that could not be read, or only in part.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Trouble {
    /// What kind, for programs: kebab-case, stable.
    pub code: &'static str,
    /// `info`, `warning` or `error`.
    pub severity: &'static str,
    /// One sentence without a final stop.
    pub message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Location>,
}

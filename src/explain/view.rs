//! The content of an explanation as plain data: the only source of the text for people and of the JSON for programs.
//!
//! These structs are the contract of `-o json` (schemas/explanation.json). They contain words and numbers, none of the model's
//! types, so that the model may change. Missing values are omitted from the JSON.

use crate::engine::Outcome;
use crate::study::InEffect;
use crate::words::serialize_as_str;
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
    /// The modeled release of the control plane.
    pub istio_version: String,
    /// The requested proxies.
    pub proxies: Vec<Proxy>,
    /// What could not be read completely.
    pub problems: Vec<Trouble>,
}

/// What EnvoyFilters do to one proxy.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Proxy {
    /// Its namespace.
    pub namespace: String,
    /// Name of its pod; empty when the dump does not contain it.
    pub name: String,
    /// Name of its workload; empty when unknown.
    pub workload: String,
    /// `sidecar`, `gateway` or `waypoint`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Istio version of the proxy itself; empty when unknown.
    pub istio_version: String,
    /// The modeled release of its control plane.
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
    /// Route configurations that listeners request after patching but the dump does not contain.
    pub unknown_routes: Vec<String>,
    /// Services whose clusters a filter's annotation adds but the dump does not contain.
    pub unknown_services: Vec<String>,
    /// Updates that Envoy rejected.
    pub refused: Vec<Refused>,
    /// Whether this proxy runs in the EnvoyFilters' mesh; then `live` of its patches gives the actual state, and everything
    /// else what the engine computes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub running: bool,
}

/// How the configuration before the filters was found.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reconstruction {
    /// Whether the dump was taken with the filters in effect: `patched`, `partly`; `generated`: without any of their effects;
    /// `untouched`: they change nothing.
    pub state: &'static str,
    /// For a patched dump: whether replaying the filters over the reconstruction gives the dump again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proven: Option<bool>,
    /// Where the replay differs from the dump.
    pub differences: Vec<Difference>,
    /// Patches that may have changed their target beyond recognition.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<PatchRef>,
}

/// A place where the replay differs from the dump.
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
    /// Its place.
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
    /// Its place.
    pub source: Location,
    /// `applied`, `no-match`, `no-op`, `discarded`, `aborted` or `not-selected`.
    pub outcome: Outcome,
    /// Whether the dump already contains what it writes: `yes`, `no`, `partly`; absent if that cannot be determined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_effect: Option<InEffect>,
    /// On a running proxy: its actual state; absent if the patch should do nothing there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<Live>,
    /// What the running proxy contains in place of what the patch writes, the first few differences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instead: Vec<String>,
    /// Whether its outcome is a guess: a filter may have removed what it could match, and no dump shows that.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub uncertain: bool,
    /// Why it has this outcome, unless it was applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Its effects, with equal ones grouped, in the order of application.
    pub effects: Vec<Effect>,
    /// What was noticed when its value was read.
    pub notices: Vec<Notice>,
    /// What later patches did to what it wrote.
    pub later: Vec<Later>,
    /// Places it would have changed without an earlier panic.
    pub lost: Vec<String>,
}

/// The state on a running proxy of a patch that should do something there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Live {
    /// The proxy contains what it writes.
    InEffect,
    /// The proxy contains it in some places.
    PartlyInEffect,
    /// The proxy does not contain it.
    NotInEffect,
    /// The proxy does not contain it, and rejected an update of a resource that it changes.
    Refused,
    /// The proxy's configuration does not show it.
    Unknown,
}

/// What a patch did to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EffectKind {
    /// The value was merged.
    Merged,
    /// Only the transport socket of the value was merged.
    TransportSocketMerged,
    /// The value was put into a list.
    Inserted,
    /// The value took the place of the object.
    Replaced,
    /// The object was removed.
    Removed,
    /// The value was added as a resource.
    Added,
    /// Nothing.
    NoOp,
    /// istiod's code ended here.
    Panicked,
}

impl EffectKind {
    /// The name in JSON.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            EffectKind::Merged => "merged",
            EffectKind::TransportSocketMerged => "transport-socket-merged",
            EffectKind::Inserted => "inserted",
            EffectKind::Replaced => "replaced",
            EffectKind::Removed => "removed",
            EffectKind::Added => "added",
            EffectKind::NoOp => "no-op",
            EffectKind::Panicked => "panicked",
        }
    }
}

serialize_as_str!(EffectKind);

/// The same effect on one or more objects.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Effect {
    /// What it is.
    pub effect: EffectKind,
    /// The objects.
    pub places: Vec<Place>,
    /// What changed in each of them.
    pub changes: Vec<Change>,
    /// Further explanation.
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
    /// Name of the filter chain, if it has one.
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

/// A reason, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reason {
    /// The kind of reason, for programs: kebab-case, stable.
    pub code: &'static str,
    /// One sentence without a period.
    pub message: String,
    /// What to write instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The text in the filter that is meant.
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
    /// One sentence without a period.
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

/// A sequence of HTTP filters, and the chains that have it.
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
    /// Resources that no patch of this call reached.
    pub unprocessed: Vec<String>,
}

/// An update that Envoy rejected (`error_state` of the dump).
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
    /// The modeled release of the control plane.
    pub istio_version: String,
    /// The field on each proxy that has the resource.
    pub fields: Vec<Field>,
    /// What could not be read completely.
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
    /// The modeled release of its control plane.
    pub control_plane: String,
    /// `listener`, `cluster`, `route` or `extension config`.
    pub kind: &'static str,
    /// Name of the resource.
    pub resource: String,
    /// Path of the field inside the resource, with names of list items if they have one.
    pub path: String,
    /// The value in a running proxy; absent if the dump is not of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<Held>,
    /// JSON text of the value that the engine computes; absent when the field is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The patch that wrote it; absent for istiod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writer: Option<PatchRef>,
    /// JSON text of the value that istiod generated; absent when it set none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generated: Option<String>,
    /// The objects that make istiod generate it, if that was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<MadeBy>,
    /// Its place, to find it in other configurations of the proxy.
    #[serde(skip)]
    pub spot: Option<super::path::Spot>,
    /// Every patch that changed the field, in the order of application.
    pub history: Vec<Step>,
    /// What patches wrote inside the field, where istiod or another patch wrote the field itself.
    pub inside: Vec<Written>,
    /// The names that exist where the path does not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
}

/// The objects of a mesh that make istiod generate a field.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MadeBy {
    /// Together they are sufficient, and without any one of them the field differs; none: istiod generates it for any mesh.
    pub objects: Vec<Maker>,
    /// How many times istiod ran.
    pub runs: usize,
    /// Whether the search finished; if not, some of the objects may not matter.
    pub complete: bool,
}

/// One of the objects that make a field.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Maker {
    /// Its kind.
    pub kind: String,
    /// Its namespace; absent if it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// JSON text of the value in the mesh without this object alone; absent when the field is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without: Option<String>,
    /// Whether another object then has the same effect.
    pub replaced: bool,
}

/// The value of a field in a running proxy.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Held {
    /// JSON text of the value; absent when the field is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Whether it equals what the engine computes: then what the EnvoyFilters write is in effect.
    pub as_computed: bool,
    /// Envoy's message, if it rejected the last update of the resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// One change of a field.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// The patch.
    pub by: PatchRef,
    /// What it did.
    pub effect: EffectKind,
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
    /// The field that is meant, for a document without user-visible lines; absent for files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The bytes, for excerpts.
    #[serde(skip)]
    pub span: Option<crate::source::Span>,
}

/// Something that could not be read completely.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Trouble {
    /// What kind, for programs: kebab-case, stable.
    pub code: &'static str,
    /// `info`, `warning` or `error`.
    pub severity: &'static str,
    /// One sentence without a period.
    pub message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Location>,
}

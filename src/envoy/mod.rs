//! What Envoy's protos do not contain: successors of old types and names, deprecations, extensions and the builds that have
//! them.
//!
//! The tables are small text files beside this one, each with its source in the first line. Their indexes are built on first
//! use.

pub mod api;
#[cfg(test)]
mod tests;

use crate::proto::schema::{Field, Kind, Message, Schema};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};

/// Tab-separated rows sorted by their first column; the first line names their source.
struct Table {
    text: &'static str,
    /// The first row of each key.
    index: OnceLock<HashMap<&'static str, Row>>,
}

static V2_TYPES: Table = Table::new(include_str!("data/v2_types.tsv"));
static MOVED_TYPES: Table = Table::new(include_str!("data/moved_types.tsv"));
static REMOVED_FIELDS: Table = Table::new(include_str!("data/removed_fields.tsv"));
static LEGACY_NAMES: Table = Table::new(include_str!("data/legacy_names.tsv"));
static DEPRECATIONS: Table = Table::new(include_str!("data/deprecations.tsv"));
static RUNTIME_GUARDS: Table = Table::new(include_str!("data/runtime_guards.tsv"));
static EXTENSIONS: Table = Table::new(include_str!("data/extensions.tsv"));

impl Table {
    const fn new(text: &'static str) -> Table {
        Table { text, index: OnceLock::new() }
    }

    /// Every row, as its cells.
    fn rows(&self) -> impl Iterator<Item = Row> + use<> {
        self.text.lines().skip(1).map(Row)
    }

    /// The first row with this key.
    fn row(&self, key: &str) -> Option<Row> {
        self.index.get_or_init(|| self.indexed()).get(key).copied()
    }

    fn indexed(&self) -> HashMap<&'static str, Row> {
        let mut index = HashMap::new();
        for row in self.rows() {
            index.entry(row.cell(0)).or_insert(row);
        }
        index
    }
}

/// Rebuilds every index, which otherwise happens on first use, and returns the number of keys. Measures the cost of loading.
pub fn index_all() -> usize {
    let tables = [&V2_TYPES, &MOVED_TYPES, &REMOVED_FIELDS, &LEGACY_NAMES, &DEPRECATIONS, &RUNTIME_GUARDS, &EXTENSIONS];
    tables.iter().map(|table| table.indexed().len()).sum::<usize>() + by_message().len()
}

/// One line of a table.
#[derive(Clone, Copy, PartialEq)]
struct Row(&'static str);

impl Row {
    fn cell(self, index: usize) -> &'static str {
        self.0.split('\t').nth(index).unwrap_or_default()
    }
}

/// Messages of the v2 API that only Istio's fork of Envoy had, and their successors.
const FORKED: &[(&str, &str)] =
    &[("envoy.config.filter.http.wasm.v2.Wasm", "envoy.extensions.filters.http.wasm.v3.Wasm")];

/// The v3 successor of a message of the v2 API.
pub(crate) fn v3_of(v2_type: &str) -> Option<&'static str> {
    if let Some((_, successor)) = FORKED.iter().find(|(old, _)| *old == v2_type) {
        return Some(successor);
    }
    V2_TYPES.row(v2_type).map(|row| row.cell(1)).filter(|name| !name.is_empty())
}

/// A message that left the v3 API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    /// Its successor; empty when there is none.
    pub successor: &'static str,
    /// The first Envoy minor without it.
    pub gone: u16,
}

/// What happened to a message that left the v3 API.
pub(crate) fn moved(message: &str) -> Option<Moved> {
    let row = MOVED_TYPES.row(message)?;
    Some(Moved { successor: row.cell(1), gone: row.cell(2).parse().ok()? })
}

/// Whether a field of that name was removed from a message and its name reserved.
pub(crate) fn field_removed(message: &str, field: &str) -> bool {
    REMOVED_FIELDS.rows().any(|row| row.cell(0) == message && row.cell(1) == field)
}

/// The canonical name for an old name of an extension.
pub(crate) fn canonical_name(legacy: &str) -> Option<&'static str> {
    LEGACY_NAMES.row(legacy).map(|row| row.cell(1))
}

/// The canonical name for an old name of a filter of a kind (`http`, `network`, `listener`): `envoy.ext_authz` was the name of
/// two.
pub(crate) fn canonical_filter_name(kind: &str, legacy: &str) -> Option<&'static str> {
    LEGACY_NAMES.row(legacy)?;
    let of_kind =
        |name: &&str| name.strip_prefix("envoy.filters.").is_some_and(|it| it.split('.').next() == Some(kind));
    LEGACY_NAMES.rows().filter(|row| row.cell(0) == legacy).map(|row| row.cell(1)).find(of_kind)
}

/// The old names of filters of a kind (`http`, `network`, `listener`), sorted.
pub(crate) fn legacy_filter_names(kind: &str) -> Vec<&'static str> {
    let mut names: Vec<&str> = LEGACY_NAMES.rows().map(|row| row.cell(0)).collect();
    names.retain(|name| canonical_filter_name(kind, name).is_some());
    names.sort_unstable();
    names.dedup();
    names
}

/// When a field or enum value was deprecated, disallowed or removed, and its replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deprecation {
    /// `1.23`, `1.19 or earlier`; empty when it never was.
    since: &'static str,
    /// Envoy minor that disallows it by default; empty when none does.
    disallowed: &'static str,
    /// Envoy minor that removed it; empty when it still exists.
    removed: &'static str,
    /// What to write instead; none when there is no direct successor.
    pub instead: Option<Instead>,
}

/// What to write instead of something deprecated, with code in backticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instead {
    /// This.
    Use(&'static str),
    /// Nothing, because Envoy does without it: why.
    Nothing(&'static str),
}

impl std::fmt::Display for Instead {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Instead::Use(replacement) => write!(out, "use {replacement} instead"),
            Instead::Nothing(why) => write!(out, "delete it: {why}"),
        }
    }
}

impl Deprecation {
    /// Words for the release: `since Envoy 1.23`.
    pub(crate) fn since(&self) -> String {
        words("since", self.since)
    }

    /// Words for the release that disallowed it; empty when none did.
    pub(crate) fn disallowed(&self) -> String {
        words("since", self.disallowed)
    }
}

fn words(before: &str, minor: &str) -> String {
    match minor.strip_prefix('<') {
        _ if minor.is_empty() => String::new(),
        Some(earlier) => format!("{before} Envoy 1.{earlier} or earlier"),
        None => format!("{before} Envoy 1.{minor}"),
    }
}

/// What is known about a deprecated or removed field or enum value, by its full name.
pub(crate) fn deprecation(path: &str) -> Option<Deprecation> {
    let row = DEPRECATIONS.row(path)?;
    let cell = |index| Some(row.cell(index)).filter(|text| !text.is_empty());
    let instead = cell(4).map(Instead::Use).or_else(|| cell(5).map(Instead::Nothing));
    Some(Deprecation { since: row.cell(1), disallowed: row.cell(2), removed: row.cell(3), instead })
}

/// The field of a message that replaces a deprecated one but that Envoy still marks as work in progress.
pub(crate) fn unfinished_successor(message: Message, instead: &Instead) -> Option<&'static str> {
    let Instead::Use(replacement) = instead else { return None };
    let name = replacement.split('`').nth(1)?.split('.').next()?;
    message.field(name).is_some_and(Field::work_in_progress).then_some(name)
}

/// A runtime guard: a key of Envoy's runtime that switches a change of behavior on or off while it is new.
#[derive(Clone, Copy, PartialEq)]
pub struct RuntimeGuard(Row);

impl RuntimeGuard {
    /// Its full name, `envoy.reloadable_features.…`.
    pub fn name(self) -> &'static str {
        self.0.cell(0)
    }

    /// First and last minor of Envoy with it, among the known ones.
    pub(crate) fn minors(self) -> Option<(u16, u16)> {
        self.0.cell(1).parse().ok().zip(self.0.cell(2).parse().ok())
    }

    /// Its default values, each with the first release that has it: `1.29`, `on`. None when no source states it.
    pub(crate) fn defaults(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.0.cell(3).split([',', ';']).filter_map(|one| one.trim().split_once(':'))
    }
}

/// Ranges of Envoy minors, first and last, whose runtime guards are known: no registry has those in between.
pub(crate) const GUARDS_KNOWN: [(u16, u16); 2] = [(26, 33), (36, 40)];

/// Whether the runtime guards of an Envoy minor are known.
pub(crate) fn guards_known(minor: u16) -> bool {
    GUARDS_KNOWN.iter().any(|(first, last)| (*first..=*last).contains(&minor))
}

/// Whether an Envoy minor has a runtime guard, by its full name; `None` if unknown.
pub fn has_guard(name: &str, minor: u16) -> Option<bool> {
    let (first, last) = GUARDS_KNOWN[0];
    let (next, newest) = GUARDS_KNOWN[1];
    if minor < first || minor > newest {
        return None;
    }
    // A removed name does not come back: a name on both sides of a gap also exists in between.
    match RUNTIME_GUARDS.row(name).map(RuntimeGuard).and_then(RuntimeGuard::minors) {
        Some((from, to)) if (from..=to).contains(&minor) => Some(true),
        Some((from, to)) if !guards_known(minor) && from != next && to != last => Some(false),
        _ => guards_known(minor).then_some(false),
    }
}

/// Every runtime guard.
pub fn runtime_guards() -> impl Iterator<Item = RuntimeGuard> {
    RUNTIME_GUARDS.rows().map(RuntimeGuard)
}

/// The runtime guard of that name, with or without the prefix `envoy.reloadable_features.`.
pub(crate) fn runtime_guard(name: &str) -> Option<RuntimeGuard> {
    let row = RUNTIME_GUARDS.row(name).or_else(|| {
        let long = ["reloadable", "restart"].map(|kind| format!("envoy.{kind}_features.{name}"));
        long.iter().find_map(|name| RUNTIME_GUARDS.row(name))
    });
    row.map(RuntimeGuard)
}

/// An extension of Envoy.
#[derive(Clone, Copy, PartialEq)]
pub struct Extension(Row);

impl Extension {
    /// Its canonical name.
    pub(crate) fn name(self) -> &'static str {
        self.0.cell(0)
    }

    /// Whether it is built only into Envoy's contrib images.
    pub(crate) fn contrib(self) -> bool {
        self.0.cell(1) == "contrib"
    }

    /// `stable`, `alpha` or `wip`.
    pub(crate) fn status(self) -> &'static str {
        self.0.cell(2)
    }

    /// Whether the proxy of Istio 1.`minor` is built with it, as its build files say.
    pub(crate) fn in_istio_proxy(self, minor: u16) -> bool {
        let Some((first, last)) = self.0.cell(3).split_once('-') else { return false };
        first.parse().is_ok_and(|first: u16| first <= minor)
            && (last.is_empty() || last.parse().is_ok_and(|last: u16| minor <= last))
    }

    /// The categories it is registered in, such as `envoy.filters.http`.
    pub(crate) fn categories(self) -> impl Iterator<Item = &'static str> {
        self.0.cell(4).split(',').filter(|category| !category.is_empty())
    }

    /// The messages it is configured with.
    pub(crate) fn messages(self) -> impl Iterator<Item = &'static str> {
        self.0.cell(5).split(',').filter(|message| !message.is_empty())
    }
}

/// The extension with a canonical name.
pub(crate) fn extension(name: &str) -> Option<Extension> {
    EXTENSIONS.row(name).map(Extension)
}

/// Every extension that is configured with a message.
pub(crate) fn extensions_of(message: &str) -> impl Iterator<Item = Extension> + use<> {
    static BY_MESSAGE: LazyLock<HashMap<&str, Vec<Extension>>> = LazyLock::new(by_message);
    BY_MESSAGE.get(message).into_iter().flatten().copied()
}

fn by_message() -> HashMap<&'static str, Vec<Extension>> {
    let mut found: HashMap<&str, Vec<Extension>> = HashMap::new();
    for extension in EXTENSIONS.rows().map(Extension) {
        for message in extension.messages() {
            let known = found.entry(message).or_default();
            if known.last() != Some(&extension) {
                known.push(extension);
            }
        }
    }
    found
}

/// The packages of Envoy's API and of the extensions of Istio's proxy.
const EXTENSION_PACKAGES: [&str; 4] = ["envoy.", "io.istio.", "istio.envoy.", "stats."];

/// Whether a message of these packages is a part of others: declared inside one, or the type of a field. A few of them configure an
/// extension too, which the table of extensions says.
pub(crate) fn is_part(message: &str) -> bool {
    /// By the newest schema that has them, for messages that were asked for: looking for one means to read a whole schema.
    static KNOWN: LazyLock<Mutex<HashMap<&'static str, bool>>> = LazyLock::new(Mutex::default);
    let of_extensions = EXTENSION_PACKAGES.iter().any(|package| message.starts_with(package));
    let newest = || Schema::all().filter_map(|schema| Some((schema, schema.message(message)?))).last();
    let Some((schema, found)) = of_extensions.then(newest).flatten() else { return false };
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known.entry(found.full_name()).or_insert_with(|| {
        let outer = message.rsplit_once('.').map_or("", |(outer, _)| outer);
        let has = |one: Message| one.full_name() != message && one.fields().any(|field| is_of(field, message));
        schema.message(outer).is_some() || schema.messages().any(has)
    })
}

/// The messages of the extensions of a category that have a field of this type, with the field.
pub(crate) fn holders(part: &str, category: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let of_category = move |one: &Extension| one.categories().any(|its| its == category);
    EXTENSIONS.rows().map(Extension).filter(of_category).flat_map(Extension::messages).flat_map(move |message| {
        let fields = Schema::newest().message(message).into_iter().flat_map(Message::fields);
        fields.filter(move |field| is_of(*field, part)).map(move |field| (message, field.name()))
    })
}

fn is_of(field: Field, message: &str) -> bool {
    match field.map_entry().map_or(field.kind(), |(_, value)| value) {
        Kind::Message(kind) => kind.full_name() == message,
        _ => false,
    }
}

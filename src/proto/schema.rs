//! The message types that each Envoy release and each istiod release knows.
//!
//! Two schemas decide the fate of an EnvoyFilter: the one linked into istiod (it checks and merges) and the one of the proxy's
//! Envoy (it accepts or rejects the result). Both are exact, for Envoy 1.26 to 1.40 and istiod 1.18 to 1.31. The tables are
//! compiled at build time and read in place; a handle is a few numbers, and startup costs nothing.

mod store;
mod table;
#[cfg(test)]
mod tests;

use std::fmt;

/// The types of one release of Envoy or istiod.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Schema {
    set: u8,
}

impl Schema {
    /// The schema that istiod 1.`minor`.`patch` links: the newest known one of that minor line that is not newer than the
    /// patch. A release outside the known lines gets the nearest one.
    pub fn istiod(minor: u16, patch: u16) -> Schema {
        let wanted = (u32::from(minor), u32::from(patch));
        let istiod = || Schema::all().filter(|schema| schema.is_istiod());
        istiod()
            .filter(|schema| schema.release() <= wanted)
            .max_by_key(|schema| schema.release())
            .unwrap_or_else(|| istiod().min_by_key(|schema| schema.release()).unwrap_or(Schema { set: 0 }))
    }

    /// The API of Envoy 1.`minor`, 1.26 to 1.40.
    pub fn envoy(minor: u16) -> Option<Schema> {
        Schema::all().find(|schema| !schema.is_istiod() && schema.release().0 == u32::from(minor))
    }

    /// The newest istiod's.
    pub fn newest() -> Schema {
        Schema::istiod(u16::MAX, u16::MAX)
    }

    /// Every schema: Envoy's, then istiod's, each from old to new.
    pub fn all() -> impl Iterator<Item = Schema> {
        (0..u8::try_from(table::word(0)).unwrap_or(0)).map(|set| Schema { set })
    }

    /// `envoy-1.40`, `istiod-1.28.7`.
    pub(crate) fn name(self) -> &'static str {
        table::text(self.word(0))
    }

    /// Whether this is a schema of istiod and not of Envoy.
    pub(crate) fn is_istiod(self) -> bool {
        self.word(1) == 1
    }

    /// Minor and patch number of the release it was taken from (an Envoy set: of the first release of the line).
    pub(crate) fn release(self) -> (u32, u32) {
        (self.word(2), self.word(3))
    }

    /// The message with a full name, such as `envoy.config.route.v3.Route` (no `type.googleapis.com/`).
    pub fn message(self, full_name: &str) -> Option<Message> {
        self.message_of(table::symbol(full_name)?).filter(|message| !message.is_map_entry())
    }

    /// The enum with a full name.
    pub(crate) fn enumeration(self, full_name: &str) -> Option<Enum> {
        self.enum_of(table::symbol(full_name)?)
    }

    /// Every message, including nested ones, sorted by full name. Map entry types are excluded.
    pub fn messages(self) -> impl Iterator<Item = Message> {
        (0..table::word(2)).filter_map(move |symbol| self.message_of(symbol)).filter(|message| !message.is_map_entry())
    }

    /// Every enum, including nested ones, sorted by full name.
    pub(crate) fn enumerations(self) -> impl Iterator<Item = Enum> {
        (0..table::word(2)).filter_map(move |symbol| self.enum_of(symbol))
    }

    fn word(self, index: u32) -> u32 {
        table::word(table::SETS + u32::from(self.set) * table::SET + index)
    }

    fn message_of(self, symbol: u32) -> Option<Message> {
        let (at, _) = table::definition(self.set, symbol)?;
        (table::word(at) & 0xff == 1).then_some(Message { schema: self, symbol, at })
    }

    fn enum_of(self, symbol: u32) -> Option<Enum> {
        let (at, _) = table::definition(self.set, symbol)?;
        (table::word(at) & 0xff == 2).then_some(Enum { symbol, at })
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// A message type of a schema.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Message {
    schema: Schema,
    symbol: u32,
    at: u32,
}

impl Message {
    /// Such as `envoy.config.route.v3.Route`.
    pub fn full_name(self) -> &'static str {
        symbol_name(self.symbol)
    }

    /// The schema it belongs to.
    pub(crate) fn schema(self) -> Schema {
        self.schema
    }

    /// The path of the file that defines it, such as `envoy/config/route/v3/route_components.proto`.
    pub(crate) fn file(self) -> &'static str {
        table::definition(self.schema.set, self.symbol).map_or("", |(_, file)| table::text(file))
    }

    /// The fields in order of declaration, not by number.
    pub fn fields(self) -> impl ExactSizeIterator<Item = Field> {
        (0..self.field_count()).map(move |index| self.nth(index))
    }

    /// The field with this name, in its proto or JSON form.
    pub fn field(self, name: &str) -> Option<Field> {
        self.fields().find(|field| field.is_named(name))
    }

    /// The field with this number.
    pub(crate) fn field_by_number(self, number: u32) -> Option<Field> {
        self.fields().find(|field| field.number() == number)
    }

    /// The oneofs; [`Field::oneof`] is an index of them.
    pub(crate) fn oneofs(self) -> impl ExactSizeIterator<Item = Oneof> {
        let start = self.at + table::MESSAGE + self.field_count() * table::FIELD;
        let count = table::word(self.at + 1) >> 16;
        (0..count).map(move |index| Oneof { at: start + index * table::ONEOF })
    }

    /// Its well-known type, if its JSON form is special.
    pub fn well_known(self) -> Option<WellKnown> {
        Some(match table::word(self.at) >> 16 {
            1 => WellKnown::Any,
            2 => WellKnown::Duration,
            3 => WellKnown::Timestamp,
            4 => WellKnown::Struct,
            5 => WellKnown::Value,
            6 => WellKnown::ListValue,
            7 => WellKnown::FieldMask,
            8 => WellKnown::Empty,
            9 => WellKnown::Wrapper(self.fields().next()?.kind()),
            _ => return None,
        })
    }

    /// Declared deprecated as a whole.
    pub(crate) fn deprecated(self) -> bool {
        self.has_flag(1)
    }

    /// It or its file is marked work in progress: Envoy warns, and may change it without notice.
    pub(crate) fn work_in_progress(self) -> bool {
        self.has_flag(8)
    }

    /// The type it replaces (`udpa.annotations.versioning`): its name in the v2 API, or an alpha version.
    pub(crate) fn previous_type(self) -> Option<&'static str> {
        Some(table::text(table::word(self.at + 2))).filter(|name| !name.is_empty())
    }

    fn is_map_entry(self) -> bool {
        self.has_flag(2)
    }

    fn has_flag(self, bit: u32) -> bool {
        table::word(self.at) >> 8 & bit != 0
    }

    fn field_count(self) -> u32 {
        table::word(self.at + 1) & 0xffff
    }

    fn nth(self, index: u32) -> Field {
        Field { schema: self.schema, at: self.at + table::MESSAGE + index * table::FIELD }
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.schema.name(), self.full_name())
    }
}

/// A message type whose JSON form is not an object of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WellKnown {
    /// `google.protobuf.Any`
    Any,
    /// `google.protobuf.Duration`
    Duration,
    /// `google.protobuf.Timestamp`
    Timestamp,
    /// `google.protobuf.Struct`
    Struct,
    /// `google.protobuf.Value`
    Value,
    /// `google.protobuf.ListValue`
    ListValue,
    /// `google.protobuf.FieldMask`
    FieldMask,
    /// `google.protobuf.Empty`, an object without fields
    Empty,
    /// `google.protobuf.UInt32Value` and the like, with the kind of the value
    Wrapper(Kind),
}

/// A field of a message type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Field {
    schema: Schema,
    at: u32,
}

impl Field {
    /// The name in the proto file.
    pub fn name(self) -> &'static str {
        table::text(table::word(self.at))
    }

    /// The name in JSON, lowerCamelCase.
    pub fn json_name(self) -> &'static str {
        table::text(table::word(self.at + 1))
    }

    /// The field number.
    pub(crate) fn number(self) -> u32 {
        table::word(self.at + 2)
    }

    /// The type of a value; for a map, that of its entry (see [`Field::map_entry`]).
    pub fn kind(self) -> Kind {
        let symbol = table::word(self.at + 4);
        // 1 to 18 are the type numbers of a field descriptor; build.rs allows no others, and no field without its type.
        match table::word(self.at + 3) & 0xff {
            1 => Kind::Double,
            2 => Kind::Float,
            3 => Kind::Int64,
            4 => Kind::Uint64,
            5 => Kind::Int32,
            6 => Kind::Fixed64,
            7 => Kind::Fixed32,
            8 => Kind::Bool,
            9 => Kind::String,
            11 => self.schema.message_of(symbol).map_or(Kind::Bytes, Kind::Message),
            13 => Kind::Uint32,
            14 => self.schema.enum_of(symbol).map_or(Kind::Int32, Kind::Enum),
            15 => Kind::Sfixed32,
            16 => Kind::Sfixed64,
            17 => Kind::Sint32,
            18 => Kind::Sint64,
            _ => Kind::Bytes,
        }
    }

    /// How many values it holds, and whether unset differs from zero.
    pub fn cardinality(self) -> Cardinality {
        match table::word(self.at + 3) >> 8 & 0xff {
            0 => Cardinality::Implicit,
            1 => Cardinality::Explicit,
            2 => Cardinality::Repeated,
            _ => Cardinality::Map,
        }
    }

    /// The oneof it is a member of, as an index of [`Message::oneofs`]. A proto3 `optional` field has none.
    pub fn oneof(self) -> Option<u32> {
        (table::word(self.at + 3) >> 24).checked_sub(1)
    }

    /// Whether it is a map.
    pub(crate) fn is_map(self) -> bool {
        self.cardinality() == Cardinality::Map
    }

    /// Whether it is a list; a map is not.
    pub(crate) fn is_list(self) -> bool {
        self.cardinality() == Cardinality::Repeated
    }

    /// The kinds of key and value, if it is a map.
    pub fn map_entry(self) -> Option<(Kind, Kind)> {
        // Few fields are maps, and finding a type costs more than knowing that.
        match self.is_map().then(|| self.kind())? {
            Kind::Message(entry) => Some((entry.field_by_number(1)?.kind(), entry.field_by_number(2)?.kind())),
            _ => None,
        }
    }

    /// Declared deprecated: Envoy accepts it with a warning.
    pub(crate) fn deprecated(self) -> bool {
        self.has_flag(1)
    }

    /// Envoy rejects it unless a runtime override allows it (`envoy.annotations.disallowed_by_default`).
    pub(crate) fn disallowed_by_default(self) -> bool {
        self.has_flag(2)
    }

    /// Holds a secret (`udpa.annotations.sensitive`): Envoy redacts it in config dumps.
    pub(crate) fn sensitive(self) -> bool {
        self.has_flag(4)
    }

    /// Marked work in progress.
    pub(crate) fn work_in_progress(self) -> bool {
        self.has_flag(8)
    }

    /// The constraints that Envoy checks: a serialized `validate.FieldRules`, empty if there are none.
    pub(crate) fn rules(self) -> &'static [u8] {
        table::bytes(table::word(self.at + 5))
    }

    fn is_named(self, name: &str) -> bool {
        let (proto, json) = (table::word(self.at), table::word(self.at + 1));
        table::is_text(proto, name) || (json != proto && table::is_text(json, name))
    }

    fn has_flag(self, bit: u32) -> bool {
        table::word(self.at + 3) >> 16 & bit != 0
    }
}

impl fmt::Debug for Field {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// The type of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are protobuf's own")]
pub enum Kind {
    Double,
    Float,
    Int32,
    Int64,
    Uint32,
    Uint64,
    Sint32,
    Sint64,
    Fixed32,
    Fixed64,
    Sfixed32,
    Sfixed64,
    Bool,
    String,
    Bytes,
    Message(Message),
    Enum(Enum),
}

/// How many values a field holds, and whether unset differs from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cardinality {
    /// One; zero counts as unset.
    Implicit,
    /// One; set or not: a message, a member of a oneof, a proto3 `optional` or a proto2 field.
    Explicit,
    /// A list.
    Repeated,
    /// A map.
    Map,
}

/// A oneof of a message type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Oneof {
    at: u32,
}

impl Oneof {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        table::text(table::word(self.at))
    }

    /// Envoy rejects the message if no member is set (`validate.required`).
    pub(crate) fn required(self) -> bool {
        table::word(self.at + 1) & 1 != 0
    }
}

impl fmt::Debug for Oneof {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// An enum type of a schema.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Enum {
    symbol: u32,
    at: u32,
}

impl Enum {
    /// Such as `envoy.config.cluster.v3.Cluster.DiscoveryType`.
    pub(crate) fn full_name(self) -> &'static str {
        symbol_name(self.symbol)
    }

    /// The values in order of declaration; the first is the default.
    pub fn values(self) -> impl ExactSizeIterator<Item = EnumValue> {
        (0..table::word(self.at + 1)).map(move |index| EnumValue { at: self.at + table::ENUM + index * table::VALUE })
    }

    /// The number of a value.
    pub(crate) fn by_name(self, name: &str) -> Option<i32> {
        self.values().find(|value| table::is_text(table::word(value.at), name)).map(EnumValue::number)
    }

    /// The value with a number; if several have it, the one declared first.
    pub(crate) fn by_number(self, number: i32) -> Option<EnumValue> {
        self.values().find(|value| value.number() == number)
    }

    /// Declared deprecated as a whole.
    pub(crate) fn deprecated(self) -> bool {
        table::word(self.at) >> 8 & 1 != 0
    }
}

impl fmt::Debug for Enum {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.full_name())
    }
}

/// A value of an enum type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct EnumValue {
    at: u32,
}

impl EnumValue {
    /// Its name.
    pub fn name(self) -> &'static str {
        table::text(table::word(self.at))
    }

    /// Its number.
    pub fn number(self) -> i32 {
        table::word(self.at + 1).cast_signed()
    }

    /// Declared deprecated: Envoy accepts it with a warning.
    pub(crate) fn deprecated(self) -> bool {
        table::word(self.at + 2) & 1 != 0
    }

    /// Envoy rejects it unless a runtime override allows it (`envoy.annotations.disallowed_by_default_enum`).
    pub(crate) fn disallowed_by_default(self) -> bool {
        table::word(self.at + 2) & 2 != 0
    }
}

impl fmt::Debug for EnumValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

fn symbol_name(symbol: u32) -> &'static str {
    table::text(table::word(table::word(1) + symbol * table::SYMBOL))
}

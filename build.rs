//! Compiles the committed store of Envoy and istiod descriptor sets into tables that are read in place.
//!
//! Input: `src/proto/data/schema-store.bin.zst` (origin and format: `xtask/README.md`). Output, in `OUT_DIR`:
//!
//! - `schema.words`: little-endian `u32` words; the layout is described in `src/proto/schema/table.rs`;
//! - `schema.text`: every name once, UTF-8;
//! - `schema.bytes`: every `validate.rules` option once, serialized.
//!
//! A definition shared by several sets is stored once. Type references are symbol numbers, which do not depend on the set, so a
//! message is shared even where the types of its fields differ between sets.

#![allow(clippy::disallowed_methods, reason = "a build script reads and writes files")]

use std::{
    collections::{BTreeMap, HashMap},
    env,
    error::Error,
    fs,
    path::PathBuf,
};

use prost::Message;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const STORE: &str = "src/proto/data/schema-store.bin.zst";

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={STORE}");
    println!("cargo::rustc-check-cfg=cfg(vectorized)");
    // From this level on, loops over bytes become instructions for many bytes at once.
    if env::var("OPT_LEVEL").is_ok_and(|level| matches!(level.as_str(), "2" | "3")) {
        println!("cargo::rustc-cfg=vectorized");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let raw = zstd::stream::decode_all(fs::File::open(STORE)?)?;
    let tables = compile(&Store::read(&raw)?)?;
    let words: Vec<u8> = tables.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    fs::write(out.join("schema.words"), words)?;
    fs::write(out.join("schema.text"), tables.text.bytes)?;
    fs::write(out.join("schema.bytes"), tables.bytes.bytes)?;
    Ok(())
}

/// The committed store: named sets, each a list of file numbers.
struct Store<'a> {
    sets: Vec<(&'a str, Vec<u16>)>,
    files: Vec<&'a [u8]>,
}

impl<'a> Store<'a> {
    fn read(raw: &'a [u8]) -> Result<Store<'a>> {
        let mut reader = Reader(raw);
        let mut sets = Vec::new();
        for _ in 0..reader.u16()? {
            let length = reader.u16()?;
            let name = std::str::from_utf8(reader.take(length.into())?)?;
            let count = reader.u16()?;
            sets.push((name, (0..count).map(|_| reader.u16()).collect::<Result<_>>()?));
        }
        let mut files = Vec::new();
        for _ in 0..reader.u32()? {
            let length = reader.u32()?;
            files.push(reader.take(usize::try_from(length)?)?);
        }
        Ok(Store { sets, files })
    }

    /// The sets that hold a file, one bit a set.
    fn mask(&self, file: usize) -> u64 {
        let holds = |ids: &[u16]| ids.iter().any(|&id| usize::from(id) == file);
        self.sets.iter().enumerate().filter(|(_, (_, ids))| holds(ids)).map(|(set, _)| 1 << set).sum()
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        self.0.split_off(..count).ok_or_else(|| "the schema store, or an option in it, ends early".into())
    }

    fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.take(2)?.try_into()?))
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.take(4)?.try_into()?))
    }
}

/// The parts of `google/protobuf/descriptor.proto` that matter here. Options stay bytes: most are extensions.
mod descriptor {
    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct File {
        #[prost(string, tag = "1")]
        pub(super) name: String,
        #[prost(string, tag = "2")]
        pub(super) package: String,
        #[prost(message, repeated, tag = "4")]
        pub(super) messages: Vec<Message>,
        #[prost(message, repeated, tag = "5")]
        pub(super) enums: Vec<Enum>,
        #[prost(bytes = "vec", tag = "8")]
        pub(super) options: Vec<u8>,
        #[prost(string, tag = "12")]
        pub(super) syntax: String,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Message {
        #[prost(string, tag = "1")]
        pub(super) name: String,
        #[prost(message, repeated, tag = "2")]
        pub(super) fields: Vec<Field>,
        #[prost(message, repeated, tag = "3")]
        pub(super) messages: Vec<Message>,
        #[prost(message, repeated, tag = "4")]
        pub(super) enums: Vec<Enum>,
        #[prost(bytes = "vec", tag = "7")]
        pub(super) options: Vec<u8>,
        #[prost(message, repeated, tag = "8")]
        pub(super) oneofs: Vec<Oneof>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Field {
        #[prost(string, tag = "1")]
        pub(super) name: String,
        #[prost(uint32, tag = "3")]
        pub(super) number: u32,
        #[prost(uint32, tag = "4")]
        pub(super) label: u32,
        #[prost(uint32, tag = "5")]
        pub(super) kind: u32,
        #[prost(string, tag = "6")]
        pub(super) type_name: String,
        #[prost(bytes = "vec", tag = "8")]
        pub(super) options: Vec<u8>,
        #[prost(uint32, optional, tag = "9")]
        pub(super) oneof: Option<u32>,
        #[prost(string, optional, tag = "10")]
        pub(super) json_name: Option<String>,
        #[prost(bool, tag = "17")]
        pub(super) proto3_optional: bool,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Oneof {
        #[prost(string, tag = "1")]
        pub(super) name: String,
        #[prost(bytes = "vec", tag = "2")]
        pub(super) options: Vec<u8>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Enum {
        #[prost(string, tag = "1")]
        pub(super) name: String,
        #[prost(message, repeated, tag = "2")]
        pub(super) values: Vec<EnumValue>,
        #[prost(bytes = "vec", tag = "3")]
        pub(super) options: Vec<u8>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct EnumValue {
        #[prost(string, tag = "1")]
        pub(super) name: String,
        #[prost(int32, tag = "2")]
        pub(super) number: i32,
        #[prost(bytes = "vec", tag = "3")]
        pub(super) options: Vec<u8>,
    }
}

/// Field numbers of options and of the extensions of options that the tables keep.
mod option {
    pub(super) const MESSAGE_DEPRECATED: u64 = 3;
    pub(super) const MAP_ENTRY: u64 = 7;
    pub(super) const FIELD_DEPRECATED: u64 = 3;
    pub(super) const ENUM_DEPRECATED: u64 = 3;
    pub(super) const VALUE_DEPRECATED: u64 = 1;
    /// `udpa.annotations.file_status`: 1 = work in progress, 2 = package version status.
    pub(super) const UDPA_FILE_STATUS: u64 = 222_707_719;
    /// `xds.annotations.v3.{file,message,field}_status`: 1 = work in progress.
    pub(super) const XDS_STATUS: u64 = 226_829_418;
    /// `udpa.annotations.versioning`: 1 = previous message type.
    pub(super) const VERSIONING: u64 = 7_881_811;
    /// `udpa.annotations.sensitive`.
    pub(super) const UDPA_SENSITIVE: u64 = 76_569_463;
    /// `xds.annotations.v3.sensitive`.
    pub(super) const XDS_SENSITIVE: u64 = 61_008_053;
    /// `envoy.annotations.disallowed_by_default`.
    pub(super) const DISALLOWED: u64 = 189_503_207;
    /// `envoy.annotations.disallowed_by_default_enum`.
    pub(super) const DISALLOWED_ENUM: u64 = 70_100_853;
    /// `validate.rules` of a field; `validate.required` of a oneof.
    pub(super) const VALIDATE: u64 = 1071;
}

/// One option or a part of one: a number or length-delimited bytes.
#[derive(Clone, Copy)]
enum Part<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The parts of a serialized message. Groups do not occur in options.
fn parts(raw: &[u8]) -> Result<Vec<(u64, Part<'_>)>> {
    use prost::encoding::decode_varint;
    let mut reader = Reader(raw);
    let mut found = Vec::new();
    while !reader.0.is_empty() {
        let key = decode_varint(&mut reader.0)?;
        let part = match key & 7 {
            0 => Part::Number(decode_varint(&mut reader.0)?),
            1 => Part::Bytes(reader.take(8)?),
            2 => {
                let length = decode_varint(&mut reader.0)?;
                Part::Bytes(reader.take(usize::try_from(length)?)?)
            }
            5 => Part::Bytes(reader.take(4)?),
            other => return Err(format!("wire type {other} in an option").into()),
        };
        found.push((key >> 3, part));
    }
    Ok(found)
}

/// The number of an option, 0 if it is not set.
fn number(raw: &[u8], id: u64) -> Result<u64> {
    let last = parts(raw)?.into_iter().rfind(|(found, _)| *found == id);
    Ok(if let Some((_, Part::Number(value))) = last { value } else { 0 })
}

/// The bytes of an option, empty if it is not set. An option may come in pieces, which concatenate.
fn bytes(raw: &[u8], id: u64) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    for (found, part) in parts(raw)? {
        if let (true, Part::Bytes(piece)) = (found == id, part) {
            all.extend_from_slice(piece);
        }
    }
    Ok(all)
}

/// A bit, set if any of these options is true.
fn flag(bit: u32, set: u64) -> u32 {
    if set == 0 { 0 } else { bit }
}

/// Deduplicated names or bytes. A reference is `offset << 12 | length`; 0 is the empty one.
#[derive(Default)]
struct Pool {
    bytes: Vec<u8>,
    known: HashMap<Vec<u8>, u32>,
}

impl Pool {
    fn add(&mut self, new: &[u8]) -> Result<u32> {
        if new.is_empty() {
            return Ok(0);
        }
        if let Some(&known) = self.known.get(new) {
            return Ok(known);
        }
        let (offset, length) = (u32::try_from(self.bytes.len())?, u32::try_from(new.len())?);
        if offset >= 1 << 20 || length >= 1 << 12 {
            return Err("a pool of the schema tables outgrew its 20-bit offsets or 12-bit lengths".into());
        }
        self.bytes.extend_from_slice(new);
        self.known.insert(new.to_vec(), offset << 12 | length);
        Ok(offset << 12 | length)
    }
}

/// Every definition of a symbol: definition and file, with the sets that contain it.
type Places = BTreeMap<(Vec<u32>, u32), u64>;

#[derive(Default)]
struct Tables {
    words: Vec<u32>,
    text: Pool,
    bytes: Pool,
}

fn compile(store: &Store<'_>) -> Result<Tables> {
    if store.sets.len() > 64 {
        return Err("more than 64 sets do not fit the masks".into());
    }
    let files: Vec<descriptor::File> =
        store.files.iter().map(|&raw| descriptor::File::decode(raw)).collect::<std::result::Result<_, _>>()?;
    let mut names = BTreeMap::new();
    for file in &files {
        collect_names(&file.package, &file.messages, &file.enums, &mut names);
    }
    for (symbol, (_, number)) in names.iter_mut().enumerate() {
        *number = u32::try_from(symbol)?;
    }
    let mut compiler = Compiler { tables: Tables::default(), places: vec![Places::new(); names.len()], names: &names };
    for (id, file) in files.iter().enumerate() {
        compiler.file(file, store.mask(id))?;
    }
    let Compiler { mut tables, places, .. } = compiler;

    let symbols = 3 + 4 * store.sets.len();
    let mut entries = symbols + 3 * names.len();
    let mut definition = entries + 4 * places.iter().map(BTreeMap::len).sum::<usize>();
    let (mut symbol_words, mut entry_words, mut definition_words) = (Vec::new(), Vec::new(), Vec::new());
    let mut stored = HashMap::new();
    for (name, places) in names.keys().zip(places) {
        symbol_words.extend([tables.text.add(name.as_bytes())?, word(entries)?, word(places.len())?]);
        entries += 4 * places.len();
        for ((words, file), mask) in places {
            let offset = *stored.entry(words).or_insert_with_key(|words| {
                definition_words.extend_from_slice(words);
                definition += words.len();
                definition - words.len()
            });
            entry_words.extend([low(mask), low(mask >> 32), word(offset)?, file]);
        }
    }
    tables.words.extend([word(store.sets.len())?, word(symbols)?, word(names.len())?]);
    for (name, _) in &store.sets {
        let (product, release) = name.split_once('-').ok_or("a set without a release")?;
        let numbers = release.split('.').map(str::parse).collect::<std::result::Result<Vec<u32>, _>>()?;
        let (minor, patch) = (*numbers.get(1).ok_or("a set without a minor")?, numbers.get(2).copied().unwrap_or(0));
        tables.words.extend([tables.text.add(name.as_bytes())?, u32::from(product == "istiod"), minor, patch]);
    }
    tables.words.extend(symbol_words);
    tables.words.extend(entry_words);
    tables.words.extend(definition_words);
    Ok(tables)
}

fn word(value: usize) -> Result<u32> {
    Ok(u32::try_from(value)?)
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is wanted")]
fn low(mask: u64) -> u32 {
    mask as u32
}

fn collect_names(
    scope: &str,
    messages: &[descriptor::Message],
    enums: &[descriptor::Enum],
    names: &mut BTreeMap<String, u32>,
) {
    for message in messages {
        let name = join(scope, &message.name);
        collect_names(&name, &message.messages, &message.enums, names);
        names.insert(name, 0);
    }
    names.extend(enums.iter().map(|found| (join(scope, &found.name), 0)));
}

fn join(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_owned() } else { format!("{scope}.{name}") }
}

struct Compiler<'a> {
    tables: Tables,
    /// By symbol number.
    places: Vec<Places>,
    names: &'a BTreeMap<String, u32>,
}

/// What the messages of a file share.
struct Scope {
    file: u32,
    mask: u64,
    flags: u32,
    proto3: bool,
}

impl Compiler<'_> {
    fn file(&mut self, file: &descriptor::File, mask: u64) -> Result<()> {
        let proto3 = match file.syntax.as_str() {
            "proto3" => true,
            "" | "proto2" => false,
            other => return Err(format!("{}: syntax {other} is not known", file.name).into()),
        };
        let status = bytes(&file.options, option::UDPA_FILE_STATUS)?;
        let xds_status = bytes(&file.options, option::XDS_STATUS)?;
        let flags =
            flag(4, u64::from(number(&status, 2)? == 1)) | flag(8, number(&status, 1)? | number(&xds_status, 1)?);
        let scope = Scope { file: self.tables.text.add(file.name.as_bytes())?, mask, flags, proto3 };
        for message in &file.messages {
            self.message(&scope, &file.package, message)?;
        }
        for found in &file.enums {
            self.enumeration(&scope, &file.package, found)?;
        }
        Ok(())
    }

    fn define(&mut self, scope: &Scope, name: &str, words: Vec<u32>) -> Result<()> {
        let symbol = usize::try_from(self.symbol(name)?)?;
        *self.places[symbol].entry((words, scope.file)).or_default() |= scope.mask;
        Ok(())
    }

    fn symbol(&self, name: &str) -> Result<u32> {
        self.names.get(name).copied().ok_or_else(|| format!("type {name} is defined nowhere").into())
    }

    fn message(&mut self, scope: &Scope, outer: &str, message: &descriptor::Message) -> Result<()> {
        let name = join(outer, &message.name);
        for nested in &message.messages {
            self.message(scope, &name, nested)?;
        }
        for nested in &message.enums {
            self.enumeration(scope, &name, nested)?;
        }
        let flags = scope.flags
            | flag(1, number(&message.options, option::MESSAGE_DEPRECATED)?)
            | flag(2, number(&message.options, option::MAP_ENTRY)?)
            | flag(8, number(&bytes(&message.options, option::XDS_STATUS)?, 1)?);
        let previous = bytes(&bytes(&message.options, option::VERSIONING)?, 1)?;
        // The oneof that the compiler makes up for a proto3 `optional` field comes after all real ones.
        let synthetic: Vec<u32> = message.fields.iter().filter(|f| f.proto3_optional).filter_map(|f| f.oneof).collect();
        let oneofs = message.oneofs.len() - synthetic.len();
        if synthetic.iter().any(|&index| (index as usize) < oneofs) {
            return Err(format!("{name}: a made-up oneof comes before a real one").into());
        }
        let mut words = vec![
            1 | flags << 8 | well_known(&name) << 16,
            word(message.fields.len() | oneofs << 16)?,
            self.tables.text.add(&previous)?,
        ];
        for field in &message.fields {
            words.extend(self.field(scope, message, field)?);
        }
        for oneof in &message.oneofs[..oneofs] {
            words.push(self.tables.text.add(oneof.name.as_bytes())?);
            words.push(flag(1, number(&oneof.options, option::VALIDATE)?));
        }
        self.define(scope, &name, words)
    }

    fn field(&mut self, scope: &Scope, message: &descriptor::Message, field: &descriptor::Field) -> Result<[u32; 6]> {
        const LABEL_REPEATED: u32 = 3;
        const GROUP: u32 = 10;
        const MESSAGE: u32 = 11;
        if field.kind == GROUP || field.kind == 0 || field.kind > 18 {
            return Err(format!("field {} has a type that is not known: {}", field.name, field.kind).into());
        }
        let is_entry = |nested: &descriptor::Message| {
            field.type_name.ends_with(&format!(".{}.{}", message.name, nested.name))
                && number(&nested.options, option::MAP_ENTRY).is_ok_and(|set| set != 0)
        };
        let cardinality = match (field.label == LABEL_REPEATED, field.kind == MESSAGE) {
            (true, true) if message.messages.iter().any(is_entry) => 3,
            (true, _) => 2,
            (false, is_message) if is_message || field.oneof.is_some() || !scope.proto3 => 1,
            (false, _) => 0,
        };
        let oneof = field.oneof.filter(|_| !field.proto3_optional).map_or(0, |index| index + 1);
        if oneof > 0xff {
            return Err(format!("field {} is in oneof {oneof}; the tables have room for 255", field.name).into());
        }
        let options = &field.options;
        let flags = flag(1, number(options, option::FIELD_DEPRECATED)?)
            | flag(2, number(options, option::DISALLOWED)?)
            | flag(4, number(options, option::UDPA_SENSITIVE)? | number(options, option::XDS_SENSITIVE)?)
            | flag(8, number(&bytes(options, option::XDS_STATUS)?, 1)?);
        let type_symbol = match field.type_name.strip_prefix('.') {
            Some(name) => self.symbol(name)?,
            None if field.type_name.is_empty() => u32::MAX,
            None => return Err(format!("type name {} is not absolute", field.type_name).into()),
        };
        let json_name = field.json_name.clone().unwrap_or_else(|| json_name(&field.name));
        Ok([
            self.tables.text.add(field.name.as_bytes())?,
            self.tables.text.add(json_name.as_bytes())?,
            field.number,
            field.kind | cardinality << 8 | flags << 16 | oneof << 24,
            type_symbol,
            self.tables.bytes.add(&bytes(options, option::VALIDATE)?)?,
        ])
    }

    fn enumeration(&mut self, scope: &Scope, outer: &str, found: &descriptor::Enum) -> Result<()> {
        let mut words =
            vec![2 | flag(1, number(&found.options, option::ENUM_DEPRECATED)?) << 8, word(found.values.len())?];
        for value in &found.values {
            let flags = flag(1, number(&value.options, option::VALUE_DEPRECATED)?)
                | flag(2, number(&value.options, option::DISALLOWED_ENUM)?);
            words.extend([self.tables.text.add(value.name.as_bytes())?, value.number.cast_unsigned(), flags]);
        }
        self.define(scope, &join(outer, &found.name), words)
    }
}

/// A field's JSON name when the descriptor does not state it: `lowerCamelCase`, as protoc makes it.
fn json_name(name: &str) -> String {
    let mut json = String::new();
    let mut upper = false;
    for c in name.chars() {
        if c == '_' {
            upper = true;
        } else {
            json.push(if upper { c.to_ascii_uppercase() } else { c });
            upper = false;
        }
    }
    json
}

/// The number of a well-known type, 0 for any other message. `src/proto/schema.rs` reads it.
fn well_known(name: &str) -> u32 {
    match name.strip_prefix("google.protobuf.") {
        Some("Any") => 1,
        Some("Duration") => 2,
        Some("Timestamp") => 3,
        Some("Struct") => 4,
        Some("Value") => 5,
        Some("ListValue") => 6,
        Some("FieldMask") => 7,
        Some("Empty") => 8,
        Some(
            "DoubleValue" | "FloatValue" | "Int64Value" | "UInt64Value" | "Int32Value" | "UInt32Value" | "BoolValue"
            | "StringValue" | "BytesValue",
        ) => 9,
        _ => 0,
    }
}

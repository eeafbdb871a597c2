//! Checks values against the rules that Envoy enforces (protoc-gen-validate).

use crate::lint::value::walk::number as number_of;
use crate::lint::value::{Member, Object, short};
use crate::proto::decode::parse_go_duration;
use crate::proto::rules::{Enumeration, Number, Rules, Text};
use crate::proto::schema::{Cardinality, Enum, EnumValue, Field, Kind, Message, WellKnown};
use crate::source::{Node, NodeValue, Span};
use regex::Regex;

/// A rule that a value breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    /// The value.
    pub span: Span,
    /// What it must be: `at least 1`, `one of A, B`.
    pub must_be: String,
    /// Whether no proto file states the rule: it is in Envoy's code.
    pub in_code: bool,
}

/// Something required that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// A field, and what it must be.
    Field(Field, String),
    /// One of the members of a oneof: its name, the names of the members.
    OneOf(&'static str, Vec<&'static str>),
}

/// The rules that the values of a message's field break.
pub(crate) fn broken(object: &Object<'_>, member: &Member<'_>) -> Vec<Broken> {
    let mut out = stated(object, member);
    if out.is_empty() {
        let split = |field: &Field| !object.in_typed_struct && is_split_duration(*field, &member.entry.value);
        out.extend(member.envoy.filter(|field| !split(field)).and_then(|field| negative(field, &member.entry.value)));
        out.extend(undeclared(member));
    }
    out
}

/// The rules of the API that they break.
fn stated(object: &Object<'_>, member: &Member<'_>) -> Vec<Broken> {
    let mut out = Vec::new();
    let Some(field) = member.envoy.filter(|field| !field.rules().is_empty()) else { return out };
    let node = &member.entry.value;
    if node.is_null() || absent_by_default(field, node) || (!object.in_typed_struct && is_split_duration(field, node)) {
        return out;
    }
    let rules = Rules::read(field.rules());
    match field.cardinality() {
        Cardinality::Repeated => {
            let Some(list) = &rules.list else { return out };
            let count = node.items().len() as u64;
            let appended = !object.whole;
            if let Some(max) = list.max.filter(|&max| count > max) {
                out.push(Broken {
                    span: node.span,
                    must_be: format!("a list of at most {}", items(max)),
                    in_code: false,
                });
            } else if count > 0 && count < list.min && !appended {
                out.push(Broken {
                    span: node.span,
                    must_be: format!("a list of at least {}", items(list.min)),
                    in_code: false,
                });
            }
            if list.unique {
                for (index, item) in node.items().iter().enumerate() {
                    if node.items()[..index].iter().any(|other| other.value == item.value) {
                        out.push(Broken {
                            span: item.span,
                            must_be: "no repetition of another item".to_owned(),
                            in_code: false,
                        });
                    }
                }
            }
            if let Some(rules) = &list.items {
                for item in node.items() {
                    single(rules, field.kind(), item, &mut out);
                }
            }
        }
        Cardinality::Map => {
            let (Some(map), Some((key_kind, kind))) = (&rules.map, field.map_entry()) else { return out };
            for entry in node.entries() {
                if let (Some(rules), Kind::String) = (&map.keys, key_kind)
                    && let Some(must_be) = rules.text.as_ref().and_then(|rules| text(rules, &entry.key))
                {
                    out.push(Broken { span: entry.key_span, must_be, in_code: false });
                }
                if let Some(rules) = &map.values {
                    single(rules, kind, &entry.value, &mut out);
                }
            }
        }
        _ => single(&rules, field.kind(), node, &mut out),
    }
    out
}

/// Names of an enum that istiod knows and sends as numbers, and that the proxy's Envoy does not have and its rules do not
/// allow.
fn undeclared(member: &Member<'_>) -> Vec<Broken> {
    let (Some(field), Some(sent)) = (member.envoy, member.istiod) else { return Vec::new() };
    let (Kind::Enum(of), Kind::Enum(known)) = (field.kind(), sent.kind()) else { return Vec::new() };
    let rules = Rules::read(field.rules());
    let rules = match field.cardinality() {
        Cardinality::Repeated => rules.list.and_then(|list| list.items).and_then(|items| items.enumeration),
        _ => rules.enumeration,
    };
    let Some(rules) = rules else { return Vec::new() };
    let broken = |(node, span): (&Node, Span)| {
        let name = node.as_str().filter(|name| of.by_name(name).is_none())?;
        let must_be = enumeration(&rules, of, known.by_name(name)?.into())?;
        Some(Broken { span, must_be, in_code: false })
    };
    member.values().into_iter().filter_map(broken).collect()
}

/// Whether a duration is given by its fields, which only the proxy can read, in a TypedStruct.
fn is_split_duration(field: Field, node: &Node) -> bool {
    let duration = |message: Message| message.well_known() == Some(WellKnown::Duration);
    matches!(field.kind(), Kind::Message(message) if duration(message)) && matches!(node.value, NodeValue::Map(_))
}

/// The nanoseconds of a duration: text, or its fields, which the proxy also reads in a TypedStruct.
pub(crate) fn duration(node: &Node) -> Option<i64> {
    if let NodeValue::Map(entries) = &node.value {
        let known = |key: &str| matches!(key, "seconds" | "nanos");
        let part = |key: &str| node.get(key).map_or(Some(0), number_of::<i64>);
        let whole = entries.iter().all(|entry| known(&entry.key)).then(|| part("seconds"))??;
        return whole.checked_mul(1_000_000_000)?.checked_add(part("nanos")?);
    }
    parse_go_duration(node.as_str()?)
}

/// A negative duration, which no rule needs to forbid: Envoy refuses to read one (`DurationUtil`,
/// `protobuf/utility.cc`; 1.36 to 1.40).
fn negative(field: Field, node: &Node) -> Option<Broken> {
    let Kind::Message(message) = field.kind() else { return None };
    let nanos = Some(node).filter(|_| message.well_known() == Some(WellKnown::Duration)).and_then(duration)?;
    (nanos < 0).then(|| Broken { span: node.span, must_be: "0s or more".to_owned(), in_code: true })
}

/// What is missing for Envoy in an object that is given in full.
pub(crate) fn absent(object: &Object<'_>, message: Message) -> Vec<Absent> {
    let mut out = Vec::new();
    let present = |field: Field| {
        let member =
            object.members.iter().find(|member| member.envoy.is_some_and(|have| have.number() == field.number()));
        member.is_some_and(|member| !member.entry.value.is_null() && !absent_by_default(field, &member.entry.value))
    };
    for (index, oneof) in message.oneofs().enumerate() {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let members = || message.fields().filter(|field| field.oneof() == Some(index));
        if oneof.required() && !members().any(present) {
            let names = members().filter(|field| !field.deprecated()).map(Field::name).collect();
            out.push(Absent::OneOf(oneof.name(), names));
        }
    }
    for field in message.fields() {
        if field.rules().is_empty() || field.oneof().is_some() || present(field) {
            continue;
        }
        let rules = Rules::read(field.rules());
        let must_be = match field.cardinality() {
            Cardinality::Repeated => rules
                .list
                .filter(|list| list.min > 0 && !list.ignore_empty)
                .map(|list| format!("a list of at least {}", items(list.min))),
            Cardinality::Map => rules
                .map
                .filter(|map| map.min > 0 && !map.ignore_empty)
                .map(|map| format!("a map of at least {}", items(map.min))),
            Cardinality::Explicit => rules.required.then(|| "set".to_owned()),
            Cardinality::Implicit => match (&rules.number, &rules.text, &rules.enumeration) {
                (Some(rules), ..) if !rules.ignore_empty => number(rules, 0.0, |value| value.to_string()),
                (_, Some(rules), _) if !rules.ignore_empty && (rules.min_len > 0 || rules.min_bytes > 0) => {
                    text(rules, "")
                }
                (.., Some(rules)) => match field.kind() {
                    Kind::Enum(of) => enumeration(rules, of, 0),
                    _ => None,
                },
                _ => None,
            },
        };
        out.extend(must_be.map(|must_be| Absent::Field(field, must_be)));
    }
    out
}

/// A scalar at its default does not exist for proto3.
fn absent_by_default(field: Field, node: &Node) -> bool {
    match field.cardinality() {
        Cardinality::Implicit => match &node.value {
            NodeValue::Bool(value) => !value,
            NodeValue::Number(value) => value.parse() == Ok(0.0),
            NodeValue::String(value) => match field.kind() {
                Kind::Enum(enumeration) => enumeration.by_name(value) == Some(0),
                Kind::String | Kind::Bytes => value.is_empty(),
                _ => value.parse() == Ok(0.0),
            },
            _ => false,
        },
        Cardinality::Repeated | Cardinality::Map => node.items().is_empty() && node.entries().is_empty(),
        Cardinality::Explicit => false,
    }
}

fn items(count: u64) -> String {
    if count == 1 { "1 item".to_owned() } else { format!("{count} items") }
}

fn single(rules: &Rules, kind: Kind, node: &Node, out: &mut Vec<Broken>) {
    let must_be = match (kind, &node.value) {
        (Kind::Message(message), _) => match (message.well_known(), &node.value) {
            (Some(WellKnown::Wrapper(kind)), _) => return single(rules, kind, node, out),
            (Some(WellKnown::Duration), _) => {
                let (Some(rules), Some(nanos)) = (&rules.duration, duration(node)) else { return };
                #[allow(clippy::cast_precision_loss, reason = "bounds are whole milliseconds or more")]
                number(rules, nanos as f64, |nanos| format!("{}s", nanos / 1e9))
            }
            (Some(WellKnown::Any), NodeValue::Map(_)) => {
                let url = node.get("@type").and_then(Node::as_str);
                url.filter(|url| !rules.any_in.is_empty() && !rules.any_in.iter().any(|allowed| allowed == url))
                    .map(|_| format!("of type {}", rules.any_in.join(" or ")))
            }
            _ => None,
        },
        (Kind::Enum(of), NodeValue::String(name)) => {
            let number = of.by_name(name).map(i64::from);
            rules.enumeration.as_ref().zip(number).and_then(|(rules, number)| enumeration(rules, of, number))
        }
        (Kind::Enum(of), NodeValue::Number(written)) => {
            let number = written.parse().ok();
            rules.enumeration.as_ref().zip(number).and_then(|(rules, number)| enumeration(rules, of, number))
        }
        (Kind::Bool, NodeValue::Bool(value)) => {
            rules.boolean.filter(|constant| constant != value).map(|constant| constant.to_string())
        }
        (Kind::String, NodeValue::String(value)) => rules.text.as_ref().and_then(|rules| text(rules, value)),
        // The bytes are written in base64: only their presence is checked.
        (Kind::Bytes, NodeValue::String(value)) => {
            let short = rules.text.as_ref().is_some_and(|rules| rules.min_bytes > 0 && value.is_empty());
            short.then(|| "at least 1 byte long".to_owned())
        }
        (_, NodeValue::Number(written) | NodeValue::String(written)) => {
            let (Some(rules), Ok(value)) = (&rules.number, written.parse()) else { return };
            number(rules, value, |value| value.to_string())
        }
        _ => None,
    };
    out.extend(must_be.map(|must_be| Broken { span: node.span, must_be, in_code: false }));
}

#[allow(clippy::float_cmp, reason = "Envoy compares the numbers themselves")]
fn number(rules: &Number, value: f64, write: impl Fn(f64) -> String) -> Option<String> {
    if rules.ignore_empty && value == 0.0 {
        return None;
    }
    let list = |values: &[f64]| values.iter().map(|&value| write(value)).collect::<Vec<_>>().join(", ");
    if let Some(constant) = rules.constant.filter(|&constant| constant != value) {
        return Some(write(constant));
    }
    if !rules.within.is_empty() && !rules.within.contains(&value) {
        return Some(format!("one of {}", list(&rules.within)));
    }
    if rules.without.contains(&value) {
        return Some(format!("none of {}", list(&rules.without)));
    }
    let above = rules.gt.is_none_or(|bound| value > bound) && rules.gte.is_none_or(|bound| value >= bound);
    let below = rules.lt.is_none_or(|bound| value < bound) && rules.lte.is_none_or(|bound| value <= bound);
    let lowest = rules.gt.or(rules.gte);
    let highest = rules.lt.or(rules.lte);
    // protoc-gen-validate: if the lower bound is above the upper one, the range between them is excluded.
    let inverted = matches!((lowest, highest), (Some(low), Some(high)) if low > high);
    let fits = if inverted { above || below } else { above && below };
    if fits {
        return None;
    }
    let bounds = [
        rules.gt.map(|bound| format!("more than {}", write(bound))),
        rules.gte.map(|bound| format!("at least {}", write(bound))),
        rules.lt.map(|bound| format!("less than {}", write(bound))),
        rules.lte.map(|bound| format!("at most {}", write(bound))),
    ];
    Some(bounds.into_iter().flatten().collect::<Vec<_>>().join(if inverted { " or " } else { " and " }))
}

fn text(rules: &Text, value: &str) -> Option<String> {
    if rules.ignore_empty && value.is_empty() {
        return None;
    }
    let quoted = |texts: &[String]| texts.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(", ");
    let (chars, bytes) = (value.chars().count() as u64, value.len() as u64);
    if let Some(constant) = rules.constant.as_ref().filter(|constant| *constant != value) {
        return Some(format!("`{constant}`"));
    }
    if chars < rules.min_len || bytes < rules.min_bytes {
        let least = rules.min_len.max(rules.min_bytes);
        return Some(if least == 1 { "non-empty".to_owned() } else { format!("at least {least} characters long") });
    }
    if let Some(max) = rules.max_len.filter(|&max| chars > max).or(rules.max_bytes.filter(|&max| bytes > max)) {
        return Some(format!("at most {max} characters long"));
    }
    if !rules.within.is_empty() && !rules.within.iter().any(|allowed| allowed == value) {
        return Some(format!("one of {}", quoted(&rules.within)));
    }
    if rules.without.iter().any(|other| other == value) {
        return Some(format!("none of {}", quoted(&rules.without)));
    }
    if let Some(prefix) = rules.prefix.as_ref().filter(|prefix| !value.starts_with(prefix.as_str())) {
        return Some(format!("a text that begins with `{prefix}`"));
    }
    if let Some(suffix) = rules.suffix.as_ref().filter(|suffix| !value.ends_with(suffix.as_str())) {
        return Some(format!("a text that ends with `{suffix}`"));
    }
    if let Some(part) = rules.contains.as_ref().filter(|part| !value.contains(part.as_str())) {
        return Some(format!("a text with `{part}` in it"));
    }
    if let Some(part) = rules.not_contains.as_ref().filter(|part| value.contains(part.as_str())) {
        return Some(format!("a text without `{part}`"));
    }
    if let Some(pattern) = &rules.pattern
        // Envoy matches the whole text.
        && Regex::new(&format!(r"\A(?:{pattern})\z")).is_ok_and(|regex| !regex.is_match(value))
    {
        return Some(format!("a text that matches `{pattern}`"));
    }
    if rules.header_name && !value.is_empty() && !header_name(value, rules.strict) {
        return Some("the name of an HTTP header".to_owned());
    }
    if rules.header_value && !header_value(value, rules.strict) {
        return Some("the value of an HTTP header, without line breaks and control characters".to_owned());
    }
    None
}

/// `HTTP_HEADER_NAME` of protoc-gen-validate.
pub(crate) fn header_name(value: &str, strict: bool) -> bool {
    let name = value.strip_prefix(':').unwrap_or(value);
    if strict {
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_|~`,".contains(&byte);
        !name.is_empty() && name.bytes().all(token)
    } else {
        !value.contains(['\0', '\n', '\r'])
    }
}

/// `HTTP_HEADER_VALUE` of protoc-gen-validate.
fn header_value(value: &str, strict: bool) -> bool {
    let control = |char: char| (char < ' ' && char != '\t') || char == '\x7f';
    if strict { !value.contains(control) } else { !value.contains(['\0', '\n', '\r']) }
}

fn enumeration(rules: &Enumeration, of: Enum, value: i64) -> Option<String> {
    let name = |number: i64| of.by_number(i32::try_from(number).ok()?).map(EnumValue::name);
    let names = |numbers: &[i64]| numbers.iter().filter_map(|&number| name(number)).collect::<Vec<_>>().join(", ");
    if let Some(constant) = rules.constant.filter(|&constant| constant != value) {
        return Some(names(&[constant]));
    }
    if !rules.within.is_empty() && !rules.within.contains(&value) {
        return Some(format!("one of {}", names(&rules.within)));
    }
    if rules.without.contains(&value) {
        return Some(format!("something other than {}", names(&rules.without)));
    }
    (rules.defined_only && name(value).is_none()).then(|| {
        let declared: Vec<&str> = of.values().map(EnumValue::name).collect();
        if declared.len() > 8 {
            format!("a value that `{}` declares", short(of.full_name()))
        } else {
            format!("one of {}", declared.join(", "))
        }
    })
}

//! The value of a patch, walked with its types: every message at every depth, including inside `Any` and TypedStruct.
//!
//! Two schemas apply: istiod's (what it can read and merge) and that of the proxy's Envoy (what it accepts). For
//! istiod, the content of a TypedStruct is a plain structure; only the proxy reads it as the message that its
//! `type_url` names.

pub(crate) mod chain_match;
pub(crate) mod constraint;
pub(crate) mod expression;
pub(crate) mod extension_code;
pub(crate) mod foreign;
pub(crate) mod guards;
pub(crate) mod header_options;
pub(crate) mod lua_script;
pub(crate) mod lua_use;
pub(crate) mod since;
pub(crate) mod switch;
pub(crate) mod typed_config;
pub(crate) mod walk;

use crate::budget;
use crate::lint::facts::view::PatchView;
use crate::lint::finding::Finding;
use crate::lint::rule::RuleInfo;
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::proto::decode::{self, Notice, What};
use crate::proto::expected::Expected;
use crate::proto::json;
use crate::proto::rules::Rules;
use crate::proto::schema::{Cardinality, Field, Kind, Message, Schema, WellKnown};
use crate::proto::tree::{Origin, TYPE_KEY, is_typed_struct, type_name};
use crate::source::{Entry, Node, NodeValue, Span, Step};
use crate::words::template_in;
use std::ops::Range;

/// A patch and its value, walked.
pub(crate) struct PatchValue<'a> {
    /// The patch.
    pub view: PatchView<'a>,
    /// Its value.
    pub node: &'a Node,
    /// Every message with fields, containers before their content.
    pub objects: Vec<Object<'a>>,
    /// Every `Any`.
    pub slots: Vec<Slot<'a>>,
    /// Problems noted by JSON readers: istiod for the value, the proxy for the content of TypedStructs.
    pub notices: Vec<Noticed<'a>>,
    /// Texts that their readers refuse because they are templates that were not rendered.
    pub unrendered: Vec<&'a Node>,
    /// Envoy minor of the proxies that the patch is for; `None` if they are older than all known releases.
    pub envoy_minor: Option<u16>,
    /// The proxies that it reaches, if real ones decide; `None` if the Envoy of the control plane's release decides.
    pub reach: Option<Reach>,
}

/// The proxies that a patch reaches.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    /// The minors of all their Envoys.
    pub all: Vec<u16>,
    /// The proxies with the Envoy that judges the value.
    pub proxies: Vec<String>,
}

/// A message with fields.
pub(crate) struct Object<'a> {
    /// Its type as istiod knows it; `None` if unknown, and inside a TypedStruct.
    pub istiod: Option<Message>,
    /// Its type as the proxy's Envoy knows it.
    pub envoy: Option<Message>,
    /// Full name of the type, for which nearly every rule asks.
    name: &'static str,
    /// The mapping.
    pub node: &'a Node,
    /// The key, `@type` or list item that represents it.
    pub span: Span,
    /// From the value's root.
    pub route: Vec<Step>,
    /// Whether the object is given in full, so that missing fields are missing for Envoy: not in a MERGE, except in
    /// items of a list or a map, which MERGE adds or replaces as a whole.
    pub whole: bool,
    /// Whether it is inside a TypedStruct.
    pub in_typed_struct: bool,
    /// Whether Envoy's validation does not reach it.
    pub unchecked: bool,
    /// Whether a route switches off what it configures, or the patch is a REMOVE, which reads no value.
    pub is_off: bool,
    /// Index of the parent object, and the field in it.
    pub parent: Option<(usize, Field)>,
    /// Its keys.
    pub members: Vec<Member<'a>>,
}

/// A key of a message.
#[derive(Clone, Copy)]
pub(crate) struct Member<'a> {
    /// The key and its value.
    pub entry: &'a Entry,
    /// The field as istiod knows it.
    pub istiod: Option<Field>,
    /// The field as the proxy's Envoy knows it.
    pub envoy: Option<Field>,
}

/// An `Any`.
pub(crate) struct Slot<'a> {
    /// The mapping.
    pub node: &'a Node,
    /// The key or list item that represents it.
    pub span: Span,
    /// Index of the object that contains it.
    pub owner: usize,
    /// The field of that object.
    pub field: Field,
    /// From the value's root.
    pub route: Vec<Step>,
    /// Its `@type`, if it is text.
    pub url: Option<TypeUrl<'a>>,
    /// Whether that is a TypedStruct.
    pub typed_struct: bool,
    /// The `type_url` in a TypedStruct.
    pub inner: Option<TypeUrl<'a>>,
    /// Whether it is inside a TypedStruct.
    pub in_typed_struct: bool,
    /// Whether it is inside a filter's configuration that a route switches off, or in the value of a REMOVE: Envoy does not read it.
    pub is_off: bool,
    /// The indices of the objects inside it.
    pub objects: Range<usize>,
}

/// A type URL.
#[derive(Clone, Copy)]
pub(crate) struct TypeUrl<'a> {
    /// As written.
    pub text: &'a str,
    /// Its place.
    pub span: Span,
    /// The type as istiod knows it; `None` inside a TypedStruct, which istiod does not read.
    pub istiod: Option<Message>,
    /// The type as the proxy's Envoy knows it.
    pub envoy: Option<Message>,
}

/// A problem noted by a JSON reader.
pub(crate) struct Noticed<'a> {
    /// The notice, with the route from the value's root.
    pub notice: Notice,
    /// The value.
    pub node: Option<&'a Node>,
    /// Whether the reader is the proxy rather than istiod.
    pub in_typed_struct: bool,
}

impl<'a> TypeUrl<'a> {
    /// Full name of the message.
    pub(crate) fn name(&self) -> &'a str {
        type_name(self.text)
    }

    /// Whether neither istiod nor the proxy knows the type.
    pub(crate) fn unknown(&self) -> bool {
        self.istiod.is_none() && self.envoy.is_none()
    }
}

impl<'a> Slot<'a> {
    /// The type URL that counts: for a TypedStruct, that of the content.
    pub(crate) fn content(&self) -> Option<TypeUrl<'a>> {
        if self.typed_struct { self.inner } else { self.url }
    }

    /// The `name` next to the field that contains it, for messages that have one.
    pub(crate) fn extension_name(&self, value: &PatchValue<'a>) -> Option<&'a Node> {
        value.objects.get(self.owner)?.member("name").map(|member| &member.entry.value)
    }
}

impl Member<'_> {
    /// The field: the proxy's view of it, otherwise istiod's.
    pub(crate) fn field(&self) -> Option<Field> {
        self.envoy.or(self.istiod)
    }
}

impl<'a> Object<'a> {
    /// The type: the proxy's view of it, otherwise istiod's.
    pub(crate) fn message(&self) -> Option<Message> {
        self.envoy.or(self.istiod)
    }

    /// Full name of the type.
    pub(crate) fn full_name(&self) -> &'static str {
        self.name
    }

    /// Last part of the type's name.
    pub(crate) fn short_name(&self) -> &'static str {
        short(self.full_name())
    }

    /// The key for a field, by its name in the proto file.
    pub(crate) fn member(&self, name: &str) -> Option<&Member<'a>> {
        self.members.iter().find(|member| member.field().is_some_and(|field| field.name() == name))
    }

    /// This message and those that contain it, from the inside out; `objects` are those of the same value.
    pub(crate) fn and_above<'o>(&'o self, objects: &'o [Object<'a>]) -> impl Iterator<Item = &'o Object<'a>> {
        std::iter::successors(Some(self), |object| object.parent.and_then(|(at, _)| objects.get(at)))
    }

    /// Whether it switches a filter off for a route: Envoy then ignores the configuration in it (tested with Envoy 1.39.3).
    fn is_switched_off(&self) -> bool {
        let is_true = |flag: &Member<'_>| matches!(flag.entry.value.value, NodeValue::Bool(true));
        self.full_name() == "envoy.config.route.v3.FilterConfig" && self.member("disabled").is_some_and(is_true)
    }

    /// Text of a field.
    pub(crate) fn text(&self, name: &str) -> Option<&'a str> {
        self.member(name)?.entry.value.as_str()
    }
}

impl<'a> Member<'a> {
    /// Its individual values with their places: the items of a list, the values of a map, or the value itself.
    pub(crate) fn values(&self) -> Vec<(&'a Node, Span)> {
        match self.field().map(Field::cardinality) {
            Some(Cardinality::Repeated) => self.entry.value.items().iter().map(|item| (item, item.span)).collect(),
            Some(Cardinality::Map) => {
                self.entry.value.entries().iter().map(|entry| (&entry.value, entry.value.span)).collect()
            }
            _ => vec![(&self.entry.value, self.entry.value.span)],
        }
    }
}

impl<'a> PatchValue<'a> {
    /// A finding about this patch.
    pub(crate) fn finding(&self, rule: &'static RuleInfo, span: Span, message: impl Into<String>) -> Finding {
        let finding = Finding::new(rule, span, message).of(self.view.filter, Some(self.view.patch.index));
        match (&self.reach, self.envoy_minor) {
            (Some(reach), Some(minor)) => {
                finding.workloads(reach.proxies.iter().cloned()).for_envoy(minor, reach.all.iter().copied())
            }
            _ => finding,
        }
    }

    /// The place of the notice: the key, or the list item.
    pub(crate) fn notice_span(&self, notice: &Notice) -> Span {
        self.view.value_route_span(&notice.route)
    }

    /// The values that do not have the type of their field.
    pub(crate) fn mistyped(&self) -> impl Iterator<Item = &'a Node> {
        let wrong = |noticed: &&Noticed<'a>| matches!(noticed.notice.what, What::WrongType { .. });
        let nodes = self.notices.iter().filter(wrong).filter_map(|noticed| noticed.node);
        nodes.chain(self.unrendered.iter().copied())
    }

    /// Whether an object is in a filter chain that a LISTENER MERGE adds to the generated ones.
    pub(crate) fn is_in_added_chain(&self, object: &Object<'a>) -> bool {
        let in_chain =
            matches!(object.route.as_slice(), [Step::Key(key), Step::Item(_), ..] if walk::same(key, "filter_chains"));
        in_chain && self.merges() && self.view.patch.apply_to == ApplyTo::Listener
    }

    /// The place of a value that must change: the value itself if it is a scalar, otherwise as in
    /// [`PatchValue::notice_span`].
    pub(crate) fn written_span(&self, noticed: &Noticed<'_>) -> Span {
        let single = noticed.node.filter(|node| !matches!(node.value, NodeValue::Map(_) | NodeValue::List(_)));
        single.filter(|node| !node.is_null()).map_or_else(|| self.notice_span(&noticed.notice), |node| node.span)
    }

    /// Full name of the message that contains the field of a notice; a notice about a message or a wrapper names that
    /// one.
    pub(crate) fn holder(&self, notice: &Notice) -> &'static str {
        let above =
            |object: &&Object<'_>| object.route.len() < notice.route.len() && notice.route.starts_with(&object.route);
        let holder = self.objects.iter().filter(above).max_by_key(|object| object.route.len());
        holder.map(Object::full_name).filter(|name| !name.is_empty()).unwrap_or(notice.message)
    }

    /// The object at a route.
    pub(crate) fn object_at(&self, route: &[Step]) -> Option<&Object<'a>> {
        self.objects.iter().find(|object| object.route == route)
    }

    /// Whether the patch merges its value into an object.
    pub(crate) fn merges(&self) -> bool {
        self.view.patch.body.as_ref().is_some_and(|body| body.operation.is_merge())
    }
}

/// Last part of a dotted name.
pub(crate) fn short(full_name: &str) -> &str {
    full_name.rsplit('.').next().unwrap_or(full_name)
}

/// Walks the value of a patch; `None` if it has none or its type is unknown.
pub(crate) fn walk(view: PatchView<'_>, istiod: Schema, envoy_minor: Option<u16>) -> Option<PatchValue<'_>> {
    let envoy = envoy_minor.and_then(Schema::envoy);
    let body = view.patch.body.as_ref()?;
    let node = body.value.as_ref()?;
    let name = view.patch.apply_to.message()?;
    let mut walker = Walker {
        istiod,
        envoy,
        route: Vec::new(),
        value: PatchValue {
            view,
            node,
            objects: Vec::new(),
            slots: Vec::new(),
            notices: Vec::new(),
            unrendered: Vec::new(),
            envoy_minor,
            reach: None,
        },
    };
    if let Some(built) = view.built {
        walker.note(&built.notices, &[], node, false);
    }
    let is_off = body.operation == Operation::Remove;
    let place = Place {
        istiod: istiod.message(name),
        envoy: envoy.and_then(|envoy| envoy.message(name)),
        span: view.key_span(&["patch", "value"]),
        whole: !body.operation.is_merge(),
        in_typed_struct: false,
        unchecked: is_off,
        is_off,
        parent: None,
        is_any: false,
    };
    walker.message(&place, node);
    Some(walker.value)
}

struct Walker<'a> {
    istiod: Schema,
    envoy: Option<Schema>,
    route: Vec<Step>,
    value: PatchValue<'a>,
}

/// What is known about a value before it is read.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "what holds at a place, each for itself")]
struct Place {
    istiod: Option<Message>,
    envoy: Option<Message>,
    span: Span,
    whole: bool,
    in_typed_struct: bool,
    unchecked: bool,
    is_off: bool,
    parent: Option<(usize, Field)>,
    /// Whether the mapping is an `Any`, with its `@type`.
    is_any: bool,
}

fn message_of(kind: Kind) -> Option<Message> {
    match kind {
        Kind::Message(message) => Some(message),
        _ => None,
    }
}

/// The message of a field's value; for a map, that of its values.
fn content(field: Field) -> Option<Message> {
    match field.map_entry() {
        Some((_, kind)) => message_of(kind),
        None => message_of(field.kind()),
    }
}

/// Whether Envoy's validation of a message stops at this field.
fn stops(field: Field) -> bool {
    let any = |message: Message| message.well_known() == Some(WellKnown::Any);
    !field.rules().is_empty() && content(field).is_some_and(|it| !any(it)) && Rules::read(field.rules()).stops
}

/// Whether Envoy reads in a TypedStruct what istiod's reader rejects: protobuf's C++ reader also accepts a duration or
/// a wrapper as a mapping of its fields, a single item for a list of one, quoted Booleans, and enum names in any case
/// or as quoted numbers (tested with Envoy 1.39.3).
fn read_by_envoy(envoy: Schema, notice: &Notice, root: &Node) -> bool {
    let Some(node) = root.at(&notice.route) else { return false };
    let fields = |names: &[&str]| {
        let entries = node.entries();
        !entries.is_empty() && entries.iter().all(|entry| names.contains(&entry.key.as_str()))
    };
    match &notice.what {
        What::BadDuration => matches!(node.value, NodeValue::Map(_)),
        What::WrongType { expected: Expected::List } => !node.is_null(),
        What::WrongType { expected: Expected::Boolean } => {
            matches!(node.as_str(), Some("true" | "false")) || fields(&["value"])
        }
        What::WrongType { .. } => fields(&["value"]),
        What::UnknownEnumValue { enumeration } => {
            let written = node.as_str().unwrap_or_default();
            let enumeration = envoy.enumeration(enumeration);
            let mut names = enumeration.into_iter().flat_map(crate::proto::schema::Enum::values);
            written.parse::<i32>().is_ok() || names.any(|value| value.name().eq_ignore_ascii_case(written))
        }
        _ => false,
    }
}

/// Whether a value is refused only because it is a template.
fn is_unrendered(node: &Node, what: &What) -> bool {
    let refused = matches!(what, What::WrongType { .. } | What::UnknownEnumValue { .. } | What::BadDuration);
    refused && node.as_str().is_some_and(|text| template_in(text).is_some())
}

impl<'a> Walker<'a> {
    fn note(&mut self, notices: &[Notice], base: &[Step], root: &'a Node, in_typed_struct: bool) {
        for notice in notices {
            budget::charge_for(4 + notice.route.len());
            let node = root.at(&notice.route);
            if let Some(node) = node.filter(|node| is_unrendered(node, &notice.what)) {
                self.value.unrendered.push(node);
                continue;
            }
            let route = base.iter().chain(&notice.route).cloned().collect();
            let notice = Notice { route, ..notice.clone() };
            self.value.notices.push(Noticed { notice, node, in_typed_struct });
        }
    }

    fn message(&mut self, place: &Place, node: &'a Node) {
        let Some(message) = place.envoy.or(place.istiod) else { return };
        match (message.well_known(), &node.value) {
            (Some(WellKnown::Any), _) => self.any(place, node),
            (None, NodeValue::Map(entries)) => self.object(place, node, entries),
            _ => {}
        }
    }

    fn object(&mut self, place: &Place, node: &'a Node, entries: &'a [Entry]) {
        let index = self.value.objects.len();
        budget::charge_for(4 + entries.len());
        let members: Vec<Member<'a>> = entries
            .iter()
            .filter(|entry| !place.is_any || entry.key != TYPE_KEY)
            .map(|entry| Member {
                entry,
                istiod: place.istiod.and_then(|message| message.field(&entry.key)),
                envoy: place.envoy.and_then(|message| message.field(&entry.key)),
            })
            .collect();
        self.value.objects.push(Object {
            istiod: place.istiod,
            envoy: place.envoy,
            name: place.envoy.or(place.istiod).map_or("", Message::full_name),
            node,
            span: place.span,
            route: self.route.clone(),
            whole: place.whole,
            in_typed_struct: place.in_typed_struct,
            unchecked: place.unchecked,
            is_off: place.is_off,
            parent: place.parent,
            members: members.clone(),
        });
        for member in members {
            let Some(field) = member.field() else { continue };
            if content(field).is_none() || member.entry.value.is_null() {
                continue;
            }
            let place = Place {
                istiod: member.istiod.and_then(content),
                envoy: member.envoy.and_then(content),
                span: member.entry.key_span,
                unchecked: place.unchecked || member.envoy.is_some_and(stops),
                parent: Some((index, field)),
                is_any: false,
                ..*place
            };
            self.route.push(Step::from(member.entry.key.as_str()));
            match field.cardinality() {
                Cardinality::Repeated => {
                    for (number, item) in member.entry.value.items().iter().enumerate() {
                        self.route.push(number.into());
                        self.message(&Place { span: item.span, whole: true, ..place }, item);
                        self.route.pop();
                    }
                }
                Cardinality::Map => {
                    for entry in member.entry.value.entries() {
                        self.route.push(Step::from(entry.key.as_str()));
                        self.message(&Place { span: entry.key_span, whole: true, ..place }, &entry.value);
                        self.route.pop();
                    }
                }
                _ => self.message(&place, &member.entry.value),
            }
            self.route.pop();
        }
    }

    fn any(&mut self, place: &Place, node: &'a Node) {
        let NodeValue::Map(entries) = &node.value else { return };
        let Some((owner, field)) = place.parent else { return };
        let url = node.entry(TYPE_KEY).and_then(|entry| self.type_url(&entry.value, place.in_typed_struct));
        let typed_struct = url.is_some_and(|url| is_typed_struct(url.name()));
        let inner = node.entry("type_url").or_else(|| node.entry("typeUrl")).filter(|_| typed_struct);
        let inner = inner.and_then(|entry| self.type_url(&entry.value, true));
        let is_off = place.is_off || self.value.objects.get(owner).is_some_and(Object::is_switched_off);
        let (at, first) = (self.value.slots.len(), self.value.objects.len());
        self.value.slots.push(Slot {
            node,
            span: place.span,
            owner,
            field,
            route: self.route.clone(),
            url,
            typed_struct,
            inner,
            in_typed_struct: place.in_typed_struct,
            is_off,
            objects: first..first,
        });
        if let Some(url) = url {
            self.any_content(&Place { is_off, ..*place }, node, entries, url, inner);
        }
        self.value.slots[at].objects.end = self.value.objects.len();
    }

    /// What an `Any` holds.
    fn any_content(
        &mut self,
        place: &Place,
        node: &'a Node,
        entries: &'a [Entry],
        url: TypeUrl<'a>,
        inner: Option<TypeUrl<'a>>,
    ) {
        let type_span = node.entry(TYPE_KEY).map_or(place.span, |entry| entry.key_span);
        // An `Any` is validated when it is unpacked.
        let place = Place {
            istiod: url.istiod,
            envoy: url.envoy,
            span: type_span,
            unchecked: place.is_off,
            is_any: true,
            ..*place
        };
        if !is_typed_struct(url.name()) {
            if place.envoy.or(place.istiod).is_some_and(|message| message.well_known().is_none()) {
                self.object(&place, node, entries);
            }
            return;
        }
        let Some(inner) = inner else { return };
        let Some(message) = inner.envoy else { return };
        let mut route = self.route.clone();
        route.push(Step::from("value"));
        let place = Place {
            istiod: None,
            envoy: Some(message),
            span: inner.span,
            in_typed_struct: true,
            is_any: false,
            ..place
        };
        let Some(content) = node.entry("value") else {
            // For the proxy, nothing is an empty message.
            let outer = std::mem::replace(&mut self.route, route);
            self.object(&place, node, &[]);
            self.route = outer;
            return;
        };
        let mut decoded = decode::decode(message.schema(), message, json::from_node(&content.value, Origin::ISTIOD));
        decoded.notices.retain(|notice| !read_by_envoy(message.schema(), notice, &content.value));
        // The reader of an outer TypedStruct does not enter this one: its content is a structure without types there.
        self.note(&decoded.notices, &route, &content.value, true);
        let outer = std::mem::replace(&mut self.route, route);
        self.message(&place, &content.value);
        self.route = outer;
    }

    fn type_url(&self, node: &'a Node, in_typed_struct: bool) -> Option<TypeUrl<'a>> {
        let text = node.as_str()?;
        let name = type_name(text);
        Some(TypeUrl {
            text,
            span: node.span,
            istiod: if in_typed_struct { None } else { self.istiod.message(name) },
            envoy: self.envoy.and_then(|envoy| envoy.message(name)),
        })
    }
}

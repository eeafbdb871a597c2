//! Random EnvoyFilters and messages, drawn from the descriptors and from the names of the recorded dumps.

use kubectl_envoyfilter::model::envoy_filter::{ApplyTo, Operation, PatchContext};
use kubectl_envoyfilter::proto::schema::{Cardinality, Enum, Field, Kind, Message, Schema, WellKnown};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;

/// Random decisions, read from proptest's bytes: fewer or smaller bytes give simpler values, so that it can shrink.
pub(crate) struct Choices<'b> {
    bytes: std::slice::Iter<'b, u8>,
}

impl<'b> Choices<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Choices<'b> {
        Choices { bytes: bytes.iter() }
    }

    fn byte(&mut self) -> u8 {
        self.bytes.next().copied().unwrap_or(0)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        let number = usize::from(self.byte()) << 8 | usize::from(self.byte());
        number * limit / 65_536
    }

    /// One in so many.
    pub(crate) fn rarely(&mut self, one_in: usize) -> bool {
        one_in > 0 && self.below(one_in) == one_in - 1
    }

    pub(crate) fn pick<'t, T: ?Sized>(&mut self, from: &[&'t T]) -> &'t T {
        from[self.below(from.len())]
    }
}

/// How wild a value may be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wildness {
    /// Only canonical proto JSON, without types that have their own JSON form.
    Plain,
    /// Only canonical proto JSON.
    Canonical,
    /// Unknown types, wrong types, unknown fields, `null`, either spelling of a name.
    Wild,
}

/// Types that filters actually put into an `Any`.
const TYPES: &[&str] = &[
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
    "envoy.extensions.filters.http.lua.v3.Lua",
    "envoy.extensions.filters.http.router.v3.Router",
    "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
    "envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit",
    "envoy.extensions.filters.http.buffer.v3.Buffer",
    "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
    "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
    "envoy.extensions.access_loggers.file.v3.FileAccessLog",
    "udpa.type.v1.TypedStruct",
    "xds.type.v3.TypedStruct",
    "google.protobuf.Struct",
    "google.protobuf.Duration",
    "google.protobuf.StringValue",
    "google.protobuf.Empty",
    "google.protobuf.Any",
];

/// Generates values.
pub(crate) struct Values<'c, 'b> {
    pub(crate) schema: Schema,
    pub(crate) choices: &'c mut Choices<'b>,
    pub(crate) wildness: Wildness,
}

impl Values<'_, '_> {
    fn wild(&self) -> bool {
        self.wildness == Wildness::Wild
    }

    /// A message in JSON.
    pub(crate) fn message(&mut self, message: Message, depth: usize) -> Json {
        if self.wild() && self.choices.rarely(24) {
            return self.nonsense();
        }
        match message.well_known() {
            Some(known) => self.well_known(known, depth),
            None => Json::Object(self.fields(message, depth)),
        }
    }

    fn fields(&mut self, message: Message, depth: usize) -> Map<String, Json> {
        let mut out = Map::new();
        let count = message.fields().len();
        if count == 0 || depth == 0 {
            return out;
        }
        let mut oneofs = BTreeSet::new();
        for _ in 0..=self.choices.below(4) {
            let Some(field) = message.fields().nth(self.choices.below(count)) else { continue };
            if !self.fits(field) || (!self.wild() && field.oneof().is_some_and(|oneof| !oneofs.insert(oneof))) {
                continue;
            }
            let name = if self.wild() && self.choices.rarely(2) { field.json_name() } else { field.name() };
            if let Some(value) = self.field(field, depth - 1) {
                out.insert(name.to_owned(), value);
            }
        }
        if self.wild() && self.choices.rarely(16) {
            out.insert("no_such_field".to_owned(), self.nonsense());
        }
        out
    }

    /// Whether this field may be used at this wildness.
    fn fits(&self, field: Field) -> bool {
        let kind = match field.map_entry() {
            Some(_) if self.wildness == Wildness::Plain => return false,
            Some((_, value)) => value,
            None => field.kind(),
        };
        match kind {
            Kind::Message(message) => self.wildness != Wildness::Plain || message.well_known().is_none(),
            _ => true,
        }
    }

    fn field(&mut self, field: Field, depth: usize) -> Option<Json> {
        if self.wild() && self.choices.rarely(24) {
            return Some(self.nonsense());
        }
        Some(match field.cardinality() {
            Cardinality::Repeated => {
                let count = self.choices.below(3) + usize::from(!self.wild());
                Json::Array((0..count).map(|_| self.kind(field.kind(), depth)).collect())
            }
            Cardinality::Map => {
                let (key, value) = field.map_entry()?;
                let mut map = Map::new();
                for _ in 0..=self.choices.below(2) {
                    let key = match key {
                        Kind::String => self.choices.pick(&["a", "b", "envoy.filters.http.router"]).to_owned(),
                        Kind::Bool => "true".to_owned(),
                        _ => (self.choices.below(3) + 1).to_string(),
                    };
                    map.insert(key, self.kind(value, depth));
                }
                Json::Object(map)
            }
            _ => self.kind(field.kind(), depth),
        })
    }

    fn kind(&mut self, kind: Kind, depth: usize) -> Json {
        match kind {
            Kind::Message(message) => self.message(message, depth),
            Kind::Enum(enumeration) => self.enumeration(enumeration),
            Kind::Bool => json!(self.choices.rarely(2)),
            Kind::String => json!(self.choices.pick(&["", "a", "b\"\\\n", "é€😀", "30s", "{{ x }}"])),
            Kind::Bytes => json!(self.choices.pick(&["", "AQI=", "/+8=", "aGVsbG8="])),
            Kind::Double | Kind::Float => match self.choices.below(5) {
                0 => json!(0.5),
                1 => json!(-1.25),
                2 => json!(1e10),
                3 => json!(0),
                _ => json!(3),
            },
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => {
                json!(self.choices.pick(&["0", "7", "-9", "9223372036854775807", "-9223372036854775808"]))
            }
            Kind::Uint64 | Kind::Fixed64 => json!(self.choices.pick(&["0", "7", "18446744073709551615"])),
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => json!([0, 1, -5, i32::MAX, i32::MIN][self.choices.below(5)]),
            Kind::Uint32 | Kind::Fixed32 => json!([0, 1, 8080, u32::MAX][self.choices.below(4)]),
        }
    }

    fn enumeration(&mut self, enumeration: Enum) -> Json {
        let count = enumeration.values().len();
        let value = enumeration.values().nth(self.choices.below(count));
        match value {
            Some(value) if self.wild() && self.choices.rarely(3) => json!(value.number()),
            Some(value) => json!(value.name()),
            None => json!(0),
        }
    }

    fn well_known(&mut self, known: WellKnown, depth: usize) -> Json {
        match known {
            WellKnown::Any => self.any(depth),
            WellKnown::Duration => json!(self.choices.pick(&["0s", "1s", "0.500s", "-3s", "1.000000001s"])),
            WellKnown::Timestamp => json!("2026-01-31T12:00:00Z"),
            WellKnown::Struct => json!({ "a": self.struct_value(2), "b": self.struct_value(2) }),
            WellKnown::Value => self.struct_value(2),
            WellKnown::ListValue => json!([self.struct_value(1), self.struct_value(1)]),
            WellKnown::FieldMask => json!("a,b"),
            WellKnown::Empty => json!({}),
            WellKnown::Wrapper(kind) => self.kind(kind, depth),
        }
    }

    fn struct_value(&mut self, depth: usize) -> Json {
        match self.choices.below(if depth == 0 { 4 } else { 6 }) {
            0 => json!("text"),
            1 => json!(1.5),
            2 => json!(true),
            3 => Json::Null,
            4 => json!([self.struct_value(depth - 1)]),
            _ => json!({ "k": self.struct_value(depth - 1) }),
        }
    }

    /// An `Any` of a type that filters use, of any type at all, or of none.
    pub(crate) fn any(&mut self, depth: usize) -> Json {
        let known = self.choices.pick(TYPES);
        let name = if self.wild() && self.choices.rarely(8) {
            let count = self.schema.messages().count();
            self.schema.messages().nth(self.choices.below(count)).map_or("no.such.Type", Message::full_name)
        } else if self.wild() && self.choices.rarely(12) {
            "no.such.Type"
        } else {
            known
        };
        let mut out = Map::new();
        if !self.wild() || !self.choices.rarely(16) {
            out.insert("@type".to_owned(), json!(format!("type.googleapis.com/{name}")));
        }
        if let Some(message) = self.schema.message(name) {
            match message.well_known() {
                Some(known) if depth > 0 => drop(out.insert("value".to_owned(), self.well_known(known, depth - 1))),
                Some(known) => drop(out.insert("value".to_owned(), self.well_known_leaf(known))),
                None => out.extend(self.fields(message, depth.saturating_sub(1))),
            }
        }
        Json::Object(out)
    }

    /// A value without nesting.
    fn well_known_leaf(&mut self, known: WellKnown) -> Json {
        match known {
            WellKnown::Any => json!({ "@type": "type.googleapis.com/google.protobuf.Empty", "value": {} }),
            other => self.well_known(other, 0),
        }
    }

    fn nonsense(&mut self) -> Json {
        match self.choices.below(9) {
            0 => Json::Null,
            1 => json!(""),
            2 => json!(-1),
            3 => json!([]),
            4 => json!({}),
            5 => json!([[{"name": null}], "x", 3]),
            6 => json!({"@type": "type.googleapis.com/envoy.config.core.v3.Node", "id": 7}),
            7 => json!(1e300),
            _ => json!("nonsense"),
        }
    }
}

/// Names that matches can refer to: the texts and ports of a recorded configuration.
pub(crate) struct Names {
    texts: Vec<String>,
    ports: Vec<u64>,
}

impl Names {
    /// Every `name` and domain of a dump, and every port.
    pub(crate) fn of(dump: &str) -> Names {
        fn collect(value: &Json, texts: &mut BTreeSet<String>, ports: &mut BTreeSet<u64>) {
            match value {
                Json::Array(items) => items.iter().for_each(|item| collect(item, texts, ports)),
                Json::Object(entries) => {
                    for (key, value) in entries {
                        match value {
                            Json::String(text) if matches!(key.as_str(), "name" | "host" | "route_config_name") => {
                                texts.insert(text.clone());
                            }
                            Json::Array(items) if matches!(key.as_str(), "domains" | "server_names") => {
                                texts.extend(items.iter().filter_map(Json::as_str).map(str::to_owned));
                            }
                            Json::Number(number) if matches!(key.as_str(), "port_value" | "destination_port") => {
                                ports.extend(number.as_u64());
                            }
                            _ => {}
                        }
                        collect(value, texts, ports);
                    }
                }
                _ => {}
            }
        }
        let (mut texts, mut ports) = (BTreeSet::new(), BTreeSet::new());
        collect(&serde_json::from_str(dump).unwrap(), &mut texts, &mut ports);
        Names { texts: texts.into_iter().collect(), ports: ports.into_iter().collect() }
    }

    fn text(&self, choices: &mut Choices<'_>) -> String {
        match choices.below(4) {
            0 => "envoy.filters.network.http_connection_manager".to_owned(),
            1 => "envoy.filters.http.router".to_owned(),
            _ => self.texts[choices.below(self.texts.len())].clone(),
        }
    }

    fn port(&self, choices: &mut Choices<'_>) -> u64 {
        self.ports[choices.below(self.ports.len())]
    }
}

/// A whole EnvoyFilter, as JSON.
pub(crate) fn filter(choices: &mut Choices<'_>, schema: Schema, names: &Names, number: usize) -> Json {
    let patches: Vec<Json> = (0..=choices.below(3)).map(|_| patch(choices, schema, names)).collect();
    let priority = [0, 0, -1, 10][choices.below(4)];
    let mut spec = json!({ "configPatches": patches, "priority": priority });
    if choices.rarely(4) {
        let labels = match choices.pick(&["cart", "ledger", ""]) {
            "" => json!({ "version": "v1" }),
            app => json!({ "app": app }),
        };
        spec["workloadSelector"] = json!({ "labels": labels });
    }
    if choices.rarely(3) {
        let name = choices.pick(&["waypoint", "front", "other"]);
        spec["targetRefs"] = json!([{ "group": "gateway.networking.k8s.io", "kind": "Gateway", "name": name }]);
    }
    let namespace = choices.pick(&["istio-system", "shop", "pay", "web"]);
    json!({
        "apiVersion": "networking.istio.io/v1alpha3",
        "kind": "EnvoyFilter",
        "metadata": { "name": format!("filter-{number}"), "namespace": namespace },
        "spec": spec,
    })
}

fn patch(choices: &mut Choices<'_>, schema: Schema, names: &Names) -> Json {
    // The first of each means "not given", which is enough occasionally.
    let some =
        |choices: &mut Choices<'_>, count: usize| if choices.rarely(40) { 0 } else { 1 + choices.below(count - 1) };
    let apply_to = ApplyTo::ALL[some(choices, ApplyTo::ALL.len())];
    let operation = Operation::ALL[some(choices, Operation::ALL.len())];
    let mut out = json!({ "applyTo": apply_to.name(), "patch": { "operation": operation.name() } });
    let mut condition = object_match(choices, names, apply_to);
    if !choices.rarely(3) {
        condition["context"] = json!(PatchContext::ALL[choices.below(4)].name());
    }
    if choices.rarely(12) {
        condition["proxy"] = json!({ "proxyVersion": choices.pick(&["^1\\.3", "(", ".*"]) });
    }
    if condition.as_object().is_some_and(|condition| !condition.is_empty()) {
        out["match"] = condition;
    }
    if let (Some(message), false) = (apply_to.message().and_then(|name| schema.message(name)), choices.rarely(10)) {
        let name = names.text(choices);
        let mut values = Values { schema, choices, wildness: Wildness::Wild };
        let mut value = values.message(message, 5);
        if let (Some(value), false) = (value.as_object_mut(), values.choices.rarely(6)) {
            if message.field("typed_config").is_some() {
                value.insert("typed_config".to_owned(), values.any(3));
            }
            if message.field("name").is_some() {
                value.insert("name".to_owned(), json!(name));
            }
        }
        out["patch"]["value"] = value;
    }
    out
}

fn object_match(choices: &mut Choices<'_>, names: &Names, apply_to: ApplyTo) -> Json {
    let mut sometimes = |object: &mut Json, key: &str, value: &dyn Fn(&mut Choices<'_>) -> Json| {
        if choices.rarely(3) {
            object[key] = value(choices);
        }
    };
    let text = |choices: &mut Choices<'_>| json!(names.text(choices));
    let port = |choices: &mut Choices<'_>| json!(names.port(choices));
    let mut object = json!({});
    let mut inner = json!({});
    let which = match apply_to {
        ApplyTo::Cluster => {
            sometimes(&mut object, "service", &text);
            sometimes(&mut object, "subset", &|choices| json!(choices.pick(&["v1", "v2"])));
            sometimes(&mut object, "name", &text);
            sometimes(&mut object, "portNumber", &port);
            "cluster"
        }
        ApplyTo::RouteConfiguration | ApplyTo::VirtualHost | ApplyTo::HttpRoute => {
            sometimes(&mut inner, "name", &text);
            sometimes(&mut inner, "domainName", &text);
            sometimes(
                &mut inner,
                "route",
                &|choices| json!({ "name": names.text(choices), "action": choices.pick(&["ANY", "ROUTE", "REDIRECT"]) }),
            );
            sometimes(&mut object, "vhost", &|_| inner.clone());
            sometimes(&mut object, "name", &text);
            sometimes(&mut object, "portNumber", &port);
            sometimes(&mut object, "gateway", &|_| json!("istio-system/edge"));
            "routeConfiguration"
        }
        _ => {
            let mut network_filter = json!({});
            sometimes(&mut network_filter, "name", &|_| json!("envoy.filters.network.http_connection_manager"));
            sometimes(&mut network_filter, "subFilter", &|choices| json!({ "name": names.text(choices) }));
            sometimes(&mut inner, "filter", &|_| network_filter.clone());
            sometimes(&mut inner, "name", &text);
            sometimes(&mut inner, "sni", &text);
            sometimes(&mut inner, "transportProtocol", &|_| json!("tls"));
            sometimes(&mut inner, "applicationProtocols", &|_| json!("istio,h2"));
            sometimes(&mut inner, "destinationPort", &port);
            sometimes(&mut object, "filterChain", &|_| inner.clone());
            sometimes(&mut object, "name", &text);
            sometimes(&mut object, "portNumber", &port);
            sometimes(&mut object, "listenerFilter", &text);
            "listener"
        }
    };
    if object.as_object().is_some_and(Map::is_empty) { json!({}) } else { json!({ which: object }) }
}

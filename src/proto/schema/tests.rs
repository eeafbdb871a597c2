//! Cross-checks of the tables against prost-reflect, which reads the same descriptors independently.

use std::collections::BTreeSet;

use prost_reflect::{
    DescriptorPool, DynamicMessage, EnumDescriptor, FieldDescriptor, Kind as Other, MessageDescriptor, ReflectMessage,
    prost::Message as _,
    prost_types::{EnumValueOptions, FieldDescriptorProto, FieldOptions, MessageOptions},
};

use super::{Cardinality, Enum, Field, Kind, Message, Schema, WellKnown, store};

/// Every file of a set, linked.
fn full_pool(schema: Schema) -> DescriptorPool {
    let raw = zstd::stream::decode_all(store::STORE).unwrap();
    let mut pool = DescriptorPool::new();
    for file in store::files(&raw, schema.name()).unwrap() {
        pool.decode_file_descriptor_proto(file).unwrap();
    }
    pool
}

fn check(schema: Schema) {
    let pool = full_pool(schema);
    let ours: BTreeSet<&str> = schema.messages().map(Message::full_name).collect();
    let messages: Vec<_> = pool.all_messages().filter(|message| !message.is_map_entry()).collect();
    assert_eq!(ours, messages.iter().map(MessageDescriptor::full_name).collect());
    let ours: BTreeSet<&str> = schema.enumerations().map(Enum::full_name).collect();
    let enums: Vec<_> = pool.all_enums().collect();
    assert_eq!(ours, enums.iter().map(EnumDescriptor::full_name).collect());

    let mut fields = 0;
    for theirs in &messages {
        let ours = schema.message(theirs.full_name()).unwrap();
        let descriptor = theirs.descriptor_proto();
        assert_eq!(ours.file(), theirs.parent_file().name());
        let options = descriptor.options.as_ref();
        assert_eq!(ours.deprecated(), options.is_some_and(MessageOptions::deprecated), "{ours:?}");
        let file_options = theirs.parent_file().options();
        let udpa = extension(&file_options, "udpa.annotations.file_status");
        let of_file = extension(&file_options, "xds.annotations.v3.file_status");
        let of_message = extension(&theirs.options(), "xds.annotations.v3.message_status");
        let wip = |status: prost_reflect::Value| part(&status, "work_in_progress")?.as_bool();
        let work_in_progress =
            [udpa, of_file, of_message].into_iter().flatten().any(|status| wip(status) == Some(true));
        assert_eq!(ours.work_in_progress(), work_in_progress, "{ours:?}");
        let versioning = extension(&theirs.options(), "udpa.annotations.versioning");
        let previous = versioning.and_then(|v| Some(part(&v, "previous_message_type")?.as_str()?.to_owned()));
        assert_eq!(ours.previous_type().map(str::to_owned), previous, "{ours:?}");
        let order: Vec<&str> = ours.fields().map(Field::name).collect();
        assert_eq!(order, descriptor.field.iter().map(FieldDescriptorProto::name).collect::<Vec<_>>(), "{ours:?}");

        let oneofs: Vec<_> = theirs.oneofs().filter(|oneof| !oneof.is_synthetic()).collect();
        assert_eq!(ours.oneofs().len(), oneofs.len(), "{ours:?}");
        for (ours, theirs) in ours.oneofs().zip(&oneofs) {
            assert_eq!(ours.name(), theirs.name());
            assert_eq!(ours.required(), extension_is_true(&theirs.options(), "validate.required"), "{theirs:?}");
        }
        for theirs in theirs.fields() {
            let ours = ours.field(theirs.name()).unwrap();
            check_field(ours, &theirs);
            fields += 1;
        }
        for (index, theirs) in oneofs.into_iter().enumerate() {
            let is_member = |field: &Field| field.oneof().is_some_and(|oneof| oneof as usize == index);
            let members: BTreeSet<&str> = ours.fields().filter(is_member).map(Field::name).collect();
            let names: Vec<_> = theirs.fields().map(|field| field.name().to_owned()).collect();
            assert_eq!(members, names.iter().map(String::as_str).collect(), "{theirs:?}");
        }
    }
    assert!(fields > 4000, "{}: only {fields} fields", schema.name());
    for theirs in enums {
        let ours = schema.enumeration(theirs.full_name()).unwrap();
        let descriptor = theirs.enum_descriptor_proto();
        assert_eq!(ours.values().len(), descriptor.value.len());
        for (ours, theirs) in ours.values().zip(&descriptor.value) {
            assert_eq!((ours.name(), ours.number()), (theirs.name(), theirs.number()));
            assert_eq!(ours.deprecated(), theirs.options.as_ref().is_some_and(EnumValueOptions::deprecated));
        }
        for theirs in theirs.values() {
            assert_eq!(ours.by_name(theirs.name()), Some(theirs.number()));
            let disallowed = extension_is_true(&theirs.options(), "envoy.annotations.disallowed_by_default_enum");
            let found = ours.values().find(|value| value.name() == theirs.name()).unwrap();
            assert_eq!(found.disallowed_by_default(), disallowed);
        }
    }
}

fn check_field(ours: Field, theirs: &FieldDescriptor) {
    let context = theirs.full_name();
    assert_eq!((ours.json_name(), ours.number()), (theirs.json_name(), theirs.number()), "{context}");
    let message = ours.schema.message(theirs.parent_message().full_name()).unwrap();
    assert_eq!(message.field(theirs.json_name()), Some(ours), "{context}");
    assert_eq!(message.field_by_number(theirs.number()), Some(ours), "{context}");
    let cardinality = match () {
        () if theirs.is_map() => Cardinality::Map,
        () if theirs.is_list() => Cardinality::Repeated,
        () if theirs.supports_presence() => Cardinality::Explicit,
        () => Cardinality::Implicit,
    };
    assert_eq!(ours.cardinality(), cardinality, "{context}");
    let real = theirs.containing_oneof().is_some_and(|oneof| !oneof.is_synthetic());
    assert_eq!(ours.oneof().is_some(), real, "{context}");
    assert_eq!(describe(ours.kind()), describe_other(&theirs.kind()), "{context}");
    match (ours.map_entry(), theirs.is_map()) {
        (Some((key, value)), true) => {
            let Other::Message(entry) = theirs.kind() else { panic!("{context}") };
            assert_eq!(describe(key), describe_other(&entry.map_entry_key_field().kind()), "{context}");
            assert_eq!(describe(value), describe_other(&entry.map_entry_value_field().kind()), "{context}");
        }
        (found, map) => assert!(found.is_none() && !map, "{context}"),
    }
    let options = theirs.options();
    let is_true = |name| extension_is_true(&options, name);
    let status = extension(&options, "xds.annotations.v3.field_status");
    let wip = status.and_then(|status| part(&status, "work_in_progress")?.as_bool()) == Some(true);
    assert_eq!(ours.work_in_progress(), wip, "{context}");
    let descriptor = theirs.field_descriptor_proto();
    assert_eq!(ours.deprecated(), descriptor.options.as_ref().is_some_and(FieldOptions::deprecated), "{context}");
    assert_eq!(ours.disallowed_by_default(), is_true("envoy.annotations.disallowed_by_default"), "{context}");
    let sensitive = is_true("udpa.annotations.sensitive") || is_true("xds.annotations.v3.sensitive");
    assert_eq!(ours.sensitive(), sensitive, "{context}");
    let rules = extension(&options, "validate.rules").map(|value| value.as_message().unwrap().encode_to_vec());
    let rules = rules.unwrap_or_default();
    let rules_type = theirs.parent_pool().get_message_by_name("validate.FieldRules");
    let ours_rules =
        rules_type.map(|descriptor| DynamicMessage::decode(descriptor, ours.rules()).unwrap().encode_to_vec());
    assert_eq!(ours_rules.unwrap_or_default(), rules, "{context}");
}

fn extension(options: &DynamicMessage, name: &str) -> Option<prost_reflect::Value> {
    let extension = options.descriptor().parent_pool().get_extension_by_name(name)?;
    options.has_extension(&extension).then(|| options.get_extension(&extension).into_owned())
}

fn part(value: &prost_reflect::Value, name: &str) -> Option<prost_reflect::Value> {
    Some(value.as_message()?.get_field_by_name(name)?.into_owned())
}

fn extension_is_true(options: &DynamicMessage, name: &str) -> bool {
    extension(options, name).is_some_and(|value| value.as_bool() == Some(true))
}

fn describe(kind: Kind) -> String {
    match kind {
        Kind::Message(message) => message.full_name().to_owned(),
        Kind::Enum(found) => found.full_name().to_owned(),
        scalar => format!("{scalar:?}").to_lowercase(),
    }
}

fn describe_other(kind: &Other) -> String {
    match kind {
        Other::Message(message) => message.full_name().to_owned(),
        Other::Enum(found) => found.full_name().to_owned(),
        scalar => format!("{scalar:?}").to_lowercase(),
    }
}

#[test]
fn tables_say_what_the_descriptors_say() {
    for schema in [Schema::envoy(26).unwrap(), Schema::envoy(33).unwrap(), Schema::newest(), Schema::envoy(40).unwrap()]
    {
        check(schema);
    }
}

#[test]
fn istiod_set_is_the_newest_not_newer_than_the_patch() {
    let name = |minor, patch| Schema::istiod(minor, patch).name();
    assert_eq!(name(17, 3), "istiod-1.18.0");
    assert_eq!(name(18, 4), "istiod-1.18.0");
    assert_eq!(name(18, 5), "istiod-1.18.5");
    assert_eq!(name(18, 99), "istiod-1.18.5");
    assert_eq!(name(28, 6), "istiod-1.28.0");
    assert_eq!(name(28, 7), "istiod-1.28.7");
    assert_eq!(name(28, 12), "istiod-1.28.8");
    assert_eq!(name(31, 0), "istiod-1.31.0");
    assert_eq!(name(32, 0), "istiod-1.31.0");
    assert_eq!(Schema::newest().name(), "istiod-1.31.0");
}

#[test]
fn envoy_sets_are_1_26_to_1_40() {
    assert_eq!(Schema::envoy(26).unwrap().name(), "envoy-1.26");
    assert_eq!(Schema::envoy(40).unwrap().name(), "envoy-1.40");
    assert_eq!(Schema::envoy(25), None);
    assert_eq!(Schema::envoy(41), None);
    assert_eq!(Schema::all().count(), 34);
}

#[test]
fn istio_s_own_and_the_contrib_types_are_there() {
    for name in [
        "stats.PluginConfig",
        "io.istio.http.peer_metadata.Config",
        "istio.envoy.config.filter.http.alpn.v2alpha1.FilterConfig",
        "envoy.tcp.metadataexchange.config.MetadataExchange",
        "envoy.extensions.filters.http.golang.v3alpha.Config",
        "envoy.extensions.filters.network.mysql_proxy.v3.MySQLProxy",
        "envoy.extensions.private_key_providers.cryptomb.v3alpha.CryptoMbPrivateKeyMethodConfig",
        "udpa.type.v1.TypedStruct",
        "xds.type.v3.TypedStruct",
        "xds.type.matcher.v3.HttpAttributesCelMatchInput",
        "google.rpc.Status",
    ] {
        assert!(Schema::newest().message(name).is_some(), "{name}");
    }
    assert!(Schema::newest().message("envoy.config.route.v3.Rout").is_none());
    assert!(Schema::newest().message("").is_none());
    // v2 is not part of any set, nor are v2 packages without v2 in their name.
    assert!(Schema::istiod(18, 0).message("envoy.api.v2.Cluster").is_none());
    assert!(Schema::newest().message("envoy.type.Int64Range").is_none());
}

#[test]
fn istiod_knows_what_it_links_and_the_proxy_what_it_runs() {
    let istiod = |minor, name| Schema::istiod(minor, 0).message(name).is_some();
    let envoy = |minor, name| Schema::envoy(minor).unwrap().message(name).is_some();
    // istiod wrote these as TypedStruct until 1.28; proxies of all releases read them.
    for name in ["io.istio.http.peer_metadata.Config", "envoy.tcp.metadataexchange.config.MetadataExchange"] {
        assert!(!istiod(22, name) && !istiod(28, name) && istiod(29, name), "{name}");
        assert!(envoy(30, name) && envoy(36, name) && envoy(37, name), "{name}");
    }
    // Removed from the proxy after 1.20 (Envoy 1.28), from istiod after 1.25.
    let authn = "istio.envoy.config.filter.http.authn.v2alpha1.FilterConfig";
    assert!(istiod(22, authn) && istiod(25, authn) && !istiod(26, authn));
    assert!(envoy(28, authn) && !envoy(29, authn));
    // Part of Envoy's contrib, but not linked into istiod.
    let discovery = "istio.workload.BootstrapExtension";
    assert!(!istiod(31, discovery) && envoy(39, discovery));
}

#[test]
fn well_known_types_are_known_by_name() {
    let known = |name: &str| Schema::newest().message(&format!("google.protobuf.{name}")).unwrap().well_known();
    assert_eq!(known("Any"), Some(WellKnown::Any));
    assert_eq!(known("Duration"), Some(WellKnown::Duration));
    assert_eq!(known("Timestamp"), Some(WellKnown::Timestamp));
    assert_eq!(known("Struct"), Some(WellKnown::Struct));
    assert_eq!(known("Value"), Some(WellKnown::Value));
    assert_eq!(known("ListValue"), Some(WellKnown::ListValue));
    assert_eq!(known("FieldMask"), Some(WellKnown::FieldMask));
    assert_eq!(known("Empty"), Some(WellKnown::Empty));
    assert_eq!(known("UInt32Value"), Some(WellKnown::Wrapper(Kind::Uint32)));
    assert_eq!(known("BytesValue"), Some(WellKnown::Wrapper(Kind::Bytes)));
    assert_eq!(Schema::newest().message("envoy.config.route.v3.Route").unwrap().well_known(), None);
}

#[test]
fn a_type_that_changed_is_told_apart_by_schema() {
    let rate_limits = |minor| {
        let name = "envoy.extensions.filters.http.ratelimit.v3.RateLimitPerRoute";
        let field = Schema::envoy(minor)?.message(name)?.field("rateLimits")?;
        Some(describe(field.kind()))
    };
    assert_eq!(rate_limits(32).unwrap(), "envoy.extensions.filters.http.ratelimit.v3.RateLimitConfig");
    assert_eq!(rate_limits(33).unwrap(), "envoy.config.route.v3.RateLimit");
}

#[test]
fn marks_of_types_are_read() {
    let message = |name| Schema::envoy(40).unwrap().message(name).unwrap();
    let listener = message("envoy.config.listener.v3.Listener");
    assert_eq!(listener.previous_type(), Some("envoy.api.v2.Listener"));
    assert!(!listener.work_in_progress() && !listener.deprecated());
    let config = message("envoy.extensions.filters.http.mcp.v3.Mcp");
    assert!(config.work_in_progress());

    let field = |of, name| message(of).field(name).unwrap();
    assert!(field("envoy.extensions.filters.http.lua.v3.Lua", "inline_code").deprecated());
    assert!(!field("envoy.extensions.filters.http.lua.v3.Lua", "default_source_code").deprecated());
    assert!(field("envoy.config.route.v3.RateLimit.Action", "dynamic_metadata").disallowed_by_default());
    assert!(field("envoy.extensions.transport_sockets.tls.v3.TlsCertificate", "private_key").sensitive());
    assert_eq!(field("envoy.config.core.v3.SocketAddress", "address").rules(), [0x72, 0x02, 0x10, 0x01]);
    assert_eq!(field("envoy.config.core.v3.SocketAddress", "protocol").rules(), [0x82, 0x01, 0x02, 0x10, 0x01]);
}

/// A descriptor pool with these types and everything they refer to.
fn pool(schema: Schema, roots: &[&str]) -> DescriptorPool {
    let mut pool = DescriptorPool::new();
    for file in schema.file_descriptors(roots).unwrap() {
        pool.decode_file_descriptor_proto(file.as_slice()).unwrap();
    }
    pool
}

#[test]
fn a_pool_of_a_few_types_holds_what_they_refer_to() {
    let schema = Schema::istiod(26, 0);
    let pool = pool(schema, &["envoy.config.route.v3.RouteConfiguration", "udpa.type.v1.TypedStruct"]);
    assert!(pool.get_message_by_name("envoy.config.core.v3.HeaderValueOption").is_some());
    assert!(pool.get_message_by_name("envoy.extensions.filters.http.lua.v3.Lua").is_none());
    assert!(schema.file_descriptors(&["envoy.nonsense"]).is_err());
}

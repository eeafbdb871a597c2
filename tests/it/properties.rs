//! Properties of every filter: the engine is total and deterministic, and does not change what it does not match.

use crate::generate::{self, Choices, Names, Values, Wildness};
use crate::support::{Base, bases, canonical, dumps, filters, read_filters, testdata};
use kubectl_envoyfilter::engine::{self, MeshSettings, Options, Outcome, PatchId, Patched, Program, unapply};
use kubectl_envoyfilter::load::dump::Dump;
use kubectl_envoyfilter::model::envoy_filter::{ApplyTo, EnvoyFilter};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::model::resource::{ProxyConfig, Resource, ResourceKind, ResourceState};
use kubectl_envoyfilter::proto::merge::Merger;
use kubectl_envoyfilter::proto::schema::{Message, Schema};
use kubectl_envoyfilter::proto::tree::{Origin, Tree};
use kubectl_envoyfilter::proto::{decode, json, wire};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use prost_reflect::prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage, SerializeOptions};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::LazyLock;

static DUMPS: LazyLock<BTreeMap<String, Dump>> = LazyLock::new(|| {
    ["shop", "ambient", "gwapi"].iter().flat_map(|topology| dumps(&testdata("reference").join(topology))).collect()
});
static BASES: LazyLock<Vec<Base<'static>>> = LazyLock::new(|| bases(&DUMPS).into_values().collect());
static NAMES: LazyLock<Vec<Names>> = LazyLock::new(|| DUMPS.values().map(|dump| Names::of(&written(dump))).collect());

fn written(dump: &Dump) -> String {
    let mut out = Vec::new();
    dump.rewrite(&[]).write_to(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Bytes to draw from; at their end, the simplest choice is made.
#[derive(Clone)]
struct Bytes(Vec<u8>);

impl std::fmt::Debug for Bytes {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} bytes", self.0.len())
    }
}

fn bytes() -> impl Strategy<Value = Bytes> {
    prop::collection::vec(any::<u8>(), 0..700).prop_map(Bytes)
}

/// Some filters, with the proxy and release to use.
struct Case {
    filters: Vec<EnvoyFilter>,
    base: &'static Base<'static>,
    release: Release,
    text: String,
}

fn case(bytes: &Bytes) -> Case {
    let mut choices = Choices::new(&bytes.0);
    let release = Release::minor(22 + u16::try_from(choices.below(10)).unwrap());
    let proxy = choices.below(BASES.len());
    let schema = Schema::istiod(release.minor, 0);
    let texts: Vec<String> = (0..=choices.below(3))
        .map(|number| generate::filter(&mut choices, schema, &NAMES[proxy], number).to_string())
        .collect();
    let filters = texts.iter().flat_map(|text| read_filters("generated", text).0).flatten().collect();
    let base = &BASES[proxy];
    let text = format!("{release}, {}: {}", base.config.proxy.full_name(), texts.join("\n"));
    Case { filters, base, release, text }
}

/// A sent resource: kind, name, text.
type Sent = (ResourceKind, String, String);

/// Everything that istiod sends, sorted.
fn sent(config: &ProxyConfig<'_>, patched: &Patched<'_>) -> Vec<Sent> {
    let mut all: Vec<Sent> = Vec::new();
    for (index, one) in config.resources.iter().enumerate() {
        if !patched.resources.iter().any(|it| it.source == Some(index)) {
            all.push((one.kind, one.name.to_string(), canonical(json::parse(one.json.read()).unwrap())));
        }
    }
    let changed = patched.resources.iter().filter_map(|one| Some((one, one.tree.clone()?.into_tree())));
    all.extend(changed.map(|(one, tree)| (one.kind, one.name.clone(), canonical(tree))));
    all.sort();
    all
}

/// The same as the resources of a dump.
fn resources<'t>(config: &ProxyConfig<'t>, texts: &'t [Sent]) -> Vec<Resource<'t>> {
    let state = config.resources.first().map_or(ResourceState::Active, |one| one.state);
    let one = |(kind, name, json): &'t Sent| Resource {
        kind: *kind,
        name: name.as_str().into(),
        state,
        json: json.into(),
        last_updated: None,
        error: None,
        opened: None,
    };
    texts.iter().map(one).collect()
}

/// One text of everything that a run sends.
fn text(patched: &Patched<'_>) -> Vec<String> {
    let mut lines: Vec<String> = patched
        .resources
        .iter()
        .map(|one| {
            format!("{:?} {:?} {} {:?}", one.kind, one.source, one.name, one.tree.as_deref().map(json::canonical))
        })
        .collect();
    lines.push(format!("{:?}", patched.unknown_routes));
    lines
}

/// The order of sent resources is not part of the result for shuffled filters.
fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

/// Full names of messages that a patch value can have.
fn roots() -> impl Iterator<Item = &'static str> {
    ApplyTo::ALL.iter().filter_map(|apply_to| apply_to.message())
}

fn root(choices: &mut Choices<'_>, schema: Schema) -> Option<Message> {
    let names: Vec<&str> = roots().collect();
    schema.message(choices.pick(&names))
}

/// The newest istiod's descriptors in prost-reflect, another reader of the same JSON.
static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    let roots: Vec<&str> = Schema::newest().messages().map(Message::full_name).collect();
    let mut pool = DescriptorPool::new();
    for file in Schema::newest().file_descriptors(&roots).unwrap() {
        pool.decode_file_descriptor_proto(file.as_slice()).unwrap();
    }
    pool
});

fn dynamic(message: Message, value: &Json) -> Result<DynamicMessage, String> {
    let descriptor = POOL.get_message_by_name(message.full_name()).unwrap();
    DynamicMessage::deserialize(descriptor, value.clone()).map_err(|error| error.to_string())
}

fn dynamic_text(message: &DynamicMessage) -> String {
    let options = SerializeOptions::new().use_proto_field_name(true);
    let value = message.serialize_with_options(serde_json::value::Serializer, &options).unwrap();
    canonical(json::from_json(&value))
}

proptest! {
    #![proptest_config(ProptestConfig {
        // `.ci/run` asks for sixteen times as many, with an optimized library.
        cases: ProptestConfig::default().cases / 4,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Any readable filter, on any proxy, with any release: no panic, the same result every time, traced or not; and if
    /// every patch reports no change, nothing is sent.
    #[test]
    fn the_engine_is_total_and_says_what_it_does(bytes in bytes()) {
        let Case { filters, base, release, text: shown } = case(&bytes);
        let (mesh, options) = (MeshSettings::default(), Options::default());
        let program = Program::new(&filters, release);
        let plan = program.plan(&base.config.proxy, &mesh);
        let judged = engine::judge(&plan, &base.config, &options);
        let second = engine::judge(&plan, &base.config, &options);
        prop_assert_eq!(text(&judged.patched), text(&second.patched), "{}", shown);
        prop_assert_eq!(format!("{:?}", judged.trace), format!("{:?}", second.trace), "{}", shown);
        let untraced = engine::run(&plan, &base.config, &options, &mut ());
        prop_assert_eq!(base.after(&judged.patched), base.after(&untraced), "{}", shown);
        let outcomes: Vec<Outcome> = plan.ids().map(|id| judged.outcome(&plan, id)).collect();
        if !outcomes.iter().any(|outcome| matches!(outcome, Outcome::Applied | Outcome::Aborted)) {
            prop_assert_eq!(base.after(&judged.patched), BTreeMap::new(), "{:?} {}", outcomes, shown);
        }
    }

    /// Undoing any filters in the engine's result terminates, and for a proven result the replay equals the dump.
    #[test]
    fn undoing_is_total_and_what_is_proven_replays(bytes in bytes(), part in 0..3usize) {
        let Case { filters, base, release, text: shown } = case(&bytes);
        let (mesh, options) = (MeshSettings::default(), Options::default());
        let program = Program::new(&filters, release);
        let plan = program.plan(&base.config.proxy, &mesh);
        // All of them in effect, or all except the first or last patch.
        let off: Vec<PatchId> = match part {
            0 => Vec::new(),
            1 => plan.ids().take(1).collect(),
            _ => plan.ids().last().into_iter().collect(),
        };
        let patched = engine::run(&plan.without(&off), &base.config, &options, &mut ());
        let texts = sent(&base.config, &patched);
        let live = ProxyConfig { resources: resources(&base.config, &texts).into(), ..base.config.clone() };
        let found = engine::unapply(&plan, &live, &options);
        let before = unapply::without(&live, &found.texts);
        if found.proven() {
            let second = plan.without(&found.absent);
            let replay = engine::run(&second, &before, &options, &mut ());
            let mut now = sent(&before, &replay);
            // No dump shows what istiod generates for these.
            let asked = |text: &Sent| text.0 == ResourceKind::Route && replay.unknown_routes.contains(&text.1);
            let mut want = texts.clone();
            want.retain(|text| !asked(text));
            now.retain(|text| !asked(text));
            prop_assert_eq!(now, want, "{} {:?}", shown, found.shown);
        }
    }

    /// The order of files and documents is not the order of application.
    #[test]
    fn the_order_of_input_does_not_matter(bytes in bytes(), turn in 0..6usize) {
        let Case { filters, base, release, text: shown } = case(&bytes);
        let mut turned = filters.clone();
        let length = turned.len();
        turned.rotate_left(turn % length.max(1));
        if turn % 2 == 1 {
            turned.reverse();
        }
        let (mesh, options) = (MeshSettings::default(), Options::default());
        let (one, other) = (Program::new(&filters, release), Program::new(&turned, release));
        let (one, other) = (one.plan(&base.config.proxy, &mesh), other.plan(&base.config.proxy, &mesh));
        let one = text(&engine::run(&one, &base.config, &options, &mut ()));
        let other = text(&engine::run(&other, &base.config, &options, &mut ()));
        prop_assert_eq!(sorted(one), sorted(other), "{}", shown);
    }

    /// Reading bytes of one type as another type, in any schema.
    #[test]
    fn reading_bytes_as_another_type_is_total(bytes in bytes(), set in 0..64usize) {
        let schemas: Vec<Schema> = Schema::all().collect();
        let schema = schemas[set % schemas.len()];
        let mut choices = Choices::new(&bytes.0);
        let any = Values { schema, choices: &mut choices, wildness: Wildness::Wild }.any(5);
        let count = schema.messages().count();
        let target = schema.messages().nth(choices.below(count)).unwrap();
        if let Some(tree) = wire::reinterpret(schema, &json::from_json(&any), target.full_name()) {
            json::canonical(&tree);
        }
    }

    /// What is canonical for prost-reflect stays unchanged, and the output agrees with it.
    #[test]
    fn decoding_agrees_with_prost(bytes in bytes()) {
        let schema = Schema::newest();
        let mut choices = Choices::new(&bytes.0);
        let Some(message) = root(&mut choices, schema) else { return Ok(()) };
        let value = Values { schema, choices: &mut choices, wildness: Wildness::Canonical }.message(message, 5);
        let theirs = match dynamic(message, &value) {
            Ok(theirs) => theirs,
            Err(error) => return Err(TestCaseError::fail(format!("prost: {error}: {value}"))),
        };
        let ours = decode::decode(schema, message, json::from_json(&value));
        prop_assert!(!ours.refused(), "{:?}: {value}", ours.notices);
        // Go writes an Empty inside an Any without `value`, prost-reflect with it.
        let empty = "google.protobuf.Empty\",\"value\":{}";
        let theirs = dynamic_text(&theirs).replace(empty, "google.protobuf.Empty\"");
        prop_assert_eq!(json::canonical(&ours.tree), theirs);
    }

    /// Merging plain messages equals reading their concatenated bytes.
    #[test]
    fn merging_agrees_with_wire_bytes(left in bytes(), right in bytes()) {
        let schema = Schema::newest();
        let mut choices = Choices::new(&left.0);
        let Some(message) = root(&mut choices, schema) else { return Ok(()) };
        let one = Values { schema, choices: &mut choices, wildness: Wildness::Plain }.message(message, 5);
        let mut choices = Choices::new(&right.0);
        let other = Values { schema, choices: &mut choices, wildness: Wildness::Plain }.message(message, 5);
        let mut bytes = dynamic(message, &one).unwrap().encode_to_vec();
        bytes.extend(dynamic(message, &other).unwrap().encode_to_vec());
        let theirs = DynamicMessage::decode(POOL.get_message_by_name(message.full_name()).unwrap(), &*bytes).unwrap();
        let tree = |value: &Json| decode::decode(schema, message, json::from_json(value)).tree;
        let mut ours: Tree<'_> = tree(&one);
        Merger { schema, origin: Origin(1), replace_lists: false, log: None, path: String::new() }
            .merge(message, &mut ours, &tree(&other));
        prop_assert_eq!(json::canonical(&ours), dynamic_text(&theirs));
    }
}

/// The generator is useful: its filters reach every outcome, and change listeners, clusters and routes.
#[test]
fn generated_filters_meet_every_outcome() {
    let mut runner = TestRunner::deterministic();
    let (mut outcomes, mut kinds) = (BTreeMap::new(), BTreeMap::new());
    for _ in 0..400 {
        let Case { filters, base, release, .. } = case(&bytes().new_tree(&mut runner).unwrap().current());
        let (mesh, options) = (MeshSettings::default(), Options::default());
        let program = Program::new(&filters, release);
        let plan = program.plan(&base.config.proxy, &mesh);
        let judged = engine::judge(&plan, &base.config, &options);
        for id in plan.ids() {
            *outcomes.entry(judged.outcome(&plan, id)).or_insert(0) += 1;
        }
        for one in &judged.patched.resources {
            *kinds.entry(one.kind).or_insert(0) += 1;
        }
    }
    assert_eq!((outcomes.len(), kinds.len()), (6, 3), "{outcomes:?} {kinds:?}");
}

/// Matches that name nothing of the proxy do not change a byte of the dump.
#[test]
fn no_match_changes_nothing() {
    let nothing = [
        r#"{"applyTo":"HTTP_FILTER","match":{"listener":{"filterChain":{"filter":{"name":"none","subFilter":{"name":"x"}}}}},"patch":{"operation":"INSERT_BEFORE","value":{"name":"a"}}}"#,
        r#"{"applyTo":"NETWORK_FILTER","match":{"listener":{"filterChain":{"filter":{"name":"none"}}}},"patch":{"operation":"REMOVE"}}"#,
        r#"{"applyTo":"LISTENER","match":{"listener":{"name":"none"}},"patch":{"operation":"MERGE","value":{"stat_prefix":"a"}}}"#,
        r#"{"applyTo":"FILTER_CHAIN","match":{"listener":{"filterChain":{"sni":"none"}}},"patch":{"operation":"REMOVE"}}"#,
        r#"{"applyTo":"LISTENER_FILTER","match":{"listener":{"listenerFilter":"none"}},"patch":{"operation":"REMOVE"}}"#,
        r#"{"applyTo":"CLUSTER","match":{"cluster":{"name":"none"}},"patch":{"operation":"REMOVE"}}"#,
        r#"{"applyTo":"ROUTE_CONFIGURATION","match":{"routeConfiguration":{"name":"none"}},"patch":{"operation":"MERGE","value":{"name":"a"}}}"#,
        r#"{"applyTo":"VIRTUAL_HOST","match":{"routeConfiguration":{"vhost":{"name":"none"}}},"patch":{"operation":"REMOVE"}}"#,
        r#"{"applyTo":"HTTP_ROUTE","match":{"routeConfiguration":{"vhost":{"route":{"name":"none"}}}},"patch":{"operation":"REMOVE"}}"#,
        r#"{"applyTo":"EXTENSION_CONFIG","patch":{"operation":"ADD","value":{"name":"none"}}}"#,
    ];
    let head = r#"{"apiVersion":"networking.istio.io/v1alpha3","kind":"EnvoyFilter","metadata":{"name":"a","namespace":"istio-system"},"spec":{"configPatches":["#;
    let filters = filters("nothing", &format!("{head}{}]}}}}", nothing.join(",")));
    for minor in 22..=31 {
        let program = Program::new(&filters, Release::minor(minor));
        for base in &*BASES {
            let plan = program.plan(&base.config.proxy, &MeshSettings::default());
            let options = Options::default();
            let patched = engine::run(&plan, &base.config, &options, &mut engine::Trace::new(plan.patches.len()));
            assert!(patched.resources.is_empty(), "1.{minor}, {}: {:?}", base.config.proxy.name, text(&patched));
        }
    }
    for dump in DUMPS.values() {
        let recorded = ["shop", "ambient", "gwapi"]
            .iter()
            .map(|topology| testdata("reference").join(topology).join(format!("base/{}.json", dump.name())))
            .find(|path| std::path::Path::new(&format!("{}.zst", path.display())).exists())
            .unwrap();
        assert_eq!(written(dump), crate::support::text(&recorded), "{}", dump.name());
    }
}

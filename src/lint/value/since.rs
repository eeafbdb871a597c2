//! Since which release a field or a type exists, and which Envoys hold a rule.

use crate::envoy::api::istio_of;
use crate::proto::schema::Schema;

/// The sets of types of all Envoys, oldest first, each with its minor release.
fn envoys() -> impl Iterator<Item = (Schema, u16)> {
    Schema::all().filter(|schema| !schema.is_istiod()).map(|schema| (schema, minor(schema)))
}

fn minor(schema: Schema) -> u16 {
    u16::try_from(schema.release().0).unwrap_or_default()
}

/// The first minor release of istiod, or of Envoy, whose message has a field.
pub(crate) fn field(message: &str, field: &str, istiod: bool) -> Option<u16> {
    let has = |schema: &Schema| schema.message(message).is_some_and(|message| message.field(field).is_some());
    Schema::all().filter(|schema| schema.is_istiod() == istiod).find(has).map(minor)
}

/// The first minor release of Envoy with a type, if one of the known ones introduced it.
pub(crate) fn type_of_envoy(name: &str) -> Option<u16> {
    let oldest = envoys().next().map(|(_, minor)| minor);
    let first = envoys().find(|(schema, _)| schema.message(name).is_some()).map(|(_, minor)| minor);
    first.filter(|first| Some(*first) != oldest)
}

/// What to do about something that Envoys before that minor do not know.
pub(crate) fn restrict_to(envoy: u16) -> String {
    format!("restrict the patch to proxies since Istio 1.{} with `match.proxy.proxyVersion`", istio_of(envoy))
}

/// What the rules of some Envoys require although others do not: `up to Envoy 1.38 (Istio 1.30)`; `None` if all that know the
/// field agree.
pub(crate) fn only_some(refuses: impl Fn(Schema) -> Option<bool>) -> Option<String> {
    let known: Vec<(u16, bool)> = envoys().filter_map(|(schema, minor)| Some((minor, refuses(schema)?))).collect();
    let (first, last) = (known.first()?, known.last()?);
    let refusing = || known.iter().filter(|(_, refuses)| *refuses).map(|(minor, _)| *minor);
    let (from, to) = (refusing().next()?, refusing().next_back()?);
    let word = |minor: u16| format!("Envoy 1.{minor} (Istio 1.{})", istio_of(minor));
    match (from == first.0, to == last.0) {
        (true, true) => None,
        (true, false) => Some(format!("up to {}", word(to))),
        (false, true) => Some(format!("from {} on", word(from))),
        (false, false) => Some(format!("from {} to {}", word(from), word(to))),
    }
}

//! EF109: a type that this release does not know.

use crate::declare_rule;
use crate::envoy;
use crate::lint::value::{TypeUrl, short, since};
use crate::lint::{Context, Edit, Findings, RuleInfo};
use crate::proto::schema::{Message, Schema};

declare_rule! {
    /// A type that this release of istiod or the proxy does not know.
    ///
    /// # What it finds
    /// An `@type` whose message is not linked into istiod of the release, or that the proxies' Envoy does not have.
    /// Types of the v2 API have their own rule.
    ///
    /// # Why it matters
    /// istiod cannot read the value: the webhook rejects the EnvoyFilter, and one that bypasses the webhook has no
    /// effect. A proxy rejects a type that only istiod knows.
    ///
    /// # How to fix
    /// Correct the name, write its successor, or wrap the configuration in a TypedStruct if only istiod does not know
    /// the type.
    ///
    /// # References
    /// The types of Envoy 1.26 to 1.40 and istiod 1.18 to 1.31, from the modules they are built with.
    "EF109" "unknown-type" Value Error => check,
    fixes: true, by_release: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    // istiod reads the value once, and every proxy that gets it reads it with the types of its own Envoy.
    let by_istiod = cx.values().iter().map(|value| (value, false));
    for (value, only_proxy) in by_istiod.chain(cx.proxy_values().map(|value| (value, true))) {
        for slot in &value.slots {
            let Some(url) = slot.url.filter(|_| !slot.in_typed_struct) else { continue };
            let name = url.name();
            if only_proxy != url.istiod.is_some() {
                continue;
            }
            let envoy = value.envoy_minor.unwrap_or_else(|| cx.envoy_minor());
            let known = url.istiod.is_some() && url.envoy.is_some();
            if known || envoy::v3_of(name).is_some() || super::malformed_type_url::meant(cx, &url).is_some() {
                continue;
            }
            // istiod's own types and contrib types are not all in the tables of the proxy.
            if only_proxy && (value.envoy_minor.is_none() || !name.starts_with("envoy.")) {
                continue;
            }
            let who = if only_proxy { format!("Envoy 1.{envoy}") } else { format!("istiod {}", cx.release) };
            let mut finding = value
                .finding(rule, url.span, format!("{who} does not know the type `{name}`"))
                .label("unknown type")
                .ineffective_if(!only_proxy)
                .rejected_if(
                    only_proxy,
                    if only_proxy {
                        "istiod sends it, and the proxy rejects the resource that contains it"
                    } else {
                        super::bad_duration::consequence(false)
                    },
                );
            for note in releases(name) {
                finding = finding.note(note);
            }
            if !only_proxy && url.envoy.is_some() {
                finding = finding.snippet(format!(
                    "the proxy's Envoy 1.{} knows it: wrap it, so that istiod does not have to\n\"@type\": type.googleapis.com/xds.type.v3.TypedStruct\ntype_url: {}\nvalue: …",
                    envoy,
                    url.text
                ));
            } else if let Some(first) = Some(name).filter(|_| only_proxy).and_then(since::type_of_envoy) {
                finding = finding.help(since::restrict_to(first));
            } else if let Some(better) = better(cx, &url) {
                let text = format!("type.googleapis.com/{better}");
                finding = finding.help(format!("did you mean `{text}`?"));
                finding = finding.fix("write that type", false, vec![Edit { span: url.span, text }]);
            }
            out.push(finding);
        }
    }
}

/// The successor or the nearest known type.
pub(super) fn better(cx: &Context<'_>, url: &TypeUrl<'_>) -> Option<&'static str> {
    let name = url.name();
    if let Some(moved) = envoy::moved(name).filter(|moved| !moved.successor.is_empty()) {
        return Some(moved.successor);
    }
    // A type that a release had is no misspelling of another.
    if Schema::all().any(|schema| schema.message(name).is_some()) {
        return None;
    }
    let schema = cx.program.schema;
    let (whole, last) = (name.chars().count(), short(name).chars().count());
    let mut best: Option<(usize, &'static str)> = None;
    for message in schema.messages().filter(|message| !message.full_name().starts_with("google.")) {
        let candidate = message.full_name();
        // A distance is at least the difference in length, and there are thousands of types.
        if short(candidate).len().abs_diff(last) > 2 || candidate.len().abs_diff(whole) * 4 > name.len() {
            continue;
        }
        // The last part must be almost equal, or a package would be mistaken for its neighbor.
        if strsim::osa_distance(short(candidate), short(name)) > 2 {
            continue;
        }
        let distance = strsim::osa_distance(candidate, name);
        if distance * 4 <= name.len() && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate).or_else(|| only_extension(schema, name))
}

/// The only configuration of an extension in the package of a type.
fn only_extension(schema: Schema, name: &str) -> Option<&'static str> {
    let (package, _) = name.rsplit_once('.')?;
    let inside = |candidate: &str| candidate.rsplit_once('.').is_some_and(|(other, _)| other == package);
    let mut candidates = schema
        .messages()
        .map(Message::full_name)
        .filter(|candidate| inside(candidate) && !candidate.ends_with("PerRoute"))
        .filter(|candidate| envoy::extensions_of(candidate).next().is_some());
    let only = candidates.next()?;
    candidates.next().is_none().then_some(only)
}

/// The releases that know a type.
pub(super) fn releases(name: &str) -> Vec<String> {
    let mut notes = Vec::new();
    for istiod in [true, false] {
        let known: Vec<Schema> =
            Schema::all().filter(|schema| schema.is_istiod() == istiod && schema.message(name).is_some()).collect();
        let (Some(first), Some(last)) = (known.first(), known.last()) else { continue };
        let word = |schema: &Schema| format!("1.{}", schema.release().0);
        let product = if istiod { "istiod" } else { "Envoy" };
        let newest = Schema::all().filter(|schema| schema.is_istiod() == istiod).last();
        let oldest = Schema::all().find(|schema| schema.is_istiod() == istiod);
        let range = if newest.as_ref() == Some(last) {
            format!("from {product} {} on", word(first))
        } else if oldest.as_ref() == Some(first) {
            format!("up to {product} {}", word(last))
        } else {
            format!("in {product} {} to {}", word(first), word(last))
        };
        notes.push(format!("it is known {range}"));
    }
    notes
}

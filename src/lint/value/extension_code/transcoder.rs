//! What the code of the transcoder between JSON and gRPC rejects: descriptors that do not have what it needs.

use super::object::{Refusal, refusal};
use crate::lint::value::{Object, PatchValue};
use crate::proto::descriptor_set::{DescriptorSet, Unreadable};
use crate::source::Node;
use crate::source::escape::one_line;
use crate::words::few;
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use std::collections::HashSet;

/// Base64 with or without padding: whether istiod reads it is judged elsewhere.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// How to write a descriptor.
const PROTOC: &str = "write it with `protoc --include_imports --descriptor_set_out=FILE`, then `base64 -w0 FILE`";

/// Maximum number of services that the help names.
const SHOWN: usize = 4;

/// The descriptor has every service, and what these import. Without services the filter is off and does not read it.
pub(super) fn descriptor(_: &PatchValue<'_>, filter: &Object<'_>) -> Option<Refusal> {
    let services = filter.member("services").map(|member| member.entry.value.items()).unwrap_or_default();
    let written = &filter.member("proto_descriptor_bin")?.entry.value;
    if services.is_empty() {
        return None;
    }
    let text = written.as_str()?.replace('-', "+").replace('_', "/");
    let bytes = BASE64.decode(text).ok()?;
    let set = match DescriptorSet::read(&bytes) {
        Ok(set) => set,
        Err(Unreadable::Set) => {
            return Some(refusal(written.span, "`proto_descriptor_bin` is not a protobuf descriptor set", PROTOC));
        }
        Err(Unreadable::File) => return None,
    };
    if let Some((file, import)) = &set.unresolved {
        let message = format!("`{file}` in the descriptor imports `{import}`, which is not in a file before it");
        return Some(refusal(written.span, message, PROTOC));
    }
    let known: HashSet<&str> = set.services.iter().map(String::as_str).collect();
    let missing = services.iter().find(|service| service.as_str().is_some_and(|name| !known.contains(name)))?;
    Some(not_there(missing, &set.services))
}

fn not_there(service: &Node, known: &[String]) -> Refusal {
    let name = service.as_str().unwrap_or_default();
    let last = |name: &str| name.rsplit(['.', '/']).next().unwrap_or_default().to_owned();
    let bare = name.trim_start_matches(['.', '/']);
    // Without its package, with the path of a request, or with a method.
    let meant = known.iter().find(|known| {
        bare.strip_prefix(known.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '/']))
            || last(known) == last(name)
    });
    let help = match (meant, known) {
        (Some(meant), _) => format!("use its full name, `{}`", one_line(meant)),
        (None, []) => "add the file that defines it: the descriptor has no services".to_owned(),
        (None, known) => {
            let names = known.iter().map(|name| format!("`{}`", one_line(name)));
            format!("the descriptor has {}", few(names, known.len(), SHOWN))
        }
    };
    refusal(service.span, format!("the descriptor has no service `{name}`"), help)
}

//! The fully generated tables: `v2_types.tsv` and `removed_fields.tsv`.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    History,
    api::{is_own, package},
};
use crate::envoydb::{Result, is_v2};

/// The name and the text of each table.
pub(super) fn tables(history: &History) -> Result<[(&'static str, String); 2]> {
    Ok([("v2_types.tsv", v2_types(history)?), ("removed_fields.tsv", removed_fields(history))])
}

/// The v3 successor of every message of the v2 API. If two releases disagree, the later one counts.
fn v2_types(history: &History) -> Result<String> {
    let mut successors = BTreeMap::new();
    for (minor, api) in &history.envoy {
        let mut of_release = BTreeMap::new();
        // A message that names a v3 message as its predecessor is a mistake of Envoy's: that predecessor never existed.
        for (name, message) in api.messages.iter().filter(|(_, message)| is_v2(package(&message.previous))) {
            if let Some(other) = of_release.insert(message.previous.as_str(), name.as_str()) {
                return Err(format!("Envoy 1.{minor}: {other} and {name} both succeed {}", message.previous).into());
            }
        }
        successors.extend(of_release);
    }
    let (first, last) = history.minors();
    let head = format!(
        "# v2 message, its v3 successor: udpa.annotations.versioning in the protos of Envoy 1.{first} to 1.{last}. Generated"
    );
    Ok(text(head, successors.into_iter().map(|(old, new)| format!("{old}\t{new}")).collect()))
}

/// The reserved names of every message in the newest Envoy, or in the newest istiod that has the message.
fn removed_fields(history: &History) -> String {
    let mut newest = BTreeMap::new();
    for api in history.istiod.iter().chain(history.envoy.values().next_back()) {
        newest.extend(api.messages.iter().filter(|(name, _)| is_own(name)));
    }
    let lines = newest
        .into_iter()
        .flat_map(|(name, message)| message.reserved.iter().map(move |field| format!("{name}\t{field}")));
    let head = format!(
        "# message, field: reserved names in the protos of Envoy 1.{} and Istio. Generated",
        history.minors().1
    );
    text(head, lines.collect())
}

fn text(head: String, lines: BTreeSet<String>) -> String {
    [head].into_iter().chain(lines).map(|line| line + "\n").collect()
}

/// The lines that only one of the two has.
pub(super) fn differences(generated: &str, committed: &str) -> Vec<String> {
    let (new, old): (BTreeSet<&str>, BTreeSet<&str>) = (generated.lines().collect(), committed.lines().collect());
    let mut all: Vec<String> = new.difference(&old).map(|line| format!("missing: {line}")).collect();
    all.extend(old.difference(&new).map(|line| format!("not generated: {line}")));
    if all.is_empty() && generated != committed {
        all.push("other order of lines".to_owned());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{
        super::api::{MessageProto, build},
        *,
    };

    fn history(envoy: [Vec<MessageProto>; 2], istiod: Vec<Vec<MessageProto>>) -> History {
        let api = |messages| build::api("envoy.v3", messages);
        let [old, new] = envoy.map(api);
        History { envoy: [(26, old), (27, new)].into(), istiod: istiod.into_iter().map(api).collect() }
    }

    #[test]
    fn the_later_successor_counts_and_v3_predecessors_do_not() {
        let old = vec![build::successor("Old", "envoy.api.v2.A"), build::successor("Gone", "envoy.type.B")];
        let new = vec![build::successor("New", "envoy.api.v2.A"), build::successor("Slip", "envoy.config.v3.A")];
        assert_eq!(
            v2_types(&history([old, new], Vec::new())).unwrap(),
            "# v2 message, its v3 successor: udpa.annotations.versioning in the protos of Envoy 1.26 to 1.27. Generated\n\
             envoy.api.v2.A\tenvoy.v3.New\nenvoy.type.B\tenvoy.v3.Gone\n"
        );
    }

    #[test]
    fn two_successors_in_a_release_are_refused() {
        let both = vec![build::successor("A", "envoy.api.v2.A"), build::successor("B", "envoy.api.v2.A")];
        let error = v2_types(&history([Vec::new(), both], Vec::new())).unwrap_err();
        assert_eq!(error.to_string(), "Envoy 1.27: envoy.v3.A and envoy.v3.B both succeed envoy.api.v2.A");
    }

    #[test]
    fn reserved_names_are_those_of_the_newest_release_with_the_message() {
        let reserved = |name: &str, fields: &[&str]| MessageProto {
            reserved: fields.iter().map(|&field| field.to_owned()).collect(),
            ..build::message(name, &[])
        };
        let envoy = [vec![reserved("M", &["back_again"])], vec![reserved("M", &["b", "a"])]];
        let istiod = vec![
            vec![reserved("M", &["back_again"]), reserved("Own", &["x"]), reserved("Left", &["z"])],
            vec![reserved("Own", &["y"])],
        ];
        assert_eq!(
            removed_fields(&history(envoy, istiod)),
            "# message, field: reserved names in the protos of Envoy 1.27 and Istio. Generated\n\
             envoy.v3.Left\tz\nenvoy.v3.M\ta\nenvoy.v3.M\tb\nenvoy.v3.Own\ty\n"
        );
    }

    #[test]
    fn differences_name_lines_and_order_counts() {
        assert_eq!(differences("#\na\nb\n", "#\nb\nc\n"), ["missing: a", "not generated: c"]);
        assert_eq!(differences("#\na\nb\n", "#\nb\na\n"), ["other order of lines"]);
        assert!(differences("#\na\n", "#\na\n").is_empty());
    }
}

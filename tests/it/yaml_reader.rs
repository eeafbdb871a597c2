//! YAML texts compared to Kubernetes' reader: the same documents, and errors for the same texts.

use crate::support::{recorded, testdata};
use kubectl_envoyfilter::load::yaml;
use kubectl_envoyfilter::source::{Severity, Sources};
use serde_json::Value as Json;

/// Texts that are read differently here; nobody writes them.
const KNOWN: &[&str] = &[
    // Half a surrogate pair in JSON: U+FFFD for Go, an error here.
    "{\"a\": \"\\ud83d\"}\n",
    // Blanks without a line break at the end of the text: Go's reader adds the break, and with `+` a line.
    "a: |+\n  x\n\n  ",
    // Only the end of a document: an error for Go, nothing here.
    "...\n",
];

#[test]
fn texts_are_read_as_kubectl_and_istiod_read_them() {
    let mut wrong = Vec::new();
    let cases = recorded(&testdata("yaml/reader.jsonl"));
    for case in &cases {
        let text = case["text"].as_str().unwrap();
        let file = Sources::default().add("text.yaml", text);
        let (documents, problems) = yaml::documents(file, text);
        let errors: Vec<_> = problems.iter().filter(|problem| problem.severity == Severity::Error).collect();
        // kubectl silently drops text after `...`, which is an error here.
        let dropped = errors.iter().any(|problem| problem.message.contains("the document ends above"));
        let refused = case.get("error").is_some();
        if KNOWN.contains(&text) {
            continue;
        }
        if refused == errors.is_empty() && !dropped {
            wrong.push(format!("{text:?}: {:?}, here {errors:?}", case["error"]));
        }
        let documents: Vec<Json> = documents.iter().map(kubectl_envoyfilter::source::Node::to_json).collect();
        if !refused && *case["documents"].as_array().unwrap() != documents {
            wrong.push(format!("{text:?}: {}, here {documents:?}", case["documents"]));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

//! Why a rule is not in the policy.

/// Reasons by code, the most exact beginning first; the empty one is never needed.
const REASONS: &[(&str, &str)] = &[
    ("EF006", DROPPED),
    ("EF007", DROPPED),
    ("EF008", DROPPED),
    ("EF009", DROPPED),
    ("EF010", "an object of another apiVersion or kind is no EnvoyFilter for the API server"),
    ("EF011", "the API server refuses such names itself"),
    ("EF012", CRD),
    ("EF013", "the API server drops keys without a value before a policy sees the object"),
    ("EF014", CRD),
    ("EF015", CRD),
    ("EF018", "the API server holds one object of a name"),
    (
        "EF025",
        "in CEL a regular expression that does not compile is an error, not an answer; istiod's own webhook refuses it",
    ),
    ("EF029", CRD),
    ("EF030", CRD),
    ("EF00", "it is about the text of a file, which the API server does not have"),
    ("EF125", "CEL cannot parse Lua"),
    ("EF126", "CEL cannot parse Lua"),
    ("EF133", "it asks a real Envoy"),
    ("EF1", "it takes Envoy's types, release by release, at any depth of the value; CEL has no recursion"),
    ("EF203", "this release does not read targetRefs"),
    ("EF205", "targetRefs are read from Istio 1.27 on; the policy is made for one release"),
    ("EF207", "it takes the kinds of the selected proxies"),
    ("EF2", "it takes the workloads that a selector meets, or the configuration of their proxies"),
    ("EF303", "it is about istiod before 1.27; --istio-version 1.26 makes a policy for that"),
    ("EF3", "it takes the configuration of proxies: what a patch meets there, and what it does to it"),
    ("EF4", "it takes the other EnvoyFilters; a policy sees one object"),
    ("EF502", "lint only informs of it, and a policy can refuse or warn"),
    ("EF504", "it takes the listeners of proxies"),
    ("EF505", "it takes the Services of the mesh"),
    ("EF5", "it takes a look at every depth of the value, and at proxies; CEL has no recursion"),
    ("EF6", "it compares two releases"),
    ("EF7", "lint only informs of what other APIs of Istio can do, and a policy can refuse or warn"),
    ("EF8", "it takes what running proxies hold"),
    ("EF9", "it is about suppressions and the configuration of lint"),
];

const DROPPED: &str =
    "the API server drops fields it does not know before a policy sees the object; kubectl warns of them";
const CRD: &str = "the CustomResourceDefinition refuses it already";

/// Why CEL cannot express a rule.
pub fn reason(code: &str) -> Option<&'static str> {
    REASONS.iter().find(|(beginning, _)| code.starts_with(beginning)).map(|(_, reason)| *reason)
}

//! ValidatingAdmissionPolicies: the rules that the API server can check without a webhook.

mod expressed;

use super::{ADMISSION_LABEL, INSTANCE, MANAGED_BY, PROGRAM};
use crate::cluster::kinds::ENVOY_FILTER;
use crate::model::release::Release;
use crate::rules;
use crate::source::Severity;
use serde_json::{Value, json};

pub use expressed::{Expressed, expressed};

/// Settings of the policies.
#[derive(Clone, Copy, Debug)]
pub struct Policy<'p> {
    /// Name of the installation.
    pub name: &'p str,
    /// Release of the control plane.
    pub release: Release,
    /// Root namespace of the mesh.
    pub root_namespace: &'p str,
    /// Action for errors in namespaces without a label: `Deny`, `Warn` or `Audit`.
    pub action: &'p str,
    /// What the API server does when an expression cannot be evaluated: `Ignore` or `Fail`.
    pub failure_policy: &'p str,
}

/// Number of patches that a message can name.
const NAMED: usize = 32;

/// The policies with their bindings: one for errors, one for warnings.
pub(crate) fn objects(policy: &Policy<'_>) -> Vec<Value> {
    let all = expressed(policy);
    let of = |severity: Severity| all.iter().filter(move |one| one.severity == severity);
    let mut objects = Vec::new();
    for (word, severity, action) in
        [("errors", Severity::Error, policy.action), ("warnings", Severity::Warning, "Warn")]
    {
        let name = format!("{}-{word}", policy.name);
        let validations: Vec<Value> = of(severity).map(validation).collect();
        let metadata = json!({
            "name": name,
            "labels": {
                "app.kubernetes.io/name": PROGRAM, INSTANCE: policy.name, "app.kubernetes.io/component": "policy",
                MANAGED_BY: PROGRAM,
            },
        });
        objects.push(json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
            "metadata": metadata,
            "spec": {
                "failurePolicy": policy.failure_policy,
                "matchConstraints": {
                    "matchPolicy": "Equivalent",
                    "resourceRules": [{
                        "apiGroups": [ENVOY_FILTER.group], "apiVersions": ENVOY_FILTER.versions,
                        "resources": [ENVOY_FILTER.plural], "operations": ["CREATE", "UPDATE"], "scope": "Namespaced",
                    }],
                },
                "matchConditions": [
                    // Removing a finalizer must not be denied.
                    {"name": "not-being-deleted", "expression": "!has(object.metadata.deletionTimestamp)"},
                    // Changing labels must not be denied.
                    {"name": "spec-changes", "expression": "oldObject == null || (has(object.spec) != has(oldObject.spec)) || (has(object.spec) && object.spec != oldObject.spec)"},
                ],
                "variables": [{
                    "name": "patches",
                    "expression": "has(object.spec) && has(object.spec.configPatches) ? object.spec.configPatches : []",
                }],
                "validations": validations,
            },
        }));
        for Binding { suffix, action, operator, values } in bindings(action, severity) {
            let mut metadata = metadata.clone();
            metadata["name"] = format!("{name}{suffix}").into();
            objects.push(json!({
                "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
                "metadata": metadata,
                "spec": {
                    "policyName": name,
                    "validationActions": [action],
                    "matchResources": {"namespaceSelector": {"matchExpressions": [
                        {"key": ADMISSION_LABEL, "operator": operator, "values": values},
                    ]}},
                },
            }));
        }
    }
    objects
}

/// A binding: what the API server does in namespaces with, or without, these values of the label.
struct Binding<'b> {
    suffix: &'static str,
    action: &'b str,
    operator: &'static str,
    values: &'static [&'static str],
}

/// A namespace's label has the same meaning as for the webhook; namespaces without it get the action of the policy.
fn bindings(action: &str, severity: Severity) -> Vec<Binding<'_>> {
    const LABELED: &[&str] = &["enforce", "warn", "audit", "off"];
    let labeled = |suffix, action, values| Binding { suffix, action, operator: "In", values };
    let enforced = if severity == Severity::Error { "Deny" } else { "Warn" };
    vec![
        Binding { suffix: "", action, operator: "NotIn", values: LABELED },
        labeled("-enforce", enforced, &["enforce"]),
        labeled("-warn", "Warn", &["warn"]),
        labeled("-audit", "Audit", &["audit"]),
    ]
}

fn validation(rule: &Expressed) -> Value {
    let name = rules::ALL.iter().find(|one| one.code == rule.code).map_or("", |one| one.name);
    let (code, finds) = (rule.code, &rule.finds);
    let message = format!("{code} {name}: {}", rule.message);
    if !rule.of_patch {
        return json!({"expression": format!("!({finds})"), "message": message});
    }
    let numbers: Vec<String> = (0..NAMED).map(|number| number.to_string()).collect();
    let numbers = numbers.join(", ");
    // CEL has no local variables: `exists` binds `p` to a patch taken by its index, `map` binds the indices found.
    let found =
        format!("[{numbers}].filter(i, i < size(variables.patches) && [variables.patches[i]].exists(p, {finds}))");
    let places = "found.map(i, \"spec.configPatches[\" + string(i) + \"]\").join(\", \")";
    // An empty text falls back to `message`: later patches are not named.
    let text = format!("size(found) == 0 ? \"\" : \"{code} {name} at \" + {places} + \": {}\"", rule.message);
    json!({
        "expression": format!("!variables.patches.exists(p, {finds})"),
        "message": message,
        "messageExpression": format!("[{found}].map(found, {text})[0]"),
    })
}

/// A rule and whether the policies check it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Code of the rule.
    pub code: &'static str,
    /// Its name.
    pub name: &'static str,
    /// `Deny`, `Warn` or nothing.
    pub action: String,
    /// What is not checked, or why nothing is.
    pub words: String,
}

/// All rules and whether the policies check them.
pub(crate) fn table(policy: &Policy<'_>) -> Vec<Line> {
    let all = expressed(policy);
    let line = |rule: &&crate::lint::Rule| {
        let parts: Vec<&Expressed> = all.iter().filter(|one| one.code == rule.code).collect();
        let mut actions: Vec<&str> =
            parts.iter().map(|one| if one.severity == Severity::Error { policy.action } else { "Warn" }).collect();
        actions.dedup();
        let words = match (parts.first(), rule.no_policy()) {
            (Some(first), _) => first.without.to_owned(),
            (None, Some(why)) => why.to_owned(),
            // There is nothing to find for the release of the policy.
            (None, None) => {
                format!("it is about istiod {}; --istio-version selects another release", rule.releases.words())
            }
        };
        Line { code: rule.code, name: rule.name, action: actions.join(", "), words }
    };
    rules::ALL.iter().map(line).collect()
}

//! EF119: something that Envoy requires is not there.

use crate::declare_rule;
use crate::lint::constraint::{Absent, absent};
use crate::lint::{Context, Findings, Rule};

declare_rule! {
    /// A field that Envoy requires is not there.
    ///
    /// # What it finds
    /// An object given in full (added, inserted or replaced, an item of a list or a map) without a field that Envoy's
    /// validation requires. What a MERGE leaves out is not meant.
    ///
    /// # Why it matters
    /// istiod does not check it: it sends the object, and the proxy rejects the listener, route or cluster.
    ///
    /// # How to fix
    /// Add the field.
    ///
    /// # References
    /// `validate.rules` in the protos of the proxies' Envoy (protoc-gen-validate).
    "EF119" "missing-required-field" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        let removes = value
            .view
            .patch
            .body
            .as_ref()
            .is_some_and(|body| body.operation == crate::model::envoy_filter::Operation::Remove);
        if removes {
            continue;
        }
        for object in value.objects.iter().filter(|object| object.whole) {
            let Some(message) = object.envoy else { continue };
            for missing in absent(object, message) {
                // An extension without its configuration is told by another rule.
                let typed = matches!(&missing, Absent::Field(field, _) if field.name() == "typed_config");
                if typed && super::missing_typed_config::speaks_of(object.full_name()) {
                    continue;
                }
                let (message, help) = match &missing {
                    Absent::Field(field, must_be) if must_be == "set" => (
                        format!("`{}` needs `{}`", object.short_name(), field.name()),
                        format!("add `{}`", field.name()),
                    ),
                    Absent::Field(field, must_be) => (
                        format!("`{}` needs `{}`: it has to be {must_be}", object.short_name(), field.name()),
                        format!("add `{}`", field.name()),
                    ),
                    Absent::OneOf(name, members) => {
                        let names = members.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                        (format!("`{}` needs a `{name}`", object.short_name()), format!("set one of {names}"))
                    }
                };
                out.push(
                    value
                        .finding(rule, object.span, message)
                        .label("something required is missing in here")
                        .note("istiod sends it as it is, and the proxy rejects what holds it")
                        .help(help),
                );
            }
        }
    }
}

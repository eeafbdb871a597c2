//! EF118: a value that Envoy's validation rejects.

use crate::declare_rule;
use crate::lint::constraint::broken;
use crate::lint::value::Member;
use crate::lint::value::since::only_some;
use crate::lint::{Context, Findings, RuleInfo};
use crate::proto::schema::Schema;

declare_rule! {
    /// A value that breaks a validation rule of Envoy's API.
    ///
    /// # What it finds
    /// A number out of its bounds, text that is too short, too long or malformed, an enum value that is not allowed, a
    /// list with too many or repeated items: every rule that the proto files state, at any depth. Also a negative
    /// duration, which Envoy never accepts.
    ///
    /// # Why it matters
    /// istiod checks none of these rules: it sends the value, and the proxy rejects the listener, route or cluster.
    ///
    /// # How to fix
    /// Write a value that the rule allows.
    ///
    /// # References
    /// `validate.rules` in the protos of the proxies' Envoy (protoc-gen-validate).
    "EF118" "broken-validation-rule" Value Error => check,
    by_release: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        for object in value.objects.iter().filter(|object| !object.unchecked) {
            for member in &object.members {
                let Some(field) = member.envoy else { continue };
                for one in broken(object, member) {
                    let message = format!("`{}` must be {}", field.name(), one.must_be);
                    let elsewhere = |schema: Schema| {
                        let field = schema.message(object.full_name())?.field(field.name())?;
                        Some(!broken(object, &Member { envoy: Some(field), ..*member }).is_empty())
                    };
                    out.push(
                        value
                            .finding(rule, one.span, message)
                            .label(if one.in_code {
                                "Envoy does not accept a negative duration".to_owned()
                            } else {
                                format!("a rule of `{}`", object.short_name())
                            })
                            .rejected("istiod sends it unchecked, and the proxy rejects the resource that contains it")
                            .notes(only_some(elsewhere).map(|envoys| format!("this rule holds {envoys}"))),
                    );
                }
            }
        }
    }
}

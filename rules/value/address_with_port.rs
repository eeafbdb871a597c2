//! EF162: a header for an IP address that also gets the port.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// A header for the client's IP address that is set to the address with its port.
    ///
    /// # What it finds
    /// `x-real-ip`, `x-forwarded-for` and headers whose name ends in `-ip`, with the value
    /// `%DOWNSTREAM_REMOTE_ADDRESS%` or `%DOWNSTREAM_DIRECT_REMOTE_ADDRESS%`.
    ///
    /// # Why it matters
    /// The value is `10.0.0.2:40000`. Applications that compare or parse it as an address fail, or see a new client for every
    /// connection.
    ///
    /// # How to fix
    /// `%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%`.
    ///
    /// # References
    /// Envoy, "Access logging", command operators; tested with Envoy 1.38.2.
    "EF162" "address-with-port" Value Warning => check
}

const OPERATORS: [&str; 2] = ["DOWNSTREAM_REMOTE_ADDRESS", "DOWNSTREAM_DIRECT_REMOTE_ADDRESS"];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.full_name() == "envoy.config.core.v3.HeaderValue") {
            let name = object.text("key").unwrap_or_default().to_ascii_lowercase();
            let Some(member) = object.member("value").filter(|_| name.ends_with("-ip") || name == "x-forwarded-for")
            else {
                continue;
            };
            let written = member.entry.value.as_str().unwrap_or_default();
            let operator =
                OPERATORS.into_iter().find(|operator| written.strip_prefix('%') == Some(&format!("{operator}%")));
            if let Some(operator) = operator {
                out.push(
                    value
                        .finding(rule, member.entry.value.span, format!("`{name}` gets an address with its port"))
                        .label("such as 10.0.0.2:40000")
                        .help(format!("value: \"%{operator}_WITHOUT_PORT%\"")),
                );
            }
        }
    }
}

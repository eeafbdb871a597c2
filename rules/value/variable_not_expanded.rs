//! EF175: an environment variable in a header.

use crate::declare_rule;
use crate::lint::walk::get;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// An environment variable of the proxy, written as in a shell, in the value of a header.
    ///
    /// # What it finds
    /// `$POD_NAME`, `${POD_NAMESPACE}` or `$(INSTANCE_IP)` and other variables of the proxy's container in values of headers to add.
    ///
    /// # Why it matters
    /// Neither istiod nor Envoy expands it: the header has this text as its value.
    ///
    /// # How to fix
    /// `%ENVIRONMENT(POD_NAME)%`.
    ///
    /// # References
    /// Envoy, "Access logging", command operators; tested with Envoy 1.38.2.
    "EF175" "variable-not-expanded" Value Warning => check
}

/// Variables that istiod's injection gives the container of the proxy.
const VARIABLES: [&str; 7] = [
    "HOST_IP",
    "INSTANCE_IP",
    "ISTIO_META_CLUSTER_ID",
    "ISTIO_META_NODE_NAME",
    "POD_NAME",
    "POD_NAMESPACE",
    "SERVICE_ACCOUNT",
];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for option in value.objects.iter().filter(|it| it.full_name() == "envoy.config.core.v3.HeaderValueOption") {
            let header = option.member("header").and_then(|member| get(&member.entry.value, "value"));
            let Some((node, text)) = header.and_then(|node| Some((node, node.as_str()?))) else { continue };
            let Some((written, name)) = variable(text) else { continue };
            out.push(
                value
                    .finding(
                        rule,
                        node.span,
                        format!("the value is the text `{written}`: Envoy expands no such variables"),
                    )
                    .label("sent as it is")
                    .help(text.replacen(written, &format!("%ENVIRONMENT({name})%"), 1)),
            );
        }
    }
}

/// The first variable of the proxy in a text, as written and its name.
fn variable(text: &str) -> Option<(&str, &str)> {
    text.match_indices('$').find_map(|(at, _)| {
        let rest = &text[at + 1..];
        let closes = match rest.chars().next()? {
            '{' => "}",
            '(' => ")",
            _ => "",
        };
        let begin = usize::from(!closes.is_empty());
        let length = rest[begin..].bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let (name, after) = rest[begin..].split_at(length);
        let known = after.starts_with(closes) && VARIABLES.contains(&name);
        known.then(|| (&text[at..at + 1 + 2 * begin + length], name))
    })
}

//! EF176: a header of the request with what only the response brings.

use crate::declare_rule;
use crate::lint::walk::{get, same};
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Step;

declare_rule! {
    /// A request header with a command operator of the response.
    ///
    /// # What it finds
    /// `%RESPONSE_CODE%`, `%RESPONSE_CODE_DETAILS%`, `%RESP(…)%` and other operators of responses in `request_headers_to_add` of routes.
    ///
    /// # Why it matters
    /// There is no response when the request is sent: the header is `0`, `-` or missing.
    ///
    /// # How to fix
    /// `response_headers_to_add`, or an access log.
    ///
    /// # References
    /// Envoy, "HTTP header manipulation"; tested with Envoy 1.38.2.
    "EF176" "operator-too-early" Value Warning => check
}

const OF_RESPONSES: [&str; 9] = [
    "%LOCAL_REPLY_BODY%",
    "%RESPONSE_CODE%",
    "%RESPONSE_CODE_DETAILS%",
    "%RESPONSE_DURATION%",
    "%RESPONSE_HEADER(",
    "%RESPONSE_TRAILER(",
    "%RESPONSE_TX_DURATION%",
    "%RESP(",
    "%TRAILER(",
];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for option in value.objects.iter().filter(|it| it.full_name() == "envoy.config.core.v3.HeaderValueOption") {
            let list = |step: &Step| matches!(step, Step::Key(key) if same(key, "request_headers_to_add"));
            let header = option.member("header").filter(|_| option.route.iter().any(list));
            let Some(node) = header.and_then(|member| get(&member.entry.value, "value")) else { continue };
            let text = node.as_str().unwrap_or_default();
            let Some(operator) = OF_RESPONSES.iter().find(|operator| text.contains(**operator)) else { continue };
            let name = operator.trim_matches(['%', '(']);
            out.push(
                value
                    .finding(rule, node.span, format!("there is no response yet: `%{name}%` has no value in a request"))
                    .label("a value of the response")
                    .help("response_headers_to_add, or an access log"),
            );
        }
    }
}

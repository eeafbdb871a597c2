//! EF114: a deprecated field.

use crate::declare_rule;
use crate::envoy;
use crate::lint::value::{Member, Object, PatchValue};
use crate::lint::{Context, Edit, Finding, Findings, Label, RuleInfo};
use crate::source::{NodeValue, Severity, Span};
use crate::words;

declare_rule! {
    /// A deprecated field or type.
    ///
    /// # What it finds
    /// A field, or the type of an `Any`, that the proxies' Envoy declares deprecated. Another rule reports fields that
    /// Envoy rejects by default. Silent in settings that a route switches off (`FilterConfig.disabled`), which Envoy does not read.
    ///
    /// # Why it matters
    /// Envoy still accepts it, logs a warning and counts it in `runtime.deprecated_feature_use`; a later release rejects or
    /// removes it.
    ///
    /// # How to fix
    /// Use its replacement.
    ///
    /// # References
    /// The protos of Envoy 1.15 to 1.40, release by release, and their comments; tested with Envoy 1.36.4 to 1.40.0.
    "EF114" "deprecated-field" Value Warning => check,
    fixes: true, renews: true, by_release: true
}

const APPEND: &str = "envoy.config.core.v3.HeaderValueOption.append";
const HEADER_MATCHER: &str = "envoy.config.route.v3.HeaderMatcher";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        let mut found: Vec<(String, Repeated)> = Vec::new();
        for object in value.objects.iter().filter(|object| !object.is_off) {
            for member in &object.members {
                let Some(path) = deprecated(object, member) else { continue };
                let fix = matcher_edits(cx, object, member).or_else(|| append_edits(&path, object, member));
                if let Some((_, earlier)) = found.iter_mut().find(|(known, _)| *known == path) {
                    earlier.add(member.entry.key_span, fix);
                } else {
                    let finding = of_field(rule, value, object, member, &path);
                    found.push((path, Repeated { finding, others: 0, edits: fix }));
                }
            }
        }
        out.extend(found.into_iter().map(|(_, repeated)| repeated.finding()));
        for slot in &value.slots {
            let Some(url) = slot.content().filter(|_| !slot.is_off) else { continue };
            if url.envoy.is_some_and(crate::proto::schema::Message::deprecated) {
                out.push(
                    value
                        .finding(rule, url.span, format!("the type `{}` is deprecated", url.name()))
                        .label("deprecated")
                        .note("the proxy accepts it with a warning; a later release removes it"),
                );
            }
        }
    }
}

/// Maximum number of further places that a finding shows.
const OTHERS: usize = 8;

/// A finding, for every place of its field in one patch.
struct Repeated {
    finding: Finding,
    others: usize,
    /// What replaces the field, if that is known in every place.
    edits: Option<Vec<Edit>>,
}

impl Repeated {
    fn add(&mut self, place: Span, edits: Option<Vec<Edit>>) {
        self.others += 1;
        if self.others <= OTHERS {
            self.finding.related.push(Label { span: place, message: "also here".to_owned() });
        }
        self.edits = self.edits.take().zip(edits).map(|(mut all, more)| {
            all.extend(more);
            all
        });
    }

    fn finding(self) -> Finding {
        let more = self.others.saturating_sub(OTHERS);
        let finding = self.finding.notes(
            (more > 0).then(|| format!("and in {} of this patch", words::count(more, "more place", "more places"))),
        );
        match self.edits {
            Some(edits) => {
                let successor = edits.first().map(|edit| edit.text.clone()).unwrap_or_default();
                finding.fix(format!("write `{successor}`"), true, edits)
            }
            None => finding,
        }
    }
}

/// The full name of a deprecated field, unless another rule reports it.
fn deprecated(object: &Object<'_>, member: &Member<'_>) -> Option<String> {
    let field = member.envoy.filter(|field| field.deprecated() && !field.disallowed_by_default())?;
    let path = format!("{}.{}", object.full_name(), field.name());
    // Another rule says that Envoy rejects both.
    let action = object.text("append_action").filter(|action| *action != "APPEND_IF_EXISTS_OR_ADD");
    let with_successor = path == APPEND && action.is_some();
    let reported = path == super::lua_inline_code::PATH || member.entry.value.is_null() || with_successor;
    (!reported).then_some(path)
}

fn of_field(
    rule: &'static RuleInfo,
    value: &PatchValue<'_>,
    object: &Object<'_>,
    member: &Member<'_>,
    path: &str,
) -> Finding {
    let name = path.rsplit('.').next().unwrap_or(path);
    let known = envoy::deprecation(path);
    let since = known.map(|known| known.since()).unwrap_or_default();
    let mut finding = value
        .finding(rule, member.entry.key_span, format!("`{name}` is deprecated {since}").trim_end().to_owned())
        .label("deprecated")
        .note("the proxy accepts it with a warning; a later release rejects or removes it");
    if let Some(instead) = known.and_then(|known| known.instead) {
        let unfinished = object.envoy.and_then(|message| envoy::unfinished_successor(message, &instead));
        finding = match unfinished {
            Some(successor) => finding
                .severity(Severity::Info)
                .note(format!("its replacement `{successor}` is still work in progress: keep `{name}`")),
            None if path == APPEND => finding.help(ACTIONS),
            None => finding.help(instead.to_string()),
        };
    }
    if name == "google_re2" { finding.severity(Severity::Info) } else { finding }
}

/// What replaces `append`.
const ACTIONS: &str =
    "use `append_action` instead: APPEND_IF_EXISTS_OR_ADD for `true`, OVERWRITE_IF_EXISTS_OR_ADD for `false`";

/// The edits that make `append` an `append_action`, as Envoy's `HeadersToAddEntry` reads both
/// (`source/common/router/header_parser.cc`).
fn append_edits(path: &str, object: &Object<'_>, member: &Member<'_>) -> Option<Vec<Edit>> {
    let NodeValue::Bool(appends) = member.entry.value.value else { return None };
    if path != APPEND || object.member("append_action").is_some() {
        return None;
    }
    let action = if appends { "APPEND_IF_EXISTS_OR_ADD" } else { "OVERWRITE_IF_EXISTS_OR_ADD" };
    Some(vec![
        Edit { span: member.entry.key_span, text: "append_action".to_owned() },
        Edit { span: member.entry.value.span, text: action.to_owned() },
    ])
}

/// The edits that make a condition on a header a `string_match`.
fn matcher_edits(cx: &Context<'_>, object: &Object<'_>, member: &Member<'_>) -> Option<Vec<Edit>> {
    let is_text = matches!(member.entry.value.value, NodeValue::String(_));
    if object.full_name() != HEADER_MATCHER || !is_text {
        return None;
    }
    let kind = member.envoy?.name().strip_suffix("_match")?;
    let written = cx.sources.snippet(member.entry.value.span);
    (!written.starts_with(['|', '>'])).then(|| {
        vec![
            Edit { span: member.entry.key_span, text: "string_match".to_owned() },
            Edit { span: member.entry.value.span, text: format!("{{ {kind}: {written} }}") },
        ]
    })
}

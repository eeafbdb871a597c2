//! EF311: a MERGE that replaces a whole map entry and loses what istiod generated there.

use crate::declare_rule;
use crate::engine::trace::Effect;
use crate::lint::{Context, Findings, RuleInfo, names};
use crate::proto::merge::ChangeKind;
use crate::proto::schema::Schema;
use crate::proto::tree::{Origin, Tree};
use serde_json::Value;

declare_rule! {
    /// A MERGE that replaces a whole map entry and loses what istiod generated there.
    ///
    /// # What it finds
    /// A MERGE of an existing map key, such as the HTTP protocol options in `typed_extension_protocol_options`, whose
    /// new entry omits fields of the old one.
    ///
    /// # Why it matters
    /// A proto merge replaces map entries as a whole instead of merging into them: HTTP/2, automatic SNI or connection
    /// settings that istiod generated are gone.
    ///
    /// # How to fix
    /// Repeat in the value what must stay; the note lists what is lost.
    ///
    /// # References
    /// istiod `pkg/proto/merge`, releases 1.22 to 1.31; recorded.
    "EF311" "map-entry-replaced" Operation Warning => check,
    explains: &["EF119"],
    needs: &[Dump]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let lost = |effect: &Effect| -> Option<(String, Vec<String>, Option<[String; 2]>)> {
            let (Effect::Merged(changes) | Effect::TransportSocketMerged(changes, _)) = effect else { return None };
            changes.iter().find_map(|change| {
                let ours = change.before_origins.iter().all(|origin| *origin == Origin::ISTIOD);
                if change.kind != ChangeKind::EntryReplaced || !ours {
                    return None;
                }
                let parse = |text: &Option<String>| serde_json::from_str(text.as_deref()?).ok();
                let (before, after): (Value, Value) = (parse(&change.before)?, parse(&change.after_text())?);
                let mut lost = Vec::new();
                missing(&before, &after, "", &mut lost);
                let apart = lost.iter().find_map(|old| excluded(change.after.as_ref()?, old));
                (!lost.is_empty()).then(|| (change.path.clone(), lost, apart))
            })
        };
        let Some(seen) = cx.seen(&view, |run| run.has(|effect| lost(effect).is_some())) else { continue };
        let found = seen.runs.first().and_then(|run| run.trace.effects.iter().find_map(|(_, effect)| lost(effect)));
        let Some((path, fields, apart)) = found else { continue };
        let help = match apart {
            Some([old, new]) => {
                format!("repeat in the value what must stay; only one of `{old}` and `{new}` can be set")
            }
            None => "repeat in the value what must stay".to_owned(),
        };
        let place = view.value_path_span(&path);
        let finding = view
            .finding(
                rule,
                place,
                format!(
                    "MERGE replaces the map entry `{path}` whole: {} lost",
                    names::count(fields.len(), "field is", "fields are")
                ),
            )
            .label("map entries are not merged into")
            .note(format!("lost: {}", fields.join(", ")))
            .help(help)
            .at_line(Some(place));
        out.push(seen.tell(finding));
    }
}

/// A lost field of a message and the one that is set in its place, if they are members of one oneof.
fn excluded(after: &Tree<'_>, old: &str) -> Option<[String; 2]> {
    let message = Schema::newest().message(&after.type_name()?)?;
    let oneof = message.field(old)?.oneof()?;
    let after = after.readable();
    let keys = after.entries().iter().map(|(key, _)| &**key);
    let new = keys.filter_map(|key| message.field(key)).find(|field| field.oneof() == Some(oneof))?;
    Some([old.to_owned(), new.name().to_owned()])
}

/// Fields of one JSON value that another does not have.
fn missing(before: &Value, after: &Value, path: &str, lost: &mut Vec<String>) {
    let Value::Object(fields) = before else { return };
    for (key, value) in fields {
        let place = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match after.get(key) {
            None => lost.push(place),
            Some(there) => missing(value, there, &place, lost),
        }
    }
}

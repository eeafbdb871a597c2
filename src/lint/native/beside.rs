//! The fix that removes patches from their EnvoyFilter and adds the native objects to the same file.

use crate::lint::facts::context::Context;
use crate::lint::finding::{Edit, Fix};
use crate::migrate::PatchReport;
use crate::migrate::draft::{self, Draft};
use crate::migrate::index::Index;
use crate::migrate::mesh::Mesh;
use crate::model::envoy_filter::EnvoyFilter;
use crate::source::Span;
use std::collections::BTreeSet;

/// The fix for all patches of a filter that `migrate` writes by default. `None` if new objects next to the filter are
/// not enough: `migrate` also edits objects and sets what proxies read at start-up.
pub(super) fn fix(cx: &Context<'_>, filter: &EnvoyFilter, patches: &[&PatchReport]) -> Option<Fix> {
    let index = Index::of(cx.inventory);
    let mesh = Mesh { inventory: cx.inventory, root: &cx.mesh.root_namespace, index: &index };
    let mut draft = Draft::default();
    patches.iter().for_each(|patch| draft.add_mesh(filter, &patch.found.actions));
    for patch in patches {
        draft.add(&mesh, filter, &patch.found.fills, &patch.found.actions);
    }
    let (_, all) = cx.moves();
    let kind = |made: &draft::Made| made.object["kind"].as_str().unwrap_or_default().to_owned();
    // Proxies read a ProxyConfig at start-up, and a reviewer must decide who may call.
    let other = ["ProxyConfig", "AuthorizationPolicy", "RequestAuthentication"];
    let other = draft.made.iter().any(|made| other.contains(&kind(made).as_str()));
    // Only `migrate` can merge what several filters or rules write into one object.
    let alone = draft.made.iter().all(|made| all.holds(made));
    let new = draft.edited.is_empty() && draft.pods.is_empty() && draft.mesh.is_none() && !draft.made.is_empty();
    if !new || other || !alone {
        return None;
    }
    let whole = patches.len() == filter.patches.len();
    let objects = draft::beside(&draft, filter, whole).ok()?;
    let document = filter.document.span;
    let text = cx.sources.get(document.file).text.as_str();
    let edits = if whole {
        vec![Edit { span: block(text, document)?, text: objects }]
    } else {
        let end = Span { start: block(text, document)?.end, ..document };
        let mut edits: Vec<Edit> = Vec::new();
        for patch in patches {
            edits.push(Edit { span: item(text, filter.patches.get(patch.index)?.span)?, text: String::new() });
        }
        edits.push(Edit { span: Span { end: end.start, ..end }, text: format!("\n---\n{objects}") });
        edits
    };
    let kinds: BTreeSet<String> = draft.made.iter().map(kind).collect();
    let kinds = kinds.into_iter().collect::<Vec<_>>().join(" and ");
    let title = match (whole, patches.len()) {
        (true, _) => format!("replace the EnvoyFilter with its {kinds}"),
        (false, 1) => format!("move the patch to its {kinds}"),
        (false, number) => format!("move {number} patches to their {kinds}"),
    };
    Some(Fix { title, revives: false, safe: false, edits, together: patches.len() })
}

/// A document in block style without the text after it; `None` if it is part of another document, or JSON.
fn block(text: &str, document: Span) -> Option<Span> {
    let (start, end) = (document.start as usize, document.end as usize);
    let before = text.get(..start)?;
    let body = text.get(start..end)?;
    let root = (before.is_empty() || before.ends_with('\n')) && body.starts_with(|c: char| c.is_ascii_alphabetic());
    root.then(|| Span { end: document.start + length(body), ..document })
}

/// An item of a block list with the line break before it; `None` in other styles.
fn item(text: &str, item: Span) -> Option<Span> {
    let (start, end) = (item.start as usize, item.end as usize);
    let line = text.get(..start)?.rfind('\n')?;
    let lead = text.get(line + 1..start)?.trim_start();
    if lead.trim_end() != "-" {
        return None;
    }
    let body = text.get(start..end)?;
    Some(Span { start: u32::try_from(line).ok()?, end: item.start + length(body), ..item })
}

/// The length of a text without trailing white space and comment lines.
fn length(body: &str) -> u32 {
    let mut body = body.trim_end();
    while let Some((rest, last)) = body.rsplit_once('\n') {
        if !last.trim_start().starts_with('#') {
            break;
        }
        body = rest.trim_end();
    }
    u32::try_from(body.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Sources;

    #[test]
    fn items_and_documents_end_where_their_text_does() {
        let text = "a:\n- b: 1\n  c: 2\n\n# next\n- d: 3\n";
        let file = Sources::default().add("x", text);
        let span = |start: u32, end: u32| Span { file, start, end };
        let taken = item(text, span(5, 25)).unwrap();
        assert_eq!(&text[taken.start as usize..taken.end as usize], "\n- b: 1\n  c: 2");
        assert_eq!(item("a: [{b: 1}]", span(4, 10)), None);
        assert_eq!(block(text, span(0, 32)).map(|span| span.end), Some(31));
        assert_eq!(block("{\"a\": 1}", span(0, 8)), None);
        assert_eq!(block("- a: 1", span(2, 6)), None);
    }
}

//! Applies fixes that do not overlap; only the safe ones unless more are requested.

use crate::lint::finding::{Edit, Finding, Fix};
use crate::source::{FileId, Sources};
use std::collections::BTreeMap;

/// The fixes of one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The text.
    pub file: FileId,
    /// The edits, sorted by place; none overlap.
    pub edits: Vec<Edit>,
    /// The findings (by index) that were fixed.
    pub findings: Vec<usize>,
}

/// The result of applying fixes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The texts that change.
    pub files: Vec<Fixed>,
    /// Fixes left out because they overlap another fix or lie outside the text.
    pub overlapping: usize,
    /// Fixes left out because they are unsafe.
    pub not_safe: usize,
    /// Fixes left out because they would also change text of findings that are not reported.
    pub incomplete: usize,
}

/// Applies the fixes of findings, in their order; the first of two that overlap wins.
pub fn apply(findings: &[Finding], sources: &Sources, also_unsafe: bool) -> Outcome {
    let mut outcome = Outcome::default();
    let mut taken: BTreeMap<FileId, Vec<&Edit>> = BTreeMap::new();
    let mut fixed: BTreeMap<FileId, Vec<usize>> = BTreeMap::new();
    // Fixes of several findings, by the text and place of the first edit.
    let mut offered: BTreeMap<Option<(FileId, u32)>, Vec<&Fix>> = BTreeMap::new();
    let place = |fix: &Fix| fix.edits.first().map(|edit| (edit.span.file, edit.span.start));
    for fix in findings.iter().filter_map(|finding| finding.fix.as_ref()).filter(|fix| fix.together > 1) {
        offered.entry(place(fix)).or_default().push(fix);
    }
    for (index, finding) in findings.iter().enumerate() {
        let Some(fix) = finding.fix.as_ref().filter(|fix| !fix.edits.is_empty()) else { continue };
        if !fix.safe && !also_unsafe {
            outcome.not_safe += 1;
            continue;
        }
        let same = offered.get(&place(fix));
        if fix.together > 1 && same.into_iter().flatten().filter(|one| **one == fix).count() < fix.together {
            outcome.incomplete += 1;
            continue;
        }
        let file = finding.primary.span.file;
        let text = &sources.get(file).text;
        let fits = fix
            .edits
            .iter()
            .all(|edit| edit.span.file == file && text.get(edit.span.start as usize..edit.span.end as usize).is_some());
        let before = taken.entry(file).or_default();
        // The same change, requested twice, is one change.
        let known = fix.edits.iter().all(|edit| before.contains(&edit));
        if !fits || (!known && fix.edits.iter().any(|edit| before.iter().any(|other| overlap(edit, other)))) {
            outcome.overlapping += 1;
            continue;
        }
        if !known {
            before.extend(&fix.edits);
        }
        fixed.entry(file).or_default().push(index);
    }
    for (file, mut edits) in taken {
        if edits.is_empty() {
            continue;
        }
        edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        let edits = edits.into_iter().cloned().collect();
        outcome.files.push(Fixed { file, edits, findings: fixed.remove(&file).unwrap_or_default() });
    }
    outcome
}

impl Fixed {
    /// A text with the edits applied; `None` if they do not fit.
    pub fn rewrite(&self, text: &str) -> Option<String> {
        let mut text = text.to_owned();
        for edit in self.edits.iter().rev() {
            let range = edit.span.start as usize..edit.span.end as usize;
            text.get(range.clone())?;
            text.replace_range(range, &edit.text);
        }
        Some(text)
    }
}

/// Two insertions at the same place overlap too, since their order would be arbitrary.
fn overlap(left: &Edit, right: &Edit) -> bool {
    let (a, b) = (left.span, right.span);
    a.start < b.end && b.start < a.end || a.start == b.start
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::rule::RuleInfo;
    use crate::source::Span;

    static RULE: RuleInfo = RuleInfo { code: "ACME1", name: "test", fixes: true, ..RuleInfo::BASE };

    fn finding(file: FileId, start: u32, end: u32, text: &str, safe: bool) -> Finding {
        let span = Span { file, start, end };
        Finding::new(&RULE, span, "x").fix("fix", safe, vec![Edit { span, text: text.to_owned() }])
    }

    #[test]
    fn applies_what_does_not_overlap() {
        let mut sources = Sources::default();
        let file = sources.add("a", "abcdef");
        let findings = [
            finding(file, 0, 2, "XX", true),
            finding(file, 1, 3, "YY", true),
            finding(file, 4, 5, "", true),
            finding(file, 5, 6, "Z", false),
        ];
        let safe = apply(&findings, &sources, false);
        assert_eq!((safe.overlapping, safe.not_safe), (1, 1));
        assert_eq!(safe.files[0].rewrite("abcdef").as_deref(), Some("XXcdf"));
        assert_eq!(safe.files[0].findings, [0, 2]);
        let all = apply(&findings, &sources, true);
        assert_eq!(all.files[0].rewrite("abcdef").as_deref(), Some("XXcdZ"));
        assert_eq!(all.files[0].rewrite("ab"), None);
    }

    #[test]
    fn a_fix_of_several_findings_needs_all_of_them() {
        let mut sources = Sources::default();
        let file = sources.add("a", "abcdef");
        let mut one = finding(file, 0, 2, "XX", true);
        one.fix.as_mut().unwrap().together = 2;
        let alone = apply(std::slice::from_ref(&one), &sources, false);
        assert_eq!((alone.files.len(), alone.incomplete), (0, 1));
        let both = apply(&[one.clone(), one], &sources, false);
        assert_eq!((both.files[0].rewrite("abcdef").as_deref(), both.incomplete), (Some("XXcdef"), 0));
    }
}

//! Suppressions: comments in the files, annotations on the objects, istioctl's own annotation.
//!
//! A comment at the end of a line applies to that line. A comment on its own line applies to what begins on the next
//! line: a document, a patch, a key with its value. An annotation applies to its object.

use crate::lint::finding::Finding;
pub use crate::lint::output::istioctl::ISTIOCTL_ANNOTATION;
use crate::lint::output::istioctl::rules_for;
use crate::lint::rule::{Family, RuleInfo};
use crate::model::envoy_filter::EnvoyFilter;
use crate::source::{FileId, Node, NodeValue, Sources, Span};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// What a comment starts with, after `#` and spaces.
pub(crate) const MARKER: &str = "envoyfilter:ignore";

/// Annotation of an object: `EF301 reason; EF302 reason`.
pub(crate) const ANNOTATION: &str = "envoyfilter.dev/ignore";

/// Where a suppression is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A comment after other content.
    Trailing,
    /// A comment on its own line.
    OwnLine,
    /// An annotation of this tool.
    Annotation,
    /// istioctl's annotation: it cannot contain a reason, and istioctl may need it even if this tool does not.
    Istioctl,
}

/// A rule that a suppression names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The word as written.
    pub word: String,
    /// Its place.
    pub span: Span,
}

/// One suppression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppression {
    /// Where it is written.
    pub form: Form,
    /// Its text: the comment from its `#`, or the annotation's value.
    pub span: Span,
    /// The place it applies to; empty if a comment applies to nothing.
    pub scope: Span,
    /// The rules named; empty with [`Form::Istioctl`] for `*`.
    pub rules: Vec<Named>,
    /// The reason; may be empty.
    pub reason: String,
}

impl Named {
    /// Whether it selects a rule, by code or by name.
    pub(crate) fn means(&self, rule: &RuleInfo) -> bool {
        self.word.eq_ignore_ascii_case(rule.code) || self.word == rule.name
    }
}

impl Suppression {
    fn covers(&self, finding: &Finding) -> bool {
        let at = finding.primary.span;
        let here = at.file == self.scope.file && self.scope.start <= at.start && at.start < self.scope.end;
        here && match self.form {
            Form::Istioctl if self.rules.is_empty() => true,
            Form::Istioctl => self.rules.iter().any(|named| rules_for(&named.word).contains(&finding.rule.name)),
            _ => self.rules.iter().any(|named| named.means(finding.rule)),
        }
    }
}

/// Reads every suppression, in the order of the files.
pub fn read(sources: &Sources, filters: &[EnvoyFilter]) -> Vec<Suppression> {
    let mut found = Vec::new();
    let mut of_file: HashMap<FileId, Vec<&Node>> = HashMap::new();
    for filter in filters {
        of_file.entry(filter.document.span.file).or_default().push(&filter.document);
    }
    for (file, source) in sources.iter() {
        let mut hits = memchr::memmem::find_iter(source.text.as_bytes(), MARKER).peekable();
        if hits.peek().is_none() {
            continue;
        }
        let mut reader = Reader::new(file, &source.text, of_file.get(&file).map(Vec::as_slice).unwrap_or_default());
        found.extend(hits.filter_map(|at| reader.comment(at)));
    }
    for filter in filters {
        annotations(filter, sources, &mut found);
    }
    found.sort_by_key(|one| (one.span.file, one.span.start));
    found
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Reads the comments of one text, in their order.
struct Reader<'t> {
    file: FileId,
    text: &'t str,
    /// Places of scalars, by their start.
    scalars: Vec<(u32, u32)>,
    /// Places of everything that can begin on a line, by their start.
    things: Vec<(u32, u32)>,
    /// The line of the previous marker.
    line: Range<usize>,
    /// The next line with content, as found for the previous comment.
    next: Option<(usize, Option<Range<usize>>)>,
}

impl<'t> Reader<'t> {
    fn new(file: FileId, text: &'t str, documents: &[&Node]) -> Reader<'t> {
        let mut reader = Reader { file, text, scalars: Vec::new(), things: Vec::new(), line: 0..0, next: None };
        for document in documents {
            reader.visit(document);
        }
        reader.scalars.sort_unstable();
        reader.things.sort_unstable();
        reader
    }

    fn visit(&mut self, node: &Node) {
        let span = node.span;
        self.things.push((span.start, span.end));
        // The target of an alias has its places elsewhere and is visited there.
        let inside = |inner: Span| span.start <= inner.start && inner.end <= span.end;
        match &node.value {
            NodeValue::Null => {}
            NodeValue::List(items) => items.iter().filter(|item| inside(item.span)).for_each(|item| self.visit(item)),
            NodeValue::Map(entries) => {
                for entry in entries.iter().filter(|entry| inside(entry.key_span)) {
                    let end = entry.value.span.end.max(entry.key_span.end);
                    self.things.push((entry.key_span.start, end));
                    if inside(entry.value.span) {
                        self.visit(&entry.value);
                    }
                }
            }
            _ => self.scalars.push((span.start, span.end)),
        }
    }

    /// Whether a place is inside a text of a document, where `#` does not start a comment.
    fn in_scalar(&self, at: u32) -> bool {
        let before = self.scalars.partition_point(|(start, _)| *start <= at);
        before.checked_sub(1).and_then(|last| self.scalars.get(last)).is_some_and(|(_, end)| at < *end)
    }

    /// The largest node that begins on a line.
    fn beginning_on(&self, line: &Range<usize>) -> Option<Span> {
        let from = self.things.partition_point(|(start, _)| (*start as usize) < line.start);
        let begin = self.things[from..].iter().take_while(|(start, _)| (*start as usize) < line.end);
        let largest = begin.max_by_key(|(start, end)| end - start)?;
        Some(Span { file: self.file, start: largest.0, end: largest.1 })
    }

    /// The next line with content after a byte, cached because comments often follow each other.
    fn next_content(&mut self, from: usize) -> Option<Range<usize>> {
        if let Some((asked, line)) = &self.next
            && *asked <= from
            && line.as_ref().is_none_or(|line| from <= line.start)
        {
            return line.clone();
        }
        let line = next_content(self.text, from);
        self.next = Some((from, line.clone()));
        line
    }

    /// The comment whose marker is at `at`; `None` if it is not a comment.
    fn comment(&mut self, at: usize) -> Option<Suppression> {
        let (file, text) = (self.file, self.text);
        // A line may contain any number of markers.
        if !self.line.contains(&at) {
            self.line = line_of(text, at);
        }
        let line = self.line.clone();
        let before = text.get(line.start..at)?;
        let hash = before.trim_end().strip_suffix('#')?;
        let start = line.start + hash.len();
        if !(hash.is_empty() || hash.ends_with([' ', '\t'])) || self.in_scalar(offset(start)) {
            return None;
        }
        let own_line = hash.trim().is_empty();
        let end = line.start + text.get(line.clone())?.trim_end().len();
        let span = Span { file, start: offset(start), end: offset(end) };
        let begin = at + MARKER.len();
        let (rules, reason) = words(file, text, begin..another(text, begin..end).unwrap_or(end));
        let scope = if own_line {
            let next = self.next_content(line.end);
            next.and_then(|next| self.beginning_on(&next)).unwrap_or(Span { end: span.start, ..span })
        } else {
            Span { file, start: offset(line.start), end: offset(line.end) }
        };
        let form = if own_line { Form::OwnLine } else { Form::Trailing };
        Some(Suppression { form, span, scope, rules, reason })
    }
}

/// Where the next suppression begins in the text of one: `# envoyfilter:ignore EF301 # envoyfilter:ignore EF302`.
fn another(text: &str, range: Range<usize>) -> Option<usize> {
    let body = text.get(range.clone())?;
    memchr::memmem::find_iter(body.as_bytes(), MARKER)
        .find_map(|at| Some(range.start + body.get(..at)?.trim_end().strip_suffix('#')?.len()))
}

fn line_of(text: &str, at: usize) -> Range<usize> {
    let start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
    let end = text.get(at..).and_then(|after| after.find('\n')).map_or(text.len(), |newline| at + newline + 1);
    start..end
}

/// The next line with more than a comment or a document marker.
fn next_content(text: &str, mut from: usize) -> Option<Range<usize>> {
    while from < text.len() {
        let line = line_of(text, from);
        let words = text.get(line.clone())?.trim();
        if !(words.is_empty() || words.starts_with(['#', '%']) || words == "---") {
            return Some(line);
        }
        from = line.end.max(from + 1);
    }
    None
}

/// The rules and the reason in the text of a suppression: `EF301,EF302 because…`.
fn words(file: FileId, text: &str, range: Range<usize>) -> (Vec<Named>, String) {
    let body = text.get(range.clone()).unwrap_or_default();
    let mut rules = Vec::new();
    let mut at = 0;
    // The first word always names a rule; more follow after a comma, or if they look like codes.
    let mut more = true;
    loop {
        let rest = body.get(at..).unwrap_or_default();
        let start = at + (rest.len() - rest.trim_start().len());
        let rest = body.get(start..).unwrap_or_default();
        let length = rest.find([' ', '\t', ',']).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or_default().trim_end_matches([':', ';']);
        if word.is_empty() || !(more || is_code(word)) {
            at = start;
            break;
        }
        let span = Span { file, start: offset(range.start + start), end: offset(range.start + start + word.len()) };
        rules.push(Named { word: word.to_owned(), span });
        let after = body.get(start + length..).unwrap_or_default();
        let blank = after.len() - after.trim_start().len();
        more = after.trim_start().starts_with(',');
        at = start + length + if more { blank + 1 } else { 0 };
    }
    let reason = body.get(at..).unwrap_or_default().trim().trim_start_matches(['-', ':', '–', '—']).trim().to_owned();
    (rules, reason)
}

fn is_code(word: &str) -> bool {
    word.strip_prefix("EF").is_some_and(|digits| digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn annotations(filter: &EnvoyFilter, sources: &Sources, found: &mut Vec<Suppression>) {
    let scope = filter.document.span;
    let place = |key: &str| filter.document.under(&["metadata", "annotations", key]).map(|it| it.span);
    if let (Some(text), Some(span)) = (filter.annotations.get(ANNOTATION), place(ANNOTATION)) {
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let (mut rules, reason) = words(span.file, part, 0..part.len());
            for named in &mut rules {
                let within = sources.snippet(span).find(&named.word).map(|at| span.start + offset(at));
                let start = within.unwrap_or(span.start);
                named.span = Span { start, end: start + offset(named.word.len()), ..span };
            }
            found.push(Suppression { form: Form::Annotation, span, scope, rules, reason });
        }
    }
    if let (Some(text), Some(span)) = (filter.annotations.get(ISTIOCTL_ANNOTATION), place(ISTIOCTL_ANNOTATION)) {
        let words: Vec<&str> = text.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
        let all = words.contains(&"*");
        let rules = words.iter().map(|word| Named { word: (*word).to_owned(), span }).collect::<Vec<_>>();
        if all || !rules.is_empty() {
            let rules = if all { Vec::new() } else { rules };
            found.push(Suppression { form: Form::Istioctl, span, scope, rules, reason: String::new() });
        }
    }
}

/// The remaining findings, and those that were suppressed.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The findings that were not suppressed.
    pub kept: Vec<Finding>,
    /// Suppressed findings with the index of their suppression.
    pub suppressed: Vec<(Finding, usize)>,
    /// How often each suppressed rule name was used: by suppression and by position in its `rules`.
    pub used: Vec<Vec<usize>>,
}

/// The scopes of suppressions, by file and size: of those with equal size, only the nearest can contain a place.
struct Scopes(HashMap<FileId, BTreeMap<u32, Vec<(u32, usize)>>>);

impl Scopes {
    fn of(suppressions: &[Suppression]) -> Scopes {
        let mut scopes: HashMap<FileId, BTreeMap<u32, Vec<(u32, usize)>>> = HashMap::new();
        for (index, Suppression { scope, .. }) in suppressions.iter().enumerate() {
            let size = scope.end.saturating_sub(scope.start).max(1).ilog2();
            scopes.entry(scope.file).or_default().entry(size).or_default().push((scope.start, index));
        }
        scopes.values_mut().flat_map(BTreeMap::values_mut).for_each(|scopes| scopes.sort_unstable());
        Scopes(scopes)
    }

    /// The indices of the suppressions that may cover a place, sorted.
    fn around(&self, at: Span) -> Vec<usize> {
        let mut found = Vec::new();
        for (size, scopes) in self.0.get(&at.file).into_iter().flatten() {
            let longest = 2_u64 << size;
            let last = scopes.partition_point(|(start, _)| *start <= at.start);
            let near = scopes[..last].iter().rev();
            found.extend(near.take_while(|(start, _)| u64::from(at.start - start) < longest).map(|(_, index)| *index));
        }
        found.sort_unstable();
        found
    }
}

/// Removes suppressed findings. Findings about suppressions themselves (EF9xx) cannot be suppressed.
pub fn apply(findings: Vec<Finding>, suppressions: &[Suppression]) -> Outcome {
    let mut outcome =
        Outcome { used: suppressions.iter().map(|one| vec![0; one.rules.len()]).collect(), ..Outcome::default() };
    if suppressions.is_empty() {
        outcome.kept = findings;
        return outcome;
    }
    let scopes = Scopes::of(suppressions);
    for finding in findings {
        let of_linter = finding.rule.family == Family::Linter;
        // Every suppression that covers a finding counts as used: if two cover it, neither is redundant.
        let mut by = None;
        for index in scopes.around(finding.primary.span) {
            let one = &suppressions[index];
            if of_linter || !one.covers(&finding) {
                continue;
            }
            by = by.or(Some(index));
            for (named, used) in one.rules.iter().zip(&mut outcome.used[index]) {
                *used += usize::from(named.means(finding.rule));
            }
        }
        match by {
            Some(index) => outcome.suppressed.push((finding, index)),
            None => outcome.kept.push(finding),
        }
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> (Vec<String>, String) {
        let (rules, reason) = words(FileId(0), text, 0..text.len());
        (rules.into_iter().map(|named| named.word).collect(), reason)
    }

    #[test]
    fn reads_rules_and_reason() {
        assert_eq!(parse(" EF301 because of it"), (vec!["EF301".into()], "because of it".into()));
        assert_eq!(parse(" EF301, EF302: because"), (vec!["EF301".into(), "EF302".into()], "because".into()));
        assert_eq!(parse(" EF301 EF302 - because"), (vec!["EF301".into(), "EF302".into()], "because".into()));
        assert_eq!(parse(" operation-without-effect"), (vec!["operation-without-effect".into()], String::new()));
        assert_eq!(parse(""), (vec![], String::new()));
    }

    #[test]
    fn finds_the_next_line_with_content() {
        let text = "# a\n---\n\nkind: X\n";
        assert_eq!(next_content(text, 4).map(|line| text[line].to_owned()), Some("kind: X\n".to_owned()));
        assert_eq!(next_content("# a\n", 4), None);
    }
}

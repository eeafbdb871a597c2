//! Parses YAML and JSON into trees with places, as kubectl reads them.
//!
//! The event parser is granit-parser. It is the only Rust YAML parser that gives byte offsets (saphyr-parser, its origin,
//! counts characters), distinguishes quoted from plain scalars, limits nesting and never recurses. The meaning of words is
//! decided here ([`super::scalar`]), because kubectl reads YAML 1.1 and no Rust crate does.

mod old_breaks;
mod plain;
mod reader;

use super::limits::{Excess, Limits};
use super::scalar::{self, Scalar, Tag};
use crate::budget;
use crate::source::{Code, Entry, FileId, Node, NodeValue, Problem, Severity, Span};
use base64::Engine as _;
use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError};
use std::borrow::Cow;
use std::collections::HashMap;

/// Maximum nesting of lists and mappings. Go's YAML reader stops at 10,000; real filters stay below 40.
const MAX_DEPTH: usize = 1000;
/// How many values may be copied for anchors, which may never be used.
const MAX_ANCHORED: usize = 4_000_000;
/// Maximum number of problems reported for one text: more of the same does not help.
const MAX_PROBLEMS: usize = 10_000;
/// Bytes of text that justify another thread.
const WORTH_A_THREAD: usize = 64 * 1024;
/// Mappings with more keys than this find duplicates with a hash map.
const FEW_KEYS: usize = 16;

/// Reads every document of a text. What cannot be read becomes a [`Problem`] and costs one document, not the others. Values
/// that come from an alias keep the places of the anchored text; only the alias itself has its own place.
pub fn documents(file: FileId, text: &str) -> (Vec<Node>, Vec<Problem>) {
    documents_within(file, text, Limits::default().values(text.len()))
}

/// The same with a bound on the number of values: each takes memory, so a small text of short values could exhaust it. Reading
/// stops when the bound is exceeded.
pub fn documents_within(file: FileId, text: &str, values: usize) -> (Vec<Node>, Vec<Problem>) {
    let mut places = chunks(text);
    let stops = |&(start, end): &(usize, usize)| Chunk::new(file, start, &text[start..end]).stops();
    if let Some(stop) = places.iter().position(stops) {
        places.truncate(stop + 1);
    }
    let read = |places: &[(usize, usize)]| {
        let mut out = Output { values, ..Output::default() };
        for &(start, end) in places {
            Chunk::new(file, start, &text[start..end]).read(&mut out);
            if out.full {
                break;
            }
        }
        out.problems.truncate(MAX_PROBLEMS);
        out
    };
    let workers = budget::threads(text.len() / WORTH_A_THREAD);
    // Threads would have to share the bound, and which of them exceeds it would be random.
    if workers < 2 || places.len() < 2 || (text.len() > values && may_hold(text) > values) {
        let out = read(&places);
        return (out.documents, out.problems);
    }
    // Neighbors stay together, so that documents and problems are in the order of the text.
    let share = text.len().div_ceil(workers);
    let groups = places.chunk_by(|one, next| one.0 / share == next.0 / share);
    std::thread::scope(|scope| {
        let threads: Vec<_> = groups.map(|group| scope.spawn(move || read(group))).collect();
        let mut all = Output::default();
        for thread in threads {
            let mut out = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            all.documents.append(&mut out.documents);
            all.problems.append(&mut out.problems);
        }
        all.problems.truncate(MAX_PROBLEMS);
        (all.documents, all.problems)
    })
}

/// An upper bound for the number of values in a text: each but the first follows one of these bytes.
fn may_hold(text: &str) -> usize {
    1 + text.bytes().filter(|byte| matches!(byte, b',' | b'\n' | b':' | b'[' | b'{' | b'-' | b'?')).count()
}

#[derive(Default)]
struct Output {
    documents: Vec<Node>,
    problems: Vec<Problem>,
    /// Empty lists with capacity, reused for later mappings: otherwise most allocations.
    spare: Vec<Vec<Entry>>,
    /// How many more values may be read.
    values: usize,
    /// Whether that was exceeded.
    full: bool,
}

/// Splits at lines that start with `---`, as kubectl does before parsing, so that an error in one document ends there.
fn chunks(text: &str) -> Vec<(usize, usize)> {
    let mut cuts = Vec::new();
    let mut start = 0;
    for at in memchr::memmem::find_iter(text.as_bytes(), b"\n---").map(|at| at + 1) {
        cuts.push((start, at));
        start = at;
    }
    cuts.push((start, text.len()));
    cuts
}

/// The text of one document (rarely several, separated by `...`).
#[derive(Clone, Copy)]
struct Chunk<'a> {
    file: FileId,
    base: usize,
    text: &'a str,
    /// The same text as it is in the file, to which places refer: as long, but some line breaks may be other characters.
    written: &'a str,
}

/// A finished value with what its parents need to know about it.
struct Built {
    node: Node,
    /// Nesting below it.
    height: usize,
    from_alias: bool,
    /// Its end, relative to the start of the chunk.
    end: usize,
}

enum Key {
    Name(String, Span),
    /// `<<`
    Merge,
}

enum Shape {
    List(Vec<Node>),
    Map(Mapping, Option<Key>),
}

/// A mapping under construction.
#[derive(Default)]
struct Mapping {
    entries: Vec<Entry>,
    /// Which entries came from a `<<`; later entries did not.
    merged: Vec<bool>,
    /// Index of each key, once there are many.
    places: HashMap<String, usize>,
}

/// An open list or mapping.
struct Frame {
    shape: Shape,
    start: usize,
    /// End of the last value inside.
    end: usize,
    height: usize,
    anchor: usize,
    /// [`Builder::decoded`] when it was opened.
    decoded: usize,
}

struct Anchored {
    node: Node,
    height: usize,
    size: usize,
}

/// Builds the tree of one document from events, without recursion.
struct Builder<'a> {
    chunk: Chunk<'a>,
    frames: Vec<Frame>,
    anchors: HashMap<usize, Anchored>,
    root: Option<Node>,
    problems: Vec<Problem>,
    /// Values seen, as go-yaml counts them for its alias limit.
    decoded: usize,
    /// How many of them came from an alias.
    aliased: usize,
    /// Values copied for anchors.
    anchored: usize,
    /// [`Output::spare`].
    spare: &'a mut Vec<Vec<Entry>>,
    /// [`Output::values`].
    values: usize,
}

impl<'a> Chunk<'a> {
    fn new(file: FileId, base: usize, text: &'a str) -> Self {
        Chunk { file, base, text, written: text }
    }

    /// The part from a byte on.
    fn from(self, start: usize) -> Self {
        let Chunk { file, base, text, written } = self;
        Chunk { file, base: base + start, text: &text[start..], written: &written[start..] }
    }

    /// The part without byte order marks at its start.
    fn without_mark(self) -> Self {
        self.from(self.text.len() - self.text.trim_start_matches('\u{feff}').len())
    }
}

impl Chunk<'_> {
    fn read(self, out: &mut Output) {
        let chunk = self.without_mark();
        if let Some(problem) = chunk.forbidden_character().or_else(|| chunk.bad_separator()) {
            out.problems.push(problem);
            return;
        }
        let (chunk, first) = (chunk.without_marker(), chunk.begins_with_marker());
        if chunk.read_plain(out) {
            return;
        }
        if let Some(problem) = chunk.directive() {
            if !first {
                out.problems.push(problem);
            }
            return;
        }
        let before = (out.documents.len(), out.problems.len());
        if let Err(problem) = chunk.parse(out) {
            match chunk.json_stream().filter(|_| !out.full) {
                Some(values) => {
                    out.documents.truncate(before.0);
                    out.problems.truncate(before.1);
                    for (start, end) in values {
                        let value = Chunk::new(chunk.file, chunk.base + start, &chunk.text[start..end]);
                        if let Err(problem) = value.parse(out) {
                            out.problems.push(problem);
                        }
                    }
                }
                None => out.problems.push(chunk.without_secret(problem)),
            }
        }
    }

    /// The place of an error inside a broken Secret must not be shown, so only its first line is given.
    fn without_secret(&self, problem: Problem) -> Problem {
        let secret = |line: &str| {
            let line: String = line.chars().filter(|c| !matches!(c, ' ' | '"' | '\'')).collect();
            line.contains("kind:Secret")
        };
        if !self.text.lines().any(secret) {
            return problem;
        }
        let message = format!("this Secret is not read: {}", problem.code);
        Problem { span: Some(self.span(0, 0)), message, ..problem }
    }

    /// Reads it if it is one plain document.
    fn read_plain(self, out: &mut Output) -> bool {
        let mut builder = Builder::new(self, &mut out.spare, out.values);
        let is_plain = plain::read(self.text, &mut builder).is_some();
        if is_plain {
            out.values = builder.values;
            out.problems.append(&mut builder.problems);
            out.documents.extend(builder.root.take());
        }
        is_plain
    }

    fn parse(self, out: &mut Output) -> Result<(), Problem> {
        if self.has_old_breaks() { self.parse_old_breaks(out) } else { self.parse_events(out) }
    }

    fn parse_events(self, out: &mut Output) -> Result<(), Problem> {
        let options = granit_parser::options! {
            emit_comments: false,
            bom_inside_document_as_content: true,
            flow_nesting_limit: MAX_DEPTH,
            block_nesting_limit: MAX_DEPTH,
        };
        let Output { documents, problems, spare, values, full } = out;
        let mut builder = Builder::new(self, spare, *values);
        let mut tabs = reader::TabLines::new(self);
        let mut ended = false;
        for event in Parser::new_from_str_with_options(self.text, options) {
            let (event, span) = event.map_err(|error| self.scan_problem(&error))?;
            let range = span.byte_range().unwrap_or(0..0);
            let [start, end] = [range.start, range.end].map(|at| at.min(self.text.len()));
            tabs.event(&event, start, end)?;
            match event {
                Event::DocumentStart(..) if ended => return Err(self.dropped(start)),
                Event::DocumentStart(..) => builder.begin(),
                Event::DocumentEnd => {
                    ended = true;
                    problems.append(&mut builder.problems);
                    // An empty document, such as after the `---` at the end of a template, is ignored.
                    documents.extend(builder.root.take().filter(|root| !matches!(root.value, NodeValue::Null)));
                }
                event => {
                    if let Err(problem) = builder.event(event, start, end.max(start)) {
                        *full = builder.values == 0;
                        return Err(problem);
                    }
                }
            }
            *values = builder.values;
        }
        Ok(())
    }

    /// A place in the file. A value may end between the bytes that stand for one character there (`written`).
    fn span(&self, start: usize, end: usize) -> Span {
        let [start, end] = [start, end].map(|at| offset(self.base + floor(self.written, at.min(self.written.len()))));
        Span { file: self.file, start, end }
    }

    fn problem(&self, code: Code, start: usize, end: usize, message: impl Into<String>) -> Problem {
        let span = Some(self.span(start, end));
        Problem { code, severity: Severity::Error, span, message: message.into(), help: None }
    }

    /// kubectl rejects control characters anywhere.
    fn forbidden_character(&self) -> Option<Problem> {
        if self.looks_like_json() {
            return None;
        }
        let bad = |byte: u8| (byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r')) || byte == 0x7f;
        // Without an early exit the compiler can vectorize the loop.
        if !self.text.bytes().fold(false, |found, byte| found | bad(byte)) {
            return None;
        }
        let at = self.text.bytes().position(bad)?;
        let code = self.text.as_bytes()[at];
        let mut problem = self.problem(
            Code::YamlSyntax,
            at,
            at + 1,
            format!("control character 0x{code:02x} is not allowed in YAML"),
        );
        problem.help = Some("remove it, or write it as an escape in double quotes".to_owned());
        Some(problem)
    }

    fn looks_like_json(&self) -> bool {
        matches!(self.text.trim_start().as_bytes(), [b'{', next, ..] if *next != b'{') || self.text.trim_start() == "{"
    }

    /// The places of consecutive JSON values, as printed by `jq -c` and `kubectl get -o json --watch`.
    fn json_stream(&self) -> Option<Vec<(usize, usize)>> {
        if !self.looks_like_json() {
            return None;
        }
        let mut stream = serde_json::Deserializer::from_str(self.text).into_iter::<serde::de::IgnoredAny>();
        let mut places = Vec::new();
        let mut start = 0;
        while let Some(value) = stream.next() {
            value.ok()?;
            places.push((start, stream.byte_offset()));
            start = stream.byte_offset();
        }
        (places.len() > 1).then_some(places)
    }

    /// A parser error in the user's terms.
    fn scan_problem(&self, error: &ScanError) -> Problem {
        let at = error.marker().byte_offset().unwrap_or(0).min(self.text.len());
        if *error.kind() == ErrorKind::RecursionLimitExceeded {
            return self.too_deep(at);
        }
        if *error.kind() != ErrorKind::ExpectedDocumentStart
            && let Some(problem) = self.template_problem()
        {
            return problem;
        }
        if let Some(problem) = self.variable_problem(at) {
            return problem;
        }
        if self.looks_like_json()
            && let Some(problem) = self.json_problem()
        {
            return problem;
        }
        let (start, end) = self.word_at(self.tab_before(error.kind(), at).unwrap_or(at));
        let (message, help) = explain(error.kind());
        let after_end = *error.kind() == ErrorKind::ExpectedDocumentStart;
        let code = if after_end { Code::YamlTextAfterEnd } else { Code::YamlSyntax };
        let mut problem = self.problem(code, start, end, message);
        problem.help = help.map(str::to_owned);
        problem
    }

    /// The first tab of the line up to a byte, when the error is about a tab: the parser points behind it.
    fn tab_before(&self, kind: &ErrorKind, at: usize) -> Option<usize> {
        if !is_tab(kind) {
            return None;
        }
        let before = self.text.get(..at)?;
        let line = before.rfind('\n').map_or(0, |newline| newline + 1);
        before[line..].find('\t').map(|tab| line + tab)
    }

    fn too_deep(&self, at: usize) -> Problem {
        let (start, end) = self.word_at(at);
        let message = format!("lists and mappings nested more than {MAX_DEPTH} deep are not read");
        self.problem(Code::YamlTooDeep, start, end, message)
    }

    /// `{{ … }}` or `{% … %}` in a text that is not YAML.
    fn template_problem(&self) -> Option<Problem> {
        let bytes = self.text.as_bytes();
        let at = memchr::memchr_iter(b'{', bytes).find(|&at| matches!(bytes.get(at + 1), Some(b'{' | b'%')))?;
        let close: &[u8] = if bytes[at + 1] == b'{' { b"}}" } else { b"%}" };
        let line = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end);
        let end = memchr::memmem::find(&bytes[at..line], close).map_or(at + 2, |end| at + end + 2);
        let mut problem = self.problem(Code::YamlTemplate, at, end, "this is a template, not YAML");
        problem.help = Some(
            "render it first: lint --helm CHART, lint -k FOLDER, or `helm template … | kubectl envoyfilter lint -`"
                .to_owned(),
        );
        Some(problem)
    }

    /// `${NAME}` where a value belongs, inside braces: the parser stops at its brace.
    fn variable_problem(&self, at: usize) -> Option<Problem> {
        let start = self.text.get(..at)?.strip_suffix('$')?.len();
        let rest = self.text.get(at..)?.strip_prefix('{')?;
        let end = at + 2 + rest.find('}').filter(|end| !rest[..*end].contains('\n'))?;
        let mut problem = self.problem(Code::YamlTemplate, start, end, "this is a template, not YAML");
        problem.help = Some("render it first: `envsubst < FILE | kubectl envoyfilter lint -`".to_owned());
        Some(problem)
    }

    /// The error of a JSON reader for a text that starts like JSON.
    fn json_problem(&self) -> Option<Problem> {
        let error = serde_json::from_str::<serde::de::IgnoredAny>(self.text).err()?;
        let line = error.line().checked_sub(1)?;
        let line_start =
            if line == 0 { 0 } else { memchr::memchr_iter(b'\n', self.text.as_bytes()).nth(line - 1)? + 1 };
        let at = (line_start + error.column().saturating_sub(1)).min(self.text.len());
        let (start, end) = self.character_at(at);
        let text = error.to_string();
        let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
        Some(self.problem(Code::JsonSyntax, start, end, format!("not JSON: {message}")))
    }

    /// The place of the `|` or `>` of a block text that starts at a byte: the parser gives only the place of the text.
    fn block_header(&self, content: usize) -> usize {
        let before = self.text[..floor(self.text, content)].trim_end();
        let line = before.rfind('\n').map_or(0, |end| end + 1);
        let is_header = |at: &usize| {
            let rest = before[at + 1..].trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'));
            rest.is_empty() || (rest.starts_with([' ', '\t']) && rest.trim_start().starts_with('#'))
        };
        let mut candidates = before[line..].match_indices(['|', '>']).map(|(at, _)| line + at);
        candidates.find(is_header).unwrap_or(content)
    }

    fn character_at(&self, at: usize) -> (usize, usize) {
        let start = floor(self.text, at);
        let end = self.text[start..].chars().next().map_or(start, |next| start + next.len_utf8());
        (start, end)
    }

    /// From a byte to the end of the word there; at least one character unless at the end of the text.
    fn word_at(&self, at: usize) -> (usize, usize) {
        let (start, next) = self.character_at(at);
        let length = self.text[start..].find(|c: char| c.is_whitespace()).unwrap_or(self.text.len() - start);
        (start, next.max(start + length))
    }
}

impl<'a> Builder<'a> {
    fn new(chunk: Chunk<'a>, spare: &'a mut Vec<Vec<Entry>>, values: usize) -> Self {
        Builder {
            chunk,
            frames: Vec::new(),
            anchors: HashMap::new(),
            root: None,
            problems: Vec::new(),
            decoded: 0,
            aliased: 0,
            anchored: 0,
            spare,
            values,
        }
    }

    /// Counts a value. Fails when there are too many.
    fn count(&mut self, at: usize) -> Result<(), Problem> {
        self.decoded += 1;
        if let Some(left) = self.values.checked_sub(1) {
            self.values = left;
            Ok(())
        } else {
            let (start, end) = self.chunk.character_at(at);
            let mut problem = self.chunk.problem(
                Code::YamlTooManyValues,
                start,
                end,
                "the text contains too many values: reading stops here",
            );
            problem.help = Excess::Values(0).help();
            Err(problem)
        }
    }

    /// Starts another document, independent of the one before.
    fn begin(&mut self) {
        self.frames.clear();
        self.anchors.clear();
        self.root = None;
        self.problems.clear();
        (self.decoded, self.aliased, self.anchored) = (0, 0, 0);
    }

    /// An open mapping.
    fn mapping(&mut self) -> Shape {
        Shape::Map(Mapping { entries: self.spare.pop().unwrap_or_default(), ..Mapping::default() }, None)
    }

    fn event(&mut self, event: Event<'_>, start: usize, end: usize) -> Result<(), Problem> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.as_deref().map_or(Tag::None, tag_of);
                if style == ScalarStyle::DoubleQuoted
                    && let Some(problem) = self.chunk.bad_escape(start, end)
                {
                    return Err(problem);
                }
                let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                let start = if is_block { self.chunk.block_header(start) } else { start };
                let text = self.chunk.with_old_breaks(text, style, start, end);
                self.scalar(text, style == ScalarStyle::Plain, tag, anchor, start, end)
            }
            Event::SequenceStart(_, anchor, _) => self.open(Shape::List(Vec::new()), anchor, start, end),
            Event::MappingStart(_, anchor, _) => {
                let shape = self.mapping();
                self.open(shape, anchor, start, end)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(start, end),
            Event::Alias(id) => self.alias(id, start, end),
            _ => Ok(()),
        }
    }

    fn open(&mut self, shape: Shape, anchor: usize, start: usize, end: usize) -> Result<(), Problem> {
        if let Some(Frame { shape: Shape::Map(_, None), .. }) = self.frames.last() {
            return Err(self.bad_key(start, end));
        }
        if self.frames.len() >= MAX_DEPTH {
            return Err(self.chunk.too_deep(start));
        }
        let decoded = self.decoded;
        self.count(start)?;
        self.frames.push(Frame { shape, start, end: start, height: 0, anchor, decoded });
        Ok(())
    }

    /// A list or a mapping in place of a key: usually caused by `{{ .Values.name }}`.
    fn bad_key(&self, start: usize, end: usize) -> Problem {
        self.chunk.template_problem().unwrap_or_else(|| {
            let (start, end) = if start == end { self.chunk.word_at(start) } else { (start, end) };
            self.chunk.problem(
                Code::YamlSyntax,
                start,
                end,
                "a list or a mapping cannot be a key: JSON keys are strings",
            )
        })
    }

    fn close(&mut self, start: usize, end: usize) -> Result<(), Problem> {
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        // A flow collection ends with its bracket. The end of a block collection is reported at the next token, so use its last
        // value.
        let closed = matches!(self.chunk.text.get(start..end), Some("]" | "}"));
        let end = if closed { end } else { frame.end }.max(frame.start);
        let span = self.chunk.span(frame.start, end);
        let value = match frame.shape {
            Shape::List(items) => NodeValue::List(items.into()),
            Shape::Map(mut mapping, _) => {
                let entries = mapping.entries.drain(..).collect();
                self.spare.push(mapping.entries);
                NodeValue::Map(entries)
            }
        };
        let built = Built { node: Node { span, value }, height: frame.height + 1, from_alias: false, end };
        self.value(built, frame.anchor, self.decoded - frame.decoded)
    }

    fn scalar(
        &mut self,
        text: Cow<'_, str>,
        is_plain: bool,
        tag: Tag,
        anchor: usize,
        start: usize,
        end: usize,
    ) -> Result<(), Problem> {
        let span = self.chunk.span(start, end);
        let expects_key = matches!(self.frames.last(), Some(Frame { shape: Shape::Map(_, None), .. }));
        if expects_key && is_plain && tag == Tag::None && text == "<<" {
            self.key(Key::Merge);
            return Ok(());
        }
        self.count(start)?;
        let Some(resolved) = scalar::tagged(tag, &text, is_plain) else {
            let message = format!("`{text}` is not a {}", tag.name());
            return Err(self.chunk.problem(Code::YamlSyntax, start, end, message));
        };
        if is_plain && tag == Tag::None && scalar::surprises(&text, &resolved) {
            self.problems.push(surprise(span, &text, &resolved));
        }
        let text = if tag == Tag::Binary { Self::binary(&text, span)? } else { text };
        if expects_key {
            let name = match resolved {
                Scalar::Text => text.clone().into_owned(),
                Scalar::Bool(value) => value.to_string(),
                Scalar::Int(value) if i64::try_from(value).is_ok() => value.to_string(),
                Scalar::Float(value) => scalar::float_key(value),
                Scalar::Int(_) | Scalar::Null => {
                    let (start, end) = if start == end { self.chunk.word_at(start) } else { (start, end) };
                    let mut problem = self.chunk.problem(Code::YamlSyntax, start, end, "this cannot be a key");
                    problem.help = Some("put the key in quotes".to_owned());
                    return Err(problem);
                }
            };
            if anchor != 0 {
                let node = Node { span, value: scalar_value(&resolved, text).unwrap_or(NodeValue::Null) };
                self.anchors.insert(anchor, Anchored { node, height: 0, size: 1 });
            }
            self.key(Key::Name(name, span));
            return Ok(());
        }
        let Some(value) = scalar_value(&resolved, text) else {
            let mut problem =
                self.chunk.problem(Code::YamlSyntax, start, end, "JSON has no such number, so kubectl cannot send it");
            problem.help = Some("put it in quotes if it is a string".to_owned());
            return Err(problem);
        };
        self.value(Built { node: Node { span, value }, height: 0, from_alias: false, end }, anchor, 1)
    }

    fn binary<'t>(text: &str, span: Span) -> Result<Cow<'t, str>, Problem> {
        let packed: String = text.split_ascii_whitespace().collect();
        let bytes = base64::engine::general_purpose::STANDARD.decode(packed).map_err(|_| Problem {
            code: Code::YamlSyntax,
            severity: Severity::Error,
            span: Some(span),
            message: "`!!binary` is not followed by base64".to_owned(),
            help: None,
        })?;
        Ok(Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn key(&mut self, new: Key) {
        if let Some(Frame { shape: Shape::Map(_, key), .. }) = self.frames.last_mut() {
            *key = Some(new);
        }
    }

    fn alias(&mut self, id: usize, start: usize, end: usize) -> Result<(), Problem> {
        let Some(Anchored { node, height, size }) = self.anchors.get(&id) else {
            return Err(self.chunk.problem(
                Code::YamlSyntax,
                start,
                end,
                "this alias is inside the value it refers to",
            ));
        };
        self.decoded += size + 1;
        self.aliased += size;
        if self.aliased > 100 && self.decoded > 1000 && ratio_exceeded(self.aliased, self.decoded) {
            let message = "the aliases in this document expand beyond what kubectl accepts";
            return Err(self.chunk.problem(Code::YamlAliasBomb, start, end, message));
        }
        if self.frames.len() + height > MAX_DEPTH {
            return Err(self.chunk.too_deep(start));
        }
        let height = *height;
        let node = Node { span: self.chunk.span(start, end), value: node.value.clone() };
        if matches!(self.frames.last(), Some(Frame { shape: Shape::Map(_, None), .. })) {
            let name = match node.value {
                NodeValue::String(text) | NodeValue::Number(text) => text,
                NodeValue::Bool(value) => value.to_string(),
                NodeValue::Null | NodeValue::List(_) | NodeValue::Map(_) => return Err(self.bad_key(start, end)),
            };
            self.key(Key::Name(name, node.span));
            return Ok(());
        }
        self.value(Built { node, height, from_alias: true, end }, 0, 0)
    }

    /// Puts a finished value in its place: under its anchor, into its list, under its key, or at the root.
    fn value(&mut self, built: Built, anchor: usize, size: usize) -> Result<(), Problem> {
        if anchor != 0 {
            self.anchored += size;
            if self.anchored > MAX_ANCHORED {
                let message = "this document nests too many anchors";
                return Err(self.chunk.problem(Code::YamlAliasBomb, built.end, built.end, message));
            }
            self.anchors.insert(anchor, Anchored { node: built.node.clone(), height: built.height, size });
        }
        let Some(frame) = self.frames.last_mut() else {
            self.root = Some(built.node);
            return Ok(());
        };
        frame.height = frame.height.max(built.height);
        frame.end = frame.end.max(built.end);
        match &mut frame.shape {
            Shape::List(items) => items.push(built.node),
            Shape::Map(mapping, key) => match key.take() {
                Some(Key::Name(key, key_span)) => {
                    let entry = Entry { key, key_span, value: built.node };
                    self.problems.extend(mapping.set(entry, false));
                }
                Some(Key::Merge) => self.problems.extend(mapping.merge(built)?),
                None => {}
            },
        }
        Ok(())
    }
}

impl Mapping {
    /// Sets a key. The last value wins, as in kubectl, which does not report duplicates.
    fn set(&mut self, entry: Entry, merged: bool) -> Option<Problem> {
        let Some(place) = self.place(&entry.key) else {
            if self.entries.len() > FEW_KEYS {
                self.places.insert(entry.key.clone(), self.entries.len());
            }
            self.mark(self.entries.len(), merged);
            self.entries.push(entry);
            return None;
        };
        let was_merged = self.merged.get(place) == Some(&true);
        let problem = (!was_merged).then(|| duplicate(&entry, merged));
        self.entries[place] = entry;
        self.mark(place, merged);
        problem
    }

    fn mark(&mut self, place: usize, merged: bool) {
        if merged {
            self.merged.resize(self.merged.len().max(place + 1), false);
        }
        if let Some(mark) = self.merged.get_mut(place) {
            *mark = merged;
        }
    }

    fn place(&mut self, key: &str) -> Option<usize> {
        if self.entries.len() <= FEW_KEYS {
            return self.entries.iter().position(|entry| entry.key == key);
        }
        if self.places.is_empty() {
            self.places = self.entries.iter().enumerate().map(|(place, entry)| (entry.key.clone(), place)).collect();
        }
        self.places.get(key).copied()
    }

    /// Takes over the keys of `<<`. In go-yaml v2 they override keys above `<<`, contrary to YAML's own rule.
    fn merge(&mut self, built: Built) -> Result<Vec<Problem>, Problem> {
        let span = built.node.span;
        let sources = match built.node.value {
            // The first of several mappings wins.
            NodeValue::List(items) if !built.from_alias => items.iter().rev().cloned().collect(),
            value => vec![Node { span, value }],
        };
        let mut problems = Vec::new();
        for source in sources {
            let NodeValue::Map(entries) = source.value else {
                return Err(Problem {
                    code: Code::YamlSyntax,
                    severity: Severity::Error,
                    span: Some(source.span),
                    message: "`<<` takes a mapping, an alias of a mapping, or a list of these".to_owned(),
                    help: None,
                });
            };
            problems.extend(entries.iter().filter_map(|entry| self.set(entry.clone(), true)));
        }
        Ok(problems)
    }
}

fn duplicate(entry: &Entry, merged: bool) -> Problem {
    let message = if merged {
        format!("`{}` is set above and again by `<<`: kubectl uses the merged value", entry.key)
    } else {
        format!("`{}` is given twice in the same mapping: kubectl uses the last one", entry.key)
    };
    Problem {
        code: if merged { Code::YamlMergedKey } else { Code::YamlDuplicateKey },
        severity: Severity::Warning,
        span: Some(entry.key_span),
        message,
        help: Some(if merged { "write `<<` first" } else { "delete one of the two" }.to_owned()),
    }
}

fn surprise(span: Span, word: &str, resolved: &Scalar) -> Problem {
    let meaning = match resolved {
        Scalar::Bool(value) => value.to_string(),
        Scalar::Int(value) => scalar::int_json(*value),
        Scalar::Float(value) => scalar::float_json(*value),
        Scalar::Null | Scalar::Text => "null".to_owned(),
    };
    Problem {
        code: Code::Yaml11Surprise,
        severity: Severity::Info,
        span: Some(span),
        message: format!("kubectl reads `{word}` as {meaning} (YAML 1.1)"),
        help: Some(format!("write {meaning}, or \"{word}\" if it is a string")),
    }
}

fn scalar_value(resolved: &Scalar, text: Cow<'_, str>) -> Option<NodeValue> {
    Some(match *resolved {
        Scalar::Null => NodeValue::Null,
        Scalar::Bool(value) => NodeValue::Bool(value),
        Scalar::Int(value) => NodeValue::Number(scalar::int_json(value)),
        Scalar::Float(value) if value.is_finite() => NodeValue::Number(scalar::float_json(value)),
        Scalar::Float(_) => return None,
        Scalar::Text => NodeValue::String(text.into_owned()),
    })
}

fn tag_of(tag: &granit_parser::Tag) -> Tag {
    match tag.suffix_in_namespace("tag:yaml.org,2002:").as_deref() {
        Some("bool") => Tag::Bool,
        Some("int") => Tag::Int,
        Some("float") => Tag::Float,
        Some("null") => Tag::Null,
        Some("binary") => Tag::Binary,
        _ => Tag::Text,
    }
}

/// go-yaml's alias limit (2.4): 99% of a small document may come from aliases, 10% of a large one.
#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
fn ratio_exceeded(aliased: usize, decoded: usize) -> bool {
    const LOW: f64 = 400_000.0;
    const HIGH: f64 = 4_000_000.0;
    let decoded = decoded as f64;
    let allowed = 0.99 - 0.89 * ((decoded.clamp(LOW, HIGH) - LOW) / (HIGH - LOW));
    aliased as f64 / decoded > allowed
}

/// Whether a parser error is about a tab.
fn is_tab(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::TabNotAllowed
            | ErrorKind::TabInBlockIndentation
            | ErrorKind::TabInIndentation
            | ErrorKind::TabAtBlockScalarStart
            | ErrorKind::TabInPlainScalar
    )
}

/// A parser error, and its usual cause.
fn explain(kind: &ErrorKind) -> (String, Option<&'static str>) {
    let help = match kind {
        kind if is_tab(kind) => Some("indent with spaces: YAML does not allow tabs here"),
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => {
            Some("quote a string that contains `: `; otherwise check the indentation of this line and the one above")
        }
        ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::InvalidIndentation
        | ErrorKind::ExpectedBlockSequenceEntry
        | ErrorKind::BlockSequenceEntryNotAllowed
        | ErrorKind::MappingKeyNotAllowed
        | ErrorKind::SimpleKeyExpected => Some("check the indentation of this line and the ones above"),
        ErrorKind::UnclosedQuotedScalar | ErrorKind::DocumentIndicatorInQuotedScalar => Some("close the quote"),
        ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::ExpectedFlowMappingSeparator
        | ErrorKind::ExpectedFlowSequenceSeparator
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofFlowSequence => Some("check for a missing comma or closing bracket"),
        ErrorKind::UnexpectedCharacter { .. } => Some("quote a string that starts with this character"),
        ErrorKind::UnknownAnchor => Some("quote a string that starts with `*`"),
        ErrorKind::ExpectedDocumentStart => {
            return (
                "the document ends above: kubectl silently drops everything from here on".to_owned(),
                Some("check the indentation, or put `---` between two documents"),
            );
        }
        ErrorKind::UnknownQuotedScalarEscape => Some("use single quotes, or double the backslash"),
        _ => None,
    };
    (kind.to_string(), help)
}

/// The last character boundary at or before a byte.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

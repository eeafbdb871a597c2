//! An AdmissionReview as received. Its parts are found without building the objects in it.

use super::json::{self, JsonError, Part, Size};
use crate::lint::limits::{self, Excess};
use crate::source::escape;
use serde_json::Value;
use std::fmt;
use std::ops::Range;

/// Annotation of a filter with the reason why it is admitted despite findings.
pub const EXEMPT_ANNOTATION: &str = "envoyfilter.dev/admission-exempt";

/// Why a body is not an AdmissionReview with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoReview {
    /// The bytes are not UTF-8.
    NotText,
    /// The body, or a part of it, is not JSON.
    NotJson(JsonError),
    /// It is of another kind.
    Kind(String),
    /// It is of another version.
    Version(String),
    /// A part is missing: its name, and the operation that requires it (empty: every one).
    Missing(&'static str, String),
    /// A part is not an object.
    NotAnObject(&'static str),
    /// An operation that does not exist for EnvoyFilters.
    Operation(String),
}

impl fmt::Display for NoReview {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoReview::NotText => out.write_str("the body is not an AdmissionReview: it is not UTF-8"),
            NoReview::NotJson(error) => write!(out, "the body is not an AdmissionReview: {error}"),
            NoReview::Kind(kind) => write!(out, "the body is not an AdmissionReview: its kind is {kind:?}"),
            NoReview::Version(version) => write!(
                out,
                "AdmissionReview {version:?} is not supported: list v1 in admissionReviewVersions of the webhook"
            ),
            NoReview::Missing(part, operation) if operation.is_empty() => {
                write!(out, "the AdmissionReview has no `{part}`")
            }
            NoReview::Missing(part, operation) => write!(out, "{operation} requires `{part}`, which the request lacks"),
            NoReview::NotAnObject(part) => write!(out, "`{part}` of the request is not an object"),
            NoReview::Operation(operation) => write!(out, "unknown operation {operation:?} on an EnvoyFilter"),
        }
    }
}

impl std::error::Error for NoReview {}

impl From<JsonError> for NoReview {
    fn from(error: JsonError) -> NoReview {
        NoReview::NotJson(error)
    }
}

/// An unparsed object of a request.
#[derive(Clone, Debug)]
struct Unread {
    /// Its place in the text of the review.
    range: Range<usize>,
    /// Without the bookkeeping of the API server.
    size: Size,
    /// The place of that bookkeeping, `metadata.managedFields`, which is never built.
    managed: Option<Range<usize>>,
    namespace: String,
    name: String,
    exemption: Option<String>,
    /// The place of its `spec`; `None` if it is missing or null.
    spec: Option<Range<usize>>,
}

/// A change to be reviewed.
#[derive(Clone, Debug)]
pub struct Request {
    /// Must be returned in the answer.
    pub uid: String,
    /// `CREATE`, `UPDATE`, `DELETE` or `CONNECT`.
    pub operation: String,
    /// Whether it is a dry run.
    pub dry_run: bool,
    /// Namespace of the filter.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The user.
    pub(super) user: String,
    /// Whether it is about an EnvoyFilter.
    pub(super) is_filter: bool,
    text: String,
    old: Option<Unread>,
    new: Option<Unread>,
}

/// Which of the two objects of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// As it is stored.
    Old,
    /// As it is to be stored.
    New,
}

/// The relevant members of an object, the last of each name.
struct Members<'t> {
    text: &'t str,
    found: Vec<(String, Part)>,
}

impl<'t> Members<'t> {
    fn of(text: &'t str, range: Range<usize>) -> Result<Members<'t>, JsonError> {
        let inside = text.get(range.clone()).unwrap_or_default();
        Ok(Members { text, found: json::members(inside, range.start)? })
    }

    /// A member that exists and is not null.
    fn get(&self, key: &str) -> Option<&Part> {
        let part = self.found.iter().rev().find(|(name, _)| name == key).map(|(_, part)| part)?;
        (self.text.get(part.range.clone()) != Some("null")).then_some(part)
    }

    fn inside(&self, key: &str) -> Option<Members<'t>> {
        Members::of(self.text, self.get(key)?.range.clone()).ok()
    }

    /// A string; empty if missing.
    fn text(&self, key: &str) -> String {
        let value = self.get(key).and_then(|part| self.text.get(part.range.clone()));
        value.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }
}

impl Request {
    /// Reads an AdmissionReview; the objects in it stay text.
    pub fn read(body: &[u8]) -> Result<Request, NoReview> {
        let text = std::str::from_utf8(body).map_err(|_| NoReview::NotText)?.to_owned();
        let review = Members::of(&text, 0..text.len())?;
        let (version, kind) = (review.text("apiVersion"), review.text("kind"));
        if kind != "AdmissionReview" {
            return Err(NoReview::Kind(kind));
        }
        if version != "admission.k8s.io/v1" {
            return Err(NoReview::Version(version));
        }
        let Some(request) = review.inside("request") else {
            return Err(NoReview::Missing("request", String::new()));
        };
        let uid = request.text("uid");
        if uid.is_empty() {
            return Err(NoReview::Missing("uid", String::new()));
        }
        let operation = request.text("operation");
        let resource = request.inside("resource");
        let of_resource = |key: &str| resource.as_ref().map(|resource| resource.text(key)).unwrap_or_default();
        let is_filter = of_resource("resource") == "envoyfilters"
            && of_resource("group") == "networking.istio.io"
            && request.text("subResource").is_empty();
        let old = request.get("oldObject").map(|part| unread(&text, part, "oldObject")).transpose()?;
        let new = request.get("object").map(|part| unread(&text, part, "object")).transpose()?;
        if is_filter {
            let want = |object: &Option<Unread>, part| {
                if object.is_some() { Ok(()) } else { Err(NoReview::Missing(part, operation.clone())) }
            };
            match operation.as_str() {
                "CREATE" => want(&new, "object")?,
                "UPDATE" => want(&new, "object").and_then(|()| want(&old, "oldObject"))?,
                "DELETE" => want(&old, "oldObject")?,
                _ => return Err(NoReview::Operation(operation)),
            }
        }
        let either = |inside: fn(&Unread) -> &String, outside: &str| {
            let inside = new.as_ref().or(old.as_ref()).map(inside).filter(|text| !text.is_empty());
            inside.cloned().unwrap_or_else(|| request.text(outside))
        };
        let user = request.inside("userInfo").map(|user| user.text("username")).unwrap_or_default();
        let dry_run = request.get("dryRun").and_then(|part| text.get(part.range.clone())) == Some("true");
        let (namespace, name) = (either(|it| &it.namespace, "namespace"), either(|it| &it.name, "name"));
        drop((review, request, resource));
        Ok(Request { uid, operation, dry_run, namespace, name, user, is_filter, text, old, new })
    }

    /// An object, if it matters for the operation: the API server may send DELETE with both.
    fn object(&self, which: Which) -> Option<&Unread> {
        match which {
            Which::Old => self.old.as_ref().filter(|_| self.operation != "CREATE"),
            Which::New => self.new.as_ref().filter(|_| self.operation != "DELETE"),
        }
    }

    /// Whether the operation has this object.
    pub(super) fn has(&self, which: Which) -> bool {
        self.object(which).is_some()
    }

    /// Builds an object. Fails when its text turns out not to be JSON.
    pub(super) fn build(&self, which: Which) -> Result<Option<Value>, JsonError> {
        let Some(object) = self.object(which) else { return Ok(None) };
        let text = |range: Range<usize>| self.text.get(range).unwrap_or_default();
        let whole = object.range.clone();
        let Some(managed) = &object.managed else { return json::parse(text(whole), object.size.depth).map(Some) };
        let (before, after) = (text(whole.start..managed.start), text(managed.end..whole.end));
        json::parse(&[before, "null", after].concat(), object.size.depth).map(Some)
    }

    /// The limit that an object exceeds; then it must not be built.
    pub(super) fn excess(&self, which: Which) -> Option<Excess> {
        let object = self.object(which)?;
        limits::of_size(object.size.values, object.size.depth)
    }

    /// Whether an update leaves `spec` unchanged, byte for byte: the API server writes both objects with one encoder.
    pub(super) fn same_spec(&self) -> bool {
        let (Some(old), Some(new)) = (self.object(Which::Old), self.object(Which::New)) else { return false };
        let text = |object: &Unread| object.spec.clone().and_then(|range| self.text.get(range));
        text(old) == text(new)
    }

    /// The filter's reason for its exemption; empty when the annotation has none.
    pub(super) fn exemption(&self) -> Option<&str> {
        let exemption = self.object(Which::New).or(self.object(Which::Old))?.exemption.as_deref()?;
        // Invisible characters are no reason: U+2800 is an empty braille cell.
        let is_blank = |c: char| c.is_whitespace() || escape::is_unsafe(c) || c == '\u{2800}';
        Some(exemption.trim_matches(is_blank))
    }
}

fn unread(text: &str, part: &Part, name: &'static str) -> Result<Unread, NoReview> {
    let object = Members::of(text, part.range.clone()).map_err(|error| match error {
        JsonError::NotAnObject => NoReview::NotAnObject(name),
        JsonError::Syntax(_) => NoReview::NotJson(error),
    })?;
    let metadata = object.inside("metadata");
    let of_metadata = |key: &str| metadata.as_ref().map(|it| it.text(key)).unwrap_or_default();
    let annotations = metadata.as_ref().and_then(|metadata| metadata.inside("annotations"));
    let exemption = annotations.filter(|it| it.get(EXEMPT_ANNOTATION).is_some()).map(|it| it.text(EXEMPT_ANNOTATION));
    // A user cannot make them smaller, and nobody reads them.
    let managed = metadata.as_ref().and_then(|it| it.get("managedFields"));
    let values = part.size.values.saturating_sub(managed.map_or(0, |managed| managed.size.values));
    Ok(Unread {
        range: part.range.clone(),
        size: Size { values, ..part.size },
        managed: managed.map(|managed| managed.range.clone()),
        namespace: of_metadata("namespace"),
        name: of_metadata("name"),
        exemption,
        spec: object.get("spec").map(|spec| spec.range.clone()),
    })
}

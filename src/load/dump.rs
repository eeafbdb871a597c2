//! Config dumps of Envoys, read into one buffer and indexed. Resources stay text until they are needed.
//!
//! Accepted: Envoy's admin `/config_dump` (whole, or a part requested with `?resource=`), istiod's `/debug/config_dump`, and
//! the output of `istioctl proxy-config … -o json`, plain, gzip or zstd. A dump of 100 MB takes its own size in memory, or two
//! thirds of it when its layout is not needed.

mod foreign;
mod identity;
mod index;
mod read;
mod redacted;
mod rewrite;
mod text;

pub use identity::{Identity, override_identity};
pub use read::Layout;
pub use redacted::{Redactions, Searched, Wanted};
pub use rewrite::{Edit, Rewritten};
pub use text::Pool;

use crate::load::files::{reason, shown};
use crate::load::limits::{Limits, excess};
use crate::model::proxy::{Proxy, ProxyKind};
use crate::model::resource::{
    FieldNames, ProxyConfig, RefusedResource, Resource, ResourceError, ResourceKind, ResourceState, ResourceText,
};
use crate::proto::json_scan::Fault;
use crate::source::{Code, Problem, Severity};
use index::{Entry, Failure, Index};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use text::Text;

/// A dump: its text and the places of its resources in it.
#[derive(Debug)]
pub struct Dump {
    name: String,
    text: Text,
    index: Index,
    /// Which resources were read: [`ResourceText`].
    reads: Box<[AtomicBool]>,
    node_id: Option<String>,
    proxy: Option<Proxy>,
    lent: Arc<BTreeMap<String, String>>,
    generated: bool,
}

impl Dump {
    /// Reads a file within the default limits. Nothing is returned when it is not a dump; a truncated dump gives its complete
    /// part.
    pub fn read(path: &Path, layout: Layout) -> (Option<Dump>, Vec<Problem>) {
        Dump::read_within(path, layout, Limits::default())
    }

    /// The same within other limits.
    pub(crate) fn read_within(path: &Path, layout: Layout, limits: Limits) -> (Option<Dump>, Vec<Problem>) {
        let name = shown(path);
        let read = match read::file(path, layout, limits) {
            Ok(bytes) => Dump::from_bytes(name, bytes),
            Err(error) => (None, vec![unreadable(&name, &error)]),
        };
        // Places in messages refer to the file.
        if layout == Layout::Dropped && !read.1.is_empty() {
            Dump::read_within(path, Layout::Kept, limits)
        } else {
            read
        }
    }

    /// The same from a stream, such as standard input. Places in messages refer to the kept text.
    pub fn from_reader(name: impl Into<String>, input: impl Read, layout: Layout) -> (Option<Dump>, Vec<Problem>) {
        Dump::from_reader_within(name, input, layout, Limits::default())
    }

    /// The same within other limits.
    pub(crate) fn from_reader_within(
        name: impl Into<String>,
        input: impl Read,
        layout: Layout,
        limits: Limits,
    ) -> (Option<Dump>, Vec<Problem>) {
        Dump::from_bytes(name.into(), read::stream(input, 0, layout, limits))
    }

    fn from_bytes(name: String, read::Bytes { mut bytes, error }: read::Bytes) -> (Option<Dump>, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut cut = false;
        if let Some(error) = error {
            cut = error.kind() == io::ErrorKind::UnexpectedEof;
            problems.push(if cut { cut_archive(&name, bytes.len()) } else { unreadable(&name, &error) });
            if bytes.is_empty() || excess(&error).is_some() {
                return (None, problems);
            }
        }
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let (valid, inside) = (error.utf8_error().valid_up_to(), error.utf8_error().error_len().is_some());
                bytes = error.into_bytes();
                if let Some(problem) = foreign::binary(&name, &bytes) {
                    problems.push(problem);
                    return (None, problems);
                }
                if inside {
                    problems.push(not_utf8(&name, &bytes, valid));
                    return (None, problems);
                }
                // Only the last character is cut off: the end of a truncated dump.
                bytes.truncate(valid);
                String::from_utf8(bytes).unwrap_or_default()
            }
        };
        if let Some(problem) = foreign::binary(&name, text.as_bytes()) {
            problems.push(problem);
            return (None, problems);
        }
        let (dump, found) = Dump::from_text(name, text);
        // The end of a truncated archive was reported already.
        problems.extend(found.into_iter().filter(|problem| !(cut && problem.code == Code::DumpTruncated)));
        (dump, problems)
    }

    /// Indexes a text that a proxy sent, without its indentation: only for looking at.
    pub(crate) fn from_answer(name: impl Into<String>, text: String) -> (Option<Dump>, Vec<Problem>) {
        Dump::from_text(name, read::without_indentation(text))
    }

    /// Indexes a text.
    pub fn from_text(name: impl Into<String>, text: impl Into<String>) -> (Option<Dump>, Vec<Problem>) {
        let (name, text) = (name.into(), text.into());
        if text.len() > index::LONGEST {
            return (None, vec![too_long(&name, text.len())]);
        }
        let (index, whole, fault) = index::index(&text);
        let nothing = index.entries.is_empty()
            && index.refused.is_empty()
            && !index.seen.bootstrap
            && index.lists.iter().all(Option::is_none)
            && index.sections.iter().all(Option::is_none);
        let mut problems: Vec<Problem> = fault
            .into_iter()
            .map(|fault| broken(&name, &text, fault, whole && !nothing, index.entries.len()))
            .collect();
        if index.seen.ztunnel || is_ztunnel(&text, &index) {
            return (None, vec![foreign::ztunnel(&name)]);
        }
        if nothing {
            let started = index.seen.keys.iter().any(|key| text.get(key.clone()) == Some("configs"));
            if !(started && matches!(fault, Some(Fault::Truncated(_)))) {
                problems = vec![foreign::problem(&name, &text, &index)];
            }
            return (None, problems);
        }
        let reads = index.entries.iter().map(|_| AtomicBool::default()).collect();
        let mut dump = Dump {
            name,
            text: Text::Whole(text),
            index,
            reads,
            node_id: None,
            proxy: None,
            lent: Arc::default(),
            generated: false,
        };
        match dump.index.node.clone().map(|range| identity::node(dump.slice(&range))) {
            Some(Ok(node)) if node.id.starts_with("ztunnel~") => return (None, vec![foreign::ztunnel(&dump.name)]),
            Some(Ok(node)) => {
                if node.proxy.is_none() && !node.id.is_empty() {
                    problems.push(strange_node(&dump.name, &node.id));
                }
                dump.node_id = Some(node.id).filter(|id| !id.is_empty());
                dump.proxy = node.proxy;
            }
            Some(Err(error)) => problems.push(bad_node(&dump.name, &error)),
            None => {}
        }
        (Some(dump), problems)
    }

    /// Shares the texts of its resources with other dumps: those of one mesh are mostly equal.
    pub(crate) fn share(&mut self, pool: &mut Pool) {
        let mut ranges: Vec<Range<usize>> = self.index.entries.iter().filter_map(|entry| entry.json.get()).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        self.text.share(ranges.into_iter(), pool);
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The node id of the proxy, `sidecar~10.2.0.10~cart-1.shop~shop.svc.cluster.local`. Two dumps with the same id are of one
    /// pod.
    pub fn node_id(&self) -> Option<&str> {
        self.node_id.as_deref()
    }

    /// The proxy, if the dump has a bootstrap with an Istio node.
    pub fn proxy(&self) -> Option<&Proxy> {
        self.proxy.as_ref()
    }

    /// How field names are written.
    pub fn field_names(&self) -> FieldNames {
        self.index.field_names
    }

    /// Sets the clusters of other dumps that filters may add to this proxy by an annotation: JSON by name.
    pub fn lend(&mut self, clusters: Arc<BTreeMap<String, String>>) {
        self.lent = clusters;
    }

    /// Marks it as made without any EnvoyFilter, so that nothing must be undone in it.
    #[must_use]
    pub(crate) fn without_filters(mut self) -> Dump {
        self.generated = true;
        self
    }

    /// How many resources it contains.
    pub fn len(&self) -> usize {
        self.index.entries.len()
    }

    /// Whether it contains no resource.
    pub fn is_empty(&self) -> bool {
        self.index.entries.is_empty()
    }

    /// The proxy and its resources; what the user states about the proxy overrides the dump. Fails when neither gives the
    /// namespace.
    pub fn config(&self, identity: &Identity) -> Result<ProxyConfig<'_>, Problem> {
        Ok(ProxyConfig {
            proxy: override_identity(self.proxy.clone(), identity, self.guess_kind())?,
            resources: self
                .index
                .entries
                .iter()
                .zip(&self.reads)
                .map(|(entry, reads)| self.resource(entry, reads))
                .collect(),
            refused: self.index.refused.iter().map(|refused| self.refused(refused)).collect(),
            field_names: self.index.field_names,
            lent: Arc::clone(&self.lent),
            generated: self.generated,
        })
    }

    fn slice(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    /// The value of a string, from the text between its quotes.
    fn string(&self, range: &Range<usize>) -> Cow<'_, str> {
        let raw = self.slice(range);
        if memchr::memchr(b'\\', raw.as_bytes()).is_none() {
            return Cow::Borrowed(raw);
        }
        let quoted = self.slice(&(range.start.saturating_sub(1)..range.end + 1));
        serde_json::from_str(quoted).map_or(Cow::Borrowed(raw), Cow::Owned)
    }

    fn maybe(&self, range: Option<&Range<usize>>) -> Option<Cow<'_, str>> {
        range.map(|range| self.string(range))
    }

    fn resource<'d>(&'d self, entry: &Entry, reads: &'d AtomicBool) -> Resource<'d> {
        Resource {
            kind: entry.kind,
            name: self.maybe(entry.name.get().as_ref()).unwrap_or_default(),
            state: entry.state,
            json: ResourceText::noted(self.slice(&entry.json.range()), reads),
            last_updated: entry.last_updated.get().map(|range| self.slice(&range)),
            error: entry.error.as_ref().map(|failure| Box::new(self.error(failure))),
            opened: None,
        }
    }

    fn refused(&self, refused: &index::Refused) -> RefusedResource<'_> {
        RefusedResource {
            kind: refused.kind,
            name: self.maybe(refused.name.as_ref()).unwrap_or_default(),
            error: self.error(&refused.error),
        }
    }

    fn error(&self, failure: &Failure) -> ResourceError<'_> {
        ResourceError {
            details: self.maybe(failure.details.as_ref()).unwrap_or_default(),
            failed_configuration: failure.failed_configuration.as_ref().map(|range| self.slice(range)),
            last_update_attempt: self.maybe(failure.last_update_attempt.as_ref()),
            version_info: self.maybe(failure.version_info.as_ref()),
        }
    }

    /// The likely kind of a proxy without a node id, by listeners that istiod gives to one kind only.
    fn guess_kind(&self) -> ProxyKind {
        let listeners = || self.index.entries.iter().filter(|entry| entry.kind == ResourceKind::Listener);
        let has =
            |names: &[&str]| listeners().any(|it| it.name.get().is_some_and(|name| names.contains(&self.slice(&name))));
        if has(&["virtualInbound", "virtualOutbound"]) {
            ProxyKind::Sidecar
        } else if has(&["main_internal", "connect_terminate"]) {
            ProxyKind::Waypoint
        } else if listeners().any(|entry| entry.state != ResourceState::Static) {
            ProxyKind::Gateway
        } else {
            ProxyKind::Sidecar
        }
    }
}

/// ztunnel's own /config_dump.
fn is_ztunnel(text: &str, index: &Index) -> bool {
    let has = |word: &str| index.seen.keys.iter().any(|key| text.get(key.clone()) == Some(word));
    has("workloads") && (has("services") || has("workloadState"))
}

fn error(code: Code, message: String, help: &str) -> Problem {
    Problem { code, severity: Severity::Error, span: None, message, help: Some(help.to_owned()) }
}

fn unreadable(name: &str, cause: &io::Error) -> Problem {
    if let Some(excess) = excess(cause) {
        let mut problem = error(Code::DumpTooLarge, format!("cannot read {name}: {excess}"), "");
        problem.help = excess.help();
        return problem;
    }
    error(
        Code::DumpUnreadable,
        format!("cannot read {name}: {}", reason(cause)),
        "check the path, its permissions and the archive",
    )
}

fn cut_archive(name: &str, got: usize) -> Problem {
    let message =
        format!("{name} is a compressed file that ends too early; the first {got} bytes of the dump are used");
    error(Code::DumpTruncated, message, "dump again, or copy the file again")
}

fn not_utf8(name: &str, bytes: &[u8], at: usize) -> Problem {
    let place = place(bytes, at);
    error(Code::DumpNotUtf8, format!("{name}:{place}: not UTF-8"), "dump again; JSON is UTF-8 text")
}

/// Turns a fault into a problem. Dumps are not in the table of sources, whose line index would cost a tenth of their size, so
/// the place is part of the message.
fn broken(name: &str, text: &str, fault: Fault, after_dump: bool, resources: usize) -> Problem {
    match fault {
        Fault::Truncated(at) => error(
            Code::DumpTruncated,
            format!(
                "{name}:{}: the dump ends inside the value that starts here; the {resources} resources that are complete are used",
                place(text.as_bytes(), at)
            ),
            "dump again: the connection or the disk may have ended early",
        ),
        Fault::Unexpected(at) if after_dump => Problem {
            severity: Severity::Warning,
            ..error(
                Code::DumpTrailingText,
                format!(
                    "{name}:{}: the text from here on is not part of the dump and is ignored",
                    place(text.as_bytes(), at)
                ),
                "redirect only the output of the dumping command to the file",
            )
        },
        Fault::Unexpected(at) => error(
            Code::DumpNotJson,
            format!(
                "{name}:{}: not JSON from here on; the {resources} resources before it are used",
                place(text.as_bytes(), at)
            ),
            "dump again",
        ),
    }
}

fn strange_node(name: &str, id: &str) -> Problem {
    let message = format!("{name}: node id \"{id}\" is not an Istio node id, so the proxy is unknown");
    Problem {
        severity: Severity::Warning,
        ..error(Code::DumpStrangeNode, message, "name the proxy's kind, namespace and labels")
    }
}

fn too_long(name: &str, length: usize) -> Problem {
    let message = format!("{name}: the dump is {length} bytes; the limit is {}", index::LONGEST);
    error(Code::DumpTooLong, message, "ask Envoy for a part of it: /config_dump?resource=dynamic_listeners")
}

fn bad_node(name: &str, cause: &serde_json::Error) -> Problem {
    let message = format!("{name}: the node in the bootstrap is not readable: {cause}");
    Problem {
        severity: Severity::Warning,
        ..error(Code::DumpStrangeNode, message, "name the proxy's kind, namespace and labels")
    }
}

/// `line:column` of a byte, columns in characters.
fn place(bytes: &[u8], at: usize) -> String {
    let before = bytes.get(..at).unwrap_or(bytes);
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    let column = before.get(start..).unwrap_or_default().iter().filter(|byte| **byte & 0xc0 != 0x80).count() + 1;
    format!("{line}:{column}")
}

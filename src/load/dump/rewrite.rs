//! Writes a dump with some resources changed: every byte that no edit touches comes straight from the buffer.

use super::Dump;
use super::index::Entry;
use crate::model::resource::{FieldNames, ResourceKind};
use crate::proto::json_scan::{Scanner, string_end};
use crate::source::{Code, Problem, Severity};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::ops::Range;

/// A change to a dump. Resources are named by their index in [`ProxyConfig::resources`].
///
/// [`ProxyConfig::resources`]: crate::model::resource::ProxyConfig::resources
#[derive(Clone, Debug)]
pub enum Edit<'e> {
    /// Replaces the JSON text of a resource. The last text for a resource wins.
    Replace {
        /// Which.
        resource: usize,
        /// The new text, with the field names of the dump.
        json: Cow<'e, str>,
    },
    /// Removes a resource with its list item: all states of a dynamic listener are removed.
    Remove {
        /// Which.
        resource: usize,
    },
    /// Appends a resource to the dynamic ones of its kind.
    Add {
        /// Kind.
        kind: ResourceKind,
        /// Its text, with the field names of the dump.
        json: Cow<'e, str>,
    },
}

/// A dump with edits, ready to be written.
#[derive(Debug)]
pub struct Rewritten<'a> {
    text: &'a str,
    style: Style,
    /// Sorted, without overlaps.
    splices: Vec<Splice<'a>>,
    /// Edits without a place in the dump.
    pub problems: Vec<Problem>,
}

#[derive(Debug)]
struct Splice<'a> {
    range: Range<usize>,
    pieces: Vec<Piece<'a>>,
}

#[derive(Debug)]
enum Piece<'a> {
    Text(String),
    /// To be laid out at this indentation.
    Json(&'a str, String),
}

impl Dump {
    /// The dump with edits. Secrets and what follows a fault are always omitted; without these and without edits the result is
    /// the text of the dump, byte for byte.
    pub fn rewrite<'a>(&'a self, edits: &'a [Edit<'a>]) -> Rewritten<'a> {
        let text = self.text.whole();
        let text = text.get(..self.index.read).unwrap_or(text);
        let mut plan = Plan { dump: self, text, style: Style::of(text), splices: Vec::new(), emptied: BTreeSet::new() };
        let mut problems = Vec::new();
        let mut replaced: BTreeMap<usize, (&Entry, &str)> = BTreeMap::new();
        let mut gone: BTreeSet<(usize, usize)> = self.index.secrets.iter().map(ends).collect();
        let mut added: [Vec<&str>; 4] = Default::default();
        for edit in edits {
            match edit {
                Edit::Replace { resource, json } => match self.index.entries.get(*resource) {
                    Some(entry) => drop(replaced.insert(entry.json.range().start, (entry, json))),
                    None => problems.push(no_resource(*resource)),
                },
                Edit::Remove { resource } => match self.index.entries.get(*resource) {
                    Some(entry) => drop(gone.insert(ends(&entry.item.range()))),
                    None => problems.push(no_resource(*resource)),
                },
                Edit::Add { kind, json } => added[*kind as usize].push(json),
            }
        }
        for (entry, json) in replaced.into_values() {
            if !gone.contains(&ends(&entry.item.range())) {
                let indent = plan.indent_at(entry.json.range().end);
                plan.splice(entry.json.range(), vec![Piece::Json(json, indent)]);
            }
        }
        plan.remove(&gone);
        for kind in ResourceKind::ALL {
            let resources = &added[kind as usize];
            if !resources.is_empty() && !plan.add(kind, resources) {
                problems.push(no_place(kind));
            }
        }
        plan.splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
        Rewritten { text, style: plan.style, splices: plan.splices, problems }
    }
}

fn ends(range: &Range<usize>) -> (usize, usize) {
    (range.start, range.end)
}

impl Rewritten<'_> {
    /// Writes the whole text.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let mut at = 0;
        for Splice { range, pieces } in &self.splices {
            self.copy(at..range.start, out)?;
            for piece in pieces {
                match piece {
                    Piece::Text(text) => out.write_all(text.as_bytes())?,
                    Piece::Json(json, indent) => self.style.lay_out(json, indent, out)?,
                }
            }
            at = range.end.max(at);
        }
        self.copy(at..self.text.len(), out)
    }

    fn copy(&self, range: Range<usize>, out: &mut impl Write) -> io::Result<()> {
        out.write_all(self.text.get(range).unwrap_or_default().as_bytes())
    }
}

struct Plan<'a> {
    dump: &'a Dump,
    text: &'a str,
    style: Style,
    splices: Vec<Splice<'a>>,
    /// Closing brackets of lists that lose every item.
    emptied: BTreeSet<usize>,
}

impl<'a> Plan<'a> {
    fn splice(&mut self, range: Range<usize>, pieces: Vec<Piece<'a>>) {
        self.splices.push(Splice { range, pieces });
    }

    /// The first byte at or after `at` that is not white space.
    fn after(&self, at: usize) -> Option<(usize, u8)> {
        let rest = self.text.as_bytes().get(at..)?;
        let skip = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        Some((at + skip, *rest.get(skip)?))
    }

    /// The last byte before `at` that is not white space.
    fn before(&self, at: usize) -> Option<(usize, u8)> {
        let rest = self.text.as_bytes().get(..at)?;
        let found = rest.iter().rposition(|byte| !byte.is_ascii_whitespace())?;
        Some((found, *rest.get(found)?))
    }

    /// White space that the line of the byte before `at` starts with.
    fn indent_at(&self, at: usize) -> String {
        if self.style.unit.is_none() {
            return String::new();
        }
        let before = self.text.get(..at).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        line.chars().take_while(|char| matches!(char, ' ' | '\t')).collect()
    }

    /// Removes items from their lists, each with one comma.
    fn remove(&mut self, items: &BTreeSet<(usize, usize)>) {
        // The start of the next item if all items before it in its list are removed, and the splice that removed the first.
        let mut head: Option<(usize, usize)> = None;
        for &(start, end) in items {
            let continued = head.filter(|(next, _)| *next == start);
            match self.before(start) {
                Some((comma, b',')) if continued.is_none() => self.splice(comma..end, Vec::new()),
                _ => {
                    let first = continued.map_or(self.splices.len(), |(_, first)| first);
                    head = None;
                    match self.after(end) {
                        Some((comma, b',')) => {
                            let next = self.after(comma + 1).map_or(comma + 1, |(next, _)| next);
                            self.splice(start..next, Vec::new());
                            head = Some((next, first));
                        }
                        Some((close, b']')) => {
                            self.splice(start..close, Vec::new());
                            if let Some(splice) = self.splices.get(first).map(|splice| splice.range.start) {
                                let open = self.before(splice).filter(|(_, byte)| *byte == b'[');
                                let from = open.map_or(splice, |(open, _)| open + 1);
                                if let Some(splice) = self.splices.get_mut(first) {
                                    splice.range.start = from;
                                }
                            }
                            self.emptied.insert(close);
                        }
                        // No list around it: a document of its own, or the end of a truncated dump.
                        _ => self.splice(start..end, Vec::new()),
                    }
                }
            }
        }
    }

    /// Appends resources; `false` if no list, section or dump can take them.
    fn add(&mut self, kind: ResourceKind, resources: &[&'a str]) -> bool {
        if let Some(list) = &self.dump.index.lists[kind as usize] {
            let close = list.range.end - 1;
            let base = self.indent_at(list.range.end);
            let item = self.style.deeper(&base);
            let items = resources.iter().map(|json| self.item(kind, json, &item, list.wrapped)).collect();
            self.append(close, b'[', &base, items);
        } else if let Some(section) = &self.dump.index.sections[kind as usize] {
            let base = self.indent_at(section.end);
            let list = self.list(kind, resources, &self.style.deeper(&base));
            self.append(section.end - 1, b'{', &base, vec![list]);
        } else if let Some(configs) = &self.dump.index.configs {
            let base = self.indent_at(configs.end);
            let item = self.style.deeper(&base);
            let member = self.style.deeper(&item);
            let Style { colon, .. } = self.style;
            let open =
                format!("{{{}\"@type\"{colon}\"{}\",{}", self.line(&member), section_type(kind), self.line(&member));
            let mut pieces = vec![Piece::Text(open)];
            pieces.extend(self.list(kind, resources, &member));
            pieces.push(Piece::Text(format!("{}}}", self.line(&item))));
            self.append(configs.end - 1, b'[', &base, vec![pieces]);
        } else {
            return false;
        }
        true
    }

    /// Adds members or items before a closing bracket.
    fn append(&mut self, close: usize, open: u8, base: &str, items: Vec<Vec<Piece<'a>>>) {
        let last = self.before(close);
        let empty = self.emptied.contains(&close) || last.is_some_and(|(_, byte)| byte == open);
        let line = self.line(&self.style.deeper(base));
        let mut pieces = Vec::new();
        for (index, item) in items.into_iter().enumerate() {
            pieces.push(Piece::Text(format!("{}{line}", if empty && index == 0 { "" } else { "," })));
            pieces.extend(item);
        }
        let at = match last {
            // The removal of the last item ends at the bracket.
            _ if self.emptied.contains(&close) => close,
            Some((at, _)) => at + 1,
            None => close,
        };
        if empty {
            pieces.push(Piece::Text(self.line(base)));
            self.splice(at..close, pieces);
        } else {
            self.splice(at..at, pieces);
        }
    }

    /// `"ecds_filters": [ … ]` at an indentation.
    fn list(&self, kind: ResourceKind, resources: &[&'a str], base: &str) -> Vec<Piece<'a>> {
        let Style { colon, .. } = self.style;
        let item = self.style.deeper(base);
        let mut pieces = vec![Piece::Text(format!("\"{}\"{colon}[", self.keys(kind).0))];
        for (index, json) in resources.iter().enumerate() {
            pieces.push(Piece::Text(format!("{}{}", if index == 0 { "" } else { "," }, self.line(&item))));
            pieces.extend(self.item(kind, json, &item, true));
        }
        pieces.push(Piece::Text(format!("{}]", self.line(base))));
        pieces
    }

    /// An item of a list at an indentation: the resource with its wrapper.
    fn item(&self, kind: ResourceKind, json: &'a str, base: &str, wrapped: bool) -> Vec<Piece<'a>> {
        if !wrapped {
            return vec![Piece::Json(json, base.to_owned())];
        }
        let Style { colon, .. } = self.style;
        let member = self.style.deeper(base);
        let key = self.keys(kind).1;
        let (before, after, indent) = if kind == ResourceKind::Listener {
            let inner = self.style.deeper(&member);
            let name = raw_name(json)
                .map_or_else(String::new, |name| format!("{}\"name\"{colon}\"{name}\",", self.line(&member)));
            let state = match self.dump.index.field_names {
                FieldNames::Proto => "active_state",
                FieldNames::Json => "activeState",
            };
            let open = format!("{{{name}{}\"{state}\"{colon}{{{}", self.line(&member), self.line(&inner));
            (open, format!("{}}}{}}}", self.line(&member), self.line(base)), inner)
        } else {
            (format!("{{{}", self.line(&member)), format!("{}}}", self.line(base)), member)
        };
        vec![Piece::Text(format!("{before}\"{key}\"{colon}")), Piece::Json(json, indent), Piece::Text(after)]
    }

    /// A new line with an indentation; nothing in a single-line dump.
    fn line(&self, indent: &str) -> String {
        if self.style.unit.is_some() { format!("\n{indent}") } else { String::new() }
    }

    /// Key of the list of a kind, and of the resource in its items.
    fn keys(&self, kind: ResourceKind) -> (&'static str, &'static str) {
        match (self.dump.index.field_names, kind) {
            (FieldNames::Proto, ResourceKind::Listener) => ("dynamic_listeners", "listener"),
            (FieldNames::Json, ResourceKind::Listener) => ("dynamicListeners", "listener"),
            (FieldNames::Proto, ResourceKind::Cluster) => ("dynamic_active_clusters", "cluster"),
            (FieldNames::Json, ResourceKind::Cluster) => ("dynamicActiveClusters", "cluster"),
            (FieldNames::Proto, ResourceKind::Route) => ("dynamic_route_configs", "route_config"),
            (FieldNames::Json, ResourceKind::Route) => ("dynamicRouteConfigs", "routeConfig"),
            (FieldNames::Proto, ResourceKind::ExtensionConfig) => ("ecds_filters", "ecds_filter"),
            (FieldNames::Json, ResourceKind::ExtensionConfig) => ("ecdsFilters", "ecdsFilter"),
        }
    }
}

fn section_type(kind: ResourceKind) -> &'static str {
    match kind {
        ResourceKind::Listener => "type.googleapis.com/envoy.admin.v3.ListenersConfigDump",
        ResourceKind::Cluster => "type.googleapis.com/envoy.admin.v3.ClustersConfigDump",
        ResourceKind::Route => "type.googleapis.com/envoy.admin.v3.RoutesConfigDump",
        ResourceKind::ExtensionConfig => "type.googleapis.com/envoy.admin.v3.EcdsConfigDump",
    }
}

/// The name of a resource as it is in the text, with escapes.
fn raw_name(json: &str) -> Option<&str> {
    let mut scan = Scanner::new(json, 0);
    let mut object = scan.open(b'{')?;
    while let Some(key) = scan.member(&mut object).ok()? {
        if json.get(key) == Some("name") {
            return json.get(scan.string_or_skip().ok()??);
        }
        scan.skip().ok()?;
    }
    None
}

fn no_resource(index: usize) -> Problem {
    Problem {
        code: Code::DumpNoSuchResource,
        severity: Severity::Error,
        span: None,
        message: format!("the dump has no resource number {index}"),
        help: None,
    }
}

fn no_place(kind: ResourceKind) -> Problem {
    Problem {
        code: Code::DumpNoPlace,
        severity: Severity::Error,
        span: None,
        message: format!("the dump has no list that a new {} could be added to", kind.as_str()),
        help: Some("start from a whole dump (istioctl proxy-config all POD -o json)".to_owned()),
    }
}

/// The layout of a dump.
#[derive(Debug)]
struct Style {
    /// The indentation of one level; `None` for a text on one line.
    unit: Option<String>,
    colon: &'static str,
}

impl Style {
    /// The layout of the first container in a text.
    fn of(text: &str) -> Style {
        let inside = text.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']).get(1..).unwrap_or_default();
        let space = inside.get(..inside.len() - inside.trim_start().len()).unwrap_or_default();
        match space.rsplit_once('\n') {
            Some((_, unit)) => Style { unit: Some(unit.to_owned()), colon: ": " },
            None => Style { unit: None, colon: ":" },
        }
    }

    fn deeper(&self, indent: &str) -> String {
        format!("{indent}{}", self.unit.as_deref().unwrap_or_default())
    }

    /// Writes JSON text in this layout; the first line starts at the writer's position.
    fn lay_out(&self, json: &str, indent: &str, out: &mut impl Write) -> io::Result<()> {
        let bytes = json.as_bytes();
        let mut depth = 0_usize;
        let mut at = 0;
        let line = |depth: usize, out: &mut dyn Write| -> io::Result<()> {
            let Some(unit) = &self.unit else { return Ok(()) };
            out.write_all(b"\n")?;
            out.write_all(indent.as_bytes())?;
            (0..depth).try_for_each(|_| out.write_all(unit.as_bytes()))
        };
        while let Some(&byte) = bytes.get(at) {
            let mut next = at + 1;
            match byte {
                b'"' => {
                    next = string_end(bytes, next).unwrap_or(bytes.len());
                    out.write_all(bytes.get(at..next).unwrap_or_default())?;
                }
                b'{' | b'[' => {
                    out.write_all(&[byte])?;
                    let rest = bytes.get(next..).unwrap_or_default();
                    let space = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                    if let Some(close @ (b'}' | b']')) = rest.get(space) {
                        out.write_all(&[*close])?;
                        next += space + 1;
                    } else {
                        depth += 1;
                        line(depth, out)?;
                    }
                }
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    line(depth, out)?;
                    out.write_all(&[byte])?;
                }
                b',' => {
                    out.write_all(b",")?;
                    line(depth, out)?;
                }
                b':' => out.write_all(self.colon.as_bytes())?,
                b' ' | b'\n' | b'\r' | b'\t' => {}
                _ => out.write_all(&[byte])?,
            }
            at = next;
        }
        Ok(())
    }
}

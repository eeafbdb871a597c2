//! An explanation for people.

mod places;

use super::style::{Role, Terminal, columns, count, quoted, shorten, wrap};
use super::verdict::{mark, outcome};
use crate::engine::Outcome;
use crate::explain::Lenders;
use crate::explain::view::{
    Abort, Change, Effect, EffectKind, Explanation, Filter, HttpChain, Live, Patch, PatchRef, Place, Proxy, Reason,
    Refused,
};
use crate::source::{Severity, Sources};
use crate::study::InEffect;
use places::{collapse, line, unnamed};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// How much to write.
#[derive(Clone, Copy, Debug)]
pub struct Detail {
    /// Everything, nothing shortened.
    pub verbose: bool,
}

/// Maximum number of listed places, changes and lines of any kind without `--verbose`.
const FEW: usize = 6;
/// Maximum number of characters of Envoy's message without `--verbose`.
const MOST_WORDS: usize = 300;

/// Writes an explanation.
pub fn text(
    out: &mut dyn Write,
    terminal: Terminal,
    detail: Detail,
    sources: &Sources,
    explanation: &Explanation,
    lenders: Lenders,
) -> io::Result<()> {
    for (index, proxy) in explanation.proxies.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        Writer { out, terminal, detail, sources, lenders }.proxy(proxy)?;
    }
    Ok(())
}

struct Writer<'w> {
    out: &'w mut dyn Write,
    terminal: Terminal,
    detail: Detail,
    sources: &'w Sources,
    lenders: Lenders,
}

impl Writer<'_> {
    fn proxy(&mut self, proxy: &Proxy) -> io::Result<()> {
        let terminal = self.terminal;
        let name = if proxy.name.is_empty() { &proxy.workload } else { &proxy.name };
        let mut facts = vec![proxy.kind.to_owned()];
        if !proxy.workload.is_empty() && *name != proxy.workload {
            facts.push(format!("workload {}", proxy.workload));
        }
        if !proxy.istio_version.is_empty() {
            facts.push(format!("proxy {}", proxy.istio_version));
        }
        facts.push(format!("istiod {}", proxy.control_plane));
        let title = terminal.paint(Role::Strong, format!("{}/{name}", proxy.namespace));
        writeln!(self.out, "{title}  {}", facts.join(", "))?;
        self.line(0, &summary(proxy))?;
        self.refused(&proxy.refused)?;
        self.reconstruction(proxy)?;
        self.aborts(&proxy.aborts)?;
        self.order(proxy)?;
        self.patches(proxy)?;
        self.chains(proxy)?;
        for route in &proxy.unknown_routes {
            self.line(0, &super::missing_routes(route))?;
        }
        for host in &proxy.unknown_services {
            self.line(0, &super::missing_service(host, self.lenders))?;
        }
        Ok(())
    }

    /// What Envoy rejected, each message once.
    fn refused(&mut self, refused: &[Refused]) -> io::Result<()> {
        let mut grouped: Vec<(&str, Vec<String>)> = Vec::new();
        for one in refused {
            let resource = format!("{} {}", one.kind, unnamed(&one.name));
            match grouped.iter_mut().find(|(details, _)| *details == one.details) {
                // A listener may have failed twice: in its current state and as an update.
                Some((_, resources)) if resources.contains(&resource) => {}
                Some((_, resources)) => resources.push(resource),
                None => grouped.push((&one.details, vec![resource])),
            }
        }
        for (details, resources) in grouped {
            let resources = few(&resources, self.detail.verbose);
            let details = quoted(details, if self.detail.verbose { usize::MAX } else { MOST_WORDS });
            let text = format!("Envoy refused an update of {resources}, and keeps the previous version: {details}");
            self.painted(0, "! ", Some(Role::Bad), &text)?;
        }
        Ok(())
    }

    fn reconstruction(&mut self, proxy: &Proxy) -> io::Result<()> {
        let Some(found) = proxy.reconstruction.as_ref().filter(|found| found.proven.is_some()) else { return Ok(()) };
        let taken = match found.state {
            "patched" => "the dump was taken with these filters in effect",
            _ => "the dump was taken with some of these filters in effect",
        };
        if found.proven == Some(true) {
            let text = format!("{taken}; proven: undoing and replaying them gives the same dump");
            return self.painted(0, "", Some(Role::Dim), &text);
        }
        for one in &found.hidden {
            let text = format!("{taken}; not proven: patch {} of {} hides what it matched", one.index, one.filter);
            self.painted(0, "", Some(Role::Odd), &text)?;
        }
        if found.differences.is_empty() {
            return Ok(());
        }
        let text = format!("{taken}; not proven: undoing and replaying them gives a different result in");
        self.painted(0, "", Some(Role::Odd), &text)?;
        let few = if self.detail.verbose { usize::MAX } else { FEW };
        for one in found.differences.iter().take(few) {
            let path = if one.path.is_empty() { String::new() } else { format!(": {}", one.path) };
            self.line(2, &format!("{} {}{path}", one.kind, one.resource))?;
        }
        if found.differences.len() > few {
            self.line(2, &format!("and {} more (--verbose)", found.differences.len() - few))?;
        }
        Ok(())
    }

    fn heading(&mut self, text: &str, more: &str) -> io::Result<()> {
        let (strong, dim) = (self.terminal.paint(Role::Strong, text), self.terminal.paint(Role::Dim, more));
        writeln!(self.out, "\n{strong}{}{dim}", if more.is_empty() { "" } else { "  " })
    }

    /// A text, wrapped to the width of the terminal.
    fn line(&mut self, indent: usize, text: &str) -> io::Result<()> {
        self.painted(indent, "", None, text)
    }

    fn painted(&mut self, indent: usize, mark: &str, role: Option<Role>, text: &str) -> io::Result<()> {
        let hang = columns(mark);
        for (index, line) in wrap(text, self.terminal.width.saturating_sub(indent + hang).max(20)).iter().enumerate() {
            let line = role.map_or_else(|| line.clone(), |role| self.terminal.paint(role, line).into_owned());
            let mark = if index == 0 { mark.to_owned() } else { " ".repeat(hang) };
            let mark = role.map_or_else(|| mark.clone(), |role| self.terminal.paint(role, &mark).into_owned());
            writeln!(self.out, "{:indent$}{mark}{line}", "")?;
        }
        Ok(())
    }

    fn order(&mut self, proxy: &Proxy) -> io::Result<()> {
        let attached: Vec<&Filter> = proxy.filters.iter().filter(|filter| filter.selected).collect();
        if attached.is_empty() {
            return Ok(());
        }
        if attached.len() > 1 {
            self.heading("Order", "priority, then root namespace first, then creation time, then name")?;
            let width = attached.iter().map(|filter| columns(&full_name(filter))).max().unwrap_or(0);
            for filter in &attached {
                let position = filter.position.unwrap_or_default();
                let why = self.terminal.paint(Role::Dim, order_reason(filter));
                let line = format!("{position:4}  {:width$}  {why}", full_name(filter));
                writeln!(self.out, "{}", line.trim_end())?;
            }
        }
        let kinds: BTreeSet<&str> =
            attached.iter().flat_map(|filter| filter.patches.iter().map(|patch| patch.apply_to)).collect();
        let phases: Vec<&str> = PHASES
            .iter()
            .filter(|(kind, ..)| kind.iter().filter(|kind| kinds.contains(**kind)).count() > 1)
            .map(|(_, text)| *text)
            .collect();
        for phase in phases {
            self.painted(6, "", Some(Role::Dim), phase)?;
        }
        Ok(())
    }

    fn patches(&mut self, proxy: &Proxy) -> io::Result<()> {
        let live = proxy
            .filters
            .iter()
            .flat_map(|filter| &filter.patches)
            .any(|patch| matches!(patch.in_effect, Some(InEffect::Yes | InEffect::Partly)));
        let (attached, others): (Vec<&Filter>, Vec<&Filter>) = proxy.filters.iter().partition(|filter| filter.selected);
        if !attached.is_empty() {
            self.heading("Patches", "")?;
        }
        for filter in attached {
            let position = filter.position.map(|position| format!("{position:4}  ")).unwrap_or_default();
            let name = self.terminal.paint(Role::Strong, full_name(filter));
            let place = self.terminal.paint(Role::Dim, place_of(filter));
            writeln!(self.out, "{}", format!("{position}{name}  {place}").trim_end())?;
            for patch in &filter.patches {
                self.patch(patch, filter.patches.len() > 1, live)?;
            }
        }
        if !others.is_empty() {
            self.heading("Not attached", "")?;
        }
        let few = if self.detail.verbose { usize::MAX } else { 20 };
        for filter in others.iter().take(few) {
            let name = self.terminal.paint(Role::Strong, full_name(filter));
            let place = self.terminal.paint(Role::Dim, place_of(filter));
            writeln!(self.out, "{}", format!("   –  {name}  {place}").trim_end())?;
            if let Some(reason) = &filter.reason {
                self.line(6, &reason.message)?;
                self.help(6, reason.help.as_deref())?;
            }
        }
        if others.len() > few {
            self.painted(6, "", Some(Role::Dim), &format!("and {} more (--verbose)", others.len() - few))?;
        }
        Ok(())
    }

    fn help(&mut self, indent: usize, help: Option<&str>) -> io::Result<()> {
        match help {
            Some(help) => self.painted(indent, "→ ", Some(Role::Place), help),
            None => Ok(()),
        }
    }

    fn patch(&mut self, patch: &Patch, numbered: bool, live: bool) -> io::Result<()> {
        let (mark, role) = mark(patch);
        let mut what = format!("{} {}", patch.apply_to, patch.operation);
        if !patch.value_name.is_empty() {
            what = format!("{what} {}", patch.value_name);
        }
        let number = if numbered { format!("patch {}  ", patch.index) } else { String::new() };
        let outcome = self.terminal.paint(role, format!("{mark} {}", outcome(patch, live)));
        let context = self.terminal.paint(Role::Dim, format!("for {}", patch.context));
        writeln!(self.out, "      {outcome}  {number}{what}  {context}")?;
        for instead in &patch.instead {
            // On one line, because a secret is recognized by the key before it.
            let room = if self.detail.verbose { usize::MAX } else { 2 * self.terminal.width };
            writeln!(self.out, "        {}", shorten(instead, room))?;
        }
        let absent = matches!(patch.live, Some(Live::NotInEffect | Live::Refused | Live::PartlyInEffect));
        if absent && patch.effects.iter().any(|effect| effect.effect != EffectKind::NoOp) {
            let text = match patch.live {
                Some(Live::PartlyInEffect) => "the proxy does not hold all of it; computed from the filter:",
                _ => "the proxy does not hold it; computed from the filter:",
            };
            self.painted(8, "", Some(Role::Odd), text)?;
        }
        for effect in &patch.effects {
            self.effect(effect, patch)?;
        }
        if let Some(reason) = &patch.reason {
            self.reason(reason, patch)?;
        }
        for notice in &patch.notices {
            if let Some(span) = notice.source.span {
                let severity = if notice.fatal { Severity::Error } else { Severity::Warning };
                let mut text = Vec::new();
                super::problem::excerpt(&mut text, self.terminal, self.sources, span, &notice.message, severity)?;
                for line in String::from_utf8_lossy(&text).lines() {
                    writeln!(self.out, "        {line}")?;
                }
            }
        }
        self.later(patch)?;
        if !patch.lost.is_empty() {
            let text = format!("lost to a panic: {}", few(&patch.lost, self.detail.verbose));
            self.painted(8, "", Some(Role::Bad), &text)?;
        }
        Ok(())
    }

    fn reason(&mut self, reason: &Reason, patch: &Patch) -> io::Result<()> {
        let place = match &reason.source {
            Some(source) if patch.outcome != Outcome::NotSelected => match &source.field {
                Some(field) => format!("  {field}"),
                None => format!("  {}:{}:{}", source.file, source.line, source.column),
            },
            _ => String::new(),
        };
        let fits = columns(&reason.message) + columns(&place) + 8 <= self.terminal.width;
        if fits {
            writeln!(self.out, "        {}{}", reason.message, self.terminal.paint(Role::Dim, &place))?;
        } else {
            self.line(8, &reason.message)?;
            if !place.is_empty() {
                writeln!(self.out, "        {}", self.terminal.paint(Role::Dim, place.trim_start()))?;
            }
        }
        if !reason.candidates.is_empty() {
            self.line(8, &format!("available: {}", reason.candidates.join(", ")))?;
        }
        self.help(8, reason.help.as_deref())
    }

    fn effect(&mut self, effect: &Effect, patch: &Patch) -> io::Result<()> {
        // The reason of a patch that was not applied already covers these effects.
        if patch.outcome != Outcome::Applied && matches!(effect.effect, EffectKind::NoOp | EffectKind::Panicked) {
            return Ok(());
        }
        let verb = match effect.effect {
            EffectKind::Merged | EffectKind::TransportSocketMerged => "",
            EffectKind::Inserted => "inserted ",
            EffectKind::Replaced => "replaced ",
            EffectKind::Removed => "removed ",
            EffectKind::Added => "added ",
            EffectKind::Panicked => "panics at ",
            EffectKind::NoOp => "nothing at ",
        };
        let note = match (effect.effect, effect.note.as_deref()) {
            (EffectKind::Inserted, Some(note)) => format!("{note} in "),
            _ => String::new(),
        };
        let shown = if self.detail.verbose { usize::MAX } else { FEW };
        let places: Vec<Place> = effect.places.iter().map(|place| self.brief(place, effect, patch)).collect();
        let places = collapse(&places);
        for (index, place) in places.iter().take(shown).enumerate() {
            let text = format!("{}{place}", if index == 0 { format!("{verb}{note}") } else { "and ".to_owned() });
            self.line(8, &text)?;
        }
        let hidden = places.len().saturating_sub(shown);
        if hidden > 0 {
            self.painted(8, "", Some(Role::Dim), &format!("and {hidden} more places (--verbose)"))?;
        }
        self.changes(&effect.changes)?;
        match (effect.effect, &effect.note) {
            (EffectKind::Inserted, _) | (_, None) => Ok(()),
            (_, Some(note)) => self.painted(10, "", Some(Role::Odd), note),
        }
    }

    /// A place without the parts that the line above already contains.
    fn brief(&self, place: &Place, effect: &Effect, patch: &Patch) -> Place {
        let mut place = place.clone();
        if self.detail.verbose {
            return place;
        }
        if patch.apply_to == "HTTP_FILTER" {
            place.filter = None;
        }
        if effect.effect == EffectKind::Inserted {
            match patch.apply_to {
                "HTTP_FILTER" => place.http_filter = None,
                "NETWORK_FILTER" => place.filter = None,
                "LISTENER_FILTER" => place.listener_filter = None,
                _ => {}
            }
        }
        place
    }

    fn changes(&mut self, changes: &[Change]) -> io::Result<()> {
        let shown = if self.detail.verbose { usize::MAX } else { 2 * FEW };
        let width = changes.iter().take(shown).map(|change| columns(&change.path)).max().unwrap_or(0).min(40);
        for change in changes.iter().take(shown) {
            let room = if self.detail.verbose {
                usize::MAX
            } else {
                (self.terminal.width.saturating_sub(10 + width.max(columns(&change.path)) + 6) / 2).max(16)
            };
            let before = change.before.as_ref().map(|text| shorten(unquoted(text), room));
            let after = change.after.as_ref().map(|text| shorten(unquoted(text), room));
            let bad = |text: &str| self.terminal.paint(Role::Bad, text);
            let good = |text: &str| self.terminal.paint(Role::Good, text);
            let text = match (change.kind, before, after) {
                ("same", _, Some(after)) => format!("{after} (as before)"),
                ("cannot-reset", Some(before), Some(after)) => {
                    format!("stays {before}: a merge cannot set {after}")
                }
                ("appended", _, Some(after)) => format!("appended {}", good(&after)),
                (_, Some(before), Some(after)) => format!("{} → {}", bad(&before), good(&after)),
                (_, None, Some(after)) => format!("set to {}", good(&after)),
                (_, Some(before), None) => format!("gone, was {}", bad(&before)),
                (_, None, None) => String::new(),
            };
            writeln!(self.out, "          {:width$}  {text}", change.path)?;
        }
        if changes.len() > shown {
            let text = format!("and {} more fields (--verbose)", changes.len() - shown);
            self.painted(10, "", Some(Role::Dim), &text)?;
        }
        Ok(())
    }

    fn later(&mut self, patch: &Patch) -> io::Result<()> {
        let mut lines: Vec<String> = Vec::new();
        for later in &patch.later {
            let what = if later.path.is_empty() { "" } else { &later.path };
            let line = format!("{} by {}{}", later.what, later.by.filter, index_of(later.by.index));
            let line = if what.is_empty() { line } else { format!("{what} {line}") };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let shown = if self.detail.verbose { usize::MAX } else { FEW };
        for line in lines.iter().take(shown) {
            self.painted(8, "↷ ", Some(Role::Odd), &format!("later {line}"))?;
        }
        Ok(())
    }

    fn aborts(&mut self, aborts: &[Abort]) -> io::Result<()> {
        for abort in aborts {
            let (by, place) = (&abort.cause, line(&abort.place));
            let text = format!("istiod panics at {place}: patch {} of {}: {}", by.index, by.filter, abort.message);
            self.painted(0, "! ", Some(Role::Bad), &text)?;
            if !abort.unprocessed.is_empty() {
                let text = format!(
                    "{} unpatched because of it: {}",
                    count(abort.unprocessed.len(), "resource stays", "resources stay"),
                    few(&abort.unprocessed, self.detail.verbose)
                );
                self.painted(2, "", Some(Role::Bad), &text)?;
            }
        }
        Ok(())
    }

    fn chains(&mut self, proxy: &Proxy) -> io::Result<()> {
        if proxy.http_chains.is_empty() {
            return Ok(());
        }
        let absent: BTreeMap<PatchRef, &str> = proxy
            .filters
            .iter()
            .flat_map(|filter| filter.patches.iter().map(move |patch| (filter, patch)))
            .filter_map(|(filter, patch)| {
                let word = match patch.live? {
                    Live::InEffect | Live::Unknown => return None,
                    Live::PartlyInEffect => "partly in effect",
                    Live::NotInEffect => "not in effect",
                    Live::Refused => "refused by Envoy",
                };
                Some((PatchRef { filter: full_name(filter), index: patch.index }, word))
            })
            .collect();
        let computed = if absent.is_empty() { "" } else { "; computed, not what the proxy holds" };
        let what = format!("of the listeners that patches touched, in the order of the request{computed}");
        self.heading("HTTP filters", &what)?;
        for chain in &proxy.http_chains {
            self.chain(chain, &absent)?;
        }
        Ok(())
    }

    fn chain(&mut self, chain: &HttpChain, absent: &BTreeMap<PatchRef, &str>) -> io::Result<()> {
        let places = collapse(&chain.places);
        let shown = if self.detail.verbose { usize::MAX } else { FEW };
        for place in places.iter().take(shown) {
            self.line(2, place)?;
        }
        if places.len() > shown {
            self.painted(2, "", Some(Role::Dim), &format!("and {} more (--verbose)", places.len() - shown))?;
        }
        let width = chain.filters.iter().map(|filter| columns(&filter.name)).max().unwrap_or(0);
        for (index, filter) in chain.filters.iter().enumerate() {
            let by = |it: &PatchRef| {
                let so = absent.get(it).map(|word| format!(" ({word})")).unwrap_or_default();
                format!("{}{}{so}", it.filter, index_of(it.index))
            };
            let mut origin = filter.origin.as_ref().map_or("istiod".to_owned(), by);
            if !filter.changed_by.is_empty() {
                let changed: Vec<String> = filter.changed_by.iter().map(by).collect();
                origin = format!("{origin}, changed by {}", changed.join(", "));
            }
            let ours = filter.origin.is_some();
            let role = if ours { Role::Good } else { Role::Dim };
            let mark = if ours {
                "+"
            } else if filter.changed_by.is_empty() {
                " "
            } else {
                "~"
            };
            let name = format!("{:width$}", filter.name);
            let name = if ours { self.terminal.paint(Role::Good, &name).into_owned() } else { name };
            writeln!(self.out, "  {mark}{:3}  {name}  {}", index + 1, self.terminal.paint(role, origin))?;
        }
        Ok(())
    }
}

/// The part of the order that istiod fixes itself; shown when a proxy has patches of two of these kinds.
const PHASES: &[(&[&str], &str)] = &[
    (
        &["LISTENER", "LISTENER_FILTER", "FILTER_CHAIN", "NETWORK_FILTER", "HTTP_FILTER"],
        "whatever the order above, each listener: LISTENER › LISTENER_FILTER › per chain FILTER_CHAIN › NETWORK_FILTER › HTTP_FILTER; MERGE after the other operations of its kind",
    ),
    (
        &["ROUTE_CONFIGURATION", "VIRTUAL_HOST", "HTTP_ROUTE"],
        "whatever the order above, each route configuration: ROUTE_CONFIGURATION › VIRTUAL_HOST › HTTP_ROUTE",
    ),
];

fn full_name(filter: &Filter) -> String {
    format!("{}/{}", filter.namespace, filter.name)
}

/// The place of a filter; in a cluster, its name is enough.
fn place_of(filter: &Filter) -> String {
    match filter.source.field {
        Some(_) => String::new(),
        None => format!("{}:{}", filter.source.file, filter.source.line),
    }
}

pub(super) fn index_of(index: usize) -> String {
    if index == 0 { String::new() } else { format!(" patch {index}") }
}

fn order_reason(filter: &Filter) -> String {
    match filter.ordered_by {
        Some("priority") => format!("priority {}", filter.priority),
        Some("root-namespace") => "not in the root namespace".to_owned(),
        Some("creation-time") => match &filter.created {
            Some(created) => format!("created {created}"),
            None => "no creation time".to_owned(),
        },
        Some(_) => "by name".to_owned(),
        None if filter.priority != 0 => format!("priority {}", filter.priority),
        None if filter.root_namespace => "root namespace".to_owned(),
        None => String::new(),
    }
}

fn summary(proxy: &Proxy) -> String {
    let attached: Vec<&Filter> = proxy.filters.iter().filter(|filter| filter.selected).collect();
    let head = match (attached.len(), proxy.filters.len()) {
        (_, 0) => return "no EnvoyFilter was given".to_owned(),
        (0, 1) => "the EnvoyFilter does not attach".to_owned(),
        (0, all) => format!("none of {all} EnvoyFilters attaches"),
        (1, 1) => "the EnvoyFilter attaches".to_owned(),
        (some, all) if some == all => format!("all {all} EnvoyFilters attach"),
        (some, all) => format!("{some} of {all} EnvoyFilters attach"),
    };
    let patches = || attached.iter().flat_map(|filter| &filter.patches);
    let mut parts = Vec::new();
    let in_effect = |patch: &&Patch| patch.live.is_some() || patch.in_effect == Some(InEffect::Yes) || patch.uncertain;
    let uncertain = patches().filter(|patch| patch.live.is_none() && patch.uncertain).count();
    let dumped = |patch: &&Patch| patch.live.is_none() && !patch.uncertain && patch.in_effect == Some(InEffect::Yes);
    for (live, text) in [
        (Live::InEffect, "in effect"),
        (Live::PartlyInEffect, "partly in effect"),
        (Live::NotInEffect, "not in effect"),
        (Live::Refused, "refused by Envoy"),
        (Live::Unknown, "of unknown effect"),
    ] {
        let of_dump = if live == Live::InEffect { patches().filter(dumped).count() } else { 0 };
        let number = of_dump + patches().filter(|patch| patch.live == Some(live)).count();
        if number > 0 {
            parts.push(format!("{number} {text}"));
        }
    }
    if uncertain > 0 {
        parts.push(format!("{uncertain} unknown"));
    }
    for (outcome, text) in [
        (Outcome::Applied, "applied"),
        (Outcome::NoMatch, "matching nothing"),
        (Outcome::NoOp, "without effect"),
        (Outcome::Discarded, "discarded by istiod"),
        (Outcome::Aborted, "lost to a panic"),
        (Outcome::NotSelected, "for other proxies"),
    ] {
        let number = patches().filter(|patch| patch.outcome == outcome && !in_effect(patch)).count();
        if number > 0 {
            parts.push(format!("{number} {text}"));
        }
    }
    if parts.is_empty() {
        return head;
    }
    format!("{head}; {}: {}", count(patches().count(), "patch", "patches"), parts.join(", "))
}

fn few(texts: &[String], all: bool) -> String {
    crate::words::few(texts, texts.len(), if all { texts.len() } else { FEW })
}

/// A JSON string without its quotes; anything else unchanged.
pub(super) fn unquoted(text: &str) -> &str {
    match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(inner) if !inner.is_empty() && !inner.contains('\\') => inner,
        _ => text,
    }
}

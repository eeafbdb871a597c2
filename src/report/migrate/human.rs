//! A migration for a terminal.

use super::text::{documents, heading};
use super::{alike, classes, differences, full_name, native, open, outcome, proven, rest, scope, sent, unwritten};
use crate::migrate::newest::{Effect, Rewrite};
use crate::migrate::roll_out::{Step, meanwhile, steps};
use crate::migrate::verdict::{Class, Kind, State};
use crate::migrate::{FilterReport, PatchReport, Report};
use crate::report::style::{Role, Terminal, wrap};
use crate::words::count;
use std::io::{self, Write};

/// Writes the report: everything, or what matters for decisions; `folder` is where the objects have been written.
pub(crate) fn human(
    out: &mut dyn Write,
    terminal: Terminal,
    report: &Report,
    verbose: bool,
    folder: Option<&str>,
) -> io::Result<()> {
    for filter in &report.filters {
        one(out, terminal, report, filter, verbose)?;
    }
    let written = documents(report);
    if !written.is_empty() {
        writeln!(out, "{}", heading(terminal, "Rollout"))?;
        for (number, step) in steps(report).iter().enumerate() {
            line(out, terminal, &format!("  {}. ", number + 1), &sentence(step))?;
        }
        match folder {
            Some(folder) => writeln!(out, "  {} written to {folder}\n", count(written.len(), "file", "files"))?,
            None => writeln!(out, "  `-o yaml` prints the objects, `--output-dir` writes them to files.\n")?,
        }
    }
    summary(out, terminal, report)
}

fn role(class: Class) -> Role {
    match class {
        Class::Exact | Class::SameBut => Role::Good,
        Class::Differs | Class::Partly => Role::Odd,
        Class::NoHome => Role::Dim,
    }
}

fn one(
    out: &mut dyn Write,
    terminal: Terminal,
    report: &Report,
    filter: &FilterReport,
    verbose: bool,
) -> io::Result<()> {
    let class = terminal.paint(role(filter.class), filter.class.name());
    writeln!(out, "{}: {class} ({})", heading(terminal, &plain(&full_name(filter))), filter.class.meaning())?;
    let mut shown: Option<&PatchReport> = None;
    for patch in &filter.patches {
        // Patches that move together are listed once.
        if let Some(before) = shown.filter(|before| alike(before, patch)) {
            writeln!(out, "  configPatches[{}] {}: as configPatches[{}]", patch.index, patch.apply_to, before.index)?;
            continue;
        }
        shown = Some(patch);
        self::patch(out, terminal, patch, verbose)?;
    }
    for (number, text) in proven(report, filter).iter().enumerate() {
        line(out, terminal, if number == 0 { "  " } else { "    " }, &plain(text))?;
    }
    let requests = sent(report, filter);
    for request in requests.iter().filter(|_| verbose) {
        line(out, terminal, "    sent: ", &plain(request))?;
    }
    if !requests.is_empty() && !verbose {
        writeln!(out, "    {}", terminal.paint(Role::Dim, "--verbose shows the requests"))?;
    }
    let name = full_name(filter);
    for one in report.rewrites.iter().filter(|one| one.filter == name) {
        let changes: Vec<&str> = one.changes.iter().map(String::as_str).collect();
        line(
            out,
            terminal,
            "  rewritten to the newest types: ",
            &plain(&format!("{}; {}", changes.join(", "), one.words())),
        )?;
    }
    let revives = |one: &&Rewrite| one.filter == name && matches!(one.effect, Effect::Revived(_));
    if filter.patches.is_empty() && report.rewrites.iter().any(|one| revives(&one)) {
        line(out, terminal, "  note: ", "`--accept differs` moves the rewritten EnvoyFilter to its native API")?;
    }
    if let Some(outcome) = outcome(report, filter) {
        writeln!(out, "  {outcome}")?;
    }
    for effect in meanwhile(filter) {
        line(out, terminal, "  while both exist: ", effect)?;
    }
    writeln!(out)
}

fn patch(out: &mut dyn Write, terminal: Terminal, patch: &PatchReport, verbose: bool) -> io::Result<()> {
    let found = &patch.found;
    let to = native(found);
    let to = if to.is_empty() { to } else { format!(" → {to}") };
    let class = patch.class.name();
    let head = format!("configPatches[{}] {}: {}{to}: {class}", patch.index, patch.apply_to, found.title());
    for (number, part) in wrap(&plain(&head), terminal.width.saturating_sub(4).max(40)).iter().enumerate() {
        let indent = if number == 0 { "  " } else { "      " };
        match part.strip_suffix(class) {
            Some(before) => writeln!(out, "{indent}{before}{}", terminal.paint(role(patch.class), class))?,
            None => writeln!(out, "{indent}{part}")?,
        }
    }
    if let Some(one) = &patch.ambient {
        line(out, terminal, "    ambient: ", &plain(&format!("{}: {}", one.place.words(), one.reason)))?;
    }
    if let Some(why) = unwritten(patch) {
        line(out, terminal, "    ", &plain(&why))?;
    }
    for difference in differences(patch) {
        if difference.kind == Kind::Metadata && !verbose {
            continue;
        }
        line(out, terminal, &format!("    {}: ", difference.kind.name()), &plain(&difference.effect))?;
    }
    let hidden = found.differences.iter().filter(|one| one.kind == Kind::Metadata).count();
    if hidden > 0 && !verbose {
        let (more, them) = (count(hidden, "difference", "differences"), if hidden == 1 { "it" } else { "them" });
        writeln!(out, "    {}", terminal.paint(Role::Dim, format!("{more} of metadata: --verbose shows {them}")))?;
    }
    for text in open(patch) {
        line(out, terminal, "    ", &plain(&text))?;
    }
    for guard in found.guards.iter().filter(|guard| verbose && guard.state == State::Held) {
        line(out, terminal, "    held: ", &plain(&guard.reason))?;
    }
    for note in &found.notes {
        line(out, terminal, "    note: ", &plain(note))?;
    }
    if let Some(rest) = rest(patch) {
        writeln!(out, "    {rest}")?;
    }
    if !found.moves && !found.pattern.follow.is_empty() {
        writeln!(out, "    follow: {}", found.pattern.follow)?;
    }
    Ok(())
}

/// A text on one line: names may contain anything.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn line(out: &mut dyn Write, terminal: Terminal, lead: &str, text: &str) -> io::Result<()> {
    let width = terminal.width.saturating_sub(lead.chars().count()).max(40);
    for (number, part) in wrap(text, width).iter().enumerate() {
        if number == 0 {
            writeln!(out, "{lead}{part}")?;
        } else {
            writeln!(out, "{}{part}", " ".repeat(lead.chars().count()))?;
        }
    }
    Ok(())
}

/// A step in words.
pub(super) fn sentence(step: &Step) -> String {
    match step {
        Step::Save => "Save the configuration of the proxies: `kubectl envoyfilter capture before`.".to_owned(),
        Step::Mesh(keys) => format!("Merge {} into meshConfig.", keys.join(", ")),
        Step::Apply(objects) => format!("Apply {}.", objects.join(", ")),
        Step::Pods(pods) => {
            format!("Set the annotation proxy.istio.io/config for {}, and restart them.", pods.join("; "))
        }
        Step::Restart(pods) => format!("Restart {}: proxies read these settings when they start.", pods.join("; ")),
        Step::Enroll => {
            "Give the Services a waypoint (label istio.io/use-waypoint) and the workloads ambient mode (label \
             istio.io/dataplane-mode). Keep the EnvoyFilters until no sidecar is left."
                .to_owned()
        }
        Step::Rewrite(filters) => format!("Apply {} in the newest types.", named("EnvoyFilter", filters)),
        Step::Try => {
            "Send requests to the services through their waypoints: `migrate verify` compares proxies that exist before and \
             after, and the sidecars are gone."
                .to_owned()
        }
        Step::Verify => VERIFY.to_owned(),
        Step::Shrink(filters) => format!("Apply the smaller {}.", named("EnvoyFilter", filters)),
        Step::Delete(filters) => format!("Delete {}.", named("EnvoyFilter", filters)),
        Step::VerifyAgain => {
            "Check the proxies again: until now the EnvoyFilters applied as well. If a difference shows that is not \
             listed above, apply the EnvoyFilter again."
                .to_owned()
        }
        Step::VerifyOnce => {
            format!("{VERIFY} If a difference shows that is not listed above, apply the EnvoyFilter again.")
        }
    }
}

const VERIFY: &str = "Check the proxies: `kubectl envoyfilter capture after`, then `kubectl envoyfilter migrate verify --before before \
                      --after after`.";

/// A kind with the names of its objects.
fn named(kind: &str, names: &[String]) -> String {
    format!("{kind}{} {}", if names.len() == 1 { "" } else { "s" }, names.join(", "))
}

fn summary(out: &mut dyn Write, terminal: Terminal, report: &Report) -> io::Result<()> {
    if report.filters.is_empty() {
        return scope(report).iter().try_for_each(|note| line(out, terminal, "", note));
    }
    let counts: Vec<String> =
        classes(report).into_iter().map(|(class, number)| format!("{number} {}", class.name())).collect();
    let total = count(report.filters.len(), "EnvoyFilter", "EnvoyFilters");
    writeln!(out, "{total} to Istio {}.{}: {}", report.to.major, report.to.minor, counts.join(", "))?;
    for note in scope(report) {
        line(out, terminal, "note: ", &note)?;
    }
    Ok(())
}

/// Writes the result of `migrate verify`.
pub(crate) fn verified(
    out: &mut dyn Write,
    terminal: Terminal,
    found: &crate::migrate::verify::Verified,
) -> io::Result<()> {
    for proxy in &found.proxies {
        let class = terminal.paint(role(proxy.class), proxy.class.name());
        writeln!(out, "{}: {class} ({})", heading(terminal, &plain(&proxy.name)), proxy.class.meaning())?;
        for (difference, number) in &proxy.differences {
            let places = if *number > 1 { format!(" ({number} places)") } else { String::new() };
            let text = format!("{}{places}", plain(&difference.effect));
            line(out, terminal, &format!("  {}: ", difference.kind.name()), &text)?;
        }
    }
    for name in &found.unpaired {
        writeln!(out, "{}: not compared: only one of the two sides has a dump", plain(name))?;
    }
    let compared = count(found.proxies.len(), "proxy", "proxies");
    let meaning = found.class().map_or("nothing was compared", Class::meaning);
    writeln!(out, "{compared} compared: {meaning}")?;
    line(
        out,
        terminal,
        "note: ",
        "listeners, clusters, routes and discovered extensions were compared; bootstrap, endpoints and secrets were not",
    )
}

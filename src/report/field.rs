//! Who wrote a field, for people.

use super::explain::{index_of, unquoted};
use super::style::{Role, Terminal, count, quoted, shorten};
use crate::explain::view::{Field, FieldExplanation, Held, MadeBy, PatchRef};
use std::io::{self, Write};

/// Maximum number of characters of Envoy's message without `--verbose`.
const MOST_WORDS: usize = 300;

/// Writes an explanation of a field.
pub(crate) fn text(
    out: &mut dyn Write,
    terminal: Terminal,
    verbose: bool,
    answer: &FieldExplanation,
) -> io::Result<()> {
    for (index, field) in answer.fields.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        one(out, terminal, verbose, field)?;
    }
    Ok(())
}

fn one(out: &mut dyn Write, terminal: Terminal, verbose: bool, field: &Field) -> io::Result<()> {
    let room = if verbose { usize::MAX } else { terminal.width.saturating_sub(16).max(24) };
    let short = |text: &str| shorten(unquoted(text), room);
    let title = terminal.paint(Role::Strong, format!("{} {}", field.kind, field.resource));
    writeln!(out, "{title}  {}/{}", field.namespace, field.name)?;
    if !field.candidates.is_empty() {
        writeln!(out, "  {} is not there", terminal.paint(Role::Bad, &field.path))?;
        return writeln!(out, "  available: {}", shorten(&field.candidates.join(", "), room));
    }
    if !field.path.is_empty() {
        writeln!(out, "  {}", field.path)?;
    }
    if let Some(refused) = field.live.as_ref().and_then(|live| live.refused.as_ref()) {
        let words = quoted(refused, if verbose { usize::MAX } else { MOST_WORDS });
        let text = format!("  refused     Envoy keeps the previous version: {words}");
        writeln!(out, "{}", terminal.paint(Role::Bad, text))?;
    }
    // For a running proxy, the actual state comes first, then the engine's result.
    let other = field.live.as_ref().filter(|live| !live.as_computed);
    if let Some(Held { value, .. }) = other {
        let held = value.as_deref().map_or("not set".to_owned(), short);
        writeln!(out, "  now         {held}  {}", terminal.paint(Role::Bad, "not what the EnvoyFilters produce"))?;
    }
    let word = if other.is_some() { "computed  " } else { "now       " };
    match &field.value {
        Some(value) => {
            let who = field.writer.as_ref().map_or("istiod".to_owned(), name);
            let role = if field.writer.is_some() { Role::Good } else { Role::Dim };
            writeln!(out, "  {word}  {}", short(value))?;
            writeln!(out, "  written by  {}", terminal.paint(role, who))?;
        }
        None => writeln!(out, "  {word}  {}", terminal.paint(Role::Bad, "gone"))?,
    }
    // If only something inside differs, the list below shows it better.
    let differs = field.generated != field.value && field.inside.is_empty();
    if let Some(generated) = field.generated.as_ref().filter(|_| differs) {
        writeln!(out, "  istiod had  {}", short(generated))?;
    }
    if let Some(made) = &field.made_by {
        makers(out, made, &short)?;
    }
    let changed: Vec<_> = field.history.iter().collect();
    if !changed.is_empty() {
        writeln!(out, "  in order")?;
    }
    for (number, step) in changed.iter().enumerate() {
        let what = match (&step.before, &step.after) {
            (Some(before), Some(after)) => format!("{} → {}", short(before), short(after)),
            (None, Some(after)) => format!("set to {}", short(after)),
            (Some(before), None) => format!("removed {}", short(before)),
            (None, None) => step.effect.as_str().to_owned(),
        };
        writeln!(out, "  {:4}  {}  {what}", number + 1, terminal.paint(Role::Strong, name(&step.by)))?;
    }
    if !field.inside.is_empty() {
        writeln!(out, "  inside")?;
    }
    let shown = if verbose { usize::MAX } else { 20 };
    for written in field.inside.iter().take(shown) {
        writeln!(out, "    {}  {}", terminal.paint(Role::Good, name(&written.by)), written.path)?;
    }
    if field.inside.len() > shown {
        writeln!(out, "    and {} more (--verbose)", field.inside.len() - shown)?;
    }
    Ok(())
}

/// The objects behind it, each with the value without it.
fn makers(out: &mut dyn Write, made: &MadeBy, short: &dyn Fn(&str) -> String) -> io::Result<()> {
    let runs = count(made.runs, "run", "runs");
    if made.objects.is_empty() {
        writeln!(out, "  made by     istiod for any mesh: no object changes it ({runs} of istiod)")?;
    }
    for (number, one) in made.objects.iter().enumerate() {
        let place = if one.namespace.is_empty() { one.name.clone() } else { format!("{}/{}", one.namespace, one.name) };
        let without = match &one.without {
            _ if one.replaced => "the same, from another object".to_owned(),
            Some(value) => short(value),
            None => "not there".to_owned(),
        };
        let word = if number == 0 { "made by  " } else { "and      " };
        writeln!(out, "  {word}   {} {place}; without it: {without}", one.kind)?;
    }
    if !made.complete {
        writeln!(out, "              the search ended after {runs} of istiod: some of these may not matter")?;
    } else if !made.objects.is_empty() {
        writeln!(out, "              found by taking objects away, in {runs} of istiod")?;
    }
    Ok(())
}

fn name(by: &PatchRef) -> String {
    format!("{}{}", by.filter, index_of(by.index))
}

//! A migration as one self-contained page: no network, no script.

use super::human::sentence;
use super::text::documents;
use super::{classes, full_name, proven, scope, unwritten};
use crate::migrate::Report;
use crate::migrate::roll_out::steps;
use crate::migrate::verdict::State;
use crate::report::html::Text;
use std::io::{self, Write};

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}\
table{border-collapse:collapse}td,th{border:1px solid #8886;padding:.2rem .5rem;text-align:left}\
pre{overflow:auto;border:1px solid #8886;padding:.5rem}.exact,.same-but{color:#188038}.differs,.partly{color:#b06000}";

/// Writes the page.
pub fn html(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let title = format!("EnvoyFilters to Istio {}.{}", report.to.major, report.to.minor);
    writeln!(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">")?;
    writeln!(out, "<title>{0}</title><style>{STYLE}</style></head><body><h1>{0}</h1>", Text(&title))?;
    writeln!(out, "<table><tr><th>class<th>EnvoyFilters<th>meaning")?;
    for (class, number) in classes(report) {
        writeln!(out, "<tr><td class=\"{0}\">{0}<td>{number}<td>{1}", class.name(), Text(class.meaning()))?;
    }
    writeln!(out, "</table>")?;
    for one in &report.rewrites {
        let changes: Vec<&str> = one.changes.iter().map(String::as_str).collect();
        writeln!(
            out,
            "<p>{} in the newest types: {}; {}",
            Text(&one.filter),
            Text(&changes.join(", ")),
            Text(&one.effect.words())
        )?;
    }
    for filter in &report.filters {
        writeln!(out, "<h2>{} <span class=\"{1}\">{1}</span></h2><ul>", Text(&full_name(filter)), filter.class.name())?;
        for patch in &filter.patches {
            let homes: Vec<String> =
                patch.found.homes.iter().map(|home| format!("{} {}", home.kind, home.field)).collect();
            writeln!(
                out,
                "<li>configPatches[{}]: {} <b class=\"{2}\">{2}</b> {3}",
                patch.index,
                Text(patch.found.pattern.title),
                patch.class.name(),
                Text(&homes.join(", "))
            )?;
            writeln!(out, "<ul>")?;
            if let Some(one) = &patch.ambient {
                writeln!(out, "<li>ambient: {}: {}", one.place.words(), Text(&one.reason))?;
            }
            if let Some(why) = unwritten(patch) {
                writeln!(out, "<li>{}", Text(&why))?;
            }
            for difference in &patch.found.differences {
                writeln!(out, "<li>{}: {}", difference.kind.name(), Text(&difference.effect))?;
            }
            for guard in patch.found.guards.iter().filter(|guard| guard.state == State::Undecided) {
                writeln!(out, "<li>not decided: {}", Text(&guard.reason))?;
            }
            for note in &patch.found.notes {
                writeln!(out, "<li>{}", Text(note))?;
            }
            writeln!(out, "</ul>")?;
        }
        for line in proven(report, filter) {
            writeln!(out, "<li>{}", Text(&line))?;
        }
        writeln!(out, "</ul>")?;
    }
    let steps = steps(report);
    if !steps.is_empty() {
        writeln!(out, "<h2>Roll-out</h2><ol>")?;
        for step in &steps {
            writeln!(out, "<li>{}", Text(&sentence(step)))?;
        }
        writeln!(out, "</ol>")?;
        for document in documents(report) {
            writeln!(out, "<pre>{}</pre>", Text(&document.text()?))?;
        }
    }
    for note in scope(report) {
        writeln!(out, "<p>{}</p>", Text(&note))?;
    }
    writeln!(out, "</body></html>")
}

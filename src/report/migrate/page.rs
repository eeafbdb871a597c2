//! A migration as one self-contained page: no network, no script.

use super::human::sentence;
use super::text::documents;
use super::{alike, classes, differences, full_name, native, open, outcome, proven, rest, scope, unwritten};
use crate::migrate::roll_out::{meanwhile, steps};
use crate::migrate::{FilterReport, PatchReport, Report};
use crate::report::html::{self, NEWLINE, Prose, Text};
use maud::{DOCTYPE, Markup, html};
use std::io::{self, Write};

const STYLE: &str = include_str!("page.css");

/// Writes the page.
pub(crate) fn html(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let documents = documents(report).iter().map(super::text::Document::text).collect::<io::Result<Vec<String>>>()?;
    out.write_all(page(report, &documents).into_string().as_bytes())
}

fn page(report: &Report, documents: &[String]) -> Markup {
    let title = format!("Moving EnvoyFilters to native APIs of Istio {}.{}", report.to.major, report.to.minor);
    let steps = steps(report);
    html! {
        (DOCTYPE) (NEWLINE)
        html lang="en" {
            (html::head(&title, STYLE))
            body {
                h1 { (title) } (NEWLINE)
                @if !report.filters.is_empty() {
                    table {
                        tr { th { "Class" } th { "EnvoyFilters" } th { "Meaning" } }
                        @for (class, number) in classes(report) {
                            tr { td class=(class.name()) { (class.name()) } td { (number) } td { (Text(class.meaning())) } } (NEWLINE)
                        }
                    }
                }
                (NEWLINE)
                @for note in scope(report) { p.note { (Prose(&note)) } (NEWLINE) }
                @for one in &report.rewrites {
                    p {
                        (Text(&one.filter)) " rewritten to the newest types: " (Prose(&one.changes.iter().map(String::as_str).collect::<Vec<_>>().join(", "))) "; "
                        (Text(&one.words()))
                    }
                    (NEWLINE)
                }
                @for filter in &report.filters { (section(report, filter)) }
                @if !steps.is_empty() {
                    h2 { "Rollout" }
                    ol { @for step in &steps { li { (Prose(&sentence(step))) } (NEWLINE) } }
                }
                @if !documents.is_empty() {
                    h2 { "Objects, in the order in which to apply them" } (NEWLINE)
                    @for document in documents { pre { (Text(document)) } (NEWLINE) }
                }
            }
        }
        (NEWLINE)
    }
}

fn section(report: &Report, filter: &FilterReport) -> Markup {
    let mut shown: Option<&PatchReport> = None;
    html! {
        h2 { (Text(&full_name(filter))) " " span class=(filter.class.name()) { (filter.class.name()) } } (NEWLINE)
        ul {
            @for patch in &filter.patches {
                @if let Some(before) = shown.filter(|before| alike(before, patch)) {
                    li { "configPatches[" (patch.index) "]: as configPatches[" (before.index) "]" } (NEWLINE)
                } @else {
                    (of_patch(patch))
                    @let _ = shown.insert(patch);
                }
            }
            @for line in proven(report, filter) { li { (Prose(&line)) } (NEWLINE) }
            @if let Some(outcome) = outcome(report, filter) { li { (outcome) } (NEWLINE) }
            @for effect in meanwhile(filter) { li { "while both exist: " (Prose(effect)) } (NEWLINE) }
        }
        (NEWLINE)
    }
}

fn of_patch(patch: &PatchReport) -> Markup {
    let follow = patch.found.pattern.follow;
    let class = patch.class.name();
    let native = native(&patch.found);
    html! {
        li {
            "configPatches[" (patch.index) "] " (patch.apply_to) ": " (Text(&patch.found.title()))
            @if !native.is_empty() { " → " (Text(&native)) }
            ": " b class=(class) { (class) } (NEWLINE)
            ul {
                @if let Some(one) = &patch.ambient {
                    li { "ambient: " (one.place.words()) ": " (Prose(&one.reason)) } (NEWLINE)
                }
                @if let Some(why) = unwritten(patch) { li { b { (Prose(&why)) } } (NEWLINE) }
                @for difference in differences(patch) {
                    li class=(difference.kind.name()) { b { (difference.kind.name()) ":" } " " (Prose(&difference.effect)) } (NEWLINE)
                }
                @for text in open(patch) { li { (Prose(&text)) } (NEWLINE) }
                @for note in &patch.found.notes { li { "note: " (Prose(note)) } (NEWLINE) }
                @if let Some(rest) = rest(patch) { li { (rest) } (NEWLINE) }
                @if !patch.found.moves && !follow.is_empty() { li { "follow " a href=(follow) { (follow) } } (NEWLINE) }
            }
        }
        (NEWLINE)
    }
}

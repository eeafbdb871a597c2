//! A migration as one self-contained page: no network, no script.

use super::human::sentence;
use super::text::documents;
use super::{classes, differences, full_name, native, open, outcome, proven, rest, scope, unwritten};
use crate::migrate::roll_out::{meanwhile, steps};
use crate::migrate::{FilterReport, PatchReport, Report};
use crate::report::html::{self, NEWLINE, Text};
use maud::{DOCTYPE, Markup, html};
use std::io::{self, Write};

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}\
table{border-collapse:collapse}td,th{border:1px solid #8886;padding:.2rem .5rem;text-align:left}\
pre{overflow:auto;border:1px solid #8886;padding:.5rem}.exact,.same-but{color:#188038}.differs,.partly{color:#b06000}";

/// Writes the page.
pub fn html(out: &mut dyn Write, report: &Report) -> io::Result<()> {
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
                @for one in &report.rewrites {
                    p {
                        (Text(&one.filter)) " rewritten to the newest types: " (Text(&one.changes.iter().map(String::as_str).collect::<Vec<_>>().join(", "))) "; "
                        (Text(&one.words()))
                    }
                    (NEWLINE)
                }
                @for filter in &report.filters { (section(report, filter)) }
                @if !steps.is_empty() {
                    h2 { "Rollout" }
                    ol { @for step in &steps { li { (Text(&sentence(step))) } (NEWLINE) } }
                    @for document in documents { pre { (Text(document)) } (NEWLINE) }
                }
                @for note in scope(report) { p { (Text(&note)) } (NEWLINE) }
            }
        }
        (NEWLINE)
    }
}

fn section(report: &Report, filter: &FilterReport) -> Markup {
    html! {
        h2 { (Text(&full_name(filter))) " " span class=(filter.class.name()) { (filter.class.name()) } } (NEWLINE)
        ul {
            @for patch in &filter.patches { (of_patch(patch)) }
            @for line in proven(report, filter) { li { (Text(&line)) } (NEWLINE) }
            @if let Some(outcome) = outcome(report, filter) { li { (outcome) } (NEWLINE) }
            @for effect in meanwhile(filter) { li { "while both exist: " (Text(effect)) } (NEWLINE) }
        }
        (NEWLINE)
    }
}

fn of_patch(patch: &PatchReport) -> Markup {
    let follow = patch.found.pattern.follow;
    let class = patch.class.name();
    html! {
        li {
            "configPatches[" (patch.index) "]: " (Text(patch.found.pattern.title)) " "
            b class=(class) { (class) } " " (Text(&native(&patch.found))) (NEWLINE)
            ul {
                @if let Some(one) = &patch.ambient {
                    li { "ambient: " (one.place.words()) ": " (Text(&one.reason)) } (NEWLINE)
                }
                @if let Some(why) = unwritten(patch) { li { (Text(&why)) } (NEWLINE) }
                @for difference in differences(patch) {
                    li { (difference.kind.name()) ": " (Text(&difference.effect)) } (NEWLINE)
                }
                @for text in open(patch) { li { (Text(&text)) } (NEWLINE) }
                @for note in &patch.found.notes { li { (Text(note)) } (NEWLINE) }
                @if let Some(rest) = rest(patch) { li { (rest) } (NEWLINE) }
                @if !patch.found.moves && !follow.is_empty() { li { "follow " a href=(follow) { (follow) } } (NEWLINE) }
            }
        }
        (NEWLINE)
    }
}

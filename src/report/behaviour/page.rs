//! The result of `try` as a page: the path as a picture, self-contained and without scripts.

use super::picture::draw;
use super::view::{CallView, ChangeView, FilterView, Side, View, is_binary};
use crate::mesh::Scope;
use crate::report::html::{self, NEWLINE, Text};
use crate::report::scope;
use maud::{DOCTYPE, Markup, html};
use std::io::{self, Write};

const STYLE: &str = include_str!("page.css");

fn change(change: &ChangeView) -> Markup {
    let (before, after) = (change.before.join(", "), change.after.join(", "));
    let (class, text) = match (change.before.is_empty(), change.after.is_empty()) {
        (true, _) => ("good", format!("+ {}: {after}", change.name)),
        (_, true) => ("bad", format!("− {}: {before}", change.name)),
        _ => ("odd", format!("~ {}: {before} → {after}", change.name)),
    };
    html! { code class=(class) { (Text(&text)) } br; (NEWLINE) }
}

fn call(call: &CallView) -> Markup {
    let what = if call.asked.is_empty() { format!("{} {}", call.method, call.path) } else { call.asked.clone() };
    html! {
        code {
            "asked " (Text(&call.service)) " of " (Text(&call.cluster)) ": " (Text(what.trim())) " → " (Text(&call.answer))
        }
        br; (NEWLINE)
    }
}

fn status(side: &Side) -> String {
    side.statuses
        .iter()
        .map(|(status, times)| if *times == 1 { status.clone() } else { format!("{status} × {times}") })
        .collect::<Vec<_>>()
        .join(", ")
}

fn filter(one: &FilterView) -> Markup {
    html! {
        li.ours[one.by.is_some()].stopped[one.stopped].unmet[!one.reached] {
            strong { (Text(&one.name)) }
            @if let Some(by) = &one.by { " " small { (Text(by)) } }
            br; (NEWLINE)
            @for it in &one.request { (change(it)) }
            @for it in &one.asked { (call(it)) }
            @for said in &one.said {
                code.bad[matches!(said.level.as_str(), "error" | "critical")] {
                    (Text(&said.level)) " (" (said.phase) "): " (Text(&said.text))
                }
                br; (NEWLINE)
            }
            @if one.stopped { span.bad { "stopped the request" } br; (NEWLINE) }
            @for it in &one.response { "on the way back: " (change(it)) }
        }
        (NEWLINE)
    }
}

/// Writes the page.
pub(crate) fn write(out: &mut dyn Write, view: &View, scope: &Scope) -> io::Result<()> {
    out.write_all(page(view, scope).into_string().as_bytes())
}

fn page(view: &View, scope: &Scope) -> Markup {
    html! {
        (DOCTYPE) (NEWLINE)
        html lang="en" {
            (html::head(&view.request, STYLE))
            h1 { (Text(&view.request)) } (NEWLINE)
            p.about {
                (Text(&view.proxy_type)) " " (Text(&view.proxy)) ", " (Text(&view.target)) ", Envoy " (Text(&view.envoy))
            }
            (NEWLINE)
            p.about { "Scope: " (Text(&scope::sentence(scope))) }
            (NEWLINE)
            (client(view))
            h2 { "Path" } (NEWLINE)
            (draw(view))
            (path(view))
            h2 { "HTTP filters, in the order of the request" } (NEWLINE)
            ol.filters { (NEWLINE) @for one in &view.with.filters { (filter(one)) } } (NEWLINE)
            h2 { "Upstream" } (NEWLINE)
            (upstream(view))
            h2 { "Differences from the mesh" } (NEWLINE)
            ul {
                @for one in &view.left_out { li { (Text(one.description)) ": " (Text(&one.what.join(", "))) } (NEWLINE) }
                li {
                    "loaded: " (of(view.loaded.listeners)) " listeners, " (of(view.loaded.routes))
                    " route configurations, " (of(view.loaded.clusters)) " clusters; upstreams are stubs"
                }
            }
        }
        (NEWLINE)
    }
}

fn of((some, all): (usize, usize)) -> String {
    format!("{some} of {all}")
}

/// What the client saw.
fn client(view: &View) -> Markup {
    let body = |side: &Side| {
        html! {
            @if is_binary(&side.client.body) {
                "binary, "
            } @else {
                code { (Text(&side.client.body.chars().take(200).collect::<String>())) }
            }
            small { (side.client.body_length) " bytes" }
        }
    };
    html! {
        table {
            tr { th {} th { "with the EnvoyFilters" } th { "without" } } (NEWLINE)
            tr {
                td { "status" } td { (Text(&status(&view.with))) }
                td { (Text(&view.without.as_ref().map_or_else(|| "–".to_owned(), status))) }
            }
            (NEWLINE)
            tr { td { "body" } td { (body(&view.with)) } td { @if let Some(side) = &view.without { (body(side)) } } }
        }
        (NEWLINE)
        @if let Some(failure) = &view.with.client.failure { p.bad { (Text(failure)) } (NEWLINE) }
        @for it in &view.client_changes { (change(it)) }
    }
}

/// What Envoy logged of the way.
fn path(view: &View) -> Markup {
    let rows = view.with.path.as_ref().map(|path| {
        [
            ("route configuration", path.route_config.as_str()),
            ("changed by", path.route_by.as_deref().unwrap_or_default()),
            ("server name", &path.sni),
            ("answer", &path.details),
            ("flags", &path.flags),
            ("closed", &path.closed),
            ("TLS failed", &path.tls_failure),
        ]
    });
    html! {
        table {
            (NEWLINE)
            @for (what, name) in rows.into_iter().flatten().filter(|(_, name)| !name.is_empty()) {
                tr { td { (what) } td { (Text(name)) } } (NEWLINE)
            }
        }
        (NEWLINE)
    }
}

/// The last request that the upstream saw.
fn upstream(view: &View) -> Markup {
    html! {
        @if let Some(last) = view.with.upstream.last() {
            pre {
                (Text(&format!("{} {} {}\n", last.method, last.path, last.protocol)))
                @for (name, value) in last.headers.iter().filter(|(name, _)| !name.starts_with(':')) {
                    (Text(&format!("{name}: {value}\n")))
                }
            }
            (NEWLINE)
            @for it in &view.upstream_changes { (change(it)) }
        } @else {
            p { "No request reached it." } (NEWLINE)
        }
    }
}

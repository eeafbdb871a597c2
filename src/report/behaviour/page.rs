//! The result of `try` as a page: the path as a picture, self-contained and without scripts.

use super::picture::draw;
use super::view::{CallView, ChangeView, FilterView, Side, View};
use crate::report::html::Text;
use std::fmt::Write as _;
use std::io::{self, Write};

const STYLE: &str = include_str!("page.css");

pub(super) fn text(text: &str) -> String {
    Text(text).to_string()
}

fn change(change: &ChangeView) -> String {
    let values = |values: &[String]| text(&values.join(", "));
    let name = text(&change.name);
    match (change.before.is_empty(), change.after.is_empty()) {
        (true, _) => format!("<code class=\"good\">+ {name}: {}</code><br>", values(&change.after)),
        (_, true) => format!("<code class=\"bad\">− {name}: {}</code><br>", values(&change.before)),
        _ => format!("<code class=\"odd\">~ {name}: {} → {}</code><br>", values(&change.before), values(&change.after)),
    }
}

fn call(call: &CallView) -> String {
    let what = if call.asked.is_empty() { format!("{} {}", call.method, call.path) } else { call.asked.clone() };
    format!(
        "<code>asked {} of {}: {} → {}</code><br>",
        text(&call.service),
        text(&call.cluster),
        text(what.trim()),
        text(&call.answer)
    )
}

fn status(side: &Side) -> String {
    side.statuses
        .iter()
        .map(|(status, times)| if *times == 1 { text(status) } else { format!("{} × {times}", text(status)) })
        .collect::<Vec<_>>()
        .join(", ")
}

fn filter(one: &FilterView) -> String {
    let mut class = String::new();
    if one.by.is_some() {
        class.push_str("ours ");
    }
    if one.stopped {
        class.push_str("stopped ");
    }
    if !one.reached {
        class.push_str("unmet");
    }
    let mut out = format!("<li class=\"{}\"><strong>{}</strong>", class.trim(), text(&one.name));
    if let Some(by) = &one.by {
        let _ = write!(out, " <small>{}</small>", text(by));
    }
    out.push_str("<br>");
    one.request.iter().for_each(|it| out.push_str(&change(it)));
    one.asked.iter().for_each(|it| out.push_str(&call(it)));
    for said in &one.said {
        let class = if matches!(said.level.as_str(), "error" | "critical") { "bad" } else { "" };
        let _ = write!(
            out,
            "<code class=\"{class}\">{} ({}): {}</code><br>",
            text(&said.level),
            said.phase,
            text(&said.text)
        );
    }
    if one.stopped {
        out.push_str("<span class=\"bad\">stopped the request</span><br>");
    }
    for it in &one.response {
        let _ = write!(out, "on the way back: {}", change(it));
    }
    out.push_str("</li>\n");
    out
}

/// Writes the page.
pub(crate) fn write(out: &mut dyn Write, view: &View) -> io::Result<()> {
    let mut page = String::new();
    let title = text(&view.request);
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n<h1>{title}</h1>\n<p class=\"about\">{} {}, {}, Envoy {}</p>\n",
        text(&view.proxy_type),
        text(&view.proxy),
        text(&view.target),
        text(&view.envoy)
    );
    let without = view.without.as_ref().map_or_else(|| "–".to_owned(), status);
    let _ = write!(
        page,
        "<table><tr><th></th><th>with the EnvoyFilters</th><th>without</th></tr>\n<tr><td>status</td><td>{}</td><td>{without}</td></tr>\n",
        status(&view.with)
    );
    let bodies = |side: &Side| {
        format!(
            "<code>{}</code><small>{} bytes</small>",
            text(&side.client.body.chars().take(200).collect::<String>()),
            side.client.body_length
        )
    };
    let other = view.without.as_ref().map_or_else(String::new, bodies);
    let _ = writeln!(page, "<tr><td>body</td><td>{}</td><td>{other}</td></tr></table>", bodies(&view.with));
    if let Some(failure) = &view.with.client.failure {
        let _ = writeln!(page, "<p class=\"bad\">{}</p>", text(failure));
    }
    view.client_changes.iter().for_each(|it| page.push_str(&change(it)));
    page.push_str("<h2>Path</h2>\n");
    page.push_str(&draw(view));
    page.push_str("<table>\n");
    if let Some(path) = &view.with.path {
        for (what, name) in [
            ("route configuration", path.route_config.as_str()),
            ("changed by", path.route_by.as_deref().unwrap_or_default()),
            ("server name", &path.sni),
            ("answer", &path.details),
            ("flags", &path.flags),
            ("closed", &path.closed),
            ("TLS failed", &path.tls_failure),
        ] {
            if !name.is_empty() {
                let _ = writeln!(page, "<tr><td>{what}</td><td>{}</td></tr>", text(name));
            }
        }
    }
    page.push_str("</table>\n<h2>HTTP filters, in the order of the request</h2>\n<ol class=\"filters\">\n");
    view.with.filters.iter().for_each(|one| page.push_str(&filter(one)));
    page.push_str("</ol>\n<h2>Upstream</h2>\n");
    if view.with.upstream.is_empty() {
        page.push_str("<p>No request reached it.</p>\n");
    }
    if let Some(last) = view.with.upstream.last() {
        let mut lines = format!("{} {} {}\n", last.method, last.path, last.protocol);
        for (name, value) in last.headers.iter().filter(|(name, _)| !name.starts_with(':')) {
            let _ = writeln!(lines, "{name}: {value}");
        }
        let _ = writeln!(page, "<pre>{}</pre>", text(&lines));
        view.upstream_changes.iter().for_each(|it| page.push_str(&change(it)));
    }
    page.push_str("<h2>Differences from the mesh</h2>\n<ul>\n");
    for one in &view.left_out {
        let _ = writeln!(page, "<li>{}: {}</li>", text(one.description), text(&one.what.join(", ")));
    }
    let of = |(some, all): (usize, usize)| format!("{some} of {all}");
    let _ = writeln!(
        page,
        "<li>loaded: {} listeners, {} route configurations, {} clusters; upstreams are stubs</li>\n</ul>",
        of(view.scope.listeners),
        of(view.scope.routes),
        of(view.scope.clusters)
    );
    out.write_all(page.as_bytes())
}

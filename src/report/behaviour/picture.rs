//! The path of a request as a picture: a box for everything that it passed on the way to the upstream, and the way back.

use super::view::{ChangeView, FilterView, Side, View};
use crate::report::html::{NEWLINE, Text};
use crate::report::style::shorten;
use maud::{Markup, html};

const WIDTH: usize = 900;
/// Left edge and width of the boxes.
const LEFT: usize = 64;
const BOX: usize = 400;
/// Left edge of the notes beside them.
const NOTES: usize = LEFT + BOX + 16;
const LINE: usize = 17;
const GAP: usize = 20;

/// One box.
struct Node {
    /// Its kind, in small letters.
    what: String,
    name: String,
    /// Classes: `ours`, `stopped`, `unmet`.
    class: &'static str,
    /// What happened there, each with a class.
    notes: Vec<(&'static str, String)>,
}

impl Node {
    fn new(what: &str, name: impl Into<String>) -> Node {
        Node { what: what.to_owned(), name: name.into(), class: "", notes: Vec::new() }
    }

    fn height(&self) -> usize {
        (self.notes.len() * LINE + 6).max(42)
    }

    fn draw(&self, top: usize) -> Markup {
        html! {
            g class=(self.class) {
                title { (Text(&self.name)) }
                rect x=(LEFT) y=(top) width=(BOX) height=(self.height()) rx="6" {}
                text.what x=(LEFT + 10) y=(top + 15) { (Text(&shorten(&self.what, 60))) }
                text x=(LEFT + 10) y=(top + 33) { (Text(&shorten(&self.name, 50))) }
                (NEWLINE)
                @for (line, (class, note)) in self.notes.iter().enumerate() {
                    text class={ "note " (class) } x=(NOTES) y=(top + 15 + line * LINE) {
                        title { (Text(note)) }
                        (Text(&shorten(note, 56)))
                    }
                    (NEWLINE)
                }
            }
            (NEWLINE)
        }
    }
}

fn change(change: &ChangeView, back: bool) -> (&'static str, String) {
    let way = if back { "↑ " } else { "" };
    let (before, after) = (change.before.join(", "), change.after.join(", "));
    match (change.before.is_empty(), change.after.is_empty()) {
        (true, _) => ("good", format!("{way}+ {}: {after}", change.name)),
        (_, true) => ("bad", format!("{way}− {}: {before}", change.name)),
        _ => ("odd", format!("{way}~ {}: {before} → {after}", change.name)),
    }
}

fn of_filter(one: &FilterView) -> Node {
    let mut node = Node::new(one.by.as_deref().unwrap_or("HTTP filter"), one.name.as_str());
    node.class = match (one.stopped, one.reached, one.by.is_some()) {
        (true, ..) => "stopped",
        (_, false, _) => "unmet",
        (_, _, true) => "ours",
        _ => "",
    };
    node.notes.extend(one.request.iter().map(|it| change(it, false)));
    node.notes.extend(one.asked.iter().map(|call| ("", format!("asked {} → {}", call.cluster, call.answer))));
    for said in &one.said {
        let class = if matches!(said.level.as_str(), "error" | "critical") { "bad" } else { "" };
        node.notes.push((class, format!("{}: {}", said.level, said.text)));
    }
    if one.stopped {
        node.notes.push(("bad", "stopped the request".to_owned()));
    }
    node.notes.extend(one.response.iter().map(|it| change(it, true)));
    node
}

/// The boxes from the client to the upstream, and how many of them the request reached.
fn nodes(side: &Side) -> (Vec<Node>, usize) {
    let mut all = Vec::new();
    let Some(path) = &side.path else { return (all, 0) };
    let mut add = |what: &str, name: &str| {
        if !name.is_empty() {
            all.push(Node::new(what, name));
        }
    };
    add("client", if path.peer.is_empty() { "no identity" } else { &path.peer });
    add("listener", &path.listener);
    let chain = if path.filter_chain.is_empty() { &path.filter_chain_index } else { &path.filter_chain };
    add("filter chain", if chain.is_empty() { path.no_chain() } else { chain });
    add("virtual host", &path.virtual_host);
    if path.route_index.is_some() {
        let made = if path.object.is_empty() { String::new() } else { format!(", made by {}", path.object) };
        add(&format!("route{made}"), if path.route.is_empty() { "no name" } else { &path.route });
    }
    let mut reached = all.len();
    let mut stopped = false;
    for filter in &side.filters {
        all.push(of_filter(filter));
        if filter.reached {
            reached = all.len();
        }
        stopped |= filter.stopped;
    }
    if !path.cluster.is_empty() {
        all.push(Node::new("cluster", path.cluster.as_str()));
    }
    if let Some(call) = side.upstream.last() {
        all.push(Node::new("upstream saw", format!("{} {} {}", call.method, call.path, call.protocol).trim()));
        reached = all.len();
    } else if !path.cluster.is_empty() {
        all.push(Node::new("upstream", "no request reached it"));
        if !stopped {
            reached = all.len() - 1;
        }
    }
    for node in all.iter_mut().skip(reached) {
        node.class = "unmet";
    }
    (all, reached)
}

/// Draws the path with the filters.
pub(super) fn draw(view: &View) -> Markup {
    let (nodes, reached) = nodes(&view.with);
    if nodes.is_empty() {
        return html! { p { "Envoy logged no request: it did not reach a filter chain." } (NEWLINE) };
    }
    let height = nodes.iter().map(|node| node.height() + GAP).sum::<usize>() + 8;
    let tops: Vec<usize> = nodes
        .iter()
        .scan(4, |y, node| {
            let top = *y;
            *y += node.height() + GAP;
            Some(top)
        })
        .collect();
    let middle = |number: usize| tops[number] + nodes[number].height() / 2;
    // Where the way back begins and ends.
    let (turn, first) = (reached.checked_sub(1).map_or(0, middle), middle(0));
    let status = view.with.client.status.map(|status| status.to_string());
    let answer = status.or_else(|| view.with.client.failure.clone()).unwrap_or_else(|| "answer".to_owned());
    html! {
        svg.path viewBox={ "0 0 " (WIDTH) " " (height) } role="img" aria-label="path of the request" {
            (NEWLINE)
            defs {
                marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse" {
                    path d="M0 0L8 4L0 8z" {}
                }
            }
            (NEWLINE)
            @for (number, (node, top)) in nodes.iter().zip(&tops).enumerate() {
                (node.draw(*top))
                @if number + 1 < nodes.len() {
                    @let below = top + node.height();
                    path.way.unmet[number + 1 >= reached] d={ "M" (LEFT + BOX / 2) " " (below) "V" (below + GAP - 2) } {}
                    (NEWLINE)
                }
            }
            @if turn > first {
                path.way d={ "M" (LEFT) " " (turn) "H30V" (first) "H" (LEFT - 2) } {}
                text.note x="0" y=(first - 8) { (Text(&shorten(&answer, 8))) }
                (NEWLINE)
            }
        }
        (NEWLINE)
    }
}

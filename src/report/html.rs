//! HTML, for every page: `maud` escapes markup, and [`Text`] also control characters.

use crate::source::escape;
use maud::{Markup, PreEscaped, Render, html};

/// A line end. Items and rows end with one, because output is searched for secrets line by line.
pub(super) const NEWLINE: PreEscaped<&str> = PreEscaped("\n");

/// A text without markup and without control characters.
pub(super) struct Text<'t>(pub(super) &'t str);

impl Render for Text<'_> {
    fn render_to(&self, out: &mut String) {
        let safe: &str = &escape::lines(self.0);
        safe.render_to(out);
    }
}

/// Text in which backticks mark code.
pub(super) struct Prose<'t>(pub(super) &'t str);

impl Render for Prose<'_> {
    fn render_to(&self, out: &mut String) {
        let parts: Vec<&str> = self.0.split('`').collect();
        // An unpaired backtick is an ordinary character.
        if parts.len().is_multiple_of(2) {
            return Text(self.0).render_to(out);
        }
        for (index, part) in parts.iter().enumerate() {
            if index % 2 == 1 {
                // A quoted name is one line, whatever it contains.
                html! { code { (Text(&escape::one_line(part))) } }.render_to(out);
            } else {
                Text(part).render_to(out);
            }
        }
    }
}

/// The head of a self-contained page.
pub(super) fn head(title: &str, style: &'static str) -> Markup {
    html! {
        head {
            meta charset="utf-8"; (NEWLINE)
            meta name="viewport" content="width=device-width,initial-scale=1"; (NEWLINE)
            title { (Text(title)) } (NEWLINE)
            style { (PreEscaped(style)) }
        }
    }
}

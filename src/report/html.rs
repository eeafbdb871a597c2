//! HTML, for every page: `maud` escapes markup, and [`Text`] also control characters.

use crate::source::escape;
use maud::{PreEscaped, Render};

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

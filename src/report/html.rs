//! Text in HTML, for every page.

use crate::source::escape;
use std::fmt::{Display, Formatter, Result, Write as _};

/// A text without markup and without control characters.
pub(super) struct Text<'t>(pub(super) &'t str);

impl Display for Text<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        for character in escape::lines(self.0).chars() {
            match character {
                '&' => out.write_str("&amp;")?,
                '<' => out.write_str("&lt;")?,
                '>' => out.write_str("&gt;")?,
                '"' => out.write_str("&quot;")?,
                '\'' => out.write_str("&#39;")?,
                other => out.write_char(other)?,
            }
        }
        Ok(())
    }
}

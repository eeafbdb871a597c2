//! Tables as kubectl prints them.

use super::style::columns;
use crate::source::escape;
use std::borrow::Cow;
use std::io::{self, Write};

/// Widths of columns: those of their widest cells.
pub(crate) fn widths(heading: &[&str], rows: &[Vec<String>]) -> Vec<usize> {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| columns(&one_cell(cell)));
        cells.chain(heading.get(column).map(|cell| columns(cell))).max().unwrap_or(0)
    };
    (0..heading.len()).map(width).collect()
}

/// Writes one line of a table; its last cell is not padded.
pub(crate) fn line<'c>(
    out: &mut dyn Write,
    widths: &[usize],
    cells: impl IntoIterator<Item = &'c str>,
) -> io::Result<()> {
    let mut text = String::new();
    for (cell, width) in cells.into_iter().zip(widths) {
        let cell = &*one_cell(cell);
        text.extend([cell, &" ".repeat((width + 3).saturating_sub(columns(cell)).max(1))]);
    }
    writeln!(out, "{}", text.trim_end())
}

/// A cell on one line. Colors, which the caller adds, stay.
fn one_cell(cell: &str) -> Cow<'_, str> {
    if cell.contains('\u{1b}') { Cow::Borrowed(cell) } else { escape::one_line(cell) }
}

/// Writes rows under a heading.
pub(crate) fn write(out: &mut dyn Write, heading: &[&str], rows: &[Vec<String>]) -> io::Result<()> {
    let widths = widths(heading, rows);
    line(out, &widths, heading.iter().copied())?;
    rows.iter().try_for_each(|row| line(out, &widths, row.iter().map(String::as_str)))
}

/// The age of something, in kubectl's form: `45s`, `3m`, `5h`, `2d`, `3y`.
pub(crate) fn age(seconds: i64) -> String {
    match seconds.max(0) {
        seconds if seconds < 120 => format!("{seconds}s"),
        seconds if seconds < 2 * 3_600 => format!("{}m", seconds / 60),
        seconds if seconds < 48 * 3_600 => format!("{}h", seconds / 3_600),
        seconds if seconds < 2 * 365 * 86_400 => format!("{}d", seconds / 86_400),
        seconds => format!("{}y", seconds / (365 * 86_400)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut out = Vec::new();
        let rows = [vec!["shop".to_owned(), "ä".to_owned()], vec!["b".to_owned(), "x".to_owned()]];
        write(&mut out, &["NAMESPACE", "NAME"], &rows).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "NAMESPACE   NAME\nshop        ä\nb           x\n");
        assert_eq!([age(5), age(300), age(90_000), age(400_000)], ["5s", "5m", "25h", "4d"]);
    }
}

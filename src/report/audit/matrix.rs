//! Filters and workloads of an audit's page as a matrix.

use super::marks::{and_more, link, tag};
use super::{class_name, state_name};
use crate::audit::view::{Audit, Filter, Workloads};
use crate::lint::upgrade::tell::Class;
use crate::report::html::{NEWLINE, Text};
use maud::{Markup, PreEscaped, html};
use std::collections::HashMap;

/// Maximum number of rows and columns of the matrix, to keep the page light. For a larger matrix, the script draws the visible
/// part; paper and browsers without scripts get a part of this size.
const MAX_ROWS: usize = 120;
const MAX_COLUMNS: usize = 30;

/// A filter with its number, for the matrix.
pub(super) type Row<'a> = (usize, &'a Filter);

pub(super) fn matrix(audit: &Audit) -> Markup {
    let rows: Vec<Row<'_>> = audit.filters.iter().enumerate().filter(|(_, one)| !one.cells.is_empty()).collect();
    // Columns with the worst and the most changes come first; equal workloads already share a column.
    let mut weight = vec![(0_usize, 0_usize); audit.workloads.len()];
    for cell in rows.iter().flat_map(|(_, filter)| &filter.cells) {
        if let Some(weight) = weight.get_mut(cell.workloads) {
            weight.0 += usize::from(cell.verdict.is_some());
            weight.1 += 1;
        }
    }
    let mut columns: Vec<usize> = (0..audit.workloads.len()).filter(|&column| weight[column].1 > 0).collect();
    columns.sort_by_key(|&column| (std::cmp::Reverse(weight[column]), column));
    let large = rows.len() > MAX_ROWS || columns.len() > MAX_COLUMNS;
    let shown = (&rows[..rows.len().min(MAX_ROWS)], &columns[..columns.len().min(MAX_COLUMNS)]);
    html! {
        @if !rows.is_empty() && !columns.is_empty() {
            h2 id="matrix" { "Filters and workloads" }
            p.dim {
                "Patches in effect before → after the upgrade. Workloads that every filter treats alike share a column; \
                 hold the pointer over a cell, or tap it, for the reason."
            }
            (NEWLINE)
            @if large { (grid(audit, &rows, &columns)) }
            div class=[large.then_some("still")] {
                (NEWLINE)
                (still(audit, shown.0, shown.1))
                @if large {
                    p.dim {
                        (shown.0.len()) " of " (rows.len()) " filters and " (shown.1.len()) " of " (columns.len())
                        " groups of workloads are shown here, the worst first; the rest is in the JSON form and below."
                    }
                    (NEWLINE)
                }
            }
            div.legend {
                @for class in Class::ALL { span { (tag(class.as_str())) } }
                span { (tag("ready")) }
                span { "empty: does not attach" }
            }
            (NEWLINE)
        }
    }
}

/// The label of a group of workloads: its first member and the number of others.
pub(super) fn group_label(group: &Workloads) -> String {
    match group.count.saturating_sub(1) {
        0 => group.label.clone(),
        more => format!("{} +{more}", group.label),
    }
}

pub(super) fn group_members(group: &Workloads) -> String {
    if group.count == 0 {
        return format!("{}, made up to fit filters, with what istiod generates by default", group.label);
    }
    let more = and_more(group.count.saturating_sub(group.members.len()));
    format!("{} ({}): {}{more}", group.kind, group.knowledge, group.members.join(", "))
}

/// The whole matrix as data, from which the script draws the visible part.
fn grid(audit: &Audit, rows: &[Row<'_>], columns: &[usize]) -> Markup {
    // The data must not end its element.
    let data = grid_data(audit, rows, columns).to_string().replace('<', "\\u003c");
    html! {
        div.tools.for-grid {
            label { "Filters" input id="grid-filter" type="search"; }
            label { "Workloads" input id="grid-workload" type="search"; }
            label { input id="grid-bad" type="checkbox" checked; "only where something happens" }
            span.pages {
                button id="grid-back" type="button" { "← back" }
                button id="grid-on" type="button" { "on →" }
            }
            span.dim id="grid-shown" {}
        }
        (NEWLINE)
        div.grid id="grid" tabindex="0" {
            div.grid-view id="grid-view" { div.gt {} div.gl {} div.gb {} }
            div id="grid-size" {}
        }
        p.grid-said id="grid-said" aria-live="polite" {} (NEWLINE)
        script type="application/json" id="grid-data" { (PreEscaped(data)) } (NEWLINE)
    }
}

fn grid_data(audit: &Audit, rows: &[Row<'_>], columns: &[usize]) -> serde_json::Value {
    let number: HashMap<usize, usize> = columns.iter().enumerate().map(|(at, column)| (*column, at)).collect();
    let mut reasons: Vec<&str> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut cells = Vec::new();
    for (row, (_, filter)) in rows.iter().enumerate() {
        for cell in &filter.cells {
            let Some(column) = number.get(&cell.workloads) else { continue };
            let reason = *known.entry(&cell.reason).or_insert_with(|| {
                reasons.push(&cell.reason);
                reasons.len() - 1
            });
            let class = cell
                .verdict
                .map_or(Class::ALL.len(), |class| Class::ALL.iter().take_while(|one| **one != class).count());
            cells.push([row, *column, cell.before, cell.after, class, reason]);
        }
    }
    let classes: Vec<&str> = Class::ALL.iter().map(|class| class.as_str()).chain(["ready"]).collect();
    let filters: Vec<_> = rows
        .iter()
        .map(|(index, filter)| (filter.full_name(), state_name(filter), filter.verdict.map(|_| format!("f{index}"))))
        .collect();
    let workloads: Vec<_> = columns
        .iter()
        .filter_map(|&column| audit.workloads.get(column))
        .map(|group| (group_label(group), group_members(group)))
        .collect();
    serde_json::json!({
        "classes": classes, "reasons": reasons, "filters": filters, "workloads": workloads, "cells": cells,
    })
}

/// The matrix as a table.
fn still(audit: &Audit, rows: &[Row<'_>], columns: &[usize]) -> Markup {
    html! {
        div.scroll {
            table.matrix {
                thead {
                    tr {
                        th.row { "Filter" } (NEWLINE)
                        @for group in columns.iter().filter_map(|&column| audit.workloads.get(column)) {
                            th.col title=(Text(&group_members(group))) { span { (Text(&group_label(group))) } }
                        }
                    }
                }
                tbody {
                    @for (index, filter) in rows {
                        tr data-name=(Text(&filter.full_name().to_lowercase())) {
                            th.row { (link(*index, filter)) }
                            @for column in columns {
                                td { (cell(filter, *column)) }
                            }
                        }
                        (NEWLINE)
                    }
                }
            }
        }
        (NEWLINE)
    }
}

fn cell(filter: &Filter, column: usize) -> Markup {
    let Some(cell) = filter.cells.iter().find(|cell| cell.workloads == column) else { return Markup::default() };
    let idle = cell.verdict.is_none() && cell.before + cell.after == 0;
    let class = if idle { "dim" } else { class_name(cell.verdict) };
    let title = match cell.reason.as_str() {
        "" if idle => "no effect before or after",
        "" => class,
        reason => reason,
    };
    html! {
        span class=(class) title=(Text(title)) {
            (cell.before) @if cell.before != cell.after { "→" (cell.after) }
        }
    }
}

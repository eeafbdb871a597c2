//! Parts of the page that several of its sections have.

use crate::audit::view::Filter;
use crate::report::html::Text;
use maud::{Markup, html};

/// What a list leaves out.
pub(super) fn and_more(number: usize) -> String {
    if number > 0 { format!(" and {number} more") } else { String::new() }
}

pub(super) fn tag(class: &str) -> Markup {
    html! { span class={ "tag " (class) } { (class) } }
}

/// The name of a filter, with a link to what was found for it.
pub(super) fn link(index: usize, filter: &Filter) -> Markup {
    let name = filter.full_name();
    html! {
        @if filter.verdict.is_some() { a href={ "#f" (index) } { (Text(&name)) } }
        @else { (Text(&name)) }
    }
}

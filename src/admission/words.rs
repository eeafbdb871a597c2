//! Remarks as sent to the API server: one line each, within its limits.
//!
//! kube-apiserver truncates warnings to 256 characters when those of a request exceed 4096 in all
//! (`k8s.io/apiserver/pkg/endpoints/filters/warning.go`).

use super::remark::Remark;
use std::fmt::Write as _;

/// The longest warning, in characters.
pub(crate) const LONGEST: usize = 256;
/// Maximum number of characters of all warnings of a review.
pub(crate) const ALL: usize = 4096;
/// Maximum number of characters of a denial: a person must read it.
const DENIAL: usize = 8192;

/// One remark as a line: code, severity, place, what is wrong, what to write instead.
pub(crate) fn line(remark: &Remark) -> String {
    let mut line = format!("{} {}", remark.code, remark.severity.as_str());
    if let Some(other) = &remark.other {
        let _ = write!(line, " in EnvoyFilter {other}");
    }
    if !remark.path.is_empty() {
        let _ = write!(line, " at {}", remark.path);
    }
    let _ = write!(line, ": {}", one_line(&remark.message));
    if remark.stood {
        line.push_str(" (as before this update)");
    } else if remark.may_come {
        line.push_str(" (unless created later)");
    }
    if let Some(help) = &remark.help {
        let _ = write!(line, "; help: {}", one_line(help));
    }
    line
}

/// Warnings within the limits of the API server, each and together.
pub(crate) fn warnings(lines: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = lines.into_iter().map(|line| cut(&line, LONGEST)).collect();
    let sizes = |lines: &[String]| lines.iter().map(|line| line.chars().count()).sum::<usize>();
    if sizes(&lines) <= ALL {
        return lines;
    }
    let all = lines.len();
    while sizes(&lines) > ALL - LONGEST {
        lines.pop();
    }
    lines.push(format!("and {} more; `kubectl envoyfilter lint` shows all of them", all - lines.len()));
    lines
}

/// The reason for a denial.
pub(crate) fn denial(denying: &[&Remark]) -> String {
    let number = denying.len();
    let findings = if number == 1 { "1 finding" } else { "findings" };
    let mut text = match number {
        1 => format!("{findings} of `kubectl envoyfilter lint`:"),
        _ => format!("{number} {findings} of `kubectl envoyfilter lint`:"),
    };
    for (at, remark) in denying.iter().enumerate() {
        let line = line(remark);
        if text.chars().count() + line.chars().count() > DENIAL {
            let _ = write!(text, "\n  and {} more", number - at);
            break;
        }
        text.push_str("\n  ");
        text.push_str(&line);
    }
    text
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text truncated to this length.
pub(crate) fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(longest.saturating_sub(1)).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Severity;

    fn remark(message: &str) -> Remark {
        Remark {
            code: "EF301",
            severity: Severity::Error,
            other: None,
            path: "spec.configPatches[2].patch.value".to_owned(),
            message: message.to_owned(),
            help: Some("write:\n  a: b".to_owned()),
            stood: false,
            may_come: false,
        }
    }

    #[test]
    fn a_line_has_code_place_and_help() {
        let want = "EF301 error at spec.configPatches[2].patch.value: `x` is wrong; help: write: a: b";
        assert_eq!(line(&remark("`x` is wrong")), want);
    }

    #[test]
    fn warnings_stay_within_the_limits_of_the_api_server() {
        let long = warnings([line(&remark(&"ä".repeat(500)))]);
        assert_eq!(long[0].chars().count(), LONGEST);
        let many = warnings((0..50).map(|_| line(&remark(&"x".repeat(150)))));
        assert!(many.iter().map(|line| line.chars().count()).sum::<usize>() <= ALL);
        assert!(many.last().unwrap().starts_with("and "), "{many:?}");
        let all: usize = many.last().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        assert_eq!(all + many.len() - 1, 50);
    }

    #[test]
    fn a_denial_is_readable() {
        let one = remark("bad");
        assert!(denial(&[&one]).starts_with("1 finding of"));
        let many: Vec<&Remark> = std::iter::repeat_n(&one, 500).collect();
        let text = denial(&many);
        assert!(text.starts_with("500 findings") && text.ends_with(" more") && text.len() < 9000, "{text}");
    }
}

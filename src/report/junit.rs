//! JUnit XML: how the reports of findings, of tests and of several contexts are written and read.

use crate::source::escape;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus};
use std::io::{self, Write};

/// A text in a report: characters that control a terminal or a runner are escaped.
pub fn text(text: &str) -> String {
    escape::lines(text).into_owned()
}

/// A name, on one line.
pub(crate) fn name(text: &str) -> String {
    escape::one_line(text).into_owned()
}

/// A case that passed.
pub(crate) fn passed(class: &str, case: &str) -> TestCase {
    let mut passed = TestCase::new(name(case), TestCaseStatus::success());
    passed.set_classname(name(class));
    passed
}

/// A case that failed, or that could not be run.
pub(crate) fn failed(class: &str, case: &str, kind: NonSuccessKind, message: &str) -> TestCase {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(name(message));
    let mut failed = TestCase::new(name(case), status);
    failed.set_classname(name(class));
    failed
}

/// Writes a report.
pub(crate) fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    report.serialize(out).map_err(io::Error::other)
}

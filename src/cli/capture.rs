//! `capture`: saves everything a run reads in a folder or one archive, without secrets.

use super::session::{Exit, Session};
use crate::mesh::{self, CaptureRequest, Error};
use crate::report::style::count;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct Capture {
    /// Where to write: a new folder, or an archive that ends in .tar, .tar.zst or .tar.gz
    #[arg(value_name = "PATH")]
    pub(super) path: PathBuf,
    /// Also redact what this regular expression matches; may be given several times
    #[arg(long, value_name = "REGEX")]
    redact: Vec<String>,
    /// Save objects only; otherwise a capture without any config dump is refused
    #[arg(long)]
    no_dumps: bool,
}

impl Capture {
    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        let request = CaptureRequest {
            settings: session.settings(),
            path: self.path.clone(),
            redact: self.redact.clone(),
            no_dumps: self.no_dumps,
        };
        let report = mesh::capture(&request, session.progress)?;
        let serious = session.report_problems(&report.loaded, &report.problems)?;
        session.scope(&report.scope)?;
        writeln!(
            session.out,
            "{}: {}, {}, {} redacted",
            self.path.display(),
            count(report.objects, "object", "objects"),
            count(report.dumps, "config dump", "config dumps"),
            count(report.redacted, "secret", "secrets"),
        )?;
        Ok(if serious { Exit::Partial } else { Exit::Ok })
    }
}

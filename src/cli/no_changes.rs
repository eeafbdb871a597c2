//! `--watch` in a build that cannot read clusters.

use super::session::Session;
use crate::cluster::kinds::Needs;
use crate::mesh::Error;
use std::collections::BTreeSet;
use std::io;

/// Nothing to watch.
pub(super) enum Changes {}

/// The next event.
pub(super) enum Next {
    Changed,
    Ended,
    Refused(String),
}

impl Changes {
    /// Fails.
    pub(super) fn connect(_: &Session<'_>) -> Result<Changes, Error> {
        Err(Error::NoCluster("this build cannot read clusters".to_owned()))
    }

    pub(super) fn begin(&mut self, _: &Session<'_>, _: &Needs, _: &BTreeSet<String>) {
        match *self {}
    }

    pub(super) fn next(&mut self, _: &mut Session<'_>) -> io::Result<Next> {
        match *self {}
    }
}

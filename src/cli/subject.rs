//! What `try` and `test` send requests through: the selected proxies, with the filters of files or of a cluster.

use super::istiod::IstiodOptions;
use super::options::Proxies;
use super::session::{Exit, Session};
use crate::mesh::{self, Error, Scope, SubjectRequest};
use std::path::PathBuf;

pub(super) use crate::mesh::Pair as Given;

/// What to do with a proxy.
pub(super) type Use<'u> = dyn FnMut(&mut Session<'_>, &Given<'_, '_>) -> Result<Exit, Error> + 'u;

/// Where the proxy comes from.
pub(super) struct Source<'s> {
    pub(super) proxies: &'s Proxies,
    pub(super) pod: Option<&'s str>,
    /// The capture or bug report that contains the pod; overrides the one on the command line.
    pub(super) capture: Option<PathBuf>,
    pub(super) files: &'s [PathBuf],
    /// EnvoyFilters that the comparison leaves out; all when empty.
    pub(super) without: &'s [String],
    /// An istiod that generates the proxy's configuration from the files.
    pub(super) istiod: &'s IstiodOptions,
    /// Whether a test file names the files, not the user.
    pub(super) named_by_file: bool,
}

impl Source<'_> {
    /// Passes on the one selected proxy. Also returns what the answer is based on.
    pub(super) fn one(&self, session: &mut Session<'_>, take: &mut Use<'_>) -> Result<(Exit, Scope), Error> {
        let mut settings = self.istiod.of(session);
        settings.named_by_file = self.named_by_file;
        if self.capture.is_some() {
            settings.cluster.capture.clone_from(&self.capture);
        }
        let request = SubjectRequest {
            settings,
            given: self.proxies.given(),
            pod: self.pod.map(super::proxy_name),
            files: self.files.to_vec(),
            without: self.without.to_vec(),
        };
        let progress = session.progress;
        let found = mesh::subject(&request, progress, &mut |given| take(session, given))?;
        let exit = found.made.unwrap_or(Ok(Exit::Ok))?;
        let mut serious = session.report_problems(&found.loaded, &found.problems)?;
        if let Some(new) = &found.new {
            serious |= session.report_problems(new, &[])?;
        }
        session.scope(&found.scope)?;
        if found.several {
            let exit = session.usage("this command takes one proxy; only the first config dump was used", None)?;
            return Ok((exit, found.scope));
        }
        Ok((if serious && exit == Exit::Ok { Exit::Partial } else { exit }, found.scope))
    }
}

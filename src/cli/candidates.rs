//! The names in a cluster that complete a word.

use super::names::Named;
use super::options::Global;
use super::{Cli, arguments};
use crate::cluster::read::{names, workloads};
use crate::cluster::{Access, Stop};
use clap::{CommandFactory, FromArgMatches};
use futures::future::join_all;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::time::Duration;

/// How long to wait for a cluster after the user pressed the tab key.
const PATIENCE: Duration = Duration::from_secs(3);

/// A word and its description.
pub(super) type Candidate = (String, String);

/// The contexts of the kubeconfig.
pub(super) fn contexts() -> Vec<Candidate> {
    Access::default().contexts().into_iter().map(|name| (name, String::new())).collect()
}

/// Names of objects in the cluster selected by the previous words; none if the cluster does not answer.
pub(super) fn objects(before: &[OsString], named: Named, prefix: &str) -> Vec<Candidate> {
    let words = arguments(std::iter::once(OsString::from("kubectl-envoyfilter")).chain(before.iter().cloned()));
    let Ok(matches) = Cli::command().ignore_errors(true).try_get_matches_from(words) else { return Vec::new() };
    let Ok(global) = Global::from_arg_matches(&matches) else { return Vec::new() };
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return Vec::new() };
    let stop = Stop::never();
    let all = runtime.block_on(async {
        let access = Access { request_timeout: Some(PATIENCE), ..global.cluster.access() };
        let read = async {
            let cluster = access.connect(stop).await.ok()?;
            let namespace = global.namespace.as_deref().unwrap_or(&cluster.namespace).to_owned();
            let lists = match named {
                Named::Objects(kinds) => join_all(kinds.iter().map(|kind| names(&cluster, kind, &namespace))).await,
                Named::Workloads(kind) => vec![workloads(&cluster, kind, &namespace).await],
            };
            Some(lists.into_iter().flatten().collect::<BTreeSet<String>>())
        };
        tokio::time::timeout(PATIENCE, read).await.ok().flatten()
    });
    all.unwrap_or_default().into_iter().map(|name| (format!("{prefix}{name}"), String::new())).collect()
}

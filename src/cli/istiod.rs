//! The options that name an istiod to run on this machine.

use super::session::Session;
use crate::mesh::{IstiodSettings, Settings};
use crate::process::is_default;
use crate::source::ErrorMessage;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Default, Args)]
pub(super) struct IstiodOptions {
    /// istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH: proxies get the
    /// configuration that it generates
    #[arg(long, value_name = "PATH", env = "ENVOYFILTER_ISTIOD", hide_env_values = true, help_heading = "istiod")]
    pub(super) istiod: Option<PathBuf>,
    /// SHA-256 digest that the istiod binary must have
    #[arg(long, value_name = "DIGEST", help_heading = "istiod")]
    istiod_sha256: Option<String>,
    /// Setting of istiod, over those of its Deployment among the objects; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting, help_heading = "istiod")]
    istiod_env: Vec<(String, String)>,
    /// Revision that istiod acts as [default: the default revision]
    #[arg(long, value_name = "REVISION", help_heading = "istiod")]
    istiod_revision: Option<String>,
    /// Cluster ID that istiod and its proxies have [default: Kubernetes]
    #[arg(long, value_name = "ID", help_heading = "istiod")]
    cluster_id: Option<String>,
    /// Seconds until istiod must be ready [default: 60]
    #[arg(long, value_name = "SECONDS", help_heading = "istiod")]
    istiod_timeout: Option<u64>,
    /// Memory that istiod may use, in MB [default: 4000]
    #[arg(long, value_name = "MB", help_heading = "istiod")]
    istiod_memory: Option<u64>,
}

fn setting(text: &str) -> Result<(String, String), ErrorMessage> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!("`{text}` is not a setting: write NAME=VALUE").into()),
    }
}

impl IstiodOptions {
    /// The same as plain data, if an istiod is named.
    pub(super) fn settings(&self) -> Option<IstiodSettings> {
        self.istiod.is_some().then(|| self.required())
    }

    /// The same for commands that require one: without a name, the one on the `PATH`.
    pub(super) fn required(&self) -> IstiodSettings {
        IstiodSettings {
            path: self.istiod.clone().unwrap_or_default(),
            sha256: self.istiod_sha256.clone(),
            environment: self.istiod_env.iter().cloned().collect(),
            revision: self.istiod_revision.clone().unwrap_or_default(),
            cluster_id: self.cluster_id.clone(),
            ready: self.istiod_timeout.map(Duration::from_secs),
            memory: self.istiod_memory.map(|megabytes| megabytes.saturating_mul(1_000_000)),
            // clap does not distinguish an option from its environment variable.
            named: self.istiod.as_deref().is_some_and(|path| !is_default("ENVOYFILTER_ISTIOD", path)),
        }
    }

    /// The settings of a mesh with this istiod.
    pub(super) fn of(&self, session: &Session<'_>) -> Settings {
        Settings { istiod: self.settings(), ..session.settings() }
    }
}

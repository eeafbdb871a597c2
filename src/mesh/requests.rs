//! Standard requests through a real Envoy (`lint --run`).

use super::proxies::Kept;
use super::settings::Settings;
use super::{Error, Given};
use crate::behaviour::{self, Host, shell};
use crate::lint::{self, Knowledge, ProxyRun};
use crate::source::ErrorMessage;
use crate::trial::{Observed, Trouble};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Sends standard requests through the patched proxies of a run.
pub(super) struct Observer {
    host: Host,
    settings: behaviour::Settings,
    /// The arguments of `try` for each proxy with a dump.
    proxies: BTreeMap<String, String>,
    /// Those for made-up proxies.
    made_up: String,
    /// Those for the filters.
    filters: String,
}

impl Observer {
    /// Sets up requests through these proxies.
    pub(super) fn new(
        envoy: &Path,
        files: &[PathBuf],
        given: &Given,
        settings: &Settings,
        kept: &[Kept],
    ) -> Result<Observer, Error> {
        let trouble = |error: behaviour::Error| Trouble { message: error.to_string(), usage: error.is_usage() };
        let host = Host::new().map_err(trouble)?;
        let path = |path: &Path| shell(&path.display().to_string());
        let of = |kept: &Kept| {
            let proxy = kept.dump.config(&kept.identity).ok()?.proxy.full_name();
            let words = match (&settings.cluster.capture, given.any()) {
                _ if given.demo => "--demo".to_owned(),
                (_, true) => format!("--dump {}", shell(kept.dump.name())),
                (Some(capture), false) => format!("{} --capture {}", shell(&proxy), path(capture)),
                (None, false) => shell(&proxy),
            };
            Some((proxy, words))
        };
        let filters: Vec<String> = files.iter().map(|file| format!(" -f {}", path(file))).collect();
        Ok(Observer {
            host,
            settings: behaviour::Settings {
                envoy: envoy.to_owned(),
                probes: true,
                wasm: BTreeMap::new(),
                stubs: BTreeMap::new(),
            },
            proxies: kept.iter().filter_map(of).collect(),
            made_up: "--dump DUMP".to_owned(),
            filters: filters.concat(),
        })
    }
}

impl lint::Observer for Observer {
    fn observe(&self, run: &ProxyRun<'_>) -> Result<Observed, ErrorMessage> {
        let subject = behaviour::Subject { plan: run.plan, config: run.config, patched: &run.judged.patched };
        behaviour::observe(&self.host, &self.settings, &subject).map_err(|error| error.to_string().into())
    }

    fn arguments(&self, run: &ProxyRun<'_>) -> String {
        let known = self.proxies.get(run.label()).filter(|_| run.knowledge == Knowledge::Dump);
        format!("{}{}", known.unwrap_or(&self.made_up), self.filters)
    }
}

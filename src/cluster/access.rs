//! How to reach a cluster: kubectl's options and rules, resolved to a client.

use super::api::{Cluster, Stop};
use http::{HeaderName, HeaderValue};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// The options that kubectl has for the same purpose.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// `--kubeconfig`: a file, or `-` for the standard input; the files of `KUBECONFIG`, `~/.kube/config` and the service
    /// account of a pod otherwise.
    pub kubeconfig: Option<PathBuf>,
    /// `--context`.
    pub context: Option<String>,
    /// `--cluster`.
    pub cluster: Option<String>,
    /// `--user`.
    pub user: Option<String>,
    /// `--as`.
    pub as_user: Option<String>,
    /// `--as-group`.
    pub as_groups: Vec<String>,
    /// `--request-timeout`.
    pub request_timeout: Option<Duration>,
}

/// How long one request may take when nothing else is said. kubectl waits for ever.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a connection may be silent.
const READ_TIMEOUT: Duration = Duration::from_secs(330);

impl Access {
    /// Makes a client. Nothing is sent yet. Fails with what to tell the user: no configuration, an unknown context, an
    /// unreadable certificate.
    pub async fn connect(&self, stop: Stop) -> Result<Cluster, String> {
        let (mut config, context) = self.config().await?;
        let auth = &config.auth_info;
        let user = self.as_user.clone().or_else(|| auth.impersonate.clone());
        let groups = if self.as_groups.is_empty() {
            auth.impersonate_groups.clone().unwrap_or_default()
        } else {
            self.as_groups.clone()
        };
        let mut headers = Vec::new();
        headers.extend(user.map(|user| ("impersonate-user", user)));
        headers.extend(groups.into_iter().map(|group| ("impersonate-group", group)));
        for (name, value) in headers {
            let value =
                HeaderValue::from_str(&value).map_err(|_| format!("`{value}` is no name of a user or group"))?;
            config.headers.push((HeaderName::from_static(name), value));
        }
        // Retries are decided here, by what they would be good for.
        config.default_retry = false;
        // The API server ends every watch within five minutes by itself: who is silent for longer is not there any more.
        config.read_timeout = Some(READ_TIMEOUT);
        let namespace = config.default_namespace.clone();
        let timeout = self.request_timeout.filter(|timeout| !timeout.is_zero()).unwrap_or(REQUEST_TIMEOUT);
        config.connect_timeout = Some(timeout);
        let client = Client::try_from(config).map_err(|error| words(&error))?;
        Ok(Cluster::new(client, context, namespace, timeout, stop))
    }

    /// The contexts of the kubeconfig; none when there is no kubeconfig.
    pub fn contexts(&self) -> Vec<String> {
        let kubeconfig = match &self.kubeconfig {
            Some(path) => Kubeconfig::read_from(path),
            None => Kubeconfig::read(),
        };
        kubeconfig.map(|config| config.contexts.into_iter().map(|context| context.name).collect()).unwrap_or_default()
    }

    async fn config(&self) -> Result<(Config, String), String> {
        let options =
            KubeConfigOptions { context: self.context.clone(), cluster: self.cluster.clone(), user: self.user.clone() };
        let explicit = self.context.is_some() || self.cluster.is_some() || self.user.is_some();
        let kubeconfig = match &self.kubeconfig {
            Some(path) if path.as_os_str() == "-" => {
                let text = io::read_to_string(io::stdin()).map_err(|error| format!("cannot read <stdin>: {error}"))?;
                Kubeconfig::from_yaml(&text)
            }
            Some(path) => Kubeconfig::read_from(path),
            None => Kubeconfig::read(),
        };
        let kubeconfig = match kubeconfig {
            Ok(kubeconfig) => kubeconfig,
            Err(error) if self.kubeconfig.is_some() || explicit => return Err(words(&error)),
            Err(error) => {
                // As kubectl: without a kubeconfig, a pod's own service account.
                return match Config::incluster() {
                    Ok(config) => Ok((config, "in-cluster".to_owned())),
                    Err(_) => Err(words(&error)),
                };
            }
        };
        let context = self.context.clone().or_else(|| kubeconfig.current_context.clone()).unwrap_or_default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(|error| words(&error))?;
        Ok((config, context))
    }
}

/// An error with its causes, none of them twice.
pub(super) fn words(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let more = next.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = next.source();
    }
    // A path in quotes in quotes, as the client library writes it, and the number that the system has for a failure.
    let text = text.replace("'\"", "'").replace("\"'", "'");
    match text.split_once(" (os error ") {
        Some((before, after)) => format!("{before}{}", after.split_once(')').map_or("", |(_, rest)| rest)),
        None => text,
    }
}

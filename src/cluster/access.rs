//! How to reach a cluster: kubectl's options and rules, resolved to a client.

use super::api::{Cluster, Stop};
use super::login::{
    NO_CONTEXT, check_names, describe, kubeconfig, named_context, no_way_in, token_of_file, without_context,
};
use crate::source::ErrorMessage;
use http::{HeaderName, HeaderValue};
use kube::config::{AuthInfo, KubeConfigOptions};
use kube::{Client, Config};
use std::path::PathBuf;
use std::time::Duration;

/// The options that kubectl has for the same purpose.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// `--kubeconfig`: a file, or `-` for standard input; by default the files of `KUBECONFIG`, `~/.kube/config` or a pod's
    /// service account.
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
    /// `--proxy-timeout`.
    pub proxy_timeout: Option<Duration>,
    /// `--server`: address of the API server; overrides the kubeconfig.
    pub server: Option<String>,
    /// `--token`: bearer token; overrides the kubeconfig.
    pub token: Option<String>,
}

/// How long a connection may be silent.
const READ_TIMEOUT: Duration = Duration::from_secs(330);

impl Access {
    /// Creates a client without sending anything. Fails with a message for the user: no configuration, an unknown context, an
    /// unreadable certificate.
    pub(crate) async fn connect(&self, stop: Stop) -> Result<Cluster, ErrorMessage> {
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
            let value = HeaderValue::from_str(&value)
                .map_err(|_| format!("`{value}` is not a valid name of a user or group"))?;
            config.headers.push((HeaderName::from_static(name), value));
        }
        // Retries are decided here, depending on the error.
        config.default_retry = false;
        // The API server ends every watch within five minutes: a connection silent for longer is dead.
        config.read_timeout = Some(READ_TIMEOUT);
        let namespace = config.default_namespace.clone();
        let given = |timeout: Option<Duration>| timeout.filter(|timeout| !timeout.is_zero());
        let timeout = given(self.request_timeout);
        config.connect_timeout = timeout.or(config.connect_timeout);
        let user = config.auth_info.clone();
        let server = config.cluster_url.to_string();
        let server = server.trim_end_matches('/').to_owned();
        let client = Client::try_from(config).map_err(|error| no_way_in(&error, &user))?;
        let mut cluster = Cluster::new(client, server, context, namespace, stop);
        cluster.timeout = timeout.unwrap_or(cluster.timeout);
        // A shorter request timeout also applies to proxies.
        let by_request = timeout.map_or(cluster.proxy_timeout, |timeout| timeout.min(cluster.proxy_timeout));
        cluster.proxy_timeout = given(self.proxy_timeout).unwrap_or(by_request);
        Ok(cluster)
    }

    /// The contexts of the kubeconfig; none when there is no kubeconfig.
    pub(crate) fn contexts(&self) -> Vec<String> {
        let kubeconfig = kubeconfig(self.kubeconfig.as_deref());
        kubeconfig.map(|config| config.contexts.into_iter().map(|context| context.name).collect()).unwrap_or_default()
    }

    async fn config(&self) -> Result<(Config, String), ErrorMessage> {
        // As kubectl: an empty option (`--context "$UNSET"`) is none.
        let given = |option: &Option<String>| option.clone().filter(|text| !text.is_empty());
        let options =
            KubeConfigOptions { context: given(&self.context), cluster: given(&self.cluster), user: given(&self.user) };
        let explicit = options.context.is_some() || options.cluster.is_some() || options.user.is_some();
        let url = |server: String| match server.parse::<http::Uri>() {
            Ok(url) => Ok((server, url)),
            Err(error) => Err(format!("--server {server} is not a URL: {error}")),
        };
        let url = given(&self.server).map(url).transpose()?;
        let (mut config, context) = match kubeconfig(self.kubeconfig.as_deref()) {
            Ok(mut kubeconfig) => {
                let context = named_context(&kubeconfig, &options);
                let context = if let Some(context) = context {
                    check_names(&kubeconfig, &options, self.token.is_some())?;
                    context
                } else {
                    without_context(&mut kubeconfig, &options, url.as_ref().map(|(server, _)| server.as_str()))?;
                    NO_CONTEXT.to_owned()
                };
                let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
                (config.map_err(|error| describe(&error))?, context)
            }
            Err(message) if self.kubeconfig.is_some() || explicit => return Err(message),
            // As kubectl: without a kubeconfig, the given server, or a pod's own service account.
            Err(message) => match &url {
                Some((_, url)) => (Config::new(url.clone()), NO_CONTEXT.to_owned()),
                None => (Config::incluster().map_err(|_| message)?, "in-cluster".to_owned()),
            },
        };
        if let Some(token) = token_of_file(&config.auth_info) {
            config.auth_info.token = Some(token.into());
        }
        if let Some((_, url)) = url {
            config.cluster_url = url;
            // As kubectl: the name belongs to the address of the kubeconfig.
            config.tls_server_name = None;
        }
        if let Some(token) = &self.token {
            // As kubectl: a token on the command line replaces the user's own.
            config.auth_info = AuthInfo { token: Some(token.clone().into()), ..AuthInfo::default() };
        }
        Ok((config, context))
    }
}

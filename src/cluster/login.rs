//! Kubeconfigs and ways to log in: which files count, and messages about failures that contain no secrets.

use crate::source::{ErrorMessage, alike};
use crate::words::few;
use kube::client::AuthError;
use kube::config::{
    AuthInfo, Cluster, Context, KubeConfigOptions, Kubeconfig, KubeconfigError, NamedCluster, NamedContext,
};
use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::OnceLock;
use std::{env, fs, io, iter};

/// Standard input, if it is the kubeconfig: it can be read only once, but each context and each turn of `--watch` connects.
static STDIN: OnceLock<Result<String, ErrorMessage>> = OnceLock::new();

/// The kubeconfig of a file or of standard input (`-`); without a path, that of the files of `KUBECONFIG` or of
/// `~/.kube/config`. Fails with a message for the user.
pub(super) fn kubeconfig(path: Option<&Path>) -> Result<Kubeconfig, ErrorMessage> {
    match path {
        Some(path) if path.as_os_str() == "-" => {
            let read =
                || io::read_to_string(io::stdin()).map_err(|error| format!("cannot read <stdin>: {error}").into());
            let text = STDIN.get_or_init(read).as_ref().map_err(Clone::clone)?;
            Kubeconfig::from_yaml(text).map_err(|error| of_kubeconfig(&error, "<stdin>"))
        }
        Some(path) => of_file(path),
        None => {
            let files = files();
            if files.is_empty() {
                return Err("there is no kubeconfig: neither KUBECONFIG nor HOME is set".into());
            }
            files.iter().try_fold(Kubeconfig::default(), |merged, path| {
                merged.merge(of_file(path)?).map_err(|error| of_kubeconfig(&error, &path.display().to_string()))
            })
        }
    }
}

/// The default files. kubectl skips missing files of `KUBECONFIG`; if all are missing, all are tried, so that the first one is
/// reported.
fn files() -> Vec<PathBuf> {
    let list = env::var_os("KUBECONFIG").unwrap_or_default();
    let named: Vec<PathBuf> = env::split_paths(&list).filter(|path| !path.as_os_str().is_empty()).collect();
    if named.is_empty() {
        return env::home_dir().map(|home| home.join(".kube/config")).into_iter().collect();
    }
    let there: Vec<PathBuf> = named.iter().filter(|path| path.exists()).cloned().collect();
    if there.is_empty() { named } else { there }
}

fn of_file(path: &Path) -> Result<Kubeconfig, ErrorMessage> {
    Kubeconfig::read_from(path).map_err(|error| of_kubeconfig(&error, &path.display().to_string()))
}

/// YAML parsers quote the lines around an error, and those of a kubeconfig contain tokens and keys.
fn of_kubeconfig(error: &KubeconfigError, name: &str) -> ErrorMessage {
    let message = match error {
        KubeconfigError::Parse(error) => {
            let place = error.location().map(|at| format!(":{}:{}", at.line(), at.column())).unwrap_or_default();
            format!("{name}{place}: not YAML, or not a valid kubeconfig here")
        }
        KubeconfigError::ReadConfig(error, _) => plain(&format!("cannot read kubeconfig {name}: {error}")),
        other => format!("{name}: {}", describe(other)),
    };
    message.into()
}

/// Fails if the options or the context name something that the kubeconfig does not have, and says what it has, the nearest name
/// first. The library would send requests without credentials for a user that does not exist. `token`: whether one is given, so
/// that the context's own user does not matter.
pub(super) fn check_names(
    kubeconfig: &Kubeconfig,
    options: &KubeConfigOptions,
    token: bool,
) -> Result<(), ErrorMessage> {
    let contexts: BTreeSet<String> = kubeconfig.contexts.iter().map(|it| it.name.clone()).collect();
    let Some(context) = named_context(kubeconfig, options) else {
        return Err(format!("the kubeconfig has no current context; {}", listed("contexts", "", &contexts)).into());
    };
    let own = kubeconfig.contexts.iter().find(|it| it.name == context).and_then(|it| it.context.as_ref());
    let Some(own) = own else {
        let which = if options.context.is_some() { "" } else { "current " };
        let message = format!("the kubeconfig has no {which}context `{context}`");
        return Err(format!("{message}; {}", listed("contexts", &context, &contexts)).into());
    };
    let of = format!(" of context `{context}`");
    if options.cluster.is_none() {
        check_cluster(kubeconfig, &own.cluster, &of)?;
    }
    let own_user = own.user.as_ref().filter(|user| !user.is_empty() && !token && options.user.is_none());
    if let Some(user) = own_user {
        check_user(kubeconfig, user, &of)?;
    }
    check_given(kubeconfig, options)
}

/// Name of the context when none is used.
pub(super) const NO_CONTEXT: &str = "none";

/// Name of the context to use: the given or the current one.
pub(super) fn named_context(kubeconfig: &Kubeconfig, options: &KubeConfigOptions) -> Option<String> {
    let current = kubeconfig.current_context.as_ref().filter(|name| !name.is_empty());
    options.context.as_ref().or(current).cloned()
}

/// Makes a kubeconfig usable without a context, as kubectl does: the given cluster, or else the given server, with the given
/// user, or else without credentials. Fails if neither a cluster nor a server is given, or if a name does not exist.
pub(super) fn without_context(
    kubeconfig: &mut Kubeconfig,
    options: &KubeConfigOptions,
    server: Option<&str>,
) -> Result<(), ErrorMessage> {
    if options.cluster.is_none() && server.is_none() {
        return check_names(kubeconfig, options, false);
    }
    check_given(kubeconfig, options)?;
    if options.cluster.is_none() {
        let cluster = Cluster { server: server.map(str::to_owned), ..Cluster::default() };
        let name = NO_CONTEXT.to_owned();
        kubeconfig.clusters = vec![NamedCluster { name, cluster: Some(cluster), ..NamedCluster::default() }];
    }
    let context = Context { cluster: NO_CONTEXT.to_owned(), ..Context::default() };
    let name = NO_CONTEXT.to_owned();
    kubeconfig.contexts = vec![NamedContext { name, context: Some(context), ..NamedContext::default() }];
    kubeconfig.current_context = Some(NO_CONTEXT.to_owned());
    Ok(())
}

/// Fails if the kubeconfig has no such cluster. `of`: what names it, unless it is an option.
fn check_cluster(kubeconfig: &Kubeconfig, cluster: &String, of: &str) -> Result<(), ErrorMessage> {
    let clusters: BTreeSet<String> = kubeconfig.clusters.iter().map(|it| it.name.clone()).collect();
    if clusters.contains(cluster) {
        return Ok(());
    }
    let message = format!("the kubeconfig has no cluster `{cluster}`{of}");
    Err(format!("{message}; {}", listed("clusters", cluster, &clusters)).into())
}

/// Fails if the kubeconfig does not have the given cluster or user.
fn check_given(kubeconfig: &Kubeconfig, options: &KubeConfigOptions) -> Result<(), ErrorMessage> {
    if let Some(cluster) = &options.cluster {
        check_cluster(kubeconfig, cluster, "")?;
    }
    options.user.as_ref().map_or(Ok(()), |user| check_user(kubeconfig, user, ""))
}

/// The same for a user.
fn check_user(kubeconfig: &Kubeconfig, user: &String, of: &str) -> Result<(), ErrorMessage> {
    let users: BTreeSet<String> = kubeconfig.auth_infos.iter().map(|it| it.name.clone()).collect();
    if users.contains(user) {
        return Ok(());
    }
    Err(format!("the kubeconfig has no user `{user}`{of}; {}", listed("users", user, &users)).into())
}

/// The names of a kind that exist, the most similar to `wanted` first.
fn listed(kind: &str, wanted: &str, names: &BTreeSet<String>) -> String {
    const MOST: usize = 8;
    if names.is_empty() {
        return format!("it has no {kind}");
    }
    let ranked = alike::ranked(wanted, names, MOST);
    format!("{kind}: {}", few(&ranked, names.len(), MOST))
}

/// The token of a file as client-go reads it, without the line break at its end; `None` when the library reads it correctly,
/// including changes.
pub(super) fn token_of_file(user: &AuthInfo) -> Option<String> {
    let path = user.token_file.as_ref().filter(|_| user.token.is_none())?;
    let text = fs::read_to_string(path).ok()?;
    let token = text.trim();
    (token.len() != text.len()).then(|| token.to_owned())
}

/// Why a kubeconfig's way to log in does not work.
pub(super) fn no_way_in(error: &kube::Error, user: &AuthInfo) -> String {
    let plugin = user.exec.as_ref();
    let hint = plugin.and_then(|plugin| plugin.install_hint.as_deref()).map(str::trim).filter(|hint| !hint.is_empty());
    let command = plugin.and_then(|plugin| plugin.command.as_deref()).unwrap_or_default();
    match auth(error) {
        Some(AuthError::AuthExecStart(cause)) => {
            let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            plain(&format!("the kubeconfig's login plugin `{command}` does not start: {cause}{hint}"))
        }
        Some(AuthError::AuthExecRun { out, .. }) => format!("{} (`{command}`)", failed(out)),
        Some(AuthError::AuthExecParse(_) | AuthError::ExecPluginFailed) => format!("{UNREADABLE} (`{command}`)"),
        _ => describe(error),
    }
}

const UNREADABLE: &str = "what the kubeconfig's login plugin wrote is not an ExecCredential with a status";

fn failed(out: &Output) -> String {
    let said = String::from_utf8_lossy(&out.stderr);
    let said = said.trim();
    let said = if said.is_empty() { String::new() } else { format!(": {said}") };
    format!("the kubeconfig's login plugin failed with {}{said}", out.status)
}

fn chain<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    iter::successors(Some(error), |&error| error.source())
}

/// The credential error among the causes of an error.
pub(super) fn auth<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e AuthError> {
    chain(error).find_map(|error| error.downcast_ref())
}

/// An error with its causes, without repetition. For a login plugin, neither its command with its environment nor its standard
/// output is shown: they may contain tokens.
pub(super) fn describe(error: &(dyn Error + 'static)) -> String {
    match auth(error) {
        Some(AuthError::AuthExecRun { out, .. }) => return failed(out),
        Some(AuthError::AuthExecParse(_)) => return UNREADABLE.to_owned(),
        _ => {}
    }
    let mut text = String::new();
    for cause in chain(error) {
        let more = cause.to_string();
        if text.is_empty() {
            text = more;
        } else if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
    }
    plain(&text)
}

/// The client library's names for its own layers, which add nothing to the cause that follows.
const LAYERS: [&str; 4] =
    ["ServiceError: ", "HyperError: ", "client error (Connect): ", "client error (SendRequest): "];

/// Removes the client library's nested quotes around a path, its layers, and the system's error numbers.
fn plain(text: &str) -> String {
    let text = text.replace("'\"", "'").replace("\"'", "'");
    let text = LAYERS.iter().fold(text, |text, layer| text.replace(layer, ""));
    match text.split_once(" (os error ") {
        Some((before, after)) => format!("{before}{}", after.split_once(')').map_or("", |(_, rest)| rest)),
        None => text,
    }
}

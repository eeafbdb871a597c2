//! Kubeconfigs and ways to log in: which files count, and what is said when one fails, without what may be secret.

use crate::source::ErrorMessage;
use kube::client::AuthError;
use kube::config::{AuthInfo, Kubeconfig, KubeconfigError};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::{env, fs, io, iter};

/// The kubeconfig of a file or of the standard input (`-`); without a path that of the files of `KUBECONFIG`, or else of
/// `~/.kube/config`. Fails with what to tell the user.
pub(super) fn kubeconfig(path: Option<&Path>) -> Result<Kubeconfig, ErrorMessage> {
    match path {
        Some(path) if path.as_os_str() == "-" => {
            let text = io::read_to_string(io::stdin()).map_err(|error| format!("cannot read <stdin>: {error}"))?;
            Kubeconfig::from_yaml(&text).map_err(|error| of_kubeconfig(&error, "<stdin>"))
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

/// The files that count when none is named. Of those in `KUBECONFIG`, kubectl passes over what is not there; when nothing
/// is there, they are all tried, so that somebody is told of the first.
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

/// Parsers of YAML show the lines around an error, and those of a kubeconfig hold tokens and keys.
fn of_kubeconfig(error: &KubeconfigError, name: &str) -> ErrorMessage {
    let message = match error {
        KubeconfigError::Parse(error) => {
            let place = error.location().map(|at| format!(":{}:{}", at.line(), at.column())).unwrap_or_default();
            format!("{name}{place}: not YAML, or not a valid kubeconfig here")
        }
        KubeconfigError::ReadConfig(error, _) => plain(&format!("cannot read kubeconfig {name}: {error}")),
        other => format!("{name}: {}", words(other)),
    };
    message.into()
}

/// The token of a file as client-go reads it, without the line break at its end; `None` when the library reads it well
/// itself, and again when it changes.
pub(super) fn token_of_file(user: &AuthInfo) -> Option<String> {
    let path = user.token_file.as_ref().filter(|_| user.token.is_none())?;
    let text = fs::read_to_string(path).ok()?;
    let token = text.trim();
    (token.len() != text.len()).then(|| token.to_owned())
}

/// Why the way in that a kubeconfig names is none.
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
        _ => words(error),
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

/// The trouble with credentials among the causes of an error.
pub(super) fn auth<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e AuthError> {
    chain(error).find_map(|error| error.downcast_ref())
}

/// An error with its causes, none of them twice. Of a login plugin neither the command with its environment is told nor
/// what it wrote on its standard output: that is the way of a token.
pub(super) fn words(error: &(dyn Error + 'static)) -> String {
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

/// What the client library calls its own layers: they tell nothing beside the cause that follows.
const LAYERS: [&str; 4] =
    ["ServiceError: ", "HyperError: ", "client error (Connect): ", "client error (SendRequest): "];

/// Without quotes in quotes around a path, as the client library writes them, its layers, and the number that the system has
/// for a failure.
fn plain(text: &str) -> String {
    let text = text.replace("'\"", "'").replace("\"'", "'");
    let text = LAYERS.iter().fold(text, |text, layer| text.replace(layer, ""));
    match text.split_once(" (os error ") {
        Some((before, after)) => format!("{before}{}", after.split_once(')').map_or("", |(_, rest)| rest)),
        None => text,
    }
}

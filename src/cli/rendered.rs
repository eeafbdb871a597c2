//! Renders charts and kustomizations with their own tools.

use crate::process::{self, Ended, Program};
use crate::source::{Code, Problem, Severity, escape};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long rendering may take.
const LIMIT: Duration = Duration::from_secs(120);
/// Maximum size of the output, in bytes.
const OUTPUT: usize = 64 << 20;
/// How much memory rendering may take (Linux), in bytes: a short template can repeat a text without end.
const MEMORY: u64 = 4 << 30;
/// Environment variables with which the tools find their settings and caches.
const ENVIRONMENT: [&str; 8] = [
    "PATH",
    "HOME",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "HELM_CACHE_HOME",
    "HELM_CONFIG_HOME",
    "HELM_DATA_HOME",
];

/// Rendered text.
pub(super) struct Rendered {
    /// Its name in messages.
    pub(super) name: String,
    /// The YAML.
    pub(super) text: String,
}

/// The output of `helm template` for a chart.
pub(super) fn helm(chart: &Path, values: &[PathBuf]) -> Result<Rendered, Problem> {
    let mut pipe = format!("helm template {}", shown(chart));
    for file in values {
        pipe.push_str(&format!(" -f {}", shown(file)));
    }
    let mut arguments = vec!["template".into(), "release-name".into(), local(chart).into_os_string()];
    for file in values {
        arguments.extend(["-f".into(), std::path::absolute(file).unwrap_or_else(|_| file.clone()).into_os_string()]);
    }
    let program = process::find("helm").ok_or_else(|| absent("helm", &pipe))?;
    render(&program, arguments, &pipe)
}

/// The output of `kustomize build`, or else `kubectl kustomize`, for a folder.
pub(super) fn kustomize(folder: &Path) -> Result<Rendered, Problem> {
    let pipe = format!("kubectl kustomize {}", shown(folder));
    let (program, word) = match (process::find("kustomize"), process::find("kubectl")) {
        (Some(program), _) => (program, "build"),
        (None, Some(program)) => (program, "kustomize"),
        (None, None) => return Err(absent("kustomize", &pipe)),
    };
    render(&program, vec![word.into(), local(folder).into_os_string()], &pipe)
}

fn render(program: &Path, arguments: Vec<std::ffi::OsString>, pipe: &str) -> Result<Rendered, Problem> {
    let failed = |message: String| trouble(format!("cannot render with `{pipe}`: {message}"), pipe);
    let started = Program::new(program).map_err(|fault| failed(fault.to_string()))?;
    let mut started = started.args(arguments).capture_output(OUTPUT + 1).memory_limit(MEMORY);
    for name in ENVIRONMENT {
        started = started.keep_env(name);
    }
    let done = started.finish(LIMIT).map_err(|fault: process::Fault| failed(fault.to_string()))?;
    if !matches!(done.ended, Ended::Code(0)) {
        let error = reason(&done.errors);
        // What stopped it says more than its last words.
        let error = error.filter(|_| matches!(done.ended, Ended::Code(_)));
        return Err(failed(error.map_or_else(|| done.ended.to_string(), |line| escape::one_line(line).into_owned())));
    }
    if done.output.len() > OUTPUT {
        return Err(failed(format!("it prints more than {} MiB", OUTPUT >> 20)));
    }
    let text = String::from_utf8(done.output).map_err(|_| failed("its output is not UTF-8".to_owned()))?;
    Ok(Rendered { name: pipe.to_owned(), text })
}

/// The line of a program's errors that says most.
fn reason(errors: &[String]) -> Option<&str> {
    // Helm adds advice after its error.
    let marked = errors.iter().find_map(|line| line.strip_prefix("Error: ").or(line.strip_prefix("error: ")));
    // kubectl logs a long error in lines of their own: `err=<`, the lines, ` >`.
    let logged = || errors.iter().skip_while(|line| !line.ends_with(" err=<")).nth(1);
    let last = || errors.iter().rfind(|line| !line.trim().is_empty());
    marked.or_else(|| logged().or_else(last).map(|line| line.trim()))
}

/// The absolute path of a local chart or folder; the name of a chart in a repository is unchanged.
fn local(path: &Path) -> PathBuf {
    if path.exists() { std::path::absolute(path).unwrap_or_else(|_| path.to_owned()) } else { path.to_owned() }
}

fn shown(path: &Path) -> String {
    escape::one_line(&path.display().to_string()).into_owned()
}

fn absent(program: &str, pipe: &str) -> Problem {
    trouble(format!("no `{program}` is on the PATH, so nothing was rendered or checked"), pipe)
}

fn trouble(message: String, pipe: &str) -> Problem {
    let help = Some(format!("render it where that works, and pipe: {pipe} | kubectl envoyfilter lint -"));
    Problem { code: Code::NotRendered, severity: Severity::Error, span: None, message, help }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons() {
        let of = |text: &str| reason(&text.lines().map(str::to_owned).collect::<Vec<_>>()).map(str::to_owned);
        assert_eq!(of("Error: no chart\n\nUse --debug flag to render out invalid YAML").as_deref(), Some("no chart"));
        let logged = "E1128 19:43:16.7 1 run.go:72] \"command failed\" err=<\n\taccumulating resources: no host\n\t: exit status 128\n >";
        assert_eq!(of(logged).as_deref(), Some("accumulating resources: no host"));
        assert_eq!(of("warning\nno such folder\n\n").as_deref(), Some("no such folder"));
        assert_eq!(of(""), None);
    }
}

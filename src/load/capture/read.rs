//! Reading captures and bug reports: one pass for the objects, another for the config dumps that are needed.

use super::{DESCRIPTION, members};
use crate::load::dump::{Dump, Layout};
use crate::load::files::reason;
use crate::load::limits::{self, Bound, Excess, Limits};
use crate::load::{Loaded, Options};
use crate::model::redact::Keeper;
use crate::source::{Code, Problem, Severity};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Component, Path, PathBuf};

/// Longest `capture.json`, in bytes.
const LONGEST_DESCRIPTION: u64 = 16 << 20;

/// A capture or a bug report.
#[derive(Debug)]
pub struct Capture {
    path: PathBuf,
    limits: Limits,
    /// The content of its `capture.json`; null for a bug report.
    pub description: Value,
    /// The pods with dumps, as `namespace/name`.
    pub dumps: BTreeSet<String>,
}

/// Receives a dump of a capture: the pod, what could be read, what could not.
type Take<'t> = dyn FnMut(&str, Option<Dump>, Vec<Problem>) -> io::Result<()> + 't;

/// A kind of file in a capture.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Description,
    Objects,
    /// The dump of a pod, `namespace/name`.
    Dump(String),
}

/// The meaning of a path inside a capture or a bug report, regardless of the folders around it.
fn part(path: &Path) -> Option<Part> {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).filter(|part| *part != ".").collect();
    match parts.as_slice() {
        [.., name] if *name == DESCRIPTION => Some(Part::Description),
        [.., "resources", kind, _, _] | [.., "resources", kind, _] if *kind != "Secret" => Some(Part::Objects),
        [.., "cluster", "k8s-resources" | "k8s-cluster-resources" | "crs"] => Some(Part::Objects),
        [.., "dumps", namespace, file] => {
            Some(Part::Dump(format!("{namespace}/{}", file.strip_suffix(".json").unwrap_or(file))))
        }
        [.., "proxies", namespace, pod, file] if file.starts_with("config_dump") => {
            Some(Part::Dump(format!("{namespace}/{pod}")))
        }
        _ => None,
    }
}

/// Kind, namespace and name of the object in a capture's file.
fn object(path: &Path) -> Option<String> {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).filter(|part| *part != ".").collect();
    match parts.as_slice() {
        [.., "resources", kind, namespace, file] => {
            Some(format!("{kind}/{namespace}/{}", file.strip_suffix(".yaml").unwrap_or(file)))
        }
        [.., "resources", kind, file] => Some(format!("{kind}/{}", file.strip_suffix(".yaml").unwrap_or(file))),
        [.., "dumps", namespace, file] => {
            Some(format!("Pod/{namespace}/{}", file.strip_suffix(".json").unwrap_or(file)))
        }
        _ => None,
    }
}

impl Capture {
    /// The namespace that the capture was limited to.
    pub(crate) fn namespace(&self) -> Option<&str> {
        self.description.get("namespace").and_then(Value::as_str)
    }

    /// Reads everything but the config dumps. What cannot be read is noted; nothing is returned when nothing can be read.
    /// `documents`: whether every object is kept as JSON too.
    pub fn open(path: &Path, limits: Limits, secrets: &Keeper, documents: bool) -> (Option<Capture>, Loaded) {
        let mut loaded = Loaded::default();
        let mut capture = Capture { path: path.to_owned(), limits, description: Value::Null, dumps: BTreeSet::new() };
        let options = Options { limits, keep_documents: documents, ..Options::default() };
        let (mut objects, mut held, packed) = (0, 0, fs::metadata(path).map_or(0, |it| it.len()));
        // Objects stay in memory: a small archive must not contain many large ones.
        let most = if limits.chosen || path.is_dir() { limits.bytes } else { limits.bytes.min(limits::held(packed)) };
        let (mut unreadable, mut texts) = (Vec::new(), Vec::new());
        let mut others = Vec::new();
        let mut visit = |name: &Path, part: Part, content: &mut dyn Read| {
            match part {
                Part::Dump(pod) => drop(capture.dumps.insert(pod)),
                Part::Description => {
                    let mut text = Vec::new();
                    content.take(LONGEST_DESCRIPTION + 1).read_to_end(&mut text)?;
                    match serde_json::from_slice(&text) {
                        _ if text.len() as u64 > LONGEST_DESCRIPTION => {
                            let limit = limits::size(LONGEST_DESCRIPTION);
                            unreadable.push(format!("{}: it is larger than {limit}", name.display()));
                        }
                        Ok(description) => capture.description = description,
                        Err(error) => unreadable.push(format!("{}: {error}", name.display())),
                    }
                }
                Part::Objects => {
                    objects += 1;
                    let mut text = Vec::new();
                    content.take(most - held + 1).read_to_end(&mut text)?;
                    held += text.len() as u64;
                    if held > most {
                        return Err(Excess::Objects(most).into());
                    }
                    match String::from_utf8(text) {
                        Ok(text) => texts.push((name.to_owned(), text)),
                        Err(_) => unreadable.push(format!("{}: not UTF-8", name.display())),
                    }
                }
            }
            Ok(true)
        };
        let mut outside = Vec::new();
        let walked = walk(path, limits, &mut visit, &mut |name| {
            let list = if leads_out(name) { &mut outside } else { &mut others };
            list.push(name.display().to_string());
        });
        if let Some(first) = outside.first() {
            let more =
                if outside.len() > 1 { format!(", and {} more like it", outside.len() - 1) } else { String::new() };
            unreadable
                .push(format!("{first} has `..` in its path{more}: captures contain only files of their own folder"));
        }
        if let Some(first) = others.first() {
            let more =
                if others.len() > 1 { format!(", and {} more like it", others.len() - 1) } else { String::new() };
            unreadable.push(format!(
                "{first} is a link, a sparse file or a device{more}: captures contain only ordinary files"
            ));
        }
        // The name of the cluster comes last in an archive.
        for (name, text) in texts {
            loaded.add_text(&capture.called(&name), text, &options);
        }
        for what in unreadable {
            loaded.problems.push(trouble(path, &what, None));
        }
        if let Err(error) = walked {
            let help = limits::excess(&error).and_then(Excess::help);
            loaded.problems.push(trouble(path, &reason(&error), help));
        }
        secrets.with(|secrets| loaded.secrets(secrets));
        if objects == 0 && capture.dumps.is_empty() {
            let message = format!(
                "{} is not a capture or a bug report: it contains no objects and no config dumps",
                path.display()
            );
            let code = Code::EmptyInput;
            loaded.problems.push(Problem { code, message, ..trouble(path, "", None) });
            return (None, loaded);
        }
        (Some(capture), loaded)
    }

    /// The name of a file in messages: that of the object in its cluster, because the lines of the file are unknown to users;
    /// for a bug report, which does not name its cluster, the file.
    fn called(&self, name: &Path) -> String {
        let context = self.description.get("context").and_then(Value::as_str);
        let object = context.and_then(|context| Some(format!("cluster://{context}/{}", object(name)?)));
        object.unwrap_or_else(|| format!("{}:{}", self.path.display(), name.display()))
    }

    /// Pods whose dumps contain what istiod would have sent, not what their proxies ran with.
    pub(crate) fn of_istiod(&self) -> BTreeSet<&str> {
        let pods = self.description.get("dumpsOfIstiod").and_then(Value::as_array);
        pods.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// Passes the config dumps of these pods to `take`, one in memory at a time, until it has enough.
    pub fn each(&self, wanted: &BTreeSet<String>, take: &mut Take<'_>) -> io::Result<()> {
        let mut left = wanted.clone();
        let mut visit = |name: &Path, part: Part, content: &mut dyn Read| {
            let Part::Dump(pod) = part else { return Ok(!left.is_empty()) };
            if left.remove(&pod) {
                let name = self.called(name);
                let (dump, problems) = Dump::from_reader_within(name, content, Layout::Dropped, self.limits);
                take(&pod, dump, problems)?;
            }
            Ok(!left.is_empty())
        };
        walk(&self.path, self.limits, &mut visit, &mut |_| {})
    }
}

/// Visits the relevant files of a folder or an archive, until `visit` has enough; those that are not ordinary files go to
/// `other`.
fn walk(
    path: &Path,
    limits: Limits,
    visit: &mut dyn FnMut(&Path, Part, &mut dyn Read) -> io::Result<bool>,
    other: &mut dyn FnMut(&Path),
) -> io::Result<()> {
    let mut other = |name: &Path| {
        if part(name).is_some() || leads_out(name) {
            other(name);
        }
    };
    if path.is_dir() {
        let mut files = Vec::new();
        let mut folders = vec![path.to_owned()];
        let mut entries = 0;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let entry = entry?;
                entries += 1;
                if entries > limits.members() {
                    return Err(Excess::Members(limits.members()).into());
                }
                match entry.file_type()? {
                    kind if kind.is_dir() => folders.push(entry.path()),
                    kind if kind.is_file() => files.push(entry.path()),
                    // A capture contains no links, and a link's target is not part of it.
                    _ => other(entry.path().strip_prefix(path).unwrap_or(path)),
                }
            }
        }
        files.sort();
        for file in files {
            let name = file.strip_prefix(path).unwrap_or(&file);
            if let Some(part) = part(name)
                && !visit(name, part, &mut BufReader::new(File::open(&file)?))?
            {
                break;
            }
        }
        return Ok(());
    }
    let (content, _) = limits::content(File::open(path)?, limits, Bound::Archive)?;
    let mut strange = Vec::new();
    let mut visit = |name: &Path, content: &mut dyn Read| {
        if let Some(part) = part(name) {
            return visit(name, part, content);
        }
        strange.extend(Some(name.to_owned()).filter(|name| leads_out(name)));
        Ok(true)
    };
    let walked = members::each(BufReader::with_capacity(1 << 16, content), limits, &mut visit, &mut other);
    strange.iter().for_each(|name| other(name));
    walked
}

/// Whether a path leads out of a folder inside of it, so that nothing says what the file is.
fn leads_out(path: &Path) -> bool {
    path.components().any(|part| part == Component::ParentDir) && part(path).is_none()
}

fn trouble(path: &Path, reason: &str, help: Option<String>) -> Problem {
    let message = format!("cannot read {}: {reason}", path.display());
    Problem { code: Code::BadCapture, severity: Severity::Error, span: None, message, help }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_say_what_a_file_is() {
        let of = |path: &str| part(Path::new(path));
        assert_eq!(of("capture.json"), Some(Part::Description));
        assert_eq!(of("x/resources/EnvoyFilter/shop/a.yaml"), Some(Part::Objects));
        assert_eq!(of("resources/Namespace/shop.yaml"), Some(Part::Objects));
        assert_eq!(of("resources/Secret/shop/a.yaml"), None);
        assert_eq!(of("./dumps/shop/cart-1.json"), Some(Part::Dump("shop/cart-1".to_owned())));
        assert_eq!(of("bug-report/cluster/crs"), Some(Part::Objects));
        assert_eq!(of("bug-report/cluster/secrets"), None);
        assert_eq!(
            of("bug-report/proxies/shop/cart-1/config_dump?include_eds"),
            Some(Part::Dump("shop/cart-1".to_owned()))
        );
        assert_eq!(of("bug-report/proxies/shop/cart-1/certs"), None);
        assert_eq!(of("bug-report/istio/istio-system/istiod-1/debug/config_dump"), None);
    }
}

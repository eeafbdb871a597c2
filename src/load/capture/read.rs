//! Reading captures and bug reports: once through for the objects, once more for the dumps that are wanted.

use super::DESCRIPTION;
use crate::load::dump::{Dump, Layout};
use crate::load::files::reason;
use crate::load::{Loaded, Options};
use crate::source::{Problem, Severity};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// The most that is read of one file in a capture, in bytes.
const LARGEST: u64 = 1 << 30;
/// The most that an archive may unpack to, in bytes: a small file must not keep a machine busy for hours.
const TOTAL: u64 = 64 << 30;

/// A capture or a bug report.
#[derive(Debug)]
pub struct Capture {
    path: PathBuf,
    /// What its `capture.json` says; null for a bug report.
    pub description: Value,
    /// The pods of which there are dumps, `namespace/name`.
    pub dumps: BTreeSet<String>,
}

/// What to do with a dump of a capture: the pod, what could be read, what could not.
type Take<'t> = dyn FnMut(&str, Option<Dump>, Vec<Problem>) -> io::Result<()> + 't;

/// What a file in a capture is.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Description,
    Objects,
    /// The dump of a pod, `namespace/name`.
    Dump(String),
}

/// What a path inside a capture or a bug report stands for, however many folders are around it.
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

impl Capture {
    /// Reads everything but the dumps. What cannot be read is noted; nothing is returned when nothing can.
    pub fn open(path: &Path) -> (Option<Capture>, Loaded) {
        let mut loaded = Loaded::default();
        let mut capture = Capture { path: path.to_owned(), description: Value::Null, dumps: BTreeSet::new() };
        let (mut objects, options) = (0, Options::default());
        let mut unreadable = Vec::new();
        let walked = walk(path, &mut |name, part, content| {
            match part {
                Part::Dump(pod) => drop(capture.dumps.insert(pod)),
                Part::Description => match serde_json::from_reader(content) {
                    Ok(description) => capture.description = description,
                    Err(error) => unreadable.push(format!("{}: {error}", name.display())),
                },
                Part::Objects => {
                    objects += 1;
                    let mut text = Vec::new();
                    content.take(LARGEST).read_to_end(&mut text)?;
                    match String::from_utf8(text) {
                        Ok(text) => loaded.add_text(&format!("{}:{}", path.display(), name.display()), text, &options),
                        Err(_) => unreadable.push(format!("{}: not UTF-8", name.display())),
                    }
                }
            }
            Ok(true)
        });
        unreadable.extend(walked.err().map(|error| reason(&error)));
        for what in unreadable {
            loaded.problems.push(trouble(format!("cannot read {}: {what}", path.display())));
        }
        if objects == 0 && capture.dumps.is_empty() {
            let message =
                format!("{} is neither a capture nor a bug report: it holds no objects and no dumps", path.display());
            loaded.problems.push(trouble(message));
            return (None, loaded);
        }
        (Some(capture), loaded)
    }

    /// Hands out the dumps of these pods, one in memory at a time, until `take` has had enough.
    pub fn each(&self, wanted: &BTreeSet<String>, take: &mut Take<'_>) -> io::Result<()> {
        let mut left = wanted.clone();
        walk(&self.path, &mut |name, part, content| {
            let Part::Dump(pod) = part else { return Ok(!left.is_empty()) };
            if left.remove(&pod) {
                let name = format!("{}:{}", self.path.display(), name.display());
                let (dump, problems) = Dump::from_reader(name, content.take(LARGEST), Layout::Dropped);
                take(&pod, dump, problems)?;
            }
            Ok(!left.is_empty())
        })
    }
}

/// Goes through the files of a folder or an archive that mean something, until `visit` says that it is enough.
fn walk(path: &Path, visit: &mut dyn FnMut(&Path, Part, &mut dyn Read) -> io::Result<bool>) -> io::Result<()> {
    if path.is_dir() {
        let mut files = Vec::new();
        let mut folders = vec![path.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let entry = entry?;
                match entry.file_type()? {
                    kind if kind.is_dir() => folders.push(entry.path()),
                    kind if kind.is_file() => files.push(entry.path()),
                    // A capture has no links; what one leads to is none of its content.
                    _ => {}
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
    let mut archive = tar::Archive::new(unpacked(path)?);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let name = entry.path()?.into_owned();
        if entry.header().entry_type().is_file()
            && let Some(part) = part(&name)
            && !visit(&name, part, &mut entry)?
        {
            break;
        }
    }
    Ok(())
}

/// The content of an archive, whatever it is packed with.
fn unpacked(path: &Path) -> io::Result<Box<dyn Read>> {
    let mut file = File::open(path)?;
    let mut magic = Vec::new();
    file.by_ref().take(4).read_to_end(&mut magic)?;
    let whole = io::Cursor::new(magic.clone()).chain(BufReader::with_capacity(1 << 16, file));
    let content: Box<dyn Read> = match magic.as_slice() {
        [0x1f, 0x8b, ..] => Box::new(flate2::read::MultiGzDecoder::new(whole)),
        [0x28, 0xb5, 0x2f, 0xfd] => Box::new(zstd::Decoder::new(whole)?),
        _ => Box::new(whole),
    };
    Ok(Box::new(content.take(TOTAL)))
}

fn trouble(message: String) -> Problem {
    Problem { code: "bad-capture", severity: Severity::Error, span: None, message, help: None }
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

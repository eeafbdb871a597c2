//! The objects that `--why-here` found for places, kept in the user's cache folder for the next question.
//!
//! The file holds names of objects, under digests of the places, and is a hint only: the search starts from it, and istiod
//! confirms that the objects are sufficient and that none can be left out. An outdated or hostile file costs runs of istiod
//! and never changes an answer.

use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The file in the folder.
const FILE: &str = "why-here.json";

/// Maximum size of the file.
const MOST_BYTES: u64 = 128 * 1024;

/// Maximum number of places; the oldest are dropped.
const MOST_PLACES: usize = 200;

/// Maximum number of objects of one place. More would cost more runs to confirm than a search.
const MOST_OBJECTS: usize = 16;

/// Kind, namespace and name of an object.
pub(crate) type Name = [String; 3];

/// The objects of one place.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    /// Digest of the place.
    place: String,
    /// The objects.
    objects: Vec<Name>,
}

/// The folder of this program in the user's cache folder, if there is one.
pub(crate) fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let base = named.or_else(|| Some(std::env::home_dir().filter(|home| home.is_absolute())?.join(".cache")));
    Some(base?.join("kubectl-envoyfilter"))
}

/// Earlier answers, the newest last.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    folder: Option<PathBuf>,
    entries: Vec<Entry>,
    changed: bool,
}

impl Cache {
    /// Reads the file of a folder; without a folder, nothing is kept. What cannot be read is nothing.
    pub(crate) fn open(folder: Option<&Path>) -> Cache {
        let entries = folder.and_then(|folder| read(&folder.join(FILE))).unwrap_or_default();
        Cache { folder: folder.map(Path::to_owned), entries, changed: false }
    }

    /// The objects found for a place earlier, if they are few enough to be worth a try.
    pub(crate) fn hint(&self, place: &str) -> Option<&[Name]> {
        let entry = self.entries.iter().rfind(|entry| entry.place == place)?;
        (entry.objects.len() <= MOST_OBJECTS).then_some(entry.objects.as_slice())
    }

    /// Keeps an answer.
    pub(crate) fn keep(&mut self, place: String, objects: Vec<Name>) {
        if self.folder.is_none() || objects.len() > MOST_OBJECTS {
            return;
        }
        self.entries.retain(|entry| entry.place != place);
        self.entries.push(Entry { place, objects });
        self.entries.drain(..self.entries.len().saturating_sub(MOST_PLACES));
        self.changed = true;
    }

    /// Writes the file. A folder that cannot be written only means that the next question is not faster.
    pub(crate) fn save(&mut self) {
        let Some(folder) = self.folder.as_deref().filter(|_| self.changed) else { return };
        let _ = write(folder, &mut self.entries);
        self.changed = false;
    }
}

fn read(path: &Path) -> Option<Vec<Entry>> {
    // A pipe or a device would block or never end.
    if !fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    File::open(path).ok()?.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// Writes a new file and moves it over the old one, so that two runs never mix theirs.
fn write(folder: &Path, entries: &mut Vec<Entry>) -> io::Result<()> {
    private(folder)?;
    let mut text = serde_json::to_string(&entries)?;
    while text.len() as u64 > MOST_BYTES {
        entries.drain(..entries.len().div_ceil(2));
        text = serde_json::to_string(&entries)?;
    }
    let new = folder.join(format!("{FILE}.{}", std::process::id()));
    let written = new_file(&new).and_then(|mut file| file.write_all(text.as_bytes()));
    let moved = written.and_then(|()| fs::rename(&new, folder.join(FILE)));
    if moved.is_err() {
        let _ = fs::remove_file(&new);
    }
    moved
}

#[cfg(unix)]
fn private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn private(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(unix)]
fn new_file(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

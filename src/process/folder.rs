//! A private folder for a program, removed when the program ends.

use super::Fault;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Prefix of every such folder; the process id and a number follow.
const PREFIX: &str = "envoyfilter-";

/// The number of the next one. None is used twice: the holder of a program that ended may still be removing the folder of that name.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// The file that is locked while the folder is in use.
const LOCK: &str = ".lock";

/// Minimum age of an unlocked folder that counts as left behind: a new one is not locked yet.
const LEFT_BEHIND: Duration = Duration::from_mins(1);

/// A folder that only this user can enter. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// Held so that other runs do not take the folder for one left behind.
    _lock: Option<File>,
}

impl Folder {
    /// Creates one in the folder for temporary files, and removes folders of runs that were killed together with their holder.
    pub(crate) fn new() -> Result<Folder, Fault> {
        let base = base(std::env::temp_dir());
        clear(&base);
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..1_000 {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = base.join(format!("{PREFIX}{}-{number}", std::process::id()));
            match private(&path) {
                Ok(()) => {
                    let lock = File::create(path.join(LOCK)).ok();
                    let lock = lock.filter(|lock| lock.lock_shared().is_ok());
                    return Ok(Folder { path, _lock: lock });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(Fault::NoFolder(base, error)),
            }
        }
        Err(Fault::NoFolder(base, last))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A file in it.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Longest path of a temporary folder whose sockets still have valid paths (103 bytes on macOS).
const LONGEST: usize = 64;

/// A folder for temporary files that can contain sockets.
fn base(temporary: PathBuf) -> PathBuf {
    let short = Path::new("/tmp");
    if cfg!(unix) && temporary.as_os_str().len() > LONGEST && short.is_dir() { short.to_owned() } else { temporary }
}

/// Only this user may talk to its sockets or read the configuration.
#[cfg(unix)]
fn private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn private(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Removes folders whose lock is free: both the run and its holder were killed.
fn clear(base: &Path) {
    let Ok(entries) = fs::read_dir(base) else { return };
    for entry in entries.flatten() {
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        let old = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
        if !ours || old().is_none_or(|age| age < LEFT_BEHIND) {
            continue;
        }
        // Another user's folder cannot be opened.
        let Ok(lock) = File::open(entry.path().join(LOCK)) else { continue };
        if lock.try_lock().is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_private_and_goes() {
        let folder = Folder::new().unwrap();
        let path = folder.path().to_owned();
        fs::write(folder.file("a"), "b").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        }
        drop(folder);
        assert!(!path.exists());
        assert_ne!(Folder::new().unwrap().path(), path, "a name is not used again");
    }

    #[test]
    fn only_what_nobody_holds_is_left_behind() {
        let base = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - Duration::from_secs(600);
        for name in ["envoyfilter-1-0", "envoyfilter-2-0", "other-1-0"] {
            let path = base.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join(LOCK), "").unwrap();
            File::open(&path).unwrap().set_modified(old).unwrap();
        }
        let held = File::open(base.path().join("envoyfilter-2-0").join(LOCK)).unwrap();
        held.lock_shared().unwrap();
        fs::create_dir(base.path().join("envoyfilter-3-0")).unwrap();
        fs::write(base.path().join("envoyfilter-3-0").join(LOCK), "").unwrap();
        clear(base.path());
        let mut left: Vec<_> = fs::read_dir(base.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["envoyfilter-2-0", "envoyfilter-3-0", "other-1-0"]);
    }
}

//! Writes the objects of a migration to files.

use std::fs;
use std::io;
use std::path::Path;

/// Writes named texts into a folder, which is created if necessary. Fails when a file cannot be written.
pub(crate) fn write(folder: &Path, texts: &[(String, String)]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, text) in texts {
        fs::write(folder.join(name), text)?;
    }
    Ok(())
}

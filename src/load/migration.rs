//! Writes the objects of a migration to files.

use std::fs;
use std::io;
use std::path::Path;

/// Whether a file has a name that this tool gives: a number and a dash, and YAML.
fn is_numbered(name: &str) -> bool {
    let (number, rest) = name.split_at(name.bytes().take_while(u8::is_ascii_digit).count());
    number.len() > 1 && rest.starts_with('-') && Path::new(rest).extension().is_some_and(|end| end == "yaml")
}

/// Writes named texts into a folder, which is created if necessary. Fails when a file cannot be written, and when the
/// folder contains objects of an earlier run that this one does not write: `kubectl apply` would apply them too.
pub(crate) fn write(folder: &Path, texts: &[(String, String)]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if is_numbered(&name) && !texts.iter().any(|(own, _)| *own == name) {
            let message = format!("it contains objects of an earlier run ({name}): delete them or use another folder");
            return Err(io::Error::other(message));
        }
    }
    for (name, text) in texts {
        fs::write(folder.join(name), text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_of_an_earlier_run_are_not_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let text = |name: &str| (name.to_owned(), "x".to_owned());
        fs::write(folder.path().join("notes.yaml"), "x").unwrap();
        let both = [text("01-a.yaml"), text("02-delete.yaml")];
        assert!(write(folder.path(), &both).is_ok() && write(folder.path(), &both).is_ok());
        let error = write(folder.path(), &both[..1]).unwrap_err().to_string();
        assert!(error.contains("02-delete.yaml"), "{error}");
    }
}

//! Writes captures: a folder, or a `.tar`, `.tar.zst` or `.tar.gz` archive, depending on the file name.

use flate2::write::GzEncoder;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A capture being written.
pub struct Pack {
    to: To,
    path: PathBuf,
}

enum To {
    Folder,
    Plain(tar::Builder<File>),
    Zstd(tar::Builder<zstd::Encoder<'static, File>>),
    Gzip(tar::Builder<GzEncoder<File>>),
}

/// The form of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A folder.
    Folder,
    /// A tar archive.
    Tar,
    /// The same, compressed by zstd.
    Zstd,
    /// The same, compressed by gzip.
    Gzip,
}

/// Endings of files that are not captures. A name that ends in something else is that of a folder: names of contexts have dots.
const OTHER_FILES: &[&str] = &[
    ".7z", ".br", ".bz2", ".csv", ".gz", ".html", ".json", ".jsonl", ".lz", ".lz4", ".lzma", ".md", ".pdf", ".rar",
    ".tbz", ".tbz2", ".txt", ".txz", ".xml", ".xz", ".yaml", ".yml", ".z", ".zip", ".zst", ".zstd",
];

impl Form {
    /// The form that a path asks for; `None` if it ends as a file of another kind. A slash at the end names a folder.
    pub fn of(path: &Path) -> Option<Form> {
        let whole = path.to_string_lossy();
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        if whole.ends_with(std::path::is_separator) {
            Some(Form::Folder)
        } else if ends(&[".tar.zst", ".tzst"]) {
            Some(Form::Zstd)
        } else if ends(&[".tar.gz", ".tgz"]) {
            Some(Form::Gzip)
        } else if ends(&[".tar"]) {
            Some(Form::Tar)
        } else {
            (!ends(OTHER_FILES)).then_some(Form::Folder)
        }
    }
}

impl Pack {
    /// Starts a capture. Fails if the path exists: two captures are never mixed.
    pub fn create(path: &Path, form: Form) -> io::Result<Pack> {
        let new = || OpenOptions::new().write(true).create_new(true).open(path);
        let to = match form {
            Form::Zstd => To::Zstd(tar::Builder::new(zstd::Encoder::new(new()?, 9)?)),
            // Dumps repeat themselves so much that more effort saves little, and costs more than everything else here.
            Form::Gzip => To::Gzip(tar::Builder::new(GzEncoder::new(new()?, flate2::Compression::fast()))),
            Form::Tar => To::Plain(tar::Builder::new(new()?)),
            Form::Folder => {
                fs::create_dir(path)?;
                To::Folder
            }
        };
        Ok(Pack { to, path: path.to_owned() })
    }

    /// Adds a file; the parts of its name are joined with `/`.
    pub fn add(&mut self, parts: &[&str], content: &[u8]) -> io::Result<()> {
        // Names come from a cluster: none may lead out of the capture.
        let parts: Vec<String> = parts.iter().map(|part| part.replace(['/', '\\', ':'], "_")).collect();
        if parts.iter().any(|part| part.is_empty() || part == "." || part == "..") {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("invalid file name {}", parts.join("/"))));
        }
        match &mut self.to {
            To::Folder => {
                let mut path = self.path.clone();
                path.extend(&parts);
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
                fs::write(path, content)
            }
            To::Plain(archive) => append(archive, &parts, content),
            To::Zstd(archive) => append(archive, &parts, content),
            To::Gzip(archive) => append(archive, &parts, content),
        }
    }

    /// Removes what was written.
    pub(crate) fn discard(self) -> io::Result<()> {
        let folder = matches!(self.to, To::Folder);
        let path = self.path;
        drop(self.to);
        if folder { fs::remove_dir_all(path) } else { fs::remove_file(path) }
    }

    /// Finishes the capture.
    pub fn finish(self) -> io::Result<()> {
        match self.to {
            To::Folder => Ok(()),
            To::Plain(archive) => archive.into_inner()?.flush(),
            To::Zstd(archive) => archive.into_inner()?.finish()?.flush(),
            To::Gzip(archive) => archive.into_inner()?.finish()?.flush(),
        }
    }
}

fn append<W: Write>(archive: &mut tar::Builder<W>, parts: &[String], content: &[u8]) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(content.len() as u64);
    header.set_mode(0o600);
    archive.append_data(&mut header, parts.iter().collect::<PathBuf>(), content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_of_a_path_decides() {
        let form = |path: &str| Form::of(Path::new(path));
        assert_eq!(form("mesh.tar.zst"), Some(Form::Zstd));
        assert_eq!(form("out/MESH.TGZ"), Some(Form::Gzip));
        assert_eq!(form("mesh.tar"), Some(Form::Tar));
        assert_eq!(form("mesh-prod.example.com"), Some(Form::Folder));
        assert_eq!(form("mesh.2026-01-31"), Some(Form::Folder));
        assert_eq!(form("mesh.zip"), None);
        assert_eq!(form("mesh.Tar.XZ"), None);
        assert_eq!(form("mesh.zst"), None);
        assert_eq!(form("mesh.zip/"), Some(Form::Folder));
    }
}

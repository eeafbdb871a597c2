//! How the parts of a lone Envoy connect: sockets in its folder or, where that is impossible, ports of 127.0.0.1.

use super::admin;
use crate::process::Folder;
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How the parts connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sockets {
    /// Through Unix sockets in the folder, which only this user can enter.
    Folder,
    /// Through ports of 127.0.0.1 that the system chooses, when the folder's file system has no sockets or its path is too long
    /// for them.
    Loopback,
}

/// A name as long as the longest in use.
const PROBE: &str = "u0000000";

impl Sockets {
    /// What works in a folder.
    pub(crate) fn of(folder: &Folder) -> Sockets {
        #[cfg(unix)]
        {
            let probe = folder.file(PROBE);
            let works = std::os::unix::net::UnixListener::bind(&probe).is_ok();
            let _ = fs::remove_file(&probe);
            if works { Sockets::Folder } else { Sockets::Loopback }
        }
        #[cfg(not(unix))]
        {
            let _ = (folder, PROBE);
            Sockets::Loopback
        }
    }

    /// The address that Envoy listens on.
    pub(crate) fn address(self, file: &str) -> Value {
        match self {
            Sockets::Folder => json!({"pipe": {"path": format!("./{file}")}}),
            Sockets::Loopback => json!({"socket_address": {"address": "127.0.0.1", "port_value": 0}}),
        }
    }

    /// The address of the admin interface.
    pub(crate) fn admin(self) -> Value {
        self.address(ADMIN)
    }

    /// Command-line arguments that let us find the admin interface.
    pub(crate) const fn arguments(self) -> &'static [&'static str] {
        match self {
            Sockets::Folder => &[],
            Sockets::Loopback => &["--admin-address-path", ADMIN_ADDRESS],
        }
    }
}

/// The socket of the admin interface.
const ADMIN: &str = "admin";

/// The file in which Envoy writes the address of its admin interface.
const ADMIN_ADDRESS: &str = "admin.address";

/// Sends a request to the admin interface of the Envoy that runs in a folder. Fails when nobody listens, or when the status is
/// not 200.
pub(crate) fn ask(folder: &Path, sockets: Sockets, method: &str, path: &str) -> io::Result<String> {
    let file = |name: &str| -> PathBuf { folder.join(name) };
    match sockets {
        Sockets::Folder => admin::send(&file(ADMIN), method, path),
        Sockets::Loopback => {
            let address = fs::read_to_string(file(ADMIN_ADDRESS))?;
            let address = address.trim().parse().map_err(io::Error::other)?;
            admin::send_to(address, method, path)
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_folder_for_temporary_files_holds_sockets() {
        assert_eq!(Sockets::of(&Folder::new().unwrap()), Sockets::Folder);
    }
}

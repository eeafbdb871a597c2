//! `webhook install` with an invalid object is rejected before any request to the API server.

use super::{live, shop};
use std::fs;

#[test]
fn what_cannot_be_installed_changes_nothing() {
    let mock = shop().start();
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.yaml");
    fs::write(&config, "nonsense: 1\n").unwrap();
    let config = config.to_str().unwrap();
    for (arguments, words) in [
        (&[][..], "--image is required"),
        (&["--image", "x y", "--dry-run", "client"], "an image such as"),
        (&["--image", "x:1", "--config", config], "the configuration has no key `nonsense`"),
        (&["--image", "x:1", "--config", "/nonexistent.yaml"], "/nonexistent.yaml"),
        (&["--image", "x:1", "--report-schedule", "every day"], "invalid --report-schedule"),
        (&["--image", "x:1", "--report-schedule", "61 * * * *"], "invalid --report-schedule"),
        (&["--image", "x:1", "--failure-policy", "Perhaps"], "Perhaps"),
    ] {
        let said = live(&mock, &[&["webhook", "install"], arguments].concat());
        assert_eq!(said.code, 2, "{arguments:?}: {}{}", said.out, said.err);
        assert!(said.err.contains(words), "{arguments:?}: {}", said.err);
        assert_eq!(said.out, "", "{arguments:?}");
    }
    let sent: Vec<String> = mock.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(sent, [""; 0]);
}

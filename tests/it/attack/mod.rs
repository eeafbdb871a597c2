//! Hostile input: archives that unpack to gigabytes, configurations from untrusted change requests, names that control
//! terminals and CI runners, secrets that must not be repeated. SECURITY.md names the test for each guarantee.

mod bombs;
mod config;
mod growth;
mod names;
pub(crate) mod secrets;

use super::cli::run;
use std::path::Path;

/// The output and exit code of a run.
pub(crate) struct Said {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: i32,
}

impl Said {
    fn all(&self) -> String {
        format!("{}{}", self.out, self.err)
    }
}

/// Runs the real binary in a folder.
fn say(folder: &Path, arguments: &[&str]) -> Said {
    let output = run(folder, arguments);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let said = Said { out: text(output.stdout), err: text(output.stderr), code: output.status.code().unwrap_or(-1) };
    assert!(!said.err.contains("panicked"), "{arguments:?}: {}", said.err);
    said
}

/// A capture of the demo's mesh with these EnvoyFilters instead of its own.
pub(crate) fn capture(folder: &Path, filters: &[(&str, &str)]) {
    use std::fs;
    let dump = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/demo/cart.json.zst");
    let dump = zstd::decode_all(fs::File::open(dump).unwrap()).unwrap();
    let write = |path: &str, text: &[u8]| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("capture.json", br#"{"apiVersion": "envoyfilter.dev/v1", "kind": "Capture"}"#);
    write("dumps/shop/cart-1.json", &dump);
    write(
        "resources/Pod/shop/cart-1.yaml",
        b"apiVersion: v1
kind: Pod
metadata: {name: cart-1, namespace: shop, labels: {app: cart, service.istio.io/canonical-name: cart}}
spec: {containers: [{name: app, image: app}, {name: istio-proxy, image: istio/proxyv2:1.31.0}]}
status: {phase: Running}
",
    );
    for (name, text) in filters {
        write(&format!("resources/EnvoyFilter/shop/{name}.yaml"), text.as_bytes());
    }
}

//! The fuzz targets compile with every test, and hold for inputs that broke them once.

// It belongs to another crate, which the lints of this one do not concern.
#[allow(clippy::all, clippy::pedantic, clippy::nursery)]
#[path = "../../fuzz/src/targets.rs"]
mod targets;

use std::fs;
use std::path::Path;

/// Minimized inputs, each with its target.
const BROKE: &[(&str, &[u8])] = &[
    // A number that no float holds was written as `inf`.
    ("json", b"4e6666"),
    // An empty value ended in the middle of a line break of YAML 1.1.
    ("yaml", b"\r\r  \r-  \xc2\x85"),
    ("config", b"\r\r  \r-  \xc2\x85"),
    // Secrets that are no JSON: what followed them was read in another way once they were removed.
    (
        "dump",
        b"[{\"dynamic_listeners\":[J],\"@type\": \"Secret]] n: <\"d 0],\\n{\"x\":--,\"dynamic_listeners\":[J],\"@type\": \"Secret:\\t[ \"\x01]]][[]\x11 <\"\x0c I ",
    ),
    (
        "dump",
        b"      \t[ \n{\r\";\":-,\"dynamic_listeners\":\t[\t \t\t\tJ\t\t ]\n,\"@type\": \"8yeapECAR_AVEWAYSIDE]]CAR_NUTBSecretn: GA$EWAYScr-<\"drDdynaND \x00\x11\x000],\x0c\t\n{\r\r\";\":--,\"dynamic_listeners\":\t[ \t\t J\t\t ]\n,\"@type\": \"tyeSecretO:\t[ \"\x01]]][[]\x11 GA$EWAYScr-<\"\x0c\tI ",
    ),
];

/// A valid input for each target.
const SEEDS: &[(&str, &str)] = &[
    ("yaml", "a: [1, {b: c}]\n"),
    ("json", "{\"a\": [1, 2.5e3, null, \"\\u00e9\"]}"),
    ("engine", include_str!("../../src/demo/filters.yaml")),
    ("dump", "{\"configs\": [{\"@type\": \"type.googleapis.com/envoy.admin.v3.ClustersConfigDump\"}]}"),
    ("capture", "x"),
    ("review", "{}"),
    ("rules", "code: X1\n"),
    ("config", "ignore: [EF020]\n"),
    ("lua", "function envoy_on_request(h) return h:headers():get(\"a\") end"),
    ("redact", "{\"password\": \"abcdef123\", \"note\": \"token: abcdef123\"}"),
];

#[test]
fn targets_hold_for_seeds_and_for_inputs_that_broke_them() {
    let run = |name: &str, data: &[u8]| {
        let (_, target) = targets::ALL.iter().find(|(known, _)| *known == name).unwrap();
        target(data);
    };
    assert_eq!(targets::ALL.len(), SEEDS.len());
    SEEDS.iter().for_each(|(name, text)| run(name, text.as_bytes()));
    BROKE.iter().for_each(|(name, data)| run(name, data));
    for (name, least) in [("dump", 3), ("capture", 3), ("review", 7)] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(name);
        let files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(files.len() >= least, "{name}: {files:?}");
        files.iter().for_each(|file| run(name, &fs::read(file).unwrap()));
    }
}

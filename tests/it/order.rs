//! Whether the order of two filters matters: the answer without a run of the engine equals that of a run.

use crate::linting::{Proxies, read};
use crate::support::{Share, testdata};
use kubectl_envoyfilter::load::{Loaded, Options};
use kubectl_envoyfilter::model::release::Release;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

/// A deterministic generator of numbers.
struct Dice(u64);

impl Dice {
    fn of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        texts[usize::try_from(self.0 % u64::try_from(texts.len()).unwrap()).unwrap()]
    }
}

/// Filters that insert, merge and remove HTTP filters with few names, so that they meet.
fn filters(dice: &mut Dice) -> String {
    let mut text = String::new();
    for number in 0..5 {
        let _ = write!(
            text,
            "---\napiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {{name: f-{number}, namespace: shop}}\nspec:\n  configPatches:\n"
        );
        for _ in 0..dice.of(&["1", "1", "1", "22"]).len() {
            let anchor = match dice.of(&[
                "envoy.filters.http.router",
                "envoy.filters.http.router",
                "",
                "n0",
                "n1",
                "istio_authn",
            ]) {
                "" => String::new(),
                name => format!(", subFilter: {{name: {name}}}"),
            };
            let operation = dice.of(&[
                "INSERT_BEFORE",
                "INSERT_BEFORE",
                "INSERT_BEFORE",
                "INSERT_AFTER",
                "INSERT_FIRST",
                "ADD",
                "MERGE",
                "REMOVE",
                "REPLACE",
            ]);
            let _ = writeln!(
                text,
                "  - applyTo: HTTP_FILTER\n    match: {{context: {}, listener: {{filterChain: {{filter: {{name: \
                 envoy.filters.network.http_connection_manager{anchor}}}}}}}}}\n    patch: {{operation: {operation}, value: {{name: {}, typed_config: {{\"@type\": \
                 type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer, max_request_bytes: {}}}}}}}",
                dice.of(&["SIDECAR_INBOUND", "SIDECAR_INBOUND", "SIDECAR_OUTBOUND", "ANY"]),
                dice.of(&["n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"]),
                dice.of(&["1", "2"]),
            );
        }
    }
    text
}

fn cases() -> Vec<PathBuf> {
    let folders = fs::read_dir(testdata("rules")).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.filter(|path| path.is_dir()).flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    files
}

fn the_shortcut_says_what_a_run_says_by(share: Share) {
    let sample = Proxies::new(&[], Release::NEWEST);
    let (mut pairs, mut sets) = (0, 0);
    let mut compare = |loaded: &Loaded, what: &str| {
        let (with, without) = sample.look(loaded, |cx| (cx.where_order_matters(), cx.where_order_matters_by_runs()));
        assert_eq!(with, without, "{what}");
        pairs += with.len();
        sets += 1;
    };
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    for number in 0..if share == Share::Whole { 300 } else { 60 } {
        let text = filters(&mut dice);
        let mut loaded = Loaded::default();
        loaded.add_text("filters.yaml", text.clone(), &Options::default());
        compare(&loaded, &format!("set {number}:\n{text}"));
    }
    for case in share.of(cases()) {
        let text = fs::read_to_string(&case).unwrap_or_default();
        // One filter has no neighbor.
        if text.matches("kind: EnvoyFilter").count() > 1 {
            compare(&read(&case), &case.display().to_string());
        }
    }
    println!("{sets} sets of filters, {pairs} pairs whose order matters");
    assert!(pairs > share.least(80), "{pairs}");
}

in_part_and_in_full!(
    the_shortcut_says_what_a_run_says,
    the_shortcut_says_what_a_run_says_in_full,
    the_shortcut_says_what_a_run_says_by
);

//! The example of a rule: its first bad case, and the output of `lint` for it.

use super::case::{Given, directive, on_stage, recorded, seen};
use crate::lint::{self, RealEnvoy, Rule, upgrade};
use crate::load;
use crate::model::release::Release;
use crate::report::findings::one;
use crate::report::style::Terminal;
use crate::rules::ALL;
use std::io;

/// File name of the example in its output.
const NAME: &str = "example.yaml";

/// An example.
#[derive(Debug)]
pub struct Example {
    /// The filters, as in the case.
    pub yaml: String,
    /// The output of `lint` for the rule.
    pub output: String,
}

/// Lints the example of a rule. `None` when the rule has none, or when its finding requires other files.
pub fn example(rule: &'static Rule, terminal: Terminal) -> io::Result<Option<Example>> {
    let text = String::from_utf8_lossy(rule.example);
    let first = |word| directive(&text, word).next();
    let release: Release = first("istio").and_then(|word| word.parse().ok()).unwrap_or(Release::NEWEST);
    let mark = format!("# {}", rule.code);
    let mut yaml = String::new();
    for line in text.lines().skip_while(|line| DIRECTIVES.iter().any(|start| line.starts_with(start))) {
        // In a script, the mark is a comment of the script.
        yaml.push_str(line.strip_suffix(&mark).map_or(line, |line| {
            let line = line.trim_end();
            line.strip_suffix(" --").map_or(line, str::trim_end)
        }));
        yaml.push('\n');
    }
    let given: &[&str] = match first("with") {
        Some("shop") => &["cart", "ingress"],
        Some("ambient") => &["waypoint"],
        Some("gwapi") => &["front"],
        _ => &[],
    };
    let loaded = load::read_text(NAME, &yaml, &load::Options::default());
    let given = Given::References(given);
    let found = if let Some(from) = first("from").and_then(|word| word.parse().ok()) {
        let before = on_stage(&loaded, from, &given, |stage| upgrade::snapshot(stage, ALL));
        let (mut found, _) = on_stage(&loaded, release, &given, |stage| upgrade::compare(stage, &before, ALL));
        found.retain(|one| *one.rule == rule.info);
        found
    } else {
        let (trial, seen) = (recorded(&text), seen(&text));
        let observer = seen.as_ref().map(|seen| -> &dyn lint::Observer { seen });
        let real = RealEnvoy { trial: trial.as_ref(), observer };
        on_stage(&loaded, release, &given, |stage| lint::only_with(&stage.input, real, ALL, rule))
    };
    let mut output = Vec::new();
    for finding in &found {
        one(&mut output, terminal, false, &loaded.sources, finding, false)?;
    }
    let output = String::from_utf8_lossy(&output).trim_end().to_owned();
    Ok((!found.is_empty()).then_some(Example { yaml, output }))
}

/// Comment lines at the start of a case that tell tests what other input it needs.
const DIRECTIVES: [&str; 6] = ["# with: ", "# istio: ", "# from: ", "# also: ", "# envoy: ", "# seen: "];

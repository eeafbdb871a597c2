//! The example of a rule: its first bad case, and what `lint` says of it.

use crate::engine::MeshSettings;
use crate::lint::config::Config;
use crate::lint::upgrade::{self, Stage};
use crate::lint::{self, Finding, Input, Rule};
use crate::load::dump::{Dump, Identity};
use crate::load::{self, reference};
use crate::model::release::Release;
use crate::model::resource::ProxyConfig;
use crate::report::findings::one;
use crate::report::style::Terminal;
use crate::rules::ALL;
use std::io;

/// Name of the example in what is said of it.
const NAME: &str = "example.yaml";

/// An example.
#[derive(Debug)]
pub struct Example {
    /// The filters, as somebody wrote them.
    pub yaml: String,
    /// What the rule says of them, as `lint` prints it.
    pub output: String,
}

/// Lints the example of a rule. `None` when the rule has none, or when it is found only beside other files.
pub fn example(rule: &'static Rule, terminal: Terminal) -> io::Result<Option<Example>> {
    let text = String::from_utf8_lossy(rule.example);
    let directive = |word: &str| {
        let head = text.lines().take_while(|line| line.starts_with('#'));
        head.filter_map(|line| line.strip_prefix(&format!("# {word}: "))).map(str::to_owned).next()
    };
    let release: Release = directive("istio").and_then(|word| word.parse().ok()).unwrap_or(Release::NEWEST);
    let mark = format!("# {}", rule.code);
    let mut yaml = String::new();
    for line in text.lines().skip_while(|line| DIRECTIVES.iter().any(|start| line.starts_with(start))) {
        yaml.push_str(line.strip_suffix(&mark).map_or(line, str::trim_end));
        yaml.push('\n');
    }
    let given: &[&str] = match directive("with").as_deref() {
        Some("shop") => &["cart", "ingress"],
        Some("ambient") => &["waypoint"],
        Some("gwapi") => &["front"],
        _ => &[],
    };
    let loaded = load::read_text(NAME, &yaml, &load::Options::default());
    let root_namespace = loaded.inventory.root_namespace().to_owned();
    let mesh = MeshSettings { root_namespace, ..MeshSettings::default() };
    let found = match directive("from").and_then(|word| word.parse().ok()) {
        Some(from) => {
            let before = with_stage(&loaded, &mesh, given, from, |stage| upgrade::snapshot(stage, ALL));
            let (mut found, _) =
                with_stage(&loaded, &mesh, given, release, |stage| upgrade::compare(stage, &before, ALL));
            found.retain(|one| one.rule == rule);
            found
        }
        None => with_stage(&loaded, &mesh, given, release, |stage| linted(&stage.input, rule)),
    };
    let mut output = Vec::new();
    for finding in &found {
        one(&mut output, terminal, false, &loaded.sources, finding)?;
    }
    let output = String::from_utf8_lossy(&output).trim_end().to_owned();
    Ok((!found.is_empty()).then_some(Example { yaml, output }))
}

/// Looks at a stage of an upgrade, or at the only one, with reference configurations of these names in the place of dumps.
fn with_stage<T>(
    loaded: &load::Loaded,
    mesh: &MeshSettings,
    given: &[&str],
    release: Release,
    look: impl FnOnce(&Stage<'_>) -> T,
) -> T {
    let recorded = reference::dumps(release);
    let identity = Identity::default();
    let of = |names: &[&str]| -> Vec<ProxyConfig<'_>> {
        let wanted =
            |dump: &&Dump| names.is_empty() || names.iter().any(|name| dump.name().contains(&format!(" {name} ")));
        recorded.iter().filter(wanted).filter_map(|dump| dump.config(&identity).ok()).collect()
    };
    let dumps = if given.is_empty() { Vec::new() } else { of(given) };
    let references = of(&[]);
    look(&Stage {
        input: Input {
            sources: &loaded.sources,
            inventory: &loaded.inventory,
            problems: &loaded.problems,
            dumps: &dumps,
            references: &references,
            release,
            mesh,
        },
        proxies: release,
        stand_ins: &[],
        make_up: dumps.is_empty(),
    })
}

fn linted(input: &Input<'_>, rule: &'static Rule) -> Vec<Finding> {
    // What the linter says about itself depends on what the other rules find.
    if rule.code.starts_with("EF9") {
        let mut found = lint::check(input, ALL, &Config::default(), str::to_owned, |_| ()).findings;
        found.retain(|one| one.rule == rule);
        found
    } else {
        lint::lint(input, &[rule])
    }
}

/// Comment lines at the head of a case that tell the tests what to give beside it.
const DIRECTIVES: [&str; 4] = ["# with: ", "# istio: ", "# from: ", "# also: "];

//! Every rule against its cases: `testdata/rules/<name>/bad*.yaml` with the code at the end of each offending line,
//! `good*.yaml` without a finding of the rule. `UPDATE=1` writes the list, the snapshots and rules/README.md.
//!
//! Directives in comment lines at the top of a case: `# with: shop` adds the config dumps of that recording, `# istio:
//! 1.26` selects a control plane other than the newest, `# also: FILE` adds another file of the same folder. Rules
//! about upgrades also have `# from: 1.26`, the earlier release; `with` then names recordings that both releases have.
//! `# envoy: MARKER => WORDS` replaces an Envoy that rejects, with these words, anything that contains the marker; `#
//! seen: JSON` replaces the results of requests through one (`tests/it/behaviour/standard.rs` compares it to a real
//! Envoy).

use crate::linting::{directive, expect, input};
use crate::support::{dumps, live_dump, testdata};
use kubectl_envoyfilter::engine::MeshSettings;
use kubectl_envoyfilter::engine::compat::Compat;
use kubectl_envoyfilter::lint::rule::{Change, Family, Need, Policy, PolicyTarget};
use kubectl_envoyfilter::lint::{self, Finding, Input, RealEnvoy, Recorded, Rule};
use kubectl_envoyfilter::load::dump::{Dump, Identity};
use kubectl_envoyfilter::load::{self, reference};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::model::resource::ProxyConfig;
use kubectl_envoyfilter::report::style::Terminal;
use kubectl_envoyfilter::rules;
use kubectl_envoyfilter::trial::Trial;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The findings of one rule on a case, and the text of the case.
fn findings(rule: &'static Rule, case: &Path) -> (Vec<Finding>, load::Loaded, Vec<String>) {
    findings_with(rule, case, None)
}

/// The same for a control plane release other than the one that the case names.
fn findings_with(
    rule: &'static Rule,
    case: &Path,
    other: Option<Release>,
) -> (Vec<Finding>, load::Loaded, Vec<String>) {
    // A case may contain bytes that are not UTF-8.
    let source = String::from_utf8_lossy(&fs::read(case).unwrap()).into_owned();
    let directive = |word: &str| directive(&source, word);
    let mut paths = vec![case.to_owned()];
    paths.extend(directive("also").iter().map(|name| case.with_file_name(name)));
    let loaded = load::read(&paths, &load::Options::default());
    let release = directive("istio").first().map_or(Release::NEWEST, |text| text.parse().unwrap());
    let release = other.unwrap_or(release);
    let lines = source.lines().map(str::to_owned).collect();
    if let Some(from) = directive("from").first() {
        let found = crate::audit::upgrade(&loaded, &directive("with"), from.parse().unwrap(), release);
        let found = found.into_iter().filter(|one| *one.rule == rule.info).collect();
        return (found, loaded, lines);
    }
    let given: Vec<_> = directive("with").iter().map(|name| dumps(&testdata("reference").join(name))).collect();
    let live: Vec<Dump> = directive("dump").iter().map(|name| live_dump(name)).collect();
    let all = given.iter().flatten().map(|(_, dump)| dump).chain(&live);
    let configs: Vec<ProxyConfig<'_>> = all.map(|dump| dump.config(&Identity::default()).unwrap()).collect();
    let (mesh, references) = (MeshSettings::of(&loaded.inventory), reference::configs(release));
    let input = Input { dumps: &configs, references, ..input(&loaded, release, &mesh) };
    let trial = directive("envoy").first().map(|text| {
        let (marker, words) = text.split_once(" => ").unwrap();
        Trial::recorded(marker, words).unwrap()
    });
    let seen = directive("seen");
    let seen = (!seen.is_empty()).then(|| Recorded::read(seen.iter().map(String::as_str)).unwrap());
    let observer = seen.as_ref().map(|seen| -> &dyn lint::Observer { seen });
    let found = lint::only_with(&input, RealEnvoy { trial: trial.as_ref(), observer }, rules::ALL, rule);
    (found, loaded, lines)
}

/// The text of a finding, without colors and source.
fn snapshot(findings: &[Finding], loaded: &load::Loaded) -> String {
    let mut out = String::new();
    let place = |span| loaded.sources.place(span).rsplit('/').next().unwrap().to_owned();
    for one in findings {
        let (code, severity, confidence) = (one.rule.code, one.severity, one.confidence.as_str());
        writeln!(out, "{}: {code} {severity:?} ({confidence}): {}", place(one.primary.span), one.message).unwrap();
        if !one.primary.message.is_empty() {
            writeln!(out, "    ^ {:?}: {}", loaded.sources.snippet(one.primary.span), one.primary.message).unwrap();
        }
        for label in &one.related {
            writeln!(out, "    {}: {}", place(label.span), label.message).unwrap();
        }
        for note in &one.notes {
            writeln!(out, "    note: {note}").unwrap();
        }
        if let Some(help) = &one.help {
            writeln!(out, "    help: {}", help.replace('\n', "\n          ")).unwrap();
        }
        if !one.workloads.is_empty() {
            writeln!(out, "    workloads: {}", one.workloads.join(", ")).unwrap();
        }
        if let Some(fix) = &one.fix {
            writeln!(out, "    fix ({}): {}", if fix.safe { "safe" } else { "unsafe" }, fix.description()).unwrap();
        }
    }
    out
}

fn cases(rule: &Rule, prefix: &str) -> Vec<PathBuf> {
    let folder = testdata("rules").join(rule.name);
    let entries =
        fs::read_dir(&folder).unwrap_or_else(|_| panic!("{} has no cases in {}", rule.code, folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with(prefix) && path.extension().is_some_and(|extension| extension == "yaml")
    });
    paths.sort();
    assert!(!paths.is_empty(), "{} has no {prefix}*.yaml in {}", rule.code, folder.display());
    paths
}

#[test]
fn every_rule_finds_its_bad_cases_and_is_silent_on_the_good() {
    let mut wrong = String::new();
    for rule in rules::ALL.iter().copied() {
        let mut offered = false;
        for case in cases(rule, "bad") {
            let (found, loaded, lines) = findings(rule, &case);
            let reported: BTreeSet<usize> =
                found.iter().map(|one| loaded.sources.position(one.primary.span).line).collect();
            let marked = |line: &String| line.rsplit_once('#').is_some_and(|(_, words)| words.contains(rule.code));
            let marked: BTreeSet<usize> =
                lines.iter().enumerate().filter(|(_, line)| marked(line)).map(|(index, _)| index + 1).collect();
            if reported != marked || marked.is_empty() {
                let name = case.display();
                writeln!(wrong, "{} in {name}: reported lines {reported:?}, marked lines {marked:?}", rule.code)
                    .unwrap();
            }
            offered |= found.iter().any(|one| one.fix.is_some());
            expect(&case.with_extension("out"), &snapshot(&found, &loaded));
        }
        assert_eq!(offered, rule.fixes, "{}: declared and offered fixes differ", rule.code);
        for case in cases(rule, "good") {
            let (found, loaded, _) = findings(rule, &case);
            if !found.is_empty() {
                writeln!(wrong, "{} is noisy in {}:\n{}", rule.code, case.display(), snapshot(&found, &loaded))
                    .unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// What a case provides besides EnvoyFilters.
fn given(case: &Path) -> BTreeSet<Need> {
    let source = String::from_utf8_lossy(&fs::read(case).unwrap()).into_owned();
    let words = [
        ("with", Need::Dump),
        ("dump", Need::Live),
        ("from", Need::Upgrade),
        ("envoy", Need::Envoy),
        ("seen", Need::Requests),
    ];
    words.into_iter().filter(|(word, _)| !directive(&source, word).is_empty()).map(|(_, need)| need).collect()
}

#[test]
fn rules_do_what_they_declare() {
    let mut wrong = String::new();
    for rule in rules::ALL.iter().copied() {
        let code = rule.code;
        if rule.code.chars().nth(2) != Some(rule.family.digit()) {
            writeln!(wrong, "{code}: its code is not of family {}", rule.family.folder()).unwrap();
        }
        let file = format!("rules/{}/{}.rs", rule.family.folder(), rule.name.replace('-', "_"));
        if !Path::new(env!("CARGO_MANIFEST_DIR")).join(&file).exists() {
            writeln!(wrong, "{code}: there is no {file}").unwrap();
        }
        let bad = cases(rule, "bad");
        for need in [Need::Upgrade, Need::Live, Need::Envoy, Need::Requests] {
            let declared = rule.needs.contains(&need);
            if declared != bad.iter().all(|case| given(case).contains(&need)) {
                writeln!(wrong, "{code}: declares that it needs {need:?}: {declared}; its cases say otherwise")
                    .unwrap();
            }
        }
        // Without what it needs, it finds nothing; a rule without needs finds something in some case without it.
        if !rule.needs.iter().any(|need| matches!(need, Need::Upgrade | Need::Live | Need::Envoy | Need::Requests)) {
            let bare = |case: &PathBuf| without_dumps(rule, case);
            let finds = bad.iter().any(bare);
            if rule.needs.contains(&Need::Dump) && finds {
                writeln!(wrong, "{code}: declares that it needs a config dump, and finds something without").unwrap();
            }
            if rule.needs.is_empty() && !finds && !rule.is_rest() {
                writeln!(wrong, "{code}: finds nothing without config dumps and does not declare that it needs them")
                    .unwrap();
            }
        }
        // Outside its releases it finds nothing.
        let outside = match (rule.releases.since, rule.releases.until) {
            (Some(since), _) => Some(Release::minor(since.minor - 1)),
            (_, until) => until,
        };
        for case in bad.iter().filter(|_| outside.is_some()) {
            let (found, ..) = findings_with(rule, case, outside);
            if !found.is_empty() {
                writeln!(wrong, "{code}: finds something in {} outside its releases", case.display()).unwrap();
            }
        }
        if let Policy::Cel(expressions) = rule.policy {
            let target = |release| PolicyTarget { compat: Compat { release }, root_namespace: "istio-system" };
            let any = [Release::OLDEST, Release::NEWEST].map(|release| !expressions(&target(release)).is_empty());
            if !any.contains(&true) {
                writeln!(wrong, "{code}: declares CEL and has no expression").unwrap();
            }
        }
        if (rule.family == Family::Upgrade) != rule.needs.contains(&Need::Upgrade) {
            writeln!(wrong, "{code}: rules of upgrades need an upgrade, and no others").unwrap();
        }
        if !rule.changes.is_empty() && rule.family != Family::Upgrade {
            writeln!(wrong, "{code}: reports changes of upgrades and is not of that family").unwrap();
        }
    }
    for change in [
        Change::Stops,
        Change::Detached,
        Change::Begins,
        Change::Different,
        Change::Panics,
        Change::LostToPanic,
        Change::VersionPin,
        Change::Refused,
        Change::Discarded,
        Change::Needless,
    ] {
        if !rules::ALL.iter().any(|rule| rule.changes.contains(&change)) {
            writeln!(wrong, "no rule reports {change:?}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Whether a rule finds something in a case without the config dumps that the case names.
fn without_dumps(rule: &'static Rule, case: &Path) -> bool {
    let source = String::from_utf8_lossy(&fs::read(case).unwrap()).into_owned();
    let mut paths = vec![case.to_owned()];
    paths.extend(directive(&source, "also").iter().map(|name| case.with_file_name(name)));
    let loaded = load::read(&paths, &load::Options::default());
    let release = directive(&source, "istio").first().map_or(Release::NEWEST, |text| text.parse().unwrap());
    let (mesh, references) = (MeshSettings::of(&loaded.inventory), reference::configs(release));
    let input = Input { references, ..input(&loaded, release, &mesh) };
    !lint::only(&input, rules::ALL, rule).is_empty()
}

#[test]
fn every_snapshot_has_its_case() {
    for folder in fs::read_dir(testdata("rules")).unwrap() {
        for entry in fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = entry.unwrap().path();
            let dead = path.extension().is_some_and(|it| it == "out") && !path.with_extension("yaml").exists();
            assert!(!dead, "{} belongs to no case", path.display());
        }
    }
}

#[test]
fn every_rule_is_documented_and_listed() {
    let mut codes = BTreeSet::new();
    let mut names = BTreeSet::new();
    for rule in rules::ALL {
        let number = rule.code.strip_prefix("EF").unwrap_or_default();
        assert!(number.len() == 3 && number.parse::<u16>().is_ok(), "{}: EF and three digits", rule.code);
        assert!(codes.insert(rule.code), "{} is used twice", rule.code);
        assert!(names.insert(rule.name), "{} is used twice", rule.name);
        let kebab = rule.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        assert!(kebab, "{}: kebab-case", rule.name);
        assert!(!rule.summary.trim().is_empty(), "{}: a summary line", rule.code);
        for heading in ["# What it finds", "# Why it matters", "# How to fix", "# References"] {
            assert!(rule.docs.contains(heading), "{}: no heading `{heading}`", rule.code);
        }
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules");
    // Family (the folder), file, code.
    let mut modules: Vec<(String, String, String)> = Vec::new();
    for family in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        let family_name = family.file_name().unwrap().to_str().unwrap().to_owned();
        for entry in fs::read_dir(&family).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            if path.extension().is_some_and(|extension| extension == "rs") && name != "mod" {
                let source = fs::read_to_string(&path).unwrap();
                let code = source.split('"').find(|part| part.len() == 5 && part.starts_with("EF")).unwrap().to_owned();
                modules.push((family_name.clone(), name, code));
            }
        }
    }
    modules.sort();
    let families: BTreeSet<&str> = modules.iter().map(|(family, ..)| family.as_str()).collect();
    let mut list = String::from(
        "//! The rules: one file each, in a folder per family. These lists are written by `UPDATE=1 cargo test --test it rules`.\n\nuse crate::lint::Rule;\n\n",
    );
    for family in &families {
        writeln!(list, "pub(crate) mod {family};").unwrap();
        let mut of_family = format!(
            "//! Rules of the family `{family}`. This list is written by `UPDATE=1 cargo test --test it rules`.\n\n"
        );
        for (_, name, _) in modules.iter().filter(|(of, ..)| of == family) {
            writeln!(of_family, "pub(crate) mod {name};").unwrap();
        }
        expect(&folder.join(family).join("mod.rs"), &of_family);
    }
    let mut by_code = modules.clone();
    by_code.sort_by(|left, right| left.2.cmp(&right.2));
    list.push_str("\n/// Every rule, by code.\npub static ALL: &[&Rule] = &[\n");
    for (family, name, _) in &by_code {
        writeln!(list, "    &{family}::{name}::RULE,").unwrap();
    }
    list.push_str("];\n");
    expect(&folder.join("mod.rs"), &list);
    let mut readme = String::from("# Rules\n\nWritten from the rules by `UPDATE=1 cargo test --test it rules`.\n");
    for family in Family::ALL {
        let (digit, theme) = (family.digit(), family.title());
        let of_theme: Vec<_> = rules::ALL.iter().filter(|rule| rule.family == family).collect();
        if of_theme.is_empty() {
            continue;
        }
        writeln!(
            readme,
            "\n## EF{digit}xx {theme}\n\n| code | name | severity | what it finds |\n| --- | --- | --- | --- |"
        )
        .unwrap();
        for rule in of_theme {
            let (code, name, severity, summary) = (rule.code, rule.name, rule.severity, rule.summary.trim());
            writeln!(readme, "| {code} | {name} | {} | {summary} |", format!("{severity:?}").to_lowercase()).unwrap();
        }
    }
    for rule in rules::ALL {
        let severity = format!("{:?}", rule.severity).to_lowercase();
        let fixes = if rule.fixes { " · offers a fix" } else { "" };
        let docs: Vec<String> = rule
            .docs
            .trim()
            .lines()
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .map(|line| line.strip_prefix("# ").map_or_else(|| line.trim_end().to_owned(), |it| format!("#### {it}")))
            .collect();
        let (code, name, summary, docs) = (rule.code, rule.name, rule.summary.trim(), docs.join("\n"));
        writeln!(readme, "\n### {code}\n\n**{name}** · {severity}{fixes}\n\n{summary}\n\n{docs}").unwrap();
        // A file that is not UTF-8, some that need a proxy that is not built in or several, and those that need a running one.
        let without = ["EF003", "EF202", "EF226", "EF390", "EF413", "EF520"].contains(&rule.code)
            || rule.needs.contains(&Need::Live);
        let example = kubectl_envoyfilter::cli::example(rule, Terminal::default()).unwrap();
        assert_eq!(example.is_none(), without, "{}: the first bad case is the example of the documentation", rule.code);
        if let Some(example) = example {
            let (yaml, output) = (example.yaml.trim_end(), example.output);
            writeln!(readme, "\n#### Example\n\n```yaml\n{yaml}\n```\n\n```text\n{output}\n```").unwrap();
        }
    }
    expect(&folder.join("README.md"), &readme);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let front = fs::read_to_string(&path).unwrap();
    let (before, after) = front.split_once("`lint` runs ").unwrap();
    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    expect(&path, &format!("{before}`lint` runs {}{rest}", rules::ALL.len()));
}

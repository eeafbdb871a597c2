//! Hostile names in every command and output format: none controls a terminal, ends a line, or becomes a command of a
//! CI runner.

use super::{capture, say};
use crate::linting::{Proxies, read, sent_filters};
use crate::support::Share;
use kubectl_envoyfilter::model::release::Release;
use serde_json::Value;
use std::fs;

/// Names that no API server accepts but files can contain, with text that must not begin a line.
const NAMES: &[&str] = &[
    "x\n::error file=a.yaml,line=1::INJECTED",
    "x\r\n::add-mask::INJECTED",
    "x\nINJECTED line",
    "x\u{1b}[2J\u{1b}]0;INJECTED\u{7}",
    "x\u{1b}[31mINJECTED\u{1b}[0m",
    "x\u{9b}31mINJECTED",
    "\u{202e}INJECTED\u{202c}",
    "x\u{2066}\u{200f}INJECTED\u{2069}",
    "x\u{2028}INJECTED\u{2029}\u{85}INJECTED",
    "x##[error]INJECTED",
    "x##vso[task.setvariable variable=a]INJECTED",
    "x\u{0}\u{8}\u{7f}INJECTED",
    "x\u{e0041}\u{feff}\u{200b}INJECTED",
    "x|y`z<img src=q onerror=INJECTED>[a](http://evil) @everyone %0A::error::INJECTED",
    "x%250A%0D%0A::error::INJECTED",
    "]]></failure><testcase name=\"INJECTED\"/>",
    "x\tINJECTED\u{b}\u{c}",
    "x\u{115f}\u{3164}\u{34f}\u{fe00}\u{e0100}INJECTED",
];

/// Keys with code, which YAML writes line by line.
const CODE: [&str; 4] = ["inline_string", "inline_code", "inlineString", "inlineCode"];

/// A filter that uses a name in every possible place, as JSON, since YAML allows no control characters.
fn filter(name: &str) -> String {
    serde_json::json!({
        "apiVersion": "networking.istio.io/v1alpha3",
        "kind": "EnvoyFilter",
        "metadata": {"name": name, "namespace": "shop", "labels": {"a": name}, "annotations": {"note": name, name: name}},
        "spec": {
            "workloadSelector": {"labels": {"app": "cart"}},
            name: 1,
            "configPatches": [
                {
                    "applyTo": "HTTP_FILTER",
                    "match": {"context": "SIDECAR_INBOUND", "listener": {"name": name, "filterChain": {
                        "name": name, "sni": name,
                        "filter": {"name": name, "subFilter": {"name": name}},
                    }}},
                    "patch": {"operation": "INSERT_BEFORE", "value": {"name": name, name: name}},
                },
                {
                    "applyTo": "HTTP_FILTER",
                    "match": {"context": "SIDECAR_INBOUND", "listener": {"filterChain": {
                        "filter": {"name": "envoy.filters.network.http_connection_manager"},
                    }}},
                    "patch": {"operation": "INSERT_FIRST", "value": {"name": name, "typed_config": {
                        "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
                        "default_source_code": {"inline_string": name}, name: 1,
                    }}},
                },
                {
                    "applyTo": "CLUSTER",
                    "match": {"cluster": {"name": name, "service": name, "subset": name}},
                    "patch": {"operation": "MERGE", "value": {"connect_timeout": name}},
                },
                {
                    "applyTo": "CLUSTER",
                    "match": {"context": "SIDECAR_OUTBOUND"},
                    "patch": {"operation": "ADD", "value": {"name": name, "type": name, "connect_timeout": "1s"}},
                },
                {
                    "applyTo": "VIRTUAL_HOST",
                    "match": {"proxy": {"proxyVersion": name, "metadata": {name: name}}, "routeConfiguration": {
                        "name": name, "vhost": {"name": name, "route": {"name": name}},
                    }},
                    "patch": {"operation": "MERGE", "value": {"name": name, "domains": [name]}},
                },
                {"applyTo": name, "match": {"context": name}, "patch": {"operation": name, "value": {"@type": name}}},
                {"applyTo": "LISTENER", "patch": {"operation": "ADD", "value": {"name": name, "address": {"pipe": {"path": name}}}}},
            ],
        },
    })
    .to_string()
}

/// The problems of an output.
fn complaints(text: &str, commands: bool) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        let content = line.trim_start();
        let steers = |c: char| {
            c.is_control() && c != '\t'
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
                || ('\u{e0000}'..='\u{e0fff}').contains(&c)
                || matches!(c, '\u{34f}' | '\u{115f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0d}')
        };
        if let Some(c) = line.chars().find(|c| steers(*c)) {
            found.push(format!("{c:?} in {line:?}"));
        }
        let own = ["::error ", "::warning ", "::notice ", "::error::"].iter().any(|start| line.starts_with(start));
        if content.starts_with("::") && !(commands && own && !content.starts_with("::error::INJ")) {
            found.push(format!("a command: {line:?}"));
        }
        if line.contains("##[") || line.contains("##vso[") || content.starts_with("INJECTED") {
            found.push(format!("injected: {line:?}"));
        }
    }
    found
}

fn hostile_names_control_nothing_in_any_format_by(share: Share) {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    let texts: Vec<String> = NAMES.iter().map(|name| filter(name)).collect();
    let all = texts.join("\n---\n");
    fs::write(folder.path().join("all.yaml"), &all).unwrap();
    let files: Vec<(String, &str)> =
        texts.iter().enumerate().map(|(at, text)| (format!("f{at}"), text.as_str())).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    capture(&folder.path().join("capture"), &files);
    // Names in a dump, which commands offer when a name matches nothing.
    let dump: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("capture/dumps/shop/cart-1.json")).unwrap())
            .unwrap();
    let text = dump.to_string().replace("outbound|443||", "outbound|443|x\\nINJECTED|");
    fs::write(folder.path().join("evil.json"), text).unwrap();
    // A capture names its cluster, and its files are named by that.
    let context = "x\nINJECTED\u{1b}]0;INJECTED\u{7}\n::error::INJECTED";
    let description = serde_json::json!({"apiVersion": "envoyfilter.dev/v1", "kind": "Capture", "context": context});
    fs::write(folder.path().join("capture/capture.json"), description.to_string()).unwrap();
    fs::write(folder.path().join("capture/resources/EnvoyFilter/shop/broken.yaml"), "kind: [").unwrap();
    let mut given = vec!["all.yaml".to_owned()];
    #[cfg(unix)]
    for (at, name) in NAMES.iter().enumerate().filter(|(_, name)| !name.contains(['/', '\0'])) {
        let file = format!("{name}.yaml");
        fs::write(folder.path().join(&file), &texts[at]).unwrap();
        given.push(file);
    }
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    let forms = ["human", "json", "sarif", "junit", "github", "gitlab", "markdown"];
    let mut runs: Vec<Vec<&str>> = Vec::new();
    for form in forms {
        runs.push([&["lint", "-o", form], given.as_slice()].concat());
        runs.push(vec!["lint", "-o", form, "--demo", "all.yaml"]);
        runs.push(vec!["lint", "-o", form, "--capture", "capture"]);
    }
    for arguments in [
        &["lint", "--stat", "all.yaml"][..],
        &["lint", "--fix", "--diff", "all.yaml"],
        &["explain", "pod", "cart", "--demo", "-f", "all.yaml"],
        &["explain", "pod", "cart", "--demo", "-f", "all.yaml", "-v"],
        &["explain", "pod", "cart", "--demo", "-f", "all.yaml", "-o", "json"],
        &["explain", "pod", "cart-1", "--capture", "capture"],
        &["explain", "field", "listener/virtualInbound", "--demo", "-f", "all.yaml"],
        &["diff", "--demo", "-f", "all.yaml"],
        &["diff", "--demo", "-f", "all.yaml", "-o", "json"],
        &["diff", "--demo", "--current", "all.yaml"],
        &["render", "--demo", "-f", "all.yaml", "--only", "changed"],
        &["render", "--demo", "-f", "all.yaml", "--only", "changed", "-o", "yaml"],
        &["audit", "--from", "1.24", "--to", "1.31", "-f", "all.yaml"],
        &["audit", "--from", "1.24", "--to", "1.31", "-f", "all.yaml", "-o", "json"],
        &["audit", "--from", "1.24", "--to", "1.31", "-f", "all.yaml", "-o", "markdown"],
        &["audit", "--from", "1.24", "--to", "1.31", "-f", "all.yaml", "-o", "html"],
        &["get", "--capture", "capture"],
        &["get", "--capture", "capture", "-o", "json"],
        &["status", "--capture", "capture"],
        &["version", "--capture", "capture"],
        &["migrate", "all.yaml"],
        &["migrate", "all.yaml", "-o", "json"],
        &["migrate", "all.yaml", "-o", "yaml"],
        &["migrate", "all.yaml", "--accept", "reviewed", "-o", "yaml"],
        &["migrate", "all.yaml", "--to", "ambient", "-o", "yaml"],
        &["migrate", "--capture", "capture", "--accept", "reviewed", "-o", "yaml"],
        &["migrate", "all.yaml", "-o", "diff"],
        &["migrate", "all.yaml", "-o", "markdown"],
        &["migrate", "all.yaml", "-o", "html"],
        &["migrate", "--capture", "capture"],
        &["test", "--init", "all.yaml"],
        &["try", "--demo", "-f", "all.yaml", "/", "--envoy", "./none"],
        &["diff", "--demo", "-f", "all.yaml", "-o", "markdown"],
        &["diff", "--between", "capture", "capture"],
        &["explain", "workload/cart", "--capture", "capture"],
        &["get", "--capture", "capture", "-o", "wide"],
        &["get", "--capture", "capture", "-o", "name"],
        &["get", "--capture", "capture", "-o", "jsonpath={.items}"],
        &["get", "--capture", "capture", "-o", "custom-columns=N:.name,S:.selector"],
        &["get", "--capture", "capture", "-o", "yaml"],
        &["version", "--capture", "capture", "-o", "json"],
        &["version", "--capture", "capture", "-o", "yaml"],
        &["status", "--capture", "capture", "-o", "wide"],
        &["lint", "all.yaml", "-v"],
        &["explain", "filter/x", "--capture", "capture", "-o", "json"],
        &["explain", "pod", "cart", "--demo", "-f", "all.yaml", "-o", "yaml"],
        &["render", "--demo", "-f", "all.yaml", "-o", "json"],
        &["render", "pod/cart-1", "--capture", "capture", "--only", "changed", "-o", "yaml"],
        &["status", "--capture", "capture", "-o", "yaml"],
        &["status", "--capture", "capture", "-o", "json"],
        &["lint", "--unsafe-fixes", "--diff", "all.yaml"],
        &["explain", "field", "cluster/outbound|443|", "--dump", "evil.json", "-f", "all.yaml"],
        &["explain", "pod", "cart", "--dump", "evil.json", "-f", "all.yaml"],
        &["render", "--dump", "evil.json", "-f", "all.yaml"],
        &["render", "--dump", "evil.json", "-f", "all.yaml", "-o", "yaml"],
    ] {
        runs.push(arguments.to_vec());
    }
    let table = NAMES.iter().filter(|name| !name.contains('\0'));
    let mut named: Vec<Vec<&str>> = Vec::new();
    for name in table {
        named.push(vec!["explain", "filter", name, "--demo", "-f", "all.yaml"]);
        named.push(vec!["explain", "pod", name, "--demo"]);
        named.push(vec!["explain", "field", name, "--demo"]);
        named.push(vec!["lint", name]);
        named.push(vec!["api", name]);
        named.push(vec!["rules", name]);
        named.push(vec!["lint", "all.yaml", "--select", name]);
        named.push(vec!["render", "--dump", name, "-f", name]);
        named.push(vec!["migrate", name]);
        named.push(vec!["test", name]);
        named.push(vec!["try", name, "/", "--dump", name, "--envoy", "./none"]);
        named.push(vec!["diff", "--between", name, "capture"]);
        named.push(vec!["doctor", "-f", name, "--istiod", "./none"]);
        named.push(vec!["dump", name, "-f", "all.yaml", "--istiod", "./none"]);
    }
    runs.extend(named);
    for arguments in share.of(runs) {
        let said = say(folder.path(), &arguments);
        let commands = arguments.windows(2).any(|pair| pair == ["-o", "github"]);
        for text in [&said.out, &said.err] {
            let found = complaints(text, commands);
            wrong.extend(found.into_iter().take(3).map(|one| format!("{arguments:?}: {one}")));
        }
        if arguments.contains(&"yaml") {
            // Code is a block of lines; a name is not.
            let block = |line: &&str| {
                let parts = line.rsplit_once(": ");
                parts.is_some_and(|(key, rest)| {
                    rest.starts_with(['|', '>']) && rest.len() <= 3 && !CODE.iter().any(|code| key.ends_with(code))
                })
            };
            let broken = said.out.lines().filter(block);
            wrong.extend(broken.map(|line| format!("{arguments:?}: several lines of {line:?}")));
        }
        if arguments.contains(&"json") && said.code < 2 {
            let parsed: Result<serde_json::Value, _> = serde_json::from_str(&said.out);
            wrong.extend(parsed.err().map(|error| format!("{arguments:?}: {error}")));
        }
    }
    assert!(wrong.is_empty(), "{} complaints:\n{}", wrong.len(), wrong.join("\n"));
}

in_part_and_in_full!(
    hostile_names_control_nothing_in_any_format,
    hostile_names_control_nothing_in_any_format_in_full,
    hostile_names_control_nothing_in_any_format_by
);

/// A workflow command is one line, and what the runner decodes is what was meant.
#[test]
fn workflow_commands_decode_to_their_text() {
    let folder = tempfile::tempdir().unwrap();
    for name in NAMES {
        fs::write(folder.path().join("a.yaml"), filter(name)).unwrap();
        let json = say(folder.path(), &["lint", "-o", "json", "a.yaml"]);
        let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
        let said = say(folder.path(), &["lint", "-o", "github", "a.yaml"]);
        // The last line states the scope.
        assert_eq!(said.out.lines().count(), json["findings"].as_array().unwrap().len() + 1, "{}", said.out);
        assert!(said.out.lines().last().unwrap().starts_with("::notice title=Scope::files; "), "{}", said.out);
        for (line, finding) in said.out.lines().zip(json["findings"].as_array().unwrap()) {
            // Decodes a value like actions/runner (ActionCommand.UnescapeData).
            let data = line.splitn(3, "::").nth(2).unwrap();
            let decoded = data.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%").replace("\\u0023#", "##");
            let message = finding["message"].as_str().unwrap();
            assert!(decoded.starts_with(message), "{decoded:?} is not {message:?}");
            assert!(!message.contains('\n'), "{message:?}");
        }
    }
}

/// What a text of a filter continues with, on a line of its own.
const SECOND_LINE: &str = "error[EF000]: INJECTED";

/// The texts of a value that any name can take the place of.
fn texts<'v>(value: &'v mut Value, into: &mut Vec<&'v mut String>) {
    const FIXED: [&str; 5] = ["applyTo", "context", "operation", "@type", "kind"];
    match value {
        Value::String(text) => into.push(text),
        Value::Array(items) => items.iter_mut().for_each(|item| texts(item, into)),
        Value::Object(entries) => {
            let free = entries.iter_mut().filter(|(key, _)| !FIXED.contains(&key.as_str()));
            free.for_each(|(_, value)| texts(value, into));
        }
        _ => {}
    }
}

fn help_and_notes_keep_names_on_one_line_by(share: Share) {
    // Every so many texts of a filter.
    let step = if share == Share::Whole { 1 } else { 3 };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("filter.yaml");
    let proxies = Proxies::new(&[], Release::minor(31));
    let mut wrong = Vec::new();
    for (number, sent) in share.of(sent_filters(&[]).into_iter().enumerate()) {
        let mut count = Vec::new();
        let mut spec = sent.object["spec"].clone();
        texts(&mut spec, &mut count);
        for at in (number % step..count.len()).step_by(step) {
            let mut object = sent.object.clone();
            let mut all = Vec::new();
            texts(&mut object["spec"], &mut all);
            all[at].push_str(&format!("\n{SECOND_LINE}"));
            fs::write(&file, object.to_string()).unwrap();
            for one in proxies.report(&read(&file)) {
                let mut lines = one.notes.iter().chain(&one.help).flat_map(|text| text.lines());
                if let Some(line) = lines.find(|line| line.trim_start().starts_with(SECOND_LINE)) {
                    wrong.push(format!("{} in {}, text {at}: {line}", one.rule.code, sent.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} lines, among them\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}

in_part_and_in_full!(
    help_and_notes_keep_names_on_one_line,
    help_and_notes_keep_names_on_one_line_in_full,
    help_and_notes_keep_names_on_one_line_by
);

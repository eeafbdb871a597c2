//! Kubernetes objects inside other texts: code fences of Markdown, listing blocks of AsciiDoc, heredocs of Terraform and of shell scripts.
//!
//! The text around them is blanked out byte for byte, so that every place remains valid in the file. What cannot be read
//! without guessing is reported: an interpolation, an object in Terraform's own syntax.

use super::files::{normal, problem};
use super::foreign;
use super::limits::Limits;
use super::yaml;
use crate::model::envoy_filter::EnvoyFilter;
use crate::source::{Code, FileId, Node, Problem, Severity, Sources, Span};
use regex::{Regex, RegexBuilder};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// A text with everything but its objects blanked out.
pub(super) struct Embedded {
    /// The YAML, as long as the file.
    pub(super) text: String,
    /// What the file contains but was not read.
    pub(super) problems: Vec<Problem>,
}

/// Finds the embedded objects of a file with this name; `None` for YAML and JSON.
pub(super) fn find(name: &str, text: &str, file: FileId) -> Option<Embedded> {
    let ending = name.rsplit('.').next().unwrap_or_default().to_lowercase();
    match ending.as_str() {
        "md" | "markdown" | "mdx" => Some(fences(name, text, file, &["```", "~~~"])),
        "adoc" | "asciidoc" | "asc" => Some(fences(name, text, file, &["----", "....", "```"])),
        "tf" | "tofu" | "hcl" | "tfvars" => Some(heredocs(name, text, file)),
        "yaml" | "yml" | "json" => None,
        _ if foreign::is_shell(&ending, text) => Some(script(name, text, file)),
        _ => {
            let problem = foreign::unread(name, &ending, text)?;
            let mut blanked = String::with_capacity(text.len());
            lines(text).for_each(|(_, line)| blank(line, false, &mut blanked));
            Some(Embedded { text: blanked, problems: vec![problem] })
        }
    }
}

/// The lines of a text with their ends and offsets.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line)
    })
}

/// A line of the same length that starts with `---` or is blank.
fn blank(line: &str, separator: bool, into: &mut String) {
    let body = line.trim_end_matches(['\r', '\n']);
    let mark = if separator && body.len() >= 3 { "---" } else { "" };
    into.push_str(mark);
    into.extend(std::iter::repeat_n(' ', body.len() - mark.len()));
    into.push_str(&line[body.len()..]);
}

/// Copies the text between two lines, or leaves it out; a document starts at the first line, and the second may be missing.
fn between(all: &[(usize, &str)], start: usize, end: usize, take: bool, into: &mut String) {
    blank(all[start].1, take, into);
    for (_, line) in &all[start + 1..end] {
        if take {
            into.push_str(line);
        } else {
            blank(line, false, into);
        }
    }
    if let Some((_, line)) = all.get(end) {
        blank(line, false, into);
    }
}

fn is_object(text: &str) -> bool {
    // JSON may be on one line.
    let json = |key: &str| text.split('"').skip(1).step_by(2).any(|word| word == key);
    let has = |key: &str| has_line(text, key) || text.trim_start().starts_with(['{', '[']) && json(key);
    has("kind") && has("apiVersion")
}

/// Whether a line of YAML, or an item of a list, begins with a text.
pub(super) fn has_line(text: &str, start: &str) -> bool {
    text.lines().any(|line| line.trim_start().trim_start_matches("- ").starts_with(start))
}

/// Maximum number of lines between `apiVersion` and `kind` of an object in prose.
const NEAR: usize = 3;

/// An EnvoyFilter outside the fences that were read: in a quotation, a difference, an indented block.
fn in_prose(lines: &[(usize, &str)], file: FileId, problems: &mut Vec<Problem>) {
    let plain = |line: &str| {
        line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '>' | '+' | '-')).trim_end().to_owned()
    };
    let is_version = |(_, line): &(usize, &str)| plain(line).starts_with("apiVersion: networking.istio.io/");
    for (number, &(start, line)) in lines.iter().enumerate() {
        let near = number.saturating_sub(NEAR)..(number + NEAR + 1).min(lines.len());
        if plain(line) == "kind: EnvoyFilter" && lines[near].iter().any(is_version) {
            let message = "this EnvoyFilter is not in a code block with the language yaml and is not read";
            problems.push(Problem { help: Some(AS_YAML.to_owned()), ..unread(file, start, line, message) });
        }
    }
}

/// Languages of fences that may contain commands with objects in heredocs.
const SHELLS: &[&str] = &["", "bash", "console", "sh", "shell", "shell-session", "text", "zsh"];

fn fences(name: &str, text: &str, file: FileId, marks: &[&str]) -> Embedded {
    let mut out = String::with_capacity(text.len());
    let all: Vec<(usize, &str)> = lines(text).collect();
    let mut at = 0;
    let mut found = false;
    let mut problems = Vec::new();
    let mut prose: Vec<(usize, &str)> = Vec::new();
    while at < all.len() {
        let (_, line) = all[at];
        let trimmed = line.trim_start_matches('\u{feff}').trim_start();
        let mark = marks.iter().find(|mark| trimmed.starts_with(**mark));
        let Some(mark) = mark else {
            blank(line, false, &mut out);
            prose.push(all[at]);
            at += 1;
            continue;
        };
        let width = trimmed.len() - trimmed.trim_start_matches(&mark[..1]).len();
        let language = trimmed[width..].split_whitespace().next().unwrap_or_default().to_lowercase();
        let language =
            language.trim_start_matches('{').trim_start_matches('.').split(['{', ',', '}']).next().unwrap_or_default();
        let closes = |line: &str| {
            let line = line.trim();
            line.len() >= width && line.chars().all(|c| mark.starts_with(c)) && !line.is_empty()
        };
        let end = all[at + 1..].iter().position(|(_, line)| closes(line)).map_or(all.len(), |offset| at + 1 + offset);
        let body: String = all[at + 1..end].iter().map(|(_, line)| *line).collect();
        let object = is_object(&body);
        let known = problems.len();
        let mut commands = Vec::new();
        if object && SHELLS.contains(&language) {
            commands = shell_heredocs(&all[at + 1..end], file, &mut problems);
        }
        if !commands.is_empty() {
            blank(line, false, &mut out);
            copy_heredocs(&all[at + 1..end], &commands, &mut out);
            if let Some((_, line)) = all.get(end) {
                blank(line, false, &mut out);
            }
            found = true;
            at = end + 1;
            continue;
        }
        let take = matches!(language, "" | "yaml" | "yml" | "json") && object;
        found |= take;
        if object && !take && body.contains("EnvoyFilter") && problems.len() == known {
            let message = "the EnvoyFilter in this code block is not read: the block contains more than YAML";
            problems.push(Problem { help: Some(AS_YAML.to_owned()), ..unread(file, all[at].0, line, message) });
        }
        if !object {
            in_prose(&all[at + 1..end], file, &mut problems);
        }
        between(&all, at, end, take, &mut out);
        at = end + 1;
    }
    in_prose(&prose, file, &mut problems);
    if !found && problems.is_empty() {
        let message = format!("{name} contains no fenced Kubernetes object: nothing was checked");
        problems.push(problem(Code::NotRendered, Severity::Error, message));
    }
    Embedded { text: out, problems }
}

/// What to do about an object that is not read.
const AS_YAML: &str = "write it as a block of its own with the language yaml";

/// The heredocs with an object among the lines of a shell: the numbers of their first lines, with `<<EOF`, and of their
/// last ones. What a shell would replace is reported.
fn shell_heredocs(all: &[(usize, &str)], file: FileId, problems: &mut Vec<Problem>) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let (start, line) = all[at];
        let after =
            line.split_once("<<").map(|(_, rest)| rest.trim_start_matches('-').trim_start()).unwrap_or_default();
        let quoted = after.starts_with(['\'', '"', '\\']);
        let word = after.trim_start_matches(['\'', '"', '\\']);
        let word = word.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
        let end = all[at + 1..].iter().position(|(_, line)| line.trim() == word).map(|offset| at + 1 + offset);
        let Some(end) = end.filter(|_| !word.is_empty()) else {
            at += 1;
            continue;
        };
        let body: String = all[at + 1..end].iter().map(|(_, line)| *line).collect();
        if is_object(&body) {
            if !quoted && is_expanded(&body) {
                let message = "the object in this heredoc contains variables or escapes of the shell and is not read";
                problems.push(Problem { help: Some(AS_YAML.to_owned()), ..unread(file, start, line, message) });
            } else {
                found.push((at, end));
            }
        }
        at = end + 1;
    }
    found
}

/// Whether a shell changes this text in a heredoc without quotation marks.
fn is_expanded(body: &str) -> bool {
    let bytes = body.as_bytes();
    let starts_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_{(@*#?!$-".contains(&byte);
    bytes.contains(&b'`')
        || bytes.windows(2).any(|pair| match pair {
            [b'$', next] => starts_name(*next),
            [b'\\', next] => b"$\\\n".contains(next),
            _ => false,
        })
}

/// Copies heredocs and blanks out all other lines.
fn copy_heredocs(lines: &[(usize, &str)], heredocs: &[(usize, usize)], into: &mut String) {
    for (number, (_, line)) in lines.iter().enumerate() {
        match heredocs.iter().find(|(first, last)| (*first..=*last).contains(&number)) {
            Some((first, _)) if *first == number => blank(line, true, into),
            Some((_, last)) if *last > number => into.push_str(line),
            _ => blank(line, false, into),
        }
    }
}

fn script(name: &str, text: &str, file: FileId) -> Embedded {
    let all: Vec<(usize, &str)> = lines(text).collect();
    let mut out = String::with_capacity(text.len());
    let mut problems = Vec::new();
    let commands = shell_heredocs(&all, file, &mut problems);
    copy_heredocs(&all, &commands, &mut out);
    if commands.is_empty() && problems.is_empty() {
        let message = format!("{name} contains no heredoc with a Kubernetes object: nothing was checked");
        problems.push(problem(Code::NotRendered, Severity::Error, message));
    }
    Embedded { text: out, problems }
}

fn heredocs(name: &str, text: &str, file: FileId) -> Embedded {
    let mut out = String::with_capacity(text.len());
    let all: Vec<(usize, &str)> = lines(text).collect();
    let mut problems = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let (start, line) = all[at];
        let word = line.split_once("<<").map(|(_, rest)| rest.trim_start_matches('-').trim()).unwrap_or_default();
        let word: &str = word.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
        if word.is_empty() {
            own_syntax(&all, at, file, &mut problems);
            blank(line, false, &mut out);
            at += 1;
            continue;
        }
        let end =
            all[at + 1..].iter().position(|(_, line)| line.trim() == word).map_or(all.len(), |offset| at + 1 + offset);
        let body: String = all[at + 1..end].iter().map(|(_, line)| *line).collect();
        let object = is_object(&body);
        let interpolated = body.contains("${") || body.contains("%{");
        if object && interpolated {
            problems.push(unread(
                file,
                start,
                line,
                "the object in this heredoc contains interpolations of Terraform and is not read",
            ));
        }
        let take = object && !interpolated;
        between(&all, at, end, take, &mut out);
        at = end + 1;
    }
    if problems.is_empty() && text.contains("EnvoyFilter") && !out.contains("EnvoyFilter") {
        let message = format!("{name} mentions EnvoyFilter but contains none that can be read: nothing was checked");
        problems.push(problem(Code::NotRendered, Severity::Error, message));
    }
    Embedded { text: out, problems }
}

/// Reports an EnvoyFilter in Terraform's own syntax, or one that is read from another file.
fn own_syntax(all: &[(usize, &str)], at: usize, file: FileId, problems: &mut Vec<Problem>) {
    let (start, line) = all[at];
    let plain: String = line.chars().filter(|c| !c.is_whitespace()).collect();
    if ["#", "//", "/*", "*"].iter().any(|comment| plain.starts_with(comment)) {
        return;
    }
    let kind = ["kind=\"EnvoyFilter\"", "\"kind\"=\"EnvoyFilter\"", "kind:\"EnvoyFilter\"", "\"kind\":\"EnvoyFilter\""];
    let of_manifest = || plain.contains("file(\"") && [".yaml\"", ".yml\""].iter().any(|ending| plain.contains(ending));
    if kind.iter().any(|kind| plain.contains(kind)) {
        problems.push(unread(file, start, line, "an EnvoyFilter in Terraform's own syntax is not read"));
    } else if plain.contains("kind:EnvoyFilter") {
        problems.push(unread(file, start, line, "the EnvoyFilter in this text of one line is not read"));
    } else if ["templatefile(", "yamldecode(file("].iter().any(|call| plain.contains(call)) || of_manifest() {
        problems.push(unread(file, start, line, "the file that is read here is not followed"));
    }
}

fn unread(file: FileId, start: usize, line: &str, message: &str) -> Problem {
    let indent = line.len() - line.trim_start().len();
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let span = Span { file, start: offset(start + indent), end: offset(start + line.trim_end().len().max(indent)) };
    Problem {
        code: Code::NotRendered,
        severity: Severity::Error,
        span: Some(span),
        message: message.to_owned(),
        help: Some("render it and read the result: terraform show -json PLAN, or terraform console".to_owned()),
    }
}

/// A problem with its place as part of the message, because it is about something that was not read.
pub(super) fn placed(problem: Problem, sources: &Sources) -> Problem {
    let place = problem.span.map_or_else(String::new, |span| format!("{}: ", sources.place(span)));
    Problem { message: format!("{place}{}", problem.message), span: None, ..problem }
}

/// Reports that a kustomization patches EnvoyFilters: only `kustomize build` applies those patches. A file with its name
/// needs no kind.
pub(super) fn kustomization(document: &Node, sources: &Sources) -> Option<Problem> {
    let kind = document.get("kind").and_then(Node::as_str);
    let name = &sources.get(document.span.file).name;
    let file = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let by_name = kind.is_none() && matches!(file, "kustomization.yaml" | "kustomization.yml" | "Kustomization");
    if !(by_name || matches!(kind, Some("Kustomization" | "Component"))) {
        return None;
    }
    let about = |patch: &Node| {
        let inline = patch.as_str().or_else(|| patch.get("patch").and_then(Node::as_str));
        let target = patch.get("target");
        let edits =
            |text: &str| text.contains("EnvoyFilter") || target.is_some_and(any_kind) && text.contains("configPatches");
        target.is_some_and(selects_filters) || inline.is_some_and(edits)
    };
    let replaces = |replacement: &&Node| {
        let targets = replacement.get("targets").map(Node::items).unwrap_or_default();
        targets.iter().filter_map(|target| target.get("select")).any(selects_filters)
    };
    let replacements = document.get("replacements").map(Node::items).unwrap_or_default();
    let patch = patches(document).find(|patch| about(patch)).or_else(|| replacements.iter().find(replaces))?;
    let span = patch.get("patch").map_or(patch.span, |_| Span { end: patch.span.start, ..patch.span });
    Some(unapplied(span))
}

/// Whether a selector of a kustomization, whose parts are regular expressions, names the kind or the group of EnvoyFilters.
fn selects_filters(selector: &Node) -> bool {
    let matches = |key: &str, text: &str| Some(Expression::read(selector.get(key).and_then(Node::as_str)?).fits(text));
    let group = matches("group", "networking.istio.io");
    matches("kind", "EnvoyFilter").or(group) == Some(true) && group != Some(false)
}

/// Whether the target of a patch names no kind and no group.
fn any_kind(target: &Node) -> bool {
    ["kind", "group"].iter().all(|key| target.get(key).is_none())
}

/// The target of a patch that selects by name or labels alone: the EnvoyFilters among what it may select.
struct Target<'t> {
    name: Option<Expression<'t>>,
    namespace: Option<Expression<'t>>,
    labels: Option<&'t str>,
    annotations: Option<&'t str>,
}

impl<'t> Target<'t> {
    fn read(target: &'t Node) -> Option<Target<'t>> {
        let text = |key: &str| target.get(key).and_then(Node::as_str);
        let any = ["name", "labelSelector", "annotationSelector"].iter().any(|key| text(key).is_some());
        (any && any_kind(target)).then(|| Target {
            name: text("name").map(Expression::read),
            namespace: text("namespace").map(Expression::read),
            labels: text("labelSelector"),
            annotations: text("annotationSelector"),
        })
    }

    fn selects(&self, filter: &EnvoyFilter) -> bool {
        let named = |one: &Option<Expression<'_>>, name: &str| one.as_ref().is_none_or(|one| one.fits(name));
        let labeled = |selector: Option<&str>, labels: &BTreeMap<String, String>| {
            selector.is_none_or(|selector| selector.split(',').all(|one| has_label(one.trim(), labels)))
        };
        named(&self.name, &filter.name)
            && named(&self.namespace, &filter.namespace)
            && labeled(self.labels, &filter.labels)
            && labeled(self.annotations, &filter.annotations)
    }
}

/// Maximum size of a compiled expression of a selector, in bytes: names need a few hundred.
const MAX_EXPRESSION: usize = 1 << 16;

/// A regular expression in a selector of a kustomization, for a whole text.
struct Expression<'t> {
    text: &'t str,
    compiled: Option<Regex>,
}

impl<'t> Expression<'t> {
    fn read(text: &'t str) -> Expression<'t> {
        let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_/".contains(&byte));
        let compile = || RegexBuilder::new(&format!("^(?:{text})$")).size_limit(MAX_EXPRESSION).build().ok();
        Expression { text, compiled: if plain { None } else { compile() } }
    }

    /// Whether it matches a text. One that cannot be compiled, or only at great cost, matches nothing else than itself.
    fn fits(&self, text: &str) -> bool {
        self.text == text || self.compiled.as_ref().is_some_and(|compiled| compiled.is_match(text))
    }
}

/// Whether labels satisfy one condition; those with a set of values, which are cut at their commas, count as satisfied.
fn has_label(condition: &str, labels: &BTreeMap<String, String>) -> bool {
    let value = |key: &str| labels.get(key.trim()).map(String::as_str);
    if let Some((key, other)) = condition.split_once("!=") {
        value(key) != Some(other.trim())
    } else if let Some((key, one)) = condition.split_once('=') {
        value(key) == Some(one.trim_start_matches('=').trim())
    } else if let Some(key) = condition.strip_prefix('!') {
        value(key).is_none()
    } else {
        condition.contains(char::is_whitespace) || condition.contains(')') || value(condition).is_some()
    }
}

fn patches(kustomization: &Node) -> impl Iterator<Item = &Node> {
    let lists = ["patches", "patchesStrategicMerge", "patchesJson6902"];
    lists.into_iter().filter_map(|key| kustomization.get(key)).flat_map(Node::items)
}

fn unapplied(span: Span) -> Problem {
    Problem {
        code: Code::NotRendered,
        severity: Severity::Error,
        span: Some(span),
        message: "this patch of an EnvoyFilter is not applied: what is read here is the base".to_owned(),
        help: Some("build the kustomization: kubectl envoyfilter lint -k FOLDER, or kubectl kustomize FOLDER | kubectl envoyfilter lint -".to_owned()),
    }
}

/// Maximum number of targets of a kustomization and filters that are compared.
const MAX_TRIES: usize = 1_000_000;

/// The same for patches in files of their own, once all files are read: one for each kustomization. Also returns those files: they
/// contain no objects.
pub(super) fn patch_files(
    sources: &Sources,
    filters: &[EnvoyFilter],
    limits: Limits,
) -> (Vec<Problem>, HashSet<FileId>) {
    let is_kustomization = |name: &str| {
        let file = name.rsplit(['/', '\\']).next();
        file.is_some_and(|file| matches!(file, "kustomization.yaml" | "kustomization.yml" | "Kustomization"))
    };
    let mut problems = Vec::new();
    let mut files = HashSet::new();
    // Each text is searched once, however many patches name it.
    let mut texts: Option<HashMap<PathBuf, (FileId, bool)>> = None;
    for (file, source) in sources.iter().filter(|(_, source)| is_kustomization(&source.name)) {
        let mentions = |text: &str| text.contains("EnvoyFilter");
        let all =
            || sources.iter().map(|(id, one)| (normal(Path::new(&one.name)), (id, mentions(&one.text)))).collect();
        let texts = texts.get_or_insert_with(all);
        let folder = Path::new(&source.name).parent().unwrap_or(Path::new(""));
        let of_filter = |patch: &Node| {
            let path = patch.as_str().or_else(|| patch.get("path")?.as_str())?;
            let (id, _) = texts.get(&normal(&folder.join(path))).filter(|(_, mentions)| *mentions)?;
            let target = patch.under(&["target", "kind"]).and_then(Node::as_str);
            target.is_none_or(|kind| kind == "EnvoyFilter").then_some((*id, target.is_some(), patch.span))
        };
        let (documents, _) = yaml::documents_within(file, &source.text, limits.values(source.text.len()));
        let found: Vec<_> = documents.iter().flat_map(patches).filter_map(of_filter).collect();
        files.extend(found.iter().map(|(id, ..)| *id));
        // The first check finds those with a target of this kind.
        if documents.iter().any(|document| kustomization(document, sources).is_some()) {
            continue;
        }
        let unsaid = found.iter().find(|(_, has_target, _)| !has_target).map(|(.., span)| *span);
        // With too many to try, one is taken to select a filter.
        let mut left = MAX_TRIES;
        let selecting = |patch: &&Node| {
            let Some(target) = patch.get("target").and_then(Target::read) else { return false };
            left = left.saturating_sub(filters.len() + 1);
            !filters.is_empty() && left == 0 || filters.iter().any(|filter| target.selects(filter))
        };
        let start = |patch: &Node| Span { end: patch.span.start, ..patch.span };
        let unsaid = unsaid.or_else(|| documents.iter().flat_map(patches).find(selecting).map(start));
        problems.extend(unsaid.map(|span| placed(unapplied(span), sources)));
    }
    (problems, files)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILTER: &str = "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {name: a}\n";

    fn file() -> FileId {
        Sources::default().next()
    }

    #[test]
    fn the_first_line_of_a_script_is_a_comment_in_yaml() {
        assert!(find("a.yaml", "#!/usr/bin/ansible-playbook\n", file()).is_none());
        assert!(find("playbook", "#!/usr/bin/ansible-playbook\n", file()).is_some());
    }

    #[test]
    fn fences_keep_their_place() {
        let text = format!("# Title: a\n\n```yaml\n{FILTER}```\n\n```sh\nkind: x\n```\n");
        let found = find("a.md", &text, file()).unwrap();
        assert_eq!(found.text.len(), text.len());
        assert_eq!(found.text.find("kind: EnvoyFilter"), text.find("kind: EnvoyFilter"));
        assert!(found.problems.is_empty() && !found.text.contains("kind: x") && found.text.contains("\n---    \n"));
        assert_eq!(find("a.md", "nothing\n", file()).unwrap().problems.len(), 1);
        assert!(find("a.yaml", "", file()).is_none());
    }

    #[test]
    fn what_no_fence_shows_as_yaml_is_reported() {
        let each = |start: &str| format!("{start}{}\n", FILTER.trim_end().replace('\n', &format!("\n{start}")));
        let read = format!("```yaml\n{FILTER}```\n");
        let quoted = format!("> ```yaml\n{}> ```\n", each("> "));
        let added = format!("```diff\n{}```\n", each("+"));
        let indented = format!("as follows:\n\n{}", each("    "));
        for other in [quoted, added, indented] {
            let found = find("a.md", &format!("{read}\n{other}"), file()).unwrap();
            assert_eq!((found.text.matches("kind: EnvoyFilter").count(), found.problems.len()), (1, 1), "{other}");
        }
        let named = format!("An object with `kind: EnvoyFilter`:\n\n{read}\n> kind: EnvoyFilter\n");
        assert!(find("a.md", &named, file()).unwrap().problems.is_empty());
        let json = "```json\n{\"apiVersion\":\"networking.istio.io/v1alpha3\",\"kind\":\"EnvoyFilter\"}\n```\n";
        assert!(find("a.md", json, file()).unwrap().text.contains("EnvoyFilter"));
        let marked = format!("\u{feff}{read}");
        let found = find("a.md", &marked, file()).unwrap();
        assert!(found.text.len() == marked.len() && found.text.contains("EnvoyFilter") && found.problems.is_empty());
    }

    #[test]
    fn heredocs_are_read_where_nothing_is_filled_in() {
        let text = format!("resource \"a\" \"b\" {{\n  manifest = yamldecode(<<-EOT\n{FILTER}  EOT\n  )\n}}\n");
        let found = find("main.tf", &text, file()).unwrap();
        assert_eq!((found.text.len(), found.problems.len()), (text.len(), 0));
        assert_eq!(found.text.find("kind: EnvoyFilter"), text.find("kind: EnvoyFilter"));
        let filled = text.replace("{name: a}", "{name: \"${var.name}\"}");
        assert_eq!(find("main.tf", &filled, file()).unwrap().problems.len(), 1);
        let own = "manifest = {\n  apiVersion = \"a\"\n  kind = \"EnvoyFilter\"\n}\n";
        assert_eq!(find("main.tf", own, file()).unwrap().problems.len(), 1);
    }

    #[test]
    fn commands_of_a_shell_contain_objects() {
        let text = |start: &str, filter: &str| format!("```sh\nkubectl apply -f - {start}\n{filter}EOF\n```\n");
        let plain = text("<<EOF", FILTER);
        let found = find("a.md", &plain, file()).unwrap();
        assert_eq!((found.text.len(), found.problems.len()), (plain.len(), 0));
        assert_eq!(found.text.find("kind: EnvoyFilter"), plain.find("kind: EnvoyFilter"));
        assert!(!found.text.contains("kubectl") && !found.text.contains("EOF"));
        let filled = FILTER.replace("{name: a}", "{name: ${NAME}}");
        let found = find("a.md", &text("<<EOF", &filled), file()).unwrap();
        assert!(found.problems.len() == 1 && !found.text.contains("EnvoyFilter"));
        let found = find("a.md", &text("<<'EOF'", &filled), file()).unwrap();
        assert!(found.problems.is_empty() && found.text.contains("EnvoyFilter"));
        let shown = format!("```console\n$ kubectl get envoyfilter a -o yaml\n{FILTER}```\n");
        assert_eq!(find("a.md", &shown, file()).unwrap().problems.len(), 1);
    }
}

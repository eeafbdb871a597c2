//! Kubernetes objects inside other texts: code fences of Markdown, listing blocks of AsciiDoc, heredocs of Terraform and of shell scripts.
//!
//! The text around them is blanked out byte for byte, so that every place remains valid in the file. What cannot be read
//! without guessing is reported: an interpolation, an object in Terraform's own syntax.

use super::files::problem;
use super::foreign;
use crate::source::{Code, FileId, Problem, Severity, Sources, Span};

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

//! The list of rules and the documentation of one.

use super::style::{Role, Terminal, count, wrap};
use crate::lint::Rule;
use crate::lint::rule::{Family, RuleInfo};
use crate::source::Severity;
use serde_json::{Value, json};
use std::io::{self, Write};

fn role(severity: Severity) -> Role {
    match severity {
        Severity::Error => Role::Bad,
        Severity::Warning => Role::Odd,
        Severity::Info => Role::Dim,
    }
}

/// Minimum width of a summary's column; below it, summaries get their own lines.
const NARROW: usize = 24;

/// Writes every rule in a line, by theme.
pub(crate) fn table(out: &mut dyn Write, terminal: Terminal, rules: &[&'static Rule]) -> io::Result<()> {
    let width = rules.iter().map(|rule| rule.name.len()).max().unwrap_or_default();
    let code_width = rules.iter().map(|rule| rule.code.len()).max().unwrap_or_default();
    for family in Family::ALL.into_iter().chain([Family::Custom]) {
        let (digit, theme) = (family.digit(), family.title());
        let of_theme: Vec<_> = rules.iter().filter(|rule| rule.family == family).collect();
        if of_theme.is_empty() {
            continue;
        }
        let codes = if digit == ' ' { String::new() } else { format!("EF{digit}xx ") };
        writeln!(out, "{}", terminal.paint(Role::Strong, format!("{codes}{theme}")))?;
        for rule in of_theme {
            let severity = terminal.paint(role(rule.severity), format!("{:<7}", rule.severity.as_str()));
            let fix = if rule.fixes { "fix" } else { "   " };
            let head = 2 + code_width + 2 + width + 2 + 7 + 2 + 3 + 2;
            let summary = plain(rule.summary);
            let room = terminal.width.saturating_sub(head);
            if room < NARROW {
                let head = format!("  {:<code_width$}  {:<width$}  {severity}  {fix}", rule.code, rule.name);
                writeln!(out, "{}", head.trim_end())?;
                let indent = 2 + code_width + 2;
                for line in wrap(&summary, terminal.width.saturating_sub(indent)) {
                    writeln!(out, "{:indent$}{line}", "")?;
                }
                continue;
            }
            for (index, line) in wrap(&summary, room).iter().enumerate() {
                if index == 0 {
                    writeln!(out, "  {:<code_width$}  {:<width$}  {severity}  {fix}  {line}", rule.code, rule.name)?;
                } else {
                    writeln!(out, "{:head$}{line}", "")?;
                }
            }
        }
        writeln!(out)?;
    }
    writeln!(out, "{}; `rules CODE` shows one", count(rules.len(), "rule", "rules"))
}

/// What the rule requires, after its other properties.
fn needs(rule: &RuleInfo) -> String {
    let needs: Vec<&str> = rule.needs.iter().map(|need| need.title()).collect();
    if needs.is_empty() { String::new() } else { format!(", needs {}", needs.join(" and ")) }
}

/// A text without Markdown's code marks.
fn plain(text: &str) -> String {
    text.trim().replace('`', "")
}

/// Writes the documentation of a rule, with its example and the output for it, if there is one.
pub(crate) fn one(
    out: &mut dyn Write,
    terminal: Terminal,
    rule: &RuleInfo,
    example: Option<(&str, &str)>,
) -> io::Result<()> {
    let severity = terminal.paint(role(rule.severity), rule.severity.as_str());
    let fix = if rule.fixes { ", offers a fix" } else { "" };
    writeln!(out, "{} {}", terminal.paint(Role::Strong, rule.code), terminal.paint(Role::Strong, rule.name))?;
    writeln!(out, "{severity}, theme: {}{fix}{}\n", rule.theme(), needs(rule))?;
    for line in wrap(&plain(rule.summary), terminal.width) {
        writeln!(out, "{line}")?;
    }
    let mut code = false;
    let mut paragraph = String::new();
    for line in rule.docs.lines().chain([""]) {
        let line = line.strip_prefix(' ').unwrap_or(line);
        let fence = line.trim_start().starts_with("```");
        let special = code || fence || line.trim().is_empty() || line.starts_with(['#', '-', '*', '|', ' ']);
        if special && !paragraph.is_empty() {
            for part in wrap(&paragraph, terminal.width) {
                writeln!(out, "{part}")?;
            }
            paragraph.clear();
        }
        if fence {
            code = !code;
        } else if code {
            writeln!(out, "    {line}")?;
        } else if let Some(heading) = line.strip_prefix("# ") {
            writeln!(out, "{}", terminal.paint(Role::Strong, heading))?;
        } else if special {
            writeln!(out, "{}", line.trim_end())?;
        } else {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(line.trim());
        }
    }
    if let Some((yaml, output)) = example {
        writeln!(out, "{}", terminal.paint(Role::Strong, "Example"))?;
        for line in yaml.trim_end().lines() {
            writeln!(out, "    {line}")?;
        }
        writeln!(out, "\n{}\n{output}\n", terminal.paint(Role::Strong, "Output of lint"))?;
    }
    writeln!(
        out,
        "{}",
        terminal.paint(Role::Dim, format!("Suppress one: # envoyfilter:ignore {} and the reason", rule.code))
    )
}

/// Writes rules as JSON.
pub(crate) fn json(out: &mut dyn Write, rules: &[&'static Rule]) -> io::Result<()> {
    let rules: Vec<Value> = rules
        .iter()
        .map(|rule| {
            json!({
                "code": rule.code,
                "name": rule.name,
                "theme": rule.theme(),
                "severity": rule.severity.as_str(),
                "fixes": rule.fixes,
                "needs": rule.needs.iter().map(|need| need.title()).collect::<Vec<_>>(),
                "summary": rule.summary.trim(),
                "documentation": rule.documentation(),
            })
        })
        .collect();
    super::json(out, &json!({"apiVersion": super::findings::API_VERSION, "kind": "RuleList", "rules": rules}))
}

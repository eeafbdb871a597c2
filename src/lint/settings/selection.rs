//! Which rules run, and their severities: selectors such as `EF3`, `EF301` or a rule's name.

use crate::lint::check::Rule;
use crate::lint::rule::RuleInfo;
use crate::source::ErrorMessage;

/// A word that selects rules: `all`, a prefix of a code (`EF`, `EF3`, `EF301`), a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    word: String,
    weight: usize,
}

impl Selector {
    /// Reads a selector; if it selects no rule, fails with the nearest one that would.
    pub(crate) fn new(word: &str, rules: &[&'static Rule]) -> Result<Selector, ErrorMessage> {
        let code = word.to_ascii_uppercase();
        if word.eq_ignore_ascii_case("all") {
            return Ok(Selector { word: String::new(), weight: 0 });
        }
        if let Some(rule) = rules.iter().find(|rule| rule.name == word) {
            return Ok(Selector { word: rule.code.to_owned(), weight: rule.code.len() });
        }
        if code.len() > 1 && rules.iter().any(|rule| rule.code.starts_with(&code)) {
            return Ok(Selector { weight: code.len(), word: code });
        }
        Err(match nearest(word, rules) {
            Some(near) => format!("no rule is named `{word}`; the nearest is {near}").into(),
            None => format!("no rule is named `{word}`; `rules` lists them").into(),
        })
    }

    /// How exactly a rule is selected; `None` if it is not.
    pub(crate) fn weight(&self, rule: &RuleInfo) -> Option<usize> {
        rule.code.starts_with(&self.word).then_some(self.weight)
    }
}

/// The rule with the code or name nearest to an unknown word.
pub(crate) fn nearest(word: &str, rules: &[&'static Rule]) -> Option<String> {
    let lower = word.to_ascii_lowercase();
    let best = rules.iter().map(|rule| {
        let name = strsim::jaro_winkler(&lower, rule.name);
        let code = strsim::jaro_winkler(&word.to_ascii_uppercase(), rule.code);
        (rule, name.max(if word.len() == 5 { code } else { 0.0 }))
    });
    let best = best.max_by(|left, right| left.1.total_cmp(&right.1))?;
    (best.1 > 0.82).then(|| format!("{} ({})", best.0.code, best.0.name))
}

/// Whether a rule is selected: the most exact selector decides; at equal weight, the one that ignores.
pub(crate) fn selected(rule: &RuleInfo, select: &[Selector], ignore: &[Selector]) -> bool {
    let weight = |selectors: &[Selector]| selectors.iter().filter_map(|one| one.weight(rule)).max();
    let wanted = if select.is_empty() { Some(0) } else { weight(select) };
    match (wanted, weight(ignore)) {
        (Some(wanted), Some(ignored)) => wanted > ignored,
        (wanted, _) => wanted.is_some(),
    }
}

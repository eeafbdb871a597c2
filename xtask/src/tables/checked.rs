//! Checks the hand-written tables as far as the store allows.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    History,
    api::{MemberFacts, is_own},
    cell,
};

/// Describes what is wrong with a table.
type Check = fn(&History, &[Vec<&str>]) -> Vec<String>;

pub(super) const CHECKS: [(&str, Check); 3] =
    [("moved_types.tsv", moved_types), ("deprecations.tsv", deprecations), ("extensions.tsv", extensions)];

/// Messages of extensions without Go code, which are therefore in no set.
const WITHOUT_DESCRIPTOR: [&str; 1] = [
    // Only in Envoy 1.38; 1.39 and Istio have it as envoy.extensions.network_filters.peer_metadata.Config.
    "envoy.extensions.filters.network.peer_metadata.v3.Config",
];

/// Message, successor, first minor without it.
fn moved_types(history: &History, rows: &[Vec<&str>]) -> Vec<String> {
    let (first, last) = history.minors();
    let mut last_seen: BTreeMap<&str, u16> = BTreeMap::new();
    for (&minor, api) in &history.envoy {
        last_seen.extend(api.messages.keys().filter(|name| is_own(name)).map(|name| (name.as_str(), minor)));
    }
    let mut wrong = keys(rows);
    let mut listed = BTreeSet::new();
    for row in rows {
        let (name, successor, gone) = (cell(row, 0), cell(row, 1), cell(row, 2));
        listed.insert(name);
        match last_seen.get(name) {
            Some(&seen) if seen == last => wrong.push(format!("{name} is in Envoy 1.{last}")),
            Some(seen) if gone != (seen + 1).to_string() => {
                wrong.push(format!("{name}: `{gone}`, but Envoy 1.{seen} is the last with it"));
            }
            None if gone.parse().is_ok_and(|gone: u16| gone > first) || gone.parse::<u16>().is_err() => {
                wrong.push(format!("{name}: `{gone}`, but no Envoy from 1.{first} on has it"));
            }
            _ => {}
        }
        if !successor.is_empty() && last_seen.get(successor) != Some(&last) {
            wrong.push(format!("{name}: its successor {successor} is not in Envoy 1.{last}"));
        }
    }
    for (name, &seen) in last_seen.iter().filter(|&(name, &seen)| seen < last && !listed.contains(name)) {
        // Messages inside another message are removed with it.
        let outer = name.rsplit_once('.').and_then(|(outer, _)| last_seen.get(outer));
        if outer != Some(&seen) {
            wrong.push(format!("{name} is missing: Envoy 1.{seen} is the last with it"));
        }
    }
    wrong
}

/// Field or enum value, minor that deprecated it, that disallowed it, that removed it, replacement.
fn deprecations(history: &History, rows: &[Vec<&str>]) -> Vec<String> {
    let (first, last) = history.minors();
    let mut lives: BTreeMap<&str, Life> = BTreeMap::new();
    for (&minor, api) in &history.envoy {
        for (name, &facts) in api.members.iter().filter(|(name, _)| is_own(name)) {
            lives.entry(name).or_default().see(minor, facts);
        }
    }
    let mut wrong = keys(rows);
    let mut listed = BTreeSet::new();
    for row in rows {
        let name = cell(row, 0);
        listed.insert(name);
        let Some(life) = lives.get(name) else {
            wrong.push(format!("{name}: no Envoy from 1.{first} on has it"));
            continue;
        };
        let columns =
            [("deprecated", life.deprecated), ("disallowed", life.disallowed), ("removed", life.removed(last))];
        for ((what, shown), index) in columns.into_iter().zip(1..) {
            let said = cell(row, index);
            if !agrees(said, shown, first) {
                wrong.push(format!("{name}: {what} `{said}`, but {}", in_words(shown, first)));
            }
        }
        wrong.extend(instead(history, row));
    }
    for (name, life) in lives.iter().filter(|(name, _)| !listed.contains(*name)) {
        if life.deprecated.or(life.disallowed).or(life.removed(last)).is_some() {
            let [deprecated, disallowed, removed] =
                [life.deprecated, life.disallowed, life.removed(last)].map(|shown| in_words(shown, first));
            wrong.push(format!(
                "{name} is missing: deprecated {deprecated}, disallowed {disallowed}, removed {removed}"
            ));
        }
    }
    wrong
}

/// The history of a field or enum value in the releases.
#[derive(Default)]
struct Life {
    /// The newest minor with it.
    seen: u16,
    /// The minor since which it has always been deprecated. A temporary deprecation does not count.
    deprecated: Option<u16>,
    disallowed: Option<u16>,
}

impl Life {
    /// Adds a minor newer than the previous ones.
    fn see(&mut self, minor: u16, facts: MemberFacts) {
        self.seen = minor;
        self.deprecated = facts.deprecated.then(|| self.deprecated.unwrap_or(minor));
        self.disallowed = facts.disallowed.then(|| self.disallowed.unwrap_or(minor));
    }

    fn removed(&self, last: u16) -> Option<u16> {
        (self.seen < last).then_some(self.seen + 1)
    }
}

/// Whether a cell (`23`, `<19` for 19 or earlier, empty for never) agrees with the releases. The state in the oldest
/// known release may have begun in any earlier one.
fn agrees(said: &str, shown: Option<u16>, first: u16) -> bool {
    let earlier = said.strip_prefix('<').map(str::parse::<u16>);
    match (shown, earlier) {
        (None, _) => said.is_empty(),
        (Some(shown), Some(said)) => shown == first && said.is_ok_and(|said| said <= first),
        (Some(shown), None) => said.parse().is_ok_and(|said: u16| said == shown || shown == first && said < first),
    }
}

fn in_words(shown: Option<u16>, first: u16) -> String {
    match shown {
        None => "never".to_owned(),
        Some(minor) if minor == first => format!("in 1.{first} or earlier"),
        Some(minor) => format!("in 1.{minor}"),
    }
}

/// Whether names in backticks exist in the newest Envoy: messages by their full names and, if the text begins with a
/// field path and does not say that it belongs to something else, its first field, next to the old one.
fn instead(history: &History, row: &[&str]) -> Vec<String> {
    let (name, text) = (cell(row, 0), cell(row, 4));
    let Some(newest) = history.envoy.values().next_back() else { return Vec::new() };
    let mut wrong = Vec::new();
    let mut rest = text;
    while let Some((code, after)) = rest.split_once('`').and_then(|(_, rest)| rest.split_once('`')) {
        let short = code.rsplit('.').next().unwrap_or_default();
        let known = if code.starts_with("envoy.") {
            !short.starts_with(|first: char| first.is_ascii_uppercase()) || newest.messages.contains_key(code)
        } else if text.starts_with('`') && rest.len() == text.len() && !after.starts_with(" of ") {
            let message = name.rsplit_once('.').map_or("", |(message, _)| message);
            let field = code.split(['.', ':']).next().unwrap_or_default();
            newest.members.contains_key(&format!("{message}.{field}"))
        } else {
            true
        };
        if !known {
            wrong.push(format!("{name}: there is no `{code}`"));
        }
        rest = after;
    }
    wrong
}

/// Extension, core or contrib, status, Istio minors, categories, messages: checks the messages.
fn extensions(history: &History, rows: &[Vec<&str>]) -> Vec<String> {
    let known =
        |message: &str| history.envoy.values().chain(&history.istiod).any(|api| api.messages.contains_key(message));
    let mut wrong = Vec::new();
    for row in rows {
        for message in cell(row, 5).split(',').filter(|message| !message.is_empty()) {
            match (known(message), WITHOUT_DESCRIPTOR.contains(&message)) {
                (false, false) => wrong.push(format!("{}: no set has {message}", cell(row, 0))),
                (true, true) => wrong.push(format!("{message} has a descriptor by now")),
                _ => {}
            }
        }
    }
    wrong
}

/// The names in the first column must be sorted.
fn keys(rows: &[Vec<&str>]) -> Vec<String> {
    let pairs = rows.windows(2).filter(|pair| cell(&pair[0], 0) >= cell(&pair[1], 0));
    pairs.map(|pair| format!("{} comes after {}", cell(&pair[1], 0), cell(&pair[0], 0))).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            api::{MessageProto, build},
            rows,
        },
        *,
    };

    /// Envoy 1.26 and the ones after it.
    fn history(releases: Vec<Vec<MessageProto>>) -> History {
        let envoy = (26..).zip(releases.into_iter().map(|messages| build::api("envoy.v3", messages)));
        History { envoy: envoy.collect(), istiod: Vec::new() }
    }

    fn check(check: Check, history: &History, lines: &str) -> Vec<String> {
        check(history, &rows(&format!("# head\n{lines}")))
    }

    fn three(fields: [&[(&str, &str)]; 3]) -> History {
        history(fields.iter().map(|fields| vec![build::message("M", fields)]).collect())
    }

    #[test]
    fn messages_leave_exactly_when_the_table_says() {
        let outer = || MessageProto { messages: vec![build::message("Inner", &[])], ..build::message("Outer", &[]) };
        let kept = |inner: bool| MessageProto {
            messages: if inner { vec![build::message("Inner", &[])] } else { Vec::new() },
            ..build::message("Kept", &[])
        };
        let history = history(vec![vec![outer(), kept(true)], vec![outer(), kept(true)], vec![kept(false)]]);
        let good =
            "envoy.v3.Ancient\tenvoy.v3.Kept\t20\nenvoy.v3.Kept.Inner\t\t28\nenvoy.v3.Outer\tenvoy.v3.Kept\t28\n";
        assert_eq!(check(moved_types, &history, good), [""; 0]);
        let bad = "envoy.v3.Ancient\t\t27\nenvoy.v3.Kept\t\t28\nenvoy.v3.Outer\tenvoy.v3.Outer.Inner\t27\n";
        assert_eq!(
            check(moved_types, &history, bad),
            [
                "envoy.v3.Ancient: `27`, but no Envoy from 1.26 on has it",
                "envoy.v3.Kept is in Envoy 1.28",
                "envoy.v3.Outer: `27`, but Envoy 1.27 is the last with it",
                "envoy.v3.Outer: its successor envoy.v3.Outer.Inner is not in Envoy 1.28",
                "envoy.v3.Kept.Inner is missing: Envoy 1.27 is the last with it",
            ]
        );
    }

    #[test]
    fn deprecations_have_exactly_the_release_that_the_descriptors_show() {
        let history = three([
            &[("early", "deprecated"), ("gone", ""), ("later", ""), ("while", "deprecated")],
            &[("early", "deprecated"), ("gone", ""), ("later", "deprecated"), ("while", "")],
            &[("early", "deprecated"), ("later", "deprecated disallowed"), ("while", ""), ("plain", "")],
        ]);
        let good = "envoy.v3.M.early\t<19\nenvoy.v3.M.gone\t\t\t28\nenvoy.v3.M.later\t27\t28\t\t`plain`\n";
        assert_eq!(check(deprecations, &history, good), [""; 0]);
        let bad = "envoy.v3.M.early\t27\nenvoy.v3.M.later\t<27\t27\t28\t`nothing.like_it`\nenvoy.v3.M.never\t26\n";
        assert_eq!(
            check(deprecations, &history, bad),
            [
                "envoy.v3.M.early: deprecated `27`, but in 1.26 or earlier",
                "envoy.v3.M.later: deprecated `<27`, but in 1.27",
                "envoy.v3.M.later: disallowed `27`, but in 1.28",
                "envoy.v3.M.later: removed `28`, but never",
                "envoy.v3.M.later: there is no `nothing.like_it`",
                "envoy.v3.M.never: no Envoy from 1.26 on has it",
                "envoy.v3.M.gone is missing: deprecated never, disallowed never, removed in 1.28",
            ]
        );
        let plain = "envoy.v3.M.early\t26\nenvoy.v3.M.gone\t\t\t28\nenvoy.v3.M.later\t27\t28\nenvoy.v3.M.plain\t28\n";
        assert_eq!(check(deprecations, &history, plain), ["envoy.v3.M.plain: deprecated `28`, but never"]);
    }

    #[test]
    fn what_to_write_instead_exists() {
        let history = three([&[("a", "deprecated"), ("b", "")]; 3]);
        let with = |text: &str| check(deprecations, &history, &format!("envoy.v3.M.a\t20\t\t\t{text}\n"));
        for good in
            ["`b.c`", "`b: TRUE`", "`b` with `envoy.v3.M`", "`x.y` of another", "the filter `envoy.filters.http.x`"]
        {
            assert_eq!(with(good), [""; 0], "{good}");
        }
        assert_eq!(with("`c`"), ["envoy.v3.M.a: there is no `c`"]);
        assert_eq!(with("`b` with `envoy.v3.N`"), ["envoy.v3.M.a: there is no `envoy.v3.N`"]);
    }

    #[test]
    fn messages_of_extensions_have_to_be_in_a_set() {
        let mut history = three([&[], &[], &[]]);
        history.istiod.push(build::api("istio", vec![build::message("Own", &[])]));
        let lines =
            "envoy.x\tcore\tstable\t18-\tenvoy.filters.http\tenvoy.v3.M,istio.Own,envoy.v3.Nope\nenvoy.y\tcore\n";
        assert_eq!(check(extensions, &history, lines), ["envoy.x: no set has envoy.v3.Nope"]);
    }

    #[test]
    fn keys_rise_and_are_there_once() {
        let text = "# head\na\nc\nb\nb\n";
        assert_eq!(keys(&rows(text)), ["b comes after c", "b comes after b"]);
    }
}

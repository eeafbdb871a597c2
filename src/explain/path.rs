//! Paths to a field of a resource, as users write them, and where they lead.

use crate::model::resource::ResourceKind;
use crate::proto::tree::{TYPE_KEY, Tree};

/// A place in a resource, to be found again in another configuration.
#[derive(Clone, Debug)]
pub struct Spot {
    pub(super) kind: ResourceKind,
    pub(super) resource: String,
    pub(super) steps: Vec<Step>,
}

impl Spot {
    /// The place as text: kind, resource and path.
    pub fn text(&self) -> String {
        format!("{}/{}/{}", self.kind.as_str(), self.resource, written(&self.steps))
    }

    /// Whether a name occurs in the name of the resource or in the path.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        self.resource.contains(name) || written(&self.steps).contains(name)
    }
}

/// One step of a path, with everything needed to find it in another version of the resource.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Key(String),
    Item { index: usize, name: String },
}

/// Follows a path as the user wrote it. If the path ends too early, returns the names that exist there.
pub(super) fn walk<'t, 'a>(mut tree: &'t Tree<'a>, path: &str) -> Result<(Vec<Step>, &'t Tree<'a>), Vec<String>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let (step, next, left) = step(tree, rest).ok_or_else(|| names(tree))?;
        steps.push(step);
        (tree, rest) = (next, left);
    }
    Ok((steps, tree))
}

/// The step at the start of a text. Keys may contain dots, so the longest existing key wins.
fn step<'t, 'a, 'p>(tree: &'t Tree<'a>, text: &'p str) -> Option<(Step, &'t Tree<'a>, &'p str)> {
    let text = text.trim_start_matches(['/', '.']);
    if let Some(inner) = text.strip_prefix('[') {
        let (inner, left) = inner.split_once(']')?;
        let inner = inner.trim_matches('"');
        return if tree.items().is_empty() { key(tree, inner, left) } else { item(tree, inner, left) };
    }
    if !tree.items().is_empty() {
        let end = text.find(['/']).unwrap_or(text.len());
        let (word, left) = text.split_at(end);
        return item(tree, word, left).or_else(|| {
            let end = text.find(['/', '.', '[']).unwrap_or(text.len());
            let (word, left) = text.split_at(end);
            item(tree, word, left)
        });
    }
    let ends = text.match_indices(['/', '.', '[']).map(|(at, _)| at).chain([text.len()]);
    let mut ends: Vec<usize> = ends.collect();
    ends.reverse();
    ends.into_iter().find_map(|end| {
        let (word, left) = text.split_at(end);
        key(tree, word, left)
    })
}

fn key<'t, 'a, 'p>(tree: &'t Tree<'a>, word: &str, left: &'p str) -> Option<(Step, &'t Tree<'a>, &'p str)> {
    let found = tree.get(word).map(|value| (word.to_owned(), value)).or_else(|| {
        let name = snake(word);
        tree.get(&name).map(|value| (name, value))
    });
    found.map(|(name, value)| (Step::Key(name), value, left))
}

fn item<'t, 'a, 'p>(tree: &'t Tree<'a>, word: &str, left: &'p str) -> Option<(Step, &'t Tree<'a>, &'p str)> {
    let index = match word.parse::<usize>() {
        Ok(index) => index,
        Err(_) => tree.items().iter().position(|item| item.name() == word)?,
    };
    let item = tree.items().get(index)?;
    Some((Step::Item { index, name: item.name().to_owned() }, item, left))
}

pub(super) fn names(tree: &Tree<'_>) -> Vec<String> {
    let keys = tree.entries().iter().map(|(key, _)| key.to_string());
    let items = tree.items().iter().enumerate().map(|(index, item)| match item.name() {
        "" => format!("[{index}]"),
        name => format!("[{name}]"),
    });
    keys.filter(|key| key != TYPE_KEY).chain(items).collect()
}

/// The same place in another version of the resource, matching list items by name if they have one.
pub(super) fn follow<'t, 'a>(tree: &'t Tree<'a>, steps: &[Step]) -> Option<&'t Tree<'a>> {
    steps.iter().try_fold(tree, |tree, step| match step {
        Step::Key(key) => tree.get(key),
        Step::Item { index, name } if name.is_empty() => tree.items().get(*index),
        Step::Item { index, name } => {
            let same = tree.items().get(*index).filter(|item| item.name() == name);
            same.or_else(|| tree.items().iter().find(|item| item.name() == name))
        }
    })
}

pub(super) fn step_of_key(key: &str) -> String {
    if key.contains('.') { format!("[\"{key}\"]") } else { format!(".{key}") }
}

/// A listener can have several filter chains of the same name, so chains are numbered.
pub(super) fn step_of_item(index: usize, name: &str) -> String {
    if name.is_empty() { format!("[{index}]") } else { format!("[{name}]") }
}

pub(super) fn written(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            Step::Key(key) => text.push_str(&step_of_key(key)),
            Step::Item { index, .. } if text.ends_with("filter_chains") => text.push_str(&step_of_item(*index, "")),
            Step::Item { index, name } => text.push_str(&step_of_item(*index, name)),
        }
    }
    text.trim_start_matches('.').to_owned()
}

/// `connectTimeout` as `connect_timeout`.
fn snake(word: &str) -> String {
    let mut out = String::new();
    for c in word.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

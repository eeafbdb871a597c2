//! Who wrote a field: the origins in the patched tree, and what each patch did on the way.

use super::Explainer;
use super::path::{Spot, Step, follow, step_of_item, step_of_key, walk, written};
use super::view::{self, EffectKind};
use crate::engine::trace::{Effect, PatchId, Place};
use crate::engine::{self, unapply};
use crate::model::resource::ResourceKind;
use crate::proto::json::{self, Style};
use crate::proto::merge::ChangeKind;
use crate::proto::tree::{Origin, Tree, Value};
use crate::source::ErrorMessage;
use std::fmt::Write as _;
use std::sync::Arc;

/// A field as the user writes it: `cluster/NAME/connect_timeout`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    kind: ResourceKind,
    /// Name and path. Names may contain slashes, so a proxy's resources decide where the path starts.
    rest: String,
}

impl Asked {
    /// Parses a field. Fails with a message when the kind is unknown.
    pub(crate) fn parse(text: &str) -> Result<Asked, ErrorMessage> {
        let (kind, rest) = text.split_once('/').unwrap_or((text, ""));
        let kind = match kind.to_lowercase().as_str() {
            "listener" | "listeners" | "lds" => ResourceKind::Listener,
            "cluster" | "clusters" | "cds" => ResourceKind::Cluster,
            "route" | "routes" | "rds" => ResourceKind::Route,
            "extension" | "ecds" => ResourceKind::ExtensionConfig,
            other => {
                return Err(format!(
                    "`{other}` is not a kind of resource: a field starts with listener/, cluster/, route/ or extension/"
                )
                .into());
            }
        };
        if rest.is_empty() {
            return Err(format!("a field needs the name of a {0}: {0}/NAME/path", kind.as_str()).into());
        }
        Ok(Asked { kind, rest: rest.to_owned() })
    }
}

impl Explainer<'_, '_> {
    /// Names of the resources of the requested kind.
    pub(crate) fn resource_names(&self, asked: &Asked) -> Vec<String> {
        self.study.config.generated(asked.kind).map(|(_, resource)| resource.name.to_string()).collect()
    }

    /// The field on this proxy; `None` when the proxy has no such resource.
    pub(crate) fn field(&self, asked: &Asked) -> Option<view::Field> {
        let patched = &self.study.judged.patched.resources;
        let generated = self.study.config.generated(asked.kind).map(|(index, it)| (it.name.to_string(), Some(index)));
        let added = patched.iter().filter(|it| it.kind == asked.kind && it.source.is_none());
        let names = generated.chain(added.map(|it| (it.name.clone(), None)));
        // Of several matching names, use the longest.
        let fits =
            |name: &str| asked.rest.strip_prefix(name).is_some_and(|path| path.is_empty() || path.starts_with('/'));
        let (name, source) = names.filter(|(name, _)| fits(name)).max_by_key(|(name, _)| name.len())?;
        let path = asked.rest.get(name.len() + 1..).unwrap_or_default();
        let base = source.and_then(|index| engine::open(self.study.config, index, self.study.plan));
        let now = patched
            .iter()
            .find(|it| it.kind == asked.kind && it.source == source && (source.is_some() || it.name == name));
        let mut tree = match now {
            Some(now) => now.tree.as_ref().map(|tree| tree.once().into_owned()),
            None => base.clone(),
        };
        let mut field = view::Field {
            namespace: self.study.config.proxy.namespace.clone(),
            name: self.study.config.proxy.name.clone(),
            kind: asked.kind.as_str(),
            resource: name.clone(),
            path: path.to_owned(),
            control_plane: self.study.plan.compat.release.to_string(),
            live: None,
            value: None,
            writer: None,
            generated: None,
            made_by: None,
            spot: None,
            history: Vec::new(),
            inside: Vec::new(),
            candidates: Vec::new(),
        };
        if let Some(tree) = &mut tree {
            tree.open_all();
        }
        let mut base = base;
        if let Some(base) = &mut base {
            base.open_all();
        }
        // If a patch removed it, look for it in what istiod generated.
        let found = tree.as_ref().map(|tree| walk(tree, path));
        let old = base.as_ref().map(|tree| walk(tree, path));
        let steps = match (&found, &old) {
            (Some(Ok((steps, here))), _) => {
                field.value = Some(json::write(here, Style::Compact));
                field.writer = PatchId::of(here.origin).map(|id| self.patch_ref(id));
                self.inside(here, here.origin, &mut String::new(), &mut field.inside);
                steps.clone()
            }
            (_, Some(Ok((steps, _)))) => steps.clone(),
            (Some(Err(names)), _) | (None, Some(Err(names))) => {
                let last = path.rsplit(['/', '.', '[']).next().unwrap_or(path);
                let near = super::nearest(last, names);
                field.candidates = if near.is_empty() { names.clone() } else { near };
                return Some(field);
            }
            (None, None) => return Some(field),
        };
        field.generated = base.as_ref().and_then(|base| follow(base, &steps)).map(|it| json::write(it, Style::Compact));
        field.spot = Some(Spot { kind: asked.kind, resource: name.clone(), steps: steps.clone() });
        field.path = written(&steps);
        field.history = self.history(asked.kind, &name, &normal(&field.path));
        field.live = self.running.then(|| self.held(asked.kind, &name, &steps, tree.as_ref()));
        Some(field)
    }

    /// What istiod generates at a place that was found before; `None` for nothing.
    pub(crate) fn generated_at(&self, spot: &Spot) -> Option<String> {
        let (index, _) = self.study.config.generated(spot.kind).find(|(_, it)| it.name == spot.resource)?;
        let mut tree = engine::open(self.study.config, index, self.study.plan)?;
        tree.open_all();
        follow(&tree, &spot.steps).map(|found| json::write(found, Style::Compact))
    }

    /// What the running proxy contains at a path, compared with what the engine computes.
    fn held(&self, kind: ResourceKind, name: &str, steps: &[Step], computed: Option<&Tree<'_>>) -> view::Held {
        let refused = self.refusal(kind, name).map(str::to_owned);
        let resource = self.study.dump.generated(kind).find(|(_, it)| it.name == name);
        let tree = resource.and_then(|(index, _)| engine::open(self.study.dump, index, self.study.plan));
        let tree = tree.map(|mut tree| {
            tree.open_all();
            tree
        });
        let value = tree.as_ref().and_then(|tree| follow(tree, steps)).map(|it| json::write(it, Style::Compact));
        let as_computed = match (&tree, computed) {
            (Some(held), Some(computed)) => {
                unapply::agree((held, computed), kind, self.study.plan, |tree| follow(tree, steps))
            }
            (held, computed) => held.is_none() && computed.is_none(),
        };
        view::Held { value, as_computed, refused }
    }

    /// What patches wrote inside a value of another origin.
    fn inside(&self, tree: &Tree<'_>, around: Origin, path: &mut String, into: &mut Vec<view::Written>) {
        let chains = path.ends_with("filter_chains");
        let mut child = |step: &str, value: &Tree<'_>| {
            let mark = path.len();
            path.push_str(step);
            match PatchId::of(value.origin).filter(|_| value.origin != around) {
                Some(id) => into.push(view::Written {
                    path: path.trim_start_matches('.').to_owned(),
                    by: self.patch_ref(id),
                    value: json::write(value, Style::Compact),
                }),
                None => self.inside(value, around, path, into),
            }
            path.truncate(mark);
        };
        match &tree.value {
            Value::Map(entries) => entries.iter().for_each(|(key, value)| child(&step_of_key(key), value)),
            Value::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    child(&step_of_item(index, if chains { "" } else { item.name() }), item);
                }
            }
            _ => {}
        }
    }

    /// Every effect of a patch on the path or on something around it.
    fn history(&self, kind: ResourceKind, name: &str, path: &str) -> Vec<view::Step> {
        let mut steps = Vec::new();
        for id in self.study.plan.ids() {
            for (place, effect) in &self.study.judged.trace.patches[id.index()].effects {
                if place.kind != kind || *place.resource != *name {
                    continue;
                }
                let around = normal(&prefix(place));
                match effect {
                    Effect::Merged(changes) | Effect::TransportSocketMerged(changes, _) => {
                        for change in changes {
                            let there = join(&around, &normal(&change.path));
                            let effective = !matches!(change.kind, ChangeKind::Same | ChangeKind::CannotReset);
                            if effective && covers(&there, path) {
                                steps.push(view::Step {
                                    by: self.patch_ref(id),
                                    effect: EffectKind::Merged,
                                    before: change.before.clone(),
                                    after: change.after_text(),
                                });
                            }
                        }
                    }
                    _ => {
                        let kind = match effect {
                            Effect::Inserted { .. } => EffectKind::Inserted,
                            Effect::Replaced => EffectKind::Replaced,
                            Effect::Removed => EffectKind::Removed,
                            Effect::Added => EffectKind::Added,
                            _ => continue,
                        };
                        if covers(&around, path) {
                            steps.push(view::Step { by: self.patch_ref(id), effect: kind, before: None, after: None });
                        }
                    }
                }
            }
        }
        steps
    }
}

/// The path of a place inside its resource.
fn prefix(place: &Place) -> String {
    let mut path = String::new();
    match &place.chain {
        Some((Some(index), _)) => path = format!(".filter_chains[{index}]"),
        Some((None, _)) => ".default_filter_chain".clone_into(&mut path),
        None => {}
    }
    let mut push = |list: &str, name: &Option<Arc<str>>| {
        if let Some(name) = name {
            let _ = write!(path, ".{list}[{name}]");
        }
    };
    push("listener_filters", &place.listener_filter);
    push("filters", &place.filter);
    push("typed_config.http_filters", &place.sub_filter);
    if place.inline_route.is_some() {
        path.push_str(".typed_config.route_config");
    }
    if let Some(vhost) = &place.vhost {
        let _ = write!(path, ".virtual_hosts[{vhost}]");
    }
    if let Some((index, name)) = &place.route {
        path.push_str(".routes");
        path.push_str(&step_of_item(*index, name));
    }
    path.trim_start_matches('.').to_owned()
}

/// One spelling of map keys: `["a.b"]` as `.a.b`.
fn normal(path: &str) -> String {
    path.replace("[\"", ".").replace("\"]", "")
}

fn join(around: &str, path: &str) -> String {
    match (around.is_empty(), path.is_empty()) {
        (true, _) => path.to_owned(),
        (_, true) => around.to_owned(),
        _ => format!("{around}.{path}"),
    }
}

/// Whether a place is the path or contains it.
fn covers(place: &str, path: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| place.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Result<String, Vec<String>> {
        let tree = json::parse(
            r#"{"name":"x","filter_chains":[{"name":"c","filters":[{"name":"a.b","typed_config":{"k":1}}]}],"options":{"p.q/r":{"z":2}}}"#,
        )
        .unwrap();
        walk(&tree, text).map(|(steps, _)| written(&steps))
    }

    #[test]
    fn paths_lead_by_number_by_name_and_over_dots() {
        for text in [
            "filter_chains[0]/filters[0]/typed_config/k",
            "filterChains/0/filters/a.b/typedConfig/k",
            "filter_chains[c].filters[a.b].typed_config.k",
        ] {
            assert_eq!(path(text).unwrap(), "filter_chains[0].filters[a.b].typed_config.k", "{text}");
        }
        assert_eq!(path("options/p.q/r/z").unwrap(), "options[\"p.q/r\"].z");
        assert_eq!(path("").unwrap(), "");
        assert_eq!(path("filter_chains[7]").unwrap_err(), ["[c]"]);
        assert_eq!(path("nothing").unwrap_err(), ["name", "filter_chains", "options"]);
    }

    #[test]
    fn kinds_are_told() {
        assert_eq!(Asked::parse("Cluster/a/b/c").unwrap().rest, "a/b/c");
        assert!(Asked::parse("virtualInbound").unwrap_err().contains("listener/"));
        assert!(Asked::parse("listener/").unwrap_err().contains("listener/NAME"));
    }

    #[test]
    fn only_what_is_around_covers() {
        assert!(covers("a.b", "a.b.c") && covers("a", "a[0]") && covers("", "a"));
        assert!(!covers("a.b", "a.bc") && !covers("a.b", "a"));
    }
}

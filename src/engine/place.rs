//! Where a patch acts: an object of the configuration.

use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// An object of the configuration. Copies share its names: a run notes places more often than anything else.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(Arc<Names>);

/// The names of an object and of what contains it, as a match uses them. The names of what contains it are shared: a filter in a
/// hundred filter chains has as many places, each of which begins with those of others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Names {
    /// Listener, cluster, route configuration or extension configuration.
    pub kind: ResourceKind,
    /// Its name.
    pub resource: Arc<str>,
    /// Filter chain: its index and name (names are often empty); `None` index for the default filter chain.
    pub chain: Option<(Option<usize>, Arc<str>)>,
    /// Listener filter.
    pub listener_filter: Option<Arc<str>>,
    /// Network filter.
    pub filter: Option<Arc<str>>,
    /// HTTP filter.
    pub sub_filter: Option<Arc<str>>,
    /// Route configuration inside a listener.
    pub inline_route: Option<Arc<str>>,
    /// Virtual host.
    pub vhost: Option<Arc<str>>,
    /// Route: its index and name.
    pub route: Option<(usize, Arc<str>)>,
}

impl Deref for Place {
    type Target = Names;

    fn deref(&self) -> &Names {
        &self.0
    }
}

impl Place {
    /// A filter chain of a listener; `None` is its default one.
    pub(super) fn chain(listener: &Arc<str>, index: Option<usize>, chain: &Tree<'_>) -> Place {
        let names = Names::of_resource(ResourceKind::Listener, Arc::clone(listener));
        Place(Arc::new(Names { chain: Some((index, chain.name().into())), ..names }))
    }

    /// A listener filter.
    pub(super) fn listener_filter(listener: &Arc<str>, filter: &Tree<'_>) -> Place {
        let names = Names::of_resource(ResourceKind::Listener, Arc::clone(listener));
        Place(Arc::new(Names { listener_filter: Some(filter.name().into()), ..names }))
    }

    /// A network filter of a chain.
    pub(super) fn filter(chain: Option<&Place>, filter: &Tree<'_>) -> Place {
        Place::within(chain, ResourceKind::Listener, |names| names.filter = Some(filter.name().into()))
    }

    /// A whole resource.
    pub(crate) fn resource(kind: ResourceKind, name: impl Into<Arc<str>>) -> Place {
        Place(Arc::new(Names::of_resource(kind, name.into())))
    }

    /// A place in another one, or in a resource without a name.
    pub(super) fn within(outer: Option<&Place>, kind: ResourceKind, name: impl FnOnce(&mut Names)) -> Place {
        let mut names = outer.map_or_else(|| Names::of_resource(kind, Arc::default()), |outer| (**outer).clone());
        name(&mut names);
        Place(Arc::new(names))
    }

    /// The place with other names.
    pub(crate) fn with(&self, change: impl FnOnce(&mut Names)) -> Place {
        Place::within(Some(self), self.kind, change)
    }
}

impl Names {
    fn of_resource(kind: ResourceKind, name: Arc<str>) -> Names {
        Names {
            kind,
            resource: name,
            chain: None,
            listener_filter: None,
            filter: None,
            sub_filter: None,
            inline_route: None,
            vhost: None,
            route: None,
        }
    }
}

/// A name as it is shown.
fn shown(name: &str) -> &str {
    if name.is_empty() { "(no name)" } else { name }
}

impl Place {
    /// The innermost object alone, for a line that has no room for the whole place.
    pub(crate) fn innermost(&self) -> String {
        let vhost =
            || self.vhost.as_deref().map_or(String::new(), |vhost| format!(" of virtual host {}", shown(vhost)));
        let inner = [
            ("virtual host", &self.vhost),
            ("route configuration", &self.inline_route),
            ("HTTP filter", &self.sub_filter),
            ("filter", &self.filter),
            ("listener filter", &self.listener_filter),
        ];
        let named = inner.into_iter().find_map(|(word, name)| Some(format!("{word} {}", shown(name.as_deref()?))));
        match (&self.route, named, &self.chain) {
            (Some((index, name)), ..) if name.is_empty() => format!("route {index}{}", vhost()),
            (Some((_, name)), ..) => format!("route {name}"),
            (None, Some(named), _) => named,
            (None, None, Some((_, name))) if !name.is_empty() => format!("filter chain {name}"),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.kind.as_str(), shown(&self.resource))?;
        match &self.chain {
            Some((None, _)) => write!(out, " › default filter chain")?,
            Some((Some(index), chain)) if chain.is_empty() => write!(out, " › filter chain {index}")?,
            Some((Some(index), chain)) => write!(out, " › filter chain {index} {chain}")?,
            None => {}
        }
        for (word, part) in [
            ("listener filter", &self.listener_filter),
            ("filter", &self.filter),
            ("HTTP filter", &self.sub_filter),
            ("route configuration", &self.inline_route),
            ("virtual host", &self.vhost),
        ] {
            if let Some(part) = part {
                write!(out, " › {word} {}", shown(part))?;
            }
        }
        match &self.route {
            Some((index, route)) if route.is_empty() => write!(out, " › route {index}"),
            Some((index, route)) => write!(out, " › route {index} {route}"),
            None => Ok(()),
        }
    }
}

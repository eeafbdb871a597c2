//! How close a native object comes to a patch: classes, differences with their effects, and guards.

use std::fmt;

/// How a filter's configuration compares with that of the native objects, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// istiod generates the same configuration.
    Exact,
    /// Only names, order and metadata differ.
    SameBut,
    /// Behavior differs; the effect of every difference is listed.
    Differs,
    /// Some patches move; the rest stays as a smaller EnvoyFilter.
    Partly,
    /// No native object replaces it in the target release, or none without sidecars.
    NoHome,
}

impl Class {
    /// Every class, best first.
    pub const ALL: [Class; 5] = [Class::Exact, Class::SameBut, Class::Differs, Class::Partly, Class::NoHome];

    /// The name in JSON and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Exact => "exact",
            Class::SameBut => "same-but",
            Class::Differs => "differs",
            Class::Partly => "partly",
            Class::NoHome => "no-home",
        }
    }

    /// Its meaning, in one sentence.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Class::Exact => "istiod generates the same configuration",
            Class::SameBut => "only names, order and metadata differ",
            Class::Differs => "behavior differs; each difference is listed with its effect",
            Class::Partly => "some of it moves; the rest stays as a smaller EnvoyFilter",
            Class::NoHome => "no native object replaces it",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// The kind of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A name: log lines, statistics, anchors of other patches.
    Name,
    /// The position in a list.
    Position,
    /// Metadata and explicit defaults; no effect on traffic.
    Metadata,
    /// The treatment of requests.
    Behavior,
}

impl Kind {
    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Name => "name",
            Kind::Position => "position",
            Kind::Metadata => "metadata",
            Kind::Behavior => "behavior",
        }
    }
}

/// One difference between the configurations generated for the filter and for the native object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The kind.
    pub kind: Kind,
    /// Its effect, as a sentence.
    pub effect: String,
}

impl Difference {
    /// A difference.
    pub(crate) fn new(kind: Kind, effect: impl Into<String>) -> Difference {
        Difference { kind, effect: effect.into() }
    }
}

/// What a guard protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Concern {
    /// Proxies of other namespaces.
    Namespace,
    /// Proxies that the filter does not select.
    Selector,
    /// Ports, listeners and servers that the filter does not change.
    Ports,
    /// The other direction of a sidecar.
    Direction,
    /// TCP filter chains, which an HTTP patch does not change.
    TcpChains,
    /// Hosts, routes and route tables that the filter does not change.
    Routes,
    /// Existing objects that would be hidden or duplicated.
    Existing,
    /// Who may call: authentication.
    Authentication,
    /// Who may call: authorization.
    Authorization,
    /// TLS.
    Tls,
    /// The patch itself: its current effect is not known well enough.
    Patch,
}

impl Concern {
    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Concern::Namespace => "namespace",
            Concern::Selector => "selector",
            Concern::Ports => "ports",
            Concern::Direction => "direction",
            Concern::TcpChains => "tcp-chains",
            Concern::Routes => "routes",
            Concern::Existing => "existing-objects",
            Concern::Authentication => "authentication",
            Concern::Authorization => "authorization",
            Concern::Tls => "tls",
            Concern::Patch => "patch",
        }
    }
}

/// The result of a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// The native object reaches no more than the filter.
    Held,
    /// The input is not enough to decide; the class is lowered.
    Undecided,
    /// A security move that is not exact: written only if the user accepts such moves.
    Review,
    /// The native object would reach or allow more: never written.
    Broken,
}

impl State {
    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            State::Held => "held",
            State::Undecided => "undecided",
            State::Review => "review",
            State::Broken => "broken",
        }
    }
}

/// A guard and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// What it protects.
    pub concern: Concern,
    /// The result.
    pub state: State,
    /// Why, as a sentence.
    pub reason: String,
}

/// The class of one move, from its differences and guards.
pub(crate) fn class_of(differences: &[Difference], guards: &[Guard], rest: bool) -> Class {
    if rest {
        return Class::Partly;
    }
    if guards.iter().any(|guard| guard.state == State::Undecided || guard.state == State::Broken) {
        return Class::Differs;
    }
    match differences.iter().map(|one| one.kind).max() {
        None => Class::Exact,
        Some(Kind::Behavior) => Class::Differs,
        Some(_) => Class::SameBut,
    }
}

/// The class of a filter from those of its patches, each with whether it stays whatever the user accepts: if some stay and
/// some do not, it is partly.
pub(crate) fn together(patches: impl IntoIterator<Item = (Class, bool)>) -> Class {
    let (mut worst, mut any, mut all) = (None, false, true);
    for (class, stays) in patches {
        worst = worst.max(Some(class));
        any |= stays;
        all &= stays;
    }
    match worst {
        None => Class::NoHome,
        Some(_) if any && !all => Class::Partly,
        Some(worst) => worst,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(kind: Kind) -> Difference {
        Difference::new(kind, "x")
    }

    #[test]
    fn the_worst_difference_decides() {
        assert_eq!(class_of(&[], &[], false), Class::Exact);
        assert_eq!(class_of(&[difference(Kind::Name), difference(Kind::Metadata)], &[], false), Class::SameBut);
        assert_eq!(class_of(&[difference(Kind::Name), difference(Kind::Behavior)], &[], false), Class::Differs);
        assert_eq!(class_of(&[], &[], true), Class::Partly);
        let guard = |state| [Guard { concern: Concern::Ports, state, reason: String::new() }];
        assert_eq!(class_of(&[], &guard(State::Undecided), false), Class::Differs);
        assert_eq!(class_of(&[], &guard(State::Held), false), Class::Exact);
        assert_eq!(class_of(&[], &guard(State::Review), false), Class::Exact);
    }

    #[test]
    fn a_filter_is_partly_when_some_patches_stay() {
        use Class::{Differs, Exact, NoHome, Partly, SameBut};
        assert_eq!(together([(Exact, false), (SameBut, false)]), SameBut);
        assert_eq!(together([(Exact, false), (NoHome, true)]), Partly);
        assert_eq!(together([(Exact, false), (Differs, true)]), Partly);
        assert_eq!(together([(Exact, false), (Differs, false)]), Differs);
        assert_eq!(together([(Differs, true), (Differs, true)]), Differs);
        assert_eq!(together([(Differs, true), (NoHome, true)]), NoHome);
        assert_eq!(together([(Differs, false), (Partly, false)]), Partly);
        assert_eq!(together([]), NoHome);
    }
}

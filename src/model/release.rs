//! Istio releases, as `major.minor.patch`.

use crate::source::ErrorMessage;
use std::{fmt, str::FromStr};

/// The newest patch of each minor line, by Istio's tags up to 2026-08; the newest line has no patch yet.
const NEWEST_PATCHES: &[(u16, u16)] = &[
    (16, 7),
    (17, 8),
    (18, 7),
    (19, 10),
    (20, 8),
    (21, 6),
    (22, 8),
    (23, 6),
    (24, 6),
    (25, 5),
    (26, 8),
    (27, 9),
    (28, 10),
    (29, 6),
    (30, 3),
    (31, 0),
];

/// A release of Istio. Ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    /// Major number, 1.
    pub major: u16,
    /// Minor number.
    pub minor: u16,
    /// Patch number.
    pub patch: u16,
}

impl Release {
    /// The newest release the engine knows.
    pub const NEWEST: Release = Release::minor(31);
    /// The oldest release the engine is proven for.
    pub const OLDEST: Release = Release::minor(22);

    /// The first release of a minor line of Istio 1.
    pub const fn minor(minor: u16) -> Release {
        Release { major: 1, minor, patch: 0 }
    }

    /// The newest known patch of a minor line of Istio 1; for an unknown line, its first release.
    pub(crate) fn newest_of(minor: u16) -> Release {
        let known = NEWEST_PATCHES.iter().find(|(line, _)| *line == minor);
        Release::patch(minor, known.map_or(0, |(_, patch)| *patch))
    }

    /// Its name for users: `1.27.9`; `1.31` if the line has no patch yet.
    pub(crate) fn label(self) -> String {
        if self.major == 1 && self == Release::minor(self.minor) && Release::newest_of(self.minor) == self {
            return format!("{}.{}", self.major, self.minor);
        }
        self.to_string()
    }

    /// What users must know about an answer for a release that the engine does not know; `None` for a known one.
    pub(crate) fn caveat(self) -> Option<String> {
        let (oldest, newest) = (Release::OLDEST.minor, Release::NEWEST.minor);
        (self.major != 1 || !(oldest..=newest).contains(&self.minor)).then(|| {
            let Release { major, minor, .. } = self;
            format!("Istio {major}.{minor} is not a known release (1.{oldest} to 1.{newest}): the answer is a guess")
        })
    }

    /// A patch release of Istio 1.
    pub const fn patch(minor: u16, patch: u16) -> Release {
        Release { major: 1, minor, patch }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl FromStr for Release {
    type Err = ErrorMessage;

    /// Reads `1.26.3`, `v1.26.3`, `1.26-dev`, `1.30.3-distroless`. A minor release without a patch (`1.26`) means its newest
    /// known patch: releases of one line differ, and people who name the line run its latest patch.
    fn from_str(text: &str) -> Result<Release, ErrorMessage> {
        let bad = || format!("`{text}` is not an Istio release; write it as 1.26 or 1.26.3");
        let digits = text.trim().trim_start_matches('v');
        let digits = digits.split(['-', '+', '_']).next().unwrap_or_default();
        let mut parts = digits.split('.').map(str::parse::<u16>);
        let mut next = || parts.next().transpose().map_err(|_| bad());
        let (Some(major), Some(minor)) = (next()?, next()?) else { return Err(bad().into()) };
        Ok(match next()? {
            Some(patch) => Release { major, minor, patch },
            None if major == 1 => Release::newest_of(minor),
            None => Release { major, minor, patch: 0 },
        })
    }
}

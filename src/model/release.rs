//! Istio releases, as `major.minor.patch`.

use std::{fmt, str::FromStr};

/// A release of Istio. Ordered; a missing patch number counts as 0.
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
    type Err = String;

    /// Reads `1.26`, `1.26.3`, `v1.26.3`, `1.26-dev`, `1.30.3-distroless`.
    fn from_str(text: &str) -> Result<Release, String> {
        let bad = || format!("`{text}` is not an Istio release; write it as 1.26 or 1.26.3");
        let digits = text.trim().trim_start_matches('v');
        let digits = digits.split(['-', '+', '_']).next().unwrap_or_default();
        let mut parts = digits.split('.').map(str::parse::<u16>);
        let mut next = || parts.next().transpose().map_err(|_| bad());
        let (Some(major), Some(minor)) = (next()?, next()?) else { return Err(bad()) };
        let patch = next()?.unwrap_or(0);
        Ok(Release { major, minor, patch })
    }
}

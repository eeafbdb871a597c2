//! What requests through a real Envoy show of a patch.

use crate::engine::PatchId;
use serde::{Deserialize, Serialize};

/// Something that a request shows of a patch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sight {
    /// The patch.
    pub patch: PatchId,
    /// The request, as options and arguments of `try`.
    pub request: String,
    /// What it shows.
    pub shows: Shows,
}

/// What a request can show.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Shows {
    /// A script fails.
    ScriptFails {
        /// The HTTP filter that runs it.
        filter: String,
        /// Envoy's words.
        words: String,
        /// Whether it fails on the response.
        response: bool,
    },
    /// A limit is met by more requests than it allows, and limits none of them.
    NeverLimits {
        /// The filter.
        filter: String,
        /// Whether it is a network filter.
        #[serde(default, skip_serializing_if = "is_false")]
        network: bool,
        /// The descriptor whose bucket it is; `None` for the bucket of all requests.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        descriptor: Option<String>,
        /// How many requests met it.
        requests: u64,
        /// How many it allows; `None` where a service decides, which was never asked.
        tokens: Option<u64>,
    },
    /// Requests pass a filter that is to ask for authorization, and it asks nobody.
    NeverAsks {
        /// The filter.
        filter: String,
        /// Whether it is a network filter.
        #[serde(default, skip_serializing_if = "is_false")]
        network: bool,
        /// How many requests met it.
        requests: u64,
        /// Whether it is a token that it does not ask for, rather than a service.
        token: bool,
    },
    /// A limit has a bucket for a descriptor that the route of a request gives to none.
    NoDescriptor {
        /// The HTTP filter.
        filter: String,
        /// The descriptor.
        descriptor: String,
        /// The descriptors that the route gives.
        written: Vec<String>,
    },
    /// A route has a setting for an HTTP filter that its filter chain does not have.
    NoFilter {
        /// Key of the setting.
        key: String,
        /// Names of the HTTP filters that the chain has.
        filters: Vec<String>,
    },
    /// A setting is replaced by one that stands nearer to the route.
    Overridden {
        /// Key of the setting.
        key: String,
        /// Where the nearer one stands.
        by: String,
    },
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// What requests to one proxy showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// What is wrong.
    pub sights: Vec<Sight>,
    /// How many requests were sent.
    pub requests: usize,
    /// Patches that no request met.
    pub unmet: Vec<PatchId>,
    /// What else is not known, as sentences.
    pub unknown: Vec<String>,
}

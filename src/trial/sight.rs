//! What requests through a real Envoy show about a patch.

use crate::engine::PatchId;
use serde::{Deserialize, Serialize};

/// Something that a request shows about a patch.
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
        /// The line of the script, from 1.
        line: usize,
        /// Envoy's words.
        words: String,
        /// Whether it fails on the response.
        response: bool,
    },
    /// More requests reach a limit than it allows, and none of them is limited.
    NeverLimits {
        /// The filter.
        filter: String,
        /// Whether it is a network filter.
        #[serde(default, skip_serializing_if = "is_false")]
        network: bool,
        /// The descriptor of the bucket; `None` for the bucket of all requests.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        descriptor: Option<String>,
        /// How many requests reached it.
        requests: u64,
        /// How many it allows; `None` when a service decides, which was never asked.
        tokens: Option<u64>,
    },
    /// Requests pass a filter that should ask for authorization, and it asks no service.
    NeverAsks {
        /// The filter.
        filter: String,
        /// Whether it is a network filter.
        #[serde(default, skip_serializing_if = "is_false")]
        network: bool,
        /// How many requests reached it.
        requests: u64,
        /// Whether it should require a token rather than ask a service.
        token: bool,
    },
    /// A limit has a bucket for a descriptor that the request's route does not produce.
    NoDescriptor {
        /// The HTTP filter.
        filter: String,
        /// The descriptor.
        descriptor: String,
        /// The descriptors that the route produces.
        written: Vec<String>,
    },
    /// A route has a setting for an HTTP filter that its filter chain does not contain.
    NoFilter {
        /// Key of the setting.
        key: String,
        /// Names of the HTTP filters that the chain has.
        filters: Vec<String>,
    },
    /// A setting is replaced by one nearer to the route.
    Overridden {
        /// Key of the setting.
        key: String,
        /// Where the nearer one is.
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
    /// Patches that no request reached.
    pub unmet: Vec<PatchId>,
    /// What else is unknown, as sentences.
    pub unknown: Vec<String>,
}

//! Asks a real Envoy about the patched configuration, and finds the patch it refuses.
//!
//! The engine knows what istiod sends. A resource that patches changed is turned into one that a lone Envoy can accept
//! ([`neutral`]) and sent the way istiod sends it, as an update of a running process ([`process`]). A refusal is attributed to
//! a patch by sending the resource again without the others ([`blame`]).

#![allow(clippy::disallowed_methods, reason = "Envoy reads its configuration from files")]

pub(crate) mod admin;
pub(crate) mod blame;
pub(crate) mod neutral;
pub(crate) mod process;
mod sight;
pub(crate) mod sockets;

pub use blame::{Refusal, Subject, Tried, ask};
pub use sight::{Observed, Shows, Sight};

use crate::engine::PatchId;
use crate::envoy::api::envoy_of;
use crate::model::release::Release;
use crate::model::resource::ResourceKind;
use crate::process::Fault;
use crate::proto::json::{self, Style};
use crate::proto::schema::Schema;
use crate::proto::tree::Tree;
use crate::proto::wire;
use neutral::{Neutral, Pair};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::path::Path;

/// Why an Envoy gives no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What happened.
    pub message: String,
    /// Whether the program is not an Envoy at all, which is an error of the command line.
    pub usage: bool,
}

impl Trouble {
    fn new(message: impl Into<String>) -> Trouble {
        Trouble { message: message.into(), usage: false }
    }

    fn usage(message: impl Into<String>) -> Trouble {
        Trouble { message: message.into(), usage: true }
    }
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Trouble {
        Trouble { message: fault.to_string(), usage: fault.is_usage() }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

/// What Envoy answers to an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Accepted.
    Accepted,
    /// Refused, with Envoy's reason.
    Refused(String),
}

/// A version of Envoy, as `--version` gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Such as `1.39.3`, with the suffix of a build: `1.39.3-dev`.
    pub text: String,
    /// The middle number.
    pub minor: u16,
}

/// The configuration types that an Envoy is built with, each with the categories of its extensions.
#[derive(Clone, Debug, Default)]
pub struct Known {
    types: BTreeMap<String, BTreeSet<String>>,
}

impl Known {
    /// What an Envoy reports about itself in the node of its bootstrap (`/config_dump`).
    #[cfg(feature = "sandbox")]
    pub(crate) fn of_dump(dump: &serde_json::Value) -> Known {
        let mut known = Known::default();
        let sections = dump["configs"].as_array().into_iter().flatten();
        for extension in sections.filter_map(|it| it["bootstrap"]["node"]["extensions"].as_array()).flatten() {
            let category = extension["category"].as_str().unwrap_or_default();
            let messages = extension["type_urls"].as_array().into_iter().flatten();
            messages.filter_map(serde_json::Value::as_str).for_each(|message| known.add(message, category));
        }
        known
    }

    fn add(&mut self, message: &str, category: &str) {
        self.types.entry(message.to_owned()).or_default().insert(category.to_owned());
    }

    /// Whether an extension is configured with this message.
    pub fn has(&self, message: &str) -> bool {
        self.types.contains_key(message)
    }

    fn in_category(&self, message: &str, category: &str) -> bool {
        self.types.get(message).is_some_and(|categories| categories.contains(category))
    }

    /// Whether this is Istio's build, with its own extensions.
    pub fn of_istio(&self) -> bool {
        self.types.keys().any(|name| name.starts_with("istio.") || name.starts_with("io.istio."))
    }
}

/// An update of one resource.
pub(crate) struct Offer<'o> {
    /// What is sent: a listener or a cluster.
    pub kind: ResourceKind,
    /// Its content.
    pub tree: &'o Tree<'o>,
    /// Its bytes, an `Any`.
    pub bytes: &'o [u8],
    /// Names of the other clusters that the proxy has.
    pub clusters: &'o BTreeSet<String>,
}

/// An answer, and what happened before it.
pub(crate) struct Judged {
    /// The answer to the update.
    pub answer: Answer,
    /// How an Envoy that had other updates before ended with this one, though a new one did not.
    pub ended: Option<String>,
}

/// Answers updates: a running Envoy or, in examples of the documentation, a recorded answer.
pub(crate) trait Judge {
    /// Accepts or refuses an update.
    fn judge(&mut self, offer: &Offer<'_>) -> Result<Judged, Trouble>;
}

/// An Envoy that answers questions.
pub struct Trial {
    /// Its version.
    pub version: Version,
    /// What it is built with.
    pub known: Known,
    judge: RefCell<Box<dyn Judge>>,
    pair: Pair,
    answers: RefCell<HashMap<Key, Answer>>,
    asked: Cell<usize>,
    neutralised: RefCell<BTreeMap<&'static str, usize>>,
    ends: RefCell<Vec<String>>,
}

/// Everything an answer depends on: the bytes that are sent, and the clusters beside them.
type Key = (Vec<u8>, BTreeSet<String>);

/// What Envoy says about one resource.
#[derive(Clone, Debug, Default)]
struct Verdict {
    /// Its reason, if it refuses the resource.
    refused: Option<String>,
    /// What was removed because only Istio's own build could judge it: the type, and the patch that wrote it.
    foreign: BTreeSet<(String, Option<PatchId>)>,
    /// Why it could not be asked.
    unasked: Option<&'static str>,
}

impl Trial {
    /// Starts an Envoy. Fails when the path is not an Envoy, or when it does not come up.
    pub fn start(binary: &Path) -> Result<Trial, Trouble> {
        let version = process::version(binary)?;
        let process = process::Envoy::start(binary)?;
        let known = process.known.clone();
        Trial::new(version, known, Box::new(process))
    }

    /// A stand-in that refuses every resource whose text contains a marker, with these words.
    pub fn recorded(marker: &str, words: &str) -> Result<Trial, Trouble> {
        let judge = Recorded { marker: marker.to_owned(), words: words.to_owned() };
        Trial::new(Version { text: "1.39.3".to_owned(), minor: 39 }, Known::default(), Box::new(judge))
    }

    fn new(version: Version, known: Known, judge: Box<dyn Judge>) -> Result<Trial, Trouble> {
        Ok(Trial {
            version,
            known,
            judge: RefCell::new(judge),
            pair: Pair::new()?,
            answers: RefCell::default(),
            asked: Cell::new(0),
            neutralised: RefCell::default(),
            ends: RefCell::default(),
        })
    }

    /// `Envoy 1.39.3`.
    pub fn name(&self) -> String {
        format!("Envoy {}", self.version.text)
    }

    /// A message that this Envoy's release differs from those the proxies run.
    pub(crate) fn other_release(&self, proxies: &BTreeSet<Release>) -> Option<String> {
        let minors: BTreeSet<u16> = proxies.iter().map(|release| release.minor).collect();
        let others =
            minors.into_iter().map(|minor| (minor, envoy_of(minor))).filter(|(_, own)| *own != self.version.minor);
        let others: Vec<String> = others.map(|(minor, own)| format!("of Istio 1.{minor} run Envoy 1.{own}")).collect();
        (!others.is_empty()).then(|| format!("{} was asked; the proxies {}", self.name(), others.join(", those ")))
    }

    /// How many resources it was sent.
    pub(crate) fn asked(&self) -> usize {
        self.asked.get()
    }

    /// What was replaced in resources because a lone Envoy cannot have it, and in how many of them.
    pub(crate) fn neutralised(&self) -> BTreeMap<&'static str, usize> {
        self.neutralised.borrow().clone()
    }

    /// How it ended and was started again, each time since the last call: no single resource explains it.
    pub(crate) fn take_ends(&self) -> Vec<String> {
        self.ends.take()
    }

    /// The JSON of a resource as this Envoy can have it; `None` when nothing is left, or when it is not JSON.
    pub fn stand_in(&self, schema: Schema, istio: u16, kind: ResourceKind, text: &str) -> Option<String> {
        let mut tree = json::parse(text).ok()?;
        let stays = Neutral::new(schema, istio, &self.known, &self.pair).resource(kind, &mut tree);
        stays.then(|| json::write(&tree, Style::Compact))
    }

    /// Sends a resource. `clusters` are the names of all clusters of the proxy; `istio` is the proxy's minor release.
    fn send(
        &self,
        schema: Schema,
        istio: u16,
        kind: ResourceKind,
        tree: &Tree<'_>,
        clusters: &BTreeSet<String>,
    ) -> Result<Verdict, Trouble> {
        let mut tree = tree.clone();
        let mut neutral = Neutral::new(schema, istio, &self.known, &self.pair);
        let mut verdict = Verdict::default();
        let goes = neutral.resource(kind, &mut tree);
        verdict.foreign = std::mem::take(&mut neutral.foreign);
        if !goes {
            verdict.unasked = Some("all of it is Istio's own");
            return Ok(verdict);
        }
        let as_kind = if kind == ResourceKind::Cluster { kind } else { ResourceKind::Listener };
        let text = match kind {
            ResourceKind::Listener | ResourceKind::Cluster => String::new(),
            ResourceKind::Route => neutral::listener_of_route(&tree),
            ResourceKind::ExtensionConfig => {
                let Some(text) = neutral::listener_of_extension(&tree, &self.known) else {
                    verdict.unasked = Some("it is neither an HTTP filter nor a network filter");
                    return Ok(verdict);
                };
                text
            }
        };
        let wrapped = (!text.is_empty()).then(|| json::parse(&text).ok()).flatten();
        let tree = wrapped.as_ref().unwrap_or(&tree);
        let bytes = wire::any(schema, as_kind.type_name(), tree);
        let Some(bytes) = bytes else {
            verdict.unasked = Some("it holds a type that is in no schema");
            return Ok(verdict);
        };
        let key = (bytes, if as_kind == ResourceKind::Cluster { BTreeSet::new() } else { clusters.clone() });
        let known = self.answers.borrow().get(&key).cloned();
        let answer = if let Some(answer) = known {
            answer
        } else {
            let offer = Offer { kind: as_kind, tree, bytes: &key.0, clusters: &key.1 };
            let Judged { answer, ended } = self.judge.borrow_mut().judge(&offer)?;
            self.ends.borrow_mut().extend(ended);
            self.asked.set(self.asked.get() + 1);
            for what in &neutral.done {
                *self.neutralised.borrow_mut().entry(what).or_default() += 1;
            }
            self.answers.borrow_mut().insert(key, answer.clone());
            answer
        };
        match answer {
            // A file of the proxy that has no stand-in here.
            Answer::Refused(words) if words.starts_with("Invalid path: ") => {
                verdict.unasked = Some("it reads a file of the proxy's");
            }
            Answer::Refused(words) => verdict.refused = Some(words),
            Answer::Accepted => {}
        }
        Ok(verdict)
    }
}

/// Always gives the same answer.
struct Recorded {
    marker: String,
    words: String,
}

impl Judge for Recorded {
    fn judge(&mut self, offer: &Offer<'_>) -> Result<Judged, Trouble> {
        let refused = json::write(offer.tree, Style::Compact).contains(&self.marker);
        let answer = if refused { Answer::Refused(self.words.clone()) } else { Answer::Accepted };
        Ok(Judged { answer, ended: None })
    }
}

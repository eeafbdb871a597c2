//! What is found in a script.

use super::kinds::{Kind, Used};
use super::names::Owner;

/// The uses found in a script.
#[derive(Debug, Default)]
pub(crate) struct Use<'t> {
    /// `require` of a module outside `pcall`.
    pub modules: Vec<Named<'t>>,
    /// Whether the script says where modules are: `package.path` and the like.
    pub finds_modules: bool,
    /// Modules that the script itself defines in `package.preload` or `package.loaded`.
    pub preloaded: Vec<&'t str>,
    /// Undefined globals that are indexed or called.
    pub undefined: Vec<Named<'t>>,
    /// Globals that an entry point writes and that are read after it may have yielded, or in the other entry point.
    pub shared: Vec<Named<'t>>,
    /// Methods of Envoy's objects that do not exist, or only in some releases.
    pub methods: Vec<Method<'t>>,
    /// `httpCall` with the name of a cluster.
    pub calls: Vec<Named<'t>>,
    /// `respond` where it is too late.
    pub responds: Vec<Late<'t>>,
    /// Request headers that are compared with a text as the client sent them.
    pub decisions: Vec<Named<'t>>,
    /// Headers whose value is logged.
    pub logged: Vec<Named<'t>>,
    /// A header or another value that may be absent, used where nil is an error.
    pub absent: Vec<Absent<'t>>,
    /// Tables of headers without the ones that Envoy requires.
    pub incomplete: Vec<Incomplete<'t>>,
    /// `body()` of a message without one, indexed.
    pub bodies: Vec<Named<'t>>,
    /// Methods called with a dot in place of the colon.
    pub dotted: Vec<Named<'t>>,
    /// Changes of headers inside of a loop over them.
    pub looped: Vec<Named<'t>>,
    /// Changes of headers after they were sent on.
    pub sent: Vec<Named<'t>>,
    /// The same after the script has waited for the trailers.
    pub trailed: Vec<Named<'t>>,
    /// Request headers that are only replaced inside of a block, by a script that neither reads them nor answers requests.
    pub conditional: Vec<Named<'t>>,
    /// Request headers that are appended by `add`.
    pub added: Vec<Named<'t>>,
    /// Those of them that the script does not read before.
    pub appended: Vec<Named<'t>>,
    /// Request headers that the script writes and does not read before.
    pub written: Vec<Named<'t>>,
    /// Namespaces of dynamic metadata that are read while the request passes.
    pub metadata: Vec<Named<'t>>,
    /// Uses of the bytes of a response's body.
    pub answer_bytes: Vec<Named<'t>>,
    /// Request headers that are set to what the script itself contains.
    pub set: Vec<Named<'t>>,
    /// Locals outside of the functions that are used like `shared`.
    pub shared_locals: Vec<Named<'t>>,
    /// Calls and loops that stop the thread of the proxy.
    pub blocking: Vec<Named<'t>>,
    /// Definitions of entry points that a later one replaces.
    pub replaced: Vec<Named<'t>>,
    /// What Lua accepts, but does something else with.
    pub mistakes: Vec<Mistake<'t>>,
    /// Response headers that are removed (true) or replaced.
    pub answered: Vec<(Named<'t>, bool)>,
    /// Texts with the name that they are assigned to, the key of a table, or the argument before them.
    pub texts: Vec<(&'t str, &'t str)>,
}

/// Something that Lua accepts, but that does not do what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mistake<'t> {
    /// The expression.
    pub named: Named<'t>,
    /// What is wrong.
    pub kind: Kind<'t>,
}

/// A name and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named<'t> {
    /// The name, or the text.
    pub name: &'t str,
    /// Byte in the script.
    pub at: usize,
    /// Whether this runs when the script is loaded.
    pub at_load: bool,
}

/// A method that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Method<'t> {
    /// Its name.
    pub named: Named<'t>,
    /// What it is called on.
    pub owner: Owner,
    /// The first Envoy minor with the method; `None` if none has it.
    pub since: Option<u16>,
}

/// The source of a value that may be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A header of the message.
    Header,
    /// An entry of the route's metadata.
    RouteMetadata,
    /// Set by another filter in the dynamic metadata.
    DynamicMetadata,
    /// The TLS of the client's connection.
    Tls,
    /// A variable of the proxy's environment.
    Environment,
    /// A file that `io.open` may fail to open.
    File,
    /// What `match` finds of a text with a pattern that not every text has.
    Match,
    /// The body of an answer to `httpCall`.
    Answer,
    /// A header of an answer to `httpCall`.
    AnswerHeader,
    /// The addresses that gateways always add, and other proxies do not.
    ForwardedFor,
    /// The trailers of the message.
    Trailers,
    /// A key of the filter's context, which routes set.
    FilterContext,
}

/// A value that may be absent but is used unconditionally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Absent<'t> {
    /// Its name.
    pub named: Named<'t>,
    /// Its source.
    pub source: Source,
    /// Its use.
    pub used: Used<'t>,
}

/// A `respond` that ends the script with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Late<'t> {
    /// The method, or the call of a function that calls it.
    pub named: Named<'t>,
    /// Whether the headers of a request were already sent on; otherwise it is a response.
    pub chunks: bool,
}

/// A table of headers that Envoy rejects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Incomplete<'t> {
    /// The method that receives it.
    pub named: Named<'t>,
    /// The missing headers.
    pub lacks: Vec<&'static str>,
}

//! Names that a script of Envoy's Lua filter can use.

/// Globals of LuaJIT as Envoy opens it (`luaL_openlibs`), and what Envoy adds.
pub(super) const GLOBALS: &[&str] = &[
    "EnvoyTimestampResolution",
    "_G",
    "_VERSION",
    "assert",
    "bit",
    "collectgarbage",
    "coroutine",
    "debug",
    "dofile",
    "error",
    "ffi",
    "gcinfo",
    "getfenv",
    "getmetatable",
    "io",
    "ipairs",
    "jit",
    "load",
    "loadfile",
    "loadstring",
    "math",
    "module",
    "newproxy",
    "next",
    "os",
    "package",
    "pairs",
    "pcall",
    "print",
    "rawequal",
    "rawget",
    "rawlen",
    "rawset",
    "require",
    "select",
    "setfenv",
    "setmetatable",
    "string",
    "table",
    "tonumber",
    "tostring",
    "type",
    "unpack",
    "xpcall",
];
/// Names that let a script define others invisibly.
pub(super) const INDIRECT: &[&str] =
    &["_G", "setfenv", "getfenv", "load", "loadstring", "loadfile", "dofile", "setmetatable", "module"];
/// Modules built into LuaJIT.
pub(super) const MODULES: &[&str] =
    &["bit", "ffi", "jit", "string", "table", "math", "io", "os", "package", "debug", "coroutine"];
/// An object of Envoy's scripts whose methods are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The handle of a request or response.
    Handle,
    /// `handle:headers()`.
    Headers,
    /// `handle:streamInfo()`.
    StreamInfo,
    /// `handle:streamInfo():dynamicMetadata()`.
    DynamicMetadata,
    /// `handle:metadata()`.
    Metadata,
    /// `handle:body()`.
    Body,
    /// `handle:connection()`.
    Connection,
}

impl Owner {
    /// How a message names it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Owner::Handle => "Envoy's handle",
            Owner::Headers => "`headers()`",
            Owner::StreamInfo => "`streamInfo()`",
            Owner::DynamicMetadata => "`dynamicMetadata()`",
            Owner::Metadata => "`metadata()`",
            Owner::Body => "`body()`",
            Owner::Connection => "`connection()`",
        }
    }

    /// The methods that it has, each with the Envoy minor that introduced it; 0 for those of every tested Envoy.
    pub(crate) const fn methods(self) -> &'static [(&'static str, u16)] {
        match self {
            Owner::Handle => HANDLE,
            Owner::Headers => &[
                ("add", 0),
                ("get", 0),
                ("getAtIndex", 0),
                ("getNumValues", 0),
                ("remove", 0),
                ("replace", 0),
                ("setHttp1ReasonPhrase", 0),
            ],
            Owner::StreamInfo => STREAM_INFO,
            Owner::DynamicMetadata => &[("get", 0), ("set", 0)],
            Owner::Metadata => &[("get", 0)],
            Owner::Body => &[("getBytes", 0), ("length", 0), ("setBytes", 0)],
            Owner::Connection => &[("ssl", 0)],
        }
    }

    /// The names of all its methods, with those that every object has.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        self.methods().iter().map(|(name, _)| *name).chain(LOGS.iter().copied())
    }

    /// The object that a method without arguments returns.
    pub(super) fn of(self, method: &str) -> Option<Owner> {
        Some(match (self, method) {
            (Owner::Handle, "headers") => Owner::Headers,
            (Owner::Handle, "streamInfo") => Owner::StreamInfo,
            (Owner::Handle, "metadata") => Owner::Metadata,
            (Owner::Handle, "body") => Owner::Body,
            (Owner::Handle, "connection") => Owner::Connection,
            (Owner::StreamInfo, "dynamicMetadata") => Owner::DynamicMetadata,
            _ => return None,
        })
    }
}

impl Owner {
    /// What to write instead of a method that other APIs have.
    pub(crate) fn instead_of(self, method: &str) -> Option<&'static str> {
        Some(match (self, method) {
            (Owner::Headers, "set" | "put" | "update" | "setHeader" | "set_header" | "overwrite") => {
                "write `replace`, which sets a header whether it exists or not"
            }
            (Owner::Headers, "append" | "addHeader" | "add_header" | "insert") => "write `add`",
            (Owner::Headers, "delete" | "unset" | "del" | "erase" | "clear" | "removeHeader") => "write `remove`",
            (Owner::Headers, "has" | "contains" | "exists") => "compare: `get(\"<name>\") ~= nil`",
            (Owner::Headers, "status" | "getStatus") => "write `get(\":status\")`",
            (Owner::Headers, "path" | "getPath") => "write `get(\":path\")`",
            (Owner::Headers, "method" | "getMethod") => "write `get(\":method\")`",
            (Owner::Headers, "host" | "authority") => "write `get(\":authority\")`",
            (Owner::Headers, "pairs" | "iter" | "each") => {
                "iterate with `for name, value in pairs(handle:headers()) do`"
            }
            (Owner::Handle, "path") => "write `headers():get(\":path\")`",
            (Owner::Handle, "method") => "write `headers():get(\":method\")`",
            (Owner::Handle, "status") => "write `headers():get(\":status\")`",
            (Owner::Handle, "sendResponse" | "reply" | "exit" | "localReply" | "sendLocalReply") => {
                "write `respond({[\":status\"] = \"403\"}, \"…\")`"
            }
            (Owner::Handle, "log" | "print" | "info") => "write `logInfo`",
            (Owner::Handle, "dynamicMetadata" | "routeName" | "protocol") => "it is a method of `streamInfo()`",
            (Owner::Body, "get" | "toString" | "tostring" | "string" | "bytes" | "read") => {
                "write `getBytes(0, body:length())`"
            }
            (Owner::Body, "set" | "write" | "replace") => "write `setBytes(\"…\")`",
            (Owner::Body, "size" | "len") => "write `length`",
            _ => return None,
        })
    }
}

/// Found by running a script in Envoy 1.36 to 1.40 that tests which words of the binary are methods. Every object also
/// has the logging methods.
const HANDLE: &[(&str, u16)] = &[
    ("base64Decode", 40),
    ("base64Escape", 0),
    ("body", 0),
    ("bodyChunks", 0),
    ("clearRouteCache", 0),
    ("connection", 0),
    ("connectionStreamInfo", 0),
    ("filterContext", 0),
    ("headers", 0),
    ("httpCall", 0),
    ("importPublicKey", 0),
    ("metadata", 0),
    ("requestHeaders", 40),
    ("respond", 0),
    ("route", 0),
    ("setUpstreamOverrideHost", 0),
    ("stats", 38),
    ("streamInfo", 0),
    ("timestamp", 0),
    ("timestampString", 0),
    ("trailers", 0),
    ("verifySignature", 0),
    ("virtualHost", 0),
];

/// The same for `streamInfo()`.
const STREAM_INFO: &[(&str, u16)] = &[
    ("downstreamDirectLocalAddress", 0),
    ("downstreamDirectRemoteAddress", 0),
    ("downstreamLocalAddress", 0),
    ("downstreamRemoteAddress", 0),
    ("downstreamSslConnection", 0),
    ("drainConnectionUponCompletion", 37),
    ("dynamicMetadata", 0),
    ("dynamicTypedMetadata", 0),
    ("filterState", 0),
    ("protocol", 0),
    ("requestedServerName", 0),
    ("routeName", 0),
    ("virtualClusterName", 0),
];

/// Functions of `string` whose first argument is a text.
pub(super) const OF_TEXTS: &[&str] =
    &["byte", "find", "format", "gmatch", "gsub", "len", "lower", "match", "rep", "reverse", "sub", "upper"];
/// Methods that every object has.
pub(super) const LOGS: &[&str] = &["logCritical", "logDebug", "logErr", "logInfo", "logTrace", "logWarn"];
/// Methods that yield.
pub(super) const YIELDS: &[&str] = &["httpCall", "body", "bodyChunks", "trailers"];
/// Headers that every request has when it comes to the script: the connection manager sets them.
pub(super) const ALWAYS_THERE: &[&str] = &["x-forwarded-proto", "x-request-id"];

/// Environment variables that Istio's injection template and gateway charts set in every proxy.
pub(super) const OF_PROXY: &[&str] = &[
    "CA_ADDR",
    "HOSTNAME",
    "HOST_IP",
    "INSTANCE_IP",
    "ISTIO_META_CLUSTER_ID",
    "ISTIO_META_MESH_ID",
    "ISTIO_META_NODE_NAME",
    "ISTIO_META_OWNER",
    "ISTIO_META_WORKLOAD_NAME",
    "PATH",
    "POD_NAME",
    "POD_NAMESPACE",
    "PROXY_CONFIG",
    "SERVICE_ACCOUNT",
];

//! Replaces what a lone Envoy cannot have: certificates and other files, ports, endpoints, other control planes.
//!
//! Everything that decides whether Envoy accepts a configuration stays. What only Istio's own build knows is removed and
//! reported, because no other Envoy can judge it.

use super::{Known, Trouble};
use crate::engine::PatchId;
use crate::envoy;
use crate::model::resource::ResourceKind;
use crate::proto::json::{self, Style};
use crate::proto::schema::{Kind, Message, Schema, WellKnown};
use crate::proto::tree::{Origin, TYPE_KEY, Tree, Value, is_typed_struct, type_name};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A key and its certificate, in place of those in files.
pub(crate) struct Pair {
    certificate: String,
    key: String,
}

impl Pair {
    pub(super) fn new() -> Result<Pair, Trouble> {
        let made = rcgen::generate_simple_self_signed(vec!["stand-in.invalid".to_owned()]);
        let made = made.map_err(|error| Trouble::new(format!("cannot make a certificate: {error}")))?;
        Ok(Pair { certificate: made.cert.pem(), key: made.signing_key.serialize_pem() })
    }
}

/// A public key of RFC 7517, appendix A.1: Envoy refuses a set without keys.
const JWKS: &str = r#"{"keys":[{"kty":"EC","crv":"P-256","alg":"ES256","kid":"1","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}"#;

/// The Wasm runtime for plugins that are compiled into the proxy.
const NULL_RUNTIME: &str = "envoy.wasm.runtime.null";

/// What Envoy writes in place of a secret in a config dump.
const REDACTED: [&str; 2] = ["[redacted]", "W3JlZGFjdGVkXQ=="];

/// One resource on its way to Envoy.
pub(crate) struct Neutral<'n> {
    schema: Schema,
    /// Minor release of Istio whose proxy the resource is for.
    istio: u16,
    known: &'n Known,
    pair: &'n Pair,
    /// Whether the agent passes the resource on, and fetches the Wasm modules in it.
    by_agent: bool,
    /// What was replaced.
    pub(super) done: BTreeSet<&'static str>,
    /// Types that only Istio's build has, taken out, with the patch that wrote them.
    pub(super) foreign: BTreeSet<(String, Option<PatchId>)>,
}

impl<'n> Neutral<'n> {
    pub(super) fn new(schema: Schema, istio: u16, known: &'n Known, pair: &'n Pair) -> Neutral<'n> {
        Neutral { schema, istio, known, pair, by_agent: false, done: BTreeSet::new(), foreign: BTreeSet::new() }
    }

    /// Changes a resource; `false` when nothing of it is left.
    pub(super) fn resource(&mut self, kind: ResourceKind, tree: &mut Tree<'_>) -> bool {
        tree.remove(TYPE_KEY);
        tree.open_all();
        if kind == ResourceKind::ExtensionConfig && self.is_foreign(tree) {
            return false;
        }
        self.by_agent = kind == ResourceKind::ExtensionConfig;
        if let Some(message) = self.schema.message(kind.type_name()) {
            self.message(message, tree, "");
        }
        true
    }

    fn message(&mut self, message: Message, tree: &mut Tree<'_>, at: &str) {
        match message.well_known() {
            Some(WellKnown::Any) => {
                let Some(name) = tree.type_name() else { return };
                let inner = self.schema.message(&name);
                if let Some(inner) = inner.filter(|inner| inner.well_known().is_none()) {
                    if is_typed_struct(&name) {
                        self.typed_struct(tree);
                    } else {
                        self.fields(inner, tree, at);
                    }
                }
            }
            Some(_) => {}
            None => self.fields(message, tree, at),
        }
    }

    /// The value of a TypedStruct is the JSON of another message.
    fn typed_struct(&mut self, tree: &mut Tree<'_>) {
        let inner = self.schema.message(type_name(tree.str_at("type_url")));
        if let (Some(inner), Some(value)) = (inner, tree.get_mut("value")) {
            self.fields(inner, value, "");
        }
    }

    fn fields(&mut self, message: Message, tree: &mut Tree<'_>, at: &str) {
        self.special(message, tree, at);
        let mut gone: Vec<String> = Vec::new();
        for (key, value) in tree.entries_mut().into_iter().flatten() {
            let Some(field) = message.field(key) else { continue };
            let kind = field.map_entry().map_or_else(|| field.kind(), |(_, value)| value);
            let Kind::Message(inner) = kind else { continue };
            if !field.is_list() && !field.is_map() {
                if self.is_foreign(value) {
                    gone.push(key.to_string());
                } else {
                    self.message(inner, value, field.name());
                }
                continue;
            }
            match &mut value.value {
                Value::List(items) => {
                    items.retain_mut(|item| {
                        let stays = !self.is_foreign(item);
                        if stays {
                            self.message(inner, item, field.name());
                        }
                        stays
                    });
                }
                Value::Map(entries) => {
                    entries.retain_mut(|(_, value)| {
                        let stays = !self.is_foreign(value);
                        if stays {
                            self.message(inner, value, field.name());
                        }
                        stays
                    });
                }
                _ => {}
            }
        }
        for key in gone {
            tree.remove(&key);
        }
    }

    /// Whether a message is configured with a type that Istio's build has and this Envoy does not; records it.
    fn is_foreign(&mut self, tree: &Tree<'_>) -> bool {
        let Some(name) = foreign_type(tree, self.known, self.istio) else { return false };
        let any = tree.get("typed_config").unwrap_or(tree);
        let by = any.origins().into_iter().chain(tree.origins()).find_map(PatchId::of);
        self.foreign.insert((name, by));
        true
    }

    fn special(&mut self, message: Message, tree: &mut Tree<'_>, at: &str) {
        match message.full_name() {
            "envoy.config.listener.v3.Listener"
                if tree.get("internal_listener").is_none() && tree.get("api_listener").is_none() =>
            {
                self.port(tree);
            }
            "envoy.config.cluster.v3.Cluster" => self.endpoints(tree),
            "envoy.config.core.v3.ConfigSource" => self.config_source(tree, at),
            "envoy.config.core.v3.DataSource" => self.data_source(tree, at),
            "envoy.extensions.wasm.v3.VmConfig" => self.wasm(tree),
            "envoy.extensions.filters.http.ip_tagging.v3.IPTagging" if tags_of_file(tree) => {
                self.done.insert("files, environment variables and redacted secrets: stand-ins");
            }
            "envoy.config.core.v3.GrpcService.GoogleGrpc" if !tree.str_at("target_uri").is_empty() => {
                tree.set("target_uri", Tree::string("127.0.0.1:9", Origin::ISTIOD));
                self.done.insert("gRPC services outside the mesh: not called");
            }
            "envoy.extensions.common.dynamic_forward_proxy.v3.DnsCacheConfig" => {
                let names = tree.remove("preresolve_hostnames");
                if names.is_some() {
                    self.done.insert("names to resolve beforehand: left out");
                }
            }
            "envoy.extensions.access_loggers.file.v3.FileAccessLog" if !tree.str_at("path").is_empty() => {
                tree.set("path", Tree::string("/dev/null", Origin::ISTIOD));
                self.done.insert("files of access logs: /dev/null");
            }
            "envoy.extensions.transport_sockets.tls.v3.TlsCertificate" => self.certificate(tree),
            "envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext" => {
                for key in ["crl", "watched_directory"] {
                    if tree.get(key).is_some_and(|it| key == "watched_directory" || of_file(it)) {
                        tree.remove(key);
                    }
                }
            }
            _ => {}
        }
    }

    /// The ports of the proxy are not opened here. A UDP listener needs a socket (Envoy 1.39.3 crashes without one): it gets
    /// any free port of this machine alone.
    fn port(&mut self, listener: &mut Tree<'_>) {
        let socket = listener.get_mut("address").and_then(|address| address.get_mut("socket_address"));
        let Some(socket) = socket.filter(|socket| socket.str_at("protocol") == "UDP") else {
            listener.set("bind_to_port", Tree::new(Value::Bool(false)));
            self.done.insert("ports of listeners: not opened");
            return;
        };
        socket.set("address", Tree::string("127.0.0.1", Origin::ISTIOD));
        socket.set("port_value", Tree::new(Value::Number("0".into())));
        listener.remove("additional_addresses");
        self.done.insert("ports of UDP listeners: a free one of this machine");
    }

    /// A proxy's endpoints are not reachable from here and must not be called. Host names become one address; IP addresses stay
    /// one.
    fn endpoints(&mut self, cluster: &mut Tree<'_>) {
        let by_name =
            matches!(cluster.str_at("type"), "STRICT_DNS" | "LOGICAL_DNS") || cluster.get("cluster_type").is_some();
        let localities = cluster.get_mut("load_assignment").and_then(|it| it.get_mut("endpoints"));
        let localities = localities.and_then(Tree::items_mut).into_iter().flatten();
        let endpoints = localities.filter_map(|it| it.get_mut("lb_endpoints")?.items_mut()).flatten();
        for endpoint in endpoints.filter_map(|it| it.get_mut("endpoint")?.get_mut("address")?.get_mut("socket_address"))
        {
            let address = endpoint.str_at("address");
            if (by_name && !address.is_empty()) || address.parse::<std::net::IpAddr>().is_ok() {
                endpoint.set("address", Tree::string("127.0.0.1", Origin::ISTIOD));
                if endpoint.get("port_value").and_then(Tree::as_u64).is_some_and(|port| u16::try_from(port).is_ok()) {
                    endpoint.set("port_value", Tree::new(Value::Number("9".into())));
                }
                self.done.insert("addresses of endpoints: not called");
            }
        }
    }

    /// Other control planes and folders send nothing here. Endpoints arrive at once, as an empty set.
    fn config_source(&mut self, tree: &mut Tree<'_>, at: &str) {
        let of_file = tree.get("path").is_some() || tree.get("path_config_source").is_some();
        if at == "eds_config" {
            // Relative to the folder that Envoy runs in.
            *tree = parsed(r#"{"resource_api_version":"V3","path_config_source":{"path":"./eds.json"}}"#);
            self.done.insert("endpoints: none come");
        } else if of_file {
            *tree = parsed(r#"{"resource_api_version":"V3","ads":{}}"#);
            self.done.insert("configuration and secrets from files: they do not come");
        }
    }

    fn data_source(&mut self, tree: &mut Tree<'_>, at: &str) {
        if !of_file(tree) {
            return;
        }
        let text = match at {
            "certificate_chain" | "trusted_ca" => &self.pair.certificate,
            "private_key" => &self.pair.key,
            "local_jwks" => JWKS,
            // `user` with the password `password`.
            "users" => "user:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=",
            // Scripts: an empty one loads.
            _ if at.contains("code") => "",
            _ => "stand-in",
        };
        *tree = Tree::new(Value::Map(
            vec![(Cow::Borrowed("inline_string"), Tree::string(text.to_owned(), tree.origin))].into(),
        ));
        self.done.insert("files, environment variables and redacted secrets: stand-ins");
    }

    /// Key and certificate must match: when one of them is not here, both are replaced.
    fn certificate(&mut self, tree: &mut Tree<'_>) {
        const PARTS: [&str; 2] = ["certificate_chain", "private_key"];
        if !PARTS.iter().filter_map(|key| tree.get(key)).any(of_file) {
            return;
        }
        for (key, text) in PARTS.iter().zip([&self.pair.certificate, &self.pair.key]) {
            let inline = (Cow::Borrowed("inline_string"), Tree::string(text.clone(), Origin::ISTIOD));
            tree.set(*key, Tree::new(Value::Map(vec![inline].into())));
        }
        for key in ["password", "ocsp_staple", "pkcs12", "watched_directory"] {
            tree.remove(key);
        }
        self.done.insert("certificates and keys: stand-ins");
    }

    /// Wasm modules are fetched at run time, or are files of the proxy. The agent fetches those of extension configurations
    /// and needs neither a timeout nor a checksum.
    fn wasm(&mut self, tree: &mut Tree<'_>) {
        const FETCHED: &str = r#"{"remote":{"http_uri":{"uri":"http://stand-in.invalid/","cluster":"stand-in.invalid","timeout":"1s"},"sha256":"0000000000000000000000000000000000000000000000000000000000000000"}}"#;
        if tree.str_at("runtime") == NULL_RUNTIME {
            return;
        }
        let Some(code) = tree.get_mut("code") else { return };
        if code.get("local").is_some_and(of_file) || (self.by_agent && code.get("remote").is_some()) {
            *code = parsed(FETCHED);
        } else if let Some(uri) = code.get_mut("remote").and_then(|remote| remote.get_mut("http_uri")) {
            for (key, text) in [("uri", "http://stand-in.invalid/"), ("cluster", "stand-in.invalid")] {
                if !uri.str_at(key).is_empty() {
                    uri.set(key, Tree::string(text, Origin::ISTIOD));
                }
            }
        } else {
            return;
        }
        self.done.insert("Wasm modules: not loaded");
    }
}

/// The type that a message is configured with, if Istio's build has it and this Envoy does not.
pub(crate) fn foreign_type(tree: &Tree<'_>, known: &Known, istio: u16) -> Option<String> {
    let any = tree.get("typed_config").unwrap_or(tree);
    let name = configured(any)?;
    let ours = |name: &str| {
        let elsewhere = ["envoy.", "google.", "udpa.", "xds.", "cel."].iter().any(|start| name.starts_with(start));
        !elsewhere || envoy::extensions_of(name).any(|one| one.contrib() && one.in_istio_proxy(istio))
    };
    let null = null_plugin(any) && !known.of_istio();
    if !null && (name.is_empty() || known.has(&name) || !ours(&name)) {
        return None;
    }
    Some(if null { format!("{name} with a plugin compiled into the proxy") } else { name })
}

fn parsed(text: &'static str) -> Tree<'static> {
    json::parse(text).unwrap_or(Tree::empty())
}

/// The message type with which an `Any` configures an extension.
fn configured(any: &Tree<'_>) -> Option<String> {
    let name = any.type_name()?;
    Some(if is_typed_struct(&name) { type_name(any.str_at("type_url")).to_owned() } else { name.into_owned() })
}

/// Whether this is a Wasm filter whose code is compiled into the proxy; only Istio has those.
fn null_plugin(any: &Tree<'_>) -> bool {
    let wasm = any.get("value").unwrap_or(any);
    wasm.path(&["config", "vm_config", "runtime"]).and_then(Tree::as_str) == Some(NULL_RUNTIME)
}

/// Whether a DataSource is one of the proxy's own files, or was left out of the dump.
pub(crate) fn of_file(source: &Tree<'_>) -> bool {
    let keys = ["filename", "environment_variable", "environmentVariable"];
    let inline = ["inline_string", "inline_bytes", "inlineString", "inlineBytes"];
    keys.iter().any(|key| !source.str_at(key).is_empty())
        || inline.iter().any(|key| REDACTED.contains(&source.str_at(key)))
}

/// Replaces the tags in a file, which Envoy reads nowhere else, by one that no address has.
pub(crate) fn tags_of_file(filter: &mut Tree<'_>) -> bool {
    let from_file = filter.get("ip_tags_datasource").is_some_and(of_file);
    if !from_file || filter.get("ip_tags").is_some_and(|tags| !tags.items().is_empty()) {
        return false;
    }
    filter.remove("ip_tags_datasource");
    filter.set("ip_tags", parsed(r#"[{"ip_tag_name":"stand-in"}]"#));
    true
}

/// A listener with this route configuration inline.
pub(super) fn listener_of_route(route: &Tree<'_>) -> String {
    let mut route = route.clone();
    if route.get("validate_clusters").is_none() {
        // The default for a route configuration that arrives by RDS.
        route.set("validate_clusters", Tree::new(Value::Bool(false)));
    }
    listener("", &json::write(&route, Style::Compact))
}

/// A listener that uses an extension configuration as a filter; `None` when it is not a filter.
pub(super) fn listener_of_extension(extension: &Tree<'_>, known: &Known) -> Option<String> {
    let name = extension.get("typed_config").and_then(configured)?;
    let filter = json::write(extension, Style::Compact);
    if known.in_category(&name, "envoy.filters.network") {
        return Some(format!(
            r#"{{"name":"probe","bind_to_port":false,"address":{ADDRESS},"filter_chains":[{{"filters":[{filter}]}}]}}"#
        ));
    }
    let http = !known.has(&name) || known.in_category(&name, "envoy.filters.http");
    http.then(|| listener(&format!("{filter},"), r#"{"name":"probe"}"#))
}

const ADDRESS: &str = r#"{"socket_address":{"address":"127.0.0.1","port_value":1}}"#;

fn listener(filters: &str, route: &str) -> String {
    format!(
        r#"{{"name":"probe","bind_to_port":false,"address":{ADDRESS},"filter_chains":[{{"filters":[{{"name":"envoy.filters.network.http_connection_manager","typed_config":{{"@type":"type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager","stat_prefix":"probe","route_config":{route},"http_filters":[{filters}{{"name":"envoy.filters.http.router","typed_config":{{"@type":"type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}}}]}}}}]}}]}}"#
    )
}

//! Converts a patched configuration for a standalone Envoy so that requests still meet everything that decides their
//! fate.
//!
//! Addresses, certificates and other control planes are replaced; matches, filters, routes and policies stay.
//! Everything that is removed is recorded, so that reports can mention it.

use super::chains;
use crate::engine::PatchId;
use crate::model::resource::ResourceKind;
use crate::proto::json;
use crate::proto::schema::{Kind, Message, Schema, WellKnown};
use crate::proto::tree::{Origin, TYPE_KEY, Tree, Value, is_typed_struct, type_name};
use crate::trial::Known;
use crate::trial::neutral::{foreign_type, of_file, tags_of_file};
use crate::trial::sockets::Sockets;
use serde_json::json;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Something that the sandbox omits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    /// Why.
    pub why: Why,
    /// What: a type or a name.
    pub what: String,
    /// The patch that added it, if a user's filter did.
    pub by: Option<PatchId>,
}

/// Why something is omitted or replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// Only Istio's own build of Envoy has it.
    IstioOnly,
    /// A Wasm module that is fetched, or a file of the proxy.
    Wasm,
    /// An extension configuration that is missing in the dump.
    Extension,
    /// A certificate or key.
    Certificate,
    /// Another secret.
    Secret,
    /// A file of the proxy, or an environment variable.
    File,
    /// Spans are not sent.
    Tracing,
    /// TLS to upstreams.
    UpstreamTls,
    /// Health checks of endpoints.
    HealthCheck,
    /// Endpoints and their selection: one stub replaces all of them.
    Endpoints,
    /// A match on the direct address of a connection, which is that of the sandbox.
    DirectAddress,
    /// The address of a host that the dump does not contain.
    Address,
    /// A resource that cannot be encoded.
    NotEncoded,
}

impl Why {
    /// What is omitted, and what replaces it.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Why::IstioOnly => "extension that only Istio's own Envoy has",
            Why::Wasm => "Wasm module (give it with --wasm NAME=FILE)",
            Why::Extension => "extension configuration that the dump does not contain",
            Why::Certificate => "certificate or key, replaced by one from the sandbox",
            Why::Secret => "secret, replaced by a stand-in",
            Why::File => "file of the proxy, replaced by a stand-in",
            Why::Tracing => "tracing",
            Why::UpstreamTls => "TLS to the upstream",
            Why::HealthCheck => "health checks",
            Why::Endpoints => "endpoints and service discovery, replaced by a stub",
            Why::DirectAddress => {
                "match on the direct address, checked against the address in the PROXY protocol header"
            }
            Why::Address => "host without an address in the config dump, called at one that no service has",
            Why::NotEncoded => "resource with a type of no known schema",
        }
    }

    /// Identifier in JSON.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Why::IstioOnly => "istio-only",
            Why::Wasm => "wasm",
            Why::Extension => "extension",
            Why::Certificate => "certificate",
            Why::Secret => "secret",
            Why::File => "file",
            Why::Tracing => "tracing",
            Why::UpstreamTls => "upstream-tls",
            Why::HealthCheck => "health-check",
            Why::Endpoints => "endpoints",
            Why::DirectAddress => "direct-address",
            Why::Address => "address",
            Why::NotEncoded => "not-encoded",
        }
    }
}

/// The kinds of secrets that a configuration refers to by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SecretKind {
    Certificate,
    Authority,
    Generic,
}

/// Replacements for certificates and keys.
pub(super) struct StandIns {
    /// Certificate of the proxy with its chain, PEM.
    pub(super) chain: String,
    /// Its key, PEM.
    pub(super) key: String,
    /// Certificate of the certificate authority, PEM.
    pub(super) authority: String,
    /// The keys that verify tokens.
    pub(super) jwks: String,
    /// Files of Wasm modules by the name of a filter or plugin.
    pub(super) wasm: BTreeMap<String, String>,
}

/// Everything that stays the same for all resources of a configuration.
pub(super) struct Place<'n> {
    pub(super) schema: Schema,
    /// Istio minor release of the proxy whose configuration it is.
    pub(super) istio: u16,
    pub(super) known: &'n Known,
    /// Minor release of the Envoy that runs.
    pub(super) envoy: u16,
    pub(super) stand_ins: &'n StandIns,
    /// Extension configurations by name.
    pub(super) extensions: &'n BTreeMap<String, Tree<'n>>,
    /// Names of the clusters that the proxy has.
    pub(super) clusters: &'n BTreeSet<String>,
    /// How Envoy, stubs and the client meet.
    pub(super) sockets: Sockets,
    /// Whether probes are inserted between the HTTP filters.
    pub(super) probes: bool,
    /// Prefix of the log lines of probes.
    pub(super) mark: &'n str,
}

/// A configuration that is being converted.
pub(super) struct Neutral<'n> {
    pub(super) place: &'n Place<'n>,
    pub(super) left_out: BTreeSet<LeftOut>,
    /// Secrets that the configuration refers to.
    pub(super) secrets: BTreeMap<(SecretKind, String), String>,
    /// Route configurations that the configuration refers to, each with its file.
    pub(super) routes: BTreeMap<String, String>,
    /// Clusters that serve token keys.
    pub(super) keys: BTreeSet<String>,
    /// The filter chains.
    pub(super) chains: Vec<chains::Chain>,
    /// The routes.
    pub(super) marked: Vec<chains::Route>,
}

pub(super) fn tree(value: &serde_json::Value) -> Tree<'static> {
    json::from_json(value)
}

impl<'n> Neutral<'n> {
    pub(super) fn new(place: &'n Place<'n>) -> Neutral<'n> {
        Neutral {
            place,
            left_out: BTreeSet::new(),
            secrets: BTreeMap::new(),
            routes: BTreeMap::new(),
            keys: BTreeSet::new(),
            chains: Vec::new(),
            marked: Vec::new(),
        }
    }

    pub(super) fn leave_out(&mut self, why: Why, what: impl Into<String>, by: Option<PatchId>) {
        self.left_out.insert(LeftOut { why, what: what.into(), by });
    }

    /// Changes everything in a resource that can occur anywhere.
    pub(super) fn resource(&mut self, kind: ResourceKind, tree: &mut Tree<'_>) {
        tree.remove(TYPE_KEY);
        tree.open_all();
        if let Some(message) = self.place.schema.message(kind.type_name()) {
            self.message(message, tree, "");
        }
    }

    fn message(&mut self, message: Message, tree: &mut Tree<'_>, at: &str) {
        match message.well_known() {
            Some(WellKnown::Any) => {
                let Some(name) = tree.type_name() else { return };
                let inner = self.place.schema.message(&name);
                if let Some(inner) = inner.filter(|inner| inner.well_known().is_none()) {
                    if is_typed_struct(&name) {
                        let inner = self.place.schema.message(type_name(tree.str_at("type_url")));
                        if let (Some(inner), Some(value)) = (inner, tree.get_mut("value")) {
                            self.fields(inner, value, "");
                        }
                    } else {
                        self.fields(inner, tree, at);
                    }
                }
            }
            Some(_) => {}
            None => self.fields(message, tree, at),
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
                if self.goes(value) {
                    gone.push(key.to_string());
                } else {
                    self.message(inner, value, field.name());
                }
                continue;
            }
            match &mut value.value {
                Value::List(items) => items.retain_mut(|item| {
                    let stays = !self.goes(item);
                    if stays {
                        self.message(inner, item, field.name());
                    }
                    stays
                }),
                Value::Map(entries) => entries.retain_mut(|(_, value)| {
                    let stays = !self.goes(value);
                    if stays {
                        self.message(inner, value, field.name());
                    }
                    stays
                }),
                _ => {}
            }
        }
        for key in gone {
            tree.remove(&key);
        }
    }

    /// Whether this Envoy cannot have something; records it. An extension that is configured elsewhere is resolved
    /// first.
    fn goes(&mut self, item: &mut Tree<'_>) -> bool {
        if item.get("config_discovery").is_some() && !self.discovered(item) {
            let name = item.name().to_owned();
            self.leave_out(Why::Extension, name, writer(item));
            return true;
        }
        if let Some(name) = foreign_type(item, self.place.known, self.place.istio) {
            let name = if item.name().is_empty() || item.name() == name { name } else { item.name().to_owned() };
            self.leave_out(Why::IstioOnly, name, writer(item));
            return true;
        }
        self.wasm_goes(item)
    }

    /// Inserts the configuration of an extension where it is referred to.
    fn discovered(&mut self, item: &mut Tree<'_>) -> bool {
        let found = self.place.extensions.get(item.name()).and_then(|it| it.get("typed_config"));
        let default = item.path(&["config_discovery", "default_config"]);
        let Some(config) = found.or(default) else { return false };
        // Only its text is needed, since it borrows from elsewhere.
        let owned = config.to_static();
        item.remove("config_discovery");
        item.set("typed_config", owned);
        true
    }

    /// Whether something is a Wasm filter whose module is missing.
    fn wasm_goes(&mut self, item: &mut Tree<'_>) -> bool {
        let name = item.name().to_owned();
        let by = writer(item);
        let Some(config) = item.get_mut("typed_config") else { return false };
        let typed = config.type_name().unwrap_or_default().into_owned();
        let wasm = if is_typed_struct(&typed) {
            if !type_name(config.str_at("type_url")).ends_with(".wasm.v3.Wasm") {
                return false;
            }
            config.get_mut("value")
        } else if typed.ends_with(".wasm.v3.Wasm") {
            Some(config)
        } else {
            return false;
        };
        let Some(plugin) = wasm.and_then(|wasm| wasm.get_mut("config")) else { return false };
        let names = [name.clone(), plugin.name().to_owned(), plugin.str_at("root_id").to_owned()];
        let file = names.iter().find_map(|name| self.place.stand_ins.wasm.get(name)).cloned();
        let Some(code) = plugin.get_mut("vm_config").and_then(|vm| vm.get_mut("code")) else { return false };
        if let Some(file) = file {
            *code = tree(&json!({"local": {"filename": file}}));
            return false;
        }
        if code.get("local").is_some_and(|local| !of_file(local)) {
            return false;
        }
        self.leave_out(Why::Wasm, name, by);
        true
    }

    fn special(&mut self, message: Message, it: &mut Tree<'_>, at: &str) {
        match message.full_name() {
            "envoy.config.core.v3.ConfigSource"
                // The rest came from a control plane, which does not exist here.
                if !it
                    .path(&["path_config_source", "path"])
                    .and_then(Tree::as_str)
                    .is_some_and(|path| path.starts_with("./"))
                => {
                    *it = tree(&json!({"resource_api_version": "V3", "path_config_source": {"path": "./none.json"}}));
                }
            "envoy.config.core.v3.DataSource" => self.data_source(it, at),
            "envoy.extensions.filters.http.ip_tagging.v3.IPTagging" => {
                let by = PatchId::of(it.origin);
                if tags_of_file(it) {
                    self.leave_out(Why::File, "ip_tags_datasource", by);
                }
            }
            "envoy.config.core.v3.GrpcService.GoogleGrpc" if !it.str_at("target_uri").is_empty() => {
                it.set("target_uri", Tree::string("unix:./none", Origin::ISTIOD));
            }
            "envoy.config.route.v3.RouteConfiguration" => {
                let routes = chains::mark_routes(it);
                self.marked.extend(routes);
            }
            "envoy.extensions.filters.network.http_connection_manager.v3.Rds" => {
                let name = it.str_at("route_config_name").to_owned();
                let number = self.routes.len();
                let file = self.routes.entry(name).or_insert_with(|| format!("./rds-{number}.pb"));
                it.set(
                    "config_source",
                    tree(&json!({"resource_api_version": "V3", "path_config_source": {"path": file}})),
                );
            }
            "envoy.extensions.filters.http.set_filter_state.v3.Config"
            | "envoy.extensions.filters.common.set_filter_state.v3.FilterStateValue"
                if !self.place.known.of_istio() && it.str_at("factory_key") == "istio.hashable_string" => {
                    // Envoy 1.37.0 does not have it, 1.38 does; differences that only a hash would show are irrelevant
                    // for one client at a time.
                    let own = if self.place.envoy < 38 { "envoy.string" } else { "envoy.hashable_string" };
                    it.set("factory_key", Tree::string(own, Origin::ISTIOD));
                }
            "envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig" => self.secret(it, at),
            "envoy.extensions.transport_sockets.tls.v3.TlsCertificate" => {
                self.leave_out(Why::Certificate, "inline", None);
                let StandIns { chain, key, .. } = self.place.stand_ins;
                *it = tree(
                    &json!({"certificate_chain": {"inline_string": chain}, "private_key": {"inline_string": key}}),
                );
            }
            "envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext" => {
                if it.get("trusted_ca").is_some() {
                    it.set("trusted_ca", tree(&json!({"inline_string": self.place.stand_ins.authority})));
                }
                for key in [
                    "crl",
                    "watched_directory",
                    "verify_certificate_hash",
                    "verify_certificate_spki",
                    "ca_certificate_provider_instance",
                ] {
                    it.remove(key);
                }
            }
            "envoy.extensions.filters.http.jwt_authn.v3.JwtProvider" => {
                if it.get("local_jwks").is_some() {
                    it.set("local_jwks", tree(&json!({"inline_string": self.place.stand_ins.jwks})));
                }
                let cluster = it.path(&["remote_jwks", "http_uri", "cluster"]).and_then(Tree::as_str);
                self.keys.extend(cluster.map(str::to_owned));
            }
            // The PROXY protocol changes the address of a connection, but not the one that Envoy calls direct.
            "envoy.config.rbac.v3.Principal" => self.direct(it, "direct_remote_ip", "source_ip"),
            "envoy.config.listener.v3.FilterChainMatch" => {
                self.direct(it, "direct_source_prefix_ranges", "source_prefix_ranges");
            }
            "envoy.extensions.access_loggers.file.v3.FileAccessLog" => {
                // It follows ours in the same stream, so what is written before our entry is read before it.
                it.set("path", Tree::string("/dev/stderr", Origin::ISTIOD));
            }
            "envoy.extensions.access_loggers.stream.v3.StdoutAccessLog" => {
                let name = "type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StderrAccessLog";
                it.set(TYPE_KEY, Tree::string(name, Origin::ISTIOD));
            }
            _ => {}
        }
    }

    /// Compares a match on the direct address of a connection to the address that the client announces.
    fn direct(&mut self, it: &mut Tree<'_>, from: &str, to: &'static str) {
        let Some(value) = it.remove(from) else { return };
        self.leave_out(Why::DirectAddress, format!("{from}, read as {to}"), writer(&value));
        it.set(to, value);
    }

    fn secret(&mut self, it: &mut Tree<'_>, at: &str) {
        let kind = match at {
            "tls_certificate_sds_secret_configs" => SecretKind::Certificate,
            "validation_context_sds_secret_config" => SecretKind::Authority,
            _ => SecretKind::Generic,
        };
        let name = it.name().to_owned();
        let why = if kind == SecretKind::Generic { Why::Secret } else { Why::Certificate };
        self.leave_out(why, name.clone(), None);
        let number = self.secrets.len();
        let file = self.secrets.entry((kind, name)).or_insert_with(|| format!("./sds-{number}.json"));
        it.set("sds_config", tree(&json!({"resource_api_version": "V3", "path_config_source": {"path": file}})));
    }

    fn data_source(&mut self, it: &mut Tree<'_>, at: &str) {
        if !of_file(it) {
            return;
        }
        let path = it.str_at("filename");
        if self.place.stand_ins.wasm.values().any(|file| file == path) {
            return;
        }
        let StandIns { chain, key, authority, jwks, .. } = self.place.stand_ins;
        let (text, why): (&str, Why) = match at {
            "certificate_chain" => (chain, Why::Certificate),
            "private_key" => (key, Why::Certificate),
            "trusted_ca" => (authority, Why::Certificate),
            "local_jwks" => (jwks, Why::Certificate),
            // `user` with the password `password`.
            "users" => ("user:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", Why::Secret),
            // An empty script does nothing.
            _ if at.contains("code") => ("", Why::File),
            _ => ("stand-in", Why::Secret),
        };
        let what = if path.is_empty() { at.to_owned() } else { format!("{at} {path}") };
        let by = PatchId::of(it.origin);
        *it = Tree::new(Value::Map(
            vec![(Cow::Borrowed("inline_string"), Tree::string(text.to_owned(), it.origin))].into(),
        ));
        self.leave_out(why, what, by);
    }
}

/// The patch that wrote something in a node, if one did.
pub(super) fn writer(tree: &Tree<'_>) -> Option<PatchId> {
    PatchId::of(tree.origin).or_else(|| tree.origins().into_iter().find_map(PatchId::of))
}

/// An empty message.
pub(super) fn empty() -> Tree<'static> {
    Tree::empty()
}

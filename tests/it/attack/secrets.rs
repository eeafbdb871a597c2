//! Canaries in every place for a secret, through every command and format: none is printed. Text that only looks like a
//! secret stays.

use super::{capture, say};
use crate::support::Share;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Texts around a canary, marked with `@`.
const TEXTS: &[&str] = &[
    "request_handle:headers():add(\"x-api-key\", \"@\")",
    "local h = { ['authorization'] = '@' }",
    "local api_token = [[@]]",
    "headers:add(\"authorization\", \"Bearer \" .. \"@\")",
    "headers:add('authorization', 'Bearer @')",
    "local password = \"@\"",
    "{\"upstream\": {\"client_secret\": \"@\"}}",
    "{\\\"upstream\\\": {\\\"client_secret\\\": \\\"@\\\"}}",
    "upstream:\n  password: @\n  port: 80\n",
    "DB_PASSWORD=@\nDB_HOST=db",
    "host=db user=app password=@ dbname=x",
    "redis://app:@@redis:6379/0",
    "https://host/path?access_token=@&x=1",
    "[{\"name\": \"API_TOKEN\", \"value\": \"@\"}]",
    "- key: x-api-key\n  value: @\n",
    "curl -H 'X-Vault-Token: @' http://vault",
    "-----BEGIN PRIVATE KEY-----\n@\n-----END PRIVATE KEY-----\n",
    "eyJhbGciOiJIUzI1NiJ9.@.@",
    "ghp_@aaaaaaaaaaaaaaaaaaaa",
    "glpat-@aaaaaaaaaa",
    "github_pat_@aaaaaaaaaaaa",
    "sk_live_@",
    "xoxb-1-@",
    "export SESSION_TOKEN=@",
    "proxy_set_header Authorization: \"Basic @\"",
    "args: [--log-level, info, --token, @]",
    "local T = { key = \"@3f8a1c5eb7d20\" }",
    "local valid_keys = { [\"@3f8a1c5eb7d20\"] = true }",
];

/// Counts canaries.
#[derive(Default)]
pub(crate) struct Cage(usize);

impl Cage {
    fn one(&mut self) -> String {
        self.0 += 1;
        // Letters and digits, which every encoding keeps.
        format!("CANARY{:04}x7Qz", self.0)
    }

    fn text(&mut self, around: &str) -> String {
        let canary = self.one();
        // The last `@` of a URL belongs to the URL.
        match around.split_once("@@") {
            Some((before, after)) => format!("{before}{canary}@{after}"),
            None => around.replace('@', &canary),
        }
    }
}

fn filter(cage: &mut Cage, name: &str, patches: Vec<Value>) -> Value {
    json!({
        "apiVersion": "networking.istio.io/v1alpha3",
        "kind": "EnvoyFilter",
        "metadata": {
            "name": name, "namespace": "shop",
            "annotations": {"example.com/api-token": cage.one(), "note": cage.text("rotate glpat-@aaaaaaaa"), "kept": "KEPT note"},
        },
        "spec": {"workloadSelector": {"labels": {"app": "cart"}}, "configPatches": patches},
    })
}

fn http(value: Value) -> Value {
    json!({
        "applyTo": "HTTP_FILTER",
        "match": {"context": "SIDECAR_INBOUND", "listener": {"filterChain": {"filter": {
            "name": "envoy.filters.network.http_connection_manager", "subFilter": {"name": "envoy.filters.http.router"},
        }}}},
        "patch": {"operation": "INSERT_BEFORE", "value": value},
    })
}

fn cluster(operation: &str, value: Value) -> Value {
    json!({"applyTo": "CLUSTER", "match": {"context": "SIDECAR_OUTBOUND"}, "patch": {"operation": operation, "value": value}})
}

/// EnvoyFilters with a canary in every place for a secret, in patches that apply and in patches with findings.
pub(crate) fn filters(cage: &mut Cage) -> Vec<Value> {
    let mut all = Vec::new();
    for (at, text) in TEXTS.iter().enumerate() {
        let lua = |cage: &mut Cage| {
            json!({"name": format!("shop.lua-{at}"), "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
                // EF711 shows the script in its help.
                "inline_code": format!("function envoy_on_request(request_handle)\n-- {}\nend\n", cage.text(text).replace('\n', "\n-- ")),
            }})
        };
        let wasm = json!({"name": format!("shop.wasm-{at}"), "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm",
            "config": {
                "configuration": {"@type": "type.googleapis.com/google.protobuf.StringValue", "value": cage.text(text)},
                "vm_config": {
                    "environment_variables": {"key_values": {"API_TOKEN": cage.one(), "LOG_LEVEL": "KEPT"}},
                    "code": {"remote": {"http_uri": {"uri": cage.text("https://u:@@host/x.wasm"), "timeout": "1s", "cluster": "c"}}},
                },
            },
        }});
        let patches = vec![
            http(lua(cage)),
            http(wasm),
            // An unknown field next to a secret.
            cluster(
                "ADD",
                json!({
                    "name": format!("added-{at}"), "connect_timeout": "1s", "no_such_field": cage.text(text), "password": cage.one(),
                }),
            ),
        ];
        all.push(filter(cage, &format!("texts-{at}"), patches));
    }
    let tls = |cage: &mut Cage| {
        json!({"name": "envoy.transport_sockets.tls", "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
            "common_tls_context": {"tls_certificates": [{
                "certificate_chain": {"filename": "/etc/KEPT.pem"},
                "private_key": {"inline_string": cage.text("-----BEGIN EC PRIVATE KEY-----\n@\n@\n-----END EC PRIVATE KEY-----\n")},
                "password": {"inline_string": cage.one()},
            }]},
        }})
    };
    let patches = vec![
        cluster("MERGE", json!({"transport_socket": tls(cage)})),
        // istiod discards this one, and a message quotes part of it.
        cluster("MERGE", json!({"transport_socket": tls(cage), "connect_timeout": "soon"})),
        cluster(
            "ADD",
            json!({"name": "redis", "typed_extension_protocol_options": {"envoy.filters.network.redis_proxy": {
                "@type": "type.googleapis.com/envoy.extensions.filters.network.redis_proxy.v3.RedisProtocolOptions",
                "auth_password": {"inline_string": cage.one()},
            }}}),
        ),
        json!({
            "applyTo": "VIRTUAL_HOST",
            "match": {"context": "SIDECAR_OUTBOUND"},
            "patch": {"operation": "MERGE", "value": {
                "request_headers_to_add": [
                    {"header": {"key": "authorization", "value": cage.text("Basic @")}},
                    {"header": {"key": "x-api-key", "value": cage.one()}},
                    {"header": {"key": "cookie", "value": cage.text("session=@")}},
                    {"header": {"key": "x-plain", "value": "KEPT"}},
                ],
            }},
        }),
        http(json!({"name": "limit", "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit",
            "stat_prefix": "limit", "token_bucket": {"max_tokens": 10, "fill_interval": "1s"},
        }})),
        http(json!({"name": "oauth", "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.oauth2.v3.OAuth2",
            "config": {"credentials": {"client_id": "KEPT", "hmac_secret": {"inline_string": cage.one()}, "token_secret": {"inline_string": cage.one()}}},
        }})),
        http(json!({"name": "basic", "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.basic_auth.v3.BasicAuth",
            "users": {"inline_string": cage.text("user1:{SHA}@")},
        }})),
        http(json!({"name": "jwt", "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication",
            "providers": {"p": {"local_jwks": {"inline_string": cage.text("{\"keys\":[{\"k\":\"@\"}]}")}}},
        }})),
    ];
    all.push(filter(cage, "typed", patches));
    // Misspelled keys next to secrets, which `lint --diff` corrects.
    let mut fixable = http(json!({"name": "misspelled", "typed_config": {
        "@type": "type.googleapis.com/envoy.extensions.filters.http.basic_auth.v3.BasicAuth",
        "users": {"inline_strin": cage.text("user1:{SHA}@")},
        "pasword": cage.one(),
    }}));
    fixable["match"]["listener"]["filterChain"]["filter"]["subFilter"]["name"] = "envoy.router".into();
    let patches = vec![
        fixable,
        cluster("MERGE", json!({"conect_timeout": "1s", "credentals": cage.one(), "transport_socket": tls(cage)})),
    ];
    all.push(filter(cage, "fixable", patches));
    // Patches that `migrate` moves to native objects.
    let patches = vec![
        json!({
            "applyTo": "HTTP_ROUTE", "match": {"context": "SIDECAR_OUTBOUND"},
            "patch": {"operation": "MERGE", "value": {"request_headers_to_add": [
                {"header": {"key": "authorization", "value": cage.text("Bearer @")}}, {"header": {"key": "x-api-key", "value": cage.one()}},
            ]}},
        }),
        http(json!({"name": "envoy.filters.http.jwt_authn", "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication",
            "providers": {"p": {"issuer": "https://issuer", "local_jwks": {"inline_string": cage.text("{\"keys\":[{\"kty\":\"oct\",\"k\":\"@\"}]}")}}},
            "rules": [{"match": {"prefix": "/"}, "requires": {"provider_name": "p"}}],
        }})),
    ];
    all.push(filter(cage, "movable", patches));
    all
}

fn yaml(filters: &[Value]) -> String {
    filters.iter().map(|filter| format!("{filter:#}\n---\n")).collect()
}

/// Where the output of runs repeats a canary.
fn escaped(folder: &Path, runs: &[Vec<&str>]) -> Vec<String> {
    let mut out = Vec::new();
    for arguments in runs {
        let said = say(folder, arguments);
        for text in [&said.out, &said.err] {
            let line = text.lines().find(|line| line.contains("CANARY"));
            out.extend(line.map(|line| {
                let at = line.find("CANARY").unwrap();
                let from = (0..at).rev().nth(60).unwrap_or(0);
                format!("{arguments:?}: {}", line.chars().skip(from).take(120).collect::<String>())
            }));
        }
    }
    out
}

/// The commands that run an Envoy: its logs and probes pass through the same redaction.
#[test]
#[ignore = "needs an Envoy"]
fn canaries_stay_in_their_cage_with_an_envoy() {
    let mut cage = Cage::default();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f.yaml"), yaml(&filters(&mut cage))).unwrap();
    let init = say(folder.path(), &["test", "--init", "f.yaml"]);
    assert_eq!(init.code, 0, "{}", init.err);
    fs::write(folder.path().join("f.test.yaml"), init.out).unwrap();
    let envoy = crate::behaviour::envoy();
    let mut runs: Vec<Vec<&str>> = vec![
        vec!["lint", "--demo", "f.yaml", "--envoy", &envoy],
        vec!["lint", "--demo", "f.yaml", "--envoy", &envoy, "--run"],
        vec!["render", "--demo", "-f", "f.yaml", "--only", "changed", "--envoy", &envoy],
    ];
    for form in ["human", "json", "html"] {
        runs.push(vec!["try", "--demo", "-f", "f.yaml", "--inbound", "8080", "/", "-o", form, "--envoy", &envoy, "-v"]);
    }
    for form in ["human", "json", "junit", "tap", "github", "markdown"] {
        runs.push(vec!["test", "f.test.yaml", "-o", form, "--envoy", &envoy]);
    }
    // Headers of a request, of a test and of what arrives upstream, whose names stand on other lines in JSON.
    let (key, cookie) = (format!("x-api-key: {}", cage.one()), format!("cookie: session={}", cage.one()));
    for form in ["human", "json", "html"] {
        runs.push(vec![
            "try",
            "--demo",
            "--inbound",
            "8080",
            "/",
            "-H",
            &key,
            "-H",
            &cookie,
            "-o",
            form,
            "--envoy",
            &envoy,
        ]);
    }
    let test = format!(
        "kind: EnvoyFilterTest\nproxy: {{demo: true}}\ntests:\n- name: a\n  request: {{inbound: 8080, path: /, headers: {{x-api-key: {}, cookie: {}, x.auth-token: {}{}}}}}\n  \
         expect: {{status: 200, upstream: {{headers: {{x-api-key: other, cookie: other, x.auth-token: other}}}}}}\n",
        cage.one(),
        cage.one(),
        cage.one(),
        "a".repeat(400)
    );
    fs::write(folder.path().join("headers.test.yaml"), test).unwrap();
    for form in ["human", "json", "junit", "tap", "github", "markdown"] {
        runs.push(vec!["test", "headers.test.yaml", "-o", form, "--envoy", &envoy]);
    }
    let out = escaped(folder.path(), &runs);
    assert!(out.is_empty(), "{} outputs repeat a secret:\n{}", out.len(), out.join("\n"));
}

fn two_hundred_canaries_stay_in_their_cage_by(share: Share) {
    let mut cage = Cage::default();
    let filters = filters(&mut cage);
    println!("{} canaries", cage.0);
    assert!(cage.0 >= 200, "{}", cage.0);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f.yaml"), yaml(&filters)).unwrap();
    // Pretty-printed, so that excerpts show lines; and on one line.
    let flat: Vec<String> = filters.iter().map(Value::to_string).collect();
    fs::write(folder.path().join("flat.yaml"), flat.join("\n---\n")).unwrap();
    // Broken at the end, where the parser quotes the text.
    let broken: Vec<String> =
        filters.iter().map(|filter| format!("{filter:#}").replacen("\"spec\": {", "\"spec\": {,", 1)).collect();
    fs::write(folder.path().join("broken.yaml"), broken.join("\n---\n")).unwrap();
    let texts: Vec<(String, String)> = filters
        .iter()
        .map(|filter| (filter["metadata"]["name"].as_str().unwrap().to_owned(), filter.to_string()))
        .collect();
    let texts: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    capture(&folder.path().join("capture"), &texts);
    let mut runs: Vec<Vec<&str>> = Vec::new();
    for form in ["human", "json", "sarif", "junit", "github", "gitlab", "markdown"] {
        for file in ["f.yaml", "flat.yaml", "broken.yaml"] {
            runs.push(vec!["lint", "-o", form, file, "-v"]);
            runs.push(vec!["lint", "-o", form, file, "--demo"]);
        }
        runs.push(vec!["lint", "-o", form, "--capture", "capture"]);
    }
    for arguments in [
        &["lint", "--unsafe-fixes", "--diff", "f.yaml"][..],
        &["lint", "--stat", "f.yaml"],
        &["explain", "pod", "cart", "--demo", "-f", "f.yaml", "-v"],
        &["explain", "pod", "cart", "--demo", "-f", "f.yaml", "-o", "json"],
        &["explain", "filter", "texts-0", "--demo", "-f", "f.yaml"],
        &["explain", "field", "cluster/added-0/name", "--demo", "-f", "f.yaml"],
        &["diff", "--demo", "-f", "f.yaml"],
        &["diff", "--demo", "-f", "f.yaml", "-o", "json"],
        &["diff", "--demo", "--current", "f.yaml"],
        &["render", "--demo", "-f", "f.yaml"],
        &["render", "--demo", "-f", "f.yaml", "--only", "changed"],
        &["render", "--demo", "-f", "f.yaml", "--only", "changed", "-o", "yaml"],
        &["audit", "--from", "1.24", "--to", "1.31", "-f", "f.yaml"],
        &["audit", "--from", "1.24", "--to", "1.31", "-f", "f.yaml", "-o", "json"],
        &["audit", "--from", "1.24", "--to", "1.31", "-f", "f.yaml", "-o", "markdown"],
        &["audit", "--from", "1.24", "--to", "1.31", "-f", "f.yaml", "-o", "html"],
        &["lint", "--diff", "f.yaml"],
        &["lint", "--unsafe-fixes", "-o", "sarif", "f.yaml"],
        &["migrate", "f.yaml"],
        &["migrate", "f.yaml", "--accept", "reviewed", "-v"],
        &["migrate", "f.yaml", "--accept", "reviewed", "-o", "yaml"],
        &["migrate", "f.yaml", "--accept", "reviewed", "-o", "diff"],
        &["migrate", "f.yaml", "--accept", "reviewed", "-o", "json"],
        &["migrate", "f.yaml", "--accept", "reviewed", "-o", "markdown"],
        &["migrate", "f.yaml", "--accept", "reviewed", "-o", "html"],
        &["migrate", "f.yaml", "--to", "ambient"],
        &["test", "--init", "f.yaml"],
        &["try", "--demo", "-f", "f.yaml", "/", "--envoy", "./none"],
        &["doctor", "-f", "f.yaml", "--istiod", "./none"],
        &["dump", "-f", "f.yaml", "--istiod", "./none"],
        &["diff", "--demo", "-f", "f.yaml", "-o", "markdown"],
        &["explain", "workload/cart", "--capture", "capture"],
        &["explain", "workload/cart", "-f", "f.yaml"],
        &["get", "--capture", "capture", "-o", "yaml"],
        &["get", "--capture", "capture", "-o", "wide"],
        &["status", "--capture", "capture", "-o", "json"],
        &["status", "--capture", "capture", "-o", "yaml"],
        &["lint", "--capture", "capture", "--unsafe-fixes", "--diff"],
        &["migrate", "--capture", "capture", "--accept", "reviewed"],
        &["get", "--capture", "capture", "-o", "json"],
        &["get", "--capture", "capture"],
        &["status", "--capture", "capture"],
        &["explain", "pod", "cart-1", "--capture", "capture", "-v"],
    ] {
        runs.push(arguments.to_vec());
    }
    let out = escaped(folder.path(), &share.of(runs));
    assert!(out.is_empty(), "{} outputs repeat a secret:\n{}", out.len(), out.join("\n"));
    // Not everything is hidden: text that only looks like a secret stays, and an option shows everything.
    let render = ["render", "--demo", "-f", "f.yaml", "--only", "changed"];
    let hidden = say(folder.path(), &render).out;
    for kept in
        ["/etc/KEPT.pem", "\"max_tokens\"", "x-plain", "envoy.extensions.filters.http.oauth2.v3.OAuth2", "LOG_LEVEL"]
    {
        assert!(hidden.contains(kept), "{kept}");
    }
    assert!(hidden.contains("[redacted]") && serde_json::from_str::<Value>(&hidden).is_ok());
    let shown = say(folder.path(), &[&render[..], &["--show-secrets"]].concat()).out;
    assert!(shown.contains("CANARY") && !shown.contains("[redacted]"));
}

in_part_and_in_full!(
    two_hundred_canaries_stay_in_their_cage,
    two_hundred_canaries_stay_in_their_cage_in_full,
    two_hundred_canaries_stay_in_their_cage_by
);

/// A dump can contain secrets that no EnvoyFilter of the input has: of filters applied earlier, or of the bootstrap.
#[test]
fn canaries_of_a_dump_stay_in_it() {
    let mut cage = Cage::default();
    let folder = tempfile::tempdir().unwrap();
    let dump = say(folder.path(), &["render", "--demo", "--show-secrets"]).out;
    let mut dump: Value = serde_json::from_str(&dump).unwrap();
    for section in dump["configs"].as_array_mut().unwrap() {
        if let Some(bootstrap) = section.get_mut("bootstrap") {
            bootstrap["node"]["metadata"]["ENV"] = json!([{"name": "API_TOKEN", "value": cage.one()}]);
            bootstrap["tracing"] = json!({"http": {"name": "t", "typed_config": {
                "@type": "type.googleapis.com/envoy.config.trace.v3.LightstepConfig", "access_token": {"inline_string": cage.one()},
            }}});
        }
        for cluster in
            section.get_mut("dynamic_active_clusters").and_then(Value::as_array_mut).into_iter().flatten().take(3)
        {
            cluster["cluster"]["transport_socket"] = json!({"name": "tls", "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
                "common_tls_context": {"tls_certificates": [{
                    "private_key": {"inline_string": cage.one()}, "password": {"inline_string": cage.one()},
                }]},
            }});
            cluster["error_state"] = json!({"details": format!("cannot parse password: {}", cage.one())});
        }
    }
    fs::write(folder.path().join("dump.json"), format!("{dump:#}")).unwrap();
    let filter = json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter", "metadata": {"name": "f", "namespace": "shop"},
        "spec": {"configPatches": [cluster("MERGE", json!({"connect_timeout": "7s"}))]},
    });
    fs::write(folder.path().join("f.yaml"), filter.to_string()).unwrap();
    let of = ["--dump", "dump.json", "-f", "f.yaml"];
    let mut runs: Vec<Vec<&str>> = Vec::new();
    for command in [
        &["render"][..],
        &["render", "-o", "yaml"],
        &["render", "--only", "changed"],
        &["diff"],
        &["diff", "-o", "json"],
        &["explain", "pod", "cart"],
        &["explain", "pod", "cart", "-o", "json"],
        &["explain", "filter", "f"],
    ] {
        runs.push([command, &of].concat());
    }
    let out = escaped(folder.path(), &runs);
    assert!(out.is_empty(), "{} outputs repeat a secret:\n{}", out.len(), out.join("\n"));
    let render = say(folder.path(), &[&["render"], &of[..]].concat()).out;
    assert!(render.contains("[redacted]") && serde_json::from_str::<Value>(&render).is_ok(), "{render}");
    let shown = say(folder.path(), &[&["render", "--show-secrets"], &of[..]].concat()).out;
    assert_eq!(shown.matches("CANARY").count(), cage.0);
}

/// A capture stores objects through the same code, tested here without a cluster.
#[test]
fn captured_objects_hold_no_canary() {
    use kubectl_envoyfilter::model::redact::Redactor;
    let mut cage = Cage::default();
    let redactor = Redactor::new(&[]).unwrap();
    for mut filter in filters(&mut cage) {
        redactor.redact(&mut filter);
        let text = filter.to_string();
        let at = text.find("CANARY").unwrap_or(text.len());
        assert!(at == text.len(), "{}", &text[at.saturating_sub(80)..(at + 30).min(text.len())]);
        assert!(text.contains("KEPT note"));
    }
}

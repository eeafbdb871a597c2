//! Ways to log in that a kubeconfig can request: what reaches the API server, and the message if none works.

use super::mock::Mock;
use super::{Said, run, shop};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::{fs, thread};

/// A run with this user in the kubeconfig.
fn as_user(mock: &Mock, user: &Value) -> Said {
    let path = mock.kubeconfig("shop");
    let text = fs::read_to_string(&path).unwrap().replace("user: {token: canary-token}", &format!("user: {user}"));
    assert!(!text.contains("canary-token"));
    fs::write(&path, text).unwrap();
    run(&path, &["get"])
}

/// Whether every request had this header.
fn carried(mock: &Mock, header: &str) -> bool {
    let requests = mock.requests();
    !requests.is_empty() && requests.iter().all(|one| one.headers.iter().any(|have| have.eq_ignore_ascii_case(header)))
}

fn script(folder: &tempfile::TempDir, text: &str) -> PathBuf {
    let path = folder.path().join("login");
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn plugin(command: &str) -> Value {
    json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never", "command": command,
        "args": ["token", "--for", "mesh"], "env": [{"name": "LOGIN_AS", "value": "jane"}],
        "installHint": "get it from the platform team",
    }})
}

#[test]
fn a_plugin_that_is_run_gives_the_token() {
    let folder = tempfile::tempdir().unwrap();
    let credential = r#"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"'"$LOGIN_AS-$*"'"}}"#;
    let path = script(&folder, &format!("echo '{credential}'"));
    let mock = shop().start();
    let said = as_user(&mock, &plugin(path.to_str().unwrap()));
    assert!(said.out.contains("stamp-requests"), "{}{}", said.out, said.err);
    assert!(carried(&mock, "authorization: Bearer jane-token --for mesh"), "{:?}", mock.requests());
}

#[test]
fn a_failing_or_missing_plugin_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mock = shop().start();
    let failing = |text: &str| {
        let path = script(&folder, text);
        let said = as_user(&mock, &plugin(path.to_str().unwrap()));
        assert_eq!(said.code, 2, "{}", said.err);
        // Neither its output, which may be a token, nor its input is printed.
        assert!(!said.err.contains("canary") && !said.err.contains("jane"), "{}", said.err);
        said.err.replace(path.to_str().unwrap(), "PATH")
    };
    let said = failing("echo canary-token; echo 'the session has expired' >&2; exit 3");
    let words = "the kubeconfig's login plugin failed with exit status: 3: the session has expired (`PATH`)";
    assert!(said.contains(words), "{said}");
    let said = failing("echo canary-token");
    assert!(said.contains("is not an ExecCredential with a status (`PATH`)"), "{said}");
    let said = as_user(&mock, &plugin("/nonexistent/login"));
    assert_eq!(said.code, 2, "{}", said.err);
    let words = "`/nonexistent/login` does not start: No such file or directory; get it from the platform team";
    assert!(said.err.contains(words), "{}", said.err);
    assert_eq!(mock.requests().len(), 0);
}

/// A parser's excerpt of a kubeconfig would show the token next to the error.
#[test]
fn a_broken_kubeconfig_is_not_quoted() {
    let mock = shop().start();
    let path = mock.kubeconfig("shop");
    let text = fs::read_to_string(&path).unwrap();
    for (from, to, place) in [
        ("user: {token: canary-token}", "user: {token: canary-token, username: [canary]}", ":5:57: "),
        ("user: {token: canary-token}", "user: canary-token", ":5:25: "),
        ("users:", "users: canary-token:", ":5:"),
    ] {
        assert!(text.contains(from));
        fs::write(&path, text.replace(from, to)).unwrap();
        let said = run(&path, &["get"]);
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(said.err.contains(&format!("{}{place}", path.display())), "{}", said.err);
        assert!(!said.err.contains("canary"), "{}", said.err);
    }
}

#[test]
fn a_token_of_openid_connect_is_used_while_it_lasts() {
    let jwt = |expires: i64| {
        let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
        format!("{}.{}.c2lnbmF0dXJl", part(json!({"alg": "none"})), part(json!({"sub": "jane", "exp": expires})))
    };
    let user = |token: &str| json!({"auth-provider": {"name": "oidc", "config": {"id-token": token}}});
    let mock = shop().start();
    let token = jwt(4_102_444_800);
    let said = as_user(&mock, &user(&token));
    assert!(said.out.contains("stamp-requests"), "{}{}", said.out, said.err);
    assert!(carried(&mock, &format!("authorization: Bearer {token}")), "{:?}", mock.requests());
    // An expired token cannot be renewed.
    let mock = shop().start();
    let over = jwt(1_000_000_000);
    let said = as_user(&mock, &user(&over));
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
    assert!(said.err.contains("does not accept the credentials") && !said.err.contains(&over), "{}", said.err);
}

#[test]
fn a_token_may_be_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    fs::write(&path, "of-a-file\n").unwrap();
    let mock = shop().start();
    let said = as_user(&mock, &json!({"tokenFile": path}));
    assert!(said.out.contains("stamp-requests"), "{}{}", said.out, said.err);
    assert!(carried(&mock, "authorization: Bearer of-a-file"), "{:?}", mock.requests());
}

/// Missing files of the list are skipped, as in kubectl.
#[test]
fn several_kubeconfigs_are_one() {
    let mock = shop().start();
    let whole = mock.kubeconfig("shop");
    let folder = tempfile::tempdir().unwrap();
    let first = folder.path().join("first");
    fs::write(&first, "apiVersion: v1\nkind: Config\ncurrent-context: other\n").unwrap();
    let list = [folder.path().join("nobody"), first, whole];
    let list = std::env::join_paths(list).unwrap();
    let said = run(Path::new(&list), &["get"]);
    assert!(said.out.contains("stamp-requests"), "{}{}", said.out, said.err);
}

/// The names that exist are in the message, the nearest first. Nothing is sent without credentials for a user that does not
/// exist.
#[test]
fn a_name_that_the_kubeconfig_lacks_is_said_with_those_it_has() {
    let mock = shop().start();
    let path = mock.kubeconfig("shop");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mesh.tar");
    let (context, cluster, user) = (["--context", "othr"], ["--cluster", "nope"], ["--user", "nope"]);
    for (option, words) in [
        (context, "the kubeconfig has no context `othr`; contexts: other, mock\n"),
        (cluster, "the kubeconfig has no cluster `nope`; clusters: c\n"),
        (user, "the kubeconfig has no user `nope`; users: u\n"),
        (["--kubeconfig", "/nonexistent/config"], "cannot read kubeconfig /nonexistent/config: No such file"),
    ] {
        for command in [
            &["get"][..],
            &["status"],
            &["lint"],
            &["audit", "--to", "1.31"],
            &["version"],
            &["explain", "pod/cart"],
            &["render", "cart"],
            &["capture", file.to_str().unwrap()],
            &["watch"],
            &["get", "--watch"],
        ] {
            let said = run(&path, &[command, &option[..]].concat());
            assert_eq!(said.code, 2, "{command:?} {option:?}: {}{}", said.out, said.err);
            assert!(said.err.contains(words), "{command:?} {option:?}: {}", said.err);
        }
    }
    let text = fs::read_to_string(&path).unwrap();
    for (from, to, words) in [
        ("current-context: mock", "current-context: gone", "the kubeconfig has no current context `gone`; contexts: "),
        ("current-context: mock\n", "", "the kubeconfig has no current context; contexts: mock, other"),
        ("{cluster: c, ", "{cluster: d, ", "the kubeconfig has no cluster `d` of context `mock`; clusters: c"),
        // Without credentials, every answer would be about the rights of nobody.
        ("user: u", "user: gone", "the kubeconfig has no user `gone` of context `mock`; users: u"),
    ] {
        assert!(text.contains(from));
        fs::write(&path, text.replace(from, to)).unwrap();
        let said = run(&path, &["get"]);
        assert!(said.code == 2 && said.err.contains(words), "{from}: {}", said.err);
    }
    assert_eq!(mock.requests().len(), 0);
    // A token takes the user's place.
    let said = run(&path, &["get", "--token", "canary-token"]);
    assert!(said.out.contains("stamp-requests"), "{}{}", said.out, said.err);
}

/// As kubectl: an address and a token need no kubeconfig.
#[test]
fn a_server_and_a_token_need_no_kubeconfig() {
    let mock = shop().start();
    let server = format!("http://{}", mock.address);
    let none = Path::new("/nonexistent/config");
    let said = run(none, &["get", "-n", "shop", "--server", &server, "--token", "canary-token"]);
    assert!(said.code == 0 && said.out.contains("stamp-requests"), "{}{}", said.out, said.err);
    assert!(carried(&mock, "authorization: Bearer canary-token"), "{:?}", mock.requests());
    let said = run(none, &["get", "-n", "shop", "--server", "http://127.0.0.1:1"]);
    assert!(said.code == 3 && said.err.contains("cannot connect to http://127.0.0.1:1"), "{}", said.err);
}

/// A proxy that connects to any requested address, and the requests it received.
fn tunnel() -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&asked);
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let kept = Arc::clone(&kept);
            thread::spawn(move || {
                let mut head = String::new();
                let mut lines = BufReader::new(&client);
                while !head.ends_with("\r\n\r\n") {
                    if lines.read_line(&mut head).unwrap_or(0) == 0 {
                        return;
                    }
                }
                let wanted = head.split(' ').nth(1).unwrap().to_owned();
                kept.lock().unwrap().push(head.lines().next().unwrap().to_owned());
                let server = TcpStream::connect(wanted).unwrap();
                (&client).write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
                let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                thread::spawn(move || std::io::copy(&mut from, &mut to));
                let _ = std::io::copy(&mut &client, &mut &server);
            });
        }
    });
    (address, asked)
}

#[test]
fn the_proxy_of_a_kubeconfig_is_used() {
    let mock = shop().start();
    let (proxy, asked) = tunnel();
    let path = mock.kubeconfig("shop");
    let text = fs::read_to_string(&path).unwrap();
    let with_proxy = text.replace("cluster: {server:", &format!("cluster: {{proxy-url: \"http://{proxy}\", server:"));
    assert_ne!(text, with_proxy);
    fs::write(&path, with_proxy).unwrap();
    let said = run(&path, &["get"]);
    assert!(said.out.contains("stamp-requests"), "{}{}", said.out, said.err);
    let asked = asked.lock().unwrap();
    assert!(!asked.is_empty() && asked.iter().all(|line| line.starts_with("CONNECT 127.0.0.1:")), "{asked:?}");
}

/// As kubectl: without a current context, a server or a cluster is enough, and a user of the kubeconfig can log in.
#[test]
fn a_server_or_a_cluster_needs_no_current_context() {
    let mock = shop().start();
    let path = mock.kubeconfig("shop");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("current-context: mock\n", "")).unwrap();
    let server = format!("http://{}", mock.address);
    let get = |options: &[&str]| run(&path, &[&["get", "-n", "shop"], options].concat());
    for options in [
        &["--server", &server, "--token", "canary-token"][..],
        &["--server", &server, "--user", "u"],
        &["--cluster", "c", "--user", "u"],
        // What a script with an unset variable passes.
        &["--context", "", "--server", &server, "--user", "u"],
        &["--context", "mock", "--cluster", "", "--user", "", "--server", ""],
    ] {
        let before = mock.requests().len();
        let said = get(options);
        assert!(said.code == 0 && said.out.contains("stamp-requests"), "{options:?}: {}{}", said.out, said.err);
        let requests = mock.requests().split_off(before);
        let logged_in =
            |headers: &[String]| headers.iter().any(|it| it.eq_ignore_ascii_case("authorization: Bearer canary-token"));
        assert!(!requests.is_empty() && requests.iter().all(|it| logged_in(&it.headers)), "{options:?}");
    }
    let before = mock.requests().len();
    for (options, words) in [
        (&["--user", "u"][..], "the kubeconfig has no current context; contexts: mock, other"),
        (&["--cluster", "nope", "--server", &server], "the kubeconfig has no cluster `nope`; clusters: c\n"),
        (&["--user", "nope", "--server", &server], "the kubeconfig has no user `nope`; users: u\n"),
    ] {
        let said = get(options);
        assert!(said.code == 2 && said.err.contains(words), "{options:?}: {}{}", said.out, said.err);
    }
    assert_eq!(mock.requests().len(), before);
}

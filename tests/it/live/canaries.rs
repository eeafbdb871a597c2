//! Canaries in EnvoyFilters of a cluster: no command on a running mesh prints one in any format, or writes one to the
//! cluster.

use super::mock::World;
use super::withdrawn::for_a_while;
use super::{ISTIOD, Said, demo_dump, live, pod};
use crate::attack::secrets::{Cage, filters};
use crate::support::Share;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Everything in a folder, recursively.
fn bytes(path: &Path) -> Vec<u8> {
    if path.is_dir() {
        return fs::read_dir(path).unwrap().flat_map(|entry| bytes(&entry.unwrap().path())).collect();
    }
    let bytes = fs::read(path).unwrap();
    zstd::decode_all(&bytes[..]).unwrap_or(bytes)
}

fn no_canary_leaves_a_running_mesh_by(share: Share) {
    let mut cage = Cage::default();
    let texts: Vec<String> = filters(&mut cage).iter().map(Value::to_string).collect();
    let mut world = World::new(&format!("{ISTIOD}---\n{}", texts.join("\n---\n")));
    world.add(pod("shop", "cart", 1));
    world.add(pod("shop", "cart", 2));
    let mock = world.dump("shop/cart-1", demo_dump()).dump("shop/cart-2", demo_dump()).start();
    let folder = tempfile::tempdir().unwrap();
    let (file, captured) = (folder.path().join("f.yaml"), folder.path().join("mesh.tar.zst"));
    // Changed once more: the differences are next to secrets.
    fs::write(&file, texts.join("\n---\n").replace("connect_timeout", "per_connection_buffer_limit_bytes")).unwrap();
    let (file, captured_name) = (file.to_str().unwrap(), captured.to_str().unwrap());
    let runs: &[&[&str]] = &[
        &["get"],
        &["get", "-o", "wide"],
        &["get", "-o", "json"],
        &["get", "-o", "yaml"],
        &["get", "-o", "custom-columns=N:.metadata.name,A:.metadata.annotations"],
        &["get", "--watch"],
        &["status"],
        &["status", "-o", "json", "--all-replicas"],
        &["status", "-o", "yaml"],
        &["status", "--watch"],
        &["watch", "--once", "--rate", "6000", "--settle", "100ms"],
        &["watch", "--once", "--rate", "6000", "--settle", "100ms", "-o", "json"],
        &["explain", "pod/cart-1", "-v"],
        &["explain", "pod/cart-1", "-o", "json"],
        &["explain", "filter/typed", "-v"],
        &["explain", "filter/texts-0", "-v"],
        &["explain", "workload/cart"],
        &["lint", "-v"],
        &["lint", "-o", "json"],
        &["lint", "-o", "markdown"],
        &["lint", "--unsafe-fixes", "--diff"],
        &["migrate"],
        &["migrate", "--accept", "reviewed", "-o", "yaml"],
        &["migrate", "--accept", "reviewed", "-o", "json"],
        &["diff", "-f", file],
        &["diff", "-f", file, "-o", "json"],
        &["diff", "-f", file, "-o", "markdown", "-v"],
        &["diff", "--between", "mock", captured_name],
        &["diff", "--between", "mock", captured_name, "-o", "json"],
        &["render", "pod/cart-1", "--only", "changed"],
        &["audit", "--from", "1.24", "--to", "1.31"],
        &["audit", "--from", "1.24", "--to", "1.31", "-o", "json"],
        &["version", "-A"],
        &["webhook", "report", "--api", "both", "--dry-run=client"],
        &["webhook", "ladder"],
        &["get", "--capture", captured_name, "-o", "json"],
        &["explain", "pod/cart-1", "--capture", captured_name, "-v"],
    ];
    let said = live(&mock, &["capture", captured_name, "--dump-via", "pod-proxy"]);
    assert!(captured.exists(), "{}{}", said.out, said.err);
    let mut out = Vec::new();
    for arguments in share.of(runs) {
        let all = [*arguments, &["--dump-via", "pod-proxy"]].concat();
        let Said { out: text, err, .. } =
            if arguments.contains(&"--watch") { for_a_while(&mock, &all) } else { live(&mock, &all) };
        assert!(!text.is_empty() || !err.is_empty(), "{arguments:?}");
        for line in text.lines().chain(err.lines()) {
            if let Some(at) = line.find("CANARY") {
                let from = (0..at).rev().filter(|&at| line.is_char_boundary(at)).nth(60).unwrap_or(0);
                out.push(format!("{arguments:?}: {}", line[from..].chars().take(120).collect::<String>()));
                break;
            }
        }
    }
    assert!(out.is_empty(), "{} outputs repeat a secret:\n{}", out.len(), out.join("\n"));
    let stored = String::from_utf8_lossy(&bytes(&captured)).into_owned();
    assert!(stored.contains("KEPT note") && !stored.contains("CANARY"));
    // Events of a watch.
    for_a_while(&mock, &["watch", "--events", "--rate", "6000", "--settle", "100ms", "--dump-via", "pod-proxy"]);
    let events = mock.objects("Event");
    assert!(!events.is_empty());
    for event in events {
        assert!(!event.to_string().contains("CANARY"), "{event}");
    }
}

in_part_and_in_full!(
    no_canary_leaves_a_running_mesh,
    no_canary_leaves_a_running_mesh_in_full,
    no_canary_leaves_a_running_mesh_by
);

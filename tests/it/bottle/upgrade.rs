//! `audit` with the istiod of the next release reports the changes that recordings of both releases show.

use super::commands::{plain, shop};
use super::{istiod, resources};
use crate::support::{dumps, testdata};
use serde_json::Value as Json;
use std::collections::BTreeSet;

#[test]
#[ignore = "needs Go: .ci/run"]
fn changes_without_filters_equal_the_recordings() {
    let (istiod, folder) = (istiod("1.31"), tempfile::tempdir().unwrap());
    let mesh = shop(folder.path());
    let (mesh, istiod) = (mesh.to_str().unwrap(), istiod.to_str().unwrap());
    let old = testdata("reference/shop/releases/1.28");
    let base = old.join("base");
    let dumps_of = ["--dump", base.to_str().unwrap(), "--from", "1.28", "--to", "1.31"];
    let mut arguments = vec!["audit", "-f", mesh, "-o", "json", "--all-changes", "--istiod-to", istiod];
    arguments.extend(dumps_of);
    let (code, out, err) = plain(&arguments);
    let report: Json = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{code} {error}: {err}"));

    let sources: Vec<(&str, &str)> = report["bases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["release"].as_str().unwrap(), one["source"].as_str().unwrap()))
        .collect();
    let want = [("1.28", "dumps"), ("1.29", "forecast"), ("1.30", "forecast"), ("1.31", "computed")];
    assert_eq!(sources, want, "{err}");

    let told: BTreeSet<(String, String, String)> = report["allChanges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| ["proxy", "kind", "name"].map(|key| one[key].as_str().unwrap().to_owned()))
        .map(|[proxy, kind, name]| (proxy, kind, name))
        .collect();
    let (before, after) = (dumps(&old), dumps(&testdata("reference/shop")));
    let mut recorded = BTreeSet::new();
    for (name, dump) in &before {
        let (old, new) = (resources(dump), resources(&after[name]));
        for key in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            if old.get(key) != new.get(key) {
                recorded.insert((dump.proxy().unwrap().full_name(), key.0.as_str().to_owned(), key.1.clone()));
            }
        }
    }
    // Proxies that no filter reaches are not requested.
    let proxies: BTreeSet<&String> = told.iter().map(|(proxy, ..)| proxy).collect();
    let recorded: BTreeSet<_> = recorded.iter().filter(|(proxy, ..)| proxies.contains(proxy)).cloned().collect();
    assert!(!recorded.is_empty());
    assert_eq!(told, recorded);

    // Without the target's istiod, no claim is made.
    let mut arguments = vec!["audit", "-f", mesh, "--all-changes"];
    arguments.extend(dumps_of);
    let (_, out, err) = plain(&arguments);
    assert!(out.contains("what changes without any EnvoyFilter is not known"), "{out}{err}");

    // The current release is unknown; the binary has another release than stated.
    let (code, _, err) = plain(&["audit", "-f", mesh, "--to", "1.31", "--istiod-to", istiod]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("nothing tells what the proxies have now"), "{err}");
    let other = format!("1.30={istiod}");
    let (code, _, err) = plain(&["audit", "-f", mesh, "--to", "1.31", "--istiod", &other]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("is istiod 1.31.0, not 1.30"), "{err}");
}

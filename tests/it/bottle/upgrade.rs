//! `audit` with the istiod of the next release reports the changes that recordings of both releases show.

use super::commands::{plain, shop};
use super::{istiod, resources};
use crate::support::{dumps, testdata};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::path::Path;

/// Proxy, kind and name of a resource.
type Change = (String, String, String);

/// What a report says changes without any filter.
fn reported(report: &Json) -> BTreeSet<Change> {
    let changes = report["allChanges"].as_array().unwrap().iter();
    changes
        .map(|one| ["proxy", "kind", "name"].map(|key| one[key].as_str().unwrap().to_owned()))
        .map(|[proxy, kind, name]| (proxy, kind, name))
        .collect()
}

/// What differs between the recordings of an older release of the shop and those of the newest.
fn recorded(old: &Path) -> BTreeSet<Change> {
    let (before, after) = (dumps(old), dumps(&testdata("reference/shop")));
    let mut changes = BTreeSet::new();
    for (name, dump) in &before {
        let (old, new) = (resources(dump), resources(&after[name]));
        for key in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            if old.get(key) != new.get(key) {
                changes.insert((dump.proxy().unwrap().full_name(), key.0.as_str().to_owned(), key.1.clone()));
            }
        }
    }
    changes
}

/// Which release's base comes from where.
fn sources(report: &Json) -> Vec<(&str, &str)> {
    let bases = report["bases"].as_array().unwrap().iter();
    bases.map(|one| (one["release"].as_str().unwrap(), one["source"].as_str().unwrap())).collect()
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn a_step_between_two_istiods_equals_the_recordings() {
    let (old, new, folder) = (istiod("1.30"), istiod("1.31"), tempfile::tempdir().unwrap());
    let mesh = shop(folder.path());
    let (oldest, newest) = (old.to_str().unwrap(), new.to_str().unwrap());
    let (old, new) = (format!("1.30={oldest}"), format!("1.31={newest}"));
    let step = ["--from", "1.30", "--to", "1.31", "--istiod", &old, "--istiod", &new];
    let mut arguments = vec!["audit", "-f", mesh.to_str().unwrap(), "-o", "json", "--all-changes"];
    arguments.extend(step);
    let (code, out, err) = plain(&arguments);
    let report: Json = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{code} {error}: {err}"));
    assert_eq!(sources(&report), [("1.30", "computed"), ("1.31", "computed")], "{err}");
    let recorded = recorded(&testdata("reference/shop/releases/1.30"));
    let reported = reported(&report);
    // The one proxy that the filters reach; recorded proxies and those of manifests are both named by their pod.
    let of_cart = |(proxy, kind, name): Change| (proxy == "shop/cart-1").then_some((kind, name));
    let want: BTreeSet<_> = recorded.into_iter().filter_map(of_cart).collect();
    assert!(want.len() > 5, "{want:#?}");
    assert_eq!(reported.into_iter().filter_map(of_cart).collect::<BTreeSet<_>>(), want);

    // The binaries alone name both ends of the upgrade, whatever their order and whether or not their release is stated.
    for named in [["--istiod", &new, "--istiod", &old], ["--istiod", newest, "--istiod", oldest]] {
        let mut arguments = vec!["audit", "-f", mesh.to_str().unwrap(), "-o", "json", "--all-changes"];
        arguments.extend(named);
        let (again, same, err) = plain(&arguments);
        assert_eq!((again, &same), (code, &out), "{err}");
    }
    let (code, _, err) = plain(&["audit", "-f", mesh.to_str().unwrap(), "--istiod", &new]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("nothing tells what the proxies have now"), "{err}");
}

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

    let want = [("1.28", "dumps"), ("1.29", "forecast"), ("1.30", "forecast"), ("1.31", "computed")];
    assert_eq!(sources(&report), want, "{err}");

    let reported = reported(&report);
    // Proxies that no filter reaches are not requested.
    let proxies: BTreeSet<&String> = reported.iter().map(|(proxy, ..)| proxy).collect();
    let recorded: BTreeSet<Change> = recorded(&old).into_iter().filter(|(proxy, ..)| proxies.contains(proxy)).collect();
    assert!(!recorded.is_empty());
    assert_eq!(reported, recorded);

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

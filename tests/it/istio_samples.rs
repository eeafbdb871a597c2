//! No false positives on what Istio itself ships: its samples, its test data, the filters it once installed.

use crate::linting::{Proxies, line, read, yaml_files};
use crate::support::{Share, testdata};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::source::Severity;

fn nothing_that_istio_ships_is_called_an_error_by(share: Share) {
    let mut wrong = Vec::new();
    let paths = yaml_files(&testdata("istio"));
    assert!(paths.len() >= 15, "files are missing");
    for minor in share.of(Release::OLDEST.minor..=Release::NEWEST.minor) {
        let proxies = Proxies::new(&[], Release::minor(minor));
        for path in &paths {
            let loaded = read(path);
            assert!(!loaded.inventory.envoy_filters.is_empty(), "{}", path.display());
            for one in proxies.lint(&loaded) {
                let text = format!("1.{minor} {}:{}", path.file_name().unwrap().display(), line(&one, &loaded));
                if std::env::var_os("SHOW").is_some() && minor == Release::NEWEST.minor {
                    println!("{text}");
                }
                if one.severity == Severity::Error {
                    wrong.push(text);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

in_part_and_in_full!(
    nothing_that_istio_ships_is_called_an_error,
    nothing_that_istio_ships_is_called_an_error_in_full,
    nothing_that_istio_ships_is_called_an_error_by
);

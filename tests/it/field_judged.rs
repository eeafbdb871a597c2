//! Former mistakes of the linter: each case of testdata/field/judged states what must and must not be reported.
//!
//! `# want: EF207 error` requires a finding with that code and severity, `# want: EF210 error removed listener` also
//! these words in its line; `# never: EF321` forbids findings with a code. The first comment gives the reason.

use crate::linting::{Proxies, directive, line, read, yaml_files};
use crate::support::{Share, testdata};
use kubectl_envoyfilter::model::release::Release;
use std::fs;

fn former_mistakes_stay_fixed_by(share: Share) {
    let mut wrong = Vec::new();
    let files = yaml_files(&testdata("field").join("judged"));
    assert!(!files.is_empty());
    for path in share.of(files) {
        let source = fs::read_to_string(&path).unwrap();
        let release = directive(&source, "istio").first().map_or(Release::NEWEST, |text| text.parse().unwrap());
        let proxies = Proxies::with_live(&directive(&source, "with"), &directive(&source, "dump"), release);
        let loaded = read(&path);
        let found: Vec<String> = proxies
            .report(&loaded)
            .iter()
            .map(|one| format!("{} | {}", line(one, &loaded), one.help.as_deref().unwrap_or_default()))
            .collect();
        let name = path.file_name().unwrap().to_str().unwrap();
        let (want, never) = (directive(&source, "want"), directive(&source, "never"));
        assert!(!want.is_empty() || !never.is_empty(), "{name} asks for nothing");
        for text in want {
            let mut words = text.splitn(3, ' ');
            let (code, severity, said) =
                (words.next().unwrap(), words.next().unwrap_or(""), words.next().unwrap_or(""));
            let head = format!(" {code} {severity}");
            if !found.iter().any(|one| one.contains(&head) && one.contains(said)) {
                wrong.push(format!("{name}: no `{text}` in {found:#?}"));
            }
        }
        for text in never {
            let (code, said) = text.split_once(' ').unwrap_or((&text, ""));
            if found.iter().any(|one| one.contains(&format!(" {code} ")) && one.contains(said)) {
                wrong.push(format!("{name}: `{text}` is reported: {found:#?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

in_part_and_in_full!(former_mistakes_stay_fixed, former_mistakes_stay_fixed_in_full, former_mistakes_stay_fixed_by);

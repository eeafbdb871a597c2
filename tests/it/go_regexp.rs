//! `proxyVersion` is compiled and matched like in Go: recorded answers of Go's `regexp`, and the cost of hostile
//! expressions.

use kubectl_envoyfilter::engine::go_regexp::{GoRegexp, Refusal};
use serde_json::Value;
use std::time::{Duration, Instant};

/// Go's `syntax.ErrorCode` of a rejection.
fn code(refusal: &Refusal) -> String {
    let text = refusal.to_string();
    text.split(": `").next().unwrap().to_owned()
}

#[test]
fn expressions_that_go_compiles_match_the_same() {
    let packed = std::fs::read("testdata/go_regexp/expressions.jsonl.zst").unwrap();
    let text = String::from_utf8(zstd::decode_all(&packed[..]).unwrap()).unwrap();
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let head = lines.next().unwrap();
    let texts: Vec<&str> = head["texts"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    let (mut compared, mut wrong) = (0, Vec::new());
    for line in lines {
        let expression = line["expression"].as_str().unwrap();
        let want = line["error"].as_str().or(line["matches"].as_str()).unwrap().to_owned();
        let have = match GoRegexp::new(expression) {
            Err(refusal) => code(&refusal),
            Ok(compiled) => texts.iter().map(|text| if compiled.is_match(text) { '1' } else { '0' }).collect(),
        };
        if want != have {
            let shown: String = expression.chars().take(60).collect();
            wrong.push(format!("{shown}: Go {want}, here {have}"));
        }
        compared += 1;
    }
    assert!(compared > 2_500, "{compared}");
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Expressions that took half a second and 10 MB each with the regex crate.
#[test]
fn hostile_expressions_cost_little() {
    let began = Instant::now();
    for expression in [r"\w{200}", r"\w{1000}", r"[\pL\pN]{1000}", &r"\pL{1000}".repeat(10), &"(a?){1000}".repeat(10)] {
        let compiled = GoRegexp::new(expression).unwrap();
        assert!(!compiled.is_match("1.31.0") || compiled.is_match(""), "{expression}");
    }
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

#[test]
fn expressions_that_go_rejects_are_rejected() {
    assert_eq!(GoRegexp::new("(a{100}){11}").unwrap_err(), Refusal::InvalidRepeatSize("{11}".to_owned()));
    assert!(GoRegexp::new("(a{100}){10}").is_ok());
}

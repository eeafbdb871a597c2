//! What is found in scripts.

use super::*;

fn names<'t>(list: &[Named<'t>]) -> Vec<&'t str> {
    list.iter().map(|one| one.name).collect()
}

#[test]
fn modules_that_are_not_there_are_found() {
    let found = read(
        "local j = require('cjson') local b = require 'bit' local ok, x = pcall(require, 'a') pcall(function() require('b') end)",
    );
    assert_eq!(names(&found.modules), ["cjson"]);
    assert!(found.modules[0].at_load);
}

#[test]
fn undefined_names_are_those_that_nothing_defines() {
    let text = "local a = {} b = {} function c() end\nfunction envoy_on_request(h)\n  a.x() b.y() c() d.z() for k, v in pairs(a) do v() k.x() end\n  local t = { e = 1, f(1) } if g then end string.format('x') ::l:: goto l\nend";
    assert_eq!(names(&read(text).undefined), ["d", "f"]);
    assert!(read("setfenv(1, {}) x.y()").undefined.is_empty());
    assert_eq!(names(&read("function envoy_on_request(request_handle) handle:headers() end").undefined), ["handle"]);
}

#[test]
fn headers_may_be_absent() {
    let text = |body: &str| format!("function envoy_on_request(h)\n{body}\nend");
    let found = |body: &str| read(&text(body)).concatenated.len();
    assert_eq!(found("local x = 'a' .. h:headers():get('b')"), 1);
    assert_eq!(found("local x = h:headers():get('b') .. 'a'"), 1);
    assert_eq!(found("local x = 'a' .. (h:headers():get('b') or '')"), 0);
    assert_eq!(found("local x = 'a' .. h:headers():get(':path')"), 0);
    assert_eq!(found("local b = h:headers():get('b') h:logInfo('b ' .. b)"), 1);
    assert_eq!(found("local b = h:headers():get('b') if b then h:logInfo('b ' .. b) end"), 0);
    assert_eq!(found("local b = h:headers():get('b') or '' h:logInfo('b ' .. b)"), 0);
    assert_eq!(found("local b = h:headers():get('b') h:logInfo('b ' .. tostring(b))"), 0);
    assert_eq!(found("local all = h:headers() h:logInfo('b ' .. all:get('b'))"), 1);
}

#[test]
fn globals_are_shared_between_requests() {
    let shared = |text: &str| names(&read(text).shared).join(" ");
    assert_eq!(
        shared(
            "function envoy_on_request(h) u = h:headers():get('u') end function envoy_on_response(h) h:headers():add('u', u) end"
        ),
        "u"
    );
    assert_eq!(shared("function envoy_on_request(h) u = 1 h:httpCall('c', {}, '', 1) h:logInfo(u) end"), "u");
    assert_eq!(shared("function envoy_on_request(h) u = 1 h:logInfo(u) end"), "");
    assert_eq!(shared("function envoy_on_request(h) u = h:body():length() h:logInfo(u) end"), "");
    assert_eq!(
        shared(
            "function envoy_on_request(h) u = 1 end function envoy_on_response(h) u = (h:body():length()) h:logInfo(u) end"
        ),
        ""
    );
    assert_eq!(shared("function envoy_on_request(h) local u = 1 h:httpCall('c', {}, '', 1) h:logInfo(u) end"), "");
    assert_eq!(shared("u = 1 function envoy_on_request(h) h:httpCall('c', {}, '', 1) h:logInfo(u) end"), "");
}

#[test]
fn calls_of_the_handle_are_found() {
    let found = read(
        "function envoy_on_response(h) h:respond({}) h:foo() h:httpCall('c', {}, '', 1) h:body():length() h:body(true):length() end",
    );
    assert_eq!(names(&found.responds), ["respond"]);
    assert_eq!(names(&found.methods), ["foo"]);
    assert_eq!(names(&found.calls), ["c"]);
    assert_eq!(found.bodies.len(), 1);
    assert!(read("function envoy_on_request(h) h:respond({}) end").responds.is_empty());
}

#[test]
fn locals_stand_for_what_they_hold() {
    let text = |body: &str| format!("function envoy_on_request(h)\n{body}\nend");
    let added = |body: &str| read(&text(body)).added.len();
    assert_eq!(added("local all = h:headers() all:add('x-user', 'a')"), 1);
    assert_eq!(added("local all = h:headers() all = {} all:add('x-user', 'a')"), 0);
    assert_eq!(added("local g = h g:headers():add('x-user', 'a')"), 1);
    assert_eq!(added("local name = 'x-user' h:headers():add(name, 'a')"), 1);
    assert_eq!(added("h:headers():remove('X-User') h:headers():add('x-user', 'a')"), 0);
    assert_eq!(added("local all = h:headers() all:replace('x-user', 'a')"), 0);
    let calls = |body: &str| names(&read(&text(body)).calls).join(",");
    assert_eq!(calls("local to = 'authz' h:httpCall(to, {}, '', 100)"), "authz");
    assert_eq!(calls("local to = 'authz' .. zone h:httpCall(to, {}, '', 100)"), "");
    let bodies = |body: &str| read(&text(body)).bodies.len();
    assert_eq!(bodies("local b = h:body() h:logInfo(b:length())"), 1);
    assert_eq!(bodies("local b = h:body() if b then h:logInfo(b:length()) end"), 0);
    assert_eq!(bodies("local b = h:body(true) h:logInfo(b:length())"), 0);
    assert_eq!(read(&text("h:logInfo('a' .. h:metadata():get('b'))")).concatenated.len(), 1);
}

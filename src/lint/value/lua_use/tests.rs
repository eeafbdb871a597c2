//! Uses found in scripts.

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
    assert!(!found.finds_modules);
    let own = read(
        "package.path = package.path .. ';/lua/?.lua' package.preload['a.b'] = function() end local j = require('j')",
    );
    assert!(own.finds_modules && own.preloaded == ["a.b"] && names(&own.modules) == ["j"]);
    assert!(!read("local p = package.path print(package.loaded)").finds_modules);
}

#[test]
fn undefined_names_are_those_that_nothing_defines() {
    let text = "local a = {} b = {} function c() end\nfunction envoy_on_request(h)\n  a.x() b.y() c() d.z() for k, v in pairs(a) do v() k.x() end\n  local t = { e = 1, f(1) } if g then end string.format('x') ::l:: goto l\nend";
    assert_eq!(names(&read(text).undefined), ["d", "f"]);
    assert!(read("setfenv(1, {}) x.y()").undefined.is_empty());
    assert_eq!(names(&read("function envoy_on_request(request_handle) handle:headers() end").undefined), ["handle"]);
}

#[test]
fn headers_that_are_replaced_in_one_branch_only_are_found() {
    let found = |body: &str| {
        let text = format!("function envoy_on_request(h)\n  {body}\nend");
        read(&text).conditional.len()
    };
    assert_eq!(found("if p then h:headers():replace('X-User', p) end"), 1);
    assert_eq!(found("h:headers():replace('x-user', p)"), 0);
    assert_eq!(found("h:headers():remove('x-user') if p then h:headers():replace('x-user', p) end"), 0);
    assert_eq!(found("if p then h:headers():replace('x-user', p) else h:headers():remove('x-user') end"), 0);
    assert_eq!(found("if p then h:headers():replace('x-user', p) else h:headers():replace('x-user', '-') end"), 0);
    assert_eq!(found("if h:headers():get('x-user') then h:headers():replace('x-user', 'a') end"), 0);
    assert_eq!(found("if p then h:headers():replace('x-user', p) else h:respond({[':status'] = '401'}, '') end"), 0);
}

#[test]
fn metadata_and_headers_of_requests_and_bodies_of_answers_are_found() {
    let found = read(
        "function envoy_on_request(h) local m = h:streamInfo():dynamicMetadata() local a, b = m:get('jwt'), h:headers():get('x-b')\n  h:headers():add('x-a', a) h:headers():replace('x-b', b) h:body():getBytes(0, 1)\nend\nfunction envoy_on_response(h) h:streamInfo():dynamicMetadata():get('late') h:body():setBytes('x') end",
    );
    assert_eq!(names(&found.metadata), ["jwt"]);
    assert_eq!(names(&found.written), ["x-a"]);
    assert_eq!(names(&found.answer_bytes), ["setBytes"]);
}

#[test]
fn headers_may_be_absent() {
    let text = |body: &str| format!("function envoy_on_request(h)\n{body}\nend");
    let found = |body: &str| read(&text(body)).absent.len();
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
    assert_eq!(shared("function envoy_on_request(h) j = require 'j' h:httpCall('c', {}, '', 1) j.x() end"), "");
    assert_eq!(
        shared("local j function envoy_on_request(h) j = j or require('j') h:httpCall('c', {}, '', 1) j.x() end"),
        ""
    );
    assert_eq!(shared("u = 1 function envoy_on_request(h) h:httpCall('c', {}, '', 1) h:logInfo(u) end"), "");
}

#[test]
fn calls_of_the_handle_are_found() {
    let found = read(
        "function envoy_on_response(h) h:respond({}) h:foo() h:httpCall('c', {}, '', 1) h:body():length() h:body(true):length() end",
    );
    assert_eq!(found.responds.iter().map(|one| one.named.name).collect::<Vec<_>>(), ["respond"]);
    let methods: Vec<&str> = found.methods.iter().map(|one| one.named.name).collect();
    assert_eq!(methods, ["foo"]);
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
    let each = "for _, name in pairs({'x-user'}) do h:headers():remove(name) end h:headers():add('x-user', 'a')";
    assert_eq!(added(each), 0);
    let calls = |body: &str| names(&read(&text(body)).calls).join(",");
    assert_eq!(calls("local to = 'authz' h:httpCall(to, {}, '', 100)"), "authz");
    assert_eq!(calls("local to = 'authz' .. zone h:httpCall(to, {}, '', 100)"), "");
    let bodies = |body: &str| read(&text(body)).bodies.len();
    assert_eq!(bodies("local b = h:body() h:logInfo(b:length())"), 1);
    assert_eq!(bodies("local b = h:body() if b then h:logInfo(b:length()) end"), 0);
    assert_eq!(bodies("local b = h:body(true) h:logInfo(b:length())"), 0);
    assert_eq!(read(&text("h:logInfo('a' .. h:metadata():get('b'))")).absent.len(), 1);
}

#[test]
fn values_that_may_be_absent_are_not_indexed() {
    let text = |body: &str| format!("function envoy_on_request(h)\n{body}\nend");
    let found = |body: &str| {
        let text = text(body);
        let absent = read(&text).absent;
        absent.iter().map(|one| (one.named.name.to_owned(), one.source, format!("{:?}", one.used))).collect::<Vec<_>>()
    };
    let one = |name: &str, source, used: Used<'_>| vec![(name.to_owned(), source, format!("{used:?}"))];
    assert_eq!(found("local v = h:headers():get('x'):lower()"), one("x", Source::Header, Used::Indexed));
    assert_eq!(found("local v = h:headers():get('x') local w = v:lower()"), one("v", Source::Header, Used::Indexed));
    assert_eq!(found("local v = h:headers():get('x') if v then h:logInfo(v:lower()) end"), []);
    assert_eq!(found("local v = h:headers():get('x') if v and v:lower() == 'a' then return end"), []);
    assert_eq!(found("local v = h:headers():get(':path'):lower()"), []);
    assert_eq!(
        found("local s = h:streamInfo():dynamicMetadata():get('f')['a']"),
        one("f", Source::DynamicMetadata, Used::Indexed)
    );
    assert_eq!(found("local s = h:streamInfo():dynamicMetadata():get('f') if s then s = s['a'] end"), []);
    assert_eq!(found("h:logInfo('a' .. os.getenv('ZONE'))"), one("ZONE", Source::Environment, Used::Concatenated));
    assert_eq!(found("h:logInfo('a' .. (os.getenv('ZONE') or ''))"), []);
    assert_eq!(found("pcall(function() return h:headers():get('x'):lower() end)"), []);
    let call = "local a, b = h:httpCall('c', {}, '', 5)";
    assert_eq!(found(&format!("{call} h:logInfo(b:len())")), one("b", Source::Answer, Used::Indexed));
    assert_eq!(found(&format!("{call} h:logInfo('got ' .. b)")), one("b", Source::Answer, Used::Concatenated));
    assert_eq!(found(&format!("{call} if b and b:len() > 0 then return end")), []);
    assert_eq!(found(&format!("{call} h:logInfo(a[':status'])")), []);
    assert_eq!(found("local a, b = string.find(h:headers():get(':path'), 'x') h:logInfo('' .. b)"), []);
    let header = |used| one("x", Source::Header, used);
    assert_eq!(found("local v = string.lower(h:headers():get('x'))"), header(Used::Passed("lower")));
    assert_eq!(found("local n = #h:headers():get('x')"), header(Used::Measured));
    assert_eq!(found("if tonumber(h:headers():get('x')) > 3 then end"), header(Used::Passed("tonumber")));
    assert_eq!(found("if tonumber((h:headers():get('x'))) > 3 then end"), []);
    assert_eq!(found("local v = tostring(h:headers():get('x'))"), header(Used::Passed("tostring")));
    assert_eq!(found("local n = h:headers():get('x') + 1"), header(Used::Calculated));
    assert_eq!(found("h:logInfo(h:headers():get('x'))"), header(Used::Passed("logInfo")));
    assert_eq!(found("h:headers():replace('y', h:headers():get('x'))"), header(Used::Passed("replace")));
    assert_eq!(found("local a = h:headers() a:add('y', a:get('x'))"), header(Used::Passed("add")));
    assert_eq!(found("local n = tonumber(h:headers():get('x') or '') or 1 h:logInfo('a' .. n)"), []);
    assert_eq!(found("if h:headers():get('x') then h:logInfo(h:headers():get('x')) end"), []);
    assert_eq!(found("local v = h:headers():get('x') and string.lower(h:headers():get('x')) or ''"), []);
    assert_eq!(found("local w = h:headers():get('x') local v = tostring(w) h:logInfo(v)"), []);
    assert_eq!(found("local v = h:headers():get('x') if not v then return end h:logInfo(v)"), []);
}

#[test]
fn methods_belong_to_their_objects() {
    let found = |body: &str| {
        let text = format!("function envoy_on_request(h)\n{body}\nend");
        let methods = read(&text).methods;
        methods.iter().map(|one| (one.named.name.to_owned(), one.owner, one.since)).collect::<Vec<_>>()
    };
    let one = |name: &str, owner, since| vec![(name.to_owned(), owner, since)];
    assert_eq!(found("h:headers():set('a', 'b')"), one("set", Owner::Headers, None));
    assert_eq!(found("local all = h:headers() all:append('a', 'b')"), one("append", Owner::Headers, None));
    assert_eq!(found("h:streamInfo():dynamicMetaData():get('a')"), one("dynamicMetaData", Owner::StreamInfo, None));
    assert_eq!(found("h:stats()"), one("stats", Owner::Handle, Some(38)));
    assert_eq!(found("h:base64Unescape('a')"), one("base64Unescape", Owner::Handle, None));
    assert_eq!(found("h:streamInfo():dynamicMetadata():set('a', 'b', 'c') h:logInfo('a') h:body(true):length()"), []);
}

#[test]
fn tables_of_headers_are_complete() {
    let found = |body: &str| {
        let text = format!("function envoy_on_request(h)\n{body}\nend");
        read(&text).incomplete.iter().map(|one| one.lacks.join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(found("h:httpCall('c', {[':path'] = '/'}, '', 1)"), [":method :authority"]);
    assert!(found("h:httpCall('c', {[':path'] = '/', [':method'] = 'GET', [':authority'] = 'a'}, '', 1)").is_empty());
    assert!(found("local t = {} h:httpCall('c', t, '', 1)").is_empty());
    assert!(found("h:httpCall('c', {[key] = '/'}, '', 1)").is_empty());
    assert_eq!(found("h:respond({['content-type'] = 'a'}, 'b')"), [":status"]);
    assert!(found("h:respond({[':status'] = '403'}, 'b')").is_empty());
}

#[test]
fn what_clients_send_decides() {
    let found = |body: &str| {
        let text = format!("function envoy_on_request(h)\n{body} h:respond({{}}, '')\nend");
        read(&text).decisions.iter().map(|one| one.name.to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(found("if h:headers():get('x-a') == 'b' then return end"), "x-a");
    assert_eq!(found("if 'b' ~= h:headers():get('x-a') then return end"), "x-a");
    assert_eq!(
        found("local a = h:headers():get('x-a') if a == nil then return end if a:find('b') then return end"),
        "x-a"
    );
    assert_eq!(found("local a = h:headers():get('x-a') if string.match(a or '', 'b') then return end"), "");
    assert_eq!(found("local a = h:headers():get('x-a') if string.match(a, 'b') then return end"), "x-a");
    assert_eq!(found("local a = h:headers():get('x-a') a = 'c' if a == 'b' then return end"), "");
    assert_eq!(found("if h:headers():get('x-a') == nil then return end"), "");
    assert_eq!(found("h:headers():remove('X-A') if h:headers():get('x-a') == 'b' then return end"), "");
    assert_eq!(found("if h:headers():get('x-a') == 'b' then h:headers():add('c', 'd') end"), "");
    assert_eq!(found("if h:headers():get('x-a') == 'b' then deny(h) end"), "x-a");
    assert!(
        read("function envoy_on_response(h) if h:headers():get('x-a') == 'b' then return end end").decisions.is_empty()
    );
}

#[test]
fn headers_cannot_change_after_they_were_sent_on() {
    let found = |body: &str| {
        let text = format!("function envoy_on_request(h) {body} end");
        read(&text).sent.iter().map(|one| one.name.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found("for c in h:bodyChunks() do end h:headers():add('a', 'b')"), ["add"]);
    assert_eq!(found("local s = h:headers() for c in h:bodyChunks() do s:remove('a') end"), ["remove"]);
    assert!(found("h:headers():add('a', 'b') for c in h:bodyChunks() do end").is_empty());
    let branch = "if x then for c in h:bodyChunks() do end else h:headers():add('a', 'b') end h:headers():remove('a')";
    assert!(found(branch).is_empty());
    assert!(found("for c in h:bodyChunks() do end h:headers():get('a')").is_empty());
}

#[test]
fn responses_may_come_too_late() {
    let found =
        |text: &str| read(text).responds.iter().map(|one| (one.named.name.to_owned(), one.chunks)).collect::<Vec<_>>();
    let helper = "local function no(code, h) h:respond({[':status'] = code}, '') end ";
    let request = |body: &str| format!("{helper}function envoy_on_request(r) {body} end");
    assert_eq!(found(&request("for c in r:bodyChunks() do end r:respond({}, '')")), [("respond".to_owned(), true)]);
    assert_eq!(found(&request("for c in r:bodyChunks() do no('1', r) end")), [("no".to_owned(), true)]);
    assert_eq!(found(&request("no('1', r) for c in r:bodyChunks() do end")), []);
    assert_eq!(found(&request("r:respond({}, '')")), []);
    let response = format!("{helper}function envoy_on_response(r) no('1', r) no(r, '1') end");
    assert_eq!(found(&response), [("no".to_owned(), false)]);
}

#[test]
fn comparisons_of_other_types_are_found() {
    use Compared::{Different, Equal, Ordered};
    let kinds = |function: &str, body: &str| -> Vec<Kind<'static>> {
        let text: &'static str = format!("function envoy_on_{function}(h)\n{body}\nend").leak();
        read(text).mistakes.iter().map(|one| one.kind).collect()
    };
    let status = "h:headers():get(':status')";
    assert_eq!(kinds("response", &format!("if {status} == 200 then end")), [Kind::TextAndNumber(Equal)]);
    assert_eq!(kinds("response", &format!("if 200 ~= {status} then end")), [Kind::TextAndNumber(Different)]);
    assert_eq!(kinds("response", &format!("local s = {status} if s >= 500 then end")), [Kind::TextAndNumber(Ordered)]);
    for right in [
        &format!("if {status} == '200' then end"),
        &format!("if tonumber({status}) >= 500 then end"),
        &format!("local s = {status} s = tonumber(s) if s >= 500 then end"),
        &format!("local s = {status} do local s = 5 if s >= 500 then end end"),
        &format!("if #{status} == 3 then end"),
        &format!("local n = {status} + 0 if n == 200 then end"),
        &format!("local n = {status} or 0 if n == 200 then end"),
        "for name, value in pairs(h:headers()) do if name == 'x-a' then end end",
        "for name in pairs(h:headers()) do end local name = 'X' if name == 'X' then end",
        "if h:streamInfo():downstreamRemoteAddress() == '10.0.0.1:80' then end",
    ] {
        assert_eq!(kinds("response", right), [], "{right}");
    }
    let answer = "local head, body = h:httpCall('c', {}, '', 1)";
    assert_eq!(
        kinds("request", &format!("{answer} if head[':status'] ~= 200 then end")),
        [Kind::TextAndNumber(Different)]
    );
    assert_eq!(kinds("request", &format!("{answer} if head[':status'] ~= '200' then end")), []);
    assert_eq!(
        kinds("request", "for k, v in pairs(h:headers()) do if k == 'X-A' then end end"),
        [Kind::Capitals("X-A", Equal)]
    );
    assert_eq!(
        kinds("request", "local ip = h:streamInfo():downstreamRemoteAddress() if ip == '::1' then end"),
        [Kind::NoPort("::1", Equal)]
    );
    assert_eq!(kinds("response", "local p = h:headers():get(':path')"), [Kind::OtherDirection(true)]);
    assert_eq!(kinds("request", "local p = h:headers():get(':path')"), []);
    assert_eq!(kinds("request", "if h:headers():get(':status') then end"), [Kind::OtherDirection(false)]);
}

#[test]
fn other_misuses_are_found() {
    let kinds = |body: &str| -> Vec<Kind<'static>> {
        let text: &'static str = format!("function envoy_on_request(h)\n{body}\nend").leak();
        read(text).mistakes.iter().map(|one| one.kind).collect()
    };
    let get = "h:headers():get('a')";
    assert_eq!(kinds(&format!("if not {get} == 'b' then end")), [Kind::NotFirst(Compared::Equal)]);
    assert_eq!(kinds(&format!("if {get} == '' then end")), [Kind::Empty]);
    assert_eq!(kinds("h:headers()['a'] = 'b'"), [Kind::NoTable(Misuse::Written)]);
    assert_eq!(kinds("local all = h:headers() local b = all.a"), [Kind::NoTable(Misuse::Read)]);
    assert_eq!(kinds("local n = #h:headers()"), [Kind::NoTable(Misuse::Measured)]);
    assert_eq!(kinds("for k in ipairs(h:headers()) do end"), [Kind::NoTable(Misuse::Ipairs)]);
    assert_eq!(
        kinds(&format!("local b = ({get} or ''):lower() local p = h:headers():get(':path') p:split('/')")),
        [Kind::NoMethod]
    );
    assert_eq!(kinds(&format!("local parts = ({get} or ''):split('/')")), [Kind::NoMethod]);
    assert_eq!(kinds(&format!("local parts = words({get} or ''):split('/')")), []);
    let call = |rest: &str| format!("local head = h:httpCall('c', {{}}{rest})");
    let number = Kind::Argument { number: 4, function: "httpCall", got: "no value" };
    assert_eq!(kinds(&call(", ''")), [number]);
    assert_eq!(kinds(&format!("{} local s = head[':status']", call(", '', 1, true"))), [Kind::Asynchronous]);
    for right in [
        &format!("if not ({get} == 'b') then end"),
        &format!("if not {get} then end"),
        &format!("local a = {get} if a == nil or a == '' then end"),
        &format!("if {get} == '' or {get} == nil then end"),
        &format!("local a = {get} or '' if a == '' then end"),
        "if h:headers():get(':path') == '' then end",
        "for k, v in pairs(h:headers()) do end",
        "function string:split() end h:headers():get(':path'):split('/')",
        "h:httpCall('c', {}, '', 1, true)",
        &format!("{} local s = head[':status']", call(", '', 1, false")),
    ] {
        assert_eq!(kinds(right), [], "{right}");
    }
}

#[test]
fn arguments_of_other_types_are_found() {
    let got = |body: &str| -> Vec<&'static str> {
        let text: &'static str = format!("function envoy_on_request(h)\n{body}\nend").leak();
        let found = read(text);
        let arguments = found.mistakes.iter().filter_map(|one| match one.kind {
            Kind::Argument { got, .. } => Some(got),
            _ => None,
        });
        arguments.collect()
    };
    assert_eq!(got("h:headers():add('x', true) h:headers():replace('x', nil)"), ["boolean", "nil"]);
    assert_eq!(got("h:respond({[':status'] = '403', x = {}}, {a = 1})"), ["table"]);
    assert_eq!(got("h:headers():add('x', 5) h:headers():remove('x') h:respond({[':status'] = 403}, nil)"), [""; 0]);
}

#[test]
fn patterns_are_not_regular_expressions() {
    let found = |call: &str| -> Option<Regular> {
        let text: &'static str = format!("function envoy_on_request(h)\nlocal p = 'my-b' local x = {call}\nend").leak();
        read(text).mistakes.iter().find_map(|one| match one.kind {
            Kind::Pattern(regular) => Some(regular),
            _ => None,
        })
    };
    for (call, regular) in [
        ("s:find('user-service')", Regular::Hyphen),
        ("string.find(h:headers():get('a', 'b'), 'user-service')", Regular::Hyphen),
        ("s:find(p)", Regular::Hyphen),
        ("s:find('my-b', 1, false)", Regular::Hyphen),
        ("s:find('^x-user')", Regular::Hyphen),
        ("s:find('/x-user')", Regular::Hyphen),
        ("s:match('^/(api|admin)/')", Regular::Alternation),
        ("s:gsub('foo|bar', '')", Regular::Alternation),
        (r"s:match('^/v\\d+')", Regular::Escape),
        (r"s:match([[^/v\d+]])", Regular::Escape),
        ("s:match('%d{3}')", Regular::Count),
        ("s:match('[0-9]{1,3}')", Regular::Count),
        ("s:match('(?:a)')", Regular::Group),
        ("s:match('(a.)+')", Regular::Group),
    ] {
        assert_eq!(found(call), Some(regular), "{call}");
    }
    for call in [
        "s:find('user%-service')",
        "s:find('x-user')",
        "s:find('(x-user)')",
        "s:find('v1-1')",
        "s:find('.-x-user')",
        "s:find('user-service', 1, true)",
        "string.find(s, 'user-service', 1, true)",
        "s:match('^(.-)-(.*)$')",
        "s:match('[a-z-]+')",
        "s:match('[^a-z]-x')",
        "s:match('%w-x')",
        "s:match('outbound|(%d+)|(.-)|(.+)')",
        "s:gmatch('([^|]+)')",
        "s:gsub('\\n', '')",
        "s:match('${name}')",
        "s:find('?')",
        "s:match('^-')",
        "other('user-service')",
        "string.format('user-service', 1)",
    ] {
        assert_eq!(found(call), None, "{call}");
    }
}

#[test]
fn conditions_that_never_change_are_found() {
    let kinds = |body: &str| -> Vec<Kind<'static>> {
        let text: &'static str = format!("function envoy_on_request(h)\n{body}\nend").leak();
        read(text).mistakes.iter().map(|one| one.kind).collect()
    };
    assert_eq!(kinds("if a ~= 'x' or a ~= 'y' then end"), [Kind::Both(Compared::Different)]);
    assert_eq!(kinds("if a == 1 and a == 2 then end"), [Kind::Both(Compared::Equal)]);
    assert_eq!(kinds("if a == 'x' or 'y' or 'z' then end"), [Kind::TextAlone]);
    let length = |length| Kind::Length { text: "abc", length, compared: Compared::Equal };
    assert_eq!(kinds("if a:sub(2, 3) == 'abc' then end"), [length(2)]);
    assert_eq!(kinds("if string.sub(a, -2) == 'abc' then end"), [length(2)]);
    assert_eq!(kinds("if string.lower(a) == 'A' then end"), [Kind::Case("A", Compared::Equal)]);
    assert_eq!(kinds("local b = a:upper() if b ~= 'a' then end"), [Kind::Case("a", Compared::Different)]);
    let denies = "then h:respond({[':status'] = '403'}, '') end";
    let path = "h:headers():get(':path')";
    assert_eq!(kinds(&format!("if {path} == '/a' {denies}")), [Kind::ExactPath]);
    assert_eq!(kinds(&format!("if {path} == 'a' then end")), [Kind::NoSlash("a", Compared::Equal)]);
    for right in [
        "if a ~= 'x' or a ~= 'x' then end",
        "if b and a ~= 'x' or a ~= 'y' then end",
        "if a ~= 'x' or a ~= 'y' and b then end",
        "if a ~= 'x' or b ~= 'y' then end",
        "if a == 'x' and a == 'y' .. b then end",
        "local c = a == 'x' or 'y' if c then end",
        "if a:sub(1, 3) == 'abc' or a:sub(1, n) == 'abc' or a:sub(2) == 'abc' then end",
        "if a:lower() == 'a' or a:lower():find('^%A+[A-Z]*') then end",
        &format!("if {path} == '/a' then h:respond({{[':status'] = '200'}}, '') end"),
        &format!("if {path} == '/a' or {path}:find('^/a[/?]') {denies}"),
    ] {
        assert_eq!(kinds(right), [], "{right}");
    }
}

#[test]
fn objects_are_no_texts() {
    let kinds = |body: &str| -> Vec<Kind<'static>> {
        let text: &'static str = format!("function envoy_on_request(h)\n{body}\nend").leak();
        read(text).mistakes.iter().map(|one| one.kind).collect()
    };
    let body = |used| vec![Kind::Userdata(Owner::Body, used)];
    assert_eq!(kinds("local a = 'x' .. h:body(true)"), body(Used::Concatenated));
    assert_eq!(kinds("local b = h:body() local a = b:getBytes(0, 1) .. b"), body(Used::Concatenated));
    assert_eq!(kinds("local b = h:body() h:logInfo(b)"), body(Used::Passed("logInfo")));
    assert_eq!(kinds("h:logInfo(tostring(h:headers()))"), [Kind::Shown(Owner::Headers)]);
    assert_eq!(kinds("h:body(true):getBytes(1, b:length())"), [Kind::FromOne]);
    for right in [
        "local b = h:body() b = b:getBytes(0, b:length()) h:logInfo(b .. b)",
        "local b = h:body() local f = function(b) return b .. b end",
        "h:logInfo('x' .. h:body(true):length())",
        "for name in pairs(h:headers()) do end",
        "pcall(function() return 'a' .. h:body() end)",
    ] {
        assert_eq!(kinds(right), [], "{right}");
    }
}

#[test]
fn functions_get_the_headers() {
    let absent = |text: &'static str| read(text).absent.len();
    let entry = |body: &str, call: &str| -> &'static str {
        format!(
            "local function f(a, b)\n{body}\nend\nfunction envoy_on_request(h)\nlocal hs = h:headers()\n{call}\nend"
        )
        .leak()
    };
    assert_eq!(absent(entry("return 'x' .. b:get('y')", "f(1, hs)")), 1);
    assert_eq!(absent(entry("return 'x' .. a:get('y')", "f(h:headers(), {1, 2})")), 1);
    assert_eq!(absent(entry("return 'x' .. a:headers():get('y')", "h:logInfo(f(h))")), 1);
    assert_eq!(absent(entry("local v = a:get('y') return v:lower()", "f(hs)")), 1);
    for (body, call) in [
        ("return 'x' .. a:get('y')", "f({get = 1}, hs)"),
        ("return 'x' .. a:get('y')", "f(hs) f(other)"),
        ("return 'x' .. a:get('y')", "pcall(f, hs)"),
        ("return 'x' .. (a:get('y') or '')", "f(hs)"),
        ("return 'x' .. a:get('y')", "if hs:get('y') then f(hs) end"),
        ("return 'x' .. a:get(':path')", "f(hs)"),
    ] {
        assert_eq!(absent(entry(body, call)), 0, "{body} {call}");
    }
}

#[test]
fn methods_are_found_however_they_are_called() {
    let found = read(
        "function envoy_on_request(h)\n  local call = h.httpCall\n  call(h, 'nowhere', {}, '', 5)\n  local v = h['headers'](h):get('x-a')\n  h['logInfo'](h, 'a' .. v)\nend\nfunction envoy_on_response(h) h['respond'](h, {[':status'] = '503'}, '') end",
    );
    assert_eq!(names(&found.calls), ["nowhere"]);
    assert_eq!((found.absent.len(), found.responds.len()), (1, 1));
}

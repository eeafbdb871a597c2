//! Secrets that scripts pass around, and what must stay.

use crate::model::redact::Redactor;
use crate::model::redact::tests::takes_linear_time;

/// What is left of a script.
fn clean(script: &str) -> String {
    let mut now = script.to_owned();
    Redactor::plain().text(&mut now);
    let again = now.clone();
    Redactor::plain().text(&mut now);
    assert_eq!(now, again);
    now
}

#[test]
fn secrets_are_followed_through_a_script() {
    for script in [
        // Variables.
        r#"local a = "canary" h:headers():add("authorization", "Bearer " .. a)"#,
        r#"local a = "canary" h:headers():replace("authorization", "Bearer " .. a)"#,
        r#"local a = "canary" local b = a h:headers():add("x-api-key", b)"#,
        r#"local a = "canary1Qz" if h:headers():get("authorization") ~= a then return end"#,
        r#"local a = "canary1Qz" if h:headers():get("authorization") ~= "Bearer " .. a then return end"#,
        r#"local want = "canary1Qz" local got = h:headers():get("x-api-key") if got == want then return end"#,
        r#"local a = "canary" h:httpCall("c", {[":path"] = "/", ["authorization"] = "Bearer " .. a}, "", 1)"#,
        r#"local a = "canary" local t = {} t["authorization"] = a"#,
        r#"local a = "canary1Qz" local token = a"#,
        r#"k = "canary" function f(h) h:headers():add("x-api-key", k) end"#,
        r#"local u, p = "bob", "canary" h:headers():add("x-password", p)"#,
        r#"local k = env == "p" and "canary" or "kept" h:headers():add("x-api-key", k)"#,
        // Calls.
        r#"local a = "canary" h:headers():add("x-api-key", tostring(a))"#,
        r#"local a = "canary" h:headers():add("x-api-key", (a))"#,
        r#"local a = "canary" h:headers():add("x-api-key", h:base64Escape(a))"#,
        r#"local s = ("%s:%s"):format("admin", "canary") h:headers():add("authorization", "Basic " .. h:base64Escape(s))"#,
        r#"local k = h:headers():get("x-api-key") if string.find(k, "canary1Qz", 1, true) then return end"#,
        r#"if h:headers():get("authorization"):match("^Bearer canary1Qz$") then return end"#,
        r#"if check(h:headers():get("x-api-key"), "canary1Qz") then return end"#,
        r#"local function key() return "canary" end h:headers():add("x-api-key", key())"#,
        r#"M.key = function() return "canary" end h:headers():add("x-api-key", M.key())"#,
        r#"local function auth(h, v) h:headers():add("authorization", v) end auth(h, "canary")"#,
        r#"local function set(h, k, v) h:headers():replace(k, v) end set(h, "x-api-key", "canary")"#,
        // Names of headers.
        r#"local H = "x-api-key" h:headers():add(H, "canary")"#,
        r#"function f(h) h:headers():add(H, "canary") end H = "authorization""#,
        r#"local H = {key = "x-api-key"} h:headers():add(H.key, "canary")"#,
        r#"local hdr = "x-api-key" if h:headers():get(hdr) == "canary1Qz" then return end"#,
        // Tables.
        r#"local M = {} M.k = "canary" h:headers():add("authorization", "Bearer " .. M.k)"#,
        r#"local M = {k = "canary"} h:headers():add("authorization", "Bearer " .. M.k)"#,
        r#"local allowed = {["canary1Qz"] = true} if not allowed[h:headers():get("x-api-key")] then return end"#,
        r#"local allowed = {} allowed["canary1Qz"] = true local k = h:headers():get("x-api-key") if allowed[k] then return end"#,
        r#"local valid = {"canary1Qz"} for _, v in ipairs(valid) do if v == h:headers():get("authorization") then return end end"#,
        r#"local t = {} table.insert(t, "canary1Qz") if t[1] == h:headers():get("x-api-key") then return end"#,
        // Names that say only that it is a key, with nothing but a key behind them.
        r#"local T = { key = "3f8a1c5eb7d20canary96d4a7e19c2b0f" }"#,
        r#"local key = string.format("%s", "3f8a1c5eb7d20canary96d4a7e19c2b0f")"#,
        r#"local valid_keys = { ["3f8a1c5eb7d20canary96d4a7e19c2b0f"] = true }"#,
        r#"local users = {alice = "canary1Qz"} if users[name] ~= h:headers():get("x-password") then return end"#,
    ] {
        let now = clean(script);
        assert!(!now.contains("canary"), "{script}\n{now}");
        assert!(now.contains("[redacted]"), "{now}");
    }
}

#[test]
fn scripts_keep_what_only_looks_like_a_secret() {
    // A line for each statement: what looks generated on the line of a credential is hidden in any language.
    for script in [
        r#"local H = "authorization" local v = h:headers():get(H) if v == nil or v == "" then return end"#,
        r#"local v = h:headers():get("authorization") if v:sub(1, 7) == "Bearer " then v = v:sub(8) end"#,
        r#"local scheme = "Bearer " h:headers():add("authorization", scheme .. h:headers():get("x-b3-traceid"))"#,
        r#"local path = "/v1/token2" h:httpCall("outbound|80||auth1", {[":path"] = path, ["authorization"] = token}, "", 5)"#,
        r#"local t = h:headers():get("x-token") if t == "missing" then h:respond({[":status"] = "401"}, "not allowed 2x") end"#,
        r#"local t = h:headers():get("authorization"):gsub("^Bearer%s+", "")\nh:logInfo("version1a2b")"#,
        r#"h:headers():add("x-version", "release1a2b")\nh:headers():add("authorization", token)"#,
        r#"local jwt = h:headers():get("authorization"):match("^Bearer ([%w_-]+%.[A-Za-z0-9_-]+)$")"#,
        r#"for k, v in pairs(h:headers()) do if k == "x-request-id1" then h:headers():add(k, "release1a2b") end end"#,
        r#"local mode = "shadow2" if mode == "shadow2" then h:headers():remove("x-api-key") end"#,
        r#"local T = { key = "x-request-id1", primary_key = "id2", sha = "3f8a1c5eb7d2045b96d4a7e19c2b0f11", public_key = "3f8a1c5eb7d2045b96d4a7e19c2b0f11" }"#,
        r#"for key, value in pairs(h:headers()) do if key == "x-b3-sampled-2a" then h:logInfo(key) end end"#,
        r#"local cache_key = h:headers():get(":path") .. "-v2-" .. "outbound|80||reviews.shop.svc.cluster.local""#,
        r#"local digest = hmac("sha256", h:headers():get("x-signature-key"))"#,
    ] {
        let script = script.replace("\\n", "\n");
        assert_eq!(clean(&script), script);
    }
}

/// The cost of a hostile script grows only with its length.
#[test]
fn long_scripts_take_linear_time() {
    for part in [
        "local a = a .. \"x\" ",
        "h:add(\"token\", a, ",
        "f(function() ",
        "{[\"token\"] = ",
        "t[t[",
        "a = b b = a if a == token then ",
        "return (",
        "a.b.c:d\"e\"",
    ] {
        takes_linear_time(part);
    }
    // A variable that gets the value of the next one.
    let lines: Vec<String> = (0..20_000).map(|index| format!("local a{index} = a{} ", index + 1)).collect();
    let text = lines.concat();
    let start = std::time::Instant::now();
    clean(&format!("{text}local a20000 = \"canary\" h:add(\"authorization\", a0)"));
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

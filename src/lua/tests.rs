//! Scripts that compile, and mistakes with their places.

use super::*;

#[test]
fn scripts_that_luajit_takes_parse() {
    for text in [
        "",
        "function envoy_on_request(h) h:headers():add('a', \"b\") end",
        "local a, b = 1, 0x1F; local c = -a ^ 2 .. 'x' == nil or not b and #a > 3e-2",
        "for i = 1, 10, 2 do break end for k, v in pairs({1, [2] = 3, a = 4; f}) do goto next ::next:: end",
        "a.b.c['d'], e = f{1}, g'x' ; (f or g)(...)",
        "repeat local x = [==[ ]] ]==] until x --[[ long\ncomment ]] -- short",
        "local function f(a, ...) return end if a then elseif b then else end while true do do end end",
        "x = 10LL + 0xffULL + 2i + .5 + 3. + 1e10; s = '\\x41\\z  \\065\\\n\\'' return",
        "function a.b:c() return function() end, {} end",
    ] {
        assert_eq!(parse(text).map(|_| ()), Ok(()), "{text}");
    }
}

#[test]
fn mistakes_have_a_place() {
    for (text, at) in [
        ("function f( end", 12),
        ("if a == 1 then\n", 15),
        ("x = = 2", 4),
        ("local s = 'abc\n'", 10),
        ("a != b", 2),
        ("f() = 3", 4),
        ("end", 0),
        ("x = 12abc", 4),
        ("return 1 x = 2", 9),
        ("a.b", 3),
        ("x = '\\q'", 5),
    ] {
        let error = parse(text).expect_err(text);
        assert_eq!(error.at, at, "{text}: {error:?}");
    }
    assert!(parse(&"(".repeat(100_000)).is_err());
}

/// The limits of LuaJIT, found with Envoy 1.39.3.
#[test]
fn functions_have_a_limited_number_of_variables() {
    let locals = |count: usize| (0..count).fold(String::new(), |text, one| text + &format!("local v{one} = 1\n"));
    let sum = |count: usize| (0..count).map(|one| format!("v{one}")).collect::<Vec<_>>();
    let compiles = |text: String| match parse(&text) {
        Ok(_) => true,
        Err(error) => {
            assert!(error.limit, "{error:?}");
            false
        }
    };
    for (count, good) in [(200, true), (201, false)] {
        assert_eq!(compiles(locals(count)), good);
        assert_eq!(compiles(format!("function f({}) end", sum(count).join(", "))), good);
        assert_eq!(compiles(format!("{}local function g() end", locals(count - 1))), good);
        assert_eq!(compiles(format!("{}repeat local a = 1 until a", locals(count - 1))), good);
        assert_eq!(compiles(format!("{}for i = 1, 2 do end", locals(count - 4))), good);
        assert_eq!(compiles(format!("{}for k, v in pairs({{}}) do end", locals(count - 5))), good);
        assert_eq!(compiles(format!("function t:f({}) end", sum(count - 1).join(", "))), good);
    }
    assert!(compiles("do local a = 1 end ".repeat(300)));
    for (count, good) in [(60, true), (61, false)] {
        let sum = sum(count).join(" + ");
        assert_eq!(compiles(format!("{}function f() return {sum} end", locals(count))), good);
        assert_eq!(compiles(format!("{}function f() return function() return {sum} end end", locals(count))), good);
    }
}

#[test]
fn names_are_globals_and_locals_but_no_fields() {
    let chunk = parse("local t = {} function t.envoy_on_request() end x.y = z").unwrap();
    assert!(!chunk.names.contains("envoy_on_request") && chunk.names.contains("z"));
}

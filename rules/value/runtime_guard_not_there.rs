//! EF135: a runtime guard that the proxy's Envoy does not have.

use crate::declare_rule;
use crate::envoy;
use crate::lint::guards::{self, Named};
use crate::lint::value::PatchValue;
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::source::Severity;
use crate::source::alike;

declare_rule! {
    /// A runtime guard that the proxy's Envoy does not have.
    ///
    /// # What it finds
    /// A key of a runtime layer (`layered_runtime`, in one piece or as nested mappings) or a `runtime_key` that names a
    /// runtime guard, `envoy.reloadable_features.…` or `envoy.restart_features.…`, which the Envoy of the proxies no
    /// longer has, does not have yet, or which no known release has. The guards of Envoy 1.34 and 1.35 (Istio 1.26 and
    /// 1.27) are only partly known: there the finding says so and is an info.
    ///
    /// # Why it matters
    /// A guard switches a change of behavior on or off while it is new; after some releases it is removed with the old
    /// code. A layer that still sets it has no effect. Envoy accepts it; for a switch that is not a string it logs the
    /// error `Using a removed guard`, and that a later release will reject it.
    ///
    /// # How to fix
    /// Remove the key after checking that the new behavior is what you want: it cannot be switched back.
    ///
    /// # References
    /// `source/common/runtime/runtime_features.cc` of Envoy 1.26 to 1.39, the binary of 1.40; `runtime_impl.cc`; tested
    /// with Envoy 1.36 and 1.40.
    "EF135" "runtime-guard-not-there" Value Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        let Some(minor) = value.envoy_minor.filter(|minor| in_reach(*minor)) else { continue };
        for named in guards::named(value) {
            let there = envoy::has_guard(&named.name, minor);
            if there == Some(true) {
                continue;
            }
            let mut finding = tell(rule, value, &named, minor, there.is_none());
            if guards::unread(value, cx.release) {
                finding = finding.severity(Severity::Info).note(
                    "istiod does not apply the patch anyway; a bootstrap override with this key would change nothing either",
                );
            }
            out.push(finding);
        }
    }
}

/// Whether the guards of an Envoy minor, or of both neighboring ones, are known.
fn in_reach(minor: u16) -> bool {
    let [(oldest, _), (_, newest)] = envoy::GUARDS_KNOWN;
    (oldest..=newest).contains(&minor)
}

fn tell(rule: &'static RuleInfo, value: &PatchValue<'_>, named: &Named<'_>, minor: u16, unknown: bool) -> Finding {
    let name = &named.name;
    let istio = envoy::api::istio_of(minor);
    let message = if unknown {
        format!("it is unknown whether Envoy 1.{minor} (Istio 1.{istio}) has the runtime guard `{name}`")
    } else {
        format!("Envoy 1.{minor} (Istio 1.{istio}) has no runtime guard `{name}`")
    };
    let finding = value.finding(rule, named.span, message);
    let finding = match guards::life(name) {
        Some(life) => finding.label(life),
        None => finding.label("in no known release").note(format!("checked: {}", guards::looked_at())),
    };
    if unknown {
        return finding.severity(Severity::Info);
    }
    let finding = match named.set {
        None => finding.note("the default value next to it applies, unless a runtime layer sets this key"),
        Some(_) if named.is_logged() => {
            finding.note("Envoy logs the error `Using a removed guard` and starts; the guard has no effect")
        }
        Some(_) => finding.note("Envoy accepts it silently, and it has no effect"),
    };
    match envoy::runtime_guard(name).and_then(envoy::RuntimeGuard::minors) {
        Some((first, _)) if first > minor => finding.help("keep it for proxies that have it, or remove it"),
        Some(_) => finding.help("remove it: once a guard is gone, what it controlled can no longer be changed"),
        None => match alike(name, minor) {
            Some(other) => finding.help(format!("did you mean `{other}`?")),
            None => finding.help("remove it"),
        },
    }
}

/// The guard of an Envoy minor with the most similar name.
fn alike(name: &str, minor: u16) -> Option<&'static str> {
    let last = |name: &str| name.rsplit('.').next().map_or(0, |last| name.len() - last.len());
    let here = envoy::runtime_guards().map(envoy::RuntimeGuard::name);
    let here = here.filter(|name| envoy::has_guard(name, minor) == Some(true));
    let of_its_kind = here.filter(|one| one.get(..last(one)) == name.get(..last(name)));
    let tails: Vec<&'static str> = of_its_kind.collect();
    let found = alike::keyword(&name[last(name)..], tails.iter().map(|one| &one[last(one)..]))?;
    tails.into_iter().find(|one| &one[last(one)..] == found.name)
}

//! EF350: a filter that reads a request header before the filter that writes it.

use crate::declare_rule;
use crate::engine::PatchId;
use crate::lint::context::{PatchRun, ProxyRun};
use crate::lint::managers::{self, Manager};
use crate::lint::per_run::PerRun;
use crate::lint::seen::{Seen, config_type};
use crate::lint::value::{Object, PatchValue};
use crate::lint::walk::get;
use crate::lint::{Context, Findings, Knowledge, RuleInfo, header_options};
use crate::model::envoy_filter::ApplyTo;
use crate::proto::json::{Style, write};
use crate::proto::tree::Origin;
use crate::source::{Node, Step};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

declare_rule! {
    /// A rate limit or RBAC rule that reads a request header which only a later filter writes.
    ///
    /// # What it finds
    /// With config dumps: `request_headers` actions of rate limits, and headers in RBAC rules that allow, if a JWT filter
    /// (`claim_to_headers`), a Lua script or header_mutation writes this header after the filter that reads it, and no filter before
    /// that one may.
    ///
    /// # Why it matters
    /// The filter sees what the client sent. Without the header there is no descriptor and no limit; with it, a client chooses whose
    /// limit it uses, or what it may do.
    ///
    /// # How to fix
    /// Insert the filter that writes the header first, or this one after it: INSERT_AFTER with the name of that filter.
    ///
    /// # References
    /// Envoy runs the HTTP filters of a request in the order of their list; the answers of Envoy 1.38.2 in both orders.
    "EF350" "header-written-later" Operation Warning => check,
    needs: &[Dump]
}

/// Filters that name the headers they write.
const NAMING: [&str; 4] = [".header_mutation.", ".jwt_authn.", ".lua.", ".credential_injector."];
/// Filters that may write any.
const ANY: [&str; 6] = [".dynamic_modules.", ".ext_authz.", ".ext_proc.", ".golang.", ".oauth2.", ".wasm."];
/// Maximum number of headers that are looked for.
const MOST: usize = 16;

/// The headers that patches write, by header: the patches that do.
type Written = BTreeMap<String, HashSet<(usize, usize)>>;

/// For each of these headers, whether only a later filter writes it: the name of that filter.
type Each = Rc<[Option<String>]>;

/// What the filters of a proxy see.
#[derive(Default)]
struct Lists {
    filters: HashMap<Origin, Vec<Each>>,
    limits: Vec<(String, Option<String>, Each)>,
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let written = written(cx);
    if written.is_empty() {
        return;
    }
    let names: Vec<&String> = written.keys().collect();
    let known: PerRun<Lists> = PerRun::new();
    for value in cx.values() {
        let limits = matches!(
            value.view.patch.apply_to,
            ApplyTo::VirtualHost | ApplyTo::HttpRoute | ApplyTo::RouteConfiguration
        );
        if !limits && value.view.patch.apply_to != ApplyTo::HttpFilter {
            continue;
        }
        for object in &value.objects {
            let Some((node, reader)) = read(object, value) else { continue };
            let header = node.as_str().unwrap_or_default().to_ascii_lowercase();
            let Some(index) = names.iter().position(|name| **name == header) else { continue };
            let writers = |run: &PatchRun<'_, '_>| -> Option<String> {
                if run.run.knowledge != Knowledge::Dump {
                    return None;
                }
                let lists = known.of(run.run, |run| Lists::of(cx, run, &written));
                let places = if limits { lists.of_limits(run) } else { lists.of_filter(run) };
                let later: Option<Vec<&String>> = places.iter().map(|each| each[index].as_ref()).collect();
                later.and_then(|names| names.first().map(|name| (*name).clone()))
            };
            let Some(seen) = cx.seen_if(&value.view, |run| writers(run).is_some()).filter(Seen::certain) else {
                continue;
            };
            let Some(writer) = seen.runs.first().and_then(&writers) else { continue };
            let finding = value
                .finding(
                    rule,
                    node.span,
                    format!("`{header}` is what the client sent: `{writer}` writes it after {reader}"),
                )
                .label("read too early")
                .help(format!("insert {reader} after `{writer}`"));
            out.push(seen.tell(finding));
        }
    }
}

/// The header that a condition or an action reads, and what reads it.
fn read<'v>(object: &'v Object<'_>, value: &'v PatchValue<'_>) -> Option<(&'v Node, &'static str)> {
    if object.full_name() == "envoy.config.route.v3.RateLimit.Action.RequestHeaders" {
        return Some((&object.member("header_name")?.entry.value, "the rate limit filter"));
    }
    if !matches!(object.full_name(), "envoy.config.rbac.v3.Permission" | "envoy.config.rbac.v3.Principal") {
        return None;
    }
    let header = &object.member("header")?.entry.value;
    let rules = value
        .objects
        .iter()
        .rev()
        .find(|rules| rules.full_name() == "envoy.config.rbac.v3.RBAC" && object.route.starts_with(&rules.route))?;
    // A rule that denies may be about what the client must not send.
    let allows = rules.text("action").is_none_or(|action| action == "ALLOW");
    let turned = ["invert_match", "present_match"].iter().any(|field| get(header, field).is_some())
        || object.route.iter().any(|step| matches!(step, Step::Key(key) if key.starts_with("not_")));
    (allows && !turned).then_some((get(header, "name")?, "the RBAC filter"))
}

/// The headers of requests that inserted filters write.
fn written(cx: &Context<'_>) -> Written {
    let mut found = Written::new();
    let mut add = |value: &PatchValue<'_>, header: &str| {
        let header = header.to_ascii_lowercase();
        if value.view.patch.apply_to == ApplyTo::HttpFilter && (found.len() < MOST || found.contains_key(&header)) {
            found.entry(header).or_default().insert((value.view.filter_index, value.view.patch.index));
        }
    };
    for value in cx.values() {
        for object in &value.objects {
            match object.full_name() {
                "envoy.extensions.filters.http.jwt_authn.v3.JwtClaimToHeader" => {
                    object.text("header_name").into_iter().for_each(|header| add(value, header));
                }
                _ => {
                    for option in header_options::of_requests(object) {
                        let always = get(option, "append_action").and_then(Node::as_str) != Some("ADD_IF_ABSENT");
                        let header = header_options::key(option).and_then(Node::as_str);
                        header.filter(|_| always).into_iter().for_each(|header| add(value, header));
                    }
                }
            }
        }
    }
    for script in cx.loadable_scripts().filter(|script| script.script.main) {
        script.uses.written.iter().for_each(|one| add(script.value, one.name));
    }
    found
}

impl Lists {
    fn of(cx: &Context<'_>, run: &ProxyRun<'_>, written: &Written) -> Lists {
        let mut lists = Lists::default();
        for manager in managers::changed(run) {
            lists.add(cx, run, &manager, written);
        }
        lists
    }

    fn add(&mut self, cx: &Context<'_>, run: &ProxyRun<'_>, manager: &Manager<'_>, written: &Written) {
        // For each header, the last filter that writes it.
        let mut last: Vec<Option<(usize, &str)>> = vec![None; written.len()];
        for (at, filter) in manager.filters.iter().enumerate() {
            let Some(view) = PatchId::of(filter.origin).and_then(|id| cx.view(run, id)) else { continue };
            for (last, patches) in last.iter_mut().zip(written.values()) {
                if patches.contains(&(view.filter_index, view.patch.index)) {
                    *last = Some((at, filter.name()));
                }
            }
        }
        let mut before: Vec<bool> = vec![false; written.len()];
        let mut seen = HashSet::new();
        for (at, filter) in manager.filters.iter().enumerate() {
            let kind = config_type(filter);
            let is = |kinds: &[&str]| kinds.iter().any(|one| kind.contains(one));
            let limit = managers::is_rate_limit(filter);
            if limit || PatchId::of(filter.origin).is_some() && seen.insert(filter.origin) {
                let later = last.iter().zip(&before).map(|(last, before)| {
                    let last = last.filter(|(last, _)| !before && *last > at);
                    last.map(|(_, name)| name.to_owned())
                });
                let each: Each = later.collect();
                if limit {
                    self.limits.push((manager.listener.to_owned(), manager.routes.clone(), Each::clone(&each)));
                }
                self.filters.entry(filter.origin).or_default().push(each);
            }
            let any = kind.is_empty() || is(&ANY);
            let text = is(&NAMING).then(|| write(filter, Style::Compact).to_ascii_lowercase());
            for (before, header) in before.iter_mut().zip(written.keys()) {
                *before |= any || text.as_ref().is_some_and(|text| text.contains(header.as_str()));
            }
        }
    }

    fn of_filter(&self, run: &PatchRun<'_, '_>) -> Vec<Each> {
        self.filters.get(&run.id.origin()).cloned().unwrap_or_default()
    }

    /// What the rate limit filters see that read the actions of a patch of routes.
    fn of_limits(&self, run: &PatchRun<'_, '_>) -> Vec<Each> {
        let changed = managers::Changed::by(run);
        let read =
            self.limits.iter().filter(|(listener, routes, _)| changed.has_routes_of(listener, routes.as_deref()));
        read.map(|(.., each)| Each::clone(each)).collect()
    }
}

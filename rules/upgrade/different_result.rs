//! EF604: a patch whose effect differs after the upgrade.

use crate::declare_rule;
use crate::engine::compat::{Behaviour, since};
use crate::lint::upgrade::{Change, Upgrade, tell};
use crate::lint::{Confidence, Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch};

declare_rule! {
    /// A patch whose effect differs after the upgrade.
    ///
    /// # What it finds
    /// A patch with an effect on a proxy both before and after the upgrade, but in other places or with another result:
    /// `vhost.domainName` that starts to narrow a match, a cluster added next to one with its name, a CLUSTER REMOVE
    /// that runs in another order. Only `audit` reports it, since it compares two releases.
    ///
    /// # Why it matters
    /// Nothing is rejected or logged; requests are handled differently.
    ///
    /// # How to fix
    /// Check the named places; narrow or widen the match so that both releases agree.
    ///
    /// # References
    /// Recordings of istiod 1.22 to 1.31.
    "EF604" "different-result" Upgrade Warning => check,
    needs: &[Upgrade], changes: &[Change::Different]
}

/// The place in a patch of the condition that releases before 1.26 do not read.
const DOMAIN_NAME: &[&str] = &["match", "routeConfiguration", "vhost", "domainName"];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let Some(upgrade) = cx.upgrade.as_deref() else { return };
    for change in upgrade.of(Change::Different) {
        let Some(view) = tell::view(cx, change) else { continue };
        let domain = matches!(&view.patch.object, ObjectMatch::RouteConfiguration(route)
            if route.vhost.as_ref().is_some_and(|vhost| !vhost.domain_name.is_empty()));
        let domain = domain && upgrade.crosses(since(Behaviour::DomainName));
        let mut finding = tell::finding(
            rule,
            cx,
            upgrade,
            change,
            view.key_span(if domain { DOMAIN_NAME } else { &["patch", "operation"] }),
            format!("{} this patch has another effect", tell::from_on(upgrade)),
        )
        .label("does something else after the upgrade");
        let only = |these: &[String], those: &[String]| -> Vec<String> {
            these.iter().filter(|place| !those.contains(place)).cloned().collect()
        };
        let gone = only(&change.places.0, &change.places.1);
        let new = only(&change.places.1, &change.places.0);
        if change.counts.0 == change.counts.1 && gone.is_empty() {
            let places = tell::places(&change.places.1, change.counts.1);
            finding = finding.note(format!("the same places, with another result: {places}"));
        } else {
            finding = finding.note(format!("it changes {} places now and {} then", change.counts.0, change.counts.1));
        }
        if !gone.is_empty() {
            finding = finding.note(format!("no longer: {}", tell::places(&gone, gone.len())));
        }
        if !new.is_empty() {
            finding = finding.note(format!("new: {}", tell::places(&new, new.len())));
        }
        if domain {
            finding = finding
                .note("`vhost.domainName` is read since Istio 1.26; before, the patch applies to every virtual host");
        } else if view.patch.apply_to == ApplyTo::Cluster {
            for (behaviour, text) in [
                (
                    Behaviour::OutboundClustersKeepDuplicates,
                    "since 1.26 an added cluster exists next to a generated one of its name",
                ),
                (
                    Behaviour::ClusterRemoveInOrder,
                    "since 1.27 CLUSTER REMOVE runs in order; before, ahead of every MERGE",
                ),
            ] {
                if upgrade.crosses(since(behaviour)) {
                    finding = finding.note(text);
                }
            }
        }
        out.push(finding);
    }
    domain_name(rule, cx, upgrade, out);
}

/// Whether a match by domain widens or narrows is certain for any virtual hosts if no configuration shows it.
fn domain_name(rule: &'static RuleInfo, cx: &Context<'_>, upgrade: &Upgrade, out: &mut Findings) {
    if !upgrade.crosses(since(Behaviour::DomainName)) {
        return;
    }
    for view in cx.patches() {
        let ObjectMatch::RouteConfiguration(route) = &view.patch.object else { continue };
        let named = route.vhost.as_ref().is_some_and(|vhost| !vhost.domain_name.is_empty());
        if !named || cx.attaches_to_dump(view.filter_index) {
            continue;
        }
        out.push(
            view.finding(
                rule,
                view.key_span(DOMAIN_NAME),
                format!("{} `vhost.domainName` is read", tell::from_on(upgrade)),
            )
            .confidence(Confidence::Likely)
            .label("not read now")
            .note("before Istio 1.26 the patch applies to every virtual host that the rest of its match selects"),
        );
    }
}

//! EF220: no virtual host has that name or domain.

use crate::declare_rule;
use crate::engine::trace::Condition;
use crate::lint::{Context, Findings, Rule, no_match};
use crate::model::envoy_filter::ObjectMatch;

declare_rule! {
    /// `vhost.name` or `vhost.domainName` that no virtual host has.
    ///
    /// # What it finds
    /// A virtual host that none of the matched route configurations has. Needs config dumps.
    ///
    /// # Why it matters
    /// The patch does nothing. Virtual hosts are called `<host>:<port>`; those of a sidecar's inbound side
    /// `inbound|http|<port of the Service>`, although their route configuration has the port of the pod.
    ///
    /// # How to fix
    /// Write a name or domain that is there; `istioctl proxy-config routes -o json` shows them.
    ///
    /// # References
    /// istio/istio#36112, istio/istio#44820; istiod `pilot/pkg/networking/core/envoyfilter/rc_patch.go`.
    "EF220" "virtual-host-not-found" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for one in no_match::at(cx, &[Condition::VirtualHostName, Condition::DomainName]) {
        let ObjectMatch::RouteConfiguration(want) = &one.view.patch.object else { continue };
        let Some(vhost) = &want.vhost else { continue };
        let (field, value) = match one.nearest {
            Some(Condition::DomainName) => ("domainName", &vhost.domain_name),
            _ => ("name", &vhost.name),
        };
        let finding = one.finding(rule, "virtual hosts", format!("no virtual host here has {field} `{value}`"));
        let with_port =
            one.candidates.iter().find(|it| it.strip_prefix(value.as_str()).is_some_and(|rest| rest.starts_with(':')));
        let inbound = value
            .starts_with("inbound|http|")
            .then(|| one.candidates.iter().find(|it| it.starts_with("inbound|http|")))
            .flatten();
        let like = with_port.or(inbound).map(String::as_str).or_else(|| one.like(value));
        out.push(match like {
            Some(like) if inbound.is_some() => {
                finding.help(format!("inbound virtual hosts have the port of the Service:\n{field}: \"{like}\""))
            }
            Some(like) => finding.help(format!("{field}: \"{like}\"")),
            None => finding,
        });
    }
}

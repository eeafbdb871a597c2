//! The header `x-forwarded-client-cert`: whether it is passed on, and which details of the certificate it has.

use super::setting::annotate;
use crate::migrate::base::catalog;
use crate::migrate::base::step::{BUILT_IN, Cx, Move, Part};
use crate::migrate::base::value::Fields;
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::guards::whole::{Reads, of_pattern, whole_proxy};
use crate::migrate::objects::mesh::Proxies;
use crate::migrate::output::roll_out::IDLE_PATCH;
use crate::model::envoy_filter::PatchContext;
use serde_json::{Value as Json, json};

/// What happens to the header of a request.
pub(in crate::migrate) fn forwarded(
    cx: &Cx<'_>,
    part: &Part<'_>,
    config: &mut Fields,
    found: &mut Move,
    proxy: &mut Json,
) {
    let reach = &part.reach;
    let forwarded = config.peek("forward_client_cert_details").and_then(Json::as_str).map(str::to_owned);
    if part.defaults.iter().any(|field| field == "forward_client_cert_details") && forwarded.is_none() {
        let home = if reach.proxies == Proxies::Gateway {
            "gatewayTopology/forwardClientCertDetails"
        } else {
            "proxyHeaders/forwardedClientCert"
        };
        annotate(found, proxy, &catalog::CLIENT_CERT_HEADER, (home, 0), "SANITIZE");
        found.difference(
            Kind::Behavior,
            "SANITIZE is the enum's zero value, which MERGE cannot set: the filter does nothing, the native field removes the header",
        );
        found.meanwhile.push(IDLE_PATCH);
        found.guard(
            Concern::Authentication,
            State::Review,
            "services see a different client certificate header: check how they use it",
        );
        whole_proxy(cx, part, found, Reads::Inbound, "the client certificate setting");
    } else if reach.proxies == Proxies::Sidecar
        && let Some(word) = forwarded
    {
        config.skip("forward_client_cert_details");
        annotate(found, proxy, &catalog::CLIENT_CERT_HEADER, ("proxyHeaders/forwardedClientCert", 0), word);
        whole_proxy(cx, part, found, Reads::Inbound, "the client certificate setting");
    } else if let Some(word) = forwarded
        && matches!(word.as_str(), "FORWARD_ONLY" | "ALWAYS_FORWARD_ONLY")
    {
        // istiod then omits `set_current_client_cert_details`, which Envoy does not read in these modes.
        found.difference(
            Kind::Metadata,
            "`set_current_client_cert_details` is also removed; Envoy does not read it in this mode",
        );
    }
}

/// Details that the header gets.
pub(in crate::migrate) fn details(
    cx: &Cx<'_>,
    part: &Part<'_>,
    config: &mut Fields,
    found: &mut Move,
    proxy: &mut Json,
    details: &Json,
) {
    config.skip("set_current_client_cert_details");
    let mut details = details.clone();
    // istiod writes a subject everywhere, and MERGE of false into a wrapper changes nothing.
    if let Some(details) = details.as_object_mut()
        && details.get("subject") == Some(&json!(false))
    {
        details.shift_remove("subject");
    }
    if details.as_object().is_some_and(serde_json::Map::is_empty) {
        of_pattern(found, &catalog::CLIENT_CERT_HEADER);
        found.add_home(BUILT_IN, "set_current_client_cert_details", 0);
        found.notes.push(
            "MERGE of `subject: false` changes nothing where istiod writes `subject: true`: the certificate's subject stays in the header".to_owned(),
        );
        if part.reach.context != PatchContext::SidecarInbound {
            found.difference(
                Kind::Metadata,
                "`set_current_client_cert_details` is no longer written where Envoy does not read it",
            );
        }
        return;
    }
    annotate(found, proxy, &catalog::CLIENT_CERT_HEADER, ("proxyHeaders/setCurrentClientCertDetails", 24), details);
    let reach = &part.reach;
    if matches!(reach.proxies, Proxies::Gateway | Proxies::Both) {
        found.difference(
            Kind::Behavior,
            "the details of the certificate that the filter asks for are not in the header: gateways do not read these \
             fields of `proxyHeaders`",
        );
        found.guard(Concern::Patch, State::Broken, "gateways do not read `proxyHeaders.setCurrentClientCertDetails`");
    } else if reach.proxies == Proxies::Sidecar && reach.context == PatchContext::Any && reach.is_whole() {
        found.difference(
            Kind::Metadata,
            "`set_current_client_cert_details` is not written for requests that workloads send: Envoy does not read it there",
        );
    } else {
        whole_proxy(cx, part, found, Reads::Inbound, "the setting for details of the client certificate");
    }
}

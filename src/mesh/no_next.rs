//! `audit` in a build without the bottle: everything is a forecast.

use super::Error;
use super::audit_request::AuditRequest;
use super::read::Mesh;
use super::settings::{IstiodSettings, Progress, Settings};
use crate::audit::view::{Basis, MeshChange};
use crate::load::dump::Dump;
use crate::model::proxy::Proxy;
use crate::model::release::Release;
use crate::model::resource::ProxyConfig;
use crate::source::Problem;

/// No istiod can be used. Fails when one is named.
pub(super) fn named(request: &AuditRequest) -> Result<Vec<(Release, &IstiodSettings)>, Error> {
    if request.istiods.is_empty() {
        return Ok(Vec::new());
    }
    Err(Error::Text { message: "this build cannot run an istiod".to_owned(), help: None })
}

/// None.
pub(super) fn base(
    _: &AuditRequest,
    _: &[(Release, &IstiodSettings)],
    _: Release,
) -> Result<Option<(IstiodSettings, Release)>, Error> {
    Ok(None)
}

/// Never called: [`named`] rejects such requests.
pub(super) fn mesh<'p>(_: &Settings, _: &'p dyn Progress) -> Result<Mesh<'p>, Error> {
    Err(Error::Text { message: "this build cannot run an istiod".to_owned(), help: None })
}

/// None.
pub(super) struct Istiods;

impl Istiods {
    /// Nothing is started.
    pub(super) fn open(_: &Settings, _: &[(Option<Release>, IstiodSettings)], _: &Mesh<'_>) -> Result<Istiods, Error> {
        Ok(Istiods)
    }

    /// Nothing is computed.
    pub(super) fn dumps(
        &self,
        _: Release,
        _: Option<Release>,
        _: &[&Proxy],
        _: &mut Vec<Problem>,
    ) -> Vec<Option<Dump>> {
        Vec::new()
    }

    /// Nothing is reported.
    pub(super) fn bases(&self, _: &[Release], _: Release, _: bool) -> Vec<Basis> {
        Vec::new()
    }
}

/// Nothing was computed.
pub(super) fn config<'d>(_: &'d Dump, _: &ProxyConfig<'_>) -> Option<ProxyConfig<'d>> {
    None
}

/// Nothing was computed.
pub(super) fn changes(_: &ProxyConfig<'_>, _: &ProxyConfig<'_>, _: (Release, Release)) -> Vec<MeshChange> {
    Vec::new()
}

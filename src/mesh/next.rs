//! `audit --istiod`: what istiods of several releases generate for the user's own mesh, in place of forecasts.

use super::audit_request::AuditRequest;
use super::bottled::{self, Bottled};
use super::read::Mesh;
use super::settings::{Breadth, IstiodSettings, Progress, Settings};
use super::{Error, Unanswered};
use crate::audit::view::{Basis, MeshChange};
use crate::bottle::{Istiod, Node, located};
use crate::cluster::kinds;
use crate::engine::{MeshSettings, Program};
use crate::lint::upgrade::tell::short;
use crate::load::dump::{Dump, Identity};
use crate::model::proxy::Proxy;
use crate::model::release::Release;
use crate::model::resource::ProxyConfig;
use crate::source::Problem;
use crate::study::{self, study};

/// The istiods of a request by release, oldest first. Fails when a binary is not of the stated release or does not tell its own.
pub(super) fn named(request: &AuditRequest) -> Result<Vec<(Release, &IstiodSettings)>, Error> {
    let wrong = |message: String, help: String| Err(Error::Text { message, help: Some(help) });
    let mut all: Vec<(Release, &IstiodSettings)> = Vec::new();
    for (wanted, istiod) in &request.istiods {
        let found = Istiod::find(&located(&istiod.path))?;
        let path = istiod.path.display();
        let Some(release) = found.release else {
            return wrong(
                format!("{path} does not tell its release"),
                "use a binary from an image of istiod".to_owned(),
            );
        };
        if let Some(wanted) = wanted.filter(|wanted| !same(*wanted, release)) {
            let wanted = short(wanted);
            return wrong(format!("{path} is istiod {}, not {wanted}", found.version), format!("name one of {wanted}"));
        }
        all.push((release, istiod));
    }
    all.sort_by_key(|(release, _)| *release);
    Ok(all)
}

/// The istiod, among those named, that generates what proxies have now, and its release. If config dumps show that, any istiod,
/// so that manifests are kept for it. Fails when nothing shows what proxies have now.
pub(super) fn base(
    request: &AuditRequest,
    named: &[(Release, &IstiodSettings)],
    to: Release,
) -> Result<Option<(IstiodSettings, Release)>, Error> {
    let owned = |&(release, istiod): &(Release, &IstiodSettings)| (istiod.clone(), release);
    let from = request.from.or(request.settings.istio_version).or(request.path.first().copied());
    let of_mesh = request.files.is_empty() && !request.given.demo;
    if request.given.any() || of_mesh || named.is_empty() {
        return Ok(named.first().map(owned));
    }
    let own = match from {
        Some(from) => named.iter().find(|(release, _)| same(*release, from)),
        None => named.first().filter(|(release, _)| !same(*release, to)),
    };
    match own {
        Some(own) => Ok(Some(owned(own))),
        None => Err(Error::Text {
            message: "nothing tells what the proxies have now".to_owned(),
            help: Some(
                "name the istiod of the current release too (--istiod RELEASE=PATH), or give config dumps with --dump"
                    .to_owned(),
            ),
        }),
    }
}

/// The mesh of a cluster or a capture, with what istiods of other releases read from it.
pub(super) fn mesh<'p>(settings: &Settings, progress: &'p dyn Progress) -> Result<Mesh<'p>, Error> {
    Mesh::whole(settings, &kinds::AUDIT, progress, |_| Breadth::Mesh)
}

/// The istiods of some releases, each with the mesh of the files.
pub(super) struct Istiods {
    all: Vec<(Release, Bottled)>,
}

impl Istiods {
    /// Starts them. Each must report its expected release, and no release may occur twice.
    pub(super) fn open(
        settings: &Settings,
        istiods: &[(Option<Release>, IstiodSettings)],
        mesh: &Mesh<'_>,
    ) -> Result<Istiods, Error> {
        let loaded = &mesh.loaded;
        let documents: Vec<_> = loaded.documents.iter().filter(|one| !bottled::is_filter(one)).cloned().collect();
        if !istiods.is_empty() && documents.is_empty() {
            let message = "--istiod needs the manifests of the mesh".to_owned();
            let help =
                "give them with -f: workloads, Services, Gateways and the rest, beside the EnvoyFilters".to_owned();
            return Err(Error::Unusable(Unanswered::new(message, Some(help), loaded)));
        }
        let mut all: Vec<(Release, Bottled)> = Vec::new();
        for (_, istiod) in istiods {
            let istiod = &bottled::acting(istiod, &mesh.facts);
            let opened = bottled::open(settings, istiod, loaded, documents.clone(), mesh.is_mesh())?;
            let release = opened.bottle.istiod.release.unwrap_or(settings.release());
            if all.iter().any(|(other, _)| same(*other, release)) {
                let message = format!("two istiods are of Istio 1.{}", release.minor);
                return Err(Error::Text { message, help: None });
            }
            all.push((release, Bottled::of(opened, &istiod.revision, None)));
        }
        all.sort_by_key(|(release, _)| *release);
        Ok(Istiods { all })
    }

    /// The istiod of a release.
    fn of(&self, release: Release) -> Option<&Bottled> {
        self.all.iter().find(|(one, _)| same(*one, release)).map(|(_, bottled)| bottled)
    }

    /// What the istiod of a release generates for these proxies, with another version if one is given; `None` for each proxy
    /// without an answer. Empty if no istiod of that release was given.
    pub(super) fn dumps(
        &self,
        release: Release,
        version: Option<Release>,
        proxies: &[&Proxy],
        problems: &mut Vec<Problem>,
    ) -> Vec<Option<Dump>> {
        let Some(bottled) = self.of(release) else { return Vec::new() };
        let nodes: Vec<Node> = proxies
            .iter()
            .map(|proxy| {
                let mut node = Node::of_proxy(proxy, "cluster.local");
                if let Some(version) = version {
                    node.metadata.insert("ISTIO_VERSION".to_owned(), version.to_string().into());
                }
                node
            })
            .collect();
        bottled.dumps(&nodes, problems)
    }

    /// The basis for judging each release on a path.
    pub(super) fn bases(&self, path: &[Release], from: Release, computed_from: bool) -> Vec<Basis> {
        let basis = |release: &Release| {
            let (source, istiod) = match self.of(*release) {
                Some(bottled) if *release != from || computed_from => ("computed", Some(bottled.version.clone())),
                _ if *release == from => ("dumps", None),
                _ => ("forecast", None),
            };
            Basis { release: format!("{}.{}", release.major, release.minor), source, istiod }
        };
        path.iter().map(basis).collect()
    }
}

/// Whether two versions belong to one minor release.
fn same(one: Release, other: Release) -> bool {
    (one.major, one.minor) == (other.major, other.minor)
}

/// The configuration in a dump for a known proxy.
pub(super) fn config<'d>(dump: &'d Dump, like: &ProxyConfig<'_>) -> Option<ProxyConfig<'d>> {
    let config = dump.config(&Identity::default()).ok()?;
    Some(ProxyConfig { proxy: like.proxy.clone(), lent: std::sync::Arc::clone(&like.lent), ..config })
}

/// The changes between two configurations of a proxy that are independent of EnvoyFilters.
pub(super) fn changes(
    before: &ProxyConfig<'_>,
    after: &ProxyConfig<'_>,
    release: (Release, Release),
) -> Vec<MeshChange> {
    let (first, second) = (Program::new(&[], release.0), Program::new(&[], release.1));
    let settings = MeshSettings::default().into();
    let changed =
        study(&first, before, &settings, |old| study(&second, after, &settings, |new| study::between(old, new)));
    changed
        .into_iter()
        .map(|one| MeshChange {
            proxy: after.proxy.full_name(),
            kind: one.kind.as_str(),
            name: one.name,
            change: match (one.before.is_empty(), one.after.is_empty()) {
                (true, _) => "added",
                (_, true) => "removed",
                _ => "changed",
            },
        })
        .collect()
}

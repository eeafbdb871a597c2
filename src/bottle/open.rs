//! Finds and starts an istiod for the objects of a run.

use super::defaults::Defaults;
use super::fault::Fault;
use super::kinds;
use super::node::Common;
use super::objects::{Objects, Place, at, list, text};
use super::run::{Bottle, Istiod, Limits, Request, cluster_id, environment};
use super::stand_ins::{self, Added};
use crate::model::release::Release;
use crate::process;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Name of the program in images and on the `PATH`.
const PROGRAM: &str = "pilot-discovery";

/// What to open.
#[derive(Clone, Debug)]
pub struct Open {
    /// The binary, or its name on the `PATH`; defaults to `pilot-discovery` on the `PATH`.
    pub istiod: Option<PathBuf>,
    /// The required SHA-256 digest, in hexadecimal.
    pub sha256: Option<String>,
    /// The objects.
    pub documents: Vec<Value>,
    /// Default namespace of objects.
    pub namespace: String,
    /// The release whose types are used if the binary does not report its own, and that proxies report.
    pub release: Release,
    /// The revision to act as; empty for the default.
    pub revision: String,
    /// The namespace that istiod runs in.
    pub istiod_namespace: String,
    /// Name of the cluster; defaults to that of istiod's Deployment, otherwise `Kubernetes`.
    pub cluster_id: Option<String>,
    /// Whether the documents come from a cluster, so that nothing is missing; otherwise stand-ins are added.
    pub real: bool,
    /// Settings of istiod, which override those of its Deployment.
    pub environment: BTreeMap<String, String>,
    /// Resource limits.
    pub limits: Limits,
}

/// An istiod that has read the objects.
#[derive(Debug)]
pub struct Opened {
    /// The running istiod.
    pub bottle: Bottle,
    /// The objects that it reads, including stand-ins.
    pub objects: Objects,
    /// The stand-ins that were added.
    pub added: Added,
    /// Common properties of the proxies.
    pub common: Common,
    /// The places of the given objects.
    given: BTreeSet<Place>,
    /// How it was started.
    open: Open,
}

impl Open {
    /// Finds the binary, completes the objects, starts istiod.
    pub fn start(self) -> Result<Opened, Fault> {
        let path = match &self.istiod {
            Some(path) => located(path),
            None => process::find(PROGRAM).ok_or(Fault::NotGiven)?,
        };
        if let Some(wanted) = &self.sha256 {
            let found = sha256_of(&path)?;
            if !found.eq_ignore_ascii_case(wanted.trim_start_matches("sha256:")) {
                return Err(Fault::OtherDigest(path, found));
            }
        }
        let istiod = Istiod::find(&path)?;
        let mut open = self;
        let mut objects = Objects::new(std::mem::take(&mut open.documents), &open.namespace);
        if open.real {
            objects.of_cluster();
        }
        open.run(istiod, objects)
    }

    /// Completes objects and starts an istiod that reads them.
    fn run(self, istiod: Istiod, mut objects: Objects) -> Result<Opened, Fault> {
        let given = objects.places();
        let added = stand_ins::complete(&mut objects);
        self.run_completed(istiod, objects, given, added)
    }

    fn run_completed(
        self,
        istiod: Istiod,
        objects: Objects,
        given: BTreeSet<Place>,
        added: Added,
    ) -> Result<Opened, Fault> {
        let mut settings = environment(&objects, &self.revision);
        if ambient(&objects) {
            settings.entry("PILOT_ENABLE_AMBIENT".to_owned()).or_insert_with(|| "true".to_owned());
        }
        settings.extend(self.environment.clone());
        let release = istiod.release.unwrap_or(self.release);
        let cluster_id = self.cluster_id.clone().or_else(|| cluster_id(&objects, &self.revision));
        let cluster_id = cluster_id.unwrap_or_else(|| Common::default().cluster_id);
        let common = Common {
            istio_version: release.to_string(),
            cluster_id: cluster_id.clone(),
            defaults: Defaults::of(&objects, &self.revision, &self.istiod_namespace),
            ..Common::default()
        };
        let bottle = Bottle::start(&Request {
            istiod,
            release: self.release,
            objects: objects.clone(),
            revision: self.revision.clone(),
            namespace: self.istiod_namespace.clone(),
            cluster_id,
            environment: settings,
            limits: self.limits,
        })?;
        Ok(Opened { bottle, objects, added, common, given, open: self })
    }
}

impl Opened {
    /// Another istiod of the same binary, with some objects replaced, added or deleted. Stand-ins that do not depend on
    /// the change stay, above all addresses.
    pub(crate) fn changed(&self, new: Vec<Value>, deleted: &[Deleted]) -> Result<Opened, Fault> {
        let mut objects = self.objects.clone();
        let mut given = self.given.clone();
        for one in deleted {
            stand_ins::forget(&mut objects, &given, &one.kind, &one.namespace, &one.name);
            objects.take_away(&one.kind, &one.namespace, &one.name);
        }
        let new: Vec<Value> =
            new.into_iter().map(|value| stand_ins::kept(&objects, value, &self.open.namespace)).collect();
        for value in new {
            if let Some(object) = objects.upsert(value, &self.open.namespace) {
                stand_ins::forget(&mut objects, &given, object.kind.kind, &object.namespace, &object.name);
                objects.replaced(&object.place());
                given.insert(object.place());
            }
        }
        let added = stand_ins::complete(&mut objects);
        self.open.clone().run_completed(self.bottle.istiod.clone(), objects, given, added)
    }

    /// The given objects, without stand-ins.
    pub(crate) fn given(&self) -> Vec<Deleted> {
        let there = self.objects.places();
        let given = self.given.iter().filter(|place| there.contains(*place));
        given
            .filter_map(|(group, plural, namespace, name)| {
                let kind = kinds::by_plural(group, plural)?.kind.to_owned();
                Some(Deleted { kind, namespace: namespace.clone(), name: name.clone() })
            })
            .collect()
    }

    /// The revision that it acts as; empty for the default.
    pub(crate) fn revision(&self) -> &str {
        &self.open.revision
    }

    /// The object for `KIND/NAMESPACE/NAME`, if it exists.
    pub fn find(&self, kind: &str, namespace: &str, name: &str) -> Option<Deleted> {
        let kind = self.objects.kind_of(kind, namespace, name)?;
        Some(Deleted { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() })
    }
}

/// An object to delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deleted {
    /// Its kind.
    pub kind: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// Whether the objects belong to a mesh in ambient mode: then istiod runs with the flag that its installation sets
/// there.
fn ambient(objects: &Objects) -> bool {
    let waypoint = objects
        .values("gateway.networking.k8s.io", "Gateway")
        .any(|gateway| text(gateway, &["spec", "gatewayClassName"]) == "istio-waypoint");
    let enrolled = |object: &Value| text(object, &["metadata", "labels", "istio.io/dataplane-mode"]) == "ambient";
    let ztunnel = |set: &Value| {
        at(set, &["spec", "template"])
            .is_some_and(|pod| list(pod, &["spec", "containers"]).iter().any(|it| text(it, &["name"]) == "istio-proxy"))
            && text(set, &["metadata", "name"]) == "ztunnel"
    };
    waypoint || objects.values("", "Namespace").any(enrolled) || objects.values("apps", "DaemonSet").any(ztunnel)
}

/// The path of a binary: a name without a folder that is not a file here is looked up on the `PATH`, as a shell does.
pub fn located(path: &Path) -> PathBuf {
    let is_name = path.components().count() == 1 && !path.exists();
    let found = is_name.then(|| process::find(&path.to_string_lossy())).flatten();
    found.unwrap_or_else(|| path.to_owned())
}

/// The SHA-256 digest of a file, as hexadecimal digits.
fn sha256_of(path: &Path) -> Result<String, Fault> {
    let unreadable = |error| match std::fs::exists(path) {
        Ok(false) => Fault::Process(process::Fault::NotFound(path.to_owned())),
        _ => Fault::Process(process::Fault::NotStarted(path.to_owned(), error)),
    };
    let mut file = std::fs::File::open(path).map_err(unreadable)?;
    let mut digest = ring::digest::Context::new(&ring::digest::SHA256);
    let mut piece = vec![0; 1 << 20];
    loop {
        match file.read(&mut piece).map_err(unreadable)? {
            0 => break,
            count => digest.update(piece.get(..count).unwrap_or_default()),
        }
    }
    Ok(hex(digest.finish().as_ref()))
}

/// The SHA-256 digest of bytes, as hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex(ring::digest::digest(&ring::digest::SHA256, bytes).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

//! From what a run has to an istiod that has read it.

use super::fault::Fault;
use super::node::Common;
use super::objects::{Objects, at, list, text};
use super::run::{Bottle, Istiod, Limits, Request, environment};
use super::stand_ins::{self, Added};
use crate::model::release::Release;
use crate::process;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Name of the program in images and on the `PATH`.
const PROGRAM: &str = "pilot-discovery";

/// What to open.
#[derive(Clone, Debug)]
pub struct Open {
    /// The binary; the one on the `PATH` when absent.
    pub istiod: Option<PathBuf>,
    /// The digest that it must have, SHA-256 as hexadecimal digits.
    pub sha256: Option<String>,
    /// The objects.
    pub documents: Vec<Value>,
    /// Namespace of objects that give none.
    pub namespace: String,
    /// The release whose types are used where the binary does not tell its own, and that proxies say they are of.
    pub release: Release,
    /// The revision to act as; empty for the default.
    pub revision: String,
    /// The namespace that istiod runs in.
    pub istiod_namespace: String,
    /// Name of the cluster.
    pub cluster_id: String,
    /// Settings of istiod, over those of its Deployment.
    pub environment: BTreeMap<String, String>,
    /// What it may take.
    pub limits: Limits,
}

/// An istiod that has read the objects.
#[derive(Debug)]
pub struct Opened {
    /// It.
    pub bottle: Bottle,
    /// What it was shown, with what was added.
    pub objects: Objects,
    /// What was added because a cluster would have it.
    pub added: Added,
    /// What proxies have in common.
    pub common: Common,
}

impl Open {
    /// Finds the binary, completes the objects, starts istiod.
    pub fn start(self) -> Result<Opened, Fault> {
        let path = match self.istiod {
            Some(path) => path,
            None => process::find(PROGRAM).ok_or(Fault::NotGiven)?,
        };
        if let Some(wanted) = &self.sha256 {
            let found = sha256(&path)?;
            if !found.eq_ignore_ascii_case(wanted.trim_start_matches("sha256:")) {
                return Err(Fault::OtherDigest(path, found));
            }
        }
        let istiod = Istiod::find(&path)?;
        let mut objects = Objects::new(self.documents, &self.namespace);
        let added = stand_ins::complete(&mut objects);
        let mut settings = environment(&objects, &self.revision);
        if ambient(&objects) {
            settings.entry("PILOT_ENABLE_AMBIENT".to_owned()).or_insert_with(|| "true".to_owned());
        }
        settings.extend(self.environment);
        let release = istiod.release.unwrap_or(self.release);
        let common =
            Common { istio_version: release.to_string(), cluster_id: self.cluster_id.clone(), ..Common::default() };
        let bottle = Bottle::start(&Request {
            istiod,
            release: self.release,
            objects: objects.clone(),
            revision: self.revision,
            namespace: self.istiod_namespace,
            cluster_id: self.cluster_id,
            environment: settings,
            limits: self.limits,
        })?;
        Ok(Opened { bottle, objects, added, common })
    }
}

/// Whether the objects are of a mesh in ambient mode: then istiod runs with the flag that its installation sets there.
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

/// The SHA-256 digest of a file, as hexadecimal digits.
fn sha256(path: &Path) -> Result<String, Fault> {
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
    let mut hex = String::new();
    for byte in digest.finish().as_ref() {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    Ok(hex)
}

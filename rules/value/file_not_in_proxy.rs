//! EF184: a file that Istio's proxy image does not contain, or a folder in its place.

use crate::budget;
use crate::declare_rule;
use crate::lint::proxy_files::{self, Files, Group};
use crate::lint::value::{Object, PatchValue};
use crate::lint::{Context, Finding, Findings, RuleInfo, names};
use crate::source::escape::one_line;
use crate::source::{Node, Severity};
use crate::words::few;
use std::collections::{BTreeMap, BTreeSet, HashMap};

declare_rule! {
    /// A file that Istio's proxy image does not contain, or a folder in the place of a file.
    ///
    /// # What it finds
    /// `filename` of a certificate authority, certificate, key, script or module that is a folder; that has the place
    /// of the certificate authorities in Red Hat, SUSE or Alpine; that Istio before 1.5 had in `/etc/certs`; or that
    /// is below `/etc/istio/extensions` (Wasm modules of Istio before 1.20). With the manifests of the workloads that the
    /// filter selects: any `filename`, `proto_descriptor` or file with configuration (`path_config_source`) that is not
    /// mounted into the container of the proxy. Without them an info that the file must be there. Files of one folder are one
    /// finding for each EnvoyFilter.
    ///
    /// # Why it matters
    /// Envoy reads the file when it gets the configuration, and rejects the listener or cluster if it cannot ("Invalid path").
    /// It reads a folder as an empty file.
    ///
    /// # How to fix
    /// `/etc/ssl/certs/ca-certificates.crt` is in every proxy image of Istio. Mount other files with the annotation
    /// `sidecar.istio.io/userVolume` and its `userVolumeMount`: a volume of the application is not in the proxy's container.
    ///
    /// # References
    /// Envoy `config.core.v3.DataSource`; tested with Envoy 1.36.4 to 1.40.0 ("file … is empty", "Invalid path", "paths must refer
    /// to an existing path in the system"); istiod's
    /// template of the sidecar.
    "EF184" "file-not-in-proxy" Value Warning => check
}

/// The certificate authorities of the proxy image.
const AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";

/// Folders that are written in place of a file.
const FOLDERS: &[&str] = &[
    "/etc/ssl",
    "/etc/ssl/certs",
    "/etc/pki/tls/certs",
    "/usr/local/share/ca-certificates",
    "/usr/share/ca-certificates",
    "/var/run/secrets/istio",
    "/var/run/secrets/kubernetes.io/serviceaccount",
];

/// Files and folders of other images, and of Istio releases that are gone.
const ELSEWHERE: &[(&str, &str)] = &[
    ("/etc/pki/tls/certs/ca-bundle.crt", "the certificate authorities of Red Hat images"),
    ("/etc/pki/ca-trust/", "the certificate authorities of Red Hat images"),
    ("/etc/ssl/ca-bundle.pem", "the certificate authorities of SUSE images"),
    ("/etc/ssl/cert.pem", "the certificate authorities of Alpine images"),
    ("/etc/certs/cert-chain.pem", "where Istio before 1.5 mounted certificates"),
    ("/etc/certs/key.pem", "where Istio before 1.5 mounted certificates"),
    ("/etc/certs/root-cert.pem", "where Istio before 1.5 mounted certificates"),
    ("/etc/istio/extensions/", "Wasm modules of Istio before 1.20"),
];

/// Folders that the image and istiod's template of the sidecar fill, and those of the system.
const GIVEN: &[&str] = &[
    "/dev/",
    "/proc/",
    "/sys/",
    "/lib/",
    "/usr/",
    "/etc/ssl/",
    "/etc/istio/config/",
    "/etc/istio/pod/",
    "/etc/istio/proxy/",
    "/var/lib/istio/",
    "/var/run/secrets/",
];

/// The fields with files that Envoy reads with the configuration, by their messages.
const FILES: &[(&str, &str)] = &[
    ("envoy.config.core.v3.DataSource", "filename"),
    ("envoy.config.core.v3.PathConfigSource", "path"),
    ("envoy.config.core.v3.ConfigSource", "path"),
    ("envoy.extensions.filters.http.grpc_json_transcoder.v3.GrpcJsonTranscoder", "proto_descriptor"),
];

/// A file that is not known to be in the proxy.
struct Missing<'c, 'a> {
    value: &'c PatchValue<'a>,
    written: &'c Node,
    path: &'c str,
    rejection: &'static str,
}

/// Files with one cause: EnvoyFilter, folder, and the groups of its workloads that lack it.
type Cause<'c> = (usize, &'c str, Vec<usize>);

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let mut files = Files::default();
    let mut known: HashMap<usize, Vec<Group>> = HashMap::new();
    let mut missing: BTreeMap<Cause<'_>, Vec<Missing<'_, '_>>> = BTreeMap::new();
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| !object.unchecked) {
            let Some((_, field)) = FILES.iter().find(|(message, _)| object.full_name() == *message) else { continue };
            let Some((written, path)) =
                object.member(field).and_then(|member| Some((&member.entry.value, member.entry.value.as_str()?)))
            else {
                continue;
            };
            let number = value.view.filter_index;
            let groups = known.entry(number).or_insert_with(|| files.of_filter(cx, value.view.filter));
            budget::charge_for(groups.len());
            let folder = of_folder(rule, value, object, (written, path)).filter(|_| *field == "filename");
            if folder.is_some() {
                out.extend(folder);
                continue;
            }
            let has = |wanted: bool| move |one: &Group| one.mounts.has(path) == Some(wanted);
            if !groups.is_empty() && groups.iter().all(has(true)) {
                continue;
            }
            if let Some(finding) = of_another_image(rule, value, object, (written, path)) {
                out.push(finding);
                continue;
            }
            let absolute = format!("/{}", path.trim_start_matches("./").trim_start_matches('/'));
            if path.is_empty() || GIVEN.iter().any(|folder| absolute.starts_with(folder)) {
                continue;
            }
            let without = (0..groups.len()).filter(|&at| has(false)(&groups[at])).collect();
            let rejection = if *field == "path" { NO_CONFIG } else { INVALID };
            let file = Missing { value, written, path, rejection };
            missing.entry((number, proxy_files::folder(path), without)).or_default().push(file);
        }
    }
    for ((number, _, without), files) in missing {
        let groups = known.get(&number).map(Vec::as_slice).unwrap_or_default();
        let without: Vec<&Group> = without.into_iter().filter_map(|at| groups.get(at)).collect();
        out.extend(not_mounted(rule, &without, &files));
    }
}

/// The message that Envoy has for a file that does not exist.
const INVALID: &str = "Envoy rejects the resource with this value: \"Invalid path\"";

/// The same for a file with configuration.
const NO_CONFIG: &str =
    "Envoy rejects the resource with this value: \"paths must refer to an existing path in the system\"";

/// A folder in the place of a file.
fn of_folder(
    rule: &'static RuleInfo,
    value: &PatchValue<'_>,
    object: &Object<'_>,
    (written, path): (&Node, &str),
) -> Option<Finding> {
    let is_folder = path.ends_with('/') || FOLDERS.contains(&path);
    let help = || {
        if is_authority(object) { format!("filename: {AUTHORITIES}") } else { "name the file in it".to_owned() }
    };
    is_folder.then(|| {
        value
            .finding(rule, written.span, format!("`{}` is a folder, and `filename` names one file", one_line(path)))
            .severity(Severity::Error)
            .label("read as an empty file")
            .help(help())
    })
}

/// A file that other images have, or those of older releases.
fn of_another_image(
    rule: &'static RuleInfo,
    value: &PatchValue<'_>,
    object: &Object<'_>,
    (written, path): (&Node, &str),
) -> Option<Finding> {
    let (_, what) = ELSEWHERE.iter().find(|(known, _)| path.starts_with(known))?;
    let finding = value
        .finding(rule, written.span, format!("Istio's proxy image does not contain `{}`", one_line(path)))
        .label(*what)
        .note(format!("unless a volume mounts it, {INVALID}"));
    Some(if is_authority(object) {
        finding.help(format!("filename: {AUTHORITIES}"))
    } else {
        finding.help("mount it with the annotations sidecar.istio.io/userVolume and userVolumeMount, and use that path")
    })
}

/// Files of a folder that no manifest mounts into the proxy.
fn not_mounted(rule: &'static RuleInfo, without: &[&Group], files: &[Missing<'_, '_>]) -> Option<Finding> {
    let first = files.first()?;
    let mut paths: Vec<String> = Vec::new();
    for file in files.iter().map(|file| one_line(file.path).into_owned()).filter(|file| !file.is_empty()) {
        if paths.len() <= SHOWN && !paths.contains(&file) {
            paths.push(file);
        }
    }
    let all: BTreeSet<&str> = files.iter().map(|file| file.path).collect();
    let quoted: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
    let shown = few(&quoted, all.len(), SHOWN);
    let rejections: BTreeSet<&str> = files.iter().map(|file| file.rejection).collect();
    let others = |mut finding: Finding, label: &str| {
        for other in files.iter().skip(1).take(OTHERS) {
            finding = finding.related(other.written.span, label);
        }
        finding
    };
    let place = first.written.span;
    let Some(group) = without.first() else {
        let rejections = rejections.into_iter().map(|rejection| {
            format!(
                "not checked: what is mounted; without the {}, {rejection}",
                if all.len() == 1 { "file" } else { "files" }
            )
        });
        let finding = first
            .value
            .finding(rule, place, format!("the proxy reads {shown} from its own container"))
            .severity(Severity::Info)
            .label("must be mounted there")
            .notes(rejections);
        return Some(others(finding, "and this").help(MOUNT_OTHERWISE));
    };
    let workloads: BTreeSet<&str> = without.iter().flat_map(|one| &one.workloads).map(String::as_str).collect();
    let proxies = if workloads.len() == 1 { "the proxy of" } else { "the proxies of" };
    let listed = names::listed(workloads.iter().copied(), 4);
    let finding = first
        .value
        .finding(rule, place, format!("{proxies} {listed} do{} not have {shown}", es(workloads.len())))
        .label("not mounted into the container of the proxy")
        .notes(rejections.into_iter().map(str::to_owned))
        .likely("the proxy has only what its manifest mounts, unless the injection template adds a volume");
    let mounts = &group.mounts;
    let mount = mounts.elsewhere(first.path);
    let finding = others(finding, "nor this").notes(mount.map(|mount| {
        let (container, path) = (one_line(&mount.container), one_line(&mount.path));
        format!("`{path}` is mounted in container `{container}`: the proxy is a container of its own")
    }));
    let volume = mount.map(|mount| (one_line(&mount.volume), one_line(&mount.path)));
    Some(match volume {
        _ if mounts.is_gateway => finding.help("mount the volume into container `istio-proxy` of the gateway"),
        Some((volume, path)) => finding.snippet(format!(
            "annotate the pods:\nsidecar.istio.io/userVolumeMount: '[{{\"name\": \"{volume}\", \"mountPath\": \"{path}\"}}]'"
        )),
        None => finding.help(MOUNT_OTHERWISE),
    })
}

/// Maximum number of files that a finding names.
const SHOWN: usize = 3;

/// Maximum number of further places that a finding shows.
const OTHERS: usize = 8;

/// How to bring a file into the proxy.
const MOUNT_OTHERWISE: &str =
    "mount a volume there with the annotations sidecar.istio.io/userVolume and userVolumeMount of the pods";

/// The ending of a verb for one subject.
fn es(count: usize) -> &'static str {
    if count == 1 { "es" } else { "" }
}

/// Whether a file has certificate authorities.
fn is_authority(object: &Object<'_>) -> bool {
    object.parent.is_some_and(|(_, field)| field.name() == "trusted_ca")
}

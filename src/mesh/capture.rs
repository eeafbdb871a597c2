//! `capture`: saves everything a run reads in a folder or one archive, without secrets.

use super::proxies::{Given, Taken};
use super::read::{Feed, Mesh};
use super::scope::Scope;
use super::settings::{Breadth, Progress, Settings};
use super::{Error, Refusal, Unanswered};
use crate::cluster::kinds;
use crate::explain::view::API_VERSION;
use crate::load::capture::{Form, Pack};
use crate::load::dump::{Layout, Redactions};
use crate::load::{Loaded, yaml, yaml_text};
use crate::model::redact::Redactor;
use crate::source::{Code, FileId, Problem, Severity};
use serde_json::json;
use std::io;
use std::path::PathBuf;

/// The request of `capture`.
#[derive(Clone, Debug)]
pub(crate) struct CaptureRequest {
    /// The mesh: all of it, unless a namespace is given.
    pub settings: Settings,
    /// A new folder, or a file that ends in `.tar`, `.tar.zst` or `.tar.gz`.
    pub path: PathBuf,
    /// Regular expressions for further text to redact.
    pub redact: Vec<String>,
    /// Whether to save only objects.
    pub no_dumps: bool,
}

/// The contents of a capture.
#[derive(Debug)]
pub(crate) struct CaptureReport {
    /// Objects.
    pub objects: usize,
    /// Config dumps.
    pub dumps: usize,
    /// Values that were redacted.
    pub redacted: usize,
    /// Texts, objects and the loader's problems.
    pub loaded: Loaded,
    /// What else could not be read.
    pub problems: Vec<Problem>,
    /// What was read.
    pub scope: Scope,
}

/// Writes a capture.
pub(crate) fn capture(request: &CaptureRequest, progress: &dyn Progress) -> Result<CaptureReport, Error> {
    let redactor = Redactor::new(&request.redact)
        .map_err(|message| Error::Text { message: format!("--redact: {message}"), help: None })?;
    let settings = &request.settings;
    if settings.cluster.capture.is_some() {
        return Err(Refusal::CaptureOfCapture.into());
    }
    let Some(form) = Form::of(&request.path) else {
        let message = format!("cannot write {}: a capture is a folder or a tar archive", request.path.display());
        let help = "end the name in .tar.zst, .tar.gz or .tar, or in a slash for a folder".to_owned();
        return Err(Error::Text { message, help: Some(help) });
    };
    let mesh = Mesh::open(settings, &kinds::CAPTURE, progress, |_| Breadth::Mesh)?;
    let cannot = |verb: &str, error: &io::Error, help: Option<&str>| {
        let message = format!("cannot {verb} {}: {error}", request.path.display());
        Error::Text { message, help: help.map(str::to_owned) }
    };
    let mut pack = Pack::create(&request.path, form)
        .map_err(|error| cannot("create", &error, Some("name a folder or file that does not exist yet")))?;
    let mut taken = Taken::default();
    let (objects, dumps, redacted) = fill(&mut pack, &mesh, &redactor, &mut taken, request.no_dumps)
        .map_err(|error| cannot("write", &error, None))?;
    if dumps == 0 && !request.no_dumps {
        // Without dumps no command can say what is in effect, and the recipient of the capture would notice too late.
        pack.discard().map_err(|error| cannot("remove", &error, None))?;
        let why = match (mesh.lists(kinds::POD), mesh.targets().is_empty()) {
            (true, true) => mesh.without_proxy("pod", None).0,
            (false, true) => "pods could not be listed".to_owned(),
            (_, false) => "no config dump could be read".to_owned(),
        };
        let help = Some("use --no-dumps to save objects only".to_owned());
        let mut unanswered = Unanswered::new(format!("nothing captured: {why}"), help, &mesh.loaded);
        unanswered.problems.extend(taken.problems);
        return Err(Error::NotFound(unanswered));
    }
    pack.finish()?;
    let scope = mesh.scope(&Given::default(), &taken, mesh.loaded.inventory.envoy_filters.len());
    Ok(CaptureReport { objects, dumps, redacted, problems: taken.problems, scope, loaded: mesh.loaded })
}

/// Writes objects, then dumps as they arrive, then the description. Returns the numbers of objects, dumps and secrets.
fn fill(
    pack: &mut Pack,
    mesh: &Mesh<'_>,
    redactor: &Redactor,
    taken: &mut Taken,
    no_dumps: bool,
) -> io::Result<(usize, usize, usize)> {
    let (mut objects, mut redacted) = (0, 0);
    let context = match &mesh.feed {
        Feed::Live(live, _) => live.cluster().context.clone(),
        _ => return Ok((0, 0, 0)),
    };
    let prefix = format!("cluster://{context}/");
    for (_, source) in mesh.loaded.sources.iter() {
        let object = source.name.strip_prefix(&prefix).filter(|_| source.within.is_none());
        let Some(name) = object else { continue };
        let (documents, _) = yaml::documents(FileId(0), &source.text);
        for document in documents {
            let mut object = document.to_json();
            redacted += redactor.redact(&mut object);
            let text = yaml_text::write(&object).map_err(io::Error::other)?;
            let mut parts: Vec<&str> = vec!["resources"];
            parts.extend(name.split('/'));
            let file = format!("{}.yaml", parts.pop().unwrap_or_default());
            parts.push(&file);
            pack.add(&parts, text.as_bytes())?;
            objects += 1;
        }
    }
    let mut dumps = 0;
    let mut of_istiod = Vec::new();
    let mut known = Redactions::default();
    mesh.each(&Given::default(), Layout::Dropped, &|_| !no_dumps, taken, &mut |problems, kept| {
        let (namespace, pod) = (kept.identity.namespace.unwrap_or_default(), kept.identity.name.unwrap_or_default());
        let (text, found) = match kept.dump.redacted(redactor, &mut known) {
            Ok(redacted) => redacted,
            Err(error) => {
                let message = format!("the config dump of {namespace}/{pod} is not captured: {error}");
                let (code, severity) = (Code::NoDump, Severity::Error);
                problems.push(Problem { code, severity, span: None, message, help: None });
                return Ok(());
            }
        };
        redacted += found;
        dumps += 1;
        of_istiod.extend((!kept.running).then(|| format!("{namespace}/{pod}")));
        pack.add(&["dumps", &namespace, &format!("{pod}.json")], text.as_bytes())
    })
    .map_err(io::Error::other)?;
    let facts = &mesh.facts;
    let planes = facts.planes.iter().map(|plane| {
        json!({"revision": plane.revision, "namespace": plane.namespace, "version": plane.version, "rootNamespace": plane.root_namespace})
    });
    let held = kinds::CAPTURE.kinds.iter().filter(|kind| mesh.lists(kind)).map(|kind| kind.resource());
    let trouble = mesh.loaded.problems.iter().chain(&taken.problems);
    // A kind that the cluster does not have has no objects.
    let trouble: Vec<&str> =
        trouble.filter(|problem| problem.code != Code::NoKind).map(|problem| problem.message.as_str()).collect();
    let mut description = json!({
        "apiVersion": API_VERSION,
        "kind": "Capture",
        "tool": env!("CARGO_PKG_VERSION"),
        "context": context,
        "kubernetes": facts.kubernetes,
        "controlPlanes": planes.collect::<Vec<_>>(),
        "namespace": mesh.only,
        "kinds": held.collect::<Vec<_>>(),
        "tags": facts.tags,
        "istiodPodsUnknown": facts.uncounted,
        "objects": objects,
        "dumps": dumps,
        "dumpsOfIstiod": of_istiod,
        "redacted": redacted,
        "problems": trouble,
    });
    redactor.redact(&mut description);
    pack.add(&["capture.json"], format!("{description:#}\n").as_bytes())?;
    Ok((objects, dumps, redacted))
}

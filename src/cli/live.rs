//! A running mesh as the commands see it: what was read at once, and proxies that are read as they are needed.

use super::{Exit, Session};
use crate::admission::planes;
use crate::cluster::dumps::{self, Delivery, Via};
use crate::cluster::facts::{Facts, is_istiod};
use crate::cluster::kinds::Needs;
use crate::cluster::read::{self, Reading};
use crate::cluster::targets::{self, Target};
use crate::cluster::{Cluster, Fault, Stop};
use crate::load::dump::{Dump, Layout};
use crate::report::style::{Role, count};
use crate::source::{Problem, Severity};
use futures::StreamExt;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::pin::pin;
use tokio::runtime::{Builder, Runtime};

/// Proxies read at the same time.
const AT_ONCE: usize = 8;

/// What to do with the dump of a pod, which stands for so many others.
pub(super) type Take<'t> = dyn FnMut(&mut Vec<Problem>, Dump, &Target, usize) -> io::Result<()> + 't;

/// A cluster that was read, and can be asked for more.
pub(super) struct Live {
    runtime: Runtime,
    cluster: Cluster,
    via: Option<Via>,
    istiods: Vec<(String, String)>,
    all_replicas: bool,
    progress: bool,
}

/// What reading a cluster gave.
pub(super) struct Opened {
    pub(super) live: Live,
    pub(super) reading: Reading,
}

/// Connects; nothing is sent yet. Fails with the way the command ends.
pub(super) fn connect(session: &mut Session<'_>) -> io::Result<Result<(Runtime, Cluster), Exit>> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (sender, stop) = Stop::new();
    runtime.spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            // Ends every wait; who asks twice does not want to wait for the answer either.
            let _ = sender.send(true);
            let _ = tokio::signal::ctrl_c().await;
            leave();
        }
        std::future::pending::<()>().await;
    });
    let access = session.global.cluster.access();
    let cluster = match runtime.block_on(access.connect(stop)) {
        Ok(cluster) => cluster,
        Err(message) => {
            let message = format!("there is no cluster to read: {message}");
            let help = "work without a cluster (files, --dump, or --demo to try it), or say how to reach one with --kubeconfig or --context";
            return session.usage(&message, Some(help)).map(Err);
        }
    };
    session.context_namespace = Some(cluster.namespace.clone());
    Ok(Ok((runtime, cluster)))
}

/// Connects, and reads what a command needs. Fails with the way the command ends.
pub(super) fn open(
    session: &mut Session<'_>,
    needs: &Needs,
    namespace: Option<&str>,
) -> io::Result<Result<Opened, Exit>> {
    let (runtime, cluster) = match connect(session)? {
        Ok(connected) => connected,
        Err(exit) => return Ok(Err(exit)),
    };
    let options = &session.global.cluster;
    let namespace = namespace.or(session.global.namespace.as_deref());
    let scope = options.scope(&cluster, namespace, session.global.root_namespace.as_deref());
    let reading = match runtime.block_on(read::read(&cluster, needs, &scope)) {
        Ok(reading) => reading,
        Err(fault) => {
            let message = format!("cannot read cluster {}: {fault}", cluster.context);
            let word = session.around.err.paint(Role::Bad, "error");
            writeln!(session.err, "{word}: {message}")?;
            let exit = if matches!(fault, Fault::Interrupted) { Exit::Partial } else { Exit::Usage };
            return Ok(Err(exit));
        }
    };
    let live = Live {
        via: options.via(),
        istiods: istiods(&reading),
        all_replicas: options.all_replicas,
        progress: session.around.progress,
        runtime,
        cluster,
    };
    Ok(Ok(Opened { live, reading }))
}

/// Namespaces and names of istiod's pods.
fn istiods(reading: &Reading) -> Vec<(String, String)> {
    let pods = reading.loaded.inventory.workloads.iter().filter(|workload| is_istiod(workload));
    pods.map(|pod| (pod.object.namespace.clone(), pod.object.name.clone())).collect()
}

/// Ends the process at the user's second Ctrl-C, with the code shells give for that.
#[expect(clippy::exit, reason = "the main thread may be busy computing and cannot be asked")]
fn leave() -> ! {
    std::process::exit(130)
}

impl Live {
    /// The cluster.
    pub(super) fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Asks the cluster something else.
    pub(super) fn ask<T>(&self, question: impl AsyncFnOnce(&Cluster) -> T) -> T {
        self.runtime.block_on(question(&self.cluster))
    }

    /// Reads the dumps of these pods, replicas of each other once, and hands out each as it comes, in the order of their
    /// names. A few are in memory at a time. What could not be read is noted, the same reason once.
    pub(super) fn each(&self, wanted: Vec<Target>, problems: &mut Vec<Problem>, take: &mut Take<'_>) -> io::Result<()> {
        let groups = targets::groups(wanted, self.all_replicas);
        let bar = self.bar(groups.len());
        let (sender, mut receiver) = tokio::sync::mpsc::channel::<Delivery>(1);
        let stream = dumps::deliver(self.cluster.clone(), groups, self.via, self.istiods.clone(), AT_ONCE);
        self.runtime.spawn(async move {
            let mut stream = pin!(stream);
            while let Some(delivery) = stream.next().await {
                if sender.send(delivery).await.is_err() {
                    break;
                }
            }
        });
        let mut missing = Missing::default();
        let mut of_istiod = 0;
        while let Some(Delivery { target, stands_for, dump }) = receiver.blocking_recv() {
            bar.inc(1);
            match dump {
                Ok((text, via)) => {
                    of_istiod += usize::from(via == Via::Istiod);
                    let name = read::source_name(&self.cluster.context, "Pod", &target.namespace, &target.pod);
                    let (dump, mut found) = Dump::from_reader(name, text.as_bytes(), Layout::Dropped);
                    drop(text);
                    problems.append(&mut found);
                    if let Some(dump) = dump {
                        take(problems, dump, &target, stands_for)?;
                    }
                }
                Err(_) if self.cluster.stop().is_set() => missing.interrupted += 1,
                Err(reasons) => missing.add(&target, &reasons),
            }
        }
        bar.finish_and_clear();
        missing.tell(problems);
        if of_istiod > 0 {
            let proxies = count(of_istiod, "proxy", "proxies");
            problems.push(Problem {
                code: "dump-of-istiod",
                severity: Severity::Warning,
                span: None,
                message: format!(
                    "the configuration of {proxies} is what istiod would send now, not what they run with"
                ),
                help: Some("allow pods/portforward or pods/exec to read the proxies themselves".to_owned()),
            });
        }
        Ok(())
    }

    fn bar(&self, length: usize) -> ProgressBar {
        // Nothing ticks by itself: a bar that draws from another thread would wait for our lock on standard error.
        let target = if self.progress { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(length as u64), target);
        let style = ProgressStyle::with_template("reading proxies [{bar:30}] {pos}/{len} {eta}");
        if let Ok(style) = style {
            bar.set_style(style.progress_chars("=> "));
        }
        bar
    }
}

/// Pods whose dumps could not be read, by reason.
#[derive(Default)]
struct Missing {
    reasons: BTreeMap<String, Vec<String>>,
    not_ready: BTreeSet<String>,
    interrupted: usize,
}

impl Missing {
    fn add(&mut self, target: &Target, reasons: &[String]) {
        if target.ready {
            // The name of the pod in a message would make every message another one.
            let reason = reasons.join("; ").replace(&target.pod, "POD");
            self.reasons.entry(reason).or_default().push(target.full_name());
        } else {
            self.not_ready.insert(target.full_name());
        }
    }

    fn tell(self, problems: &mut Vec<Problem>) {
        let mut add = |code, severity, message: String, help: Option<&str>| {
            problems.push(Problem { code, severity, span: None, message, help: help.map(str::to_owned) });
        };
        for (reason, pods) in self.reasons {
            let proxies = few(&pods);
            let help = "`kubectl envoyfilter rbac` prints the roles that are needed; --dump-via forces one way";
            add("no-dump", Severity::Error, format!("no config dump of {proxies}: {reason}"), Some(help));
        }
        if !self.not_ready.is_empty() {
            let pods: Vec<String> = self.not_ready.into_iter().collect();
            add("not-ready", Severity::Warning, format!("no config dump of {}: not ready", few(&pods)), None);
        }
        if self.interrupted > 0 {
            let proxies = count(self.interrupted, "proxy was", "proxies were");
            add("interrupted", Severity::Error, format!("interrupted: {proxies} not read"), None);
        }
    }
}

/// The first of some pods, and how many more.
fn few(pods: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown = pods.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match pods.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

pub(super) use crate::admission::planes::Plane;

/// The control planes of a mesh, each with the release that is modelled for it; what the command line says wins.
pub(super) fn planes(session: &Session<'_>, facts: &Facts, targets: &[Target]) -> Vec<Plane> {
    planes::planes(facts, targets, session.global.istio_version, session.global.root_namespace.as_deref())
}

//! A running mesh: objects are read at once, proxies as they are needed.

use super::Error;
use super::settings::{Progress, Settings};
use super::unread::{self, Missing, sent_by_istiod};
use crate::cluster::dumps::{self, Delivery};
use crate::cluster::facts::is_istiod;
use crate::cluster::kinds::Needs;
use crate::cluster::read::{self, Reading, Scope};
use crate::cluster::targets::Target;
use crate::cluster::{Cluster, Fault, Stop, Via};
use crate::load::dump::Dump;
use crate::source::Problem;
use futures::StreamExt;
use std::io;
use std::pin::pin;
use tokio::runtime::{Builder, Runtime};

/// Proxies read at the same time.
const AT_ONCE: usize = 8;

/// What to do with a pod's dump.
type Take<'t> = dyn FnMut(&mut Vec<Problem>, Dump, &Target, Via) -> io::Result<()> + 't;

/// A connection to a cluster; nothing has been sent yet.
pub(crate) struct Link {
    runtime: Runtime,
    cluster: Cluster,
}

impl Link {
    /// Finds the cluster that the settings name.
    pub(crate) fn connect(settings: &Settings, progress: &dyn Progress) -> Result<Link, Error> {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let stop = progress.stop().unwrap_or_else(Stop::never);
        let cluster =
            runtime.block_on(settings.cluster.access.connect(stop)).map_err(|error| Error::NoCluster(error.into()))?;
        Ok(Link { runtime, cluster })
    }

    /// Namespace of the context.
    pub(crate) fn namespace(&self) -> &str {
        &self.cluster.namespace
    }

    /// The cluster and the runtime for its requests.
    pub(crate) fn parts(self) -> (Runtime, Cluster) {
        (self.runtime, self.cluster)
    }

    /// Asks the cluster something.
    pub(crate) fn ask<T>(&self, question: impl AsyncFnOnce(&Cluster) -> T) -> T {
        self.runtime.block_on(question(&self.cluster))
    }

    /// Reads what a command needs in one or all namespaces; `whole` reads everything in all namespaces, for an istiod.
    pub(super) fn read(
        self,
        settings: &Settings,
        needs: &Needs,
        only: Option<String>,
        whole: bool,
    ) -> Result<(Live, Reading), Error> {
        let scope = Scope {
            namespace: only,
            whole,
            istio_namespace: settings.cluster.istio_namespace.clone(),
            root_namespace: settings.root_namespace.clone(),
            labels: settings.cluster.labels.clone(),
            fields: settings.cluster.fields.clone(),
        };
        let reading = self.runtime.block_on(read::read(&self.cluster, needs, &scope));
        let reading = reading.map_err(|fault| failed(&self.cluster, fault))?;
        let istiods = istiods(&reading);
        Ok((Live { link: self, via: settings.cluster.via, istiods }, reading))
    }
}

/// A cluster that does not answer.
pub(crate) fn failed(cluster: &Cluster, fault: Fault) -> Error {
    Error::Cluster { unreachable: cluster.unreachable(&fault), fault }
}

/// Namespaces and names of istiod's pods.
fn istiods(reading: &Reading) -> Vec<(String, String)> {
    let pods = reading.loaded.inventory.workloads.iter().filter(|workload| is_istiod(workload));
    pods.map(|pod| (pod.object.namespace.clone(), pod.object.name.clone())).collect()
}

/// What helps when proxies may not be read.
const ROLES: &str = "`kubectl envoyfilter rbac` prints the required roles; --dump-via forces one way";
/// What may help when they cannot be read.
const WAYS: &str = "--dump-via forces one way of reading proxies; --proxy-timeout allows more time";

/// A cluster that was read and can be asked for more.
pub(super) struct Live {
    link: Link,
    via: Option<Via>,
    istiods: Vec<(String, String)>,
}

impl Live {
    /// The cluster.
    pub(super) fn cluster(&self) -> &Cluster {
        &self.link.cluster
    }

    /// The connection.
    pub(super) fn link(&self) -> &Link {
        &self.link
    }

    /// Reads one dump of each group and passes on each as it arrives, in the order of the groups, a few in memory at a time.
    /// Failures are noted, each reason once.
    pub(super) fn each(
        &self,
        groups: Vec<Vec<Target>>,
        progress: &dyn Progress,
        problems: &mut Vec<Problem>,
        take: &mut Take<'_>,
    ) -> io::Result<()> {
        progress.begin(groups.len());
        let (sender, mut receiver) = tokio::sync::mpsc::channel::<Delivery>(1);
        let cluster = self.cluster().clone();
        let stream = dumps::deliver(cluster, groups, self.via, self.istiods.clone(), AT_ONCE);
        self.link.runtime.spawn(async move {
            let mut stream = pin!(stream);
            while let Some(delivery) = stream.next().await {
                if sender.send(delivery).await.is_err() {
                    break;
                }
            }
        });
        let mut missing = Missing::default();
        let mut of_istiod = 0;
        while let Some(Delivery { target, dump, .. }) = receiver.blocking_recv() {
            progress.advance();
            match dump {
                Ok((text, via)) => {
                    of_istiod += usize::from(via == Via::Istiod);
                    let name = read::source_name(&self.cluster().context, "Pod", &target.namespace, &target.pod);
                    let (dump, mut found) = Dump::from_answer(name, text);
                    if unread::is_cut(&found) {
                        missing.add(&target, &[unread::CUT.to_owned()], WAYS);
                        continue;
                    }
                    problems.append(&mut found);
                    if let Some(dump) = dump {
                        take(problems, dump, &target, via)?;
                    }
                }
                Err(_) if self.cluster().stop().is_set() => missing.interrupted += 1,
                Err(no_answer) => {
                    let help = if no_answer.forbidden { ROLES } else { WAYS };
                    missing.add(&target, &no_answer.reasons, help);
                }
            }
        }
        progress.end();
        missing.note(problems);
        problems.extend(sent_by_istiod(of_istiod));
        Ok(())
    }
}

//! Kinds of workloads: how users write them, and which one a pod belongs to.

/// A kind of workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkloadKind {
    /// `Deployment`.
    Deployment,
    /// `StatefulSet`.
    StatefulSet,
    /// `DaemonSet`.
    DaemonSet,
    /// `ReplicaSet`.
    ReplicaSet,
    /// `Job`.
    Job,
    /// `CronJob`.
    CronJob,
    /// `Rollout` of Argo Rollouts.
    Rollout,
}

/// Each kind with its name, its plural, its API group and its short names in kubectl.
const KINDS: [(WorkloadKind, &str, &str, &str, &[&str]); 7] = [
    (WorkloadKind::Deployment, "Deployment", "deployments", "apps", &["deploy"]),
    (WorkloadKind::StatefulSet, "StatefulSet", "statefulsets", "apps", &["sts"]),
    (WorkloadKind::DaemonSet, "DaemonSet", "daemonsets", "apps", &["ds"]),
    (WorkloadKind::ReplicaSet, "ReplicaSet", "replicasets", "apps", &["rs"]),
    (WorkloadKind::Job, "Job", "jobs", "batch", &[]),
    (WorkloadKind::CronJob, "CronJob", "cronjobs", "batch", &["cj"]),
    (WorkloadKind::Rollout, "Rollout", "rollouts", "argoproj.io", &["ro"]),
];

impl WorkloadKind {
    /// The kind that a word means in kubectl: `sts`, `statefulset`, `StatefulSets`, `statefulsets.apps`.
    pub(crate) fn of_word(word: &str) -> Option<WorkloadKind> {
        let word = word.to_lowercase();
        let (name, group) = word.split_once('.').map_or((word.as_str(), None), |(name, group)| (name, Some(group)));
        let means = |(_, kind, plural, of, short): &&(_, &str, &str, &str, &[&str])| {
            let long = name == *plural || name == kind.to_lowercase();
            match group {
                None => long || short.contains(&name),
                Some(group) => long && group == *of,
            }
        };
        KINDS.iter().find(means).map(|(kind, ..)| *kind)
    }

    /// Its name: `StatefulSet`.
    pub(crate) fn as_str(self) -> &'static str {
        KINDS.iter().find(|(kind, ..)| *kind == self).map_or("", |(_, name, ..)| name)
    }
}

/// Kind and name of the workload behind the controller of a pod, as istiod names it: the Deployment or Rollout of a ReplicaSet, the
/// CronJob of a Job.
pub(crate) fn behind<'n>(kind: &'n str, name: &'n str, label: impl Fn(&str) -> Option<&'n str>) -> (&'n str, &'n str) {
    let without_hash = |key: &str| {
        let hash = label(key).filter(|hash| !hash.is_empty())?;
        name.strip_suffix(hash)?.strip_suffix('-')
    };
    match kind {
        "ReplicaSet" => without_hash("pod-template-hash")
            .map(|name| ("Deployment", name))
            .or_else(|| without_hash("rollouts-pod-template-hash").map(|name| ("Rollout", name)))
            .unwrap_or((kind, name)),
        "Job" => {
            // A CronJob appends the minute of a run, in digits.
            let run = |digits: &str| (8..=10).contains(&digits.len()) && digits.bytes().all(|it| it.is_ascii_digit());
            match name.rsplit_once('-') {
                Some((cron, digits)) if run(digits) && !cron.is_empty() => ("CronJob", cron),
                _ => (kind, name),
            }
        }
        _ => (kind, name),
    }
}

/// Kind and name in the `OWNER` of a proxy's node metadata: `kubernetes://apis/apps/v1/namespaces/shop/deployments/cart`.
pub(crate) fn in_metadata(owner: &str) -> Option<(&'static str, &str)> {
    let mut parts = owner.rsplit('/');
    let (name, plural) = (parts.next()?, parts.next()?);
    KINDS.iter().find(|(_, _, of, ..)| *of == plural).map(|(_, kind, ..)| (*kind, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_written_as_in_kubectl() {
        let of = WorkloadKind::of_word;
        assert_eq!(of("sts"), Some(WorkloadKind::StatefulSet));
        assert_eq!(of("StatefulSets"), Some(WorkloadKind::StatefulSet));
        assert_eq!(of("cronjobs.batch"), Some(WorkloadKind::CronJob));
        assert_eq!(of("deployments.apps"), Some(WorkloadKind::Deployment));
        assert_eq!(of("rollout"), Some(WorkloadKind::Rollout));
        assert_eq!((of("deployments.batch"), of("sts.apps"), of("pod")), (None, None, None));
        assert_eq!(WorkloadKind::DaemonSet.as_str(), "DaemonSet");
    }

    #[test]
    fn the_workload_behind_a_controller_is_istiods() {
        let behind = |kind, name, key: &'static str| behind(kind, name, move |label| (label == key).then_some("5d7"));
        assert_eq!(behind("ReplicaSet", "cart-5d7", "pod-template-hash"), ("Deployment", "cart"));
        assert_eq!(behind("ReplicaSet", "cart-5d7", "rollouts-pod-template-hash"), ("Rollout", "cart"));
        assert_eq!(behind("ReplicaSet", "cart-5d8", "pod-template-hash"), ("ReplicaSet", "cart-5d8"));
        assert_eq!(behind("Job", "report-29384710", ""), ("CronJob", "report"));
        assert_eq!(behind("Job", "report-7", ""), ("Job", "report-7"));
        assert_eq!(behind("StatefulSet", "ledger", ""), ("StatefulSet", "ledger"));
    }

    #[test]
    fn the_owner_in_metadata_has_a_kind() {
        let owner = "kubernetes://apis/apps/v1/namespaces/shop/statefulsets/ledger";
        assert_eq!(in_metadata(owner), Some(("StatefulSet", "ledger")));
        assert_eq!(in_metadata("kubernetes://apis/v1/namespaces/shop/pods/cart"), None);
        assert_eq!(in_metadata(""), None);
    }
}

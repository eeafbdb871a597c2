//! One question, one pipeline: what do these EnvoyFilters do to this proxy?
//!
//! The plan, the reconstruction of what istiod generated before the filters, the traced run, the typed outcomes and the doubts
//! are all decided here and nowhere else. Every command and every rule reads a [`Study`].
//!
//! A study borrows from the configuration it starts from, which may itself be reconstructed. [`study`] therefore passes it to a
//! closure. Code that keeps many studies at once runs the same steps itself: [`Undone::of`], [`Undone::base`], [`Study::of`].

mod changes;
pub(crate) mod culprit;
pub mod dump;
pub(crate) mod same;

pub use crate::engine::unapply::InEffect;
pub use changes::{Changed, Changes, between, changes, render};

use crate::engine::unapply::{self, doubt};
use crate::engine::{self, Judged, MeshSettings, Options, Outcome, PatchId, Plan, Program, Unapplied};
use crate::model::resource::ProxyConfig;
use culprit::{Blame, Counts, Scene, Searches};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

/// What a study assumes about the control plane of the proxy.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Root namespace, revision and policies of the mesh.
    pub mesh: MeshSettings,
    /// What the engine cannot read from a config dump.
    pub options: Options,
}

impl Settings {
    /// For answers that look at each changed resource at most once.
    pub(crate) fn packed(mesh: &MeshSettings) -> Settings {
        Settings { mesh: mesh.clone(), options: Options { packed: true, ..Options::default() } }
    }
}

impl From<MeshSettings> for Settings {
    fn from(mesh: MeshSettings) -> Settings {
        Settings { mesh, options: Options::default() }
    }
}

/// Options for a run when only the dump is known.
pub(crate) static OPTIONS: LazyLock<Options> = LazyLock::new(Options::default);

/// A config dump, and what istiod generated before the filters as far as the dump shows it.
#[derive(Debug)]
pub(crate) struct Undone<'a> {
    /// The configuration as it was read.
    pub dump: &'a ProxyConfig<'a>,
    /// What was undone in it, and whether redoing it gives the dump.
    pub unapplied: Unapplied<'a>,
}

impl<'a> Undone<'a> {
    /// Undoes the effects of a plan's filters in a dump.
    pub(crate) fn of(plan: &Plan<'a>, dump: &'a ProxyConfig<'a>, options: &'a Options) -> Undone<'a> {
        Undone { dump, unapplied: engine::unapply(plan, dump, options) }
    }

    /// A configuration without effects of the filters: a reference configuration, or one that was undone before.
    pub(crate) fn generated(dump: &'a ProxyConfig<'a>) -> Undone<'a> {
        Undone { dump, unapplied: Unapplied::default() }
    }

    /// Drops the trees of the reconstruction, which only [`render`] and [`changes()`] need.
    #[must_use]
    pub(crate) fn compact(mut self) -> Undone<'a> {
        self.unapplied.trees.clear();
        self
    }

    /// What a plan does to [`Undone::base`].
    pub(crate) fn judged(&self, plan: &Plan<'a>, base: &'a ProxyConfig<'a>, options: &'a Options) -> Arc<Judged<'a>> {
        let known = self.unapplied.judged.as_ref().filter(|_| !self.unapplied.patched());
        known.map_or_else(|| Arc::new(engine::judge(plan, base, options)), Arc::clone)
    }

    /// What istiod generated before the filters: the dump itself, unless the filters are in effect in it.
    pub(crate) fn base(&self) -> Cow<'_, ProxyConfig<'_>> {
        if self.unapplied.patched() {
            Cow::Owned(unapply::without(self.dump, &self.unapplied.texts))
        } else {
            Cow::Borrowed(self.dump)
        }
    }
}

/// What filters do to one proxy.
pub struct Study<'a> {
    /// The filters as the control plane reads them.
    pub program: &'a Program<'a>,
    /// The filters that attach to the proxy, in the order in which they run.
    pub plan: &'a Plan<'a>,
    /// Settings of the mesh.
    pub mesh: &'a MeshSettings,
    /// The start of the run: the proxy with the configuration that istiod generated before the filters.
    pub config: &'a ProxyConfig<'a>,
    /// The configuration as it was read.
    pub dump: &'a ProxyConfig<'a>,
    /// What was undone in the dump.
    pub unapplied: &'a Unapplied<'a>,
    /// What the engine did, patch by patch.
    pub judged: Arc<Judged<'a>>,
    /// Patches whose outcome is a guess, because no dump may contain the objects they could match.
    pub doubtful: BTreeSet<PatchId>,
    /// Whether the run starts from a reconstruction.
    reconstructed: bool,
    /// Searches for the patches to blame for others.
    searches: Searches,
}

impl<'a> Study<'a> {
    /// Lets the report name the patches to blame for others that match nothing.
    pub(crate) fn look_for_blame(&self) {
        self.searches.allow();
    }

    /// The patch to blame for one that matches nothing.
    pub(crate) fn blame(&self, id: PatchId) -> Option<Blame> {
        let searches = self.searches.left()?;
        let scene = Scene { config: self.config, plan: self.plan, judged: &self.judged, searches };
        culprit::blame(scene, id, Counts { effect: |_| true, described: false })
    }

    /// Runs a plan over a base configuration: the last step of [`study`].
    pub(crate) fn of(
        program: &'a Program<'a>,
        plan: &'a Plan<'a>,
        mesh: &'a MeshSettings,
        undone: &'a Undone<'a>,
        base: &'a ProxyConfig<'a>,
        options: &'a Options,
    ) -> Study<'a> {
        let judged = undone.judged(plan, base, options);
        let doubtful = doubtful(plan, &undone.unapplied, &judged);
        let unapplied = &undone.unapplied;
        let reconstructed = unapplied.patched();
        Study {
            program,
            plan,
            mesh,
            config: base,
            dump: undone.dump,
            unapplied,
            judged,
            doubtful,
            reconstructed,
            searches: Searches::none(),
        }
    }

    /// The verdict on a patch.
    pub fn outcome(&self, id: PatchId) -> Outcome {
        self.judged.outcome(self.plan, id)
    }

    /// Whether the proxy contains what a patch writes; `None` when the dump cannot tell.
    pub(crate) fn in_effect(&self, id: PatchId) -> Option<InEffect> {
        let seen = self.unapplied.in_effect(id);
        let seen = seen.filter(|_| matches!(self.outcome(id), Outcome::Applied | Outcome::NoOp))?;
        (self.reconstructed || seen == InEffect::No).then_some(seen)
    }

    /// Whether the dump was taken with the filters in effect, so that the run starts from a reconstruction.
    pub(crate) fn is_reconstructed(&self) -> bool {
        self.reconstructed
    }
}

/// Patches whose outcome a run over a reconstruction cannot tell; none when the run starts from the dump.
pub(crate) fn doubtful(plan: &Plan<'_>, unapplied: &Unapplied<'_>, judged: &Judged<'_>) -> BTreeSet<PatchId> {
    if unapplied.patched() { doubt::doubtful(plan, judged) } else { BTreeSet::new() }
}

/// Studies what filters do to a proxy whose configuration may or may not hold what they did: plans, undoes, runs, judges.
///
/// ```no_run
/// # use kubectl_envoyfilter::{engine::Program, model::release::Release, study};
/// # fn example(filters: &[kubectl_envoyfilter::model::envoy_filter::EnvoyFilter], config: &kubectl_envoyfilter::model::resource::ProxyConfig<'_>) {
/// let program = Program::new(filters, Release::NEWEST);
/// let settings = study::Settings::default();
/// study::study(&program, config, &settings, |study| {
///     for id in study.plan.ids() {
///         println!("{}: {}", study.plan.filter(id).full_name(), study.outcome(id));
///     }
/// });
/// # }
/// ```
pub fn study<T>(
    program: &Program<'_>,
    dump: &ProxyConfig<'_>,
    settings: &Settings,
    look: impl FnOnce(&Study<'_>) -> T,
) -> T {
    let plan = program.plan(&dump.proxy, &settings.mesh);
    let undone = Undone::of(&plan, dump, &settings.options);
    let base = undone.base();
    look(&Study::of(program, &plan, &settings.mesh, &undone, &base, &settings.options))
}

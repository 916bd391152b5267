//! Running gates on a commit: the one path that pull requests, merges and plans share.

use std::collections::BTreeSet;

use symphony_core::config::Gate;
use symphony_core::gates::{GateResult, Tries, with_those_before};
use symphony_core::outside::BaseNotice;
use symphony_core::pull_request::{VerifiedGate, VerifiedGates};
use symphony_core::warm::{compare_with_cold, is_sampled};
use symphony_core::watchdog::Step;
use symphony_store::GatePass;
use symphony_workspace::{CommitId, DisabledPool, Failpoint, Repository, WarmPool};

use super::checkout::GateCheckout;
use super::key::{History, Sight, key};
use super::request::CheckoutRequest;
use super::run::run_gates;
use crate::error::RunnerError;
use crate::process::Supervision;

/// Gates on a commit, before they have run.
#[derive(Debug)]
pub(crate) struct Proof<'a> {
    request: CheckoutRequest<'a>,
    commit: CommitId,
    tree: CommitId,
    gates: Vec<Gate>,
    keys: Vec<String>,
    /// As `keys`, for when the commit is part of the base.
    keys_in_base: Vec<String>,
    definitions: Vec<String>,
    /// Whether their checkouts may start with kept build output.
    may_be_warm: bool,
}

/// The result of running them.
#[derive(Debug)]
pub(crate) struct Proven {
    /// The results, in the order of the gates.
    pub(crate) gates: VerifiedGates,
    /// Those that ran and passed. They need not run again where a gate sees the same.
    pub(crate) passes: Vec<GatePass>,
}

impl<'a> Proof<'a> {
    /// Prepares gates on a commit and the history that it brings, and determines what their results depend on.
    ///
    /// # Errors
    /// When the repository does not have the commit, or the files to copy cannot be listed.
    pub(crate) fn of(
        request: CheckoutRequest<'a>,
        commit: CommitId,
        history: &History,
        gates: Vec<Gate>,
    ) -> Result<Self, RunnerError> {
        let tree = request.repository.tree_of(&commit)?;
        let tags = request.repository.tags()?;
        let definitions = request.ground()?.definitions(&gates);
        let keys = |history: &History| {
            let sight = Sight {
                tree: &tree,
                history,
                tags: &tags,
            };
            let defined = gates.iter().zip(&definitions);
            let keys = defined.map(|(gate, definition)| key(definition, gate.reads, &sight));
            keys.collect()
        };
        let (keys, keys_in_base) = (keys(history), keys(&History::Of(commit.clone())));
        Ok(Self {
            request,
            commit,
            tree,
            gates,
            keys,
            keys_in_base,
            definitions,
            may_be_warm: true,
        })
    }

    /// Runs them without kept build output: whoever asks for a new result wants nothing of earlier ones.
    pub(crate) fn cold(self) -> Self {
        Self {
            may_be_warm: false,
            ..self
        }
    }

    /// Prepares gates on a commit that brings its own history.
    ///
    /// # Errors
    /// As [`Proof::of`].
    pub(crate) fn of_commit(
        request: CheckoutRequest<'a>,
        commit: CommitId,
        gates: Vec<Gate>,
    ) -> Result<Self, RunnerError> {
        let history = History::Of(commit.clone());
        Self::of(request, commit, &history, gates)
    }

    /// Returns the digests under which passes are remembered, in the order of the gates.
    pub(crate) fn keys(&self) -> &[String] {
        &self.keys
    }

    /// Returns the tree of the commit.
    pub(crate) fn tree(&self) -> &CommitId {
        &self.tree
    }

    /// Runs the gates whose digests are not in `passed`, and those before them, in a pristine checkout. If all digests
    /// are in it, nothing is checked out. If the set-up command fails, that is the only result.
    ///
    /// # Errors
    /// When the checkout cannot be made or removed, or processes cannot be supervised. All processes have ended then.
    pub(crate) async fn run(
        &self,
        supervision: &Supervision,
        passed: &BTreeSet<String>,
    ) -> Result<Proven, RunnerError> {
        let is_due = |index: usize, _: &Gate| {
            let key = self.keys.get(index);
            key.is_some_and(|key| !passed.contains(key))
        };
        let due = with_those_before(&self.gates, is_due);
        let ran = if due.is_empty() {
            Vec::new()
        } else {
            match self.run_in_checkout(supervision, &due).await? {
                Ran::SetUpFailed(result) => {
                    return Ok(Proven {
                        gates: self.verified(vec![result]),
                        passes: Vec::new(),
                    });
                }
                Ran::Gates(results) => results,
            }
        };
        Ok(self.put_together(ran))
    }

    /// Runs gates with kept build output where there is some, and without it if one of them is red: what was kept must not
    /// make a change fail either.
    async fn run_in_checkout(
        &self,
        supervision: &Supervision,
        due: &[Gate],
    ) -> Result<Ran, RunnerError> {
        let Some(warm) = self.run_warm(supervision, due).await? else {
            return self.run_cold(supervision, due).await;
        };
        if !is_sampled(self.request.id) {
            return Ok(Ran::Gates(warm));
        }
        let cold = self.run_cold(supervision, due).await?;
        self.compare(&warm, &cold)?;
        Ok(cold)
    }

    /// Runs gates in a checkout with kept build output. Returns their results only if all passed.
    async fn run_warm(
        &self,
        supervision: &Supervision,
        due: &[Gate],
    ) -> Result<Option<Vec<GateResult>>, RunnerError> {
        // Build output is kept from commits of the base, so these are built without any.
        let may_be_warm = self.may_be_warm && self.request.config.worktree.warm;
        if !may_be_warm || self.request.is_on_base(&self.commit)? {
            return Ok(None);
        }
        self.request.steps.enter(Step::Checkout);
        let checkout = match GateCheckout::make_seeded(self.request.clone(), &self.commit)? {
            Ok(checkout) => checkout,
            Err(reason) => {
                tracing::info!(commit = %self.commit, %reason, "gates start without kept build output");
                return Ok(None);
            }
        };
        Failpoint::GatesCheckedOut.reach();
        let set_up = checkout.set_up(supervision).await?;
        let results = if set_up.is_none_or(|result| result.passed) {
            checkout.run_gates(supervision, due).await?
        } else {
            Vec::new()
        };
        self.give_up(checkout)?;
        let all_passed = results.len() == due.len() && results.iter().all(|result| result.passed);
        if !all_passed {
            tracing::info!(commit = %self.commit, "gates run again without kept build output");
            return Ok(None);
        }
        Ok(Some(Tries::of(due, results).into_results()))
    }

    /// Compares a run with kept build output with one without.
    fn compare(&self, warm: &[GateResult], cold: &Ran) -> Result<(), RunnerError> {
        let of = |results: &[GateResult]| -> Vec<VerifiedGate> {
            results.iter().map(|ran| ran.result.clone()).collect()
        };
        let cold = match cold {
            Ran::Gates(results) => of(results),
            Ran::SetUpFailed(_) => Vec::new(),
        };
        let Some(warning) = compare_with_cold(&of(warm), &cold).warning() else {
            return Ok(());
        };
        tracing::warn!(commit = %self.commit, "{warning}");
        let pool = WarmPool::of_project(self.request.repository.root());
        let disabled = pool.disable(&self.commit, &warning);
        disabled.map_err(|error| RunnerError::io("write into", pool.folder(), error))
    }

    /// Returns the notice that kept build output is not used any more, if a cold run disagreed with a warm one.
    pub(crate) fn warm_notice(&self) -> Option<BaseNotice> {
        let pool = WarmPool::of_project(self.request.repository.root());
        let DisabledPool { commit, why } = pool.disabled()?;
        Some(BaseNotice::of_warm(self.request.project, &commit, &why))
    }

    /// Keeps the build output of a checkout in which all gates passed. A failure costs later runs their time, and nothing else.
    fn keep(&self, checkout: &GateCheckout<'_>, due: &[Gate], results: &[VerifiedGate]) {
        let ran_all = due.len() == self.request.config.gates.len() && results.len() == due.len();
        if !ran_all || !results.iter().all(|result| result.passed) {
            return;
        }
        match checkout.keep() {
            Ok(Some(kept)) => {
                tracing::info!(commit = %kept.commit, folders = ?kept.folders, "build output was kept");
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "build output was not kept"),
        }
    }

    async fn run_cold(&self, supervision: &Supervision, due: &[Gate]) -> Result<Ran, RunnerError> {
        let checkout = self.check_out()?;
        let first = match checkout.set_up(supervision).await? {
            Some(result) if !result.passed => Err(result),
            _ => Ok(checkout.run_gates(supervision, due).await?),
        };
        if let Ok(results) = &first {
            self.keep(&checkout, due, results);
        }
        self.give_up(checkout)?;
        let first = match first {
            Ok(first) => first,
            Err(set_up) => return Ok(Ran::SetUpFailed(set_up)),
        };
        let mut tries = Tries::of(due, first);
        loop {
            let next = tries.next();
            if next.is_empty() {
                return Ok(Ran::Gates(tries.into_results()));
            }
            let number = tries.next_number();
            tries.take(self.try_again(supervision, &next, number).await?);
        }
    }

    /// Runs gates in another checkout with its own set-up. Returns no results if the set-up fails there.
    async fn try_again(
        &self,
        supervision: &Supervision,
        gates: &[Gate],
        number: u64,
    ) -> Result<Vec<VerifiedGate>, RunnerError> {
        let checkout = self.check_out()?;
        // The set-up passed before, so a failure now is no verdict on the change.
        let set_up = checkout.set_up(supervision).await?;
        let tried = if set_up.is_none_or(|result| result.passed) {
            run_gates(&checkout, supervision, gates, number).await?
        } else {
            Vec::new()
        };
        self.give_up(checkout)?;
        Ok(tried)
    }

    fn check_out(&self) -> Result<GateCheckout<'a>, RunnerError> {
        self.request.steps.enter(Step::Checkout);
        let checkout = GateCheckout::make(self.request.clone(), &self.commit)?;
        Failpoint::GatesCheckedOut.reach();
        Ok(checkout)
    }

    fn give_up(&self, checkout: GateCheckout<'_>) -> Result<(), RunnerError> {
        self.request.steps.enter(Step::Checkout);
        checkout.remove()
    }

    fn put_together(&self, ran: Vec<GateResult>) -> Proven {
        let mut ran = ran.into_iter().peekable();
        let (mut results, mut passes) = (Vec::new(), Vec::new());
        let keys = self.keys.iter().zip(&self.keys_in_base);
        let defined = keys.zip(&self.definitions);
        for (gate, ((key, key_in_base), definition)) in self.gates.iter().zip(defined) {
            let ran = ran.next_if(|ran| ran.result.name == gate.name);
            if ran.as_ref().is_some_and(GateResult::is_proven) {
                // The second key is for when the commit is in the base, with which failures of other changes are
                // compared.
                let keys = BTreeSet::from([key, key_in_base]);
                passes.extend(keys.into_iter().map(|key| GatePass {
                    key: key.clone(),
                    gate: gate.name.clone(),
                    tree: self.tree.as_str().to_owned(),
                }));
            }
            results.push(VerifiedGate {
                definition: Some(definition.clone()),
                ..ran.map_or_else(|| cached(gate), |ran| ran.result)
            });
        }
        Proven {
            gates: self.verified(results),
            passes,
        }
    }

    fn verified(&self, results: Vec<VerifiedGate>) -> VerifiedGates {
        VerifiedGates {
            commit: self.commit.as_str().to_owned(),
            results,
            merged_with: None,
        }
    }
}

enum Ran {
    SetUpFailed(VerifiedGate),
    Gates(Vec<GateResult>),
}

/// Returns green results as passes of a commit with the same files that becomes the base.
///
/// # Errors
/// When git fails, or the repository does not have the commit.
pub(crate) fn passes_in_base(
    repository: &Repository,
    gates: &[Gate],
    found: &VerifiedGates,
    commit: &CommitId,
) -> Result<Vec<GatePass>, RunnerError> {
    let sight = Sight {
        tree: &repository.tree_of(commit)?,
        history: &History::Of(commit.clone()),
        tags: &repository.tags()?,
    };
    let passed = |gate: &Gate| {
        let mut results = found.results.iter();
        let result = results.find(|result| result.name == gate.name && result.passed)?;
        Some(GatePass {
            key: key(result.definition.as_ref()?, gate.reads, &sight),
            gate: gate.name.clone(),
            tree: sight.tree.as_str().to_owned(),
        })
    };
    Ok(gates.iter().filter_map(passed).collect())
}

/// Returns the result of a gate that passed before.
fn cached(gate: &Gate) -> VerifiedGate {
    VerifiedGate {
        name: gate.name.clone(),
        required: gate.required,
        passed: true,
        exit_code: Some(0),
        duration_ms: 0,
        output: String::new(),
        cached: true,
        definition: None,
        failed_tries: Vec::new(),
    }
}

//! Confirms that nothing is left to do because a person asks for it (`docs/design/0025`).
//!
//! The conditions are those of the tick's own confirmation. Gates that are too old run first, as they do before a
//! merge.

use symphony_core::Timestamp;
use symphony_core::config::ProjectConfig;
use symphony_core::done::{BaseNow, ConfirmedBy, DoneRecord, Obstacle, stands};
use symphony_core::gates::ConfiguredGate;
use symphony_core::id::PrId;
use symphony_core::pull_request::{PullRequest, VerifiedGates};
use symphony_store::{Context, Project, Store};

use crate::error::RunnerError;
use crate::gates::History;
use crate::installation::Installation;
use crate::merge::gates::MergeGates;
use crate::network::NetworkLog;
use crate::repository::open_repository;
use crate::tick::{base_now, gates_now};

/// The result of a person's confirmation.
#[derive(Debug)]
pub enum Confirmation {
    /// The issue is done.
    Confirmed {
        /// The proposal, as it is recorded now.
        proposal: Box<PullRequest>,
        /// What would have kept Symphony from confirming it.
        in_spite_of: Vec<Obstacle>,
    },
    /// Nothing was changed.
    Refused {
        /// What is in the way.
        obstacles: Vec<Obstacle>,
    },
}

/// Confirms a proposal for a person, after running its gates if they are due. `stop` returns whether the person asked
/// to stop. What its gates reach for is added to `network`.
///
/// # Errors
/// When it is no proposal, its gates cannot be run, or the database cannot be written.
pub fn confirm_done(
    installation: &Installation,
    store: &mut Store,
    context: &Context,
    id: PrId,
    stop: &dyn Fn() -> bool,
    network: &NetworkLog,
) -> Result<Confirmation, RunnerError> {
    let project = store.project(&store.pr(id)?.project)?;
    let config = installation.project_config(&project)?;
    let look = Look {
        installation,
        project: &project,
        config: &config,
        gates: gates_now(installation, &project, &config)?,
    };
    let (mut record, mut base) = look.at(store, id)?;
    if let Some(base_of_gates) = base.as_ref().filter(|base| needs_gates(&record, base)) {
        look.run_gates(store, &record.proposal, base_of_gates, stop, network)?;
        // The gates may have run for a long time: everything may have changed.
        (record, base) = look.at(store, id)?;
    }
    let obstacles = stands(&record, base.as_ref(), ConfirmedBy::Person).err();
    let (None, Some(base)) = (&obstacles, base) else {
        let obstacles = obstacles.unwrap_or_default();
        return Ok(Confirmation::Refused { obstacles });
    };
    let unlike_symphony = stands(&record, Some(&base), ConfirmedBy::AutoDone);
    let proposal = store.confirm_done(&context.at(Timestamp::now()), id, &base)?;
    Ok(Confirmation::Confirmed {
        proposal: Box::new(proposal),
        in_spite_of: unlike_symphony.err().unwrap_or_default(),
    })
}

/// Returns whether only gates that have to run are in a person's way.
fn needs_gates(record: &DoneRecord, base: &BaseNow) -> bool {
    stands(record, Some(base), ConfirmedBy::Person)
        .is_err_and(|obstacles| obstacles.iter().all(Obstacle::asks_for_gates))
}

/// Where proposals of a project are looked at.
struct Look<'a> {
    installation: &'a Installation,
    project: &'a Project,
    config: &'a ProjectConfig,
    gates: Vec<ConfiguredGate>,
}

impl Look<'_> {
    fn at(&self, store: &Store, id: PrId) -> Result<(DoneRecord, Option<BaseNow>), RunnerError> {
        let record = store.done_record(id)?;
        let base = base_now(self.project, self.config, &record.proposal, &self.gates)?;
        Ok((record, base))
    }

    /// Runs the gates on the current base and records their results. They say nothing about a change, so a failure does
    /// not count against any worker and puts nothing on hold: the next tick does that.
    fn run_gates(
        &self,
        store: &mut Store,
        proposal: &PullRequest,
        base: &BaseNow,
        stop: &dyn Fn() -> bool,
        network: &NetworkLog,
    ) -> Result<(), RunnerError> {
        let repository = open_repository(self.project, self.config)?;
        let commit = RunnerError::commit(&base.head, format_args!("the base `{}`", base.name))?;
        let gates = MergeGates {
            installation: self.installation,
            project: self.project,
            config: self.config,
            repository: &repository,
            pr: proposal,
            force: false,
            network,
            stop,
        };
        let found = gates.run(store, &commit, &History::Of(commit.clone()))?;
        if let Some(found) = found {
            let found = results_on_base(proposal, &base.head, found);
            store.record_gates(&Context::system(Timestamp::now()), proposal.id, &found)?;
        }
        Ok(())
    }
}

/// Turns results on a commit of the base into results of a proposal, and names the commit they ran on.
pub(crate) fn results_on_base(
    proposal: &PullRequest,
    ran_on: &str,
    gates: VerifiedGates,
) -> VerifiedGates {
    VerifiedGates {
        commit: proposal.head_commit.clone(),
        merged_with: (ran_on != proposal.head_commit).then(|| ran_on.to_owned()),
        ..gates
    }
}

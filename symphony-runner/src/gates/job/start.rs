//! Starting the gates of a pull request without a tick: at the end of the run that opened it, or at a person's request.

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::id::{PrId, RunId};
use symphony_core::placement::{Host, Pool};
use symphony_core::pull_request::PullRequest;
use symphony_core::run::{ProtectionLevel, Run, RunTarget};
use symphony_core::tick::{LeftoverOwner, NO_PROVIDER, SlotLimits, StartRun};
use symphony_store::{Begun, ClaimLimits, ClaimRefusal, ClaimRequest, Context, Project, Store};

use crate::error::RunnerError;
use crate::installation::Installation;
use crate::paths::RunPaths;
use crate::placement::control::take_host;
use crate::process::{DetachedSupervisor, RunLock};
use crate::supervise::{SuperviseMode, launch_supervisor};

/// Claims a run of a pull request's gates and starts its supervisor.
///
/// A tick would start them, too; this saves the wait for the next one. The claim decides, as it does for a tick, so
/// both may try at the same time. With a place it is a run of that pool, which this host begins unless another one is faster.
///
/// # Errors
/// When the claim cannot be written or the supervisor cannot be started. A refusal is not an error.
pub(crate) fn start_gates(
    installation: &Installation,
    store: &mut Store,
    project: &Project,
    pr: &PullRequest,
    place: Option<&(Pool, Host)>,
) -> Result<Result<(Run, DetachedSupervisor), ClaimRefusal>, RunnerError> {
    // A worker's host is in the run's row.
    if place.is_none() {
        take_host(installation, store)?;
    }
    let id = RunId::parse(uuid::Uuid::now_v7().to_string()).expect("a UUID is a run id");
    let paths = RunPaths::new(&project.root, &id);
    paths.create()?;
    // Held before the claim: a run whose lock is free looks dead, and a tick that sees it before its supervisor starts
    // would end it.
    let lock = RunLock::acquire(paths.lock())?;
    let request = ClaimRequest {
        run: id,
        start: StartRun {
            project: project.id.clone(),
            target: RunTarget::Gates(pr.of.clone(), pr.id),
            agent: AgentType::Gates,
            phase: None,
            attempt: 1,
            provider: NO_PROVIDER.to_owned(),
            probes: Vec::new(),
        },
        protection: ProtectionLevel::None,
    };
    let limits = ClaimLimits {
        slots: SlotLimits {
            gates: installation.gate_slots(),
            ..SlotLimits::default()
        },
        ..ClaimLimits::default()
    };
    let context = Context::system(Timestamp::now());
    let pools = place
        .iter()
        .map(|(pool, _)| (project.id.clone(), pool.clone()));
    let claims = store.claim_for_pools(&context, &[request], &limits, &pools.collect())?;
    match claims.into_iter().next() {
        Some(Ok(run)) => {
            if let Some((_, host)) = place
                && !matches!(store.begin_on(&run.id, host)?, Begun::Now(_))
            {
                drop(lock);
                paths.tidy(LeftoverOwner::Unclaimed)?;
                return Ok(Err(ClaimRefusal::NoSlot));
            }
            let supervisor =
                launch_supervisor(installation, project, &run.id, lock, SuperviseMode::Run)?;
            Ok(Ok((run, supervisor)))
        }
        Some(Err(refusal)) => {
            drop(lock);
            paths.tidy(LeftoverOwner::Unclaimed)?;
            Ok(Err(refusal))
        }
        None => Err(RunnerError::refused("the claim was not answered")),
    }
}

/// Runs the gates of an open pull request again at a person's request, whatever passed before, and returns the run.
/// `None` if no slot is free; then a tick starts them.
///
/// # Errors
/// When the pull request is not open, another run is live on its issue, or the gates cannot be started.
pub fn check_pr(
    installation: &Installation,
    store: &mut Store,
    context: &Context,
    id: PrId,
) -> Result<Option<RunId>, RunnerError> {
    let pr = store.request_gates(context, id)?;
    let project = store.project(&pr.project)?;
    match start_gates(installation, store, &project, &pr, None)? {
        Ok((run, _supervisor)) => Ok(Some(run.id)),
        Err(ClaimRefusal::NoSlot) => Ok(None),
        Err(refusal) => Err(RunnerError::GatesNotStarted { pr: id, refusal }),
    }
}

//! Tries set-up and gates in a pristine checkout of the base branch, in the process of the command itself: what fails
//! is known before any agent is paid.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use symphony_core::config::{CommandLine, Gate, Millis, ProjectConfig};
use symphony_core::config_change::AtWork;
use symphony_core::outside::BaseNotice;
use symphony_core::pull_request::{SET_UP_GATE, VerifiedGate};
use symphony_core::trial::{Trial, TrialOutcome, TrialStep, TrialVerdict};
use symphony_store::Project;

use crate::error::RunnerError;
use crate::gates::{CheckoutRequest, ForegroundJob, GateCheckout, tried_digest};
use crate::installation::Installation;
use crate::network::NetworkLog;
use crate::paths::{STATE_DIR, read_capped, write_private};
use crate::process::Supervision;
use crate::repository::open_repository;
use crate::runtime::block_on;
use crate::shared_state::SharedState;
use crate::watchdog::StepLog;

/// Interval at which the person's request to stop is polled.
const LOOK: Duration = Duration::from_millis(100);
/// Why nothing more is tried after a person stopped the trial.
const STOPPED: &str = "the trial was stopped";

/// What a person sees while a trial runs, and how they end it.
pub trait TrialWatch {
    /// A command begins.
    fn begins(&mut self, name: &str, command: &CommandLine);
    /// A command has ended.
    fn ended(&mut self, step: &TrialStep);
    /// Returns whether to stop now.
    fn is_stopped(&self) -> bool;
}

/// What is tried.
#[derive(Debug)]
pub struct TrialRequest<'a> {
    /// Where Symphony runs.
    pub installation: &'a Installation,
    /// The project.
    pub project: &'a Project,
    /// The project's configuration.
    pub config: &'a ProjectConfig,
    /// Time limit for the whole trial.
    pub limit: Duration,
}

impl TrialRequest<'_> {
    /// Runs the set-up command and the gates, each within its own time limit and that of the trial. If the set-up
    /// fails, the gates are not tried: they would fail for the same reason. The notices say what changed meanwhile in
    /// the state that the person shares with the code that ran.
    ///
    /// # Errors
    /// When there is no base branch, or no checkout can be made. Failing commands are no error.
    pub fn run(&self, watch: &mut dyn TrialWatch) -> Result<(Trial, Vec<BaseNotice>), RunnerError> {
        let repository = open_repository(self.project, self.config)?;
        let base = repository.base()?;
        let logs = fresh_logs(&self.project.root)?;
        let job = ForegroundJob::begin(&self.project.root)?;
        let supervision = Supervision::begin()?;
        let steps = StepLog::default();
        let network = NetworkLog::default();
        let request = CheckoutRequest {
            installation: self.installation,
            config: self.config,
            project: &self.project.id,
            repository: &repository,
            id: job.id(),
            logs,
            steps: &steps,
            network: network.clone(),
        };
        let before = SharedState::now(self.installation, self.project, &repository)?;
        let checkout = GateCheckout::make(request, &base.commit)?;
        let mut course = Course {
            checkout: &checkout,
            supervision: &supervision,
            watch,
            ends: Instant::now() + self.limit,
            limit: self.limit,
        };
        let tried = block_on(checkout.path(), course.run(self.config));
        checkout.remove()?;
        let changes = before.changes(self.installation, self.project, &repository)?;
        let project = &self.project.id;
        let notices = BaseNotice::of_changes(project, None, job.id(), AtWork::Gates, &changes);
        let (setup, gates) = tried??;
        let trial = Trial {
            base: base.branch.to_string(),
            commit: base.commit.to_string(),
            setup,
            gates,
            network: network.used(),
        };
        Ok((trial, notices))
    }
}

/// What is kept of a trial, beside its logs.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    /// A digest of what was tried.
    tried: String,
    trial: Trial,
}

/// Keeps the result of a trial until the next one: whoever sets the project up again sees it.
///
/// # Errors
/// When the file cannot be written, or the trial had no commit.
pub fn keep_trial(
    project: &Project,
    config: &ProjectConfig,
    trial: &Trial,
) -> Result<(), RunnerError> {
    // A trial that was cut off says too little: it is tried again.
    let is_cut_off = trial.verdict() == TrialVerdict::Unknown
        && trial
            .steps()
            .any(|step| step.outcome == TrialOutcome::NotTried);
    if is_cut_off {
        return Ok(());
    }
    let commit = RunnerError::commit(&trial.commit, "the tried commit")?;
    let kept = Kept {
        tried: tried_digest(config, &commit),
        trial: trial.clone(),
    };
    let text = serde_json::to_string(&kept).expect("a trial has string keys only");
    write_private(&kept_path(&project.root), &text)
}

/// Returns the result of the last trial if set-up, gates and base are unchanged. A damaged file counts as none.
///
/// # Errors
/// When there is no base branch, or the file cannot be read.
pub fn kept_trial(project: &Project, config: &ProjectConfig) -> Result<Option<Trial>, RunnerError> {
    let base = open_repository(project, config)?.base()?;
    let Some(bytes) = read_capped(&kept_path(&project.root))? else {
        return Ok(None);
    };
    let kept: Option<Kept> = serde_json::from_slice(&bytes).ok();
    let same = kept.filter(|kept| kept.tried == tried_digest(config, &base.commit));
    Ok(same.map(|kept| kept.trial))
}

fn kept_path(root: &Path) -> PathBuf {
    logs_of_trial(root).join("result.json")
}

/// Returns the folder with the logs of a project's newest trial.
pub(crate) fn logs_of_trial(root: &Path) -> PathBuf {
    root.join(STATE_DIR).join("trial")
}

/// Returns the folder for a trial's logs, after removing the previous ones.
fn fresh_logs(root: &Path) -> Result<PathBuf, RunnerError> {
    let logs = logs_of_trial(root);
    if logs.exists() {
        std::fs::remove_dir_all(&logs)
            .map_err(|error| RunnerError::io("remove the folder", &logs, error))?;
    }
    std::fs::create_dir_all(&logs)
        .map_err(|error| RunnerError::io("make the folder", &logs, error))?;
    Ok(logs)
}

/// A running trial.
struct Course<'a> {
    checkout: &'a GateCheckout<'a>,
    supervision: &'a Supervision,
    watch: &'a mut dyn TrialWatch,
    ends: Instant,
    limit: Duration,
}

impl Course<'_> {
    async fn run(
        &mut self,
        config: &ProjectConfig,
    ) -> Result<(Option<TrialStep>, Vec<TrialStep>), RunnerError> {
        let setup = match &config.worktree.setup {
            None => None,
            Some(line) => {
                let setup = Gate {
                    timeout_ms: config.worktree.setup_timeout_ms,
                    ..Gate::new(SET_UP_GATE, line.clone())
                };
                Some(self.attempt(&setup, true).await?)
            }
        };
        let is_ready = setup.as_ref().is_none_or(|step| step.exit_code == Some(0));
        let mut gates = Vec::with_capacity(config.gates.len());
        for gate in &config.gates {
            let step = if is_ready {
                self.attempt(gate, false).await?
            } else {
                not_tried(gate, "the set-up did not pass")
            };
            gates.push(step);
        }
        Ok((setup, gates))
    }

    /// Runs a gate or the set-up while there is time and no one stops it.
    async fn attempt(&mut self, gate: &Gate, is_set_up: bool) -> Result<TrialStep, RunnerError> {
        if let Some(why) = self.cut_off() {
            return Ok(not_tried(gate, why));
        }
        self.watch.begins(&gate.name, &gate.command);
        let step = match self.one_try(gate, is_set_up).await? {
            Err(why) => not_tried(gate, why),
            Ok(result) => TrialStep::ran(gate.command.to_string(), result),
        };
        self.watch.ended(&step);
        Ok(step)
    }

    /// Returns why nothing more is tried; `None` while something may be.
    fn cut_off(&self) -> Option<String> {
        if Instant::now() >= self.ends {
            Some(self.out_of_time())
        } else if self.watch.is_stopped() {
            Some(STOPPED.to_owned())
        } else {
            None
        }
    }

    fn out_of_time(&self) -> String {
        format!("the time limit of {} s was reached", self.limit.as_secs())
    }

    /// Runs a gate once; an error says why it was ended early.
    async fn one_try(
        &mut self,
        gate: &Gate,
        is_set_up: bool,
    ) -> Result<Result<VerifiedGate, String>, RunnerError> {
        let left = self.ends.saturating_duration_since(Instant::now());
        let left = Millis::new(u64::try_from(left.as_millis()).unwrap_or(u64::MAX));
        let cut = gate.timeout_ms.min(left);
        let ended = {
            let checkout = self.checkout;
            let running = async {
                if is_set_up {
                    checkout.set_up_within(self.supervision, cut).await
                } else {
                    let run = checkout.run(self.supervision, &gate.name, &gate.command, cut);
                    run.await.map(Some)
                }
            };
            let watch = &self.watch;
            let stopped = async {
                while !watch.is_stopped() {
                    tokio::time::sleep(LOOK).await;
                }
            };
            tokio::select! {
                result = running => result?,
                () = stopped => None,
            }
        };
        Ok(match ended {
            None => {
                // The command was interrupted: none of its processes may go on.
                self.supervision.end_rest().await?;
                Err(STOPPED.to_owned())
            }
            Some(result) if result.exit_code.is_none() && Instant::now() >= self.ends => {
                Err(self.out_of_time())
            }
            Some(mut result) => {
                result.required = gate.required;
                Ok(result)
            }
        })
    }
}

fn not_tried(gate: &Gate, why: impl Into<String>) -> TrialStep {
    TrialStep::not_tried(&gate.name, gate.command.to_string(), gate.required, why)
}

//! Tries set-up and gates in a pristine checkout of the base branch, in the process of the command itself: what is red is
//! known before any agent is paid.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use symphony_core::config::{CommandLine, Gate, Millis, ProjectConfig};
use symphony_core::trial::{Trial, TrialOutcome, TrialStep, TrialVerdict};
use symphony_store::Project;
use symphony_workspace::CommitId;

use crate::error::RunnerError;
use crate::gates::{CheckoutRequest, ForegroundJob, GateCheckout, tried_digest};
use crate::installation::Installation;
use crate::paths::{STATE_DIR, read_capped, write_private};
use crate::process::Supervision;
use crate::repository::open_repository;
use crate::runtime::block_on;
use crate::watchdog::StepLog;
use symphony_core::pull_request::SET_UP_GATE;

/// Time between two looks at whether the person has had enough.
const LOOK: Duration = Duration::from_millis(100);

/// What a person sees while a trial runs, and how they end it.
pub trait TrialWatch {
    /// A command begins.
    fn begins(&mut self, name: &str, command: &CommandLine);
    /// A command has ended.
    fn ended(&mut self, step: &TrialStep);
    /// Says whether to stop now.
    fn is_stopped(&self) -> bool;
}

/// What is tried.
#[derive(Debug)]
pub struct TrialRequest<'a> {
    /// Where Symphony runs.
    pub installation: &'a Installation,
    /// The project.
    pub project: &'a Project,
    /// What holds for it.
    pub config: &'a ProjectConfig,
    /// Time for all of it.
    pub limit: Duration,
}

impl TrialRequest<'_> {
    /// Runs the set-up command and the gates, each within its own time limit and that of the trial. A set-up that fails
    /// leaves the gates untried: they would fail for its reason.
    ///
    /// # Errors
    /// When there is no base branch, or no checkout can be made. Red commands are no error.
    pub fn run(&self, watch: &mut dyn TrialWatch) -> Result<Trial, RunnerError> {
        let repository = open_repository(self.project, self.config)?;
        let base = repository.base()?;
        let logs = fresh_logs(&self.project.root)?;
        let job = ForegroundJob::begin(&self.project.root)?;
        let supervision = Supervision::begin()?;
        let steps = StepLog::default();
        let request = CheckoutRequest {
            installation: self.installation,
            config: self.config,
            repository: &repository,
            id: job.id(),
            logs,
            steps: &steps,
        };
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
        let (setup, gates) = tried??;
        Ok(Trial {
            base: base.branch.to_string(),
            commit: base.commit.to_string(),
            setup,
            gates,
        })
    }
}

/// What is kept of a trial, beside its logs.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    /// A digest of what was tried.
    tried: String,
    trial: Trial,
}

/// Keeps what a trial came to until the next one: who sets the project up again sees it.
///
/// # Errors
/// When the file cannot be written, or the trial was of no commit.
pub fn keep_trial(
    project: &Project,
    config: &ProjectConfig,
    trial: &Trial,
) -> Result<(), RunnerError> {
    // one that was cut off says too little: it is tried again
    let is_cut_off = trial.verdict() == TrialVerdict::Unknown
        && trial
            .steps()
            .any(|step| step.outcome == TrialOutcome::NotTried);
    if is_cut_off {
        return Ok(());
    }
    let commit = CommitId::parse(&trial.commit)
        .map_err(|error| RunnerError::refused(format!("the tried commit: {error}")))?;
    let kept = Kept {
        tried: tried_digest(config, &commit),
        trial: trial.clone(),
    };
    let text = serde_json::to_string(&kept).expect("a trial has string keys only");
    write_private(&kept_path(&project.root), &text)
}

/// Returns what the last trial came to, when set-up, gates and base are what they were then. A file that is damaged counts as
/// none.
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
    root.join(STATE_DIR).join("trial/result.json")
}

/// Returns the folder of a trial's logs: those of the one before are gone.
fn fresh_logs(root: &Path) -> Result<PathBuf, RunnerError> {
    let logs = root.join(STATE_DIR).join("trial");
    if logs.exists() {
        std::fs::remove_dir_all(&logs)
            .map_err(|error| RunnerError::io("remove the folder", &logs, error))?;
    }
    std::fs::create_dir_all(&logs)
        .map_err(|error| RunnerError::io("make the folder", &logs, error))?;
    Ok(logs)
}

/// A trial under way.
struct Course<'a> {
    checkout: &'a GateCheckout<'a>,
    supervision: &'a Supervision,
    watch: &'a mut dyn TrialWatch,
    ends: Instant,
    limit: Duration,
}

/// A command to be tried.
struct Candidate<'a> {
    name: &'a str,
    line: &'a CommandLine,
    required: bool,
    limit: Millis,
}

impl Course<'_> {
    async fn run(
        &mut self,
        config: &ProjectConfig,
    ) -> Result<(Option<TrialStep>, Vec<TrialStep>), RunnerError> {
        let setup = match &config.worktree.setup {
            None => None,
            Some(line) => {
                let limit = config.worktree.setup_timeout_ms;
                let (name, required) = (SET_UP_GATE, true);
                let candidate = Candidate {
                    name,
                    line,
                    required,
                    limit,
                };
                Some(self.attempt(&candidate).await?)
            }
        };
        let is_ready = setup.as_ref().is_none_or(|step| step.exit_code == Some(0));
        let mut gates = Vec::with_capacity(config.gates.len());
        for gate in &config.gates {
            let Gate {
                name,
                command: line,
                required,
                timeout_ms: limit,
                ..
            } = gate;
            let (required, limit) = (*required, *limit);
            let step = if is_ready {
                let candidate = Candidate {
                    name,
                    line,
                    required,
                    limit,
                };
                self.attempt(&candidate).await?
            } else {
                TrialStep::not_tried(name, line.to_string(), required, "the set-up did not pass")
            };
            gates.push(step);
        }
        Ok((setup, gates))
    }

    /// Runs a command, as long as there is time and nobody stops it.
    async fn attempt(&mut self, candidate: &Candidate<'_>) -> Result<TrialStep, RunnerError> {
        let Candidate {
            name,
            line,
            required,
            limit,
        } = candidate;
        let skipped = |why: String| TrialStep::not_tried(*name, line.to_string(), *required, why);
        let seconds = self.limit.as_secs();
        let out_of_time = || skipped(format!("the {seconds} s of the trial were over"));
        let left = self.ends.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(out_of_time());
        }
        if self.watch.is_stopped() {
            return Ok(skipped("the trial was stopped".to_owned()));
        }
        self.watch.begins(name, line);
        let left = Millis::new(u64::try_from(left.as_millis()).unwrap_or(u64::MAX));
        let cut = (*limit).min(left);
        let ended = {
            let running = self.checkout.run(self.supervision, name, line, cut);
            let watch = &self.watch;
            let stopped = async {
                while !watch.is_stopped() {
                    tokio::time::sleep(LOOK).await;
                }
            };
            tokio::select! {
                result = running => Some(result?),
                () = stopped => None,
            }
        };
        let step = match ended {
            None => {
                // the command was left in the middle: nothing of it may go on
                self.supervision.end_rest().await?;
                skipped("the trial was stopped".to_owned())
            }
            Some(result) if result.exit_code.is_none() && Instant::now() >= self.ends => {
                out_of_time()
            }
            Some(mut result) => {
                result.required = *required;
                TrialStep::ran(line.to_string(), result)
            }
        };
        self.watch.ended(&step);
        Ok(step)
    }
}

//! What agents do: a script for each run, drawn from the seed.

use std::collections::VecDeque;

use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::pull_request::VerdictKind;
use symphony_core::run::{Run, RunStatus};
use symphony_runner::supervise::SuperviseMode;

use super::phases::{Claim, is_phase_agent};
use super::project_agents::{self, is_of_project};
use super::random::Random;
use super::stage::Trouble;

/// Something that a supervisor or its agent does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// The worktree is made, the agent starts.
    Start,
    /// The agent says something.
    Comment,
    /// A worker opens a pull request, or replaces its head.
    OpenPr,
    /// A judge speaks.
    Verdict(VerdictKind),
    /// Somebody speaks who may not, or about another commit.
    FalseVerdict,
    /// The agent says that it cannot go on.
    Block,
    /// The agent gives its issue back.
    HandBack,
    /// A phase agent claims.
    Claim(Claim),
    /// A planner makes a sub-task.
    Subtask,
    /// The wizard sets the project up.
    Configure,
    /// Something that was found is filed.
    File,
    /// More is filed than a run may.
    Flood,
    /// Intake sorts its issue.
    Triage,
    /// The agent ends; the supervisor does the exit handling.
    End(RunStatus, Option<ErrorClass>),
    /// As above, and something of the run goes on calling.
    EndAndCall,
    /// The supervisor is killed.
    Killed,
}

/// Milliseconds until a run that hangs is ended.
const TIME_LIMIT_MS: i64 = 30 * 60_000;

/// Draws what a run does, with times from `passed` on.
pub(super) fn script(
    run: &Run,
    mode: SuperviseMode,
    trouble: Trouble,
    random: &mut Random,
    passed: i64,
) -> VecDeque<(i64, Step)> {
    let steps = match (mode, trouble) {
        (SuperviseMode::Finish, Trouble::Wild) if random.chance(1, 10) => vec![Step::Killed],
        (SuperviseMode::Finish, _) => {
            vec![Step::End(RunStatus::Crashed, Some(ErrorClass::Crashed))]
        }
        (SuperviseMode::Run, trouble) if run.agent == AgentType::Gates => {
            gates_steps(trouble, random)
        }
        (SuperviseMode::Run, Trouble::Wild) if is_phase_agent(run) => wild_phase(random),
        (SuperviseMode::Run, Trouble::Calm) if is_phase_agent(run) => {
            with_start(vec![Step::Claim(Claim::Delivered), succeeded()])
        }
        (SuperviseMode::Run, Trouble::Wild) if is_of_project(run) => {
            with_start(project_agents::wild(&run.agent, random))
        }
        (SuperviseMode::Run, Trouble::Calm) if is_of_project(run) => {
            with_start(project_agents::calm(&run.agent))
        }
        (SuperviseMode::Run, Trouble::Wild) => wild(&run.agent, random),
        (SuperviseMode::Run, Trouble::Calm) => calm(&run.agent),
    };
    let mut due = passed;
    steps
        .into_iter()
        .map(|step| {
            let silent = matches!(step, Step::End(RunStatus::TimedOut | RunStatus::Stalled, _));
            let pause = if silent {
                TIME_LIMIT_MS
            } else {
                i64::try_from(1_000 + random.below(240_000)).unwrap()
            };
            due += if step == Step::Start { 1_000 } else { pause };
            (due, step)
        })
        .collect()
}

pub(super) fn succeeded() -> Step {
    Step::End(RunStatus::Succeeded, None)
}

fn failed(class: ErrorClass) -> Step {
    let status = match class {
        ErrorClass::TimedOut => RunStatus::TimedOut,
        ErrorClass::Stalled => RunStatus::Stalled,
        ErrorClass::Looping => RunStatus::Looping,
        ErrorClass::Tampered => RunStatus::Tampered,
        _ => RunStatus::Failed,
    };
    Step::End(status, Some(class))
}

fn calm(agent: &AgentType) -> Vec<Step> {
    let work = match agent {
        AgentType::Judge => vec![Step::Verdict(VerdictKind::Approved)],
        AgentType::Planner => vec![Step::Subtask, Step::Subtask],
        _ => vec![Step::OpenPr],
    };
    with_start([work, vec![succeeded()]].concat())
}

/// A run of gates comes to a result, cannot run them, or is killed.
fn gates_steps(trouble: Trouble, random: &mut Random) -> Vec<Step> {
    let wild = trouble == Trouble::Wild;
    with_start(match random.below(100) {
        0..8 if wild => vec![Step::Killed],
        8..16 if wild => vec![failed(ErrorClass::WorktreeFailed)],
        _ => vec![succeeded()],
    })
}

fn with_start(mut steps: Vec<Step>) -> Vec<Step> {
    steps.insert(0, Step::Start);
    steps
}

/// Ends badly, by a fault of the agent or by the death of its supervisor.
pub(super) fn killed_or_failed(random: &mut Random) -> Step {
    if random.chance(1, 3) {
        Step::Killed
    } else {
        some_failure(random)
    }
}

/// Ends badly, in one of the ways that are the agent's.
fn some_failure(random: &mut Random) -> Step {
    failed(*random.pick(&[
        ErrorClass::AgentFailed,
        ErrorClass::TimedOut,
        ErrorClass::Stalled,
        ErrorClass::Looping,
        ErrorClass::Tampered,
        ErrorClass::InvalidRequest,
        ErrorClass::PermissionDenied,
    ]))
}

fn wild_phase(random: &mut Random) -> Vec<Step> {
    use Step::{Block, Comment, EndAndCall, FalseVerdict, HandBack, Killed};
    let fail = some_failure(random);
    let says = Step::Claim;
    let delivered = says(Claim::Delivered);
    with_start(match random.below(100) {
        0..40 => vec![Comment, delivered, succeeded()],
        40..47 => vec![says(Claim::Empty), delivered, succeeded()],
        47..53 => vec![says(Claim::Skipping), succeeded()],
        53..59 => vec![says(Claim::OfAnother), succeeded()],
        59..63 => vec![delivered.clone(), delivered, succeeded()],
        63..69 => vec![delivered, Killed],
        // a claim that is refused leaves its agent at work
        69..75 => vec![says(Claim::Unsettled), succeeded()],
        75..80 => vec![succeeded()],
        80..85 => vec![Comment, fail],
        85..89 => vec![delivered, fail],
        89..92 => vec![delivered, FalseVerdict, succeeded()],
        92..94 => vec![delivered, Block, succeeded()],
        94..96 => vec![delivered, HandBack, succeeded()],
        96..97 => vec![Block, succeeded()],
        97..98 => vec![Step::Subtask, delivered, succeeded()],
        98..99 => vec![Comment, Killed],
        _ => vec![delivered, EndAndCall],
    })
}

fn wild(agent: &AgentType, random: &mut Random) -> Vec<Step> {
    use Step::{Block, Comment, EndAndCall, FalseVerdict, HandBack, Killed, OpenPr, Subtask};
    let fail = some_failure(random);
    let draw = random.below(100);
    with_start(match agent {
        AgentType::Judge => match draw {
            0..45 => vec![Step::Verdict(VerdictKind::Approved), succeeded()],
            45..62 => vec![Step::Verdict(VerdictKind::Rejected), succeeded()],
            62..68 => vec![
                FalseVerdict,
                Step::Verdict(VerdictKind::Approved),
                succeeded(),
            ],
            68..74 => vec![succeeded()],
            74..80 => vec![fail],
            80..86 => vec![Killed],
            86..90 => vec![Step::Verdict(VerdictKind::Approved), Killed],
            90..95 => vec![Step::Verdict(VerdictKind::Rejected), EndAndCall],
            _ => vec![Block, succeeded()],
        },
        AgentType::Planner => match draw {
            0..40 => vec![Subtask, Subtask, Subtask, succeeded()],
            40..65 => vec![Subtask, succeeded()],
            65..75 => vec![Subtask, Subtask, Killed],
            75..85 => vec![succeeded()],
            85..92 => vec![Subtask, fail],
            _ => vec![fail],
        },
        _ => match draw {
            0..42 => vec![Comment, OpenPr, succeeded()],
            42..47 => vec![OpenPr, OpenPr, succeeded()],
            47..56 => vec![Comment, fail],
            56..62 => vec![Comment, succeeded()],
            62..68 => vec![Comment, Killed],
            68..73 => vec![OpenPr, Killed],
            73..78 => vec![OpenPr, fail],
            78..82 => vec![Block, succeeded()],
            82..85 => vec![HandBack, succeeded()],
            85..89 => vec![OpenPr, FalseVerdict, succeeded()],
            89..93 => vec![OpenPr, EndAndCall],
            93..96 => vec![HandBack, Killed],
            _ => vec![Comment, EndAndCall],
        },
    })
}

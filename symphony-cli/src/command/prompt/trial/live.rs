//! `prompt trial --live`: the results of issues in real work under each set, from the records.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::agent::AgentType;
use symphony_core::id::IssueId;
use symphony_core::issue::Issue;
use symphony_core::prompt_trial::{Assignment, LiveCase, LiveIssue, LiveRun, TrialName, live_case};
use symphony_core::run::Run;
use symphony_runner::prompts::sent::PROMPT_REPORT;
use symphony_runner::session::Session;
use symphony_store::{KnownTrial, Store};

use super::live_view::LiveTrialView;
use super::measured::{agent_runs, attempt, changes, first_hand_in, is_merged};
use super::texts::changed_texts;
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};

/// Trials that a hint names, the newest first: as many as fit a line.
const NAMES_MAX: usize = 3;

/// Prints the report on a trial in real work: the named one, else the configured one, else the newest.
///
/// # Errors
/// When there is none, or the database cannot be read.
pub(super) fn report(app: &App, session: &Session, name: Option<&TrialName>) -> anyhow::Result<()> {
    let config = session.config()?;
    let configured = config.prompt_trial.as_ref();
    let known = session.store.known_trials(&session.project.id)?;
    let is_known = |name: &TrialName| known.iter().any(|trial| trial.name == *name);
    let name = name
        .or_else(|| configured.map(|trial| &trial.name))
        .or_else(|| known.first().map(|trial| &trial.name));
    let live = configured.filter(|trial| Some(&trial.name) == name);
    let Some(name) = name.filter(|name| live.is_some() || is_known(name)) else {
        return Err(none_found(name, &known).into());
    };
    let has_gates = config.gates.iter().any(|gate| gate.required);
    let runs = session.store.trial_runs(&session.project.id, name)?;
    let changed = changed_texts(&runs);
    let cases = cases(&session.store, runs, has_gates)
        .with_context(|| format!("sum up the trial {name}"))?;
    let share = live.map(|trial| trial.share);
    app.out
        .answer_long(&LiveTrialView::new(name.clone(), share, cases, changed))
}

fn none_found(name: Option<&TrialName>, known: &[KnownTrial]) -> Stop {
    let Some(name) = name else {
        let message = "there is no trial in real work: `prompts.trial` is not set, and no run was part of one";
        return Stop::new(Exit::NotFound, message).hint(
            "`symphony config set prompts.trial '{\"name\": \"shorter\", \"b\": \"prompts-new\", \"share\": 0.2}'` starts one",
        );
    };
    let message = format!("no agent has worked on an issue in the trial {name}");
    let stop = Stop::new(Exit::NotFound, message);
    let names: Vec<String> = known
        .iter()
        .take(NAMES_MAX)
        .map(|trial| format!("`symphony prompt trial --live {}`", trial.name))
        .collect();
    if names.is_empty() {
        stop
    } else {
        stop.hint(format!("try {}", names.join(" or ")))
    }
}

/// Returns each piece of work that was given a set, in the order of its issue.
fn cases(
    store: &Store,
    runs: Vec<Run>,
    has_gates: bool,
) -> anyhow::Result<Vec<(Assignment, LiveCase)>> {
    let mut given: BTreeMap<(String, u64), (Assignment, BTreeSet<IssueId>)> = BTreeMap::new();
    for run in runs {
        let Some(assignment) = run.prompt_set else {
            continue;
        };
        let place = (
            assignment.issue.prefix().to_owned(),
            assignment.issue.number(),
        );
        // the runs are in their order: the first one's set is the one that the issue has
        let (_, issues) = given
            .entry(place)
            .or_insert_with(|| (assignment, BTreeSet::new()));
        issues.extend(run.target.issue().cloned());
    }
    let mut cases = Vec::new();
    for (assignment, worked_on) in given.into_values() {
        let issues = issues_of(store, &assignment, &worked_on)?;
        let case = live_case(&assignment, &issues, has_gates);
        cases.push((assignment, case));
    }
    Ok(cases)
}

/// Reads the issues of a piece of work: all below its topmost one, and those that are left when that was deleted.
fn issues_of(
    store: &Store,
    assignment: &Assignment,
    worked_on: &BTreeSet<IssueId>,
) -> anyhow::Result<Vec<LiveIssue>> {
    let mut issues: Vec<Issue> = store.issue_tree(&assignment.issue)?;
    for id in worked_on {
        if !issues.iter().any(|issue| issue.id == *id) {
            issues.push(store.issue(id)?);
        }
    }
    issues
        .into_iter()
        .map(|issue| live_issue(store, issue))
        .collect()
}

fn live_issue(store: &Store, issue: Issue) -> anyhow::Result<LiveIssue> {
    let changes = changes(store, &issue.id)?;
    let runs = agent_runs(store, &issue.id)?;
    let runs = runs.into_iter().map(|run| LiveRun {
        attempt: attempt(&run),
        has_worked: run.agent != AgentType::Intake && run.metadata.get(PROMPT_REPORT).is_some(),
        prompt_set: run.prompt_set,
    });
    Ok(LiveIssue {
        first: first_hand_in(&changes),
        is_merged: is_merged(&changes),
        runs: runs.collect(),
        id: issue.id,
        state: issue.state,
    })
}

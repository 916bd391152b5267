//! Collects the results of runs on other hosts: the branch of an issue moves to a result before anyone continues the issue.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::{Duration, Instant};

use symphony_core::Timestamp;
use symphony_core::config::{Database, ProjectConfig};
use symphony_core::watchdog::Step;
use symphony_store::{Project, Store, Unpromoted};
use symphony_workspace::{
    CommitId, PromoteRequest, Promotion, Pushed, Repository, SilentHubs, WorkspaceError,
};

use super::hub::Hub;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::repository::{issue_workspace, open_repository};
use crate::step_event::{IssueStepEvent, StepEvent};
use crate::tick::Turn;

/// How long a tick brings the results of a project in before it goes on: until it has observed, no lost run is taken back and nothing is claimed.
const TIME_MAX: Duration = Duration::from_secs(5);

/// What was brought in, and what was not.
#[derive(Debug, Default)]
pub(crate) struct BroughtIn {
    /// The branches that were moved.
    pub(crate) events: Vec<StepEvent>,
    /// Why others were not. Their issues wait, and the next tick tries again.
    pub(crate) problems: Vec<String>,
}

/// Brings the results of ended runs in. A hub that does not answer is waited for once: its other results wait for the next tick.
///
/// # Errors
/// When the database cannot be read.
pub(crate) fn bring_in_results(
    installation: &Installation,
    store: &mut Store,
    turn: &Turn,
    hubs: &mut SilentHubs,
) -> Result<BroughtIn, RunnerError> {
    let mut brought = BroughtIn::default();
    if matches!(installation.config.database, Database::File(_)) {
        return Ok(brought);
    }
    for project in store.projects()? {
        let begun = Instant::now();
        turn.enter(Step::Observe);
        let mut waiting = store.unpromoted(&project.id)?;
        if waiting.is_empty() {
            continue;
        }
        failed_last(&mut waiting, |problem| turn.was_told(problem));
        let config = match installation.project_config(&project) {
            Ok(config) => config,
            Err(error) => {
                let id = &project.id;
                brought.problems.push(format!(
                    "project {id}: results of its workers were not brought in: {error}"
                ));
                continue;
            }
        };
        let hub = Hub::of(&project, &config);
        for result in waiting {
            // The next tick goes on with the oldest that is left. That a hub did not answer is reported once.
            if begun.elapsed() >= TIME_MAX || !hub.is_own && hubs.has(&hub.address) {
                break;
            }
            turn.enter(Step::Observe);
            let mut calls = HubCalls {
                hub: &hub,
                turn,
                hubs: &mut *hubs,
            };
            match bring_in(installation, store, &project, &config, &result, &mut calls) {
                Ok(Some(event)) => {
                    let issue = result.issue.clone();
                    brought.events.push(StepEvent::Issue(issue, event));
                }
                Ok(None) => {}
                Err(error) => brought.problems.push(format!(
                    "{}: {}",
                    problem_of(&result),
                    error.with_causes()
                )),
            }
        }
    }
    Ok(brought)
}

/// Returns how a problem with a result begins.
fn problem_of(result: &Unpromoted) -> String {
    let Unpromoted { issue, run, .. } = result;
    format!("{issue}: the result of run {run} was not brought in")
}

/// Puts the results last that the last tick reported: a few that fail whenever they are tried may not use up the time of all others.
fn failed_last(waiting: &mut [Unpromoted], was_told: impl Fn(&str) -> bool) {
    waiting.sort_by_cached_key(|result| was_told(&problem_of(result)));
}

/// The calls of a project's hub in a tick.
struct HubCalls<'a> {
    hub: &'a Hub,
    turn: &'a Turn,
    hubs: &'a mut SilentHubs,
}

impl HubCalls<'_> {
    /// Makes a call of a hub that is another repository, as a step of its own.
    fn make<T>(
        &mut self,
        repository: &Repository,
        environment: &BTreeMap<OsString, OsString>,
        call: impl FnOnce(&str) -> Result<T, WorkspaceError>,
    ) -> Result<T, WorkspaceError> {
        self.turn.enter(Step::Observe);
        let address = self.hub.address.as_str();
        let call = || call(address);
        self.hubs
            .call(repository, Some((address, environment)), call)
    }
}

/// Brings one result in. `None` when the branch has it already.
fn bring_in(
    installation: &Installation,
    store: &mut Store,
    project: &Project,
    config: &ProjectConfig,
    result: &Unpromoted,
    calls: &mut HubCalls<'_>,
) -> Result<Option<IssueStepEvent>, RunnerError> {
    let is_own = calls.hub.is_own;
    let environment = &installation.environment;
    let repository = open_repository(project, config)?;
    let place = issue_workspace(&repository, config, &result.issue)?;
    let commit = commit_of(&result.commit)?;
    let start = result.start.as_deref().map(commit_of).transpose()?;
    if !is_own && !repository.has_commit(&commit)? {
        calls.make(&repository, environment, |hub| {
            repository.fetch_result(hub, environment, &result.run)
        })?;
    }
    let promotion = repository.promote(&PromoteRequest {
        key: &place.key,
        branch: &place.branch,
        base: &place.base,
        start: start.as_ref(),
        commit: &commit,
        now: Timestamp::now(),
    })?;
    let event = match promotion {
        Promotion::Before => None,
        Promotion::Moved { rescues } => Some(IssueStepEvent::ResultBroughtIn {
            run: result.run.clone(),
            rescues: rescues.iter().map(ToString::to_string).collect(),
        }),
        Promotion::Elsewhere { found } => {
            let at = |commit: Option<&CommitId>| {
                commit.map_or_else(|| "gone".to_owned(), |commit| format!("at {commit}"))
            };
            let (branch, root) = (&place.branch, project.root.display());
            return Err(RunnerError::refused(format!(
                "its branch is {}, and was {} when the run began. `git -C '{root}' branch -f {branch} {commit}` puts it on the result",
                at(found.as_ref()),
                at(start.as_ref())
            )));
        }
    };
    if !is_own {
        let pushed = calls.make(&repository, environment, |hub| {
            repository.publish_to_hub(hub, environment, &place.branch, &commit)
        })?;
        if pushed != Pushed::Done {
            return Err(RunnerError::refused(format!(
                "the hub does not take {}: {pushed:?}",
                place.branch
            )));
        }
    }
    // Last: a death before it has the next tick find the branch where it is to be.
    store.record_promotion(&result.run, commit.as_str())?;
    Ok(event)
}

fn commit_of(text: &str) -> Result<CommitId, RunnerError> {
    CommitId::parse(text).map_err(|error| RunnerError::refused(error.to_string()))
}

#[cfg(test)]
mod tests {
    use symphony_core::id::{IssueId, RunId};

    use super::*;

    #[test]
    fn what_failed_in_the_last_tick_comes_last() {
        let result = |run: &str, issue: &str| Unpromoted {
            run: RunId::parse(run).unwrap(),
            issue: IssueId::parse(issue).unwrap(),
            start: None,
            commit: "1".repeat(40),
        };
        let mut waiting = vec![
            result("r1", "SYM-1"),
            result("r10", "SYM-10"),
            result("r2", "SYM-2"),
            result("r3", "SYM-3"),
        ];
        let told = [
            "SYM-1: the result of run r1 was not brought in: `git fetch` failed",
            "SYM-2: the result of run r2 was not brought in: its branch is gone",
        ];
        failed_last(&mut waiting, |problem| {
            told.iter().any(|told| told.starts_with(problem))
        });
        let runs: Vec<&str> = waiting.iter().map(|result| result.run.as_str()).collect();
        assert_eq!(runs, ["r10", "r3", "r1", "r2"]);
    }
}

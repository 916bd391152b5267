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

use super::failed_last::failed_last;
use super::hub::{Hub, OTHERS_SILENT};
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

/// Brings the results of ended runs in. A hub that does not answer is waited for once: its other results wait for the next tick, and so do those of
/// hubs that are left alone for others on their server.
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
    let mut projects = Vec::new();
    for project in store.projects()? {
        turn.enter(Step::Observe);
        let waiting = store.unpromoted(&project.id)?;
        if !waiting.is_empty() {
            projects.push((project, waiting));
        }
    }
    put_in_order(&mut projects, |problem| turn.was_told(problem));
    for (project, waiting) in projects {
        let begun = Instant::now();
        turn.enter(Step::Observe);
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
            // The next tick goes on with the oldest that is left.
            if begun.elapsed() >= TIME_MAX {
                break;
            }
            if !hub.is_own && hubs.has(&hub.address) {
                // That a hub did not answer itself is reported with what failed first.
                if !hubs.did_not_answer(&hub.address) {
                    let id = &project.id;
                    brought.problems.push(format!(
                        "project {id}: results of its workers wait: {OTHERS_SILENT}"
                    ));
                }
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

/// Puts the results of each project in order, and the projects by them: those with a result that failed in the last tick come last, since each may
/// wait for a hub that hangs.
fn put_in_order<P>(projects: &mut [(P, Vec<Unpromoted>)], was_told: impl Fn(&str) -> bool) {
    let has_failed = |result: &Unpromoted| was_told(&problem_of(result));
    for (_, waiting) in &mut *projects {
        failed_last(waiting, has_failed);
    }
    failed_last(projects, |(_, waiting)| waiting.iter().any(has_failed));
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

    fn result(run: &str, issue: &str) -> Unpromoted {
        Unpromoted {
            run: RunId::parse(run).unwrap(),
            issue: IssueId::parse(issue).unwrap(),
            start: None,
            commit: "1".repeat(40),
        }
    }

    #[test]
    fn what_failed_in_the_last_tick_comes_last() {
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
        failed_last(&mut waiting, |result| {
            let problem = problem_of(result);
            told.iter().any(|told| told.starts_with(&problem))
        });
        let runs: Vec<&str> = waiting.iter().map(|result| result.run.as_str()).collect();
        assert_eq!(runs, ["r10", "r3", "r1", "r2"]);
    }

    #[test]
    fn projects_with_a_result_that_failed_in_the_last_tick_come_last() {
        for (told, expected) in [
            (
                &[][..],
                [("api", "r1 r2"), ("docs", "r3"), ("web", "r4 r5")],
            ),
            (
                &["API-1: the result of run r1 was not brought in: `git fetch` failed"],
                [("docs", "r3"), ("web", "r4 r5"), ("api", "r2 r1")],
            ),
            (
                &[
                    "WEB-2: the result of run r5 was not brought in: its branch is gone",
                    "API-2: the result of run r2 was not brought in: `git fetch` failed",
                ],
                [("docs", "r3"), ("api", "r1 r2"), ("web", "r4 r5")],
            ),
            // a project that was left alone for others on its server has not failed
            (
                &[
                    "project docs: results of its workers wait: other hubs on its server did not answer",
                    "API-1: the result of run r1 was not brought in: `git fetch` failed",
                    "WEB-1: the result of run r4 was not brought in: `git fetch` failed",
                ],
                [("docs", "r3"), ("api", "r2 r1"), ("web", "r5 r4")],
            ),
        ] {
            let mut projects = vec![
                ("api", vec![result("r1", "API-1"), result("r2", "API-2")]),
                ("docs", vec![result("r3", "DOC-1")]),
                ("web", vec![result("r4", "WEB-1"), result("r5", "WEB-2")]),
            ];
            put_in_order(&mut projects, |problem| {
                told.iter().any(|told| told.starts_with(problem))
            });
            let found: Vec<(&str, String)> = projects
                .iter()
                .map(|(project, waiting)| {
                    let runs: Vec<&str> =
                        waiting.iter().map(|result| result.run.as_str()).collect();
                    (*project, runs.join(" "))
                })
                .collect();
            let expected = expected.map(|(project, runs)| (project, runs.to_owned()));
            assert_eq!(found, expected, "{told:?}");
        }
    }
}

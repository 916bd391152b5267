//! Collects the results of runs on other hosts: the branch of an issue moves to a result before anyone continues the issue.

use std::time::{Duration, Instant};

use symphony_core::Timestamp;
use symphony_core::config::{Database, ProjectConfig};
use symphony_store::{Project, Store, Unpromoted};
use symphony_workspace::{CommitId, PromoteRequest, Promotion, Pushed};

use super::hub::Hub;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::repository::{issue_workspace, open_repository};
use crate::step_event::{IssueStepEvent, StepEvent};

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

/// Brings the results of ended runs in.
///
/// # Errors
/// When the database cannot be read.
pub(crate) fn bring_in_results(
    installation: &Installation,
    store: &mut Store,
) -> Result<BroughtIn, RunnerError> {
    let mut brought = BroughtIn::default();
    if matches!(installation.config.database, Database::File(_)) {
        return Ok(brought);
    }
    for project in store.projects()? {
        let begun = Instant::now();
        let waiting = store.unpromoted(&project.id)?;
        if waiting.is_empty() {
            continue;
        }
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
        for result in waiting {
            // The next tick goes on with the oldest that is left.
            if begun.elapsed() >= TIME_MAX {
                break;
            }
            match bring_in(installation, store, &project, &config, &result) {
                Ok(Some(event)) => {
                    let issue = result.issue.clone();
                    brought.events.push(StepEvent::Issue(issue, event));
                }
                Ok(None) => {}
                Err(error) => brought.problems.push(format!(
                    "{}: the result of run {} was not brought in: {}",
                    result.issue,
                    result.run,
                    error.with_causes()
                )),
            }
        }
    }
    Ok(brought)
}

/// Brings one result in. `None` when the branch has it already.
fn bring_in(
    installation: &Installation,
    store: &mut Store,
    project: &Project,
    config: &ProjectConfig,
    result: &Unpromoted,
) -> Result<Option<IssueStepEvent>, RunnerError> {
    let hub = Hub::of(project, config);
    let environment = &installation.environment;
    let repository = open_repository(project, config)?;
    let place = issue_workspace(&repository, config, &result.issue)?;
    let commit = commit_of(&result.commit)?;
    let start = result.start.as_deref().map(commit_of).transpose()?;
    if !hub.is_own && !repository.has_commit(&commit)? {
        repository.fetch_result(&hub.address, environment, &result.run)?;
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
    if !hub.is_own {
        let pushed =
            repository.publish_to_hub(&hub.address, environment, &place.branch, &commit)?;
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

//! Refs of runs at hubs that no one needs any longer: those of issues that have ended, after the time that logs are kept.

use symphony_core::Timestamp;
use symphony_core::id::RunId;
use symphony_core::issue::IssueStatus;
use symphony_store::{Project, Store, StoreError};

use super::hub::Hub;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::repository::open_repository;
use crate::upkeep::kept::is_old;

/// How many refs of a project are removed at once: each is a call of the hub. The next day removes the others.
const REFS_MAX: usize = 100;

/// Removes old refs of all projects with a pool. Returns what could not be done.
///
/// # Errors
/// When the database cannot be read.
pub(crate) fn remove_old_refs(
    installation: &Installation,
    store: &Store,
    now: Timestamp,
) -> Result<Vec<String>, RunnerError> {
    let mut problems = Vec::new();
    if installation.config.database.server().is_none() {
        return Ok(problems);
    }
    for project in store.projects()? {
        if let Err(error) = remove_of(installation, store, &project, now) {
            problems.push(format!(
                "project {}: refs of old runs stay at its hub: {}",
                project.id,
                error.with_causes()
            ));
        }
    }
    Ok(problems)
}

fn remove_of(
    installation: &Installation,
    store: &Store,
    project: &Project,
    now: Timestamp,
) -> Result<(), RunnerError> {
    let config = installation.project_config(project)?;
    if config.pool.is_none() {
        return Ok(());
    }
    let hub = Hub::of(project, &config);
    let other = (!hub.is_own).then_some((hub.address.as_str(), &installation.environment));
    let repository = open_repository(project, &config)?;
    let days = installation.config.log_retention_days;
    let mut removed = 0;
    for found in repository.refs_of_runs(other)? {
        // Below the same folder are refs of other things, whose names end in no run's id.
        let Ok(id) = RunId::parse(found.run()) else {
            continue;
        };
        if removed < REFS_MAX && is_unneeded(store, &id, days, now)? {
            repository.remove_ref_of_run(other, &found)?;
            removed += 1;
        }
    }
    Ok(())
}

fn is_unneeded(store: &Store, id: &RunId, days: u32, now: Timestamp) -> Result<bool, RunnerError> {
    let run = match store.run(id) {
        Ok(run) => run,
        // An older copy of the database may have been brought back: what is not known stays.
        Err(StoreError::NotFound { .. }) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let Some(issue) = run.target.issue() else {
        return Ok(false);
    };
    let status = store.issue(issue)?.state.status();
    Ok(is_over(run.ended_at, status, days, now))
}

/// Decides whether no one needs the refs of a run on an issue any longer.
fn is_over(ended_at: Option<Timestamp>, issue: IssueStatus, days: u32, now: Timestamp) -> bool {
    issue.is_terminal() && ended_at.is_some_and(|ended| is_old(ended, days, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refs_of_a_run_go_when_its_issue_has_ended_and_its_time_is_over() {
        let at = |day: i64| Timestamp::from_second(day * 86_400).unwrap();
        for (ended, issue, days, now, expected) in [
            (Some(10), IssueStatus::Done, 14, 23, false),
            (Some(10), IssueStatus::Done, 14, 24, true),
            (Some(10), IssueStatus::Cancelled, 14, 24, true),
            (Some(10), IssueStatus::Done, 0, 10, true),
            (Some(10), IssueStatus::Review, 14, 400, false),
            (Some(10), IssueStatus::Todo, 0, 400, false),
            // its host may still bring its work
            (None, IssueStatus::Cancelled, 0, 400, false),
            (Some(10), IssueStatus::Done, u32::MAX, 400, false),
        ] {
            let found = is_over(ended.map(at), issue, days, at(now));
            assert_eq!(found, expected, "{ended:?} {issue:?} {days} {now}");
        }
    }
}

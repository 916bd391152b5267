//! Refs of runs at hubs that no one needs any longer: those of issues that have ended, after the time that logs are kept.

use symphony_core::Timestamp;
use symphony_core::id::RunId;
use symphony_core::issue::IssueStatus;
use symphony_core::watchdog::Step;
use symphony_store::{Project, Store, StoreError};
use symphony_workspace::{SilentHubs, WorkspaceError};

use super::hub::Hub;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::repository::open_repository;
use crate::tick::Turn;
use crate::upkeep::kept::is_old;

/// How many refs of a project are removed at once, and how many may fail: each is a call of the hub. The next day removes the others.
const REFS_MAX: usize = 100;

/// Removes old refs of all projects with a pool. Returns what could not be done.
///
/// # Errors
/// When the database cannot be read.
pub(crate) fn remove_old_refs(
    installation: &Installation,
    store: &Store,
    now: Timestamp,
    turn: &Turn,
    hubs: &mut SilentHubs,
) -> Result<Vec<String>, RunnerError> {
    let mut problems = Vec::new();
    if installation.config.database.server().is_none() {
        return Ok(problems);
    }
    for project in store.projects()? {
        turn.enter(Step::Upkeep);
        let problem = match remove_of(installation, store, &project, now, turn, hubs) {
            Ok(removal) => removal.problem(),
            Err(error) => Some(error.with_causes()),
        };
        if let Some(problem) = problem {
            let id = &project.id;
            problems.push(format!(
                "project {id}: refs of old runs stay at its hub: {problem}"
            ));
        }
    }
    Ok(problems)
}

/// What came of removing refs.
#[derive(Debug, Default)]
struct Removal {
    removed: usize,
    failed: usize,
    /// Why the first one that failed was not removed.
    first: Option<String>,
}

impl Removal {
    /// Returns whether enough was tried for today.
    const fn is_over(&self) -> bool {
        self.removed >= REFS_MAX || self.failed >= REFS_MAX
    }

    fn note(&mut self, name: &str, removed: Result<(), WorkspaceError>) {
        match removed {
            Ok(()) => self.removed += 1,
            Err(error) => {
                self.failed += 1;
                self.first.get_or_insert_with(|| {
                    format!("{name}: {}", RunnerError::from(error).with_causes())
                });
            }
        }
    }

    fn problem(self) -> Option<String> {
        let first = self.first?;
        Some(match self.failed {
            1 => first,
            failed => format!("{first} (and {} more)", failed - 1),
        })
    }
}

fn remove_of(
    installation: &Installation,
    store: &Store,
    project: &Project,
    now: Timestamp,
    turn: &Turn,
    hubs: &mut SilentHubs,
) -> Result<Removal, RunnerError> {
    let mut removal = Removal::default();
    let config = installation.project_config(project)?;
    if config.pool.is_none() {
        return Ok(removal);
    }
    let hub = Hub::of(project, &config);
    let is_silent = |hubs: &SilentHubs| !hub.is_own && hubs.has(&hub.address);
    // That it did not answer is reported already.
    if is_silent(hubs) {
        return Ok(removal);
    }
    let other = (!hub.is_own).then_some((hub.address.as_str(), &installation.environment));
    let repository = open_repository(project, &config)?;
    let days = installation.config.log_retention_days;
    for found in hubs.call(&repository, other, || repository.refs_of_runs(other))? {
        if removal.is_over() || is_silent(hubs) {
            break;
        }
        // Below the same folder are refs of other things, whose names end in no run's id.
        let Ok(id) = RunId::parse(found.run()) else {
            continue;
        };
        if is_unneeded(store, &id, days, now)? {
            turn.enter(Step::Upkeep);
            let remove = || repository.remove_ref_of_run(other, &found);
            removal.note(&found.name, hubs.call(&repository, other, remove));
        }
    }
    Ok(removal)
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
    fn a_ref_that_stays_does_not_keep_the_others() {
        let stays = |name: &str| {
            Err(WorkspaceError::GitAnswer {
                command: "git push".to_owned(),
                expected: "the removal of a ref",
                found: name.to_owned(),
            })
        };
        let mut removal = Removal::default();
        removal.note("refs/a", Ok(()));
        assert!(removal.first.is_none(), "{removal:?}");
        removal.note("refs/b", stays("refused"));
        removal.note("refs/c", Ok(()));
        removal.note("refs/d", stays("moved"));
        assert_eq!((removal.removed, removal.failed), (2, 2));
        assert!(!removal.is_over());
        let problem = removal.problem().unwrap();
        assert!(
            problem.starts_with("refs/b: ") && problem.ends_with("`refused` (and 1 more)"),
            "{problem}"
        );
        assert_eq!(Removal::default().problem(), None);
        // one that refuses everything is not asked for ever
        let mut refusing = Removal::default();
        for _ in 0..REFS_MAX {
            assert!(!refusing.is_over());
            refusing.note("refs/b", stays("refused"));
        }
        assert!(refusing.is_over());
    }

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

//! What users of the page see: the project that it is served for. An installation may have others, with users of their own; whoever
//! serves the page has all of it, as in the terminal.

use symphony_core::id::{IssueId, PlanId, PrId, ProjectId};
use symphony_runner::session::Session;
use symphony_store::{EventRecord, Project, StoreError};

use super::failure::Failure;
use super::site::Turn;
use crate::api::ROOT;

/// Refuses a user what is of another project, as if it did not exist. `id` is what the address names.
pub(crate) fn check_scope(session: &mut Session, turn: &Turn, id: &str) -> Result<(), Failure> {
    if turn.visitor.user.is_none() || id.is_empty() {
        return Ok(());
    }
    let is_own = match project_of(session, &turn.page, id) {
        Ok(project) => project.is_none_or(|project| project == session.project.id),
        // what does not exist is reported by whoever looks it up
        Err(StoreError::NotFound { .. }) => true,
        Err(error) => return Err(error.into()),
    };
    if is_own {
        return Ok(());
    }
    Err(Failure::NotFound(format!(
        "there is no `{id}` in this project"
    )))
}

/// Returns the project of what an address names: agents of that one read what is written about it. What does not exist is reported by
/// whoever looks it up.
pub(crate) fn project_at(
    session: &mut Session,
    turn: &Turn,
    id: &str,
) -> Result<Project, StoreError> {
    match project_of(session, &turn.page, id) {
        Ok(Some(project)) if project != session.project.id => session.store.project(&project),
        Ok(_) | Err(StoreError::NotFound { .. }) => Ok(session.project.clone()),
        Err(error) => Err(error),
    }
}

/// Returns whether a user may see something of a project.
pub(crate) fn is_in_scope(session: &Session, turn: &Turn, project: Option<&ProjectId>) -> bool {
    turn.visitor.user.is_none() || project.is_none_or(|project| *project == session.project.id)
}

/// Lists the projects that a visitor may see; the one that the page is served for is among them.
pub(crate) fn projects_in_scope(session: &Session, turn: &Turn) -> Result<Vec<ProjectId>, Failure> {
    let projects = session.store.projects()?.into_iter();
    let ids = projects.map(|project| project.id);
    Ok(ids
        .filter(|id| is_in_scope(session, turn, Some(id)))
        .collect())
}

/// Turns a request to another project of the installation, if it names one.
pub(crate) fn turn_to_project(
    session: &mut Session,
    turn: &Turn,
    named: Option<&str>,
) -> Result<(), Failure> {
    let Some(named) = named.filter(|named| *named != session.project.id.as_str()) else {
        return Ok(());
    };
    let projects = session.store.projects()?.into_iter();
    let mut seen = projects.filter(|project| is_in_scope(session, turn, Some(&project.id)));
    let found = seen.find(|project| project.id.as_str() == named);
    session.project =
        found.ok_or_else(|| Failure::NotFound(format!("there is no project `{named}`")))?;
    Ok(())
}

/// Leaves out the events that are not of the project, for a user.
pub(crate) fn events_in_scope(
    session: &Session,
    turn: &Turn,
    events: Vec<EventRecord>,
) -> Vec<EventRecord> {
    if turn.visitor.user.is_none() {
        return events;
    }
    let own = &session.project.id;
    let is_own = |event: &EventRecord| match (&event.project, &event.issue, &event.run) {
        (Some(project), ..) => project == own,
        (None, Some(issue), _) => (session.store.issue(issue)).is_ok_and(|of| of.project == *own),
        (None, None, Some(run)) => session
            .store
            .find_run(run.as_str())
            .is_ok_and(|run| run.project == *own),
        // of the installation as a whole
        (None, None, None) => event.plan.is_none(),
    };
    events.into_iter().filter(is_own).collect()
}

/// Finds the project of what an address names; none where it names nothing of one project.
fn project_of(
    session: &mut Session,
    page: &str,
    id: &str,
) -> Result<Option<ProjectId>, StoreError> {
    let store = &mut session.store;
    let path = page.strip_prefix(ROOT).unwrap_or(page);
    let mut parts = path.trim_start_matches('/').split('/');
    let (kind, named) = (parts.next().unwrap_or_default(), parts.next());
    let project = match (kind, named) {
        // the state of an issue is directly below the root of the interface
        ("issues", _) | (_, None) => match IssueId::parse(id) {
            Ok(issue) => store.issue(&issue)?.project,
            Err(_malformed) => return Ok(None),
        },
        ("runs", _) => store.find_run(id)?.project,
        ("prs", _) => match id.parse::<PrId>() {
            Ok(pr) => store.pr(pr)?.project,
            Err(_malformed) => return Ok(None),
        },
        ("plans", _) => match PlanId::parse(id) {
            Ok(plan) => store.plan(&plan)?.project,
            Err(_malformed) => return Ok(None),
        },
        ("learnings", _) => store.find_learning(id)?.project,
        _ => return Ok(None),
    };
    Ok(Some(project))
}

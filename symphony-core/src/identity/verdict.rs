//! The decision: may this database be used for this repository?

use std::path::PathBuf;

use super::mark::{Mark, Reach, highest_mark};
use super::marker::Marker;
use super::traces::Traces;
use crate::id::{InstallationId, ProjectId};

/// What is at the database's path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseState {
    /// No file.
    Missing,
    /// A file without a schema: cut off, or made by someone who died before they filled it.
    Empty,
    /// A database.
    Present {
        /// Its installation; `None` if no Symphony with identities has opened it yet.
        installation: Option<InstallationId>,
        /// What it knows of the repository.
        project: ProjectPlace,
        /// How far it has come.
        reach: Reach,
    },
}

/// What a database knows of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProjectPlace {
    /// The repository is this project.
    Here(ProjectId),
    /// The project that the repository's marker names has another folder, where nothing of it is left.
    Moved {
        /// The project.
        project: ProjectId,
        /// Its folder until now.
        from: PathBuf,
    },
    /// The project that the repository's marker names is in another folder, with the same marker.
    Copied {
        /// The project.
        project: ProjectId,
        /// Its folder.
        of: PathBuf,
    },
    /// A person removed the repository from it; the records of its project return with it.
    Removed,
    /// It does not know the repository.
    Unknown,
}

/// What was found around a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The database.
    pub database: DatabaseState,
    /// The repository's marker.
    pub marker: Option<Marker>,
    /// The progress of earlier databases at this path, as recorded beside it and in the git folder; empty if no
    /// Symphony with marks has worked with the installation.
    pub marks: Vec<Mark>,
    /// Traces of earlier work; `None` while no one has searched for them, which takes a call of git.
    pub traces: Option<Traces>,
}

/// What follows from the facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Decide again after searching for traces.
    LookForTraces,
    /// Nothing was ever done here: a set-up may begin, and other commands find no project.
    New,
    /// It is the repository's database.
    Ours,
    /// It is the repository's database, which lacks an id, or the repository lacks the marker.
    Adopt {
        /// The id to write if it is missing; `None` creates a new one.
        installation: Option<InstallationId>,
        /// The project to write into the marker.
        project: ProjectId,
    },
    /// It is the repository's database, and the repository was moved.
    Moved {
        /// The project.
        project: ProjectId,
        /// Its folder until now.
        from: PathBuf,
    },
    /// It must not be used.
    Refused(IdentityProblem),
}

/// Why a database must not be used for a repository.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdentityProblem {
    /// The database is gone, and its work is not.
    #[error("it is {state}, but Symphony has worked here before: found {}", evidence(found, marker.as_ref()))]
    Lost {
        /// `missing` or `empty`.
        state: &'static str,
        /// What is left of the work.
        found: Traces,
        /// The marker, which names the database's last place.
        marker: Option<Marker>,
    },
    /// It is the database of another installation.
    #[error("it belongs to another installation ({}, while this repository belongs to {expected})", found.as_ref().map_or("an unnamed one", InstallationId::as_str))]
    Foreign {
        /// The installation of the repository.
        expected: InstallationId,
        /// The installation of the database.
        found: Option<InstallationId>,
    },
    /// It does not know the repository, where earlier work was found.
    #[error(
        "it does not know this repository, where Symphony worked before: found {}",
        evidence(found, None)
    )]
    Stranger {
        /// What is left of the work.
        found: Traces,
    },
    /// It is an older copy of the repository's database: what was recorded since is not in it.
    #[error(
        "it is an older copy of this repository's database: its log ends at {found}, but had already reached {noted}"
    )]
    Older {
        /// How far the database has come.
        found: Reach,
        /// How far it had come before.
        noted: Reach,
    },
    /// The repository is a copy of a project that is still in its place.
    #[error("this repository is a copy of project {project}, which is still at {}", of.display())]
    Copy {
        /// The project.
        project: ProjectId,
        /// Its folder.
        of: PathBuf,
    },
}

fn evidence(found: &Traces, marker: Option<&Marker>) -> String {
    match marker {
        Some(marker) if found.is_empty() => {
            format!("a note that names project {}", marker.project)
        }
        _ => found.to_string(),
    }
}

/// Decides whether a database may be used for a repository, as far as possible if traces are `None`.
pub fn identify(facts: &Facts) -> Verdict {
    match &facts.database {
        DatabaseState::Missing => absent("missing", facts),
        DatabaseState::Empty => absent("empty", facts),
        DatabaseState::Present {
            installation,
            project,
            reach,
        } => present(installation.as_ref(), project, *reach, facts),
    }
}

fn absent(state: &'static str, facts: &Facts) -> Verdict {
    let Some(traces) = &facts.traces else {
        return Verdict::LookForTraces;
    };
    if facts.marker.is_none() && traces.is_empty() {
        return Verdict::New;
    }
    Verdict::Refused(IdentityProblem::Lost {
        state,
        found: traces.clone(),
        marker: facts.marker.clone(),
    })
}

fn present(
    installation: Option<&InstallationId>,
    project: &ProjectPlace,
    reach: Reach,
    facts: &Facts,
) -> Verdict {
    let expected = facts.marker.as_ref().map(|marker| &marker.installation);
    // an old backup that was copied into place by hand has no id, and is the repository's if it knows it
    let is_known = installation.is_none() && matches!(project, ProjectPlace::Here(_));
    if let Some(expected) = expected
        && installation != Some(expected)
        && !is_known
    {
        return Verdict::Refused(IdentityProblem::Foreign {
            expected: expected.clone(),
            found: installation.cloned(),
        });
    }
    // A copied folder has the database and the marks of its original: that it is a copy explains more.
    let is_copy = matches!(project, ProjectPlace::Copied { .. });
    if let Some(id) = installation.or(expected)
        && let Some(noted) = highest_mark(&facts.marks, id, reach)
        && reach < noted
        && !is_copy
    {
        let found = reach;
        return Verdict::Refused(IdentityProblem::Older { found, noted });
    }
    match project {
        ProjectPlace::Here(id) => {
            let is_noted = facts
                .marker
                .as_ref()
                .is_some_and(|marker| marker.project == *id);
            if is_noted && installation.is_some() {
                return Verdict::Ours;
            }
            Verdict::Adopt {
                installation: installation.or(expected).cloned(),
                project: id.clone(),
            }
        }
        ProjectPlace::Moved { project, from } => Verdict::Moved {
            project: project.clone(),
            from: from.clone(),
        },
        ProjectPlace::Copied { project, of } => Verdict::Refused(IdentityProblem::Copy {
            project: project.clone(),
            of: of.clone(),
        }),
        ProjectPlace::Removed => Verdict::New,
        ProjectPlace::Unknown => match &facts.traces {
            None => Verdict::LookForTraces,
            Some(traces) if traces.is_empty() => Verdict::New,
            Some(traces) => Verdict::Refused(IdentityProblem::Stranger {
                found: traces.clone(),
            }),
        },
    }
}

#[cfg(test)]
mod tests;

//! The decision: may this database be used for this repository?

use std::path::PathBuf;

use super::marker::Marker;
use super::traces::Traces;
use crate::id::{InstallationId, ProjectId};

/// What stands in the place of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseState {
    /// No file.
    Missing,
    /// A file without a schema: cut off, or made by somebody who died before they filled it.
    Empty,
    /// A database.
    Present {
        /// Its installation; none in one that no Symphony with identities has opened yet.
        installation: Option<InstallationId>,
        /// What it knows of the repository.
        project: ProjectPlace,
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
    /// A person took the repository out of it; what is recorded of its project comes back with it.
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
    /// What is left of earlier work; none as long as nobody looked, which takes a call of git.
    pub traces: Option<Traces>,
}

/// What follows from the facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Decide again when traces were looked for.
    LookForTraces,
    /// Nothing was ever done here: a set-up may begin, and other commands find no project.
    New,
    /// It is the repository's database.
    Ours,
    /// It is the repository's database, which lacks an id, or the repository lacks the marker.
    Adopt {
        /// The id to write where it is missing; none: a new one is made.
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
    #[error("it is {state}, and Symphony worked here before: found {}", evidence(found, marker.as_ref()))]
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
            format!("the note that this is project {}", marker.project)
        }
        _ => found.to_string(),
    }
}

/// Decides whether a database may be used for a repository. Without traces it decides what can be decided without them.
pub fn identify(facts: &Facts) -> Verdict {
    match &facts.database {
        DatabaseState::Missing => absent("missing", facts),
        DatabaseState::Empty => absent("empty", facts),
        DatabaseState::Present {
            installation,
            project,
        } => present(installation.as_ref(), project, facts),
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
mod tests {
    use super::*;

    fn id(digit: char) -> InstallationId {
        InstallationId::parse(digit.to_string().repeat(32)).unwrap()
    }

    fn api() -> ProjectId {
        ProjectId::parse("api").unwrap()
    }

    fn marker(digit: char) -> Marker {
        Marker {
            installation: id(digit),
            project: api(),
            database: PathBuf::from("/p/.symphony/symphony.db"),
        }
    }

    /// Id of the database, what it knows, id in the marker, traces, and what is expected.
    type Case = (
        Option<char>,
        ProjectPlace,
        Option<char>,
        Option<Traces>,
        String,
    );

    fn work() -> Traces {
        Traces {
            branches: vec!["symphony/API-1".to_owned()],
            ..Traces::default()
        }
    }

    fn decide(database: DatabaseState, marker: Option<Marker>, traces: Option<Traces>) -> String {
        let verdict = identify(&Facts {
            database,
            marker,
            traces,
        });
        match verdict {
            Verdict::Refused(problem) => format!("refused: {problem}"),
            Verdict::Adopt { installation, .. } => match installation {
                Some(id) => format!("adopt {}", id.as_str().trim_start_matches("aaa")),
                None => "adopt a new id".to_owned(),
            },
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_database_that_is_gone_is_new_only_where_nothing_was_ever_done() {
        use DatabaseState::{Empty, Missing};
        let none = || Some(Traces::default());
        for state in [Missing, Empty] {
            let word = if state == Missing { "missing" } else { "empty" };
            let lost = |found: &str| {
                format!("refused: it is {word}, and Symphony worked here before: found {found}")
            };
            for (marker, traces, expected) in [
                (None, None, "LookForTraces".to_owned()),
                (Some(marker('a')), None, "LookForTraces".to_owned()),
                (None, none(), "New".to_owned()),
                (None, Some(work()), lost("1 branch (symphony/API-1)")),
                (
                    Some(marker('a')),
                    none(),
                    lost("the note that this is project api"),
                ),
                (
                    Some(marker('a')),
                    Some(work()),
                    lost("1 branch (symphony/API-1)"),
                ),
            ] {
                assert_eq!(decide(state.clone(), marker, traces), expected);
            }
        }
    }

    #[test]
    fn a_database_is_used_only_for_its_own_repositories() {
        let foreign = |found: &str| {
            format!(
                "refused: it belongs to another installation ({found}, while this repository belongs to {})",
                id('a')
            )
        };
        let moved = || ProjectPlace::Moved {
            project: api(),
            from: PathBuf::from("/old"),
        };
        let copied = || ProjectPlace::Copied {
            project: api(),
            of: PathBuf::from("/old"),
        };
        let here = || ProjectPlace::Here(api());
        let none = || Some(Traces::default());
        let stranger = "refused: it does not know this repository, where Symphony worked before: found 1 branch (symphony/API-1)";
        let adopted = "adopt aa".to_owned();
        let table: [Case; 15] = [
            (Some('a'), here(), Some('a'), None, "Ours".to_owned()),
            (
                Some('b'),
                here(),
                Some('a'),
                None,
                foreign(id('b').as_str()),
            ),
            (
                Some('b'),
                ProjectPlace::Unknown,
                Some('a'),
                None,
                foreign(id('b').as_str()),
            ),
            (
                None,
                ProjectPlace::Unknown,
                Some('a'),
                None,
                foreign("an unnamed one"),
            ),
            (Some('a'), here(), None, None, adopted.clone()),
            (None, here(), None, None, "adopt a new id".to_owned()),
            (None, here(), Some('a'), None, adopted.clone()),
            (
                Some('a'),
                ProjectPlace::Unknown,
                None,
                None,
                "LookForTraces".to_owned(),
            ),
            (
                Some('a'),
                ProjectPlace::Unknown,
                None,
                none(),
                "New".to_owned(),
            ),
            (
                Some('a'),
                ProjectPlace::Unknown,
                None,
                Some(work()),
                stranger.to_owned(),
            ),
            (
                Some('a'),
                ProjectPlace::Unknown,
                Some('a'),
                Some(work()),
                stranger.to_owned(),
            ),
            (
                None,
                ProjectPlace::Unknown,
                None,
                Some(work()),
                stranger.to_owned(),
            ),
            (
                Some('a'),
                ProjectPlace::Removed,
                None,
                None,
                "New".to_owned(),
            ),
            (
                Some('a'),
                moved(),
                Some('a'),
                None,
                "Moved { project: ProjectId(\"api\"), from: \"/old\" }".to_owned(),
            ),
            (
                Some('a'),
                copied(),
                Some('a'),
                None,
                "refused: this repository is a copy of project api, which is still at /old"
                    .to_owned(),
            ),
        ];
        for (database, project, noted, traces, expected) in table {
            let state = DatabaseState::Present {
                installation: database.map(id),
                project,
            };
            let told = format!("{state:?}");
            assert_eq!(decide(state, noted.map(marker), traces), expected, "{told}");
        }
    }
}

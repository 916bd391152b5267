//! The refs that runs left at a hub: listed and removed when no one needs them any longer.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::RESULTS;
use super::saved::SAVED;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::remote::{Pushed, Remote};
use crate::repository::Repository;

/// A ref of a run at a hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRef {
    /// Its full name.
    pub name: String,
    /// The commit that it is at.
    pub commit: CommitId,
}

impl RunRef {
    /// Returns the last part of its name, which is the id of the run.
    pub fn run(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }
}

/// A hub that is another repository: its address, and what reaching it needs.
pub type OtherHub<'a> = (&'a str, &'a BTreeMap<OsString, OsString>);

impl Repository {
    /// Lists the refs of results and of saved work, at the hub or in this repository if that is the hub.
    ///
    /// # Errors
    /// When the hub does not answer.
    pub fn refs_of_runs(&self, hub: Option<OtherHub<'_>>) -> Result<Vec<RunRef>, WorkspaceError> {
        if let Some((address, environment)) = hub {
            let listed =
                Remote::of_tick(self, address, environment).references(&[RESULTS, SAVED])?;
            let found = listed.into_iter();
            return Ok(found
                .map(|(name, commit)| RunRef { name, commit })
                .collect());
        }
        let reader = self.reader();
        let mut found = Vec::new();
        for folder in [RESULTS, SAVED] {
            let refs = reader.commits_below(folder)?.into_iter();
            found.extend(refs.map(|(rest, commit)| RunRef {
                name: format!("{folder}{rest}"),
                commit,
            }));
        }
        Ok(found)
    }

    /// Removes a ref of a run, if it is still where it was listed.
    ///
    /// # Errors
    /// When the hub does not answer or refuses, or the ref has moved.
    pub fn remove_ref_of_run(
        &self,
        hub: Option<OtherHub<'_>>,
        found: &RunRef,
    ) -> Result<(), WorkspaceError> {
        let RunRef { name, commit } = found;
        let Some((address, environment)) = hub else {
            let removal = ["--no-deref", "-d", name, commit.as_str()];
            return self.git.command("update-ref").args(removal).run().map(drop);
        };
        match Remote::of_tick(self, address, environment).delete_reference(name, commit)? {
            Pushed::Done => Ok(()),
            refused => Err(WorkspaceError::GitAnswer {
                command: "git push".to_owned(),
                expected: "the removal of a ref",
                found: format!("{refused:?}"),
            }),
        }
    }
}

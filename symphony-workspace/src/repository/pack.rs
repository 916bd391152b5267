//! Packing what has gathered in a repository of Symphony's own, in which no person's git does it.

use super::open::Repository;
use crate::error::WorkspaceError;
use crate::git::runs_programs;

/// What decides whether there is anything to do, and what is done. Other calls of Symphony never begin it (`gc.auto=0`).
const SETTINGS: &[&str] = &[
    "gc.auto=6700",
    "gc.autoPackLimit=50",
    "gc.autoDetach=false",
    // Objects that no ref has are kept for as long as git keeps them by default. Runs need some of them meanwhile: a fetch brings objects
    // before it moves refs, and what an agent has done so far is saved as a commit without a ref.
    "gc.pruneExpire=2.weeks.ago",
    "gc.cruftPacks=true",
    "gc.repackFilter=",
    "gc.repackFilterTo=",
    // Nothing but objects is changed. Supervisors move refs meanwhile, and would meet their locks; and which worktrees there are is
    // Symphony's own to say.
    "gc.packRefs=false",
    "gc.reflogExpire=never",
    "gc.reflogExpireUnreachable=never",
    "gc.worktreePruneExpire=never",
    "gc.writeCommitGraph=false",
    // No one waits for it, so the other cores are for runs.
    "pack.threads=1",
];

impl Repository {
    /// Lets git pack the objects, and remove those that no one has needed for two weeks, if much has gathered since the last time.
    ///
    /// It takes no lock of Symphony's: others may commit, fetch and read at the same time. If it is killed, the next one goes on. Git
    /// ignores the `gc.pid` of a process that is gone, and removes unfinished packs that are two weeks old. A second one that comes
    /// meanwhile does nothing.
    ///
    /// # Errors
    /// When git fails, such as on a full disk, or takes more than an hour; [`WorkspaceError::Tampered`] when the repository's configuration
    /// names a program that git would run.
    pub fn pack(&self) -> Result<(), WorkspaceError> {
        self.refuse_program_of_gc()?;
        let command = self.git.command("gc").args(["--auto", "--quiet"]);
        command.settings(SETTINGS).long().run().map(drop)
    }

    /// Refuses a program that says which objects are recent. Git's documentation knows no setting that would set it aside.
    fn refuse_program_of_gc(&self) -> Result<(), WorkspaceError> {
        let program = self
            .git
            .own_setting(|name| name.starts_with("gc.") && runs_programs(name))?;
        match program {
            Some(name) => Err(WorkspaceError::Tampered {
                path: self.common_dir().to_owned(),
                what: format!("its configuration has `{name}`, by which git would run a program"),
            }),
            None => Ok(()),
        }
    }
}

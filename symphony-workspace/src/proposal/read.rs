//! Reads the files of a commit for a proposal.

use super::files::ProjectFiles;
use super::model::Proposal;
use super::propose;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::fields;
use crate::repository::Repository;

/// Largest manifest that is read: lock files of Yarn are the longest.
const MANIFEST_BYTES_MAX: usize = 4 * 1024 * 1024;

impl Repository {
    /// Proposes gates and a set-up command from the files of a commit. A manifest that is too large says nothing.
    ///
    /// # Errors
    /// When git fails.
    pub fn propose(&self, commit: &CommitId) -> Result<Proposal, WorkspaceError> {
        let list = self
            .git
            .command("ls-tree")
            .args(["-r", "-z", "--name-only", "--full-tree", commit.as_str()])
            .slow()
            .run()?;
        let paths = fields(&list).filter_map(|path| str::from_utf8(path).ok());
        let mut files = ProjectFiles::new(paths.map(str::to_owned));
        for path in files.wanted_texts() {
            match self.file_at(commit, &path, MANIFEST_BYTES_MAX) {
                Ok(bytes) => {
                    let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
                    files = files.with_text(path, text);
                }
                Err(WorkspaceError::TooLarge { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(propose(&files))
    }
}

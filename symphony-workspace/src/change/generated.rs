//! Files that a commit's `.gitattributes` mark as generated or vendored: no one reads their diffs line by line.

use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::repository::Repository;

/// The attributes by which forges know such files.
const ATTRIBUTES: [&str; 2] = ["linguist-generated", "linguist-vendored"];

impl Repository {
    /// Returns which of the paths a commit's own attributes mark as generated or vendored. The attributes of a checkout
    /// are ignored. Empty if the repository has attributes outside of its commits (`info/attributes`): any agent can
    /// write those.
    ///
    /// # Errors
    /// When git fails, or no temporary folder can be made.
    pub fn generated_at(
        &self,
        commit: &CommitId,
        paths: &[&str],
    ) -> Result<Vec<String>, WorkspaceError> {
        let common_dir = &self.git.place().common_dir;
        if paths.is_empty() || common_dir.join("info/attributes").exists() {
            return Ok(Vec::new());
        }
        let folder = tempfile::Builder::new()
            .prefix("symphony-index-")
            .tempdir_in(common_dir)
            .map_err(|source| {
                WorkspaceError::io("make a temporary folder in", common_dir, source)
            })?;
        let index = folder.path().join("index");
        self.git
            .command("read-tree")
            .index(Some(&index))
            .arg(commit.as_str())
            .slow()
            .run()?;
        let answer = self
            .git
            .command("check-attr")
            .index(Some(&index))
            .args(["--cached", "--stdin", "-z"])
            .args(ATTRIBUTES)
            .stdin(paths.join("\0").into_bytes())
            .run()?;
        let fields: Vec<&[u8]> = answer.split(|byte| *byte == 0).collect();
        // path, attribute and value of each path and attribute
        let of_path = fields.chunks_exact(3 * ATTRIBUTES.len());
        let generated = paths.iter().zip(of_path).filter(|(_, fields)| {
            let mut values = fields.iter().skip(2).step_by(3);
            values.any(|value| matches!(*value, b"set" | b"true"))
        });
        Ok(generated.map(|(path, _)| (*path).to_owned()).collect())
    }
}

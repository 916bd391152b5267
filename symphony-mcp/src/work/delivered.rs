//! What a phase delivered: its artifact, the changed paths, the commit that holds them.

use symphony_core::Timestamp;
use symphony_core::contract::{ArtifactFound, KeptCommit};
use symphony_core::id::{IssueId, PhaseName};
use symphony_workspace::artifact::read_artifact;
use symphony_workspace::{Repository, WorkspaceError};

use crate::answer::ToolError;
use crate::identity::IssueWorkspace;
use crate::work::committable::{
    Nested, base_head, open, refuse_secrets, refuse_unfiltered, require_filters_of, settle_nested,
};

/// What is in the worktree of a phase's agent.
#[derive(Debug)]
pub(crate) struct Delivered {
    /// The artifact, from the worktree or else from the project's root; `None` if the phase has none.
    pub(crate) artifact: Option<ArtifactFound>,
    /// Every path that differs from the base.
    pub(crate) changed: Vec<String>,
}

/// Reads what is delivered: the artifact comes from the file system, not from git. Nested repositories are absorbed
/// first if the call asks for it.
///
/// # Errors
/// When there is a nested repository, the artifact cannot be read, or git fails.
pub(crate) fn read_delivered(
    workspace: &IssueWorkspace,
    artifact: Option<&str>,
    nested: Nested,
    issue: &IssueId,
) -> Result<Delivered, ToolError> {
    let (repository, worktree) = open(workspace)?;
    let base = base_head(&repository, &workspace.base)?;
    settle_nested(&repository, &worktree, &base, nested, issue)?;
    let artifact = match artifact {
        None => None,
        Some(path) => {
            let places = [worktree.path(), workspace.project_root.as_path()];
            Some(match read_artifact(path, &places) {
                Ok(artifact) => ArtifactFound::Text(document_text(artifact.bytes, path)?),
                Err(WorkspaceError::FileMissing { places, .. }) => ArtifactFound::Missing {
                    places: places.iter().map(|p| p.display().to_string()).collect(),
                },
                Err(error) => {
                    return Err(ToolError::new(format!(
                        "the artifact cannot be read: {error}"
                    )));
                }
            })
        }
    };
    let changed = repository.changed_paths(&worktree, &workspace.base)?;
    Ok(Delivered { artifact, changed })
}

/// Returns the text of a document. Agents read it, and could do nothing with binary data.
fn document_text(bytes: Vec<u8>, path: &str) -> Result<String, ToolError> {
    let why = if bytes.contains(&0) {
        "it holds zero bytes".to_owned()
    } else {
        match String::from_utf8(bytes) {
            Ok(text) => return Ok(text),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                format!("it is not valid UTF-8 from byte {at} on")
            }
        }
    };
    Err(ToolError::new(format!(
        "the artifact `{path}` is not a text: {why}. Write it as UTF-8 text, usually markdown, then claim again; keep an image or another \
         binary file beside it and name its path in the text"
    )))
}

/// Commits what is delivered, so that a verdict can name the commit; returns the head of the branch.
///
/// # Errors
/// When the branch holds what must not leave this machine, or git fails.
pub(crate) fn commit_delivered(
    workspace: &IssueWorkspace,
    issue: &IssueId,
    phase: &PhaseName,
) -> Result<String, ToolError> {
    let (repository, worktree) = open(workspace)?;
    let message = format!("symphony({issue}): {phase}");
    let done = repository.auto_commit(&worktree, &message, Timestamp::now())?;
    repository.renew_git_folder(&worktree)?;
    refuse_unfiltered(&repository.unfiltered(&worktree, &repository.status(&worktree)?)?)?;
    require_filters_of(&repository, &done.head)?;
    let base = base_head(&repository, &workspace.base)?;
    refuse_secrets(&repository.scan_secrets(Some(&worktree), &base, &done.head)?)?;
    Ok(done.head.as_str().to_owned())
}

/// Keeps the commit of what was delivered: the branch may be deleted before it is merged. If this fails, the next tick
/// does it.
pub(crate) fn keep_delivered(workspace: &IssueWorkspace, issue: &IssueId, commit: String) {
    let wanted = KeptCommit {
        issue: issue.clone(),
        commit,
    };
    let kept = Repository::open(&workspace.project_root, workspace.options.clone())
        .and_then(|repository| repository.keep_commit(&wanted));
    if let Err(error) = kept {
        tracing::warn!(%issue, %error, "the commit of a document is not kept yet");
    }
}

/// Returns the head of the issue's branch.
pub(crate) fn branch_head(workspace: &IssueWorkspace) -> Result<String, ToolError> {
    let (repository, _worktree) = open(workspace)?;
    let head = repository.branch_head(&workspace.branch)?.ok_or_else(|| {
        ToolError::new(format!(
            "the branch {} no longer exists",
            workspace.branch.as_str()
        ))
    })?;
    Ok(head.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_text_is_a_document() {
        for (bytes, expected) in [
            (&b"# Research\n"[..], Ok("# Research\n")),
            ("# Größe \u{feff}".as_bytes(), Ok("# Größe \u{feff}")),
            (b"", Ok("")),
            (b"# R\xff\xfe", Err("it is not valid UTF-8 from byte 3 on")),
            (b"\x89PNG\0\0", Err("it holds zero bytes")),
            (b"\xff\xfe#\0", Err("it holds zero bytes")),
        ] {
            match (document_text(bytes.to_vec(), "docs/r.md"), expected) {
                (Ok(text), Ok(expected)) => assert_eq!(text, expected),
                (Err(error), Err(why)) => {
                    let begin = format!("the artifact `docs/r.md` is not a text: {why}. Write it");
                    assert!(error.text.starts_with(&begin), "{}", error.text);
                }
                (found, expected) => panic!("{found:?} for {expected:?}"),
            }
        }
    }
}

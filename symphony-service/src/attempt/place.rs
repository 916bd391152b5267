//! The check that comes before every start: an agent works in the folder of its ticket and nowhere else (section 9.5).

use std::path::{Path, PathBuf};

/// Returns the folder in which the agent starts, without links.
///
/// The check looks at the disk again, since whatever ran after the workspace was prepared, such as a hook, can have put a
/// link in its place.
///
/// # Errors
/// Why an agent must not start there.
pub(super) fn checked(workspace: &Path, root: &Path) -> Result<PathBuf, String> {
    let shown = workspace.display();
    let missing =
        |path: &Path, error: &std::io::Error| format!("cannot use {}: {error}", path.display());
    let root = root.canonicalize().map_err(|error| missing(root, &error))?;
    let folder = workspace
        .canonicalize()
        .map_err(|error| missing(workspace, &error))?;
    if folder == root {
        return Err(format!("{shown} is the folder of all workspaces"));
    }
    if !folder.starts_with(&root) {
        return Err(format!(
            "{shown} leads to {}, which is outside of {}",
            folder.display(),
            root.display()
        ));
    }
    if !folder.is_dir() {
        return Err(format!("{shown} is not a folder"));
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_folder_below_the_root_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (root, outside) = (base.join("root"), base.join("outside"));
        std::fs::create_dir_all(root.join("ABC-1")).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(root.join("file"), "").unwrap();
        std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
        assert_eq!(checked(&root.join("ABC-1"), &root), Ok(root.join("ABC-1")));
        for (workspace, expected) in [
            (root.clone(), "is the folder of all workspaces"),
            (root.join("ABC-1/.."), "is the folder of all workspaces"),
            (root.join("link"), "is outside of"),
            (root.join("../outside"), "is outside of"),
            (root.join("file"), "is not a folder"),
            (root.join("none"), "cannot use"),
        ] {
            let fault = checked(&workspace, &root).unwrap_err();
            assert!(fault.contains(expected), "{fault}");
        }
    }
}

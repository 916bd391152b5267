//! `core.bare` in a repository that has a checkout: an agent, a script or a `git init` in the wrong place may have set
//! it.

use std::path::Path;

use super::open::Repository;
use crate::error::WorkspaceError;

/// The setting that declares that a repository has no checkout.
const BARE: &str = "core.bare";
/// The setting that makes the second file below count, too.
const OWN_FILE: &str = "extensions.worktreeConfig";
/// The settings of the repository in its git folder.
const SHARED: &str = "config";
/// The settings of the main checkout alone, which take precedence.
const MAIN_ONLY: &str = "config.worktree";

impl Repository {
    /// Refuses a repository whose settings declare that it has no checkout. libgit2 reads them, since each tick does
    /// this; the program is called only if libgit2 cannot read them.
    pub(super) fn refuse_bare(&self) -> Result<(), WorkspaceError> {
        let folder = self.common_dir();
        let found = match bare_in(folder) {
            Ok(found) => found,
            Err(error) => {
                tracing::debug!(%error, "libgit2 cannot read the settings");
                self.is_bare_by_program()?.then_some(SHARED)
            }
        };
        match found {
            None => Ok(()),
            Some(file) => Err(WorkspaceError::BareSetting {
                root: self.root.clone(),
                is_of_main: file == MAIN_ONLY,
            }),
        }
    }

    fn is_bare_by_program(&self) -> Result<bool, WorkspaceError> {
        let answer = self
            .git
            .command("config")
            .args(["--type=bool", "--get", BARE])
            .answer(&[0, 1])?;
        Ok(answer.stdout.starts_with(b"true"))
    }
}

/// Returns which file of a git folder makes the repository bare.
fn bare_in(folder: &Path) -> Result<Option<&'static str>, git2::Error> {
    let shared = git2::Config::open(&folder.join(SHARED))?;
    let of_main = folder.join(MAIN_ONLY);
    if flag(&shared, OWN_FILE)? == Some(true)
        && of_main.exists()
        && let Some(is_bare) = flag(&git2::Config::open(&of_main)?, BARE)?
    {
        return Ok(is_bare.then_some(MAIN_ONLY));
    }
    Ok((flag(&shared, BARE)? == Some(true)).then_some(SHARED))
}

fn flag(config: &git2::Config, name: &str) -> Result<Option<bool>, git2::Error> {
    match config.get_bool(name) {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_that_makes_a_repository_bare_is_found() {
        let own = "[extensions]\n\tworktreeConfig = true\n";
        for (shared, of_main, expected) in [
            ("", None, None),
            ("[core]\n\tbare = false\n", None, None),
            ("[core]\n\tbare\n", None, Some(SHARED)),
            ("[core]\n\tbare = yes\n", None, Some(SHARED)),
            (
                "[core]\n\tbare = true\n[core]\n\tbare = false\n",
                None,
                None,
            ),
            // The second file counts only if the first one enables it.
            ("", Some("[core]\n\tbare = true\n"), None),
            (own, Some("[core]\n\tbare = true\n"), Some(MAIN_ONLY)),
            (own, Some(""), None),
        ] {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(SHARED), shared).unwrap();
            if let Some(text) = of_main {
                std::fs::write(folder.path().join(MAIN_ONLY), text).unwrap();
            }
            assert_eq!(
                bare_in(folder.path()).unwrap(),
                expected,
                "{shared} {of_main:?}"
            );
        }
    }

    #[test]
    fn settings_that_cannot_be_read_say_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(bare_in(folder.path()).unwrap(), None);
        std::fs::write(folder.path().join(SHARED), "[core]\n\tbare = perhaps\n").unwrap();
        assert!(bare_in(folder.path()).is_err());
    }
}

//! The values of secrets on a worker, whose configuration only names them.

use std::path::{Path, PathBuf};

use serde_json::Value;
use symphony_workspace::config_file::with_secrets;

use crate::error::RunnerError;
use crate::installation::Installation;

/// Where systemd puts the credentials of a service.
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";
/// Most bytes of a secret: far above any token or key.
const SECRET_BYTES_MAX: u64 = 64 * 1024;

impl Installation {
    /// Puts the values of secrets into a configuration that the control handed over: from files with their names, in `worker.secrets_dir` or in
    /// the folder that systemd names.
    ///
    /// # Errors
    /// When a secret has no file here: all of them are named.
    pub fn resolve_secrets(&self, layers: &mut Value) -> Result<(), RunnerError> {
        let of_systemd = self.variable(CREDENTIALS).map(PathBuf::from);
        let folders: Vec<PathBuf> = self
            .config
            .worker
            .secrets_dir
            .iter()
            .cloned()
            .chain(of_systemd)
            .collect();
        let missing = with_secrets(layers, |name| find(&folders, name));
        if missing.is_empty() {
            return Ok(());
        }
        Err(RunnerError::refused(format!(
            "this host has no value of `{}`: put each into a file with that name in `worker.secrets_dir`, or have systemd load it with `LoadCredential=`",
            missing.join("`, `")
        )))
    }
}

fn find(folders: &[PathBuf], name: &str) -> Option<String> {
    // A name comes from a configuration, and must not lead out of the folder.
    if name.is_empty() || name.starts_with('.') || name.contains(['/', '\0']) {
        return None;
    }
    folders.iter().find_map(|folder| read(&folder.join(name)))
}

/// Reads a secret. An editor ends a file with a newline, which is none of the secret's.
fn read(path: &Path) -> Option<String> {
    let metadata = std::fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > SECRET_BYTES_MAX {
        return None;
    }
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_a_file_with_its_name_in_the_first_folder_that_has_it() {
        let (own, of_systemd) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(own.path().join("A_TOKEN"), "own\n").unwrap();
        for (name, value) in [
            ("A_TOKEN", "other"),
            ("B_KEY", "two\nlines\n"),
            (".hidden", "x"),
        ] {
            std::fs::write(of_systemd.path().join(name), value).unwrap();
        }
        std::fs::create_dir(own.path().join("C_TOKEN")).unwrap();
        let folders = [own.path().to_owned(), of_systemd.path().to_owned()];
        for (name, expected) in [
            ("A_TOKEN", Some("own")),
            ("B_KEY", Some("two\nlines")),
            ("C_TOKEN", None),
            ("D_TOKEN", None),
            (".hidden", None),
            ("../A_TOKEN", None),
            ("", None),
        ] {
            assert_eq!(find(&folders, name).as_deref(), expected, "{name:?}");
        }
    }
}

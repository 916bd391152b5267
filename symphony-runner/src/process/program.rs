//! Finding the file that a program's name refers to.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::fs::Access;

use super::error::ProcessError;

/// Finds the file to execute for a program's name.
///
/// A bare name is searched in the absolute entries of `search_path`, the *agent's* `PATH`. A name with a slash is a
/// path, relative to `directory`. The result is absolute if `directory` is.
///
/// # Errors
/// `ProgramNotFound`, or `ProgramNotExecutable` when only files that are not executable were found.
pub fn resolve_program(
    program: &Path,
    search_path: Option<&OsStr>,
    directory: &Path,
) -> Result<PathBuf, ProcessError> {
    if program.as_os_str().as_encoded_bytes().contains(&b'/') {
        let path = directory.join(program);
        return match check(&path) {
            PathEntry::Executable => Ok(path),
            PathEntry::Other => Err(ProcessError::ProgramNotExecutable { path }),
            PathEntry::Nothing => Err(not_found(program, path.display().to_string())),
        };
    }
    let search_path = search_path.unwrap_or_default();
    let mut unusable = None;
    for folder in std::env::split_paths(search_path).filter(|folder| folder.is_absolute()) {
        let path = folder.join(program);
        match check(&path) {
            PathEntry::Executable if !program.as_os_str().is_empty() => return Ok(path),
            PathEntry::Other if !path.is_dir() => unusable = unusable.or(Some(path)),
            _ => {}
        }
    }
    Err(match unusable {
        Some(path) => ProcessError::ProgramNotExecutable { path },
        None => not_found(program, format!("PATH ({})", search_path.display())),
    })
}

enum PathEntry {
    Executable,
    Other,
    Nothing,
}

fn check(path: &Path) -> PathEntry {
    match path.metadata() {
        Err(_) => PathEntry::Nothing,
        Ok(metadata) if metadata.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok() => {
            PathEntry::Executable
        }
        Ok(_) => PathEntry::Other,
    }
}

fn not_found(program: &Path, searched: String) -> ProcessError {
    ProcessError::ProgramNotFound {
        program: program.display().to_string(),
        searched,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn names_are_searched_and_paths_are_taken_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for (name, mode) in [
            ("one/tool", 0o644),
            ("two/tool", 0o755),
            ("two/plain", 0o644),
        ] {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::create_dir(root.join("one/plain")).unwrap();
        let search = std::env::join_paths([
            Path::new("relative"),
            &root.join("missing"),
            &root.join("one"),
            &root.join("two"),
        ])
        .unwrap();
        let shown = |program: &str| {
            let result = resolve_program(Path::new(program), Some(&search), root);
            let text = match result {
                Ok(path) => path.display().to_string(),
                Err(error) => error.to_string(),
            };
            text.replace(&root.display().to_string(), "/R")
        };
        let table = [
            ("tool", "/R/two/tool"),
            ("plain", "/R/two/plain is not an executable file"),
            (
                "nothing",
                "the program `nothing` was not found in PATH (relative:/R/missing:/R/one:/R/two)",
            ),
            ("two/tool", "/R/two/tool"),
            ("./one/tool", "/R/./one/tool is not an executable file"),
            ("one/plain", "/R/one/plain is not an executable file"),
            (
                "no/such",
                "the program `no/such` was not found in /R/no/such",
            ),
            (
                "/no/such",
                "the program `/no/such` was not found in /no/such",
            ),
            (
                "",
                "the program `` was not found in PATH (relative:/R/missing:/R/one:/R/two)",
            ),
        ];
        for (program, expected) in table {
            assert_eq!(shown(program), expected, "{program}");
        }
    }

    #[test]
    fn without_a_search_path_no_name_is_found() {
        let error = resolve_program(Path::new("sh"), None, Path::new("/")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the program `sh` was not found in PATH ()"
        );
    }
}

//! The paths of evidence as git writes them, so that they match what a moved base changed.

use std::collections::BTreeSet;

use thiserror::Error;

/// Why a text is not a path of the repository's tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PathError {
    /// It begins at the root of the file system.
    #[error("paths begin at the root of the repository, without `/`")]
    Absolute,
    /// It goes up.
    #[error("paths have no `..`: name it from the root of the repository")]
    GoesUp,
    /// It is the root of the repository.
    #[error("it is the whole repository: name the files or folders that show it")]
    Whole,
}

/// Returns a path as git names it in a tree: parts between single slashes, no `.`, no slash at the end.
///
/// # Errors
/// When it cannot be the path of a file or a folder in the tree.
pub fn normal_path(path: &str) -> Result<String, PathError> {
    if path.starts_with('/') {
        return Err(PathError::Absolute);
    }
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    if parts.contains(&"..") {
        return Err(PathError::GoesUp);
    }
    if parts.is_empty() {
        return Err(PathError::Whole);
    }
    Ok(parts.join("/"))
}

/// The files and folders that evidence is about.
#[derive(Debug, Default)]
pub(super) struct About {
    paths: BTreeSet<String>,
    folders: BTreeSet<String>,
    is_all: bool,
}

impl About {
    /// Reads the paths of evidence; one that ends with `/` is a folder. Records of an older Symphony have them as they
    /// were typed.
    pub(super) fn of<'a>(files: impl IntoIterator<Item = &'a str>) -> Self {
        let mut about = Self::default();
        for file in files {
            match normal_path(file) {
                Ok(path) => {
                    if file.ends_with('/') {
                        about.folders.insert(path.clone());
                    }
                    about.paths.insert(path);
                }
                Err(PathError::Whole) => about.is_all = true,
                // git never names such a path
                Err(PathError::Absolute | PathError::GoesUp) => {}
            }
        }
        about
    }

    /// Returns whether a change of this path, or inside this folder, concerns the evidence.
    pub(super) fn concerns(&self, changed: &str) -> bool {
        let above = changed
            .match_indices('/')
            .filter_map(|(at, _)| changed.get(..at));
        self.is_all
            || self.paths.contains(changed)
            || above
                .into_iter()
                .any(|folder| self.folders.contains(folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_as_git_writes_them() {
        for (typed, expected) in [
            ("a.txt", Ok("a.txt")),
            ("./a.txt", Ok("a.txt")),
            ("src//b.txt", Ok("src/b.txt")),
            ("src/./b.txt", Ok("src/b.txt")),
            ("src/", Ok("src")),
            (".././a", Err(PathError::GoesUp)),
            ("src/../a", Err(PathError::GoesUp)),
            ("..a/b..", Ok("..a/b..")),
            ("/etc/passwd", Err(PathError::Absolute)),
            (".", Err(PathError::Whole)),
            ("./", Err(PathError::Whole)),
            ("", Err(PathError::Whole)),
        ] {
            assert_eq!(
                normal_path(typed).as_deref(),
                expected.as_ref().copied(),
                "{typed}"
            );
        }
    }

    #[test]
    fn a_folder_is_about_all_that_is_in_it_and_a_file_about_itself() {
        for (about, changed, expected) in [
            ("a.txt", "a.txt", true),
            ("./a.txt", "a.txt", true),
            ("src//b.txt", "src/b.txt", true),
            ("src/", "src/b.txt", true),
            ("src/", "src/deep/b.txt", true),
            // the folder became a file
            ("src/", "src", true),
            ("src/", "src2/b.txt", false),
            ("src", "src/b.txt", false),
            ("a.txt", "b.txt", false),
            ("./", "b.txt", true),
        ] {
            let found = About::of([about]).concerns(changed);
            assert_eq!(found, expected, "{about} {changed}");
        }
    }
}

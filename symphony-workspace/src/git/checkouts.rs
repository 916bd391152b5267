//! The checkouts of a repository, read without a process where their folders are as plain as git writes them.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use super::place::Git;
use super::plain_config::{Setting, plain_file};
use crate::own_file::read_own_file;
use crate::worktree::Registration;

/// The largest reason of a lock that is read here.
const REASON_BYTES_MAX: usize = 1024;

impl Git {
    /// Returns what `git worktree list` says, main checkout first and the others by their paths; `None` unless all of it is
    /// plain.
    ///
    /// The files are those that git reads. Whatever is there in another form than git writes it, such as a link, a relative
    /// path, a ref that leads to another one or a setting that moves any of this, is left to git, so that nothing is
    /// believed that git would not say.
    pub(crate) fn plain_checkouts(&self) -> Option<Vec<Registration>> {
        let common = &self.place().common_dir;
        if !is_plain_repository(common) {
            return None;
        }
        let main = Registration {
            path: common.parent()?.to_owned(),
            reference: head(common, common)?,
            ..Registration::default()
        };
        let mut linked = Vec::new();
        match fs::read_dir(common.join("worktrees")) {
            Ok(entries) => {
                for entry in entries {
                    let entry = entry.ok()?;
                    entry.file_type().ok().filter(fs::FileType::is_dir)?;
                    linked.push(checkout(common, &entry.path())?);
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(_) => return None,
        }
        linked.sort_by(|one, two| one.path.as_os_str().cmp(two.path.as_os_str()));
        linked.insert(0, main);
        Some(linked)
    }
}

/// Returns whether refs and worktrees are where git keeps them by default, and the repository has a checkout.
fn is_plain_repository(common: &Path) -> bool {
    // Git names the main checkout by the real path of this folder.
    let is_real = common.canonicalize().is_ok_and(|real| real == common);
    if !is_real || common.file_name() != Some(OsStr::new(".git")) {
        return false;
    }
    let moves = |setting: &Setting| {
        let Setting { name, value } = setting;
        // Only as git writes it: all other ways to say yes or no are git's to read.
        let is_other_bare = name == "core.bare" && value.as_deref() != Some("false");
        is_other_bare || name == "core.worktree" || name.starts_with("extensions.")
    };
    plain_file(&common.join("config")).is_some_and(|settings| !settings.iter().any(moves))
}

/// Reads a linked checkout from its git folder.
fn checkout(common: &Path, git_dir: &Path) -> Option<Registration> {
    let git_file = recorded(&read_own_file(&git_dir.join("gitdir")).ok()?)?;
    let locked = match read_own_file(&git_dir.join("locked")) {
        Ok(reason) => Some(plain_reason(&reason)?),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(_) => return None,
    };
    let is_gone = match fs::symlink_metadata(&git_file) {
        Ok(_) => false,
        Err(error) if error.kind() == ErrorKind::NotFound => true,
        Err(_) => return None,
    };
    Some(Registration {
        path: git_file.parent()?.to_owned(),
        reference: head(common, git_dir)?,
        prunable: is_gone && locked.is_none(),
        locked,
    })
}

/// Returns the `.git` file that a `gitdir` file names by a plain absolute path.
fn recorded(bytes: &[u8]) -> Option<PathBuf> {
    let line = bytes.strip_suffix(b"\n")?;
    let folder = line.strip_prefix(b"/")?.strip_suffix(b"/.git")?;
    let is_plain =
        |part: &[u8]| !matches!(part, b"" | b"." | b"..") && !part.iter().any(u8::is_ascii_control);
    folder
        .split(|byte| *byte == b'/')
        .all(is_plain)
        .then(|| OsString::from_vec(line.to_vec()).into())
}

fn plain_reason(bytes: &[u8]) -> Option<String> {
    let text = str::from_utf8(bytes).ok()?;
    let reason = text.strip_suffix('\n').unwrap_or(text);
    let is_plain = reason.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && reason.trim() == reason
        && reason.len() <= REASON_BYTES_MAX;
    is_plain.then(|| reason.to_owned())
}

/// Returns the branch that a git folder's `HEAD` has, `Some(None)` when it is detached; `None` unless it is plain.
#[expect(clippy::option_option, reason = "what is unknown is left to git")]
fn head(common: &Path, git_dir: &Path) -> Option<Option<String>> {
    let bytes = read_own_file(&git_dir.join("HEAD")).ok()?;
    let line = str::from_utf8(bytes.strip_suffix(b"\n")?).ok()?;
    let Some(name) = line.strip_prefix("ref: ") else {
        return is_object(line.as_bytes()).then_some(None);
    };
    let is_plain = |part: &str| {
        let is_usual =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let is_odd = part.is_empty() || part.starts_with('.') || part.ends_with('.');
        let is_special = part.contains("..") || part.strip_suffix(".lock").is_some();
        !is_odd && !is_special && part.bytes().all(is_usual)
    };
    let below = name.strip_prefix("refs/heads/")?;
    let is_branch = below.split('/').all(is_plain) && is_end(&common.join(name));
    is_branch.then(|| Some(name.to_owned()))
}

/// Returns whether a ref leads to no other one: it has an object, or it is packed or not there yet.
fn is_end(file: &Path) -> bool {
    let read: io::Result<Vec<u8>> = read_own_file(file);
    match read {
        Ok(bytes) => bytes.strip_suffix(b"\n").is_some_and(is_object),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

/// Returns whether this is the name of an object; repositories with longer ones have an extension.
pub(super) fn is_object(text: &[u8]) -> bool {
    text.len() == 40
        && text
            .iter()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;
    use crate::git::{GitProgram, Place};
    use crate::worktree::parse_list;

    struct Scratch {
        root: PathBuf,
        _folder: tempfile::TempDir,
    }

    impl Scratch {
        /// A repository with a commit, and three worktrees: on a branch, detached and locked, on a branch and without its folder.
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().canonicalize().unwrap().join("p");
            fs::create_dir(&root).unwrap();
            let made = Self {
                root,
                _folder: folder,
            };
            made.git(&["init", "-q", "-b", "main"]);
            made.git(&["commit", "-q", "--allow-empty", "-m", "begin"]);
            made.git(&["worktree", "add", "-q", "-b", "a/b", "../a b"]);
            let lock = ["worktree", "add", "-q", "--detach", "--lock", "--reason"];
            made.git(&[&lock[..], &["being made", "../locked"]].concat());
            made.git(&["worktree", "add", "-q", "-b", "gone", "../gone"]);
            fs::remove_dir_all(made.root.join("../gone")).unwrap();
            made
        }

        #[expect(clippy::disallowed_methods, reason = "git is the reference")]
        fn git(&self, arguments: &[&str]) -> Option<Vec<u8>> {
            let output = Command::new("git")
                .args(["-c", "user.name=x", "-c", "user.email=x@localhost"])
                .args(arguments)
                .current_dir(&self.root)
                .output()
                .unwrap();
            output.status.success().then_some(output.stdout)
        }

        fn of_git(&self) -> Option<Vec<Registration>> {
            Some(parse_list(&self.git(&[
                "worktree",
                "list",
                "--porcelain",
                "-z",
            ])?))
        }

        fn plain(&self) -> Option<Vec<Registration>> {
            let place = Place {
                git_dir: self.root.join(".git"),
                common_dir: self.root.join(".git"),
                work_tree: self.root.clone(),
            };
            Git::new(GitProgram::find().unwrap(), Vec::new(), place).plain_checkouts()
        }

        fn write(&self, file: &str, text: &str) {
            fs::write(self.root.join(".git").join(file), text).unwrap();
        }

        /// Adds a line to a file.
        fn add(&self, file: &str, text: &str) {
            let file = self.root.join(".git").join(file);
            let before = fs::read_to_string(&file).unwrap();
            fs::write(file, before + text).unwrap();
        }

        fn replace_by_link(&self, file: &str, target: &str) {
            let file = self.root.join(".git").join(file);
            fs::remove_file(&file).unwrap();
            symlink(target, file).unwrap();
        }
    }

    #[test]
    fn checkouts_are_read_as_git_lists_them() {
        let scratch = Scratch::new();
        let found = scratch.plain().unwrap();
        assert_eq!(found.len(), 4);
        assert_eq!(scratch.of_git(), Some(found));
        // a branch that is packed, one that is not there yet, a lock without a reason
        scratch.git(&["pack-refs", "--all", "--prune"]);
        scratch.git(&["symbolic-ref", "HEAD", "refs/heads/unborn"]);
        scratch.write("worktrees/gone/locked", "");
        let found = scratch.plain().unwrap();
        assert_eq!(found[0].reference.as_deref(), Some("refs/heads/unborn"));
        assert_eq!(scratch.of_git(), Some(found));
        // none at all
        fs::remove_dir_all(scratch.root.join(".git/worktrees")).unwrap();
        let found = scratch.plain().unwrap();
        assert_eq!((found.len(), scratch.of_git()), (1, Some(found)));
    }

    #[test]
    fn what_is_not_plain_is_left_to_git() {
        type Change = fn(&Scratch);
        let changes: [(&str, Change); 18] = [
            ("a head that is a link", |s| {
                s.replace_by_link("worktrees/gone/HEAD", "refs/heads/main");
            }),
            ("the main head", |s| {
                s.replace_by_link("HEAD", "refs/heads/main");
            }),
            ("a ref that leads to another", |s| {
                s.write("refs/heads/gone", "ref: refs/heads/main\n");
            }),
            ("a ref that is a link", |s| {
                s.replace_by_link("refs/heads/gone", "main");
            }),
            ("a ref elsewhere", |s| {
                s.write("worktrees/gone/HEAD", "ref: refs/bisect/x\n");
            }),
            ("a ref outside", |s| {
                s.write("worktrees/gone/HEAD", "ref: refs/heads/../../HEAD\n");
            }),
            ("spaces in a head", |s| {
                s.write("worktrees/gone/HEAD", "ref:  refs/heads/main \n");
            }),
            ("a broken head", |s| {
                s.write("worktrees/gone/HEAD", "main\n");
            }),
            ("no head", |s| {
                fs::remove_file(s.root.join(".git/worktrees/gone/HEAD")).unwrap();
            }),
            ("a relative folder", |s| {
                s.write("worktrees/gone/gitdir", "../../../../a b/.git\n");
            }),
            ("a folder with a way back", |s| {
                s.write("worktrees/gone/gitdir", "/x/../y/.git\n");
            }),
            ("a folder of two lines", |s| {
                s.write("worktrees/gone/gitdir", "/x\n/.git\n");
            }),
            ("no folder", |s| s.write("worktrees/gone/gitdir", "")),
            ("a file among them", |s| s.write("worktrees/file", "")),
            ("a link among them", |s| {
                symlink("gone", s.root.join(".git/worktrees/link")).unwrap();
            }),
            ("a reason of two lines", |s| {
                s.write("worktrees/gone/locked", "a\nb\n");
            }),
            ("another checkout", |s| {
                s.add("config", "[core]\n\tworktree = /tmp\n");
            }),
            ("no checkout", |s| s.add("config", "[core]\n\tBare=yes\n")),
        ];
        for (what, change) in changes {
            let scratch = Scratch::new();
            assert!(scratch.plain().is_some(), "{what}");
            change(&scratch);
            assert_eq!(scratch.plain(), None, "{what}");
        }
    }
}

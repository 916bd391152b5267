//! A bare repository, and what a forge does in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use symphony_core::Timestamp;

/// Refuses pushes to protected branches, and to what only the forge writes.
const UPDATE_HOOK: &str = "#!/bin/sh
case $1 in
refs/pull/*)
    echo \"error: deny updating a hidden ref\" >&2
    exit 1
    ;;
esac
if grep -qxF \"$1\" \"$GIT_DIR/protected-branches\"; then
    echo \"error: GH006: Protected branch update failed for $1.\" >&2
    echo \"error: Changes must be made through a pull request.\" >&2
    exit 1
fi
";

/// Who a commit is by.
#[derive(Debug, Clone)]
pub(crate) struct Signed {
    pub(crate) name: String,
    pub(crate) at: Timestamp,
}

/// A bare repository with a branch `main`.
#[derive(Debug, Clone)]
pub(crate) struct GitStore {
    folder: PathBuf,
}

impl GitStore {
    /// Makes a repository below a folder, with one commit.
    pub(crate) fn make(parent: &Path) -> Self {
        let store = Self {
            folder: parent.join("repository.git"),
        };
        fs::create_dir_all(&store.folder).expect("the folder of a fake can be written");
        store.git(&["init", "--quiet", "--bare", "--initial-branch=main", "."]);
        for (name, value) in [
            ("http.receivepack", "true"),
            ("uploadpack.allowFilter", "true"),
            ("uploadpack.allowReachableSHA1InWant", "true"),
            ("gc.auto", "0"),
        ] {
            store.git(&["config", name, value]);
        }
        store.protect(&BTreeSet::new());
        let hook = store.folder.join("hooks").join("update");
        fs::create_dir_all(store.folder.join("hooks")).expect("a repository can have hooks");
        fs::write(&hook, UPDATE_HOOK).expect("a hook can be written");
        make_executable(&hook);
        store
    }

    /// Returns its folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Prepares git in the repository, without any configuration of the machine.
    #[expect(
        clippy::disallowed_methods,
        reason = "the fake is a program for tests: it owns the processes of its repository"
    )]
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command
            .args(arguments)
            .current_dir(&self.folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.folder)
            .env("GIT_CONFIG_NOSYSTEM", "1");
        command
    }

    /// Runs git, and returns what it prints.
    ///
    /// # Panics
    ///
    /// If git fails: what a fake does in its own repository has to work.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.run(arguments, "", None)
            .unwrap_or_else(|problem| unreachable!("git {arguments:?}: {problem}"))
    }

    fn run(
        &self,
        arguments: &[&str],
        input: &str,
        signed: Option<&Signed>,
    ) -> Result<String, String> {
        let mut command = self.command(arguments);
        if let Some(signed) = signed {
            let date = format!("@{} +0000", signed.at.as_second());
            for role in ["AUTHOR", "COMMITTER"] {
                command
                    .env(format!("GIT_{role}_NAME"), &signed.name)
                    .env(
                        format!("GIT_{role}_EMAIL"),
                        format!("{}@users.noreply.example", signed.name),
                    )
                    .env(format!("GIT_{role}_DATE"), &date);
            }
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("git is installed");
        let mut pipe = child.stdin.take().expect("the input is a pipe");
        // git ends early when it refuses what it is asked
        let _written = pipe.write_all(input.as_bytes());
        drop(pipe);
        let output = child.wait_with_output().expect("git can be waited for");
        let text = String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned();
        if output.status.success() {
            return Ok(text);
        }
        let problem = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(format!("{text}{problem}"))
    }

    /// Refuses pushes to these branches from now on, and to no others.
    pub(crate) fn protect(&self, branches: &BTreeSet<String>) {
        let lines = branches
            .iter()
            .map(|branch| format!("refs/heads/{branch}\n"));
        fs::write(
            self.folder.join("protected-branches"),
            lines.collect::<String>(),
        )
        .expect("the folder of a fake can be written");
    }

    /// Returns all branches with their commits.
    pub(crate) fn branches(&self) -> BTreeMap<String, String> {
        let format = "--format=%(objectname) %(refname:lstrip=2)";
        let text = self.git(&["for-each-ref", format, "refs/heads"]);
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        lines
            .map(|(commit, branch)| (branch.to_owned(), commit.to_owned()))
            .collect()
    }

    /// Commits one file to a branch, which is made from `main` if it does not exist, and returns the commit.
    pub(crate) fn commit_file(
        &self,
        branch: &str,
        path: &str,
        content: &str,
        signed: &Signed,
    ) -> String {
        let branches = self.branches();
        let parent = branches.get(branch).or_else(|| branches.get("main"));
        let blob = self
            .run(&["hash-object", "-w", "--stdin"], content, None)
            .expect("a file can be written");
        let index = self.folder.join("index.commit-file");
        let in_index = |arguments: &[&str]| {
            let mut command = self.command(arguments);
            let output = command.env("GIT_INDEX_FILE", &index).output();
            let output = output.expect("git is installed");
            assert!(output.status.success(), "git {arguments:?} works");
            String::from_utf8_lossy(&output.stdout)
                .trim_end()
                .to_owned()
        };
        in_index(&["read-tree", parent.map_or("--empty", String::as_str)]);
        in_index(&[
            "update-index",
            "--add",
            "--cacheinfo",
            &format!("100644,{blob},{path}"),
        ]);
        let tree = in_index(&["write-tree"]);
        let parents: Vec<&str> = parent.map(String::as_str).into_iter().collect();
        let commit = self.commit_tree(&tree, &parents, &format!("Change {path}"), signed);
        self.set_branch(branch, &commit);
        commit
    }

    pub(crate) fn set_branch(&self, branch: &str, commit: &str) {
        self.git(&["update-ref", &format!("refs/heads/{branch}"), commit]);
    }

    fn commit_tree(&self, tree: &str, parents: &[&str], message: &str, signed: &Signed) -> String {
        let mut arguments = vec!["commit-tree", tree];
        for parent in parents {
            arguments.extend(["-p", parent]);
        }
        self.run(&arguments, message, Some(signed))
            .expect("a tree can be committed")
    }

    /// Returns the tree of two commits' merge, if they do not conflict.
    fn merged_tree(&self, base: &str, head: &str) -> Option<String> {
        self.run(&["merge-tree", "--write-tree", base, head], "", None)
            .ok()
    }

    /// Returns whether two commits can be merged without a conflict.
    pub(crate) fn is_mergeable(&self, base: &str, head: &str) -> bool {
        self.merged_tree(base, head).is_some()
    }

    /// Makes the commit of a merge with two parents.
    pub(crate) fn merge(
        &self,
        base: &str,
        head: &str,
        message: &str,
        signed: &Signed,
    ) -> Option<String> {
        let tree = self.merged_tree(base, head)?;
        Some(self.commit_tree(&tree, &[base, head], message, signed))
    }

    /// Makes one commit of everything that a branch has.
    pub(crate) fn squash(
        &self,
        base: &str,
        head: &str,
        message: &str,
        signed: &Signed,
    ) -> Option<String> {
        let tree = self.merged_tree(base, head)?;
        Some(self.commit_tree(&tree, &[base], message, signed))
    }

    /// Repeats the commits of a branch on its base, without merges.
    pub(crate) fn rebase(&self, base: &str, head: &str, signed: &Signed) -> Option<String> {
        let range = format!("{base}..{head}");
        let commits = self.git(&["rev-list", "--reverse", "--no-merges", &range]);
        let mut at = base.to_owned();
        for commit in commits.lines() {
            let onto = format!("--merge-base={commit}^");
            let tree = self
                .run(
                    &["merge-tree", "--write-tree", &onto, &at, commit],
                    "",
                    None,
                )
                .ok()?;
            let message = self.git(&["show", "--no-patch", "--format=%B", commit]);
            at = self.commit_tree(&tree, &[&at], &message, signed);
        }
        Some(at)
    }

    /// Returns whether a commit is in the history of another.
    pub(crate) fn is_ancestor(&self, commit: &str, of: &str) -> bool {
        self.run(&["merge-base", "--is-ancestor", commit, of], "", None)
            .is_ok()
    }

    /// Returns whether a file differs between two commits.
    pub(crate) fn differs(&self, path: &str, old: &str, new: &str) -> bool {
        self.run(&["diff", "--quiet", old, new, "--", path], "", None)
            .is_err()
    }

    /// Counts commits, files, added and removed lines between two commits.
    pub(crate) fn size(&self, base: &str, head: &str) -> [u64; 4] {
        let commits = self.git(&["rev-list", "--count", &format!("{base}..{head}")]);
        let stat = self.git(&["diff", "--numstat", &format!("{base}...{head}")]);
        let column = |number: usize| -> u64 {
            let lines = stat.lines().filter_map(|line| line.split('\t').nth(number));
            lines.filter_map(|text| text.parse::<u64>().ok()).sum()
        };
        [
            commits.parse().unwrap_or_default(),
            stat.lines().count() as u64,
            column(0),
            column(1),
        ]
    }

    /// Returns whether a commit exists.
    pub(crate) fn has_commit(&self, commit: &str) -> bool {
        let object = format!("{commit}^{{commit}}");
        self.run(&["cat-file", "-e", &object], "", None).is_ok()
    }
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .expect("a hook can be made executable");
}

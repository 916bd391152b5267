//! A running forge.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use crate::git::{Gate, GitFault, GitServer, GitStore, Verdict, Wanted};
use crate::github::{FakeGithub, GithubWorld};

/// A running GitHub with a repository of git. What [`FakeGithub`] can do, it can do too.
///
/// Git has to trust [`FakeForge::authority`] (`GIT_SSL_CAINFO`) alone ([`FakeForge::no_authorities`], `GIT_SSL_CAPATH`), and gives [`FakeGithub::TOKEN`] as password.
#[derive(Debug)]
pub struct FakeForge {
    github: FakeGithub,
    git: GitServer,
    // the last one: its folder is needed until both servers have ended
    _folder: tempfile::TempDir,
}

impl FakeForge {
    /// Starts one, with the branch `main` and one commit in it.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().expect("there is a folder for temporary files");
        let store = GitStore::make(folder.path());
        let github = FakeGithub::start();
        github.with(|world| world.take_repository(store.clone()));
        let handle = github.handle();
        let gate: Gate = Arc::new(move |wanted| {
            handle.with(|world| (world.verdict(wanted), world.next_git_fault(wanted)))
        });
        let git = GitServer::start(store, folder.path(), gate);
        Self {
            github,
            git,
            _folder: folder,
        }
    }

    /// Returns the address of the repository for git.
    pub fn git_address(&self) -> String {
        let name = self.github.with(|world| world.repository.name.clone());
        format!("{}/acme/{name}.git", self.git.address())
    }

    /// Returns the file with the certificate that git has to trust.
    pub fn authority(&self) -> &Path {
        self.git.authority()
    }

    /// Returns an empty folder, in which git looks for further certificates. Reading the system's would take most of a call.
    pub fn no_authorities(&self) -> &Path {
        self.git.no_authorities()
    }

    /// Reads or changes what exists, after the branches of git were looked at.
    pub fn with<T>(&self, act: impl FnOnce(&mut GithubWorld) -> T) -> T {
        self.github.with(|world| {
            world.look_at_branches();
            let result = act(world);
            world.look_at_branches();
            result
        })
    }

    /// Runs git in the forge's repository, and returns what it prints.
    pub fn git(&self, arguments: &[&str]) -> String {
        self.git.store().git(arguments)
    }
}

impl Deref for FakeForge {
    type Target = FakeGithub;

    fn deref(&self) -> &FakeGithub {
        &self.github
    }
}

impl GithubWorld {
    /// Lets the next requests of git that do the work go wrong, this many of them. Git itself sends one again
    /// if a connection that it kept was cut.
    pub const fn fail_git(&mut self, fault: GitFault, times: usize) {
        self.forge.git_fault = Some((fault, times));
    }

    fn next_git_fault(&mut self, wanted: &Wanted) -> Option<GitFault> {
        let (fault, times) = self.forge.git_fault?;
        if !wanted.is_work || times == 0 {
            return None;
        }
        self.forge.git_fault = Some((fault, times - 1));
        Some(fault)
    }

    /// Decides about a request of git.
    fn verdict(&self, wanted: &Wanted) -> Verdict {
        let repository = wanted.repository.as_str();
        let is_push = wanted.is_push;
        let (owner, name) = repository.split_once('/').unwrap_or_default();
        let missing = Verdict::Refuse(404, "Repository not found.".to_owned());
        if !self.is_repository(owner, name) && !self.is_old_name(owner, name) {
            return missing;
        }
        let Some(password) = &wanted.password else {
            let is_open = !self.repository.is_private && !is_push;
            return if is_open {
                Verdict::Go(String::new())
            } else {
                Verdict::Ask
            };
        };
        let Some(token) = self.tokens.get(password) else {
            return Verdict::Ask;
        };
        let role = self.repository.roles.get(&token.user);
        let user = self.users.get(&token.user).cloned().unwrap_or_default();
        if self.repository.is_private && role.is_none() {
            return missing;
        }
        let may_push = role == Some(&crate::github::Role::Write)
            && !token.is_read_only
            && !self.repository.is_archived;
        if is_push && !may_push {
            let text = format!("Permission to {repository}.git denied to {user}.");
            return Verdict::Refuse(403, text);
        }
        Verdict::Go(user)
    }
}

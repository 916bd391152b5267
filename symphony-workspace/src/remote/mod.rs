//! A remote of the repository: what its branches are at, pushing one, and fetching one.
//!
//! The user's own refs of the remote (`refs/remotes/…`) stay as they are: what Symphony fetches is below `refs/symphony/remote/`.

mod answer;
pub(crate) mod no_answer;
mod url;

use std::collections::BTreeMap;
use std::ffi::OsString;

use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::{Call, NetworkAnswer, Waiting};
use crate::repository::{BranchName, Repository};

pub use answer::Pushed;
pub use no_answer::NoAnswer;
pub(crate) use url::server_of;
pub use url::{RemoteAddress, read_address};

/// The prefix of the refs of what was fetched. The remote and the branch follow.
const FETCHED: &str = "refs/symphony/remote/";
/// Options of a fetch that touches the named refs and nothing else.
const FETCH_OPTIONS: &[&str] = &[
    "--quiet",
    "--no-tags",
    "--no-recurse-submodules",
    "--no-auto-maintenance",
    "--no-write-fetch-head",
    "--refmap=",
];

/// A remote of a repository, reached as the user reaches it.
#[derive(Debug)]
pub struct Remote<'a> {
    repository: &'a Repository,
    name: &'a str,
    environment: &'a BTreeMap<OsString, OsString>,
    waiting: Waiting,
}

impl<'a> Remote<'a> {
    /// Names a remote. `environment` is the user's: it has what a push needs, such as the socket of an ssh agent.
    pub const fn new(
        repository: &'a Repository,
        name: &'a str,
        environment: &'a BTreeMap<OsString, OsString>,
    ) -> Self {
        Self {
            repository,
            name,
            environment,
            waiting: Waiting::Few,
        }
    }

    /// Names a remote that a tick calls, for which all projects wait.
    pub(crate) const fn of_tick(
        repository: &'a Repository,
        name: &'a str,
        environment: &'a BTreeMap<OsString, OsString>,
    ) -> Self {
        Self {
            waiting: Waiting::Tick,
            ..Self::new(repository, name, environment)
        }
    }

    /// Returns the address that pushes go to, as the user configured it.
    ///
    /// # Errors
    /// When git fails; a remote that does not exist is [`WorkspaceError::NoRemote`].
    pub fn address(&self) -> Result<String, WorkspaceError> {
        let found = self.call(Call::Ask, "remote", &["get-url", "--push", self.name])?;
        match (found.code, found.stdout.lines().next()) {
            (Some(0), Some(address)) => Ok(address.to_owned()),
            _ => Err(WorkspaceError::NoRemote {
                name: self.name.to_owned(),
                place: self.repository.root().to_owned(),
            }),
        }
    }

    /// Returns the commit that a branch is at there; `None` if it has no such branch.
    ///
    /// # Errors
    /// When the remote does not answer.
    pub fn head(&self, branch: &BranchName) -> Result<Option<CommitId>, WorkspaceError> {
        self.reference(&branch.reference())
    }

    /// Asks for something that the remote need not have, to see that it answers.
    pub(crate) fn ask(&self) -> Result<(), WorkspaceError> {
        self.reference("HEAD").map(drop)
    }

    /// Returns the commit that a ref is at there; `None` if it has no such ref.
    pub(crate) fn reference(&self, reference: &str) -> Result<Option<CommitId>, WorkspaceError> {
        let found = self.call(Call::Ask, "ls-remote", &["--refs", self.name, reference])?;
        let listed = self.answered("ls-remote", found)?;
        answer::head_in(&listed, reference)
    }

    /// Lists the refs in some folders of refs there, each of which ends with a slash, and the commits that they are at.
    pub(crate) fn references(
        &self,
        folders: &[&str],
    ) -> Result<Vec<(String, CommitId)>, WorkspaceError> {
        let patterns: Vec<String> = folders.iter().map(|folder| format!("{folder}*")).collect();
        let mut arguments = vec!["--refs", self.name];
        arguments.extend(patterns.iter().map(String::as_str));
        let found = self.call(Call::List, "ls-remote", &arguments)?;
        let listed = self.answered("ls-remote", found)?;
        answer::references(&listed)
    }

    /// Returns the branch that is checked out there; `None` if the head is detached.
    pub(crate) fn head_branch(&self) -> Result<Option<BranchName>, WorkspaceError> {
        let found = self.call(Call::Ask, "ls-remote", &["--symref", self.name, "HEAD"])?;
        let listed = self.answered("ls-remote", found)?;
        answer::symbolic_head(&listed)
            .map(BranchName::parse)
            .transpose()
    }

    /// Makes the local sides of refspecs as the remote's: refs that are gone there go here, too.
    pub(crate) fn mirror(&self, refspecs: &[String]) -> Result<(), WorkspaceError> {
        let mut arguments = [FETCH_OPTIONS, &["--prune", self.name]].concat();
        arguments.extend(refspecs.iter().map(String::as_str));
        let found = self.call(Call::Fetch, "fetch", &arguments)?;
        self.answered("fetch", found).map(drop)
    }

    /// Fetches a branch with what is missing of its history, and returns the commit that it is at.
    ///
    /// # Errors
    /// When the remote does not answer or has no such branch.
    pub fn fetch(&self, branch: &BranchName) -> Result<CommitId, WorkspaceError> {
        let kept = format!("{FETCHED}{}/{branch}", self.name);
        let refspec = format!("+{}:{kept}", branch.reference());
        let mut arguments = FETCH_OPTIONS.to_vec();
        arguments.extend([self.name, &refspec]);
        let found = self.call(Call::Fetch, "fetch", &arguments)?;
        self.answered("fetch", found)?;
        self.repository
            .reader()
            .reference(&kept)?
            .ok_or_else(|| WorkspaceError::GitAnswer {
                command: "git fetch".to_owned(),
                expected: "a fetched branch",
                found: kept,
            })
    }

    /// Pushes a commit to a branch, if the branch is still where it was found: `None` if it did not exist.
    ///
    /// # Errors
    /// When the remote does not answer. One that refuses the push is an answer.
    pub fn push(
        &self,
        commit: &CommitId,
        branch: &BranchName,
        over: Option<&CommitId>,
    ) -> Result<Pushed, WorkspaceError> {
        self.push_reference(commit, &branch.reference(), over)
    }

    /// Pushes a commit to a ref in the same way.
    pub(crate) fn push_reference(
        &self,
        commit: &CommitId,
        reference: &str,
        over: Option<&CommitId>,
    ) -> Result<Pushed, WorkspaceError> {
        let expected = over.map_or("", CommitId::as_str);
        let lease = format!("--force-with-lease={reference}:{expected}");
        let refspec = format!("{commit}:{reference}");
        self.send(&[&lease, self.name, &refspec])
    }

    /// Removes a ref there, if it is still where it was found.
    pub(crate) fn delete_reference(
        &self,
        reference: &str,
        at: &CommitId,
    ) -> Result<Pushed, WorkspaceError> {
        let lease = format!("--force-with-lease={reference}:{at}");
        let refspec = format!(":{reference}");
        self.send(&[&lease, self.name, &refspec])
    }

    /// Pushes a commit to a branch that has to contain what is there: nothing of it is replaced.
    ///
    /// # Errors
    /// As [`Remote::push`].
    pub fn advance(
        &self,
        commit: &CommitId,
        branch: &BranchName,
    ) -> Result<Pushed, WorkspaceError> {
        let refspec = format!("{commit}:{}", branch.reference());
        self.send(&[self.name, &refspec])
    }

    fn send(&self, arguments: &[&str]) -> Result<Pushed, WorkspaceError> {
        let mut all = vec![
            "--porcelain",
            "--no-verify",
            "--no-follow-tags",
            "--no-signed",
        ];
        all.extend(arguments);
        let found = self.call(Call::Push, "push", &all)?;
        match answer::pushed(&found.stdout) {
            Some(pushed) => Ok(pushed),
            None => self.answered("push", found).map(|_| Pushed::Done),
        }
    }

    fn call(
        &self,
        kind: Call,
        subcommand: &str,
        arguments: &[&str],
    ) -> Result<NetworkAnswer, WorkspaceError> {
        let git = &self.repository.git;
        git.over_network(self.environment, kind, self.waiting, subcommand, arguments)
    }

    fn answered(&self, call: &str, found: NetworkAnswer) -> Result<String, WorkspaceError> {
        if found.code == Some(0) {
            return Ok(found.stdout);
        }
        if let Some(bytes_max) = found.cut_at {
            return Err(WorkspaceError::AnswerCut {
                name: answer::shown(self.name),
                call: format!("git {call}"),
                bytes_max,
            });
        }
        if answer::is_other_format(&found.stderr) {
            let name = answer::shown(self.name);
            return Err(WorkspaceError::OtherObjectFormat(name));
        }
        Err(WorkspaceError::RemoteSilent {
            name: self.name.to_owned(),
            call: format!("git {call}"),
            why: NoAnswer::of(&found.stderr),
            detail: answer::shown(&found.stderr),
        })
    }
}

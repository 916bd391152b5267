//! What a command that did not succeed says, and its exit code (spec: cli).
//!
//! Libraries state facts; this is the one place that turns their typed errors into an exit code and a hint. An error is
//! one sentence, `failed to …: cause`, and a hint says what to type next.

mod plan;

use std::error::Error;
use std::fmt;
use std::io::{self, Write as _};
use std::process::ExitCode;

use owo_colors::OwoColorize as _;
use symphony_core::config::ConfigProblem;
use symphony_core::identity::IdentityProblem;
use symphony_core::issue::IssueStatus;
use symphony_core::nearest::nearest;
use symphony_mcp::McpError;
use symphony_runner::RunnerError;
use symphony_runner::output::neutralised;
use symphony_store::StoreError;
use symphony_workspace::WorkspaceError;
use symphony_workspace::config_file::ConfigFileError;

pub(crate) use plan::plan_hint;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// What was asked for was done.
    Done,
    /// It failed.
    Failed,
    /// It was not understood.
    Usage,
    /// Something that was named does not exist.
    NotFound,
    /// A rule forbids it.
    Refused,
    /// The database or another tick was busy for longer than was waited.
    Busy,
}

impl Exit {
    /// Returns the exit code.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Refused => 4,
            Self::Busy => 5,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// An error that the command line itself finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stop {
    exit: Exit,
    message: String,
    hint: Option<String>,
}

impl Stop {
    /// Makes an error; the message fits "failed to …", or completes a context behind a colon.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            message: message.into(),
            hint: None,
        }
    }

    /// Adds what to type next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Stop {}

/// Returns a hint with the name that was probably meant before what lists them all.
pub(crate) fn did_you_mean<'a>(
    found: &str,
    names: impl IntoIterator<Item = &'a str>,
    listing: &str,
) -> String {
    match nearest(found, names) {
        Some(name) => format!("did you mean `{name}`? {listing}"),
        None => listing.to_owned(),
    }
}

/// Writes an error to standard error and returns the exit code that belongs to it.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        // the reader has seen enough
        return Exit::Done.into();
    }
    let verdict = judge(error);
    let mut stderr = anstream::stderr().lock();
    let text = sentence(error);
    let mut lines = format!(
        "{} failed to {}\n",
        "error:".red().bold(),
        neutralised(&text)
    );
    for problem in problems(error).iter().skip(1) {
        lines.push_str(&format!("  also: {}\n", neutralised(&problem.to_string())));
    }
    if let Some(hint) = verdict.hint {
        lines.push_str(&format!(
            "{} {}\n",
            "hint:".cyan().bold(),
            neutralised(&hint)
        ));
    }
    // when standard error is gone there is nobody left to tell
    let _unwritten = stderr.write_all(lines.as_bytes());
    verdict.exit.into()
}

/// Joins an error and its causes; a cause that its parent repeats is left out, as is one that only puts a number in front.
fn sentence(error: &anyhow::Error) -> String {
    let mut text = String::new();
    let mut last = String::new();
    for cause in error.chain() {
        let part = cause.to_string();
        if text.contains(part.trim()) || !last.is_empty() && part.ends_with(&last) {
            continue;
        }
        last.clone_from(&part);
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(part.trim());
    }
    text
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Exit code and hint of an error.
#[derive(Debug, PartialEq, Eq)]
struct Verdict {
    exit: Exit,
    hint: Option<String>,
}

impl Verdict {
    fn new(exit: Exit, hint: impl Into<String>) -> Self {
        Self {
            exit,
            hint: Some(hint.into()),
        }
    }

    const fn plain(exit: Exit) -> Self {
        Self { exit, hint: None }
    }
}

/// Returns the exit code that an error leads to.
pub(crate) fn exit_of(error: &anyhow::Error) -> Exit {
    judge(error).exit
}

fn judge(error: &anyhow::Error) -> Verdict {
    error
        .chain()
        .find_map(judge_cause)
        .unwrap_or(Verdict::plain(Exit::Failed))
}

/// Judges one error of a chain; none when its type says nothing.
fn judge_cause(cause: &(dyn Error + 'static)) -> Option<Verdict> {
    if let Some(stop) = cause.downcast_ref::<Stop>() {
        return Some(Verdict {
            exit: stop.exit,
            hint: stop.hint.clone(),
        });
    }
    if let Some(error) = cause.downcast_ref::<RunnerError>() {
        return Some(of_runner(error));
    }
    if let Some(error) = cause.downcast_ref::<McpError>() {
        return Some(of_mcp(error));
    }
    let store = cause.downcast_ref::<StoreError>().map(of_store);
    let workspace = || cause.downcast_ref::<WorkspaceError>().map(of_workspace);
    let config = || cause.downcast_ref::<ConfigFileError>().map(of_config);
    let plan = || plan::judge_cause(cause);
    store.or_else(workspace).or_else(config).or_else(plan)
}

fn of_runner(error: &RunnerError) -> Verdict {
    match error {
        RunnerError::Store(error) => of_store(error),
        RunnerError::Config(error) => of_config(error),
        RunnerError::Workspace(error) => of_workspace(error),
        RunnerError::Mcp(error) => of_mcp(error),
        RunnerError::PlanBusy { plan } => Verdict::new(
            Exit::Busy,
            format!("`symphony plan status --plan {plan}` shows how far it is"),
        ),
        RunnerError::Refused { .. } => Verdict::plain(Exit::Refused),
        RunnerError::Identity { problem, .. } => {
            Verdict::new(Exit::Refused, identity_mend(problem))
        }
        RunnerError::Provider(_) => Verdict::new(
            Exit::Failed,
            "`symphony doctor` shows which agents' CLIs are found, `symphony config set provider NAME` chooses one",
        ),
        RunnerError::PromptFiles { .. } => Verdict::new(
            Exit::Failed,
            "mend these files, or remove them: the shipped prompts are used then",
        ),
        RunnerError::StillAlive { run, .. } => Verdict::new(
            Exit::Failed,
            format!("`symphony runs logs {run}` shows what it does; type the command again"),
        ),
        _ => Verdict::plain(Exit::Failed),
    }
}

fn of_mcp(error: &McpError) -> Verdict {
    match error {
        McpError::Store(error) => of_store(error),
        _ => Verdict::plain(Exit::Failed),
    }
}

/// The way back when the database is lost or damaged.
const RESTORE: &str = "`symphony db restore` puts the newest backup back (`--list` lists them), `symphony db restore --empty` begins again; both keep branches and worktrees";

/// Says what to do about a database that must not be used.
pub(crate) fn identity_mend(problem: &IdentityProblem) -> String {
    match problem {
        IdentityProblem::Lost {
            marker: Some(marker),
            ..
        } if marker.database.is_file() => format!(
            "its database is {}: `symphony config set database '{}'` uses it again; otherwise {RESTORE}",
            marker.database.display(),
            marker.database.display()
        ),
        IdentityProblem::Lost { .. } | IdentityProblem::Stranger { .. } => RESTORE.to_owned(),
        IdentityProblem::Foreign { .. } => format!(
            "put the right file back, or name it with `symphony config set database PATH`; otherwise {RESTORE}"
        ),
        IdentityProblem::Copy { .. } => {
            "`symphony db restore --empty` makes the copy a project of its own; its branches and worktrees stay as they are"
                .to_owned()
        }
    }
}

/// Says what to do about a database that can not be used.
pub(crate) const fn database_mend(error: &StoreError) -> &'static str {
    match error {
        StoreError::NewerSchema { .. } => {
            "install the newest Symphony (`symphony --version` shows which one this is): an older one cannot use this database"
        }
        StoreError::Open { .. } => {
            "look at the file and at its folder with `ls -la`: you have to own both, and be allowed to read and write them"
        }
        StoreError::DiskFull(_) => {
            "free some space: `df -h .` shows what is left; the database is whole, and works again then"
        }
        StoreError::Busy(_) => "`symphony status` shows what is at work; try again when it is over",
        _ => RESTORE,
    }
}

/// The move that is a verdict.
const REVIEW_TO_TODO: (IssueStatus, Option<IssueStatus>) =
    (IssueStatus::Review, Some(IssueStatus::Todo));

fn of_store(error: &StoreError) -> Verdict {
    match error {
        StoreError::NotFound { what, .. } => Verdict::new(Exit::NotFound, listing(what)),
        StoreError::Transition { id, source } if (source.from, source.to) == REVIEW_TO_TODO => {
            Verdict::new(
                Exit::Refused,
                format!(
                    "`symphony pr reject {id} --feedback TEXT` sends it back to an agent, `symphony pr close {id}` without a word"
                ),
            )
        }
        StoreError::Transition { id, source }
            if source.to == Some(IssueStatus::Done) && !source.from.is_terminal() =>
        {
            Verdict::new(
                Exit::Refused,
                format!(
                    "`symphony issue close {id} --done --reason TEXT` closes it without a review"
                ),
            )
        }
        StoreError::Transition { id, source } => match source.allowed.first() {
            Some(status) => Verdict::new(
                Exit::Refused,
                format!(
                    "for example `symphony issue move {id} {status}`; `symphony explain {id}` says what it waits for"
                ),
            ),
            None => Verdict::plain(Exit::Refused),
        },
        StoreError::PlanTransition { plan, source } => plan::of_order(plan, source),
        StoreError::Field(_) | StoreError::Refused { .. } | StoreError::Superseded { .. } => {
            Verdict::plain(Exit::Refused)
        }
        StoreError::Busy(_) => Verdict::new(
            Exit::Busy,
            "type the command again; `symphony status` shows what is at work",
        ),
        StoreError::NewerSchema { .. }
        | StoreError::Open { .. }
        | StoreError::NotADatabase { .. }
        | StoreError::Empty { .. }
        | StoreError::Damaged(_) => Verdict::new(Exit::Failed, database_mend(error)),
        StoreError::InvalidRow { .. } => Verdict::new(
            Exit::Failed,
            "`symphony doctor` checks the database and says how to mend it",
        ),
        StoreError::DiskFull(_) => {
            Verdict::new(Exit::Failed, "free some space and type the command again")
        }
        _ => Verdict::plain(Exit::Failed),
    }
}

fn of_workspace(error: &WorkspaceError) -> Verdict {
    match error {
        WorkspaceError::GitMissing { .. } => {
            Verdict::new(Exit::Failed, "install git 2.38 or newer")
        }
        WorkspaceError::NotARepository { .. } => Verdict::new(
            Exit::NotFound,
            "go to a repository, name one with `-C DIR`, or make one with `git init`",
        ),
        WorkspaceError::LinkedWorktree { common_dir, .. } => {
            let main = common_dir.parent().unwrap_or(common_dir);
            Verdict::new(
                Exit::Failed,
                format!("`symphony -C '{}' …` runs there", main.display()),
            )
        }
        WorkspaceError::Bare { path } => Verdict::new(
            Exit::Failed,
            format!(
                "go to a clone with a checkout; `git clone '{}'` makes one",
                path.display()
            ),
        ),
        WorkspaceError::NoCommits { .. } => Verdict::new(
            Exit::Failed,
            "`git commit --allow-empty -m 'first commit'` makes one",
        ),
        WorkspaceError::NoDefaultBranch { .. } | WorkspaceError::BranchMissing { .. } => {
            Verdict::new(
                Exit::Failed,
                "`symphony config set base_branch NAME` says which branch work starts from",
            )
        }
        WorkspaceError::FilterMissing { program, .. } => Verdict::new(
            Exit::Failed,
            format!(
                "install `{program}`, or put its folder into PATH; `symphony doctor` says more"
            ),
        ),
        WorkspaceError::Conflict { base, head, .. } => Verdict::new(
            Exit::Refused,
            format!(
                "`symphony pr reject {} --feedback 'merge {base} and resolve the conflicts'` gives it back to an agent",
                head.strip_prefix("symphony/").unwrap_or("ID")
            ),
        ),
        WorkspaceError::CheckoutDirty { .. } => Verdict::new(
            Exit::Refused,
            "commit these changes, or put them away with `git stash`, and merge again",
        ),
        WorkspaceError::RefMoved { .. } => Verdict::new(Exit::Refused, "type the command again"),
        WorkspaceError::Unrelated { .. } | WorkspaceError::Tampered { .. } => {
            Verdict::plain(Exit::Refused)
        }
        WorkspaceError::FileMissing { .. } => Verdict::plain(Exit::NotFound),
        WorkspaceError::StatuslineTaken { .. } => Verdict::new(
            Exit::Refused,
            "remove it from the file, or let your own script print what `symphony plan statusline` prints",
        ),
        WorkspaceError::LockTimeout { .. } => Verdict::new(
            Exit::Busy,
            "type the command again; `symphony status` shows what is at work",
        ),
        _ => Verdict::plain(Exit::Failed),
    }
}

/// Names the command that lists things of a kind.
fn listing(what: &str) -> String {
    let command = match what {
        "run" => "symphony runs list",
        "pull request" => "symphony pr list",
        "learning" => "symphony learnings list",
        "project" => "symphony init",
        "plan" => "symphony plan list",
        _ => "symphony issue list",
    };
    if what == "project" {
        format!("`{command}` in a repository makes it one")
    } else {
        format!("`{command}` shows what there is")
    }
}

fn of_config(error: &ConfigFileError) -> Verdict {
    match error {
        ConfigFileError::Invalid { .. } => Verdict::new(
            Exit::Failed,
            "`symphony config check` lists all problems, `symphony config schema` what is allowed",
        ),
        ConfigFileError::NotFound { .. } => Verdict::new(
            Exit::NotFound,
            "`--config` and SYMPHONY_CONFIG must name a file; without them the nearest symphony.config.json is used",
        ),
        ConfigFileError::Key(_) => Verdict::new(
            Exit::Usage,
            "a key is a dotted path such as `max_retries` or `gates[0].command`; `symphony config show` lists them",
        ),
        ConfigFileError::ChangedMeanwhile { .. } => {
            Verdict::new(Exit::Failed, "type the command again")
        }
        _ => Verdict::plain(Exit::Failed),
    }
}

fn problems(error: &anyhow::Error) -> &[ConfigProblem] {
    error
        .chain()
        .find_map(|cause| match cause.downcast_ref::<RunnerError>() {
            Some(RunnerError::Config(error)) => Some(error.problems()),
            _ => cause
                .downcast_ref::<ConfigFileError>()
                .map(ConfigFileError::problems),
        })
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;
    use symphony_core::issue::{IssueState, Review, human_move};

    use super::*;

    #[test]
    fn each_kind_of_error_has_its_exit_code() {
        let transition =
            human_move(&IssueState::Todo, IssueStatus::Done, Review::None).unwrap_err();
        let not_found = StoreError::NotFound {
            what: "run",
            id: "x".to_owned(),
        };
        let table = [
            (anyhow::Error::from(not_found), 3),
            (
                StoreError::Transition {
                    id: "A-1".to_owned(),
                    source: transition,
                }
                .into(),
                4,
            ),
            (
                StoreError::Refused {
                    reason: "no".to_owned(),
                }
                .into(),
                4,
            ),
            (Stop::new(Exit::Busy, "wait").into(), 5),
            (ConfigFileError::NotFound { path: "x".into() }.into(), 3),
            (
                RunnerError::Refused {
                    reason: "no".to_owned(),
                }
                .into(),
                4,
            ),
            (
                RunnerError::from(StoreError::Refused {
                    reason: "no".to_owned(),
                })
                .into(),
                4,
            ),
            (
                WorkspaceError::NotARepository { path: "/".into() }.into(),
                3,
            ),
            (io::Error::other("disk").into(), 1),
        ];
        for (error, code) in table {
            let text = error.to_string();
            assert_eq!(judge(&error.context("do it")).exit.code(), code, "{text}");
        }
    }

    #[test]
    fn a_cause_that_is_repeated_is_said_once() {
        let transition =
            human_move(&IssueState::Todo, IssueStatus::Done, Review::None).unwrap_err();
        let error = StoreError::Transition {
            id: "A-1".to_owned(),
            source: transition,
        };
        let error = Err::<(), _>(error)
            .context("move A-1 to `done`")
            .unwrap_err();
        insta::assert_snapshot!(sentence(&error), @"move A-1 to `done`: A-1: an issue in `todo` can not move to `done`; from `todo` a human can move it to `backlog`, `cancelled`");
    }
}

//! From the typed errors of the libraries to an exit code and a hint.

use std::error::Error;
use std::path::Path;

use symphony_core::command_line::shell_quoted;
use symphony_core::config::Database;
use symphony_core::identity::IdentityProblem;
use symphony_core::issue::IssueStatus;
use symphony_core::outside::reject_for_conflict;
use symphony_mcp::McpError;
use symphony_runner::RunnerError;
use symphony_runner::repository::BaseProblem;
use symphony_runner::worker::WorkerRefusal;
use symphony_store::StoreError;
use symphony_workspace::WorkspaceError;
use symphony_workspace::config_file::ConfigFileError;

use super::message::message_hint;
use super::place::{database_hint, project_hint};
use super::provider::provider_fix;
use super::review::{merge_hint, review_hint};
use super::session::session_hint;
use super::verdict::Verdict;
use super::{Exit, Stop, plan};

/// Returns the exit code and the hint of the first cause whose type says something.
pub(super) fn judge(error: &anyhow::Error) -> Verdict {
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
        RunnerError::NotMerged(error) => Verdict::refused(merge_hint(error)),
        RunnerError::Session(error) => Verdict::refused(Some(session_hint(error))),
        RunnerError::Plan(error) => Verdict::refused(plan::run_hint(error)),
        RunnerError::Database(error) => Verdict::refused(database_hint(error)),
        RunnerError::Worker(error) => Verdict::refused(worker_hint(error)),
        RunnerError::RunIsLive { run, .. } => Verdict::new(
            Exit::Refused,
            format!("end it first with `symphony runs cancel {run}`"),
        ),
        RunnerError::PublishNotConfigured => Verdict::new(
            Exit::Refused,
            "set `publish` in the configuration (see examples/publish)",
        ),
        RunnerError::Refused { .. }
        | RunnerError::NoCommit { .. }
        | RunnerError::Reopened { .. }
        | RunnerError::GatesNotStarted { .. } => Verdict::plain(Exit::Refused),
        RunnerError::Identity { problem, database } => {
            Verdict::new(Exit::Refused, identity_fix(problem, database))
        }
        RunnerError::Provider(_) => Verdict::new(Exit::Failed, provider_fix(error)),
        RunnerError::PromptFiles { .. } => Verdict::new(
            Exit::Failed,
            "fix these files, or remove them to use the shipped prompts",
        ),
        RunnerError::StillAlive { run, .. } => Verdict::new(
            Exit::Failed,
            format!(
                "`symphony runs cancel --force {run}` kills its supervisor; then run the command again"
            ),
        ),
        _ => Verdict::plain(Exit::Failed),
    }
}

fn worker_hint(error: &WorkerRefusal) -> Option<String> {
    let hint = match error {
        WorkerRefusal::FileDatabase { .. } => {
            "set `database` to `postgres://USER@HOST/DATABASE` in ~/.config/symphony/config.json, as docs/scale-out.md describes"
        }
        WorkerRefusal::Second { .. } => {
            "send SIGTERM to the other worker, which ends it after its last run; or give this one another `--data-dir`"
        }
        WorkerRefusal::NoFolder => "name one with `--data-dir DIR`",
        WorkerRefusal::NoHostName { .. } => "name one with `--host NAME`",
        WorkerRefusal::NotHandedOver { .. } => {
            "run `symphony tick` on the host of the project first"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

fn of_mcp(error: &McpError) -> Verdict {
    match error {
        McpError::Store(error) => of_store(error),
        _ => Verdict::plain(Exit::Failed),
    }
}

/// The way back when the database is lost or damaged.
const RESTORE: &str = "`symphony db restore` restores the newest backup (`--list` shows them all), `symphony db \
                       restore --empty` starts with an empty database; both keep branches and worktrees";

/// Says whether a repository's database is in another place than the one that is configured, where it can be used.
fn is_elsewhere(noted: &Path, configured: &Database) -> bool {
    let place = |path: &Path| path.canonicalize().unwrap_or_else(|_gone| path.to_owned());
    let has_content = noted
        .metadata()
        .is_ok_and(|found| found.is_file() && found.len() > 0);
    has_content && configured.file().map(place) != Some(place(noted))
}

/// Says what to do about a database that must not be used.
pub(crate) fn identity_fix(problem: &IdentityProblem, configured: &Database) -> String {
    match problem {
        IdentityProblem::Lost {
            marker: Some(marker),
            ..
        } if is_elsewhere(&marker.database, configured) => format!(
            "its database is {}: `symphony config set database '{}'` uses it again; otherwise {RESTORE}",
            marker.database.display(),
            marker.database.display()
        ),
        IdentityProblem::Lost { .. } | IdentityProblem::Stranger { .. } => RESTORE.to_owned(),
        IdentityProblem::Foreign { .. } => format!(
            "put the right file back, or name it with `symphony config set database PATH`; otherwise {RESTORE}"
        ),
        IdentityProblem::Older { .. } => format!(
            "put the newer file back if you have it; otherwise {RESTORE}. `symphony db restore --keep` continues with \
             this older copy: later records are lost, but no issue number is used twice. If you did not replace the \
             file, check the two files that record how far the database had got, since agents can change them: \
             `symphony.mark.json` next to the database, and `symphony-mark.json` in the git folder"
        ),
        IdentityProblem::Copy { .. } => {
            "`symphony db restore --empty` makes the copy a project of its own; its branches and worktrees stay as they are"
                .to_owned()
        }
    }
}

/// Says what to do about a database that cannot be used.
pub(crate) const fn database_fix(error: &StoreError) -> &'static str {
    match error {
        StoreError::NewerSchema { .. } => {
            "install the newest Symphony (`symphony --version` shows which one this is): an older version cannot use \
             this database"
        }
        StoreError::OlderSchema { .. } => {
            "the owner of its tables runs `symphony db init` with this version; hosts with an older version cannot use it afterwards"
        }
        StoreError::Server { .. } | StoreError::NoAnswer { .. } => {
            "`symphony doctor` checks the server, and docs/scale-out.md describes how to set it up"
        }
        StoreError::NoPostgres { .. } => {
            "install it with `cargo install --path symphony-cli --features postgres`"
        }
        StoreError::Open { .. } => {
            "check the file and its folder with `ls -la`: you must own both and be able to read and write them"
        }
        StoreError::DiskFull(_) => {
            "free some space (`df -h .` shows how much is left); the database is intact and will work again"
        }
        StoreError::Busy(_) => {
            "`symphony status` shows what is running; try again when it has ended"
        }
        StoreError::Unreachable(_) => SERVER,
        StoreError::Overtaxed(_) => {
            "look at the server's load, memory, disk and log; then run the command again"
        }
        StoreError::Unknown(_) => LOOK_FIRST,
        _ => RESTORE,
    }
}

/// What to do when the database's server is not reached.
const SERVER: &str =
    "start the server, or check the network and the address; then run the command again";
/// What to do after a write that may have been stored.
const LOOK_FIRST: &str = "check what was stored before you run the command again: `symphony events` shows the newest entries";

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
                    "`symphony pr reject {id} --feedback TEXT` sends it back to an agent with feedback, `symphony pr close {id}` \
                     without feedback"
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
        StoreError::Transition { id, source }
            if source.from.is_terminal() || source.to == Some(source.from) =>
        {
            Verdict::new(Exit::Refused, ways_from(id, source.from))
        }
        StoreError::Transition { id, source } => match source.allowed.first() {
            Some(status) => Verdict::new(
                Exit::Refused,
                format!(
                    "for example `symphony issue move {id} {status}`; `symphony explain {id}` shows what it is \
                     waiting for"
                ),
            ),
            None => Verdict::plain(Exit::Refused),
        },
        StoreError::PlanTransition { plan, source } => plan::of_order(plan, source),
        StoreError::Review(error) => Verdict::refused(review_hint(error)),
        StoreError::Plan(error) => Verdict::refused(plan::record_hint(error)),
        StoreError::Issue(error) => Verdict::refused(message_hint(error)),
        StoreError::Project(error) => Verdict::refused(project_hint(error)),
        StoreError::Busy(_) => Verdict::new(
            Exit::Busy,
            "run the command again; `symphony status` shows what is running",
        ),
        StoreError::NewerSchema { .. }
        | StoreError::OlderSchema { .. }
        | StoreError::Server { .. }
        | StoreError::NoAnswer { .. }
        | StoreError::NoPostgres { .. }
        | StoreError::Open { .. }
        | StoreError::NotADatabase { .. }
        | StoreError::Unreachable(_)
        | StoreError::Overtaxed(_)
        | StoreError::Unknown(_)
        | StoreError::Empty { .. }
        | StoreError::Damaged(_) => Verdict::new(Exit::Failed, database_fix(error)),
        StoreError::InvalidRow { .. } => Verdict::new(
            Exit::Failed,
            "`symphony doctor` checks the database and suggests a fix",
        ),
        StoreError::DiskFull(_) => Verdict::new(
            Exit::Failed,
            "free some space (`df -h .` shows how much is left), then run the command again",
        ),
        StoreError::Field(_)
        | StoreError::Point(_)
        | StoreError::MergeBegun { .. }
        | StoreError::Superseded { .. } => Verdict::plain(Exit::Refused),
        error if error.is_refusal() => Verdict::plain(Exit::Refused),
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
            "change to a repository, name one with `-C DIR`, or create one with `git init`",
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
                "use a clone with a checkout; `git clone '{}'` creates one",
                path.display()
            ),
        ),
        WorkspaceError::BareSetting { root, is_of_main } => {
            let root = shell_quoted(&root.display().to_string());
            let scope = if *is_of_main { "--worktree " } else { "" };
            Verdict::new(
                Exit::Failed,
                format!("`git -C {root} config {scope}core.bare false` repairs it"),
            )
        }
        WorkspaceError::NotWritable { .. } => {
            Verdict::new(Exit::Failed, BaseProblem::from(error).fix)
        }
        WorkspaceError::OwnBranchesBlocked => Verdict::new(
            Exit::Refused,
            "`git branch -m symphony NEWNAME` gives it another name",
        ),
        WorkspaceError::NoCommits { .. } => Verdict::new(
            Exit::Failed,
            "`git commit --allow-empty -m 'first commit'` creates one",
        ),
        WorkspaceError::NoDefaultBranch { .. } | WorkspaceError::BranchMissing { .. } => {
            Verdict::new(
                Exit::Failed,
                "`symphony config set base_branch NAME` sets the branch that work starts from",
            )
        }
        WorkspaceError::SymbolicBase { branch, .. } => Verdict::new(
            Exit::Failed,
            format!(
                "`git update-ref --no-deref refs/heads/{branch} COMMIT` makes it a branch of its own again"
            ),
        ),
        WorkspaceError::FilterMissing { program, .. } => Verdict::new(
            Exit::Failed,
            format!(
                "install `{program}`, or put its folder into PATH; `symphony doctor` shows more"
            ),
        ),
        WorkspaceError::FilterNotRun { name, .. } => Verdict::new(
            Exit::Failed,
            format!(
                "define `{name}` in your global git configuration, and add it to `git.trusted_filters`; `symphony \
                 doctor` shows more"
            ),
        ),
        WorkspaceError::Conflict { base, head, .. } => Verdict::new(
            Exit::Refused,
            format!(
                "`{}` gives it back to an agent",
                reject_for_conflict(head.strip_prefix("symphony/").unwrap_or("ID"), base)
            ),
        ),
        WorkspaceError::CheckoutDirty { .. } => Verdict::new(
            Exit::Refused,
            "commit these changes, stash them with `git stash`, or move ignored files out of the way, then merge again",
        ),
        WorkspaceError::RefMoved { .. } => Verdict::new(Exit::Refused, "run the command again"),
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
            "run the command again; `symphony status` shows what is running",
        ),
        _ => Verdict::plain(Exit::Failed),
    }
}

/// Says what can be done with an issue that has ended, or is where it was to go.
fn ways_from(id: &str, status: IssueStatus) -> String {
    if status.is_terminal() {
        format!("`symphony issue move {id} todo` opens it again")
    } else {
        format!("`symphony explain {id}` shows what it is waiting for")
    }
}

/// Names the command that lists things of a kind.
fn listing(what: &str) -> String {
    let (command, things) = match what {
        "issue" => ("symphony issue list", "the issues"),
        "run" => ("symphony runs list", "the runs"),
        "pull request" => ("symphony pr list", "the pull requests"),
        "learning" => ("symphony learnings list", "the learnings"),
        "project" => ("symphony project list", "the projects"),
        "plan" => ("symphony plan list", "the plans"),
        "phase of the plan" => ("symphony plan status", "the phases"),
        "review point" => ("symphony point list ISSUE", "the review points"),
        // of notices, and of all else that a person names by what the inbox shows
        _ => ("symphony inbox", "what needs your attention"),
    };
    format!("`{command}` lists {things}")
}

fn of_config(error: &ConfigFileError) -> Verdict {
    match error {
        ConfigFileError::Invalid { .. } => {
            Verdict::new(Exit::Failed, "`symphony config check` lists all problems")
        }
        ConfigFileError::NotFound { .. } => Verdict::new(
            Exit::NotFound,
            "`--config` and SYMPHONY_CONFIG must name a file; without them the nearest symphony.config.json is used",
        ),
        ConfigFileError::Key(_) => Verdict::new(
            Exit::Usage,
            "a key is a dotted path such as `max_retries` or `gates[0].command`; `symphony config show` lists them",
        ),
        ConfigFileError::ChangedMeanwhile { .. } => {
            Verdict::new(Exit::Failed, "run the command again")
        }
        _ => Verdict::plain(Exit::Failed),
    }
}

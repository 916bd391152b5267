//! The tree of commands, and the way from the typed words to one of them.

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use clap::{FromArgMatches as _, Parser, Subcommand};
use symphony_runner::supervise::TRAMPOLINE_COMMAND;
use symphony_sandbox::{CONFINE_COMMAND, PROBE_COMMAND, confine, probe_inside};
use tracing_subscriber::EnvFilter;

use crate::app::App;
use crate::command::{
    CleanArgs, CompletionsArgs, ConfigCommand, DbCommand, DeliverArgs, DemoArgs, DoctorArgs,
    DoneCommand, EventsArgs, ExplainArgs, ForgeCommand, InboxArgs, InitArgs, IssueCommand,
    LearningsCommand, ManArgs, McpArgs, PauseArgs, PhaseCommand, PlanCommand, PointCommand,
    PrCommand, ProfileCommand, ProjectCommand, PromptCommand, ResumeArgs, RunArgs, RunsCommand,
    SCRIPTED_AGENT_COMMAND, ServeCommand, ServiceWorkerArgs, SpendingArgs, StatusArgs,
    SuperviseArgs, TickArgs, TrackerCommand, WorkerArgs, print_statusline, scripted_agent,
};
use crate::completion::complete;
use crate::deferred::Deferred;
use crate::failure::{Exit, report};
use crate::global::GlobalArgs;
use crate::permission::{Admission, admit, changes_reviews};
use crate::required::print_error;
use crate::secret::{check_typed, typed_texts};
use crate::settle::settle_cut_off_merges;

const AFTER_HELP: &str = "Start here:
  symphony demo                       watch the whole loop in a throwaway project, without a model
  symphony init                       set up the repository in this folder
  symphony issue add 'What to do'     add an issue
  symphony run                        start agents, and watch what they do

Exit codes: 0 success, 1 failure, 2 wrong usage, 3 not found, 4 refused by a rule, 5 busy.";

/// Turn a backlog of issues into reviewed pull requests with coding agents
#[derive(Debug, Parser)]
#[command(name = "symphony", version, after_help = AFTER_HELP, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

/// A command.
#[derive(Debug, Subcommand)]
enum Command {
    /// Create a small project and take its issues from backlog to merged, without a model
    Demo(Deferred<DemoArgs>),
    /// Set up the repository in this folder
    Init(Deferred<InitArgs>),
    /// Check your setup and suggest a fix for each problem
    Doctor(Deferred<DoctorArgs>),
    /// Do one step of work on every project, for example from cron
    Tick(Deferred<TickArgs>),
    /// Tick in a loop, with live progress
    Run(Deferred<RunArgs>),
    /// Serve a page for your browser: board, inbox, live logs, diffs, and your decisions
    Serve(Deferred<ServeCommand>),
    /// Show running agents, the queue, retries, holds and what needs your attention
    Status(Deferred<StatusArgs>),
    /// Explain why an issue or a plan is not running, or show the run that is
    Explain(Deferred<ExplainArgs>),
    /// List everything that needs your attention, oldest first
    Inbox(Deferred<InboxArgs>),
    /// Show what happened to issues, runs, pull requests and plans, one sentence per event
    Events(Deferred<EventsArgs>),
    /// Show what runs cost: by day, agent, model and issue
    Spending(Deferred<SpendingArgs>),
    /// Manage the backlog
    #[command(subcommand, visible_alias = "issues")]
    Issue(Deferred<IssueCommand>),
    /// Review and merge pull requests
    #[command(subcommand, visible_alias = "prs")]
    Pr(Deferred<PrCommand>),
    /// Confirm or reject an agent's proposal that nothing is left to do on an issue
    #[command(subcommand)]
    Done(Deferred<DoneCommand>),
    /// Show, answer, add and close review points
    #[command(subcommand, visible_alias = "points")]
    Point(Deferred<PointCommand>),
    /// Show, follow and cancel the runs of agents
    #[command(subcommand)]
    Runs(Deferred<RunsCommand>),
    /// Show, check and change the configuration
    #[command(subcommand)]
    Config(Deferred<ConfigCommand>),
    /// Show, check, build and compare prompts
    #[command(subcommand)]
    Prompt(Deferred<PromptCommand>),
    /// Mirror pull requests with GitHub
    #[command(subcommand)]
    Forge(Deferred<ForgeCommand>),
    /// Mirror issues with GitHub or Linear
    #[command(subcommand, visible_alias = "trackers")]
    Tracker(Deferred<TrackerCommand>),
    /// Manage the projects of the installation
    #[command(subcommand, visible_alias = "projects")]
    Project(Deferred<ProjectCommand>),
    /// Show the agents' profiles, and add instructions and models to them
    #[command(subcommand)]
    Profile(Deferred<ProfileCommand>),
    /// Show and check phase contracts, and approve or reject phases
    #[command(subcommand)]
    Phase(Deferred<PhaseCommand>),
    /// Run, follow and check plans, whose phases run in parallel
    #[command(subcommand, visible_alias = "plans")]
    Plan(Deferred<PlanCommand>),
    /// Manage what agents and people have learned
    #[command(subcommand, visible_alias = "learning")]
    Learnings(Deferred<LearningsCommand>),
    /// Stop starting new agents; running agents continue
    Pause(Deferred<PauseArgs>),
    /// Start agents again after a pause, and retry everything that is on hold
    Resume(Deferred<ResumeArgs>),
    /// Remove worktrees of issues that have ended, and old logs
    Clean(Deferred<CleanArgs>),
    /// Check, back up and shrink the database
    #[command(subcommand)]
    Db(Deferred<DbCommand>),
    /// Run agents on this host for projects that are on other hosts
    Worker(Deferred<WorkerArgs>),
    /// Serve the agents' tools over MCP, to an agent's CLI or to your own MCP client
    Mcp(Deferred<McpArgs>),
    /// Print shell completions
    Completions(Deferred<CompletionsArgs>),
    /// Print the manual page, or write the pages of all commands
    Man(Deferred<ManArgs>),
    /// Tell people what waits for them
    #[command(hide = true)]
    Deliver(Deferred<DeliverArgs>),
    /// Work on a ticket of a WORKFLOW.md
    #[command(name = "service-worker", hide = true)]
    ServiceWorker(Deferred<ServiceWorkerArgs>),
    /// Supervise a run
    #[command(hide = true)]
    Supervise(Deferred<SuperviseArgs>),
}

impl Command {
    fn run(&self, app: &App) -> anyhow::Result<ExitCode> {
        match self {
            Self::Demo(args) => args.run(app)?,
            Self::Init(args) => args.run(app)?,
            Self::Doctor(args) => args.run(app)?,
            Self::Tick(args) => return args.run(app).map(ExitCode::from),
            Self::Run(args) => return args.run(app).map(ExitCode::from),
            Self::Serve(command) => command.run(app)?,
            Self::Status(args) => args.run(app)?,
            Self::Explain(args) => args.run(app)?,
            Self::Inbox(args) => args.run(app)?,
            Self::Events(args) => args.run(app)?,
            Self::Spending(args) => args.run(app)?,
            Self::Issue(command) => command.run(app)?,
            Self::Pr(command) => return command.run(app).map(ExitCode::from),
            Self::Done(command) => command.run(app)?,
            Self::Point(command) => command.run(app)?,
            Self::Runs(command) => command.run(app)?,
            Self::Config(command) => command.run(app)?,
            Self::Prompt(command) => command.run(app)?,
            Self::Forge(command) => command.run(app)?,
            Self::Tracker(command) => command.run(app)?,
            Self::Project(command) => command.run(app)?,
            Self::Profile(command) => command.run(app)?,
            Self::Phase(command) => command.run(app)?,
            Self::Plan(command) => return command.run(app).map(ExitCode::from),
            Self::Learnings(command) => command.run(app)?,
            Self::Pause(args) => args.run(app)?,
            Self::Resume(args) => args.run(app)?,
            Self::Clean(args) => args.run(app)?,
            Self::Db(command) => return command.run(app).map(ExitCode::from),
            Self::Worker(args) => return args.run(app).map(ExitCode::from),
            Self::Mcp(args) => args.run(app)?,
            Self::Completions(args) => args.run(app)?,
            Self::Man(args) => args.run(app)?,
            Self::Deliver(args) => args.run(app)?,
            Self::ServiceWorker(args) => args.run(app)?,
            Self::Supervise(args) => args.run(app)?,
        }
        Ok(Exit::Done.into())
    }
}

/// Runs what was typed; returns the exit code.
pub(crate) fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // these take the arguments of other programs, which clap must not touch
    if let Some((name, rest)) = arguments.get(1..).and_then(<[OsString]>::split_first) {
        if name == OsStr::new(TRAMPOLINE_COMMAND) {
            return symphony_runner::process::exec_in_session(rest.iter().cloned());
        }
        if name == OsStr::new(CONFINE_COMMAND) {
            return confine(rest.iter().cloned());
        }
        if name == OsStr::new(PROBE_COMMAND) {
            return probe_inside(rest.iter().cloned());
        }
        if name == OsStr::new(SCRIPTED_AGENT_COMMAND) {
            return scripted_agent(rest.iter().cloned());
        }
    }
    if let Some(answered) = complete(&arguments, tree) {
        return answered;
    }
    // a status bar calls it several times a second: it does nothing that it need not
    if arguments.get(1..) == Some(&["plan".into(), "statusline".into()]) {
        print_statusline();
        return Exit::Done.into();
    }
    let Typed {
        cli,
        command,
        texts,
    } = match parse(asking_for_help(arguments)) {
        Ok(parsed) => parsed,
        Err(error) => {
            print_error(&error);
            let code = if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Done
            };
            return code.into();
        }
    };
    cli.global.colours().write_global();
    start_log(cli.global.verbose);
    let ran = App::new(&cli.global).and_then(|app| {
        if admit(&app.surroundings, &command)? == Admission::Person {
            check_typed(&app.surroundings, &texts)?;
        }
        if changes_reviews(&command) {
            settle_cut_off_merges(&app);
        }
        cli.command.run(&app)
    });
    ran.unwrap_or_else(|error| report(&error))
}

/// What was typed.
struct Typed {
    cli: Cli,
    /// The words that name the command, such as `issue add`.
    command: String,
    /// What agents may get to read of it.
    texts: Vec<String>,
}

fn parse(arguments: Vec<OsString>) -> Result<Typed, clap::Error> {
    let mut matches = tree().try_get_matches_from(arguments)?;
    let mut words = Vec::new();
    let mut leaf = &matches;
    while let Some((name, below)) = leaf.subcommand() {
        words.push(name);
        leaf = below;
    }
    let command = words.join(" ");
    let texts = typed_texts(&command, leaf);
    let cli = Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut tree()))?;
    Ok(Typed {
        cli,
        command,
        texts,
    })
}

/// Turns `symphony help COMMAND` into `symphony COMMAND --help`, which is where the help of a command is; global flags may
/// come before it.
fn asking_for_help(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let mut at = 1;
    while let Some(flag) = arguments.get(at).and_then(|argument| argument.to_str()) {
        at += match flag {
            "-C" | "--directory" | "--config" | "--color" => 2,
            _ if flag.starts_with('-') => 1,
            _ => break,
        };
    }
    if arguments.get(at).is_some_and(|word| word == "help") {
        arguments.remove(at);
        arguments.push("--help".into());
    }
    arguments
}

/// Starts the log on standard error: warnings, and more with `-v`; `SYMPHONY_LOG` says it in detail.
fn start_log(verbose: u8) {
    let level = match verbose {
        0 => "warn",
        1 => "symphony=info,warn",
        _ => "debug",
    };
    let filter = EnvFilter::try_from_env("SYMPHONY_LOG")
        .unwrap_or_else(|_| EnvFilter::new(format!("{level},rmcp=warn")));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .without_time()
        // the error would go to the same standard error, and a supervisor whose log is on a full disk would panic there
        .log_internal_errors(false)
        .with_target(verbose > 1);
    // only a second start could fail, and there is none
    let _started = log.try_init();
}

/// Returns the tree of commands, for completions and manual pages.
pub(crate) fn tree() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

//! Running the agent itself: starting it, reading its stream, ending it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, json};
use symphony_core::failure::ErrorClass;
use symphony_core::run::{RunError, RunStatus};
use symphony_core::run_memory::RUN_MEMORY;
use symphony_core::run_network::RUN_NETWORK;
use symphony_core::session::{ResumedEnd, SESSION, is_refused};
use symphony_core::watchdog::Step;
use symphony_core::web::WEB_SEARCHES;
use symphony_mcp::StoreThread;
use symphony_store::{PERMISSION_DENIALS, RunProgress};
use symphony_workspace::Failpoint;

use super::Job;
use super::command::TRAMPOLINE_COMMAND;
use super::holding::while_held;
use super::messages::RunMessages;
use super::outcome::AgentOutcome;
use super::prepare::Prepared;
use super::saving::Saving;
use super::served::while_served;
use super::spending::spent_so_far;
use super::streams::AgentStreams;
use super::talk::conversation_of;
use super::until_cancelled::is_cancelled;
use super::watch::{Limits, Stop, Watch, status_of};
use crate::error::RunnerError;
use crate::network::RunNetwork;
use crate::process::{
    Agent, AgentEnd, AgentExit, AgentInput, AgentLaunch, GRACE, Supervision, Trampoline,
    resolve_program,
};
use crate::provider::{AgentCommand, StdinSource};
use crate::sandbox::{Start, Wrapped};
use crate::stream::{ExitFact, LOOP_REPEATS_DEFAULT, RunEnd};

/// How often limits are checked, orphans reaped and streams flushed.
const PULSE: Duration = Duration::from_millis(500);
/// Pulses between two records of progress. One write per second is cheap, and readers cannot follow anything faster.
const PULSES_A_RECORD: u32 = 2;

/// How long an agent may take to end by itself when it is asked to.
const AFTER_CANCEL: Duration = Duration::from_secs(3);

/// An agent at work, with the streams that it writes and the watch over its limits.
struct LiveAgent {
    agent: Agent,
    streams: AgentStreams,
    watch: Watch,
    /// What must live as long as the agent does; `None` where nothing is confined.
    start: Option<Start>,
    messages: RunMessages,
}

/// Starts the agent, serves its socket, reads its stream until it ends, and leaves no process of it alive.
///
/// The agent starts again with the full prompt if the session that it was to resume is refused. Nothing was done by then,
/// so it is the same run, and uses no attempt.
pub(crate) async fn run_agent(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    prepared: &mut Prepared,
) -> Result<AgentOutcome, RunnerError> {
    let first = serve_agent(job, store, supervision, prepared).await?;
    if !first.is_refused {
        return Ok(first.outcome);
    }
    let message = first.outcome.error.map(|error| error.message);
    let added = prepared.start_again(job, message.unwrap_or_default())?;
    let mut second = serve_agent(job, store, supervision, prepared)
        .await?
        .outcome;
    second.metadata.extend(added);
    Ok(second)
}

/// How an agent came out.
struct Listened {
    outcome: AgentOutcome,
    /// Whether its CLI could not resume the session.
    is_refused: bool,
}

/// Runs the agent once, with a socket of its own: a judge's takes one connection only.
async fn serve_agent(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    prepared: &Prepared,
) -> Result<Listened, RunnerError> {
    let work = listen(job, store, supervision, prepared);
    let (listened, was_asked) = while_served(job, store, prepared, work).await?;
    let outcome = match listened {
        Ok(listened) if listened.is_refused || was_asked => return Ok(listened),
        Ok(listened) => without_tools(listened.outcome, prepared),
        Err(error) => not_run(error)?,
    };
    Ok(Listened {
        outcome,
        is_refused: false,
    })
}

/// Returns the outcome of an agent that could not be run.
///
/// # Errors
/// When the error is about something else.
pub(super) fn not_run(error: RunnerError) -> Result<AgentOutcome, RunnerError> {
    match error {
        RunnerError::Process(error) => Ok(AgentOutcome::failed(
            RunStatus::Failed,
            RunError {
                class: ErrorClass::SpawnFailed,
                message: error.to_string(),
            },
        )),
        error @ RunnerError::Sandbox(_) => Ok(AgentOutcome::not_started(&error)),
        error => Err(error),
    }
}

/// Returns the outcome of an agent that never asked for Symphony's tools. By the Agent Client Protocol no agent reports
/// that a server did not come up: it works without its tools, and reports success.
fn without_tools(mut outcome: AgentOutcome, prepared: &Prepared) -> AgentOutcome {
    if let StdinSource::Conversation(opening) = &prepared.command.stdin
        && !opening.protocol.reports_tools()
    {
        let message = "the agent never asked for the tools of its MCP server `symphony`".to_owned();
        outcome.fail_unless_worse(ErrorClass::McpUnavailable, message);
    }
    outcome
}

async fn listen(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    prepared: &Prepared,
) -> Result<Listened, RunnerError> {
    job.steps
        .enter_for(Step::Agent, job.config.turn_timeout_ms.duration());
    // Nothing may fail between this line and `end_tree` without ending the processes: the agent would go on working
    // while no one watches its limits.
    let input = input_of(&prepared.command)?;
    let (launch, start) = launch(job, prepared, input)?;
    let conversation = conversation_of(&prepared.command)?;
    let mut agent = supervision.spawn(launch)?;
    Failpoint::AgentSpawned.reach();
    let mut live = LiveAgent {
        streams: AgentStreams::open(job, prepared, conversation, &mut agent)?,
        agent,
        watch: Watch::new(limits(job, prepared)),
        start,
        messages: RunMessages::new(job, &prepared.messages),
    };
    take_in_spending(job, store, &mut live.watch).await;
    let saving = Saving::begin(job, &prepared.site);
    let watching = watch_agent(job, store, supervision, prepared, &mut live);
    // Dropped in the middle of whatever it does: it may wait for an answer of the database that never comes.
    let watched = while_held(job.holding.as_ref(), watching).await;
    let watched = watched.unwrap_or_else(|release| Ok(Some(Stop::Released(release))));
    drop(saving);
    match watched {
        // There is no time left in which it could end by itself.
        Ok(None | Some(Stop::Released(_))) | Err(_) => {}
        Ok(Some(_)) => ask_to_stop(&mut live).await,
    }
    let LiveAgent {
        mut agent,
        mut streams,
        mut watch,
        start,
        mut messages,
    } = live;
    job.steps.enter_ending(Step::EndAgent);
    // Kill every descendant even on error: a surviving process could keep writing to the worktree.
    let end = {
        // The pipes are still read meanwhile: a process that writes into a full pipe could not react to SIGTERM.
        let ending = supervision.end_tree(&mut agent, GRACE);
        tokio::pin!(ending);
        loop {
            tokio::select! {
                report = &mut ending => break report?,
                _heard = streams.next(&mut watch), if streams.is_open() => {}
            }
        }
    };
    Failpoint::AgentEnded.reach();
    streams.drain(&mut watch).await;
    let stop = watched?;
    let stderr = streams.stderr_text().await;
    if let Some(error) = agent.start_failure(end.exit, &stderr) {
        return Err(error.into());
    }
    let was_silent = streams.state().lines() == 0;
    if end.end == AgentEnd::ByItself
        && let Some(start) = &start
        && let Some(fault) = start.fault(end.exit, &stderr, was_silent)
    {
        return Err(fault.into());
    }
    if end.strays.count() > 0 {
        tracing::info!(
            strays = end.strays.count(),
            "ended processes that the agent left"
        );
    }
    let mut outcome = conclude(&streams, stop.as_ref(), end.exit, &stderr);
    let has_read = streams.state().has_worked() || outcome.status == RunStatus::Succeeded;
    messages.record(job, store, &mut streams, has_read).await;
    if let Some(network) = &prepared.network {
        outcome
            .metadata
            .insert(RUN_NETWORK.to_owned(), json!(network.used()));
        outcome.take_in_metered(network);
    }
    if let Some(memory) = agent.memory() {
        outcome
            .metadata
            .insert(RUN_MEMORY.to_owned(), json!(memory));
    }
    let is_refused = prepared.session.resumed.is_some()
        && is_refused(&ResumedEnd {
            class: outcome.error.as_ref().map(|error| error.class),
            by_itself: stop.is_none() && end.end == AgentEnd::ByItself,
            has_worked: streams.state().has_worked(),
            other_session: streams.state().is_other_session(),
        });
    Ok(Listened {
        outcome,
        is_refused,
    })
}

/// Asks an agent that takes part in a conversation to stop, and gives it a moment: it ends its own processes then.
async fn ask_to_stop(live: &mut LiveAgent) {
    let LiveAgent {
        agent,
        streams,
        watch,
        ..
    } = live;
    if !streams.cancel() {
        return;
    }
    let ended = async {
        loop {
            tokio::select! {
                _exit = agent.wait() => return,
                _heard = streams.next(watch), if streams.is_open() => {}
            }
        }
    };
    let _in_time = tokio::time::timeout(AFTER_CANCEL, ended).await;
}

/// Watches until the agent ends (`None`), or until it must be ended.
async fn watch_agent(
    job: &Job<'_>,
    store: &StoreThread,
    supervision: &Supervision,
    prepared: &Prepared,
    live: &mut LiveAgent,
) -> Result<Option<Stop>, RunnerError> {
    let LiveAgent {
        agent,
        streams,
        watch,
        start,
        messages,
    } = live;
    let mut pulse = tokio::time::interval(PULSE);
    pulse.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    let mut pulses = 0_u32;
    let mut mark = prepared.site.change_mark();
    loop {
        tokio::select! {
            // Lines first, since the run includes everything that the agent printed before it exited.
            biased;
            heard = streams.next(watch), if streams.is_open() => if let Some(stop) = heard { return Ok(Some(stop)) },
            exit = agent.wait() => { exit?; return Ok(None) }
            _ = pulse.tick() => {
                pulses = pulses.wrapping_add(1);
                supervision.reap_orphans()?;
                streams.flush();
                if let Some(start) = start {
                    start.keep_login();
                }
                let stop = on_pulse(job, store, prepared, watch, &mut mark, streams).await?;
                if stop.is_some() { return Ok(stop) }
                messages.pass_on(job, store, streams).await;
                if pulses.is_multiple_of(PULSES_A_RECORD) {
                    record(job, store, streams, watch).await;
                    // Other runs may have spent from the same caps meanwhile.
                    take_in_spending(job, store, watch).await;
                }
            }
        }
    }
}

/// Updates the watch with the recorded spending. If it cannot be read now, it is read a second later.
async fn take_in_spending(job: &Job<'_>, store: &StoreThread, watch: &mut Watch) {
    if let Some(holding) = &job.holding {
        return watch.recorded(holding.spent());
    }
    match spent_so_far(job, store).await {
        Ok(Some(spent)) => watch.recorded(spent),
        Ok(None) => {}
        Err(error) => tracing::warn!(%error, "cannot read what was spent"),
    }
}

fn limits(job: &Job<'_>, prepared: &Prepared) -> Limits {
    Limits {
        searches_max: prepared.searches_max,
        turn: job.config.turn_timeout_ms.duration(),
        stall: job.config.stall_timeout_ms.duration(),
        loop_repeats: NonZeroU32::new(job.config.loop_repeats).unwrap_or(LOOP_REPEATS_DEFAULT),
        caps: job.config.spending,
        requests_per_minute: job.config.model_requests_per_minute,
    }
}

/// Returns what an agent that works alone reads.
fn input_of(command: &AgentCommand) -> Result<AgentInput, RunnerError> {
    Ok(match &command.stdin {
        StdinSource::Null | StdinSource::Terminal => AgentInput::Empty,
        StdinSource::File(path) => AgentInput::File(
            File::open(path).map_err(|error| RunnerError::io("open", path, error))?,
        ),
        StdinSource::Conversation(_) => AgentInput::Pipe,
    })
}

/// Returns what starts the agent, confined as the run is, and what must live as long as the agent does.
pub(super) fn launch(
    job: &Job<'_>,
    prepared: &Prepared,
    input: AgentInput,
) -> Result<(AgentLaunch, Option<Start>), RunnerError> {
    let command = &prepared.command;
    let environment = &prepared.environment;
    let search_path = environment.get(OsStr::new("PATH"));
    let program = resolve_program(
        &command.program,
        search_path.map(OsString::as_os_str),
        &command.cwd,
    )?;
    let Wrapped {
        program,
        arguments,
        environment,
        start,
        limits,
    } = prepared
        .sandbox
        .wrap(&program, &command.args, environment.clone())?;
    let launch = AgentLaunch {
        trampoline: Trampoline::new(&job.installation.executable, TRAMPOLINE_COMMAND),
        program,
        arguments,
        environment,
        directory: command.cwd.clone(),
        input,
        report: start.as_ref().and_then(Start::report).map(Path::to_owned),
        limits,
    };
    Ok((launch, start))
}

/// Checks twice a second what the stream does not show.
async fn on_pulse(
    job: &Job<'_>,
    store: &StoreThread,
    prepared: &Prepared,
    watch: &mut Watch,
    mark: &mut Option<u64>,
    streams: &AgentStreams,
) -> Result<Option<Stop>, RunnerError> {
    if let Some(stop) = watch.due(streams.elapsed()) {
        return Ok(Some(stop));
    }
    let network = prepared.network.as_ref();
    if let Some(traffic) = network.and_then(RunNetwork::model_traffic)
        && let Some(stop) = watch.requests(&traffic)
    {
        return Ok(Some(stop));
    }
    if let Some(stop) = watch.over_budget(&streams.state().usage()) {
        return Ok(Some(stop));
    }
    if let Some(stop) = watch.suspected_loop() {
        let now = prepared.site.change_mark();
        if now == *mark {
            return Ok(Some(stop));
        }
        *mark = now;
        watch.worktree_changed();
    }
    Ok(is_cancelled(job, store).await?.then_some(Stop::Cancelled))
}

/// Records progress. If that fails, the agent continues.
async fn record(job: &Job<'_>, store: &StoreThread, streams: &mut AgentStreams, watch: &Watch) {
    let Some(last_event) = streams.take_news() else {
        return;
    };
    let progress = RunProgress {
        last_event,
        usage: watch.usage(&streams.state().usage()),
    };
    let (context, run) = (job.as_run(), job.run.id.clone());
    let recorded = store
        .call(move |store| store.record_progress(&context, &run, &progress))
        .await;
    if let Ok(Err(error)) = recorded {
        tracing::warn!(%error, "cannot record the run's progress");
    }
}

fn conclude(
    streams: &AgentStreams,
    stop: Option<&Stop>,
    exit: AgentExit,
    stderr: &str,
) -> AgentOutcome {
    let fact = match (stop, exit.code, exit.signal) {
        (Some(Stop::AfterResult), ..) => ExitFact::EndedAfterResult,
        // With its input closed, it ends as it likes.
        (None, ..) if streams.has_said_all() => ExitFact::EndedAfterResult,
        (_, Some(code), _) => ExitFact::Code(code),
        (_, None, signal) => ExitFact::Signal(signal.unwrap_or(0)),
    };
    let stopped = stop.and_then(Stop::class);
    let end = RunEnd {
        exit: fact,
        stopped,
        stderr_tail: stderr,
    };
    let conclusion = streams.state().conclude(&end);
    let error = conclusion.class.map(|class| {
        let own = stop.map(Stop::message).unwrap_or_default();
        RunError {
            class,
            message: streams.without_secrets(if own.is_empty() {
                conclusion.message.clone()
            } else {
                own
            }),
        }
    });
    let status = match &error {
        None => RunStatus::Succeeded,
        Some(error) => status_of(error.class),
    };
    let mut metadata = Map::new();
    metadata.insert("lines".to_owned(), json!(streams.state().lines()));
    metadata.insert(
        "broken_lines".to_owned(),
        json!(streams.state().broken_lines()),
    );
    metadata.insert(
        PERMISSION_DENIALS.to_owned(),
        json!(streams.state().permission_denials()),
    );
    if streams.state().web_searches() > 0 {
        metadata.insert(
            WEB_SEARCHES.to_owned(),
            json!(streams.state().web_searches()),
        );
    }
    if let Some(session) = streams.state().session() {
        metadata.insert(SESSION.to_owned(), json!(session));
    }
    if let Some(model) = streams.state().model() {
        metadata.insert("model".to_owned(), json!(model));
    }
    if !stderr.trim().is_empty() {
        metadata.insert("stderr_tail".to_owned(), json!(stderr));
    }
    AgentOutcome {
        status,
        error,
        exit_code: exit.code,
        usage: Some(streams.state().usage()),
        output_tail: streams.tail().text(),
        metadata,
        hold_until: conclusion.hold_until,
    }
}

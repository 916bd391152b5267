//! The body of a worker process: one attempt with its workspace and hooks, or one removal (section 16.5).
//!
//! A worker is started with its lock held and its order written. It changes nothing of the service's state: it reports in a
//! file, says at the end how it ended, and whoever runs the loop draws the conclusions.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use symphony_core::Timestamp;
use symphony_runner::environment::RUN_MARKER;
use symphony_runner::hook::{Hook, HookEnd};
use symphony_runner::process::{
    ProcessIdentity, RunLock, Supervision, Trampoline, become_session_leader,
};
use symphony_runner::supervise::TRAMPOLINE_COMMAND;
use symphony_workflow::{Config, Ticket};
use symphony_workspace::Failpoint;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::error::{ServiceError, io_error};
use super::event_file::EventFile;
use super::file::Workflow;
use super::folder::{self, Folder};
use super::order::{Task, WorkEnd, WorkOrder};
use super::place::{ServicePlace, WorkerFiles};
use super::polls::polls_of;
use crate::attempt::{self, AttemptEnd, AttemptEvent, AttemptInput, EventKind};

/// Shortest time between two signs of life while a hook runs.
const SIGN_OF_LIFE_MIN: Duration = Duration::from_millis(200);
/// Longest time between two signs of life while a hook runs.
const SIGN_OF_LIFE_MAX: Duration = Duration::from_secs(30);

/// A worker process.
#[derive(Debug)]
pub struct Worker {
    /// Symphony's own executable.
    pub executable: PathBuf,
    /// The folder of its files.
    pub files: WorkerFiles,
    /// The environment that it was handed.
    pub environment: BTreeMap<OsString, OsString>,
}

impl Worker {
    /// Does what the order says. Must be called on the first thread, before anything reads standard input.
    ///
    /// # Errors
    /// When the lock was not handed over, or the files cannot be read or written.
    pub fn run(self) -> Result<(), ServiceError> {
        become_session_leader()?;
        let _lock = RunLock::adopt_stdin(self.files.lock())?;
        Failpoint::ServiceWorking.reach();
        let order = self.files.read_order()?;
        let supervision = Supervision::begin()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(io_error("start the runtime for", self.files.folder()))?;
        let end = runtime.block_on(async {
            // Before the identity is written: whoever reads it may send SIGTERM at once.
            let terminate = signal(SignalKind::terminate());
            let terminate =
                terminate.map_err(io_error("handle signals for", self.files.folder()))?;
            self.files.write_identity(&ProcessIdentity::own()?)?;
            self.work(order, &supervision, terminate).await
        });
        runtime.shutdown_background();
        Failpoint::ServiceAttemptEnded.reach();
        // Last: whoever finds it takes everything of this worker for done.
        self.files.write_end(&end?)?;
        Failpoint::ServiceEndWritten.reach();
        Ok(())
    }

    async fn work(
        &self,
        order: WorkOrder,
        supervision: &Supervision,
        terminate: Signal,
    ) -> Result<WorkEnd, ServiceError> {
        let place = ServicePlace {
            executable: self.executable.clone(),
            workflow: order.workflow,
            environment: self.environment.clone(),
        };
        let workflow = match Workflow::parse(&order.text, &place) {
            Ok(workflow) => workflow,
            // the loop checked the same text with the same environment
            Err(fault) => return Ok(WorkEnd::failed(fault.class(), &fault)),
        };
        let stop = CancellationToken::new();
        let mut job = Job {
            worker: self,
            unfinished: place.home().join("unfinished"),
            ticket: Ticket::from(order.ticket),
            attempt: order.attempt,
            events: EventFile::create(self.files.events()),
            supervision,
            stop: stop.clone(),
            workflow,
        };
        let end = {
            let work = async {
                match order.task {
                    Task::Attempt => job.attempt().await,
                    Task::AfterRun => job.after_run_only().await,
                    Task::Remove => job.remove().await,
                }
            };
            tokio::pin!(work);
            let mut terminate = terminate;
            tokio::select! {
                end = &mut work => end,
                _asked = terminate.recv() => {
                    stop.cancel();
                    work.await
                }
            }
        };
        supervision.end_rest().await?;
        Ok(end)
    }
}

/// The work on one ticket.
struct Job<'a> {
    worker: &'a Worker,
    unfinished: PathBuf,
    ticket: Ticket,
    attempt: Option<u32>,
    events: EventFile,
    supervision: &'a Supervision,
    stop: CancellationToken,
    workflow: Workflow,
}

impl Job<'_> {
    fn config(&self) -> &Config {
        &self.workflow.config
    }

    async fn attempt(&mut self) -> WorkEnd {
        let folder = match self.prepare().await {
            Ok(folder) => folder,
            Err(end) => return end,
        };
        let before = self.config().hooks.before_run.clone();
        if let Err(end) = self.required("before_run", before, &folder).await {
            return end;
        }
        let end = self.agent(&folder).await;
        self.after_run(&folder).await;
        end
    }

    /// Finds or makes the workspace.
    async fn prepare(&mut self) -> Result<Folder, WorkEnd> {
        let root = &self.config().workspace.root;
        let prepared = folder::prepare(root, &self.ticket.identifier, &self.unfinished);
        let folder = prepared.map_err(|fault| WorkEnd::failed("workspace_error", &fault))?;
        if !folder.created_now {
            return Ok(folder);
        }
        Failpoint::ServiceFolderMade.reach();
        let hook = self.config().hooks.after_create.clone();
        let filled = self.required("after_create", hook, &folder).await;
        if filled.is_err() {
            // A folder that is half filled would be used as it is by the next attempt. Its mark stays if this fails, and the
            // next attempt removes it.
            if let Err(fault) = folder::remove_tree(&folder.path) {
                self.note(EventKind::Notification, &fault.to_string());
                return filled.map(|()| folder);
            }
        }
        let completed = folder::complete(&self.ticket.identifier, &self.unfinished);
        filled?;
        completed.map_err(|fault| WorkEnd::failed("workspace_error", &fault))?;
        Ok(folder)
    }

    /// Renders the prompt and runs the agent.
    async fn agent(&mut self, folder: &Folder) -> WorkEnd {
        let rendered = match &self.workflow.template {
            Ok(template) => template.render(&self.ticket, self.attempt),
            Err(error) => Err(error.clone()),
        };
        let prompt = match rendered {
            Ok(prompt) => prompt,
            Err(error) => return WorkEnd::failed(error.class(), &error),
        };
        let polls = match polls_of(self.config()) {
            Ok(polls) => polls,
            Err(error) => return WorkEnd::failed("system_error", &error),
        };
        let input = AttemptInput {
            config: self.config().clone(),
            ticket: self.ticket.clone(),
            workspace: folder.path.clone(),
            root: folder.root.clone(),
            prompt,
            polls,
            supervision: self.supervision,
            trampoline: Trampoline::new(&self.worker.executable, TRAMPOLINE_COMMAND),
            environment: self.environment(),
            stop: self.stop.clone(),
        };
        let events = &mut self.events;
        match attempt::run(input, &mut |event| events.write(event)).await {
            AttemptEnd::Completed { .. } => WorkEnd::Completed,
            AttemptEnd::Stopped => WorkEnd::Stopped,
            AttemptEnd::Failed { class, error } => WorkEnd::failed(class.as_str(), &error),
        }
    }

    /// Runs the hook after an attempt; its failure is reported and ignored. It runs also when the attempt was asked to end.
    async fn after_run(&mut self, folder: &Folder) {
        if let Some(script) = self.config().hooks.after_run.clone() {
            // what is wrong is in the events
            let _ignored = self.hook("after_run", &script, folder).await;
        }
    }

    async fn after_run_only(&mut self) -> WorkEnd {
        match folder::find(&self.config().workspace.root, &self.ticket.identifier) {
            Ok(Some(folder)) => self.after_run(&folder).await,
            Ok(None) => {}
            Err(fault) => return WorkEnd::failed("workspace_error", &fault),
        }
        WorkEnd::Completed
    }

    async fn remove(&mut self) -> WorkEnd {
        let found = folder::find(&self.config().workspace.root, &self.ticket.identifier);
        let folder = match found {
            Ok(Some(folder)) => folder,
            Ok(None) => return WorkEnd::Completed,
            Err(fault) => return WorkEnd::failed("workspace_error", &fault),
        };
        if let Some(script) = self.config().hooks.before_remove.clone() {
            let _ignored = self.hook("before_remove", &script, &folder).await;
        }
        match folder::remove_tree(&folder.path) {
            Ok(()) => WorkEnd::Completed,
            Err(fault) => WorkEnd::failed("workspace_error", &fault),
        }
    }

    /// Runs a hook whose failure ends the attempt.
    async fn required(
        &mut self,
        name: &str,
        script: Option<String>,
        folder: &Folder,
    ) -> Result<(), WorkEnd> {
        let Some(script) = script else {
            return Ok(());
        };
        let stop = self.stop.clone();
        let hook = self.hook(name, &script, folder);
        let ended = tokio::select! {
            ended = hook => ended,
            () = stop.cancelled() => {
                // the caller ends what the hook started
                return Err(WorkEnd::Stopped);
            }
        };
        ended.map_err(|error| WorkEnd::failed(&format!("{name}_hook_error"), &error))
    }

    /// Runs a hook, with signs of life while it runs: it has a time limit of its own, and is not silent.
    async fn hook(&mut self, name: &str, script: &str, folder: &Folder) -> Result<(), String> {
        self.note(EventKind::Notification, &format!("hook {name} started"));
        let hook = Hook {
            executable: &self.worker.executable,
            script,
            timeout: self.config().hooks.timeout,
            environment: self.environment(),
            directory: &folder.path,
            log: self.worker.files.log(name),
        };
        let pause = self
            .config()
            .codex
            .stall_timeout
            .unwrap_or(SIGN_OF_LIFE_MAX)
            / 3;
        let mut signs = tokio::time::interval(pause.clamp(SIGN_OF_LIFE_MIN, SIGN_OF_LIFE_MAX));
        signs.tick().await;
        let supervision = self.supervision;
        let run = hook.run(supervision);
        tokio::pin!(run);
        let ended = loop {
            tokio::select! {
                ended = &mut run => break ended,
                _now = signs.tick() => self.note(EventKind::Notification, &format!("hook {name} runs")),
            }
        };
        let failure = match ended {
            Ok(HookEnd { failure: None, .. }) => None,
            Ok(HookEnd {
                failure: Some(how),
                output,
                ..
            }) => Some(with_last_line(&how, &output)),
            Err(error) => Some(error.to_string()),
        };
        match failure {
            None => {
                self.note(EventKind::Notification, &format!("hook {name} completed"));
                Ok(())
            }
            Some(failure) => {
                let text = format!("hook {name} failed: {failure}");
                self.note(EventKind::Notification, &text);
                Err(text)
            }
        }
    }

    fn note(&mut self, event: EventKind, message: &str) {
        self.events.write(AttemptEvent {
            event,
            at: Timestamp::now(),
            pid: None,
            thread_id: None,
            turn_id: None,
            turn_count: 0,
            usage: None,
            rate_limits: None,
            message: message.to_owned(),
        });
    }

    /// Returns the environment of hooks and agents: that of whoever started the service, with the mark by which processes of
    /// a dead worker are found.
    fn environment(&self) -> BTreeMap<OsString, OsString> {
        let mut environment = self.worker.environment.clone();
        let id = self.worker.files.folder().file_name().unwrap_or_default();
        environment.insert(RUN_MARKER.into(), id.to_owned());
        environment
    }
}

/// Adds the last line of output, which mostly says why.
fn with_last_line(how: &str, output: &str) -> String {
    let last = output.lines().map(str::trim).rfind(|line| !line.is_empty());
    last.map_or_else(
        || how.to_owned(),
        |line| {
            let short: String = line.chars().take(200).collect();
            format!("{how}: {short}")
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_says_why() {
        assert_eq!(with_last_line("exit code 1", " \n"), "exit code 1");
        assert_eq!(
            with_last_line("exit code 1", "a\nno such branch \n\n"),
            "exit code 1: no such branch"
        );
        assert!(with_last_line("x", &"y".repeat(5000)).len() < 210);
    }
}

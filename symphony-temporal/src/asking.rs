//! The thread of [`Offers`](crate::Offers): it waits for the service, beats for what the worker has, and reports what happened to it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use symphony_core::config::TemporalSettings;
use symphony_core::id::RunId;
use symphony_core::placement::Pool;
use temporalio_client::grpc::WorkflowService;
use temporalio_common::protos::temporal::api::workflowservice::v1::{
    PollActivityTaskQueueRequest, PollActivityTaskQueueResponse,
    RecordActivityTaskHeartbeatRequest, RespondActivityTaskCanceledRequest,
    RespondActivityTaskCompletedRequest, RespondActivityTaskFailedRequest,
};
use tokio::task::JoinSet;
use tonic::{Code, IntoRequest};

use crate::connect::{LIMIT, Line, POLL_LIMIT};
use crate::error::TemporalError;
use crate::form::Form;
use crate::shared::{Offer, OfferEnd, Shared};
use crate::tasks;
use crate::ticket::{Ticket, Times};
use crate::wire::{final_failure, part, queue};

/// Time between two attempts to reach a service that is away.
const AGAIN: Duration = Duration::from_secs(1);

/// Asks one service for the runs of one pool.
pub(crate) struct Asking {
    pub(crate) settings: TemporalSettings,
    pub(crate) pool: Pool,
    pub(crate) identity: String,
    pub(crate) times: Times,
    pub(crate) shared: Arc<Shared>,
}

/// An activity that the service holds for this worker.
struct Held {
    token: Vec<u8>,
    beaten: tokio::time::Instant,
}

impl Asking {
    /// Asks until the worker ends. A service that is away is asked again until it is back.
    pub(crate) async fn ask(self) {
        let mut held = BTreeMap::new();
        while !self.shared.state().is_closing {
            if let Err(error) = self.ask_once(&mut held).await {
                self.shared.state().note(&error);
                tokio::select! {
                    () = tokio::time::sleep(AGAIN) => {}
                    () = self.closing() => {}
                }
            }
        }
    }

    async fn ask_once(&self, held: &mut BTreeMap<RunId, Held>) -> Result<(), TemporalError> {
        let line = Line::connect(&self.settings, &self.identity).await?;
        let form = line.form().await?;
        self.shared.state().problem = None;
        self.serve(&line, form, held).await
    }

    /// Ends when the worker does.
    async fn closing(&self) {
        while !self.shared.state().is_closing {
            self.shared.changed.notified().await;
        }
    }

    /// Asks for runs, beats for those that the worker has, and reports their ends, until the connection breaks or the worker ends.
    async fn serve(
        &self,
        line: &Line,
        form: Form,
        held: &mut BTreeMap<RunId, Held>,
    ) -> Result<(), TemporalError> {
        let mut polls = JoinSet::new();
        let mut decisions = JoinSet::new();
        let mut beats = tokio::time::interval(self.times.beat.min(Duration::from_secs(1)));
        loop {
            self.report_ends(line, held).await?;
            let (wanted, is_closing) = {
                let state = self.shared.state();
                (state.wanted, state.is_closing)
            };
            if is_closing {
                polls.abort_all();
                decisions.abort_all();
                return self.give_back(line, held).await;
            }
            // One question at a time: the answer comes at once when a run waits, and a question whose answer is lost with the connection
            // keeps one run from others until the service misses its heartbeats.
            if wanted > 0 && polls.is_empty() {
                polls.spawn(poll(line.service(), self.question(line)));
            }
            // Also without a free slot: a workflow whose activity has ended is open until a worker says so, and an open one keeps its run from others.
            if form == Form::Workflow && decisions.is_empty() {
                decisions.spawn(tasks::poll(
                    line.service(),
                    tasks::question(line, &self.pool),
                ));
            }
            tokio::select! {
                Some(answer) = polls.join_next() => match answer {
                    Ok(answer) => self.receive(line, held, answer).await?,
                    Err(error) => tracing::warn!(%error, "a question for runs has ended"),
                },
                Some(answer) = decisions.join_next() => match answer {
                    Ok(answer) => tasks::decide(line, answer).await?,
                    Err(error) => tracing::warn!(%error, "a question for workflows has ended"),
                },
                _ = beats.tick() => self.beat(line, held).await?,
                () = self.shared.changed.notified() => {}
            }
        }
    }

    fn question(&self, line: &Line) -> PollActivityTaskQueueRequest {
        PollActivityTaskQueueRequest {
            namespace: line.namespace.clone(),
            task_queue: Some(queue(&self.pool)),
            identity: line.identity.clone(),
            ..PollActivityTaskQueueRequest::default()
        }
    }

    async fn receive(
        &self,
        line: &Line,
        held: &mut BTreeMap<RunId, Held>,
        answer: Result<PollActivityTaskQueueResponse, tonic::Status>,
    ) -> Result<(), TemporalError> {
        let answer = std::future::ready(answer.map(tonic::Response::new));
        let known = [Code::DeadlineExceeded, Code::NotFound];
        let task = match line.answer("poll for runs", LIMIT, answer, &known).await? {
            Ok(task) => task,
            Err(Code::NotFound) => return Err(line.no_namespace()),
            // The service ends a question that has waited for long enough.
            Err(_waited) => return Ok(()),
        };
        if task.task_token.is_empty() {
            return Ok(());
        }
        match Ticket::read(&task.activity_id, part(task.input.as_ref(), 0)) {
            Ok(ticket) => {
                held.insert(
                    ticket.run.clone(),
                    Held {
                        token: task.task_token,
                        beaten: tokio::time::Instant::now(),
                    },
                );
                let mut state = self.shared.state();
                state.wanted = state.wanted.saturating_sub(1);
                state.offered.push_back(Offer { run: ticket.run });
                Ok(())
            }
            Err(problem) => {
                tracing::warn!(%problem, "an activity is not a run");
                let end = OfferEnd::Returned {
                    why: problem.to_string(),
                };
                self.respond(line, task.task_token, &end).await
            }
        }
    }

    /// Says for each activity that is due that the worker lives. One that the service has given up, or that was cancelled before the worker
    /// took it, is dropped.
    async fn beat(
        &self,
        line: &Line,
        held: &mut BTreeMap<RunId, Held>,
    ) -> Result<(), TemporalError> {
        let due: Vec<RunId> = held
            .iter()
            .filter(|(_, held)| held.beaten.elapsed() >= self.times.beat)
            .map(|(run, _)| run.clone())
            .collect();
        for run in due {
            let Some(of) = held.get_mut(&run) else {
                continue;
            };
            let request = RecordActivityTaskHeartbeatRequest {
                task_token: of.token.clone(),
                identity: line.identity.clone(),
                namespace: line.namespace.clone(),
                ..RecordActivityTaskHeartbeatRequest::default()
            };
            let mut service = line.service();
            let answer = service.record_activity_task_heartbeat(request.into_request());
            let gone = [Code::NotFound];
            match line
                .answer("record a heartbeat", LIMIT, answer, &gone)
                .await?
            {
                Ok(beat) if beat.cancel_requested => self.cancelled(line, held, &run).await?,
                Ok(_) => of.beaten = tokio::time::Instant::now(),
                Err(_gone) => self.forget(held, &run),
            }
        }
        Ok(())
    }

    /// A run that the worker has begun goes on: whether it is to end is for the database.
    async fn cancelled(
        &self,
        line: &Line,
        held: &mut BTreeMap<RunId, Held>,
        run: &RunId,
    ) -> Result<(), TemporalError> {
        let Some(of) = held.get(run) else {
            return Ok(());
        };
        let request = RespondActivityTaskCanceledRequest {
            task_token: of.token.clone(),
            identity: line.identity.clone(),
            namespace: line.namespace.clone(),
            ..RespondActivityTaskCanceledRequest::default()
        };
        let mut service = line.service();
        let answer = service.respond_activity_task_canceled(request.into_request());
        let gone = [Code::NotFound];
        line.answer("end a cancelled activity", LIMIT, answer, &gone)
            .await?
            .ok();
        self.forget(held, run);
        Ok(())
    }

    fn forget(&self, held: &mut BTreeMap<RunId, Held>, run: &RunId) {
        held.remove(run);
        let mut state = self.shared.state();
        state.offered.retain(|offer| offer.run != *run);
    }

    async fn report_ends(
        &self,
        line: &Line,
        held: &mut BTreeMap<RunId, Held>,
    ) -> Result<(), TemporalError> {
        loop {
            let Some((run, end)) = self.shared.state().ended.pop_first() else {
                return Ok(());
            };
            let Some(of) = held.get(&run) else { continue };
            if let Err(error) = self.respond(line, of.token.clone(), &end).await {
                self.shared.state().ended.entry(run).or_insert(end);
                return Err(error);
            }
            held.remove(&run);
        }
    }

    async fn respond(
        &self,
        line: &Line,
        task_token: Vec<u8>,
        end: &OfferEnd,
    ) -> Result<(), TemporalError> {
        let (namespace, identity) = (line.namespace.clone(), line.identity.clone());
        let gone = [Code::NotFound];
        let mut service = line.service();
        match end {
            OfferEnd::Done => {
                let request = RespondActivityTaskCompletedRequest {
                    task_token,
                    namespace,
                    identity,
                    ..RespondActivityTaskCompletedRequest::default()
                };
                let answer = service.respond_activity_task_completed(request.into_request());
                line.answer("complete an activity", LIMIT, answer, &gone)
                    .await?
                    .ok();
            }
            OfferEnd::Returned { why } => {
                let request = RespondActivityTaskFailedRequest {
                    task_token,
                    namespace,
                    identity,
                    failure: Some(final_failure(why.clone())),
                    ..RespondActivityTaskFailedRequest::default()
                };
                let answer = service.respond_activity_task_failed(request.into_request());
                line.answer("return an activity", LIMIT, answer, &gone)
                    .await?
                    .ok();
            }
        }
        Ok(())
    }

    /// What was offered and not taken goes to other workers. What was begun stays: the run lives on, and the service misses its heartbeats.
    async fn give_back(
        &self,
        line: &Line,
        held: &mut BTreeMap<RunId, Held>,
    ) -> Result<(), TemporalError> {
        let offered: Vec<Offer> = self.shared.state().offered.drain(..).collect();
        for offer in offered {
            if let Some(of) = held.remove(&offer.run) {
                let end = OfferEnd::Returned {
                    why: "the worker ends".to_owned(),
                };
                self.respond(line, of.token, &end).await?;
            }
        }
        Ok(())
    }
}

async fn poll(
    mut service: Box<dyn WorkflowService>,
    question: PollActivityTaskQueueRequest,
) -> Result<PollActivityTaskQueueResponse, tonic::Status> {
    let answer = service.poll_activity_task_queue(question.into_request());
    match tokio::time::timeout(POLL_LIMIT, answer).await {
        Ok(answer) => answer.map(tonic::Response::into_inner),
        Err(_elapsed) => Err(tonic::Status::unavailable(
            "no answer to a question for runs",
        )),
    }
}

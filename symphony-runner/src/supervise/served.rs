//! The socket by which an agent reaches the tools of its run.

use symphony_mcp::{RunSocket, Service, StoreThread};
use symphony_workspace::Failpoint;

use super::Job;
use super::prepare::Prepared;
use crate::error::RunnerError;
use crate::process::may_speak_for_run;

/// Serves the run's socket while an agent works. Returns what came of the work, and whether the socket was asked anything.
pub(super) async fn while_served<T>(
    job: &Job<'_>,
    store: &StoreThread,
    prepared: &Prepared,
    work: impl Future<Output = T>,
) -> Result<(T, bool), RunnerError> {
    // Bound before the agent starts: its MCP client connects at once, and would give up on a socket that does not exist
    // yet.
    let socket = RunSocket::bind(&job.paths.socket(), job.run.target.is_review())?
        .with_peer_check(|peer| may_speak_for_run(peer.uid, peer.pid));
    let service = Service::new(prepared.identity.clone(), store.clone())
        .with_redactor(prepared.redactor.clone());
    let serving = tokio::spawn(socket.serve(service.clone()));
    Failpoint::AgentListening.reach();
    let done = work.await;
    // The agent has ended: any process that still holds the socket is a stray, which must not write to the database any
    // longer.
    serving.abort();
    let _aborted = serving.await;
    Ok((done, service.was_asked()))
}

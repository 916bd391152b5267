//! Messages of a person to the agent of a run: those in its prompt, and those that come while it works.

use symphony_core::id::{CommentId, IssueId};
use symphony_core::message::{Addressee, message_text};
use symphony_mcp::StoreThread;

use super::Job;
use super::streams::AgentStreams;
use crate::conversation::Letter;

/// The messages of a run.
#[derive(Debug)]
pub(super) struct RunMessages {
    /// Where they wait; `None` for a run whose agent takes none.
    from: Option<(IssueId, Addressee)>,
    /// Those in its prompt, until it has read that.
    in_prompt: Vec<CommentId>,
    /// Those that the agent has, and that are not recorded yet.
    to_record: Vec<CommentId>,
    /// Those of the waiting ones that need not be sent: this is the one place that knows.
    sent: Vec<CommentId>,
}

impl RunMessages {
    /// `in_prompt` are those in the prompt.
    pub(super) fn new(job: &Job<'_>, in_prompt: &[CommentId]) -> Self {
        let of = Addressee::of(&job.run).ok();
        Self {
            from: of.map(|(issue, addressee)| (issue.clone(), addressee)),
            in_prompt: in_prompt.to_vec(),
            to_record: Vec::new(),
            sent: in_prompt.to_vec(),
        }
    }

    /// Sends the agent what was written since, and records what it has got. What fails is tried again half a second later.
    pub(super) async fn pass_on(
        &mut self,
        job: &Job<'_>,
        store: &StoreThread,
        streams: &mut AgentStreams,
    ) {
        let has_read = streams.state().has_worked();
        self.record(job, store, streams, has_read).await;
        let Some((issue, addressee)) = self.from.clone().filter(|_| streams.takes_messages())
        else {
            return;
        };
        let waiting = store
            .call(move |store| store.waiting_messages(&issue, addressee))
            .await;
        match waiting {
            Ok(Ok(waiting)) => {
                let ids: Vec<CommentId> = waiting.iter().map(|comment| comment.id).collect();
                let Sorted { new, gone } = sort_out(&mut self.sent, &ids);
                for message in gone {
                    streams.withdraw(message);
                }
                for comment in waiting.iter().filter(|comment| new.contains(&comment.id)) {
                    streams.say(Letter {
                        id: comment.id,
                        text: message_text(&comment.content, comment.unverified.as_deref()),
                    });
                }
            }
            Ok(Err(error)) => tracing::warn!(%error, "cannot read the messages to the agent"),
            Err(error) => tracing::warn!(%error, "cannot read the messages to the agent"),
        }
    }

    /// Records what the agent has got. `has_read` says whether it has read its prompt: its model has answered, or it has
    /// succeeded without reporting that.
    pub(super) async fn record(
        &mut self,
        job: &Job<'_>,
        store: &StoreThread,
        streams: &mut AgentStreams,
        has_read: bool,
    ) {
        if has_read {
            self.to_record.append(&mut self.in_prompt);
        }
        self.to_record.extend(streams.take_read());
        if self.to_record.is_empty() {
            return;
        }
        let (context, run, read) = (job.as_run(), job.run.id.clone(), self.to_record.clone());
        let recorded = store
            .call(move |store| store.messages_read(&context, &run, &read))
            .await;
        match recorded {
            Ok(Ok(())) => self.to_record.clear(),
            Ok(Err(error)) => tracing::warn!(%error, "cannot record that the agent got a message"),
            Err(error) => tracing::warn!(%error, "cannot record that the agent got a message"),
        }
    }
}

/// What changed among the messages that wait.
#[derive(Debug, PartialEq, Eq)]
struct Sorted {
    /// Those to send.
    new: Vec<CommentId>,
    /// Those that wait no more: they were read or withdrawn, and never wait again.
    gone: Vec<CommentId>,
}

/// Compares what waits with what was sent, which is what waits afterwards. No message is sent twice.
fn sort_out(sent: &mut Vec<CommentId>, waiting: &[CommentId]) -> Sorted {
    let is_in = |ids: &[CommentId], id: &CommentId| ids.contains(id);
    let new = waiting.iter().filter(|id| !is_in(sent, id)).copied();
    let new: Vec<CommentId> = new.collect();
    let gone = sent.iter().filter(|id| !is_in(waiting, id)).copied();
    let gone = gone.collect();
    *sent = waiting.to_vec();
    Sorted { new, gone }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_sent_once_and_dropped_when_it_waits_no_more() {
        let ids = |numbers: &[i64]| -> Vec<CommentId> {
            numbers
                .iter()
                .map(|number| CommentId::new(*number))
                .collect()
        };
        let mut sent = ids(&[1]);
        for (waiting, new, gone) in [
            (&[1, 2][..], &[2][..], &[][..]),
            (&[1, 2], &[], &[]),
            (&[2, 3], &[3], &[1]),
            (&[], &[], &[2, 3]),
            (&[4], &[4], &[]),
        ] {
            let sorted = sort_out(&mut sent, &ids(waiting));
            let (new, gone) = (ids(new), ids(gone));
            assert_eq!(sorted, Sorted { new, gone }, "{waiting:?}");
        }
    }
}

//! Answers to people's comments at the forge, written into their threads there.

use symphony_core::review_point::{AnswerKind, PointAnswer, ReviewPoint};
use symphony_core::user::Source;
use symphony_forge::remote::{PullNumber, RemoteReviewComment, RemoteState};
use symphony_store::ForgeReply;
use symphony_tracker::fault::Fault;
use symphony_tracker::{marker, quote};
use symphony_workspace::Failpoint;

use super::fault::as_forge;
use super::round::{Mirrored, Round};
use crate::outreach::stop::Stop;

impl Round<'_> {
    /// Puts new answers into the outbox, and sends what waits there.
    pub(super) async fn reply(&mut self, both: &Mirrored) -> Result<(), Stop> {
        let open = both.theirs.as_ref();
        let Some(theirs) = open.filter(|theirs| theirs.state == RemoteState::Open) else {
            return Ok(());
        };
        self.plan_replies(both)?;
        let waiting = self.session.store.waiting_replies(both.pull.id)?;
        if waiting.is_empty() {
            return Ok(());
        }
        // After a death, or in a database that was restored, some of them are there already.
        let written = self.client.review_comments(theirs.number).await?;
        for reply in waiting {
            self.send_reply(theirs.number, &reply, &written).await?;
        }
        Ok(())
    }

    fn plan_replies(&mut self, both: &Mirrored) -> Result<(), Stop> {
        let threads = self.session.store.threads_of_points(both.pull.id)?;
        if threads.is_empty() {
            return Ok(());
        }
        let replied = self.session.store.replied_answers(both.pull.id)?;
        let context = as_forge();
        for point in self.session.store.review_points(&both.pr.of)? {
            let Some(thread) = threads.get(&point.number) else {
                continue;
            };
            for (at, answer) in point.answers.iter().enumerate() {
                let is_new = !replied.contains(&(point.number, at));
                // what came from there is there
                if is_new && answer.attribution.source != Some(Source::Tracker) {
                    let body = reply_text(&point, answer);
                    let store = &mut self.session.store;
                    let about = (point.number, at);
                    store.add_forge_reply(&context, both.pull.id, thread, about, &body)?;
                }
            }
        }
        Ok(())
    }

    async fn send_reply(
        &mut self,
        number: PullNumber,
        reply: &ForgeReply,
        written: &[RemoteReviewComment],
    ) -> Result<(), Stop> {
        let is_there = written
            .iter()
            .any(|comment| marker::find(&comment.body).as_ref() == Some(&reply.id));
        let refused = if is_there {
            None
        } else {
            let store = &mut self.session.store;
            store.begin_forge_reply(&as_forge(), &reply.id)?;
            let body = marker::with(&reply.body, &reply.id);
            let sent = self.client.reply(number, &reply.thread, &body).await;
            Failpoint::ForgeReplied.reach();
            match sent {
                Ok(_) => None,
                // the comment was deleted, or the thread takes no more replies
                Err(fault @ (Fault::NotFound { .. } | Fault::Refused { .. })) => {
                    Some(fault.to_string())
                }
                Err(fault) => return Err(fault.into()),
            }
        };
        let store = &mut self.session.store;
        Ok(store.end_forge_reply(&as_forge(), &reply.id, refused.as_deref())?)
    }
}

/// What is written into a thread. Agents' texts are quoted.
fn reply_text(point: &ReviewPoint, answer: &PointAnswer) -> String {
    let what = match answer.kind {
        AnswerKind::Fixed => "Fixed",
        AnswerKind::Declined => "Declined",
        AnswerKind::Question => "A question before this can be done",
        AnswerKind::Remark => "Remark",
    };
    let commit = answer
        .commit
        .as_deref()
        .map(|commit| format!(" in {}", commit.get(..10).unwrap_or(commit)))
        .unwrap_or_default();
    let by = answer.attribution.name_or(answer.author.name());
    format!(
        "**{what}**{commit} (point {}, {by})\n\n{}",
        point.number,
        quote::agent_text(&answer.text)
    )
}

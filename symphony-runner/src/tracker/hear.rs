//! A comment that was read at the tracker.

use symphony_core::Timestamp;
use symphony_core::asker::Verification;
use symphony_core::id::IssueId;
use symphony_core::log::TrackerEntry;
use symphony_core::user::{Attribution, Source, UserName};
use symphony_store::{Actor, Context, LinkNews, Person, RemoteAct, TakenComment, TrackerLink};
use symphony_tracker::change::Change;
use symphony_tracker::comment::{Act, Discussion, Incoming, NewComment, read_comment, refusal};
use symphony_tracker::linked::{Covers, Departing};
use symphony_tracker::remote::RemoteComment;
use symphony_workspace::Failpoint;

use super::mirror::{Mirror, as_tracker};
use super::text::noted;
use crate::outreach::stop::Stop;

impl Mirror<'_> {
    /// Takes a comment of the tracker in, and does what it asks for.
    pub(super) fn hear(&mut self, comment: &RemoteComment) -> Result<(), Stop> {
        let link = self
            .session
            .store
            .link_of_external(self.record.id, &comment.issue)?;
        let Some(link) = link else {
            return Ok(());
        };
        let Some(issue) = link.issue.clone() else {
            return Ok(());
        };
        match self.meaning(&link, &issue, comment)? {
            Incoming::Known | Incoming::Ours { settles: None } => Ok(()),
            Incoming::Ours {
                settles: Some(change),
            } => {
                let context = as_tracker();
                let store = &mut self.session.store;
                Ok(store.settle_comment(&context, &change, &comment.id)?)
            }
            Incoming::Edited => {
                let context = as_tracker();
                self.session.store.note_edited_comment(
                    &context,
                    link.id,
                    &comment.id,
                    comment.updated_at,
                )?;
                self.log(
                    &link,
                    "a comment was edited there; its first text counts here",
                )
            }
            Incoming::New(new) => self.hear_new(&link, &issue, comment, &new),
        }
    }

    fn meaning(
        &self,
        link: &TrackerLink,
        issue: &IssueId,
        comment: &RemoteComment,
    ) -> Result<Incoming, Stop> {
        let store = &self.session.store;
        let known = store.known_comments(link.id)?;
        let state = store.issue(issue)?.state;
        let open = store.open_pr(issue)?;
        let discussion = Discussion {
            known: &known,
            state: &state,
            state_since: self.there(store.state_since(issue)?),
            linked_at: self.there(link.linked_at),
            own_user: self.record.own_user.as_ref(),
            pushed_head: open.as_ref().map(|pr| pr.head_commit.as_str()),
        };
        Ok(read_comment(self.settings, comment, &discussion))
    }

    /// Returns a time of ours by the tracker's clock, which its comments have their times of. Whole seconds, as GitHub's times are.
    fn there(&self, ours: Timestamp) -> Timestamp {
        let there = ours.as_millisecond() + self.client.clock_ahead_ms();
        Timestamp::from_second(there.div_euclid(1000)).unwrap_or(ours)
    }

    fn hear_new(
        &mut self,
        link: &TrackerLink,
        issue: &IssueId,
        comment: &RemoteComment,
        new: &NewComment,
    ) -> Result<(), Stop> {
        let by = match &new.act {
            Act::Answer { by } | Act::Command { by, .. } | Act::Refused { by, .. } => Some(by),
            Act::Nothing | Act::Ignored { .. } => None,
        };
        let context = if let Some(by) = by {
            self.commander(by)
        } else {
            let login = new.author.as_ref().map(|author| author.login.clone());
            Context::tracker(login, Timestamp::now())
        };
        let follows = matches!(new.act, Act::Answer { .. } | Act::Command { .. });
        let taken = TakenComment {
            link: link.id,
            issue,
            external: &comment.id,
            updated_at: comment.updated_at,
            content: &new.text,
        };
        let act = if follows {
            RemoteAct::Follows
        } else {
            RemoteAct::None
        };
        // The comment first: an agent that starts because of it has to read it.
        let store = &mut self.session.store;
        let is_new = store.take_comment(&context, &taken, act)?.is_some();
        self.report.comments += usize::from(is_new);
        Failpoint::TrackerHeard.reach();
        match &new.act {
            Act::Nothing => Ok(()),
            Act::Ignored { why } => {
                let text = format!("a command in a comment was ignored: {}", why.reason());
                self.log(link, &text)
            }
            Act::Refused { reply, .. } => self.reply(link, reply),
            Act::Answer { by } | Act::Command { by, .. } => {
                // A process may have died after it did this, and before it could record so.
                let is_done = self.session.store.has_acted(link.id, &comment.id, by)?;
                if !is_done && let Err(error) = self.act(issue, &context, &new.act) {
                    self.reply(link, &refusal(&format!("{error}.")))?;
                }
                self.report.note_changed(issue);
                Failpoint::TrackerActed.reach();
                let store = &mut self.session.store;
                Ok(store.end_remote_act(&context, link.id, &comment.id)?)
            }
        }
    }

    /// Who acts by a comment: the user whose id is configured. Symphony cannot tell who uses an account, and records that: an agent
    /// without a sandbox could use its owner's.
    fn commander(&self, by: &UserName) -> Context {
        let reason = format!("a comment on {}", self.settings.name);
        Context {
            actor: Actor::Human(Person {
                verification: Verification::Unverified(reason),
                attribution: Attribution {
                    source: Some(Source::Tracker),
                    user: Some(by.clone()),
                },
            }),
            now: Timestamp::now(),
        }
    }

    /// Writes a comment at the tracker.
    fn reply(&mut self, link: &TrackerLink, text: &str) -> Result<(), Stop> {
        let reply = Departing {
            change: Change::AddComment {
                body: text.to_owned(),
            },
            covers: Covers::Comment,
        };
        let context = as_tracker();
        let news = LinkNews {
            send: std::slice::from_ref(&reply),
            ..LinkNews::of(link.id)
        };
        Ok(self.session.store.settle_link(&context, &news)?)
    }

    fn log(&mut self, link: &TrackerLink, text: &str) -> Result<(), Stop> {
        let entry: TrackerEntry = noted(&self.settings.name, text);
        let context = as_tracker();
        let news = LinkNews {
            entries: std::slice::from_ref(&entry),
            ..LinkNews::of(link.id)
        };
        Ok(self.session.store.settle_link(&context, &news)?)
    }
}

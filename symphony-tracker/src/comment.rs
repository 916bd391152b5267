//! What a comment of a tracker means: ours, a remark, an answer or a command.
//!
//! Text of a tracker is untrusted. A comment acts only if a person of the settings wrote it, by the id that no rename changes, and if
//! it is as it was first written. Whatever it does, its text is kept as a comment of the tracker's user.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use symphony_core::Timestamp;
use symphony_core::config::TrackerSettings;
use symphony_core::issue::{BlockedBy, IssueState};
use symphony_core::user::UserName;

use crate::change::ChangeId;
use crate::command::{self, Command};
use crate::remote::{ExternalId, RemoteComment, RemoteUser};
use crate::{marker, text};

/// What stands for the text of a comment without text.
const NO_TEXT: &str = "(no text)";
/// Why an edited command is not carried out.
const EDITED: &str = "It was edited after it was written, and another person may have done that. Write it in a new comment.";
/// The reply to an edited answer.
const EDITED_ANSWER: &str = "Symphony did not take this comment as the answer: it was edited after it was written, and another person may have done that. \
     Write the answer in a new comment.";

/// The comments that are known of one issue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownComments {
    /// Comments of the tracker that are here already, with the time of their last change.
    pub taken: BTreeMap<ExternalId, Timestamp>,
    /// Changes of ours that write a comment, with the comment as far as a result is recorded.
    pub ours: BTreeMap<ChangeId, Option<ExternalId>>,
}

/// The issue that a comment is on, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discussion<'a> {
    /// The comments that are known.
    pub known: &'a KnownComments,
    /// The state of the issue.
    pub state: &'a IssueState,
    /// Since when it is in this state, by the tracker's clock.
    pub state_since: Timestamp,
    /// When it was linked, by the tracker's clock.
    pub linked_at: Timestamp,
    /// The head of its open pull request, as far as it was pushed.
    pub pushed_head: Option<&'a str>,
    /// The user that Symphony writes as, if it is known: a marker of another user claims nothing.
    pub own_user: Option<&'a ExternalId>,
}

/// What a comment means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incoming {
    /// Symphony wrote it.
    Ours {
        /// The change that wrote it, if its result was not recorded: it is settled, with this comment.
        settles: Option<ChangeId>,
    },
    /// It is here already.
    Known,
    /// It is here already and was changed since. Ours stays as it was, since it may have been acted on; the log gets a note.
    Edited,
    /// It is new.
    New(Box<NewComment>),
}

/// A new comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewComment {
    /// Who wrote it; missing for a deleted user.
    pub author: Option<RemoteUser>,
    /// Its text, as Symphony can hold it.
    pub text: String,
    /// When it was written.
    pub written_at: Timestamp,
    /// What it does.
    pub act: Act,
}

/// What a comment does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Nothing.
    Nothing,
    /// It answers a blocked issue: the issue is tried again, with the comment.
    Answer {
        /// Who answers.
        by: UserName,
    },
    /// It gives a command.
    Command {
        /// Who gives it.
        by: UserName,
        /// Which.
        command: Command,
    },
    /// It gives a command that cannot be carried out. A comment replies with the reason.
    Refused {
        /// Who gave it.
        by: UserName,
        /// The reply.
        reply: String,
    },
    /// It looks like a command, and is ignored. The log gets a note.
    Ignored {
        /// Why.
        why: WhyIgnored,
    },
}

/// Why a command is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyIgnored {
    /// Its author is not one of those who may give commands.
    NotAllowed,
    /// It was changed after it was written: another person may have done that.
    Edited,
    /// It has a marker of Symphony, and may be copied from what an agent wrote.
    Marked,
    /// It was written before the issue was linked: it was meant for someone else.
    TooOld,
}

impl WhyIgnored {
    /// Returns the reason, for the log.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::NotAllowed => "its author is not among the tracker's `commanders`",
            Self::Edited => "it was edited after it was written",
            Self::Marked => "it has a marker of a comment that Symphony wrote",
            Self::TooOld => "it was written before Symphony mirrored the issue",
        }
    }
}

/// Decides what a comment means.
pub fn read_comment(
    settings: &TrackerSettings,
    comment: &RemoteComment,
    issue: &Discussion<'_>,
) -> Incoming {
    if let Some(ours) = as_ours(comment, issue) {
        return ours;
    }
    if let Some(taken_at) = issue.known.taken.get(&comment.id) {
        return if comment.updated_at > *taken_at {
            Incoming::Edited
        } else {
            Incoming::Known
        };
    }
    let text = text::body_in(&comment.body);
    let text = if text.trim().is_empty() {
        NO_TEXT.to_owned()
    } else {
        text
    };
    Incoming::New(Box::new(NewComment {
        author: comment.author.clone(),
        act: act(settings, comment, issue),
        text,
        written_at: comment.created_at,
    }))
}

/// Returns the text of the comment that replies to a refused command; also for a refusal of the store.
pub fn refusal(reason: &str) -> String {
    format!("Symphony did not carry out this command. {reason}")
}

/// Recognises a comment of ours: by its id, where the tracker takes ours; by the id of a recorded result; or by a marker whose
/// change has no result yet. A marker of a change that made another comment was copied.
fn as_ours(comment: &RemoteComment, issue: &Discussion<'_>) -> Option<Incoming> {
    let ours = &issue.known.ours;
    if ours.values().flatten().any(|id| *id == comment.id) {
        return Some(Incoming::Ours { settles: None });
    }
    let own_id = ChangeId::new(comment.id.as_str());
    let is_by_us = issue.own_user.is_none_or(|own| {
        let author = comment.author.as_ref();
        author.is_some_and(|author| author.id == *own)
    });
    let claimed = marker::find(&comment.body).filter(|_| is_by_us);
    let change = [Some(own_id), claimed]
        .into_iter()
        .flatten()
        .find(|change| ours.get(change) == Some(&None))?;
    Some(Incoming::Ours {
        settles: Some(change),
    })
}

fn act(settings: &TrackerSettings, comment: &RemoteComment, issue: &Discussion<'_>) -> Act {
    let commander = comment.author.as_ref().and_then(|author| {
        let mut commanders = settings.commanders.iter();
        commanders.find(|(_, id)| id.as_str() == author.id.as_str())
    });
    let by = commander.map(|(name, _)| name.clone());
    let flaw = if comment.is_edited {
        Some(WhyIgnored::Edited)
    } else if marker::is_in(&comment.body) {
        Some(WhyIgnored::Marked)
    } else if comment.created_at < issue.linked_at {
        Some(WhyIgnored::TooOld)
    } else {
        None
    };
    match (command::after_word(&comment.body), by, flaw) {
        (None, Some(by), None) if answers(comment, issue) => Act::Answer { by },
        // Another person may have edited it, so it does not count; its author has to hear that, or would wait for ever.
        (None, Some(by), Some(WhyIgnored::Edited)) if answers(comment, issue) => Act::Refused {
            by,
            reply: EDITED_ANSWER.to_owned(),
        },
        (Some(_), Some(by), Some(WhyIgnored::Edited)) => Act::Refused {
            by,
            reply: refusal(EDITED),
        },
        (None, _, _) => Act::Nothing,
        (Some(_), None, _) => Act::Ignored {
            why: WhyIgnored::NotAllowed,
        },
        (Some(_), Some(_), Some(why)) => Act::Ignored { why },
        (Some(rest), Some(by), None) => match command::read(rest, issue.pushed_head) {
            Ok(command) => Act::Command { by, command },
            Err(reason) => Act::Refused {
                by,
                reply: refusal(&reason),
            },
        },
    }
}

/// Returns whether a comment can be an answer: the issue waits for a person's words, and did when it was written. What waits for
/// money, for a look at changed settings, for sub-tasks or for the person who took it over needs an explicit command.
fn answers(comment: &RemoteComment, issue: &Discussion<'_>) -> bool {
    let waits_for_words = issue.state.block().is_some_and(|block| {
        matches!(
            block.by,
            BlockedBy::Agent | BlockedBy::Human | BlockedBy::Question | BlockedBy::Gates
        )
    });
    waits_for_words && comment.created_at >= issue.state_since && !comment.body.trim().is_empty()
}

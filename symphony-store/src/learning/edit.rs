//! Changing the text of a learning, which only people do. The log keeps the text that it had before.

use symphony_core::id::LearningId;
use symphony_core::learning::LearningState;
use symphony_core::log::LogEvent;
use symphony_learning::Prepared;

use crate::database::context::{Actor, Context};
use crate::database::event::append;
use crate::database::open::Store;
use crate::error::StoreError;
use crate::learning::pack::unpack_learning;
use crate::learning::record::{check_new_text, find_known};
use crate::learning::row::{LearningRecord, about, keep_prepared, load_learning};

/// What happened to the text of a learning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LearningEdit {
    /// It was changed.
    Changed(LearningRecord),
    /// It was this text already.
    Unchanged(LearningRecord),
    /// This other learning already says it. Nothing was written.
    Known(LearningRecord),
}

impl Store {
    /// Changes the text of a learning. The rules for the text of a new learning hold: a text that another learning of the project
    /// already has is not recorded again.
    ///
    /// # Errors
    /// When the learning does not exist, the text breaks a limit, has no letter and no digit, or a run calls it.
    pub fn edit_learning(
        &mut self,
        context: &Context,
        id: &LearningId,
        text: &str,
    ) -> Result<LearningEdit, StoreError> {
        if matches!(context.actor, Actor::Run(_)) {
            return Err(StoreError::OnlyPeople("edit learnings"));
        }
        self.write(context, |tx| {
            let mut record = load_learning(tx, id.as_str())?;
            if record.learning.pattern == text {
                return Ok(LearningEdit::Unchanged(record));
            }
            let before = std::mem::replace(&mut record.learning.pattern, text.to_owned());
            check_new_text(&record)?;
            if let Some((known, _)) = find_known(tx, &record.project, id, text, None)? {
                return Ok(LearningEdit::Known(load_learning(tx, known.as_str())?));
            }
            // What ranking reads of an accepted learning may be in a pack.
            if record.state == LearningState::Accepted {
                unpack_learning(tx, record.project.as_str(), id.as_str())?;
            }
            tx.prepare_cached("UPDATE learning SET pattern = ?2 WHERE id = ?1")?
                .execute([id.as_str(), text])?;
            keep_prepared(
                tx,
                record.project.as_str(),
                id.as_str(),
                &Prepared::new(&record.learning),
            )?;
            let event = LogEvent::LearningEdited {
                learning: id.clone(),
                before,
                after: text.to_owned(),
            };
            append(tx, context, about(&record), &event)?;
            Ok(LearningEdit::Changed(record))
        })
    }
}

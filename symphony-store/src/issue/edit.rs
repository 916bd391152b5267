//! Changing fields of an issue, alone or with a move.

use symphony_core::id::{IssueId, PhaseName};
use symphony_core::issue::{
    AttemptCounts, CommentAuthor, Issue, IssueEvent, IssueStatus, Priority, Size, check_labels,
    check_required_text, check_text, check_title, phase_of,
};
use symphony_core::log::{LogEvent, SetByPeople, Writer};
use symphony_core::profile::ModelName;

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::{json as from_json, parsed};
use crate::db::{Transaction, params};
use crate::error::StoreError;
use crate::issue::add::{rank, title_key};
use crate::issue::cascade::move_in;
use crate::issue::dependency::set_dependencies;
use crate::issue::note::add_limited_comment;
use crate::issue::query::load_issue;
use crate::issue::refusal::IssueRefusal;
use crate::issue::write::{set_counts, set_labels};
use crate::review::superseded::end_superseded;
use crate::run::hand_in::forget_refused_call;

/// What to change of an issue; `None` leaves the field unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IssueEdit {
    /// Title.
    pub title: Option<String>,
    /// Description.
    pub description: Option<String>,
    /// Priority.
    pub priority: Option<Priority>,
    /// Estimated amount of work; the inner `None` unsets it.
    pub size: Option<Option<Size>>,
    /// Labels; replaces all of them.
    pub labels: Option<Vec<String>>,
    /// Dependencies; replaces all of them.
    pub depends_on: Option<Vec<IssueId>>,
    /// The provider that its authors run with; the inner `None` leaves it to the profile and the project.
    pub provider: Option<Option<String>>,
    /// The model that its authors use; the inner `None` leaves it to the profile and the project.
    pub model: Option<Option<ModelName>>,
}

/// A move, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueMove {
    /// The event.
    pub event: IssueEvent,
    /// A comment with the reason.
    pub comment: Option<String>,
}

impl Store {
    /// Changes fields of an issue.
    ///
    /// # Errors
    /// When the issue does not exist, a field breaks a limit, dependencies would form a cycle, or an agent would undo a
    /// person's label or priority.
    pub fn edit_issue(
        &mut self,
        context: &Context,
        id: &IssueId,
        edit: &IssueEdit,
    ) -> Result<Issue, StoreError> {
        self.edit_and_move_issue(context, id, edit, None)
    }

    /// Changes fields of an issue and moves it, both or neither.
    ///
    /// # Errors
    /// As [`Store::edit_issue`] and [`Store::move_issue_with_comment`].
    pub fn edit_and_move_issue(
        &mut self,
        context: &Context,
        id: &IssueId,
        edit: &IssueEdit,
        step: Option<&IssueMove>,
    ) -> Result<Issue, StoreError> {
        check_fields(edit)?;
        if let Some(comment) = step.and_then(|step| step.comment.as_deref()) {
            check_required_text("comment", comment)?;
        }
        self.write(context, |tx| {
            if *edit != IssueEdit::default() {
                edit_in(tx, context, id, edit)?;
            }
            if let Some(IssueMove { event, comment }) = step {
                move_in(tx, context, id, event)?;
                if let Some(comment) = comment {
                    add_limited_comment(tx, context, id, comment)?;
                }
            }
            forget_refused_call(tx, context)?;
            load_issue(tx, id)
        })
    }
}

fn check_fields(edit: &IssueEdit) -> Result<(), StoreError> {
    if let Some(title) = &edit.title {
        check_title(title)?;
    }
    if let Some(text) = &edit.description {
        check_text("description", text)?;
    }
    if let Some(labels) = &edit.labels {
        check_labels(labels)?;
    }
    Ok(())
}

fn edit_in(
    tx: &Transaction<'_>,
    context: &Context,
    id: &IssueId,
    edit: &IssueEdit,
) -> Result<(), StoreError> {
    let issue = load_issue(tx, id)?;
    // Read in the transaction that writes: a label that a person sets meanwhile must not be lost to an agent's older
    // view.
    if context.actor.run().is_some() {
        keep_what_people_set(tx, &issue, edit)?;
    }
    let title = edit.title.as_ref().unwrap_or(&issue.title);
    let description = edit.description.as_ref().unwrap_or(&issue.description);
    let size = edit.size.unwrap_or(issue.size);
    let model = edit.model.as_ref().unwrap_or(&issue.choice.model);
    let model = model.as_ref();
    tx.execute(
        "UPDATE issue SET title = ?2, title_key = ?3, description = ?4, priority = ?5, size = ?6, updated_at = ?7, provider = ?8, model = ?9
         WHERE id = ?1",
        params![
            id.as_str(),
            title,
            title_key(title),
            description,
            rank(edit.priority.unwrap_or(issue.priority)),
            size.map(Size::name),
            context.now.as_millisecond(),
            edit.provider.as_ref().unwrap_or(&issue.choice.provider),
            model.map(ModelName::as_str),
        ],
    )?;
    if let Some(labels) = &edit.labels {
        set_labels(tx, id, labels)?;
        if context.actor.is_human() && begins_phase(&issue, labels) {
            // The counts belong to another phase. Those of a shelved issue stay, and are shown, until it is in work
            // again.
            set_counts(tx, id, AttemptCounts::default())?;
            append(tx, context, About::issue(id), &LogEvent::CountsCleared {})?;
        }
        end_superseded(tx, context, id)?;
    }
    if let Some(dependencies) = &edit.depends_on {
        set_dependencies(tx, id, dependencies)?;
    }
    if context.actor.is_human() {
        // With this edit a person has seen the issue that intake left unchanged.
        tx.execute(
            "UPDATE issue SET intake = 'changed' WHERE id = ?1 AND intake = 'unchanged'",
            [id.as_str()],
        )?;
    }
    append(
        tx,
        context,
        About::issue(id),
        &LogEvent::IssueEdited {
            released_from: None,
            labels_added: edit
                .labels
                .iter()
                .flatten()
                .filter(|label| !issue.labels.contains(label))
                .cloned()
                .collect(),
            priority: edit.priority,
        },
    )
}

/// Refuses an agent's edit that would remove a label, or change a priority, that a person set.
fn keep_what_people_set(
    tx: &Transaction<'_>,
    issue: &Issue,
    edit: &IssueEdit,
) -> Result<(), StoreError> {
    let mut log = tx.prepare_cached(
        "SELECT kind, payload, actor FROM event WHERE issue = ?1 AND kind IN ('issue_added', 'issue_edited') ORDER BY id",
    )?;
    let mut rows = log.query([issue.id.as_str()])?;
    let mut events = Vec::new();
    while let Some(row) = &rows.next()? {
        let writer = match parsed("actor", row.get("actor")?)? {
            CommentAuthor::Agent(_) => Writer::Agent,
            CommentAuthor::Human | CommentAuthor::System | CommentAuthor::Tracker => Writer::Person,
        };
        let payload = from_json("payload", &row.get::<_, String>("payload")?)?;
        events.push((
            writer,
            LogEvent::read(&row.get::<_, String>("kind")?, &payload),
        ));
    }
    let set = SetByPeople::of(issue, events.iter().map(|(writer, event)| (*writer, event)));
    match set.undone_by(edit.labels.as_deref(), edit.priority) {
        None => Ok(()),
        Some(choice) => Err(IssueRefusal::SetByPerson(choice).into()),
    }
}

/// Returns whether labels move an issue in work to another phase. An issue without a phase counts as in `ready`.
fn begins_phase(issue: &Issue, labels: &[String]) -> bool {
    let delivers = |phase: Option<PhaseName>| phase.filter(|phase| !phase.is_ready());
    let is_shelved =
        issue.state.status() == IssueStatus::Backlog || issue.state.status().is_terminal();
    !is_shelved && delivers(issue.phase()) != delivers(phase_of(labels))
}

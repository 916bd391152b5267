//! Carries out what the tracker's side changes here, by the same functions that commands and the page use.

use symphony_core::id::IssueId;
use symphony_core::issue::{DependentsFate, IssueStatus, Resolution};
use symphony_core::log::TrackerEntry;
use symphony_store::{IssueEdit, StoreError};
use symphony_tracker::arrival::Step;

use super::mirror::{Mirror, as_tracker};
use super::text::noted;
use crate::error::RunnerError;
use crate::order::{Ending, OrderRefusal, edit_issue, end_issue, shift_issue};

impl Mirror<'_> {
    /// Carries out steps one by one. One that is refused is an entry for the log and a problem of the report; the others are
    /// carried out.
    pub(super) fn carry_out(&mut self, issue: &IssueId, steps: &[Step]) -> Vec<TrackerEntry> {
        let mut log = Vec::new();
        for step in steps {
            if let Err(error) = self.step(issue, step) {
                let text = format!("{} failed: {error}", words(step));
                self.report.problems.push(format!("{issue}: {text}"));
                log.push(noted(&self.settings.name, &text));
            }
        }
        log
    }

    fn step(&mut self, issue: &IssueId, step: &Step) -> Result<(), RunnerError> {
        match step {
            Step::SetTitle { title } => self.edit(issue, |edit| edit.title = Some(title.clone())),
            Step::SetDescription { description } => {
                self.edit(issue, |edit| edit.description = Some(description.clone()))
            }
            Step::SetPriority { priority } => {
                self.edit(issue, |edit| edit.priority = Some(*priority))
            }
            Step::SetLabels { add, remove } => {
                let mut labels = self.session.store.issue(issue)?.labels;
                labels.retain(|label| !remove.contains(label));
                labels.extend(
                    add.iter()
                        .filter(|label| !labels.contains(label))
                        .cloned()
                        .collect::<Vec<_>>(),
                );
                self.edit(issue, |edit| edit.labels = Some(labels))
            }
            Step::Close { resolution } => self.close(issue, *resolution),
            Step::Reopen => self.shift(issue, IssueStatus::Todo),
            Step::Move { to } => self.shift(issue, *to),
            Step::SetParent { parent } => self.set_parent(issue, Some(parent)),
            Step::ClearParent { .. } => self.set_parent(issue, None),
            Step::AddDependency { on } => {
                let mut depends_on = self.session.store.issue(issue)?.depends_on;
                if depends_on.contains(on) {
                    return Ok(());
                }
                depends_on.push(on.clone());
                self.edit(issue, |edit| edit.depends_on = Some(depends_on))
            }
            Step::RemoveDependency { on } => {
                let mut depends_on = self.session.store.issue(issue)?.depends_on;
                depends_on.retain(|dependency| dependency != on);
                self.edit(issue, |edit| edit.depends_on = Some(depends_on))
            }
        }
    }

    fn edit(
        &mut self,
        issue: &IssueId,
        change: impl FnOnce(&mut IssueEdit),
    ) -> Result<(), RunnerError> {
        let mut edit = IssueEdit::default();
        change(&mut edit);
        let context = as_tracker();
        edit_issue(self.session, &context, issue, &edit).map(drop)
    }

    fn close(&mut self, issue: &IssueId, resolution: Resolution) -> Result<(), RunnerError> {
        let reason = format!("closed on {}", self.settings.name);
        // What depends on it stays and waits: whether it is still wanted is for a person to say.
        let ending = Ending::closed(issue, resolution, &reason, Some(DependentsFate::Keep))?;
        let context = as_tracker();
        match end_issue(self.session, &context, &ending) {
            // It ended here meanwhile, which is what was asked for.
            Err(RunnerError::Order(OrderRefusal::Ended { .. })) => Ok(()),
            other => other.map(drop),
        }
    }

    fn shift(&mut self, issue: &IssueId, to: IssueStatus) -> Result<(), RunnerError> {
        let context = as_tracker();
        shift_issue(self.session, &context, issue, to).map(drop)
    }

    fn set_parent(&mut self, issue: &IssueId, parent: Option<&IssueId>) -> Result<(), RunnerError> {
        let context = as_tracker();
        let done: Result<(), StoreError> = self.session.store.set_parent(&context, issue, parent);
        Ok(done?)
    }
}

/// What a step does, at the beginning of a sentence.
const fn words(step: &Step) -> &'static str {
    match step {
        Step::SetTitle { .. } => "taking the title over",
        Step::SetDescription { .. } => "taking the description over",
        Step::SetLabels { .. } => "taking labels over",
        Step::SetPriority { .. } => "taking the priority over",
        Step::Close { .. } => "closing it",
        Step::Reopen => "reopening it",
        Step::Move { .. } => "moving it",
        Step::SetParent { .. } | Step::ClearParent { .. } => "taking its parent over",
        Step::AddDependency { .. } | Step::RemoveDependency { .. } => "taking what blocks it over",
    }
}

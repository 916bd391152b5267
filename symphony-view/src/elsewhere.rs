//! Commands that are offered for a project other than the one that you are in: they name the folder of that project, so
//! that they work when they are typed here.

use std::collections::BTreeMap;
use std::path::Path;

use symphony_core::command_line::{text_elsewhere, typed_elsewhere};
use symphony_core::id::ProjectId;
use symphony_core::inbox::InboxItem;
use symphony_store::{Store, StoreError};

use crate::{DecisionView, WaitView};

/// The projects of the installation other than the one that commands typed here act on, with their folders.
#[derive(Debug)]
pub struct Elsewhere {
    roots: BTreeMap<ProjectId, String>,
}

impl Elsewhere {
    /// Finds them for a command typed in a repository; none: typed in no repository.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn load(here: Option<&Path>, store: &Store) -> Result<Self, StoreError> {
        let projects = store.projects()?.into_iter();
        // no command runs in a folder that is gone
        let elsewhere = projects
            .filter(|project| Some(project.root.as_path()) != here && project.root.is_dir());
        let roots = elsewhere.map(|project| (project.id, project.root.display().to_string()));
        Ok(Self {
            roots: roots.collect(),
        })
    }

    /// Returns an item of the inbox with the commands that answer it, typed here.
    pub fn item(&self, mut item: InboxItem) -> InboxItem {
        if let Some(root) = self.root(item.project.as_ref()) {
            item.text = text_elsewhere(&item.text, root);
            for answer in &mut item.answers {
                *answer = typed_elsewhere(answer, root);
            }
        }
        item
    }

    /// Rewrites what something of a project waits for.
    pub fn waits(&self, project: &ProjectId, waits: &mut [WaitView]) {
        let Some(root) = self.root(Some(project)) else {
            return;
        };
        for wait in waits {
            let text = match wait {
                WaitView::Dispatch(reason) => &mut reason.text,
                WaitView::Person { text, .. } => text,
            };
            *text = text_elsewhere(text, root);
        }
    }

    /// Returns a text about a project with commands as they are typed here.
    pub fn text(&self, project: &ProjectId, text: String) -> String {
        match self.root(Some(project)) {
            Some(root) => text_elsewhere(&text, root),
            None => text,
        }
    }

    /// Rewrites why a tick leaves things of other projects alone.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn decisions(
        &self,
        store: &mut Store,
        decisions: &mut [DecisionView],
    ) -> Result<(), StoreError> {
        if self.roots.is_empty() {
            return Ok(());
        }
        for decision in decisions {
            let mut with_commands = decision
                .reasons
                .iter_mut()
                .filter(|reason| reason.text.contains('`'))
                .peekable();
            if with_commands.peek().is_none() {
                continue;
            }
            let project = match (&decision.issue, &decision.plan) {
                (Some(issue), _) => Some(store.issue(issue)?.project),
                (None, Some(plan)) => Some(store.plan(plan)?.project),
                (None, None) => decision.project.clone(),
            };
            if let Some(root) = self.root(project.as_ref()) {
                for reason in with_commands {
                    reason.text = text_elsewhere(&reason.text, root);
                }
            }
        }
        Ok(())
    }

    fn root(&self, project: Option<&ProjectId>) -> Option<&str> {
        self.roots.get(project?).map(String::as_str)
    }
}

//! Steps, as a store applies them.

use symphony_core::id::IssueId;
use symphony_core::issue::{IssueEvent, Review, apply, human_move};
use symphony_tracker::arrival::Step;
use symphony_tracker::linked::Activity;

use super::Model;

impl Model {
    /// Applies steps as a store does: each has to be one that the state machine takes.
    pub(super) fn take(&mut self, issue: &IssueId, steps: Vec<Step>) {
        let local = self.locals.get_mut(issue).unwrap();
        for step in steps {
            let event = match step {
                Step::SetTitle { title } => {
                    local.ours.title = title;
                    continue;
                }
                Step::SetDescription { description } => {
                    local.ours.description = description;
                    continue;
                }
                Step::SetLabels { add, remove } => {
                    for name in remove {
                        assert!(local.ours.labels.remove(&name), "{name}");
                    }
                    local.ours.labels.extend(add);
                    continue;
                }
                Step::SetPriority { priority } => {
                    local.ours.priority = priority;
                    continue;
                }
                Step::SetParent { parent } => {
                    local.parent = Some(parent);
                    continue;
                }
                Step::ClearParent { .. }
                | Step::AddDependency { .. }
                | Step::RemoveDependency { .. } => continue,
                Step::Close { resolution } => {
                    if local.activity == Activity::Run {
                        local.activity = Activity::Idle;
                    }
                    local.review = Review::None;
                    IssueEvent::Closed {
                        resolution,
                        reason: "closed there".into(),
                    }
                }
                Step::Reopen => IssueEvent::Reopened,
                Step::Move { to } => {
                    assert_ne!(local.activity, Activity::Run, "a run ends first");
                    human_move(&local.ours.state, to, local.review).unwrap()
                }
            };
            local.ours.state = apply(&local.ours.state, &event).unwrap();
        }
    }
}

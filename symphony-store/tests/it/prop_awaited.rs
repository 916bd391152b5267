//! Whatever happens to issues that wait for each other, their rows say which of them others wait for (I12).

use proptest::prelude::*;
use proptest::sample::{Index, select};
use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::id::{IssueId, ProjectId};
use symphony_core::issue::{DependentsFate, IssueEvent, IssueStatus, Resolution};
use symphony_core::run::{Run, RunStatus, RunTarget};
use symphony_store::{AuditRequest, IssueEdit, Links, NewIssue, NewProject, Store};

use crate::support::{finish, human, new_issue, project, store, system, try_claim};

#[derive(Debug, Clone)]
enum Step {
    Add(bool, IssueStatus, Vec<Index>, Option<Index>),
    Depend(Index, Vec<Index>),
    Reparent(Index, Option<Index>),
    Move(Index, IssueEvent),
    Delete(Index),
    Claim(Index),
    End(RunStatus, Option<ErrorClass>),
    RemoveOther(DependentsFate),
    RestoreOther,
}

fn closed(resolution: Resolution) -> IssueEvent {
    IssueEvent::Closed {
        resolution,
        reason: "r".to_owned(),
    }
}

fn steps() -> impl Strategy<Value = Step> {
    let any_issue = any::<Index>;
    let some = || proptest::collection::vec(any::<Index>(), 0..3);
    let event = select(vec![
        IssueEvent::Queued,
        IssueEvent::Shelved,
        IssueEvent::Shelved,
        IssueEvent::Reopened,
        IssueEvent::SubtasksOpened,
        IssueEvent::SubtasksClosed,
        closed(Resolution::Done),
        closed(Resolution::Cancelled),
    ]);
    let end = select(vec![
        (RunStatus::Succeeded, None),
        (RunStatus::Failed, Some(ErrorClass::AgentFailed)),
        (RunStatus::Cancelled, Some(ErrorClass::Cancelled)),
    ]);
    let status = select(vec![IssueStatus::Todo, IssueStatus::Backlog]);
    prop_oneof![
        4 => (any::<bool>(), status, some(), proptest::option::of(any_issue()))
            .prop_map(|(own, status, before, parent)| Step::Add(own, status, before, parent)),
        4 => (any_issue(), some()).prop_map(|(issue, before)| Step::Depend(issue, before)),
        2 => (any_issue(), proptest::option::of(any_issue())).prop_map(|(issue, parent)| Step::Reparent(issue, parent)),
        8 => (any_issue(), event).prop_map(|(issue, event)| Step::Move(issue, event)),
        1 => any_issue().prop_map(Step::Delete),
        4 => any_issue().prop_map(Step::Claim),
        2 => end.prop_map(|(status, class)| Step::End(status, class)),
        1 => select(DependentsFate::ALL.to_vec()).prop_map(Step::RemoveOther),
        1 => Just(Step::RestoreOther),
    ]
}

fn other() -> NewProject {
    NewProject {
        id: ProjectId::parse("other").unwrap(),
        name: "Other".into(),
        root: "/other".into(),
        prefix: "OTH".into(),
    }
}

/// What a test knows besides the database.
#[derive(Default)]
struct World {
    issues: Vec<IssueId>,
    live: Vec<Run>,
    runs: usize,
}

impl World {
    fn pick(&self, index: Index) -> Option<IssueId> {
        (!self.issues.is_empty()).then(|| index.get(&self.issues).clone())
    }

    fn picks(&self, indexes: &[Index]) -> Vec<IssueId> {
        indexes.iter().filter_map(|one| self.pick(*one)).collect()
    }

    /// Takes a step. Refusals leave everything as it is.
    fn take(&mut self, store: &mut Store, step: &Step) -> Option<()> {
        match step {
            Step::Add(own, status, before, parent) => {
                let parent = parent.and_then(|parent| self.pick(parent));
                let new = NewIssue {
                    project: if *own { project() } else { other().id },
                    status: *status,
                    depends_on: self.picks(before),
                    parent,
                    ..new_issue(&format!("issue {}", self.issues.len()))
                };
                self.issues.push(store.add_issue(&human(1), &new).ok()?.id);
            }
            Step::Depend(issue, before) => {
                let edit = IssueEdit {
                    depends_on: Some(self.picks(before)),
                    ..IssueEdit::default()
                };
                store
                    .edit_issue(&human(2), &self.pick(*issue)?, &edit)
                    .ok()?;
            }
            Step::Reparent(issue, parent) => {
                let parent = parent.and_then(|parent| self.pick(parent));
                store
                    .set_parent(&human(3), &self.pick(*issue)?, parent.as_ref())
                    .ok()?;
            }
            Step::Move(issue, event) => {
                store
                    .move_issue(&human(4), &self.pick(*issue)?, event)
                    .ok()?;
            }
            Step::Delete(issue) => {
                let issue = self.pick(*issue)?;
                store.delete_issue(&human(5), &issue, Links::Detach).ok()?;
                self.issues.retain(|known| *known != issue);
            }
            Step::Claim(issue) => {
                let issue = RunTarget::Issue(self.pick(*issue)?);
                self.runs += 1;
                let run = format!("r{}", self.runs);
                self.live
                    .push(try_claim(store, &run, issue, AgentType::Worker).ok()?);
            }
            Step::End(status, class) => {
                let end = finish(&self.live.pop()?, *status, *class);
                store.finish_run(&system(6), &end).ok()?;
            }
            Step::RemoveOther(fate) => {
                store.remove_project(&human(7), &other().id, *fate).ok()?;
            }
            Step::RestoreOther => {
                store.add_project(&human(8), &other()).ok()?;
            }
        }
        Some(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_others_wait_for_is_marked_whatever_happens(steps in proptest::collection::vec(steps(), 1..40)) {
        let mut store = store();
        store.add_project(&human(0), &other()).unwrap();
        let mut world = World::default();
        for step in &steps {
            let _refused = world.take(&mut store, step);
        }
        let found = store.audit(&AuditRequest::default()).unwrap();
        let wrong: Vec<_> = found.iter().filter(|one| one.detail.contains("await") || one.detail.contains("issues wait for it")).collect();
        prop_assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

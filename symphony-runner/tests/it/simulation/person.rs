//! People: they file, move, merge, reject, end runs, and change their minds.

use symphony_core::agent::AgentType;
use symphony_core::contract::Delivery;
use symphony_core::failure::ErrorClass;
use symphony_core::id::IssueId;
use symphony_core::issue::{
    BlockedBy, Issue, IssueStatus, NEEDS_PLANNING_LABEL, Priority, Review, Size, allowed_moves,
    human_move,
};
use symphony_core::judges_ended::{JudgeEnd, JudgesEnded};
use symphony_core::profile::AgentChoice;
use symphony_core::pull_request::{PullRequest, VerdictKind};
use symphony_core::review_point::{PointChanges, PointMove, PointState};
use symphony_core::run::{RunStatus, RunTarget};
use symphony_store::{BaseMove, Context, IssueEdit, NewIssue, NewVerdict, RunFilter, StoreError};

use super::course::Course;
use super::stage::Trouble;

/// Open issues above which nobody files more.
const OPEN_MAX: usize = 40;
/// How often a person looks at something each minute.
const LOOKS: u32 = 3;

impl Course {
    /// What people do in a minute.
    pub(super) fn people(&mut self) {
        let done = self.settle_merges().and_then(|()| match self.trouble {
            Trouble::Wild => self.meddle(),
            Trouble::Calm => self.answer_all(),
        });
        match done {
            Ok(()) | Err(StoreError::DiskFull(_)) => {}
            Err(error) => self.machine.fail(format_args!("a person: {error}")),
        }
    }

    /// A person does something about what a tick is just about to start.
    pub(super) fn change_mind(&mut self, target: &RunTarget) {
        let Some(issue) = target.issue().map(|id| self.store.issue(id).unwrap()) else {
            return;
        };
        match self.settle_merges() {
            Ok(()) | Err(StoreError::DiskFull(_)) => {}
            Err(error) => self.machine.fail(format_args!("a person: {error}")),
        }
        let done = match issue.state.status() {
            IssueStatus::Todo if self.machine.random.chance(1, 2) => {
                self.change_dependencies(&issue)
            }
            IssueStatus::Todo if self.machine.random.chance(1, 2) => {
                self.change_phase(&self.human(), &issue)
            }
            _ => self.relocate(&issue, IssueStatus::Backlog),
        };
        match done {
            Ok(()) | Err(StoreError::DiskFull(_) | StoreError::Transition { .. }) => {}
            Err(error) if error.is_refusal() => {}
            Err(error) => self.machine.fail(format_args!("a person: {error}")),
        }
    }

    pub(super) fn human(&self) -> Context {
        Context::human(self.machine.now())
    }

    fn meddle(&mut self) -> Result<(), StoreError> {
        if self.open.len() < OPEN_MAX && self.machine.random.chance(1, 3) {
            let stage =
                usize::try_from(self.machine.random.below(self.stages.len() as u64)).unwrap();
            // where scanners work, people seldom file
            let scanned = self.stages[stage].config.scanner_enabled;
            if !scanned || self.machine.random.chance(1, 8) {
                self.file(stage)?;
            }
        }
        if self.machine.random.chance(1, 800) {
            self.store.set_paused(&self.human(), true)?;
        } else if self.machine.random.chance(1, 20) {
            self.store.set_paused(&self.human(), false)?;
        }
        self.restart_wizard()?;
        for _ in 0..LOOKS {
            if self.open.is_empty() {
                break;
            }
            // each look is a command of its own, and the one before may have died in a merge
            self.settle_merges()?;
            let id = self.machine.random.pick(&self.open).clone();
            let issue = self.store.issue(&id)?;
            match self.look_at(&issue) {
                // somebody else was quicker, or it is not allowed
                Err(StoreError::Transition { .. }) => {}
                Err(error) if error.is_refusal() => {}
                other => other?,
            }
        }
        if self.machine.random.chance(1, 10) {
            self.settle_merges()?;
            self.forget_ended()?;
        }
        Ok(())
    }

    /// Files an issue, with some of everything.
    pub(super) fn file(&mut self, stage: usize) -> Result<IssueId, StoreError> {
        let wild = self.trouble == Trouble::Wild;
        let random = &mut self.machine.random;
        let mut depends_on = Vec::new();
        if wild && !self.open.is_empty() && random.chance(1, 4) {
            let prefix = &self.stages[stage].project.prefix;
            let on = random.pick(&self.open);
            if on.prefix() == prefix {
                depends_on.push(on.clone());
            }
        }
        let new = NewIssue {
            project: self.stages[stage].project.id.clone(),
            title: "Something".into(),
            description: "Please do it.".into(),
            status: if wild && random.chance(1, 8) {
                IssueStatus::Backlog
            } else {
                IssueStatus::Todo
            },
            priority: if wild {
                *random.pick(Priority::ALL)
            } else {
                Priority::None
            },
            size: (wild && random.chance(1, 5)).then(|| *random.pick(Size::ALL)),
            labels: match random.below(10) {
                0 | 1 if wild => vec![NEEDS_PLANNING_LABEL.into()],
                2..5 if wild => vec!["phase:research".into()],
                5 if wild => vec!["phase:grooming".into(), NEEDS_PLANNING_LABEL.into()],
                _ => vec![],
            },
            parent: None,
            depends_on,
            external_id: None,
            choice: AgentChoice::default(),
        };
        let issue = self.store.add_issue(&self.human(), &new)?;
        self.open.push(issue.id.clone());
        if wild && self.machine.random.chance(1, 20) {
            self.poisonous.insert(issue.id.clone());
        }
        Ok(issue.id)
    }

    fn look_at(&mut self, issue: &Issue) -> Result<(), StoreError> {
        let random = &mut self.machine.random;
        match issue.state.status() {
            IssueStatus::Review => {
                if let Some(pr) = self.store.open_pr(&issue.id)? {
                    return self.review(issue, &pr);
                }
                if let Some(claim) = self.store.open_delivery(&issue.id)? {
                    return self.look_at_claim(&claim);
                }
                if random.chance(1, 3) {
                    return self.relocate(issue, IssueStatus::Done);
                }
            }
            IssueStatus::Blocked if Self::is_split(issue) && random.chance(19, 20) => return Ok(()),
            IssueStatus::Backlog | IssueStatus::Blocked if random.chance(2, 5) => {
                return self.relocate(issue, IssueStatus::Todo);
            }
            IssueStatus::Todo if random.chance(1, 30) => {
                return self.change_dependencies(issue);
            }
            IssueStatus::Todo if random.chance(1, 20) => {
                self.store.clear_counts(&self.human(), &issue.id)?;
            }
            _ => {}
        }
        if self.machine.random.chance(1, 60) {
            return self.change_phase(&self.human(), issue);
        }
        if self.machine.random.chance(1, 40) {
            let review = self.review_of(&issue.id)?;
            let allowed = allowed_moves(&issue.state, review);
            if !allowed.is_empty() {
                let to = *self.machine.random.pick(&allowed);
                return self.relocate(issue, to);
            }
        }
        Ok(())
    }

    /// A person decides on few claims that a judge looks at, and soon on those that wait for a human.
    fn look_at_claim(&mut self, claim: &Delivery) -> Result<(), StoreError> {
        let judged = self.stage(&claim.project).config.judge_enabled;
        let kind = match self.machine.random.below(if judged { 60 } else { 6 }) {
            0..2 => VerdictKind::Approved,
            2 => VerdictKind::Rejected,
            _ => return Ok(()),
        };
        self.decide_delivery(&self.human(), claim, kind)
    }

    fn review_of(&self, id: &IssueId) -> Result<Review, StoreError> {
        Ok(if self.store.has_open_review(id)? {
            Review::Open
        } else {
            Review::None
        })
    }

    fn change_dependencies(&mut self, issue: &Issue) -> Result<(), StoreError> {
        let other = self.machine.random.pick(&self.open).clone();
        let same = other.prefix() == issue.id.prefix() && other != issue.id;
        let edit = IssueEdit {
            depends_on: Some(if same { vec![other] } else { vec![] }),
            ..IssueEdit::default()
        };
        self.store.edit_issue(&self.human(), &issue.id, &edit)?;
        Ok(())
    }

    /// A person is content with what was answered, and closes every open point.
    pub(super) fn close_points(&mut self, issue: &IssueId) -> Result<(), StoreError> {
        let of = issue.clone().into();
        let points = self.store.review_points(&of)?;
        let open = points.iter().filter(|point| point.is_open());
        let moved = open.map(|point| PointMove {
            number: point.number,
            to: PointState::Closed,
            remark: None,
        });
        let changes = PointChanges {
            new: vec![],
            moved: moved.collect(),
        };
        if !changes.is_empty() {
            self.store.change_points(&self.human(), &of, &changes)?;
        }
        Ok(())
    }

    fn review(&mut self, issue: &Issue, pr: &PullRequest) -> Result<(), StoreError> {
        self.close_points(&issue.id)?;
        let judged = pr
            .verdict_on_head()
            .is_some_and(|v| v.kind == VerdictKind::Approved);
        let green = pr
            .gates_of_head()
            .is_some_and(symphony_core::pull_request::VerifiedGates::green);
        let trusts = judged || !self.stage(&pr.project).config.judge_enabled;
        match self.machine.random.below(20) {
            0..8 if green && trusts => self.merge(issue, pr),
            8 => {
                if !self.end_run_of(&issue.id)? {
                    return Ok(());
                }
                let human = self.human();
                let kind = VerdictKind::Rejected;
                self.store.record_review(
                    &human,
                    pr.id,
                    &NewVerdict::plain(kind, &pr.head_commit, "Not so."),
                )?;
                Ok(())
            }
            9 => {
                if self.end_run_of(&issue.id)? {
                    self.store.close_pr(&self.human(), pr.id)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Merges as `symphony pr merge` does: intent, git, record; the process may die between.
    fn merge(&mut self, issue: &Issue, pr: &PullRequest) -> Result<(), StoreError> {
        if !self.end_run_of(&issue.id)? {
            return Ok(());
        }
        let pr = self.store.pr(pr.id)?;
        let status = self.store.issue(&issue.id)?.state.status();
        if !pr.state.is_open() || status != IssueStatus::Review {
            return Ok(());
        }
        self.maybe_tick();
        let head = pr.head_commit.clone();
        self.store.record_merge_intent(
            &self.human(),
            &pr,
            BaseMove {
                from: "base",
                to: &head,
                place: None,
            },
        )?;
        let wild = self.trouble == Trouble::Wild;
        if wild && self.machine.random.chance(1, 15) {
            return Ok(());
        }
        self.machine.merged.insert((pr.id, head.clone()));
        if wild && self.machine.random.chance(1, 15) {
            return Ok(());
        }
        self.store.record_merge(&self.human(), pr.id, &head)?;
        self.machine
            .note(format_args!("merged {} ({})", pr.id, issue.id));
        self.machine.count("merged");
        Ok(())
    }

    /// Settles merges that were cut off, as ticks and people's commands do first.
    pub(super) fn settle_merges(&mut self) -> Result<(), StoreError> {
        for project in self.store.projects()? {
            for intent in self.store.merge_intents(&project.id)? {
                let reached = (intent.pr, intent.merged.clone());
                if self.machine.merged.contains(&reached) {
                    self.store
                        .record_merge(&self.human(), intent.pr, &intent.merged)?;
                } else {
                    self.store.take_back_merge(&self.human(), &intent)?;
                }
                self.machine.count("settled");
            }
        }
        Ok(())
    }

    /// Moves as `symphony issue move` does: the live run is ended first.
    fn relocate(&mut self, issue: &Issue, to: IssueStatus) -> Result<(), StoreError> {
        if !self.end_run_of(&issue.id)? {
            return Ok(());
        }
        self.maybe_tick();
        let issue = self.store.issue(&issue.id)?;
        let review = self.review_of(&issue.id)?;
        let Ok(event) = human_move(&issue.state, to, review) else {
            return Ok(());
        };
        self.machine
            .note(format_args!("a person moves {} to {to}", issue.id));
        self.store.move_issue(&self.human(), &issue.id, &event)?;
        Ok(())
    }

    /// A tick of cron comes between two things that a person's command does.
    fn maybe_tick(&mut self) {
        if self.trouble == Trouble::Wild && self.machine.random.chance(1, 10) {
            self.tick();
        }
    }

    /// Ends the live run of an issue; false when its supervisor died, so that nobody does it.
    pub(super) fn end_run_of(&mut self, id: &IssueId) -> Result<bool, StoreError> {
        let filter = RunFilter {
            issue: Some(id.clone()),
            live_only: true,
            limit: Some(1),
            ..RunFilter::default()
        };
        let Some(run) = self.store.runs(&filter)?.into_iter().next() else {
            return Ok(true);
        };
        self.store.request_cancel(&self.human(), &run.id)?;
        // nobody answers: it is dead, or stopped
        let is_stopped = self.machine.stopped.contains(&run.id);
        if is_stopped || !self.machine.locks.contains(&run.id) {
            return Ok(false);
        }
        self.machine.note(format_args!("a person ends {}", run.id));
        self.machine.born.retain(|(born, _)| *born != run.id);
        self.end(&run, RunStatus::Cancelled, Some(ErrorClass::Cancelled))?;
        Ok(true)
    }

    /// People of calm times answer whatever waits for them.
    fn answer_all(&mut self) -> Result<(), StoreError> {
        self.store.set_paused(&self.human(), false)?;
        for id in self.open.clone() {
            let issue = self.store.issue(&id)?;
            match issue.state.status() {
                // nobody asks again for what fails each time
                IssueStatus::Backlog if self.poisonous.contains(&id) => {}
                IssueStatus::Backlog => self.relocate(&issue, IssueStatus::Todo)?,
                IssueStatus::Blocked if !self.waits_for_subtasks(&issue)? => {
                    self.relocate(&issue, IssueStatus::Todo)?;
                }
                IssueStatus::Todo => self.free(&issue)?,
                IssueStatus::Review => self.decide(&issue)?,
                _ => {}
            }
        }
        self.forget_ended()
    }

    fn is_split(issue: &Issue) -> bool {
        let by = issue.state.block().map(|block| block.by);
        by == Some(BlockedBy::Subtasks)
    }

    /// Says whether an issue is blocked by sub-tasks of which one is open or done: it goes on by itself.
    fn waits_for_subtasks(&self, issue: &Issue) -> Result<bool, StoreError> {
        if !Self::is_split(issue) {
            return Ok(false);
        }
        let filter = symphony_store::IssueFilter {
            parent: Some(issue.id.clone()),
            ..symphony_store::IssueFilter::default()
        };
        let parts = self.store.list_issues(&filter)?.items;
        Ok(parts
            .iter()
            .any(|part| part.state.status() != IssueStatus::Cancelled))
    }

    /// Takes what keeps an issue in `todo` away: spent attempts, dependencies that were given up, planning that is off.
    fn free(&mut self, issue: &Issue) -> Result<(), StoreError> {
        let config = &self.stage(&issue.project).config;
        let spent = symphony_core::outcome::breaker_opens(issue.counts, config.max_retries);
        let planning = config.planner_enabled;
        if spent {
            self.store.clear_counts(&self.human(), &issue.id)?;
        }
        let given_up = issue.depends_on.iter().any(|on| {
            let found = self.store.issue(on);
            found.is_ok_and(|on| on.state.status() == IssueStatus::Cancelled)
        });
        let unplanned = !planning && issue.labels.iter().any(|l| l == NEEDS_PLANNING_LABEL);
        if given_up || unplanned {
            let edit = IssueEdit {
                depends_on: given_up.then(Vec::new),
                labels: unplanned.then(|| {
                    let mut labels = issue.labels.clone();
                    labels.retain(|label| label != NEEDS_PLANNING_LABEL);
                    labels
                }),
                ..IssueEdit::default()
            };
            self.store.edit_issue(&self.human(), &issue.id, &edit)?;
        }
        Ok(())
    }

    /// Says whether so many judges ended that the next verdict is left to a person.
    fn judges_are_spent(&self, issue: &Issue) -> Result<bool, StoreError> {
        let filter = RunFilter {
            issue: Some(issue.id.clone()),
            ..RunFilter::default()
        };
        let runs = self.store.runs(&filter)?;
        let judges = runs
            .iter()
            .filter(|run| run.agent != AgentType::Gates)
            .take_while(|run| run.agent == AgentType::Judge && !run.status.is_live())
            .map(|run| JudgeEnd {
                class: run.error.as_ref().map(|error| error.class),
                has_exit_code: run.exit_code.is_some(),
            });
        let judges = JudgesEnded::count(judges, issue.counts.consecutive_failures);
        Ok(judges.are_spent(self.stage(&issue.project).config.max_retries))
    }

    fn decide(&mut self, issue: &Issue) -> Result<(), StoreError> {
        self.close_points(&issue.id)?;
        if self.judges_are_spent(issue)? {
            // as `symphony issue retry` does: another judge may try
            self.store.clear_counts(&self.human(), &issue.id)?;
        }
        if let Some(claim) = self.store.open_delivery(&issue.id)? {
            let judged = self.stage(&issue.project).config.judge_enabled;
            return if judged || !claim.awaits_judge() {
                Ok(())
            } else {
                self.decide_delivery(&self.human(), &claim, VerdictKind::Approved)
            };
        }
        let Some(pr) = self.store.open_pr(&issue.id)? else {
            return self.relocate(issue, IssueStatus::Done);
        };
        let judged = pr.verdict_on_head().is_some();
        // gates that never ran are run by the merge
        let waits =
            judged || !self.stage(&pr.project).config.judge_enabled || pr.gates_of_head().is_none();
        if waits {
            self.merge(issue, &pr)
        } else {
            Ok(())
        }
    }

    fn forget_ended(&mut self) -> Result<(), StoreError> {
        let mut open = Vec::new();
        for id in std::mem::take(&mut self.open) {
            if self.store.issue(&id)?.state.status().is_terminal() {
                self.ended.push(id);
            } else {
                open.push(id);
            }
        }
        self.open = open;
        if self.trouble == Trouble::Wild
            && !self.ended.is_empty()
            && self.machine.random.chance(1, 20)
        {
            let at = usize::try_from(self.machine.random.below(self.ended.len() as u64)).unwrap();
            let issue = self.store.issue(&self.ended.swap_remove(at))?;
            self.open.push(issue.id.clone());
            self.relocate(&issue, IssueStatus::Todo)?;
        }
        Ok(())
    }
}

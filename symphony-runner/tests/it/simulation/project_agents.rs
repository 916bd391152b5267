//! Agents of a project itself (wizard, scanner, background research) and intake: what they do, and what must hold of them.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::agent::AgentType;
use symphony_core::id::{IssueId, ProjectId};
use symphony_core::issue::{Issue, IssueState, IssueStatus, Priority, Size};
use symphony_core::profile::AgentChoice;
use symphony_core::project::WizardState;
use symphony_core::pull_request::VerdictKind;
use symphony_core::run::{Run, RunTarget};
use symphony_store::{
    Context, IssueEdit, IssueRefusal, NewIssue, NewVerdict, ProjectRefusal, ProjectSetup,
    StoreError,
};

use super::agent::{Step, killed_or_failed, succeeded};
use super::course::Course;
use super::random::Random;

/// Different things that scans find: few, so that they find them again.
const FINDS: u64 = 12;
/// What one run may file (spec: mcp, "Limits").
const FILED_MAX: u32 = 20;

/// Says whether a run is of an agent of this file.
pub(super) fn is_of_project(run: &Run) -> bool {
    let on_project = run.target == RunTarget::Project && run.agent != AgentType::Gates;
    on_project || run.agent == AgentType::Intake
}

/// What such an agent does when nothing is wrong. Scanners find nothing then, so that the work comes to an end.
pub(super) fn calm(agent: &AgentType) -> Vec<Step> {
    match agent {
        AgentType::Wizard => vec![Step::Configure, succeeded()],
        AgentType::Intake => vec![Step::Triage, succeeded()],
        _ => vec![succeeded()],
    }
}

/// What it does otherwise.
pub(super) fn wild(agent: &AgentType, random: &mut Random) -> Vec<Step> {
    use Step::{Configure, EndAndCall, FalseVerdict, File, Flood, Killed, Triage};
    let bad = killed_or_failed(random);
    let draw = random.below(100);
    match agent {
        AgentType::Wizard => match draw {
            0..35 => vec![Configure, succeeded()],
            35..50 => vec![succeeded()],
            50..70 => vec![bad],
            70..80 => vec![Configure, bad],
            80..88 => vec![Configure, Configure, succeeded()],
            88..94 => vec![FalseVerdict, Configure, succeeded()],
            _ => vec![Configure, EndAndCall],
        },
        AgentType::Intake => match draw {
            0..50 => vec![Triage, succeeded()],
            50..62 => vec![succeeded()],
            62..74 => vec![bad],
            74..82 => vec![Triage, bad],
            82..88 => vec![File, Triage, succeeded()],
            88..94 => vec![Step::Block, Step::HandBack, Triage, succeeded()],
            _ => vec![Triage, EndAndCall],
        },
        _ => match draw {
            0..40 => vec![File, File, File, succeeded()],
            40..50 => vec![FalseVerdict, succeeded()],
            50..65 => vec![FalseVerdict, File, bad],
            65..75 => vec![bad],
            75..78 => vec![Flood, succeeded()],
            78..88 => vec![FalseVerdict, File, succeeded()],
            88..92 => vec![File, Killed],
            _ => vec![File, EndAndCall],
        },
    }
}

/// What must be remembered of these agents.
#[derive(Debug, Default)]
pub(super) struct Remembered {
    /// Issues that intake has looked at.
    triaged: BTreeSet<IssueId>,
}

impl Course {
    /// A call of an agent of a project; none when the step is not of this file.
    pub(super) fn call_of_project(
        &mut self,
        run: &Run,
        context: &Context,
        call: &Step,
    ) -> Option<Result<(), StoreError>> {
        Some(match call {
            Step::Configure => self.configure(run, context),
            Step::Triage => self.triage(run, context),
            Step::File => {
                let what = self.machine.random.below(FINDS);
                self.file_found(run, context, &format!("found {what}"))
                    .map(|_filed| ())
            }
            Step::Flood => self.flood(run, context),
            Step::FalseVerdict => {
                self.judge_from_outside(run, context);
                Ok(())
            }
            _ => return None,
        })
    }

    fn configure(&mut self, run: &Run, context: &Context) -> Result<(), StoreError> {
        let setup = ProjectSetup {
            settings: serde_json::json!({}),
            worker_instructions: Some("Run the tests.".into()),
            judge_instructions: None,
        };
        self.store
            .configure_project(context, &run.project, &setup)?;
        self.machine.count("project set up");
        Ok(())
    }

    fn triage(&mut self, run: &Run, context: &Context) -> Result<(), StoreError> {
        let Some(issue) = run.target.issue() else {
            return Ok(());
        };
        let edit = IssueEdit {
            priority: Some(Priority::Low),
            size: Some(Some(Size::Small)),
            ..IssueEdit::default()
        };
        self.store.edit_issue(context, issue, &edit)?;
        self.machine.count("issue triaged");
        Ok(())
    }

    /// Files what was found: refused when an open issue of the project has its title, and only then.
    fn file_found(
        &mut self,
        run: &Run,
        context: &Context,
        title: &str,
    ) -> Result<IssueId, StoreError> {
        let twin = self.open_twin(&run.project, title)?;
        let new = NewIssue {
            project: run.project.clone(),
            title: title.to_uppercase(),
            description: "Seen on the way.".into(),
            status: IssueStatus::Backlog,
            priority: Priority::None,
            size: None,
            labels: vec!["phase:research".into()],
            parent: None,
            depends_on: vec![],
            external_id: None,
            choice: AgentChoice::default(),
        };
        match (self.store.add_issue(context, &new), twin) {
            (Ok(issue), None) => {
                self.machine.count("issue found");
                self.open.push(issue.id.clone());
                Ok(issue.id)
            }
            (Ok(issue), Some(twin)) => self.machine.fail(format_args!(
                "{} filed {} again: {twin} is open with the same title",
                run.id, issue.id
            )),
            (Err(error), Some(_)) => {
                self.machine.count("twin refused");
                Err(error)
            }
            (Err(error), None) => Err(error),
        }
    }

    fn open_twin(&self, project: &ProjectId, title: &str) -> Result<Option<IssueId>, StoreError> {
        for id in &self.open {
            let issue = self.store.issue(id)?;
            let same = issue.project == *project && issue.title.eq_ignore_ascii_case(title);
            if same && !issue.state.status().is_terminal() {
                return Ok(Some(issue.id));
            }
        }
        Ok(None)
    }

    /// Files more than a run may.
    fn flood(&mut self, run: &Run, context: &Context) -> Result<(), StoreError> {
        let mut filed = 0;
        for _ in 0..FILED_MAX + 5 {
            let title = format!("flood {}", self.machine.number());
            match self.file_found(run, context, &title) {
                Ok(_) => filed += 1,
                Err(StoreError::Issue(IssueRefusal::TooManyOfRun)) => {
                    self.machine.count("flood refused");
                }
                Err(error) => return Err(error),
            }
        }
        if filed > FILED_MAX {
            self.machine
                .fail(format_args!("{} filed {filed} issues", run.id));
        }
        Ok(())
    }

    /// An agent that is no judge speaks about somebody's pull request: never recorded.
    fn judge_from_outside(&mut self, run: &Run, context: &Context) {
        let open_pr = |id| self.store.open_pr(id).unwrap();
        let Some(pr) = self.open.iter().find_map(open_pr) else {
            return;
        };
        let approved = VerdictKind::Approved;
        let spoken = self.store.record_review(
            context,
            pr.id,
            &NewVerdict::plain(approved, &pr.head_commit, ""),
        );
        if spoken.is_ok() {
            self.machine
                .fail(format_args!("I9: {} could judge {}", run.id, pr.id));
        }
        self.machine.count("verdict of an outsider refused");
    }

    /// A call in the name of such a run that is over: always refused.
    pub(super) fn call_late_on_project(&mut self, run: &Run, context: &Context) -> StoreError {
        let setup = ProjectSetup::default();
        match self.store.configure_project(context, &run.project, &setup) {
            Err(error) => error,
            Ok(_) => self
                .machine
                .fail(format_args!("F1: {} configured after its end", run.id)),
        }
    }

    /// People let the wizard work again, now and then.
    pub(super) fn restart_wizard(&mut self) -> Result<(), StoreError> {
        for at in 0..self.stages.len() {
            let enabled = self.stages[at].config.wizard_enabled;
            if !enabled || !self.machine.random.chance(1, 150) {
                continue;
            }
            let id = self.stages[at].project.id.clone();
            match self.store.restart_wizard(&self.human(), &id) {
                Ok(_) => self.machine.count("set-up restarted"),
                Err(StoreError::Project(ProjectRefusal::WizardRuns(_))) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// What must hold of a run that a tick has just started.
    pub(super) fn look_at_start(&self, run: &Run) {
        let (id, agent) = (&run.id, &run.agent);
        let wizard = self.store.project(&run.project).unwrap().wizard;
        let pending = wizard == WizardState::Pending;
        let is_wizard = *agent == AgentType::Wizard;
        let enabled = self.stage(&run.project).config.wizard_enabled;
        if is_wizard && !pending {
            self.machine
                .fail(format_args!("{id} sets up once more: it is {wizard:?}"));
        }
        if !is_wizard && enabled && pending {
            self.machine
                .fail(format_args!("{id} ({agent}) started before the set-up"));
        }
        if *agent != AgentType::Intake {
            return;
        }
        let issue = run.target.issue().unwrap();
        if self.remembered.triaged.contains(issue) {
            self.machine
                .fail(format_args!("{id}: intake looks at {issue} once more"));
        }
        let status = self.store.issue(issue).unwrap().state.status();
        if status != IssueStatus::Backlog {
            self.machine
                .fail(format_args!("{id}: intake, and {issue} is {status}"));
        }
    }

    /// Nobody looks for work where there is some.
    pub(super) fn look_at_idle_work(&self, run: &Run) {
        let looks_for_work = !matches!(run.agent, AgentType::Wizard | AgentType::Gates);
        if run.target != RunTarget::Project || !looks_for_work {
            return;
        }
        let counts = self.store.issue_counts(&run.project).unwrap();
        let count = |status| counts.get(&status).copied().unwrap_or(0);
        let (todo, backlog) = (count(IssueStatus::Todo), count(IssueStatus::Backlog));
        if todo > 0 || backlog >= 10 {
            self.machine.fail(format_args!(
                "{} ({}) started with {todo} issues in todo and {backlog} in the backlog",
                run.id, run.agent
            ));
        }
    }

    /// What must hold when such a run has ended.
    pub(super) fn look_at_end(&mut self, run: &Run, held: bool, before: Option<&Issue>) {
        match (&run.agent, &run.target) {
            (AgentType::Intake, _) => {
                let before = before.unwrap();
                self.status_stays(run, &before.id, &before.state);
                if !held {
                    self.remembered.triaged.insert(before.id.clone());
                }
            }
            (AgentType::Wizard, _) => {
                let wizard = self.store.project(&run.project).unwrap().wizard;
                if wizard == WizardState::Failed {
                    self.machine.count("set-up failed");
                }
                if wizard == WizardState::Pending && !held {
                    self.machine
                        .fail(format_args!("{} ended, the set-up is pending", run.id));
                }
            }
            (agent, RunTarget::Project) => self.machine.count(if *agent == AgentType::Scanner {
                "scanner ended"
            } else {
                "background research ended"
            }),
            _ => {}
        }
    }

    fn status_stays(&self, run: &Run, issue: &IssueId, before: &IssueState) {
        let after = self.store.issue(issue).unwrap().state;
        if after != *before {
            self.machine.fail(format_args!(
                "the end of intake {} moved {issue} from {before:?} to {after:?}",
                run.id
            ));
        }
    }

    /// At most one run of an agent lives on a project.
    pub(super) fn check_project_agents(&self, live: &[Run]) {
        let mut seen: BTreeMap<(&ProjectId, &AgentType), &Run> = BTreeMap::new();
        for run in live.iter().filter(|run| run.target == RunTarget::Project) {
            if let Some(other) = seen.insert((&run.project, &run.agent), run) {
                self.machine
                    .fail(format_args!("I1: {} and {} both live", run.id, other.id));
            }
        }
    }
}

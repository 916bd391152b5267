//! Plans killed between an intent, its effect and its outcome: the next `plan run`, or tick, repairs what died, no complete
//! phase runs again, and the result is that of a plan that nobody disturbed.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use symphony_workspace::Failpoint;

use crate::deaths::{Deaths, FINISH, PLAN, Row, SUPERVISE, TICK, counted, survive};
use crate::plan_support::{PLAN_WORKER, complete, plan_of, run_statuses, runs_of};
use crate::support::{Project, bash, file_names, scenario, scenarios, text, until};

/// Deaths that a second `plan run` repairs.
pub(crate) const ROWS: &[Row] = &{
    use Failpoint::*;
    [
        &[(PlanDecided, PLAN)] as Row,
        &[(TickLocked, PLAN)],
        &[(TickClaimed, PLAN)],
        &[(TickLaunched, PLAN)],
        &[(PlanActed, PLAN)],
        &[(AgentSpawned, SUPERVISE), (TickSwept, PLAN)],
        &[(AgentSpawned, SUPERVISE), (TickFinishing, PLAN)],
        &[(WorktreeBranched, SUPERVISE)],
        &[(WorktreeRegistered, SUPERVISE)],
        &[(WorktreeFilled, SUPERVISE)],
        &[(PrepareStarted, SUPERVISE)],
        &[(AgentSpawned, SUPERVISE)],
        &[(GitFolderMade, SUPERVISE)],
        &[(AgentEnded, SUPERVISE)],
        &[(GitFolderRead, SUPERVISE)],
        &[(AgentEnded, SUPERVISE), (GitFolderTaken, FINISH)],
        &[(CommitStaged, SUPERVISE)],
        &[(CommitMade, SUPERVISE)],
        &[(PhaseCommitted, SUPERVISE)],
        &[(PhaseCompleted, SUPERVISE)],
        &[(PhaseMerged, SUPERVISE)],
        &[(FinishSettled, SUPERVISE)],
        &[(FinishRecorded, SUPERVISE)],
        &[(AgentEnded, SUPERVISE), (PhaseCommitted, FINISH)],
        &[(PhaseCommitted, SUPERVISE), (PhaseCompleted, FINISH)],
        &[(PhaseCompleted, SUPERVISE), (PhaseMerged, FINISH)],
        &[(PhaseMerged, SUPERVISE), (FinishSettled, FINISH)],
        &[(CleanSaved, PLAN)],
        &[(CleanRemoved, PLAN)],
        &[(MergeNoted, PLAN)],
        &[(MergeCheckoutMoved, PLAN)],
        &[(MergeNoted, PLAN), (MergeBaseMoved, PLAN)],
        &[(PlanReviewPlanned, PLAN)],
        &[(PlanReviewPlanned, PLAN), (PlanReviewPlanned, PLAN)],
        &[(PlanReviewOpened, PLAN)],
        &[(PlanReviewOpened, PLAN), (MergePlanned, PLAN)],
        &[(MergeIntended, PLAN)],
        &[(MergeMoved, PLAN)],
        &[(MergeRecorded, PLAN)],
        &[(MergeMoved, PLAN), (MergeRecorded, PLAN)],
        &[(MergeRecorded, PLAN), (CleanRemoved, PLAN)],
        &[(CleanUnrecorded, PLAN)],
    ]
};

/// Deaths of `plan run` that ticks repair.
const BY_TICK: &[Row] = &{
    use Failpoint::*;
    [
        &[(PlanDecided, PLAN)] as Row,
        &[(TickClaimed, PLAN)],
        &[(PlanActed, PLAN), (PhaseMerged, SUPERVISE)],
        &[(PlanActed, PLAN), (PlanDecided, TICK)],
        &[(CleanRemoved, PLAN)],
        &[(MergeCheckoutMoved, PLAN)],
        &[(PlanReviewPlanned, PLAN), (PlanReviewPlanned, TICK)],
        &[(PlanReviewPlanned, PLAN), (PlanReviewOpened, TICK)],
        &[(MergeMoved, PLAN)],
        &[(MergeRecorded, PLAN), (CleanUnrecorded, TICK)],
    ]
};

#[test]
fn whatever_dies_where_a_second_plan_run_repairs_it() {
    survive(ROWS, |row| {
        Life::begin(row).lead(&["plan", "run", "plan.md", "--merge"])
    });
}

#[test]
fn whatever_dies_where_ticks_repair_it() {
    survive(BY_TICK, |row| Life::begin(row).lead(&["tick", "--wait"]));
}

/// a alone, so that it is known who dies first; then three at once, whose work meets; then the last.
const PHASES: [(&str, &[&str]); 5] = [
    ("a", &[]),
    ("b", &["a"]),
    ("c", &["a"]),
    ("d", &["b", "c"]),
    ("e", &["a"]),
];

struct Life {
    row: Row,
    project: Project,
    deaths: Deaths,
}

impl Life {
    fn begin(row: Row) -> Self {
        // each notes its run in the file of its phase
        let work = bash(
            "name=$(git branch --show-current | sed 's|.*/||'); echo \"$SYMPHONY_RUN_ID\" >> \"$name.txt\"",
        );
        let worker = json!({ "match_system": PLAN_WORKER });
        let play = scenarios([scenario("any phase", &worker, [work, complete(&json!([]))])]);
        let config = json!({ "plan": { "by_tick": true }, "keep_run_files": false, "judge_enabled": false, "gates": [{ "name": "check", "command": "true" }] });
        let mut project = Project::new("project", &play, &config);
        std::fs::write(project.root.join("plan.md"), plan_of(&PHASES)).unwrap();
        let deaths = Deaths::arm(&mut project, row);
        Self {
            row,
            project,
            deaths,
        }
    }

    /// Begins the plan, and gives a command until its work is on the user's branch; returns what repaired it.
    fn lead(&self, repair: &[&str]) -> Result<String, String> {
        let mut repairs = Vec::new();
        let named = if repair == ["tick", "--wait"] {
            TICK
        } else {
            PLAN
        };
        let mut command: &[&str] = &["plan", "run", "plan.md", "--merge"];
        while self.deaths.has_time() {
            let given = self.deaths.give(&self.project, command);
            let died = given.map_err(|error| format!("{error}; {}", self.story()))?;
            if !died && self.is_over() {
                self.check()?;
                return Ok(counted(&repairs));
            }
            // no tick merges: a person does, after a tick had its chance to record a merge that was cut off
            let plan = self.project.json(&["plan", "status"]);
            let has_ticked = command == repair;
            command = repair;
            if named == TICK && has_ticked && plan["status"] == "review" {
                command = &["pr", "merge", "1"];
            }
            assert!(repairs.len() < 50, "{}", self.story());
            repairs.push(named);
        }
        Err(format!(
            "not done after {} repairs: {}",
            repairs.len(),
            self.story()
        ))
    }

    /// Says whether nothing is left to do.
    fn is_over(&self) -> bool {
        let plan = self.project.json(&["plan", "status"]);
        plan["status"] == "completed"
            && self
                .project
                .git(&["branch", "--list", "symphony/*"])
                .is_empty()
            && self
                .project
                .git(&["ls-tree", "--name-only", "main", "d.txt"])
                == "d.txt"
    }

    /// What became of the plan, its runs and branches, in a few words.
    fn story(&self) -> String {
        let plan = self.project.json(&["plan", "status"]);
        let runs = PHASES.map(|(id, _)| (id, run_statuses(&self.project, "plan", id)));
        let branches = self.project.git(&["branch", "--list", "symphony/*"]);
        format!("the plan is {}; {runs:?}; {branches}", plan["status"])
    }

    /// What must hold at the end, whatever died.
    fn check(&self) -> Result<(), String> {
        self.deaths.check()?;
        let project = &self.project;
        let plan = project.json(&["plan", "status"]);
        let mut phases: Vec<Value> = plan["phases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|phase| {
                json!([
                    phase["id"],
                    phase["status"],
                    phase["artifacts"],
                    phase["retry_count"]
                ])
            })
            .collect();
        phases.sort_by_key(|phase| phase[0].to_string());
        let undisturbed = PHASES.map(|(id, _)| {
            json!([id, "complete", [{ "type": "file_created", "path": format!("{id}.txt") }], 0])
        });
        let expect = |name: &str, found: &Value, wanted: &Value| {
            let told = || format!("{name}: {found}, not {wanted}; {}", self.story());
            (found == wanted).then_some(()).ok_or_else(told)
        };
        expect("phases", &json!(phases), &json!(undisturbed))?;
        let state = std::fs::read_to_string(project.root.join(".symphony-state.json")).unwrap();
        let state: Value = serde_json::from_str(&state).unwrap();
        let counts = json!([
            state["status"],
            state["completedCount"],
            state["failedCount"]
        ]);
        expect("state file", &counts, &json!(["completed", 5, 0]))?;
        let requests = project.json(&["pr", "list"]);
        let states: Vec<Value> = requests["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|pr| json!([pr["plan"], pr["state"]]))
            .collect();
        expect(
            "pull requests",
            &json!(states),
            &json!([["plan", "merged"]]),
        )?;
        for (id, _) in PHASES {
            self.check_phase(id)?;
        }
        let trees = project.git(&["worktree", "list", "--porcelain"]);
        let trees = trees.matches("worktree ").count();
        expect("worktrees", &json!(trees), &json!(1))?;
        let folders = file_names(&project.root.join(".symphony-workspaces"));
        expect("worktree folders", &json!(folders), &json!([]))?;
        // the plan and what Symphony keeps are the person's to commit or not
        expect(
            "git status",
            &json!(project.git(&["status", "--porcelain", "-uno"])),
            &json!(""),
        )?;
        project.git(&["fsck", "--no-dangling"]);
        until("the end of all processes", || {
            project.processes().is_empty().then_some(())
        });
        // files of a run that died at its very beginning or end are a tick's to remove
        project.json(&["tick"]);
        project.assert_sound();
        Ok(())
    }

    /// One run completed the phase, and none came after it; what any run did is on the user's branch, once.
    fn check_phase(&self, id: &str) -> Result<(), String> {
        let runs = runs_of(&self.project, "plan", id);
        let statuses: Vec<String> = runs.iter().map(|run| text(&run["status"])).collect();
        // a run whose supervisor died has crashed, also when its agent had completed the phase before
        let had_completed = ["agent.ended", "commit.", "phase.", "finish."];
        let first = self.row[0].0.name();
        let runs_max = 1 + usize::from(!had_completed.iter().any(|point| first.starts_with(point)));
        let expected = ["succeeded", "crashed"];
        if statuses.is_empty()
            || statuses.len() > runs_max
            || !statuses
                .iter()
                .all(|status| expected.contains(&status.as_str()))
        {
            return Err(format!("runs of {id}: {statuses:?}; {}", self.story()));
        }
        let noted = self.project.git(&["show", &format!("main:{id}.txt")]);
        let lines: Vec<&str> = noted.lines().collect();
        let unique: BTreeSet<&str> = lines.iter().copied().collect();
        let completed = text(&runs[runs.len() - 1]["id"]);
        if lines.len() != unique.len() || !unique.contains(completed.as_str()) {
            return Err(format!("the work of {id} is {noted}, by {completed}"));
        }
        Ok(())
    }
}

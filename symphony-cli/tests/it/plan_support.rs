//! Scenarios of plan phases, and `plan run` as a process of its own.

use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use symphony_core::tick::LockState;

use crate::support::{Answer, Project, bash, call, lock_is, scenario, text, turn, until};

/// What only the system prompt of a plan's phase has.
pub(crate) const PLAN_WORKER: &str = "^# Plan worker$";
/// A plan of fourteen phases.
pub(crate) const PLAN: &str = include_str!("../fixtures/plan.md");

/// The condition of a scenario for a phase.
pub(crate) fn of_phase(id: &str) -> Value {
    json!({ "match_system": PLAN_WORKER, "match_prompt": format!("^Phase ID: {id}$") })
}

/// A turn that ends the phase.
pub(crate) fn complete(artifacts: &Value) -> Value {
    let input = json!({ "outcome": "complete", "artifacts": artifacts });
    turn(call("mcp__symphony__complete_phase", input))
}

/// A turn that gives the phase up.
pub(crate) fn failed(error: &str) -> Value {
    let input = json!({ "outcome": "failed", "error": error });
    turn(call("mcp__symphony__complete_phase", input))
}

/// A turn that ends the run without a report.
pub(crate) fn leave() -> Value {
    json!({ "content": [{ "type": "text", "text": "Done." }] })
}

/// A turn that writes a file named after the phase's branch.
pub(crate) fn write_own() -> Value {
    bash("name=$(git branch --show-current | sed 's|.*/||'); echo \"by $name\" > \"$name.txt\"")
}

/// Any phase: writes its file and is complete.
pub(crate) fn any_phase() -> Value {
    scenario(
        "any phase",
        &json!({ "match_system": PLAN_WORKER }),
        [write_own(), complete(&json!([]))],
    )
}

/// A phase that waits for a file beside the project, then writes its own and is complete.
pub(crate) fn gated(project_beside: &str, id: &str) -> Value {
    let wait = bash(&format!(
        "touch '{project_beside}/at-{id}'; until [ -e '{project_beside}/go-{id}' ]; do sleep 0.02; done"
    ));
    scenario(id, &of_phase(id), [wait, write_own(), complete(&json!([]))])
}

/// Lets what waits at a gate go on.
pub(crate) fn open_gate(project: &Project, name: &str) {
    std::fs::write(project.beside.join(format!("go-{name}")), "").unwrap();
}

/// Waits until somebody stands at a gate.
pub(crate) fn until_at_gate(project: &Project, name: &str) {
    let mark = project.beside.join(format!("at-{name}"));
    until(&format!("{name} to be at its gate"), || {
        mark.exists().then_some(())
    });
}

/// Makes a plan file of phases: id and dependencies.
pub(crate) fn plan_of(phases: &[(&str, &[&str])]) -> String {
    let phases: Vec<Value> = phases
        .iter()
        .map(|(id, dependencies)| {
            json!({ "id": id, "title": format!("Title of {id}"), "objective": "o", "tasks": ["t"],
                    "success_criteria": "s", "dependencies": dependencies })
        })
        .collect();
    format!(
        "# Plan\n\n```symphony-phases\n{:#}\n```\n",
        Value::Array(phases)
    )
}

/// `plan run`, at work.
#[derive(Debug)]
pub(crate) struct PlanRun {
    child: Child,
}

impl PlanRun {
    /// Starts it, and waits until it is at work with the plan.
    pub(crate) fn start(project: &Project, arguments: &[&str]) -> Self {
        let mut run = Self::begin(project, arguments);
        let lock = project.root.join(".symphony/plans/plan.lock");
        until("the loop to have the plan", || {
            assert!(run.child.try_wait().unwrap().is_none(), "it ended: {run:?}");
            lock_is(LockState::Held, &lock).then_some(())
        });
        run
    }

    fn begin(project: &Project, arguments: &[&str]) -> Self {
        let child = project
            .command(&[&["plan", "run", "--merge"], arguments].concat())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self { child }
    }

    /// Kills it, without a chance to tidy up.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).unwrap();
    }

    /// Waits for its end.
    pub(crate) fn answer(self) -> Answer {
        self.child.wait_with_output().unwrap().into()
    }
}

/// Where the phases of the last plan stand.
pub(crate) fn phase(project: &Project, id: &str) -> Value {
    let plan = project.json(&["plan", "status"]);
    let phases = plan["phases"].as_array().unwrap();
    let found = phases.iter().find(|phase| phase["id"] == id);
    found
        .unwrap_or_else(|| panic!("no {id} in {plan:#}"))
        .clone()
}

/// Waits until a phase of the last plan stands somewhere.
pub(crate) fn until_phase(project: &Project, id: &str, status: &str) -> Value {
    until(&format!("{id} to be {status}"), || {
        let phase = phase(project, id);
        (phase["status"] == status).then_some(phase)
    })
}

/// Returns the runs of a plan's phase, oldest first.
pub(crate) fn runs_of(project: &Project, plan: &str, phase: &str) -> Vec<Value> {
    let runs = project.json(&["runs", "list", "--plan", plan, "-n", "0"]);
    let runs = runs["items"].as_array().unwrap().iter().rev();
    runs.filter(|run| run["plan_phase"] == phase)
        .cloned()
        .collect()
}

/// Returns the statuses of the runs of a plan's phase, oldest first; of those that failed, why.
pub(crate) fn run_statuses(project: &Project, plan: &str, phase: &str) -> Vec<String> {
    let told = |run: &Value| match text(&run["status"]).as_str() {
        "failed" => format!("failed: {}", text(&run["error"]["message"])),
        status => status.to_owned(),
    };
    runs_of(project, plan, phase).iter().map(told).collect()
}

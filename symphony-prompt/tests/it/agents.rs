//! Goldens: both prompts and the report of every agent type on the rich example.

use symphony_prompt::{AgentType, BuiltPrompt};

use crate::rich;

fn shown(built: &BuiltPrompt) -> String {
    let report = serde_json::to_string_pretty(&built.report).expect("a report is JSON");
    format!(
        "======== system ========\n{}\n======== user ========\n{}\n======== report ========\n{report}\n",
        built.system, built.user
    )
}

#[test]
fn profile_dispatches() {
    for agent in [AgentType::Worker, AgentType::Planner, AgentType::Intake] {
        let built = rich::profile(&agent).build().unwrap();
        insta::assert_snapshot!(format!("a_{agent}"), shown(&built));
    }
}

#[test]
fn a_judge_of_a_pull_request() {
    insta::assert_snapshot!(
        "a_judge_pr",
        shown(&rich::judge_of_pull_request().build().unwrap())
    );
}

#[test]
fn a_judge_of_a_phase() {
    insta::assert_snapshot!(
        "a_judge_phase",
        shown(&rich::judge_of_phase().build().unwrap())
    );
}

#[test]
fn phase_dispatches() {
    for (agent, phase) in [
        (AgentType::Researcher, "research"),
        (AgentType::Architect, "architecture"),
        (AgentType::Planner, "grooming"),
    ] {
        let built = rich::phase(agent, phase).build().unwrap();
        insta::assert_snapshot!(format!("b_{phase}"), shown(&built));
    }
}

#[test]
fn background_dispatches() {
    for agent in [AgentType::Scanner, AgentType::Researcher] {
        let built = rich::background(agent.clone()).build().unwrap();
        insta::assert_snapshot!(format!("c_{agent}"), shown(&built));
    }
}

#[test]
fn the_setup_wizard() {
    insta::assert_snapshot!("d_wizard", shown(&rich::wizard().build().unwrap()));
}

#[test]
fn a_plan_phase() {
    let built = rich::plan_phase().build().unwrap();
    assert_eq!(
        built.user,
        include_str!("../fixtures/worker/worker-implement-auth.md")
    );
    insta::assert_snapshot!("e_plan_phase", shown(&built));
}

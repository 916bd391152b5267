//! Bases and ends while something else goes on: a plan, or an agent at work.

use serde_json::{Value, json};
use symphony_fakes::{FakeForge, MergeKind};

use crate::forges::{OCTOCAT, assert_quiet, hello, mirrored, opened, sync};
use crate::forges_ends::{begun_with, here, problems, send_back, there};
use crate::plan_support::{any_phase, plan_of};
use crate::support::{Project, WORKER, agents_of, hang, scenario, scenarios, until};

/// A worker that is silent for ever about such an issue.
fn hangs_at(words: &str) -> Value {
    let when = json!({ "match_system": WORKER, "match_prompt": words });
    scenario("hangs", &when, [hang()])
}

fn start_hanging(project: &Project) -> String {
    let run = project.tick_start();
    until("the agent to be at work", || {
        (project.run(&run)["status"] == "running").then_some(())
    });
    run
}

/// Commits something to the base that no one pushed, and takes it back once a look has left it alone.
fn draft_stays_here(project: &Project, forge: &FakeForge) {
    let before = there(forge, "main");
    project.commit_files(&[("draft.txt", "not for others yet\n")]);
    let found = problems(project);
    assert!(found.contains("is not a merge by Symphony"), "{found}");
    assert_eq!(there(forge, "main"), before);
    project.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
}

#[test]
fn a_base_is_pushed_for_a_recorded_merge_of_a_plan_and_for_nothing_else() {
    let forge = FakeForge::start();
    let project = mirrored(&scenarios([any_phase(), hello()]), &forge, &json!({}));
    std::fs::write(project.root.join("plan.md"), plan_of(&[("a", &[])])).unwrap();
    project.ok(&["plan", "run", "plan.md"]);
    until("the pull request of the plan", || {
        project.ok(&["tick", "--wait"]);
        sync(&project);
        (forge.with(|world| world.pulls().len()) == 1).then_some(())
    });
    draft_stays_here(&project, &forge);
    project.ok(&["pr", "approve", "plan"]);
    project.ok(&["pr", "merge", "plan"]);
    // on top of the merge, too
    draft_stays_here(&project, &forge);
    let view = sync(&project);
    assert_eq!(view["bases"], json!(["main"]), "{view:#}");
    assert_eq!(there(&forge, "main"), here(&project));
    assert_quiet(&project, &forge);
    project.assert_sound();
}

#[test]
fn an_agent_at_work_changes_nothing_about_what_is_pushed() {
    let forge = FakeForge::start();
    let script = scenarios([hangs_at("Wait for it"), hello()]);
    let project = mirrored(&script, &forge, &json!({}));
    opened(&project, &forge);
    project.add_issue("Wait for it");
    let run = start_hanging(&project);
    draft_stays_here(&project, &forge);
    project.ok(&["pr", "approve", "SYM-1"]);
    project.ok(&["pr", "merge", "SYM-1"]);
    draft_stays_here(&project, &forge);
    let view = sync(&project);
    assert_eq!(view["bases"], json!(["main"]), "{view:#}");
    assert_eq!(there(&forge, "main"), here(&project));
    assert_eq!(project.run(&run)["status"], "running");
    project.ok(&["runs", "cancel", "SYM-2"]);
    project.until_ended(&run);
    project.assert_sound();
}

#[test]
fn an_agent_at_work_is_ended_when_its_pull_request_ends_there() {
    for kind in [None, Some(MergeKind::Merge), Some(MergeKind::Squash)] {
        let script = scenarios([hangs_at("In French"), hello()]);
        let (forge, project, number) = begun_with(&script, &json!({}));
        send_back(&project, &forge, number);
        let run = start_hanging(&project);
        match kind {
            None => forge.with(|world| world.set_open(number, false)),
            Some(kind) => {
                let merged = forge.with(|world| world.merge_pull(OCTOCAT, number, kind));
                merged.unwrap();
            }
        }
        sync(&project);
        project.until_ended(&run);
        assert_eq!(agents_of(&run), [""; 0], "{kind:?}");
        assert_eq!(project.run(&run)["status"], "cancelled", "{kind:?}");
        let expected = if kind.is_none() { "backlog" } else { "done" };
        assert_eq!(project.issue("SYM-1")["status"], expected, "{kind:?}");
        assert!(project.tick_wait().is_empty(), "{kind:?}");
        assert_eq!(forge.with(|world| world.pulls()).len(), 1, "{kind:?}");
        assert_quiet(&project, &forge);
        project.assert_sound();
    }
}

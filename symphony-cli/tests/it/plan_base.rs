//! Agents and people that move the branches of a plan themselves: nothing counts as merged, and nothing is lost, without a word.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::plan_support::{PlanRun, any_phase, complete, of_phase, phase, plan_of, write_own};
use crate::support::{
    JUDGE, Project, approving_judge, bash, call, scenario, scenarios, text, turn, until,
};

const BASE: &str = "symphony/plan-plan/base";
/// The agent commits its work and moves the user's branch there.
const LAND: &str = "git add -A; git -c user.name=w -c user.email=w@example.invalid commit -qm all; git -C ../.. fetch -q \"$PWD\" HEAD; git -C ../.. update-ref refs/heads/main FETCH_HEAD";

fn project_with(phases: &[(&str, &[&str])], gate: &str, scenes: Vec<Value>) -> Project {
    let scenes: Vec<Value> = scenes.into_iter().chain([any_phase()]).collect();
    let config = json!({ "gates": [{ "name": "check", "command": gate }] });
    let project = Project::new("project", &scenarios(scenes), &config);
    std::fs::write(project.root.join("plan.md"), plan_of(phases)).unwrap();
    project
}

fn project(scenes: Vec<Value>) -> Project {
    project_with(&[("a", &[]), ("b", &["a"])], "true", scenes)
}

fn rejecting_judge() -> Value {
    let reject = call("mcp__symphony__reject_pr", json!({ "feedback": "no" }));
    scenario("judge", &json!({ "match_system": JUDGE }), [turn(reject)])
}

/// A plan whose pull request was rejected by its judge.
fn rejected() -> Project {
    let project = project(vec![rejecting_judge()]);
    project.ok(&["plan", "run", "plan.md"]);
    project.tick_wait();
    project.tick_wait();
    assert_eq!(status(&project), "awaiting_user_decision");
    project
}

fn status(project: &Project) -> String {
    text(&project.json(&["plan", "status"])["status"])
}

/// What a person is told of the base branches.
fn notices(project: &Project) -> Vec<String> {
    let inbox = project.json(&["inbox"]);
    let items = inbox["items"].as_array().unwrap().iter();
    items
        .filter(|item| item["kind"] == "base")
        .map(|item| text(&item["text"]))
        .collect()
}

/// Asserts that one thing is told, with these words; returns the key that dismisses it.
fn assert_told(project: &Project, part: &str) -> String {
    let told = notices(project);
    assert!(told.len() == 1 && told[0].contains(part), "{told:#?}");
    let shown = project.ok(&["plan", "status"]);
    assert!(
        shown.contains(&format!("Please check: {}", told[0])),
        "{shown}"
    );
    let inbox = project.json(&["inbox"]);
    let mut items = inbox["items"].as_array().unwrap().iter();
    text(&items.find(|item| item["kind"] == "base").unwrap()["key"])
}

#[test]
fn work_that_a_phase_lands_itself_is_reviewed_all_the_same() {
    let land = scenario(
        "land",
        &of_phase("b"),
        [write_own(), bash(LAND), complete(&json!([]))],
    );
    let project = project(vec![approving_judge(), land]);
    let told = project.ok(&["plan", "run", "plan.md"]);
    assert!(told.contains("Pull request 1 is open"), "{told}");
    assert_eq!(status(&project), "review");
    assert_told(
        &project,
        "Symphony did not merge it: it does not count as merged",
    );
    let diff = project.ok(&["pr", "diff", "1"]);
    assert!(diff.contains("by a") && diff.contains("by b"), "{diff}");
    // gates and judge look at it, and ticks do not take it for merged
    let [gates] = project.tick_wait().try_into().unwrap();
    assert_eq!(gates["profile"], "gates");
    let [judge] = project.tick_wait().try_into().unwrap();
    assert_eq!(judge["profile"], "judge");
    project.tick_wait();
    assert_eq!(status(&project), "review");
    assert_eq!(notices(&project).len(), 1);
    project.assert_sound();
    // a person decides
    project.ok(&["pr", "merge", "1"]);
    assert_eq!(status(&project), "completed");
    assert_eq!(notices(&project), Vec::<String>::new());
    project.assert_sound();
}

#[test]
fn work_that_a_phase_lands_as_one_commit_is_reviewed_all_the_same() {
    let squash = "git add -A; git -c user.name=w -c user.email=w@example.invalid commit -qm all; \
                  git -C ../.. fetch -q \"$PWD\" HEAD; \
                  git -C ../.. update-ref refs/heads/main $(git -C ../.. -c user.name=w -c user.email=w@example.invalid commit-tree -p main -m s FETCH_HEAD^{tree})";
    let land = scenario(
        "land",
        &of_phase("b"),
        [write_own(), bash(squash), complete(&json!([]))],
    );
    let project = project(vec![approving_judge(), land]);
    project.ok(&["plan", "run", "plan.md"]);
    project.tick_wait();
    assert_eq!(status(&project), "review");
    assert_told(&project, "does not count as merged");
}

#[test]
fn an_order_to_merge_is_not_one_to_accept_what_an_agent_landed() {
    let land = scenario(
        "land",
        &of_phase("b"),
        [write_own(), bash(LAND), complete(&json!([]))],
    );
    let project = project_with(&[("a", &[]), ("b", &["a"])], "test ! -e b.txt", vec![land]);
    let refused = project.symphony(&["plan", "run", "plan.md", "--merge"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    assert!(refused.stderr.contains("did not merge it"), "{refused:#?}");
    assert_eq!(status(&project), "review");
    // and a person's word does not make its gates green
    let red = project.symphony(&["pr", "merge", "1"]);
    assert!(red.stderr.contains("required gates are red"), "{red:#?}");
    assert_eq!(status(&project), "review");
}

#[test]
fn a_dismissed_notice_lets_landed_work_count_as_merged() {
    let land = scenario(
        "land",
        &of_phase("b"),
        [write_own(), bash(LAND), complete(&json!([]))],
    );
    let project = project(vec![approving_judge(), land]);
    project.ok(&["plan", "run", "plan.md"]);
    let key = assert_told(&project, "does not count as merged");
    project.ok(&["inbox", "--dismiss", &key]);
    project.tick_wait();
    assert_eq!(status(&project), "completed");
    let [told] = notices(&project).try_into().unwrap();
    assert!(told.contains("without green gates"), "{told}");
    project.assert_sound();
}

#[test]
fn a_rejected_plan_that_a_person_merges_by_hand_is_told() {
    let project = rejected();
    project.git(&["merge", "-q", "--no-edit", BASE]);
    project.tick_wait();
    assert_told(&project, "without a merge by Symphony");
    assert_told(&project, "pull request 1 is rejected");
    assert_eq!(status(&project), "awaiting_user_decision");
    project.ok(&["plan", "resume"]);
    let told = project.ok(&["plan", "run", "plan.md"]);
    assert!(told.contains("Pull request 2 is open"), "{told}");
    assert_eq!(status(&project), "review");
    project.assert_sound();
}

#[test]
fn a_base_that_is_gone_is_named_with_its_head() {
    let project = rejected();
    let head = project.git(&["rev-parse", BASE]);
    project.git(&["branch", "-q", "-D", BASE]);
    project.ok(&["plan", "resume"]);
    let ticked = project.symphony(&["tick", "--wait"]);
    let back = format!("git branch {BASE} {head}");
    let told = format!("{}{}", ticked.stdout, ticked.stderr);
    assert!(told.contains(&back), "{told}");
    assert_eq!(status(&project), "awaiting_user_decision");
    assert_told(&project, &back);
    project.assert_sound();
    // restored, it goes on
    project.git(&["branch", BASE, &head]);
    project.ok(&["plan", "resume"]);
    project.ok(&["plan", "run", "plan.md"]);
    assert_eq!(status(&project), "review");
    assert_eq!(notices(&project), Vec::<String>::new());
    project.ok(&["pr", "merge", "2", "--force"]);
    assert_eq!(project.git(&["show", "main:b.txt"]), "by b");
    project.assert_sound();
}

#[test]
fn a_base_that_is_deleted_under_review_is_named_with_its_head() {
    let project = project(vec![]);
    project.ok(&["plan", "run", "plan.md"]);
    let head = project.git(&["rev-parse", BASE]);
    project.git(&["branch", "-q", "-D", BASE]);
    project.tick_wait();
    let back = format!("git branch {BASE} {head}");
    assert_told(&project, &back);
    // given up, it offers no merge of a branch that does not exist
    project.ok(&["plan", "abort"]);
    let inbox = project.ok(&["inbox"]);
    let again = "symphony plan run --plan plan --retry-failed";
    assert!(inbox.contains(&back) && inbox.contains(again), "{inbox}");
    for fails in ["git merge", "plan resume"] {
        assert!(!inbox.contains(fails), "{inbox}");
    }
    project.git(&["branch", BASE, &head]);
    project.tick_wait();
    assert_eq!(notices(&project), Vec::<String>::new());
    project.ok(&["plan", "run", "--plan", "plan", "--retry-failed"]);
    project.ok(&["pr", "merge", "2", "--force"]);
    assert_eq!(status(&project), "completed");
    project.assert_sound();
}

#[test]
fn a_base_that_comes_back_under_review_is_told_no_more() {
    let project = project(vec![]);
    project.ok(&["plan", "run", "plan.md"]);
    let head = project.git(&["rev-parse", BASE]);
    project.git(&["branch", "-q", "-D", BASE]);
    project.tick_wait();
    assert_eq!(notices(&project).len(), 1);
    project.git(&["branch", BASE, &head]);
    project.tick_wait();
    assert_eq!(notices(&project), Vec::<String>::new());
    project.assert_sound();
}

#[test]
fn a_plan_does_not_go_on_beside_a_newer_one_of_its_file() {
    let project = project(vec![]);
    project.ok(&["plan", "run", "plan.md"]);
    project.ok(&["plan", "abort"]);
    project.ok(&["plan", "run", "plan.md", "--new"]);
    let inbox = project.ok(&["inbox"]);
    assert!(!inbox.contains("--retry-failed"), "{inbox}");
    let refused = project.symphony(&["plan", "run", "--plan", "plan", "--retry-failed"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    let why = "of plan.md is under way, and a file can have only one plan at a time";
    assert!(refused.stderr.contains(why), "{refused:#?}");
    project.assert_sound();
}

#[test]
fn an_aborted_plan_whose_base_is_removed_is_not_on_main() {
    let project = project(vec![]);
    project.ok(&["plan", "run", "plan.md"]);
    project.ok(&["plan", "abort"]);
    let head = project.git(&["rev-parse", BASE]);
    project.git(&["branch", "-q", "-D", BASE]);
    project.tick_wait();
    let plan = project.json(&["plan", "status"]);
    assert_eq!(
        json!([plan["status"], plan["merged_commit"]]),
        json!(["aborted", null])
    );
    let key = assert_told(&project, &format!("git branch {BASE} {head}"));
    let items = project.json(&["inbox"])["items"].as_array().unwrap().len();
    assert_eq!(items, 1, "it is told once");
    project.ok(&["inbox", "--dismiss", &key]);
    project.tick_wait();
    assert_eq!(project.json(&["inbox"])["items"], json!([]));
    // brought back, it waits again
    project.git(&["branch", BASE, &head]);
    project.tick_wait();
    let items = project.json(&["inbox"]);
    assert!(
        text(&items["items"][0]["text"]).contains("has ended as aborted"),
        "{items:#}"
    );
}

/// Phase b waits until a is merged, then does this to the plan's base.
fn b_does(command: &str) -> Project {
    let wait = bash(&format!(
        "until git -C ../.. cat-file -e {BASE}:a.txt 2>/dev/null; do sleep 0.02; done; {command}"
    ));
    let b = scenario(
        "b",
        &of_phase("b"),
        [write_own(), wait, complete(&json!([]))],
    );
    project_with(
        &[("a", &[]), ("b", &[])],
        "true",
        vec![approving_judge(), b],
    )
}

fn assert_asks(project: &Project, back: &str) {
    project.symphony(&["plan", "run", "plan.md", "--on-failure", "skip"]);
    assert_eq!(status(project), "awaiting_user_decision");
    assert_eq!(project.json(&["pr", "list"])["items"], json!([]));
    assert_told(project, back);
    project.assert_sound();
}

#[test]
fn branches_of_the_plan_that_a_phase_moves_are_reported() {
    let made = |parent: &str| {
        format!(
            "$(git -c user.name=w -c user.email=w@example.invalid commit-tree -p {parent} -m mine {parent}^{{tree}})"
        )
    };
    // as an agent in another worktree does it
    let project = b_does(&format!(
        "cd ../.. && git update-ref refs/heads/{BASE} {} && git update-ref refs/heads/symphony/plan-plan/b {}",
        made(BASE),
        made("main"),
    ));
    project.symphony(&["plan", "run", "plan.md", "--on-failure", "skip"]);
    let runs = project.json(&["runs", "list"]);
    let mut runs = runs["items"].as_array().unwrap().iter();
    let b = runs
        .find(|run| run["plan_phase"] == "b")
        .unwrap_or_else(|| panic!("{runs:#?}"));
    let shown = project.ok(&["runs", "show", &text(&b["id"])]);
    let inbox = project.ok(&["inbox"]);
    for branch in ["base", "b"] {
        let moved = format!("branch symphony/plan-plan/{branch} was moved from ");
        assert!(shown.contains(&moved), "{shown}");
        assert!(inbox.contains(&moved), "{inbox}");
    }
    // what b merged has all of it, checked; the plan's pull request is gated and reviewed as a whole
    assert_eq!(status(&project), "review");
    project.assert_sound();
}

#[test]
fn phases_that_only_do_their_work_report_nothing() {
    let project = b_does("true");
    project.ok(&["plan", "run", "plan.md"]);
    let runs = project.json(&["runs", "list"]);
    for run in runs["items"].as_array().unwrap() {
        assert!(!run.to_string().contains("shared_ref"), "{run:#}");
    }
    assert_eq!(status(&project), "review");
}

#[test]
fn a_base_that_a_phase_deletes_is_not_made_anew() {
    let project = b_does(&format!("git -C ../.. update-ref -d refs/heads/{BASE}"));
    assert_asks(&project, &format!("git branch {BASE} "));
    let command = notices(&project)[0].split('`').nth(1).unwrap().to_owned();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    project.git(&words);
    assert_eq!(project.git(&["show", &format!("{BASE}:a.txt")]), "by a");
    project.ok(&["plan", "resume"]);
    project.ok(&["plan", "run", "plan.md"]);
    assert_eq!(status(&project), "review");
    project.assert_sound();
}

#[test]
fn a_base_that_a_phase_moves_back_is_not_merged_on() {
    let project = b_does(&format!("git -C ../.. update-ref refs/heads/{BASE} main"));
    assert_asks(&project, &format!("git branch -f {BASE} "));
    // a person may let it be: then nothing of the phase is left to be reviewed
    let key = assert_told(&project, "dismiss the notice");
    project.ok(&["inbox", "--dismiss", &key]);
    project.ok(&["plan", "resume"]);
    let told = project.ok(&["plan", "run", "plan.md"]);
    assert!(told.contains("there is no pull request"), "{told}");
}

#[test]
fn the_phase_itself_asks_when_the_base_lost_work() {
    let project = b_does(&format!("git -C ../.. update-ref refs/heads/{BASE} main"));
    let run = PlanRun::start(&project, &["plan.md", "--on-failure", "wait"]);
    let b = until("b to ask", || {
        let b = phase(&project, "b");
        (b["status"] == "awaiting_decision").then_some(b)
    });
    assert!(
        text(&b["error"]).contains("lacks work of complete phases"),
        "{b:#}"
    );
    assert_eq!(b["attempts"], 1);
    run.kill();
}

#[test]
fn a_plan_that_was_given_up_in_review_is_taken_up_again() {
    let project = project(vec![]);
    project.ok(&["plan", "run", "plan.md"]);
    project.ok(&["plan", "abort"]);
    let told = project.ok(&["plan", "run", "--plan", "plan", "--retry-failed"]);
    assert!(told.contains("Pull request 2 is open"), "{told}");
    assert_eq!(status(&project), "review");
    project.assert_sound();
}

#[test]
fn a_conflict_with_the_target_names_the_way_on() {
    let project = project(vec![approving_judge()]);
    project.ok(&["plan", "run", "plan.md"]);
    project.commit_files(&[("a.txt", "other\n")]);
    project.tick_wait();
    assert_told(
        &project,
        "pull request 1 cannot be merged: it conflicts with main in a.txt",
    );
    // no judge is paid for it, and each view has the command that tells a phase of the conflict
    assert_eq!(project.tick_wait(), Vec::<Value>::new());
    let way = "symphony pr reject 1 --feedback 'merge main and resolve the conflicts'";
    let inbox = project.json(&["inbox"]);
    for item in inbox["items"].as_array().unwrap() {
        assert_eq!(item["answers"][0], way, "{item:#}");
        let plain = item["answers"].to_string();
        assert!(!plain.contains("plan retry"), "{item:#}");
    }
    let status = project.ok(&["plan", "status"]);
    let says = format!(
        "Pull request 1 cannot be merged: it conflicts with main in a.txt. Run `{way}` to continue."
    );
    assert!(status.contains(&says), "{status}");
    project.assert_sound();
    let refused = project.symphony(&["pr", "merge", "1"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    for part in [
        "`symphony pr reject 1 --feedback 'merge main and resolve the conflicts'`",
        "`symphony plan retry PHASE --plan plan`",
    ] {
        assert!(refused.stderr.contains(part), "{part}: {refused:#?}");
    }
    project.ok(&["pr", "reject", "1", "--feedback", "merge main"]);
    project.ok(&["plan", "retry", "b", "--plan", "plan"]);
}

#[test]
fn a_phase_that_a_person_retries_is_told_of_the_conflict_with_the_target() {
    let words = "conflicts with `main`, where it is to be merged, in: a\\.txt\\. Before anything else, run `git merge main`";
    let answer = json!({ "point": 1, "answer": "fixed", "text": "merged" });
    let told = scenario(
        "told",
        &json!({ "match_prompt": words }),
        [
            bash("echo told > told.txt"),
            turn(call("mcp__symphony__answer_review_point", answer)),
            complete(&json!([])),
        ],
    );
    let project = project(vec![told, approving_judge()]);
    project.ok(&["plan", "run", "plan.md"]);
    project.commit_files(&[("a.txt", "other\n")]);
    project.ok(&["pr", "reject", "1", "--feedback", "not yet"]);
    project.ok(&["plan", "retry", "b", "--plan", "plan"]);
    project.ok(&["plan", "run", "plan.md"]);
    let files = project.git(&["ls-tree", "--name-only", BASE]);
    assert!(files.contains("told.txt"), "{files}");
}

#[test]
fn an_older_pull_request_is_not_approved_in_place_of_the_newest() {
    let project = rejected();
    project.ok(&["plan", "resume"]);
    project.ok(&["plan", "run", "plan.md"]);
    project.ok(&["pr", "reject", "2", "--feedback", "no"]);
    let refused = project.symphony(&["pr", "approve", "1", "--force", "--comment", "y"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    assert!(
        refused.stderr.contains("pull request 2 has replaced it"),
        "{refused:#?}"
    );
    project.assert_sound();
    project.ok(&["pr", "approve", "2", "--force", "--comment", "y"]);
    assert_eq!(status(&project), "review");
}

#[test]
fn a_pause_does_not_wipe_a_rejection() {
    let project = rejected();
    let told = project.ok(&["plan", "pause"]);
    assert!(
        told.contains("plan.md is waiting for your decision"),
        "{told}"
    );
    assert_eq!(status(&project), "awaiting_user_decision");
    let refused = project.symphony(&["plan", "run", "plan.md"]);
    assert_eq!(refused.code, 1, "{refused:#?}");
    let prs = project.json(&["pr", "list"]);
    assert_eq!(prs["items"].as_array().unwrap().len(), 1, "{prs:#}");
}

#[test]
fn ctrl_c_stops_a_merge_while_its_gates_run() {
    for signal in [Signal::INT, Signal::TERM] {
        let gate = "sleep 5";
        let project = project_with(&[("a", &[])], gate, vec![]);
        let before = project.git(&["rev-parse", "main"]);
        let run = PlanRun::start(&project, &["plan.md"]);
        until("the gates to run", || {
            let state = &project.json(&["plan", "status"])["pull_request"]["state"];
            (state == "open").then_some(())
        });
        std::thread::sleep(Duration::from_millis(500));
        run.signal(signal);
        let begun = std::time::Instant::now();
        let answer = run.answer();
        assert!(begun.elapsed() < Duration::from_secs(4), "{answer:#?}");
        assert_eq!(answer.code, 4, "{answer:#?}");
        assert!(answer.stderr.contains("you stopped"), "{answer:#?}");
        assert_eq!(project.git(&["rev-parse", "main"]), before);
        assert_eq!(status(&project), "review");
        // what the gates left goes with the next tick
        project.tick_wait();
        project.assert_sound();
    }
}

#[test]
fn the_branch_of_a_complete_phase_that_symphony_removes_is_blamed_on_nobody() {
    // c runs while a, which it does not wait for, completes and its branch is removed
    let waiting = bash(
        "for i in $(seq 300); do git rev-parse -q --verify refs/heads/symphony/plan-plan/a >/dev/null || break; sleep 0.1; done",
    );
    let slow = bash("sleep 1");
    let scenarios = vec![
        scenario(
            "c",
            &of_phase("c"),
            [waiting, write_own(), complete(&json!([]))],
        ),
        scenario(
            "a",
            &of_phase("a"),
            [slow, write_own(), complete(&json!([]))],
        ),
    ];
    let phases: [(&str, &[&str]); 3] = [("x", &[]), ("a", &[]), ("c", &["x"])];
    let project = project_with(&phases, "true", scenarios);
    project.ok(&["plan", "run", "plan.md"]);
    assert_eq!(status(&project), "review");
    let inbox = project.ok(&["inbox"]);
    assert!(!inbox.contains("was deleted"), "{inbox}");
}

//! Agents on a machine whose git does not know who commits, and agents that help themselves.

use serde_json::{Value, json};

use crate::support::{Project, bash, create_pr, scenarios, text, worker};

/// A commit as an agent makes it that knows nothing of the machine.
const PLAIN_COMMIT: &str =
    "echo hello > hello.txt && git add hello.txt && git commit -qm 'Say hello'";

fn project(turns: impl IntoIterator<Item = Value>, config: &Value, user: &str) -> Project {
    let project = Project::new("project", &scenarios([worker(turns)]), config);
    std::fs::write(project.beside.join("home/.gitconfig"), user).expect("the home is there");
    project
}

fn authors(project: &Project) -> String {
    project.git(&["log", "-1", "--format=%an <%ae> %cn", "symphony/SYM-1"])
}

#[test]
fn a_machine_without_a_git_identity_loses_no_run() {
    let nobody = "[user]\n\tuseConfigOnly = true\n";
    // a set-up command and a gate may commit as well
    let elsewhere = "d=$(mktemp -d) && cd $d && git init -q && git commit -qm x --allow-empty";
    let config = json!({
        "judge_enabled": false,
        "worktree": { "setup": elsewhere },
        "gates": [{ "name": "commits", "command": elsewhere }],
    });
    let project = project(
        [bash(PLAIN_COMMIT), create_pr("Say hello")],
        &config,
        nobody,
    );
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    let issue = project.issue("SYM-1");
    assert_eq!(issue["status"], "review", "{issue:#}");
    assert_eq!(authors(&project), "Symphony <symphony@localhost> Symphony");
    let gates = &project.json(&["pr", "show", "SYM-1"])["gates"];
    assert_eq!(gates[0]["passed"], true, "{gates:#}");
    let doctor = project.symphony(&["doctor"]);
    assert!(
        doctor
            .stdout
            .contains("agents' commits and your merges carry Symphony's name"),
        "{doctor:#?}"
    );
    project.assert_sound();
}

#[test]
fn an_agent_commits_as_the_person_whom_git_knows() {
    let ada = "[user]\n\tname = Ada\n\temail = ada@example.org\n";
    let project = project(
        [bash(PLAIN_COMMIT), create_pr("Say hello")],
        &json!({ "judge_enabled": false }),
        ada,
    );
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    assert_eq!(authors(&project), "Ada <ada@example.org> Ada");
}

#[test]
fn a_setting_that_changed_under_a_run_is_told_and_left_alone() {
    let helps_itself = format!(
        "git -C ../.. config user.email agent@bot && git -C ../.. config branch.main.remote . \
         && cd ../../.git && mkdir -p info hooks && echo '* -diff' > info/attributes \
         && echo 'echo mine' > hooks/post-commit && touch hooks/other.sample && cd \"$OLDPWD\" && {PLAIN_COMMIT}"
    );
    let nobody = "[user]\n\tuseConfigOnly = true\n";
    let project = project(
        [bash(&helps_itself), create_pr("Say hello")],
        &json!({ "judge_enabled": false }),
        nobody,
    );
    project.add_issue("Say hello");
    let run = project.tick_one("worker", "succeeded");
    // the name in the environment wins
    assert_eq!(authors(&project), "Symphony <symphony@localhost> Symphony");
    let shown = project.run(&text(&run["id"]));
    assert_eq!(
        shown["metadata"]["left_behind"],
        json!([
            { "kind": "shared_setting", "path": "hooks/post-commit" },
            { "kind": "shared_setting", "path": "info/attributes" },
            { "kind": "shared_setting", "path": "user.email" },
        ]),
        "{shown:#}"
    );
    let inbox = project.ok(&["inbox"]);
    assert!(
        inbox.contains(
            "(hooks/post-commit, info/attributes, user.email): if you did not change them, the agent may have"
        ),
        "{inbox}"
    );
    let issue = project.ok(&["issue", "show", "SYM-1"]);
    assert!(issue.contains("git config --local --unset NAME"), "{issue}");
    // a person may have set it: it stays
    assert_eq!(
        project.git(&["config", "--local", "user.email"]),
        "agent@bot"
    );
    project.assert_sound();
}

//! What a worker does for its clones soon after its start, and then once a day.

use std::path::Path;

use serde_json::json;

use super::control::Control;
use super::greeting;
use crate::support::until;

/// Leaves more packs in a clone than may gather.
fn gather_packs(control: &Control, clone: &str) {
    let git = |arguments: &[&str]| {
        control
            .project
            .git(&[&["-C", clone][..], arguments].concat())
    };
    for number in 0..52 {
        let message = number.to_string();
        let commit = git(&["commit-tree", "-m", &message, "HEAD^{tree}"]);
        git(&["update-ref", &format!("refs/gathered/{number}"), &commit]);
        git(&["repack", "-q", "-d"]);
    }
}

fn packs(clone: &Path) -> usize {
    let entries = std::fs::read_dir(clone.join(".git/objects/pack")).unwrap();
    let names = entries.map(|entry| entry.unwrap().path());
    names
        .filter(|path| path.extension().is_some_and(|end| end == "pack"))
        .count()
}

#[test]
fn what_gathers_in_a_clone_is_removed_or_packed() {
    let mut control = Control::new("upkeep", &greeting());
    let more = json!({ "log_retention_days": 0 });
    let mut host = control.prepared_host("h1", 2, &more);
    host.begin(&[]);
    let issues = ["One", "Two"].map(|title| control.project.add_issue(title));
    let runs = issues.each_ref().map(|issue| control.claim_issue(issue));
    for run in &runs {
        let ended = control.until_ended(run);
        assert_eq!(ended.status.name(), "succeeded", "{ended:#?}");
    }
    host.kill_worker();
    let clone = host.data.join("projects").join(control.id.as_str());
    let worktrees = issues
        .each_ref()
        .map(|issue| clone.join(".symphony-workspaces").join(issue));
    assert!(worktrees.iter().all(|worktree| worktree.exists()));
    gather_packs(&control, clone.to_str().unwrap());
    control
        .project
        .ok(&["issue", "delete", &issues[1], "--yes"]);

    host.begin(&[]);
    until("the worktree of the deleted issue is gone", || {
        (!worktrees[1].exists()).then_some(())
    });
    let logs = runs.map(|run| clone.join(".symphony/runs").join(run.as_str()));
    until("the logs of both runs are gone", || {
        logs.iter().all(|logs| !logs.exists()).then_some(())
    });
    until("git has packed the clone", || {
        (packs(&clone) < 10).then_some(())
    });
    assert!(worktrees[0].exists(), "its issue has not ended");
    let git = |arguments: &[&str]| {
        let clone = ["-C", clone.to_str().unwrap()];
        control.project.git(&[&clone[..], arguments].concat())
    };
    let rescued = git(&["for-each-ref", "refs/symphony/rescue"]);
    assert!(rescued.contains(&issues[1]), "{rescued}");
    assert!(!git(&["show", "refs/gathered/0"]).is_empty());
    git(&["-C", worktrees[0].to_str().unwrap(), "status"]);
    assert!(!host.log().contains("the upkeep of"), "{}", host.log());
}

//! Hosts on which something is broken or missing: each run there says what, and those that can go on do.

use serde_json::json;

use super::control::Control;
use super::daemon::Daemon;
use super::greeting;
use crate::support::until;

fn failures(control: &Control) -> u32 {
    control.store.workers().unwrap()[0].worker.unprepared
}

#[test]
fn a_clone_that_cannot_be_opened_ends_a_run_with_the_reason_and_its_host_rests() {
    let mut control = Control::new("unopened", &greeting());
    let issue = control.project.add_issue("Say hello");
    let run = control.claim_issue(&issue);
    let mut host = control.prepared_host("h1", 1, &json!({}));
    let clone = host.data.join("projects").join(control.id.as_str());
    std::fs::create_dir_all(&clone).unwrap();
    std::fs::write(clone.join(".git"), "no git folder").unwrap();
    host.begin(&[]);
    let error = control.until_ended(&run).error.unwrap();
    assert_eq!(error.class.name(), "not_prepared", "{error:#?}");
    assert!(error.message.contains(".git"), "{error:#?}");
    until("the host rests", || (failures(&control) > 0).then_some(()));
    let shown = control.project.issue(&issue);
    assert_eq!(shown["total_runs"], 0, "{shown:#}");
    std::fs::remove_file(clone.join(".git")).unwrap();
    let next = control.claim_issue(&issue);
    let ended = control.until_ended(&next);
    assert_eq!(ended.status.name(), "succeeded", "{ended:#?}");
}

#[test]
fn a_project_that_left_the_pool_keeps_no_worker_from_others() {
    let mut control = Control::new("left", &greeting());
    let hub = Daemon::of(&control.project.root);
    control.hand_hub(hub.address());
    let issue = control.project.add_issue("Say hello");
    let run = control.claim_issue(&issue);
    let host = control.host("h1", 1);
    let error = control.until_ended(&run).error.unwrap();
    assert_eq!(error.class.name(), "not_prepared", "{error:#?}");
    until("the hub was asked again, in vain", || {
        (failures(&control) >= 2).then_some(())
    });
    let other = json!([{ "pool": "elsewhere" }]);
    let handed = control.store.hand_project(&control.id, &other, None);
    handed.unwrap();
    until("the worker takes runs of others", || {
        (failures(&control) == 0).then_some(())
    });
    until("it says so", || {
        let log = host.log();
        log.contains("The worker takes runs again.").then_some(())
    });
}

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
    let log = host.log();
    assert!(log.contains("The worker takes runs again."), "{log}");
}

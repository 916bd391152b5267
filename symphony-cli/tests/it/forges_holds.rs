//! What is about one pull request, and what is about the forge: neither hides the other, and neither keeps it back.

use serde_json::json;
use symphony_core::Timestamp;
use symphony_fakes::{Fault, On};

use crate::forges::{OCTOCAT, sync};
use crate::forges_ends::{begun, is_open_there, send_back};
use crate::support::{moment, text};

#[test]
fn one_whose_issue_was_deleted_and_that_cannot_be_closed_holds_nothing_else() {
    let (forge, project, number) = begun(&json!({}));
    send_back(&project, &forge, number);
    project.ok(&["issue", "delete", "SYM-1", "--yes"]);
    let path = format!("/pulls/{number}");
    for (fault, said) in [
        (Fault::status(502, "oops"), "status 502"),
        (Fault::status(403, "Locked"), "Locked"),
    ] {
        forge.fail(On::any().with(&path), fault);
        let view = sync(&project);
        assert_eq!(view["hold"], json!(null), "{view:#}");
        let problem = text(&view["problems"][0]);
        assert!(problem.contains("whose issue was deleted"), "{view:#}");
        assert!(problem.contains(said), "{view:#}");
        forge.heal();
    }
    sync(&project);
    assert!(!is_open_there(&forge, number));
}

#[test]
fn a_problem_of_one_stays_in_the_inbox_while_the_forge_asks_to_wait() {
    let (forge, project, number) = begun(&json!({}));
    forge.with(|world| world.add_review(OCTOCAT, number, "COMMENTED", "Hm.", &[]));
    let reviews = format!("/pulls/{number}/reviews");
    forge.fail(On::any().with(&reviews), Fault::status(502, "too large"));
    sync(&project);
    let inbox = || project.ok(&["inbox"]);
    assert!(inbox().contains("status 502"), "{}", inbox());

    // a limit that does not say how long it lasts
    forge.heal();
    forge.fail(On::any().with(&reviews), Fault::status(429, "{}"));
    let before = Timestamp::now();
    let answer = project.symphony(&["forge", "sync", "--json"]);
    assert_ne!(answer.code, 0, "{answer:#?}");
    let status = project.json(&["forge", "status"]);
    let until = moment(&status["hold"]["until"]);
    let seconds = until.duration_since(before).as_secs();
    assert!((55..=75).contains(&seconds), "{seconds}: {status:#}");
    assert!(inbox().contains("status 502"), "{}", inbox());
    assert!(!inbox().contains("on hold"), "{}", inbox());
    // no tick asks before that
    forge.take_exchanges();
    for _ in 0..2 {
        project.symphony(&["tick", "--wait"]);
    }
    assert_eq!(forge.take_exchanges().len(), 0);

    forge.heal();
    let view = sync(&project);
    assert_eq!(view["problems"], json!([]), "{view:#}");
    assert!(!inbox().contains("status 502"), "{}", inbox());
    project.assert_sound();
}

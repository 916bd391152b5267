//! What is about one pull request, and what is about the forge: neither hides the other, and neither keeps it back.

use serde_json::json;
use symphony_fakes::{Fault, On};

use crate::forges::sync;
use crate::forges_ends::{begun, is_open_there, send_back};
use crate::support::text;

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

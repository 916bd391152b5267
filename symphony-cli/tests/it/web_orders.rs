//! Orders on the page: they are carried out as the commands do, and a refusal says what is in the way.

use serde_json::json;

use crate::done::{propose_with_readme, run_all};
use crate::plan_support::{PlanRun, failed, of_phase, phase, plan_of, until_phase};
use crate::records::{add, idle_project, open_pr};
use crate::support::{
    Browser, Project, Reply, Served, bash, call, commit, scenario, scenarios, text, turn, worker,
};

/// A browser that is signed in at a server of its own.
struct Visit {
    browser: Browser,
    _server: Served,
}

impl Visit {
    fn open(project: &Project) -> Self {
        let server = Served::start(project, &[]);
        Self {
            browser: server.sign_in(),
            _server: server,
        }
    }

    fn page(&self, path: &str) -> String {
        let page = self.browser.get(path);
        assert_eq!(page.status, 200, "{path}: {page:#?}");
        page.body
    }

    fn send(&self, path: &str, fields: &str) -> Reply {
        let pairs = fields.split('&').filter_map(|field| field.split_once('='));
        let fields: Vec<(String, String)> = pairs
            .map(|(name, value)| (name.to_owned(), value.replace('+', " ")))
            .collect();
        let fields: Vec<(&str, &str)> = fields
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        self.browser.post(path, &fields)
    }

    /// Sends a form that is carried out.
    fn order(&self, path: &str, fields: &str) {
        let answer = self.send(path, fields);
        assert_eq!(answer.status, 303, "{path}: {answer:#?}");
    }

    /// Sends a form that is refused for a reason.
    fn refused(&self, path: &str, fields: &str, why: &str) {
        let answer = self.send(path, fields);
        assert_eq!(answer.status, 409, "{path}: {answer:#?}");
        assert!(answer.body.contains(why), "{path}: {answer:#?}");
    }
}

#[test]
fn what_is_said_of_an_order_is_for_the_page_that_it_leads_to() {
    const SAID: &str = "role=\"status\"";
    let project = idle_project(&json!({}));
    let issue = add(&project, "First", &[]);
    let visit = Visit::open(&project);
    let path = format!("/issues/{issue}");
    visit.order(&format!("{path}/comment"), "text=Mind+the+tests.");
    // The page that is left, or another window, asks for itself at this moment.
    let refreshed = visit.browser.refresh(&path);
    assert_eq!(refreshed.status, 200, "{refreshed:#?}");
    assert!(!refreshed.body.contains(SAID), "{refreshed:#?}");
    let page = visit.page(&path);
    assert!(page.contains(SAID), "{page}");
    // It is said once.
    let again = visit.page(&path);
    assert!(!again.contains(SAID), "{again}");
}

#[test]
fn issues_end_with_what_depends_on_them() {
    let project = idle_project(&json!({}));
    let first = add(&project, "First", &[]);
    let second = add(&project, "Second", &["--depends-on", &first]);
    let third = add(&project, "Third", &[]);
    let browser = Visit::open(&project);
    let page = browser.page(&format!("/issues/{first}"));
    assert!(page.contains("name=\"dependents\""), "{page}");
    let alone = browser.page(&format!("/issues/{third}"));
    assert!(!alone.contains("name=\"dependents\""), "{alone}");

    let path = format!("/issues/{first}/move");
    let why = format!("{second} depends on {first}");
    browser.refused(&path, "status=cancelled&dependents=", &why);
    assert_eq!(project.issue(&first)["status"], "todo");
    browser.order(&path, "status=cancelled&dependents=cancel");
    for ended in [&first, &second] {
        assert_eq!(project.issue(ended)["status"], "cancelled");
    }

    let path = format!("/issues/{third}/close");
    let empty = browser.send(&path, "resolution=done&reason=");
    assert_eq!(empty.status, 422, "{empty:#?}");
    browser.order(&path, "resolution=done&reason=Fixed+by+hand");
    let closed = project.issue(&third);
    assert_eq!(closed["status"], "done");
    let said = text(&closed["comments"][0]["content"]);
    assert_eq!(said, "Closed as done: Fixed by hand");
    let why = format!("{third} is `done`");
    let escaped = browser.page(&format!("/issues/{third}"));
    assert!(!escaped.contains("Close as done"), "{escaped}");
    browser.refused(&path, "resolution=done&reason=Again", &why);
    project.assert_sound();
}

#[test]
fn labels_are_edited_with_the_phase_and_checked_as_by_the_command() {
    let project = idle_project(&json!({}));
    let issue = add(&project, "Say hello", &[]);
    open_pr(&project, &issue, "Say hello");
    let browser = Visit::open(&project);
    let wrong = "title=Repair&priority=none&labels=fixes-gate:nothing";
    browser.refused("/issues", wrong, "the project has no gate `nothing`");
    let path = format!("/issues/{issue}/edit");
    let kept = "title=Say+hello&priority=none&description=&depends_on=";
    browser.refused(
        &path,
        &format!("{kept}&labels=fixes-gate:nothing"),
        "the project has no gate `nothing`",
    );
    assert_eq!(project.json(&["pr", "show", "1"])["state"], "open");
    browser.order(&path, &format!("{kept}&labels=urgent,+phase:research"));
    let edited = project.issue(&issue);
    assert_eq!(edited["labels"], json!(["phase:research", "urgent"]));
    assert_eq!(edited["phase"], "research");
    assert_eq!(project.json(&["pr", "show", "1"])["state"], "closed");
    project.assert_sound();
}

#[test]
fn a_delivery_is_rejected_and_approved() {
    let deliver = [
        bash("mkdir -p notes && printf '# Words\\n\\nwell chosen\\n' > notes/words.md"),
        turn(call(
            "mcp__symphony__complete_phase",
            json!({ "phase": "wording", "summary": "Done." }),
        )),
    ];
    let when = json!({ "match_system": "^# Wording$" });
    let scenes = scenarios([scenario("wording", &when, deliver)]);
    let project = Project::new("project", &scenes, &json!({ "judge_enabled": false }));
    let phases = project.root.join(".symphony/prompts/phases");
    std::fs::create_dir_all(&phases).unwrap();
    std::fs::write(
        phases.join("wording.md"),
        "---\nphase: wording\ncontract_version: 1\ndispatch_profile: worker\nartifact_type: document\nartifact_path: notes/words.md\n\
         validation: { mode: judge }\nnext_phase: ready\n---\n# Wording\n",
    )
    .unwrap();
    let issue = add(&project, "Say hello", &["--label", "phase:wording"]);
    project.tick_one("worker", "succeeded");
    let browser = Visit::open(&project);
    let page = browser.page(&format!("/issues/{issue}"));
    assert!(page.contains("awaits a verdict"), "{page}");
    let act = |what: &str| format!("/issues/{issue}/{what}");
    assert!(page.contains(&act("reject")), "{page}");
    browser.order(&act("reject"), "severity=must&text=Too+few+words");
    let rejected = project.issue(&issue);
    assert_eq!(rejected["status"], "todo");
    assert_eq!(rejected["phase_claims"][0]["state"], "rejected");
    let none = format!("no delivery of {issue} awaits a verdict");
    browser.refused(&act("approve"), "text=", &none);
    project.assert_sound();
}

#[test]
fn a_proposal_is_rejected_and_confirmed_and_points_are_settled() {
    let scenes = scenarios([worker([propose_with_readme()])]);
    let project = Project::new("project", &scenes, &json!({ "judge_enabled": false }));
    project.add_issue("Say it");
    run_all(&project);
    let browser = Visit::open(&project);
    let page = browser.page("/prs/1");
    assert!(page.contains("/prs/1/confirm"), "{page}");
    for missing in ["/prs/1/merge", "/prs/1/approve"] {
        assert!(!page.contains(missing), "{page}");
    }
    browser.refused(
        "/prs/1/approve",
        "text=",
        "pull request 1 does not take this order",
    );
    project.ok(&["point", "add", "SYM-1", "must: Where is it?"]);
    browser.order("/prs/1/reply", "point=1&text=In+the+README");
    let refused = "proposal 1 cannot be confirmed";
    browser.refused("/prs/1/confirm", "text=", refused);
    browser.order("/prs/1/close-point", "point=1&text=");
    browser.order("/prs/1/reopen-point", "point=1&text=Not+there");
    browser.order("/prs/1/close-point", "point=1&text=Now+I+see");
    browser.order("/prs/1/confirm", "text=Read+it");
    assert_eq!(project.issue("SYM-1")["status"], "done");
    project.assert_sound();
}

#[test]
fn plans_are_paused_retried_skipped_and_given_up() {
    let bad = failed("3 tests failed: expected 1 but got 2");
    let scenes = scenarios([
        scenario("bad", &of_phase("bad"), [bad.clone()]),
        scenario("worse", &of_phase("worse"), [bad]),
    ]);
    let project = Project::new("orders", &scenes, &json!({ "gates": [] }));
    let plan = plan_of(&[("bad", &[]), ("worse", &[]), ("later", &["bad", "worse"])]);
    std::fs::write(project.root.join("plan.md"), plan).unwrap();
    let run = PlanRun::start(&project, &["plan.md"]);
    for phase in ["bad", "worse"] {
        until_phase(&project, phase, "awaiting_decision");
    }
    run.kill();
    let status = || project.json(&["plan", "status"]);
    let id = text(&status()["id"]);
    let browser = Visit::open(&project);
    let page = browser.page(&format!("/plans/{id}"));
    let act = |what: &str| format!("/plans/{id}/{what}");
    for offered in ["retry", "skip", "abort"] {
        assert!(page.contains(&act(offered)), "{page}");
    }
    browser.order(&act("retry"), "phase=bad");
    browser.order(&act("pause"), "");
    assert_eq!(status()["status"], "paused");
    browser.order(&act("resume"), "");
    browser.order(&act("skip"), "phase=worse");
    assert_eq!(phase(&project, "worse")["skipped"], true);
    assert_eq!(phase(&project, "bad")["status"], "ready");
    browser.refused(&act("skip"), "phase=worse", "worse");
    browser.order(&act("abort"), "");
    assert_eq!(status()["status"], "aborted");
    project.assert_sound();
}

#[test]
fn a_notice_is_dismissed() {
    let scenes = scenarios([worker([commit("hello.txt", "hello")])]);
    let project = Project::new("outside", &scenes, &json!({}));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.ok(&["pause"]);
    project.git(&["merge", "-q", "--ff-only", "symphony/SYM-1"]);
    project.tick_wait();
    let browser = Visit::open(&project);
    let inbox = browser.page("/inbox");
    let (_, number) = inbox.split_once("/notices/").unwrap();
    let number = number.split('/').next().unwrap();
    browser.order(&format!("/notices/{number}/dismiss"), "");
    assert!(!browser.page("/inbox").contains("/notices/"));
}

//! The users of the page: what each role may do, how they sign in, and where their names are.

use serde_json::{Value, json};

use crate::elsewhere::two;
use crate::serve::reviewed;
use crate::support::{
    Browser, Project, Served, WORKER, bash, get, post, scenario, scenarios, text, until,
};

/// Adds a user, and returns the token.
pub(crate) fn add_user(project: &Project, name: &str, role: &str) -> String {
    let added = project.json(&["serve", "user", "add", name, "--role", role]);
    assert_eq!(added.get("role"), Some(&json!(role)), "{added}");
    text(added.get("token").expect("a token"))
}

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

pub(crate) fn events_of(project: &Project, kind: &str) -> Vec<Value> {
    let history = project.ok(&["--json", "issue", "history", "SYM-1"]);
    let events = history
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    events
        .filter(|event: &Value| event.get("kind") == Some(&json!(kind)))
        .collect()
}

/// Sends a form that is carried out, and returns the page that follows.
fn done(browser: &Browser, path: &str, fields: &[(&str, &str)]) -> String {
    let reply = browser.post(path, fields);
    assert_eq!(reply.status, 303, "{path}: {reply:#?}");
    let to = reply.headers.get("location").expect("a page that follows");
    browser.get(to).body
}

#[test]
fn each_role_does_what_it_may_and_its_name_is_kept() {
    let project = reviewed();
    let [eve, ada, grace] = [("eve", "viewer"), ("ada", "reviewer"), ("grace", "admin")]
        .map(|(name, role)| add_user(&project, name, role));
    let served = Served::start(&project, &[]);

    let viewer = served.sign_in_as(&eve);
    let page = viewer.get("/prs/1").body;
    assert!(page.contains("<b>eve</b> (viewer)"), "{page}");
    assert!(page.contains("You are a viewer"), "{page}");
    for offered in [">Merge</button>", ">Approve</button>", "Run them again"] {
        assert!(!page.contains(offered), "{offered}: {page}");
    }
    assert_eq!(viewer.get("/issues/new").status, 403);
    for (path, fields) in [
        ("/issues/SYM-1/comment", [("text", "hello")]),
        ("/prs/1/approve", [("text", "")]),
        ("/prs/1/merge", [("text", "")]),
        ("/pause", [("text", "")]),
    ] {
        let refused = viewer.post(path, &fields);
        assert_eq!(refused.status, 403, "{path}: {refused:#?}");
        assert!(refused.body.contains("yours is viewer"), "{refused:#?}");
    }

    let reviewer = served.sign_in_as(&ada);
    let page = done(&reviewer, "/issues/SYM-1/comment", &[("text", "Well said")]);
    assert!(page.contains("<b>ada</b>"), "{page}");
    let page = done(&reviewer, "/prs/1/approve", &[("text", "Good")]);
    assert!(page.contains("</b> by ada"), "{page}");
    assert!(page.contains("Only an admin can merge."), "{page}");
    assert!(!page.contains(">Merge</button>"), "{page}");
    assert_eq!(reviewer.post("/prs/1/merge", &[]).status, 403);
    let verdict = project.json(&["pr", "show", "1"])["verdict"].clone();
    let expected = json!(["human", "web", "ada"]);
    let found = |value: &Value| json!([value["author"], value["source"], value["user"]]);
    assert_eq!(found(&verdict), expected, "{verdict}");
    assert_eq!(verdict.get("unverified"), None, "a token proves who it is");
    let shown = project.ok(&["pr", "show", "1"]);
    assert!(shown.contains("approved by ada on"), "{shown}");

    let admin = served.sign_in_as(&grace);
    let page = done(&admin, "/prs/1/merge", &[]);
    assert!(page.contains("Merged pull request 1"), "{page}");
    assert_eq!(project.issue("SYM-1")["status"], "done");

    project.ok(&["issue", "comment", "SYM-1", "Typed"]);
    let issue = project.issue("SYM-1");
    let comments = issue["comments"].as_array().unwrap();
    let by = |text: &str| {
        let comment = comments.iter().find(|comment| comment["content"] == text);
        found(comment.expect("it is there"))
    };
    assert_eq!(by("Well said"), expected);
    assert_eq!(by("Typed"), json!(["human", "cli", null]));
    let shown = project.ok(&["issue", "show", "SYM-1"]);
    assert!(shown.contains("ada · "), "{shown}");
    let history = project.ok(&["issue", "history", "SYM-1"]);
    assert!(history.contains("  ada  "), "{history}");
    let who = |kind: &str| {
        let events = events_of(&project, kind);
        let all = events
            .iter()
            .map(|event| json!([event["actor"], event["source"], event["user"]]));
        all.collect::<Vec<_>>()
    };
    assert_eq!(
        who("comment_added").last(),
        Some(&json!(["human", "cli", null]))
    );
    assert!(who("comment_added").contains(&expected));
    assert!(
        who("pr_state").contains(&json!(["human", "web", "grace"])),
        "{:?}",
        who("pr_state")
    );
    assert!(
        who("pr_opened")
            .iter()
            .all(|by| by[0] == "worker" && by[1] == "agent")
    );
    let page = viewer.get("/issues/SYM-1").body;
    assert!(page.contains("<b>grace</b>"), "{page}");
    project.assert_sound();
}

#[test]
fn a_point_and_its_answer_name_their_user() {
    let project = reviewed();
    let [ada, bo] = ["ada", "bo"].map(|name| add_user(&project, name, "reviewer"));
    let served = Served::start(&project, &[]);
    let point = [("severity", "must"), ("text", "Whom?")];
    done(&served.sign_in_as(&ada), "/prs/1/reject", &point);
    let reply = [("point", "1"), ("text", "The world")];
    done(&served.sign_in_as(&bo), "/prs/1/reply", &reply);
    let points = project.json(&["point", "list", "SYM-1"]);
    let point = &points["items"][0];
    assert_eq!(
        json!([point["source"], point["user"]]),
        json!(["web", "ada"])
    );
    let answer = &point["answers"][0];
    assert_eq!(
        json!([answer["source"], answer["user"]]),
        json!(["web", "bo"])
    );
    let shown = project.ok(&["point", "list", "SYM-1"]);
    assert!(
        shown.contains("by ada") && shown.contains("by bo:"),
        "{shown}"
    );
}

#[test]
fn a_token_lets_its_user_in_until_it_is_taken_back() {
    let project = reviewed();
    let served = Served::start(&project, &[]);
    // a user who is added while the page is served is let in at once
    let token = add_user(&project, "ada", "reviewer");
    let host = served.host.as_str();
    let config = std::fs::read_to_string(project.root.join("symphony.config.json")).unwrap();
    assert!(
        config.contains("\"sha256:") && !config.contains(&token),
        "{config}"
    );

    let read = get(host, "/", &bearer(&token));
    assert!(
        read.status == 200 && read.body.contains("Secret plan"),
        "{read:#?}"
    );
    let wrote = post(
        host,
        "/issues/SYM-1/comment",
        &bearer(&token),
        &[("text", "By a program")],
    );
    assert_eq!(wrote.status, 303, "{wrote:#?}");
    let comments = project.issue("SYM-1")["comments"].clone();
    let last = comments.as_array().unwrap().last().unwrap();
    assert_eq!(json!([last["source"], last["user"]]), json!(["web", "ada"]));

    // the token is taken from the form alone, and the form from this server alone
    let form = get(host, &format!("/sign-in?token={token}"), "");
    assert!(form.body.contains("type=\"password\"") && !form.headers.contains_key("set-cookie"));
    for origin in ["", "Origin: null\r\n", "Origin: http://evil.example\r\n"] {
        let foreign = post(host, "/sign-in", origin, &[("token", &token)]);
        assert!(
            foreign.status == 403 && !foreign.headers.contains_key("set-cookie"),
            "{foreign:#?}"
        );
    }
    let browser = served.sign_in_as(&token);
    assert_eq!(browser.get("/").status, 200);
    let folder = project.beside.join("home/.local/state/symphony/web");
    for file in std::fs::read_dir(folder).unwrap() {
        let kept = std::fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(!kept.contains(&token));
    }

    let comment = [("text", "Again")];
    project.ok(&["config", "set", "web.users.ada.role", "viewer"]);
    assert_eq!(browser.post("/issues/SYM-1/comment", &comment).status, 403);
    let listed = project.json(&["serve", "user", "list"])["items"][0].clone();
    assert_eq!(
        json!([listed["user"], listed["role"]]),
        json!(["ada", "viewer"])
    );

    let again = project.symphony(&["serve", "user", "add", "ada", "--role", "admin"]);
    assert_eq!(again.code, 1, "{again:#?}");
    assert!(again.stderr.contains("there is a user `ada`"), "{again:#?}");
    let removed = project.ok(&["serve", "user", "remove", "ada"]);
    assert!(removed.contains("Removed the user ada"), "{removed}");
    assert_eq!(
        project.symphony(&["serve", "user", "remove", "ada"]).code,
        3
    );
    assert_eq!(browser.get("/").status, 401);
    assert_eq!(get(host, "/", &bearer(&token)).status, 401);
    assert_eq!(served.send_token(&token).status, 401);
    // who comes back has another token, and a session of the old one stays ended
    let second = add_user(&project, "ada", "reviewer");
    assert_eq!(browser.get("/").status, 401);
    assert_eq!(get(host, "/", &bearer(&second)).status, 200);
}

#[test]
fn a_guessed_token_is_slowed_down_and_keeps_nobody_out() {
    let project = reviewed();
    let token = add_user(&project, "ada", "reviewer");
    let served = Served::start(&project, &[]);
    let browser = served.sign_in_as(&token);
    let guess = |number: u32| served.send_token(&format!("{number:064x}")).status;
    let found: Vec<u16> = (0..40).map(guess).collect();
    assert_eq!(found[0], 401);
    assert!(found.contains(&429), "{found:?}");
    assert!(
        found.iter().all(|status| matches!(status, 401 | 429)),
        "{found:?}"
    );
    assert_eq!(browser.get("/").status, 200);
    assert_eq!(served.send_token(&token).status, 200);
    until("wrong tokens are answered again", || {
        (guess(7) == 401).then_some(())
    });
}

#[test]
fn a_user_has_a_name_of_its_own_and_a_role_that_exists() {
    let project = reviewed();
    for (arguments, said) in [
        (["judge", "--role", "admin"], "a valid user name"),
        (["Ada", "--role", "admin"], "a valid user name"),
        (["ada", "--role", "owner"], "owner"),
    ] {
        let mut all = vec!["serve", "user", "add"];
        all.extend(arguments);
        let refused = project.symphony(&all);
        assert_eq!(refused.code, 2, "{refused:#?}");
        assert!(refused.stderr.contains(said), "{refused:#?}");
    }
    let config = json!({ "web": { "users": { "ada": { "role": "owner", "token": "x" } } } });
    project.configure_more(&config);
    let checked = project.symphony(&["config", "check"]);
    for said in [
        "symphony.config.json:",
        "web.users.ada.role",
        "`viewer`, `reviewer`, `admin`",
        "web.users.ada.token",
        "sha256:",
    ] {
        assert!(checked.stdout.contains(said), "{said}: {checked:#?}");
    }
}

#[test]
fn users_see_the_project_of_the_page_and_no_other() {
    let (project, other) = two();
    project.add_issue("Of this project");
    let there = other.to_str().unwrap();
    project.ok(&["-C", there, "issue", "add", "Of another project"]);
    let tokens =
        ["viewer", "reviewer", "admin"].map(|role| add_user(&project, &format!("a-{role}"), role));
    let served = Served::start(&project, &[]);
    // whoever serves the page has all of the installation, as in the terminal
    let owner = served.sign_in();
    assert!(
        owner
            .get("/issues/OTH-1")
            .body
            .contains("Of another project")
    );
    let other_board = format!(
        "/?project={}",
        text(&project.json(&["-C", there, "status"])["project"])
    );
    let board = owner.get(&other_board).body;
    assert!(
        board.contains("Of another project") && !board.contains("Of this project"),
        "{board}"
    );
    assert!(board.contains("<select name=\"project\""), "{board}");
    assert!(!owner.get("/").body.contains("Of another project"));
    for token in &tokens {
        let browser = served.sign_in_as(token);
        assert_eq!(browser.get(&other_board).status, 404);
        assert_eq!(
            browser
                .get(&format!(
                    "/api/v1/board{}",
                    other_board.trim_start_matches('/')
                ))
                .status,
            404
        );
        assert!(!browser.get("/").body.contains("<select name=\"project\""));
        assert!(
            browser
                .get("/issues/SYM-1")
                .body
                .contains("Of this project")
        );
        for path in [
            "/issues/OTH-1",
            "/api/v1/issues/OTH-1",
            "/api/v1/OTH-1",
            "/api/v1/runs?issue=OTH-1",
            "/inbox",
            "/api/v1/inbox",
            "/api/v1/events?limit=1000",
            "/",
        ] {
            let reply = browser.get(path);
            assert!(
                !reply.body.contains("Of another project"),
                "{path}: {reply:#?}"
            );
            assert!(
                !reply.body.contains("OTH-1 was added"),
                "{path}: {reply:#?}"
            );
        }
        assert_eq!(browser.get("/issues/OTH-1").status, 404);
    }
    let reviewer = served.sign_in_as(&tokens[1]);
    for (path, fields) in [
        ("/issues/OTH-1/comment", [("text", "hello")]),
        ("/issues/OTH-1/move", [("status", "done")]),
        ("/issues/OTH-1/close", [("resolution", "cancelled")]),
    ] {
        assert_eq!(reviewer.post(path, &fields).status, 404, "{path}");
    }
    let kept = project.json(&["-C", there, "issue", "show", "OTH-1"]);
    assert_eq!(kept["comments"], json!([]), "{kept:#}");
    assert_eq!(kept["status"], "todo", "{kept:#}");
}

#[test]
fn who_signs_in_again_and_again_signs_out_only_themselves() {
    let project = reviewed();
    let token = add_user(&project, "eve", "viewer");
    let served = Served::start(&project, &[]);
    let owner = served.sign_in();
    let first = served.sign_in_as(&token);
    for _ in 0..25 {
        assert_eq!(served.sign_in_as(&token).get("/").status, 200);
    }
    assert_eq!(first.get("/").status, 401, "the oldest has made room");
    assert_eq!(owner.get("/").status, 200);
}

#[test]
fn who_signs_in_as_somebody_else_ends_the_session_before_it() {
    let project = reviewed();
    let [ada, eve] = ["ada", "eve"].map(|name| add_user(&project, name, "viewer"));
    let served = Served::start(&project, &[]);
    let host = served.host.as_str();
    let elsewhere = served.sign_in_as(&ada);
    let first = served.sign_in_as(&ada);
    let form = |browser: &Browser, token: &str| {
        let headers = format!("Cookie: {}\r\nOrigin: http://{host}\r\n", browser.cookie);
        post(host, "/sign-in", &headers, &[("token", token)])
    };
    assert!(matches!(form(&first, &"0".repeat(64)).status, 401 | 429));
    assert_eq!(first.get("/").status, 200, "a wrong token ends nothing");
    let second = served.browser(&form(&first, &eve));
    assert_eq!(first.get("/").status, 401);
    assert!(second.get("/").body.contains("<b>eve</b>"));
    let cookie = format!("Cookie: {}\r\n", second.cookie);
    let third = served.browser(&get(host, &served.link, &cookie));
    assert_eq!(second.get("/").status, 401);
    assert_eq!(third.get("/").status, 200);
    assert_eq!(elsewhere.get("/").status, 200, "another browser of ada");
}

#[test]
fn who_cancels_a_run_on_the_page_is_named() {
    let scenarios = scenarios([scenario(
        "worker",
        &json!({ "match_system": WORKER }),
        [bash("sleep 600")],
    )]);
    let project = Project::new("page", &scenarios, &json!({}));
    project.add_issue("Wait");
    let token = add_user(&project, "grace", "admin");
    let run = project.tick_start();
    let served = Served::start(&project, &[]);
    let browser = served.sign_in_as(&token);
    done(&browser, &format!("/runs/{run}/cancel"), &[]);
    let [event] = events_of(&project, "run_cancel_requested")
        .try_into()
        .unwrap();
    assert_eq!(
        json!([event["actor"], event["source"], event["user"], event["run"]]),
        json!(["human", "web", "grace", run])
    );
    assert_eq!(project.run(&run)["status"], "cancelled");
    let page = browser.get("/issues/SYM-1").body;
    assert!(page.contains("was asked to end"), "{page}");
    project.assert_sound();
}

#[test]
fn a_text_is_searched_for_the_secrets_of_the_project_that_it_is_about() {
    let (project, other) = two();
    project.add_issue("Here");
    let there = other.to_str().unwrap();
    project.ok(&["-C", there, "issue", "add", "There"]);
    std::fs::write(project.root.join(".env"), "API_TOKEN=here-4f9a8c7d6e5b\n").unwrap();
    std::fs::write(other.join(".env"), "API_TOKEN=there-1a2b3c4d5e6f\n").unwrap();
    let served = Served::start(&project, &[]);
    let browser = served.sign_in();
    for (issue, text, expected) in [
        ("SYM-1", "here-4f9a8c7d6e5b", 409),
        ("SYM-1", "there-1a2b3c4d5e6f", 303),
        ("OTH-1", "there-1a2b3c4d5e6f", 409),
        ("OTH-1", "here-4f9a8c7d6e5b", 303),
    ] {
        let reply = browser.post(&format!("/issues/{issue}/comment"), &[("text", text)]);
        assert_eq!(reply.status, expected, "{issue} {text}: {reply:#?}");
    }
}

#[test]
fn what_an_agent_puts_in_the_place_of_a_log_leads_nowhere() {
    let project = reviewed();
    let served = Served::start(&project, &[]);
    let browser = served.sign_in();
    let run = text(&project.json(&["runs", "list"])["items"][0]["id"]);
    let log = project.run_folder(&run).join("log.txt");
    std::fs::write(project.beside.join("secret.txt"), "elsewhere").unwrap();
    std::fs::remove_file(&log).unwrap();
    std::os::unix::fs::symlink(project.beside.join("secret.txt"), &log).unwrap();
    let linked = browser.get(&format!("/runs/{run}/log"));
    assert_eq!(linked.status, 404, "{linked:#?}");
    assert!(
        !browser
            .get(&format!("/runs/{run}"))
            .body
            .contains("elsewhere")
    );
    std::fs::remove_file(&log).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &log,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    assert_eq!(browser.get(&format!("/runs/{run}/log")).status, 404);
    let page = browser.get(&format!("/runs/{run}"));
    assert!(matches!(page.status, 200 | 500), "{page:#?}");
}

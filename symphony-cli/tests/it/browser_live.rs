//! What pages do while things happen, in a real browser: tabs that share a stream, reloads that miss nothing, links to lines of a log,
//! code with colours.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;

use crate::browser::WIDE;
use crate::support::{
    Chromium, Looks, Project, Served, approving_judge, bash, commit, create_pr, scenarios, text,
    until, worker,
};

fn idle() -> Project {
    Project::new("page", &scenarios([]), &json!({}))
}

fn card(title: &str) -> String {
    format!("//article//a[.='{title}']")
}

fn sign_in(browser: &Chromium, served: &Served) -> String {
    let base = format!("http://{}", served.host);
    browser.open(&format!("{base}{}", served.link));
    browser.wait("//h1[.='Board']");
    base
}

/// Counts the streams that a server has begun.
fn streams(log: &Path) -> usize {
    let written = std::fs::read_to_string(log).expect("the server writes it");
    written.matches("a page follows what happens").count()
}

#[test]
fn tabs_share_a_stream_and_the_next_one_takes_it_over() {
    let project = idle();
    let log = project.beside.join("serve.log");
    let served = Served::counting(&project, &log);
    let browser = Chromium::start(WIDE);
    let base = sign_in(&browser, &served);
    until("the first tab follows", || {
        (streams(&log) == 1).then_some(())
    });
    let [first, second] = browser.open_window();
    browser.open(&format!("{base}/"));
    browser.wait("//h1[.='Board']");
    project.ok(&["issue", "add", "Both see it"]);
    for window in [&first, &second] {
        browser.go_to_window(window);
        browser.wait(&card("Both see it"));
    }
    assert_eq!(streams(&log), 1, "the second tab opened none");

    // the leader goes, and something happens before another has taken over
    browser.go_to_window(&first);
    browser.close_window();
    project.ok(&["issue", "add", "Nobody was told"]);
    browser.go_to_window(&second);
    browser.wait(&card("Nobody was told"));
    project.ok(&["issue", "add", "As before"]);
    browser.wait(&card("As before"));
    assert_eq!(streams(&log), 2, "one stream after the other");
    // each change was loaded once, or twice where it came while the page was loaded
    let loads = "return performance.getEntriesByType('resource').filter(one => one.initiatorType === 'fetch').length";
    let loads = browser.script(loads).as_u64().unwrap();
    assert!((3..=6).contains(&loads), "{loads} loads");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_change_that_arrives_during_a_reload_is_not_lost() {
    let project = idle();
    let served = Served::start(&project, &[]);
    let browser = Chromium::start(WIDE);
    sign_in(&browser, &served);
    // the next page that is loaded comes late
    browser.script(
        "const real = window.fetch;
         window.fetch = async (...wanted) => {
           window.fetch = real;
           const answer = await real(...wanted);
           const text = await answer.text();
           await new Promise((go) => { window.go = go; });
           return new Response(text, { status: answer.status });
         };
         new BroadcastChannel('symphony').onmessage = ({ data }) => { window.heard = data.event ?? window.heard; };",
    );
    project.ok(&["issue", "add", "Early"]);
    browser.wait_for_script("return window.go !== undefined");
    let heard = browser.script("return window.heard");
    project.ok(&["issue", "add", "Meanwhile"]);
    browser.wait_for_script(&format!("return window.heard > {heard}"));
    assert!(!browser.has(&card("Meanwhile")) && !browser.has(&card("Early")));
    browser.script("window.go()");
    browser.wait(&card("Meanwhile"));
    assert!(browser.has(&card("Early")));
}

#[test]
fn a_link_to_a_line_opens_what_is_before_it() {
    let scenarios = scenarios([worker([commit("a.txt", "a"), create_pr("A")])]);
    let project = Project::new("page", &scenarios, &json!({}));
    project.add_issue("Talk");
    project.tick_one("worker", "succeeded");
    let run = text(&project.json(&["runs", "list"])["items"][0]["id"]);
    let mut log = String::new();
    let mut offsets = Vec::new();
    for number in 0..30_000 {
        offsets.push(log.len());
        writeln!(log, "12:00:00 [text] This is line-{number}- of a log that is longer than a part of it, by far.").unwrap();
    }
    std::fs::write(project.run_folder(&run).join("log.txt"), &log).unwrap();
    let served = Served::start(&project, &[]);
    let browser = Chromium::start(WIDE);
    let base = sign_in(&browser, &served);
    let shows = |number: usize| {
        browser.wait(&format!(
            "//*[@id='log']//*[contains(@class, 'aim')][contains(., 'line-{number}-')]"
        ));
        browser.wait_for_script(
            "const line = document.querySelector('.aim').getBoundingClientRect();
             const log = document.getElementById('log').getBoundingClientRect();
             return line.top >= Math.max(log.top, 0) - 1 && line.bottom <= Math.min(log.bottom, innerHeight) + 1",
        );
    };
    // a few parts before the end, by a link that somebody sent
    let near = offsets.len() - 5_000;
    browser.open(&format!("{base}/runs/{run}#L{}", offsets[near]));
    shows(near);
    browser.picture("run-line");
    assert_eq!(
        browser.address(),
        format!("{base}/runs/{run}#L{}", offsets[near])
    );
    // the last line, by a click on its time
    browser.click("//*[@id='log']/*[last()]//a");
    shows(29_999);
    assert!(
        browser
            .address()
            .ends_with(&format!("#L{}", offsets[29_999]))
    );
    // too far to load everything between
    browser.open("about:blank");
    browser.open(&format!("{base}/runs/{run}#L{}", offsets[7]));
    shows(7);
    assert!(
        browser
            .address()
            .contains(&format!("/lines?at={}#L", offsets[7]))
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn code_has_colours_that_can_be_read() {
    let code = "//! Zones.\n\n/// A zone.\n#[derive(Debug)]\npub struct Zone {\n    name: String,\n    offset: i32,\n}\n\nimpl Zone {\n    \
                pub fn parse(text: &str) -> Option<Self> {\n        let (name, rest) = text.split_once(\"+\")?; // </td><script>alert(1)</script>\n        \
                let offset = rest.parse().ok().filter(|hours| *hours < 24)?;\n        Some(Self { name: name.to_owned(), offset })\n    }\n}\n";
    let scenarios = scenarios([
        worker([commit("src/zone.rs", code), create_pr("Parse zones")]),
        approving_judge(),
    ]);
    let project = Project::new("page", &scenarios, &json!({}));
    let before = code
        .replace("i32", "i64")
        .replace("*hours < 24", "hours < &24")
        .replace("/// A zone.", "/* A zone. */");
    project.commit_files(&[("src/zone.rs", &before)]);
    project.add_issue("Parse zones");
    project.tick_one("worker", "succeeded");
    let served = Served::start(&project, &[]);
    for (name, looks) in [
        ("light", WIDE),
        ("dark", Looks { dark: true, ..WIDE }),
        ("phone", Looks { width: 390, ..WIDE }),
    ] {
        let browser = Chromium::start(looks);
        browser.open(project.ok(&["serve", "url"]).trim());
        for view in ["unified", "split"] {
            // expressions are compiled as they are first used, which may take longer than a page waits
            until("the code has colours", || {
                browser.open(&format!("http://{}/prs/1?view={view}", served.host));
                browser.wait("//main//h1");
                browser.has("//td/span[@class='hk'][.='let']").then_some(())
            });
            assert!(
                browser.has("//span[@class='hc'][contains(., '<script>alert(1)</script>')]"),
                "{view}"
            );
            assert_eq!(
                browser.accessibility(),
                Vec::<String>::new(),
                "{view} {name}"
            );
            browser.script("document.querySelector('.file').scrollIntoView()");
            browser.picture(&format!("code-{view}-{name}"));
        }
        assert_eq!(browser.complaints(), Vec::<String>::new());
    }
}

#[test]
fn a_learning_is_edited_and_the_setup_checked() {
    let project = idle();
    project.ok(&[
        "learnings",
        "add",
        "Test with `just tset`",
        "--type",
        "convention",
    ]);
    let served = Served::start(&project, &[]);
    for (name, looks) in [
        ("light", WIDE),
        (
            "phone",
            Looks {
                width: 390,
                dark: true,
                ..WIDE
            },
        ),
    ] {
        let browser = Chromium::start(looks);
        browser.open(project.ok(&["serve", "url"]).trim());
        let base = format!("http://{}", served.host);
        browser.open(&format!("{base}/learnings"));
        browser.click("//summary[.='Edit']");
        browser.script("document.querySelector('textarea').value = ''");
        browser.fill(
            "//textarea",
            &format!("Test with just test, on a {name} page"),
        );
        browser.picture(&format!("learning-edit-{name}"));
        assert_eq!(browser.accessibility(), Vec::<String>::new(), "{name}");
        browser.click("//button[.='Save']");
        browser.wait("//*[@role='status'][contains(., 'Changed the learning')]");
        browser.wait(&format!("//article/p[contains(., 'on a {name} page')]"));

        browser.open(&format!("{base}/health"));
        browser.click("//button[starts-with(., 'Check ')]");
        browser.wait("//*[@role='status'][contains(., 'the audit has 0 findings')]");
        browser.wait("//button[.='Check again']");
        browser.picture(&format!("health-checked-{name}"));
        assert_eq!(browser.accessibility(), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_message_is_sent_from_the_pages_of_a_run_and_of_its_issue() {
    let plays = scenarios([worker([bash("sleep 600")])]);
    let project = Project::new("page", &plays, &json!({ "judge_enabled": false }));
    project.add_issue("Say hello");
    let run = project.tick_start();
    let served = Served::start(&project, &[]);
    let browser = Chromium::start(WIDE);
    let base = sign_in(&browser, &served);
    browser.open(&format!("{base}/runs/{run}"));
    browser.fill("//textarea[@id='message']", "Use the existing parser.");
    browser.picture("run-message");
    browser.click("//button[.='Send']");
    browser.wait("//*[contains(., 'accepts no messages while it works')]");
    browser.open(&format!("{base}/issues/SYM-1"));
    browser.fill("//textarea[@id='comment']", "Keep it short.");
    browser.click("//button[.='Send to the agent']");
    browser.wait("//article[contains(., 'Keep it short.')]");
    browser.picture("issue-message");
    let shown = browser.text();
    assert_eq!(
        shown.matches("to the agent, not read yet").count(),
        2,
        "{shown}"
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
    project.ok(&["runs", "cancel", "SYM-1"]);
}

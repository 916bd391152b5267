//! The page in a real browser: the main job by clicking, a log that is followed through the death of its server, and how every page
//! looks and works: wide and narrow, light and dark, by keyboard, without scripts, for people with disabilities.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::json;

use crate::plan_support::{PlanRun, failed, of_phase, plan_of, until_phase};
use crate::support::{
    Chromium, Looks, Project, Served, WORKER, bash, scenario, scenarios, text, until,
};
use crate::web_tls::{ADDRESS, NAME, Secured};
use crate::web_users::add_user;

pub(crate) const WIDE: Looks = Looks {
    width: 1440,
    dark: false,
    without_scripts: false,
    host: None,
};

/// Pages of the demo's project.
const PAGES: [(&str, &str); 12] = [
    ("board", "/"),
    ("inbox", "/inbox"),
    ("new-issue", "/issues/new"),
    ("issue", "/issues/DEMO-1"),
    ("runs", "/runs"),
    ("prs", "/prs"),
    ("pr", "/prs/1"),
    ("pr-split", "/prs/2?view=split"),
    ("plans", "/plans"),
    ("learnings", "/learnings"),
    ("spending", "/spending"),
    ("health", "/health"),
];

/// A demo whose page is served. Both are ended when this is dropped.
struct Demo {
    child: Child,
    link: String,
    base: String,
    project: Project,
}

impl Demo {
    fn start() -> Self {
        let project = Project::repository("unrelated");
        let output = project.beside.join("output.txt");
        let folder = project.beside.join("demo");
        let child = project
            .command(&["demo", "--serve", "--dir", folder.to_str().unwrap()])
            .stdout(std::fs::File::create(&output).unwrap())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let link = until("the demo prints its link", || {
            let printed = std::fs::read_to_string(&output).ok()?;
            let link = printed
                .lines()
                .find(|line| line.starts_with("http://symphony-"))?;
            printed.ends_with('\n').then(|| link.to_owned())
        });
        let base = link.split_once("/sign-in").unwrap().0.to_owned();
        Self {
            child,
            link,
            base,
            project,
        }
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn button(name: &str) -> String {
    format!("//button[normalize-space()='{name}']")
}

fn column(status: &str, inner: &str) -> String {
    format!("//section[@data-status='{status}']{inner}")
}

#[test]
fn a_new_user_takes_an_issue_from_idea_to_merge_by_clicking() {
    let demo = Demo::start();
    let browser = Chromium::start(WIDE);
    browser.open(&demo.link);
    browser.wait(&column("done", "//a[contains(., 'Say goodbye')]"));
    from_idea_to_merge(&browser, "DEMO-3", "flow");
}

/// The main job by clicking, from the board: an agent adds a note for an issue of one's own, is sent back by a point on a line of the
/// note, and answers it.
pub(crate) fn from_idea_to_merge(browser: &Chromium, issue: &str, pictures: &str) {
    let picture = |name: &str| browser.picture(&format!("{pictures}-{name}"));
    browser.click("//a[.='New issue']");
    browser.fill("//input[@id='title']", "Greet in French");
    browser.fill("//textarea[@id='description']", "As the French do.");
    browser.click(&button("Add"));
    browser.wait(&format!(
        "//*[@role='status'][contains(., 'Added {issue}')]"
    ));

    // the agent is watched while it works
    browser.click("//a[.='Board']");
    browser.click(&column("in_progress", "//div[@class='work']/a"));
    browser.wait("//h1[contains(., 'worker')]");
    browser.wait("//*[@id='log']//*[contains(., 'No model reads this issue')]");
    assert!(
        !browser.has("//*[@id='log']//*[contains(., 'is handed in')]"),
        "it is still at work"
    );
    picture("1-run");
    browser.wait("//*[@id='log']//*[contains(., 'is handed in')]");

    // the board follows by itself, up to the judge's approval
    browser.click("//a[.='Board']");
    browser.wait(&column(
        "review",
        "//span[contains(., 'approved by judge')]",
    ));
    picture("2-board");
    browser.click(&column("review", "//a[contains(., 'PR')]"));
    browser.wait("//details[@class='gate']//span[.='passed']");
    browser.click("//td[@class='l']/a[.='3']");
    browser.fill("//textarea[@id='point']", "Say it in French, please.");
    picture("3-comment");
    browser.click(&button("Reject with this point"));
    browser.wait("//*[@role='status'][contains(., 'goes back to an agent')]");

    browser.click("//a[.='Board']");
    browser.wait(&column(
        "review",
        "//span[contains(., 'approved by judge')]",
    ));
    browser.click(&column("review", "//a[contains(., 'PR')]"));
    browser.wait("//div[@class='point']//*[contains(., 'The note has it now')]");
    picture("4-answered");
    browser.click("//input[@name='close']");
    browser.click(&button("Approve"));
    browser.wait("//*[@role='status'][contains(., 'Approved')]");
    browser.click(&button("Merge"));
    browser.wait("//*[@role='status'][contains(., 'Merged pull request')]");
    browser.click("//a[.='Board']");
    browser.wait(&column("done", "//a[contains(., 'Greet in French')]"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn every_page_is_readable_for_everybody() {
    let demo = Demo::start();
    for (name, looks) in [
        ("light", WIDE),
        ("dark", Looks { dark: true, ..WIDE }),
        ("phone", Looks { width: 390, ..WIDE }),
    ] {
        let browser = Chromium::start(looks);
        browser.open(&link(&demo));
        browser.wait("//h1[.='Board']");
        let mut wrong = Vec::new();
        for (page, path) in PAGES {
            browser.open(&format!("{}{path}", demo.base));
            browser.wait("//main//h1");
            browser.picture(&format!("{page}-{name}"));
            wrong.extend(
                browser
                    .accessibility()
                    .into_iter()
                    .map(|found| format!("{page} {name}: {found}")),
            );
            // nothing sticks out to the side
            let wide = browser.script("return document.documentElement.scrollWidth - innerWidth");
            if wide.as_i64().unwrap_or(1) > 0 {
                wrong.push(format!("{page} {name}: {wide} px too wide"));
            }
        }
        assert_eq!(wrong, Vec::<String>::new());
        assert_eq!(browser.complaints(), Vec::<String>::new());
    }
}

#[test]
fn a_plan_is_drawn_with_what_its_phases_wait_for() {
    let scenes = scenarios([scenario(
        "bad",
        &of_phase("bad"),
        [failed("3 tests failed")],
    )]);
    let project = Project::new("page", &scenes, &json!({ "gates": [] }));
    let plan = plan_of(&[("bad", &[]), ("next", &["bad"]), ("last", &["next", "bad"])]);
    std::fs::write(project.root.join("plan.md"), plan).unwrap();
    let run = PlanRun::start(&project, &["plan.md"]);
    until_phase(&project, "bad", "awaiting_decision");
    run.kill();
    let id = text(&project.json(&["plan", "status"])["id"]);
    let served = Served::start(&project, &[]);
    for (name, looks) in [
        ("light", WIDE),
        ("dark", Looks { dark: true, ..WIDE }),
        ("phone", Looks { width: 390, ..WIDE }),
    ] {
        let browser = Chromium::start(looks);
        let link = project.ok(&["serve", "url"]);
        browser.open(link.trim());
        browser.open(&format!("http://{}/plans/{id}", served.host));
        browser.wait("//main//h1");
        browser.picture(&format!("plan-{name}"));
        assert_eq!(browser.accessibility(), Vec::<String>::new(), "{name}");
        // boxes have the colour of a panel, so that their texts can be read, and arrows are lines
        let drawn = browser.script(
            "const style = (at) => getComputedStyle(document.querySelector(at));
             const panel = getComputedStyle(document.querySelector('.panel')).backgroundColor;
             return [style('.dag rect').fill === panel, style('.dag path.edge').fill,
                     style('.dag rect.ask').stroke !== style('.dag rect:not(.ask)').stroke]",
        );
        assert_eq!(drawn, json!([true, "none", true]), "{name}");
    }
    // what waits for a decision has its own orders
    let page = served.sign_in().get(&format!("/plans/{id}")).body;
    assert!(!page.contains(">Resume</button>"), "{page}");
    assert!(page.contains(">Retry</button>") && page.contains(">Skip</button>"));
}

/// Signs another browser in.
fn link(demo: &Demo) -> String {
    let folder = demo.project.beside.join("demo");
    demo.project
        .ok(&["-C", folder.to_str().unwrap(), "serve", "url"])
        .trim()
        .to_owned()
}

#[test]
fn the_keyboard_is_enough_and_scripts_are_not_needed() {
    let demo = Demo::start();
    let browser = Chromium::start(WIDE);
    browser.open(&demo.link);
    browser.wait(&column("done", "//article"));
    browser.press("j");
    browser.press("j");
    browser.press("k");
    browser.press("\u{e007}");
    browser.wait("//h1[.='Say goodbye']");
    browser.press("gi");
    browser.wait("//h1[.='Inbox']");
    browser.press("gb");
    browser.wait("//h1[.='Board']");
    browser.press("?");
    browser.wait("//dialog[@open]//h2[.='Keys']");
    browser.click("//dialog//button");
    browser.press("/");
    browser.press("goodbye\u{e007}");
    browser.wait("//h1[.='Board']");
    assert!(browser.has(&column("done", "//a[.='Say goodbye']")));
    browser.wait("//a[.='Show all']");
    assert!(!browser.has(&column("done", "//a[.='Greet a person by name']")));

    let plain = Chromium::start(Looks {
        without_scripts: true,
        ..WIDE
    });
    plain.open(&link(&demo));
    plain.wait("//h1[.='Board']");
    plain.click("//a[.='New issue']");
    plain.fill("//input[@id='title']", "Greet in Latin");
    plain.click("//input[@name='todo']");
    plain.click(&button("Add"));
    plain.wait("//*[@role='status'][contains(., 'Added DEMO-3')]");
    assert!(plain.text().contains("Backlog"));
    // and the other browser, which is looking at the filtered board, drags the new card to another column
    browser.open(&format!("{}/", demo.base));
    browser.wait(&column("backlog", "//a[.='Greet in Latin']"));
    browser.script(
        "const send = (at, kind) => document.querySelector(at).dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true }));
         send('[data-key=DEMO-3][draggable=true]', 'dragstart');
         send('[data-status=todo]', 'dragover');
         send('[data-status=todo]', 'drop');",
    );
    browser.wait("//section[@data-status!='backlog']//a[.='Greet in Latin']");
    plain.open(&format!("{}/runs", demo.base));
    plain.click("//tbody/tr[1]//a");
    plain.wait("//*[@id='log']/*");
}

#[test]
fn a_team_works_over_tls() {
    let project = Project::new("page", &scenarios([]), &json!({}));
    let token = add_user(&project, "ada", "reviewer");
    let served = Secured::start(&project);
    let base = format!("https://{}", served.host);
    let browser = Chromium::start(Looks {
        host: Some((NAME, ADDRESS)),
        ..WIDE
    });
    browser.open(&format!("{base}{}", served.link));
    browser.wait("//h1[.='Board']");
    // the stream of events works inside of TLS
    project.ok(&["issue", "add", "From the terminal"]);
    browser.wait("//a[.='From the terminal']");
    browser.click("//a[.='New issue']");
    browser.fill("//input[@id='title']", "From the browser");
    browser.click(&button("Add"));
    browser.wait("//*[@role='status'][contains(., 'Added SYM-2')]");
    browser.picture("tls-board");
    // another person takes the browser over
    browser.open(&format!("{base}/sign-in"));
    browser.fill("//input[@id='token']", &token);
    browser.click(&button("Sign in"));
    browser.wait("//h1[.='Board']");
    browser.wait("//b[.='ada']");
    assert_eq!(browser.accessibility(), Vec::<String>::new());
    assert_eq!(browser.complaints(), Vec::<String>::new());
    browser.open(&format!("http://{}/", served.host));
    browser.wait("//*[contains(., 'begin with https://')]");
    browser.picture("tls-without");
}

#[test]
fn a_server_that_an_agent_starts_gets_no_session() {
    let project = Project::new("page", &scenarios([]), &json!({}));
    let served = Served::start(&project, &[]);
    let browser = Chromium::start(WIDE);
    browser.open(&format!("http://{}{}", served.host, served.link));
    browser.wait("//h1[.='Board']");

    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port();
    let asked = std::thread::spawn(move || {
        let (mut stream, _) = other.accept().unwrap();
        let mut head = [0; 4096];
        let count = stream.read(&mut head).unwrap();
        let answer = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nOK";
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8_lossy(&head[..count]).to_ascii_lowercase()
    });
    browser.open(&format!("http://localhost:{port}/"));
    let asked = asked.join().unwrap();
    assert!(asked.contains("host: localhost"), "{asked}");
    assert!(!asked.contains("cookie"), "{asked}");
}

#[test]
fn no_line_of_a_live_log_is_lost_or_doubled_on_the_screen() {
    let turns = (0..60).map(|number| {
        let mut turn = bash(&format!("echo line-{number}-"));
        turn["faults"] = json!([{ "type": "delay", "seconds": 0.15 }]);
        turn
    });
    let scenarios = scenarios([scenario(
        "worker",
        &json!({ "match_system": WORKER }),
        turns,
    )]);
    let project = Project::new("page", &scenarios, &json!({}));
    project.add_issue("Talk");
    let run = project.tick_start();
    let mut served = Served::start(&project, &[]);
    let browser = Chromium::start(WIDE);
    let base = format!("http://{}", served.host);
    browser.open(&format!("{base}{}", served.link));
    browser.wait("//h1[.='Board']");
    browser.open(&format!("{base}/runs/{run}"));
    browser.wait("//*[@id='log']//*[contains(., 'line-8-')]");
    let port = served.port;
    served.kill();
    std::thread::sleep(Duration::from_secs(1));
    let _served = Served::on_port(&project, port, &[]);
    browser.wait("//*[@id='log']//*[contains(., 'line-59-')]");
    project.until_ended(&run);
    browser.wait("//span[contains(@class, 'tag')][not(.='running')]");
    // as many elements as the log has lines, and each text as often
    let shown = browser.script(
        "return [...document.querySelectorAll('#log > [data-kind]')].map(one => one.textContent)",
    );
    let shown: Vec<String> = shown.as_array().unwrap().iter().map(text).collect();
    let log = project.run_file(&run, "log.txt");
    assert_eq!(shown.len(), log.lines().count(), "{shown:#?}");
    for number in 0..60 {
        let name = format!("line-{number}-");
        let (on_screen, written) = (
            shown.iter().filter(|line| line.contains(&name)).count(),
            log.lines().filter(|line| line.contains(&name)).count(),
        );
        assert_eq!(on_screen, written, "{name}");
    }
}

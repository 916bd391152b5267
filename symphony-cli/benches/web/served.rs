//! The page of a project with years behind it, as `symphony serve` serves it.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use rusqlite::{Connection, params};
use symphony_core::Timestamp;

use super::client::Client;
use super::project::Project;

/// A server; it is ended when the value is dropped.
#[derive(Debug)]
pub(crate) struct Served {
    child: Child,
    pub(crate) port: u16,
    /// What a browser sends that is signed in.
    pub(crate) headers: String,
}

impl Served {
    /// Serves the page on a free port, and signs in.
    pub(crate) fn start(project: &Project) -> Self {
        let mut child = project
            .symphony(&["serve", "--port", "0", "--quiet"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut link = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut link)
            .unwrap();
        let address = link.trim().strip_prefix("http://").unwrap();
        let (host, path) = address.split_once('/').unwrap();
        let port = host.rsplit_once(':').unwrap().1.parse().unwrap();
        let host = format!("Host: {host}\r\n");
        let head = Client::connect(port, host.clone()).ask(&format!("/{path}"));
        let cookie = head.cookie.expect("the link signs in");
        Self {
            child,
            port,
            headers: format!("{host}Cookie: {cookie}\r\n"),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(self.port, self.headers.clone())
    }

    /// Forgets the most memory that the server has held.
    pub(crate) fn forget_peak(&self) {
        fs::write(format!("/proc/{}/clear_refs", self.pid()), "5").unwrap();
    }

    /// Returns the most memory that the server has held, in KiB.
    pub(crate) fn peak_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.unwrap().split_whitespace().next();
        kib.unwrap().parse().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The identifier of a run that [`fill`] made.
pub(crate) fn run_id(number: u32) -> String {
    format!("{number:08x}-0000-7000-8000-000000000000")
}

/// Fills a project as years leave it: most issues done, some in the backlog, some that wait in `todo`, some blocked; a run on each,
/// and events of all of them.
pub(crate) fn fill(project: &Project, issues: u32) {
    let set = |key: &str, value: &str| drop(project.ok(&["config", "set", key, value]));
    set("providers.command.command", r#"["true"]"#);
    set("provider", "command");
    let connection = Connection::open(project.database()).unwrap();
    let id: String = connection
        .query_row("SELECT id FROM project", [], |row| row.get(0))
        .unwrap();
    let now = Timestamp::now().as_millisecond();
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)";
    // an hour lies between two issues: ten thousand are more than a year
    connection
        .execute(
            &format!(
                "{numbers}
                 INSERT INTO issue (id, project, number, title, title_key, description, status, blocked_by, blocked_reason, priority,
                                    labels, created_at, updated_at)
                 SELECT 'BEN-' || i, ?1, i, 'Issue ' || i || ': the parser drops the last field', 'issue ' || i,
                        'What is to be done, in some words, and how one sees that it is done.',
                        CASE WHEN i % 500 = 1 THEN 'blocked' WHEN i % 20 = 0 THEN 'todo' WHEN i % 10 = 3 THEN 'backlog' ELSE 'done' END,
                        CASE WHEN i % 500 = 1 THEN 'human' END, CASE WHEN i % 500 = 1 THEN 'a decision' END,
                        i % 5, '[\"parser\"]', ?3 - (?2 - i) * 3600000, ?3 - (?2 - i) * 3600000
                 FROM n"
            ),
            params![id, issues, now],
        )
        .unwrap();
    connection
        .execute(
            &format!(
                "{numbers}
                 INSERT INTO run (id, fence, project, issue, agent, attempt, provider, model, status, protection, started_at, ended_at,
                                  input_tokens, output_tokens, cost_micros)
                 SELECT printf('%08x-0000-7000-8000-000000000000', i), i, ?1, 'BEN-' || i, iif(i % 2, 'worker', 'judge'), 1, 'command',
                        'model-' || (i % 3), 'succeeded', 'none', ?3 - (?2 - i) * 3600000, ?3 - (?2 - i) * 3600000 + 60000,
                        50000, 2000, 150000
                 FROM n"
            ),
            params![id, issues, now],
        )
        .unwrap();
    connection
        .execute(
            &format!(
                "{numbers}
                 INSERT INTO event (at, project, issue, run, actor, kind, payload)
                 SELECT ?3 - (?2 - i) * 360000, ?1, 'BEN-' || (i / 10 + 1), NULL, 'system', 'comment_added', json_object('comment', i) FROM n"
            ),
            params![id, issues * 10, now],
        )
        .unwrap();
    connection
        .execute("UPDATE project SET next_number = ?1", [issues + 1])
        .unwrap();
    connection.execute_batch("ANALYZE").unwrap();
}

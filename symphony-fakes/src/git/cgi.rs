//! One request to `git http-backend`.

use std::io::{Read, Write};
use std::process::Stdio;

use super::store::GitStore;

/// What the program is asked.
pub(super) struct Asked {
    pub(super) method: String,
    /// The path below the repository, such as `/info/refs`.
    pub(super) path: String,
    pub(super) query: String,
    pub(super) content_type: String,
    /// `gzip`, where the client packed what it sends.
    pub(super) encoding: String,
    /// The header `git-protocol`.
    pub(super) protocol: String,
    /// Who pushes; without one the program refuses a push.
    pub(super) user: Option<String>,
    pub(super) body: Vec<u8>,
}

/// What the program answers.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// Runs the program, and waits for its end.
pub(super) fn run(store: &GitStore, asked: &Asked) -> Answered {
    let mut command = store.command(&["http-backend"]);
    command
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("GIT_PROJECT_ROOT", store.folder())
        .env("PATH_INFO", &asked.path)
        .env("REQUEST_METHOD", &asked.method)
        .env("QUERY_STRING", &asked.query)
        .env("CONTENT_TYPE", &asked.content_type)
        .env("CONTENT_LENGTH", asked.body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", &asked.encoding)
        .env("GIT_PROTOCOL", &asked.protocol)
        .env("REMOTE_ADDR", "127.0.0.1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    if let Some(user) = &asked.user {
        command.env("REMOTE_USER", user);
    }
    let mut child = command.spawn().expect("git is installed");
    let mut input = child.stdin.take().expect("the input is a pipe");
    let mut output = child.stdout.take().expect("the output is a pipe");
    let mut text = Vec::new();
    // The program can answer before it has read everything: with one thread both would wait for each other.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // it refuses some requests without reading them
            let _refused = input.write_all(&asked.body);
            drop(input);
        });
        output.read_to_end(&mut text).expect("a pipe can be read");
    });
    child.wait().expect("a child can be waited for");
    parsed(&text)
}

fn parsed(text: &[u8]) -> Answered {
    let end = text.windows(4).position(|window| window == b"\r\n\r\n");
    let (head, body) = match end {
        Some(end) => (text.get(..end), text.get(end + 4..)),
        None => (None, Some(text)),
    };
    let head = String::from_utf8_lossy(head.unwrap_or_default());
    let mut status = if end.is_some() { 200 } else { 500 };
    let mut headers = Vec::new();
    for line in head.lines() {
        let Some((name, value)) = line.split_once(": ") else {
            continue;
        };
        if name.eq_ignore_ascii_case("status") {
            let code = value.split(' ').next().unwrap_or_default();
            status = code.parse().unwrap_or(500);
        } else {
            headers.push((name.to_owned(), value.to_owned()));
        }
    }
    Answered {
        status,
        headers,
        body: body.unwrap_or_default().to_vec(),
    }
}

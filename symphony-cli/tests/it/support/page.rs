//! The served page as a browser without scripts sees it, and as an attacker does: requests are written byte by byte.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpStream;
#[cfg(feature = "browser")]
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::Project;

/// How long an answer may take.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// A server of a project's page. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Served {
    child: Child,
    /// The port that it listens on.
    pub(crate) port: u16,
    /// Where browsers find it, as they send it.
    pub(crate) host: String,
    /// The path of the link that it printed.
    pub(crate) link: String,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The status code; 0 where the connection was closed without an answer.
    pub(crate) status: u16,
    /// The headers, with names in lower case; the last one of several.
    pub(crate) headers: BTreeMap<String, String>,
    /// The body.
    pub(crate) body: String,
}

/// A browser that is signed in.
#[derive(Debug, Clone)]
pub(crate) struct Browser {
    /// Where it finds the server.
    pub(crate) host: String,
    /// The cookie, as it is sent.
    pub(crate) cookie: String,
}

impl Served {
    /// Serves the page on a free port.
    pub(crate) fn start(project: &Project, arguments: &[&str]) -> Self {
        Self::on_port(project, 0, arguments)
    }

    /// Serves the page on a port.
    pub(crate) fn on_port(project: &Project, port: u16, arguments: &[&str]) -> Self {
        let port = port.to_string();
        let mut command = project.command(&["serve", "--port", &port]);
        command.args(arguments);
        Self::begin(command)
    }

    /// Serves the page on a free port, and writes each stream that begins to a file, with how many there are.
    #[cfg(feature = "browser")]
    pub(crate) fn counting(project: &Project, log: &Path) -> Self {
        let mut command = project.command(&["serve", "--port", "0"]);
        command
            .env("SYMPHONY_LOG", "symphony_web=debug")
            .stderr(std::fs::File::create(log).unwrap());
        Self::begin(command)
    }

    fn begin(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut link = String::new();
        let stdout = child.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut link).unwrap();
        let (host, link) = host_and_path(&link);
        Self {
            child,
            port: port_of(&host),
            host,
            link,
        }
    }

    /// Signs a browser in by the link.
    pub(crate) fn sign_in(&self) -> Browser {
        self.browser(&get(&self.host, &self.link, ""))
    }

    /// Sends the form of the sign-in page.
    pub(crate) fn send_token(&self, token: &str) -> Reply {
        post(
            &self.host,
            "/sign-in",
            &own_origin(&self.host),
            &[("token", token)],
        )
    }

    /// Signs a browser in as a user.
    pub(crate) fn sign_in_as(&self, token: &str) -> Browser {
        self.browser(&self.send_token(token))
    }

    /// Takes the cookie of an answer that signs in.
    pub(crate) fn browser(&self, reply: &Reply) -> Browser {
        assert_eq!(reply.status, 200, "{reply:#?}");
        let cookie = reply.headers["set-cookie"].split(';').next().unwrap();
        Browser {
            host: self.host.clone(),
            cookie: cookie.to_owned(),
        }
    }

    /// Returns the most memory that the server has held so far, in KiB.
    pub(crate) fn peak_memory_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next());
        kib.expect("Linux counts it").parse().unwrap()
    }

    /// Kills the server.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

impl Browser {
    /// Gets a page.
    pub(crate) fn get(&self, path: &str) -> Reply {
        get(&self.host, path, &format!("Cookie: {}\r\n", self.cookie))
    }

    /// Asks for a page as the page itself does when something has happened.
    pub(crate) fn refresh(&self, path: &str) -> Reply {
        let headers = format!("Cookie: {}\r\nX-Symphony-Refresh: 1\r\n", self.cookie);
        get(&self.host, path, &headers)
    }

    /// Opens a stream with further headers, each with its line end.
    pub(crate) fn stream(&self, path: &str, headers: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", port_of(&self.host))).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n{headers}\r\n",
            self.host, self.cookie
        );
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    /// Returns the token that the forms of a page carry.
    pub(crate) fn form_token(&self) -> String {
        let page = self.get("/").body;
        let field = page
            .split("name=\"form_token\" value=\"")
            .nth(1)
            .expect("a form");
        field.split('"').next().unwrap().to_owned()
    }

    /// Sends a form of a page, as a browser does.
    pub(crate) fn post(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let token = self.form_token();
        let mut fields = fields.to_vec();
        fields.push(("form_token", &token));
        let headers = format!("Cookie: {}\r\n{}", self.cookie, own_origin(&self.host));
        post(&self.host, path, &headers, &fields)
    }
}

/// The headers of a form that a page of the server sends.
fn own_origin(host: &str) -> String {
    format!("Origin: http://{host}\r\nSec-Fetch-Site: same-origin\r\n")
}

/// Splits a printed link into the host, as browsers send it, and the path.
pub(crate) fn host_and_path(link: &str) -> (String, String) {
    let rest = link.trim().strip_prefix("http://symphony-");
    let (host, path) = rest
        .and_then(|rest| rest.split_once('/'))
        .unwrap_or_else(|| panic!("a link was expected, not {link:?}"));
    (format!("symphony-{host}"), format!("/{path}"))
}

/// Returns the port of a host.
fn port_of(host: &str) -> u16 {
    let port = host.rsplit(':').next();
    port.and_then(|port| port.parse().ok())
        .expect("a host with a port")
}

/// Gets a page with further headers, each with its line end.
pub(crate) fn get(host: &str, path: &str, headers: &str) -> Reply {
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n");
    send(port_of(host), request.as_bytes())
}

/// Sends a form with further headers, each with its line end.
pub(crate) fn post(host: &str, path: &str, headers: &str, fields: &[(&str, &str)]) -> Reply {
    let body = encoded(fields);
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    );
    send(port_of(host), request.as_bytes())
}

/// Sends bytes, and reads the answer to its end.
pub(crate) fn send(port: u16, request: &[u8]) -> Reply {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(ANSWER_MAX)).unwrap();
    exchange(stream, request)
}

/// Sends bytes over a connection, and reads the answer to its end.
pub(crate) fn exchange(mut stream: impl Read + Write, request: &[u8]) -> Reply {
    // a server that has seen enough may close before it has read all
    let _refused = stream.write_all(request);
    let mut bytes = Vec::new();
    let mut part = [0; 16 * 1024];
    // some servers keep the connection, whatever they are asked
    while !is_whole(&bytes) {
        match stream.read(&mut part) {
            Ok(0) | Err(_) => break,
            Ok(count) => bytes.extend_from_slice(&part[..count]),
        }
    }
    Reply::parse(&bytes)
}

/// Returns whether an answer has as many bytes as it says.
fn is_whole(bytes: &[u8]) -> bool {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        return false;
    };
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"));
    let length: Option<usize> = length.and_then(|length| length.trim().parse().ok());
    length.is_some_and(|length| bytes.len() >= end + 4 + length)
}

impl Reply {
    fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1));
        let headers = lines.filter_map(|line| line.split_once(':'));
        Self {
            status: status.and_then(|status| status.parse().ok()).unwrap_or(0),
            headers: headers
                .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
                .collect(),
            body: body.to_owned(),
        }
    }
}

pub(crate) fn encoded(fields: &[(&str, &str)]) -> String {
    let pairs = fields.iter().map(|(name, value)| {
        let bytes = value.bytes().map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        });
        format!("{name}={}", bytes.collect::<String>())
    });
    pairs.collect::<Vec<_>>().join("&")
}

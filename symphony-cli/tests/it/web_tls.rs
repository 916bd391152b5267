//! The page over TLS, under another address: what browsers get, what other connections get, and what is wrong with files.

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use serde_json::json;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::support::{Project, Reply, encoded, exchange, scenarios};

pub(crate) const NAME: &str = "symphony.example.org";

/// An address that is not the one that pages have by default, and that only this machine reaches.
pub(crate) const ADDRESS: &str = "127.0.0.2";

/// A server with TLS. It is killed when this is dropped.
pub(crate) struct Secured {
    child: Child,
    port: u16,
    /// The host that browsers send.
    pub(crate) host: String,
    /// The path of the link that it printed.
    pub(crate) link: String,
    certificate: CertificateDer<'static>,
}

fn idle() -> Project {
    Project::new("page", &scenarios([]), &json!({}))
}

fn made() -> CertifiedKey<KeyPair> {
    generate_simple_self_signed([NAME.to_owned()]).unwrap()
}

/// Writes a certificate and its key beside a project.
fn write_pair(project: &Project) -> CertifiedKey<KeyPair> {
    let made = made();
    write(project, "cert.pem", &made.cert.pem());
    write(project, "key.pem", &made.signing_key.serialize_pem());
    made
}

fn write(project: &Project, name: &str, text: &str) {
    let path = project.beside.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
}

fn beside(project: &Project, name: &str) -> String {
    project.beside.join(name).to_str().unwrap().to_owned()
}

impl Secured {
    /// Serves the page of a project.
    pub(crate) fn start(project: &Project) -> Self {
        let made = write_pair(project);
        let (cert, key) = (beside(project, "cert.pem"), beside(project, "key.pem"));
        let listen = format!("{ADDRESS}:0");
        let mut child = project
            .command(&["serve", "--listen", &listen, "--cert", &cert, "--key", &key])
            .args(["--host", NAME])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let rest = line.trim().strip_prefix("https://").expect("a link");
        let (host, link) = rest.split_once('/').unwrap();
        let port = host.rsplit(':').next().unwrap().parse().unwrap();
        Self {
            child,
            port,
            host: host.to_owned(),
            link: format!("/{link}"),
            certificate: made.cert.der().clone(),
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect((ADDRESS, self.port)).unwrap();
        let limit = Some(Duration::from_secs(30));
        stream.set_read_timeout(limit).unwrap();
        stream
    }

    /// Sends a request over TLS, as a browser that trusts the certificate.
    fn send(&self, request: &str) -> Reply {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from(NAME).unwrap();
        let client = ClientConnection::new(Arc::new(config), name).unwrap();
        exchange(StreamOwned::new(client, self.connect()), request.as_bytes())
    }

    fn get(&self, host: &str, path: &str, headers: &str) -> Reply {
        self.send(&format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n"
        ))
    }

    fn post(&self, path: &str, headers: &str, fields: &[(&str, &str)]) -> Reply {
        let body = encoded(fields);
        let (host, length) = (&self.host, body.len());
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        ))
    }
}

impl Drop for Secured {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

#[test]
fn a_page_is_served_over_tls_under_the_name_that_people_use() {
    let project = idle();
    let served = Secured::start(&project);
    let host = served.host.as_str();
    assert_eq!(host, format!("{NAME}:{}", served.port));
    let signed_in = served.get(host, &served.link, "");
    assert_eq!(signed_in.status, 200, "{signed_in:#?}");
    let cookie = &signed_in.headers["set-cookie"];
    assert!(cookie.starts_with("__Host-symphony="), "{cookie}");
    for attribute in ["; Path=/", "; Secure", "; HttpOnly", "; SameSite=Strict"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    let cookie = format!("Cookie: {}\r\n", cookie.split(';').next().unwrap());
    let board = served.get(host, "/", &cookie);
    assert_eq!(board.status, 200, "{board:#?}");
    assert_eq!(
        board.headers["strict-transport-security"],
        "max-age=2592000"
    );

    let other = format!("0.0.0.0:{}", served.port);
    for wrong in [NAME, "evil.example", "0.0.0.0", &other, ADDRESS] {
        let reply = served.get(wrong, "/", &cookie);
        assert_eq!(reply.status, 421, "{wrong}: {reply:#?}");
    }

    let token = board.body.split("name=\"form_token\" value=\"").nth(1);
    let token = token.unwrap().split('"').next().unwrap();
    let fields = [
        ("form_token", token),
        ("title", "Over TLS"),
        ("priority", "none"),
    ];
    for (scheme, expected) in [("http", 403), ("https", 303)] {
        let headers = format!("{cookie}Origin: {scheme}://{host}\r\n");
        let reply = served.post("/issues", &headers, &fields);
        assert_eq!(reply.status, expected, "{reply:#?}");
    }
    assert_eq!(project.issue("SYM-1")["title"], "Over TLS");

    let another = project.ok(&["serve", "url"]);
    let path = another.trim().strip_prefix(&format!("https://{host}"));
    assert_eq!(served.get(host, path.unwrap(), "").status, 200);
    drop(served);
    let gone = project.symphony(&["serve", "url"]);
    assert!(gone.stderr.contains("not being served now"), "{gone:#?}");
}

#[test]
fn a_connection_without_tls_ends_cleanly_and_harms_nobody() {
    let project = idle();
    let served = Secured::start(&project);
    let request = format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", served.host);
    let plain = exchange(served.connect(), request.as_bytes());
    assert_eq!(plain.status, 400, "{plain:#?}");
    assert!(plain.body.contains("https://"), "{plain:#?}");
    for odd in [
        &b""[..],
        b"\x16\x03\x01\x00\x05hello",
        b"\x16\x03\x01\xff\xff\x01",
        b"\x00\x00\x00",
        b"SSH-2.0-client\r\n",
    ] {
        let mut stream = served.connect();
        stream.write_all(odd).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut rest = Vec::new();
        let _ended = stream.read_to_end(&mut rest);
        assert!(rest.len() < 1024, "{odd:?}: {rest:?}");
    }
    assert_eq!(served.get(&served.host, &served.link, "").status, 200);
}

#[test]
fn a_client_that_does_not_finish_its_handshake_loses_its_place() {
    let project = idle();
    let served = Secured::start(&project);
    let silent: Vec<TcpStream> = (0..600)
        .map(|number| {
            let mut stream = served.connect();
            if number % 2 == 0 {
                stream.write_all(b"\x16\x03\x01").unwrap();
            }
            stream
        })
        .collect();
    let begun = Instant::now();
    assert_eq!(served.get(&served.host, &served.link, "").status, 200);
    assert!(begun.elapsed() < Duration::from_secs(25));
    drop(silent);
}

#[test]
fn another_address_needs_a_certificate_or_a_proxy() {
    let project = idle();
    write_pair(&project);
    let (cert, key) = (beside(&project, "cert.pem"), beside(&project, "key.pem"));
    for (arguments, code, said) in [
        (&["--listen", "0.0.0.0"][..], 2, "--behind-proxy"),
        (&["--listen", "0.0.0.0", "--host", NAME], 2, "--cert"),
        (&["--cert", &cert, "--host", NAME], 2, "--key"),
        (&["--cert", &cert, "--key", &key], 2, "--host"),
        (
            &["--listen", "example.org", "--behind-proxy", "--host", NAME],
            2,
            "`192.168.1.5`",
        ),
        (
            &["--listen", "0.0.0.0", "--behind-proxy", "--host", "0.0.0.0"],
            2,
            "give the name that people type",
        ),
        (
            &[
                "--listen",
                "127.0.0.2:1",
                "--port",
                "2",
                "--behind-proxy",
                "--host",
                NAME,
            ],
            2,
            "both name a port",
        ),
        // of the range for documentation: no machine has it
        (
            &["--listen", "192.0.2.1", "--behind-proxy", "--host", NAME],
            1,
            "this machine has no such address",
        ),
    ] {
        let mut all = vec!["serve"];
        all.extend(arguments);
        let refused = project.symphony(&all);
        assert_eq!(refused.code, code, "{refused:#?}");
        assert!(refused.stderr.contains(said), "{said}: {refused:#?}");
    }
}

#[test]
fn what_is_wrong_with_a_certificate_is_said_with_what_to_do() {
    let project = idle();
    let own = write_pair(&project);
    write(&project, "other.pem", &made().signing_key.serialize_pem());
    write(&project, "empty.pem", "");
    let encrypted =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    write(&project, "encrypted.pem", encrypted);
    fs::write(project.beside.join("cert.der"), own.cert.der()).unwrap();
    write(&project, "open.pem", &own.signing_key.serialize_pem());
    let open = project.beside.join("open.pem");
    fs::set_permissions(&open, Permissions::from_mode(0o644)).unwrap();
    for (cert, key, said, hint) in [
        (
            "gone.pem",
            "key.pem",
            "No such file",
            "check the path after --cert",
        ),
        (
            "empty.pem",
            "key.pem",
            "no certificate: it is empty",
            "fullchain.pem",
        ),
        (
            "cert.der",
            "key.pem",
            "it is binary",
            "openssl x509 -inform der",
        ),
        ("key.pem", "key.pem", "it has PRIVATE KEY", "fullchain.pem"),
        ("cert.pem", "cert.pem", "it has CERTIFICATE", "privkey.pem"),
        (
            "cert.pem",
            "encrypted.pem",
            "encrypted with a password",
            "openssl pkey",
        ),
        ("cert.pem", "open.pem", "(mode 644)", "chmod 600"),
        (
            "cert.pem",
            "other.pem",
            "does not belong to",
            "has to come first",
        ),
        (
            ".",
            "key.pem",
            "is not a regular file",
            "check the path after --cert",
        ),
    ] {
        let (cert, key) = (beside(&project, cert), beside(&project, key));
        let refused = project.symphony(&[
            "serve", "--cert", &cert, "--key", &key, "--host", NAME, "--port", "0",
        ]);
        assert_eq!(refused.code, 1, "{refused:#?}");
        for expected in [said, hint, "hint:"] {
            assert!(
                refused.stderr.contains(expected),
                "{expected}: {refused:#?}"
            );
        }
    }
}

//! Gates in a sandbox download with the real npm and cargo, through Symphony's proxy, from registries on loopback.
//!
//! The registries are on 127.0.0.2, which no tool takes for an address to be reached without the proxy.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::support::{Project, commit, create_pr, scenarios, until, worker};

/// What a server answers, by path, and which paths it was asked for.
#[derive(Clone, Default)]
struct Registry {
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Registry {
    /// Starts the server; returns its address.
    fn serve(&self) -> String {
        let listener = TcpListener::bind("127.0.0.2:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let registry = self.clone();
        std::thread::spawn(move || {
            for peer in listener.incoming() {
                let mut peer = peer.unwrap();
                let mut reader = BufReader::new(peer.try_clone().unwrap());
                let mut first = String::new();
                // a peer that is gone needs no answer
                drop(reader.read_line(&mut first));
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                    line.clear();
                }
                let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
                let file = registry.files.lock().unwrap().get(&path).cloned();
                registry.asked.lock().unwrap().push(path);
                let (status, body) = match file {
                    Some(body) => ("200 OK", body),
                    None => ("404 Not Found", Vec::new()),
                };
                let head = format!(
                    "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
                    body.len()
                );
                drop(peer.write_all(head.as_bytes()));
                drop(peer.write_all(&body));
            }
        });
        address
    }

    fn put(&self, path: &str, body: impl Into<Vec<u8>>) {
        self.files
            .lock()
            .unwrap()
            .insert(path.to_owned(), body.into());
    }

    fn was_asked(&self, path: &str) -> bool {
        self.asked.lock().unwrap().iter().any(|asked| asked == path)
    }
}

/// Packs a folder with one package.
fn packed(folder: &Path, name: &str, files: &[(&str, &str)]) -> Vec<u8> {
    for (path, text) in files {
        let path = folder.join(name).join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    #[expect(clippy::disallowed_methods, reason = "a test packs a package")]
    let packed = Command::new("tar")
        .current_dir(folder)
        .args(["czf", "-", name])
        .output()
        .unwrap();
    assert!(packed.status.success());
    packed.stdout
}

fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write as _;

    use sha2::Digest as _;

    let digest = sha2::Sha256::digest(bytes);
    digest.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

#[test]
fn gates_with_npm_and_cargo_download_through_the_proxy() {
    let registry = Registry::default();
    let address = registry.serve();
    let folder = tempfile::tempdir().unwrap();
    let npm = packed(
        folder.path(),
        "package",
        &[
            (
                "package.json",
                "{\"name\":\"greet-x\",\"version\":\"1.0.0\"}",
            ),
            ("index.js", "module.exports = 'hello';"),
        ],
    );
    registry.put("/greet-x/-/greet-x-1.0.0.tgz", npm);
    let versions = json!({ "1.0.0": {
        "name": "greet-x", "version": "1.0.0",
        "dist": { "tarball": format!("http://{address}/greet-x/-/greet-x-1.0.0.tgz") },
    } });
    let about =
        json!({ "name": "greet-x", "dist-tags": { "latest": "1.0.0" }, "versions": versions });
    registry.put("/greet-x", about.to_string());
    let crate_file = packed(
        folder.path(),
        "greetx-1.0.0",
        &[
            (
                "Cargo.toml",
                "[package]\nname = \"greetx\"\nversion = \"1.0.0\"\nedition = \"2021\"\n",
            ),
            (
                "src/lib.rs",
                "pub fn greet() -> &'static str { \"hello\" }\n",
            ),
        ],
    );
    let line = json!({
        "name": "greetx", "vers": "1.0.0", "deps": [], "features": {}, "yanked": false,
        "cksum": sha256(&crate_file),
    });
    registry.put(
        "/index/config.json",
        json!({ "dl": format!("http://{address}/dl") }).to_string(),
    );
    registry.put("/index/gr/ee/greetx", format!("{line}\n"));
    registry.put("/dl/greetx/1.0.0/download", crate_file);

    let gates = json!([
        { "name": "npm", "command": "npm install --no-audit --no-fund --no-package-lock && node -e \"if (require('greet-x') !== 'hello') process.exit(1)\"" },
        { "name": "cargo", "command": "cargo run -q --target-dir /tmp/target" },
    ]);
    let turns = [commit("hello.txt", "hello"), create_pr("Say hello")];
    let mut project = Project::new("project", &scenarios([worker(turns)]), &json!({}));
    let home = std::env::var("HOME").unwrap();
    let rustup = std::env::var("RUSTUP_HOME").unwrap_or_else(|_| format!("{home}/.rustup"));
    project.set_variable("RUSTUP_HOME", &rustup);
    let local = format!(
        "[source.crates-io]\nreplace-with = \"local\"\n[source.local]\nregistry = \"sparse+http://{address}/index/\"\n"
    );
    project.commit_files(&[
        (".gitignore", "node_modules\nCargo.lock\n"),
        (".npmrc", &format!("registry=http://{address}/\n")),
        ("package.json", "{\"name\":\"app\",\"dependencies\":{\"greet-x\":\"1.0.0\"}}"),
        (".cargo/config.toml", &local),
        ("Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\ngreetx = \"1\"\n"),
        ("src/main.rs", "fn main() { assert_eq!(greetx::greet(), \"hello\"); }\n"),
    ]);
    project.configure_more(&json!({
        "gates": gates, "judge_enabled": false,
        "sandbox": { "level": "namespace", "hosts": [address] },
    }));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    let results = until("the gates have run", || {
        let pr = project.json(&["pr", "show", "SYM-1"]);
        pr["gates"].is_array().then_some(pr)
    });
    let passed: Vec<_> = results["gates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|gate| &gate["passed"])
        .collect();
    assert_eq!(json!(passed), json!([true, true]), "{results:#}");
    for path in ["/greet-x/-/greet-x-1.0.0.tgz", "/dl/greetx/1.0.0/download"] {
        assert!(registry.was_asked(path), "{path}");
    }
    let runs = project.json(&["runs", "list"]);
    for run in runs["items"].as_array().unwrap() {
        let shown = project.ok(&["runs", "show", run["id"].as_str().unwrap()]);
        assert!(shown.contains("sandbox       namespace"), "{shown}");
    }
    project.assert_sound();
}

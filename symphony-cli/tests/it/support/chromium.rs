//! A real browser: headless Chromium, driven over the `WebDriver` protocol.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::page::send;

/// How long something may take to appear.
const WAIT_MAX: Duration = Duration::from_secs(40);

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(100);

/// The key under which `WebDriver` hands out elements.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// What kind of browser.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Looks {
    /// Width of the window; a phone's below 500.
    pub(crate) width: u32,
    /// Whether the system asks for dark colours.
    pub(crate) dark: bool,
    /// Whether scripts are switched off.
    pub(crate) without_scripts: bool,
    /// A host name and the address that it leads to, with whatever certificate is there.
    pub(crate) host: Option<(&'static str, &'static str)>,
}

/// A browser with one window.
#[derive(Debug)]
pub(crate) struct Chromium {
    driver: Child,
    port: u16,
    session: String,
    folder: tempfile::TempDir,
}

impl Chromium {
    /// Starts it.
    #[expect(
        clippy::disallowed_methods,
        reason = "tests of the page start a browser"
    )]
    pub(crate) fn start(looks: Looks) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver is installed (Debian package chromium-driver)");
        let mut output = BufReader::new(driver.stdout.take().unwrap());
        let port = loop {
            let mut line = String::new();
            assert_ne!(
                output.read_line(&mut line).unwrap(),
                0,
                "chromedriver ended"
            );
            if let Some((_, rest)) = line.split_once("started successfully on port ") {
                break rest.trim().trim_end_matches('.').parse().unwrap();
            }
        };
        std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        let size = format!("--window-size={},1000", looks.width.max(500));
        let mut options =
            json!({ "args": ["--headless=new", "--no-sandbox", "--disable-gpu", size] });
        if looks.without_scripts {
            options["prefs"] = json!({ "profile.managed_default_content_settings.javascript": 2 });
        }
        if let Some((name, address)) = looks.host {
            let rule = format!("--host-resolver-rules=MAP {name} {address}");
            let arguments = options["args"].as_array_mut().expect("a list");
            arguments.push(Value::String(rule));
        }
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome", "acceptInsecureCerts": looks.host.is_some(), "goog:chromeOptions": options, "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let mut browser = Self {
            driver,
            port,
            session: String::new(),
            folder,
        };
        browser.session = browser.call("POST", "/session", &wanted)["sessionId"]
            .as_str()
            .unwrap()
            .to_owned();
        if looks.width < 500 {
            let phone = json!({ "width": looks.width, "height": 844, "deviceScaleFactor": 2, "mobile": true });
            browser.devtools("Emulation.setDeviceMetricsOverride", &phone);
        }
        if looks.dark {
            let dark = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
            browser.devtools("Emulation.setEmulatedMedia", &dark);
        }
        browser
    }

    fn devtools(&self, command: &str, parameters: &Value) {
        self.ask(
            "POST",
            "/goog/cdp/execute",
            &json!({ "cmd": command, "params": parameters }),
        );
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if method == "POST" {
            body.to_string()
        } else {
            String::new()
        };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.port,
            body.len()
        );
        let reply = send(self.port, request.as_bytes());
        let answer: Value = serde_json::from_str(&reply.body).unwrap_or_default();
        answer["value"].clone()
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        self.call(method, &format!("/session/{}{path}", self.session), body)
    }

    /// Opens an address.
    pub(crate) fn open(&self, address: &str) {
        self.ask("POST", "/url", &json!({ "url": address }));
    }

    /// Opens another window of the same browser and goes on there; returns the window before and the new one.
    pub(crate) fn open_window(&self) -> [String; 2] {
        let before = self.ask("GET", "/window", &Value::Null);
        let window = self.ask("POST", "/window/new", &json!({ "type": "window" }));
        let windows = [&before, &window["handle"]].map(|one| one.as_str().unwrap().to_owned());
        self.go_to_window(&windows[1]);
        windows
    }

    /// Goes on in a window.
    pub(crate) fn go_to_window(&self, window: &str) {
        self.ask("POST", "/window", &json!({ "handle": window }));
    }

    /// Closes the window.
    pub(crate) fn close_window(&self) {
        self.ask("DELETE", "/window", &Value::Null);
    }

    /// Waits until a script in the page returns true.
    pub(crate) fn wait_for_script(&self, script: &str) {
        self.until(script, || (self.script(script) == true).then_some(()));
    }

    /// Returns the address that it shows.
    pub(crate) fn address(&self) -> String {
        self.ask("GET", "/url", &Value::Null)
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    fn find(&self, xpath: &str) -> Option<String> {
        let wanted = json!({ "using": "xpath", "value": xpath });
        let found = self.ask("POST", "/element", &wanted);
        found[ELEMENT].as_str().map(str::to_owned)
    }

    /// Waits for something that a condition finds.
    fn until<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            if let Some(found) = look() {
                return found;
            }
            if begun.elapsed() > WAIT_MAX {
                self.picture("failed");
                panic!(
                    "{what} does not appear on {}:\n{}",
                    self.address(),
                    self.text()
                );
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Clicks what an `XPath` finds, once it can be clicked.
    pub(crate) fn click(&self, xpath: &str) {
        self.until(xpath, || {
            let element = self.find(xpath)?;
            self.ask("POST", &format!("/element/{element}/click"), &json!({}))
                .is_null()
                .then_some(())
        });
    }

    /// Types into what an `XPath` finds.
    pub(crate) fn fill(&self, xpath: &str, text: &str) {
        self.until(xpath, || {
            let element = self.find(xpath)?;
            let typed = json!({ "text": text });
            self.ask("POST", &format!("/element/{element}/value"), &typed)
                .is_null()
                .then_some(())
        });
    }

    /// Presses keys, wherever the focus is.
    pub(crate) fn press(&self, keys: &str) {
        let actions: Vec<Value> = keys
            .chars()
            .flat_map(|key| {
                ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key.to_string() }))
            })
            .collect();
        self.ask(
            "POST",
            "/actions",
            &json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] }),
        );
    }

    /// Waits until an `XPath` finds something.
    pub(crate) fn wait(&self, xpath: &str) {
        self.until(xpath, || self.find(xpath));
    }

    /// Returns whether an `XPath` finds something now.
    pub(crate) fn has(&self, xpath: &str) -> bool {
        self.find(xpath).is_some()
    }

    /// Returns the text of the page.
    pub(crate) fn text(&self) -> String {
        let body = self.find("//body");
        body.map(|body| self.ask("GET", &format!("/element/{body}/text"), &Value::Null))
            .and_then(|text| text.as_str().map(str::to_owned))
            .unwrap_or_default()
    }

    /// Runs a script in the page, as developers do.
    pub(crate) fn script(&self, script: &str) -> Value {
        self.ask(
            "POST",
            "/execute/sync",
            &json!({ "script": script, "args": [] }),
        )
    }

    /// Returns what is seriously wrong for people with disabilities, as axe-core finds it.
    pub(crate) fn accessibility(&self) -> Vec<String> {
        let axe = std::env::var_os("SYMPHONY_TEST_AXE")
            .expect("SYMPHONY_TEST_AXE names axe.min.js; `.ci/run browser` installs it");
        let axe = std::fs::read_to_string(PathBuf::from(axe)).unwrap();
        self.ask("POST", "/timeouts", &json!({ "script": 60_000 }));
        let run = format!(
            "{axe}; const done = arguments[0]; axe.run().then(found => done(found.violations.filter(one => \
             ['serious', 'critical'].includes(one.impact)).map(one => one.id + ': ' + one.nodes.map(node => node.html).slice(0, 3).join(' '))));"
        );
        let found = self.ask(
            "POST",
            "/execute/async",
            &json!({ "script": run, "args": [] }),
        );
        let found = found
            .as_array()
            .unwrap_or_else(|| panic!("axe ran: {found}"));
        found
            .iter()
            .map(|one| one.as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// Keeps a picture of the window below `target/pages`.
    pub(crate) fn picture(&self, name: &str) {
        let picture = self.ask("GET", "/screenshot", &Value::Null);
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/pages");
        std::fs::create_dir_all(&folder).unwrap();
        let bytes = base64(picture.as_str().unwrap_or_default());
        std::fs::write(folder.join(format!("{name}.png")), bytes).unwrap();
    }

    /// Returns the errors and warnings in the browser's console.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let entries = self.ask("POST", "/se/log", &json!({ "type": "browser" }));
        let entries = entries.as_array().cloned().unwrap_or_default();
        let said = entries.iter().filter(|entry| entry["level"] != "INFO");
        said.map(|entry| entry["message"].to_string()).collect()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _closed = self.call(
            "DELETE",
            &format!("/session/{}", self.session),
            &Value::Null,
        );
        let _gone = self.driver.kill();
        let _reaped = self.driver.wait();
        let _kept_until_now = self.folder.path();
    }
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for digit in text
        .bytes()
        .filter_map(|byte| DIGITS.iter().position(|digit| *digit == byte))
    {
        bits = bits << 6 | u32::try_from(digit).unwrap();
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).unwrap());
        }
    }
    bytes
}

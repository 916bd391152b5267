//! Registries with one package each.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use libtest_mimic::Failed;

use crate::machine::Person;

/// Serves a folder, and prints its address.
const SERVE: &str = "
import functools, http.server, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
handler.log_message = None
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler)
print('http://127.0.0.1:%d/' % server.server_port, flush=True)
server.serve_forever()
";

/// A folder that is served until this is dropped.
pub(crate) struct Served {
    pub(crate) address: String,
    folder: PathBuf,
    server: Child,
}

impl Served {
    fn start(person: &Person) -> Result<Self, Failed> {
        let folder = person.path("served");
        std::fs::create_dir_all(&folder)?;
        let mut server = Command::new("/usr/bin/python3")
            .args(["-c", SERVE])
            .arg(&folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut address = String::new();
        let stdout = server.stdout.take().ok_or("it is piped")?;
        BufReader::new(stdout).read_line(&mut address)?;
        Ok(Self {
            address: address.trim().to_owned(),
            folder,
            server,
        })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // one that has ended already needs no signal
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

/// Serves a registry of crates.
pub(crate) fn crates(person: &Person) -> Result<Served, Failed> {
    let served = Served::start(person)?;
    person.write(
        "checkout/packed/Cargo.toml",
        "[package]\nname = 'dep'\nversion = '1.0.0'\nedition = '2021'\n[workspace]\n",
    )?;
    person.write("checkout/packed/src/lib.rs", "pub fn answer() -> u8 { 42 }")?;
    person.outside(
        "sh",
        &[
            "-c",
            "cd packed && cargo package --quiet --no-verify --allow-dirty --target-dir ../../packed",
        ],
    )?;
    std::fs::remove_dir_all(person.path("checkout/packed"))?;
    let packed = person.path("packed/package/dep-1.0.0.crate");
    let sum = person.outside("sha256sum", &[&packed.display().to_string()])?;
    let sum = sum.split(' ').next().unwrap_or_default();
    std::fs::copy(packed, served.folder.join("dep.crate"))?;
    let address = &served.address;
    person.write(
        "served/config.json",
        &format!("{{\"dl\": \"{address}{{crate}}.crate\"}}"),
    )?;
    person.write(
        "served/3/d/dep",
        &format!("{{\"name\":\"dep\",\"vers\":\"1.0.0\",\"deps\":[],\"cksum\":\"{sum}\",\"features\":{{}},\"yanked\":false}}\n"),
    )?;
    Ok(served)
}

/// Returns the settings of a project that uses a registry of crates.
pub(crate) fn crates_settings(served: &Served) -> String {
    format!(
        "[source.crates-io]\nreplace-with = 'own'\n[source.own]\nregistry = 'sparse+{}'\n",
        served.address
    )
}

/// Serves a registry of node's packages.
pub(crate) fn packages(person: &Person) -> Result<Served, Failed> {
    let served = Served::start(person)?;
    person.write(
        "package/package.json",
        "{\"name\": \"dep\", \"version\": \"1.0.0\"}",
    )?;
    person.write("package/index.js", "module.exports = 42")?;
    person.outside("sh", &["-c", "cd ../package && npm pack --silent"])?;
    std::fs::rename(
        person.path("package/dep-1.0.0.tgz"),
        served.folder.join("dep-1.0.0.tgz"),
    )?;
    let address = &served.address;
    let digest = "import base64, hashlib, sys; print(base64.b64encode(hashlib.sha512(open(sys.argv[1], 'rb').read()).digest()).decode())";
    let packed = served.folder.join("dep-1.0.0.tgz").display().to_string();
    let digest = person.outside("/usr/bin/python3", &["-c", digest, &packed])?;
    let digest = digest.trim();
    person.write(
        "served/dep",
        &format!(
            "{{\"name\": \"dep\", \"dist-tags\": {{\"latest\": \"1.0.0\"}}, \"versions\": {{\"1.0.0\": \
             {{\"name\": \"dep\", \"version\": \"1.0.0\", \"dist\": {{\"integrity\": \"sha512-{digest}\", \"tarball\": \"{address}dep-1.0.0.tgz\"}}}}}}}}"
        ),
    )?;
    Ok(served)
}

/// Makes a proxy for Go's modules; returns its address.
pub(crate) fn modules(person: &Person) -> Result<String, Failed> {
    let below = "proxy/example.org/dep/@v";
    let module = "module example.org/dep\ngo 1.19\n";
    person.write(&format!("{below}/v1.0.0.mod"), module)?;
    person.write(&format!("{below}/v1.0.0.info"), "{\"Version\": \"v1.0.0\"}")?;
    let folder = "packed/example.org/dep@v1.0.0";
    person.write(&format!("{folder}/go.mod"), module)?;
    person.write(
        &format!("{folder}/dep.go"),
        "package dep\nfunc Answer() int { return 42 }\n",
    )?;
    let zip = "import sys, zipfile
zip = zipfile.ZipFile(sys.argv[1] + '/v1.0.0.zip', 'w')
for name in 'dep.go', 'go.mod':
    name = 'example.org/dep@v1.0.0/' + name
    zip.write(sys.argv[2] + '/' + name, name)
zip.close()";
    let (target, packed) = (person.path(below), person.path("packed"));
    let words = [
        "-c",
        zip,
        &target.display().to_string(),
        &packed.display().to_string(),
    ];
    person.outside("/usr/bin/python3", &words)?;
    Ok(format!("file://{}", person.path("proxy").display()))
}

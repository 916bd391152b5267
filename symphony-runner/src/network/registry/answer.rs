//! What tools print about their registries, read for URLs.

use serde_json::Value;

use super::tool::Tool;
use super::{Registries, urls};

/// Reads the answer of a tool that was asked; `None` if it is not one.
pub(super) fn read(tool: Tool, answer: &str) -> Option<Registries> {
    match tool {
        Tool::Npm | Tool::Yarn => npm(answer),
        Tool::Python => Some(pip(answer)),
        Tool::Go => go(answer),
        _ => None,
    }
}

/// `npm config list --json`: `registry`, and `@scope:registry` for some packages. It leaves out what it protects.
fn npm(answer: &str) -> Option<Registries> {
    let settings: Value = serde_json::from_str(answer).ok()?;
    let mut found = Registries::default();
    for (key, value) in settings.as_object()? {
        let Some(url) = value.as_str() else { continue };
        if key == "registry" {
            // the variable would hide a file of the project, so it is set only where it says something
            match url.trim_end_matches('/') {
                "https://registry.npmjs.org" => found.add_hosts(Tool::Npm.defaults()),
                _ => found.add_for(url, &["npm_config_registry"]),
            }
        } else if key.starts_with('@') && key.ends_with(":registry") {
            found.add_for(url, &[&format!("npm_config_{key}")]);
        }
    }
    Some(found)
}

/// `pip config list`: lines such as `global.index-url='https://…'`; later lines win.
fn pip(answer: &str) -> Registries {
    let mut found = Registries::default();
    for line in answer.lines() {
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        let name = key.rsplit('.').next().unwrap_or(key);
        let variables: &[&str] = match name {
            "index-url" => &["PIP_INDEX_URL", "UV_DEFAULT_INDEX"],
            "extra-index-url" => &["PIP_EXTRA_INDEX_URL", "UV_INDEX"],
            "find-links" => &["PIP_FIND_LINKS"],
            _ => continue,
        };
        // several are on lines of their own, and pip prints the lines of a value in one
        let value = value.replace("\\n", " ");
        let clean: Vec<_> = urls(&value).filter_map(|url| found.add(url)).collect();
        if !clean.is_empty() {
            for name in variables {
                found.variables.insert((*name).to_owned(), clean.join(" "));
            }
        }
    }
    found
}

/// `go env GOPROXY GOSUMDB`: a list of URLs and words, and the name of a server or `off`.
fn go(answer: &str) -> Option<Registries> {
    let mut lines = answer.lines();
    let (proxies, sums) = (lines.next()?, lines.next()?);
    let mut found = Registries::default();
    let mut clean = Vec::new();
    for part in proxies.split_inclusive([',', '|']) {
        let word = part.trim_end_matches([',', '|']).trim();
        let separator = part.get(part.trim_end_matches([',', '|']).len()..);
        match word {
            "" => {}
            "direct" | "off" => clean.push(format!("{word}{}", separator.unwrap_or_default())),
            url => clean.extend(
                found
                    .add(url)
                    .map(|url| format!("{url}{}", separator.unwrap_or_default())),
            ),
        }
    }
    if !clean.is_empty() {
        found.variables.insert("GOPROXY".to_owned(), clean.concat());
    }
    let mut words = sums.split_whitespace();
    match words.next() {
        None | Some("off") => {}
        Some(name) => {
            // the name may be followed by a key, and by another URL for it
            let host = name.split('+').next().unwrap_or(name);
            let url = words
                .next()
                .map_or_else(|| format!("https://{host}"), str::to_owned);
            found.add(&url);
        }
    }
    if !sums.trim().is_empty() && !sums.contains('@') {
        found
            .variables
            .insert("GOSUMDB".to_owned(), sums.trim().to_owned());
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(found: &Registries) -> String {
        let hosts: Vec<_> = found.hosts.iter().map(String::as_str).collect();
        let variables: Vec<_> = found
            .variables
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        format!("{} | {}", hosts.join(" "), variables.join(" "))
    }

    #[test]
    fn answers_are_read_without_what_is_secret() {
        let table = [
            (
                Tool::Npm,
                r#"{"registry": "https://registry.npmjs.org/", "cafile": "/x", "json": true}"#,
                "registry.npmjs.org | ",
            ),
            (
                Tool::Npm,
                r#"{"registry": "https://u:token@npm.corp.example:8443/a/", "@corp:registry": "https://npm.pkg.example",
                    "//npm.corp.example/:_authToken": "token", "proxy": "https://proxy.example"}"#,
                "npm.corp.example:8443 npm.pkg.example | npm_config_@corp:registry=https://npm.pkg.example \
                 npm_config_registry=https://npm.corp.example:8443/a/",
            ),
            (
                Tool::Npm,
                r#"{"registry": "http://127.0.0.1:4873/"}"#,
                " | npm_config_registry=http://127.0.0.1:4873/",
            ),
            (
                Tool::Python,
                ":env:.cert='/etc/x'\nglobal.timeout='60'\n",
                " | ",
            ),
            (
                Tool::Python,
                "global.index-url='https://u:token@pypi.corp.example/simple'\n\
                 install.extra-index-url='\\nhttps://a.example/simple\\nhttps://b.example/simple'\n",
                "a.example b.example pypi.corp.example | \
                 PIP_EXTRA_INDEX_URL=https://a.example/simple https://b.example/simple \
                 PIP_INDEX_URL=https://pypi.corp.example/simple \
                 UV_DEFAULT_INDEX=https://pypi.corp.example/simple \
                 UV_INDEX=https://a.example/simple https://b.example/simple",
            ),
            (
                Tool::Go,
                "https://proxy.golang.org,direct\nsum.golang.org\n",
                "proxy.golang.org sum.golang.org | GOPROXY=https://proxy.golang.org,direct GOSUMDB=sum.golang.org",
            ),
            (
                Tool::Go,
                "https://u:token@go.corp.example|https://proxy.golang.org\nsum.corp.example+abc https://s.example\n",
                "go.corp.example proxy.golang.org s.example | \
                 GOPROXY=https://go.corp.example|https://proxy.golang.org \
                 GOSUMDB=sum.corp.example+abc https://s.example",
            ),
            (Tool::Go, "off\noff\n", " | GOPROXY=off GOSUMDB=off"),
        ];
        for (tool, answer, expected) in table {
            let found = read(tool, answer).unwrap();
            assert_eq!(shown(&found), expected, "{answer}");
            assert!(!shown(&found).contains("token"), "{answer}");
        }
        for (tool, answer) in [
            (Tool::Npm, "npm ERR!"),
            (Tool::Npm, "[]"),
            (Tool::Go, "go: no"),
        ] {
            assert_eq!(read(tool, answer), None, "{answer}");
        }
    }
}

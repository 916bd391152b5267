//! Asking a project's tools for their registries, or remembering what they answered.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use symphony_core::Timestamp;
use symphony_workspace::{DetectedProject, read_text};

use super::kept::{Kept, Key};
use super::tool::{Places, Tool, tools_of};
use super::{Registries, answer, cargo, python};
use crate::environment::is_public;
use crate::process::{Question, resolve_program};
use crate::provider::api::text;

/// How long a tool may take: a cold start of Node.js on a busy machine takes a few seconds.
const TIME_MAX: Duration = Duration::from_secs(10);
/// Most of an answer that is read, in bytes; npm prints 10 KB.
const ANSWER_BYTES_MAX: usize = 256 * 1024;

/// What the registries of a project are found by.
#[derive(Debug, Clone)]
pub(crate) struct RegistryQuery {
    /// The project's folder: the user's own checkout, so that a file counts once it is merged.
    pub(crate) project: PathBuf,
    /// What the project is made of.
    pub(crate) detected: DetectedProject,
    /// The environment of the project's commands.
    pub(crate) environment: BTreeMap<OsString, OsString>,
    /// The folder of Symphony's own files, where answers are kept.
    pub(crate) state: PathBuf,
}

/// Finds the registries of a project's tools. Blocks for as long as tools take that were not asked before with the same
/// settings, and at most a bounded time for each.
///
/// A tool that is not there or does not answer counts as one that is not configured.
pub(crate) fn registries_of(query: &RegistryQuery) -> Registries {
    let now = Timestamp::now();
    let mut kept = Kept::load(&query.state);
    let mut found = Registries::default();
    let mut is_new = false;
    for tool in tools_of(&query.detected) {
        let evidence = Evidence::collect(tool, query);
        let registries = kept.get(&evidence.key, now).unwrap_or_else(|| {
            let registries = evidence.registries(query);
            kept.put(&evidence.key, registries.clone(), now);
            is_new = true;
            registries
        });
        found.join(registries);
    }
    if is_new {
        kept.save(&query.state);
    }
    found
}

/// What the registries of a tool depend on.
struct Evidence {
    tool: Tool,
    program: Option<PathBuf>,
    /// The texts of its files, in the order of their importance.
    texts: Vec<String>,
    variables: BTreeMap<String, String>,
    key: Key,
}

impl Evidence {
    fn collect(tool: Tool, query: &RegistryQuery) -> Self {
        let environment = &query.environment;
        let folder = |name: &str| text(environment, name).map(PathBuf::from);
        let home = folder("HOME");
        let places = Places {
            settings: folder("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config"))),
            cargo_home: folder("CARGO_HOME"),
            home,
        };
        let files: Vec<(PathBuf, String)> = tool
            .files(&query.project, &places)
            .into_iter()
            // one that is not there says nothing
            .filter_map(|path| Some((path.clone(), read_text(&path).ok()?)))
            .collect();
        let variables: BTreeMap<String, String> = environment
            .iter()
            .filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)))
            .filter(|(name, _)| tool.variables().iter().any(|it| name.starts_with(it)))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let program = tool.question().and_then(|question| {
            let search = environment.get(OsStr::new("PATH")).map(OsString::as_os_str);
            resolve_program(Path::new(question.program), search, &query.project).ok()
        });
        let key = Key::new(tool, program.as_deref(), &files, &variables);
        Self {
            tool,
            program,
            texts: files.into_iter().map(|(_, text)| text).collect(),
            variables,
            key,
        }
    }

    fn registries(&self, query: &RegistryQuery) -> Registries {
        let answered = self
            .ask(query)
            .and_then(|answer| answer::read(self.tool, &answer));
        let mut found = match (self.tool, answered) {
            (Tool::Cargo, _) => cargo::read(&self.texts, &self.variables),
            (Tool::Python, answered) => {
                python::complete(answered.unwrap_or_default(), &self.texts, &self.variables)
            }
            (_, Some(answered)) => answered,
            (tool, None) => {
                let mut found = Registries::default();
                found.add_hosts(tool.defaults());
                found
            }
        };
        if self.tool == Tool::Yarn {
            found.join(yarn(&self.texts));
        }
        found
    }

    /// Its environment has no credential of a provider.
    fn ask(&self, query: &RegistryQuery) -> Option<String> {
        let question = self.tool.question()?;
        let prefixes = self.tool.variables();
        let is_its_own = |name: &OsStr| {
            let mut prefixes = prefixes.iter();
            name.to_str()
                .is_some_and(|name| prefixes.any(|prefix| name.starts_with(prefix)))
        };
        let mut environment: BTreeMap<OsString, OsString> = query
            .environment
            .iter()
            .filter(|(name, _)| is_public(name) || is_its_own(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        for (name, value) in question.variables {
            environment.insert(name.into(), value.into());
        }
        let asked = Question {
            program: self.program.as_deref()?,
            arguments: question.arguments,
            directory: &query.project,
            environment,
            time_max: TIME_MAX,
            answer_bytes_max: ANSWER_BYTES_MAX,
        }
        .ask();
        match asked {
            Ok((status, answer)) if status.success() => String::from_utf8(answer).ok(),
            Ok((status, _)) => {
                tracing::warn!(program = question.program, %status, "does not print its registry");
                None
            }
            Err(error) => {
                tracing::warn!(program = question.program, %error, "does not print its registry");
                None
            }
        }
    }
}

/// Reads `.yarnrc.yml`: `npmRegistryServer: "https://…"`, also below a scope. Yarn itself may be a program of the project.
fn yarn(texts: &[String]) -> Registries {
    let mut found = Registries::default();
    let lines = texts.iter().flat_map(|text| text.lines());
    let values = lines.filter_map(|line| line.trim().strip_prefix("npmRegistryServer:"));
    let urls: BTreeSet<&str> = values
        .map(|value| value.trim().trim_matches(['"', '\'']))
        .collect();
    let clean: Vec<_> = urls.into_iter().filter_map(|url| found.add(url)).collect();
    if clean.is_empty() {
        found.add_hosts(Tool::Yarn.defaults());
    }
    found
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Makes a program in another process: what this one has open for writing, a child of another test inherits.
    #[expect(clippy::disallowed_methods, reason = "a helper of tests")]
    fn program(path: &Path, script: &str) {
        let written = Command::new("sh")
            .args([
                "-c",
                "printf '#!/bin/sh\n%s\n' \"$1\" >\"$0\" && chmod 700 \"$0\"",
            ])
            .arg(path)
            .arg(script)
            .status();
        assert!(written.unwrap().success());
    }

    fn query(base: &Path, manager: &str, set: &[(&str, &str)]) -> RegistryQuery {
        for folder in ["project", "home/.cargo", "state", "bin"] {
            std::fs::create_dir_all(base.join(folder)).unwrap();
        }
        let mut environment: BTreeMap<OsString, OsString> = set
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        environment.insert("HOME".into(), base.join("home").into());
        let path = format!("{}:/usr/bin:/bin", base.join("bin").display());
        environment.insert("PATH".into(), path.into());
        RegistryQuery {
            project: base.join("project"),
            detected: DetectedProject {
                tech_stack: vec![("Package Manager".to_owned(), manager.to_owned())],
                ..DetectedProject::default()
            },
            environment,
            state: base.join("state"),
        }
    }

    fn hosts(query: &RegistryQuery) -> String {
        let hosts: Vec<_> = registries_of(query).hosts.into_iter().collect();
        hosts.join(" ")
    }

    #[test]
    fn a_tool_is_asked_once_for_the_same_settings() {
        let base = tempfile::tempdir().unwrap();
        let set = [("ANTHROPIC_API_KEY", "secret"), ("npm_config_x", "y")];
        let query = query(base.path(), "npm", &set);
        let asked = base.path().join("asked");
        program(
            &base.path().join("bin/npm"),
            &format!(
                "echo \"$* $PWD ${{ANTHROPIC_API_KEY-none}} $npm_config_x $npm_config_offline\" >>{}\n\
                 echo '{{\"registry\": \"https://u:token@npm.corp.example/\"}}'",
                asked.display()
            ),
        );
        let lines = || {
            let text = std::fs::read_to_string(&asked).unwrap();
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(hosts(&query), "npm.corp.example");
        assert_eq!(hosts(&query), "npm.corp.example");
        let expected = format!("config list --json {} none y true", query.project.display());
        assert_eq!(lines(), [expected]);
        // other settings are another question
        std::fs::write(query.project.join(".npmrc"), "registry=x\n").unwrap();
        assert_eq!(hosts(&query), "npm.corp.example");
        assert_eq!(lines().len(), 2);
        let kept = std::fs::read_to_string(query.state.join("registries.json")).unwrap();
        assert!(
            kept.contains("npm.corp.example") && !kept.contains("token"),
            "{kept}"
        );
    }

    #[test]
    fn a_tool_that_does_not_answer_has_its_usual_registry() {
        let base = tempfile::tempdir().unwrap();
        let query = query(base.path(), "go modules", &[]);
        program(&base.path().join("bin/go"), "exit 1");
        assert_eq!(hosts(&query), "proxy.golang.org sum.golang.org");
    }

    #[test]
    fn files_are_read_for_tools_that_print_nothing() {
        let base = tempfile::tempdir().unwrap();
        let query = query(base.path(), "cargo, yarn, gradle", &[]);
        program(&base.path().join("bin/npm"), "exit 1");
        let config = base.path().join("home/.cargo/config.toml");
        std::fs::write(
            config,
            "[source.crates-io]\nreplace-with = \"m\"\n[source.m]\nregistry = \"sparse+https://m.example/\"",
        )
        .unwrap();
        let yarnrc = "npmScopes:\n  a:\n    npmRegistryServer: 'https://y.example'\n";
        std::fs::write(query.project.join(".yarnrc.yml"), yarnrc).unwrap();
        let found = hosts(&query);
        for host in [
            "m.example",
            "y.example",
            "plugins.gradle.org",
            "registry.npmjs.org",
        ] {
            assert!(found.contains(host), "{found}");
        }
        assert!(!found.contains("crates.io"), "{found}");
    }

    #[test]
    fn a_file_of_answers_that_cannot_be_read_is_none() {
        let base = tempfile::tempdir().unwrap();
        let query = query(base.path(), "cargo", &[]);
        std::fs::write(query.state.join("registries.json"), "{").unwrap();
        assert_eq!(hosts(&query), "index.crates.io static.crates.io");
        assert_eq!(hosts(&query), "index.crates.io static.crates.io");
    }
}

//! What the programs that a tick needs are under cron's search path, compared with the shell's.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use symphony_core::config::ProjectConfig;
use symphony_runner::environment::agent_search_path;
use symphony_runner::installation::Installation;
use symphony_runner::provider::detect::find_program;
use symphony_runner::repository::open_repository;
use symphony_runner::session::Session;
use symphony_workspace::{FilterUse, LFS_FILTER};

use super::check::CheckView;
use super::programs::{Seeker, needed_programs};
use super::schedule::Schedule;

/// Where cron looks for programs when its table says nothing.
const CRON_PATH: &str = "/usr/bin:/bin";

/// Where a program is found.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ResolvedProgram {
    name: String,
    here: Option<PathBuf>,
    under_cron: Option<PathBuf>,
}

/// What cron does with a program that the shell finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Difference {
    /// It finds none.
    Missing,
    /// It finds another file, maybe of another version.
    Other,
}

impl ResolvedProgram {
    /// Compares what both find; names of one file are no difference.
    fn difference(&self) -> Option<Difference> {
        let file = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_gone| path.clone());
        let here = self.here.as_ref()?;
        match &self.under_cron {
            None => Some(Difference::Missing),
            Some(there) if file(there) == file(here) => None,
            Some(_) => Some(Difference::Other),
        }
    }
}

/// Returns the search path that has every program as this shell finds it, cron's own last, and what was found out.
fn needed_path(
    installation: &Installation,
    config: &ProjectConfig,
    filter: &FilterUse,
) -> (String, CheckView) {
    let here = agent_search_path(&installation.environment, &config.env);
    let plain = installation.environment.get(OsStr::new("PATH"));
    let plain = plain.cloned().unwrap_or_default();
    let mut under_cron: BTreeMap<OsString, OsString> = installation.environment.clone();
    under_cron.insert("PATH".into(), CRON_PATH.into());
    let there = agent_search_path(&under_cron, &config.env);
    let found: Vec<ResolvedProgram> = needed_programs(config, filter)
        .into_iter()
        .map(|(program, seeker)| {
            let (cron, here) = match seeker {
                Seeker::Symphony => (OsStr::new(CRON_PATH), plain.as_os_str()),
                Seeker::Agent => (there.as_os_str(), here.as_os_str()),
            };
            ResolvedProgram {
                name: program.display().to_string(),
                here: find_program(&program, here),
                under_cron: find_program(&program, cron),
            }
        })
        .collect();
    (path_line(&found, &here), check(&found))
}

/// Returns the folders that have what cron lacks or has otherwise, in the order of the shell's search path, and cron's own.
fn path_line(found: &[ResolvedProgram], order: &OsStr) -> String {
    let needed = found.iter().filter(|found| found.difference().is_some());
    let needed: Vec<&Path> = needed
        .filter_map(|found| found.here.as_deref()?.parent())
        .collect();
    let order: Vec<PathBuf> = std::env::split_paths(order).collect();
    let place = |folder: &&Path| order.iter().position(|path| path == folder);
    let mut folders: Vec<&Path> = Vec::new();
    for folder in needed {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders.sort_by_key(|folder| place(folder).unwrap_or(usize::MAX));
    let folders = folders.iter().map(|folder| folder.display().to_string());
    let folders: Vec<String> = folders.chain([CRON_PATH.to_owned()]).collect();
    folders.join(":")
}

fn check(found: &[ResolvedProgram]) -> CheckView {
    const CHECK: &str = "path";
    let mut missing: Vec<String> = Vec::new();
    let mut other: Vec<String> = Vec::new();
    for found in found {
        let show = |path: &Option<PathBuf>| {
            path.as_ref()
                .map_or_else(String::new, |path| path.display().to_string())
        };
        let (list, entry) = match found.difference() {
            None => continue,
            Some(Difference::Missing) => (&mut missing, found.name.clone()),
            Some(Difference::Other) => {
                let (there, here) = (show(&found.under_cron), show(&found.here));
                (&mut other, format!("{there} where this shell has {here}"))
            }
        };
        if !list.contains(&entry) {
            list.push(entry);
        }
    }
    let mut told = Vec::new();
    if !missing.is_empty() {
        told.push(format!("lacks {}", missing.join(", ")));
    }
    if !other.is_empty() {
        told.push(format!("finds {}", other.join(", ")));
    }
    if told.is_empty() {
        return CheckView::ok(
            CHECK,
            format!("cron's own ({CRON_PATH}) has what a tick needs"),
        );
    }
    let detail = format!("cron's own ({CRON_PATH}) {}", told.join("; it "));
    CheckView::warning(CHECK, detail, "the line below sets PATH")
}

/// Returns what begins each command that cron or systemd runs, and how cron's own path differs.
pub(super) fn schedule_of(session: &Session, config: &ProjectConfig) -> (Schedule, CheckView) {
    let installation = &session.installation;
    let filter = open_repository(&session.project, config)
        .map_or(FilterUse::NotConfigured, |repository| {
            repository.filter_use(LFS_FILTER)
        });
    let (path, programs) = needed_path(installation, config, &filter);
    let program = installation.executable.to_string_lossy().into_owned();
    let schedule = Schedule::new(program, installation.arguments(), path);
    (schedule, programs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cron_lacks_or_finds_elsewhere_is_named_and_its_folders_come_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["bin", "own", "usr"] {
            std::fs::create_dir(path(name)).unwrap();
            std::fs::write(path(name).join("node"), name).unwrap();
        }
        std::os::unix::fs::symlink(path("usr/node"), path("bin/nodejs")).unwrap();
        let found = |name: &str, here: Option<&str>, under_cron: Option<&str>| ResolvedProgram {
            name: name.to_owned(),
            here: here.map(path),
            under_cron: under_cron.map(path),
        };
        let told = |found: &[ResolvedProgram]| {
            let check = serde_json::to_value(check(found)).unwrap();
            let root = folder.path().display().to_string();
            let line = path_line(
                found,
                &std::env::join_paths([path("own"), path("bin")]).unwrap(),
            );
            let detail = check["detail"].as_str().unwrap().replace(&root, "");
            format!("{detail} | {}", line.replace(&root, ""))
        };
        let cron = "cron's own (/usr/bin:/bin)";
        for (programs, expected) in [
            (
                vec![
                    found("node", Some("usr/node"), Some("usr/node")),
                    found("none", None, None),
                ],
                format!("{cron} has what a tick needs | {CRON_PATH}"),
            ),
            // one file by two names
            (
                vec![found("node", Some("bin/nodejs"), Some("usr/node"))],
                format!("{cron} has what a tick needs | {CRON_PATH}"),
            ),
            // not found here either: the plain check of programs says so
            (
                vec![found("node", None, Some("usr/node"))],
                format!("{cron} has what a tick needs | {CRON_PATH}"),
            ),
            (
                vec![
                    found("claude", Some("bin/claude"), None),
                    found("node", Some("own/node"), Some("usr/node")),
                    found("node", Some("own/node"), Some("usr/node")),
                ],
                format!(
                    "{cron} lacks claude; it finds /usr/node where this shell has /own/node | /own:/bin:{CRON_PATH}"
                ),
            ),
        ] {
            assert_eq!(told(&programs), expected);
        }
    }
}

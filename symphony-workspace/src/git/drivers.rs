//! Programs that a configuration can attach to files: filters, diff and merge drivers.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use super::answer::fields;
use super::place::Git;
use super::user_config::filters_in;
use crate::error::WorkspaceError;

/// How many settings are overridden at most. Real repositories have a handful.
const OVERRIDES_MAX: usize = 1_000;

/// Replaces an untrusted merge driver: git's own three-way text merge. An empty command would count as a clean merge
/// that keeps only our side.
const TEXT_MERGE: &str = "git merge-file --marker-size=%L %A %O %B";

/// Overrides, for one call, every driver that the repository's configuration names. Trusted filters get the commands of
/// the user's own configuration.
///
/// The overrides are passed in `GIT_CONFIG_COUNT` variables, since a name may contain `=`.
pub(super) fn disarm(git: &Git, command: &mut Command) -> Result<(), WorkspaceError> {
    let list = git.own_names()?;
    let blanks = blanks_for(&list);
    if blanks.len() > OVERRIDES_MAX {
        return Err(WorkspaceError::Tampered {
            path: git.place().common_dir.clone(),
            what: format!(
                "its configuration names {} commands of drivers; expected at most {OVERRIDES_MAX}",
                blanks.len()
            ),
        });
    }
    let mut settings = git.user().harmless_settings();
    settings.extend(
        blanks
            .into_iter()
            .map(|(key, value)| (key, value.to_owned())),
    );
    // Later settings win, so the user's trusted filters come last.
    for name in git.trusted_filters() {
        settings.extend(git.user().filter_settings(name));
    }
    command.env("GIT_CONFIG_COUNT", settings.len().to_string());
    for (number, (key, value)) in settings.into_iter().enumerate() {
        command.env(format!("GIT_CONFIG_KEY_{number}"), key);
        command.env(format!("GIT_CONFIG_VALUE_{number}"), value);
    }
    Ok(())
}

impl Git {
    /// Returns the filters that have a command in the repository's own configuration.
    pub(crate) fn own_filters(&self) -> Result<BTreeSet<String>, WorkspaceError> {
        let list = self.own_names()?;
        Ok(filters_in(
            fields(&list).filter_map(|name| str::from_utf8(name).ok()),
        ))
    }
}

/// Returns the settings that disarm the drivers in a `-z` list of setting names (section and variable in lower case).
///
/// Only existing settings are blanked: an empty `process` would also prevent a trusted `clean` from running.
fn blanks_for(list: &[u8]) -> BTreeMap<String, &'static str> {
    fields(list)
        .filter_map(|name| str::from_utf8(name).ok())
        .filter_map(|name| {
            let (section, rest) = name.split_once('.')?;
            let (_, variable) = rest.rsplit_once('.')?;
            let value = match (section, variable) {
                ("filter", "clean" | "smudge" | "process") | ("diff", "command" | "textconv") => "",
                ("filter", "required") => "false",
                ("merge", "driver") => TEXT_MERGE,
                ("merge", "recursive") => "text",
                _ => return None,
            };
            Some((name.to_owned(), value))
        })
        .collect()
}

/// Returns whether a setting (as `git config --list` prints its name) can make git run a program, read another
/// configuration, or work in another place.
pub(crate) fn runs_programs(name: &str) -> bool {
    let (section, rest) = name.split_once('.').unwrap_or((name, ""));
    let variable = rest.rsplit_once('.').map_or(rest, |(_, variable)| variable);
    match section {
        "alias" | "include" | "includeif" | "pager" | "filter" | "hook" | "credential" | "gpg"
        | "difftool" | "mergetool" | "sendemail" | "browser" | "man" | "trailer" | "url"
        | "protocol" | "web" | "instaweb" => true,
        "core" => matches!(
            variable,
            "hookspath"
                | "fsmonitor"
                | "sshcommand"
                | "gitproxy"
                | "askpass"
                | "editor"
                | "pager"
                | "attributesfile"
                | "worktree"
                | "alternaterefscommand"
                | "bare"
        ),
        "diff" => matches!(variable, "external" | "command" | "textconv"),
        "merge" => matches!(variable, "driver" | "tool" | "verifysignatures"),
        "commit" | "tag" | "push" => matches!(variable, "gpgsign" | "template"),
        "sequence" => variable == "editor",
        "interactive" => variable == "difffilter",
        "uploadpack" => variable == "packobjectshook",
        "remote" => matches!(
            variable,
            "uploadpack" | "receivepack" | "vcs" | "url" | "pushurl" | "proxy" | "promisor"
        ),
        "submodule" => matches!(variable, "update" | "recurse" | "url"),
        "extensions" => matches!(variable, "partialclone" | "worktreeconfig"),
        "gc" | "maintenance" => matches!(variable, "recentobjectshook"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_are_found_whatever_their_names_contain() {
        let list = b"filter.a.b=c.clean\0filter.lfs.process\0diff.x.textconv\0diff.algorithm\0merge.y.driver\0merge.y.name\0user.name\0filter.only.required\0";
        let expected = [
            ("diff.x.textconv", ""),
            ("filter.a.b=c.clean", ""),
            ("filter.lfs.process", ""),
            ("filter.only.required", "false"),
            ("merge.y.driver", TEXT_MERGE),
        ];
        let expected = expected.map(|(key, value)| (key.to_owned(), value));
        assert_eq!(blanks_for(list), BTreeMap::from(expected));
    }

    #[test]
    fn settings_that_run_programs_are_known() {
        for name in [
            "core.hookspath",
            "core.fsmonitor",
            "core.worktree",
            "include.path",
            "alias.st",
            "includeif.gitdir:/x.path",
            "filter.x.clean",
            "diff.x.textconv",
            "diff.external",
            "merge.x.driver",
            "gpg.program",
            "gpg.ssh.program",
            "remote.origin.url",
            "submodule.x.update",
            "credential.helper",
            "uploadpack.packobjectshook",
        ] {
            assert!(runs_programs(name), "{name}");
        }
        for name in [
            "user.name",
            "core.autocrlf",
            "branch.main.remote",
            "diff.algorithm",
            "core",
            "",
        ] {
            assert!(!runs_programs(name), "{name}");
        }
    }
}

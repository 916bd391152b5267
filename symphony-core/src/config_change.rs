//! A change of Symphony's own configuration, or of git's, while an agent or the code of a change was running: a person
//! has to look at it.
//!
//! The configuration decides which commands Symphony runs with a person's permissions, and which commits pass. An agent
//! that runs with the same permissions can edit it, and so can the person: a change is reported, and never undone.

use crate::agent::AgentType;
use crate::listing::list_few;
use crate::pull_request::FileStat;

/// The name of a project's configuration file.
pub const CONFIG_FILE_NAME: &str = "symphony.config.json";

/// Prefix of the path of a prompt file in a list of keys.
pub const PROMPT_FILE_PREFIX: &str = "prompts_dir/";

/// Keys that a sentence for a person names.
const SENTENCE_MAX: usize = 5;

/// Keys, and sections with all that is in them, that decide which commands run with a person's permissions, what these
/// and agents are given, and which changes pass; for `web`, who may approve them.
const DECISIVE: &[&str] = &[
    "auto_done",
    "base_branch",
    "database",
    "env",
    "gates",
    "git",
    "judge_enabled",
    "notify",
    "plan",
    "prompts",
    "prompts_dir",
    "provider",
    "providers",
    "publish",
    "risk",
    "sandbox",
    "sensitive_paths",
    "spending",
    "state_dir",
    "vault",
    "web",
    "workspaces_dir",
    "worktree",
];

/// Returns whether a key (`worktree.setup`), or a prompt file, decides what Symphony runs or which changes pass.
pub fn is_decisive(key: &str) -> bool {
    let top = key.split(['.', '/', '[']).next().unwrap_or(key);
    DECISIVE.contains(&top)
}

/// What was running while something changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtWork {
    /// The agent of a run.
    Agent,
    /// Gates, which run the code of a change, or of the base.
    Gates,
}

impl AtWork {
    /// Returns what runs in a run of this agent.
    pub const fn of(agent: &AgentType) -> Self {
        match agent {
            AgentType::Gates => Self::Gates,
            _ => Self::Agent,
        }
    }

    pub(crate) const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Agent => ("during the run", "the agent"),
            Self::Gates => ("while gates ran", "the code they ran"),
        }
    }
}

/// Changes in what Symphony and the person share with agents and with the code of changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SharedChanges {
    /// Settings of the repository's git configuration, attributes and hooks, as they may be shown.
    pub settings: Vec<String>,
    /// Keys of Symphony's configuration and files of the project's prompts.
    pub configuration: Vec<String>,
    /// Branches, tags and stash entries that were deleted or rewritten, in words.
    pub refs: Vec<String>,
}

impl SharedChanges {
    /// Returns whether nothing changed that decides what Symphony or git runs.
    pub const fn is_empty(&self) -> bool {
        self.settings.is_empty() && self.configuration.is_empty()
    }

    /// Returns the names of what does.
    pub fn names(&self) -> Vec<&str> {
        let all = self.settings.iter().chain(&self.configuration);
        all.map(String::as_str).collect()
    }
}

/// Describes what changed in the git configuration that all checkouts share, and that it need not have been the run.
pub fn setting_text(settings: &[impl AsRef<str>], at_work: AtWork) -> String {
    let (when, who) = at_work.names();
    format!(
        "{when}, the git configuration, attributes or hooks that all checkouts share changed ({}): if you did not change them, {who} may have done so",
        list_few(
            first_those(settings, runs_commands).into_iter(),
            SENTENCE_MAX
        )
    )
}

/// Sorts those first that a person has to see: a sentence names only a few.
fn first_those(names: &[impl AsRef<str>], matter: fn(&str) -> bool) -> Vec<&str> {
    let mut names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    names.sort_by_key(|name| !matter(name));
    names
}

/// Beginnings of git's settings, as `git config --list` prints them, that make it run a program, reach another place or
/// show another history, and of the files beside them.
const RUN_COMMANDS: &[&str] = &[
    "core.askpass",
    "core.attributesfile",
    "core.editor",
    "core.fsmonitor",
    "core.gitproxy",
    "core.hookspath",
    "core.pager",
    "core.sshcommand",
    "credential.",
    "diff.",
    "filter.",
    "gpg.",
    "hooks/",
    "include.",
    "includeif.",
    "info/attributes",
    "info/grafts",
    "merge.",
    "pager.",
    "remote.",
    "url.",
];

/// Returns whether a setting, or a file beside the settings, makes git run a program, contact another place or show
/// another history.
fn runs_commands(name: &str) -> bool {
    RUN_COMMANDS.iter().any(|start| name.starts_with(start))
}

/// Describes what changed in the configuration meanwhile, and whether Symphony relies on it.
pub fn config_change_text(keys: &[impl AsRef<str>], at_work: AtWork) -> String {
    let (when, who) = at_work.names();
    let changed = format!(
        "{when}, Symphony's configuration changed ({}): if you did not change it, {who} may have done so",
        list_few(first_those(keys, is_decisive).into_iter(), SENTENCE_MAX)
    );
    let decisive: Vec<&str> = keys
        .iter()
        .map(AsRef::as_ref)
        .filter(|key| is_decisive(key))
        .collect();
    if decisive.is_empty() {
        return changed;
    }
    let verb = if decisive.len() == 1 {
        "decides"
    } else {
        "decide"
    };
    format!(
        "{changed}; {} {verb} which commands run with your permissions and which changes pass, so check before you merge anything",
        list_few(decisive.iter().copied(), SENTENCE_MAX)
    )
}

/// Returns the patterns of the tracked files that decide what Symphony does: its configuration file in the root and the
/// prompts of the project; `prompts` is the folder of these relative to the root, if it is below it.
pub fn decisive_patterns(prompts: Option<&str>) -> Vec<String> {
    let prompts = prompts.map(|folder| folder.trim_matches('/'));
    let prompts = prompts.filter(|folder| !folder.is_empty());
    [Some(CONFIG_FILE_NAME), prompts]
        .into_iter()
        .flatten()
        .map(str::to_owned)
        .collect()
}

/// Returns the files of a change that decide what Symphony does from its merge on.
pub fn decisive_files(files: &[FileStat], patterns: &[String]) -> Vec<String> {
    let decides = |path: &&String| {
        patterns.iter().any(|pattern| {
            let below = path.strip_prefix(pattern.as_str());
            below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
        })
    };
    // A renamed file no longer decides anything at its old path.
    let paths = files
        .iter()
        .flat_map(|file| std::iter::once(&file.path).chain(&file.old_path));
    paths.filter(decides).cloned().collect()
}

/// Describes what the merge of a change to such files means; `None` if the change has no such files.
pub fn decisive_files_text(files: &[String]) -> Option<String> {
    (!files.is_empty()).then(|| {
        format!(
            "it changes Symphony's own configuration ({}): once it is merged, that decides which commands run with your \
             permissions and which changes pass",
            list_few(files.iter().map(String::as_str), SENTENCE_MAX)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::KEYS;

    #[test]
    fn what_runs_and_what_passes_is_decisive_and_all_of_it_is_a_key() {
        for key in [
            "gates",
            "worktree.setup",
            "worktree.copy",
            "env.GITHUB_TOKEN",
            "notify",
            "publish",
            "git.trusted_filters",
            "prompts_dir",
            "prompts_dir/profiles/judge.md",
            "prompts.trial.b",
            "prompts.trial.b/profiles/judge.md",
            "providers.claude-cli.binary",
            "judge_enabled",
            "auto_done",
            "sensitive_paths",
            "web.users.ada.role",
        ] {
            assert!(is_decisive(key), "{key}");
        }
        for key in [
            "model",
            "max_retries",
            "log_retention_days",
            "environment",
            "budget.user_tokens",
        ] {
            assert!(!is_decisive(key), "{key}");
        }
        for key in DECISIVE {
            assert!(KEYS.iter().any(|known| known.name == *key), "{key}");
        }
    }

    #[test]
    fn the_sentence_names_what_decides_and_accuses_nobody() {
        assert_eq!(
            config_change_text(&["model"], AtWork::Agent),
            "during the run, Symphony's configuration changed (model): if you did not change it, the agent may have done so"
        );
        assert_eq!(
            config_change_text(&["gates", "model", "notify"], AtWork::Agent),
            "during the run, Symphony's configuration changed (gates, notify, model): if you did not change it, the agent may have done so; gates, \
             notify decide which commands run with your permissions and which changes pass, so check before you merge anything"
        );
        assert!(config_change_text(&["env.X"], AtWork::Gates).contains("; env.X decides which"));
    }

    #[test]
    fn what_runs_programs_is_named_first() {
        let mut settings: Vec<String> = (1..=9).map(|n| format!("alias.a{n}")).collect();
        settings.extend(["core.hookspath".into(), "core.sshcommand".into()]);
        let text = setting_text(&settings, AtWork::Gates);
        assert!(
            text.contains(
                "(core.hookspath, core.sshcommand, alias.a1, alias.a2, alias.a3 and 6 more)"
            ),
            "{text}"
        );
        let keys = ["a", "b", "c", "d", "e", "gates"];
        let text = config_change_text(&keys, AtWork::Gates);
        assert!(text.contains("(gates, a, b, c, d and 1 more)"), "{text}");
    }

    #[test]
    fn the_configuration_file_and_the_prompts_are_named_by_path() {
        let files: Vec<FileStat> = [
            "symphony.config.json",
            "docs/symphony.config.json",
            "symphony.config.json.bak",
            "agents/prompts/profiles/judge.md",
            "agents/prompts-old/a.md",
        ]
        .iter()
        .map(|path| FileStat {
            old_path: None,
            path: (*path).into(),
            insertions: 1,
            deletions: 0,
        })
        .collect();
        let named = decisive_files(&files, &decisive_patterns(Some("agents/prompts/")));
        assert_eq!(
            named,
            ["symphony.config.json", "agents/prompts/profiles/judge.md"]
        );
        let moved = FileStat {
            old_path: Some("symphony.config.json".to_owned()),
            ..files[1].clone()
        };
        let named = decisive_files(&[moved], &decisive_patterns(None));
        assert_eq!(named, ["symphony.config.json"]);
        // If the whole repository is the folder of prompts, every file would match.
        let named = decisive_files(&files, &decisive_patterns(Some("")));
        assert_eq!(named, ["symphony.config.json"]);
        assert_eq!(decisive_files_text(&[]), None);
        let text = decisive_files_text(&named).unwrap();
        assert!(text.contains("(symphony.config.json)"), "{text}");
    }
}

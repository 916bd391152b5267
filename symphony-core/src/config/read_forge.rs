//! Reads the forge of a project, and checks what belongs together.

use std::collections::BTreeMap;

use super::forge::{ForgeKind, ForgeMethod, ForgeRepository, ForgeSettings, MergeWhere, PushWhen};
use super::path::KeyPath;
use super::read::ConfigReader;
use super::read_tracker::repository;
use super::tracker::TrackerKind;
use super::value::Millis;
use crate::user::UserName;

/// Time between two looks at a forge, when nothing else is set.
const POLL: Millis = Millis::new(60_000);
/// The remote that git makes when a repository is cloned.
const REMOTE: &str = "origin";

impl ConfigReader<'_> {
    /// Reads the forge; `None` without one, or if it has a problem.
    pub(super) fn forge(&mut self) -> Option<ForgeSettings> {
        let at = "forge";
        let Some(kind) = self.get::<ForgeKind>("forge.kind") else {
            if !self.effective.names_below(&KeyPath::of(at)).is_empty() {
                self.lacks(at, "kind", "`github`");
            }
            return None;
        };
        let api = match kind {
            ForgeKind::Github => TrackerKind::Github,
        };
        self.check_reviewers();
        let repository = self.forge_repository().ok()?;
        let endpoint = self.endpoint(at, api)?;
        Some(ForgeSettings {
            kind,
            repository,
            remote: self.remote()?,
            endpoint,
            token: self.token(at, api),
            push: self.get_or("forge.push", PushWhen::Opened),
            merge: self.get_or("forge.merge", MergeWhere::Auto),
            method: self.get_or("forge.method", ForgeMethod::Merge),
            reviewers: self.map("forge.reviewers"),
            checks: self.get_or("forge.checks", Vec::new()),
            rerun: self.get_or("forge.rerun", true),
            poll: self.get_or("forge.poll_ms", POLL),
        })
    }

    /// `None` if the remote says it; an error if what is set is not a repository.
    fn forge_repository(&mut self) -> Result<Option<ForgeRepository>, ()> {
        let path = "forge.repository";
        let Some(text) = self.get::<String>(path) else {
            return Ok(None);
        };
        let Some((owner, name)) = repository(&text) else {
            let expected = "a repository, as `owner/name`".to_owned();
            self.problem(&KeyPath::of(path), format!("`{text}`"), expected);
            return Err(());
        };
        Ok(Some(ForgeRepository { owner, name }))
    }

    /// A name that begins with a hyphen would be an option of git's, and an address would bypass what `git remote` shows.
    fn remote(&mut self) -> Option<String> {
        let name: String = self.get_or("forge.remote", REMOTE.to_owned());
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if !name.is_empty() && !name.starts_with(['-', '.']) && name.chars().all(is_allowed) {
            return Some(name);
        }
        let expected = "the name of a remote, such as `origin`; `git remote` lists them".to_owned();
        self.problem(&KeyPath::of("forge.remote"), format!("`{name}`"), expected);
        None
    }

    /// A login in the place of an id would never match, or match whoever has it next. Of two names for one id, it would be chance
    /// who a review is recorded as.
    fn check_reviewers(&mut self) {
        let reviewers: BTreeMap<UserName, String> = self.map("forge.reviewers");
        let mut names: BTreeMap<&str, &UserName> = BTreeMap::new();
        for (name, id) in &reviewers {
            if let Some(other) = names.insert(id, name) {
                let path = KeyPath::of(&format!("forge.reviewers.{name}"));
                let expected = format!("the id of another user than `{other}`");
                self.problem(&path, format!("`{id}`"), expected);
            }
            if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit()) {
                let path = KeyPath::of(&format!("forge.reviewers.{name}"));
                let expected =
                    "the user's id, a number; `symphony forge check` prints your own".to_owned();
                self.problem(&path, format!("`{id}`"), expected);
            }
        }
    }
}

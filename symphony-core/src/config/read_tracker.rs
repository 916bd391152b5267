//! Reads the trackers of a project, and checks what belongs together: a tracker without a place or with an address that
//! would send its token in clear is a problem of the file, found before anything is asked of the tracker.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::path::KeyPath;
use super::read::ConfigReader;
use super::tracker::{
    TRACKER_LABEL, TokenSource, TrackerFilter, TrackerKind, TrackerPlace, TrackerSettings,
};
use super::value::Millis;
use crate::issue::IssueStatus;
use crate::user::UserName;

/// Time between two looks at a tracker, when nothing else is set.
const POLL: Millis = Millis::new(60_000);

impl TrackerKind {
    /// Returns the address of its public API.
    pub const fn endpoint(self) -> &'static str {
        match self {
            Self::Github => "https://api.github.com",
            Self::Linear => "https://api.linear.app/graphql",
        }
    }

    /// Returns the variable that has its token by default.
    pub const fn token_variable(self) -> &'static str {
        match self {
            Self::Github => "GITHUB_TOKEN",
            Self::Linear => "LINEAR_API_KEY",
        }
    }
}

impl ConfigReader<'_> {
    /// Reads all trackers; one with a problem is left out.
    pub(super) fn trackers(&mut self) -> Vec<TrackerSettings> {
        let above = KeyPath::of("trackers");
        let names: Vec<String> = self
            .effective
            .names_below(&above)
            .into_iter()
            .map(ToOwned::to_owned)
            .collect();
        names.iter().filter_map(|name| self.tracker(name)).collect()
    }

    fn tracker(&mut self, name: &str) -> Option<TrackerSettings> {
        let at = format!("trackers.{name}");
        let Some(kind) = self.get::<TrackerKind>(&format!("{at}.kind")) else {
            self.lacks(&at, "kind", "`github` or `linear`");
            return None;
        };
        let place = self.place(&at, kind)?;
        let endpoint = self.endpoint(&at, kind)?;
        let token = self.token(&at, kind);
        let filter = self.filter(&at);
        let commanders = self.map(&format!("{at}.commanders"));
        let states = self.map(&format!("{at}.states"));
        self.check_commanders(&at, kind, &commanders);
        self.check_states(&at, kind, &states, &filter);
        Some(TrackerSettings {
            name: name.to_owned(),
            place,
            endpoint,
            token,
            filter,
            import_status: self.get_or(&format!("{at}.import_status"), IssueStatus::Todo),
            states,
            priorities: self.map(&format!("{at}.priorities")),
            commanders,
            comments: self.get_or(&format!("{at}.comments"), true),
            subtasks: self.get_or(&format!("{at}.subtasks"), true),
            poll: self.get_or(&format!("{at}.poll_ms"), POLL),
        })
    }

    fn place(&mut self, at: &str, kind: TrackerKind) -> Option<TrackerPlace> {
        match kind {
            TrackerKind::Github => {
                let path = format!("{at}.repository");
                let Some(text) = self.get::<String>(&path) else {
                    self.lacks(at, "repository", "the repository, as `owner/name`");
                    return None;
                };
                let Some((owner, name)) = repository(&text) else {
                    let expected = "a repository, as `owner/name`".to_owned();
                    self.problem(&KeyPath::of(&path), format!("`{text}`"), expected);
                    return None;
                };
                Some(TrackerPlace::Github { owner, name })
            }
            TrackerKind::Linear => {
                let Some(team) = self.get::<String>(&format!("{at}.team")) else {
                    self.lacks(at, "team", "the team's key, such as `ENG`");
                    return None;
                };
                let project = self.get(&format!("{at}.linear_project"));
                Some(TrackerPlace::Linear { team, project })
            }
        }
    }

    pub(super) fn endpoint(&mut self, at: &str, kind: TrackerKind) -> Option<String> {
        let path = format!("{at}.endpoint");
        let Some(text) = self.get::<String>(&path) else {
            return Some(kind.endpoint().to_owned());
        };
        if is_safe_address(&text) {
            return Some(text.trim_end_matches('/').to_owned());
        }
        let expected = "an address that begins with `https://`, since a token is sent to it (`http://` only on this machine)";
        self.problem(
            &KeyPath::of(&path),
            format!("`{text}`"),
            expected.to_owned(),
        );
        None
    }

    pub(super) fn token(&mut self, at: &str, kind: TrackerKind) -> TokenSource {
        if let Some(command) = self.get(&format!("{at}.token_command")) {
            return TokenSource::Command(command);
        }
        let variable = self.get(&format!("{at}.token_env"));
        TokenSource::Variable(variable.unwrap_or_else(|| kind.token_variable().to_owned()))
    }

    fn filter(&mut self, at: &str) -> TrackerFilter {
        TrackerFilter {
            labels: self.get_or(
                &format!("{at}.filter.labels"),
                vec![TRACKER_LABEL.to_owned()],
            ),
            assignees: self.get_or(&format!("{at}.filter.assignees"), Vec::new()),
            states: self.get_or(&format!("{at}.filter.states"), Vec::new()),
        }
    }

    /// Requires numbers for GitHub's users. A login would never match, or would match whoever takes that login next.
    fn check_commanders(
        &mut self,
        at: &str,
        kind: TrackerKind,
        commanders: &BTreeMap<UserName, String>,
    ) {
        for (name, id) in commanders {
            let is_number = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
            if kind == TrackerKind::Github && !is_number {
                let path = KeyPath::of(&format!("{at}.commanders.{name}"));
                let expected =
                    "the user's id, a number; `symphony tracker check` prints your own".to_owned();
                self.problem(&path, format!("`{id}`"), expected);
            }
        }
    }

    /// Refuses a label that both filters issues and means a status: a move to another status would remove the label, and
    /// the issue would no longer match the filter.
    fn check_states(
        &mut self,
        at: &str,
        kind: TrackerKind,
        states: &BTreeMap<IssueStatus, String>,
        filter: &TrackerFilter,
    ) {
        for (status, label) in states {
            let lets_in = filter
                .labels
                .iter()
                .any(|known| known.eq_ignore_ascii_case(label));
            if kind == TrackerKind::Github && lets_in {
                let path = KeyPath::of(&format!("{at}.states.{status}"));
                let expected = "another label than those of `filter.labels`".to_owned();
                self.problem(&path, format!("`{label}`"), expected);
            }
        }
    }

    pub(super) fn lacks(&mut self, at: &str, key: &str, expected: &str) {
        let path = KeyPath::of(&format!("{at}.{key}"));
        self.problem(&path, "nothing".to_owned(), expected.to_owned());
    }
}

/// Splits `owner/name`.
pub(super) fn repository(text: &str) -> Option<(String, String)> {
    let fits = |part: &str| {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        !part.is_empty() && part.chars().all(is_allowed) && !part.trim_matches('.').is_empty()
    };
    let (owner, name) = text.split_once('/')?;
    (fits(owner) && fits(name)).then(|| (owner.to_owned(), name.to_owned()))
}

/// Returns whether a token may be sent to an address: it is encrypted, or does not leave this machine.
fn is_safe_address(text: &str) -> bool {
    if text.contains(char::is_whitespace) || text.contains('@') {
        return false;
    }
    if let Some(rest) = text.strip_prefix("https://") {
        return !rest.trim_matches('/').is_empty();
    }
    let Some(rest) = text.strip_prefix("http://") else {
        return false;
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_only_to_encrypted_addresses_or_this_machine() {
        for (address, expected) in [
            ("https://api.github.com", true),
            ("https://ghe.example/api/v3/", true),
            ("http://127.0.0.1:4001", true),
            ("http://localhost:4001/graphql", true),
            ("http://[::1]:4001", true),
            ("http://api.github.com", false),
            ("http://127.0.0.1.evil.example", false),
            ("http://127.0.0.1@evil.example", false),
            ("https://ada@evil.example", false),
            ("https://", false),
            ("https:///", false),
            ("api.github.com", false),
            ("ftp://127.0.0.1", false),
            ("https://a b", false),
        ] {
            assert_eq!(is_safe_address(address), expected, "{address}");
        }
    }

    #[test]
    fn a_repository_has_an_owner_and_a_name() {
        for (text, expected) in [
            ("acme/web", true),
            ("acme/web.js", true),
            ("a-b/c_d", true),
            ("acme", false),
            ("acme/", false),
            ("/web", false),
            ("acme/web/issues", false),
            ("acme/..", false),
            ("https://github.com/acme/web", false),
            ("acme /web", false),
        ] {
            assert_eq!(repository(text).is_some(), expected, "{text}");
        }
    }
}

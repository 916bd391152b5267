//! The users of the page: their names, what they may do, and what is recorded of who wrote something.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::agent::AgentType;
use crate::closed_set::closed_set;

/// Most characters of a user's name.
pub const USER_NAME_CHARS_MAX: usize = 40;

/// Words that mean someone else where authors are shown.
const TAKEN: [&str; 20] = [
    "admin",
    "agent",
    "anonymous",
    "cli",
    "human",
    "local",
    "me",
    concat!("no", "body"),
    "person",
    "root",
    "somebody",
    "supervisor",
    "symphony",
    "system",
    "tracker",
    "unknown",
    "unnamed",
    "user",
    "web",
    "you",
];

/// The name of a user.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct UserName(String);

/// A text that is not the name of a user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not {}", UserName::EXPECTED)]
pub struct UserNameError {
    /// The given text.
    pub found: String,
}

impl UserName {
    /// What is expected, as part of a sentence.
    pub const EXPECTED: &'static str = "a valid user name: use a lower-case letter, then lower-case letters, digits or hyphens, at most 40 in all; names of \
         agent types, and words such as `agent`, `admin`, `you` and `system`, are reserved";

    /// Parses a name. It must not look like an agent or Symphony itself in a list of authors.
    ///
    /// # Errors
    /// When it is empty, too long, has other characters, or is taken.
    pub fn parse(text: &str) -> Result<Self, UserNameError> {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let is_name = text.len() <= USER_NAME_CHARS_MAX
            && text.chars().all(fits)
            && text.starts_with(|first: char| first.is_ascii_lowercase())
            && !TAKEN.contains(&text)
            && matches!(AgentType::parse(text), Ok(AgentType::Custom(_)));
        if is_name {
            Ok(Self(text.to_owned()))
        } else {
            Err(UserNameError {
                found: text.to_owned(),
            })
        }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UserName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl std::str::FromStr for UserName {
    type Err = UserNameError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl TryFrom<String> for UserName {
    type Error = UserNameError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl From<UserName> for String {
    fn from(name: UserName) -> Self {
        name.0
    }
}

closed_set!(
    /// What a visitor of the page may do; each role may do what those before it may.
    UserRole, "role", {
        /// Reads.
        Viewer = "viewer",
        /// Adds and edits issues, comments, answers, decides and retries.
        Reviewer = "reviewer",
        /// Merges, forces, cancels and pauses, too.
        Admin = "admin",
    }
);

impl UserRole {
    /// Returns whether a user with this role may do what needs another role.
    pub fn may(self, needed: Self) -> bool {
        self >= needed
    }
}

/// The SHA-256 of a user's token, as the configuration has it: `sha256:` and 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TokenHash(String);

/// A text that is not the hash of a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not {}", TokenHash::EXPECTED)]
pub struct TokenHashError;

impl TokenHash {
    /// What is expected, as part of a sentence.
    pub const EXPECTED: &'static str = "the hash of a token (`sha256:` and 64 hexadecimal digits), which `symphony serve user add` writes";
    const PREFIX: &'static str = "sha256:";
    const DIGITS: usize = 64;

    /// Parses a hash.
    ///
    /// # Errors
    /// When it has another form. The text is not repeated: it may be the token itself.
    pub fn parse(text: &str) -> Result<Self, TokenHashError> {
        let digits = text.strip_prefix(Self::PREFIX).ok_or(TokenHashError)?;
        let is_hash =
            digits.len() == Self::DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash
            .then(|| Self(digits.to_ascii_lowercase()))
            .ok_or(TokenHashError)
    }

    /// Returns its digits, in lower case.
    pub fn digits(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for TokenHash {
    type Error = TokenHashError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl From<TokenHash> for String {
    fn from(hash: TokenHash) -> Self {
        format!("{}{}", TokenHash::PREFIX, hash.0)
    }
}

closed_set!(
    /// What a user wrote with.
    Source, "source", {
        /// A command.
        Cli = "cli",
        /// The page.
        Web = "web",
        /// A tool of an agent.
        Agent = "agent",
        /// A comment or an edit on a tracker that the issue is mirrored with.
        Tracker = "tracker",
    }
);

/// With what something was written, and as which user. Both are missing in what an older version recorded, and for what Symphony
/// itself wrote; whoever types a command has no name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribution {
    /// With what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The user of the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserName>,
}

impl Attribution {
    /// Returns what has a source, and no user.
    pub const fn of(source: Source) -> Self {
        Self {
            source: Some(source),
            user: None,
        }
    }

    /// Returns the user's name, or else what the author is called without one.
    pub fn name_or<'a>(&'a self, author: &'a str) -> &'a str {
        self.user.as_ref().map_or(author, UserName::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_be_taken_for_an_agent_or_symphony() {
        for (name, expected) in [
            ("ada", true),
            ("ada-l2", true),
            ("a", true),
            ("", false),
            ("Ada", false),
            ("2ada", false),
            ("-ada", false),
            ("ada lovelace", false),
            ("ada.l", false),
            ("ädä", false),
            ("judge", false),
            ("worker", false),
            ("human", false),
            ("system", false),
            ("symphony", false),
            (&"a".repeat(40), true),
            (&"a".repeat(41), false),
        ] {
            assert_eq!(UserName::parse(name).is_ok(), expected, "{name}");
        }
        for word in TAKEN {
            assert!(UserName::parse(word).is_err(), "{word}");
        }
    }

    #[test]
    fn a_hash_is_read_in_one_form_and_never_repeated() {
        let digits = "Ab".repeat(32);
        let hash = TokenHash::parse(&format!("sha256:{digits}")).unwrap();
        assert_eq!(hash.digits(), digits.to_ascii_lowercase());
        assert_eq!(
            String::from(hash),
            format!("sha256:{}", digits.to_ascii_lowercase())
        );
        for wrong in [
            "",
            "sha256:",
            &digits,
            &format!("sha1:{digits}"),
            &format!("sha256:{digits}0"),
        ] {
            let error = TokenHash::parse(wrong).unwrap_err().to_string();
            assert!(wrong.len() < 8 || !error.contains(wrong), "{error}");
        }
    }

    #[test]
    fn each_role_may_do_what_those_before_it_may() {
        for (at, has) in UserRole::ALL.iter().enumerate() {
            for (needed_at, needed) in UserRole::ALL.iter().enumerate() {
                assert_eq!(has.may(*needed), at >= needed_at, "{has} {needed}");
            }
        }
    }

    #[test]
    fn what_an_older_version_wrote_is_attributed_to_nobody() {
        let attribution: Attribution = serde_json::from_str("{}").unwrap();
        assert_eq!(attribution, Attribution::default());
        assert_eq!(attribution.name_or("human"), "human");
        let signed: Attribution = serde_json::from_str(r#"{"source":"web","user":"ada"}"#).unwrap();
        assert_eq!(signed.name_or("human"), "ada");
        assert_eq!(
            serde_json::to_string(&signed).unwrap(),
            r#"{"source":"web","user":"ada"}"#
        );
    }
}

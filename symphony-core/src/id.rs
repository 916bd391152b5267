//! Newtypes for ids. Ids are made at the edge; here they are parsed, compared and printed.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A text that is not an id of the kind asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not {expected}")]
pub struct IdError {
    /// The given text.
    pub found: String,
    /// What a valid id looks like.
    pub expected: &'static str,
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $expected:literal, $valid:expr) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Parses the text of an id.
            ///
            /// # Errors
            /// When the text does not have the form of this kind of id.
            pub fn parse(text: impl Into<String>) -> Result<Self, $crate::id::IdError> {
                let text = text.into();
                let valid: fn(&str) -> bool = $valid;
                if valid(&text) { Ok(Self(text)) } else { Err($crate::id::IdError { found: text, expected: $expected }) }
            }

            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::id::IdError;
            fn try_from(text: String) -> Result<Self, $crate::id::IdError> {
                Self::parse(text)
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::id::IdError;
            fn from_str(text: &str) -> Result<Self, $crate::id::IdError> {
                Self::parse(text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }
    };
}

pub(crate) use text_id;

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(i64);

        impl $name {
            /// Wraps a row number of the store.
            pub const fn new(number: i64) -> Self {
                Self(number)
            }

            /// Parses the decimal form.
            ///
            /// # Errors
            /// When the text is not a positive whole number.
            pub fn parse(text: &str) -> Result<Self, IdError> {
                match text.parse::<i64>() {
                    Ok(number) if number > 0 => Ok(Self(number)),
                    _ => Err(IdError { found: text.to_owned(), expected: "a positive number" }),
                }
            }

            /// Returns the row number.
            pub const fn get(self) -> i64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                Self::parse(&text)
            }
        }

        impl std::str::FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::parse(text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0.to_string()
            }
        }
    };
}

/// Longest free-form id, in characters: ids appear in file names, log lines and environment variables.
pub const ID_CHARS_MAX: usize = 64;

fn is_slug(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= ID_CHARS_MAX
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        && !text.starts_with(['-', '.'])
}

/// Digits of an installation id: 128 random bits.
const INSTALLATION_DIGITS: usize = 32;

fn is_digest(text: &str) -> bool {
    text.len() == INSTALLATION_DIGITS
        && text
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn is_identifier(text: &str) -> bool {
    let Some((prefix, number)) = text.split_once('-') else {
        return false;
    };
    is_prefix(prefix)
        && !number.is_empty()
        && number.len() <= 18
        && number.bytes().all(|b| b.is_ascii_digit())
        // two spellings of one number would be two issues
        && (number == "0" || !number.starts_with('0'))
}

/// Returns whether a text can be the prefix of a project's issue identifiers (`^[A-Z][A-Z0-9]{0,9}$`).
pub fn is_prefix(text: &str) -> bool {
    text.len() <= 10
        && text.bytes().next().is_some_and(|b| b.is_ascii_uppercase())
        && text
            .bytes()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
}

fn is_kebab(text: &str) -> bool {
    text.len() <= ID_CHARS_MAX
        && text.bytes().next().is_some_and(|b| b.is_ascii_lowercase())
        && text.split('-').all(|part| {
            !part.is_empty()
                && part
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        })
}

text_id!(
    /// A project of the installation, as named in `projects.<id>` of the configuration.
    ProjectId, "a project id (letters, digits, `-`, `_`, `.`; at most 64 characters)", is_slug
);
text_id!(
    /// An issue's identifier, unique in the installation: project prefix and number, such as `SYM-12`.
    IssueId, "an issue identifier such as SYM-12", is_identifier
);
text_id!(
    /// An agent run: a UUID, so that processes can be found by it on a shared machine.
    RunId, "a run id", is_slug
);
text_id!(
    /// A database, from its making on, with every backup of it: 32 hexadecimal digits.
    InstallationId, "an installation id (32 hexadecimal digits)", is_digest
);
text_id!(
    /// A learning.
    LearningId, "a learning id", is_slug
);
text_id!(
    /// A phase of the issue pipeline, such as `research`; also the name of its contract.
    PhaseName, "a phase name (kebab-case, at most 64 characters)", is_kebab
);
text_id!(
    /// A phase of a plan file.
    PlanPhaseId, "a plan phase id (kebab-case, at most 64 characters)", is_kebab
);
text_id!(
    /// A plan that is carried out.
    PlanId, "a plan id", is_slug
);
number_id!(
    /// A comment.
    CommentId
);
number_id!(
    /// A finding.
    FindingId
);
number_id!(
    /// A pull request: Symphony's own record.
    PrId
);
number_id!(
    /// A delivery.
    DeliveryId
);

impl PhaseName {
    /// The phase in which code is written and a pull request made.
    pub const READY: &'static str = "ready";

    /// Returns whether it is the phase in which code is written and a pull request is opened.
    pub fn is_ready(&self) -> bool {
        self.0 == Self::READY
    }
}

impl IssueId {
    /// Joins a project prefix and a number.
    ///
    /// # Errors
    /// When the prefix is not one (see [`is_prefix`]).
    pub fn new(prefix: &str, number: u64) -> Result<Self, IdError> {
        Self::parse(format!("{prefix}-{number}"))
    }

    /// Returns the project prefix.
    pub fn prefix(&self) -> &str {
        self.0.split_once('-').map_or("", |(prefix, _)| prefix)
    }

    /// Returns the number behind the prefix.
    pub fn number(&self) -> u64 {
        self.0
            .split_once('-')
            .and_then(|(_, number)| number.parse().ok())
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_have_an_upper_case_prefix_and_a_number() {
        for good in ["A-1", "SYM-12", "A1B2C3D4E5-999", "X-0"] {
            assert_eq!(IssueId::parse(good).unwrap().to_string(), good);
        }
        for bad in [
            "",
            "sym-1",
            "SYM",
            "SYM-",
            "-1",
            "1A-1",
            "ABCDEFGHIJK-1",
            "SYM-1x",
            "SYM-01",
            "SYM-00",
            "SYM-1-2",
            "SYM 1",
            "Ä-1",
        ] {
            assert!(IssueId::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn kebab_ids_have_no_empty_part() {
        for good in ["a", "setup-db", "a1-2b"] {
            assert!(PlanPhaseId::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "-a", "a-", "a--b", "A", "1a", "a_b", &"a".repeat(65)] {
            assert!(PlanPhaseId::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn ids_are_serde_strings() {
        let id: PrId = serde_json::from_str("\"7\"").unwrap();
        assert_eq!(serde_json::to_string(&id).unwrap(), "\"7\"");
        assert!(serde_json::from_str::<IssueId>("\"nope\"").is_err());
    }
}

//! The id of a session. It comes from the output of an agent, and becomes an argument of a program.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Longest id, in characters. The ids of the known CLIs have at most 40.
const ID_CHARS_MAX: usize = 128;
/// The lengths of the groups of a UUID.
const UUID_GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

/// The form of the ids of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionForm {
    /// A UUID in lower case.
    Uuid,
    /// A word of ASCII letters, digits, `_` and `-` that begins with a letter or a digit: no path and no flag.
    Word,
}

/// The id of a session, in a form that can be an argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(String);

impl SessionId {
    /// Parses an id; `None` if it does not have the form.
    pub fn parse(text: &str, form: SessionForm) -> Option<Self> {
        let is_valid = match form {
            SessionForm::Uuid => is_uuid(text),
            SessionForm::Word => is_word(text),
        };
        is_valid.then(|| Self(text.to_owned()))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let is_hex = |group: &str| {
        group
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    groups.iter().map(|group| group.len()).eq(UUID_GROUPS) && groups.into_iter().all(is_hex)
}

fn is_word(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    text.len() <= ID_CHARS_MAX
        && text
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_alphanumeric())
        && text.bytes().all(is_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_of_the_known_form_are_taken() {
        let long = "a".repeat(ID_CHARS_MAX + 1);
        for (text, uuid, word) in [
            ("9c739da6-3bb8-4deb-a43b-fdf44ba32ba3", true, true),
            ("01a21808-ec2c-7013-b924-8b9e67d80d34", true, true),
            ("9C739DA6-3BB8-4DEB-A43B-FDF44BA32BA3", false, true),
            ("9c739da63bb84deba43bfdf44ba32ba3", false, true),
            ("9c739da6-3bb8-4deb-a43b-fdf44ba32ba", false, true),
            ("9c739da6-3bb8-4deb-a43b-fdf44ba32ba3-", false, true),
            ("9c739dé6-3bb8-4deb-a43b-fdf44ba32ba3", false, false),
            ("ses_5f3a", false, true),
            ("--last", false, false),
            ("-c", false, false),
            ("../../etc/passwd", false, false),
            ("a/b", false, false),
            ("a.jsonl", false, false),
            ("a b", false, false),
            ("a\n", false, false),
            ("a\0", false, false),
            ("", false, false),
            (long.as_str(), false, false),
        ] {
            let parse = |form| SessionId::parse(text, form).is_some();
            let found = (parse(SessionForm::Uuid), parse(SessionForm::Word));
            assert_eq!(found, (uuid, word), "{text:?}");
        }
    }
}

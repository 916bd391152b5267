//! Taking secret values out of what is written down: logs, texts of agents, the end of an output.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use aho_corasick::{AhoCorasick, MatchKind};

use super::needles::forms;
use super::scan::{Needles, for_each, objects, tree_objects};
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::repository::Repository;

/// Shortest value that is taken out, in characters: shorter ones occur everywhere.
const VALUE_CHARS_MIN: usize = 8;
/// Characters of a name that stand for its value.
const NAME_CHARS_MAX: usize = 60;

/// Endings of a word of a variable's name that promise a secret.
const SECRET_WORDS: &[&str] = &[
    "AUTH",
    "AUTHORIZATION",
    "CREDENTIAL",
    "CREDENTIALS",
    "KEY",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "SECRET",
    "SECRETS",
    "TOKEN",
];
/// Endings of a name that leads to a secret, and holds none itself.
const LEADING_ENDS: &[&str] = &["_PATH", "_FILE", "_DIR", "_SOCK", "_TTL_MS"];

/// Replaces secret values, plain or encoded, by their names. The values are in no message of it.
pub struct Redactor {
    automaton: AhoCorasick,
    /// What stands for each pattern.
    replacements: Vec<String>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} patterns)", self.replacements.len())
    }
}

/// Says whether a variable's name promises a secret: one of its words ends as the name of one does.
pub fn is_secret_name(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let is_secret_word = |word: &str| SECRET_WORDS.iter().any(|end| word.ends_with(end));
    upper
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(is_secret_word)
        && !LEADING_ENDS.iter().any(|end| upper.ends_with(end))
}

/// Returns the secret of a variable: the whole value where the name promises one, else the password in a URL.
pub fn secret_of_variable<'v>(name: &str, value: &'v str) -> Option<&'v str> {
    if is_secret_name(name) {
        return Some(value);
    }
    let (_, rest) = value.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (user, _host) = authority.rsplit_once('@')?;
    user.split_once(':').map(|(_, password)| password)
}

impl Redactor {
    /// Makes a redactor of named values; none when no value is long enough.
    ///
    /// # Errors
    /// When there are too many values to look for.
    pub fn of(
        values: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Option<Self>, WorkspaceError> {
        // a form that two values share is shown under the first name
        let mut patterns: BTreeMap<Vec<u8>, String> = BTreeMap::new();
        for (name, value) in values {
            if value.chars().count() < VALUE_CHARS_MIN {
                continue;
            }
            let replacement = format!("[redacted: {}]", plain_name(&name));
            for form in forms(&value) {
                patterns.entry(form).or_insert_with(|| replacement.clone());
            }
        }
        if patterns.is_empty() {
            return Ok(None);
        }
        let (patterns, replacements): (Vec<Vec<u8>>, Vec<String>) = patterns.into_iter().unzip();
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(&patterns)
            .map_err(|error| WorkspaceError::Pattern {
                pattern: "the values of the copied files".to_owned(),
                reason: error.to_string(),
            })?;
        Ok(Some(Self {
            automaton,
            replacements,
        }))
    }

    /// Says whether a text holds a value.
    pub fn is_in(&self, text: &[u8]) -> bool {
        self.automaton.is_match(text)
    }

    /// Replaces every value; borrows the text when it holds none.
    pub fn redact<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let mut found = self.automaton.find_iter(text).peekable();
        if found.peek().is_none() {
            return Cow::Borrowed(text);
        }
        let mut clean = Vec::with_capacity(text.len());
        let mut from = 0;
        for hit in found {
            clean.extend_from_slice(text.get(from..hit.start()).unwrap_or_default());
            let replacement = self.replacements.get(hit.pattern().as_usize());
            clean.extend_from_slice(replacement.map_or(b"", |text| text.as_bytes()));
            from = hit.end();
        }
        clean.extend_from_slice(text.get(from..).unwrap_or_default());
        Cow::Owned(clean)
    }

    /// Replaces every value in a text.
    pub fn redact_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.redact(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(clean) => Cow::Owned(String::from_utf8_lossy(&clean).into_owned()),
        }
    }
}

/// Keeps of a name what needs no escape in JSON, in a terminal or in a log.
fn plain_name(name: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    name.chars().filter(is_plain).take(NAME_CHARS_MAX).collect()
}

impl Repository {
    /// Makes a redactor of the values of the project's copied configuration files that occur nowhere in `base`, and of
    /// `others` (provider keys), by their names; none when there is no value.
    ///
    /// # Errors
    /// When the project's files cannot be listed, or there are too many values to look for.
    pub fn redactor(
        &self,
        base: &CommitId,
        others: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Option<Redactor>, WorkspaceError> {
        let mut values: Vec<(String, String)> = Vec::new();
        if let Some(needles) = Needles::of(self.secrets(None)?)? {
            let mut public = BTreeSet::new();
            let looked = tree_objects(&self.git, base)
                .and_then(|named| objects(&self.git, &named))
                .and_then(|old| {
                    for_each(&self.git, &old, |_, contents| {
                        public.extend(needles.found_in(contents));
                    })
                });
            // a base that cannot be looked through acquits nothing: better a word too many taken out than a secret shown
            if let Err(error) = looked {
                tracing::warn!(%error, "cannot tell which values of the configuration files are public");
                public.clear();
            }
            let secret = needles.secrets.into_iter().enumerate();
            let secret = secret.filter(|(number, _)| !public.contains(number));
            values.extend(secret.map(|(_, (_, secret))| (secret.name, secret.value)));
        }
        values.extend(others);
        Redactor::of(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor() -> Redactor {
        let values = [
            ("API_KEY", "sk-live-0123456789"),
            ("NOTE", "say \"hello\" twice"),
            ("SHORT", "abc"),
            ("ODD [\"name\"]", "another-secret"),
        ];
        let owned = values.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Redactor::of(owned).unwrap().unwrap()
    }

    #[test]
    fn each_form_of_a_value_is_replaced_by_its_name() {
        let redactor = redactor();
        for (text, clean) in [
            ("nothing, abc", "nothing, abc"),
            (
                "a sk-live-0123456789 b sk-live-0123456789",
                "a [redacted: API_KEY] b [redacted: API_KEY]",
            ),
            // base64 of "x:sk-live-0123456789": the last digit holds a few bits of the value only
            (
                "Basic eDpzay1saXZlLTAxMjM0NTY3ODk=",
                "Basic eDp[redacted: API_KEY]k=",
            ),
            ("sk%2Dlive%2D0123456789", "sk%2Dlive%2D0123456789"),
            (
                "736b2d6c6976652d30313233343536373839",
                "[redacted: API_KEY]",
            ),
            (
                "736B2D6C6976652D30313233343536373839",
                "[redacted: API_KEY]",
            ),
            (
                r#"{"text":"say \"hello\" twice"}"#,
                r#"{"text":"[redacted: NOTE]"}"#,
            ),
            ("another-secret", "[redacted: ODDname]"),
        ] {
            assert_eq!(redactor.redact_text(text), clean, "{text}");
            assert_eq!(redactor.is_in(text.as_bytes()), text != clean, "{text}");
        }
    }

    #[test]
    fn values_are_in_no_message_and_short_ones_make_no_redactor() {
        assert!(!format!("{:?}", redactor()).contains("sk-live"));
        let short = Redactor::of([("A".to_owned(), "1234567".to_owned())]);
        assert!(short.unwrap().is_none());
    }

    #[test]
    fn names_promise_secrets() {
        for name in [
            "ANTHROPIC_API_KEY",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "db_password",
            "PGPASSWORD",
            "AWS_SECRET_ACCESS_KEY",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "HOME",
            "ANTHROPIC_BASE_URL",
            "SSH_AUTH_SOCK",
            "KEY_FILE",
            "TOKEN_PATH",
            "GIT_AUTHOR_NAME",
            "KEYBOARD_LAYOUT",
            "MAX_THINKING_TOKENS",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn the_secret_of_an_address_is_its_password() {
        for (name, value, secret) in [
            ("API_KEY", "https://a", Some("https://a")),
            (
                "DATABASE_URL",
                "postgres://me:p4ss:word@db:5/x?y=1",
                Some("p4ss:word"),
            ),
            ("HTTPS_PROXY", "http://proxy:3128/a@b", None),
            ("HTTPS_PROXY", "http://me@proxy:3128", None),
            ("HOME", "/home/me:you@x", None),
        ] {
            assert_eq!(secret_of_variable(name, value), secret, "{name}={value}");
        }
    }
}

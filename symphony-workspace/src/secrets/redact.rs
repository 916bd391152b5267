//! Taking secret values out of what is written down: logs, texts of agents, the end of an output.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;

use super::finder::SecretName;
use super::patterns::Patterns;
use super::scan::Needles;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::Git;
use crate::repository::Repository;

/// Shortest value that is taken out, in characters: shorter ones occur everywhere.
const VALUE_CHARS_MIN: usize = 8;
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
/// Suffixes of a name that points to a secret, and holds none itself.
const LEADING_ENDS: &[&str] = &["_PATH", "_FILE", "_DIR", "_SOCK", "_TTL_MS"];

/// Replaces secret values, plain or encoded, by their names. The values are in no message of it.
pub struct Redactor {
    /// The values of copied files, some of which the base may have in its own files, and those that are secret for
    /// sure.
    values: Vec<Value>,
    /// The patterns of all values.
    all: Patterns,
    /// Where the values of copied files are looked up when one is met for the first time: honest output holds none, and
    /// a large repository takes seconds.
    base: Option<Base>,
    /// The patterns of the values that are secret.
    secret: OnceLock<SecretPatterns>,
}

/// The patterns of the secret values, after searching the base.
enum SecretPatterns {
    /// All of them: the base has no value in its own files.
    All,
    /// All but the values with these numbers, which the base has; no patterns when it has every value.
    AllBut(BTreeSet<usize>, Option<Patterns>),
}

struct Value {
    name: String,
    secret: String,
    /// Its number among the copied files' values, and its file.
    copied: Option<(usize, PathBuf)>,
}

impl Value {
    fn is_public(&self, public: &BTreeSet<usize>) -> bool {
        let copied = self.copied.as_ref();
        copied.is_some_and(|(number, _)| public.contains(number))
    }

    /// Names the value without showing it.
    fn source(&self) -> String {
        match &self.copied {
            Some((_, file)) => {
                let (file, name) = (file.clone(), self.name.clone());
                SecretName { file, name }.to_string()
            }
            None => format!("`{}`, one of your own keys", self.name),
        }
    }
}

struct Base {
    git: Git,
    commit: CommitId,
    needles: Needles,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} patterns)", self.all.len())
    }
}

/// Returns whether a variable's name suggests a secret: one of its words ends in a word such as `TOKEN`, and the name
/// does not end in one that leads to a secret, such as `_PATH`.
pub fn is_secret_name(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let is_secret_word = |word: &str| SECRET_WORDS.iter().any(|end| word.ends_with(end));
    upper
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(is_secret_word)
        && !LEADING_ENDS.iter().any(|end| upper.ends_with(end))
}

/// Returns the secret of a variable: the whole value if its name suggests one, else the password in a URL.
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
    /// Creates a redactor of named values; `None` if no value is long enough.
    ///
    /// # Errors
    /// When there are too many values to look for.
    pub fn of(
        values: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Option<Self>, WorkspaceError> {
        let values = values.into_iter().map(|(name, secret)| Value {
            name,
            secret,
            copied: None,
        });
        Self::make(values.collect(), None)
    }

    fn make(mut values: Vec<Value>, base: Option<Base>) -> Result<Option<Self>, WorkspaceError> {
        values.retain(|value| value.secret.chars().count() >= VALUE_CHARS_MIN);
        let Some(all) = patterns(&values, &BTreeSet::new())? else {
            return Ok(None);
        };
        Ok(Some(Self {
            values,
            all,
            base,
            secret: OnceLock::new(),
        }))
    }

    /// Returns whether a text holds a value.
    pub fn is_in(&self, text: &[u8]) -> bool {
        // Honest output holds no value at all, and then the base need not be searched.
        let may_be = self.secret.get().is_some() || self.all.is_in(text);
        may_be && self.secret().is_some_and(|secret| secret.is_in(text))
    }

    /// Names the values that a text holds, each once, without showing them: the key and its file, or a key of the user.
    pub fn sources_in(&self, text: &[u8]) -> Vec<String> {
        if !self.is_in(text) {
            return Vec::new();
        }
        let none = BTreeSet::new();
        let public = match self.secret.get() {
            Some(SecretPatterns::AllBut(public, _)) => public,
            Some(SecretPatterns::All) | None => &none,
        };
        let is_held = |value: &&Value| {
            let alone = Patterns::of([(value.name.as_str(), value.secret.as_str())]);
            // One value makes fewer patterns than all of them did.
            let alone = alone.ok().flatten();
            !value.is_public(public) && alone.is_some_and(|alone| alone.is_in(text))
        };
        let held = self.values.iter().filter(is_held).map(Value::source);
        held.collect::<BTreeSet<String>>().into_iter().collect()
    }

    /// Replaces every value; borrows the text if it holds none.
    pub fn redact<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        self.redact_from(text, 0)
            .map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// Replaces every value in a text.
    pub fn redact_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.redact(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(clean) => Cow::Owned(String::from_utf8_lossy(&clean).into_owned()),
        }
    }

    /// Returns the rest of a text from a position, without its values, including those that begin before the position.
    /// `None` if there are none.
    pub(super) fn redact_from(&self, text: &[u8], from: usize) -> Option<Vec<u8>> {
        let rest = |at: usize| text.get(at..).unwrap_or_default();
        if !self.is_in(text) {
            return None;
        }
        let mut clean = Vec::with_capacity(text.len());
        let mut at = from;
        let hits = self.secret().map(|secret| secret.find(text));
        for (range, shown) in hits.unwrap_or_default() {
            if range.end <= at {
                continue;
            }
            clean.extend_from_slice(text.get(at..range.start).unwrap_or_default());
            clean.extend_from_slice(shown.as_bytes());
            at = range.end;
        }
        clean.extend_from_slice(rest(at));
        Some(clean)
    }

    /// Returns whether a text ends with the beginning of a value.
    pub(super) fn may_go_on(&self, text: &[u8]) -> bool {
        self.all.may_go_on(text)
    }

    /// Returns the patterns of the secret values; `None` if the base has all of them.
    fn secret(&self) -> Option<&Patterns> {
        let look = || {
            let public = self.base.as_ref().map(Base::public_values);
            let public = public.unwrap_or_default();
            if public.is_empty() {
                return SecretPatterns::All;
            }
            let left = patterns(&self.values, &public).unwrap_or_else(|error| {
                // as many patterns at most as were built before
                tracing::warn!(%error, "cannot look for secret values");
                None
            });
            SecretPatterns::AllBut(public, left)
        };
        match self.secret.get_or_init(look) {
            SecretPatterns::All => Some(&self.all),
            SecretPatterns::AllBut(_, secret) => secret.as_ref(),
        }
    }
}

fn patterns(
    values: &[Value],
    public: &BTreeSet<usize>,
) -> Result<Option<Patterns>, WorkspaceError> {
    let secret = values.iter().filter(|value| !value.is_public(public));
    Patterns::of(secret.map(|value| (value.name.as_str(), value.secret.as_str())))
}

impl Base {
    /// Returns the numbers of the values that the base has in its own files.
    fn public_values(&self) -> BTreeSet<usize> {
        match self.needles.occurring_in(&self.git, &self.commit) {
            Ok(public) => public,
            // A base that cannot be searched clears no value: better to remove one word too many than to show a secret.
            Err(error) => {
                tracing::warn!(%error, "cannot tell which values of the configuration files are public");
                BTreeSet::new()
            }
        }
    }
}

impl Repository {
    /// Creates a redactor of the values of the project's copied configuration files that occur nowhere in `base`
    /// (without one, of all of them), and of `others` (provider keys), by their names; `None` if there is no value.
    ///
    /// # Errors
    /// When the project's files cannot be listed, or there are too many values to look for.
    pub fn redactor(
        &self,
        base: Option<&CommitId>,
        others: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Option<Redactor>, WorkspaceError> {
        let mut values: Vec<Value> = Vec::new();
        let mut looked_up = None;
        if let Some(needles) = Needles::of(self.secrets(None)?)? {
            let copied = needles.secrets.iter().enumerate();
            values.extend(copied.map(|(number, (file, secret))| Value {
                name: secret.name.clone(),
                secret: secret.value.clone(),
                copied: Some((number, file.clone())),
            }));
            looked_up = base.map(|base| Base {
                git: self.git.clone(),
                commit: base.clone(),
                needles,
            });
        }
        values.extend(others.into_iter().map(|(name, secret)| Value {
            name,
            secret,
            copied: None,
        }));
        Redactor::make(values, looked_up)
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
            // wrapped by the program that printed it, in a text and in one that JSON quotes
            (
                "x c2stbGl2ZS0w\nMTIzNDU2Nzg5\ny",
                "x [redacted: API_KEY]\ny",
            ),
            (
                r#"{"t":"736b2d6c6976\n652d30313233343536\r\n373839"}"#,
                r#"{"t":"[redacted: API_KEY]"}"#,
            ),
            (
                "sk-live-\n0123456789\nsk-live-0123456789",
                "[redacted: API_KEY]\n[redacted: API_KEY]",
            ),
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

//! The token of a tracker: a value that shows itself nowhere.

use std::fmt;

use symphony_core::config::{CommandLine, TokenSource};

/// Longest token, in bytes. GitHub's and Linear's have at most a few hundred; those of apps can be a signed JSON.
pub const TOKEN_BYTES_MAX: usize = 8 * 1024;

/// Shortest token, in bytes: redacting a shorter text would tear other words apart.
pub const TOKEN_BYTES_MIN: usize = 8;

/// How long a command may take to print a token, in milliseconds. `gh auth token` takes a tenth of a second; a keychain can
/// ask its owner.
pub const TOKEN_COMMAND_MS_MAX: u64 = 20_000;

/// What stands in a text where the token was.
pub(crate) const REDACTED: &str = "[token]";

/// A token. `Debug` shows nothing of it, it has no `Display`, and it cannot be serialised.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// Why a text is not a token. The text itself is not repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The variable is not set, or empty.
    #[error("the variable {name} is not set")]
    NoVariable {
        /// Its name.
        name: String,
    },
    /// There is nothing on the first line.
    #[error("the token is empty")]
    Empty,
    /// The text is shorter or longer than any token.
    #[error("the token has {found} bytes; a token has {TOKEN_BYTES_MIN} to {TOKEN_BYTES_MAX}")]
    Length {
        /// How long it is.
        found: usize,
    },
    /// A character that no header of HTTP can carry, at this place.
    #[error("character {place} of the token is not printable ASCII")]
    Character {
        /// Its number, from 1.
        place: usize,
    },
}

impl Token {
    /// Takes the first line of a text, without the white space around it: the value of a variable, or what a command printed.
    ///
    /// # Errors
    ///
    /// [`TokenError`] if it is empty, has an impossible length, or a character that a header cannot carry.
    pub fn first_line(text: &str) -> Result<Self, TokenError> {
        let line = text.lines().next().unwrap_or_default().trim();
        if line.is_empty() {
            return Err(TokenError::Empty);
        }
        if !(TOKEN_BYTES_MIN..=TOKEN_BYTES_MAX).contains(&line.len()) {
            return Err(TokenError::Length { found: line.len() });
        }
        match line.chars().position(|c| !c.is_ascii_graphic()) {
            Some(at) => Err(TokenError::Character { place: at + 1 }),
            None => Ok(Self(line.to_owned())),
        }
    }

    /// Replaces every occurrence in a text.
    pub fn redact(&self, text: &str) -> String {
        text.replace(&self.0, REDACTED)
    }

    /// Returns the text, for the header that carries it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// What has to be done to get a token.
#[derive(Debug)]
pub enum TokenStep<'a> {
    /// It is here.
    Have(Token),
    /// The caller runs this command with the user's environment, for at most [`TOKEN_COMMAND_MS_MAX`], and gives what it
    /// prints to [`Token::first_line`]. This crate starts no process: they belong to the runner.
    Run(&'a CommandLine),
}

/// Reads a token from the environment, or says which command prints it.
///
/// # Errors
///
/// [`TokenError`] if the variable is not set, or does not hold a token.
pub fn token(
    source: &TokenSource,
    variable: impl FnOnce(&str) -> Option<String>,
) -> Result<TokenStep<'_>, TokenError> {
    match source {
        TokenSource::Variable(name) => match variable(name) {
            Some(text) if !text.trim().is_empty() => {
                Token::first_line(text.trim_start()).map(TokenStep::Have)
            }
            _ => Err(TokenError::NoVariable { name: name.clone() }),
        },
        TokenSource::Command(line) => Ok(TokenStep::Run(line)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_the_token() {
        let token = Token::first_line("  ghp_0123456789 \r\nsecond\n").unwrap();
        assert_eq!(token.reveal(), "ghp_0123456789");
        assert_eq!(format!("{token:?}"), "Token(..)");
        assert_eq!(
            token.redact("bad ghp_0123456789, ghp_0123456789"),
            "bad [token], [token]"
        );
    }

    #[test]
    fn what_is_no_token_is_named_and_not_repeated() {
        let table = [
            ("", TokenError::Empty),
            ("\nghp_0123456789", TokenError::Empty),
            ("short", TokenError::Length { found: 5 }),
            ("ghp_01234 6789", TokenError::Character { place: 10 }),
            ("ghp_0123456789ü", TokenError::Character { place: 15 }),
        ];
        for (text, expected) in table {
            assert_eq!(Token::first_line(text), Err(expected), "{text}");
        }
        let long = "x".repeat(TOKEN_BYTES_MAX + 1);
        let found = long.len();
        assert_eq!(Token::first_line(&long), Err(TokenError::Length { found }));
    }

    #[test]
    fn a_variable_is_read_and_a_command_is_left_to_the_caller() {
        let variable = TokenSource::Variable("GITHUB_TOKEN".to_owned());
        let read = |name: &str| (name == "GITHUB_TOKEN").then(|| "ghp_0123456789\n".to_owned());
        assert!(matches!(token(&variable, read), Ok(TokenStep::Have(_))));
        assert_eq!(
            token(&variable, |_| Some(" ".to_owned())).unwrap_err(),
            TokenError::NoVariable {
                name: "GITHUB_TOKEN".to_owned()
            }
        );
        let line = CommandLine::Shell("gh auth token".to_owned());
        let command = TokenSource::Command(line.clone());
        let step = token(&command, |_| None).unwrap();
        assert!(matches!(step, TokenStep::Run(found) if *found == line));
    }
}

//! What came back, and how its JSON is read.

use reqwest::header::HeaderMap;
use serde::de::DeserializeOwned;
use symphony_core::Timestamp;
use symphony_tracker::fault::Fault;

use super::date::http_date;
use super::limits::DETAIL_CHARS_MAX;
use crate::token::Token;

/// An answer whose body is complete.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    /// Whether the request was led to another address of the same server.
    pub(crate) was_moved: bool,
}

impl Answer {
    /// Returns a header's text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns a header's number.
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        self.header(name).and_then(|text| text.trim().parse().ok())
    }

    /// Returns the server's time when it answered.
    pub(crate) fn answered_at(&self) -> Option<Timestamp> {
        self.header("date").and_then(http_date)
    }

    /// Reads the body as what the API promises; the error names the place in it.
    pub(crate) fn read<T: DeserializeOwned>(&self, what: &str, token: &Token) -> Result<T, Fault> {
        let mut reader = serde_json::Deserializer::from_slice(&self.body);
        let read = serde_path_to_error::deserialize(&mut reader);
        let value = read.map_err(|error| {
            let place = error.path().to_string();
            let detail = format!("{what}, at `{place}`: {}", error.into_inner());
            Fault::Unreadable {
                detail: shortened(&detail, token),
            }
        })?;
        reader.end().map_err(|error| Fault::Unreadable {
            detail: shortened(&format!("{what}: {error}"), token),
        })?;
        Ok(value)
    }

    /// Returns the beginning of the body, fit for an error.
    pub(crate) fn beginning(&self, token: &Token) -> String {
        shortened(&String::from_utf8_lossy(&self.body), token)
    }
}

/// Returns the beginning of a text of a tracker: on one line, without control characters, and without the token.
///
/// The token is removed before the text is cut, since half a token is not found any more.
pub(crate) fn shortened(text: &str, token: &Token) -> String {
    let clean: String = token
        .redact(text)
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let mut words = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = words.char_indices().nth(DETAIL_CHARS_MAX) {
        words.truncate(end);
        words.push('…');
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> Token {
        Token::first_line("ghp_0123456789").unwrap()
    }

    fn answer(body: &str) -> Answer {
        Answer {
            status: 200,
            headers: HeaderMap::new(),
            body: body.as_bytes().to_vec(),
            was_moved: false,
        }
    }

    #[test]
    fn an_answer_that_breaks_the_promise_is_named_by_its_place() {
        #[derive(Debug, serde::Deserialize)]
        struct Item {
            #[expect(dead_code, reason = "only read")]
            number: u64,
        }
        let read = |body: &str| {
            let fault = answer(body).read::<Vec<Item>>("issues", &token());
            let Err(Fault::Unreadable { detail }) = fault else {
                panic!("{fault:?}")
            };
            detail
        };
        assert!(
            read(r#"[{"number": 1}, {"number": "two"}]"#).starts_with("issues, at `[1].number`"),
        );
        assert!(read(r#"[{"number": 1}"#).contains("EOF"));
        assert!(read("[] []").starts_with("issues: trailing characters"));
        assert!(read("<html>").starts_with("issues, at `"));
        let echoed = read(r#"[{"number": "ghp_0123456789"}]"#);
        assert!(!echoed.contains("ghp_0123456789"), "{echoed}");
    }

    #[test]
    fn words_of_a_tracker_are_cut_and_cleaned_and_never_hold_the_token() {
        assert_eq!(shortened("a\n\u{1b}[31mb\tc", &token()), "a [31mb c");
        let long = format!("{}ghp_0123456789", "x".repeat(DETAIL_CHARS_MAX - 4));
        let cut = shortened(&long, &token());
        assert!(!cut.contains("ghp"), "{cut}");
        assert_eq!(cut.chars().count(), DETAIL_CHARS_MAX + 1);
    }
}

//! A reader of JSON lines that decodes only what is needed.
//!
//! Most of a stream is text of which a log line shows the beginning and which no one else reads. So a line is walked
//! once, strings are skipped with `memchr`, and a value stays a slice ([`Raw`]) until it is needed. A value of an
//! unexpected type is no error: the accessors return `None`, so that a changed field in a CLI's next version loses that
//! field and not the line.
//!
//! Only the structure is checked: braces, quotes, colons and commas up to the end of the line. A line that was cut is
//! always detected; the spelling of a number or a word that no one reads is not checked.

use memchr::memchr;

use super::decode::decode;

/// Strings up to this length are searched byte by byte.
const SHORT_STRING_BYTES: usize = 24;

/// The line is not valid JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Broken;

/// A position in a line.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// One JSON value, as its bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Raw<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    /// Starts at the first byte.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Walks an object: `field` gets each key (as written, without its quotes) and must consume the value. Other values
    /// are skipped.
    pub(crate) fn object(
        &mut self,
        mut field: impl FnMut(&mut Self, &'a [u8]) -> Result<(), Broken>,
    ) -> Result<(), Broken> {
        if self.peek()? != b'{' {
            return self.skip().map(drop);
        }
        let mut key = self.first_key()?;
        while let Some(found) = key {
            field(self, found)?;
            key = self.next_key()?;
        }
        Ok(())
    }

    /// Enters an object; returns its first key, or `None` if it is empty.
    pub(crate) fn first_key(&mut self) -> Result<Option<&'a [u8]>, Broken> {
        self.expect(b'{')?;
        if self.peek()? == b'}' {
            self.at += 1;
            return Ok(None);
        }
        self.key().map(Some)
    }

    /// Returns the next key after a value, or `None` at the object's end.
    pub(crate) fn next_key(&mut self) -> Result<Option<&'a [u8]>, Broken> {
        match self.next()? {
            b',' => self.key().map(Some),
            b'}' => Ok(None),
            _ => Err(Broken),
        }
    }

    fn key(&mut self) -> Result<&'a [u8], Broken> {
        if self.peek()? != b'"' {
            return Err(Broken);
        }
        let key = self.string()?;
        self.expect(b':')?;
        Ok(key)
    }

    /// Walks an array: `element` must consume each value. Other values are skipped.
    pub(crate) fn array(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<(), Broken>,
    ) -> Result<(), Broken> {
        if self.peek()? != b'[' {
            return self.skip().map(drop);
        }
        self.at += 1;
        if self.peek()? == b']' {
            self.at += 1;
            return Ok(());
        }
        loop {
            element(self)?;
            match self.next()? {
                b',' => {}
                b']' => return Ok(()),
                _ => return Err(Broken),
            }
        }
    }

    /// Skips a value and returns it.
    pub(crate) fn skip(&mut self) -> Result<Raw<'a>, Broken> {
        let first = self.peek()?;
        let begin = self.at;
        match first {
            b'"' => {
                self.string()?;
            }
            b'{' | b'[' => self.skip_nested()?,
            b'}' | b']' | b',' | b':' => return Err(Broken),
            _ => self.skip_word(),
        }
        Ok(Raw(self.bytes.get(begin..self.at).unwrap_or_default()))
    }

    /// Succeeds if only white space is left.
    pub(crate) fn end(&mut self) -> Result<(), Broken> {
        self.skip_space();
        if self.at == self.bytes.len() {
            Ok(())
        } else {
            Err(Broken)
        }
    }

    /// Returns the next byte that is not white space, without consuming it.
    pub(crate) fn peek(&mut self) -> Result<u8, Broken> {
        self.skip_space();
        self.bytes.get(self.at).copied().ok_or(Broken)
    }

    fn next(&mut self) -> Result<u8, Broken> {
        let found = self.peek()?;
        self.at += 1;
        Ok(found)
    }

    fn expect(&mut self, byte: u8) -> Result<(), Broken> {
        if self.next()? == byte {
            Ok(())
        } else {
            Err(Broken)
        }
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    /// Consumes the string that begins here; returns what is between its quotes.
    fn string(&mut self) -> Result<&'a [u8], Broken> {
        let begin = self.at + 1;
        let rest = self.bytes.get(begin..).ok_or(Broken)?;
        let short = rest.iter().take(SHORT_STRING_BYTES);
        // Most strings are names: checking their few bytes is faster than a call of `memchr`.
        for (length, byte) in short.enumerate() {
            match byte {
                b'"' => {
                    self.at = begin + length + 1;
                    return rest.get(..length).ok_or(Broken);
                }
                b'\\' => break,
                _ => {}
            }
        }
        self.long_string(begin)
    }

    /// Searches for quotes only, which are rarer than escapes, and counts back the backslashes before each. No
    /// backslash is seen twice, since a quote ends their run.
    fn long_string(&mut self, begin: usize) -> Result<&'a [u8], Broken> {
        let mut at = begin;
        loop {
            let rest = self.bytes.get(at..).ok_or(Broken)?;
            let length = memchr(b'"', rest).ok_or(Broken)?;
            let before = rest.get(..length).unwrap_or_default();
            let backslashes = before
                .iter()
                .rev()
                .take_while(|byte| **byte == b'\\')
                .count();
            at += length + 1;
            if backslashes.is_multiple_of(2) {
                self.at = at;
                return self.bytes.get(begin..at - 1).ok_or(Broken);
            }
        }
    }

    /// Consumes an array or object of any depth.
    fn skip_nested(&mut self) -> Result<(), Broken> {
        let mut depth = 0_usize;
        loop {
            match self.bytes.get(self.at).ok_or(Broken)? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        return Ok(());
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    fn skip_word(&mut self) {
        while let Some(byte) = self.bytes.get(self.at) {
            if matches!(
                byte,
                b',' | b'}' | b']' | b':' | b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'{' | b'['
            ) {
                break;
            }
            self.at += 1;
        }
    }
}

impl<'a> Raw<'a> {
    /// Returns the bytes as they are written.
    pub(crate) fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// Returns a cursor into the value.
    pub(crate) fn cursor(self) -> Cursor<'a> {
        Cursor::new(self.0)
    }

    /// Returns whether it is missing or `null`.
    pub(crate) fn is_none(self) -> bool {
        self.0.is_empty() || self.0 == b"null"
    }

    /// Returns whether it is `true`.
    pub(crate) fn is_true(self) -> bool {
        self.0 == b"true"
    }

    /// Returns whether it is a string.
    pub(crate) fn is_string(self) -> bool {
        self.0.first() == Some(&b'"')
    }

    /// Returns the bytes between the quotes if it is a string.
    fn string_bytes(self) -> Option<&'a [u8]> {
        self.0.strip_prefix(b"\"")?.strip_suffix(b"\"")
    }

    /// Compares it with a string that needs no escapes.
    pub(crate) fn is(self, text: &str) -> bool {
        self.string_bytes() == Some(text.as_bytes())
    }

    /// Decodes the beginning of a string, at most `bytes_max` bytes; `None` if it is no string. Invalid UTF-8 and lone
    /// surrogates become U+FFFD.
    pub(crate) fn text(self, bytes_max: usize) -> Option<String> {
        self.string_bytes().map(|bytes| decode(bytes, bytes_max))
    }

    /// Returns a non-negative integer.
    pub(crate) fn unsigned(self) -> Option<u64> {
        str::from_utf8(self.0).ok()?.parse().ok()
    }

    /// Returns a number.
    pub(crate) fn float(self) -> Option<f64> {
        let first = self.0.first()?;
        if !first.is_ascii_digit() && *first != b'-' {
            return None;
        }
        str::from_utf8(self.0).ok()?.parse().ok()
    }

    /// Returns a number that can be an HTTP status.
    pub(crate) fn http_status(self) -> Option<u16> {
        let status = u16::try_from(self.unsigned()?).ok()?;
        (100..1000).contains(&status).then_some(status)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Number, Value};

    use super::*;

    /// Reads a whole value with the cursor, to be compared with what `serde_json` reads.
    fn read(cursor: &mut Cursor<'_>) -> Result<Value, Broken> {
        match cursor.peek()? {
            b'{' => {
                let mut entries = Map::new();
                cursor.object(|cursor, key| {
                    let quoted = [b"\"", key, b"\""].concat();
                    let key = Raw(&quoted).text(usize::MAX).unwrap();
                    entries.insert(key, read(cursor)?);
                    Ok(())
                })?;
                Ok(Value::Object(entries))
            }
            b'[' => {
                let mut items = Vec::new();
                cursor.array(|cursor| {
                    items.push(read(cursor)?);
                    Ok(())
                })?;
                Ok(Value::Array(items))
            }
            _ => {
                let raw = cursor.skip()?;
                let number = || {
                    let whole = raw.unsigned().map(Number::from);
                    whole.or_else(|| raw.float().and_then(Number::from_f64))
                };
                Ok(match raw.bytes() {
                    b"null" => Value::Null,
                    b"true" => Value::Bool(true),
                    b"false" => Value::Bool(false),
                    _ => raw
                        .text(usize::MAX)
                        .map(Value::String)
                        .or_else(|| number().map(Value::Number))
                        .unwrap(),
                })
            }
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<u64>().prop_map(Value::from),
            (-1e9..1e9_f64).prop_map(|number| Value::from(number.trunc() + 0.5)),
            any::<String>().prop_map(Value::from),
            "[\"\\\\/{}\\[\\],:\u{0}-\u{1f}é😀]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..5)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn reads_what_serde_json_reads(value in values(), pretty in any::<bool>()) {
            let text = if pretty { format!("{value:#}") } else { value.to_string() };
            let mut cursor = Cursor::new(text.as_bytes());
            prop_assert_eq!(read(&mut cursor), Ok(value));
            prop_assert_eq!(cursor.end(), Ok(()));
            let mut skipping = Cursor::new(text.as_bytes());
            prop_assert_eq!(skipping.skip().unwrap().bytes(), text.trim().as_bytes());
            prop_assert_eq!(skipping.end(), Ok(()));
        }

        #[test]
        fn a_cut_object_is_broken(entries in prop::collection::btree_map(".{0,3}", values(), 1..4), cut in any::<prop::sample::Index>()) {
            let text = Value::Object(entries.into_iter().collect()).to_string();
            let cut = cut.index(text.len());
            let mut cursor = Cursor::new(&text.as_bytes()[..cut]);
            let read = cursor.object(|cursor, _| cursor.skip().map(drop));
            prop_assert_eq!(read, Err(Broken));
        }

        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(prop::sample::select(b"{}[]\",:\\u0dn1 \xff\xc3".to_vec()), 0..40), limit in 0_usize..20) {
            let mut cursor = Cursor::new(&bytes);
            if let Ok(raw) = cursor.skip() {
                prop_assert!(raw.text(limit).is_none_or(|text| text.len() <= limit));
            }
            let mut walking = Cursor::new(&bytes);
            // Either answer is right: what counts is that it comes.
            let _walked = walking.object(|cursor, _| cursor.array(|cursor| cursor.skip().map(drop)));
        }
    }

    #[test]
    fn text_decodes_escapes_and_stops_at_the_limit() {
        let cases: &[(&[u8], usize, Option<&str>)] = &[
            (br#""plain""#, 100, Some("plain")),
            (br#""""#, 100, Some("")),
            (br#""a\nb\t\"c\"\\\/""#, 100, Some("a\nb\t\"c\"\\/")),
            (br#""\u00e9\ud83d\ude00!""#, 100, Some("é😀!")),
            (br#""\ud83d x""#, 100, Some("\u{fffd} x")),
            (br#""\udc00\ud83d\u0041""#, 100, Some("\u{fffd}\u{fffd}A")),
            (br#""\uZZZZ""#, 100, Some("\u{fffd}ZZZZ")),
            (br#""abcdef""#, 3, Some("abc")),
            (br#""ab\ncd""#, 3, Some("ab\n")),
            ("\"aé\"".as_bytes(), 2, Some("a")),
            ("\"é\"".as_bytes(), 1, Some("")),
            (b"\"a\xffb\"", 100, Some("a\u{fffd}b")),
            (b"\"a\xffb\"", 2, Some("a")),
            (b"42", 100, None),
            (b"null", 100, None),
            (b"\"", 100, None),
        ];
        for (json, limit, expected) in cases {
            assert_eq!(
                Raw(json).text(*limit).as_deref(),
                *expected,
                "{} at {limit}",
                String::from_utf8_lossy(json)
            );
        }
    }

    #[test]
    fn accessors_answer_none_where_the_type_does_not_fit() {
        let raw = |text: &'static str| Raw(text.as_bytes());
        assert_eq!(raw("7").unsigned(), Some(7));
        assert_eq!(raw("-7").unsigned(), None);
        assert_eq!(raw("7.5").unsigned(), None);
        assert_eq!(raw("\"7\"").unsigned(), None);
        assert_eq!(raw("7.5e1").float(), Some(75.0));
        assert_eq!(raw("NaN").float(), None);
        assert_eq!(raw("\"inf\"").float(), None);
        assert_eq!(raw("429").http_status(), Some(429));
        assert_eq!(raw("99999").http_status(), None);
        assert!(raw("null").is_none() && Raw::default().is_none() && !raw("0").is_none());
        assert!(raw("true").is_true() && !raw("\"true\"").is_true());
        assert!(raw("\"a\"").is("a") && !raw("a").is("a"));
    }
}

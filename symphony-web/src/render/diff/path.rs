//! Paths in the head of a diff, as git writes them.

/// Reads a path to the end of a line: quoted where it has special characters; a tab may end it.
pub(super) fn to_end(text: &str) -> String {
    match unquoted(text) {
        Some((path, _)) => path,
        None => text.trim_end_matches(['\t', '\r']).to_owned(),
    }
}

/// Takes the side's prefix off a path (`a/` and `b/`, or the ones of `diff.mnemonicPrefix`).
pub(super) fn without_prefix(path: String) -> String {
    let rest = ["a/", "b/", "i/", "w/", "c/", "o/"]
        .iter()
        .find_map(|prefix| path.strip_prefix(prefix));
    rest.map(str::to_owned).unwrap_or(path)
}

/// Reads both paths of `diff --git a/old b/new`. Unquoted paths may have spaces: then they are the same path twice, or
/// lines further on (`rename from`) name them.
pub(super) fn pair(text: &str) -> Option<(String, String)> {
    let text = text.trim_end_matches('\r');
    let (old, new) = if let Some((old, rest)) = unquoted(text) {
        (old, to_end(rest.strip_prefix(' ')?))
    } else if let Some(at) = text.find(" \"").filter(|_| text.ends_with('"')) {
        let (old, new) = text.split_at(at);
        (old.to_owned(), to_end(new.get(1..)?))
    } else {
        halves(text)?
    };
    Some((without_prefix(old), without_prefix(new)))
}

/// Splits at the space between two equal paths; else at the first space before a prefix.
fn halves(text: &str) -> Option<(String, String)> {
    let spaces = || text.match_indices(' ').map(|(at, _)| at);
    let split = |at: usize| Some((text.get(..at)?, text.get(at + 1..)?));
    let path = |side: &str| without_prefix(side.to_owned());
    let equal = split(text.len() / 2).filter(|(old, new)| {
        text.as_bytes().get(text.len() / 2) == Some(&b' ') && path(old) == path(new)
    });
    let (old, new) = equal
        .or_else(|| {
            spaces()
                .filter_map(split)
                .find(|(_, new)| new.starts_with("b/"))
        })
        .or_else(|| spaces().find_map(split))?;
    Some((old.to_owned(), new.to_owned()))
}

/// Reads a path in double quotes with the escapes of C; returns also what follows it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut bytes = Vec::new();
    let mut rest = text.strip_prefix('"')?.as_bytes();
    loop {
        let (first, after) = rest.split_first()?;
        rest = after;
        match first {
            b'"' => break,
            b'\\' => {
                let (escaped, after) = rest.split_first()?;
                rest = after;
                bytes.push(match escaped {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'a' => 7,
                    b'b' => 8,
                    b'v' => 11,
                    b'f' => 12,
                    b'0'..=b'3' => {
                        let (low, after) = rest.split_at_checked(2)?;
                        rest = after;
                        let digit = |byte: &u8| byte.checked_sub(b'0').filter(|digit| *digit < 8);
                        let mut value = escaped - b'0';
                        for byte in low {
                            value = value * 8 + digit(byte)?;
                        }
                        value
                    }
                    other => *other,
                });
            }
            other => bytes.push(*other),
        }
    }
    let after = text.get(text.len() - rest.len()..)?;
    Some((String::from_utf8_lossy(&bytes).into_owned(), after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_head_are_read() {
        for (text, old, new) in [
            ("a/x b/x", "x", "x"),
            ("a/a b/c b/a b/c", "a b/c", "a b/c"),
            ("a/old b/new", "old", "new"),
            ("a/a b b/c d", "a b", "c d"),
            (r#""a/\303\274\n" "b/\"x\"""#, "ü\n", "\"x\""),
            (r#"a/x "b/\t""#, "x", "\t"),
            (r#""a/\t" b/x y"#, "\t", "x y"),
            ("x.rs x.rs", "x.rs", "x.rs"),
        ] {
            let expected = Some((old.to_owned(), new.to_owned()));
            assert_eq!(pair(text), expected, "{text}");
        }
        assert_eq!(pair("x"), None);
        assert_eq!(to_end("b/x y\t"), "b/x y");
        assert_eq!(to_end(r#""b/\399""#), r#""b/\399""#);
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC*|[ab/ \"\\\\0-9nté]{0,20}") {
            drop(pair(&text));
            drop(to_end(&text));
        }
    }
}

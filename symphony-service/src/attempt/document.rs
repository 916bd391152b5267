//! What a GraphQL document asks for: as much of the grammar (GraphQL, October 2021, sections 2.1 and 2.3) as is needed to
//! count its operations.

/// Counts the queries and mutations of a document.
///
/// Strings and comments may hold anything. What the grammar does not know counts for nothing: the tracker refuses it.
///
/// # Errors
/// When the document has a subscription, which has no answer over plain HTTP, or ends inside a block or a string.
pub(super) fn operations(document: &str) -> Result<u32, DocumentFault> {
    let mut rest = document;
    let mut depth = 0_u32;
    let mut count = 0_u32;
    // Whether the block that comes next has a heading, so that it is no short form of a query.
    let mut has_heading = false;
    while let Some(first) = rest.chars().next() {
        match first {
            '#' => rest = after_comment(rest),
            '"' => rest = after_string(rest).ok_or(DocumentFault::Unfinished)?,
            '{' | '(' | '[' => {
                if first == '{' && depth == 0 && !std::mem::take(&mut has_heading) {
                    count = count.saturating_add(1);
                }
                depth = depth.saturating_add(1);
                rest = after(rest, 1);
            }
            '}' | ')' | ']' => {
                depth = depth.saturating_sub(1);
                rest = after(rest, 1);
            }
            first if is_name(first) => {
                let length = rest.find(|next| !is_name(next)).unwrap_or(rest.len());
                let name = rest.get(..length).unwrap_or_default();
                // A field, a variable or the name of an operation may be called `query`: only a heading begins one.
                if depth == 0 && !has_heading {
                    match name {
                        "query" | "mutation" => count = count.saturating_add(1),
                        "subscription" => return Err(DocumentFault::Subscription),
                        _ => {}
                    }
                    has_heading = true;
                }
                rest = after(rest, length);
            }
            other => rest = after(rest, other.len_utf8()),
        }
    }
    if depth > 0 {
        return Err(DocumentFault::Unfinished);
    }
    Ok(count)
}

/// Why the operations of a document cannot be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum DocumentFault {
    /// It asks for news as they come.
    #[error("subscriptions are not supported: send a query or a mutation")]
    Subscription,
    /// It ends too early.
    #[error("the document ends inside a block or a string")]
    Unfinished,
}

fn is_name(character: char) -> bool {
    character == '_' || character.is_ascii_alphanumeric()
}

fn after(text: &str, length: usize) -> &str {
    text.get(length..).unwrap_or_default()
}

fn after_comment(text: &str) -> &str {
    text.find(['\n', '\r']).map_or("", |end| after(text, end))
}

/// Returns what follows a string or a block string; `None` if it has no end.
fn after_string(text: &str) -> Option<&str> {
    if let Some(block) = text.strip_prefix("\"\"\"") {
        let mut rest = block;
        loop {
            let end = rest.find("\"\"\"")?;
            let is_escaped = rest.get(..end).is_some_and(|text| text.ends_with('\\'));
            rest = after(rest, end + 3);
            if !is_escaped {
                return Some(rest);
            }
        }
    }
    let mut characters = text.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            '"' => return Some(after(text, at + 1)),
            '\n' => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_counted_and_nothing_else_is() {
        for (document, expected) in [
            ("", Ok(0)),
            ("# query { a }", Ok(0)),
            ("{ viewer { id } }", Ok(1)),
            ("query { viewer { id } }", Ok(1)),
            (
                "query query($query: String = \"}\") { mutation(query: $query) { query } }",
                Ok(1),
            ),
            ("query A @cached { a } mutation B { b }", Ok(2)),
            ("{ a } { b }", Ok(2)),
            ("query A { ...F } fragment F on Issue { id }", Ok(1)),
            ("fragment query on Issue { id }", Ok(0)),
            (
                "mutation M($i: In = {a: [1, {b: 2}]}) { c(i: $i) { id } }",
                Ok(1),
            ),
            ("{ a(t: \"query B { \\\" } # \") }", Ok(1)),
            ("{ a(t: \"\"\"mutation \\\"\"\" { \" } \"\"\") }", Ok(1)),
            ("\u{feff}{ a(t: \"ü{\") } # ü {", Ok(1)),
            ("subscription { a }", Err(DocumentFault::Subscription)),
            ("{ a", Err(DocumentFault::Unfinished)),
            ("{ a(t: \"b", Err(DocumentFault::Unfinished)),
            ("{ a(t: \"\"\"b\"\") }", Err(DocumentFault::Unfinished)),
        ] {
            assert_eq!(operations(document), expected, "{document}");
        }
    }
}

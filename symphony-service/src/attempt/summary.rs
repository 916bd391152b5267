//! One line about a message of the app-server, for people. Nothing is decided by it (section 13.6).

use serde_json::Value;

/// Longest line, in characters.
const CHARACTERS_MAX: usize = 200;

/// Where a message says in words what it is about, the best first.
const TEXTS: [&str; 10] = [
    "/item/command",
    "/item/text",
    "/item/tool",
    "/item/query",
    "/command",
    "/error/message",
    "/message",
    "/reason",
    "/msg/message",
    "/turn/error/message",
];

/// Returns the method, the kind of item, and the beginning of what it is about.
pub(super) fn summary(method: &str, params: &Value) -> String {
    let mut words = vec![method.to_owned()];
    let kinds = ["/item/type", "/msg/type", "/tool"];
    let kind = kinds.iter().find_map(|path| params.pointer(path)?.as_str());
    words.extend(kind.map(str::to_owned));
    let text = TEXTS.iter().find_map(|path| match params.pointer(path)? {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let parts: Option<Vec<&str>> = parts.iter().map(Value::as_str).collect();
            Some(parts?.join(" "))
        }
        _ => None,
    });
    words.extend(text);
    one_line(&words.join(" "))
}

/// Brings a text onto one line of bounded length, without control characters.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::new();
    let mut count = 0;
    let words = text
        .split(|character: char| character.is_whitespace() || character.is_control())
        .filter(|word| !word.is_empty());
    for (index, word) in words.enumerate() {
        let gap = (index > 0).then_some(' ');
        for character in gap.into_iter().chain(word.chars()) {
            if count == CHARACTERS_MAX {
                line.push('…');
                return line;
            }
            line.push(character);
            count += 1;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_has_method_kind_and_what_it_is_about() {
        for (params, expected) in [
            (json!({}), "m"),
            (json!(null), "m"),
            (
                json!({"item": {"type": "commandExecution", "command": "ls\n -l"}}),
                "m commandExecution ls -l",
            ),
            (
                json!({"msg": {"type": "error", "message": "a\u{1b}[31mb"}}),
                "m error a [31mb",
            ),
            (json!({"command": ["git", "status"]}), "m git status"),
        ] {
            assert_eq!(summary("m", &params), expected);
        }
    }

    #[test]
    fn a_line_is_bounded() {
        let long = one_line(&"ü ".repeat(100_000));
        assert_eq!(long.chars().count(), CHARACTERS_MAX + 1);
        assert_eq!(one_line(" \n\t"), "");
    }
}

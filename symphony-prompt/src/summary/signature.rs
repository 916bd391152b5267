//! The declarations in a code block: what other code may call is worth more than how it works.

/// Words that may stand in front of the word that declares something.
const MODIFIERS: [&str; 20] = [
    "abstract",
    "async",
    "const",
    "constexpr",
    "crate",
    "declare",
    "default",
    "export",
    "extern",
    "final",
    "inline",
    "internal",
    "open",
    "override",
    "private",
    "protected",
    "pub",
    "public",
    "static",
    "unsafe",
];

/// Words that declare something, in the languages that designs are written in most.
const DECLARES: [&str; 28] = [
    "class",
    "def",
    "enum",
    "fn",
    "fun",
    "func",
    "function",
    "impl",
    "interface",
    "message",
    "mod",
    "module",
    "namespace",
    "object",
    "package",
    "protocol",
    "record",
    "rpc",
    "service",
    "struct",
    "sub",
    "trait",
    "type",
    "typedef",
    "union",
    "create",
    "alter",
    "input",
];

/// What stands where lines were left out.
const GAP: &str = "…";

/// Shortens a code block to the lines that declare something, with its fences. None where nothing is declared, or nothing would be
/// left out.
///
/// Lines are recognised by their first words, in any language: a wrong guess only changes what a summary shows.
pub(super) fn signatures(block: &str) -> Option<String> {
    let mut kept: Vec<&str> = Vec::new();
    let mut left_out = 0_usize;
    let mut declared = false;
    let last = block.lines().count().saturating_sub(1);
    for (index, line) in block.lines().enumerate() {
        let fence = (index == 0 || index == last) && is_fence(line);
        let declares = !fence && is_declaration(line);
        if fence || declares {
            declared |= declares;
            kept.push(line.trim_end());
        } else {
            left_out += 1;
            if kept.last() != Some(&GAP) {
                kept.push(GAP);
            }
        }
    }
    (declared && left_out > 0).then(|| kept.join("\n"))
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// Says whether the first word that is no modifier declares something, and a name follows it.
fn is_declaration(line: &str) -> bool {
    let mut words = line
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .skip_while(|word| MODIFIERS.contains(word));
    let declares = words.next().is_some_and(|word| {
        DECLARES.contains(&word) || DECLARES.contains(&word.to_ascii_lowercase().as_str())
    });
    let begins = line.trim_start().starts_with(|c: char| c.is_alphabetic());
    declares && begins && words.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_told_in_many_languages() {
        for line in [
            "pub(crate) async fn load(path: &Path) -> Result<Config> {",
            "export default function main() {",
            "    def parse(self, text: str) -> Tree:",
            "class Cache:",
            "func (c *Cache) Get(key string) (string, bool) {",
            "CREATE TABLE runs (",
            "interface Store {",
            "export type Key = string;",
            "impl Store for Sqlite {",
            "public static class Node {",
        ] {
            assert!(is_declaration(line), "{line}");
        }
        for line in [
            "let fn_pointer = 1;",
            "return type;",
            "    x.def()",
            "// fn in a comment",
            "",
            "type",
            "classify(a, b)",
        ] {
            assert!(!is_declaration(line), "{line}");
        }
    }

    #[test]
    fn bodies_are_left_out_and_fences_stay() {
        assert_eq!(
            signatures("```rust\nuse std::fs;\nfn a() {\n    b();\n    c();\n}\nfn d();\n```")
                .as_deref(),
            Some("```rust\n…\nfn a() {\n…\nfn d();\n```")
        );
        assert_eq!(signatures("```\ncargo test\n```"), None);
        assert_eq!(
            signatures("```\nfn a();\n```"),
            None,
            "nothing to leave out"
        );
    }
}

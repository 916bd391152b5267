//! The declarations in a code block: what other code may call is worth more than how it works.

/// Words that may come before the word that declares something.
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

/// Declarations whose body is part of their interface: fields, columns, variants.
const DATA: [&str; 9] = [
    "create",
    "enum",
    "input",
    "interface",
    "message",
    "record",
    "struct",
    "type",
    "union",
];

/// First words of lines that look like `Type name(…)` but declare nothing.
const STATEMENTS: [&str; 18] = [
    "assert", "await", "case", "delete", "do", "echo", "else", "for", "if", "insert", "new",
    "return", "select", "switch", "throw", "use", "while", "yield",
];

/// Lines of one declaration that are kept: parameters, fields. A longer one loses its end.
const DECLARATION_LINES_MAX: usize = 12;

/// What marks left-out lines.
const GAP: &str = "…";

/// Shortens a code block to what it declares, with its fences. None where nothing is declared, or nothing would be left out.
///
/// Declarations are recognised by their first words, in any language, and kept up to the bracket that closes their parameters, or
/// their fields: a wrong guess only changes what a summary shows.
pub(super) fn signatures(block: &str) -> Option<String> {
    let kept = KeptLines::of(block, 0);
    (kept.declared && kept.left_out > 0).then(|| kept.lines.join("\n"))
}

/// Shortens a code block to its first lines, and to what it declares after them, with its fences.
pub(super) fn beginning_of_code(block: &str, lines: usize) -> String {
    KeptLines::of(block, lines).lines.join("\n")
}

/// What is kept of a code block.
struct KeptLines<'a> {
    lines: Vec<&'a str>,
    left_out: usize,
    /// Whether something is declared.
    declared: bool,
}

impl<'a> KeptLines<'a> {
    /// Keeps the first `whole` lines, and of the others those that declare something.
    fn of(block: &'a str, whole: usize) -> Self {
        let mut kept = Self {
            lines: Vec::new(),
            left_out: 0,
            declared: false,
        };
        let mut open: Option<Open> = None;
        let last = block.lines().count().saturating_sub(1);
        let has_fence = block.lines().next().is_some_and(is_fence);
        for (index, line) in block.lines().enumerate() {
            let fence = (index == 0 || index == last) && is_fence(line);
            open = match open {
                Some(open) if !fence => open.goes_on(line),
                _ => None,
            }
            .or_else(|| declaration(line).filter(|_| !fence));
            kept.declared |= open.is_some();
            if fence || open.is_some() || index < whole + usize::from(has_fence) {
                kept.lines.push(line.trim_end());
            } else {
                kept.left_out += 1;
                if kept.lines.last() != Some(&GAP) {
                    kept.lines.push(GAP);
                }
            }
        }
        kept
    }
}

/// A declaration that is not closed yet, and of which lines were kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Open {
    /// Whether its braces are a part of it.
    is_data: bool,
    /// Brackets that are open after this line.
    depth: usize,
    lines: usize,
}

impl Open {
    /// Returns the declaration with its next line; none when it has ended, or is too long.
    fn goes_on(self, line: &str) -> Option<Self> {
        let next = Self {
            depth: depth_after(self.depth, line, self.is_data),
            lines: self.lines + 1,
            ..self
        };
        (self.depth > 0 && self.lines < DECLARATION_LINES_MAX).then_some(next)
    }
}

/// Returns how many brackets are open after a line.
fn depth_after(depth: usize, line: &str, is_data: bool) -> usize {
    line.chars().fold(depth, |depth, c| match c {
        '(' | '[' => depth + 1,
        ')' | ']' => depth.saturating_sub(1),
        '{' if is_data => depth + 1,
        '}' if is_data => depth.saturating_sub(1),
        _ => depth,
    })
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// Returns the declaration that begins on a line.
fn declaration(line: &str) -> Option<Open> {
    if !line.trim_start().starts_with(|c: char| c.is_alphabetic()) {
        return None;
    }
    let words: Vec<&str> = line
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .collect();
    let modifiers = words
        .iter()
        .take_while(|word| MODIFIERS.contains(*word))
        .count();
    let mut rest = words.iter().skip(modifiers);
    let first = rest.next()?.to_ascii_lowercase();
    let is_known = DECLARES.contains(&first.as_str()) && rest.next().is_some();
    let is_arrow = modifiers > 0 && line.contains('=') && line.contains("=>");
    (is_known || is_arrow || is_typed_function(line, modifiers > 0)).then(|| {
        let is_data = is_known && DATA.contains(&first.as_str());
        Open {
            is_data,
            depth: depth_after(0, line, is_data),
            lines: 1,
        }
    })
}

/// Says whether a line begins a function that no word announces: `int parse(const char *text) {`.
fn is_typed_function(line: &str, has_modifier: bool) -> bool {
    let Some((head, _)) = line.split_once('(') else {
        return false;
    };
    let plain = |c: char| {
        c.is_alphanumeric()
            || matches!(c, '_' | ' ' | '*' | '&' | '<' | '>' | ',' | '[' | ']' | ':')
    };
    let mut words = head.split_whitespace();
    let first = words.next().unwrap_or_default().to_ascii_lowercase();
    let ends = line.trim_end().ends_with(['{', ';', '(', ',']);
    // what is indented is a statement, unless it says that it is a member
    let is_member = has_modifier || !line.starts_with([' ', '\t']);
    is_member
        && ends
        && head.chars().all(plain)
        && words.next().is_some()
        && !STATEMENTS.contains(&first.as_str())
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
            "export const load = async (url: string): Promise<Config> => {",
            "    public Config load(Path path) throws IOException {",
            "int wire_send(struct wire *w, const char *text);",
            "std::vector<int> parse(",
        ] {
            assert!(declaration(line).is_some(), "{line}");
        }
        for line in [
            "let fn_pointer = 1;",
            "return type;",
            "    x.def()",
            "// fn in a comment",
            "",
            "type",
            "classify(a, b)",
            "classify(a, b);",
            "return parse(a);",
            "    total += count(a);",
            "    value other(a);",
            "let total = count(a);",
            "if ready(a) {",
        ] {
            assert_eq!(declaration(line), None, "{line}");
        }
    }

    #[test]
    fn parameters_and_fields_are_a_part_of_a_declaration() {
        for (code, expected) in [
            (
                "fn a(\n    b: B,\n) -> C {\n    d();\n}",
                "fn a(\n    b: B,\n) -> C {\n…",
            ),
            (
                "struct A {\n    b: B,\n}\nrest",
                "struct A {\n    b: B,\n}\n…",
            ),
            ("class A {\n    b;\n}", "class A {\n…"),
            (
                "CREATE TABLE a (\n  b INT\n);\nrest",
                "CREATE TABLE a (\n  b INT\n);\n…",
            ),
        ] {
            let block = format!("```\n{code}\n```");
            let expected = format!("```\n{expected}\n```");
            assert_eq!(signatures(&block), Some(expected));
        }
        let long = format!("```\nenum A {{\n{}}}\n```", "    B,\n".repeat(40));
        let lines = signatures(&long).unwrap().lines().count();
        assert_eq!(
            lines,
            DECLARATION_LINES_MAX + 3,
            "fences, and a mark for the rest"
        );
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

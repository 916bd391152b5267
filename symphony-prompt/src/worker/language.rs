//! Languages of fenced code, by file name.

/// Extensions whose usual language name is another word.
const ALIASES: &[(&str, &str)] = &[
    ("bash", "bash"),
    ("cc", "cpp"),
    ("cjs", "javascript"),
    ("cs", "csharp"),
    ("cts", "typescript"),
    ("cxx", "cpp"),
    ("erl", "erlang"),
    ("ex", "elixir"),
    ("exs", "elixir"),
    ("fs", "fsharp"),
    ("gql", "graphql"),
    ("h", "c"),
    ("hpp", "cpp"),
    ("hs", "haskell"),
    ("htm", "html"),
    ("jl", "julia"),
    ("js", "javascript"),
    ("kt", "kotlin"),
    ("kts", "kotlin"),
    ("md", "markdown"),
    ("mjs", "javascript"),
    ("ml", "ocaml"),
    ("mts", "typescript"),
    ("pl", "perl"),
    ("ps1", "powershell"),
    ("py", "python"),
    ("pyi", "python"),
    ("rb", "ruby"),
    ("rs", "rust"),
    ("sh", "bash"),
    ("tex", "latex"),
    ("tf", "hcl"),
    ("ts", "typescript"),
    ("yml", "yaml"),
    ("zsh", "bash"),
];

/// Longest extension that is taken for a language.
const EXTENSION_CHARS_MAX: usize = 16;

/// Returns the language of a file, or an empty text.
pub(super) fn language(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let extension = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => extension.to_ascii_lowercase(),
        _ => return String::new(),
    };
    let plain = extension.len() <= EXTENSION_CHARS_MAX
        && extension
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'+'));
    if !plain {
        return String::new();
    }
    ALIASES
        .binary_search_by_key(&extension.as_str(), |(alias, _)| alias)
        .ok()
        .and_then(|index| ALIASES.get(index))
        .map_or(extension, |(_, language)| (*language).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_come_from_the_table_or_the_extension() {
        assert!(ALIASES.is_sorted());
        for (path, expected) in [
            ("src/a.ts", "typescript"),
            ("a.TSX", "tsx"),
            ("lib.rs", "rust"),
            ("README.md", "markdown"),
            ("prisma/schema.prisma", "prisma"),
            ("seed.sql", "sql"),
            ("Makefile", ""),
            (".gitignore", ""),
            ("a.b/c", ""),
            ("x.`````", ""),
            ("x.", ""),
        ] {
            assert_eq!(language(path), expected, "{path}");
        }
    }
}

//! The vocabulary: words that texts for people do not use, with what to write instead.

#![expect(
    clippy::string_slice,
    reason = "each place is found in the text that is sliced"
)]

use std::path::{Path, PathBuf};

/// Phrases in lower case, with what to write instead. Inflections are listed one by one.
const BANNED: &[(&str, &str)] = &[
    ("anew", "again"),
    ("anybody", "anyone, or name who is meant"),
    ("are said", "are reported, or name who says it"),
    ("belong into", "belong in"),
    ("belongs into", "belongs in"),
    ("can not", "cannot"),
    ("is said", "is reported, or name who says it"),
    ("lies", "is"),
    ("look whether", "check whether"),
    ("looks whether", "checks whether"),
    ("mend", "fix"),
    ("mended", "fixed or repaired"),
    ("mending", "fixing"),
    ("mends", "fixes"),
    ("nobody", "no one, or name who is meant"),
    ("so many", "this many, or the number"),
    ("stands", "is"),
    ("told", "reported or shown; of a person or an agent, asked"),
    ("was said", "was reported, or name who said it"),
    ("what became of", "what happened to"),
    ("what becomes of", "what happens to"),
    ("works on itself", "continues on its own"),
];

/// Places that need a banned phrase: the file, the phrase, and why.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    (
        "symphony-prompt/src/lint/order.rs",
        "nobody",
        "prompts of projects may use it, and the lint has to read them",
    ),
    (
        "symphony-core/src/session/record.rs",
        "anew",
        "the name that earlier versions stored",
    ),
];

/// Longest code between backticks, in characters: a lone backtick hides no more than that.
const CODE_CHARS_MAX: usize = 200;

/// Pages that people and agents read, with folders of such pages.
const PAGES: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "docs",
    "examples",
    "prompts",
    "symphony-cli/tests/it/snapshots/it__help__the_whole_help.snap",
];

#[derive(Debug, PartialEq, Eq)]
struct Word {
    line: usize,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Replaces code between backticks by spaces, since commands and names of code are not prose.
fn without_code(text: &str) -> String {
    let mut prose = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`') {
        prose.push_str(before);
        let code: String = after
            .chars()
            .take(CODE_CHARS_MAX)
            .take_while(|c| *c != '`')
            .collect();
        rest = match after[code.len()..].strip_prefix('`') {
            Some(after_code) if !code.is_empty() => {
                let blank = |c: char| if c == '\n' { '\n' } else { ' ' };
                // a stop: the words on both sides of code are no phrase
                prose.push('.');
                prose.extend(code.chars().map(blank));
                after_code
            }
            _ => after,
        };
    }
    prose.push_str(rest);
    prose
}

/// Splits prose into lower-case words. Punctuation becomes a word of its own, so that no phrase spans it.
fn words(prose: &str, first_line: usize) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
    for (text, line) in prose.lines().zip(first_line..) {
        // an escape ends a word, and a line that continues below has a lone `\` at its end
        let text = text
            .trim_end_matches('\\')
            .replace("\\n", " . ")
            .replace("\\\"", " ");
        for part in text.split_whitespace() {
            let word = part.trim_matches(|c: char| !c.is_alphanumeric());
            let mut push = |text: &str| {
                found.push(Word {
                    line,
                    text: text.to_lowercase(),
                });
            };
            if part.starts_with(|c: char| !c.is_alphanumeric()) {
                push(".");
            }
            if !word.is_empty() {
                push(word);
            }
            if part.ends_with(|c: char| !c.is_alphanumeric()) {
                push(".");
            }
        }
    }
    found
}

/// Returns the line and the place in [`BANNED`] of each banned phrase.
fn banned(words: &[Word]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        for (number, (phrase, _)) in BANNED.iter().enumerate() {
            let mut wanted = phrase.split(' ');
            if wanted.by_ref().zip(&words[at..]).all(|(a, b)| a == b.text)
                && at + phrase.split(' ').count() <= words.len()
            {
                found.push((word.line, number));
            }
        }
    }
    found
}

/// Returns where a string that begins at the start of `code` has its text, and where it ends.
fn string(code: &str) -> Option<(std::ops::Range<usize>, usize)> {
    if let Some(raw) = code.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let end = format!("\"{}", "#".repeat(hashes));
        let text = raw[hashes..].strip_prefix('"')?;
        let begin = code.len() - text.len();
        let length = text.find(&end)?;
        return Some((begin..begin + length, begin + length + end.len()));
    }
    let text = code.strip_prefix('"')?;
    let mut is_escaped = false;
    let length = text.find(|c: char| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    })?;
    Some((1..1 + length, length + 2))
}

/// Returns the length of what a quote cannot begin a string in: a comment, a character, a word.
fn skipped(code: &str) -> usize {
    if code.starts_with("//") {
        return code.find('\n').unwrap_or(code.len());
    }
    if let Some(escaped) = code.strip_prefix("'\\") {
        return escaped
            .char_indices()
            .skip(1)
            .find(|(_, c)| *c == '\'')
            .map_or(1, |(at, _)| at + 3);
    }
    if code.starts_with("'\"'") {
        return 3;
    }
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let word = code.find(|c| !is_part(c)).unwrap_or(code.len());
    word.max(code.chars().next().map_or(1, char::len_utf8))
}

/// Returns the string literals of a source up to its unit tests, each with the line that it begins on.
fn literals(source: &str) -> Vec<(usize, String)> {
    let code = source
        .split_once("#[cfg(test)]\nmod ")
        .map_or(source, |(code, _)| code);
    let mut found = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let rest = &code[at..];
        let Some((text, end)) = string(rest) else {
            at += skipped(rest);
            continue;
        };
        let line = code[..at].matches('\n').count() + 1;
        found.push((line, rest[text].to_owned()));
        at += end;
    }
    found
}

fn pages(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_file() {
        found.push(path.to_path_buf());
        return;
    }
    let entries = std::fs::read_dir(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() || path.extension().is_some_and(|extension| extension == "md") {
            pages(&path, found);
        }
    }
}

/// Returns what is not released yet: older entries stay as they were published.
fn unreleased(changelog: &str) -> &str {
    let begin = changelog
        .find("## Unreleased")
        .expect("the changelog has a section of unreleased changes");
    let section = &changelog[begin..];
    section[2..]
        .find("\n## ")
        .map_or(section, |end| &section[..end + 2])
}

/// Returns every text that people or agents read: its file, the line that it begins on, and itself.
fn read_texts() -> Vec<(String, usize, String)> {
    let mut found = Vec::new();
    for (path, source) in super::texts(&["src"]) {
        if path.ends_with("tests.rs") || path.contains("/tests/") {
            continue;
        }
        let parts = literals(&source).into_iter();
        found.extend(parts.map(|(line, text)| (path.clone(), line, text)));
    }
    let mut files = Vec::new();
    for page in PAGES {
        pages(&root().join(page), &mut files);
    }
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let path = file.strip_prefix(root()).unwrap().display().to_string();
        found.push((path, 1, text));
    }
    let changelog = std::fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let section = unreleased(&changelog);
    let above = changelog.split(section).next().unwrap_or_default();
    found.push((
        "CHANGELOG.md".to_owned(),
        above.lines().count() + 1,
        section.to_owned(),
    ));
    found
}

#[test]
fn texts_for_people_use_the_vocabulary() {
    let mut wrong = Vec::new();
    let mut used = vec![false; EXCEPTIONS.len()];
    for (path, first_line, text) in read_texts() {
        for (line, number) in banned(&words(&without_code(&text), first_line)) {
            let (phrase, instead) = BANNED[number];
            let exception = EXCEPTIONS
                .iter()
                .position(|(file, excepted, _)| *file == path && *excepted == phrase);
            match exception {
                Some(place) => used[place] = true,
                None => wrong.push(format!("{path}:{line}: `{phrase}`: write {instead}")),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} banned words:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let unused: Vec<_> = EXCEPTIONS
        .iter()
        .zip(used)
        .filter(|(_, used)| !used)
        .collect();
    assert!(unused.is_empty(), "exceptions without a use: {unused:#?}");
}

#[test]
fn banned_phrases_are_found_in_prose_only() {
    let table = [
        ("Nobody runs it", vec![(1, "nobody")]),
        ("it begins\n  anew.", vec![(2, "anew")]),
        ("at most so\nmany issues", vec![(1, "so many")]),
        ("so many", vec![(1, "so many")]),
        ("if so, many of them", vec![]),
        ("the end is so", vec![]),
        ("`done::stands` is a `nobody`", vec![]),
        ("a lone ` and it stands", vec![(1, "stands")]),
        ("understands, bodies and commends", vec![]),
    ];
    for (text, expected) in table {
        let found: Vec<_> = banned(&words(&without_code(text), 1))
            .into_iter()
            .map(|(line, number)| (line, BANNED[number].0))
            .collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn literals_are_found_with_their_lines() {
    let source = "// \"no\"\nfn f<'a>(c: char) { let s = \"one \\\"two\\\" \\\n   three\"; c == '\"'; }\nlet r = r#\"\\\"\"#; \"four\"\n\
                  #[cfg(test)]\nmod tests { \"five\" }";
    assert_eq!(
        literals(source),
        [
            (2, "one \\\"two\\\" \\\n   three".to_owned()),
            (4, "\\\"".to_owned()),
            (4, "four".to_owned()),
        ]
    );
    let changelog = "# Changes\n\n## Unreleased\n\n- new\n\n## 1.0\n\n- old\n";
    assert_eq!(unreleased(changelog), "## Unreleased\n\n- new\n");
}

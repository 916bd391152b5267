//! Files for a prompt, from a real folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use proptest::prelude::{prop, proptest};
use symphony_workspace::{CONTEXT_FILES_MAX, load_context_files};

struct Folder {
    _place: tempfile::TempDir,
    root: PathBuf,
}

/// A folder `app`, and `secret.txt` beside it.
fn folder() -> Folder {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("app");
    for name in [
        "a.txt",
        "src/b.rs",
        "src/a.rs",
        "src/deep/c.rs",
        "src/deep/c.md",
        "app/[id]/page.tsx",
        ".github/workflows/ci.yml",
        ".github/.hidden/x.yml",
        "src/.secret.rs",
        "node_modules/x/y.rs",
        "target/z.rs",
        "target/CACHEDIR.TAG",
        "d/é.txt",
    ] {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{name}\n")).unwrap();
    }
    fs::write(place.path().join("secret.txt"), "secret").unwrap();
    fs::write(root.join("bytes.bin"), b"\xff\x00").unwrap();
    fs::write(root.join("nul.txt"), b"a\0b").unwrap();
    fs::write(root.join("bom.txt"), "\u{feff}text").unwrap();
    fs::write(root.join("empty.txt"), "").unwrap();
    symlink("src/a.rs", root.join("inner.rs")).unwrap();
    symlink("src", root.join("inner")).unwrap();
    symlink("../secret.txt", root.join("outer.txt")).unwrap();
    symlink("..", root.join("up")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    Folder {
        _place: place,
        root,
    }
}

/// Loads and says each file as `path: content`, or `path! problem`.
fn load(folder: &Folder, patterns: &[&str]) -> Vec<String> {
    let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
    load_context_files(&folder.root, &patterns)
        .into_iter()
        .map(|file| match file.content {
            Ok(content) => format!("{}: {}", file.path, content.trim_end()),
            Err(problem) => format!("{}! {problem}", file.path),
        })
        .collect()
}

#[test]
fn files_come_in_the_order_named_matches_sorted_each_once() {
    let folder = folder();
    for (patterns, expected) in [
        (
            &["src/*.rs", "a.txt", "src/b.rs"][..],
            &["src/a.rs: src/a.rs", "src/b.rs: src/b.rs", "a.txt: a.txt"][..],
        ),
        (
            &["./src/b.rs", "src/**/*.rs"],
            &[
                "src/b.rs: src/b.rs",
                "src/a.rs: src/a.rs",
                "src/deep/c.rs: src/deep/c.rs",
            ],
        ),
        (
            &["**/*.rs"],
            &[
                "inner.rs: src/a.rs",
                "src/a.rs: src/a.rs",
                "src/b.rs: src/b.rs",
                "src/deep/c.rs: src/deep/c.rs",
            ],
        ),
        (&["src/deep/{c,d}.md"], &["src/deep/c.md: src/deep/c.md"]),
        (
            &["app/[id]/page.tsx"],
            &["app/[id]/page.tsx: app/[id]/page.tsx"],
        ),
        (
            &[".github/**/*.yml"],
            &[".github/workflows/ci.yml: .github/workflows/ci.yml"],
        ),
        (&["src/.*.rs"], &["src/.secret.rs: src/.secret.rs"]),
        (&["target/z.rs"], &["target/z.rs: target/z.rs"]),
        (&["d/*"], &["d/é.txt: d/é.txt"]),
        (&["bom.txt", "empty.txt"], &["bom.txt: text", "empty.txt: "]),
        (
            &["nothing.rs", "*.none", "*.none"],
            &[
                "nothing.rs! file not found",
                "*.none! no file matches this pattern",
            ],
        ),
        (
            &["a.txt/b", "src"],
            &["a.txt/b! file not found", "src! not a text file"],
        ),
        (
            &["../secret.txt", "/etc/passwd", "src/../../secret.txt"],
            &[
                "../secret.txt! outside the project",
                "/etc/passwd! outside the project",
                "src/../../secret.txt! outside the project",
            ],
        ),
        (
            &["inner.rs", "inner/b.rs"],
            &["inner.rs: src/a.rs", "inner/b.rs: src/b.rs"],
        ),
        (
            &["outer.txt", "up/secret.txt", "dangling"],
            &[
                "outer.txt! outside the project",
                "up/secret.txt! outside the project",
                "dangling! file not found",
            ],
        ),
        (
            &["bytes.bin", "nul.txt"],
            &["bytes.bin! not a text file", "nul.txt! not a text file"],
        ),
        (
            &["[a"],
            &["[a! not a pattern: unclosed character class; missing ']'"],
        ),
    ] {
        assert_eq!(load(&folder, patterns), expected, "{patterns:?}");
    }
}

#[test]
fn files_and_their_number_are_bounded() {
    let folder = folder();
    fs::write(
        folder.root.join("large.txt"),
        vec![b'x'; 4 * 1024 * 1024 + 1],
    )
    .unwrap();
    assert_eq!(
        load(&folder, &["large.txt"]),
        ["large.txt! larger than 4 MiB"]
    );
    let many = folder.root.join("many");
    fs::create_dir(&many).unwrap();
    for n in 0..=CONTEXT_FILES_MAX {
        fs::write(many.join(n.to_string()), "x").unwrap();
    }
    let loaded = load(&folder, &["many/*", "a.txt"]);
    assert_eq!(loaded.len(), CONTEXT_FILES_MAX + 2);
    let word = "left out: the files before it reach the limit of 1000 files or 32 MiB";
    assert_eq!(
        loaded[CONTEXT_FILES_MAX..],
        [format!("many/*! {word}"), format!("a.txt! {word}")]
    );
}

#[test]
fn whatever_is_named_nothing_outside_is_read() {
    let folder = folder();
    let piece =
        "(\\.\\./|/|~/|up/|outer|inner/|src/|\\*|\\*\\*/|secret|\\.txt|\\{|\\}|,|\\[|a|\\.){1,8}";
    proptest!(|(patterns in prop::collection::vec(piece, 1..4))| {
        for file in load_context_files(&folder.root, &patterns) {
            if let Ok(content) = &file.content {
                assert_ne!(content, "secret", "{patterns:?} read {}", file.path);
            }
        }
    });
}

//! The tokens of one file of a diff. The old and the new text have a parser each, and both begin again with each place that changed,
//! since nobody knows what was left out before it.

use std::sync::LazyLock;

use syntect::parsing::{ParseState, ScopeStack, SyntaxReference, SyntaxSet};

use super::class::Classes;
use crate::render::diff::{FileDiff, Hunk, Line, Side, Token};

/// Longest line that is coloured, in bytes: longer ones are minified, or data.
const LINE_BYTES_MAX: usize = 500;

/// Largest file that is coloured, in bytes that the diff shows of it.
const FILE_BYTES_MAX: usize = 256 * 1024;

/// Deepest nesting that is followed: each further level costs memory and time on every line.
const DEPTH_MAX: usize = 500;

/// The syntaxes, loaded with the first diff. Their expressions are compiled as they are first used.
static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
    Left,
    Over,
}

/// Says whether a file is coloured at all, before its syntax is looked up.
pub(super) fn is_code(file: &FileDiff) -> bool {
    let lines = file.hunks.iter().flat_map(|hunk| &hunk.lines);
    let bytes: usize = lines.map(|line| line.text.len()).sum();
    bytes > 0 && bytes <= FILE_BYTES_MAX && !file.is_generated()
}

/// Colours the lines of a file until time is over.
pub(super) fn paint(file: &mut FileDiff, time: &impl Fn() -> Time) {
    let Some(syntax) = syntax_of(&file.path) else {
        return;
    };
    let mut classes = Classes::default();
    for hunk in &mut file.hunks {
        if paint_hunk(hunk, syntax, &mut classes, time).is_none() {
            return;
        }
    }
}

fn syntax_of(path: &str) -> Option<&'static SyntaxReference> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let found = SYNTAXES.find_syntax_by_extension(name);
    let found = found.or_else(|| SYNTAXES.find_syntax_by_extension(ending?));
    found.filter(|syntax| syntax.name != "Plain Text")
}

/// Where the parser of a side is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Parser {
    state: ParseState,
    scopes: ScopeStack,
}

/// Colours a hunk; none where the rest of the file stays plain.
fn paint_hunk(
    hunk: &mut Hunk,
    syntax: &SyntaxReference,
    classes: &mut Classes,
    time: &impl Fn() -> Time,
) -> Option<()> {
    let mut old = Parser {
        state: ParseState::new(syntax),
        scopes: ScopeStack::new(),
    };
    let mut new = old.clone();
    let mut text = String::new();
    for line in &mut hunk.lines {
        if time() == Time::Over {
            return None;
        }
        if line.text.len() > LINE_BYTES_MAX {
            continue;
        }
        text.clear();
        text.push_str(&line.text);
        text.push('\n');
        line.tokens = match line.side {
            Side::Removed => old.tokens(&text, classes)?,
            Side::Added => new.tokens(&text, classes)?,
            Side::Both if old == new => {
                let tokens = new.tokens(&text, classes)?;
                old.clone_from(&new);
                tokens
            }
            Side::Both => {
                let _of_the_other_side = old.tokens(&text, classes)?;
                new.tokens(&text, classes)?
            }
        };
        trim(line);
    }
    Some(())
}

/// Leaves out what says nothing: plain tokens at the end.
fn trim(line: &mut Line) {
    while line
        .tokens
        .last()
        .is_some_and(|token| token.class.is_none())
    {
        line.tokens.pop();
    }
}

impl Parser {
    /// Parses the next line, which ends with a line feed; none where it cannot be parsed, or is nested too deeply.
    fn tokens(&mut self, text: &str, classes: &mut Classes) -> Option<Vec<Token>> {
        let changes = self.state.parse_line(text, &SYNTAXES).ok()?;
        let length = text.trim_end_matches('\n').len();
        let mut tokens: Vec<Token> = Vec::new();
        let mut begin = 0;
        for (at, change) in changes {
            let at = at.min(length);
            if at > begin {
                push(&mut tokens, at - begin, classes.of(self.scopes.as_slice()));
                begin = at;
            }
            self.scopes.apply(&change).ok()?;
        }
        if length > begin {
            push(
                &mut tokens,
                length - begin,
                classes.of(self.scopes.as_slice()),
            );
        }
        (self.scopes.len() <= DEPTH_MAX).then_some(tokens)
    }
}

fn push(tokens: &mut Vec<Token>, length: usize, class: Option<&'static str>) {
    match tokens.last_mut() {
        Some(last) if last.class == class => last.length += length,
        _ => tokens.push(Token { length, class }),
    }
}

#[cfg(test)]
mod tests {
    use syntect::parsing::Scope;

    use super::*;
    use crate::render::diff::parse;

    fn painted(path: &str, body: &str) -> FileDiff {
        let count = |sign| body.lines().filter(|line| !line.starts_with(sign)).count();
        let (old, new) = (count('+'), count('-'));
        let text = format!("diff --git a/{path} b/{path}\n@@ -1,{old} +1,{new} @@\n{body}");
        let mut file = parse(&text).files.remove(0);
        paint(&mut file, &|| Time::Left);
        file
    }

    /// Writes each token as `class(text)`.
    fn shown(line: &Line) -> String {
        let mut rest = line.text.as_str();
        let mut shown = String::new();
        for token in &line.tokens {
            let (text, after) = rest.split_at(token.length);
            match token.class {
                Some(class) => shown.extend([class, "(", text, ")"]),
                None => shown.push_str(text),
            }
            rest = after;
        }
        shown + rest
    }

    fn lines(file: &FileDiff) -> Vec<String> {
        file.hunks
            .iter()
            .flat_map(|hunk| &hunk.lines)
            .map(shown)
            .collect()
    }

    #[test]
    fn code_has_colours() {
        for (path, code, expected) in [
            ("a.rs", "let a = 1; // b", "hk(let) a = hn(1); hc(// b)"),
            (
                "a.ts",
                "const a: Foo = \"b\";",
                "hk(const) a: ht(Foo) = hs(\"b\");",
            ),
            (
                "a.py",
                "def f(): return None",
                "hk(def) hf(f)(): hk(return) hn(None)",
            ),
            ("Cargo.toml", "name = \"x\"", "ha(name) = hs(\"x\")"),
            ("a.unknown", "let a = 1;", "let a = 1;"),
            ("LICENSE", "let a = 1;", "let a = 1;"),
        ] {
            assert_eq!(
                lines(&painted(path, &format!("+{code}\n"))),
                [expected],
                "{path}"
            );
        }
    }

    #[test]
    fn each_side_has_its_own_state() {
        // the old text closes the comment, the new one does not: what follows is code before, and a comment after
        let file = painted(
            "a.rs",
            "-/* a */\n+/* a\n let b = 1;\n-let c = 1;\n+let d = 1;\n",
        );
        assert_eq!(
            lines(&file),
            [
                "hc(/* a */)",
                "hc(/* a)",
                "hc(let b = 1;)",
                "hk(let) c = hn(1);",
                "hc(let d = 1;)"
            ]
        );
    }

    #[test]
    fn what_is_too_long_or_too_late_is_plain() {
        let long = format!(
            "+let a = 1;\n+let b = \"{}\";\n+let c = 1;\n",
            "x".repeat(LINE_BYTES_MAX)
        );
        let file = painted("a.rs", &long);
        let tokens: Vec<bool> = file.hunks[0]
            .lines
            .iter()
            .map(|line| line.tokens.is_empty())
            .collect();
        assert_eq!(tokens, [false, true, false]);

        let mut late = painted("a.unknown", "+let a = 1;\n");
        late.path = "a.rs".to_owned();
        paint(&mut late, &|| Time::Over);
        assert_eq!(lines(&late), ["let a = 1;"]);

        let large = format!("+{}\n", "x".repeat(400)).repeat(FILE_BYTES_MAX / 400 + 1);
        assert!(!is_code(&painted("a.unknown", &large)));
        assert!(!is_code(&painted("Cargo.lock", "+a\n")));
    }

    #[test]
    fn deep_nesting_ends_the_colours() {
        let mut parser = Parser {
            state: ParseState::new(syntax_of("a.rs").unwrap()),
            scopes: ScopeStack::new(),
        };
        let text = "let a = 1;\n";
        assert!(parser.tokens(text, &mut Classes::default()).is_some());
        let scope = Scope::new("meta.block").unwrap();
        (0..DEPTH_MAX).for_each(|_| parser.scopes.push(scope));
        assert_eq!(parser.tokens(text, &mut Classes::default()), None);
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(48))]
        #[test]
        fn tokens_fit_their_lines(
            path in proptest::sample::select(vec!["a.rs", "a.ts", "a.md", "a.html", "a.sh", "Dockerfile"]),
            code in proptest::collection::vec("([-+ ])([ -~]{0,30}|\\PC{0,12}|</?script>|/\\*|\"\"\"|```)", 1..8),
        ) {
            let body = code.join("\n") + "\n";
            for line in painted(path, &body).hunks.iter().flat_map(|hunk| &hunk.lines) {
                let mut at = 0;
                for token in &line.tokens {
                    at += token.length;
                    proptest::prop_assert!(line.text.is_char_boundary(at), "{:?}", line);
                }
            }
        }
    }
}

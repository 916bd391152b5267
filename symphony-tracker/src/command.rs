//! Commands in comments: `/symphony retry`, `approve`, `reject` and `cancel`.

use crate::quote;

/// What begins the first line of a command.
const WORD: &str = "/symphony";
/// Fewest digits that name a commit: as many as git shows.
const HEAD_DIGITS_MIN: usize = 7;
/// Most characters of somebody's word that a reply repeats.
const REPEATED_CHARS_MAX: usize = 40;
/// How commands are written.
const USAGE: &str = "The commands are `/symphony retry [TEXT]`, `/symphony approve COMMIT`, `/symphony reject TEXT` and `/symphony cancel`.";

/// What a person asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Try again.
    Retry {
        /// What the agent should know, if anything.
        text: Option<String>,
    },
    /// Approve the pull request.
    Approve {
        /// The commit, in full: the pushed head.
        head: String,
        /// What else was written.
        remark: Option<String>,
    },
    /// Send the pull request back.
    Reject {
        /// What should change.
        text: String,
    },
    /// Cancel the issue.
    Cancel,
}

/// Returns what follows the word for commands, if the first line of a text begins with it. A text that begins with a space or an
/// empty line is no command: the space could make it code.
pub(crate) fn after_word(body: &str) -> Option<&str> {
    let rest = body.strip_prefix(WORD)?;
    let is_word = rest.is_empty() || rest.starts_with(char::is_whitespace);
    is_word.then_some(rest)
}

/// Reads what follows the word for commands. `pushed_head` is the head of the open pull request, as far as it was pushed.
///
/// # Errors
/// Returns the reason why there is no such command, as a sentence.
pub(crate) fn read(rest: &str, pushed_head: Option<&str>) -> Result<Command, String> {
    let (line, more) = rest.split_once('\n').unwrap_or((rest, ""));
    let line = line.trim();
    let (verb, after) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let after = after.trim();
    match verb.to_ascii_lowercase().as_str() {
        "retry" => Ok(Command::Retry {
            text: joined(after, more),
        }),
        "approve" => approve(after, more, pushed_head),
        "reject" => {
            if pushed_head.is_none() {
                return Err(no_pull_request());
            }
            let text = joined(after, more);
            text.map(|text| Command::Reject { text })
                .ok_or_else(|| "A rejection needs a text that names what should change.".to_owned())
        }
        "cancel" if joined(after, more).is_none() => Ok(Command::Cancel),
        "cancel" => Err("`cancel` takes no text: write the reason in another comment.".to_owned()),
        "" => Err(format!("The command is missing. {USAGE}")),
        _ => {
            let verb = shown(verb);
            Err(format!("There is no command `{verb}`. {USAGE}"))
        }
    }
}

fn approve(after: &str, more: &str, pushed_head: Option<&str>) -> Result<Command, String> {
    let head = pushed_head.ok_or_else(no_pull_request)?;
    let short = quote::shortened(head, 13).replace('…', "");
    let ask = format!("write `/symphony approve {short}`");
    let (digits, remark) = after.split_once(char::is_whitespace).unwrap_or((after, ""));
    if digits.is_empty() {
        return Err(format!("An approval names the commit: {ask}."));
    }
    let digits = digits.trim_matches('`');
    let is_commit =
        digits.len() >= HEAD_DIGITS_MIN && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_commit {
        let found = shown(digits);
        return Err(format!(
            "`{found}` does not name a commit: at least {HEAD_DIGITS_MIN} hexadecimal digits are needed. To approve the newest one, {ask}."
        ));
    }
    let is_head = head
        .to_ascii_lowercase()
        .starts_with(&digits.to_ascii_lowercase());
    if !is_head {
        let found = shown(digits);
        return Err(format!(
            "`{found}` is not the newest commit of the pull request. If you have seen the newest one, {ask}."
        ));
    }
    Ok(Command::Approve {
        head: head.to_owned(),
        remark: joined(remark.trim(), more),
    })
}

fn no_pull_request() -> String {
    "The issue has no open pull request.".to_owned()
}

/// Repeats a word of somebody, so that it does nothing.
fn shown(word: &str) -> String {
    quote::agent_line(word, REPEATED_CHARS_MAX).replace('`', "'")
}

fn joined(first: &str, more: &str) -> Option<String> {
    let text = format!("{first}\n{more}");
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "0123456789abcdef0123456789abcdef01234567";

    fn read_body(body: &str) -> Option<Result<Command, String>> {
        after_word(body).map(|rest| read(rest, Some(HEAD)))
    }

    #[test]
    fn commands_are_read() {
        let approve = |remark| Command::Approve {
            head: HEAD.into(),
            remark,
        };
        for (body, expected) in [
            ("/symphony retry", Command::Retry { text: None }),
            (
                "/symphony Retry use B\n\nand C\n",
                Command::Retry {
                    text: Some("use B\n\nand C".into()),
                },
            ),
            ("/symphony\tretry", Command::Retry { text: None }),
            ("/symphony approve 0123456", approve(None)),
            ("/symphony approve `0123456789AB`", approve(None)),
            (
                "/symphony approve 0123456 thanks\nall",
                approve(Some("thanks\nall".into())),
            ),
            (
                "/symphony reject\n- a\n- b",
                Command::Reject {
                    text: "- a\n- b".into(),
                },
            ),
            ("/symphony cancel\n", Command::Cancel),
        ] {
            assert_eq!(read_body(body), Some(Ok(expected)), "{body}");
        }
    }

    #[test]
    fn what_is_not_a_command_is_refused_with_a_reason() {
        for (body, reason) in [
            ("/symphony", "The command is missing."),
            ("/symphony merge", "There is no command `merge`."),
            ("/symphony `@ada`", "There is no command `'@\u{200b}ada'`."),
            (
                "/symphony approve",
                "An approval names the commit: write `/symphony approve 0123456789ab`.",
            ),
            (
                "/symphony approve 012345",
                "`012345` does not name a commit",
            ),
            ("/symphony approve main", "`main` does not name a commit"),
            (
                "/symphony approve 0123457",
                "`0123457` is not the newest commit",
            ),
            (
                &format!("/symphony approve {HEAD}0"),
                "is not the newest commit",
            ),
            ("/symphony reject \n ", "A rejection needs a text"),
            ("/symphony cancel now", "`cancel` takes no text"),
        ] {
            let refusal = read_body(body).unwrap().unwrap_err();
            assert!(refusal.contains(reason), "{body}: {refusal}");
        }
        for command in ["approve 0123456", "reject a"] {
            let refusal = read(&format!(" {command}"), None).unwrap_err();
            assert_eq!(refusal, "The issue has no open pull request.");
        }
    }

    #[test]
    fn only_the_beginning_of_a_comment_is_a_command() {
        for body in [
            "",
            " /symphony cancel",
            "\n/symphony cancel",
            "> /symphony cancel",
            "please\n/symphony cancel",
            "/symphonycancel",
            "/Symphony cancel",
        ] {
            assert_eq!(read_body(body), None, "{body}");
        }
    }
}

//! Commands that Symphony suggests to a person, as they are typed in a shell.

/// What begins a command that acts on the project of the folder it is typed in, and what makes it act on another one's.
const PROGRAMS: &[&str] = &["symphony", "git"];
/// The option of both that names the folder.
const FOLDER: &str = "-C";

/// Quotes a word for `sh`, when it needs it.
pub fn shell_quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Returns a command as it acts on the project in `root`, wherever it is typed. One that names its folder already, or
/// acts on no project, stays as it is.
pub fn typed_elsewhere(command: &str, root: &str) -> String {
    let Some((program, rest)) = command.split_once(' ') else {
        return command.to_owned();
    };
    let names_folder = rest.split(' ').next() == Some(FOLDER);
    if names_folder || !PROGRAMS.contains(&program) {
        return command.to_owned();
    }
    format!("{program} {FOLDER} {} {rest}", shell_quoted(root))
}

/// Returns a text with the commands in it (between backquotes) as they act on the project in `root`.
pub fn text_elsewhere(text: &str, root: &str) -> String {
    let mut parts = text.split('`');
    let mut found = parts.next().unwrap_or_default().to_owned();
    let mut is_code = true;
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        found.push('`');
        // an unclosed backquote begins no command
        if is_code && parts.peek().is_some() {
            found.push_str(&typed_elsewhere(part, root));
        } else {
            found.push_str(part);
        }
        is_code = !is_code;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_when_a_shell_would_change_them() {
        for (word, expected) in [
            ("/home/a/b-c_1.2", "/home/a/b-c_1.2"),
            ("", "''"),
            ("/home/a b", "'/home/a b'"),
            ("/it's", "'/it'\\''s'"),
            ("/a$b", "'/a$b'"),
        ] {
            assert_eq!(shell_quoted(word), expected);
        }
    }

    #[test]
    fn a_command_for_another_project_names_its_folder() {
        for (command, expected) in [
            ("symphony doctor", "symphony -C '/q r' doctor"),
            (
                "symphony config set base_branch NAME",
                "symphony -C '/q r' config set base_branch NAME",
            ),
            ("git branch main COMMIT", "git -C '/q r' branch main COMMIT"),
            ("symphony -C /other doctor", "symphony -C /other doctor"),
            ("mv '/q/x' '/q/x.old'", "mv '/q/x' '/q/x.old'"),
            ("claude /login", "claude /login"),
            ("symphony", "symphony"),
            ("git-lfs install", "git-lfs install"),
        ] {
            let typed = typed_elsewhere(command, "/q r");
            assert_eq!(typed, expected);
            // whoever says it again changes nothing
            assert_eq!(typed_elsewhere(&typed, "/q r"), expected);
        }
    }

    #[test]
    fn the_commands_in_a_text_are_those_of_the_other_project() {
        for (text, expected) in [
            ("no command", "no command"),
            (
                "`main` is gone (`git branch main X` makes it, `symphony doctor` says more)",
                "`main` is gone (`git -C /q branch main X` makes it, `symphony -C /q doctor` says more)",
            ),
            ("symphony doctor", "symphony doctor"),
            (
                "between `a` symphony doctor `b`",
                "between `a` symphony doctor `b`",
            ),
            ("open `symphony doctor", "open `symphony doctor"),
            ("", ""),
        ] {
            assert_eq!(text_elsewhere(text, "/q"), expected);
        }
    }
}

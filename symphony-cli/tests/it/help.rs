//! The whole help, and every command's example.

use std::fmt::Write as _;

use crate::support::Project;

/// Returns the names of the commands that a help text lists.
fn listed(help: &str) -> Vec<String> {
    help.lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// Returns the help of a command and of those below it.
fn help(project: &Project, command: &[String], pages: &mut Vec<(Vec<String>, String)>) {
    let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
    arguments.push("--help");
    let text = project.ok(&arguments);
    let below = listed(&text);
    pages.push((command.to_vec(), text));
    for name in below {
        let command: Vec<String> = command.iter().cloned().chain([name]).collect();
        help(project, &command, pages);
    }
}

/// Leaves out the global options, which are the same everywhere, but in the help of the program itself.
fn without_globals(command: &[String], text: &str) -> String {
    if command.is_empty() {
        return text.to_owned();
    }
    let (own, rest) = text
        .split_once("Global options:")
        .expect("every command has the global options");
    let after = rest.split_once("\n\n").map_or("", |(_, after)| after);
    format!("{own}{after}")
}

#[test]
fn the_whole_help() {
    let project = Project::repository("help");
    let mut pages = Vec::new();
    help(&project, &[], &mut pages);
    let mut whole = String::new();
    for (command, text) in &pages {
        let is_group = text.contains("\nCommands:\n");
        assert!(
            is_group || text.contains("Example"),
            "{command:?} has no example:\n{text}"
        );
        let name = [&["symphony".to_owned()][..], command].concat().join(" ");
        writeln!(
            whole,
            "==== {name} ====\n{}",
            without_globals(command, text).trim_end()
        )
        .unwrap();
        whole.push('\n');
    }
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(whole) });
}

#[test]
fn completions_and_manual_pages_are_made_for_every_command() {
    let project = Project::repository("help");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(
            project.ok(&["completions", shell]).contains("symphony"),
            "{shell}"
        );
    }
    assert!(project.ok(&["man"]).contains(".TH symphony"));
    project.ok(&["man", "--dir", "man"]);
    let pages = std::fs::read_dir(project.root.join("man")).unwrap().count();
    assert!(pages > 30, "{pages}");
}

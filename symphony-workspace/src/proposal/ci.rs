//! What the workflows of GitHub Actions run: the checks that a change has to pass there.
//!
//! Only commands that can be read without the rest of the workflow count: single commands, by themselves, on lines of a
//! script, or joined by `&&`, with the folder that they run in.

use super::ci_steps::{Step, steps};
use super::files::{ProjectFiles, join};
use super::workflows::{FILES_MAX, FOLDER};

/// What begins a part of a shell script whose commands do not all run.
const BRANCHES: &[&str] = &["case", "for", "function", "if", "until", "while"];

/// Returns the single commands that workflows run in a folder, in the order of the files.
pub(super) fn commands(files: &ProjectFiles, folder: &str) -> Vec<String> {
    let workflows = files.beginning_with(FOLDER).take(FILES_MAX);
    workflows
        .flat_map(|path| of_workflow(files.text(path)))
        .filter(|(place, _)| place == folder)
        .map(|(_, command)| command)
        .collect()
}

/// Returns the single commands of a workflow, each with its folder, empty for the root.
fn of_workflow(text: &str) -> Vec<(String, String)> {
    let steps = steps(text);
    steps.iter().flat_map(of_step).collect()
}

fn of_step(step: &Step) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let Some(mut folder) = step.folder.as_deref().map_or(Some(String::new()), literal) else {
        return found;
    };
    for line in whole_lines(&step.script) {
        let first = line.split_whitespace().next().unwrap_or_default();
        // What follows may run in only one of several cases, or is no command at all.
        if BRANCHES.contains(&first) || line.contains("<<") || line.contains("()") {
            break;
        }
        for part in line.split("&&").map(str::trim) {
            // a variable, or another folder that is not known, decides what the rest does
            if part.starts_with("export ") {
                return found;
            }
            if let Some(below) = part.strip_prefix("cd ") {
                let Some(below) = literal(below) else {
                    return found;
                };
                folder = if below.is_empty() {
                    folder
                } else {
                    join(&folder, &below)
                };
            } else if let Some(command) = plain(part) {
                found.push((folder.clone(), command));
            }
        }
    }
    found
}

/// Joins the lines of a script that end in a backslash with the next one.
fn whole_lines(script: &str) -> Vec<String> {
    let script = script.replace("\\\n", " ");
    let lines = script.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

/// Returns a folder from the root if the text names one of the project.
fn literal(folder: &str) -> Option<String> {
    let folder = folder.trim().trim_matches(['"', '\'']);
    let is_open = folder.contains(['$', '*', '~', '\\', ' ', '"', '\'']);
    let parts: Vec<&str> = folder
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    let leaves = folder.starts_with('/') || parts.contains(&"..") || folder == "-";
    (!is_open && !leaves).then(|| parts.join("/"))
}

/// Returns a text that is a single command; `None` if a shell, or the workflow, would expand it.
fn plain(text: &str) -> Option<String> {
    let mut text = text.trim();
    // a variable part at the end only adds to the command; one that ends a word is needed
    while let Some((before, _)) = text
        .strip_suffix("}}")
        .and_then(|rest| rest.rsplit_once("${{"))
    {
        if before.ends_with(|c: char| !c.is_whitespace()) {
            return None;
        }
        text = before.trim_end();
    }
    let is_more = |c: char| "$`|&;<>(){}\\#\"'".contains(c);
    let words: Vec<&str> = text.split_whitespace().collect();
    (!words.is_empty() && !text.contains(is_more)).then(|| words.join(" "))
}

#[cfg(test)]
mod tests;

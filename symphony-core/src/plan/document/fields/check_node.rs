//! The rule of a phase's `checks`.

use super::advisory::whole_number;
use crate::config::CommandLine;
use crate::plan::check::{CHECKS_MAX, Check, CheckKind};
use crate::plan::document::json::{Json, JsonNode, Member};
use crate::plan::path::normalise_path;
use crate::plan::phase::TIMEOUT_MS_MAX;

/// The fields of a check.
pub(super) const CHECK_FIELDS: [&str; 4] = ["name", "command", "file", "timeout_ms"];

/// Something wrong with the checks: the field below `checks`, its line, what is wrong.
pub(super) type CheckFault = (String, usize, String);

/// Reads a list of checks; returns those that are right, and what is wrong with the others.
pub(super) fn check_nodes(node: &JsonNode) -> (Vec<Check>, Vec<CheckFault>) {
    let mut checks: Vec<Check> = Vec::new();
    let mut faults = Vec::new();
    let Json::Array(items) = &node.value else {
        let message = format!("Expected an array of checks, found {}", node.value.kind());
        return (checks, vec![(String::new(), node.line, message)]);
    };
    if items.len() > CHECKS_MAX {
        let message = format!(
            "A phase has at most {CHECKS_MAX} checks, found {}",
            items.len()
        );
        faults.push((String::new(), node.line, message));
    }
    for (index, item) in items.iter().take(CHECKS_MAX).enumerate() {
        match check_node(item) {
            Ok(check) if checks.iter().any(|other| other.name == check.name) => {
                let message = format!("Duplicate check name \"{}\"", check.name);
                faults.push((format!("[{index}].name"), item.line, message));
            }
            Ok(check) => checks.push(check),
            Err((field, line, message)) => {
                faults.push((format!("[{index}]{field}"), line, message));
            }
        }
    }
    (checks, faults)
}

fn check_node(node: &JsonNode) -> Result<Check, CheckFault> {
    let fault = |field: &str, at: Option<&JsonNode>, message: &str| {
        let line = at.map_or(node.line, |at| at.line);
        (field.to_owned(), line, message.to_owned())
    };
    let Json::Object(members) = &node.value else {
        let message = format!("Expected a check, found {}", node.value.kind());
        return Err(fault("", None, &message));
    };
    let name = field(members, "name");
    let Some(text) = name.and_then(line_of_text) else {
        return Err(fault(".name", name, "Check name must be a non-empty line"));
    };
    let (command, file) = (field(members, "command"), field(members, "file"));
    let timeout = field(members, "timeout_ms");
    let kind = match (command, file) {
        (Some(at), None) => CheckKind::Command {
            command: command_line(at).ok_or_else(|| {
                let message = "Check command must be a text for `sh -c`, or a list of words";
                fault(".command", command, message)
            })?,
            timeout_ms: timeout
                .map(|at| {
                    let limit =
                        whole_number(&at.value).filter(|ms| (1..=TIMEOUT_MS_MAX).contains(ms));
                    let message = format!(
                        "Timeout must be a whole number of milliseconds from 1 to {TIMEOUT_MS_MAX}"
                    );
                    limit.ok_or_else(|| fault(".timeout_ms", timeout, &message))
                })
                .transpose()?,
        },
        (None, Some(at)) => {
            let path = line_of_text(at).and_then(|path| normalise_path(&path, None).ok());
            let message = "Check file must be a path relative to the project that stays inside it";
            let file = path.ok_or_else(|| fault(".file", file, message))?;
            CheckKind::File { file }
        }
        _ => return Err(fault("", None, "A check has either `command` or `file`")),
    };
    Ok(Check { name: text, kind })
}

/// Returns the members of each check that is an object, with its position.
pub(super) fn check_members(node: &JsonNode) -> impl Iterator<Item = (usize, &[Member])> {
    let items: &[JsonNode] = match &node.value {
        Json::Array(items) => items,
        _ => &[],
    };
    items
        .iter()
        .enumerate()
        .filter_map(|(index, item)| match &item.value {
            Json::Object(members) => Some((index, members.as_slice())),
            _ => None,
        })
}

fn field<'a>(members: &'a [Member], name: &str) -> Option<&'a JsonNode> {
    let member = members.iter().rev().find(|member| member.name == name)?;
    (member.node.value != Json::Null).then_some(&member.node)
}

fn line_of_text(node: &JsonNode) -> Option<String> {
    match &node.value {
        Json::String(text) if !text.trim().is_empty() && !text.contains(char::is_control) => {
            Some(text.trim().to_owned())
        }
        _ => None,
    }
}

fn command_line(node: &JsonNode) -> Option<CommandLine> {
    let is_word = |text: &str| !text.contains('\0');
    match &node.value {
        Json::String(text) if !text.trim().is_empty() && is_word(text) => {
            Some(CommandLine::Shell(text.clone()))
        }
        Json::Array(items) => {
            let words: Option<Vec<String>> = items
                .iter()
                .map(|item| match &item.value {
                    Json::String(text) if is_word(text) => Some(text.clone()),
                    _ => None,
                })
                .collect();
            let words = words?;
            let has_program = words.first().is_some_and(|word| !word.trim().is_empty());
            has_program.then_some(CommandLine::Argv(words))
        }
        _ => None,
    }
}

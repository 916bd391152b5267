//! The tools `Read`, `Write` and `Edit`.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::answer::Answer;
use crate::argument::{resolve, text_argument};

/// How many lines a reading shows, unless the call says: what the Claude CLI shows its model.
const LINES_MAX: u64 = 2000;

/// Reads a file: its lines with their numbers.
pub(crate) fn read(cwd: &Path, input: &Value) -> Answer {
    let path = match text_argument("Read", input, "file_path") {
        Ok(path) => path,
        Err(answer) => return answer,
    };
    let text = match load(cwd, path) {
        Ok(text) => text,
        Err(answer) => return answer,
    };
    let number = |name: &str| input.get(name).and_then(Value::as_u64);
    let first = number("offset").unwrap_or(1).max(1);
    let limit = number("limit").unwrap_or(LINES_MAX);
    let mut shown = String::new();
    for (line, number) in text.lines().zip(1_u64..) {
        if number >= first && number - first < limit {
            writeln!(shown, "{number:>6}\t{line}").expect("writing to a string does not fail");
        }
    }
    Answer::ok(shown)
}

/// Writes a whole file, with the folders above it.
pub(crate) fn write(cwd: &Path, input: &Value) -> Answer {
    let arguments = text_argument("Write", input, "file_path")
        .and_then(|path| Ok((path, text_argument("Write", input, "content")?)));
    let (path, content) = match arguments {
        Ok(arguments) => arguments,
        Err(answer) => return answer,
    };
    let target = resolve(cwd, path);
    let existed = target.exists();
    let written = match target.parent() {
        Some(folder) => fs::create_dir_all(folder).and_then(|()| fs::write(&target, content)),
        None => fs::write(&target, content),
    };
    match written {
        Ok(()) if existed => Answer::ok(format!("The file {path} has been updated successfully.")),
        Ok(()) => Answer::ok(format!("File created successfully at: {path}")),
        Err(error) => Answer::error(format!("Error: cannot write {path}: {error}")),
    }
}

/// Replaces a text in a file: it must occur exactly once, unless all of its places are to be replaced.
pub(crate) fn edit(cwd: &Path, input: &Value) -> Answer {
    let arguments = text_argument("Edit", input, "file_path").and_then(|path| {
        Ok((
            path,
            text_argument("Edit", input, "old_string")?,
            text_argument("Edit", input, "new_string")?,
        ))
    });
    let (path, old, new) = match arguments {
        Ok(arguments) => arguments,
        Err(answer) => return answer,
    };
    let text = match load(cwd, path) {
        Ok(text) => text,
        Err(answer) => return answer,
    };
    let all = input.get("replace_all").and_then(Value::as_bool) == Some(true);
    let places = if old.is_empty() {
        0
    } else {
        text.matches(old).count()
    };
    let replaced = match places {
        0 => {
            return Answer::error(format!(
                "<tool_use_error>String to replace not found in file.\nString: {old}</tool_use_error>"
            ));
        }
        1 => text.replace(old, new),
        _ if all => text.replace(old, new),
        more => {
            return Answer::error(format!(
                "<tool_use_error>Found {more} matches of the string to replace, but replace_all is \
                 false.\nString: {old}</tool_use_error>"
            ));
        }
    };
    match fs::write(resolve(cwd, path), replaced) {
        Ok(()) => Answer::ok(format!("The file {path} has been updated successfully.")),
        Err(error) => Answer::error(format!("Error: cannot write {path}: {error}")),
    }
}

fn load(cwd: &Path, path: &str) -> Result<String, Answer> {
    match fs::read(resolve(cwd, path)) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(Answer::error(format!(
            "File does not exist. Note: your current working directory is {}.",
            cwd.display()
        ))),
        Err(error) => Err(Answer::error(format!("Error: cannot read {path}: {error}"))),
    }
}

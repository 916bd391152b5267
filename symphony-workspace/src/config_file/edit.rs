//! Changes one value of a file in place: comments, order and layout of the rest stay.

use std::io::ErrorKind;
use std::path::Path;

use jsonc_parser::cst::{
    CstContainerNode, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode,
};
use jsonc_parser::{CollectOptions, ast, parse_to_ast};
use serde_json::Value;
use symphony_core::config::key::Key;
use symphony_core::config::{ConfigProblem, FileRole, KeyPath, ProblemKind, Segment, keys_at};

use super::change::{Change, Edit, write};
use super::error::ConfigFileError;
use super::load::check_text;
use super::read::read_text;
use super::text::options;

/// Sets a key of a file; a missing file is created. See [`prepare`] for what may be typed.
///
/// # Errors
/// As [`prepare`] and [`Edit::commit`].
pub fn set(path: &Path, role: FileRole, key: &str, value: &str) -> Result<Change, ConfigFileError> {
    prepare(path, role, key, value)?.commit()
}

/// Prepares the setting of a key of a file, `config set KEY VALUE`.
///
/// The key is a path such as `projects.api.max_retries` or `gates[0].required`, in either spelling; the index after the
/// last item of a list appends. The value is JSON; if it is not, or is a number or word that does not fit, it is used
/// as a text.
///
/// # Errors
/// [`ConfigFileError::Invalid`] when the file would have a new problem: the file is then left as it is. The problems
/// that a file already has can be fixed one by one.
pub fn prepare(
    path: &Path,
    role: FileRole,
    key: &str,
    value: &str,
) -> Result<Edit, ConfigFileError> {
    prepare_over(path, role, key, value, None)
}

/// Prepares the setting of a key as [`prepare`] does, after copying into the file the list that the key refers to:
/// lists are replaced as a whole, so one item of a list from another file cannot be set alone.
///
/// # Errors
/// As [`prepare`].
pub fn prepare_over(
    path: &Path,
    role: FileRole,
    key: &str,
    value: &str,
    list: Option<(&KeyPath, &Value)>,
) -> Result<Edit, ConfigFileError> {
    let key = KeyPath::parse(key)?;
    // A link is followed, so that a file kept elsewhere (dotfiles) is edited and not replaced.
    let target = match std::fs::canonicalize(path) {
        Ok(target) => target,
        Err(error) if error.kind() == ErrorKind::NotFound => path.to_path_buf(),
        Err(source) => {
            return Err(ConfigFileError::Read {
                path: path.to_path_buf(),
                source,
            });
        }
    };
    let before = read_text(&target)?;
    let mut text = before.clone().unwrap_or_else(|| "{\n}\n".to_owned());
    if let Some((at, list)) = list {
        let list = candidates(&list.to_string()).swap_remove(0).input;
        text = edited(path, role, &text, at, list)
            .map_err(|problems| ConfigFileError::Invalid { problems })?;
    }
    let candidates = candidates(value);
    let is_object = candidates
        .first()
        .is_some_and(|candidate| candidate.value.is_object());
    let key = if is_object {
        key
    } else {
        spelled_out(&text, key)
    };
    let mut refused = None;
    for Candidate { value, input } in candidates {
        match edited(path, role, &text, &key, input) {
            Ok(after) => {
                return Ok(Edit {
                    change: Change { path: key, value },
                    path: path.to_path_buf(),
                    role,
                    after,
                    target,
                    before,
                });
            }
            Err(problems) => refused = refused.or(Some(problems)),
        }
    }
    Err(ConfigFileError::Invalid {
        problems: refused.unwrap_or_default(),
    })
}

/// Removes a key with its value from a file; returns whether it existed. Comments around it stay.
///
/// # Errors
/// When the file cannot be read or written, or was changed meanwhile.
pub fn unset(path: &Path, key: &str) -> Result<bool, ConfigFileError> {
    let key = KeyPath::parse(key)?;
    let target = std::fs::canonicalize(path).unwrap_or_else(|_missing| path.to_path_buf());
    let Some(before) = read_text(&target)? else {
        return Ok(false);
    };
    let Some(after) = without(&before, &key) else {
        return Ok(false);
    };
    write(&target, Some(&before), &after)?;
    Ok(true)
}

/// Returns the key that a section's short form means where the file has the section as an object: `forge github` sets `forge.kind`, and
/// all else of the forge stays.
fn spelled_out(text: &str, key: KeyPath) -> KeyPath {
    let short = || {
        let (Segment::Key(name), above) = key.segments().split_last()? else {
            return None;
        };
        let short = Key::find(keys_at(above)?, name)?.short()?;
        let root = CstRootNode::parse(text.trim_start_matches('\u{feff}'), &options()).ok()?;
        property_at(&root, &key)?.value()?.as_object()?;
        Some(short.name)
    };
    match short() {
        Some(name) => key.key(name),
        None => key,
    }
}

/// Returns the text without a property; `None` if it has no property of that path, or is not JSON.
fn without(text: &str, key: &KeyPath) -> Option<String> {
    let root = CstRootNode::parse(text, &options()).ok()?;
    property_at(&root, key)?.remove();
    Some(root.to_string())
}

fn property_at(root: &CstRootNode, key: &KeyPath) -> Option<CstObjectProp> {
    let (last, way) = key.segments().split_last()?;
    let Segment::Key(name) = last else {
        return None;
    };
    let mut object = root.value()?.as_object()?;
    for (depth, segment) in way.iter().enumerate() {
        let Segment::Key(step) = segment else {
            return None;
        };
        let above = way.get(..depth).unwrap_or_default();
        object = property(&object, above, step)?.value()?.as_object()?;
    }
    property(&object, way, name)
}

/// A value that a person typed: as it is checked, and as it is written, its names in their order.
struct Candidate {
    value: Value,
    input: CstInputValue,
}

/// Returns what a typed value may mean, the likeliest first. A list, an object or a quoted text can
/// only be meant as JSON.
fn candidates(typed: &str) -> Vec<Candidate> {
    let text = Candidate {
        value: Value::from(typed),
        input: CstInputValue::from(typed),
    };
    let parsed = parse_to_ast(typed, &CollectOptions::default(), &options());
    let Some(json) = parsed.ok().and_then(|parsed| parsed.value) else {
        return vec![text];
    };
    let candidate = Candidate {
        input: input(&json),
        value: json.into(),
    };
    match candidate.value {
        Value::Array(_) | Value::Object(_) | Value::String(_) => vec![candidate],
        Value::Null | Value::Bool(_) | Value::Number(_) => vec![candidate, text],
    }
}

/// Returns the text with the value set, or the problems that it would have beyond today's.
fn edited(
    path: &Path,
    role: FileRole,
    text: &str,
    key: &KeyPath,
    value: CstInputValue,
) -> Result<String, Vec<ConfigProblem>> {
    let before = check_text(path, role, text).problems;
    let syntax = |problem: &&ConfigProblem| matches!(problem.kind, ProblemKind::Syntax { .. });
    if let Some(problem) = before.iter().find(syntax) {
        return Err(vec![problem.clone()]);
    }
    let (mark, body) = text
        .strip_prefix('\u{feff}')
        .map_or(("", text), |body| ("\u{feff}", body));
    let Ok(root) = CstRootNode::parse(body, &options()) else {
        return Err(before);
    };
    if let Err(kind) = apply(&root, key, value) {
        return Err(vec![ConfigProblem {
            path: key.clone(),
            kind,
            file: None,
            position: None,
        }]);
    }
    let after = format!("{mark}{root}");
    let known = |problem: &ConfigProblem| {
        before
            .iter()
            .any(|old| old.path == problem.path && old.kind == problem.kind)
    };
    let new = check_text(path, role, &after).problems.into_iter();
    // They are in a text that no one sees, so file and line would mislead.
    let new: Vec<ConfigProblem> = new
        .filter(|problem| !known(problem))
        .map(|problem| ConfigProblem {
            file: None,
            position: None,
            ..problem
        })
        .collect();
    if new.is_empty() { Ok(after) } else { Err(new) }
}

/// Sets the value in the syntax tree, creating the objects on the path.
fn apply(root: &CstRootNode, key: &KeyPath, value: CstInputValue) -> Result<(), ProblemKind> {
    let Some((last, way)) = key.segments().split_last() else {
        return Err(expected_object(&[]));
    };
    let mut node = match root.value() {
        Some(node) => node,
        None => CstNode::Container(CstContainerNode::Object(root.object_value_or_set())),
    };
    for (depth, segment) in way.iter().enumerate() {
        node = step(&node, way.get(..depth).unwrap_or_default(), segment)?;
    }
    match last {
        Segment::Key(name) => {
            let object = node.as_object().ok_or_else(|| expected_object(way))?;
            match property(&object, way, name) {
                Some(property) => property.set_value(value),
                None => {
                    append(&object, known_name(way, name), value);
                }
            }
        }
        Segment::Index(index) => {
            let array = node.as_array().ok_or_else(|| expected_list(way, *index))?;
            let elements = array.elements();
            match elements.get(*index) {
                Some(element) => {
                    array.insert(*index, value);
                    element.clone().remove();
                }
                None if *index == elements.len() => {
                    array.append(value);
                }
                None => return Err(expected_list(way, *index)),
            }
        }
    }
    Ok(())
}

/// Goes one step down, creating an object for a missing name.
fn step(node: &CstNode, above: &[Segment], segment: &Segment) -> Result<CstNode, ProblemKind> {
    match segment {
        Segment::Key(name) => {
            let object = node.as_object().ok_or_else(|| expected_object(above))?;
            let found = property(&object, above, name);
            let property = found.unwrap_or_else(|| {
                append(
                    &object,
                    known_name(above, name),
                    CstInputValue::Object(Vec::new()),
                )
            });
            spell_out(&property, above, name);
            property.value().ok_or_else(|| expected_object(above))
        }
        Segment::Index(index) => {
            let array = node
                .as_array()
                .ok_or_else(|| expected_list(above, index + 1))?;
            array
                .elements()
                .get(*index)
                .cloned()
                .ok_or_else(|| expected_list(above, index + 1))
        }
    }
}

/// Turns the short form of a section (`"sandbox": "off"`) into its object, so that another of its keys can be set.
fn spell_out(property: &CstObjectProp, above: &[Segment], name: &str) {
    let key = keys_at(above).and_then(|keys| Key::find(keys, name));
    let text = property
        .value()
        .and_then(|value| value.as_string_lit()?.decoded_value().ok());
    if let (Some(short), Some(text)) = (key.and_then(Key::short), text) {
        let value = (short.name.to_owned(), CstInputValue::from(text.as_str()));
        property.set_value(CstInputValue::Object(vec![value]));
    }
}

/// Adds a property behind the last one, before comments that follow it.
fn append(object: &CstObject, name: &str, value: CstInputValue) -> CstObjectProp {
    object.insert(object.properties().len(), name, value)
}

/// Finds a property by its name in either spelling; free names are compared as they are.
fn property(object: &CstObject, above: &[Segment], name: &str) -> Option<CstObjectProp> {
    object.get(name).or_else(|| {
        let meant = Key::find(keys_at(above)?, name)?.name;
        object.properties().into_iter().find(|property| {
            let found = property.decoded_name().unwrap_or_default();
            keys_at(above)
                .and_then(|keys| Key::find(keys, &found))
                .is_some_and(|key| key.name == meant)
        })
    })
}

/// Returns the name to write for a key that is not in the file yet.
fn known_name<'a>(above: &[Segment], name: &'a str) -> &'a str {
    keys_at(above)
        .and_then(|keys| Key::find(keys, name))
        .map_or(name, |key| key.name)
}

fn expected_object(above: &[Segment]) -> ProblemKind {
    let above: KeyPath = above.iter().cloned().collect();
    ProblemKind::NoPlace {
        expected: format!("`{above}` to be an object"),
    }
}

fn expected_list(above: &[Segment], count: usize) -> ProblemKind {
    let above: KeyPath = above.iter().cloned().collect();
    let items = if count == 1 { "item" } else { "items" };
    ProblemKind::NoPlace {
        expected: format!("`{above}` to be a list with at least {count} {items}"),
    }
}

/// Converts a parsed value into one to insert, with its names in their order.
fn input(value: &ast::Value<'_>) -> CstInputValue {
    match value {
        ast::Value::NullKeyword(_) => CstInputValue::Null,
        ast::Value::BooleanLit(literal) => CstInputValue::Bool(literal.value),
        ast::Value::NumberLit(literal) => CstInputValue::Number(literal.value.to_owned()),
        ast::Value::StringLit(literal) => CstInputValue::from(literal.value.as_ref()),
        ast::Value::Array(array) => {
            CstInputValue::Array(array.elements.iter().map(input).collect())
        }
        ast::Value::Object(object) => CstInputValue::Object(
            object
                .properties
                .iter()
                .map(|property| (property.name.as_str().to_owned(), input(&property.value)))
                .collect(),
        ),
    }
}

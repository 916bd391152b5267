//! The steps of a workflow that run a script: their text and folder.
//!
//! A reader of the YAML that workflows are written in: keys by their indentation, plain and quoted values, block
//! scalars. Anchors and flow mappings are left out; a step that uses them is not found.

/// Shells whose scripts are read; without a name it is one of these on the usual machines.
const SHELLS: &[&str] = &["bash", "sh"];

/// A step that runs a script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Step {
    /// What it runs.
    pub(super) script: String,
    /// The folder that it runs in, as in the workflow; `None` for the root.
    pub(super) folder: Option<String>,
}

/// A value with the keys above it.
struct Value {
    path: Vec<String>,
    text: String,
}

/// Returns the steps of a workflow that a plain shell runs, in their order.
pub(super) fn steps(workflow: &str) -> Vec<Step> {
    let values = values(workflow);
    let setting = |above: &[&str], key: &str| {
        let path: Vec<&str> = above
            .iter()
            .copied()
            .chain(["defaults", "run", key])
            .collect();
        let found = values.iter().find(|value| value.path == path);
        found.map(|value| value.text.clone())
    };
    let runs = values.iter().filter(|value| is_of_step(value, "run"));
    runs.filter_map(|run| {
        let (above, _) = run.path.split_at(run.path.len() - 1);
        let own = |key: &str| {
            let is_it = |value: &&Value| {
                value
                    .path
                    .split_last()
                    .is_some_and(|(last, rest)| last == key && rest == above)
            };
            values.iter().find(is_it).map(|value| value.text.clone())
        };
        let job: Vec<&str> = run.path.iter().take(2).map(String::as_str).collect();
        let of = |key: &str| {
            own(key)
                .or_else(|| setting(&job, key))
                .or_else(|| setting(&[], key))
        };
        let shell = of("shell");
        let is_read = shell.is_none_or(|shell| {
            let name = shell.split_whitespace().next().unwrap_or_default();
            SHELLS.contains(&name)
        });
        is_read.then(|| Step {
            script: run.text.clone(),
            folder: of("working-directory"),
        })
    })
    .collect()
}

/// Returns whether a value belongs to this key of a step: `jobs`, its job, `steps`, the number of the item, the key.
fn is_of_step(value: &Value, key: &str) -> bool {
    match value.path.as_slice() {
        [jobs, _, steps, _, last] => jobs == "jobs" && steps == "steps" && last == key,
        _ => false,
    }
}

/// Reads the scalar values of a document, each with its path; an item of a list is a number in it.
fn values(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut above: Vec<(usize, String)> = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        let mut rest = line.trim_start();
        let mut column = line.len() - rest.len();
        if rest.is_empty() || rest.starts_with('#') {
            continue;
        }
        while let Some(item) = rest.strip_prefix("- ") {
            // an item may begin in the column of the key that has the list
            above.retain(|(at, key)| *at < column || *at == column && !is_item(key));
            above.push((column, format!("#{number}")));
            let inner = item.trim_start();
            column += rest.len() - inner.len();
            rest = inner;
        }
        let Some((key, value)) = key_of(rest) else {
            continue;
        };
        above.retain(|(at, _)| *at < column);
        let path = || {
            above
                .iter()
                .map(|(_, key)| key.clone())
                .chain([key.clone()])
        };
        let path: Vec<String> = path().collect();
        if let Some(style) = value.chars().next().filter(|c| matches!(c, '|' | '>')) {
            let mut block = Vec::new();
            let is_inside = |line: &str| {
                line.trim().is_empty() || line.len() - line.trim_start().len() > column
            };
            while let Some((_, line)) = lines.next_if(|(_, line)| is_inside(line)) {
                block.push(line.trim_end());
            }
            let separator = if style == '|' { "\n" } else { " " };
            let text = block.join(separator);
            found.push(Value { path, text });
        } else if value.is_empty() {
            above.push((column, key));
        } else {
            let text = scalar(value).to_owned();
            found.push(Value { path, text });
        }
    }
    found
}

fn is_item(key: &str) -> bool {
    key.starts_with('#')
}

/// Splits `key: value`.
fn key_of(line: &str) -> Option<(String, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key = !key.contains([' ', '{', '[']) && (value.is_empty() || value.starts_with(' '));
    let value = value.trim();
    let value = if value.starts_with('#') { "" } else { value };
    is_key.then(|| (key.trim_matches(['"', '\'']).to_owned(), value))
}

/// Returns the text of a plain or quoted value, without a comment.
fn scalar(value: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote) {
            return inner.split(quote).next().unwrap_or(inner);
        }
    }
    value.split(" #").next().unwrap_or(value).trim_end()
}

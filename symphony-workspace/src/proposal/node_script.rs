//! Whether a script of `package.json` can be a gate: it terminates, changes nothing, and checks something.

use serde_json::Value;

use super::node_manager::Manager;

/// Scripts that only call one another, followed so far.
const CALLS_MAX: usize = 5;

/// What a script is good for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// A gate can run it.
    Usable(Usable),
    /// There is none of that name.
    Missing,
    /// It only prints a text, as `npm init` writes it.
    Placeholder,
    /// It watches files, and no way to make it end is known.
    Watches,
    /// It corrects what it finds (`eslint --fix`).
    Changes,
}

/// A script that a gate can run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Usable {
    script: String,
    pub(super) runs: Runs,
}

/// How to run a script so that it terminates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Runs {
    /// It does.
    AsItIs,
    /// With `CI=true` in the environment.
    UnderCi,
    /// With arguments for its program.
    With(&'static str),
    /// Without the script: its command, less what made it watch.
    Instead(String),
}

impl Runs {
    pub(super) fn is_as_it_is(&self) -> bool {
        *self == Self::AsItIs
    }
}

impl Usable {
    /// Returns the command of the gate.
    pub(super) fn command(&self, manager: Manager) -> String {
        match &self.runs {
            Runs::AsItIs => manager.run(&self.script, ""),
            Runs::UnderCi => format!("CI=true {}", manager.run(&self.script, "")),
            Runs::With(arguments) => manager.run(&self.script, arguments),
            // what a manager does for its scripts: programs of the packages are found
            Runs::Instead(command) => format!("PATH=\"$PWD/node_modules/.bin:$PATH\" {command}"),
        }
    }
}

/// Returns what a script of a manifest is good for.
pub(super) fn judge(manifest: &Value, script: &str) -> Verdict {
    let text = |name: &str| {
        let script = manifest.get("scripts")?.get(name)?.as_str()?.trim();
        (!script.is_empty()).then_some(script)
    };
    let Some(mut body) = text(script) else {
        return Verdict::Missing;
    };
    for _ in 0..CALLS_MAX {
        match called(body).and_then(text) {
            Some(inner) => body = inner,
            None => break,
        }
    }
    if is_placeholder(body) {
        return Verdict::Placeholder;
    }
    let changes = ["--fix", "--write", "--apply"];
    if body.split_whitespace().any(|word| changes.contains(&word)) {
        return Verdict::Changes;
    }
    match runs(body) {
        Some(runs) => Verdict::Usable(Usable {
            script: script.to_owned(),
            runs,
        }),
        None => Verdict::Watches,
    }
}

/// Returns the script that a script does nothing but call.
fn called(body: &str) -> Option<&str> {
    let words: Vec<&str> = body.split_whitespace().collect();
    match words.as_slice() {
        ["npm" | "pnpm" | "yarn" | "bun", "run", name]
        | ["npm", "run", "-s" | "--silent", name]
        | ["pnpm" | "yarn", name] => Some(name),
        _ => None,
    }
}

/// Returns whether it only prints, and succeeds or fails whatever the code is.
fn is_placeholder(body: &str) -> bool {
    body.contains("no test specified")
        || body.split("&&").all(|part| {
            let mut words = part.split_whitespace();
            matches!(words.next(), Some("echo" | "exit" | "true" | ":" | "false"))
        })
}

/// Returns how it terminates; `None` if it watches and no way out is known.
fn runs(body: &str) -> Option<Runs> {
    let words: Vec<&str> = body.split_whitespace().collect();
    let has = |word: &str| words.contains(&word);
    let follows = |program: &str, next: &str| {
        words
            .windows(2)
            .any(|pair| matches!(pair, [one, two] if *one == program && *two == next))
    };
    if has("nodemon") || has("chokidar") {
        return None;
    }
    if (follows("react-scripts", "test")
        || follows("react-app-rewired", "test")
        || follows("craco", "test"))
        && !has("--watchAll=false")
    {
        return Some(Runs::UnderCi);
    }
    if follows("ng", "test") && !has("--watch=false") && !has("--no-watch") {
        return Some(Runs::With("--watch=false"));
    }
    if follows("karma", "start") && !has("--single-run") {
        return Some(Runs::With("--single-run"));
    }
    let is_flag = |word: &str| {
        [
            "--watch",
            "--watchAll",
            "--watch-all",
            "--watch=true",
            "--watchAll=true",
        ]
        .contains(&word)
            || (word == "-w"
                && ["mocha", "vitest", "ava", "tsc"]
                    .iter()
                    .any(|program| has(program)))
    };
    let mut ends = Vec::new();
    let mut last = "";
    for word in &words {
        let subcommand = matches!(
            (last, *word),
            ("vitest", "watch" | "dev") | ("tsx", "watch")
        );
        last = word;
        match (is_flag(word), subcommand, words.contains(&"tsx")) {
            (true, ..) | (false, true, true) => {}
            (false, true, false) => ends.push("run"),
            (false, false, _) => ends.push(word),
        }
    }
    if ends != words {
        // quotes would not survive a second shell as they are; a list of commands needs the path for each
        return (!body.contains(['"', '\'', '&', '|', ';'])).then(|| Runs::Instead(ends.join(" ")));
    }
    // without a terminal Vitest runs once; this holds on every version
    if has("vitest") && !has("run") && !has("--run") {
        return Some(Runs::UnderCi);
    }
    Some(Runs::AsItIs)
}

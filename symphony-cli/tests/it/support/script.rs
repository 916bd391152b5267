//! Scenario files of the scripted agent.

use serde_json::{Value, json};

/// What only a worker's system prompt has.
pub(crate) const WORKER: &str = "^# Worker$";
/// What only a judge's system prompt has.
pub(crate) const JUDGE: &str = "^# Judge$";
/// A planner's system prompt.
pub(crate) const PLANNER: &str = "^# Planner$";

/// Makes a scenario file; the first scenario that fits is played.
pub(crate) fn scenarios(scenarios: impl IntoIterator<Item = Value>) -> Value {
    object([("scenarios", scenarios.into_iter().collect())])
}

/// Makes a scenario: `when` holds its conditions (`match_system`, `match_prompt`, `uses` …).
pub(crate) fn scenario(name: &str, when: &Value, turns: impl IntoIterator<Item = Value>) -> Value {
    let mut scenario = when.clone();
    scenario["name"] = json!(name);
    scenario["turns"] = turns.into_iter().collect();
    scenario
}

/// Makes a turn with one call.
pub(crate) fn turn(call: Value) -> Value {
    object([("content", Value::Array(vec![call]))])
}

/// Makes a call.
pub(crate) fn call(name: &str, input: Value) -> Value {
    object([
        ("type", "tool_use".into()),
        ("name", name.into()),
        ("input", input),
    ])
}

fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    fields.into_iter().collect()
}

/// A turn that runs a command.
pub(crate) fn bash(command: &str) -> Value {
    turn(call("Bash", json!({ "command": command })))
}

/// The command that commits files as a worker, whose name git does not know.
pub(crate) fn git_commit(files: &str, message: &str) -> String {
    format!(
        "git add {files} && git -c user.name=w -c user.email=w@example.invalid commit -qm '{message}'"
    )
}

/// A turn that writes a file and commits it.
pub(crate) fn commit(file: &str, content: &str) -> Value {
    let commit = git_commit(file, &format!("write {file}"));
    bash(&format!("printf '{content}\\n' > {file} && {commit}"))
}

/// A turn that writes a document with all sections of research.
pub(crate) fn write_research(issue: &str) -> Value {
    let document = [
        "Summary",
        "Current Behaviour",
        "Relevant Code",
        "Constraints and Risks",
        "Open Questions",
        "Recommendation",
    ]
    .map(|section| format!("## {section}\\n\\nSmall.\\n\\n"))
    .concat();
    let folder = format!("docs/tickets/{issue}");
    bash(&format!(
        "mkdir -p {folder} && printf '{document}' > {folder}/research.md"
    ))
}

/// A worker that plays these turns, whatever its issue.
pub(crate) fn worker(turns: impl IntoIterator<Item = Value>) -> Value {
    scenario("worker", &json!({ "match_system": WORKER }), turns)
}

/// A judge that approves whatever it is shown.
pub(crate) fn approving_judge() -> Value {
    let approve = turn(call(
        "mcp__symphony__approve_pr",
        json!({ "comment": "Good." }),
    ));
    scenario("judge", &json!({ "match_system": JUDGE }), [approve])
}

/// A turn that opens a pull request.
pub(crate) fn create_pr(title: &str) -> Value {
    turn(call(
        "mcp__symphony__create_pr",
        json!({ "title": title, "body": "As asked." }),
    ))
}

/// A turn that never comes: the agent is silent for longer than any test takes.
pub(crate) fn hang() -> Value {
    json!({ "content": [{ "type": "text", "text": "never said" }], "faults": [{ "type": "hang", "seconds": 3600 }] })
}

//! Schemas that every client understands: inlined, described, with closed sets as enums.

use std::collections::BTreeMap;

use serde_json::Value;
use symphony_core::tools::{Role, Tool, ToolSet};

use crate::support::{Desk, identity, person};

async fn schemas() -> Vec<(String, Value)> {
    let client = Desk::new().client(person(None)).await;
    let tools = client.list_all_tools().await.unwrap();
    tools
        .into_iter()
        .map(|tool| {
            let text = tool.description.unwrap_or_default();
            assert!(
                text.len() > 30 && text.ends_with('.'),
                "{}: {text}",
                tool.name
            );
            (
                tool.name.to_string(),
                Value::Object(tool.input_schema.as_ref().clone()),
            )
        })
        .collect()
}

/// Calls a check for every object of a schema, with the path to it.
fn walk(value: &Value, path: &str, check: &mut dyn FnMut(&str, &serde_json::Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            check(path, object);
            for (key, inner) in object {
                walk(inner, &format!("{path}/{key}"), check);
            }
        }
        Value::Array(items) => items.iter().for_each(|inner| walk(inner, path, check)),
        _ => {}
    }
}

#[tokio::test]
async fn schemas_hold_no_reference_no_format_and_no_alternatives() {
    let schemas = schemas().await;
    assert_eq!(schemas.len(), ToolSet::ALL.len());
    for (tool, schema) in &schemas {
        walk(schema, tool, &mut |path, object| {
            for word in [
                "$ref", "$defs", "$schema", "format", "oneOf", "anyOf", "allOf", "const",
            ] {
                // `properties` holds names of arguments, not words of the language
                assert!(
                    path.ends_with("/properties") || !object.contains_key(word),
                    "{path}/{word}"
                );
            }
        });
        assert_eq!(schema["type"], "object", "{tool}");
        assert_eq!(schema["additionalProperties"], false, "{tool}");
    }
}

#[tokio::test]
async fn every_argument_is_described() {
    for (tool, schema) in schemas().await {
        walk(&schema, &tool, &mut |path, object| {
            let Some(Value::Object(properties)) = object.get("properties") else {
                return;
            };
            for (name, property) in properties {
                let text = property.get("description").and_then(Value::as_str);
                assert!(
                    text.is_some_and(|text| text.len() > 5),
                    "{path}.{name}: {property}"
                );
            }
        });
    }
}

#[tokio::test]
async fn closed_sets_are_enums() {
    let mut found = Vec::new();
    for (tool, schema) in schemas().await {
        walk(&schema, &tool, &mut |path, object| {
            if let Some(Value::Array(names)) = object.get("enum") {
                let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
                found.push(format!("{path}: {}", names.join(" ")));
            }
        });
    }
    insta::assert_snapshot!(found.join("\n"), @r"
    list_issues/properties/status: backlog todo in_progress review blocked done cancelled
    update_issue_status/properties/priority: urgent high medium low none
    update_issue_status/properties/size: small medium large
    update_issue_status/properties/status: backlog todo in_progress review blocked done cancelled
    create_issue/properties/priority: urgent high medium low none
    create_issue/properties/size: small medium large
    create_subtask/properties/priority: urgent high medium low none
    create_subtask/properties/size: small medium large
    add_finding/properties/kind: note approach gap bug risk review
    add_learning/properties/learning_type: convention pattern gotcha
    create_pr/properties/checklist/items/properties/state: met not_met not_applicable
    propose_done/properties/evidence/items/properties/kind: commit pull_request gate file
    answer_review_point/properties/answer: fixed declined question
    approve_pr/properties/points/items/properties/severity: must should note
    approve_pr/properties/points/items/properties/state: closed reopened
    reject_pr/properties/points/items/properties/severity: must should note
    reject_pr/properties/points/items/properties/state: closed reopened
    approve_done/properties/points/items/properties/severity: must should note
    approve_done/properties/points/items/properties/state: closed reopened
    reject_done/properties/points/items/properties/severity: must should note
    reject_done/properties/points/items/properties/state: closed reopened
    approve_phase/properties/points/items/properties/severity: must should note
    approve_phase/properties/points/items/properties/state: closed reopened
    reject_phase/properties/points/items/properties/severity: must should note
    reject_phase/properties/points/items/properties/state: closed reopened
    ");
}

#[tokio::test]
async fn arguments_and_the_required_ones() {
    let mut lines = Vec::new();
    for (tool, schema) in schemas().await {
        let empty = serde_json::Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&empty);
        let required: Vec<&str> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let names: Vec<String> = properties
            .keys()
            .map(|name| {
                if required.contains(&name.as_str()) {
                    name.clone()
                } else {
                    format!("[{name}]")
                }
            })
            .collect();
        lines.push(format!("{tool} {}", names.join(" ")));
    }
    insta::assert_snapshot!(lines.join("\n"), @r"
    get_issue [issue]
    list_issues [cursor] [label] [limit] [status] [text]
    update_issue_status [labels] [phase] [priority] [reason] [size] [status]
    create_issue [description] [labels] [priority] [size] title
    create_subtask [depends_on] description [priority] [size] title
    add_finding [files] kind text
    add_learning [applies_to] [learning_type] pattern
    add_comment content [issue]
    search_learnings [all_projects] [limit] query
    create_pr [absorb] [approach] body [checklist] [gate_results] title
    propose_done evidence reason
    answer_review_point answer [commit] point text
    approve_pr [comment] [points]
    reject_pr [feedback] [points]
    approve_done [comment] [points]
    reject_done [feedback] [points]
    complete_phase [absorb] [artifact_path] phase [skip_to] summary
    approve_phase [comment] [points]
    reject_phase [feedback] [points]
    record_coverage concept file [notes]
    record_test_health duration_ms [names] test_count
    configure_project gates [judge_instructions] [risk] [sensitive_paths] [setup] [worker_instructions]
    ");
}

/// The page about scenario files has a row for each tool: its arguments, those that are needed before the first semicolon.
#[tokio::test]
async fn the_page_about_scenarios_has_the_arguments_of_every_tool() {
    const PAGE: &str = include_str!("../../../docs/scenarios.md");
    let rows: Vec<(&str, &str)> = PAGE
        .lines()
        .filter_map(|line| {
            let (tool, input) = line.strip_prefix("| `mcp__symphony__")?.split_once(" | ")?;
            // the run of a plan's phase has a `complete_phase` of its own
            (!tool.ends_with("of a plan") && !tool.starts_with('…'))
                .then_some((tool.split('`').next()?, input))
        })
        .collect();
    let schemas = schemas().await;
    for (tool, schema) in &schemas {
        let Some((_, input)) = rows.iter().find(|(name, _)| name == tool) else {
            panic!("docs/scenarios.md has no row for {tool}");
        };
        let (needed, _) = input.split_once("; ").unwrap_or((input, ""));
        let empty = serde_json::Map::new();
        for name in schema["properties"].as_object().unwrap_or(&empty).keys() {
            let mut required = schema["required"].as_array().into_iter().flatten();
            let is_required = required.any(|required| required == name);
            let named = format!("`{name}`");
            assert!(input.contains(&named), "{tool}: {named} is not in the page");
            assert_eq!(needed.contains(&named), is_required, "{tool}: {named}");
        }
    }
    assert_eq!(rows.len(), schemas.len(), "{rows:#?}");
}

/// What clients see changes on purpose only: each form of a tool, with the roles that have it.
#[tokio::test]
async fn what_each_role_is_told_of_its_tools() {
    let mut desk = Desk::new();
    let (_, run) = desk.worker();
    let mut forms: BTreeMap<(Tool, String), Vec<&str>> = BTreeMap::new();
    for role in Role::ALL {
        let client = desk.client(identity(&run, *role)).await;
        for tool in client.list_all_tools().await.unwrap() {
            let form = serde_json::to_string_pretty(&tool).unwrap();
            let name = Tool::parse(&tool.name).unwrap();
            forms.entry((name, form)).or_default().push(role.name());
        }
    }
    let told: Vec<String> = forms
        .iter()
        .map(|((_, form), roles)| format!("{}: {form}", roles.join(", ")))
        .collect();
    insta::assert_snapshot!(told.join("\n"));
}

//! The three polls of openai/symphony's client of Linear: other programs can use the fake too.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use symphony_fakes::FakeLinear;

use crate::raw::post;

/// What their client reads of an issue.
const FIELDS: &str = "id identifier title description priority state { name } branchName url assignee { id } \
    labels { nodes { name } } inverseRelations(first: $relations) { nodes { type issue { id identifier state { name } } } } \
    createdAt updatedAt";

fn ask(fake: &FakeLinear, query: &str, variables: &Value) -> Value {
    let body = json!({ "query": query, "variables": variables });
    // their client sends the key without a word before it
    let (status, answer) = post(&fake.endpoint(), FakeLinear::TOKEN, &body);
    assert_eq!(status, 200, "{answer}");
    answer["data"].clone()
}

fn ids(data: &Value) -> BTreeSet<String> {
    let nodes = data["issues"]["nodes"].as_array().unwrap();
    nodes
        .iter()
        .map(|node| node["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn candidates_are_read_by_project_and_state_page_by_page() {
    let fake = FakeLinear::start();
    let (all, blocker) = fake.with(|world| {
        let project = world.project();
        let blocker = world.add_issue("ada", "ENG", "Blocker", "");
        let mut all = BTreeSet::new();
        for n in 0..5 {
            let id = world.add_issue("ada", "ENG", &format!("Issue {n}"), "Text");
            world.edit_issue(&id, |issue| issue.project = Some(project.clone()));
            world.block(&blocker, &id);
            all.insert(id);
        }
        let done = world.add_issue("ada", "ENG", "Done", "");
        world.edit_issue(&done, |issue| issue.project = Some(project));
        world.move_issue(&done, "Done");
        (all, blocker)
    });
    let query = format!(
        "query Candidates($slug: String!, $states: [String!]!, $size: Int!, $relations: Int!, $from: String) {{ \
         issues(filter: {{ project: {{ slugId: {{ eq: $slug }} }}, state: {{ name: {{ in: $states }} }} }}, first: $size, after: $from) \
         {{ nodes {{ {FIELDS} }} pageInfo {{ hasNextPage endCursor }} }} }}"
    );
    let mut found = BTreeSet::new();
    let mut from = Value::Null;
    for page in 1.. {
        let variables = json!({ "slug": "web-1a2b3c", "states": ["Todo", "In Progress"], "size": 2, "relations": 50, "from": from });
        let data = ask(&fake, &query, &variables);
        found.extend(ids(&data));
        let first = &data["issues"]["nodes"][0];
        let relation = json!({ "type": "blocks", "issue": { "id": blocker, "identifier": "ENG-1", "state": { "name": "Todo" } } });
        assert_eq!(first["inverseRelations"]["nodes"], json!([relation]));
        assert_eq!(first["description"], "Text");
        if data["issues"]["pageInfo"]["hasNextPage"] != true {
            assert_eq!(page, 3);
            break;
        }
        from = data["issues"]["pageInfo"]["endCursor"].clone();
    }
    assert_eq!(found, all);
}

#[test]
fn issues_are_read_by_their_ids_and_the_viewer_by_the_key() {
    let fake = FakeLinear::start();
    let id = fake.with(|world| {
        world.add_issue("ada", "ENG", "Other", "");
        world.add_issue("ada", "ENG", "Wanted", "")
    });
    let query = format!(
        "query Refresh($ids: [ID!]!, $size: Int!, $relations: Int!) {{ \
         issues(filter: {{ id: {{ in: $ids }} }}, first: $size) {{ nodes {{ {FIELDS} }} }} }}"
    );
    let data = ask(
        &fake,
        &query,
        &json!({ "ids": [id, "gone"], "size": 2, "relations": 50 }),
    );
    assert_eq!(ids(&data), [id].into());
    let data = ask(&fake, "query Me { viewer { id } }", &Value::Null);
    assert_eq!(data["viewer"]["id"], fake.with(|world| world.user("ada")));
}

#[test]
fn what_linear_would_not_understand_is_refused() {
    let fake = FakeLinear::start();
    let table = [
        (
            "query { viewer { colour } }",
            Value::Null,
            "GRAPHQL_VALIDATION_FAILED",
        ),
        ("query { viewer }", Value::Null, "GRAPHQL_VALIDATION_FAILED"),
        (
            "query { viewer { id { x } } }",
            Value::Null,
            "GRAPHQL_VALIDATION_FAILED",
        ),
        (
            "query { colours { id } }",
            Value::Null,
            "GRAPHQL_VALIDATION_FAILED",
        ),
        ("query { viewer { id }", Value::Null, "GRAPHQL_PARSE_FAILED"),
        (
            "query A($x: Int!) { viewer { id } }",
            Value::Null,
            "GRAPHQL_VALIDATION_FAILED",
        ),
        (
            "query { issues(first: 251) { nodes { id } } }",
            Value::Null,
            "INVALID_INPUT",
        ),
    ];
    for (query, variables, code) in table {
        let body = json!({ "query": query, "variables": variables });
        let (status, answer) = post(&fake.endpoint(), FakeLinear::TOKEN, &body);
        assert_eq!(status, 400, "{query}");
        assert_eq!(answer["errors"][0]["extensions"]["code"], code, "{query}");
    }
    let (status, _) = post(
        &fake.endpoint(),
        "lin_api_wrong",
        &json!({ "query": "query { viewer { id } }" }),
    );
    assert_eq!(status, 401);
}

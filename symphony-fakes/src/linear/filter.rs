//! Filters: an object whose keys are fields, with comparisons at its ends.

use serde_json::Value;
use symphony_core::Timestamp;

use super::graphql::Problem;
use super::resolve::{Node, Resolved};
use super::world::LinearWorld;

/// Whether a thing matches all parts of a filter.
pub(super) fn matches(world: &LinearWorld, node: &Node, filter: &Value) -> Result<bool, Problem> {
    let Value::Object(parts) = filter else {
        return Ok(true);
    };
    for (name, part) in parts {
        if part.is_null() {
            continue;
        }
        let is_match = match name.as_str() {
            "and" => all(world, node, part)?,
            "or" => any(world, node, part)?,
            "accessibleTeams" => team_matches(world, node, part)?,
            _ => field_matches(world, node, name, part)?,
        };
        if !is_match {
            return Ok(false);
        }
    }
    Ok(true)
}

fn all(world: &LinearWorld, node: &Node, parts: &Value) -> Result<bool, Problem> {
    for part in parts.as_array().into_iter().flatten() {
        if !matches(world, node, part)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn any(world: &LinearWorld, node: &Node, parts: &Value) -> Result<bool, Problem> {
    for part in parts.as_array().into_iter().flatten() {
        if matches(world, node, part)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn field_matches(
    world: &LinearWorld,
    node: &Node,
    name: &str,
    part: &Value,
) -> Result<bool, Problem> {
    match world.field(node, name, &Value::Null)? {
        Resolved::Scalar(value) => compared(&value, part),
        Resolved::One(None) => Ok(part.get("null") == Some(&Value::Bool(true))),
        Resolved::One(Some(other)) => match part.get("null") {
            Some(Value::Bool(is_null)) => Ok(!is_null),
            _ => matches(world, &other, part),
        },
        Resolved::Page(page) => some(world, &page.nodes, part),
        Resolved::Payload(_) => Ok(false),
    }
}

fn some(world: &LinearWorld, nodes: &[Node], part: &Value) -> Result<bool, Problem> {
    let Some(part) = part.get("some") else {
        return Err(Problem::input("only `some` is known of a list"));
    };
    for node in nodes {
        if matches(world, node, part)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn team_matches(world: &LinearWorld, node: &Node, part: &Value) -> Result<bool, Problem> {
    let Node::Project(id) = node else {
        return Err(Problem::unknown_field(node.type_name(), "accessibleTeams"));
    };
    let teams = world.projects.get(id).map(|project| project.teams.clone());
    let nodes: Vec<Node> = teams.into_iter().flatten().map(Node::Team).collect();
    some(world, &nodes, part)
}

fn compared(value: &Value, comparison: &Value) -> Result<bool, Problem> {
    let Value::Object(parts) = comparison else {
        return Err(Problem::input("a comparison is an object"));
    };
    for (name, wanted) in parts {
        let is_in = || wanted.as_array().is_some_and(|list| list.contains(value));
        let is_match = match name.as_str() {
            "eq" => value == wanted,
            "neq" => value != wanted,
            "in" => is_in(),
            "nin" => !is_in(),
            "eqIgnoreCase" => lower(value) == lower(wanted),
            "gt" => order(value, wanted) == Some(std::cmp::Ordering::Greater),
            "lt" => order(value, wanted) == Some(std::cmp::Ordering::Less),
            "gte" => order(value, wanted).is_some_and(std::cmp::Ordering::is_ge),
            "lte" => order(value, wanted).is_some_and(std::cmp::Ordering::is_le),
            _ => {
                return Err(Problem::input(
                    "a comparison that this server does not know",
                ));
            }
        };
        if !is_match {
            return Ok(false);
        }
    }
    Ok(true)
}

fn lower(value: &Value) -> Option<String> {
    value.as_str().map(str::to_lowercase)
}

/// Compares times as times, and numbers as numbers.
fn order(value: &Value, wanted: &Value) -> Option<std::cmp::Ordering> {
    let time = |value: &Value| {
        value
            .as_str()
            .and_then(|text| text.parse::<Timestamp>().ok())
    };
    match (time(value), time(wanted)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => value.as_f64()?.partial_cmp(&wanted.as_f64()?),
    }
}

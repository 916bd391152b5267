//! GraphQL: a document is parsed, its variables are put in, and its selections are answered one by one.

use std::collections::BTreeMap;

use async_graphql_parser::types::{
    ExecutableDocument, Field, FragmentDefinition, OperationDefinition, OperationType, Selection,
    SelectionSet,
};
use async_graphql_parser::{Positioned, parse_query};
use async_graphql_value::ConstValue;
use serde_json::{Map, Value, json};

use super::resolve::{Node, Page, Resolved};
use super::world::LinearWorld;

/// Deepest nesting of selections.
const DEPTH_MAX: usize = 12;

/// Why a query is not answered.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    pub(super) status: u16,
    pub(super) code: &'static str,
    pub(super) message: String,
}

impl Problem {
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self {
            status: 400,
            code: "GRAPHQL_VALIDATION_FAILED",
            message: message.into(),
        }
    }

    pub(super) fn unknown_field(kind: &str, name: &str) -> Self {
        Self::invalid(format!("Cannot query field \"{name}\" on type \"{kind}\"."))
    }

    pub(super) fn input(message: impl Into<String>) -> Self {
        Self {
            status: 400,
            code: "INVALID_INPUT",
            message: message.into(),
        }
    }

    pub(super) fn not_found(kind: &str) -> Self {
        Self {
            status: 200,
            code: "INPUT_ERROR",
            message: format!("Entity not found: {kind} - Could not find referenced {kind}."),
        }
    }

    pub(super) fn answer(&self) -> Value {
        json!({ "errors": [{
            "message": self.message,
            "extensions": { "type": "error", "code": self.code, "userPresentableMessage": self.message },
        }] })
    }
}

/// A parsed document with the values of its variables.
struct Execution<'a> {
    fragments: BTreeMap<&'a str, &'a FragmentDefinition>,
    variables: Map<String, Value>,
}

/// Answers the body of a request: its query, variables, and the name of the operation if it has several.
pub(super) fn execute(world: &mut LinearWorld, body: &Value) -> Result<Value, Problem> {
    let query = body
        .get("query")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let document = parse_query(query).map_err(|error| Problem {
        status: 400,
        code: "GRAPHQL_PARSE_FAILED",
        message: error.to_string(),
    })?;
    let operation = operation(&document, body)?;
    let execution = Execution {
        fragments: document
            .fragments
            .iter()
            .map(|(name, fragment)| (name.as_str(), &fragment.node))
            .collect(),
        variables: variables(operation, body.get("variables"))?,
    };
    let mut data = Map::new();
    for field in execution.fields(&operation.selection_set.node)? {
        let arguments = execution.arguments(field)?;
        let name = field.name.node.as_str();
        let resolved = match operation.ty {
            OperationType::Query => world.query_field(name, &arguments)?,
            OperationType::Mutation => world.mutate(name, &arguments)?,
            OperationType::Subscription => return Err(Problem::invalid("no subscriptions here")),
        };
        let value = execution.value(world, field, &resolved, 0)?;
        data.insert(field.response_key().node.to_string(), value);
    }
    Ok(json!({ "data": data }))
}

fn operation<'a>(
    document: &'a ExecutableDocument,
    body: &Value,
) -> Result<&'a OperationDefinition, Problem> {
    let wanted = body.get("operationName").and_then(Value::as_str);
    let mut operations = document.operations.iter();
    let found = match wanted {
        None => operations.next(),
        Some(wanted) => {
            operations.find(|(name, _)| name.is_none_or(|name| name.as_str() == wanted))
        }
    };
    let found = found.map(|(_, operation)| &operation.node);
    found.ok_or_else(|| Problem::invalid("Unknown operation."))
}

/// Reads the variables that are declared; each has a value unless it may be null or has a default.
fn variables(
    operation: &OperationDefinition,
    given: Option<&Value>,
) -> Result<Map<String, Value>, Problem> {
    let given = given
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    let mut variables = Map::new();
    for definition in &operation.variable_definitions {
        let definition = &definition.node;
        let name = definition.name.node.as_str();
        let default = definition
            .default_value
            .as_ref()
            .map(|value| json(&value.node));
        let value = given.get(name).cloned().or(default).unwrap_or(Value::Null);
        if value.is_null() && !definition.var_type.node.nullable {
            return Err(Problem::invalid(format!(
                "Variable \"${name}\" of a required type was not provided."
            )));
        }
        variables.insert(name.to_owned(), value);
    }
    Ok(variables)
}

fn json(value: &ConstValue) -> Value {
    value.clone().into_json().unwrap_or(Value::Null)
}

impl<'a> Execution<'a> {
    /// Returns the fields of a selection, those of its fragments among them.
    fn fields(&self, set: &'a SelectionSet) -> Result<Vec<&'a Field>, Problem> {
        let mut fields = Vec::new();
        for item in &set.items {
            match &item.node {
                Selection::Field(field) => fields.push(&field.node),
                Selection::FragmentSpread(spread) => {
                    let name = spread.node.fragment_name.node.as_str();
                    let fragment = self.fragments.get(name).copied();
                    let fragment = fragment
                        .ok_or_else(|| Problem::invalid(format!("Unknown fragment \"{name}\".")))?;
                    fields.extend(self.fields(&fragment.selection_set.node)?);
                }
                Selection::InlineFragment(fragment) => {
                    fields.extend(self.fields(&fragment.node.selection_set.node)?);
                }
            }
        }
        Ok(fields)
    }

    fn arguments(&self, field: &Field) -> Result<Value, Problem> {
        let mut arguments = Map::new();
        for (name, value) in &field.arguments {
            let value = value.node.clone().into_const_with(|name| {
                let known = self.variables.get(name.as_str());
                let known = known.ok_or_else(|| {
                    Problem::invalid(format!("Variable \"${name}\" is not defined."))
                })?;
                ConstValue::from_json(known.clone())
                    .map_err(|error| Problem::invalid(error.to_string()))
            })?;
            arguments.insert(name.node.to_string(), json(&value));
        }
        Ok(Value::Object(arguments))
    }

    fn value(
        &self,
        world: &LinearWorld,
        field: &'a Field,
        resolved: &Resolved,
        depth: usize,
    ) -> Result<Value, Problem> {
        if depth > DEPTH_MAX {
            return Err(Problem::invalid("the query is too deep"));
        }
        let set = &field.selection_set;
        match resolved {
            Resolved::Scalar(value) if set.node.items.is_empty() => Ok(value.clone()),
            Resolved::Scalar(_) => Err(Problem::invalid(format!(
                "Field \"{}\" has no fields.",
                field.name.node
            ))),
            Resolved::One(None) => Ok(Value::Null),
            Resolved::One(Some(node)) => self.node(world, set, node, depth),
            Resolved::Page(page) => self.page(world, set, page, depth),
            Resolved::Payload(fields) => {
                let mut shown = Map::new();
                for field in self.fields(&set.node)? {
                    let name = field.name.node.as_str();
                    let known = fields.iter().find(|(known, _)| *known == name);
                    let (_, resolved) =
                        known.ok_or_else(|| Problem::unknown_field("Payload", name))?;
                    let value = self.value(world, field, resolved, depth + 1)?;
                    shown.insert(field.response_key().node.to_string(), value);
                }
                Ok(Value::Object(shown))
            }
        }
    }

    fn node(
        &self,
        world: &LinearWorld,
        set: &'a Positioned<SelectionSet>,
        node: &Node,
        depth: usize,
    ) -> Result<Value, Problem> {
        let fields = self.fields(&set.node)?;
        if fields.is_empty() {
            return Err(Problem::invalid(format!(
                "A {} needs a selection of fields.",
                node.type_name()
            )));
        }
        let mut shown = Map::new();
        for field in fields {
            let name = field.name.node.as_str();
            let value = if name == "__typename" {
                json!(node.type_name())
            } else {
                let resolved = world.field(node, name, &self.arguments(field)?)?;
                self.value(world, field, &resolved, depth + 1)?
            };
            shown.insert(field.response_key().node.to_string(), value);
        }
        Ok(Value::Object(shown))
    }

    fn page(
        &self,
        world: &LinearWorld,
        set: &'a Positioned<SelectionSet>,
        page: &Page,
        depth: usize,
    ) -> Result<Value, Problem> {
        let mut shown = Map::new();
        for field in self.fields(&set.node)? {
            let value = match field.name.node.as_str() {
                "nodes" => {
                    let nodes = page.nodes.iter();
                    let nodes =
                        nodes.map(|node| self.node(world, &field.selection_set, node, depth + 1));
                    Value::Array(nodes.collect::<Result<_, _>>()?)
                }
                "pageInfo" => {
                    let id = |node: Option<&Node>| Resolved::Scalar(json!(node.map(Node::id)));
                    let info = Resolved::Payload(vec![
                        ("hasNextPage", Resolved::Scalar(json!(page.has_next))),
                        (
                            "hasPreviousPage",
                            Resolved::Scalar(json!(page.has_previous)),
                        ),
                        ("startCursor", id(page.nodes.first())),
                        ("endCursor", id(page.nodes.last())),
                    ]);
                    self.value(world, field, &info, depth + 1)?
                }
                name => return Err(Problem::unknown_field("Connection", name)),
            };
            shown.insert(field.response_key().node.to_string(), value);
        }
        Ok(Value::Object(shown))
    }
}

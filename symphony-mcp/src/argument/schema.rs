//! Schemas of arguments, in a form that every client understands.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use symphony_core::tools::Role;

/// Makes a schema in the plain form that every client understands: without references, number formats, or `null` for
/// optional arguments.
pub(crate) fn schema<T: JsonSchema>() -> JsonObject {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    plain(&mut schema);
    match schema {
        Value::Object(mut object) => {
            object.remove("$schema");
            object.remove("title");
            // the type's documentation is for readers of the source; the tool has its own description
            object.remove("description");
            object
        }
        _ => JsonObject::new(),
    }
}

fn plain(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(plain),
        Value::Object(object) => {
            object.values_mut().for_each(plain);
            object.remove("format");
            without_null(object);
        }
        _ => {}
    }
}

/// Turns "this or null" into "this": an argument that is not wanted is omitted.
fn without_null(object: &mut JsonObject) {
    if object.get("default") == Some(&Value::Null) {
        object.remove("default");
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            object.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(names)) = object.get_mut("enum") {
        names.retain(|name| !name.is_null());
    }
}

/// Narrows the statuses of a schema to those that the role may set.
pub(crate) fn offering(mut schema: JsonObject, role: Role) -> JsonObject {
    let names: Vec<&str> = role
        .settable_statuses()
        .iter()
        .map(|status| status.name())
        .collect();
    if let Some(Value::Object(status)) = schema
        .get_mut("properties")
        .and_then(|properties| properties.get_mut("status"))
    {
        status.insert("enum".to_owned(), json!(names));
    }
    schema
}

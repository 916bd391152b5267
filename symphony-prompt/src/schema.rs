//! JSON Schemas of types that belong to other crates, and of the whole input document (feature `schema`).

use schemars::{Schema, schema_for};
use serde_json::{Value, json};

use crate::document::PromptInput;
use crate::worker::WorkerInput;

/// Returns the JSON Schema of [`PromptInput`], the document of `symphony prompt build`.
pub fn document_schema() -> Schema {
    versioned(schema_for!(PromptInput))
}

/// Returns the JSON Schema of [`WorkerInput`], the document of `symphony prompt worker`.
pub fn worker_schema() -> Schema {
    versioned(schema_for!(WorkerInput))
}

/// Adds the version that a document may name, to each of the forms that it may have.
fn versioned(mut schema: Schema) -> Schema {
    let version =
        json!({ "description": "The version of the document's form; 1 without it.", "const": 1 });
    let add = |form: &mut Value| {
        if let Some(properties) = form.get_mut("properties").and_then(Value::as_object_mut) {
            properties.insert("version".to_owned(), version.clone());
        }
    };
    let forms = schema.get_mut("oneOf").and_then(Value::as_array_mut);
    if let Some(forms) = forms {
        forms.iter_mut().for_each(add);
    } else {
        let mut whole = schema.to_value();
        add(&mut whole);
        schema = Schema::try_from(whole).expect("an object is a schema");
    }
    schema
}

//! Checks documents against the description of the interface for programs.

use std::collections::BTreeMap;

use serde_json::Value;

/// The description.
#[derive(Debug)]
pub(crate) struct OpenApi(Value);

/// The properties of an object, with whether others are allowed.
#[derive(Debug, Default)]
struct Properties<'a> {
    known: BTreeMap<&'a str, &'a Value>,
    required: Vec<&'a str>,
    others: bool,
}

impl OpenApi {
    pub(crate) const fn new(description: Value) -> Self {
        Self(description)
    }

    /// The paths that are described.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &String> {
        self.0["paths"].as_object().expect("paths").keys()
    }

    /// Returns how an answer differs from what is described: nothing, where it does not.
    pub(crate) fn differences(&self, path: &str, status: &str, document: &Value) -> Vec<String> {
        let operations = self.0["paths"][path].as_object().expect(path);
        let operation = operations.values().next().expect(path);
        let schema = &operation["responses"][status]["content"]["application/json"]["schema"];
        assert!(schema.is_object(), "{path} describes no answer {status}");
        let mut found = Vec::new();
        self.check(schema, document, path, &mut found);
        found
    }

    fn resolved<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str() {
            Some(name) => {
                let found = self.0.pointer(name.trim_start_matches('#'));
                found.unwrap_or_else(|| panic!("{name} is not described"))
            }
            None => schema,
        }
    }

    fn check(&self, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
        let schema = self.resolved(schema);
        if let Some(choices) = schema["oneOf"].as_array() {
            let fits = choices.iter().any(|choice| {
                let mut wrong = Vec::new();
                self.check(choice, value, at, &mut wrong);
                wrong.is_empty()
            });
            if !fits {
                found.push(format!("{at}: {value} is none of what is described"));
            }
            return;
        }
        let kinds: Vec<&str> = match &schema["type"] {
            Value::String(kind) => vec![kind],
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let fits = kinds.contains(&kind) || kind == "integer" && kinds.contains(&"number");
        if !kinds.is_empty() && !fits {
            found.push(format!("{at}: {kind} in the place of {kinds:?}"));
            return;
        }
        if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
            for value in values {
                self.check(items, value, &format!("{at}[]"), found);
            }
        }
        let Some(object) = value.as_object() else {
            return;
        };
        let mut properties = Properties::default();
        self.collect(schema, &mut properties);
        for name in &properties.required {
            if !object.contains_key(*name) {
                found.push(format!("{at}.{name} is missing"));
            }
        }
        for (name, value) in object {
            let at = format!("{at}.{name}");
            match properties.known.get(name.as_str()) {
                Some(schema) => self.check(schema, value, &at, found),
                None if properties.others => {}
                None => found.push(format!("{at} is not described: {value}")),
            }
        }
    }

    /// Collects what a schema and its parts say of an object.
    fn collect<'a>(&'a self, schema: &'a Value, properties: &mut Properties<'a>) {
        let schema = self.resolved(schema);
        for part in schema["allOf"].as_array().into_iter().flatten() {
            self.collect(part, properties);
        }
        match schema["properties"].as_object() {
            Some(known) => {
                let known = known.iter().map(|(name, schema)| (name.as_str(), schema));
                properties.known.extend(known);
            }
            None if schema["allOf"].is_null() => properties.others = true,
            None => {}
        }
        let required = schema["required"].as_array().into_iter().flatten();
        properties
            .required
            .extend(required.filter_map(Value::as_str));
    }
}

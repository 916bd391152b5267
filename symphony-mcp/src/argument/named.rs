//! Arguments that name a value of one of core's closed sets: a value that is added in core appears in schemas and
//! calls.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};
use symphony_core::closed_set::ClosedSet;

/// A value of a closed set, named by an agent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<T>(pub(crate) T);

impl<'de, T: ClosedSet> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        match name.parse() {
            Ok(value) if T::NAMES_FOR_AGENTS.contains(&name.as_str()) => Ok(Self(value)),
            _ => Err(Error::unknown_variant(&name, T::NAMES_FOR_AGENTS)),
        }
    }
}

impl<T: ClosedSet> JsonSchema for Named<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Named".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": T::NAMES_FOR_AGENTS })
    }
}

//! What a tool consists of: how it is listed, its parameters, and what a call does.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use symphony_core::tools::Role;
use symphony_store::Store;

use crate::answer::{Answer, ToolError};
use crate::argument::schema::schema;
use crate::argument::typed::typed;
use crate::identity::Identity;

/// A call of a tool: the type is the tool's parameters, its fields are a call's arguments. Their doc comments are what
/// agents read.
pub(crate) trait ToolCall: DeserializeOwned + JsonSchema {
    /// The description that agents read.
    const DESCRIPTION: &str;

    /// The same, for roles that read another text.
    fn description(_role: Role) -> &'static str {
        Self::DESCRIPTION
    }

    /// Returns the schema of the parameters.
    fn schema(_role: Role) -> JsonObject {
        schema::<Self>()
    }

    /// Does what is asked, in one transaction of the store.
    fn carry_out(self, store: &mut Store, identity: &Identity) -> Result<Answer, ToolError>;
}

/// A tool as the table of tools has it.
#[derive(Debug)]
pub(crate) struct Specification {
    /// The description for a role.
    pub(crate) description: fn(Role) -> &'static str,
    /// The schema of the parameters for a role.
    pub(crate) schema: fn(Role) -> JsonObject,
    /// Reads the arguments of a call, and carries it out.
    pub(crate) carry_out: fn(&mut Store, &Identity, JsonObject) -> Result<Answer, ToolError>,
}

impl Specification {
    /// Returns the specification of a tool.
    pub(crate) fn of<T: ToolCall>() -> Self {
        Self {
            description: T::description,
            schema: T::schema,
            carry_out: |store, identity, arguments| {
                typed::<T>(arguments)?.carry_out(store, identity)
            },
        }
    }
}

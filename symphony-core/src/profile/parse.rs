//! From a file's text to a profile, with every problem at once.

use super::agent_profile::AgentProfile;
use super::model::ModelChoice;
use crate::agent::AgentType;
use crate::config::NamedProvider;
use crate::front_matter::{FrontMatter, Problem, Reader};
use crate::tools::{Tool, ToolList};

const FIELDS: &[&str] = &[
    "name",
    "type",
    "description",
    "tools",
    "disallowedTools",
    "agent",
    "model",
    "maxTurns",
    "background",
];

/// Most turns that a profile may ask for: ten times what the longest real runs take.
const TURNS_MAX: u32 = 10_000;

/// What a list of tools accepts. The CLI's own tools, such as `Bash`, do not belong there.
const TOOL: &str =
    "a tool of Symphony's, or `'*'` for all of the role's (the CLI's own tools do not belong here)";

/// Returns the type whose name a file has, if it is one that ships: such a file with another type would replace the
/// profile of that other one.
fn shipped_type_of(file: &str) -> Option<AgentType> {
    let name = file.rsplit('/').next().unwrap_or(file);
    let agent = AgentType::parse(name.strip_suffix(".md")?).ok()?;
    AgentType::SHIPPED.contains(&agent).then_some(agent)
}

/// Parses a profile; `file` is how messages name it. Legacy types resolve (`implementer`, `reviewer`).
///
/// # Errors
/// All problems of the file, in its order. An existing tool that the type never has is not one of them: see
/// [`AgentProfile::warnings`].
pub fn parse_profile(file: &str, text: &str) -> Result<AgentProfile, Vec<Problem>> {
    let matter = FrontMatter::parse(file, text).map_err(|problem| vec![*problem])?;
    let mut reader = Reader::new(&matter, FIELDS);
    let name = reader.text("name").map(|text| text.trim().to_owned());
    reader.require("name", "a text");
    let agent = reader.parsed("type", "an agent type (kebab-case)", |text| {
        AgentType::parse(text).ok()
    });
    reader.require("type", "an agent type, such as `worker`");
    if let (Some(agent), Some(named)) = (&agent, shipped_type_of(file))
        && *agent != named
    {
        let found = format!("`{agent}`");
        let expected = format!("`{named}` in a file of this name");
        reader.unexpected("type", &[], found, &expected, None);
    }
    let description = reader
        .text("description")
        .map(|text| text.trim().to_owned());
    reader.require("description", "a text");
    let tools = reader
        .names("tools", Tool::NAMES, TOOL)
        .map_or_else(ToolList::every, ToolList::new);
    let disallowed_tools = reader.names("disallowedTools", Tool::NAMES, TOOL);
    let disallowed_tools = ToolList::new(disallowed_tools.unwrap_or_default());
    let provider = reader.choice("agent", NamedProvider::NAMES, |text| {
        NamedProvider::parse(text).ok()
    });
    let model = ModelChoice::read(&mut reader);
    let turns_max = reader.integer("maxTurns", 1, TURNS_MAX);
    let background = reader.boolean("background").unwrap_or(false);
    reader.require_body();
    let problems = reader.finish();
    match (name, agent, description) {
        (Some(name), Some(agent), Some(description)) if problems.is_empty() => Ok(AgentProfile {
            name,
            agent,
            description,
            tools,
            disallowed_tools,
            provider: provider.map(|provider| provider.to_string()),
            model,
            turns_max,
            background,
            body: matter.body().to_owned(),
        }),
        _ => Err(problems),
    }
}

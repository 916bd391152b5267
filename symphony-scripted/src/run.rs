//! The whole run of the scripted agent.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::binding::{Prompts, choose};
use crate::emit::{Emitter, Ending};
use crate::engine::Play;
use crate::error::ScriptError;
use crate::mcp_client::McpClients;
use crate::options::{ScriptedOptions, Surroundings};
use crate::price::Spent;
use crate::scenario::ScenarioFile;
use crate::tool::{BUILT_IN, Tools};

/// The model's name when none is given.
const MODEL_DEFAULT: &str = "scripted";

/// Plays a scenario and writes the stream to `out`; returns the process's exit code.
///
/// Whatever is wrong with the script ends the run with the text `SCRIPT ERROR: …`, `is_error` and exit code 1. It blocks
/// until the run is over, with a runtime of its own: do not call it from within one.
pub fn run(options: &ScriptedOptions, surroundings: &Surroundings, out: &mut dyn Write) -> u8 {
    let model = options
        .model
        .clone()
        .unwrap_or_else(|| MODEL_DEFAULT.to_owned());
    let mut emitter = Emitter::new(out, model);
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return fail(&mut emitter, &ScriptError::Output(error)),
    };
    let played = runtime.block_on(play(options, surroundings, &mut emitter));
    // A reader of stdin may still be blocked; nothing is lost with it.
    runtime.shutdown_background();
    match played {
        Ok(code) => code,
        Err(error) => fail(&mut emitter, &error),
    }
}

async fn play(
    options: &ScriptedOptions,
    surroundings: &Surroundings,
    emitter: &mut Emitter<'_>,
) -> Result<u8, ScriptError> {
    let system = match &options.system_prompt {
        Some(path) => load(path)?,
        None => String::new(),
    };
    let prompt = match &options.user_prompt {
        Some(path) => load(path)?,
        None => load_stdin()?,
    };
    let file = ScenarioFile::load(&options.scenario)?;
    let mcp = match &options.mcp_config {
        Some(config) => {
            McpClients::connect(config, &surroundings.cwd, surroundings.mcp_timeout).await?
        }
        None => McpClients::default(),
    };
    let tools = Tools {
        cwd: surroundings.cwd.clone(),
        built_in: BUILT_IN
            .into_iter()
            .map(str::to_owned)
            .filter(|name| {
                options
                    .tools
                    .as_ref()
                    .is_none_or(|allowed| allowed.contains(name))
            })
            .collect(),
        mcp,
    };
    emitter.init(
        &surroundings.cwd.to_string_lossy(),
        &tools.names(),
        &tools.mcp.status(),
    )?;
    let model = emitter.model.clone();
    let prompts = Prompts {
        system: &system,
        user: &prompt,
        model: &model,
    };
    let played = match choose(
        &file,
        &options.scenario,
        prompts,
        options.state_dir.as_deref(),
    ) {
        Ok(scenario) => {
            Play {
                scenario: &scenario,
                system: &system,
                prompt: &prompt,
                tools: &tools,
                emitter,
                turns_max: options.turns_max,
                api_retries_max: surroundings.api_retries_max,
                results: Vec::new(),
                spent: Spent::default(),
            }
            .run()
            .await
        }
        Err(error) => Err(error),
    };
    tools.mcp.close().await;
    played
}

/// Tells what is wrong with the script, as the run's result.
fn fail(emitter: &mut Emitter<'_>, error: &ScriptError) -> u8 {
    let text = format!("SCRIPT ERROR: {error}");
    let ending = Ending {
        subtype: "error_during_execution",
        is_error: true,
        text: Some(text.clone()),
        errors: vec![text],
        turns: 1,
        ..Ending::default()
    };
    // When the output is what is broken, the exit code has to say it alone.
    drop(emitter.result(&ending, Spent::default()));
    1
}

fn load(path: &Path) -> Result<String, ScriptError> {
    read_lossy(std::fs::read(path), path)
}

fn load_stdin() -> Result<String, ScriptError> {
    let mut bytes = Vec::new();
    let read = io::stdin().read_to_end(&mut bytes).map(|_| bytes);
    read_lossy(read, &PathBuf::from("stdin"))
}

fn read_lossy(read: io::Result<Vec<u8>>, path: &Path) -> Result<String, ScriptError> {
    read.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .map_err(|source| ScriptError::File {
            path: path.to_owned(),
            source,
        })
}

//! The scripted agent's command line and surroundings.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use crate::error::OptionsError;

const FLAGS: &str = "--scenario, --system-prompt-file, --user-prompt-file, --mcp-config, --state-dir, --model, \
                     --max-turns, --tools";
/// How often the Claude CLI tries a failed request again.
const API_RETRIES_MAX: u32 = 10;
/// How long the Claude CLI waits for an MCP server to start.
const MCP_TIMEOUT: Duration = Duration::from_secs(30);

/// The command line of the scripted agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScriptedOptions {
    /// The scenario file.
    pub scenario: PathBuf,
    /// The system prompt's file; none: an empty one.
    pub system_prompt: Option<PathBuf>,
    /// The user prompt's file; none: stdin.
    pub user_prompt: Option<PathBuf>,
    /// The MCP configuration; none: no MCP server.
    pub mcp_config: Option<PathBuf>,
    /// Where uses of scenarios are counted; none: only within the process.
    pub state_dir: Option<PathBuf>,
    /// The model's name, for `match_model` and the stream.
    pub model: Option<String>,
    /// The limit of turns.
    pub turns_max: Option<u32>,
    /// The built-in tools it may use; none: all of `Bash`, `Read`, `Write`, `Edit`.
    pub tools: Option<Vec<String>>,
}

impl ScriptedOptions {
    /// Returns the arguments that [`Self::parse_args`] reads back.
    pub fn to_args(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> = vec!["--scenario".into(), self.scenario.clone().into()];
        let mut add = |flag: &str, value: Option<OsString>| {
            if let Some(value) = value {
                args.push(flag.into());
                args.push(value);
            }
        };
        add(
            "--system-prompt-file",
            self.system_prompt.clone().map(Into::into),
        );
        add(
            "--user-prompt-file",
            self.user_prompt.clone().map(Into::into),
        );
        add("--mcp-config", self.mcp_config.clone().map(Into::into));
        add("--state-dir", self.state_dir.clone().map(Into::into));
        add("--model", self.model.clone().map(Into::into));
        add(
            "--max-turns",
            self.turns_max.map(|turns| turns.to_string().into()),
        );
        add(
            "--tools",
            self.tools.as_ref().map(|tools| tools.join(",").into()),
        );
        args
    }

    /// Reads the arguments.
    ///
    /// # Errors
    /// When a flag is unknown, lacks its value, has a wrong one, or `--scenario` is missing.
    pub fn parse_args(args: impl IntoIterator<Item = OsString>) -> Result<Self, OptionsError> {
        let mut options = Self::default();
        let mut scenario = None;
        let mut args = args.into_iter();
        while let Some(flag) = args.next() {
            let flag = flag.to_string_lossy().into_owned();
            let mut value = || {
                args.next()
                    .ok_or_else(|| OptionsError::NoValue { flag: flag.clone() })
            };
            let text = |value: OsString| value.to_string_lossy().into_owned();
            match flag.as_str() {
                "--scenario" => scenario = Some(value()?.into()),
                "--system-prompt-file" => options.system_prompt = Some(value()?.into()),
                "--user-prompt-file" => options.user_prompt = Some(value()?.into()),
                "--mcp-config" => options.mcp_config = Some(value()?.into()),
                "--state-dir" => options.state_dir = Some(value()?.into()),
                "--model" => options.model = Some(text(value()?)),
                "--max-turns" => {
                    let found = text(value()?);
                    options.turns_max =
                        Some(found.parse().ok().ok_or_else(|| OptionsError::BadValue {
                            flag: flag.clone(),
                            found: found.clone(),
                            expected: "a number of turns",
                        })?);
                }
                "--tools" => {
                    let names = text(value()?);
                    options.tools = Some(
                        names
                            .split(',')
                            .filter(|name| !name.is_empty())
                            .map(str::to_owned)
                            .collect(),
                    );
                }
                _ => {
                    return Err(OptionsError::Unknown {
                        found: flag,
                        expected: FLAGS,
                    });
                }
            }
        }
        options.scenario = scenario.ok_or(OptionsError::Missing { flag: "--scenario" })?;
        Ok(options)
    }
}

/// What the scripted agent finds around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// The working directory, in which tools run.
    pub cwd: PathBuf,
    /// How often a failed request is tried again (`CLAUDE_CODE_MAX_RETRIES`, default 10).
    pub api_retries_max: u32,
    /// How long an MCP server may take to start (`MCP_TIMEOUT` in milliseconds, default 30 s).
    pub mcp_timeout: Duration,
}

impl Surroundings {
    /// Makes surroundings from a working directory and a view of the environment.
    pub fn new(cwd: PathBuf, variable: impl Fn(&OsStr) -> Option<OsString>) -> Self {
        let number = |name: &str| -> Option<u64> {
            variable(OsStr::new(name))?.to_str()?.trim().parse().ok()
        };
        Self {
            cwd,
            api_retries_max: number("CLAUDE_CODE_MAX_RETRIES")
                .and_then(|retries| u32::try_from(retries).ok())
                .unwrap_or(API_RETRIES_MAX),
            mcp_timeout: number("MCP_TIMEOUT").map_or(MCP_TIMEOUT, Duration::from_millis),
        }
    }
}

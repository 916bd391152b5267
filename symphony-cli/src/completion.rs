//! What a shell offers while a person types: commands, options, and the ids that the project's database knows.
//!
//! A shell calls the program for each press of the key, so it only reads, and says nothing when it cannot.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, Command};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::Shells;
use symphony_core::agent::AgentType;
use symphony_core::config::NamedProvider;
use symphony_store::{StoreError, Suggestion, Suggestions};

use crate::failure::Exit;
use crate::place::Surroundings;

/// The variable by which a shell asks. It is not `COMPLETE`, which other programs use, too.
const VARIABLE: &str = "SYMPHONY_COMPLETE";
/// Phases that ship with a contract.
const PHASES: [&str; 4] = ["research", "architecture", "grooming", "ready"];
/// Characters of a title that are shown beside an id: shells put it on the same line.
const ABOUT_CHARS_MAX: usize = 60;

/// Answers a shell that asks what could come next; none when none asks.
pub(crate) fn complete(arguments: &[OsString], tree: fn() -> Command) -> Option<ExitCode> {
    std::env::var_os(VARIABLE).filter(|shell| !shell.is_empty())?;
    let current = std::env::current_dir().ok();
    let place = Place::of(arguments);
    let done = CompleteEnv::with_factory(move || with_values(tree(), &place))
        .var(VARIABLE)
        .bin("symphony")
        .try_complete(arguments.to_vec(), current.as_deref());
    Some(match done {
        Ok(_) => Exit::Done.into(),
        Err(_) => Exit::Failed.into(),
    })
}

/// Returns what a shell has to load: it asks the program from then on.
pub(crate) fn registration(shell: &str) -> Option<Vec<u8>> {
    let shells = Shells::builtins();
    let shell = shells.completer(shell)?;
    let mut script = Vec::new();
    shell
        .write_registration(VARIABLE, "symphony", "symphony", "symphony", &mut script)
        .ok()?;
    Some(script)
}

/// Where the typed command would run.
#[derive(Debug, Clone)]
struct Place {
    directory: Option<PathBuf>,
    config: Option<PathBuf>,
}

impl Place {
    /// Finds the global options among the words on the line.
    fn of(arguments: &[OsString]) -> Self {
        let after = |names: &[&str]| {
            let at = arguments
                .iter()
                .position(|word| names.iter().any(|name| word == name))?;
            arguments.get(at + 1).map(PathBuf::from)
        };
        Self {
            directory: after(&["-C", "--directory"]),
            config: after(&["--config"]),
        }
    }

    /// Opens the database of the project; none outside of one.
    fn open(&self) -> Option<Suggestions> {
        let surroundings =
            Surroundings::of_completion(self.directory.clone(), self.config.clone()).ok()?;
        let installation = surroundings.installation().ok()?;
        // a server may take seconds to answer, and the person is typing
        Suggestions::open(installation.config.database.file()?).ok()?
    }
}

/// Adds to each argument of the tree the values that the database or the program knows, by the name of its value.
fn with_values(mut tree: Command, place: &Place) -> Command {
    tree.build();
    below(tree, "", place)
}

fn below(command: Command, above: &str, place: &Place) -> Command {
    let name = command.get_name().to_owned();
    command
        .mut_args(|arg| with_value(arg, above, &name, place))
        .mut_subcommands(|sub| below(sub, &name, place))
}

fn with_value(arg: Arg, above: &str, command: &str, place: &Place) -> Arg {
    let value = arg
        .get_value_names()
        .and_then(<[_]>::first)
        .map(ToString::to_string)
        .unwrap_or_default();
    let of_plan = above == "plan" || command == "plan";
    let sources: &'static [Source] = match value.as_str() {
        "ISSUE" | "IDENTIFIER" => &[Suggestions::issues],
        "ID|ISSUE|PLAN" => &[
            Suggestions::pull_requests,
            Suggestions::issues,
            Suggestions::plans,
        ],
        "ISSUE|PLAN" => &[Suggestions::issues, Suggestions::plans],
        "RUN|ISSUE" => &[Suggestions::issues, Suggestions::runs],
        "RUN" => &[Suggestions::runs],
        "PLAN" | "PLAN|FILE" => &[Suggestions::plans],
        "PHASE" if of_plan => &[Suggestions::plan_phases],
        "PHASE" => {
            let phases = || PHASES.map(str::to_owned).to_vec();
            return arg.add(known(phases));
        }
        "PROVIDER" => {
            let providers = || {
                NamedProvider::NAMES
                    .iter()
                    .map(ToString::to_string)
                    .collect()
            };
            return arg.add(known(providers));
        }
        "PROFILE" | "TYPE" => {
            let types = || AgentType::SHIPPED.iter().map(ToString::to_string).collect();
            return arg.add(known(types));
        }
        _ => return arg,
    };
    let place = place.clone();
    arg.add(ArgValueCompleter::new(move |typed: &OsStr| {
        suggest(typed, sources, &place)
    }))
}

/// What reads one kind of ids.
type Source = fn(&Suggestions, &str) -> Result<Vec<Suggestion>, StoreError>;

fn suggest(typed: &OsStr, sources: &[Source], place: &Place) -> Vec<CompletionCandidate> {
    let (Some(typed), Some(database)) = (typed.to_str(), place.open()) else {
        return Vec::new();
    };
    let found = sources
        .iter()
        .filter_map(|read| read(&database, typed).ok());
    found.flatten().map(candidate).collect()
}

fn candidate(suggestion: Suggestion) -> CompletionCandidate {
    let about: String = suggestion.about.chars().take(ABOUT_CHARS_MAX).collect();
    CompletionCandidate::new(suggestion.id).help(Some(about.into()))
}

/// Names that the program itself knows.
fn known(names: fn() -> Vec<String>) -> ArgValueCompleter {
    ArgValueCompleter::new(move |typed: &OsStr| {
        let typed = typed.to_string_lossy().into_owned();
        let mut names = names();
        names.retain(|name| name.starts_with(&typed));
        names.into_iter().map(CompletionCandidate::new).collect()
    })
}

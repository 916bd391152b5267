//! Reads the settings of a file into their types.

use std::collections::BTreeMap;
use std::path::PathBuf;

use symphony_core::front_matter::{Node, Problem};
use symphony_core::workflow_file::SECTIONS;

use super::model::{
    ACTIVE_STATES, AGENTS, Agent, COMMAND, Codex, Config, DEFAULT_ENDPOINT, HOOK_TIMEOUT, Hooks,
    INTERVAL, Polling, READ_TIMEOUT, RETRY_BACKOFF, STALL_TIMEOUT, Server, StateName,
    TERMINAL_STATES, TURN_TIMEOUT, TURNS, Tracker, Workspace,
};
use super::path::{Resolved, default_root, resolve};
use super::place::{Place, reference};
use super::secret::Secret;
use super::section::{Findings, Section, integer_of};
use crate::source::{Note, Source};

/// The variable that holds Linear's token where the settings name no other.
const TOKEN_VARIABLE: &str = "LINEAR_API_KEY";

/// Settings that were read, with everything that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The settings; defaults stand in for what is wrong.
    pub config: Config,
    /// What is wrong, in the order of the file. New work waits while there is any.
    pub problems: Vec<Problem>,
    /// What a person may want to know, such as fields that are ignored.
    pub notes: Vec<Note>,
}

impl Config {
    /// Reads the settings of a file at a place.
    pub fn read(source: &Source, place: &Place<'_>) -> Reading {
        let mut findings = Findings {
            notes: source.notes().to_vec(),
            ..Findings::default()
        };
        let found = &mut findings;
        let whole = Section::whole(source.settings(), &SECTIONS, found);
        let config = Self {
            tracker: tracker(&whole, place, found),
            polling: polling(&whole, found),
            workspace: workspace(&whole, place, found),
            hooks: hooks(&whole, found),
            agent: agent(&whole, found),
            codex: codex(&whole, found),
            server: server(&whole, found),
        };
        let Findings {
            mut problems,
            mut notes,
        } = findings;
        problems.sort_by_key(|problem| problem.position);
        notes.sort_by_key(|note| note.line);
        Reading {
            config,
            problems,
            notes,
        }
    }
}

fn tracker(whole: &Section<'_>, place: &Place<'_>, found: &mut Findings) -> Tracker {
    const KNOWN: [&str; 6] = [
        "kind",
        "endpoint",
        "api_key",
        "project_slug",
        "active_states",
        "terminal_states",
    ];
    let section = whole.inner("tracker", &KNOWN, found);
    let text = |name, found: &mut Findings| {
        let text = section.text(name, found).map(str::trim);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let states = |name, default: &[&str], found: &mut Findings| {
        let default = || default.iter().map(|state| (*state).to_owned()).collect();
        section.names(name, found).unwrap_or_else(default)
    };
    let active_states: Vec<String> = states("active_states", &ACTIVE_STATES, found);
    if active_states.is_empty() {
        let none = "no state".to_owned();
        let expected = "the name of at least one state: tickets in it are worked on";
        section.unexpected("active_states", none, expected, found);
    }
    Tracker {
        kind: text("kind", found),
        endpoint: text("endpoint", found).unwrap_or_else(|| DEFAULT_ENDPOINT.to_owned()),
        api_key: api_key(&section, place, found),
        project_slug: text("project_slug", found),
        active_states,
        terminal_states: states("terminal_states", &TERMINAL_STATES, found),
    }
}

/// A variable that is set to nothing means no token; one that is not set means the tracker's usual variable.
fn api_key(section: &Section<'_>, place: &Place<'_>, found: &mut Findings) -> Option<Secret> {
    const NAME: &str = "api_key";
    let usual = |found: &mut Findings| from_variable(section, TOKEN_VARIABLE, place, found);
    let text = match section.node(NAME) {
        None => return usual(found).flatten(),
        Some(Node::Text(text)) => text.trim(),
        Some(other) => {
            // whatever it is, it may be the token
            let kind = match other {
                Node::List(_) => "a list",
                Node::Mapping(_) => "a mapping",
                Node::Tagged(_) => "a value with a tag",
                _ => "a value that is not text",
            };
            section.unexpected(
                NAME,
                kind.to_owned(),
                "a text (in quotes), or `$VARIABLE`",
                found,
            );
            return None;
        }
    };
    let Some(name) = reference(text) else {
        return Secret::new(text);
    };
    if let Some(token) = from_variable(section, name, place, found) {
        return token;
    }
    let text = format!("the variable `{name}` is not set, so `{TOKEN_VARIABLE}` is used");
    section.note(NAME, text, found);
    usual(found).flatten()
}

/// Returns `None` for a variable that is not set, and `Some(None)` for one that holds no token.
#[expect(
    clippy::option_option,
    reason = "not set and set to nothing are different answers"
)]
fn from_variable(
    section: &Section<'_>,
    name: &str,
    place: &Place<'_>,
    found: &mut Findings,
) -> Option<Option<Secret>> {
    let value = (place.variable)(name)?;
    let Some(token) = value.to_str() else {
        let kind = format!("bytes that are not text, in the variable `{name}`");
        section.unexpected("api_key", kind, "a token", found);
        return Some(None);
    };
    Some(Secret::new(token))
}

fn polling(whole: &Section<'_>, found: &mut Findings) -> Polling {
    let section = whole.inner("polling", &["interval_ms"], found);
    let interval = section.milliseconds("interval_ms", found);
    Polling {
        interval: interval.unwrap_or(INTERVAL),
    }
}

fn workspace(whole: &Section<'_>, place: &Place<'_>, found: &mut Findings) -> Workspace {
    let section = whole.inner("workspace", &["root"], found);
    let root = root(&section, place, found);
    Workspace {
        root: root.unwrap_or_else(|| default_root(place)),
    }
}

fn root(section: &Section<'_>, place: &Place<'_>, found: &mut Findings) -> Option<PathBuf> {
    const NAME: &str = "root";
    let text = section.text(NAME, found)?.trim();
    if text.is_empty() || text.contains('\0') {
        let blank = "a blank text, or one with a zero byte".to_owned();
        section.unexpected(NAME, blank, "a path, or `$VARIABLE`", found);
        return None;
    }
    match resolve(text, place) {
        Resolved::Path(path) => Some(path),
        Resolved::Unset(name) => {
            let text = format!("the variable `{name}` is not set or empty, so the default is used");
            section.note(NAME, text, found);
            None
        }
        Resolved::NoHome => {
            let problem = "`~`, and this user has no home folder".to_owned();
            section.unexpected(NAME, problem, "an absolute path", found);
            None
        }
        Resolved::OtherHome(name) => {
            let expected = "an absolute path, or one that begins with `~/`";
            section.unexpected(NAME, format!("`{name}`"), expected, found);
            None
        }
    }
}

fn hooks(whole: &Section<'_>, found: &mut Findings) -> Hooks {
    const TIMEOUT: &str = "timeout_ms";
    const KNOWN: [&str; 5] = [
        "after_create",
        "before_run",
        "after_run",
        "before_remove",
        TIMEOUT,
    ];
    let section = whole.inner("hooks", &KNOWN, found);
    let script = |name, found: &mut Findings| {
        let text = section.text(name, found);
        text.filter(|text| !text.trim().is_empty())
            .map(str::to_owned)
    };
    let is_positive = |node| integer_of(node).is_none_or(|timeout| timeout > 0);
    let timeout = if section.node(TIMEOUT).is_none_or(is_positive) {
        section.milliseconds(TIMEOUT, found)
    } else {
        let default = HOOK_TIMEOUT.as_millis();
        section.note(
            TIMEOUT,
            format!("not positive, so the default of {default} is used"),
            found,
        );
        None
    };
    Hooks {
        after_create: script("after_create", found),
        before_run: script("before_run", found),
        after_run: script("after_run", found),
        before_remove: script("before_remove", found),
        timeout: timeout.unwrap_or(HOOK_TIMEOUT),
    }
}

fn agent(whole: &Section<'_>, found: &mut Findings) -> Agent {
    const KNOWN: [&str; 4] = [
        "max_concurrent_agents",
        "max_turns",
        "max_retry_backoff_ms",
        "max_concurrent_agents_by_state",
    ];
    let section = whole.inner("agent", &KNOWN, found);
    let agents = section.count("max_concurrent_agents", found);
    let turns = section.count("max_turns", found);
    let backoff = section.milliseconds("max_retry_backoff_ms", found);
    Agent {
        concurrent_max: agents.unwrap_or(AGENTS),
        turns_max: turns.unwrap_or(TURNS),
        retry_backoff_max: backoff.unwrap_or(RETRY_BACKOFF),
        concurrent_max_by_state: limits_by_state(&section, found),
    }
}

/// Limits that are no positive number are ignored, as the specification says, and noted.
fn limits_by_state(agent: &Section<'_>, found: &mut Findings) -> BTreeMap<StateName, u32> {
    let section = agent.inner("max_concurrent_agents_by_state", &[], found);
    let mut limits = BTreeMap::new();
    for (index, (name, value)) in section.entries().enumerate() {
        let state = StateName::new(&name.unwrap_or_default());
        let limit = integer_of(value).filter(|limit| *limit > 0);
        let limit = limit.map(|limit| u32::try_from(limit).unwrap_or(u32::MAX));
        match limit {
            Some(limit) if !state.is_blank() => {
                if limits.insert(state, limit).is_some() {
                    let text = "names the same state as a line above, and replaces it";
                    section.note_entry(index, text.to_owned(), found);
                }
            }
            _ => {
                let text = format!(
                    "found {}, which is not a positive number for a state; ignored",
                    value.described()
                );
                section.note_entry(index, text, found);
            }
        }
    }
    limits
}

fn codex(whole: &Section<'_>, found: &mut Findings) -> Codex {
    const STALL: &str = "stall_timeout_ms";
    const KNOWN: [&str; 10] = [
        "command",
        "model",
        "reasoning_effort",
        "service_tier",
        "approval_policy",
        "thread_sandbox",
        "turn_sandbox_policy",
        "turn_timeout_ms",
        "read_timeout_ms",
        STALL,
    ];
    let section = whole.inner("codex", &KNOWN, found);
    let is_off = |node| integer_of(node).is_some_and(|timeout| timeout <= 0);
    let stall_timeout = if section.node(STALL).is_some_and(is_off) {
        None
    } else {
        Some(section.milliseconds(STALL, found).unwrap_or(STALL_TIMEOUT))
    };
    let command = section.text("command", found);
    let sandbox = section.text("thread_sandbox", found);
    let word = |name, found: &mut Findings| {
        let text = section.text(name, found).map(str::trim);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    Codex {
        command: command.unwrap_or(COMMAND).to_owned(),
        model: word("model", found),
        reasoning_effort: word("reasoning_effort", found),
        service_tier: word("service_tier", found),
        approval_policy: section.passed_on(
            "approval_policy",
            "a text or a mapping",
            |node| matches!(node, Node::Text(_) | Node::Mapping(_)),
            found,
        ),
        thread_sandbox: sandbox.map(str::to_owned),
        turn_sandbox_policy: section.passed_on(
            "turn_sandbox_policy",
            "a mapping",
            |node| matches!(node, Node::Mapping(_)),
            found,
        ),
        turn_timeout: section
            .milliseconds("turn_timeout_ms", found)
            .unwrap_or(TURN_TIMEOUT),
        read_timeout: section
            .milliseconds("read_timeout_ms", found)
            .unwrap_or(READ_TIMEOUT),
        stall_timeout,
    }
}

fn server(whole: &Section<'_>, found: &mut Findings) -> Server {
    let section = whole.inner("server", &["port"], found);
    let bounds = (0, u16::MAX.into());
    let port = section.integer("port", bounds, "a port from 0 to 65535", found);
    Server {
        port: port.and_then(|port| u16::try_from(port).ok()),
    }
}

//! Real CLIs in front of a model that fails: what becomes of the run, its issue and its provider in each case.
//!
//! Every agent makes one good call first, so that what was used before the fault is seen to count. The CLIs are set to give
//! up soon: by themselves they take up to three minutes.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::support::{Project, RealCli, WORKER, agents_of, kill, scenario, scenarios, until};

/// Projects at a time: each agent needs most of a processor while it starts.
const AT_ONCE: usize = 3;

/// What one case is, and what is to become of it.
struct Case {
    name: &'static str,
    cli: RealCli,
    /// What the model does when the agent comes back from its first call.
    then: Value,
    /// Laid over the configuration.
    config: Value,
    /// As `config`, with a time limit that is so many times as long as on most machines.
    limit: Option<fn(u64) -> Value>,
    /// Whether the first call is answered.
    begins: bool,
    /// Done when the first call is over.
    act: Option<fn(&Project, &str)>,
    /// `[run, class, input tokens, whether the cost was told, issue, failures, total runs, hold, next]`.
    expected: Value,
    /// What it may be instead: which of two it is depends on what arrived before the fault.
    or_else: Option<Value>,
}

fn case(cli: RealCli, name: &'static str, then: Value, expected: Value) -> Case {
    Case {
        name,
        cli,
        then,
        config: json!({}),
        limit: None,
        begins: true,
        act: None,
        expected,
        or_else: None,
    }
}

impl Case {
    fn with(mut self, config: Value) -> Self {
        self.config = config;
        self
    }

    /// A time limit ends it.
    fn limited(mut self, limit: fn(u64) -> Value) -> Self {
        self.limit = Some(limit);
        self
    }

    /// The model never answers.
    fn unanswered(mut self) -> Self {
        self.begins = false;
        self
    }

    fn or_else(mut self, expected: Value) -> Self {
        self.or_else = Some(expected);
        self
    }

    fn act(mut self, act: fn(&Project, &str)) -> Self {
        self.act = Some(act);
        self
    }
}

/// A turn that says something, after faults.
fn says(faults: &Value) -> Value {
    json!({ "content": [{ "type": "text", "text": "I go on another time." }], "faults": faults })
}

fn http(status: u16) -> Value {
    says(&json!([{ "type": "http", "status": status, "times": -1 }]))
}

/// A refusal with the provider's own words, whenever it is asked.
fn refused(status: u16, error_type: &str, message: &str) -> Value {
    says(&json!([{
        "type": "http", "status": status, "times": -1, "error_type": error_type, "message": message,
    }]))
}

/// A fault once, or for ever.
fn fault(kind: &str, times: i32) -> Value {
    says(&json!([{ "type": kind, "times": times, "seconds": 3600 }]))
}

/// What was used: tokens, and whether the CLI told what they cost, which it does in its result only.
type Used = (u64, bool);

/// The run is over and its issue waits for the provider.
fn held(class: &str, (tokens, cost): Used) -> Value {
    json!(["failed", class, tokens, cost, "todo", 0, 0, class, null])
}

/// The run failed at its task.
fn failed(status: &str, class: &str, (tokens, cost): Used) -> Value {
    json!([status, class, tokens, cost, "todo", 1, 1, null, "backoff"])
}

/// The run went well; it goes on another time.
fn well((tokens, cost): Used) -> Value {
    json!([
        "succeeded",
        null,
        tokens,
        cost,
        "todo",
        0,
        1,
        null,
        "continuation"
    ])
}

/// A turn with one call.
fn call(name: &str, input: &Value) -> Value {
    json!({ "content": [{ "type": "tool_use", "name": name, "input": input }] })
}

/// What the subagent is told.
const SUBAGENT: &str = "Look whether all is well.";
/// Tokens that the subagent uses.
const OF_SUBAGENT: u64 = 7;

/// Tokens of a turn.
const TURN: u64 = 100;

fn claude() -> Vec<Case> {
    let case = |name, then, expected| case(RealCli::Claude, name, then, expected);
    let broken_server =
        json!({ "mcpServers": { "symphony": { "command": "false", "alwaysLoad": true } } })
            .to_string();
    vec![
        case(
            "429 for ever",
            http(429),
            held("rate_limited", (TURN, true)),
        ),
        case("529 for ever", http(529), held("overloaded", (TURN, true))),
        case(
            "500 for ever",
            http(500),
            held("provider_error", (TURN, true)),
        ),
        // asked to stop, it reports what it cost
        case("401", http(401), held("auth_failed", (TURN, true))),
        case(
            "no credit",
            refused(
                400,
                "invalid_request_error",
                "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade \
                 or purchase credits.",
            ),
            held("credit_exhausted", (TURN, true)),
        ),
        case(
            "400",
            http(400),
            failed("failed", "invalid_request", (TURN, true)),
        ),
        case(
            "500 once",
            says(&json!([{ "type": "http", "status": 500 }])),
            well((2 * TURN, true)),
        ),
        // the CLI counts the turn that was cut when its beginning has arrived
        case("a cut stream once", fault("cut", 1), well((2 * TURN, true)))
            .or_else(well((3 * TURN, true))),
        case(
            "a malformed stream once",
            fault("malformed", 1),
            well((3 * TURN, true)),
        ),
        case(
            "connections reset for ever",
            fault("reset", -1),
            held("network", (TURN, true)),
        ),
        case(
            "no answer at all",
            fault("hang", -1),
            held("network", (TURN, true)),
        )
        .limited(|times| json!({ "env": { "API_TIMEOUT_MS": (3_000 * times).to_string() } })),
        case(
            "a silent stream",
            fault("hang_stream", -1),
            failed("stalled", "stalled", (2 * TURN, true)),
        )
        .limited(stall),
        case(
            "a killed CLI",
            fault("hang", -1),
            failed("failed", "agent_failed", (TURN, false)),
        )
        .act(kill_agent),
        case(
            "a tool that the project's settings deny",
            call("Bash", &json!({ "command": "touch forbidden" })),
            failed("failed", "permission_denied", (3 * TURN, true)),
        ),
        case(
            "a background task",
            call(
                "Bash",
                &json!({ "command": "python3 -c 'import time; time.sleep(600)'", "run_in_background": true }),
            ),
            well((3 * TURN, true)),
        )
        .with(json!({ "env": { "BASH_DEFAULT_TIMEOUT_MS": "1500" } })),
        case(
            "a subagent",
            call(
                "Agent",
                &json!({ "description": "look", "prompt": SUBAGENT, "subagent_type": "general-purpose" }),
            ),
            well((3 * TURN + OF_SUBAGENT, true)),
        ),
        case(
            "an MCP server that does not come up",
            says(&json!([])),
            failed("failed", "mcp_unavailable", (0, true)),
        )
        .with(json!({ "args": ["--mcp-config", broken_server] }))
        .unanswered(),
    ]
}

/// Codex tells what it used when its turn is complete.
const NOTHING: Used = (0, false);

fn codex() -> Vec<Case> {
    let case = |name, then, expected| case(RealCli::Codex, name, then, expected);
    vec![
        case("429 for ever", http(429), held("rate_limited", NOTHING)),
        case("500 for ever", http(500), held("provider_error", NOTHING)),
        case("401", http(401), held("auth_failed", NOTHING)),
        case(
            "no credit",
            refused(
                429,
                "insufficient_quota",
                "You exceeded your current quota, please check your plan and billing details.",
            ),
            held("credit_exhausted", NOTHING),
        ),
        case(
            "400",
            http(400),
            failed("failed", "invalid_request", NOTHING),
        ),
        case(
            "500 once",
            says(&json!([{ "type": "http", "status": 500 }])),
            well((2 * TURN, false)),
        ),
        case(
            "a cut stream once",
            fault("cut", 1),
            well((2 * TURN, false)),
        ),
        case(
            "a malformed event, which it passes over",
            fault("malformed", -1),
            well((2 * TURN, false)),
        ),
        case(
            "connections reset for ever",
            fault("reset", -1),
            held("network", NOTHING),
        ),
        case(
            "a silent stream",
            fault("hang_stream", -1),
            failed("stalled", "stalled", NOTHING),
        )
        .limited(stall),
        case(
            "a killed CLI",
            fault("hang", -1),
            failed("failed", "agent_failed", NOTHING),
        )
        .act(kill_agent),
        case(
            "an MCP server that does not come up",
            says(&json!([])),
            failed("failed", "mcp_unavailable", NOTHING),
        )
        .with(json!({ "args": ["-c", "mcp_servers.symphony.command=\"false\""] })),
    ]
}

/// A command that goes on for longer than a run may.
fn goes_on(cli: RealCli) -> Value {
    let mut turn = call("Bash", &json!({ "command": "sleep 600 & sleep 600" }));
    turn["content"][0] = cli.shaped(turn["content"][0].take());
    if cli == RealCli::CodexAppServer {
        // by itself it looks again after ten seconds
        turn["content"][0]["input"]["yield_time_ms"] = json!(30_000);
    }
    turn
}

fn turn_limit(times: u64) -> Value {
    json!({ "turn_timeout_ms": 20_000 * times })
}

/// A conversation counts each request when it is answered, except opencode's, which reports the last one of a turn.
fn conversations() -> Vec<Case> {
    let refused = json!([{ "type": "http", "status": 401, "message": "Incorrect API key provided: no-key", "times": -1 }]);
    let clis = [RealCli::CodexAppServer, RealCli::Opencode, RealCli::Qwen];
    let mut cases: Vec<Case> = clis
        .into_iter()
        .flat_map(|cli| {
            let used = (if cli == RealCli::Opencode { 0 } else { TURN }, false);
            // Codex reports a request when its calls have been answered
            let at_work = (
                if cli == RealCli::Qwen {
                    2 * TURN
                } else {
                    used.0
                },
                false,
            );
            [
                case(cli, "401", says(&refused), held("auth_failed", used)),
                case(
                    cli,
                    "a silent stream",
                    fault("hang_stream", -1),
                    failed("stalled", "stalled", used),
                )
                .limited(stall),
                case(
                    cli,
                    "a command that goes on",
                    goes_on(cli),
                    failed("timed_out", "timed_out", at_work),
                )
                .limited(turn_limit),
                case(
                    cli,
                    "a killed CLI",
                    fault("hang", -1),
                    failed("failed", "agent_failed", used),
                )
                .act(kill_agent),
            ]
        })
        .collect();
    let codex = |name, then, expected| case(RealCli::CodexAppServer, name, then, expected);
    cases.extend([
        codex(
            "429 for ever",
            http(429),
            held("rate_limited", (TURN, false)),
        ),
        codex(
            "500 for ever",
            http(500),
            held("provider_error", (TURN, false)),
        ),
        codex(
            "400",
            http(400),
            failed("failed", "invalid_request", (TURN, false)),
        ),
        codex(
            "a cut stream once",
            fault("cut", 1),
            well((2 * TURN, false)),
        ),
        codex(
            "connections reset for ever",
            fault("reset", -1),
            held("network", (TURN, false)),
        ),
    ]);
    cases
}

/// Kills the CLI itself, as the system does when memory runs out.
fn kill_agent(_project: &Project, run: &str) {
    let agents = agents_of(run);
    let ways = [
        " --output-format ",
        " exec --json ",
        " app-server ",
        " acp",
        " --acp ",
    ];
    let own = |line: &&String| ways.iter().any(|way| line.contains(way));
    let agent = agents
        .iter()
        .find(own)
        .unwrap_or_else(|| panic!("no agent in {agents:#?}"));
    kill(agent.split(' ').next().unwrap().parse().unwrap());
}

fn stall(times: u64) -> Value {
    json!({ "stall_timeout_ms": 6_000 * times })
}

/// The agent's first call, which any CLI can make.
fn first_call(cli: RealCli) -> Value {
    let mut turn = call("Bash", &json!({ "command": "echo begun" }));
    turn["content"][0] = cli.shaped(turn["content"][0].take());
    turn
}

/// Plays a case; returns what became of it, as `Case::expected` has it. A machine may be so slow that a time limit ends the
/// agent before the model fails: then it gets more time.
fn play(case: &Case) -> (Value, String) {
    let Some(limit) = case.limit else {
        return play_with(case, &case.config).0;
    };
    let played = [1, 4, 16, 64].map(limit);
    let mut played = played.iter().map(|config| play_with(case, config));
    let last = played.find_map(|(became, has_begun)| has_begun.then_some(became));
    last.expect("sometime a limit is long enough")
}

/// Plays a case with a configuration; says also whether its first call was made.
fn play_with(case: &Case, config: &Value) -> ((Value, String), bool) {
    let when = json!({
        "match_system": WORKER,
        "usage": { "input_tokens": TURN, "output_tokens": 20, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0 },
    });
    let subagent = json!({ "match_prompt": SUBAGENT, "usage": { "input_tokens": OF_SUBAGENT, "output_tokens": 1 } });
    let mut first = first_call(case.cli);
    if !case.begins {
        first["faults"] = json!([{ "type": "hang", "seconds": 3600, "times": -1 }]);
    }
    let file = scenarios([
        scenario("works", &when, [first, case.then.clone()]),
        scenario("is asked", &subagent, []),
    ]);
    let mut config = config.clone();
    if case.cli == RealCli::Claude {
        config["env"]["CLAUDE_CODE_MAX_RETRIES"] = json!("1");
    }
    let (project, _model) = case.cli.project(&file.to_string(), &config);
    let settings = project.root.join(".claude");
    std::fs::create_dir(&settings).unwrap();
    let denied = json!({ "permissions": { "deny": ["Bash(touch:*)"] } });
    std::fs::write(settings.join("settings.json"), denied.to_string()).unwrap();
    project.git(&["add", ".claude"]);
    project.git(&["commit", "-q", "-m", "deny what is not wanted"]);
    project.add_issue("Do something");
    let run = project.tick_start();
    if let Some(act) = case.act {
        until("the agent's first call", || {
            project.run_log_has(&run, "[tool_result]").then_some(())
        });
        act(&project, &run);
    }
    until("the end of the run", || {
        project.lock_is_free(&run).then_some(())
    });
    let (found, issue) = (project.run(&run), project.issue("SYM-1"));
    let status = project.json(&["status"]);
    let became = json!([
        found["status"],
        found["error"]["class"],
        found["usage"]["input_tokens"],
        found["usage"]["cost_usd"].is_number(),
        issue["status"],
        issue["consecutive_failures"],
        issue["total_runs"],
        status["holds"][0]["class"],
        status["retries"][0]["kind"],
    ]);
    assert_eq!(agents_of(&run), [""; 0]);
    check_account(&project, case.cli, &status["holds"][0]);
    let said = format!(
        "{:#}\n{}",
        found["error"],
        project.run_file(&run, "log.txt")
    );
    let log = project.run_file(&run, "log.txt");
    let has_begun = |line: &str| line.contains("[tool_result]") && line.contains("begun");
    ((became, said), log.lines().any(has_begun))
}

/// A condition of the account holds the whole provider, and names the command that logs in wherever it is shown.
fn check_account(project: &Project, cli: RealCli, hold: &Value) {
    if hold["class"] != "auth_failed" && hold["class"] != "credit_exhausted" {
        return;
    }
    let login = match cli {
        RealCli::Claude => "claude auth login",
        RealCli::Codex | RealCli::CodexAppServer => "codex login",
        RealCli::Opencode => "opencode auth login",
        RealCli::Qwen => "qwen auth",
        RealCli::Gemini => "gemini",
        RealCli::Copilot => "copilot login",
    };
    let found = json!([hold["scope"], hold["name"], hold["model"], hold["login"]]);
    assert_eq!(found, json!(["provider", cli.provider(), null, login]));
    let shown = [
        project.ok(&["status"]),
        project.ok(&["explain", "SYM-1"]),
        project.ok(&["inbox"]),
    ];
    for shown in shown {
        let plain = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(plain.contains(&format!("`{login}`")), "{shown}");
    }
}

#[test]
fn each_fault_of_the_model_becomes_what_the_table_says() {
    play_all(&claude().into_iter().chain(codex()).collect::<Vec<_>>());
}

#[test]
fn each_fault_in_a_conversation_becomes_what_the_table_says() {
    play_all(&conversations());
}

fn play_all(cases: &[Case]) {
    let left = Mutex::new((0..cases.len()).collect::<VecDeque<_>>());
    let became = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(number) = left.lock().unwrap().pop_front() else {
                        return;
                    };
                    let played = std::panic::catch_unwind(|| play(&cases[number]));
                    became.lock().unwrap().insert(number, played.ok());
                }
            });
        }
    });
    let became = became.into_inner().unwrap();
    let (mut table, mut wrong) = (String::new(), String::new());
    for (number, case) in cases.iter().enumerate() {
        let name = format!("{} {}", case.cli.provider(), case.name);
        match &became[&number] {
            Some((found, _)) if *found == case.expected || case.or_else.as_ref() == Some(found) => {
                writeln!(table, "{name:<55} {found}").unwrap();
            }
            Some((found, said)) => {
                writeln!(
                    wrong,
                    "{name}:\n  found    {found}\n  expected {}\n{said}\n",
                    case.expected
                )
                .unwrap();
            }
            None => writeln!(wrong, "{name}: an assertion failed, see above\n").unwrap(),
        }
    }
    println!("run, class, input tokens, cost, issue, failures, total runs, hold, next:\n{table}");
    assert!(wrong.is_empty(), "{wrong}");
}

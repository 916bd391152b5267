//! Layers over each other: what holds, and where it comes from.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use symphony_core::agent::AgentType;
use symphony_core::config::{
    BreakerTarget, CommandLine, CommandOutput, ConfigDocument, ConfigProblem, Database, Effective,
    FileInput, FileRole, Gate, GateReads, KeyPath, Layer, Millis, Place, Positions, ProjectConfig,
    ProviderChoice, ProviderName, RiskThreshold, SandboxSettings, Source, defaults, parse_file,
    parse_project_row,
};
use symphony_core::id::{PhaseName, ProjectId};
use symphony_core::prompt_trial::{LiveTrial, PromptSet, Share, TrialName};
use symphony_core::unit::{Tokens, UsdMicros};

const GLOBAL: &str = "/home/u/.config/symphony/config.json";
const OWN: &str = "/src/my-api/symphony.config.json";

fn document(value: &Value, role: FileRole) -> ConfigDocument {
    let positions = Positions::default();
    let (document, problems) = parse_file(&FileInput {
        value,
        role,
        file: "f",
        positions: &positions,
    });
    assert_eq!(problems, []);
    document
}

fn source(path: &str) -> Source {
    Source::File {
        path: PathBuf::from(path),
        project: None,
    }
}

fn place() -> Place {
    Place {
        root: PathBuf::from("/src/my-api"),
        home: Some(PathBuf::from("/home/u")),
    }
}

/// What holds with only this own file.
fn effective(own: &Value) -> Effective {
    let own = document(own, FileRole::Project);
    Effective::resolve(
        &[Layer {
            source: source(OWN),
            settings: &own.top,
        }],
        place(),
    )
}

fn lines(problems: &[ConfigProblem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn defaults_are_those_of_the_specification() {
    let project = ProjectConfig::defaults("/src/my-api");
    assert_eq!(project.prefix.as_str(), "MYAP");
    assert_eq!(project.max_retries, 15);
    assert_eq!(project.max_retry_backoff_ms, Millis::new(300_000));
    assert_eq!(project.turn_timeout_ms, Millis::new(600_000));
    assert_eq!(project.stall_timeout_ms, Millis::new(420_000));
    assert_eq!(project.loop_repeats, 12);
    assert_eq!(project.circuit_breaker_status, BreakerTarget::Backlog);
    assert_eq!(project.provider, ProviderChoice::Auto);
    assert_eq!(
        (project.model, project.base_branch, project.vault),
        (None, None, None)
    );
    assert_eq!(
        project.prompts_dir,
        Path::new("/src/my-api/.symphony/prompts")
    );
    assert_eq!(project.budget.user_tokens, Tokens::new(8_000));
    assert_eq!(project.budget.system_tokens, Tokens::new(12_000));
    assert_eq!(project.budget.artifact_tokens, Tokens::new(4_000));
    assert_eq!(project.budget.shares, defaults::SHARES);
    assert_eq!(project.budget.judge_shares, defaults::JUDGE_SHARES);
    assert_eq!(
        (defaults::SHARES.sum(), defaults::JUDGE_SHARES.sum()),
        (100, 100)
    );
    assert!(!project.keep_run_files);
    assert_eq!(project.spending, symphony_core::config::Spending::default());
    assert_eq!(project.trusted_filters, ["lfs"]);
    assert_eq!(
        (project.gates, project.publish, project.notify),
        (vec![], None, None)
    );
    assert_eq!(project.plan, symphony_core::config::PlanSettings::default());
    assert_eq!(
        project.risk.medium,
        RiskThreshold {
            files: 10,
            lines: 300
        }
    );
    assert_eq!(
        project.risk.high,
        RiskThreshold {
            files: 30,
            lines: 1_500
        }
    );
    assert_eq!(
        (project.max_concurrency, project.max_open_reviews),
        (None, None)
    );
    for (name, on, expected) in [
        ("planner", project.planner_enabled, false),
        ("scanner", project.scanner_enabled, false),
        ("background research", project.background_research, false),
        ("researcher", project.researcher_enabled, true),
        ("judge", project.judge_enabled, true),
        ("intake", project.intake_enabled, false),
        ("wizard", project.wizard_enabled, false),
        ("phase conventions", project.phase_conventions, true),
        ("migration mode", project.migration_mode, true),
        (
            "external research",
            project.external_research.enabled,
            false,
        ),
        ("hooks", project.worktree.run_hooks, false),
    ] {
        assert_eq!(on, expected, "{name}");
    }
    assert_eq!(project.scanner_interval_ms, Millis::new(600_000));
    assert_eq!(project.judge_cooldown_ms, Millis::new(300_000));
    assert_eq!(project.external_research.max_searches, 5);
    assert_eq!(project.worktree.setup_timeout_ms, Millis::new(600_000));
    assert_eq!(project.sandbox, SandboxSettings::default());
    assert_eq!(
        project.workspaces_dir,
        Path::new("/src/my-api/.symphony-workspaces")
    );
    for provider in ProviderName::ALL {
        assert_eq!(
            project.providers.settings(*provider).hold_ms,
            Millis::new(60_000)
        );
    }
    assert_eq!(
        project.providers.command_output,
        CommandOutput::ClaudeStream
    );
}

#[test]
fn installation_defaults_are_those_of_the_specification() {
    let (config, problems) = Effective::resolve(&[], place()).config();
    assert_eq!(problems, []);
    assert_eq!(
        config.database,
        Database::from("/src/my-api/.symphony/symphony.db")
    );
    assert_eq!(
        (
            config.max_concurrent_agents,
            config.slots(8),
            config.slots(0)
        ),
        (0, 8, 1)
    );
    assert_eq!(config.log_retention_days, 30);
    assert_eq!(config.defaults, ProjectConfig::defaults("/src/my-api"));
}

#[test]
fn a_database_on_a_server_has_its_state_in_a_folder_of_this_machine() {
    let address = "postgres://me@db.example/team";
    let (config, problems) = effective(&json!({ "database": address })).config();
    assert_eq!(problems, []);
    assert_eq!(config.database.to_string(), address);
    let folder = "/home/u/.local/state/symphony/db.example-5432-team-symphony";
    assert_eq!(config.state_dir, Path::new(folder));
    assert_eq!(
        config.state_file("tick.lock"),
        Path::new(folder).join("symphony.tick.lock")
    );
    let named = json!({ "database": address, "state_dir": "~/state" });
    let (config, _) = effective(&named).config();
    assert_eq!(config.state_dir, Path::new("/home/u/state"));
    let beside = json!({ "database": "x/s.db", "state_dir": "~/state" });
    let (config, _) = effective(&beside).config();
    assert!(config.state_file("tick.lock").ends_with("x/s.tick.lock"));
}

#[test]
fn a_full_file_reaches_every_field() {
    let (config, problems) = effective(&json!({
        "database": "~/s.db",
        "maxConcurrentAgents": 3,
        "profiles": { "reviewer": { "max_concurrency": 2 } },
        "model": "opus",
        "phaseModels": { "research": "haiku" },
        "providers": {
            "claude-cli": { "binary": "./bin/claude", "args": ["--x"], "env": { "A": "1" }, "hold_ms": 5 },
            "codex-cli": { "binary": "codex" },
            "command": { "command": "agent", "output": "text" },
            "scripted": { "scenario": "s.json" },
        },
        "vault": { "path": "/notes", "max_tokens": 100 },
        "spending": { "run": { "usd": 1.5 }, "day": { "tokens": 7 } },
        "gates": [{ "name": "t", "command": ["make", "test"], "required": false, "timeoutMs": 9 }],
        "publish": "p", "notify": ["n"],
        "plan": { "by_tick": true, "global_constraints": [], "instructions": "i" },
        "worktree": { "copy": ["*.pem"], "setup": "npm ci", "run_hooks": true },
        "env": { "FOO": "bar" },
        "workspaces_dir": "wt",
    }))
    .config();
    assert_eq!(problems, []);
    let project = &config.defaults;
    assert_eq!(config.database, Database::from("/home/u/s.db"));
    assert_eq!(config.state_dir, Path::new("/home/u"));
    assert_eq!((config.max_concurrent_agents, config.slots(8)), (3, 3));
    assert_eq!(config.profiles[&AgentType::Judge].max_concurrency, Some(2));
    assert_eq!(project.model.as_deref(), Some("opus"));
    assert_eq!(
        project.phase_models[&PhaseName::parse("research").unwrap()],
        "haiku"
    );
    let claude = project.providers.settings(ProviderName::ClaudeCli);
    assert_eq!(
        claude.binary.as_deref(),
        Some(Path::new("/src/my-api/./bin/claude"))
    );
    assert_eq!(
        (&claude.args[..], claude.hold_ms),
        (&["--x".to_owned()][..], Millis::new(5))
    );
    assert_eq!(claude.env["A"], "1");
    assert_eq!(
        project
            .providers
            .settings(ProviderName::CodexCli)
            .binary
            .as_deref(),
        Some(Path::new("codex"))
    );
    assert_eq!(
        project.providers.command_line,
        Some(CommandLine::Shell("agent".into()))
    );
    assert_eq!(project.providers.command_output, CommandOutput::Text);
    assert_eq!(
        project.providers.scenario.as_deref(),
        Some(Path::new("/src/my-api/s.json"))
    );
    let vault = project.vault.as_ref().unwrap();
    assert_eq!(
        (vault.path.as_path(), vault.max_tokens),
        (Path::new("/notes"), Some(Tokens::new(100)))
    );
    assert_eq!(project.spending.run.usd, Some(UsdMicros::new(1_500_000)));
    assert_eq!(project.spending.day.tokens, Some(Tokens::new(7)));
    let gate = Gate {
        parallel: false,
        retries: 1,
        name: "t".into(),
        command: CommandLine::Argv(vec!["make".into(), "test".into()]),
        required: false,
        timeout_ms: Millis::new(9),
        reads: GateReads::History,
    };
    assert_eq!(project.gates, [gate]);
    assert_eq!(project.publish, Some(CommandLine::Shell("p".into())));
    assert_eq!(project.notify, Some(CommandLine::Argv(vec!["n".into()])));
    assert_eq!(project.plan.global_constraints, Some(vec![]));
    assert_eq!(
        (project.plan.by_tick, project.plan.instructions.as_deref()),
        (true, Some("i"))
    );
    assert_eq!(
        project.worktree.setup,
        Some(CommandLine::Shell("npm ci".into()))
    );
    assert_eq!(
        (&project.worktree.copy[..], project.worktree.run_hooks),
        (&["*.pem".to_owned()][..], true)
    );
    assert_eq!(project.env["FOO"], "bar");
    assert_eq!(project.workspaces_dir, Path::new("/src/my-api/wt"));
}

#[test]
fn stronger_layers_win_key_by_key_and_each_value_names_its_source() {
    let global = document(
        &json!({
            "max_retries": 3, "model": "global", "judge_enabled": false,
            "vault": { "path": "notes" }, "env": { "A": "global", "B": "global" },
            "projects": { "api": { "model": "section", "env": { "B": "section", "C": "section" } } },
        }),
        FileRole::Global,
    );
    let own = document(
        &json!({ "env": { "C": "own", "A": null }, "gates": [{ "name": "own", "command": "o" }] }),
        FileRole::Project,
    );
    let row = json!({
        "gates": [{ "name": "wizard", "command": "w" }],
        "sensitive_paths": ["auth/**"],
        "risk": { "high": { "files": 50 } },
        "max_retries": 9,
    });
    let (row, problems) = parse_project_row(&row);
    assert_eq!(problems, []);
    let api = ProjectId::parse("api").unwrap();
    let section = Source::File {
        path: GLOBAL.into(),
        project: Some(api.clone()),
    };
    let layers = [
        Layer {
            source: Source::Database,
            settings: &row,
        },
        Layer {
            source: source(GLOBAL),
            settings: &global.top,
        },
        Layer {
            source: section.clone(),
            settings: &global.projects[&api],
        },
        Layer {
            source: source(OWN),
            settings: &own.top,
        },
    ];
    let effective = Effective::resolve(&layers, place());
    let (project, problems) = effective.project_config();
    assert_eq!(problems, []);
    assert_eq!(
        project.vault.unwrap().path,
        Path::new("/home/u/.config/symphony/notes")
    );
    assert_eq!(
        project.risk.high,
        RiskThreshold {
            files: 50,
            lines: 1_500
        }
    );
    assert_eq!(
        project.env.into_iter().collect::<Vec<_>>(),
        [
            ("B".to_owned(), "section".to_owned()),
            ("C".to_owned(), "own".to_owned())
        ]
    );
    for (key, value, from) in [
        ("max_retries", json!(3), source(GLOBAL)),
        ("model", json!("section"), section),
        ("judge_enabled", json!(false), source(GLOBAL)),
        ("sensitive_paths", json!(["auth/**"]), Source::Database),
        ("stall_timeout_ms", json!(420_000), Source::Default),
        ("prefix", json!("MYAP"), Source::Default),
        ("env.A", Value::Null, source(OWN)),
    ] {
        let entry = effective.get(&KeyPath::of(key)).unwrap();
        assert_eq!((&entry.value, &entry.source), (&value, &from), "{key}");
    }
    assert_eq!(project.gates[0].name, "own");
    let model = effective.get(&KeyPath::of("model")).unwrap();
    assert_eq!(model.written.to_string(), "projects.api.model");
    assert_eq!(model.origin().to_string(), GLOBAL);
}

#[test]
fn values_at_odds_with_each_other_are_problems() {
    for (own, expected) in [
        (
            json!({ "budget": { "shares": { "description": 30 } } }),
            "/src/my-api/symphony.config.json: budget.shares.description: expected shares that add up to 100 (with the defaults of those of budget.shares that are not set), found a sum of 105",
        ),
        (
            json!({ "risk": { "high": { "files": 5 } } }),
            "/src/my-api/symphony.config.json: risk.high.files: expected a high risk not below the medium one, found 10 files for medium and 5 for high",
        ),
        (
            json!({ "prompts": { "trial": { "a": "old", "share": 0 } } }),
            "/src/my-api/symphony.config.json: prompts.trial.a: expected a trial with a `name` and the folder `b` of its second set, found no `prompts.trial.name` and no `prompts.trial.b`",
        ),
        (
            json!({ "prompts": { "trial": { "name": "shorter" } } }),
            "/src/my-api/symphony.config.json: prompts.trial.name: expected a trial with a `name` and the folder `b` of its second set, found no `prompts.trial.b`",
        ),
        (
            json!({ "provider": "command" }),
            "/src/my-api/symphony.config.json: provider: expected another provider, or `providers.command.command` to be set, found `command` alone",
        ),
    ] {
        let (config, problems) = effective(&own).project_config();
        assert_eq!(lines(&problems), [expected]);
        assert_eq!(config.budget.shares, defaults::SHARES);
    }
    let shares = json!({ "budget": { "shares": { "description": 30, "findings": 15 } } });
    assert_eq!(effective(&shares).project_config().1, []);
}

#[test]
fn a_trial_of_prompts_has_a_name_and_a_second_set() {
    let trial = |own: &Value| effective(own).project_config().0.prompt_trial;
    let whole = json!({ "prompts": { "trial": { "name": "shorter", "a": "old", "b": "/new", "share": 0.2 } } });
    assert_eq!(
        trial(&whole),
        Some(LiveTrial {
            name: TrialName::parse("shorter").unwrap(),
            a: Some(PathBuf::from("/src/my-api/old")),
            b: PathBuf::from("/new"),
            share: Share::new(0.2).unwrap(),
        })
    );
    let config = effective(&whole).project_config().0;
    for (set, folder) in [
        (None, "/src/my-api/.symphony/prompts"),
        (Some(PromptSet::A), "/src/my-api/old"),
        (Some(PromptSet::B), "/new"),
    ] {
        assert_eq!(config.prompts_of(set), Path::new(folder));
    }
    assert!(
        config
            .decisive_paths(Path::new("/src/my-api"))
            .contains(&"old".to_owned())
    );
    let short = json!({ "prompts": { "trial": { "name": "shorter", "b": "new" } } });
    let config = effective(&short).project_config().0;
    assert_eq!(config.prompts_of(Some(PromptSet::A)), config.prompts_dir);
    assert_eq!(config.prompt_trial.unwrap().share, Share::HALF);
    let back = json!({ "prompts": { "trial": { "name": null, "b": null } } });
    assert_eq!(trial(&back), None);
    assert_eq!(effective(&back).project_config().1, []);
}

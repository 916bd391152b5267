//! The shipped prompts: they parse, form a pipeline, keep to the tools their reader has, and have their size.

use symphony_core::agent::AgentType;
use symphony_core::contract::{PhaseContract, Pipeline, parse_contract};
use symphony_core::profile::{AgentProfile, ProfileSet, parse_profile};
use symphony_core::tools::{Role, Tool, ToolSet};

macro_rules! prompt {
    ($path:literal) => {
        ($path, include_str!(concat!("../../../prompts/", $path)))
    };
}

const PROFILES: [(&str, &str); 7] = [
    prompt!("profiles/worker.md"),
    prompt!("profiles/judge.md"),
    prompt!("profiles/planner.md"),
    prompt!("profiles/researcher.md"),
    prompt!("profiles/architect.md"),
    prompt!("profiles/intake.md"),
    prompt!("profiles/scanner.md"),
];

const CONTRACTS: [(&str, &str); 4] = [
    prompt!("phases/research.md"),
    prompt!("phases/architecture.md"),
    prompt!("phases/grooming.md"),
    prompt!("phases/ready.md"),
];

const WIZARD: (&str, &str) = prompt!("setup-wizard-system-prompt.md");
const PLAN_WORKER: (&str, &str) = prompt!("plan-worker.md");
const BACKGROUND: (&str, &str) = prompt!("background-research.md");
const SCAN: (&str, &str) = prompt!("background-scan.md");

fn profiles() -> Vec<AgentProfile> {
    let parse = |(file, text): &(&str, &str)| parse_profile(file, text);
    PROFILES
        .iter()
        .map(|p| parse(p).expect("a profile"))
        .collect()
}

fn contracts() -> Vec<PhaseContract> {
    let parse = |(file, text): &(&str, &str)| parse_contract(file, text);
    CONTRACTS
        .iter()
        .map(|c| parse(c).expect("a contract"))
        .collect()
}

/// Every prompt with the roles that may read it: what it names, one of them must have.
fn readers() -> Vec<(String, String, Vec<Role>)> {
    let mut readers = Vec::new();
    for profile in profiles() {
        let roles = match profile.agent {
            AgentType::Worker => vec![Role::Worker],
            AgentType::Judge => vec![Role::JudgePr, Role::JudgeDone, Role::JudgePhase],
            AgentType::Planner => vec![Role::Planner],
            // The profile is read without an issue; a phase's agent reads its contract instead.
            AgentType::Researcher => vec![Role::BackgroundResearcher],
            AgentType::Architect => vec![Role::Researcher],
            AgentType::Intake => vec![Role::Intake],
            _ => vec![Role::Scanner],
        };
        readers.push((profile.agent.to_string(), profile.body, roles));
    }
    for contract in contracts() {
        let role = match contract.phase.as_str() {
            "ready" => Role::Worker,
            "grooming" => Role::PlannerInPhase,
            _ => Role::Researcher,
        };
        readers.push((contract.phase.to_string(), contract.body, vec![role]));
    }
    for ((name, text), role) in [
        (WIZARD, Role::Wizard),
        (PLAN_WORKER, Role::PlanWorker),
        (BACKGROUND, Role::BackgroundResearcher),
        (SCAN, Role::Scanner),
    ] {
        readers.push((name.to_owned(), text.to_owned(), vec![role]));
    }
    readers
}

/// The names in a text: runs of letters, digits and `_`.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
}

fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}

#[test]
fn profiles_and_contracts_parse_and_form_a_pipeline() {
    let profiles = ProfileSet::new([profiles()]).unwrap();
    assert_eq!(profiles.types(), AgentType::SHIPPED.into_iter().collect());
    assert_eq!(profiles.warnings(), []);
    let pipeline = Pipeline::new([contracts()], &[], &profiles.types()).unwrap();
    let first = pipeline.first().unwrap();
    let mut table = vec![first];
    table.extend(pipeline.later(&first.phase));
    let table: Vec<String> = table
        .iter()
        .map(|c| {
            let path = c.artifact_path.as_ref().map_or("-", |path| path.template());
            let mode = c.validation.as_ref().map_or("-", |v| v.mode.name());
            format!(
                "{} {} {path} {mode} skippable: {}",
                c.phase, c.dispatch_profile, c.skippable
            )
        })
        .collect();
    assert_eq!(
        table,
        [
            "research researcher docs/tickets/{id}/research.md structural skippable: true",
            "architecture architect docs/tickets/{id}/design.md judge skippable: true",
            "grooming planner docs/tickets/{id}/grooming.md structural skippable: true",
            "ready worker - - skippable: false",
        ]
    );
}

#[test]
fn the_worker_has_its_front_matter() {
    let profiles = ProfileSet::new([profiles()]).unwrap();
    let worker = profiles.get(&AgentType::Worker).unwrap();
    assert_eq!(worker.turns_max, Some(200));
    assert_eq!(worker.disallowed_tools.names(), ["approve_pr", "reject_pr"]);
    for profile in profiles.iter() {
        let background = matches!(profile.agent, AgentType::Scanner | AgentType::Researcher);
        assert_eq!(profile.background, background, "{}", profile.agent);
    }
}

#[test]
fn a_prompt_names_only_tools_that_its_reader_has() {
    for (name, text, roles) in readers() {
        let allowed = roles
            .iter()
            .fold(ToolSet::EMPTY, |set, role| set.union(role.allowed()));
        for tool in names(&text).filter_map(|name| Tool::parse(name).ok()) {
            assert!(allowed.contains(tool), "{name} names `{tool}`");
        }
    }
}

#[test]
fn a_prompt_names_the_tool_that_ends_the_run() {
    let ends: [(&str, &[&str]); 12] = [
        (
            "worker",
            &[
                "create_pr",
                "update_issue_status",
                "add_finding",
                "add_learning",
            ],
        ),
        (
            "judge",
            &[
                "approve_pr",
                "reject_pr",
                "approve_phase",
                "reject_phase",
                "update_issue_status",
            ],
        ),
        ("planner", &["create_subtask"]),
        ("researcher", &["record_coverage", "add_learning"]),
        ("intake", &["update_issue_status"]),
        ("scanner", &["list_issues", "create_issue"]),
        ("research", &["complete_phase", "record_coverage"]),
        ("architecture", &["complete_phase"]),
        ("grooming", &["complete_phase"]),
        ("ready", &["create_pr", "update_issue_status"]),
        ("setup-wizard-system-prompt.md", &["configure_project"]),
        (
            "plan-worker.md",
            &["complete_phase", "add_learning", "search_learnings"],
        ),
    ];
    let readers = readers();
    for (name, tools) in ends {
        let (_, text, _) = readers.iter().find(|(reader, ..)| reader == name).unwrap();
        for tool in tools {
            assert!(
                names(text).any(|word| word == *tool),
                "{name} lacks `{tool}`"
            );
        }
    }
}

/// The sentences of a text, without headings, tables and examples.
fn sentences(text: &str) -> impl Iterator<Item = String> {
    let prose = text
        .lines()
        .filter(|line| !line.starts_with("    ") && !line.starts_with(['#', '|']));
    prose
        .flat_map(|line| line.split_inclusive(". "))
        .map(|sentence| {
            sentence
                .trim_matches(|c: char| !c.is_alphanumeric())
                .to_owned()
        })
        // shorter ones say too little to be a rule
        .filter(|sentence| sentence.chars().count() >= 30)
}

#[test]
fn no_agent_reads_the_same_sentence_twice() {
    let texts = readers();
    let text = |wanted: &str| {
        let (_, text, _) = texts.iter().find(|(name, ..)| name == wanted).unwrap();
        text.as_str()
    };
    let together = [
        vec!["worker", "ready"],
        vec!["researcher", "background-research.md"],
        vec!["scanner", "background-scan.md"],
    ];
    let alone = texts.iter().map(|(name, ..)| vec![name.as_str()]);
    for names in together.into_iter().chain(alone) {
        let mut seen = std::collections::BTreeSet::new();
        for sentence in names.iter().flat_map(|name| sentences(text(name))) {
            assert!(seen.insert(sentence.clone()), "{names:?}: {sentence}");
        }
    }
}

#[test]
fn profiles_open_with_step_0_and_contracts_have_a_workspace_context() {
    // an architect works in phases alone, and reads their contract in place of its profile
    let read = |profile: &AgentProfile| profile.agent != AgentType::Architect;
    for profile in profiles().into_iter().filter(read) {
        let agent = &profile.agent;
        let first = profile
            .body
            .lines()
            .find(|line| line.starts_with("## "))
            .unwrap();
        assert_eq!(first, "## Step 0: Verify Workspace", "{agent}");
        if *agent != AgentType::Judge {
            assert!(profile.body.contains("`pwd`"), "{agent}");
        }
    }
    let judge = profiles()
        .into_iter()
        .find(|p| p.agent == AgentType::Judge)
        .unwrap();
    assert!(!judge.body.contains("`pwd`"), "a judge has no shell");
    for contract in contracts() {
        let (_, rest) = contract.body.split_once("## Workspace Context\n").unwrap();
        let section = rest.split("\n## ").next().unwrap();
        for command in ["`pwd`", "`git branch --show-current`"] {
            assert!(section.contains(command), "{}: {command}", contract.phase);
        }
    }
}

#[test]
fn a_contract_shows_its_required_sections() {
    for contract in contracts() {
        for section in &contract.required_sections {
            let heading = format!("    ## {section}\n");
            assert!(
                contract.body.contains(&heading),
                "{}: {section}",
                contract.phase
            );
        }
        assert!(!contract.done_when.is_empty() && !contract.escalate_if.is_empty());
    }
    let architecture = &contracts()[1];
    assert_eq!(
        architecture.required_sections,
        [
            "Problem",
            "Proposed Approach",
            "Alternatives Considered",
            "Impacted Components",
            "Risks",
            "Rollout"
        ]
    );
}

#[test]
fn no_prompt_depends_on_one_cli() {
    // Instructions files of the project may be named; the tools and CLIs of one provider may not.
    for (name, text, _) in readers() {
        for word in names(&text) {
            let foreign = [
                "Bash",
                "Grep",
                "Glob",
                "TodoWrite",
                "WebSearch",
                "WebFetch",
                "apply_patch",
                "claude",
                "codex",
                "Claude",
                "Codex",
                "mcp__symphony__",
            ];
            assert!(!foreign.contains(&word), "{name} names {word}");
        }
    }
}

#[test]
fn prompts_have_their_size() {
    // Room for the boundary (about 250 tokens) and, for workers, the web restriction; without learnings.
    const BOUNDARY: usize = 250;
    let readers = readers();
    let size = |wanted: &str| {
        let (_, text, _) = readers.iter().find(|(name, ..)| name == wanted).unwrap();
        tokens(text)
    };
    for (name, tokens, range) in [
        (
            "worker",
            size("worker") + size("ready") + BOUNDARY,
            1_500..=6_000,
        ),
        ("judge", size("judge") + BOUNDARY, 1_000..=5_500),
        ("planner", size("planner") + BOUNDARY, 1_000..=5_200),
        ("researcher", size("researcher") + BOUNDARY, 1_500..=5_500),
        ("research", size("research") + BOUNDARY, 2_000..=7_000),
        (
            "architecture",
            size("architecture") + BOUNDARY,
            2_000..=7_000,
        ),
        ("grooming", size("grooming") + BOUNDARY, 2_000..=7_000),
        (
            "background research",
            size("background-research.md"),
            100..=300,
        ),
        ("background scan", size("background-scan.md"), 100..=300),
    ] {
        assert!(range.contains(&tokens), "{name}: {tokens} tokens");
    }
}

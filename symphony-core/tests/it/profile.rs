//! Profiles: their fields, legacy names, layers, and the tools that are left.

use symphony_core::agent::AgentType;
use symphony_core::profile::{AgentProfile, ModelChoice, ProfileSet, parse_profile};
use symphony_core::tools::{Role, Tool, ToolList};

fn profile(name: &str, agent: &str, rest: &str) -> AgentProfile {
    let text = format!("---\nname: {name}\ntype: {agent}\ndescription: d\n{rest}\n---\nbody");
    parse_profile("p.md", &text).expect("a profile")
}

#[test]
fn a_profile_has_its_defaults() {
    assert_eq!(
        profile("W", "implementer", ""),
        AgentProfile {
            name: "W".to_owned(),
            agent: AgentType::Worker,
            description: "d".to_owned(),
            tools: ToolList::every(),
            disallowed_tools: ToolList::default(),
            provider: None,
            model: ModelChoice::Inherit,
            turns_max: None,
            background: false,
            body: "body".to_owned(),
        }
    );
    let full = profile(
        "J",
        "reviewer",
        "tools: [get_issue]\ndisallowedTools: [add_comment]\nagent: codex-cli\nmodel: opus\nmaxTurns: 7\nbackground: true",
    );
    assert_eq!(full.agent, AgentType::Judge);
    assert_eq!((full.turns_max, full.background), (Some(7), true));
    assert_eq!(full.model, ModelChoice::parse("opus").unwrap());
    assert_eq!(full.provider.as_deref(), Some("codex-cli"));
}

#[test]
fn tools_are_the_row_less_what_the_profile_leaves_out() {
    let judge = profile(
        "J",
        "judge",
        "tools: [get_issue, approve_pr, create_pr]\ndisallowedTools: [approve_pr]",
    );
    let left: Vec<Tool> = judge.allowed(Role::JudgePr).iter().collect();
    assert_eq!(left, [Tool::GetIssue]);
    let warnings: Vec<String> = judge.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "`tools` lists `create_pr`, which this type of agent never has, so listing it has no effect",
            "`tools` and `disallowedTools` leave a run as judge_pr without `approve_pr`, `reject_pr`, so it could not hand in its work",
            "`tools` and `disallowedTools` leave a run as judge_done without `approve_done`, `reject_done`, so it could not hand in its work",
            "`tools` and `disallowedTools` leave a run as judge_phase without `approve_phase`, `reject_phase`, so it could not hand in its work",
            "`tools` and `disallowedTools` leave a run as judge_in_phase without `complete_phase`, so it could not hand in its work",
        ]
    );
}

#[test]
fn a_list_from_before_proposals_gives_their_tools_with_the_older_ones() {
    let judge = profile("J", "judge", "tools: [approve_pr, reject_pr]");
    let left: Vec<Tool> = judge.allowed(Role::JudgeDone).iter().collect();
    assert_eq!(left, [Tool::ApproveDone, Tool::RejectDone]);
    let worker = profile("W", "worker", "tools: [create_pr]");
    let left: Vec<Tool> = worker.allowed(Role::Worker).iter().collect();
    assert_eq!(left, [Tool::CreatePr, Tool::ProposeDone]);
    let narrow = profile(
        "W",
        "worker",
        "tools: [create_pr]\ndisallowedTools: [propose_done]",
    );
    let left: Vec<Tool> = narrow.allowed(Role::Worker).iter().collect();
    assert_eq!(left, [Tool::CreatePr]);
    assert!(
        !worker
            .allowed(Role::WorkerInPhase)
            .contains(Tool::ProposeDone)
    );
}

#[test]
fn a_misspelt_tool_is_a_problem_of_its_file_and_removes_nothing_in_silence() {
    let text = "---\nname: W\ntype: worker\ndescription: d\ntools:\n  - get_issue\n  - creat_pr\ndisallowedTools: [Bash]\n---\nbody";
    let problems = parse_profile("profiles/worker.md", text).unwrap_err();
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let expected = "a tool of Symphony's, or `'*'` for all of the role's (the CLI's own tools do not belong here)";
    assert_eq!(
        problems,
        [
            format!(
                "profiles/worker.md:7:5: tools[1]: found `creat_pr`, expected {expected}; did you mean `create_pr`?"
            ),
            format!(
                "profiles/worker.md:8:19: disallowedTools[0]: found `Bash`, expected {expected}"
            ),
        ]
    );
}

#[test]
fn the_file_of_one_shipped_type_does_not_replace_another_one() {
    let text = |agent: &str| format!("---\nname: W\ntype: {agent}\ndescription: d\n---\nbody");
    let problems = parse_profile("profiles/worker.md", &text("judge")).unwrap_err();
    assert_eq!(
        problems[0].to_string(),
        "profiles/worker.md:3:7: type: found `judge`, expected `worker` in a file of this name"
    );
    for (file, agent) in [
        ("profiles/worker.md", "implementer"),
        ("profiles/implementer.md", "worker"),
        ("profiles/our-worker.md", "worker"),
        ("profiles/doc-writer.md", "doc-writer"),
    ] {
        assert!(parse_profile(file, &text(agent)).is_ok(), "{file} {agent}");
    }
}

#[test]
fn a_later_layer_wins_whole() {
    let shipped = vec![
        profile("W", "worker", "maxTurns: 200"),
        profile("J", "judge", ""),
    ];
    let project = vec![
        profile("Mine", "implementer", ""),
        profile("D", "doc-writer", ""),
    ];
    let set = ProfileSet::new([shipped, project]).unwrap();
    let worker = set.get(&AgentType::Worker).unwrap();
    assert_eq!((worker.name.as_str(), worker.turns_max), ("Mine", None));
    let types: Vec<String> = set.types().iter().map(ToString::to_string).collect();
    assert_eq!(types, ["worker", "judge", "doc-writer"]);
    assert_eq!(set.warnings(), []);
}

#[test]
fn two_profiles_of_one_layer_for_a_type_are_refused() {
    let layer = vec![profile("A", "worker", ""), profile("B", "implementer", "")];
    let problems = ProfileSet::new([layer]).unwrap_err();
    assert_eq!(
        problems[0].to_string(),
        "two profiles for the type `worker`: `A` and `B`"
    );
}

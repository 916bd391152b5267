//! Sizes of the shipped prompts as they are really assembled (spec: prompts, "Sizes to expect").

use symphony_core::agent::AgentType;
use symphony_core::contract::parse_contract;
use symphony_core::id::{IssueId, PhaseName};
use symphony_core::profile::parse_profile;
use symphony_prompt::{
    BackgroundDispatch, IssueInput, PhaseAssignment, PhaseDispatch, ProfileDispatch, Workspace,
    estimate_tokens,
};

const MARKER: &str = "5d3c0f9a1e7b4826";

macro_rules! shipped {
    ($file:literal) => {
        include_str!(concat!("../../../prompts/", $file))
    };
}

fn place() -> Workspace {
    Workspace {
        identifier: "SYM-12".into(),
        path: "/home/dev/projects/my-api/.symphony-workspaces/SYM-12".into(),
        branch: Some("symphony/SYM-12".into()),
        base: Some("main".into()),
    }
}

fn issue() -> IssueInput {
    IssueInput::new(
        IssueId::parse("SYM-12").unwrap(),
        "Parse dates with time zones",
        "They are dropped now.",
    )
}

fn profile(text: &str) -> String {
    parse_profile("profile.md", text).unwrap().body
}

fn tokens(text: &str) -> u64 {
    estimate_tokens(text).get()
}

#[test]
fn profiles_have_the_sizes_to_expect() {
    for (agent, text, range) in [
        (
            AgentType::Worker,
            shipped!("profiles/worker.md"),
            1_500..=6_000,
        ),
        (
            AgentType::Judge,
            shipped!("profiles/judge.md"),
            1_000..=5_500,
        ),
        (
            AgentType::Planner,
            shipped!("profiles/planner.md"),
            1_000..=5_200,
        ),
        (
            AgentType::Intake,
            shipped!("profiles/intake.md"),
            1_000..=5_200,
        ),
    ] {
        let mut dispatch = ProfileDispatch::new(agent.clone(), place(), issue(), MARKER);
        dispatch.profile = profile(text);
        if agent == AgentType::Worker {
            dispatch.contract = Some(
                parse_contract("ready.md", shipped!("phases/ready.md"))
                    .unwrap()
                    .body,
            );
        }
        let size = tokens(&dispatch.build().unwrap().system);
        assert!(
            range.contains(&size),
            "{agent}: {size} tokens, expected {range:?}"
        );
    }
}

#[test]
fn contracts_have_the_sizes_to_expect() {
    for (phase, text) in [
        ("research", shipped!("phases/research.md")),
        ("architecture", shipped!("phases/architecture.md")),
        ("grooming", shipped!("phases/grooming.md")),
    ] {
        let contract = parse_contract(&format!("{phase}.md"), text).unwrap();
        let id = IssueId::parse("SYM-12").unwrap();
        let assignment = PhaseAssignment {
            phase: PhaseName::parse(phase).unwrap(),
            artifact_path: contract
                .artifact_path
                .as_ref()
                .map(|path| path.for_issue(&id)),
            required_sections: contract.required_sections.clone(),
            done_when: contract.done_when.clone(),
            escalate_if: contract.escalate_if.clone(),
        };
        let agent = contract.dispatch_profile.clone();
        let mut dispatch = PhaseDispatch::new(agent, place(), issue(), assignment, MARKER);
        dispatch.contract = contract.body.clone();
        let size = tokens(&dispatch.build().unwrap().system);
        assert!((2_000..=7_000).contains(&size), "{phase}: {size} tokens");
    }
}

#[test]
fn background_agents_have_the_sizes_to_expect() {
    for (agent, text, instruction) in [
        (
            AgentType::Researcher,
            shipped!("profiles/researcher.md"),
            shipped!("background-research.md"),
        ),
        (
            AgentType::Scanner,
            shipped!("profiles/scanner.md"),
            shipped!("background-scan.md"),
        ),
    ] {
        let mut dispatch = BackgroundDispatch::new(agent.clone(), place(), instruction);
        dispatch.profile = profile(text);
        let built = dispatch.build().unwrap();
        let system = tokens(&built.system);
        // the spec names no size for a scanner: it has no method to be taught, only where to look
        let least = if agent == AgentType::Scanner {
            1_000
        } else {
            1_500
        };
        assert!(
            (least..=5_500).contains(&system),
            "{agent}: {system} tokens"
        );
        let user = tokens(&built.user);
        assert!(
            (100..=300).contains(&user),
            "{agent}: user prompt of {user} tokens"
        );
    }
}

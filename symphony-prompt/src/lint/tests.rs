//! Tables of the rules: hits, and texts that are innocent.

use symphony_core::agent::AgentType;

use super::*;

const PROFILES: [(&str, &str); 7] = [
    (
        "profiles/architect.md",
        include_str!("../../../prompts/profiles/architect.md"),
    ),
    (
        "profiles/intake.md",
        include_str!("../../../prompts/profiles/intake.md"),
    ),
    (
        "profiles/judge.md",
        include_str!("../../../prompts/profiles/judge.md"),
    ),
    (
        "profiles/planner.md",
        include_str!("../../../prompts/profiles/planner.md"),
    ),
    (
        "profiles/researcher.md",
        include_str!("../../../prompts/profiles/researcher.md"),
    ),
    (
        "profiles/scanner.md",
        include_str!("../../../prompts/profiles/scanner.md"),
    ),
    (
        "profiles/worker.md",
        include_str!("../../../prompts/profiles/worker.md"),
    ),
];
const OTHERS: [(&str, &str); 8] = [
    (
        "phases/architecture.md",
        include_str!("../../../prompts/phases/architecture.md"),
    ),
    (
        "phases/grooming.md",
        include_str!("../../../prompts/phases/grooming.md"),
    ),
    (
        "phases/ready.md",
        include_str!("../../../prompts/phases/ready.md"),
    ),
    (
        "phases/research.md",
        include_str!("../../../prompts/phases/research.md"),
    ),
    (
        "setup-wizard-system-prompt.md",
        include_str!("../../../prompts/setup-wizard-system-prompt.md"),
    ),
    (
        "background-research.md",
        include_str!("../../../prompts/background-research.md"),
    ),
    (
        "background-scan.md",
        include_str!("../../../prompts/background-scan.md"),
    ),
    (
        "plan-worker.md",
        include_str!("../../../prompts/plan-worker.md"),
    ),
];

fn shipped() -> Vec<PromptText<'static>> {
    let all = PROFILES.iter().chain(&OTHERS);
    all.map(|(file, text)| prompt(file, text)).collect()
}

fn prompt<'a>(file: &'a str, text: &'a str) -> PromptText<'a> {
    let kind = match file {
        "WORKFLOW.md" => TextKind::WorkflowMd,
        "CLAUDE.md" => TextKind::ClaudeMd,
        "worker" => TextKind::Instructions(AgentType::Worker),
        "planner" => TextKind::Instructions(AgentType::Planner),
        _ => TextKind::of_path(file),
    };
    PromptText { file, kind, text }
}

/// What is found in texts over the shipped ones, a line each.
fn found(own: &[PromptText<'_>], off: &[Switch]) -> Vec<String> {
    let shipped = shipped();
    let mut input = LintInput::new(&shipped, own);
    input.off = off.iter().copied().collect();
    let line = |finding: &Finding| format!("{} {finding}", finding.severity);
    lint(&input).iter().map(line).collect()
}

fn profile(agent: &str, more: &str, body: &str) -> String {
    format!("---\nname: N\ntype: {agent}\ndescription: D.\n{more}---\n{body}\n")
}

fn contract(phase: &str, agent: &str, more: &str) -> String {
    format!(
        "---\nphase: {phase}\ncontract_version: 1\ndispatch_profile: {agent}\nartifact_type: document\nartifact_path: d/{{id}}/a.md\n{more}---\nDeliver it.\n"
    )
}

#[test]
fn the_shipped_prompts_are_clean() {
    assert_eq!(found(&[], &[]), [""; 0]);
    // and looked at as a project's own
    let own = shipped();
    assert_eq!(lint(&LintInput::new(&own, &own)), []);
}

#[test]
fn front_matter_and_chains_are_errors_with_their_lines() {
    let table = [
        (
            (
                "profiles/worker.md",
                profile("worker", "tools: [get_issue, creat_pr]\n", "Work."),
            ),
            "error profiles/worker.md:5:20: tools[1]: found `creat_pr`, expected a tool of Symphony's, or `'*'` for all of the role's (the CLI's own tools do not belong here); did you mean `create_pr`?",
        ),
        (
            ("profiles/worker.md", profile("judge", "", "Judge.")),
            "error profiles/worker.md:3:7: type: found `judge`, expected `worker` in a file of this name",
        ),
        (
            (
                "phases/audit.md",
                contract("audit", "researcher", "next_phase: redy\n"),
            ),
            "error phases/audit.md:7: phase `audit`: next_phase `redy` has no contract; did you mean `ready`?",
        ),
        (
            ("phases/audit.md", contract("audit", "researchr", "")),
            "error phases/audit.md:4: phase `audit`: dispatch_profile `researchr` does not exist; did you mean `researcher`?",
        ),
        (
            ("phases/audit.md", "\n".to_owned()),
            "error phases/audit.md:1: is empty, which removes a phase, but there is no shipped phase of this name",
        ),
    ];
    for ((file, text), expected) in table {
        assert_eq!(found(&[prompt(file, &text)], &[]), [expected], "{file}");
    }
}

#[test]
fn a_profile_is_named_after_its_type() {
    let own = profile("judge", "", "Judge.");
    assert_eq!(
        found(&[prompt("profiles/strict-judge.md", &own)], &[]),
        [
            "warning profiles/strict-judge.md:3: is the profile of `judge`, but its name does not match"
        ]
    );
    let legacy = profile("implementer", "", "Work.");
    assert_eq!(
        found(&[prompt("profiles/implementer.md", &legacy)], &[]),
        [""; 0]
    );
}

#[test]
fn tool_lists_that_leave_nothing_to_report_with_are_errors() {
    let own = profile("worker", "tools: [get_issue, approve_pr]\n", "Work.");
    assert_eq!(
        found(&[prompt("profiles/worker.md", &own)], &[]),
        [
            "error profiles/worker.md:5: `tools` and `disallowedTools` leave a run as worker without `create_pr`, so it could not hand in its work",
            "warning profiles/worker.md:5: `tools` lists `approve_pr`, which this type of agent never has, so listing it has no effect",
            "warning profiles/worker.md:5: `tools` and `disallowedTools` leave a run as worker_in_phase without `complete_phase`, so it could not hand in its work",
        ]
    );
}

#[test]
fn tools_that_a_text_names_are_those_of_its_reader() {
    let judge = |body: &str| profile("judge", "disallowedTools: [add_learning]\n", body);
    let hit = |tool: &str| {
        format!(
            "warning profiles/judge.md:7: names the tool `{tool}`, which its reader does not have as judge_pr"
        )
    };
    let table = [
        ("Call `create_pr` when you are done.", Some("create_pr")),
        (
            "When all is well, hand in with `mcp__symphony__create_pr`.",
            Some("create_pr"),
        ),
        ("- `create_issue` files what you find", Some("create_issue")),
        (
            "| `create_issue`, `add_finding` | file what you find |",
            Some("create_issue"),
        ),
        ("Record it using `add_learning`.", Some("add_learning")),
        (
            "Call `approve_pr`, or call `reject_pr` with `feedback`.",
            None,
        ),
        ("For a phase call `approve_phase`.", None),
        ("Never call `create_pr`: that is the worker's.", None),
        ("You cannot use `create_issue`.", None),
        ("The worker told by `create_pr` what it did.", None),
        ("Look at who calls `create_issue` in `src/api.rs`.", None),
        ("Call create_issue_now, or `create_issue()`.", None),
        ("> Call `create_pr`.", None),
    ];
    for (body, tool) in table {
        let text = judge(body);
        let expected: Vec<String> = tool.map(hit).into_iter().collect();
        assert_eq!(
            found(&[prompt("profiles/judge.md", &text)], &[]),
            expected,
            "{body}"
        );
    }
    // a contract's reader is its profile in that phase
    let text = contract("audit", "researcher", "").replace("Deliver it.", "Call `create_pr`.");
    assert_eq!(
        found(&[prompt("phases/audit.md", &text)], &[]),
        [
            "warning phases/audit.md:8: names the tool `create_pr`, which its reader does not have as researcher"
        ]
    );
    // instructions reach the profile in every role
    let both = "Call `create_pr` last.\n\nIn a phase call `complete_phase`.\n\nCall `approve_pr`.";
    assert_eq!(
        found(&[prompt("worker", both)], &[]),
        ["warning worker:5: names the tool `approve_pr`, which its reader does not have as worker"]
    );
}

/// Files with their texts, what is off, and what is found.
type Row<'a> = (&'a [(&'a str, &'a str)], &'a [Switch], &'a [&'a str]);

#[test]
fn texts_that_reach_nobody_are_named_with_the_reason() {
    let off = "no agent reads this text: `planner_enabled` is off";
    let planner = profile("planner", "", "Split.");
    let worker = profile("worker", "", "Work.");
    let custom = profile("auditor", "", "Audit.");
    let audit = contract("audit", "auditor", "");
    let architect = profile("architect", "", "Design.");
    let table: [Row<'_>; 17] = [
        (
            &[("profiles/architect.md", &architect)],
            &[],
            &[
                "profiles/architect.md:3: architects work in phases, where the contract is their whole text; only the front matter of this file counts",
            ],
        ),
        (
            &[("profiles/planner.md", &planner)],
            &[Switch::Planner],
            &[&format!("profiles/planner.md:3: {off}")],
        ),
        (&[("profiles/planner.md", &planner)], &[], &[]),
        // grooming dispatches it, and gives it its instructions
        (&[("planner", "Split by layer.")], &[Switch::Planner], &[]),
        (
            &[("background-scan.md", "Scan.")],
            &[Switch::Scanner],
            &["background-scan.md:1: no agent reads this text: `scanner_enabled` is off"],
        ),
        (
            &[("profiles/worker.md", &worker), ("WORKFLOW.md", "Work.")],
            &[],
            &[
                "profiles/worker.md:3: WORKFLOW.md replaces the text of this profile; only its front matter counts",
            ],
        ),
        (
            &[("profiles/worker.md", &worker), ("WORKFLOW.md", " ")],
            &[],
            &[],
        ),
        (
            &[
                ("profiles/worker.md", &worker),
                (
                    "WORKFLOW.md",
                    "---\ntracker:\n  kind: linear\n---\nPush {{ issue.title }}.",
                ),
            ],
            &[],
            &[],
        ),
        (
            &[("profiles/auditor.md", &custom)],
            &[],
            &["profiles/auditor.md:3: no phase uses `auditor`"],
        ),
        (
            &[
                ("profiles/auditor.md", &custom),
                ("phases/audit.md", &audit),
            ],
            &[],
            &[],
        ),
        (
            &[("overrides/architect-architecture.md", "Use the bus.")],
            &[],
            &[],
        ),
        (
            &[("overrides/architect-architecture.md", "Use the bus.")],
            &[Switch::Researcher],
            &[
                "overrides/architect-architecture.md:1: no agent reads this text: `researcher_enabled` is off",
            ],
        ),
        (
            &[("overrides/architect-architectur.md", "Use the bus.")],
            &[],
            &[
                "overrides/architect-architectur.md:1: no phase uses a profile of this name; did you mean `architect-architecture.md`?",
            ],
        ),
        (
            &[("overrides/worker-ready.md", "Use the bus.")],
            &[],
            &["overrides/worker-ready.md:1: overrides are not used in the phase `ready`"],
        ),
        (
            &[("background-scanner.md", "Scan.")],
            &[],
            &[
                "background-scanner.md:1: nothing reads this file; did you mean `background-scan.md`?",
            ],
        ),
        (
            &[("notes.txt", "Notes.")],
            &[],
            &["notes.txt:1: nothing reads this file"],
        ),
        (
            &[("profile/worker.md", &worker)],
            &[],
            &["profile/worker.md:1: nothing reads this file; did you mean `profiles/worker.md`?"],
        ),
    ];
    for (own, off, expected) in table {
        let own: Vec<_> = own.iter().map(|(file, text)| prompt(file, text)).collect();
        let expected: Vec<String> = expected
            .iter()
            .map(|line| format!("warning {line}"))
            .collect();
        assert_eq!(found(&own, off), expected);
    }
}

#[test]
fn headings_that_are_nearly_those_that_are_looked_for_are_named_once() {
    let with = |sections: &str, body: &str| {
        let sections = format!("required_sections:\n{sections}");
        contract("grooming", "planner", &sections).replace("Deliver it.", body)
    };
    let lost = |section: &str| {
        format!(
            "warning phases/grooming.md:9: `{section}` is not recognised as the heading of acceptance criteria: those of the document are not read"
        )
    };
    for (text, expected) in [
        (with("  - Goal\n  - Acceptance criteria\n", "## Goal\n\n## Acceptance Criteria:"), vec![]),
        (with("  - Goal\n  - 3. Acceptance criterion\n", "Write it."), vec![]),
        (with("  - Goal\n  - Criteria\n  - Exit criteria\n  - Acceptance tests\n", "## Goals of the team"), vec![]),
        (
            with("  - Goal\n  - Acceptence criteria\n", "Write it."),
            vec![lost("Acceptence criteria")],
        ),
        (
            with("  - Goal\n  - Our acceptance criteria list\n", "Write it."),
            vec![lost("Our acceptance criteria list")],
        ),
        (
            with("  - Goal\n  - Test Plan\n", "Write:\n```\n## Goal\n## Tset Plan\n```\n"),
            vec![],
        ),
        (
            with("  - Goal\n  - Files to change\n", "Write:\n```\n## Goal\n## Files to chnage\n```\n"),
            vec![
                "warning phases/grooming.md:14: the heading `Files to chnage` almost matches the required section `Files to change`: a document with this heading is refused".to_owned(),
            ],
        ),
        // both are meant
        (
            with("  - Acceptance\n", "## Acceptance\n\n## Acceptence\n"),
            vec![],
        ),
    ] {
        let own = [prompt("phases/grooming.md", &text)];
        assert_eq!(found(&own, &[]), expected, "{text}");
    }
    let own = [prompt(
        "overrides/planner-grooming.md",
        "Begin with `## Goal`.\n\n## Acceptance criterias\n",
    )];
    assert_eq!(
        found(&own, &[]),
        [
            "warning overrides/planner-grooming.md:3: the heading `Acceptance criterias` almost matches the required section `Acceptance Criteria`: a document with this heading is refused"
        ]
    );
}

#[test]
fn placeholders_that_nothing_fills_in_are_found_in_prose_alone() {
    let table = [
        (
            "Work on {{ issue.identifier }} now.",
            Some("{{ issue.identifier }}"),
        ),
        (
            "Title: {{ issue.title | upcase }}",
            Some("{{ issue.title | upcase }}"),
        ),
        ("{% if attempt %} again", Some("{% if attempt %}")),
        ("The tests need ${DATABASE_URL}.", Some("${DATABASE_URL}")),
        ("Write docs/{id}/a.md.", Some("{id}")),
        ("# Rules of <your project>", Some("<your project>")),
        ("Run [insert the command].", Some("[insert the command]")),
        ("<TODO: gates>", Some("<TODO: gates>")),
        ("`{{ name }}` is how our templates say it.", None),
        ("```\n{{ name }}\n```", None),
        ("<!-- {{ name }} -->", None),
        (
            "Write to `docs/tickets/<identifier>/`, or docs/<identifier>.",
            None,
        ),
        ("See [your guide](guide.md) and [TODO][1].", None),
        ("Objects are {} or {a: 1}; {{{ }}} is odd.", None),
        ("A set {x | x > 0} and a map { id: 1 }.", None),
    ];
    for (body, placeholder) in table {
        let expected = placeholder.map(|placeholder| {
            format!("warning WORKFLOW.md:1: `{placeholder}` is a placeholder that nothing fills in")
        });
        let expected: Vec<String> = expected.into_iter().collect();
        assert_eq!(
            found(&[prompt("WORKFLOW.md", body)], &[]),
            expected,
            "{body}"
        );
    }
    assert_eq!(
        found(&[prompt("CLAUDE.md", "Use {{ name }}.")], &[]),
        [""; 0]
    );
}

#[test]
fn texts_for_which_there_is_no_room_are_named() {
    let long = |tokens: usize| "word ".repeat(tokens * 4 / 5);
    let (instructions, addition, claude) = (long(4_500), long(9_000), long(10_500));
    assert_eq!(
        found(&[prompt("worker", &instructions)], &[]),
        ["warning worker:1: has ~4507 tokens, over 4000: it is never cut, and every run reads it"]
    );
    let file = "overrides/architect-architecture.md";
    let lines = found(&[prompt(file, &addition)], &[]);
    assert_eq!(lines, [""; 0], "it fits");
    let addition = long(11_000);
    let lines = found(&[prompt(file, &addition)], &[]);
    assert_eq!(lines.len(), 1, "{lines:#?}");
    assert!(lines[0].starts_with("warning overrides/architect-architecture.md:1: no agent gets this text: it has ~11000 tokens"), "{lines:#?}");
    let lines = found(&[prompt("CLAUDE.md", &claude)], &[]);
    assert!(
        lines.iter().all(|line| line.starts_with(
            "warning CLAUDE.md:1: has ~10500 tokens, and makes the system prompt of a "
        )),
        "{lines:#?}"
    );
    assert!(
        lines.iter().any(|line| line.contains("of a judge ~")),
        "{lines:#?}"
    );
    let shipped = shipped();
    let own = [prompt("CLAUDE.md", &claude)];
    let mut input = LintInput::new(&shipped, &own);
    input.provider_reads_claude_md = true;
    // a judge gets it in any case
    assert_eq!(lint(&input).len(), 1);
}

/// Orders that contradict how agents work, each with the words that are named.
#[test]
fn orders_that_contradict_how_agents_work_are_found() {
    for (text, words, fact) in [
        (
            "Push your branch after each commit.",
            "push your branch",
            "never push",
        ),
        (
            "When you are done, run the tests and push your changes.",
            "push your changes",
            "never push",
        ),
        ("- Always `git push` at the end", "git push", "never push"),
        (
            "Run `git push -u origin HEAD`.",
            "Run git push",
            "never push",
        ),
        ("You must push to origin.", "push to origin", "never push"),
        ("Open a PR with `gh`.", "Open a PR with gh", "`create_pr`"),
        (
            "Finally, use `gh pr create --fill`.",
            "use gh pr create",
            "`create_pr`",
        ),
        (
            "Merge your PR once it is green.",
            "Merge your PR",
            "never merge",
        ),
        ("Then merge to main.", "merge to main", "never merge"),
        (
            "Create a new branch for each task.",
            "Create a new branch",
            "a branch",
        ),
        (
            "Create a feature branch.",
            "Create a feature branch",
            "a branch",
        ),
        (
            "1. `git checkout -b feature/x`",
            "git checkout -b feature/x",
            "a branch",
        ),
        (
            "Ask me before you change the schema.",
            "Ask me",
            "no one to ask",
        ),
        (
            "If anything is unclear, ask the user.",
            "ask the user",
            "no one to ask",
        ),
        (
            "When you're not sure, ask for clarification.",
            "ask for clarification",
            "no one to ask",
        ),
        (
            "Wait for my approval.",
            "Wait for my approval",
            "no one to ask",
        ),
        ("Don't commit.", "do not commit", "handed in"),
        (
            "Do not commit changes unless asked.",
            "do not commit changes",
            "handed in",
        ),
        (
            "Never commit without asking.",
            "do not commit without asking",
            "handed in",
        ),
        (
            "Don\u{2019}t write tests.",
            "do not write tests",
            "judges check that",
        ),
    ] {
        for file in ["CLAUDE.md", "WORKFLOW.md"] {
            let lines = found(&[prompt(file, text)], &[]);
            assert_eq!(lines.len(), 1, "{text}: {lines:#?}");
            let named = format!("warning {file}:1: `{words}`: ").to_lowercase();
            assert!(
                lines[0].to_lowercase().starts_with(&named),
                "{text}: {lines:#?}"
            );
            assert!(lines[0].contains(fact), "{text}: {lines:#?}");
        }
    }
}

/// Texts as they are in good CLAUDE.md files.
#[test]
fn innocent_texts_are_left_alone() {
    for text in [
        "Never push to main.",
        "Do not push, commit or merge your branch by hand.",
        "CI pushes the image to the registry.",
        "Push items onto the stack with `push`.",
        "Push the changes to the queue through `dispatch()`.",
        "Push notifications are sent by `notify.rs`.",
        "Maintainers push the branch to origin.",
        "When asked, push your branch.",
        "If you have write access, push your branch.",
        "## Releasing\n\nPush your branch to origin, then merge to main.",
        "```sh\ngit push\n```",
        "> Always push your branch.",
        "`git push` runs the hooks of `.githooks`.",
        "Open a pull request early; keep it small.",
        "Merge the two lists by key.",
        "Merge main into your branch when it moves.",
        "Merge the PR only after review.",
        "Cover a new branch of the `match` with a test.",
        "Create a branch node for each child.",
        "Ask yourself who calls it.",
        "The form asks the user for a name.",
        "Ask the user for a password with `rpassword`.",
        "Never ask the user twice.",
        "Wait for the server before the test.",
        "Never commit secrets.",
        "Do not commit generated files, `.env` or build output.",
        "Do not commit directly to main.",
        "Never commit without running `just lint`.",
        "Never commit or push secrets.",
        "Do not commit changes to `gen/` by hand.",
        "Do not write tests that sleep.",
        "Don't run tests in parallel.",
        "Do not add tests for generated code.",
        "Request approval of new dependencies in the issue.",
    ] {
        for file in ["CLAUDE.md", "WORKFLOW.md", "worker"] {
            assert_eq!(found(&[prompt(file, text)], &[]), [""; 0], "{text}");
        }
    }
}

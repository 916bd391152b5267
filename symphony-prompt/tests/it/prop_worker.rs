//! Properties of the worker template and its truncation.

use proptest::prelude::*;
use symphony_prompt::worker::{CONTENT_TRUNCATED, FileEntry, WorkerInput};
use symphony_prompt::{
    build_simple_prompt, build_task_prompt, build_worker_prompt, estimate_token_count,
    truncate_prompt_if_needed,
};

fn input() -> WorkerInput {
    let json = include_str!("../fixtures/worker/worker-all-sections.json");
    serde_json::from_str(json).expect("the fixture is a worker input")
}

/// Headings of level two outside code fences.
fn headings(prompt: &str) -> Vec<String> {
    let mut fence = 0;
    let mut found = Vec::new();
    for line in prompt.lines() {
        let run = line.len() - line.trim_start_matches('`').len();
        if fence == 0 && run >= 3 {
            fence = run;
        } else if fence > 0 && run >= fence && run == line.trim_end().len() {
            fence = 0;
        } else if fence == 0 && line.starts_with("## ") {
            found.push(line.to_owned());
        }
    }
    assert_eq!(fence, 0, "every code fence is closed");
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever files and notes contain, the template's own headings are the only ones.
    #[test]
    fn contents_cannot_break_out(content in "(`|#|~| |a|\n|\r|ä){0,80}", note in "(#|a|\n| ){0,40}") {
        let mut worker = input();
        worker.files = vec![FileEntry::Loaded { path: "x.md".to_owned(), content }];
        worker.artifacts[0].content = Some(note);
        let prompt = build_worker_prompt(&worker).prompt;
        let expected = [
            "## Objective", "## Tasks", "## Project Context", "## Relevant Files", "## Required Concepts",
            "## Artifacts from Previous Phases", "## Constraints", "## Success Criteria", "## Additional Instructions",
            "## Completion",
        ];
        prop_assert_eq!(headings(&prompt), expected);
    }

    /// A cut prompt is never over the maximum; while the files are enough, its sections stay whole.
    #[test]
    fn truncation_never_exceeds_the_maximum(max in 0u64..3_000, unit in "(a|ä|👩‍🚀|\n|`){1,12}", repeat in 0usize..400) {
        let mut worker = input();
        worker.files.push(FileEntry::Loaded { path: "big.txt".to_owned(), content: unit.repeat(repeat) });
        let whole = build_worker_prompt(&worker).prompt;
        let (cut, truncated) = truncate_prompt_if_needed(&whole, max);
        prop_assert!(estimate_token_count(&cut) <= max);
        prop_assert_eq!(truncated, estimate_token_count(&whole) > max);
        prop_assert_eq!(truncated, cut != whole);
        if truncated && !cut.is_empty() {
            prop_assert!(cut.contains(CONTENT_TRUNCATED));
        }
        if max >= 1_500 {
            prop_assert_eq!(headings(&cut), headings(&whole));
        }
    }
}

#[test]
fn absent_global_constraints_are_the_defaults_and_an_empty_list_is_none() {
    let mut worker = input();
    worker.phase.constraints = Vec::new();
    assert!(
        build_worker_prompt(&worker)
            .prompt
            .contains("### Global Constraints\n- Do not modify files outside")
    );
    worker.global_constraints = Some(Vec::new());
    assert!(
        !build_worker_prompt(&worker)
            .prompt
            .contains("## Constraints")
    );
    worker.global_constraints = Some(vec!["Only this".to_owned()]);
    assert!(
        build_worker_prompt(&worker)
            .prompt
            .contains("constraints:\n\n### Global Constraints\n- Only this\n\n## Success")
    );
}

#[test]
fn a_bare_phase_has_no_empty_heading() {
    let json = r#"{"phase": {"id": "a", "title": "A", "objective": "Do it", "tasks": ["One"], "success_criteria": "Done"},
        "global_constraints": []}"#;
    let worker: WorkerInput = serde_json::from_str(json).unwrap();
    let prompt = build_worker_prompt(&worker).prompt;
    assert_eq!(
        headings(&prompt),
        [
            "## Objective",
            "## Tasks",
            "## Success Criteria",
            "## Completion"
        ]
    );
    assert!(
        prompt.starts_with(
            "# Phase: A\n\nPhase ID: a\nComplexity: medium\n\n## Objective\n\nDo it\n"
        )
    );
}

#[test]
fn the_simple_prompt() {
    insta::assert_snapshot!(build_simple_prompt("Tidy", "Remove dead code", &["Find it".to_owned(), "Remove it\nand test".to_owned()]), @r"
    # Tidy

    ## Objective

    Remove dead code

    ## Tasks

    1. Find it
    2. Remove it
       and test

    ## Completion

    When you have completed all tasks and verified the success criteria:

    1. Summarize what was accomplished
    2. List any files created or modified
    3. Note any issues encountered or decisions made
    4. Mention anything the next phase should be aware of

    If you encounter blocking issues that prevent completion, explain the problem and what would be needed to resolve it.
    ");
}

#[test]
fn the_task_style() {
    let worker = input();
    insta::assert_snapshot!(build_task_prompt(&worker.phase, &worker.artifacts), @r"
    ## Phase: Session Endpoints

    **Objective**: Expose login and logout on top of the user and session models

    **Tasks**:
    1. Create POST /login
    2. Create DELETE /login
       so that a second call also answers 204
    3. Write tests for both

    **Context Files**:
    - src/models/*.ts
    - prisma/schema.prisma
    - docs/api.md
    - db/seed.sql
    - src/legacy/auth.ts
    - config/*.toml

    **Artifacts from Dependencies**:
    - Used UUID for user IDs as discussed (note, from setup-database)
    - src/models/user.ts (file_created, from create-models)
    - src/models/session.ts (file_created, from create-models)
    - prisma/schema.prisma (file_modified, from create-models)
    - src/legacy/user.ts (file_deleted, from create-models)
    - userSchema: Zod schema for user validation (export, from create-models)
    - Session (export, from create-models)
    - Tokens live 15 minutes
      ## not a heading (note, from create-models)

    **Success Criteria**: Both endpoints answer as docs/api.md says, and all tests pass.

    **Constraints**:
    - Do not modify the authentication flow
    - Keep backward compatibility with existing API

    When you are done, report:
    - files created and modified
    - key decisions
    - issues encountered
    ");
}

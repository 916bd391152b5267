//! The worker template against its golden pairs, byte for byte.

use symphony_prompt::worker::WorkerInput;
use symphony_prompt::{build_worker_prompt, truncate_prompt_if_needed};

/// Every pair of `tests/fixtures/worker/`.
const PAIRS: [(&str, &str, &str); 2] = [
    (
        "implement-auth",
        include_str!("../fixtures/worker/worker-implement-auth.json"),
        include_str!("../fixtures/worker/worker-implement-auth.md"),
    ),
    (
        "all-sections",
        include_str!("../fixtures/worker/worker-all-sections.json"),
        include_str!("../fixtures/worker/worker-all-sections.md"),
    ),
];

fn input(json: &str) -> WorkerInput {
    serde_json::from_str(json).expect("the fixture is a worker input")
}

#[test]
fn every_golden_pair_is_byte_exact() {
    for (name, json, expected) in PAIRS {
        let built = build_worker_prompt(&input(json));
        assert_eq!(built.prompt, expected, "{name}");
        assert_eq!(
            truncate_prompt_if_needed(&built.prompt, 50_000),
            (built.prompt, false)
        );
    }
}

#[test]
fn the_result_names_what_went_in() {
    let built = build_worker_prompt(&input(PAIRS[1].1));
    assert_eq!(built.project_context.name, "symphony");
    assert_eq!(built.artifacts, 8);
    assert_eq!(
        built.files,
        [
            "src/models/index.ts",
            "src/models/session.ts",
            "src/models/user.ts",
            "prisma/schema.prisma",
            "docs/api.md",
            "db/seed.sql",
        ]
    );
}

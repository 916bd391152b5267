//! Contracts: their fields, the pipeline they form, and the checks of a delivery.

use std::collections::BTreeSet;

use symphony_core::agent::AgentType;
use symphony_core::contract::{
    ArtifactFound, ArtifactType, CheckFailure, DeliveryDecision, PhaseContract, Pipeline, Skip,
    StructuralCheck, ValidationMode, check_delivery, decide_delivery, parse_contract,
};
use symphony_core::id::{IssueId, PhaseName};

fn phase(name: &str) -> PhaseName {
    PhaseName::parse(name).expect("a phase name")
}

fn contract(name: &str, next: &str, mode: &str, rest: &str) -> PhaseContract {
    let text = format!(
        "---\nphase: {name}\ncontract_version: 1\ndispatch_profile: researcher\nartifact_type: document\n\
         artifact_path: docs/tickets/{{id}}/{name}.md\nvalidation:\n  mode: {mode}\nnext_phase: {next}\n{rest}\n\
         ---\nbody"
    );
    parse_contract(&format!("{name}.md"), &text).expect("a contract")
}

fn ready() -> PhaseContract {
    let text = "---\nphase: ready\ncontract_version: 1\ndispatch_profile: implementer\nartifact_type: code\n---\nx";
    parse_contract("prompts/phases/ready.md", text).expect("a contract")
}

fn profiles() -> BTreeSet<AgentType> {
    AgentType::SHIPPED.into_iter().collect()
}

fn problems(file: &str, text: &str) -> Vec<String> {
    let problems = parse_contract(file, text).expect_err("has problems");
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn a_contract_has_its_defaults() {
    let design = contract("design", "none", "judge", "");
    assert_eq!(design.artifact_type, ArtifactType::Document);
    assert_eq!(design.mode(), ValidationMode::Judge);
    assert_eq!(design.structural_checks(), StructuralCheck::DEFAULT);
    assert_eq!(design.next_phase, None);
    assert!(!design.skippable && design.required_sections.is_empty());
    let ready = ready();
    assert_eq!(ready.dispatch_profile, AgentType::Worker);
    assert!(ready.is_ready() && ready.validation.is_none() && ready.artifact_path.is_none());
    let bare = "---\nphase: a\ncontract_version: 1\ndispatch_profile: x\nartifact_type: document\n\
        artifact_path: a/b.md\n---\nx";
    let bare = parse_contract("a.md", bare).unwrap();
    assert_eq!(bare.mode(), ValidationMode::Structural);
    assert_eq!(bare.structural_checks(), StructuralCheck::DEFAULT);
}

#[test]
fn min_words_may_be_a_mapping_or_a_text() {
    for check in ["min_words: 300", "'min_words: 300'"] {
        let text = format!(
            "---\nphase: a\ncontract_version: 1\ndispatch_profile: x\nartifact_type: document\n\
             artifact_path: a/b.md\nvalidation:\n  mode: trust\n  structural_checks:\n    - {check}\n---\nx"
        );
        let contract = parse_contract("a.md", &text).unwrap();
        assert_eq!(
            contract.structural_checks(),
            [StructuralCheck::MinWords(300)]
        );
    }
}

#[test]
fn every_problem_of_a_contract_is_named() {
    let text = "---\nphase: design\ncontract_version: 2\ndispatch_profile: The Worker\nartifact_type: documents\n\
        artifact_path: ../x.md\nrequired_section: [A]\nvalidation:\n  mode: judged\n  checks: []\n  \
        structural_checks:\n    - artifact_exist\n    - min_words: 0\nnext_phase: No Such\nskippable: yes\n---\nx";
    assert_eq!(
        problems("phases/other.md", text),
        [
            "phases/other.md:2:8: phase: found `design`, expected `other`, the name of the file",
            "phases/other.md:3:19: contract_version: found the number 2, expected at most 1, the newest form this \
             version of Symphony knows",
            "phases/other.md:4:19: dispatch_profile: found `The Worker`, expected the type of a profile",
            "phases/other.md:5:16: artifact_type: found `documents`, expected one of document, code; did you mean \
             `document`?",
            "phases/other.md:6:16: artifact_path: found `../x.md`, expected a plain path: `/` between the parts, no \
             `.`, `..`, empty part, `\\` or control character",
            "phases/other.md:7:1: required_section: unknown field; did you mean `required_sections`?",
            "phases/other.md:9:9: validation.mode: found `judged`, expected one of structural, judge, trust; did \
             you mean `judge`?",
            "phases/other.md:10:3: validation.checks: unknown field, expected one of mode, structural_checks",
            "phases/other.md:12:7: validation.structural_checks[0]: found `artifact_exist`, expected one of \
             artifact_exists, required_sections, `min_words: N`, write_scope; did you mean `artifact_exists`?",
            "phases/other.md:13:7: validation.structural_checks[1]: found a mapping, expected one of \
             artifact_exists, required_sections, `min_words: N`, write_scope",
            "phases/other.md:14:13: next_phase: found `No Such`, expected a phase name (kebab-case) or `none`",
            "phases/other.md:15:12: skippable: found `yes`, expected `true` or `false`",
        ]
    );
}

#[test]
fn what_a_phase_needs_depends_on_its_kind() {
    let of = |name: &str, lines: &str| {
        format!("---\nphase: {name}\ncontract_version: 1\ndispatch_profile: x\n{lines}\n---\nx")
    };
    for (name, lines, expected) in [
        (
            "ready",
            "artifact_type: code\nartifact_path: a/b\nvalidation: {mode: trust}",
            &[
                "f:6:16: artifact_path: found `a/b`, expected nothing: `ready` ends with a pull request, which gates \
                 and review validate",
                "f:7:13: validation: found a mapping, expected nothing: `ready` ends with a pull request, which \
                 gates and review validate",
            ][..],
        ),
        (
            "a",
            "artifact_type: document",
            &[
                "f:1:1: artifact_path: missing, expected the path of the document, such as \
               `docs/tickets/{id}/research.md`",
            ],
        ),
        (
            "a",
            "artifact_type: code\nvalidation: {mode: trust}",
            &[
                "f:1:1: artifact_path: missing, expected the path of the artifact that `structural_checks` look at",
            ],
        ),
        (
            "a",
            "artifact_type: document\nartifact_path: A.md",
            &[
                "f:6:16: artifact_path: found `A.md`, expected a path with a folder, since `write_scope` limits the \
               phase to that folder",
            ],
        ),
        (
            "a",
            "validation: {}",
            &[
                "f:1:1: artifact_type: missing, expected `document` or `code`",
                "f:5:13: validation.mode: missing, expected `structural`, `judge` or `trust`",
            ],
        ),
    ] {
        let file = format!("{name}.md");
        let found: Vec<String> = problems(&file, &of(name, lines))
            .iter()
            .map(|problem| problem.replace(&file, "f"))
            .collect();
        assert_eq!(found, expected, "{lines}");
    }
}

fn chain() -> Pipeline {
    let layer = vec![
        contract("research", "architecture", "structural", "skippable: true"),
        contract("architecture", "grooming", "judge", "skippable: true"),
        contract("grooming", "ready", "structural", ""),
        ready(),
    ];
    Pipeline::new([layer], &[], &profiles()).expect("a pipeline")
}

#[test]
fn a_pipeline_knows_what_comes_after_what() {
    let pipeline = chain();
    assert_eq!(pipeline.first().unwrap().phase, phase("research"));
    assert_eq!(
        pipeline.next(&phase("research")).unwrap().phase,
        phase("architecture")
    );
    assert_eq!(pipeline.next(&phase("ready")), None);
    assert_eq!(pipeline.next(&phase("unknown")), None);
    assert!(pipeline.is_later(&phase("research"), &phase("ready")));
    assert!(!pipeline.is_later(&phase("ready"), &phase("research")));
    assert!(!pipeline.is_later(&phase("ready"), &phase("ready")));
}

#[test]
fn a_skip_passes_only_skippable_phases_and_a_judged_one_asks_for_a_judge() {
    let pipeline = chain();
    let skip = |from: &str, to: &str| pipeline.skip(&phase(from), &phase(to));
    assert_eq!(
        skip("research", "architecture"),
        Ok(Skip {
            to: phase("architecture"),
            skipped: vec![],
            needs_judge: false
        })
    );
    assert_eq!(
        skip("research", "grooming"),
        Ok(Skip {
            to: phase("grooming"),
            skipped: vec![phase("architecture")],
            needs_judge: true
        })
    );
    for (from, to, expected) in [
        (
            "research",
            "ready",
            "`grooming` may not be skipped; leave out skip_to, or name a phase up to `grooming`",
        ),
        (
            "grooming",
            "research",
            "`research` does not come after `grooming`; later phases: ready",
        ),
        (
            "ready",
            "ready",
            "`ready` does not come after `ready`; later phases: none",
        ),
        (
            "research",
            "nowhere",
            "`nowhere` does not come after `research`; later phases: architecture, grooming, ready",
        ),
    ] {
        assert_eq!(skip(from, to).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_later_layer_wins_and_a_project_may_add_and_remove() {
    let shipped = vec![contract("research", "ready", "structural", ""), ready()];
    let project = vec![
        contract("research", "audit", "trust", ""),
        contract("audit", "none", "judge", ""),
    ];
    let pipeline = Pipeline::new([shipped, project], &[phase("ready")], &profiles()).unwrap();
    let names: Vec<&str> = pipeline.iter().map(|c| c.phase.as_str()).collect();
    assert_eq!(names, ["audit", "research"]);
    assert_eq!(
        pipeline.get(&phase("research")).unwrap().mode(),
        ValidationMode::Trust
    );
    assert_eq!(Pipeline::new([], &[], &profiles()).unwrap().first(), None);
}

#[test]
fn what_is_no_chain_is_refused_with_everything_that_is_wrong() {
    let layer = vec![
        contract("a", "b", "trust", ""),
        contract("b", "c", "trust", ""),
        contract("c", "b", "trust", ""),
        contract("d", "reddy", "trust", ""),
        contract("e", "e", "trust", ""),
        contract("e", "a", "trust", ""),
        ready(),
    ];
    let only_worker = [AgentType::Worker, AgentType::parse("researchers").unwrap()].into();
    let found: Vec<String> = Pipeline::new([layer], &[], &only_worker)
        .unwrap_err()
        .iter()
        .map(ToString::to_string)
        .filter(|problem| !problem.contains("dispatch_profile") || problem.contains("`a`"))
        .collect();
    assert_eq!(
        found,
        [
            "two contracts for the phase `e`",
            "phase `a`: dispatch_profile `researcher` does not exist; did you mean `researchers`?",
            "phase `d`: next_phase `reddy` has no contract; did you mean `ready`?",
            "next_phase forms a circle: b -> c -> b",
            "next_phase forms a circle: e -> e",
        ]
    );
}

#[test]
fn a_claim_is_checked_against_its_contract() {
    let contract = contract(
        "design",
        "none",
        "structural",
        "required_sections: [Problem, Risks, Roll out]",
    );
    let issue = IssueId::parse("SYM-1").unwrap();
    let path = "docs/tickets/SYM-1/design.md";
    let text = |text: &str| ArtifactFound::Text(text.to_owned());
    let missing = ArtifactFound::Missing {
        places: vec!["/w/x.md".to_owned(), "/p/x.md".to_owned()],
    };
    let good = text("# PROBLEM\nx\n### risks\n## Roll  Out\n");
    for (path, found, changed, expected) in [
        (
            path,
            &good,
            &[path, "docs/tickets/SYM-1/img/a.png"][..],
            &[][..],
        ),
        (
            path,
            &missing,
            &[],
            &["no artifact `docs/tickets/SYM-1/design.md`; looked at /w/x.md and /p/x.md"],
        ),
        (
            "x.md",
            &missing,
            &["src/a.rs", "docs/tickets/SYM-12/design.md"],
            &[
                "no artifact `x.md`; looked at /w/x.md and /p/x.md; the contract expects `docs/tickets/SYM-1/design.md`",
                "this phase may change only `docs/tickets/SYM-1/`; revert `src/a.rs`, `docs/tickets/SYM-12/design.md`",
            ],
        ),
        (
            path,
            &text(" \n---\n"),
            &[],
            &[
                "the artifact `docs/tickets/SYM-1/design.md` is empty; write it, then claim again",
                "the artifact `docs/tickets/SYM-1/design.md` lacks the required sections: Problem, Risks, Roll out; \
                 add them as headings of any level",
            ],
        ),
        (
            path,
            &text("# Problem\n# Roll out\n```\n# Risks\n```\n"),
            &[],
            &[
                "the artifact `docs/tickets/SYM-1/design.md` lacks the required section: Risks; add it as heading of \
               any level",
            ],
        ),
    ] {
        let changed: Vec<String> = changed.iter().map(|path| (*path).to_owned()).collect();
        let failures: Vec<String> = check_delivery(&contract, &issue, path, found, &changed)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(failures, expected, "{found:?}");
    }
    let many: Vec<String> = (0..25).map(|n| format!("src/{n}.rs")).collect();
    let failures = check_delivery(&contract, &issue, path, &good, &many);
    assert!(failures[0].to_string().ends_with("`src/19.rs` and 5 more"));
}

#[test]
fn min_words_counts() {
    let mut contract = contract("design", "none", "structural", "");
    contract.validation.as_mut().unwrap().structural_checks = vec![StructuralCheck::MinWords(3)];
    let issue = IssueId::parse("SYM-1").unwrap();
    let failures = |text: &str| {
        check_delivery(
            &contract,
            &issue,
            "d.md",
            &ArtifactFound::Text(text.to_owned()),
            &[],
        )
    };
    assert_eq!(failures("one - two three"), []);
    assert_eq!(
        failures("# one two")[0].to_string(),
        "the artifact `d.md` has 2 words, but at least 3 are required"
    );
}

#[test]
fn the_mode_decides_what_becomes_of_a_claim() {
    let failure = || CheckFailure::ArtifactEmpty {
        path: "d.md".to_owned(),
    };
    let skip = |needs_judge| Skip {
        to: phase("ready"),
        skipped: vec![],
        needs_judge,
    };
    for (mode, needs_judge, failed, expected) in [
        (
            "structural",
            false,
            false,
            DeliveryDecision::Accepted { warnings: vec![] },
        ),
        (
            "structural",
            true,
            false,
            DeliveryDecision::AwaitingJudge { warnings: vec![] },
        ),
        (
            "structural",
            true,
            true,
            DeliveryDecision::Rejected {
                reasons: vec![failure()],
            },
        ),
        (
            "judge",
            false,
            false,
            DeliveryDecision::AwaitingJudge { warnings: vec![] },
        ),
        (
            "judge",
            false,
            true,
            DeliveryDecision::Rejected {
                reasons: vec![failure()],
            },
        ),
        (
            "trust",
            false,
            true,
            DeliveryDecision::Accepted {
                warnings: vec![failure()],
            },
        ),
        (
            "trust",
            true,
            true,
            DeliveryDecision::AwaitingJudge {
                warnings: vec![failure()],
            },
        ),
    ] {
        let contract = contract("design", "none", mode, "");
        let failures = if failed { vec![failure()] } else { vec![] };
        let decision = decide_delivery(&contract, Some(&skip(needs_judge)), failures);
        assert_eq!(decision, expected, "{mode} {needs_judge} {failed}");
    }
}
